//! The brokers' transactional side: two transaction coordinators with one log, the output's log, and markers between
//! them.

use std::collections::BTreeMap;

use super::World;
use crate::fence::transaction::{
    MarkerTarget, Producer, TransactionAction, TransactionConfig, TransactionCoordinator, TransactionKey,
    TransactionLogRecord, TransactionPhase,
};
use crate::protocol::coordinator::{Caller, Record};
use crate::protocol::error::ErrorCode;
use crate::protocol::message::{Request, TxnMarkerRequest};
use crate::simulation::checker::Rule;
use crate::simulation::network::{Message, Sender};
use crate::simulation::transactions::{Batch, Output};

/// Everything of a transactional run that is not a process's.
#[derive(Debug)]
pub(super) struct Ledger {
    coordinators: [TransactionCoordinator; 2],
    /// The broker that leads the transactions' log.
    pub(super) leading: usize,
    epoch: i32,
    pub(super) loaded_at_ms: Option<u64>,
    /// The log, compacted: each producer as it is now.
    log: BTreeMap<TransactionKey, TransactionLogRecord>,
    generations: BTreeMap<String, TransactionLogRecord>,
    callers: BTreeMap<u64, Sender>,
    pub(super) output: Output,
    /// The group's log beside the group itself: pending offsets and markers in their order.
    pub(super) offsets: Vec<Record>,
    pub(super) committed: u64,
    pub(super) aborted: u64,
}

impl Ledger {
    pub(super) fn new() -> Self {
        let config = TransactionConfig { marker_retry_ms: 400, ..TransactionConfig::default() };
        let mut coordinators = [0, 1].map(|_| TransactionCoordinator::new(config.clone()));
        coordinators[0].handle_elected(0);
        coordinators[0].handle_loaded(0);
        Self {
            coordinators,
            leading: 0,
            epoch: 0,
            loaded_at_ms: None,
            log: BTreeMap::new(),
            generations: BTreeMap::new(),
            callers: BTreeMap::new(),
            output: Output::default(),
            offsets: Vec::new(),
            committed: 0,
            aborted: 0,
        }
    }

    /// When which coordinator wants to be called.
    pub(super) fn timeouts(&self) -> impl Iterator<Item = (u64, usize)> {
        self.coordinators.iter().enumerate().filter_map(|(number, one)| Some((one.poll_timeout()?, number)))
    }

    fn append(&mut self, record: TransactionLogRecord) {
        match &record {
            TransactionLogRecord::Transaction(one) => {
                let counts = !one.partitions.is_empty() || !one.groups.is_empty();
                match one.phase {
                    TransactionPhase::PrepareCommit if counts => self.committed += 1,
                    TransactionPhase::PrepareAbort if counts => self.aborted += 1,
                    _ => {}
                }
                self.log.insert(one.key.clone(), record);
            }
            TransactionLogRecord::Forgotten(key) => {
                self.log.remove(key);
            }
            TransactionLogRecord::Generation { group_id, .. } => {
                self.generations.insert(group_id.clone(), record);
            }
        }
    }
}

impl World<'_> {
    /// A request for a transaction coordinator reaches its broker.
    pub(super) fn asked_transactional(&mut self, from: Sender, broker: usize, request: Request) {
        let caller = self.next_caller;
        self.next_caller += 1;
        let Some(ledger) = &mut self.ledger else { return };
        ledger.callers.insert(caller, from);
        ledger.coordinators[broker].handle_request(request, Caller(caller), self.now_ms);
        self.drain_transactions(broker);
    }

    pub(super) fn drain_transactions(&mut self, broker: usize) {
        loop {
            let Some(ledger) = &mut self.ledger else { return };
            let Some(action) = ledger.coordinators[broker].poll_action() else { return };
            match action {
                TransactionAction::Append(record) => ledger.append(record),
                TransactionAction::Answer { to, response } => {
                    if let Some(sender) = ledger.callers.remove(&to.0) {
                        self.reply(sender, response);
                    }
                }
                TransactionAction::SendMarker { target, marker } => {
                    let message = Message::Marker { from: broker, node: self.leading, target, marker };
                    self.network.send(message, &self.faults, &mut self.random, self.now_ms);
                }
            }
        }
    }

    /// A marker reaches the log it is for.
    pub(super) fn marked(
        &mut self,
        from: usize,
        node: usize,
        target: MarkerTarget,
        marker: TxnMarkerRequest,
    ) {
        match target {
            MarkerTarget::Group(_) => {
                let caller = self.next_caller;
                self.next_caller += 1;
                self.markers.insert(caller, (from, target, marker.clone()));
                self.brokers[node].handle_request(marker.into(), Caller(caller), self.now_ms);
                self.drain_broker(node);
            }
            MarkerTarget::Partition(_) => {
                let Some(ledger) = &mut self.ledger else { return };
                let (error, doubled) = ledger.output.mark(&marker);
                for Batch { partition, from, to } in doubled {
                    let detail =
                        format!("some of the records {from}..{to} of {partition} come out a second time");
                    self.checker.break_rule(Rule::ExactlyOnce, self.now_ms, detail);
                }
                self.answer_marker(from, target, marker, error);
            }
        }
    }

    pub(super) fn answer_marker(
        &mut self,
        to: usize,
        target: MarkerTarget,
        marker: TxnMarkerRequest,
        error: ErrorCode,
    ) {
        let message = Message::Marked { to, target, marker, error };
        self.network.send(message, &self.faults, &mut self.random, self.now_ms);
    }

    /// The answer to a marker is back at the coordinator that sent it.
    pub(super) fn marker_answered(
        &mut self,
        to: usize,
        target: &MarkerTarget,
        marker: &TxnMarkerRequest,
        error: ErrorCode,
    ) {
        if let Some(ledger) = &mut self.ledger {
            ledger.coordinators[to].handle_marker_answer(target, marker, error, self.now_ms);
            self.drain_transactions(to);
        }
    }

    /// Results reach the output's log.
    pub(super) fn wrote(&mut self, from: Sender, producer: Producer, sequence: i32, batches: Vec<Batch>) {
        if let Some(ledger) = &mut self.ledger {
            let error = ledger.output.write(producer, sequence, batches);
            let message = Message::Written { to: from, error };
            self.network.send(message, &self.faults, &mut self.random, self.now_ms);
        }
    }

    pub(super) fn transactions_timed_out(&mut self, broker: usize) {
        if let Some(ledger) = &mut self.ledger {
            ledger.coordinators[broker].handle_timeout(self.now_ms);
            self.drain_transactions(broker);
        }
    }

    /// The transactions' log moves to the other broker.
    pub(super) fn fail_over_transactions(&mut self, load_ms: u64) {
        let now_ms = self.now_ms;
        let Some(ledger) = &mut self.ledger else { return };
        ledger.coordinators[ledger.leading].handle_resigned();
        ledger.leading = 1 - ledger.leading;
        ledger.epoch += 1;
        let new = &mut ledger.coordinators[ledger.leading];
        new.handle_elected(ledger.epoch);
        new.handle_records(ledger.log.values().chain(ledger.generations.values()).cloned());
        ledger.loaded_at_ms = Some(now_ms + load_ms);
    }

    pub(super) fn transactions_loaded(&mut self) {
        let now_ms = self.now_ms;
        let Some(ledger) = &mut self.ledger else { return };
        ledger.loaded_at_ms = None;
        let leading = ledger.leading;
        ledger.coordinators[leading].handle_loaded(now_ms);
        self.drain_transactions(leading);
    }
}
