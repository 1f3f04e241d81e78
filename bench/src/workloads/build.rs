//! From a workload to the engine's own objects, and one round further.

use tenure::plan::Assignor;
use tenure::{Group, Topology};

use super::{Workload, rack_name};

/// The generation of the claims of a settled group; a group that settles again counts on from its own.
const GENERATION: i32 = 41;

/// Rounds within which a group must have stopped moving.
const ROUNDS: i32 = 8;

impl Workload {
    /// The existing topics.
    ///
    /// # Panics
    ///
    /// If the workload is not one of this module's making: topic names twice, or too many partitions.
    pub fn topology(&self) -> Topology {
        let mut builder = Topology::builder();
        for (number, topic) in self.topics.iter().enumerate() {
            if self.deleted.contains(&(number as u32)) {
                continue;
            }
            if topic.racks.is_empty() {
                builder.add_topic(&topic.name, topic.partitions);
            } else {
                let names = |set: &Vec<u8>| set.iter().map(|&rack| rack_name(rack)).collect();
                builder.add_topic_with_racks(&topic.name, topic.racks.iter().map(names).collect());
            }
        }
        builder.build().expect("workloads have each topic once")
    }

    /// The group.
    ///
    /// # Panics
    ///
    /// If two members have the same id.
    pub fn group(&self) -> Group {
        let topology = self.topology();
        let indices: Vec<_> = self.topics.iter().map(|topic| topology.find(&topic.name)).collect();
        let mut builder = Group::builder(&topology);
        let mut before = None;
        for member in &self.members {
            let mut add = builder.member(&member.id);
            if before == Some(member.topics.as_ptr()) {
                add.topics_as_before();
            } else {
                for &topic in member.topics.iter() {
                    match indices[topic as usize] {
                        Some(index) => add.topic_index(index),
                        None => add.topic(&self.topics[topic as usize].name),
                    };
                }
            }
            before = Some(member.topics.as_ptr());
            for (topic, from, to) in runs(&member.owned) {
                match indices[topic as usize] {
                    Some(index) => add.owned_index_range(index, from as i32, to as i32),
                    None => add.owned_range(&self.topics[topic as usize].name, from as i32, to as i32),
                };
            }
            if let Some(generation) = member.generation {
                add.generation(generation);
            }
            if let Some(rack) = member.rack {
                add.rack(&rack_name(rack));
            }
        }
        builder.build().expect("workloads have each member once")
    }

    /// The same group when it has settled: everybody owns what the assignor planned, and nothing moves any more.
    ///
    /// # Panics
    ///
    /// If partitions still move after eight rounds: the assignor is not sticky.
    #[must_use]
    pub fn settled(mut self) -> Self {
        let last = self.members.iter().filter_map(|member| member.generation).max();
        let first = last.map_or(GENERATION, |last| last + 1);
        for generation in first..first + ROUNDS {
            let group = self.group();
            let (plan, outcome) = Assignor::default().assign(&group).expect("the shapes are the group's own");
            let topology = group.topology();
            // Topics are sorted by name here as there, so only deleted ones shift the numbers.
            let numbers: Vec<u32> = self.existing_numbers().collect();
            for member in &mut self.members {
                let index = group.find(&member.id).expect("the group has the workload's members");
                member.generation = Some(generation);
                member.owned.clear();
                let mut topic = 0;
                for partition in plan.target(index) {
                    while topology.bases()[topic + 1] <= partition.get() {
                        topic += 1;
                    }
                    member.owned.push((numbers[topic], partition.get() - topology.bases()[topic]));
                }
            }
            let settled = outcome.stats.moves == 0 && last_round_changed_nothing(&group, &plan);
            if settled {
                return self;
            }
        }
        panic!("partitions still move after {ROUNDS} rounds");
    }
}

fn last_round_changed_nothing(group: &Group, plan: &tenure::plan::Plan) -> bool {
    group.member_indices().all(|member| group.claims(member).eq(plan.target(member).iter().copied()))
}

/// Runs of neighbouring partitions: (topic, first, last).
pub(super) fn runs(owned: &[(u32, u32)]) -> impl Iterator<Item = (u32, u32, u32)> + '_ {
    owned.chunk_by(|a, b| a.0 == b.0 && a.1 + 1 == b.1).map(|run| (run[0].0, run[0].1, run[run.len() - 1].1))
}
