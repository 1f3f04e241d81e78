//! What each answer means for the loop: go on, try again, abort, begin anew, or stop.

use super::machine::{Cycle, CycleAction, CyclePhase, RequestId, Step};
use crate::fence::transaction::Producer;
use crate::protocol::error::{ErrorCode, ProtocolError};
use crate::protocol::message::{CoordinatorKind, Response};

impl Cycle {
    /// Takes the answer to a request. Answers to requests that were given up are ignored.
    ///
    /// # Errors
    ///
    /// [`ProtocolError::Unexpected`] if it answers another kind of request than was sent; the request is still
    /// under way then.
    pub fn handle_response(
        &mut self,
        id: RequestId,
        response: Response,
        now_ms: u64,
    ) -> Result<(), ProtocolError> {
        let Some(in_flight) = self.take_in_flight(id) else { return Ok(()) };
        let fits = matches!(
            (&in_flight.step, &response),
            (Step::Find(_), Response::FindCoordinator(_))
                | (Step::Init, Response::InitProducerId(_))
                | (Step::AddPartitions(_), Response::AddPartitionsToTxn(_))
                | (Step::AddOffsets, Response::AddOffsetsToTxn(_))
                | (Step::SendOffsets, Response::TxnOffsetCommit(_))
                | (Step::End { .. }, Response::EndTxn(_))
        );
        if !fits {
            self.in_flight = Some(in_flight);
            return Err(ProtocolError::Unexpected {
                state: self.phase.name(),
                event: "an answer of another kind",
            });
        }
        let error = response.error();
        if error.is_none() {
            self.failures = 0;
            self.succeeded(in_flight.step, &response);
        } else {
            self.failed(&in_flight.step, error, now_ms);
        }
        Ok(())
    }

    fn succeeded(&mut self, step: Step, response: &Response) {
        match (step, response) {
            (Step::Find(kind), _) => {
                self.lost_coordinators.remove(&kind);
            }
            (Step::Init, Response::InitProducerId(response)) => {
                self.producer = Producer { id: response.producer_id, epoch: response.producer_epoch };
                self.initialised();
            }
            (Step::AddPartitions(partitions), _) => self.partitions_added(partitions),
            (Step::AddOffsets, _) => self.work.group_added = true,
            (Step::SendOffsets, _) => self.work.offsets_pending = true,
            (Step::End { committed }, Response::EndTxn(response)) => {
                let next = Producer { id: response.producer_id, epoch: response.producer_epoch };
                if next.is_some() {
                    self.producer = next;
                }
                self.ended(committed);
            }
            _ => {}
        }
    }

    fn failed(&mut self, step: &Step, error: ErrorCode, now_ms: u64) {
        if error.is_coordinator_move() && error != ErrorCode::CoordinatorLoadInProgress {
            if let Some(kind) = step.coordinator() {
                self.lost_coordinators.insert(kind);
            }
            self.pause(now_ms);
            return;
        }
        if error.is_retriable() {
            self.pause(now_ms);
            return;
        }
        match (step, error) {
            (Step::Find(_), _) => self.die(error),
            // Draft: the generation went on while we asked; ask again with the one we have by then.
            (Step::Init, ErrorCode::IllegalGeneration) => self.pause(now_ms),
            (Step::Init, _) => self.die(error),
            (_, ErrorCode::ProducerFenced | ErrorCode::InvalidProducerIdMapping) => self.die(error),
            (_, ErrorCode::TransactionalIdAuthorizationFailed) => self.die(error),
            // The transaction is over on the broker's side, whatever it was: take a new epoch, then do it again.
            (_, ErrorCode::InvalidProducerEpoch) | (Step::End { .. }, ErrorCode::InvalidTxnState) => {
                self.begin_anew(error);
            }
            // Draft: the transaction coordinator saw a later generation than this producer was initialised with.
            (Step::AddPartitions(_) | Step::AddOffsets | Step::End { .. }, ErrorCode::IllegalGeneration) => {
                self.begin_anew(error);
            }
            (Step::SendOffsets, ErrorCode::FencedInstanceId) => {
                self.dies = true;
                self.give_up(error);
            }
            // The decision to commit was turned down, so it did not happen.
            (Step::End { committed: true }, _) => {
                self.phase = CyclePhase::Aborting;
                self.reason = error;
            }
            (Step::End { committed: false }, _) => self.begin_anew(error),
            // A zombie's commit, a rebalance, offsets that can't be stored: this transaction is void, the loop lives.
            (Step::AddPartitions(_) | Step::AddOffsets | Step::SendOffsets, _) => self.give_up(error),
        }
    }

    /// The transaction was ended as asked.
    pub(super) fn ended(&mut self, committed: bool) {
        self.phase = CyclePhase::Ready;
        if committed {
            self.events.push_back(CycleAction::Committed);
        } else {
            self.tell_aborted();
        }
        if self.dies {
            self.die(self.reason);
        }
    }

    /// A new epoch was given: at the start, or after the broker aborted the transaction on its own.
    fn initialised(&mut self) {
        self.phase = CyclePhase::Ready;
        if self.reason.is_error() {
            self.tell_aborted();
        } else {
            self.events.push_back(CycleAction::Ready);
        }
    }

    fn begin_anew(&mut self, error: ErrorCode) {
        if self.dies {
            self.tell_aborted();
            self.die(self.reason);
            return;
        }
        // A reason that came first is the one to tell.
        if self.phase != CyclePhase::Aborting || self.reason.is_none() {
            self.reason = error;
        }
        self.phase = CyclePhase::Initialising;
    }

    fn tell_aborted(&mut self) {
        self.events.push_back(CycleAction::Aborted { reason: self.reason });
        if !self.dies {
            self.reason = ErrorCode::None;
        }
    }

    fn die(&mut self, error: ErrorCode) {
        self.phase = CyclePhase::Dead;
        self.reason = error;
        self.in_flight = None;
        self.resumes_ms = None;
        self.events.push_back(CycleAction::Dead { reason: error });
    }

    /// Waits before the next request: twice as long after each failure in a row, up to the limit.
    fn pause(&mut self, now_ms: u64) {
        let factor = 1_u64.checked_shl(self.failures.min(32)).unwrap_or(u64::MAX);
        let pause_ms = self.config.backoff_ms.saturating_mul(factor).min(self.config.backoff_max_ms).max(1);
        self.failures = self.failures.saturating_add(1);
        self.resumes_ms = Some(now_ms.saturating_add(pause_ms));
    }

    /// Which coordinators have to be looked up before they are asked again.
    pub fn lost_coordinators(&self) -> impl Iterator<Item = CoordinatorKind> {
        self.lost_coordinators.iter().copied()
    }
}
