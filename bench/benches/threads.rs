//! What do more threads bring: across many groups, and inside one?
//!
//! ```text
//! cargo bench -p tenure-bench --bench threads                       all, as a table in Markdown
//! cargo bench -p tenure-bench --bench threads -- groups --ms 500    lines with this in their name
//! TENURE_BENCH_SMOKE=1 cargo bench -p tenure-bench --bench threads  small groups, in seconds
//! ```
//!
//! All times are CPU time, least of all calls: first of a call outside of any pool, then of the busiest thread of pools
//! of so many. That is what the wall clock would say on a machine that does nothing else; this one may. Before anything
//! is timed each pool's answer is held against the sequential one, byte for byte.

use core::hint::black_box;
use core::time::Duration;
use std::process::ExitCode;
use std::time::Instant;

use rayon::{ThreadPool, ThreadPoolBuilder};
use tenure::Group;
use tenure::plan::{Assignor, Batch, Plan, Planned, Scratch};
use tenure::protocol::leader::{Leader, LeaderScratch};
use tenure::protocol::message::JoinMember;
use tenure_bench::alloc::{self, Counting};
use tenure_bench::check;
use tenure_bench::measure::thread_time;
use tenure_bench::workloads::{Event, Shape, Size, Subscriptions};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const SEED: u64 = 429;

fn main() -> ExitCode {
    // Cargo says --bench when it measures; without, as in `cargo test`, it only wants to see it run.
    let smoke = std::env::var_os("TENURE_BENCH_SMOKE").is_some()
        || !std::env::args().any(|argument| argument == "--bench");
    let mut filter = String::new();
    let mut budget = Duration::from_millis(if smoke { 1 } else { 400 });
    let mut arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
    while let Some(argument) = arguments.next() {
        if argument == "--ms" {
            let Some(ms) = arguments.next().and_then(|ms| ms.parse().ok()) else {
                eprintln!("--ms needs a number of milliseconds");
                return ExitCode::FAILURE;
            };
            budget = Duration::from_millis(ms);
        } else {
            filter = argument;
        }
    }
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let pools: Vec<ThreadPool> = (1..=cores.clamp(2, 16))
        .map(|threads| ThreadPoolBuilder::new().num_threads(threads).build().expect("threads start"))
        .collect();
    let mut table = Table { pools, budget, filter };
    table.head();
    many_groups(&mut table, smoke);
    one_round(&mut table, smoke);
    one_plan(&mut table, smoke);
    ExitCode::SUCCESS
}

struct Table {
    pools: Vec<ThreadPool>,
    budget: Duration,
    filter: String,
}

impl Table {
    fn head(&self) {
        print!("| what | partitions | ms | ns a partition | allocations |");
        for threads in 1..=self.pools.len() {
            print!(" ms, busiest of {threads} | times |");
        }
        println!("\n|---|---|---|---|---|{}", "---|---|".repeat(self.pools.len()));
    }

    fn wants(&self, name: &str) -> bool {
        name.contains(&self.filter)
    }

    /// One line: `run` once by each pool and without.
    fn line(&self, name: &str, partitions: u64, mut run: impl FnMut() + Send) {
        run();
        run();
        let ((), used) = alloc::count(&mut run);
        let begin = Instant::now();
        let mut alone = Duration::MAX;
        while begin.elapsed() < self.budget || alone == Duration::MAX {
            let before = thread_time();
            run();
            alone = alone.min(thread_time() - before);
        }
        let alone = alone.as_secs_f64();
        print!(
            "| {name} | {partitions} | {:.3} | {:.2} | {} |",
            alone * 1e3,
            alone * 1e9 / partitions as f64,
            used.allocations
        );
        for pool in &self.pools {
            let busiest = self.busiest(pool, &mut run);
            print!(" {:.3} | {:.2} |", busiest * 1e3, alone / busiest);
        }
        println!();
    }

    /// CPU time of the thread that had most to do, in seconds: least of all calls.
    fn busiest(&self, pool: &ThreadPool, run: &mut (impl FnMut() + Send)) -> f64 {
        let times = || pool.broadcast(|_| thread_time());
        pool.install(&mut *run);
        let begin = Instant::now();
        let (mut least, mut runs) = (Duration::MAX, 0);
        while runs < 3 || begin.elapsed() < self.budget {
            let before = times();
            pool.install(&mut *run);
            let spent = times().into_iter().zip(before).map(|(after, before)| after - before);
            least = least.min(spent.max().unwrap_or_default());
            runs += 1;
        }
        least.as_secs_f64()
    }
}

