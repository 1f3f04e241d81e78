//! Named claims made ready for writing.

use alloc::vec::Vec;

use super::claims::Claim;
use super::layout::Look;
use super::source::{Keys, Strided};
use super::topics::{NOWHERE, TopicList};
use crate::codec::consumer::TopicPartitions;
use crate::codec::error::{EncodeError, EncodeErrorKind};
use crate::codec::writer::too_long;

/// The memory of writing. Its contents never matter; once it has served data of a size, writing allocates nothing.
#[derive(Debug, Clone, Default)]
pub struct CompactScratch {
    pub(super) listed: Listed,
    /// The place of each block's topic.
    pub(super) places: Vec<u32>,
    /// Blocks whose topics the list lacks.
    strange: Vec<u32>,
    /// The first block of each of those topics.
    pub(super) literals: Vec<u32>,
    pub(super) counts: Vec<u32>,
    pub(super) bases: Vec<u32>,
}

/// Named claims as numbers.
#[derive(Debug, Clone, Default)]
pub(super) struct Listed {
    /// How many numbers are left out before each claim if each topic takes `stride`; behind `len` of them whatever was there.
    deltas: Vec<u32>,
    len: usize,
    /// `None` for claims that are in `keys` instead.
    stride: Option<u32>,
    /// Topics in the upper half, partitions in the lower, sorted.
    keys: Vec<u64>,
}

impl Listed {
    /// The claims, if they were numbered at once.
    pub(super) fn strided(&self) -> Option<Strided<'_>> {
        let deltas = self.deltas.get(..self.len).unwrap_or_default();
        self.stride.map(|stride| Strided { deltas, stride })
    }

    /// The claims, if they were not.
    pub(super) fn keys(&self) -> Keys<'_> {
        Keys(&self.keys)
    }
}

