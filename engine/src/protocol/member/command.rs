//! What the application asks for.

use super::super::error::ProtocolError;
use super::state::{AfterLeave, RejoinReason, State};
use super::{Member, TopicFilter, Wanted};

impl Member {
    /// Subscribes to topics by name, in place of what was subscribed to before.
    ///
    /// Of what is owned, partitions of topics that are no longer wanted are revoked before the member joins with the
    /// rest. No topics at all is [`unsubscribe`](Self::unsubscribe).
    ///
    /// # Errors
    ///
    /// [`ProtocolError::Unexpected`] if the member is closed, closing or stopped.
    pub fn subscribe<T: Into<String>>(
        &mut self,
        topics: impl IntoIterator<Item = T>,
        now_ms: u64,
    ) -> Result<(), ProtocolError> {
        let mut topics: Vec<String> = topics.into_iter().map(Into::into).collect();
        topics.sort_unstable();
        topics.dedup();
        if topics.is_empty() {
            return self.unsubscribe(now_ms);
        }
        self.set_wanted(Wanted { topics, filter: None }, now_ms)
    }

    /// Subscribes to all topics that a filter accepts, now and later.
    ///
    /// The metadata is looked up at the start of each rebalance, so that one rebalance finds a new topic for all
    /// members, not one rebalance for each member that finds it (KAFKA-7126).
    ///
    /// # Errors
    ///
    /// [`ProtocolError::Unexpected`] if the member is closed, closing or stopped.
    pub fn subscribe_filter(&mut self, filter: TopicFilter, now_ms: u64) -> Result<(), ProtocolError> {
        let topics = self
            .metadata
            .topics()
            .map(|(topic, _)| topic)
            .filter(|topic| filter.matches(topic))
            .map(str::to_owned)
            .collect();
        self.set_wanted(Wanted { topics, filter: Some(filter) }, now_ms)
    }

    /// Asks for a rebalance, after the one under way if there is one.
    ///
    /// # Errors
    ///
    /// [`ProtocolError::Unexpected`] if the member is in no group.
    pub fn request_rejoin(&mut self, reason: impl Into<String>, now_ms: u64) -> Result<(), ProtocolError> {
        match &self.state {
            State::Idle | State::Leaving(_) | State::Closed | State::Fatal => {
                return Err(self.unexpected("request rejoin"));
            }
            _ => {}
        }
        self.rejoin.get_or_insert(RejoinReason::Requested(reason.into()));
        self.settle(now_ms);
        Ok(())
    }

    fn set_wanted(&mut self, wanted: Wanted, now_ms: u64) -> Result<(), ProtocolError> {
        match &self.state {
            State::Closed | State::Fatal => return Err(self.unexpected("subscribe")),
            State::Leaving(leaving) if leaving.after == AfterLeave::Closed => {
                return Err(self.unexpected("subscribe"));
            }
            _ => {}
        }
        self.wanted = Some(wanted);
        match &self.state {
            State::Idle => {
                self.rejoin.get_or_insert(RejoinReason::FirstJoin);
                self.start_rebalance(now_ms);
            }
            // Not yet joined: what is to be revoked first may have changed.
            State::Refreshing { .. } | State::Discovering | State::BackingOff { .. } => {
                self.start_rebalance(now_ms);
            }
            // On the way or settled: compared with what was joined with, when the round is over.
            _ => {}
        }
        self.settle(now_ms);
        Ok(())
    }
}
