//! Taking a log over and giving it up: what a coordinator's move does to its groups.

use super::action::Action;
use super::broker::{Coordinator, Tenancy};
use super::group::Group;
use super::record::{GroupRecord, Record};
use super::roster::{Roster, Seat};
use crate::fence::GroupPhase;
use crate::protocol::error::ErrorCode;

impl Coordinator {
    /// This broker leads the log from now on and must read it first. `epoch` grows with each election; an
    /// older one is a late message and changes nothing.
    ///
    /// Until [`handle_loaded`](Self::handle_loaded) requests are answered COORDINATOR_LOAD_IN_PROGRESS, but for
    /// heartbeats, which are welcome, and syncs, which are told to join again.
    pub fn handle_elected(&mut self, epoch: i32, now_ms: u64) {
        if epoch < self.desk.epoch {
            return;
        }
        self.handle_resigned(now_ms);
        self.desk.position = 0;
        self.desk.epoch = epoch;
        self.tenancy = Tenancy::Loading;
    }

    /// Reads records of the log, in its order. Ignored unless the log is being read.
    pub fn handle_records(&mut self, records: impl IntoIterator<Item = Record>, now_ms: u64) {
        if self.tenancy == Tenancy::Loading {
            for record in records {
                self.replay(record, now_ms);
            }
        }
    }

    /// The log is read to its end. Sessions start anew; a group over `group.max.size` is rebalanced.
    pub fn handle_loaded(&mut self, now_ms: u64) {
        if self.tenancy != Tenancy::Loading {
            return;
        }
        self.tenancy = Tenancy::Here;
        let ids: Vec<String> = self.groups.keys().cloned().collect();
        let size_max = self.config.group_size_max;
        for id in ids {
            let Some((group, mut context)) = self.group_and_context(&id, now_ms) else { continue };
            group.start_sessions(now_ms);
            if group.roster.len() > size_max {
                group.maybe_prepare_rebalance(&mut context);
            }
        }
    }

    /// Another broker leads the log from now on: whoever waits is sent there, everything is forgotten.
    pub fn handle_resigned(&mut self, now_ms: u64) {
        self.tenancy = Tenancy::Elsewhere;
        let ids: Vec<String> = self.groups.keys().cloned().collect();
        for id in ids {
            if let Some((group, mut context)) = self.group_and_context(&id, now_ms) {
                group.close(&mut context, ErrorCode::NotCoordinator);
            }
        }
        self.resign_writes(now_ms);
        self.desk.actions.retain(|action| !matches!(action, Action::Append { .. }));
        self.groups.clear();
        self.producers.clear();
    }

    /// Writes that were under way may or may not be in the log: their callers ask the next coordinator.
    fn resign_writes(&mut self, now_ms: u64) {
        let open: Vec<_> = self.desk.appends.keys().copied().collect();
        for id in open {
            self.handle_append(id, ErrorCode::NotCoordinator, now_ms);
        }
    }

    fn replay(&mut self, record: Record, now_ms: u64) {
        let position = self.desk.position;
        self.desk.position = position.saturating_add(1);
        let group_id = record.group_id().to_owned();
        match record {
            Record::Group { value: Some(value), .. } => {
                self.replayed(&group_id, now_ms).restore(value);
            }
            Record::Group { value: None, .. } => {
                if let Some(group) = self.groups.get_mut(&group_id) {
                    group.restore(GroupRecord::default());
                }
                self.drop_if_bare(&group_id);
            }
            Record::Offset { partition, value: Some(value), producer, .. } => {
                if let Some((producer_id, epoch)) = producer {
                    self.producers.note_write(producer_id, epoch);
                }
                self.replayed(&group_id, now_ms).offsets.put(partition, value, producer, position);
            }
            Record::Offset { partition, value: None, .. } => {
                if let Some(group) = self.groups.get_mut(&group_id) {
                    group.offsets.remove(&partition);
                }
                self.drop_if_bare(&group_id);
            }
            Record::Marker { producer_id, producer_epoch, committed, coordinator_epoch, .. } => {
                self.producers.note_marker(producer_id, producer_epoch, coordinator_epoch);
                self.producers.note_settled(producer_id, producer_epoch);
                if let Some(group) = self.groups.get_mut(&group_id) {
                    group.offsets.settle(producer_id, committed);
                }
                self.drop_if_bare(&group_id);
            }
        }
    }

    fn replayed(&mut self, group_id: &str, now_ms: u64) -> &mut Group {
        self.groups.entry(group_id.to_owned()).or_insert_with(|| Group::new(group_id.into(), now_ms))
    }

    /// A group of which the log keeps neither members, nor a generation, nor offsets, is none.
    fn drop_if_bare(&mut self, group_id: &str) {
        let bare =
            |group: &Group| group.roster.is_empty() && group.generation == 0 && group.offsets.is_empty();
        if self.groups.get(group_id).is_some_and(bare) {
            self.groups.remove(group_id);
        }
    }
}

impl Group {
    fn restore(&mut self, record: GroupRecord) {
        self.generation = record.generation;
        self.protocol_type = Some(record.protocol_type).filter(|name| !name.is_empty());
        self.phase_since_ms = record.state_since_ms;
        self.roster = Roster::default();
        for member in &record.members {
            let turn = self.roster.next_turn();
            self.roster.add(Seat::from_record(member, record.protocol.as_deref(), turn));
        }
        if record.leader.as_deref().is_some_and(|leader| self.roster.has(leader)) {
            self.roster.leader = record.leader;
        }
        self.protocol = record.protocol;
        self.phase = if self.roster.is_empty() { GroupPhase::Empty } else { GroupPhase::Stable };
    }
}
