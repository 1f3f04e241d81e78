//! Compact user data to be written.

use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

use super::measure::{Choice, choose};
use super::source::{Given, Keys, Numbers, Row, Source};
use super::topics::TopicList;
use super::varints::{varint_len, write_bits, write_deltas, write_runs};
use super::view::checksum;
use super::{CHECKSUM_LEN, Encoding, MAGIC, VERSION, kind, rice, roaring};
use crate::codec::consumer::TopicPartitions;
use crate::codec::error::{EncodeError, EncodeErrorKind};
use crate::codec::writer::{SliceSink, Writer, too_long};

/// What is owned, in either of two forms.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Owned<'a> {
    /// By name. In any order, repeated partitions count once; fastest if topics and numbers ascend.
    Blocks(&'a [TopicPartitions<'a>]),
    /// The bits of a row, as [`set_bits`](super::CompactUserData::set_bits) sets them.
    Row {
        /// The row's words, the lowest bit first.
        words: &'a [u64],
        /// For each topic of the list, where its partitions are in the row; beyond the last there is nothing.
        ranges: &'a [Range<u32>],
    },
}

/// Compact user data to be written.
///
/// Order: the bytes depend on the set of claims alone, not on the order in which they are given.
///
/// # Examples
/// See [`CompactUserData`](super::CompactUserData).
#[derive(Debug, Clone, Copy)]
pub struct CompactFields<'a> {
    /// The topics of the subscription that the data goes into.
    pub topics: &'a TopicList<'a>,
    /// The partitions owned.
    pub owned: Owned<'a>,
    /// The generation in which they were assigned; negative ones are none.
    pub generation: Option<i32>,
    /// Where the member is, for subscriptions whose version has no place for it.
    pub rack: Option<&'a str>,
    /// The encoding to take, longer or not; `None` takes the shortest.
    pub encoding: Option<Encoding>,
}

/// The memory of writing. Its contents never matter; once it has served data of a size, writing allocates nothing.
#[derive(Debug, Clone, Default)]
pub struct CompactScratch {
    keys: Vec<u64>,
    /// Blocks whose topics the list lacks.
    strange: Vec<u32>,
    /// The first block of each of those topics.
    literals: Vec<u32>,
    counts: Vec<u32>,
    bases: Vec<u32>,
}

impl CompactScratch {
    /// Heap bytes reserved.
    #[must_use]
    pub const fn memory_usage(&self) -> usize {
        let words = self.strange.capacity().saturating_add(self.literals.capacity());
        let words = words.saturating_add(self.counts.capacity()).saturating_add(self.bases.capacity());
        words.saturating_mul(4).saturating_add(self.keys.capacity().saturating_mul(8))
    }
}

/// What is known before the first byte is written.
#[derive(Debug, Clone, Copy)]
struct Layout {
    choice: Choice,
    count: u32,
    /// The common length of ranges; `None` for those in the scratch.
    stride: Option<u32>,
    /// Bytes behind the length.
    body_len: u32,
    len: usize,
}

impl<'a> CompactFields<'a> {
    /// A member that owns nothing, says no generation and no rack.
    #[must_use]
    pub const fn new(topics: &'a TopicList<'a>) -> Self {
        Self { topics, owned: Owned::Blocks(&[]), generation: None, rack: None, encoding: None }
    }

    /// The exact number of bytes that the others write.
    ///
    /// # Errors
    /// What cannot be written: a negative partition, a partition number so great that all topics together take more
    /// than 2^32 numbers, a name above 32,767 bytes, a range beyond its row.
    pub fn encoded_len(&self, scratch: &mut CompactScratch) -> Result<usize, EncodeError> {
        Ok(self.lay(scratch)?.len)
    }

    /// Writes the data to the front of `buffer` and returns its length.
    ///
    /// Shapes: N partitions owned, B blocks, T topics in the list.
    /// Cost: O(B + N) with few steps, O(B log T + N log N) if names or numbers do not ascend; no allocation once
    /// `scratch` has served as many.
    ///
    /// # Errors
    /// As [`encoded_len`](Self::encoded_len), or a buffer that is too small, which is left as it was.
    pub fn encode_into(&self, scratch: &mut CompactScratch, buffer: &mut [u8]) -> Result<usize, EncodeError> {
        let layout = self.lay(scratch)?;
        let given = buffer.len();
        let Some(out) = buffer.get_mut(..layout.len) else {
            let kind = EncodeErrorKind::BufferTooSmall { needed: layout.len, given };
            return Err(EncodeError { field: "buffer", kind });
        };
        out.fill(0);
        self.write(scratch, &layout, out)?;
        Ok(layout.len)
    }

