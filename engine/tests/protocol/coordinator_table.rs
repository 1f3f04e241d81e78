//! State × event: what each request gets in each phase of a group, and where it leaves the group.

use tenure::protocol::coordinator::{Caller, GroupPhase};
use tenure::protocol::error::ErrorCode;
use tenure::protocol::message::*;

use crate::broker::*;

/// Members of the group: a dynamic leader, a dynamic follower, a static member, and a pending id.
struct Cast {
    broker: Broker,
    leader: String,
    follower: String,
    fixed: String,
    pending: String,
    generation: i32,
}

/// Brings a group to a phase. In PreparingRebalance the leader has rejoined, in CompletingRebalance all have and
/// nobody has synced, in Empty all have left.
fn cast(phase: GroupPhase) -> Cast {
    let mut broker = Broker::prompt();
    let leader = broker.new_member_id();
    let follower = broker.new_member_id();
    let first =
        [broker.send(join(&leader)), broker.send(join(&follower)), broker.send(join_static("i1", ""))];
    broker.pass(0);
    let joins: Vec<_> = first.into_iter().map(|caller| broker.joined(caller)).collect();
    let fixed = joins[2].member_id.clone();
    broker.sync_all(&joins);
    assert_eq!(stable_offset(&mut broker), Ok(None));
    broker.ask(commit(&leader, 1, 5));
    let mut generation = 1;
    match phase {
        GroupPhase::Stable => {}
        GroupPhase::PreparingRebalance => {
            broker.send(join(&leader));
        }
        GroupPhase::CompletingRebalance => {
            for request in [join(&leader), join(&follower), join_static("i1", &fixed)] {
                broker.send(request);
            }
            generation = 2;
        }
        GroupPhase::Empty | GroupPhase::Dead => {
            for id in [&leader, &follower, &fixed] {
                broker.ask(LeaveGroupRequest::single(GROUP, id.clone()));
            }
            generation = 2;
        }
    }
    broker.answers.clear();
    // A pending id holds back the end of a preparation, so it is asked for last.
    let pending = broker.new_member_id();
    if phase == GroupPhase::Dead {
        broker.holds_writes = true;
        broker.coordinator.handle_delete_group(GROUP, broker.now_ms).unwrap();
        broker.settle();
    }
    assert_eq!((broker.phase(), broker.group().generation), (phase, generation));
    Cast { broker, leader, follower, fixed, pending, generation }
}

macro_rules! events {
    ($($event:ident)*) => {
        /// Every kind of request, by what about it is right or wrong.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        enum Event { $($event),* }

        impl Event {
            const ALL: &'static [Self] = &[$(Self::$event),*];
        }
    };
}

events! {
    JoinNew JoinNewOld JoinNewStatic JoinPending JoinLeader
    JoinFollower JoinFollowerChanged JoinUnknown JoinStaticReturns JoinStaticWrongId
    JoinStrangeProtocol JoinStrangeType SyncLeader SyncFollower SyncOldGeneration
    SyncUnknown SyncStrangeProtocol Heartbeat HeartbeatOldGeneration HeartbeatUnknown
    HeartbeatPending HeartbeatFenced Leave LeaveInstance LeavePending
    LeaveUnknown Commit CommitOldGeneration CommitUnknown CommitNobody
    CommitFenced TxnCommit TxnCommitOldGeneration TxnCommitUnknown TxnCommitNobody
    TxnCommitFenced TxnCommitOldEpoch Marker Fetch SessionsEnd
    Resign
}

use Event as E;

/// The table: see its head for what a cell means.
const TABLE: &str = include_str!("coordinator_table.txt");

fn rows() -> impl Iterator<Item = (&'static str, Vec<&'static str>)> {
    let lines = TABLE.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(|line| {
        let mut cells = line.split_whitespace();
        (cells.next().unwrap(), cells.collect())
    })
}

