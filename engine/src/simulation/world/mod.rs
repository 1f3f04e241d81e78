//! The whole: two brokers, a network, processes, topics, and one clock that jumps from event to event.

mod brokers;
mod client;
mod disturb;
mod producing;
mod settle;
mod transactions;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::checker::{Checker, View, Violation};
use super::fault::{Disturbance, Faults};
use super::mutation::Mutation;
use super::network::{Network, Sender};
use super::process::{Chore, Process};
use super::random::Random;
use super::timeline::Timeline;
use super::workload::Options;
use crate::fence::Rules;
use crate::fence::transaction::MarkerTarget;
use crate::protocol::coordinator::{Config, Coordinator, Record};
use crate::protocol::leader::LeaderScratch;
use crate::protocol::message::{OffsetCommitRequest, TopicPartition, TxnMarkerRequest};

use transactions::Ledger;

pub(super) const GROUP: &str = "group";

/// How a run went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// The generations that were completed.
    pub rebalances: u64,
    /// The events that were handled.
    pub events: u64,
    /// Transactions that were committed.
    pub committed: u64,
    /// Transactions that were aborted, by whom ever.
    pub aborted: u64,
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
    callers: BTreeMap<u64, (Sender, Option<Commit>)>,
    /// Markers that a group's coordinator has yet to answer, and whose they are.
    markers: BTreeMap<u64, (usize, MarkerTarget, TxnMarkerRequest)>,
    /// The transactional part of the brokers.
    ledger: Option<Ledger>,
    /// No records come in any more from here on.
    input_ends_ms: Option<u64>,
    next_caller: u64,
    pub(super) processes: Vec<Process>,
    topics: BTreeMap<String, i32>,
    disturbances: VecDeque<Disturbance>,
    pub(super) checker: Checker,
    /// What leaders compute in, one after the other.
    scratch: LeaderScratch,
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
            fence: fence(options),
            leader_by_version: options.outlook,
            heartbeat_protocols: options.outlook,
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
            markers: BTreeMap::new(),
            ledger: options.transactions.is_some().then(Ledger::new),
            input_ends_ms: None,
            next_caller: 0,
            processes: options.processes.iter().cloned().map(Process::new).collect(),
            topics: (0..)
                .zip(&options.topics)
                .filter_map(|(topic, count)| Some((Options::topic_name(topic), (*count)?)))
                .collect(),
            disturbances: options.disturbances.iter().cloned().collect(),
            checker: Checker::default(),
            scratch: LeaderScratch::new(),
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
            committed: self.ledger.as_ref().map_or(0, |ledger| ledger.committed),
            aborted: self.ledger.as_ref().map_or(0, |ledger| ledger.aborted),
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
                Event::TransactionsLoaded => self.transactions_loaded(),
                Event::TransactionTimeout(broker) => self.transactions_timed_out(broker),
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
        let ledger = self.ledger.iter().flat_map(|ledger| {
            let timeouts =
                ledger.timeouts().map(|(at_ms, broker)| (at_ms, Event::TransactionTimeout(broker)));
            timeouts.chain(ledger.loaded_at_ms.map(|at_ms| (at_ms, Event::TransactionsLoaded)))
        });
        [planned, loaded, arrival].into_iter().flatten().chain(brokers).chain(chores).chain(ledger).min()
    }

    /// One past the last input record of each partition.
    fn input_end(&self) -> i64 {
        (self.input_ends_ms.unwrap_or(self.now_ms) / 10) as i64
    }

    fn mix(&mut self, value: u64) {
        self.fingerprint = (self.fingerprint ^ value).wrapping_mul(0x0100_0000_01b3).rotate_left(17);
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Disturb,
    Loaded,
    Arrive,
    BrokerTimeout(usize),
    Chore(usize, Chore),
    TransactionsLoaded,
    TransactionTimeout(usize),
}

/// A commit that waits for the coordinator's verdict, and whether it is part of a transaction.
type Commit = (OffsetCommitRequest, bool);

/// The rules that the group's coordinator fences by.
fn fence(options: &Options) -> Rules {
    match &options.transactions {
        Some(_) if options.mutation == Some(Mutation::NoTransactionFence) => Rules::Off,
        Some(transactions) => transactions.rules,
        None => Rules::Shipped,
    }
}

/// So long the last trouble may take to die away: requests given up, sessions over, rounds made up for.
const DRAIN_MS: u64 = 60_000;
