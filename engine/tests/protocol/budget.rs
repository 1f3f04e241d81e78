//! Counted sizes are the sizes of what is really written: messages by the table-driven codec, subscriptions by the
//! codec of consumers, assignments by the leader.

use std::collections::BTreeMap;

use proptest::prelude::*;
use tenure::codec::compact::{CompactFields, Owned, TopicList};
use tenure::codec::message::{Struct, Value, format};
use tenure::codec::sticky::{encode_cooperative, grouped_as_java};
use tenure::codec::{StickyFields, SubscriptionFields, Text, TopicPartitions};
use tenure::plan::{Assignor, Config, Plan, Strategy as Assigning};
use tenure::protocol::budget::{
    Budget, Form, Format, Limits, MemberLengths, Moment, Names, Subject, Surroundings, batch_len,
    group_key_len, group_record_len, join_request_len, join_response_len, request_header_len,
    sync_request_len,
};
use tenure::protocol::leader::{AssignmentVersion, Leader, LeaderScratch, MemberMetadata};
use tenure::revoke::{Mode, Round};
use tenure::{Group, Topology};

fn text(len: u64) -> Value<'static> {
    Value::Text(Text::from("x".repeat(len as usize).leak() as &str))
}

fn nullable(len: Option<u64>) -> Value<'static> {
    len.map_or(Value::Null, text)
}

fn bytes(len: u64) -> Value<'static> {
    Value::Bytes(vec![0; len as usize].into())
}

fn structure<const N: usize>(fields: [(&'static str, Value<'static>); N]) -> Struct<'static> {
    let mut made = Struct::default();
    fields.into_iter().for_each(|(name, value)| made.set(name, value));
    made
}

/// The length that the codec says, of a struct without what the version lacks.
fn written(name: &str, version: i16, value: &Struct<'_>) -> u64 {
    format(name).unwrap().encode(version, value).unwrap_or_else(|e| panic!("{name} v{version}: {e}")).len()
        as u64
}

fn consumer() -> Value<'static> {
    Value::Text(Text::from("consumer"))
}

/// Lengths around those at which a shorter form of a length ends.
const LENGTHS: [u64; 9] = [0, 1, 20, 126, 127, 128, 16_382, 16_383, 16_500];

fn members(at: usize) -> Vec<MemberLengths> {
    let length = |by: usize| LENGTHS[(at + by) % LENGTHS.len()];
    let member = |by: usize| MemberLengths {
        id: length(by),
        instance: (by % 2 == 1).then(|| length(by + 1)),
        client_id: length(by + 2),
        client_host: length(by + 3),
        subscription: length(by + 4),
        assignment: length(by + 5),
    };
    (0..at % 4 * at % 131).map(member).collect()
}

fn names(at: usize) -> Names {
    let length = |by: usize| LENGTHS[(at * 7 + by) % LENGTHS.len()];
    let leader_instance = at.is_multiple_of(2).then(|| length(3));
    Names { group: length(0), protocol: length(1), leader: length(2), leader_instance }
}

