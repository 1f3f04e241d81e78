//! A round whose memory fits allocates nothing: a counting allocator looks on.
//!
//! One test in one binary, because the counter sees every thread of the process.

mod counter;
mod leader;
mod shapes;
#[path = "../support/mod.rs"]
mod support;

use std::fs;
use std::path::PathBuf;

use serde_json::Value;
use tenure::group::GroupBuilder;
use tenure::plan::{Assignor, Batch, Config, Objective, Outcome, Plan, Scratch, Spread, Strategy};
use tenure::revoke::{Mode, Round};
use tenure::verify::Certificate;
use tenure::{Group, Shape};

use counter::allocations;
use support::snapshot::Snapshot;

#[test]
fn a_round_that_fits_allocates_nothing() {
    assert_eq!(allocations(|| Vec::<u64>::with_capacity(100)), 1, "the counter counts");
    assert_eq!(allocations(|| 17), 0, "and counts nothing else");
    for (name, snapshot) in snapshots() {
        let group = snapshot.group(0);
        for strategy in Strategy::ALL {
            for objective in [Objective::RackThenMoves, Objective::MovesThenRack] {
                let assignor = Assignor::new(Config::new().strategy(strategy).objective(objective));
                fresh_memory(&name, &assignor, &group);
            }
        }
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    for (name, rounds) in shapes::all() {
        for strategy in Strategy::ALL {
            let assignor = Assignor::new(Config::new().strategy(strategy));
            used_memory(&name, &assignor, &rounds, false, 0);
        }
        for objective in [Objective::RackThenMoves, Objective::MovesThenRack] {
            let config = Config::new().objective(objective);
            // In a pool, so that handing work to it from outside is not counted.
            pool.install(|| used_memory(&name, &Assignor::new(config), &rounds, false, 3));
            let exact = Assignor::new(config.spread(Spread::Exact));
            used_memory(&name, &exact, &rounds, true, 0);
            exact_without_reserve(&name, &exact, &rounds);
        }
    }
    building_again();
    leader::warm_rounds();
    leader::warm_compact_rounds();
    // Pools last: their threads start and end when they please, and are counted.
    leader::in_a_pool();
    many_groups();
}

/// Every case of the datasets.
fn snapshots() -> Vec<(String, Snapshot)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../datasets/cases/assignment");
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let json = files.filter(|path| path.extension().is_some_and(|extension| extension == "json"));
    let read = |path: PathBuf| {
        let value: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        (path.display().to_string(), Snapshot::read(&value["snapshot"]).unwrap())
    };
    let all: Vec<_> = json.map(read).collect();
    assert!(all.len() > 40, "cases are missing: {}", all.len());
    all
}

/// Memory made for the shape serves from the first round on.
fn fresh_memory(name: &str, assignor: &Assignor, group: &Group) {
    let shape = group.shape();
    let (mut scratch, mut plan) = (Scratch::with_shape(shape), Plan::with_shape(shape));
    let mut certificate = Certificate::with_shape(shape);
    let count = allocations(|| round(assignor, group, &mut scratch, &mut plan));
    assert_eq!(count, 0, "{name}, {assignor:?}");
    let count = allocations(|| {
        assignor.certify_into(group, &mut scratch, &mut plan, &mut certificate).map(drop).is_ok()
    });
    assert_eq!(count, 0, "{name}, {assignor:?}: certificate");
}

