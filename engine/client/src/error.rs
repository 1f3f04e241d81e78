//! What can go wrong between a program and its brokers.

use core::fmt;
use std::sync::Arc;

use tenure::protocol::error::{ErrorCode, ProtocolError};

/// Why a call to a cluster failed. The text says what happened, where, and what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ClientError {
    /// A setting is wrong, or asks for what this client does not have.
    Config {
        /// The setting's name, as Kafka's tools know it.
        setting: String,
        /// What it was; never a password.
        given: String,
        /// What it should be.
        needed: String,
    },
    /// None of the brokers could be reached.
    NoBroker {
        /// Every address with what went wrong there.
        tried: Vec<(String, String)>,
    },
    /// A broker could not be reached, or the connection broke.
    Disconnected {
        /// The broker's address.
        address: Arc<str>,
        /// What the system said.
        detail: String,
    },
    /// The broker's certificate was refused, or TLS failed otherwise.
    Tls {
        /// The broker's address.
        address: Arc<str>,
        /// What the TLS library said.
        detail: String,
    },
    /// The broker refused who we say we are, or could not prove who it is.
    Authentication {
        /// The broker's address.
        address: Arc<str>,
        /// The SASL mechanism.
        mechanism: &'static str,
        /// What the broker, or the proof, said.
        detail: String,
    },
    /// No answer in time.
    TimedOut {
        /// The broker's address.
        address: Arc<str>,
        /// What was asked.
        request: &'static str,
        /// How long was waited.
        after_ms: u64,
    },
    /// An answer says it is longer than is allowed; nothing of it was read.
    FrameTooLarge {
        /// The broker's address.
        address: Arc<str>,
        /// The length it says; a negative one is never right.
        length: i32,
        /// The longest allowed.
        limit: usize,
    },
    /// An answer can't be read.
    Malformed {
        /// The broker's address.
        address: Arc<str>,
        /// What it answers.
        request: &'static str,
        /// What is wrong, with the place.
        detail: String,
    },
    /// Broker and client have no version of a request in common.
    Unsupported {
        /// The request.
        request: &'static str,
        /// The versions this client writes.
        ours: (i16, i16),
        /// The versions the broker reads; `None` if it does not know the request.
        theirs: Option<(i16, i16)>,
    },
    /// The broker refused.
    Refused {
        /// The request.
        request: &'static str,
        /// The broker's answer.
        code: ErrorCode,
        /// What else is known: the topic, the group, the broker's own words.
        detail: String,
    },
    /// A broker's number that the cluster's metadata does not have.
    UnknownBroker {
        /// The number.
        node_id: i32,
    },
    /// The cluster has no such group.
    NoSuchGroup {
        /// The group asked for.
        group_id: String,
        /// The groups that there are, as far as this client may see them.
        known: Vec<String>,
    },
    /// The group is of a kind that its brokers plan themselves, so its members say nothing that could be planned from.
    NotClassic {
        /// The group.
        group_id: String,
        /// `consumer` (KIP-848), `share`, `streams`.
        kind: String,
    },
    /// The member's state machine refused a call, or has stopped for good.
    Protocol(ProtocolError),
    /// The member is closed.
    Closed,
}

impl ClientError {
    /// A refusal with what else is known.
    pub(crate) fn refused(request: &'static str, code: i16, detail: impl Into<String>) -> Self {
        Self::Refused { request, code: ErrorCode::from_code(code), detail: detail.into() }
    }

    pub(crate) fn config(
        setting: impl Into<String>,
        given: impl Into<String>,
        needed: impl Into<String>,
    ) -> Self {
        Self::Config { setting: setting.into(), given: given.into(), needed: needed.into() }
    }

    /// The broker's code, where a broker refused.
    pub fn code(&self) -> Option<ErrorCode> {
        match self {
            Self::Refused { code, .. } => Some(*code),
            Self::Protocol(error) => error.code(),
            _ => None,
        }
    }

