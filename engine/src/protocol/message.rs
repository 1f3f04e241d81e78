//! What members, producers and coordinators say to each other: plain, owned structs.
//!
//! No bytes of the wire here: `codec` turns these fields into a version's layout and back. Fields and their meaning
//! are Kafka's, with its conventions kept so that no value of a peer is lost: a generation is a plain `i32`,
//! [`NO_GENERATION`] means none; a member id is a string, empty means none. A field marked *draft* belongs to no
//! release and is `None` unless an option asks for it. Throttle times are the connection's business and left out.

use super::error::ErrorCode;

/// Whom to answer: the caller's own number for one request on one connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Caller(pub u64);

/// The generation of a client that is no member: what a simple consumer or an unfenced producer sends.
pub const NO_GENERATION: i32 = -1;

/// The producer id of a producer that has none.
pub const NO_PRODUCER_ID: i64 = -1;

/// The epoch that goes with [`NO_PRODUCER_ID`].
pub const NO_PRODUCER_EPOCH: i16 = -1;

/// The offset of a partition for which nothing was committed.
pub const NO_OFFSET: i64 = -1;

/// A topic's name and a partition's number in it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TopicPartition {
    /// The topic's name.
    pub topic: String,
    /// Kafka's number of the partition inside its topic.
    pub partition: i32,
}

impl TopicPartition {
    /// A partition of a topic.
    pub fn new(topic: impl Into<String>, partition: i32) -> Self {
        Self { topic: topic.into(), partition }
    }
}

impl core::fmt::Display for TopicPartition {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{}-{}", self.topic, self.partition)
    }
}

/// One assignor a member offers, with its subscription encoded for it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct JoinProtocol {
    /// The assignor's name.
    pub name: String,
    /// The member's subscription in that assignor's bytes.
    pub metadata: Vec<u8>,
    /// *Draft* (KIP-429): the assignor's version; the coordinator may make the highest one leader.
    pub version: Option<i32>,
}

/// Asks to be a member of the next generation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JoinGroupRequest {
    /// The request's version: from 4 on a new dynamic member can be told MEMBER_ID_REQUIRED, from 9 on a
    /// returning static leader can be told to skip the assignment.
    pub api_version: i16,
    /// The client id of the request's header; new member ids begin with it.
    pub client_id: String,
    /// The group.
    pub group_id: String,
    /// After so long without a heartbeat the member is dropped.
    pub session_timeout_ms: i32,
    /// So long the coordinator waits for this member to rejoin when a rebalance starts.
    pub rebalance_timeout_ms: i32,
    /// The id the coordinator gave; empty if none yet.
    pub member_id: String,
    /// A static member's name, stable over restarts.
    pub group_instance_id: Option<String>,
    /// "consumer" for consumers; all members of a group share one.
    pub protocol_type: String,
    /// The assignors offered, the preferred one first.
    pub protocols: Vec<JoinProtocol>,
    /// Why the member joins, for the broker's log.
    pub reason: Option<String>,
}

impl Default for JoinGroupRequest {
    fn default() -> Self {
        Self {
            api_version: 9,
            client_id: String::new(),
            group_id: String::new(),
            session_timeout_ms: 45_000,
            rebalance_timeout_ms: 300_000,
            member_id: String::new(),
            group_instance_id: None,
            protocol_type: "consumer".into(),
            protocols: Vec::new(),
            reason: None,
        }
    }
}

/// A member as the leader gets to see it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct JoinMember {
    /// The member's id.
    pub member_id: String,
    /// Its static name, if it has one.
    pub group_instance_id: Option<String>,
    /// Its subscription for the selected assignor.
    pub metadata: Vec<u8>,
}

