//! Members of this crate in a group of a real broker. Each test starts one; without Java it says so and ends.

use core::time::Duration;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rskafka::client::partition::{Compression, UnknownTopicHandling};
use rskafka::client::{Client, ClientBuilder};
use rskafka::record::Record;
use tenure_client::{
    ClientConfig, Cluster, GroupConfig, GroupMember, MemberState, PartitionSet, RebalanceListener, Silent,
    TopicPartition, TransactionalProducer,
};
use tenure_peers::{Broker, Settings, or_skip};
use tokio::time::{sleep, timeout};

use crate::ledger::{Ledger, Witness};
use crate::reader::{Reader, Seen};

/// A broker, and a cluster that looks at topics every 200 ms.
async fn start() -> Option<(Broker, Cluster)> {
    let broker = or_skip(tokio::task::spawn_blocking(|| Broker::start(&Settings::default())).await.unwrap())?;
    let mut config = ClientConfig::new([broker.bootstrap()]).with_client_id("tenure");
    config.metadata_max_age_ms = 200;
    let cluster = Cluster::connect(config).await.unwrap();
    Some((broker, cluster))
}

fn config(group: &str) -> GroupConfig {
    GroupConfig::new(group).topics(["orders", "clicks"]).session(6_000, 200).rebalance_timeout_ms(20_000)
}

/// Members by name, with their ledger.
struct Crew {
    cluster: Cluster,
    group: String,
    ledger: Ledger,
    members: BTreeMap<String, GroupMember>,
}

impl Crew {
    fn new(cluster: &Cluster, group: &str) -> Self {
        Self {
            cluster: cluster.clone(),
            group: group.into(),
            ledger: Ledger::new(),
            members: BTreeMap::new(),
        }
    }

    fn join(&mut self, name: &str) {
        let witness = Witness { name: name.into(), ledger: self.ledger.clone() };
        self.join_with(name, config(&self.group), witness);
    }

    fn join_with(&mut self, name: &str, config: GroupConfig, listener: impl RebalanceListener) {
        self.members.insert(name.into(), GroupMember::join(&self.cluster, config, listener).unwrap());
    }

    async fn leave(&mut self, name: &str) {
        self.members.remove(name).unwrap().close().await.unwrap();
    }

    fn crash(&mut self, name: &str) {
        self.members.remove(name).unwrap().crash();
        self.ledger.crashed(name);
    }

    /// Waits until every partition has one owner, all members agree that nothing is left to do, and loads are even;
    /// then the ledger must say the same, and that no partition ever had two.
    async fn settles_on(&self, topics: &[(&str, i32)]) {
        let wanted: PartitionSet = topics
            .iter()
            .flat_map(|&(topic, count)| (0..count).map(move |number| TopicPartition::new(topic, number)))
            .collect();
        let settled = async {
            loop {
                let mut loads = Vec::new();
                let mut owned = PartitionSet::new();
                let mut generations = BTreeSet::new();
                for member in self.members.values() {
                    let status = member.status();
                    if let Some(error) = &status.fatal {
                        panic!("{error}");
                    }
                    if status.state == MemberState::Stable {
                        loads.push(status.fetchable.len());
                        owned = owned.union(&status.fetchable);
                        generations.insert(status.metadata.generation_id);
                    }
                }
                let even = loads.iter().max().unwrap_or(&0) - loads.iter().min().unwrap_or(&0) <= 1;
                let complete = loads.len() == self.members.len() && generations.len() <= 1;
                if complete && even && owned == wanted && loads.iter().sum::<usize>() == wanted.len() {
                    return;
                }
                sleep(Duration::from_millis(20)).await;
            }
        };
        if timeout(Duration::from_secs(90), settled).await.is_err() {
            let statuses: Vec<_> =
                self.members.iter().map(|(name, one)| (name, one.status().clone())).collect();
            panic!("not settled on {wanted}\n{}\n{statuses:#?}", self.ledger.text());
        }
        let holders = self.ledger.holders().unwrap_or_else(|error| panic!("{error}\n{}", self.ledger.text()));
        let held: PartitionSet = holders.into_keys().collect();
        assert_eq!(held, wanted, "\n{}", self.ledger.text());
    }
}

