//! What an assignor says about the plan it made.

use core::fmt;

use super::config::Spread;
use crate::owned::Findings;

/// Which code made the plan.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Path {
    /// All members subscribe alike and no claim is in doubt.
    Uniform,
    /// All members subscribe alike; claims had to be settled first.
    UniformSettled,
    /// Subscriptions or racks differ.
    General,
    /// Range.
    Range,
    /// Round robin.
    RoundRobin,
}

impl Path {
    /// A short name, as in cases and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Uniform => "uniform",
            Self::UniformSettled => "uniform-settled",
            Self::General => "general",
            Self::Range => "range",
            Self::RoundRobin => "roundrobin",
        }
    }
}

/// Whether a criterion is proven.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Verdict {
    /// No plan is better in this criterion, given the ones before it.
    Optimal,
    /// Nothing is claimed.
    Unproven,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Optimal => "optimal",
            Self::Unproven => "unproven",
        })
    }
}

/// What is proven of a plan.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Proof {
    /// The sorted loads.
    pub balance: Verdict,
    /// Moves, and rack mismatches where racks are known, in the order of the objective.
    pub moves: Verdict,
}

impl Proof {
    pub(super) const OPTIMAL: Self = Self { balance: Verdict::Optimal, moves: Verdict::Optimal };
    pub(super) const UNPROVEN: Self = Self { balance: Verdict::Unproven, moves: Verdict::Unproven };
}

/// Figures of a plan.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct Stats {
    /// Partitions of the topology, those that nobody subscribes to included.
    pub partitions: u32,
    /// Members.
    pub members: u32,
    /// Least load of a member with at least one existing topic.
    pub load_min: u32,
    /// Greatest load of a member.
    pub load_max: u32,
    /// Sum of the squares of all loads.
    pub sum_of_squares: u64,
    /// Partitions that leave a valid owner.
    pub moves: u32,
    /// Partitions whose owner's rack holds no replica, both being known.
    pub rack_mismatches: u32,
}

/// What an assignor says about the plan it made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Outcome {
    /// Which code made it.
    pub path: Path,
    /// What was odd about the claims.
    pub findings: Findings,
    /// Its figures.
    pub stats: Stats,
    /// What is proven.
    pub proof: Proof,
    /// How topics were spread: [`Spread::Exact`] only if that was asked for, all else is proven, and the group
    /// has at most [`EXACT_PAIRS`](super::EXACT_PAIRS) pairs of a member and a topic. Range and round robin
    /// always say greedy.
    pub spread: Spread,
}