    /// Writes the data. Allocates.
    ///
    /// # Errors
    /// As [`encoded_len`](Self::encoded_len).
    pub fn encode(&self) -> Result<Vec<u8>, EncodeError> {
        let mut scratch = CompactScratch::default();
        let layout = self.lay(&mut scratch)?;
        let mut bytes = vec![0; layout.len];
        self.write(&scratch, &layout, &mut bytes)?;
        Ok(bytes)
    }

    fn generation(&self) -> Option<u32> {
        self.generation.and_then(|generation| u32::try_from(generation).ok())
    }

    fn rack(&self) -> Option<&'a str> {
        self.rack.filter(|rack| !rack.is_empty())
    }

    fn lay(&self, scratch: &mut CompactScratch) -> Result<Layout, EncodeError> {
        match self.owned {
            Owned::Blocks(blocks) => {
                let look = scratch.collect(self.topics, blocks)?;
                let CompactScratch { keys, counts, bases, .. } = scratch;
                let set = lay_set(&Keys(keys), look, counts, bases, self.encoding)?;
                let names = names_len(scratch.literals.iter().map(|&at| name_at(blocks, at)));
                self.frame(set, names, &scratch.counts)
            }
            Owned::Row { words, ranges } => {
                let bits = (words.len() as u64).saturating_mul(64);
                let fits = |range: &Range<u32>| range.start <= range.end && u64::from(range.end) <= bits;
                if !ranges.iter().all(fits) || ranges.len() > self.topics.names().len() {
                    return Err(EncodeError { field: "ranges", kind: EncodeErrorKind::OutOfRange });
                }
                scratch.literals.clear();
                let row = Row { words, ranges };
                let CompactScratch { counts, bases, .. } = scratch;
                let set = lay_set(&row, Look::of(&row), counts, bases, self.encoding)?;
                self.frame(set, 0, &scratch.counts)
            }
        }
    }

    /// Adds what is around a set.
    fn frame(&self, set: Set, names_len: u64, counts: &[u32]) -> Result<Layout, EncodeError> {
        let Set { choice, count, stride } = set;
        let rack =
            self.rack().map_or(0, |rack| varint_len(rack.len() as u32).saturating_add(rack.len() as u64));
        let space = stride.map_or_else(|| table_len(counts), varint_len);
        let body = self
            .generation()
            .map_or(0, varint_len)
            .saturating_add(rack)
            .saturating_add(names_len)
            .saturating_add(space)
            .saturating_add(choice.len)
            .saturating_add(CHECKSUM_LEN as u64);
        let Ok(body_len) = u32::try_from(body) else {
            return Err(too_long("length", usize::try_from(body).unwrap_or(usize::MAX), u32::MAX as usize));
        };
        let len = body.saturating_add(varint_len(body_len)).saturating_add(4);
        let len = usize::try_from(len).unwrap_or(usize::MAX);
        Ok(Layout { choice, count, stride, body_len, len })
    }

    fn write(&self, scratch: &CompactScratch, layout: &Layout, out: &mut [u8]) -> Result<(), EncodeError> {
        let Layout { choice, stride, .. } = *layout;
        let payload_len = usize::try_from(choice.len).unwrap_or(usize::MAX);
        let covered_len = out.len().saturating_sub(CHECKSUM_LEN);
        let (head, rest) = out.split_at_mut(covered_len.saturating_sub(payload_len));
        let payload = rest.get_mut(..payload_len).unwrap_or_default();
        let blocks = if let Owned::Blocks(blocks) = self.owned { blocks } else { &[] };

        let mut writer = Writer::new(SliceSink::new(head));
        let literals = &scratch.literals;
        let mut bits = choice.encoding.id();
        bits |= if self.generation().is_some() { kind::GENERATION } else { 0 };
        bits |= if self.rack().is_some() { kind::RACK } else { 0 };
        bits |= if literals.is_empty() { 0 } else { kind::NAMES };
        bits |= if stride.is_some() { 0 } else { kind::COUNTS };
        writer.raw(&MAGIC)?;
        writer.raw(&[VERSION, bits])?;
        writer.uvar(layout.body_len)?;
        if let Some(generation) = self.generation() {
            writer.uvar(generation)?;
        }
        if let Some(rack) = self.rack() {
            writer.uvar(rack.len() as u32)?;
            writer.raw(rack.as_bytes())?;
        }
        if !literals.is_empty() {
            writer.uvar(literals.len() as u32)?;
            for &at in literals {
                let name = name_at(blocks, at);
                writer.uvar(name.len() as u32)?;
                writer.raw(name.as_bytes())?;
            }
        }
        match stride {
            Some(stride) => writer.uvar(stride)?,
            None => {
                writer.uvar(scratch.counts.len() as u32)?;
                for same in scratch.counts.chunk_by(|a, b| a == b) {
                    let (entry, repeated) = entry(same);
                    writer.uvar(entry)?;
                    if let Some(repeated) = repeated {
                        writer.uvar(repeated)?;
                    }
                }
            }
        }
        let given = stride.map_or(Given::Bases(&scratch.bases), Given::Stride);
        match self.owned {
            Owned::Blocks(_) => fill(&Keys(&scratch.keys), given, layout, payload)?,
            Owned::Row { words, ranges } => fill(&Row { words, ranges }, given, layout, payload)?,
        }
        let (covered, stated) = out.split_at_mut(covered_len);
        let sum = checksum(self.topics.seal(), covered).to_be_bytes();
        stated.iter_mut().zip(sum).for_each(|(to, byte)| *to = byte);
        Ok(())
    }
}

