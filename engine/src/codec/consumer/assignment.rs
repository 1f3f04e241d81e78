//! What a member gets.

use alloc::vec::Vec;

use super::blocks::Blocks;
use super::write::{Fields, TopicPartitions, write_merged_blocks};
use super::{NEWEST_VERSION, version, writable};
use crate::codec::error::{DecodeError, EncodeError};
use crate::codec::reader::Reader;
use crate::codec::writer::{Sink, Writer, too_long};

/// A member's assignment, borrowed from the bytes the leader wrote.
///
/// Versions 0 to 3 differ in the number only. No bytes at all are an empty assignment: that is what a
/// coordinator answers while a round is not over, or when the leader named the member nowhere.
///
/// Source: `ConsumerProtocolAssignment` of Kafka; KAFKA-2768 for the empty one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Assignment<'a> {
    /// The version as sent; `None` if there were no bytes at all.
    pub version: Option<i16>,
    /// The partitions, as they stand.
    pub assigned: Blocks<'a>,
    /// What the leader's assignor has to say; null and empty differ.
    pub user_data: Option<&'a [u8]>,
}

impl<'a> Assignment<'a> {
    /// Reads an assignment of any version; no bytes at all are an empty one.
    ///
    /// Cost: O(topics); partitions are not looked at, nothing is copied or allocated.
    ///
    /// # Errors
    /// A negative version, a cut, or a length that leads past the end.
    ///
    /// # Examples
    /// ```
    /// use tenure::codec::Assignment;
    /// let bytes = b"\x00\x00\x00\x00\x00\x01\x00\x02t1\x00\x00\x00\x01\x00\x00\x00\x07\xff\xff\xff\xff";
    /// let assignment = Assignment::decode(bytes)?;
    /// let block = assignment.assigned.iter().next().unwrap();
    /// assert_eq!(block.topic, "t1");
    /// assert!(block.partitions.iter().eq([7]));
    /// assert!(Assignment::decode(&[])?.assigned.is_empty());
    /// # Ok::<(), tenure::codec::DecodeError>(())
    /// ```
    pub fn decode(bytes: &'a [u8]) -> Result<Self, DecodeError> {
        if bytes.is_empty() {
            return Ok(Self { version: None, assigned: Blocks::default(), user_data: None });
        }
        Self::from_reader(&mut Reader::new(bytes))
    }

    /// As [`decode`](Self::decode), except that no bytes at all are an error, as they are to Kafka's own class.
    ///
    /// # Errors
    /// As [`decode`](Self::decode), or an underflow at byte 0.
    pub fn decode_nonempty(bytes: &'a [u8]) -> Result<Self, DecodeError> {
        Self::from_reader(&mut Reader::new(bytes))
    }

    /// Reads an assignment and leaves `reader` behind it.
    pub(super) fn from_reader(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let version = version(reader)?;
        let assigned = Blocks::decode(reader, "assignedPartitions")?;
        let user_data = reader.nullable_bytes("userData")?;
        Ok(Self { version: Some(version), assigned, user_data })
    }
}

/// An assignment to be written.
///
/// Order: Java's: topics in order of first appearance, one block a topic, numbers as they stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AssignmentFields<'a> {
    /// The partitions assigned.
    pub assigned: &'a [TopicPartitions<'a>],
    /// What the assignor has to say.
    pub user_data: Option<&'a [u8]>,
}

impl Fields for AssignmentFields<'_> {
    fn write<S: Sink>(&self, version: i16, writer: &mut Writer<S>) -> Result<(), EncodeError> {
        writable(version, NEWEST_VERSION)?;
        writer.i16(version)?;
        write_merged_blocks(writer, self.assigned, "assignedPartitions")?;
        writer.nullable_bytes(self.user_data, "userData")
    }
}

impl AssignmentFields<'_> {
    /// The exact number of bytes that the other two write.
    ///
    /// # Errors
    /// What cannot be written: an unknown version, a name above 32,767 bytes.
    pub fn encoded_len(&self, version: i16) -> Result<usize, EncodeError> {
        self.measure(version)
    }

    /// Writes the assignment to the front of `buffer` and returns its length.
    ///
    /// Cost: one pass; allocates only to bring together blocks whose topics do not ascend.
    ///
    /// # Errors
    /// As [`encoded_len`](Self::encoded_len), or a buffer that is too small, which is left as it was.
    pub fn encode_into(&self, version: i16, buffer: &mut [u8]) -> Result<usize, EncodeError> {
        self.write_to(version, buffer)
    }

    /// Writes the assignment.
    ///
    /// # Errors
    /// As [`encoded_len`](Self::encoded_len).
    pub fn encode(&self, version: i16) -> Result<Vec<u8>, EncodeError> {
        self.write_out(version)
    }
}

