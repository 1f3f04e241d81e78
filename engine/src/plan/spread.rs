//! Topic spread: which partitions a member gives up, and who gets the free ones.
//!
//! Both choices keep topics even. A member over its quota gives up partitions of the topics of which it
//! holds most, counted from its fair share of each, so that a newcomer gets its part of small topics, too; a member with room takes from the topics of which it holds least. Where that leaves a choice,
//! a cursor goes round: givers take turns over topics, so that one newcomer is not handed a whole topic;
//! takers go on in the circle of topics where the last one stopped. Topics that nobody holds yet are dealt
//! one by one round the members instead, which has a fresh uniform group's every topic within one.
//!
//! The free partitions of one topic in one class are a *pile*; the piles of a class stand in a circle and
//! leave it when they are empty:
//!
//! ```text
//! class 0   orders: 3 9 12 ──► clicks: 40 ──► views: 51 52 ──► (orders)       class 1   audit: 70 71
//!                              ▲ cursor
//! member with room 2, holding 2 of clicks, 0 of views and orders: takes 51, then 3
//! ```
//!
//! Cost: O(P / 64 + what is free + what takers hold), whatever the rest of the group is.

pub(super) mod fresh;
mod given;
mod order;

use alloc::vec::Vec;

use given::Run;

use super::target::Plan;
use crate::group::{Group, NONE, Shape};
use crate::id::PartitionIndex;
use crate::owned::claims::{Settled, reserve};
use crate::owned::row;

/// Memory for spreading.
#[derive(Clone, Debug, Default)]
pub(super) struct Work {
    /// Where the next partition of a member goes in the plan; M.
    pub(super) fill: Vec<u32>,
    kept_end: Vec<u32>,
    /// Free partitions by class, then ascending.
    free: Vec<u32>,
    piles: Vec<Pile>,
    /// Piles of each class, CSR, and where in their circle the next taker begins.
    class_pile: Vec<u32>,
    class_free: Vec<u32>,
    /// How to take from each class.
    stacks: Vec<Stack>,
    cursor: Vec<u32>,
    /// Piles of each class that are not empty.
    live: Vec<u32>,
    ring: Vec<Seat>,
    /// Members with how many they want of the class in hand, where nobody keeps anything.
    seats: Vec<(u32, u32)>,
    /// What the taker in hand has of each topic; 0 between takers.
    holding: Vec<u32>,
    runs: Vec<Run>,
    picked: Vec<u32>,
    taken: Vec<PartitionIndex>,
    turn: u32,
    /// Whether any free partition still has a holder.
    held_any: bool,
}

/// The free partitions of one topic in one class: `free[next..end]`.
#[derive(Clone, Copy, Debug, Default)]
struct Pile {
    topic: u32,
    next: u32,
    end: u32,
    after: u32,
    before: u32,
}

/// How to take from a class, and where the next partition is.
#[derive(Clone, Copy, Debug, Default)]
struct Stack {
    next: u32,
    form: Form,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Form {
    /// A circle of piles, or nothing.
    #[default]
    Piles,
    /// One pile: `next` is an index into `free`.
    Single,
    /// One whole topic: `next` is a partition, and so is each one after it. Nobody writes it down in `free`,
    /// *because* members take a few each, far from each other, and memory is what that costs.
    Whole,
}

/// A member that waits for fresh topics of a class.
#[derive(Clone, Copy, Debug)]
struct Seat {
    member: u32,
    arc: u32,
    after: u32,
    before: u32,
}

impl Work {
    pub(super) fn reserve(&mut self, shape: &Shape) {
        reserve(&mut self.fill, shape.members);
        reserve(&mut self.kept_end, shape.members);
        reserve(&mut self.ring, shape.members);
        reserve(&mut self.seats, shape.members);
        reserve(&mut self.free, shape.partitions);
        reserve(&mut self.piles, shape.pairs);
        reserve(&mut self.class_pile, shape.classes + 1);
        reserve(&mut self.class_free, shape.classes + 1);
        reserve(&mut self.stacks, shape.classes);
        reserve(&mut self.cursor, shape.classes);
        reserve(&mut self.live, shape.classes);
        reserve(&mut self.holding, shape.topics);
        reserve(&mut self.runs, shape.topics);
        reserve(&mut self.picked, shape.partitions.max(shape.topics));
        reserve(&mut self.taken, shape.partitions);
    }

