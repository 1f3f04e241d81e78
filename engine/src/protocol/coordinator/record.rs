//! What the coordinator writes to its log, and reads back when it takes a log over.

use crate::protocol::message::{CommittedOffset, TopicPartition};

/// One record of the log (`__consumer_offsets`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Record {
    /// A group's members and assignments as they are from now on; `None` forgets the group.
    Group {
        /// The group.
        group_id: String,
        /// Its state.
        value: Option<GroupRecord>,
    },
    /// A committed offset; `None` forgets it.
    Offset {
        /// The group.
        group_id: String,
        /// The partition.
        partition: TopicPartition,
        /// The offset and when it was committed.
        value: Option<OffsetRecord>,
        /// The producer's id and epoch, if the record is part of a transaction and waits for its marker.
        producer: Option<(i64, i16)>,
    },
    /// The end of a producer's transaction.
    Marker {
        /// The group whose pending offsets are settled.
        group_id: String,
        /// The producer.
        producer_id: i64,
        /// Its epoch: older ones are fenced from here on.
        producer_epoch: i16,
        /// Whether the offsets count.
        committed: bool,
        /// The epoch of the transaction coordinator that decided so.
        coordinator_epoch: i32,
    },
}

/// A group as the log keeps it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GroupRecord {
    /// The protocol type; empty if none was ever agreed.
    pub protocol_type: String,
    /// The generation.
    pub generation: i32,
    /// The selected assignor.
    pub protocol: Option<String>,
    /// The leader's member id.
    pub leader: Option<String>,
    /// Since when the group is in its state.
    pub state_since_ms: u64,
    /// The members, sorted by id.
    pub members: Vec<MemberRecord>,
}

/// A member as the log keeps it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MemberRecord {
    /// Its id.
    pub member_id: String,
    /// Its static name.
    pub group_instance_id: Option<String>,
    /// Its client id.
    pub client_id: String,
    /// Its rebalance timeout.
    pub rebalance_timeout_ms: i32,
    /// Its session timeout.
    pub session_timeout_ms: i32,
    /// Its subscription for the selected assignor.
    pub subscription: Vec<u8>,
    /// Its assignment.
    pub assignment: Vec<u8>,
}

/// A committed offset as the log keeps it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OffsetRecord {
    /// The offset.
    pub committed: CommittedOffset,
    /// When it was committed.
    pub commit_ms: u64,
}

/// The bytes of a record batch's and a record's own framing, at most.
const FRAME_BYTES: usize = 61 + 21;

fn text(value: &str) -> usize {
    value.len().saturating_add(2)
}

fn optional(value: Option<&str>) -> usize {
    value.map_or(2, text)
}

fn bytes(value: &[u8]) -> usize {
    value.len().saturating_add(4)
}

fn sum<const N: usize>(parts: [usize; N]) -> usize {
    parts.into_iter().fold(0, usize::saturating_add)
}

impl Record {
    /// The group that the record belongs to.
    pub fn group_id(&self) -> &str {
        match self {
            Self::Group { group_id, .. } | Self::Offset { group_id, .. } | Self::Marker { group_id, .. } => {
                group_id
            }
        }
    }

    /// The record's size in the log: key and value in the released layouts (group value version 3, offset
    /// value version 3), and a batch's frame around them.
    ///
    /// A broker refuses a record above `message.max.bytes` (1,048,588 by default), and a group whose record is
    /// refused never becomes stable; so estimate before the members join.
    ///
    /// # Examples
    ///
    /// ```
    /// use tenure::protocol::coordinator::{GroupRecord, MemberRecord, Record};
    ///
    /// // 400 members that each name 3,000 topics of 30 bytes: twelve megabytes and a group that can't work.
    /// let member = MemberRecord { subscription: vec![0; 3_000 * 32], ..MemberRecord::default() };
    /// let value = GroupRecord { members: vec![member; 400], ..GroupRecord::default() };
    /// let record = Record::Group { group_id: "g".into(), value: Some(value) };
    /// assert!(record.encoded_len() > 36 * 1_048_588);
    /// ```
    pub fn encoded_len(&self) -> usize {
        let body = match self {
            Self::Group { group_id, value } => {
                let value = value.as_ref().map_or(0, GroupRecord::encoded_len);
                sum([2, text(group_id), value])
            }
            Self::Offset { group_id, partition, value, .. } => {
                let value = value.as_ref().map_or(0, |one| sum([2, 8, 4, text(&one.committed.metadata), 8]));
                sum([2, text(group_id), text(&partition.topic), 4, value])
            }
            Self::Marker { .. } => 4 + 6,
        };
        body.saturating_add(FRAME_BYTES)
    }
}

impl GroupRecord {
    /// The value's size in version 3 of its layout.
    pub fn encoded_len(&self) -> usize {
        let names = sum([optional(self.protocol.as_deref()), optional(self.leader.as_deref())]);
        let head = sum([2, text(&self.protocol_type), 4, names, 8, 4]);
        self.members.iter().map(MemberRecord::encoded_len).fold(head, usize::saturating_add)
    }
}

impl MemberRecord {
    fn encoded_len(&self) -> usize {
        // The client's host is not modelled; an address takes at most 47 bytes.
        let names =
            sum([text(&self.member_id), optional(self.group_instance_id.as_deref()), text(&self.client_id)]);
        sum([names, 49, 8, bytes(&self.subscription), bytes(&self.assignment)])
    }
}
