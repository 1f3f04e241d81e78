//! A group member: the consumer's side of KIP-429 as a state machine.
//!
//! ```text
//!           subscribe                                       coordinator known
//!   Idle ─────────────> Preparing ──> Refreshing ──> Discovering ──> Joining <── BackingOff
//!    ^                      ^          (pattern)                        │             ^ refused, timed out
//!    │ unsubscribe          │ trigger 1.1–1.6                           v             │
//! Leaving <─── any        Stable <── Completing <── Syncing <── FallingBack, RefreshingLeader, Assigning
//! ```
//!
//! The member owns its partitions *through* a cooperative rebalance: they stay in [`Member::owned`] while it joins,
//! and only what the assignment takes away is revoked. Under an eager assignor everything is revoked in
//! `Preparing`, before JoinGroup is sent.
//!
//! | trigger (KIP-429, consumer coordinator algorithm) | what happens here |
//! |---|---|
//! | 1.1 the subscription changed | revoked: what is no longer wanted; join with the rest |
//! | 1.2 topics or partitions are gone | lost: those; the leader joins again |
//! | 1.3 REBALANCE_IN_PROGRESS | join with all that is owned |
//! | 1.4 UNKNOWN_MEMBER_ID, ILLEGAL_GENERATION | lost: all; join with nothing |
//! | 1.5 MEMBER_ID_REQUIRED | join again with the id |
//! | 1.6 NEED_REJOIN, or something was revoked | callbacks, then join with what is left |
//!
//! A member that finds it has missed a generation (its join answer is more than one generation on, or a commit was
//! refused with ILLEGAL_GENERATION) may have lost partitions to others without being told. It stops processing until
//! the next assignment, and what that takes away is lost, not revoked.
//!
//! Each request remembers the membership it was sent with, so an answer to an earlier generation changes nothing.

#![deny(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects
)]

mod action;
mod callback;
mod command;
mod commit;
mod config;
mod heartbeat;
mod join;
mod leave;
mod metadata;
mod request;
mod state;
mod sync;
mod timer;

use core::fmt;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

pub use action::{
    Action, AssignId, AssignRequest, Callback, CallbackKind, CommitError, CommitId, GroupMetadata, Metadata,
    MetadataScope, Report, RequestId,
};
pub use config::MemberConfig;
pub use state::MemberState;

use self::callback::Running;
use self::commit::Commit;
use self::request::{Coordinator, Pending};
use self::state::{RejoinReason, State};
use super::error::ProtocolError;
use super::message::{NO_GENERATION, TopicPartition};
use super::metrics::MemberMetrics;
use super::partition_set::PartitionSet;
use super::selection::{RebalanceProtocol, UserData};
pub use crate::revoke::Mode;

/// Decides by its name whether a topic belongs to a subscription.
#[derive(Clone)]
pub struct TopicFilter(Arc<dyn Fn(&str) -> bool + Send + Sync>);

impl TopicFilter {
    /// A filter that a function decides.
    pub fn new(matches: impl Fn(&str) -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(matches))
    }

    /// Whether the topic belongs to it.
    pub fn matches(&self, topic: &str) -> bool {
        (self.0)(topic)
    }
}

impl fmt::Debug for TopicFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TopicFilter")
    }
}

/// What the application subscribed to.
#[derive(Debug, Clone)]
struct Wanted {
    /// The topics, sorted; for a pattern those that matched the metadata last.
    topics: Vec<String>,
    filter: Option<TopicFilter>,
}

impl Wanted {
    fn has(&self, topic: &str) -> bool {
        self.topics.binary_search_by(|one| one.as_str().cmp(topic)).is_ok()
    }
}

