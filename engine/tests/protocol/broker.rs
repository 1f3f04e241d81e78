//! A coordinator with a log that acknowledges at once, unless told to hold its writes back.

use std::collections::{BTreeMap, VecDeque};

use tenure::protocol::coordinator::{
    Action, AppendId, Caller, Config, Coordinator, GroupDescription, GroupPhase, Record,
};
use tenure::protocol::error::ErrorCode;
use tenure::protocol::message::*;

pub(crate) const GROUP: &str = "g";

/// The coordinator, its log, and the answers given so far.
pub(crate) struct Broker {
    pub(crate) coordinator: Coordinator,
    pub(crate) log: Vec<Record>,
    pub(crate) answers: BTreeMap<Caller, Response>,
    pub(crate) now_ms: u64,
    /// Writes are kept in `held` instead of being acknowledged.
    pub(crate) holds_writes: bool,
    pub(crate) held: VecDeque<(AppendId, Vec<Record>)>,
    /// The error that every write ends with.
    pub(crate) write_error: ErrorCode,
    next_caller: u64,
}

impl Broker {
    pub(crate) fn new(config: Config) -> Self {
        Self::around(Coordinator::new_empty(config), 0)
    }

    fn around(coordinator: Coordinator, now_ms: u64) -> Self {
        Self {
            coordinator,
            log: Vec::new(),
            answers: BTreeMap::new(),
            now_ms,
            holds_writes: false,
            held: VecDeque::new(),
            write_error: ErrorCode::None,
            next_caller: 0,
        }
    }

    /// No initial delay, so that a lone member's join completes at the next tick.
    pub(crate) fn prompt() -> Self {
        Self::new(prompt())
    }

    /// Another broker that has read this one's log.
    pub(crate) fn successor(&self, config: Config, epoch: i32) -> Self {
        let mut coordinator = Coordinator::new(config);
        coordinator.handle_elected(epoch, self.now_ms);
        coordinator.handle_records(self.log.clone(), self.now_ms);
        coordinator.handle_loaded(self.now_ms);
        let mut broker = Self::around(coordinator, self.now_ms);
        broker.log = self.log.clone();
        broker.settle();
        broker
    }

    /// Sends a request; the answer may come later.
    pub(crate) fn send(&mut self, request: impl Into<Request>) -> Caller {
        let caller = Caller(self.next_caller);
        self.next_caller += 1;
        self.coordinator.handle_request(request.into(), caller, self.now_ms);
        self.settle();
        caller
    }

    /// Sends a request that must be answered at once.
    pub(crate) fn ask(&mut self, request: impl Into<Request>) -> Response {
        let caller = self.send(request);
        self.answer(caller).expect("an answer at once")
    }

    pub(crate) fn answer(&mut self, caller: Caller) -> Option<Response> {
        self.answers.remove(&caller)
    }

    pub(crate) fn joined(&mut self, caller: Caller) -> JoinGroupResponse {
        match self.answer(caller) {
            Some(Response::JoinGroup(response)) => response,
            other => panic!("no answer to a join but {other:?}"),
        }
    }

    pub(crate) fn synced(&mut self, caller: Caller) -> SyncGroupResponse {
        match self.answer(caller) {
            Some(Response::SyncGroup(response)) => response,
            other => panic!("no answer to a sync but {other:?}"),
        }
    }

    /// Does what the coordinator wants done.
    pub(crate) fn settle(&mut self) {
        while let Some(action) = self.coordinator.poll_action() {
            match action {
                Action::Answer { to, response } => {
                    let earlier = self.answers.insert(to, response);
                    assert!(earlier.is_none(), "{to:?} was answered twice");
                }
                Action::Append { id, records } => {
                    self.held.push_back((id, records));
                    if !self.holds_writes {
                        self.write();
                    }
                }
                _ => unreachable!("no other action is known"),
            }
        }
    }

    /// Ends all writes held back.
    pub(crate) fn write(&mut self) {
        while let Some((id, records)) = self.held.pop_front() {
            if self.write_error.is_none() {
                self.log.extend(records);
            }
            self.coordinator.handle_append(id, self.write_error, self.now_ms);
        }
        self.settle();
    }

    /// Lets time pass, deadline by deadline.
    pub(crate) fn pass(&mut self, span_ms: u64) {
        let until_ms = self.now_ms + span_ms;
        let mut turns = 0;
        while let Some(deadline_ms) = self.coordinator.poll_timeout().filter(|&at_ms| at_ms <= until_ms) {
            self.now_ms = self.now_ms.max(deadline_ms);
            self.coordinator.handle_timeout(self.now_ms);
            self.settle();
            turns += 1;
            assert!(turns < 10_000, "the deadline {deadline_ms} never goes away");
        }
        self.now_ms = until_ms;
    }

    pub(crate) fn group(&self) -> GroupDescription {
        self.coordinator.group(GROUP).expect("the group")
    }

    pub(crate) fn phase(&self) -> GroupPhase {
        self.group().phase
    }

    /// The id that a new dynamic member is told to join with.
    pub(crate) fn new_member_id(&mut self) -> String {
        match self.ask(join("")) {
            Response::JoinGroup(response) if response.error == ErrorCode::MemberIdRequired => {
                response.member_id
            }
            other => panic!("no member id but {other:?}"),
        }
    }

