//! The leader's duty: everybody's assignment, planned by the engine.

use std::sync::Arc;

use tenure::Topology;
use tenure::protocol::leader::{Leader, LeaderScratch};
use tenure::protocol::member::AssignRequest;
use tenure::protocol::message::SyncAssignment;

use super::refresh::find;
use crate::topics::Topic;

/// Plans one round. Racks are those of the topics as they were looked up last.
pub(super) fn plan(
    leader: &Leader,
    asked: &AssignRequest,
    leader_id: &str,
    topics: &[Topic],
    scratch: &mut LeaderScratch,
) -> Result<Vec<SyncAssignment>, String> {
    let mut topology = Topology::builder();
    for (name, count) in asked.metadata.topics() {
        let racks = find(topics, name)
            .map(|topic| topic.partitions.iter().map(|one| one.racks.clone()).collect::<Vec<Vec<String>>>());
        match racks {
            Some(racks)
                if Some(racks.len()) == usize::try_from(count).ok()
                    && racks.iter().any(|one| !one.is_empty()) =>
            {
                topology.add_topic_with_racks(name, racks);
            }
            _ => {
                topology.add_topic(name, u32::try_from(count).unwrap_or(0));
            }
        }
    }
    let topology = topology.build().map_err(|error| error.to_string())?;
    leader
        .round_into(&asked.assignor, &asked.members, leader_id, &topology, scratch)
        .map(|round| round.to_sync())
        .map_err(|error| error.to_string())
}

/// What the driver keeps for its next round as leader.
pub(super) type Topics = Arc<Vec<Topic>>;
