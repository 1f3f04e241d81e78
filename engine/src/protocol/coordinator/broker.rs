//! The door: requests, acknowledgements and time come in, actions go out.

use std::collections::BTreeMap;

use super::action::{Action, AppendId, Context, Continuation, Desk};
use super::config::Config;
use super::group::Group;
use super::offsets::InFlight;
use super::record::Record;
use super::roster::millis;
use crate::fence::{
    Blocker, CommitIdentity, GroupPhase, MarkerVerdict, ProducerFence, Rules, admit_commit,
    admit_transactional_commit,
};
use crate::protocol::error::ErrorCode;
use crate::protocol::message::{
    Caller, CommittedOffset, HeartbeatRequest, HeartbeatResponse, JoinGroupRequest, JoinGroupResponse,
    LeaveGroupRequest, LeaveGroupResponse, LeftMember, OffsetCommitRequest, OffsetCommitResponse,
    OffsetFetchRequest, OffsetFetchResponse, Request, Response, SyncGroupRequest, SyncGroupResponse,
    TopicPartition, TxnMarkerRequest, TxnMarkerResponse, TxnOffsetCommitRequest,
};
use crate::protocol::selection::{NoCommonProtocol, check_roll_out};

/// Whether this broker leads the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Tenancy {
    #[default]
    Elsewhere,
    Loading,
    Here,
}

/// A group as it is now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupDescription {
    /// Where it stands.
    pub phase: GroupPhase,
    /// Its generation.
    pub generation: i32,
    /// The selected assignor.
    pub protocol: Option<String>,
    /// The leader's member id.
    pub leader: Option<String>,
    /// The members, sorted by id.
    pub members: Vec<MemberDescription>,
    /// Ids given to members that have yet to join with them.
    pub pending_members: Vec<String>,
}

/// A member as it is now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemberDescription {
    /// Its id.
    pub member_id: String,
    /// Its static name.
    pub group_instance_id: Option<String>,
    /// Its assignment in the present generation; empty before there is one.
    pub assignment: Vec<u8>,
}

/// The coordinator of all groups of one log.
///
/// Polling order: call one `handle_*`, then [`poll_action`](Self::poll_action) until it gives `None`, then
/// [`poll_timeout`](Self::poll_timeout); call [`handle_timeout`](Self::handle_timeout) when that moment has come.
/// Every [`Action::Append`] is to be acknowledged by [`handle_append`](Self::handle_append), in the order given;
/// writes still open when the log moves away need no acknowledgement. Time must not run backwards.
///
/// It begins without the log: [`handle_elected`](Self::handle_elected), [`handle_records`](Self::handle_records)
/// for each batch, [`handle_loaded`](Self::handle_loaded); [`Coordinator::new_empty`] does all three.
///
/// # Examples
///
/// ```
/// use tenure::protocol::coordinator::{Action, Caller, Config, Coordinator, GroupPhase};
/// use tenure::protocol::message::{JoinGroupRequest, JoinProtocol, Response};
///
/// let config = Config { initial_rebalance_delay_ms: 100, ..Config::default() };
/// let mut coordinator = Coordinator::new_empty(config);
/// let join = JoinGroupRequest {
///     api_version: 3,
///     client_id: "c".into(),
///     group_id: "g".into(),
///     protocols: vec![JoinProtocol { name: "range".into(), ..JoinProtocol::default() }],
///     ..JoinGroupRequest::default()
/// };
/// coordinator.handle_request(join.into(), Caller(1), 0);
/// assert_eq!(coordinator.poll_action(), None); // others may come
/// assert_eq!(coordinator.poll_timeout(), Some(100));
///
/// coordinator.handle_timeout(100);
/// let Some(Action::Answer { to: Caller(1), response: Response::JoinGroup(joined) }) = coordinator.poll_action()
/// else { panic!() };
/// assert_eq!(joined.generation_id, 1);
/// assert!(joined.is_leader());
/// assert_eq!(coordinator.group("g").unwrap().phase, GroupPhase::CompletingRebalance);
/// ```
#[derive(Debug)]
pub struct Coordinator {
    pub(super) config: Config,
    pub(super) tenancy: Tenancy,
    pub(super) groups: BTreeMap<String, Group>,
    pub(super) producers: ProducerFence,
    pub(super) desk: Desk,
}

