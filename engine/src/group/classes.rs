//! Classes: topics with the same subscribers, by partition refinement; and the arcs of the planner's graph.
//!
//! All topics start in one class. Each different subscription splits the classes that it touches in part.
//! What is left together at the end has the same subscribers: exact, no hash to trust, O(S) in all.
//! When racks count, a class is further split by the rack set of its partitions.

use alloc::vec::Vec;

use super::{ELSEWHERE, NONE};
use crate::id::{PartitionIndex, RackIndex};
use crate::topology::Topology;
use crate::topology::lookup::Lookup;

/// The classes of a group and its arcs, in two orders.
///
/// Arcs are numbered member-major: the arcs of member m are `member_start[m]..member_start[m+1]`, by class.
#[derive(Clone, Debug, Default)]
pub struct Classes {
    /// Class of each topic ([`NONE`] if nobody subscribes). With racks: unused.
    pub(crate) of_topic: Vec<u32>,
    /// Class of each partition; filled only when racks count.
    pub(crate) of_partition: Vec<u32>,
    /// Ends of the longest ranges of partitions with one class, and their classes ([`NONE`]: no subscriber).
    /// Empty when racks count.
    pub(crate) run_end: Vec<u32>,
    pub(crate) run_class: Vec<u32>,
    pub(crate) run_lookup: Lookup,
    /// Pairs of a class and a topic with partitions in it.
    pub(crate) pairs: u32,
    /// Partitions of each class.
    pub(crate) size: Vec<u32>,
    /// Member-major arcs.
    pub(crate) member_start: Vec<u32>,
    pub(crate) arc_class: Vec<u32>,
    /// Class-major: members of each class with their arc; first those in a fitting rack, then those in a wrong one, both
    /// ascending.
    pub(crate) class_start: Vec<u32>,
    pub(crate) class_member: Vec<u32>,
    pub(crate) class_arc: Vec<u32>,
    /// Where those in a wrong rack begin; empty when racks do not count.
    fit_end: Vec<u32>,
    /// For each arc whether the member's rack holds no replica of the class; empty when racks do not count.
    pub(crate) mismatch: Vec<bool>,
    /// Pairs of a member and a topic, and the same with each topic as often as its class has parts.
    pub(crate) wanted: u32,
    pub(crate) cells: u32,
    /// Members with at least one existing topic.
    pub(crate) active: u32,
    /// Partitions of topics with a subscriber.
    pub(crate) assignable: u32,
    scratch: Work,
}

#[derive(Clone, Debug, Default)]
struct Work {
    size: Vec<u32>,
    touched: Vec<u32>,
    split: Vec<u32>,
    marks: Vec<u32>,
    list_start: Vec<u32>,
    list: Vec<u32>,
    part_start: Vec<u32>,
    pair: Vec<u64>,
}

/// Whether a member's rack and a set of replica racks are both known and do not meet.
#[inline]
pub(super) fn mismatch(member_rack: u32, racks: &[RackIndex]) -> bool {
    match member_rack {
        NONE => false,
        ELSEWHERE => !racks.is_empty(),
        rack => !racks.is_empty() && racks.binary_search(&RackIndex::new(rack)).is_err(),
    }
}

impl Classes {
    /// Number of classes, C.
    #[inline]
    pub fn len(&self) -> usize {
        self.size.len()
    }

    /// Whether there is no class: nobody subscribes to an existing topic.
    pub fn is_empty(&self) -> bool {
        self.size.is_empty()
    }

    /// Number of arcs, A.
    #[inline]
    pub fn arcs(&self) -> usize {
        self.arc_class.len()
    }

    /// Where the members and arcs of a class are.
    #[inline]
    pub(crate) fn of_class(&self, class: usize) -> core::ops::Range<usize> {
        self.class_start[class] as usize..self.class_start[class + 1] as usize
    }

    /// Those of them in a fitting rack; all where racks do not count.
    #[inline]
    pub(crate) fn fitting(&self, class: usize) -> core::ops::Range<usize> {
        self.class_start[class] as usize..self.fit_end(class)
    }

