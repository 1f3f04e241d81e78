//! All groups of up to 4 members and 6 partitions.
//!
//! For balance and moves a partition is no more than its subscribers and its valid owner: 47 kinds for four
//! members. So all groups are all multisets of up to six of them, about 25 million, or a 24th of that up to
//! renaming members. Partitions with the same subscribers share a topic or have one each, in turn, so that
//! the library sees both. Racks and odd claims are drawn on top.

use tenure::plan::{Assignor, Config, Objective, Plan, Scratch, Verdict};
use tenure::{Group, Topology};

use crate::problem::{Item, Problem, costs};
use crate::support::random::Random;

/// A kind of partition: a bit for each subscriber, and the valid owner.
type Kind = (u8, Option<u8>);

fn kinds(members: u8) -> Vec<Kind> {
    let mut kinds = Vec::new();
    for subscribers in 1..1u8 << members {
        kinds.push((subscribers, None));
        kinds.extend((0..members).filter(|m| subscribers >> m & 1 != 0).map(|m| (subscribers, Some(m))));
    }
    kinds
}

fn permutations(members: u8) -> Vec<Vec<u8>> {
    if members == 0 {
        return vec![Vec::new()];
    }
    let mut all = Vec::new();
    for shorter in permutations(members - 1) {
        for at in 0..members as usize {
            let mut longer = shorter.clone();
            longer.insert(at, members - 1);
            all.push(longer);
        }
    }
    all
}

/// Visits each multiset of kinds that is the least among its renamings.
struct Enumeration {
    kinds: Vec<Kind>,
    /// For each renaming of the members, what each kind becomes.
    renamed: Vec<Vec<u8>>,
}

impl Enumeration {
    fn new(members: u8) -> Self {
        let kinds = kinds(members);
        let rename = |names: &Vec<u8>| {
            let one = |&(subscribers, owner): &Kind| {
                let bits = (0..members).filter(|m| subscribers >> m & 1 != 0);
                let renamed: Kind =
                    (bits.map(|m| 1 << names[m as usize]).sum(), owner.map(|m: u8| names[m as usize]));
                kinds.iter().position(|kind| *kind == renamed).unwrap() as u8
            };
            kinds.iter().map(one).collect()
        };
        Self { renamed: permutations(members).iter().map(rename).collect(), kinds }
    }

    fn least(&self, chosen: &[u8]) -> bool {
        self.renamed.iter().all(|renamed| {
            let mut other: Vec<u8> = chosen.iter().map(|&kind| renamed[kind as usize]).collect();
            other.sort_unstable();
            chosen <= &other[..]
        })
    }

    fn visit(&self, partitions: usize, judge: &mut dyn FnMut(&[u8])) {
        let mut chosen = vec![0u8; partitions];
        loop {
            if self.least(&chosen) {
                judge(&chosen);
            }
            let last = self.kinds.len() as u8 - 1;
            let Some(turn) = (0..partitions).rev().find(|&at| chosen[at] < last) else { return };
            let next = chosen[turn] + 1;
            chosen[turn..].fill(next);
        }
    }
}

/// Racks of three kinds: 0 unknown, else r1 or r2; a member may also be in r3, where nothing is.
#[derive(Clone, Copy, Default)]
struct Racks {
    members: [u8; 4],
    partitions: [u8; 6],
}

struct Judge {
    scratch: Scratch,
    plan: Plan,
    judged: u64,
}

impl Judge {
    fn new() -> Self {
        Self { scratch: Scratch::default(), plan: Plan::default(), judged: 0 }
    }

    fn group(members: u8, parts: &[Kind], shared: bool, racks: &Racks) -> (Group, Vec<(usize, u32)>) {
        // The topic of each partition: its own, or that of all with the same subscribers.
        let mut topics: Vec<(u8, Vec<usize>)> = Vec::new();
        for (at, &(subscribers, _)) in parts.iter().enumerate() {
            match topics.iter_mut().find(|topic| shared && topic.0 == subscribers) {
                Some(topic) => topic.1.push(at),
                None => topics.push((subscribers, vec![at])),
            }
        }
        let mut builder = Topology::builder();
        let mut place = vec![(0, 0); parts.len()];
        for (number, (_, list)) in topics.iter().enumerate() {
            let sets = list.iter().map(|&at| match racks.partitions[at] {
                0 => Vec::new(),
                3 => vec!["r1".to_owned(), "r2".to_owned()],
                rack => vec![format!("r{rack}")],
            });
            builder.add_topic_with_racks(&format!("t{number}"), sets.collect());
            for (at, &partition) in list.iter().enumerate() {
                place[partition] = (number, at as u32);
            }
        }
        let topology = builder.build().unwrap();
        let mut builder = Group::builder(&topology);
        for m in 0..members {
            let mut member = builder.member(&format!("m{m}"));
            member.generation(1);
            if racks.members[m as usize] > 0 {
                member.rack(&format!("r{}", racks.members[m as usize]));
            }
            for (number, (subscribers, _)) in topics.iter().enumerate() {
                if subscribers >> m & 1 != 0 {
                    member.topic(&format!("t{number}"));
                }
            }
            for (&(_, owner), &(topic, at)) in parts.iter().zip(&place) {
                if owner == Some(m) {
                    member.owned(&format!("t{topic}"), [at as i32]);
                }
            }
        }
        (builder.build().unwrap(), place)
    }

