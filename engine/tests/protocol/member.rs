//! Every trigger, callback, timer and error of the member; the complete table is in `member_table`.

use tenure::codec::StickyUserData;
use tenure::protocol::error::{ErrorCode, ProtocolError};
use tenure::protocol::member::*;
use tenure::protocol::message::*;
use tenure::protocol::partition_set::PartitionSet;
use tenure::protocol::payload::{MemberAssignment, MemberSubscription};
use tenure::protocol::selection::*;

use crate::host::*;

const COOP: &str = "cooperative-sticky";

fn heartbeat(error: ErrorCode) -> HeartbeatResponse {
    HeartbeatResponse { error, protocol_to_use: None }
}

#[test]
fn the_kips_new_member_costs_the_old_one_a_single_revocation() {
    for mode in [Mode::Shipped, Mode::Draft] {
        let both = PartitionSet::from_blocks([("a", [0]), ("b", [0])]);
        let mut old = Host::stable(cooperative().with_mode(mode), &both);
        old.beat(ErrorCode::RebalanceInProgress);
        // Round one: b-0 is withheld from the newcomer, and in the draft everybody is told to come again.
        let (id, join) = old.take_join();
        assert_eq!(subscription(&join).owned, both);
        assert!(old.callbacks.is_empty(), "nothing is revoked before the join");
        old.accept_join(id, 2, COOP);
        let (id, _) = old.take_sync();
        let first =
            MemberAssignment { need_rejoin: mode == Mode::Draft, ..MemberAssignment::new(set("a", [0])) };
        old.assign(id, &first);
        // Round two: the rest is claimed, b-0 is free.
        let claimed = old.follow(3, COOP, &set("a", [0]));
        assert_eq!(claimed.owned, set("a", [0]));
        assert_eq!(claimed.generation, Some(2));
        assert_eq!(old.told(), [(CallbackKind::Revoked, "b-0".into())]);
        assert!(old.nothing_sent());
        assert_eq!(old.member.state(), MemberState::Stable);

        let mut new = Host::new(cooperative().with_mode(mode));
        new.member.subscribe(["a", "b"], 0).unwrap();
        new.find();
        let (id, _) = new.take_join();
        new.accept_join(id, 2, COOP);
        let (id, _) = new.take_sync();
        let first = MemberAssignment { need_rejoin: mode == Mode::Draft, ..MemberAssignment::default() };
        new.assign(id, &first);
        if mode == Mode::Shipped {
            assert!(new.nothing_sent(), "who revoked nothing waits for its heartbeat");
            new.beat(ErrorCode::RebalanceInProgress);
        }
        new.follow(3, COOP, &set("b", [0]));
        assert_eq!(new.told(), [(CallbackKind::Assigned, "b-0".into())]);
    }
}

#[test]
fn trigger_1_1_subscription_change_revokes_what_is_not_wanted_and_joins_with_the_rest() {
    let owned = PartitionSet::from_blocks([("t1", vec![0]), ("t2", vec![0, 1])]);
    let mut host = Host::stable(cooperative(), &owned);
    host.auto_callbacks = false;
    host.member.subscribe(["t1", "t3"], 0).unwrap();
    host.pump();
    assert_eq!(host.told(), [(CallbackKind::Revoked, "t2-0 t2-1".into())]);
    assert!(host.nothing_sent(), "the join waits for the callback");
    host.finish(Ok(()));
    let (_, join) = host.take_join();
    assert_eq!(subscription(&join).owned, set("t1", [0]));
    assert_eq!(subscription(&join).topics, ["t1", "t3"]);
    // The same topics again are no change.
    let mut host = Host::stable(cooperative(), &owned);
    host.member.subscribe(["t2", "t1", "t1"], 0).unwrap();
    assert!(host.nothing_sent());
    // An eager member gives all back.
    let mut host = Host::stable(eager(), &owned);
    host.member.subscribe(["t1", "t3"], 0).unwrap();
    let (_, join) = host.take_join();
    assert_eq!(host.told(), [(CallbackKind::Revoked, "t1-0 t2-0 t2-1".into())]);
    assert!(subscription(&join).owned.is_empty());
}

