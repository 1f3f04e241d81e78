//! The exact topic spread: the least sum of squares over topics and members, among all plans as good in the rest.
//!
//! The certificate of a plan tells what every equally good one looks like (complementary slackness): with
//! g = π(m) − π(c) − mismatch, a member m that may own from class c at home h of it has
//!
//! ```text
//! g = 0              h or more         it keeps its own, and foreign ones cost nothing
//! −moved < g < 0     h                 it keeps its own, and takes none
//! g = −moved         h or less         giving its own up costs what it gains elsewhere
//! g < −moved         none
//! ```
//!
//! of each topic's partitions in the class, and a load of λ or λ − 1: of λ if π(m) lies below that of the
//! block's terminal, of λ − 1 if above, of either if they are equal. So balance, racks and moves are bounds on
//! flows here and no costs; what is left is the sum of squares:
//!
//! ```text
//! without racks   topic ──[low, high], x²──► member ──[λ−1, λ]──► terminal of the block
//! with racks      topic, rack set ──[low, high]──► topic, member ──x²──► member ──► terminal
//! ```
//!
//! The greedy plan is a flow on it, near the best one: see [`network`]. Concrete partitions come from the
//! flow: of each topic and rack set a member keeps its own of lowest number, and what nobody keeps is dealt
//! in ascending order to the members in theirs.

mod network;

use alloc::vec::Vec;
use core::cmp::Ordering;

use network::Network;

use super::scratch::Scratch;
use super::target::Plan;
use super::{Outcome, Path, Proof, Spread, dealt, general, transfer, uniform};
use crate::group::{Classes, Group, NONE, Shape};
use crate::id::MemberIndex;
use crate::owned::claims::{Settled, reserve};
use crate::rack::{Objective, Weights};
use crate::verify::{Certificate, NO_BLOCK};

/// Pairs of a member and a topic that it subscribes to, up to which a plan can be made exact.
pub const EXACT_PAIRS: usize = 100_000;

/// Memory of the exact spread. Unlike the rest of a [`Scratch`] it is allocated when it is first needed, or
/// when asked to [`reserve`](Self::reserve), and kept.
#[derive(Clone, Debug, Default)]
pub(super) struct Work {
    network: Network,
    certificate: Certificate,
    /// Cells, the pairs of a topic and a class with partitions in it, by topic and class: keys, and topics' starts.
    cells: Vec<u64>,
    cell_start: Vec<u32>,
    /// Partitions of each cell.
    size: Vec<u32>,
    /// The cell of each partition, [`NONE`] if nobody subscribes.
    cell_of: Vec<u32>,
    /// The member that each arc is about.
    member_of: Vec<u32>,
    /// λ of each class.
    class_level: Vec<u32>,
    /// What the member in hand has, and has at home, of each cell; 0 between members.
    has: Vec<u32>,
    home: Vec<u32>,
    owner: Vec<u32>,
    next: Vec<u32>,
    /// Of each topic, what flows along its square arcs that may change, and their number.
    mean: Vec<(u64, u64)>,
    square_topic: Vec<u32>,
}

impl Work {
    /// Makes room for a shape; memory only grows. Groups with more pairs than [`EXACT_PAIRS`] need none.
    pub(super) fn reserve(&mut self, shape: &Shape) {
        let pairs = (shape.wanted as usize).min(EXACT_PAIRS);
        // With racks a joint for each pair stands between its cells and the member.
        let joints = if shape.replicas > 0 { pairs } else { 0 };
        let nodes = shape.pairs + 2 * shape.members + joints;
        let arcs = shape.cells as usize + joints + shape.members;
        self.network.reserve(nodes, arcs);
        self.certificate.reset(*shape);
        for list in [&mut self.member_of, &mut self.square_topic] {
            reserve(list, arcs);
        }
        // Cells are found twice at most, as neighbours may be of different classes.
        reserve(&mut self.cells, shape.pairs + shape.partitions);
        reserve(&mut self.cell_start, shape.topics + 1);
        for list in [&mut self.size, &mut self.has, &mut self.home] {
            reserve(list, shape.pairs);
        }
        for list in [&mut self.cell_of, &mut self.owner] {
            reserve(list, shape.partitions);
        }
        reserve(&mut self.class_level, shape.classes);
        reserve(&mut self.next, shape.pairs.max(shape.members + 1));
        reserve(&mut self.mean, shape.topics);
    }