/// Ten thousand groups of 100 partitions and 10 members, no two alike.
fn many_groups(table: &mut Table, smoke: bool) {
    let lines = [
        ("groups, alike, steady", Subscriptions::All, Event::Steady),
        ("groups, alike, one joins", Subscriptions::All, Event::OneJoins),
        ("groups, alike, fresh", Subscriptions::All, Event::Fresh),
        ("groups, random topics, steady", Subscriptions::Random(1, 6), Event::Steady),
        ("groups, random topics, one joins", Subscriptions::Random(1, 6), Event::OneJoins),
    ];
    let count = if smoke { 50 } else { 10_000 };
    for (name, subscriptions, event) in lines {
        let name = format!("{count} {name}");
        if !table.wants(&name) {
            continue;
        }
        let mut shape = Shape::find("uniform-1k").expect("a shape of the table");
        shape.full = Size { topics: 10, partitions: 10, members: 10 };
        shape.subscriptions = subscriptions;
        let groups: Vec<Group> =
            (0..count).map(|seed| event.apply(&shape, &shape.fresh(seed).settled(), seed).group()).collect();
        let assignor = Assignor::default();
        let mut batch = Batch::new();
        let mut hash = 0;
        for (group, planned) in groups.iter().zip(assignor.plan_many(&groups, &mut batch)) {
            if let Err(error) = check::check(group, planned.plan(), planned.outcome()) {
                panic!("{name}: {error}");
            }
            hash ^= hash_of(group, planned);
        }
        for pool in &table.pools {
            let again = pool.install(|| {
                let planned = assignor.plan_many(&groups, &mut batch);
                groups.iter().zip(planned).fold(0, |hash, (group, planned)| hash ^ hash_of(group, planned))
            });
            assert_eq!(again, hash, "{name}: threads change a plan");
        }
        let partitions = groups.iter().map(|group| group.topology().partitions() as u64).sum();
        table.line(&name, partitions, || {
            black_box(assignor.plan_many(black_box(&groups), &mut batch));
        });
    }
}

/// FNV-1a over the partitions of all members.
fn hash_of(group: &Group, planned: &Planned) -> u64 {
    let members = group.member_indices().flat_map(|member| planned.plan().target(member));
    members.fold(0xcbf2_9ce4_8422_2325, |hash: u64, p| {
        (hash ^ u64::from(p.get())).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(7)
    })
}

/// A whole leader's round of one large group: members are read, and assignments written, by several threads.
fn one_round(table: &mut Table, smoke: bool) {
    for name in ["uniform-100k", "uniform-1m", "random-100k"] {
        for (event, protocol) in
            [(Event::Steady, "cooperative-sticky"), (Event::Steady, "sticky"), (Event::Fresh, "sticky")]
        {
            let title = format!("round, {name}, {event}, {protocol}");
            if !table.wants(&title) {
                continue;
            }
            let shape = Shape::find(name).expect("a shape of the table");
            let shape = if smoke { shape.small() } else { shape };
            let workload = event.apply(&shape, &shape.fresh(SEED).settled(), SEED);
            let (members, topology) = (workload.joined(protocol), workload.topology());
            let mut scratch = LeaderScratch::new();
            let lead = |scratch: &mut LeaderScratch, members: &[JoinMember]| {
                let first = members[0].member_id.as_str();
                let round = Leader::new().round_into(protocol, members, first, &topology, scratch);
                black_box(round.expect("a round that can be led").bytes().len())
            };
            lead(&mut scratch, &members);
            let first = members[0].member_id.as_str();
            let bytes = |scratch: &mut LeaderScratch| {
                let round = Leader::new().round_into(protocol, &members, first, &topology, scratch);
                round.expect("a round that can be led").bytes().to_vec()
            };
            let expected = bytes(&mut scratch);
            for pool in &table.pools {
                assert!(pool.install(|| bytes(&mut scratch)) == expected, "{title}: threads change a byte");
            }
            table.line(&title, topology.partitions() as u64, || {
                lead(&mut scratch, &members);
            });
        }
    }
}

/// One plan of a group with many blocks, each settled by one of several workers.
fn one_plan(table: &mut Table, smoke: bool) {
    for (name, event) in [
        ("buckets", Event::TenthLeaves),
        ("two-lists", Event::TenthLeaves),
        ("random-100k", Event::OneJoins),
        ("random-1m", Event::OneJoins),
        ("skewed", Event::OneJoins),
    ] {
        let title = format!("plan, {name}, {event}");
        if !table.wants(&title) {
            continue;
        }
        let shape = Shape::find(name).expect("a shape of the table");
        let shape = if smoke { shape.small() } else { shape };
        let group = event.apply(&shape, &shape.fresh(SEED).settled(), SEED).group();
        let assignor = Assignor::default();
        let (expected, _) = assignor.assign(&group).expect("the shape is its own");
        let mut scratch = Scratch::with_workers(group.shape(), table.pools.len());
        let mut plan = Plan::with_shape(group.shape());
        let run = |scratch: &mut Scratch, plan: &mut Plan| {
            assignor.assign_into(&group, scratch, plan).expect("scratch and plan were made for this group");
        };
        for pool in &table.pools {
            pool.install(|| run(&mut scratch, &mut plan));
            let same = group.member_indices().all(|member| plan.target(member) == expected.target(member));
            assert!(same, "{title}: threads change a plan");
        }
        table.line(&title, group.topology().partitions() as u64, || run(&mut scratch, &mut plan));
    }
}
