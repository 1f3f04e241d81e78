//! Messages on their way.

use core::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use super::fault::Faults;
use super::random::Random;
use crate::protocol::member::RequestId;
use crate::protocol::message::{Request, Response};

/// One end of a request: a process in one of its lives, and the request's number there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Sender {
    pub(super) process: usize,
    pub(super) life: u32,
    pub(super) request: RequestId,
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
        let sender = match &message {
            Message::ToBroker { from, .. } => *from,
            Message::ToProcess { to, .. } | Message::Broken { to } => *to,
        };
        if random.chance(faults.loss_per_mille) {
            if random.chance(500) {
                self.put(Message::Broken { to: sender }, now_ms + random.between(1, 500));
            }
            return;
        }
        let copies = if random.chance(faults.duplicate_per_mille) { 2 } else { 1 };
        let to_broker = matches!(message, Message::ToBroker { .. });
        for _ in 0..copies {
            let mut at_ms = now_ms + random.between(1, faults.latency_max_ms.max(1));
            if random.chance(faults.slow_per_mille) {
                at_ms += random.below(faults.slow_max_ms + 1);
            }
            if !faults.reorder {
                let last = self.last.entry((sender.process, to_broker)).or_default();
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
