//! The exact spread: least Σ count² over topics and members among all plans equally good in the rest.

use std::collections::BTreeMap;

use tenure::plan::{
    Assignor, Config, EXACT_PAIRS, Objective, Outcome, Plan, Scratch, Spread, Strategy, spread_of,
};
use tenure::revoke::{Mode, Round};
use tenure::verify::{self, Certificate, Proposal};
use tenure::{Group, Protocol, Topology};

use crate::larger;
use crate::problem::{Problem, Worth};
use crate::support::answer::{Answer, Owned, Partition};
use crate::support::course;
use crate::support::judge;
use crate::support::random::Random;
use crate::support::snapshot::{Member, Snapshot, Topic};

const OBJECTIVES: [Objective; 2] = [Objective::RackThenMoves, Objective::MovesThenRack];

fn assignor(objective: Objective, spread: Spread) -> Assignor {
    Assignor::new(Config::new().objective(objective).spread(spread))
}

/// A group small enough to try all its plans: up to 4 members and 8 partitions in up to 3 topics.
fn small(random: &mut Random) -> Snapshot {
    let by_rack = random.one_in(2);
    let rack = |random: &mut Random| format!("r{}", random.below(3));
    let mut topics = BTreeMap::new();
    let mut left = 1 + random.below(8);
    for number in 0..1 + random.below(3) {
        let partitions = random.below(left + 1);
        left -= partitions;
        let mut racks = Vec::new();
        for _ in 0..if by_rack { partitions } else { 0 } {
            let mut set: Vec<String> = (0..random.below(3)).map(|_| rack(random)).collect();
            set.sort();
            set.dedup();
            racks.push(set);
        }
        topics.insert(format!("t{number}"), Topic { partitions: partitions as u32, racks });
    }
    let alike = random.one_in(4);
    let mut members = BTreeMap::new();
    for number in 0..1 + random.below(4) {
        let wanted = topics.keys().filter(|_| alike || !random.one_in(3)).cloned().collect();
        let member = Member {
            topics: wanted,
            owned: Vec::new(),
            generation: 5,
            instance: None,
            rack: (by_rack && !random.one_in(4)).then(|| rack(random)),
            protocol: Protocol::Cooperative,
        };
        members.insert(format!("m{number}"), member);
    }
    let mut snapshot = Snapshot { strategy: Strategy::CooperativeSticky, topics, members };
    larger::claim(random, &mut snapshot);
    snapshot
}

/// Counted from the names alone.
fn spread(owned: &Owned) -> u64 {
    let mut counts: BTreeMap<(&String, &String), u64> = BTreeMap::new();
    for (member, partitions) in owned {
        for (topic, _) in partitions {
            *counts.entry((member, topic)).or_default() += 1;
        }
    }
    counts.values().map(|count| count * count).sum()
}

/// The best of all plans, spread last.
fn best(problem: &Problem, names: &[Partition], objective: Objective) -> (Worth, u64) {
    let topics: Vec<&String> = names.iter().map(|name| &name.0).collect();
    let judge = |chosen: &[usize]| {
        let mut counts: BTreeMap<(usize, &String), u64> = BTreeMap::new();
        for (&m, &topic) in chosen.iter().zip(&topics) {
            *counts.entry((m, topic)).or_default() += 1;
        }
        (problem.worth(chosen, objective), counts.values().map(|count| count * count).sum())
    };
    let mut at = vec![0; problem.items.len()];
    let chosen = |at: &[usize]| -> Vec<usize> {
        at.iter().zip(&problem.items).map(|(&at, item)| item.subscribers[at]).collect()
    };
    let mut best = judge(&chosen(&at));
    while let Some(turn) = (0..at.len()).find(|&i| at[i] + 1 < problem.items[i].subscribers.len()) {
        at[..turn].fill(0);
        at[turn] += 1;
        best = best.min(judge(&chosen(&at)));
    }
    best
}