/// A set that was measured.
struct Set {
    choice: Choice,
    count: u32,
    stride: Option<u32>,
}

/// Chooses ranges of numbers and an encoding. If the ranges are not all of one length, `counts` and `bases` have them.
fn lay_set<S: Source>(
    source: &S,
    look: Look,
    counts: &mut Vec<u32>,
    bases: &mut Vec<u32>,
    only: Option<Encoding>,
) -> Result<Set, EncodeError> {
    let refused = Err(EncodeError { field: "partition", kind: EncodeErrorKind::OutOfRange });
    let Ok(count) = u32::try_from(look.count) else { return refused };
    if look.partition_max > i32::MAX as u32 {
        return refused;
    }
    let stride = if count == 0 { 0 } else { look.partition_max.wrapping_add(1) };
    let last =
        u64::from(look.topic).saturating_mul(u64::from(stride)).saturating_add(u64::from(look.partition));
    let strided = u32::try_from(last).ok().map(|last| {
        let numbers = Numbers { source, given: Given::Stride(stride) };
        choose(&numbers, count, last, only)
    });
    if let Some(choice) = strided {
        let whole = Set { choice, count, stride: Some(stride) };
        // Ranges of their own take a byte for each that differs from the one before. What they save of codes for deltas
        // is the difference in width.
        let saved = match choice.encoding {
            Encoding::Rice | Encoding::Deltas => {
                let wider = last.checked_div(look.own_total).unwrap_or(1).max(1).ilog2().saturating_add(1);
                u64::from(count).saturating_mul(u64::from(wider)) >> 3
            }
            _ => choice.len,
        };
        if look.entries.saturating_add(1) >= saved && look.own_total >> 3 >= choice.len {
            return Ok(whole);
        }
    }
    let own = own_ranges(source, &look, counts, bases, only);
    let len = |choice: &Choice, space: u64| choice.len.saturating_add(space);
    match (strided, own) {
        (Some(strided), Some(own)) if len(&strided, varint_len(stride)) <= len(&own, table_len(counts)) => {
            Ok(Set { choice: strided, count, stride: Some(stride) })
        }
        (_, Some(own)) => Ok(Set { choice: own, count, stride: None }),
        (Some(strided), None) => Ok(Set { choice: strided, count, stride: Some(stride) }),
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
struct Look {
    count: u64,
    partition_max: u32,
    /// The last claim.
    topic: u32,
    partition: u32,
    /// The sum of all topics' own ranges.
    own_total: u64,
    /// The least number of entries in a list of counts.
    entries: u64,
    /// The range of the last topic.
    range: u32,
}

impl Look {
    fn of<S: Source>(source: &S) -> Self {
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
    fn add(&mut self, topic: u32, last: u32, many: u64) {
        // Topics left out have ranges without numbers.
        if self.count > 0 && topic.wrapping_sub(self.topic) > 1 {
            self.entries = self.entries.wrapping_add(1);
            self.range = 0;
        }
        let range = last.wrapping_add(1);
        self.own_total = self.own_total.saturating_add(u64::from(range));
        self.entries = self.entries.wrapping_add(u64::from(range != self.range));
        self.range = range;
        self.partition_max = self.partition_max.max(last);
        (self.topic, self.partition) = (topic, last);
        self.count = self.count.wrapping_add(many);
    }
}

/// Writes the payload.
fn fill<S: Source>(source: &S, given: Given<'_>, layout: &Layout, out: &mut [u8]) -> Result<(), EncodeError> {
    let numbers = Numbers { source, given };
    match layout.choice.encoding {
        Encoding::Runs => write_runs(&numbers, &mut Writer::new(SliceSink::new(out)))?,
        Encoding::Deltas => write_deltas(&numbers, &mut Writer::new(SliceSink::new(out)))?,
        Encoding::Roaring => roaring::write(&numbers, layout.choice.outline, out),
        Encoding::Bits => write_bits(&numbers, out),
        Encoding::Rice => {
            let head_len = varint_len(layout.count).saturating_add(1);
            let (head, codes) = out.split_at_mut(usize::try_from(head_len).unwrap_or(0).min(out.len()));
            let mut writer = Writer::new(SliceSink::new(head));
            writer.uvar(layout.count)?;
            writer.raw(&[layout.choice.k as u8])?;
            rice::write(&numbers, u64::from(layout.count), layout.choice.k, codes);
        }
    }
    Ok(())
}

/// An entry of a list of counts, and how many more topics than two have it.
fn entry(same: &[u32]) -> (u32, Option<u32>) {
    let count = same.first().copied().unwrap_or_default().wrapping_shl(1);
    match same.len().checked_sub(2) {
        Some(repeated) => (count | 1, Some(repeated as u32)),
        None => (count, None),
    }
}

/// Bytes of a list of counts.
fn table_len(counts: &[u32]) -> u64 {
    counts.chunk_by(|a, b| a == b).fold(varint_len(counts.len() as u32), |len, same| {
        let (entry, repeated) = entry(same);
        len.saturating_add(varint_len(entry)).saturating_add(repeated.map_or(0, varint_len))
    })
}

fn name_at<'a>(blocks: &[TopicPartitions<'a>], at: u32) -> &'a str {
    blocks.get(at as usize).map_or("", |block| block.topic)
}

