//! A client process: a member, the application above it, and its clockwork.

use std::collections::{BTreeMap, VecDeque};

use super::network::Message;
use super::transactions::{Producing, TransactionStep};
use super::workload::{Options, ProcessOptions};
use crate::protocol::error::ProtocolError;
use crate::protocol::member::{AssignId, CallbackKind, Member, MemberConfig, Metadata};
use crate::protocol::message::{Response, SyncAssignment, TopicPartition};
use crate::protocol::partition_set::PartitionSet;
use crate::protocol::selection::{Assignor, ProtocolPolicy, Selection};

/// The member's timeouts in a run, short so that a run sees many of them.
pub(super) const SESSION_TIMEOUT_MS: u64 = 6_000;
const HEARTBEAT_INTERVAL_MS: u64 = 1_000;
pub(super) const REBALANCE_TIMEOUT_MS: u64 = 8_000;
pub(super) const REQUEST_TIMEOUT_MS: u64 = 3_000;
/// How often metadata is looked up anew.
const METADATA_MAX_AGE_MS: u64 = 5_000;

/// A callback that the application is in.
#[derive(Debug, Clone)]
pub(super) struct InCallback {
    pub(super) kind: CallbackKind,
    pub(super) partitions: PartitionSet,
    pub(super) ends_ms: u64,
    pub(super) fails: bool,
    /// Whether the transactional side hears of the revocation only when the callback ends, and may commit till then.
    pub(super) commits_first: bool,
}

/// A leader's computation under way.
#[derive(Debug, Clone)]
pub(super) struct Computation {
    pub(super) id: AssignId,
    pub(super) ends_ms: u64,
    pub(super) outcome: Result<Vec<SyncAssignment>, String>,
}

#[derive(Debug)]
pub(super) struct Process {
    pub(super) options: ProcessOptions,
    pub(super) member: Option<Member>,
    /// Counts the process's lives, so that no answer reaches a later one.
    pub(super) life: u32,
    pub(super) paused_until_ms: Option<u64>,
    /// What arrives while it stands still.
    pub(super) inbox: VecDeque<Message>,
    pub(super) starts_at_ms: Option<u64>,
    pub(super) subscribes_at_ms: Option<u64>,
    pub(super) callback: Option<InCallback>,
    pub(super) computation: Option<Computation>,
    /// Metadata on its way: when it arrives, and what it says.
    pub(super) metadata: VecDeque<(u64, Metadata)>,
    pub(super) refresh_at_ms: u64,
    pub(super) stale: Option<(u64, Metadata)>,
    pub(super) tick_at_ms: u64,
    pub(super) positions: BTreeMap<TopicPartition, i64>,
    pub(super) closing: bool,
    pub(super) restart_in_ms: u64,
    /// Its transactional side, once it has one.
    pub(super) producing: Option<Producing>,
    /// Where in a transaction it is to stand still, and for how long.
    pub(super) stops_at: Option<(TransactionStep, u64)>,
    /// What it was about to send when it stood still.
    pub(super) outbox: VecDeque<Message>,
    /// The last assignment that it was answered, for a mutation.
    pub(super) late: Option<Response>,
}

/// What a process does next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Chore {
    Resume,
    Start,
    Subscribe,
    EndCallback,
    EndComputation,
    TakeMetadata,
    Refresh,
    Produce,
    Timeout,
    Tick,
}

impl Process {
    pub(super) fn new(options: ProcessOptions) -> Self {
        Self {
            options,
            member: None,
            life: 0,
            paused_until_ms: None,
            inbox: VecDeque::new(),
            starts_at_ms: None,
            subscribes_at_ms: None,
            callback: None,
            computation: None,
            metadata: VecDeque::new(),
            refresh_at_ms: 0,
            stale: None,
            tick_at_ms: 0,
            positions: BTreeMap::new(),
            closing: false,
            restart_in_ms: 0,
            producing: None,
            stops_at: None,
            outbox: VecDeque::new(),
            late: None,
        }
    }

