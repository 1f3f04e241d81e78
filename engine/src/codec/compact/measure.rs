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
/// Cost: one look at the numbers, and a second one if Roaring may be the shortest.
pub(super) fn choose<S: Source>(
    numbers: &Numbers<'_, S>,
    count: u32,
    last: u32,
    only: Option<Encoding>,
) -> Choice {
    let sums = Sums::of(numbers, count, last);
    let bits = if count == 0 { 0 } else { u64::from(last >> 3).wrapping_add(1) };
    let (k, rice) = sums.rice(count);
    let mut best = Choice { encoding: Encoding::Runs, len: sums.runs, k, outline: Outline::default() };
    for (encoding, len) in [(Encoding::Deltas, sums.deltas), (Encoding::Rice, rice), (Encoding::Bits, bits)] {
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
    runs: u64,
    deltas: u64,
    run_count: u64,
    /// The least k that is tried.
    k: u32,
    /// The unary parts of all deltas with that k, and with the next two.
    above: [u64; 3],
}

impl Sums {
    fn of<S: Source>(numbers: &Numbers<'_, S>, count: u32, last: u32) -> Self {
        // The best k is near the binary logarithm of 0.69 times the mean.
        let left_out = u64::from(last).saturating_add(1).saturating_sub(u64::from(count));
        let mean = left_out.checked_div(u64::from(count)).unwrap_or(0).max(1);
        let k = mean.ilog2().saturating_sub(1).min(K_MAX.saturating_sub(2));
        let (mut runs, mut deltas, mut run_count, mut more) = (0_u64, 0_u64, 0_u64, 0_u32);
        let (mut low, mut middle, mut high) = (0_u64, 0_u64, 0_u64);
        numbers.each_delta(|delta| {
            let len = varint_len(delta);
            deltas = deltas.wrapping_add(len);
            let shifted = delta.wrapping_shr(k);
            low = low.wrapping_add(u64::from(shifted));
            middle = middle.wrapping_add(u64::from(shifted >> 1));
            high = high.wrapping_add(u64::from(shifted >> 2));
            if delta == 0 && run_count > 0 {
                more = more.wrapping_add(1);
            } else {
                // The run before is over; the first time there is none, and nothing is added for it below.
                runs = runs.wrapping_add(len).wrapping_add(varint_len(more));
                run_count = run_count.wrapping_add(1);
                more = 0;
            }
        });
        if run_count > 0 {
            // One length was counted for the run before the first, which does not exist: a byte; the last one's is open.
            runs = runs.wrapping_add(varint_len(more)).wrapping_sub(1);
        }
        Self { runs, deltas, run_count, k, above: [low, middle, high] }
    }

    /// The best k, and the bytes with it.
    fn rice(&self, count: u32) -> (u32, u64) {
        let mut best = (0, u64::MAX);
        for (k, above) in (self.k..).zip(self.above) {
            let high = above.saturating_add(u64::from(count)).div_ceil(8);
            let head = varint_len(count).saturating_add(1);
            let len = low_len(u64::from(count), k).saturating_add(high).saturating_add(head);
            if len < best.1 {
                best = (k, len);
            }
        }
        best
    }
}