#[test]
fn trigger_1_1_subscription_change_during_a_rebalance_waits_for_its_end() {
    let mut host = Host::stable(cooperative(), &set("t1", [0]));
    host.member.request_rejoin("test", 0).unwrap();
    let (id, _) = host.take_join();
    host.member.subscribe(["t2"], 0).unwrap();
    assert!(host.nothing_sent());
    host.accept_join(id, 2, COOP);
    let (id, _) = host.take_sync();
    host.assign(id, &MemberAssignment::new(set("t1", [0, 1])));
    assert_eq!(host.told(), [(CallbackKind::Revoked, "t1-0".into())], "nothing unwanted is taken");
    let (_, join) = host.take_join();
    assert_eq!(subscription(&join).topics, ["t2"]);
    assert!(subscription(&join).owned.is_empty());
    assert!(!host.reports.iter().any(|one| matches!(one, Report::NotSubscribed(_))));
}

#[test]
fn trigger_1_2_what_is_gone_is_lost_and_only_the_leader_rejoins() {
    let mut host = Host::stable(cooperative(), &PartitionSet::from_blocks([("t1", [0, 1]), ("t2", [0, 0])]));
    host.member.handle_metadata(Metadata::new([("t1", 2), ("t2", 1)]), 0);
    assert!(host.nothing_sent());
    host.member.handle_metadata(Metadata::new([("t1", 1)]), 0);
    assert!(host.nothing_sent(), "a follower");
    assert_eq!(host.told(), [(CallbackKind::Lost, "t1-1 t2-0".into())]);
    assert_eq!(host.member.owned(), &set("t1", [0]));
    // It comes back, perhaps before the leader saw it go: somebody has to ask for it.
    host.member.handle_metadata(Metadata::new([("t1", 1), ("t2", 1)]), 0);
    let (_, join) = host.take_join();
    assert_eq!(subscription(&join).owned, set("t1", [0]));

    let mut leader = Host::new(cooperative());
    leader.member.subscribe(["t1", "t2"], 0).unwrap();
    leader.member.handle_metadata(Metadata::new([("t1", 1), ("t2", 1)]), 0);
    leader.find();
    leader.lead_alone(1, COOP, &PartitionSet::from_blocks([("t1", [0]), ("t2", [0])]));
    leader.forget();
    leader.member.handle_metadata(Metadata::new([("t1", 1)]), 0);
    let (_, join) = leader.take_join();
    assert_eq!(leader.told(), [(CallbackKind::Lost, "t2-0".into())]);
    assert_eq!(subscription(&join).owned, set("t1", [0]));
}

#[test]
fn metadata_older_than_the_assignment_loses_nothing() {
    let mut host = Host::new(cooperative());
    host.member.subscribe(["t1"], 0).unwrap();
    host.member.handle_metadata(Metadata::new([("t1", 1)]), 0);
    host.find();
    host.follow(1, COOP, &set("t1", [0, 1, 2]));
    host.forget();
    host.member.handle_metadata(Metadata::new([("t1", 1)]), 0);
    host.member.handle_metadata(Metadata::new([("t1", 3)]), 0);
    assert!(host.callbacks.is_empty() && host.nothing_sent());
    assert_eq!(host.member.fetchable(), set("t1", [0, 1, 2]));
}

#[test]
fn trigger_1_3_rebalance_in_progress_rejoins_with_all_that_is_owned() {
    let mut host = Host::stable(cooperative(), &set("t1", [0, 1]));
    host.beat(ErrorCode::RebalanceInProgress);
    let (_, join) = host.take_join();
    assert_eq!(subscription(&join).owned, set("t1", [0, 1]));
    assert_eq!(host.member.fetchable(), set("t1", [0, 1]), "the work goes on");
    let mut host = Host::stable(cooperative(), &set("t1", [0, 1]));
    host.member.commit(vec![offset("t1", 0, 1)], 0).unwrap();
    let (id, commit) = host.take_commit();
    host.answer(id, commit_answer(&commit, ErrorCode::RebalanceInProgress));
    assert_eq!(subscription(&host.take_join().1).owned, set("t1", [0, 1]));
}

