//! Tenure beside the released assignors of other clients, in one run on one machine.
//!
//! ```text
//!  workloads ──► exchange: one file a group ──► driver ──► Java and Go processes, kept warm
//!      │                                          │
//!      └──► own: Tenure, in this process          │
//!                   └────────► run: one sample each, in turn ──► record: raw.jsonl ──► report
//!                   └────────► verdict: the same check for everybody's bytes
//! ```
//!
//! Every contestant gets the same members' bytes. *plan* is the call from a contestant's own memory to its own
//! memory, *round* the whole work of a group's leader, from the members' bytes to the assignments' bytes. Times are CPU
//! times of the calling thread, so what a peer's collector does on other threads does not count against it; the time
//! of the whole process is kept beside it.

pub mod cold;
pub mod driver;
pub mod exchange;
pub mod machine;
pub mod own;
pub mod peers;
pub mod record;
pub mod report;
pub mod run;
pub mod verdict;

use core::fmt;
use core::time::Duration;

use serde::{Deserialize, Serialize};

use crate::workloads::Workload;

/// The seed of all groups.
pub const SEED: u64 = 429;

/// What is called.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Call {
    /// Chooses, from memory to memory.
    Plan,
    /// The same, and reads what must wait for a revocation; a cooperative peer's plan does that too.
    PlanRead,
    /// Leads: from the members' bytes to the assignments' bytes.
    Round,
}

impl Call {
    /// Its name in the drivers' language and in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Plan => "plan",
            Self::PlanRead => "plan_read",
            Self::Round => "round",
        }
    }
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// What some calls took together.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Spent {
    /// Number of calls.
    pub calls: u32,
    /// CPU time of the calling thread.
    pub cpu_ns: u64,
    /// CPU time of the process, collector and compiler included.
    pub process_ns: u64,
    /// Time on the wall.
    pub wall_ns: u64,
    /// Bytes asked of the allocator.
    pub bytes: u64,
    /// Requests to the allocator; a JVM does not count them.
    pub allocations: Option<u64>,
}

/// Why there is no answer.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Failure {
    /// It did not end in time, and was stopped.
    Silent(Duration),
    /// It said so, or its process ended.
    Refused(String),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Silent(limit) => write!(f, "no answer in {} s", limit.as_secs_f64()),
            Self::Refused(why) => f.write_str(why),
        }
    }
}

impl core::error::Error for Failure {}

/// Somebody who assigns partitions, and keeps the group between calls.
pub trait Contestant {
    /// Its name in reports.
    fn name(&self) -> &str;

    /// How its members would join: `cooperative-sticky` or `sticky`.
    fn protocol(&self) -> &'static str;

    /// What can be called.
    fn calls(&self) -> &'static [Call];

    /// Takes a group and makes ready what a leader has before a rebalance.
    ///
    /// # Errors
    ///
    /// [`Failure`]
    fn load(&mut self, workload: &Workload) -> Result<(), Failure>;

    /// Calls it some times.
    ///
    /// # Errors
    ///
    /// [`Failure`]
    fn call(&mut self, call: Call, times: u32) -> Result<Spent, Failure>;

    /// What the members got from the last call: of [`Call::Round`] if it has that, else of [`Call::Plan`].
    ///
    /// # Errors
    ///
    /// [`Failure`]
    fn answer(&mut self) -> Result<exchange::Answer, Failure>;

    /// What it is and its version, if it has said so already.
    fn version(&self) -> Option<String>;
}
