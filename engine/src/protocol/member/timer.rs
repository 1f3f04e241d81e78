//! Deadlines.

use super::Member;
use super::action::Report;
use super::request::Coordinator;
use super::state::{RejoinReason, State};

impl Member {
    /// When to call [`handle_timeout`](Self::handle_timeout) if nothing else happens before.
    pub fn poll_timeout(&self) -> Option<u64> {
        let mut earliest: Option<u64> = None;
        let mut at = |deadline_ms: u64| {
            earliest = Some(earliest.map_or(deadline_ms, |before| before.min(deadline_ms)));
        };
        self.pending.values().for_each(|one| at(one.deadline_ms));
        if self.beats() {
            if self.coordinator_is_known() && !self.heartbeat_sent {
                at(self.heartbeat_at_ms);
            }
            at(self.session_deadline_ms);
        }
        match &self.state {
            State::BackingOff { until_ms } => at(*until_ms),
            State::Refreshing { retry_at_ms } | State::RefreshingLeader { retry_at_ms, .. } => {
                at(*retry_at_ms)
            }
            State::Leaving(leaving) => at(leaving.deadline_ms),
            _ => {}
        }
        if let Coordinator::Unknown { retry_at_ms } = self.coordinator
            && retry_at_ms != u64::MAX
            && self.wants_coordinator()
        {
            at(retry_at_ms);
        }
        if let Some(first) = self.commits.front()
            && !first.is_sent()
        {
            at(first.deadline_ms);
            if self.coordinator_is_known() {
                at(first.retry_at_ms);
            }
        }
        if let Some(deadline_ms) = self.poll_deadline_ms
            && self.watches_application()
        {
            at(deadline_ms);
        }
        earliest
    }

    /// The time that [`poll_timeout`](Self::poll_timeout) named, or a later one, has come.
    pub fn handle_timeout(&mut self, now_ms: u64) {
        let due: Vec<_> =
            self.pending.iter().filter(|(_, one)| one.deadline_ms <= now_ms).map(|(&id, _)| id).collect();
        for id in due {
            if let Some(pending) = self.pending.remove(&id) {
                self.unanswered(id, &pending, now_ms);
            }
        }
        match core::mem::replace(&mut self.state, State::Idle) {
            State::BackingOff { until_ms } if until_ms <= now_ms => self.start_rebalance(now_ms),
            State::Refreshing { retry_at_ms } if retry_at_ms <= now_ms => {
                self.refresh_metadata();
                let retry_at_ms = now_ms.saturating_add(self.config.request_timeout_ms);
                self.state = State::Refreshing { retry_at_ms };
            }
            State::RefreshingLeader { joined, retry_at_ms } if retry_at_ms <= now_ms => {
                self.refresh_metadata();
                let retry_at_ms = now_ms.saturating_add(self.config.request_timeout_ms);
                self.state = State::RefreshingLeader { joined, retry_at_ms };
            }
            State::Leaving(leaving) if leaving.deadline_ms <= now_ms => {
                self.state = State::Leaving(leaving);
                self.leave_over(true, now_ms);
            }
            other => self.state = other,
        }
        if self.beats() && self.session_deadline_ms <= now_ms {
            // No heartbeat got through for a whole session: the coordinator may be elsewhere.
            self.session_deadline_ms = now_ms.saturating_add(self.config.session_timeout_ms);
            self.forget_coordinator(now_ms);
        }
        if self.watches_application() && self.poll_deadline_ms.is_some_and(|deadline| deadline <= now_ms) {
            self.stall(now_ms);
        }
        self.beat_if_due(now_ms);
        self.settle(now_ms);
    }

    /// The application lives: it polls, or has ended a callback. Starts the watch if
    /// [`max_poll_interval_ms`](super::MemberConfig::max_poll_interval_ms) is set; brings a stalled member back.
    pub fn application_polled(&mut self, now_ms: u64) {
        self.application_alive(now_ms);
        if matches!(self.state, State::Stalled) && self.running.is_none() {
            self.rejoin.get_or_insert(RejoinReason::MembershipReset);
            self.start_rebalance(now_ms);
        }
        self.settle(now_ms);
    }

    pub(super) fn application_alive(&mut self, now_ms: u64) {
        if let Some(interval_ms) = self.config.max_poll_interval_ms {
            self.poll_deadline_ms = Some(now_ms.saturating_add(interval_ms));
        }
    }

    /// The application gave no sign of life: gives the group its partitions back by leaving it. What it still
    /// believes to own is told as lost when it comes back.
    fn stall(&mut self, now_ms: u64) {
        self.report(Report::ApplicationStalled);
        if self.config.group_instance_id.is_none()
            && !self.member_id.is_empty()
            && self.coordinator_is_known()
        {
            self.send_leave("the application stalled", now_ms);
        }
        let dynamic = self.config.group_instance_id.is_none();
        self.state = State::Stalled;
        self.reset_membership(dynamic, now_ms);
    }

    fn beats(&self) -> bool {
        self.generation.is_some() && self.state.beats()
    }

    fn watches_application(&self) -> bool {
        !matches!(self.state, State::Idle | State::Stalled | State::Leaving(_) | State::Closed | State::Fatal)
    }
}
