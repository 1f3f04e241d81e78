//! Plans to be checked: a result document, or just who owns what.

use core::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use tenure::Group;
use tenure::group::CLAIM_LIMIT;
use tenure::verify::Proposal;

use super::range::Entry;
use super::scalar::Name;
use super::topics::twice_error;
use super::trail::{Trail, quoted};
use super::{SnapshotError, error};

/// A plan as a file has it.
#[derive(Clone, Debug)]
pub struct PlanFile {
    /// What members shall own in the end.
    pub target: Proposal,
    /// What they get in this round, if the file tells both.
    pub assignments: Option<Proposal>,
}

/// The keys of a result document.
const RESULT_KEYS: &[&str] = &[
    "group",
    "assignor",
    "assignments",
    "target",
    "withheld",
    "revoke",
    "rejoin",
    "unassigned",
    "stats",
    "proof",
    "assumptions",
];

/// Reads a plan for a group: a result document of `tenure plan --json`, or an object of members, topics and
/// partitions such as `{"c1": {"orders": [0, "4-7"]}}`.
///
/// Unknown names, partitions twice and partitions that do not exist are no errors here: the proposals know them.
///
/// # Errors
///
/// What is no such document, with its place.
///
/// # Examples
///
/// ```
/// use tenure_cli::snapshot::{Options, read, read_plan};
/// let snapshot = read(br#"{"topics": {"t": 2}, "members": {"a": {"topics": ["t"]}}}"#, &Options::default())?;
/// let plan = read_plan(br#"{"a": {"t": [0]}}"#, &snapshot.group)?;
/// assert_eq!(plan.target.faults(&snapshot.group).len(), 1, "nobody gets t-1");
/// # Ok::<(), tenure_cli::snapshot::SnapshotError>(())
/// ```
pub fn read_plan(bytes: &[u8], group: &Group) -> Result<PlanFile, SnapshotError> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let text = core::str::from_utf8(bytes).map_err(|error| error::not_utf8(bytes, error.valid_up_to()))?;
    let trail = Trail::default();
    let parse = |seed: Document<'_>| -> Result<Found, SnapshotError> {
        let mut reader = serde_json::Deserializer::from_str(text);
        let read = seed.deserialize(&mut reader).and_then(|found| reader.end().map(|()| found));
        read.map_err(|refused| error::at(text, &refused, &trail))
    };
    let form = parse(Document { trail: &trail, group, form: Form::Unknown })?.form;
    let found = parse(Document { trail: &trail, group, form })?;
    let (target, assignments) = match (found.target, found.assignments) {
        (Some(target), given) => (target, given),
        (None, Some(given)) => (given, None),
        (None, None) => (Proposal::new(group), None),
    };
    Ok(PlanFile { target, assignments })
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Unknown,
    Result,
    Bare,
}

struct Found {
    form: Form,
    target: Option<Proposal>,
    assignments: Option<Proposal>,
}

struct Document<'a> {
    trail: &'a Trail,
    group: &'a Group,
    form: Form,
}

impl<'de> DeserializeSeed<'de> for Document<'_> {
    type Value = Found;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Found, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Document<'_> {
    type Value = Found;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "a plan: what `tenure plan --json` prints, or {\"consumer-1\": {\"orders\": [0, \"4-7\"]}}",
        )
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Found, A::Error> {
        let Self { trail, group, form } = self;
        let mut found = Found { form, target: None, assignments: None };
        match form {
            Form::Unknown => {
                // A result has only keys of its own; a member may bear the name of one of them.
                let (mut known, mut other) = (false, false);
                while let Some(key) = map.next_key_seed(Name("a key"))? {
                    known |= &*key == "target" || &*key == "assignments";
                    other |= !RESULT_KEYS.contains(&&*key);
                    map.next_value::<IgnoredAny>().map_err(|error| trail.key(&key, error))?;
                }
                found.form = if known && !other { Form::Result } else { Form::Bare };
            }
            Form::Bare => {
                found.target = Some(Members { trail, group }.visit_map(map)?);
            }
            Form::Result => {
                while let Some(key) = map.next_key_seed(Name("a key"))? {
                    let place = match &*key {
                        "target" => &mut found.target,
                        "assignments" => &mut found.assignments,
                        _ => {
                            map.next_value::<IgnoredAny>()?;
                            continue;
                        }
                    };
                    if place.is_some() {
                        return Err(trail.key(&key, twice_error(trail, &key)));
                    }
                    let read = map.next_value_seed(Members { trail, group });
                    *place = Some(read.map_err(|error| trail.key(&key, error))?);
                }
            }
        }
        Ok(found)
    }
}

