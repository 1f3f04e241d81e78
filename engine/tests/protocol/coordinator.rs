//! The coordinator's own rules, one scenario each. What each request gets in each phase is in `coordinator_table`.

use tenure::fence::Rules;
use tenure::protocol::coordinator::{Config, GroupPhase, MemberDescription, Record};
use tenure::protocol::error::ErrorCode;
use tenure::protocol::message::*;

use crate::broker::*;

fn join_version(member_id: &str, version: i32) -> JoinGroupRequest {
    let mut request = join(member_id);
    request.protocols[0].version = Some(version);
    request
}

fn join_all(broker: &mut Broker, ids: &[String]) {
    for id in ids {
        broker.send(join(id));
    }
}

fn changed(mut request: JoinGroupRequest) -> JoinGroupRequest {
    request.protocols[0].metadata = b"other topics".to_vec();
    request
}

#[test]
fn an_empty_group_waits_for_company_and_each_newcomer_prolongs_the_wait() {
    let mut broker = Broker::new(Config { initial_rebalance_delay_ms: 3_000, ..Config::default() });
    let old = |request| JoinGroupRequest { api_version: 3, rebalance_timeout_ms: 7_000, ..request };
    let first = broker.send(old(join("")));
    broker.pass(2_000);
    let second = broker.send(old(join("")));
    broker.pass(1_000);
    assert_eq!(broker.answer(first), None, "the second came, so the wait goes on");
    broker.pass(1_000);
    let third = broker.send(old(join("")));
    broker.pass(2_000);
    assert_eq!(broker.answer(first), None);
    broker.pass(999);
    broker.send(old(join("")));
    broker.pass(1);
    // 3 + 3 + 1: never longer than the rebalance timeout, however many still come.
    let joins = [first, second, third].map(|caller| broker.joined(caller));
    assert_eq!(broker.now_ms, 7_000);
    assert!(joins.iter().all(|one| one.generation_id == 1));
    assert_eq!(joins.iter().filter(|one| one.is_leader()).count(), 1);
    assert!(joins[0].is_leader(), "the first to join leads");
    assert_eq!(joins[0].members.len(), 4);
    assert!(joins[1].members.is_empty(), "only the leader sees the members");
}

#[test]
fn a_new_dynamic_member_joins_with_the_id_it_is_given() {
    let mut broker = Broker::prompt();
    let id = broker.new_member_id();
    assert!(id.starts_with("c-"));
    assert_eq!(broker.group().pending_members, core::slice::from_ref(&id));
    let caller = broker.send(join(&id));
    broker.pass(0);
    assert_eq!(broker.joined(caller).member_id, id);
    assert!(broker.group().pending_members.is_empty());
    assert_ne!(broker.new_member_id(), id);
}

#[test]
fn an_id_that_nobody_joins_with_holds_the_group_up_for_one_session() {
    let mut broker = Broker::prompt();
    let ids = broker.stable_group(1);
    broker.new_member_id();
    let caller = broker.send(join(&ids[0]));
    broker.pass(9_999);
    assert_eq!(broker.answer(caller), None);
    broker.pass(1);
    assert_eq!(broker.joined(caller).generation_id, 2);
}

#[test]
fn dynamic_members_that_do_not_rejoin_are_dropped_and_static_ones_stay() {
    let mut broker = Broker::prompt();
    let first = [
        broker.send(JoinGroupRequest { api_version: 3, ..join("") }),
        broker.send(JoinGroupRequest { api_version: 3, ..join("") }),
        broker.send(JoinGroupRequest { session_timeout_ms: 600_000, ..join_static("i1", "") }),
    ];
    broker.pass(0);
    let joins = first.map(|caller| broker.joined(caller));
    broker.sync_all(&joins);
    let caller = broker.send(join(&joins[0].member_id));
    for _ in 0..12 {
        // The second goes on beating without joining: its session holds, the rebalance timeout doesn't.
        broker.pass(5_000);
        let beat = broker.ask(heartbeat(&joins[1].member_id, 1)).error();
        assert!(matches!(beat, ErrorCode::RebalanceInProgress | ErrorCode::UnknownMemberId), "{beat}");
    }
    let joined = broker.joined(caller);
    assert_eq!(joined.generation_id, 2);
    let members: Vec<&str> = joined.members.iter().map(|one| one.member_id.as_str()).collect();
    assert!(members.contains(&joins[0].member_id.as_str()) && members.contains(&joins[2].member_id.as_str()));
    assert_eq!(members.len(), 2);
}

