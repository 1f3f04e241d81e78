//! How far the greedy topic spread is from the exact one, as a Markdown report.
//!
//! ```text
//! cargo run --release -p tenure-bench --example spread > reports/spread/README.md
//! ```
//!
//! Random groups, and every workload of at most 100,000 pairs of a member and a topic, after each event. The
//! figures follow from the seeds, the times from the machine.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use tenure::Group;
use tenure::plan::{Assignor, Config, EXACT_PAIRS, Plan, Scratch, Spread, spread_of};
use tenure_bench::check::check;
use tenure_bench::workloads::{EVENTS, Member, Random, SHAPES, Shape, Topic, Workload};

const SEED: u64 = 429;

/// One group planned in both ways.
struct Pair {
    greedy: u64,
    exact: u64,
    /// The greatest count of one topic at one member.
    greedy_max: usize,
    exact_max: usize,
    greedy_ms: f64,
    exact_ms: f64,
}

impl Pair {
    fn excess(&self) -> f64 {
        (self.greedy as f64 / self.exact.max(1) as f64 - 1.0) * 100.0
    }
}

fn main() -> ExitCode {
    match report() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("spread: {error}");
            ExitCode::FAILURE
        }
    }
}

fn report() -> Result<(), String> {
    println!("# How far the greedy topic spread is from the exact one\n");
    println!("```\ncargo run --release -p tenure-bench --example spread > reports/spread/README.md\n```\n");
    println!("Σ is the sum of squares of how many partitions of a topic a member has, over all topics and");
    println!(
        "members; both plans are equally good in balance, rack mismatches and moves, and the exact one has"
    );
    println!(
        "the least Σ of all such plans. *Excess* is how far the greedy Σ lies above it. *Max* is the most"
    );
    println!(
        "that one member has of one topic. Times are of a warm round, plan included; they follow from the"
    );
    println!("machine, all else from the seeds.\n");
    random_groups()?;
    workloads()
}

fn random_groups() -> Result<(), String> {
    println!("## Random groups\n");
    println!("200 groups a row: fresh, or after a random tenth of the members lost all that they owned.\n");
    println!(
        "| topics × partitions × members | topics a member | event | exact already | mean excess | worst excess |"
    );
    println!("|---|---|---|---:|---:|---:|");
    for (topics, partitions, members, most) in
        [(3, 6, 4, 3), (8, 8, 6, 4), (20, 12, 15, 8), (20, 12, 15, 20), (50, 20, 40, 10)]
    {
        for settled in [false, true] {
            let mut excess = Vec::new();
            for number in 0..200 {
                let mut random = Random::new(SEED + number, "spread");
                let mut group = random_group(&mut random, topics, partitions, members, most);
                if settled {
                    group = group.settled();
                    for member in &mut group.members {
                        if random.below(10) == 0 {
                            member.owned.clear();
                        }
                    }
                }
                excess.push(plan_both(&group.group())?.excess());
            }
            let same = excess.iter().filter(|&&excess| excess == 0.0).count();
            let mean = excess.iter().sum::<f64>() / excess.len() as f64;
            let worst = excess.iter().copied().fold(0.0, f64::max);
            println!(
                "| {topics} × 0–{partitions} × {members} | 1–{most} | {} | {same} of {} | {mean:.2} % | {worst:.2} % |",
                if settled { "a tenth restarts" } else { "fresh" },
                excess.len(),
            );
        }
    }
    println!();
    Ok(())
}

fn random_group(random: &mut Random, topics: u32, partitions: u32, members: u32, most: u32) -> Workload {
    let topic = |number| Topic {
        name: format!("topic-{number:02}"),
        partitions: random.within(0, partitions),
        racks: Vec::new(),
    };
    let all: Vec<Topic> = (0..topics).map(topic).collect();
    let member = |number| {
        let many = random.within(1, most);
        let mut list = random.choose(many, topics);
        list.sort_unstable();
        Member {
            id: format!("member-{number:02}"),
            topics: Arc::from(list),
            owned: Vec::new(),
            generation: None,
            rack: None,
        }
    };
    Workload { members: (0..members).map(member).collect(), topics: all, deleted: Vec::new() }
}

fn workloads() -> Result<(), String> {
    println!("## Workloads\n");
    println!(
        "Every shape of the benches with at most {EXACT_PAIRS} pairs; else its small size, if that fits.\n"
    );
    println!("| workload | event | pairs | Σ greedy | Σ exact | excess | max | greedy ms | exact ms |");
    println!("|---|---|---:|---:|---:|---:|---|---:|---:|");
    let racks = ["random-10k+racks3", "windows+racks3", "all-but-one+racks3"];
    for shape in SHAPES.iter().copied().chain(racks.into_iter().filter_map(Shape::find)) {
        let fresh = shape.fresh(SEED);
        let (shape, fresh, name) = if pairs(&fresh) <= EXACT_PAIRS {
            (shape, fresh, shape.full_name())
        } else {
            let small = shape.small();
            (small, small.fresh(SEED), format!("{}, small", shape.full_name()))
        };
        let settled = fresh.settled();
        for event in EVENTS {
            let workload = event.apply(&shape, &settled, SEED);
            let pairs = pairs(&workload);
            if pairs > EXACT_PAIRS {
                continue;
            }
            let pair = plan_both(&workload.group()).map_err(|error| format!("{name}, {event}: {error}"))?;
            println!(
                "| {name} | {} | {pairs} | {} | {} | {:.2} % | {} → {} | {:.2} | {:.2} |",
                event.name(),
                pair.greedy,
                pair.exact,
                pair.excess(),
                pair.greedy_max,
                pair.exact_max,
                pair.greedy_ms,
                pair.exact_ms,
            );
        }
    }
    Ok(())
}

fn pairs(workload: &Workload) -> usize {
    workload.members.iter().map(|member| member.topics.len()).sum()
}

fn plan_both(group: &Group) -> Result<Pair, String> {
    let greedy = plan(group, Spread::Greedy)?;
    let exact = plan(group, Spread::Exact)?;
    if exact.0 > greedy.0 {
        return Err(format!("the exact plan has {}, the greedy one {}", exact.0, greedy.0));
    }
    Ok(Pair {
        greedy: greedy.0,
        exact: exact.0,
        greedy_max: greedy.1,
        exact_max: exact.1,
        greedy_ms: greedy.2,
        exact_ms: exact.2,
    })
}

/// Σ, the most of one topic at one member, and milliseconds.
fn plan(group: &Group, spread: Spread) -> Result<(u64, usize, f64), String> {
    let assignor = Assignor::new(Config::new().spread(spread));
    let (mut scratch, mut plan) = (Scratch::with_shape(group.shape()), Plan::with_shape(group.shape()));
    let mut again =
        || assignor.assign_into(group, &mut scratch, &mut plan).map_err(|error| error.to_string());
    again()?;
    let start = Instant::now();
    let outcome = again()?;
    let time = start.elapsed().as_secs_f64() * 1e3;
    if outcome.spread != spread {
        return Err(format!("asked for {spread:?}, got {:?}", outcome.spread));
    }
    check(group, &plan, &outcome)?;
    Ok((spread_of(group, &plan), most_of_a_topic(group, &plan), time))
}

fn most_of_a_topic(group: &Group, plan: &Plan) -> usize {
    let topology = group.topology();
    let of_member = |member| {
        let same = |a: &_, b: &_| topology.topic_of(*a) == topology.topic_of(*b);
        plan.target(member).chunk_by(same).map(<[_]>::len).max().unwrap_or(0)
    };
    group.member_indices().map(of_member).max().unwrap_or(0)
}
