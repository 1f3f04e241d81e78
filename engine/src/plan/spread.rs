//! Topic spread: which partitions a member gives up, and who gets the free ones.
//!
//! Both choices keep topics even. A member over its quota gives up partitions of the topics of which it
//! holds most; free partitions of a topic go to the members that hold least of it. Where that leaves a
//! choice, a cursor goes round: givers take turns over topics, so that one newcomer is not handed a whole
//! topic; takers take turns over free partitions, so a fresh uniform group has every topic within one.
//!
//! Takers of a class stand in a circle (a linked list over class-major positions) and leave it when they
//! are full:
//!
//! ```text
//! level 0:   a ──► b ──► c ──► a      gives one to each taker with `level` partitions of the topic,
//!            ▲ cursor                 then, a lap later, the level rises
//! ```
//!
//! Cost: O(what is given up + what is free + what takers hold), whatever the rest of the group is.

use alloc::vec::Vec;

use super::target::Plan;
use crate::group::{Group, NONE, Protocol, Shape};
use crate::id::PartitionIndex;
use crate::owned::claims::{Settled, reserve};
use crate::owned::row;

/// Memory for spreading.
#[derive(Clone, Debug, Default)]
pub(super) struct Work {
    /// Where the next partition of a member goes in the plan; M.
    pub(super) fill: Vec<u32>,
    /// How many more partitions of its class the taker at a class-major position gets; A.
    pub(super) room: Vec<u32>,
    kept_end: Vec<u32>,
    next: Vec<u32>,
    before: Vec<u32>,
    cursor: Vec<u32>,
    takers: Vec<u32>,
    holding: Vec<u32>,
    touched: Vec<u32>,
    topic_free: Vec<u32>,
    topic_start: Vec<u32>,
    holder: Vec<(u32, u32)>,
    runs: Vec<Run>,
    picked: Vec<u32>,
    free: Vec<u64>,
    tail: Vec<PartitionIndex>,
    turn: u32,
}

#[derive(Clone, Copy, Debug)]
struct Run {
    topic: u32,
    from: u32,
    len: u32,
}

impl Work {
    pub(super) fn reserve(&mut self, shape: &Shape) {
        for list in [&mut self.fill, &mut self.kept_end, &mut self.holding, &mut self.touched] {
            reserve(list, shape.members);
        }
        let positions = shape.arcs.max(shape.members);
        for list in [&mut self.room, &mut self.next, &mut self.before] {
            reserve(list, positions);
        }
        reserve(&mut self.cursor, shape.classes + 1);
        reserve(&mut self.takers, shape.classes + 1);
        reserve(&mut self.topic_free, shape.topics);
        reserve(&mut self.topic_start, shape.topics + 1);
        let held = shape.claims.min(shape.partitions);
        reserve(&mut self.holder, held);
        reserve(&mut self.runs, held);
        reserve(&mut self.picked, held);
        reserve(&mut self.free, shape.partitions);
        reserve(&mut self.tail, shape.partitions);
    }

    pub(super) fn memory_usage(&self) -> usize {
        let words = self.fill.capacity()
            + self.room.capacity()
            + self.kept_end.capacity()
            + self.next.capacity()
            + self.before.capacity()
            + self.cursor.capacity()
            + self.takers.capacity()
            + self.holding.capacity()
            + self.touched.capacity()
            + self.topic_free.capacity()
            + self.topic_start.capacity()
            + self.holder.capacity() * 2
            + self.runs.capacity() * 3
            + self.picked.capacity()
            + self.free.capacity() * 2
            + self.tail.capacity();
        words * 4
    }

    /// Begins a plan: the turn over topics starts at the first one.
    pub(super) fn begin(&mut self) {
        self.turn = 0;
    }

