//! The loop as a state machine.

use std::collections::{BTreeSet, VecDeque};

use super::config::CycleConfig;
use crate::fence::metadata::GroupMetadata;
use crate::fence::transaction::Producer;
use crate::protocol::error::{ErrorCode, ProtocolError};
use crate::protocol::message::{
    AddOffsetsToTxnRequest, AddPartitionsToTxnRequest, CommittedOffset, CoordinatorKind, EndTxnRequest,
    FindCoordinatorRequest, InitProducerIdRequest, Request, TopicPartition, TxnOffsetCommitRequest,
};

/// One request of a [`Cycle`], to be answered with [`Cycle::handle_response`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestId(pub u64);

/// Where the loop stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CyclePhase {
    /// Not started.
    Idle,
    /// Asks for a producer id and epoch.
    Initialising,
    /// May begin a transaction.
    Ready,
    /// In a transaction: read, process, write.
    Open,
    /// Sends offsets, then ends the transaction.
    Committing,
    /// Ends the transaction without a trace.
    Aborting,
    /// Stopped for good.
    Dead,
}

impl CyclePhase {
    /// The phase's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Idle => "Idle",
            Self::Initialising => "Initialising",
            Self::Ready => "Ready",
            Self::Open => "Open",
            Self::Committing => "Committing",
            Self::Aborting => "Aborting",
            Self::Dead => "Dead",
        }
    }
}

/// What the loop wants done, or has to tell.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum CycleAction {
    /// Send a request to the coordinator of this kind; FindCoordinator goes to any broker.
    Send {
        /// What to answer with.
        id: RequestId,
        /// Which coordinator.
        to: CoordinatorKind,
        /// The request.
        request: Request,
    },
    /// Tell: transactions may begin.
    Ready,
    /// Tell: this partition may be written to from now on, in this transaction.
    Writable(TopicPartition),
    /// Tell: the transaction is committed, offsets and all.
    Committed,
    /// Tell: the transaction is void. Forget the positions of what it read; of the partitions that are still the
    /// member's fetch the committed offsets ([`StableFetch`](crate::fence::stable::StableFetch)) and do it again. A
    /// position that is kept would be taken up when a partition comes back, and others have been there meanwhile.
    Aborted {
        /// Why; [`ErrorCode::None`] if the application asked for it.
        reason: ErrorCode,
    },
    /// Tell: the loop has stopped for good. Another is at work, or the set-up is wrong.
    Dead {
        /// Why.
        reason: ErrorCode,
    },
}

/// What the present transaction has come to.
#[derive(Debug, Clone, Default)]
pub(super) struct Work {
    to_add: BTreeSet<TopicPartition>,
    pub(super) added: BTreeSet<TopicPartition>,
    offsets: Vec<(TopicPartition, CommittedOffset)>,
    reads: BTreeSet<TopicPartition>,
    revoked: BTreeSet<TopicPartition>,
    pub(super) group_added: bool,
    /// The group's coordinator has the offsets: they hold back any other owner.
    pub(super) offsets_pending: bool,
    /// The coordinator may know of this transaction.
    touched: bool,
    /// The decision to commit is out of our hands.
    commit_sent: bool,
}

