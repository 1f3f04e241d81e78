//! Joining: who is let in, what a join does in each state, when a rebalance begins and when all have joined.

use super::action::{Context, Continuation, Replacement};
use super::group::{Group, JoinWait};
use super::roster::Seat;
use crate::fence::{GroupPhase, Membership, admit_member};
use crate::protocol::error::ErrorCode;
use crate::protocol::message::{
    Caller, JoinGroupRequest, JoinGroupResponse, JoinProtocol, SyncGroupResponse,
};

impl Group {
    /// Handles a join of a group that is here and loaded.
    pub(super) fn join(&mut self, context: &mut Context<'_>, request: &JoinGroupRequest, from: Caller) {
        if !self.has_room(context, &request.member_id) {
            self.roster.remove(&request.member_id);
            context.answer(from, JoinGroupResponse::refused(ErrorCode::GroupMaxSizeReached, ""));
        } else if self.phase == GroupPhase::Dead {
            let error = ErrorCode::CoordinatorNotAvailable;
            context.answer(from, JoinGroupResponse::refused(error, &request.member_id));
        } else if !self.fits(&request.protocol_type, &request.protocols) {
            let error = ErrorCode::InconsistentGroupProtocol;
            context.answer(from, JoinGroupResponse::refused(error, &request.member_id));
        } else if request.member_id.is_empty() {
            self.join_without_id(context, request, from);
        } else {
            self.join_with_id(context, request, from);
        }
        self.try_complete_join(context);
    }

    /// `group.max.size`: those that wait already are counted while a rebalance is prepared, since it may drop
    /// the last to rejoin; all members else.
    fn has_room(&self, context: &Context<'_>, member_id: &str) -> bool {
        let room = context.config.group_size_max;
        match self.phase {
            GroupPhase::Empty | GroupPhase::Dead => true,
            GroupPhase::PreparingRebalance => {
                self.roster.get(member_id).is_some_and(|seat| seat.awaiting_join.is_some())
                    || self.roster.awaiting_join() < room
            }
            GroupPhase::CompletingRebalance | GroupPhase::Stable => {
                self.roster.has(member_id) || self.roster.len() < room
            }
        }
    }

    /// Whether type and assignors have something in common with all members.
    ///
    /// A rejoining member is counted with what it offered before, as the released broker does: a lone member
    /// that changes from one assignor to another must leave first, or offer both for a while.
    pub(super) fn fits(&self, protocol_type: &str, protocols: &[JoinProtocol]) -> bool {
        if protocol_type.is_empty() || protocols.is_empty() {
            return false;
        }
        self.phase == GroupPhase::Empty
            || self.protocol_type.as_deref() == Some(protocol_type)
                && protocols.iter().any(|one| self.roster.seats().all(|seat| seat.offers(&one.name)))
    }

    fn join_without_id(&mut self, context: &mut Context<'_>, request: &JoinGroupRequest, from: Caller) {
        let prefix = request.group_instance_id.as_ref().unwrap_or(&request.client_id);
        let new_id = context.member_id(prefix);
        let holder = request.group_instance_id.as_deref().and_then(|instance| self.roster.holder(instance));
        if let Some(old_id) = holder.map(str::to_owned) {
            self.replace_static(context, &old_id, new_id, request, from);
        } else if request.group_instance_id.is_none() && request.api_version >= 4 {
            let lapses_ms = context.now_ms.saturating_add(super::roster::millis(request.session_timeout_ms));
            self.roster.pending.insert(new_id.clone(), lapses_ms);
            context.answer(from, JoinGroupResponse::refused(ErrorCode::MemberIdRequired, new_id));
        } else {
            self.add(context, new_id, request, from);
        }
    }