    /// Where in the list of a class those in a wrong rack begin.
    #[inline]
    pub(crate) fn fit_end(&self, class: usize) -> usize {
        self.fit_end.get(class).map_or(self.class_start[class + 1], |&end| end) as usize
    }

    /// Where a member's arc is in the list of its class.
    #[inline]
    pub(crate) fn position(&self, arc: usize, member: usize) -> usize {
        let class = self.arc_class[arc] as usize;
        let range = match self.mismatch.get(arc) {
            Some(true) => self.fit_end(class)..self.class_start[class + 1] as usize,
            _ => self.fitting(class),
        };
        range.start + self.class_member[range].partition_point(|&other| (other as usize) < member)
    }

    /// Whether classes are split by racks.
    #[inline]
    pub fn by_rack(&self) -> bool {
        !self.of_partition.is_empty()
    }

    /// Whether all members that subscribe to anything subscribe to the same topics, racks apart.
    #[inline]
    pub fn uniform(&self) -> bool {
        self.len() <= 1 && !self.by_rack()
    }

    /// What any planner reads of a group that has something to deal.
    fn lists(&self) -> [&[u32]; 5] {
        [&self.of_topic, &self.member_start, &self.class_start, &self.class_member, &self.class_arc]
    }

    /// What only the general planner reads.
    fn more_lists(&self) -> [&[u32]; 4] {
        [&self.size, &self.arc_class, &self.run_end, &self.run_class]
    }

    /// As the group's.
    #[inline]
    pub(super) fn touch_ends(&self) -> usize {
        let ends = |lists: &[&[u32]]| lists.iter().fold(0, |all, list| all ^ list.len());
        self.active as usize ^ ends(&self.lists()) ^ ends(&self.more_lists())
    }

    /// As the group's.
    #[inline]
    pub(super) fn touch_lists(&self) -> u32 {
        let lists =
            |lists: &[&[u32]]| lists.iter().fold(0, |all, list| all ^ list.first().copied().unwrap_or(0));
        lists(&self.lists()) ^ if self.uniform() { 0 } else { lists(&self.more_lists()) }
    }

    pub(crate) fn memory_usage(&self) -> usize {
        let w = &self.scratch;
        let words = self.of_topic.capacity()
            + self.of_partition.capacity()
            + self.size.capacity()
            + self.run_end.capacity()
            + self.run_class.capacity()
            + self.run_lookup.memory_usage() / 4
            + self.member_start.capacity()
            + self.arc_class.capacity()
            + self.class_start.capacity()
            + self.class_member.capacity()
            + self.class_arc.capacity()
            + self.fit_end.capacity()
            + w.size.capacity()
            + w.touched.capacity()
            + w.split.capacity()
            + w.marks.capacity()
            + w.list_start.capacity()
            + w.list.capacity()
            + w.part_start.capacity()
            + w.pair.capacity() * 2;
        words * 4 + self.mismatch.capacity()
    }

    /// Finds the classes. `subscription` gives each member's list number, `start` and `topics` the lists.
    /// False, and unusable, if there are more than 2^32 − 2 arcs.
    pub(super) fn rebuild(
        &mut self,
        topology: &Topology,
        subscription: &[u32],
        start: &[u32],
        topics: &[u32],
        rack: &[u32],
    ) -> bool {
        let count = self.refine(topology.topics(), start, topics);
        self.list_classes(count, start, topics);
        let by_rack = topology.has_racks() && rack.iter().any(|&r| r != NONE);
        self.of_partition.clear();
        self.size.clear();
        self.run_end.clear();
        self.run_class.clear();
        if by_rack {
            self.split_by_rack(topology, count);
        } else {
            self.lay_runs(topology);
            self.size.resize(count, 0);
            for (&class, pair) in self.of_topic.iter().zip(topology.bases().windows(2)) {
                if class != NONE {
                    self.size[class as usize] += pair[1] - pair[0];
                }
            }
            self.scratch.part_start.clear();
            self.scratch.part_start.extend(0..=count as u32);
        }
        self.assignable = self.size.iter().sum();
        if !self.lay_arcs(subscription) {
            return false;
        }
        self.count_cells(subscription, start, topics);
        self.mismatch.clear();
        self.fit_end.clear();
        if by_rack {
            self.find_mismatches(topology, rack);
        }
        self.list_members();
        true
    }

