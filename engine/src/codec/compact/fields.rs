//! Compact user data to be written.

use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

use super::claims::Claim;
use super::layout::{Look, Set, entry, lay_set, table_len};
use super::measure::Choice;
use super::scratch::{CompactScratch, claims_have_entries, has_entries, name_at};
use super::source::{Given, Numbers, Row, Source};
use super::topics::TopicList;
use super::varints::{varint_len, write_bits, write_deltas, write_runs};
use super::view::checksum;
use super::{CHECKSUM_LEN, Encoding, MAGIC, VERSION, kind, rice, roaring};
use crate::codec::consumer::TopicPartitions;
use crate::codec::error::{EncodeError, EncodeErrorKind};
use crate::codec::writer::{SliceSink, Writer, too_long};

/// What is owned, in one of three forms.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Owned<'a> {
    /// By name. In any order, repeated partitions count once; fastest if topics and numbers ascend.
    Blocks(&'a [TopicPartitions<'a>]),
    /// By the topics' places in the list, which [`find`](TopicList::find) tells, for callers that keep them from one join
    /// to the next: nothing is looked up then. In any order, repeated partitions count once; fastest if they ascend.
    Claims(&'a [Claim]),
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
                let CompactScratch { listed, places, counts, bases, .. } = scratch;
                let set = match listed.strided() {
                    Some(strided) => {
                        let has_entries = |enough| has_entries(blocks, places, enough);
                        lay_set(&strided, look, has_entries, counts, bases, self.encoding)?
                    }
                    None => {
                        let has_entries = |enough| look.entries >= enough;
                        lay_set(&listed.keys(), look, has_entries, counts, bases, self.encoding)?
                    }
                };
                let names = names_len(scratch.literals.iter().map(|&at| name_at(blocks, at)));
                self.frame(set, names, &scratch.counts)
            }
            Owned::Claims(claims) => {
                let look = scratch.collect_claims(self.topics, claims)?;
                let CompactScratch { listed, counts, bases, .. } = scratch;
                let set = match listed.strided() {
                    Some(strided) => {
                        let has_entries = |enough| claims_have_entries(claims, enough);
                        lay_set(&strided, look, has_entries, counts, bases, self.encoding)?
                    }
                    None => {
                        let has_entries = |enough| look.entries >= enough;
                        lay_set(&listed.keys(), look, has_entries, counts, bases, self.encoding)?
                    }
                };
                self.frame(set, 0, &scratch.counts)
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
                let look = Look::of(&row);
                let has_entries = |enough| look.entries >= enough;
                let set = lay_set(&row, look, has_entries, counts, bases, self.encoding)?;
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
        let blocks = if let Owned::Blocks(blocks) = self.owned { blocks } else { &[] };

        let mut writer = Writer::new(SliceSink::new(head));
        let literals = &scratch.literals;
        let mut bits = choice.encoding.id();
        bits |= if self.generation().is_some() { kind::GENERATION } else { 0 };
        bits |= if self.rack().is_some() { kind::RACK } else { 0 };
        bits |= if literals.is_empty() { 0 } else { kind::NAMES };
        bits |= if stride.is_some() { 0 } else { kind::COUNTS };
        let [first, second] = MAGIC;
        writer.raw(&[first, second, VERSION, bits])?;
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
            Owned::Blocks(_) | Owned::Claims(_) => match scratch.listed.strided() {
                Some(strided) => fill(&strided, given, layout, rest)?,
                None => fill(&scratch.listed.keys(), given, layout, rest)?,
            },
            Owned::Row { words, ranges } => fill(&Row { words, ranges }, given, layout, rest)?,
        }
        let (covered, stated) = out.split_at_mut(covered_len);
        let sum = checksum(self.topics.seal(), covered).to_be_bytes();
        if let Some(stated) = stated.first_chunk_mut() {
            *stated = sum;
        }
        Ok(())
    }
}

/// Writes the payload to the front of `out`; the checksum that goes behind it is still to be written.
fn fill<S: Source>(
    source: &S,
    given: Given<'_>,
    layout: &Layout,
    mut out: &mut [u8],
) -> Result<(), EncodeError> {
    let numbers = Numbers { source, given };
    let choice = &layout.choice;
    if choice.encoding != Encoding::Rice {
        out = out.get_mut(..usize::try_from(choice.len).unwrap_or(usize::MAX)).unwrap_or_default();
    }
    match choice.encoding {
        Encoding::Runs => write_runs(&numbers, &mut Writer::new(SliceSink::new(out)))?,
        Encoding::Deltas => write_deltas(&numbers, &mut Writer::new(SliceSink::new(out)))?,
        Encoding::Roaring => {
            out.fill(0);
            roaring::write(&numbers, choice.outline, out);
        }
        Encoding::Bits => {
            out.fill(0);
            write_bits(&numbers, out);
        }
        Encoding::Rice => {
            let head_len = varint_len(layout.count).saturating_add(1);
            let (head, codes) = out.split_at_mut(usize::try_from(head_len).unwrap_or(0).min(out.len()));
            let mut writer = Writer::new(SliceSink::new(head));
            writer.uvar(layout.count)?;
            writer.raw(&[choice.k as u8])?;
            rice::write(&numbers, u64::from(layout.count), choice.k, codes);
        }
    }
    Ok(())
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
