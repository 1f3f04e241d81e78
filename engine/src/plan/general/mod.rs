//! Any subscriptions: best balance, then fewest moves, on classes.
//!
//! ```text
//! claims ──► home: how many of class c member m rightly owns      (homes)
//!        ──► flow: how many it shall have                          (fill, levels, blocks, moves)
//!        ──► partitions, topics kept even                          (realize, spread)
//! ```
//!
//! Numbers run along arcs, the pairs of a member and a class that it may own from; partitions come back
//! only at the end.

mod blocks;
mod cheapest;
mod fill;
mod frontier;
mod homes;
mod moves;
mod parallel;
mod prices;
mod realize;
mod search;
mod seek;

use alloc::vec::Vec;

use blocks::Block;
use frontier::Frontier;

use super::config::{Config, Spread};
use super::outcome::{Outcome, Path, Proof};
use super::scratch::Scratch;
use super::spread::fresh::Wanted;
use super::target::Plan;
use crate::group::{Group, Shape};
use crate::owned::claims::reserve;
use crate::owned::row;
use crate::rack::{Objective, Weights};
use crate::verify::{Certificate, NO_BLOCK};

/// Memory of the general planner.
#[derive(Clone, Debug, Default)]
pub(super) struct Work {
    /// Valid claims of each arc; A.
    pub(super) home: Vec<u32>,
    /// Partitions that each arc shall have; A.
    pub(super) flow: Vec<u32>,
    /// Σ flow of each member; M.
    pub(super) load: Vec<u32>,
    /// Partitions of each class without a member so far; C.
    pub(super) free: Vec<u32>,
    /// Σ home of each member; M.
    home_load: Vec<u32>,
    arc_of_class: Vec<u32>,
    order: Vec<u64>,
    levels: Vec<u32>,
    /// Partitions of each arc that are not at home there, in the order of classes; A. What filling counts and a
    /// search reads; stale once moves are settled.
    foreign: Vec<u32>,
    /// Active members, those of a scope next to each other.
    members: Vec<u32>,
    spare: Vec<u32>,
    /// The scope (at last the block) of each member and class.
    scope: Vec<u32>,
    class_scope: Vec<u32>,
    scopes: u32,
    open_scopes: Vec<(u32, u32, u32)>,
    blocks: Vec<Block>,
    /// Whether anybody has a partition in a wrong rack.
    racks: bool,
    /// Classes that nobody in their block has in a right rack; C.
    forced: Vec<bool>,
    /// Blocks that the bound does not prove.
    unsettled: Vec<u32>,
    /// Members that had a partition in a wrong rack when moves began to be settled, block by block.
    astray: Vec<u32>,
    sound: bool,
    class_list: Vec<u32>,
    block_classes: Vec<u32>,
    /// Partitions of each class placed beyond what there are; C.
    surplus: Vec<i64>,
    /// What proves the moves: of members and classes, and of each block's terminal.
    potential: Vec<i64>,
    terminal: Vec<i64>,
    weights: Weights,
    /// Search: layer of each node (below `base`: not reached), its next edge, and so on.
    layer_of: Vec<u32>,
    edge: Vec<u32>,
    base: u32,
    top: u32,
    queue: Vec<u32>,
    targets: Vec<u32>,
    path: Vec<(u32, u32)>,
    forward: bool,
    /// Whether `flow` still has to be written, from `home` and what was poured.
    poured: bool,
    /// Whether racks count and nobody has anything at home; and whether levelling has set potentials then.
    fresh: bool,
    priced: bool,
    /// Whether mismatched partitions may stay where they are while moves are settled.
    keep_mismatched: bool,
    /// Search by cost: the terminal's potential, how many more members are at the level than shall be, what
    /// was found so far, and members that lead to the terminal at its distance.
    frontier: Frontier,
    terminal_potential: i64,
    optional: i64,
    offered: i64,
    doors: u32,
    probed: bool,
    /// Members and classes of the block that the search has not settled.
    members_left: u32,
    classes_left: u32,
    /// No member's potential in the block is lower.
    least_potential: i64,
    /// Classes of which all partitions are at home and in a right rack; C.
    firm: Vec<bool>,
    /// Members that may have less than their home on some arc, and whether there is any.
    away: Vec<bool>,
    any_away: bool,
}

