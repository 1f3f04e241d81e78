//! The bytes that members and brokers exchange, read and written exactly as Kafka does.
//!
//! Every reader borrows: a decoded [`Subscription`] is a handful of slices into the bytes it came
//! from, so that a leader reads thousands of members without one allocation. Decoding walks the bytes
//! once and checks every length before it is used; the iterators afterwards cannot fail.
//!
//! ```text
//! 00 03 | 00 00 00 01 00 02 't' '1' | ff ff ff ff | 00 00 00 00 | ff ff ff ff | ff ff
//! version └──────── topics ───────┘   user data     owned         generation    rack
//!         └ Names: count + slice ─┘   Option<&[u8]> Blocks        Option<i32>   Option<Text>
//! ```
//!
//! Names stay bytes ([`Text`]) until somebody asks for characters, *because* a group's names are
//! mostly compared with known ones, and comparing bytes needs no check for UTF-8. Copying names into
//! strings while decoding was the alternative: one allocation a name, 100,000 for a group of 1,000
//! members with 100 topics each.
//!
//! Writers know their exact size beforehand (`encoded_len`), and write into memory of the caller
//! (`encode_into`). The length is counted by the very code that writes, so the two cannot disagree.
//!
//! Source: Kafka 4.4.0. Unknown newer versions are read as the newest known one, bytes after the last
//! known field are ignored, and any negative length is null.

#![forbid(unsafe_code)]
#![deny(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects
)]

pub mod compact;
pub mod consumer;
mod error;
pub mod message;
mod order;
mod reader;
pub mod sticky;
pub mod streams;
mod text;
mod writer;

pub use compact::{CompactFields, CompactScratch, CompactUserData, TopicList};
pub use consumer::{
    Assignment, AssignmentFields, AssignmentWriter, Block, Blocks, Names, Partitions, Subscription,
    SubscriptionFields, TopicPartitions,
};
pub use error::{DecodeError, DecodeErrorKind, EncodeError, EncodeErrorKind};
pub use order::java_hash_order;
pub use reader::Reader;
pub use sticky::{History, StickyFields, StickyUserData};
pub use text::Text;
pub use writer::{ByteCount, Sink, SliceSink, Writer};
