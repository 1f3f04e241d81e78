//! The member's own connection to its coordinator: requests leave in the order in which the member asks.
//!
//! It is the member's alone, *because* a broker answers one request after the other on a connection, and JoinGroup may
//! take minutes. LeaveGroup does not wait behind one: it takes a connection of its own.

use core::sync::atomic::{AtomicUsize, Ordering};
use core::time::Duration;
use std::sync::Arc;

use tenure::protocol::member::RequestId;
use tenure::protocol::message::Request;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::driver::Event;
use crate::cluster::Cluster;
use crate::connection::Connection;
use crate::error::ClientError;
use crate::wire;

/// A request of the member, with the broker it is for.
#[derive(Debug)]
pub(super) struct Errand {
    pub(super) id: RequestId,
    pub(super) node_id: i32,
    pub(super) request: Request,
    pub(super) timeout: Duration,
}

/// Runs errands until the driver ends.
pub(super) async fn run(
    cluster: Cluster,
    mut errands: mpsc::UnboundedReceiver<Errand>,
    events: mpsc::UnboundedSender<Event>,
) {
    let mut kept: Option<(i32, Connection)> = None;
    let mut answers = JoinSet::new();
    let slow = Arc::new(AtomicUsize::new(0));
    while let Some(Errand { id, node_id, request, timeout }) = errands.recv().await {
        while answers.try_join_next().is_some() {}
        let name = request.name();
        let overtakes = name == "LeaveGroup" && slow.load(Ordering::Relaxed) > 0;
        let mut own = None;
        let place = if overtakes { &mut own } else { &mut kept };
        let connection = connection_to(&cluster, node_id, place).await;
        let answer = connection.and_then(|connection| {
            let answer = wire::submit(&connection, request, timeout)?;
            // The connection lives as long as the answer is waited for.
            Ok(async move {
                let answer = answer.await;
                drop(connection);
                answer
            })
        });
        match answer {
            Ok(answer) => {
                let events = events.clone();
                let waits = matches!(name, "JoinGroup" | "SyncGroup").then(|| Slow::new(&slow));
                answers.spawn(async move {
                    let answer = answer.await;
                    drop(waits);
                    let _ = events.send(Event::Answered(id, answer));
                });
            }
            Err(error) => {
                let _ = events.send(Event::Answered(id, Err(error)));
            }
        }
    }
}

async fn connection_to(
    cluster: &Cluster,
    node_id: i32,
    kept: &mut Option<(i32, Connection)>,
) -> Result<Connection, ClientError> {
    if let Some((kept_id, connection)) = kept
        && *kept_id == node_id
        && connection.is_open()
    {
        return Ok(connection.clone());
    }
    let connection = cluster.open(node_id).await?;
    *kept = Some((node_id, connection.clone()));
    Ok(connection)
}

/// Counts a request that may take as long as a rebalance, until it is dropped.
struct Slow(Arc<AtomicUsize>);

impl Slow {
    fn new(count: &Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(count.clone())
    }
}

impl Drop for Slow {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