impl Work {
    pub(super) fn reserve(&mut self, shape: &Shape) {
        reserve(&mut self.home, shape.arcs);
        reserve(&mut self.flow, shape.arcs);
        reserve(&mut self.foreign, shape.arcs);
        reserve(&mut self.load, shape.members);
        reserve(&mut self.free, shape.classes);
        let (members, classes) = (shape.members, shape.classes);
        for list in [&mut self.home_load, &mut self.levels, &mut self.members, &mut self.scope] {
            reserve(list, members);
        }
        for list in [&mut self.class_scope, &mut self.class_list, &mut self.block_classes] {
            reserve(list, classes);
        }
        reserve(&mut self.arc_of_class, 2 * classes);
        reserve(&mut self.order, members.max(classes));
        reserve(&mut self.open_scopes, members + 1);
        blocks::reserve_blocks(&mut self.blocks, members);
        reserve(&mut self.surplus, classes);
        reserve(&mut self.potential, members + classes);
        reserve(&mut self.terminal, members);
        for list in [&mut self.layer_of, &mut self.edge, &mut self.queue, &mut self.targets] {
            reserve(list, members + classes + 1);
        }
        self.frontier.reserve(members + 2 * classes + 1);
        reserve(&mut self.unsettled, members);
        reserve(&mut self.astray, members);
        reserve(&mut self.spare, members + 1);
        reserve(&mut self.forced, classes);
        reserve(&mut self.firm, classes);
        reserve(&mut self.away, members);
        reserve(&mut self.path, members + classes + 1);
    }

    /// What each arc shall have, to be dealt to members that keep nothing.
    fn wanted(&self) -> Wanted<'_> {
        // With nothing at home all is foreign, and only settling moves does not keep count of that.
        if self.fresh && self.unsettled.is_empty() && !self.foreign.is_empty() {
            Wanted::Classes(&self.foreign)
        } else {
            Wanted::Arcs(&self.flow)
        }
    }

    pub(super) fn memory_usage(&self) -> usize {
        let words = [
            &self.home,
            &self.flow,
            &self.load,
            &self.free,
            &self.home_load,
            &self.arc_of_class,
            &self.levels,
            &self.foreign,
            &self.members,
            &self.spare,
            &self.scope,
            &self.class_scope,
            &self.class_list,
            &self.block_classes,
            &self.layer_of,
            &self.edge,
            &self.queue,
            &self.targets,
            &self.unsettled,
            &self.astray,
        ];
        let pairs = self.open_scopes.capacity() * 2 + self.surplus.capacity() + self.path.capacity();
        let longs = self.order.capacity() + self.potential.capacity() + self.terminal.capacity();
        words.iter().map(|list| list.capacity()).sum::<usize>() * 4
            + (pairs + longs) * 8
            + self.away.capacity()
            + self.forced.capacity()
            + self.firm.capacity()
            + self.blocks.capacity() * size_of::<Block>()
            + self.frontier.memory_usage()
    }
}

/// Plans a group with any subscriptions.
pub(super) fn plan(group: &Group, config: &Config, scratch: &mut Scratch, plan: &mut Plan) -> Outcome {
    row::reset(&mut plan.transfers, group.topology.partitions());
    plan.transfer_count = 0;
    plan.orphans.clear();
    let clean = homes::settle(group, &mut scratch.settled, &mut scratch.general);
    let work = &mut scratch.general;
    work.weights = weights(group, config);
    work.fill(group);
    work.level(group.classes());
    let sound = work.settle_moves(group.classes(), &mut scratch.workers);
    let stats = realize::write(group, clean, scratch, plan);
    plan.all_kept = clean && stats.moves == 0 && group.foreign.is_empty();
    if !clean {
        super::transfer::collect_orphans(group, &scratch.settled, plan);
    }
    let proof = if sound { Proof::OPTIMAL } else { Proof::UNPROVEN };
    let findings = scratch.settled.findings;
    Outcome { path: Path::General, findings, stats, proof, spread: Spread::Greedy }
}

fn weights(group: &Group, config: &Config) -> Weights {
    Weights::of(group, config.get_objective())
}

/// Writes what proves the plan that was just made.
pub(super) fn certify(group: &Group, objective: Objective, scratch: &Scratch, certificate: &mut Certificate) {
    let work = &scratch.general;
    certificate.clear();
    certificate.objective = objective;
    certificate.block.resize(group.members(), NO_BLOCK);
    for (number, block) in work.blocks.iter().enumerate() {
        for &m in &work.members[block.from as usize..block.to as usize] {
            certificate.block[m as usize] = number as u32;
        }
        certificate.level.push(block.level);
    }
    let (member, class) = work.potential.split_at(group.members());
    certificate.member.extend_from_slice(member);
    certificate.class.extend_from_slice(class);
    certificate.terminal.extend_from_slice(&work.terminal);
}
