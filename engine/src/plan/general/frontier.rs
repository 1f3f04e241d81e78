//! The frontier of a search for cheapest paths: a radix heap of nodes, each at most once.
//!
//! Nodes at the present distance are *settled*: they stand in `queue`, in the order in which they came. Those
//! farther away lie in lists by the highest bit in which their distance differs from the present one; when
//! the queue is used up, the lowest list that is not empty is dealt out again from its least distance. Reduced
//! costs are never negative, so distances only rise, and a node changes its list only downwards.
//!
//! ```text
//! present 12 = 0b1100    queue: 7 ──► 2     list 0 (13): 9    list 1 (14, 15): 4 ──► 1    list 4 (16 to 31): 5
//! ```
//!
//! Why no binary heap: most nodes lie at a handful of distances, and here each costs a few words written.

use alloc::vec::Vec;

use crate::group::NONE;
use crate::owned::claims::reserve;

/// A node of order at least this is not settled; the rest tells its list.
const WAITING: u32 = u32::MAX - 64;

#[derive(Clone, Copy, Debug, Default)]
struct Label {
    distance: i64,
    /// The search that wrote this label.
    search: u32,
    order: u32,
    before: u32,
    after: u32,
}

/// Nodes by distance.
#[derive(Clone, Debug)]
pub(super) struct Frontier {
    labels: Vec<Label>,
    /// Settled nodes, in order.
    pub(super) queue: Vec<u32>,
    head: usize,
    present: i64,
    search: u32,
    orders: u32,
    first: [u32; 64],
    /// Which lists are not empty.
    lists: u64,
}

impl Default for Frontier {
    fn default() -> Self {
        Self {
            labels: Vec::new(),
            queue: Vec::new(),
            head: 0,
            present: 0,
            search: 0,
            orders: 0,
            first: [NONE; 64],
            lists: 0,
        }
    }
}

impl Frontier {
    pub(super) fn reserve(&mut self, nodes: usize) {
        reserve(&mut self.labels, nodes);
        reserve(&mut self.queue, nodes);
    }

    pub(super) fn memory_usage(&self) -> usize {
        self.labels.capacity() * size_of::<Label>() + self.queue.capacity() * 4
    }

    /// Makes sure of labels for this many nodes. What they say is of earlier searches.
    pub(super) fn fit(&mut self, nodes: usize) {
        if self.labels.len() < nodes {
            self.labels.resize(nodes, Label::default());
        }
        if self.search > u32::MAX / 2 {
            self.labels.fill(Label::default());
            self.search = 0;
        }
    }

    /// Begins a search at distance 0 with nothing settled.
    pub(super) fn begin(&mut self) {
        self.search += 1;
        self.queue.clear();
        self.head = 0;
        self.present = 0;
        self.orders = 0;
        self.lists = 0;
    }

    /// The distance of the nodes settled last.
    pub(super) fn present(&self) -> i64 {
        self.present
    }

    /// The distance of a node that was offered in this search.
    pub(super) fn distance(&self, node: usize) -> Option<i64> {
        let label = &self.labels[node];
        (label.search == self.search).then_some(label.distance)
    }

    /// When the node was settled; none if it was not.
    #[inline]
    pub(super) fn order(&self, node: usize) -> Option<u32> {
        let label = &self.labels[node];
        (label.search == self.search && label.order < WAITING).then_some(label.order)
    }

    #[inline]
    pub(super) fn settled(&self, node: usize) -> bool {
        self.order(node).is_some()
    }

    /// Gives a settled node a place after all others so far.
    pub(super) fn postpone(&mut self, node: usize) {
        self.labels[node].order = self.orders;
        self.orders += 1;
    }

    /// Takes a settled node out of the order.
    pub(super) fn strike(&mut self, node: usize) {
        self.labels[node].order = WAITING;
    }