/// The answer to [`JoinGroupRequest`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JoinGroupResponse {
    /// The outcome.
    pub error: ErrorCode,
    /// The new generation, or [`NO_GENERATION`] on an error.
    pub generation_id: i32,
    /// The group's protocol type.
    pub protocol_type: Option<String>,
    /// The assignor that was voted for.
    pub protocol_name: Option<String>,
    /// The leader's member id; empty on an error.
    pub leader: String,
    /// Told to a leader that must not compute an assignment (a static leader that came back in a stable group).
    pub skip_assignment: bool,
    /// The member's own id; on MEMBER_ID_REQUIRED the one to join with.
    pub member_id: String,
    /// For the leader: all members. Empty for everybody else.
    pub members: Vec<JoinMember>,
}

impl JoinGroupResponse {
    /// A refusal of the member with this id.
    pub fn refused(error: ErrorCode, member_id: impl Into<String>) -> Self {
        Self {
            error,
            generation_id: NO_GENERATION,
            protocol_type: None,
            protocol_name: None,
            leader: String::new(),
            skip_assignment: false,
            member_id: member_id.into(),
            members: Vec::new(),
        }
    }

    /// Whether the member that got this answer is the generation's leader.
    pub fn is_leader(&self) -> bool {
        self.error.is_none() && self.leader == self.member_id
    }
}

/// What one member is given, in the selected assignor's bytes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SyncAssignment {
    /// Whom it is for.
    pub member_id: String,
    /// The assignment's bytes.
    pub assignment: Vec<u8>,
}

/// Asks for the member's assignment; the leader brings everybody's.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SyncGroupRequest {
    /// The group.
    pub group_id: String,
    /// The generation joined.
    pub generation_id: i32,
    /// The member's id.
    pub member_id: String,
    /// Its static name, if it has one.
    pub group_instance_id: Option<String>,
    /// The protocol type the member believes in (from version 5 on).
    pub protocol_type: Option<String>,
    /// The assignor the member believes was selected (from version 5 on).
    pub protocol_name: Option<String>,
    /// From the leader: every member's assignment. Empty from everybody else.
    pub assignments: Vec<SyncAssignment>,
}

/// The answer to [`SyncGroupRequest`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SyncGroupResponse {
    /// The outcome.
    pub error: ErrorCode,
    /// The group's protocol type.
    pub protocol_type: Option<String>,
    /// The assignor that made the assignment.
    pub protocol_name: Option<String>,
    /// The member's assignment; empty on an error.
    pub assignment: Vec<u8>,
}

impl SyncGroupResponse {
    /// A refusal.
    pub fn refused(error: ErrorCode) -> Self {
        Self { error, ..Self::default() }
    }
}

/// Says that the member lives.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HeartbeatRequest {
    /// The group.
    pub group_id: String,
    /// The member's generation.
    pub generation_id: i32,
    /// The member's id.
    pub member_id: String,
    /// Its static name, if it has one.
    pub group_instance_id: Option<String>,
    /// *Draft* (KIP-429's outlook): the ids of the rebalance protocols this member supports.
    pub supported_protocols: Option<Vec<u8>>,
}

/// The answer to [`HeartbeatRequest`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HeartbeatResponse {
    /// The outcome; REBALANCE_IN_PROGRESS asks the member to join again.
    pub error: ErrorCode,
    /// *Draft* (KIP-429's outlook): the id of the rebalance protocol to use if `error` asks to join again.
    pub protocol_to_use: Option<u8>,
}

/// One member that leaves, or is removed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LeavingMember {
    /// Its id; may be empty if the static name is given.
    pub member_id: String,
    /// Its static name, if it has one.
    pub group_instance_id: Option<String>,
    /// Why, for the broker's log.
    pub reason: Option<String>,
}

/// Takes members out of the group.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LeaveGroupRequest {
    /// The group.
    pub group_id: String,
    /// The members; before version 3 exactly one.
    pub members: Vec<LeavingMember>,
}

impl LeaveGroupRequest {
    /// One dynamic member leaves.
    pub fn single(group_id: impl Into<String>, member_id: impl Into<String>) -> Self {
        Self {
            group_id: group_id.into(),
            members: vec![LeavingMember { member_id: member_id.into(), ..LeavingMember::default() }],
        }
    }
}

