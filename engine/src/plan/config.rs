//! What an assignor is asked to do.

use core::fmt;
use core::str::FromStr;

use crate::group::Protocol;
pub use crate::rack::Objective;

/// Which choice an assignor makes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
#[non_exhaustive]
pub enum Strategy {
    /// Best balance, then fewest moves; members keep what they own while they rejoin (KIP-429).
    #[default]
    CooperativeSticky,
    /// The same plan for members that give everything up before they join (KIP-54).
    Sticky,
    /// Topic by topic, contiguous ranges in member order; partition n of co-partitioned topics stays together.
    Range,
    /// All partitions in turn over the members that subscribe.
    RoundRobin,
}

impl Strategy {
    /// All strategies, in the order of their names.
    pub const ALL: [Self; 4] = [Self::CooperativeSticky, Self::Range, Self::RoundRobin, Self::Sticky];

    /// Kafka's name of it, as in JoinGroup.
    pub const fn name(self) -> &'static str {
        match self {
            Self::CooperativeSticky => "cooperative-sticky",
            Self::Sticky => "sticky",
            Self::Range => "range",
            Self::RoundRobin => "roundrobin",
        }
    }

    /// How members behave whose protocol nobody told.
    pub const fn protocol(self) -> Protocol {
        match self {
            Self::CooperativeSticky => Protocol::Cooperative,
            Self::Sticky | Self::Range | Self::RoundRobin => Protocol::Eager,
        }
    }
}

impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Strategy {
    type Err = UnknownStrategy;

    fn from_str(name: &str) -> Result<Self, UnknownStrategy> {
        Self::ALL.into_iter().find(|strategy| strategy.name() == name).ok_or(UnknownStrategy)
    }
}

/// A name that is no [`Strategy`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UnknownStrategy;

impl fmt::Display for UnknownStrategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("unknown assignor; use cooperative-sticky, sticky, range or roundrobin")
    }
}

impl core::error::Error for UnknownStrategy {}

/// How even each topic is made over its subscribers, among plans equal in all else.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[non_exhaustive]
pub enum Spread {
    /// In linear time; exact for fresh uniform groups, near it elsewhere.
    #[default]
    Greedy,
    /// The least sum of squares over topics and members, for groups of up to 100,000 such pairs; larger
    /// groups get the greedy one.
    Exact,
}

/// What an [`Assignor`](super::Assignor) is asked to do; immutable once it is built.
///
/// # Examples
///
/// ```
/// use tenure::plan::{Config, Objective, Strategy};
/// let config = Config::new().strategy(Strategy::Sticky).objective(Objective::MovesThenRack);
/// assert_eq!(config.get_strategy().name(), "sticky");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Config {
    pub(super) strategy: Strategy,
    pub(super) objective: Objective,
    pub(super) spread: Spread,
}

impl Config {
    /// Cooperative sticky, racks before moves, greedy spread.
    pub const fn new() -> Self {
        Self {
            strategy: Strategy::CooperativeSticky,
            objective: Objective::RackThenMoves,
            spread: Spread::Greedy,
        }
    }

    /// Sets the strategy.
    #[must_use]
    pub const fn strategy(mut self, strategy: Strategy) -> Self {
        self.strategy = strategy;
        self
    }

    /// Sets what comes first after balance.
    #[must_use]
    pub const fn objective(mut self, objective: Objective) -> Self {
        self.objective = objective;
        self
    }

    /// Sets how topics are spread.
    #[must_use]
    pub const fn spread(mut self, spread: Spread) -> Self {
        self.spread = spread;
        self
    }

    /// The strategy.
    pub const fn get_strategy(&self) -> Strategy {
        self.strategy
    }

    /// The objective.
    pub const fn get_objective(&self) -> Objective {
        self.objective
    }

    /// The spread.
    pub const fn get_spread(&self) -> Spread {
        self.spread
    }
}
