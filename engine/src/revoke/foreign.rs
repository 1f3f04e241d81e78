//! Claims on partitions that do not exist: who alone holds what.
//!
//! A topic may have been deleted, or the leader's metadata is behind, or a previous leader made topics that
//! the cluster does not have yet. The draft of KIP-429 gives such partitions back to their claimant; if
//! several claim one, to the holder of the highest generation, and to nobody if there are two of those.

use crate::group::{ForeignClaim, Group};
use crate::id::MemberIndex;

/// The parts of a member's foreign claims that no other member holds at the same or a higher generation.
pub(super) fn held_alone(group: &Group, member: MemberIndex) -> impl Iterator<Item = ForeignClaim<'_>> {
    pieces(group, member).filter_map(|(piece, alone)| alone.then_some(piece))
}

/// The other parts.
pub(super) fn held_by_others_too(
    group: &Group,
    member: MemberIndex,
) -> impl Iterator<Item = ForeignClaim<'_>> {
    pieces(group, member).filter_map(|(piece, alone)| (!alone).then_some(piece))
}

/// Cuts each foreign claim of a member at the borders of others' claims that count against it.
fn pieces(group: &Group, member: MemberIndex) -> impl Iterator<Item = (ForeignClaim<'_>, bool)> {
    group.foreign_claims(member).flat_map(move |claim| {
        let mut from = Some(claim.from);
        core::iter::from_fn(move || {
            let begin = from?;
            let (end, alone) = piece(group, member, &claim, begin);
            from = if end < claim.to { Some(end + 1) } else { None };
            Some((ForeignClaim { from: begin, to: end, ..claim }, alone))
        })
    })
}

/// Where the piece that begins at `begin` ends, and whether the member is alone on it.
fn piece(group: &Group, member: MemberIndex, claim: &ForeignClaim<'_>, begin: i32) -> (i32, bool) {
    let generation = group.generation(member);
    let rivals =
        group.member_indices().filter(|&other| other != member && group.generation(other) >= generation);
    let claims =
        rivals.flat_map(|other| group.foreign_claims(other)).filter(|rival| rival.topic == claim.topic);
    let mut alone_until = claim.to;
    let mut shared_until = None;
    for rival in claims {
        if rival.from <= begin && begin <= rival.to {
            shared_until = shared_until.max(Some(rival.to.min(claim.to)));
        } else if rival.from > begin {
            alone_until = alone_until.min(rival.from - 1);
        }
    }
    match shared_until {
        Some(end) => (end, false),
        None => (alone_until, true),
    }
}
