//! One group's state: syncs, heartbeats, leaves, sessions and the other clocks.

use std::collections::{BTreeMap, BTreeSet};

use super::action::{Context, Continuation};
use super::offsets::Offsets;
use super::record::{GroupRecord, Record};
use super::roster::{Roster, Support};
use crate::fence::{GroupPhase, admit_member};
use crate::protocol::error::ErrorCode;
use crate::protocol::message::{
    Caller, HeartbeatRequest, HeartbeatResponse, JoinGroupResponse, LeavingMember, SyncGroupRequest,
    SyncGroupResponse,
};

/// A classic group. What it waits for is in `join_wait` (PreparingRebalance), `sync_deadline_ms`
/// (CompletingRebalance, Stable) and the seats' sessions.
#[derive(Debug, Clone)]
pub(super) struct Group {
    pub(super) id: String,
    pub(super) phase: GroupPhase,
    pub(super) phase_since_ms: u64,
    pub(super) generation: i32,
    pub(super) protocol_type: Option<String>,
    pub(super) protocol: Option<String>,
    pub(super) roster: Roster,
    pub(super) pending_sync: BTreeSet<String>,
    pub(super) sync_deadline_ms: Option<u64>,
    pub(super) join_wait: Option<JoinWait>,
    pub(super) new_member_added: bool,
    /// Draft: the rebalance protocol that members are told to use when they join again.
    pub(super) next_rebalance_protocol: Option<u8>,
    pub(super) offsets: Offsets,
}

/// Until when joins are waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct JoinWait {
    pub(super) ends_ms: u64,
    /// In an empty group's first wait: by how much it may still be extended. `None` in every other wait.
    pub(super) initial_left_ms: Option<u64>,
}

impl Group {
    pub(super) fn new(id: String, now_ms: u64) -> Self {
        Self {
            id,
            phase: GroupPhase::Empty,
            phase_since_ms: now_ms,
            generation: 0,
            protocol_type: None,
            protocol: None,
            roster: Roster::default(),
            pending_sync: BTreeSet::new(),
            sync_deadline_ms: None,
            join_wait: None,
            new_member_added: false,
            next_rebalance_protocol: None,
            offsets: Offsets::default(),
        }
    }

    pub(super) fn turn_to(&mut self, phase: GroupPhase, now_ms: u64) {
        self.phase = phase;
        self.phase_since_ms = now_ms;
    }

    pub(super) fn sync(&mut self, context: &mut Context<'_>, request: SyncGroupRequest, from: Caller) {
        if let Err(error) = self.admit_sync(&request) {
            context.answer(from, SyncGroupResponse::refused(error));
            return;
        }
        match self.phase {
            GroupPhase::CompletingRebalance => {
                if let Some(seat) = self.roster.seat(&request.member_id) {
                    seat.awaiting_sync = Some(from);
                }
                self.synced(&request.member_id);
                if self.roster.is_leader(&request.member_id) {
                    self.store_assignment(context, request);
                }
            }
            GroupPhase::Stable => {
                self.synced(&request.member_id);
                // No sign of life: the released broker counts it for none.
                let response = self.sync_response(&request.member_id);
                context.answer(from, response);
            }
            GroupPhase::PreparingRebalance => {
                context.answer(from, SyncGroupResponse::refused(ErrorCode::RebalanceInProgress));
            }
            GroupPhase::Empty | GroupPhase::Dead => {
                context.answer(from, SyncGroupResponse::refused(ErrorCode::UnknownMemberId));
            }
        }
    }

    fn admit_sync(&self, request: &SyncGroupRequest) -> Result<(), ErrorCode> {
        self.admit_current(request.generation_id, &request.member_id, request.group_instance_id.as_deref())?;
        let differs = |given: &Option<String>, ours: &Option<String>| {
            given.is_some() && ours.is_some() && given != ours
        };
        if differs(&request.protocol_type, &self.protocol_type)
            || differs(&request.protocol_name, &self.protocol)
        {
            return Err(ErrorCode::InconsistentGroupProtocol);
        }
        Ok(())
    }

    /// Member first, generation second, as the broker answers.
    fn admit_current(&self, generation: i32, member: &str, instance: Option<&str>) -> Result<(), ErrorCode> {
        if self.phase == GroupPhase::Dead {
            return Err(ErrorCode::CoordinatorNotAvailable);
        }
        admit_member(self, member, instance).map_err(|error| error.code())?;
        if generation == self.generation { Ok(()) } else { Err(ErrorCode::IllegalGeneration) }
    }

    fn synced(&mut self, member_id: &str) {
        self.pending_sync.remove(member_id);
        if self.pending_sync.is_empty() {
            self.sync_deadline_ms = None;
        }
    }

