//! The part of a transactional producer that concerns groups: offsets committed in a transaction (KIP-447).
//!
//! Records are another client's business. A program that writes elsewhere, or only moves offsets, needs no more than
//! this; and it is how a member whose generation passed is refused by the broker itself.

use kafka_protocol::messages as wire;
use kafka_protocol::messages::txn_offset_commit_request::{
    TxnOffsetCommitRequestPartition, TxnOffsetCommitRequestTopic,
};
use tenure::protocol::error::ErrorCode;
use tenure::protocol::member::GroupMetadata;
use tenure::protocol::message::{CommittedOffset, CoordinatorKind, NO_GENERATION, TopicPartition};

use crate::cluster::{Attempts, Cluster};
use crate::error::ClientError;
use crate::wire::{by_topic, text};

/// A producer with a transactional id that commits a group's offsets in transactions.
///
/// # Examples
///
/// ```no_run
/// # async fn run(cluster: &tenure_client::Cluster, member: &tenure_client::GroupMember)
/// # -> Result<(), tenure_client::ClientError> {
/// use tenure_client::{TopicPartition, TransactionalProducer};
///
/// let mut producer = TransactionalProducer::start(cluster, "billing-1", 60_000).await?;
/// let offsets = [(TopicPartition::new("orders", 0), 42)];
/// // Refused with ILLEGAL_GENERATION, UNKNOWN_MEMBER_ID or FENCED_INSTANCE_ID if the group went on without us.
/// match producer.send_offsets(offsets, &member.group_metadata()).await {
///     Ok(()) => producer.commit().await?,
///     Err(error) => {
///         producer.abort().await?;
///         return Err(error);
///     }
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct TransactionalProducer {
    cluster: Cluster,
    transactional_id: String,
    producer_id: i64,
    producer_epoch: i16,
    /// Whether the coordinator has a transaction of ours to end.
    open: bool,
}

impl TransactionalProducer {
    /// Takes the transactional id over: whoever had it before is fenced, and its open transaction aborted.
    ///
    /// # Errors
    ///
    /// [`ClientError::Refused`] if the coordinator refuses for good or until the request timeout has passed.
    pub async fn start(
        cluster: &Cluster,
        transactional_id: &str,
        timeout_ms: i32,
    ) -> Result<Self, ClientError> {
        let mut producer = Self {
            cluster: cluster.clone(),
            transactional_id: transactional_id.to_owned(),
            producer_id: -1,
            producer_epoch: -1,
            open: false,
        };
        let request = wire::InitProducerIdRequest::default()
            .with_transactional_id(Some(producer.wire_id()))
            .with_transaction_timeout_ms(timeout_ms);
        let mut attempts = Attempts::new(cluster);
        loop {
            let answer = producer.ask_coordinator(&request).await;
            let outcome = answer.and_then(|answer| {
                check("InitProducerId", answer.error_code, transactional_id).map(|()| answer)
            });
            match outcome {
                Ok(answer) => {
                    producer.producer_id = answer.producer_id.0;
                    producer.producer_epoch = answer.producer_epoch;
                    return Ok(producer);
                }
                Err(error) => attempts.wait_or_fail(error).await?,
            }
        }
    }

    /// The producer's id and epoch.
    pub const fn identity(&self) -> (i64, i16) {
        (self.producer_id, self.producer_epoch)
    }

    /// Adds a group's offsets to the transaction, beginning it if need be. The group's coordinator refuses them if the
    /// member's generation has passed.
    ///
    /// # Errors
    ///
    /// [`ClientError::Refused`] with the broker's code; the transaction has to be aborted then.
    pub async fn send_offsets(
        &mut self,
        offsets: impl IntoIterator<Item = (TopicPartition, i64)>,
        group: &GroupMetadata,
    ) -> Result<(), ClientError> {
        let add = wire::AddOffsetsToTxnRequest::default()
            .with_transactional_id(self.wire_id())
            .with_producer_id(wire::ProducerId(self.producer_id))
            .with_producer_epoch(self.producer_epoch)
            .with_group_id(wire::GroupId(text(group.group_id.clone())));
        let mut attempts = Attempts::new(&self.cluster);
        loop {
            let answer = self.ask_coordinator(&add).await;
            match answer
                .and_then(|answer| check("AddOffsetsToTxn", answer.error_code, &self.transactional_id))
            {
                Ok(()) => break,
                Err(error) => attempts.wait_or_fail(error).await?,
            }
        }
        self.open = true;
        let offsets: Vec<_> = offsets
            .into_iter()
            .map(|(partition, offset)| (partition, CommittedOffset::new(offset)))
            .collect();
        let mut attempts = Attempts::new(&self.cluster);
        loop {
            match self.commit_offsets(offsets.clone(), group).await {
                Ok(()) => return Ok(()),
                Err(error) => attempts.wait_or_fail(error).await?,
            }
        }
    }

