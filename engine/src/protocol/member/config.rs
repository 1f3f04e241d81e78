//! A member's settings, checked once.

use super::super::error::ProtocolError;
use super::super::selection::{RebalanceProtocol, Selection};
use crate::revoke::Mode;

/// The settings of a [`Member`](super::Member), with Kafka's names and defaults.
///
/// Units: every `*_ms` is milliseconds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemberConfig {
    /// The group.
    pub group_id: String,
    /// The client's name for the broker's log; new member ids begin with it.
    pub client_id: String,
    /// A static member's name (KIP-345); `None` makes the member dynamic.
    pub group_instance_id: Option<String>,
    /// The rack of the client (KIP-881).
    pub rack: Option<String>,
    /// The assignors in preference order.
    pub selection: Selection,
    /// Which text of KIP-429 is followed where the document and the released software differ.
    ///
    /// [`Mode::Shipped`]: revoked comes before assigned; who revoked something joins again; a commit refused with
    /// ILLEGAL_GENERATION sends the member back to the coordinator with what it holds, and it loses all only if it is
    /// unknown there. [`Mode::Draft`]: assigned comes before revoked; NEED_REJOIN asks for the next join;
    /// ILLEGAL_GENERATION on a commit loses everything at once.
    pub mode: Mode,
    /// The version of the subscription that is written; 1 is the first with claims, 2 the first with generations.
    pub subscription_version: i16,
    /// The version of JoinGroup; see [`JoinGroupRequest`](super::super::message::JoinGroupRequest).
    pub join_version: i16,
    /// After so long without an answered heartbeat the coordinator drops the member.
    pub session_timeout_ms: u64,
    /// So often the member says that it lives.
    pub heartbeat_interval_ms: u64,
    /// So long the coordinator waits for the member when a rebalance starts.
    pub rebalance_timeout_ms: u64,
    /// So long may pass between two signs of life of the application; `None` leaves that to the host.
    pub max_poll_interval_ms: Option<u64>,
    /// So long the member waits for an answer. JoinGroup waits for the rebalance timeout and a margin.
    pub request_timeout_ms: u64,
    /// The first wait before something is tried again; doubles each time.
    pub retry_backoff_ms: u64,
    /// The longest such wait.
    pub retry_backoff_max_ms: u64,
    /// So long a commit is tried before it fails.
    pub commit_timeout_ms: u64,
    /// So long leaving may take, callbacks included.
    pub close_timeout_ms: u64,
    /// *Outlook of KIP-429*: sends each assignor's version with JoinGroup, so that the newest can be made leader.
    pub announce_assignor_version: bool,
    /// *Outlook of KIP-429*: sends the supported protocols with heartbeats and obeys the one that comes back.
    pub negotiate_by_heartbeat: bool,
}

impl MemberConfig {
    /// Kafka's defaults for a group and a list of assignors.
    pub fn new(group_id: impl Into<String>, selection: Selection) -> Self {
        Self {
            group_id: group_id.into(),
            client_id: "consumer".into(),
            group_instance_id: None,
            rack: None,
            selection,
            mode: Mode::Shipped,
            subscription_version: 3,
            join_version: 9,
            session_timeout_ms: 45_000,
            heartbeat_interval_ms: 3_000,
            rebalance_timeout_ms: 300_000,
            max_poll_interval_ms: None,
            request_timeout_ms: 30_000,
            retry_backoff_ms: 100,
            retry_backoff_max_ms: 1_000,
            commit_timeout_ms: 60_000,
            close_timeout_ms: 30_000,
            announce_assignor_version: false,
            negotiate_by_heartbeat: false,
        }
    }

    /// Makes the member static.
    #[must_use]
    pub fn with_instance_id(mut self, instance_id: impl Into<String>) -> Self {
        self.group_instance_id = Some(instance_id.into());
        self
    }

    /// Sets which text of KIP-429 is followed.
    #[must_use]
    pub fn with_mode(mut self, mode: Mode) -> Self {
        self.mode = mode;
        self
    }

    /// Checks the settings against each other.
    ///
    /// # Errors
    ///
    /// [`ProtocolError::Config`], naming the setting, what it was and what it needs.
    pub fn check(&self) -> Result<(), ProtocolError> {
        let refuse = |setting, given: String, needed: &str| {
            Err(ProtocolError::Config { setting, given, needed: needed.into() })
        };
        if self.group_id.is_empty() {
            return refuse("group.id", "empty".into(), "a name");
        }
        if self.group_instance_id.as_deref() == Some("") {
            return refuse("group.instance.id", "empty".into(), "a name, or to be left out");
        }
        if self.heartbeat_interval_ms == 0 || self.heartbeat_interval_ms >= self.session_timeout_ms {
            return refuse(
                "heartbeat.interval.ms",
                self.heartbeat_interval_ms.to_string(),
                "more than 0 and less than session.timeout.ms; a third of it is usual",
            );
        }
        for (setting, given) in [
            ("session.timeout.ms", self.session_timeout_ms),
            ("rebalance timeout (max.poll.interval.ms)", self.rebalance_timeout_ms),
        ] {
            if i32::try_from(given).is_err() {
                return refuse(setting, given.to_string(), "to fit into 31 bits");
            }
        }
        if self.request_timeout_ms == 0 {
            return refuse("request.timeout.ms", "0".into(), "more than 0");
        }
        if self.retry_backoff_ms == 0 || self.retry_backoff_max_ms < self.retry_backoff_ms {
            return refuse(
                "retry.backoff.ms",
                self.retry_backoff_ms.to_string(),
                "more than 0 and at most retry.backoff.max.ms",
            );
        }
        let cooperative = self
            .selection
            .assignors()
            .iter()
            .any(|one| self.selection.protocol_of(one.name()) == Some(RebalanceProtocol::Cooperative));
        if !(0..=3).contains(&self.subscription_version) {
            return refuse("subscription version", self.subscription_version.to_string(), "0 to 3");
        }
        if cooperative && self.subscription_version < 1 {
            return refuse(
                "subscription version",
                self.subscription_version.to_string(),
                "at least 1 with a cooperative assignor: without claims the leader would give away what is still owned",
            );
        }
        Ok(())
    }

    /// The wait before try number `attempt`, counted from 0.
    pub(super) fn backoff_ms(&self, attempt: u32) -> u64 {
        let factor = 1_u64.checked_shl(attempt.min(20)).unwrap_or(u64::MAX);
        self.retry_backoff_ms.saturating_mul(factor).min(self.retry_backoff_max_ms)
    }
}
