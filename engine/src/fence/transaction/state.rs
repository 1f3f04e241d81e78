//! One transactional producer on the coordinator's side: its identity, its transaction, and who may speak for it.

use std::collections::BTreeSet;

use crate::protocol::error::ErrorCode;
use crate::protocol::message::{NO_PRODUCER_EPOCH, NO_PRODUCER_ID, TopicPartition};

/// A producer's id and epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Producer {
    /// The id.
    pub id: i64,
    /// The epoch; a higher one fences those below it.
    pub epoch: i16,
}

impl Producer {
    /// No producer, as the wire says it.
    pub const NONE: Self = Self { id: NO_PRODUCER_ID, epoch: NO_PRODUCER_EPOCH };

    /// Whether there is one.
    pub fn is_some(self) -> bool {
        self.id >= 0
    }
}

/// What a transaction coordinator knows a producer by.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TransactionKey {
    /// Its transactional id.
    Id(String),
    /// *Draft* (KIP-447): a consumer group, and a transactional id inside it: a member id or `group.instance.id`.
    GroupMember {
        /// The consumer group.
        group_id: String,
        /// The transactional id.
        transactional_id: String,
    },
    /// *Draft* (KIP-447): a consumer group alone; every initialisation makes another producer.
    GroupProducer {
        /// The consumer group.
        group_id: String,
        /// The producer's id.
        producer_id: i64,
    },
}

impl TransactionKey {
    /// The transactional id, empty if the producer has none.
    pub fn transactional_id(&self) -> &str {
        match self {
            Self::Id(id) | Self::GroupMember { transactional_id: id, .. } => id,
            Self::GroupProducer { .. } => "",
        }
    }

    /// The consumer group, of producers that are aware of theirs.
    pub fn group_id(&self) -> Option<&str> {
        match self {
            Self::Id(_) => None,
            Self::GroupMember { group_id, .. } | Self::GroupProducer { group_id, .. } => Some(group_id),
        }
    }
}

/// Where a transaction stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum TransactionPhase {
    /// None was begun.
    #[default]
    Empty,
    /// Begun.
    Ongoing,
    /// Decided: its offsets and records will count; markers are on their way.
    PrepareCommit,
    /// Decided: its offsets and records are void; markers are on their way.
    PrepareAbort,
    /// Committed, and every log says so.
    CompleteCommit,
    /// Aborted, and every log says so.
    CompleteAbort,
}

impl TransactionPhase {
    /// Every phase.
    pub const ALL: [Self; 6] = [
        Self::Empty,
        Self::Ongoing,
        Self::PrepareCommit,
        Self::PrepareAbort,
        Self::CompleteCommit,
        Self::CompleteAbort,
    ];

    /// Kafka's name of the phase.
    pub fn name(self) -> &'static str {
        match self {
            Self::Empty => "Empty",
            Self::Ongoing => "Ongoing",
            Self::PrepareCommit => "PrepareCommit",
            Self::PrepareAbort => "PrepareAbort",
            Self::CompleteCommit => "CompleteCommit",
            Self::CompleteAbort => "CompleteAbort",
        }
    }

    /// Decided, but not every log says so yet.
    pub fn is_prepared(self) -> bool {
        matches!(self, Self::PrepareCommit | Self::PrepareAbort)
    }
}

/// A transactional producer as the coordinator's log keeps it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TransactionRecord {
    /// What it is known by.
    pub key: TransactionKey,
    /// Its present id and epoch.
    pub producer: Producer,
    /// The id and epoch before, if they still are the same client's: it may not have heard of the new ones.
    pub last: Option<Producer>,
    /// The id and epoch that the markers of a decided transaction carry.
    pub marker: Producer,
    /// Where its transaction stands.
    pub phase: TransactionPhase,
    /// How long a transaction may take.
    pub timeout_ms: u64,
    /// When the present one began.
    pub started_ms: u64,
    /// When the producer last did something.
    pub updated_ms: u64,
    /// The partitions written to.
    pub partitions: BTreeSet<TopicPartition>,
    /// The groups that offsets are committed for.
    pub groups: BTreeSet<String>,
    /// *Draft*: the generation the producer was initialised with.
    pub generation: Option<i32>,
}

impl TransactionRecord {
    /// A producer that has begun nothing.
    pub fn new(key: TransactionKey, producer: Producer, timeout_ms: u64) -> Self {
        Self {
            key,
            producer,
            last: None,
            marker: Producer::NONE,
            phase: TransactionPhase::Empty,
            timeout_ms,
            started_ms: 0,
            updated_ms: 0,
            partitions: BTreeSet::new(),
            groups: BTreeSet::new(),
            generation: None,
        }
    }

    /// Whether this id and epoch may act for the producer.
    ///
    /// # Errors
    ///
    /// INVALID_PRODUCER_EPOCH to the epoch that was raised behind its client's back (its transaction timed out):
    /// it may initialise again. PRODUCER_FENCED to any other: a newer client is at work.
    /// INVALID_PRODUCER_ID_MAPPING if the id is not this producer's at all.
    pub fn admit(&self, given: Producer) -> Result<(), ErrorCode> {
        if given == self.producer {
            Ok(())
        } else if self.last == Some(given) {
            Err(ErrorCode::InvalidProducerEpoch)
        } else if given.id == self.producer.id {
            Err(ErrorCode::ProducerFenced)
        } else {
            Err(ErrorCode::InvalidProducerIdMapping)
        }
    }

    /// When an open transaction runs out.
    pub fn expires_ms(&self) -> Option<u64> {
        (self.phase == TransactionPhase::Ongoing).then(|| self.started_ms.saturating_add(self.timeout_ms))
    }
}
