//! Faults that other clients had, as scenarios of the member. Each names its file in `datasets/cases/protocol`.

use tenure::protocol::error::{ErrorCode, ProtocolError};
use tenure::protocol::member::*;
use tenure::protocol::message::*;
use tenure::protocol::partition_set::PartitionSet;
use tenure::protocol::payload::{MemberAssignment, MemberSubscription};
use tenure::protocol::selection::*;

use crate::host::*;

const COOP: &str = "cooperative-sticky";

/// Reads a case, so that a scenario without its file fails.
fn case(id: &str, source: &str) {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../datasets/cases/protocol");
    let file = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .find(|path| path.file_name().unwrap().to_string_lossy().starts_with(&format!("{id}-")))
        .unwrap_or_else(|| panic!("datasets/cases/protocol has no case {id}"));
    let case: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    assert_eq!(case["id"], id);
    assert!(case["source"].as_str().unwrap().contains(source), "{case}");
    assert!(!case["expect"].as_str().unwrap().is_empty());
}

#[test]
fn case_203_unsubscribe_calls_back_before_it_clears() {
    case("203", "KAFKA-8972");
    let owned = set("t1", [0]);
    let mut host = Host::stable(cooperative(), &owned);
    host.auto_callbacks = false;
    host.member.unsubscribe(0).unwrap();
    host.pump();
    assert_eq!(host.told(), [(CallbackKind::Revoked, "t1-0".into())]);
    assert_eq!(host.member.owned(), &owned, "the callback still sees what it gives back");
    assert!(host.member.may_commit(&TopicPartition::new("t1", 0)));
    host.member.commit(vec![offset("t1", 0, 7)], 0).unwrap();
    let (id, commit) = host.take_commit();
    assert_eq!(commit.generation_id, 1);
    host.answer(id, commit_answer(&commit, ErrorCode::None));
    host.finish(Ok(()));
    assert!(host.member.owned().is_empty());
    assert_eq!(host.take("LeaveGroup").1.name(), "LeaveGroup");

    // The variant: a fatal heartbeat error came first.
    let mut host = Host::stable(cooperative(), &owned);
    host.auto_callbacks = false;
    let id = host.take_heartbeat();
    host.answer(id, HeartbeatResponse { error: ErrorCode::UnknownMemberId, protocol_to_use: None });
    assert_eq!(host.told(), [(CallbackKind::Lost, "t1-0".into())]);
    host.member.unsubscribe(host.now_ms).unwrap();
    host.pump();
    assert_eq!(host.member.owned(), &owned);
    assert!(!host.member.may_commit(&TopicPartition::new("t1", 0)));
    host.member.commit(vec![offset("t1", 0, 7)], host.now_ms).unwrap();
    assert!(host.nothing_sent(), "no commit is tried for lost partitions");
    assert_eq!(host.commits[0].1, Err(CommitError::NotMember));
    host.finish(Ok(()));
    assert_eq!(host.told().len(), 1, "lost is told once");
    assert_eq!(host.member.state(), MemberState::Idle);
}

#[test]
fn case_206_commit_that_meets_the_second_join_keeps_the_assignment() {
    case("206", "librdkafka #4059");
    let mut host = Host::stable(cooperative(), &set("t1", [0, 1, 2, 3]));
    host.beat(ErrorCode::RebalanceInProgress);
    host.follow(2, COOP, &set("t1", [0, 1, 2]));
    assert_eq!(host.told(), [(CallbackKind::Revoked, "t1-3".into())]);
    // The second join of the same rebalance is on its way; the commit goes out while it is not yet sent.
    let (second_join, _) = host.take_join();
    host.member.commit(vec![offset("t1", 0, 5)], 0).unwrap();
    host.pump();
    assert_eq!(host.commits[0].1, Err(CommitError::RebalanceInProgress { retriable: true }));
    host.accept_join(second_join, 3, COOP);
    let (sync, _) = host.take_sync();
    host.assign(sync, &MemberAssignment::new(set("t1", [0, 1, 2])));
    host.forget();

    // A commit sent before the join, answered after it.
    host.member.commit(vec![offset("t1", 0, 5)], 0).unwrap();
    let (id, commit) = host.take_commit();
    host.member.request_rejoin("test", 0).unwrap();
    host.follow(4, COOP, &set("t1", [0, 1, 2]));
    host.answer(id, commit_answer(&commit, ErrorCode::IllegalGeneration));
    assert_eq!(host.commits[0].1, Err(CommitError::RebalanceInProgress { retriable: true }));
    assert_eq!(host.member.owned(), &set("t1", [0, 1, 2]));
    assert_eq!(host.member.state(), MemberState::Stable, "no further rejoin");
    assert!(host.callbacks.is_empty());
    assert!(host.nothing_sent());
}

