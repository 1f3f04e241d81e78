//! How much memory does a round take, at its highest, and how much of it stays?
//!
//! ```text
//! cargo run --release -p tenure-bench --example memory                       the shapes of the report
//! cargo run --release -p tenure-bench --example memory -- uniform-10m/steady one of them
//! ```
//!
//! Three steps of each group: building it from names, planning it, and a whole leader's round from bytes to bytes.
//! Times are CPU time of a first call, which makes all its memory. "held" is what the step leaves reserved, "peak" the
//! most that was alive at once meanwhile, both without what was alive before it: names and claims of the workload, or
//! the members' bytes.

use core::hint::black_box;
use core::time::Duration;

use tenure::plan::{Assignor, Plan, Scratch};
use tenure::protocol::leader::{Leader, LeaderScratch};
use tenure_bench::alloc::{Peak, Weighing};
use tenure_bench::check;
use tenure_bench::measure::thread_time;
use tenure_bench::workloads::{Event, Shape};

#[global_allocator]
static ALLOCATOR: Weighing = Weighing;

const SEED: u64 = 429;

const ROWS: [(&str, Event); 9] = [
    ("uniform-100k", Event::Fresh),
    ("uniform-100k", Event::Steady),
    ("uniform-1m", Event::Steady),
    ("uniform-10m", Event::Fresh),
    ("uniform-10m", Event::Steady),
    ("uniform-10m", Event::OneLeaves),
    ("random-100k", Event::Steady),
    ("random-100k", Event::OneJoins),
    ("random-1m", Event::OneJoins),
];

fn main() {
    let filters: Vec<String> = std::env::args().skip(1).collect();
    let smoke = std::env::var_os("TENURE_BENCH_SMOKE").is_some();
    println!(
        "| group | partitions × members | step | CPU s | held, MB | peak, MB | peak, bytes a partition |"
    );
    println!("|---|---|---|---|---|---|---|");
    for (name, event) in ROWS {
        let title = format!("{name}/{event}");
        if filters.is_empty() || filters.iter().any(|filter| title.contains(filter.as_str())) {
            let shape = Shape::find(name).expect("a shape of the table");
            row(&title, &if smoke { shape.small() } else { shape }, event);
        }
    }
}

fn row(title: &str, shape: &Shape, event: Event) {
    let workload = event.apply(shape, &shape.fresh(SEED).settled(), SEED);
    let topology = workload.topology();
    let partitions = topology.partitions();
    let size = format!("{partitions} × {}", workload.members.len());
    let print = |step: &str, begin: Duration, peak: &Peak| {
        let (held, most) = (peak.held(), peak.most());
        println!(
            "| {title} | {size} | {step} | {:.3} | {:.1} | {:.1} | {:.1} |",
            (thread_time() - begin).as_secs_f64(),
            held as f64 / 1e6,
            most as f64 / 1e6,
            most as f64 / partitions as f64
        );
    };
    {
        let (peak, begin) = (Peak::begin(), thread_time());
        let group = workload.group();
        print("build", begin, &peak);

        let (peak, begin) = (Peak::begin(), thread_time());
        let mut scratch = Scratch::with_shape(group.shape());
        let mut plan = Plan::with_shape(group.shape());
        let outcome = Assignor::default().assign_into(&group, &mut scratch, &mut plan);
        print("plan", begin, &peak);
        let outcome = outcome.expect("scratch and plan were made for this group");
        if let Err(error) = check::check(&group, &plan, &outcome) {
            panic!("{title}: {error}");
        }
    }
    let members = workload.joined("cooperative-sticky");
    drop(workload);
    let bytes: usize = members.iter().map(|member| member.metadata.len()).sum();
    let mut scratch = LeaderScratch::new();
    let (peak, begin) = (Peak::begin(), thread_time());
    let first = members[0].member_id.as_str();
    let round = Leader::new().round_into("cooperative-sticky", &members, first, &topology, &mut scratch);
    let written = black_box(round.expect("a round that can be led").bytes().len());
    let step = format!("round, {:.1} MB in, {:.1} MB out", bytes as f64 / 1e6, written as f64 / 1e6);
    print(&step, begin, &peak);
}
