//! Reads topics as a member of a group, with rskafka for the records: one task a partition, which is stopped and
//! committed before its partition is given back, so that a cooperative rebalance interrupts only what really moves.
//!
//! ```console
//! $ cargo run -p tenure-client --example consume -- 127.0.0.1:9092 billing orders clicks
//! ```
//!
//! Start it several times, stop some with Ctrl-D, kill others, and watch the partitions go round.

use core::error::Error;
use std::collections::BTreeMap;
use std::sync::Arc;

use rskafka::client::partition::UnknownTopicHandling;
use rskafka::client::{Client, ClientBuilder};
use tenure_client::{
    Change, ClientConfig, Cluster, GroupConfig, GroupHandle, GroupMember, PartitionSet, RebalanceListener,
    Report, TopicPartition,
};
use tokio::io::AsyncReadExt;
use tokio::sync::watch;
use tokio::task::JoinHandle;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(broker), Some(group)) = (arguments.next(), arguments.next()) else {
        return Err("usage: consume HOST:PORT GROUP TOPIC…".into());
    };
    let cluster = Cluster::connect(ClientConfig::new([broker.clone()])).await?;
    let records = Arc::new(ClientBuilder::new(vec![broker]).build().await?);
    let reader = Reader { records, tasks: BTreeMap::new() };
    let member = GroupMember::join(&cluster, GroupConfig::new(group).topics(arguments), reader)?;

    // Until the end of input, or until the member can't go on.
    tokio::select! {
        end = read_to_end() => end?,
        ended = member.until(|_| false) => ended?,
    }
    member.close().await?;
    Ok(())
}

async fn read_to_end() -> std::io::Result<()> {
    let mut byte = [0];
    while tokio::io::stdin().read(&mut byte).await? > 0 {}
    Ok(())
}

/// Starts and stops a task for each partition.
struct Reader {
    records: Arc<Client>,
    tasks: BTreeMap<TopicPartition, (watch::Sender<bool>, JoinHandle<i64>)>,
}

impl Reader {
    /// Stops partitions, and says where each stopped.
    async fn stop(&mut self, partitions: &PartitionSet) -> Vec<(TopicPartition, i64)> {
        let mut stopped = Vec::new();
        for partition in partitions.iter() {
            if let Some((stop, task)) = self.tasks.remove(partition) {
                let _ = stop.send(true);
                if let Ok(next) = task.await {
                    stopped.push((partition.clone(), next));
                }
            }
        }
        stopped
    }
}

impl RebalanceListener for Reader {
    async fn assigned(&mut self, change: &Change, group: &GroupHandle) -> Result<(), String> {
        println!("generation {}: mine now: {}", change.metadata.generation_id, change.partitions);
        let committed =
            group.committed(change.partitions.iter().cloned()).await.map_err(|error| error.to_string())?;
        for partition in change.partitions.iter() {
            let from =
                committed.iter().find(|(one, _)| one == partition).map_or(0, |(_, offset)| offset.offset);
            let (stop, stopped) = watch::channel(false);
            let task =
                tokio::spawn(read(self.records.clone(), partition.clone(), from, stopped, group.clone()));
            self.tasks.insert(partition.clone(), (stop, task));
        }
        Ok(())
    }

    async fn revoked(&mut self, change: &Change, group: &GroupHandle) -> Result<(), String> {
        println!("given back: {}", change.partitions);
        let offsets = self.stop(&change.partitions).await;
        group.commit(offsets).await.map_err(|error| error.to_string())
    }

    async fn lost(&mut self, change: &Change, _: &GroupHandle) -> Result<(), String> {
        println!("lost: {}", change.partitions);
        self.stop(&change.partitions).await;
        Ok(())
    }

    fn report(&mut self, report: &Report) {
        if let Report::CallbackFailed { message, .. } = report {
            eprintln!("{message}");
        }
    }
}

/// Reads one partition until it is told to stop; ends with the next offset to read.
async fn read(
    records: Arc<Client>,
    partition: TopicPartition,
    mut next: i64,
    stopped: watch::Receiver<bool>,
    group: GroupHandle,
) -> i64 {
    let source = records
        .partition_client(partition.topic.clone(), partition.partition, UnknownTopicHandling::Retry)
        .await;
    let source = match source {
        Ok(source) => source,
        Err(error) => {
            eprintln!("{partition}: {error}");
            return next;
        }
    };
    while !*stopped.borrow() {
        match source.fetch_records(next, 1..1_000_000, 250).await {
            Ok((batch, _)) => {
                for one in &batch {
                    let value = one.record.value.as_deref().unwrap_or_default();
                    println!("{partition} {}: {}", one.offset, String::from_utf8_lossy(value));
                    next = one.offset + 1;
                }
                // During a rebalance it may be refused: the next one, or the last before the partition goes, will do.
                if !batch.is_empty()
                    && let Err(error) = group.commit([(partition.clone(), next)]).await
                    && !error.is_retriable()
                {
                    eprintln!("{partition}: {error}");
                }
            }
            Err(error) => {
                eprintln!("{partition}: {error}");
                tokio::time::sleep(core::time::Duration::from_millis(500)).await;
            }
        }
    }
    next
}
