//! A consume-transform-produce workload under random faults: each input record must come out exactly once.
//!
//! Requests and answers of the transactional loops are lost, repeated, delayed and reordered; workers pause past
//! their sessions and wake as zombies, or crash and restart; both coordinators move; markers linger. Rebalances are
//! eager and run to their end at once, with everything else still on its way around them.

use std::collections::{BTreeMap, BTreeSet};

use tenure::fence::cycle::{CycleAction, CycleConfig, CyclePhase, ProducerName, RequestId};
use tenure::fence::{GroupMetadata, Rules};
use tenure::protocol::coordinator::{Config, GroupPhase};
use tenure::protocol::error::ErrorCode;
use tenure::protocol::message::*;

use crate::broker::*;
use crate::world::*;

const PARTITIONS: i32 = 3;
const RECORDS: i64 = 12;

/// A small generator of its own, so that a seed means the same for ever (xorshift64*).
struct Dice(u64);

impl Dice {
    fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % limit
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }
}

/// A process: a consumer that is a member of the group, and its transactional loop.
struct Process {
    worker: Worker,
    name: ProducerName,
    incarnation: u32,
    member: Option<String>,
    /// The partitions it believes to own, and from where it reads on, once it knows.
    owned: BTreeMap<i32, Option<i64>>,
    /// The record in the open transaction, and whether its result is written.
    at_work: Option<(i32, i64, bool)>,
    wakes_ms: u64,
}

struct Run {
    world: World,
    config: Config,
    dice: Dice,
    processes: Vec<Process>,
    requests: Vec<(usize, u32, Held)>,
    answers: Vec<(usize, u32, RequestId, Response)>,
    epoch: i32,
    group_epoch: i32,
    transactions: u64,
    faults: bool,
}

impl Run {
    fn new(seed: u64, fence: Rules) -> Self {
        let config = Config { fence, ..prompt() };
        let mut dice = Dice::new(seed);
        let group_aware = dice.chance(50);
        let process = |index: usize| {
            let name = if group_aware {
                ProducerName::Group { group_id: GROUP.into(), transactional_id: Some(format!("m{index}")) }
            } else {
                ProducerName::TransactionalId(format!("t{index}"))
            };
            Process {
                worker: Worker::new(settings(&name)),
                name,
                incarnation: 0,
                member: None,
                owned: BTreeMap::new(),
                at_work: None,
                wakes_ms: 0,
            }
        };
        let processes: Vec<Process> = (0..3).map(process).collect();
        let mut run = Self {
            world: World::new(config.clone()),
            config,
            dice,
            processes,
            requests: Vec::new(),
            answers: Vec::new(),
            epoch: 0,
            group_epoch: 0,
            transactions: 0,
            faults: true,
        };
        run.world.holds_markers = true;
        for process in &mut run.processes {
            process.worker.cycle.start(0).unwrap();
        }
        run
    }

    fn now_ms(&self) -> u64 {
        self.world.now_ms()
    }

    fn awake(&self, index: usize) -> bool {
        self.processes[index].wakes_ms <= self.now_ms()
    }

    fn step(&mut self) {
        match self.dice.below(100) {
            0..=44 => {
                let index = self.dice.below(self.processes.len());
                if self.awake(index) {
                    self.work(index);
                }
            }
            45..=64 => self.deliver_request(),
            65..=79 => self.deliver_answer(),
            80..=85 => self.deliver_marker(),
            86..=93 => self.beat(),
            94..=96 => {
                let span_ms = [50, 700, 2_000, 4_000][self.dice.below(4)];
                self.world.pass(span_ms);
            }
            97 if self.faults => {
                let index = self.dice.below(self.processes.len());
                self.processes[index].wakes_ms =
                    self.now_ms() + [5_000, 12_000, 15_000, 40_000][self.dice.below(4)];
            }
            98 if self.faults => {
                let index = self.dice.below(self.processes.len());
                self.restart(index);
            }
            99 if self.faults && self.dice.chance(30) => self.move_coordinators(),
            _ => {}
        }
    }

    /// One thing that the process does: a request, a record, or a look at the offsets.
    fn work(&mut self, index: usize) {
        let now_ms = self.now_ms();
        let process = &mut self.processes[index];
        process.worker.cycle.handle_timeout(now_ms);
        match process.worker.cycle.poll_action(&process.worker.metadata, now_ms) {
            Some(CycleAction::Send { id, to, request }) => {
                self.requests.push((index, process.incarnation, Held { id, to, request }));
            }
            Some(CycleAction::Committed) => {
                self.transactions += 1;
                if let Some((partition, offset, _)) = process.at_work.take()
                    && let Some(position) = process.owned.get_mut(&partition)
                {
                    *position = Some(offset + 1);
                }
            }
            Some(CycleAction::Aborted { .. }) => {
                self.transactions += 1;
                process.at_work = None;
                process.owned.values_mut().for_each(|position| *position = None);
            }
            Some(CycleAction::Dead { .. }) => self.restart(index),
            Some(_) => {}
            None => self.process_record(index),
        }
    }

