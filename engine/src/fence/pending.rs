//! Offsets that a transaction has sent and that count only once it is committed.

use std::collections::BTreeMap;

use crate::protocol::message::{CommittedOffset, TopicPartition};

/// A transaction that holds a partition's offset back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blocker {
    /// The partition whose committed offset may still change.
    pub partition: TopicPartition,
    /// The producer whose transaction it is.
    pub producer_id: i64,
    /// The producer's epoch.
    pub producer_epoch: i16,
    /// Since when the partition is held.
    pub since_ms: u64,
}

/// An offset that becomes the committed one if its transaction is committed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeldOffset {
    /// The partition.
    pub partition: TopicPartition,
    /// The offset.
    pub offset: CommittedOffset,
    /// Its place in the log: a later plain commit stands against an earlier held one.
    pub position: u64,
    /// When it was sent.
    pub since_ms: u64,
}

/// The pending offsets of one group, by producer.
///
/// Cost: lookups by partition are O(producers with something pending · log of their partitions).
/// Order: everything is handed out by producer id, then partition.
///
/// # Examples
///
/// ```
/// use tenure::fence::PendingOffsets;
/// use tenure::protocol::message::{CommittedOffset, TopicPartition};
///
/// let mut pending = PendingOffsets::new();
/// let t0 = TopicPartition::new("t", 0);
/// pending.hold(4001, 0, t0.clone(), CommittedOffset::new(10), 1, 0);
/// assert!(pending.holds(&t0));
/// let settled = pending.settle(4001);
/// assert_eq!(settled[0].offset.offset, 10);
/// assert!(!pending.holds(&t0));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PendingOffsets {
    producers: BTreeMap<i64, Transaction>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Transaction {
    epoch: i16,
    offsets: BTreeMap<TopicPartition, (CommittedOffset, u64, u64)>,
}

impl PendingOffsets {
    /// Nothing pending.
    pub fn new() -> Self {
        Self::default()
    }

    /// Holds an offset for a producer's transaction. The later of two offsets for one partition counts.
    pub fn hold(
        &mut self,
        producer_id: i64,
        producer_epoch: i16,
        partition: TopicPartition,
        offset: CommittedOffset,
        position: u64,
        now_ms: u64,
    ) {
        let transaction = self.producers.entry(producer_id).or_default();
        transaction.epoch = producer_epoch;
        let since_ms = transaction.offsets.get(&partition).map_or(now_ms, |&(_, _, since)| since);
        transaction.offsets.insert(partition, (offset, position, since_ms));
    }

    /// Ends a producer's transaction and hands out what it held: to be stored on a commit, dropped on an abort.
    pub fn settle(&mut self, producer_id: i64) -> Vec<HeldOffset> {
        let Some(transaction) = self.producers.remove(&producer_id) else { return Vec::new() };
        let held = transaction.offsets.into_iter();
        held.map(|(partition, (offset, position, since_ms))| HeldOffset {
            partition,
            offset,
            position,
            since_ms,
        })
        .collect()
    }

    /// Whether any transaction may still change this partition's committed offset.
    pub fn holds(&self, partition: &TopicPartition) -> bool {
        self.producers.values().any(|transaction| transaction.offsets.contains_key(partition))
    }

    /// Whether nothing is pending.
    pub fn is_empty(&self) -> bool {
        self.producers.is_empty()
    }

    /// Which transactions hold which partitions, and since when.
    pub fn blockers(&self) -> impl Iterator<Item = Blocker> + '_ {
        self.producers.iter().flat_map(|(&producer_id, transaction)| {
            transaction.offsets.iter().map(move |(partition, &(_, _, since_ms))| Blocker {
                partition: partition.clone(),
                producer_id,
                producer_epoch: transaction.epoch,
                since_ms,
            })
        })
    }
}
