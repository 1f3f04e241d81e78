//! From the wish to rebalance to the answer of JoinGroup.

use super::super::error::{ErrorCode, ProtocolError};
use super::super::message::{JoinGroupRequest, JoinGroupResponse, JoinProtocol};
use super::super::partition_set::PartitionSet;
use super::super::payload::{MemberSubscription, with_blocks};
use super::super::selection::{RebalanceProtocol, UserData};
use super::Member;
use super::action::{Action, CallbackKind, CommitError, Report, RequestId};
use super::request::{Pending, RequestKind};
use super::state::{Joined, LeavePhase, RejoinReason, State};
use crate::codec::StickyFields;
use crate::codec::compact::{CompactFields, Owned, TopicList};

impl Member {
    /// Starts a rebalance if there is a reason; false if there is none.
    pub(super) fn rebalance_if_needed(&mut self, now_ms: u64) -> bool {
        if self.rejoin.is_none() {
            self.rejoin = self.reason_in_metadata();
        }
        if self.lost {
            self.rejoin.get_or_insert(RejoinReason::MembershipReset);
        }
        if self.rejoin.is_none() {
            return false;
        }
        self.start_rebalance(now_ms);
        true
    }

    /// Goes to the callbacks that come before a join.
    pub(super) fn start_rebalance(&mut self, now_ms: u64) {
        self.rebalance_started_ms.get_or_insert(now_ms);
        self.state = State::Preparing;
    }

    /// All is told: joins, after the metadata is fresh and the coordinator known.
    pub(super) fn enter_join(&mut self, now_ms: u64) {
        if self.wanted.as_ref().is_some_and(|wanted| wanted.filter.is_some()) {
            self.refresh_metadata();
            self.state =
                State::Refreshing { retry_at_ms: now_ms.saturating_add(self.config.request_timeout_ms) };
            return;
        }
        if !self.asked_for_all() {
            self.refresh_metadata();
        }
        self.discover_or_join(now_ms);
    }

    pub(super) fn discover_or_join(&mut self, now_ms: u64) {
        if self.coordinator_is_known() {
            self.send_join(now_ms);
        } else {
            self.state = State::Discovering;
        }
    }

    pub(super) fn send_join(&mut self, now_ms: u64) {
        let protocols = match self.join_protocols() {
            Ok(protocols) => protocols,
            Err(error) => {
                self.stop(error);
                return;
            }
        };
        let retriable = self.protocol == RebalanceProtocol::Cooperative;
        self.fail_commits(&CommitError::RebalanceInProgress { retriable });
        self.joined_topics = self.topics().to_vec();
        let reason = self.rejoin.take();
        self.leads = false;
        let request = JoinGroupRequest {
            api_version: self.config.join_version,
            client_id: self.config.client_id.clone(),
            group_id: self.config.group_id.clone(),
            session_timeout_ms: to_i32(self.config.session_timeout_ms),
            rebalance_timeout_ms: to_i32(self.config.rebalance_timeout_ms),
            member_id: self.member_id.clone(),
            group_instance_id: self.config.group_instance_id.clone(),
            protocol_type: "consumer".into(),
            protocols,
            reason: reason.map(|reason| reason.text().to_owned()),
        };
        let timeout_ms = self
            .config
            .request_timeout_ms
            .max(self.config.rebalance_timeout_ms.saturating_add(JOIN_MARGIN_MS));
        let request = self.send(RequestKind::Join, request.into(), timeout_ms, now_ms);
        self.state = State::Joining { request };
    }