    fn process_record(&mut self, index: usize) {
        let now_ms = self.now_ms();
        let process = &mut self.processes[index];
        let out = TopicPartition::new("out", 0);
        match process.worker.cycle.phase() {
            CyclePhase::Ready => {
                let partition = self.dice.below(PARTITIONS as usize) as i32;
                match process.owned.get(&partition) {
                    Some(&Some(offset)) if offset < RECORDS => {
                        process.worker.cycle.begin(now_ms).unwrap();
                        process.worker.cycle.read(t(partition)).unwrap();
                        process.worker.cycle.write(out).unwrap();
                        process.at_work = Some((partition, offset, false));
                    }
                    Some(None) => self.fetch(index, partition),
                    _ => {}
                }
            }
            CyclePhase::Open if process.worker.cycle.may_write(&out) => {
                let Some((partition, offset, written)) = process.at_work else { return };
                let producer = process.worker.cycle.producer();
                if !written {
                    let value = i64::from(partition) * 1_000 + offset;
                    process.at_work = Some((partition, offset, true));
                    if self.world.output.write(producer, value).is_error() {
                        process.worker.cycle.abort().unwrap();
                    }
                    return;
                }
                let offsets = vec![(t(partition), CommittedOffset::new(offset + 1))];
                process.worker.cycle.commit(offsets).unwrap();
            }
            _ => {}
        }
    }

    fn fetch(&mut self, index: usize, partition: i32) {
        let request = OffsetFetchRequest { partitions: Some(vec![t(partition)]), ..fetch_stable() };
        let Response::OffsetFetch(response) = self.world.broker.ask(request) else { panic!() };
        let one = &response.partitions[0];
        if one.error.is_none() {
            let offset = one.committed.as_ref().map_or(0, |committed| committed.offset);
            self.processes[index].owned.insert(partition, Some(offset));
        }
    }

    fn deliver_request(&mut self) {
        if self.requests.is_empty() {
            return;
        }
        let place = self.dice.below(self.requests.len());
        let lost = self.faults && self.dice.chance(5);
        let repeated = self.faults && self.dice.chance(10);
        let (index, incarnation, held) = self.requests.swap_remove(place);
        if lost {
            return;
        }
        let response = self.world.ask(held.to, held.request.clone());
        if !(self.faults && self.dice.chance(5)) {
            self.answers.push((index, incarnation, held.id, response));
        }
        if repeated {
            self.requests.push((index, incarnation, held));
        }
    }

    fn deliver_answer(&mut self) {
        if self.answers.is_empty() {
            return;
        }
        let place = self.dice.below(self.answers.len());
        let (index, incarnation, id, response) = self.answers.swap_remove(place);
        let now_ms = self.now_ms();
        let process = &mut self.processes[index];
        if process.incarnation == incarnation {
            process.worker.cycle.handle_response(id, response, now_ms).unwrap();
        }
    }

    fn deliver_marker(&mut self) {
        let waiting = self.world.markers.len();
        if waiting == 0 {
            return;
        }
        let place = self.dice.below(waiting);
        let one = self.world.markers.swap_remove(place);
        let others = core::mem::take(&mut self.world.markers);
        let repeated = self.faults && self.dice.chance(20);
        self.world.markers.push(one.clone());
        self.world.deliver_markers();
        self.world.markers.extend(others);
        if repeated {
            self.world.markers.push(one);
        }
    }

    /// One process sends a heartbeat; told to, it joins again; unknown, it has lost everything.
    fn beat(&mut self) {
        let index = self.dice.below(self.processes.len());
        if !self.awake(index) {
            return;
        }
        let process = &mut self.processes[index];
        let generation = process.worker.metadata.generation;
        let code = match &process.member {
            Some(id) => self.world.broker.ask(heartbeat(id, generation)).error(),
            None => ErrorCode::UnknownMemberId,
        };
        match code {
            ErrorCode::None => return,
            ErrorCode::RebalanceInProgress => process.worker.cycle.handle_rebalance(),
            _ => {
                process.worker.cycle.handle_lost();
                process.owned.clear();
                process.member = None;
            }
        }
        self.rebalance(index);
    }