    fn join_with_id(&mut self, context: &mut Context<'_>, request: &JoinGroupRequest, from: Caller) {
        let member_id = &request.member_id;
        if self.roster.pending.contains_key(member_id) {
            if request.group_instance_id.is_none() {
                self.add(context, member_id.clone(), request, from);
            } else {
                // An id given to a dynamic member can't become a static one's: the released broker trips over that.
                context.answer(from, JoinGroupResponse::refused(ErrorCode::UnknownServerError, ""));
            }
            return;
        }
        if let Err(error) = admit_member(self, member_id, request.group_instance_id.as_deref()) {
            context.answer(from, JoinGroupResponse::refused(error.code(), member_id));
            return;
        }
        let unchanged = self.roster.get(member_id).is_some_and(|seat| seat.protocols == request.protocols);
        match self.phase {
            // The member did not get the answer to its join: give it again.
            GroupPhase::CompletingRebalance if unchanged => {
                let response = self.joined(member_id);
                context.answer(from, response);
            }
            // A follower with nothing new may go on; a leader that joins asks for a rebalance.
            GroupPhase::Stable if unchanged && !self.roster.is_leader(member_id) => {
                let response = JoinGroupResponse { members: Vec::new(), ..self.joined(member_id) };
                context.answer(from, response);
            }
            GroupPhase::PreparingRebalance | GroupPhase::CompletingRebalance | GroupPhase::Stable => {
                self.update(member_id, request, from);
                self.maybe_prepare_rebalance(context);
            }
            GroupPhase::Empty | GroupPhase::Dead => {
                context.answer(from, JoinGroupResponse::refused(ErrorCode::UnknownMemberId, member_id));
            }
        }
    }

    fn add(
        &mut self,
        context: &mut Context<'_>,
        member_id: String,
        request: &JoinGroupRequest,
        from: Caller,
    ) {
        if self.phase == GroupPhase::PreparingRebalance && self.generation == 0 {
            self.new_member_added = true;
        }
        if self.roster.is_empty() {
            self.protocol_type = Some(request.protocol_type.clone());
        }
        let turn = self.roster.next_turn();
        let mut seat = Seat::new(member_id, request, from, turn);
        seat.expires_at_ms = Some(context.now_ms.saturating_add(context.config.new_member_join_timeout_ms));
        self.roster.add(seat);
        self.maybe_prepare_rebalance(context);
    }

    /// Takes over what a rejoining member says. A join of the same member that still waits is superseded: its
    /// caller gave up on it and gets no answer.
    fn update(&mut self, member_id: &str, request: &JoinGroupRequest, from: Caller) {
        if let Some(seat) = self.roster.seat(member_id) {
            seat.protocols.clone_from(&request.protocols);
            seat.session_timeout_ms = request.session_timeout_ms;
            seat.rebalance_timeout_ms = request.rebalance_timeout_ms;
            seat.awaiting_join = Some(from);
        }
    }

    /// A static member comes back without its id: the seat is kept, the id is new, the old one is fenced.
    fn replace_static(
        &mut self,
        context: &mut Context<'_>,
        old_id: &str,
        new_id: String,
        request: &JoinGroupRequest,
        from: Caller,
    ) {
        let old_leader = self.roster.leader.clone();
        let Some(old_seat) = self.roster.get(old_id).cloned() else { return };
        self.fence_waiting(context, old_id);
        self.roster.rename(old_id, &new_id);
        if self.pending_sync.remove(old_id) {
            self.pending_sync.insert(new_id.clone());
        }
        self.update(&new_id, request, from);
        if let Some(seat) = self.roster.seat(&new_id)
            && !seat.is_new
        {
            seat.touch(context.now_ms);
        }
        match self.phase {
            GroupPhase::Stable if self.roster.vote() == self.protocol => {
                let assignments = self.assignments();
                let record = self.record(&assignments);
                let replacement = Replacement {
                    new_id,
                    old_seat: Seat { awaiting_join: None, awaiting_sync: None, ..old_seat },
                    old_leader,
                    generation: self.generation,
                    skips_assignment: request.api_version >= 9,
                };
                let then = Continuation::Replacement(Box::new(replacement));
                context.append(&self.id, vec![record], then);
            }
            // The leader may be at work on an assignment for the old id: all join again, so that the member
            // doesn't end up with nothing (KAFKA-9801).
            GroupPhase::Stable | GroupPhase::CompletingRebalance => self.prepare_rebalance(context),
            GroupPhase::PreparingRebalance | GroupPhase::Empty | GroupPhase::Dead => {}
        }
    }