    /// Partition refinement. Leaves `of_topic` numbered by first topic, returns the number of classes.
    fn refine(&mut self, topic_count: usize, start: &[u32], topics: &[u32]) -> usize {
        let w = &mut self.scratch;
        let class = &mut self.of_topic;
        class.clear();
        class.resize(topic_count, 0);
        w.size.clear();
        w.size.push(topic_count as u32);
        w.marks.clear();
        w.marks.push(0);
        w.split.clear();
        w.split.push(0);
        for list in start.windows(2) {
            let list = &topics[list[0] as usize..list[1] as usize];
            w.touched.clear();
            for &topic in list {
                let k = class[topic as usize] as usize;
                if w.marks[k] == 0 {
                    w.touched.push(k as u32);
                }
                w.marks[k] += 1;
            }
            let mut any = false;
            for &k in &w.touched {
                let k = k as usize;
                if w.marks[k] < w.size[k] {
                    w.split[k] = w.size.len() as u32;
                    let part = w.marks[k];
                    w.size[k] -= part;
                    w.size.push(part);
                    w.marks.push(0);
                    w.split.push(0);
                    any = true;
                }
                w.marks[k] = 0;
            }
            if any {
                for &topic in list {
                    let k = class[topic as usize] as usize;
                    if w.split[k] != 0 {
                        class[topic as usize] = w.split[k];
                    }
                }
                for &k in &w.touched {
                    w.split[k as usize] = 0;
                }
            }
        }
        // Topics of no list stay in class 0 unless class 0 itself has subscribers: tell them apart.
        w.marks.clear();
        w.marks.resize(topic_count, 0);
        for &topic in topics {
            w.marks[topic as usize] = 1;
        }
        w.split.clear();
        w.split.resize(w.size.len(), NONE);
        let mut count = 0;
        for (class, &subscribed) in class.iter_mut().zip(&w.marks) {
            if subscribed == 0 {
                *class = NONE;
                continue;
            }
            let k = *class as usize;
            if w.split[k] == NONE {
                w.split[k] = count;
                count += 1;
            }
            *class = w.split[k];
        }
        count as usize
    }

    /// The topic classes of each different subscription, ascending: `scratch.list`.
    fn list_classes(&mut self, count: usize, start: &[u32], topics: &[u32]) {
        let w = &mut self.scratch;
        w.list_start.clear();
        w.list.clear();
        w.list_start.push(0);
        w.marks.clear();
        w.marks.resize(count, 0);
        for (number, list) in start.windows(2).enumerate() {
            let from = w.list.len();
            for &topic in &topics[list[0] as usize..list[1] as usize] {
                let class = self.of_topic[topic as usize] as usize;
                if w.marks[class] != number as u32 + 1 {
                    w.marks[class] = number as u32 + 1;
                    w.list.push(class as u32);
                }
            }
            w.list[from..].sort_unstable();
            w.list_start.push(w.list.len() as u32);
        }
    }