impl Coordinator {
    /// A coordinator that has no log yet.
    pub fn new(config: Config) -> Self {
        Self {
            config,
            tenancy: Tenancy::Elsewhere,
            groups: BTreeMap::new(),
            producers: ProducerFence::new(),
            desk: Desk::default(),
        }
    }

    /// A coordinator of an empty log, ready for requests.
    pub fn new_empty(config: Config) -> Self {
        let mut coordinator = Self::new(config);
        coordinator.handle_elected(0, 0);
        coordinator.handle_loaded(0);
        coordinator
    }

    /// Handles a request of any kind that a group's coordinator answers. One that is not for it is answered
    /// with INVALID_REQUEST where its answer has room for that, and is ignored otherwise.
    pub fn handle_request(&mut self, request: Request, from: Caller, now_ms: u64) {
        match request {
            Request::JoinGroup(request) => self.handle_join_group(request, from, now_ms),
            Request::SyncGroup(request) => self.handle_sync_group(request, from, now_ms),
            Request::Heartbeat(request) => self.handle_heartbeat(&request, from, now_ms),
            Request::LeaveGroup(request) => self.handle_leave_group(request, from, now_ms),
            Request::OffsetCommit(request) => self.handle_offset_commit(request, from, now_ms),
            Request::OffsetFetch(request) => self.handle_offset_fetch(&request, from, now_ms),
            Request::TxnOffsetCommit(request) => self.handle_txn_offset_commit(request, from, now_ms),
            Request::TxnMarker(request) => self.handle_txn_marker(&request, from, now_ms),
            Request::InitProducerId(_)
            | Request::AddPartitionsToTxn(_)
            | Request::AddOffsetsToTxn(_)
            | Request::EndTxn(_)
            | Request::FindCoordinator(_) => {
                let response = refuse_stranger(&request);
                self.context(now_ms).answer(from, response);
            }
        }
    }

    /// A member asks to be part of the next generation.
    pub fn handle_join_group(&mut self, request: JoinGroupRequest, from: Caller, now_ms: u64) {
        let timeouts = self.config.session_timeout_min_ms..=self.config.session_timeout_max_ms;
        let refusal = if let Err(error) = self.admit_group(&request.group_id) {
            Some(error)
        } else if !timeouts.contains(&request.session_timeout_ms) {
            Some(ErrorCode::InvalidSessionTimeout)
        } else if !request.member_id.is_empty() && !self.groups.contains_key(&request.group_id) {
            Some(ErrorCode::UnknownMemberId)
        } else {
            None
        };
        if let Some(error) = refusal {
            let response = JoinGroupResponse::refused(error, request.member_id);
            self.context(now_ms).answer(from, response);
            return;
        }
        let (group, mut context) = self.group_entry(&request.group_id, now_ms);
        group.join(&mut context, &request, from);
    }

    /// A member asks for its assignment; the leader brings all.
    pub fn handle_sync_group(&mut self, request: SyncGroupRequest, from: Caller, now_ms: u64) {
        let refusal = match self.admit_group(&request.group_id) {
            // The leader's assignment is lost with the old broker: nothing but a new rebalance helps.
            Err(ErrorCode::CoordinatorLoadInProgress) => Some(ErrorCode::RebalanceInProgress),
            Err(error) => Some(error),
            Ok(()) if !self.groups.contains_key(&request.group_id) => Some(ErrorCode::UnknownMemberId),
            Ok(()) => None,
        };
        if let Some(error) = refusal {
            self.context(now_ms).answer(from, SyncGroupResponse::refused(error));
            return;
        }
        let (group, mut context) = self.group_entry(&request.group_id, now_ms);
        group.sync(&mut context, request, from);
    }

    /// A member says that it lives. While the log is read any heartbeat is welcome.
    pub fn handle_heartbeat(&mut self, request: &HeartbeatRequest, from: Caller, now_ms: u64) {
        let response = match self.admit_group(&request.group_id) {
            Err(ErrorCode::CoordinatorLoadInProgress) => HeartbeatResponse::default(),
            Err(error) => HeartbeatResponse { error, protocol_to_use: None },
            Ok(()) => match self.group_and_context(&request.group_id, now_ms) {
                Some((group, mut context)) => group.heartbeat(&mut context, request),
                None => HeartbeatResponse { error: ErrorCode::UnknownMemberId, protocol_to_use: None },
            },
        };
        self.context(now_ms).answer(from, response);
    }

