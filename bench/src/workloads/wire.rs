//! A workload as bytes: the members of a JoinGroup response, as real clients would have sent them.

use tenure::codec::sticky::{COOPERATIVE_STICKY, STICKY, encode_cooperative, grouped_as_java};
use tenure::codec::{StickyFields, SubscriptionFields, TopicPartitions};
use tenure::protocol::message::JoinMember;

use super::{Workload, rack_name};

/// The version of the consumer protocol that clients since 3.4 send.
const VERSION: i16 = 3;

impl Workload {
    /// The members as they join under the assignor `protocol`, in the order of the workload.
    ///
    /// Cooperative members say what they own in the subscription and send their generation twice; eager sticky ones
    /// gave everything up and send what they had as user data; others send their topics alone.
    ///
    /// # Panics
    ///
    /// If the workload is not one of this module's making: a topic name above 32,767 bytes.
    pub fn joined(&self, protocol: &str) -> Vec<JoinMember> {
        self.members
            .iter()
            .map(|member| {
                let topics: Vec<&str> =
                    member.topics.iter().map(|&topic| self.topics[topic as usize].name.as_str()).collect();
                let numbers: Vec<(&str, Vec<i32>)> = member
                    .owned
                    .chunk_by(|a, b| a.0 == b.0)
                    .map(|block| {
                        let name = self.topics[block[0].0 as usize].name.as_str();
                        (name, block.iter().map(|&(_, partition)| partition as i32).collect())
                    })
                    .collect();
                let owned = lend(&numbers);
                let generation = member.generation.unwrap_or(-1);
                let (owned, user_data) = match protocol {
                    COOPERATIVE_STICKY => (owned, Some(encode_cooperative(generation).to_vec())),
                    STICKY if member.generation.is_some() => {
                        let grouped = grouped_as_java(&owned);
                        let fields = StickyFields { previous: &lend(&grouped), generation: Some(generation) };
                        (Vec::new(), Some(fields.encode().expect("names are short")))
                    }
                    _ => (Vec::new(), None),
                };
                let rack = member.rack.map(rack_name);
                let fields = SubscriptionFields {
                    topics: &topics,
                    user_data: user_data.as_deref(),
                    owned: &owned,
                    generation: Some(generation),
                    rack: rack.as_deref(),
                };
                JoinMember {
                    member_id: member.id.clone(),
                    group_instance_id: None,
                    metadata: fields.encode(VERSION).expect("names are short"),
                }
            })
            .collect()
    }
}

fn lend<'a>(numbers: &'a [(&'a str, Vec<i32>)]) -> Vec<TopicPartitions<'a>> {
    numbers.iter().map(|(topic, partitions)| TopicPartitions { topic, partitions }).collect()
}
