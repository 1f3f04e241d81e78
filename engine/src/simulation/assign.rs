//! The leader's host: hands what the member asks to the [`Leader`] that client authors use, bytes in, bytes out.

use super::mutation::Mutation;
use crate::protocol::leader::{Leader, LeaderRound, LeaderScratch};
use crate::protocol::member::AssignRequest;
use crate::protocol::message::{JoinMember, SyncAssignment, TopicPartition};
use crate::protocol::partition_set::PartitionSet;
use crate::protocol::payload::{MemberAssignment, MemberSubscription};
use crate::revoke::Mode;
use crate::topology::Topology;

/// How a leader computes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Leading {
    pub(super) mode: Mode,
    pub(super) mutation: Option<Mutation>,
    /// Whether the leader's client knows of claims at all. Those before KIP-429 don't.
    pub(super) reads_claims: bool,
}

/// Everybody's assignment, as the leader sends it.
pub(super) fn compute(
    asked: &AssignRequest,
    leader_id: &str,
    leading: Leading,
    scratch: &mut LeaderScratch,
) -> Result<Vec<SyncAssignment>, String> {
    let mut topology = Topology::builder();
    for (topic, count) in asked.metadata.topics() {
        topology.add_topic(topic, u32::try_from(count).map_err(|error| error.to_string())?);
    }
    let topology = topology.build().map_err(|error| error.to_string())?;
    let old;
    let members = if leading.reads_claims {
        &asked.members
    } else {
        old = asked.members.iter().map(as_read_of_old).collect::<Result<Vec<_>, String>>()?;
        &old
    };
    let round = Leader::new()
        .mode(leading.mode)
        .round_into(&asked.assignor, members, leader_id, &topology, scratch)
        .map_err(|error| error.to_string())?;
    if leading.mutation == Some(Mutation::WithholdsNothing) {
        return hand_out_everything(&round, leading.mode);
    }
    Ok(round.to_sync())
}

/// What a client that only knows version 0 sees of a subscription: topics and user data.
fn as_read_of_old(member: &JoinMember) -> Result<JoinMember, String> {
    let read = MemberSubscription::decode(&member.member_id, &member.metadata)
        .and_then(|subscription| subscription.encode(0))
        .map_err(|error| error.to_string())?;
    Ok(JoinMember { metadata: read, ..member.clone() })
}

/// The fault of [`Mutation::WithholdsNothing`]: each member gets its target at once, whoever still holds it.
fn hand_out_everything(round: &LeaderRound<'_>, mode: Mode) -> Result<Vec<SyncAssignment>, String> {
    let (group, plan) = (round.group(), round.plan());
    let topology = group.topology();
    let name = |&partition: &crate::id::PartitionIndex| {
        let number = i32::try_from(topology.number(partition)).unwrap_or(i32::MAX);
        TopicPartition::new(topology.name(topology.topic_of(partition)), number)
    };
    group
        .member_indices()
        .map(|member| {
            let partitions: PartitionSet = plan.target(member).iter().map(name).collect();
            let assignment = MemberAssignment::new(partitions).encode(mode, 3);
            let assignment = assignment.map_err(|error| error.to_string())?;
            Ok(SyncAssignment { member_id: group.id(member).to_owned(), assignment })
        })
        .collect()
}
