//! The assignments of all members in one buffer, each written where its size says that it belongs.

use alloc::vec::Vec;
use core::ops::Range;

use super::heads::Heads;
use super::intake::Intake;
use super::layout::{COUNT_BYTES, Layout, Run};
use super::{AssignmentVersion, JoinEntry, LeaderError};
use crate::codec::consumer::{AssignmentErrorCode, NEWEST_VERSION};
use crate::id::{MemberIndex, PartitionIndex};
use crate::protocol::payload::FOLLOW_UP;
use crate::revoke::{Mode, Round};
use crate::topology::Topology;

/// How assignments look this round.
#[derive(Debug, Clone, Copy)]
pub(super) struct Form {
    pub(super) mode: Mode,
    pub(super) version: AssignmentVersion,
    /// Whether members that must give something up are told so in their user data.
    pub(super) tell: bool,
    /// Whether the draft's error code says so to all.
    pub(super) rejoin: bool,
}

impl Form {
    fn version(&self, subscribed: i16) -> i16 {
        let version = match self.version {
            AssignmentVersion::AsSubscribed => subscribed,
            AssignmentVersion::Newest => NEWEST_VERSION,
        };
        if self.mode == Mode::Draft { version.min(1) } else { version }
    }
}

/// The bytes of a round.
#[derive(Debug, Clone, Default)]
pub(super) struct Output {
    /// As long as the longest round so far.
    bytes: Vec<u8>,
    len: usize,
    /// Where each member's assignment is, by position in the response.
    spans: Vec<Range<usize>>,
    /// What is written around the blocks, by member.
    frames: Vec<Frame>,
    /// Positions of first entries, ascending: whom to write.
    firsts: Vec<u32>,
}

/// What an assignment has around its blocks.
#[derive(Debug, Clone, Copy)]
struct Frame {
    version: i16,
    tell: bool,
    code: Option<i16>,
}

impl Frame {
    fn user_data(&self) -> &'static [u8] {
        if self.tell { FOLLOW_UP } else { &[] }
    }

    /// Version, number of blocks, length of the user data, the data, and the code.
    fn bytes(&self) -> usize {
        2 + 4 + 4 + self.user_data().len() + if self.code.is_some() { 2 } else { 0 }
    }
}

impl Output {
    /// Writes the assignments of a round.
    pub(super) fn write<M: JoinEntry>(
        &mut self,
        members: &[M],
        round: &Round<'_>,
        form: &Form,
        heads: &Heads,
        intake: &Intake,
        layout: &Layout,
    ) -> Result<(), LeaderError> {
        if layout.name_len_max > NAME_LEN_MAX {
            return Err(LeaderError::TopicName { len: layout.name_len_max });
        }
        self.measure(round, form, intake, layout);
        if self.bytes.len() < self.len {
            self.bytes.resize(self.len, 0);
        }
        let job = Job { members, round, heads, intake, layout, spans: &self.spans, frames: &self.frames };
        job.write(&self.firsts, 0, &mut self.bytes[..self.len]);
        Ok(())
    }

    /// Finds how long each assignment is and where it goes.
    fn measure(&mut self, round: &Round<'_>, form: &Form, intake: &Intake, layout: &Layout) {
        self.frames.clear();
        let code = if form.rejoin { AssignmentErrorCode::NeedRejoin } else { AssignmentErrorCode::None };
        for (member, &subscribed) in intake.version.iter().enumerate() {
            let version = form.version(subscribed);
            let draft = form.mode == Mode::Draft && version >= 1;
            let tell =
                form.tell && form.mode == Mode::Shipped && round.revokes(MemberIndex::new(member as u32));
            self.frames.push(Frame { version, tell, code: draft.then(|| code.code()) });
        }
        self.spans.clear();
        self.firsts.clear();
        self.len = 0;
        for (position, &member) in intake.member_of.iter().enumerate() {
            let member = member as usize;
            let first = intake.order[member] as usize;
            if first < position {
                let span = self.spans[first].clone();
                self.spans.push(span);
                continue;
            }
            let begin = self.len;
            self.len += self.frames[member].bytes()
                + layout.block_bytes[member]
                + layout.returned.extra_bytes(round.group(), layout.runs(member), member);
            self.spans.push(begin..self.len);
            self.firsts.push(position as u32);
        }
    }

    /// All assignments, one after the other.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    /// The assignment of the member at a position of the response.
    pub(super) fn get(&self, position: usize) -> Option<&[u8]> {
        self.bytes.get(self.spans.get(position)?.clone())
    }

    /// Positions of the members, each member once.
    pub(super) fn firsts(&self) -> &[u32] {
        &self.firsts
    }

