//! The members of a group: who awaits what, whose static names they hold, which assignors all of them offer.

use std::collections::{BTreeMap, BTreeSet};

use super::record::MemberRecord;
use crate::protocol::message::{Caller, JoinGroupRequest, JoinMember, JoinProtocol};
use crate::protocol::selection::vote;

/// A member, as the coordinator keeps it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Seat {
    pub(super) member_id: String,
    pub(super) instance_id: Option<String>,
    pub(super) client_id: String,
    pub(super) session_timeout_ms: i32,
    pub(super) rebalance_timeout_ms: i32,
    pub(super) protocols: Vec<JoinProtocol>,
    pub(super) assignment: Vec<u8>,
    /// Who waits for the join to complete on this member's behalf.
    pub(super) awaiting_join: Option<Caller>,
    /// Who waits for the assignment on this member's behalf.
    pub(super) awaiting_sync: Option<Caller>,
    /// Joined for the first time and not part of a generation yet.
    pub(super) is_new: bool,
    /// When the session ends; `None` while no clock runs (it waits for an answer of ours).
    pub(super) expires_at_ms: Option<u64>,
    /// The order of first joins.
    pub(super) turn: u64,
    /// Draft: the rebalance protocols it named in heartbeats.
    pub(super) supports: Support,
}

/// What a member's heartbeats say of rebalance protocols (draft of KIP-429's outlook).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) enum Support {
    /// No heartbeat yet.
    #[default]
    Unknown,
    /// Heartbeats come without the field: an old client, eager only.
    Old,
    /// The ids it named.
    Told(Vec<u8>),
}

impl Support {
    pub(super) fn has(&self, id: u8) -> bool {
        match self {
            Self::Unknown => true,
            Self::Old => id == 0,
            Self::Told(ids) => ids.contains(&id),
        }
    }
}

impl Seat {
    pub(super) fn new(member_id: String, request: &JoinGroupRequest, from: Caller, turn: u64) -> Self {
        Self {
            member_id,
            instance_id: request.group_instance_id.clone(),
            client_id: request.client_id.clone(),
            session_timeout_ms: request.session_timeout_ms,
            rebalance_timeout_ms: request.rebalance_timeout_ms,
            protocols: request.protocols.clone(),
            assignment: Vec::new(),
            awaiting_join: Some(from),
            awaiting_sync: None,
            is_new: true,
            expires_at_ms: None,
            turn,
            supports: Support::Unknown,
        }
    }

    /// A member read from the log; its one known protocol is the selected one.
    pub(super) fn from_record(record: &MemberRecord, protocol: Option<&str>, turn: u64) -> Self {
        let protocols = protocol
            .map(|name| JoinProtocol {
                name: name.into(),
                metadata: record.subscription.clone(),
                version: None,
            })
            .into_iter()
            .collect();
        Self {
            member_id: record.member_id.clone(),
            instance_id: record.group_instance_id.clone(),
            client_id: record.client_id.clone(),
            session_timeout_ms: record.session_timeout_ms,
            rebalance_timeout_ms: record.rebalance_timeout_ms,
            protocols,
            assignment: record.assignment.clone(),
            awaiting_join: None,
            awaiting_sync: None,
            is_new: false,
            expires_at_ms: None,
            turn,
            supports: Support::Unknown,
        }
    }

    pub(super) fn offers(&self, protocol: &str) -> bool {
        self.protocols.iter().any(|one| one.name == protocol)
    }

    /// The names of its assignors, the preferred one first.
    pub(super) fn names(&self) -> Vec<&str> {
        self.protocols.iter().map(|one| one.name.as_str()).collect()
    }

    pub(super) fn protocol(&self, name: &str) -> Option<&JoinProtocol> {
        self.protocols.iter().find(|one| one.name == name)
    }

    pub(super) fn metadata(&self, protocol: Option<&str>) -> Vec<u8> {
        protocol.and_then(|name| self.protocol(name)).map(|one| one.metadata.clone()).unwrap_or_default()
    }

    /// Starts the session's clock anew.
    pub(super) fn touch(&mut self, now_ms: u64) {
        self.expires_at_ms = Some(now_ms.saturating_add(millis(self.session_timeout_ms)));
    }

    pub(super) fn record(&self, protocol: Option<&str>, assignment: &[u8]) -> MemberRecord {
        MemberRecord {
            member_id: self.member_id.clone(),
            group_instance_id: self.instance_id.clone(),
            client_id: self.client_id.clone(),
            rebalance_timeout_ms: self.rebalance_timeout_ms,
            session_timeout_ms: self.session_timeout_ms,
            subscription: self.metadata(protocol),
            assignment: assignment.to_vec(),
        }
    }
}

/// A wire timeout as a span: negative counts as none.
pub(super) fn millis(timeout_ms: i32) -> u64 {
    u64::try_from(timeout_ms).unwrap_or(0)
}

/// The members by id, the static names, and the ids given out but not yet joined with.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Roster {
    seats: BTreeMap<String, Seat>,
    instances: BTreeMap<String, String>,
    /// Ids given with MEMBER_ID_REQUIRED, and when they lapse.
    pub(super) pending: BTreeMap<String, u64>,
    pub(super) leader: Option<String>,
    next_turn: u64,
}