    /// Writes the leader's assignment. Members that it leaves out get nothing; those it invents are ignored.
    fn store_assignment(&mut self, context: &mut Context<'_>, request: SyncGroupRequest) {
        let mut assignments: BTreeMap<String, Vec<u8>> =
            self.roster.seats().map(|seat| (seat.member_id.clone(), Vec::new())).collect();
        for one in request.assignments {
            if let Some(assignment) = assignments.get_mut(&one.member_id) {
                *assignment = one.assignment;
            }
        }
        let record = self.record(&assignments);
        let then = Continuation::Assignment { generation: self.generation, assignments };
        context.append(&self.id, vec![record], then);
    }

    /// The write of an assignment is done or failed; if a rebalance overtook it, nothing is left to do.
    pub(super) fn assignment_stored(
        &mut self,
        context: &mut Context<'_>,
        generation: i32,
        assignments: &BTreeMap<String, Vec<u8>>,
        error: ErrorCode,
    ) {
        if self.phase != GroupPhase::CompletingRebalance || self.generation != generation {
            return;
        }
        if error.is_error() {
            self.drop_assignment(context, error);
            self.maybe_prepare_rebalance(context);
            return;
        }
        for seat in self.roster.seats_mut() {
            seat.assignment = assignments.get(&seat.member_id).cloned().unwrap_or_default();
        }
        self.turn_to(GroupPhase::Stable, context.now_ms);
        for member_id in self.roster.ids() {
            let response = self.sync_response(&member_id);
            let Some(seat) = self.roster.seat(&member_id) else { continue };
            if let Some(waiting) = seat.awaiting_sync.take() {
                seat.touch(context.now_ms);
                context.answer(waiting, response);
            }
        }
    }

    /// Nobody gets an assignment in this generation: those that wait for one are told why.
    pub(super) fn drop_assignment(&mut self, context: &mut Context<'_>, error: ErrorCode) {
        for seat in self.roster.seats_mut() {
            seat.assignment = Vec::new();
            if let Some(waiting) = seat.awaiting_sync.take() {
                seat.touch(context.now_ms);
                context.answer(waiting, SyncGroupResponse::refused(error));
            }
        }
    }

    fn sync_response(&self, member_id: &str) -> SyncGroupResponse {
        SyncGroupResponse {
            error: ErrorCode::None,
            protocol_type: self.protocol_type.clone(),
            protocol_name: self.protocol.clone(),
            assignment: self.roster.get(member_id).map(|seat| seat.assignment.clone()).unwrap_or_default(),
        }
    }

    pub(super) fn heartbeat(
        &mut self,
        context: &mut Context<'_>,
        request: &HeartbeatRequest,
    ) -> HeartbeatResponse {
        let instance = request.group_instance_id.as_deref();
        if let Err(error) = self.admit_current(request.generation_id, &request.member_id, instance) {
            return HeartbeatResponse { error, protocol_to_use: None };
        }
        let Some(seat) = self.roster.seat(&request.member_id) else {
            return HeartbeatResponse { error: ErrorCode::UnknownMemberId, protocol_to_use: None };
        };
        seat.touch(context.now_ms);
        if context.config.heartbeat_protocols {
            seat.supports = match &request.supported_protocols {
                Some(ids) => Support::Told(ids.clone()),
                None => Support::Old,
            };
        }
        if self.phase != GroupPhase::PreparingRebalance {
            return HeartbeatResponse::default();
        }
        let protocol_to_use = self.next_rebalance_protocol;
        let supported = protocol_to_use.is_none_or(|id| seat.supports.has(id));
        let error =
            if supported { ErrorCode::RebalanceInProgress } else { ErrorCode::InconsistentGroupProtocol };
        HeartbeatResponse { error, protocol_to_use }
    }

    /// Takes one out that leaves or is removed. What follows for the group is done when all of a request are out: see
    /// [`left`](Self::left).
    pub(super) fn leave(&mut self, context: &mut Context<'_>, leaving: &LeavingMember) -> ErrorCode {
        let instance = leaving.group_instance_id.as_deref();
        if leaving.member_id.is_empty() {
            // An administrator removes a static member by its name alone.
            let Some(holder) = instance.and_then(|name| self.roster.holder(name)).map(str::to_owned) else {
                return ErrorCode::UnknownMemberId;
            };
            self.take_out(context, &holder);
            return ErrorCode::None;
        }
        if self.roster.pending.remove(&leaving.member_id).is_some() {
            return ErrorCode::None;
        }
        if let Err(error) = admit_member(self, &leaving.member_id, instance) {
            return error.code();
        }
        self.take_out(context, &leaving.member_id);
        ErrorCode::None
    }

