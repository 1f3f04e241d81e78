//! Kafka's error codes as the group and transaction protocols use them, and the errors of this room.

use core::fmt;

/// Writes the enum, its numbers, names, retriability and remedies from one table, so that none can be forgotten.
macro_rules! error_codes {
    ($( $(#[$doc:meta])* $variant:ident = $code:literal, $name:literal, $retriable:literal, $remedy:literal; )*) => {
        /// An error code of Kafka, with Kafka's number and name.
        ///
        /// Units: the number is the wire's signed 16 bits. `PendingTransaction` is the one code of a draft (KIP-447);
        /// releases gave its number, 86, to `GroupSubscribedToTopic`, so [`from_code`](Self::from_code) never
        /// answers it and [`from_draft_code`](Self::from_draft_code) does.
        ///
        /// # Examples
        ///
        /// ```
        /// use tenure::protocol::error::ErrorCode;
        ///
        /// let code = ErrorCode::from_code(22);
        /// assert_eq!(code, ErrorCode::IllegalGeneration);
        /// assert_eq!(code.to_string(), "ILLEGAL_GENERATION (22)");
        /// assert!(!code.is_retriable());
        /// assert_eq!(ErrorCode::from_code(777).code(), 777);
        /// ```
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
        #[non_exhaustive]
        pub enum ErrorCode {
            $( $(#[$doc])* $variant, )*
            /// A code that this table doesn't name, kept as it was read.
            Other(i16),
        }

        impl ErrorCode {
            /// Every named code, in the order of the table.
            pub const ALL: &'static [Self] = &[$( Self::$variant, )*];

            /// The code with this number, as releases number them.
            pub fn from_code(code: i16) -> Self {
                Self::ALL
                    .iter()
                    .copied()
                    .find(|known| known.code() == code && !known.is_draft())
                    .unwrap_or(Self::Other(code))
            }

            /// The number on the wire.
            pub fn code(self) -> i16 {
                match self {
                    $( Self::$variant => $code, )*
                    Self::Other(code) => code,
                }
            }

            /// Kafka's name.
            pub fn name(self) -> &'static str {
                match self {
                    $( Self::$variant => $name, )*
                    Self::Other(_) => "UNNAMED_ERROR",
                }
            }

            /// Whether the same request, unchanged, may succeed later.
            pub fn is_retriable(self) -> bool {
                match self {
                    $( Self::$variant => $retriable, )*
                    Self::Other(_) => false,
                }
            }

            /// What to do about it.
            pub fn remedy(self) -> &'static str {
                match self {
                    $( Self::$variant => $remedy, )*
                    Self::Other(_) => "look the number up in the broker's release notes",
                }
            }
        }
    };
}

error_codes! {
    /// Success.
    #[default]
    None = 0, "NONE", false, "nothing to do";
    /// The broker failed in a way it did not expect.
    UnknownServerError = -1, "UNKNOWN_SERVER_ERROR", false, "read the broker's log at the time of the request";
    /// The topic or partition does not exist on this broker.
    UnknownTopicOrPartition = 3, "UNKNOWN_TOPIC_OR_PARTITION", true, "refresh the metadata and try again";
    /// The broker could not finish in time.
    RequestTimedOut = 7, "REQUEST_TIMED_OUT", true, "try again after a back-off";
    /// A record is above the topic's `max.message.bytes`.
    MessageTooLarge = 10, "MESSAGE_TOO_LARGE", false, "make the record smaller or raise max.message.bytes of the topic";
    /// The text beside a committed offset is too long.
    OffsetMetadataTooLarge = 12, "OFFSET_METADATA_TOO_LARGE", false, "shorten the commit's metadata or raise offset.metadata.max.bytes";
    /// The coordinator still reads its log after a move.
    CoordinatorLoadInProgress = 14, "COORDINATOR_LOAD_IN_PROGRESS", true, "ask the same broker again after a back-off";
    /// No coordinator can be named at present.
    CoordinatorNotAvailable = 15, "COORDINATOR_NOT_AVAILABLE", true, "look the coordinator up again after a back-off";
    /// The broker asked is not the coordinator of this group or transaction.
    NotCoordinator = 16, "NOT_COORDINATOR", true, "look the coordinator up again and send the request there";
    /// The generation is not the group's current one.
    IllegalGeneration = 22, "ILLEGAL_GENERATION", false, "join the group again; abort what was done under the old generation";
    /// The member's protocol type or its list of protocols does not fit the group.
    InconsistentGroupProtocol = 23, "INCONSISTENT_GROUP_PROTOCOL", false,
        "no assignor is common to all members: restart the group twice, rolling; first list the new assignor beside the old one in every member, then remove the old one";
    /// The group id is empty or otherwise invalid.
    InvalidGroupId = 24, "INVALID_GROUP_ID", false, "set a group id that is not empty";
    /// The group has no such member.
    UnknownMemberId = 25, "UNKNOWN_MEMBER_ID", false, "treat all partitions as lost and join again without a member id";
    /// The session timeout is outside the broker's limits.
    InvalidSessionTimeout = 26, "INVALID_SESSION_TIMEOUT", false,
        "choose session.timeout.ms between the broker's group.min.session.timeout.ms and group.max.session.timeout.ms";
    /// The group is between two generations.
    RebalanceInProgress = 27, "REBALANCE_IN_PROGRESS", false, "join again, then retry what was refused";
    /// The offset in a commit can't be stored.
    InvalidCommitOffsetSize = 28, "INVALID_COMMIT_OFFSET_SIZE", false, "make the commit smaller";
    /// The principal may not use this topic.
    TopicAuthorizationFailed = 29, "TOPIC_AUTHORIZATION_FAILED", false, "grant READ on the topic";
    /// The principal may not use this group.
    GroupAuthorizationFailed = 30, "GROUP_AUTHORIZATION_FAILED", false, "grant READ on the group";
    /// The broker does not know this version of the request.
    UnsupportedVersion = 35, "UNSUPPORTED_VERSION", false, "use a version from the broker's ApiVersions answer";
    /// The request contradicts itself.
    InvalidRequest = 42, "INVALID_REQUEST", false, "compare the request's fields with the protocol's description";
    /// A producer's batch does not follow the one before.
    OutOfOrderSequenceNumber = 45, "OUT_OF_ORDER_SEQUENCE_NUMBER", false, "abort the transaction";
    /// The producer's epoch is older than the one on record.
    InvalidProducerEpoch = 47, "INVALID_PRODUCER_EPOCH", false, "abort; if initialising again is refused too, another producer took over: stop";
    /// The transaction is in a state that does not allow the request.
    InvalidTxnState = 48, "INVALID_TXN_STATE", false, "begin a transaction before adding to it or ending it";
    /// The producer id does not belong to this transactional id.
    InvalidProducerIdMapping = 49, "INVALID_PRODUCER_ID_MAPPING", false, "initialise the producer again";
    /// The transaction timeout is not positive or above the broker's limit.
    InvalidTransactionTimeout = 50, "INVALID_TRANSACTION_TIMEOUT", false,
        "choose transaction.timeout.ms above 0 and at most the broker's transaction.max.timeout.ms";
    /// An earlier transaction of this producer is still being completed.
    ConcurrentTransactions = 51, "CONCURRENT_TRANSACTIONS", true, "try again after a back-off";
    /// A marker came from a transaction coordinator that was replaced.
    TransactionCoordinatorFenced = 52, "TRANSACTION_COORDINATOR_FENCED", false, "nothing: the newer coordinator finishes the transaction";
    /// The principal may not use this transactional id.
    TransactionalIdAuthorizationFailed = 53, "TRANSACTIONAL_ID_AUTHORIZATION_FAILED", false, "grant WRITE on the transactional id";
    /// The broker keeps nothing about this producer id.
    UnknownProducerId = 59, "UNKNOWN_PRODUCER_ID", false, "abort the transaction and initialise the producer again";
    /// The group still has members.
    NonEmptyGroup = 68, "NON_EMPTY_GROUP", false, "stop the members first";
    /// No such group.
    GroupIdNotFound = 69, "GROUP_ID_NOT_FOUND", false, "compare the group id with the list of groups";
    /// A new dynamic member has been given an id and must join with it.
    MemberIdRequired = 79, "MEMBER_ID_REQUIRED", false, "join again with the member id in the answer";
    /// The group is full.
    GroupMaxSizeReached = 81, "GROUP_MAX_SIZE_REACHED", false, "run fewer members or raise the broker's group.max.size";
    /// Another member took over this `group.instance.id`.
    FencedInstanceId = 82, "FENCED_INSTANCE_ID", false, "stop: two processes share one group.instance.id; give each its own";
    /// (releases) The group still subscribes to the topic whose offsets shall be deleted.
    GroupSubscribedToTopic = 86, "GROUP_SUBSCRIBED_TO_TOPIC", false, "end the subscription first";
    /// (draft of KIP-447) An offset asked for may still be changed by a pending transaction.
    PendingTransaction = 86, "PENDING_TRANSACTION", true, "ask again after a back-off, until the transaction ends or times out";
    /// An offset asked for may still be changed by a pending transaction.
    UnstableOffsetCommit = 88, "UNSTABLE_OFFSET_COMMIT", true, "ask again after a back-off, until the transaction ends or times out";
    /// A newer producer with the same transactional id is at work.
    ProducerFenced = 90, "PRODUCER_FENCED", false, "stop: another producer uses this transactional id";
    /// The transaction can't be committed, but the producer may go on after an abort.
    TransactionAbortable = 120, "TRANSACTION_ABORTABLE", false, "abort the transaction, then begin anew";
}

impl ErrorCode {
    /// The code with this number as KIP-447's draft numbers them: 86 is [`PendingTransaction`](Self::PendingTransaction).
    pub fn from_draft_code(code: i16) -> Self {
        if code == Self::PendingTransaction.code() { Self::PendingTransaction } else { Self::from_code(code) }
    }

    /// Whether only a draft has this code under this number.
    pub fn is_draft(self) -> bool {
        self == Self::PendingTransaction
    }

    /// Whether this is success.
    pub fn is_none(self) -> bool {
        self == Self::None
    }

    /// Whether this is anything but success.
    pub fn is_error(self) -> bool {
        self != Self::None
    }

    /// Whether the request should go to another broker, or to the same one later: the coordinator moves or loads.
    pub fn is_coordinator_move(self) -> bool {
        matches!(self, Self::CoordinatorLoadInProgress | Self::CoordinatorNotAvailable | Self::NotCoordinator)
    }

    /// Whether an offset fetch was held back by a pending transaction, by either name.
    pub fn is_unstable_offset(self) -> bool {
        matches!(self, Self::PendingTransaction | Self::UnstableOffsetCommit)
    }

    /// Success, or the code as an error.
    ///
    /// # Errors
    ///
    /// The code itself unless it is [`None`](Self::None).
    pub fn ok(self) -> Result<(), Self> {
        if self.is_none() { Ok(()) } else { Err(self) }
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.name(), self.code())
    }
}

impl core::error::Error for ErrorCode {}

/// What can go wrong in the state machines of this room.
///
/// # Examples
///
/// ```
/// use tenure::protocol::error::{ErrorCode, ProtocolError};
///
/// let error = ProtocolError::refused("JoinGroup", ErrorCode::GroupMaxSizeReached);
/// assert!(error.to_string().contains("GROUP_MAX_SIZE_REACHED"));
/// assert!(error.to_string().contains("group.max.size"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProtocolError {
    /// The event can't happen in this state: the caller's fault, nothing was changed.
    Unexpected {
        /// The state at the moment.
        state: &'static str,
        /// The event that does not belong there.
        event: &'static str,
    },
    /// The broker refused a request for good; see [`ErrorCode::remedy`].
    Refused {
        /// The request's name, as Kafka has it.
        request: &'static str,
        /// The broker's answer.
        code: ErrorCode,
        /// What else is known (for example which protocols the group supports); may be empty.
        detail: String,
    },
    /// The set-up contradicts itself; found at the start, before anything is sent.
    Config {
        /// The setting at fault.
        setting: &'static str,
        /// What it was.
        given: String,
        /// What it should be.
        needed: String,
    },
    /// A peer's bytes could not be read.
    Malformed {
        /// Which bytes: "assignment of member c1".
        what: String,
        /// Why, from the decoder, with its offset.
        detail: String,
    },
}

