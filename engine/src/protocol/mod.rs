//! The rebalance protocol as state machines without sockets, clocks or threads.
//!
//! Events go in with the time they happened at, actions and deadlines come out:
//!
//! ```text
//!   handle_*(event, now_ms) ──> state ──> poll_action() until None ──> poll_timeout()
//! ```
//!
//! [`member`] is the consumer's side, [`selection`] which assignor and rebalance protocol it follows, [`metrics`] what
//! it measures. [`message`] has what member and coordinator say to each other, [`error`] the codes they answer with.

#![forbid(unsafe_code)]

pub mod budget;
pub mod coordinator;
pub mod error;
pub mod leader;
pub mod member;
pub mod message;
pub mod metrics;
pub mod partition_set;
pub mod payload;
pub mod selection;
