//! Who may commit: the checks on group, generation, member, instance and producer, as pure functions.

use core::fmt;

use crate::protocol::error::ErrorCode;
use crate::protocol::message::{OffsetCommitRequest, TxnOffsetCommitRequest};

/// Where a classic group stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum GroupPhase {
    /// No members; offsets may be stored.
    #[default]
    Empty,
    /// Waits for members to join the next generation.
    PreparingRebalance,
    /// All have joined; waits for the leader's assignment.
    CompletingRebalance,
    /// Every member has, or can fetch, its assignment.
    Stable,
    /// Being deleted or moved away.
    Dead,
}

impl GroupPhase {
    /// Every phase.
    pub const ALL: [Self; 5] =
        [Self::Empty, Self::PreparingRebalance, Self::CompletingRebalance, Self::Stable, Self::Dead];

    /// Kafka's name of the phase.
    pub fn name(self) -> &'static str {
        match self {
            Self::Empty => "Empty",
            Self::PreparingRebalance => "PreparingRebalance",
            Self::CompletingRebalance => "CompletingRebalance",
            Self::Stable => "Stable",
            Self::Dead => "Dead",
        }
    }
}

impl fmt::Display for GroupPhase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What the fence needs to know of a group.
pub trait Membership {
    /// Where the group stands.
    fn phase(&self) -> GroupPhase;
    /// The current generation.
    fn generation(&self) -> i32;
    /// Whether a member of the current generation has this id.
    fn has_member(&self, member_id: &str) -> bool;
    /// The member id that holds this `group.instance.id` now.
    fn instance_holder(&self, instance_id: &str) -> Option<&str>;
}

/// Which rules the fence follows for transactional commits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Rules {
    /// KIP-447's draft: the generation alone decides, a request without one is the old, unfenced client.
    Draft,
    /// Kafka since 2.5: generation, member and instance; a request that names none of them is accepted.
    #[default]
    Shipped,
    /// As shipped, but a request that names none of them is refused while the group has members.
    /// For an upgrade whose first round is over: nobody needs the unfenced door any more.
    Strict,
    /// No checks on the group at all: what brokers did before KIP-447. The simulator's canary.
    Off,
}

/// Who a commit says it comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CommitIdentity<'a> {
    /// The generation; negative for a client that is no member.
    pub generation: i32,
    /// The member id; empty for a client that is no member.
    pub member_id: &'a str,
    /// The static name, if any.
    pub instance_id: Option<&'a str>,
}

impl CommitIdentity<'_> {
    /// A client that names neither generation nor member nor instance.
    pub const NOBODY: CommitIdentity<'static> =
        CommitIdentity { generation: -1, member_id: "", instance_id: None };

    /// Whether the commit names nothing that could be checked.
    pub fn is_nobody(&self) -> bool {
        self.generation < 0 && self.member_id.is_empty() && self.instance_id.is_none()
    }
}

impl<'a> From<&'a OffsetCommitRequest> for CommitIdentity<'a> {
    fn from(request: &'a OffsetCommitRequest) -> Self {
        Self {
            generation: request.generation_id,
            member_id: &request.member_id,
            instance_id: request.group_instance_id.as_deref(),
        }
    }
}

impl<'a> From<&'a TxnOffsetCommitRequest> for CommitIdentity<'a> {
    fn from(request: &'a TxnOffsetCommitRequest) -> Self {
        Self {
            generation: request.generation_id,
            member_id: &request.member_id,
            instance_id: request.group_instance_id.as_deref(),
        }
    }
}