#[tokio::test]
#[ignore = "needs a Kafka broker: .ci/run interop"]
async fn join_leave_crash_growth_and_deletion() {
    let Some((_broker, cluster)) = start().await else { return };
    cluster.create_topic("orders", 6).await.unwrap();
    cluster.create_topic("clicks", 3).await.unwrap();
    let mut crew = Crew::new(&cluster, "crew");

    crew.join("one");
    crew.settles_on(&[("orders", 6), ("clicks", 3)]).await;
    crew.join("two");
    crew.join("three");
    crew.settles_on(&[("orders", 6), ("clicks", 3)]).await;
    let before = crew.ledger.changes();
    crew.leave("one").await;
    crew.settles_on(&[("orders", 6), ("clicks", 3)]).await;
    assert_eq!(
        crew.ledger.changes() - before,
        3,
        "only the leaver's partitions move\n{}",
        crew.ledger.text()
    );

    crew.join("four");
    crew.settles_on(&[("orders", 6), ("clicks", 3)]).await;
    crew.crash("two");
    crew.settles_on(&[("orders", 6), ("clicks", 3)]).await;

    cluster.grow_topic("orders", 9).await.unwrap();
    crew.settles_on(&[("orders", 9), ("clicks", 3)]).await;
    cluster.delete_topic("clicks").await.unwrap();
    crew.settles_on(&[("orders", 9)]).await;
    cluster.create_topic("clicks", 4).await.unwrap();
    crew.settles_on(&[("orders", 9), ("clicks", 4)]).await;

    // A static member that comes back in time takes up what it had: nothing moves.
    crew.join_with(
        "five",
        config("crew").instance_id("five"),
        Witness { name: "five".into(), ledger: crew.ledger.clone() },
    );
    crew.settles_on(&[("orders", 9), ("clicks", 4)]).await;
    let held = crew.members["five"].owned();
    let before = crew.ledger.changes();
    crew.leave("five").await;
    crew.join_with(
        "five",
        config("crew").instance_id("five"),
        Witness { name: "five".into(), ledger: crew.ledger.clone() },
    );
    crew.settles_on(&[("orders", 9), ("clicks", 4)]).await;
    assert_eq!(crew.members["five"].owned(), held);
    assert_eq!(crew.ledger.changes() - before, held.len());

    println!("{}", crew.ledger.text());
    for name in ["three", "four", "five"] {
        crew.leave(name).await;
    }
    assert!(crew.ledger.holders().unwrap().is_empty());
}

#[tokio::test]
#[ignore = "needs a Kafka broker: .ci/run interop"]
async fn every_record_is_read_at_least_once_through_ten_rebalances() {
    let Some((broker, cluster)) = start().await else { return };
    cluster.create_topic("orders", 6).await.unwrap();
    cluster.create_topic("clicks", 3).await.unwrap();
    cluster.await_topic("orders", 6).await.unwrap();
    cluster.await_topic("clicks", 3).await.unwrap();
    let topics = [("orders", 6), ("clicks", 3)];
    let client = Arc::new(ClientBuilder::new(vec![broker.bootstrap().to_owned()]).build().await.unwrap());
    let writing = tokio::spawn(write(client.clone(), topics, 400));

    let seed = 20_261_130;
    let mut random = Random(seed);
    println!("seed {seed}");
    let seen = Seen::default();
    let mut crew = Crew::new(&cluster, "readers");
    let mut names = (1..).map(|number| format!("m{number}"));
    let mut join = |crew: &mut Crew| {
        let name = names.next().unwrap();
        let reader = Reader::new(&name, client.clone(), crew.ledger.clone(), seen.clone());
        crew.join_with(&name, config("readers"), reader);
    };
    join(&mut crew);
    crew.settles_on(&topics).await;
    for _ in 0..10 {
        let present: Vec<String> = crew.members.keys().cloned().collect();
        let chosen = &present[random.below(present.len())];
        match random.below(3) {
            0 if present.len() > 1 => crew.leave(chosen).await,
            1 if present.len() > 1 => crew.crash(chosen),
            _ => join(&mut crew),
        }
        if random.below(4) > 0 {
            crew.settles_on(&topics).await;
        }
        sleep(Duration::from_millis(random.below(300) as u64)).await;
    }
    crew.settles_on(&topics).await;
    let written = writing.await.unwrap();
    let all_read = async {
        while seen.lock().unwrap().len() < written.len() {
            sleep(Duration::from_millis(50)).await;
        }
    };
    let complete = timeout(Duration::from_secs(60), all_read).await.is_ok();
    let seen = seen.lock().unwrap().clone();
    let missed: Vec<_> = written.keys().filter(|place| !seen.contains_key(place)).collect();
    assert!(complete && missed.is_empty(), "never read: {missed:?}\n{}", crew.ledger.text());
    for (place, value) in &written {
        assert_eq!(&seen[place].0, value, "{place:?}");
    }
    let again = seen.values().filter(|(_, times)| *times > 1).count();
    println!("{}{} records, {again} read more than once", crew.ledger.text(), written.len());
    // In the end everything is committed.
    let names: Vec<String> = crew.members.keys().cloned().collect();
    for name in names {
        crew.leave(&name).await;
    }
    let committed = cluster.committed_offsets("readers", None, true).await.unwrap();
    for (partition, offset) in committed {
        let last =
            written.keys().filter(|(one, _)| *one == partition).map(|(_, offset)| offset).max().unwrap();
        assert_eq!(offset.offset, last + 1, "{partition}");
    }
}

