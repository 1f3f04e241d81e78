//! Commits: one after the other, each under the generation that the application sees.
//!
//! A member sends its next commit only when the one before has its answer, so that a later offset is never overtaken
//! by an earlier one. A commit that meets a rebalance is given up at once and never holds anything back.

use super::super::error::{ErrorCode, ProtocolError};
use super::super::message::{CommittedOffset, OffsetCommitRequest, OffsetCommitResponse, TopicPartition};
use super::super::partition_set::PartitionSet;
use super::super::selection::RebalanceProtocol;
use super::action::{Action, CommitError, CommitId, RequestId};
use super::request::{Pending, RequestKind};
use super::state::{RejoinReason, State};
use super::{Member, Mode};

/// The version whose answers are understood here.
const COMMIT_VERSION: i16 = 9;

/// A commit that has no outcome yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Commit {
    id: CommitId,
    offsets: Vec<(TopicPartition, CommittedOffset)>,
    request: Option<RequestId>,
    asked_ms: u64,
    pub(super) deadline_ms: u64,
    pub(super) retry_at_ms: u64,
    tries: u32,
}

impl Commit {
    /// Whether it is on its way.
    pub(super) fn is_sent(&self) -> bool {
        self.request.is_some()
    }

    /// Forgets the request: its answer no longer counts.
    pub(super) fn unsend(&mut self) {
        self.request = None;
    }
}

impl Member {
    /// Commits offsets, in the order of the calls. The outcome comes as [`Action::CommitDone`].
    ///
    /// Inside a revoked callback this is the last chance for its partitions; for lost ones it is refused.
    ///
    /// # Errors
    ///
    /// [`ProtocolError::Unexpected`] if the member is closed or stopped.
    pub fn commit(
        &mut self,
        offsets: Vec<(TopicPartition, CommittedOffset)>,
        now_ms: u64,
    ) -> Result<CommitId, ProtocolError> {
        if matches!(self.state, State::Closed | State::Fatal) {
            return Err(self.unexpected("commit"));
        }
        let id = CommitId(self.next_id());
        self.commits.push_back(Commit {
            id,
            offsets,
            request: None,
            asked_ms: now_ms,
            deadline_ms: now_ms.saturating_add(self.config.commit_timeout_ms),
            retry_at_ms: now_ms,
            tries: 0,
        });
        self.settle(now_ms);
        Ok(id)
    }

    /// The generation to commit under; `None` while a commit can't be sent.
    pub(super) fn commit_generation(&self) -> Option<i32> {
        let settled = self.settled.as_ref()?.generation_id;
        (self.generation == Some(settled) && self.state.commits() && !self.doubted).then_some(settled)
    }

    /// Sends the next commit, or ends those that have no chance.
    pub(super) fn pump_commits(&mut self, now_ms: u64) {
        if self.commit_generation().is_none() {
            let error = if self.generation.is_some() || self.joins() {
                self.overtaken()
            } else {
                CommitError::NotMember
            };
            self.fail_commits(&error);
        }
        loop {
            let Some(first) = self.commits.front() else { return };
            if first.is_sent() {
                return;
            }
            if first.offsets.is_empty() {
                self.end_commit(Ok(()), now_ms);
                continue;
            }
            let Some(generation_id) = self.commit_generation() else { return };
            let refused: PartitionSet = first
                .offsets
                .iter()
                .map(|(one, _)| one)
                .filter(|one| !self.may_commit(one))
                .cloned()
                .collect();
            if !refused.is_empty() {
                self.end_commit(Err(CommitError::NotOwned(refused)), now_ms);
                continue;
            }
            if first.deadline_ms <= now_ms {
                self.end_commit(Err(CommitError::TimedOut), now_ms);
                continue;
            }
            if first.retry_at_ms > now_ms || !self.coordinator_is_known() {
                return;
            }
            let request = OffsetCommitRequest {
                api_version: COMMIT_VERSION,
                group_id: self.config.group_id.clone(),
                generation_id,
                member_id: self.member_id.clone(),
                group_instance_id: self.config.group_instance_id.clone(),
                offsets: first.offsets.clone(),
            };
            let timeout_ms = self.config.request_timeout_ms;
            let id = self.send(RequestKind::Commit, request.into(), timeout_ms, now_ms);
            if let Some(first) = self.commits.front_mut() {
                first.request = Some(id);
            }
        }
    }