#[test]
fn with_only_absent_static_members_the_wait_is_prolonged_until_their_sessions_end() {
    let mut broker = Broker::prompt();
    let fixed =
        JoinGroupRequest { rebalance_timeout_ms: 1_000, session_timeout_ms: 30_000, ..join_static("i1", "") };
    let other = JoinGroupRequest { api_version: 3, rebalance_timeout_ms: 1_000, ..join("") };
    let first = [broker.send(fixed), broker.send(other)];
    broker.pass(0);
    let joins = first.map(|caller| broker.joined(caller));
    broker.sync_all(&joins);
    broker.ask(LeaveGroupRequest::single(GROUP, joins[1].member_id.clone()));
    broker.pass(20_000);
    assert_eq!(broker.phase(), GroupPhase::PreparingRebalance);
    assert_eq!(broker.group().members.len(), 1);
    broker.pass(10_000);
    assert_eq!((broker.phase(), broker.group().generation), (GroupPhase::Empty, 2));
}

#[test]
fn a_leader_that_rejoins_a_stable_group_starts_a_rebalance_and_a_follower_does_not() {
    let mut broker = Broker::prompt();
    let ids = broker.stable_group(2);
    let follower = broker.send(join(&ids[1]));
    let answer = broker.joined(follower);
    assert_eq!((answer.generation_id, answer.leader.as_str()), (1, ids[0].as_str()));
    assert_eq!(broker.phase(), GroupPhase::Stable);
    broker.send(join(&ids[0]));
    assert_eq!(broker.phase(), GroupPhase::PreparingRebalance);
}

#[test]
fn a_join_sent_twice_is_answered_once_to_the_later_caller() {
    let mut broker = Broker::prompt();
    let ids = broker.stable_group(2);
    let gave_up = broker.send(changed(join(&ids[1])));
    let again = broker.send(changed(join(&ids[1])));
    broker.send(join(&ids[0]));
    assert_eq!(broker.answer(gave_up), None);
    assert_eq!(broker.joined(again).generation_id, 2);
}

#[test]
fn an_answer_lost_after_the_join_is_given_again_with_the_members_for_the_leader() {
    let mut broker = Broker::prompt();
    let ids = broker.stable_group(2);
    broker.send(join(&ids[0]));
    broker.send(join(&ids[1]));
    assert_eq!(broker.phase(), GroupPhase::CompletingRebalance);
    let again = broker.send(join(&ids[0]));
    let again = broker.joined(again);
    assert_eq!((again.generation_id, again.members.len()), (2, 2));
    assert_eq!(broker.phase(), GroupPhase::CompletingRebalance);
}

#[test]
fn a_full_group_turns_newcomers_away_and_keeps_its_members() {
    let mut broker = Broker::new(Config { group_size_max: 2, ..prompt() });
    let ids = broker.stable_group(2);
    assert_eq!(broker.ask(join("")).error(), ErrorCode::GroupMaxSizeReached);
    assert_eq!(broker.ask(join_static("i1", "")).error(), ErrorCode::GroupMaxSizeReached);
    assert_eq!(broker.phase(), GroupPhase::Stable);
    let callers = ids.iter().map(|id| broker.send(join(id))).collect::<Vec<_>>();
    assert!(callers.into_iter().all(|caller| broker.joined(caller).error.is_none()));
}

#[test]
fn a_loaded_group_above_the_limit_is_cut_down_to_it() {
    let mut broker = Broker::prompt();
    let ids = broker.stable_group(3);
    let mut smaller = broker.successor(Config { group_size_max: 2, ..prompt() }, 1);
    assert_eq!(smaller.phase(), GroupPhase::PreparingRebalance);
    let callers: Vec<_> = ids.iter().map(|id| smaller.send(join(id))).collect();
    let codes: Vec<ErrorCode> = callers.into_iter().map(|caller| smaller.joined(caller).error).collect();
    assert_eq!(codes, [ErrorCode::None, ErrorCode::None, ErrorCode::GroupMaxSizeReached]);
    assert_eq!(smaller.group().members.len(), 2);
}

#[test]
fn each_member_votes_for_the_first_of_its_assignors_that_all_offer() {
    let offers =
        |names: &[&str]| JoinGroupRequest { api_version: 3, protocols: protocols(names), ..join("") };
    let voted = |lists: &[&[&str]]| {
        let mut broker = Broker::prompt();
        let callers: Vec<_> = lists.iter().map(|names| broker.send(offers(names))).collect();
        broker.pass(0);
        callers.into_iter().map(|caller| broker.joined(caller).protocol_name.unwrap()).next().unwrap()
    };
    assert_eq!(voted(&[&["sticky", "range"], &["range", "sticky"], &["range", "sticky"]]), "range");
    assert_eq!(voted(&[&["mine", "sticky", "range"], &["range", "sticky"], &["sticky", "range"]]), "sticky");
    assert_eq!(voted(&[&["sticky", "range"], &["range"]]), "range", "a vote needs a name that all offer");
    // Of equal votes the first in a Java hash map wins, as with the released broker.
    assert_eq!(voted(&[&["sticky", "range"], &["range", "sticky"]]), "sticky");
    assert_eq!(voted(&[&["cooperative-sticky", "range"], &["range", "cooperative-sticky"]]), "range");
}

