//! The working set of a planner, allocated once and used again.

use alloc::vec::Vec;

use super::assignor::ShapeError;
use super::{dealt, exact, general, spread, uniform};
use crate::group::Shape;
use crate::owned::claims::Settled;

/// All memory that planning needs besides the group and the plan.
///
/// Its contents never matter: a scratch full of another group's numbers gives the same plan.
#[derive(Clone, Debug, Default)]
pub struct Scratch {
    shape: Shape,
    pub(super) settled: Settled,
    pub(super) uniform: uniform::Work,
    pub(super) general: general::Work,
    pub(super) workers: Vec<general::Work>,
    pub(super) spread: spread::Work,
    pub(super) dealt: dealt::Work,
    pub(super) exact: exact::Work,
    exact_spread: bool,
}

impl Scratch {
    /// A scratch for groups of this shape.
    pub fn with_shape(shape: Shape) -> Self {
        let mut scratch = Self::default();
        scratch.reset(shape);
        scratch
    }

    /// A scratch that lets `workers` threads settle the blocks of one group side by side; as much memory again
    /// for each. Plans are the same to the byte as with none.
    ///
    /// Threads are those of the rayon pool that the call runs in (feature `rayon`; without it, one).
    /// Groups whose members subscribe alike, or hang together in one block, gain nothing.
    pub fn with_workers(shape: Shape, workers: usize) -> Self {
        let mut scratch = Self { workers: alloc::vec![general::Work::default(); workers], ..Self::default() };
        scratch.reset(shape);
        scratch
    }

    /// Makes room for exact topic spreads too, now and at every [`reset`](Self::reset): about 110 bytes a pair
    /// of a member and a topic that it subscribes to, with racks once more for each set of racks.
    ///
    /// Without it the first exact round allocates that, and the scratch keeps it.
    ///
    /// # Examples
    ///
    /// ```
    /// use tenure::plan::{Assignor, Config, Plan, Scratch, Spread};
    /// use tenure::{Group, Topology};
    ///
    /// let topology = Topology::builder().topic("a", 3).topic("b", 3).build()?;
    /// let mut builder = Group::builder(&topology);
    /// builder.member("x").topic("a").topic("b");
    /// builder.member("y").topic("a").topic("b");
    /// let group = builder.build()?;
    /// let (mut scratch, mut plan) = (Scratch::with_shape(group.shape()), Plan::with_shape(group.shape()));
    /// let plain = scratch.memory_usage();
    /// scratch.reserve_exact_spread();
    /// let reserved = scratch.memory_usage();
    /// assert!(reserved > plain);
    /// Assignor::new(Config::new().spread(Spread::Exact)).assign_into(&group, &mut scratch, &mut plan)?;
    /// assert_eq!(scratch.memory_usage(), reserved, "the round needed no more");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn reserve_exact_spread(&mut self) {
        self.exact_spread = true;
        self.exact.reserve(&self.shape);
    }

    /// Makes room for a shape; memory only grows.
    pub fn reset(&mut self, shape: Shape) {
        self.shape = self.shape.union(&shape);
        let shape = &self.shape;
        self.settled.reserve(shape.members, shape.partitions, shape.claims);
        self.uniform.reserve(shape);
        self.general.reserve(shape);
        self.workers.iter_mut().for_each(|worker| worker.reserve(shape));
        self.spread.reserve(shape);
        self.dealt.reserve(shape);
        if self.exact_spread {
            self.exact.reserve(shape);
        }
    }

    /// The shape it serves.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    pub(super) fn check(&self, needed: &Shape) -> Result<(), ShapeError> {
        if self.shape.fits(needed) { Ok(()) } else { Err(ShapeError { needed: *needed, given: self.shape }) }
    }

    /// Heap bytes reserved.
    pub fn memory_usage(&self) -> usize {
        self.settled.memory_usage()
            + self.uniform.memory_usage()
            + self.general.memory_usage()
            + self.workers.iter().map(general::Work::memory_usage).sum::<usize>()
            + self.spread.memory_usage()
            + self.dealt.memory_usage()
            + self.exact.memory_usage()
    }
}
