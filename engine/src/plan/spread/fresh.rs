//! Nobody keeps anything: class by class, then all partitions in order.
//!
//! Each partition is given an owner first, and only then do partitions go to their members, in ascending order; so
//! nobody's list needs to be sorted, and of what is free nothing but a list for each class is written down.
//!
//! ```text
//! class 0: 3 9 12 40 …     seats: a 2, b 1, d 2      owners, one each in a lap: 3 a  9 b  12 d  40 a …
//! ```

use super::{Work, resize};
use crate::group::{Classes, Group, NONE};
use crate::id::PartitionIndex;
use crate::plan::target::Plan;

/// How many of its class each member shall have.
#[derive(Clone, Copy, Debug)]
pub(in crate::plan) enum Wanted<'a> {
    /// By arcs.
    Arcs(&'a [u32]),
    /// In the order of classes.
    Classes(&'a [u32]),
}

impl Wanted<'_> {
    #[inline]
    fn at(self, classes: &Classes, at: usize) -> u32 {
        match self {
            Self::Arcs(wanted) => wanted[classes.class_arc[at] as usize],
            Self::Classes(wanted) => wanted[at],
        }
    }
}

impl Work {
    /// Deals all partitions to members of whom nobody keeps or still holds any; `plan.start` tells where each
    /// member's begin. A class of several topics is dealt one by one round the members, one of one topic member
    /// by member.
    ///
    /// Cost: O(A + P).
    pub(in crate::plan) fn deal_all(&mut self, group: &Group, plan: &mut Plan, wanted: Wanted<'_>) {
        let classes = group.classes();
        let mut owner = core::mem::take(&mut self.picked);
        owner.clear();
        owner.resize(group.topology.partitions(), NONE);
        self.list_by_class(group);
        let bases = group.topology.bases();
        let mut begin = 0;
        for (class, &size) in classes.size.iter().enumerate() {
            let list = &self.free[begin..begin + size as usize];
            begin += size as usize;
            let range = classes.of_class(class);
            if self.seats.len() < range.len() {
                self.seats.resize(range.len(), (0, 0));
            }
            let mut count = 0;
            // Who wants some is hard to guess, so each is written and some stay.
            for at in range {
                let many = wanted.at(classes, at);
                self.seats[count] = (classes.class_member[at], many);
                count += usize::from(many > 0);
            }
            let seats = &mut self.seats[..count];
            let (Some(&first), Some(&last)) = (list.first(), list.last()) else { continue };
            let topic = group.topology.topic_of(PartitionIndex::new(first)).at();
            if last < bases[topic + 1] {
                let mut next = list;
                for &mut (member, many) in seats {
                    let (given, rest) = next.split_at(many as usize);
                    given.iter().for_each(|&p| owner[p as usize] = member);
                    next = rest;
                }
            } else {
                deal_in_laps(list, seats, &mut owner);
            }
        }
        self.fill.clear();
        self.fill.extend_from_slice(&plan.start[..group.members()]);
        for (p, &member) in owner.iter().enumerate() {
            if let Some(fill) = self.fill.get_mut(member as usize) {
                plan.partitions[*fill as usize] = PartitionIndex::new(p as u32);
                *fill += 1;
            }
        }
        self.picked = owner;
    }

    /// Lists the partitions of each class, ascending, one class behind the other.
    fn list_by_class(&mut self, group: &Group) {
        let classes = group.classes();
        let next = &mut self.cursor;
        next.clear();
        let mut end = 0;
        next.extend(classes.size.iter().map(|size| {
            end += size;
            end - size
        }));
        resize(&mut self.free, end as usize);
        for (topic, bounds) in group.topology.bases().windows(2).enumerate() {
            let class = classes.of_topic[topic];
            if class == NONE {
                continue;
            }
            for p in bounds[0]..bounds[1] {
                let class = classes.of_partition.get(p as usize).copied().unwrap_or(class);
                let at = &mut next[class as usize];
                self.free[*at as usize] = p;
                *at += 1;
            }
        }
    }
}

