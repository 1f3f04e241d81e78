//! Prices of rack mismatches: potentials to begin with, where 0 would let all who are mismatched start anew.
//!
//! With nothing at home a mismatch is all that costs. Levelling then routes along cheapest paths from the
//! beginning ([`route_priced`](Work::route_priced)), so its flow is cheapest for the loads that it ends with.
//! Where some are at home and levelling moved a few, the mismatches of before are mostly those of after, and the
//! nodes around them are priced so that they stay ([`price_mismatched`](Work::price_mismatched)).
//!
//! In both cases only who among equals is at the level of a block may still be wrong:
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
        self.forced.clear();
        if !self.fresh {
            return;
        }
        self.potential.clear();
        self.potential.resize(self.load.len() + classes.len(), 0);
        self.find_forced_by_all(classes);
    }

    /// Finds the classes without any subscriber in a right rack, unless that is done.
    pub(super) fn find_forced_by_all(&mut self, classes: &Classes) {
        if !self.forced.is_empty() {
            return;
        }
        self.forced.extend((0..classes.len()).map(|c| classes.fitting(c).is_empty()));
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

    /// Prices the block's terminal, and lets those at the level that are dearer give back until they are below it
    /// or as cheap. True if there are none.
    pub(super) fn price_terminal(&mut self, classes: &Classes, block: &Block, number: usize) -> bool {
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
            while self.load[m] >= block.level && self.potential[m] > price {
                self.give_back(classes, number as u32, block.level, m, price);
            }
        }
        false
    }

    /// Makes a member as cheap as what it gives back most easily, but not cheaper than `price`; and if it is dearer
    /// still, it gives that back.
    fn give_back(&mut self, classes: &Classes, number: u32, level: u32, m: usize, price: i64) {
        let arcs = classes.member_start[m] as usize..classes.member_start[m + 1] as usize;
        let mut least = (self.potential[m] - price, None);
        for a in arcs {
            let c = classes.arc_class[a] as usize;
            if self.flow[a] > 0 && self.class_scope[c] == number {
                let cost = self.give_cost(classes, a, m, c);
                debug_assert!(cost >= 0, "what is given at a gain is not cheapest");
                if cost < least.0 {
                    least = (cost, Some(a));
                }
            }
        }
        let (cost, arc) = least;
        self.potential[m] -= cost;
        let Some(a) = arc else { return };
        let (flow, home) = (self.flow[a], self.home[a]);
        let most = if flow > home { flow - home } else { flow };
        let many = most.min(self.load[m] + 1 - level);
        self.flow[a] -= many;
        self.load[m] -= many;
        self.free[classes.arc_class[a] as usize] += many;
        if self.flow[a] < home {
            self.away[m] = true;
            self.any_away = true;
        }
    }

    /// Prices nodes of a block by mismatches, so that the mismatched partitions may stay where they are:
    ///
    /// ```text
    /// class ──► who has one of it     as much, and one mismatch more if it is in a wrong rack there
    /// member ──► its classes          as much, and one mismatch less if they would be in a wrong rack there
    /// ```
    ///
    /// Nodes are gone through again as their prices rise, until all hold. False, and nothing is priced, if that is
    /// not done after as many as an eighth of the block: there may be too many mismatches, or a circle of exchanges
    /// without which there would be fewer.
    pub(super) fn price_mismatched(&mut self, classes: &Classes, block: &Block, number: u32) -> bool {
        let mut left = ((block.to - block.from) as usize + self.block_classes.len()) / 8;
        self.begin_layers();
        for at in self.astray_of(number) {
            let m = self.astray[at] as usize;
            let mut arcs = classes.member_start[m] as usize..classes.member_start[m + 1] as usize;
            if arcs
                .any(|a| self.gives_for_rack(a) && self.mismatched(classes, a, classes.arc_class[a] as usize))
            {
                self.raise(m, self.weights.mismatch);
            }
        }
        let members = self.load.len();
        while let Some(node) = self.queue.pop() {
            if left == 0 {
                self.unprice(block);
                return false;
            }
            left -= 1;
            let node = node as usize;
            self.layer_of[node] = 0;
            let price = self.potential[node];
            if node < members {
                for a in classes.member_start[node] as usize..classes.member_start[node + 1] as usize {
                    let c = classes.arc_class[a] as usize;
                    if self.class_scope[c] == number {
                        self.raise(members + c, price - self.rack_cost(classes, a, c));
                    }
                }
            } else {
                let c = node - members;
                for at in classes.of_class(c) {
                    let (m, a) = (classes.class_member[at] as usize, classes.class_arc[at] as usize);
                    if self.gives_for_rack(a) {
                        self.raise(m, price + self.rack_cost(classes, a, c));
                    }
                }
            }
        }
        true
    }

    /// Whether a member would give one of an arc to have a mismatch less: any if that counts before moves, else only a
    /// foreign one.
    #[inline]
    fn gives_for_rack(&self, a: usize) -> bool {
        let rack_first = self.weights.mismatch > self.weights.moved;
        self.flow[a] > if rack_first { 0 } else { self.home[a] }
    }

    /// Raises a node's price; then what it leads to is looked at again.
    fn raise(&mut self, node: usize, price: i64) {
        if self.potential[node] < price {
            self.potential[node] = price;
            if !self.visited(node) {
                self.visit(node, self.base, 0);
            }
        }
    }

    fn unprice(&mut self, block: &Block) {
        for &m in &self.members[block.from as usize..block.to as usize] {
            self.potential[m as usize] = 0;
        }
        for &c in &self.block_classes {
            self.potential[self.load.len() + c as usize] = 0;
        }
    }
}