/// The outcome for one leaving member.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LeftMember {
    /// The id as it was asked for.
    pub member_id: String,
    /// The static name as it was asked for.
    pub group_instance_id: Option<String>,
    /// The outcome.
    pub error: ErrorCode,
}

/// The answer to [`LeaveGroupRequest`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LeaveGroupResponse {
    /// The outcome of the whole request.
    pub error: ErrorCode,
    /// The outcome for each member, in the order asked for; empty when the whole request failed.
    pub members: Vec<LeftMember>,
}

impl LeaveGroupResponse {
    /// The first error of all: what a version below 3 answers to its single member.
    pub fn first_error(&self) -> ErrorCode {
        if self.error.is_error() {
            return self.error;
        }
        self.members.iter().map(|member| member.error).find(|error| error.is_error()).unwrap_or_default()
    }
}

/// An offset with what is stored beside it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CommittedOffset {
    /// The next offset to read.
    pub offset: i64,
    /// The leader epoch of the last record read, or −1.
    pub leader_epoch: i32,
    /// The application's text.
    pub metadata: String,
}

impl CommittedOffset {
    /// An offset with nothing beside it.
    pub fn new(offset: i64) -> Self {
        Self { offset, leader_epoch: -1, metadata: String::new() }
    }
}

/// Commits offsets outside of a transaction.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OffsetCommitRequest {
    /// The request's version: from 9 on a generation of a group that is not there is answered GROUP_ID_NOT_FOUND,
    /// before that ILLEGAL_GENERATION.
    pub api_version: i16,
    /// The group.
    pub group_id: String,
    /// The member's generation, or [`NO_GENERATION`] from a client that is no member.
    pub generation_id: i32,
    /// The member's id, or empty.
    pub member_id: String,
    /// Its static name, if it has one.
    pub group_instance_id: Option<String>,
    /// What to commit.
    pub offsets: Vec<(TopicPartition, CommittedOffset)>,
}

/// The answer to [`OffsetCommitRequest`] and [`TxnOffsetCommitRequest`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OffsetCommitResponse {
    /// The outcome for each partition, in the order asked for.
    pub partitions: Vec<(TopicPartition, ErrorCode)>,
}

impl OffsetCommitResponse {
    /// The same outcome for all partitions of a request.
    pub fn all(offsets: &[(TopicPartition, CommittedOffset)], error: ErrorCode) -> Self {
        Self { partitions: offsets.iter().map(|(partition, _)| (partition.clone(), error)).collect() }
    }

    /// The first error among the partitions.
    pub fn first_error(&self) -> ErrorCode {
        self.partitions.iter().map(|&(_, error)| error).find(|error| error.is_error()).unwrap_or_default()
    }
}

/// Asks for committed offsets.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OffsetFetchRequest {
    /// The group.
    pub group_id: String,
    /// The partitions; `None` asks for all that have a committed offset.
    pub partitions: Option<Vec<TopicPartition>>,
    /// Whether an offset that a pending transaction may change is refused rather than given (KIP-447).
    pub require_stable: bool,
}

/// One partition's committed offset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FetchedOffset {
    /// The partition.
    pub partition: TopicPartition,
    /// Its committed offset; `None` if there is none, or on an error.
    pub committed: Option<CommittedOffset>,
    /// UNSTABLE_OFFSET_COMMIT (draft: PENDING_TRANSACTION) if a transaction may still change it.
    pub error: ErrorCode,
}

/// The answer to [`OffsetFetchRequest`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OffsetFetchResponse {
    /// The outcome of the whole request.
    pub error: ErrorCode,
    /// The partitions in the order asked for, or sorted if all were asked for.
    pub partitions: Vec<FetchedOffset>,
}

/// Commits offsets as part of a transaction: they count once the transaction is committed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TxnOffsetCommitRequest {
    /// The producer's transactional id.
    pub transactional_id: String,
    /// The group whose offsets these are.
    pub group_id: String,
    /// The producer's id.
    pub producer_id: i64,
    /// The producer's epoch.
    pub producer_epoch: i16,
    /// The consumer's generation (KIP-447), or [`NO_GENERATION`] from a producer that knows none.
    pub generation_id: i32,
    /// The consumer's member id, or empty.
    pub member_id: String,
    /// The consumer's static name, if it has one.
    pub group_instance_id: Option<String>,
    /// What to commit.
    pub offsets: Vec<(TopicPartition, CommittedOffset)>,
}

