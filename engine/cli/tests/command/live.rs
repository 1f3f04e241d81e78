//! A running cluster in place of a file.

use core::time::Duration;
use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::{self, JoinHandle};

use kafka_protocol::messages::{ConsumerGroupHeartbeatRequest, GroupId, TopicName};
use kafka_protocol::protocol::StrBytes;
use serde_json::Value;
use tenure::plan::Strategy;
use tenure::protocol::payload::MemberSubscription;
use tenure_cli::live::{LiveGroup, understand};
use tenure_client::{
    ClientConfig, Cluster, DescribedMember, GroupConfig, GroupDescription, GroupMember, GroupState,
    Partition, Silent, Topic,
};
use tenure_peers::{Broker, Settings, or_skip};

use crate::support::{good, stderr, stdout, tenure};

fn refused(arguments: &[&str]) -> String {
    let output = tenure(arguments).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", stdout(&output));
    assert!(output.stdout.is_empty());
    stderr(&output).to_owned()
}

#[test]
fn calls_that_cannot_be() {
    for (arguments, told) in [
        (
            &["plan", "--bootstrap-server", "127.0.0.1:1", "--group", "g"][..],
            "no broker could be reached: 127.0.0.1:1",
        ),
        (&["plan", "--bootstrap-server", "nonsense", "--group", "g"], "bootstrap.servers is \"nonsense\""),
        (&["plan", "--bootstrap-server", "127.0.0.1:1", "--group", "g", "file.json"], "give one of them"),
        (&["explain", "--bootstrap-server", "127.0.0.1:1", "--group", "g", "file.json"], "give one of them"),
        (&["plan", "--group", "g"], "--bootstrap-server"),
        (
            &["plan", "--bootstrap-server", "b:1", "--group", "g", "--subscriptions", "s.json"],
            "--subscriptions",
        ),
        (
            &["plan", "--bootstrap-server", "b:1", "--group", "g", "--command-config", "no.properties"],
            "no.properties",
        ),
        (&["what-if"], "<SNAPSHOT>"),
        (&["watch"], "give --bootstrap-server"),
    ] {
        let text = refused(arguments);
        assert!(text.contains(told), "{arguments:?}: {text}");
    }
}

#[test]
fn a_properties_file_is_named_with_its_setting() {
    let path = std::env::temp_dir().join(format!("tenure-live-{}.properties", std::process::id()));
    std::fs::write(&path, "security.protocol=SSL\nssl.truststore.location=/t.jks\n").unwrap();
    let path_text = path.to_str().unwrap();
    let text = refused(&[
        "plan",
        "--bootstrap-server",
        "127.0.0.1:1",
        "--group",
        "g",
        "--command-config",
        path_text,
    ]);
    std::fs::remove_file(&path).unwrap();
    assert!(
        text.contains(path_text) && text.contains("ssl.truststore.type is JKS") && text.contains("PEM"),
        "{text}"
    );
}

#[test]
fn what_a_coordinator_tells_is_a_group() {
    let member = |topics: &[&str], owned: &[(&str, i32)], rack: &str| DescribedMember {
        instance_id: None,
        client_id: "c".into(),
        host: "h".into(),
        subscription: Some(MemberSubscription {
            topics: topics.iter().map(ToString::to_string).collect(),
            rack: Some(rack.into()),
            ..MemberSubscription::default()
        }),
        assigned: owned
            .iter()
            .map(|&(topic, number)| tenure_client::TopicPartition::new(topic, number))
            .collect(),
    };
    let members = BTreeMap::from([
        ("one".to_owned(), member(&["orders", "ghost"], &[("orders", 0), ("orders", 1)], "a")),
        ("two".to_owned(), member(&["orders"], &[], "b")),
    ]);
    let description = GroupDescription {
        group_id: "g".into(),
        state: GroupState::Stable,
        protocol_type: "consumer".into(),
        assignor: "their-own".into(),
        members,
    };
    assert_eq!(LiveGroup::wanted_topics(&description), ["ghost", "orders"]);
    let partition = |rack: &str| Partition { leader: Some(1), racks: vec![rack.into()] };
    let orders = Topic {
        name: "orders".into(),
        internal: false,
        error: tenure::protocol::error::ErrorCode::None,
        partitions: vec![partition("a"), partition("b")],
    };
    let live = understand(&description, &[orders], None, 1_000).unwrap();
    let group = &live.snapshot.group;
    assert_eq!(live.snapshot.strategy, Strategy::CooperativeSticky);
    assert_eq!((group.members(), group.topology().partitions(), group.topology().racks()), (2, 2, 2));
    assert_eq!(group.claims(group.find("one").unwrap()).len(), 2);
    let told = live.assumptions.join("\n");
    for part in ["\"their-own\"", "no topic ghost", "no generations"] {
        assert!(told.contains(part), "{told}");
    }
    assert_eq!(
        understand(&description, &[], Some(Strategy::Range), 1_000).unwrap().snapshot.strategy,
        Strategy::Range
    );
}