/// A member of a consumer group, without sockets, clock or threads.
///
/// The host calls in this order, whenever anything happens:
///
/// 1. an event (`handle_*`), a command ([`subscribe`](Self::subscribe), [`commit`](Self::commit), …) or the end of
///    something it was asked to do ([`callback_finished`](Self::callback_finished),
///    [`assignment_computed`](Self::assignment_computed)), with the time;
/// 2. [`poll_action`](Self::poll_action) until it answers `None`, doing each thing in order;
/// 3. [`poll_timeout`](Self::poll_timeout): when that time comes and nothing else happened before,
///    [`handle_timeout`](Self::handle_timeout).
///
/// The application may process what [`fetchable`](Self::fetchable) says, at any time.
///
/// There is no call that replaces an assignment: callbacks carry changes, and the member keeps the set.
///
/// # Examples
///
/// The example of KIP-429: a new member joins, and on the old one only `b-0` is ever revoked.
///
/// ```
/// use tenure::protocol::error::ErrorCode;
/// use tenure::protocol::member::{Action, CallbackKind, Member, MemberConfig, Mode};
/// use tenure::protocol::message::*;
/// use tenure::protocol::partition_set::PartitionSet;
/// use tenure::protocol::payload::{MemberAssignment, MemberSubscription};
/// use tenure::protocol::selection::{Assignor, ProtocolPolicy, Selection};
///
/// let selection = Selection::new(&[Assignor::cooperative_sticky()], ProtocolPolicy::Selected)?;
/// let mut member = Member::new(MemberConfig::new("group", selection), 0)?;
/// member.subscribe(["a", "b"], 0)?;
///
/// // A broker that gives this follower what we say, generation after generation.
/// let mut seen = Vec::new();
/// let mut claimed = Vec::new();
/// let mut plan = vec![
///     PartitionSet::from_blocks([("a", [0]), ("b", [0])]), // alone
///     PartitionSet::from_blocks([("a", [0])]),             // c2 joined: b-0 is withheld from it
///     PartitionSet::from_blocks([("a", [0])]),             // c1 joined again: c2 has b-0 now
/// ]
/// .into_iter();
/// let mut generation = 0;
/// for told_to_join in [false, true] {
///     if told_to_join {
///         member.request_rejoin("a new member joined", 100)?;
///     }
///     while let Some(action) = member.poll_action() {
///         match action {
///             Action::Send { id, request: Request::FindCoordinator(_), .. } => {
///                 let found = FindCoordinatorResponse { error: ErrorCode::None, node_id: 1 };
///                 member.handle_response(id, found.into(), 0)?;
///             }
///             Action::Send { id, request: Request::JoinGroup(join), .. } => {
///                 let subscription = MemberSubscription::decode("c1", &join.protocols[0].metadata)?;
///                 claimed.push(subscription.owned.to_string());
///                 generation += 1;
///                 let joined = JoinGroupResponse {
///                     generation_id: generation,
///                     protocol_name: Some("cooperative-sticky".into()),
///                     leader: "c0".into(),
///                     ..JoinGroupResponse::refused(ErrorCode::None, "c1")
///                 };
///                 member.handle_response(id, joined.into(), 0)?;
///             }
///             Action::Send { id, request: Request::SyncGroup(_), .. } => {
///                 let assignment = MemberAssignment::new(plan.next().unwrap());
///                 let assignment = assignment.encode(Mode::Shipped, 3)?;
///                 let synced = SyncGroupResponse { assignment, ..SyncGroupResponse::default() };
///                 member.handle_response(id, synced.into(), 0)?;
///             }
///             Action::Callback(callback) => {
///                 seen.push((callback.kind, callback.partitions.to_string()));
///                 member.callback_finished(Ok(()), 0)?;
///             }
///             _ => {}
///         }
///     }
/// }
/// assert_eq!(claimed, ["", "a-0 b-0", "a-0"]);
/// assert_eq!(
///     seen,
///     [(CallbackKind::Assigned, "a-0 b-0".to_owned()), (CallbackKind::Revoked, "b-0".to_owned())]
/// );
/// # Ok::<(), tenure::protocol::error::ProtocolError>(())
/// ```
#[derive(Debug)]
pub struct Member {
    config: MemberConfig,
    state: State,
    wanted: Option<Wanted>,
    /// The topics of the last JoinGroup, sorted.
    joined_topics: Vec<String>,
    metadata: Arc<Metadata>,
    /// What the host was last asked to look up.
    asked: Option<MetadataScope>,
    /// Whether that was answered.
    answered: bool,

    member_id: String,
    generation: Option<i32>,
    /// The membership of the last completed rebalance.
    settled: Option<GroupMetadata>,
    coordinator: Coordinator,
    coordinator_tries: u32,
    join_tries: u32,

    owned: PartitionSet,
    /// The generation in which `owned` was assigned: what a claim is worth.
    claim_generation: Option<i32>,
    /// The assignment taken last, as it was; what a sticky eager member remembers.
    last_assigned: PartitionSet,
    /// How the last completed generation behaved.
    protocol: RebalanceProtocol,
    /// What the coordinator announced for the next one.
    announced: Option<RebalanceProtocol>,
    /// The membership was reset: all that is owned is lost.
    lost: bool,
    /// The group may have gone through a generation without this member, so that what it owns may be another's by
    /// now: it is not processed until an assignment tells.
    doubted: bool,
    rejoin: Option<RejoinReason>,
    /// The generation whose request for a follow-up was already obeyed.
    followed_up: Option<i32>,