#[test]
fn case_207_commit_error_never_stalls_the_new_assignment() {
    case("207", "librdkafka #2933");
    for error in
        [ErrorCode::RebalanceInProgress, ErrorCode::IllegalGeneration, ErrorCode::CoordinatorLoadInProgress]
    {
        let mut host = Host::stable(cooperative(), &set("t1", [0]));
        host.member.commit(vec![offset("t1", 0, 5)], 0).unwrap();
        let (id, commit) = host.take_commit();
        // The rest waits behind it, and is given up when the join goes out.
        host.member.commit(vec![offset("t1", 0, 6)], 0).unwrap();
        host.member.request_rejoin("test", 0).unwrap();
        host.follow(2, COOP, &set("t1", [0, 1]));
        assert_eq!(host.member.fetchable(), set("t1", [0, 1]), "fetching starts however the commit ends");
        assert_eq!(host.member.state(), MemberState::Stable);
        host.answer(id, commit_answer(&commit, error));
        assert_eq!(host.commits.len(), 2, "{error}");
        assert!(host.commits.iter().all(|(_, result)| result.is_err()));
        assert_eq!(host.member.fetchable(), set("t1", [0, 1]));
    }
    // The answer that starts the rebalance gives the commit up at once.
    let mut host = Host::stable(cooperative(), &set("t1", [0]));
    host.member.commit(vec![offset("t1", 0, 5)], 0).unwrap();
    let (id, commit) = host.take_commit();
    host.answer(id, commit_answer(&commit, ErrorCode::RebalanceInProgress));
    assert_eq!(host.commits[0].1, Err(CommitError::RebalanceInProgress { retriable: true }));
    assert_eq!(host.member.state(), MemberState::Joining);
}

#[test]
fn case_209_one_eager_balancer_in_the_list_does_not_make_a_member_eager() {
    case("209", "franz-go #366");
    let both = config(&[Assignor::cooperative_sticky(), Assignor::range()]);
    let mut host = Host::stable(both, &set("t1", [0, 1]));
    assert_eq!(host.member.protocol(), RebalanceProtocol::Cooperative);
    host.beat(ErrorCode::RebalanceInProgress);
    assert!(host.callbacks.is_empty(), "nothing is dropped before the join");
    let claimed = host.follow(2, COOP, &set("t1", [0, 2]));
    assert_eq!(claimed.owned, set("t1", [0, 1]));
    assert_eq!(
        host.told(),
        [(CallbackKind::Revoked, "t1-1".into()), (CallbackKind::Assigned, "t1-2".into())]
    );

    // Anew at each generation: now the eager one is selected, and the next join is prepared as eager.
    host.follow(3, "range", &set("t1", [5]));
    assert_eq!(host.member.protocol(), RebalanceProtocol::Eager);
    host.forget();
    host.beat(ErrorCode::RebalanceInProgress);
    assert_eq!(host.told(), [(CallbackKind::Revoked, "t1-5".into())]);
    let claimed = host.follow(4, COOP, &set("t1", [5]));
    assert!(claimed.owned.is_empty());
    assert_eq!(host.member.protocol(), RebalanceProtocol::Cooperative);
}

#[test]
fn case_210_cooperative_group_that_falls_back_gives_everything_up_first() {
    case("210", "franz-go #1365");
    let both = config(&[Assignor::cooperative_sticky(), Assignor::range()]);
    let mut host = Host::stable(both, &set("t1", [0, 1]));
    host.auto_callbacks = false;
    host.beat(ErrorCode::RebalanceInProgress);
    let (id, _) = host.take_join();
    host.accept_join(id, 2, "range");
    assert!(matches!(&host.reports[0], Report::FellBackToEager { assignor, partitions }
        if assignor == "range" && partitions.len() == 2));
    assert_eq!(host.told(), [(CallbackKind::Revoked, "t1-0 t1-1".into())]);
    assert!(host.member.fetchable().is_empty(), "nobody reads while it is given up");
    assert!(host.nothing_sent(), "SyncGroup waits for the callback");
    host.finish(Ok(()));
    let (id, _) = host.take_sync();
    host.assign(id, &MemberAssignment::new(set("t1", [1])));
    assert_eq!(host.told()[1..], [(CallbackKind::Assigned, "t1-1".into())], "all new, t1-1 too");
    host.finish(Ok(()));
    assert_eq!(host.member.owned(), &set("t1", [1]));
}

