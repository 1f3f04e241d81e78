//! The output topic: one partition that all transactions write to, and what a reader of committed records sees.

use std::collections::BTreeMap;

use crate::fence::transaction::Producer;
use crate::fence::{MarkerVerdict, ProducerFence};
use crate::protocol::error::ErrorCode;
use crate::protocol::message::{TopicPartition, TxnMarkerRequest};

/// The results of the input records of one partition from one offset up to another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) struct Batch {
    pub(in super::super) partition: TopicPartition,
    pub(in super::super) from: i64,
    pub(in super::super) to: i64,
}

/// What one producer has written in its open transaction.
#[derive(Debug, Default)]
struct Open {
    epoch: i16,
    next_sequence: i32,
    batches: Vec<Batch>,
}

/// The partition's log, as far as it matters here.
#[derive(Debug, Default)]
pub(in super::super) struct Output {
    fence: ProducerFence,
    open: BTreeMap<i64, Open>,
    /// Input records whose results are committed: ranges that don't touch each other.
    committed: BTreeMap<TopicPartition, BTreeMap<i64, i64>>,
}

impl Output {
    /// Writes results. A repetition of the last write is taken for what it is, as brokers do by the sequence.
    pub(in super::super) fn write(
        &mut self,
        producer: Producer,
        sequence: i32,
        batches: Vec<Batch>,
    ) -> ErrorCode {
        if let Err(error) = self.fence.admit_write(producer.id, producer.epoch) {
            return error.code();
        }
        let open = self.open.entry(producer.id).or_default();
        if open.epoch != producer.epoch {
            *open = Open { epoch: producer.epoch, ..Open::default() };
        }
        if sequence > open.next_sequence {
            return ErrorCode::OutOfOrderSequenceNumber;
        }
        if sequence == open.next_sequence {
            open.next_sequence += 1;
            open.batches.extend(batches);
            self.fence.note_write(producer.id, producer.epoch);
        }
        ErrorCode::None
    }

    /// Ends a producer's transaction. Answers what is committed a second time.
    pub(in super::super) fn mark(&mut self, marker: &TxnMarkerRequest) -> (ErrorCode, Vec<Batch>) {
        match self.fence.judge_marker(marker) {
            Ok(MarkerVerdict::Apply) => {}
            Ok(MarkerVerdict::Duplicate) => return (ErrorCode::None, Vec::new()),
            Err(error) => return (error.code(), Vec::new()),
        }
        self.fence.note_marker(marker.producer_id, marker.producer_epoch, marker.coordinator_epoch);
        self.fence.note_settled(marker.producer_id, marker.producer_epoch);
        let batches = self.open.remove(&marker.producer_id).unwrap_or_default().batches;
        let mut doubled = Vec::new();
        if marker.committed {
            for batch in batches {
                if !self.commit(&batch) {
                    doubled.push(batch);
                }
            }
        }
        (ErrorCode::None, doubled)
    }

    /// False if some of it is committed already.
    fn commit(&mut self, batch: &Batch) -> bool {
        let ranges = self.committed.entry(batch.partition.clone()).or_default();
        let (mut from, mut to) = (batch.from, batch.to);
        let before = ranges.range(..=from).next_back().map(|(&from, &to)| (from, to));
        let after = ranges.range(from..).next().map(|(&from, &to)| (from, to));
        if before.is_some_and(|(_, end)| end > from) || after.is_some_and(|(begin, _)| begin < to) {
            return false;
        }
        if let Some((begin, end)) = before
            && end == from
        {
            from = begin;
        }
        if let Some((begin, end)) = after
            && begin == to
        {
            ranges.remove(&begin);
            to = end;
        }
        ranges.insert(from, to);
        true
    }

    /// Up to where all of a partition's records have come out; an error if one was left out before others.
    pub(in super::super) fn complete_to(&self, partition: &TopicPartition) -> Result<i64, String> {
        let Some(ranges) = self.committed.get(partition) else { return Ok(0) };
        match (ranges.len(), ranges.iter().next()) {
            (0, _) => Ok(0),
            (1, Some((0, &to))) => Ok(to),
            _ => Err(format!("of {partition} came out only {ranges:?}")),
        }
    }
}
