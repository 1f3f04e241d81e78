//! The client's side of an offset fetch that waits for pending transactions.
//!
//! A new owner that read on from an offset which a transaction is about to move would process records twice. So it
//! asks for stable offsets only, and asks again with a back-off for as long as it takes: until the transaction of
//! the last owner ends, or its coordinator aborts it. There is no limit on purpose; the transaction has one.

use std::collections::{BTreeMap, VecDeque};

use super::cycle::RequestId;
use crate::protocol::error::ErrorCode;
use crate::protocol::message::{CommittedOffset, OffsetFetchRequest, OffsetFetchResponse, TopicPartition};

/// The patience of a [`StableFetch`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StableFetchConfig {
    /// The pause before the first repetition; it doubles.
    pub backoff_ms: u64,
    /// The longest pause.
    pub backoff_max_ms: u64,
    /// After so long an unanswered request is sent again.
    pub request_timeout_ms: u64,
}

impl Default for StableFetchConfig {
    fn default() -> Self {
        Self { backoff_ms: 100, backoff_max_ms: 1_000, request_timeout_ms: 30_000 }
    }
}

/// What the fetch wants done, or has to tell.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum StableFetchAction {
    /// Send a request to the group's coordinator.
    Send {
        /// What to answer with.
        id: RequestId,
        /// The request.
        request: OffsetFetchRequest,
    },
    /// Look the group's coordinator up again before the next [`Send`](Self::Send).
    FindCoordinator,
    /// Tell: the partition may be read from here.
    Settled {
        /// The partition.
        partition: TopicPartition,
        /// Its committed offset, or `None` if there is none: the reset policy decides.
        committed: Option<CommittedOffset>,
        /// How long it was waited for.
        waited_ms: u64,
    },
    /// Tell: the partition can't be fetched, for a reason that waiting does not change.
    Failed {
        /// The partition.
        partition: TopicPartition,
        /// Why.
        error: ErrorCode,
    },
}

/// Fetches the committed offsets of newly assigned partitions, waiting for those that are not stable. No record of a
/// partition may be delivered before it is [`Settled`](StableFetchAction::Settled).
///
/// Polling order: a command or one `handle_*`, then [`poll_action`](Self::poll_action) until it gives `None`, then
/// [`poll_timeout`](Self::poll_timeout), and [`handle_timeout`](Self::handle_timeout) when that moment has come.
/// Heartbeats go on meanwhile: this waits for nothing but its own answers.
///
/// # Examples
///
/// ```
/// use tenure::fence::stable::{StableFetch, StableFetchAction, StableFetchConfig};
/// use tenure::protocol::error::ErrorCode;
/// use tenure::protocol::message::{CommittedOffset, FetchedOffset, OffsetFetchResponse, TopicPartition};
///
/// let t0 = TopicPartition::new("t", 0);
/// let mut fetch = StableFetch::new("g", StableFetchConfig::default());
/// fetch.assign([t0.clone()], 0);
/// let answer = |committed: Option<i64>, error| OffsetFetchResponse {
///     error: ErrorCode::None,
///     partitions: vec![FetchedOffset { partition: t0.clone(), committed: committed.map(CommittedOffset::new), error }],
/// };
///
/// let Some(StableFetchAction::Send { id, .. }) = fetch.poll_action(0) else { panic!() };
/// fetch.handle_response(id, answer(None, ErrorCode::UnstableOffsetCommit), 10);
/// assert_eq!(fetch.poll_action(10), None);
/// assert_eq!(fetch.poll_timeout(), Some(110));
///
/// fetch.handle_timeout(110);
/// let Some(StableFetchAction::Send { id, .. }) = fetch.poll_action(110) else { panic!() };
/// fetch.handle_response(id, answer(Some(8), ErrorCode::None), 120);
/// let Some(StableFetchAction::Settled { committed: Some(committed), waited_ms: 120, .. }) = fetch.poll_action(120)
/// else { panic!() };
/// assert_eq!(committed.offset, 8);
/// ```
#[derive(Debug)]
pub struct StableFetch {
    group_id: String,
    config: StableFetchConfig,
    /// The partitions waited for, and since when.
    waiting: BTreeMap<TopicPartition, u64>,
    in_flight: Option<InFlight>,
    resumes_ms: Option<u64>,
    failures: u32,
    events: VecDeque<StableFetchAction>,
    next_request: u64,
}

#[derive(Debug)]
struct InFlight {
    id: RequestId,
    deadline_ms: u64,
    partitions: Vec<TopicPartition>,
}

impl StableFetch {
    /// A fetch that waits for nothing yet.
    pub fn new(group_id: impl Into<String>, config: StableFetchConfig) -> Self {
        Self {
            group_id: group_id.into(),
            config,
            waiting: BTreeMap::new(),
            in_flight: None,
            resumes_ms: None,
            failures: 0,
            events: VecDeque::new(),
            next_request: 0,
        }
    }

