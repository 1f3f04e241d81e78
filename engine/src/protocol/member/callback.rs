//! Callbacks: one at a time, in order, none for an empty set.
//!
//! The order of effects: what a callback assigns is owned when it starts, what it revokes or loses is owned until it
//! ended; however it ends, the change counts as made. The first error of a group of callbacks is told after the last.

use super::super::error::ProtocolError;
use super::super::message::TopicPartition;
use super::super::partition_set::PartitionSet;
use super::action::{Action, Callback, CallbackKind, Report};
use super::state::State;
use super::{Member, PartitionSet as Partitions};

/// The callback that the host is running.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Running {
    pub(super) kind: CallbackKind,
    pub(super) partitions: PartitionSet,
    pub(super) started_ms: u64,
}

impl Member {
    /// The callback that was asked for last has ended, well or not.
    ///
    /// # Errors
    ///
    /// [`ProtocolError::Unexpected`] if no callback is running.
    pub fn callback_finished(
        &mut self,
        result: Result<(), String>,
        now_ms: u64,
    ) -> Result<(), ProtocolError> {
        let Some(Running { kind, partitions, started_ms }) = self.running.take() else {
            return Err(self.unexpected("callback finished"));
        };
        let took_ms = now_ms.saturating_sub(started_ms);
        match kind {
            CallbackKind::Assigned => self.metrics.assigned.record(took_ms, now_ms),
            CallbackKind::Revoked => self.metrics.revoked.record(took_ms, now_ms),
            CallbackKind::Lost => self.metrics.lost.record(took_ms, now_ms),
        }
        if kind != CallbackKind::Assigned {
            self.owned = self.owned.minus(&partitions);
        }
        if self.owned.is_empty() {
            self.lost = false;
            self.doubted = false;
        }
        if let Err(message) = result {
            self.first_error.get_or_insert(Report::CallbackFailed { kind, partitions, message });
        }
        self.application_alive(now_ms);
        if matches!(self.state, State::Stalled) {
            self.state = State::Preparing;
        }
        self.settle(now_ms);
        Ok(())
    }

    /// Starts the next callback if none is running.
    pub(super) fn run_next_callback(&mut self, now_ms: u64) {
        while self.running.is_none() {
            let Some((kind, partitions)) = self.callbacks.pop_front() else { return };
            let partitions = match kind {
                CallbackKind::Assigned => {
                    let added = partitions.minus(&self.owned);
                    self.owned = self.owned.union(&added);
                    added
                }
                CallbackKind::Revoked | CallbackKind::Lost => partitions.intersection(&self.owned),
            };
            if partitions.is_empty() {
                continue;
            }
            let metadata = self.group_metadata();
            self.actions.push_back(Action::Callback(Callback {
                kind,
                partitions: partitions.clone(),
                metadata,
            }));
            self.running = Some(Running { kind, partitions, started_ms: now_ms });
        }
    }

    /// Queues what must be told before a join; false if there is nothing (more).
    pub(super) fn queue_before_join(&mut self) -> bool {
        if self.owned.is_empty() {
            self.lost = false;
            self.vanished = Partitions::new();
            return false;
        }
        if self.lost {
            self.callbacks.push_back((CallbackKind::Lost, self.owned.clone()));
            return true;
        }
        if self.queue_vanished() {
            return true;
        }
        let kind = if self.doubted { CallbackKind::Lost } else { CallbackKind::Revoked };
        let revoked: PartitionSet = match self.announced.unwrap_or(self.protocol) {
            super::RebalanceProtocol::Eager => self.owned.clone(),
            super::RebalanceProtocol::Cooperative => {
                self.owned.iter().filter(|one| !self.wants(&one.topic)).cloned().collect()
            }
        };
        if revoked.is_empty() {
            return false;
        }
        self.callbacks.push_back((kind, revoked));
        true
    }

    /// Queues the loss of partitions that no longer exist; false if there are none.
    pub(super) fn queue_vanished(&mut self) -> bool {
        let vanished = core::mem::take(&mut self.vanished).intersection(&self.owned);
        if vanished.is_empty() {
            return false;
        }
        self.gone = self.gone.union(&vanished);
        self.callbacks.push_back((CallbackKind::Lost, vanished));
        true
    }

    /// Tells the first error of the callbacks that just ran.
    pub(super) fn flush_callback_error(&mut self) {
        if let Some(report) = self.first_error.take() {
            self.report(report);
        }
    }

    /// Whether this partition is being taken away, so that a commit must not be tried.
    pub(super) fn being_lost(&self, partition: &TopicPartition) -> bool {
        self.lost
            || self
                .running
                .as_ref()
                .is_some_and(|one| one.kind == CallbackKind::Lost && one.partitions.contains(partition))
    }

    pub(super) fn wants(&self, topic: &str) -> bool {
        self.wanted.as_ref().is_some_and(|wanted| wanted.has(topic))
    }
}
