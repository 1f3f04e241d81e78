//! The `members` of a snapshot: straight into the group's builder.

use core::fmt;
use std::collections::HashSet;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use tenure::group::{CLAIM_LIMIT, GroupBuilder, MemberBuilder, Protocol};
use tenure::id::TopicIndex;
use tenure::topology::Topology;

use super::range::Entry;
use super::scalar::{Integer, Name, OptionalName};
use super::topics::twice_error;
use super::trail::{Trail, quoted, suggest};

/// Reads all members into a builder.
pub(super) struct Members<'a> {
    pub(super) trail: &'a Trail,
    pub(super) topology: &'a Topology,
    pub(super) builder: &'a mut GroupBuilder,
    /// The protocol of members that give none.
    pub(super) protocol: Protocol,
}

/// What is said of the members as a whole.
#[derive(Clone, Copy, Default)]
pub(super) struct MembersRead {
    /// The protocol that follows from the assignor, if a member took it.
    pub(super) followed: Option<Protocol>,
}

impl<'de> DeserializeSeed<'de> for Members<'_> {
    type Value = MembersRead;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<MembersRead, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Members<'_> {
    type Value = MembersRead;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of members, such as {\"consumer-1\": {\"topics\": [\"orders\"]}}")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<MembersRead, A::Error> {
        let Self { trail, topology, builder, protocol } = self;
        let mut read = MembersRead::default();
        let mut seen = HashSet::new();
        let mut marks = Marks::new(topology);
        while let Some(id) = map.next_key_seed(Name("the id of a member"))? {
            if !seen.insert(id.clone()) {
                let error = trail.fail_at(
                    &id,
                    format_args!("member {} is given twice", quoted(&id)),
                    "member ids are unique in a group",
                );
                return Err(trail.name(&id, error));
            }
            let mut member = builder.member(&id);
            member.protocol(protocol);
            let seed = Member { trail, id: &id, topology, member: &mut member, marks: &mut marks };
            let own = map.next_value_seed(seed).map_err(|error| trail.name(&id, error))?;
            if !own {
                read.followed = Some(protocol);
            }
        }
        Ok(read)
    }
}

/// Which topics a member's `owned` already had, without a set of names for each member; and how much all
/// members claim together.
struct Marks {
    /// By topic: the number of the member that had it last.
    topics: Vec<u32>,
    member: u32,
    unknown: HashSet<String>,
    claims: u64,
    claim_limit: u64,
}

impl Marks {
    fn new(topology: &Topology) -> Self {
        Self {
            topics: vec![0; topology.topics()],
            member: 0,
            unknown: HashSet::new(),
            claims: 0,
            // As the builder has it; here the place is known.
            claim_limit: (topology.partitions() as u64).saturating_mul(4).max(u64::from(CLAIM_LIMIT)),
        }
    }

    fn next_member(&mut self) {
        self.member += 1;
        self.unknown.clear();
    }

    /// Whether this member's `owned` has the topic for the first time.
    fn first(&mut self, name: &str, topic: Option<TopicIndex>) -> bool {
        match topic {
            Some(topic) => core::mem::replace(&mut self.topics[topic.at()], self.member) != self.member,
            None => self.unknown.insert(name.to_string()),
        }
    }

    /// Counts the existing partitions of a range; whether they are still within the limit.
    fn count(&mut self, partitions: u32, from: i32, to: i32) -> bool {
        let (low, high) = (i64::from(from).max(0), i64::from(to).min(i64::from(partitions) - 1));
        self.claims += u64::try_from(high - low + 1).unwrap_or_default();
        self.claims <= self.claim_limit
    }
}

struct Member<'a, 'b> {
    trail: &'a Trail,
    id: &'a str,
    topology: &'a Topology,
    member: &'a mut MemberBuilder<'b>,
    marks: &'a mut Marks,
}

const MEMBER_KEYS: &[&str] = &["topics", "owned", "generation", "rack", "instance", "protocol"];

