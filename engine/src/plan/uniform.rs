//! The uniform kernel: all members subscribe alike, so quotas are known before anything else. O(P + M).
//!
//! One pass over the claims sets a bit for each partition that is kept and writes it straight into its
//! member's slice; then the bits that stayed clear are dealt out. Nothing is hashed, sorted or looked up.
//! `Σ min(owned, quota)` partitions are kept, and no balanced plan keeps more: that proves the plan.

use alloc::vec::Vec;

use super::config::Spread;
use super::outcome::{Outcome, Path, Proof, Stats};
use super::scratch::Scratch;
use super::spread::resize;
use super::target::Plan;
use crate::group::{Group, NONE, Shape};
use crate::id::PartitionIndex;
use crate::owned::claims::{Findings, reserve};
use crate::owned::row;
use crate::rack::Objective;
use crate::verify::{Certificate, NO_BLOCK};

/// Memory of the uniform kernel.
#[derive(Clone, Debug, Default)]
pub(super) struct Work {
    over: Vec<u32>,
    /// How many partitions each subscribed member gets dealt; a uniform group has one arc for each.
    want: Vec<u32>,
}

impl Work {
    pub(super) fn reserve(&mut self, shape: &Shape) {
        reserve(&mut self.over, shape.members);
        reserve(&mut self.want, shape.members);
    }

    pub(super) fn memory_usage(&self) -> usize {
        (self.over.capacity() + self.want.capacity()) * 4
    }
}

/// Plans a group whose subscribed members all subscribe alike.
pub(super) fn plan(group: &Group, scratch: &mut Scratch, plan: &mut Plan) -> Outcome {
    let partitions = group.topology.partitions();
    row::reset(&mut plan.transfers, partitions);
    plan.transfer_count = 0;
    plan.orphans.clear();
    scratch.spread.begin();
    resize(&mut plan.partitions, group.classes.assignable as usize);

    let settled = &mut scratch.settled;
    row::reset(&mut settled.claimed, partitions);
    row::reset(&mut settled.still_held, partitions);
    settled.joint.clear();
    settled.findings = Findings { foreign_claims: group.foreign.len() as u32, ..Findings::default() };
    mark_unsubscribed(group, &mut settled.claimed);
    set_quotas(group, &group.claim_start, plan);
    if let Some(moves) = keep::<true>(group, &group.claim_start, &group.claims, scratch, plan) {
        return finish(group, scratch, plan, Path::Uniform, moves);
    }

    scratch.settled.settle(group);
    let home_start = core::mem::take(&mut scratch.settled.home_start);
    let home = core::mem::take(&mut scratch.settled.home);
    set_quotas(group, &home_start, plan);
    let moves = keep::<false>(group, &home_start, &home, scratch, plan).unwrap_or(0);
    scratch.settled.home_start = home_start;
    scratch.settled.home = home;
    super::transfer::collect_orphans(group, &scratch.settled, plan);
    finish(group, scratch, plan, Path::UniformSettled, moves)
}

/// Partitions that nobody subscribes to count as taken, so that a claim on one shows as a double claim.
fn mark_unsubscribed(group: &Group, claimed: &mut [u64]) {
    if group.classes.assignable as usize == group.topology.partitions() {
        return;
    }
    for (&class, pair) in group.classes.of_topic.iter().zip(group.topology.bases().windows(2)) {
        if class == NONE {
            row::set_range(claimed, pair[0], pair[1]);
        }
    }
}

/// Writes every member's bounds: `floor`, and one more for the first `P mod M` of those that own most.
fn set_quotas(group: &Group, owned_start: &[u32], plan: &mut Plan) {
    let classes = group.classes();
    plan.start.clear();
    plan.start.push(0);
    let active = classes.active.max(1);
    let (floor, extra) = (classes.assignable / active, classes.assignable % active);
    // Those above the floor come first, then those at it, then the rest; each in order.
    let mut left = extra;
    let mut above = 0;
    let mut at_floor = 0;
    for pair in owned_start.windows(2) {
        above += u32::from(pair[1] - pair[0] > floor);
        at_floor += u32::from(pair[1] - pair[0] == floor);
    }
    let mut for_above = left.min(above);
    left -= for_above;
    let mut for_floor = left.min(at_floor);
    left -= for_floor;
    let mut end = 0;
    for (member, pair) in owned_start.windows(2).enumerate() {
        if classes.member_start[member] < classes.member_start[member + 1] {
            let owned = pair[1] - pair[0];
            let from = match owned.cmp(&floor) {
                core::cmp::Ordering::Greater => &mut for_above,
                core::cmp::Ordering::Equal => &mut for_floor,
                core::cmp::Ordering::Less => &mut left,
            };
            end += floor;
            if *from > 0 {
                *from -= 1;
                end += 1;
            }
        }
        plan.start.push(end);
    }
}

