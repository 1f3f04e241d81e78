//! Compact user data as read: a borrowed view that was checked once.

use core::ops::Range;

use super::claims::{ClaimRange, ClaimRanges, Claims, NamedRanges, Payload};
use super::rice::Parts;
use super::roaring::Bitmap;
use super::space::Space;
use super::varints::{Bits, Deltas, Runs, check_bits, check_deltas, check_runs};
use super::{CHECKSUM_LEN, Encoding, MAGIC, VERSION, kind};
use crate::codec::consumer::Names;
use crate::codec::error::{DecodeError, DecodeErrorKind};
use crate::codec::reader::Reader;
use crate::codec::text::Text;

/// What a member says of itself in `tenure` user data, borrowed from the bytes.
///
/// Cost: reading allocates nothing, and no number in the bytes makes anything long: every loop ends with the bytes.
///
/// # Examples
/// ```
/// use tenure::codec::compact::{CompactFields, CompactUserData, Owned, TopicList};
/// use tenure::codec::{Subscription, SubscriptionFields, TopicPartitions};
///
/// let topics = TopicList::new(&["clicks", "orders"])?;
/// let owned = [TopicPartitions { topic: "orders", partitions: &[3, 7] }];
/// let fields =
///     CompactFields { owned: Owned::Blocks(&owned), generation: Some(41), ..CompactFields::new(&topics) };
/// let user_data = fields.encode()?;
///
/// let bytes = SubscriptionFields { topics: topics.names(), user_data: Some(&user_data), ..Default::default() }.encode(3)?;
/// let subscription = Subscription::decode(&bytes).unwrap();
/// let read = CompactUserData::decode(subscription.user_data.unwrap(), subscription.topics).unwrap();
/// assert_eq!((read.generation(), read.partition_count()), (Some(41), 2));
/// assert!(read.contains_named("orders", 7) && !read.contains_named("orders", 4));
/// let named = read.claims().map(|claim| (read.topic_name(claim.topic).unwrap().to_string(), claim.partition));
/// assert!(named.eq([("orders".to_string(), 3), ("orders".to_string(), 7)]));
/// # Ok::<(), tenure::codec::EncodeError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CompactUserData<'a> {
    generation: Option<i32>,
    rack: Option<Text<'a>>,
    extension: &'a [u8],
    literals: LiteralNames<'a>,
    topics: Names<'a>,
    space: Space<'a>,
    body: Body<'a>,
    count: usize,
    payload: &'a [u8],
    len: usize,
}

/// A payload that was checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Body<'a> {
    Runs,
    Deltas,
    Roaring(Bitmap<'a>),
    Rice(Parts<'a>),
    Bits,
}

/// What checking a payload finds out.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Checked {
    /// How many numbers there are.
    pub(super) count: u64,
    /// The last number plus one; 0 if there is none.
    pub(super) end: u64,
}

impl<'a> CompactUserData<'a> {
    /// Reads user data that came in a subscription beside `topics`.
    ///
    /// Cost: O(bytes of the topic list) for its checksum, and one look at each byte of the data. A leader that
    /// meets the same list again and again hands over the [`seal`](Self::seal) and takes
    /// [`decode_sealed`](Self::decode_sealed).
    ///
    /// # Errors
    /// [`ForeignFormat`](DecodeErrorKind::ForeignFormat) for another format, [`Underflow`](DecodeErrorKind::Underflow)
    /// for bytes that were cut off, [`UnsupportedVersion`](DecodeErrorKind::UnsupportedVersion) for newer ones,
    /// [`Checksum`](DecodeErrorKind::Checksum) for damage or another topic list, and
    /// [`Inconsistent`](DecodeErrorKind::Inconsistent) or [`UnknownEncoding`](DecodeErrorKind::UnknownEncoding) for a
    /// writer's fault. All of them mean a member without a history.
    pub fn decode(user_data: &'a [u8], topics: Names<'a>) -> Result<Self, DecodeError> {
        // Bytes of another format are known without the list.
        let frame = Frame::read(user_data)?;
        frame.check(Self::seal(topics))?;
        Self::body(frame, Some(topics))
    }

