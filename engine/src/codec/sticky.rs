//! What the sticky assignors keep in a subscription's user data, and what a member's history is.
//!
//! Neither format has a version on the wire; "0" and "1" are names for the bytes that are there.
//!
//! | assignor | user data | owned partitions from | generation from |
//! |---|---|---|---|
//! | `sticky` | blocks, and since 2.3 a generation | user data | user data |
//! | `cooperative-sticky` | a generation | subscription | subscription (version 2 on), else user data |
//! | `tenure-cooperative-sticky` | [compact](super::compact) | user data | user data, else subscription |
//! | any other | | subscription | subscription |
//!
//! Source: KIP-54, KIP-341 (KAFKA-7026: the generation), KIP-792 (KAFKA-13715: the subscription's own
//! generation wins).

use alloc::vec;
use alloc::vec::Vec;

use hashbrown::HashMap;

use super::compact::CompactUserData;
use super::consumer::{Blocks, Subscription, TopicPartitions, write_blocks};
use super::error::{DecodeError, EncodeError};
use super::order::java_hash_order;
use super::reader::Reader;
use super::writer::{Sink, Writer, measured, written};

/// Name of the eager sticky assignor in a join request.
pub const STICKY: &str = "sticky";

/// Name of the cooperative sticky assignor in a join request.
pub const COOPERATIVE_STICKY: &str = "cooperative-sticky";

/// Name of Tenure's own assignor in a join request: cooperative, with compact user data.
pub const TENURE_COOPERATIVE_STICKY: &str = "tenure-cooperative-sticky";

/// What an eager sticky member says it had before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct StickyUserData<'a> {
    /// The partitions it had, as they stand.
    pub previous: Blocks<'a>,
    /// The generation in which it had them, negative ones too; `None` if it is not said.
    pub generation: Option<i32>,
    /// Why the bytes could not be read. Kafka then sees nothing owned at generation -1.
    pub unreadable: Option<DecodeError>,
}

impl<'a> StickyUserData<'a> {
    /// Reads sticky user data, which never fails.
    ///
    /// Tried in this order: blocks and a generation; blocks alone; nothing, with
    /// [`unreadable`](Self::unreadable) saying why. A half-read list is never used. Null and no bytes are
    /// a member without history, and not unreadable.
    ///
    /// Cost: O(topics); nothing is copied or allocated.
    ///
    /// # Examples
    /// ```
    /// use tenure::codec::StickyUserData;
    /// let bytes = b"\x00\x00\x00\x01\x00\x02t1\x00\x00\x00\x01\x00\x00\x00\x05\x00\x00\x00\x07";
    /// assert_eq!(StickyUserData::decode(Some(bytes)).generation, Some(7));
    /// // Cut by one byte the generation is lost, the partitions are not.
    /// let old = StickyUserData::decode(Some(&bytes[..bytes.len() - 1]));
    /// assert_eq!((old.previous.partition_count(), old.generation), (1, None));
    /// assert!(StickyUserData::decode(Some(&bytes[..9])).unreadable.is_some());
    /// ```
    #[must_use]
    pub fn decode(user_data: Option<&'a [u8]>) -> Self {
        let Some(bytes) = user_data.filter(|bytes| !bytes.is_empty()) else { return Self::default() };
        let mut reader = Reader::new(bytes);
        match Blocks::decode(&mut reader, "previousAssignment") {
            Ok(previous) => Self { previous, generation: reader.i32("generation").ok(), unreadable: None },
            Err(error) => Self { unreadable: Some(error), ..Self::default() },
        }
    }

    /// The generation as Kafka sees it: -1 for unreadable bytes.
    #[must_use]
    pub const fn kafka_generation(&self) -> Option<i32> {
        if self.unreadable.is_some() { Some(-1) } else { self.generation }
    }
}

/// The generation in the user data of a cooperative sticky member, as Kafka sees it.
///
/// Null says nothing, fewer than four bytes are -1, and bytes after the fourth are ignored. A generation in the
/// subscription itself wins over all of it; see [`History::of`].
#[must_use]
pub fn cooperative_generation(user_data: Option<&[u8]>) -> Option<i32> {
    user_data.map(|bytes| bytes.first_chunk().map_or(-1, |chunk| i32::from_be_bytes(*chunk)))
}

/// The user data of a cooperative sticky member: its generation, -1 before the first assignment.
#[must_use]
pub const fn encode_cooperative(generation: i32) -> [u8; 4] {
    generation.to_be_bytes()
}

/// What a member owns and since when, settled from everything its subscription says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct History<'a> {
    /// The partitions it says it owns. Ids may be negative or unknown; they are claims, not facts.
    pub owned: Blocks<'a>,
    /// What it says it owns besides, in compact user data.
    pub compact: Option<CompactUserData<'a>>,
    /// The generation in which it got them; `None`, below all others, for none and negative ones.
    pub generation: Option<i32>,
    /// Why its user data could not be read, where that cost it its history. To be counted and reported by name.
    pub unreadable: Option<DecodeError>,
}