fn request(event: Event, cast: &Cast) -> Option<Request> {
    let Cast { leader, follower, fixed, pending, generation, .. } = cast;
    let generation = *generation;
    let fenced = |member: &str| (Some("i1".to_owned()), member.to_owned());
    Some(match event {
        E::JoinNew => join("").into(),
        E::JoinNewOld => JoinGroupRequest { api_version: 3, ..join("") }.into(),
        E::JoinNewStatic => join_static("i2", "").into(),
        E::JoinPending => join(pending).into(),
        E::JoinLeader => join(leader).into(),
        E::JoinFollower => join(follower).into(),
        E::JoinFollowerChanged => {
            let mut changed = join(follower);
            changed.protocols[0].metadata = b"other topics".to_vec();
            changed.into()
        }
        E::JoinUnknown => join("stranger").into(),
        E::JoinStaticReturns => join_static("i1", "").into(),
        E::JoinStaticWrongId => join_static("i1", "stranger").into(),
        E::JoinStrangeProtocol => {
            JoinGroupRequest { protocols: protocols(&["sticky"]), ..join(follower) }.into()
        }
        E::JoinStrangeType => JoinGroupRequest { protocol_type: "connect".into(), ..join(follower) }.into(),
        E::SyncLeader => SyncGroupRequest {
            assignments: plan([leader.as_str(), follower, fixed].into_iter()),
            ..sync(leader, generation)
        }
        .into(),
        E::SyncFollower => sync(follower, generation).into(),
        E::SyncOldGeneration => sync(follower, generation - 1).into(),
        E::SyncUnknown => sync("stranger", generation).into(),
        E::SyncStrangeProtocol => {
            SyncGroupRequest { protocol_name: Some("sticky".into()), ..sync(follower, generation) }.into()
        }
        E::Heartbeat => heartbeat(follower, generation).into(),
        E::HeartbeatOldGeneration => heartbeat(follower, generation - 1).into(),
        E::HeartbeatUnknown => heartbeat("stranger", generation).into(),
        E::HeartbeatPending => heartbeat(pending, generation).into(),
        E::HeartbeatFenced => {
            let (group_instance_id, member_id) = fenced("stranger");
            HeartbeatRequest { group_instance_id, member_id, ..heartbeat("", generation) }.into()
        }
        E::Leave => LeaveGroupRequest::single(GROUP, follower.clone()).into(),
        E::LeaveInstance => {
            let (group_instance_id, member_id) = fenced("");
            let members = vec![LeavingMember { member_id, group_instance_id, reason: None }];
            LeaveGroupRequest { group_id: GROUP.into(), members }.into()
        }
        E::LeavePending => LeaveGroupRequest::single(GROUP, pending.clone()).into(),
        E::LeaveUnknown => LeaveGroupRequest::single(GROUP, "stranger").into(),
        E::Commit => commit(follower, generation, 7).into(),
        E::CommitOldGeneration => commit(follower, generation - 1, 7).into(),
        E::CommitUnknown => commit("stranger", generation, 7).into(),
        E::CommitNobody => commit("", -1, 7).into(),
        E::CommitFenced => {
            let (group_instance_id, member_id) = fenced("stranger");
            OffsetCommitRequest { group_instance_id, member_id, ..commit("", generation, 7) }.into()
        }
        E::TxnCommit => txn_commit((1, 1), follower, generation, 7).into(),
        E::TxnCommitOldGeneration => txn_commit((1, 1), follower, generation - 1, 7).into(),
        E::TxnCommitUnknown => txn_commit((1, 1), "stranger", generation, 7).into(),
        E::TxnCommitNobody => txn_commit((1, 1), "", -1, 7).into(),
        E::TxnCommitFenced => {
            let (group_instance_id, member_id) = fenced("stranger");
            TxnOffsetCommitRequest { group_instance_id, member_id, ..txn_commit((1, 1), "", generation, 7) }
                .into()
        }
        E::TxnCommitOldEpoch => txn_commit((2, 0), "", -1, 7).into(),
        E::Marker => marker((1, 1), true).into(),
        E::Fetch => fetch_stable().into(),
        E::SessionsEnd | E::Resign => return None,
    })
}

/// Runs an event in a phase: the answer's name, and the group's phase if it is another.
fn outcome(event: Event, phase: GroupPhase) -> String {
    let mut cast = cast(phase);
    if event == E::TxnCommitOldEpoch && phase != GroupPhase::Dead {
        cast.broker.ask(marker((2, 1), false));
    }
    let answer = match request(event, &cast) {
        Some(request) => {
            let caller: Caller = cast.broker.send(request);
            cast.broker.answer(caller).map_or("waits", |answer| answer.error().name())
        }
        None => {
            if event == E::Resign {
                cast.broker.coordinator.handle_resigned(cast.broker.now_ms);
                cast.broker.settle();
            } else {
                cast.broker.pass(10_000);
            }
            "-"
        }
    };
    match cast.broker.coordinator.group(GROUP) {
        None => format!("{answer}>gone"),
        Some(group) if group.phase == phase => answer.to_owned(),
        Some(group) => format!("{answer}>{}", group.phase.name().trim_end_matches("Rebalance")),
    }
}

#[test]
fn every_event_has_its_outcome_in_every_phase() {
    let mut rows = rows();
    let (_, phases) = rows.next().unwrap();
    assert_eq!(phases, GroupPhase::ALL.map(GroupPhase::name));
    let mut wrong = Vec::new();
    for &event in Event::ALL {
        let (name, expected) = rows.next().expect("a row for each event");
        assert_eq!(name, format!("{event:?}"), "the rows follow the events");
        assert_eq!(expected.len(), GroupPhase::ALL.len(), "{name}");
        for (phase, expected) in GroupPhase::ALL.into_iter().zip(expected) {
            let seen = outcome(event, phase);
            if seen != expected {
                wrong.push(format!("{name} in {phase}: expected {expected}, saw {seen}"));
            }
        }
    }
    assert_eq!(rows.next(), None, "no row without an event");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_coordinator_that_is_elsewhere_or_loading_has_one_answer_for_each_request() {
    let cast = cast(GroupPhase::Stable);
    for &event in Event::ALL {
        let Some(request) = request(event, &cast) else { continue };
        let mut elsewhere = Broker::prompt();
        elsewhere.coordinator.handle_resigned(0);
        assert_eq!(elsewhere.ask(request.clone()).error(), ErrorCode::NotCoordinator, "{event:?}");

        let mut loading = Broker::prompt();
        loading.coordinator.handle_elected(1, 0);
        let expected = match request {
            Request::Heartbeat(_) => ErrorCode::None,
            Request::SyncGroup(_) => ErrorCode::RebalanceInProgress,
            _ => ErrorCode::CoordinatorLoadInProgress,
        };
        assert_eq!(loading.ask(request).error(), expected, "{event:?}");
    }
}
