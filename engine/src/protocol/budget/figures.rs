//! What one round of a group takes, in one form.

use super::lengths::{
    MemberLengths, Names, batch_len, group_key_len, group_record_len, join_request_len, join_response_len,
    request_header_len, sync_request_len,
};
use super::limits::Subject;
use super::{JOIN_VERSION, RECORD_VERSION, SYNC_VERSION};

/// The largest of some sizes, and all together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Extent {
    /// The largest.
    pub max: u64,
    /// The sum.
    pub total: u64,
}

impl Extent {
    fn of(sizes: impl Iterator<Item = u64>) -> Self {
        sizes.fold(Self::default(), |sum, size| Self { max: sum.max.max(size), total: sum.total + size })
    }
}

/// Bytes of one round.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub struct Figures {
    /// Number of members.
    pub members: u64,
    /// The members' subscriptions.
    pub subscription: Extent,
    /// The members' assignments.
    pub assignment: Extent,
    /// The longest header of a request, which the broker counts as well.
    pub request_header: u64,
    /// The largest body of a JoinGroup request that offers this assignor alone.
    pub join_request: u64,
    /// The body of the JoinGroup response that the leader gets.
    pub join_response: u64,
    /// The body of the SyncGroup request that the leader sends.
    pub sync_request: u64,
    /// The value of the group's record.
    pub group_record: u64,
    /// The batch with that record and its key, as it goes to the log.
    pub group_batch: u64,
}

impl Figures {
    /// Counts a round from its members' lengths.
    pub fn of(names: &Names, members: impl ExactSizeIterator<Item = MemberLengths> + Clone) -> Self {
        let group_record = group_record_len(RECORD_VERSION, names, members.clone());
        Self {
            members: members.len() as u64,
            subscription: Extent::of(members.clone().map(|member| member.subscription)),
            assignment: Extent::of(members.clone().map(|member| member.assignment)),
            request_header: members
                .clone()
                .map(|member| request_header_len(member.client_id))
                .max()
                .unwrap_or(0),
            join_request: members
                .clone()
                .map(|member| join_request_len(JOIN_VERSION, names, &member))
                .max()
                .unwrap_or(0),
            join_response: join_response_len(JOIN_VERSION, names, members.clone()),
            sync_request: sync_request_len(SYNC_VERSION, names, members),
            group_record,
            group_batch: batch_len(group_key_len(names.group), group_record),
        }
    }

    /// The size of a subject as its limit counts it: bytes, a request with its header, or members.
    pub fn size(&self, subject: Subject) -> u64 {
        match subject {
            Subject::GroupRecord => self.group_batch,
            Subject::SyncRequest => self.request_header + self.sync_request,
            Subject::JoinRequest => self.request_header + self.join_request,
            Subject::JoinResponse => self.join_response,
            Subject::Members => self.members,
        }
    }
}