/// Copies what each member keeps into its slice. With `TEST`, gives up with `None` at the first claim that is
/// in doubt. Returns the number of moves.
fn keep<const TEST: bool>(
    group: &Group,
    owned_start: &[u32],
    owned: &[u32],
    scratch: &mut Scratch,
    plan: &mut Plan,
) -> Option<u32> {
    let settled = &mut scratch.settled;
    let spread = &mut scratch.spread;
    let over = &mut scratch.uniform.over;
    over.clear();
    spread.fill.clear();
    let claimed = &mut settled.claimed[..];
    for (member, bounds) in owned_start.windows(2).enumerate() {
        let list = &owned[bounds[0] as usize..bounds[1] as usize];
        let start = plan.start[member] as usize;
        let quota = plan.start[member + 1] as usize - start;
        if list.len() > quota {
            // Chosen below, when all bits are known.
            if TEST
                && (quota == 0
                    && group.classes.member_start[member] == group.classes.member_start[member + 1])
            {
                return None;
            }
            over.push(member as u32);
            spread.fill.push(start as u32);
            if TEST {
                let mut doubt = false;
                for &p in list {
                    doubt |= row::test_and_set(claimed, p);
                }
                if doubt {
                    return None;
                }
            }
            continue;
        }
        let out = &mut plan.partitions[start..start + list.len()];
        if TEST {
            let mut doubt = false;
            for (out, &p) in out.iter_mut().zip(list) {
                doubt |= row::test_and_set(claimed, p);
                *out = PartitionIndex::new(p);
            }
            if doubt {
                return None;
            }
        } else {
            for (out, &p) in out.iter_mut().zip(list) {
                *out = PartitionIndex::new(p);
            }
        }
        spread.fill.push((start + list.len()) as u32);
    }
    let mut moves = 0;
    for &member in over.iter() {
        let member = member as usize;
        let list = &owned[owned_start[member] as usize..owned_start[member + 1] as usize];
        let quota = plan.start[member + 1] - plan.start[member];
        let excess = list.len() as u32 - quota;
        moves += excess;
        spread.give_up(group, member, list, NONE, excess, settled);
        let mut fill = plan.start[member] as usize;
        for &p in list {
            if row::get(&settled.claimed, p) {
                plan.partitions[fill] = PartitionIndex::new(p);
                fill += 1;
            }
        }
        spread.fill[member] = fill as u32;
    }
    Some(moves)
}

/// Writes what proves the plan that was just made: one block, and potentials by the bound on what is kept.
pub(super) fn certify(
    group: &Group,
    path: Path,
    objective: Objective,
    scratch: &Scratch,
    plan: &Plan,
    certificate: &mut Certificate,
) {
    let classes = group.classes();
    certificate.clear();
    certificate.objective = objective;
    certificate.block.resize(group.members(), NO_BLOCK);
    certificate.member.resize(group.members(), 0);
    certificate.class.resize(classes.len(), 0);
    let homes = if path == Path::Uniform { &group.claim_start } else { &scratch.settled.home_start };
    let level = classes.assignable.div_ceil(classes.active.max(1));
    let load = |m: usize| plan.start[m + 1] - plan.start[m];
    let gives = |m: usize| homes[m + 1] - homes[m] > load(m);
    // A giver below the level pulls the terminal down, and with it all at the level: they have nothing foreign.
    let low = classes.class_member.iter().any(|&m| gives(m as usize) && load(m as usize) < level);
    for &m in &classes.class_member {
        let m = m as usize;
        certificate.block[m] = 0;
        certificate.member[m] = -i64::from(gives(m) || (low && load(m) == level));
    }
    if classes.active > 0 {
        certificate.level.push(level);
        certificate.terminal.push(-i64::from(low));
    }
}

/// Deals the free partitions, if any, and sums up.
fn finish(group: &Group, scratch: &mut Scratch, plan: &mut Plan, path: Path, moves: u32) -> Outcome {
    let classes = group.classes();
    let spread = &mut scratch.spread;
    let want = &mut scratch.uniform.want;
    want.clear();
    let mut free = 0;
    for &member in &classes.class_member {
        let room = plan.start[member as usize + 1] - spread.fill[member as usize];
        free += room;
        want.push(room);
    }
    if free > 0 {
        spread.deal(group, &scratch.settled, plan, want);
    }
    plan.all_kept = path == Path::Uniform && moves == 0 && group.foreign.is_empty();
    let active = classes.active.max(1);
    let (floor, extra) = (classes.assignable / active, classes.assignable % active);
    let (floor_wide, extra_wide) = (u64::from(floor), u64::from(extra));
    let stats = Stats {
        partitions: group.topology.partitions() as u32,
        members: group.members() as u32,
        load_min: floor,
        load_max: floor + u32::from(extra > 0),
        sum_of_squares: u64::from(active) * floor_wide * floor_wide + extra_wide * (2 * floor_wide + 1),
        moves,
        rack_mismatches: 0,
    };
    let findings = scratch.settled.findings;
    Outcome { path, findings, stats, proof: Proof::OPTIMAL, spread: Spread::Greedy }
}
