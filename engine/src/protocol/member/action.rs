//! What a member asks of its host, and what it tells.

use core::fmt;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::super::error::{ErrorCode, ProtocolError};
use super::super::message::{JoinMember, NO_GENERATION, Request, TopicPartition};
use super::super::partition_set::PartitionSet;
use super::super::selection::RebalanceProtocol;

/// Names a request until its answer is handed back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestId(pub u64);

/// Names a commit until its outcome is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CommitId(pub u64);

/// Names a computation asked of the host when the member leads the group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AssignId(pub u64);

/// The partition counts of topics as one member knows them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Metadata {
    topics: BTreeMap<String, i32>,
}

impl Metadata {
    /// The counts of these topics; a topic that is not named does not exist.
    pub fn new<T: Into<String>>(topics: impl IntoIterator<Item = (T, i32)>) -> Self {
        Self { topics: topics.into_iter().map(|(topic, count)| (topic.into(), count)).collect() }
    }

    /// The number of partitions of a topic, if it exists.
    pub fn partitions(&self, topic: &str) -> Option<i32> {
        self.topics.get(topic).copied()
    }

    /// Whether the partition exists.
    pub fn contains(&self, partition: &TopicPartition) -> bool {
        self.partitions(&partition.topic).is_some_and(|count| (0..count).contains(&partition.partition))
    }

    /// The topics and their counts, by name.
    pub fn topics(&self) -> impl Iterator<Item = (&str, i32)> {
        self.topics.iter().map(|(topic, &count)| (topic.as_str(), count))
    }
}

/// Which topics the host should look up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MetadataScope {
    /// All topics of the cluster: the subscription is a pattern.
    All,
    /// These topics, sorted.
    Topics(Vec<String>),
}

/// Who a member is in its group: what a transactional producer sends along (KIP-447).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupMetadata {
    /// The group.
    pub group_id: String,
    /// The generation, or [`NO_GENERATION`].
    pub generation_id: i32,
    /// The member's id, or empty.
    pub member_id: String,
    /// The static name, if there is one.
    pub group_instance_id: Option<String>,
}

/// What the loop of transactions takes at each poll.
impl From<GroupMetadata> for crate::fence::GroupMetadata {
    fn from(member: GroupMetadata) -> Self {
        Self {
            group_id: member.group_id,
            generation: member.generation_id,
            member_id: member.member_id,
            group_instance_id: member.group_instance_id,
        }
    }
}

impl GroupMetadata {
    /// Whether it names a generation.
    pub fn is_member(&self) -> bool {
        self.generation_id != NO_GENERATION && !self.member_id.is_empty()
    }
}

/// Which callback of the application is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CallbackKind {
    /// These are new: `onPartitionsAssigned`.
    Assigned,
    /// These are given back in order; their offsets may still be committed: `onPartitionsRevoked`.
    Revoked,
    /// These were taken away; a commit must not be tried: `onPartitionsLost`.
    Lost,
}

impl CallbackKind {
    /// The callback's name in lower case.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Assigned => "assigned",
            Self::Revoked => "revoked",
            Self::Lost => "lost",
        }
    }
}

impl fmt::Display for CallbackKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A callback to run. Its partitions are a change, never the whole assignment, and never empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Callback {
    /// Which one.
    pub kind: CallbackKind,
    /// The partitions that come or go.
    pub partitions: PartitionSet,
    /// The membership as the callback should see it: already the new generation after an assignment (KAFKA-9741).
    pub metadata: GroupMetadata,
}

/// What the leader must compute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AssignRequest {
    /// To be given back with the outcome.
    pub id: AssignId,
    /// The generation it is for.
    pub generation_id: i32,
    /// The assignor that was selected.
    pub assignor: String,
    /// How members behave under it.
    pub protocol: RebalanceProtocol,
    /// Every member once, with its subscription's bytes.
    pub members: Vec<JoinMember>,
    /// The metadata to compute from. The member watches these counts for change afterwards.
    pub metadata: Arc<Metadata>,
}

