//! The whole: two brokers, a network, processes, topics, and one clock that jumps from event to event.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::assign::{Leading, compute};
use super::checker::{Checker, Rule, View, Violation};
use super::fault::{DisturbanceKind, Faults};
use super::network::{Message, Network, Sender};
use super::process::{Chore, Computation, InCallback, Process};
use super::random::Random;
use super::timeline::Timeline;
use super::workload::{Options, Regime};
use crate::protocol::coordinator::{Action as BrokerAction, Caller, Config, Coordinator, GroupPhase, Record};
use crate::protocol::error::{ErrorCode, ProtocolError};
use crate::protocol::member::{Action, CallbackKind, MemberState, Metadata, Report};
use crate::protocol::message::{
    CommittedOffset, FindCoordinatorResponse, OffsetCommitRequest, Request, Response, TopicPartition,
};

const GROUP: &str = "group";

/// How a run went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// The generations that were completed.
    pub rebalances: u64,
    /// The events that were handled.
    pub events: u64,
    /// How long the run lasted on its own clock.
    pub simulated_ms: u64,
    /// The rule that was broken first, if one was.
    pub violation: Option<Violation>,
    /// A number made of all that happened: equal runs have equal ones.
    pub fingerprint: u64,
}

pub(super) struct World<'a> {
    options: &'a Options,
    random: Random,
    pub(super) now_ms: u64,
    faults: Faults,
    network: Network,
    brokers: [Coordinator; 2],
    /// The broker that leads the log.
    leading: usize,
    epoch: i32,
    loaded_at_ms: Option<u64>,
    group_record: Option<Record>,
    offset_records: BTreeMap<TopicPartition, Record>,
    callers: BTreeMap<u64, (Sender, Option<OffsetCommitRequest>)>,
    next_caller: u64,
    pub(super) processes: Vec<Process>,
    topics: BTreeMap<String, i32>,
    disturbances: VecDeque<super::fault::Disturbance>,
    pub(super) checker: Checker,
    rebalances: u64,
    /// Generations that went on before every member had its assignment.
    overtaken: BTreeSet<i32>,
    events: u64,
    fingerprint: u64,
    pub(super) timeline: Option<Timeline>,
}

impl<'a> World<'a> {
    pub(super) fn new(options: &'a Options, timeline: Option<Timeline>) -> Self {
        let config = Config {
            session_timeout_min_ms: 1,
            initial_rebalance_delay_ms: 300,
            new_member_join_timeout_ms: 10_000,
            member_id_seed: options.seed,
            ..Config::default()
        };
        let mut brokers =
            [0_u64, 1].map(|number| Coordinator::new(Config { member_id_seed: number, ..config.clone() }));
        brokers[0].handle_elected(0, 0);
        brokers[0].handle_loaded(0);
        let mut world = Self {
            options,
            random: Random::new(options.seed ^ 0x5eed),
            now_ms: 0,
            faults: options.faults.clone(),
            network: Network::default(),
            brokers,
            leading: 0,
            epoch: 0,
            loaded_at_ms: None,
            group_record: None,
            offset_records: BTreeMap::new(),
            callers: BTreeMap::new(),
            next_caller: 0,
            processes: options.processes.iter().cloned().map(Process::new).collect(),
            topics: (0..)
                .zip(&options.topics)
                .filter_map(|(topic, count)| Some((Options::topic_name(topic), (*count)?)))
                .collect(),
            disturbances: options.disturbances.iter().cloned().collect(),
            checker: Checker::default(),
            rebalances: 0,
            overtaken: BTreeSet::new(),
            events: 0,
            fingerprint: 0xcbf2_9ce4_8422_2325,
            timeline,
        };
        world.checker.views.resize_with(options.processes.len(), View::default);
        for process in 0..world.processes.len() {
            world.processes[process].starts_at_ms = Some(world.random.below(1_500));
        }
        world
    }

