//! Which numbers the claims get, and which encoding.

use alloc::vec::Vec;

use super::Encoding;
use super::claims::Claim;
use super::measure::{Choice, choose};
use super::source::{Given, Numbers, Source};
use super::varints::varint_len;
use crate::codec::consumer::TopicPartitions;
use crate::codec::error::{EncodeError, EncodeErrorKind};

/// A set that was measured.
pub(super) struct Set {
    pub(super) choice: Choice,
    pub(super) count: u32,
    /// The common length of ranges; `None` for those in the scratch.
    pub(super) stride: Option<u32>,
}

/// Chooses ranges of numbers and an encoding. If the ranges are not all of one length, `counts` and `bases` have them.
pub(super) fn lay_set<S: Source>(
    source: &S,
    look: Look,
    has_entries: impl FnOnce(u64) -> bool,
    counts: &mut Vec<u32>,
    bases: &mut Vec<u32>,
    only: Option<Encoding>,
) -> Result<Set, EncodeError> {
    let refused = Err(EncodeError { field: "partition", kind: EncodeErrorKind::OutOfRange });
    let Ok(count) = u32::try_from(look.count) else { return refused };
    if look.partition_max > i32::MAX as u32 {
        return refused;
    }
    let strided = look.stride().map(|stride| {
        let numbers = Numbers { source, given: Given::Stride(stride) };
        (stride, choose(&numbers, count, look.strided_last(stride) as u32, only))
    });
    if let Some((stride, choice)) = strided {
        let whole = Set { choice, count, stride: Some(stride) };
        // Ranges of their own take a byte for each that differs from the one before. What they save of codes for deltas
        // is the difference in width.
        let saved = match choice.encoding {
            Encoding::Rice | Encoding::Deltas => {
                let last = look.strided_last(stride);
                let wider = last.checked_div(look.own_total).unwrap_or(1).max(1).ilog2().saturating_add(1);
                u64::from(count).saturating_mul(u64::from(wider)) >> 3
            }
            _ => choice.len,
        };
        if look.own_total >> 3 >= choice.len && has_entries(saved.saturating_sub(1)) {
            return Ok(whole);
        }
    }
    let own = own_ranges(source, &look, counts, bases, only);
    let len = |choice: &Choice, space: u64| choice.len.saturating_add(space);
    match (strided, own) {
        (Some((stride, strided)), Some(own))
            if len(&strided, varint_len(stride)) <= len(&own, table_len(counts)) =>
        {
            Ok(Set { choice: strided, count, stride: Some(stride) })
        }
        (_, Some(own)) => Ok(Set { choice: own, count, stride: None }),
        (Some((stride, strided)), None) => Ok(Set { choice: strided, count, stride: Some(stride) }),
        (None, None) => refused,
    }
}

/// Gives each topic a range of its own; `None` if they take too many numbers.
fn own_ranges<S: Source>(
    source: &S,
    look: &Look,
    counts: &mut Vec<u32>,
    bases: &mut Vec<u32>,
    only: Option<Encoding>,
) -> Option<Choice> {
    // An entry has 31 bits for the count.
    if look.own_total > u64::from(u32::MAX) || look.partition_max >= i32::MAX as u32 {
        return None;
    }
    counts.clear();
    counts.resize((look.topic as usize).saturating_add(1), 0);
    source.each(|topic, partition| {
        if let Some(count) = counts.get_mut(topic as usize) {
            *count = partition.wrapping_add(1);
        }
    });
    bases.clear();
    let mut base = 0_u32;
    bases.extend(counts.iter().map(|&count| {
        let begin = base;
        base = base.wrapping_add(count);
        begin
    }));
    let last = bases.last()?.wrapping_add(look.partition);
    let numbers = Numbers { source, given: Given::Bases(bases) };
    Some(choose(&numbers, look.count as u32, last, only))
}

/// What one look at the claims gives.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Look {
    pub(super) count: u64,
    partition_max: u32,
    /// The last claim.
    pub(super) topic: u32,
    pub(super) partition: u32,
    /// The sum of all topics' own ranges.
    own_total: u64,
    /// The least number of entries in a list of counts.
    pub(super) entries: u64,
    /// The range of the last topic.
    pub(super) range: u32,
}

impl Look {
    /// The least range that does for all topics; `None` if there are not numbers enough.
    pub(super) fn stride(&self) -> Option<u32> {
        let stride = self.stride_max();
        u32::try_from(self.strided_last(stride)).ok().map(|_| stride)
    }

