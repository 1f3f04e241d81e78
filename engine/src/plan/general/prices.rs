//! Rack mismatches where nothing is at home: levelling sets potentials on its way, and they need little more.
//!
//! With nothing at home a mismatch is all that costs. Levelling then routes along cheapest paths from the
//! beginning ([`route_priced`](Work::route_priced)), so its flow is cheapest for the loads that it ends with.
//! Only who among equals is at the level of a block may still be wrong:
//!
//! ```text
//! members below the level    price ≥ terminal's    they could take one more only for that
//! members at the level       price ≤ terminal's    who is above gives one back, and it is routed again
//! ```

use super::Work;
use super::blocks::Block;
use crate::group::Classes;

impl Work {
    /// Begins with potentials 0, if racks count and nobody has anything at home.
    pub(super) fn price(&mut self, classes: &Classes) {
        self.priced = false;
        self.fresh = classes.by_rack() && self.home_load.iter().all(|&load| load == 0);
        if !self.fresh {
            return;
        }
        self.potential.clear();
        self.potential.resize(self.load.len() + classes.len(), 0);
        // Classes without any subscriber in a right rack.
        self.forced.clear();
        self.forced.extend(classes.class_start.windows(2).map(|bounds| {
            let mismatches = &classes.class_mismatch[bounds[0] as usize..bounds[1] as usize];
            mismatches.iter().all(|&mismatch| mismatch)
        }));
    }

    /// Ends what levelling began: from its potentials to those of the blocks.
    pub(super) fn settle_priced(&mut self, classes: &Classes, workers: &mut [Self]) -> bool {
        self.racks = true;
        self.list_block_classes(classes);
        // Forced by all subscribers is also forced by those in the block, but not the other way round.
        self.shift_forced(-self.weights.mismatch);
        self.find_forced(classes);
        self.shift_forced(self.weights.mismatch);
        self.unsettled.clear();
        for at in 0..self.blocks.len() {
            let block = self.blocks[at];
            if !self.price_terminal(classes, &block, at) {
                self.unsettled.push(at as u32);
            }
        }
        let sound = self.settle_blocks(classes, workers);
        self.shift_forced(-self.weights.mismatch);
        sound
    }

    /// Prices the block's terminal, and lets those at the level that are dearer give one back. True if there are
    /// none.
    fn price_terminal(&mut self, classes: &Classes, block: &Block, number: usize) -> bool {
        let segment = block.from as usize..block.to as usize;
        let (mut below, mut at_level) = (None::<i64>, None::<i64>);
        for &m in &self.members[segment.clone()] {
            let price = self.potential[m as usize];
            if self.load[m as usize] < block.level {
                below = Some(below.map_or(price, |least| least.min(price)));
            } else {
                at_level = Some(at_level.map_or(price, |most| most.max(price)));
            }
        }
        let price = below.or(at_level).unwrap_or(0);
        self.terminal[number] = price;
        if at_level.is_none_or(|most| most <= price) {
            return true;
        }
        for at in segment {
            let m = self.members[at] as usize;
            if self.load[m] < block.level || self.potential[m] <= price {
                continue;
            }
            let arcs = classes.member_start[m] as usize..classes.member_start[m + 1] as usize;
            if let Some(a) = arcs.into_iter().find(|&a| self.flow[a] > 0) {
                self.flow[a] -= 1;
                self.load[m] -= 1;
                self.free[classes.arc_class[a] as usize] += 1;
            }
        }
        false
    }
}
