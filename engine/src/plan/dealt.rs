//! Plans that are dealt out afresh each time, without regard to claims: range and round robin.
//!
//! ```text
//! group ──► ranks ──► range | roundrobin ──► owner of each partition ──► the plan's lists
//! ```

use alloc::vec::Vec;

use super::config::Spread;
use super::outcome::{Outcome, Path, Proof, Stats, Verdict};
use super::ranks::Ranks;
use super::scratch::Scratch;
use super::spread::resize;
use super::target::Plan;
use super::{range, roundrobin, transfer};
use crate::group::{Group, NONE, Shape};
use crate::id::{MemberIndex, PartitionIndex};
use crate::owned::claims::reserve;

/// Memory of both.
#[derive(Clone, Debug, Default)]
pub(super) struct Work {
    ranks: Ranks,
    range: range::Work,
    /// Member of each partition, or [`NONE`]; P.
    owner: Vec<u32>,
    /// Where each member's next partition goes; M.
    next: Vec<u32>,
}

impl Work {
    pub(super) fn reserve(&mut self, shape: &Shape) {
        self.ranks.reserve(shape);
        self.range.reserve(shape);
        reserve(&mut self.owner, shape.partitions);
        reserve(&mut self.next, shape.members);
    }

    pub(super) fn memory_usage(&self) -> usize {
        let own = (self.owner.capacity() + self.next.capacity()) * 4;
        own + self.ranks.memory_usage() + self.range.memory_usage()
    }
}

/// Topic by topic, in ranges.
pub(super) fn range(group: &Group, scratch: &mut Scratch, plan: &mut Plan) -> Outcome {
    let Work { ranks, range, owner, .. } = &mut scratch.dealt;
    ranks.rebuild(group);
    resize(owner, group.topology.partitions());
    range::choose(&group.topology, &group.classes.of_topic, ranks, &group.rack, range, owner);
    finish(group, Path::Range, scratch, plan)
}

/// All partitions in turn.
pub(super) fn roundrobin(group: &Group, scratch: &mut Scratch, plan: &mut Plan) -> Outcome {
    let Work { ranks, owner, .. } = &mut scratch.dealt;
    ranks.rebuild(group);
    resize(owner, group.topology.partitions());
    roundrobin::choose(group.topology.bases(), &group.classes.of_topic, ranks, owner);
    finish(group, Path::RoundRobin, scratch, plan)
}

/// Writes the owners as lists, marks transfers and counts.
fn finish(group: &Group, path: Path, scratch: &mut Scratch, plan: &mut Plan) -> Outcome {
    let Work { owner, next, .. } = &mut scratch.dealt;
    write(group.members(), owner, next, plan);
    let mut stats = loads(group, plan);
    if group.classes.by_rack() {
        let away = |(p, &member): (usize, &u32)| {
            member != NONE && group.rack_mismatch(MemberIndex::new(member), PartitionIndex::new(p as u32))
        };
        stats.rack_mismatches = owner.iter().enumerate().filter(|&pair| away(pair)).count() as u32;
    }
    stats.moves = transfer::mark(group, &mut scratch.settled, plan);
    let findings = scratch.settled.findings;
    Outcome { path, findings, stats, proof: proof(&stats), spread: Spread::Greedy }
}

/// Sorts the partitions by owner; each member's stay ascending.
pub(super) fn write(members: usize, owner: &[u32], next: &mut Vec<u32>, plan: &mut Plan) {
    let start = &mut plan.start;
    start.clear();
    start.resize(members + 1, 0);
    for &member in owner.iter().filter(|&&member| member != NONE) {
        start[member as usize + 1] += 1;
    }
    for member in 0..members {
        start[member + 1] += start[member];
    }
    next.clear();
    next.extend_from_slice(&start[..members]);
    resize(&mut plan.partitions, start[members] as usize);
    for (p, &member) in owner.iter().enumerate() {
        if member != NONE {
            let at = &mut next[member as usize];
            plan.partitions[*at as usize] = PartitionIndex::new(p as u32);
            *at += 1;
        }
    }
}

fn loads(group: &Group, plan: &Plan) -> Stats {
    let mut stats = Stats {
        partitions: group.topology.partitions() as u32,
        members: group.members() as u32,
        load_min: u32::MAX,
        ..Stats::default()
    };
    for (bounds, arcs) in plan.start.windows(2).zip(group.classes.member_start.windows(2)) {
        let load = bounds[1] - bounds[0];
        stats.load_max = stats.load_max.max(load);
        stats.sum_of_squares += u64::from(load) * u64::from(load);
        if arcs[0] < arcs[1] {
            stats.load_min = stats.load_min.min(load);
        }
    }
    if stats.load_min == u32::MAX {
        stats.load_min = 0;
    }
    stats
}

/// Nothing was optimized, but loads within one, no mismatch and no move can't be bettered.
fn proof(stats: &Stats) -> Proof {
    let mut proof = Proof::UNPROVEN;
    if stats.load_max - stats.load_min.min(stats.load_max) <= 1 {
        proof.balance = Verdict::Optimal;
        if stats.moves == 0 && stats.rack_mismatches == 0 {
            proof.moves = Verdict::Optimal;
        }
    }
    proof
}
