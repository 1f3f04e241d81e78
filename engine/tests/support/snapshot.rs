//! A group snapshot as its file has it, and the group that the library makes of it.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use tenure::plan::Strategy;
use tenure::topology::Topology;
use tenure::{Group, Protocol};

use super::answer::Owned;
use super::random::Random;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    pub strategy: Strategy,
    pub topics: BTreeMap<String, Topic>,
    pub members: BTreeMap<String, Member>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Topic {
    pub partitions: u32,
    /// Racks of the replicas, a list for each partition; empty if none are known.
    pub racks: Vec<Vec<String>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    pub topics: Vec<String>,
    /// As written: repetitions and what does not exist included.
    pub owned: Vec<(String, i32, i32)>,
    pub generation: i32,
    pub instance: Option<String>,
    pub rack: Option<String>,
    pub protocol: Protocol,
}

impl Member {
    pub fn subscribes(&self, topic: &str) -> bool {
        self.topics.iter().any(|name| name == topic)
    }
}

impl Snapshot {
    /// Reads a snapshot; a key that it does not know is an error, because it may change the right answer.
    pub fn read(value: &Value) -> Result<Self, String> {
        let object = fields(value, &["assignor", "topics", "members"], "snapshot")?;
        let strategy: Strategy = match object.get("assignor") {
            None => Strategy::default(),
            Some(name) => text(name)?.parse().map_err(|_| format!("no such assignor: {name}"))?,
        };
        let topics = object.get("topics").and_then(Value::as_object).ok_or("snapshot without topics")?;
        let members = object.get("members").and_then(Value::as_object).ok_or("snapshot without members")?;
        Ok(Self {
            strategy,
            topics: topics
                .iter()
                .map(|(name, topic)| Ok((name.clone(), read_topic(topic)?)))
                .collect::<Result<_, String>>()?,
            members: members
                .iter()
                .map(|(id, member)| Ok((id.clone(), read_member(member, strategy.protocol())?)))
                .collect::<Result<_, String>>()?,
        })
    }

    /// Whether the partition exists.
    pub fn exists(&self, topic: &str, number: i32) -> bool {
        let count = self.topics.get(topic).map_or(0, |topic| topic.partitions);
        u32::try_from(number).is_ok_and(|number| number < count)
    }

    /// Members with at least one existing topic.
    pub fn active(&self) -> impl Iterator<Item = (&String, &Member)> {
        self.members.iter().filter(|(_, m)| m.topics.iter().any(|topic| self.topics.contains_key(topic)))
    }

    /// Every partition that somebody subscribes to.
    pub fn assignable(&self) -> impl Iterator<Item = (String, i32)> + '_ {
        let subscribed =
            self.topics.iter().filter(|(name, _)| self.members.values().any(|m| m.subscribes(name)));
        subscribed.flat_map(|(name, topic)| (0..topic.partitions as i32).map(|p| (name.clone(), p)))
    }

    /// Whether a partition is at odds with a member's rack.
    pub fn mismatch(&self, member: &str, topic: &str, number: i32) -> bool {
        let racks = self.topics[topic].racks.get(number as usize);
        match (racks, &self.members[member].rack) {
            (Some(racks), Some(rack)) => !racks.is_empty() && !racks.contains(rack),
            _ => false,
        }
    }

    /// The library's group. Names enter in the order of the files for seed 0, else in a random one.
    pub fn group(&self, seed: u64) -> Group {
        let mut random = Random::new(seed);
        let mut order = |count: usize| {
            let mut order: Vec<usize> = (0..count).collect();
            if seed != 0 {
                random.shuffle(&mut order);
            }
            order
        };
        let mut builder = Topology::builder().partition_limit(u32::MAX);
        let topics: Vec<_> = self.topics.iter().collect();
        for at in order(topics.len()) {
            let (name, topic) = topics[at];
            if topic.racks.is_empty() {
                builder.add_topic(name, topic.partitions);
            } else {
                builder.add_topic_with_racks(name, topic.racks.clone());
            }
        }
        let topology = builder.build().unwrap();
        let mut builder = Group::builder(&topology);
        let members: Vec<_> = self.members.iter().collect();
        for at in order(members.len()) {
            let (id, spec) = members[at];
            let mut member = builder.member(id);
            member.generation(spec.generation).protocol(spec.protocol);
            if let Some(instance) = &spec.instance {
                member.instance(instance);
            }
            if let Some(rack) = &spec.rack {
                member.rack(rack);
            }
            for at in order(spec.topics.len()) {
                member.topic(&spec.topics[at]);
            }
            for at in order(spec.owned.len()) {
                let (topic, from, to) = &spec.owned[at];
                member.owned_range(topic, *from, *to);
            }
        }
        builder.build().unwrap()
    }

    /// The group one round later: everyone owns what it was just given, at a higher generation.
    #[must_use]
    pub fn after(&self, answer: &Owned) -> Self {
        let top = self.members.values().map(|m| m.generation).max().unwrap_or(-1);
        let mut next = self.clone();
        for (id, member) in &mut next.members {
            member.generation = top.saturating_add(1);
            let owned = answer.get(id).into_iter().flatten();
            member.owned = owned.map(|(topic, p)| (topic.clone(), *p, *p)).collect();
        }
        next
    }
}

