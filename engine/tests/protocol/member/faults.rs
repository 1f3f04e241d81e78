//! Errors, coordinators that move, timers, and what is measured of it all.

use tenure::protocol::error::{ErrorCode, ProtocolError};
use tenure::protocol::member::*;
use tenure::protocol::message::*;
use tenure::protocol::payload::MemberAssignment;

use super::{COOP, heartbeat};
use crate::host::*;

#[test]
fn errors_that_cannot_be_mended_stop_the_member_with_a_remedy() {
    for (error, remedy) in [
        (ErrorCode::GroupMaxSizeReached, "group.max.size"),
        (ErrorCode::InconsistentGroupProtocol, "rolling"),
        (ErrorCode::FencedInstanceId, "group.instance.id"),
        (ErrorCode::InvalidSessionTimeout, "group.min.session.timeout.ms"),
        (ErrorCode::InvalidGroupId, "not empty"),
        (ErrorCode::GroupAuthorizationFailed, "READ"),
        (ErrorCode::UnsupportedVersion, "ApiVersions"),
    ] {
        let mut host = Host::stable(cooperative().with_instance_id("i1"), &set("t1", [0]));
        host.member.request_rejoin("test", 0).unwrap();
        let (id, _) = host.take_join();
        host.refuse_join(id, error);
        assert_eq!(host.member.state(), MemberState::Fatal);
        assert_eq!(host.told(), [(CallbackKind::Lost, "t1-0".into())], "{error}");
        let Some(Report::Fatal(fatal)) = host.reports.last() else { panic!("{error}: {:?}", host.reports) };
        assert_eq!(fatal.code(), Some(error));
        assert!(fatal.to_string().contains(remedy), "{fatal}");
        assert!(host.nothing_sent());
        assert!(host.member.fetchable().is_empty());
        assert_eq!(host.member.poll_timeout(), None);
        assert_eq!(
            host.member.subscribe(["t1"], 0),
            Err(ProtocolError::Unexpected { state: "Fatal", event: "subscribe" })
        );
        host.member.close(0);
        assert_eq!(host.member.state(), MemberState::Closed);
    }
}

#[test]
fn a_fenced_static_member_stops_wherever_it_learns_of_it() {
    let fenced = ErrorCode::FencedInstanceId;
    for request in ["SyncGroup", "Heartbeat", "OffsetCommit"] {
        let mut host = Host::stable(cooperative().with_instance_id("i1"), &set("t1", [0]));
        match request {
            "SyncGroup" => {
                host.member.request_rejoin("test", 0).unwrap();
                let (id, _) = host.take_join();
                host.accept_join(id, 2, COOP);
                let (id, _) = host.take_sync();
                host.answer(id, SyncGroupResponse::refused(fenced));
            }
            "Heartbeat" => host.beat(fenced),
            _ => {
                host.member.commit(vec![offset("t1", 0, 1)], 0).unwrap();
                let (id, commit) = host.take_commit();
                host.answer(id, commit_answer(&commit, fenced));
            }
        }
        assert_eq!(host.member.state(), MemberState::Fatal, "{request}");
        assert_eq!(host.told(), [(CallbackKind::Lost, "t1-0".into())]);
    }
}

#[test]
fn a_coordinator_that_moves_is_looked_up_and_nothing_is_lost() {
    let moved = ErrorCode::NotCoordinator;
    let owned = set("t1", [0]);
    // JoinGroup and SyncGroup: after a back-off, with what is owned.
    for sync in [false, true] {
        let mut host = Host::stable(cooperative(), &owned);
        host.member.request_rejoin("test", 0).unwrap();
        let (id, _) = host.take_join();
        if sync {
            host.accept_join(id, 2, COOP);
            let (id, _) = host.take_sync();
            host.answer(id, SyncGroupResponse::refused(moved));
        } else {
            host.refuse_join(id, moved);
        }
        assert_eq!(host.member.state(), MemberState::BackingOff);
        host.tick(100);
        host.find();
        assert_eq!(subscription(&host.take_join().1).owned, owned);
        assert!(host.callbacks.is_empty());
    }
    // A loading coordinator is asked again, not looked up.
    let mut host = Host::stable(cooperative(), &owned);
    host.member.request_rejoin("test", 0).unwrap();
    let (id, _) = host.take_join();
    host.refuse_join(id, ErrorCode::CoordinatorLoadInProgress);
    host.tick(100);
    host.take_join();
    // Heartbeat: looked up, then the next heartbeat goes there; the membership holds.
    let mut host = Host::stable(cooperative(), &owned);
    host.beat(moved);
    host.find();
    host.beat(ErrorCode::None);
    assert_eq!(host.member.state(), MemberState::Stable);
    // A commit is sent again to the new one.
    let mut host = Host::stable(cooperative(), &owned);
    host.member.commit(vec![offset("t1", 0, 9)], 0).unwrap();
    let (id, commit) = host.take_commit();
    host.answer(id, commit_answer(&commit, moved));
    host.find();
    host.tick(100);
    let (id, commit) = host.take_commit();
    host.answer(id, commit_answer(&commit, ErrorCode::None));
    assert_eq!(host.commits[0].1, Ok(()));
    // LeaveGroup too.
    let mut host = Host::stable(cooperative(), &owned);
    host.member.close(0);
    let (id, _) = host.take("LeaveGroup");
    host.answer(id, LeaveGroupResponse { error: moved, members: Vec::new() });
    host.find();
    let (id, _) = host.take("LeaveGroup");
    host.answer(id, LeaveGroupResponse::default());
    assert_eq!(host.member.state(), MemberState::Closed);
    // Nobody knows the coordinator: asked again with a back-off that grows to its limit.
    let mut host = Host::new(cooperative());
    host.member.subscribe(["t1"], 0).unwrap();
    for wait_ms in [100, 200, 400, 800, 1_000, 1_000] {
        let (id, _) = host.take("FindCoordinator");
        host.answer(id, FindCoordinatorResponse { error: ErrorCode::CoordinatorNotAvailable, node_id: -1 });
        assert_eq!(host.member.poll_timeout(), Some(host.now_ms + wait_ms));
        host.tick(host.now_ms + wait_ms);
    }
}

