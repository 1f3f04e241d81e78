//! A process's transactional side: the read-process-write loop, the fetch of offsets, and the work between them.

use super::output::Batch;
use crate::fence::cycle::{Cycle, CycleConfig, ProducerName};
use crate::fence::stable::{StableFetch, StableFetchConfig};
use crate::protocol::message::CoordinatorKind;

/// The transaction that is being worked on.
#[derive(Debug)]
pub(in super::super) struct Work {
    pub(in super::super) batches: Vec<Batch>,
    /// The write that is on its way, and until when its answer is waited for.
    pub(in super::super) writing: Option<(u64, u64)>,
    pub(in super::super) written: bool,
}

#[derive(Debug)]
pub(in super::super) struct Producing {
    pub(in super::super) cycle: Cycle,
    pub(in super::super) fetch: StableFetch,
    pub(in super::super) work: Option<Work>,
    pub(in super::super) next_write: u64,
    group_node: i32,
    transaction_node: i32,
}

impl Producing {
    pub(in super::super) fn new(name: ProducerName, timeout_ms: u64) -> Self {
        let config = CycleConfig {
            transaction_timeout_ms: i32::try_from(timeout_ms).unwrap_or(i32::MAX),
            request_timeout_ms: REQUEST_TIMEOUT_MS,
            ..CycleConfig::new(name)
        };
        let patience =
            StableFetchConfig { request_timeout_ms: REQUEST_TIMEOUT_MS, ..StableFetchConfig::default() };
        Self {
            cycle: Cycle::new(config),
            fetch: StableFetch::new(super::super::world::GROUP, patience),
            work: None,
            next_write: 0,
            group_node: 0,
            transaction_node: 0,
        }
    }

    /// The broker that is taken for a coordinator at present.
    pub(in super::super) fn node(&self, kind: CoordinatorKind) -> i32 {
        match kind {
            CoordinatorKind::Group => self.group_node,
            CoordinatorKind::Transaction | CoordinatorKind::TransactionByGroup => self.transaction_node,
        }
    }

    pub(in super::super) fn found(&mut self, kind: CoordinatorKind, node_id: i32) {
        match kind {
            CoordinatorKind::Group => self.group_node = node_id,
            CoordinatorKind::Transaction | CoordinatorKind::TransactionByGroup => {
                self.transaction_node = node_id;
            }
        }
    }

    /// When the loop or the fetch want to be called.
    pub(in super::super) fn poll_timeout(&self) -> Option<u64> {
        [self.cycle.poll_timeout(), self.fetch.poll_timeout()].into_iter().flatten().min()
    }
}

/// So long an answer is waited for.
pub(in super::super) const REQUEST_TIMEOUT_MS: u64 = 2_000;