    pub(super) fn memory_usage(&self) -> usize {
        let words = self.fill.capacity()
            + self.kept_end.capacity()
            + self.free.capacity()
            + self.class_pile.capacity()
            + self.class_free.capacity()
            + self.cursor.capacity()
            + self.live.capacity()
            + self.holding.capacity()
            + self.picked.capacity()
            + self.taken.capacity();
        words * 4
            + self.piles.capacity() * size_of::<Pile>()
            + self.ring.capacity() * size_of::<Seat>()
            + self.seats.capacity() * size_of::<(u32, u32)>()
            + self.stacks.capacity() * size_of::<Stack>()
            + self.runs.capacity() * size_of::<Run>()
    }

    /// Begins a plan: the turn over topics starts at the first one.
    pub(super) fn begin(&mut self) {
        self.turn = 0;
    }

    /// Deals every free partition (bit not in `claimed`, somebody subscribes) and puts each member's
    /// partitions in order. Before, `fill[m]` is the end of what member m keeps, and `want` says for each arc
    /// how many of its class the member shall have more; afterwards `want` is 0.
    pub(super) fn deal(&mut self, group: &Group, settled: &Settled, plan: &mut Plan, want: &mut [u32]) {
        self.kept_end.clear();
        self.kept_end.extend_from_slice(&self.fill);
        self.held_any = settled.still_held.iter().any(|&word| word != 0);
        self.stack(group, &settled.claimed);
        self.deal_fresh(group, settled, plan, want);
        self.holding.clear();
        self.holding.resize(group.topology.topics(), 0);
        for member in 0..group.members() {
            let end = plan.start[member + 1];
            let ascending = self.fill[member] < end && self.take(group, settled, plan, want, member as u32);
            if self.kept_end[member] < end && !ascending {
                self.put_in_order(plan, member, group.classes().by_rack());
            }
        }
    }

    /// Stacks the free partitions in piles.
    fn stack(&mut self, group: &Group, claimed: &[u64]) {
        let classes = group.classes();
        if classes.uniform() {
            self.stack_one(group, claimed);
            return;
        }
        let bases = group.topology.bases();
        self.class_free.clear();
        self.class_free.resize(classes.len() + 1, 0);
        self.class_pile.clear();
        self.class_pile.resize(classes.len() + 1, 0);
        self.cursor.clear();
        self.cursor.resize(classes.len(), NONE);
        self.stacks.clear();
        self.stacks.resize(classes.len(), Stack::default());
        let mut total = 0;
        for (topic, &class) in classes.of_topic.iter().enumerate() {
            if class == NONE {
                continue;
            }
            if classes.by_rack() {
                for p in row::unset_in(claimed, bases[topic], bases[topic + 1]) {
                    let class = classes.of_partition[p as usize] as usize;
                    self.class_free[class + 1] += 1;
                    total += 1;
                    // The cursor remembers the last topic seen here; it is set anew below.
                    self.class_pile[class + 1] += u32::from(self.cursor[class] != topic as u32);
                    self.cursor[class] = topic as u32;
                }
            } else {
                let free = row::unset_in_count(claimed, bases[topic], bases[topic + 1]);
                self.class_free[class as usize + 1] += free;
                self.class_pile[class as usize + 1] += u32::from(free > 0);
                total += free;
                if free > 0 && free == bases[topic + 1] - bases[topic] {
                    self.stacks[class as usize] = Stack { next: bases[topic], form: Form::Whole };
                }
            }
        }
        for class in 0..classes.len() {
            self.class_free[class + 1] += self.class_free[class];
            self.class_pile[class + 1] += self.class_pile[class];
        }
        resize(&mut self.free, total as usize);
        resize(&mut self.piles, *self.class_pile.last().unwrap_or(&0) as usize);
        self.cursor.clear();
        self.cursor.extend_from_slice(&self.class_pile[..classes.len()]);
        for (topic, &class) in classes.of_topic.iter().enumerate() {
            if class == NONE {
                continue;
            }
            let (from, to) = (bases[topic], bases[topic + 1]);
            if classes.by_rack() {
                for p in row::unset_in(claimed, from, to) {
                    self.put_on_pile(classes.of_partition[p as usize] as usize, topic as u32, p);
                }
                continue;
            }
            let class = class as usize;
            let begin = self.class_free[class];
            let mut at = begin as usize;
            let single = self.class_pile[class + 1] - self.class_pile[class] == 1;
            let Stack { next, form } = self.stacks[class];
            if single && form == Form::Whole && next == from {
                at += (to - from) as usize;
            } else {
                row::each_unset_in(claimed, from, to, |p| {
                    self.free[at] = p;
                    at += 1;
                });
            }
            if at > begin as usize {
                self.class_free[class] = at as u32;
                let pile = self.cursor[class];
                let (after, before) = (pile + 1, pile.wrapping_sub(1));
                self.piles[pile as usize] =
                    Pile { topic: topic as u32, next: begin, end: at as u32, after, before };
                self.cursor[class] += 1;
            }
        }
        self.live.clear();
        for class in 0..classes.len() {
            let (first, end) = (self.class_pile[class], self.class_pile[class + 1]);
            self.cursor[class] = NONE;
            self.live.push(end - first);
            if end - first != 1 {
                self.stacks[class].form = Form::Piles;
            } else if self.stacks[class].form != Form::Whole {
                self.stacks[class] = Stack { next: self.piles[first as usize].next, form: Form::Single };
            }
            if first < end {
                self.piles[end as usize - 1].after = first;
                self.piles[first as usize].before = end - 1;
                self.cursor[class] = first;
            }
        }
    }

