//! Which producer epochs a log has seen, and what that says of a write or of a transaction's end.

use std::collections::BTreeMap;

use super::decision::{FenceError, admit_producer};
use crate::protocol::message::TxnMarkerRequest;

/// What to do with the end of a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MarkerVerdict {
    /// Write it.
    Apply,
    /// It is here already: say so again, and leave the producer's next transaction alone.
    Duplicate,
}

/// The producers that a log has heard of.
///
/// A marker fences the epochs below its own from the moment it is accepted; it counts as a duplicate only once it
/// is written, so that the retry of a failed write is not taken for one. From version 2 of transactions on
/// (KIP-890) each transaction has an epoch of its own and its marker the next one: then a late commit can't open a
/// transaction that nobody will end, and a late marker can't end the next one.
///
/// # Examples
///
/// ```
/// use tenure::fence::{MarkerVerdict, ProducerFence};
/// use tenure::protocol::message::TxnMarkerRequest;
///
/// let mut fence = ProducerFence::new();
/// assert!(fence.admit_write(7, 0).is_ok());
/// fence.note_write(7, 0);
/// let marker = TxnMarkerRequest { producer_id: 7, producer_epoch: 1, transaction_version: 2, ..Default::default() };
/// assert_eq!(fence.judge_marker(&marker), Ok(MarkerVerdict::Apply));
/// fence.note_marker(7, 1, 0);
/// assert!(fence.admit_write(7, 0).is_err());
/// fence.note_settled(7, 1);
/// assert_eq!(fence.judge_marker(&marker), Ok(MarkerVerdict::Duplicate));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProducerFence {
    producers: BTreeMap<i64, Seen>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Seen {
    epoch: i16,
    coordinator_epoch: i32,
    settled: Option<i16>,
}

impl ProducerFence {
    /// Nothing heard yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether a producer may write.
    ///
    /// # Errors
    ///
    /// [`FenceError::ProducerEpoch`] if a newer epoch was seen.
    pub fn admit_write(&self, producer_id: i64, epoch: i16) -> Result<(), FenceError> {
        admit_producer(producer_id, epoch, self.producers.get(&producer_id).map(|seen| seen.epoch))
    }

    /// A write was accepted.
    pub fn note_write(&mut self, producer_id: i64, epoch: i16) {
        self.producers.entry(producer_id).or_default().epoch = epoch;
    }

    /// Whether a transaction's end is news.
    ///
    /// # Errors
    ///
    /// [`FenceError::TransactionCoordinator`] from a coordinator that was replaced,
    /// [`FenceError::ProducerEpoch`] for a transaction that is over.
    pub fn judge_marker(&self, marker: &TxnMarkerRequest) -> Result<MarkerVerdict, FenceError> {
        let Some(seen) = self.producers.get(&marker.producer_id) else { return Ok(MarkerVerdict::Apply) };
        if marker.coordinator_epoch < seen.coordinator_epoch {
            return Err(FenceError::TransactionCoordinator {
                given: marker.coordinator_epoch,
                current: seen.coordinator_epoch,
            });
        }
        admit_producer(marker.producer_id, marker.producer_epoch, Some(seen.epoch))?;
        if marker.transaction_version >= 2 && seen.settled == Some(marker.producer_epoch) {
            return Ok(MarkerVerdict::Duplicate);
        }
        Ok(MarkerVerdict::Apply)
    }

    /// A marker was accepted and is about to be written.
    pub fn note_marker(&mut self, producer_id: i64, epoch: i16, coordinator_epoch: i32) {
        let seen = self.producers.entry(producer_id).or_default();
        seen.epoch = epoch;
        seen.coordinator_epoch = coordinator_epoch;
    }

    /// A marker was written.
    pub fn note_settled(&mut self, producer_id: i64, epoch: i16) {
        self.producers.entry(producer_id).or_default().settled = Some(epoch);
    }

    /// Forgets everything: the log is another's now.
    pub fn clear(&mut self) {
        self.producers.clear();
    }
}
