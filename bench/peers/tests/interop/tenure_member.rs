//! A member of tenure-client that writes to a ledger, and reads and commits what it owns.

use core::sync::atomic::{AtomicBool, Ordering};
use core::time::Duration;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use tenure_client::{
    Change, ClientConfig, Cluster, GroupConfig, GroupHandle, GroupMember, MemberStatus, PartitionSet,
    RebalanceListener, Report, TopicPartition,
};
use tenure_peers::{Connection, Happening, Ledger, MemberSettings, Place};
use tokio::runtime::Runtime;

/// The next offset to read of each partition; absent until it has been looked up.
type Positions = Arc<Mutex<BTreeMap<Place, Option<i64>>>>;

pub(crate) struct TenureMember {
    name: String,
    ledger: Ledger,
    pub(crate) runtime: Runtime,
    pub(crate) cluster: Cluster,
    member: Option<GroupMember>,
    stops: Arc<AtomicBool>,
    reader: Option<JoinHandle<()>>,
}

struct Listener {
    name: String,
    ledger: Ledger,
    positions: Positions,
}

impl TenureMember {
    pub(crate) fn start(settings: &MemberSettings, ledger: &Ledger) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
        let runtime = runtime.unwrap();
        let mut config =
            ClientConfig::new([settings.bootstrap.clone()]).with_client_id(settings.name.clone());
        config.metadata_max_age_ms = 1_000;
        let cluster = runtime.block_on(Cluster::connect(config)).unwrap();
        let config = GroupConfig::new(&settings.group)
            .topics(settings.topics.iter().cloned())
            .session(u64::from(settings.session_ms), 200)
            .rebalance_timeout_ms(30_000)
            .assignors(&settings.strategies)
            .unwrap();
        let positions = Positions::default();
        let name = settings.name.clone();
        let listener =
            Listener { name: name.clone(), ledger: ledger.clone(), positions: Arc::clone(&positions) };
        let guard = runtime.enter();
        let member = GroupMember::join(&cluster, config, listener).unwrap();
        drop(guard);
        let stops = Arc::new(AtomicBool::new(false));
        let reader = Reader {
            name: name.clone(),
            ledger: ledger.clone(),
            positions,
            stops: Arc::clone(&stops),
            group: member.handle(),
            runtime: runtime.handle().clone(),
            connection: Connection::open(&settings.bootstrap, &name).unwrap(),
        };
        let reader = thread::spawn(move || reader.run());
        let (member, reader) = (Some(member), Some(reader));
        Self { name, ledger: ledger.clone(), runtime, cluster, member, stops, reader }
    }

    pub(crate) fn status(&self) -> MemberStatus {
        self.member.as_ref().unwrap().status().clone()
    }

    pub(crate) fn close(mut self) {
        let closed = self.member.take().map(|member| self.runtime.block_on(member.close()));
        self.end();
        closed.unwrap().unwrap();
    }

    pub(crate) fn crash(mut self) {
        self.member.take().unwrap().crash();
        self.end();
    }

    fn end(&mut self) {
        self.stops.store(true, Ordering::Relaxed);
        if let Some(reader) = self.reader.take() {
            reader.join().unwrap();
            self.ledger.note(&self.name, Happening::Ended, Vec::new());
        }
    }
}

impl Drop for TenureMember {
    fn drop(&mut self) {
        self.stops.store(true, Ordering::Relaxed);
    }
}

fn places(set: &PartitionSet) -> Vec<Place> {
    set.iter().map(|one| (one.topic.clone(), one.partition)).collect()
}

impl Listener {
    fn forget(&self, places: &[Place]) -> Vec<(TopicPartition, i64)> {
        let mut positions = self.positions.lock().unwrap_or_else(PoisonError::into_inner);
        let taken = places.iter().filter_map(|place| Some((place, positions.remove(place).flatten()?)));
        taken.map(|(place, offset)| (TopicPartition::new(place.0.clone(), place.1), offset)).collect()
    }
}

impl RebalanceListener for Listener {
    async fn assigned(&mut self, change: &Change, _: &GroupHandle) -> Result<(), String> {
        let places = places(&change.partitions);
        self.ledger.note(&self.name, Happening::Assigned, places.clone());
        let mut positions = self.positions.lock().unwrap_or_else(PoisonError::into_inner);
        positions.extend(places.into_iter().map(|place| (place, None)));
        Ok(())
    }

    async fn revoked(&mut self, change: &Change, group: &GroupHandle) -> Result<(), String> {
        let places = places(&change.partitions);
        let last = self.forget(&places);
        if !last.is_empty()
            && let Err(error) = group.commit(last).await
        {
            self.ledger.note(&self.name, Happening::Said(format!("refused: {error}")), Vec::new());
        }
        self.ledger.note(&self.name, Happening::Revoked, places);
        Ok(())
    }

    async fn lost(&mut self, change: &Change, _: &GroupHandle) -> Result<(), String> {
        let places = places(&change.partitions);
        self.forget(&places);
        self.ledger.note(&self.name, Happening::Lost, places);
        Ok(())
    }

    fn report(&mut self, report: &Report) {
        self.ledger.note(&self.name, Happening::Said(format!("{report:?}")), Vec::new());
    }
}

/// Reads what the member owns, partition by partition.
struct Reader {
    name: String,
    ledger: Ledger,
    positions: Positions,
    stops: Arc<AtomicBool>,
    group: GroupHandle,
    runtime: tokio::runtime::Handle,
    connection: Connection,
}

impl Reader {
    fn run(mut self) {
        while !self.stops.load(Ordering::Relaxed) {
            let owned: Vec<Place> = self.lock().keys().cloned().collect();
            for place in &owned {
                self.turn(place);
            }
            thread::sleep(Duration::from_millis(20));
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<Place, Option<i64>>> {
        self.positions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn turn(&mut self, place: &Place) {
        let partition = TopicPartition::new(place.0.clone(), place.1);
        let known = self.lock().get(place).copied();
        let from = match known {
            None => return,
            Some(Some(offset)) => offset,
            Some(None) => match self.runtime.block_on(self.group.committed([partition.clone()])) {
                Ok(committed) => committed.first().map_or(0, |(_, one)| one.offset),
                Err(error) => return self.say(&format!("no committed offset of {partition}: {error}")),
            },
        };
        {
            // A revoked callback waits here until the read is over and put down.
            let mut positions = self.positions.lock().unwrap_or_else(PoisonError::into_inner);
            let Some(position) = positions.get_mut(place) else { return };
            let to = match self.connection.read(&place.0, place.1, from) {
                Ok(to) => to,
                Err(error) => return self.say(&format!("reading from {from} failed: {error}")),
            };
            *position = Some(to);
            if to == from {
                return;
            }
            self.ledger.note(&self.name, Happening::Records { from, to }, vec![place.clone()]);
        }
        // Unless it was given back meanwhile: then that was the last commit.
        let Some(position) = self.lock().get(place).copied().flatten() else { return };
        if let Err(error) = self.runtime.block_on(self.group.commit([(partition, position)])) {
            self.say(&format!("refused: {error}"));
        }
    }

    fn say(&self, text: &str) {
        self.ledger.note(&self.name, Happening::Said(text.to_owned()), Vec::new());
    }
}
