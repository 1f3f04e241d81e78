//! What must hold at every step, judged from outside: from records in the log, answers on the wire and what the
//! applications do. It shares no code with the assignors and believes no member about another.

use core::fmt;
use std::collections::BTreeMap;

use crate::codec::Assignment;
use crate::protocol::coordinator::GroupRecord;
use crate::protocol::member::{Callback, CallbackKind};
use crate::protocol::message::{OffsetCommitRequest, TopicPartition};
use crate::protocol::partition_set::PartitionSet;

/// A rule that was broken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// When.
    pub at_ms: u64,
    /// Which rule.
    pub rule: Rule,
    /// How.
    pub detail: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} broken at {} ms: {}", self.rule, self.at_ms, self.detail)
    }
}

/// The rules of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Rule {
    /// No partition is processed by two members of one generation.
    OneReader,
    /// No partition is assigned twice in one generation.
    OneOwner,
    /// A commit counts only from the generation's member, and not for what is another's.
    OwnersCommit,
    /// No record is skipped: nobody starts behind a record that was never processed.
    AtLeastOnce,
    /// Each input record of a transactional workload comes out exactly once.
    ExactlyOnce,
    /// Callbacks come one at a time, never empty, assigned before revoked or lost.
    Callbacks,
    /// Once nothing goes wrong any more, all partitions are read.
    Settles,
    /// A newcomer to a quiet group costs no more rounds than it should.
    Rounds,
    /// A state machine refused an event that its host may send, or asked for something impossible.
    Contract,
}

/// The membership and owners of the generation that the log has.
#[derive(Debug, Default)]
pub(super) struct Truth {
    pub(super) generation: i32,
    pub(super) members: Vec<String>,
    owners: BTreeMap<TopicPartition, String>,
}

/// What one process holds and reads, as seen from outside.
#[derive(Debug, Clone, Default)]
pub(super) struct View {
    pub(super) member_id: String,
    pub(super) generation: Option<i32>,
    pub(super) reads: PartitionSet,
    held: PartitionSet,
    running: Option<(CallbackKind, PartitionSet)>,
}

#[derive(Debug, Default)]
pub(super) struct Checker {
    pub(super) truth: Truth,
    pub(super) views: Vec<View>,
    /// One past the last record that was processed without a gap.
    frontier: BTreeMap<TopicPartition, i64>,
    pub(super) committed: BTreeMap<TopicPartition, i64>,
    pub(super) violation: Option<Violation>,
}

impl Checker {
    pub(super) fn break_rule(&mut self, rule: Rule, now_ms: u64, detail: String) {
        self.violation.get_or_insert(Violation { at_ms: now_ms, rule, detail });
    }

    /// The coordinator wrote a generation to its log.
    pub(super) fn recorded(&mut self, record: &GroupRecord, now_ms: u64) {
        let mut owners: BTreeMap<TopicPartition, String> = BTreeMap::new();
        for member in &record.members {
            let Ok(assignment) = Assignment::decode(&member.assignment) else { continue };
            for block in assignment.assigned.iter() {
                for partition in block.partitions.iter() {
                    let partition = TopicPartition::new(block.topic.to_str_lossy(), partition);
                    let text = format!("generation {}: {partition}", record.generation);
                    if let Some(other) = owners.insert(partition, member.member_id.clone()) {
                        let detail = format!("{text} goes to {other} and {}", member.member_id);
                        self.break_rule(Rule::OneOwner, now_ms, detail);
                    }
                }
            }
        }
        let members = record.members.iter().map(|one| one.member_id.clone()).collect();
        self.truth = Truth { generation: record.generation, members, owners };
    }

    /// What a process reads changed, or its membership did.
    pub(super) fn looked(&mut self, process: usize, now_ms: u64) {
        let Some(view) = self.views.get(process) else { return };
        if !self.is_in_truth(view) || view.reads.is_empty() {
            return;
        }
        let clash = self.views.iter().enumerate().find_map(|(number, other)| {
            let both = (number != process && self.is_in_truth(other))
                .then(|| view.reads.intersection(&other.reads))
                .filter(|both| !both.is_empty())?;
            Some(format!(
                "processes {process} and {number} both read {both} in generation {}",
                self.truth.generation
            ))
        });
        if let Some(detail) = clash {
            self.break_rule(Rule::OneReader, now_ms, detail);
        }
    }