    /// Stacks the free partitions of a group with one class: in the order in which they are found.
    fn stack_one(&mut self, group: &Group, claimed: &[u64]) {
        let Self { free, piles, class_pile, stacks, cursor, live, .. } = self;
        let room = group.classes().assignable as usize;
        if free.len() < room {
            free.resize(room, 0);
        }
        let free = &mut free[..room];
        let mut end = 0;
        piles.clear();
        for (topic, (pair, &class)) in
            group.topology.bases().windows(2).zip(&group.classes().of_topic).enumerate()
        {
            if class == NONE {
                continue;
            }
            let next = end;
            row::each_unset_in(claimed, pair[0], pair[1], |p| {
                free[end] = p;
                end += 1;
            });
            if end > next {
                let pile = piles.len() as u32;
                let (after, before) = (pile + 1, pile.wrapping_sub(1));
                let (next, end) = (next as u32, end as u32);
                piles.push(Pile { topic: topic as u32, next, end, after, before });
            }
        }
        let count = piles.len() as u32;
        if let [first, ..] = &mut piles[..] {
            first.before = count - 1;
        }
        if let [.., last] = &mut piles[..] {
            last.after = 0;
        }
        class_pile.clear();
        class_pile.extend([0, count]);
        stacks.clear();
        stacks.push(Stack { next: 0, form: if count == 1 { Form::Single } else { Form::Piles } });
        cursor.clear();
        cursor.push(if count == 0 { NONE } else { 0 });
        live.clear();
        live.push(count);
    }

    /// Adds one partition to the last pile of its class, or begins the next one.
    fn put_on_pile(&mut self, class: usize, topic: u32, p: u32) {
        let at = self.class_free[class];
        self.free[at as usize] = p;
        self.class_free[class] += 1;
        let pile = self.cursor[class];
        if pile > self.class_pile[class] && self.piles[pile as usize - 1].topic == topic {
            self.piles[pile as usize - 1].end = at + 1;
        } else {
            self.piles[pile as usize] =
                Pile { topic, next: at, end: at + 1, after: pile + 1, before: pile.wrapping_sub(1) };
            self.cursor[class] += 1;
        }
    }

    /// Deals topics that nobody holds round the members, in classes of several such topics.
    fn deal_fresh(&mut self, group: &Group, settled: &Settled, plan: &mut Plan, want: &mut [u32]) {
        let classes = group.classes();
        let bases = group.topology.bases();
        for class in 0..classes.len() {
            let (first, end) = (self.class_pile[class], self.class_pile[class + 1]);
            if end - first < 2 {
                continue;
            }
            let mut seat = NONE;
            for pile in first..end {
                let topic = self.piles[pile as usize].topic as usize;
                let (from, to) = (bases[topic], bases[topic + 1]);
                let Pile { next, end, .. } = self.piles[pile as usize];
                // Without racks a topic's free partitions are all in this pile.
                let fresh = end - next == to - from
                    || classes.by_rack() && row::unset_in_count(&settled.claimed, from, to) == to - from;
                if !fresh {
                    continue;
                }
                if seat == NONE {
                    seat = self.take_seats(group, class, want);
                }
                seat = self.deal_pile(settled, plan, want, class, pile, seat);
            }
        }
    }

