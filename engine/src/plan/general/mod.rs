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

mod fill;
mod homes;
mod realize;

use alloc::vec::Vec;

use super::config::Config;
use super::outcome::{Outcome, Path, Proof};
use super::scratch::Scratch;
use super::target::Plan;
use crate::group::{Group, Shape};
use crate::owned::claims::reserve;
use crate::owned::row;

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
    arc_of_class: Vec<u32>,
    order: Vec<u64>,
    levels: Vec<u64>,
}

impl Work {
    pub(super) fn reserve(&mut self, shape: &Shape) {
        reserve(&mut self.home, shape.arcs);
        reserve(&mut self.flow, shape.arcs);
        reserve(&mut self.load, shape.members);
        reserve(&mut self.free, shape.classes);
        reserve(&mut self.arc_of_class, shape.classes);
        reserve(&mut self.order, shape.classes);
        reserve(&mut self.levels, shape.members);
    }

    pub(super) fn memory_usage(&self) -> usize {
        let words = self.home.capacity()
            + self.flow.capacity()
            + self.load.capacity()
            + self.free.capacity()
            + self.arc_of_class.capacity();
        words * 4 + (self.order.capacity() + self.levels.capacity()) * 8
    }
}

/// Plans a group with any subscriptions.
pub(super) fn plan(group: &Group, _config: &Config, scratch: &mut Scratch, plan: &mut Plan) -> Outcome {
    row::reset(&mut plan.transfers, group.topology.partitions());
    plan.transfer_count = 0;
    plan.orphans.clear();
    let clean = homes::settle(group, &mut scratch.settled, &mut scratch.general);
    scratch.general.fill(group);
    let stats = realize::write(group, clean, scratch, plan);
    if !clean {
        super::transfer::collect_orphans(group, &scratch.settled, plan);
    }
    Outcome { path: Path::General, findings: scratch.settled.findings, stats, proof: Proof::UNPROVEN }
}
