//! The end of a run: nothing goes wrong any more, and the group must come to rest.

use super::World;
use crate::protocol::coordinator::GroupPhase;
use crate::protocol::member::MemberState;
use crate::protocol::message::TopicPartition;
use crate::simulation::checker::{Rule, View};
use crate::simulation::fault::Faults;
use crate::simulation::process::Process;
use crate::simulation::workload::Regime;

/// So long a newcomer may take.
const NEWCOMER_MS: u64 = 15_000;

impl World<'_> {
    /// From here on nothing goes wrong any more.
    pub(super) fn calm_down(&mut self) {
        self.faults = Faults::NONE;
        self.disturbances.clear();
        self.input_ends_ms = Some(self.now_ms);
        let now_ms = self.now_ms;
        for one in &mut self.processes {
            one.stale = None;
            one.stops_at = None;
            for at_ms in [&mut one.paused_until_ms, &mut one.starts_at_ms, &mut one.subscribes_at_ms] {
                if at_ms.is_some() {
                    *at_ms = Some(now_ms);
                }
            }
            if let Some(callback) = &mut one.callback {
                callback.ends_ms = callback.ends_ms.min(now_ms + 50);
            }
        }
    }

    /// Everything that somebody wants is read, by one process each.
    pub(super) fn check_settled(&mut self, when: &str) {
        let now_ms = self.now_ms;
        let group = self.brokers[self.leading].group(super::GROUP);
        let phase = group.as_ref().map(|group| group.phase);
        if phase != Some(GroupPhase::Stable) {
            let detail = format!("{when}: the group is {phase:?}");
            self.checker.break_rule(Rule::Settles, now_ms, detail);
        }
        for (number, one) in self.processes.iter().enumerate() {
            let state = one.member.as_ref().map(|member| member.state());
            if state != Some(MemberState::Stable) && !self.refuses_some() {
                let detail = format!("{when}: process {number} is {state:?}");
                self.checker.break_rule(Rule::Settles, now_ms, detail);
            }
        }
        for (topic, &count) in &self.topics {
            let takes_part = |one: &&Process| {
                let state = one.member.as_ref().map(|member| member.state());
                !self.refuses_some() || state == Some(MemberState::Stable)
            };
            let wanted =
                self.processes.iter().filter(takes_part).any(|one| one.wanted_topics().contains(topic));
            for number in (0..count).filter(|_| wanted) {
                let partition = TopicPartition::new(topic.clone(), number);
                let readers =
                    self.checker.views.iter().filter(|view| view.reads.contains(&partition)).count();
                if readers != 1 {
                    let detail = format!("{when}: {partition} has {readers} readers");
                    self.checker.break_rule(Rule::Settles, now_ms, detail);
                }
                if let Some(ledger) = &self.ledger {
                    let complete = ledger.output.complete_to(&partition);
                    if complete != Ok(self.input_end()) {
                        let detail =
                            format!("{when}: of {} records of {partition}: {complete:?}", self.input_end());
                        self.checker.break_rule(Rule::ExactlyOnce, now_ms, detail);
                    }
                }
            }
        }
    }

    /// Whether some processes are not let into the group, and rightly so.
    fn refuses_some(&self) -> bool {
        self.options.regime == Regime::Misconfigured
    }

    /// A newcomer joins the quiet group: one round is enough for an eager group, two for any other, also where its vote
    /// turns the protocol.
    ///
    /// The protocol itself can cost one more: a fast member that revoked something joins again before a slow one has
    /// even asked for its assignment; that one is told REBALANCE_IN_PROGRESS and gives back a round later what it
    /// should have given back now (KAFKA-13891). Each generation overtaken like that counts as one more.
    pub(super) fn check_newcomer(&mut self) {
        if self.refuses_some() {
            return;
        }
        let before = self.checker.truth.generation;
        self.overtaken.clear();
        let mut options = self.processes[0].options.clone();
        options.fixed = false;
        self.processes.push(Process::new(options));
        self.checker.views.push(View::default());
        if let Some(last) = self.processes.last_mut() {
            last.starts_at_ms = Some(self.now_ms);
        }
        if let Some(timeline) = &mut self.timeline {
            timeline.note(self.now_ms, "one more process joins the quiet group");
        }
        self.run_until(self.now_ms + NEWCOMER_MS);
        if self.checker.violation.is_some() {
            return;
        }
        self.check_settled("after one more joined");
        let rounds = self.checker.truth.generation - before;
        let most = match self.options.regime {
            Regime::Eager => 1,
            _ => 2,
        };
        let most = most + i32::try_from(self.overtaken.len()).unwrap_or(i32::MAX);
        if rounds > most || rounds < 1 {
            let detail = format!("one more process cost {rounds} rounds; at most {most} are due");
            self.checker.break_rule(Rule::Rounds, self.now_ms, detail);
        }
    }
}
