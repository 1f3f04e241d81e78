//! Topics as the brokers describe them, and their making and ending.

use std::collections::BTreeMap;

use kafka_protocol::messages::create_partitions_request::CreatePartitionsTopic;
use kafka_protocol::messages::create_topics_request::CreatableTopic;
use kafka_protocol::messages::metadata_request::MetadataRequestTopic;
use kafka_protocol::messages::{
    CreatePartitionsRequest, CreateTopicsRequest, DeleteTopicsRequest, MetadataRequest, MetadataResponse,
    TopicName,
};
use kafka_protocol::protocol::StrBytes;
use tenure::protocol::error::ErrorCode;

use crate::cluster::{Attempts, Broker, Brokers, Cluster};
use crate::error::ClientError;

/// A topic, as the brokers know it now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Topic {
    /// The name.
    pub name: String,
    /// Whether Kafka keeps it for itself.
    pub internal: bool,
    /// Why the brokers said nothing more of it, if they did not: it does not exist, or must not be seen.
    pub error: ErrorCode,
    /// Its partitions, by number.
    pub partitions: Vec<Partition>,
}

/// A partition of a topic.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Partition {
    /// The broker that leads it, if one does.
    pub leader: Option<i32>,
    /// The racks of its replicas, each once, sorted; empty if none is known.
    pub racks: Vec<String>,
}

impl Cluster {
    /// These topics; what does not exist says so in [`Topic::error`]. None is created by asking.
    ///
    /// # Errors
    ///
    /// If no broker answers, or none in time.
    pub async fn topics<S: AsRef<str>>(&self, names: &[S]) -> Result<Vec<Topic>, ClientError> {
        let names: Vec<String> = names.iter().map(|name| name.as_ref().to_owned()).collect();
        self.topics_named(&names).await
    }

    /// All topics that this client may see.
    ///
    /// # Errors
    ///
    /// If no broker answers, or none in time.
    pub async fn all_topics(&self) -> Result<Vec<Topic>, ClientError> {
        self.look_up(None).await
    }

    pub(crate) async fn topics_named(&self, names: &[String]) -> Result<Vec<Topic>, ClientError> {
        let topics =
            names.iter().map(|name| MetadataRequestTopic::default().with_name(Some(topic_name(name))));
        self.look_up(Some(topics.collect())).await
    }

    async fn look_up(&self, topics: Option<Vec<MetadataRequestTopic>>) -> Result<Vec<Topic>, ClientError> {
        let request = MetadataRequest::default().with_topics(topics).with_allow_auto_topic_creation(false);
        let answer = self.ask_any(&request).await?;
        let brokers = brokers_of(&answer);
        let topics = topics_of(&answer, &brokers);
        if !brokers.nodes.is_empty() {
            self.set_brokers(brokers);
        }
        Ok(topics)
    }

    /// Makes a topic with this many partitions, one replica each.
    ///
    /// # Errors
    ///
    /// [`ClientError::Refused`] with the controller's words.
    pub async fn create_topic(&self, name: &str, partitions: i32) -> Result<(), ClientError> {
        let topic = CreatableTopic::default()
            .with_name(topic_name(name))
            .with_num_partitions(partitions)
            .with_replication_factor(1);
        let request =
            CreateTopicsRequest::default().with_topics(vec![topic]).with_timeout_ms(ADMIN_TIMEOUT_MS);
        let answer = self.ask_controller(&request).await?;
        for one in answer.topics {
            settle("CreateTopics", one.error_code, &one.name, one.error_message.as_ref())?;
        }
        Ok(())
    }

    /// Gives a topic more partitions, up to this many in all.
    ///
    /// # Errors
    ///
    /// [`ClientError::Refused`] with the controller's words.
    pub async fn grow_topic(&self, name: &str, partitions: i32) -> Result<(), ClientError> {
        let topic = CreatePartitionsTopic::default()
            .with_name(topic_name(name))
            .with_count(partitions)
            .with_assignments(None);
        let request =
            CreatePartitionsRequest::default().with_topics(vec![topic]).with_timeout_ms(ADMIN_TIMEOUT_MS);
        let answer = self.ask_controller(&request).await?;
        for one in answer.results {
            settle("CreatePartitions", one.error_code, &one.name, one.error_message.as_ref())?;
        }
        Ok(())
    }