    /// Members leave, or an administrator removes them.
    pub fn handle_leave_group(&mut self, request: LeaveGroupRequest, from: Caller, now_ms: u64) {
        let mut response = LeaveGroupResponse::default();
        let left = |error: ErrorCode, one: &crate::protocol::message::LeavingMember| LeftMember {
            member_id: one.member_id.clone(),
            group_instance_id: one.group_instance_id.clone(),
            error,
        };
        match self.admit_group(&request.group_id) {
            Err(error) => response.error = error,
            Ok(()) => match self.group_and_context(&request.group_id, now_ms) {
                None => {
                    let unknown = request.members.iter().map(|one| left(ErrorCode::UnknownMemberId, one));
                    response.members = unknown.collect();
                }
                Some((group, _)) if group.phase == GroupPhase::Dead => {
                    response.error = ErrorCode::CoordinatorNotAvailable;
                }
                Some((group, mut context)) => {
                    let each = request.members.iter().map(|one| left(group.leave(&mut context, one), one));
                    response.members = each.collect();
                    if response.members.iter().any(|one| one.error.is_none()) {
                        group.left(&mut context);
                    }
                }
            },
        }
        self.context(now_ms).answer(from, response);
    }

    /// A member, or a client that is none, commits offsets.
    pub fn handle_offset_commit(&mut self, request: OffsetCommitRequest, from: Caller, now_ms: u64) {
        let gone =
            if request.api_version >= 9 { ErrorCode::GroupIdNotFound } else { ErrorCode::IllegalGeneration };
        let admitted = self.admit_committer(&request.group_id, request.generation_id, gone).and_then(|()| {
            let (group, _) = self.group_entry(&request.group_id, now_ms);
            let identity = CommitIdentity::from(&request);
            admit_commit(group, &identity).map_err(|error| error.code())
        });
        if let Err(error) = admitted {
            let response = OffsetCommitResponse::all(&request.offsets, error);
            self.context(now_ms).answer(from, Response::OffsetCommit(response));
            return;
        }
        let (group, mut context) = self.group_entry(&request.group_id, now_ms);
        group.touch(&request.member_id, now_ms);
        group.store_offsets(&mut context, request.offsets, None, from);
    }

    /// A producer commits offsets as part of its transaction.
    pub fn handle_txn_offset_commit(&mut self, request: TxnOffsetCommitRequest, from: Caller, now_ms: u64) {
        let producer = (request.producer_id, request.producer_epoch);
        let gone = ErrorCode::IllegalGeneration;
        let admitted = self.admit_group(&request.group_id);
        let admitted =
            admitted.and_then(|()| self.admit_committer(&request.group_id, request.generation_id, gone));
        let admitted = admitted.and_then(|()| {
            let rules = self.config.fence;
            let (group, _) = self.group_entry(&request.group_id, now_ms);
            admit_transactional_commit(group, &CommitIdentity::from(&request), rules)
                .and_then(|()| self.producers.admit_write(producer.0, producer.1))
                .map_err(|error| error.code())
        });
        if let Err(error) = admitted {
            let response = OffsetCommitResponse::all(&request.offsets, error);
            self.context(now_ms).answer(from, Response::TxnOffsetCommit(response));
            return;
        }
        self.producers.note_write(producer.0, producer.1);
        let (group, mut context) = self.group_entry(&request.group_id, now_ms);
        group.store_offsets(&mut context, request.offsets, Some(producer), from);
    }

    /// A transaction coordinator ends a producer's transaction here.
    pub fn handle_txn_marker(&mut self, request: &TxnMarkerRequest, from: Caller, now_ms: u64) {
        let judged = self
            .admit_group(&request.group_id)
            .and_then(|()| self.producers.judge_marker(request).map_err(|error| error.code()));
        let answer = match judged {
            Ok(MarkerVerdict::Apply) => None,
            Ok(MarkerVerdict::Duplicate) => Some(ErrorCode::None),
            Err(error) => Some(error),
        };
        if let Some(error) = answer {
            self.context(now_ms).answer(from, TxnMarkerResponse { error });
            return;
        }
        self.producers.note_marker(request.producer_id, request.producer_epoch, request.coordinator_epoch);
        let record = Record::Marker {
            group_id: request.group_id.clone(),
            producer_id: request.producer_id,
            producer_epoch: request.producer_epoch,
            committed: request.committed,
            coordinator_epoch: request.coordinator_epoch,
        };
        let then = Continuation::Marker {
            to: from,
            producer_id: request.producer_id,
            producer_epoch: request.producer_epoch,
            committed: request.committed,
        };
        self.context(now_ms).append(&request.group_id, vec![record], then);
    }

