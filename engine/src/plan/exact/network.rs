//! Least sum of squares on a network: successive cheapest paths, from a flow that is nearly there.
//!
//! An arc carries between `low` and `high`. Along a *square* arc the first unit costs 1, the second 3, the
//! third 5, so that x units cost x²; along others all is free. A flow is of least cost if potentials π exist
//! with π(v) ≤ π(u) + cost for every step u → v that one more unit can take, forward or back.
//!
//! The solver keeps that condition and mends the balance: it starts from guessed potentials, pulls each
//! arc's flow to the nearest amount that fits them, and routes the surplus which this leaves at some nodes to
//! the shortfall at others along cheapest paths. A flow that was nearly best leaves little to route. Costs
//! are small integers, so there are few different path costs, and all paths of one cost are taken at once in
//! layers, as Dinic does.

use alloc::collections::BinaryHeap;
use alloc::vec::Vec;
use core::cmp::Reverse;

use crate::owned::claims::reserve;

/// A network with a flow on it. Arcs are numbered as they were added.
#[derive(Clone, Debug, Default)]
pub(super) struct Network {
    tail: Vec<u32>,
    head: Vec<u32>,
    low: Vec<u32>,
    high: Vec<u32>,
    pub(super) flow: Vec<u32>,
    square: Vec<bool>,
    /// Arcs at each node, in or out, ascending: CSR.
    at_start: Vec<u32>,
    at: Vec<u32>,
    pub(super) potential: Vec<i64>,
    excess: Vec<i64>,
    distance: Vec<i64>,
    heap: BinaryHeap<Reverse<(i64, u32)>>,
    layer: Vec<u32>,
    cursor: Vec<u32>,
    queue: Vec<u32>,
    path: Vec<(u32, u32)>,
}

const UNSEEN: u32 = u32::MAX;

impl Network {
    /// Makes room for so many nodes and arcs; memory only grows.
    pub(super) fn reserve(&mut self, nodes: usize, arcs: usize) {
        for list in [&mut self.tail, &mut self.head, &mut self.low, &mut self.high, &mut self.flow] {
            reserve(list, arcs);
        }
        reserve(&mut self.square, arcs);
        reserve(&mut self.at_start, nodes + 1);
        reserve(&mut self.at, 2 * arcs);
        for list in [&mut self.potential, &mut self.excess, &mut self.distance] {
            reserve(list, nodes);
        }
        for list in [&mut self.layer, &mut self.cursor, &mut self.queue] {
            reserve(list, nodes);
        }
        reserve(&mut self.path, nodes);
        // A node may wait there once for each arc that leads to it.
        self.heap.clear();
        self.heap.reserve(nodes + 2 * arcs);
    }

    pub(super) fn clear(&mut self) {
        for list in [&mut self.tail, &mut self.head, &mut self.low, &mut self.high, &mut self.flow] {
            list.clear();
        }
        self.square.clear();
    }

    pub(super) fn memory_usage(&self) -> usize {
        let words = [
            &self.tail,
            &self.head,
            &self.low,
            &self.high,
            &self.flow,
            &self.at_start,
            &self.at,
            &self.layer,
            &self.cursor,
            &self.queue,
        ];
        let longs = self.potential.capacity() + self.excess.capacity() + self.distance.capacity();
        words.iter().map(|list| list.capacity() * 4).sum::<usize>()
            + (longs + self.path.capacity()) * 8
            + self.heap.capacity() * size_of::<Reverse<(i64, u32)>>()
            + self.square.capacity()
    }

    /// Adds an arc that carries `flow`, which lies in `bounds`.
    pub(super) fn arc(&mut self, tail: u32, head: u32, bounds: (u32, u32), flow: u32, square: bool) {
        self.tail.push(tail);
        self.head.push(head);
        self.low.push(bounds.0);
        self.high.push(bounds.1);
        self.flow.push(flow);
        self.square.push(square);
    }

    /// Number of arcs.
    pub(super) fn arcs(&self) -> usize {
        self.tail.len()
    }

    /// The node that an arc leaves.
    pub(super) fn tail(&self, arc: usize) -> u32 {
        self.tail[arc]
    }

    /// The n-th arc at a node, ascending; known after [`link`](Self::link).
    pub(super) fn arc_at(&self, node: u32, n: u32) -> Option<u32> {
        let (from, to) = (self.at_start[node as usize], self.at_start[node as usize + 1]);
        (n < to - from).then(|| self.at[(from + n) as usize])
    }

    /// Lists the arcs at every node.
    pub(super) fn link(&mut self, nodes: usize) {
        self.at_start.clear();
        self.at_start.resize(nodes + 1, 0);
        for &node in self.tail.iter().chain(&self.head) {
            self.at_start[node as usize] += 1;
        }
        let mut end = 0;
        for start in &mut self.at_start {
            end += core::mem::replace(start, end);
        }
        self.at.clear();
        self.at.resize(self.tail.len() * 2, 0);
        for (arc, (&tail, &head)) in self.tail.iter().zip(&self.head).enumerate() {
            for node in [tail, head] {
                let start = &mut self.at_start[node as usize];
                self.at[*start as usize] = arc as u32;
                *start += 1;
            }
        }
        self.at_start.rotate_right(1);
        self.at_start[0] = 0;
    }

