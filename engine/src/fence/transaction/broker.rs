//! The door: requests, markers' answers and time come in, actions go out.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::state::{Producer, TransactionKey, TransactionPhase, TransactionRecord};
use crate::protocol::error::ErrorCode;
use crate::protocol::message::{
    AddOffsetsToTxnRequest, AddOffsetsToTxnResponse, AddPartitionsToTxnRequest, AddPartitionsToTxnResponse,
    Caller, EndTxnRequest, EndTxnResponse, FindCoordinatorResponse, HeartbeatResponse,
    InitProducerIdResponse, JoinGroupResponse, LeaveGroupResponse, OffsetCommitResponse, OffsetFetchResponse,
    Request, Response, SyncGroupResponse, TopicPartition, TxnMarkerRequest, TxnMarkerResponse,
};

/// The settings of a [`TransactionCoordinator`], with the released broker's defaults.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TransactionConfig {
    /// `transaction.max.timeout.ms`.
    pub timeout_max_ms: u64,
    /// `transactional.id.expiration.ms`: after so long an idle producer is forgotten.
    pub idle_max_ms: u64,
    /// After so long an unanswered or failed marker is sent again.
    pub marker_retry_ms: u64,
    /// 2: every transaction has an epoch of its own (KIP-890, `transaction.version` 2). 1: the epoch stays, as
    /// before Kafka 4.0, and late requests can hurt the next transaction.
    pub transaction_version: i8,
}

impl Default for TransactionConfig {
    fn default() -> Self {
        Self {
            timeout_max_ms: 900_000,
            idle_max_ms: 604_800_000,
            marker_retry_ms: 100,
            transaction_version: 2,
        }
    }
}

/// Where a marker goes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MarkerTarget {
    /// The log of a partition that the transaction wrote to.
    Partition(TopicPartition),
    /// A group's coordinator.
    Group(String),
}

/// A record of the transaction coordinator's log (`__transaction_state`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TransactionLogRecord {
    /// A producer as it is from now on.
    Transaction(TransactionRecord),
    /// A producer that was idle for too long.
    Forgotten(TransactionKey),
    /// *Draft* (KIP-447): a group's generation was seen; earlier ones are refused.
    Generation {
        /// The consumer group.
        group_id: String,
        /// The transactional id that brought it.
        transactional_id: String,
        /// The generation.
        generation: i32,
    },
}

/// What the coordinator wants done.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum TransactionAction {
    /// Write a record, before anything that follows is done. If that fails, drop what follows and call
    /// [`TransactionCoordinator::handle_resigned`].
    Append(TransactionLogRecord),
    /// Deliver an answer.
    Answer {
        /// To whom.
        to: Caller,
        /// The answer.
        response: Response,
    },
    /// Send a marker, and report with [`TransactionCoordinator::handle_marker_answer`].
    SendMarker {
        /// Where to.
        target: MarkerTarget,
        /// The marker; its group is empty when the target is a partition.
        marker: TxnMarkerRequest,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tenancy {
    Elsewhere,
    Loading,
    Here,
}

/// What the end of a transaction does to the producer's epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Raise {
    /// It stays.
    No,
    /// It rises, and the client at work may go on under the new one.
    SameClient,
    /// It rises, and the client at work is fenced for good.
    NewClient,
}

/// A producer and the markers it still waits for.
#[derive(Debug)]
pub(super) struct Transaction {
    pub(super) record: TransactionRecord,
    outstanding: BTreeSet<MarkerTarget>,
    resend_ms: u64,
}

