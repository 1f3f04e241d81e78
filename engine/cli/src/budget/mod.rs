//! The budget of a group's rounds: sizes against limits, what would help, and what a round costs its leader.
//!
//! ```text
//! Snapshot ──► plan ──► Report: figures of every form, limits, growth, remedies ──► JSON or tables
//!                 └──► the members' bytes ──► Measured: the leader's time, allocations
//! ```
//!
//! Sizes are counted by the engine's [`protocol::budget`](tenure::protocol::budget); bytes are only made to be measured.

mod joined;
mod json;
mod measured;
mod report;

pub use joined::join;
pub use json::write;
pub use measured::Measured;
pub use report::{FormFigures, Held, Options, Report};