/// Writes a numbered sequence into each partition, not all at once; what is written where.
async fn write(
    client: Arc<Client>,
    topics: [(&'static str, i32); 2],
    count: usize,
) -> BTreeMap<(TopicPartition, i64), Vec<u8>> {
    let mut written = BTreeMap::new();
    let mut sinks = Vec::new();
    for (topic, partitions) in topics {
        for number in 0..partitions {
            let sink = client.partition_client(topic, number, UnknownTopicHandling::Retry).await.unwrap();
            sinks.push((TopicPartition::new(topic, number), sink));
        }
    }
    for batch in 0..count / 10 {
        for (partition, sink) in &sinks {
            let values: Vec<Vec<u8>> =
                (0..10).map(|one| format!("{partition} {}", batch * 10 + one).into_bytes()).collect();
            let record = |value: &Vec<u8>| Record {
                key: None,
                value: Some(value.clone()),
                headers: BTreeMap::new(),
                timestamp: rskafka::chrono::DateTime::UNIX_EPOCH,
            };
            let records = values.iter().map(record).collect();
            let produced = sink.produce(records, Compression::NoCompression).await.unwrap();
            for (offset, value) in produced.into_iter().zip(values) {
                written.insert((partition.clone(), offset), value);
            }
        }
        sleep(Duration::from_millis(100)).await;
    }
    written
}

/// SplitMix64: the same choices for the same seed.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % end as u64) as usize
    }
}

#[tokio::test]
#[ignore = "needs a Kafka broker: .ci/run interop"]
async fn a_zombie_is_refused_by_the_broker() {
    let Some((_broker, cluster)) = start().await else { return };
    cluster.create_topic("orders", 2).await.unwrap();
    cluster.create_topic("clicks", 1).await.unwrap();
    cluster.await_topic("orders", 2).await.unwrap();
    cluster.await_topic("clicks", 1).await.unwrap();
    let first = GroupMember::join(&cluster, config("works"), Silent).unwrap();
    first.settled().await.unwrap();
    let zombie = first.group_metadata();
    let offsets = |offset| [(TopicPartition::new("orders", 0), offset)];
    let stored = || async {
        let found = cluster
            .committed_offsets("works", Some(&[TopicPartition::new("orders", 0)]), true)
            .await
            .unwrap();
        found.first().map(|(_, offset)| offset.offset)
    };

    let mut producer = TransactionalProducer::start(&cluster, "works-1", 10_000).await.unwrap();
    producer.send_offsets(offsets(5), &zombie).await.unwrap();
    producer.commit().await.unwrap();
    assert_eq!(stored().await, Some(5));

    // Another joins: the group goes on to a generation that the zombie's transaction does not know.
    let second = GroupMember::join(&cluster, config("works"), Silent).unwrap();
    second.settled().await.unwrap();
    first.until(|status| status.metadata.generation_id > zombie.generation_id).await.unwrap();
    let error = producer.send_offsets(offsets(6), &zombie).await.unwrap_err();
    assert_eq!(error.code(), Some(tenure::protocol::error::ErrorCode::IllegalGeneration), "{error}");
    producer.abort().await.unwrap();
    assert_eq!(stored().await, Some(5));

    // A member that left is not known at all; a live one may.
    second.close().await.unwrap();
    first.settled().await.unwrap();
    let error = producer
        .send_offsets(
            offsets(7),
            &tenure_client::GroupMetadata { member_id: "gone".into(), ..first.group_metadata() },
        )
        .await
        .unwrap_err();
    assert_eq!(error.code(), Some(tenure::protocol::error::ErrorCode::UnknownMemberId), "{error}");
    producer.abort().await.unwrap();
    producer.send_offsets(offsets(8), &first.group_metadata()).await.unwrap();
    producer.commit().await.unwrap();
    assert_eq!(stored().await, Some(8));

    // Whoever starts with the same transactional id fences the one before.
    let mut heir = TransactionalProducer::start(&cluster, "works-1", 10_000).await.unwrap();
    assert!(producer.send_offsets(offsets(9), &first.group_metadata()).await.is_err());
    heir.send_offsets(offsets(10), &first.group_metadata()).await.unwrap();
    heir.commit().await.unwrap();
    assert_eq!(stored().await, Some(10));
    first.close().await.unwrap();
}
