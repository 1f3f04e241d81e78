//! The cases of `datasets/cases/protocol` that a coordinator answers for. Each scenario's name has its case's id.

use tenure::protocol::coordinator::{Config, GroupPhase};
use tenure::protocol::error::ErrorCode;
use tenure::protocol::message::*;
use tenure::protocol::selection::check_roll_out;

use crate::broker::*;

fn offering(names: &[&str], request: JoinGroupRequest) -> JoinGroupRequest {
    JoinGroupRequest { protocols: protocols(names), ..request }
}

#[test]
fn case_212_no_protocol_in_common_is_refused_and_explained() {
    let mut broker = Broker::prompt();
    let ids = broker.stable_group(2);
    let refused = broker.ask(offering(&["cooperative-sticky"], join("")));
    assert_eq!(refused.error(), ErrorCode::InconsistentGroupProtocol);
    // a and b go on undisturbed.
    assert_eq!((broker.phase(), broker.group().generation), (GroupPhase::Stable, 1));
    for id in &ids {
        assert_eq!(broker.ask(heartbeat(id, 1)).error(), ErrorCode::None);
    }
    // What the group supports, and the two rolling restarts.
    let why = broker.coordinator.explain_refusal(GROUP, &["cooperative-sticky"]).expect("a reason");
    assert_eq!(
        (why.supported.as_slice(), why.offered.as_slice()),
        (&["range".to_owned()][..], &["cooperative-sticky".to_owned()][..])
    );
    assert!(why.to_string().contains("two rolling restarts are needed"), "{why}");
    assert!(ErrorCode::InconsistentGroupProtocol.remedy().contains("twice"));
    assert_eq!(broker.coordinator.explain_refusal(GROUP, &["cooperative-sticky", "range"]), None);
    // The same check before the roll-out: each step of the right way passes.
    let (range, both, coop) =
        (vec!["range"], vec!["cooperative-sticky", "range"], vec!["cooperative-sticky"]);
    assert!(check_roll_out(&[range.clone(), range.clone()], &coop).is_err());
    assert_eq!(check_roll_out(&[range.clone(), range], &both).unwrap(), "range");
    assert_eq!(check_roll_out(&[both.clone(), both], &coop).unwrap(), "cooperative-sticky");
}

#[test]
fn case_212_the_two_rolling_restarts_go_through() {
    let mut broker = Broker::prompt();
    let mut ids = broker.stable_group(2);
    let mut selected = Vec::new();
    for names in [&["cooperative-sticky", "range"][..], &["cooperative-sticky"]] {
        for place in 0..2 {
            // One member restarts: it leaves and comes back with another list.
            broker.ask(LeaveGroupRequest::single(GROUP, ids[place].clone()));
            let Response::JoinGroup(new) = broker.ask(offering(names, join(""))) else { panic!() };
            ids[place] = new.member_id;
            let restarted = broker.send(offering(names, join(&ids[place])));
            let before = if place == 0 && names.len() == 2 {
                &["range"][..]
            } else {
                &["cooperative-sticky", "range"]
            };
            let other = if place == 1 { names } else { before };
            let stayed = broker.send(offering(other, join(&ids[1 - place])));
            let joins = [restarted, stayed].map(|caller| broker.joined(caller));
            assert!(joins.iter().all(|one| one.error.is_none()));
            selected.push(joins[0].protocol_name.clone().unwrap());
            broker.sync_all(&joins);
        }
    }
    assert_eq!(selected, ["range", "cooperative-sticky", "cooperative-sticky", "cooperative-sticky"]);
}

#[test]
fn case_223_a_static_member_that_keeps_its_id_does_not_fence_itself() {
    let mut broker = Broker::prompt();
    let first = broker.send(join_static("i1", ""));
    broker.pass(0);
    let joined = broker.joined(first);
    broker.sync_all(core::slice::from_ref(&joined));
    // It unsubscribed without LeaveGroup and joins again, twice because of a stall; the id was kept.
    let holdup = broker.new_member_id();
    let gave_up = broker.send(join_static("i1", &joined.member_id));
    let again = broker.send(join_static("i1", &joined.member_id));
    let other = broker.send(join(&holdup));
    assert_eq!(broker.answer(gave_up), None, "superseded, not fenced");
    assert_eq!(broker.joined(again).error, ErrorCode::None);
    assert_eq!(broker.joined(other).error, ErrorCode::None);
}

