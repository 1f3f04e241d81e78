//! Settling claims by generation: holders, valid owners, and what binds a cooperative round.
//!
//! The *holders* of a partition are the members that claim it at the highest generation among its
//! claimants, whether or not they still subscribe. Its *valid owner* is the only holder, if that one
//! subscribes. Two holders void each other, and no older claim revives (KIP-341, KAFKA-12984, KAFKA-13715).
//!
//! Most groups are clean: no partition is claimed twice and none by a stranger. The planners find that out
//! while they do other work and then use the claims as they stand. Only otherwise comes [`settle`] here.

use alloc::vec::Vec;

use super::row;
use crate::group::{Group, Protocol};
use crate::id::PartitionIndex;

/// What was odd about the members' claims: counted, never an error.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct Findings {
    /// Ranges of claimed partitions that do not exist: unknown topic, past the end, or negative.
    pub foreign_claims: u32,
    /// Claims by a member that does not subscribe to the topic.
    pub unsubscribed_claims: u32,
    /// Claims at the highest generation of a partition that more than one member makes.
    pub double_claims: u32,
    /// Claims that a higher generation overrules.
    pub stale_claims: u32,
}

impl Findings {
    /// Whether nothing odd was found.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Settled claims, and the memory to settle the next ones.
#[derive(Clone, Debug, Default)]
pub(crate) struct Settled {
    /// Valid claims of each member, CSR; filled only when the group is not clean.
    pub(crate) home_start: Vec<u32>,
    pub(crate) home: Vec<u32>,
    /// Partitions with a valid owner.
    pub(crate) claimed: Vec<u64>,
    /// Partitions that a cooperative holder still has and does not keep.
    pub(crate) still_held: Vec<u64>,
    /// Partitions of several holders of which exactly one is cooperative, with that one: ascending.
    pub(crate) joint: Vec<(u32, u32)>,
    pub(crate) findings: Findings,
    seen: Vec<u64>,
    contested: Vec<u64>,
    stale: Vec<u64>,
    order: Vec<u64>,
}

impl Settled {
    pub(crate) fn reserve(&mut self, members: usize, partitions: usize, claims: usize) {
        let words = row::row_words(partitions);
        reserve(&mut self.home_start, members + 1);
        reserve(&mut self.home, claims);
        for row in [&mut self.claimed, &mut self.still_held, &mut self.seen, &mut self.contested] {
            reserve(row, words);
        }
        reserve(&mut self.stale, row::row_words(claims));
        reserve(&mut self.order, members);
        // A contested partition has at least two claims.
        reserve(&mut self.joint, claims);
    }

    pub(crate) fn memory_usage(&self) -> usize {
        let rows = [&self.claimed, &self.still_held, &self.seen, &self.contested, &self.stale, &self.order];
        (self.home_start.capacity() + self.home.capacity()) * 4
            + self.joint.capacity() * 8
            + rows.iter().map(|row| row.capacity() * 8).sum::<usize>()
    }

    /// Settles all claims of a group with doubtful ones.
    ///
    /// Cost: O(claims + M log M). Afterwards `claimed` has the partitions with a valid owner, `still_held`
    /// those that a cooperative member holds without being its valid owner.
    pub(crate) fn settle(&mut self, group: &Group) {
        let partitions = group.topology.partitions();
        row::reset(&mut self.claimed, partitions);
        row::reset(&mut self.still_held, partitions);
        row::reset(&mut self.seen, partitions);
        row::reset(&mut self.contested, partitions);
        row::reset(&mut self.stale, group.claims.len());
        self.findings = Findings { foreign_claims: group.foreign.len() as u32, ..Findings::default() };
        self.mark(group);
        self.collect(group);
    }