/// Why a commit was turned away, naming what was older.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum FenceError {
    /// The group is being deleted or moved.
    GroupGone,
    /// The generation is not the current one.
    Generation {
        /// What the commit said.
        given: i32,
        /// What the group has.
        current: i32,
    },
    /// No such member; an instance that nobody holds counts as one.
    Member {
        /// What the commit said.
        given: String,
    },
    /// The commit names nobody, but the group has members and only they may commit.
    Nobody,
    /// The instance is held by another member now.
    Instance {
        /// The static name.
        instance: String,
        /// The member id in the commit.
        given: String,
        /// The member id that holds the name.
        holder: String,
    },
    /// The producer's epoch is older than one seen before.
    ProducerEpoch {
        /// The producer.
        producer_id: i64,
        /// What the commit said.
        given: i16,
        /// The newest epoch seen.
        current: i16,
    },
    /// The transaction coordinator that ends the transaction was replaced.
    TransactionCoordinator {
        /// Its epoch.
        given: i32,
        /// The newest epoch seen.
        current: i32,
    },
    /// The member is right, but its generation has no assignment yet. Not a fence: join goes on, commit later.
    Rebalancing,
}

impl FenceError {
    /// The code to answer with.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::GroupGone => ErrorCode::CoordinatorNotAvailable,
            Self::Generation { .. } => ErrorCode::IllegalGeneration,
            Self::Member { .. } | Self::Nobody => ErrorCode::UnknownMemberId,
            Self::Instance { .. } => ErrorCode::FencedInstanceId,
            Self::ProducerEpoch { .. } => ErrorCode::InvalidProducerEpoch,
            Self::TransactionCoordinator { .. } => ErrorCode::TransactionCoordinatorFenced,
            Self::Rebalancing => ErrorCode::RebalanceInProgress,
        }
    }
}

impl fmt::Display for FenceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::GroupGone => f.write_str("the group is gone from this coordinator")?,
            Self::Generation { given, current } => {
                write!(f, "generation {given} is not the group's, which is {current}")?;
            }
            Self::Member { given } => write!(f, "the group has no member {given:?}")?,
            Self::Nobody => f.write_str("the commit names no member, but the group has members")?,
            Self::Instance { instance, given, holder } => {
                write!(f, "instance {instance:?} is held by member {holder:?}, not by {given:?}")?;
            }
            Self::ProducerEpoch { producer_id, given, current } => {
                write!(f, "epoch {given} of producer {producer_id} is older than {current}")?;
            }
            Self::TransactionCoordinator { given, current } => {
                write!(f, "transaction coordinator of epoch {given} was replaced by one of {current}")?;
            }
            Self::Rebalancing => f.write_str("the generation has no assignment yet")?,
        }
        write!(f, ": {}; {}", self.code(), self.code().remedy())
    }
}

impl core::error::Error for FenceError {}

/// Whether this member, under this static name if it has one, belongs to the group.
///
/// Source: KIP-345 (static members).
///
/// # Errors
///
/// [`FenceError::Instance`] if another member holds the name; [`FenceError::Member`] if the group has no such
/// member, or nobody holds the name.
pub fn admit_member(
    group: &impl Membership,
    member_id: &str,
    instance_id: Option<&str>,
) -> Result<(), FenceError> {
    if let Some(instance) = instance_id {
        match group.instance_holder(instance) {
            Some(holder) if holder != member_id => {
                return Err(FenceError::Instance {
                    instance: instance.into(),
                    given: member_id.into(),
                    holder: holder.into(),
                });
            }
            Some(_) => {}
            None => return Err(FenceError::Member { given: member_id.into() }),
        }
    }
    if group.has_member(member_id) { Ok(()) } else { Err(FenceError::Member { given: member_id.into() }) }
}

/// Whether a commit outside of a transaction may be stored.
///
/// A client that is no member (generation negative) may commit to an empty group: so tools set offsets, and
/// consumers that assign their partitions by hand keep them. While the assignment of a generation is being
/// made, its members are told to wait.
///
/// # Errors
///
/// Any [`FenceError`] but [`FenceError::ProducerEpoch`].
pub fn admit_commit(group: &impl Membership, identity: &CommitIdentity<'_>) -> Result<(), FenceError> {
    let phase = group.phase();
    if phase == GroupPhase::Dead {
        return Err(FenceError::GroupGone);
    }
    if identity.generation < 0 && phase == GroupPhase::Empty {
        return Ok(());
    }
    if identity.is_nobody() {
        return if phase == GroupPhase::Empty { Ok(()) } else { Err(FenceError::Nobody) };
    }
    admit_generation(group, identity)?;
    if phase == GroupPhase::CompletingRebalance { Err(FenceError::Rebalancing) } else { Ok(()) }
}

