//! The sizes that decide how much memory a plan takes.

/// The sizes of one group: what a scratch and a plan must fit.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct Shape {
    /// Members, M.
    pub members: usize,
    /// Topics, T.
    pub topics: usize,
    /// Partitions, P.
    pub partitions: usize,
    /// Claims on existing partitions, all members together.
    pub claims: usize,
    /// Classes, C.
    pub classes: usize,
    /// Pairs of a class and a topic with partitions in it.
    pub pairs: usize,
    /// Pairs of a member and a class that it may own from, A.
    pub arcs: usize,
    /// Pairs of a member and a topic that it subscribes to.
    pub wanted: u32,
    /// The same, with each topic as often as its class has sets of racks.
    pub cells: u32,
    /// Racks that hold a replica.
    pub racks: u32,
    /// Racks of every partition's replicas, all partitions together.
    pub replicas: u32,
}

impl Shape {
    /// Whether something made for `self` serves a group of shape `other`.
    pub fn fits(&self, other: &Self) -> bool {
        self.members >= other.members
            && self.topics >= other.topics
            && self.partitions >= other.partitions
            && self.claims >= other.claims
            && self.classes >= other.classes
            && self.pairs >= other.pairs
            && self.arcs >= other.arcs
            && self.wanted >= other.wanted
            && self.cells >= other.cells
            && self.racks >= other.racks
            && self.replicas >= other.replicas
    }

    /// The larger of two shapes in each dimension.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        Self {
            members: self.members.max(other.members),
            topics: self.topics.max(other.topics),
            partitions: self.partitions.max(other.partitions),
            claims: self.claims.max(other.claims),
            classes: self.classes.max(other.classes),
            pairs: self.pairs.max(other.pairs),
            arcs: self.arcs.max(other.arcs),
            wanted: self.wanted.max(other.wanted),
            cells: self.cells.max(other.cells),
            racks: self.racks.max(other.racks),
            replicas: self.replicas.max(other.replicas),
        }
    }
}
