//! Counting along arcs: what members rightly own, what a proposal gives them, and what it lets them keep.

use alloc::vec::Vec;

use super::proposal::Proposal;
use crate::group::{Group, NONE};
use crate::id::{MemberIndex, PartitionIndex};

/// In [`valid_owners`]: two members claim it at the highest generation.
const CONTESTED: u32 = NONE - 1;

/// The valid owner of each partition, or [`NONE`]. Cost: O(P + claims · log T).
pub(super) fn valid_owners(group: &Group) -> Vec<u32> {
    let topology = group.topology();
    let mut holder = alloc::vec![NONE; topology.partitions()];
    for member in group.member_indices() {
        for partition in group.claims(member) {
            let other = holder[partition.at()];
            // A contested partition remembers one of its holders by generation only: both have the same.
            let rival = if other >= CONTESTED { None } else { Some(MemberIndex::new(other)) };
            holder[partition.at()] = match rival {
                None if other == NONE => member.get(),
                None => other,
                Some(rival) if group.generation(rival) < group.generation(member) => member.get(),
                Some(rival) if group.generation(rival) > group.generation(member) => other,
                Some(_) => CONTESTED,
            };
        }
    }
    settle_contested(group, &mut holder);
    for (at, owner) in holder.iter_mut().enumerate() {
        if *owner == NONE {
            continue;
        }
        let topic = topology.topic_of(PartitionIndex::new(at as u32));
        if *owner == CONTESTED || !group.subscribes(MemberIndex::new(*owner), topic) {
            *owner = NONE;
        }
    }
    holder
}

/// A third claim may be above two that voided each other: looks at all claims on contested partitions again.
fn settle_contested(group: &Group, holder: &mut [u32]) {
    let mut contested: Vec<(u32, i32, u32)> = Vec::new();
    for member in group.member_indices() {
        let generation = group.generation(member).map_or(-1, crate::id::Generation::get);
        let claims = group.claims(member).filter(|p| holder[p.at()] == CONTESTED);
        contested.extend(claims.map(|p| (p.get(), generation, member.get())));
    }
    contested.sort_unstable();
    for claims in contested.chunk_by(|a, b| a.0 == b.0) {
        if let [.., (_, second, _), (partition, first, member)] = claims
            && first > second
        {
            holder[*partition as usize] = *member;
        }
    }
}

/// Numbers along the arcs of a group's classes, member-major.
#[derive(Clone, Debug)]
pub(super) struct Tally {
    /// Partitions that the member rightly owns.
    pub(super) home: Vec<u32>,
    /// Partitions that it is given.
    pub(super) flow: Vec<u32>,
    /// Partitions that it rightly owns and is given.
    pub(super) kept: Vec<u32>,
    /// Partitions that each member is given.
    pub(super) load: Vec<u32>,
    pub(super) moves: u32,
    pub(super) mismatches: u32,
}

impl Tally {
    /// Counts a valid proposal. Cost: O(P · log arcs of a member + claims).
    pub(super) fn of(group: &Group, proposal: &Proposal) -> Self {
        let mut tally = Self::homes(group);
        let owners = valid_owners(group);
        for (at, (&owner, &valid)) in proposal.owner.iter().zip(&owners).enumerate() {
            let partition = PartitionIndex::new(at as u32);
            tally.moves += u32::from(valid != NONE && valid != owner);
            if owner == NONE {
                continue;
            }
            let member = MemberIndex::new(owner);
            tally.mismatches += u32::from(group.rack_mismatch(member, partition));
            if let Some(arc) = arc(group, member, partition) {
                tally.flow[arc] += 1;
                tally.load[member.at()] += 1;
                tally.kept[arc] += u32::from(valid == owner);
            }
        }
        tally
    }

    /// Counts only homes.
    pub(super) fn homes(group: &Group) -> Self {
        let arcs = group.classes().arcs();
        let zero = alloc::vec![0; arcs];
        let load = alloc::vec![0; group.members()];
        let mut tally =
            Self { home: zero.clone(), flow: zero.clone(), kept: zero, load, moves: 0, mismatches: 0 };
        for (at, &owner) in valid_owners(group).iter().enumerate() {
            if owner != NONE
                && let Some(arc) = arc(group, MemberIndex::new(owner), PartitionIndex::new(at as u32))
            {
                tally.home[arc] += 1;
            }
        }
        tally
    }
}

/// The arc between a member and the class of a partition.
fn arc(group: &Group, member: MemberIndex, partition: PartitionIndex) -> Option<usize> {
    let classes = group.classes();
    let class = if classes.by_rack() {
        classes.of_partition[partition.at()]
    } else {
        classes.of_topic[group.topology().topic_of(partition).at()]
    };
    let from = classes.member_start[member.at()] as usize;
    let list = &classes.arc_class[from..classes.member_start[member.at() + 1] as usize];
    list.binary_search(&class).ok().map(|at| from + at)
}