/// Writes an assignment piece by piece to the end of a vector, for a leader that walks its plan.
///
/// Nothing needs to be known beforehand: the counts are put right behind the last piece. A vector with
/// room for the whole is never moved, so a warm round allocates nothing.
///
/// # Examples
/// ```
/// use tenure::codec::{Assignment, AssignmentWriter};
/// let mut bytes = Vec::new();
/// let mut writer = AssignmentWriter::begin(&mut bytes, 3)?;
/// writer.topic("orders")?;
/// writer.partitions(4..7);
/// writer.finish(None)?;
/// assert_eq!(Assignment::decode(&bytes).unwrap().assigned.partition_count(), 3);
/// # Ok::<(), tenure::codec::EncodeError>(())
/// ```
#[derive(Debug)]
pub struct AssignmentWriter<'w> {
    bytes: &'w mut Vec<u8>,
    topics_at: usize,
    topics: usize,
    /// Where the count of the open block is, and where its partitions start; both 0 without one.
    block_at: usize,
}

impl<'w> AssignmentWriter<'w> {
    /// Starts an assignment behind what `bytes` holds.
    ///
    /// # Errors
    /// A version outside 0 to 3.
    pub fn begin(bytes: &'w mut Vec<u8>, version: i16) -> Result<Self, EncodeError> {
        writable(version, NEWEST_VERSION)?;
        bytes.extend_from_slice(&version.to_be_bytes());
        let topics_at = bytes.len();
        bytes.extend_from_slice(&[0; 4]);
        Ok(Self { bytes, topics_at, topics: 0, block_at: 0 })
    }

    /// Opens the block of `topic`; Java writes each topic once.
    ///
    /// # Errors
    /// A name above 32,767 bytes, or a block before it with more than 2^31 - 1 partitions.
    pub fn topic(&mut self, topic: &str) -> Result<(), EncodeError> {
        self.close_block()?;
        let Ok(len) = i16::try_from(topic.len()) else { return Err(too_long("topic", topic.len(), 0x7fff)) };
        self.bytes.extend_from_slice(&len.to_be_bytes());
        self.bytes.extend_from_slice(topic.as_bytes());
        self.block_at = self.bytes.len();
        self.bytes.extend_from_slice(&[0; 4]);
        self.topics = self.topics.saturating_add(1);
        Ok(())
    }

    /// Adds a partition to the open block. Without one it is lost, which debug builds refuse.
    #[inline]
    pub fn partition(&mut self, partition: i32) {
        debug_assert!(self.block_at != 0, "a partition without a topic");
        if self.block_at != 0 {
            self.bytes.extend_from_slice(&partition.to_be_bytes());
        }
    }

    /// Adds partitions to the open block.
    #[inline]
    pub fn partitions(&mut self, partitions: impl IntoIterator<Item = i32>) {
        partitions.into_iter().for_each(|partition| self.partition(partition));
    }

    /// Writes the user data and the counts, and returns the length of the assignment.
    ///
    /// # Errors
    /// A list or user data above 2^31 - 1.
    pub fn finish(mut self, user_data: Option<&[u8]>) -> Result<usize, EncodeError> {
        self.close_block()?;
        let Ok(topics) = i32::try_from(self.topics) else {
            return Err(too_long("assignedPartitions", self.topics, 0x7fff_ffff));
        };
        self.patch(self.topics_at, topics);
        Writer::new(&mut *self.bytes).nullable_bytes(user_data, "userData")?;
        Ok(self.bytes.len().saturating_sub(self.topics_at.saturating_sub(2)))
    }

    fn close_block(&mut self) -> Result<(), EncodeError> {
        if self.block_at == 0 {
            return Ok(());
        }
        let partitions = self.bytes.len().saturating_sub(self.block_at.saturating_add(4)) / 4;
        let Ok(count) = i32::try_from(partitions) else {
            return Err(too_long("partitions", partitions, 0x7fff_ffff));
        };
        self.patch(self.block_at, count);
        self.block_at = 0;
        Ok(())
    }

    fn patch(&mut self, at: usize, number: i32) {
        if let Some(place) = self.bytes.get_mut(at..).and_then(|bytes| bytes.first_chunk_mut::<4>()) {
            *place = number.to_be_bytes();
        }
    }
}