/// Asks for a producer id and epoch; fences whoever had them before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InitProducerIdRequest {
    /// The transactional id; `None` for a producer that is only idempotent, or known by its group alone.
    pub transactional_id: Option<String>,
    /// So long may a transaction stay open.
    pub transaction_timeout_ms: i32,
    /// The id the producer has, to raise its epoch; else [`NO_PRODUCER_ID`].
    pub producer_id: i64,
    /// The epoch the producer has, or [`NO_PRODUCER_EPOCH`].
    pub producer_epoch: i16,
    /// *Draft* (KIP-447): the consumer group that the producer works for.
    pub transactional_group_id: Option<String>,
    /// *Draft* (KIP-447, prose only): the consumer's generation; an earlier one than was seen is refused.
    pub generation_id: Option<i32>,
}

impl Default for InitProducerIdRequest {
    fn default() -> Self {
        Self {
            transactional_id: None,
            transaction_timeout_ms: 60_000,
            producer_id: NO_PRODUCER_ID,
            producer_epoch: NO_PRODUCER_EPOCH,
            transactional_group_id: None,
            generation_id: None,
        }
    }
}

/// The answer to [`InitProducerIdRequest`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InitProducerIdResponse {
    /// The outcome.
    pub error: ErrorCode,
    /// The producer's id, or [`NO_PRODUCER_ID`] on an error.
    pub producer_id: i64,
    /// The producer's epoch.
    pub producer_epoch: i16,
}

impl InitProducerIdResponse {
    /// A refusal.
    pub fn refused(error: ErrorCode) -> Self {
        Self { error, producer_id: NO_PRODUCER_ID, producer_epoch: NO_PRODUCER_EPOCH }
    }
}

/// Tells the transaction coordinator which partitions the transaction writes to, before the first write.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AddPartitionsToTxnRequest {
    /// The producer's transactional id; empty for a producer known by its group alone (draft).
    pub transactional_id: String,
    /// The producer's id.
    pub producer_id: i64,
    /// The producer's epoch.
    pub producer_epoch: i16,
    /// The partitions.
    pub partitions: Vec<TopicPartition>,
}

/// The answer to [`AddPartitionsToTxnRequest`]: all partitions or none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AddPartitionsToTxnResponse {
    /// The outcome.
    pub error: ErrorCode,
}

/// Tells the transaction coordinator that the transaction commits offsets of a group.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AddOffsetsToTxnRequest {
    /// The producer's transactional id; empty for a producer known by its group alone (draft).
    pub transactional_id: String,
    /// The producer's id.
    pub producer_id: i64,
    /// The producer's epoch.
    pub producer_epoch: i16,
    /// The group.
    pub group_id: String,
}

/// The answer to [`AddOffsetsToTxnRequest`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AddOffsetsToTxnResponse {
    /// The outcome.
    pub error: ErrorCode,
}

/// Ends a transaction.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EndTxnRequest {
    /// The producer's transactional id; empty for a producer known by its group alone (draft).
    pub transactional_id: String,
    /// The producer's id.
    pub producer_id: i64,
    /// The producer's epoch.
    pub producer_epoch: i16,
    /// Commit, or abort.
    pub committed: bool,
}

/// The answer to [`EndTxnRequest`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EndTxnResponse {
    /// The outcome.
    pub error: ErrorCode,
    /// The producer id to go on with (version 5), or [`NO_PRODUCER_ID`] to keep the one at hand.
    pub producer_id: i64,
    /// The epoch to go on with.
    pub producer_epoch: i16,
}

impl EndTxnResponse {
    /// A refusal.
    pub fn refused(error: ErrorCode) -> Self {
        Self { error, producer_id: NO_PRODUCER_ID, producer_epoch: NO_PRODUCER_EPOCH }
    }
}