#[test]
fn trigger_1_4_a_membership_that_no_longer_holds_loses_all() {
    for error in [ErrorCode::UnknownMemberId, ErrorCode::IllegalGeneration] {
        for request in ["JoinGroup", "SyncGroup", "Heartbeat", "OffsetCommit"] {
            let config = cooperative().with_mode(Mode::Draft); // for the commit; see case 232
            let mut host = Host::stable(config, &set("t1", [0, 1]));
            match request {
                "JoinGroup" => {
                    host.member.request_rejoin("test", 0).unwrap();
                    let (id, _) = host.take_join();
                    host.refuse_join(id, error);
                }
                "SyncGroup" => {
                    host.member.request_rejoin("test", 0).unwrap();
                    let (id, _) = host.take_join();
                    host.accept_join(id, 2, COOP);
                    let (id, _) = host.take_sync();
                    host.answer(id, SyncGroupResponse::refused(error));
                }
                "Heartbeat" => {
                    let id = host.take_heartbeat();
                    host.answer(id, heartbeat(error));
                }
                _ => {
                    host.member.commit(vec![offset("t1", 0, 1)], 0).unwrap();
                    let (id, commit) = host.take_commit();
                    host.answer(id, commit_answer(&commit, error));
                }
            }
            assert_eq!(host.told(), [(CallbackKind::Lost, "t1-0 t1-1".into())], "{request} {error}");
            assert!(!host.callbacks[0].metadata.is_member());
            let (_, join) = host.take_join();
            assert!(subscription(&join).owned.is_empty());
            assert_eq!(subscription(&join).generation, None);
            let id = if error == ErrorCode::UnknownMemberId { "" } else { "a" };
            assert_eq!(join.member_id, id, "{request} {error}");
        }
    }
}

#[test]
fn trigger_1_5_member_id_required_sends_the_join_again_with_it() {
    let mut host = Host::new(cooperative());
    host.member.subscribe(["t1"], 0).unwrap();
    host.find();
    let (id, join) = host.take_join();
    assert_eq!(join.member_id, "");
    host.refuse_join(id, ErrorCode::MemberIdRequired);
    let (_, join) = host.take_join();
    assert_eq!(join.member_id, "a");
    assert!(subscription(&join).owned.is_empty());
    assert!(host.callbacks.is_empty());
}

#[test]
fn trigger_1_6_revocation_or_need_rejoin_starts_the_next_join_after_the_callbacks() {
    // Shipped: who revoked something joins again, everybody else does not.
    let mut host = Host::stable(cooperative(), &set("t1", [0, 1]));
    host.member.request_rejoin("test", 0).unwrap();
    host.follow(2, COOP, &set("t1", [0]));
    assert_eq!(host.log, ["JoinGroup", "SyncGroup", "revoked t1-1", "report", "JoinGroup"]);
    let mut host = Host::stable(cooperative(), &set("t1", [0, 1]));
    host.member.request_rejoin("test", 0).unwrap();
    host.follow(2, COOP, &set("t1", [0, 1, 2]));
    assert!(host.nothing_sent());
    // Draft: the code alone decides.
    for (need_rejoin, next) in [(true, true), (false, false)] {
        let mut host = Host::stable(cooperative().with_mode(Mode::Draft), &set("t1", [0, 1]));
        host.member.request_rejoin("test", 0).unwrap();
        let (id, _) = host.take_join();
        host.accept_join(id, 2, COOP);
        let (id, _) = host.take_sync();
        host.assign(id, &MemberAssignment { need_rejoin, ..MemberAssignment::new(set("t1", [0, 1])) });
        assert_eq!(!host.nothing_sent(), next);
    }
}

#[test]
fn an_eager_member_gives_all_back_and_takes_all_as_new() {
    let mut host = Host::stable(eager(), &set("t1", [0, 1]));
    host.beat(ErrorCode::RebalanceInProgress);
    let claimed = host.follow(2, "range", &set("t1", [1, 2]));
    assert!(claimed.owned.is_empty());
    assert_eq!(
        host.log[1..],
        ["revoked t1-0 t1-1", "JoinGroup", "SyncGroup", "assigned t1-1 t1-2", "report"]
    );
    assert_eq!(host.callbacks[0].metadata.generation_id, 1);
    assert_eq!(host.callbacks[1].metadata.generation_id, 2);
    assert!(host.nothing_sent(), "no second round");
}

