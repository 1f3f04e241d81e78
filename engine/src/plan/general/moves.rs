//! Fewest moves (and rack mismatches) inside each block, and the potentials that prove it.
//!
//! Costs of a step: a member gives a partition at home 1, a foreign one 0; it takes back one of its own −1,
//! another 0. A rack mismatch adds its weight when it is taken and gives it back when it is given.
//!
//! A block's members end at level β or β−1, and the number at β is fixed. So no plan keeps more than
//! Σ min(home, β−1) and one more for each member at β that has it at home. Where the flow keeps that many
//! (and has no rack mismatch) it is optimal and potentials −1 and 0 prove it. Elsewhere the flow is taken
//! back to a state that is cheapest for its loads, with all potentials 0: everyone at home, nobody
//! mismatched. Then what is too much is routed along cheapest paths, which keeps it cheapest
//! ([`route_cheapest`](Work::route_cheapest)). Where levelling moved something, those mismatched may keep what they
//! have, at a price ([`price_mismatched`](Work::price_mismatched)); else a single newcomer would set all of them
//! looking for something better.

use core::ops::Range;

use super::Work;
use super::blocks::Block;
use crate::group::{Classes, NONE};

impl Work {
    /// Reduced cost of the member giving a partition of the class (that it has).
    #[inline]
    pub(super) fn give_cost(&self, classes: &Classes, a: usize, m: usize, c: usize) -> i64 {
        let stay = if self.flow[a] > self.home[a] { 0 } else { self.weights.moved };
        stay - self.rack_cost(classes, a, c) + self.potential[m] - self.potential[self.load.len() + c]
    }

    /// Reduced cost of the member taking a partition of the class.
    #[inline]
    pub(super) fn take_cost(&self, classes: &Classes, a: usize, m: usize, c: usize) -> i64 {
        let back = if self.flow[a] < self.home[a] { -self.weights.moved } else { 0 };
        back + self.rack_cost(classes, a, c) + self.potential[self.load.len() + c] - self.potential[m]
    }

    /// Reduced cost of the member taking a partition of the class, of which it lacks none of its own.
    #[inline]
    pub(super) fn foreign_cost(&self, classes: &Classes, a: usize, m: usize, c: usize) -> i64 {
        self.rack_cost(classes, a, c) + self.potential[self.load.len() + c] - self.potential[m]
    }

    /// What a partition of the class costs here for its rack.
    #[inline]
    pub(super) fn rack_cost(&self, classes: &Classes, a: usize, c: usize) -> i64 {
        if self.mismatched(classes, a, c) { self.weights.mismatch } else { 0 }
    }

    /// Whether a partition of the class is in a wrong rack here and could be in a right one elsewhere.
    #[inline]
    pub(super) fn mismatched(&self, classes: &Classes, a: usize, c: usize) -> bool {
        classes.mismatch.get(a) == Some(&true) && !self.forced[c]
    }

    /// Makes moves fewest in every block. False if a block resisted, which would be a fault of ours.
    pub(super) fn settle_moves(&mut self, classes: &Classes, workers: &mut [Self]) -> bool {
        self.terminal.clear();
        self.terminal.resize(self.blocks.len(), 0);
        if self.priced {
            return self.settle_priced(classes, workers);
        }
        self.potential.clear();
        self.potential.resize(self.load.len() + classes.len(), 0);
        self.find_astray(classes);
        self.racks = !self.astray.is_empty();
        if !self.any_away && !self.racks {
            // Nobody moved, nobody is in a wrong rack: nothing can be better, and potentials 0 show it.
            self.number_scopes();
            return true;
        }
        self.write_flow(classes);
        self.list_block_classes(classes);
        self.find_forced(classes);
        self.sort_astray(classes);
        self.unsettled.clear();
        for at in 0..self.blocks.len() {
            let block = self.blocks[at];
            if !self.prove_by_bound(classes, &block, at) {
                self.unsettled.push(at as u32);
            }
        }
        // Where all are at home, mismatched ones find their way back at once.
        self.keep_mismatched = self.racks && self.any_away;
        let sound = self.settle_blocks(classes, workers);
        self.shift_forced(-self.weights.mismatch);
        sound
    }

