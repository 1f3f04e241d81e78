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

#[derive(Clone, Copy, Debug)]
struct Run {
    topic: u32,
    from: u32,
    len: u32,
    /// How far the member is above its fair share of the topic, which is rounded.
    ahead: i64,
}

impl Run {
    /// How far the member is above its fair share, plus `widest`, the greatest fair share of all.
    #[inline]
    fn surplus(&self, widest: u32) -> u32 {
        (self.ahead + i64::from(widest)) as u32
    }
}

/// What a member holds, seen as a whole.
struct Held {
    /// The greatest fair share of a topic.
    widest: u32,
    /// How far it is ahead at most, and in how many topics.
    most: i64,
    tops: u32,
    /// The first run whose turn has not come yet.
    begin: usize,
}

impl Work {
    pub(super) fn reserve(&mut self, shape: &Shape) {
        reserve(&mut self.fill, shape.members);
        reserve(&mut self.kept_end, shape.members);
        reserve(&mut self.ring, shape.members);
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
            + self.stacks.capacity() * size_of::<Stack>()
            + self.runs.capacity() * size_of::<Run>()
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
        let wanted = (class != NONE && !classes.by_rack()).then_some(class);
        let own = if class == NONE { 0 } else { class as usize };
        let subscribers = classes.class_start[own + 1] - classes.class_start[own];
        let Held { widest, most, tops, begin } = if claims.len() * 4 > classes.of_topic.len() {
            list_runs::<true>(group, claims, wanted, subscribers, self.turn, &mut self.runs)
        } else {
            list_runs::<false>(group, claims, wanted, subscribers, self.turn, &mut self.runs)
        };
        let cooperative = group.protocol[member] == Protocol::Cooperative;
        let mut give = |run: &mut Run, many: u32| {
            for _ in 0..many {
                run.len -= 1;
                run.ahead -= 1;
                let p = claims[(run.from + run.len) as usize];
                row::unset(&mut settled.claimed, p);
                if cooperative {
                    row::set(&mut settled.still_held, p);
                }
            }
        };
        let mut left = excess;
        // Mostly little is given up, and more topics than that are the fullest.
        let level = if tops > excess {
            most
        } else {
            let level = level_above(&self.runs, widest, excess);
            for run in &mut self.runs {
                let over = run.surplus(widest).saturating_sub(level).min(run.len).min(left);
                left -= over;
                give(run, over);
            }
            if left == 0 {
                return;
            }
            i64::from(level) - i64::from(widest)
        };
        // The rest come one each from the fullest topics, in turn.
        let (before, behind) = self.runs.split_at_mut(begin);
        for run in behind.iter_mut().chain(before) {
            if run.ahead == level && run.len > 0 {
                give(run, 1);
                self.turn = run.topic + 1;
                left -= 1;
                if left == 0 {
                    return;
                }
            }
        }
    }

