//! Groups by shape, each in the rounds of its life.

use tenure::plan::Assignor;
use tenure::{Group, Topology};

use crate::support::random::Random;

struct Plot {
    topology: Topology,
    /// The topics of each member.
    topics: Vec<Vec<usize>>,
    racks: bool,
}

/// What each member owns, by partition index; nothing for members that were not there.
type Owned = Vec<Vec<u32>>;

impl Plot {
    fn group(&self, members: &[usize], owned: &Owned) -> Group {
        let mut builder = Group::builder(&self.topology);
        for &m in members {
            let mut member = builder.member(&format!("m{m:03}"));
            member.generation(1);
            if self.racks {
                member.rack(&format!("r{}", m % 3));
            }
            for &topic in &self.topics[m] {
                member.topic(&format!("t{topic:03}"));
            }
            for &p in &owned[m] {
                let p = tenure::id::PartitionIndex::new(p);
                let topic = self.topology.topic_of(p);
                let number = self.topology.number(p) as i32;
                member.owned_index_range(topic, number, number);
            }
        }
        builder.build().unwrap()
    }

    fn plan(&self, members: &[usize], owned: &Owned) -> Owned {
        let group = self.group(members, owned);
        let (plan, _) = Assignor::default().assign(&group).unwrap();
        let mut next = vec![Vec::new(); self.topics.len()];
        for (index, &m) in group.member_indices().zip(members) {
            next[m] = plan.target(index).iter().map(|p| p.get()).collect();
        }
        next
    }

    fn rounds(&self) -> Vec<(&'static str, Group)> {
        let all: Vec<usize> = (0..self.topics.len()).collect();
        let nothing = vec![Vec::new(); all.len()];
        let full = self.plan(&all, &nothing);
        let without = self.plan(&all[1..], &nothing);
        let mut piled = nothing.clone();
        for p in 0..self.topology.partitions() as u32 {
            let topic = self.topology.topic_of(tenure::id::PartitionIndex::new(p)).at();
            if let Some(first) = self.topics.iter().position(|topics| topics.contains(&topic)) {
                piled[first].push(p);
            }
        }
        let mut doubtful = full.clone();
        let stolen = doubtful[0].clone();
        doubtful[all.len() - 1].extend(stolen);
        vec![
            ("fresh", self.group(&all, &nothing)),
            ("steady", self.group(&all, &full)),
            ("one leaves", self.group(&all[1..], &full)),
            ("one joins", self.group(&all, &without)),
            ("a tenth leaves", self.group(&all[all.len() / 10..], &full)),
            ("all piled on few", self.group(&all, &piled)),
            ("claims in doubt", self.group(&all, &doubtful)),
        ]
    }
}

fn topology(topics: usize, partitions: u32, racks: bool) -> Topology {
    let mut builder = Topology::builder();
    for topic in 0..topics {
        let name = format!("t{topic:03}");
        if racks {
            let racks = (0..partitions).map(|p| vec![format!("r{}", (topic as u32 + p) % 4)]).collect();
            builder.add_topic_with_racks(&name, racks);
        } else {
            builder.add_topic(&name, partitions);
        }
    }
    builder.build().unwrap()
}

/// All shapes, with and without racks.
pub(crate) fn all() -> Vec<(String, Vec<(&'static str, Group)>)> {
    let mut random = Random::new(0xa110c);
    let mut all = Vec::new();
    let members = 40;
    for racks in [false, true] {
        let mut add = |name: &str, topics: usize, partitions: u32, topics_of: Vec<Vec<usize>>| {
            let plot = Plot { topology: topology(topics, partitions, racks), topics: topics_of, racks };
            all.push((format!("{name}, racks: {racks}"), plot.rounds()));
        };
        let every = |topics: usize| (0..topics).collect::<Vec<usize>>();
        add("uniform", 20, 23, vec![every(20); members]);
        let mut odd = vec![every(20); members];
        odd[7] = every(19);
        add("one odd member", 20, 23, odd);
        let chosen = |random: &mut Random| {
            let width = 1 + random.below(8);
            (0..50).filter(|_| random.one_in(width)).collect()
        };
        add("random", 50, 9, (0..members).map(|_| chosen(&mut random)).collect());
        let window = |m: usize| (0..5).map(|at| (m + at) % members).collect();
        add("windows", members, 8, (0..members).map(window).collect());
        let without = |m: usize| (0..20).filter(|&topic| topic != m % 20).collect();
        add("all but one", 20, 23, (0..members).map(without).collect());
    }
    all
}