    /// The whole run: trouble, then quiet, then one newcomer.
    pub(super) fn run(mut self) -> (Outcome, Option<Timeline>) {
        self.run_until(self.options.duration_ms);
        if self.checker.violation.is_none() {
            self.calm_down();
            self.run_until(self.now_ms + DRAIN_MS);
            self.check_settled("after the faults stopped");
        }
        if self.checker.violation.is_none() {
            self.check_newcomer();
        }
        if let Some(timeline) = &mut self.timeline {
            timeline.finish(self.now_ms);
        }
        let outcome = Outcome {
            rebalances: self.rebalances,
            events: self.events,
            simulated_ms: self.now_ms,
            violation: self.checker.violation.take(),
            fingerprint: self.fingerprint,
        };
        (outcome, self.timeline)
    }

    /// Handles events in their order until a time, or until a rule is broken.
    pub(super) fn run_until(&mut self, end_ms: u64) {
        while self.checker.violation.is_none() {
            let Some((at_ms, event)) = self.next_event().filter(|(at_ms, _)| *at_ms <= end_ms) else { break };
            self.now_ms = self.now_ms.max(at_ms);
            self.events += 1;
            match event {
                Event::Disturb => self.disturb(),
                Event::Loaded => {
                    self.loaded_at_ms = None;
                    self.brokers[self.leading].handle_loaded(self.now_ms);
                    self.drain_broker(self.leading);
                }
                Event::Arrive => self.arrive(),
                Event::BrokerTimeout(broker) => {
                    self.brokers[broker].handle_timeout(self.now_ms);
                    self.drain_broker(broker);
                }
                Event::Chore(process, chore) => self.chore(process, chore),
            }
        }
        self.now_ms = self.now_ms.max(end_ms);
    }

    fn next_event(&self) -> Option<(u64, Event)> {
        let planned = self.disturbances.front().map(|one| (one.at_ms, Event::Disturb));
        let loaded = self.loaded_at_ms.map(|at_ms| (at_ms, Event::Loaded));
        let arrival = self.network.next_arrival_ms().map(|at_ms| (at_ms, Event::Arrive));
        let brokers = self
            .brokers
            .iter()
            .enumerate()
            .filter_map(|(number, one)| Some((one.poll_timeout()?, Event::BrokerTimeout(number))));
        let chores = self.processes.iter().enumerate().filter_map(|(number, one)| {
            let (at_ms, chore) = one.next()?;
            Some((at_ms, Event::Chore(number, chore)))
        });
        [planned, loaded, arrival].into_iter().flatten().chain(brokers).chain(chores).min()
    }

    fn mix(&mut self, value: u64) {
        self.fingerprint = (self.fingerprint ^ value).wrapping_mul(0x0100_0000_01b3).rotate_left(17);
    }