impl CompactScratch {
    /// Turns names into numbers, in ascending order and without repetitions.
    pub(super) fn collect(
        &mut self,
        topics: &TopicList<'_>,
        blocks: &[TopicPartitions<'_>],
    ) -> Result<Look, EncodeError> {
        let Self { listed, places, strange, literals, .. } = self;
        strange.clear();
        literals.clear();
        // Before anything else, *because* the partitions lie wherever the caller has them: a loop as small as this waits
        // for many of them at once. Waiting for each in turn took a third of the time of writing.
        let look = Look::over(blocks);
        find_all(topics, blocks, places);
        let stride = look.stride_max();
        if (topics.names().len() as u64).saturating_mul(u64::from(stride)) <= SPACE_MAX {
            let len = usize::try_from(look.count).unwrap_or(usize::MAX);
            let room = len.saturating_add(AHEAD);
            if listed.deltas.len() < room {
                listed.deltas.resize(room, 0);
            }
            let numbered = gather(blocks, places, stride, &mut listed.deltas);
            if let Some(numbers) = listed.deltas.get_mut(..len)
                && numbered
                && set_deltas(numbers)
            {
                (listed.len, listed.stride) = (len, Some(stride));
                return Ok(look.ending_at(blocks, places));
            }
        }
        listed.stride = None;
        listed.keys.clear();
        for (at, (block, &place)) in (0_u32..).zip(blocks.iter().zip(places.iter())) {
            if place != NOWHERE {
                push(&mut listed.keys, place, block.partitions)?;
            } else if !block.partitions.is_empty() {
                strange.push(at);
            }
        }
        if !strange.is_empty() {
            name_strangers(&mut listed.keys, strange, literals, blocks)?;
        }
        listed.keys.sort_unstable();
        listed.keys.dedup();
        Ok(Look::of(&Keys(&listed.keys)))
    }
}

impl CompactScratch {
    /// As [`collect`](Self::collect), from claims that say places.
    pub(super) fn collect_claims(
        &mut self,
        topics: &TopicList<'_>,
        claims: &[Claim],
    ) -> Result<Look, EncodeError> {
        let Self { listed, literals, .. } = self;
        literals.clear();
        let (topic_max, partition_max) = greatest(claims);
        let error = |field| Err(EncodeError { field, kind: EncodeErrorKind::OutOfRange });
        if !claims.is_empty() && topic_max as usize >= topics.names().len() {
            return error("topic");
        }
        if partition_max > i32::MAX as u32 {
            return error("partition");
        }
        let stride = if claims.is_empty() { 0 } else { partition_max.wrapping_add(1) };
        if (topics.names().len() as u64).saturating_mul(u64::from(stride)) <= SPACE_MAX {
            if listed.deltas.len() < claims.len() {
                listed.deltas.resize(claims.len(), 0);
            }
            let numbers = listed.deltas.get_mut(..claims.len()).unwrap_or_default();
            for (to, claim) in numbers.iter_mut().zip(claims) {
                *to = claim.topic.wrapping_mul(stride).wrapping_add(claim.partition);
            }
            if set_deltas(numbers) {
                (listed.len, listed.stride) = (claims.len(), Some(stride));
                return Ok(Look::over_claims(claims, partition_max));
            }
        }
        listed.stride = None;
        listed.keys.clear();
        listed
            .keys
            .extend(claims.iter().map(|claim| u64::from(claim.topic) << 32 | u64::from(claim.partition)));
        listed.keys.sort_unstable();
        listed.keys.dedup();
        Ok(Look::of(&Keys(&listed.keys)))
    }
}

/// The greatest topic and the greatest partition.
fn greatest(claims: &[Claim]) -> (u32, u32) {
    claims
        .iter()
        .fold((0, 0), |(topic, partition), claim| (topic.max(claim.topic), partition.max(claim.partition)))
}

/// Whether a list of counts of these ascending claims has so many entries at least.
#[inline(never)]
pub(super) fn claims_have_entries(claims: &[Claim], enough: u64) -> bool {
    let (mut entries, mut near, mut range) = (0_u64, claims.first().map_or(0, |first| first.topic), 0);
    // Behind the last claim comes one of another topic.
    let end = claims.last().map(|last| Claim { topic: last.topic.wrapping_add(1), ..*last });
    for (one, next) in claims.iter().zip(claims.iter().skip(1).chain(&end)) {
        if entries >= enough {
            return true;
        }
        // As in `has_entries`, where the topic ends; elsewhere nothing changes. All by choice and not by branch.
        let ends = one.topic != next.topic;
        let left_out = one.topic > near;
        let before = if left_out { 0 } else { range };
        let new = one.partition.wrapping_add(1);
        let more = u64::from(left_out).wrapping_add(u64::from(new != before));
        entries = entries.wrapping_add(more.wrapping_mul(u64::from(ends)));
        range = if ends { new } else { range };
        near = if ends { one.topic.wrapping_add(1) } else { near };
    }
    entries >= enough
}

/// Finds the place of each block's topic, [`NOWHERE`] for those the list lacks.
#[inline(never)]
fn find_all(topics: &TopicList<'_>, blocks: &[TopicPartitions<'_>], places: &mut Vec<u32>) {
    let finder = topics.finder();
    places.clear();
    places.extend(blocks.iter().map(|block| finder.find(block.topic)));
}

/// So many numbers at most, so that a sign bit says that something is wrong.
const SPACE_MAX: u64 = i32::MAX as u64;

/// So many numbers are written at once.
const AHEAD: usize = 3;