    /// Changes the potentials of forced classes.
    pub(super) fn shift_forced(&mut self, by: i64) {
        for (price, &forced) in self.potential[self.load.len()..].iter_mut().zip(&self.forced) {
            *price += if forced { by } else { 0 };
        }
    }

    /// Finds the classes that no member of their block has in a right rack. Their mismatches are the same in
    /// every plan: they cost nothing here, and a potential lower by one mismatch accounts for them.
    pub(super) fn find_forced(&mut self, classes: &Classes) {
        self.forced.clear();
        self.forced.resize(classes.len(), self.racks);
        if !self.racks {
            return;
        }
        for (c, forced) in self.forced.iter_mut().enumerate() {
            let fitting = &classes.class_member[classes.fitting(c)];
            *forced = !fitting.iter().any(|&m| self.scope[m as usize] == self.class_scope[c]);
        }
    }

    /// Lists the members that have a partition in a wrong rack.
    fn find_astray(&mut self, classes: &Classes) {
        self.astray.clear();
        // Nothing moved since it was poured, and that fitted somebody.
        let all_fit = self.poured && (0..classes.len()).all(|c| !classes.fitting(c).is_empty());
        if all_fit || !classes.by_rack() {
            return;
        }
        self.write_flow(classes);
        if !any_pair(&self.flow, &classes.mismatch) {
            return;
        }
        for (m, arcs) in classes.member_start.windows(2).enumerate() {
            let arcs = arcs[0] as usize..arcs[1] as usize;
            if any_pair(&self.flow[arcs.clone()], &classes.mismatch[arcs]) {
                self.astray.push(m as u32);
            }
        }
    }

    /// Whether anybody may have a partition in a wrong rack now that moves are settled.
    pub(super) fn may_mismatch(&self) -> bool {
        // Where there was none, only settling a block could make one.
        self.racks || !self.unsettled.is_empty()
    }

    /// Gives each member its block's number as scope.
    fn number_scopes(&mut self) {
        if self.blocks.len() > 1 {
            for (number, block) in self.blocks.iter().enumerate() {
                for &m in &self.members[block.from as usize..block.to as usize] {
                    self.scope[m as usize] = number as u32;
                }
            }
        }
    }

    /// Numbers scopes by block, and lists the classes of each block.
    pub(super) fn list_block_classes(&mut self, classes: &Classes) {
        self.number_scopes();
        self.class_list.clear();
        self.class_scope.clear();
        if self.blocks.len() == 1 {
            self.class_scope.resize(classes.len(), 0);
            self.class_list.extend(0..classes.len() as u32);
            return;
        }
        // What a class has lies in one block as a whole, and mostly that is the largest.
        let largest =
            (0..self.blocks.len()).max_by_key(|&at| self.blocks[at].to - self.blocks[at].from).unwrap_or(0);
        self.class_scope
            .extend(classes.size.iter().map(|&size| if size == 0 { NONE } else { largest as u32 }));
        for (number, block) in self.blocks.iter().enumerate() {
            if number == largest {
                continue;
            }
            for &m in &self.members[block.from as usize..block.to as usize] {
                let m = m as usize;
                for a in classes.member_start[m] as usize..classes.member_start[m + 1] as usize {
                    if self.flow[a] > 0 {
                        self.class_scope[classes.arc_class[a] as usize] = number as u32;
                    }
                }
            }
        }
        // By block, then ascending.
        let next = &mut self.spare;
        next.clear();
        next.resize(self.blocks.len() + 1, 0);
        for &number in self.class_scope.iter().filter(|&&number| number != NONE) {
            next[number as usize + 1] += 1;
        }
        for at in 0..self.blocks.len() {
            next[at + 1] += next[at];
        }
        self.class_list.resize(next[self.blocks.len()] as usize, 0);
        for (c, &number) in self.class_scope.iter().enumerate() {
            if number != NONE {
                let at = &mut next[number as usize];
                self.class_list[*at as usize] = c as u32;
                *at += 1;
            }
        }
    }

