//! Water filling: free partitions go where loads are least, the narrowest classes first.

use super::Work;
use crate::group::{Classes, Group};

impl Work {
    /// Starts from everyone at home and hands out what is free, class by class; then once more, each class
    /// taking back what it handed out, *because* that mends most of what the order of classes did and costs
    /// far less than path searches.
    ///
    /// Cost: O(A), a few passes over the subscribers of each class with something free.
    pub(super) fn fill(&mut self, group: &Group) {
        let classes = group.classes();
        self.flow.clear();
        self.load.clear();
        self.load.extend_from_slice(&self.home_load);
        self.reset_search(classes);
        self.unsettled.clear();
        self.astray.clear();
        self.order.clear();
        for (class, bounds) in classes.class_start.windows(2).enumerate() {
            if self.free[class] > 0 {
                self.order.push((u64::from(bounds[1] - bounds[0]) << 32) | class as u64);
            }
        }
        self.order.sort_unstable();
        self.foreign.clear();
        if !self.order.is_empty() {
            self.foreign.resize(classes.arcs(), 0);
        }
        for at in 0..self.order.len() {
            let class = self.order[at] as u32 as usize;
            let many = core::mem::take(&mut self.free[class]);
            self.pour::<false>(classes, class, many);
        }
        // Again, until the loads are even: a few classes may be enough.
        let batch = self.order.len().div_ceil(16).max(1);
        let mut begin = 0;
        while begin < self.order.len() && self.spread_of_loads(classes) > 1 {
            let end = self.order.len().min(begin + batch);
            for at in begin..end {
                let class = self.order[at] as u32 as usize;
                let many = self.foreign[choice(classes, class)].iter().sum();
                self.pour::<true>(classes, class, many);
            }
            begin = end;
        }
        self.poured = true;
        self.fresh = classes.by_rack() && self.home_load.iter().all(|&load| load == 0);
        // Where nothing is at home, that may be all there is to know.
        if !self.fresh {
            self.write_flow(classes);
        }
    }

    /// Writes `flow`, unless that is done: what is at home and what was poured.
    pub(super) fn write_flow(&mut self, classes: &Classes) {
        if !core::mem::take(&mut self.poured) {
            return;
        }
        self.flow.extend_from_slice(&self.home);
        if self.order.is_empty() {
            return;
        }
        let poured = self.load.iter().sum::<u32>() - self.home_load.iter().sum::<u32>();
        if (poured as usize) < classes.arcs() / 32 {
            self.write_some(classes);
        } else if classes.arcs() as u64 > self.load.len() as u64 * classes.len() as u64 / 8 {
            self.write_dense(classes, 1024);
        } else {
            self.write_all(classes);
        }
    }

    /// Class by class, without those that got nothing.
    fn write_some(&mut self, classes: &Classes) {
        for at in 0..self.order.len() {
            let range = choice(classes, self.order[at] as u32 as usize);
            for (arcs, poured) in
                classes.class_arc[range.clone()].chunks(8).zip(self.foreign[range].chunks(8))
            {
                if poured.iter().fold(0, |any, poured| any | poured) == 0 {
                    continue;
                }
                for (&arc, &poured) in arcs.iter().zip(poured) {
                    self.flow[arc as usize] += poured;
                }
            }
        }
    }

    /// Arc by arc. The members of a class ascend, so each finds its place in the class behind the last one's. Class by
    /// class would be simpler, and its writes lie so far apart that they took a third of filling.
    fn write_all(&mut self, classes: &Classes) {
        let next = &mut self.arc_of_class;
        next.clear();
        next.extend_from_slice(&classes.class_start[..classes.len()]);
        if classes.by_rack() {
            next.extend((0..classes.len()).map(|class| classes.fit_end(class) as u32));
            // Those in a wrong rack stand behind the others.
            for ((flow, &class), &wrong) in
                self.flow.iter_mut().zip(&classes.arc_class).zip(&classes.mismatch)
            {
                let at = &mut next[class as usize + usize::from(wrong) * classes.len()];
                *flow += self.foreign[*at as usize];
                *at += 1;
            }
            return;
        }
        for (flow, &class) in self.flow.iter_mut().zip(&classes.arc_class) {
            let at = &mut next[class as usize];
            *flow += self.foreign[*at as usize];
            *at += 1;
        }
    }

