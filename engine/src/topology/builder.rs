//! Building a topology, with every number checked at the door.

use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

use super::lookup::Lookup;
use super::names::{NameIndex, Names};
use super::racks::Racks;
use super::{Inner, Topology};
use crate::id::{RackIndex, utf16_cmp};

/// Collects topics; see [`Topology::builder`].
///
/// Cost of [`build`](Self::build): O(T log T), and O(P) if racks are given.
#[derive(Clone, Debug)]
pub struct TopologyBuilder {
    topics: Vec<Entry>,
    partition_limit: u32,
}

#[derive(Clone, Debug)]
struct Entry {
    name: String,
    partitions: u32,
    racks: Vec<Vec<String>>,
}

/// Partitions that a topology may have unless [`TopologyBuilder::partition_limit`] says otherwise: 2^24.
pub const PARTITION_LIMIT: u32 = 1 << 24;

impl TopologyBuilder {
    pub(crate) fn new() -> Self {
        Self { topics: Vec::new(), partition_limit: PARTITION_LIMIT }
    }

    /// Adds a topic with its number of partitions. Racks are unknown.
    #[must_use]
    pub fn topic(mut self, name: &str, partitions: u32) -> Self {
        self.add_topic(name, partitions);
        self
    }

    /// Adds a topic with the racks of each partition's replicas; an empty list means unknown.
    ///
    /// Source: KIP-881.
    #[must_use]
    pub fn topic_with_racks<R: AsRef<str>>(mut self, name: &str, racks: &[Vec<R>]) -> Self {
        let partitions = u32::try_from(racks.len()).unwrap_or(u32::MAX);
        let racks =
            racks.iter().map(|set| set.iter().map(|rack| rack.as_ref().to_string()).collect()).collect();
        self.topics.push(Entry { name: name.to_string(), partitions, racks });
        self
    }

    /// As [`topic`](Self::topic), for loops.
    pub fn add_topic(&mut self, name: &str, partitions: u32) -> &mut Self {
        self.topics.push(Entry { name: name.to_string(), partitions, racks: Vec::new() });
        self
    }

    /// As [`topic_with_racks`](Self::topic_with_racks), for loops; takes the lists.
    pub fn add_topic_with_racks(&mut self, name: &str, racks: Vec<Vec<String>>) -> &mut Self {
        let partitions = u32::try_from(racks.len()).unwrap_or(u32::MAX);
        self.topics.push(Entry { name: name.to_string(), partitions, racks });
        self
    }

    /// How many partitions all topics may have together, default [`PARTITION_LIMIT`].
    ///
    /// A plan takes memory for each partition, so a number in a file must not decide it alone.
    #[must_use]
    pub fn partition_limit(mut self, limit: u32) -> Self {
        self.partition_limit = limit.min(i32::MAX as u32);
        self
    }

    /// Orders the topics and gives indices.
    ///
    /// # Errors
    ///
    /// A topic twice, or more partitions than the limit.
    pub fn build(mut self) -> Result<Topology, BuildError> {
        self.topics.sort_by(|a, b| utf16_cmp(&a.name, &b.name));
        let mut names = Names::default();
        let mut index = NameIndex::default();
        let mut base = Vec::with_capacity(self.topics.len() + 1);
        let mut total = 0u64;
        base.push(0);
        for (at, topic) in self.topics.iter().enumerate() {
            if at > 0 && self.topics[at - 1].name == topic.name {
                return Err(BuildError::TopicTwice { topic: topic.name.clone() });
            }
            total += u64::from(topic.partitions);
            if total > u64::from(self.partition_limit) {
                let limit = self.partition_limit;
                return Err(BuildError::TooManyPartitions {
                    topic: topic.name.clone(),
                    needed: total,
                    limit,
                });
            }
            if !names.push(&topic.name) {
                return Err(BuildError::TooMuchText);
            }
            index.insert(&names, at as u32);
            base.push(total as u32);
        }
        let mut lookup = Lookup::default();
        lookup.rebuild(&base[1..]);
        let racks = collect_racks(&self.topics, total as usize)?;
        Ok(Topology { inner: Arc::new(Inner { names, index, base, lookup, racks }) })
    }
}

fn collect_racks(topics: &[Entry], partitions: usize) -> Result<Racks, BuildError> {
    let mut all: Vec<&str> =
        topics.iter().flat_map(|t| t.racks.iter().flatten()).map(String::as_str).collect();
    all.sort_unstable_by(|a, b| utf16_cmp(a, b));
    all.dedup();
    if all.is_empty() {
        return Ok(Racks::default());
    }
    let mut names = Names::default();
    for rack in &all {
        if !names.push(rack) {
            return Err(BuildError::TooMuchText);
        }
    }
    let mut sets: Vec<Vec<RackIndex>> = alloc::vec![Vec::new()];
    let mut known: BTreeMap<Vec<RackIndex>, u32> = BTreeMap::new();
    known.insert(Vec::new(), 0);
    let mut set_of = Vec::with_capacity(partitions);
    for topic in topics {
        for partition in 0..topic.partitions as usize {
            let mut set: Vec<RackIndex> = Vec::new();
            for rack in topic.racks.get(partition).into_iter().flatten() {
                if let Ok(at) = all.binary_search_by(|probe| utf16_cmp(probe, rack)) {
                    set.push(RackIndex::new(at as u32));
                }
            }
            set.sort_unstable();
            set.dedup();
            let number = *known.entry(set).or_insert_with_key(|set| {
                sets.push(set.clone());
                sets.len() as u32 - 1
            });
            set_of.push(number);
        }
    }
    Ok(Racks::new(names, set_of, &sets))
}

/// Why a [`Topology`] or a [`Group`](crate::group::Group) could not be built: the caller's to mend.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BuildError {
    /// A topic was added twice.
    TopicTwice {
        /// Its name.
        topic: String,
    },
    /// The topics have more partitions together than the limit allows.
    TooManyPartitions {
        /// The topic at which the limit was passed.
        topic: String,
        /// Partitions up to and with that topic.
        needed: u64,
        /// The limit.
        limit: u32,
    },
    /// Two members have the same id.
    MemberTwice {
        /// The member id.
        member: String,
    },
    /// All claims together, ranges written out, are more than the limit allows.
    TooManyClaims {
        /// The member at which the limit was passed.
        member: String,
        /// The limit.
        limit: u32,
    },
    /// Names add up to more than 4 GiB, or there are more than 2^32 − 2 entries of one kind.
    TooMuchText,
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TopicTwice { topic } => write!(f, "topic {topic:?} is given twice; give each topic once"),
            Self::TooManyPartitions { topic, needed, limit } => {
                write!(
                    f,
                    "with topic {topic:?} the topics have {needed} partitions, above the limit of {limit}; "
                )?;
                f.write_str("correct the partition count or raise the partition limit")
            }
            Self::MemberTwice { member } => {
                write!(f, "member {member:?} is given twice; member ids are unique in a group")
            }
            Self::TooManyClaims { member, limit } => {
                write!(f, "with member {member:?} the owned partitions are more than {limit}; ")?;
                f.write_str("a group claims each partition about once: check the ranges")
            }
            Self::TooMuchText => f.write_str("the names add up to more than 4 GiB; split the group"),
        }
    }
}

impl core::error::Error for BuildError {}
