//! Requests, responses and records: the messages between members and coordinator, and what the
//! coordinator keeps in its two internal topics.
//!
//! Each format is a table of fields ([`Format`], [`Field`]), read by one reader and written by one
//! writer. A struct and two functions a message were the alternative: 40 formats in up to 11
//! versions, each a place for its own mistake; a table is the document itself, line by line.
//!
//! ```text
//! Format "heartbeat-request", versions 0..=4, flexible from 4
//!   groupId Text │ generationId I32 │ memberId Text │ groupInstanceId Text, nullable, since 3
//!        bytes ──reader──▶ events (borrowed, with offsets) ──▶ Struct ──writer──▶ bytes
//! ```
//!
//! Reading tells a [`Visitor`] each field as it is met, borrowed and with its offsets; [`Format::decode`]
//! collects the events in a tree of [`Value`]s.
//!
//! Source: Kafka 4.4.0; KIP-482 (flexible versions, tagged fields); the texts of KIP-429 and KIP-447 for the
//! formats marked as drafts.

mod drafts;
mod events;
mod peers;
mod read;
mod records;
mod requests;
mod schema;
mod value;
mod write;

pub use events::{ListOf, Scalar, Visitor};
pub use schema::{Default, Field, Format, Kind, Prefix};
pub use value::{Decoded, Struct, Value};

/// Every format that is a table, requests and responses first.
pub static FORMATS: &[&Format] = &[
    &requests::REQUEST_HEADER,
    &requests::RESPONSE_HEADER,
    &requests::JOIN_GROUP_REQUEST,
    &requests::JOIN_GROUP_RESPONSE,
    &requests::SYNC_GROUP_REQUEST,
    &requests::SYNC_GROUP_RESPONSE,
    &requests::HEARTBEAT_REQUEST,
    &requests::HEARTBEAT_RESPONSE,
    &requests::LEAVE_GROUP_REQUEST,
    &requests::LEAVE_GROUP_RESPONSE,
    &requests::OFFSET_COMMIT_REQUEST,
    &requests::OFFSET_COMMIT_RESPONSE,
    &requests::TXN_OFFSET_COMMIT_REQUEST,
    &requests::TXN_OFFSET_COMMIT_RESPONSE,
    &requests::INIT_PRODUCER_ID_REQUEST,
    &requests::INIT_PRODUCER_ID_RESPONSE,
    &requests::FIND_COORDINATOR_REQUEST,
    &requests::FIND_COORDINATOR_RESPONSE,
    &drafts::JOIN_GROUP_REQUEST,
    &drafts::HEARTBEAT_REQUEST,
    &drafts::HEARTBEAT_RESPONSE,
    &drafts::INIT_PRODUCER_ID_REQUEST,
    &drafts::INIT_PRODUCER_ID_RESPONSE,
    &drafts::INIT_PRODUCER_ID_REQUEST_OLD,
    &drafts::FIND_COORDINATOR_REQUEST,
    &drafts::TXN_OFFSET_COMMIT_REQUEST,
    &drafts::TXN_GROUP_KEY_OLD,
    &drafts::TXN_GROUP_VALUE_OLD,
    &drafts::TXN_GROUP_KEY,
    &records::OFFSET_COMMIT_KEY,
    &records::OFFSET_COMMIT_VALUE,
    &records::GROUP_METADATA_KEY,
    &records::GROUP_METADATA_VALUE,
    &records::TXN_LOG_KEY,
    &records::TXN_LOG_VALUE,
    &peers::CONSUMER_SUBSCRIPTION,
    &peers::CONSUMER_ASSIGNMENT,
    &peers::CONSUMER_ASSIGNMENT_DRAFT,
    &peers::STICKY_USER_DATA,
    &peers::COOPERATIVE_STICKY_USER_DATA,
    &peers::STREAMS_SUBSCRIPTION_INFO,
    &peers::STREAMS_ASSIGNMENT_INFO,
];

/// The format called `name`.
///
/// # Examples
/// ```
/// use tenure::codec::message::format;
/// assert_eq!(format("join-group-request").unwrap().newest, 9);
/// assert!(format("produce-request").is_none());
/// ```
#[must_use]
pub fn format(name: &str) -> Option<&'static Format> {
    FORMATS.iter().copied().find(|format| format.name == name)
}
