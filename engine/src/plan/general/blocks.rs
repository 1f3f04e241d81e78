//! Levels and blocks: the decreasingly minimal loads, and the chain of blocks that proves them.
//!
//! A scope is a set of members together with the partitions that they hold. It is split at its average
//! until all loads of a part differ by at most one:
//!
//! 1. With β the average rounded up, members above β give to members below β along paths. If some stay
//!    above, what can still reach room is the light part, the rest the heavy one: no partition of the heavy
//!    part may go to the light one, every load of the first is at least β, of the second at most β.
//! 2. Else members at β give to members below β−1. If some stay below, what cannot reach these is a block.
//!
//! So no path leads from a block to one of lower level: the canonical chain of Frank and Murota's
//! decreasingly minimal vectors. Splitting at the average keeps the depth logarithmic where going down
//! level by level would take as many steps as one member's load.

use alloc::vec::Vec;

use super::Work;
use super::search::{CAREFUL, FITTING, Hunt, PLAIN, TIGHT};
use crate::group::Classes;

/// Members settled together: a range of `members`. All loads are `level` or `level − 1`.
///
/// Blocks come by falling level, and no class with a partition in one has a subscriber in a later one.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Block {
    pub(super) from: u32,
    pub(super) to: u32,
    pub(super) level: u32,
}

impl Work {
    /// Balances the loads and finds the blocks, highest level first.
    pub(super) fn level(&mut self, classes: &Classes) {
        self.members.clear();
        self.members.extend(
            (0..self.load.len() as u32)
                .filter(|&m| classes.member_start[m as usize] < classes.member_start[m as usize + 1]),
        );
        self.scope.clear();
        self.scope.resize(self.load.len(), 0);
        self.class_scope.clear();
        self.class_scope.resize(classes.len(), 0);
        self.scopes = 1;
        self.blocks.clear();
        self.open_scopes.clear();
        self.open_scopes.push((0, self.members.len() as u32, 0));
        self.price(classes);
        // The heavy part of a split is taken up first, so that blocks come out by falling level.
        while let Some((from, to, floor)) = self.open_scopes.pop() {
            self.settle_scope(classes, from, to, floor);
        }
    }

    /// `floor`: the least level that blocks of this scope may have, so that they lie above what was split off
    /// below; their loads are `floor − 1` at least.
    fn settle_scope(&mut self, classes: &Classes, from: u32, to: u32, floor: u32) {
        let segment = &self.members[from as usize..to as usize];
        let Some(&first) = segment.first() else { return };
        let scope = self.scope[first as usize];
        let (mut least, mut most, mut total) = (u32::MAX, 0, 0u64);
        for &m in segment {
            let load = self.load[m as usize];
            least = least.min(load);
            most = most.max(load);
            total += u64::from(load);
        }
        if most - least <= 1 {
            self.blocks.push(Block { from, to, level: most.max(floor) });
            return;
        }
        let level = total.div_ceil(segment.len() as u64) as u32;
        if most > level {
            let hunt = Hunt { scope, from, to, high: level, low: level };
            if !self.route_from_smaller_side(classes, &hunt) {
                self.split(classes, &hunt, level + 1, floor);
                return;
            }
        }
        let hunt = Hunt { scope, from, to, high: level - 1, low: level - 1 };
        if self.route_from_smaller_side(classes, &hunt) {
            self.blocks.push(Block { from, to, level });
        } else {
            self.split(classes, &hunt, level.max(floor), floor);
        }
    }

    /// Routes, first without sending anybody away from home for nothing. If false, the last search stands.
    fn route_from_smaller_side(&mut self, classes: &Classes, hunt: &Hunt) -> bool {
        self.write_flow(classes);
        let (mut above, mut below) = (0u32, 0u32);
        for &m in &self.members[hunt.from as usize..hunt.to as usize] {
            above += u32::from(self.load[m as usize] > hunt.high);
            below += u32::from(self.load[m as usize] < hunt.low);
        }
        if self.foreign.is_empty() {
            // Nothing was free: all are at home.
            self.foreign.resize(classes.arcs(), 0);
        }
        self.forward = above <= below;
        if self.forward {
            self.route_by::<true>(classes, hunt)
        } else {
            self.route_by::<false>(classes, hunt)
        }
    }

