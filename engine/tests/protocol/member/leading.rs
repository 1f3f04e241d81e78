//! Leading, the answers of SyncGroup, static members that come back, and the options of the outlook.

use tenure::protocol::error::{ErrorCode, ProtocolError};
use tenure::protocol::member::*;
use tenure::protocol::message::*;
use tenure::protocol::partition_set::PartitionSet;
use tenure::protocol::payload::{MemberAssignment, MemberSubscription};
use tenure::protocol::selection::*;

use super::COOP;
use crate::host::*;

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

/// A static member is away while the leader takes a partition from it. It comes back without its claims, takes the
/// assignment that was kept for it, revokes nothing, and so would never ask for the round that hands the partition out.
#[test]
fn the_assignment_of_a_static_member_that_must_give_something_up_asks_for_a_follow_up() {
    let mut host = Host::new(cooperative());
    host.member.subscribe(["t1"], 0).unwrap();
    host.member.handle_metadata(Metadata::new([("t1", 2)]), 0);
    host.find();
    let (id, join) = host.take_join();
    let claims = |owned| {
        let topics = vec!["t1".to_owned()];
        let subscription = MemberSubscription { topics, owned, generation: Some(4), ..Default::default() };
        subscription.encode(3).unwrap()
    };
    let member = |id: &str, instance: Option<&str>, metadata| JoinMember {
        member_id: id.into(),
        metadata,
        group_instance_id: instance.map(str::to_owned),
    };
    let members = vec![
        member("a", None, join.protocols[0].metadata.clone()),
        member("keeps", Some("i1"), claims(set("t1", [0]))),
        member("loses", Some("i2"), claims(set("t1", [1]))),
    ];
    host.accept_leader(id, 5, COOP, members);
    let asked = host.assigns.pop_front().unwrap();
    let given = |owned| MemberAssignment::new(owned).encode(Mode::Shipped, 3).unwrap();
    let round = [("a", set("t1", [])), ("keeps", set("t1", [0])), ("loses", set("t1", []))]
        .map(|(id, owned)| SyncAssignment { member_id: id.into(), assignment: given(owned) });
    host.member.assignment_computed(asked.id, Ok(round.to_vec()), 0).unwrap();
    let sent = host.take_sync().1.assignments;
    let asks: Vec<bool> = sent
        .iter()
        .map(|one| MemberAssignment::decode(Mode::Shipped, &one.assignment).unwrap().need_rejoin)
        .collect();
    assert_eq!(asks, [false, false, true]);
}