/// A request under way, and what it was, to tell its answer's meaning.
#[derive(Debug, Clone)]
pub(super) struct InFlight {
    id: RequestId,
    pub(super) step: Step,
    deadline_ms: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step {
    Find(CoordinatorKind),
    Init,
    AddPartitions(BTreeSet<TopicPartition>),
    AddOffsets,
    SendOffsets,
    End { committed: bool },
}

/// A read-process-write loop.
///
/// Polling order: call a command ([`start`](Self::start), [`begin`](Self::begin), …) or one `handle_*`, then
/// [`poll_action`](Self::poll_action) until it gives `None`, then [`poll_timeout`](Self::poll_timeout); call
/// [`handle_timeout`](Self::handle_timeout) when that moment has come. `poll_action` takes the consumer's
/// metadata as it is at that moment, since that is what goes out. One request is under way at a time; answers to
/// requests given up are ignored.
///
/// A loop whose consumer was ever in a generation commits no offsets while it is in none: brokers would take them for
/// those of a client that is no member, and not fence them. An application that goes over to assigning partitions by
/// hand starts a new loop.
///
/// In the consumer's revoked callback first commit or abort, then call [`handle_revoked`](Self::handle_revoked);
/// in the lost callback call [`handle_lost`](Self::handle_lost).
///
/// # Examples
///
/// ```
/// use tenure::fence::GroupMetadata;
/// use tenure::fence::cycle::{Cycle, CycleAction, CycleConfig, CyclePhase, ProducerName};
/// use tenure::protocol::error::ErrorCode;
/// use tenure::protocol::message::{CommittedOffset, InitProducerIdResponse, Request, TopicPartition};
///
/// let mut cycle = Cycle::new(CycleConfig::new(ProducerName::TransactionalId("t".into())));
/// let metadata = GroupMetadata { generation: 3, member_id: "m".into(), ..GroupMetadata::outsider("g") };
/// cycle.start(0)?;
/// let Some(CycleAction::Send { id, request: Request::InitProducerId(_), .. }) = cycle.poll_action(&metadata, 0)
/// else { panic!() };
/// let answer = InitProducerIdResponse { error: ErrorCode::None, producer_id: 7, producer_epoch: 0 };
/// cycle.handle_response(id, answer.into(), 5)?;
/// assert_eq!(cycle.poll_action(&metadata, 5), Some(CycleAction::Ready));
///
/// cycle.begin(5)?;
/// cycle.write(TopicPartition::new("out", 0))?; // and, once it is Writable, the records
/// cycle.commit(vec![(TopicPartition::new("in", 0), CommittedOffset::new(10))])?;
/// assert_eq!(cycle.phase(), CyclePhase::Committing);
/// # Ok::<(), tenure::protocol::error::ProtocolError>(())
/// ```
#[derive(Debug)]
pub struct Cycle {
    pub(super) config: CycleConfig,
    pub(super) phase: CyclePhase,
    pub(super) producer: Producer,
    pub(super) work: Work,
    /// Why the transaction is given up, and whether the loop with it.
    pub(super) reason: ErrorCode,
    pub(super) dies: bool,
    /// Coordinators to look up before anything is sent to them.
    pub(super) lost_coordinators: BTreeSet<CoordinatorKind>,
    pub(super) in_flight: Option<InFlight>,
    pub(super) resumes_ms: Option<u64>,
    pub(super) failures: u32,
    pub(super) events: VecDeque<CycleAction>,
    next_request: u64,
    /// The consumer was seen in a generation of its group.
    was_member: bool,
}

impl Cycle {
    /// A loop that has not started.
    pub fn new(config: CycleConfig) -> Self {
        Self {
            config,
            phase: CyclePhase::Idle,
            producer: Producer::NONE,
            work: Work::default(),
            reason: ErrorCode::None,
            dies: false,
            lost_coordinators: BTreeSet::new(),
            in_flight: None,
            resumes_ms: None,
            failures: 0,
            events: VecDeque::new(),
            next_request: 0,
            was_member: false,
        }
    }

    /// Asks for a producer id and epoch (`initTransactions`).
    ///
    /// # Errors
    ///
    /// [`ProtocolError::Unexpected`] unless the loop is idle.
    pub fn start(&mut self, _now_ms: u64) -> Result<(), ProtocolError> {
        self.expect(CyclePhase::Idle, "start")?;
        self.phase = CyclePhase::Initialising;
        Ok(())
    }

    /// Begins a transaction. Nothing is sent before something is written or committed.
    ///
    /// # Errors
    ///
    /// [`ProtocolError::Unexpected`] unless the loop is ready.
    pub fn begin(&mut self, _now_ms: u64) -> Result<(), ProtocolError> {
        self.expect(CyclePhase::Ready, "begin")?;
        self.work = Work::default();
        self.phase = CyclePhase::Open;
        Ok(())
    }