    /// Where members have arcs to many classes: for some members at a time class by class, so that what is read lies
    /// together, and what is written stays near.
    fn write_dense(&mut self, classes: &Classes, at_once: usize) {
        let next = &mut self.arc_of_class;
        next.clear();
        next.extend_from_slice(&classes.class_start[..classes.len()]);
        let members = self.load.len();
        for begin in (0..members).step_by(at_once) {
            let last = classes.member_start[members.min(begin + at_once)];
            for (class, next) in next.iter_mut().enumerate() {
                let rest = *next as usize..choice(classes, class).end;
                let (arcs, poured) = (&classes.class_arc[rest.clone()], &self.foreign[rest]);
                for (&arc, &poured) in arcs.iter().zip(poured) {
                    if arc >= last {
                        break;
                    }
                    self.flow[arc as usize] += poured;
                    *next += 1;
                }
            }
        }
    }

    pub(super) fn reset_search(&mut self, classes: &Classes) {
        let nodes = self.load.len() + classes.len() + 1;
        self.layer_of.clear();
        self.layer_of.resize(nodes, 0);
        self.edge.clear();
        self.edge.resize(nodes, 0);
        self.away.clear();
        self.away.resize(self.load.len(), false);
        self.any_away = false;
        self.surplus.clear();
        self.surplus.resize(classes.len(), 0);
        self.base = 0;
        self.top = 0;
    }

    /// Greatest less least load of members with a subscription.
    pub(super) fn spread_of_loads(&self, classes: &Classes) -> u32 {
        let (mut least, mut most) = (u32::MAX, 0);
        for (&load, arcs) in self.load.iter().zip(classes.member_start.windows(2)) {
            if arcs[0] < arcs[1] {
                least = least.min(load);
                most = most.max(load);
            }
        }
        most.saturating_sub(least)
    }

    /// Gives `many` partitions of a class to its least loaded subscribers; where racks count, to those of a
    /// fitting rack if there are any. What the class poured before, if this is done `AGAIN`, it takes back first.
    ///
    /// What is poured is counted in the order of classes and goes to `flow` at the end, *because* the arcs of
    /// one class lie far apart there.
    fn pour<const AGAIN: bool>(&mut self, classes: &Classes, class: usize, many: u32) {
        let range = choice(classes, class);
        let members = &classes.class_member[range.clone()];
        let poured = &mut self.foreign[range];
        let load = &mut self.load;
        self.levels.clear();
        self.levels.extend(
            members
                .iter()
                .zip(&*poured)
                .map(|(&member, &poured)| load[member as usize] - if AGAIN { poured } else { 0 }),
        );
        let (level, rest) = water_level(&self.levels, many);
        let mut raised = 0;
        for ((&member, poured), &before) in members.iter().zip(poured).zip(&self.levels) {
            // The first of those at the level get what is left over.
            let low = u32::from(before <= level);
            let after = before.max(level) + (low & u32::from(raised < rest));
            raised += low;
            *poured = after - before;
            load[member as usize] = after;
        }
    }
}

/// Where the subscribers are to whom a class is poured: those in a fitting rack, or all if there are none.
#[inline]
fn choice(classes: &Classes, class: usize) -> core::ops::Range<usize> {
    let fitting = classes.fitting(class);
    if fitting.is_empty() { classes.of_class(class) } else { fitting }
}

