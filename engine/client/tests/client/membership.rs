//! A member from its first join to its end, beside a broker that does not always play along.

use core::time::Duration;
use std::sync::{Arc, Mutex};

use kafka_protocol::messages::{ApiKey, HeartbeatResponse, JoinGroupResponse, LeaveGroupRequest};
use kafka_protocol::protocol::Decodable;
use tenure_client::{
    Change, ClientError, Cluster, CommitError, GroupConfig, GroupHandle, GroupMember, MemberState,
    RebalanceListener, Report, Silent, TopicPartition,
};

use crate::fake::{Answer, FakeBroker, commit, coordinator, usual};

fn config() -> GroupConfig {
    let mut config = GroupConfig::new("g").topics(["orders"]).session(6_000, 20);
    config.member.retry_backoff_ms = 10;
    config.member.retry_backoff_max_ms = 50;
    config
}

async fn joined(cluster: &Cluster) -> GroupMember {
    let member = GroupMember::join(cluster, config(), Silent).unwrap();
    member.settled().await.unwrap();
    member
}

/// Writes down what it hears.
#[derive(Clone, Default)]
struct Diary(Arc<Mutex<Vec<String>>>);

impl Diary {
    fn note(&self, line: String) {
        self.0.lock().unwrap().push(line);
    }