#[test]
fn small_groups_are_spread_best() {
    let (mut scratch, mut plan) = (Scratch::default(), Plan::default());
    let mut better = 0;
    for seed in 0..6_000 {
        let snapshot = small(&mut Random::new(seed ^ 0x5b4ead));
        let (problem, names) = Problem::of(&snapshot);
        if problem.plans() > 20_000 {
            continue;
        }
        let group = snapshot.group(seed);
        for objective in OBJECTIVES {
            scratch.reset(group.shape());
            plan.reset(group.shape());
            let exact = assignor(objective, Spread::Exact);
            let outcome = exact.assign_into(&group, &mut scratch, &mut plan).unwrap();
            assert_eq!(outcome.spread, Spread::Exact, "seed {seed}, {objective:?}");
            let answer = Answer::read(&Round::new(&group, &plan, Mode::Shipped));
            judge::always(&snapshot, &answer).unwrap_or_else(|fault| panic!("seed {seed}: {fault}"));
            let seen =
                (problem.worth_of(&names, &snapshot, &answer.target, objective), spread(&answer.target));
            assert_eq!(seen, best(&problem, &names, objective), "seed {seed}, {objective:?}: {snapshot:?}");
            assert_eq!(spread_of(&group, &plan), seen.1, "seed {seed}");
            let (greedy, _) = assignor(objective, Spread::Greedy).assign(&group).unwrap();
            better += u32::from(spread_of(&group, &greedy) > seen.1);
        }
    }
    assert!(better > 20, "only {better} groups tell exact from greedy");
}

fn certified(group: &Group, objective: Objective, spread: Spread) -> (Plan, Outcome, Certificate) {
    let shape = group.shape();
    let (mut scratch, mut plan) = (Scratch::with_shape(shape), Plan::with_shape(shape));
    let mut certificate = Certificate::with_shape(shape);
    let outcome =
        assignor(objective, spread).certify_into(group, &mut scratch, &mut plan, &mut certificate).unwrap();
    (plan, outcome, certificate)
}

#[test]
fn exact_is_never_worse_and_stays_proven() {
    for seed in 0..1_000 {
        let snapshot = larger::group(&mut Random::new(seed ^ 0xe8ac_7000));
        let group = snapshot.group(seed);
        for objective in OBJECTIVES {
            let (greedy, before, other) = certified(&group, objective, Spread::Greedy);
            let (exact, after, certificate) = certified(&group, objective, Spread::Exact);
            assert_eq!((before.spread, after.spread), (Spread::Greedy, Spread::Exact), "seed {seed}");
            assert_eq!((before.stats, before.findings), (after.stats, after.findings), "seed {seed}");
            assert!(spread_of(&group, &exact) <= spread_of(&group, &greedy), "seed {seed}, {objective:?}");
            let answer = Answer::read(&Round::new(&group, &exact, Mode::Shipped));
            judge::always(&snapshot, &answer).unwrap_or_else(|fault| panic!("seed {seed}: {fault}"));
            assert_eq!(judge::moves(&snapshot, &answer.target).len(), after.stats.moves as usize);
            assert_eq!(judge::mismatches(&snapshot, &answer.target), after.stats.rack_mismatches as usize);
            let proposal = Proposal::from_lists(&group, |m| exact.target(m).iter().copied());
            for certificate in [&certificate, &other] {
                let verdict = verify::check(&group, &proposal, certificate);
                assert!(verdict.is_ok(), "seed {seed}, {objective:?}: {verdict:?}");
            }
        }
    }
}

/// Where a cycle of exchanges would make topics more even at no cost, the spread was not exact.
///
/// Bellman–Ford over single partitions, in lexicographic costs: balance as squares of loads, then racks and
/// moves, then squares of counts.
#[test]
fn no_exchange_makes_larger_groups_more_even() {
    for seed in 0..400 {
        let snapshot = larger::group(&mut Random::new(seed ^ 0xcec1e));
        let (problem, names) = Problem::of(&snapshot);
        let group = snapshot.group(seed);
        for objective in OBJECTIVES {
            let (plan, _) = assignor(objective, Spread::Exact).assign(&group).unwrap();
            let answer = Answer::read(&Round::new(&group, &plan, Mode::Shipped));
            let owners = judge::owners(&answer.target).unwrap();
            let number: BTreeMap<&String, usize> =
                snapshot.members.keys().enumerate().map(|(at, id)| (id, at)).collect();
            let chosen: Vec<usize> = names.iter().map(|name| number[owners[name]]).collect();
            assert!(!improvable(&problem, &names, &chosen, objective), "seed {seed}, {objective:?}");
        }
    }
}

