//! One table over all groups: what a warm round costs, beside a plain copy of its output.
//!
//! ```text
//! cargo bench -p tenure-bench --bench table -- [FILTER…] [--all] [--smoke] [--ms N] [--csv]
//! ```
//!
//! A filter is a part of `shape/event`, as in `uniform-1m/steady`, `random`, `/one-joins`; a line must match all.
//! After the rows come the exponents of growth: e if the plan of `random-1m` costs 100^e times that of `random-10k`.
//! Shapes of ten million partitions and rack variants only run when a filter names them, or with `--all`.

use core::time::Duration;
use std::io::Write as _;
use std::process::ExitCode;

use tenure::plan::{Assignor, Config, Strategy};
use tenure_bench::alloc::Counting;
use tenure_bench::measure::{Bench, Timing, time};
use tenure_bench::workloads::{EVENTS, Event, SHAPES, Shape};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const SEED: u64 = 429;

#[derive(Debug)]
struct Options {
    filters: Vec<String>,
    all: bool,
    smoke: bool,
    csv: bool,
    budget: Duration,
}

fn options() -> Result<Options, String> {
    // Cargo says --bench when it measures; without, as in `cargo test`, it only wants to see it run.
    let mut smoke = std::env::var_os("TENURE_BENCH_SMOKE").is_some();
    let measured = std::env::args().any(|argument| argument == "--bench");
    smoke |= !measured;
    let mut options =
        Options { filters: Vec::new(), all: false, smoke, csv: false, budget: Duration::from_millis(400) };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--bench" => {}
            "--all" => options.all = true,
            "--smoke" => options.smoke = true,
            "--csv" => options.csv = true,
            "--ms" => {
                let number = arguments.next().ok_or("--ms needs a number of milliseconds")?;
                let ms = number.parse().map_err(|error| format!("--ms {number}: {error}"))?;
                options.budget = Duration::from_millis(ms);
            }
            unknown if unknown.starts_with("--") => {
                return Err(format!("unknown option {unknown}; there are --all, --smoke, --csv and --ms N"));
            }
            filter => options.filters.push(filter.to_string()),
        }
    }
    if options.smoke {
        options.budget = Duration::ZERO;
    }
    Ok(options)
}