    /// Partitions were assigned: their offsets are needed.
    pub fn assign(&mut self, partitions: impl IntoIterator<Item = TopicPartition>, now_ms: u64) {
        for partition in partitions {
            self.waiting.entry(partition).or_insert(now_ms);
        }
        // The newcomers don't wait out a pause that others caused.
        self.resumes_ms = None;
    }

    /// Partitions were revoked or lost: their wait ends without a word.
    pub fn unassign<'a>(&mut self, partitions: impl IntoIterator<Item = &'a TopicPartition>) {
        for partition in partitions {
            self.waiting.remove(partition);
            self.events.retain(|event| match event {
                StableFetchAction::Settled { partition: told, .. } => told != partition,
                StableFetchAction::Failed { partition: told, .. } => told != partition,
                _ => true,
            });
        }
    }

    /// Everything waited for is given up without a word: a rebalance takes all.
    pub fn cancel(&mut self) {
        self.waiting.clear();
        self.events.clear();
        self.in_flight = None;
        self.resumes_ms = None;
        self.failures = 0;
    }

    /// Takes the answer to a request. Answers to requests that were given up are ignored, and so are partitions
    /// that are not waited for any more.
    pub fn handle_response(&mut self, id: RequestId, response: OffsetFetchResponse, now_ms: u64) {
        let Some(asked) = self.in_flight.take_if(|one| one.id == id) else { return };
        if response.error.is_error() {
            self.refused(response.error, now_ms);
            return;
        }
        for one in response.partitions {
            let Some(&since_ms) = self.waiting.get(&one.partition) else { continue };
            if one.error.is_retriable() {
                continue;
            }
            self.waiting.remove(&one.partition);
            self.events.push_back(if one.error.is_error() {
                StableFetchAction::Failed { partition: one.partition, error: one.error }
            } else {
                let waited_ms = now_ms.saturating_sub(since_ms);
                StableFetchAction::Settled { partition: one.partition, committed: one.committed, waited_ms }
            });
        }
        if asked.partitions.iter().any(|partition| self.waiting.contains_key(partition)) {
            self.pause(now_ms);
        } else {
            self.failures = 0;
        }
    }

    /// Time has come: a pause is over, or a request stays unanswered.
    pub fn handle_timeout(&mut self, now_ms: u64) {
        if self.resumes_ms.is_some_and(|at_ms| at_ms <= now_ms) {
            self.resumes_ms = None;
        }
        if self.in_flight.take_if(|one| one.deadline_ms <= now_ms).is_some() {
            self.events.push_back(StableFetchAction::FindCoordinator);
        }
    }

    /// The next thing to do or to tell, in order.
    pub fn poll_action(&mut self, now_ms: u64) -> Option<StableFetchAction> {
        if let Some(event) = self.events.pop_front() {
            return Some(event);
        }
        let pauses = self.resumes_ms.is_some_and(|at_ms| at_ms > now_ms);
        if self.waiting.is_empty() || self.in_flight.is_some() || pauses {
            return None;
        }
        self.resumes_ms = None;
        let id = RequestId(self.next_request);
        self.next_request = self.next_request.saturating_add(1);
        let deadline_ms = now_ms.saturating_add(self.config.request_timeout_ms.max(1));
        let partitions: Vec<TopicPartition> = self.waiting.keys().cloned().collect();
        let request = OffsetFetchRequest {
            group_id: self.group_id.clone(),
            partitions: Some(partitions.clone()),
            require_stable: true,
        };
        self.in_flight = Some(InFlight { id, deadline_ms, partitions });
        Some(StableFetchAction::Send { id, request })
    }

    /// When [`handle_timeout`](Self::handle_timeout) is due.
    pub fn poll_timeout(&self) -> Option<u64> {
        let resumes_ms = self.resumes_ms.filter(|_| !self.waiting.is_empty());
        self.in_flight.as_ref().map(|one| one.deadline_ms).or(resumes_ms)
    }

    /// The partitions that are waited for, and since when.
    pub fn waiting(&self) -> impl Iterator<Item = (&TopicPartition, u64)> {
        self.waiting.iter().map(|(partition, &since_ms)| (partition, since_ms))
    }

    fn refused(&mut self, error: ErrorCode, now_ms: u64) {
        if error.is_retriable() {
            if error.is_coordinator_move() && error != ErrorCode::CoordinatorLoadInProgress {
                self.events.push_back(StableFetchAction::FindCoordinator);
            }
            self.pause(now_ms);
            return;
        }
        for (partition, _) in core::mem::take(&mut self.waiting) {
            self.events.push_back(StableFetchAction::Failed { partition, error });
        }
    }

    fn pause(&mut self, now_ms: u64) {
        let factor = 1_u64.checked_shl(self.failures.min(32)).unwrap_or(u64::MAX);
        let pause_ms = self.config.backoff_ms.saturating_mul(factor).min(self.config.backoff_max_ms).max(1);
        self.failures = self.failures.saturating_add(1);
        self.resumes_ms = Some(now_ms.saturating_add(pause_ms));
    }
}