#[test]
fn case_212_no_protocol_in_common_tells_the_two_restarts() {
    case("212", "confluent-kafka-go #605");
    let mut host = Host::new(cooperative());
    host.member.subscribe(["t1"], 0).unwrap();
    host.find();
    let (id, _) = host.take_join();
    host.refuse_join(id, ErrorCode::InconsistentGroupProtocol);
    assert_eq!(host.member.state(), MemberState::Fatal);
    let Some(Report::Fatal(error)) = host.reports.last() else { panic!("{:?}", host.reports) };
    assert_eq!(error.code(), Some(ErrorCode::InconsistentGroupProtocol));
    let text = error.to_string();
    assert!(text.contains(COOP) && text.contains("restart the group twice"), "{text}");
    // Before the roll-out it says what the group supports.
    let text = check_roll_out(&[["range"], ["range"]], &[COOP]).unwrap_err().to_string();
    assert!(text.contains("supports [range]") && text.contains("two rolling restarts"), "{text}");
}

#[test]
fn case_219_late_answers_of_an_earlier_generation_change_nothing() {
    case("219", "KAFKA-9823");
    for error in [ErrorCode::UnknownMemberId, ErrorCode::IllegalGeneration, ErrorCode::FencedInstanceId] {
        let mut host = Host::stable(cooperative(), &set("t1", [0]));
        let heartbeat = host.take_heartbeat();
        host.member.commit(vec![offset("t1", 0, 5)], host.now_ms).unwrap();
        let (id, commit) = host.take_commit();
        host.member.request_rejoin("test", host.now_ms).unwrap();
        host.follow(4, COOP, &set("t1", [0]));
        host.answer(heartbeat, HeartbeatResponse { error, protocol_to_use: None });
        host.answer(id, commit_answer(&commit, error));
        assert_eq!(host.commits[0].1, Err(CommitError::RebalanceInProgress { retriable: true }), "{error}");
        assert_eq!(host.member.state(), MemberState::Stable);
        assert_eq!(host.member.generation(), Some(4));
        assert_eq!(host.member.member_id(), "a");
        assert_eq!(host.member.owned(), &set("t1", [0]));
        assert!(host.callbacks.is_empty());
    }
}

#[test]
fn case_228_a_new_topic_costs_pattern_subscribers_one_rebalance() {
    case("228", "KAFKA-7126");
    // The leader finds the topic first and rejoins; the other is told by its heartbeat, before its own refresh.
    let mut host = Host::new(cooperative());
    host.member.subscribe_filter(TopicFilter::new(|topic| topic.starts_with('t')), 0).unwrap();
    host.pump();
    assert_eq!(host.refreshes, [MetadataScope::All]);
    assert_eq!(host.member.state(), MemberState::Refreshing);
    host.member.handle_metadata(Metadata::new([("t1", 1), ("x", 9)]), 0);
    host.find();
    host.follow(1, COOP, &set("t1", [0]));
    host.forget();

    host.beat(ErrorCode::RebalanceInProgress);
    assert_eq!(host.refreshes, [MetadataScope::All], "fresh at the start of each rebalance");
    assert!(host.nothing_sent(), "the join waits for it");
    host.member.handle_metadata(Metadata::new([("t1", 1), ("t2", 1), ("x", 9)]), host.now_ms);
    let (id, join) = host.take_join();
    assert_eq!(subscription(&join).topics, ["t1", "t2"]);
    host.accept_join(id, 2, COOP);
    let (id, _) = host.take_sync();
    host.assign(id, &MemberAssignment::new(set("t1", [0])));
    // Its own periodic refresh later finds nothing new: no second rebalance.
    host.member.handle_metadata(Metadata::new([("t1", 1), ("t2", 1), ("x", 9)]), host.now_ms);
    assert!(host.nothing_sent());
    assert_eq!(host.member.state(), MemberState::Stable);
}

