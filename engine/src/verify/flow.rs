//! Minimum-cost flow by successive cheapest paths: the plain textbook algorithm, on a plain graph.
//!
//! Slower than what the planner does and unlike it, which is the point.

use alloc::collections::BinaryHeap;
use alloc::vec::Vec;
use core::cmp::Reverse;

/// A network with supplies and costs. Arcs come in pairs: number 2k, and its reverse 2k + 1.
#[derive(Clone, Debug, Default)]
pub(super) struct Network {
    /// What a node has too much (or, negative, needs).
    pub(super) excess: Vec<i64>,
    /// π with π(to) ≤ π(from) + cost along every arc with capacity left.
    pub(super) potential: Vec<i64>,
    to: Vec<u32>,
    capacity: Vec<i64>,
    cost: Vec<i64>,
    next: Vec<u32>,
    first: Vec<u32>,
    distance: Vec<i64>,
    seen: Vec<bool>,
    cursor: Vec<u32>,
    path: Vec<u32>,
}

const END: u32 = u32::MAX;

impl Network {
    pub(super) fn new(nodes: usize) -> Self {
        Self {
            excess: alloc::vec![0; nodes],
            potential: alloc::vec![0; nodes],
            first: alloc::vec![END; nodes],
            ..Self::default()
        }
    }

    /// Adds an arc and returns its number.
    pub(super) fn arc(&mut self, from: usize, to: usize, capacity: i64, cost: i64) -> usize {
        let number = self.to.len();
        for (from, to, capacity, cost) in [(from, to, capacity, cost), (to, from, 0, -cost)] {
            self.next.push(self.first[from]);
            self.first[from] = self.to.len() as u32;
            self.to.push(to as u32);
            self.capacity.push(capacity);
            self.cost.push(cost);
        }
        number
    }

    /// What flows along an arc.
    pub(super) fn flow(&self, arc: usize) -> i64 {
        self.capacity[arc ^ 1]
    }

    /// Sends all excess to where it is needed, at least cost. False if it cannot be.
    pub(super) fn solve(&mut self) -> bool {
        // Arcs of negative cost start full, so that potentials of 0 are right.
        for arc in (0..self.to.len()).step_by(2) {
            if self.cost[arc] < 0 {
                let (from, to) = (self.to[arc ^ 1] as usize, self.to[arc] as usize);
                self.push(arc, from, to, self.capacity[arc]);
            }
        }
        while self.excess.iter().any(|&excess| excess > 0) {
            if !self.measure() {
                return false;
            }
            while self.augment() {}
        }
        true
    }

    fn push(&mut self, arc: usize, from: usize, to: usize, amount: i64) {
        self.capacity[arc] -= amount;
        self.capacity[arc ^ 1] += amount;
        self.excess[from] -= amount;
        self.excess[to] += amount;
    }

    fn reduced(&self, arc: usize) -> i64 {
        let (from, to) = (self.to[arc ^ 1] as usize, self.to[arc] as usize);
        self.cost[arc] + self.potential[from] - self.potential[to]
    }

    /// Dijkstra from all nodes with excess; raises potentials by the distances, up to the nearest need.
    fn measure(&mut self) -> bool {
        self.distance.clear();
        self.distance.resize(self.first.len(), i64::MAX);
        let mut heap = BinaryHeap::new();
        for node in 0..self.first.len() {
            if self.excess[node] > 0 {
                self.distance[node] = 0;
                heap.push(Reverse((0, node)));
            }
        }
        let mut nearest = None;
        while let Some(Reverse((distance, node))) = heap.pop() {
            if distance > self.distance[node] {
                continue;
            }
            if self.excess[node] < 0 {
                nearest = Some(distance);
                break;
            }
            let mut arc = self.first[node];
            while arc != END {
                let at = arc as usize;
                let to = self.to[at] as usize;
                if self.capacity[at] > 0 {
                    let reached = distance + self.reduced(at);
                    if reached < self.distance[to] {
                        self.distance[to] = reached;
                        heap.push(Reverse((reached, to)));
                    }
                }
                arc = self.next[at];
            }
        }
        let Some(nearest) = nearest else { return false };
        for (potential, &distance) in self.potential.iter_mut().zip(&self.distance) {
            *potential += distance.min(nearest);
        }
        true
    }

    /// One sweep: from each node with excess along arcs of reduced cost 0, no node twice.
    fn augment(&mut self) -> bool {
        self.seen.clear();
        self.seen.resize(self.first.len(), false);
        self.cursor.clone_from(&self.first);
        let mut any = false;
        for source in 0..self.first.len() {
            while self.excess[source] > 0 && !self.seen[source] && self.walk(source) {
                any = true;
                // The nodes of the path may serve again.
                for at in 0..self.path.len() {
                    let from = self.to[self.path[at] as usize ^ 1] as usize;
                    self.seen[from] = false;
                }
            }
        }
        any
    }

    fn walk(&mut self, source: usize) -> bool {
        self.path.clear();
        self.seen[source] = true;
        let mut node = source;
        while self.excess[node] >= 0 {
            let arc = self.cursor[node];
            if arc == END {
                let Some(back) = self.path.pop() else { return false };
                node = self.to[back as usize ^ 1] as usize;
                self.cursor[node] = self.next[back as usize];
                continue;
            }
            let at = arc as usize;
            let to = self.to[at] as usize;
            if self.capacity[at] > 0 && !self.seen[to] && self.reduced(at) == 0 {
                self.seen[to] = self.excess[to] >= 0;
                self.path.push(arc);
                node = to;
            } else {
                self.cursor[node] = self.next[at];
            }
        }
        let room = self.path.iter().map(|&arc| self.capacity[arc as usize]).min().unwrap_or(0);
        let amount = room.min(self.excess[source]).min(-self.excess[node]);
        for at in 0..self.path.len() {
            let arc = self.path[at] as usize;
            self.push(arc, self.to[arc ^ 1] as usize, self.to[arc] as usize, amount);
        }
        true
    }
}