    /// Reads as [`decode`](Self::decode) does, where `seal` is that of the topics.
    ///
    /// # Errors
    /// As [`decode`](Self::decode).
    pub fn decode_sealed(user_data: &'a [u8], topics: Names<'a>, seal: u32) -> Result<Self, DecodeError> {
        let frame = Frame::read(user_data)?;
        frame.check(seal)?;
        Self::body(frame, Some(topics))
    }

    /// Reads user data alone, without its subscription: for tools. The checksum is not looked at, and topics of the
    /// subscription are known by their place only.
    ///
    /// # Errors
    /// As [`decode`](Self::decode), but for the checksum.
    pub fn decode_alone(user_data: &'a [u8]) -> Result<Self, DecodeError> {
        Self::body(Frame::read(user_data)?, None)
    }

    /// Whether bytes begin as this format does.
    #[must_use]
    pub fn is_format(user_data: &[u8]) -> bool {
        user_data.starts_with(&MAGIC)
    }

    /// The checksum of a topic list, which that of the data begins with.
    #[must_use]
    pub fn seal(topics: Names<'_>) -> u32 {
        crc32fast::hash(topics.as_bytes())
    }

    fn body(frame: Frame<'a>, topics: Option<Names<'a>>) -> Result<Self, DecodeError> {
        let Frame { kind, mut reader, len, .. } = frame;
        let inconsistent =
            |at, field, what| DecodeError { at, field, kind: DecodeErrorKind::Inconsistent { what } };
        let generation = if kind & kind::GENERATION == 0 {
            None
        } else {
            let at = reader.at();
            let generation = i32::try_from(reader.uvar("generation")?);
            Some(generation.map_err(|_| inconsistent(at, "generation", "a generation above 2^31"))?)
        };
        let rack = if kind & kind::RACK == 0 { None } else { Some(text(&mut reader, "rack")?) };
        let extension =
            if kind & kind::EXTENSION == 0 { &[] } else { text(&mut reader, "extension")?.as_bytes() };
        let literals = if kind & kind::NAMES == 0 {
            LiteralNames::default()
        } else {
            LiteralNames::decode(&mut reader)?
        };
        let topics_max = topics
            .map(|topics| u32::try_from(topics.len().saturating_add(literals.count)).unwrap_or(u32::MAX));
        let (space, limit) = if kind & kind::COUNTS == 0 {
            let stride = reader.uvar("stride")?;
            let topics_max = topics_max.unwrap_or(u32::MAX);
            (Space::Stride(stride), u64::from(stride).saturating_mul(u64::from(topics_max)))
        } else {
            Space::counts(&mut reader, topics_max)?
        };
        let (at, payload) = (reader.at(), reader.rest());
        let id = kind & kind::ENCODING;
        let (body, checked) = match Encoding::from_id(id) {
            Some(Encoding::Runs) => (Body::Runs, check_runs(payload, at)?),
            Some(Encoding::Deltas) => (Body::Deltas, check_deltas(payload, at)?),
            Some(Encoding::Roaring) => {
                let (bitmap, checked) = Bitmap::check(payload, at)?;
                (Body::Roaring(bitmap), checked)
            }
            Some(Encoding::Rice) => {
                let (parts, checked) = Parts::check(payload, at)?;
                (Body::Rice(parts), checked)
            }
            Some(Encoding::Bits) => (Body::Bits, check_bits(payload, at)?),
            None => {
                let kind = DecodeErrorKind::UnknownEncoding { id };
                return Err(DecodeError { at: KIND_AT, field: "kind", kind });
            }
        };
        if checked.end > limit {
            return Err(inconsistent(at, "payload", "partitions of topics that are not there"));
        }
        let count = usize::try_from(checked.count).unwrap_or(usize::MAX);
        let topics = topics.unwrap_or_default();
        Ok(Self { generation, rack, extension, literals, topics, space, body, count, payload, len })
    }

