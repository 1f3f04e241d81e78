//! Lists of topic names and of partitions by topic, borrowed from the bytes.

use core::fmt;
use core::iter::FusedIterator;

use crate::codec::error::DecodeError;
use crate::codec::reader::Reader;
use crate::codec::text::Text;

/// A list of names: their number and the bytes that hold them, checked once.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct Names<'a> {
    count: usize,
    bytes: &'a [u8],
}

impl<'a> Names<'a> {
    /// Reads a list of names and checks each length.
    ///
    /// Cost: O(names); the characters are not looked at.
    ///
    /// # Errors
    /// Where a length is negative or leads past the end.
    pub fn decode(
        reader: &mut Reader<'a>,
        list: &'static str,
        name: &'static str,
    ) -> Result<Self, DecodeError> {
        let count = reader.count(list)?;
        let bytes = reader.rest();
        let before = reader.left();
        for _ in 0..count {
            reader.text(name)?;
        }
        let read = before.saturating_sub(reader.left());
        Ok(Self { count, bytes: bytes.get(..read).unwrap_or_default() })
    }

    /// Reads a list of names that is probably `previous` again: one comparison of bytes if it is.
    ///
    /// The members of a group mostly send the same list in the same order, so a leader hands each list
    /// to the next decoding. The second result tells whether it was the same.
    ///
    /// # Errors
    /// As [`decode`](Self::decode).
    pub fn decode_like(
        reader: &mut Reader<'a>,
        previous: Names<'_>,
        list: &'static str,
        name: &'static str,
    ) -> Result<(Self, bool), DecodeError> {
        let mut ahead = reader.clone();
        let count = ahead.count(list)?;
        if count == previous.count && ahead.rest().starts_with(previous.bytes) {
            let bytes = ahead.take(previous.bytes.len(), list)?;
            *reader = ahead;
            return Ok((Self { count, bytes }, true));
        }
        Ok((Self::decode(reader, list, name)?, false))
    }

    /// Number of names.
    #[must_use]
    pub const fn len(self) -> usize {
        self.count
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.count == 0
    }

    /// The bytes of the list behind its count. Equal bytes and equal counts are equal lists.
    #[must_use]
    pub const fn as_bytes(self) -> &'a [u8] {
        self.bytes
    }

    /// The names in the order of the wire.
    #[must_use]
    pub const fn iter(self) -> NameIter<'a> {
        NameIter { left: self.count, reader: Reader::new(self.bytes) }
    }
}

impl<'a> IntoIterator for Names<'a> {
    type Item = Text<'a>;
    type IntoIter = NameIter<'a>;

    fn into_iter(self) -> NameIter<'a> {
        self.iter()
    }
}

impl fmt::Debug for Names<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

/// The names of a [`Names`], in the order of the wire.
#[derive(Debug, Clone)]
pub struct NameIter<'a> {
    left: usize,
    reader: Reader<'a>,
}

impl<'a> Iterator for NameIter<'a> {
    type Item = Text<'a>;

    #[inline]
    fn next(&mut self) -> Option<Text<'a>> {
        self.left = self.left.checked_sub(1)?;
        self.reader.text("name").ok()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for NameIter<'_> {}
impl FusedIterator for NameIter<'_> {}

/// Partition numbers, four bytes each.
///
/// They are kept as they stand: in any order, repeated, even negative.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct Partitions<'a>(&'a [[u8; 4]]);

impl<'a> Partitions<'a> {
    /// Reads a count and that many numbers, without looking at them.
    ///
    /// # Errors
    /// Where the count is negative or more than the bytes hold.
    #[inline]
    pub fn decode(
        reader: &mut Reader<'a>,
        list: &'static str,
        item: &'static str,
    ) -> Result<Self, DecodeError> {
        let count = reader.count(list)?;
        Ok(Self::from_bytes(reader.take(count.saturating_mul(4), item)?))
    }

    /// Takes bytes as numbers; up to three at the end that make no number are left out.
    #[inline]
    pub(in crate::codec) fn from_bytes(bytes: &'a [u8]) -> Self {
        Self(bytes.as_chunks::<4>().0)
    }

    /// Number of partitions.
    #[must_use]
    pub const fn len(self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0.is_empty()
    }

    /// The numbers as they stand on the wire.
    #[must_use]
    pub const fn as_bytes(self) -> &'a [u8] {
        self.0.as_flattened()
    }