/// The transaction coordinator's word to a group coordinator: this producer's pending offsets count, or are dropped.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TxnMarkerRequest {
    /// The group whose pending offsets are meant.
    pub group_id: String,
    /// The producer's id.
    pub producer_id: i64,
    /// The producer's epoch.
    pub producer_epoch: i16,
    /// Commit, or abort.
    pub committed: bool,
    /// The transaction coordinator's own epoch; an older one is refused.
    pub coordinator_epoch: i32,
    /// From 2 on each transaction has an epoch of its own (KIP-890), so a marker seen twice can be told.
    pub transaction_version: i8,
}

/// The answer to [`TxnMarkerRequest`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TxnMarkerResponse {
    /// The outcome.
    pub error: ErrorCode,
}

/// What a key of [`FindCoordinatorRequest`] names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum CoordinatorKind {
    /// 0: a group's coordinator, by group id.
    #[default]
    Group,
    /// 1: a transaction coordinator, by transactional id.
    Transaction,
    /// 2, *draft* (KIP-447): a transaction coordinator, by group id. Releases use 2 for share groups.
    TransactionByGroup,
}

impl CoordinatorKind {
    /// The number on the wire.
    pub fn id(self) -> i8 {
        match self {
            Self::Group => 0,
            Self::Transaction => 1,
            Self::TransactionByGroup => 2,
        }
    }
}

/// Asks which broker coordinates a group or a transaction.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FindCoordinatorRequest {
    /// A group id or a transactional id.
    pub key: String,
    /// Which of them.
    pub kind: CoordinatorKind,
}

/// The answer to [`FindCoordinatorRequest`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FindCoordinatorResponse {
    /// The outcome.
    pub error: ErrorCode,
    /// The broker's number; −1 on an error.
    pub node_id: i32,
}

/// Any request of this module.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "each variant is the request of its name")]
#[non_exhaustive]
pub enum Request {
    JoinGroup(JoinGroupRequest),
    SyncGroup(SyncGroupRequest),
    Heartbeat(HeartbeatRequest),
    LeaveGroup(LeaveGroupRequest),
    OffsetCommit(OffsetCommitRequest),
    OffsetFetch(OffsetFetchRequest),
    TxnOffsetCommit(TxnOffsetCommitRequest),
    TxnMarker(TxnMarkerRequest),
    InitProducerId(InitProducerIdRequest),
    AddPartitionsToTxn(AddPartitionsToTxnRequest),
    AddOffsetsToTxn(AddOffsetsToTxnRequest),
    EndTxn(EndTxnRequest),
    FindCoordinator(FindCoordinatorRequest),
}

impl Request {
    /// Kafka's name of the request.
    pub fn name(&self) -> &'static str {
        match self {
            Self::JoinGroup(_) => "JoinGroup",
            Self::SyncGroup(_) => "SyncGroup",
            Self::Heartbeat(_) => "Heartbeat",
            Self::LeaveGroup(_) => "LeaveGroup",
            Self::OffsetCommit(_) => "OffsetCommit",
            Self::OffsetFetch(_) => "OffsetFetch",
            Self::TxnOffsetCommit(_) => "TxnOffsetCommit",
            Self::TxnMarker(_) => "WriteTxnMarkers",
            Self::InitProducerId(_) => "InitProducerId",
            Self::AddPartitionsToTxn(_) => "AddPartitionsToTxn",
            Self::AddOffsetsToTxn(_) => "AddOffsetsToTxn",
            Self::EndTxn(_) => "EndTxn",
            Self::FindCoordinator(_) => "FindCoordinator",
        }
    }
}