#[test]
fn session_timeouts_outside_the_limits_are_refused() {
    let mut broker = Broker::prompt();
    for session_timeout_ms in [-1, 0, 5_999, 1_800_001] {
        let request = JoinGroupRequest { session_timeout_ms, ..join("") };
        assert_eq!(broker.ask(request).error(), ErrorCode::InvalidSessionTimeout);
    }
    let request = JoinGroupRequest { group_id: String::new(), ..join("") };
    assert_eq!(broker.ask(request).error(), ErrorCode::InvalidGroupId);
}

#[test]
fn the_highest_assignor_version_leads_when_the_draft_is_asked_for() {
    for by_version in [false, true] {
        let mut broker = Broker::new(Config { leader_by_version: by_version, ..prompt() });
        let ids: Vec<String> = (0..3).map(|_| broker.new_member_id()).collect();
        let versions = [4, 5, 5];
        let callers: Vec<_> =
            ids.iter().zip(versions).map(|(id, version)| broker.send(join_version(id, version))).collect();
        broker.pass(0);
        let leads: Vec<bool> = callers.into_iter().map(|caller| broker.joined(caller).is_leader()).collect();
        assert_eq!(leads, if by_version { [false, true, false] } else { [true, false, false] });
    }
}

#[test]
fn heartbeats_tell_the_protocol_to_use_when_the_draft_is_asked_for() {
    let mut broker = Broker::new(Config { heartbeat_protocols: true, ..prompt() });
    let ids = broker.stable_group(3);
    let beat = |member: &str, ids: Option<&[u8]>| HeartbeatRequest {
        supported_protocols: ids.map(<[u8]>::to_vec),
        ..heartbeat(member, 1)
    };
    let answer = |broker: &mut Broker, request: HeartbeatRequest| match broker.ask(request) {
        Response::Heartbeat(response) => (response.error, response.protocol_to_use),
        other => panic!("{other:?}"),
    };
    // All know 0 and 1, one of them 2 as well.
    assert_eq!(answer(&mut broker, beat(&ids[0], Some(&[0, 1]))), (ErrorCode::None, None));
    assert_eq!(answer(&mut broker, beat(&ids[1], Some(&[0, 1, 2]))), (ErrorCode::None, None));
    assert_eq!(answer(&mut broker, beat(&ids[2], Some(&[1, 0]))), (ErrorCode::None, None));
    broker.send(join(&ids[0]));
    let told = answer(&mut broker, beat(&ids[1], Some(&[0, 1, 2])));
    assert_eq!(told, (ErrorCode::RebalanceInProgress, Some(1)));
    // A list without the protocol decided on is fatal for its sender.
    let refused = answer(&mut broker, beat(&ids[2], Some(&[0])));
    assert_eq!(refused, (ErrorCode::InconsistentGroupProtocol, Some(1)));
    let refused = answer(&mut broker, beat(&ids[2], None));
    assert_eq!(refused, (ErrorCode::InconsistentGroupProtocol, Some(1)));
}

#[test]
fn one_old_member_keeps_a_group_of_the_draft_eager() {
    let mut broker = Broker::new(Config { heartbeat_protocols: true, ..prompt() });
    let ids = broker.stable_group(2);
    broker.ask(heartbeat(&ids[0], 1));
    let beat = HeartbeatRequest { supported_protocols: Some(vec![0, 1]), ..heartbeat(&ids[1], 1) };
    broker.ask(beat.clone());
    broker.send(join(&ids[0]));
    let Response::Heartbeat(response) = broker.ask(beat) else { panic!() };
    assert_eq!((response.error, response.protocol_to_use), (ErrorCode::RebalanceInProgress, Some(0)));
}

