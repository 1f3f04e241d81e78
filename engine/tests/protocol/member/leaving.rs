//! Leaving: closing, unsubscribing, and an application that stalls.

use tenure::protocol::error::ErrorCode;
use tenure::protocol::member::*;
use tenure::protocol::message::*;

use super::COOP;
use crate::host::*;

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
