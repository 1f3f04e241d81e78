//! The figures of `tenure budget` for every generated group are the bytes that are really produced.
//!
//! Produced by others: subscriptions, JoinGroup responses and SyncGroup requests by the `kafka-protocol` crate, from the
//! workload and not from the group that the engine made of it; assignments by the leader, who is given those very
//! subscriptions; sticky user data by hand. Only the group's record, which that crate lacks, is written by the engine's
//! table of records.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use bytes::Bytes;
use kafka_protocol::messages::consumer_protocol_subscription::TopicPartition;
use kafka_protocol::messages::join_group_response::JoinGroupResponseMember;
use kafka_protocol::messages::sync_group_request::SyncGroupRequestAssignment;
use kafka_protocol::messages::{
    ConsumerProtocolSubscription, GroupId, JoinGroupResponse, SyncGroupRequest, TopicName,
};
use kafka_protocol::protocol::{Encodable, StrBytes};
use serde_json::Value;
use tenure::codec::compact::{CompactFields, Owned, TopicList};
use tenure::codec::message::{Struct, Value as Wire, format};
use tenure::codec::{Text, TopicPartitions};
use tenure::plan::{Assignor, Config, Plan};
use tenure::protocol::leader::{Leader, LeaderScratch, MemberMetadata};
use tenure_bench::size::{Row, csv};
use tenure_bench::workloads::{COMMITTED, EVENTS, Event, SHAPES, Shape, Workload, rack_name};
use tenure_cli::budget::{Options, Report, write};
use tenure_cli::snapshot::{self, Snapshot};

const SEED: u64 = 429;

/// A member as the workload has it: no index of the engine's is left.
#[derive(Clone)]
struct Told {
    id: String,
    topics: Vec<String>,
    owned: BTreeMap<String, Vec<i32>>,
    generation: Option<i32>,
    rack: Option<String>,
}

fn told(workload: &Workload) -> Vec<Told> {
    let name = |topic: u32| workload.topics[topic as usize].name.clone();
    let member = |member: &tenure_bench::workloads::Member| {
        let mut owned: BTreeMap<String, Vec<i32>> = BTreeMap::new();
        for &(topic, partition) in &member.owned {
            owned.entry(name(topic)).or_default().push(partition as i32);
        }
        Told {
            id: member.id.clone(),
            topics: member.topics.iter().map(|&topic| name(topic)).collect(),
            owned,
            generation: member.generation,
            rack: member.rack.map(rack_name),
        }
    };
    let mut all: Vec<Told> = workload.members.iter().map(member).collect();
    all.sort_by(|a, b| a.id.cmp(&b.id));
    all
}

/// The members when everybody has what is planned.
fn settled(members: &[Told], snapshot: &Snapshot, plan: &Plan) -> Vec<Told> {
    let topology = snapshot.group.topology();
    let next = members.iter().filter_map(|member| member.generation).max().map_or(1, |known| known + 1);
    let settle = |member: &Told| {
        let mut owned: BTreeMap<String, Vec<i32>> = BTreeMap::new();
        for &partition in plan.target(snapshot.group.find(&member.id).unwrap()) {
            let topic = topology.name(topology.topic_of(partition)).to_owned();
            owned.entry(topic).or_default().push(topology.number(partition) as i32);
        }
        Told { owned, generation: Some(next), ..member.clone() }
    };
    members.iter().map(settle).collect()
}

fn text(name: &str) -> StrBytes {
    StrBytes::from_string(name.to_owned())
}

fn encoded(message: &impl Encodable, version: i16) -> Vec<u8> {
    let mut buffer = bytes::BytesMut::new();
    message.encode(&mut buffer, version).unwrap();
    assert_eq!(buffer.len(), message.compute_size(version).unwrap());
    buffer.to_vec()
}

/// A format as the document names it.
struct Named<'a> {
    name: &'a str,
    version: i16,
    user_data_version: Option<u64>,
}

fn subscription(member: &Told, form: &Named<'_>) -> Vec<u8> {
    let blocks = || member.owned.iter().map(|(topic, numbers)| (topic.as_str(), numbers));
    let returning = member.generation.is_some() || !member.owned.is_empty();
    let user_data = match form.name {
        "cooperative-sticky" => Some(member.generation.unwrap_or(-1).to_be_bytes().to_vec()),
        "sticky" if returning => {
            let mut data = (member.owned.len() as i32).to_be_bytes().to_vec();
            for (topic, numbers) in blocks() {
                data.extend((topic.len() as i16).to_be_bytes());
                data.extend(topic.bytes());
                data.extend((numbers.len() as i32).to_be_bytes());
                data.extend(numbers.iter().flat_map(|number| number.to_be_bytes()));
            }
            if form.user_data_version == Some(1) {
                data.extend(member.generation.unwrap_or(-1).to_be_bytes());
            }
            Some(data)
        }
        "tenure-cooperative-sticky" => Some(compact(member, form.version)),
        _ => None,
    };
    let owned = blocks().map(|(topic, numbers)| {
        TopicPartition::default().with_topic(TopicName(text(topic))).with_partitions(numbers.clone())
    });
    let owned =
        if form.name == "cooperative-sticky" && form.version >= 1 { owned.collect() } else { Vec::new() };
    let mut told = ConsumerProtocolSubscription::default()
        .with_topics(member.topics.iter().map(|topic| text(topic)).collect())
        .with_user_data(user_data.map(Bytes::from))
        .with_owned_partitions(owned);
    if form.version >= 2 {
        told = told.with_generation_id(member.generation.unwrap_or(-1));
    }
    if form.version >= 3 {
        told = told.with_rack_id(member.rack.as_deref().map(text));
    }
    [form.version.to_be_bytes().to_vec(), encoded(&told, form.version)].concat()
}

