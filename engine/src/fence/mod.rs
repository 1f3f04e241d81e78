//! Fencing (KIP-447): a zombie that wakes after a rebalance must not commit, and a new owner must not read offsets
//! that a pending transaction may still change.
//!
//! ```text
//!   consumer ── GroupMetadata at the moment of sending ──> producer ── TxnOffsetCommit ──> admit_transactional_commit
//!                                                                                             │ refused: abort, go on
//!   new owner ── OffsetFetch, stable only ──> PendingOffsets holds it back <── accepted ──────┘
//! ```
//!
//! The decisions are pure functions over what a group's coordinator knows ([`Membership`]), so that the broker's
//! model, a proxy or a test can ask them alike. The alternative, one transactional id per input partition, fences by
//! producer epoch and needs a producer per partition: 1,000 partitions, 1,000 producers with their buffers and
//! connections. By generation one producer per consumer is enough.
//!
//! The codes and messages are those of [`protocol`](crate::protocol): plain words that lie below both rooms.

#![forbid(unsafe_code)]
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::arithmetic_side_effects)]

pub mod cycle;
mod decision;
mod metadata;
mod pending;
mod producer;
pub mod stable;
pub mod transaction;
pub mod upgrade;

pub use decision::{
    CommitIdentity, FenceError, GroupPhase, Membership, Rules, admit_commit, admit_member, admit_producer,
    admit_transactional_commit,
};
pub use metadata::GroupMetadata;
pub use pending::{Blocker, HeldOffset, PendingOffsets};
pub use producer::{MarkerVerdict, ProducerFence};
