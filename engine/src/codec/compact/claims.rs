//! The partitions of compact user data, one after the other.

use core::iter::FusedIterator;

use crate::codec::text::Text;

use super::rice::Rice;
use super::roaring::Members;
use super::space::Locator;
use super::varints::{Bits, Deltas, Runs};

/// A partition that a member says it owns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Claim {
    /// The topic's number in the data: see [`CompactUserData::topic_place`](super::CompactUserData::topic_place).
    pub topic: u32,
    /// The partition.
    pub partition: u32,
}

/// The numbers of one payload.
#[derive(Debug, Clone)]
pub(super) enum Payload<'a> {
    Runs(Runs<'a>),
    Deltas(Deltas<'a>),
    Roaring(Members<'a>),
    Rice(Rice<'a>),
    Bits(Bits<'a>),
}

impl Payload<'_> {
    #[inline]
    fn next(&mut self) -> Option<u32> {
        match self {
            Self::Runs(numbers) => numbers.next(),
            Self::Deltas(numbers) => numbers.next(),
            Self::Roaring(numbers) => numbers.next(),
            Self::Rice(numbers) => numbers.next(),
            Self::Bits(numbers) => numbers.next(),
        }
    }

    /// The next numbers that follow each other, as far as the bytes say it at once.
    fn next_run(&mut self) -> Option<(u32, u64)> {
        match self {
            Self::Runs(numbers) => numbers.next_run(),
            Self::Roaring(numbers) => numbers.next_run(),
            _ => Some((self.next()?, 1)),
        }
    }
}

/// The claims of a [`CompactUserData`](super::CompactUserData), ascending by topic and partition.
#[derive(Debug, Clone)]
pub struct Claims<'a> {
    pub(super) payload: Payload<'a>,
    pub(super) locator: Locator<'a>,
    pub(super) left: usize,
}

impl Iterator for Claims<'_> {
    type Item = Claim;

    #[inline]
    fn next(&mut self) -> Option<Claim> {
        let number = self.payload.next()?;
        self.left = self.left.saturating_sub(1);
        Some(self.locator.locate(number))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }

    fn fold<B, F: FnMut(B, Claim) -> B>(self, init: B, mut f: F) -> B {
        let mut locator = self.locator;
        let each = |folded: B, number: u32| f(folded, locator.locate(number));
        // One loop an encoding, so that the choice is made once and not for each number.
        match self.payload {
            Payload::Runs(numbers) => numbers.fold(init, each),
            Payload::Deltas(numbers) => numbers.fold(init, each),
            Payload::Roaring(numbers) => numbers.fold(init, each),
            Payload::Rice(numbers) => numbers.fold(init, each),
            Payload::Bits(numbers) => numbers.fold(init, each),
        }
    }
}

impl ExactSizeIterator for Claims<'_> {}
impl FusedIterator for Claims<'_> {}

/// Partitions of one topic that follow each other and are all claimed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub struct ClaimRange {
    /// The topic's number, as that of a [`Claim`].
    pub topic: u32,
    /// The first partition.
    pub from: u32,
    /// The last one.
    pub to: u32,
}

/// The claims of a [`CompactUserData`](super::CompactUserData) as ranges, ascending and as long as can be.
///
/// Cost: a step for each run in the bytes and each topic, however many partitions a run has: this is how bytes from
/// strangers are read.
#[derive(Debug, Clone)]
pub struct ClaimRanges<'a> {
    pub(super) payload: Payload<'a>,
    pub(super) locator: Locator<'a>,
    /// What is left of the run in hand: its first number, and how many.
    pub(super) run: (u64, u64),
    /// The run that comes after it.
    pub(super) next: Option<(u32, u64)>,
}

impl<'a> ClaimRanges<'a> {
    pub(super) fn new(payload: Payload<'a>, locator: Locator<'a>) -> Self {
        let mut payload = payload;
        let next = payload.next_run();
        Self { payload, locator, run: (0, 0), next }
    }
}

impl Iterator for ClaimRanges<'_> {
    type Item = ClaimRange;

    fn next(&mut self) -> Option<ClaimRange> {
        if self.run.1 == 0 {
            let (first, len) = self.next?;
            self.run = (u64::from(first), len);
            self.next = self.payload.next_run();
            // Bytes may say in pieces what follows each other.
            while let Some((first, len)) = self.next
                && u64::from(first) == self.run.0.saturating_add(self.run.1)
            {
                self.run.1 = self.run.1.saturating_add(len);
                self.next = self.payload.next_run();
            }
        }
        let (first, len) = self.run;
        let (Claim { topic, partition }, room) = self.locator.locate_with_room(first as u32);
        let taken = len.min(room);
        self.run = (first.saturating_add(taken), len.saturating_sub(taken));
        let to = u64::from(partition).saturating_add(taken).saturating_sub(1);
        Some(ClaimRange { topic, from: partition, to: to as u32 })
    }
}

impl FusedIterator for ClaimRanges<'_> {}

/// As [`ClaimRanges`], with the topics' names.
///
/// Cost: that of the ranges and of one walk over the names.
#[derive(Debug, Clone)]
pub(super) struct NamedRanges<'a, N> {
    pub(super) ranges: ClaimRanges<'a>,
    /// The names that were not passed yet.
    pub(super) names: N,
    /// The number of the next one of them.
    pub(super) next: u32,
    pub(super) name: Text<'a>,
}

impl<'a, N: Iterator<Item = Text<'a>>> Iterator for NamedRanges<'a, N> {
    type Item = (Text<'a>, ClaimRange);

    fn next(&mut self) -> Option<(Text<'a>, ClaimRange)> {
        let range = self.ranges.next()?;
        while self.next <= range.topic {
            self.name = self.names.next()?;
            self.next = self.next.saturating_add(1);
        }
        Some((self.name, range))
    }
}
