//! From the answer of JoinGroup to a settled generation: leading, SyncGroup, and the change it brings.

use super::super::error::{ErrorCode, ProtocolError};
use super::super::message::{
    JoinMember, SyncAssignment, SyncGroupRequest, SyncGroupResponse, TopicPartition,
};
use super::super::partition_set::PartitionSet;
use super::super::payload::{MemberAssignment, Snapshot, partitions};
use super::super::selection::{RebalanceProtocol, TENURE_COOPERATIVE_STICKY};
use super::action::{Action, AssignId, AssignRequest, CallbackKind, GroupMetadata, Report, RequestId};
use super::request::{Pending, RequestKind};
use super::state::{Joined, RejoinReason, State};
use super::{Member, Mode};
use crate::codec::{History, Subscription};

impl Member {
    /// The host has computed the assignment that [`Action::Assign`] asked for, or failed to.
    ///
    /// An outcome that came too late (the group has gone on meanwhile) changes nothing.
    ///
    /// # Errors
    ///
    /// [`ProtocolError::Unexpected`] if nothing was ever asked under this id.
    pub fn assignment_computed(
        &mut self,
        id: AssignId,
        outcome: Result<Vec<SyncAssignment>, String>,
        now_ms: u64,
    ) -> Result<(), ProtocolError> {
        if id.0 == 0 || id.0 > self.next_id {
            return Err(self.unexpected("assignment computed"));
        }
        match core::mem::replace(&mut self.state, State::Idle) {
            State::Assigning { joined, id: asked } if asked == id => match outcome {
                Ok(mut assignments) => {
                    self.sign(&mut assignments);
                    self.send_sync(joined, assignments, now_ms);
                }
                Err(message) => {
                    self.report(Report::AssignorFailed(message));
                    self.retry_join(now_ms);
                }
            },
            other => self.state = other,
        }
        self.settle(now_ms);
        Ok(())
    }

    /// Everything that had to be given up is: the leader computes, everybody else asks for the outcome.
    pub(super) fn lead_or_follow(&mut self, mut joined: Joined, now_ms: u64) {
        if !joined.leads {
            self.watched.clear();
            self.send_sync(joined, Vec::new(), now_ms);
            return;
        }
        // The first entry counts if a coordinator lists a member twice.
        let mut seen = std::collections::BTreeSet::new();
        joined.members.retain(|member| seen.insert(member.member_id.clone()));
        self.watch(&joined.assignor, &joined.members);
        if self.asked_for_all() && self.answered {
            self.lead(joined, now_ms);
        } else {
            if !self.asked_for_all() {
                self.refresh_metadata();
            }
            let retry_at_ms = now_ms.saturating_add(self.config.request_timeout_ms);
            self.state = State::RefreshingLeader { joined, retry_at_ms };
        }
    }

    /// Watches the topics of all members; a subscription that can't be read has none.
    fn watch(&mut self, assignor: &str, members: &[JoinMember]) {
        let mut topics: Vec<String> = self.topics().to_vec();
        self.fixed.clear();
        for member in members {
            if let Ok(subscription) = Subscription::decode(&member.metadata) {
                let mut own: Vec<String> =
                    subscription.topics.iter().map(|topic| topic.to_str_lossy().into_owned()).collect();
                if member.group_instance_id.is_some() {
                    own.sort_unstable();
                    own.dedup();
                    let claims = self.claims(assignor, &subscription);
                    self.fixed.insert(member.member_id.clone(), (digest_of_topics(&own), claims));
                }
                topics.append(&mut own);
            }
        }
        topics.sort_unstable();
        topics.dedup();
        self.watched = self.counts(topics);
    }

    /// What a member claims. Of a range that leads beyond its topic one partition stands for all that are not there, so
    /// that a few bytes never make a large set.
    fn claims(&self, assignor: &str, subscription: &Subscription<'_>) -> PartitionSet {
        let mut claims = partitions(subscription.owned);
        if assignor != TENURE_COOPERATIVE_STICKY {
            return claims;
        }
        let compact = History::of(subscription, assignor).compact;
        claims.extend(compact.iter().flat_map(|compact| compact.named_ranges()).flat_map(
            |(topic, range)| {
                let topic = topic.to_str_lossy();
                let count = self.metadata.partitions(&topic).and_then(|count| u32::try_from(count).ok());
                let behind =
                    range.to.saturating_add(1).min(count.unwrap_or(0).max(range.from.saturating_add(1)));
                let numbers = range.from..behind.max(range.from);
                let beyond = (behind <= range.to).then_some(range.to);
                numbers
                    .chain(beyond)
                    .filter_map(|number| i32::try_from(number).ok())
                    .map(move |number| TopicPartition::new(topic.clone(), number))
            },
        ));
        claims
    }

    /// These topics with their counts as known now.
    fn counts(&self, topics: impl IntoIterator<Item = String>) -> Vec<(String, Option<i32>)> {
        topics
            .into_iter()
            .map(|topic| {
                let count = self.metadata.partitions(&topic);
                (topic, count)
            })
            .collect()
    }