/// The coordinator of all transactions of one log.
///
/// Polling order: call one `handle_*`, then [`poll_action`](Self::poll_action) until it gives `None`, doing each
/// before the next; then [`poll_timeout`](Self::poll_timeout), and [`handle_timeout`](Self::handle_timeout) when
/// that moment has come. Time must not run backwards.
///
/// # Examples
///
/// ```
/// use tenure::fence::transaction::{TransactionAction, TransactionConfig, TransactionCoordinator};
/// use tenure::protocol::message::{Caller, InitProducerIdRequest, Response};
///
/// let mut coordinator = TransactionCoordinator::new_empty(TransactionConfig::default());
/// let request = InitProducerIdRequest { transactional_id: Some("t".into()), ..Default::default() };
/// coordinator.handle_request(request.into(), Caller(1), 0);
/// assert!(matches!(coordinator.poll_action(), Some(TransactionAction::Append(_))));
/// let Some(TransactionAction::Answer { response: Response::InitProducerId(response), .. }) =
///     coordinator.poll_action()
/// else { panic!() };
/// assert_eq!(response.producer_epoch, 0);
/// ```
#[derive(Debug)]
pub struct TransactionCoordinator {
    pub(super) config: TransactionConfig,
    tenancy: Tenancy,
    pub(super) epoch: i32,
    pub(super) transactions: BTreeMap<TransactionKey, Transaction>,
    by_producer: BTreeMap<i64, TransactionKey>,
    pub(super) generations: BTreeMap<String, i32>,
    pub(super) next_producer: i64,
    actions: VecDeque<TransactionAction>,
}

impl TransactionCoordinator {
    /// A coordinator that has no log yet.
    pub fn new(config: TransactionConfig) -> Self {
        Self {
            config,
            tenancy: Tenancy::Elsewhere,
            epoch: 0,
            transactions: BTreeMap::new(),
            by_producer: BTreeMap::new(),
            generations: BTreeMap::new(),
            next_producer: 0,
            actions: VecDeque::new(),
        }
    }

    /// A coordinator of an empty log, ready for requests.
    pub fn new_empty(config: TransactionConfig) -> Self {
        let mut coordinator = Self::new(config);
        coordinator.handle_elected(0);
        coordinator.handle_loaded(0);
        coordinator
    }

    /// This broker leads the log from now on and must read it first. `epoch` grows with each election.
    pub fn handle_elected(&mut self, epoch: i32) {
        if epoch < self.epoch {
            return;
        }
        self.handle_resigned();
        self.epoch = epoch;
        self.next_producer = 0;
        self.tenancy = Tenancy::Loading;
    }

    /// Reads records of the log, in its order. Ignored unless the log is being read.
    pub fn handle_records(&mut self, records: impl IntoIterator<Item = TransactionLogRecord>) {
        if self.tenancy != Tenancy::Loading {
            return;
        }
        for record in records {
            match record {
                TransactionLogRecord::Transaction(record) => {
                    let key = record.key.clone();
                    self.by_producer.insert(record.producer.id, key.clone());
                    let transaction = Transaction { record, outstanding: BTreeSet::new(), resend_ms: 0 };
                    self.transactions.insert(key, transaction);
                }
                TransactionLogRecord::Forgotten(key) => self.forget(&key),
                TransactionLogRecord::Generation { group_id, generation, .. } => {
                    let seen = self.generations.entry(group_id).or_insert(generation);
                    *seen = generation.max(*seen);
                }
            }
        }
    }

    /// The log is read to its end: what was decided is carried out.
    pub fn handle_loaded(&mut self, now_ms: u64) {
        if self.tenancy != Tenancy::Loading {
            return;
        }
        self.tenancy = Tenancy::Here;
        let decided = self.transactions.values().filter(|one| one.record.phase.is_prepared());
        let keys: Vec<TransactionKey> = decided.map(|one| one.record.key.clone()).collect();
        for key in keys {
            self.send_markers(&key, now_ms);
        }
    }

    /// Another broker leads the log from now on. Everything is forgotten, and what was not yet done with it.
    pub fn handle_resigned(&mut self) {
        self.tenancy = Tenancy::Elsewhere;
        self.transactions.clear();
        self.by_producer.clear();
        self.generations.clear();
        self.actions.clear();
    }

