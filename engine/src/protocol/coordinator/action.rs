//! What the coordinator wants done, and the context in which a group does its part.

use std::collections::{BTreeMap, VecDeque};

use super::config::Config;
use super::offsets::InFlight;
use super::record::Record;
use super::roster::Seat;
use crate::protocol::message::{Caller, OffsetCommitResponse, Response};

/// One write to the log, to be acknowledged with [`Coordinator::handle_append`](super::Coordinator::handle_append).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AppendId(pub u64);

/// What the coordinator wants done.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Action {
    /// Deliver an answer. A caller that gave up may be gone: drop it then.
    Answer {
        /// To whom.
        to: Caller,
        /// The answer.
        response: Response,
    },
    /// Write records to the log, all or none, after all that was asked for before; then acknowledge.
    Append {
        /// What to acknowledge with.
        id: AppendId,
        /// The records.
        records: Vec<Record>,
    },
}

/// What happens once a write is acknowledged.
#[derive(Debug, Clone)]
pub(super) enum Continuation {
    /// The leader's assignment: hand it to the members.
    Assignment { generation: i32, assignments: BTreeMap<String, Vec<u8>> },
    /// A static member's new id.
    Replacement(Box<Replacement>),
    /// Offsets, plain or of a transaction.
    Offsets { to: Caller, transactional: bool, response: OffsetCommitResponse, in_flight: InFlight },
    /// The end of a transaction.
    Marker { to: Caller, producer_id: i64, producer_epoch: i16, committed: bool },
    /// The group is forgotten.
    Tombstone,
    /// Nothing waits for it.
    Nothing,
}

/// How to answer a static member's join, and how to undo it.
#[derive(Debug, Clone)]
pub(super) struct Replacement {
    pub(super) new_id: String,
    pub(super) old_seat: Seat,
    pub(super) old_leader: Option<String>,
    pub(super) generation: i32,
    pub(super) skips_assignment: bool,
}

/// Where groups put their actions and find the settings.
pub(super) struct Context<'a> {
    pub(super) config: &'a Config,
    pub(super) now_ms: u64,
    pub(super) desk: &'a mut Desk,
}

/// The queue of actions, the writes in flight, and the numbers given out.
#[derive(Debug, Default)]
pub(super) struct Desk {
    pub(super) actions: VecDeque<Action>,
    pub(super) appends: BTreeMap<AppendId, (String, Continuation)>,
    next_append: u64,
    /// The log's end, counting what was asked to be written.
    pub(super) position: u64,
    pub(super) epoch: i32,
    next_member: u64,
}

impl Context<'_> {
    pub(super) fn answer(&mut self, to: Caller, response: impl Into<Response>) {
        self.desk.actions.push_back(Action::Answer { to, response: response.into() });
    }

    /// Asks for a write and remembers what follows. Returns the position of the first record.
    pub(super) fn append(&mut self, group_id: &str, records: Vec<Record>, then: Continuation) -> AppendId {
        let id = AppendId(self.desk.next_append);
        self.desk.next_append = self.desk.next_append.saturating_add(1);
        self.desk.position = self.desk.position.saturating_add(records.len() as u64);
        self.desk.appends.insert(id, (group_id.to_owned(), then));
        self.desk.actions.push_back(Action::Append { id, records });
        id
    }

    /// A member id that no coordinator of this seed and epoch has given before.
    pub(super) fn member_id(&mut self, prefix: &str) -> String {
        let turn = self.desk.next_member;
        self.desk.next_member = turn.saturating_add(1);
        format!("{prefix}-{:08x}-{:04x}-{turn:08x}", self.config.member_id_seed, self.desk.epoch)
    }
}
