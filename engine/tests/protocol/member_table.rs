//! State × event: every pair has an outcome, and it is the one in `member_table.txt`.

use tenure::protocol::error::ErrorCode;
use tenure::protocol::member::*;
use tenure::protocol::message::*;
use tenure::protocol::payload::{MemberAssignment, MemberSubscription};
use tenure::protocol::selection::*;

use crate::host::*;

const COOP: &str = "cooperative-sticky";

const EVENTS: &[&str] = &[
    "subscribe same",
    "subscribe other",
    "subscribe filter",
    "unsubscribe",
    "close",
    "request rejoin",
    "commit",
    "application polled",
    "metadata same",
    "metadata gone",
    "callback ok",
    "callback failed",
    "computed",
    "not computed",
    "timeout",
    "disconnect",
    "FindCoordinator NONE",
    "FindCoordinator COORDINATOR_NOT_AVAILABLE",
    "FindCoordinator GROUP_AUTHORIZATION_FAILED",
    "JoinGroup NONE",
    "JoinGroup leader",
    "JoinGroup MEMBER_ID_REQUIRED",
    "JoinGroup UNKNOWN_MEMBER_ID",
    "JoinGroup ILLEGAL_GENERATION",
    "JoinGroup REBALANCE_IN_PROGRESS",
    "JoinGroup NOT_COORDINATOR",
    "JoinGroup COORDINATOR_LOAD_IN_PROGRESS",
    "JoinGroup FENCED_INSTANCE_ID",
    "JoinGroup INCONSISTENT_GROUP_PROTOCOL",
    "JoinGroup GROUP_MAX_SIZE_REACHED",
    "SyncGroup NONE",
    "SyncGroup REBALANCE_IN_PROGRESS",
    "SyncGroup UNKNOWN_MEMBER_ID",
    "SyncGroup ILLEGAL_GENERATION",
    "SyncGroup NOT_COORDINATOR",
    "SyncGroup FENCED_INSTANCE_ID",
    "Heartbeat NONE",
    "Heartbeat REBALANCE_IN_PROGRESS",
    "Heartbeat UNKNOWN_MEMBER_ID",
    "Heartbeat ILLEGAL_GENERATION",
    "Heartbeat NOT_COORDINATOR",
    "Heartbeat FENCED_INSTANCE_ID",
    "OffsetCommit NONE",
    "OffsetCommit REBALANCE_IN_PROGRESS",
    "OffsetCommit UNKNOWN_MEMBER_ID",
    "OffsetCommit ILLEGAL_GENERATION",
    "OffsetCommit NOT_COORDINATOR",
    "OffsetCommit FENCED_INSTANCE_ID",
    "LeaveGroup NONE",
    "LeaveGroup NOT_COORDINATOR",
];

fn me(join: &JoinGroupRequest, topics: &[&str]) -> Vec<JoinMember> {
    let other = MemberSubscription {
        topics: topics.iter().map(|&topic| topic.to_owned()).collect(),
        ..MemberSubscription::default()
    };
    vec![
        JoinMember {
            member_id: "a".into(),
            metadata: join.protocols[0].metadata.clone(),
            group_instance_id: None,
        },
        JoinMember { member_id: "b".into(), metadata: other.encode(3).unwrap(), group_instance_id: None },
    ]
}

