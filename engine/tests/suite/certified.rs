//! The planner's own certificates, judged by the room that trusts no planner.

use tenure::plan::{Assignor, Config, Plan, Scratch, Verdict};
use tenure::rack::Objective;
use tenure::verify::{self, Certificate, Proposal};
use tenure::{Group, Topology};

use crate::support::random::Random;

/// Groups of one to `members` members over one to `topics` topics, many with contested and stale claims.
fn group(random: &mut Random, topics: usize, partitions: usize, members: usize) -> Group {
    let racks = random.one_in(3);
    let mut topology = Topology::builder();
    let counts: Vec<usize> = (0..1 + random.below(topics)).map(|_| random.below(partitions + 1)).collect();
    for (topic, &count) in counts.iter().enumerate() {
        let name = format!("t{topic:02}");
        if racks {
            let mut set =
                || (0..random.below(3)).map(|_| format!("r{}", random.below(3))).collect::<Vec<_>>();
            topology.add_topic_with_racks(&name, (0..count).map(|_| set()).collect());
        } else {
            topology.add_topic(&name, count as u32);
        }
    }
    let topology = topology.build().unwrap();
    let mut builder = Group::builder(&topology);
    let (narrow, claims) = (2 + random.below(4), 1 + random.below(4));
    for member in 0..1 + random.below(members) {
        let mut member = builder.member(&format!("m{member:02}"));
        if racks && !random.one_in(4) {
            member.rack(&format!("r{}", random.below(4)));
        }
        member.generation(i32::from(!random.one_in(5)));
        for (topic, &count) in counts.iter().enumerate() {
            let name = format!("t{topic:02}");
            if random.one_in(narrow) || random.one_in(3) {
                member.topic(&name);
            }
            for partition in 0..count {
                if random.one_in(claims * 3) {
                    member.owned(&name, [partition as i32]);
                }
            }
        }
    }
    builder.build().unwrap()
}

fn judge(seed: u64, rounds: usize, topics: usize, partitions: usize, members: usize) {
    let (mut scratch, mut plan, mut certificate) =
        (Scratch::default(), Plan::default(), Certificate::default());
    for round in 0..rounds {
        let mut random = Random::new(seed + round as u64);
        let group = group(&mut random, topics, partitions, members);
        scratch.reset(group.shape());
        plan.reset(group.shape());
        for objective in [Objective::RackThenMoves, Objective::MovesThenRack] {
            let assignor = Assignor::new(Config::new().objective(objective));
            let outcome = assignor.certify_into(&group, &mut scratch, &mut plan, &mut certificate).unwrap();
            let proposal = Proposal::from_lists(&group, |member| plan.target(member).iter().copied());
            let verdict = verify::check(&group, &proposal, &certificate);
            assert!(verdict.is_ok(), "seed {} {objective:?} {outcome:?}: {verdict:?}", seed + round as u64);
            assert_eq!(outcome.proof.balance, Verdict::Optimal, "seed {}", seed + round as u64);
            assert_eq!(outcome.proof.moves, Verdict::Optimal, "seed {}", seed + round as u64);
        }
    }
}

#[test]
fn small_groups_prove_themselves() {
    judge(1_000, 3_000, 4, 5, 5);
}

#[test]
fn middling_groups_prove_themselves() {
    judge(50_000, 600, 14, 9, 16);
}

#[test]
fn larger_groups_prove_themselves() {
    judge(90_000, 60, 40, 30, 60);
}

/// Groups of several islands, so that there are blocks to share out.
fn islands(random: &mut Random, islands: usize) -> Group {
    let mut topology = Topology::builder();
    let mut counts = Vec::new();
    for topic in 0..islands * 3 {
        counts.push(random.below(8) + 1);
        topology.add_topic(&format!("t{topic:03}"), counts[topic] as u32);
    }
    let topology = topology.build().unwrap();
    let mut builder = Group::builder(&topology);
    for member in 0..islands * 4 {
        let mut member_builder = builder.member(&format!("m{member:03}"));
        let own = member / 4 * 3..member / 4 * 3 + 3;
        member_builder.generation(1);
        for topic in own {
            let name = format!("t{topic:03}");
            if !random.one_in(3) {
                member_builder.topic(&name);
            }
            for partition in 0..counts[topic] {
                if random.one_in(3) {
                    member_builder.owned(&name, [partition as i32]);
                }
            }
        }
    }
    builder.build().unwrap()
}

#[test]
fn several_threads_give_the_same_bytes() {
    let assignor = Assignor::new(Config::new());
    let mut moved = 0;
    for seed in 0..200 {
        let mut random = Random::new(7_000 + seed);
        let group = if seed % 2 == 0 { islands(&mut random, 8) } else { group(&mut random, 14, 9, 16) };
        let (alone, outcome) = assignor.assign(&group).unwrap();
        for workers in [1, 2, 3, 8] {
            let mut scratch = Scratch::with_workers(group.shape(), workers);
            let (mut plan, mut certificate) = (Plan::with_shape(group.shape()), Certificate::default());
            let together = assignor.certify_into(&group, &mut scratch, &mut plan, &mut certificate).unwrap();
            assert_eq!(together, outcome, "seed {seed}, {workers} workers");
            for member in group.member_indices() {
                assert_eq!(plan.target(member), alone.target(member), "seed {seed}, {workers} workers");
            }
            let proposal = Proposal::from_lists(&group, |member| plan.target(member).iter().copied());
            verify::check(&group, &proposal, &certificate).unwrap();
        }
        moved += outcome.stats.moves;
    }
    assert!(moved > 100, "the workers had something to do");
}