    /// Of those listed, keeps the members that have one which could be in a right rack; block by block.
    fn sort_astray(&mut self, classes: &Classes) {
        let mut astray = core::mem::take(&mut self.astray);
        astray.retain(|&m| {
            (classes.member_start[m as usize] as usize..classes.member_start[m as usize + 1] as usize)
                .any(|a| self.flow[a] > 0 && self.mismatched(classes, a, classes.arc_class[a] as usize))
        });
        if self.blocks.len() > 1 {
            astray.sort_unstable_by_key(|&m| (self.scope[m as usize], m));
        }
        self.astray = astray;
    }

    /// Where those of a block are in `astray`.
    pub(super) fn astray_of(&self, number: u32) -> Range<usize> {
        let scope = |m: u32| self.scope[m as usize];
        self.astray.partition_point(|&m| scope(m) < number)
            ..self.astray.partition_point(|&m| scope(m) <= number)
    }

    /// Whether the block keeps as much as any plan could, without a rack mismatch; sets its potentials then.
    fn prove_by_bound(&mut self, classes: &Classes, block: &Block, number: usize) -> bool {
        let segment = &self.members[block.from as usize..block.to as usize];
        let level = block.level;
        if !self.astray_of(number as u32).is_empty() {
            return false;
        }
        let (mut bound, mut kept, mut at_level, mut wanting) = (0u64, 0u64, 0u64, 0u64);
        let mut low_giver = false;
        let single = self.blocks.len() == 1;
        for &m in segment {
            let m = m as usize;
            let (mut home, mut stay) = (self.home_load[m], self.home_load[m]);
            if self.away[m] {
                (home, stay) = (0, 0);
                for a in classes.member_start[m] as usize..classes.member_start[m + 1] as usize {
                    let (h, f, c) = (self.home[a], self.flow[a], classes.arc_class[a] as usize);
                    if h > 0 && (single || self.class_scope[c] == number as u32) {
                        home += h;
                        stay += h.min(f);
                    }
                }
            }
            bound += u64::from(home.min(level.saturating_sub(1)));
            kept += u64::from(stay);
            at_level += u64::from(self.load[m] == level);
            wanting += u64::from(home >= level && level > 0);
            if stay < home {
                self.potential[m] = -1;
                low_giver |= self.load[m] < level;
            }
        }
        if kept < bound + at_level.min(wanting) {
            for &m in segment {
                self.potential[m as usize] = 0;
            }
            return false;
        }
        if low_giver {
            // Members at the level have nothing foreign then: they may follow the givers.
            self.terminal[number] = -1;
            for &m in segment {
                if self.load[m as usize] == level {
                    self.potential[m as usize] = -1;
                }
            }
        }
        if self.weights.moved != 1 {
            self.terminal[number] *= self.weights.moved;
            for &m in segment {
                self.potential[m as usize] *= self.weights.moved;
            }
        }
        true
    }

    /// Routes what is too much along cheapest paths.
    pub(super) fn settle_block(&mut self, classes: &Classes, block: &Block, number: usize) -> bool {
        let begin = self.class_list.partition_point(|&c| self.class_scope[c as usize] < number as u32);
        let end = self.class_list.partition_point(|&c| self.class_scope[c as usize] <= number as u32);
        self.block_classes.clear();
        self.block_classes.extend_from_slice(&self.class_list[begin..end]);
        if !self.priced {
            let kept = self.keep_mismatched && self.price_mismatched(classes, block, number as u32);
            self.go_home(classes, block, number as u32);
            if kept {
                self.price_terminal(classes, block, number);
            }
        }
        self.route_cheapest(classes, block, number as u32)
    }

