//! Work counted instead of time: instructions and allocations of one warm call, the same on a busy machine as on an
//! idle one, held against a committed baseline.
//!
//! ```text
//! guard ──► valgrind guard --count ──► every case: set up, warm, [ measured_call: counted ] ──► one dump a case
//!   │                                        └──► allocations, warm and cold
//!   └──► baseline.csv: was / is, within a tolerance?
//! ```
//!
//! Instruction counts depend on the compiler, so the baseline says which one made it, and allows more to another.

pub mod baseline;

use core::fmt;
use core::hint::black_box;

use tenure::plan::{Plan, Scratch};
use tenure::protocol::leader::{Leader, LeaderScratch};

use crate::alloc::{self, Used};
use crate::contest::SEED;
use crate::contest::own::assignor;
use crate::workloads::{EVENTS, Event, Shape, Size, Workload};

/// Shapes that are counted, at sizes that show how work grows and yet run in seconds where each instruction costs fifty.
const SHAPES: [(&str, Size); 10] = [
    ("uniform-100k", Size { topics: 40, partitions: 250, members: 200 }),
    ("uniform-100k+racks3", Size { topics: 20, partitions: 100, members: 100 }),
    ("one-less", Size { topics: 40, partitions: 250, members: 200 }),
    ("all-but-one", Size { topics: 60, partitions: 100, members: 100 }),
    ("windows", Size { topics: 200, partitions: 50, members: 400 }),
    ("buckets", Size { topics: 60, partitions: 100, members: 200 }),
    ("random-100k", Size { topics: 200, partitions: 50, members: 200 }),
    ("random-100k+racks3", Size { topics: 100, partitions: 20, members: 100 }),
    ("two-thirds", Size { topics: 50, partitions: 200, members: 100 }),
    ("skewed", Size { topics: 200, partitions: 50, members: 200 }),
];

/// Events whose whole leader round is counted as well.
const ROUNDS: [Event; 2] = [Event::Steady, Event::OneJoins];

const PROTOCOL: &str = "cooperative-sticky";

/// What a warm call of one case asked for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Count {
    /// `shape/event/call`.
    pub case: String,
    /// Instructions of one warm call; nothing if they were not counted.
    pub instructions: Option<u64>,
    /// Allocations of one warm call.
    pub warm: u64,
    /// What the first call asked for, from nothing.
    pub cold: Used,
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { case, instructions, warm, cold } = self;
        let instructions = instructions.map_or_else(|| "-".to_string(), |count| count.to_string());
        write!(f, "{case},{instructions},{warm},{},{}", cold.allocations, cold.bytes)
    }
}

/// The call whose instructions are counted: a tool finds it by its name.
#[inline(never)]
pub fn measured_call(work: &mut dyn FnMut()) {
    work();
}

/// Runs every case once, in a fixed order; tells each as soon as it is done. Instructions are for a tool to count.
///
/// # Panics
///
/// If a group cannot be planned.
pub fn count(mut tell: impl FnMut(Count)) {
    for (name, full) in SHAPES {
        let shape = Shape { full, ..Shape::find(name).expect("a shape of the table") };
        let settled = shape.fresh(SEED).settled();
        for event in EVENTS {
            let workload = event.apply(&shape, &settled, SEED);
            let case = format!("{name}/{event}");
            tell(count_plan(format!("{case}/plan"), &workload));
            if ROUNDS.contains(&event) {
                tell(count_round(format!("{case}/round"), &workload));
            }
        }
    }
}

fn count_plan(case: String, workload: &Workload) -> Count {
    let (group, assignor) = (workload.group(), assignor());
    let (made, cold) = alloc::count(|| {
        let (mut scratch, mut plan) = (Scratch::with_shape(group.shape()), Plan::with_shape(group.shape()));
        assignor.assign_into(&group, &mut scratch, &mut plan).map(|outcome| (scratch, plan, outcome))
    });
    let (mut scratch, mut plan, _) = made.expect("scratch and plan have the group's shape");
    let warm = count_warm(|| {
        _ = black_box(assignor.assign_into(black_box(&group), &mut scratch, &mut plan));
    });
    Count { case, instructions: None, warm, cold }
}

fn count_round(case: String, workload: &Workload) -> Count {
    let (members, topology) = (workload.joined(PROTOCOL), workload.topology());
    let leader = Leader::new();
    let lead = |scratch: &mut LeaderScratch| {
        let round = leader.round_into(PROTOCOL, &members, &members[0].member_id, &topology, scratch);
        black_box(round.expect("the members' bytes are those of a client").bytes().len());
    };
    let mut scratch = LeaderScratch::new();
    let ((), cold) = alloc::count(|| lead(&mut scratch));
    let warm = count_warm(|| lead(&mut scratch));
    Count { case, instructions: None, warm, cold }
}

/// Calls once more to be warm, then once for the tool.
fn count_warm(mut work: impl FnMut()) -> u64 {
    work();
    alloc::count(|| measured_call(&mut work)).1.allocations
}
