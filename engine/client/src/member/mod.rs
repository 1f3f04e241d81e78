//! A member of a consumer group, running.
//!
//! ```text
//! program ──► GroupMember ──commands──► driver task: tenure's Member ──► lane ──► coordinator
//!    ▲            │ status (watch)         │  ▲                 └──────► cluster: metadata, FindCoordinator
//!    └────────────┘                        ▼  │ done
//!                             listener task: assigned, revoked, lost, report
//! ```
//!
//! The state machine decides everything; the driver moves bytes, time and callbacks. Dropping the member is a crash:
//! the sockets close and the coordinator finds out by its session timeout. [`GroupMember::close`] is the orderly end.

mod config;
mod driver;
mod lane;
mod lead;
mod listener;
mod refresh;
mod status;

pub use config::{GroupConfig, Subscription};
pub use listener::{Change, RebalanceListener, Silent};
pub use status::MemberStatus;

use core::time::Duration;

use tenure::protocol::member::{GroupMetadata, MemberState};
use tenure::protocol::message::{CommittedOffset, TopicPartition};
use tenure::protocol::partition_set::PartitionSet;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::cluster::Cluster;
use crate::error::ClientError;
use driver::{Command, Driver};

pub use tenure::protocol::member::CommitError;

/// A running member of a consumer group.
///
/// # Examples
///
/// ```no_run
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// use tenure_client::{Change, ClientConfig, Cluster, GroupConfig, GroupHandle, GroupMember, RebalanceListener};
///
/// struct Printer;
///
/// impl RebalanceListener for Printer {
///     async fn assigned(&mut self, change: &Change, _: &GroupHandle) -> Result<(), String> {
///         println!("mine now: {}", change.partitions);
///         Ok(())
///     }
///
///     async fn revoked(&mut self, change: &Change, _: &GroupHandle) -> Result<(), String> {
///         println!("given back: {}; the last moment to commit them is now", change.partitions);
///         Ok(())
///     }
/// }
///
/// let cluster = Cluster::connect(ClientConfig::new(["127.0.0.1:9092"])).await?;
/// let member = GroupMember::join(&cluster, GroupConfig::new("billing").topics(["orders"]), Printer)?;
/// member.settled().await?;
/// println!("{} of {} may be read", member.status().fetchable, member.status().owned);
/// member.close().await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct GroupMember {
    handle: GroupHandle,
    driver: JoinHandle<()>,
}

/// What can be asked of a member from anywhere: from tasks that read partitions, from callbacks. It does not keep the
/// member alive.
#[derive(Debug, Clone)]
pub struct GroupHandle {
    commands: mpsc::UnboundedSender<Command>,
    status: watch::Receiver<MemberStatus>,
    cluster: Cluster,
    group_id: std::sync::Arc<str>,
}

impl GroupMember {
    /// Starts a member. It joins as soon as it has a subscription, and joins again whenever it must.
    ///
    /// Must be called inside a tokio runtime with time and I/O.
    ///
    /// # Errors
    ///
    /// [`ClientError::Protocol`] if the settings contradict each other.
    pub fn join<L: RebalanceListener>(
        cluster: &Cluster,
        config: GroupConfig,
        listener: L,
    ) -> Result<Self, ClientError> {
        let (commands, receiver) = mpsc::unbounded_channel();
        let group_id = config.member.group_id.as_str().into();
        let (publish, status) = watch::channel(MemberStatus::new(&config.member));
        let handle = GroupHandle { commands, status, cluster: cluster.clone(), group_id };
        let driver = Driver::new(cluster.clone(), config, receiver, publish)?;
        let driver = tokio::spawn(driver.run(listener, handle.clone()));
        Ok(Self { handle, driver })
    }

    /// What other tasks may hold.
    pub fn handle(&self) -> GroupHandle {
        self.handle.clone()
    }

    /// Leaves the group and stops: callbacks first, then the last commits, then LeaveGroup. A static member sends no
    /// LeaveGroup, so that it may come back within its session timeout.
    ///
    /// # Errors
    ///
    /// [`ClientError::Protocol`] if the member had stopped before, with the reason.
    pub async fn close(mut self) -> Result<(), ClientError> {
        let fatal = self.status().fatal.clone();
        let (done, closed) = oneshot::channel();
        if self.handle.commands.send(Command::Close(done)).is_ok() {
            let _ = closed.await;
        }
        let _ = (&mut self.driver).await;
        fatal.map_or(Ok(()), |error| Err(ClientError::Protocol(error)))
    }

    /// Stops at once, without leaving: what a crash would do. Dropping the member does the same.
    pub fn crash(self) {
        drop(self);
    }
}

impl core::ops::Deref for GroupMember {
    type Target = GroupHandle;

    fn deref(&self) -> &GroupHandle {
        &self.handle
    }
}

impl Drop for GroupMember {
    fn drop(&mut self) {
        self.driver.abort();
    }
}