    fn route_by<const FORWARD: bool>(&mut self, classes: &Classes, hunt: &Hunt) -> bool {
        if self.fresh {
            return self.route_priced::<FORWARD>(classes, hunt);
        }
        if self.route::<CAREFUL, FORWARD>(classes, hunt) {
            return true;
        }
        if classes.by_rack() {
            self.find_forced_by_all(classes);
            if self.route::<FITTING, FORWARD>(classes, hunt) {
                return true;
            }
        }
        self.route::<PLAIN, FORWARD>(classes, hunt)
    }

    /// Where nothing is at home: always along paths with the fewest mismatches. What a search reached before it
    /// came to its end is priced by what the next step out of there costs, so that paths of that cost are open to
    /// the next search; where no step leads out, nobody can be helped.
    fn route_priced<const FORWARD: bool>(&mut self, classes: &Classes, hunt: &Hunt) -> bool {
        let mut done = if self.priced {
            self.seek::<TIGHT, FORWARD>(classes, hunt)
        } else {
            self.seek::<FITTING, FORWARD>(classes, hunt)
        };
        while !done {
            let Some(step) = self.step_out::<FORWARD>(classes, hunt) else { return false };
            debug_assert!(step > 0, "the search would have gone there");
            for &node in &self.queue {
                self.potential[node as usize] += if FORWARD { -step } else { step };
            }
            self.priced = true;
            done = self.seek::<TIGHT, FORWARD>(classes, hunt);
        }
        true
    }

    /// The least cost of a step out of what the last search reached; none if none leads out.
    fn step_out<const FORWARD: bool>(&self, classes: &Classes, hunt: &Hunt) -> Option<i64> {
        let members = self.load.len();
        let mut least = None;
        let mut see = |cost: i64| least = Some(least.map_or(cost, |least: i64| least.min(cost)));
        for &node in &self.queue {
            let node = node as usize;
            if FORWARD && node >= members {
                let c = node - members;
                for at in classes.of_class(c) {
                    let (m, a) = (classes.class_member[at] as usize, classes.class_arc[at] as usize);
                    if self.scope[m] == hunt.scope && !self.visited(m) {
                        see(self.foreign_cost(classes, a, m, c));
                    }
                }
            } else if !FORWARD && node < members {
                for a in classes.member_start[node] as usize..classes.member_start[node + 1] as usize {
                    let c = classes.arc_class[a] as usize;
                    if self.class_scope[c] == hunt.scope && !self.visited(members + c) {
                        see(self.foreign_cost(classes, a, node, c));
                    }
                }
            }
        }
        least
    }

    /// Splits a scope after a search without result: what a forward search reached, or a backward one did
    /// not, is the heavy part and comes first.
    fn split(&mut self, classes: &Classes, hunt: &Hunt, heavy_floor: u32, light_floor: u32) {
        let (from, to) = (hunt.from as usize, hunt.to as usize);
        let heavy = |work: &Self, m: u32| work.visited(m as usize) == work.forward;
        self.spare.clear();
        let mut end = from;
        for at in from..to {
            let m = self.members[at];
            if heavy(self, m) {
                self.members[end] = m;
                end += 1;
            } else {
                self.spare.push(m);
            }
        }
        self.members[end..to].copy_from_slice(&self.spare);
        let scope = self.scopes;
        self.scopes += 1;
        // No class has partitions in both parts: the smaller one may take the new number with its classes.
        let smaller = if end - from <= to - end { from..end } else { end..to };
        for at in smaller {
            let m = self.members[at] as usize;
            self.scope[m] = scope;
            for a in classes.member_start[m] as usize..classes.member_start[m + 1] as usize {
                if self.flow[a] > 0 {
                    self.class_scope[classes.arc_class[a] as usize] = scope;
                }
            }
        }
        debug_assert!(from < end && end < to);
        self.open_scopes.push((end as u32, hunt.to, light_floor));
        self.open_scopes.push((hunt.from, end as u32, heavy_floor));
    }
}

/// Room for the blocks of a group with this many members.
pub(super) fn reserve_blocks(blocks: &mut Vec<Block>, members: usize) {
    crate::owned::claims::reserve(blocks, members);
}
