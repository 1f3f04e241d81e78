//! Subscriptions and assignments as owned, named sets: what a member writes and a leader reads.

use super::error::ProtocolError;
use super::message::{JoinMember, SyncAssignment, TopicPartition};
use super::partition_set::PartitionSet;
use super::selection::TENURE_COOPERATIVE_STICKY;
use crate::codec::consumer::{AssignmentErrorCode, DraftAssignment, DraftAssignmentFields};
use crate::codec::{
    Assignment, AssignmentFields, Blocks, History, Subscription, SubscriptionFields, TopicPartitions,
};
use crate::group::CLAIM_LIMIT;
use crate::revoke::Mode;

/// User data of an assignment that asks its member for another round (mode [`Mode::Shipped`], Tenure's own
/// assignor). It is part of what the coordinator keeps, so the need outlives a crash of the member.
pub const FOLLOW_UP: &[u8] = b"TFU\x01";

/// Begins a [`Snapshot`] in the user data of a static member's assignment.
const SNAPSHOT: &[u8] = b"TSN\x01";

/// What an assignment was made from. A static member that comes back without a rebalance compares it with what it
/// wants and sees then, since nobody else will.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Snapshot {
    /// The digest of the topics that the member subscribed to.
    pub topics: u64,
    /// For the leader: the digest of all topics of the group and their partition counts.
    pub counts: Option<u64>,
}

/// What a member wants and claims.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MemberSubscription {
    /// The topics wanted, sorted.
    pub topics: Vec<String>,
    /// The assignor's bytes.
    pub user_data: Option<Vec<u8>>,
    /// The claims.
    pub owned: PartitionSet,
    /// The generation in which the claims were assigned.
    pub generation: Option<i32>,
    /// The member's rack.
    pub rack: Option<String>,
}

impl MemberSubscription {
    /// Writes it in a version of the consumer protocol; fields that the version lacks are dropped.
    ///
    /// # Errors
    ///
    /// [`ProtocolError::Config`] for what no bytes can say: an unknown version, a name above 32,767 bytes.
    pub fn encode(&self, version: i16) -> Result<Vec<u8>, ProtocolError> {
        let topics: Vec<&str> = self.topics.iter().map(String::as_str).collect();
        with_blocks(&self.owned, |owned| {
            SubscriptionFields {
                topics: &topics,
                user_data: self.user_data.as_deref(),
                owned,
                generation: self.generation,
                rack: self.rack.as_deref(),
            }
            .encode(version)
            .map_err(|error| ProtocolError::Config {
                setting: "subscription",
                given: error.to_string(),
                needed: "topic names and a version that the wire can carry".into(),
            })
        })
    }

    /// Reads the subscription of the member with this id.
    ///
    /// # Errors
    ///
    /// [`ProtocolError::Malformed`], naming the member and the offset.
    pub fn decode(member_id: &str, bytes: &[u8]) -> Result<Self, ProtocolError> {
        let read = Subscription::decode(bytes).map_err(|error| ProtocolError::Malformed {
            what: format!("subscription of member {member_id}"),
            detail: error.to_string(),
        })?;
        Ok(Self::of(&read))
    }

    /// Reads the subscription as a leader does that was selected under this assignor's name: with
    /// `tenure-cooperative-sticky` claims and generation are those of the compact user data. Data that can't be read
    /// claims nothing.
    ///
    /// # Errors
    ///
    /// As [`decode`](Self::decode); and for more claims than a group may have, so that a few bytes never become
    /// a large set.
    pub fn decode_under(assignor: &str, member_id: &str, bytes: &[u8]) -> Result<Self, ProtocolError> {
        let malformed = |detail: String| ProtocolError::Malformed {
            what: format!("subscription of member {member_id}"),
            detail,
        };
        let read = Subscription::decode(bytes).map_err(|error| malformed(error.to_string()))?;
        let mut subscription = Self::of(&read);
        if assignor != TENURE_COOPERATIVE_STICKY {
            return Ok(subscription);
        }
        let history = History::of(&read, assignor);
        subscription.generation = history.generation;
        let Some(compact) = history.compact else { return Ok(subscription) };
        if compact.partition_count() > CLAIM_LIMIT as usize {
            let count = compact.partition_count();
            return Err(malformed(format!("{count} partitions claimed, at most {CLAIM_LIMIT} are read")));
        }
        let ranges = compact.named_ranges();
        subscription.owned.extend(ranges.flat_map(|(topic, range)| {
            let topic = topic.to_str_lossy();
            let numbers = (range.from..=range.to).filter_map(|number| i32::try_from(number).ok());
            numbers.map(move |number| TopicPartition::new(topic.clone(), number))
        }));
        subscription.rack =
            subscription.rack.or_else(|| compact.rack().map(|rack| rack.to_str_lossy().into_owned()));
        Ok(subscription)
    }