    /// A stable group of dynamic members; the first one leads. Answers their ids in the order of joining.
    pub(crate) fn stable_group(&mut self, members: usize) -> Vec<String> {
        let ids: Vec<String> = (0..members).map(|_| self.new_member_id()).collect();
        let joins: Vec<Caller> = ids.iter().map(|id| self.send(join(id))).collect();
        self.pass(self.initial_delay_ms());
        let joins: Vec<JoinGroupResponse> = joins.into_iter().map(|caller| self.joined(caller)).collect();
        assert!(joins[0].is_leader());
        self.sync_all(&joins);
        assert_eq!(self.phase(), GroupPhase::Stable);
        ids
    }

    fn initial_delay_ms(&self) -> u64 {
        self.coordinator.poll_timeout().map_or(0, |at_ms| at_ms.saturating_sub(self.now_ms))
    }

    /// All members of a generation sync; each is assigned its own id's bytes.
    pub(crate) fn sync_all(&mut self, joins: &[JoinGroupResponse]) {
        let generation = joins[0].generation_id;
        let leader = joins.iter().find(|one| one.is_leader()).expect("a leader among them");
        let everyone = leader.members.iter().map(|one| one.member_id.as_str());
        let plan = plan(everyone);
        let callers: Vec<Caller> = joins
            .iter()
            .map(|one| {
                assert_eq!(one.error, ErrorCode::None);
                let assignments = if one.is_leader() { plan.clone() } else { Vec::new() };
                self.send(SyncGroupRequest { assignments, ..sync(&one.member_id, generation) })
            })
            .collect();
        for (caller, one) in callers.into_iter().zip(joins) {
            let response = self.synced(caller);
            assert_eq!(response.error, ErrorCode::None);
            assert_eq!(response.assignment, one.member_id.as_bytes());
        }
    }
}

pub(crate) fn prompt() -> Config {
    Config { initial_rebalance_delay_ms: 0, ..Config::default() }
}

pub(crate) fn protocols(names: &[&str]) -> Vec<JoinProtocol> {
    names
        .iter()
        .map(|name| JoinProtocol { name: (*name).into(), metadata: b"topics".to_vec(), version: None })
        .collect()
}

pub(crate) fn join(member_id: &str) -> JoinGroupRequest {
    JoinGroupRequest {
        client_id: "c".into(),
        group_id: GROUP.into(),
        session_timeout_ms: 10_000,
        rebalance_timeout_ms: 60_000,
        member_id: member_id.into(),
        protocols: protocols(&["range"]),
        ..JoinGroupRequest::default()
    }
}

pub(crate) fn join_static(instance: &str, member_id: &str) -> JoinGroupRequest {
    JoinGroupRequest { group_instance_id: Some(instance.into()), ..join(member_id) }
}

pub(crate) fn sync(member_id: &str, generation_id: i32) -> SyncGroupRequest {
    SyncGroupRequest {
        group_id: GROUP.into(),
        generation_id,
        member_id: member_id.into(),
        ..SyncGroupRequest::default()
    }
}

/// An assignment for each id: the id itself.
pub(crate) fn plan<'a>(ids: impl Iterator<Item = &'a str>) -> Vec<SyncAssignment> {
    ids.map(|id| SyncAssignment { member_id: id.into(), assignment: id.as_bytes().to_vec() }).collect()
}

pub(crate) fn heartbeat(member_id: &str, generation_id: i32) -> HeartbeatRequest {
    HeartbeatRequest {
        group_id: GROUP.into(),
        generation_id,
        member_id: member_id.into(),
        ..HeartbeatRequest::default()
    }
}

pub(crate) fn t(partition: i32) -> TopicPartition {
    TopicPartition::new("t1", partition)
}

pub(crate) fn commit(member_id: &str, generation_id: i32, offset: i64) -> OffsetCommitRequest {
    OffsetCommitRequest {
        api_version: 9,
        group_id: GROUP.into(),
        generation_id,
        member_id: member_id.into(),
        group_instance_id: None,
        offsets: vec![(t(0), CommittedOffset::new(offset))],
    }
}

pub(crate) fn txn_commit(
    (producer_id, producer_epoch): (i64, i16),
    member_id: &str,
    generation_id: i32,
    offset: i64,
) -> TxnOffsetCommitRequest {
    TxnOffsetCommitRequest {
        transactional_id: format!("txn-{producer_id}"),
        group_id: GROUP.into(),
        producer_id,
        producer_epoch,
        generation_id,
        member_id: member_id.into(),
        group_instance_id: None,
        offsets: vec![(t(0), CommittedOffset::new(offset))],
    }
}

pub(crate) fn marker((producer_id, producer_epoch): (i64, i16), committed: bool) -> TxnMarkerRequest {
    TxnMarkerRequest {
        group_id: GROUP.into(),
        producer_id,
        producer_epoch,
        committed,
        coordinator_epoch: 0,
        transaction_version: 1,
    }
}

pub(crate) fn fetch_stable() -> OffsetFetchRequest {
    OffsetFetchRequest { group_id: GROUP.into(), partitions: Some(vec![t(0)]), require_stable: true }
}

/// What a stable fetch of t1-0 says: the offset, none, or the error.
pub(crate) fn stable_offset(broker: &mut Broker) -> Result<Option<i64>, ErrorCode> {
    match broker.ask(fetch_stable()) {
        Response::OffsetFetch(response) => {
            response.error.ok()?;
            let one = &response.partitions[0];
            one.error.ok()?;
            Ok(one.committed.as_ref().map(|committed| committed.offset))
        }
        other => panic!("no answer to a fetch but {other:?}"),
    }
}