    /// Each assignor with its subscription. The claims go to all of them, be it in the subscription's own list or in
    /// compact user data: so that whichever is selected sees what is still held, and an eager leader that can read
    /// claims does when a group falls back.
    fn join_protocols(&self) -> Result<Vec<JoinProtocol>, ProtocolError> {
        let version = self.config.subscription_version;
        let announce = self.config.announce_assignor_version;
        self.config
            .selection
            .assignors()
            .iter()
            .map(|assignor| {
                let user_data = match assignor.user_data() {
                    // Without a generation the same topics and claims are the same bytes.
                    UserData::None if self.insists && version < 2 => Some(INSISTS.to_vec()),
                    UserData::None => None,
                    UserData::Fixed(bytes) => Some(bytes.clone()),
                    UserData::CooperativeSticky => {
                        Some(self.claim_generation.unwrap_or(-1).to_be_bytes().to_vec())
                    }
                    UserData::Sticky => Some(self.sticky_user_data()?),
                    UserData::Compact => Some(self.compact_user_data()?),
                };
                let elsewhere = *assignor.user_data() == UserData::Compact;
                let subscription = MemberSubscription {
                    topics: self.topics().to_vec(),
                    user_data,
                    owned: if elsewhere { PartitionSet::new() } else { self.owned.clone() },
                    generation: self.claim_generation,
                    rack: self.config.rack.clone(),
                };
                Ok(JoinProtocol {
                    name: assignor.name().to_owned(),
                    metadata: subscription.encode(version)?,
                    version: announce.then(|| i32::from(assignor.version())),
                })
            })
            .collect()
    }

    /// Everything that Tenure's own leader wants to know: what is owned, since when, and where the version of the
    /// subscription has no place for it, the rack.
    fn compact_user_data(&self) -> Result<Vec<u8>, ProtocolError> {
        let names: Vec<&str> = self.topics().iter().map(String::as_str).collect();
        let rack = self.config.rack.as_deref().filter(|_| self.config.subscription_version < 3);
        let bytes = TopicList::new(&names).and_then(|topics| {
            with_blocks(&self.owned, |owned| {
                let owned = Owned::Blocks(owned);
                CompactFields {
                    owned,
                    generation: self.claim_generation,
                    rack,
                    ..CompactFields::new(&topics)
                }
                .encode()
            })
        });
        bytes.map_err(|error| ProtocolError::Config {
            setting: "compact user data",
            given: error.to_string(),
            needed: "topic names and partitions that the wire can carry".into(),
        })
    }

    /// What the eager sticky assignor remembers: the last assignment, though it was given back before joining.
    fn sticky_user_data(&self) -> Result<Vec<u8>, ProtocolError> {
        let previous = if self.owned.is_empty() { &self.last_assigned } else { &self.owned };
        let generation = self.settled.as_ref().map(|settled| settled.generation_id);
        with_blocks(previous, |previous| {
            StickyFields { previous, generation: Some(generation.unwrap_or(-1)) }.encode().map_err(|error| {
                ProtocolError::Config {
                    setting: "sticky user data",
                    given: error.to_string(),
                    needed: "topic names that the wire can carry".into(),
                }
            })
        })
    }

    /// Tries again after a back-off: an answer never came, or asks for it.
    pub(super) fn retry_join(&mut self, now_ms: u64) {
        let wait_ms = self.config.backoff_ms(self.join_tries);
        self.join_tries = self.join_tries.saturating_add(1);
        self.rebalance_failed(now_ms);
        self.rejoin.get_or_insert(RejoinReason::Retry);
        self.leads = false;
        self.state = State::BackingOff { until_ms: now_ms.saturating_add(wait_ms) };
    }

    /// Joins again at once, with what is owned.
    pub(super) fn rejoin_now(&mut self, reason: RejoinReason, now_ms: u64) {
        self.rejoin.get_or_insert(reason);
        self.start_rebalance(now_ms);
    }

    /// The membership no longer holds: whatever is owned is lost, and the next join claims nothing.
    pub(super) fn reset_membership(&mut self, forget_id: bool, now_ms: u64) {
        self.generation = None;
        self.settled = None;
        self.claim_generation = None;
        self.leads = false;
        self.watched.clear();
        self.callbacks.clear();
        self.lost = !self.owned.is_empty();
        self.doubted = false;
        self.rejoin = Some(RejoinReason::MembershipReset);
        if forget_id {
            self.member_id.clear();
        }
        self.fail_commits(&CommitError::NotMember);
        if !matches!(self.state, State::Leaving(_) | State::Stalled) {
            self.start_rebalance(now_ms);
        }
    }