    /// Declares that the transaction's records come from this partition. Then a revocation of others leaves the
    /// transaction alone; where nothing is declared, any revocation ends it.
    ///
    /// # Errors
    ///
    /// [`ProtocolError::Unexpected`] outside of an open transaction.
    pub fn read(&mut self, partition: TopicPartition) -> Result<(), ProtocolError> {
        self.expect(CyclePhase::Open, "read")?;
        self.work.reads.insert(partition);
        Ok(())
    }

    /// Asks to write to a partition; it is told [`CycleAction::Writable`] once the coordinator knows.
    ///
    /// # Errors
    ///
    /// [`ProtocolError::Unexpected`] outside of an open transaction.
    pub fn write(&mut self, partition: TopicPartition) -> Result<(), ProtocolError> {
        self.expect(CyclePhase::Open, "write")?;
        if !self.work.added.contains(&partition) {
            self.work.to_add.insert(partition);
        }
        Ok(())
    }

    /// Commits what was written together with the offsets of what was read. If a partition among the offsets was
    /// revoked since the transaction began, it is aborted instead: somebody else owns the partition.
    ///
    /// # Errors
    ///
    /// [`ProtocolError::Unexpected`] outside of an open transaction.
    pub fn commit(&mut self, offsets: Vec<(TopicPartition, CommittedOffset)>) -> Result<(), ProtocolError> {
        self.expect(CyclePhase::Open, "commit")?;
        self.phase = CyclePhase::Committing;
        self.work.offsets = offsets;
        let gone = self.work.offsets.iter().any(|(partition, _)| self.work.revoked.contains(partition));
        if gone {
            self.give_up(ErrorCode::IllegalGeneration);
        }
        Ok(())
    }

    /// Gives the transaction up.
    ///
    /// # Errors
    ///
    /// [`ProtocolError::Unexpected`] outside of an open transaction.
    pub fn abort(&mut self) -> Result<(), ProtocolError> {
        self.expect(CyclePhase::Open, "abort")?;
        self.give_up(ErrorCode::None);
        Ok(())
    }

    /// The consumer heard REBALANCE_IN_PROGRESS. Where all fetch stable offsets nothing has to be done: the
    /// generation still counts until the members have joined, and pending offsets hold back any new owner. Where
    /// they don't, a transaction that is not decided yet is aborted.
    pub fn handle_rebalance(&mut self) {
        let undecided =
            self.phase == CyclePhase::Open || self.phase == CyclePhase::Committing && !self.work.commit_sent;
        if undecided && !self.config.stable_fetches {
            self.give_up(ErrorCode::RebalanceInProgress);
        }
    }

    /// These partitions were given up in order. A transaction that read from them and whose offsets the group's
    /// coordinator has not got yet must not be committed any more: the next owner reads the same records again.
    pub fn handle_revoked<'a>(&mut self, partitions: impl IntoIterator<Item = &'a TopicPartition>) {
        self.work.revoked.extend(partitions.into_iter().cloned());
        if self.work.revoked.is_empty() {
            return;
        }
        let work = &self.work;
        let offsets = work.offsets.iter().map(|(partition, _)| partition);
        let touches = work.reads.iter().chain(offsets).any(|partition| work.revoked.contains(partition));
        match self.phase {
            CyclePhase::Open if touches || work.reads.is_empty() => {
                self.give_up(ErrorCode::IllegalGeneration)
            }
            CyclePhase::Committing if touches && !self.holds_others_back() => {
                self.give_up(ErrorCode::IllegalGeneration);
            }
            _ => {}
        }
    }

    /// All partitions were taken away: the group goes on without this member. What is not decided is aborted.
    pub fn handle_lost(&mut self) {
        match self.phase {
            CyclePhase::Open => self.give_up(ErrorCode::UnknownMemberId),
            CyclePhase::Committing if !self.holds_others_back() => self.give_up(ErrorCode::UnknownMemberId),
            _ => {}
        }
    }