    pub(super) fn memory_usage(&self) -> usize {
        let words = [
            &self.cell_start,
            &self.size,
            &self.cell_of,
            &self.member_of,
            &self.class_level,
            &self.has,
            &self.home,
            &self.owner,
            &self.next,
            &self.square_topic,
        ];
        words.iter().map(|list| list.capacity() * 4).sum::<usize>()
            + self.cells.capacity() * 8
            + self.mean.capacity() * 16
            + self.network.memory_usage()
            + self.certificate.memory_usage()
    }

    /// Numbers the cells.
    fn list_cells(&mut self, group: &Group) {
        let classes = group.classes();
        let bases = group.topology.bases();
        self.cells.clear();
        self.cell_start.clear();
        self.cell_of.clear();
        self.cell_start.push(0);
        for (topic, &class) in classes.of_topic.iter().enumerate() {
            let range = bases[topic] as usize..bases[topic + 1] as usize;
            let first = self.cells.len();
            if class == NONE || range.is_empty() {
                self.cell_of.extend(range.map(|_| NONE));
            } else if classes.by_rack() {
                let key = |class: u32| (topic as u64) << 32 | u64::from(class);
                // Neighbours are often of one class; the rest is left to the sort.
                let mut last = NONE;
                for &class in &classes.of_partition[range.clone()] {
                    if class != last {
                        self.cells.push(key(class));
                        last = class;
                    }
                }
                self.cells[first..].sort_unstable();
                let mut end = first;
                for at in first..self.cells.len() {
                    if end == first || self.cells[end - 1] != self.cells[at] {
                        self.cells[end] = self.cells[at];
                        end += 1;
                    }
                }
                self.cells.truncate(end);
                let cells = &self.cells[first..];
                self.cell_of.extend(
                    classes.of_partition[range]
                        .iter()
                        .map(|&class| (first + cells.partition_point(|&cell| cell < key(class))) as u32),
                );
            } else {
                self.cells.push((topic as u64) << 32 | u64::from(class));
                self.cell_of.extend(range.map(|_| first as u32));
            }
            self.cell_start.push(self.cells.len() as u32);
        }
        self.size.clear();
        self.size.resize(self.cells.len(), 0);
        for &cell in self.cell_of.iter().filter(|&&cell| cell != NONE) {
            self.size[cell as usize] += 1;
        }
    }

    /// The least level among the subscribers of each class: of members at it the class may be.
    fn find_levels(&mut self, group: &Group) {
        let classes = group.classes();
        let certificate = &self.certificate;
        self.class_level.clear();
        self.class_level.extend(classes.class_start.windows(2).map(|range| {
            let members = &classes.class_member[range[0] as usize..range[1] as usize];
            let level = |&m: &u32| certificate.level[certificate.block[m as usize] as usize];
            members.iter().map(level).min().unwrap_or(0)
        }));
    }

    /// How many partitions of a cell of this class a member has in plans as good as this one, `home` of them
    /// being its own.
    fn bounds(
        &self,
        classes: &Classes,
        weights: Weights,
        member: usize,
        class: usize,
        home: u32,
    ) -> (u32, u32) {
        let level = self.certificate.level[self.certificate.block[member] as usize];
        if level != self.class_level[class] {
            return (0, 0);
        }
        let mut gain = self.certificate.member[member] - self.certificate.class[class];
        if classes.by_rack() {
            let first = classes.member_start[member] as usize;
            let arcs = &classes.arc_class[first..classes.member_start[member + 1] as usize];
            let arc = first + arcs.partition_point(|&other| (other as usize) < class);
            gain -= if classes.mismatch[arc] { weights.mismatch } else { 0 };
        }
        if gain >= 0 {
            (home, ANY)
        } else if gain > -weights.moved {
            (home, home)
        } else if gain == -weights.moved {
            (0, home)
        } else {
            (0, 0)
        }
    }

