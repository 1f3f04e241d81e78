//! The records of KIP-848, which has no leader and no record of the whole group.

use super::lengths::{BATCH_HEAD, batch_len, record_len};
use super::members::{Blocks, Budget};

/// Bytes that the newer group protocol writes for the group as it will have settled.
///
/// Every member has records of its own, and nothing travels through a leader. A target that moves everybody is written
/// as one batch, so that is what its limit meets. Close, not exact: lengths of lists and names are taken at their mean.
///
/// Source: `ConsumerGroupMemberMetadata`, `ConsumerGroupTargetAssignmentMember` and
/// `ConsumerGroupCurrentMemberAssignment` of Kafka 4.4.0, version 0; topics are named by 16 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub struct NewerProtocol {
    /// The largest batch with one member's record.
    pub largest_record: u64,
    /// The batch with the targets of all members.
    pub target_batch: u64,
}

impl NewerProtocol {
    pub(super) fn of(budget: &Budget<'_>) -> Self {
        let group = budget.group_id_len();
        let mut newer = Self::default();
        for (id, member) in budget.member_id_lens() {
            let key = 2 + 2 + group + 2 + id;
            let identity: u64 = member.identity().into_iter().map(compact).sum();
            let names = count(member.topics) + member.topic_names + member.topics * name_head(member);
            // Version, identity, names, pattern, timeout, server assignor, tags.
            let metadata = 2 + identity + names + 1 + 4 + 1 + 1;
            let lists = lists(member.target);
            let target = 2 + lists + 1;
            // Version, epoch, previous epoch, state, assigned, pending revocation, tags.
            let current = 2 + 4 + 4 + 1 + lists + 1 + 1;
            let largest = metadata.max(target).max(current);
            newer.largest_record = newer.largest_record.max(batch_len(key, largest));
            newer.target_batch += record_len(key, target);
        }
        newer.target_batch += BATCH_HEAD;
        newer
    }
}

/// Topics by id with their partitions.
fn lists(blocks: Blocks) -> u64 {
    // Counts of partitions take one byte up to 126 of them, then two.
    let counts = if blocks.partitions / blocks.count.max(1) < 127 { 1 } else { 2 };
    count(blocks.count) + blocks.count * (16 + counts + 1) + 4 * blocks.partitions
}

fn compact(len: Option<u64>) -> u64 {
    len.map_or(1, |len| count(len) + len)
}

fn count(count: u64) -> u64 {
    match count + 1 {
        0..=0x7f => 1,
        0x80..=0x3fff => 2,
        0x4000..=0x1f_ffff => 3,
        _ => 4,
    }
}

fn name_head(member: &super::members::Counted) -> u64 {
    if member.topic_names / member.topics.max(1) < 127 { 1 } else { 2 }
}