    pub(super) fn memory_usage(&self) -> usize {
        self.bytes.capacity()
            + self.spans.capacity() * size_of::<Range<usize>>()
            + self.frames.capacity() * size_of::<Frame>()
            + self.firsts.capacity() * 4
    }
}

/// Text is written behind a signed 16-bit length.
const NAME_LEN_MAX: usize = 0x7fff;

/// Everything that writing needs to read.
#[derive(Clone, Copy)]
struct Job<'a, M> {
    members: &'a [M],
    round: &'a Round<'a>,
    heads: &'a Heads,
    intake: &'a Intake,
    layout: &'a Layout,
    spans: &'a [Range<usize>],
    frames: &'a [Frame],
}

impl<M: JoinEntry> Job<'_, M> {
    /// Writes the members at these positions; `bytes` begins where the first one's assignment does, at `begin`.
    fn write(&self, positions: &[u32], begin: usize, bytes: &mut [u8]) {
        #[cfg(feature = "rayon")]
        if bytes.len() >= PARALLEL_BYTES && positions.len() > 1 && rayon::current_thread_index().is_some() {
            let (left, right) = positions.split_at(positions.len() / 2);
            let middle = self.spans[right[0] as usize].start;
            let (low, high) = bytes.split_at_mut(middle - begin);
            rayon::join(|| self.write(left, begin, low), || self.write(right, middle, high));
            return;
        }
        for &position in positions {
            let span = &self.spans[position as usize];
            let member = self.intake.member_of[position as usize] as usize;
            self.write_member(member, &mut bytes[span.start - begin..span.end - begin]);
        }
    }

    fn write_member(&self, member: usize, out: &mut [u8]) {
        let frame = &self.frames[member];
        let group = self.round.group();
        let runs = self.layout.runs(member);
        let partitions = self.layout.partitions(self.round, member);
        let out = put(out, &frame.version.to_be_bytes());
        let again = if self.layout.again[member] { self.intake.blocks(self.members, member) } else { None };
        let again = again.filter(|blocks| blocks.len() == COUNT_BYTES + self.layout.block_bytes[member]);
        let out = if let Some(blocks) = again {
            put(out, blocks)
        } else if self.layout.returned.is_empty(member) {
            let out = put(out, &(runs.len() as u32).to_be_bytes());
            write_runs(group.topology(), self.heads, runs, partitions, out)
        } else {
            self.layout.returned.write(group, runs, partitions, member, out)
        };
        let data = frame.user_data();
        let len = if data.is_empty() { -1 } else { data.len() as i32 };
        let out = put(out, &len.to_be_bytes());
        let out = put(out, data);
        if let Some(code) = frame.code {
            put(out, &code.to_be_bytes());
        }
    }
}

/// Rounds that are shorter are not worth a second thread.
#[cfg(feature = "rayon")]
const PARALLEL_BYTES: usize = 1 << 17;

/// Writes blocks to the front, gives back what is behind them.
fn write_runs<'w>(
    topology: &Topology,
    heads: &Heads,
    runs: &[Run],
    partitions: &[PartitionIndex],
    out: &'w mut [u8],
) -> &'w mut [u8] {
    let (mut out, mut rest) = (out, partitions);
    for run in runs {
        let (numbers, behind) = rest.split_at(run.len as usize);
        rest = behind;
        out = heads.write(run.topic, run.len, out);
        out = put_numbers(out, topology.bases()[run.topic as usize], numbers);
    }
    out
}

/// Writes Kafka's numbers of partitions of one topic.
#[inline]
pub(super) fn put_numbers<'w>(out: &'w mut [u8], base: u32, partitions: &[PartitionIndex]) -> &'w mut [u8] {
    // Mostly one.
    match partitions {
        [p] => put(out, &(p.get() - base).to_be_bytes()),
        _ => put_many(out, base, partitions),
    }
}

fn put_many<'w>(out: &'w mut [u8], base: u32, partitions: &[PartitionIndex]) -> &'w mut [u8] {
    let (front, rest) = out.split_at_mut(partitions.len() * 4);
    for (to, p) in front.as_chunks_mut::<4>().0.iter_mut().zip(partitions) {
        *to = (p.get() - base).to_be_bytes();
    }
    rest
}

/// Writes bytes to the front, gives back what is behind them.
#[inline]
pub(super) fn put<'w>(out: &'w mut [u8], bytes: &[u8]) -> &'w mut [u8] {
    let (front, rest) = out.split_at_mut(bytes.len());
    front.copy_from_slice(bytes);
    rest
}
