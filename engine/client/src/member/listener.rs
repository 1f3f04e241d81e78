//! What the program hears of rebalances.

use core::future::Future;

use tenure::protocol::member::{Callback, CallbackKind, GroupMetadata, Report};
use tenure::protocol::partition_set::PartitionSet;
use tokio::sync::mpsc;

use super::GroupHandle;
use super::driver::Event;

/// A change of what the member holds: never the whole, never empty.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Change {
    /// The partitions that come or go.
    pub partitions: PartitionSet,
    /// The membership under which they do.
    pub metadata: GroupMetadata,
}

/// Hears of rebalances, one at a time and in order. While a callback runs the member goes on with its heartbeats and
/// takes commits through the handle; the group waits for it, for the rebalance timeout at most.
///
/// A callback that fails is reported as [`Report::CallbackFailed`]; the change counts as made.
pub trait RebalanceListener: Send + 'static {
    /// These partitions are the member's from now on. It may read them once this has returned.
    fn assigned(
        &mut self,
        change: &Change,
        group: &GroupHandle,
    ) -> impl Future<Output = Result<(), String>> + Send {
        let _ = (change, group);
        async { Ok(()) }
    }

    /// These partitions are given back. Reading them has to end before this returns; offsets may still be committed.
    fn revoked(
        &mut self,
        change: &Change,
        group: &GroupHandle,
    ) -> impl Future<Output = Result<(), String>> + Send {
        let _ = (change, group);
        async { Ok(()) }
    }

    /// These partitions are another's already. Reading them has to end; a commit would be refused.
    fn lost(
        &mut self,
        change: &Change,
        group: &GroupHandle,
    ) -> impl Future<Output = Result<(), String>> + Send {
        let _ = (change, group);
        async { Ok(()) }
    }

    /// News for a log: rebalances that ended, errors that were mended, the error that was not.
    fn report(&mut self, report: &Report) {
        let _ = report;
    }
}

/// A listener for programs that only look at the member's status.
///
/// They must stop reading a partition as soon as it is no longer in
/// [`fetchable`](super::MemberStatus::fetchable); nobody waits for them.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl RebalanceListener for Silent {}

/// What the driver has for the listener, in order.
#[derive(Debug)]
pub(super) enum News {
    Callback(Callback),
    Report(Report),
}

/// Runs the listener; ends when the driver does.
pub(super) async fn run<L: RebalanceListener>(
    mut listener: L,
    group: GroupHandle,
    mut news: mpsc::UnboundedReceiver<News>,
    events: mpsc::UnboundedSender<Event>,
) {
    while let Some(one) = news.recv().await {
        match one {
            News::Report(report) => listener.report(&report),
            News::Callback(Callback { kind, partitions, metadata }) => {
                let change = Change { partitions, metadata };
                let outcome = match kind {
                    CallbackKind::Assigned => listener.assigned(&change, &group).await,
                    CallbackKind::Revoked => listener.revoked(&change, &group).await,
                    CallbackKind::Lost => listener.lost(&change, &group).await,
                };
                if events.send(Event::CallbackDone(outcome)).is_err() {
                    return;
                }
            }
        }
    }
}