    /// The metadata of the whole group is there: computes, unless the coordinator has the assignment already.
    pub(super) fn lead(&mut self, joined: Joined, now_ms: u64) {
        self.refresh_watched();
        if joined.skip_assignment {
            self.send_sync(joined, Vec::new(), now_ms);
        } else {
            self.ask_to_assign(joined);
        }
    }

    fn refresh_watched(&mut self) {
        let topics: Vec<String> =
            core::mem::take(&mut self.watched).into_iter().map(|(topic, _)| topic).collect();
        self.watched = self.counts(topics);
    }

    /// Adds to the assignments of static members what they were computed from, and that another round is due where one
    /// must give something up: if it is away now, it comes back without its claims and sees no reason for one, and what
    /// was withheld for its sake would stay with nobody.
    fn sign(&self, assignments: &mut [SyncAssignment]) {
        let mode = self.config.mode;
        for one in assignments {
            let Some((topics, claims)) = self.fixed.get(&one.member_id) else { continue };
            let Some(version) = one.assignment.first_chunk().map(|bytes| i16::from_be_bytes(*bytes)) else {
                continue;
            };
            let counts = (one.member_id == self.member_id).then(|| digest_of_counts(&self.watched));
            let Ok(mut assignment) = MemberAssignment::decode(mode, &one.assignment) else { continue };
            assignment.need_rejoin |= !claims.minus(&assignment.partitions).is_empty();
            if assignment.sign(Snapshot { topics: *topics, counts })
                && let Ok(bytes) = assignment.encode(mode, version)
            {
                one.assignment = bytes;
            }
        }
    }

    fn ask_to_assign(&mut self, mut joined: Joined) {
        let id = AssignId(self.next_id());
        self.actions.push_back(Action::Assign(AssignRequest {
            id,
            generation_id: joined.generation_id,
            assignor: joined.assignor.clone(),
            protocol: joined.protocol,
            members: core::mem::take(&mut joined.members),
            metadata: self.metadata.clone(),
        }));
        self.state = State::Assigning { joined, id };
    }

    fn send_sync(&mut self, joined: Joined, assignments: Vec<SyncAssignment>, now_ms: u64) {
        let request = SyncGroupRequest {
            group_id: self.config.group_id.clone(),
            generation_id: joined.generation_id,
            member_id: self.member_id.clone(),
            group_instance_id: self.config.group_instance_id.clone(),
            protocol_type: Some("consumer".into()),
            protocol_name: Some(joined.assignor.clone()),
            assignments,
        };
        let timeout_ms = self
            .config
            .request_timeout_ms
            .max(self.config.rebalance_timeout_ms.saturating_add(SYNC_MARGIN_MS));
        let request = self.send(RequestKind::Sync, request.into(), timeout_ms, now_ms);
        self.state = State::Syncing { joined, request };
    }

    pub(super) fn synced(
        &mut self,
        id: RequestId,
        pending: &Pending,
        answer: SyncGroupResponse,
        now_ms: u64,
    ) {
        let joined = match core::mem::replace(&mut self.state, State::Idle) {
            State::Syncing { joined, request } if request == id => joined,
            other => {
                self.state = other;
                return;
            }
        };
        self.metrics.sync.record(now_ms.saturating_sub(pending.sent_ms), now_ms);
        match answer.error {
            ErrorCode::None => self.take_assignment(joined, &answer.assignment, now_ms),
            ErrorCode::RebalanceInProgress => {
                self.rebalance_failed(now_ms);
                self.rejoin_now(RejoinReason::RebalanceInProgress, now_ms);
            }
            ErrorCode::UnknownMemberId => self.reset_membership(true, now_ms),
            ErrorCode::IllegalGeneration => self.reset_membership(false, now_ms),
            error if error.is_coordinator_move() => {
                if error != ErrorCode::CoordinatorLoadInProgress {
                    self.forget_coordinator(now_ms);
                }
                self.retry_join(now_ms);
            }
            error if error.is_retriable() => self.retry_join(now_ms),
            error => self.stop(ProtocolError::refused("SyncGroup", error)),
        }
    }