#[test]
fn no_callback_for_an_empty_set() {
    for config in [cooperative(), eager()] {
        let assignor = config.selection.assignors()[0].name().to_owned();
        let mut host = Host::stable(config, &PartitionSet::new());
        host.member.request_rejoin("test", 0).unwrap();
        host.follow(2, &assignor, &PartitionSet::new());
        host.beat(ErrorCode::UnknownMemberId);
        host.follow(3, &assignor, &PartitionSet::new());
        host.member.close(host.now_ms);
        host.pump();
        assert!(host.callbacks.is_empty());
    }
}

#[test]
fn the_first_callback_error_is_told_after_the_rest_ran_and_the_change_counts() {
    // The KIP's example: {1, 2} becomes {2, 3}; assigned(3) fails, revoked(1) still runs.
    for mode in [Mode::Draft, Mode::Shipped] {
        let mut host = Host::stable(cooperative().with_mode(mode), &set("t", [1, 2]));
        host.auto_callbacks = false;
        host.member.request_rejoin("test", 0).unwrap();
        host.follow(2, COOP, &set("t", [2, 3]));
        assert_eq!(host.told().len(), 1);
        host.finish(Err("first"));
        assert!(host.reports.is_empty(), "the other callback runs before");
        host.finish(Err("second"));
        let first = match mode {
            Mode::Draft => {
                assert_eq!(
                    host.told(),
                    [(CallbackKind::Assigned, "t-3".into()), (CallbackKind::Revoked, "t-1".into())]
                );
                CallbackKind::Assigned
            }
            Mode::Shipped => {
                assert_eq!(
                    host.told(),
                    [(CallbackKind::Revoked, "t-1".into()), (CallbackKind::Assigned, "t-3".into())]
                );
                CallbackKind::Revoked
            }
        };
        let Report::CallbackFailed { kind, message, .. } = &host.reports[0] else {
            panic!("{:?}", host.reports)
        };
        assert_eq!((*kind, message.as_str()), (first, "first"));
        assert_eq!(host.reports.len(), 2, "told once, then the generation is settled");
        assert_eq!(host.member.owned(), &set("t", [2, 3]));
    }
}

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
fn an_application_that_stalls_leaves_and_loses_all_when_it_comes_back() {
    for instance in [None, Some("i1")] {
        let mut config = cooperative();
        config.group_instance_id = instance.map(str::to_owned);
        config.max_poll_interval_ms = Some(5_000);
        let mut host = Host::stable(config, &set("t1", [0]));
        host.member.application_polled(1_000);
        host.tick(5_999);
        assert_eq!(host.member.state(), MemberState::Stable);
        host.tick(6_000);
        assert_eq!(host.member.state(), MemberState::Stalled);
        assert!(host.reports.contains(&Report::ApplicationStalled));
        assert_eq!(host.log.contains(&"LeaveGroup".to_owned()), instance.is_none());
        assert!(host.member.fetchable().is_empty());
        assert!(host.callbacks.is_empty(), "the application is not there to be told");
        host.sent.clear();
        host.member.application_polled(9_000);
        let (_, join) = host.take_join();
        assert_eq!(host.told(), [(CallbackKind::Lost, "t1-0".into())]);
        assert_eq!(join.member_id, if instance.is_some() { "a" } else { "" });
    }
}