    /// Deals a whole pile round the ring; returns the next seat.
    fn deal_pile(
        &mut self,
        settled: &Settled,
        plan: &mut Plan,
        want: &mut [u32],
        class: usize,
        pile: u32,
        mut seat: u32,
    ) -> u32 {
        let Pile { next, end, .. } = self.piles[pile as usize];
        for at in next..end {
            let p = self.free[at as usize];
            let Seat { member, arc, after, before } = self.ring[seat as usize];
            let fill = self.fill[member as usize];
            plan.partitions[fill as usize] = PartitionIndex::new(p);
            self.fill[member as usize] = fill + 1;
            if self.held_any {
                mark_transfer(settled, plan, member, p);
            }
            let left = want[arc as usize] - 1;
            want[arc as usize] = left;
            if left == 0 {
                self.ring[before as usize].after = after;
                self.ring[after as usize].before = before;
            }
            seat = after;
        }
        self.advance(class, pile, end - next);
        seat
    }

    /// Lists the members that want partitions of a class; returns the first seat.
    fn take_seats(&mut self, group: &Group, class: usize, want: &[u32]) -> u32 {
        let classes = group.classes();
        let range = classes.class_start[class] as usize..classes.class_start[class + 1] as usize;
        self.ring.clear();
        for (&member, &arc) in classes.class_member[range.clone()].iter().zip(&classes.class_arc[range]) {
            if want[arc as usize] > 0 {
                let at = self.ring.len() as u32;
                self.ring.push(Seat { member, arc, after: at + 1, before: at.wrapping_sub(1) });
            }
        }
        let last = self.ring.len() as u32 - 1;
        self.ring[last as usize].after = 0;
        self.ring[0].before = last;
        0
    }

    /// Takes `many` off a pile; an empty pile leaves its circle.
    #[inline]
    fn advance(&mut self, class: usize, pile: u32, many: u32) {
        let Pile { next, end, after, before, .. } = self.piles[pile as usize];
        self.piles[pile as usize].next = next + many;
        if next + many == end {
            self.piles[before as usize].after = after;
            self.piles[after as usize].before = before;
            self.live[class] -= 1;
            if self.cursor[class] == pile {
                self.cursor[class] = if self.live[class] == 0 { NONE } else { after };
            }
        }
    }

    /// Takes from the only pile of a class.
    #[inline]
    fn take_run(&mut self, settled: &Settled, plan: &mut Plan, class: usize, member: u32, many: u32) {
        let Stack { next, form } = &mut self.stacks[class];
        let from = *next;
        *next += many;
        let fill = self.fill[member as usize] as usize;
        let out = &mut plan.partitions[fill..fill + many as usize];
        if *form == Form::Whole {
            for (out, p) in out.iter_mut().zip(from..) {
                *out = PartitionIndex::new(p);
            }
        } else {
            for (out, &p) in out.iter_mut().zip(&self.free[from as usize..(from + many) as usize]) {
                *out = PartitionIndex::new(p);
            }
        }
        if self.held_any {
            for at in fill..fill + many as usize {
                let p = plan.partitions[at].get();
                mark_transfer(settled, plan, member, p);
            }
        }
        self.fill[member as usize] += many;
    }

    /// Gives a member the next `many` partitions of a pile, fewer if there are fewer.
    #[inline]
    fn give(&mut self, settled: &Settled, plan: &mut Plan, class: usize, pile: u32, member: u32, many: u32) {
        let Pile { next, end, .. } = self.piles[pile as usize];
        let many = many.min(end - next);
        let fill = self.fill[member as usize] as usize;
        let given = &self.free[next as usize..(next + many) as usize];
        for (out, &p) in plan.partitions[fill..fill + given.len()].iter_mut().zip(given) {
            *out = PartitionIndex::new(p);
        }
        if self.held_any {
            for &p in given {
                mark_transfer(settled, plan, member, p);
            }
        }
        self.fill[member as usize] = fill as u32 + many;
        self.advance(class, pile, many);
    }

