//! What claims mean for a plan: who rightly owns a partition, and who still holds it.

use tenure::Group;
use tenure::group::Protocol;
use tenure::id::{Generation, MemberIndex, PartitionIndex};
use tenure::verify::Proposal;

/// Why a partition has, or has not, an owner from whom it could be moved.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Standing {
    /// Nobody claims it.
    Unclaimed,
    /// Its only holder subscribes to it.
    Owned(MemberIndex),
    /// Its only holder does not subscribe to it any more.
    Deserted(MemberIndex),
    /// Several members claim it in the highest generation.
    Disputed,
}

/// The claims of a group, settled. Memory: 13 bytes a partition.
#[derive(Clone, Debug)]
pub struct Claims {
    generation: Vec<i32>,
    holder: Vec<u32>,
    claimants: Vec<u32>,
    disputed: Vec<bool>,
}

const NOBODY: u32 = u32::MAX;

impl Claims {
    /// Settles the claims: a holder claims a partition in the highest generation among its claimants.
    /// Cost: O(P + claims).
    pub fn of(group: &Group) -> Self {
        let partitions = group.topology().partitions();
        let mut claims = Self {
            generation: vec![i32::MIN; partitions],
            holder: vec![NOBODY; partitions],
            claimants: vec![0; partitions],
            disputed: vec![false; partitions],
        };
        for member in group.member_indices() {
            let generation = Generation::to_wire(group.generation(member));
            for p in group.claims(member).map(PartitionIndex::at) {
                claims.claimants[p] += 1;
                if generation > claims.generation[p] {
                    claims.generation[p] = generation;
                    claims.holder[p] = member.get();
                    claims.disputed[p] = false;
                } else if generation == claims.generation[p] {
                    claims.disputed[p] = true;
                }
            }
        }
        claims
    }

    /// Where a partition stands.
    pub fn standing(&self, group: &Group, partition: PartitionIndex) -> Standing {
        match self.holder[partition.at()] {
            NOBODY => Standing::Unclaimed,
            _ if self.disputed[partition.at()] => Standing::Disputed,
            holder => {
                let holder = MemberIndex::new(holder);
                if group.subscribes(holder, group.topology().topic_of(partition)) {
                    Standing::Owned(holder)
                } else {
                    Standing::Deserted(holder)
                }
            }
        }
    }

    /// How many members claim a partition.
    pub fn claimants(&self, partition: PartitionIndex) -> u32 {
        self.claimants[partition.at()]
    }

    /// Whether a member is a holder of a partition that it claims.
    pub fn holds(&self, group: &Group, member: MemberIndex, partition: PartitionIndex) -> bool {
        self.generation[partition.at()] == Generation::to_wire(group.generation(member))
    }
}

/// A partition that is given away while a cooperative member still holds it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TooSoon {
    /// The partition.
    pub partition: PartitionIndex,
    /// Who gets it.
    pub to: MemberIndex,
    /// Who holds it.
    pub holder: MemberIndex,
}

/// All partitions of a round that are given away too soon (KIP-429). Cost: O(claims).
pub fn too_soon(group: &Group, claims: &Claims, assignments: &Proposal) -> Vec<TooSoon> {
    let mut found = Vec::new();
    for holder in group.member_indices().filter(|&m| group.protocol(m) == Protocol::Cooperative) {
        for partition in group.claims(holder).filter(|&p| claims.holds(group, holder, p)) {
            if let Some(to) = assignments.owner(partition)
                && to != holder
            {
                found.push(TooSoon { partition, to, holder });
            }
        }
    }
    found
}

/// The figures of a plan.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct Figures {
    /// Loads of all members, descending.
    pub loads: Vec<u32>,
    /// Sum of their squares.
    pub sum_of_squares: u64,
    /// Partitions that leave a valid owner.
    pub moves: u32,
    /// Partitions at odds with their owner's rack.
    pub rack_mismatches: u32,
}

/// Counts what a plan costs. Cost: O(P log T + M log M).
pub fn figures(group: &Group, claims: &Claims, plan: &Proposal) -> Figures {
    let mut figures = Figures { loads: vec![0; group.members()], ..Figures::default() };
    let numbers = 0..u32::try_from(group.topology().partitions()).unwrap_or(u32::MAX);
    for partition in numbers.map(PartitionIndex::new) {
        let owner = plan.owner(partition);
        if let Standing::Owned(before) = claims.standing(group, partition)
            && owner != Some(before)
        {
            figures.moves += 1;
        }
        let Some(owner) = owner else { continue };
        figures.loads[owner.at()] += 1;
        figures.rack_mismatches += u32::from(group.rack_mismatch(owner, partition));
    }
    figures.loads.sort_unstable_by(|a, b| b.cmp(a));
    figures.sum_of_squares = figures.loads.iter().map(|&load| u64::from(load) * u64::from(load)).sum();
    figures
}
