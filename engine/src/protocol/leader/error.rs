//! Why a leader could not lead a round.

use alloc::boxed::Box;
use alloc::string::String;
use core::fmt;

use crate::codec::DecodeError;
use crate::plan::ShapeError;
use crate::topology::BuildError;

/// Why a round was refused. Nothing is assigned then; the text says what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum LeaderError {
    /// The response lists nobody.
    NoMembers,
    /// The leader is not among the members.
    LeaderNotAmongMembers {
        /// The leader's id.
        leader: String,
        /// How many members there are.
        members: usize,
    },
    /// The coordinator selected an assignor that this leader does not have.
    UnknownProtocol {
        /// The assignor's name.
        name: String,
    },
    /// A member id is listed twice.
    DuplicateMember {
        /// The id.
        member: String,
        /// Where it comes first, from 0.
        first: usize,
        /// Where it comes again.
        again: usize,
    },
    /// A member sent no subscription at all.
    EmptySubscription {
        /// The member's id.
        member: String,
        /// Its place in the response, from 0.
        position: usize,
    },
    /// A member's subscription can't be read.
    Subscription {
        /// The member's id.
        member: String,
        /// Its place in the response, from 0.
        position: usize,
        /// What is wrong, and at which byte.
        error: DecodeError,
    },
    /// The members do not make a group: too many of them, too many claims, or too much text.
    Group(BuildError),
    /// A topic's name has more bytes than the wire's length field can say.
    TopicName {
        /// Bytes of the name.
        len: usize,
    },
    /// A fault of this library.
    Internal(Box<ShapeError>),
}

impl LeaderError {
    /// A short, stable name of the kind, for programs.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::NoMembers => "no-members",
            Self::LeaderNotAmongMembers { .. } => "leader-not-among-members",
            Self::UnknownProtocol { .. } => "unknown-protocol",
            Self::DuplicateMember { .. } => "duplicate-member",
            Self::EmptySubscription { .. } => "empty-subscription",
            Self::Subscription { .. } => "subscription",
            Self::Group(_) => "group",
            Self::TopicName { .. } => "topic-name",
            Self::Internal(_) => "internal",
        }
    }
}

impl fmt::Display for LeaderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoMembers => {
                f.write_str("the group has no members; lead only after a JoinGroup response that lists them")
            }
            Self::LeaderNotAmongMembers { leader, members } => write!(
                f,
                "leader {leader:?} is not among the {members} members; pass the leader of the same JoinGroup \
                 response, or join again"
            ),
            Self::UnknownProtocol { name } => write!(
                f,
                "unknown assignor {name:?}; offer only cooperative-sticky, tenure-cooperative-sticky, sticky, range \
                 or roundrobin when joining"
            ),
            Self::DuplicateMember { member, first, again } => write!(
                f,
                "member {member:?} is listed twice, at {first} and {again}; join again, or let the first entry count \
                 (DuplicateMembers::FirstCounts)"
            ),
            Self::EmptySubscription { member, position } => write!(
                f,
                "member {member:?} at {position} sent no subscription; it must send its topics with JoinGroup: \
                 upgrade or remove it"
            ),
            Self::Subscription { member, position, error } => write!(
                f,
                "the subscription of member {member:?} at {position} can't be read: {error}; upgrade or remove the \
                 member"
            ),
            Self::Group(error) => write!(f, "the members make no group: {error}"),
            Self::TopicName { len } => write!(
                f,
                "a topic's name has {len} bytes, at most 32767 can be written; leave the topic out of the topology"
            ),
            Self::Internal(error) => write!(f, "a fault of tenure, please report it: {error}"),
        }
    }
}

impl core::error::Error for LeaderError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::Subscription { error, .. } => Some(error),
            Self::Group(error) => Some(error),
            Self::Internal(error) => Some(&**error),
            _ => None,
        }
    }
}

impl From<BuildError> for LeaderError {
    fn from(error: BuildError) -> Self {
        Self::Group(error)
    }
}

impl From<ShapeError> for LeaderError {
    fn from(error: ShapeError) -> Self {
        Self::Internal(Box::new(error))
    }
}
