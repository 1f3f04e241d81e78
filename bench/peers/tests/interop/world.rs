//! What the tests of groups share: one broker, one process for each foreign client, and members of every kind.

use core::sync::atomic::{AtomicU32, Ordering};
use core::time::Duration;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use tenure_peers::{Broker, Client, Happening, Host, Ledger, MemberSettings, Place, Settings, or_skip};

use crate::tenure_member::TenureMember;

/// How long a group may take to settle. Nothing is measured by it: it ends a test that hangs.
pub(crate) const PATIENCE: Duration = Duration::from_secs(90);

pub(crate) const SESSION_MS: u32 = 6_000;

/// The Java clients: today's, and the first that knew cooperative rebalancing.
pub(crate) const JAVA: Client = Client::Java("4.4.0");
pub(crate) const OLD_JAVA: Client = Client::Java("2.4.1");

type SharedHost = Arc<Mutex<Host>>;

/// The broker of all tests of this process. Its script stops it when the process ends.
fn broker() -> Option<&'static Broker> {
    static BROKER: OnceLock<Option<Broker>> = OnceLock::new();
    BROKER.get_or_init(|| or_skip(Broker::start(&Settings::default()))).as_ref()
}

/// The process that has this client's members.
fn host(client: Client) -> Option<SharedHost> {
    static HOSTS: Mutex<BTreeMap<Client, SharedHost>> = Mutex::new(BTreeMap::new());
    let mut hosts = HOSTS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(host) = hosts.get(&client) {
        return Some(Arc::clone(host));
    }
    let host = Arc::new(Mutex::new(or_skip(Host::start(client))?));
    hosts.insert(client, Arc::clone(&host));
    Some(host)
}

/// A member of any client.
pub(crate) enum Member {
    Tenure(TenureMember),
    Shared(SharedHost, String),
    Alone(Host),
}

/// A group, its topics and its ledger.
pub(crate) struct World {
    pub(crate) broker: &'static Broker,
    pub(crate) ledger: Ledger,
    name: String,
    pub(crate) group: String,
    pub(crate) topics: BTreeMap<String, i32>,
    pub(crate) members: BTreeMap<String, Member>,
}

impl World {
    /// Topics of these sizes; `None` on a machine without a broker or one of these clients.
    pub(crate) fn new(name: &str, partitions: &[i32], clients: &[Client]) -> Option<Self> {
        static TURN: AtomicU32 = AtomicU32::new(0);
        let broker = broker()?;
        for client in clients {
            host(*client)?;
        }
        let group = format!("{name}-{}", TURN.fetch_add(1, Ordering::Relaxed));
        let mut topics = BTreeMap::new();
        for (index, &partitions) in partitions.iter().enumerate() {
            let topic = format!("{group}-t{index}");
            broker.create_topic(&topic, partitions).unwrap();
            topics.insert(topic, partitions);
        }
        let name = name.to_owned();
        Some(Self { broker, ledger: Ledger::new(), name, group, topics, members: BTreeMap::new() })
    }

    pub(crate) fn places(&self) -> Vec<Place> {
        let topics = self.topics.iter();
        topics.flat_map(|(topic, &count)| (0..count).map(move |one| (topic.clone(), one))).collect()
    }

    pub(crate) fn tenure(&mut self, name: &str, strategies: &[&str]) {
        let settings = self.settings(name, strategies);
        let member = TenureMember::start(&settings, &self.ledger);
        self.members.insert(name.into(), Member::Tenure(member));
    }

    pub(crate) fn foreign(&mut self, client: Client, name: &str, strategies: &[&str]) {
        let settings = self.settings(name, strategies);
        let host = host(client).unwrap();
        host.lock().unwrap().join(&settings, &self.ledger).unwrap();
        self.members.insert(name.into(), Member::Shared(host, settings.name));
    }

    /// A foreign member in a process of its own, which can be killed.
    pub(crate) fn foreign_alone(&mut self, client: Client, name: &str, strategies: &[&str]) {
        let mut host = Host::start(client).unwrap();
        host.join(&self.settings(name, strategies), &self.ledger).unwrap();
        self.members.insert(name.into(), Member::Alone(host));
    }