    /// Begins a new life, subscribed to nothing yet.
    ///
    /// # Errors
    ///
    /// A list of assignors that no member may have.
    pub(super) fn start(&mut self, number: usize, run: &Options, now_ms: u64) -> Result<(), ProtocolError> {
        let assignors: Vec<Assignor> =
            self.options.assignors.iter().filter_map(|name| Assignor::by_name(name)).collect();
        let selection = Selection::new(&assignors, ProtocolPolicy::Selected)?;
        let mut config = MemberConfig::new("group", selection).with_mode(run.mode);
        config.client_id = format!("p{number}");
        config.group_instance_id = self.options.fixed.then(|| format!("i{number}"));
        config.subscription_version = self.options.subscription_version;
        if self.options.claims() {
            config.subscription_version = config.subscription_version.max(1);
        }
        config.announce_assignor_version = run.outlook;
        config.negotiate_by_heartbeat = run.outlook;
        config.session_timeout_ms = SESSION_TIMEOUT_MS;
        config.heartbeat_interval_ms = HEARTBEAT_INTERVAL_MS;
        config.rebalance_timeout_ms = REBALANCE_TIMEOUT_MS;
        config.request_timeout_ms = REQUEST_TIMEOUT_MS;
        config.commit_timeout_ms = 5_000;
        config.close_timeout_ms = 3_000;
        self.member = Some(Member::new(config, now_ms)?);
        self.end_life();
        self.life += 1;
        self.refresh_at_ms = now_ms + METADATA_MAX_AGE_MS;
        self.tick_at_ms = now_ms;
        Ok(())
    }

    /// Forgets all that belongs to one life.
    pub(super) fn end_life(&mut self) {
        self.inbox.clear();
        self.starts_at_ms = None;
        self.subscribes_at_ms = None;
        self.callback = None;
        self.computation = None;
        self.metadata.clear();
        self.stale = None;
        self.positions.clear();
        self.late = None;
        self.producing = None;
        self.outbox.clear();
        self.closing = false;
        self.paused_until_ms = None;
    }

    pub(super) fn wanted_topics(&self) -> Vec<String> {
        (0..32).filter(|bit| self.options.topics >> bit & 1 == 1).map(Options::topic_name).collect()
    }

    /// The next thing to do, and when.
    pub(super) fn next(&self) -> Option<(u64, Chore)> {
        if let Some(until_ms) = self.paused_until_ms {
            return Some((until_ms, Chore::Resume));
        }
        let Some(member) = &self.member else {
            return self.starts_at_ms.map(|at_ms| (at_ms, Chore::Start));
        };
        let mut next: Option<(u64, Chore)> = None;
        let mut at = |at_ms: u64, chore: Chore| {
            next = Some(next.map_or((at_ms, chore), |before| before.min((at_ms, chore))));
        };
        if let Some(at_ms) = self.subscribes_at_ms {
            at(at_ms, Chore::Subscribe);
        }
        if let Some(callback) = &self.callback {
            at(callback.ends_ms, Chore::EndCallback);
        }
        if let Some(computation) = &self.computation {
            at(computation.ends_ms, Chore::EndComputation);
        }
        if let Some((at_ms, _)) = self.metadata.front() {
            at(*at_ms, Chore::TakeMetadata);
        }
        if let Some(at_ms) = member.poll_timeout() {
            at(at_ms, Chore::Timeout);
        }
        if let Some(at_ms) = self.producing.as_ref().and_then(Producing::poll_timeout) {
            at(at_ms, Chore::Produce);
        }
        at(self.refresh_at_ms, Chore::Refresh);
        at(self.tick_at_ms, Chore::Tick);
        next
    }

    pub(super) fn refreshed(&mut self, now_ms: u64) {
        self.refresh_at_ms = now_ms + METADATA_MAX_AGE_MS;
    }
}