#[test]
fn members_that_never_sync_are_dropped_when_the_wait_for_syncs_ends() {
    let mut broker = Broker::prompt();
    let ids = broker.stable_group(2);
    let callers: Vec<_> = ids.iter().map(|id| broker.send(join(id))).collect();
    let leader = broker.joined(callers[0]);
    let assignments = plan(ids.iter().map(String::as_str));
    broker.ask(SyncGroupRequest { assignments, ..sync(&leader.member_id, 2) });
    for _ in 0..11 {
        broker.pass(5_000);
        for id in &ids {
            assert_eq!(broker.ask(heartbeat(id, 2)).error(), ErrorCode::None);
        }
    }
    broker.pass(5_000);
    assert_eq!(broker.phase(), GroupPhase::PreparingRebalance);
    assert_eq!(broker.ask(heartbeat(&ids[1], 2)).error(), ErrorCode::UnknownMemberId);
    assert_eq!(broker.ask(heartbeat(&ids[0], 2)).error(), ErrorCode::RebalanceInProgress);
}

#[test]
fn a_leader_that_forgets_a_member_gives_it_nothing_and_strangers_are_ignored() {
    let mut broker = Broker::prompt();
    let ids = broker.stable_group(2);
    join_all(&mut broker, &ids);
    let follower = broker.send(sync(&ids[1], 2));
    let assignments = plan([ids[0].as_str(), "stranger"].into_iter());
    let leader = broker.send(SyncGroupRequest { assignments, ..sync(&ids[0], 2) });
    assert_eq!(broker.synced(leader).assignment, ids[0].as_bytes());
    let response = broker.synced(follower);
    assert_eq!((response.error, response.assignment.len()), (ErrorCode::None, 0));
    assert_eq!(broker.group().members.len(), 2);
}

#[test]
fn an_assignment_that_can_not_be_written_is_told_to_all_and_starts_another_rebalance() {
    let mut broker = Broker::prompt();
    let ids = broker.stable_group(2);
    join_all(&mut broker, &ids);
    broker.write_error = ErrorCode::RequestTimedOut;
    let follower = broker.send(sync(&ids[1], 2));
    let leader = broker.send(sync(&ids[0], 2));
    assert_eq!(broker.synced(leader).error, ErrorCode::CoordinatorNotAvailable);
    assert_eq!(broker.synced(follower).error, ErrorCode::CoordinatorNotAvailable);
    assert_eq!(broker.phase(), GroupPhase::PreparingRebalance);
}

#[test]
fn a_join_overtakes_the_write_of_an_assignment() {
    let mut broker = Broker::prompt();
    let ids = broker.stable_group(2);
    join_all(&mut broker, &ids);
    broker.holds_writes = true;
    let leader = broker.send(sync(&ids[0], 2));
    assert_eq!(broker.answer(leader), None, "not before it is written");
    broker.send(changed(join(&ids[1])));
    assert_eq!(broker.synced(leader).error, ErrorCode::RebalanceInProgress);
    broker.write();
    assert_eq!(broker.phase(), GroupPhase::PreparingRebalance, "the late write changes nothing");
}

#[test]
fn a_session_ends_without_heartbeats_and_a_commit_is_as_good_as_one() {
    let mut broker = Broker::prompt();
    let ids = broker.stable_group(2);
    for _ in 0..4 {
        broker.pass(6_000);
        assert_eq!(broker.ask(commit(&ids[0], 1, 3)).error(), ErrorCode::None);
    }
    assert_eq!(broker.ask(heartbeat(&ids[0], 1)).error(), ErrorCode::RebalanceInProgress);
    assert_eq!(broker.ask(commit(&ids[1], 1, 3)).error(), ErrorCode::UnknownMemberId);
}

#[test]
fn a_newcomer_that_waits_longer_than_five_minutes_is_told_to_begin_again() {
    let mut broker = Broker::prompt();
    let patient = |request| JoinGroupRequest { rebalance_timeout_ms: 900_000, api_version: 3, ..request };
    let ids = broker.stable_group(1);
    let member = broker.send(patient(join(&ids[0])));
    assert_eq!(broker.joined(member).generation_id, 2);
    let newcomer = broker.send(patient(join("")));
    // The member beats and does not join, so the newcomer waits.
    for _ in 0..60 {
        assert_eq!(broker.answer(newcomer), None);
        broker.pass(5_000);
        assert_eq!(broker.ask(heartbeat(&ids[0], 2)).error(), ErrorCode::RebalanceInProgress);
    }
    assert_eq!(broker.joined(newcomer).error, ErrorCode::UnknownMemberId);
    // One that was a member before and waits is kept, however long it takes.
    let member = broker.send(patient(join(&ids[0])));
    assert_eq!(broker.joined(member).generation_id, 3);
    let id = broker.new_member_id();
    broker.pass(9_000);
    let member = broker.send(patient(changed(join(&ids[0]))));
    broker.pass(9_000);
    assert_eq!(broker.joined(member).generation_id, 4);
    assert!(!broker.group().pending_members.contains(&id));
}

