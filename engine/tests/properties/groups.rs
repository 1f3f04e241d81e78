//! Random groups with shrinking: names, claims and protocols of every odd kind.

use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use tenure::Protocol;
use tenure::plan::{Assignor, Config, Objective, Plan, Scratch, Strategy as Assignment};

use crate::problem::Problem;
use crate::support::course;
use crate::support::judge::{self, Fault};
use crate::support::snapshot::{Member, Snapshot, Topic};

/// Topic names; the last sorts before the one ahead of it in UTF-16 and after it in UTF-8.
const TOPICS: [&str; 6] = ["", "a", "t", "t1", "\u{ff5e}", "\u{10000}"];
const MEMBERS: [&str; 6] = ["", "a", "b", "c-10", "\u{ff5e}", "\u{10000}"];
const RACKS: [&str; 3] = ["r0", "r1", "r2"];

fn topic() -> impl Strategy<Value = Topic> {
    let racks = vec(proptest::sample::subsequence(RACKS.to_vec(), 0..=2), 0..4);
    prop_oneof![
        3 => (0..5u32).prop_map(|partitions| Topic { partitions, racks: Vec::new() }),
        1 => racks.prop_map(|racks| Topic {
            partitions: racks.len() as u32,
            racks: racks.into_iter().map(|set| set.into_iter().map(str::to_owned).collect()).collect(),
        }),
    ]
}

fn member() -> impl Strategy<Value = Member> {
    let name = || proptest::sample::select(TOPICS.to_vec()).prop_map(str::to_owned);
    let claim = (name(), -2..6i32, 0..3i32).prop_map(|(topic, from, more)| (topic, from, from + more));
    let rack = option::of(proptest::sample::select(vec!["r0", "r1", "r9"]).prop_map(str::to_owned));
    let instance = option::of("[a-c]{1,2}");
    let generation = prop_oneof![4 => Just(3), 2 => -1..5i32, 1 => Just(i32::MAX)];
    let eager = proptest::bool::weighted(0.2);
    (vec(name(), 0..6), vec(claim, 0..4), generation, rack, instance, eager).prop_map(
        |(topics, owned, generation, rack, instance, eager)| Member {
            topics,
            owned,
            generation,
            instance,
            rack,
            protocol: if eager { Protocol::Eager } else { Protocol::Cooperative },
        },
    )
}

fn snapshot() -> impl Strategy<Value = Snapshot> {
    let topics = btree_map(proptest::sample::select(TOPICS.to_vec()).prop_map(str::to_owned), topic(), 0..5);
    let members =
        btree_map(proptest::sample::select(MEMBERS.to_vec()).prop_map(str::to_owned), member(), 0..5);
    let strategy = prop_oneof![
        6 => Just(Assignment::CooperativeSticky),
        1 => Just(Assignment::Sticky),
        1 => Just(Assignment::Range),
        1 => Just(Assignment::RoundRobin),
    ];
    (strategy, topics, members).prop_map(|(strategy, topics, members)| Snapshot { strategy, topics, members })
}

/// What must hold of any group at all.
fn judge(snapshot: &Snapshot, objective: Objective) -> Result<(), Fault> {
    let assignor = Assignor::new(Config::new().strategy(snapshot.strategy).objective(objective));
    let course = course::run(snapshot, 0, &mut |group| assignor.assign(group).unwrap())?;
    let (mut scratch, mut plan) = (Scratch::default(), Plan::default());
    let again = course::run(snapshot, 7, &mut |group| {
        scratch.reset(group.shape());
        plan.reset(group.shape());
        let outcome = assignor.assign_into(group, &mut scratch, &mut plan).unwrap();
        (plan.clone(), outcome)
    })?;
    if course.answers != again.answers || course.outcomes != again.outcomes {
        return Err(Fault::Differs("another order of names, and used memory".to_owned()));
    }
    let stats = course.outcomes[0].stats;
    let target = &course.first().target;
    let seen = (judge::mismatches(snapshot, target), judge::moves(snapshot, target).len());
    if seen != (stats.rack_mismatches as usize, stats.moves as usize) {
        return Err(Fault::Expected(format!("mismatches and moves {seen:?}, the plan says {stats:?}")));
    }
    let (problem, names) = Problem::of(snapshot);
    if !matches!(snapshot.strategy, Assignment::CooperativeSticky | Assignment::Sticky)
        || problem.plans() > 20_000
    {
        return Ok(());
    }
    let best = problem.best(objective);
    // Only cooperative rounds go on until what was withheld is handed out.
    let settled = (snapshot.strategy == Assignment::CooperativeSticky).then(|| &course.settled().given);
    for owned in [Some(target), settled].into_iter().flatten() {
        let worth = problem.worth_of(&names, snapshot, owned, objective);
        if worth.loads != best.loads {
            return Err(Fault::Uneven { loads: worth.loads, best: best.loads });
        }
        if worth.costs != best.costs {
            return Err(Fault::Costly { seen: worth.costs, best: best.costs });
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_group_is_planned_by_the_rules(snapshot in snapshot(), moves_first: bool) {
        let objective = if moves_first { Objective::MovesThenRack } else { Objective::RackThenMoves };
        if let Err(fault) = judge(&snapshot, objective) {
            prop_assert!(false, "{fault}");
        }
    }
}