    /// Takes what a member wants, from the topics of which it holds least. True if all it has is in order then.
    fn take(
        &mut self,
        group: &Group,
        settled: &Settled,
        plan: &mut Plan,
        want: &mut [u32],
        member: u32,
    ) -> bool {
        let classes = group.classes();
        let arcs = classes.member_start[member as usize] as usize
            ..classes.member_start[member as usize + 1] as usize;
        let (mut noted, mut level) = (false, 0);
        let start = self.fill[member as usize];
        // Runs ascend; whether one begins above the end of the last is seen where they meet.
        let mut ascending = start == self.kept_end[member as usize];
        let mut last = match start.checked_sub(1) {
            Some(before) if start > plan.start[member as usize] => plan.partitions[before as usize].get(),
            _ => 0,
        };
        let mut next = arcs.start;
        // Who takes little wants none of most classes: some at a time.
        let little = (plan.start[member as usize + 1] - start) as usize * 8 < arcs.len();
        while next < arcs.end {
            if little
                && let Some(some) = want[next..arcs.end].first_chunk::<8>()
                && some.iter().fold(0, |any, want| any | want) == 0
            {
                next += some.len();
                continue;
            }
            let arc = next;
            next += 1;
            let many = core::mem::take(&mut want[arc]);
            if many == 0 {
                continue;
            }
            let class = classes.arc_class[arc] as usize;
            if self.stacks[class].form != Form::Piles {
                let fill = self.fill[member as usize] as usize;
                self.take_run(settled, plan, class, member, many);
                ascending &= plan.partitions[fill].get() >= last;
                last = plan.partitions[fill + many as usize - 1].get();
                continue;
            }
            ascending = false;
            if !noted {
                let topics = self.note_holding(group, plan, member as usize);
                // Who has some of every topic has no pile at 0, and need not go round to see it.
                level = u32::from(topics == group.topology.topics());
                noted = true;
            }
            self.take_even(settled, plan, class, member, many, level);
        }
        if noted {
            for &topic in &self.picked {
                self.holding[topic as usize] = 0;
            }
        }
        ascending
    }

    /// Counts what the member has of each topic so far; `picked` lists the topics. Returns of how many topics it
    /// keeps some.
    fn note_holding(&mut self, group: &Group, plan: &Plan, member: usize) -> usize {
        let bases = group.topology.bases();
        self.picked.clear();
        let (start, kept) = (plan.start[member] as usize, self.kept_end[member] as usize);
        let (mut topic, mut end) = (0, 0);
        let mut walk = Walk { topic: 0 };
        // With about as many topics as partitions the next topic is a step or two away.
        let few = bases.len() <= 4 * (kept - start);
        for p in &plan.partitions[start..kept] {
            let p = p.get();
            if p >= end {
                topic = if few { walk.to::<true>(group, p) } else { walk.to::<false>(group, p) };
                end = bases[topic + 1];
                self.picked.push(topic as u32);
            }
            self.holding[topic] += 1;
        }
        let topics = self.picked.len();
        for p in &plan.partitions[kept..self.fill[member] as usize] {
            let topic = group.topology.topic_of(*p).at();
            self.holding[topic] += 1;
            self.picked.push(topic as u32);
        }
        topics
    }

    /// Goes round the piles of a class, taking one from each of whose topic the member holds at most `level`;
    /// the level rises by laps.
    fn take_even(
        &mut self,
        settled: &Settled,
        plan: &mut Plan,
        class: usize,
        member: u32,
        many: u32,
        mut level: u32,
    ) {
        let mut left = many;
        let mut pile = self.cursor[class];
        while pile != NONE {
            let (mut given, mut least) = (false, u32::MAX);
            for _ in 0..self.live[class] {
                let Pile { topic, after, .. } = self.piles[pile as usize];
                let holds = self.holding[topic as usize];
                if holds > level {
                    least = least.min(holds);
                } else {
                    self.give(settled, plan, class, pile, member, 1);
                    self.holding[topic as usize] = holds + 1;
                    if holds == 0 {
                        self.picked.push(topic);
                    }
                    given = true;
                    left -= 1;
                }
                pile = after;
                if left == 0 || self.live[class] == 0 {
                    self.cursor[class] = if self.live[class] == 0 { NONE } else { pile };
                    return;
                }
            }
            level = if given { level + 1 } else { least };
        }
    }
}

/// Notes that a partition given to a member must wait for another holder.
#[inline]
fn mark_transfer(settled: &Settled, plan: &mut Plan, member: u32, p: u32) {
    if row::get(&settled.still_held, p) && !settled.only_held_by(p, member) {
        row::set(&mut plan.transfers, p);
        plan.transfer_count += 1;
    }
}

/// Walks up the topics beside ascending partitions.
struct Walk {
    topic: usize,
}

impl Walk {
    /// The topic of a partition that does not lie before those that were asked for.
    #[inline]
    fn to<const FEW: bool>(&mut self, group: &Group, p: u32) -> usize {
        if FEW {
            let bases = group.topology.bases();
            while bases[self.topic + 1] <= p {
                self.topic += 1;
            }
        } else {
            self.topic = group.topology.topic_of(PartitionIndex::new(p)).at();
        }
        self.topic
    }
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

/// The next of a sequence that looks random, for the tests of this room.
#[cfg(test)]
fn dice(state: &mut u64) -> u32 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 40) as u32
}
