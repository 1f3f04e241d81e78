//! Many groups in one call, as a platform that leads for all its tenants plans them.
//!
//! ```text
//! groups    g0 g1 g2 | g3 | g4 … g99      a stretch of about equal work for each thread of the pool
//! threads   scratch 0  1    2             the working set is a thread's: never more of them than threads
//! planned   p0 p1 p2   p3   p4 … p99      a group's plan is where the group is, whoever made it
//! ```
//!
//! Groups are independent, so they are what threads share first; a single large group is left to the blocks inside
//! it. Stretches are cut by the groups' sizes alone, *because* each thread then meets the same groups in the next
//! call and needs no memory that it has not got. The alternative, handing out groups one by one, evens out better
//! and makes that a matter of luck.

use alloc::vec::Vec;
use core::borrow::Borrow;
use core::hint::black_box;

use super::{Assignor, Outcome, Path, Plan, Proof, Scratch, Spread, Stats};
use crate::group::Group;
use crate::owned::Findings;

/// The memory of [`Assignor::plan_many`]: a scratch for each thread, a plan for each group.
///
/// Its contents never matter. It grows to what it has served: once it has planned groups of some sizes, the same or
/// smaller ones in the same places allocate nothing.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    scratches: Vec<Scratch>,
    planned: Vec<Planned>,
    /// The work of all groups before each, and of all.
    #[cfg(feature = "rayon")]
    work: Vec<u64>,
}

/// The plan of one of many groups, and what the assignor says of it.
#[derive(Clone, Debug)]
pub struct Planned {
    plan: Plan,
    outcome: Outcome,
}

impl Planned {
    /// The plan.
    pub const fn plan(&self) -> &Plan {
        &self.plan
    }

    /// What the assignor says of it.
    pub const fn outcome(&self) -> &Outcome {
        &self.outcome
    }

    fn make<G: Borrow<Group>>(&mut self, assignor: &Assignor, group: &G, scratch: &mut Scratch) {
        let group = group.borrow();
        let shape = group.shape();
        // Looking at every list for room costs as much as planning half of a small group.
        if scratch.check(&shape).is_err() {
            scratch.reset(shape);
        }
        if self.plan.check(&shape).is_err() {
            self.plan.reset(shape);
        }
        // Both fit now, so there is nothing to refuse.
        if let Ok(outcome) = assignor.assign_into(group, scratch, &mut self.plan) {
            self.outcome = outcome;
        }
    }
}

impl Default for Planned {
    fn default() -> Self {
        let outcome = Outcome {
            path: Path::Uniform,
            findings: Findings::default(),
            stats: Stats::default(),
            proof: Proof::UNPROVEN,
            spread: Spread::Greedy,
        };
        Self { plan: Plan::default(), outcome }
    }
}

impl Batch {
    /// An empty one; the first call makes room.
    pub fn new() -> Self {
        Self::default()
    }

    /// Heap bytes reserved.
    pub fn memory_usage(&self) -> usize {
        let own =
            self.scratches.capacity() * size_of::<Scratch>() + self.planned.capacity() * size_of::<Planned>();
        #[cfg(feature = "rayon")]
        let own = own + self.work.capacity() * size_of::<u64>();
        own + self.scratches.iter().map(Scratch::memory_usage).sum::<usize>()
            + self.planned.iter().map(|planned| planned.plan.memory_usage()).sum::<usize>()
    }
}

