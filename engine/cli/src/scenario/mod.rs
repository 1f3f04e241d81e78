//! What would happen: a group, changes to it one after another, and what each costs until the group is quiet.
//!
//! ```text
//! group ──► settle ──► change ──► settle ──► change ──► settle …
//!              │                     │
//!              └ rounds until nobody has to join again: what members own then is where the next change starts
//! ```
//!
//! Nothing is asked of a cluster and nothing is written: the rounds are those of the engine.

mod change;
mod copy;
mod settle;

pub use change::{Change, ChangeError, apply, bring_back, with_protocol};
pub use settle::{SettleError, Settled, Settler};