/// Why a commit did not count.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum CommitError {
    /// The group is between two generations, or has gone on to another. Retriable if what is still owned may be
    /// committed again afterwards (cooperative); nothing was reset by it.
    RebalanceInProgress {
        /// Whether trying again after the rebalance makes sense.
        retriable: bool,
    },
    /// These partitions are not the member's (any more).
    NotOwned(PartitionSet),
    /// The member is not part of the group at present.
    NotMember,
    /// The broker refused.
    Refused(ErrorCode),
    /// No answer within the commit timeout.
    TimedOut,
}

impl CommitError {
    /// Whether the same offsets, if still owned, may be committed again later.
    pub fn is_retriable(&self) -> bool {
        matches!(self, Self::RebalanceInProgress { retriable: true } | Self::TimedOut)
    }
}

impl fmt::Display for CommitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::RebalanceInProgress { retriable: true } => {
                f.write_str("a rebalance is in progress; commit again when it is complete")
            }
            Self::RebalanceInProgress { retriable: false } => {
                f.write_str("the group has rebalanced; the partitions may have another owner now")
            }
            Self::NotOwned(partitions) => write!(f, "not owned by this member: {partitions}"),
            Self::NotMember => f.write_str("not a member of the group; poll until it has joined again"),
            Self::Refused(code) => write!(f, "refused with {code}; {}", code.remedy()),
            Self::TimedOut => f.write_str("no answer within the commit timeout"),
        }
    }
}

impl core::error::Error for CommitError {}

/// News for the application or its log.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Report {
    /// A rebalance is complete.
    Settled {
        /// The generation it led to.
        generation_id: i32,
        /// The assignor that was selected.
        assignor: String,
        /// Whether this member goes on to another round at once.
        follow_up: bool,
    },
    /// The first error among the callbacks that just ran. All of them ran, and the change counts as made.
    CallbackFailed {
        /// Which one failed first.
        kind: CallbackKind,
        /// Its partitions.
        partitions: PartitionSet,
        /// What the application said.
        message: String,
    },
    /// The group fell back to an eager assignor while this member still held partitions; it gives all of them up.
    FellBackToEager {
        /// The assignor.
        assignor: String,
        /// What is given up.
        partitions: PartitionSet,
    },
    /// The assignment names partitions of topics that this member does not subscribe to; they were left out.
    NotSubscribed(PartitionSet),
    /// The host's assignor failed; the member joins again after a back-off.
    AssignorFailed(String),
    /// Something that a peer sent could not be read; the member joins again after a back-off.
    Malformed(ProtocolError),
    /// The application gave no sign of life for too long; the member left the group.
    ApplicationStalled,
    /// The member stopped for good. The text has the remedy.
    Fatal(ProtocolError),
    /// An unsubscribe is complete.
    Unsubscribed,
    /// The member is closed.
    Closed {
        /// Whether the time for it ran out before all was done.
        timed_out: bool,
    },
}

/// What the host should do next.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Action {
    /// Send a request, in this order, on one connection.
    Send {
        /// To be given back with the answer.
        id: RequestId,
        /// The coordinator's broker; `None` for any broker.
        node: Option<i32>,
        /// What to send.
        request: Request,
    },
    /// Run a callback, then call [`Member::callback_finished`](super::Member::callback_finished).
    Callback(Callback),
    /// Look topics up, then call [`Member::handle_metadata`](super::Member::handle_metadata).
    RefreshMetadata(MetadataScope),
    /// Compute everybody's assignment, then call [`Member::assignment_computed`](super::Member::assignment_computed).
    Assign(AssignRequest),
    /// Tell the application how a commit ended.
    CommitDone {
        /// Which one.
        id: CommitId,
        /// How.
        result: Result<(), CommitError>,
    },
    /// Tell the application or the log.
    Report(Report),
}
