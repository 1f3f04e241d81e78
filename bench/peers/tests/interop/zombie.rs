//! The zombie of KIP-447: a producer whose consumer's generation has passed is refused, by the broker as by the fence.

use tenure::fence::{CommitIdentity, GroupPhase, Membership, Rules, admit_transactional_commit};
use tenure::protocol::error::ErrorCode;
use tenure_client::{ClientError, GroupMetadata, MemberState, TopicPartition, TransactionalProducer};
use tenure_peers::{ZombieProducer, or_skip};

use crate::world::{PATIENCE, World};

/// The group as it stands: two members in their present generation.
struct Standing {
    generation: i32,
    members: Vec<String>,
}

impl Membership for Standing {
    fn phase(&self) -> GroupPhase {
        GroupPhase::Stable
    }

    fn generation(&self) -> i32 {
        self.generation
    }

    fn has_member(&self, member_id: &str) -> bool {
        self.members.iter().any(|one| one == member_id)
    }

    fn instance_holder(&self, _: &str) -> Option<&str> {
        None
    }
}

#[test]
#[ignore = "needs a Kafka broker and other clients: .ci/run interop"]
fn a_zombie_is_refused_by_the_broker_as_by_the_fence() {
    let Some(mut world) = World::new("zombie", &[2], &[]) else { return };
    let Some(mut java) = or_skip(ZombieProducer::start()) else { return };
    world.tenure("a", &["cooperative-sticky"]);
    world.settle("the first joins", 0);
    let before = world.member("a").status().metadata;
    world.tenure("b", &["cooperative-sticky"]);
    world.settle("the second joins", 0);
    // What moves is given in the round after; then both are of one generation.
    let settled = || {
        let (a, b) = (world.member("a").status(), world.member("b").status());
        a.metadata.generation_id == b.metadata.generation_id
            && [a, b].iter().all(|one| one.state == MemberState::Stable && one.owned.len() == 1)
    };
    assert!(world.ledger.wait_until(PATIENCE, |_| settled()), "{}", world.ledger.table());
    let now = world.member("a").status().metadata;
    let other = world.member("b").status().metadata;
    assert!(before.generation_id < now.generation_id, "{before:?}, {now:?}");
    assert_eq!(before.member_id, now.member_id);

    let standing =
        Standing { generation: now.generation_id, members: vec![now.member_id.clone(), other.member_id] };
    let stranger = GroupMetadata { member_id: "nobody".into(), ..now.clone() };
    let nobody = GroupMetadata { member_id: String::new(), generation_id: -1, ..now.clone() };
    let cases = [("zombie", &before), ("stranger", &stranger), ("member", &now), ("nobody", &nobody)];
    let topic = world.topics.keys().next().unwrap().clone();
    for (index, (case, metadata)) in cases.into_iter().enumerate() {
        let identity = CommitIdentity {
            generation: metadata.generation_id,
            member_id: &metadata.member_id,
            instance_id: None,
        };
        let fenced = admit_transactional_commit(&standing, &identity, Rules::Shipped);
        let expected = fenced.as_ref().err().map(tenure::fence::FenceError::code);

        // Tenure's own producer has the broker's code.
        let member = world.member("a");
        let found = member.runtime.block_on(async {
            let id = format!("{}-rust-{case}", world.group);
            let mut producer = TransactionalProducer::start(&member.cluster, &id, 30_000).await.unwrap();
            let offsets = [(TopicPartition::new(topic.clone(), 0), 10 + i64::try_from(index).unwrap())];
            match producer.send_offsets(offsets, metadata).await {
                Ok(()) => {
                    producer.commit().await.unwrap();
                    None
                }
                Err(ClientError::Refused { code, .. }) => {
                    producer.abort().await.unwrap();
                    Some(code)
                }
                Err(other) => panic!("{case}: {other}"),
            }
        });
        assert_eq!(found, expected, "{case}");

        // Java's says it in words.
        let words = java
            .commit(&format!(
                "name={}-java-{case} bootstrap={} group={} topic={topic} offset=5 generation={} member={}",
                world.group,
                world.broker.bootstrap(),
                world.group,
                metadata.generation_id,
                metadata.member_id
            ))
            .unwrap();
        match expected {
            None => assert_eq!(words, "committed", "{case}"),
            Some(ErrorCode::IllegalGeneration) => {
                assert!(words.contains("CommitFailedException") && words.contains("generation"), "{words}");
            }
            Some(ErrorCode::UnknownMemberId) => {
                assert!(words.contains("CommitFailedException") && words.contains("member"), "{words}");
            }
            Some(other) => panic!("{case}: no word for {other}"),
        }
        println!("{case}: fence {expected:?}, broker {found:?}, java {words}");
    }
    world.end();
}
