//! A host for one member, and a broker that says what a test wants it to say.

use std::collections::VecDeque;

use tenure::protocol::error::ErrorCode;
use tenure::protocol::member::*;
use tenure::protocol::message::*;
use tenure::protocol::partition_set::PartitionSet;
use tenure::protocol::payload::{MemberAssignment, MemberSubscription};
use tenure::protocol::selection::{Assignor, ProtocolPolicy, Selection};

pub(crate) struct Host {
    pub(crate) member: Member,
    pub(crate) now_ms: u64,
    pub(crate) sent: VecDeque<(RequestId, Request)>,
    pub(crate) callbacks: Vec<Callback>,
    pub(crate) reports: Vec<Report>,
    pub(crate) commits: Vec<(CommitId, Result<(), CommitError>)>,
    pub(crate) assigns: VecDeque<AssignRequest>,
    pub(crate) refreshes: Vec<MetadataScope>,
    /// Whether callbacks end well at once; else the test ends them.
    pub(crate) auto_callbacks: bool,
    /// The order of all that was done.
    pub(crate) log: Vec<String>,
    pub(crate) member_id: String,
}

pub(crate) fn selection(assignors: &[Assignor]) -> Selection {
    Selection::new(assignors, ProtocolPolicy::Selected).unwrap()
}

pub(crate) fn config(assignors: &[Assignor]) -> MemberConfig {
    MemberConfig::new("group", selection(assignors))
}

pub(crate) fn cooperative() -> MemberConfig {
    config(&[Assignor::cooperative_sticky()])
}

pub(crate) fn eager() -> MemberConfig {
    config(&[Assignor::range()])
}

/// The partitions of one topic.
pub(crate) fn set<const N: usize>(topic: &str, partitions: [i32; N]) -> PartitionSet {
    PartitionSet::from_blocks([(topic, partitions)])
}

pub(crate) fn offset(topic: &str, partition: i32, offset: i64) -> (TopicPartition, CommittedOffset) {
    (TopicPartition::new(topic, partition), CommittedOffset::new(offset))
}

impl Host {
    pub(crate) fn new(config: MemberConfig) -> Self {
        Self {
            member: Member::new(config, 0).unwrap(),
            now_ms: 0,
            sent: VecDeque::new(),
            callbacks: Vec::new(),
            reports: Vec::new(),
            commits: Vec::new(),
            assigns: VecDeque::new(),
            refreshes: Vec::new(),
            auto_callbacks: true,
            log: Vec::new(),
            member_id: "a".into(),
        }
    }

    /// A member of generation 1 that follows, owns this and has all answers.
    pub(crate) fn stable(config: MemberConfig, owned: &PartitionSet) -> Self {
        let assignor = config.selection.assignors()[0].name().to_owned();
        let mut host = Self::new(config);
        let topics: Vec<&str> = owned.blocks().map(|(topic, _)| topic).collect();
        let topics = if topics.is_empty() { vec!["t1"] } else { topics };
        host.member.subscribe(topics, 0).unwrap();
        host.find();
        host.follow(1, &assignor, owned);
        assert_eq!(host.member.state(), MemberState::Stable);
        assert_eq!(host.member.owned(), owned);
        host.forget();
        host
    }

    pub(crate) fn forget(&mut self) {
        self.callbacks.clear();
        self.reports.clear();
        self.commits.clear();
        self.refreshes.clear();
        self.log.clear();
    }

    /// Does all that the member asks for.
    pub(crate) fn pump(&mut self) {
        while let Some(action) = self.member.poll_action() {
            match action {
                Action::Send { id, request, .. } => {
                    self.log.push(request.name().into());
                    self.sent.push_back((id, request));
                }
                Action::Callback(callback) => {
                    self.log.push(format!("{} {}", callback.kind, callback.partitions));
                    self.callbacks.push(callback);
                    if self.auto_callbacks {
                        self.member.callback_finished(Ok(()), self.now_ms).unwrap();
                    }
                }
                Action::RefreshMetadata(scope) => self.refreshes.push(scope),
                Action::Assign(assign) => self.assigns.push_back(assign),
                Action::CommitDone { id, result } => {
                    self.log.push(format!("commit {}", if result.is_ok() { "done" } else { "failed" }));
                    self.commits.push((id, result));
                }
                Action::Report(report) => {
                    self.log.push("report".into());
                    self.reports.push(report);
                }
                other => panic!("unknown action {other:?}"),
            }
        }
    }

    /// The next request, which must be of this name.
    #[track_caller]
    pub(crate) fn take(&mut self, name: &str) -> (RequestId, Request) {
        self.pump();
        let (id, request) = self.sent.pop_front().unwrap_or_else(|| {
            panic!("no {name} was sent; the member is {}, log {:?}", self.member.state(), self.log)
        });
        assert_eq!(request.name(), name);
        (id, request)
    }

    pub(crate) fn nothing_sent(&mut self) -> bool {
        self.pump();
        self.sent.is_empty()
    }

    pub(crate) fn answer(&mut self, id: RequestId, response: impl Into<Response>) {
        self.member.handle_response(id, response.into(), self.now_ms).unwrap();
        self.pump();
    }