    /// Splits each topic class into parts by rack set and gives every partition its part. The parts of topic
    /// class k are then the classes `part_start[k]..part_start[k + 1]`.
    fn split_by_rack(&mut self, topology: &Topology, count: usize) {
        let w = &mut self.scratch;
        w.pair.clear();
        for (&class, bounds) in self.of_topic.iter().zip(topology.bases().windows(2)) {
            for partition in bounds[0]..bounds[1] {
                let set = topology.rack_set_of(PartitionIndex::new(partition));
                self.of_partition.push(if class == NONE { NONE } else { set });
                if class != NONE {
                    let pair = (u64::from(class) << 32) | u64::from(set);
                    if w.pair.last() != Some(&pair) {
                        w.pair.push(pair);
                    }
                }
            }
        }
        w.pair.sort_unstable();
        w.pair.dedup();
        self.size.resize(w.pair.len(), 0);
        w.part_start.clear();
        w.part_start.resize(count + 1, 0);
        for &pair in &w.pair {
            w.part_start[(pair >> 32) as usize + 1] += 1;
        }
        for at in 0..count {
            w.part_start[at + 1] += w.part_start[at];
        }
        self.pairs = 0;
        w.marks.clear();
        w.marks.resize(topology.rack_sets(), NONE);
        for (&class, bounds) in self.of_topic.iter().zip(topology.bases().windows(2)) {
            if class == NONE {
                continue;
            }
            for at in w.part_start[class as usize]..w.part_start[class as usize + 1] {
                w.marks[w.pair[at as usize] as u32 as usize] = at;
            }
            self.pairs += w.part_start[class as usize + 1] - w.part_start[class as usize];
            for of in &mut self.of_partition[bounds[0] as usize..bounds[1] as usize] {
                *of = w.marks[*of as usize];
                self.size[*of as usize] += 1;
            }
        }
    }

    /// Joins neighbouring topics of one class to runs.
    fn lay_runs(&mut self, topology: &Topology) {
        self.pairs = 0;
        for (&class, &end) in self.of_topic.iter().zip(&topology.bases()[1..]) {
            self.pairs += u32::from(class != NONE);
            if self.run_class.last() == Some(&class)
                && let Some(last) = self.run_end.last_mut()
            {
                *last = end;
            } else {
                self.run_class.push(class);
                self.run_end.push(end);
            }
        }
        self.run_lookup.rebuild(&self.run_end);
    }

    /// Writes the arcs of the members, and how many each class has. False if there are too many to number.
    fn lay_arcs(&mut self, subscription: &[u32]) -> bool {
        let w = &self.scratch;
        let parts = |k: u32| w.part_start[k as usize]..w.part_start[k as usize + 1];
        let list = |s: u32| &w.list[w.list_start[s as usize] as usize..w.list_start[s as usize + 1] as usize];
        self.member_start.clear();
        self.arc_class.clear();
        self.member_start.push(0);
        self.active = 0;
        for &s in subscription {
            for &k in list(s) {
                self.arc_class.extend(parts(k));
            }
            let Ok(end) = u32::try_from(self.arc_class.len()) else { return false };
            self.active += u32::from(self.member_start.last() != Some(&end));
            self.member_start.push(end);
        }
        if self.arc_class.len() >= NONE as usize {
            return false;
        }
        let count = self.size.len();
        self.class_start.clear();
        self.class_start.resize(count + 1, 0);
        for &class in &self.arc_class {
            self.class_start[class as usize + 1] += 1;
        }
        for at in 0..count {
            self.class_start[at + 1] += self.class_start[at];
        }
        true
    }

    /// Counts `wanted` and `cells`; the marks hold the cells of each list on the way.
    fn count_cells(&mut self, subscription: &[u32], start: &[u32], topics: &[u32]) {
        let w = &mut self.scratch;
        let parts = |topic: u32| {
            let class = self.of_topic[topic as usize] as usize;
            w.part_start[class + 1] - w.part_start[class]
        };
        w.marks.clear();
        for list in start.windows(2) {
            let list = &topics[list[0] as usize..list[1] as usize];
            w.marks.push(list.iter().map(|&topic| parts(topic)).fold(0, u32::saturating_add));
        }
        (self.wanted, self.cells) = (0, 0);
        for &number in subscription {
            let number = number as usize;
            self.wanted = self.wanted.saturating_add(start[number + 1] - start[number]);
            self.cells = self.cells.saturating_add(w.marks[number]);
        }
    }

    /// Tells of each arc whether the rack is wrong, and counts those where it is not.
    fn find_mismatches(&mut self, topology: &Topology, rack: &[u32]) {
        self.fit_end.extend_from_slice(&self.class_start[..self.size.len()]);
        for (member, arcs) in self.member_start.windows(2).enumerate() {
            for &class in &self.arc_class[arcs[0] as usize..arcs[1] as usize] {
                let set = self.scratch.pair[class as usize] as u32;
                let mismatch = mismatch(rack[member], topology.rack_set(set));
                self.mismatch.push(mismatch);
                self.fit_end[class as usize] += u32::from(!mismatch);
            }
        }
    }

