//! Members, what they subscribe to and what they claim, as dense indices.
//!
//! ```text
//! members (by id)      c1           c2           c3
//! subscription         0            0            1          each different topic list once
//! claims (sorted)      0 3 4 | …    1 9 | …      2 | …      partition indices, one flat list
//! classes              topics that the same members subscribe to
//! arcs                 (member, class) pairs, member-major; the planner's counters run along them
//! ```
//!
//! Strings become indices in the [`GroupBuilder`], once; a [`Group`] is what the planners read. Equal
//! subscriptions are stored once, *because* in most groups all members send the same list: 10,000
//! members × 1,000 topics would else be 40 MB of it.

mod builder;
mod classes;
pub(crate) mod foreign;
mod shape;

pub use builder::{CLAIM_LIMIT, GroupBuilder, MemberBuilder};
pub use classes::Classes;
pub use shape::Shape;

use alloc::vec::Vec;

use crate::id::{Generation, MemberIndex, PartitionIndex, RackIndex, TopicIndex};
use crate::topology::Topology;
use crate::topology::names::Names;

/// How a member behaves in a rebalance (KIP-429).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
#[repr(u8)]
pub enum Protocol {
    /// Gives everything up before it joins, so its claims bind nobody.
    Eager = 0,
    /// Keeps what it owns while it joins.
    #[default]
    Cooperative = 1,
}

/// The rack a member is in, as far as the topology knows it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MemberRack {
    /// The member gave none: never a mismatch.
    Unknown,
    /// A rack that holds no replica of any partition.
    Elsewhere,
    /// A rack of the topology.
    Known(RackIndex),
}

/// A claim on partitions that do not exist, or no longer: inclusive range of Kafka's numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ForeignClaim<'a> {
    /// The topic's name as claimed.
    pub topic: &'a str,
    /// First partition number.
    pub from: i32,
    /// Last partition number.
    pub to: i32,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Foreign {
    pub(crate) topic: u32,
    pub(crate) from: i32,
    pub(crate) to: i32,
}

/// One consumer group, ready for any planner. Members are in the order of their ids.
///
/// Shapes: M members, T topics, P partitions; S entries in the different subscriptions, A arcs.
/// Memory: about 4 bytes a claim, 4 an entry, 16 an arc, 40 a member.
///
/// # Examples
///
/// ```
/// use tenure::{group::Group, topology::Topology};
/// let topology = Topology::builder().topic("orders", 4).build()?;
/// let mut builder = Group::builder(&topology);
/// builder.member("b").topic("orders");
/// builder.member("a").topic("orders").owned("orders", [0, 1]).generation(7);
/// let group = builder.build()?;
/// let a = group.find("a").unwrap();
/// assert_eq!(a.get(), 0);
/// assert_eq!(group.claims(a).count(), 2);
/// # Ok::<(), tenure::topology::BuildError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Group {
    pub(crate) topology: Topology,
    pub(crate) ids: Names,
    pub(crate) texts: Names,
    pub(crate) instance: Vec<u32>,
    pub(crate) rack: Vec<u32>,
    pub(crate) rack_text: Vec<u32>,
    pub(crate) generation: Vec<i32>,
    pub(crate) protocol: Vec<Protocol>,
    pub(crate) subscription: Vec<u32>,
    pub(crate) subscription_start: Vec<u32>,
    pub(crate) subscription_topics: Vec<u32>,
    pub(crate) repeat_start: Vec<u32>,
    pub(crate) repeat_topics: Vec<u32>,
    pub(crate) claim_start: Vec<u32>,
    pub(crate) claims: Vec<u32>,
    pub(crate) foreign_start: Vec<u32>,
    pub(crate) foreign: Vec<Foreign>,
    pub(crate) unknown_start: Vec<u32>,
    pub(crate) unknown_topics: Vec<u32>,
    pub(crate) classes: Classes,
}

pub(crate) const NONE: u32 = u32::MAX;
pub(crate) const ELSEWHERE: u32 = u32::MAX - 1;

impl Group {
    /// Starts a group over a topology.
    pub fn builder(topology: &Topology) -> GroupBuilder {
        GroupBuilder::new(topology)
    }