#[test]
fn commits_are_checked_before_they_are_sent() {
    let mut host = Host::stable(cooperative(), &set("t1", [0]));
    host.member.commit(vec![offset("t1", 0, 1), offset("t1", 1, 1)], 0).unwrap();
    host.member.commit(Vec::new(), 0).unwrap();
    assert!(host.nothing_sent());
    assert_eq!(host.commits[0].1, Err(CommitError::NotOwned(set("t1", [1]))));
    assert_eq!(host.commits[1].1, Ok(()));
    // No answer at all: tried again until its time is over.
    host.member.commit(vec![offset("t1", 0, 1)], 0).unwrap();
    let mut tries = 0;
    while host.commits.len() == 2 {
        let at_ms = host.member.poll_timeout().unwrap();
        host.tick(at_ms);
        while let Some((id, request)) = host.sent.pop_front() {
            match request {
                Request::FindCoordinator(_) => {
                    host.answer(id, FindCoordinatorResponse { error: ErrorCode::None, node_id: 1 });
                }
                Request::OffsetCommit(_) => tries += 1,
                _ => host.answer(id, heartbeat(ErrorCode::None)),
            }
        }
    }
    assert_eq!(host.commits[2].1, Err(CommitError::TimedOut));
    assert!(tries >= 2, "{tries}");
    // A broker that refuses for a reason of its own.
    host.member.commit(vec![offset("t1", 0, 1)], host.now_ms).unwrap();
    let (id, commit) = host.take_commit();
    host.answer(id, commit_answer(&commit, ErrorCode::OffsetMetadataTooLarge));
    assert_eq!(host.commits[3].1, Err(CommitError::Refused(ErrorCode::OffsetMetadataTooLarge)));
    assert_eq!(host.member.state(), MemberState::Stable);
}

#[test]
fn eager_members_cannot_retry_a_commit_over_a_rebalance() {
    let mut host = Host::stable(eager(), &set("t1", [0]));
    host.member.commit(vec![offset("t1", 0, 1)], 0).unwrap();
    let (id, commit) = host.take_commit();
    host.answer(id, commit_answer(&commit, ErrorCode::RebalanceInProgress));
    assert_eq!(host.commits[0].1, Err(CommitError::RebalanceInProgress { retriable: false }));
}

#[test]
fn a_leader_asks_its_host_and_late_or_failed_computations_do_no_harm() {
    let mut host = Host::new(cooperative());
    host.member.subscribe(["t1"], 0).unwrap();
    host.member.handle_metadata(Metadata::new([("t1", 2)]), 0);
    host.find();
    let (id, join) = host.take_join();
    let me = JoinMember {
        member_id: "a".into(),
        metadata: join.protocols[0].metadata.clone(),
        group_instance_id: None,
    };
    host.accept_leader(id, 1, COOP, vec![me.clone()]);
    let asked = host.assigns.pop_front().unwrap();
    assert_eq!((asked.generation_id, asked.assignor.as_str()), (1, COOP));
    assert_eq!(asked.protocol, RebalanceProtocol::Cooperative);
    assert_eq!(asked.metadata.partitions("t1"), Some(2));
    host.member.assignment_computed(asked.id, Err("no luck".into()), 0).unwrap();
    host.pump();
    assert_eq!(host.reports, [Report::AssignorFailed("no luck".into())]);
    assert_eq!(host.member.state(), MemberState::BackingOff);
    host.member.assignment_computed(asked.id, Ok(Vec::new()), 0).unwrap();
    assert_eq!(host.member.state(), MemberState::BackingOff, "too late");
    assert!(host.member.assignment_computed(AssignId(999), Ok(Vec::new()), 0).is_err());
    host.tick(100);
    let (id, _) = host.take_join();
    host.accept_leader(id, 2, COOP, vec![me]);
    let asked = host.assigns.pop_front().unwrap();
    let all = vec![SyncAssignment { member_id: "a".into(), assignment: vec![1, 2, 3] }];
    host.member.assignment_computed(asked.id, Ok(all.clone()), 0).unwrap();
    assert_eq!(host.take_sync().1.assignments, all);
}