    fn of(read: &Subscription<'_>) -> Self {
        let mut topics: Vec<String> =
            read.topics.iter().map(|topic| topic.to_str_lossy().into_owned()).collect();
        topics.sort_unstable();
        topics.dedup();
        Self {
            topics,
            user_data: read.user_data.map(<[u8]>::to_vec),
            owned: partitions(read.owned),
            generation: read.generation,
            rack: read.rack.map(|rack| rack.to_str_lossy().into_owned()),
        }
    }
}

/// Reads all members' subscriptions, each member once: of two entries with one id the first counts.
///
/// # Errors
///
/// [`ProtocolError::Malformed`] for the first one that can't be read.
pub fn decode_members(members: &[JoinMember]) -> Result<Vec<(String, MemberSubscription)>, ProtocolError> {
    decode_members_under("", members)
}

/// Reads all members' subscriptions as the leader does under an assignor's name; see
/// [`MemberSubscription::decode_under`].
///
/// # Errors
///
/// [`ProtocolError::Malformed`] for the first one that can't be read.
pub fn decode_members_under(
    assignor: &str,
    members: &[JoinMember],
) -> Result<Vec<(String, MemberSubscription)>, ProtocolError> {
    let mut read: Vec<(String, MemberSubscription)> = Vec::with_capacity(members.len());
    let mut seen = std::collections::BTreeSet::new();
    for member in members {
        if seen.insert(member.member_id.as_str()) {
            let subscription =
                MemberSubscription::decode_under(assignor, &member.member_id, &member.metadata)?;
            read.push((member.member_id.clone(), subscription));
        }
    }
    Ok(read)
}

/// What a member is given.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MemberAssignment {
    /// The partitions.
    pub partitions: PartitionSet,
    /// The assignor's bytes.
    pub user_data: Option<Vec<u8>>,
    /// Whether the member must join again once it has taken this.
    pub need_rejoin: bool,
}

impl MemberAssignment {
    /// An assignment with nothing beside the partitions.
    pub fn new(partitions: PartitionSet) -> Self {
        Self { partitions, user_data: None, need_rejoin: false }
    }

    /// Adds what it was made from; false if an assignor's own bytes stand there.
    pub fn sign(&mut self, snapshot: Snapshot) -> bool {
        let own = self.user_data.as_deref().is_none_or(|data| data == FOLLOW_UP);
        if own {
            let mut data = if self.need_rejoin { FOLLOW_UP.to_vec() } else { Vec::new() };
            data.extend_from_slice(SNAPSHOT);
            data.extend_from_slice(&snapshot.topics.to_be_bytes());
            if let Some(counts) = snapshot.counts {
                data.extend_from_slice(&counts.to_be_bytes());
            }
            self.user_data = Some(data);
        }
        own
    }

    /// What it was made from, if its leader added that.
    pub fn snapshot(&self) -> Option<Snapshot> {
        let data = self.user_data.as_deref()?;
        let data = data.strip_prefix(FOLLOW_UP).unwrap_or(data);
        let (topics, counts) = data.strip_prefix(SNAPSHOT)?.split_first_chunk()?;
        let counts = counts.first_chunk().map(|counts| u64::from_be_bytes(*counts));
        Some(Snapshot { topics: u64::from_be_bytes(*topics), counts })
    }