#[test]
fn messages_are_as_long_as_the_codec_writes_them() {
    for at in 0..40 {
        let (names, members) = (names(at), members(at));
        for version in 0..=9 {
            let member = members.first().copied().unwrap_or_default();
            let offer = [("name", text(names.protocol)), ("metadata", bytes(member.subscription))];
            let mut value = structure([
                ("groupId", text(names.group)),
                ("sessionTimeoutMs", Value::Int(1)),
                ("memberId", text(member.id)),
                ("protocolType", consumer()),
                ("protocols", Value::Structs(vec![structure(offer)])),
            ]);
            if version >= 1 {
                value.set("rebalanceTimeoutMs", Value::Int(1));
            }
            if version >= 5 {
                value.set("groupInstanceId", nullable(member.instance));
            }
            if version >= 8 {
                value.set("reason", Value::Null);
            }
            let counted = join_request_len(version, &names, &member);
            assert_eq!(counted, written("join-group-request", version, &value), "join request v{version}");

            let mut value = structure([
                ("errorCode", Value::Int(0)),
                ("generationId", Value::Int(1)),
                ("protocolName", text(names.protocol)),
                ("leader", text(names.leader)),
                ("memberId", text(names.leader)),
            ]);
            let listed = members.iter().map(|member| {
                let fields = [("memberId", text(member.id)), ("metadata", bytes(member.subscription))];
                let mut listed = structure(fields);
                if version >= 5 {
                    listed.set("groupInstanceId", nullable(member.instance));
                }
                listed
            });
            value.set("members", Value::Structs(listed.collect()));
            if version >= 2 {
                value.set("throttleTimeMs", Value::Int(0));
            }
            if version >= 7 {
                value.set("protocolType", consumer());
            }
            if version >= 9 {
                value.set("skipAssignment", Value::Bool(false));
            }
            let counted = join_response_len(version, &names, members.iter().copied());
            assert_eq!(counted, written("join-group-response", version, &value), "join response v{version}");
        }
        for version in 0..=5 {
            let listed = members
                .iter()
                .map(|one| structure([("memberId", text(one.id)), ("assignment", bytes(one.assignment))]));
            let mut value = structure([
                ("groupId", text(names.group)),
                ("generationId", Value::Int(1)),
                ("memberId", text(names.leader)),
                ("assignments", Value::Structs(listed.collect())),
            ]);
            if version >= 3 {
                value.set("groupInstanceId", nullable(names.leader_instance));
            }
            if version >= 5 {
                value.set("protocolType", consumer());
                value.set("protocolName", text(names.protocol));
            }
            let counted = sync_request_len(version, &names, members.iter().copied());
            assert_eq!(counted, written("sync-group-request", version, &value), "sync request v{version}");
        }
        for version in 0..=4 {
            let listed = members.iter().map(|member| {
                let mut listed = structure([
                    ("memberId", text(member.id)),
                    ("clientId", text(member.client_id)),
                    ("clientHost", text(member.client_host)),
                    ("sessionTimeout", Value::Int(1)),
                    ("subscription", bytes(member.subscription)),
                    ("assignment", bytes(member.assignment)),
                ]);
                if version >= 1 {
                    listed.set("rebalanceTimeout", Value::Int(1));
                }
                if version >= 3 {
                    listed.set("groupInstanceId", nullable(member.instance));
                }
                listed
            });
            let mut value = structure([
                ("protocolType", consumer()),
                ("generation", Value::Int(1)),
                ("protocol", text(names.protocol)),
                ("leader", text(names.leader)),
                ("members", Value::Structs(listed.collect())),
            ]);
            if version >= 2 {
                value.set("currentStateTimestamp", Value::Int(1));
            }
            let counted = group_record_len(version, &names, members.iter().copied());
            assert_eq!(counted, written("group-metadata-value", version, &value), "record v{version}");
        }
        let key = structure([("group", text(names.group))]);
        assert_eq!(group_key_len(names.group), written("group-metadata-key", 2, &key));
        let header = structure([
            ("requestApiKey", Value::Int(11)),
            ("requestApiVersion", Value::Int(9)),
            ("correlationId", Value::Int(1)),
            ("clientId", text(names.group)),
        ]);
        assert_eq!(request_header_len(names.group), written("request-header", 2, &header));
    }
    // A batch as a broker wrote it for a group of one: 61 bytes, a length, six bytes of frame, key and value.
    assert_eq!(batch_len(7, 20), 61 + 1 + (3 + 1 + 7 + 1 + 20 + 1));
    assert_eq!(batch_len(7, 70_000), 61 + 3 + (3 + 1 + 7 + 3 + 70_000 + 1));
}

/// A member as somebody describes it, before it is a [`Group`].
#[derive(Debug, Clone)]
struct Described {
    id: String,
    topics: Vec<&'static str>,
    owned: BTreeMap<&'static str, Vec<i32>>,
    generation: Option<i32>,
    rack: Option<&'static str>,
    instance: Option<&'static str>,
}