#[test]
fn several_leave_at_once_and_each_has_its_own_outcome() {
    let mut broker = Broker::prompt();
    let ids = broker.stable_group(2);
    let pending = broker.new_member_id();
    let leaving = |id: &str| LeavingMember { member_id: id.into(), group_instance_id: None, reason: None };
    let members = vec![leaving(&ids[1]), leaving("stranger"), leaving(&pending)];
    let Response::LeaveGroup(response) = broker.ask(LeaveGroupRequest { group_id: GROUP.into(), members })
    else {
        panic!()
    };
    let codes: Vec<ErrorCode> = response.members.iter().map(|one| one.error).collect();
    assert_eq!(codes, [ErrorCode::None, ErrorCode::UnknownMemberId, ErrorCode::None]);
    assert_eq!(response.error, ErrorCode::None);
    assert_eq!(broker.group().members.len(), 1);
    let unknown =
        LeaveGroupRequest { group_id: "nobody's".into(), members: vec![leaving("a"), leaving("b")] };
    let Response::LeaveGroup(response) = broker.ask(unknown) else { panic!() };
    assert!(response.members.iter().all(|one| one.error == ErrorCode::UnknownMemberId));
}

#[test]
fn of_one_that_leaves_a_waiting_join_is_answered_and_a_waiting_sync_never() {
    let mut broker = Broker::prompt();
    let ids = broker.stable_group(2);
    let joining = broker.send(join(&ids[0]));
    broker.ask(LeaveGroupRequest::single(GROUP, ids[0].clone()));
    assert_eq!(broker.joined(joining).error, ErrorCode::UnknownMemberId);

    let rejoined = broker.send(join(&ids[1]));
    assert!(broker.joined(rejoined).is_leader());
    let id = broker.new_member_id();
    let second = broker.send(join(&id));
    broker.send(join(&ids[1]));
    let generation = broker.joined(second).generation_id;
    let syncing = broker.send(sync(&id, generation));
    broker.ask(LeaveGroupRequest::single(GROUP, id));
    assert_eq!(broker.answer(syncing), None);
    broker.pass(1_000_000);
    assert_eq!(broker.answer(syncing), None);
}

#[test]
fn a_sync_in_stable_is_no_sign_of_life() {
    let mut broker = Broker::prompt();
    let id = broker.stable_group(1).remove(0);
    broker.pass(6_000);
    assert_eq!(broker.ask(sync(&id, 1)).error(), ErrorCode::None);
    broker.pass(6_000);
    assert_eq!(broker.ask(heartbeat(&id, 1)).error(), ErrorCode::UnknownMemberId);
}

#[test]
fn an_empty_group_id_keeps_plain_offsets_and_nothing_else() {
    let mut broker = Broker::prompt();
    let plain = OffsetCommitRequest { group_id: String::new(), ..commit("", -1, 7) };
    assert_eq!(broker.ask(plain).error(), ErrorCode::None);
    let partitions = Some(vec![t(0)]);
    let fetch = OffsetFetchRequest { group_id: String::new(), partitions, require_stable: true };
    let Response::OffsetFetch(fetched) = broker.ask(fetch) else { panic!() };
    assert_eq!(fetched.partitions[0].committed, Some(CommittedOffset::new(7)));
    let transactional = TxnOffsetCommitRequest { group_id: String::new(), ..txn_commit((1, 0), "", -1, 1) };
    assert_eq!(broker.ask(transactional).error(), ErrorCode::InvalidGroupId);
    let nameless = JoinGroupRequest { group_id: String::new(), ..join("") };
    assert_eq!(broker.ask(nameless).error(), ErrorCode::InvalidGroupId);
}

#[test]
fn an_offset_counts_once_it_is_written_and_is_not_stable_before() {
    let mut broker = Broker::prompt();
    let ids = broker.stable_group(1);
    broker.ask(commit(&ids[0], 1, 10));
    broker.holds_writes = true;
    let caller = broker.send(commit(&ids[0], 1, 20));
    assert_eq!(stable_offset(&mut broker), Err(ErrorCode::UnstableOffsetCommit));
    assert_eq!(broker.coordinator.committed(GROUP, &t(0)), Some(&CommittedOffset::new(10)));
    broker.write();
    assert_eq!(broker.answer(caller).unwrap().error(), ErrorCode::None);
    assert_eq!(stable_offset(&mut broker), Ok(Some(20)));

    broker.write_error = ErrorCode::NotCoordinator;
    let caller = broker.send(commit(&ids[0], 1, 30));
    broker.write();
    assert_eq!(broker.answer(caller).unwrap().error(), ErrorCode::NotCoordinator);
    assert_eq!(stable_offset(&mut broker), Ok(Some(20)));
}