    /// KIP-429, consumer coordinator algorithm, 3.
    fn take_assignment(&mut self, joined: Joined, bytes: &[u8], now_ms: u64) {
        let assignment = match MemberAssignment::decode(self.config.mode, bytes) {
            Ok(assignment) => assignment,
            Err(error) => {
                self.report(Report::Malformed(error));
                self.retry_join(now_ms);
                return;
            }
        };
        let kept = MemberAssignment { partitions: PartitionSet::new(), ..assignment.clone() };
        let (assigned, strange): (Vec<_>, Vec<_>) =
            assignment.partitions.into_iter().partition(|one| self.wants(&one.topic));
        let assigned: PartitionSet = assigned.into_iter().collect();
        if self.joined_topics != self.topics() {
            // The subscription changed while the group rebalanced: what no longer fits is not taken.
            self.rejoin.get_or_insert(RejoinReason::SubscriptionChanged);
        } else {
            if self.config.group_instance_id.is_some() {
                self.check_kept_assignment(&joined, &kept, !strange.is_empty());
            }
            if !strange.is_empty() {
                self.report(Report::NotSubscribed(strange.into_iter().collect()));
            }
        }
        let added = assigned.minus(&self.owned);
        let revoked = self.owned.minus(&assigned);

        self.settled = Some(GroupMetadata {
            group_id: self.config.group_id.clone(),
            generation_id: joined.generation_id,
            member_id: self.member_id.clone(),
            group_instance_id: self.config.group_instance_id.clone(),
        });
        self.protocol = joined.protocol;
        self.claim_generation = Some(joined.generation_id);
        self.last_assigned = assigned;
        self.gone.clear();
        self.follow_up(&joined, !revoked.is_empty(), assignment.need_rejoin);

        let doubted = core::mem::take(&mut self.doubted);
        let added = (CallbackKind::Assigned, added);
        let revoked = (if doubted { CallbackKind::Lost } else { CallbackKind::Revoked }, revoked);
        match self.config.mode {
            Mode::Shipped => self.callbacks.extend([revoked, added]),
            Mode::Draft => self.callbacks.extend([added, revoked]),
        }
        self.session_deadline_ms = now_ms.saturating_add(self.config.session_timeout_ms);
        self.state = State::Completing { assignor: joined.assignor };
    }

    /// A static member came back and the coordinator kept its assignment: subscription and topics may have changed
    /// meanwhile. Where no leader like this one left word of what it was made from, nobody can tell; then a cooperative
    /// leader, which makes nobody pause for it, makes sure with another round.
    fn check_kept_assignment(&mut self, joined: &Joined, assignment: &MemberAssignment, strange: bool) {
        let snapshot = assignment.snapshot();
        let other_topics =
            strange || snapshot.is_some_and(|one| one.topics != digest_of_topics(&self.joined_topics));
        let other_counts = joined.skip_assignment
            && match snapshot.and_then(|one| one.counts) {
                Some(counts) => counts != digest_of_counts(&self.watched),
                None => joined.protocol == RebalanceProtocol::Cooperative,
            };
        if (other_topics || other_counts) && self.followed_up != Some(joined.generation_id) {
            self.followed_up = Some(joined.generation_id);
            self.insists = true;
            let reason =
                if other_topics { RejoinReason::SubscriptionChanged } else { RejoinReason::MetadataChanged };
            self.rejoin.get_or_insert(reason);
        }
    }

    /// Whether this assignment asks for another round.
    fn follow_up(&mut self, joined: &Joined, revoked: bool, asked: bool) {
        if revoked && joined.protocol == RebalanceProtocol::Cooperative {
            self.rejoin.get_or_insert(RejoinReason::Revoked);
        } else if asked && self.followed_up != Some(joined.generation_id) {
            // A coordinator that answers the next join with the same generation has nothing new to say: ask once.
            self.followed_up = Some(joined.generation_id);
            self.rejoin.get_or_insert(RejoinReason::FollowUp);
        }
    }

    /// This try ended without an assignment; another follows.
    pub(super) fn rebalance_failed(&mut self, now_ms: u64) {
        let started_ms = self.rebalance_started_ms.unwrap_or(now_ms);
        self.metrics.failed_rebalances.record(now_ms.saturating_sub(started_ms), now_ms);
    }

    /// All callbacks ran.
    pub(super) fn complete(&mut self, assignor: String, now_ms: u64) {
        self.flush_callback_error();
        if let Some(started_ms) = self.rebalance_started_ms.take() {
            self.metrics.rebalance.record(now_ms.saturating_sub(started_ms), now_ms);
        }
        self.metrics.last_rebalance_ms = Some(now_ms);
        self.state = State::Stable;
        let generation_id = self.generation.unwrap_or(super::NO_GENERATION);
        let follow_up = self.rejoin.is_some();
        self.report(Report::Settled { generation_id, assignor, follow_up });
    }
}

/// FNV-1a over bytes.
fn digest(bytes: impl Iterator<Item = u8>) -> u64 {
    bytes
        .fold(0xcbf2_9ce4_8422_2325, |digest, byte| (digest ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// A number made of topic names. No name holds the byte that ends each.
fn digest_of_topics(topics: &[String]) -> u64 {
    digest(topics.iter().flat_map(|topic| topic.bytes().chain([0xff])))
}

/// A number made of topic names and their partition counts.
fn digest_of_counts(watched: &[(String, Option<i32>)]) -> u64 {
    digest(
        watched
            .iter()
            .flat_map(|(topic, count)| topic.bytes().chain([0xff]).chain(count.unwrap_or(-1).to_be_bytes())),
    )
}

/// A SyncGroup answer may come that much after the rebalance timeout.
const SYNC_MARGIN_MS: u64 = 5_000;