    /// The topology.
    #[inline]
    pub fn topology(&self) -> &Topology {
        &self.topology
    }

    /// Number of members, M.
    #[inline]
    pub fn members(&self) -> usize {
        self.ids.len()
    }

    /// What a scratch and a plan must fit.
    pub fn shape(&self) -> Shape {
        Shape {
            members: self.members(),
            topics: self.topology.topics(),
            partitions: self.topology.partitions(),
            claims: self.claims.len(),
            classes: self.classes.len(),
            pairs: self.classes.pairs as usize,
            arcs: self.classes.arcs(),
            wanted: self.classes.wanted,
            cells: self.classes.cells,
            racks: self.topology.racks() as u32,
            replicas: u32::try_from(self.topology.replicas()).unwrap_or(u32::MAX),
        }
    }

    /// All member indices, in order.
    pub fn member_indices(&self) -> impl ExactSizeIterator<Item = MemberIndex> + Clone + use<> {
        (0..self.members() as u32).map(MemberIndex::new)
    }

    /// The id of a member.
    ///
    /// # Panics
    ///
    /// If the index is not of this group; so for all that take one.
    #[inline]
    pub fn id(&self, member: MemberIndex) -> &str {
        self.ids.get(member.at())
    }

    /// Looks a member up by id. Cost: O(log M) comparisons.
    pub fn find(&self, id: &str) -> Option<MemberIndex> {
        let (mut low, mut high) = (0, self.members());
        while low < high {
            let middle = usize::midpoint(low, high);
            match crate::id::utf16_cmp(self.ids.get(middle), id) {
                core::cmp::Ordering::Less => low = middle + 1,
                core::cmp::Ordering::Equal => return Some(MemberIndex::new(middle as u32)),
                core::cmp::Ordering::Greater => high = middle,
            }
        }
        None
    }

    /// The `group.instance.id` of a static member (KIP-345).
    pub fn instance(&self, member: MemberIndex) -> Option<&str> {
        let at = self.instance[member.at()];
        (at != NONE).then(|| self.texts.get(at as usize))
    }

    /// The generation that a member's claims belong to.
    #[inline]
    pub fn generation(&self, member: MemberIndex) -> Option<Generation> {
        Generation::from_wire(self.generation[member.at()])
    }

    /// How the member rebalances.
    #[inline]
    pub fn protocol(&self, member: MemberIndex) -> Protocol {
        self.protocol[member.at()]
    }

    /// The member's rack (KIP-881).
    #[inline]
    pub fn rack(&self, member: MemberIndex) -> MemberRack {
        match self.rack[member.at()] {
            NONE => MemberRack::Unknown,
            ELSEWHERE => MemberRack::Elsewhere,
            rack => MemberRack::Known(RackIndex::new(rack)),
        }
    }

    /// The name of the member's rack, whether the topology knows it or not.
    pub fn rack_name(&self, member: MemberIndex) -> Option<&str> {
        match self.rack(member) {
            MemberRack::Unknown => None,
            MemberRack::Elsewhere => Some(self.texts.get(self.rack_text[member.at()] as usize)),
            MemberRack::Known(rack) => Some(self.topology.rack_name(rack)),
        }
    }

    /// Whether the member's rack is known and holds no replica of a partition whose racks are known.
    pub fn rack_mismatch(&self, member: MemberIndex, partition: PartitionIndex) -> bool {
        classes::mismatch(self.rack[member.at()], self.topology.racks_of(partition))
    }