/// The one format that is nobody else's.
fn compact(member: &Told, version: i16) -> Vec<u8> {
    let names: Vec<&str> = member.topics.iter().map(String::as_str).collect();
    let topics = TopicList::new(&names).unwrap();
    let owned: Vec<TopicPartitions<'_>> =
        member.owned.iter().map(|(topic, partitions)| TopicPartitions { topic, partitions }).collect();
    let fields = CompactFields {
        owned: Owned::Blocks(&owned),
        generation: member.generation,
        rack: member.rack.as_deref().filter(|_| version < 3),
        ..CompactFields::new(&topics)
    };
    fields.encode().unwrap()
}

/// What one round takes, from its bytes.
#[derive(Debug, PartialEq)]
struct Produced {
    subscription: (u64, u64),
    assignment: (u64, u64),
    join_response: u64,
    sync_request: u64,
    record: u64,
}

fn extent(all: &[Vec<u8>]) -> (u64, u64) {
    let lens = || all.iter().map(|bytes| bytes.len() as u64);
    (lens().max().unwrap_or(0), lens().sum())
}

fn produced(
    members: &[Told],
    subscriptions: &[Vec<u8>],
    assignments: &[Vec<u8>],
    form: &Named<'_>,
) -> Produced {
    let leader = &members[0].id;
    let joined = JoinGroupResponse::default()
        .with_protocol_type(Some(text("consumer")))
        .with_protocol_name(Some(text(form.name)))
        .with_leader(text(leader))
        .with_member_id(text(leader))
        .with_members(
            members
                .iter()
                .zip(subscriptions)
                .map(|(member, bytes)| {
                    JoinGroupResponseMember::default()
                        .with_member_id(text(&member.id))
                        .with_metadata(Bytes::from(bytes.clone()))
                })
                .collect(),
        );
    let synced = SyncGroupRequest::default()
        .with_group_id(GroupId(text("group")))
        .with_member_id(text(leader))
        .with_protocol_type(Some(text("consumer")))
        .with_protocol_name(Some(text(form.name)))
        .with_assignments(
            members
                .iter()
                .zip(assignments)
                .map(|(member, bytes)| {
                    SyncGroupRequestAssignment::default()
                        .with_member_id(text(&member.id))
                        .with_assignment(Bytes::from(bytes.clone()))
                })
                .collect(),
        );
    Produced {
        subscription: extent(subscriptions),
        assignment: extent(assignments),
        join_response: encoded(&joined, 9).len() as u64,
        sync_request: encoded(&synced, 5).len() as u64,
        record: record(members, subscriptions, assignments, form),
    }
}

fn record(members: &[Told], subscriptions: &[Vec<u8>], assignments: &[Vec<u8>], form: &Named<'_>) -> u64 {
    let wire = |name: &str| Wire::Text(Text::from(name.to_owned().leak() as &str));
    let listed = members.iter().zip(subscriptions.iter().zip(assignments)).map(|(member, (said, given))| {
        // A client id, a dash, and a UUID of 36 characters.
        let client_id = &member.id[..member.id.len() - 37];
        let mut listed = Struct::default();
        listed.set("memberId", wire(&member.id));
        listed.set("groupInstanceId", Wire::Null);
        listed.set("clientId", wire(client_id));
        listed.set("clientHost", wire("/255.255.255.255"));
        listed.set("rebalanceTimeout", Wire::Int(300_000));
        listed.set("sessionTimeout", Wire::Int(45_000));
        listed.set("subscription", Wire::Bytes(said.clone().into()));
        listed.set("assignment", Wire::Bytes(given.clone().into()));
        listed
    });
    let mut value = Struct::default();
    value.set("protocolType", wire("consumer"));
    value.set("generation", Wire::Int(7));
    value.set("protocol", wire(form.name));
    value.set("leader", wire(&members[0].id));
    value.set("currentStateTimestamp", Wire::Int(1_800_000_000_000));
    value.set("members", Wire::Structs(listed.collect()));
    format("group-metadata-value").unwrap().encode(3, &value).unwrap().len() as u64
}