    /// Those of a member's valid claims that it keeps.
    pub(super) fn kept_of(&mut self, claims: &[u32], claimed: &[u64]) -> &[PartitionIndex] {
        resize(&mut self.taken, claims.len());
        // Who gives up what is hard to guess for a processor, so each is written and mostly stays.
        let mut kept = 0;
        for &p in claims {
            self.taken[kept] = PartitionIndex::new(p);
            kept += usize::from(row::get(claimed, p));
        }
        &self.taken[..kept]
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
        for arc in arcs {
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

    /// Merges what a member keeps with what it was dealt: a few ascending runs, one for each of its classes.
    /// With racks there are many, but those of one topic are neighbours.
    fn put_in_order(&mut self, plan: &mut Plan, member: usize, by_rack: bool) {
        let (from, end) = (plan.start[member] as usize, plan.start[member + 1] as usize);
        let slice = &mut plan.partitions[from..end];
        let kept = self.kept_end[member] as usize - from;
        if slice.len() - kept <= 4 && kept > 0 {
            insert_tail(slice, kept);
            return;
        }
        let mut sorted = kept.max(1);
        if slice.len() - kept <= 24 {
            slice[kept..].sort_unstable();
        } else if by_rack {
            sort_nearby(&mut slice[kept..]);
        }
        for _ in 0..4 {
            let run = slice[sorted - 1..].windows(2).position(|pair| pair[0] > pair[1]);
            let Some(descent) = run else { return };
            sorted += descent;
            let run = slice[sorted..].windows(2).position(|pair| pair[0] > pair[1]);
            let end = run.map_or(slice.len(), |descent| sorted + descent + 1);
            self.taken.clear();
            self.taken.extend_from_slice(&slice[sorted..end]);
            merge_back(&mut slice[..end], sorted, &self.taken);
            sorted = end;
            if sorted == slice.len() {
                return;
            }
        }
        slice.sort_unstable();
    }
}

/// Puts each entry from `kept` on in its place among those before it.
fn insert_tail(slice: &mut [PartitionIndex], kept: usize) {
    for at in kept..slice.len() {
        let entry = slice[at];
        let to = if at <= 32 {
            slice[..at].iter().filter(|&&before| before <= entry).count()
        } else {
            slice[..at].partition_point(|&before| before <= entry)
        };
        slice.copy_within(to..at, to + 1);
        slice[to] = entry;
    }
}

/// Sorts what is nearly in order, by insertion; if too much is far from its place, as any slice.
fn sort_nearby(slice: &mut [PartitionIndex]) {
    let mut budget = 8 * slice.len();
    for at in 1..slice.len() {
        let entry = slice[at];
        let mut to = at;
        while to > 0 && slice[to - 1] > entry {
            slice[to] = slice[to - 1];
            to -= 1;
        }
        slice[to] = entry;
        let Some(left) = budget.checked_sub(at - to) else {
            slice.sort_unstable();
            return;
        };
        budget = left;
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

/// Lists what a member holds topic by topic, of one class or of all. With `FEW`, the topics are about as many as the
/// claims, so that the next one is a step or two away.
#[inline]
fn list_runs<const FEW: bool>(
    group: &Group,
    claims: &[u32],
    class: Option<u32>,
    subscribers: u32,
    turn: u32,
    runs: &mut Vec<Run>,
) -> Held {
    let bases = group.topology.bases();
    let of_topic = &group.classes().of_topic[..];
    runs.clear();
    let mut held = Held { widest: 0, most: i64::MIN, tops: 0, begin: 0 };
    // Neighbouring topics are mostly of one size, and a division costs as much as all else here.
    let (mut count, mut fair) = (0, subscribers / 2 / subscribers);
    let (mut at, mut walk) = (0, Walk { topic: 0 });
    while let Some(&first) = claims.get(at) {
        let topic = walk.to::<FEW>(group, first);
        let (begin, end) = (bases[topic], bases[topic + 1]);
        let from = at;
        at += 1;
        at += run_length(&claims[at..], end);
        if class.is_some_and(|class| of_topic[topic] != class) {
            continue;
        }
        if end - begin != count {
            count = end - begin;
            fair = (count + subscribers / 2) / subscribers;
        }
        let ahead = (at - from) as i64 - i64::from(fair);
        runs.push(Run { topic: topic as u32, from: from as u32, len: (at - from) as u32, ahead });
        held.widest = held.widest.max(fair);
        held.begin += usize::from((topic as u32) < turn);
        held.tops = if ahead > held.most { 1 } else { held.tops + u32::from(ahead == held.most) };
        held.most = held.most.max(ahead);
    }
    held
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

/// The least level such that at most `excess` lie above it.
fn level_above(runs: &[Run], widest: u32, excess: u32) -> u32 {
    let over = |run: &Run, level: u32| u64::from(run.surplus(widest).saturating_sub(level).min(run.len));
    let above = |level: u32| runs.iter().map(|run| over(run, level)).sum::<u64>();
    let (mut low, mut high) = (0, runs.iter().map(|run| run.surplus(widest)).max().unwrap_or(0));
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::Topology;

    fn dice(state: &mut u64) -> u32 {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*state >> 40) as u32
    }

    #[test]
    fn topics_that_are_fullest_alone_give_what_the_level_says() {
        let mut state = 7;
        let (mut short, mut long) = (0, 0);
        for _ in 0..500 {
            let mut builder = Topology::builder();
            let topics = 1 + dice(&mut state) % 12;
            for topic in 0..topics {
                builder.add_topic(&alloc::format!("t{topic:02}"), 1 + dice(&mut state) % 6);
            }
            let topology = builder.build().unwrap();
            let mut builder = Group::builder(&topology);
            for member in 0..1 + dice(&mut state) % 4 {
                let id = alloc::format!("m{member}");
                let mut member = builder.member(&id);
                (0..topics).for_each(|topic| _ = member.topic(&alloc::format!("t{topic:02}")));
            }
            let group = builder.build().unwrap();
            let often = 1 + dice(&mut state) % 3;
            let claims: Vec<u32> = (0..topology.partitions() as u32)
                .filter(|_| dice(&mut state).is_multiple_of(often))
                .collect();
            let turn = dice(&mut state) % (topics + 1);
            let subscribers = group.members() as u32;
            let (mut runs, mut again) = (Vec::new(), Vec::new());
            let held = list_runs::<true>(&group, &claims, None, subscribers, turn, &mut runs);
            let other = list_runs::<false>(&group, &claims, None, subscribers, turn, &mut again);
            let parts =
                |runs: &[Run]| runs.iter().map(|r| (r.topic, r.from, r.len, r.ahead)).collect::<Vec<_>>();
            assert_eq!(parts(&runs), parts(&again));
            assert_eq!((held.most, held.tops, held.begin), (other.most, other.tops, other.begin));
            assert_eq!(held.begin, runs.partition_point(|run| run.topic < turn));
            for excess in 1..=claims.len() as u32 {
                if held.tops > excess {
                    let level = level_above(&runs, held.widest, excess);
                    assert_eq!(
                        i64::from(level),
                        held.most + i64::from(held.widest),
                        "{:?} {excess}",
                        parts(&runs)
                    );
                    short += 1;
                } else {
                    long += 1;
                }
            }
        }
        assert!(short > 300 && long > 300, "{short} {long}");
    }

    #[test]
    fn a_short_tail_goes_where_sorting_puts_it() {
        let mut state = 3;
        for len in [2, 5, 20, 33, 70] {
            for tail in 1..=4.min(len - 1) {
                let mut slice: Vec<PartitionIndex> =
                    (0..len).map(|_| PartitionIndex::new(dice(&mut state))).collect();
                slice[..len - tail].sort_unstable();
                let mut sorted = slice.clone();
                sorted.sort_unstable();
                insert_tail(&mut slice, len - tail);
                assert_eq!(slice, sorted);
            }
        }
    }
}