/// Whether a commit inside a transaction may become pending.
///
/// Unlike a plain commit it is accepted while the assignment is being made: its identity is of that very
/// generation, and pending offsets hold the next owner back (KIP-447).
///
/// # Errors
///
/// Any [`FenceError`] but [`FenceError::ProducerEpoch`] and [`FenceError::Rebalancing`].
///
/// # Examples
///
/// ```
/// use tenure::fence::{CommitIdentity, FenceError, GroupPhase, Membership, Rules, admit_transactional_commit};
///
/// struct Group;
/// impl Membership for Group {
///     fn phase(&self) -> GroupPhase { GroupPhase::Stable }
///     fn generation(&self) -> i32 { 7 }
///     fn has_member(&self, id: &str) -> bool { id == "b" }
///     fn instance_holder(&self, _: &str) -> Option<&str> { None }
/// }
///
/// // A zombie of generation 6 wakes up after the rebalance.
/// let zombie = CommitIdentity { generation: 6, member_id: "a", instance_id: None };
/// let refused = admit_transactional_commit(&Group, &zombie, Rules::Draft);
/// assert_eq!(refused, Err(FenceError::Generation { given: 6, current: 7 }));
/// let refused = admit_transactional_commit(&Group, &zombie, Rules::Shipped);
/// assert_eq!(refused, Err(FenceError::Member { given: "a".into() }));
///
/// // A producer that knows nothing of groups passes as shipped, and not once the upgrade is over.
/// let nobody = CommitIdentity::NOBODY;
/// assert!(admit_transactional_commit(&Group, &nobody, Rules::Shipped).is_ok());
/// assert_eq!(admit_transactional_commit(&Group, &nobody, Rules::Strict), Err(FenceError::Nobody));
/// ```
pub fn admit_transactional_commit(
    group: &impl Membership,
    identity: &CommitIdentity<'_>,
    rules: Rules,
) -> Result<(), FenceError> {
    let phase = group.phase();
    if phase == GroupPhase::Dead {
        return Err(FenceError::GroupGone);
    }
    match rules {
        Rules::Off => Ok(()),
        Rules::Draft if identity.generation < 0 || identity.generation == group.generation() => Ok(()),
        Rules::Draft => {
            Err(FenceError::Generation { given: identity.generation, current: group.generation() })
        }
        Rules::Shipped | Rules::Strict if identity.generation < 0 && phase == GroupPhase::Empty => Ok(()),
        Rules::Shipped if identity.is_nobody() => Ok(()),
        Rules::Strict if identity.is_nobody() => Err(FenceError::Nobody),
        Rules::Shipped | Rules::Strict => admit_generation(group, identity),
    }
}

/// Whether a producer of this epoch may still write, given the newest epoch seen of it.
///
/// # Errors
///
/// [`FenceError::ProducerEpoch`] if a newer epoch was seen.
pub fn admit_producer(producer_id: i64, given: i16, newest: Option<i16>) -> Result<(), FenceError> {
    match newest {
        Some(current) if given < current => Err(FenceError::ProducerEpoch { producer_id, given, current }),
        _ => Ok(()),
    }
}

/// Member first, generation second: the order in which the broker answers.
fn admit_generation(group: &impl Membership, identity: &CommitIdentity<'_>) -> Result<(), FenceError> {
    admit_member(group, identity.member_id, identity.instance_id)?;
    if identity.generation == group.generation() {
        Ok(())
    } else {
        Err(FenceError::Generation { given: identity.generation, current: group.generation() })
    }
}