    /// The generation in which the partitions were assigned; `None` if it is not said.
    #[must_use]
    pub const fn generation(&self) -> Option<i32> {
        self.generation
    }

    /// Where the member is.
    #[must_use]
    pub const fn rack(&self) -> Option<Text<'a>> {
        self.rack
    }

    /// Bytes of fields that a later writer added.
    #[must_use]
    pub const fn extension(&self) -> &'a [u8] {
        self.extension
    }

    /// The topics that are named in the data, since the subscription lacks them.
    #[must_use]
    pub const fn literals(&self) -> LiteralNames<'a> {
        self.literals
    }

    /// How the set is written.
    #[must_use]
    pub const fn encoding(&self) -> Encoding {
        match self.body {
            Body::Runs => Encoding::Runs,
            Body::Deltas => Encoding::Deltas,
            Body::Roaring(_) => Encoding::Roaring,
            Body::Rice(_) => Encoding::Rice,
            Body::Bits => Encoding::Bits,
        }
    }

    /// How many numbers every topic takes; `None` if each has a count of its own.
    #[must_use]
    pub const fn stride(&self) -> Option<u32> {
        match self.space {
            Space::Stride(stride) => Some(stride),
            Space::Counts { .. } => None,
        }
    }

    /// Bytes of the encoded set.
    #[must_use]
    pub const fn payload_len(&self) -> usize {
        self.payload.len()
    }

    /// Bytes that were read. What is behind them is not looked at.
    #[must_use]
    pub const fn encoded_len(&self) -> usize {
        self.len
    }

    /// How many partitions the member says it owns.
    #[must_use]
    pub const fn partition_count(&self) -> usize {
        self.count
    }

    /// The partitions, ascending by topic number and partition.
    ///
    /// Cost: a few instructions a partition; `for_each` and `fold` are faster than a `for` loop. A few bytes of a
    /// stranger can claim 2^32 partitions: ask [`partition_count`](Self::partition_count) first, or walk the
    /// [`ranges`](Self::ranges).
    #[must_use]
    pub fn claims(&self) -> Claims<'a> {
        Claims { payload: self.payload(), locator: self.space.locator(), left: self.count }
    }

    /// The partitions as ranges, ascending by topic number and partition.
    #[must_use]
    pub fn ranges(&self) -> ClaimRanges<'a> {
        ClaimRanges::new(self.payload(), self.space.locator())
    }

    /// The partitions as ranges, each with the name of its topic.
    ///
    /// Order: topics that are named in the data, then those of the subscription's list.
    pub fn named_ranges(&self) -> impl Iterator<Item = (Text<'a>, ClaimRange)> + Clone {
        let names = self.literals.iter().chain(self.topics);
        NamedRanges { ranges: self.ranges(), names, next: 0, name: Text::default() }
    }

    fn payload(&self) -> Payload<'a> {
        match self.body {
            Body::Runs => Payload::Runs(Runs::new(self.payload)),
            Body::Deltas => Payload::Deltas(Deltas::new(self.payload)),
            Body::Roaring(bitmap) => Payload::Roaring(bitmap.iter()),
            Body::Rice(parts) => Payload::Rice(parts.iter()),
            Body::Bits => Payload::Bits(Bits::new(self.payload)),
        }
    }

    /// The place in the subscription's list of the topic with this number; `None` for one that is named in the data.
    #[must_use]
    pub const fn topic_place(&self, number: u32) -> Option<usize> {
        (number as usize).checked_sub(self.literals.count)
    }

    /// The name of the topic with this number; `None` if the subscription's list is not known or too short.
    ///
    /// Cost: O(number).
    #[must_use]
    pub fn topic_name(&self, number: u32) -> Option<Text<'a>> {
        match self.topic_place(number) {
            Some(place) => self.topics.iter().nth(place),
            None => self.literals.iter().nth(number as usize),
        }
    }

    /// The number of a topic; `None` if neither the data nor the subscription names it.
    ///
    /// Cost: O(topics).
    #[must_use]
    pub fn topic_number(&self, name: &str) -> Option<u32> {
        let number = self.literals.iter().chain(self.topics).position(|known| known == *name)?;
        u32::try_from(number).ok()
    }

    /// Whether a partition of the topic with this number is owned.
    ///
    /// Cost: one look for bits and Roaring, a walk over the numbers before it for the others; nothing is decoded
    /// into memory.
    #[must_use]
    pub fn contains(&self, topic: u32, partition: u32) -> bool {
        let Some(number) = self.space.number(topic, partition) else { return false };
        match self.body {
            Body::Runs => {
                let mut runs = Runs::new(self.payload);
                while let Some((first, len)) = runs.next_run() {
                    if first > number {
                        return false;
                    }
                    if u64::from(number.wrapping_sub(first)) < len {
                        return true;
                    }
                }
                false
            }
            Body::Deltas => has(Deltas::new(self.payload), number),
            Body::Roaring(bitmap) => bitmap.contains(number),
            Body::Rice(parts) => has(parts.iter(), number),
            Body::Bits => self
                .payload
                .get((number >> 3) as usize)
                .is_some_and(|byte| byte.wrapping_shr(number & 7) & 1 != 0),
        }
    }

    /// Whether a partition is owned.
    ///
    /// Cost: as [`contains`](Self::contains), and O(topics) to find the name.
    #[must_use]
    pub fn contains_named(&self, topic: &str, partition: i32) -> bool {
        match (self.topic_number(topic), u32::try_from(partition)) {
            (Some(topic), Ok(partition)) => self.contains(topic, partition),
            _ => false,
        }
    }

    /// Sets the bits of all owned partitions that have a place in `row`, and tells how many have none.
    ///
    /// `ranges` has for each topic of the subscription's list where its partitions are in the row. Bits that are set
    /// stay set. Partitions beyond a range, and topics that are named in the data, have no place.
    ///
    /// Cost: a step for each run of partitions and each word of the row, without a list in between.
    pub fn set_bits(&self, ranges: &[Range<u32>], row: &mut [u64]) -> u64 {
        let mut lost = 0_u64;
        let row_bits = (row.len() as u64).saturating_mul(64);
        for ClaimRange { topic, from, to } in self.ranges() {
            let place = self.topic_place(topic).and_then(|place| ranges.get(place));
            let (start, end) = place.map_or((0, 0), |place| (u64::from(place.start), u64::from(place.end)));
            let first = start.saturating_add(u64::from(from));
            let behind = start.saturating_add(u64::from(to)).saturating_add(1).min(end).min(row_bits);
            let claimed = u64::from(to.saturating_sub(from)).saturating_add(1);
            lost = lost.saturating_add(claimed).saturating_sub(behind.saturating_sub(first));
            set_range(row, first, behind);
        }
        lost
    }
}