/// Members that run beside the command, in a thread of their own.
struct Crew {
    orders: Sender<Order>,
    done: Receiver<()>,
    thread: Option<JoinHandle<()>>,
}

enum Order {
    Join,
    Leave,
}

impl Crew {
    fn start(bootstrap: &str) -> Self {
        let (orders, wanted) = mpsc::channel();
        let (finished, done) = mpsc::channel();
        let bootstrap = bootstrap.to_owned();
        let thread = thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let cluster = Cluster::connect(ClientConfig::new([bootstrap])).await.unwrap();
                let mut members = Vec::new();
                loop {
                    match wanted.try_recv() {
                        Ok(Order::Join) => {
                            let config =
                                GroupConfig::new("crew").topics(["orders", "clicks"]).session(6_000, 100);
                            let member = GroupMember::join(&cluster, config, Silent).unwrap();
                            member.settled().await.unwrap();
                            members.push(member);
                        }
                        Ok(Order::Leave) => members.pop().unwrap().close().await.unwrap(),
                        Err(mpsc::TryRecvError::Empty) => {
                            tokio::time::sleep(Duration::from_millis(10)).await;
                            continue;
                        }
                        Err(mpsc::TryRecvError::Disconnected) => break,
                    }
                    finished.send(()).unwrap();
                }
            });
        });
        Self { orders, done, thread: Some(thread) }
    }

    fn obey(&self, order: Order) {
        self.orders.send(order).unwrap();
        self.done.recv().unwrap();
    }
}

impl Drop for Crew {
    fn drop(&mut self) {
        let (unused, _) = mpsc::channel();
        self.orders = unused;
        let _ = self.thread.take().unwrap().join();
    }
}

/// What a member owns, in a document of `watch`.
fn partitions_of(member: &Value) -> Vec<(String, i64)> {
    let owned = member["owned"].as_object().unwrap().iter();
    owned
        .flat_map(|(topic, numbers)| {
            numbers.as_array().unwrap().iter().map(|number| (topic.clone(), number.as_i64().unwrap()))
        })
        .collect()
}

