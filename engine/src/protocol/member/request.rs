//! Requests on their way, the way to the coordinator, and what to do when an answer never comes.

use super::super::error::{ErrorCode, ProtocolError};
use super::super::message::{CoordinatorKind, FindCoordinatorRequest, Request, Response};
use super::Member;
use super::action::{Action, RequestId};
use super::state::{LeavePhase, State};

/// What is known of the coordinator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Coordinator {
    Unknown { retry_at_ms: u64 },
    Finding(RequestId),
    Known { node_id: i32 },
}

/// Which request an answer belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RequestKind {
    FindCoordinator,
    Join,
    Sync,
    Heartbeat,
    Leave,
    Commit,
}

/// A request on its way, with the membership it was sent with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pending {
    pub(super) kind: RequestKind,
    pub(super) member_id: String,
    pub(super) generation: Option<i32>,
    pub(super) sent_ms: u64,
    pub(super) deadline_ms: u64,
}

impl Member {
    /// An answer has come. One that belongs to no request on its way, or to an earlier generation, changes nothing.
    ///
    /// # Errors
    ///
    /// [`ProtocolError::Unexpected`] if the answer is of another kind than its request; the request stays on its way.
    pub fn handle_response(
        &mut self,
        id: RequestId,
        response: Response,
        now_ms: u64,
    ) -> Result<(), ProtocolError> {
        let Some(pending) = self.pending.remove(&id) else { return Ok(()) };
        match (pending.kind, response) {
            (RequestKind::FindCoordinator, Response::FindCoordinator(answer)) => {
                self.coordinator_found(id, answer.error, answer.node_id, now_ms);
            }
            (RequestKind::Join, Response::JoinGroup(answer)) => self.joined(id, &pending, answer, now_ms),
            (RequestKind::Sync, Response::SyncGroup(answer)) => self.synced(id, &pending, answer, now_ms),
            (RequestKind::Heartbeat, Response::Heartbeat(answer)) => self.beaten(&pending, &answer, now_ms),
            (RequestKind::Leave, Response::LeaveGroup(answer)) => self.left(id, answer.first_error(), now_ms),
            (RequestKind::Commit, Response::OffsetCommit(answer)) => {
                self.committed(id, &pending, &answer, now_ms);
            }
            (_, _) => {
                self.pending.insert(id, pending);
                return Err(self.unexpected("an answer of another kind than its request"));
            }
        }
        self.settle(now_ms);
        Ok(())
    }

    /// The connection broke, or the host gave up: this request will have no answer.
    pub fn handle_disconnect(&mut self, id: RequestId, now_ms: u64) {
        if let Some(pending) = self.pending.remove(&id) {
            self.unanswered(id, &pending, now_ms);
            self.settle(now_ms);
        }
    }

    /// Sends a request under the present membership.
    pub(super) fn send(
        &mut self,
        kind: RequestKind,
        request: Request,
        timeout_ms: u64,
        now_ms: u64,
    ) -> RequestId {
        let id = RequestId(self.next_id());
        let node = match (kind, self.coordinator) {
            (RequestKind::FindCoordinator, _) => None,
            (_, Coordinator::Known { node_id }) => Some(node_id),
            _ => None,
        };
        self.pending.insert(
            id,
            Pending {
                kind,
                member_id: self.member_id.clone(),
                generation: self.generation,
                sent_ms: now_ms,
                deadline_ms: now_ms.saturating_add(timeout_ms),
            },
        );
        self.actions.push_back(Action::Send { id, node, request });
        id
    }

    /// Whether a request was sent under the membership that still holds.
    pub(super) fn is_current(&self, pending: &Pending) -> bool {
        pending.generation == self.generation && pending.member_id == self.member_id
    }

    /// No answer came, or the connection is gone.
    pub(super) fn unanswered(&mut self, id: RequestId, pending: &Pending, now_ms: u64) {
        if pending.kind != RequestKind::FindCoordinator {
            self.forget_coordinator(now_ms);
        }
        match pending.kind {
            RequestKind::FindCoordinator => {
                if self.coordinator == Coordinator::Finding(id) {
                    self.retry_coordinator(now_ms);
                }
            }
            RequestKind::Join => match &self.state {
                State::Joining { request } if *request == id => self.retry_join(now_ms),
                State::Leaving(leaving) if leaving.phase == LeavePhase::AwaitJoin(id) => {
                    self.skip_leave_request(now_ms);
                }
                _ => {}
            },
            RequestKind::Sync => {
                if matches!(&self.state, State::Syncing { request, .. } if *request == id) {
                    self.retry_join(now_ms);
                }
            }
            RequestKind::Heartbeat => self.heartbeat_sent = false,
            RequestKind::Leave => self.left(id, ErrorCode::RequestTimedOut, now_ms),
            RequestKind::Commit => self.commit_unanswered(id, now_ms),
        }
    }

    /// The coordinator is elsewhere, or cannot be reached.
    pub(super) fn forget_coordinator(&mut self, now_ms: u64) {
        if let Coordinator::Known { .. } = self.coordinator {
            self.coordinator = Coordinator::Unknown { retry_at_ms: now_ms };
            self.coordinator_tries = 0;
        }
    }

    fn retry_coordinator(&mut self, now_ms: u64) {
        let wait_ms = self.config.backoff_ms(self.coordinator_tries);
        self.coordinator_tries = self.coordinator_tries.saturating_add(1);
        self.coordinator = Coordinator::Unknown { retry_at_ms: now_ms.saturating_add(wait_ms) };
    }

    fn coordinator_found(&mut self, id: RequestId, error: ErrorCode, node_id: i32, now_ms: u64) {
        if self.coordinator != Coordinator::Finding(id) {
            return;
        }
        match error {
            ErrorCode::None => {
                self.coordinator = Coordinator::Known { node_id };
                self.coordinator_tries = 0;
                if matches!(self.state, State::Discovering) {
                    if self.queue_before_join() {
                        self.state = State::Preparing;
                    } else {
                        self.send_join(now_ms);
                    }
                }
                self.beat_if_due(now_ms);
            }
            ErrorCode::GroupAuthorizationFailed
            | ErrorCode::InvalidGroupId
            | ErrorCode::UnsupportedVersion
            | ErrorCode::InvalidRequest => {
                self.coordinator = Coordinator::Unknown { retry_at_ms: u64::MAX };
                self.stop(ProtocolError::refused("FindCoordinator", error));
            }
            _ => self.retry_coordinator(now_ms),
        }
    }

    /// Asks for the coordinator if somebody waits for it.
    pub(super) fn pump_coordinator(&mut self, now_ms: u64) {
        if let Coordinator::Unknown { retry_at_ms } = self.coordinator
            && retry_at_ms <= now_ms
            && self.wants_coordinator()
        {
            let request =
                FindCoordinatorRequest { key: self.config.group_id.clone(), kind: CoordinatorKind::Group };
            let timeout_ms = self.config.request_timeout_ms;
            let id = self.send(RequestKind::FindCoordinator, request.into(), timeout_ms, now_ms);
            self.coordinator = Coordinator::Finding(id);
        }
    }

    pub(super) fn wants_coordinator(&self) -> bool {
        match &self.state {
            State::Closed | State::Fatal => false,
            State::Discovering => true,
            State::Leaving(leaving) if matches!(leaving.phase, LeavePhase::Request(_)) => true,
            _ => !self.commits.is_empty() || (self.generation.is_some() && self.state.beats()),
        }
    }

    pub(super) fn coordinator_is_known(&self) -> bool {
        matches!(self.coordinator, Coordinator::Known { .. })
    }
}
