//! A described group as the engine's group: topics with racks, subscriptions, and what each member holds.

use std::collections::BTreeSet;

use tenure::plan::Strategy;
use tenure::protocol::selection::TENURE_COOPERATIVE_STICKY;
use tenure::topology::BuildError;
use tenure::{Group, Topology};
use tenure_client::{GroupDescription, Topic};

use crate::snapshot::Snapshot;

/// A live group to plan from.
#[derive(Debug, Clone)]
pub struct LiveGroup {
    /// The group, with the assignor it uses.
    pub snapshot: Snapshot,
    /// What the coordinator left open, and what was made of it.
    pub assumptions: Vec<String>,
}

/// The topics that a group's members read or hold, sorted.
fn topics_of(description: &GroupDescription) -> BTreeSet<&str> {
    let mut topics = BTreeSet::new();
    for member in description.members.values() {
        topics.extend(member.assigned.iter().map(|one| one.topic.as_str()));
        if let Some(subscription) = &member.subscription {
            topics.extend(subscription.topics.iter().map(String::as_str));
        }
    }
    topics
}

impl LiveGroup {
    /// The names of the topics that have to be looked up for [`understand`].
    pub fn wanted_topics(description: &GroupDescription) -> Vec<String> {
        topics_of(description).into_iter().map(str::to_owned).collect()
    }
}

/// Makes a group of what its coordinator and the brokers tell. `wanted` takes the place of the group's assignor.
///
/// # Errors
///
/// More members or partitions than can be planned.
pub fn understand(
    description: &GroupDescription,
    topics: &[Topic],
    wanted: Option<Strategy>,
    partition_limit: u32,
) -> Result<LiveGroup, BuildError> {
    let mut assumptions = Vec::new();
    let name = description.assignor.as_str();
    let own = match name.parse::<Strategy>() {
        Ok(strategy) => Some(strategy),
        Err(_) if name == TENURE_COOPERATIVE_STICKY => Some(Strategy::CooperativeSticky),
        Err(_) => None,
    };
    let strategy = wanted.or(own).unwrap_or_default();
    if wanted.is_none() && own.is_none() {
        assumptions.push(format!(
            "the group's assignor is {name:?}, which tenure does not have: planned as {strategy}"
        ));
    }
    let mut topology = Topology::builder().partition_limit(partition_limit);
    let mut missing = topics_of(description);
    for topic in topics {
        let count = u32::try_from(topic.partitions.len()).unwrap_or(u32::MAX);
        if count == 0 || !missing.remove(topic.name.as_str()) {
            continue;
        }
        if topic.partitions.iter().any(|one| !one.racks.is_empty()) {
            let racks = topic.partitions.iter().map(|one| one.racks.clone()).collect();
            topology.add_topic_with_racks(&topic.name, racks);
        } else {
            topology.add_topic(&topic.name, count);
        }
    }
    if !missing.is_empty() {
        let names: Vec<&str> = missing.into_iter().collect();
        assumptions.push(format!("the cluster shows no topic {}: planned without", names.join(", ")));
    }
    let topology = topology.build()?;
    let mut builder = Group::builder(&topology);
    let mut silent = 0;
    for (id, member) in &description.members {
        let mut one = builder.member(id);
        one.protocol(strategy.protocol());
        if let Some(instance) = &member.instance_id {
            one.instance(instance);
        }
        for (topic, partitions) in member.assigned.blocks() {
            one.owned(topic, partitions.iter().map(|one| one.partition));
        }
        let Some(subscription) = &member.subscription else {
            silent += 1;
            continue;
        };
        for topic in &subscription.topics {
            one.topic(topic);
        }
        if let Some(rack) = &subscription.rack {
            one.rack(rack);
        }
    }
    if silent > 0 {
        assumptions.push(format!(
            "the coordinator tells no subscription of {silent} members: planned as if they had none"
        ));
    }
    if !description.members.is_empty() {
        assumptions.push(
            "the coordinator tells no generations: what the members own is taken to be of one generation"
                .into(),
        );
    }
    Ok(LiveGroup { snapshot: Snapshot { strategy, group: builder.build()? }, assumptions })
}