/// A static leader computes from these counts, restarts, and comes back to these: its host after the restart, with
/// the assignment that the coordinator kept.
fn static_leader_comes_back(before: i32, after: i32) -> Host {
    let start = |count: i32| {
        let mut host = Host::new(cooperative().with_instance_id("i1"));
        host.member.subscribe(["t1"], 0).unwrap();
        host.member.handle_metadata(Metadata::new([("t1", count)]), 0);
        host.find();
        host
    };
    let mut first = start(before);
    let (id, join) = first.take_join();
    let me = JoinMember {
        member_id: "a".into(),
        metadata: join.protocols[0].metadata.clone(),
        group_instance_id: Some("i1".into()),
    };
    first.accept_leader(id, 5, COOP, vec![me.clone()]);
    let asked = first.assigns.pop_front().unwrap();
    let own = MemberAssignment::new(set("t1", [0])).encode(Mode::Shipped, 3).unwrap();
    let round = vec![SyncAssignment { member_id: "a".into(), assignment: own }];
    first.member.assignment_computed(asked.id, Ok(round), 0).unwrap();
    let kept = first.take_sync().1.assignments.remove(0).assignment;

    let mut host = start(after);
    let (id, _) = host.take_join();
    let joined = JoinGroupResponse {
        generation_id: 5,
        protocol_name: Some(COOP.into()),
        leader: "a".into(),
        skip_assignment: true,
        members: vec![me],
        ..JoinGroupResponse::refused(ErrorCode::None, "a")
    };
    host.answer(id, joined);
    assert!(host.assigns.is_empty(), "it must not compute");
    let (id, sync) = host.take_sync();
    assert!(sync.assignments.is_empty());
    host.answer(id, SyncGroupResponse { assignment: kept, ..SyncGroupResponse::default() });
    assert_eq!(host.member.owned(), &set("t1", [0]));
    host
}

#[test]
fn a_static_leader_that_comes_back_starts_a_round_only_if_topics_changed_meanwhile() {
    let mut host = static_leader_comes_back(1, 1);
    assert!(host.nothing_sent());
    host.member.handle_metadata(Metadata::new([("t1", 2)]), 0);
    host.take_join(); // watched from then on
    let mut host = static_leader_comes_back(1, 2);
    assert_eq!(subscription(&host.take_join().1).owned, set("t1", [0]));
}

#[test]
fn assignments_that_make_no_sense_are_reported_and_never_taken() {
    let mut host = Host::stable(cooperative(), &set("t1", [0]));
    host.member.request_rejoin("test", 0).unwrap();
    let (id, _) = host.take_join();
    host.accept_join(id, 2, COOP);
    let (id, _) = host.take_sync();
    host.answer(id, SyncGroupResponse { assignment: vec![0, 1, 0], ..SyncGroupResponse::default() });
    assert!(matches!(&host.reports[0], Report::Malformed(ProtocolError::Malformed { .. })));
    assert_eq!(host.member.owned(), &set("t1", [0]));
    host.tick(100);
    // Topics that nobody asked for.
    host.follow(3, COOP, &PartitionSet::from_blocks([("t1", [0]), ("zz", [4])]));
    assert!(host.reports.contains(&Report::NotSubscribed(set("zz", [4]))));
    assert_eq!(host.member.owned(), &set("t1", [0]));
    assert_eq!(host.member.state(), MemberState::Stable, "no loop");
    // An assignor that the member does not list.
    host.member.request_rejoin("test", 0).unwrap();
    let (id, _) = host.take_join();
    host.accept_join(id, 4, "roundrobin");
    assert_eq!(host.member.state(), MemberState::Fatal);
    assert!(host.member.fatal_error().unwrap().to_string().contains("roundrobin"));
}

#[test]
fn sync_answers_that_the_group_went_on_keep_what_is_owned_and_its_generation() {
    let mut host = Host::stable(cooperative(), &set("t1", [0]));
    host.member.request_rejoin("test", 0).unwrap();
    let (id, _) = host.take_join();
    host.accept_join(id, 2, COOP);
    let (id, _) = host.take_sync();
    host.answer(id, SyncGroupResponse::refused(ErrorCode::RebalanceInProgress));
    let (_, join) = host.take_join();
    let claimed = subscription(&join);
    assert_eq!(claimed.owned, set("t1", [0]));
    assert_eq!(
        claimed.generation,
        Some(1),
        "a claim is worth the generation it was assigned in (KAFKA-13891)"
    );
    assert!(host.callbacks.is_empty());
}

