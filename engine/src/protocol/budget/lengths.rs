//! Exact lengths of the messages of a round, from the lengths of what they carry.
//!
//! Source: the schemas of Kafka 4.4.0, as [`codec::message`](crate::codec::message) writes them.

/// Lengths of the names that a group's messages carry, in bytes of UTF-8.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Names {
    /// The group's id.
    pub group: u64,
    /// The name of the protocol, which is the assignor's.
    pub protocol: u64,
    /// The member id of the leader.
    pub leader: u64,
    /// The static name of the leader, if it has one.
    pub leader_instance: Option<u64>,
}

/// Lengths of what the messages carry of one member.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct MemberLengths {
    /// Its member id.
    pub id: u64,
    /// Its static name, if it has one.
    pub instance: Option<u64>,
    /// Its client id.
    pub client_id: u64,
    /// Its host, as the broker writes it.
    pub client_host: u64,
    /// Its subscription.
    pub subscription: u64,
    /// Its assignment.
    pub assignment: u64,
}

/// The protocol type of consumers, "consumer".
const CONSUMER: u64 = 8;

/// How a message writes lengths: the older ones in two and four bytes, the flexible ones as short as they go.
#[derive(Debug, Clone, Copy)]
struct Wire {
    flexible: bool,
}

impl Wire {
    fn text(self, len: u64) -> u64 {
        if self.flexible { uvar(len + 1) + len } else { 2 + len }
    }

    fn nullable(self, len: Option<u64>) -> u64 {
        match len {
            Some(len) => self.text(len),
            None => 2 - u64::from(self.flexible),
        }
    }

    fn bytes(self, len: u64) -> u64 {
        if self.flexible { uvar(len + 1) + len } else { 4 + len }
    }

    fn list(self, count: u64) -> u64 {
        if self.flexible { uvar(count + 1) } else { 4 }
    }

    /// The end of a struct: its tagged fields, of which there are none.
    fn tags(self) -> u64 {
        u64::from(self.flexible)
    }
}

/// Bytes of an unsigned number in seven-bit groups.
fn uvar(number: u64) -> u64 {
    u64::from((64 - (number | 1).leading_zeros()).div_ceil(7))
}

/// Bytes of a signed number in seven-bit groups, for one that is not negative.
fn varint(number: u64) -> u64 {
    uvar(number << 1)
}

fn since(version: i16, first: i16, bytes: u64) -> u64 {
    if version >= first { bytes } else { 0 }
}

/// The header of a JoinGroup or SyncGroup request of a current client (version 2), which counts against the broker's
/// limit as its body does.
pub fn request_header_len(client_id: u64) -> u64 {
    2 + 2 + 4 + (2 + client_id) + 1
}

/// The body of a member's JoinGroup request (versions 0 to 9) that offers this one protocol and gives no reason.
///
/// # Examples
/// ```
/// use tenure::protocol::budget::{MemberLengths, Names, join_request_len};
/// let names = Names { group: 1, protocol: 5, ..Names::default() };
/// let member = MemberLengths { id: 0, subscription: 20, ..MemberLengths::default() };
/// assert_eq!(join_request_len(0, &names, &member), 3 + 4 + 2 + 10 + 4 + 7 + 4 + 20);
/// ```
pub fn join_request_len(version: i16, names: &Names, member: &MemberLengths) -> u64 {
    let wire = Wire { flexible: version >= 6 };
    let offer = wire.text(names.protocol) + wire.bytes(member.subscription) + wire.tags();
    wire.text(names.group)
        + 4
        + since(version, 1, 4)
        + wire.text(member.id)
        + since(version, 5, wire.nullable(member.instance))
        + wire.text(CONSUMER)
        + wire.list(1)
        + offer
        + since(version, 8, wire.nullable(None))
        + wire.tags()
}

/// The body of the JoinGroup response (versions 0 to 9) that the leader gets.
pub fn join_response_len(
    version: i16,
    names: &Names,
    members: impl ExactSizeIterator<Item = MemberLengths>,
) -> u64 {
    let wire = Wire { flexible: version >= 6 };
    let head = since(version, 2, 4)
        + 2
        + 4
        + since(version, 7, wire.nullable(Some(CONSUMER)))
        + wire.text(names.protocol)
        + wire.text(names.leader)
        + since(version, 9, 1)
        + wire.text(names.leader)
        + wire.list(members.len() as u64)
        + wire.tags();
    let listed = members.map(|member| {
        wire.text(member.id)
            + since(version, 5, wire.nullable(member.instance))
            + wire.bytes(member.subscription)
            + wire.tags()
    });
    head + listed.sum::<u64>()
}

/// The body of the SyncGroup request (versions 0 to 5) that the leader sends.
pub fn sync_request_len(
    version: i16,
    names: &Names,
    members: impl ExactSizeIterator<Item = MemberLengths>,
) -> u64 {
    let wire = Wire { flexible: version >= 4 };
    let head = wire.text(names.group)
        + 4
        + wire.text(names.leader)
        + since(version, 3, wire.nullable(names.leader_instance))
        + since(version, 5, wire.nullable(Some(CONSUMER)) + wire.nullable(Some(names.protocol)))
        + wire.list(members.len() as u64)
        + wire.tags();
    let listed = members.map(|member| wire.text(member.id) + wire.bytes(member.assignment) + wire.tags());
    head + listed.sum::<u64>()
}

/// The value of a group's record (versions 0 to 4).
pub fn group_record_len(
    version: i16,
    names: &Names,
    members: impl ExactSizeIterator<Item = MemberLengths>,
) -> u64 {
    let wire = Wire { flexible: version >= 4 };
    let head = 2
        + wire.text(CONSUMER)
        + 4
        + wire.nullable(Some(names.protocol))
        + wire.nullable(Some(names.leader))
        + since(version, 2, 8)
        + wire.list(members.len() as u64)
        + wire.tags();
    let listed = members.map(|member| {
        wire.text(member.id)
            + since(version, 3, wire.nullable(member.instance))
            + wire.text(member.client_id)
            + wire.text(member.client_host)
            + since(version, 1, 4)
            + 4
            + wire.bytes(member.subscription)
            + wire.bytes(member.assignment)
            + wire.tags()
    });
    head + listed.sum::<u64>()
}

/// The key of a group's record.
pub fn group_key_len(group: u64) -> u64 {
    2 + 2 + group
}

/// The batch of one record that goes to the log: what the broker holds against its limit.
///
/// Source: the record format of Kafka, version 2, uncompressed.
pub fn batch_len(key: u64, value: u64) -> u64 {
    BATCH_HEAD + record_len(key, value)
}

/// One record of a batch, without headers.
pub(super) fn record_len(key: u64, value: u64) -> u64 {
    // Attributes, timestamp delta, offset delta; number of headers.
    let record = 1 + 1 + 1 + varint(key) + key + varint(value) + value + 1;
    varint(record) + record
}

pub(super) const BATCH_HEAD: u64 = 61;
