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
    /// How many partitions each subscribed member gets dealt; a uniform group has one arc for each.
    want: Vec<u32>,
}

impl Work {
    pub(super) fn reserve(&mut self, shape: &Shape) {
        reserve(&mut self.want, shape.members);
    }

    pub(super) fn memory_usage(&self) -> usize {
        self.want.capacity() * 4
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
    if clean(group, &mut settled.claimed) {
        let kept = keep(group, &group.claim_start, &group.claims, scratch, plan);
        return finish(group, scratch, plan, Path::Uniform, kept, group.claims.len() as u32 - kept);
    }

    scratch.settled.settle(group);
    let home_start = core::mem::take(&mut scratch.settled.home_start);
    let home = core::mem::take(&mut scratch.settled.home);
    set_quotas(group, &home_start, plan);
    let kept = keep(group, &home_start, &home, scratch, plan);
    let moves = home.len() as u32 - kept;
    scratch.settled.home_start = home_start;
    scratch.settled.home = home;
    super::transfer::collect_orphans(group, &scratch.settled, plan);
    finish(group, scratch, plan, Path::UniformSettled, kept, moves)
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
    let all = classes.active as usize == group.members();
    for (member, pair) in owned_start.windows(2).enumerate() {
        if all || classes.member_start[member] < classes.member_start[member + 1] {
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

/// Whether no claim is in doubt: none is of a member that subscribes to nothing, and none falls on a bit that is
/// set. If so, all of them are set afterwards.
fn clean(group: &Group, claimed: &mut [u64]) -> bool {
    let arcs = group.classes.member_start.windows(2);
    let stranger = |(claims, arcs): (&[u32], &[u32])| claims[0] < claims[1] && arcs[0] == arcs[1];
    if group.classes.active as usize != group.members()
        && group.claim_start.windows(2).zip(arcs).any(stranger)
    {
        return false;
    }
    // As many bits more as there are claims: then each had its own. Asking bit by bit costs half as much again.
    let before = row::count(claimed);
    row::set_all(claimed, &group.claims);
    row::count(claimed) == before + group.claims.len()
}

/// Copies what each member keeps into its slice; the bits of all valid claims are set before. Returns the number of
/// partitions kept.
fn keep(group: &Group, owned_start: &[u32], owned: &[u32], scratch: &mut Scratch, plan: &mut Plan) -> u32 {
    let settled = &mut scratch.settled;
    let spread = &mut scratch.spread;
    spread.fill.clear();
    let mut given = 0;
    for (member, (bounds, quota)) in owned_start.windows(2).zip(plan.start.windows(2)).enumerate() {
        let list = &owned[bounds[0] as usize..bounds[1] as usize];
        let (start, quota) = (quota[0] as usize, quota[1] - quota[0]);
        let excess = (list.len() as u32).saturating_sub(quota);
        if excess == 0 {
            for (out, &p) in plan.partitions[start..start + list.len()].iter_mut().zip(list) {
                *out = PartitionIndex::new(p);
            }
            spread.fill.push((start + list.len()) as u32);
            continue;
        }
        given += excess;
        spread.give_up(group, member, list, NONE, excess, settled);
        let kept = spread.kept_of(list, &settled.claimed);
        plan.partitions[start..start + kept.len()].copy_from_slice(kept);
        let end = start + kept.len();
        spread.fill.push(end as u32);
    }
    owned.len() as u32 - given
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
fn finish(
    group: &Group,
    scratch: &mut Scratch,
    plan: &mut Plan,
    path: Path,
    kept: u32,
    moves: u32,
) -> Outcome {
    let classes = group.classes();
    let spread = &mut scratch.spread;
    let want = &mut scratch.uniform.want;
    if kept < classes.assignable {
        want.clear();
        let room = |&member: &u32| plan.start[member as usize + 1] - spread.fill[member as usize];
        want.extend(classes.class_member.iter().map(room));
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