/// Sets the bits `first..behind`, which are in the row.
#[inline]
fn set_range(row: &mut [u64], first: u64, behind: u64) {
    let mut at = first;
    while at < behind {
        let Some(word) = usize::try_from(at >> 6).ok().and_then(|word| row.get_mut(word)) else { return };
        let here = behind.saturating_sub(at).min(64_u64.saturating_sub(at & 63));
        *word |= u64::MAX.wrapping_shr(64_u64.saturating_sub(here) as u32).wrapping_shl((at & 63) as u32);
        at = at.saturating_add(here);
    }
}

/// Whether ascending numbers have this one.
fn has(mut numbers: impl Iterator<Item = u32>, number: u32) -> bool {
    numbers.find(|&other| other >= number) == Some(number)
}

/// Offset of the kind.
const KIND_AT: usize = 3;

/// What is around the fields.
struct Frame<'a> {
    kind: u8,
    /// Everything the checksum covers, and where it is.
    covered: &'a [u8],
    checksum: u32,
    /// Reads the fields behind the length.
    reader: Reader<'a>,
    len: usize,
}

impl<'a> Frame<'a> {
    fn read(bytes: &'a [u8]) -> Result<Self, DecodeError> {
        if !bytes.starts_with(&MAGIC) && !MAGIC.starts_with(bytes) {
            return Err(DecodeError { at: 0, field: "magic", kind: DecodeErrorKind::ForeignFormat });
        }
        let mut reader = Reader::new(bytes);
        reader.array::<2>("magic")?;
        let at = reader.at();
        let [version] = reader.array("version")?;
        if version != VERSION {
            let newest = i32::from(VERSION);
            let kind =
                DecodeErrorKind::UnsupportedVersion { version: i32::from(version), oldest: newest, newest };
            return Err(DecodeError { at, field: "version", kind });
        }
        let [kind] = reader.array("kind")?;
        let at = reader.at();
        let needed = usize::try_from(reader.uvar("length")?).unwrap_or(usize::MAX);
        if needed > reader.left() {
            let kind = DecodeErrorKind::Underflow { needed, left: reader.left() };
            return Err(DecodeError { at, field: "length", kind });
        }
        let len = reader.at().saturating_add(needed);
        let split = needed.checked_sub(CHECKSUM_LEN).and_then(|fields| {
            let checksum = reader.rest().get(fields..)?.first_chunk::<CHECKSUM_LEN>()?;
            Some((bytes.get(..reader.at().saturating_add(fields))?, *checksum))
        });
        let Some((covered, checksum)) = split else {
            let kind = DecodeErrorKind::Inconsistent { what: "no room for the checksum" };
            return Err(DecodeError { at, field: "length", kind });
        };
        let mut fields = Reader::new(covered);
        fields.take(reader.at(), "length")?;
        Ok(Self { kind, covered, checksum: u32::from_be_bytes(checksum), reader: fields, len })
    }