    /// Chooses `excess` of the member's valid claims to give up, among those of one class ([`NONE`]: all).
    /// They lose their bit in `claimed`; if the member is cooperative, it still holds them.
    pub(super) fn give_up(
        &mut self,
        group: &Group,
        member: usize,
        claims: &[u32],
        class: u32,
        excess: u32,
        settled: &mut Settled,
    ) {
        let classes = group.classes();
        self.picked.clear();
        let claims = if class == NONE {
            claims
        } else if classes.by_rack() {
            self.picked.extend(claims.iter().filter(|&&p| classes.of_partition[p as usize] == class));
            &self.picked[..]
        } else {
            claims
        };
        self.runs.clear();
        let bases = group.topology.bases();
        let mut at = 0;
        while at < claims.len() {
            let topic = group.topology.topic_of(PartitionIndex::new(claims[at])).get();
            let end = bases[topic as usize + 1];
            let len = run_length(&claims[at..], end);
            if class == NONE || classes.by_rack() || classes.of_topic[topic as usize] == class {
                self.runs.push(Run { topic, from: at as u32, len: len as u32 });
            }
            at += len;
        }
        let cooperative = group.protocol[member] == Protocol::Cooperative;
        let mut give = |run: &mut Run, many: u32| {
            for _ in 0..many {
                run.len -= 1;
                let p = claims[(run.from + run.len) as usize];
                row::unset(&mut settled.claimed, p);
                if cooperative {
                    row::set(&mut settled.still_held, p);
                }
            }
        };
        let level = level_above(&self.runs, excess);
        let mut left = excess;
        for run in &mut self.runs {
            let over = run.len.saturating_sub(level).min(left);
            left -= over;
            give(run, over);
        }
        if left == 0 {
            return;
        }
        // The rest come one each from the fullest topics, in turn.
        let begin = self.runs.partition_point(|run| run.topic < self.turn);
        for step in 0..self.runs.len() {
            let at =
                if begin + step < self.runs.len() { begin + step } else { begin + step - self.runs.len() };
            let run = &mut self.runs[at];
            if run.len == level && run.len > 0 {
                give(run, 1);
                self.turn = run.topic + 1;
                left -= 1;
                if left == 0 {
                    return;
                }
            }
        }
    }

    /// Deals every free partition (bit not in `claimed`, somebody subscribes) to a taker with room, and puts
    /// each member's partitions in order. Before, `fill[m]` is the end of what member m keeps.
    pub(super) fn deal(&mut self, group: &Group, settled: &Settled, plan: &mut Plan) {
        self.kept_end.clear();
        self.kept_end.extend_from_slice(&self.fill);
        self.stand_in_circles(group);
        self.list_holders(group, &settled.claimed, plan);
        self.holding.clear();
        self.holding.resize(group.members(), 0);
        let classes = group.classes();
        let bases = group.topology.bases();
        for topic in 0..group.topology.topics() {
            if self.topic_free[topic] == 0 {
                continue;
            }
            let free = row::unset_in(&settled.claimed, bases[topic], bases[topic + 1]);
            if classes.by_rack() {
                self.free.clear();
                let of = &classes.of_partition;
                self.free.extend(free.map(|p| (u64::from(of[p as usize]) << 32) | u64::from(p)));
                self.free.sort_unstable();
                self.note_holders(topic);
                let mut from = 0;
                while from < self.free.len() {
                    let class = (self.free[from] >> 32) as u32;
                    let many = self.free[from..].partition_point(|&f| (f >> 32) as u32 == class);
                    let mut level = 0;
                    let list = core::mem::take(&mut self.free);
                    let partitions = list[from..from + many].iter().map(|&f| f as u32);
                    self.deal_even(group, settled, plan, class, partitions, &mut level);
                    self.free = list;
                    from += many;
                }
                self.forget_holders(topic);
            } else if self.topic_start[topic] == self.topic_start[topic + 1] {
                self.deal_round(group, settled, plan, classes.of_topic[topic], free);
            } else {
                self.note_holders(topic);
                self.deal_even(group, settled, plan, classes.of_topic[topic], free, &mut 0);
                self.forget_holders(topic);
            }
        }
        self.put_in_order(plan);
    }

    fn stand_in_circles(&mut self, group: &Group) {
        let classes = group.classes();
        resize(&mut self.next, self.room.len());
        resize(&mut self.before, self.room.len());
        self.cursor.clear();
        self.takers.clear();
        for bounds in classes.class_start.windows(2) {
            let (mut first, mut last, mut count) = (NONE, NONE, 0);
            for at in bounds[0]..bounds[1] {
                if self.room[at as usize] == 0 {
                    continue;
                }
                count += 1;
                if first == NONE {
                    first = at;
                } else {
                    self.next[last as usize] = at;
                    self.before[at as usize] = last;
                }
                last = at;
            }
            if first != NONE {
                self.next[last as usize] = first;
                self.before[first as usize] = last;
            }
            self.cursor.push(first);
            self.takers.push(count);
        }
    }