#[test]
fn case_231_the_leader_watches_partition_counts() {
    case("231", "sarama #1462");
    let mut host = Host::new(cooperative());
    host.member.subscribe(["t1"], 0).unwrap();
    host.member.handle_metadata(Metadata::new([("t1", 1)]), 0);
    host.find();
    host.lead_alone(1, COOP, &set("t1", [0]));
    host.member.handle_metadata(Metadata::new([("t1", 1)]), 0);
    assert!(host.nothing_sent());
    host.member.handle_metadata(Metadata::new([("t1", 2)]), 0);
    let (_, join) = host.take_join();
    assert!(join.reason.unwrap().contains("partitions change"));

    // Everybody's topics, not only its own; and a follower does not start rebalances of its own.
    let mut host = Host::new(cooperative());
    host.member.subscribe(["t1"], 0).unwrap();
    host.find();
    let (id, join) = host.take_join();
    let other = MemberSubscription { topics: vec!["t9".into()], ..MemberSubscription::default() };
    let member = |member_id: &str, metadata| JoinMember {
        member_id: member_id.into(),
        metadata,
        group_instance_id: None,
    };
    let members =
        vec![member("a", join.protocols[0].metadata.clone()), member("b", other.encode(3).unwrap())];
    host.accept_leader(id, 1, COOP, members);
    assert_eq!(host.member.state(), MemberState::RefreshingLeader);
    assert_eq!(host.refreshes.last(), Some(&MetadataScope::Topics(vec!["t1".into(), "t9".into()])));
    host.member.handle_metadata(Metadata::new([("t1", 1), ("t9", 1)]), 0);
    host.pump();
    let asked = host.assigns.pop_front().unwrap();
    assert_eq!(asked.metadata.partitions("t9"), Some(1));
    host.member.assignment_computed(asked.id, Ok(Vec::new()), 0).unwrap();
    let (id, _) = host.take_sync();
    host.assign(id, &MemberAssignment::new(set("t1", [0])));
    host.member.handle_metadata(Metadata::new([("t1", 1), ("t9", 2)]), 0);
    host.take_join();

    let mut follower = Host::stable(cooperative(), &set("t1", [0]));
    follower.member.handle_metadata(Metadata::new([("t1", 1)]), 0);
    follower.member.handle_metadata(Metadata::new([("t1", 2)]), 0);
    assert!(follower.nothing_sent());
}

#[test]
fn case_232_illegal_generation_on_a_commit_rejoins() {
    case("232", "kafkajs #1474");
    let refused = || {
        let mut host = Host::stable(cooperative(), &set("t1", [0]));
        host.member.commit(vec![offset("t1", 0, 5)], 0).unwrap();
        let (id, commit) = host.take_commit();
        host.answer(id, commit_answer(&commit, ErrorCode::IllegalGeneration));
        assert_eq!(host.commits[0].1, Err(CommitError::Refused(ErrorCode::IllegalGeneration)));
        host
    };
    // The coordinator still knows it: nothing is lost.
    let mut host = refused();
    let claimed = host.follow(3, COOP, &set("t1", [0]));
    assert_eq!(claimed.owned, set("t1", [0]));
    assert!(host.callbacks.is_empty());
    assert_eq!(host.member.state(), MemberState::Stable);
    // It does not: all is lost, and the next join claims nothing.
    let mut host = refused();
    let (id, join) = host.take_join();
    assert_eq!(join.member_id, "a");
    host.refuse_join(id, ErrorCode::UnknownMemberId);
    assert_eq!(host.told(), [(CallbackKind::Lost, "t1-0".into())]);
    let (_, join) = host.take_join();
    assert_eq!(join.member_id, "");
    assert!(subscription(&join).owned.is_empty());
    // As the KIP's text has it: lost at once.
    let mut host = Host::stable(cooperative().with_mode(Mode::Draft), &set("t1", [0]));
    host.member.commit(vec![offset("t1", 0, 5)], 0).unwrap();
    let (id, commit) = host.take_commit();
    host.answer(id, commit_answer(&commit, ErrorCode::IllegalGeneration));
    assert_eq!(host.told(), [(CallbackKind::Lost, "t1-0".into())]);
    assert!(subscription(&host.take_join().1).owned.is_empty());
}