    /// An eager rebalance, to its end: of the process that asks for one and of the members that are awake. A zombie
    /// is none of them: it learns from its own heartbeat.
    fn rebalance(&mut self, asking: usize) {
        let members: Vec<String> = match self.world.broker.coordinator.group(GROUP) {
            Some(group) => group.members.into_iter().map(|one| one.member_id).collect(),
            None => Vec::new(),
        };
        let takes_part = |&index: &usize| {
            let member = self.processes[index].member.as_ref();
            self.awake(index) && (index == asking || member.is_some_and(|id| members.contains(id)))
        };
        let awake: Vec<usize> = (0..self.processes.len()).filter(takes_part).collect();
        let mut callers = Vec::new();
        for &index in &awake {
            let process = &mut self.processes[index];
            let owned: Vec<TopicPartition> = process.owned.keys().map(|&partition| t(partition)).collect();
            process.worker.cycle.handle_revoked(&owned);
            process.owned.clear();
            let id = process.member.clone().unwrap_or_else(|| self.world.broker.new_member_id());
            let request = JoinGroupRequest { rebalance_timeout_ms: 3_000, ..join(&id) };
            process.member = Some(id);
            callers.push(self.world.broker.send(request));
        }
        // Until all are answered: a wait any longer would be taken for members that never sync.
        for _ in 0..=30 {
            if callers.iter().all(|caller| self.world.broker.answers.contains_key(caller)) {
                break;
            }
            self.world.pass(100);
        }
        let mut joins = Vec::new();
        for (&index, caller) in awake.iter().zip(callers) {
            let Some(Response::JoinGroup(joined)) = self.world.broker.answer(caller) else { return };
            if joined.error.is_error() {
                self.processes[index].member = None;
                return;
            }
            joins.push(joined);
        }
        let Some(leader) = joins.iter().find(|one| one.is_leader()).cloned() else { return };
        let ids: Vec<&str> = leader.members.iter().map(|one| one.member_id.as_str()).collect();
        let share = |place: usize| -> Vec<u8> {
            (0..PARTITIONS as u8).filter(|&partition| usize::from(partition) % ids.len() == place).collect()
        };
        let assignments = ids
            .iter()
            .enumerate()
            .map(|(place, id)| SyncAssignment { member_id: (*id).into(), assignment: share(place) });
        let assignments: Vec<SyncAssignment> = assignments.collect();
        let generation = leader.generation_id;
        self.world.broker.ask(SyncGroupRequest { assignments, ..sync(&leader.member_id, generation) });
        for (&index, joined) in awake.iter().zip(&joins) {
            let Response::SyncGroup(synced) = self.world.broker.ask(sync(&joined.member_id, generation))
            else {
                panic!()
            };
            let process = &mut self.processes[index];
            process.worker.metadata = GroupMetadata {
                generation,
                member_id: joined.member_id.clone(),
                ..GroupMetadata::outsider(GROUP)
            };
            process.owned = synced.assignment.iter().map(|&partition| (i32::from(partition), None)).collect();
        }
    }

    /// The process dies, its member with it, though the group doesn't know yet; another takes its place.
    fn restart(&mut self, index: usize) {
        let now_ms = self.now_ms();
        let process = &mut self.processes[index];
        process.worker = Worker::new(settings(&process.name));
        process.worker.cycle.start(now_ms).unwrap();
        process.incarnation += 1;
        process.member = None;
        process.owned.clear();
        process.at_work = None;
    }

    fn move_coordinators(&mut self) {
        if self.dice.chance(50) {
            self.epoch += 1;
            let epoch = self.epoch;
            self.world.move_transactions(epoch);
        } else {
            self.group_epoch += 1;
            let next = self.world.broker.successor(self.config.clone(), self.group_epoch);
            self.world.broker = next;
        }
    }

    /// What is committed twice.
    fn doubled(&self) -> Option<i64> {
        let mut seen = BTreeSet::new();
        self.world.output.committed.iter().copied().find(|&value| !seen.insert(value))
    }

    /// The faults stop: everything must come out, once.
    fn finish(&mut self) -> Result<(), String> {
        self.faults = false;
        self.processes.iter_mut().for_each(|process| process.wakes_ms = 0);
        let expected = PARTITIONS as usize * RECORDS as usize;
        for _ in 0..60_000 {
            self.step();
            if let Some(value) = self.doubled() {
                return Err(format!("record {value} came out twice"));
            }
            if self.world.output.committed.len() == expected {
                return Ok(());
            }
        }
        let phases: Vec<_> =
            self.processes.iter().map(|one| (one.worker.cycle.phase(), &one.owned)).collect();
        Err(format!(
            "{} of {expected} came out: {phases:?} {:?} {:?}",
            self.world.output.committed.len(),
            self.world.broker.phase(),
            self.world.broker.coordinator.blockers(GROUP)
        ))
    }
}

fn settings(name: &ProducerName) -> CycleConfig {
    CycleConfig {
        request_timeout_ms: 3_000,
        transaction_timeout_ms: 20_000,
        ..CycleConfig::new(name.clone())
    }
}

/// Runs a seed; answers how many transactions it took, or what went wrong.
fn run(seed: u64, fence: Rules) -> Result<u64, String> {
    let mut run = Run::new(seed, fence);
    for _ in 0..1_500 {
        run.step();
        if let Some(value) = run.doubled() {
            return Err(format!("seed {seed}: record {value} came out twice"));
        }
    }
    run.finish().map_err(|what| format!("seed {seed}: {what}"))?;
    assert_ne!(run.world.broker.phase(), GroupPhase::Dead);
    Ok(run.transactions)
}

#[test]
fn each_record_comes_out_exactly_once_whatever_the_faults() {
    let mut transactions = 0;
    for seed in 0..12 {
        for fence in [Rules::Shipped, Rules::Draft] {
            transactions += run(seed, fence).unwrap();
        }
    }
    assert!(transactions > 600, "only {transactions} transactions");
}

#[test]
fn canary_without_the_fence_a_record_comes_out_twice() {
    let doubled = (0..60).find_map(|seed| run(seed, Rules::Off).err());
    assert!(doubled.is_some_and(|what| what.contains("came out twice")));
}
