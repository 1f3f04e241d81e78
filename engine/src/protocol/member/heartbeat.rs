//! Heartbeats and the session.

use super::super::error::{ErrorCode, ProtocolError};
use super::super::message::{HeartbeatRequest, HeartbeatResponse};
use super::super::selection::RebalanceProtocol;
use super::Member;
use super::request::{Pending, RequestKind};
use super::state::{LeavePhase, RejoinReason, State};

impl Member {
    /// Sends a heartbeat if it is time.
    pub(super) fn beat_if_due(&mut self, now_ms: u64) {
        let Some(generation_id) = self.generation else { return };
        if !self.state.beats()
            || self.heartbeat_sent
            || !self.coordinator_is_known()
            || now_ms < self.heartbeat_at_ms
        {
            return;
        }
        let supported_protocols = self
            .config
            .negotiate_by_heartbeat
            .then(|| self.config.selection.supported().into_iter().map(RebalanceProtocol::id).collect());
        let request = HeartbeatRequest {
            group_id: self.config.group_id.clone(),
            generation_id,
            member_id: self.member_id.clone(),
            group_instance_id: self.config.group_instance_id.clone(),
            supported_protocols,
        };
        let timeout_ms = self.config.request_timeout_ms.min(self.config.session_timeout_ms);
        self.send(RequestKind::Heartbeat, request.into(), timeout_ms, now_ms);
        self.heartbeat_sent = true;
        self.heartbeat_at_ms = now_ms.saturating_add(self.config.heartbeat_interval_ms);
    }

    pub(super) fn beaten(&mut self, pending: &Pending, answer: &HeartbeatResponse, now_ms: u64) {
        if !self.is_current(pending) {
            return; // of an earlier generation
        }
        self.heartbeat_sent = false;
        self.metrics.heartbeat.record(now_ms.saturating_sub(pending.sent_ms), now_ms);
        let leaving = matches!(&self.state, State::Leaving(one) if one.phase == LeavePhase::Callbacks);
        if !self.state.beats() && !leaving {
            return; // JoinGroup is on its way, and its answer says more
        }
        match answer.error {
            ErrorCode::None => self.beat_well(now_ms),
            ErrorCode::RebalanceInProgress => {
                self.beat_well(now_ms);
                self.announce(answer.protocol_to_use);
                if matches!(self.state, State::Stable | State::Completing { .. }) {
                    self.rejoin.get_or_insert(RejoinReason::RebalanceInProgress);
                }
            }
            ErrorCode::UnknownMemberId => self.reset_membership(true, now_ms),
            ErrorCode::IllegalGeneration => self.reset_membership(false, now_ms),
            ErrorCode::CoordinatorNotAvailable | ErrorCode::NotCoordinator => self.forget_coordinator(now_ms),
            ErrorCode::FencedInstanceId
            | ErrorCode::InconsistentGroupProtocol
            | ErrorCode::GroupAuthorizationFailed
                if !leaving =>
            {
                self.stop(ProtocolError::refused("Heartbeat", answer.error));
            }
            // Loading, or something unforeseen: the session timeout is the judge.
            _ => {}
        }
    }

    fn beat_well(&mut self, now_ms: u64) {
        self.session_deadline_ms = now_ms.saturating_add(self.config.session_timeout_ms);
        self.metrics.last_heartbeat_ms = Some(now_ms);
    }

    /// Obeys the protocol that the coordinator announced for the next generation.
    fn announce(&mut self, protocol: Option<u8>) {
        if !self.config.negotiate_by_heartbeat {
            return;
        }
        match protocol.map(RebalanceProtocol::for_id) {
            None => {}
            Some(Ok(protocol)) if self.config.selection.supported().contains(&protocol) => {
                self.announced = Some(protocol);
            }
            Some(Ok(protocol)) => self.stop(ProtocolError::Refused {
                request: "Heartbeat",
                code: ErrorCode::InconsistentGroupProtocol,
                detail: format!("the group goes on with {protocol}, which this member does not support"),
            }),
            Some(Err(error)) => self.stop(error),
        }
    }
}
