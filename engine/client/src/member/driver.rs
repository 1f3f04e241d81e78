//! The task that runs the state machine: hands it what happens, does what it asks, wakes it in time.

use core::time::Duration;
use std::collections::BTreeMap;

use tenure::protocol::error::ErrorCode;
use tenure::protocol::leader::{Leader, LeaderScratch};
use tenure::protocol::member::{
    Action, AssignId, AssignRequest, CommitError, CommitId, Member, MemberState, Report, RequestId,
    TopicFilter,
};
use tenure::protocol::message::{
    CommittedOffset, FindCoordinatorResponse, Request, Response, SyncAssignment, TopicPartition,
};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until};

use super::config::{GroupConfig, Subscription};
use super::lane::{self, Errand};
use super::listener::{self, News, RebalanceListener};
use super::refresh::{Looked, Refresher};
use super::status::MemberStatus;
use super::{GroupHandle, lead};
use crate::cluster::Cluster;
use crate::error::ClientError;

/// What the program asks for.
#[derive(Debug)]
pub(super) enum Command {
    Subscribe(Subscription),
    Rejoin(String),
    Commit(Vec<(TopicPartition, CommittedOffset)>, oneshot::Sender<Result<(), CommitError>>),
    Refresh,
    Polled,
    Close(oneshot::Sender<()>),
}

/// What has happened to something that the driver began.
#[derive(Debug)]
pub(super) enum Event {
    Answered(RequestId, Result<Response, ClientError>),
    CallbackDone(Result<(), String>),
    Looked(Looked),
    Planned(AssignId, Result<Vec<SyncAssignment>, String>, Option<Box<LeaderScratch>>),
}

/// A member with all that it needs to run.
#[derive(Debug)]
pub(super) struct Driver {
    member: Member,
    cluster: Cluster,
    subscription: Subscription,
    leader: Leader,
    started: Instant,
    commands: mpsc::UnboundedReceiver<Command>,
    events: mpsc::UnboundedReceiver<Event>,
    report_event: mpsc::UnboundedSender<Event>,
    status: watch::Sender<MemberStatus>,
    refresher: Refresher,
    scratch: Option<Box<LeaderScratch>>,
    commits: BTreeMap<CommitId, oneshot::Sender<Result<(), CommitError>>>,
    closing: Vec<oneshot::Sender<()>>,
    assignor: Option<String>,
    rebalances: u64,
    trouble: Option<ClientError>,
    /// Whether the time for closing ran out.
    late: bool,
    tasks: JoinSet<()>,
}

impl Driver {
    pub(super) fn new(
        cluster: Cluster,
        config: GroupConfig,
        commands: mpsc::UnboundedReceiver<Command>,
        status: watch::Sender<MemberStatus>,
    ) -> Result<Self, ClientError> {
        let GroupConfig { mut member, subscription, leader } = config;
        member.client_id.clone_from(&cluster.config().client_id);
        let (report_event, events) = mpsc::unbounded_channel();
        Ok(Self {
            member: Member::new(member, 0)?,
            refresher: Refresher::new(cluster.clone(), report_event.clone()),
            cluster,
            subscription,
            leader,
            started: Instant::now(),
            commands,
            events,
            report_event,
            status,
            scratch: None,
            commits: BTreeMap::new(),
            closing: Vec::new(),
            assignor: None,
            rebalances: 0,
            trouble: None,
            late: false,
            tasks: JoinSet::new(),
        })
    }

    pub(super) async fn run<L: RebalanceListener>(mut self, listener: L, handle: GroupHandle) {
        let (errands, errands_in) = mpsc::unbounded_channel();
        self.tasks.spawn(lane::run(self.cluster.clone(), errands_in, self.report_event.clone()));
        let (news, news_in) = mpsc::unbounded_channel();
        let mut listening = JoinSet::new();
        listening.spawn(listener::run(listener, handle, news_in, self.report_event.clone()));

        let subscription = core::mem::take(&mut self.subscription);
        self.subscribe(subscription);
        loop {
            while let Some(action) = self.member.poll_action() {
                self.act(action, &errands, &news);
            }
            self.publish();
            if self.member.state() == MemberState::Closed {
                break;
            }
            while self.tasks.try_join_next().is_some() {}
            let due = self.member.poll_timeout().map(|at_ms| self.started + Duration::from_millis(at_ms));
            let refresh_at = self.refresher.due(&self.member);
            tokio::select! {
                Some(command) = self.commands.recv() => self.obey(command),
                Some(event) = self.events.recv() => self.hear(event),
                () = sleep_until(due.unwrap_or(self.started)), if due.is_some() => {
                    let now_ms = self.now_ms();
                    self.member.handle_timeout(now_ms);
                }
                () = sleep_until(refresh_at.unwrap_or(self.started)), if refresh_at.is_some() => {
                    self.refresher.start(&self.member, None);
                }
            }
        }
        drop(news);
        if !self.late {
            // The listener hears the last reports before the program goes on.
            listening.join_next().await;
        }
        for done in self.closing.drain(..) {
            let _ = done.send(());
        }
    }