/// The assignments as the leader of this protocol writes them when members join like this.
fn led(members: &[Told], snapshot: &Snapshot, name: &str) -> Vec<Vec<u8>> {
    let form = Named { name, version: 3, user_data_version: None };
    let subscriptions: Vec<Vec<u8>> = members.iter().map(|member| subscription(member, &form)).collect();
    let entries: Vec<MemberMetadata<'_>> = members
        .iter()
        .zip(&subscriptions)
        .map(|(member, bytes)| MemberMetadata::new(&member.id, bytes))
        .collect();
    let mut scratch = LeaderScratch::new();
    let topology = snapshot.group.topology();
    let round =
        Leader::new().round_into(form.name, &entries, &members[0].id, topology, &mut scratch).unwrap();
    round.assignments().map(|(_, bytes)| bytes.to_vec()).collect()
}

fn read(figures: &Value) -> Produced {
    let number = |value: &Value| value.as_u64().unwrap();
    let extent = |key: &str| (number(&figures[key]["max"]), number(&figures[key]["total"]));
    Produced {
        subscription: extent("subscription_bytes"),
        assignment: extent("assignment_bytes"),
        join_response: number(&figures["join_response_bytes"]),
        sync_request: number(&figures["sync_request_bytes"]),
        record: number(&figures["group_record_bytes"]),
    }
}

/// Holds the document of one group against the bytes; how many forms of it were compared.
fn check(name: &str, workload: &Workload, snapshot: &Snapshot) -> usize {
    let assignor = Assignor::new(Config::new().strategy(snapshot.strategy));
    let (plan, _) = assignor.assign(&snapshot.group).unwrap();
    let document = write(&Report::new(snapshot, &plan, &Options::default()), true);
    let now = told(workload);
    let later = settled(&now, snapshot, &plan);
    // Tenure's own leader tells in the assignment who must join again.
    let leaders = ["cooperative-sticky", "tenure-cooperative-sticky"];
    let moments = [("now", &now), ("settled", &later)]
        .map(|(moment, members)| (moment, members, leaders.map(|name| led(members, snapshot, name))));
    let formats = document["formats"].as_array().unwrap();
    for (at, figures) in formats.iter().enumerate() {
        let form = Named {
            name: figures["format"].as_str().unwrap(),
            version: figures["version"].as_i64().unwrap() as i16,
            user_data_version: figures["user_data_version"].as_u64(),
        };
        for (moment, members, [as_kafka, as_tenure]) in &moments {
            let assignments = if form.name == leaders[1] { as_tenure } else { as_kafka };
            let subscriptions: Vec<Vec<u8>> = members.iter().map(|one| subscription(one, &form)).collect();
            let expected = produced(members, &subscriptions, assignments, &form);
            let place =
                format!("{name}: {} {:?} v{} {moment}", form.name, form.user_data_version, form.version);
            assert_eq!(read(&figures[moment]), expected, "{place}");
            for ((told, bytes), (listed, given)) in members
                .iter()
                .zip(&subscriptions)
                .zip(document["member_bytes"].as_array().unwrap().iter().zip(as_kafka))
            {
                assert_eq!(listed["member"], told.id.as_str(), "{place}");
                assert_eq!(listed["subscriptions"][at][moment], bytes.len(), "{place}: {}", told.id);
                assert_eq!(listed["assignment"][moment], given.len(), "{place}: {}", told.id);
            }
            // The keys on top are those of the group's own form.
            if (form.name, form.version) == ("cooperative-sticky", 3) {
                let own = if *moment == "now" { &document } else { &document["settled"] };
                assert_eq!(read(own), expected, "{place}");
            }
        }
    }
    formats.len()
}

#[test]
fn committed_groups_take_what_the_budget_says() {
    for committed in COMMITTED {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../datasets/workloads").join(committed.file);
        let snapshot = snapshot::read(&fs::read(path).unwrap(), &Default::default()).unwrap();
        assert_eq!(check(committed.file, &committed.workload(), &snapshot), 24);
    }
}

#[test]
fn named_groups_take_what_the_budget_says() {
    for (at, shape) in SHAPES.iter().enumerate() {
        let racks = if at % 2 == 0 { "" } else { "+racks3" };
        let shape = Shape::find(&format!("{}{racks}", shape.name)).unwrap().small();
        let settled = shape.fresh(SEED).settled();
        let events = if at % 4 == 0 { &Event::ALL[..] } else { &EVENTS[..] };
        for event in events {
            let workload = event.apply(&shape, &settled, SEED);
            let mut bytes = Vec::new();
            workload.write_snapshot(&mut bytes).unwrap();
            let snapshot = snapshot::read(&bytes, &Default::default()).unwrap();
            check(&format!("{}/{event}", shape.full_name()), &workload, &snapshot);
        }
    }
}

/// The figures of `reports/size` that are made fast are still what the codecs write.
#[test]
fn the_report_of_sizes_is_what_the_codecs_write() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../reports/size/raw.csv");
    let committed = fs::read_to_string(path).unwrap();
    let rows: Vec<Row> = Row::all(3_000).collect();
    let made = csv(rows.iter());
    assert_eq!(made.lines().next(), committed.lines().next());
    for line in made.lines() {
        assert!(committed.lines().any(|known| known == line), "no longer so: {line}");
    }
    assert_eq!(committed.lines().count(), 1 + 3 * 4 * 7);
}