/// Beside "a", which has three partitions with racks.
const TOPICS: [(&str, u32); 3] = [("clicks", 7), ("größe", 1), ("orders", 5)];

/// Names that exist and others.
const NAMES: [&str; 6] = ["a", "clicks", "größe", "orders", "deleted", "zz"];

fn described() -> impl proptest::strategy::Strategy<Value = Described> {
    let owned = proptest::collection::btree_map(
        proptest::sample::select(&NAMES[..]),
        proptest::collection::btree_set(-2..9i32, 1..5).prop_map(|set| set.into_iter().collect()),
        0..4,
    );
    let topics = proptest::collection::vec(proptest::sample::select(&NAMES[..]), 0..6);
    let rack = proptest::option::of(proptest::sample::select(&["r1", "r2", "elsewhere"][..]));
    let instance = proptest::option::of(proptest::sample::select(&["i", "other"][..]));
    (topics, owned, proptest::option::of(0..9i32), rack, instance).prop_map(
        |(topics, owned, generation, rack, instance)| Described {
            id: String::new(),
            topics,
            owned,
            generation,
            rack,
            instance,
        },
    )
}

fn topology() -> Topology {
    let racks = [vec!["r1"], vec!["r1", "r2"], vec!["r2"]];
    let builder = Topology::builder().topic_with_racks("a", &racks);
    TOPICS.iter().fold(builder, |builder, &(name, count)| builder.topic(name, count)).build().unwrap()
}

fn group(topology: &Topology, members: &[Described]) -> Group {
    let mut builder = Group::builder(topology);
    for member in members {
        let mut built = builder.member(&member.id);
        member.topics.iter().for_each(|topic| {
            built.topic(topic);
        });
        for (topic, partitions) in &member.owned {
            built.owned(topic, partitions.iter().copied());
        }
        built.generation(member.generation.unwrap_or(-1)).rack(member.rack.unwrap_or(""));
        if let Some(instance) = member.instance {
            built.instance(instance);
        }
    }
    builder.build().unwrap()
}

/// The bytes of a member's subscription.
fn joined(member: &Described, form: Form) -> Vec<u8> {
    let owned: Vec<TopicPartitions<'_>> =
        member.owned.iter().map(|(topic, partitions)| TopicPartitions { topic, partitions }).collect();
    let returning = member.generation.is_some() || !owned.is_empty();
    let generation = member.generation.unwrap_or(-1);
    let sticky = |generation| {
        let grouped = grouped_as_java(&owned);
        let previous: Vec<TopicPartitions<'_>> =
            grouped.iter().map(|(topic, partitions)| TopicPartitions { topic, partitions }).collect();
        StickyFields { previous: &previous, generation }.encode().unwrap()
    };
    let user_data = match form.format {
        Format::CooperativeSticky => Some(encode_cooperative(generation).to_vec()),
        Format::StickyV0 if returning => Some(sticky(None)),
        Format::StickyV1 if returning => Some(sticky(Some(generation))),
        Format::TenureCooperativeSticky => {
            let topics = TopicList::new(&member.topics).unwrap();
            // Nobody owns a partition below zero, and compact data has no word for it.
            let owned: Vec<(&str, Vec<i32>)> = member
                .owned
                .iter()
                .map(|(&topic, numbers)| (topic, numbers.iter().copied().filter(|&n| n >= 0).collect()))
                .filter(|(_, numbers): &(_, Vec<i32>)| !numbers.is_empty())
                .collect();
            let owned: Vec<TopicPartitions<'_>> =
                owned.iter().map(|(topic, partitions)| TopicPartitions { topic, partitions }).collect();
            let fields = CompactFields {
                owned: Owned::Blocks(&owned),
                generation: member.generation,
                rack: member.rack.filter(|_| form.version < 3),
                ..CompactFields::new(&topics)
            };
            Some(fields.encode().unwrap())
        }
        _ => None,
    };
    SubscriptionFields {
        topics: &member.topics,
        user_data: user_data.as_deref(),
        owned: if form.format == Format::CooperativeSticky { &owned } else { &[] },
        generation: member.generation,
        rack: member.rack,
    }
    .encode(form.version)
    .unwrap()
}

