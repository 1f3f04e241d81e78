//! The best balance, found in the plainest way: exchange along shortest chains until there is none.

use alloc::collections::BinaryHeap;
use alloc::vec::Vec;
use core::cmp::Reverse;

use crate::group::{Classes, NONE};

/// Loads of best balance, and the level of each member (0 without a class).
#[derive(Clone, Debug)]
pub(super) struct Levels {
    pub(super) load: Vec<u32>,
    pub(super) level: Vec<u32>,
}

/// Finds them. Cost: O(P log M + (exchanges + different loads) · A).
pub(super) fn find(classes: &Classes) -> Levels {
    let mut search = Search::start(classes);
    while let Some(top) = search.top() {
        while search.exchange(top) {}
        search.freeze(top);
    }
    Levels { load: search.load, level: search.level }
}

struct Search<'a> {
    classes: &'a Classes,
    load: Vec<u32>,
    flow: Vec<u32>,
    level: Vec<u32>,
    frozen: Vec<bool>,
    /// The arc over which a member was reached, and the arc by which its class was left for it.
    came: Vec<(u32, u32)>,
    reached: Vec<u32>,
    member_seen: Vec<bool>,
    class_seen: Vec<bool>,
    owner_of_arc: Vec<u32>,
}

impl<'a> Search<'a> {
    /// One partition at a time to the subscriber that has least, classes with few subscribers first.
    fn start(classes: &'a Classes) -> Self {
        let members = classes.member_start.len().saturating_sub(1);
        let mut load = alloc::vec![0u32; members];
        let mut flow = alloc::vec![0u32; classes.arcs()];
        let mut order: Vec<usize> = (0..classes.len()).collect();
        order.sort_by_key(|&c| classes.class_start[c + 1] - classes.class_start[c]);
        for c in order {
            let range = classes.class_start[c] as usize..classes.class_start[c + 1] as usize;
            let mut heap: BinaryHeap<_> =
                range.map(|at| Reverse((load[classes.class_member[at] as usize], at))).collect();
            for _ in 0..classes.size[c] {
                let Some(mut least) = heap.peek_mut() else { break };
                let at = least.0.1;
                least.0.0 += 1;
                load[classes.class_member[at] as usize] += 1;
                flow[classes.class_arc[at] as usize] += 1;
            }
        }
        let mut owner_of_arc = alloc::vec![0; classes.arcs()];
        for (m, arcs) in classes.member_start.windows(2).enumerate() {
            owner_of_arc[arcs[0] as usize..arcs[1] as usize].fill(m as u32);
        }
        let frozen = classes.member_start.windows(2).map(|arcs| arcs[0] == arcs[1]).collect();
        Self {
            classes,
            load,
            flow,
            level: alloc::vec![0; members],
            frozen,
            came: alloc::vec![(NONE, NONE); members],
            reached: Vec::new(),
            member_seen: alloc::vec![false; members],
            class_seen: alloc::vec![false; classes.len()],
            owner_of_arc,
        }
    }

    /// The greatest load that is not settled yet.
    fn top(&self) -> Option<u32> {
        self.load.iter().zip(&self.frozen).filter(|(_, frozen)| !**frozen).map(|(&load, _)| load).max()
    }

    /// Breadth first from all members with load `top`; one exchange with the first reached that has two less.
    fn exchange(&mut self, top: u32) -> bool {
        let classes = self.classes;
        self.reached.clear();
        self.member_seen.fill(false);
        self.class_seen.fill(false);
        for m in 0..self.load.len() {
            if !self.frozen[m] && self.load[m] == top {
                self.member_seen[m] = true;
                self.came[m] = (NONE, NONE);
                self.reached.push(m as u32);
            }
        }
        let mut at = 0;
        while let Some(&m) = self.reached.get(at) {
            at += 1;
            if self.load[m as usize] + 2 <= top {
                self.apply(m as usize);
                return true;
            }
            for arc in classes.member_start[m as usize]..classes.member_start[m as usize + 1] {
                let c = classes.arc_class[arc as usize] as usize;
                if self.flow[arc as usize] == 0 || self.class_seen[c] {
                    continue;
                }
                self.class_seen[c] = true;
                for at in classes.class_start[c] as usize..classes.class_start[c + 1] as usize {
                    let other = classes.class_member[at] as usize;
                    if !self.frozen[other] && !self.member_seen[other] {
                        self.member_seen[other] = true;
                        self.came[other] = (arc, classes.class_arc[at]);
                        self.reached.push(other as u32);
                    }
                }
            }
        }
        false
    }

    /// Moves one partition along the chain that ends at a member.
    fn apply(&mut self, end: usize) {
        self.load[end] += 1;
        let mut m = end;
        while self.came[m].0 != NONE {
            let (out, into) = self.came[m];
            self.flow[out as usize] -= 1;
            self.flow[into as usize] += 1;
            m = self.owner_of_arc[out as usize] as usize;
        }
        self.load[m] -= 1;
    }

    /// What the last search reached is closed: it keeps loads of `top` and one less.
    fn freeze(&mut self, top: u32) {
        for &m in &self.reached {
            self.frozen[m as usize] = true;
            self.level[m as usize] = top;
        }
    }
}