/// Members, (topic, member) pairs and single partitions as nodes; true if there is a negative cycle.
fn improvable(problem: &Problem, names: &[Partition], chosen: &[usize], objective: Objective) -> bool {
    const SQUARE: i64 = 1;
    const SECOND: i64 = 1 << 20;
    const FIRST: i64 = 1 << 28;
    const LOAD: i64 = 1 << 36;
    let (mismatch, moved) = match objective {
        Objective::RackThenMoves => (FIRST, SECOND),
        _ => (SECOND, FIRST),
    };
    let topics: Vec<&String> = {
        let mut list: Vec<&String> = names.iter().map(|name| &name.0).collect();
        list.dedup();
        list
    };
    let members = problem.members;
    let pair = |item: usize, m: usize| {
        members + topics.iter().position(|topic| **topic == names[item].0).unwrap() * members + m
    };
    let pairs = members + topics.len() * members;
    let sink = pairs + names.len();
    let mut count = vec![0i64; pairs];
    for (item, &m) in chosen.iter().enumerate() {
        count[m] += 1;
        count[pair(item, m)] += 1;
    }
    let mut arcs: Vec<(usize, usize, i64)> = Vec::new();
    for m in 0..members {
        arcs.push((m, sink, LOAD * (2 * count[m] + 1)));
        if count[m] > 0 {
            arcs.push((sink, m, LOAD * (1 - 2 * count[m])));
        }
        for topic in 0..topics.len() {
            let node = members + topic * members + m;
            arcs.push((node, m, SQUARE * (2 * count[node] + 1)));
            if count[node] > 0 {
                arcs.push((m, node, SQUARE * (1 - 2 * count[node])));
            }
        }
    }
    for (at, item) in problem.items.iter().enumerate() {
        let cost = |m: usize| {
            i64::from(item.mismatch[m]) * mismatch
                + i64::from(item.owner.is_some_and(|owner| owner != m)) * moved
        };
        for &m in &item.subscribers {
            if m == chosen[at] {
                arcs.push((pair(at, m), pairs + at, -cost(m)));
            } else {
                arcs.push((pairs + at, pair(at, m), cost(m)));
            }
        }
    }
    let mut distance = vec![0i64; sink + 1];
    for _ in 0..=sink {
        let mut changed = false;
        for &(from, to, cost) in &arcs {
            if distance[from] + cost < distance[to] {
                distance[to] = distance[from] + cost;
                changed = true;
            }
        }
        if !changed {
            return false;
        }
    }
    true
}

/// A canary: the greedy plans are improvable here and there, or the search for exchanges sees nothing.
#[test]
fn exchanges_are_found_in_greedy_plans() {
    let mut found = 0;
    for seed in 0..400 {
        let snapshot = larger::group(&mut Random::new(seed ^ 0xcec1e));
        let (problem, names) = Problem::of(&snapshot);
        let group = snapshot.group(seed);
        let (greedy, _) = assignor(Objective::RackThenMoves, Spread::Greedy).assign(&group).unwrap();
        let (exact, _) = assignor(Objective::RackThenMoves, Spread::Exact).assign(&group).unwrap();
        let number: BTreeMap<&String, usize> =
            snapshot.members.keys().enumerate().map(|(at, id)| (id, at)).collect();
        let answer = Answer::read(&Round::new(&group, &greedy, Mode::Shipped));
        let owners = judge::owners(&answer.target).unwrap();
        let chosen: Vec<usize> = names.iter().map(|name| number[owners[name]]).collect();
        let improvable = improvable(&problem, &names, &chosen, Objective::RackThenMoves);
        assert_eq!(improvable, spread_of(&group, &greedy) > spread_of(&group, &exact), "seed {seed}");
        found += u32::from(improvable);
    }
    assert!(found > 20, "{found}");
}