    /// Deletes a topic with all its records.
    ///
    /// # Errors
    ///
    /// [`ClientError::Refused`] with the controller's words.
    pub async fn delete_topic(&self, name: &str) -> Result<(), ClientError> {
        let request = DeleteTopicsRequest::default()
            .with_topic_names(vec![topic_name(name)])
            .with_timeout_ms(ADMIN_TIMEOUT_MS);
        let answer = self.ask_controller(&request).await?;
        for one in answer.responses {
            settle("DeleteTopics", one.error_code, name, one.error_message.as_ref())?;
        }
        Ok(())
    }

    /// Waits until the brokers show a topic with this many partitions, each with a leader.
    ///
    /// # Errors
    ///
    /// [`ClientError::Refused`] if they don't within the request timeout.
    pub async fn await_topic(&self, name: &str, partitions: usize) -> Result<(), ClientError> {
        let mut attempts = Attempts::new(self);
        loop {
            let topics = self.topics(&[name]).await?;
            let ready = topics.iter().any(|one| {
                one.partitions.len() == partitions && one.partitions.iter().all(|one| one.leader.is_some())
            });
            if ready {
                return Ok(());
            }
            let code = ErrorCode::UnknownTopicOrPartition.code();
            attempts.wait_or_fail(ClientError::refused("Metadata", code, name)).await?;
        }
    }
}

/// So long the controller may take.
const ADMIN_TIMEOUT_MS: i32 = 15_000;

pub(crate) fn topic_name(name: &str) -> TopicName {
    TopicName(StrBytes::from_string(name.to_owned()))
}

fn settle(request: &'static str, code: i16, topic: &str, said: Option<&StrBytes>) -> Result<(), ClientError> {
    if code == 0 {
        return Ok(());
    }
    let detail =
        said.map_or_else(|| topic.to_owned(), |said| format!("{topic}: {said}", said = said.as_str()));
    Err(ClientError::refused(request, code, detail))
}

fn brokers_of(answer: &MetadataResponse) -> Brokers {
    let nodes = answer
        .brokers
        .iter()
        .filter_map(|one| {
            let port = u16::try_from(one.port).ok()?;
            let rack = one.rack.as_ref().map(|rack| rack.to_string());
            Some((one.node_id.0, Broker { host: one.host.to_string(), port, rack }))
        })
        .collect();
    let controller = Some(answer.controller_id.0).filter(|&node_id| node_id >= 0);
    Brokers { nodes, controller }
}

fn topics_of(answer: &MetadataResponse, brokers: &Brokers) -> Vec<Topic> {
    answer
        .topics
        .iter()
        .filter_map(|topic| {
            let mut partitions = BTreeMap::new();
            for one in &topic.partitions {
                let rack =
                    |node: &kafka_protocol::messages::BrokerId| brokers.nodes.get(&node.0)?.rack.clone();
                let mut racks: Vec<String> = one.replica_nodes.iter().filter_map(rack).collect();
                racks.sort_unstable();
                racks.dedup();
                let leader = Some(one.leader_id.0).filter(|&leader| leader >= 0);
                partitions.insert(one.partition_index, Partition { leader, racks });
            }
            Some(Topic {
                name: topic.name.as_ref()?.to_string(),
                internal: topic.is_internal,
                error: ErrorCode::from_code(topic.error_code),
                partitions: dense(partitions),
            })
        })
        .collect()
}

/// The partitions by number. Kafka numbers them from 0 without gaps; what does not follow that is left out, so that no
/// number in an answer makes this list longer than the answer.
fn dense(partitions: BTreeMap<i32, Partition>) -> Vec<Partition> {
    (0..)
        .zip(partitions)
        .take_while(|(expected, (number, _))| expected == number)
        .map(|(_, (_, one))| one)
        .collect()
}