impl ProtocolError {
    /// A refusal with nothing further to say.
    pub fn refused(request: &'static str, code: ErrorCode) -> Self {
        Self::Refused { request, code, detail: String::new() }
    }

    /// The broker's code, where a broker answered.
    pub fn code(&self) -> Option<ErrorCode> {
        match self {
            Self::Refused { code, .. } => Some(*code),
            _ => None,
        }
    }
}

impl fmt::Display for ProtocolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unexpected { state, event } => {
                write!(
                    f,
                    "{event} is not possible in state {state}; nothing was changed: poll the actions first"
                )
            }
            Self::Refused { request, code, detail } => {
                write!(f, "{request} was refused with {code}")?;
                if !detail.is_empty() {
                    write!(f, ": {detail}")?;
                }
                write!(f, "; {}", code.remedy())
            }
            Self::Config { setting, given, needed } => {
                write!(f, "{setting} is {given}, but needs {needed}")
            }
            Self::Malformed { what, detail } => write!(f, "the {what} could not be read: {detail}"),
        }
    }
}

impl core::error::Error for ProtocolError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_unique_but_for_the_draft() {
        let mut released: Vec<i16> =
            ErrorCode::ALL.iter().filter(|code| !code.is_draft()).map(|code| code.code()).collect();
        released.sort_unstable();
        let count = released.len();
        released.dedup();
        assert_eq!(released.len(), count);
    }

    #[test]
    fn every_code_reads_back() {
        for &code in ErrorCode::ALL {
            if code.is_draft() {
                assert_eq!(ErrorCode::from_draft_code(code.code()), code);
                assert_eq!(ErrorCode::from_code(code.code()), ErrorCode::GroupSubscribedToTopic);
            } else {
                assert_eq!(ErrorCode::from_code(code.code()), code);
            }
            assert!(!code.remedy().is_empty());
        }
        assert_eq!(ErrorCode::from_code(-77), ErrorCode::Other(-77));
    }
}
