//! Claims on what does not exist that go back to their holders, as the draft of KIP-429 has it.
//!
//! They join the blocks of what exists: topics ascend by name, numbers ascend within a topic.

use alloc::vec::Vec;
use core::cmp::Ordering;
use core::ops::Range;

use super::layout::{BLOCK_BYTES, Run};
use super::output::{put, put_numbers};
use crate::group::Group;
use crate::id::{MemberIndex, PartitionIndex, TopicIndex, utf16_cmp};
use crate::revoke::{Mode, Round};

/// The claims that go back, of all members.
#[derive(Debug, Clone, Default)]
pub(super) struct Returned {
    pieces: Vec<Piece>,
    /// Where each member's begin; empty if there are none at all.
    start: Vec<u32>,
}

/// Part of one of a member's foreign claims.
#[derive(Debug, Clone, Copy)]
struct Piece {
    member: u32,
    /// Which of the member's foreign claims: it has the topic's name.
    claim: u32,
    from: i32,
    to: i32,
}

impl Piece {
    fn len(&self) -> usize {
        usize::try_from(i64::from(self.to) - i64::from(self.from) + 1).unwrap_or(0)
    }
}

impl Returned {
    pub(super) fn collect(&mut self, round: &Round<'_>, mode: Mode) {
        self.pieces.clear();
        self.start.clear();
        let group = round.group();
        if mode == Mode::Shipped || group.foreign.is_empty() {
            return;
        }
        self.start.push(0);
        for member in group.member_indices() {
            let mut claim = 0;
            for piece in round.returned(member) {
                // Pieces come in the order of the claims that they are cut from.
                let holds = |of: crate::group::ForeignClaim<'_>| {
                    of.topic == piece.topic && of.from <= piece.from && piece.to <= of.to
                };
                claim += group.foreign_claims(member).skip(claim).position(holds).unwrap_or(0);
                let (member, claim) = (member.get(), claim as u32);
                self.pieces.push(Piece { member, claim, from: piece.from, to: piece.to });
            }
            self.start.push(self.pieces.len() as u32);
        }
    }

    fn of(&self, member: usize) -> &[Piece] {
        match self.start.get(member..member + 2) {
            Some(&[from, to]) => &self.pieces[from as usize..to as usize],
            _ => &[],
        }
    }

    /// Whether nothing goes back to a member.
    #[inline]
    pub(super) fn is_empty(&self, member: usize) -> bool {
        self.of(member).is_empty()
    }

    /// The names of all topics that something is given back of.
    pub(super) fn names<'a>(&'a self, group: &'a Group) -> impl Iterator<Item = &'a str> {
        self.pieces.iter().map(|piece| name(group, piece))
    }

    /// How many bytes a member's assignment is longer by what goes back to it.
    pub(super) fn extra_bytes(&self, group: &Group, runs: &[Run], member: usize) -> usize {
        if self.is_empty(member) {
            return 0;
        }
        blocks(group, runs, self.of(member))
            .map(|block| {
                let numbers: usize = self.of(member)[block.pieces.clone()].iter().map(Piece::len).sum();
                let head = if block.run.is_none() { BLOCK_BYTES + block.name.len() } else { 0 };
                head + 4 * numbers
            })
            .sum()
    }

    /// Writes the number of blocks and the blocks of a member; gives back what is behind them.
    pub(super) fn write<'w>(
        &self,
        group: &Group,
        runs: &[Run],
        partitions: &[PartitionIndex],
        member: usize,
        out: &'w mut [u8],
    ) -> &'w mut [u8] {
        let pieces = self.of(member);
        let count = blocks(group, runs, pieces).count();
        let (mut out, mut rest) = (put(out, &(count as u32).to_be_bytes()), partitions);
        for block in blocks(group, runs, pieces) {
            let pieces = &pieces[block.pieces];
            let (given, base) = match block.run {
                Some(run) => {
                    let (given, behind) = rest.split_at(run.len as usize);
                    rest = behind;
                    (given, group.topology().bases()[run.topic as usize])
                }
                None => (&rest[..0], 0),
            };
            let count = given.len() + pieces.iter().map(Piece::len).sum::<usize>();
            out = put(out, &(block.name.len() as u16).to_be_bytes());
            out = put(out, block.name.as_bytes());
            out = put(out, &(count as u32).to_be_bytes());
            // What does not exist of a topic that does is below its first partition or above its last.
            let below = pieces.partition_point(|piece| piece.to < 0);
            out = write_pieces(&pieces[..below], out);
            out = put_numbers(out, base, given);
            out = write_pieces(&pieces[below..], out);
        }
        out
    }

    pub(super) fn memory_usage(&self) -> usize {
        self.pieces.capacity() * size_of::<Piece>() + self.start.capacity() * 4
    }
}

fn write_pieces<'w>(pieces: &[Piece], mut out: &'w mut [u8]) -> &'w mut [u8] {
    for number in pieces.iter().flat_map(|piece| piece.from..=piece.to) {
        out = put(out, &number.to_be_bytes());
    }
    out
}

fn name<'a>(group: &'a Group, piece: &Piece) -> &'a str {
    group
        .foreign_claims(MemberIndex::new(piece.member))
        .nth(piece.claim as usize)
        .map_or("", |claim| claim.topic)
}

/// One topic of an assignment.
struct Block<'a> {
    name: &'a str,
    run: Option<Run>,
    pieces: Range<usize>,
}

/// Merges runs and pieces by topic name.
fn blocks<'a>(group: &'a Group, runs: &'a [Run], pieces: &'a [Piece]) -> impl Iterator<Item = Block<'a>> {
    let (mut run_at, mut piece_at) = (0, 0);
    core::iter::from_fn(move || {
        let run = runs.get(run_at).copied();
        let run_name = run.map(|run| group.topology().name(TopicIndex::new(run.topic)));
        let piece_name = pieces.get(piece_at).map(|piece| name(group, piece));
        let order = match (run_name, piece_name) {
            (Some(run), Some(piece)) => utf16_cmp(run, piece),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) => return None,
        };
        let from = piece_at;
        if order != Ordering::Less {
            let same = |piece: &&Piece| Some(name(group, piece)) == piece_name;
            piece_at += pieces[from..].iter().take_while(same).count();
        }
        let run = if order == Ordering::Greater { None } else { run };
        run_at += usize::from(run.is_some());
        let name = if run.is_some() { run_name } else { piece_name };
        Some(Block { name: name.unwrap_or_default(), run, pieces: from..piece_at })
    })
}