#[test]
fn metadata_too_long_fails_alone() {
    let mut broker = Broker::prompt();
    let mut request = commit("", -1, 1);
    let long = CommittedOffset { metadata: "x".repeat(4_097), ..CommittedOffset::new(1) };
    request.offsets.insert(0, (t(9), long));
    let Response::OffsetCommit(response) = broker.ask(request) else { panic!() };
    assert_eq!(response.partitions, [(t(9), ErrorCode::OffsetMetadataTooLarge), (t(0), ErrorCode::None)]);
    assert_eq!(broker.coordinator.committed(GROUP, &t(9)), None);
}

#[test]
fn a_group_that_is_not_there_has_no_generation_and_no_members() {
    let mut broker = Broker::prompt();
    assert_eq!(broker.ask(commit("a", 3, 1)).error(), ErrorCode::GroupIdNotFound);
    let older = OffsetCommitRequest { api_version: 8, ..commit("a", 3, 1) };
    assert_eq!(broker.ask(older).error(), ErrorCode::IllegalGeneration);
    assert_eq!(broker.ask(txn_commit((1, 0), "a", 3, 1)).error(), ErrorCode::IllegalGeneration);
    assert_eq!(broker.ask(heartbeat("a", 3)).error(), ErrorCode::UnknownMemberId);
    assert_eq!(broker.ask(sync("a", 3)).error(), ErrorCode::UnknownMemberId);
    assert_eq!(broker.ask(join("a")).error(), ErrorCode::UnknownMemberId);
    assert_eq!(broker.coordinator.group(GROUP), None, "a refusal leaves nothing behind");
    assert_eq!(broker.ask(commit("", -1, 1)).error(), ErrorCode::None);
    assert_eq!(broker.phase(), GroupPhase::Empty);
}

#[test]
fn offsets_of_a_transaction_count_from_its_commit_on_and_never_after_its_abort() {
    for committed in [true, false] {
        let mut broker = Broker::prompt();
        let ids = broker.stable_group(1);
        broker.ask(commit(&ids[0], 1, 5));
        assert_eq!(broker.ask(txn_commit((7, 0), &ids[0], 1, 15)).error(), ErrorCode::None);
        assert_eq!(stable_offset(&mut broker), Err(ErrorCode::UnstableOffsetCommit));
        let Response::OffsetFetch(response) =
            broker.ask(OffsetFetchRequest { require_stable: false, ..fetch_stable() })
        else {
            panic!()
        };
        assert_eq!(response.partitions[0].committed, Some(CommittedOffset::new(5)));
        assert_eq!(broker.ask(marker((7, 0), committed)).error(), ErrorCode::None);
        assert_eq!(stable_offset(&mut broker), Ok(Some(if committed { 15 } else { 5 })));
    }
}

#[test]
fn a_plain_commit_written_after_a_pending_one_stands() {
    for through_failover in [false, true] {
        let mut broker = Broker::prompt();
        let ids = broker.stable_group(1);
        broker.ask(txn_commit((7, 0), &ids[0], 1, 15));
        broker.ask(commit(&ids[0], 1, 40));
        if through_failover {
            broker = broker.successor(prompt(), 1);
        }
        broker.ask(marker((7, 0), true));
        assert_eq!(stable_offset(&mut broker), Ok(Some(40)));
        let again = broker.successor(prompt(), 2);
        assert_eq!(again.coordinator.committed(GROUP, &t(0)), Some(&CommittedOffset::new(40)));
    }
}

#[test]
fn a_marker_fences_older_epochs_and_older_transaction_coordinators_also_after_a_move() {
    let mut broker = Broker::prompt();
    let ids = broker.stable_group(1);
    broker.ask(txn_commit((7, 0), &ids[0], 1, 15));
    let bumped = TxnMarkerRequest { coordinator_epoch: 4, ..marker((7, 1), false) };
    assert_eq!(broker.ask(bumped.clone()).error(), ErrorCode::None);
    let mut successor = broker.successor(prompt(), 1);
    for broker in [&mut broker, &mut successor] {
        let late = broker.ask(txn_commit((7, 0), &ids[0], 1, 16));
        assert_eq!(late.error(), ErrorCode::InvalidProducerEpoch);
        assert_eq!(broker.ask(marker((7, 0), true)).error(), ErrorCode::TransactionCoordinatorFenced);
        let older_epoch = TxnMarkerRequest { producer_epoch: 0, ..bumped.clone() };
        assert_eq!(broker.ask(older_epoch).error(), ErrorCode::InvalidProducerEpoch);
        assert_eq!(stable_offset(broker), Ok(None));
    }
}