    /// Builds the network with the plan's flow on it. False if the plan is not what the certificate says.
    ///
    /// Nodes: cells, members, terminals, and with racks the pairs of a member and a topic.
    fn build(&mut self, group: &Group, settled: &Settled, plan: &Plan) -> bool {
        let (cells, members) = (self.cells.len(), group.members());
        let mut nodes = cells + members + self.certificate.level.len();
        self.network.clear();
        self.member_of.clear();
        self.square_topic.clear();
        self.mean.clear();
        self.mean.resize(group.topology.topics(), (0, 0));
        for list in [&mut self.has, &mut self.home] {
            list.clear();
            list.resize(cells, 0);
        }
        for member in 0..members {
            let target = plan.target(MemberIndex::new(member as u32));
            let block = self.certificate.block[member];
            if block == NO_BLOCK {
                if target.is_empty() {
                    continue;
                }
                return false;
            }
            let own =
                &settled.home[settled.home_start[member] as usize..settled.home_start[member + 1] as usize];
            for p in target {
                self.has[self.cell_of[p.at()] as usize] += 1;
            }
            for &p in own {
                self.home[self.cell_of[p as usize] as usize] += 1;
            }
            let Some(load) = self.add_member(group, member, &mut nodes) else { return false };
            if load as usize != target.len() {
                return false;
            }
            for p in target {
                self.has[self.cell_of[p.at()] as usize] = 0;
            }
            for &p in own {
                self.home[self.cell_of[p as usize] as usize] = 0;
            }
            let level = self.certificate.level[block as usize];
            let free = self.certificate.terminal[block as usize];
            let bounds = match self.certificate.member[member].cmp(&free) {
                Ordering::Less => (level, level),
                Ordering::Equal => (level.saturating_sub(1), level),
                Ordering::Greater => (level.saturating_sub(1), level.saturating_sub(1)),
            };
            if load < bounds.0 || load > bounds.1 {
                return false;
            }
            let (from, to) = ((cells + member) as u32, (cells + members) as u32 + block);
            self.arc(from, to, bounds, load, member as u32);
        }
        self.guess(nodes);
        self.network.link(nodes);
        true
    }

    /// Adds the arcs of one member from its topics; returns what flows in.
    fn add_member(&mut self, group: &Group, member: usize, nodes: &mut usize) -> Option<u32> {
        let classes = group.classes();
        let weights = Weights::of(group, self.certificate.objective);
        let node = (self.cells.len() + member) as u32;
        let mut load = 0;
        for &topic in group.subscription_numbers(MemberIndex::new(member as u32)) {
            let (mut joint, mut together) = (NONE, 0);
            for cell in self.cell_start[topic as usize]..self.cell_start[topic as usize + 1] {
                let class = self.cells[cell as usize] as u32 as usize;
                let (has, home) = (self.has[cell as usize], self.home[cell as usize]);
                let bounds = self.bounds(classes, weights, member, class, home);
                if has < bounds.0 || has > bounds.1 {
                    return None;
                }
                if bounds.1 == 0 {
                    continue;
                }
                together += has;
                if classes.by_rack() {
                    if joint == NONE {
                        joint = *nodes as u32;
                        *nodes += 1;
                    }
                    let bounds = (bounds.0, bounds.1.min(self.size[cell as usize]));
                    self.arc(cell, joint, bounds, has, member as u32);
                } else {
                    self.square_arc(cell, node, bounds, has, member as u32, topic);
                }
            }
            if joint != NONE {
                self.square_arc(joint, node, (0, ANY), together, member as u32, topic);
            }
            load += together;
        }
        Some(load)
    }

    fn arc(&mut self, tail: u32, head: u32, bounds: (u32, u32), flow: u32, member: u32) {
        self.network.arc(tail, head, bounds, flow, false);
        self.member_of.push(member);
        self.square_topic.push(NONE);
    }

    fn square_arc(&mut self, tail: u32, head: u32, bounds: (u32, u32), flow: u32, member: u32, topic: u32) {
        self.network.arc(tail, head, bounds, flow, true);
        self.member_of.push(member);
        self.square_topic.push(topic);
        if bounds.0 < bounds.1 {
            let mean = &mut self.mean[topic as usize];
            mean.0 += u64::from(flow);
            mean.1 += 1;
        }
    }

    /// Guesses potentials: those with which each topic is at its mean, rounded down or up, at every member.
    fn guess(&mut self, nodes: usize) {
        let Self { network, cells, mean, square_topic, .. } = self;
        let guess = |topic: u32| {
            let (sum, many) = mean[topic as usize];
            -(((2 * sum / many.max(1)) | 1) as i64)
        };
        network.potential.clear();
        network.potential.resize(nodes, 0);
        for (potential, &cell) in network.potential.iter_mut().zip(&*cells) {
            *potential = guess((cell >> 32) as u32);
        }
        for (arc, &topic) in square_topic.iter().enumerate() {
            if topic != NONE {
                let tail = network.tail(arc) as usize;
                network.potential[tail] = guess(topic);
            }
        }
    }

