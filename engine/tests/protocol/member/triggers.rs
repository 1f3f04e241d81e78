//! What makes a member join again: the triggers 1.1 to 1.6 of KIP-429, and a generation that it missed.

use tenure::protocol::error::ErrorCode;
use tenure::protocol::member::*;
use tenure::protocol::message::*;
use tenure::protocol::partition_set::PartitionSet;
use tenure::protocol::payload::MemberAssignment;

use super::{COOP, heartbeat};
use crate::host::*;

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
