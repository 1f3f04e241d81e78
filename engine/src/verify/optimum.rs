//! The optimum, found without the planner, and how far a plan is from it.

use alloc::vec::Vec;

use super::certificate::{Certificate, NO_BLOCK};
use super::flow::Network;
use super::levels;
use super::proposal::{Fault, Proposal};
use super::tally::Tally;
use crate::group::Group;
use crate::rack::{Objective, Weights};

/// What the best plans of a group have in common, with a certificate that fits each of them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct Optimum {
    /// Loads of all members, descending.
    pub loads: Vec<u32>,
    /// Moves.
    pub moves: u32,
    /// Rack mismatches.
    pub rack_mismatches: u32,
    /// Shows it.
    pub certificate: Certificate,
}

/// Finds what the best plans of a group have in common, by plain algorithms that share nothing with the planner:
/// exchanges along shortest chains for the balance, successive cheapest paths for the cost.
///
/// Cost: far above the planner's: O(exchanges · A) and a minimum-cost flow over 2A arcs; it allocates. For checks
/// and reports, not for rounds.
///
/// # Examples
///
/// ```
/// use tenure::plan::Assignor;
/// use tenure::rack::Objective;
/// use tenure::verify::{self, Proposal};
/// use tenure::{Group, Topology};
///
/// let topology = Topology::builder().topic("a", 3).topic("b", 2).build()?;
/// let mut builder = Group::builder(&topology);
/// builder.member("x").topic("a").topic("b").owned("a", 0..3).owned("b", 0..2).generation(1);
/// builder.member("y").topic("b");
/// let group = builder.build()?;
///
/// let best = verify::optimum(&group, Objective::default());
/// assert_eq!((&best.loads[..], best.moves), (&[3, 2][..], 2));
/// let (plan, _) = Assignor::default().assign(&group)?;
/// let proposal = Proposal::from_lists(&group, |m| plan.target(m).iter().copied());
/// assert_eq!(verify::check(&group, &proposal, &best.certificate)?.moves, 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn optimum(group: &Group, objective: Objective) -> Optimum {
    let classes = group.classes();
    let found = levels::find(classes);
    let mut certificate = Certificate { objective, ..Certificate::default() };
    name_blocks(&found.level, group, &mut certificate);
    let (moves, rack_mismatches) = settle(group, &mut certificate);
    let mut loads = found.load;
    loads.sort_unstable_by(|a, b| b.cmp(a));
    Optimum { loads, moves, rack_mismatches, certificate }
}

/// One block for each level.
fn name_blocks(level: &[u32], group: &Group, certificate: &mut Certificate) {
    let classes = group.classes();
    let active = |m: usize| classes.member_start[m] < classes.member_start[m + 1];
    let mut levels: Vec<u32> = (0..level.len()).filter(|&m| active(m)).map(|m| level[m]).collect();
    levels.sort_unstable_by(|a, b| b.cmp(a));
    levels.dedup();
    certificate.block = (0..level.len())
        .map(|m| match levels.iter().position(|&l| l == level[m]) {
            Some(block) if active(m) => block as u32,
            _ => NO_BLOCK,
        })
        .collect();
    certificate.level = levels;
}

