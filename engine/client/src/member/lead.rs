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

#[cfg(test)]
mod tests {
    use tenure::protocol::error::ErrorCode;
    use tenure::protocol::member::{AssignId, Metadata};
    use tenure::protocol::message::JoinMember;
    use tenure::protocol::payload::{MemberAssignment, MemberSubscription};
    use tenure::protocol::selection::RebalanceProtocol;
    use tenure::revoke::Mode;

    use super::*;
    use crate::topics::Partition;

    fn asked(counts: [(&str, i32); 1]) -> AssignRequest {
        let member = |id: &str, rack: &str| {
            let subscription = MemberSubscription {
                topics: vec!["orders".into()],
                rack: Some(rack.into()),
                ..MemberSubscription::default()
            };
            JoinMember {
                member_id: id.into(),
                group_instance_id: None,
                metadata: subscription.encode(3).unwrap(),
            }
        };
        AssignRequest {
            id: AssignId(1),
            generation_id: 1,
            assignor: "cooperative-sticky".into(),
            protocol: RebalanceProtocol::Cooperative,
            members: vec![member("one", "a"), member("two", "b")],
            metadata: Arc::new(Metadata::new(counts)),
        }
    }

    fn orders(racks: &[&str]) -> Topic {
        let partition = |rack: &&str| Partition { leader: Some(1), racks: vec![(*rack).to_owned()] };
        let partitions = racks.iter().map(partition).collect();
        Topic { name: "orders".into(), internal: false, error: ErrorCode::None, partitions }
    }

    fn planned(asked: &AssignRequest, topics: &[Topic]) -> Vec<String> {
        plan(&Leader::new(), asked, "one", topics, &mut LeaderScratch::new())
            .unwrap()
            .iter()
            .map(|one| {
                MemberAssignment::decode(Mode::Shipped, &one.assignment).unwrap().partitions.to_string()
            })
            .collect()
    }

    #[test]
    fn members_are_given_what_is_near() {
        let asked = asked([("orders", 4)]);
        let near = planned(&asked, &[orders(&["b", "a", "b", "a"])]);
        assert_eq!(near, ["orders-1 orders-3", "orders-0 orders-2"]);
        let far = planned(&asked, &[orders(&["a", "b", "a", "b"])]);
        assert_eq!(far, ["orders-0 orders-2", "orders-1 orders-3"]);
    }

    #[test]
    fn the_counts_asked_for_count_where_the_topics_seen_are_others() {
        let asked = asked([("orders", 3)]);
        let all: usize = planned(&asked, &[orders(&["a"])]).iter().map(|one| one.split(' ').count()).sum();
        assert_eq!(all, 3);
    }

    #[test]
    fn a_leader_that_is_no_member_plans_nothing() {
        let error = plan(&Leader::new(), &asked([("orders", 1)]), "three", &[], &mut LeaderScratch::new())
            .unwrap_err();
        assert!(error.contains("three"), "{error}");
    }
}
