//! A member's settings.

use tenure::plan::Config;
use tenure::protocol::leader::Leader;
use tenure::protocol::member::{MemberConfig, TopicFilter};
use tenure::protocol::selection::{Assignor, ProtocolPolicy, Selection};

use crate::error::ClientError;

/// What a member reads.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub enum Subscription {
    /// Nothing: in no group.
    #[default]
    Nothing,
    /// Topics by name. One that does not exist yet is read once it does.
    Topics(Vec<String>),
    /// All topics, now and later, whose name a filter accepts.
    Filter(TopicFilter),
}

impl<S: Into<String>> FromIterator<S> for Subscription {
    fn from_iter<I: IntoIterator<Item = S>>(topics: I) -> Self {
        let topics: Vec<String> = topics.into_iter().map(Into::into).collect();
        if topics.is_empty() { Self::Nothing } else { Self::Topics(topics) }
    }
}

impl<S: Into<String>, const N: usize> From<[S; N]> for Subscription {
    fn from(topics: [S; N]) -> Self {
        topics.into_iter().collect()
    }
}

impl From<Vec<String>> for Subscription {
    fn from(topics: Vec<String>) -> Self {
        topics.into_iter().collect()
    }
}

impl From<TopicFilter> for Subscription {
    fn from(filter: TopicFilter) -> Self {
        Self::Filter(filter)
    }
}

/// The settings of a [`GroupMember`](super::GroupMember).
///
/// [`member`](Self::member) has those of the protocol, with Kafka's names and defaults; the methods set the common ones.
///
/// # Examples
///
/// ```
/// use tenure_client::GroupConfig;
///
/// let config = GroupConfig::new("billing").topics(["orders"]).instance_id("billing-1").rack("a");
/// assert_eq!(config.member.session_timeout_ms, 45_000);
/// assert_eq!(config.member.selection.assignors()[0].name(), "cooperative-sticky");
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct GroupConfig {
    /// The settings of the protocol.
    pub member: MemberConfig,
    /// What is read from the start.
    pub subscription: Subscription,
    /// How the member plans when it leads the group.
    pub leader: Leader,
}

impl GroupConfig {
    /// A dynamic member with the cooperative sticky assignor, subscribed to nothing.
    pub fn new(group_id: impl Into<String>) -> Self {
        Self {
            member: MemberConfig::new(group_id, default_selection()),
            subscription: Subscription::Nothing,
            leader: Leader::new(),
        }
    }

    /// Sets the topics by name.
    #[must_use]
    pub fn topics<S: Into<String>>(mut self, topics: impl IntoIterator<Item = S>) -> Self {
        self.subscription = topics.into_iter().collect();
        self
    }

    /// Reads every topic, now and later, whose name the function accepts. A regular expression's `is_match` will do.
    #[must_use]
    pub fn topics_matching(mut self, matches: impl Fn(&str) -> bool + Send + Sync + 'static) -> Self {
        self.subscription = Subscription::Filter(TopicFilter::new(matches));
        self
    }

    /// Sets the assignors by name, the preferred one first: `cooperative-sticky`, `tenure-cooperative-sticky`,
    /// `sticky`, `range`, `roundrobin`. With an eager one in the list the member is safe beside members that know only
    /// that one, and turns cooperative when the group does.
    ///
    /// # Errors
    ///
    /// [`ClientError::Config`] for a name that is none; [`ClientError::Protocol`] for a list that can't work.
    pub fn assignors<S: AsRef<str>>(
        mut self,
        names: impl IntoIterator<Item = S>,
    ) -> Result<Self, ClientError> {
        let assignors = names
            .into_iter()
            .map(|name| {
                let name = name.as_ref();
                Assignor::by_name(name).ok_or_else(|| {
                    ClientError::config(
                        "partition.assignment.strategy",
                        format!("{name:?}"),
                        "cooperative-sticky, tenure-cooperative-sticky, sticky, range or roundrobin",
                    )
                })
            })
            .collect::<Result<Vec<_>, _>>()?;
        self.member.selection = Selection::new(&assignors, ProtocolPolicy::Selected)?;
        Ok(self)
    }

    /// Makes the member static (KIP-345): a restart within the session timeout keeps its partitions.
    #[must_use]
    pub fn instance_id(mut self, instance_id: impl Into<String>) -> Self {
        self.member.group_instance_id = Some(instance_id.into());
        self
    }

    /// Sets where the member runs: it is given partitions with a replica there first (KIP-881).
    #[must_use]
    pub fn rack(mut self, rack: impl Into<String>) -> Self {
        self.member.rack = Some(rack.into());
        self
    }

    /// Sets `session.timeout.ms` and `heartbeat.interval.ms`.
    #[must_use]
    pub fn session(mut self, timeout_ms: u64, heartbeat_interval_ms: u64) -> Self {
        self.member.session_timeout_ms = timeout_ms;
        self.member.heartbeat_interval_ms = heartbeat_interval_ms;
        self
    }

    /// Sets how long the coordinator waits for this member when a rebalance starts (`max.poll.interval.ms` in Java).
    #[must_use]
    pub fn rebalance_timeout_ms(mut self, timeout_ms: u64) -> Self {
        self.member.rebalance_timeout_ms = timeout_ms;
        self
    }

    /// Sets how the member plans when it leads.
    #[must_use]
    pub fn planning(mut self, config: Config) -> Self {
        self.leader = self.leader.config(config);
        self
    }
}

fn default_selection() -> Selection {
    // The one list that is always right; were it not, the member's own check would say so when it starts.
    Selection::new(&[Assignor::cooperative_sticky()], ProtocolPolicy::Selected)
        .unwrap_or_else(|_| unreachable!("a list of one assignor with one protocol has a protocol in common"))
}
