//! From topics and partitions to numbers and back.

use core::ops::ControlFlow;

use super::claims::Claim;
use crate::codec::error::{DecodeError, DecodeErrorKind};
use crate::codec::reader::Reader;

/// The ranges of numbers that topics take, as read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Space<'a> {
    /// All ranges have the same length.
    Stride(u32),
    /// Each has its own; the bytes were checked.
    Counts {
        /// So many topics have a range.
        topics: u32,
        /// The entries.
        bytes: &'a [u8],
    },
}

impl<'a> Space<'a> {
    /// Reads a list of counts, and gives the end of the last range as well.
    pub(super) fn counts(
        reader: &mut Reader<'a>,
        topics_max: Option<u32>,
    ) -> Result<(Self, u64), DecodeError> {
        let at = reader.at();
        let topics = reader.uvar("counts")?;
        if topics_max.is_some_and(|most| topics > most) {
            let kind = DecodeErrorKind::Inconsistent { what: "more counts than topics" };
            return Err(DecodeError { at, field: "counts", kind });
        }
        let bytes = reader.rest();
        let before = reader.left();
        let (mut seen, mut end) = (0_u64, 0_u64);
        while seen < u64::from(topics) {
            let (count, times) = entry(reader)?;
            seen = seen.saturating_add(times);
            end = end.saturating_add(u64::from(count).saturating_mul(times));
        }
        if seen > u64::from(topics) || end > LIMIT {
            let what = if end > LIMIT { "numbers above 2^32" } else { "a count repeated too often" };
            return Err(DecodeError { at, field: "counts", kind: DecodeErrorKind::Inconsistent { what } });
        }
        let read = before.saturating_sub(reader.left());
        Ok((Self::Counts { topics, bytes: bytes.get(..read).unwrap_or_default() }, end))
    }

    /// The number of a partition; `None` if its topic's range has no place for it.
    pub(super) fn number(&self, topic: u32, partition: u32) -> Option<u32> {
        match *self {
            Self::Stride(stride) => {
                if partition >= stride {
                    return None;
                }
                topic.checked_mul(stride)?.checked_add(partition)
            }
            Self::Counts { .. } => {
                let mut found = None;
                let _ = self.ranges(|first, base, count, times| {
                    let nth = u64::from(topic).saturating_sub(u64::from(first));
                    if nth >= times {
                        return ControlFlow::Continue(());
                    }
                    if partition < count {
                        let base = nth.saturating_mul(u64::from(count)).saturating_add(u64::from(base));
                        found = u32::try_from(base.saturating_add(u64::from(partition))).ok();
                    }
                    ControlFlow::Break(())
                });
                found
            }
        }
    }

    /// Calls back for each entry: its first topic, the begin of that one's range, the count, how many topics have it.
    fn ranges(&self, mut visit: impl FnMut(u32, u32, u32, u64) -> ControlFlow<()>) -> ControlFlow<()> {
        let Self::Counts { bytes, .. } = *self else { return ControlFlow::Continue(()) };
        let (mut reader, mut topic, mut base) = (Reader::new(bytes), 0_u64, 0_u64);
        while let Ok((count, times)) = entry(&mut reader) {
            visit(narrow(topic), narrow(base), count, times)?;
            topic = topic.saturating_add(times);
            base = base.saturating_add(u64::from(count).saturating_mul(times));
        }
        ControlFlow::Continue(())
    }

    /// Starts turning ascending numbers into partitions.
    pub(super) fn locator(&self) -> Locator<'a> {
        match *self {
            Self::Stride(stride) => {
                let stride = stride.max(1);
                // Rounded up, so that the product's upper half is the exact quotient for all 32-bit numbers.
                let inverse = u64::MAX.wrapping_div(u64::from(stride)).wrapping_add(1);
                Locator::Stride { stride, inverse }
            }
            Self::Counts { bytes, .. } => {
                Locator::Counts { reader: Reader::new(bytes), topic: 0, base: 0, count: 0, times: 0 }
            }
        }
    }
}

/// Numbers are below this.
pub(super) const LIMIT: u64 = 1 << 32;

/// A count, and how many topics have it.
fn entry(reader: &mut Reader<'_>) -> Result<(u32, u64), DecodeError> {
    let entry = reader.uvar("count")?;
    let times = if entry & 1 == 0 { 1 } else { u64::from(reader.uvar("repeated")?).saturating_add(2) };
    Ok((entry >> 1, times))
}

fn narrow(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// Turns ascending numbers into partitions.
#[derive(Debug, Clone)]
pub(super) enum Locator<'a> {
    Stride {
        stride: u32,
        /// 2^64 divided by the stride; 0 stands for 2^64 itself, where the stride is 1.
        inverse: u64,
    },
    Counts {
        reader: Reader<'a>,
        topic: u64,
        base: u64,
        count: u32,
        times: u64,
    },
}

impl Locator<'_> {
    /// As [`locate`](Self::locate), and how many numbers the topic has from this one on.
    pub(super) fn locate_with_room(&mut self, number: u32) -> (Claim, u64) {
        let claim = self.locate(number);
        let range = match self {
            Self::Stride { stride, .. } => *stride,
            Self::Counts { count, .. } => *count,
        };
        (claim, u64::from(range.saturating_sub(claim.partition)).max(1))
    }

    /// The partition with this number, which is not below the last one asked for.
    #[inline]
    pub(super) fn locate(&mut self, number: u32) -> Claim {
        match self {
            Self::Stride { stride, inverse } => {
                let product = u128::from(number).wrapping_mul(u128::from(*inverse));
                let [.., topic] = split(product);
                let topic = if *inverse == 0 { number } else { topic };
                Claim { topic, partition: number.wrapping_sub(topic.wrapping_mul(*stride)) }
            }
            Self::Counts { reader, topic, base, count, times } => {
                let number = u64::from(number);
                loop {
                    let inside = number.saturating_sub(*base);
                    if inside < u64::from(*count).saturating_mul(*times) {
                        let nth = inside.checked_div(u64::from(*count)).unwrap_or(0);
                        let partition = inside.wrapping_sub(nth.wrapping_mul(u64::from(*count)));
                        return Claim {
                            topic: narrow(topic.saturating_add(nth)),
                            partition: narrow(partition),
                        };
                    }
                    *topic = topic.saturating_add(*times);
                    *base = base.saturating_add(u64::from(*count).saturating_mul(*times));
                    match entry(reader) {
                        Ok(next) => (*count, *times) = next,
                        // No number that was checked leads here.
                        Err(_) => return Claim { topic: u32::MAX, partition: u32::MAX },
                    }
                }
            }
        }
    }
}

/// The lower and the upper half, of which the upper one is below 2^32.
#[inline]
fn split(product: u128) -> [u32; 2] {
    [product as u32, (product >> 64) as u32]
}

#[cfg(test)]
#[allow(clippy::arithmetic_side_effects, reason = "a test may stop")]
mod tests {
    use super::*;

    #[test]
    fn a_product_divides_exactly() {
        let edges = |stride: u32| {
            let last = u32::MAX / stride * stride;
            [0, 1, stride - 1, stride, stride.saturating_add(1), last - 1, last, u32::MAX - 1, u32::MAX]
        };
        for stride in (1..2_000).chain([65_535, 65_536, 65_537, 1 << 31, u32::MAX - 1, u32::MAX]) {
            let mut locator = Space::Stride(stride).locator();
            for number in edges(stride) {
                let claim = locator.locate(number);
                assert_eq!(
                    (claim.topic, claim.partition),
                    (number / stride, number % stride),
                    "{number}/{stride}"
                );
            }
        }
    }
}