    fn check(&self, seal: u32) -> Result<(), DecodeError> {
        let computed = checksum(seal, self.covered);
        if computed == self.checksum {
            return Ok(());
        }
        let kind = DecodeErrorKind::Checksum { stated: self.checksum, computed };
        Err(DecodeError { at: self.covered.len(), field: "checksum", kind })
    }
}

/// The checksum of the data behind a topic list's.
pub(super) fn checksum(seal: u32, covered: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new_with_initial(seal);
    hasher.update(covered);
    hasher.finalize()
}

/// Reads bytes behind their length.
fn text<'a>(reader: &mut Reader<'a>, field: &'static str) -> Result<Text<'a>, DecodeError> {
    let at = reader.at();
    let len = usize::try_from(reader.uvar(field)?).unwrap_or(usize::MAX);
    match reader.take(len, field) {
        Ok(bytes) => Ok(Text::new(bytes)),
        Err(error) => Err(DecodeError { at, ..error }),
    }
}

/// Topics that the data names itself.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LiteralNames<'a> {
    count: usize,
    bytes: &'a [u8],
}

impl<'a> LiteralNames<'a> {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let at = reader.at();
        let count = usize::try_from(reader.uvar("names")?).unwrap_or(usize::MAX);
        if count > reader.left() {
            let kind = DecodeErrorKind::CountAboveRest { count, left: reader.left() };
            return Err(DecodeError { at, field: "names", kind });
        }
        let bytes = reader.rest();
        let before = reader.left();
        for _ in 0..count {
            text(reader, "name")?;
        }
        let read = before.saturating_sub(reader.left());
        Ok(Self { count, bytes: bytes.get(..read).unwrap_or_default() })
    }

    /// How many there are.
    #[must_use]
    pub const fn len(self) -> usize {
        self.count
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.count == 0
    }

    /// The names; their places are the topics' numbers.
    pub fn iter(self) -> impl Iterator<Item = Text<'a>> + Clone {
        let mut reader = Reader::new(self.bytes);
        core::iter::from_fn(move || text(&mut reader, "name").ok())
    }
}
