//! How long the numbers are in each encoding, and which is the shortest.

use super::Encoding;
use super::rice::{K_MAX, low_len};
use super::roaring::Outline;
use super::source::{Numbers, Source};
use super::varints::varint_len;

/// An encoding that was chosen, with what its writer needs to know.
#[derive(Debug, Clone, Copy)]
pub(super) struct Choice {
    pub(super) encoding: Encoding,
    /// Bytes of the payload.
    pub(super) len: u64,
    pub(super) k: u32,
    pub(super) outline: Outline,
}

/// Chooses the shortest encoding, the one with the lowest number of several; or measures the one asked for.
///
/// `count` numbers, of which the last is `last`.
///
/// Cost: one look at the numbers, and another each if runs or Roaring may be the shortest.
pub(super) fn choose<S: Source>(
    numbers: &Numbers<'_, S>,
    count: u32,
    last: u32,
    only: Option<Encoding>,
) -> Choice {
    let sums = Sums::of(numbers, count, last);
    let bits = if count == 0 { 0 } else { u64::from(last >> 3).wrapping_add(1) };
    let (k, rice) = sums.rice(count);
    let mut best = Choice { encoding: Encoding::Runs, len: sums.runs_min, k, outline: Outline::default() };
    let others = [(Encoding::Deltas, sums.deltas), (Encoding::Rice, rice), (Encoding::Bits, bits)];
    // Of runs only the least length is known; it is worth another look only if the shortest may be theirs.
    let shortest = others.iter().fold(u64::MAX, |shortest, &(_, len)| shortest.min(len));
    if only.is_none() && sums.runs_min <= shortest || only == Some(Encoding::Runs) {
        best.len = 0;
        numbers.each_run(|delta, more| {
            best.len = best.len.saturating_add(varint_len(delta)).saturating_add(varint_len(more));
        });
    }
    for (encoding, len) in others {
        if only == Some(encoding) || only.is_none() && len < best.len {
            best = Choice { encoding, len, ..best };
        }
    }
    // Each run takes two bytes at least, unless a bitmap takes 8 KiB; the head takes 16.
    let roaring_min = sums.run_count.saturating_mul(2).min(8_192).saturating_add(16);
    if only == Some(Encoding::Roaring) || only.is_none() && roaring_min < best.len {
        let outline = Outline::of(numbers);
        let len = outline.len() as u64;
        if only.is_some() || len < best.len {
            best = Choice { encoding: Encoding::Roaring, len, outline, ..best };
        }
    }
    best
}

/// What one look at the numbers gives.
#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    /// The length of runs if none of them is longer than 128; else less than it.
    runs_min: u64,
    deltas: u64,
    run_count: u64,
    /// The lower k that is tried.
    k: u32,
    /// The unary parts of all deltas with that k, and with the next one.
    above: [u32; 2],
}

impl Sums {
    fn of<S: Source>(numbers: &Numbers<'_, S>, count: u32, last: u32) -> Self {
        // Where gaps are as by chance, the best k is the binary logarithm of their mean, or one less.
        let left_out = u64::from(last).saturating_add(1).saturating_sub(u64::from(count));
        let mean = left_out.checked_div(u64::from(count)).unwrap_or(0).max(1);
        let k = mean.ilog2().saturating_sub(1).min(K_MAX.saturating_sub(1));
        // No branch in here. All deltas together are below 2^32, so none of the sums overflows.
        let (mut two, mut three, mut any, mut zeros) = (0_u32, 0_u32, 0_u32, 0_u32);
        let (mut low, mut high) = (0_u32, 0_u32);
        let mut first = None;
        numbers.each_piece(|deltas| {
            first = first.or(deltas.first().copied());
            for &delta in deltas {
                two = two.wrapping_add(u32::from(delta >> 7 != 0));
                three = three.wrapping_add(u32::from(delta >> 14 != 0));
                zeros = zeros.wrapping_add(u32::from(delta == 0));
                any |= delta;
                let above = delta.wrapping_shr(k);
                low = low.wrapping_add(above);
                high = high.wrapping_add(above >> 1);
            }
        });
        let mut deltas = u64::from(count).saturating_add(u64::from(two)).saturating_add(u64::from(three));
        if any >= 1 << 21 {
            deltas = 0;
            numbers.each_delta(|delta| deltas = deltas.saturating_add(varint_len(delta)));
        }
        // A number that nothing was left out before belongs to the run of the one before; the first begins a run.
        let inner = u64::from(zeros).saturating_sub(u64::from(first == Some(0)));
        let run_count = u64::from(count).saturating_sub(inner);
        let runs_min = deltas.saturating_sub(inner).saturating_add(run_count);
        Self { runs_min, deltas, run_count, k, above: [low, high] }
    }

    /// The best k, and the bytes with it.
    fn rice(&self, count: u32) -> (u32, u64) {
        let mut best = (0, u64::MAX);
        for (k, above) in (self.k..).zip(self.above) {
            let high = u64::from(above).saturating_add(u64::from(count)).div_ceil(8);
            let head = varint_len(count).saturating_add(1);
            let len = low_len(u64::from(count), k).saturating_add(high).saturating_add(head);
            if len < best.1 {
                best = (k, len);
            }
        }
        best
    }
}
