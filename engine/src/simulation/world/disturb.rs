//! Disturbances: what happens to processes, topics and the coordinator at planned times.

use super::World;
use crate::protocol::coordinator::Record;
use crate::protocol::member::{MemberState, Metadata};
use crate::simulation::fault::DisturbanceKind;
use crate::simulation::workload::Options;

impl World<'_> {
    pub(super) fn disturb(&mut self) {
        let Some(disturbance) = self.disturbances.pop_front() else { return };
        self.mix(disturbance.at_ms);
        if let Some(timeline) = &mut self.timeline {
            timeline.disturbed(self.now_ms, &disturbance.kind);
        }
        match disturbance.kind {
            DisturbanceKind::Crash { process, for_ms } => self.crash(process, for_ms),
            DisturbanceKind::Pause { process, for_ms } => {
                if self.processes[process].member.is_some() {
                    self.processes[process].paused_until_ms = Some(self.now_ms + for_ms);
                }
            }
            DisturbanceKind::Restart { process, for_ms } => self.restart(process, for_ms),
            DisturbanceKind::Relist { process, assignors } => {
                self.processes[process].options.assignors = assignors;
                self.restart(process, 200);
            }
            DisturbanceKind::Unsubscribe { process, for_ms } => {
                let now_ms = self.now_ms;
                let one = &mut self.processes[process];
                if one.paused_until_ms.is_none()
                    && !one.closing
                    && let Some(member) = &mut one.member
                    && !matches!(member.state(), MemberState::Fatal | MemberState::Closed)
                {
                    one.subscribes_at_ms = Some(now_ms + for_ms);
                    let result = member.unsubscribe(now_ms);
                    self.expect(process, result);
                    self.drain(process);
                }
            }
            DisturbanceKind::Subscribe { process, topics } => {
                self.processes[process].options.topics = topics;
                if self.processes[process].subscribes_at_ms.is_none() {
                    self.subscribe(process);
                }
            }
            DisturbanceKind::Rejoin { process } => {
                let now_ms = self.now_ms;
                let one = &mut self.processes[process];
                if one.paused_until_ms.is_none()
                    && let Some(member) = &mut one.member
                {
                    // Refused where the member is in no group.
                    let _ = member.request_rejoin("the application asked for it", now_ms);
                    self.drain(process);
                }
            }
            DisturbanceKind::StaleMetadata { process, for_ms } => {
                let snapshot = Metadata::new(self.topics.clone());
                self.processes[process].stale = Some((self.now_ms + for_ms, snapshot));
            }
            DisturbanceKind::Failover { load_ms } => self.fail_over(load_ms),
            DisturbanceKind::TransactionFailover { load_ms } => self.fail_over_transactions(load_ms),
            DisturbanceKind::PauseAt { process, step, for_ms } => {
                self.processes[process].stops_at = Some((step, for_ms));
            }
            DisturbanceKind::CreateTopic { topic, partitions } => {
                self.topics.entry(Options::topic_name(topic)).or_insert(partitions);
            }
            DisturbanceKind::DeleteTopic { topic } => {
                if self.topics.len() > 1 {
                    self.topics.remove(&Options::topic_name(topic));
                }
            }
            DisturbanceKind::GrowTopic { topic, by } => {
                if let Some(count) = self.topics.get_mut(&Options::topic_name(topic)) {
                    *count = (*count + by).min(12);
                }
            }
            DisturbanceKind::ShrinkTopic { topic, by } => {
                if let Some(count) = self.topics.get_mut(&Options::topic_name(topic)) {
                    *count = (*count - by).max(1);
                }
            }
        }
    }

    pub(super) fn crash(&mut self, process: usize, for_ms: u64) {
        let now_ms = self.now_ms;
        let one = &mut self.processes[process];
        one.member = None;
        one.end_life();
        one.starts_at_ms = Some(now_ms + for_ms);
        self.checker.forget(process);
        self.look(process);
    }

    pub(super) fn restart(&mut self, process: usize, for_ms: u64) {
        let now_ms = self.now_ms;
        let one = &mut self.processes[process];
        if one.member.is_none() || one.paused_until_ms.is_some() {
            // It comes back anyway; a paused one dies instead.
            if one.member.is_some() {
                self.crash(process, for_ms);
            }
            return;
        }
        one.closing = true;
        one.restart_in_ms = for_ms;
        if let Some(member) = &mut one.member {
            member.close(now_ms);
        }
        self.drain(process);
    }

    pub(super) fn subscribe(&mut self, process: usize) {
        let now_ms = self.now_ms;
        let one = &mut self.processes[process];
        let topics = one.wanted_topics();
        if one.paused_until_ms.is_some() {
            one.subscribes_at_ms = Some(now_ms); // once it goes on
            return;
        }
        if one.closing {
            return;
        }
        if let Some(member) = &mut one.member
            && !matches!(member.state(), MemberState::Fatal | MemberState::Closed)
        {
            one.subscribes_at_ms = None;
            let result = member.subscribe(topics, now_ms);
            self.expect(process, result);
            self.drain(process);
        }
    }

    pub(super) fn fail_over(&mut self, load_ms: u64) {
        let old = self.leading;
        self.brokers[old].handle_resigned(self.now_ms);
        self.drain_broker(old);
        self.leading = 1 - old;
        self.epoch += 1;
        let records: Vec<Record> = self
            .group_record
            .iter()
            .chain(self.offset_records.values())
            .chain(self.ledger.iter().flat_map(|ledger| &ledger.offsets))
            .cloned()
            .collect();
        let new = &mut self.brokers[self.leading];
        new.handle_elected(self.epoch, self.now_ms);
        new.handle_records(records, self.now_ms);
        self.loaded_at_ms = Some(self.now_ms + load_ms);
        self.drain_broker(self.leading);
    }
}