    /// Writes the arcs in the order of classes.
    fn list_members(&mut self) {
        let w = &mut self.scratch;
        // Where the next one of each class goes, in a fitting rack and in a wrong one.
        w.marks.clear();
        w.marks.extend_from_slice(&self.class_start[..self.size.len()]);
        w.split.clear();
        w.split.extend_from_slice(&self.fit_end);
        for list in [&mut self.class_member, &mut self.class_arc] {
            list.clear();
            list.resize(self.arc_class.len(), 0);
        }
        for (member, arcs) in self.member_start.windows(2).enumerate() {
            for arc in arcs[0]..arcs[1] {
                let class = self.arc_class[arc as usize] as usize;
                let wrong = self.mismatch.get(arc as usize) == Some(&true);
                let next = if wrong { &mut w.split[class] } else { &mut w.marks[class] };
                self.class_member[*next as usize] = member as u32;
                self.class_arc[*next as usize] = arc;
                *next += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn classes(topic_count: usize, lists: &[&[u32]]) -> Vec<u32> {
        let mut start = alloc::vec![0];
        let mut topics = Vec::new();
        for list in lists {
            topics.extend_from_slice(list);
            start.push(topics.len() as u32);
        }
        let mut classes = Classes::default();
        classes.refine(topic_count, &start, &topics);
        classes.of_topic
    }

    #[test]
    fn topics_with_the_same_subscribers_are_one_class() {
        assert_eq!(classes(3, &[&[0, 1, 2]]), [0, 0, 0]);
        assert_eq!(classes(4, &[&[0, 1], &[1, 3]]), [0, 1, NONE, 2]);
        assert_eq!(classes(4, &[&[0, 1, 2, 3], &[1, 2]]), [0, 1, 1, 0]);
        assert_eq!(classes(2, &[&[], &[1]]), [NONE, 0]);
        assert_eq!(classes(3, &[&[0], &[1, 2], &[2]]), [0, 1, 2]);
    }

    #[test]
    fn members_in_a_fitting_rack_come_first() {
        let sets = [["r0", "r1"], ["r1", "r2"], ["r2", "r0"], ["r0", "r1"]].map(Vec::from);
        let topology = Topology::builder().topic_with_racks("t", &sets).topic("u", 2).build().unwrap();
        let mut builder = crate::Group::builder(&topology);
        for (at, rack) in ["r2", "r0", "r1", "", "r0", "elsewhere"].iter().enumerate() {
            let mut member = builder.member(&alloc::format!("m{at}"));
            member.topic("t").topic("u");
            if !rack.is_empty() {
                member.rack(rack);
            }
        }
        let group = builder.build().unwrap();
        let classes = group.classes();
        let lists: Vec<(&[u32], &[u32])> = (0..classes.len())
            .map(|c| {
                let (all, fitting) = (classes.of_class(c), classes.fitting(c));
                (&classes.class_member[fitting.clone()], &classes.class_member[fitting.end..all.end])
            })
            .collect();
        let all: &[u32] = &[0, 1, 2, 3, 4, 5];
        assert_eq!(lists.len(), 4);
        for list in
            [(&[1, 2, 3, 4][..], &[0, 5][..]), (&[0, 2, 3], &[1, 4, 5]), (&[0, 1, 3, 4], &[2, 5]), (all, &[])]
        {
            assert!(lists.contains(&list), "{list:?} in {lists:?}");
        }
        for (m, arcs) in classes.member_start.windows(2).enumerate() {
            for arc in arcs[0] as usize..arcs[1] as usize {
                let at = classes.position(arc, m);
                assert_eq!((classes.class_member[at], classes.class_arc[at]), (m as u32, arc as u32));
            }
        }
    }
}