    fn lines(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

impl RebalanceListener for Diary {
    async fn assigned(&mut self, change: &Change, _: &GroupHandle) -> Result<(), String> {
        self.note(format!("assigned {} in {}", change.partitions, change.metadata.generation_id));
        Ok(())
    }

    async fn revoked(&mut self, change: &Change, group: &GroupHandle) -> Result<(), String> {
        let offsets = change.partitions.iter().map(|one| (one.clone(), 5));
        let outcome = group.commit(offsets).await;
        self.note(format!("revoked {}: commit {outcome:?}", change.partitions));
        Err("as told".into())
    }

    async fn lost(&mut self, change: &Change, group: &GroupHandle) -> Result<(), String> {
        let offsets = change.partitions.iter().map(|one| (one.clone(), 5));
        let refused = group.commit(offsets).await.is_err();
        self.note(format!("lost {}: commit refused {refused}", change.partitions));
        Ok(())
    }

    fn report(&mut self, report: &Report) {
        if let Report::CallbackFailed { message, .. } = report {
            self.note(format!("failed {message}"));
        }
    }
}

#[tokio::test]
async fn from_join_to_leave() {
    let broker = FakeBroker::start(usual).await;
    let cluster = broker.connect().await;
    let diary = Diary::default();
    let member = GroupMember::join(&cluster, config(), diary.clone()).unwrap();
    member.settled().await.unwrap();
    {
        let status = member.status();
        assert_eq!(status.fetchable.to_string(), "orders-0 orders-1 orders-2");
        assert_eq!(status.owned, status.fetchable);
        assert!(status.leads && status.assignor.as_deref() == Some("cooperative-sticky"));
        assert_eq!((status.metadata.generation_id, status.metadata.member_id.as_str()), (1, "m1"));
    }
    assert_eq!(member.commit([(TopicPartition::new("orders", 1), 7)]).await, Ok(()));
    assert!(matches!(
        member.commit([(TopicPartition::new("clicks", 0), 7)]).await,
        Err(CommitError::NotOwned(_))
    ));
    while broker.count(ApiKey::Heartbeat) < 2 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let handle = member.handle();
    member.close().await.unwrap();
    assert_eq!(
        diary.lines(),
        [
            "assigned orders-0 orders-1 orders-2 in 1",
            "revoked orders-0 orders-1 orders-2: commit Ok(())",
            "failed as told"
        ]
    );
    assert_eq!(broker.asked().last(), Some(&ApiKey::LeaveGroup));
    assert_eq!(handle.status().state, MemberState::Closed);
    assert!(matches!(handle.subscribe(["orders"]), Err(ClientError::Closed)));
    assert_eq!(handle.commit([]).await, Err(CommitError::NotMember));
}

#[tokio::test]
async fn a_crash_says_no_goodbye_and_neither_does_a_static_member() {
    let broker = FakeBroker::start(usual).await;
    let cluster = broker.connect().await;
    joined(&cluster).await.crash();
    let member = GroupMember::join(&cluster, config().instance_id("i1"), Silent).unwrap();
    member.settled().await.unwrap();
    member.close().await.unwrap();
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert_eq!(broker.count(ApiKey::LeaveGroup), 0);
}

#[tokio::test]
async fn the_coordinator_moves() {
    let mut beats = 0;
    let broker = FakeBroker::start(move |ask| {
        if ask.key == ApiKey::Heartbeat {
            beats += 1;
            if beats == 2 {
                return Answer::message(ask, &HeartbeatResponse::default().with_error_code(16));
            }
        }
        usual(ask)
    })
    .await;
    let member = joined(&broker.connect().await).await;
    while broker.count(ApiKey::FindCoordinator) < 2 || broker.count(ApiKey::Heartbeat) < 4 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(member.status().owned.len(), 3, "it keeps what it has");
    assert_eq!(member.status().rebalances, 1);
}

#[tokio::test]
async fn a_commit_finds_the_new_coordinator() {
    let mut commits = 0;
    let broker = FakeBroker::start(move |ask| {
        if ask.key == ApiKey::OffsetCommit {
            commits += 1;
            return commit(ask, if commits == 1 { 16 } else { 0 });
        }
        usual(ask)
    })
    .await;
    let member = joined(&broker.connect().await).await;
    assert_eq!(member.commit([(TopicPartition::new("orders", 0), 1)]).await, Ok(()));
    assert_eq!((broker.count(ApiKey::OffsetCommit), broker.count(ApiKey::FindCoordinator)), (2, 2));
}

#[tokio::test]
async fn the_connection_breaks_in_the_middle_of_a_join() {
    let mut joins = 0;
    let broker = FakeBroker::start(move |ask| {
        if ask.key == ApiKey::JoinGroup {
            joins += 1;
            match joins {
                2 => return Answer::Hangup,
                // Half an answer, and no more.
                3 => return Answer::Raw(vec![0, 0, 0, 90, 0, 0]),
                _ => {}
            }
        }
        usual(ask)
    })
    .await;
    let cluster = broker.connect().await;
    let mut config = config();
    // Half an answer is an answer that never comes.
    config.member.request_timeout_ms = 200;
    config.member.rebalance_timeout_ms = 1;
    let member = GroupMember::join(&cluster, config, Silent).unwrap();
    let mut watch = member.watch();
    let troubled = watch.wait_for(|status| status.trouble.is_some()).await.unwrap().trouble.clone();
    assert!(matches!(troubled, Some(ClientError::Disconnected { .. })), "{troubled:?}");
    member.settled().await.unwrap();
    assert_eq!(member.status().owned.len(), 3);
    assert_eq!(member.status().trouble, None);
}

#[tokio::test]
async fn a_membership_that_is_forgotten_is_lost_and_found() {
    let mut beats = 0;
    let broker = FakeBroker::start(move |ask| {
        if ask.key == ApiKey::Heartbeat {
            beats += 1;
            if beats == 1 {
                return Answer::message(ask, &HeartbeatResponse::default().with_error_code(25));
            }
        }
        usual(ask)
    })
    .await;
    let diary = Diary::default();
    let member = GroupMember::join(&broker.connect().await, config(), diary.clone()).unwrap();
    member.until(|status| status.rebalances == 2).await.unwrap();
    member.settled().await.unwrap();
    assert_eq!(
        diary.lines(),
        [
            "assigned orders-0 orders-1 orders-2 in 1",
            "lost orders-0 orders-1 orders-2: commit refused true",
            "assigned orders-0 orders-1 orders-2 in 1"
        ]
    );
}

#[tokio::test]
async fn what_can_not_be_mended_stops_the_member() {
    for (key, error) in [(ApiKey::FindCoordinator, 30), (ApiKey::JoinGroup, 23), (ApiKey::JoinGroup, 81)] {
        let broker = FakeBroker::start(move |ask| match (ask.key, key) {
            (ApiKey::FindCoordinator, ApiKey::FindCoordinator) => coordinator(ask, error),
            (ApiKey::JoinGroup, ApiKey::JoinGroup) => Answer::message(
                ask,
                &JoinGroupResponse::default().with_error_code(error).with_protocol_name(None),
            ),
            _ => usual(ask),
        })
        .await;
        let member = GroupMember::join(&broker.connect().await, config(), Silent).unwrap();
        let stopped = member.settled().await.unwrap_err();
        assert_eq!(stopped.code().map(|code| code.code()), Some(error), "{stopped}");
        assert_eq!(member.status().state, MemberState::Fatal);
        assert_eq!(member.close().await.unwrap_err(), stopped);
    }
}

#[tokio::test]
async fn a_pattern_finds_topics_and_leaves_kafka_its_own() {
    let broker = FakeBroker::start(usual).await;
    let config = config().topics_matching(|topic| !topic.starts_with('o'));
    let member = GroupMember::join(&broker.connect().await, config, Silent).unwrap();
    member.settled().await.unwrap();
    assert_eq!(member.owned().to_string(), "clicks-0 clicks-1 clicks-2");
}

#[tokio::test]
async fn leaving_does_not_wait_behind_a_join() {
    let left = Arc::new(Mutex::new(Vec::new()));
    let names = left.clone();
    let mut joins = 0;
    let broker = FakeBroker::start(move |ask| match ask.key {
        ApiKey::JoinGroup => {
            joins += 1;
            if joins > 2 { Answer::Silence } else { usual(ask) }
        }
        ApiKey::LeaveGroup => {
            let asked = LeaveGroupRequest::decode(&mut ask.body.clone(), ask.version).unwrap();
            names.lock().unwrap().extend(asked.members.into_iter().map(|one| one.member_id.to_string()));
            usual(ask)
        }
        _ => usual(ask),
    })
    .await;
    let member = joined(&broker.connect().await).await;
    let connections = broker.count(ApiKey::ApiVersions);
    member.request_rejoin("for the test").unwrap();
    while broker.count(ApiKey::JoinGroup) < 3 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    member.close().await.unwrap();
    assert_eq!(*left.lock().unwrap(), ["m1"]);
    assert_eq!(broker.count(ApiKey::ApiVersions), connections + 1, "over a connection of its own");
}

#[tokio::test]
async fn unsubscribing_leaves_and_subscribing_comes_back() {
    let broker = FakeBroker::start(usual).await;
    let member = joined(&broker.connect().await).await;
    member.unsubscribe().unwrap();
    member.until(|status| status.state == MemberState::Idle).await.unwrap();
    assert!(member.owned().is_empty());
    assert_eq!(broker.count(ApiKey::LeaveGroup), 1);
    member.subscribe(["clicks"]).unwrap();
    member.settled().await.unwrap();
    assert_eq!(member.owned().to_string(), "clicks-0 clicks-1 clicks-2");
}