    /// The existing topics that a member subscribes to: ascending, each once.
    #[inline]
    pub fn subscription(
        &self,
        member: MemberIndex,
    ) -> impl ExactSizeIterator<Item = TopicIndex> + Clone + '_ {
        self.subscription_numbers(member).iter().map(|&topic| TopicIndex::new(topic))
    }

    #[inline]
    pub(crate) fn subscription_numbers(&self, member: MemberIndex) -> &[u32] {
        let at = self.subscription[member.at()] as usize;
        &self.subscription_topics
            [self.subscription_start[at] as usize..self.subscription_start[at + 1] as usize]
    }

    /// The topics that the member's subscription names again after their first mention, once for each repetition.
    ///
    /// No strategy counts them: range did, before Kafka 3.5.
    pub fn repeated_topics(
        &self,
        member: MemberIndex,
    ) -> impl ExactSizeIterator<Item = TopicIndex> + Clone + '_ {
        let at = self.subscription[member.at()] as usize;
        let range = self.repeat_start[at] as usize..self.repeat_start[at + 1] as usize;
        self.repeat_topics[range].iter().map(|&topic| TopicIndex::new(topic))
    }

    /// Number of different subscriptions.
    pub fn distinct_subscriptions(&self) -> usize {
        self.subscription_start.len().saturating_sub(1)
    }

    /// Whether a member subscribes to a topic. Cost: O(log of its topics).
    pub fn subscribes(&self, member: MemberIndex, topic: TopicIndex) -> bool {
        self.subscription_numbers(member).binary_search(&topic.get()).is_ok()
    }

    /// Names that the member subscribes to and the topology lacks.
    pub fn unknown_subscriptions(&self, member: MemberIndex) -> impl ExactSizeIterator<Item = &str> + '_ {
        let range = self.unknown_start[member.at()] as usize..self.unknown_start[member.at() + 1] as usize;
        self.unknown_topics[range].iter().map(|&at| self.texts.get(at as usize))
    }

    /// The existing partitions that a member claims: ascending, each once.
    #[inline]
    pub fn claims(&self, member: MemberIndex) -> impl ExactSizeIterator<Item = PartitionIndex> + Clone + '_ {
        self.claim_numbers(member).iter().map(|&p| PartitionIndex::new(p))
    }

    #[inline]
    pub(crate) fn claim_numbers(&self, member: MemberIndex) -> &[u32] {
        &self.claims[self.claim_start[member.at()] as usize..self.claim_start[member.at() + 1] as usize]
    }

    /// Claims of a member on partitions that do not exist: the member has something to give up.
    pub fn foreign_claims(
        &self,
        member: MemberIndex,
    ) -> impl ExactSizeIterator<Item = ForeignClaim<'_>> + '_ {
        let range = self.foreign_start[member.at()] as usize..self.foreign_start[member.at() + 1] as usize;
        self.foreign[range].iter().map(|f| ForeignClaim {
            topic: self.texts.get(f.topic as usize),
            from: f.from,
            to: f.to,
        })
    }

    /// Topics with the same subscribers, and the arcs between members and these classes.
    #[inline]
    pub fn classes(&self) -> &Classes {
        &self.classes
    }

    /// Looks at where the lists that planners read end, so that this is near when they are touched.
    pub(crate) fn touch_ends(&self) -> usize {
        let own = self.claim_start.len() ^ self.claims.len() ^ self.foreign.len() ^ self.protocol.len();
        own ^ self.members() ^ self.classes.touch_ends()
    }

    /// Looks at the lists that planners read, so that they are near when they do.
    pub(crate) fn touch_lists(&self) -> u64 {
        // Lines have 64 bytes, mostly; of long lists the hardware fetches what is next.
        let claims = self.claims.chunks(16).take(16).fold(0, |all, line| all ^ line[0]);
        let first = |list: &[u32]| list.first().copied().unwrap_or(0);
        u64::from(
            claims
                ^ first(&self.claim_start)
                ^ self.classes.touch_lists()
                ^ first(self.topology.bases())
                ^ self.protocol.first().map_or(0, |&protocol| protocol as u32),
        )
    }

    /// Heap bytes reserved.
    pub fn memory_usage(&self) -> usize {
        let words = self.instance.capacity()
            + self.rack.capacity()
            + self.rack_text.capacity()
            + self.generation.capacity()
            + self.subscription.capacity()
            + self.subscription_start.capacity()
            + self.subscription_topics.capacity()
            + self.repeat_start.capacity()
            + self.repeat_topics.capacity()
            + self.claim_start.capacity()
            + self.claims.capacity()
            + self.foreign_start.capacity()
            + self.foreign.capacity() * 3
            + self.unknown_start.capacity()
            + self.unknown_topics.capacity();
        words * 4 + self.ids.memory_usage() + self.texts.memory_usage() + self.classes.memory_usage()
    }
}