    fn problem(members: u8, parts: &[Kind], racks: &Racks) -> Problem {
        let items = parts.iter().zip(racks.partitions).map(|(&(subscribers, owner), set)| Item {
            subscribers: (0..members as usize).filter(|m| subscribers >> m & 1 != 0).collect(),
            owner: owner.map(usize::from),
            mismatch: racks.members[..members as usize]
                .iter()
                .map(|&rack| rack > 0 && set > 0 && (rack > 2 || rack & set == 0))
                .collect(),
        });
        Problem { members: members as usize, items: items.collect() }
    }

    fn judge(&mut self, members: u8, parts: &[Kind], shared: bool, racks: &Racks) {
        self.judged += 1;
        let (group, place) = Self::group(members, parts, shared, racks);
        let problem = Self::problem(members, parts, racks);
        for objective in [Objective::RackThenMoves, Objective::MovesThenRack] {
            self.scratch.reset(group.shape());
            self.plan.reset(group.shape());
            let assignor = Assignor::new(Config::new().objective(objective));
            let outcome = assignor.assign_into(&group, &mut self.scratch, &mut self.plan).unwrap();
            let say =
                || format!("{objective:?}, racks {:?} {:?}, {parts:?}", racks.members, racks.partitions);
            let topology = group.topology();
            let owner = |&(topic, at): &(usize, u32)| {
                let topic = topology.find(&format!("t{topic}")).unwrap();
                let p = topology.partition(topic, at as i32).unwrap();
                let mut owners = group.member_indices().filter(|&m| self.plan.target(m).contains(&p));
                let owner = owners.next().unwrap_or_else(|| panic!("lost: {}", say()));
                assert_eq!(owners.next(), None, "twice: {}", say());
                owner.at()
            };
            let chosen: Vec<usize> = place.iter().map(owner).collect();
            for (item, m) in problem.items.iter().zip(&chosen) {
                assert!(item.subscribers.contains(m), "unsubscribed: {}", say());
            }
            assert_eq!(self.plan.assigned(), parts.len(), "{}", say());
            let (worth, best) = (problem.worth(&chosen, objective), problem.best(objective));
            assert_eq!(worth, best, "{}", say());
            let stats = outcome.stats;
            assert_eq!(worth.costs, costs(objective, stats.rack_mismatches, stats.moves), "{}", say());
            let proven = (outcome.proof.balance, outcome.proof.moves);
            assert_eq!(proven, (Verdict::Optimal, Verdict::Optimal), "{}", say());
            // With one kind of cost the objective makes no difference.
            if racks.members == [0; 4] {
                break;
            }
        }
    }
}

fn exhaustive() -> bool {
    std::env::var_os("TENURE_EXHAUSTIVE").is_some()
}

#[test]
fn every_small_group_is_planned_best() {
    let mut judge = Judge::new();
    // Small enough to judge all at any time; of the larger ones, so many.
    for (members, partitions, sample) in [
        (1, 1, 0),
        (1, 4, 0),
        (2, 2, 0),
        (2, 4, 0),
        (2, 6, 300),
        (3, 2, 0),
        (3, 3, 0),
        (3, 4, 500),
        (3, 6, 1_500),
        (4, 2, 0),
        (4, 4, 1_000),
        (4, 5, 1_500),
        (4, 6, 3_000),
    ] {
        let enumeration = Enumeration::new(members);
        let kinds = &enumeration.kinds;
        if sample == 0 || exhaustive() {
            let mut shared = false;
            enumeration.visit(partitions, &mut |chosen| {
                shared = !shared;
                let parts: Vec<Kind> = chosen.iter().map(|&kind| kinds[kind as usize]).collect();
                judge.judge(members, &parts, shared, &Racks::default());
            });
        } else {
            let mut random = Random::new(u64::from(members) << 8 | partitions as u64);
            for number in 0..sample {
                let parts: Vec<Kind> = (0..partitions).map(|_| kinds[random.below(kinds.len())]).collect();
                judge.judge(members, &parts, number % 2 == 0, &Racks::default());
            }
        }
    }
    println!("{} groups judged", judge.judged);
    assert!(judge.judged > 5_000, "{}", judge.judged);
}

#[test]
fn racks_and_moves_are_fewest_in_either_order() {
    let mut judge = Judge::new();
    let mut random = Random::new(0x7ac4);
    let groups = if exhaustive() { 1_000_000 } else { 4_000 };
    for number in 0..groups {
        let members = 1 + random.below(4) as u8;
        let kinds = kinds(members);
        let parts: Vec<Kind> = (0..1 + random.below(6)).map(|_| kinds[random.below(kinds.len())]).collect();
        let mut racks = Racks::default();
        racks.members.fill_with(|| random.below(4) as u8);
        racks.partitions.fill_with(|| random.below(4) as u8);
        judge.judge(members, &parts, number % 2 == 0, &racks);
    }
}