#[test]
fn case_223_forgetting_the_id_is_what_fences() {
    // The client's fault, seen from here: two joins without an id can't be told from two processes.
    let mut broker = Broker::prompt();
    let first = broker.send(join_static("i1", ""));
    let second = broker.send(join_static("i1", ""));
    assert_eq!(broker.joined(first).error, ErrorCode::FencedInstanceId);
    broker.pass(0);
    assert_eq!(broker.joined(second).error, ErrorCode::None);
}

#[test]
fn case_224_of_two_newcomers_with_one_instance_id_exactly_one_wins() {
    // The name has no member yet; or it has one, and a rebalance is being prepared.
    for preparing in [false, true] {
        let mut broker = Broker::prompt();
        if preparing {
            let old = broker.send(join_static("i1", ""));
            broker.pass(0);
            let old = broker.joined(old);
            broker.sync_all(core::slice::from_ref(&old));
            let other = broker.new_member_id();
            broker.send(join(&other));
            broker.send(join_static("i2", ""));
            assert_eq!(broker.phase(), GroupPhase::PreparingRebalance);
        }
        let holdup = broker.new_member_id();
        let one = broker.send(join_static("i1", ""));
        let two = broker.send(join_static("i1", ""));
        let refused = broker.joined(one);
        assert_eq!(refused.error, ErrorCode::FencedInstanceId, "told at once");
        broker.ask(LeaveGroupRequest::single(GROUP, holdup));
        broker.pass(0);
        let winner = broker.joined(two);
        assert_eq!(winner.error, ErrorCode::None);
        let holders = broker.group().members.iter().filter(|one| one.group_instance_id.is_some()).count();
        assert_eq!(holders, if preparing { 2 } else { 1 });
        assert_ne!(winner.leader, refused.member_id, "a fenced member never leads");
        assert!(
            broker.group().members.iter().any(|one| Some(&one.member_id) == broker.group().leader.as_ref())
        );
    }
}

#[test]
fn case_224_a_pending_sync_of_the_fenced_leader_is_answered_and_its_assignment_dropped() {
    let mut broker = Broker::prompt();
    let callers = [broker.send(join_static("i1", "")), broker.send(join_static("i2", ""))];
    broker.pass(0);
    let joins = callers.map(|caller| broker.joined(caller));
    assert!(joins[0].is_leader());
    broker.holds_writes = true;
    let follower = broker.send(sync(&joins[1].member_id, 1));
    let assignments = plan(joins.iter().map(|one| one.member_id.as_str()));
    let leader = broker.send(SyncGroupRequest { assignments, ..sync(&joins[0].member_id, 1) });
    broker.send(join_static("i1", ""));
    assert_eq!(broker.synced(leader).error, ErrorCode::FencedInstanceId);
    assert_eq!(broker.synced(follower).error, ErrorCode::RebalanceInProgress);
    broker.write();
    assert_eq!(broker.phase(), GroupPhase::PreparingRebalance, "the fenced leader's assignment is not taken");
    assert!(broker.group().members.iter().all(|one| one.assignment.is_empty()));
}

#[test]
fn case_226_a_static_member_that_returns_while_the_leader_computes_is_not_left_empty() {
    let mut broker = Broker::prompt();
    let callers =
        [broker.send(JoinGroupRequest { api_version: 3, ..join("") }), broker.send(join_static("i1", ""))];
    broker.pass(0);
    let joins = callers.map(|caller| broker.joined(caller));
    assert_eq!(broker.phase(), GroupPhase::CompletingRebalance);
    let returned = broker.send(join_static("i1", ""));
    assert_eq!(broker.phase(), GroupPhase::PreparingRebalance, "another rebalance");
    // The leader's assignment names the old id: it comes too late.
    let assignments = plan(joins.iter().map(|one| one.member_id.as_str()));
    let late = broker.send(SyncGroupRequest { assignments, ..sync(&joins[0].member_id, 1) });
    assert_eq!(broker.synced(late).error, ErrorCode::RebalanceInProgress);
    let leader = broker.send(join(&joins[0].member_id));
    let joins = [leader, returned].map(|caller| broker.joined(caller));
    assert_eq!(joins[0].generation_id, 2);
    broker.sync_all(&joins);
}

