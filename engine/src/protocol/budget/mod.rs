//! How many bytes a group's rounds take, which limits they meet, and what would help.
//!
//! ```text
//! members ── JoinGroup requests ──► coordinator ── JoinGroup response (all subscriptions) ──► leader
//!                                        │   ◄── SyncGroup request (all assignments) ────────────┘
//!                                        └─► one record: all subscriptions, all assignments
//! ```
//!
//! Big groups die at the record: it holds every member's subscription and assignment, and the broker writes no batch
//! above `max.message.bytes` of its offsets topic, about 1 MB. All members then get an unknown server error.
//!
//! Sizes are counted and nothing is written: names and partitions of each member are walked once ([`Budget::new`]),
//! and every format, version and message follows from a few sums, *because* a person compares a dozen of them.
//! Writing them all instead costs a hundred times as much memory; the tests do that to check the counting.
//!
//! Two moments count. [`Moment::Now`] is the round as the group stands. [`Moment::Settled`] is the next one: everybody
//! has what is planned, and says so when it joins. A group that starts passes the first and may fail the second.

mod compact;
mod figures;
mod form;
mod growth;
mod lengths;
mod limits;
mod members;
mod newer;
mod remedies;

pub use figures::{Extent, Figures};
pub use form::{Form, Format};
pub use growth::Growth;
pub use lengths::{
    MemberLengths, Names, batch_len, group_key_len, group_record_len, join_request_len, join_response_len,
    request_header_len, sync_request_len,
};
pub use limits::{Check, Limits, Subject};
pub use members::{Budget, Moment, Surroundings};
pub use newer::NewerProtocol;
pub use remedies::Remedies;

/// The version of JoinGroup requests and responses that current clients use.
pub const JOIN_VERSION: i16 = 9;
/// The version of SyncGroup requests that current clients use.
pub const SYNC_VERSION: i16 = 5;
/// The version of a group's record that brokers write.
pub const RECORD_VERSION: i16 = 3;
