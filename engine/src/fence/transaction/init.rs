//! InitProducerId: who gets which id and epoch, and whom that fences.

use super::broker::{Raise, TransactionCoordinator};
use super::state::{Producer, TransactionKey, TransactionPhase, TransactionRecord};
use crate::protocol::error::ErrorCode;
use crate::protocol::message::InitProducerIdRequest;

impl TransactionCoordinator {
    /// Gives a producer its id and epoch.
    ///
    /// An open transaction of an earlier client is aborted first, and the new client told to come back
    /// (CONCURRENT_TRANSACTIONS) until every log says so.
    pub(super) fn init_producer_id(
        &mut self,
        request: &InitProducerIdRequest,
        now_ms: u64,
    ) -> Result<Producer, ErrorCode> {
        let transactional_id = request.transactional_id.as_deref();
        let group_id = request.transactional_group_id.as_deref();
        if transactional_id == Some("") || group_id == Some("") {
            return Err(ErrorCode::InvalidRequest);
        }
        if transactional_id.is_none() && group_id.is_none() {
            // Idempotent, not transactional: nothing is kept.
            return Ok(Producer { id: self.new_producer_id(), epoch: 0 });
        }
        let timeout_ms = u64::try_from(request.transaction_timeout_ms).unwrap_or(0);
        if timeout_ms == 0 || timeout_ms > self.config.timeout_max_ms {
            return Err(ErrorCode::InvalidTransactionTimeout);
        }
        let generation = request.generation_id.filter(|&generation| generation >= 0);
        if let (Some(group_id), Some(generation)) = (group_id, generation) {
            self.observe(group_id, transactional_id.unwrap_or_default(), generation)?;
        }
        let key = match (transactional_id, group_id) {
            (Some(id), None) => TransactionKey::Id(id.into()),
            (Some(id), Some(group_id)) => {
                TransactionKey::GroupMember { group_id: group_id.into(), transactional_id: id.into() }
            }
            (None, group_id) => {
                let id = self.new_producer_id();
                let group_id = group_id.unwrap_or_default().into();
                let key = TransactionKey::GroupProducer { group_id, producer_id: id };
                return Ok(self.begin(key, id, timeout_ms, generation, now_ms));
            }
        };
        let Some(transaction) = self.transactions.get(&key) else {
            let id = self.new_producer_id();
            return Ok(self.begin(key, id, timeout_ms, generation, now_ms));
        };
        let given = Producer { id: request.producer_id, epoch: request.producer_epoch };
        let record = &transaction.record;
        if given.is_some() && given != record.producer && record.last != Some(given) {
            return Err(ErrorCode::ProducerFenced);
        }
        match record.phase {
            TransactionPhase::PrepareCommit | TransactionPhase::PrepareAbort => {
                Err(ErrorCode::ConcurrentTransactions)
            }
            TransactionPhase::Ongoing => {
                // The earlier client is fenced for good, unless it is the one that asks.
                let raise = if given.is_some() { Raise::SameClient } else { Raise::NewClient };
                self.decide(&key, TransactionPhase::PrepareAbort, raise, now_ms);
                Err(ErrorCode::ConcurrentTransactions)
            }
            TransactionPhase::Empty | TransactionPhase::CompleteCommit | TransactionPhase::CompleteAbort => {
                Ok(self.raise(&key, given, timeout_ms, generation, now_ms))
            }
        }
    }

    /// A first producer under this key.
    fn begin(
        &mut self,
        key: TransactionKey,
        id: i64,
        timeout_ms: u64,
        generation: Option<i32>,
        now_ms: u64,
    ) -> Producer {
        let producer = Producer { id, epoch: 0 };
        let record = TransactionRecord::new(key, producer, timeout_ms);
        self.insert(TransactionRecord { generation, updated_ms: now_ms, ..record });
        producer
    }

    /// The next epoch, or a fresh id when the epochs are used up. A client that has not heard of its last raise
    /// is given that one again.
    fn raise(
        &mut self,
        key: &TransactionKey,
        given: Producer,
        timeout_ms: u64,
        generation: Option<i32>,
        now_ms: u64,
    ) -> Producer {
        let Some(record) = self.transactions.get(key).map(|one| &one.record) else { return Producer::NONE };
        let current = record.producer;
        let repeats = given.is_some() && record.last == Some(given);
        // The highest epoch is kept for a marker.
        let next = if repeats {
            current
        } else if current.epoch >= i16::MAX - 1 {
            Producer { id: self.new_producer_id(), epoch: 0 }
        } else {
            Producer { epoch: current.epoch.saturating_add(1), ..current }
        };
        if let Some(transaction) = self.transactions.get_mut(key) {
            let record = &mut transaction.record;
            record.producer = next;
            record.last = given.is_some().then_some(given);
            record.phase = TransactionPhase::Empty;
            record.timeout_ms = timeout_ms;
            record.updated_ms = now_ms;
            record.generation = generation;
        }
        self.persist(key);
        next
    }

    /// Draft: a generation older than one seen is refused, a newer one is remembered.
    fn observe(&mut self, group_id: &str, transactional_id: &str, generation: i32) -> Result<(), ErrorCode> {
        match self.generations.get(group_id) {
            Some(&seen) if generation < seen => Err(ErrorCode::IllegalGeneration),
            Some(&seen) if generation == seen => Ok(()),
            _ => {
                self.persist_generation(group_id, transactional_id, generation);
                Ok(())
            }
        }
    }
}