    fn is_in_truth(&self, view: &View) -> bool {
        view.generation == Some(self.truth.generation) && self.truth.members.contains(&view.member_id)
    }

    /// The coordinator accepted a commit of this partition, as part of a transaction or not.
    pub(super) fn accepted(
        &mut self,
        request: &OffsetCommitRequest,
        partition: &TopicPartition,
        offset: i64,
        transactional: bool,
        now_ms: u64,
    ) {
        let by = format!(
            "{partition} at {offset} by {} of generation {}",
            request.member_id, request.generation_id
        );
        if request.generation_id != self.truth.generation {
            let detail = format!("{by}, though the group is at {}", self.truth.generation);
            self.break_rule(Rule::OwnersCommit, now_ms, detail);
        } else if !self.truth.members.contains(&request.member_id) {
            self.break_rule(Rule::OwnersCommit, now_ms, format!("{by}, which is no member"));
        } else if let Some(owner) = self.truth.owners.get(partition)
            && *owner != request.member_id
        {
            let detail = format!("{by}, though {owner} owns it");
            self.break_rule(Rule::OwnersCommit, now_ms, detail);
        }
        if transactional {
            return;
        }
        if offset > self.frontier.get(partition).copied().unwrap_or(0) {
            self.break_rule(
                Rule::AtLeastOnce,
                now_ms,
                format!("{by}, though records before were never processed"),
            );
        }
        self.committed.insert(partition.clone(), offset);
    }

    /// An application processed the records from one offset up to another.
    pub(super) fn processed(
        &mut self,
        process: usize,
        partition: &TopicPartition,
        from: i64,
        to: i64,
        now_ms: u64,
    ) {
        let frontier = self.frontier.entry(partition.clone()).or_insert(0);
        if from > *frontier {
            let detail =
                format!("process {process} starts {partition} at {from}, read is only up to {frontier}");
            self.break_rule(Rule::AtLeastOnce, now_ms, detail);
        } else {
            *frontier = (*frontier).max(to);
        }
    }

    pub(super) fn callback_started(&mut self, process: usize, callback: &Callback, now_ms: u64) {
        let Some(view) = self.views.get_mut(process) else { return };
        let Callback { kind, partitions, metadata } = callback;
        let fault = if view.running.is_some() {
            Some("while another is running")
        } else if partitions.is_empty() {
            Some("with nothing in it")
        } else if *kind == CallbackKind::Assigned && !view.held.is_disjoint(partitions) {
            Some("of what it holds already")
        } else if *kind != CallbackKind::Assigned && !partitions.minus(&view.held).is_empty() {
            Some("of what it does not hold")
        } else if *kind != CallbackKind::Lost && !metadata.is_member() {
            Some("without a membership")
        } else {
            None
        };
        view.running = Some((*kind, partitions.clone()));
        if let Some(fault) = fault {
            let detail = format!("process {process}: {kind} {partitions} {fault}");
            self.break_rule(Rule::Callbacks, now_ms, detail);
        }
    }

    pub(super) fn callback_ended(&mut self, process: usize) {
        let Some(view) = self.views.get_mut(process) else { return };
        match view.running.take() {
            Some((CallbackKind::Assigned, partitions)) => view.held = view.held.union(&partitions),
            Some((_, partitions)) => view.held = view.held.minus(&partitions),
            None => {}
        }
    }

    /// The member has nothing to tell: what it owns is what its application was told.
    pub(super) fn rests(&mut self, process: usize, owned: &PartitionSet, now_ms: u64) {
        let Some(view) = self.views.get(process) else { return };
        if view.running.is_none() && view.held != *owned {
            let detail = format!("process {process} was told [{}], but owns [{owned}]", view.held);
            self.break_rule(Rule::Callbacks, now_ms, detail);
        }
    }

    /// A process died or was closed: its next life begins with nothing.
    pub(super) fn forget(&mut self, process: usize) {
        if let Some(view) = self.views.get_mut(process) {
            *view = View::default();
        }
    }
}