/// Deals a list one by one round the seats; who has what it wants leaves the round.
fn deal_in_laps(list: &[u32], mut seats: &mut [(u32, u32)], owner: &mut [u32]) {
    let mut next = list;
    while !next.is_empty() && !seats.is_empty() {
        let (lap, rest) = next.split_at(seats.len().min(next.len()));
        let mut stay = 0;
        for (at, &p) in lap.iter().enumerate() {
            let (member, many) = seats[at];
            owner[p as usize] = member;
            // Who leaves is hard to guess, so each is written and mostly stays.
            seats[stay] = (member, many - 1);
            stay += usize::from(many > 1);
        }
        seats = &mut seats[..stay];
        next = rest;
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;
    use alloc::vec::Vec;

    use super::*;
    use crate::plan::spread::dice;
    use crate::topology::Topology;

    /// Whatever is wanted of each class, by arcs or in the order of classes: everybody gets that, in ascending order.
    #[test]
    fn everybody_gets_what_is_wanted_of_each_class() {
        let mut state = 11;
        let (mut single, mut several) = (0, 0);
        for round in 0..400 {
            let racks = ["a", "b", "c"];
            let mut builder = Topology::builder();
            let topics = 1 + dice(&mut state) as usize % 5;
            for topic in 0..topics {
                let mut rack = || racks[dice(&mut state) as usize % 3].to_string();
                let mut sets = alloc::vec![Vec::from([rack(), rack()])];
                for _ in 0..rack().as_bytes()[0] % 3 * 4 {
                    sets.push(Vec::from([rack(), rack()]));
                }
                builder.add_topic_with_racks(&alloc::format!("t{topic}"), sets);
            }
            let topology = builder.build().unwrap();
            let mut builder = Group::builder(&topology);
            for member in 0..1 + dice(&mut state) as usize % 6 {
                let mut member = builder.member(&alloc::format!("m{member}"));
                if round % 4 > 0 {
                    member.rack(racks[dice(&mut state) as usize % 3]);
                }
                for topic in (0..topics).filter(|_| !dice(&mut state).is_multiple_of(4)) {
                    member.topic(&alloc::format!("t{topic}"));
                }
            }
            let group = builder.build().unwrap();
            let classes = group.classes();
            let mut by_class = alloc::vec![0; classes.arcs()];
            let mut by_arc = by_class.clone();
            for (class, &size) in classes.size.iter().enumerate() {
                let range = classes.of_class(class);
                for _ in 0..size {
                    let at = range.start + dice(&mut state) as usize % range.len();
                    by_class[at] += 1;
                    by_arc[classes.class_arc[at] as usize] += 1;
                }
            }
            let mut plan = Plan::default();
            plan.start.push(0);
            for arcs in classes.member_start.windows(2) {
                let load: u32 = by_arc[arcs[0] as usize..arcs[1] as usize].iter().sum();
                plan.start.push(plan.start.last().unwrap() + load);
            }
            plan.partitions.resize(classes.assignable as usize, PartitionIndex::new(0));
            let mut work = Work::default();
            work.deal_all(&group, &mut plan, Wanted::Classes(&by_class));
            let partitions = plan.partitions.clone();
            work.deal_all(&group, &mut plan, Wanted::Arcs(&by_arc));
            assert_eq!(partitions, plan.partitions);
            for (member, arcs) in classes.member_start.windows(2).enumerate() {
                let list = &partitions[plan.start[member] as usize..plan.start[member + 1] as usize];
                assert!(list.is_sorted_by(|a, b| a < b), "{list:?}");
                for (arc, &wanted) in by_arc.iter().enumerate().take(arcs[1] as usize).skip(arcs[0] as usize)
                {
                    let class = classes.arc_class[arc];
                    let of = |p: &&PartitionIndex| {
                        let topic = group.topology.topic_of(**p).at();
                        classes.of_partition.get(p.at()).unwrap_or(&classes.of_topic[topic]) == &class
                    };
                    assert_eq!(list.iter().filter(of).count(), wanted as usize);
                    let mut topics: Vec<usize> =
                        list.iter().filter(of).map(|&p| group.topology.topic_of(p).at()).collect();
                    topics.dedup();
                    single += usize::from(topics.len() == 1);
                    several += usize::from(topics.len() > 1);
                }
            }
        }
        assert!(single > 300 && several > 100, "{single} {several}");
    }

    #[test]
    fn laps_go_on_without_those_who_have_enough() {
        let mut owner = [NONE; 8];
        deal_in_laps(&[0, 1, 2, 3, 4, 5, 6], &mut [(7, 3), (8, 1), (9, 3)], &mut owner);
        assert_eq!(owner, [7, 8, 9, 7, 9, 7, 9, NONE]);
    }
}
