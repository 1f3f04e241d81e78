//! How a producer of a read-process-write loop is known, and how patient it is.

/// What the transaction coordinator knows the producer by.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ProducerName {
    /// A transactional id (`transactional.id`). One that outlives the process fences the process before it.
    TransactionalId(String),
    /// *Draft* (KIP-447): the consumer group (`transactional.group.id`), and inside it the member id or
    /// `group.instance.id` as transactional id; without one every start makes a new producer.
    Group {
        /// The consumer group.
        group_id: String,
        /// The member id or `group.instance.id`.
        transactional_id: Option<String>,
    },
}

impl ProducerName {
    /// *Draft*: the name of a consumer's one producer: `group.instance.id` where there is one, since it is unique
    /// and outlives the process, else the member id of the first rebalance, kept for the process's life.
    pub fn of_member(group_id: &str, group_instance_id: Option<&str>, member_id: &str) -> Self {
        let id = group_instance_id.unwrap_or(member_id);
        Self::Group {
            group_id: group_id.into(),
            transactional_id: Some(id.into()).filter(|id: &String| !id.is_empty()),
        }
    }

    /// `transaction.timeout.ms` unless set: a minute, and 10 seconds for a producer that knows its group, since the
    /// next owner of its partitions has to wait for that long if it dies (KIP-447).
    pub fn default_timeout_ms(&self) -> i32 {
        match self {
            Self::TransactionalId(_) => 60_000,
            Self::Group { .. } => 10_000,
        }
    }

    /// The transactional id in requests; empty if there is none.
    pub fn transactional_id(&self) -> &str {
        match self {
            Self::TransactionalId(id) => id,
            Self::Group { transactional_id, .. } => transactional_id.as_deref().unwrap_or_default(),
        }
    }

    /// The group of a producer that knows its own.
    pub fn group_id(&self) -> Option<&str> {
        match self {
            Self::TransactionalId(_) => None,
            Self::Group { group_id, .. } => Some(group_id),
        }
    }
}

/// The settings of a [`Cycle`](super::Cycle).
///
/// # Examples
///
/// ```
/// use tenure::fence::cycle::{CycleConfig, ProducerName};
///
/// let config = CycleConfig::new(ProducerName::of_member("g", None, "member-1"));
/// assert_eq!(config.transaction_timeout_ms, 10_000);
/// assert_eq!(CycleConfig::new(ProducerName::TransactionalId("t".into())).transaction_timeout_ms, 60_000);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CycleConfig {
    /// What the producer is known by.
    pub name: ProducerName,
    /// `transaction.timeout.ms`.
    pub transaction_timeout_ms: i32,
    /// `request.timeout.ms`: after so long an unanswered request is sent again.
    pub request_timeout_ms: u64,
    /// `retry.backoff.ms`: the pause before the first repetition; it doubles.
    pub backoff_ms: u64,
    /// `retry.backoff.max.ms`: the longest pause.
    pub backoff_max_ms: u64,
    /// Whether all members fetch stable offsets only. Then a transaction whose offsets are pending may be
    /// committed while a rebalance begins; otherwise it is aborted.
    pub stable_fetches: bool,
}

impl CycleConfig {
    /// The defaults for a producer of this name.
    pub fn new(name: ProducerName) -> Self {
        Self {
            transaction_timeout_ms: name.default_timeout_ms(),
            name,
            request_timeout_ms: 30_000,
            backoff_ms: 100,
            backoff_max_ms: 1_000,
            stable_fetches: true,
        }
    }
}
