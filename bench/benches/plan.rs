//! How long does a warm round take: the plan, and reading its cooperative difference?
//!
//! ```text
//! cargo bench -p tenure-bench --bench plan -- uniform-1m                        one shape
//! cargo bench -p tenure-bench --bench plan -- random-100k/steady --profile-time 5    a flame graph
//! TENURE_BENCH_SMOKE=1 cargo bench -p tenure-bench --bench plan                 small groups, in seconds
//! ```
//!
//! Before it is timed, each group's plan is checked, and a line says what was planned and by which path, the
//! allocations of a round, and how it compares with a plain copy of the plan in this run.

mod common;

use core::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput};
use tenure::plan::{Assignor, Path};
use tenure_bench::alloc::Counting;
use tenure_bench::measure::{Bench, time};
use tenure_bench::workloads::{EVENTS, Event, SHAPES, Shape, Workload};

use common::{CpuTime, SEED, criterion, smoke};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Shapes that are also measured with racks.
const WITH_RACKS: [&str; 4] =
    ["uniform-100k+racks5", "all-but-one+racks5", "windows+racks3", "random-100k+racks5"];

fn main() {
    let mut criterion = criterion();
    let ordinary = SHAPES.iter().filter(|shape| shape.name != "uniform-10m").copied();
    for shape in ordinary.chain(WITH_RACKS.iter().filter_map(|name| Shape::find(name))) {
        plan(&mut criterion, shape);
    }
    criterion.final_summary();
}

fn plan(criterion: &mut Criterion<CpuTime>, shape: Shape) {
    let shape = if smoke() { shape.small() } else { shape };
    let name = shape.full_name();
    let mut benches = criterion.benchmark_group(&name);
    // A filter may leave nothing of this group, so it is made when it is first wanted.
    let mut settled = None;
    for event in EVENTS {
        let mut bench = None;
        benches.throughput(Throughput::Elements(shape.partitions(event, SEED)));
        benches.bench_function(BenchmarkId::from_parameter(event), |bencher| {
            let bench = bench.get_or_insert_with(|| {
                let settled = settled.get_or_insert_with(|| shape.fresh(SEED).settled());
                set_up(&shape, event, settled)
            });
            bencher.iter(|| bench.round());
        });
    }
    benches.finish();
}

/// Makes and checks a group, and says what it is.
fn set_up(shape: &Shape, event: Event, settled: &Workload) -> Bench {
    let name = format!("{}/{event}", shape.full_name());
    let group = event.apply(shape, settled, SEED).group();
    let mut bench = match Bench::new(group, Assignor::default()) {
        Ok(bench) => bench,
        Err(error) => panic!("{name}: {error}"),
    };
    let outcome = *bench.outcome();
    let expected = if shape.is_uniform() && shape.racks.is_none() { Path::Uniform } else { Path::General };
    assert_eq!(outcome.path, expected, "{name} was planned by another path than it is to measure");
    let used = bench.count_allocations();
    assert_eq!(used.allocations, 0, "{name}: a warm round allocates");
    let timing = time(&mut bench, Duration::from_millis(if smoke() { 1 } else { 100 }));
    println!(
        "\n{name}: path {}, valid, proof {}/{}, loads {}–{}, {} moves, {} withheld, plan {:016x}\n\
         {name}: {} allocations a round, {:.1} times a copy of the plan",
        outcome.path.name(),
        outcome.proof.balance,
        outcome.proof.moves,
        outcome.stats.load_min,
        outcome.stats.load_max,
        outcome.stats.moves,
        bench.plan().transfer_count(),
        bench.plan_hash(),
        used.allocations,
        timing.round.min_ns() / timing.copy.min_ns(),
    );
    bench
}
