//! Measuring warm rounds in thread CPU time, so that a busy machine does not count against the code.

use core::hint::black_box;
use core::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use tenure::Group;
use tenure::plan::{Assignor, Outcome, Plan, Scratch};
use tenure::revoke::{Mode, Round};

use crate::alloc::{self, Used};
use crate::check;

/// CPU time of this thread so far.
pub fn thread_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or(0))
}

/// One group with everything that its rounds need, warmed up and checked.
#[derive(Debug)]
pub struct Bench {
    group: Group,
    assignor: Assignor,
    scratch: Scratch,
    plan: Plan,
    outcome: Outcome,
}

/// What is left of a round when it was read: nothing here decides, it only has to be computed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Read {
    /// Sum of the indices of all withheld partitions.
    pub withheld: u64,
    /// Whether members must join again.
    pub rejoin: bool,
}

impl Bench {
    /// Plans the group once, and checks the plan.
    ///
    /// # Errors
    ///
    /// What [`check`](check::check) finds.
    pub fn new(group: Group, assignor: Assignor) -> Result<Self, String> {
        let shape = group.shape();
        let (mut scratch, mut plan) = (Scratch::with_shape(shape), Plan::with_shape(shape));
        let outcome =
            assignor.assign_into(&group, &mut scratch, &mut plan).map_err(|error| error.to_string())?;
        check::check(&group, &plan, &outcome)?;
        Ok(Self { group, assignor, scratch, plan, outcome })
    }

    /// The group.
    pub const fn group(&self) -> &Group {
        &self.group
    }

    /// What the assignor said of the plan.
    pub const fn outcome(&self) -> &Outcome {
        &self.outcome
    }

    /// The plan of the last round.
    pub const fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Plans once more.
    pub fn plan_again(&mut self) -> Outcome {
        self.assignor
            .assign_into(black_box(&self.group), &mut self.scratch, &mut self.plan)
            .expect("scratch and plan were made for this group")
    }

    /// Reads what the leader needs of the cooperative difference: what is withheld, and whether to rejoin.
    pub fn read(&self) -> Read {
        let round = Round::new(&self.group, &self.plan, Mode::Shipped);
        let withheld = round.withheld().map(|partition| u64::from(partition.get())).sum();
        Read { withheld, rejoin: round.rejoin() }
    }

    /// A whole round: plans and reads.
    pub fn round(&mut self) -> Read {
        self.plan_again();
        black_box(&self.plan);
        self.read()
    }

    /// What one more round asks of the allocator.
    pub fn count_allocations(&mut self) -> Used {
        alloc::count(|| black_box(self.round())).1
    }

    /// A hash of the plan: equal plans, equal hashes, on every machine (FNV-1a over loads and partitions).
    pub fn plan_hash(&self) -> u64 {
        let mut hash = 0xcbf2_9ce4_8422_2325u64;
        let mut add = |number: u32| {
            for byte in number.to_le_bytes() {
                hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
            }
        };
        for member in self.group.member_indices() {
            add(self.plan.load(member));
            self.plan.target(member).iter().for_each(|partition| add(partition.get()));
        }
        hash
    }
}

/// A buffer of the plan's size, and another to copy it to: what any planner must at least do.
#[derive(Clone, Debug)]
pub struct Copy {
    from: Vec<u32>,
    to: Vec<u32>,
}

impl Copy {
    /// Buffers for the plan of a bench: a number for each partition, and one for each member.
    pub fn of(bench: &Bench) -> Self {
        let words = bench.plan().assigned() + bench.group().members() + 1;
        Self { from: (0..words as u32).collect(), to: vec![0; words] }
    }

    /// Copies once.
    pub fn run(&mut self) {
        self.to.copy_from_slice(black_box(&self.from));
        black_box(&mut self.to);
    }
}

/// Times of one piece of code.
#[derive(Clone, Debug, Default)]
pub struct Samples {
    ns: Vec<f64>,
}

impl Samples {
    /// Adds a sample: the CPU time of `times` runs.
    fn add(&mut self, spent: Duration, times: u32) {
        self.ns.push(spent.as_nanos() as f64 / f64::from(times));
    }

    /// The shortest, in nanoseconds.
    pub fn min_ns(&self) -> f64 {
        self.ns.iter().copied().fold(f64::INFINITY, f64::min)
    }

    /// The median, in nanoseconds.
    pub fn median_ns(&self) -> f64 {
        let mut sorted = self.ns.clone();
        sorted.sort_by(f64::total_cmp);
        sorted.get(sorted.len() / 2).copied().unwrap_or(f64::INFINITY)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.ns.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ns.is_empty()
    }
}

/// The samples of one group: the plan alone, the plan with the cooperative difference, and the copy.
#[derive(Clone, Debug, Default)]
pub struct Timing {
    /// The plan alone.
    pub plan: Samples,
    /// The plan and what is read of its round.
    pub round: Samples,
    /// A plain copy of the plan.
    pub copy: Samples,
}

/// Measures until `budget` is used up, at least three samples of each; plan, round and copy take turns.
pub fn time(bench: &mut Bench, budget: Duration) -> Timing {
    let mut copy = Copy::of(bench);
    let begin = thread_time();
    let mut timing = Timing::default();
    // Samples of at least a tenth of a millisecond, so that reading the clock does not show.
    let sample = Duration::from_micros(100);
    let (mut rounds, mut copies) = (1, 1);
    let spent = sample_of(&mut || bench.round(), &mut rounds, sample);
    let copied = sample_of(&mut || copy.run(), &mut copies, sample);
    black_box((spent, copied));
    while timing.plan.len() < 3 || thread_time() - begin < budget {
        timing.plan.add(run(&mut || bench.plan_again(), rounds), rounds);
        timing.round.add(run(&mut || bench.round(), rounds), rounds);
        timing.copy.add(run(&mut || copy.run(), copies), copies);
    }
    timing
}

/// Doubles `times` until the runs take `least`.
fn sample_of<T>(work: &mut impl FnMut() -> T, times: &mut u32, least: Duration) -> Duration {
    loop {
        let spent = run(work, *times);
        if spent >= least || *times >= 1 << 20 {
            return spent;
        }
        *times *= 2;
    }
}

fn run<T>(work: &mut impl FnMut() -> T, times: u32) -> Duration {
    let begin = thread_time();
    for _ in 0..times {
        black_box(work());
    }
    thread_time() - begin
}