impl Assignor {
    /// Plans many groups; the plans are in the order of the groups, each as [`assign_into`](Self::assign_into) makes
    /// it.
    ///
    /// Groups may be owned, borrowed or shared: anything that lends a [`Group`].
    ///
    /// Cost: that of each group. No allocation once `batch` has served the same groups, or others no larger in
    /// their places.
    /// Order: a plan depends on its group's content alone: neither on the other groups nor on threads.
    /// Threads: with the feature `rayon`, and only when called inside a pool of it, the groups are shared among the
    /// pool's threads.
    ///
    /// # Examples
    ///
    /// ```
    /// use tenure::plan::{Assignor, Batch};
    /// use tenure::{Group, Topology};
    ///
    /// let topology = Topology::builder().topic("orders", 12).build()?;
    /// let groups = (1..=4)
    ///     .map(|members| {
    ///         let mut builder = Group::builder(&topology);
    ///         for member in 0..members {
    ///             builder.member(&format!("consumer-{member}")).topic("orders");
    ///         }
    ///         builder.build()
    ///     })
    ///     .collect::<Result<Vec<Group>, _>>()?;
    ///
    /// let mut batch = Batch::new();
    /// let planned = Assignor::default().plan_many(&groups, &mut batch);
    /// let loads: Vec<u32> = planned.iter().map(|one| one.outcome().stats.load_max).collect();
    /// assert_eq!(loads, [12, 6, 4, 3]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn plan_many<'b, G: Borrow<Group> + Sync>(
        &self,
        groups: &[G],
        batch: &'b mut Batch,
    ) -> &'b [Planned] {
        if batch.planned.len() < groups.len() {
            batch.planned.resize_with(groups.len(), Planned::default);
        }
        if batch.scratches.is_empty() {
            batch.scratches.push(Scratch::default());
        }
        #[cfg(feature = "rayon")]
        if self.plan_in_pool(groups, batch) {
            return &batch.planned[..groups.len()];
        }
        make_all(self, groups, &mut batch.scratches[0], &mut batch.planned[..groups.len()]);
        &batch.planned[..groups.len()]
    }

    /// Plans the groups by the threads of the pool that this runs in; false, and nothing done, if that pays not.
    #[cfg(feature = "rayon")]
    fn plan_in_pool<G: Borrow<Group> + Sync>(&self, groups: &[G], batch: &mut Batch) -> bool {
        let threads = rayon::current_num_threads().min(groups.len());
        if rayon::current_thread_index().is_none() || threads < 2 {
            return false;
        }
        let Batch { scratches, planned, work } = batch;
        work.clear();
        work.push(0);
        let mut sum = 0;
        for group in groups {
            sum += work_of(group.borrow());
            work.push(sum);
        }
        if sum < PARALLEL_WORK {
            return false;
        }
        if scratches.len() < threads {
            scratches.resize_with(threads, Scratch::default);
        }
        let stretches = Stretches { assignor: self, groups, work };
        stretches.plan(&mut scratches[..threads], &mut planned[..groups.len()], 0);
        true
    }
}

/// Plans groups one after the other; each while the memory of those behind it is on its way.
///
/// A small group is planned in less time than it takes to fetch its lists one by one, as a planner asks for them:
/// ten thousand groups of 100 partitions took 1.3 µs each where 0.3 µs were work.
fn make_all<G: Borrow<Group>>(
    assignor: &Assignor,
    groups: &[G],
    scratch: &mut Scratch,
    planned: &mut [Planned],
) {
    for (at, group) in groups.iter().enumerate() {
        if let (Some(next), Some(plan)) = (groups.get(at + 1), planned.get(at + 1)) {
            black_box(next.borrow().touch_lists() ^ plan.plan.touch_lists());
        }
        if let (Some(later), Some(plan)) = (groups.get(at + 2), planned.get(at + 2)) {
            black_box(later.borrow().topology().touch_ends() ^ plan.plan.touch_ends());
        }
        if let Some(last) = groups.get(at + 3) {
            black_box(last.borrow().touch_ends());
        }
        planned[at].make(assignor, group, scratch);
    }
}

/// What a group weighs against others: its numbers, and eight for a pair of a member and a class where the general
/// planner searches among them.
#[cfg(feature = "rayon")]
fn work_of(group: &Group) -> u64 {
    let classes = group.classes();
    let arcs = if classes.uniform() { 0 } else { 8 * classes.arcs() };
    (group.topology().partitions() + group.claims.len() + group.members() + arcs) as u64 + 64
}

/// Less work than this is done before a second thread has woken up.
#[cfg(feature = "rayon")]
const PARALLEL_WORK: u64 = 1 << 15;

/// All groups, cut by their work.
#[cfg(feature = "rayon")]
struct Stretches<'a, G> {
    assignor: &'a Assignor,
    groups: &'a [G],
    work: &'a [u64],
}

#[cfg(feature = "rayon")]
impl<G: Borrow<Group> + Sync> Stretches<'_, G> {
    /// Plans as many stretches as there are scratches, from the group `begin` on.
    fn plan(&self, scratches: &mut [Scratch], planned: &mut [Planned], begin: usize) {
        match scratches {
            [] => {}
            [scratch] => {
                make_all(self.assignor, &self.groups[begin..begin + planned.len()], scratch, planned);
            }
            _ => {
                let (left, right) = scratches.split_at_mut(scratches.len() / 2);
                let end = begin + planned.len();
                // The share of the work that belongs to the left half of these scratches.
                let (from, to) = (self.work[begin], self.work[end]);
                let share = from + (to - from) * left.len() as u64 / (left.len() + right.len()) as u64;
                let middle = self.work[begin..end].partition_point(|&work| work < share);
                let (low, high) = planned.split_at_mut(middle);
                rayon::join(|| self.plan(left, low, begin), || self.plan(right, high, begin + middle));
            }
        }
    }
}
