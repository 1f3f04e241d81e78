//! Golden plans: every group of `datasets/golden` gets the plan that the released Java class chose.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::Value;
use tenure::group::Protocol;
use tenure::plan::{Assignor, Config, Plan, Scratch, Strategy};
use tenure::{Group, Topology};

type Assignments = BTreeMap<String, BTreeMap<String, BTreeSet<u32>>>;

struct Golden {
    name: String,
    group: Group,
    assignments: Assignments,
}

fn strings(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().map(|v| v.as_str().expect("a string").to_string()).collect()
}

/// Numbers and "from-to" ranges.
fn numbers(value: &Value) -> BTreeSet<u32> {
    let mut all = BTreeSet::new();
    for each in value.as_array().expect("a list of partitions") {
        match each.as_str().map(|range| range.split_once('-').expect("a range")) {
            Some((from, to)) => all.extend(from.parse::<u32>().unwrap()..=to.parse::<u32>().unwrap()),
            None => {
                all.insert(each.as_u64().expect("a number") as u32);
            }
        }
    }
    all
}

/// `reversed` adds topics and members in the opposite order.
fn group(snapshot: &Value, reversed: bool) -> Group {
    let ordered = |value: &Value| {
        let mut entries: Vec<(String, Value)> =
            value.as_object().expect("an object").iter().map(|(k, v)| (k.clone(), v.clone())).collect();
        if reversed {
            entries.reverse();
        }
        entries
    };
    let mut topology = Topology::builder();
    for (name, topic) in ordered(&snapshot["topics"]) {
        match topic.as_u64() {
            Some(partitions) => topology.add_topic(&name, partitions as u32),
            None => topology.add_topic_with_racks(
                &name,
                topic["racks"].as_array().unwrap().iter().map(strings).collect(),
            ),
        };
    }
    let topology = topology.build().unwrap();
    let mut builder = Group::builder(&topology);
    for (id, member) in ordered(&snapshot["members"]) {
        let mut handle = builder.member(&id);
        handle.protocol(Protocol::Eager);
        for topic in strings(&member["topics"]) {
            handle.topic(&topic);
        }
        for (topic, owned) in member["owned"].as_object().into_iter().flatten() {
            handle.owned(topic, numbers(owned).into_iter().map(|p| p as i32));
        }
        if let Some(generation) = member["generation"].as_i64() {
            handle.generation(generation as i32);
        }
        if let Some(rack) = member["rack"].as_str() {
            handle.rack(rack);
        }
        if let Some(instance) = member["instance"].as_str() {
            handle.instance(instance);
        }
    }
    builder.build().unwrap()
}

fn read(file: &str, reversed: bool) -> Vec<Golden> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../datasets/golden").join(file);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text.lines()
        .map(|line| {
            let line: Value = serde_json::from_str(line).expect("a line of JSON");
            let assignments = line["assignments"].as_object().expect("assignments").iter();
            Golden {
                name: line["name"].as_str().expect("a name").to_string(),
                group: group(&line["snapshot"], reversed),
                assignments: assignments
                    .map(|(member, topics)| {
                        let topics = topics.as_object().unwrap().iter();
                        (member.clone(), topics.map(|(topic, all)| (topic.clone(), numbers(all))).collect())
                    })
                    .collect(),
            }
        })
        .collect()
}

fn assignments(group: &Group, plan: &Plan) -> Assignments {
    let topology = group.topology();
    let mut all = Assignments::new();
    for member in group.member_indices() {
        let topics = all.entry(group.id(member).to_string()).or_default();
        for &partition in plan.target(member) {
            let topic = topology.name(topology.topic_of(partition)).to_string();
            assert!(topics.entry(topic).or_default().insert(topology.number(partition)));
        }
    }
    all
}

fn check(file: &str, strategy: Strategy) {
    let assignor = Assignor::new(Config::new().strategy(strategy));
    // One scratch and one plan for all: what the group before left there must not matter.
    let (mut scratch, mut plan) = (Scratch::default(), Plan::default());
    let mut wrong = Vec::new();
    for reversed in [false, true] {
        let golden = read(file, reversed);
        assert_eq!(golden.len(), 390, "{file} is whole");
        for Golden { name, group, assignments: expected } in golden {
            scratch.reset(group.shape());
            plan.reset(group.shape());
            let outcome = assignor.assign_into(&group, &mut scratch, &mut plan).unwrap();
            assert_eq!(outcome.path.name(), strategy.name(), "{name}");
            let given = assignments(&group, &plan);
            if given != expected {
                wrong.push(format!("{name}\n  class  {expected:?}\n  engine {given:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{} plans differ, the first:\n{}", wrong.len(), wrong[0]);
}

#[test]
fn range_is_what_java_chooses() {
    check("range.jsonl", Strategy::Range);
}

#[test]
fn roundrobin_is_what_java_chooses() {
    check("roundrobin.jsonl", Strategy::RoundRobin);
}