    /// A client asks for committed offsets.
    pub fn handle_offset_fetch(&mut self, request: &OffsetFetchRequest, from: Caller, now_ms: u64) {
        let rules = self.config.fence;
        let response = match self.admit_log() {
            Err(error) => OffsetFetchResponse { error, partitions: Vec::new() },
            Ok(()) => match self.groups.get(&request.group_id) {
                Some(group) if group.phase != GroupPhase::Dead => group.offsets.fetch(request, rules),
                _ => super::offsets::Offsets::default().fetch(request, rules),
            },
        };
        self.context(now_ms).answer(from, response);
    }

    /// An administrator deletes a group without members. The answer comes at once; the group is Dead until its
    /// tombstones are written.
    ///
    /// # Errors
    ///
    /// GROUP_ID_NOT_FOUND, NON_EMPTY_GROUP, or why this coordinator has no say.
    pub fn handle_delete_group(&mut self, group_id: &str, now_ms: u64) -> Result<(), ErrorCode> {
        self.admit_group(group_id)?;
        let (group, mut context) =
            self.group_and_context(group_id, now_ms).ok_or(ErrorCode::GroupIdNotFound)?;
        match group.phase {
            GroupPhase::Empty => {
                group.bury(&mut context);
                Ok(())
            }
            GroupPhase::Dead => Err(ErrorCode::GroupIdNotFound),
            GroupPhase::PreparingRebalance | GroupPhase::CompletingRebalance | GroupPhase::Stable => {
                Err(ErrorCode::NonEmptyGroup)
            }
        }
    }

    /// Drops offsets that are older than they are kept, and groups with neither members nor offsets. Brokers do
    /// this every ten minutes. Offsets of a group with members stay.
    pub fn handle_cleanup(&mut self, now_ms: u64) {
        let retention_ms = self.config.offsets_retention_ms;
        let ids: Vec<String> = self.groups.keys().cloned().collect();
        for id in ids {
            let Some((group, mut context)) = self.group_and_context(&id, now_ms) else { continue };
            if group.phase == GroupPhase::Empty {
                group.forget_old_offsets(&mut context, retention_ms);
            }
        }
    }

    /// A write was acknowledged, or failed with the log's error.
    pub fn handle_append(&mut self, id: AppendId, error: ErrorCode, now_ms: u64) {
        let Some((group_id, then)) = self.desk.appends.remove(&id) else { return };
        let error = as_answered(error);
        if let Continuation::Marker { to, producer_id, producer_epoch, committed } = then {
            if error.is_none() {
                self.producers.note_settled(producer_id, producer_epoch);
                if let Some(group) = self.groups.get_mut(&group_id) {
                    group.offsets.settle(producer_id, committed);
                }
            }
            self.context(now_ms).answer(to, TxnMarkerResponse { error });
            return;
        }
        if matches!(then, Continuation::Tombstone) {
            self.groups.remove(&group_id);
            return;
        }
        let Some((group, mut context)) = self.group_and_context(&group_id, now_ms) else { return };
        match then {
            Continuation::Assignment { generation, assignments } => {
                group.assignment_stored(&mut context, generation, &assignments, error);
            }
            Continuation::Replacement(done) => group.replaced(&mut context, *done, error),
            Continuation::Offsets { to, transactional, mut response, in_flight } => {
                group.offsets.finish(id, in_flight, error.is_none());
                if error.is_error() {
                    let stored = response.partitions.iter_mut().filter(|(_, one)| one.is_none());
                    stored.for_each(|(_, one)| *one = error);
                }
                context.answer(to, commit_response(transactional, response));
            }
            Continuation::Marker { .. } | Continuation::Tombstone | Continuation::Nothing => {}
        }
    }

