//! What goes wrong: in every message and callback by chance, and to whole processes at planned times.

use core::fmt;

use super::transactions::TransactionStep;

/// What may go wrong with any message or callback. Units: `*_per_mille` of a thousand, `*_ms` milliseconds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Faults {
    /// Messages that never arrive; for half of them the sender sees its connection break.
    pub loss_per_mille: u32,
    /// Messages that arrive twice.
    pub duplicate_per_mille: u32,
    /// Messages that take long, up to `slow_max_ms`.
    pub slow_per_mille: u32,
    /// How long a slow message takes at most.
    pub slow_max_ms: u64,
    /// How long any other message takes at most.
    pub latency_max_ms: u64,
    /// Whether messages of one connection may overtake each other.
    pub reorder: bool,
    /// Callbacks that end with an error.
    pub callback_failure_per_mille: u32,
    /// Callbacks that take long, up to `callback_slow_max_ms`.
    pub callback_slow_per_mille: u32,
    /// How long a slow callback takes at most.
    pub callback_slow_max_ms: u64,
}

impl Faults {
    /// Nothing goes wrong; messages take up to 10 milliseconds.
    pub const NONE: Self = Self {
        loss_per_mille: 0,
        duplicate_per_mille: 0,
        slow_per_mille: 0,
        slow_max_ms: 0,
        latency_max_ms: 10,
        reorder: false,
        callback_failure_per_mille: 0,
        callback_slow_per_mille: 0,
        callback_slow_max_ms: 0,
    };
}

/// Something that happens at a planned time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Disturbance {
    /// When.
    pub at_ms: u64,
    /// What.
    pub kind: DisturbanceKind,
}

/// What can happen to processes, the coordinator and topics.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "fields are a process's or topic's number, or a time in milliseconds")]
#[non_exhaustive]
pub enum DisturbanceKind {
    /// A process dies without a word and comes back later.
    Crash { process: usize, for_ms: u64 },
    /// A process stands still, then goes on as if nothing had been: a zombie.
    Pause { process: usize, for_ms: u64 },
    /// A process closes its member in order and starts again later.
    Restart { process: usize, for_ms: u64 },
    /// A process is replaced by one with another list of assignors.
    Relist { process: usize, assignors: &'static [&'static str] },
    /// The application unsubscribes and subscribes again later.
    Unsubscribe { process: usize, for_ms: u64 },
    /// The application subscribes to other topics (bit by topic number).
    Subscribe { process: usize, topics: u32 },
    /// The application asks for a rebalance.
    Rejoin { process: usize },
    /// The metadata of a process stands still.
    StaleMetadata { process: usize, for_ms: u64 },
    /// The coordinator moves to the other broker, which loads for a while.
    Failover { load_ms: u64 },
    /// The transaction coordinator moves to the other broker, which loads for a while.
    TransactionFailover { load_ms: u64 },
    /// A process stands still the next time it comes to a step of a transaction.
    PauseAt { process: usize, step: TransactionStep, for_ms: u64 },
    /// A topic is created, or created again.
    CreateTopic { topic: usize, partitions: i32 },
    /// A topic is deleted.
    DeleteTopic { topic: usize },
    /// A topic grows.
    GrowTopic { topic: usize, by: i32 },
    /// A topic is made again with fewer partitions.
    ShrinkTopic { topic: usize, by: i32 },
}

impl fmt::Display for Disturbance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:>7} ms {:?}", self.at_ms, self.kind)
    }
}
