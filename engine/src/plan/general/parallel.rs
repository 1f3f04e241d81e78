//! Blocks on several threads: each worker settles its blocks in memory of its own, then they are taken over
//! in order. Blocks share no arc that may change, so the result is the sequential one to the byte.

use super::Work;
use crate::group::Classes;

impl Work {
    /// Settles the `unsettled` blocks, by the workers if there are any and more than one block.
    pub(super) fn settle_blocks(&mut self, classes: &Classes, workers: &mut [Self]) -> bool {
        if workers.is_empty() || self.unsettled.len() < 2 {
            return self.settle_share(classes, 0, 1);
        }
        let shares = workers.len().min(self.unsettled.len());
        run(self, classes, &mut workers[..shares], 0, shares);
        let mut sound = true;
        for (share, worker) in workers[..shares].iter().enumerate() {
            sound &= worker.sound;
            for at in (share..self.unsettled.len()).step_by(shares) {
                self.take_over(classes, worker, self.unsettled[at]);
            }
        }
        sound
    }

    /// Settles every `of`-th unsettled block, beginning with number `share`.
    fn settle_share(&mut self, classes: &Classes, share: usize, of: usize) -> bool {
        let mut sound = true;
        for at in (share..self.unsettled.len()).step_by(of) {
            let number = self.unsettled[at] as usize;
            let block = self.blocks[number];
            sound &= self.settle_block(classes, &block, number);
        }
        sound
    }

    /// Copies what settling a block reads.
    fn prepare(&mut self, of: &Self, classes: &Classes) {
        for (to, from) in [
            (&mut self.home, &of.home),
            (&mut self.flow, &of.flow),
            (&mut self.load, &of.load),
            (&mut self.free, &of.free),
            (&mut self.home_load, &of.home_load),
            (&mut self.members, &of.members),
            (&mut self.scope, &of.scope),
            (&mut self.class_scope, &of.class_scope),
            (&mut self.class_list, &of.class_list),
            (&mut self.unsettled, &of.unsettled),
            (&mut self.astray, &of.astray),
        ] {
            to.clear();
            to.extend_from_slice(from);
        }
        self.reset_search(classes);
        self.away.copy_from_slice(&of.away);
        self.any_away = of.any_away;
        self.forced.clear();
        self.forced.extend_from_slice(&of.forced);
        self.potential.clear();
        self.potential.extend_from_slice(&of.potential);
        self.terminal.clear();
        self.terminal.extend_from_slice(&of.terminal);
        self.blocks.clear();
        self.blocks.extend_from_slice(&of.blocks);
        self.weights = of.weights;
        self.racks = of.racks;
        self.priced = of.priced;
        self.keep_mismatched = of.keep_mismatched;
    }

    /// Takes a block over from the worker that settled it.
    fn take_over(&mut self, classes: &Classes, worker: &Self, number: u32) {
        let members = self.load.len();
        let block = self.blocks[number as usize];
        self.terminal[number as usize] = worker.terminal[number as usize];
        for &m in &self.members[block.from as usize..block.to as usize] {
            let m = m as usize;
            let arcs = classes.member_start[m] as usize..classes.member_start[m + 1] as usize;
            self.flow[arcs.clone()].copy_from_slice(&worker.flow[arcs]);
            self.load[m] = worker.load[m];
            self.away[m] = worker.away[m];
            self.potential[m] = worker.potential[m];
        }
        self.any_away |= worker.any_away;
        let begin = self.class_list.partition_point(|&c| self.class_scope[c as usize] < number);
        let end = self.class_list.partition_point(|&c| self.class_scope[c as usize] <= number);
        for &c in &self.class_list[begin..end] {
            self.potential[members + c as usize] = worker.potential[members + c as usize];
            self.free[c as usize] = worker.free[c as usize];
        }
    }
}

/// Lets each worker do its share; the shares are numbered from `first`, and there are `of`.
fn run(work: &Work, classes: &Classes, workers: &mut [Work], first: usize, of: usize) {
    match workers {
        [] => {}
        [worker] => {
            worker.prepare(work, classes);
            worker.sound = worker.settle_share(classes, first, of);
        }
        _ => {
            let middle = workers.len() / 2;
            let (left, right) = workers.split_at_mut(middle);
            both(|| run(work, classes, left, first, of), || run(work, classes, right, first + middle, of));
        }
    }
}

#[cfg(feature = "rayon")]
fn both(left: impl FnOnce() + Send, right: impl FnOnce() + Send) {
    rayon::join(left, right);
}

#[cfg(not(feature = "rayon"))]
fn both(left: impl FnOnce(), right: impl FnOnce()) {
    left();
    right();
}
