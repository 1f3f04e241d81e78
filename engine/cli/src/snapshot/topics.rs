//! The `topics` of a snapshot: partition counts, and the racks of replicas.

use core::fmt;
use std::borrow::Cow;
use std::collections::HashSet;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use tenure::topology::TopologyBuilder;

use super::scalar::{Integer, Name};
use super::trail::{Trail, quoted, suggest};

/// Reads all topics into a builder.
pub(super) struct Topics<'a> {
    pub(super) trail: &'a Trail,
    pub(super) builder: &'a mut TopologyBuilder,
    pub(super) limit: u32,
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
        f.write_str("an object of topics and partition counts, such as {\"orders\": 12}")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let trail = self.trail;
        let mut seen = HashSet::new();
        let mut total = 0;
        while let Some(name) = map.next_key_seed(Name("the name of a topic"))? {
            if !seen.insert(name.clone()) {
                let error = trail
                    .fail(format_args!("topic {} is given twice", quoted(&name)), "give each topic once");
                return Err(trail.name(&name, error));
            }
            let topic = map
                .next_value_seed(Topic { trail, name: &name })
                .map_err(|error| trail.name(&name, error))?;
            total += u64::from(topic.partitions);
            if total > u64::from(self.limit) {
                let error = trail.fail_at(
                    &name,
                    format_args!(
                        "with {} partitions of {} the topics have {total}, above the limit of {}",
                        topic.partitions,
                        quoted(&name),
                        self.limit
                    ),
                    "correct the count, or raise the limit with --max-partitions",
                );
                return Err(trail.name(&name, error));
            }
            match topic.racks {
                Some(racks) => self.builder.add_topic_with_racks(&name, racks),
                None => self.builder.add_topic(&name, topic.partitions),
            };
        }
        Ok(())
    }
}

/// One topic: a partition count, or an object with `partitions` and `racks`.
#[derive(Clone, Copy)]
struct Topic<'a> {
    trail: &'a Trail,
    name: &'a str,
}

struct Size {
    partitions: u32,
    racks: Option<Vec<Vec<String>>>,
}

impl Topic<'_> {
    fn count(&self) -> Integer<'_> {
        Integer {
            trail: self.trail,
            what: "a partition count",
            example: "12",
            min: 0,
            max: i64::from(i32::MAX),
            nullable: false,
        }
    }

    fn plain(partitions: Option<i64>) -> Size {
        // The bounds of `count` hold it inside.
        Size { partitions: partitions.and_then(|n| u32::try_from(n).ok()).unwrap_or_default(), racks: None }
    }
}

impl<'de> DeserializeSeed<'de> for Topic<'_> {
    type Value = Size;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Size, D::Error> {
        deserializer.deserialize_any(self)
    }
}

const TOPIC_KEYS: &[&str] = &["partitions", "racks"];

impl<'de> Visitor<'de> for Topic<'_> {
    type Value = Size;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a partition count such as 12, or {\"partitions\": 12, \"racks\": [[\"a\"], …]}")
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Size, E> {
        self.count().visit_i64(number).map(Self::plain)
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Size, E> {
        self.count().visit_u64(number).map(Self::plain)
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Size, E> {
        self.count().visit_f64(number).map(Self::plain)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Size, A::Error> {
        let Self { trail, name } = self;
        let mut partitions = None;
        let mut racks: Option<Option<Vec<Vec<String>>>> = None;
        let mut racks_key = Cow::Borrowed("");
        while let Some(key) = map.next_key_seed(Name("a key"))? {
            let twice = match &*key {
                "partitions" => partitions.is_some(),
                "racks" => racks.is_some(),
                _ => {
                    let error = trail.fail_at(
                        &key,
                        format_args!("unknown key {} in a topic", quoted(&key)),
                        suggest(&key, TOPIC_KEYS),
                    );
                    return Err(trail.key(&key, error));
                }
            };
            if twice {
                return Err(trail.key(&key, twice_error(trail, &key)));
            }
            if &*key == "partitions" {
                partitions = map.next_value_seed(self.count()).map_err(|error| trail.key(&key, error))?;
            } else {
                racks = Some(map.next_value_seed(Racks(trail)).map_err(|error| trail.key(&key, error))?);
                racks_key = key;
            }
        }
        let Some(partitions) = partitions else {
            return Err(trail.fail_at(
                name,
                "the topic has no `partitions`",
                "add \"partitions\" with the number of partitions",
            ));
        };
        let size = Self::plain(Some(partitions));
        let racks = racks.flatten();
        if let Some(racks) = &racks
            && racks.len() != size.partitions as usize
        {
            let error = trail.fail_at(
                &racks_key,
                format_args!("`racks` has {} entries for {} partitions", racks.len(), size.partitions),
                "give one list of racks for each partition; [] where they are unknown",
            );
            return Err(trail.key("racks", error));
        }
        Ok(Size { racks, ..size })
    }
}

/// The error of a key that an object has twice.
pub(super) fn twice_error<E: Error>(trail: &Trail, key: &str) -> E {
    trail.fail_at(key, format_args!("the key {} is given twice", quoted(key)), "give each key once")
}

/// A list with the racks of each partition, or null.
#[derive(Clone, Copy)]
struct Racks<'a>(&'a Trail);

impl<'de> DeserializeSeed<'de> for Racks<'_> {
    type Value = Option<Vec<Vec<String>>>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Racks<'_> {
    type Value = Option<Vec<Vec<String>>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list with the racks of each partition, such as [[\"a\", \"b\"], [\"b\", \"c\"]]")
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut all = Vec::new();
        loop {
            let next = seq.next_element_seed(RackSet(self.0));
            match next.map_err(|error| self.0.index(all.len(), error))? {
                Some(set) => all.push(set),
                None => return Ok(Some(all)),
            }
        }
    }
}

/// The racks of one partition's replicas; null and empty names are unknown.
#[derive(Clone, Copy)]
struct RackSet<'a>(&'a Trail);

impl<'de> DeserializeSeed<'de> for RackSet<'_> {
    type Value = Vec<String>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for RackSet<'_> {
    type Value = Vec<String>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of rack names, such as [\"a\", \"b\"]")
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Vec::new())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut set = Vec::new();
        let mut at = 0;
        loop {
            let next = seq.next_element_seed(Name("the name of a rack, such as \"a\""));
            match next.map_err(|error| self.0.index(at, error))? {
                Some(rack) if rack.is_empty() => {}
                Some(rack) => set.push(rack.into_owned()),
                None => return Ok(set),
            }
            at += 1;
        }
    }
}