    /// Time has come to some deadline.
    pub fn handle_timeout(&mut self, now_ms: u64) {
        let due = |group: &&Group| group.deadline_ms().is_some_and(|deadline_ms| deadline_ms <= now_ms);
        let ids: Vec<String> = self.groups.values().filter(due).map(|group| group.id.clone()).collect();
        for id in ids {
            if let Some((group, mut context)) = self.group_and_context(&id, now_ms) {
                group.expire(&mut context);
            }
        }
    }

    /// The next thing to do, in order.
    pub fn poll_action(&mut self) -> Option<Action> {
        self.desk.actions.pop_front()
    }

    /// When [`handle_timeout`](Self::handle_timeout) is due.
    ///
    /// Cost: O(members of all groups).
    pub fn poll_timeout(&self) -> Option<u64> {
        self.groups.values().filter_map(Group::deadline_ms).min()
    }

    /// Whether requests are answered with more than "not here" or "not yet".
    pub fn is_loaded(&self) -> bool {
        self.tenancy == Tenancy::Here
    }

    /// A group as it is now.
    pub fn group(&self, group_id: &str) -> Option<GroupDescription> {
        let group = self.groups.get(group_id)?;
        let members = group.roster.seats().map(|seat| MemberDescription {
            member_id: seat.member_id.clone(),
            group_instance_id: seat.instance_id.clone(),
            assignment: seat.assignment.clone(),
        });
        Some(GroupDescription {
            phase: group.phase,
            generation: group.generation,
            protocol: group.protocol.clone(),
            leader: group.roster.leader.clone(),
            members: members.collect(),
            pending_members: group.roster.pending.keys().cloned().collect(),
        })
    }

    /// The committed offset of a partition, pending ones aside.
    pub fn committed(&self, group_id: &str, partition: &TopicPartition) -> Option<&CommittedOffset> {
        self.groups.get(group_id)?.offsets.get(partition)
    }

    /// Which transactions hold back which partitions, and since when: what a stalled consumer waits for.
    pub fn blockers(&self, group_id: &str) -> Vec<Blocker> {
        self.groups.get(group_id).map(|group| group.offsets.blockers()).unwrap_or_default()
    }

    /// The record that the group's next assignment would be stored in, as large as it is without assignments.
    /// Compare its [`encoded_len`](Record::encoded_len) with the log's limit.
    pub fn group_record(&self, group_id: &str) -> Option<Record> {
        let group = self.groups.get(group_id)?;
        Some(group.record(&group.assignments()))
    }

    /// Explains INCONSISTENT_GROUP_PROTOCOL: what the group supports, if it has nothing in common with `offered`.
    pub fn explain_refusal(&self, group_id: &str, offered: &[&str]) -> Option<NoCommonProtocol> {
        let group = self.groups.get(group_id)?;
        if group.roster.is_empty() {
            return None;
        }
        let members: Vec<Vec<&str>> = group.roster.seats().map(|seat| seat.names()).collect();
        check_roll_out(&members, offered).err()
    }

    pub(super) fn context(&mut self, now_ms: u64) -> Context<'_> {
        Context { config: &self.config, now_ms, desk: &mut self.desk }
    }

    pub(super) fn group_and_context(
        &mut self,
        group_id: &str,
        now_ms: u64,
    ) -> Option<(&mut Group, Context<'_>)> {
        let group = self.groups.get_mut(group_id)?;
        Some((group, Context { config: &self.config, now_ms, desk: &mut self.desk }))
    }

    fn group_entry(&mut self, group_id: &str, now_ms: u64) -> (&mut Group, Context<'_>) {
        let group =
            self.groups.entry(group_id.to_owned()).or_insert_with(|| Group::new(group_id.into(), now_ms));
        (group, Context { config: &self.config, now_ms, desk: &mut self.desk })
    }

    /// Whether this coordinator has a say about the group.
    fn admit_group(&self, group_id: &str) -> Result<(), ErrorCode> {
        if group_id.is_empty() { Err(ErrorCode::InvalidGroupId) } else { self.admit_log() }
    }

    /// The same for offsets outside of transactions: old tools keep theirs under an empty id.
    fn admit_log(&self) -> Result<(), ErrorCode> {
        match self.tenancy {
            Tenancy::Elsewhere => Err(ErrorCode::NotCoordinator),
            Tenancy::Loading => Err(ErrorCode::CoordinatorLoadInProgress),
            Tenancy::Here => Ok(()),
        }
    }

    /// A group that isn't there has no generation, of which `gone` tells; who names none may begin one.
    fn admit_committer(&self, group_id: &str, generation: i32, gone: ErrorCode) -> Result<(), ErrorCode> {
        self.admit_log()?;
        if generation < 0 || self.config.fence == Rules::Off || self.groups.contains_key(group_id) {
            Ok(())
        } else {
            Err(gone)
        }
    }
}