    /// Takes the block's flow to a state of least cost for its loads under the potentials that it has, mostly 0: what
    /// costs nothing stays, homes are restored unless that costs more than a move, the rest waits at its class.
    fn go_home(&mut self, classes: &Classes, block: &Block, number: u32) {
        for at in 0..self.block_classes.len() {
            self.surplus[self.block_classes[at] as usize] = 0;
        }
        // Who is neither away nor astray has all homes, and beside them what costs nothing.
        for at in block.from..block.to {
            let m = self.members[at as usize] as usize;
            if self.away[m] {
                self.go_home_alone(classes, number, m);
            }
        }
        for at in self.astray_of(number) {
            let m = self.astray[at] as usize;
            if !self.away[m] {
                self.go_home_alone(classes, number, m);
            }
        }
        // Foreign partitions make way for those that came home.
        for at in 0..self.block_classes.len() {
            let c = self.block_classes[at] as usize;
            let surplus = self.surplus[c];
            if surplus > 0 {
                self.withdraw(classes, number, c, surplus as u32);
            } else {
                self.free[c] = -surplus as u32;
            }
        }
    }

    /// One member's part of [`go_home`](Self::go_home).
    fn go_home_alone(&mut self, classes: &Classes, number: u32, m: usize) {
        for a in classes.member_start[m] as usize..classes.member_start[m + 1] as usize {
            let c = classes.arc_class[a] as usize;
            if self.class_scope[c] != number {
                continue;
            }
            let (flow, home) = (self.flow[a], self.home[a]);
            let new = match self.foreign_cost(classes, a, m, c) {
                ..=0 => flow.max(home),
                cost if cost <= self.weights.moved => home,
                _ => 0,
            };
            if new < home {
                self.away[m] = true;
                self.any_away = true;
            }
            self.flow[a] = new;
            self.load[m] = self.load[m] + new - flow;
            self.surplus[c] += i64::from(new) - i64::from(flow);
        }
    }

    /// Takes `many` foreign partitions of a class away, from the members with the greatest load first.
    fn withdraw(&mut self, classes: &Classes, number: u32, c: usize, many: u32) {
        let range = classes.class_start[c] as usize..classes.class_start[c + 1] as usize;
        self.order.clear();
        for at in range {
            let (m, a) = (classes.class_member[at] as usize, classes.class_arc[at]);
            if self.scope[m] == number && self.flow[a as usize] > self.home[a as usize] {
                self.order.push((u64::from(u32::MAX - self.load[m]) << 32) | at as u64);
            }
        }
        self.order.sort_unstable();
        let mut left = many;
        // One from each in a lap, so that none falls far below the rest.
        while left > 0 {
            let before = left;
            for at in 0..self.order.len() {
                let position = self.order[at] as u32 as usize;
                let (m, a) = (classes.class_member[position] as usize, classes.class_arc[position] as usize);
                if left > 0 && self.flow[a] > self.home[a] {
                    self.flow[a] -= 1;
                    self.load[m] -= 1;
                    left -= 1;
                }
            }
            if left == before {
                debug_assert!(false, "homes of a class are no more than its partitions");
                return;
            }
        }
    }
}

/// Whether some flow is not 0 where there is a mismatch.
fn any_pair(flows: &[u32], mismatches: &[bool]) -> bool {
    // Some at a time, without a branch for each.
    let any = |flows: &[u32], mismatches: &[bool]| {
        let pairs = flows.iter().zip(mismatches);
        pairs.fold(0, |any, (&flow, &mismatch)| any | flow & u32::from(mismatch).wrapping_neg()) > 0
    };
    let ((flows, last_flows), (mismatches, last)) = (flows.as_chunks::<16>(), mismatches.as_chunks::<16>());
    flows.iter().zip(mismatches).any(|(flows, mismatches)| any(flows, mismatches)) || any(last_flows, last)
}
