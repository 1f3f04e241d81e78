//! The broker's side of a consumer group: a faithful model of the classic group coordinator, without sockets,
//! clock, threads or disk.
//!
//! ```text
//!               join                     all joined                the leader's sync, written
//!   Empty ─────────────> PreparingRebalance ───────> CompletingRebalance ───────> Stable
//!     ^                        │  ^                          │                      │
//!     └── all left, at the end ┘  └── join, leave, session ──┴──────────────────────┘
//!   any ── deleted, or the log moves to another broker ──> Dead
//! ```
//!
//! A [`Coordinator`] is one partition of the offsets log on one broker: it has every group whose records are there.
//! It writes through [`Action::Append`] and answers only once the write is acknowledged, so a log that fails, lags
//! or moves is the caller's to play. State lives in ordered maps: equal events give equal actions.
//!
//! A real broker went through the same courses of events (`datasets/courses`), and this model answers as it did:
//! codes, generations, leaders, the assignor chosen, and silence where it keeps silent. Of equal votes the first in
//! the order of a Java hash map wins: sticky, range, roundrobin, cooperative-sticky.
//!
//! Where the model decides and the released broker leaves it to a hash of random ids: a removed leader is followed by
//! the member that joined first.

#![deny(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::arithmetic_side_effects)]

mod action;
mod broker;
mod config;
mod group;
mod join;
mod load;
mod offsets;
mod record;
mod roster;

pub use action::{Action, AppendId};
pub use broker::{Coordinator, GroupDescription, MemberDescription};
pub use config::Config;
pub use record::{GroupRecord, MemberRecord, OffsetRecord, Record};

pub use crate::fence::GroupPhase;
pub use crate::protocol::message::Caller;
