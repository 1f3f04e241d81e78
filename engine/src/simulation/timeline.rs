//! What happened, for people: who owns what, who paused and for how long.

use core::fmt::Write;
use std::collections::BTreeMap;

use super::fault::DisturbanceKind;
use crate::codec::Assignment;
use crate::protocol::coordinator::GroupRecord;
use crate::protocol::member::{Callback, CallbackKind, Report};
use crate::protocol::message::TopicPartition;
use crate::protocol::partition_set::PartitionSet;

/// One line of a [`Timeline`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// When.
    pub at_ms: u64,
    /// Which process, if it is about one.
    pub process: Option<usize>,
    /// What.
    pub text: String,
}

/// What happened in a run, and who paused for how long.
///
/// A *pause* is time in which nobody reads a partition that somebody read before.
#[derive(Debug, Clone, Default)]
pub struct Timeline {
    entries: Vec<Entry>,
    reads: BTreeMap<usize, PartitionSet>,
    /// Since when a partition has no reader.
    unread: BTreeMap<TopicPartition, u64>,
    pauses_ms: BTreeMap<TopicPartition, u64>,
    longest_ms: u64,
    revoked: u64,
    generations: u64,
    /// Since when a process reads nothing, after it read something.
    idle: BTreeMap<usize, u64>,
    stopped_ms: BTreeMap<usize, u64>,
}

impl Timeline {
    /// What happened, in order.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// How long each partition had no reader, all its pauses together.
    pub fn pauses_ms(&self) -> &BTreeMap<TopicPartition, u64> {
        &self.pauses_ms
    }

    /// How long each process read nothing, though it had read something before.
    pub fn stopped_ms(&self) -> &BTreeMap<usize, u64> {
        &self.stopped_ms
    }

    /// All partitions' pauses together.
    pub fn total_pause_ms(&self) -> u64 {
        self.pauses_ms.values().sum()
    }

    /// The longest pause of one partition.
    pub fn longest_pause_ms(&self) -> u64 {
        self.longest_ms
    }

    /// How many partitions were revoked or lost, each time counted.
    pub fn revocations(&self) -> u64 {
        self.revoked
    }

    /// How many generations were completed.
    pub fn generations(&self) -> u64 {
        self.generations
    }

    pub(super) fn note(&mut self, at_ms: u64, text: impl Into<String>) {
        self.entries.push(Entry { at_ms, process: None, text: text.into() });
    }

    pub(super) fn disturbed(&mut self, at_ms: u64, kind: &DisturbanceKind) {
        let (process, text) = match kind {
            DisturbanceKind::Crash { process, for_ms } => {
                (Some(*process), format!("dies, back in {for_ms} ms"))
            }
            DisturbanceKind::Pause { process, for_ms } => {
                (Some(*process), format!("stands still for {for_ms} ms"))
            }
            DisturbanceKind::Restart { process, for_ms } => {
                (Some(*process), format!("is closed, back {for_ms} ms later"))
            }
            DisturbanceKind::Relist { process, assignors } => {
                (Some(*process), format!("is restarted with {}", assignors.join(", ")))
            }
            DisturbanceKind::Unsubscribe { process, for_ms } => {
                (Some(*process), format!("unsubscribes for {for_ms} ms"))
            }
            DisturbanceKind::Subscribe { process, .. } => (Some(*process), "subscribes anew".to_owned()),
            DisturbanceKind::Rejoin { process } => (Some(*process), "asks for a rebalance".to_owned()),
            DisturbanceKind::StaleMetadata { process, for_ms } => {
                (Some(*process), format!("sees old metadata for {for_ms} ms"))
            }
            DisturbanceKind::Failover { load_ms } => {
                (None, format!("the coordinator moves and loads for {load_ms} ms"))
            }
            DisturbanceKind::TransactionFailover { load_ms } => {
                (None, format!("the transaction coordinator moves and loads for {load_ms} ms"))
            }
            DisturbanceKind::PauseAt { .. } => return, // told when it comes to that
            DisturbanceKind::CreateTopic { topic, partitions } => {
                (None, format!("topic t{topic} is created with {partitions} partitions"))
            }
            DisturbanceKind::DeleteTopic { topic } => (None, format!("topic t{topic} is deleted")),
            DisturbanceKind::GrowTopic { topic, by } => (None, format!("topic t{topic} grows by {by}")),
            DisturbanceKind::ShrinkTopic { topic, by } => (None, format!("topic t{topic} shrinks by {by}")),
        };
        self.entries.push(Entry { at_ms, process, text });
    }