    /// Handles a request of any kind that a transaction coordinator answers; others get INVALID_REQUEST.
    pub fn handle_request(&mut self, request: Request, from: Caller, now_ms: u64) {
        let before = self.actions.len();
        let admitted = match self.tenancy {
            Tenancy::Elsewhere => Err(ErrorCode::NotCoordinator),
            Tenancy::Loading => Err(ErrorCode::CoordinatorLoadInProgress),
            Tenancy::Here => Ok(()),
        };
        let response = match (request, admitted) {
            (Request::InitProducerId(request), admitted) => {
                let outcome = admitted.and_then(|()| self.init_producer_id(&request, now_ms));
                match outcome {
                    Ok(producer) => InitProducerIdResponse {
                        error: ErrorCode::None,
                        producer_id: producer.id,
                        producer_epoch: producer.epoch,
                    },
                    Err(error) => InitProducerIdResponse::refused(error),
                }
                .into()
            }
            (Request::AddPartitionsToTxn(request), admitted) => {
                let outcome = admitted.and_then(|()| self.add_partitions(request, now_ms));
                AddPartitionsToTxnResponse { error: outcome.err().unwrap_or_default() }.into()
            }
            (Request::AddOffsetsToTxn(request), admitted) => {
                let outcome = admitted.and_then(|()| self.add_offsets(request, now_ms));
                AddOffsetsToTxnResponse { error: outcome.err().unwrap_or_default() }.into()
            }
            (Request::EndTxn(request), admitted) => {
                match admitted.and_then(|()| self.end(&request, now_ms)) {
                    Ok(producer) => EndTxnResponse {
                        error: ErrorCode::None,
                        producer_id: producer.id,
                        producer_epoch: producer.epoch,
                    },
                    Err(error) => EndTxnResponse::refused(error),
                }
                .into()
            }
            (stranger, _) => refuse_stranger(&stranger),
        };
        // Markers that a request brought about go out after its answer, and after its record in any case.
        let is_marker = |one: &TransactionAction| matches!(one, TransactionAction::SendMarker { .. });
        let markers = self.actions.iter().skip(before).position(is_marker);
        let answer = TransactionAction::Answer { to: from, response };
        match markers {
            Some(first) => self.actions.insert(before.saturating_add(first), answer),
            None => self.actions.push_back(answer),
        }
    }

    fn add_partitions(&mut self, request: AddPartitionsToTxnRequest, now_ms: u64) -> Result<(), ErrorCode> {
        let producer = Producer { id: request.producer_id, epoch: request.producer_epoch };
        self.add(&request.transactional_id, producer, now_ms, |record| {
            record.partitions.extend(request.partitions);
        })
    }

    fn add_offsets(&mut self, request: AddOffsetsToTxnRequest, now_ms: u64) -> Result<(), ErrorCode> {
        let producer = Producer { id: request.producer_id, epoch: request.producer_epoch };
        self.add(&request.transactional_id, producer, now_ms, |record| {
            record.groups.insert(request.group_id);
        })
    }

    /// Begins a transaction unless one is open, and adds to it.
    fn add(
        &mut self,
        transactional_id: &str,
        producer: Producer,
        now_ms: u64,
        change: impl FnOnce(&mut TransactionRecord),
    ) -> Result<(), ErrorCode> {
        let key = self.find(transactional_id, producer)?;
        self.admit_generation(&key)?;
        let transaction = self.transactions.get_mut(&key).ok_or(ErrorCode::InvalidProducerIdMapping)?;
        let record = &mut transaction.record;
        record.admit(producer)?;
        match record.phase {
            TransactionPhase::PrepareCommit | TransactionPhase::PrepareAbort => {
                return Err(ErrorCode::ConcurrentTransactions);
            }
            TransactionPhase::Ongoing => {}
            TransactionPhase::Empty | TransactionPhase::CompleteCommit | TransactionPhase::CompleteAbort => {
                record.phase = TransactionPhase::Ongoing;
                record.started_ms = now_ms;
                record.updated_ms = now_ms;
                record.partitions.clear();
                record.groups.clear();
                record.last = None;
            }
        }
        let before = (record.partitions.len(), record.groups.len());
        change(record);
        if before != (record.partitions.len(), record.groups.len()) {
            self.persist(&key);
        }
        Ok(())
    }

