//! The JSON of every wire format, that of the golden vectors, and back.
//!
//! Bytes and uuids are hexadecimal text; lists are in wire order. What a format keeps beside its value (unknown
//! tags, what follows from the fields) is beside the value here too.

mod compact;
mod consumer;
mod explain;
mod failure;
mod lines;
mod messages;
mod names;
mod parse;
mod sticky;
mod streams_assignment;
mod streams_subscription;

use serde_json::{Map, Value};

pub use explain::{Explained, Piece, explain};
pub use failure::CodecFailure;
pub use lines::answer_line;
pub use names::{FormatName, format_names};
pub use parse::{generated_bytes, hex, unhex, unhex_text, written_out};

/// What a reader must know besides the bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Context<'a> {
    /// The version, where the bytes do not say it.
    pub version: Option<i32>,
    /// Whether there was no user data at all, which is not the same as empty user data.
    pub null_user_data: bool,
    /// The generation in the subscription around the user data.
    pub subscription_generation: Option<i32>,
    /// The topic list of the subscription around the user data.
    pub topics: Option<&'a [String]>,
}

/// A value that was read, and what belongs beside it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Seen {
    /// The value, as in the vectors.
    pub value: Value,
    /// What belongs beside it: `unknown_tags`, `nested_unknown_tags`, `derived`, `body_unread`, `history`, `unreadable`,
    /// `topic_list`.
    pub beside: Map<String, Value>,
}

/// Reads `bytes`.
///
/// # Errors
/// Bytes that the format refuses, or a version that is needed and not given.
pub fn decode(format: FormatName, bytes: &[u8], context: &Context<'_>) -> Result<Seen, CodecFailure> {
    match format {
        FormatName::Subscription(assignor) => consumer::decode_subscription(bytes, assignor),
        FormatName::Assignment { may_be_empty } => consumer::decode_assignment(bytes, may_be_empty),
        FormatName::AssignmentDraft => consumer::decode_draft(bytes),
        FormatName::Sticky => Ok(sticky::decode(bytes, context)),
        FormatName::CooperativeSticky => Ok(sticky::decode_cooperative(bytes, context)),
        FormatName::Compact => compact::decode(bytes, context),
        FormatName::StreamsSubscription => streams_subscription::decode(bytes),
        FormatName::StreamsAssignment => streams_assignment::decode(bytes),
        FormatName::Table(table) => messages::decode(table, bytes, context),
    }
}

/// Writes `value`, with the tags of `beside` if there are any.
///
/// `version` is needed unless the value says it (Streams) or the format has one only.
///
/// # Errors
/// A value of another form than the format's, or one that cannot be written in this version.
pub fn encode(
    format: FormatName,
    version: Option<i32>,
    value: &Value,
    beside: &Map<String, Value>,
) -> Result<Vec<u8>, CodecFailure> {
    match format {
        FormatName::Subscription(_) => consumer::encode_subscription(version, value),
        FormatName::Assignment { .. } => consumer::encode_assignment(version, value),
        FormatName::AssignmentDraft => consumer::encode_draft(version, value),
        FormatName::Sticky => sticky::encode(version, value),
        FormatName::CooperativeSticky => sticky::encode_cooperative(value),
        FormatName::Compact => compact::encode(value, beside),
        FormatName::StreamsSubscription => streams_subscription::encode(version, value),
        FormatName::StreamsAssignment => streams_assignment::encode(version, value),
        FormatName::Table(table) => messages::encode(table, version, value, beside),
    }
}
