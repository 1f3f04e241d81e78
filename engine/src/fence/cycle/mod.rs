//! The client's side of a read-process-write loop: one transactional producer beside one consumer.
//!
//! ```text
//!   start ──> Initialising ──> Ready ──begin──> Open ──commit──> Committing ──> Ready   (Committed)
//!                  ^                             │ abort, revoked,   │ refused
//!                  │ the broker aborted already  v lost              v
//!                  └───────────────────────── Aborting ────────────────────────> Ready   (Aborted: rewind)
//!   a newer producer or instance is at work ──> Dead
//! ```
//!
//! A refused generation ends the transaction and not the process: KIP-447's own example throws, and everybody who
//! copied it loses a consumer at every rebalance. Only a fenced producer or instance stops.

mod config;
mod machine;
mod outcome;

pub use config::{CycleConfig, ProducerName};
pub use machine::{Cycle, CycleAction, CyclePhase, RequestId};