    /// For each topic with free partitions the takers that hold some of it already, and how many: `holder`.
    fn list_holders(&mut self, group: &Group, claimed: &[u64], plan: &Plan) {
        let bases = group.topology.bases();
        let of_topic = &group.classes().of_topic;
        self.topic_free.clear();
        for (&class, pair) in of_topic.iter().zip(bases.windows(2)) {
            let free = if class == NONE { 0 } else { row::unset_in_count(claimed, pair[0], pair[1]) };
            self.topic_free.push(free);
        }
        self.topic_start.clear();
        self.topic_start.resize(bases.len(), 0);
        self.each_held_run(plan, bases, |starts, _, topic, _, _| starts[topic + 1] += 1);
        for at in 1..self.topic_start.len() {
            self.topic_start[at] += self.topic_start[at - 1];
        }
        let total = *self.topic_start.last().unwrap_or(&0) as usize;
        resize(&mut self.holder, total);
        self.each_held_run(plan, bases, |starts, holder, topic, member, many| {
            holder[starts[topic] as usize] = (member, many);
            starts[topic] += 1;
        });
        self.topic_start.rotate_right(1);
        self.topic_start[0] = 0;
    }

    /// Calls back for each (taker, topic with free partitions) of which the taker keeps some.
    fn each_held_run(
        &mut self,
        plan: &Plan,
        bases: &[u32],
        mut call: impl FnMut(&mut [u32], &mut [(u32, u32)], usize, u32, u32),
    ) {
        for (member, bounds) in plan.start.windows(2).enumerate() {
            let kept = self.kept_end[member];
            if kept == bounds[1] || kept == bounds[0] {
                continue;
            }
            let mut rest = &plan.partitions[bounds[0] as usize..kept as usize];
            let mut topic = 0;
            while let Some(first) = rest.first() {
                // Usually the next topic or one near it.
                topic += bases[topic + 1..].iter().take(8).take_while(|&&base| base <= first.get()).count();
                if bases[topic + 1] <= first.get() {
                    topic += bases[topic + 1..].partition_point(|&base| base <= first.get());
                }
                let end = bases[topic + 1];
                let len = rest.iter().position(|p| p.get() >= end).unwrap_or(rest.len());
                if self.topic_free[topic] != 0 {
                    call(&mut self.topic_start, &mut self.holder, topic, member as u32, len as u32);
                }
                rest = &rest[len..];
            }
        }
    }

    fn note_holders(&mut self, topic: usize) {
        for &(member, many) in
            &self.holder[self.topic_start[topic] as usize..self.topic_start[topic + 1] as usize]
        {
            self.holding[member as usize] = many;
        }
        self.touched.clear();
    }

    fn forget_holders(&mut self, topic: usize) {
        for &(member, _) in
            &self.holder[self.topic_start[topic] as usize..self.topic_start[topic + 1] as usize]
        {
            self.holding[member as usize] = 0;
        }
        for &member in &self.touched {
            self.holding[member as usize] = 0;
        }
    }

    /// No taker holds any of the topic: plain turns.
    fn deal_round(
        &mut self,
        group: &Group,
        settled: &Settled,
        plan: &mut Plan,
        class: u32,
        free: impl Iterator<Item = u32>,
    ) {
        let mut at = self.cursor[class as usize];
        for p in free {
            if at == NONE {
                break;
            }
            at = self.give(group, settled, plan, class, at, p);
        }
        self.cursor[class as usize] = at;
    }

