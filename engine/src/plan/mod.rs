//! From a group to a plan: which member should own which partition.
//!
//! ```text
//! Group ──► Assignor::assign_into ──► Plan
//!              │  uniform     all subscribe alike: one pass over the claims, O(P + M)
//!              │  general     levels → blocks → fewest moves, on classes
//!              │  range, roundrobin    what the Java consumers choose
//!              ├─ spread      classes to concrete partitions, topics kept even
//!              └─ exact       if asked: topics as even as any equally good plan has them
//! ```
//!
//! [`Assignor::plan_many`] plans many groups at once, on several threads.
//!
//! What decides ([`Assignor`]) is immutable; what changes ([`Scratch`], [`Plan`]) is the caller's and is
//! allocated once.

mod assignor;
mod config;
mod dealt;
mod exact;
mod general;
mod many;
mod outcome;
mod range;
mod ranks;
mod roundrobin;
mod scratch;
mod spread;
mod target;
mod transfer;
mod uniform;

pub use assignor::{Assignor, ShapeError};
pub use config::{Config, Objective, Spread, Strategy, UnknownStrategy};
pub use exact::{EXACT_PAIRS, spread_of};
pub use many::{Batch, Planned};
pub use outcome::{Outcome, Path, Proof, Stats, Verdict};
pub use scratch::Scratch;
pub use target::Plan;