    fn disturb(&mut self) {
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

    fn crash(&mut self, process: usize, for_ms: u64) {
        let now_ms = self.now_ms;
        let one = &mut self.processes[process];
        one.member = None;
        one.end_life();
        one.starts_at_ms = Some(now_ms + for_ms);
        self.checker.forget(process);
        self.look(process);
    }

    fn restart(&mut self, process: usize, for_ms: u64) {
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

    fn subscribe(&mut self, process: usize) {
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

    fn fail_over(&mut self, load_ms: u64) {
        let old = self.leading;
        self.brokers[old].handle_resigned(self.now_ms);
        self.drain_broker(old);
        self.leading = 1 - old;
        self.epoch += 1;
        let records: Vec<Record> =
            self.group_record.iter().chain(self.offset_records.values()).cloned().collect();
        let new = &mut self.brokers[self.leading];
        new.handle_elected(self.epoch, self.now_ms);
        new.handle_records(records, self.now_ms);
        self.loaded_at_ms = Some(self.now_ms + load_ms);
        self.drain_broker(self.leading);
    }

    fn arrive(&mut self) {
        match self.network.arrive() {
            None => {}
            Some(Message::ToBroker { from, node, request }) => self.asked(from, node, request),
            Some(message @ (Message::ToProcess { to, .. } | Message::Broken { to })) => {
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
        }
    }

    fn take(&mut self, message: Message) {
        let now_ms = self.now_ms;
        let (to, response) = match message {
            Message::ToProcess { to, response } => (to, Some(response)),
            Message::Broken { to } => (to, None),
            Message::ToBroker { .. } => return,
        };
        let one = &mut self.processes[to.process];
        let Some(member) = &mut one.member else { return };
        match response {
            Some(response) => {
                let result = member.handle_response(to.request, response, now_ms);
                self.expect(to.process, result);
            }
            None => member.handle_disconnect(to.request, now_ms),
        }
        self.mix(to.request.0 ^ now_ms);
        self.drain(to.process);
    }

    /// A request reaches its broker.
    fn asked(&mut self, from: Sender, node: Option<i32>, request: Request) {
        if let Request::FindCoordinator(_) = request {
            let found = FindCoordinatorResponse { error: ErrorCode::None, node_id: self.leading as i32 };
            self.reply(from, found.into());
            return;
        }
        let broker = usize::from(node == Some(1));
        let caller = self.next_caller;
        self.next_caller += 1;
        let commit = match &request {
            Request::OffsetCommit(commit) => Some(commit.clone()),
            _ => None,
        };
        self.callers.insert(caller, (from, commit));
        self.brokers[broker].handle_request(request, Caller(caller), self.now_ms);
        self.drain_broker(broker);
    }

    fn reply(&mut self, to: Sender, response: Response) {
        let message = Message::ToProcess { to, response };
        self.network.send(message, &self.faults, &mut self.random, self.now_ms);
    }

    fn drain_broker(&mut self, broker: usize) {
        while let Some(action) = self.brokers[broker].poll_action() {
            match action {
                BrokerAction::Answer { to, response } => {
                    let Some((sender, commit)) = self.callers.remove(&to.0) else { continue };
                    if let (Some(commit), Response::OffsetCommit(answer)) = (&commit, &response) {
                        for (partition, error) in &answer.partitions {
                            let offset = commit.offsets.iter().find(|(one, _)| one == partition);
                            if let (ErrorCode::None, Some((_, offset))) = (error, offset) {
                                self.checker.accepted(commit, partition, offset.offset, self.now_ms);
                            }
                        }
                    }
                    if let Response::SyncGroup(answer) = &response
                        && answer.error == ErrorCode::RebalanceInProgress
                    {
                        self.overtaken.insert(self.checker.truth.generation);
                    }
                    self.reply(sender, response);
                }
                BrokerAction::Append { id, records } => {
                    for record in records {
                        self.append(record);
                    }
                    self.brokers[broker].handle_append(id, ErrorCode::None, self.now_ms);
                }
            }
        }
    }

    fn append(&mut self, record: Record) {
        match &record {
            Record::Group { value, .. } => {
                let value = value.clone().unwrap_or_default();
                if value.generation != self.checker.truth.generation && !value.members.is_empty() {
                    self.rebalances += 1;
                    if let Some(timeline) = &mut self.timeline {
                        timeline.generation(self.now_ms, &value);
                    }
                }
                self.mix(value.generation as u64);
                self.checker.recorded(&value, self.now_ms);
                self.group_record = Some(record);
            }
            Record::Offset { partition, .. } => {
                self.offset_records.insert(partition.clone(), record);
            }
            Record::Marker { .. } => {}
        }
    }

    fn chore(&mut self, process: usize, chore: Chore) {
        let now_ms = self.now_ms;
        match chore {
            Chore::Resume => {
                self.processes[process].paused_until_ms = None;
                // It goes on as if nothing had been: first with its work, then with what has arrived.
                self.tick(process);
                let inbox = core::mem::take(&mut self.processes[process].inbox);
                for message in inbox {
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
            Chore::Tick => self.tick(process),
        }
    }

    /// The application works: it processes records, and commits now and then.
    fn tick(&mut self, process: usize) {
        let now_ms = self.now_ms;
        let pause_ms = self.random.between(250, 500);
        let one = &mut self.processes[process];
        one.tick_at_ms = now_ms + pause_ms;
        let Some(member) = &mut one.member else { return };
        let reads = member.fetchable();
        let mut commits = Vec::new();
        let end = (now_ms / 10) as i64;
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

    fn end_callback(&mut self, process: usize) {
        let now_ms = self.now_ms;
        let one = &mut self.processes[process];
        let Some(callback) = one.callback.take() else { return };
        for partition in callback.partitions {
            if callback.kind == CallbackKind::Assigned {
                let committed = self.checker.committed.get(&partition).copied().unwrap_or(0);
                one.positions.insert(partition, committed);
            } else {
                one.positions.remove(&partition);
            }
        }
        self.checker.callback_ended(process);
        let result = if callback.fails { Err("the callback failed".to_owned()) } else { Ok(()) };
        if let Some(member) = &mut one.member {
            let result = member.callback_finished(result, now_ms);
            self.expect(process, result);
        }
        self.drain(process);
    }

    /// Looks the topics up: the answer is on its way, and may be old.
    fn look_up(&mut self, process: usize) {
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
    fn drain(&mut self, process: usize) {
        let now_ms = self.now_ms;
        loop {
            let one = &mut self.processes[process];
            let Some(action) = one.member.as_mut().and_then(|member| member.poll_action()) else { break };
            match action {
                Action::Send { id, node, request } => {
                    let from = Sender { process, life: one.life, request: id };
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
                    one.callback = Some(InCallback { kind, partitions, ends_ms, fails });
                    if revoked
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
                        withholds_nothing: self.options.canary,
                        reads_claims: one.options.subscription_version > 0,
                    };
                    let outcome = compute(&asked, leading);
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
        self.look(process);
    }

    fn reported(&mut self, process: usize, report: &Report) {
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
    fn may_be_inconsistent(&self) -> bool {
        matches!(
            self.options.regime,
            Regime::Upgrade | Regime::Downgrade | Regime::UpgradeToOwn | Regime::DowngradeFromOwn
        )
    }

    /// Looks at a process from outside.
    fn look(&mut self, process: usize) {
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
    fn expect(&mut self, process: usize, result: Result<(), ProtocolError>) {
        if let Err(error) = result {
            self.checker.break_rule(Rule::Contract, self.now_ms, format!("process {process}: {error}"));
        }
    }

    /// From here on nothing goes wrong any more.
    fn calm_down(&mut self) {
        self.faults = Faults::NONE;
        self.disturbances.clear();
        let now_ms = self.now_ms;
        for one in &mut self.processes {
            one.stale = None;
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
    fn check_settled(&mut self, when: &str) {
        let now_ms = self.now_ms;
        let group = self.brokers[self.leading].group(GROUP);
        let phase = group.as_ref().map(|group| group.phase);
        if phase != Some(GroupPhase::Stable) {
            let detail = format!("{when}: the group is {phase:?}");
            self.checker.break_rule(Rule::Settles, now_ms, detail);
        }
        for (number, one) in self.processes.iter().enumerate() {
            let state = one.member.as_ref().map(|member| member.state());
            if state != Some(MemberState::Stable) {
                let detail = format!("{when}: process {number} is {state:?}");
                self.checker.break_rule(Rule::Settles, now_ms, detail);
            }
        }
        for (topic, &count) in &self.topics {
            let wanted = self.processes.iter().any(|one| one.wanted_topics().contains(topic));
            for number in (0..count).filter(|_| wanted) {
                let partition = TopicPartition::new(topic.clone(), number);
                let readers =
                    self.checker.views.iter().filter(|view| view.reads.contains(&partition)).count();
                if readers != 1 {
                    let detail = format!("{when}: {partition} has {readers} readers");
                    self.checker.break_rule(Rule::Settles, now_ms, detail);
                }
            }
        }
    }

    /// A newcomer joins the quiet group: two rounds are enough, three if the vote falls back to eager.
    ///
    /// The protocol itself can cost one more: a fast member that revoked something joins again before a slow one has
    /// even asked for its assignment; that one is told REBALANCE_IN_PROGRESS and gives back a round later what it
    /// should have given back now (KAFKA-13891). Each generation overtaken like that counts as one more.
    fn check_newcomer(&mut self) {
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
            Regime::BothLists => 3,
            _ => 2,
        };
        let most = most + i32::try_from(self.overtaken.len()).unwrap_or(i32::MAX);
        if rounds > most || rounds < 1 {
            let detail = format!("one more process cost {rounds} rounds; at most {most} are due");
            self.checker.break_rule(Rule::Rounds, self.now_ms, detail);
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Disturb,
    Loaded,
    Arrive,
    BrokerTimeout(usize),
    Chore(usize, Chore),
}

use crate::protocol::member::Callback;

/// So long the last trouble may take to die away: requests given up, sessions over, rounds made up for.
const DRAIN_MS: u64 = 60_000;

/// So long a newcomer may take.
const NEWCOMER_MS: u64 = 15_000;
