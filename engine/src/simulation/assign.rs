//! The leader's host: computes a round with the assignor that was selected.

use std::collections::BTreeMap;

use crate::codec::sticky::cooperative_generation;
use crate::group::Group;
use crate::plan::{Assignor, Config, Strategy};
use crate::protocol::member::AssignRequest;
use crate::protocol::message::{SyncAssignment, TopicPartition};
use crate::protocol::partition_set::PartitionSet;
use crate::protocol::payload::{MemberAssignment, MemberSubscription, decode_members_under, encode_round};
use crate::protocol::selection::RebalanceProtocol;
use crate::revoke::{Mode, Round};
use crate::topology::Topology;

/// How a leader computes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Leading {
    pub(super) mode: Mode,
    /// Hands out what is still owned: the canary.
    pub(super) withholds_nothing: bool,
    /// Reads claims also under an eager assignor. Old clients don't.
    pub(super) reads_claims: bool,
}

/// Everybody's assignment, as the leader sends it.
pub(super) fn compute(asked: &AssignRequest, leading: Leading) -> Result<Vec<SyncAssignment>, String> {
    let members = decode_members_under(&asked.assignor, &asked.members).map_err(|error| error.to_string())?;
    let mut topology = Topology::builder();
    for (topic, count) in asked.metadata.topics() {
        topology.add_topic(topic, u32::try_from(count).map_err(|error| error.to_string())?);
    }
    let topology = topology.build().map_err(|error| error.to_string())?;
    let strategy = match asked.assignor.as_str() {
        "range" => Strategy::Range,
        "roundrobin" => Strategy::RoundRobin,
        "sticky" => Strategy::Sticky,
        _ => Strategy::CooperativeSticky,
    };
    let cooperative = asked.protocol == RebalanceProtocol::Cooperative;
    let mut builder = Group::builder(&topology);
    for ((id, subscription), joined) in members.iter().zip(&asked.members) {
        let mut member = builder.member(id);
        for topic in &subscription.topics {
            member.topic(topic);
        }
        for (topic, block) in subscription.owned.blocks() {
            member.owned(topic, block.iter().map(|one| one.partition));
        }
        // Members whose subscriptions have no generation yet carry it in cooperative-sticky's user data. It matters: else
        // the old claim of an absent static member would win over what they own.
        let told = if asked.assignor == "cooperative-sticky" {
            cooperative_generation(subscription.user_data.as_deref())
        } else {
            None
        };
        member.generation(subscription.generation.or(told).unwrap_or(-1));
        if let Some(instance) = &joined.group_instance_id {
            member.instance(instance);
        }
    }
    let group = builder.build().map_err(|error| error.to_string())?;
    let (plan, _) =
        Assignor::new(Config::new().strategy(strategy)).assign(&group).map_err(|error| error.to_string())?;
    let round = Round::new(&group, &plan, leading.mode);
    let name = |partition| {
        let number = i32::try_from(topology.number(partition)).unwrap_or(i32::MAX);
        TopicPartition::new(topology.name(topology.topic_of(partition)), number)
    };
    let mut given: BTreeMap<String, MemberAssignment> = BTreeMap::new();
    for member in group.member_indices() {
        let mut partitions: PartitionSet = if cooperative && !leading.withholds_nothing {
            round.assignment(member).map(name).collect()
        } else {
            plan.target(member).iter().copied().map(name).collect()
        };
        if cooperative {
            for foreign in round.returned(member) {
                partitions.extend(
                    (foreign.from..=foreign.to).map(|number| TopicPartition::new(foreign.topic, number)),
                );
            }
        }
        // The draft asks everybody to come again at once. So does this leader in the shipped mode, in bytes that others
        // ignore: else those who revoked nothing, the newcomer among them, only hear of the next round at their next
        // heartbeat, and what is withheld waits as long; or for ever, if it is withheld for the claim of a static
        // member that was not there and comes back without it.
        let need_rejoin = cooperative && round.rejoin();
        let assignment = MemberAssignment { need_rejoin, ..MemberAssignment::new(partitions) };
        given.insert(group.id(member).to_owned(), assignment);
    }
    if !cooperative && leading.reads_claims && !leading.withholds_nothing {
        withhold(&members, &mut given);
    }
    let round: Vec<(String, MemberAssignment)> = given.into_iter().collect();
    encode_round(&round, leading.mode, 3).map_err(|error| error.to_string())
}

/// Under an eager assignor claims are the exception: a cooperative group fell back. What somebody may still hold goes
/// to nobody else in this round, and its claimants are asked to come again.
fn withhold(members: &[(String, MemberSubscription)], given: &mut BTreeMap<String, MemberAssignment>) {
    let mut claimants: BTreeMap<&TopicPartition, Vec<&str>> = BTreeMap::new();
    for (id, subscription) in members {
        for partition in &subscription.owned {
            claimants.entry(partition).or_default().push(id);
        }
    }
    let mut asked: Vec<&str> = Vec::new();
    for (id, assignment) in given.iter_mut() {
        assignment.partitions.retain(|partition| match claimants.get(partition) {
            Some(claimants) if claimants.iter().any(|claimant| claimant != id) => {
                asked.extend(claimants);
                false
            }
            _ => true,
        });
    }
    for id in asked {
        if let Some(assignment) = given.get_mut(id) {
            assignment.need_rejoin = true;
        }
    }
}