fn shapes(options: &Options) -> Vec<Shape> {
    let mut shapes = Vec::new();
    for shape in SHAPES {
        let asked = |name: &str| {
            options.all
                || options.filters.iter().any(|filter| filter.split('/').next().is_some_and(|f| f == name))
        };
        if shape.name != "uniform-10m" || asked(shape.name) {
            shapes.push(*shape);
        }
        for racks in ["+racks3", "+racks5"] {
            let name = format!("{}{racks}", shape.name);
            if asked(&name) || options.filters.iter().any(|filter| filter.contains(racks)) || options.smoke {
                shapes.extend(Shape::find(&name));
            }
        }
    }
    if options.smoke {
        shapes = shapes.into_iter().map(Shape::small).collect();
    }
    shapes
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("table: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), String> {
    let options = options()?;
    let assignor = Assignor::new(Config::new().strategy(Strategy::CooperativeSticky));
    println!("{}", if options.csv { CSV_HEAD } else { HEAD });
    let mut rows = 0;
    let mut costs = Vec::new();
    for shape in shapes(&options) {
        let name = shape.full_name();
        let wanted = |event: Event| {
            let line = format!("{name}/{event}");
            options.filters.iter().all(|filter| line.contains(filter.as_str()))
        };
        let events: Vec<Event> = EVENTS.into_iter().filter(|&event| wanted(event)).collect();
        if events.is_empty() {
            continue;
        }
        let settled = shape.fresh(SEED).settled();
        for event in events {
            let group = event.apply(&shape, &settled, SEED).group();
            let mut bench =
                Bench::new(group, assignor).map_err(|error| format!("{name}/{event}: {error}"))?;
            let timing = time(&mut bench, options.budget);
            let used = bench.count_allocations();
            costs.push(Cost {
                name: name.clone(),
                event,
                partitions: bench.plan().assigned(),
                ns: timing.plan.min_ns(),
            });
            let line = if options.csv {
                csv(&name, event, &bench, &timing, used.allocations)
            } else {
                row(&name, event, &bench, &timing, used.allocations)
            };
            println!("{line}");
            // One row may take seconds: show it when it is there.
            std::io::stdout().flush().map_err(|error| error.to_string())?;
            rows += 1;
        }
    }
    if rows == 0 {
        return Err(format!("no group matches {:?}", options.filters));
    }
    println!("{rows} groups, every plan checked");
    if !options.csv {
        print_growth(&costs);
    }
    Ok(())
}

/// What the plan of a row cost.
struct Cost {
    name: String,
    event: Event,
    partitions: usize,
    ns: f64,
}

/// Prints how the cost of a plan grows from 10 thousand to a million partitions, where both were measured.
fn print_growth(costs: &[Cost]) {
    for family in ["uniform", "random"] {
        for event in EVENTS {
            let find = |size: &str| {
                let name = format!("{family}-{size}");
                costs.iter().find(|cost| cost.event == event && cost.name == name)
            };
            if let (Some(small), Some(large)) = (find("10k"), find("1m"))
                && small.partitions < large.partitions
            {
                let exponent =
                    (large.ns / small.ns).ln() / (large.partitions as f64 / small.partitions as f64).ln();
                println!("growth {family:<8} {event:<13} {exponent:.2}");
            }
        }
    }
}

const HEAD: &str = "group                        event         path             partitions members   plan ms  round ms  \
                    (median)  ns/part  × copy  allocs  load min–max    moves  withheld  proof              plan hash";

fn row(name: &str, event: Event, bench: &Bench, timing: &Timing, allocations: u64) -> String {
    let outcome = bench.outcome();
    let (stats, proof) = (&outcome.stats, &outcome.proof);
    let (plan, round, copy) = (timing.plan.min_ns(), timing.round.min_ns(), timing.copy.min_ns());
    format!(
        "{name:<28} {event:<13} {path:<16} {partitions:>10} {members:>7} {plan_ms:>9.4} {round_ms:>9.4} \
         {median_ms:>9.4} {each:>8.2} {copies:>7.1} {allocations:>7} {loads:>13} {moves:>8} {withheld:>9}  \
         {proof:<18} {hash:016x}",
        path = outcome.path.name(),
        partitions = stats.partitions,
        members = stats.members,
        plan_ms = plan / 1e6,
        round_ms = round / 1e6,
        median_ms = timing.round.median_ns() / 1e6,
        each = round / f64::from(stats.partitions.max(1)),
        copies = round / copy,
        loads = format!("{}–{}", stats.load_min, stats.load_max),
        moves = stats.moves,
        withheld = bench.plan().transfer_count(),
        proof = format!("{}/{}", proof.balance, proof.moves),
        hash = bench.plan_hash(),
    )
}

const CSV_HEAD: &str = "group,event,path,partitions,members,plan_ns_min,plan_ns_median,round_ns_min,round_ns_median,\
                        copy_ns_min,copy_ns_median,allocations,load_min,load_max,moves,withheld,rack_mismatches,\
                        proof_balance,proof_moves,plan_hash";

fn csv(name: &str, event: Event, bench: &Bench, timing: &Timing, allocations: u64) -> String {
    let outcome = bench.outcome();
    let (stats, proof) = (&outcome.stats, &outcome.proof);
    format!(
        "{name},{event},{},{},{},{:.0},{:.0},{:.0},{:.0},{:.0},{:.0},{allocations},{},{},{},{},{},{},{},{:016x}",
        outcome.path.name(),
        stats.partitions,
        stats.members,
        timing.plan.min_ns(),
        timing.plan.median_ns(),
        timing.round.min_ns(),
        timing.round.median_ns(),
        timing.copy.min_ns(),
        timing.copy.median_ns(),
        stats.load_min,
        stats.load_max,
        stats.moves,
        bench.plan().transfer_count(),
        stats.rack_mismatches,
        proof.balance,
        proof.moves,
        bench.plan_hash(),
    )
}