impl Roster {
    pub(super) fn next_turn(&mut self) -> u64 {
        let turn = self.next_turn;
        self.next_turn = turn.saturating_add(1);
        turn
    }

    pub(super) fn add(&mut self, seat: Seat) {
        if let Some(instance) = &seat.instance_id {
            self.instances.insert(instance.clone(), seat.member_id.clone());
        }
        self.pending.remove(&seat.member_id);
        if self.leader.is_none() {
            self.leader = Some(seat.member_id.clone());
        }
        self.seats.insert(seat.member_id.clone(), seat);
    }

    /// Takes a member out; if it led, the one that has been there longest leads.
    pub(super) fn remove(&mut self, member_id: &str) -> Option<Seat> {
        self.pending.remove(member_id);
        let seat = self.seats.remove(member_id)?;
        if let Some(instance) = &seat.instance_id
            && self.instances.get(instance).is_some_and(|holder| *holder == seat.member_id)
        {
            self.instances.remove(instance);
        }
        if self.leader.as_deref() == Some(member_id) {
            self.leader = self.eldest(|_| true);
        }
        Some(seat)
    }

    /// Gives a static member's seat to a new id.
    pub(super) fn rename(&mut self, old_id: &str, new_id: &str) {
        let Some(mut seat) = self.seats.remove(old_id) else { return };
        seat.member_id = new_id.into();
        if let Some(instance) = &seat.instance_id {
            self.instances.insert(instance.clone(), new_id.into());
        }
        if self.leader.as_deref() == Some(old_id) {
            self.leader = Some(new_id.into());
        }
        self.seats.insert(new_id.into(), seat);
    }

    pub(super) fn seat(&mut self, member_id: &str) -> Option<&mut Seat> {
        self.seats.get_mut(member_id)
    }

    pub(super) fn seats_mut(&mut self) -> impl Iterator<Item = &mut Seat> {
        self.seats.values_mut()
    }

    pub(super) fn get(&self, member_id: &str) -> Option<&Seat> {
        self.seats.get(member_id)
    }

    pub(super) fn has(&self, member_id: &str) -> bool {
        self.seats.contains_key(member_id)
    }

    pub(super) fn holder(&self, instance_id: &str) -> Option<&str> {
        self.instances.get(instance_id).map(String::as_str)
    }

    pub(super) fn seats(&self) -> impl Iterator<Item = &Seat> {
        self.seats.values()
    }

    pub(super) fn ids(&self) -> Vec<String> {
        self.seats.keys().cloned().collect()
    }

    pub(super) fn len(&self) -> usize {
        self.seats.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.seats.is_empty()
    }

    pub(super) fn is_leader(&self, member_id: &str) -> bool {
        self.leader.as_deref() == Some(member_id)
    }

    /// How many wait for the join to complete.
    pub(super) fn awaiting_join(&self) -> usize {
        self.seats.values().filter(|seat| seat.awaiting_join.is_some()).count()
    }

    /// Whether all have joined, and nobody holds an id that it has yet to join with.
    pub(super) fn all_joined(&self) -> bool {
        self.pending.is_empty() && self.awaiting_join() == self.seats.len()
    }

    /// The member that joined first of those that pass.
    pub(super) fn eldest(&self, passes: impl Fn(&Seat) -> bool) -> Option<String> {
        let eldest = self.seats.values().filter(|seat| passes(seat)).min_by_key(|seat| seat.turn);
        eldest.map(|seat| seat.member_id.clone())
    }

    /// What the members vote for.
    pub(super) fn vote(&self) -> Option<String> {
        let lists: Vec<Vec<&str>> = self.seats.values().map(Seat::names).collect();
        vote(&lists).map(str::to_owned)
    }

    /// All members as the leader sees them.
    pub(super) fn for_leader(&self, protocol: Option<&str>) -> Vec<JoinMember> {
        let members = self.seats.values().map(|seat| JoinMember {
            member_id: seat.member_id.clone(),
            group_instance_id: seat.instance_id.clone(),
            metadata: seat.metadata(protocol),
        });
        members.collect()
    }

    /// The longest that any member asks to be waited for.
    pub(super) fn rebalance_timeout_ms(&self) -> u64 {
        self.seats.values().map(|seat| millis(seat.rebalance_timeout_ms)).max().unwrap_or(0)
    }

    /// Draft: the rebalance protocol for the next generation: the highest that all support, else the one that
    /// most support (of equals the highest). Members that have not said yet don't count.
    pub(super) fn rebalance_protocol(&self) -> Option<u8> {
        let known = || self.seats.values().filter(|seat| seat.supports != Support::Unknown);
        let mut ids: BTreeSet<u8> = BTreeSet::new();
        for seat in known() {
            match &seat.supports {
                Support::Told(told) => ids.extend(told),
                Support::Old => {
                    ids.insert(0);
                }
                Support::Unknown => {}
            }
        }
        ids.into_iter().max_by_key(|&id| (known().filter(|seat| seat.supports.has(id)).count(), id))
    }
}
