//! From flows to concrete partitions.

use crate::group::Group;
use crate::id::PartitionIndex;
use crate::plan::outcome::Stats;
use crate::plan::scratch::Scratch;
use crate::plan::spread::resize;
use crate::plan::target::Plan;

/// Writes the plan that has `flow` partitions on each arc, and its figures.
pub(super) fn write(group: &Group, clean: bool, scratch: &mut Scratch, plan: &mut Plan) -> Stats {
    let classes = group.classes();
    let mut stats = Stats {
        partitions: group.topology.partitions() as u32,
        members: group.members() as u32,
        load_min: u32::MAX,
        ..Stats::default()
    };
    resize(&mut plan.partitions, classes.assignable as usize);
    plan.start.clear();
    plan.start.push(0);
    let mut end = 0;
    for (member, arcs) in classes.member_start.windows(2).enumerate() {
        let load = scratch.general.load[member];
        end += load;
        plan.start.push(end);
        stats.load_max = stats.load_max.max(load);
        stats.sum_of_squares += u64::from(load) * u64::from(load);
        if arcs[0] < arcs[1] {
            stats.load_min = stats.load_min.min(load);
        }
    }
    if stats.load_min == u32::MAX {
        stats.load_min = 0;
    }
    // Lent out of the scratch, so that both can be worked on.
    let home_start = core::mem::take(&mut scratch.settled.home_start);
    let home = core::mem::take(&mut scratch.settled.home);
    let (starts, list) = if clean { (&group.claim_start, &group.claims) } else { (&home_start, &home) };
    stats.moves = keep(group, starts, list, scratch, plan);
    scratch.settled.home_start = home_start;
    scratch.settled.home = home;
    if scratch.general.may_mismatch() {
        stats.rack_mismatches = mismatches(group, scratch);
    }
    let kept: u32 = scratch.spread.fill.iter().zip(&plan.start).map(|(fill, start)| fill - start).sum();
    if kept == 0 && classes.by_rack() && scratch.settled.still_held.iter().all(|&word| word == 0) {
        scratch.spread.deal_all(group, plan, scratch.general.wanted());
    } else if kept < classes.assignable {
        scratch.general.write_flow(classes);
        deal(group, scratch, plan);
    }
    stats
}

fn mismatches(group: &Group, scratch: &Scratch) -> u32 {
    let pairs = scratch.general.flow.iter().zip(&group.classes().mismatch);
    pairs.map(|(&flow, &mismatch)| flow & u32::from(mismatch).wrapping_neg()).sum()
}

/// Copies what each member keeps; returns the number of moves.
fn keep(group: &Group, starts: &[u32], list: &[u32], scratch: &mut Scratch, plan: &mut Plan) -> u32 {
    let classes = group.classes();
    let settled = &mut scratch.settled;
    let spread = &mut scratch.spread;
    let work = &scratch.general;
    spread.begin();
    spread.fill.clear();
    let mut moves = 0;
    for (member, arcs) in classes.member_start.windows(2).enumerate() {
        let claims = &list[starts[member] as usize..starts[member + 1] as usize];
        let mut given = 0;
        let away = if work.away[member] { arcs[0] as usize..arcs[1] as usize } else { 0..0 };
        for arc in away {
            let excess = work.home[arc].saturating_sub(work.flow[arc]);
            if excess > 0 {
                let class = classes.arc_class[arc];
                spread.give_up(group, member, claims, class, excess, settled);
                given += excess;
            }
        }
        let mut fill = plan.start[member] as usize;
        if given == 0 {
            for (out, &p) in plan.partitions[fill..fill + claims.len()].iter_mut().zip(claims) {
                *out = PartitionIndex::new(p);
            }
            fill += claims.len();
        } else {
            let kept = spread.kept_of(claims, &settled.claimed);
            plan.partitions[fill..fill + kept.len()].copy_from_slice(kept);
            fill += kept.len();
        }
        spread.fill.push(fill as u32);
        moves += given;
    }
    moves
}

/// Deals what nobody keeps; the flow becomes what is still wanted on the way.
fn deal(group: &Group, scratch: &mut Scratch, plan: &mut Plan) {
    let work = &mut scratch.general;
    for (flow, &home) in work.flow.iter_mut().zip(&work.home) {
        *flow = flow.saturating_sub(home);
    }
    scratch.spread.deal(group, &scratch.settled, plan, &mut work.flow);
}