    fn now_ms(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn act(
        &mut self,
        action: Action,
        errands: &mpsc::UnboundedSender<Errand>,
        news: &mpsc::UnboundedSender<News>,
    ) {
        match action {
            Action::Send { id, node, request } => self.send(id, node, request, errands),
            Action::Callback(callback) => {
                if news.send(News::Callback(callback)).is_err() {
                    let gone = Err("the listener has panicked".to_owned());
                    let _ = self.report_event.send(Event::CallbackDone(gone));
                }
            }
            Action::RefreshMetadata(scope) => self.refresher.start(&self.member, Some(scope)),
            Action::Assign(asked) => self.plan(asked),
            Action::CommitDone { id, result } => {
                if let Some(done) = self.commits.remove(&id) {
                    let _ = done.send(result);
                }
            }
            Action::Report(report) => {
                match &report {
                    Report::Settled { assignor, .. } => {
                        self.rebalances = self.rebalances.saturating_add(1);
                        self.assignor = Some(assignor.clone());
                    }
                    Report::Closed { timed_out } => self.late = *timed_out,
                    _ => {}
                }
                let _ = news.send(News::Report(report));
            }
            // The state machine may learn to ask for more; this driver does all that there is.
            other => debug_assert!(false, "an action that nobody does: {other:?}"),
        }
    }

    fn send(
        &mut self,
        id: RequestId,
        node: Option<i32>,
        request: Request,
        errands: &mpsc::UnboundedSender<Errand>,
    ) {
        let config = self.member.config();
        if let Request::FindCoordinator(request) = request {
            let (cluster, events) = (self.cluster.clone(), self.report_event.clone());
            self.tasks.spawn(async move {
                let found = cluster.find_coordinator(request.kind, &request.key).await;
                let answer = found.map(|(code, node_id)| {
                    FindCoordinatorResponse { error: ErrorCode::from_code(code), node_id }.into()
                });
                let _ = events.send(Event::Answered(id, answer));
            });
            return;
        }
        let timeout_ms = match &request {
            Request::JoinGroup(_) | Request::SyncGroup(_) => {
                config.request_timeout_ms.max(config.rebalance_timeout_ms.saturating_add(REBALANCE_MARGIN_MS))
            }
            _ => config.request_timeout_ms,
        };
        let timeout = Duration::from_millis(timeout_ms);
        let node_id = node.unwrap_or(-1);
        if errands.send(Errand { id, node_id, request, timeout }).is_err() {
            let _ = self.report_event.send(Event::Answered(id, Err(ClientError::Closed)));
        }
    }

    fn plan(&mut self, asked: AssignRequest) {
        let leader = self.leader;
        let leader_id = self.member.member_id().to_owned();
        let topics = self.refresher.topics();
        let mut scratch = self.scratch.take().unwrap_or_default();
        let events = self.report_event.clone();
        self.tasks.spawn(async move {
            let id = asked.id;
            // A large group's plan may take longer than other tasks of this thread should wait.
            let planned = tokio::task::spawn_blocking(move || {
                let outcome = lead::plan(&leader, &asked, &leader_id, &topics, &mut scratch);
                (outcome, scratch)
            });
            let event = match planned.await {
                Ok((outcome, scratch)) => Event::Planned(id, outcome, Some(scratch)),
                Err(error) => Event::Planned(id, Err(error.to_string()), None),
            };
            let _ = events.send(event);
        });
    }

    fn obey(&mut self, command: Command) {
        let now_ms = self.now_ms();
        match command {
            Command::Subscribe(subscription) => self.subscribe(subscription),
            // In no group there is nothing to ask for.
            Command::Rejoin(reason) => drop(self.member.request_rejoin(reason, now_ms)),
            Command::Commit(offsets, done) => match self.member.commit(offsets, now_ms) {
                Ok(id) => drop(self.commits.insert(id, done)),
                Err(_) => drop(done.send(Err(CommitError::NotMember))),
            },
            Command::Refresh => self.refresher.start(&self.member, None),
            Command::Polled => self.member.application_polled(now_ms),
            Command::Close(done) => {
                self.closing.push(done);
                self.member.close(now_ms);
            }
        }
    }

    fn subscribe(&mut self, subscription: Subscription) {
        let now_ms = self.now_ms();
        // Closed or stopped members refuse; their status says so.
        let _ = match subscription {
            Subscription::Nothing => self.member.unsubscribe(now_ms),
            Subscription::Topics(topics) => self.member.subscribe(topics, now_ms),
            Subscription::Filter(filter) => {
                let filter =
                    TopicFilter::new(move |topic| !INTERNAL.contains(&topic) && filter.matches(topic));
                self.member.subscribe_filter(filter, now_ms)
            }
        };
    }

    fn hear(&mut self, event: Event) {
        let now_ms = self.now_ms();
        match event {
            Event::Answered(id, Ok(response)) => {
                self.trouble = None;
                if self.member.handle_response(id, response, now_ms).is_err() {
                    self.member.handle_disconnect(id, now_ms);
                }
            }
            Event::Answered(id, Err(error)) => {
                self.trouble = Some(error);
                self.member.handle_disconnect(id, now_ms);
            }
            Event::CallbackDone(outcome) => {
                let _ = self.member.callback_finished(outcome, now_ms);
            }
            Event::Looked(looked) => match self.refresher.finish(looked, &self.member) {
                Ok(metadata) => {
                    self.trouble = None;
                    self.member.handle_metadata(metadata, now_ms);
                    self.refresher.go_on(&self.member);
                }
                Err(error) => self.trouble = Some(error),
            },
            Event::Planned(id, outcome, scratch) => {
                self.scratch = scratch;
                let _ = self.member.assignment_computed(id, outcome, now_ms);
            }
        }
    }

    fn publish(&mut self) {
        self.status.send_if_modified(|status| {
            let changed = status.update(&self.member, self.assignor.as_deref(), self.rebalances);
            if status.trouble == self.trouble {
                return changed;
            }
            status.trouble.clone_from(&self.trouble);
            true
        });
    }
}

/// An answer to JoinGroup or SyncGroup may come that much after the rebalance timeout.
const REBALANCE_MARGIN_MS: u64 = 5_000;

/// Kafka's own topics, which no pattern means.
const INTERNAL: [&str; 3] = ["__consumer_offsets", "__transaction_state", "__share_group_state"];