    pub(super) fn generation(&mut self, at_ms: u64, record: &GroupRecord) {
        self.generations += 1;
        let mut text = format!(
            "generation {} by {}:",
            record.generation,
            record.protocol.as_deref().unwrap_or("no assignor")
        );
        for member in &record.members {
            let Ok(assignment) = Assignment::decode(&member.assignment) else { continue };
            let blocks = assignment.assigned.iter().map(|block| {
                let topic = block.topic.to_str_lossy().into_owned();
                (topic, block.partitions.iter().collect::<Vec<_>>())
            });
            let given = PartitionSet::from_blocks(blocks);
            let _ = write!(text, " {}=[{}]", member.client_id, short(&given));
        }
        self.note(at_ms, text);
    }

    pub(super) fn callback(&mut self, at_ms: u64, process: usize, callback: &Callback) {
        let Callback { kind, partitions, .. } = callback;
        if *kind != CallbackKind::Assigned {
            self.revoked += partitions.len() as u64;
        }
        let text = format!("{kind} {}", short(partitions));
        self.entries.push(Entry { at_ms, process: Some(process), text });
    }

    pub(super) fn transaction(&mut self, at_ms: u64, process: usize, text: String) {
        self.entries.push(Entry { at_ms, process: Some(process), text });
    }

    pub(super) fn reported(&mut self, at_ms: u64, process: usize, report: &Report) {
        let text = match report {
            Report::Settled { .. } | Report::CallbackFailed { .. } => return,
            Report::FellBackToEager { assignor, .. } => format!("falls back to the eager {assignor}"),
            Report::Fatal(error) => format!("stops: {error}"),
            Report::Closed { timed_out: false } => "closed".to_owned(),
            Report::Closed { timed_out: true } => "closed, its time was over".to_owned(),
            other => format!("{other:?}"),
        };
        self.entries.push(Entry { at_ms, process: Some(process), text });
    }

    pub(super) fn reads(&mut self, at_ms: u64, process: usize, reads: &PartitionSet) {
        let before = self.reads.get(&process);
        if before == Some(reads) || (before.is_none() && reads.is_empty()) {
            return;
        }
        let before = self.reads.insert(process, reads.clone()).unwrap_or_default();
        for partition in &before.minus(reads) {
            if !self.reads.values().any(|other| other.contains(partition)) {
                self.unread.insert(partition.clone(), at_ms);
            }
        }
        for partition in &reads.minus(&before) {
            if let Some(since_ms) = self.unread.remove(partition) {
                let pause_ms = at_ms - since_ms;
                self.longest_ms = self.longest_ms.max(pause_ms);
                *self.pauses_ms.entry(partition.clone()).or_default() += pause_ms;
            }
        }
        if reads.is_empty() {
            self.idle.insert(process, at_ms);
        } else if let Some(since_ms) = self.idle.remove(&process) {
            *self.stopped_ms.entry(process).or_default() += at_ms - since_ms;
        }
    }

    pub(super) fn finish(&mut self, at_ms: u64) {
        for (partition, since_ms) in core::mem::take(&mut self.unread) {
            let pause_ms = at_ms - since_ms;
            self.longest_ms = self.longest_ms.max(pause_ms);
            *self.pauses_ms.entry(partition).or_default() += pause_ms;
        }
    }
}

/// Partitions with runs drawn together: `t0:0-3,7 t1:2`.
fn short(set: &PartitionSet) -> String {
    let mut text = String::new();
    for (topic, block) in set.blocks() {
        if !text.is_empty() {
            text.push(' ');
        }
        let _ = write!(text, "{topic}:");
        let mut numbers = block.iter().map(|one| one.partition).peekable();
        let mut first = true;
        while let Some(from) = numbers.next() {
            let mut to = from;
            while numbers.next_if_eq(&(to + 1)).is_some() {
                to += 1;
            }
            if !first {
                text.push(',');
            }
            first = false;
            let _ = match to - from {
                0 => write!(text, "{from}"),
                1 => write!(text, "{from},{to}"),
                _ => write!(text, "{from}-{to}"),
            };
        }
    }
    text
}
