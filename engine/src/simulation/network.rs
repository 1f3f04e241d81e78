//! Messages on their way.

use core::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use super::fault::Faults;
use super::random::Random;
use super::transactions::Batch;
use crate::fence::cycle;
use crate::fence::transaction::{MarkerTarget, Producer};
use crate::protocol::error::ErrorCode;
use crate::protocol::member::RequestId;
use crate::protocol::message::{CoordinatorKind, Request, Response, TxnMarkerRequest};

/// What of a process sent a request, and the request's number there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Origin {
    /// The group member.
    Member(RequestId),
    /// The read-process-write loop, to this coordinator or in search of it.
    Loop(cycle::RequestId, CoordinatorKind),
    /// The fetch of committed offsets.
    Fetch(cycle::RequestId),
    /// The fetch's search for its coordinator.
    Find,
    /// The producer, with results.
    Write(u64),
}

/// One end of a request: a process in one of its lives, and the request there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Sender {
    pub(super) process: usize,
    pub(super) life: u32,
    pub(super) of: Origin,
}

#[derive(Debug, Clone)]
pub(super) enum Message {
    ToBroker {
        from: Sender,
        node: Option<i32>,
        request: Request,
    },
    ToProcess {
        to: Sender,
        response: Response,
    },
    /// The connection broke: there will be no answer.
    Broken {
        to: Sender,
    },
    /// Results on their way to the output's log.
    Write {
        from: Sender,
        producer: Producer,
        sequence: i32,
        batches: Vec<Batch>,
    },
    Written {
        to: Sender,
        error: ErrorCode,
    },
    /// From the transaction coordinator on one broker to a log on another.
    Marker {
        from: usize,
        node: usize,
        target: MarkerTarget,
        marker: TxnMarkerRequest,
    },
    Marked {
        to: usize,
        target: MarkerTarget,
        marker: TxnMarkerRequest,
        error: ErrorCode,
    },
}

impl Message {
    /// The process at one end, if there is one, and whether that end is the sender.
    fn end(&self) -> (Option<Sender>, bool) {
        match self {
            Self::ToBroker { from, .. } | Self::Write { from, .. } => (Some(*from), true),
            Self::ToProcess { to, .. } | Self::Broken { to } | Self::Written { to, .. } => (Some(*to), false),
            Self::Marker { .. } => (None, true),
            Self::Marked { .. } => (None, false),
        }
    }
}

/// All messages on their way, by the time of their arrival.
#[derive(Debug, Default)]
pub(super) struct Network {
    queue: BinaryHeap<Reverse<(u64, u64)>>,
    messages: BTreeMap<u64, Message>,
    next: u64,
    /// The last arrival by process and direction: a connection keeps its order.
    last: BTreeMap<(usize, bool), u64>,
}

impl Network {
    pub(super) fn send(&mut self, message: Message, faults: &Faults, random: &mut Random, now_ms: u64) {
        let (end, to_broker) = message.end();
        if random.chance(faults.loss_per_mille) {
            if random.chance(500)
                && let Some(end) = end
            {
                self.put(Message::Broken { to: end }, now_ms + random.between(1, 500));
            }
            return;
        }
        let copies = if random.chance(faults.duplicate_per_mille) { 2 } else { 1 };
        for _ in 0..copies {
            let mut at_ms = now_ms + random.between(1, faults.latency_max_ms.max(1));
            if random.chance(faults.slow_per_mille) {
                at_ms += random.below(faults.slow_max_ms + 1);
            }
            if !faults.reorder {
                let process = end.map_or(usize::MAX, |one| one.process);
                let last = self.last.entry((process, to_broker)).or_default();
                at_ms = at_ms.max(*last);
                *last = at_ms;
            }
            self.put(message.clone(), at_ms);
        }
    }

    fn put(&mut self, message: Message, at_ms: u64) {
        self.next += 1;
        self.messages.insert(self.next, message);
        self.queue.push(Reverse((at_ms, self.next)));
    }

    pub(super) fn next_arrival_ms(&self) -> Option<u64> {
        self.queue.peek().map(|Reverse((at_ms, _))| *at_ms)
    }

    pub(super) fn arrive(&mut self) -> Option<Message> {
        let Reverse((_, number)) = self.queue.pop()?;
        self.messages.remove(&number)
    }
}