/// A member in this state. Where it was a member before, a heartbeat and a commit of generation 1 are unanswered.
fn bring(state: MemberState) -> Host {
    let mut config = config(&[Assignor::cooperative_sticky(), Assignor::range()]);
    config.max_poll_interval_ms = Some(600_000);
    if state == MemberState::Idle {
        return Host::new(config);
    }
    let owned = set("t1", [0, 1]);
    let mut host = Host::new(config);
    if state == MemberState::Refreshing {
        host.member.subscribe_filter(TopicFilter::new(|topic| topic == "t1"), 0).unwrap();
        host.member.handle_metadata(Metadata::new([("t1", 2)]), 0);
    } else {
        host.member.subscribe(["t1"], 0).unwrap();
        host.member.handle_metadata(Metadata::new([("t1", 2)]), 0);
    }
    host.find();
    let assignor = if state == MemberState::Preparing { "range" } else { COOP };
    host.follow(1, assignor, &owned);
    host.tick(3_000);
    host.member.commit(vec![offset("t1", 0, 5)], 3_000).unwrap();
    host.pump();
    assert_eq!(host.member.state(), MemberState::Stable);
    let rejoin = |host: &mut Host| host.member.request_rejoin("test", 3_000).unwrap();
    let join = |host: &mut Host| {
        rejoin(host);
        host.pump();
        let at = host.sent.iter().position(|(_, one)| one.name() == "JoinGroup").unwrap();
        match host.sent.remove(at).unwrap() {
            (id, Request::JoinGroup(join)) => (id, join),
            _ => unreachable!(),
        }
    };
    match state {
        MemberState::Stable => {}
        MemberState::Preparing => {
            host.auto_callbacks = false;
            rejoin(&mut host);
        }
        MemberState::Refreshing | MemberState::Joining => rejoin(&mut host),
        MemberState::Discovering => {
            let id = host.sent[0].0;
            host.member.handle_disconnect(id, 3_000);
            rejoin(&mut host);
        }
        MemberState::BackingOff => {
            let (id, _) = join(&mut host);
            host.refuse_join(id, ErrorCode::RebalanceInProgress);
        }
        MemberState::FallingBack => {
            host.auto_callbacks = false;
            let (id, _) = join(&mut host);
            host.accept_join(id, 2, "range");
        }
        MemberState::RefreshingLeader | MemberState::Assigning => {
            let (id, request) = join(&mut host);
            let topics: &[&str] = if state == MemberState::Assigning { &["t1"] } else { &["t1", "t9"] };
            host.accept_leader(id, 2, COOP, me(&request, topics));
        }
        MemberState::Syncing | MemberState::Completing => {
            let (id, _) = join(&mut host);
            host.accept_join(id, 2, COOP);
            if state == MemberState::Completing {
                host.auto_callbacks = false;
                let (id, _) = host.sent.pop_back().unwrap();
                host.assign(id, &MemberAssignment::new(set("t1", [0])));
            }
        }
        MemberState::Stalled => {
            host.member.application_polled(3_000);
            host.now_ms = 603_000;
            host.member.handle_timeout(603_000);
        }
        MemberState::Leaving => {
            // The commit's answer comes first: LeaveGroup waits for it.
            let at = host.sent.iter().position(|(_, one)| one.name() == "OffsetCommit").unwrap();
            if let (id, Request::OffsetCommit(commit)) = host.sent.remove(at).unwrap() {
                host.answer(id, commit_answer(&commit, ErrorCode::None));
            }
            host.member.unsubscribe(3_000).unwrap();
        }
        MemberState::Closed => {
            host.member.close(3_000);
            host.pump();
            host.tick(40_000);
        }
        MemberState::Fatal => {
            let (id, _) = join(&mut host);
            host.refuse_join(id, ErrorCode::InconsistentGroupProtocol);
        }
        other => panic!("no way to {other}"),
    }
    host.pump();
    assert_eq!(host.member.state(), state);
    host
}

