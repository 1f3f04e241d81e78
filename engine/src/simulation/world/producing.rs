//! The processes' transactional side: loops are obeyed, records read and their results written.

use super::{GROUP, World};
use crate::fence::GroupMetadata;
use crate::fence::cycle::{CycleAction, CyclePhase};
use crate::fence::stable::StableFetchAction;
use crate::protocol::error::ErrorCode;
use crate::protocol::message::{
    CommittedOffset, CoordinatorKind, FindCoordinatorRequest, Request, Response, TopicPartition,
};
use crate::protocol::partition_set::PartitionSet;
use crate::simulation::checker::Rule;
use crate::simulation::mutation::Mutation;
use crate::simulation::network::{Message, Origin, Sender};
use crate::simulation::transactions::{Batch, Producing, TransactionStep, Work};

impl World<'_> {
    /// Sets the transactional side up once the member has an id.
    pub(super) fn begin_producing(&mut self, process: usize) {
        let Some(options) = &self.options.transactions else { return };
        let now_ms = self.now_ms;
        let one = &mut self.processes[process];
        if let (Some(member), None) = (&one.member, &one.producing) {
            let instance_id = member.config().group_instance_id.as_deref();
            let name = options.naming.name(process, member.member_id(), instance_id);
            let mut producing = Producing::new(name, options.timeout_ms);
            let result = producing.cycle.start(now_ms);
            one.producing = Some(producing);
            self.expect(process, result);
        }
    }

    /// Does what the loop and the fetch ask for.
    pub(super) fn produce(&mut self, process: usize) {
        let now_ms = self.now_ms;
        loop {
            let one = &mut self.processes[process];
            if one.paused_until_ms.is_some() {
                return;
            }
            let (Some(producing), Some(member)) = (&mut one.producing, &one.member) else { return };
            let metadata: GroupMetadata = member.group_metadata().into();
            producing.cycle.handle_timeout(now_ms);
            producing.fetch.handle_timeout(now_ms);
            if let Some(action) = producing.cycle.poll_action(&metadata, now_ms) {
                self.obey_loop(process, action);
                continue;
            }
            let Some(action) = producing.fetch.poll_action(now_ms) else { return };
            match action {
                StableFetchAction::Send { id, mut request } => {
                    if self.options.mutation == Some(Mutation::ReadsUnstableOffsets) {
                        request.require_stable = false;
                    }
                    let node = producing.node(CoordinatorKind::Group);
                    self.send_of(process, Origin::Fetch(id), Some(node), request.into());
                }
                StableFetchAction::FindCoordinator => {
                    let kind = CoordinatorKind::Group;
                    let request = FindCoordinatorRequest { key: GROUP.into(), kind };
                    self.send_of(process, Origin::Find, None, request.into());
                }
                StableFetchAction::Settled { partition, committed, .. } => {
                    one.positions.insert(partition, committed.map_or(0, |committed| committed.offset));
                }
                StableFetchAction::Failed { partition, error } => {
                    let detail = format!("process {process} can't fetch {partition}: {error}");
                    self.checker.break_rule(Rule::Contract, now_ms, detail);
                }
            }
        }
    }

    fn obey_loop(&mut self, process: usize, action: CycleAction) {
        let now_ms = self.now_ms;
        let one = &mut self.processes[process];
        let Some(producing) = &mut one.producing else { return };
        match action {
            CycleAction::Send { id, to, request } => {
                let node = match &request {
                    Request::FindCoordinator(_) => None,
                    _ => Some(producing.node(to)),
                };
                let step = TransactionStep::of_request(request.name());
                self.send_of(process, Origin::Loop(id, to), node, request);
                self.stand_still_at(process, step);
            }
            CycleAction::Ready | CycleAction::Writable(_) => {
                let soon_ms = now_ms + self.random.between(1, 20);
                one.tick_at_ms = one.tick_at_ms.min(soon_ms);
            }
            CycleAction::Committed => {
                let batches = producing.work.take().map(|work| work.batches).unwrap_or_default();
                if let Some(timeline) = &mut self.timeline {
                    timeline.transaction(now_ms, process, format!("committed {}", short(&batches)));
                }
                for Batch { partition, from, to } in batches {
                    if let Some(position) = one.positions.get_mut(&partition)
                        && *position == from
                    {
                        *position = to;
                    }
                }
            }
            CycleAction::Aborted { reason } => {
                let batches = producing.work.take().map(|work| work.batches).unwrap_or_default();
                if let Some(timeline) = &mut self.timeline {
                    let text = format!("aborted {}: {reason}", short(&batches));
                    timeline.transaction(now_ms, process, text);
                }
                // It is all to be done again, from where the group stands then.
                for Batch { partition, .. } in batches {
                    one.positions.remove(&partition);
                }
            }
            CycleAction::Dead { reason } => {
                if let Some(timeline) = &mut self.timeline {
                    timeline.transaction(now_ms, process, format!("its producer stops: {reason}"));
                }
                // Supervised: it is started again.
                self.crash(process, 500);
            }
        }
    }

    /// Sends a request of a process's transactional side, or keeps it where the process is to stand still before it.
    fn send_of(&mut self, process: usize, of: Origin, node: Option<i32>, request: Request) {
        let from = Sender { process, life: self.processes[process].life, of };
        self.post(
            process,
            TransactionStep::of_request(request.name()),
            Message::ToBroker { from, node, request },
        );
    }

    fn post(&mut self, process: usize, step: Option<TransactionStep>, message: Message) {
        let one = &mut self.processes[process];
        if one.stops_at.is_some_and(|(at, _)| Some(at) == step) {
            one.outbox.push_back(message);
        } else {
            self.network.send(message, &self.faults, &mut self.random, self.now_ms);
        }
    }

    /// Stands still if it was told to at this step.
    fn stand_still_at(&mut self, process: usize, step: Option<TransactionStep>) {
        let now_ms = self.now_ms;
        let one = &mut self.processes[process];
        if let Some((_, for_ms)) = one.stops_at.take_if(|(at, _)| Some(*at) == step) {
            one.paused_until_ms = Some(now_ms + for_ms);
            if let (Some(timeline), Some(step)) = (&mut self.timeline, step) {
                let text = format!("stands still for {for_ms} ms before {step:?}");
                timeline.transaction(now_ms, process, text);
            }
        }
    }

    /// The application goes one step on: begins a transaction, writes, or commits.
    pub(super) fn step(&mut self, process: usize) {
        let Some(options) = &self.options.transactions else { return };
        let now_ms = self.now_ms;
        let pause_ms = self.random.between(1, options.pace_ms.max(1));
        let work_ms = self.random.between(1, 40);
        let end = self.input_end();
        let out = output();
        let one = &mut self.processes[process];
        one.tick_at_ms = now_ms + work_ms;
        let (Some(producing), Some(member)) = (&mut one.producing, &one.member) else {
            one.tick_at_ms = now_ms + 200;
            return;
        };
        match producing.cycle.phase() {
            CyclePhase::Ready => {
                let reads = member.fetchable();
                let waiting: PartitionSet = producing.fetch.waiting().map(|(one, _)| one.clone()).collect();
                let known = |partition: &&TopicPartition| {
                    one.positions.contains_key(partition) || waiting.contains(partition)
                };
                let unknown: Vec<TopicPartition> =
                    reads.iter().filter(|partition| !known(partition)).cloned().collect();
                if !unknown.is_empty() {
                    producing.fetch.assign(unknown, now_ms);
                }
                let batches = choose(&reads, &one.positions, end, &mut self.random);
                if batches.is_empty() {
                    one.tick_at_ms = now_ms + pause_ms;
                    self.produce(process);
                    return;
                }
                let mut result = producing.cycle.begin(now_ms);
                for batch in &batches {
                    result = result.and_then(|()| producing.cycle.read(batch.partition.clone()));
                }
                let result = result.and_then(|()| producing.cycle.write(out));
                producing.work = Some(Work { batches, writing: None, written: false });
                self.expect(process, result);
            }
            CyclePhase::Open if producing.cycle.may_write(&out) => {
                let Some(work) = &mut producing.work else { return };
                if work.written {
                    // Rarely the application changes its mind.
                    let result = if self.random.chance(10) {
                        producing.cycle.abort()
                    } else {
                        let offset = |one: &Batch| (one.partition.clone(), CommittedOffset::new(one.to));
                        producing.cycle.commit(work.batches.iter().map(offset).collect())
                    };
                    one.tick_at_ms = now_ms + pause_ms;
                    self.expect(process, result);
                } else if work.writing.is_none_or(|(_, until_ms)| until_ms <= now_ms) {
                    let id = producing.next_write;
                    producing.next_write += 1;
                    work.writing = Some((id, now_ms + WRITE_TIMEOUT_MS));
                    let message = Message::Write {
                        from: Sender { process, life: one.life, of: Origin::Write(id) },
                        producer: producing.cycle.producer(),
                        sequence: 0,
                        batches: work.batches.clone(),
                    };
                    self.post(process, Some(TransactionStep::Write), message);
                    self.stand_still_at(process, Some(TransactionStep::Write));
                }
            }
            _ => one.tick_at_ms = now_ms + pause_ms,
        }
        self.produce(process);
    }

    /// The output's log has answered a write.
    pub(super) fn written(&mut self, process: usize, id: u64, error: ErrorCode) {
        let now_ms = self.now_ms;
        let one = &mut self.processes[process];
        let Some(producing) = &mut one.producing else { return };
        let Some(work) = &mut producing.work else { return };
        if work.writing.is_none_or(|(writing, _)| writing != id) || work.written {
            return;
        }
        if error.is_none() {
            work.written = true;
            one.tick_at_ms = one.tick_at_ms.min(now_ms + self.random.between(1, 40));
        } else if producing.cycle.phase() == CyclePhase::Open {
            let result = producing.cycle.abort();
            self.expect(process, result);
        }
        self.produce(process);
    }

    /// An answer to the loop, the fetch or a look-up has arrived.
    pub(super) fn answered(&mut self, to: Sender, response: Response) {
        let now_ms = self.now_ms;
        let Some(producing) = &mut self.processes[to.process].producing else { return };
        match (to.of, response) {
            (Origin::Loop(id, kind), response) => {
                if let Response::FindCoordinator(found) = &response
                    && found.error.is_none()
                {
                    producing.found(kind, found.node_id);
                }
                if let (Response::TxnOffsetCommit(answer), Some(timeline)) = (&response, &mut self.timeline) {
                    let error = answer.first_error();
                    if error.is_error() {
                        timeline.transaction(
                            now_ms,
                            to.process,
                            format!("may not commit its offsets: {error}"),
                        );
                    }
                }
                let result = producing.cycle.handle_response(id, response, now_ms);
                self.expect(to.process, result);
            }
            (Origin::Fetch(id), Response::OffsetFetch(answer)) => {
                producing.fetch.handle_response(id, answer, now_ms);
            }
            (Origin::Find, Response::FindCoordinator(found)) => {
                producing.found(CoordinatorKind::Group, found.node_id);
            }
            _ => {}
        }
        self.produce(to.process);
    }

    /// A callback tells that partitions come or go.
    pub(super) fn producing_assigned(&mut self, process: usize, partitions: &PartitionSet) {
        self.begin_producing(process);
        let now_ms = self.now_ms;
        if let Some(producing) = &mut self.processes[process].producing {
            producing.fetch.assign(partitions.iter().cloned(), now_ms);
        }
    }

    /// Partitions are given up in order, or were lost.
    pub(super) fn producing_gives_up(&mut self, process: usize, partitions: &PartitionSet, lost: bool) {
        if let Some(producing) = &mut self.processes[process].producing {
            producing.fetch.unassign(partitions);
            if lost {
                producing.cycle.handle_lost();
            } else {
                producing.cycle.handle_revoked(partitions);
            }
        }
    }
}

/// Where the results go.
pub(super) fn output() -> TopicPartition {
    TopicPartition::new("out", 0)
}

/// What one transaction does: of each of some partitions the next records.
fn choose(
    reads: &PartitionSet,
    positions: &std::collections::BTreeMap<TopicPartition, i64>,
    end: i64,
    random: &mut crate::simulation::random::Random,
) -> Vec<Batch> {
    let mut batches = Vec::new();
    for partition in reads {
        let Some(&from) = positions.get(partition) else { continue };
        if from < end && random.chance(600) {
            let available = end.saturating_sub(from).unsigned_abs();
            let to = from + 1 + random.below(available) as i64;
            batches.push(Batch { partition: partition.clone(), from, to });
        }
    }
    batches
}

/// `t0-0 5..9, t1-2 0..3`.
fn short(batches: &[Batch]) -> String {
    let each = batches.iter().map(|one| format!("{} {}..{}", one.partition, one.from, one.to));
    each.collect::<Vec<_>>().join(", ")
}

/// So long the answer to a write is waited for before it is written again.
const WRITE_TIMEOUT_MS: u64 = 500;