    async fn commit_offsets(
        &self,
        offsets: Vec<(TopicPartition, CommittedOffset)>,
        group: &GroupMetadata,
    ) -> Result<(), ClientError> {
        let node_id = self.cluster.coordinator(CoordinatorKind::Group, &group.group_id).await?;
        let connection = self.cluster.node(node_id).await?;
        let version = connection.version::<wire::TxnOffsetCommitRequest>()?;
        if version < 3 && group.generation_id != NO_GENERATION {
            return Err(ClientError::Unsupported {
                request: "TxnOffsetCommit with a generation",
                ours: (3, 4),
                theirs: Some((0, version)),
            });
        }
        let partition = |(number, offset): (i32, CommittedOffset)| {
            TxnOffsetCommitRequestPartition::default()
                .with_partition_index(number)
                .with_committed_offset(offset.offset)
                .with_committed_metadata(Some(text(offset.metadata)))
        };
        let topics = by_topic(offsets)
            .into_iter()
            .map(|(name, partitions)| {
                TxnOffsetCommitRequestTopic::default()
                    .with_name(wire::TopicName(text(name)))
                    .with_partitions(partitions.into_iter().map(partition).collect())
            })
            .collect();
        let mut request = wire::TxnOffsetCommitRequest::default()
            .with_transactional_id(self.wire_id())
            .with_group_id(wire::GroupId(text(group.group_id.clone())))
            .with_producer_id(wire::ProducerId(self.producer_id))
            .with_producer_epoch(self.producer_epoch)
            .with_topics(topics);
        if version >= 3 {
            request = request
                .with_generation_id(group.generation_id)
                .with_member_id(text(group.member_id.clone()))
                .with_group_instance_id(group.group_instance_id.clone().map(text));
        }
        let answer = connection.call(&request, self.cluster.config().request_timeout()).await?;
        for topic in answer.topics {
            for one in topic.partitions {
                let place = format!("{}-{}", topic.name.as_str(), one.partition_index);
                check("TxnOffsetCommit", one.error_code, &place)?;
            }
        }
        Ok(())
    }

    /// Commits the transaction: its offsets count from now on.
    ///
    /// # Errors
    ///
    /// [`ClientError::Refused`] with the broker's code.
    pub async fn commit(&mut self) -> Result<(), ClientError> {
        self.end(true).await
    }

    /// Aborts the transaction: its offsets are forgotten.
    ///
    /// # Errors
    ///
    /// [`ClientError::Refused`] with the broker's code.
    pub async fn abort(&mut self) -> Result<(), ClientError> {
        self.end(false).await
    }

    async fn end(&mut self, committed: bool) -> Result<(), ClientError> {
        if !self.open {
            return Ok(());
        }
        let request = wire::EndTxnRequest::default()
            .with_transactional_id(self.wire_id())
            .with_producer_id(wire::ProducerId(self.producer_id))
            .with_producer_epoch(self.producer_epoch)
            .with_committed(committed);
        let mut attempts = Attempts::new(&self.cluster);
        loop {
            let answer = self.ask_coordinator(&request).await;
            match answer.and_then(|answer| check("EndTxn", answer.error_code, &self.transactional_id)) {
                Ok(()) => break,
                Err(error) => attempts.wait_or_fail(error).await?,
            }
        }
        self.open = false;
        Ok(())
    }

    fn wire_id(&self) -> wire::TransactionalId {
        wire::TransactionalId(text(self.transactional_id.clone()))
    }

    async fn ask_coordinator<R: kafka_protocol::protocol::Request>(
        &self,
        request: &R,
    ) -> Result<R::Response, ClientError> {
        let node_id = self.cluster.coordinator(CoordinatorKind::Transaction, &self.transactional_id).await?;
        self.cluster.ask_node(node_id, request).await
    }
}

fn check(request: &'static str, code: i16, detail: &str) -> Result<(), ClientError> {
    if code == ErrorCode::None.code() { Ok(()) } else { Err(ClientError::refused(request, code, detail)) }
}