    /// Chooses the owner of every partition by the flow.
    fn choose_owners(&mut self, group: &Group, settled: &Settled) {
        let cells = self.cells.len();
        self.owner.clear();
        self.owner.resize(group.topology.partitions(), NONE);
        // Arcs come by member, so one pass goes along with the members.
        let mut arc = 0;
        for member in 0..group.members() {
            let first = arc;
            while arc < self.network.arcs() && self.member_of[arc] as usize == member {
                let cell = self.network.tail(arc) as usize;
                if cell < cells {
                    self.has[cell] = self.network.flow[arc];
                }
                arc += 1;
            }
            let own = settled.home_start[member] as usize..settled.home_start[member + 1] as usize;
            for &p in &settled.home[own] {
                let room = &mut self.has[self.cell_of[p as usize] as usize];
                if *room > 0 {
                    *room -= 1;
                    self.owner[p as usize] = member as u32;
                }
            }
            for arc in first..arc {
                let cell = self.network.tail(arc) as usize;
                if cell < cells {
                    self.network.flow[arc] = core::mem::take(&mut self.has[cell]);
                }
            }
        }
        self.next.clear();
        self.next.resize(cells, 0);
        for (owner, &cell) in self.owner.iter_mut().zip(&self.cell_of) {
            if cell == NONE || *owner != NONE {
                continue;
            }
            let next = &mut self.next[cell as usize];
            while let Some(arc) = self.network.arc_at(cell, *next) {
                let left = &mut self.network.flow[arc as usize];
                if *left > 0 {
                    *left -= 1;
                    *owner = self.member_of[arc as usize];
                    break;
                }
                *next += 1;
            }
        }
    }
}

/// No upper bound.
const ANY: u32 = u32::MAX;

/// Makes the spread of a plan exact, if it is proven in the rest and the group is not too large. The plan
/// keeps its figures: only who has which partition changes.
///
/// Cost: that of [`Network::solve`] on an arc for each pair (with racks: for each rack set of it).
pub(super) fn improve(
    group: &Group,
    objective: Objective,
    outcome: &mut Outcome,
    scratch: &mut Scratch,
    plan: &mut Plan,
) {
    if outcome.proof != Proof::OPTIMAL || pairs(group) > EXACT_PAIRS {
        return;
    }
    let mut certificate = core::mem::take(&mut scratch.exact.certificate);
    match outcome.path {
        Path::Uniform | Path::UniformSettled => {
            uniform::certify(group, outcome.path, objective, scratch, plan, &mut certificate);
        }
        _ => general::certify(group, objective, scratch, &mut certificate),
    }
    scratch.exact.certificate = certificate;
    scratch.settled.settle(group);
    let work = &mut scratch.exact;
    work.list_cells(group);
    work.find_levels(group);
    let solved = work.build(group, &scratch.settled, plan) && work.network.solve();
    debug_assert!(solved, "a proven plan is a flow, and flows can be routed back to it");
    if !solved {
        return;
    }
    work.choose_owners(group, &scratch.settled);
    dealt::write(group.members(), &work.owner, &mut work.next, plan);
    let moves = transfer::mark(group, &mut scratch.settled, plan);
    debug_assert_eq!(moves, outcome.stats.moves);
    outcome.spread = Spread::Exact;
}

/// Pairs of a member and an existing topic that it subscribes to.
fn pairs(group: &Group) -> usize {
    group.member_indices().map(|member| group.subscription(member).len()).sum()
}

/// How even topics are in a plan: the sum of squares of how many partitions of a topic a member has, over
/// all topics and members. Less is more even; [`Spread::Exact`] makes it least.
///
/// Cost: O(P).
///
/// # Examples
///
/// ```
/// use tenure::plan::{Assignor, Config, Spread, spread_of};
/// use tenure::{Group, Topology};
///
/// let topology = Topology::builder().topic("a", 4).topic("b", 4).build()?;
/// let mut builder = Group::builder(&topology);
/// builder.member("x").topic("a").topic("b");
/// builder.member("y").topic("a").topic("b");
/// let group = builder.build()?;
/// let (plan, outcome) = Assignor::new(Config::new().spread(Spread::Exact)).assign(&group)?;
/// assert_eq!(outcome.spread, Spread::Exact);
/// assert_eq!(spread_of(&group, &plan), 4 * 2 * 2, "two of each topic for each member");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Panics
///
/// If the plan is not of the group.
pub fn spread_of(group: &Group, plan: &Plan) -> u64 {
    let bases = group.topology.bases();
    let mut sum = 0;
    for member in group.member_indices() {
        let mut rest = plan.target(member);
        while let Some(&first) = rest.first() {
            let end = bases[group.topology.topic_of(first).at() + 1];
            let (of_topic, others) = rest.split_at(rest.partition_point(|p| p.get() < end));
            sum += (of_topic.len() * of_topic.len()) as u64;
            rest = others;
        }
    }
    sum
}