    pub(crate) fn finish(&mut self, result: Result<(), &str>) {
        self.member.callback_finished(result.map_err(str::to_owned), self.now_ms).unwrap();
        self.pump();
    }

    pub(crate) fn find(&mut self) {
        let (id, _) = self.take("FindCoordinator");
        self.answer(id, FindCoordinatorResponse { error: ErrorCode::None, node_id: 1 });
    }

    pub(crate) fn take_join(&mut self) -> (RequestId, JoinGroupRequest) {
        match self.take("JoinGroup") {
            (id, Request::JoinGroup(join)) => (id, join),
            _ => unreachable!(),
        }
    }

    pub(crate) fn take_sync(&mut self) -> (RequestId, SyncGroupRequest) {
        match self.take("SyncGroup") {
            (id, Request::SyncGroup(sync)) => (id, sync),
            _ => unreachable!(),
        }
    }

    pub(crate) fn take_commit(&mut self) -> (RequestId, OffsetCommitRequest) {
        match self.take("OffsetCommit") {
            (id, Request::OffsetCommit(commit)) => (id, commit),
            _ => unreachable!(),
        }
    }

    pub(crate) fn refuse_join(&mut self, id: RequestId, error: ErrorCode) {
        let member_id = self.member_id.clone();
        self.answer(id, JoinGroupResponse::refused(error, member_id));
    }

    pub(crate) fn accept_join(&mut self, id: RequestId, generation: i32, assignor: &str) {
        let joined = JoinGroupResponse {
            generation_id: generation,
            protocol_name: Some(assignor.into()),
            leader: "the leader".into(),
            ..JoinGroupResponse::refused(ErrorCode::None, self.member_id.clone())
        };
        self.answer(id, joined);
    }

    /// Makes the member leader of a group with these members' subscriptions.
    pub(crate) fn accept_leader(
        &mut self,
        id: RequestId,
        generation: i32,
        assignor: &str,
        members: Vec<JoinMember>,
    ) {
        let joined = JoinGroupResponse {
            generation_id: generation,
            protocol_name: Some(assignor.into()),
            leader: self.member_id.clone(),
            members,
            ..JoinGroupResponse::refused(ErrorCode::None, self.member_id.clone())
        };
        self.answer(id, joined);
    }

    pub(crate) fn assign(&mut self, id: RequestId, assignment: &MemberAssignment) {
        let mode = self.member.config().mode;
        let assignment = assignment.encode(mode, 3).unwrap();
        self.answer(id, SyncGroupResponse { assignment, ..SyncGroupResponse::default() });
    }

    /// A whole round as a follower; answers what was claimed.
    pub(crate) fn follow(
        &mut self,
        generation: i32,
        assignor: &str,
        assigned: &PartitionSet,
    ) -> MemberSubscription {
        let (id, join) = self.take_join();
        let claimed = subscription(&join);
        self.accept_join(id, generation, assignor);
        let (id, sync) = self.take_sync();
        assert_eq!(sync.generation_id, generation);
        self.assign(id, &MemberAssignment::new(assigned.clone()));
        claimed
    }

    /// A whole round as the leader of a group of its own.
    pub(crate) fn lead_alone(&mut self, generation: i32, assignor: &str, assigned: &PartitionSet) {
        let (id, join) = self.take_join();
        let metadata = join.protocols[0].metadata.clone();
        let me = JoinMember { member_id: self.member_id.clone(), metadata, ..JoinMember::default() };
        self.accept_leader(id, generation, assignor, vec![me]);
        let asked = self.assigns.pop_front().expect("the leader asks its host to assign");
        self.member.assignment_computed(asked.id, Ok(Vec::new()), self.now_ms).unwrap();
        let (id, _) = self.take_sync();
        self.assign(id, &MemberAssignment::new(assigned.clone()));
    }

    /// Lets time pass, with all timeouts on the way, until a heartbeat is out.
    pub(crate) fn take_heartbeat(&mut self) -> RequestId {
        let at_ms = self.member.poll_timeout().expect("a member beats");
        self.now_ms = at_ms;
        self.member.handle_timeout(at_ms);
        self.take("Heartbeat").0
    }

    pub(crate) fn beat(&mut self, error: ErrorCode) {
        let id = self.take_heartbeat();
        self.answer(id, HeartbeatResponse { error, protocol_to_use: None });
    }

    pub(crate) fn tick(&mut self, now_ms: u64) {
        while let Some(at_ms) = self.member.poll_timeout().filter(|&at_ms| at_ms <= now_ms) {
            self.now_ms = self.now_ms.max(at_ms);
            self.member.handle_timeout(self.now_ms);
            self.pump();
        }
        self.now_ms = now_ms;
    }

    pub(crate) fn told(&self) -> Vec<(CallbackKind, String)> {
        self.callbacks.iter().map(|one| (one.kind, one.partitions.to_string())).collect()
    }
}

pub(crate) fn subscription(join: &JoinGroupRequest) -> MemberSubscription {
    let first = &join.protocols[0];
    MemberSubscription::decode_under(&first.name, &join.member_id, &first.metadata).unwrap()
}

pub(crate) fn commit_answer(request: &OffsetCommitRequest, error: ErrorCode) -> Response {
    Response::OffsetCommit(OffsetCommitResponse::all(&request.offsets, error))
}
