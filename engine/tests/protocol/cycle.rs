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