impl Group {
    fn store_offsets(
        &mut self,
        context: &mut Context<'_>,
        offsets: Vec<(TopicPartition, CommittedOffset)>,
        producer: Option<(i64, i16)>,
        from: Caller,
    ) {
        let transactional = producer.is_some();
        let (in_flight, response) = InFlight::sort(context, offsets, producer);
        let records = in_flight.records(&self.id);
        if records.is_empty() {
            context.answer(from, commit_response(transactional, response));
            return;
        }
        let then = Continuation::Offsets { to: from, transactional, response, in_flight: in_flight.clone() };
        let id = context.append(&self.id, records, then);
        self.offsets.begin(id, &in_flight);
    }

    /// Writes the group's tombstones; it is Dead until they are written.
    fn bury(&mut self, context: &mut Context<'_>) {
        let mut records = self.offset_tombstones(self.offsets.partitions());
        records.push(Record::Group { group_id: self.id.clone(), value: None });
        self.close(context, ErrorCode::GroupIdNotFound);
        context.append(&self.id, records, Continuation::Tombstone);
    }

    fn forget_old_offsets(&mut self, context: &mut Context<'_>, retention_ms: u64) {
        // A group that had members keeps its offsets from the moment the last one left; one that only ever
        // stored offsets keeps each from its commit.
        let since_ms = if self.protocol_type.is_some() { self.phase_since_ms } else { 0 };
        let expired = self.offsets.expired(since_ms, retention_ms, context.now_ms);
        for partition in &expired {
            self.offsets.remove(partition);
        }
        if self.offsets.is_empty() && self.roster.pending.is_empty() {
            let mut records = self.offset_tombstones(expired);
            records.push(Record::Group { group_id: self.id.clone(), value: None });
            self.close(context, ErrorCode::GroupIdNotFound);
            context.append(&self.id, records, Continuation::Tombstone);
        } else if !expired.is_empty() {
            let records = self.offset_tombstones(expired);
            context.append(&self.id, records, Continuation::Nothing);
        }
    }

    fn offset_tombstones(&self, partitions: Vec<TopicPartition>) -> Vec<Record> {
        let tombstone =
            |partition| Record::Offset { group_id: self.id.clone(), partition, value: None, producer: None };
        partitions.into_iter().map(tombstone).collect()
    }

    /// When a member's session ends after `now_ms` if it stays silent; for the freshly loaded.
    pub(super) fn start_sessions(&mut self, now_ms: u64) {
        for seat in self.roster.seats_mut() {
            seat.expires_at_ms = Some(now_ms.saturating_add(millis(seat.session_timeout_ms)));
        }
    }
}

fn commit_response(transactional: bool, response: OffsetCommitResponse) -> Response {
    if transactional { Response::TxnOffsetCommit(response) } else { Response::OffsetCommit(response) }
}

/// The log's errors as a client gets to see them: it should look for the coordinator again, or give up.
fn as_answered(error: ErrorCode) -> ErrorCode {
    match error {
        ErrorCode::UnknownTopicOrPartition | ErrorCode::RequestTimedOut => ErrorCode::CoordinatorNotAvailable,
        ErrorCode::MessageTooLarge => ErrorCode::UnknownServerError,
        other => other,
    }
}

fn refuse_stranger(request: &Request) -> Response {
    use crate::protocol::message as m;
    let error = ErrorCode::InvalidRequest;
    match request {
        Request::AddPartitionsToTxn(_) => m::AddPartitionsToTxnResponse { error }.into(),
        Request::AddOffsetsToTxn(_) => m::AddOffsetsToTxnResponse { error }.into(),
        Request::EndTxn(_) => m::EndTxnResponse::refused(error).into(),
        Request::FindCoordinator(_) => m::FindCoordinatorResponse { error, node_id: -1 }.into(),
        _ => m::InitProducerIdResponse::refused(error).into(),
    }
}