#[test]
fn case_233_callbacks_carry_changes_and_the_member_keeps_the_set() {
    case("233", "confluent-kafka-python #1040");
    // No call replaces an assignment; whatever a callback does, owned is what the rounds made it.
    let mut host = Host::stable(cooperative(), &set("t1", [0, 1]));
    host.auto_callbacks = false;
    host.member.request_rejoin("test", 0).unwrap();
    host.follow(2, COOP, &set("t1", [1, 2]));
    assert_eq!(host.told(), [(CallbackKind::Revoked, "t1-0".into())]);
    host.finish(Err("this application tried to assign [t1-2] only"));
    host.finish(Ok(()));
    assert_eq!(
        host.told(),
        [(CallbackKind::Revoked, "t1-0".into()), (CallbackKind::Assigned, "t1-2".into())]
    );
    assert_eq!(host.member.owned(), &set("t1", [1, 2]));
    assert!(host.reports.iter().any(|one| matches!(one, Report::CallbackFailed { .. })), "never no error");
    // Ending a callback that nobody started is refused, with the state.
    host.auto_callbacks = true;
    host.follow(3, COOP, &set("t1", [1, 2]));
    let error = host.member.callback_finished(Ok(()), 0).unwrap_err();
    assert_eq!(error, ProtocolError::Unexpected { state: "Stable", event: "callback finished" });
}

#[test]
fn case_234_an_assignment_that_comes_while_closing_is_turned_down() {
    case("234", "librdkafka #4527");
    let mut host = Host::stable(cooperative(), &set("t1", [0]));
    host.member.request_rejoin("test", 0).unwrap();
    let (id, _) = host.take_join();
    host.accept_join(id, 2, COOP);
    let (sync, _) = host.take_sync();
    host.member.close(0);
    host.pump();
    host.assign(sync, &MemberAssignment::new(set("t1", [0, 1, 2])));
    assert_eq!(host.told(), [(CallbackKind::Revoked, "t1-0".into())], "nothing new is announced");
    let (leave, _) = host.take("LeaveGroup");
    host.answer(leave, LeaveGroupResponse::default());
    assert_eq!(host.member.state(), MemberState::Closed);
    assert_eq!(host.reports.last(), Some(&Report::Closed { timed_out: false }));

    // Announced but not yet told: still turned down.
    let mut host = Host::stable(cooperative(), &set("t1", [0]));
    host.auto_callbacks = false;
    host.member.request_rejoin("test", 0).unwrap();
    host.follow(2, COOP, &set("t1", [1]));
    host.member.close(0); // while revoked t1-0 runs
    host.finish(Ok(()));
    assert_eq!(host.told(), [(CallbackKind::Revoked, "t1-0".into())]);
    let (leave, _) = host.take("LeaveGroup");
    host.answer(leave, LeaveGroupResponse::default());
    assert_eq!(host.member.state(), MemberState::Closed);

    // A callback that never ends: closing does, within its timeout.
    let mut host = Host::stable(cooperative(), &set("t1", [0]));
    host.auto_callbacks = false;
    host.member.close(0);
    host.pump();
    host.tick(host.member.config().close_timeout_ms);
    assert_eq!(host.member.state(), MemberState::Closed);
    assert_eq!(host.reports.last(), Some(&Report::Closed { timed_out: true }));
}

#[test]
fn case_235_unsubscribe_leaves_the_group_at_once() {
    case("235", "librdkafka 22c61bb78");
    let mut host = Host::stable(cooperative(), &set("t1", [0]));
    host.member.unsubscribe(0).unwrap();
    let (id, request) = host.take("LeaveGroup");
    let Request::LeaveGroup(leave) = request else { unreachable!() };
    assert_eq!(leave.members[0].member_id, "a");
    assert_eq!(host.log, ["revoked t1-0", "LeaveGroup"]);
    host.answer(id, LeaveGroupResponse::default());
    assert_eq!(host.member.state(), MemberState::Idle);
    assert_eq!(host.member.member_id(), "");
    assert_eq!(host.member.poll_timeout(), None, "idle is idle");
}

#[test]
fn case_223_static_member_keeps_its_id_over_an_unsubscribe() {
    case("223", "KAFKA-20983");
    let mut host = Host::stable(cooperative().with_instance_id("i1"), &set("t1", [0]));
    host.member.unsubscribe(0).unwrap();
    host.pump();
    assert!(host.nothing_sent(), "no LeaveGroup from a static member");
    assert_eq!(host.member.state(), MemberState::Idle);
    host.member.subscribe(["t1"], 0).unwrap();
    let (first, join) = host.take_join();
    assert_eq!(join.member_id, "a");
    // The client gives up on the first join; the second is the same member's.
    host.member.handle_disconnect(first, 0);
    host.tick(1_000);
    host.find();
    let (second, join) = host.take_join();
    assert_eq!(join.member_id, "a");
    host.refuse_join(first, ErrorCode::FencedInstanceId);
    host.accept_join(second, 2, COOP);
    assert_eq!(host.member.state(), MemberState::Syncing);
}

