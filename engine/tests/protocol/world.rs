//! A group's coordinator, a transaction coordinator, one output partition, and workers that read, process and
//! write: everything that KIP-447 is about, with requests that can be held back at any point.

use std::collections::BTreeMap;

use tenure::fence::cycle::{Cycle, CycleAction, CycleConfig, CyclePhase, RequestId};
use tenure::fence::transaction::{
    MarkerTarget, Producer, TransactionAction, TransactionConfig, TransactionCoordinator,
    TransactionLogRecord,
};
use tenure::fence::{GroupMetadata, MarkerVerdict, ProducerFence};
use tenure::protocol::coordinator::Config;
use tenure::protocol::error::ErrorCode;
use tenure::protocol::message::*;

use crate::broker::*;

/// The output topic's one partition: what a reader of committed records sees is `committed`.
#[derive(Default)]
pub(crate) struct Output {
    fence: ProducerFence,
    open: BTreeMap<i64, Vec<i64>>,
    pub(crate) committed: Vec<i64>,
}

impl Output {
    pub(crate) fn write(&mut self, producer: Producer, value: i64) -> ErrorCode {
        if let Err(error) = self.fence.admit_write(producer.id, producer.epoch) {
            return error.code();
        }
        self.fence.note_write(producer.id, producer.epoch);
        self.open.entry(producer.id).or_default().push(value);
        ErrorCode::None
    }

    fn mark(&mut self, marker: &TxnMarkerRequest) -> ErrorCode {
        match self.fence.judge_marker(marker) {
            Ok(MarkerVerdict::Apply) => {}
            Ok(MarkerVerdict::Duplicate) => return ErrorCode::None,
            Err(error) => return error.code(),
        }
        self.fence.note_marker(marker.producer_id, marker.producer_epoch, marker.coordinator_epoch);
        self.fence.note_settled(marker.producer_id, marker.producer_epoch);
        let records = self.open.remove(&marker.producer_id).unwrap_or_default();
        if marker.committed {
            self.committed.extend(records);
        }
        ErrorCode::None
    }
}

/// A worker: a producer's loop beside a consumer.
pub(crate) struct Worker {
    pub(crate) cycle: Cycle,
    pub(crate) metadata: GroupMetadata,
    pub(crate) told: Vec<CycleAction>,
}

impl Worker {
    pub(crate) fn new(config: CycleConfig) -> Self {
        Self { cycle: Cycle::new(config), metadata: GroupMetadata::outsider(GROUP), told: Vec::new() }
    }

    /// The worker's consumer is in this generation now.
    pub(crate) fn place(&mut self, member_id: &str, generation: i32) {
        self.metadata =
            GroupMetadata { generation, member_id: member_id.into(), ..GroupMetadata::outsider(GROUP) };
    }
}

/// A request on its way, or stuck in a process that does not run.
pub(crate) struct Held {
    pub(crate) id: RequestId,
    pub(crate) to: CoordinatorKind,
    pub(crate) request: Request,
}

pub(crate) struct World {
    pub(crate) broker: Broker,
    pub(crate) transactions: TransactionCoordinator,
    pub(crate) transaction_log: Vec<TransactionLogRecord>,
    pub(crate) output: Output,
    /// Markers stay on their way instead of arriving.
    pub(crate) holds_markers: bool,
    pub(crate) markers: Vec<(MarkerTarget, TxnMarkerRequest)>,
    answers: BTreeMap<Caller, Response>,
    next_caller: u64,
}

impl World {
    pub(crate) fn new(config: Config) -> Self {
        Self {
            broker: Broker::new(config),
            transactions: TransactionCoordinator::new_empty(TransactionConfig::default()),
            transaction_log: Vec::new(),
            output: Output::default(),
            holds_markers: false,
            markers: Vec::new(),
            answers: BTreeMap::new(),
            next_caller: 0,
        }
    }

    pub(crate) fn now_ms(&self) -> u64 {
        self.broker.now_ms
    }

    /// Sends a request to its coordinator and gives the answer, which always comes at once.
    pub(crate) fn ask(&mut self, to: CoordinatorKind, request: Request) -> Response {
        if let Request::FindCoordinator(_) = request {
            return FindCoordinatorResponse { error: ErrorCode::None, node_id: 0 }.into();
        }
        if to == CoordinatorKind::Group {
            return self.broker.ask(request);
        }
        let caller = Caller(self.next_caller);
        self.next_caller += 1;
        self.transactions.handle_request(request, caller, self.broker.now_ms);
        self.settle();
        self.answers.remove(&caller).expect("an answer at once")
    }