impl<'de> DeserializeSeed<'de> for Member<'_, '_> {
    /// Whether the member gave its protocol.
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<bool, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Member<'_, '_> {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a member, such as {\"topics\": [\"orders\"], \"owned\": {\"orders\": [0, \"4-7\"]}}")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<bool, A::Error> {
        let Self { trail, id, topology, member, marks } = self;
        marks.next_member();
        let mut seen = [false; MEMBER_KEYS.len()];
        let mut own_protocol = false;
        while let Some(key) = map.next_key_seed(Name("a key"))? {
            let Some(at) = MEMBER_KEYS.iter().position(|known| *known == key) else {
                let error = trail.fail_at(
                    &key,
                    format_args!("unknown key {} in a member", quoted(&key)),
                    suggest(&key, MEMBER_KEYS),
                );
                return Err(trail.key(&key, error));
            };
            if core::mem::replace(&mut seen[at], true) {
                return Err(trail.key(&key, twice_error(trail, &key)));
            }
            let read = match &*key {
                "topics" => map.next_value_seed(Subscription { trail, member }),
                "owned" => map.next_value_seed(Owned { trail, topology, member, marks }),
                "generation" => map.next_value_seed(generation(trail)).map(|number| {
                    let number = number.and_then(|n| i32::try_from(n).ok());
                    member.generation(number.unwrap_or(-1));
                }),
                "rack" => map.next_value_seed(OptionalName("the name of a rack, or null")).map(|rack| {
                    member.rack(rack.as_deref().unwrap_or_default());
                }),
                "instance" => map.next_value_seed(OptionalName("an instance id, or null")).map(|instance| {
                    if let Some(instance) = instance.filter(|name| !name.is_empty()) {
                        member.instance(&instance);
                    }
                }),
                _ => map.next_value_seed(OptionalName(PROTOCOLS)).and_then(|name| {
                    own_protocol = name.is_some();
                    match name.as_deref() {
                        None => {}
                        Some("cooperative") => _ = member.protocol(Protocol::Cooperative),
                        Some("eager") => _ = member.protocol(Protocol::Eager),
                        Some(name) => {
                            return Err(trail.fail_at(
                                &key,
                                format_args!("unknown protocol {}", quoted(name)),
                                format_args!("write {PROTOCOLS}"),
                            ));
                        }
                    }
                    Ok(())
                }),
            };
            read.map_err(|error| trail.key(&key, error))?;
        }
        if !seen[0] {
            return Err(trail.fail_at(
                id,
                "the member has no `topics`",
                "add \"topics\" with the list of topics that it subscribes to; [] for none",
            ));
        }
        Ok(own_protocol)
    }
}

const PROTOCOLS: &str = "\"cooperative\" or \"eager\"; null follows the assignor";

fn generation(trail: &Trail) -> Integer<'_> {
    Integer {
        trail,
        what: "a generation",
        example: "41",
        min: i64::from(i32::MIN),
        max: i64::from(i32::MAX),
        nullable: true,
    }
}

/// The topics that a member subscribes to. A topic may be listed twice: range counts it twice.
struct Subscription<'a, 'b> {
    trail: &'a Trail,
    member: &'a mut MemberBuilder<'b>,
}

impl<'de> DeserializeSeed<'de> for Subscription<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Subscription<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of topic names, such as [\"orders\", \"clicks\"]; [] for none")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        let mut at = 0;
        loop {
            let next = seq.next_element_seed(Name("the name of a topic, such as \"orders\""));
            match next.map_err(|error| self.trail.index(at, error))? {
                Some(topic) => self.member.topic(&topic),
                None => return Ok(()),
            };
            at += 1;
        }
    }
}

/// What a member owns: lists of partitions by topic.
struct Owned<'a, 'b> {
    trail: &'a Trail,
    topology: &'a Topology,
    member: &'a mut MemberBuilder<'b>,
    marks: &'a mut Marks,
}

impl<'de> DeserializeSeed<'de> for Owned<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Owned<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of topics and partitions, such as {\"orders\": [0, 1, \"4-7\"]}")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Self { trail, topology, member, marks } = self;
        while let Some(name) = map.next_key_seed(Name("the name of a topic"))? {
            let topic = topology.find(&name);
            if !marks.first(&name, topic) {
                let error = trail.fail_at(
                    &name,
                    format_args!("topic {} is given twice", quoted(&name)),
                    "put its partitions into one list",
                );
                return Err(trail.name(&name, error));
            }
            let seed = Partitions { trail, topology, member, marks, name: &name, topic };
            map.next_value_seed(seed).map_err(|error| trail.name(&name, error))?;
        }
        Ok(())
    }
}

/// The partitions of one topic.
struct Partitions<'a, 'b> {
    trail: &'a Trail,
    topology: &'a Topology,
    member: &'a mut MemberBuilder<'b>,
    marks: &'a mut Marks,
    name: &'a str,
    topic: Option<TopicIndex>,
}

impl<'de> DeserializeSeed<'de> for Partitions<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Partitions<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of partitions, such as [0, 1, \"4-7\"]")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        let partitions = self.topic.map_or(0, |topic| self.topology.partition_count(topic));
        let mut at = 0;
        loop {
            let next =
                seq.next_element_seed(Entry(self.trail)).map_err(|error| self.trail.index(at, error))?;
            let Some((from, to)) = next else { return Ok(()) };
            if !self.marks.count(partitions, from, to) {
                let limit = self.marks.claim_limit;
                let error = self.trail.fail(
                    format_args!("with this range the members own more than {limit} partitions"),
                    "a group owns each partition about once: correct the ranges",
                );
                return Err(self.trail.index(at, error));
            }
            match self.topic {
                Some(topic) => self.member.owned_index_range(topic, from, to),
                None => self.member.owned_range(self.name, from, to),
            };
            at += 1;
        }
    }
}
