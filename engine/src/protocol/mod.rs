//! The rebalance protocol as state machines without sockets, clocks or threads.
//!
//! Events go in with the time they happened at, actions and deadlines come out:
//!
//! ```text
//!   handle_*(event, now_ms) ──> state ──> poll_action() until None ──> poll_timeout()
//! ```
//!
//! [`message`] has what member and coordinator say to each other, [`error`] the codes they answer with.

#![forbid(unsafe_code)]

pub mod coordinator;
pub mod error;
pub mod message;