    /// The number at `index`.
    #[must_use]
    pub fn get(self, index: usize) -> Option<i32> {
        self.0.get(index).copied().map(i32::from_be_bytes)
    }

    /// The numbers in the order of the wire.
    #[must_use]
    pub fn iter(self) -> PartitionIter<'a> {
        PartitionIter(self.0.iter())
    }
}

impl<'a> IntoIterator for Partitions<'a> {
    type Item = i32;
    type IntoIter = PartitionIter<'a>;

    fn into_iter(self) -> PartitionIter<'a> {
        self.iter()
    }
}

impl fmt::Debug for Partitions<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

/// The numbers of a [`Partitions`], in the order of the wire.
#[derive(Debug, Clone)]
pub struct PartitionIter<'a>(core::slice::Iter<'a, [u8; 4]>);

impl Iterator for PartitionIter<'_> {
    type Item = i32;

    #[inline]
    fn next(&mut self) -> Option<i32> {
        self.0.next().copied().map(i32::from_be_bytes)
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }

    #[inline]
    fn fold<B, F: FnMut(B, i32) -> B>(self, init: B, mut f: F) -> B {
        self.0.fold(init, |folded, number| f(folded, i32::from_be_bytes(*number)))
    }
}

impl ExactSizeIterator for PartitionIter<'_> {}
impl FusedIterator for PartitionIter<'_> {}

/// A topic and some of its partitions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Block<'a> {
    /// The topic's name.
    pub topic: Text<'a>,
    /// The partitions, as they stand.
    pub partitions: Partitions<'a>,
}

impl<'a> Block<'a> {
    /// Reads a topic and its partitions; no number is looked at.
    ///
    /// # Errors
    /// Where a length is negative or leads past the end.
    #[inline]
    pub fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let topic = reader.text("topic")?;
        let partitions = Partitions::decode(reader, "partitions", "partition")?;
        Ok(Self { topic, partitions })
    }
}

/// Partitions by topic: the number of blocks and the bytes that hold them, checked once.
///
/// A topic may appear in several blocks, and a block may be empty.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct Blocks<'a> {
    count: usize,
    partitions: usize,
    bytes: &'a [u8],
}

impl<'a> Blocks<'a> {
    /// Reads a list of topics with their partitions and checks each length.
    ///
    /// Cost: O(blocks); partitions are not looked at.
    ///
    /// # Errors
    /// Where a length is negative or leads past the end.
    pub fn decode(reader: &mut Reader<'a>, list: &'static str) -> Result<Self, DecodeError> {
        let count = reader.count(list)?;
        let bytes = reader.rest();
        let before = reader.left();
        let mut partitions = 0_usize;
        for _ in 0..count {
            partitions = partitions.saturating_add(Block::decode(reader)?.partitions.len());
        }
        let read = before.saturating_sub(reader.left());
        Ok(Self { count, partitions, bytes: bytes.get(..read).unwrap_or_default() })
    }

    /// Number of blocks.
    #[must_use]
    pub const fn len(self) -> usize {
        self.count
    }

    /// Whether there are no blocks.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.count == 0
    }

    /// Number of partitions in all blocks together.
    #[must_use]
    pub const fn partition_count(self) -> usize {
        self.partitions
    }

    /// The bytes of the list behind its count.
    #[must_use]
    pub const fn as_bytes(self) -> &'a [u8] {
        self.bytes
    }

    /// The blocks in the order of the wire.
    #[must_use]
    pub const fn iter(self) -> BlockIter<'a> {
        BlockIter { left: self.count, reader: Reader::new(self.bytes) }
    }
}

impl<'a> IntoIterator for Blocks<'a> {
    type Item = Block<'a>;
    type IntoIter = BlockIter<'a>;

    fn into_iter(self) -> BlockIter<'a> {
        self.iter()
    }
}

impl fmt::Debug for Blocks<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter().map(|block| (block.topic, block.partitions))).finish()
    }
}

/// The blocks of a [`Blocks`], in the order of the wire.
#[derive(Debug, Clone)]
pub struct BlockIter<'a> {
    left: usize,
    reader: Reader<'a>,
}

impl<'a> Iterator for BlockIter<'a> {
    type Item = Block<'a>;

    #[inline]
    fn next(&mut self) -> Option<Block<'a>> {
        self.left = self.left.checked_sub(1)?;
        // The bytes were read once already, so this never fails.
        Block::decode(&mut self.reader).ok()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for BlockIter<'_> {}
impl FusedIterator for BlockIter<'_> {}
