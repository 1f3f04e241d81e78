//! The partitions of compact user data, one after the other.

use core::iter::FusedIterator;

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
        let number = match &mut self.payload {
            Payload::Runs(numbers) => numbers.next(),
            Payload::Deltas(numbers) => numbers.next(),
            Payload::Roaring(numbers) => numbers.next(),
            Payload::Rice(numbers) => numbers.next(),
            Payload::Bits(numbers) => numbers.next(),
        }?;
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