    leads: bool,
    /// As leader: the topics of the whole group with their counts when the assignment was made.
    watched: Vec<(String, Option<i32>)>,
    /// As leader: each static member's topics, as a digest, and what it claims.
    fixed: BTreeMap<String, (u64, PartitionSet)>,
    /// The next subscription must differ from the last one, or the coordinator sees no reason to rebalance.
    insists: bool,
    /// Owned, but gone from the metadata; not yet told to the application.
    vanished: PartitionSet,
    /// Lost because they had gone, in this generation.
    gone: PartitionSet,

    callbacks: VecDeque<(CallbackKind, PartitionSet)>,
    running: Option<Running>,
    first_error: Option<Report>,

    pending: BTreeMap<RequestId, Pending>,
    commits: VecDeque<Commit>,
    heartbeat_at_ms: u64,
    heartbeat_sent: bool,
    session_deadline_ms: u64,
    poll_deadline_ms: Option<u64>,

    actions: VecDeque<Action>,
    next_id: u64,
    fatal: Option<ProtocolError>,
    fatal_reported: bool,
    rebalance_started_ms: Option<u64>,
    metrics: MemberMetrics,
}

impl Member {
    /// A member that is subscribed to nothing yet.
    ///
    /// # Errors
    ///
    /// [`ProtocolError::Config`] if the settings contradict each other.
    pub fn new(config: MemberConfig, now_ms: u64) -> Result<Self, ProtocolError> {
        config.check()?;
        Ok(Self {
            protocol: config.selection.common(),
            config,
            state: State::Idle,
            wanted: None,
            joined_topics: Vec::new(),
            metadata: Arc::default(),
            asked: None,
            answered: false,
            member_id: String::new(),
            generation: None,
            settled: None,
            coordinator: Coordinator::Unknown { retry_at_ms: 0 },
            coordinator_tries: 0,
            join_tries: 0,
            owned: PartitionSet::new(),
            claim_generation: None,
            last_assigned: PartitionSet::new(),
            announced: None,
            lost: false,
            doubted: false,
            rejoin: None,
            followed_up: None,
            leads: false,
            watched: Vec::new(),
            fixed: BTreeMap::new(),
            insists: false,
            vanished: PartitionSet::new(),
            gone: PartitionSet::new(),
            callbacks: VecDeque::new(),
            running: None,
            first_error: None,
            pending: BTreeMap::new(),
            commits: VecDeque::new(),
            heartbeat_at_ms: 0,
            heartbeat_sent: false,
            session_deadline_ms: 0,
            poll_deadline_ms: None,
            actions: VecDeque::new(),
            next_id: 0,
            fatal: None,
            fatal_reported: false,
            rebalance_started_ms: None,
            metrics: MemberMetrics::new(now_ms),
        })
    }

    /// The next thing the host should do; `None` when there is nothing more for now.
    pub fn poll_action(&mut self) -> Option<Action> {
        self.actions.pop_front()
    }

    /// Sets an assignor's user data from the next join on; false if the member doesn't list it.
    pub fn set_user_data(&mut self, assignor: &str, user_data: UserData) -> bool {
        self.config.selection.set_user_data(assignor, user_data)
    }

    /// Where the member stands.
    pub fn state(&self) -> MemberState {
        self.state.kind()
    }

    /// The settings.
    pub fn config(&self) -> &MemberConfig {
        &self.config
    }

    /// The partitions that are the member's, those included whose loss is only now being told.
    pub fn owned(&self) -> &PartitionSet {
        &self.owned
    }

    /// The partitions that the application may process: what is owned, less what a callback is announcing.
    pub fn fetchable(&self) -> PartitionSet {
        if self.lost || self.doubted || matches!(self.state, State::Fatal | State::Closed) {
            return PartitionSet::new();
        }
        let mut fetchable = self.owned.minus(&self.vanished);
        for (_, partitions) in &self.callbacks {
            fetchable = fetchable.minus(partitions);
        }
        if let Some(running) = &self.running {
            fetchable = fetchable.minus(&running.partitions);
        }
        fetchable
    }

    /// Whether a commit for this partition would be sent now, under the generation of
    /// [`group_metadata`](Self::group_metadata).
    pub fn may_commit(&self, partition: &TopicPartition) -> bool {
        self.commit_generation().is_some() && self.owned.contains(partition) && !self.being_lost(partition)
    }