    /// Makes the flow one of least cost with the same balance at every node; `potential` holds a guess for
    /// each. False if a surplus cannot be routed, which bounds that the first flow respects do not allow.
    ///
    /// Cost: O(path costs · A log A), and O(A) for each length of paths of one cost.
    pub(super) fn solve(&mut self) -> bool {
        let nodes = self.potential.len();
        self.excess.clear();
        self.excess.resize(nodes, 0);
        self.fit();
        self.distance.clear();
        self.distance.resize(nodes, i64::MAX);
        self.layer.clear();
        self.layer.resize(nodes, UNSEEN);
        self.cursor.clear();
        self.cursor.resize(nodes, 0);
        while self.excess.iter().any(|&excess| excess > 0) {
            if !self.measure() {
                return false;
            }
            while self.lay() {
                for source in 0..nodes {
                    while self.excess[source] > 0 && self.walk(source as u32) {}
                }
            }
        }
        true
    }

    /// Pulls every flow to the nearest amount that the potentials allow, and notes what nodes have too much.
    fn fit(&mut self) {
        for arc in 0..self.tail.len() {
            let (tail, head) = (self.tail[arc] as usize, self.head[arc] as usize);
            let gain = self.potential[head] - self.potential[tail];
            let (low, high, flow) = (self.low[arc], self.high[arc], self.flow[arc]);
            let fitted = if self.square[arc] {
                // 2x − 1 ≤ gain ≤ 2x + 1
                let (least, most) = (gain.div_euclid(2), (gain + 1).div_euclid(2));
                i64::from(flow).clamp(least, most).clamp(i64::from(low), i64::from(high)) as u32
            } else {
                match gain.signum() {
                    1 => high,
                    -1 => low,
                    _ => flow,
                }
            };
            let more = i64::from(fitted) - i64::from(flow);
            self.flow[arc] = fitted;
            self.excess[tail] -= more;
            self.excess[head] += more;
        }
    }

    /// The node that one more unit can go to from `node` over an arc, and the reduced cost of it.
    #[inline]
    fn step(&self, node: u32, arc: u32) -> Option<(u32, i64)> {
        let at = arc as usize;
        let flow = i64::from(self.flow[at]);
        let (to, cost) = if self.tail[at] == node {
            if self.flow[at] == self.high[at] {
                return None;
            }
            (self.head[at], if self.square[at] { 2 * flow + 1 } else { 0 })
        } else {
            if self.flow[at] == self.low[at] {
                return None;
            }
            (self.tail[at], if self.square[at] { 1 - 2 * flow } else { 0 })
        };
        Some((to, cost + self.potential[node as usize] - self.potential[to as usize]))
    }

    /// Dijkstra from all nodes with too much to the nearest that needs some; moves the potentials of what lies
    /// nearer, so that every cheapest path now costs 0.
    fn measure(&mut self) -> bool {
        self.distance.fill(i64::MAX);
        self.heap.clear();
        self.queue.clear();
        for node in 0..self.excess.len() {
            if self.excess[node] > 0 {
                self.distance[node] = 0;
                self.heap.push(Reverse((0, node as u32)));
            }
        }
        while let Some(Reverse((distance, node))) = self.heap.pop() {
            if distance > self.distance[node as usize] {
                continue;
            }
            if self.excess[node as usize] < 0 {
                for &node in &self.queue {
                    self.potential[node as usize] += self.distance[node as usize] - distance;
                }
                return true;
            }
            self.queue.push(node);
            for at in self.at_start[node as usize]..self.at_start[node as usize + 1] {
                if let Some((to, reduced)) = self.step(node, self.at[at as usize]) {
                    let reached = distance + reduced;
                    if reached < self.distance[to as usize] {
                        self.distance[to as usize] = reached;
                        self.heap.push(Reverse((reached, to)));
                    }
                }
            }
        }
        false
    }

    /// Lays the nodes within reach by steps of reduced cost 0 in layers. False if nobody in need is among them.
    fn lay(&mut self) -> bool {
        self.layer.fill(UNSEEN);
        let nodes = self.excess.len();
        self.cursor.copy_from_slice(&self.at_start[..nodes]);
        self.queue.clear();
        for node in 0..nodes {
            if self.excess[node] > 0 {
                self.layer[node] = 0;
                self.queue.push(node as u32);
            }
        }
        let mut next = 0;
        let mut last = UNSEEN;
        while let Some(&node) = self.queue.get(next) {
            next += 1;
            let layer = self.layer[node as usize];
            if layer >= last {
                break;
            }
            for at in self.at_start[node as usize]..self.at_start[node as usize + 1] {
                if let Some((to, 0)) = self.step(node, self.at[at as usize])
                    && self.layer[to as usize] == UNSEEN
                {
                    self.layer[to as usize] = layer + 1;
                    self.queue.push(to);
                    if self.excess[to as usize] < 0 {
                        last = layer + 1;
                    }
                }
            }
        }
        last != UNSEEN
    }

    /// Sends one unit from a source down the layers to a node in need. False if there is no way left.
    fn walk(&mut self, source: u32) -> bool {
        self.path.clear();
        let mut node = source;
        while self.excess[node as usize] >= 0 {
            let at = self.cursor[node as usize];
            if at == self.at_start[node as usize + 1] {
                let Some((from, _)) = self.path.pop() else { return false };
                self.cursor[from as usize] += 1;
                node = from;
                continue;
            }
            let arc = self.at[at as usize];
            match self.step(node, arc) {
                Some((to, 0))
                    if self.layer[to as usize] != UNSEEN
                        && self.layer[to as usize] == self.layer[node as usize] + 1 =>
                {
                    self.path.push((node, arc));
                    node = to;
                }
                _ => self.cursor[node as usize] += 1,
            }
        }
        self.excess[source as usize] -= 1;
        self.excess[node as usize] += 1;
        for &(from, arc) in &self.path {
            let arc = arc as usize;
            if self.tail[arc] == from {
                self.flow[arc] += 1;
            } else {
                self.flow[arc] -= 1;
            }
        }
        true
    }
}
