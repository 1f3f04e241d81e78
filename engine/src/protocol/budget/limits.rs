//! The limits that a round really meets.

use core::fmt;

use super::figures::Figures;

/// The limits that apply, by the names that Kafka gives them.
///
/// | setting | where | what it bounds | default |
/// |---|---|---|---|
/// | `message.max.bytes` | broker | the batch with the group's record | 1,048,588 |
/// | `max.message.bytes` | topic `__consumer_offsets` | the same, if set there | as the broker's |
/// | `socket.request.max.bytes` | broker | each request, so SyncGroup and JoinGroup | 104,857,600 |
/// | `receive.message.max.bytes` | a leader built on librdkafka | the JoinGroup response | 100,000,000 |
/// | `group.max.size` | broker | members | 2,147,483,647 |
///
/// The broker bounds no response, and the Java client reads any.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Limits {
    /// The broker's `message.max.bytes`.
    pub message_max_bytes: u64,
    /// `max.message.bytes` of the offsets topic; `None` follows the broker.
    pub offsets_topic_max_message_bytes: Option<u64>,
    /// The broker's `socket.request.max.bytes`.
    pub socket_request_max_bytes: u64,
    /// `receive.message.max.bytes` of a leader that has it; `None` for the Java client.
    pub receive_message_max_bytes: Option<u64>,
    /// The broker's `group.max.size`.
    pub group_max_size: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            message_max_bytes: 1_048_588,
            offsets_topic_max_message_bytes: None,
            socket_request_max_bytes: 104_857_600,
            receive_message_max_bytes: Some(100_000_000),
            group_max_size: i32::MAX as u64,
        }
    }
}

/// What is held against a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Subject {
    /// The batch with the group's record.
    GroupRecord,
    /// The leader's SyncGroup request.
    SyncRequest,
    /// The largest JoinGroup request.
    JoinRequest,
    /// The JoinGroup response that the leader gets.
    JoinResponse,
    /// The number of members.
    Members,
}

impl Subject {
    /// All of them, the one that breaks first in most groups first.
    pub const ALL: [Self; 5] =
        [Self::GroupRecord, Self::SyncRequest, Self::JoinRequest, Self::JoinResponse, Self::Members];

    /// A name for programs.
    pub const fn name(self) -> &'static str {
        match self {
            Self::GroupRecord => "group-record",
            Self::SyncRequest => "sync-request",
            Self::JoinRequest => "join-request",
            Self::JoinResponse => "join-response",
            Self::Members => "members",
        }
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::GroupRecord => "group record",
            Self::SyncRequest => "SyncGroup request",
            Self::JoinRequest => "JoinGroup request",
            Self::JoinResponse => "JoinGroup response",
            Self::Members => "members",
        })
    }
}

/// One thing against its limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Check {
    /// What is measured.
    pub subject: Subject,
    /// The setting that bounds it.
    pub setting: &'static str,
    /// Its size: bytes, or members.
    pub size: u64,
    /// The most that is allowed; `None` if nothing bounds it.
    pub limit: Option<u64>,
}

impl Check {
    /// Whether it fits.
    pub fn fits(&self) -> bool {
        self.limit.is_none_or(|limit| self.size <= limit)
    }

    /// What is left, negative if too much is used; `None` without a limit.
    pub fn headroom(&self) -> Option<i64> {
        let signed = |size: u64| i64::try_from(size).unwrap_or(i64::MAX);
        Some(signed(self.limit?).saturating_sub(signed(self.size)))
    }
}

impl Limits {
    /// What the batch with the group's record may have: the topic's setting wins over the broker's.
    pub fn record(&self) -> u64 {
        self.offsets_topic_max_message_bytes.unwrap_or(self.message_max_bytes)
    }

    /// The setting and the limit of a subject.
    pub fn of(&self, subject: Subject) -> (&'static str, Option<u64>) {
        match subject {
            Subject::GroupRecord if self.offsets_topic_max_message_bytes.is_some() => {
                ("max.message.bytes of __consumer_offsets", Some(self.record()))
            }
            Subject::GroupRecord => ("message.max.bytes", Some(self.record())),
            Subject::SyncRequest | Subject::JoinRequest => {
                ("socket.request.max.bytes", Some(self.socket_request_max_bytes))
            }
            Subject::JoinResponse => ("receive.message.max.bytes", self.receive_message_max_bytes),
            Subject::Members => ("group.max.size", Some(self.group_max_size)),
        }
    }

    /// Holds a round against all limits, in the order of [`Subject::ALL`].
    pub fn check(&self, figures: &Figures) -> [Check; 5] {
        Subject::ALL.map(|subject| {
            let (setting, limit) = self.of(subject);
            Check { subject, setting, size: figures.size(subject), limit }
        })
    }
}