    fn settings(&self, name: &str, strategies: &[&str]) -> MemberSettings {
        MemberSettings {
            name: self.full(name),
            bootstrap: self.broker.bootstrap().into(),
            group: self.group.clone(),
            topics: self.topics.keys().cloned().collect(),
            strategies: strategies.iter().map(|one| (*one).to_owned()).collect(),
            session_ms: SESSION_MS,
            instance: None,
        }
    }

    /// A member's name in the ledger: no other test has it.
    pub(crate) fn full(&self, name: &str) -> String {
        format!("{}/{name}", self.group)
    }

    /// Has a member leave and waits until it has ended.
    pub(crate) fn close(&mut self, name: &str) {
        match self.members.remove(name).unwrap() {
            Member::Tenure(member) => member.close(),
            Member::Shared(host, full) => host.lock().unwrap().close(&full).unwrap(),
            Member::Alone(host) => drop(host),
        }
        let full = self.full(name);
        let ended = |ledger: &Ledger| {
            ledger.entries().iter().any(|one| one.member == full && one.happening == Happening::Ended)
        };
        assert!(self.ledger.wait_until(PATIENCE, ended), "{full} does not end\n{}", self.ledger.table());
    }

    /// Ends a member as a crash does.
    pub(crate) fn crash(&mut self, name: &str) {
        match self.members.remove(name).unwrap() {
            Member::Tenure(member) => member.crash(),
            Member::Alone(host) => host.crash(),
            Member::Shared(..) => panic!("{name} shares its process"),
        }
    }

    pub(crate) fn member(&self, name: &str) -> &TenureMember {
        match self.members.get(name) {
            Some(Member::Tenure(member)) => member,
            _ => panic!("{name} is none of Tenure's"),
        }
    }

    /// Waits until every partition has exactly one owner among the members, every member has some, and loads differ
    /// by no more than `spread`.
    pub(crate) fn settle(&self, step: &str, spread: usize) {
        let places = self.places();
        let names: Vec<String> = self.members.keys().map(|name| self.full(name)).collect();
        let settled = |ledger: &Ledger| {
            let owners = ledger.owners();
            let loads = ledger.loads();
            let held: Vec<usize> = names.iter().map(|name| loads.get(name).copied().unwrap_or(0)).collect();
            let (most, least) = (held.iter().max().copied(), held.iter().min().copied());
            places.iter().all(|place| owners.get(place).is_some_and(|members| members.len() == 1))
                && owners.len() == places.len()
                && held.iter().sum::<usize>() == places.len()
                && least > Some(0)
                && most <= least.map(|least| least + spread)
        };
        let ok = self.ledger.wait_until(PATIENCE, settled);
        assert!(ok, "{}: the group does not settle after {step}\n{}", self.group, self.ledger.table());
        self.judge(step);
    }

    /// No partition was two members' at once, none was given to a member that had it.
    pub(crate) fn judge(&self, step: &str) {
        let overlaps: Vec<String> = self.ledger.overlaps().iter().map(ToString::to_string).collect();
        assert!(overlaps.is_empty(), "{step}: {}\n{}", overlaps.join("\n"), self.ledger.table());
        let twice = self.ledger.given_twice();
        assert!(twice.is_empty(), "{step}: given twice: {twice:?}\n{}", self.ledger.table());
    }

    /// Closes whoever is left. With `TENURE_LEDGERS` the table of who owned what is left in that folder.
    pub(crate) fn end(mut self) {
        let names: Vec<String> = self.members.keys().cloned().collect();
        for name in names {
            self.close(&name);
        }
        self.judge("the end");
        assert_eq!(self.ledger.owners(), BTreeMap::new());
        if let Some(folder) = std::env::var_os("TENURE_LEDGERS") {
            let table = self.ledger.table().replace(&format!("{}/", self.group), "");
            let path = std::path::Path::new(&folder).join(format!("{}.txt", self.name));
            std::fs::write(path, table.replace(&format!("{}-", self.group), "")).unwrap();
        }
    }
}