#[test]
#[ignore = "needs a Kafka broker: .ci/run interop"]
fn a_running_group_is_planned_explained_played_counted_and_watched() {
    let Some(broker) = or_skip(Broker::start(&Settings::default())) else { return };
    broker.create_topic("orders", 6).unwrap();
    broker.create_topic("clicks", 3).unwrap();
    let at = |command: &str, group: &str, more: &[&str]| {
        let arguments =
            [&[command, "--bootstrap-server", broker.bootstrap(), "--group", group], more].concat();
        tenure(&arguments)
    };
    let text = stderr(&at("plan", "crew", &[]).output().unwrap()).to_owned();
    assert!(text.contains("there is no group \"crew\""), "{text}");

    let crew = Crew::start(broker.bootstrap());
    crew.obey(Order::Join);
    let document: Value =
        serde_json::from_str(good(&at("plan", "crew", &["--json"]).output().unwrap())).unwrap();
    assert_eq!(document["stats"]["partitions"], 9);
    assert_eq!((&document["stats"]["moves"], &document["rejoin"]), (&Value::from(0), &Value::from(false)));
    assert_eq!(document["group"], "crew");
    let text = stdout(&at("explain", "crew", &["--partition", "orders-4"]).output().unwrap()).to_owned();
    assert!(text.contains("owns orders-4") && text.contains("It stays"), "{text}");
    let played: Value = serde_json::from_str(good(
        &at("what-if", "crew", &["--add-members", "2", "--json"]).output().unwrap(),
    ))
    .unwrap();
    assert_eq!(played["total"]["moves"], 6);
    let counted: Value =
        serde_json::from_str(good(&at("budget", "crew", &["--no-measure", "--json"]).output().unwrap()))
            .unwrap();
    assert_eq!(counted["fits"], true);

    // Two rounds when the second joins, one when it leaves again; fast ones may look like one.
    let mut watching = at("watch", "crew", &["--interval", "20", "--json"]).spawn().unwrap();
    let mut lines = BufReader::new(watching.stdout.take().unwrap()).lines();
    let mut events: Vec<Value> = Vec::new();
    let mut look_until = |members: usize| {
        loop {
            let event: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
            let owned: Option<Vec<usize>> = event["members"]
                .as_object()
                .map(|all| all.values().map(partitions_of).map(|owned| owned.len()).collect());
            events.push(event);
            if owned.is_some_and(|owned| owned.len() == members && owned.iter().sum::<usize>() == 9) {
                return;
            }
        }
    };
    look_until(1);
    crew.obey(Order::Join);
    look_until(2);
    let document: Value =
        serde_json::from_str(good(&at("plan", "crew", &["--json"]).output().unwrap())).unwrap();
    assert_eq!(
        (&document["stats"]["load_min"], &document["stats"]["moves"]),
        (&Value::from(4), &Value::from(0))
    );
    crew.obey(Order::Leave);
    look_until(1);
    watching.kill().unwrap();
    watching.wait().unwrap();
    assert_eq!(events[0]["event"], "group");
    assert_eq!(events[0]["members"].as_object().unwrap().len(), 1);
    let done: Vec<&Value> = events.iter().filter(|one| one["event"] == "rebalance").collect();
    assert!(done.len() >= 2, "{events:#?}");
    // Taken together the moves lead from the first look to the last.
    let mut owners: BTreeMap<(String, i64), String> = BTreeMap::new();
    for (id, member) in events[0]["members"].as_object().unwrap() {
        owners.extend(partitions_of(member).into_iter().map(|place| (place, id.clone())));
    }
    for one in done.iter().flat_map(|event| event["moves"].as_array().unwrap()) {
        let place = (one["topic"].as_str().unwrap().to_owned(), one["partition"].as_i64().unwrap());
        let before = match one["to"].as_str() {
            Some(to) => owners.insert(place, to.to_owned()),
            None => owners.remove(&place),
        };
        assert_eq!(before.as_deref(), one["from"].as_str(), "{one}");
    }
    let last = done.last().unwrap()["members"].as_object().unwrap();
    assert_eq!(last.len(), 1);
    assert!(owners.len() == 9 && owners.values().all(|owner| last.contains_key(owner)), "{owners:?}");

    // A group of KIP-848 is told to be one.
    let heartbeat = ConsumerGroupHeartbeatRequest::default()
        .with_group_id(GroupId(StrBytes::from_static_str("modern")))
        .with_member_id(StrBytes::from_static_str("AAAAAAAAAAAAAAAAAAAAAQ"))
        .with_rebalance_timeout_ms(60_000)
        .with_subscribed_topic_names(Some(vec![TopicName(StrBytes::from_static_str("orders"))]))
        .with_topic_partitions(Some(Vec::new()));
    let answer = broker.connect().unwrap().ask(1, &heartbeat).unwrap();
    assert_eq!(answer.error_code, 0, "{:?}", answer.error_message);
    let text = stderr(&at("plan", "modern", &[]).output().unwrap()).to_owned();
    assert!(text.contains("KIP-848") && text.contains("\"modern\" is a consumer group"), "{text}");
    let missing = tenure(&["watch", "--bootstrap-server", broker.bootstrap()]).output().unwrap();
    assert!(stderr(&missing).contains("crew, modern"), "{}", stderr(&missing));
}