impl GroupHandle {
    /// Where the member stands. What it may read is [`MemberStatus::fetchable`].
    pub fn status(&self) -> watch::Ref<'_, MemberStatus> {
        self.status.borrow()
    }

    /// Hears of every change of [`status`](Self::status).
    pub fn watch(&self) -> watch::Receiver<MemberStatus> {
        self.status.clone()
    }

    /// The group.
    pub fn group_id(&self) -> &str {
        &self.group_id
    }

    /// Who the member is, for a transactional producer (KIP-447).
    pub fn group_metadata(&self) -> GroupMetadata {
        self.status.borrow().metadata.clone()
    }

    /// What the member holds.
    pub fn owned(&self) -> PartitionSet {
        self.status.borrow().owned.clone()
    }

    /// Waits until the member is part of a generation and has nothing more to do for it.
    ///
    /// # Errors
    ///
    /// [`ClientError::Protocol`] if the member stopped, [`ClientError::Closed`] if it was closed.
    pub async fn settled(&self) -> Result<(), ClientError> {
        self.until(|status| status.state == MemberState::Stable).await
    }

    /// Waits until the status is as wanted.
    ///
    /// # Errors
    ///
    /// [`ClientError::Protocol`] if the member stopped, [`ClientError::Closed`] if it was closed.
    pub async fn until(&self, wanted: impl Fn(&MemberStatus) -> bool) -> Result<(), ClientError> {
        let mut status = self.status.clone();
        let found = status.wait_for(|status| wanted(status) || status.has_ended()).await;
        let found = found.map_err(|_| ClientError::Closed)?;
        if wanted(&found) {
            return Ok(());
        }
        Err(found.fatal.clone().map_or(ClientError::Closed, ClientError::Protocol))
    }

    /// Commits offsets under the present generation: the next offset to read of each partition.
    ///
    /// Commits are sent in the order of the calls. Inside a `revoked` callback this is the last chance for its
    /// partitions.
    ///
    /// # Errors
    ///
    /// [`CommitError`], which tells whether trying again makes sense.
    pub async fn commit(
        &self,
        offsets: impl IntoIterator<Item = (TopicPartition, i64)>,
    ) -> Result<(), CommitError> {
        let offsets =
            offsets.into_iter().map(|(partition, offset)| (partition, CommittedOffset::new(offset)));
        self.commit_with_metadata(offsets.collect()).await
    }

    /// As [`commit`](Self::commit), with leader epochs and a text beside each offset.
    ///
    /// # Errors
    ///
    /// As [`commit`](Self::commit).
    pub async fn commit_with_metadata(
        &self,
        offsets: Vec<(TopicPartition, CommittedOffset)>,
    ) -> Result<(), CommitError> {
        let (done, outcome) = oneshot::channel();
        self.commands.send(Command::Commit(offsets, done)).map_err(|_| CommitError::NotMember)?;
        outcome.await.unwrap_or(Err(CommitError::NotMember))
    }

    /// The committed offsets of partitions; one that has none is left out. Waits for pending transactions, as a
    /// consumer must.
    ///
    /// # Errors
    ///
    /// If the coordinator refuses or does not answer within the request timeout.
    pub async fn committed(
        &self,
        partitions: impl IntoIterator<Item = TopicPartition>,
    ) -> Result<Vec<(TopicPartition, CommittedOffset)>, ClientError> {
        let partitions: Vec<_> = partitions.into_iter().collect();
        self.cluster.committed_offsets(&self.group_id, Some(&partitions), true).await
    }

    /// Subscribes anew: only what is no longer wanted is revoked before the next join.
    ///
    /// # Errors
    ///
    /// [`ClientError::Closed`] if the member has ended.
    pub fn subscribe(&self, subscription: impl Into<Subscription>) -> Result<(), ClientError> {
        self.send(Command::Subscribe(subscription.into()))
    }

    /// Leaves the group but not the program: a later [`subscribe`](Self::subscribe) joins again.
    ///
    /// # Errors
    ///
    /// [`ClientError::Closed`] if the member has ended.
    pub fn unsubscribe(&self) -> Result<(), ClientError> {
        self.send(Command::Subscribe(Subscription::default()))
    }

    /// Asks for a rebalance, after the one under way if there is one.
    ///
    /// # Errors
    ///
    /// [`ClientError::Closed`] if the member has ended.
    pub fn request_rejoin(&self, reason: impl Into<String>) -> Result<(), ClientError> {
        self.send(Command::Rejoin(reason.into()))
    }

    /// Looks the topics up now, not only when their time has come.
    ///
    /// # Errors
    ///
    /// [`ClientError::Closed`] if the member has ended.
    pub fn refresh_topics(&self) -> Result<(), ClientError> {
        self.send(Command::Refresh)
    }

    /// A sign of life of the program. Only watched if
    /// [`max_poll_interval_ms`](tenure::protocol::member::MemberConfig::max_poll_interval_ms) is set: without one for
    /// so long, the member gives the group its partitions back.
    pub fn polled(&self) {
        let _ = self.commands.send(Command::Polled);
    }

    /// As [`settled`](Self::settled), for so long at most; false if it did not settle.
    ///
    /// # Errors
    ///
    /// As [`settled`](Self::settled).
    pub async fn settled_within(&self, limit: Duration) -> Result<bool, ClientError> {
        match timeout(limit, self.settled()).await {
            Ok(settled) => settled.map(|()| true),
            Err(_) => Ok(false),
        }
    }

    fn send(&self, command: Command) -> Result<(), ClientError> {
        self.commands.send(command).map_err(|_| ClientError::Closed)
    }
}