impl<'a> History<'a> {
    /// Settles the history of a member that joined with `subscription` under the protocol `assignor`.
    ///
    /// Kafka has the eager assignor look at the user data only, since an eager member gave up all it
    /// owned before it joined. The cooperative one takes the subscription's owned partitions, with
    /// the subscription's generation if it has one, and else the user data's. Data that cannot be read makes
    /// a member without a history (`sticky`) or without a generation (`cooperative-sticky`).
    ///
    /// Tenure's own assignor has it all in the user data, and takes owned partitions of the subscription in addition, so
    /// that a member that sends no user data is understood; one whose user data can't be read has no history.
    ///
    /// # Examples
    /// ```
    /// use tenure::codec::{History, Subscription, SubscriptionFields};
    /// let fields = SubscriptionFields { user_data: Some(&[0, 0, 0, 5]), generation: Some(8), ..Default::default() };
    /// let generation = |version| {
    ///     let bytes = fields.encode(version).unwrap();
    ///     History::of(&Subscription::decode(&bytes).unwrap(), "cooperative-sticky").generation
    /// };
    /// assert_eq!(generation(2), Some(8));
    /// assert_eq!(generation(1), Some(5));
    /// ```
    #[must_use]
    pub fn of(subscription: &Subscription<'a>, assignor: &str) -> Self {
        match assignor {
            STICKY => {
                let data = StickyUserData::decode(subscription.user_data);
                Self {
                    owned: data.previous,
                    compact: None,
                    generation: data.generation.filter(|&generation| generation >= 0),
                    unreadable: data.unreadable,
                }
            }
            COOPERATIVE_STICKY if subscription.generation.is_none() => {
                let user_data = subscription.user_data.filter(|bytes| !bytes.is_empty());
                let read = user_data.map(|bytes| Reader::new(bytes).i32("generation"));
                Self {
                    owned: subscription.owned,
                    compact: None,
                    generation: read.and_then(Result::ok).filter(|&generation| generation >= 0),
                    unreadable: read.and_then(Result::err),
                }
            }
            TENURE_COOPERATIVE_STICKY => {
                let read = subscription
                    .user_data
                    .filter(|bytes| !bytes.is_empty())
                    .map(|bytes| CompactUserData::decode(bytes, subscription.topics));
                let compact = read.and_then(Result::ok);
                let generation = compact.and_then(|compact| compact.generation());
                Self {
                    owned: subscription.owned,
                    compact,
                    generation: generation.or(subscription.generation),
                    unreadable: read.and_then(Result::err),
                }
            }
            _ => Self {
                owned: subscription.owned,
                compact: None,
                generation: subscription.generation,
                unreadable: None,
            },
        }
    }
}

/// Sticky user data to be written.
///
/// Order: as given. Java's own is that of a hash map, see [`grouped_as_java`]; no reader depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StickyFields<'a> {
    /// The partitions the member has.
    pub previous: &'a [TopicPartitions<'a>],
    /// The generation in which it got them; `None` writes what members before 2.3 wrote.
    pub generation: Option<i32>,
}

impl StickyFields<'_> {
    fn write<S: Sink>(&self, writer: &mut Writer<S>) -> Result<(), EncodeError> {
        write_blocks(writer, self.previous, "previousAssignment")?;
        self.generation.map_or(Ok(()), |generation| writer.i32(generation))
    }

    /// The exact number of bytes that the other two write.
    ///
    /// # Errors
    /// A name above 32,767 bytes.
    pub fn encoded_len(&self) -> Result<usize, EncodeError> {
        measured(|writer| self.write(writer))
    }

    /// Writes the user data to the front of `buffer` and returns its length.
    ///
    /// # Errors
    /// As [`encoded_len`](Self::encoded_len), or a buffer that is too small, which is left as it was.
    pub fn encode_into(&self, buffer: &mut [u8]) -> Result<usize, EncodeError> {
        let needed = self.encoded_len()?;
        written(buffer, needed, |writer| self.write(writer))
    }

    /// Writes the user data.
    ///
    /// # Errors
    /// As [`encoded_len`](Self::encoded_len).
    pub fn encode(&self) -> Result<Vec<u8>, EncodeError> {
        let needed = self.encoded_len()?;
        let mut bytes = vec![0; needed];
        written(&mut bytes, needed, |writer| self.write(writer))?;
        Ok(bytes)
    }
}

/// Groups partitions by topic as Java's `StickyAssignor` does before it writes them.
///
/// `partitions` may name a topic many times; numbers stay in their order, topics come in that of Java's hash map.
#[must_use]
pub fn grouped_as_java<'a>(partitions: &[TopicPartitions<'a>]) -> Vec<(&'a str, Vec<i32>)> {
    let mut place_of: HashMap<&str, usize> = HashMap::new();
    let mut names: Vec<&'a str> = Vec::new();
    let mut numbers: Vec<Vec<i32>> = Vec::new();
    let mut asked_again = false;
    for block in partitions.iter().filter(|block| !block.partitions.is_empty()) {
        let place = *place_of.entry(block.topic).or_insert(names.len());
        asked_again |= place < names.len();
        if place == names.len() {
            names.push(block.topic);
            numbers.push(Vec::new());
            asked_again = false;
        }
        asked_again |= block.partitions.len() > 1;
        if let Some(numbers) = numbers.get_mut(place) {
            numbers.extend(block.partitions);
        }
    }
    let mut group = |index: usize| Some((*names.get(index)?, core::mem::take(numbers.get_mut(index)?)));
    java_hash_order(&names, asked_again).into_iter().filter_map(&mut group).collect()
}
