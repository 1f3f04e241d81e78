//! Claims on what does not exist that go back to their holders, as the draft of KIP-429 has it.
//!
//! They join the blocks of what exists: topics ascend by name, numbers ascend within a topic.

use alloc::vec::Vec;
use core::cmp::Ordering;
use core::ops::Range;

use super::layout::{BLOCK_BYTES, Run};
use super::output::{put, put_numbers};
use crate::group::Group;
use crate::id::{PartitionIndex, TopicIndex, utf16_cmp};
use crate::revoke::foreign::{SoleHolders, SolePiece};
use crate::revoke::{Mode, Round};

/// The claims that go back, of all members.
#[derive(Debug, Clone, Default)]
pub(super) struct Returned {
    holders: SoleHolders,
    /// Where each member's begin; empty if there are none at all.
    start: Vec<u32>,
}

/// Part of one of a member's foreign claims.
type Piece = SolePiece;

impl Returned {
    pub(super) fn collect(&mut self, round: &Round<'_>, mode: Mode) {
        self.start.clear();
        let group = round.group();
        if mode == Mode::Shipped || group.foreign.is_empty() {
            return;
        }
        self.holders.find(group);
        let pieces = self.holders.pieces();
        let mut at = 0;
        self.start.push(0);
        for member in group.member_indices() {
            at += pieces[at..].iter().take_while(|piece| piece.member == member.get()).count();
            self.start.push(at as u32);
        }
    }

    fn of(&self, member: usize) -> &[Piece] {
        match self.start.get(member..member + 2) {
            Some(&[from, to]) => &self.holders.pieces()[from as usize..to as usize],
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
        let pieces = if self.start.is_empty() { &[] } else { self.holders.pieces() };
        pieces.iter().map(|piece| name(group, piece))
    }

    /// How many bytes a member's assignment is longer by what goes back to it.
    pub(super) fn extra_bytes(&self, group: &Group, runs: &[Run], member: usize) -> usize {
        if self.is_empty(member) {
            return 0;
        }
        blocks(group, runs, self.of(member))
            .map(|block| {
                let numbers: usize = self.of(member)[block.pieces.clone()].iter().map(len).sum();
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
            let count = given.len() + pieces.iter().map(len).sum::<usize>();
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
        self.holders.memory_usage() + self.start.capacity() * 4
    }
}

fn write_pieces<'w>(pieces: &[Piece], mut out: &'w mut [u8]) -> &'w mut [u8] {
    for number in pieces.iter().flat_map(|piece| piece.from..=piece.to) {
        out = put(out, &number.to_be_bytes());
    }
    out
}

fn name<'a>(group: &'a Group, piece: &Piece) -> &'a str {
    group.texts.get(group.foreign[piece.claim as usize].topic as usize)
}

/// How many numbers a piece has.
fn len(piece: &Piece) -> usize {
    usize::try_from(i64::from(piece.to) - i64::from(piece.from) + 1).unwrap_or(0)
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
            let text = |piece: &Piece| group.foreign[piece.claim as usize].topic;
            let same =
                |piece: &&Piece| text(piece) == text(&pieces[from]) || Some(name(group, piece)) == piece_name;
            piece_at += pieces[from..].iter().take_while(same).count();
        }
        let run = if order == Ordering::Greater { None } else { run };
        run_at += usize::from(run.is_some());
        let name = if run.is_some() { run_name } else { piece_name };
        Some(Block { name: name.unwrap_or_default(), run, pieces: from..piece_at })
    })
}