/// The members of an object, none of them unknown.
pub fn fields<'a>(value: &'a Value, known: &[&str], what: &str) -> Result<&'a Map<String, Value>, String> {
    let object = value.as_object().ok_or_else(|| format!("{what} is no object: {value}"))?;
    match object.keys().find(|key| !known.contains(&key.as_str())) {
        Some(key) => Err(format!("unknown key {key:?} in {what}")),
        None => Ok(object),
    }
}

pub fn text(value: &Value) -> Result<&str, String> {
    value.as_str().ok_or_else(|| format!("no string: {value}"))
}

pub fn number(value: &Value) -> Result<i64, String> {
    value.as_i64().ok_or_else(|| format!("no whole number: {value}"))
}

fn texts(value: &Value) -> Result<Vec<String>, String> {
    let list = value.as_array().ok_or_else(|| format!("no list: {value}"))?;
    list.iter().map(|item| Ok(text(item)?.to_owned())).collect()
}

fn read_topic(value: &Value) -> Result<Topic, String> {
    if value.is_number() {
        return Ok(Topic { partitions: count(value)?, racks: Vec::new() });
    }
    let object = fields(value, &["partitions", "racks"], "topic")?;
    let racks = match object.get("racks") {
        None => Vec::new(),
        Some(list) => {
            list.as_array().ok_or("racks are no list")?.iter().map(texts).collect::<Result<_, _>>()?
        }
    };
    let partitions = count(object.get("partitions").ok_or("topic without partitions")?)?;
    if !racks.is_empty() && racks.len() != partitions as usize {
        return Err(format!("{} rack lists for {partitions} partitions", racks.len()));
    }
    Ok(Topic { partitions, racks })
}

fn count(value: &Value) -> Result<u32, String> {
    u32::try_from(number(value)?).map_err(|error| format!("{value}: {error}"))
}

fn read_member(value: &Value, usual: Protocol) -> Result<Member, String> {
    let known = ["topics", "owned", "generation", "instance", "rack", "protocol"];
    let object = fields(value, &known, "member")?;
    let optional = |key: &str| match object.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => text(value).map(|text| Some(text.to_owned())),
    };
    let mut owned = Vec::new();
    if let Some(value) = object.get("owned") {
        for (topic, list) in value.as_object().ok_or("owned is no object")? {
            for (from, to) in read_ranges(list)? {
                owned.push((topic.clone(), from, to));
            }
        }
    }
    Ok(Member {
        topics: texts(object.get("topics").ok_or("member without topics")?)?,
        owned,
        generation: match object.get("generation") {
            None | Some(Value::Null) => -1,
            Some(value) => i32::try_from(number(value)?).map_err(|error| error.to_string())?,
        },
        instance: optional("instance")?,
        // As in Kafka, where it is the default, the empty rack is none.
        rack: optional("rack")?.filter(|rack| !rack.is_empty()),
        protocol: match optional("protocol")?.as_deref() {
            None => usual,
            Some("eager") => Protocol::Eager,
            Some("cooperative") => Protocol::Cooperative,
            Some(other) => return Err(format!("no such protocol: {other}")),
        },
    })
}

/// Numbers and inclusive "from-to" ranges.
pub fn read_ranges(value: &Value) -> Result<Vec<(i32, i32)>, String> {
    let list = value.as_array().ok_or_else(|| format!("no list of partitions: {value}"))?;
    let narrow = |number: i64| i32::try_from(number).map_err(|error| error.to_string());
    list.iter()
        .map(|item| match item {
            Value::String(range) => {
                let (from, to) = range.split_once('-').ok_or_else(|| format!("no range: {range}"))?;
                let parse = |text: &str| text.parse::<i32>().map_err(|error| format!("{range}: {error}"));
                Ok((parse(from)?, parse(to)?))
            }
            item => {
                let number = narrow(number(item)?)?;
                Ok((number, number))
            }
        })
        .collect()
}