    /// Whether the same call may succeed later, with the same settings.
    pub fn is_retriable(&self) -> bool {
        match self {
            Self::NoBroker { .. }
            | Self::Disconnected { .. }
            | Self::TimedOut { .. }
            | Self::UnknownBroker { .. } => true,
            Self::Refused { code, .. } => code.is_retriable() || is_leader_move(*code),
            _ => false,
        }
    }
}

/// Codes of topics and partitions that the group protocols don't have: LEADER_NOT_AVAILABLE,
/// NOT_LEADER_OR_FOLLOWER, NETWORK_EXCEPTION, NOT_CONTROLLER.
fn is_leader_move(code: ErrorCode) -> bool {
    matches!(code.code(), 5 | 6 | 13 | 41)
}

impl fmt::Display for ClientError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Config { setting, given, needed } => write!(f, "{setting} is {given}, but needs {needed}"),
            Self::NoBroker { tried } => {
                f.write_str("no broker could be reached")?;
                for (index, (address, detail)) in tried.iter().enumerate() {
                    write!(f, "{} {address}: {detail}", if index == 0 { ":" } else { ";" })?;
                }
                f.write_str(
                    "; check the address, that the broker runs, and that security.protocol fits its listener",
                )
            }
            Self::Disconnected { address, detail } => {
                write!(f, "the connection to {address} broke: {detail}")
            }
            Self::Tls { address, detail } => {
                write!(
                    f,
                    "no TLS with {address}: {detail}; check the CA file, the host name and that the listener speaks TLS"
                )
            }
            Self::Authentication { address, mechanism, detail } => {
                write!(
                    f,
                    "{address} and this client do not trust each other by {mechanism}: {detail}; check user name, password and mechanism"
                )
            }
            Self::TimedOut { address, request, after_ms } => {
                write!(
                    f,
                    "{address} did not answer {request} within {after_ms} ms; try again, or raise request.timeout.ms"
                )
            }
            Self::FrameTooLarge { address, length, limit } => write!(
                f,
                "{address} announces an answer of {length} bytes, at most {limit} are allowed; check that this is a Kafka listener and that security.protocol fits it"
            ),
            Self::Malformed { address, request, detail } => {
                write!(f, "the answer of {address} to {request} can't be read: {detail}")
            }
            Self::Unsupported { request, ours, theirs: Some(theirs) } => write!(
                f,
                "the broker reads {request} in versions {}–{}, this client writes {}–{}; upgrade the older of the two",
                theirs.0, theirs.1, ours.0, ours.1
            ),
            Self::Unsupported { request, .. } => {
                write!(f, "the broker does not know {request}; upgrade it or do without")
            }
            Self::Refused { request, code, detail } => {
                write!(f, "{request} was refused with {code}")?;
                if !detail.is_empty() {
                    write!(f, ": {detail}")?;
                }
                if matches!(code, ErrorCode::Other(_)) { Ok(()) } else { write!(f, "; {}", code.remedy()) }
            }
            Self::UnknownBroker { node_id } => {
                write!(f, "broker {node_id} is not in the cluster's metadata; try again once it is back")
            }
            Self::NoSuchGroup { group_id, known } if known.is_empty() => {
                write!(
                    f,
                    "there is no group {group_id:?}, nor any other that this client may see; check the name and the cluster"
                )
            }
            Self::NoSuchGroup { group_id, known } => {
                let shown: Vec<&str> = known.iter().take(10).map(String::as_str).collect();
                let more = known.len().saturating_sub(shown.len());
                write!(f, "there is no group {group_id:?}; the cluster has {}", shown.join(", "))?;
                if more > 0 { write!(f, " and {more} more") } else { Ok(()) }
            }
            Self::NotClassic { group_id, kind } => write!(
                f,
                "group {group_id:?} is a {kind} group, not a classic one: its brokers plan it themselves (KIP-848), and tell neither \
                 claims nor generations of its members; only groups with group.protocol=classic can be looked at"
            ),
            Self::Protocol(error) => error.fmt(f),
            Self::Closed => f.write_str("the member is closed; start another"),
        }
    }
}

impl core::error::Error for ClientError {}

impl From<ProtocolError> for ClientError {
    fn from(error: ProtocolError) -> Self {
        Self::Protocol(error)
    }
}