/// Members, topics, partitions.
#[derive(Clone, Copy)]
struct Members<'a> {
    trail: &'a Trail,
    group: &'a Group,
}

impl<'de> DeserializeSeed<'de> for Members<'_> {
    type Value = Proposal;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Proposal, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Members<'_> {
    type Value = Proposal;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of members, such as {\"consumer-1\": {\"orders\": [0, \"4-7\"]}}")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Proposal, A::Error> {
        let Self { trail, group } = self;
        let mut proposal = Proposal::new(group);
        let limit = (group.topology().partitions() as u64).saturating_mul(4).max(u64::from(CLAIM_LIMIT));
        let mut left = limit;
        while let Some(member) = map.next_key_seed(Name("the id of a member"))? {
            let seed = Topics { trail, group, member: &member, proposal: &mut proposal, left: &mut left };
            map.next_value_seed(seed).map_err(|error| trail.name(&member, error))?;
        }
        Ok(proposal)
    }
}

struct Topics<'a> {
    trail: &'a Trail,
    group: &'a Group,
    member: &'a str,
    proposal: &'a mut Proposal,
    left: &'a mut u64,
}

impl<'de> DeserializeSeed<'de> for Topics<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Topics<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of topics and partitions, such as {\"orders\": [0, 1, \"4-7\"]}")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Self { trail, group, member, proposal, left } = self;
        while let Some(topic) = map.next_key_seed(Name("the name of a topic"))? {
            let seed = Partitions { trail, group, member, topic: &topic, proposal, left };
            map.next_value_seed(seed).map_err(|error| trail.name(&topic, error))?;
        }
        Ok(())
    }
}

struct Partitions<'a> {
    trail: &'a Trail,
    group: &'a Group,
    member: &'a str,
    topic: &'a str,
    proposal: &'a mut Proposal,
    left: &'a mut u64,
}

impl<'de> DeserializeSeed<'de> for Partitions<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Partitions<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of partitions, such as [0, 1, \"4-7\"]")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        let Self { trail, group, member, topic, proposal, left } = self;
        let topology = group.topology();
        let count = topology.find(topic).map_or(0, |topic| i64::from(topology.partition_count(topic)));
        let mut at = 0;
        loop {
            let next = seq.next_element_seed(Entry(trail)).map_err(|error| trail.index(at, error))?;
            let Some((from, to)) = next else { return Ok(()) };
            let (from, to) = (i64::from(from), i64::from(to));
            let (low, high) = (from.max(0), to.min(count - 1));
            let many = u64::try_from(high - low + 1).unwrap_or_default();
            if many > *left {
                let error = trail.fail(
                    format_args!(
                        "with the range {} the plan gives far more partitions than there are",
                        quoted(&format!("{from}-{to}"))
                    ),
                    "a plan gives each partition once: correct the ranges",
                );
                return Err(trail.index(at, error));
            }
            *left -= many;
            // Of what does not exist one number tells it all: a range is short in a file and long in memory.
            if from < 0 {
                proposal.give_named(group, member, topic, from);
            }
            for number in low..=high {
                proposal.give_named(group, member, topic, number);
            }
            if to >= count {
                proposal.give_named(group, member, topic, from.max(count));
            }
            at += 1;
        }
    }
}