/// Sends the event; false if the member says it doesn't belong here.
fn fire(host: &mut Host, event: &str) -> bool {
    let now_ms = host.now_ms;
    let (name, rest) = event.split_once(' ').unwrap_or((event, ""));
    if ["FindCoordinator", "JoinGroup", "SyncGroup", "Heartbeat", "OffsetCommit", "LeaveGroup"]
        .contains(&name)
    {
        // The answer to the request on its way; without one, an answer that nobody waits for.
        let at = host.sent.iter().rposition(|(_, one)| one.name() == name);
        let (id, request) = match at.and_then(|at| host.sent.remove(at)) {
            Some((id, request)) => (id, Some(request)),
            None => (RequestId(u64::MAX), None),
        };
        let error = ErrorCode::ALL.iter().copied().find(|code| code.name() == rest).unwrap_or_default();
        let response: Response = match name {
            "FindCoordinator" => FindCoordinatorResponse { error, node_id: 1 }.into(),
            "JoinGroup" => {
                let leads = rest == "leader";
                let members = match &request {
                    Some(Request::JoinGroup(join)) if leads => me(join, &["t1"]),
                    _ => Vec::new(),
                };
                JoinGroupResponse {
                    generation_id: if error.is_none() { 2 } else { -1 },
                    protocol_name: Some(COOP.into()),
                    leader: if leads { "a".into() } else { "b".into() },
                    members,
                    ..JoinGroupResponse::refused(error, "a")
                }
                .into()
            }
            "SyncGroup" => {
                let assignment = MemberAssignment::new(set("t1", [0, 1])).encode(Mode::Shipped, 3).unwrap();
                SyncGroupResponse { error, assignment, ..SyncGroupResponse::default() }.into()
            }
            "Heartbeat" => HeartbeatResponse { error, protocol_to_use: None }.into(),
            "OffsetCommit" => Response::OffsetCommit(OffsetCommitResponse::all(&[offset("t1", 0, 5)], error)),
            _ => LeaveGroupResponse { error, members: Vec::new() }.into(),
        };
        return host.member.handle_response(id, response, now_ms).is_ok();
    }
    match event {
        "subscribe same" => host.member.subscribe(["t1"], now_ms).is_ok(),
        "subscribe other" => host.member.subscribe(["t2"], now_ms).is_ok(),
        "subscribe filter" => {
            host.member.subscribe_filter(TopicFilter::new(|one| one == "t1"), now_ms).is_ok()
        }
        "unsubscribe" => host.member.unsubscribe(now_ms).is_ok(),
        "close" => {
            host.member.close(now_ms);
            true
        }
        "request rejoin" => host.member.request_rejoin("test", now_ms).is_ok(),
        "commit" => host.member.commit(vec![offset("t1", 0, 6)], now_ms).is_ok(),
        "application polled" => {
            host.member.application_polled(now_ms);
            true
        }
        "metadata same" => {
            host.member.handle_metadata(Metadata::new([("t1", 2)]), now_ms);
            true
        }
        "metadata gone" => {
            host.member.handle_metadata(Metadata::new([("t1", 1)]), now_ms);
            true
        }
        "callback ok" => host.member.callback_finished(Ok(()), now_ms).is_ok(),
        "callback failed" => host.member.callback_finished(Err("failed".into()), now_ms).is_ok(),
        "computed" | "not computed" => {
            let id = host.assigns.front().map_or(AssignId(1), |asked| asked.id);
            let outcome = if event == "computed" { Ok(Vec::new()) } else { Err("failed".into()) };
            host.member.assignment_computed(id, outcome, now_ms).is_ok()
        }
        "timeout" => {
            if let Some(at_ms) = host.member.poll_timeout() {
                host.now_ms = at_ms.max(now_ms);
                host.member.handle_timeout(host.now_ms);
            }
            true
        }
        "disconnect" => {
            if let Some((id, _)) = host.sent.pop_back() {
                host.member.handle_disconnect(id, now_ms);
            }
            true
        }
        other => panic!("unknown event {other}"),
    }
}

/// What became of the event: `!` refused and nothing changed; `=` nothing happened; `~` something was done in the
/// same state; else the next state.
fn outcome(state: MemberState, event: &str) -> String {
    let mut host = bring(state);
    host.forget();
    let before = (host.member.state(), host.member.owned().clone(), host.member.generation());
    let accepted = fire(&mut host, event);
    host.pump();
    let after = (host.member.state(), host.member.owned().clone(), host.member.generation());
    if !accepted {
        assert_eq!(before, after, "{state} {event}: refused, but something changed");
        assert!(host.log.is_empty());
        return "!".into();
    }
    if after.0 != before.0 {
        return after.0.name().into();
    }
    if host.log.is_empty() && host.refreshes.is_empty() && before == after { "=".into() } else { "~".into() }
}

#[test]
fn every_state_and_event_has_the_outcome_of_the_table() {
    let mut table = String::from(
        "# For each event, in each state of a member: the next state; ~ something is done, = nothing is;\n\
         # ! refused as not possible. Answers to requests that are not on their way are =.\n\n",
    );
    let width = EVENTS.iter().map(|event| event.len()).max().unwrap() + 2;
    let line = |cells: Vec<String>| {
        let mut cells = cells.into_iter();
        let mut line = format!("{:width$}", cells.next().unwrap());
        cells.for_each(|cell| line.push_str(&format!("{cell:17}")));
        line.trim_end().to_owned() + "\n"
    };
    let states = MemberState::ALL.iter().map(|state| state.name().to_owned());
    table.push_str(&line(core::iter::once("event".to_owned()).chain(states).collect()));
    for event in EVENTS {
        let outcomes = MemberState::ALL.iter().map(|&state| outcome(state, event));
        table.push_str(&line(core::iter::once((*event).to_owned()).chain(outcomes).collect()));
    }
    let expected = include_str!("member_table.txt");
    let path = concat!(env!("CARGO_TARGET_TMPDIR"), "/member_table.txt");
    std::fs::write(path, &table).unwrap();
    for (line, (is, should)) in table.lines().zip(expected.lines()).enumerate() {
        assert_eq!(is, should, "line {}; the whole table as it is now: {path}", line + 1);
    }
    assert_eq!(table.len(), expected.len(), "the whole table as it is now: {path}");
}