    /// Ends a transaction; the answer has the id and epoch to go on with. An end asked for twice is answered
    /// alike, whether or not the first answer arrived.
    fn end(&mut self, request: &EndTxnRequest, now_ms: u64) -> Result<Producer, ErrorCode> {
        let given = Producer { id: request.producer_id, epoch: request.producer_epoch };
        let key = self.find(&request.transactional_id, given)?;
        let record = &self.transactions.get(&key).ok_or(ErrorCode::InvalidProducerIdMapping)?.record;
        let (prepared, complete) = if request.committed {
            (TransactionPhase::PrepareCommit, TransactionPhase::CompleteCommit)
        } else {
            (TransactionPhase::PrepareAbort, TransactionPhase::CompleteAbort)
        };
        let raises = self.config.transaction_version >= 2;
        let raise = if raises { Raise::SameClient } else { Raise::No };
        let heard_before = record.last == Some(given) || !raises && record.producer == given;
        if heard_before && record.phase == prepared {
            return Err(ErrorCode::ConcurrentTransactions);
        }
        if heard_before && record.phase == complete {
            return Ok(record.producer);
        }
        record.admit(given)?;
        match record.phase {
            TransactionPhase::Ongoing => {}
            TransactionPhase::PrepareCommit | TransactionPhase::PrepareAbort => {
                return Err(ErrorCode::InvalidTxnState);
            }
            // To abort nothing is no error, and raises the epoch: what is still on its way must not begin anything.
            TransactionPhase::Empty | TransactionPhase::CompleteCommit | TransactionPhase::CompleteAbort => {
                if request.committed || !raises {
                    return Err(ErrorCode::InvalidTxnState);
                }
            }
        }
        if request.committed {
            self.admit_generation(&key)?;
        }
        Ok(self.decide(&key, prepared, raise, now_ms))
    }

    /// Decides a transaction, under a raised epoch if asked for, and sends the markers out. Answers the id and
    /// epoch that are valid from now on.
    pub(super) fn decide(
        &mut self,
        key: &TransactionKey,
        phase: TransactionPhase,
        raise: Raise,
        now_ms: u64,
    ) -> Producer {
        let Some(producer) = self.transactions.get(key).map(|one| one.record.producer) else {
            return Producer::NONE;
        };
        let raised = Producer { epoch: producer.epoch.saturating_add(1), ..producer };
        // The last epoch goes to the marker alone; the client goes on under a fresh id.
        let next = match (raise, raised.epoch) {
            (Raise::No, _) => producer,
            (_, i16::MAX) => Producer { id: self.new_producer_id(), epoch: 0 },
            _ => raised,
        };
        if let Some(transaction) = self.transactions.get_mut(key) {
            let record = &mut transaction.record;
            record.phase = phase;
            record.marker = if raise == Raise::No { producer } else { raised };
            record.last = (raise == Raise::SameClient).then_some(producer);
            record.producer = next;
            record.updated_ms = now_ms;
        }
        self.persist(key);
        self.send_markers(key, now_ms);
        next
    }

    /// Sends markers to everywhere the transaction went; with nowhere to go it is complete at once.
    fn send_markers(&mut self, key: &TransactionKey, now_ms: u64) {
        let Some(transaction) = self.transactions.get_mut(key) else { return };
        let record = &transaction.record;
        let partitions = record.partitions.iter().cloned().map(MarkerTarget::Partition);
        transaction.outstanding =
            partitions.chain(record.groups.iter().cloned().map(MarkerTarget::Group)).collect();
        self.resend_markers(key, now_ms);
        self.complete_if_done(key);
    }

    fn resend_markers(&mut self, key: &TransactionKey, now_ms: u64) {
        let Some(transaction) = self.transactions.get_mut(key) else { return };
        transaction.resend_ms = now_ms.saturating_add(self.config.marker_retry_ms.max(1));
        let record = &transaction.record;
        for target in &transaction.outstanding {
            let group_id = match target {
                MarkerTarget::Group(group_id) => group_id.clone(),
                MarkerTarget::Partition(_) => String::new(),
            };
            let marker = TxnMarkerRequest {
                group_id,
                producer_id: record.marker.id,
                producer_epoch: record.marker.epoch,
                committed: record.phase == TransactionPhase::PrepareCommit,
                coordinator_epoch: self.epoch,
                transaction_version: self.config.transaction_version,
            };
            self.actions.push_back(TransactionAction::SendMarker { target: target.clone(), marker });
        }
    }