/// The least cost over all plans that fit the blocks; fills the potentials. Returns moves and mismatches.
fn settle(group: &Group, certificate: &mut Certificate) -> (u32, u32) {
    let classes = group.classes();
    let weights = Weights::of(group, certificate.objective);
    let (members, blocks) = (group.members(), certificate.level.len());
    let level = |m: usize| match certificate.block[m] {
        NO_BLOCK => 0,
        block => certificate.level[block as usize],
    };
    // Members, then classes, then terminals. A level of 0 holds members with nothing at all.
    let mut network = Network::new(members + classes.len() + blocks);
    let mut through = alloc::vec![0i64; blocks];
    for m in 0..members {
        let block = certificate.block[m];
        if block != NO_BLOCK {
            let least = i64::from(level(m)) - 1;
            network.excess[m] = -least.max(0);
            through[block as usize] -= least.max(0);
            if least >= 0 {
                network.arc(m, members + classes.len() + block as usize, 1, 0);
            }
        }
    }
    let mut parts = Vec::new();
    let tally = Tally::homes(group);
    for (c, bounds) in classes.class_start.windows(2).enumerate() {
        let range = bounds[0] as usize..bounds[1] as usize;
        let size = i64::from(classes.size[c]);
        let least = range.clone().map(|at| level(classes.class_member[at] as usize)).min().unwrap_or(0);
        network.excess[members + c] = size;
        for at in range {
            let (m, arc) = (classes.class_member[at] as usize, classes.class_arc[at] as usize);
            if level(m) != least || size == 0 {
                continue;
            }
            let mismatch = classes.mismatch.get(arc) == Some(&true);
            let cost = if mismatch { weights.mismatch } else { 0 };
            let home = i64::from(tally.home[arc]);
            for (capacity, cost, stays) in [(home, cost - weights.moved, true), (size, cost, false)] {
                if capacity > 0 {
                    parts.push((network.arc(members + c, m, capacity, cost), mismatch, stays));
                }
            }
        }
        let open = classes.class_member[bounds[0] as usize..bounds[1] as usize]
            .iter()
            .find(|&&m| level(m as usize) == least);
        if let Some(&m) = open {
            through[certificate.block[m as usize] as usize] += size;
        }
    }
    for (block, &rest) in through.iter().enumerate() {
        network.excess[members + classes.len() + block] -= rest;
    }
    let solved = network.solve();
    debug_assert!(solved, "the levels come from a plan, so there is one");
    certificate.member = network.potential[..members].to_vec();
    certificate.class = network.potential[members..members + classes.len()].to_vec();
    certificate.terminal = network.potential[members + classes.len()..].to_vec();
    let sum = |keep: &dyn Fn(bool, bool) -> bool| -> i64 {
        parts.iter().filter(|part| keep(part.1, part.2)).map(|part| network.flow(part.0)).sum()
    };
    let homes: i64 = tally.home.iter().map(|&home| i64::from(home)).sum();
    ((homes - sum(&|_, stays| stays)) as u32, sum(&|mismatch, _| mismatch) as u32)
}

/// How far a valid plan is from the best ones.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct Distance {
    /// Loads of the plan, descending.
    pub loads: Vec<u32>,
    /// Sum of the squares of its loads.
    pub sum_of_squares: u64,
    /// That of the best balance: never more.
    pub best_sum_of_squares: u64,
    /// Moves of the plan.
    pub moves: u32,
    /// Its rack mismatches.
    pub rack_mismatches: u32,
    /// What the best plans have.
    pub best: Optimum,
}

impl Distance {
    /// Whether no plan is better balanced.
    pub fn balanced(&self) -> bool {
        self.loads == self.best.loads
    }

    /// Moves more than the best plans need. Negative only if the plan is worse in what comes before.
    pub fn moves_too_many(&self) -> i64 {
        i64::from(self.moves) - i64::from(self.best.moves)
    }

    /// Rack mismatches more than the best plans need. Negative only if the plan is worse in what comes before.
    pub fn mismatches_too_many(&self) -> i64 {
        i64::from(self.rack_mismatches) - i64::from(self.best.rack_mismatches)
    }

    /// Whether no plan is better in balance, moves and rack mismatches.
    pub fn optimal(&self) -> bool {
        self.balanced() && self.moves_too_many() == 0 && self.mismatches_too_many() == 0
    }
}

/// How far a plan is from the best ones, found without the planner.
///
/// Cost: as [`optimum`].
///
/// # Errors
///
/// Everything that makes the plan invalid.
///
/// # Panics
///
/// If the proposal was made for another group.
pub fn measure(group: &Group, proposal: &Proposal, objective: Objective) -> Result<Distance, Vec<Fault>> {
    let faults = proposal.faults(group);
    if !faults.is_empty() {
        return Err(faults);
    }
    let tally = Tally::of(group, proposal);
    let best = optimum(group, objective);
    let squares = |loads: &[u32]| loads.iter().map(|&load| u64::from(load) * u64::from(load)).sum();
    let mut loads = tally.load;
    loads.sort_unstable_by(|a, b| b.cmp(a));
    Ok(Distance {
        sum_of_squares: squares(&loads),
        best_sum_of_squares: squares(&best.loads),
        loads,
        moves: tally.moves,
        rack_mismatches: tally.mismatches,
        best,
    })
}