#[test]
fn closing_during_the_first_join_leaves_with_the_id_that_comes() {
    for error in [ErrorCode::None, ErrorCode::MemberIdRequired] {
        let mut host = Host::new(cooperative());
        host.member.subscribe(["t1"], 0).unwrap();
        host.find();
        let (id, _) = host.take_join();
        host.member.close(0);
        assert!(host.nothing_sent());
        assert_eq!(host.member.state(), MemberState::Leaving);
        if error.is_none() {
            host.accept_join(id, 1, COOP)
        } else {
            host.refuse_join(id, error)
        }
        let (id, request) = host.take("LeaveGroup");
        let Request::LeaveGroup(leave) = request else { unreachable!() };
        assert_eq!(leave.members[0].member_id, "a");
        host.answer(id, LeaveGroupResponse::default());
        assert_eq!(host.member.state(), MemberState::Closed);
    }
}

#[test]
fn a_subscription_made_while_leaving_joins_afterwards() {
    let mut host = Host::stable(cooperative(), &set("t1", [0]));
    host.member.unsubscribe(0).unwrap();
    let (id, _) = host.take("LeaveGroup");
    host.member.subscribe(["t2"], 0).unwrap();
    assert!(host.nothing_sent());
    host.answer(id, LeaveGroupResponse::default());
    let (_, join) = host.take_join();
    assert_eq!((join.member_id.as_str(), &subscription(&join).topics[..]), ("", &["t2".to_owned()][..]));
}

#[test]
fn sticky_members_remember_what_they_gave_back() {
    let mut host = Host::stable(config(&[Assignor::sticky()]), &set("t1", [3]));
    host.beat(ErrorCode::RebalanceInProgress);
    let (_, join) = host.take_join();
    let read = MemberSubscription::decode("a", &join.protocols[0].metadata).unwrap();
    assert!(read.owned.is_empty());
    let data = StickyUserData::decode(read.user_data.as_deref());
    assert_eq!(data.generation, Some(1));
    let block = data.previous.iter().next().unwrap();
    assert!(block.topic == "t1" && block.partitions.iter().eq([3]));
}

#[test]
fn outlook_options_negotiate_by_heartbeat_and_announce_versions() {
    let mut config = config(&[Assignor::cooperative_sticky().with_version(4), Assignor::range()]);
    config.negotiate_by_heartbeat = true;
    config.announce_assignor_version = true;
    let mut host = Host::stable(config, &set("t1", [0]));
    host.tick(3_000);
    let (id, request) = host.take("Heartbeat");
    let Request::Heartbeat(beat) = request else { unreachable!() };
    assert_eq!(beat.supported_protocols, Some(vec![0, 1]));
    // The group goes on eager: known before the join, so everything is revoked in time and may be committed.
    host.answer(id, HeartbeatResponse { error: ErrorCode::RebalanceInProgress, protocol_to_use: Some(0) });
    assert_eq!(host.told(), [(CallbackKind::Revoked, "t1-0".into())]);
    let (id, join) = host.take_join();
    assert_eq!(join.protocols[0].version, Some(4));
    assert!(subscription(&join).owned.is_empty());
    host.accept_join(id, 2, "range");
    assert!(!host.reports.iter().any(|one| matches!(one, Report::FellBackToEager { .. })));

    for answer in [1, 9] {
        let mut config = eager();
        config.negotiate_by_heartbeat = true;
        let mut host = Host::stable(config, &set("t1", [0]));
        let id = host.take_heartbeat();
        let answer =
            HeartbeatResponse { error: ErrorCode::RebalanceInProgress, protocol_to_use: Some(answer) };
        host.answer(id, answer);
        assert_eq!(host.member.state(), MemberState::Fatal, "a protocol it does not support");
    }
}

