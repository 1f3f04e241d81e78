//! Unsubscribing and closing: callbacks first, then the last commits, then LeaveGroup.
//!
//! A static member sends no LeaveGroup and keeps its member id, so that a later join is the same member's.

use super::super::error::{ErrorCode, ProtocolError};
use super::super::message::{LeaveGroupRequest, LeavingMember};
use super::Member;
use super::action::{CallbackKind, CommitError, Report, RequestId};
use super::request::{Coordinator, RequestKind};
use super::state::{AfterLeave, LeavePhase, Leaving, RejoinReason, State};

impl Member {
    /// Ends the subscription: everything owned is revoked (lost, if the membership was reset before), then the
    /// member leaves the group at once.
    ///
    /// # Errors
    ///
    /// [`ProtocolError::Unexpected`] if the member is closed, closing or stopped.
    pub fn unsubscribe(&mut self, now_ms: u64) -> Result<(), ProtocolError> {
        match &self.state {
            State::Closed | State::Fatal => return Err(self.unexpected("unsubscribe")),
            State::Leaving(leaving) if leaving.after == AfterLeave::Closed => {
                return Err(self.unexpected("unsubscribe"));
            }
            State::Leaving(_) | State::Idle => self.wanted = None,
            _ => {
                self.wanted = None;
                self.leave(AfterLeave::Idle, now_ms);
            }
        }
        self.settle(now_ms);
        Ok(())
    }

    /// Closes the member: as [`unsubscribe`](Self::unsubscribe), and for good. An assignment that comes now is
    /// turned down. Closing twice is closing once.
    pub fn close(&mut self, now_ms: u64) {
        self.wanted = None;
        match &mut self.state {
            State::Closed => {}
            State::Fatal | State::Idle => self.closed(false),
            State::Leaving(leaving) => leaving.after = AfterLeave::Closed,
            _ => self.leave(AfterLeave::Closed, now_ms),
        }
        self.settle(now_ms);
    }

    fn leave(&mut self, after: AfterLeave, now_ms: u64) {
        let join = match &self.state {
            State::Joining { request } if self.member_id.is_empty() => Some(*request),
            _ => None,
        };
        // What was announced but not yet told is never told; what was to be revoked is still owned.
        self.callbacks.clear();
        self.rejoin = None;
        let deadline_ms = now_ms.saturating_add(self.config.close_timeout_ms);
        self.state = State::Leaving(Leaving { phase: LeavePhase::Callbacks, after, deadline_ms, join });
    }

    /// One step further; false when something has to be waited for.
    pub(super) fn go_on_leaving(&mut self, mut leaving: Leaving, now_ms: u64) -> bool {
        match leaving.phase {
            LeavePhase::Callbacks => {
                if !self.owned.is_empty() {
                    let kind = if self.lost || self.doubted || !self.holds_generation() {
                        CallbackKind::Lost
                    } else {
                        CallbackKind::Revoked
                    };
                    self.callbacks.push_back((kind, self.owned.clone()));
                } else {
                    self.flush_callback_error();
                    leaving.phase = LeavePhase::Commits;
                }
                self.state = State::Leaving(leaving);
                true
            }
            LeavePhase::Commits => {
                self.state = State::Leaving(leaving.clone());
                self.pump_commits(now_ms);
                if !self.commits.is_empty() {
                    return false;
                }
                let waits = leaving.join.filter(|id| self.pending.contains_key(id));
                leaving.phase = match waits {
                    Some(id) if self.member_id.is_empty() => LeavePhase::AwaitJoin(id),
                    _ => LeavePhase::Request(None),
                };
                self.state = State::Leaving(leaving);
                true
            }
            LeavePhase::AwaitJoin(_) | LeavePhase::Request(Some(_)) => {
                self.state = State::Leaving(leaving);
                false
            }
            LeavePhase::Request(None) => {
                if self.member_id.is_empty() || self.config.group_instance_id.is_some() {
                    self.state = State::Leaving(leaving);
                    self.leave_over(false, now_ms);
                    return true;
                }
                if !self.coordinator_is_known() {
                    self.state = State::Leaving(leaving);
                    return false;
                }
                leaving.phase = LeavePhase::Request(Some(self.send_leave("the consumer leaves", now_ms)));
                self.state = State::Leaving(leaving);
                false
            }
        }
    }

    pub(super) fn send_leave(&mut self, reason: &str, now_ms: u64) -> RequestId {
        let request = LeaveGroupRequest {
            group_id: self.config.group_id.clone(),
            members: vec![LeavingMember {
                member_id: self.member_id.clone(),
                group_instance_id: self.config.group_instance_id.clone(),
                reason: Some(reason.to_owned()),
            }],
        };
        let timeout_ms = self.config.request_timeout_ms;
        self.send(RequestKind::Leave, request.into(), timeout_ms, now_ms)
    }

    /// LeaveGroup was answered, or never will be: the coordinator's session timeout does the rest.
    pub(super) fn left(&mut self, id: RequestId, error: ErrorCode, now_ms: u64) {
        let State::Leaving(leaving) = &mut self.state else { return };
        if leaving.phase != LeavePhase::Request(Some(id)) {
            return;
        }
        match error {
            ErrorCode::NotCoordinator | ErrorCode::CoordinatorNotAvailable => {
                leaving.phase = LeavePhase::Request(None);
                self.forget_coordinator(now_ms);
            }
            _ => self.leave_over(false, now_ms),
        }
    }

    /// The answer to the first join is there: now there is an id to leave with, or there is nothing to leave.
    pub(super) fn await_over(&mut self, now_ms: u64) {
        let _ = now_ms;
        if let State::Leaving(leaving) = &mut self.state {
            leaving.phase = LeavePhase::Request(None);
        }
    }

    /// The first join has no answer: there is no id to leave with.
    pub(super) fn skip_leave_request(&mut self, now_ms: u64) {
        self.leave_over(false, now_ms);
    }

    /// Ends the leaving, done or not.
    pub(super) fn leave_over(&mut self, timed_out: bool, now_ms: u64) {
        let State::Leaving(leaving) = &self.state else { return };
        let after = leaving.after;
        self.generation = None;
        self.settled = None;
        self.claim_generation = None;
        self.leads = false;
        self.watched.clear();
        self.pending.clear();
        if let Coordinator::Finding(_) = self.coordinator {
            self.coordinator = Coordinator::Unknown { retry_at_ms: now_ms };
        }
        self.heartbeat_sent = false;
        self.rebalance_started_ms = None;
        self.rejoin = None;
        self.doubted = false;
        if self.config.group_instance_id.is_none() {
            self.member_id.clear();
        }
        for commit in self.commits.iter_mut() {
            commit.unsend();
        }
        self.fail_commits(&CommitError::NotMember);
        if timed_out {
            self.callbacks.clear();
            self.lost = !self.owned.is_empty();
        }
        match after {
            AfterLeave::Closed => self.closed(timed_out),
            AfterLeave::Idle => {
                self.report(Report::Unsubscribed);
                self.state = State::Idle;
                if self.wanted.is_some() {
                    self.rejoin = Some(RejoinReason::FirstJoin);
                    self.start_rebalance(now_ms);
                }
            }
        }
    }

    fn closed(&mut self, timed_out: bool) {
        self.pending.clear();
        self.state = State::Closed;
        self.report(Report::Closed { timed_out });
    }

    fn holds_generation(&self) -> bool {
        self.generation.is_some() && self.settled.is_some()
    }
}
