//! Claims on partitions that do not exist: who alone holds what.
//!
//! A topic may have been deleted, or the leader's metadata is behind, or a previous leader made topics that
//! the cluster does not have yet. The draft of KIP-429 gives such partitions back to their claimant; if
//! several claim one, to the holder of the highest generation, and to nobody if there are two of those.
//!
//! One member's are found by walking all claims for each piece of its own, without memory ([`held_alone`]); a leader
//! that wants everybody's walks all claims once, in the order of topics and numbers ([`SoleHolders`]).

use alloc::collections::BinaryHeap;
use alloc::vec::Vec;

use crate::group::foreign::Ranks;
use crate::group::{ForeignClaim, Group, Protocol};
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

/// Part of a foreign claim that only its claimant holds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SolePiece {
    pub(crate) member: u32,
    /// Which of the group's foreign claims.
    pub(crate) claim: u32,
    pub(crate) from: i32,
    pub(crate) to: i32,
}

/// What of all foreign claims of a group goes back to cooperative members, and the memory to find it.
#[derive(Clone, Debug, Default)]
pub(crate) struct SoleHolders {
    ranks: Ranks,
    starts: Vec<Start>,
    active: BinaryHeap<Active>,
    pieces: Vec<SolePiece>,
}

/// Where a claim begins.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Start {
    topic: u32,
    from: i32,
    claim: u32,
    member: u32,
}

/// A claim that has begun. The highest generation comes first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Active {
    generation: i32,
    to: i32,
    claim: u32,
    member: u32,
}

impl SoleHolders {
    /// Finds everybody's. Cost: O(F log F) for F foreign claims.
    pub(crate) fn find(&mut self, group: &Group) {
        self.pieces.clear();
        self.starts.clear();
        self.ranks.fill(&group.foreign, &group.texts);
        for (member, bounds) in (0..).zip(group.foreign_start.windows(2)) {
            for claim in bounds[0]..bounds[1] {
                let foreign = &group.foreign[claim as usize];
                let topic = self.ranks.of(foreign);
                self.starts.push(Start { topic, from: foreign.from, claim, member });
            }
        }
        self.starts.sort_unstable();
        let starts = core::mem::take(&mut self.starts);
        starts.chunk_by(|a, b| a.topic == b.topic).for_each(|topic| self.sweep(group, topic));
        self.starts = starts;
        self.pieces.sort_unstable_by_key(|piece| (piece.claim, piece.from));
    }

    /// What goes back: by member, topic and number.
    pub(crate) fn pieces(&self) -> &[SolePiece] {
        &self.pieces
    }

    /// Walks the claims on one topic from the lowest number to the highest.
    fn sweep(&mut self, group: &Group, starts: &[Start]) {
        self.active.clear();
        let mut starts = starts.iter().peekable();
        let mut at = i64::MIN;
        loop {
            if self.active.is_empty() {
                let Some(first) = starts.peek() else { return };
                at = at.max(first.from.into());
            }
            while let Some(start) = starts.next_if(|start| i64::from(start.from) <= at) {
                let Start { claim, member, .. } = *start;
                let to = group.foreign[claim as usize].to;
                self.active.push(Active { generation: group.generation[member as usize], to, claim, member });
            }
            let Some(first) = self.live(at).copied() else { continue };
            self.active.pop();
            let rival =
                self.live(at).filter(|rival| rival.generation == first.generation).map(|rival| rival.to);
            // Nothing changes before another claim begins, or one of the highest generation ends.
            let border = starts.peek().map_or(i64::MAX, |start| i64::from(start.from) - 1);
            let end = i64::from(first.to).min(border).min(rival.map_or(i64::MAX, i64::from));
            if rival.is_none() && group.protocol[first.member as usize] == Protocol::Cooperative {
                self.give(first, at as i32, end as i32);
            }
            self.active.push(first);
            at = end + 1;
        }
    }

    /// The claim of the highest generation among those that have not ended before `at`.
    fn live(&mut self, at: i64) -> Option<&Active> {
        while self.active.peek().is_some_and(|active| i64::from(active.to) < at) {
            self.active.pop();
        }
        self.active.peek()
    }

    fn give(&mut self, Active { claim, member, .. }: Active, from: i32, to: i32) {
        match self.pieces.last_mut() {
            Some(last) if last.claim == claim && last.to.checked_add(1) == Some(from) => last.to = to,
            _ => self.pieces.push(SolePiece { member, claim, from, to }),
        }
    }

    pub(crate) fn memory_usage(&self) -> usize {
        self.ranks.memory_usage()
            + self.starts.capacity() * size_of::<Start>()
            + self.active.capacity() * size_of::<Active>()
            + self.pieces.capacity() * size_of::<SolePiece>()
    }
}