    /// Whoever waits under this id is told that another took the static name.
    fn fence_waiting(&mut self, context: &mut Context<'_>, member_id: &str) {
        let Some(seat) = self.roster.seat(member_id) else { return };
        if let Some(waiting) = seat.awaiting_join.take() {
            context.answer(waiting, JoinGroupResponse::refused(ErrorCode::FencedInstanceId, member_id));
        }
        if let Some(waiting) = seat.awaiting_sync.take() {
            context.answer(waiting, SyncGroupResponse::refused(ErrorCode::FencedInstanceId));
        }
    }

    /// The write of a static member's new id is done, or failed and is undone.
    pub(super) fn replaced(&mut self, context: &mut Context<'_>, done: Replacement, error: ErrorCode) {
        let Replacement { new_id, old_seat, old_leader, generation, skips_assignment } = done;
        let old_id = old_seat.member_id.clone();
        // What happened since then overtook it: a rebalance will answer the join, or its end already has.
        let Some(seat) = self.roster.seat(&new_id) else { return };
        if self.phase != GroupPhase::Stable || self.generation != generation {
            return;
        }
        let Some(waiting) = seat.awaiting_join.take() else { return };
        if error.is_error() {
            seat.protocols = old_seat.protocols;
            seat.session_timeout_ms = old_seat.session_timeout_ms;
            seat.rebalance_timeout_ms = old_seat.rebalance_timeout_ms;
            seat.touch(context.now_ms);
            self.roster.rename(&new_id, &old_id);
            context.answer(waiting, JoinGroupResponse::refused(error, ""));
            return;
        }
        let leads = self.roster.is_leader(&new_id);
        let mut response = self.joined(&new_id);
        if skips_assignment {
            response.skip_assignment = leads;
        } else {
            // Before version 9 a static leader is kept from computing by naming the old id as the leader.
            response.members.clear();
            response.leader = old_leader.unwrap_or_default();
        }
        context.answer(waiting, response);
    }

    /// The answer to a member of the current generation.
    pub(super) fn joined(&self, member_id: &str) -> JoinGroupResponse {
        let leads = self.roster.is_leader(member_id);
        JoinGroupResponse {
            error: ErrorCode::None,
            generation_id: self.generation,
            protocol_type: self.protocol_type.clone(),
            protocol_name: self.protocol.clone(),
            leader: self.roster.leader.clone().unwrap_or_default(),
            skip_assignment: false,
            member_id: member_id.into(),
            members: if leads { self.roster.for_leader(self.protocol.as_deref()) } else { Vec::new() },
        }
    }

    /// Begins a rebalance unless one is under way.
    pub(super) fn maybe_prepare_rebalance(&mut self, context: &mut Context<'_>) {
        match self.phase {
            GroupPhase::Empty | GroupPhase::CompletingRebalance | GroupPhase::Stable => {
                self.prepare_rebalance(context);
            }
            GroupPhase::PreparingRebalance | GroupPhase::Dead => {}
        }
    }

    pub(super) fn prepare_rebalance(&mut self, context: &mut Context<'_>) {
        if self.phase == GroupPhase::CompletingRebalance {
            self.drop_assignment(context, ErrorCode::RebalanceInProgress);
        }
        self.sync_deadline_ms = None;
        let timeout_ms = self.roster.rebalance_timeout_ms();
        let wait = if self.phase == GroupPhase::Empty {
            let delay_ms = context.config.initial_rebalance_delay_ms;
            JoinWait {
                ends_ms: context.now_ms.saturating_add(delay_ms),
                initial_left_ms: Some(timeout_ms.saturating_sub(delay_ms)),
            }
        } else {
            JoinWait { ends_ms: context.now_ms.saturating_add(timeout_ms), initial_left_ms: None }
        };
        self.join_wait = Some(wait);
        self.turn_to(GroupPhase::PreparingRebalance, context.now_ms);
        self.next_rebalance_protocol =
            if context.config.heartbeat_protocols { self.roster.rebalance_protocol() } else { None };
        self.try_complete_join(context);
    }

    /// Completes the join if all are here. An empty group's first wait is always served to its end.
    pub(super) fn try_complete_join(&mut self, context: &mut Context<'_>) {
        let waits_on = self.join_wait.is_some_and(|wait| wait.initial_left_ms.is_none());
        if self.phase == GroupPhase::PreparingRebalance && waits_on && self.roster.all_joined() {
            self.complete_join(context);
        }
    }

