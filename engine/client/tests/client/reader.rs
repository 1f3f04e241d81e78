//! A member that reads with rskafka: one task a partition, stopped and committed before the partition is given back.

use core::time::Duration;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use rskafka::client::Client;
use rskafka::client::partition::UnknownTopicHandling;
use tenure_client::{Change, GroupHandle, PartitionSet, RebalanceListener, TopicPartition};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::ledger::{Deed, Ledger};

/// Every record that somebody read: partition and offset to the value and how often it was read.
pub(crate) type Seen = Arc<Mutex<BTreeMap<(TopicPartition, i64), (Vec<u8>, u32)>>>;

/// Reads what is assigned.
pub(crate) struct Reader {
    name: String,
    client: Arc<Client>,
    ledger: Ledger,
    seen: Seen,
    tasks: BTreeMap<TopicPartition, Task>,
}

struct Task {
    stop: watch::Sender<bool>,
    /// Ends with the next offset to read.
    ends: JoinHandle<i64>,
}

impl Drop for Task {
    fn drop(&mut self) {
        // A reader that goes down takes its tasks along.
        self.ends.abort();
    }
}

impl Reader {
    pub(crate) fn new(name: &str, client: Arc<Client>, ledger: Ledger, seen: Seen) -> Self {
        Self { name: name.into(), client, ledger, seen, tasks: BTreeMap::new() }
    }

    async fn stop(&mut self, partitions: &PartitionSet) -> Vec<(TopicPartition, i64)> {
        let mut ended = Vec::new();
        for partition in partitions.iter() {
            if let Some(mut task) = self.tasks.remove(partition) {
                let _ = task.stop.send(true);
                if let Ok(next) = (&mut task.ends).await {
                    ended.push((partition.clone(), next));
                }
            }
        }
        ended
    }
}

impl RebalanceListener for Reader {
    async fn assigned(&mut self, change: &Change, group: &GroupHandle) -> Result<(), String> {
        self.ledger.write(&self.name, Deed::Took, &change.partitions, change.metadata.generation_id);
        let committed =
            group.committed(change.partitions.iter().cloned()).await.map_err(|error| error.to_string())?;
        for partition in change.partitions.iter() {
            let from =
                committed.iter().find(|(one, _)| one == partition).map_or(0, |(_, offset)| offset.offset);
            let (stop, stopped) = watch::channel(false);
            let reading =
                read(self.client.clone(), partition.clone(), from, stopped, group.clone(), self.seen.clone());
            self.tasks.insert(partition.clone(), Task { stop, ends: tokio::spawn(reading) });
        }
        Ok(())
    }

    async fn revoked(&mut self, change: &Change, group: &GroupHandle) -> Result<(), String> {
        let offsets = self.stop(&change.partitions).await;
        let committed = group.commit(offsets).await;
        self.ledger.write(&self.name, Deed::Gave, &change.partitions, change.metadata.generation_id);
        committed.map_err(|error| error.to_string())
    }

    async fn lost(&mut self, change: &Change, _: &GroupHandle) -> Result<(), String> {
        self.ledger.write(&self.name, Deed::Lost, &change.partitions, change.metadata.generation_id);
        self.stop(&change.partitions).await;
        Ok(())
    }
}

async fn read(
    client: Arc<Client>,
    partition: TopicPartition,
    mut next: i64,
    stopped: watch::Receiver<bool>,
    group: GroupHandle,
    seen: Seen,
) -> i64 {
    let handling = UnknownTopicHandling::Retry;
    let Ok(source) = client.partition_client(partition.topic.clone(), partition.partition, handling).await
    else {
        return next;
    };
    while !*stopped.borrow() {
        let Ok((records, _)) = source.fetch_records(next, 1..50_000, 50).await else {
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        for one in &records {
            let value = one.record.value.clone().unwrap_or_default();
            let mut seen = seen.lock().unwrap();
            let entry = seen.entry((partition.clone(), one.offset)).or_insert((value, 0));
            entry.1 += 1;
            next = one.offset + 1;
        }
        if !records.is_empty() {
            // Refused during a rebalance: then the next one, or the callback, will do it.
            let _ = group.commit([(partition.clone(), next)]).await;
        }
    }
    next
}