/// Memory made for the largest round serves all of them, from the first one on.
fn used_memory(
    name: &str,
    assignor: &Assignor,
    rounds: &[(&'static str, Group)],
    exact: bool,
    workers: usize,
) {
    let shape = rounds.iter().fold(Shape::default(), |shape, (_, group)| shape.union(&group.shape()));
    let (mut scratch, mut plan) = (Scratch::with_workers(shape, workers), Plan::with_shape(shape));
    if exact {
        scratch.reserve_exact_spread();
    }
    for (event, group) in rounds.iter().chain(rounds) {
        let mut spread = Spread::Greedy;
        let count = allocations(|| {
            let (outcome, sum) = round(assignor, group, &mut scratch, &mut plan);
            spread = outcome.spread;
            sum
        });
        assert_eq!(count, 0, "{name}, {event}, {assignor:?}, {workers} workers");
        assert_eq!(spread == Spread::Exact, exact, "{name}, {event}");
    }
}

/// An exact round asks for its memory once, if nobody did before: the count above could fail.
fn exact_without_reserve(name: &str, assignor: &Assignor, rounds: &[(&'static str, Group)]) {
    let (_, group) = &rounds[0];
    let shape = group.shape();
    let (mut scratch, mut plan) = (Scratch::with_shape(shape), Plan::with_shape(shape));
    let cold = allocations(|| round(assignor, group, &mut scratch, &mut plan));
    let warm = allocations(|| round(assignor, group, &mut scratch, &mut plan));
    assert!(cold > 0 && warm == 0, "{name}: {cold} allocations, then {warm}");
}

/// The plan, the cooperative difference in both modes, and reading all of it.
fn round(assignor: &Assignor, group: &Group, scratch: &mut Scratch, plan: &mut Plan) -> (Outcome, u64) {
    let outcome = assignor.assign_into(group, scratch, plan).unwrap();
    let mut sum = 0u64;
    for mode in [Mode::Shipped, Mode::Draft] {
        let round = Round::new(group, plan, mode);
        sum += u64::from(round.rejoin()) + round.withheld().map(|p| u64::from(p.get())).sum::<u64>();
        for member in group.member_indices() {
            sum += round.assignment(member).map(|p| u64::from(p.get())).sum::<u64>();
            sum += round.kept(member).map(|p| u64::from(p.get())).sum::<u64>();
            sum += round.added(member).map(|p| u64::from(p.get())).sum::<u64>();
            sum += round.revoked(member).map(|p| u64::from(p.get())).sum::<u64>();
            sum += round.returned(member).count() as u64 + round.revoked_foreign(member).count() as u64;
            sum += plan.target(member).len() as u64 + u64::from(plan.load(member));
            sum += group.id(member).len() as u64;
        }
    }
    (outcome, sum)
}

/// A builder and a group that were used for a group of the same size build the next one for nothing.
fn building_again() {
    let topology = tenure::Topology::builder().topic("orders", 64).topic("clicks", 32).build().unwrap();
    let ids: Vec<String> = (0..16).map(|member| format!("consumer-{member}")).collect();
    let fill = |builder: &mut GroupBuilder, generation: i32| {
        builder.reset(&topology);
        for (at, id) in ids.iter().enumerate() {
            let mut member = builder.member(id);
            member.topic("orders").generation(generation).instance(id);
            if at % 2 == 0 {
                member.topic("clicks").topic("not-there");
            }
            let from = at as i32 * 4;
            member.owned_range("orders", from, from + 3).owned("gone", [1]);
        }
    };
    let (mut builder, mut group) = (Group::builder(&topology), Group::default());
    // The builder and the group exchange their texts, so two rounds warm both.
    for generation in 1..3 {
        fill(&mut builder, generation);
        builder.build_into(&mut group).unwrap();
    }
    let count = allocations(|| {
        fill(&mut builder, 3);
        builder.build_into(&mut group).is_ok()
    });
    assert_eq!(count, 0, "building a group again");
}

/// Many groups at once, again: nothing is asked for, neither by one thread nor by the threads of a pool.
fn many_groups() {
    let groups: Vec<Group> =
        (0..4).flat_map(|seed| snapshots().into_iter().map(move |one| one.1.group(seed))).collect();
    for strategy in Strategy::ALL {
        let assignor = Assignor::new(Config::new().strategy(strategy));
        let mut batch = Batch::new();
        let mut plan = || assignor.plan_many(&groups, &mut batch).len();
        let cold = allocations(&mut plan);
        assert!(cold > groups.len() as u64, "{cold}: the count can fail");
        let least = (0..20).map(|_| allocations(&mut plan)).min();
        assert_eq!(least, Some(0), "{strategy}: many groups");
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        // The pool itself may ask for memory when a thread wakes or steals for the first time.
        let least = (0..50).map(|_| pool.install(|| allocations(&mut plan))).min();
        assert_eq!(least, Some(0), "{strategy}: many groups in a pool");
    }
}
