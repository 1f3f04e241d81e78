//! A simulator that tries to break the protocol.
//!
//! One clock, one queue of events, one seed: a run is a function of its [`Options`]. Two brokers with one log, a network
//! that loses, delays, doubles and reorders, processes that crash, stand still and restart, topics that come and go.
//! The members and the coordinator are those of [`protocol`](crate::protocol); the judge watches from outside, at
//! every step:
//!
//! | rule | holds |
//! |---|---|
//! | [`Rule::OneReader`], [`Rule::OneOwner`] | always |
//! | [`Rule::OwnersCommit`] | always |
//! | [`Rule::AtLeastOnce`] | always |
//! | [`Rule::ExactlyOnce`] | always, in runs with transactions |
//! | [`Rule::Callbacks`], [`Rule::Contract`] | always |
//! | [`Rule::Settles`] | once the faults have stopped and their last timeouts have passed |
//! | [`Rule::Rounds`] | for one newcomer to the quiet group |
//!
//! # Examples
//!
//! ```
//! use tenure::simulation::{Options, run};
//!
//! let options = Options::derive(7);
//! let outcome = run(&options);
//! assert_eq!(outcome.violation, None, "{options}");
//! assert_eq!(outcome, run(&options), "the same seed, the same run");
//! ```

#![forbid(unsafe_code)]

mod assign;
mod checker;
mod fault;
mod minimise;
mod mutation;
mod network;
mod process;
mod random;
mod scenario;
mod timeline;
mod transactions;
mod workload;
mod world;

pub use checker::{Rule, Violation};
pub use fault::{Disturbance, DisturbanceKind, Faults};
pub use minimise::minimise;
pub use mutation::Mutation;
pub use random::Random;
pub use scenario::Scenario;
pub use timeline::{Entry, Timeline};
pub use transactions::{Naming, TransactionOptions, TransactionStep};
pub use workload::{Options, ProcessOptions, Regime};
pub use world::Outcome;

use self::world::World;

/// Makes a run.
pub fn run(options: &Options) -> Outcome {
    World::new(options, None).run().0
}

/// Makes a run and writes down what happens.
pub fn run_with_timeline(options: &Options) -> (Outcome, Timeline) {
    let (outcome, timeline) = World::new(options, Some(Timeline::default())).run();
    (outcome, timeline.unwrap_or_default())
}