    /// A marker was answered. Errors are retried until it is written; a replaced coordinator gives up.
    pub fn handle_marker_answer(
        &mut self,
        target: &MarkerTarget,
        marker: &TxnMarkerRequest,
        error: ErrorCode,
        now_ms: u64,
    ) {
        let sent = Producer { id: marker.producer_id, epoch: marker.producer_epoch };
        let waits = |one: &&Transaction| {
            one.record.phase.is_prepared()
                && one.record.marker == sent
                && one.outstanding.contains(target)
                && (one.record.phase == TransactionPhase::PrepareCommit) == marker.committed
        };
        let Some(key) = self.transactions.values().find(waits).map(|one| one.record.key.clone()) else {
            return;
        };
        let Some(transaction) = self.transactions.get_mut(&key) else { return };
        match error {
            // A partition that is deleted, or that has heard of a later epoch, has nothing to settle.
            ErrorCode::None | ErrorCode::UnknownTopicOrPartition | ErrorCode::InvalidProducerEpoch => {
                transaction.outstanding.remove(target);
                self.complete_if_done(&key);
            }
            ErrorCode::TransactionCoordinatorFenced => transaction.resend_ms = u64::MAX,
            _ => {
                let retry_ms = now_ms.saturating_add(self.config.marker_retry_ms.max(1));
                transaction.resend_ms = transaction.resend_ms.min(retry_ms);
            }
        }
    }

    fn complete_if_done(&mut self, key: &TransactionKey) {
        let Some(transaction) = self.transactions.get_mut(key) else { return };
        if !transaction.outstanding.is_empty() {
            return;
        }
        let record = &mut transaction.record;
        record.phase = match record.phase {
            TransactionPhase::PrepareCommit => TransactionPhase::CompleteCommit,
            TransactionPhase::PrepareAbort => TransactionPhase::CompleteAbort,
            other => other,
        };
        record.partitions.clear();
        record.groups.clear();
        self.persist(key);
    }

    /// Time has come to some deadline: transactions run out and are aborted, markers go out again.
    pub fn handle_timeout(&mut self, now_ms: u64) {
        let keys: Vec<TransactionKey> = self.transactions.keys().cloned().collect();
        for key in keys {
            let Some(transaction) = self.transactions.get(&key) else { continue };
            if transaction.record.expires_ms().is_some_and(|ends_ms| ends_ms <= now_ms) {
                self.decide(&key, TransactionPhase::PrepareAbort, Raise::SameClient, now_ms);
            } else if transaction.record.phase.is_prepared() && transaction.resend_ms <= now_ms {
                self.resend_markers(&key, now_ms);
            }
        }
    }

    /// Forgets producers that have been idle for `idle_max_ms`. Brokers do this every hour.
    pub fn handle_cleanup(&mut self, now_ms: u64) {
        let limit_ms = self.config.idle_max_ms;
        let idle = |record: &&TransactionRecord| {
            let busy = record.phase == TransactionPhase::Ongoing || record.phase.is_prepared();
            !busy && record.updated_ms.saturating_add(limit_ms) <= now_ms
        };
        let keys: Vec<TransactionKey> = self.transactions().filter(idle).map(|one| one.key.clone()).collect();
        for key in keys {
            self.forget(&key);
            self.actions.push_back(TransactionAction::Append(TransactionLogRecord::Forgotten(key)));
        }
    }

    fn forget(&mut self, key: &TransactionKey) {
        self.transactions.remove(key);
        self.by_producer.retain(|_, owner| owner != key);
    }

    /// The next thing to do, in order.
    pub fn poll_action(&mut self) -> Option<TransactionAction> {
        self.actions.pop_front()
    }

    /// When [`handle_timeout`](Self::handle_timeout) is due.
    pub fn poll_timeout(&self) -> Option<u64> {
        let deadline = |one: &Transaction| {
            let resend_ms = Some(one.resend_ms).filter(|_| one.record.phase.is_prepared());
            one.record.expires_ms().or(resend_ms).filter(|&at_ms| at_ms < u64::MAX)
        };
        self.transactions.values().filter_map(deadline).min()
    }

    /// A producer as it is now.
    pub fn transaction(&self, key: &TransactionKey) -> Option<&TransactionRecord> {
        self.transactions.get(key).map(|one| &one.record)
    }

    /// All producers, sorted by key.
    pub fn transactions(&self) -> impl Iterator<Item = &TransactionRecord> {
        self.transactions.values().map(|one| &one.record)
    }