    pub(super) fn committed(
        &mut self,
        id: RequestId,
        pending: &Pending,
        answer: &OffsetCommitResponse,
        now_ms: u64,
    ) {
        if self.commits.front().and_then(|first| first.request) != Some(id) {
            return;
        }
        let error = answer.first_error();
        let current = self.is_current(pending) && self.state.commits();
        match error {
            ErrorCode::None => self.end_commit(Ok(()), now_ms),
            ErrorCode::RebalanceInProgress => {
                if current {
                    self.want_rejoin(RejoinReason::RebalanceInProgress);
                }
                self.end_commit(Err(self.overtaken()), now_ms);
            }
            ErrorCode::UnknownMemberId | ErrorCode::IllegalGeneration | ErrorCode::FencedInstanceId
                if !current =>
            {
                self.end_commit(Err(self.overtaken()), now_ms);
            }
            ErrorCode::UnknownMemberId => {
                self.end_commit(Err(CommitError::Refused(error)), now_ms);
                self.reset_membership(true, now_ms);
            }
            ErrorCode::IllegalGeneration => {
                self.end_commit(Err(CommitError::Refused(error)), now_ms);
                match self.config.mode {
                    // The next join tells whether the coordinator still knows the member: if not, all is lost then.
                    Mode::Shipped => {
                        self.doubted = !self.owned.is_empty();
                        self.want_rejoin(RejoinReason::CommitRefused);
                    }
                    Mode::Draft => self.reset_membership(false, now_ms),
                }
            }
            ErrorCode::FencedInstanceId => {
                self.end_commit(Err(CommitError::Refused(error)), now_ms);
                if !matches!(self.state, State::Leaving(_)) {
                    self.stop(ProtocolError::refused("OffsetCommit", error));
                }
            }
            error if error.is_retriable() => {
                if matches!(error, ErrorCode::NotCoordinator | ErrorCode::CoordinatorNotAvailable) {
                    self.forget_coordinator(now_ms);
                }
                self.retry_commit(current, now_ms);
            }
            error => self.end_commit(Err(CommitError::Refused(error)), now_ms),
        }
    }

    pub(super) fn commit_unanswered(&mut self, id: RequestId, now_ms: u64) {
        if self.commits.front().and_then(|first| first.request) == Some(id) {
            self.retry_commit(self.state.commits(), now_ms);
        }
    }

    /// Ends every commit that is not on its way.
    pub(super) fn fail_commits(&mut self, error: &CommitError) {
        let sent = self.commits.iter().take_while(|one| one.is_sent()).count();
        for commit in self.commits.split_off(sent) {
            self.actions.push_back(Action::CommitDone { id: commit.id, result: Err(error.clone()) });
        }
    }

    fn retry_commit(&mut self, current: bool, now_ms: u64) {
        if !current {
            self.end_commit(Err(self.overtaken()), now_ms);
            return;
        }
        let Some(first) = self.commits.front_mut() else { return };
        first.request = None;
        first.retry_at_ms = now_ms.saturating_add(self.config.backoff_ms(first.tries));
        first.tries = first.tries.saturating_add(1);
    }

    fn end_commit(&mut self, result: Result<(), CommitError>, now_ms: u64) {
        if let Some(first) = self.commits.pop_front() {
            self.metrics.commit.record(now_ms.saturating_sub(first.asked_ms), now_ms);
            self.actions.push_back(Action::CommitDone { id: first.id, result });
        }
    }

    /// The group has gone on: in cooperative mode what is still owned may be committed again.
    fn overtaken(&self) -> CommitError {
        CommitError::RebalanceInProgress { retriable: self.protocol == RebalanceProtocol::Cooperative }
    }

    fn want_rejoin(&mut self, reason: RejoinReason) {
        if matches!(self.state, State::Stable | State::Completing { .. }) {
            self.rejoin.get_or_insert(reason);
        }
    }

    /// Whether a join is under way.
    fn joins(&self) -> bool {
        matches!(self.state, State::Joining { .. } | State::BackingOff { .. } | State::Discovering)
    }
}
