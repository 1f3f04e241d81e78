//! Thousands of random groups of up to 30 members and 60 partitions against the minimum-cost flow.

use std::collections::{BTreeMap, BTreeSet};

use tenure::plan::{Assignor, Config, Objective, Plan, Scratch, Strategy, Verdict};
use tenure::verify::{self, Certificate, Proposal};

use crate::flow;
use crate::problem::Problem;
use crate::support::answer::Answer;
use crate::support::course;
use crate::support::judge;
use crate::support::random::Random;
use crate::support::snapshot::{Member, Snapshot, Topic};
use tenure::Protocol;
use tenure::revoke::{Mode, Round};

/// A random group of one of several shapes.
pub(crate) fn group(random: &mut Random) -> Snapshot {
    let topics = 1 + random.below(12);
    let members = 1 + random.below(30);
    let by_rack = random.one_in(3);
    let racks = |random: &mut Random| {
        let known: Vec<String> = (0..3).filter(|_| random.one_in(2)).map(|rack| format!("r{rack}")).collect();
        if random.one_in(5) { Vec::new() } else { known }
    };
    let mut left = 60;
    let mut all = BTreeMap::new();
    for topic in 0..topics {
        let most = if random.one_in(4) { left.min(30) } else { left.min(6) };
        let partitions = random.below(most + 1);
        left -= partitions;
        let racks = if by_rack { (0..partitions).map(|_| racks(random)).collect() } else { Vec::new() };
        all.insert(format!("t{topic:02}"), Topic { partitions: partitions as u32, racks });
    }
    let names: Vec<String> = all.keys().cloned().collect();
    let shape = random.below(5);
    let subscription = |random: &mut Random, member: usize| -> Vec<String> {
        let chosen = |keep: &mut dyn FnMut(usize) -> bool| {
            (0..topics).filter(|&t| keep(t)).map(|t| names[t].clone()).collect()
        };
        match shape {
            0 => names.clone(),
            1 if member == 0 => names[..1].to_vec(),
            1 => names.clone(),
            2 => chosen(&mut |t| (t + topics - member % topics) % topics < 3),
            3 => chosen(&mut |t| t != member % topics),
            _ => {
                let width = 1 + random.below(4);
                chosen(&mut |_| random.one_in(width))
            }
        }
    };
    let mut group = BTreeMap::new();
    for number in 0..members {
        let topics = subscription(random, number);
        let rack = (by_rack && !random.one_in(5)).then(|| format!("r{}", random.below(4)));
        let member = Member {
            topics,
            owned: Vec::new(),
            generation: 5,
            instance: None,
            rack,
            protocol: Protocol::Cooperative,
        };
        group.insert(format!("m{number:02}"), member);
    }
    let mut snapshot = Snapshot { strategy: Strategy::CooperativeSticky, topics: all, members: group };
    claim(random, &mut snapshot);
    snapshot
}

/// Claims as history leaves them: of all, of most, of a few members; some stale, double or no longer wanted.
pub(crate) fn claim(random: &mut Random, snapshot: &mut Snapshot) {
    let ids: Vec<String> = snapshot.members.keys().cloned().collect();
    let (owned, few, odd) = (random.below(4), 1 + random.below(ids.len()), random.one_in(3));
    let partitions: Vec<(String, u32)> =
        snapshot.topics.iter().flat_map(|(name, t)| (0..t.partitions).map(|p| (name.clone(), p))).collect();
    for (topic, p) in partitions {
        if random.below(4) > owned {
            continue;
        }
        let wanting: Vec<&String> =
            ids.iter().take(few).filter(|id| snapshot.members[*id].subscribes(&topic)).collect();
        let mut claimants = Vec::new();
        if !wanting.is_empty() {
            claimants.push(wanting[random.below(wanting.len())].clone());
        }
        if odd && random.one_in(6) {
            claimants.push(ids[random.below(ids.len())].clone());
        }
        for id in claimants {
            let member = snapshot.members.get_mut(&id).unwrap();
            member.owned.push((topic.clone(), p as i32, p as i32));
        }
    }
    if odd {
        for member in snapshot.members.values_mut() {
            if random.one_in(5) {
                member.generation = random.below(7) as i32 - 1;
            }
            if random.one_in(8) {
                member.owned.push(("gone".to_owned(), 0, 2));
            }
            if random.one_in(8) {
                member.protocol = Protocol::Eager;
            }
        }
    }
}

fn groups() -> u64 {
    std::env::var("TENURE_GROUPS").ok().and_then(|text| text.parse().ok()).unwrap_or(2_000)
}

