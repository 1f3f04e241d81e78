//! Committed offsets, read from the coordinator.

use std::collections::BTreeMap;

use kafka_protocol::messages::offset_fetch_request::{
    OffsetFetchRequestGroup, OffsetFetchRequestTopic, OffsetFetchRequestTopics,
};
use kafka_protocol::messages::{GroupId, OffsetFetchRequest, OffsetFetchResponse};
use tenure::protocol::message::{CommittedOffset, CoordinatorKind, NO_OFFSET, TopicPartition};

use crate::cluster::{Attempts, Cluster};
use crate::error::ClientError;
use crate::topics::topic_name;
use crate::wire::text;

impl Cluster {
    /// The committed offsets of a group: of these partitions, or of all that have one. A partition without one is left
    /// out. With `stable` the call waits for transactions that may still change an offset (KIP-447).
    ///
    /// # Errors
    ///
    /// [`ClientError::Refused`] if the coordinator refuses for good or until the request timeout has passed.
    pub async fn committed_offsets(
        &self,
        group_id: &str,
        partitions: Option<&[TopicPartition]>,
        stable: bool,
    ) -> Result<Vec<(TopicPartition, CommittedOffset)>, ClientError> {
        let mut attempts = Attempts::new(self);
        loop {
            match self.fetch_offsets(group_id, partitions, stable).await {
                Ok(offsets) => return Ok(offsets),
                Err(error) => attempts.wait_or_fail(error).await?,
            }
        }
    }

    async fn fetch_offsets(
        &self,
        group_id: &str,
        partitions: Option<&[TopicPartition]>,
        stable: bool,
    ) -> Result<Vec<(TopicPartition, CommittedOffset)>, ClientError> {
        let node_id = self.coordinator(CoordinatorKind::Group, group_id).await?;
        let connection = self.node(node_id).await?;
        let version = connection.version::<OffsetFetchRequest>()?;
        let request = write(version, group_id, partitions, stable);
        let answer = connection.call(&request, self.config().request_timeout()).await?;
        read(answer, group_id)
    }
}

fn write(
    version: i16,
    group_id: &str,
    partitions: Option<&[TopicPartition]>,
    stable: bool,
) -> OffsetFetchRequest {
    let group_id = GroupId(text(group_id));
    let topics = partitions.map(|partitions| {
        let mut topics: BTreeMap<&str, Vec<i32>> = BTreeMap::new();
        for one in partitions {
            topics.entry(&one.topic).or_default().push(one.partition);
        }
        topics
    });
    let request = OffsetFetchRequest::default().with_require_stable(stable && version >= 7);
    if version >= 8 {
        let topics = topics.map(|topics| {
            let one = |(name, numbers): (&str, Vec<i32>)| {
                OffsetFetchRequestTopics::default()
                    .with_name(topic_name(name))
                    .with_partition_indexes(numbers)
            };
            topics.into_iter().map(one).collect()
        });
        let group = OffsetFetchRequestGroup::default().with_group_id(group_id).with_topics(topics);
        return request.with_groups(vec![group]);
    }
    let topics = topics.map(|topics| {
        let one = |(name, numbers): (&str, Vec<i32>)| {
            OffsetFetchRequestTopic::default().with_name(topic_name(name)).with_partition_indexes(numbers)
        };
        topics.into_iter().map(one).collect()
    });
    request.with_group_id(group_id).with_topics(topics)
}

fn read(
    answer: OffsetFetchResponse,
    group_id: &str,
) -> Result<Vec<(TopicPartition, CommittedOffset)>, ClientError> {
    let mut codes = vec![answer.error_code];
    let mut found = Vec::new();
    for topic in &answer.topics {
        for one in &topic.partitions {
            let metadata = one.metadata.as_ref().map(|text| text.to_string());
            let offset = (one.committed_offset, one.committed_leader_epoch, metadata);
            found.push((&topic.name, one.partition_index, one.error_code, offset));
        }
    }
    for group in &answer.groups {
        codes.push(group.error_code);
        for topic in &group.topics {
            for one in &topic.partitions {
                let metadata = one.metadata.as_ref().map(|text| text.to_string());
                let offset = (one.committed_offset, one.committed_leader_epoch, metadata);
                found.push((&topic.name, one.partition_index, one.error_code, offset));
            }
        }
    }
    if let Some(&code) = codes.iter().find(|&&code| code != 0) {
        return Err(ClientError::refused("OffsetFetch", code, group_id));
    }
    let mut offsets = Vec::new();
    for (topic, number, code, (offset, leader_epoch, metadata)) in found {
        if code != 0 {
            return Err(ClientError::refused("OffsetFetch", code, format!("{}-{number}", topic.as_str())));
        }
        if offset != NO_OFFSET {
            let committed = CommittedOffset { offset, leader_epoch, metadata: metadata.unwrap_or_default() };
            offsets.push((TopicPartition::new(topic.to_string(), number), committed));
        }
    }
    offsets.sort_by(|one, other| one.0.cmp(&other.0));
    Ok(offsets)
}