    /// Does what the transaction coordinator wants done.
    pub(crate) fn settle(&mut self) {
        while let Some(action) = self.transactions.poll_action() {
            match action {
                TransactionAction::Append(record) => self.transaction_log.push(record),
                TransactionAction::Answer { to, response } => {
                    assert!(self.answers.insert(to, response).is_none(), "{to:?} was answered twice");
                }
                TransactionAction::SendMarker { target, marker } => {
                    // One copy on its way is enough; tests that want more make them.
                    if !self.markers.contains(&(target.clone(), marker.clone())) {
                        self.markers.push((target, marker));
                    }
                    if !self.holds_markers {
                        self.deliver_markers();
                    }
                }
                _ => unreachable!("no other action is known"),
            }
        }
    }

    pub(crate) fn deliver_markers(&mut self) {
        for (target, marker) in core::mem::take(&mut self.markers) {
            let error = match target {
                MarkerTarget::Group(_) => self.broker.ask(marker.clone()).error(),
                MarkerTarget::Partition(_) => self.output.mark(&marker),
            };
            self.transactions.handle_marker_answer(&target, &marker, error, self.broker.now_ms);
        }
        self.settle();
    }

    /// Lets time pass for both coordinators.
    pub(crate) fn pass(&mut self, span_ms: u64) {
        let until_ms = self.broker.now_ms + span_ms;
        while let Some(at_ms) = self.transactions.poll_timeout().filter(|&at_ms| at_ms <= until_ms) {
            self.broker.pass(at_ms.saturating_sub(self.broker.now_ms));
            self.transactions.handle_timeout(self.broker.now_ms);
            self.settle();
        }
        self.broker.pass(until_ms - self.broker.now_ms);
    }

    /// Another broker takes the transaction log over.
    pub(crate) fn move_transactions(&mut self, epoch: i32) {
        self.transactions = TransactionCoordinator::new(TransactionConfig::default());
        self.transactions.handle_elected(epoch);
        self.transactions.handle_records(self.transaction_log.clone());
        self.transactions.handle_loaded(self.broker.now_ms);
        self.settle();
    }

    /// Runs a worker until it has nothing to do, or is about to send a request that `stops` knows: that one is
    /// handed out instead of sent. Pauses are slept through.
    pub(crate) fn run_until(
        &mut self,
        worker: &mut Worker,
        stops: impl Fn(&Request) -> bool,
    ) -> Option<Held> {
        for _ in 0..1_000 {
            match worker.cycle.poll_action(&worker.metadata, self.broker.now_ms) {
                Some(CycleAction::Send { id, to, request }) if stops(&request) => {
                    return Some(Held { id, to, request });
                }
                Some(CycleAction::Send { id, to, request }) => self.deliver(worker, Held { id, to, request }),
                Some(told) => worker.told.push(told),
                None => match worker.cycle.poll_timeout() {
                    None => return None,
                    Some(at_ms) => {
                        self.pass(at_ms.saturating_sub(self.broker.now_ms));
                        worker.cycle.handle_timeout(self.broker.now_ms);
                    }
                },
            }
        }
        panic!("the worker never comes to rest");
    }

    pub(crate) fn run(&mut self, worker: &mut Worker) {
        assert!(self.run_until(worker, |_| false).is_none());
    }

    /// A request arrives, and its answer is taken.
    pub(crate) fn deliver(&mut self, worker: &mut Worker, held: Held) {
        let response = self.ask(held.to, held.request);
        worker.cycle.handle_response(held.id, response, self.broker.now_ms).unwrap();
    }

    /// A worker that is ready for transactions.
    pub(crate) fn worker(&mut self, config: CycleConfig, member_id: &str, generation: i32) -> Worker {
        let mut worker = Worker::new(config);
        worker.place(member_id, generation);
        worker.cycle.start(self.now_ms()).unwrap();
        self.run(&mut worker);
        assert_eq!(worker.cycle.phase(), CyclePhase::Ready);
        worker.told.clear();
        worker
    }

    /// Begins a transaction: reads the record at `offset` of t1-0, writes its result.
    pub(crate) fn process(&mut self, worker: &mut Worker, offset: i64) {
        worker.cycle.begin(self.now_ms()).unwrap();
        worker.cycle.read(t(0)).unwrap();
        worker.cycle.write(TopicPartition::new("out", 0)).unwrap();
        self.run(worker);
        assert!(worker.cycle.may_write(&TopicPartition::new("out", 0)), "{:?}", worker.told);
        worker.told.clear();
        assert_eq!(self.output.write(worker.cycle.producer(), offset), ErrorCode::None);
    }
}

/// The offset to commit once the record at `offset` is done.
pub(crate) fn done(offset: i64) -> Vec<(TopicPartition, CommittedOffset)> {
    vec![(t(0), CommittedOffset::new(offset + 1))]
}
