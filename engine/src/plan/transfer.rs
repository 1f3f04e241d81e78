//! What binds a cooperative round beyond the kernels' own bookkeeping.

use super::target::Plan;
use crate::group::{Group, NONE, Protocol};
use crate::id::PartitionIndex;
use crate::owned::claims::Settled;
use crate::owned::row;

/// Lists the partitions of topics without subscribers, with their only holder: the draft of KIP-429 gives
/// these back.
pub(super) fn collect_orphans(group: &Group, settled: &Settled, plan: &mut Plan) {
    if settled.findings.unsubscribed_claims == 0 {
        return;
    }
    for member in 0..group.members() {
        if group.protocol[member] == Protocol::Eager {
            continue;
        }
        for (at, p) in group.claim_numbers(crate::id::MemberIndex::new(member as u32)).iter().enumerate() {
            let topic = group.topology.topic_of(PartitionIndex::new(*p));
            if group.classes.of_topic[topic.at()] == NONE
                && settled.only_holder(group.claim_start[member] + at as u32, *p)
            {
                plan.orphans.push((member as u32, *p));
            }
        }
    }
}

/// Marks the transfers of a plan that was made without regard to claims (range, round robin), and counts
/// its moves. Cost: O(P + claims), nothing if nobody claims anything.
pub(super) fn mark(group: &Group, settled: &mut Settled, plan: &mut Plan) -> u32 {
    row::reset(&mut plan.transfers, group.topology.partitions());
    plan.transfer_count = 0;
    plan.all_kept = false;
    plan.orphans.clear();
    settled.settle(group);
    collect_orphans(group, settled, plan);
    let mut moves = 0;
    // Owners that lose a partition still hold it if they are cooperative.
    for member in group.member_indices() {
        let mut assigned = plan.target(member).iter().map(|p| p.get()).peekable();
        let cooperative = group.protocol(member) == Protocol::Cooperative;
        for at in settled.home_start[member.at()]..settled.home_start[member.at() + 1] {
            let p = settled.home[at as usize];
            while assigned.next_if(|&q| q < p).is_some() {}
            if assigned.next_if_eq(&p).is_none() {
                moves += 1;
                if cooperative {
                    row::set(&mut settled.still_held, p);
                }
            }
        }
    }
    for (member, bounds) in plan.start.windows(2).enumerate() {
        for p in &plan.partitions[bounds[0] as usize..bounds[1] as usize] {
            let p = p.get();
            if row::get(&settled.still_held, p) && !settled.only_held_by(p, member as u32) {
                row::set(&mut plan.transfers, p);
                plan.transfer_count += 1;
            }
        }
    }
    moves
}