/// The members as they will be once they have what is planned.
fn settled(members: &[Described], group: &Group, plan: &Plan) -> Vec<Described> {
    let topology = group.topology();
    let owned = |member: &Described| {
        let mut owned: BTreeMap<&'static str, Vec<i32>> = BTreeMap::new();
        for &partition in plan.target(group.find(&member.id).unwrap()) {
            let name = topology.name(topology.topic_of(partition));
            let name = NAMES.iter().find(|known| **known == name).unwrap();
            owned.entry(name).or_default().push(topology.number(partition) as i32);
        }
        owned
    };
    let next = members.iter().filter_map(|member| member.generation).max().map_or(1, |known| known + 1);
    let settle =
        |member: &Described| Described { owned: owned(member), generation: Some(next), ..member.clone() };
    members.iter().map(settle).collect()
}

fn compare(budget: &Budget<'_>, members: &[Described], form: Form, moment: Moment) {
    let group = budget.group();
    let bytes: Vec<Vec<u8>> = members.iter().map(|member| joined(member, form)).collect();
    for (member, bytes) in members.iter().zip(&bytes) {
        let counted = budget.subscription_len(form, moment, group.find(&member.id).unwrap());
        assert_eq!(counted, bytes.len() as u64, "{form:?} {moment:?} {member:?}");
    }
    // Only the leader of the group's own protocol sees all that the group was planned from.
    if form != Form::newest(Format::CooperativeSticky) {
        return;
    }
    let entries: Vec<MemberMetadata<'_>> = members
        .iter()
        .zip(&bytes)
        .map(|(member, metadata)| MemberMetadata { id: &member.id, instance_id: member.instance, metadata })
        .collect();
    let mut scratch = LeaderScratch::new();
    let leader = Leader::new().assignment_version(AssignmentVersion::Newest);
    let round = leader.round_into(
        form.format.protocol_name(),
        &entries,
        &members[0].id,
        group.topology(),
        &mut scratch,
    );
    let round = round.unwrap();
    for (id, assignment) in round.assignments() {
        let counted = budget.assignment_len(form.format, moment, group.find(id).unwrap());
        assert_eq!(counted, assignment.len() as u64, "{moment:?} {id}");
    }
    let figures = budget.figures(form, moment);
    let assigned: u64 = round.assignments().map(|(_, assignment)| assignment.len() as u64).sum();
    assert_eq!(figures.assignment.total, assigned);
    assert_eq!(figures.subscription.total, bytes.iter().map(|bytes| bytes.len() as u64).sum::<u64>());
    assert_eq!(figures.subscription.max, bytes.iter().map(|bytes| bytes.len() as u64).max().unwrap());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn members_are_as_long_as_they_are_written(members in proptest::collection::vec(described(), 1..6)) {
        let mut members = members;
        for (at, member) in members.iter_mut().enumerate() {
            member.id = format!("m{}", "-".repeat(at));
        }
        let topology = topology();
        let group = group(&topology, &members);
        let (plan, _) = Assignor::default().assign(&group).unwrap();
        let round = Round::new(&group, &plan, Mode::Shipped);
        let budget = Budget::new(&round, &Surroundings::default());
        let later = settled(&members, &group, &plan);
        for form in Form::all() {
            compare(&budget, &members, form, Moment::Now);
            compare(&budget, &later, form, Moment::Settled);
        }
    }
}