/// Bytes of the names that the data has itself.
fn names_len<'a>(names: impl ExactSizeIterator<Item = &'a str>) -> u64 {
    if names.len() == 0 {
        return 0;
    }
    let count = varint_len(names.len() as u32);
    names.fold(count, |len, name| {
        len.saturating_add(varint_len(name.len() as u32)).saturating_add(name.len() as u64)
    })
}

impl CompactScratch {
    /// Turns names into numbers, and the claims into a sorted list without repetitions.
    fn collect(
        &mut self,
        topics: &TopicList<'_>,
        blocks: &[TopicPartitions<'_>],
    ) -> Result<Look, EncodeError> {
        let Self { keys, strange, literals, .. } = self;
        keys.clear();
        strange.clear();
        literals.clear();
        let mut look = Look::default();
        let mut near = 0;
        let mut ascend = true;
        let mut next = 0_u64;
        for (at, block) in blocks.iter().enumerate() {
            let Some(&last) = block.partitions.last() else { continue };
            let Some(place) = topics.find(block.topic) else {
                strange.push(at as u32);
                continue;
            };
            // A topic that comes again is put together by sorting.
            ascend &= place >= near;
            near = place.saturating_add(1);
            let topic = (place as u64) << 32;
            let mut add = |partition| {
                let key = topic | u64::from(number(partition)?);
                ascend &= key >= next;
                next = key.wrapping_add(1);
                keys.push(key);
                Ok(())
            };
            // Mostly one.
            match block.partitions {
                [only] => add(*only)?,
                partitions => partitions.iter().try_for_each(|&partition| add(partition))?,
            }
            look.add(place as u32, last as u32, block.partitions.len() as u64);
        }
        if strange.is_empty() && ascend {
            return Ok(look);
        }
        if !strange.is_empty() {
            name_strangers(keys, strange, literals, blocks)?;
        }
        keys.sort_unstable();
        keys.dedup();
        Ok(Look::of(&Keys(keys)))
    }
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
    let mut topic = 0_usize;
    for &at in strange.iter() {
        while literals.get(topic).is_some_and(|&of| name_at(blocks, of) != name_at(blocks, at)) {
            topic = topic.saturating_add(1);
        }
        for &partition in blocks.get(at as usize).map_or(&[][..], |block| block.partitions) {
            keys.push((topic as u64) << 32 | u64::from(number(partition)?));
        }
    }
    Ok(())
}

#[inline]
fn number(partition: i32) -> Result<u32, EncodeError> {
    match u32::try_from(partition) {
        Ok(number) => Ok(number),
        Err(_) => Err(EncodeError { field: "partition", kind: EncodeErrorKind::OutOfRange }),
    }
}
