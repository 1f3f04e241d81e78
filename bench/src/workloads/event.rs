//! Events: what happens to a settled group before the round that is measured.

use core::fmt;
use core::str::FromStr;

use super::{Random, Shape, Workload};

/// What happened before a round.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[non_exhaustive]
pub enum Event {
    /// The group's first round: nobody owns anything.
    Fresh,
    /// Nothing: everybody owns what the last plan gave.
    Steady,
    /// One member left.
    OneLeaves,
    /// One member joined.
    OneJoins,
    /// A random tenth of the members left at once, at least one.
    TenthLeaves,
    /// Every tenth topic has half as many partitions again.
    TopicsGrow,
    /// One member restarted: it came back under a new id and owns nothing.
    Restart,
    /// Half as many members again joined at once.
    ScaleOut,
    /// The last topic was deleted; its owners still claim its partitions and subscribe to it.
    TopicDeleted,
    /// One member slept through the last rounds and claims what it had before; others own that by now.
    StaleMember,
}

/// The events that benches measure.
pub const EVENTS: [Event; 6] =
    [Event::Fresh, Event::Steady, Event::OneLeaves, Event::OneJoins, Event::TenthLeaves, Event::TopicsGrow];

impl Event {
    /// All events.
    pub const ALL: [Self; 10] = [
        Self::Fresh,
        Self::Steady,
        Self::OneLeaves,
        Self::OneJoins,
        Self::TenthLeaves,
        Self::TopicsGrow,
        Self::Restart,
        Self::ScaleOut,
        Self::TopicDeleted,
        Self::StaleMember,
    ];

    /// Its name on the command line and in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fresh => "fresh",
            Self::Steady => "steady",
            Self::OneLeaves => "one-leaves",
            Self::OneJoins => "one-joins",
            Self::TenthLeaves => "tenth-leaves",
            Self::TopicsGrow => "topics-grow",
            Self::Restart => "restart",
            Self::ScaleOut => "scale-out",
            Self::TopicDeleted => "topic-deleted",
            Self::StaleMember => "stale-member",
        }
    }

    /// What the group looks like when the round begins. `settled` is [`Workload::settled`] of the shape's
    /// fresh group.
    pub fn apply(self, shape: &Shape, settled: &Workload, seed: u64) -> Workload {
        let mut random = Random::new(seed, self.name());
        let mut group = settled.clone();
        let count = group.members.len() as u32;
        match self {
            Self::Fresh => {
                for member in &mut group.members {
                    member.owned.clear();
                    member.generation = None;
                }
            }
            Self::Steady => {}
            Self::OneLeaves => {
                group.members.remove(random.below(count) as usize);
            }
            Self::OneJoins => group.members.push(shape.newcomer(seed, count, &mut random)),
            Self::TenthLeaves => {
                for gone in random.choose((count / 10).max(1), count).into_iter().rev() {
                    group.members.remove(gone as usize);
                }
            }
            Self::TopicsGrow => {
                for topic in group.topics.iter_mut().step_by(10) {
                    let more = growth(topic.partitions);
                    topic.partitions += more;
                    let racks = topic.racks.clone();
                    topic.racks.extend(racks.into_iter().take(more as usize));
                }
            }
            Self::Restart => {
                let number = random.below(count);
                let mut member = group.members.remove(number as usize);
                member.id = shape.member_id(number, &mut random);
                member.owned.clear();
                member.generation = None;
                group.members.push(member);
            }
            Self::ScaleOut => {
                for number in 0..(count / 2).max(1) {
                    group.members.push(shape.newcomer(seed, count + number, &mut random));
                }
            }
            Self::TopicDeleted => group.deleted.push(group.topics.len() as u32 - 1),
            Self::StaleMember => {
                let sleeper = group.members.remove(random.below(count) as usize);
                group = group.settled();
                group.members.push(sleeper);
            }
        }
        group
    }
}

/// By how many partitions a growing topic grows.
pub(super) fn growth(partitions: u32) -> u32 {
    (partitions / 2).max(1)
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Event {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        Self::ALL.into_iter().find(|event| event.name() == name).ok_or_else(|| {
            let names: Vec<&str> = Self::ALL.iter().map(|event| event.name()).collect();
            format!("no event {name:?}; there are {}", names.join(", "))
        })
    }
}