    pub(super) fn joined(
        &mut self,
        id: RequestId,
        pending: &Pending,
        answer: JoinGroupResponse,
        now_ms: u64,
    ) {
        if let State::Leaving(leaving) = &self.state {
            let phase = leaving.phase;
            if leaving.join == Some(id) && !answer.member_id.is_empty() {
                self.member_id = answer.member_id;
            }
            if phase == LeavePhase::AwaitJoin(id) {
                self.await_over(now_ms);
            }
            return;
        }
        if !matches!(&self.state, State::Joining { request } if *request == id) {
            return;
        }
        self.metrics.join.record(now_ms.saturating_sub(pending.sent_ms), now_ms);
        match answer.error {
            ErrorCode::None => self.join_accepted(answer, now_ms),
            ErrorCode::MemberIdRequired => {
                self.member_id = answer.member_id;
                self.rejoin_now(RejoinReason::Retry, now_ms);
            }
            ErrorCode::UnknownMemberId => self.reset_membership(true, now_ms),
            ErrorCode::IllegalGeneration => self.reset_membership(false, now_ms),
            error if error.is_coordinator_move() => {
                if error != ErrorCode::CoordinatorLoadInProgress {
                    self.forget_coordinator(now_ms);
                }
                self.retry_join(now_ms);
            }
            error if error.is_retriable() || error == ErrorCode::RebalanceInProgress => {
                self.retry_join(now_ms)
            }
            error => self.stop(ProtocolError::Refused {
                request: "JoinGroup",
                code: error,
                detail: self.refusal_detail(error),
            }),
        }
    }

    /// What this side knows about a refusal.
    fn refusal_detail(&self, error: ErrorCode) -> String {
        let names: Vec<&str> = self.config.selection.assignors().iter().map(|one| one.name()).collect();
        match error {
            ErrorCode::InconsistentGroupProtocol => {
                format!("this member lists {}; other members list none of them", names.join(", "))
            }
            ErrorCode::FencedInstanceId => format!(
                "group.instance.id {} is used by another member",
                self.config.group_instance_id.as_deref().unwrap_or_default()
            ),
            ErrorCode::InvalidSessionTimeout => {
                format!("session.timeout.ms is {}", self.config.session_timeout_ms)
            }
            _ => String::new(),
        }
    }

    fn join_accepted(&mut self, answer: JoinGroupResponse, now_ms: u64) {
        let leads = answer.is_leader();
        let assignor = answer.protocol_name.unwrap_or_default();
        let Some(protocol) = self.config.selection.protocol_of(&assignor) else {
            self.stop(ProtocolError::Refused {
                request: "JoinGroup",
                code: ErrorCode::InconsistentGroupProtocol,
                detail: format!("the coordinator selected {assignor:?}, which this member does not list"),
            });
            return;
        };
        self.member_id = answer.member_id;
        let seen = self.generation.replace(answer.generation_id);
        let missed = seen.is_none_or(|seen| {
            answer.generation_id != seen && Some(answer.generation_id) != seen.checked_add(1)
        });
        self.doubted |= missed && !self.owned.is_empty();
        self.leads = leads;
        self.announced = None;
        self.insists = false;
        self.join_tries = 0;
        self.heartbeat_at_ms = now_ms.saturating_add(self.config.heartbeat_interval_ms);
        self.heartbeat_sent = false;
        self.session_deadline_ms = now_ms.saturating_add(self.config.session_timeout_ms);
        let joined = Joined {
            generation_id: answer.generation_id,
            assignor,
            protocol,
            leads,
            skip_assignment: answer.skip_assignment,
            members: answer.members,
        };
        if protocol == RebalanceProtocol::Eager && !self.owned.is_empty() {
            let assignor = joined.assignor.clone();
            self.report(Report::FellBackToEager { assignor, partitions: self.owned.clone() });
            let kind =
                if core::mem::take(&mut self.doubted) { CallbackKind::Lost } else { CallbackKind::Revoked };
            self.callbacks.push_back((kind, self.owned.clone()));
        }
        // Without a callback to wait for, `settle` goes straight on to SyncGroup.
        self.state = State::FallingBack(joined);
    }

    /// Asks the host for the topics of interest.
    pub(super) fn refresh_metadata(&mut self) {
        let scope = self.topics_of_interest();
        self.asked = Some(scope.clone());
        self.answered = false;
        self.actions.push_back(Action::RefreshMetadata(scope));
    }
}

/// User data that only makes a subscription differ from the one before.
const INSISTS: &[u8] = b"TRJ\x01";

/// A JoinGroup answer may come that much after the rebalance timeout.
const JOIN_MARGIN_MS: u64 = 5_000;

fn to_i32(ms: u64) -> i32 {
    i32::try_from(ms).unwrap_or(i32::MAX)
}