#[test]
fn the_released_policy_is_eager_for_a_mixed_list() {
    let list = [Assignor::cooperative_sticky(), Assignor::range()];
    let selection = Selection::new(&list, ProtocolPolicy::Common).unwrap();
    let mut host = Host::stable(MemberConfig::new("group", selection), &set("t1", [0]));
    host.beat(ErrorCode::RebalanceInProgress);
    let claimed = host.follow(2, COOP, &set("t1", [0]));
    assert!(claimed.owned.is_empty());
    assert_eq!(
        host.told(),
        [(CallbackKind::Revoked, "t1-0".into()), (CallbackKind::Assigned, "t1-0".into())]
    );
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

#[test]
fn a_member_that_missed_a_generation_pauses_until_it_is_told_what_is_still_its_own() {
    // A static member may be counted in without taking part: others may own its partitions by now.
    let mut host = Host::stable(cooperative().with_instance_id("i1"), &set("t1", [0, 1]));
    host.member.request_rejoin("test", 0).unwrap();
    let (id, join) = host.take_join();
    assert_eq!(subscription(&join).generation, Some(1), "an old claim");
    assert_eq!(host.member.fetchable(), set("t1", [0, 1]));
    host.accept_join(id, 3, COOP);
    assert!(host.member.fetchable().is_empty());
    assert_eq!(host.member.owned(), &set("t1", [0, 1]));
    let (id, _) = host.take_sync();
    host.assign(id, &MemberAssignment::new(set("t1", [1])));
    assert_eq!(host.told(), [(CallbackKind::Lost, "t1-0".into())], "no commit for what another may own");
    assert_eq!(host.member.fetchable(), set("t1", [1]));
    // No generation missed: the work goes on through the round.
    let (id, _) = host.take_join();
    host.accept_join(id, 4, COOP);
    assert_eq!(host.member.fetchable(), set("t1", [1]));
}

#[test]
fn a_member_that_left_while_it_looked_for_its_coordinator_looks_again_when_it_comes_back() {
    let mut host = Host::new(cooperative());
    host.member.subscribe(["t1"], 0).unwrap();
    host.take("FindCoordinator"); // never answered
    host.member.unsubscribe(0).unwrap();
    assert_eq!(host.member.state(), MemberState::Idle);
    host.member.subscribe(["t1"], 10).unwrap();
    host.find();
    host.take_join();
}

#[test]
fn a_static_member_that_comes_back_with_other_topics_is_not_left_with_its_kept_assignment() {
    for (version, topics) in [(3, "t2"), (1, "t2"), (3, "t1 t2"), (1, "t1 t2")] {
        // Its leader left word that the assignment was made for t1 alone.
        let mut leader = Host::new(cooperative());
        leader.member.subscribe(["t1"], 0).unwrap();
        leader.member.handle_metadata(Metadata::new([("t1", 1)]), 0);
        leader.find();
        let (id, join) = leader.take_join();
        let metadata = join.protocols[0].metadata.clone();
        let member = JoinMember { member_id: "b".into(), metadata, group_instance_id: Some("i1".into()) };
        leader.accept_leader(id, 5, COOP, vec![member]);
        let asked = leader.assigns.pop_front().unwrap();
        let assignment = MemberAssignment::new(set("t1", [0])).encode(Mode::Shipped, 3).unwrap();
        let round = vec![SyncAssignment { member_id: "b".into(), assignment }];
        leader.member.assignment_computed(asked.id, Ok(round), 0).unwrap();
        let kept = leader.take_sync().1.assignments.remove(0).assignment;

        let own = Assignor::new("own", &RebalanceProtocol::ALL);
        let mut config = config(&[own]).with_instance_id("i1");
        config.subscription_version = version;
        let mut host = Host::new(config);
        host.member.subscribe(topics.split(' '), 0).unwrap();
        host.find();
        let (id, first) = host.take_join();
        host.accept_join(id, 5, "own");
        let (id, _) = host.take_sync();
        host.answer(id, SyncGroupResponse { assignment: kept.clone(), ..SyncGroupResponse::default() });
        let (id, again) = host.take_join();
        assert_ne!(first.protocols, again.protocols, "else the coordinator sees no reason to rebalance");
        // It asks once.
        host.accept_join(id, 5, "own");
        let (id, _) = host.take_sync();
        host.answer(id, SyncGroupResponse { assignment: kept, ..SyncGroupResponse::default() });
        assert!(host.nothing_sent(), "version {version}, {topics}");
    }
}