#[test]
fn case_236_commits_of_one_member_never_overtake_each_other() {
    case("236", "franz-go 416e8269");
    let mut host = Host::stable(cooperative(), &set("t1", [0]));
    let first = host.member.commit(vec![offset("t1", 0, 10)], 0).unwrap();
    let second = host.member.commit(vec![offset("t1", 0, 20)], 0).unwrap();
    let (id, commit) = host.take_commit();
    assert_eq!(commit.offsets[0].1.offset, 10);
    assert!(host.nothing_sent(), "the second waits");
    // Also over a lost connection: the first is sent again before the second.
    host.member.handle_disconnect(id, 0);
    host.find();
    host.tick(1_000);
    let (id, commit) = host.take_commit();
    assert_eq!(commit.offsets[0].1.offset, 10);
    host.answer(id, commit_answer(&commit, ErrorCode::None));
    let (id, commit) = host.take_commit();
    assert_eq!(commit.offsets[0].1.offset, 20);
    host.answer(id, commit_answer(&commit, ErrorCode::None));
    assert_eq!(host.commits, [(first, Ok(())), (second, Ok(()))]);
}

#[test]
fn case_238_a_member_listed_twice_counts_once() {
    case("238", "franz-go 2d65fcb4");
    let mut host = Host::new(cooperative());
    host.member.subscribe(["t1"], 0).unwrap();
    host.member.handle_metadata(Metadata::new([("t1", 2)]), 0);
    host.find();
    let (id, join) = host.take_join();
    let first = JoinMember {
        member_id: "a".into(),
        metadata: join.protocols[0].metadata.clone(),
        group_instance_id: None,
    };
    let again = JoinMember { metadata: vec![0xff], ..first.clone() };
    host.accept_leader(id, 1, COOP, vec![first.clone(), again]);
    let asked = host.assigns.pop_front().unwrap();
    assert_eq!(asked.members, [first]);
}

#[test]
fn case_240_the_follow_up_is_part_of_the_assignment() {
    case("240", "KAFKA-9821");
    for mode in [Mode::Shipped, Mode::Draft] {
        // The static member restarts: its new life knows nothing, but gets the assignment that is kept for it.
        let mut config = config(&[Assignor::tenure_cooperative_sticky()]).with_instance_id("i1");
        config.mode = mode;
        let mut host = Host::new(config);
        host.member.subscribe(["t1"], 0).unwrap();
        host.find();
        let (id, _) = host.take_join();
        host.accept_join(id, 7, TENURE_COOPERATIVE_STICKY);
        let (id, _) = host.take_sync();
        let kept = MemberAssignment { need_rejoin: true, ..MemberAssignment::new(set("t1", [0])) };
        host.assign(id, &kept);
        // Acted on after the running rebalance is complete: callbacks first, then the next join.
        assert_eq!(host.log[host.log.len() - 3..], ["assigned t1-0", "report", "JoinGroup"]);
        assert!(matches!(host.reports.last(), Some(Report::Settled { follow_up: true, .. })));
        let (id, join) = host.take_join();
        assert_eq!(subscription(&join).owned, set("t1", [0]));
        // A coordinator with nothing new to say is not asked for ever.
        host.accept_join(id, 7, TENURE_COOPERATIVE_STICKY);
        let (id, _) = host.take_sync();
        host.assign(id, &kept);
        assert_eq!(host.member.state(), MemberState::Stable);
        assert!(host.nothing_sent());
    }
    // The variant: asked for while a rebalance is running, it waits.
    let mut host = Host::stable(cooperative(), &PartitionSet::new());
    host.member.request_rejoin("first", 0).unwrap();
    let (id, _) = host.take_join();
    host.member.request_rejoin("inside", 0).unwrap();
    assert!(host.nothing_sent());
    host.accept_join(id, 2, COOP);
    let (id, _) = host.take_sync();
    host.assign(id, &MemberAssignment::default());
    assert_eq!(host.take_join().1.reason.as_deref(), Some("inside"));
}

#[test]
fn case_218_the_callback_sees_the_generation_that_counts() {
    case("218", "KAFKA-9741");
    let mut host = Host::stable(cooperative(), &set("t1", [0, 1]));
    host.member.request_rejoin("test", 0).unwrap();
    host.follow(2, COOP, &set("t1", [1]));
    let revoked = &host.callbacks[0];
    assert_eq!((revoked.kind, revoked.metadata.generation_id), (CallbackKind::Revoked, 2));
}
