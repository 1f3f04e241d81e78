//! The processes' side: answers arrive, chores are done, members are obeyed.

use super::World;
use crate::protocol::error::{ErrorCode, ProtocolError};
use crate::protocol::member::{Action, Callback, CallbackKind, MemberState, Metadata, Report};
use crate::protocol::message::{CommittedOffset, Request, Response};
use crate::protocol::partition_set::PartitionSet;
use crate::simulation::assign::{Leading, compute};
use crate::simulation::checker::Rule;
use crate::simulation::mutation::Mutation;
use crate::simulation::network::{Message, Origin, Sender};
use crate::simulation::process::{Chore, Computation, InCallback};
use crate::simulation::workload::Regime;

impl World<'_> {
    pub(super) fn arrive(&mut self) {
        let Some(message) = self.network.arrive() else { return };
        let to = match &message {
            Message::ToProcess { to, .. } | Message::Broken { to } | Message::Written { to, .. } => *to,
            _ => {
                self.arrive_at_broker(message);
                return;
            }
        };
        let one = &mut self.processes[to.process];
        if one.life != to.life || one.member.is_none() {
            return;
        }
        if one.paused_until_ms.is_some() {
            one.inbox.push_back(message);
        } else {
            self.take(message);
        }
    }

    fn arrive_at_broker(&mut self, message: Message) {
        match message {
            Message::ToBroker { from, node, request } => self.asked(from, node, request),
            Message::Write { from, producer, sequence, batches } => {
                self.wrote(from, producer, sequence, batches);
            }
            Message::Marker { from, node, target, marker } => self.marked(from, node, target, marker),
            Message::Marked { to, target, marker, error } => {
                self.marker_answered(to, &target, &marker, error);
            }
            Message::ToProcess { .. } | Message::Broken { .. } | Message::Written { .. } => {}
        }
    }

    /// A message reaches a process that runs.
    fn take(&mut self, message: Message) {
        let now_ms = self.now_ms;
        let (to, response) = match message {
            Message::ToProcess { to, response } => (to, Some(response)),
            Message::Broken { to } => (to, None),
            Message::Written { to, error } => {
                if let Origin::Write(id) = to.of {
                    self.written(to.process, id, error);
                }
                return;
            }
            _ => return,
        };
        let Origin::Member(id) = to.of else {
            // Of broken connections the transactional side hears by its timeouts.
            if let Some(response) = response {
                self.answered(to, response);
            }
            return;
        };
        let one = &mut self.processes[to.process];
        let Some(member) = &mut one.member else { return };
        match response {
            Some(response) => {
                if let Response::SyncGroup(answer) = &response
                    && answer.error.is_none()
                {
                    one.late = Some(response.clone());
                }
                let result = member.handle_response(id, response, now_ms);
                self.expect(to.process, result);
            }
            None => member.handle_disconnect(id, now_ms),
        }
        self.mix(id.0 ^ now_ms);
        self.drain(to.process);
    }

    pub(super) fn chore(&mut self, process: usize, chore: Chore) {
        let now_ms = self.now_ms;
        match chore {
            Chore::Resume => {
                self.processes[process].paused_until_ms = None;
                // It goes on as if nothing had been: first with its work, then with what has arrived.
                for message in core::mem::take(&mut self.processes[process].outbox) {
                    self.network.send(message, &self.faults, &mut self.random, now_ms);
                }
                self.tick(process);
                while self.processes[process].paused_until_ms.is_none() {
                    let Some(message) = self.processes[process].inbox.pop_front() else { break };
                    self.take(message);
                }
            }
            Chore::Start => {
                let result = self.processes[process].start(process, self.options, now_ms);
                self.expect(process, result);
                self.look(process);
                self.subscribe(process);
            }
            Chore::Subscribe => {
                self.processes[process].subscribes_at_ms = None;
                self.subscribe(process);
            }
            Chore::EndCallback => self.end_callback(process),
            Chore::EndComputation => {
                let one = &mut self.processes[process];
                if let (Some(done), Some(member)) = (one.computation.take(), &mut one.member) {
                    let result = member.assignment_computed(done.id, done.outcome, now_ms);
                    self.expect(process, result);
                }
                self.drain(process);
            }
            Chore::TakeMetadata => {
                let one = &mut self.processes[process];
                if let (Some((_, metadata)), Some(member)) = (one.metadata.pop_front(), &mut one.member) {
                    member.handle_metadata(metadata, now_ms);
                }
                self.drain(process);
            }
            Chore::Refresh => {
                self.processes[process].refreshed(now_ms);
                self.look_up(process);
            }
            Chore::Timeout => {
                if let Some(member) = &mut self.processes[process].member {
                    member.handle_timeout(now_ms);
                }
                self.drain(process);
            }
            Chore::Produce => self.produce(process),
            Chore::Tick => self.tick(process),
        }
    }

    /// The application works: it processes records, and commits now and then.
    pub(super) fn tick(&mut self, process: usize) {
        if self.ledger.is_some() {
            self.step(process);
            return;
        }
        let now_ms = self.now_ms;
        let pause_ms = self.random.between(250, 500);
        let end = self.input_end();
        let one = &mut self.processes[process];
        one.tick_at_ms = now_ms + pause_ms;
        let Some(member) = &mut one.member else { return };
        let reads = member.fetchable();
        let mut commits = Vec::new();
        for partition in &reads {
            let Some(position) = one.positions.get_mut(partition) else { continue };
            let to = (*position + self.random.below(60) as i64).min(end).max(*position);
            if to > *position {
                self.checker.processed(process, partition, *position, to, now_ms);
                *position = to;
                commits.push((partition.clone(), CommittedOffset::new(to)));
            }
        }
        if !commits.is_empty()
            && self.random.chance(400)
            && !matches!(member.state(), MemberState::Fatal | MemberState::Closed)
        {
            let result = member.commit(commits, now_ms).map(|_| ());
            self.expect(process, result);
            self.drain(process);
        }
    }

    pub(super) fn end_callback(&mut self, process: usize) {
        let now_ms = self.now_ms;
        let one = &mut self.processes[process];
        let Some(callback) = one.callback.take() else { return };
        let assigned = callback.kind == CallbackKind::Assigned;
        for partition in &callback.partitions {
            if !assigned {
                one.positions.remove(partition);
            } else if self.ledger.is_none() {
                let committed = self.checker.committed.get(partition).copied().unwrap_or(0);
                one.positions.insert(partition.clone(), committed);
            }
        }
        if self.ledger.is_some() && assigned {
            self.producing_assigned(process, &callback.partitions);
        } else if callback.commits_first {
            self.producing_gives_up(process, &callback.partitions, false);
        }
        self.checker.callback_ended(process);
        let result = if callback.fails { Err("the callback failed".to_owned()) } else { Ok(()) };
        if let Some(member) = &mut self.processes[process].member {
            let result = member.callback_finished(result, now_ms);
            self.expect(process, result);
        }
        self.drain(process);
    }

    /// Looks the topics up: the answer is on its way, and may be old.
    pub(super) fn look_up(&mut self, process: usize) {
        let now_ms = self.now_ms;
        let delay_ms = self.random.between(1, 100);
        let one = &mut self.processes[process];
        let metadata = match &one.stale {
            Some((until_ms, metadata)) if now_ms < *until_ms => metadata.clone(),
            _ => Metadata::new(self.topics.clone()),
        };
        let last_ms = one.metadata.back().map_or(0, |(at_ms, _)| *at_ms);
        one.metadata.push_back(((now_ms + delay_ms).max(last_ms), metadata));
    }

    /// Does what a member asks for.
    pub(super) fn drain(&mut self, process: usize) {
        let now_ms = self.now_ms;
        loop {
            let one = &mut self.processes[process];
            let Some(action) = one.member.as_mut().and_then(|member| member.poll_action()) else { break };
            match action {
                Action::Send { id, node, request } => {
                    let from = Sender { process, life: one.life, of: Origin::Member(id) };
                    if self.options.mutation == Some(Mutation::BelievesLateAnswers)
                        && let (Request::SyncGroup(_), Some(late)) = (&request, &one.late)
                        && self.random.chance(300)
                    {
                        let message = Message::ToProcess { to: from, response: late.clone() };
                        self.network.send(message, &self.faults, &mut self.random, now_ms);
                    }
                    let message = Message::ToBroker { from, node, request };
                    self.network.send(message, &self.faults, &mut self.random, now_ms);
                }
                Action::Callback(callback) => {
                    self.checker.callback_started(process, &callback, now_ms);
                    let slow = self.random.chance(self.faults.callback_slow_per_mille);
                    let most_ms = if slow { self.faults.callback_slow_max_ms } else { 40 };
                    let ends_ms = now_ms + self.random.between(1, most_ms.max(1));
                    let fails = self.random.chance(self.faults.callback_failure_per_mille);
                    if let Some(timeline) = &mut self.timeline {
                        timeline.callback(now_ms, process, &callback);
                    }
                    let revoked = callback.kind == CallbackKind::Revoked;
                    let offsets: Vec<_> = callback
                        .partitions
                        .iter()
                        .filter_map(|partition| {
                            let position = one.positions.get(partition)?;
                            Some((partition.clone(), CommittedOffset::new(*position)))
                        })
                        .collect();
                    let Callback { kind, partitions, .. } = callback;
                    let transactional = self.ledger.is_some();
                    let commits_first = transactional && revoked && self.random.chance(500);
                    let gives_up = transactional && kind != CallbackKind::Assigned && !commits_first;
                    let given_up = if gives_up { partitions.clone() } else { PartitionSet::new() };
                    one.callback = Some(InCallback { kind, partitions, ends_ms, fails, commits_first });
                    if transactional {
                        if gives_up {
                            self.producing_gives_up(process, &given_up, !revoked);
                        }
                    } else if revoked
                        && !offsets.is_empty()
                        && let Some(member) = &mut one.member
                    {
                        // The last chance to commit them.
                        let result = member.commit(offsets, now_ms).map(|_| ());
                        self.expect(process, result);
                    }
                }
                Action::RefreshMetadata(_) => self.look_up(process),
                Action::Assign(asked) => {
                    let leading = Leading {
                        mode: self.options.mode,
                        mutation: self.options.mutation,
                        reads_claims: one.options.claims(),
                    };
                    let leader_id = one.member.as_ref().map(|member| member.member_id()).unwrap_or_default();
                    let outcome = compute(&asked, leader_id, leading, &mut self.scratch);
                    if let Err(error) = &outcome {
                        let detail = format!("process {process}, as leader: {error}");
                        self.checker.break_rule(Rule::Contract, now_ms, detail);
                    }
                    let ends_ms = now_ms + self.random.between(1, 30);
                    self.processes[process].computation =
                        Some(Computation { id: asked.id, ends_ms, outcome });
                }
                Action::CommitDone { .. } => {}
                Action::Report(report) => self.reported(process, &report),
            }
        }
        if self.ledger.is_some() {
            self.produce(process);
        }
        self.look(process);
    }

    pub(super) fn reported(&mut self, process: usize, report: &Report) {
        let now_ms = self.now_ms;
        if let Some(timeline) = &mut self.timeline {
            timeline.reported(now_ms, process, report);
        }
        match report {
            Report::Closed { .. } => {
                let for_ms = self.processes[process].restart_in_ms;
                self.crash(process, for_ms);
            }
            Report::Fatal(error) => {
                if error.code() == Some(ErrorCode::InconsistentGroupProtocol) && !self.may_be_inconsistent() {
                    self.checker.break_rule(Rule::Contract, now_ms, format!("process {process}: {error}"));
                }
                // Supervised: it is started again.
                self.crash(process, 2_000);
            }
            Report::Malformed(error) => {
                self.checker.break_rule(Rule::Contract, now_ms, format!("process {process}: {error}"));
            }
            _ => {}
        }
    }

    /// Whether processes may run that have no assignor in common.
    pub(super) fn may_be_inconsistent(&self) -> bool {
        matches!(
            self.options.regime,
            Regime::Upgrade
                | Regime::Downgrade
                | Regime::UpgradeToOwn
                | Regime::DowngradeFromOwn
                | Regime::Misconfigured
        )
    }

    /// Looks at a process from outside.
    pub(super) fn look(&mut self, process: usize) {
        let now_ms = self.now_ms;
        let Some(one) = self.processes.get(process) else { return };
        let Some(view) = self.checker.views.get_mut(process) else { return };
        match &one.member {
            None => {
                view.reads.clear();
                view.generation = None;
            }
            Some(member) => {
                view.reads = member.fetchable();
                view.generation = member.generation();
                if view.member_id != member.member_id() {
                    view.member_id = member.member_id().to_owned();
                }
                let rests = member.state() == MemberState::Stable && one.callback.is_none();
                if rests {
                    self.checker.rests(process, member.owned(), now_ms);
                }
            }
        }
        if let (Some(timeline), Some(view)) = (&mut self.timeline, self.checker.views.get(process)) {
            timeline.reads(now_ms, process, &view.reads);
        }
        self.checker.looked(process, now_ms);
    }

    /// A host that keeps the rules is never refused.
    pub(super) fn expect(&mut self, process: usize, result: Result<(), ProtocolError>) {
        if let Err(error) = result {
            self.checker.break_rule(Rule::Contract, self.now_ms, format!("process {process}: {error}"));
        }
    }
}