    /// Writes it in a version of the consumer protocol. The need to join again goes into the error code of the
    /// draft, or into the user data of the shipped form.
    ///
    /// # Errors
    ///
    /// [`ProtocolError::Config`] for an unknown version or a name above 32,767 bytes.
    pub fn encode(&self, mode: Mode, version: i16) -> Result<Vec<u8>, ProtocolError> {
        let refused = |error: crate::codec::EncodeError| ProtocolError::Config {
            setting: "assignment",
            given: error.to_string(),
            needed: "topic names and a version that the wire can carry".into(),
        };
        with_blocks(&self.partitions, |assigned| match mode {
            Mode::Draft => {
                let error = if self.need_rejoin {
                    AssignmentErrorCode::NeedRejoin
                } else {
                    AssignmentErrorCode::None
                };
                DraftAssignmentFields { assigned, user_data: self.user_data.as_deref(), error }
                    .encode(version.min(1))
                    .map_err(refused)
            }
            Mode::Shipped => {
                let marker = if self.need_rejoin { Some(FOLLOW_UP) } else { None };
                AssignmentFields { assigned, user_data: self.user_data.as_deref().or(marker) }
                    .encode(version)
                    .map_err(refused)
            }
        })
    }

    /// Reads an assignment. In mode [`Mode::Draft`] bytes without an error code are read as shipped ones,
    /// so that a group may mix both.
    ///
    /// # Errors
    ///
    /// [`ProtocolError::Malformed`] with the offset.
    pub fn decode(mode: Mode, bytes: &[u8]) -> Result<Self, ProtocolError> {
        if mode == Mode::Draft
            && let Ok(draft) = DraftAssignment::decode(bytes)
        {
            return Ok(Self {
                partitions: partitions(draft.assigned),
                need_rejoin: draft.error == AssignmentErrorCode::NeedRejoin
                    || asks_follow_up(draft.user_data),
                user_data: draft.user_data.map(<[u8]>::to_vec),
            });
        }
        let read = Assignment::decode(bytes).map_err(|error| ProtocolError::Malformed {
            what: "assignment".into(),
            detail: error.to_string(),
        })?;
        Ok(Self {
            partitions: partitions(read.assigned),
            need_rejoin: asks_follow_up(read.user_data),
            user_data: read.user_data.map(<[u8]>::to_vec),
        })
    }
}

fn asks_follow_up(user_data: Option<&[u8]>) -> bool {
    user_data.is_some_and(|data| data.starts_with(FOLLOW_UP))
}

/// Writes a whole round: the bytes a leader sends with SyncGroup.
///
/// # Errors
///
/// As [`MemberAssignment::encode`].
pub fn encode_round(
    round: &[(String, MemberAssignment)],
    mode: Mode,
    version: i16,
) -> Result<Vec<SyncAssignment>, ProtocolError> {
    round
        .iter()
        .map(|(member_id, assignment)| {
            Ok(SyncAssignment { member_id: member_id.clone(), assignment: assignment.encode(mode, version)? })
        })
        .collect()
}

/// The partitions of some blocks.
pub(super) fn partitions(blocks: Blocks<'_>) -> PartitionSet {
    let mut read = Vec::new();
    for block in blocks.iter() {
        let topic = block.topic.to_str_lossy();
        read.extend(block.partitions.iter().map(|partition| TopicPartition::new(topic.clone(), partition)));
    }
    read.into_iter().collect()
}

/// Lends a set to the codec in the form it wants.
pub(super) fn with_blocks<R>(set: &PartitionSet, then: impl FnOnce(&[TopicPartitions<'_>]) -> R) -> R {
    let numbers: Vec<(&str, Vec<i32>)> =
        set.blocks().map(|(topic, block)| (topic, block.iter().map(|one| one.partition).collect())).collect();
    let blocks: Vec<TopicPartitions<'_>> =
        numbers.iter().map(|(topic, partitions)| TopicPartitions { topic, partitions }).collect();
    then(&blocks)
}