#[test]
fn the_draft_names_a_held_back_offset_by_its_own_code() {
    let mut broker = Broker::new(Config { fence: Rules::Draft, ..prompt() });
    let ids = broker.stable_group(1);
    broker.ask(txn_commit((7, 0), "", 1, 15));
    assert_eq!(stable_offset(&mut broker), Err(ErrorCode::PendingTransaction));
    let old = broker.ask(txn_commit((8, 0), &ids[0], 0, 15));
    assert_eq!(old.error(), ErrorCode::IllegalGeneration);
}

#[test]
fn a_move_sends_whoever_waits_to_the_new_coordinator_which_knows_the_group() {
    let mut broker = Broker::prompt();
    let ids = broker.stable_group(2);
    broker.ask(commit(&ids[0], 1, 10));
    broker.ask(txn_commit((7, 0), &ids[1], 1, 12));
    let joining = broker.send(join(&ids[0]));
    broker.holds_writes = true;
    let committing = broker.send(commit(&ids[1], 1, 11));
    let mut successor = broker.successor(prompt(), 1);
    broker.coordinator.handle_resigned(broker.now_ms);
    broker.settle();
    assert_eq!(broker.joined(joining).error, ErrorCode::NotCoordinator);
    assert_eq!(broker.answer(committing).unwrap().error(), ErrorCode::NotCoordinator);
    assert_eq!(broker.coordinator.group(GROUP), None);
    assert_eq!(broker.coordinator.poll_timeout(), None);

    // The rebalance under way is forgotten: the members of generation 1 go on, and what was pending still is.
    assert_eq!((successor.phase(), successor.group().generation), (GroupPhase::Stable, 1));
    let mut expected: Vec<MemberDescription> = ids.iter().map(|id| member(id)).collect();
    expected.sort_by(|left, right| left.member_id.cmp(&right.member_id));
    assert_eq!(successor.group().members, expected);
    assert_eq!(successor.ask(heartbeat(&ids[1], 1)).error(), ErrorCode::None);
    assert_eq!(stable_offset(&mut successor), Err(ErrorCode::UnstableOffsetCommit));
    assert_eq!(successor.coordinator.blockers(GROUP)[0].producer_id, 7);
    successor.ask(marker((7, 0), true));
    assert_eq!(stable_offset(&mut successor), Ok(Some(12)));
    let sync = successor.send(sync(&ids[0], 1));
    assert_eq!(successor.synced(sync).assignment, ids[0].as_bytes());
}

fn member(id: &str) -> MemberDescription {
    MemberDescription { member_id: id.into(), group_instance_id: None, assignment: id.into() }
}

#[test]
fn members_given_by_two_coordinators_never_share_an_id() {
    let mut broker = Broker::prompt();
    let first = broker.new_member_id();
    let mut successor = broker.successor(prompt(), 1);
    assert_ne!(successor.new_member_id(), first);
}

#[test]
fn a_static_member_returns_without_a_rebalance_and_a_failed_write_undoes_it() {
    let mut broker = Broker::prompt();
    let other = JoinGroupRequest { api_version: 3, ..join("") };
    let first = [broker.send(join_static("i1", "")), broker.send(other)];
    broker.pass(0);
    let joins = first.map(|caller| broker.joined(caller));
    broker.sync_all(&joins);
    let old_id = &joins[0].member_id;

    broker.write_error = ErrorCode::RequestTimedOut;
    let refused = broker.send(join_static("i1", ""));
    assert_eq!(broker.joined(refused).error, ErrorCode::CoordinatorNotAvailable);
    assert_eq!(broker.ask(sync(old_id, 1)).error(), ErrorCode::None, "the old id is valid again");
    assert_eq!(broker.group().leader.as_ref(), Some(old_id));

    broker.write_error = ErrorCode::None;
    let returned = broker.send(join_static("i1", ""));
    let returned = broker.joined(returned);
    assert_eq!((returned.generation_id, broker.phase()), (1, GroupPhase::Stable));
    assert!(returned.skip_assignment && returned.is_leader(), "it leads, but has nothing to compute");
    assert_eq!(returned.members.len(), 2);
    assert_ne!(&returned.member_id, old_id);
    let sync = broker.send(sync(&returned.member_id, 1));
    assert_eq!(broker.synced(sync).assignment, old_id.as_bytes(), "it keeps what it had");

    // Before version 9 it is told that another leads, so that it won't compute.
    let older = broker.send(JoinGroupRequest { api_version: 8, ..join_static("i1", "") });
    let older = broker.joined(older);
    assert_eq!((older.leader == returned.member_id, older.is_leader()), (true, false));
    assert!(older.members.is_empty() && !older.skip_assignment);
}