#[test]
fn case_228_fifty_discoveries_of_one_topic_make_one_rebalance() {
    let mut broker = Broker::prompt();
    let ids = broker.stable_group(50);
    let discovered = |id: &str| {
        let mut request = join(id);
        request.protocols[0].metadata = b"topics and the new one".to_vec();
        request
    };
    // One finds the topic first; each other refreshes its metadata when told to rejoin, so all say the same.
    let mut callers = vec![broker.send(discovered(&ids[17]))];
    for id in ids.iter().filter(|&id| *id != ids[17]) {
        assert_eq!(broker.ask(heartbeat(id, 1)).error(), ErrorCode::RebalanceInProgress);
        callers.push(broker.send(discovered(id)));
    }
    let joins: Vec<JoinGroupResponse> = callers.into_iter().map(|caller| broker.joined(caller)).collect();
    broker.sync_all(&joins);
    // The stragglers' own discovery, later, is no news.
    let leader = broker.group().leader;
    for id in ids.iter().filter(|&id| Some(id) != leader.as_ref()) {
        let late = broker.send(discovered(id));
        assert_eq!(broker.joined(late).generation_id, 2);
    }
    assert_eq!((broker.phase(), broker.group().generation), (GroupPhase::Stable, 2));
}

#[test]
fn case_237_a_group_record_above_the_limit_is_foreseen_told_and_survived() {
    const LIMIT: usize = 1_048_588;
    let mut broker = Broker::new(Config { initial_rebalance_delay_ms: 0, ..Config::default() });
    // 400 members that each name 3,000 topics of 30 bytes.
    let subscription = vec![b'x'; 3_000 * 32];
    let request = |id: &str| {
        let mut request = join(id);
        request.protocols[0].metadata.clone_from(&subscription);
        request
    };
    let ids: Vec<String> = (0..400).map(|_| broker.new_member_id()).collect();
    let callers: Vec<Caller> = ids.iter().map(|id| broker.send(request(id))).collect();
    broker.pass(0);
    let joins: Vec<JoinGroupResponse> = callers.into_iter().map(|caller| broker.joined(caller)).collect();
    // Foreseen: the size is known before the leader has computed anything.
    let estimate = broker.coordinator.group_record(GROUP).unwrap().encoded_len();
    assert!(estimate > 36 * LIMIT);

    // Told: the log refuses the record, and nobody is left without an answer.
    broker.write_error = ErrorCode::MessageTooLarge;
    let callers: Vec<Caller> = joins.iter().map(|one| broker.send(sync(&one.member_id, 1))).collect();
    let codes: Vec<ErrorCode> = callers.into_iter().map(|caller| broker.synced(caller).error).collect();
    let told = codes.iter().filter(|&&code| code == ErrorCode::UnknownServerError).count();
    let again = codes.iter().filter(|&&code| code == ErrorCode::RebalanceInProgress).count();
    assert!(told > 0 && told + again == 400, "{told} {again}");
    assert_eq!(broker.phase(), GroupPhase::PreparingRebalance);

    // Survived: with room for it, the record is written, and a new coordinator loads it whole.
    broker.write_error = ErrorCode::None;
    let callers: Vec<Caller> = ids.iter().map(|id| broker.send(request(id))).collect();
    let joins: Vec<JoinGroupResponse> = callers.into_iter().map(|caller| broker.joined(caller)).collect();
    broker.sync_all(&joins);
    let record = broker.log.last().unwrap();
    assert!(record.encoded_len() > LIMIT);
    let successor = broker.successor(prompt(), 1);
    assert_eq!((successor.phase(), successor.group().members.len()), (GroupPhase::Stable, 400));
}
