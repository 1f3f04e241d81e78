//! Topics: create, grow, delete.

use core::time::Duration;
use std::thread;

use kafka_protocol::messages::create_partitions_request::CreatePartitionsTopic;
use kafka_protocol::messages::create_topics_request::CreatableTopic;
use kafka_protocol::messages::metadata_request::MetadataRequestTopic;
use kafka_protocol::messages::{
    CreatePartitionsRequest, CreateTopicsRequest, DeleteTopicsRequest, MetadataRequest, TopicName,
};
use kafka_protocol::protocol::StrBytes;

use crate::broker::Broker;
use crate::requirement::PeerError;

const TIMEOUT_MS: i32 = 30_000;
const UNKNOWN_TOPIC: i16 = 3;

impl Broker {
    /// Creates a topic and waits until every partition has a leader.
    ///
    /// # Errors
    ///
    /// [`PeerError::Failed`] with the broker's error code and words.
    pub fn create_topic(&self, name: &str, partitions: i32) -> Result<(), PeerError> {
        let topic = CreatableTopic::default()
            .with_name(topic_name(name))
            .with_num_partitions(partitions)
            .with_replication_factor(1);
        let request = CreateTopicsRequest::default().with_topics(vec![topic]).with_timeout_ms(TIMEOUT_MS);
        for topic in self.connect()?.ask(5, &request)?.topics {
            check("create", name, topic.error_code, topic.error_message.as_deref())?;
        }
        self.await_partitions(name, Some(partitions))
    }

    /// Raises the number of a topic's partitions to `partitions` and waits until all have a leader.
    ///
    /// # Errors
    ///
    /// [`PeerError::Failed`] with the broker's error code and words.
    pub fn grow_topic(&self, name: &str, partitions: i32) -> Result<(), PeerError> {
        let topic = CreatePartitionsTopic::default().with_name(topic_name(name)).with_count(partitions);
        let topic = topic.with_assignments(None);
        let request = CreatePartitionsRequest::default().with_topics(vec![topic]).with_timeout_ms(TIMEOUT_MS);
        for topic in self.connect()?.ask(2, &request)?.results {
            check("grow", name, topic.error_code, topic.error_message.as_deref())?;
        }
        self.await_partitions(name, Some(partitions))
    }

    /// Deletes a topic and waits until the broker knows it no more.
    ///
    /// # Errors
    ///
    /// [`PeerError::Failed`] with the broker's error code and words.
    pub fn delete_topic(&self, name: &str) -> Result<(), PeerError> {
        let request = DeleteTopicsRequest::default()
            .with_topic_names(vec![topic_name(name)])
            .with_timeout_ms(TIMEOUT_MS);
        for topic in self.connect()?.ask(5, &request)?.responses {
            check("delete", name, topic.error_code, topic.error_message.as_deref())?;
        }
        self.await_partitions(name, None)
    }

    /// Waits until the topic has this many partitions with leaders, or is gone.
    fn await_partitions(&self, name: &str, wanted: Option<i32>) -> Result<(), PeerError> {
        let mut connection = self.connect()?;
        let topic = MetadataRequestTopic::default().with_name(Some(topic_name(name)));
        let request = MetadataRequest::default().with_topics(Some(vec![topic]));
        for _ in 0..300 {
            let answer = connection.ask(5, &request)?;
            let found = answer.topics.first();
            let done = match wanted {
                None => found.is_none_or(|topic| topic.error_code == UNKNOWN_TOPIC),
                Some(count) => found.is_some_and(|topic| {
                    topic.error_code == 0
                        && i32::try_from(topic.partitions.len()) == Ok(count)
                        && topic.partitions.iter().all(|one| one.leader_id.0 >= 0 && one.error_code == 0)
                }),
            };
            if done {
                return Ok(());
            }
            thread::sleep(Duration::from_millis(50));
        }
        Err(PeerError::failed(format!("topic {name:?} does not become {wanted:?} partitions")))
    }
}

fn topic_name(name: &str) -> TopicName {
    TopicName(StrBytes::from_string(name.to_owned()))
}

fn check(verb: &str, name: &str, code: i16, words: Option<&str>) -> Result<(), PeerError> {
    if code == 0 {
        return Ok(());
    }
    let words = words.unwrap_or("no words from the broker");
    Err(PeerError::failed(format!("cannot {verb} topic {name:?}: error {code}, {words}")))
}