    /// Time has come: a pause is over, or a request stays unanswered and is sent again.
    pub fn handle_timeout(&mut self, now_ms: u64) {
        if self.resumes_ms.is_some_and(|at_ms| at_ms <= now_ms) {
            self.resumes_ms = None;
        }
        if self.in_flight.as_ref().is_some_and(|one| one.deadline_ms <= now_ms)
            && let Some(late) = self.in_flight.take()
        {
            // Its coordinator may be gone, too.
            if let Some(kind) = late.step.coordinator() {
                self.lost_coordinators.insert(kind);
            }
        }
    }

    /// The next thing to do or to tell, in order. `metadata` is the consumer's place in its group at this moment.
    pub fn poll_action(&mut self, metadata: &GroupMetadata, now_ms: u64) -> Option<CycleAction> {
        if let Some(event) = self.events.pop_front() {
            return Some(event);
        }
        if self.in_flight.is_some() || self.resumes_ms.is_some_and(|at_ms| at_ms > now_ms) {
            return None;
        }
        self.resumes_ms = None;
        let nothing_to_end =
            !self.work.touched && self.work.to_add.is_empty() && self.work.offsets.is_empty();
        if self.phase == CyclePhase::Aborting && !self.work.touched
            || self.phase == CyclePhase::Committing && nothing_to_end
        {
            self.ended(self.phase == CyclePhase::Committing);
            return self.events.pop_front();
        }
        self.was_member |= metadata.generation >= 0;
        if self.was_member && metadata.generation < 0 && self.next_step() == Some(Step::SendOffsets) {
            // Nobody's commit would be let through unfenced: the membership was lost, and the callback has yet to tell.
            self.give_up(ErrorCode::UnknownMemberId);
        }
        let step = self.next_step()?;
        let step = match step.coordinator().filter(|kind| self.lost_coordinators.contains(kind)) {
            Some(kind) => Step::Find(kind),
            None => step,
        };
        Some(self.send(step, metadata, now_ms))
    }

    /// When [`handle_timeout`](Self::handle_timeout) is due.
    pub fn poll_timeout(&self) -> Option<u64> {
        self.in_flight.as_ref().map(|one| one.deadline_ms).or(self.resumes_ms)
    }

    /// Where the loop stands.
    pub fn phase(&self) -> CyclePhase {
        self.phase
    }

    /// The producer's id and epoch at present.
    pub fn producer(&self) -> Producer {
        self.producer
    }

    /// Whether the transaction may write to this partition.
    pub fn may_write(&self, partition: &TopicPartition) -> bool {
        self.phase == CyclePhase::Open && self.work.added.contains(partition)
    }

    /// Whether pending offsets keep the next owner from reading until this transaction ends.
    fn holds_others_back(&self) -> bool {
        self.work.offsets_pending && self.config.stable_fetches
    }

    fn next_step(&self) -> Option<Step> {
        match self.phase {
            CyclePhase::Initialising => Some(Step::Init),
            CyclePhase::Open | CyclePhase::Committing if !self.work.to_add.is_empty() => {
                Some(Step::AddPartitions(self.work.to_add.clone()))
            }
            CyclePhase::Committing if self.work.offsets.is_empty() || self.work.offsets_pending => {
                Some(Step::End { committed: true })
            }
            CyclePhase::Committing if self.work.group_added => Some(Step::SendOffsets),
            CyclePhase::Committing => Some(Step::AddOffsets),
            CyclePhase::Aborting => Some(Step::End { committed: false }),
            CyclePhase::Idle | CyclePhase::Ready | CyclePhase::Open | CyclePhase::Dead => None,
        }
    }