/// Writes the claims' numbers to the front of `numbers`, which has room for [`AHEAD`] more, and says whether all
/// topics have a place, these ascend and no block begins with a negative partition.
#[inline(never)]
fn gather(blocks: &[TopicPartitions<'_>], places: &[u32], stride: u32, numbers: &mut [u32]) -> bool {
    let mut rest = numbers;
    // The least place that the next block may have.
    let (mut near, mut wrong) = (0_u32, 0);
    for (block, &place) in blocks.iter().zip(places) {
        let ([first, ..], [.., last]) = (block.partitions, block.partitions) else { continue };
        let base = place.wrapping_mul(stride);
        let number = |partition: &i32| base.wrapping_add(*partition as u32);
        wrong |= place.wrapping_sub(near) | *first as u32;
        near = place.wrapping_add(1);
        match rest.first_chunk_mut::<AHEAD>() {
            // All three, *because* how many there are can't be foreseen; what is too many is written over.
            Some(three) if block.partitions.len() <= AHEAD => {
                let middle = block.partitions.get(1).unwrap_or(first);
                *three = [first, middle, last].map(number);
            }
            _ => number_all(block.partitions, base, rest),
        }
        let Some((_, behind)) = rest.split_at_mut_checked(block.partitions.len()) else { return false };
        rest = behind;
    }
    wrong <= i32::MAX as u32
}

/// Writes the numbers of more partitions than three.
#[inline(never)]
fn number_all(partitions: &[i32], base: u32, numbers: &mut [u32]) {
    for (to, &partition) in numbers.iter_mut().zip(partitions) {
        *to = base.wrapping_add(partition as u32);
    }
}

/// Whether a list of counts has so many entries at least.
#[inline(never)]
pub(super) fn has_entries(blocks: &[TopicPartitions<'_>], places: &[u32], enough: u64) -> bool {
    let (mut entries, mut near, mut range) = (0_u64, None, 0);
    for (block, &place) in blocks.iter().zip(places) {
        if entries >= enough {
            return true;
        }
        let Some(&last) = block.partitions.last() else { continue };
        // Topics left out have ranges without numbers. No branch: which are left out can't be foreseen.
        let left_out = place > near.unwrap_or(place);
        let before = if left_out { 0 } else { range };
        range = (last as u32).wrapping_add(1);
        entries = entries.wrapping_add(u64::from(left_out)).wrapping_add(u64::from(range != before));
        near = Some(place.wrapping_add(1));
    }
    entries >= enough
}

/// Replaces numbers by how many are left out before each, and says whether they ascend, all of them below 2^31.
///
/// Then all partitions are below the stride as well, since the last of each block is: one that is not falls to the next.
#[inline(never)]
fn set_deltas(numbers: &mut [u32]) -> bool {
    let (mut next, mut any) = (0_u32, 0_u32);
    for to in numbers {
        let number = *to;
        let delta = number.wrapping_sub(next);
        next = number.wrapping_add(1);
        any |= number | delta;
        *to = delta;
    }
    any <= i32::MAX as u32
}

/// Appends a topic's claims.
fn push(keys: &mut Vec<u64>, topic: u32, partitions: &[i32]) -> Result<(), EncodeError> {
    for &partition in partitions {
        let Ok(partition) = u32::try_from(partition) else {
            return Err(EncodeError { field: "partition", kind: EncodeErrorKind::OutOfRange });
        };
        keys.push(u64::from(topic) << 32 | u64::from(partition));
    }
    Ok(())
}

/// Numbers the topics that the list lacks, in front of all others.
#[cold]
fn name_strangers(
    keys: &mut Vec<u64>,
    strange: &mut [u32],
    literals: &mut Vec<u32>,
    blocks: &[TopicPartitions<'_>],
) -> Result<(), EncodeError> {
    strange.sort_unstable_by(|&a, &b| name_at(blocks, a).cmp(name_at(blocks, b)).then(a.cmp(&b)));
    for &at in strange.iter() {
        let name = name_at(blocks, at);
        if name.len() > 0x7fff {
            return Err(too_long("topic", name.len(), 0x7fff));
        }
        if literals.last().is_none_or(|&last| name_at(blocks, last) != name) {
            literals.push(at);
        }
    }
    let shift = (literals.len() as u64) << 32;
    keys.iter_mut().for_each(|key| *key = key.wrapping_add(shift));
    let mut topic = 0_u32;
    for &at in strange.iter() {
        while literals.get(topic as usize).is_some_and(|&of| name_at(blocks, of) != name_at(blocks, at)) {
            topic = topic.saturating_add(1);
        }
        push(keys, topic, blocks.get(at as usize).map_or(&[], |block| block.partitions))?;
    }
    Ok(())
}

pub(super) fn name_at<'a>(blocks: &[TopicPartitions<'a>], at: u32) -> &'a str {
    blocks.get(at as usize).map_or("", |block| block.topic)
}