#[test]
fn a_fresh_uniform_group_has_every_topic_within_one() {
    for (topics, partitions, members) in [(5, 7, 3), (20, 13, 8), (3, 100, 7), (40, 3, 10)] {
        let mut builder = Topology::builder();
        for topic in 0..topics {
            builder.add_topic(&format!("t{topic:02}"), partitions);
        }
        let topology = builder.build().unwrap();
        let mut builder = Group::builder(&topology);
        for member in 0..members {
            let mut member = builder.member(&format!("m{member:02}"));
            for topic in 0..topics {
                member.topic(&format!("t{topic:02}"));
            }
        }
        let group = builder.build().unwrap();
        let (plan, outcome) = assignor(Objective::default(), Spread::Exact).assign(&group).unwrap();
        assert_eq!(outcome.spread, Spread::Exact);
        let (floor, more) = (u64::from(partitions) / members, u64::from(partitions) % members);
        let least = topics * (members * floor * floor + more * (2 * floor + 1));
        assert_eq!(spread_of(&group, &plan), least, "{topics} × {partitions} × {members}");
    }
}

#[test]
fn the_order_of_names_and_used_memory_change_nothing() {
    let (mut scratch, mut used) = (Scratch::default(), Plan::default());
    for seed in 0..200 {
        let snapshot = larger::group(&mut Random::new(seed ^ 0x0_4de5));
        let exact = assignor(Objective::MovesThenRack, Spread::Exact);
        let (plan, outcome) = exact.assign(&snapshot.group(0)).unwrap();
        let first = Answer::read(&Round::new(&snapshot.group(0), &plan, Mode::Shipped));
        for order in 1..4 {
            let group = snapshot.group(order);
            scratch.reset(group.shape());
            used.reset(group.shape());
            let again = exact.assign_into(&group, &mut scratch, &mut used).unwrap();
            let answer = Answer::read(&Round::new(&group, &used, Mode::Shipped));
            assert!(answer == first && again == outcome, "seed {seed}, order {order}");
        }
    }
}

#[test]
fn exact_rounds_settle() {
    for seed in 0..300 {
        let snapshot = larger::group(&mut Random::new(seed ^ 0x5e77_1ed1));
        for objective in OBJECTIVES {
            let exact = assignor(objective, Spread::Exact);
            let course = course::run(&snapshot, seed, &mut |group| exact.assign(group).unwrap());
            let course = course.unwrap_or_else(|fault| panic!("seed {seed}: {fault}"));
            assert!(course.rounds() <= 2, "seed {seed}: {} rounds", course.rounds());
        }
    }
}

#[test]
fn larger_groups_and_other_strategies_keep_the_greedy_spread() {
    let topics = 317;
    let mut builder = Topology::builder();
    for topic in 0..topics {
        builder.add_topic(&format!("t{topic:03}"), 1);
    }
    let topology = builder.build().unwrap();
    let group = |members: usize| {
        let mut builder = Group::builder(&topology);
        for member in 0..members {
            let mut member = builder.member(&format!("m{member:03}"));
            for topic in 0..topics {
                member.topic(&format!("t{topic:03}"));
            }
        }
        builder.build().unwrap()
    };
    let most = EXACT_PAIRS / topics;
    for (members, strategy, spread) in [
        (most, Strategy::Sticky, Spread::Exact),
        (most + 1, Strategy::Sticky, Spread::Greedy),
        (2, Strategy::Range, Spread::Greedy),
        (2, Strategy::RoundRobin, Spread::Greedy),
    ] {
        let assignor = Assignor::new(Config::new().strategy(strategy).spread(Spread::Exact));
        let (_, outcome) = assignor.assign(&group(members)).unwrap();
        assert_eq!(outcome.spread, spread, "{members} members, {strategy}");
    }
}
