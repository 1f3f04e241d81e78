//! Where the claims to be written come from: a sorted list, or a row of bits.

use core::ops::Range;

/// Claims in ascending order, none twice.
pub(super) trait Source: Sized {
    /// Calls back for each claim: the topic's number and the partition.
    fn each(&self, visit: impl FnMut(u32, u32));

    /// Calls back with pieces of how many numbers were left out before each number. The lengths of all pieces but the
    /// last divide by [`PIECE`].
    #[inline]
    fn each_piece(&self, given: Given<'_>, visit: impl FnMut(&[u32])) {
        each_piece(self, given, visit);
    }
}

/// So many numbers are looked at together: loops over slices have no branch that depends on what is owned.
pub(super) const PIECE: usize = 64;

/// Topics in the upper half, partitions in the lower, sorted.
#[derive(Debug, Clone, Copy)]
pub(super) struct Keys<'s>(pub(super) &'s [u64]);

impl Source for Keys<'_> {
    #[inline]
    fn each(&self, mut visit: impl FnMut(u32, u32)) {
        for &key in self.0 {
            visit((key >> 32) as u32, key as u32);
        }
    }
}

/// How many numbers are left out before each, if all topics take equally many.
#[derive(Debug, Clone, Copy)]
pub(super) struct Strided<'s> {
    pub(super) deltas: &'s [u32],
    pub(super) stride: u32,
}

impl Source for Strided<'_> {
    #[inline]
    fn each(&self, mut visit: impl FnMut(u32, u32)) {
        let (mut next, mut topic, mut begin) = (0_u32, 0_u32, 0_u32);
        for &delta in self.deltas {
            let number = next.wrapping_add(delta);
            next = number.wrapping_add(1);
            let inside = number.wrapping_sub(begin);
            if inside >= self.stride {
                let topics = inside.checked_div(self.stride).unwrap_or(0);
                topic = topic.wrapping_add(topics);
                begin = begin.wrapping_add(topics.wrapping_mul(self.stride));
            }
            visit(topic, number.wrapping_sub(begin));
        }
    }

    #[inline]
    fn each_piece(&self, given: Given<'_>, mut visit: impl FnMut(&[u32])) {
        match given {
            Given::Stride(stride) if stride == self.stride => visit(self.deltas),
            _ => each_piece(self, given, visit),
        }
    }
}

/// A row of bits, of which each topic has a range.
pub(super) struct Row<'s> {
    pub(super) words: &'s [u64],
    pub(super) ranges: &'s [Range<u32>],
}

impl Source for Row<'_> {
    fn each(&self, mut visit: impl FnMut(u32, u32)) {
        for (topic, range) in (0_u32..).zip(self.ranges) {
            let (first, behind) = ((range.start >> 6) as usize, (range.end.div_ceil(64)) as usize);
            let words = self.words.get(first..behind.max(first)).unwrap_or_default();
            for (at, &word) in (range.start & !63..).step_by(64).zip(words) {
                let mut left = word;
                if at < range.start {
                    left &= u64::MAX.wrapping_shl(range.start & 63);
                }
                if range.end.wrapping_sub(at) < 64 {
                    left &= !u64::MAX.wrapping_shl(range.end & 63);
                }
                while left != 0 {
                    let bit = at.wrapping_add(left.trailing_zeros());
                    visit(topic, bit.wrapping_sub(range.start));
                    left &= left.wrapping_sub(1);
                }
            }
        }
    }
}

/// Pieces of numbers that come one by one.
fn each_piece<S: Source>(source: &S, given: Given<'_>, mut visit: impl FnMut(&[u32])) {
    let mut piece = [0; PIECE];
    let mut filled = 0;
    Numbers { source, given }.each_delta(|delta| {
        if filled == PIECE {
            visit(&piece);
            filled = 0;
        }
        if let Some(to) = piece.get_mut(filled) {
            *to = delta;
        }
        filled = filled.saturating_add(1);
    });
    visit(piece.get(..filled).unwrap_or_default());
}

/// The ranges of numbers that topics are given.
#[derive(Debug, Clone, Copy)]
pub(super) enum Given<'s> {
    Stride(u32),
    /// The begin of each topic's range.
    Bases(&'s [u32]),
}

/// Claims as ascending numbers.
pub(super) struct Numbers<'s, S> {
    pub(super) source: &'s S,
    pub(super) given: Given<'s>,
}

impl<S: Source> Numbers<'_, S> {
    /// Calls back for each number.
    #[inline]
    pub(super) fn each(&self, mut visit: impl FnMut(u32)) {
        // One place that calls, so that what is called is put in place.
        self.source.each(|topic, partition| {
            let begin = match self.given {
                Given::Stride(stride) => topic.wrapping_mul(stride),
                Given::Bases(bases) => bases.get(topic as usize).copied().unwrap_or_default(),
            };
            visit(begin.wrapping_add(partition));
        });
    }

    /// Calls back for each number with how many were left out before it.
    #[inline]
    pub(super) fn each_delta(&self, mut visit: impl FnMut(u32)) {
        let mut next = 0_u32;
        self.each(|number| {
            visit(number.wrapping_sub(next));
            next = number.wrapping_add(1);
        });
    }

    /// As [`Source::each_piece`].
    #[inline]
    pub(super) fn each_piece(&self, visit: impl FnMut(&[u32])) {
        self.source.each_piece(self.given, visit);
    }

    /// Calls back for each run: how many numbers were left out before it, and its length less one.
    pub(super) fn each_run(&self, mut visit: impl FnMut(u32, u32)) {
        let mut open: Option<(u32, u32)> = None;
        self.each_delta(|delta| match &mut open {
            Some((_, more)) if delta == 0 => *more = more.wrapping_add(1),
            _ => {
                if let Some((delta, more)) = open.replace((delta, 0)) {
                    visit(delta, more);
                }
            }
        });
        if let Some((delta, more)) = open {
            visit(delta, more);
        }
    }
}