    /// Somebody left. The others rejoin, even if it was only an id that had yet to join: so does the released broker.
    pub(super) fn left(&mut self, context: &mut Context<'_>) {
        match self.phase {
            GroupPhase::CompletingRebalance | GroupPhase::Stable => self.prepare_rebalance(context),
            GroupPhase::PreparingRebalance => self.try_complete_join(context),
            GroupPhase::Empty | GroupPhase::Dead => {}
        }
    }

    /// Takes a member out, and lets the others rejoin.
    pub(super) fn expel(&mut self, context: &mut Context<'_>, member_id: &str) {
        if self.take_out(context, member_id) {
            self.maybe_prepare_rebalance(context);
            self.try_complete_join(context);
        }
    }

    /// Takes a member out; false if there is none of this id. A join of it that waits is answered UNKNOWN_MEMBER_ID, a
    /// sync never: the released broker forgets it, and the client's own timeout ends it.
    fn take_out(&mut self, context: &mut Context<'_>, member_id: &str) -> bool {
        let Some(seat) = self.roster.remove(member_id) else { return false };
        self.synced(member_id);
        if let Some(waiting) = seat.awaiting_join {
            context.answer(waiting, JoinGroupResponse::refused(ErrorCode::UnknownMemberId, ""));
        }
        true
    }

    /// A commit is as good as a heartbeat.
    pub(super) fn touch(&mut self, member_id: &str, now_ms: u64) {
        if let Some(seat) = self.roster.seat(member_id) {
            seat.touch(now_ms);
        }
    }

    /// The group leaves this coordinator, or is deleted: whoever waits is answered.
    pub(super) fn close(&mut self, context: &mut Context<'_>, error: ErrorCode) {
        for seat in self.roster.seats_mut() {
            if let Some(waiting) = seat.awaiting_join.take() {
                context.answer(waiting, JoinGroupResponse::refused(error, &seat.member_id));
            }
            if let Some(waiting) = seat.awaiting_sync.take() {
                context.answer(waiting, SyncGroupResponse::refused(error));
            }
            seat.expires_at_ms = None;
        }
        self.roster.pending.clear();
        self.join_wait = None;
        self.sync_deadline_ms = None;
        self.turn_to(GroupPhase::Dead, context.now_ms);
    }

    /// The next moment at which a clock of this group runs out.
    pub(super) fn deadline_ms(&self) -> Option<u64> {
        let sessions = self.roster.seats().filter_map(|seat| seat.expires_at_ms);
        let pending = self.roster.pending.values().copied();
        let waits = self.join_wait.map(|wait| wait.ends_ms).into_iter().chain(self.sync_deadline_ms);
        sessions.chain(pending).chain(waits).min()
    }

    /// Whatever ran out by now: ids not joined with, sessions, the wait for joins, the wait for syncs.
    pub(super) fn expire(&mut self, context: &mut Context<'_>) {
        let now_ms = context.now_ms;
        self.roster.pending.retain(|_, lapses_ms| *lapses_ms > now_ms);
        for member_id in self.roster.ids() {
            let Some(seat) = self.roster.seat(&member_id) else { continue };
            if seat.expires_at_ms.is_none_or(|ends_ms| ends_ms > now_ms) {
                continue;
            }
            seat.expires_at_ms = None;
            // One that waits for our answer is alive as far as we can tell, unless it never was a member.
            if seat.is_new || (seat.awaiting_join.is_none() && seat.awaiting_sync.is_none()) {
                self.expel(context, &member_id);
            }
        }
        self.try_complete_join(context);
        if self.join_wait.is_some_and(|wait| wait.ends_ms <= now_ms) {
            self.join_wait_over(context);
        }
        if self.sync_deadline_ms.is_some_and(|ends_ms| ends_ms <= now_ms) {
            self.sync_deadline_ms = None;
            for member_id in core::mem::take(&mut self.pending_sync) {
                self.expel(context, &member_id);
            }
        }
    }

    pub(super) fn assignments(&self) -> BTreeMap<String, Vec<u8>> {
        self.roster.seats().map(|seat| (seat.member_id.clone(), seat.assignment.clone())).collect()
    }

    /// The group as the log shall keep it, with these assignments.
    pub(super) fn record(&self, assignments: &BTreeMap<String, Vec<u8>>) -> Record {
        let protocol = self.protocol.as_deref();
        let nothing = Vec::new();
        let members = self
            .roster
            .seats()
            .map(|seat| seat.record(protocol, assignments.get(&seat.member_id).unwrap_or(&nothing)));
        let value = GroupRecord {
            protocol_type: self.protocol_type.clone().unwrap_or_default(),
            generation: self.generation,
            protocol: self.protocol.clone(),
            leader: self.roster.leader.clone(),
            state_since_ms: self.phase_since_ms,
            members: members.collect(),
        };
        Record::Group { group_id: self.id.clone(), value: Some(value) }
    }
}
