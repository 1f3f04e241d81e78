//! Sets of named partitions, kept sorted.

use core::fmt;

use super::message::TopicPartition;

/// A set of partitions by name, sorted by topic, then number.
///
/// The protocol speaks in names, because members of one group know different topics; the kernels' bit rows start
/// where a leader has turned names into indices. A member's set is small, so a sorted vector beats a tree: one
/// allocation, and every set operation is one merge.
///
/// Order: by topic name, then partition number; insertion order never counts.
/// Cost: membership O(log n); the operations on two sets O(n + m).
///
/// # Examples
///
/// ```
/// use tenure::protocol::partition_set::PartitionSet;
///
/// let owned = PartitionSet::from_blocks([("b", [0, 1])]).union(&PartitionSet::from_blocks([("a", [0, 0])]));
/// let assigned = PartitionSet::from_blocks([("a", [0, 1])]);
/// assert_eq!(owned.to_string(), "a-0 b-0 b-1");
/// assert_eq!(assigned.minus(&owned).to_string(), "a-1");
/// assert_eq!(owned.minus(&assigned).to_string(), "b-0 b-1");
/// assert_eq!(owned.intersection(&assigned).to_string(), "a-0");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct PartitionSet(Vec<TopicPartition>);

impl PartitionSet {
    /// The empty set.
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// The set of these topics' partitions, given in any order and with repetitions.
    pub fn from_blocks<T, P>(blocks: impl IntoIterator<Item = (T, P)>) -> Self
    where
        T: AsRef<str>,
        P: IntoIterator<Item = i32>,
    {
        blocks
            .into_iter()
            .flat_map(|(topic, partitions)| {
                let topic = topic.as_ref().to_owned();
                partitions
                    .into_iter()
                    .map(|partition| TopicPartition::new(topic.clone(), partition))
                    .collect::<Vec<_>>()
            })
            .collect()
    }

    /// Puts one partition in; false if it was there.
    pub fn insert(&mut self, partition: TopicPartition) -> bool {
        match self.0.binary_search(&partition) {
            Ok(_) => false,
            Err(at) => {
                self.0.insert(at, partition);
                true
            }
        }
    }

    /// Takes one partition out; false if it was not there.
    pub fn remove(&mut self, partition: &TopicPartition) -> bool {
        match self.0.binary_search(partition) {
            Ok(at) => {
                self.0.remove(at);
                true
            }
            Err(_) => false,
        }
    }

    /// Keeps what the condition holds for.
    pub fn retain(&mut self, keep: impl FnMut(&TopicPartition) -> bool) {
        self.0.retain(keep);
    }

    /// Takes everything out.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Whether the partition is in the set.
    pub fn contains(&self, partition: &TopicPartition) -> bool {
        self.0.binary_search(partition).is_ok()
    }

    /// Whether nothing is in the set.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many partitions are in the set.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// The partitions in order.
    pub fn iter(&self) -> core::slice::Iter<'_, TopicPartition> {
        self.0.iter()
    }

    /// The partitions in order, as a slice.
    pub fn as_slice(&self) -> &[TopicPartition] {
        &self.0
    }

    /// What is in this set and not in the other.
    pub fn minus(&self, other: &Self) -> Self {
        Self(self.0.iter().filter(|one| !other.contains(one)).cloned().collect())
    }

    /// What is in both sets.
    pub fn intersection(&self, other: &Self) -> Self {
        Self(self.0.iter().filter(|one| other.contains(one)).cloned().collect())
    }

    /// What is in either set.
    pub fn union(&self, other: &Self) -> Self {
        self.0.iter().chain(&other.0).cloned().collect()
    }

    /// Whether the two sets share nothing.
    pub fn is_disjoint(&self, other: &Self) -> bool {
        !self.0.iter().any(|one| other.contains(one))
    }

    /// The topics in order, each with its partitions.
    pub fn blocks(&self) -> impl Iterator<Item = (&str, &[TopicPartition])> {
        self.0
            .chunk_by(|a, b| a.topic == b.topic)
            .filter_map(|block| block.first().map(|first| (first.topic.as_str(), block)))
    }
}

impl FromIterator<TopicPartition> for PartitionSet {
    fn from_iter<I: IntoIterator<Item = TopicPartition>>(partitions: I) -> Self {
        let mut partitions: Vec<_> = partitions.into_iter().collect();
        partitions.sort_unstable();
        partitions.dedup();
        Self(partitions)
    }
}

impl Extend<TopicPartition> for PartitionSet {
    fn extend<I: IntoIterator<Item = TopicPartition>>(&mut self, partitions: I) {
        self.0.extend(partitions);
        self.0.sort_unstable();
        self.0.dedup();
    }
}

impl<'a> IntoIterator for &'a PartitionSet {
    type Item = &'a TopicPartition;
    type IntoIter = core::slice::Iter<'a, TopicPartition>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl IntoIterator for PartitionSet {
    type Item = TopicPartition;
    type IntoIter = std::vec::IntoIter<TopicPartition>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl fmt::Display for PartitionSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, partition) in self.0.iter().enumerate() {
            if at > 0 {
                f.write_str(" ")?;
            }
            partition.fmt(f)?;
        }
        Ok(())
    }
}