#[test]
fn random_groups_are_planned_best() {
    for seed in 0..groups() {
        let mut random = Random::new(seed);
        let snapshot = group(&mut random);
        let (problem, names) = Problem::of(&snapshot);
        let by_rack = snapshot.topics.values().any(|topic| !topic.racks.is_empty());
        let objectives = [Objective::RackThenMoves, Objective::MovesThenRack];
        for objective in objectives.into_iter().take(1 + usize::from(by_rack)) {
            let group = snapshot.group(seed);
            let assignor = Assignor::new(Config::new().objective(objective));
            let (plan, outcome) = assignor.assign(&group).unwrap();
            let answer = Answer::read(&Round::new(&group, &plan, Mode::Shipped));
            judge::always(&snapshot, &answer).unwrap_or_else(|fault| panic!("seed {seed}: {fault}"));
            let worth = problem.worth_of(&names, &snapshot, &answer.target, objective);
            let best = flow::best(&problem, objective);
            assert_eq!(worth, best, "seed {seed}, {objective:?}");
            let proven = (outcome.proof.balance, outcome.proof.moves);
            assert_eq!(proven, (Verdict::Optimal, Verdict::Optimal), "seed {seed}, {objective:?}");
            let proposal = Proposal::from_lists(&group, |m| plan.target(m).iter().copied());
            let distance = verify::measure(&group, &proposal, objective).unwrap();
            assert!(distance.optimal(), "seed {seed}, {objective:?}: the verifier errs");
            let shape = group.shape();
            let (mut scratch, mut again) = (Scratch::with_shape(shape), Plan::with_shape(shape));
            let mut certificate = Certificate::with_shape(shape);
            assignor.certify_into(&group, &mut scratch, &mut again, &mut certificate).unwrap();
            for certificate in [&certificate, &distance.best.certificate] {
                let verdict = verify::check(&group, &proposal, certificate);
                assert!(verdict.is_ok(), "seed {seed}, {objective:?}: {verdict:?}");
            }
        }
    }
}

/// Hundreds of members, where searches go wide; nothing claimed, half of it, and with racks.
#[test]
fn wide_groups_are_planned_best() {
    for seed in 0..6 {
        let mut random = Random::new(seed ^ 0x71de);
        let (half, by_rack) = (seed % 2 == 1, seed % 3 == 2);
        let (topics, members) = (600, 700);
        let mut snapshot = Snapshot {
            strategy: Strategy::CooperativeSticky,
            topics: BTreeMap::new(),
            members: BTreeMap::new(),
        };
        for topic in 0..topics {
            let rack = by_rack.then(|| vec![format!("r{}", topic % 3)]);
            let racks = rack.map_or_else(Vec::new, |rack| vec![rack; 7]);
            snapshot.topics.insert(format!("t{topic:03}"), Topic { partitions: 7, racks });
        }
        for number in 0..members {
            let width = 1 + random.below(12);
            let chosen: BTreeSet<usize> = (0..width).map(|_| random.below(topics)).collect();
            let topics: Vec<String> = chosen.iter().map(|topic| format!("t{topic:03}")).collect();
            let rack = by_rack.then(|| format!("r{}", random.below(3)));
            let (owned, protocol) = (Vec::new(), Protocol::Cooperative);
            let member = Member { topics, owned, generation: 5, instance: None, rack, protocol };
            snapshot.members.insert(format!("m{number:03}"), member);
        }
        if half {
            claim(&mut random, &mut snapshot);
        }
        let group = snapshot.group(seed);
        let assignor = Assignor::default();
        let (plan, outcome) = assignor.assign(&group).unwrap();
        assert_eq!((outcome.proof.balance, outcome.proof.moves), (Verdict::Optimal, Verdict::Optimal));
        let proposal = Proposal::from_lists(&group, |m| plan.target(m).iter().copied());
        let shape = group.shape();
        let (mut scratch, mut again) = (Scratch::with_shape(shape), Plan::with_shape(shape));
        let mut certificate = Certificate::with_shape(shape);
        assignor.certify_into(&group, &mut scratch, &mut again, &mut certificate).unwrap();
        let verdict = verify::check(&group, &proposal, &certificate);
        assert!(verdict.is_ok(), "seed {seed}: {verdict:?}");
    }
}

/// Cooperative rounds end after the second answer, in a plan as good as the one that was aimed at.
#[test]
fn rounds_settle_in_the_best_plan() {
    for seed in 0..groups() / 4 {
        let mut random = Random::new(seed ^ 0x5e77_1ed0);
        let snapshot = group(&mut random);
        let (problem, names) = Problem::of(&snapshot);
        let by_rack = snapshot.topics.values().any(|topic| !topic.racks.is_empty());
        let objectives = [Objective::RackThenMoves, Objective::MovesThenRack];
        for objective in objectives.into_iter().take(1 + usize::from(by_rack)) {
            let assignor = Assignor::new(Config::new().objective(objective));
            let course = course::run(&snapshot, seed, &mut |group| assignor.assign(group).unwrap());
            let course = course.unwrap_or_else(|fault| panic!("seed {seed}: {fault}"));
            assert!(course.rounds() <= 2, "seed {seed}: {} rounds", course.rounds());
            let worth = problem.worth_of(&names, &snapshot, &course.settled().given, objective);
            assert_eq!(worth, flow::best(&problem, objective), "seed {seed}, {objective:?}");
        }
    }
}

#[test]
fn the_order_of_names_changes_nothing() {
    for seed in 0..groups() / 8 {
        let snapshot = group(&mut Random::new(seed ^ 0x0_4de4));
        let answer = |order: u64| {
            let group = snapshot.group(order);
            let (plan, outcome) = Assignor::default().assign(&group).unwrap();
            (Answer::read(&Round::new(&group, &plan, Mode::Shipped)), outcome)
        };
        let first = answer(0);
        for order in 1..4 {
            assert!(answer(order) == first, "seed {seed}, order {order}");
        }
    }
}