    /// The least range that does for all topics, be there numbers enough or not.
    pub(super) fn stride_max(&self) -> u32 {
        if self.count == 0 { 0 } else { self.partition_max.wrapping_add(1) }
    }

    /// The last claim's number.
    fn strided_last(&self, stride: u32) -> u64 {
        u64::from(self.topic).saturating_mul(u64::from(stride)).saturating_add(u64::from(self.partition))
    }

    /// Adds the last claim, if all blocks have topics of their own, which ascend. What is missing then are the entries.
    pub(super) fn ending_at(mut self, blocks: &[TopicPartitions<'_>], places: &[u32]) -> Self {
        let mut open = blocks
            .iter()
            .zip(places)
            .rev()
            .filter_map(|(block, place)| Some((block.partitions.last()?, place)));
        if let Some((&last, &place)) = open.next() {
            (self.topic, self.partition) = (place, last as u32);
        }
        self
    }

    /// What the lengths and last partitions of blocks say, if all have topics of their own.
    pub(super) fn over(blocks: &[TopicPartitions<'_>]) -> Self {
        let mut look = Self::default();
        for block in blocks {
            let Some(&last) = block.partitions.last() else { continue };
            let last = last as u32;
            look.count = look.count.wrapping_add(block.partitions.len() as u64);
            look.partition_max = look.partition_max.max(last);
            look.own_total = look.own_total.wrapping_add(u64::from(last)).wrapping_add(1);
        }
        look
    }

    /// What ascending claims say without the entries; the greatest partition is known.
    pub(super) fn over_claims(claims: &[Claim], partition_max: u32) -> Self {
        let Some(&last) = claims.last() else { return Self::default() };
        // Each topic's last partition. A factor and no branch: where topics end can't be foreseen.
        let next = claims.get(1..).unwrap_or_default();
        let ends = claims.iter().zip(next).map(|(one, next)| {
            u64::from(one.topic != next.topic).wrapping_mul(u64::from(one.partition).wrapping_add(1))
        });
        Self {
            count: claims.len() as u64,
            partition_max,
            topic: last.topic,
            partition: last.partition,
            own_total: ends.sum::<u64>().wrapping_add(u64::from(last.partition)).wrapping_add(1),
            ..Self::default()
        }
    }

    pub(super) fn of<S: Source>(source: &S) -> Self {
        let mut look = Self::default();
        let mut open: Option<(u32, u32, u64)> = None;
        source.each(|topic, partition| match &mut open {
            Some((of, last, many)) if *of == topic => (*last, *many) = (partition, many.wrapping_add(1)),
            _ => {
                if let Some((topic, last, many)) = open.replace((topic, partition, 1)) {
                    look.add(topic, last, many);
                }
            }
        });
        if let Some((topic, last, many)) = open {
            look.add(topic, last, many);
        }
        look
    }

    /// Takes a topic that comes behind all others, with its last partition and how many there are.
    #[inline]
    pub(super) fn add(&mut self, topic: u32, last: u32, many: u64) {
        // Topics left out have ranges without numbers. No branch: which are left out can't be foreseen.
        let left_out = self.count > 0 && topic.wrapping_sub(self.topic) > 1;
        let before = if left_out { 0 } else { self.range };
        let range = last.wrapping_add(1);
        let new = u64::from(left_out).wrapping_add(u64::from(range != before));
        self.entries = self.entries.wrapping_add(new);
        self.own_total = self.own_total.saturating_add(u64::from(range));
        self.range = range;
        self.partition_max = self.partition_max.max(last);
        (self.topic, self.partition) = (topic, last);
        self.count = self.count.wrapping_add(many);
    }
}

/// An entry of a list of counts, and how many more topics than two have it.
pub(super) fn entry(same: &[u32]) -> (u32, Option<u32>) {
    let count = same.first().copied().unwrap_or_default().wrapping_shl(1);
    match same.len().checked_sub(2) {
        Some(repeated) => (count | 1, Some(repeated as u32)),
        None => (count, None),
    }
}

/// Bytes of a list of counts.
pub(super) fn table_len(counts: &[u32]) -> u64 {
    counts.chunk_by(|a, b| a == b).fold(varint_len(counts.len() as u32), |len, same| {
        let (entry, repeated) = entry(same);
        len.saturating_add(varint_len(entry)).saturating_add(repeated.map_or(0, varint_len))
    })
}
