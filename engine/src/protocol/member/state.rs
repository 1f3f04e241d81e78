//! The waiting states of a member. Each carries what only it needs, and is moved by value.

use core::fmt;

use super::super::message::JoinMember;
use super::super::selection::RebalanceProtocol;
use super::action::{AssignId, RequestId};

/// Where a member stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum MemberState {
    /// Subscribed to nothing, in no group.
    Idle,
    /// The callbacks that come before a join are running.
    Preparing,
    /// Waits for metadata before it joins: the subscription is a pattern.
    Refreshing,
    /// Waits to learn who the coordinator is before it joins.
    Discovering,
    /// Waits before it tries to join again.
    BackingOff,
    /// JoinGroup is on its way.
    Joining,
    /// The group fell back to an eager assignor; what is still held is being given up before SyncGroup.
    FallingBack,
    /// The leader waits for metadata of topics that only others subscribe to.
    RefreshingLeader,
    /// The leader waits for its host to compute the assignment.
    Assigning,
    /// SyncGroup is on its way.
    Syncing,
    /// The callbacks that follow an assignment are running.
    Completing,
    /// Member of a generation, with nothing to do but its work.
    Stable,
    /// Left the group because the application gave no sign of life.
    Stalled,
    /// Leaves: callbacks, last commits, LeaveGroup.
    Leaving,
    /// Closed.
    Closed,
    /// Stopped by an error that trying again can't mend.
    Fatal,
}

impl MemberState {
    /// All states.
    pub const ALL: [Self; 16] = [
        Self::Idle,
        Self::Preparing,
        Self::Refreshing,
        Self::Discovering,
        Self::BackingOff,
        Self::Joining,
        Self::FallingBack,
        Self::RefreshingLeader,
        Self::Assigning,
        Self::Syncing,
        Self::Completing,
        Self::Stable,
        Self::Stalled,
        Self::Leaving,
        Self::Closed,
        Self::Fatal,
    ];

    /// The state's name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Idle => "Idle",
            Self::Preparing => "Preparing",
            Self::Refreshing => "Refreshing",
            Self::Discovering => "Discovering",
            Self::BackingOff => "BackingOff",
            Self::Joining => "Joining",
            Self::FallingBack => "FallingBack",
            Self::RefreshingLeader => "RefreshingLeader",
            Self::Assigning => "Assigning",
            Self::Syncing => "Syncing",
            Self::Completing => "Completing",
            Self::Stable => "Stable",
            Self::Stalled => "Stalled",
            Self::Leaving => "Leaving",
            Self::Closed => "Closed",
            Self::Fatal => "Fatal",
        }
    }
}

impl fmt::Display for MemberState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Why a member joins (again); goes to the broker's log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum RejoinReason {
    FirstJoin,
    SubscriptionChanged,
    MetadataChanged,
    PartitionsBack,
    RebalanceInProgress,
    MembershipReset,
    CommitRefused,
    Revoked,
    FollowUp,
    Retry,
    Requested(String),
}

impl RejoinReason {
    pub(super) fn text(&self) -> &str {
        match self {
            Self::FirstJoin => "the application subscribed",
            Self::SubscriptionChanged => "the subscription changed",
            Self::MetadataChanged => "the leader saw topics or partitions change",
            Self::PartitionsBack => "partitions that had gone are back",
            Self::RebalanceInProgress => "the coordinator is rebalancing",
            Self::MembershipReset => "the membership was no longer valid",
            Self::CommitRefused => "a commit was refused",
            Self::Revoked => "partitions were revoked and may go to their new owner",
            Self::FollowUp => "the assignment asked for another round",
            Self::Retry => "an earlier try failed",
            Self::Requested(reason) => reason,
        }
    }
}

/// The outcome of a join, carried until the assignment is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Joined {
    pub(super) generation_id: i32,
    pub(super) assignor: String,
    pub(super) protocol: RebalanceProtocol,
    pub(super) leads: bool,
    pub(super) skip_assignment: bool,
    pub(super) members: Vec<JoinMember>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AfterLeave {
    Idle,
    Closed,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LeavePhase {
    /// Callbacks for all that is owned.
    Callbacks,
    /// Commits that the application made before and in the callbacks.
    Commits,
    /// The first join is on its way: its answer has the member id to leave with.
    AwaitJoin(RequestId),
    /// LeaveGroup, once the coordinator is known.
    Request(Option<RequestId>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Leaving {
    pub(super) phase: LeavePhase,
    pub(super) after: AfterLeave,
    pub(super) deadline_ms: u64,
    /// A first join whose answer may still bring a member id.
    pub(super) join: Option<RequestId>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum State {
    Idle,
    Preparing,
    Refreshing { retry_at_ms: u64 },
    Discovering,
    BackingOff { until_ms: u64 },
    Joining { request: RequestId },
    FallingBack(Joined),
    RefreshingLeader { joined: Joined, retry_at_ms: u64 },
    Assigning { joined: Joined, id: AssignId },
    Syncing { joined: Joined, request: RequestId },
    Completing { assignor: String },
    Stable,
    Stalled,
    Leaving(Leaving),
    Closed,
    Fatal,
}

impl State {
    pub(super) fn kind(&self) -> MemberState {
        match self {
            Self::Idle => MemberState::Idle,
            Self::Preparing => MemberState::Preparing,
            Self::Refreshing { .. } => MemberState::Refreshing,
            Self::Discovering => MemberState::Discovering,
            Self::BackingOff { .. } => MemberState::BackingOff,
            Self::Joining { .. } => MemberState::Joining,
            Self::FallingBack(_) => MemberState::FallingBack,
            Self::RefreshingLeader { .. } => MemberState::RefreshingLeader,
            Self::Assigning { .. } => MemberState::Assigning,
            Self::Syncing { .. } => MemberState::Syncing,
            Self::Completing { .. } => MemberState::Completing,
            Self::Stable => MemberState::Stable,
            Self::Stalled => MemberState::Stalled,
            Self::Leaving(_) => MemberState::Leaving,
            Self::Closed => MemberState::Closed,
            Self::Fatal => MemberState::Fatal,
        }
    }

    /// Whether the coordinator counts the member in and expects its heartbeats.
    pub(super) fn beats(&self) -> bool {
        matches!(
            self,
            Self::Preparing
                | Self::Refreshing { .. }
                | Self::FallingBack(_)
                | Self::RefreshingLeader { .. }
                | Self::Assigning { .. }
                | Self::Syncing { .. }
                | Self::Completing { .. }
                | Self::Stable
        )
    }

    /// Whether commits may be sent under the generation that was completed last.
    pub(super) fn commits(&self) -> bool {
        match self {
            Self::Preparing
            | Self::Refreshing { .. }
            | Self::Discovering
            | Self::Completing { .. }
            | Self::Stable => true,
            Self::Leaving(leaving) => matches!(leaving.phase, LeavePhase::Callbacks | LeavePhase::Commits),
            _ => false,
        }
    }
}