/// The greatest level up to which `many` fill all `loads` below it, and how many are left over then; fewer
/// than there are loads at or below the level.
fn water_level(loads: &[u32], many: u32) -> (u32, u32) {
    // From above: the average of those below the last guess, until nobody drops out. Mostly nobody does. All sums
    // count different partitions, so 32 bits hold them.
    let sum = loads.iter().sum::<u32>() + many;
    let most = loads.iter().copied().max().unwrap_or(0);
    let count = loads.len().max(1) as u32;
    let (mut level, mut below, mut rest) = (sum / count, count, sum % count);
    if most > level {
        loop {
            let (mut count, mut sum) = (0u32, many);
            for &load in loads {
                let counts = u32::from(load <= level);
                count += counts;
                sum += counts.wrapping_neg() & load;
            }
            (level, rest) = (sum / count.max(1), sum % count.max(1));
            if count == below {
                break;
            }
            below = count;
        }
    }
    (level, rest)
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::{Work, choice, water_level};
    use crate::{Group, Topology};

    /// Class by class, arc by arc, or for some members at a time: the same is written.
    #[test]
    fn three_ways_to_write_the_flow_agree() {
        let racks = ["a", "b", "c", ""];
        for by_rack in [false, true] {
            let mut builder = Topology::builder();
            for topic in 0..5 {
                let name = alloc::format!("t{topic}");
                if by_rack {
                    let sets = (0..7).map(|p| Vec::from([racks[(p + topic) % 3].to_string()])).collect();
                    builder.add_topic_with_racks(&name, sets);
                } else {
                    builder.add_topic(&name, 7);
                }
            }
            let topology = builder.build().unwrap();
            let mut builder = Group::builder(&topology);
            for m in 0..11 {
                let mut member = builder.member(&alloc::format!("m{m:02}"));
                if by_rack && m % 4 < 3 {
                    member.rack(racks[m % 4]);
                }
                (0..5)
                    .filter(|topic| (m + topic) % 3 > 0)
                    .for_each(|t| _ = member.topic(&alloc::format!("t{t}")));
            }
            let group = builder.build().unwrap();
            let classes = group.classes();
            let mut work = Work { flow: alloc::vec![1; classes.arcs()], ..Work::default() };
            work.load.resize(group.members(), 0);
            work.order.extend(0..classes.len() as u64);
            work.foreign.resize(classes.arcs(), 0);
            let mut expected = work.flow.clone();
            for at in (0..classes.len()).flat_map(|class| choice(classes, class)) {
                work.foreign[at] = (at as u32 * 7) % 5;
                expected[classes.class_arc[at] as usize] += work.foreign[at];
            }
            assert!(classes.by_rack() == by_rack && expected.iter().any(|&flow| flow > 1));
            type Write = fn(&mut Work, &crate::group::Classes);
            let ways: [(&str, Write); 5] = [
                ("some", Work::write_some),
                ("all", Work::write_all),
                ("dense, one", |work, classes| work.write_dense(classes, 1)),
                ("dense, three", |work, classes| work.write_dense(classes, 3)),
                ("dense, more than there are", |work, classes| work.write_dense(classes, 100)),
            ];
            for (name, write) in ways {
                let mut work = work.clone();
                write(&mut work, classes);
                assert_eq!(work.flow, expected, "{name}, racks {by_rack}");
            }
        }
    }

    #[test]
    fn the_level_is_where_the_water_stands() {
        for loads in
            [&[0u32][..], &[5, 5, 5], &[0, 3, 9], &[7, 1, 1, 100], &[2, 2, 3, 3, 50, 50], &[0, 1, 2, 3, 4]]
        {
            for many in 0..60 {
                let mut filled = loads.to_vec();
                for _ in 0..many {
                    *filled.iter_mut().min().unwrap() += 1;
                }
                let (level, rest) = water_level(loads, many);
                let at_most = loads.iter().filter(|&&load| load <= level).count() as u32;
                let used: u32 = loads.iter().map(|&load| level.saturating_sub(load)).sum();
                assert_eq!(used + rest, many, "{loads:?} {many}");
                assert!(rest < at_most, "{loads:?} {many}");
                assert_eq!(*filled.iter().min().unwrap(), level, "{loads:?} {many}");
            }
        }
    }
}