    /// Offers a node at a distance, the present one or more. True if that settles it.
    #[inline]
    pub(super) fn offer(&mut self, node: usize, distance: i64) -> bool {
        debug_assert!(distance >= self.present);
        let label = &mut self.labels[node];
        if label.search == self.search {
            if distance >= label.distance {
                return false;
            }
            let Label { before, after, order, .. } = *label;
            label.distance = distance;
            self.unlink(order, before, after);
        } else {
            label.search = self.search;
            label.distance = distance;
        }
        if distance == self.present {
            self.settle(node);
            true
        } else {
            self.link(node);
            false
        }
    }

    fn settle(&mut self, node: usize) {
        self.labels[node].order = self.orders;
        self.orders += 1;
        self.queue.push(node as u32);
    }

    /// Puts a labelled node in the list of its distance.
    fn link(&mut self, node: usize) {
        let list = 63 - (self.labels[node].distance ^ self.present).leading_zeros();
        let bit = 1 << list;
        let after = if self.lists & bit == 0 { NONE } else { self.first[list as usize] };
        self.lists |= bit;
        self.first[list as usize] = node as u32;
        let label = &mut self.labels[node];
        (label.order, label.before, label.after) = (WAITING + list, NONE, after);
        if after != NONE {
            self.labels[after as usize].before = node as u32;
        }
    }

    fn unlink(&mut self, order: u32, before: u32, after: u32) {
        if after != NONE {
            self.labels[after as usize].before = before;
        }
        if before != NONE {
            self.labels[before as usize].after = after;
            return;
        }
        let list = order - WAITING;
        self.first[list as usize] = after;
        if after == NONE {
            self.lists &= !(1 << list);
        }
    }

    /// The next settled node at the present distance.
    #[inline]
    pub(super) fn pop(&mut self) -> Option<u32> {
        let node = self.queue.get(self.head).copied();
        self.head += usize::from(node.is_some());
        node
    }

    /// Goes on to the next distance and settles what lies there; returns where that begins in the queue. None
    /// if nothing waits.
    pub(super) fn advance(&mut self) -> Option<usize> {
        if self.lists == 0 {
            return None;
        }
        let list = self.lists.trailing_zeros();
        self.lists &= self.lists - 1;
        let begin = self.queue.len();
        let first = self.first[list as usize];
        let mut least = i64::MAX;
        let mut node = first;
        while node != NONE {
            let label = &self.labels[node as usize];
            least = least.min(label.distance);
            node = label.after;
        }
        self.present = least;
        let mut node = first;
        while node != NONE {
            let Label { distance, after, .. } = self.labels[node as usize];
            if distance == least {
                self.settle(node as usize)
            } else {
                self.link(node as usize)
            }
            node = after;
        }
        Some(begin)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Distances come out in order, each node once, at the least that was offered.
    #[test]
    fn nodes_are_settled_by_distance() {
        let mut frontier = Frontier::default();
        frontier.fit(64);
        let mut state = 1u64;
        for _ in 0..200 {
            frontier.begin();
            frontier.offer(0, 0);
            let mut best = [i64::MAX; 64];
            best[0] = 0;
            let mut seen = Vec::new();
            loop {
                while let Some(node) = frontier.pop() {
                    seen.push((frontier.present(), node));
                    for _ in 0..6 {
                        state = state
                            .wrapping_mul(6_364_136_223_846_793_005)
                            .wrapping_add(1_442_695_040_888_963_407);
                        let to = (state >> 40) as usize % 64;
                        let far = [0, 1, 2, 100_001, 100_000, 7 << 40][(state >> 50) as usize % 6];
                        let distance = frontier.present() + far;
                        best[to] = best[to].min(distance);
                        frontier.offer(to, distance);
                    }
                }
                if frontier.advance().is_none() {
                    break;
                }
            }
            assert!(seen.is_sorted_by_key(|&(distance, _)| distance));
            for &(distance, node) in &seen {
                assert_eq!(distance, best[node as usize]);
                assert_eq!(frontier.distance(node as usize), Some(distance));
            }
            let reached = best.iter().filter(|&&distance| distance != i64::MAX).count();
            assert_eq!(seen.len(), reached, "each node once");
        }
    }
}