    /// The producer that a request means: the one with its transactional id that has, or had, its producer id.
    fn find(&self, transactional_id: &str, given: Producer) -> Result<TransactionKey, ErrorCode> {
        let key = self.by_producer.get(&given.id).ok_or(ErrorCode::InvalidProducerIdMapping)?;
        if key.transactional_id() == transactional_id {
            Ok(key.clone())
        } else {
            Err(ErrorCode::InvalidProducerIdMapping)
        }
    }

    /// Draft: "once the coordinator observes a generation bump for a group, it will refuse to handle requests from
    /// the previous generation".
    fn admit_generation(&self, key: &TransactionKey) -> Result<(), ErrorCode> {
        let Some(own) = self.transactions.get(key).and_then(|one| one.record.generation) else {
            return Ok(());
        };
        let seen = key.group_id().and_then(|group_id| self.generations.get(group_id));
        if seen.is_some_and(|&seen| own < seen) { Err(ErrorCode::IllegalGeneration) } else { Ok(()) }
    }

    /// An id that no coordinator gave before: elections number them.
    pub(super) fn new_producer_id(&mut self) -> i64 {
        let turn = self.next_producer;
        self.next_producer = turn.saturating_add(1);
        (i64::from(self.epoch) << 32) | (turn & 0xffff_ffff)
    }

    pub(super) fn insert(&mut self, record: TransactionRecord) {
        let key = record.key.clone();
        let transaction = Transaction { record, outstanding: BTreeSet::new(), resend_ms: 0 };
        self.transactions.insert(key.clone(), transaction);
        self.persist(&key);
    }

    pub(super) fn persist(&mut self, key: &TransactionKey) {
        if let Some(transaction) = self.transactions.get(key) {
            self.by_producer.insert(transaction.record.producer.id, key.clone());
            let record = TransactionLogRecord::Transaction(transaction.record.clone());
            self.actions.push_back(TransactionAction::Append(record));
        }
    }

    pub(super) fn persist_generation(&mut self, group_id: &str, transactional_id: &str, generation: i32) {
        self.generations.insert(group_id.into(), generation);
        self.actions.push_back(TransactionAction::Append(TransactionLogRecord::Generation {
            group_id: group_id.into(),
            transactional_id: transactional_id.into(),
            generation,
        }));
    }
}

/// Which partition of a coordinator's log, and so which broker, a group or transactional id belongs to: the
/// absolute Java hash of the key modulo the number of partitions.
///
/// # Examples
///
/// ```
/// use tenure::fence::transaction::coordinator_partition;
///
/// assert_eq!(coordinator_partition("group", 50), Some(47));
/// assert_eq!(coordinator_partition("", 50), Some(0));
/// assert_eq!(coordinator_partition("polygenelubricants", 50), Some(0)); // its hash has no absolute value
/// assert_eq!(coordinator_partition("group", 0), None);
/// ```
pub fn coordinator_partition(key: &str, partitions: u32) -> Option<u32> {
    let add = |hash: i32, unit: u16| hash.wrapping_mul(31).wrapping_add(i32::from(unit));
    let hash = key.encode_utf16().fold(0_i32, add);
    // Kafka's `abs` gives 0 for the one number that has no positive counterpart.
    let positive = hash.checked_abs().unwrap_or(0);
    positive.unsigned_abs().checked_rem(partitions)
}

fn refuse_stranger(request: &Request) -> Response {
    let error = ErrorCode::InvalidRequest;
    match request {
        Request::JoinGroup(request) => JoinGroupResponse::refused(error, &request.member_id).into(),
        Request::SyncGroup(_) => SyncGroupResponse::refused(error).into(),
        Request::Heartbeat(_) => HeartbeatResponse { error, protocol_to_use: None }.into(),
        Request::LeaveGroup(_) => LeaveGroupResponse { error, members: Vec::new() }.into(),
        Request::OffsetCommit(request) => {
            Response::OffsetCommit(OffsetCommitResponse::all(&request.offsets, error))
        }
        Request::TxnOffsetCommit(request) => {
            Response::TxnOffsetCommit(OffsetCommitResponse::all(&request.offsets, error))
        }
        Request::OffsetFetch(_) => OffsetFetchResponse { error, partitions: Vec::new() }.into(),
        Request::TxnMarker(_) => TxnMarkerResponse { error }.into(),
        _ => FindCoordinatorResponse { error, node_id: -1 }.into(),
    }
}