#[test]
fn a_static_member_whose_new_assignors_change_the_vote_causes_a_rebalance() {
    let mut broker = Broker::prompt();
    let both = |names: &[&str], request| JoinGroupRequest { protocols: protocols(names), ..request };
    let first = [broker.send(both(&["range", "sticky"], join_static("i1", "")))];
    broker.pass(0);
    let joins = first.map(|caller| broker.joined(caller));
    broker.sync_all(&joins);
    let returned = broker.send(both(&["sticky", "range"], join_static("i1", "")));
    let returned = broker.joined(returned);
    assert_eq!((returned.generation_id, returned.protocol_name.as_deref()), (2, Some("sticky")));
}

#[test]
fn old_offsets_are_dropped_and_bare_groups_forgotten() {
    const WEEK_MS: u64 = 7 * 24 * 3_600_000;
    let mut broker = Broker::prompt();
    let ids = broker.stable_group(1);
    broker.ask(commit(&ids[0], 1, 10));
    broker.coordinator.handle_cleanup(2 * WEEK_MS);
    assert!(broker.coordinator.committed(GROUP, &t(0)).is_some(), "a group with members keeps its offsets");

    broker.now_ms = 5_000;
    broker.ask(LeaveGroupRequest::single(GROUP, ids[0].clone()));
    assert_eq!(broker.phase(), GroupPhase::Empty);
    broker.coordinator.handle_cleanup(WEEK_MS + 4_999);
    assert!(broker.coordinator.committed(GROUP, &t(0)).is_some());
    broker.ask(txn_commit((7, 0), "", -1, 12));
    broker.coordinator.handle_cleanup(WEEK_MS + 5_000);
    broker.settle();
    assert!(
        broker.coordinator.committed(GROUP, &t(0)).is_some(),
        "a pending transaction may still change it"
    );
    broker.ask(marker((7, 0), false));
    broker.coordinator.handle_cleanup(WEEK_MS + 5_000);
    broker.settle();
    assert_eq!(broker.coordinator.group(GROUP), None);
    assert_eq!(broker.successor(prompt(), 1).coordinator.group(GROUP), None, "the log forgot it too");
}

#[test]
fn a_group_without_members_can_be_deleted() {
    let mut broker = Broker::prompt();
    assert_eq!(broker.coordinator.handle_delete_group(GROUP, 0), Err(ErrorCode::GroupIdNotFound));
    let ids = broker.stable_group(1);
    assert_eq!(broker.coordinator.handle_delete_group(GROUP, 0), Err(ErrorCode::NonEmptyGroup));
    broker.ask(commit(&ids[0], 1, 10));
    broker.ask(LeaveGroupRequest::single(GROUP, ids[0].clone()));
    assert_eq!(broker.coordinator.handle_delete_group(GROUP, 0), Ok(()));
    broker.settle();
    assert_eq!(broker.coordinator.group(GROUP), None);
    assert_eq!(stable_offset(&mut broker.successor(prompt(), 1)), Ok(None));
}

#[test]
fn requests_meant_for_other_coordinators_are_refused() {
    let mut broker = Broker::prompt();
    let strangers: [Request; 5] = [
        InitProducerIdRequest::default().into(),
        AddPartitionsToTxnRequest::default().into(),
        AddOffsetsToTxnRequest::default().into(),
        EndTxnRequest::default().into(),
        FindCoordinatorRequest::default().into(),
    ];
    for request in strangers {
        assert_eq!(broker.ask(request).error(), ErrorCode::InvalidRequest);
    }
}

#[test]
fn equal_events_give_equal_actions() {
    let run = || {
        let mut broker = Broker::prompt();
        let ids = broker.stable_group(5);
        broker.ask(commit(&ids[3], 1, 10));
        broker.ask(LeaveGroupRequest::single(GROUP, ids[0].clone()));
        broker.pass(100_000);
        (broker.log, broker.answers)
    };
    assert_eq!(run(), run());
}

#[test]
fn group_records_hold_members_in_order_and_know_their_size() {
    let mut broker = Broker::prompt();
    let ids = broker.stable_group(3);
    let Some(Record::Group { value: Some(value), .. }) = broker.log.last() else { panic!() };
    let mut sorted = ids;
    sorted.sort();
    let logged: Vec<&String> = value.members.iter().map(|one| &one.member_id).collect();
    assert_eq!(logged, sorted.iter().collect::<Vec<_>>());
    let before = broker.log.last().unwrap().encoded_len();
    assert_eq!(broker.coordinator.group_record(GROUP).unwrap().encoded_len(), before);
}
