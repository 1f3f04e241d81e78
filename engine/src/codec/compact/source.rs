//! Where the claims to be written come from: a sorted list, or a row of bits.

use core::ops::Range;

/// Claims in ascending order, none twice.
pub(super) trait Source {
    /// Calls back for each claim: the topic's number and the partition.
    fn each(&self, visit: impl FnMut(u32, u32));
}

/// Topics in the upper half, partitions in the lower, sorted.
pub(super) struct Keys<'s>(pub(super) &'s [u64]);

impl Source for Keys<'_> {
    #[inline]
    fn each(&self, mut visit: impl FnMut(u32, u32)) {
        for &key in self.0 {
            visit((key >> 32) as u32, key as u32);
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
