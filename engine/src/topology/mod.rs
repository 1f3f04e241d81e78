//! Topics, their partition counts, and the racks of their replicas: names to dense indices.
//!
//! A topology gives every topic a contiguous range of [`PartitionIndex`]:
//!
//! ```text
//! topic            clicks        orders             views
//! base             0             3                  15            20
//! partition index  0  1  2       3  4  5  …  14     15 … 19
//! Kafka's number   0  1  2       0  1  2  …  11     0  …  4
//! ```
//!
//! All kernels work on partition indices; names appear again only when a plan is read. The alternative,
//! `(topic, partition)` pairs in maps, is what the rivals do: it costs a hash and a string comparison
//! for each step of an inner loop.

mod builder;
pub(crate) mod lookup;
pub(crate) mod names;
mod racks;

pub use builder::{BuildError, PARTITION_LIMIT, TopologyBuilder};

use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::id::{PartitionIndex, RackIndex, TopicIndex};
use lookup::Lookup;
use names::{NameIndex, Names};
use racks::Racks;

/// The topics of a cluster as one group sees them; immutable, cheap to clone, shareable.
///
/// Shapes: T topics, P partitions in all. Memory: names, 8 bytes a topic; with racks 4 bytes a partition.
///
/// # Examples
///
/// ```
/// use tenure::topology::Topology;
/// let topology = Topology::builder().topic("orders", 12).topic("clicks", 3).build()?;
/// assert_eq!((topology.topics(), topology.partitions()), (2, 15));
/// let orders = topology.find("orders").unwrap();
/// let p = topology.partition(orders, 4).unwrap();
/// assert_eq!(topology.name(topology.topic_of(p)), "orders");
/// assert_eq!(topology.number(p), 4);
/// # Ok::<(), tenure::topology::BuildError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Topology {
    inner: Arc<Inner>,
}

#[derive(Debug, Default)]
pub(crate) struct Inner {
    names: Names,
    index: NameIndex,
    base: Vec<u32>,
    lookup: Lookup,
    racks: Racks,
}

impl Topology {
    /// Starts a topology.
    pub fn builder() -> TopologyBuilder {
        TopologyBuilder::new()
    }

    /// Number of topics, T.
    #[inline]
    pub fn topics(&self) -> usize {
        self.inner.names.len()
    }

    /// Number of partitions of all topics together, P.
    #[inline]
    pub fn partitions(&self) -> usize {
        self.inner.base[self.topics()] as usize
    }

    /// The name of a topic.
    ///
    /// # Panics
    ///
    /// If the index is not of this topology.
    #[inline]
    pub fn name(&self, topic: TopicIndex) -> &str {
        self.inner.names.get(topic.at())
    }

    /// Looks a topic up by its name. Cost: one hash of the name.
    #[inline]
    pub fn find(&self, name: &str) -> Option<TopicIndex> {
        self.inner.index.find(&self.inner.names, name).map(TopicIndex::new)
    }

    /// How many partitions a topic has.
    #[inline]
    pub fn partition_count(&self, topic: TopicIndex) -> u32 {
        let base = self.bases();
        base[topic.at() + 1] - base[topic.at()]
    }

    /// Where each topic's partitions begin: T + 1 numbers, the last is P.
    #[inline]
    pub fn bases(&self) -> &[u32] {
        &self.inner.base
    }

    /// The index of Kafka's partition `number` of a topic, if there is one.
    #[inline]
    pub fn partition(&self, topic: TopicIndex, number: i32) -> Option<PartitionIndex> {
        let number = u32::try_from(number).ok()?;
        (number < self.partition_count(topic)).then(|| PartitionIndex::new(self.bases()[topic.at()] + number))
    }

    /// The topic of a partition. Cost: O(1) unless many tiny topics stand together, then O(log T).
    ///
    /// # Panics
    ///
    /// If the index is not of this topology.
    #[inline]
    pub fn topic_of(&self, partition: PartitionIndex) -> TopicIndex {
        TopicIndex::new(self.inner.lookup.find(&self.inner.base[1..], partition.get()) as u32)
    }

    /// Kafka's number of a partition inside its topic.
    #[inline]
    pub fn number(&self, partition: PartitionIndex) -> u32 {
        partition.get() - self.bases()[self.topic_of(partition).at()]
    }

    /// Whether the racks of any partition are known.
    #[inline]
    pub fn has_racks(&self) -> bool {
        self.inner.racks.known()
    }

    /// Looks a rack up by its name; `None` if no replica is there.
    pub fn find_rack(&self, name: &str) -> Option<RackIndex> {
        self.inner.racks.find(name)
    }

    /// The name of a rack.
    ///
    /// # Panics
    ///
    /// If the index is not of this topology.
    pub fn rack_name(&self, rack: RackIndex) -> &str {
        self.inner.racks.name(rack)
    }

    /// Number of racks that hold a replica.
    pub fn racks(&self) -> usize {
        self.inner.racks.len()
    }

    /// How many racks hold a replica of a partition, summed over all partitions; 0 if no racks are known.
    #[inline]
    pub fn replicas(&self) -> usize {
        self.inner.racks.replicas()
    }

    /// The racks that hold a replica of a partition, ascending; empty if unknown.
    pub fn racks_of(&self, partition: PartitionIndex) -> &[RackIndex] {
        self.inner.racks.set(self.rack_set_of(partition))
    }

    /// The number of a partition's rack set; 0 is "unknown". Equal sets have equal numbers.
    #[inline]
    pub(crate) fn rack_set_of(&self, partition: PartitionIndex) -> u32 {
        self.inner.racks.set_of(partition.at())
    }

    /// Number of different rack sets, the empty one (0) among them.
    #[inline]
    pub(crate) fn rack_sets(&self) -> usize {
        self.inner.racks.sets()
    }

    /// The racks of a rack set.
    #[inline]
    pub(crate) fn rack_set(&self, set: u32) -> &[RackIndex] {
        self.inner.racks.set(set)
    }

    /// Looks at where the lists end, so that this is near when they are read.
    #[inline]
    pub(crate) fn touch_ends(&self) -> usize {
        self.inner.names.len() ^ self.inner.base.len() ^ self.inner.racks.len()
    }

    /// Whether two values are the same topology object (not: equal content).
    pub fn same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.inner, &other.inner)
    }

    /// Heap bytes reserved.
    pub fn memory_usage(&self) -> usize {
        self.inner.names.memory_usage()
            + self.inner.lookup.memory_usage()
            + self.inner.base.capacity() * 4
            + self.inner.racks.memory_usage()
    }
}

impl Default for Topology {
    /// A topology without topics.
    fn default() -> Self {
        Self { inner: Arc::new(Inner { base: alloc::vec![0], ..Inner::default() }) }
    }
}
