//! The door of the planners.

use core::fmt;

use super::{Config, Outcome, Path, Plan, Scratch, Spread, Strategy, dealt, exact, general, uniform};
use crate::group::{Group, Shape};
use crate::verify::Certificate;

/// Decides which member owns which partition: immutable, shareable, nothing remembered between calls.
///
/// # Examples
///
/// ```
/// use tenure::plan::{Assignor, Config};
/// use tenure::{Group, Topology};
///
/// let topology = Topology::builder().topic("t", 4).build()?;
/// let mut builder = Group::builder(&topology);
/// builder.member("a").topic("t").owned("t", [0, 1, 2, 3]).generation(3);
/// builder.member("b").topic("t");
/// let group = builder.build()?;
///
/// let (plan, outcome) = Assignor::new(Config::new()).assign(&group)?;
/// assert_eq!((outcome.stats.load_min, outcome.stats.load_max, outcome.stats.moves), (2, 2, 2));
/// assert_eq!(plan.transfer_count(), 2, "b waits until a lets go");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Assignor {
    config: Config,
}

impl Assignor {
    /// An assignor that does what `config` says.
    pub const fn new(config: Config) -> Self {
        Self { config }
    }

    /// What it was built with.
    pub const fn config(&self) -> &Config {
        &self.config
    }

    /// Plans the group into `plan`.
    ///
    /// Shapes: scratch and plan must fit [`Group::shape`]; larger ones serve as well.
    /// Cost: O(P + M) when all subscribe alike; no allocation. An exact spread allocates in its first round,
    /// unless the scratch was told to [`reserve_exact_spread`](Scratch::reserve_exact_spread), and keeps that.
    /// Order: the plan depends on the group's content alone: not on insertion order, threads or the scratch.
    /// Source: KIP-54 (balance before stickiness), KIP-341 (generations), KIP-429, KIP-881.
    ///
    /// # Errors
    ///
    /// [`ShapeError`] if scratch or plan is too small; nothing was planned then.
    pub fn assign_into(
        &self,
        group: &Group,
        scratch: &mut Scratch,
        plan: &mut Plan,
    ) -> Result<Outcome, ShapeError> {
        let shape = group.shape();
        scratch.check(&shape)?;
        plan.check(&shape)?;
        let mut outcome = match self.config.strategy {
            Strategy::Range => return Ok(dealt::range(group, scratch, plan)),
            Strategy::RoundRobin => return Ok(dealt::roundrobin(group, scratch, plan)),
            Strategy::CooperativeSticky | Strategy::Sticky => {
                if group.classes().uniform() {
                    uniform::plan(group, scratch, plan)
                } else {
                    general::plan(group, &self.config, scratch, plan)
                }
            }
        };
        if self.config.spread == Spread::Exact {
            exact::improve(group, self.config.objective, &mut outcome, scratch, plan);
        }
        Ok(outcome)
    }

    /// As [`assign_into`](Self::assign_into), and writes what proves the plan: blocks, levels and potentials,
    /// for [`verify::check`](crate::verify::check). Range and round robin prove nothing: empty then.
    ///
    /// Cost: O(M + C) more; no allocation if the certificate was made for the shape.
    ///
    /// # Errors
    ///
    /// As [`assign_into`](Self::assign_into).
    ///
    /// # Examples
    ///
    /// ```
    /// use tenure::plan::{Assignor, Plan, Scratch};
    /// use tenure::verify::{self, Certificate, Proposal};
    /// use tenure::{Group, Topology};
    ///
    /// let topology = Topology::builder().topic("a", 3).topic("b", 2).build()?;
    /// let mut builder = Group::builder(&topology);
    /// builder.member("x").topic("a");
    /// builder.member("y").topic("a").topic("b").owned("b", [0]).generation(1);
    /// let group = builder.build()?;
    /// let (mut scratch, mut plan) = (Scratch::with_shape(group.shape()), Plan::with_shape(group.shape()));
    /// let mut certificate = Certificate::with_shape(group.shape());
    /// Assignor::default().certify_into(&group, &mut scratch, &mut plan, &mut certificate)?;
    /// let proposal = Proposal::from_lists(&group, |member| plan.target(member).iter().copied());
    /// assert!(verify::check(&group, &proposal, &certificate).is_ok());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn certify_into(
        &self,
        group: &Group,
        scratch: &mut Scratch,
        plan: &mut Plan,
        certificate: &mut Certificate,
    ) -> Result<Outcome, ShapeError> {
        let outcome = self.assign_into(group, scratch, plan)?;
        let objective = self.config.objective;
        match outcome.path {
            Path::Uniform | Path::UniformSettled => {
                uniform::certify(group, outcome.path, objective, scratch, plan, certificate);
            }
            Path::General => general::certify(group, objective, scratch, certificate),
            Path::Range | Path::RoundRobin => certificate.clear(),
        }
        Ok(outcome)
    }

    /// Plans the group; allocates what it needs.
    ///
    /// # Errors
    ///
    /// None today: the shapes are the group's own.
    pub fn assign(&self, group: &Group) -> Result<(Plan, Outcome), ShapeError> {
        let mut scratch = Scratch::with_shape(group.shape());
        let mut plan = Plan::with_shape(group.shape());
        let outcome = self.assign_into(group, &mut scratch, &mut plan)?;
        Ok((plan, outcome))
    }
}

/// A scratch or a plan is too small for the group: call its `reset` with the group's shape.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct ShapeError {
    /// The group's shape.
    pub needed: Shape,
    /// What was given.
    pub given: Shape,
}

impl fmt::Display for ShapeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { needed, given } = self;
        write!(
            f,
            "scratch or plan is too small: needs {needed:?}, has {given:?}; reset it with the group's shape"
        )
    }
}

impl core::error::Error for ShapeError {}
