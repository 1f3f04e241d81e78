//! The loop's answer to every error code at every request: it goes on, aborts, begins anew, or stops.

use tenure::fence::GroupMetadata;
use tenure::fence::cycle::{Cycle, CycleAction, CycleConfig, CyclePhase, ProducerName, RequestId};
use tenure::protocol::error::ErrorCode;
use tenure::protocol::message::*;

use crate::broker::GROUP;

fn answer(request: &Request, error: ErrorCode) -> Response {
    match request {
        Request::InitProducerId(_) => {
            InitProducerIdResponse { error, producer_id: 7, producer_epoch: 0 }.into()
        }
        Request::AddPartitionsToTxn(_) => AddPartitionsToTxnResponse { error }.into(),
        Request::AddOffsetsToTxn(_) => AddOffsetsToTxnResponse { error }.into(),
        Request::TxnOffsetCommit(request) => {
            Response::TxnOffsetCommit(OffsetCommitResponse::all(&request.offsets, error))
        }
        Request::EndTxn(_) => EndTxnResponse::refused(error).into(),
        _ => FindCoordinatorResponse { error, node_id: 0 }.into(),
    }
}

fn next(cycle: &mut Cycle, now_ms: u64) -> Option<(RequestId, Request)> {
    let metadata = GroupMetadata { generation: 1, member_id: "m".into(), ..GroupMetadata::outsider(GROUP) };
    loop {
        match cycle.poll_action(&metadata, now_ms) {
            Some(CycleAction::Send { id, request, .. }) => return Some((id, request)),
            Some(_) => {}
            None => return None,
        }
    }
}

/// A loop that is about to get the answer to the request of this name.
fn waiting_for(name: &str) -> (Cycle, RequestId, Request) {
    let mut cycle = Cycle::new(CycleConfig::new(ProducerName::TransactionalId("t".into())));
    cycle.start(0).unwrap();
    loop {
        match next(&mut cycle, 0) {
            Some((id, request)) if request.name() == name => return (cycle, id, request),
            Some((id, request)) => cycle.handle_response(id, answer(&request, ErrorCode::None), 0).unwrap(),
            None => match cycle.phase() {
                CyclePhase::Ready => {
                    cycle.begin(0).unwrap();
                    cycle.write(TopicPartition::new("out", 0)).unwrap();
                }
                CyclePhase::Open => {
                    cycle.commit(vec![(TopicPartition::new("in", 0), CommittedOffset::new(1))]).unwrap();
                }
                other => panic!("{name} is never sent, the loop rests in {other:?}"),
            },
        }
    }
}

#[test]
fn every_error_of_every_request_has_its_consequence() {
    use ErrorCode as C;
    for name in ["InitProducerId", "AddPartitionsToTxn", "AddOffsetsToTxn", "TxnOffsetCommit", "EndTxn"] {
        for &code in ErrorCode::ALL.iter().filter(|code| code.is_error()) {
            let (mut cycle, id, request) = waiting_for(name);
            let before = cycle.phase();
            cycle.handle_response(id, answer(&request, code), 0).unwrap();
            let expected = match (name, code) {
                // Again, after a pause; the state is kept.
                (_, code) if code.is_retriable() => before,
                ("InitProducerId", C::IllegalGeneration) => before,
                // Somebody else is at work, or the set-up is wrong.
                ("InitProducerId", _) => CyclePhase::Dead,
                (_, C::ProducerFenced | C::InvalidProducerIdMapping) => CyclePhase::Dead,
                (_, C::TransactionalIdAuthorizationFailed) => CyclePhase::Dead,
                // The broker aborted already, or wants a newer generation: a new epoch.
                (_, C::InvalidProducerEpoch) => CyclePhase::Initialising,
                ("EndTxn", C::InvalidTxnState) => CyclePhase::Initialising,
                ("AddPartitionsToTxn" | "AddOffsetsToTxn" | "EndTxn", C::IllegalGeneration) => {
                    CyclePhase::Initialising
                }
                // Everything else ends the transaction, not the loop.
                _ => CyclePhase::Aborting,
            };
            assert_eq!(cycle.phase(), expected, "{name} answered {code}");
            assert_eq!(next(&mut cycle, 0).is_some(), before != expected && expected != CyclePhase::Dead);
            if code.is_coordinator_move() && code != C::CoordinatorLoadInProgress {
                cycle.handle_timeout(1_000);
                let (_, request) = next(&mut cycle, 1_000).unwrap();
                assert_eq!(request.name(), "FindCoordinator", "{name} answered {code}");
            }
        }
    }
}

#[test]
fn an_answer_of_another_kind_is_an_error_and_an_old_one_is_ignored() {
    let (mut cycle, id, request) = waiting_for("AddOffsetsToTxn");
    let stranger = HeartbeatResponse::default();
    assert!(cycle.handle_response(id, stranger.into(), 0).is_err());
    assert!(cycle.handle_response(RequestId(99), answer(&request, ErrorCode::ProducerFenced), 0).is_ok());
    assert_eq!(cycle.phase(), CyclePhase::Committing);
    cycle.handle_response(id, answer(&request, ErrorCode::None), 0).unwrap();
    assert_eq!(next(&mut cycle, 0).unwrap().1.name(), "TxnOffsetCommit");
}

/// Between the loss of its membership and the callback that tells of it a member has no generation. What it committed
/// then would pass for the commit of a client that is no member, and nobody would fence it.
#[test]
fn a_loop_that_was_a_members_commits_nothing_without_a_membership() {
    let member = GroupMetadata { generation: 1, member_id: "m".into(), ..GroupMetadata::outsider(GROUP) };
    let fixed = GroupMetadata { group_instance_id: Some("i".into()), ..GroupMetadata::outsider(GROUP) };
    for lost in [GroupMetadata::outsider(GROUP), fixed] {
        let (mut cycle, id, request) = waiting_for("AddOffsetsToTxn");
        cycle.handle_response(id, answer(&request, ErrorCode::None), 0).unwrap();
        let Some(CycleAction::Send { id, request, .. }) = cycle.poll_action(&lost, 0) else { panic!() };
        assert!(matches!(request, Request::EndTxn(EndTxnRequest { committed: false, .. })), "{request:?}");
        cycle.handle_response(id, answer(&request, ErrorCode::None), 0).unwrap();
        let reason = ErrorCode::UnknownMemberId;
        assert_eq!(cycle.poll_action(&member, 0), Some(CycleAction::Aborted { reason }));
        assert_eq!(cycle.phase(), CyclePhase::Ready, "the loop lives");
    }
    // A consumer that never was a member assigns its partitions by hand: it has nothing to lose.
    let outsider = GroupMetadata::outsider(GROUP);
    let mut cycle = Cycle::new(CycleConfig::new(ProducerName::TransactionalId("t".into())));
    cycle.start(0).unwrap();
    let mut committed = false;
    for _ in 0..20 {
        match cycle.poll_action(&outsider, 0) {
            Some(CycleAction::Send { id, request, .. }) => {
                committed |= matches!(request, Request::TxnOffsetCommit(_));
                cycle.handle_response(id, answer(&request, ErrorCode::None), 0).unwrap();
            }
            Some(_) => {}
            None if cycle.phase() == CyclePhase::Ready => {
                cycle.begin(0).unwrap();
                cycle.commit(vec![(TopicPartition::new("in", 0), CommittedOffset::new(1))]).unwrap();
            }
            None => break,
        }
    }
    assert!(committed);
}
