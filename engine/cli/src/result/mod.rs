//! Results in JSON: what members get now, what they will have, what waits, what they give back.
//!
//! ```text
//! {"assignor":"cooperative-sticky",
//!  "assignments":{"c1":{"orders":[0,1,"4-7"]},"c2":{}},   this round, every member
//!  "target":{"c1":{…},"c2":{…}},                          once nothing is withheld, every member
//!  "withheld":{…}, "revoke":{"c1":{…}}, "rejoin":true,
//!  "unassigned":{…}, "stats":{…}, "proof":{…}}
//! ```
//!
//! Written as a stream from the round's iterators: no tree of the document is built.

mod json;
mod runs;

pub use json::{write, write_owned};
pub use runs::{Run, assigned_runs, revoked_runs, runs_of, unassigned};

use tenure::plan::{Outcome, Strategy};
use tenure::revoke::Round;

/// All that a result says of one group.
#[derive(Clone, Copy, Debug)]
pub struct Answer<'a> {
    /// The assignor that planned.
    pub strategy: Strategy,
    /// The round that follows from the plan.
    pub round: Round<'a>,
    /// What the assignor says of the plan.
    pub outcome: &'a Outcome,
    /// The group's name, where the input tells it: the key `group` before all others.
    pub group: Option<&'a str>,
    /// What had to be assumed of the input: the key `assumptions` after all others, if there are any.
    pub assumptions: &'a [String],
}
