//! The `tenure` user data: what a member owns, in about as many bytes as there is to say.
//!
//! A big group dies by size: what all members say they own goes into one JoinGroup response and one record of the
//! coordinator. Kafka's formats spend a topic's name and eight bytes on a block that mostly holds one partition. This
//! format names topics by their place in the subscription's own list, makes one set of numbers of all partitions,
//! and writes that set in the smallest of five encodings.
//!
//! # The bytes
//!
//! A *varint* is an unsigned LEB128 number of at most five bytes. Bits are counted from the lowest of the first byte.
//!
//! | offset | bytes | field | |
//! |---|---|---|---|
//! | 0 | 2 | magic | `54 43`, "TC" |
//! | 2 | 1 | version | 1; readers refuse a newer one |
//! | 3 | 1 | kind | bits 0 to 2 the encoding; bit 3 generation, bit 4 rack, bit 5 names, bit 6 counts, bit 7 extension |
//! | 4 | varint | length | bytes behind this field, the checksum among them |
//! | | varint | generation | if bit 3 is set |
//! | | varint, n | rack | if bit 4 is set: its length and its UTF-8 |
//! | | varint, n | extension | if bit 7 is set: its length and bytes that this version skips: the room to grow |
//! | | varint, … | names | if bit 5 is set: how many, and each as length and UTF-8: topics owned that the list lacks |
//! | | varint | stride | if bit 6 is clear: all topics take so many numbers |
//! | | varint, … | counts | if bit 6 is set: how many topics, then the numbers that each takes, see below |
//! | | … | payload | the set of numbers |
//! | | 4 | checksum | CRC-32 (IEEE, big-endian) of the topic list's bytes in the subscription and all bytes before |
//!
//! Topics are numbered: first the names of this data, then the subscription's topics in the order of the wire. Each
//! takes a range of numbers, one behind the other, so that a partition has the number *range's begin + partition*.
//! The ranges are the member's own and made from what it owns (a stride is the greatest owned partition plus one),
//! *because* members and leader may see different partition counts; so the bytes mean the same whatever the
//! reader's metadata is, and a topic that grew, shrank or vanished since is no trouble. A list of counts has for each
//! entry `count << 1 | repeated`, and if repeated another varint: how many topics more than two have the same.
//! 64-bit arithmetic is not needed: all numbers are below 2^32.
//!
//! | encoding | payload |
//! |---|---|
//! | 0 runs | for each run of consecutive numbers two varints: numbers left out since the last run, and its length less one |
//! | 1 deltas | for each number a varint: how many were left out since the last one |
//! | 2 Roaring | the portable serialization of Roaring bitmaps, as all its implementations read it |
//! | 3 Rice | varint: how many numbers; a byte: k, at most 31; k low bits of each delta, padded to a byte; each delta `>> k` in unary, as so many zeros and a one |
//! | 4 bits | one bit a number |
//!
//! # Which is chosen, and what it costs
//!
//! Real ownership is scattered: 100 partitions of 100,000, hardly two of them neighbours. `log2(P choose owned)` says
//! that no code can do with less than 143 bytes for that on average; Rice takes 144, Elias–Fano 150 (it has faster membership,
//! but with 10,000 owned it is a tenth longer), delta varints 188, Roaring 224, runs 288, Kafka's format 1,390. Contiguous
//! ownership goes to runs, dense ownership to bits, and dense spots in a wide space to Roaring.
//!
//! The checksum takes in the topic list, *because* places in a list are worth nothing beside another list: data that got
//! beside the wrong list claims wrong partitions, and two members process the same. It is refused as damaged instead.
//!
//! # Reading and writing
//!
//! For that group, on an idle machine, it is read 1.4 times as fast as the sticky format, and a leader's round takes less by a
//! fifth (`cargo bench -p tenure-bench --bench compact`). Written from claims that say places in the list
//! ([`Owned::Claims`]) it takes 3.9 ns a partition where the sticky format takes 6.5 to 7.1; written from names 7.5 to 8.0, an
//! eighth more than that: Kafka's format copies names, this one finds each in the list. All is done without branches that
//! depend on what is owned: a wrong guess of the processor costs as much as writing two partitions.
//!
//! [`CompactUserData`] borrows from the bytes; [`CompactFields`] writes into the caller's. Neither allocates once a
//! [`CompactScratch`] is warm. Errors tell apart what is not this format ([`ForeignFormat`]), cut off ([`Underflow`]),
//! damaged ([`Checksum`]), newer ([`UnsupportedVersion`]) and wrongly written ([`Inconsistent`]).
//!
//! [`ForeignFormat`]: super::DecodeErrorKind::ForeignFormat
//! [`Underflow`]: super::DecodeErrorKind::Underflow
//! [`Checksum`]: super::DecodeErrorKind::Checksum
//! [`UnsupportedVersion`]: super::DecodeErrorKind::UnsupportedVersion
//! [`Inconsistent`]: super::DecodeErrorKind::Inconsistent

mod claims;
mod fields;
mod layout;
mod measure;
mod rice;
mod roaring;
mod scratch;
mod source;
mod space;
mod topics;
mod varints;
mod view;

pub use claims::{Claim, ClaimRange, ClaimRanges, Claims};
pub use fields::{CompactFields, Owned};
pub use scratch::CompactScratch;
pub use topics::TopicList;
pub use view::{CompactUserData, LiteralNames};

/// The first bytes of the format.
pub const MAGIC: [u8; 2] = *b"TC";

/// The version that is written, and the newest that is read.
pub const VERSION: u8 = 1;

/// How the set of numbers is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Encoding {
    /// Runs of consecutive numbers.
    Runs,
    /// What is left out between numbers, as varints.
    Deltas,
    /// A Roaring bitmap.
    Roaring,
    /// What is left out between numbers, as Golomb–Rice codes.
    Rice,
    /// One bit a number.
    Bits,
}

impl Encoding {
    /// All encodings, by their number on the wire.
    pub const ALL: [Self; 5] = [Self::Runs, Self::Deltas, Self::Roaring, Self::Rice, Self::Bits];

    /// The number on the wire.
    #[must_use]
    pub const fn id(self) -> u8 {
        match self {
            Self::Runs => 0,
            Self::Deltas => 1,
            Self::Roaring => 2,
            Self::Rice => 3,
            Self::Bits => 4,
        }
    }

    /// The name in lower case.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Runs => "runs",
            Self::Deltas => "deltas",
            Self::Roaring => "roaring",
            Self::Rice => "rice",
            Self::Bits => "bits",
        }
    }

    /// Whether few bytes can say many partitions: then they are read as ranges where strangers may have written them.
    #[must_use]
    pub const fn says_runs(self) -> bool {
        matches!(self, Self::Runs | Self::Roaring)
    }

    /// The encoding with this number.
    #[must_use]
    pub fn from_id(id: u8) -> Option<Self> {
        Self::ALL.get(usize::from(id)).copied()
    }
}

/// Bits of the kind.
mod kind {
    pub(super) const ENCODING: u8 = 0b111;
    pub(super) const GENERATION: u8 = 1 << 3;
    pub(super) const RACK: u8 = 1 << 4;
    pub(super) const NAMES: u8 = 1 << 5;
    pub(super) const COUNTS: u8 = 1 << 6;
    pub(super) const EXTENSION: u8 = 1 << 7;
}

/// Bytes of the checksum.
const CHECKSUM_LEN: usize = 4;