    /// Marks contested partitions and stale claims, generation by generation from the highest down.
    fn mark(&mut self, group: &Group) {
        self.order.clear();
        // Descending generation; none (−1) last. The bias keeps the order in an unsigned key.
        self.order.extend(group.generation.iter().enumerate().map(|(member, &generation)| {
            (u64::from(u32::MAX - (generation as u32).wrapping_add(1)) << 32) | member as u64
        }));
        self.order.sort_unstable();
        // `claimed` serves as "claimed at a higher generation" here; it is rebuilt in `collect`.
        let mut rest = &self.order[..];
        while let Some(&first) = rest.first() {
            let same = rest.partition_point(|&key| key >> 32 == first >> 32);
            let (cohort, later) = rest.split_at(same);
            rest = later;
            for &key in cohort {
                let member = key as u32 as usize;
                let from = group.claim_start[member];
                for (at, &p) in
                    group.claims[from as usize..group.claim_start[member + 1] as usize].iter().enumerate()
                {
                    if row::get(&self.claimed, p) {
                        row::set(&mut self.stale, from + at as u32);
                        self.findings.stale_claims += 1;
                    } else if row::test_and_set(&mut self.seen, p) {
                        row::set(&mut self.contested, p);
                    }
                }
            }
            if !rest.is_empty() {
                for &key in cohort {
                    let member = key as u32 as usize;
                    let range = group.claim_start[member] as usize..group.claim_start[member + 1] as usize;
                    for &p in &group.claims[range] {
                        row::set(&mut self.claimed, p);
                    }
                }
            }
        }
    }

    /// Collects valid claims, and who among the other holders binds a cooperative round.
    fn collect(&mut self, group: &Group) {
        let bases = group.topology.bases();
        row::reset(&mut self.claimed, group.topology.partitions());
        self.home.clear();
        self.home_start.clear();
        self.home_start.push(0);
        self.joint.clear();
        for member in 0..group.members() {
            let cooperative = group.protocol[member] == Protocol::Cooperative;
            let topics = group.subscription_numbers(crate::id::MemberIndex::new(member as u32));
            let (mut next, mut end, mut subscribed) = (0, 0, false);
            let from = group.claim_start[member];
            for (at, &p) in
                group.claims[from as usize..group.claim_start[member + 1] as usize].iter().enumerate()
            {
                if row::get(&self.stale, from + at as u32) {
                    continue;
                }
                if p >= end {
                    let topic = group.topology.topic_of(PartitionIndex::new(p)).get();
                    end = bases[topic as usize + 1];
                    next += topics[next..].partition_point(|&t| t < topic);
                    subscribed = topics.get(next) == Some(&topic);
                }
                let contested = row::get(&self.contested, p);
                self.findings.double_claims += u32::from(contested);
                self.findings.unsubscribed_claims += u32::from(!subscribed);
                if !contested && subscribed {
                    row::set(&mut self.claimed, p);
                    self.home.push(p);
                } else if cooperative {
                    if contested {
                        self.joint.push((p, member as u32));
                    }
                    row::set(&mut self.still_held, p);
                }
            }
            self.home_start.push(self.home.len() as u32);
        }
        self.keep_single_joint();
    }

    /// Leaves in `joint` the contested partitions with exactly one cooperative holder.
    fn keep_single_joint(&mut self) {
        self.joint.sort_unstable();
        let mut kept = 0;
        let mut at = 0;
        while at < self.joint.len() {
            let p = self.joint[at].0;
            let same = self.joint[at..].iter().take_while(|entry| entry.0 == p).count();
            if same == 1 {
                self.joint[kept] = self.joint[at];
                kept += 1;
            }
            at += same;
        }
        self.joint.truncate(kept);
    }

    /// Whether the claim at position `at` of the group's flat list is the only one of the highest generation.
    pub(crate) fn only_holder(&self, at: u32, partition: u32) -> bool {
        !row::get(&self.stale, at) && !row::get(&self.contested, partition)
    }

    /// Whether `member` is the one cooperative holder that binds `partition`: then nobody else is in the way.
    pub(crate) fn only_held_by(&self, partition: u32, member: u32) -> bool {
        self.joint.binary_search(&(partition, member)).is_ok()
    }
}

/// Makes sure that a cleared vector takes `len` elements without an allocation.
pub(crate) fn reserve<T>(list: &mut Vec<T>, len: usize) {
    list.clear();
    list.reserve(len);
}
