//! Topics that come, go and grow.

use std::sync::Arc;

use super::Member;
use super::action::{Metadata, MetadataScope};
use super::state::{RejoinReason, State};

impl Member {
    /// The topics' partition counts as the host knows them now. Topics of interest that are not named don't exist.
    pub fn handle_metadata(&mut self, metadata: Metadata, now_ms: u64) {
        let before = core::mem::replace(&mut self.metadata, Arc::new(metadata));
        self.answered = true;
        if let Some(wanted) = &mut self.wanted
            && let Some(filter) = &wanted.filter
        {
            wanted.topics = self
                .metadata
                .topics()
                .map(|(topic, _)| topic)
                .filter(|topic| filter.matches(topic))
                .map(str::to_owned)
                .collect();
        }
        // Only what was seen to exist can vanish: metadata may be older than the assignment.
        let mut vanished = core::mem::take(&mut self.vanished);
        vanished.extend(self.owned.iter().filter(|one| before.contains(one)).cloned());
        vanished.retain(|one| !self.metadata.contains(one));
        self.vanished = vanished;

        match core::mem::replace(&mut self.state, State::Idle) {
            State::Refreshing { .. } => {
                // A pattern may match less than before: then there is more to revoke.
                if self.queue_before_join() {
                    self.state = State::Preparing;
                } else {
                    self.discover_or_join(now_ms);
                }
            }
            State::RefreshingLeader { joined, .. } => self.lead(joined, now_ms),
            other => self.state = other,
        }
        self.settle(now_ms);
    }

    /// Whether the host was asked for everything that is of interest now.
    pub(super) fn asked_for_all(&self) -> bool {
        match (&self.asked, self.topics_of_interest()) {
            (Some(MetadataScope::All), MetadataScope::Topics(_) | MetadataScope::All) => true,
            (Some(MetadataScope::Topics(asked)), MetadataScope::Topics(wanted)) => {
                wanted.iter().all(|topic| asked.binary_search(topic).is_ok())
            }
            _ => false,
        }
    }

    /// What the metadata gives as a reason to rebalance.
    pub(super) fn reason_in_metadata(&self) -> Option<RejoinReason> {
        if self.wanted.is_some() && self.joined_topics != self.topics() {
            return Some(RejoinReason::SubscriptionChanged);
        }
        if self.leads {
            let changed = self.watched.iter().any(|(topic, count)| self.metadata.partitions(topic) != *count);
            return changed.then_some(RejoinReason::MetadataChanged);
        }
        // The leader may have missed that they were gone, and so not know that nobody reads them now.
        self.gone.iter().any(|one| self.metadata.contains(one)).then_some(RejoinReason::PartitionsBack)
    }
}