#[test]
fn heartbeats_go_out_at_their_interval_and_not_while_joining() {
    let mut host = Host::stable(cooperative(), &set("t1", [0]));
    assert_eq!(host.member.poll_timeout(), Some(3_000));
    host.tick(2_999);
    assert!(host.nothing_sent());
    host.tick(3_000);
    let (id, request) = host.take("Heartbeat");
    let Request::Heartbeat(beat) = request else { unreachable!() };
    assert_eq!((beat.generation_id, beat.member_id.as_str()), (1, "a"));
    assert_eq!(beat.supported_protocols, None);
    host.tick(9_000);
    assert!(host.nothing_sent(), "one at a time");
    host.answer(id, heartbeat(ErrorCode::None));
    host.tick(9_001);
    assert_eq!(host.take("Heartbeat").1.name(), "Heartbeat");
    host.member.request_rejoin("test", 0).unwrap();
    host.take_join();
    host.tick(20_000);
    assert!(host.nothing_sent(), "JoinGroup is the sign of life");
}

#[test]
fn a_session_without_an_answer_makes_the_member_look_for_its_coordinator() {
    let mut config = cooperative();
    config.request_timeout_ms = 100_000;
    config.session_timeout_ms = 10_000;
    let mut host = Host::stable(config, &set("t1", [0]));
    host.tick(3_000);
    host.take("Heartbeat"); // never answered
    host.tick(10_000);
    host.take("FindCoordinator");
    assert_eq!(host.member.state(), MemberState::Stable);
    assert_eq!(host.member.owned(), &set("t1", [0]));
}

#[test]
fn requests_without_an_answer_are_given_up_and_tried_again() {
    let mut config = cooperative();
    config.rebalance_timeout_ms = 10_000;
    let mut host = Host::stable(config, &set("t1", [0]));
    host.member.request_rejoin("test", 0).unwrap();
    let (first, _) = host.take_join();
    host.tick(29_999);
    assert_eq!(host.member.state(), MemberState::Joining);
    host.tick(30_000);
    assert_eq!(host.member.state(), MemberState::BackingOff);
    host.tick(30_100);
    host.find();
    let (second, join) = host.take_join();
    assert_eq!(subscription(&join).owned, set("t1", [0]));
    host.accept_join(first, 2, COOP);
    assert_eq!(host.member.state(), MemberState::Joining, "the first answer is too late");
    host.accept_join(second, 3, COOP);
    assert_eq!(host.member.generation(), Some(3));
}

#[test]
fn rebalances_are_measured() {
    let mut host = Host::stable(cooperative(), &set("t1", [0, 1]));
    host.auto_callbacks = false;
    host.now_ms = 1_000;
    host.member.request_rejoin("test", 1_000).unwrap();
    let (id, _) = host.take_join();
    host.now_ms = 1_050;
    host.accept_join(id, 2, COOP);
    let (id, _) = host.take_sync();
    host.now_ms = 1_080;
    host.assign(id, &MemberAssignment::new(set("t1", [0])));
    host.now_ms = 1_100;
    host.finish(Ok(()));
    let metrics = host.member.metrics();
    assert_eq!((metrics.join.count(), metrics.join.total_ms()), (2, 50));
    assert_eq!((metrics.sync.count(), metrics.sync.total_ms()), (2, 30));
    assert_eq!((metrics.revoked.count(), metrics.revoked.total_ms()), (1, 20));
    assert_eq!((metrics.rebalance.count(), metrics.rebalance.total_ms()), (2, 100));
    assert_eq!(metrics.assigned_partitions, 1);
    let names: Vec<&str> = metrics.values(2_000).iter().map(|one| one.name).collect();
    for name in [
        "rebalance-latency-avg",
        "rebalance-latency-max",
        "rebalance-latency-total",
        "rebalance-total",
        "rebalance-rate-per-hour",
        "failed-rebalance-total",
        "last-rebalance-seconds-ago",
        "join-time-avg",
        "sync-time-max",
        "partition-revoked-latency-avg",
        "partition-assigned-latency-max",
        "partition-lost-latency-max",
    ] {
        assert!(names.contains(&name), "{name}");
    }
}