/// A group of equal members, planned afresh.
fn fresh(members: u32, partitions: u32) -> (Group, Plan) {
    let names: Vec<String> = (0..10).map(|at| format!("topic-{at}")).collect();
    let builder =
        names.iter().fold(Topology::builder(), |builder, name| builder.topic(name, partitions / 10));
    let topology = builder.build().unwrap();
    let mut builder = Group::builder(&topology);
    for at in 0..members {
        let id = format!("member-{at:06}");
        let mut member = builder.member(&id);
        for name in &names {
            member.topic(name);
        }
    }
    let group = builder.build().unwrap();
    let assignor = Assignor::new(Config::new().strategy(Assigning::CooperativeSticky));
    let (plan, _) = assignor.assign(&group).unwrap();
    (group, plan)
}

fn with_budget<T>(members: u32, partitions: u32, then: impl FnOnce(&Budget<'_>) -> T) -> T {
    let (group, plan) = fresh(members, partitions);
    then(&Budget::new(&Round::new(&group, &plan, Mode::Shipped), &Surroundings::default()))
}

#[test]
fn where_a_group_breaks_is_where_a_group_of_that_size_breaks() {
    for form in Form::all().filter(|form| form.version == 3) {
        for subject in [Subject::GroupRecord, Subject::SyncRequest, Subject::JoinResponse] {
            let size = |members, partitions| {
                with_budget(members, partitions, |budget| budget.figures(form, Moment::Settled).size(subject))
            };
            let (beyond, wider) = with_budget(20, 600, |budget| {
                let growth = budget.growth(form, subject).unwrap();
                assert_eq!(growth.size(20, 600), size(20, 600), "{form:?} {subject:?}");
                (growth.members_beyond(60_000).unwrap(), growth.partitions_beyond(60_000))
            });
            let limit = 60_000;
            // Compact data is an estimate far from where it was counted: the group here grows a hundredfold.
            let compact = form.format == Format::TenureCooperativeSticky;
            let (under, over) = if compact { (75, 125) } else { (96, 104) };
            let near = |number: u64, percent: u64| (number * percent / 100) as u32;
            assert!(size(near(beyond, under), 600) <= limit, "{form:?} {subject:?}: {beyond} members");
            assert!(size(near(beyond, over), 600) > limit, "{form:?} {subject:?}: {beyond} members");
            let tells = form.tells_owned() || subject != Subject::JoinResponse;
            assert_eq!(wider.is_some(), tells, "{form:?} {subject:?}");
            if let Some(wider) = wider {
                assert!(size(20, near(wider, under)) <= limit, "{form:?} {subject:?}: {wider} partitions");
                assert!(size(20, near(wider, over)) > limit, "{form:?} {subject:?}: {wider} partitions");
            }
        }
    }
}

#[test]
fn remedies_help() {
    let form = Form::newest(Format::CooperativeSticky);
    let mut limits = Limits::default();
    with_budget(40, 600, |budget| {
        let now = budget.figures(form, Moment::Settled);
        limits.message_max_bytes = now.group_batch;
        let fits = budget.remedies(form, &limits);
        assert_eq!((fits.topics_at_most, fits.split), (None, None), "nothing must be done");

        limits.message_max_bytes = now.group_batch - 1_000;
        let remedies = budget.remedies(form, &limits);
        assert_eq!(remedies.topics_named, 10);
        assert_eq!(remedies.topic_name_bytes, 40 * 10 * (2 + 7));
        // Without three topics' names, 40 × 3 × 9 = 1,080 bytes less; two are not enough.
        assert_eq!(remedies.topics_at_most, Some(7));
        assert!(remedies.limit > now.group_batch && remedies.limit < 3 * now.group_batch);
        assert!(remedies.newer.largest_record < now.group_batch / 10);

        limits.message_max_bytes = now.group_batch / 3;
        let (groups, size) = budget.remedies(form, &limits).split.unwrap();
        assert!(size <= limits.message_max_bytes);
        // Really split: a third of the members, partitions and topics.
        assert!((2..=3).contains(&groups), "{groups}");
    });
}
