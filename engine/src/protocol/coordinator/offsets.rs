//! A group's offsets: committed, pending in a transaction, or on their way to the log.

use std::collections::BTreeMap;

use super::action::{AppendId, Context};
use super::record::{OffsetRecord, Record};
use crate::fence::{Blocker, PendingOffsets, Rules};
use crate::protocol::error::ErrorCode;
use crate::protocol::message::{
    CommittedOffset, FetchedOffset, OffsetCommitResponse, OffsetFetchRequest, OffsetFetchResponse,
    TopicPartition,
};

/// The offsets of one group.
#[derive(Debug, Clone, Default)]
pub(super) struct Offsets {
    committed: BTreeMap<TopicPartition, Stored>,
    pending: PendingOffsets,
    in_flight: BTreeMap<AppendId, Vec<TopicPartition>>,
}

#[derive(Debug, Clone)]
struct Stored {
    committed: CommittedOffset,
    commit_ms: u64,
    position: u64,
}

/// Offsets of one request, numbered as the log will have them.
#[derive(Debug, Clone, Default)]
pub(super) struct InFlight {
    pub(super) producer: Option<(i64, i16)>,
    pub(super) offsets: Vec<(TopicPartition, CommittedOffset)>,
    pub(super) first_position: u64,
    pub(super) commit_ms: u64,
}

impl InFlight {
    /// Sorts a request into what can be stored and what can't, with the answer for each partition.
    pub(super) fn sort(
        context: &Context<'_>,
        offsets: Vec<(TopicPartition, CommittedOffset)>,
        producer: Option<(i64, i16)>,
    ) -> (Self, OffsetCommitResponse) {
        let fits = |one: &CommittedOffset| one.metadata.len() <= context.config.offset_metadata_max_bytes;
        let outcome = |fits: bool| if fits { ErrorCode::None } else { ErrorCode::OffsetMetadataTooLarge };
        let partitions = offsets.iter().map(|(partition, one)| (partition.clone(), outcome(fits(one))));
        let response = OffsetCommitResponse { partitions: partitions.collect() };
        let offsets = offsets.into_iter().filter(|(_, one)| fits(one)).collect();
        let first_position = context.desk.position;
        (Self { producer, offsets, first_position, commit_ms: context.now_ms }, response)
    }

    pub(super) fn records(&self, group_id: &str) -> Vec<Record> {
        let record = |(partition, committed): &(TopicPartition, CommittedOffset)| Record::Offset {
            group_id: group_id.into(),
            partition: partition.clone(),
            value: Some(OffsetRecord { committed: committed.clone(), commit_ms: self.commit_ms }),
            producer: self.producer,
        };
        self.offsets.iter().map(record).collect()
    }
}

impl Offsets {
    /// Notes that a write is under way: until it ends the partitions are not stable.
    pub(super) fn begin(&mut self, id: AppendId, in_flight: &InFlight) {
        let partitions = in_flight.offsets.iter().map(|(partition, _)| partition.clone()).collect();
        self.in_flight.insert(id, partitions);
    }

    /// The write is done (then the offsets count, or become pending) or failed (then nothing happened).
    pub(super) fn finish(&mut self, id: AppendId, in_flight: InFlight, written: bool) {
        self.in_flight.remove(&id);
        if !written {
            return;
        }
        let InFlight { producer, offsets, first_position, commit_ms } = in_flight;
        for (position, (partition, committed)) in (first_position..).zip(offsets) {
            self.put(partition, OffsetRecord { committed, commit_ms }, producer, position);
        }
    }

    /// Takes a written offset over: at once, or pending if it belongs to a transaction.
    pub(super) fn put(
        &mut self,
        partition: TopicPartition,
        record: OffsetRecord,
        producer: Option<(i64, i16)>,
        position: u64,
    ) {
        let OffsetRecord { committed, commit_ms } = record;
        match producer {
            Some((producer_id, epoch)) => {
                self.pending.hold(producer_id, epoch, partition, committed, position, commit_ms);
            }
            None => self.store(partition, Stored { committed, commit_ms, position }),
        }
    }

    /// The later record of the log stands.
    fn store(&mut self, partition: TopicPartition, stored: Stored) {
        let older = |known: &Stored| known.position > stored.position;
        if !self.committed.get(&partition).is_some_and(older) {
            self.committed.insert(partition, stored);
        }
    }

    pub(super) fn remove(&mut self, partition: &TopicPartition) {
        self.committed.remove(partition);
    }

    /// A transaction ended.
    pub(super) fn settle(&mut self, producer_id: i64, committed: bool) {
        for held in self.pending.settle(producer_id) {
            if committed {
                let stored =
                    Stored { committed: held.offset, commit_ms: held.since_ms, position: held.position };
                self.store(held.partition, stored);
            }
        }
    }

    pub(super) fn get(&self, partition: &TopicPartition) -> Option<&CommittedOffset> {
        self.committed.get(partition).map(|stored| &stored.committed)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.committed.is_empty() && self.pending.is_empty() && self.in_flight.is_empty()
    }

    pub(super) fn blockers(&self) -> Vec<Blocker> {
        self.pending.blockers().collect()
    }

    /// Whether the committed offset may still change without a further request.
    fn is_unstable(&self, partition: &TopicPartition) -> bool {
        self.pending.holds(partition)
            || self.in_flight.values().any(|partitions| partitions.contains(partition))
    }

    pub(super) fn fetch(&self, request: &OffsetFetchRequest, rules: Rules) -> OffsetFetchResponse {
        let unstable = match rules {
            Rules::Draft => ErrorCode::PendingTransaction,
            Rules::Shipped | Rules::Strict | Rules::Off => ErrorCode::UnstableOffsetCommit,
        };
        let fetch = |partition: &TopicPartition| {
            let held_back = request.require_stable && self.is_unstable(partition);
            let committed = if held_back { None } else { self.get(partition).cloned() };
            let error = if held_back { unstable } else { ErrorCode::None };
            FetchedOffset { partition: partition.clone(), committed, error }
        };
        let partitions = match &request.partitions {
            Some(partitions) => partitions.iter().map(fetch).collect(),
            None => self.committed.keys().map(fetch).collect(),
        };
        OffsetFetchResponse { error: ErrorCode::None, partitions }
    }

    /// Partitions whose offset is older than it is kept, judged from the commit or, if later, from `since_ms`.
    pub(super) fn expired(&self, since_ms: u64, retention_ms: u64, now_ms: u64) -> Vec<TopicPartition> {
        let old = |(partition, stored): &(&TopicPartition, &Stored)| {
            let from_ms = stored.commit_ms.max(since_ms);
            !self.is_unstable(partition) && from_ms.saturating_add(retention_ms) <= now_ms
        };
        self.committed.iter().filter(old).map(|(partition, _)| partition.clone()).collect()
    }

    pub(super) fn partitions(&self) -> Vec<TopicPartition> {
        self.committed.keys().cloned().collect()
    }
}
