//! Keeps the member's knowledge of topics fresh.

use core::time::Duration;
use std::sync::Arc;

use tenure::protocol::error::ErrorCode;
use tenure::protocol::member::{Member, MemberState, Metadata, MetadataScope};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};

use super::driver::Event;
use super::lead::Topics;
use crate::cluster::Cluster;
use crate::error::ClientError;
use crate::topics::Topic;

/// The outcome of one look at the topics.
#[derive(Debug)]
pub(super) struct Looked {
    scope: MetadataScope,
    outcome: Result<Vec<Topic>, ClientError>,
}

/// Looks topics up, one look at a time.
#[derive(Debug)]
pub(super) struct Refresher {
    cluster: Cluster,
    events: mpsc::UnboundedSender<Event>,
    task: JoinSet<()>,
    /// A look that has to follow the one under way.
    next: Option<MetadataScope>,
    busy: bool,
    due: Option<Instant>,
    failures: u32,
    topics: Topics,
}

impl Refresher {
    pub(super) fn new(cluster: Cluster, events: mpsc::UnboundedSender<Event>) -> Self {
        Self {
            cluster,
            events,
            task: JoinSet::new(),
            next: None,
            busy: false,
            due: None,
            failures: 0,
            topics: Arc::default(),
        }
    }

    /// The topics as they were seen last, by name.
    pub(super) fn topics(&self) -> Topics {
        self.topics.clone()
    }

    /// When to look again if nobody asks before.
    pub(super) fn due(&self, member: &Member) -> Option<Instant> {
        let idle = matches!(member.state(), MemberState::Idle | MemberState::Closed | MemberState::Fatal);
        self.due.filter(|_| !self.busy && !idle)
    }

    /// Begins a look, at what is asked for and what is of interest.
    pub(super) fn start(&mut self, member: &Member, asked: Option<MetadataScope>) {
        let scope = union(asked, member.topics_of_interest());
        if self.busy {
            self.next = Some(union(self.next.take(), scope));
            return;
        }
        self.look(scope, Duration::ZERO);
    }

    /// Takes over what was seen; an error means that another look has begun.
    pub(super) fn finish(&mut self, looked: Looked, member: &Member) -> Result<Metadata, ClientError> {
        self.busy = false;
        while self.task.try_join_next().is_some() {}
        let mut seen = match looked.outcome {
            Ok(seen) => seen,
            Err(error) => {
                let wait = self.cluster.config().backoff(self.failures);
                self.failures = self.failures.saturating_add(1);
                let scope = union(self.next.take(), looked.scope);
                self.look(scope, wait);
                return Err(error);
            }
        };
        self.failures = 0;
        let mut waits = false;
        for topic in &mut seen {
            if topic.error.is_error() && topic.partitions.is_empty() && is_passing(topic.error) {
                // Between two leaders: it is still what it was.
                waits = true;
                if let Some(before) = find(&self.topics, &topic.name) {
                    topic.partitions.clone_from(&before.partitions);
                    topic.error = ErrorCode::None;
                }
            }
        }
        seen.sort_by(|one, other| one.name.cmp(&other.name));
        let known = |topic: &&Topic| topic.error.is_none() || !topic.partitions.is_empty();
        let metadata =
            Metadata::new(seen.iter().filter(known).map(|topic| {
                (topic.name.as_str(), i32::try_from(topic.partitions.len()).unwrap_or(i32::MAX))
            }));
        waits |= member.topics().iter().any(|topic| metadata.partitions(topic).is_none());
        self.topics = Arc::new(seen);
        let age_ms = self.cluster.config().metadata_max_age_ms;
        let wait_ms = if waits { age_ms.min(MISSING_TOPIC_MS) } else { age_ms };
        self.due = Some(Instant::now() + Duration::from_millis(wait_ms));
        Ok(metadata)
    }

    /// Begins the look that was asked for meanwhile.
    pub(super) fn go_on(&mut self, member: &Member) {
        if !self.busy
            && let Some(scope) = self.next.take()
        {
            self.start(member, Some(scope));
        }
    }

    fn look(&mut self, scope: MetadataScope, wait: Duration) {
        self.busy = true;
        let (cluster, events) = (self.cluster.clone(), self.events.clone());
        self.task.spawn(async move {
            sleep(wait).await;
            let outcome = match &scope {
                MetadataScope::All => cluster.all_topics().await,
                MetadataScope::Topics(topics) => cluster.topics_named(topics).await,
            };
            let _ = events.send(Event::Looked(Looked { scope, outcome }));
        });
    }
}

/// So soon a subscribed topic that does not exist yet is looked for again.
const MISSING_TOPIC_MS: u64 = 1_000;

/// Errors that say nothing about whether a topic exists.
fn is_passing(error: ErrorCode) -> bool {
    // LEADER_NOT_AVAILABLE, REQUEST_TIMED_OUT
    matches!(error.code(), 5 | 7)
}

pub(super) fn find<'t>(topics: &'t [Topic], name: &str) -> Option<&'t Topic> {
    topics.binary_search_by(|topic| topic.name.as_str().cmp(name)).ok().and_then(|index| topics.get(index))
}

fn union(one: Option<MetadataScope>, other: MetadataScope) -> MetadataScope {
    match (one, other) {
        (None, scope) => scope,
        (Some(MetadataScope::All), _) | (_, MetadataScope::All) => MetadataScope::All,
        (Some(MetadataScope::Topics(mut topics)), MetadataScope::Topics(more)) => {
            topics.extend(more);
            topics.sort_unstable();
            topics.dedup();
            MetadataScope::Topics(topics)
        }
    }
}
