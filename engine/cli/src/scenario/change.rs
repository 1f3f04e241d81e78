//! Changes to a group: members come and go, topics grow, subscriptions widen.

use core::fmt;

use tenure::Group;
use tenure::group::Protocol;
use tenure::id::{MemberIndex, PartitionIndex, TopicIndex};
use tenure::topology::{BuildError, Topology};

use super::copy::{Claims, Copier};

/// One change to a group.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Change {
    /// This many members join, subscribing as most members do. They are named `new-1`, `new-2` and so on.
    AddMembers(u32),
    /// These members leave together, by member id or instance id.
    Remove(Vec<String>),
    /// A topic gets this many partitions more, or is made with them.
    AddPartitions(String, u32),
    /// These members subscribe to these topics as well.
    Subscribe(Vec<(String, String)>),
}

/// Why a change does not fit the group.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ChangeError {
    /// No member has this id or instance id.
    NoMember(String),
    /// The topic does not exist.
    NoTopic(String),
    /// The group cannot be built.
    Build(BuildError),
}

impl fmt::Display for ChangeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoMember(name) => {
                write!(f, "no member {name:?} at this step; use a member id or an instance id of the group")
            }
            Self::NoTopic(name) => write!(
                f,
                "no topic {name:?} at this step; use a topic of the group, or make it first with --add-partitions {name}=N"
            ),
            Self::Build(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for ChangeError {}

impl From<BuildError> for ChangeError {
    fn from(error: BuildError) -> Self {
        Self::Build(error)
    }
}

/// The group after a change, every other member still claiming what it claims in `group`.
///
/// The partition limit holds for the changed topics. Cost: O(P + claims + subscriptions), all of it copied.
///
/// # Errors
///
/// A member or topic that is not there, or too many partitions.
pub fn apply(group: &Group, change: &Change, partition_limit: u32) -> Result<Group, ChangeError> {
    let topology = match change {
        Change::AddPartitions(topic, count) => grow(group.topology(), topic, *count, partition_limit)?,
        _ => group.topology().clone(),
    };
    let mut copier = Copier::new(&topology);
    match change {
        Change::AddPartitions(..) => copier.all(group),
        Change::Remove(names) => {
            let gone = names.iter().map(|name| find(group, name)).collect::<Result<Vec<_>, _>>()?;
            for member in group.member_indices().filter(|member| !gone.contains(member)) {
                copier.member(group, member, &[], Claims::Own);
            }
        }
        Change::Subscribe(pairs) => {
            let mut wishes = Vec::new();
            for (member, topic) in pairs {
                let found = topology.find(topic).ok_or_else(|| ChangeError::NoTopic(topic.clone()))?;
                wishes.push((find(group, member)?, found));
            }
            for member in group.member_indices() {
                let wishes = wishes.iter().filter(|(who, _)| *who == member);
                let topics: Vec<TopicIndex> = wishes.map(|(_, topic)| *topic).collect();
                copier.member(group, member, &topics, Claims::Own);
            }
        }
        Change::AddMembers(count) => {
            copier.all(group);
            let like = most_common(group);
            let unused = (1u64..).map(|number| format!("new-{number}")).filter(|id| group.find(id).is_none());
            for id in unused.take(*count as usize) {
                copier.newcomer(group, like, &id);
            }
        }
    }
    Ok(copier.build()?)
}

/// The group with a member of an earlier one back in it: the same subscription, nothing owned.
///
/// # Errors
///
/// If the group has a member of this id.
pub fn bring_back(group: &Group, before: &Group, member: MemberIndex) -> Result<Group, ChangeError> {
    let mut copier = Copier::new(group.topology());
    copier.all(group);
    copier.member(before, member, &[], Claims::Nothing);
    Ok(copier.build()?)
}

/// The group with every member following this protocol.
///
/// # Errors
///
/// None for a group that was built before.
pub fn with_protocol(group: &Group, protocol: Protocol) -> Result<Group, ChangeError> {
    let mut copier = Copier::new(group.topology());
    copier.protocol = Some(protocol);
    copier.all(group);
    Ok(copier.build()?)
}

/// A member by id, else by instance id.
fn find(group: &Group, name: &str) -> Result<MemberIndex, ChangeError> {
    let by_instance = || group.member_indices().find(|&member| group.instance(member) == Some(name));
    group.find(name).or_else(by_instance).ok_or_else(|| ChangeError::NoMember(name.to_string()))
}

/// The first member of those whose subscription most members share; `None` if there are no members.
fn most_common(group: &Group) -> Option<MemberIndex> {
    let mut seen: Vec<(MemberIndex, usize)> = Vec::new();
    for member in group.member_indices() {
        let alike =
            seen.iter().position(|(like, _)| group.subscription(*like).eq(group.subscription(member)));
        match alike {
            Some(at) => seen[at].1 += 1,
            // More different ones than anybody would call common: the first of them serve.
            None if seen.len() < 64 => seen.push((member, 1)),
            None => {}
        }
    }
    let most = seen.iter().map(|(_, count)| *count).max()?;
    seen.into_iter().find(|(_, count)| *count == most).map(|(member, _)| member)
}

/// The topology with a topic grown or made; racks of new partitions are unknown.
fn grow(old: &Topology, name: &str, more: u32, limit: u32) -> Result<Topology, ChangeError> {
    let mut builder = Topology::builder().partition_limit(limit);
    let numbers = 0..u32::try_from(old.topics()).unwrap_or(u32::MAX);
    for topic in numbers.map(TopicIndex::new) {
        let count = old.partition_count(topic);
        let grown = if old.name(topic) == name { count.saturating_add(more) } else { count };
        if grown > limit || !old.has_racks() {
            builder.add_topic(old.name(topic), grown);
            continue;
        }
        let base = old.bases()[topic.at()];
        let racks = |number: u32| -> Vec<String> {
            if number >= count {
                return Vec::new();
            }
            let set = old.racks_of(PartitionIndex::new(base + number));
            set.iter().map(|rack| old.rack_name(*rack).to_string()).collect()
        };
        builder.add_topic_with_racks(old.name(topic), (0..grown).map(racks).collect());
    }
    if old.find(name).is_none() {
        builder.add_topic(name, more);
    }
    Ok(builder.build()?)
}
