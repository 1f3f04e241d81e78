//! The broker's transaction coordinator, as a model without sockets, clock, threads or disk.
//!
//! ```text
//!            add partition, offsets         end                 all logs have the marker
//!   Empty ────────────────────> Ongoing ──────> PrepareCommit ─────────> CompleteCommit ──┐
//!                                │  ^  └──────> PrepareAbort  ─────────> CompleteAbort  ──┤
//!                      timeout,  │  └───────────────────── add ───────────────────────────┘
//!                 a new client ──┘ (abort, under a raised epoch)
//! ```
//!
//! Producers are known by a transactional id, as released, or (draft of KIP-447) by their consumer group: with a
//! transactional id inside the group, which may be the member id or `group.instance.id` and keeps the producer id,
//! or by the group alone, which gets a new producer id each time.

mod broker;
mod init;
mod state;

pub use broker::{
    MarkerTarget, TransactionAction, TransactionConfig, TransactionCoordinator, TransactionLogRecord,
    coordinator_partition,
};
pub use state::{Producer, TransactionKey, TransactionPhase, TransactionRecord};