    fn send(&mut self, step: Step, metadata: &GroupMetadata, now_ms: u64) -> CycleAction {
        let transactional_id = self.config.name.transactional_id().to_owned();
        let Producer { id: producer_id, epoch: producer_epoch } = self.producer;
        let request: Request = match &step {
            Step::Find(kind) => {
                let key = self.key(*kind, metadata);
                FindCoordinatorRequest { key, kind: self.addressed(*kind) }.into()
            }
            Step::Init => InitProducerIdRequest {
                transactional_id: Some(transactional_id).filter(|id| !id.is_empty()),
                transaction_timeout_ms: self.config.transaction_timeout_ms,
                producer_id,
                producer_epoch,
                transactional_group_id: self.config.name.group_id().map(str::to_owned),
                generation_id: self.config.name.group_id().map(|_| metadata.generation),
            }
            .into(),
            Step::AddPartitions(partitions) => {
                let partitions = partitions.iter().cloned().collect();
                AddPartitionsToTxnRequest { transactional_id, producer_id, producer_epoch, partitions }.into()
            }
            Step::AddOffsets => {
                let group_id = metadata.group_id.clone();
                AddOffsetsToTxnRequest { transactional_id, producer_id, producer_epoch, group_id }.into()
            }
            Step::SendOffsets => {
                let offsets = self.work.offsets.clone();
                let mut request = TxnOffsetCommitRequest {
                    transactional_id,
                    producer_id,
                    producer_epoch,
                    offsets,
                    ..TxnOffsetCommitRequest::default()
                };
                metadata.stamp(&mut request);
                request.into()
            }
            &Step::End { committed } => {
                EndTxnRequest { transactional_id, producer_id, producer_epoch, committed }.into()
            }
        };
        match &step {
            Step::AddPartitions(_) | Step::AddOffsets => self.work.touched = true,
            Step::End { committed: true } => self.work.commit_sent = true,
            _ => {}
        }
        let to = match &step {
            Step::Find(kind) => *kind,
            other => other.coordinator().unwrap_or_default(),
        };
        let id = RequestId(self.next_request);
        self.next_request = self.next_request.saturating_add(1);
        let deadline_ms = now_ms.saturating_add(self.config.request_timeout_ms.max(1));
        self.in_flight = Some(InFlight { id, step, deadline_ms });
        CycleAction::Send { id, to: self.addressed(to), request }
    }

    /// A producer known by its group alone finds its coordinator by the group.
    fn addressed(&self, kind: CoordinatorKind) -> CoordinatorKind {
        let by_group = self.config.name.group_id().is_some();
        if kind == CoordinatorKind::Transaction && by_group {
            CoordinatorKind::TransactionByGroup
        } else {
            kind
        }
    }

    fn key(&self, kind: CoordinatorKind, metadata: &GroupMetadata) -> String {
        match kind {
            CoordinatorKind::Group => metadata.group_id.clone(),
            CoordinatorKind::Transaction | CoordinatorKind::TransactionByGroup => {
                let name = &self.config.name;
                name.group_id().unwrap_or(name.transactional_id()).to_owned()
            }
        }
    }

    pub(super) fn take_in_flight(&mut self, id: RequestId) -> Option<InFlight> {
        self.in_flight.take_if(|one| one.id == id)
    }

    pub(super) fn partitions_added(&mut self, partitions: BTreeSet<TopicPartition>) {
        for partition in partitions {
            self.work.to_add.remove(&partition);
            if self.work.added.insert(partition.clone()) && self.phase == CyclePhase::Open {
                self.events.push_back(CycleAction::Writable(partition));
            }
        }
    }

    /// Turns to aborting, unless the decision to commit is out already: then only its answer tells.
    pub(super) fn give_up(&mut self, reason: ErrorCode) {
        if self.phase == CyclePhase::Committing && self.work.commit_sent {
            return;
        }
        self.phase = CyclePhase::Aborting;
        self.reason = reason;
    }

    fn expect(&self, phase: CyclePhase, event: &'static str) -> Result<(), ProtocolError> {
        if self.phase == phase {
            Ok(())
        } else {
            Err(ProtocolError::Unexpected { state: self.phase.name(), event })
        }
    }
}

impl Step {
    /// Which coordinator a step goes to; a look-up goes to any broker.
    pub(super) fn coordinator(&self) -> Option<CoordinatorKind> {
        match self {
            Self::Find(_) => None,
            Self::SendOffsets => Some(CoordinatorKind::Group),
            Self::Init | Self::AddPartitions(_) | Self::AddOffsets | Self::End { .. } => {
                Some(CoordinatorKind::Transaction)
            }
        }
    }
}