    /// The membership of the last completed rebalance; without a generation if it has been reset since.
    pub fn group_metadata(&self) -> GroupMetadata {
        match &self.settled {
            Some(settled) if self.generation.is_some() => settled.clone(),
            _ => GroupMetadata {
                group_id: self.config.group_id.clone(),
                generation_id: NO_GENERATION,
                member_id: self.member_id.clone(),
                group_instance_id: self.config.group_instance_id.clone(),
            },
        }
    }

    /// The member's id, empty if it has none.
    pub fn member_id(&self) -> &str {
        &self.member_id
    }

    /// The generation that the member joined last, completed or not.
    pub fn generation(&self) -> Option<i32> {
        self.generation
    }

    /// How the member behaved in the generation completed last.
    pub fn protocol(&self) -> RebalanceProtocol {
        self.protocol
    }

    /// Whether the member leads its generation.
    pub fn is_leader(&self) -> bool {
        self.leads
    }

    /// The topics subscribed to, sorted.
    pub fn topics(&self) -> &[String] {
        self.wanted.as_ref().map_or(&[], |wanted| &wanted.topics)
    }

    /// The topics whose partition counts the member needs to know: its own, and as leader everybody's.
    pub fn topics_of_interest(&self) -> MetadataScope {
        if self.wanted.as_ref().is_some_and(|wanted| wanted.filter.is_some()) {
            return MetadataScope::All;
        }
        let mut topics = self.topics().to_vec();
        topics.extend(self.watched.iter().map(|(topic, _)| topic.clone()));
        topics.sort_unstable();
        topics.dedup();
        MetadataScope::Topics(topics)
    }

    /// The error that stopped the member, if one did.
    pub fn fatal_error(&self) -> Option<&ProtocolError> {
        self.fatal.as_ref()
    }

    /// What the member has measured.
    pub fn metrics(&self) -> &MemberMetrics {
        &self.metrics
    }

    /// Goes on from state to state until it has to wait for something. Every event ends here.
    fn settle(&mut self, now_ms: u64) {
        loop {
            self.run_next_callback(now_ms);
            if self.running.is_some() {
                break;
            }
            match core::mem::replace(&mut self.state, State::Idle) {
                State::Preparing => {
                    self.state = State::Preparing;
                    if !self.queue_before_join() {
                        self.flush_callback_error();
                        self.enter_join(now_ms);
                    }
                }
                State::FallingBack(joined) => self.lead_or_follow(joined, now_ms),
                State::Completing { assignor } => self.complete(assignor, now_ms),
                State::Stable => {
                    self.state = State::Stable;
                    if !self.queue_vanished() {
                        self.flush_callback_error();
                        if !self.rebalance_if_needed(now_ms) {
                            break;
                        }
                    }
                }
                State::Leaving(leaving) => {
                    if !self.go_on_leaving(leaving, now_ms) {
                        break;
                    }
                }
                State::Fatal => {
                    self.state = State::Fatal;
                    if !self.finish_fatal() {
                        break;
                    }
                }
                waiting => {
                    self.state = waiting;
                    break;
                }
            }
        }
        self.pump_commits(now_ms);
        self.pump_coordinator(now_ms);
        self.metrics.assigned_partitions = self.owned.len() as u64;
    }

    /// Stops for good: what is owned is lost.
    fn stop(&mut self, error: ProtocolError) {
        self.callbacks.clear();
        self.pending.clear();
        self.generation = None;
        self.settled = None;
        self.lost = true;
        self.doubted = false;
        self.leads = false;
        self.commits.iter_mut().for_each(Commit::unsend);
        self.fail_commits(&CommitError::NotMember);
        self.fatal = Some(error);
        self.state = State::Fatal;
    }

    /// Tells the loss, then the error; true if there is a callback to run first.
    fn finish_fatal(&mut self) -> bool {
        if !self.owned.is_empty() {
            self.callbacks.push_back((CallbackKind::Lost, self.owned.clone()));
            return true;
        }
        if !self.fatal_reported {
            self.fatal_reported = true;
            self.flush_callback_error();
            if let Some(error) = self.fatal.clone() {
                self.report(Report::Fatal(error));
            }
        }
        false
    }

    fn report(&mut self, report: Report) {
        self.actions.push_back(Action::Report(report));
    }

    fn next_id(&mut self) -> u64 {
        self.next_id = self.next_id.saturating_add(1);
        self.next_id
    }

    /// That this event does not belong into the present state.
    fn unexpected(&self, event: &'static str) -> ProtocolError {
        ProtocolError::Unexpected { state: self.state().name(), event }
    }
}
