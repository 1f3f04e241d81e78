//! What a member wants and what it says it owns.

use alloc::vec::Vec;

use super::blocks::{Blocks, Names};
use super::write::{Fields, TopicPartitions, sorted_names, write_names, write_sorted_blocks};
use super::{NEWEST_VERSION, version, writable};
use crate::codec::error::{DecodeError, EncodeError};
use crate::codec::reader::Reader;
use crate::codec::text::Text;
use crate::codec::writer::{Sink, Writer};

/// A member's subscription, borrowed from the bytes it sent.
///
/// Two members that want the same topics send the same bytes for them; see
/// [`decode_like`](Self::decode_like).
///
/// Source: `ConsumerProtocolSubscription` of Kafka; KIP-429, KIP-792, KIP-881.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Subscription<'a> {
    /// The version as sent, which may be newer than any we know.
    pub version: i16,
    /// The topics the member wants, repeated names and all.
    pub topics: Names<'a>,
    /// What the member's assignor has to say; null and empty differ.
    pub user_data: Option<&'a [u8]>,
    /// The partitions the member says it owns.
    pub owned: Blocks<'a>,
    /// The generation in which it got them; any negative number is none.
    pub generation: Option<i32>,
    /// Where the member is; an empty name is none.
    pub rack: Option<Text<'a>>,
}

impl<'a> Subscription<'a> {
    /// Reads a subscription of any version.
    ///
    /// A version above 3 is read as 3, and whatever follows the known fields is ignored.
    ///
    /// Cost: O(topics + owned topics); partitions are not looked at, nothing is copied or allocated.
    ///
    /// # Errors
    /// A negative version, a cut, or a length that leads past the end: the member must be refused by name.
    ///
    /// # Examples
    /// ```
    /// use tenure::codec::Subscription;
    /// let bytes = b"\x00\x01\x00\x00\x00\x01\x00\x02t1\xff\xff\xff\xff\x00\x00\x00\x00";
    /// let subscription = Subscription::decode(bytes)?;
    /// assert!(subscription.topics.iter().eq(["t1"]));
    /// assert_eq!(subscription.user_data, None);
    /// # Ok::<(), tenure::codec::DecodeError>(())
    /// ```
    pub fn decode(bytes: &'a [u8]) -> Result<Self, DecodeError> {
        let mut reader = Reader::new(bytes);
        let version = version(&mut reader)?;
        let topics = Names::decode(&mut reader, "topics", "topic")?;
        Self::behind_topics(version, topics, &mut reader)
    }

    /// Reads a subscription whose topics are probably `previous` again.
    ///
    /// The second result tells whether they are, so that what was found out about them still holds.
    ///
    /// Cost: one comparison of the topics' bytes if they are the same; else as [`decode`](Self::decode).
    ///
    /// # Errors
    /// As [`decode`](Self::decode).
    pub fn decode_like(bytes: &'a [u8], previous: Names<'_>) -> Result<(Self, bool), DecodeError> {
        let mut reader = Reader::new(bytes);
        let version = version(&mut reader)?;
        let (topics, same) = Names::decode_like(&mut reader, previous, "topics", "topic")?;
        Ok((Self::behind_topics(version, topics, &mut reader)?, same))
    }

    fn behind_topics(version: i16, topics: Names<'a>, reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let user_data = reader.nullable_bytes("userData")?;
        let owned = if version >= 1 { Blocks::decode(reader, "ownedPartitions")? } else { Blocks::default() };
        let generation = if version >= 2 { reader.i32("generationId")? } else { -1 };
        let rack = if version >= 3 { reader.nullable_text("rackId")? } else { None };
        Ok(Self {
            version,
            topics,
            user_data,
            owned,
            generation: (generation >= 0).then_some(generation),
            rack: rack.filter(|rack| !rack.is_empty()),
        })
    }

    /// The version whose fields were read: the one sent, or 3 if that is newer.
    #[must_use]
    pub fn version_read(&self) -> i16 {
        self.version.min(NEWEST_VERSION)
    }
}

/// A subscription to be written.
///
/// Order: Java's, whatever the order given: topics sorted by UTF-16 unit, repeated ones kept; owned
/// partitions sorted by topic and number, one block a topic. Fields that the version lacks are dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SubscriptionFields<'a> {
    /// The topics wanted.
    pub topics: &'a [&'a str],
    /// What the assignor has to say.
    pub user_data: Option<&'a [u8]>,
    /// The partitions owned (from version 1 on).
    pub owned: &'a [TopicPartitions<'a>],
    /// The generation in which they were assigned (from version 2 on).
    pub generation: Option<i32>,
    /// Where the member is (from version 3 on).
    pub rack: Option<&'a str>,
}

impl Fields for SubscriptionFields<'_> {
    fn write<S: Sink>(&self, version: i16, writer: &mut Writer<S>) -> Result<(), EncodeError> {
        writable(version, NEWEST_VERSION)?;
        writer.i16(version)?;
        write_names(writer, &sorted_names(self.topics), "topics", "topic")?;
        writer.nullable_bytes(self.user_data, "userData")?;
        if version >= 1 {
            write_sorted_blocks(writer, self.owned, "ownedPartitions")?;
        }
        if version >= 2 {
            writer.i32(self.generation.map_or(-1, |generation| generation.max(-1)))?;
        }
        if version >= 3 {
            writer.nullable_text(self.rack.map(str::as_bytes), "rackId")?;
        }
        Ok(())
    }
}

impl SubscriptionFields<'_> {
    /// The exact number of bytes that the other two write.
    ///
    /// # Errors
    /// What cannot be written: an unknown version, a name above 32,767 bytes.
    pub fn encoded_len(&self, version: i16) -> Result<usize, EncodeError> {
        self.measure(version)
    }

    /// Writes the subscription to the front of `buffer` and returns its length.
    ///
    /// Cost: one pass; allocates only to sort what is not in Java's order.
    ///
    /// # Errors
    /// As [`encoded_len`](Self::encoded_len), or a buffer that is too small, which is left as it was.
    pub fn encode_into(&self, version: i16, buffer: &mut [u8]) -> Result<usize, EncodeError> {
        self.write_to(version, buffer)
    }

    /// Writes the subscription.
    ///
    /// # Errors
    /// As [`encoded_len`](Self::encoded_len).
    ///
    /// # Examples
    /// ```
    /// use tenure::codec::{Subscription, SubscriptionFields};
    /// let fields = SubscriptionFields { topics: &["zz", "～full", "😀face"], ..Default::default() };
    /// let bytes = fields.encode(3)?;
    /// let topics = Subscription::decode(&bytes).unwrap().topics;
    /// assert!(topics.iter().eq(["zz", "😀face", "～full"]));
    /// # Ok::<(), tenure::codec::EncodeError>(())
    /// ```
    pub fn encode(&self, version: i16) -> Result<Vec<u8>, EncodeError> {
        self.write_out(version)
    }
}