    /// The wait is over: served on if new members came in the meantime, else whoever is here makes the generation.
    pub(super) fn join_wait_over(&mut self, context: &mut Context<'_>) {
        if let Some(JoinWait { initial_left_ms: Some(left_ms), .. }) = self.join_wait
            && self.new_member_added
            && left_ms > 0
        {
            self.new_member_added = false;
            let delay_ms = context.config.initial_rebalance_delay_ms.min(left_ms);
            self.join_wait = Some(JoinWait {
                ends_ms: context.now_ms.saturating_add(delay_ms),
                initial_left_ms: Some(left_ms.saturating_sub(delay_ms)),
            });
            return;
        }
        self.complete_join(context);
    }

    fn complete_join(&mut self, context: &mut Context<'_>) {
        let absent = |seat: &&Seat| seat.awaiting_join.is_none() && seat.instance_id.is_none();
        let absent: Vec<String> =
            self.roster.seats().filter(absent).map(|seat| seat.member_id.clone()).collect();
        for member_id in &absent {
            self.roster.remove(member_id);
        }
        if !self.elect_joined_leader() && !self.roster.is_empty() {
            // Static members only, and none has come back: their sessions, not this wait, end their membership.
            let ends_ms = context.now_ms.saturating_add(self.roster.rebalance_timeout_ms().max(1));
            self.join_wait = Some(JoinWait { ends_ms, initial_left_ms: None });
            return;
        }
        self.join_wait = None;
        self.new_member_added = false;
        self.generation = self.generation.checked_add(1).unwrap_or(1);
        self.pending_sync.clear();
        self.next_rebalance_protocol = None;
        if self.roster.is_empty() {
            self.protocol = None;
            self.turn_to(GroupPhase::Empty, context.now_ms);
            let record = self.record(&self.assignments());
            context.append(&self.id, vec![record], Continuation::Nothing);
            return;
        }
        self.protocol = self.roster.vote();
        if context.config.leader_by_version {
            self.elect_newest_leader();
        }
        self.turn_to(GroupPhase::CompletingRebalance, context.now_ms);
        for member_id in self.roster.ids() {
            let response = self.joined(&member_id);
            let Some(seat) = self.roster.seat(&member_id) else { continue };
            seat.is_new = false;
            seat.touch(context.now_ms);
            if let Some(waiting) = seat.awaiting_join.take() {
                context.answer(waiting, response);
            }
            self.pending_sync.insert(member_id);
        }
        let wait_ms = self.roster.rebalance_timeout_ms();
        self.sync_deadline_ms = Some(context.now_ms.saturating_add(wait_ms));
    }

    /// Sees to it that the leader is one that joined. False if nobody did.
    fn elect_joined_leader(&mut self) -> bool {
        let Some(leader) = self.roster.leader.clone() else { return false };
        if self.roster.get(&leader).is_some_and(|seat| seat.awaiting_join.is_some()) {
            return true;
        }
        match self.roster.eldest(|seat| seat.awaiting_join.is_some()) {
            Some(joined) => {
                self.roster.leader = Some(joined);
                true
            }
            None => false,
        }
    }

    /// Draft: among those that joined, the highest version of the selected assignor leads; of equals the
    /// present leader, then the one that joined first.
    fn elect_newest_leader(&mut self) {
        let Some(protocol) = self.protocol.clone() else { return };
        let version = |seat: &Seat| seat.protocol(&protocol).and_then(|one| one.version).unwrap_or(i32::MIN);
        let joined = || self.roster.seats().filter(|seat| seat.awaiting_join.is_some());
        let Some(highest) = joined().map(version).max() else { return };
        let leads = |seat: &Seat| self.roster.is_leader(&seat.member_id) && version(seat) == highest;
        if !joined().any(leads) {
            let newest = |seat: &Seat| seat.awaiting_join.is_some() && version(seat) == highest;
            self.roster.leader = self.roster.eldest(newest);
        }
    }
}

impl Membership for Group {
    fn phase(&self) -> GroupPhase {
        self.phase
    }

    fn generation(&self) -> i32 {
        self.generation
    }

    fn has_member(&self, member_id: &str) -> bool {
        self.roster.has(member_id)
    }

    fn instance_holder(&self, instance_id: &str) -> Option<&str> {
        self.roster.holder(instance_id)
    }
}