    /// Turns among the takers that hold at most `level` of the topic; the level rises by laps.
    fn deal_even(
        &mut self,
        group: &Group,
        settled: &Settled,
        plan: &mut Plan,
        class: u32,
        free: impl Iterator<Item = u32>,
        level: &mut u32,
    ) {
        let member_at = &group.classes().class_member;
        let mut at = self.cursor[class as usize];
        let mut lap = self.takers[class as usize];
        let mut given = false;
        for p in free {
            loop {
                if at == NONE {
                    return;
                }
                if lap == 0 {
                    *level = if given { *level + 1 } else { self.least_held(member_at, at) };
                    given = false;
                    lap = self.takers[class as usize];
                }
                lap -= 1;
                let member = member_at[at as usize];
                let holds = self.holding[member as usize];
                if holds <= *level {
                    if holds == 0 {
                        self.touched.push(member);
                    }
                    self.holding[member as usize] = holds + 1;
                    given = true;
                    at = self.give(group, settled, plan, class, at, p);
                    break;
                }
                at = self.next[at as usize];
            }
        }
        self.cursor[class as usize] = at;
    }

    fn least_held(&self, member_at: &[u32], begin: u32) -> u32 {
        let mut least = u32::MAX;
        let mut at = begin;
        loop {
            least = least.min(self.holding[member_at[at as usize] as usize]);
            at = self.next[at as usize];
            if at == begin {
                return least;
            }
        }
    }

    /// Gives one partition to the taker at a position; returns the next taker, [`NONE`] if none is left.
    #[inline]
    fn give(
        &mut self,
        group: &Group,
        settled: &Settled,
        plan: &mut Plan,
        class: u32,
        at: u32,
        p: u32,
    ) -> u32 {
        let member = group.classes().class_member[at as usize];
        let fill = &mut self.fill[member as usize];
        plan.partitions[*fill as usize] = PartitionIndex::new(p);
        *fill += 1;
        if row::get(&settled.still_held, p) && !settled.only_held_by(p, member) {
            row::set(&mut plan.transfers, p);
            plan.transfer_count += 1;
        }
        let next = self.next[at as usize];
        self.room[at as usize] -= 1;
        if self.room[at as usize] > 0 {
            return next;
        }
        self.takers[class as usize] -= 1;
        if self.takers[class as usize] == 0 {
            return NONE;
        }
        let before = self.before[at as usize];
        self.next[before as usize] = next;
        self.before[next as usize] = before;
        next
    }

    /// Merges what each member keeps with what it was dealt.
    fn put_in_order(&mut self, plan: &mut Plan) {
        for (member, bounds) in plan.start.windows(2).enumerate() {
            let (from, kept, end) = (bounds[0] as usize, self.kept_end[member] as usize, bounds[1] as usize);
            let slice = &mut plan.partitions[from..end];
            let kept = kept - from;
            if kept == slice.len() {
                continue;
            }
            if !slice[kept..].is_sorted() {
                slice[kept..].sort_unstable();
            }
            if kept > 0 && slice[kept - 1] > slice[kept] {
                self.tail.clear();
                self.tail.extend_from_slice(&slice[kept..]);
                merge_back(slice, kept, &self.tail);
            }
        }
    }
}

/// Merges `tail` into `slice`, whose first `kept` entries are in order; fills from the back.
fn merge_back(slice: &mut [PartitionIndex], kept: usize, tail: &[PartitionIndex]) {
    let (mut left, mut right, mut to) = (kept, tail.len(), slice.len());
    while right > 0 {
        to -= 1;
        if left > 0 && slice[left - 1] > tail[right - 1] {
            left -= 1;
            slice[to] = slice[left];
        } else {
            right -= 1;
            slice[to] = tail[right];
        }
    }
}

/// The least level such that at most `excess` lie above it.
fn level_above(runs: &[Run], excess: u32) -> u32 {
    let above = |level: u32| runs.iter().map(|run| u64::from(run.len.saturating_sub(level))).sum::<u64>();
    let (mut low, mut high) = (0, runs.iter().map(|run| run.len).max().unwrap_or(0));
    while low < high {
        let middle = u32::midpoint(low, high);
        if above(middle) <= u64::from(excess) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    low
}

/// How many of the ascending `claims` lie below `end`.
#[inline]
fn run_length(claims: &[u32], end: u32) -> usize {
    claims.iter().position(|&p| p >= end).unwrap_or(claims.len())
}

/// Sets the length without caring for the contents.
#[inline]
pub(super) fn resize<T: Clone + Default>(list: &mut Vec<T>, len: usize) {
    if list.len() >= len {
        list.truncate(len);
    } else {
        list.resize(len, T::default());
    }
}