/// Any answer of this module.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "each variant is the answer of its name")]
#[non_exhaustive]
pub enum Response {
    JoinGroup(JoinGroupResponse),
    SyncGroup(SyncGroupResponse),
    Heartbeat(HeartbeatResponse),
    LeaveGroup(LeaveGroupResponse),
    OffsetCommit(OffsetCommitResponse),
    OffsetFetch(OffsetFetchResponse),
    TxnOffsetCommit(OffsetCommitResponse),
    TxnMarker(TxnMarkerResponse),
    InitProducerId(InitProducerIdResponse),
    AddPartitionsToTxn(AddPartitionsToTxnResponse),
    AddOffsetsToTxn(AddOffsetsToTxnResponse),
    EndTxn(EndTxnResponse),
    FindCoordinator(FindCoordinatorResponse),
}

impl Response {
    /// Kafka's name of the request that it answers.
    pub fn name(&self) -> &'static str {
        match self {
            Self::JoinGroup(_) => "JoinGroup",
            Self::SyncGroup(_) => "SyncGroup",
            Self::Heartbeat(_) => "Heartbeat",
            Self::LeaveGroup(_) => "LeaveGroup",
            Self::OffsetCommit(_) => "OffsetCommit",
            Self::OffsetFetch(_) => "OffsetFetch",
            Self::TxnOffsetCommit(_) => "TxnOffsetCommit",
            Self::TxnMarker(_) => "WriteTxnMarkers",
            Self::InitProducerId(_) => "InitProducerId",
            Self::AddPartitionsToTxn(_) => "AddPartitionsToTxn",
            Self::AddOffsetsToTxn(_) => "AddOffsetsToTxn",
            Self::EndTxn(_) => "EndTxn",
            Self::FindCoordinator(_) => "FindCoordinator",
        }
    }

    /// The answer's first error, wherever its layout keeps it.
    pub fn error(&self) -> ErrorCode {
        match self {
            Self::JoinGroup(response) => response.error,
            Self::SyncGroup(response) => response.error,
            Self::Heartbeat(response) => response.error,
            Self::LeaveGroup(response) => response.first_error(),
            Self::OffsetCommit(response) | Self::TxnOffsetCommit(response) => response.first_error(),
            Self::OffsetFetch(response) if response.error.is_error() => response.error,
            Self::OffsetFetch(response) => {
                response.partitions.iter().map(|one| one.error).find(|one| one.is_error()).unwrap_or_default()
            }
            Self::TxnMarker(response) => response.error,
            Self::InitProducerId(response) => response.error,
            Self::AddPartitionsToTxn(response) => response.error,
            Self::AddOffsetsToTxn(response) => response.error,
            Self::EndTxn(response) => response.error,
            Self::FindCoordinator(response) => response.error,
        }
    }
}

/// Lets a request or answer be given where any is taken.
macro_rules! from_parts {
    ($sum:ident: $($part:ident => $variant:ident),* $(,)?) => {
        $( impl From<$part> for $sum {
            fn from(part: $part) -> Self {
                Self::$variant(part)
            }
        } )*
    };
}

from_parts!(Request:
    JoinGroupRequest => JoinGroup, SyncGroupRequest => SyncGroup, HeartbeatRequest => Heartbeat,
    LeaveGroupRequest => LeaveGroup, OffsetCommitRequest => OffsetCommit, OffsetFetchRequest => OffsetFetch,
    TxnOffsetCommitRequest => TxnOffsetCommit, TxnMarkerRequest => TxnMarker,
    InitProducerIdRequest => InitProducerId, AddPartitionsToTxnRequest => AddPartitionsToTxn,
    AddOffsetsToTxnRequest => AddOffsetsToTxn, EndTxnRequest => EndTxn, FindCoordinatorRequest => FindCoordinator,
);

from_parts!(Response:
    JoinGroupResponse => JoinGroup, SyncGroupResponse => SyncGroup, HeartbeatResponse => Heartbeat,
    LeaveGroupResponse => LeaveGroup, OffsetFetchResponse => OffsetFetch, TxnMarkerResponse => TxnMarker,
    InitProducerIdResponse => InitProducerId, AddPartitionsToTxnResponse => AddPartitionsToTxn,
    AddOffsetsToTxnResponse => AddOffsetsToTxn, EndTxnResponse => EndTxn, FindCoordinatorResponse => FindCoordinator,
);
