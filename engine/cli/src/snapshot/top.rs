//! The snapshot as a whole: its keys, their order, and the second pass.

use core::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use tenure::Group;
use tenure::group::GroupBuilder;
use tenure::plan::Strategy;
use tenure::topology::Topology;

use super::member::{Members, MembersRead};
use super::scalar::{Name, OptionalName};
use super::topics::{Topics, twice_error};
use super::trail::{Trail, quoted, suggest};
use super::{Options, Snapshot, SnapshotError, error};

const TOP_KEYS: &[&str] = &["assignor", "topics", "members"];
const ASSIGNORS: &str = "\"cooperative-sticky\", \"sticky\", \"range\" or \"roundrobin\"";

/// Reads a snapshot.
pub(super) fn read(text: &str, options: &Options) -> Result<Snapshot, SnapshotError> {
    let mut reading = Reading::new(text, options);
    reading.pass()?;
    if reading.members.is_none() {
        reading.pass()?;
    }
    let Reading { builder, strategy, .. } = reading;
    let group = builder.build().map_err(|refused| SnapshotError {
        line: 1,
        column: 0,
        field: String::new(),
        message: refused.to_string(),
        remedy: "correct the snapshot".to_string(),
    })?;
    Ok(Snapshot { strategy: strategy.unwrap_or_default(), group })
}

/// What is known so far, from one pass to the next.
struct Reading<'a> {
    text: &'a str,
    trail: Trail,
    options: &'a Options,
    strategy: Option<Strategy>,
    topology: Option<Topology>,
    builder: GroupBuilder,
    /// Set when the members were read as they must be.
    members: Option<MembersRead>,
}

impl<'a> Reading<'a> {
    fn new(text: &'a str, options: &'a Options) -> Self {
        Self {
            text,
            trail: Trail::default(),
            options,
            strategy: options.strategy,
            topology: None,
            builder: Group::builder(&Topology::default()),
            members: None,
        }
    }

    /// Reads the document once. The members are read if the topics are known by then.
    fn pass(&mut self) -> Result<(), SnapshotError> {
        let text = self.text;
        let mut reader = serde_json::Deserializer::from_str(text);
        let read = Top(self).deserialize(&mut reader).and_then(|()| reader.end());
        read.map_err(|refused| error::at(text, &refused, &self.trail))
    }

    /// The value of one key; the first time it is met in this pass.
    fn value<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        let trail = &self.trail;
        match key {
            "assignor" => {
                let name = map.next_value_seed(OptionalName(ASSIGNORS))?;
                let strategy = name.map(|name| {
                    name.parse::<Strategy>().map_err(|_| {
                        trail.fail_at(
                            key,
                            format_args!("unknown assignor {}", quoted(&name)),
                            format_args!("write {ASSIGNORS}"),
                        )
                    })
                });
                let strategy = strategy.transpose()?.unwrap_or_default();
                let strategy = self.options.strategy.unwrap_or(strategy);
                // Members that were read before may have followed another assignor.
                let followed = self.members.and_then(|read| read.followed);
                if followed.is_some_and(|protocol| protocol != strategy.protocol()) {
                    self.members = None;
                }
                self.strategy = Some(strategy);
            }
            "topics" if self.topology.is_none() => {
                let limit = self.options.partition_limit;
                let mut builder = Topology::builder().partition_limit(limit);
                map.next_value_seed(Topics { trail, builder: &mut builder, limit })?;
                let built = builder.build();
                let topology = built.map_err(|refused| trail.fail(refused, "correct the topics"))?;
                self.topology = Some(topology);
            }
            "members" => match &self.topology {
                Some(topology) => {
                    self.builder.reset(topology);
                    let builder = &mut self.builder;
                    let protocol = self.strategy.unwrap_or_default().protocol();
                    let seed = Members { trail, topology, builder, protocol };
                    self.members = Some(map.next_value_seed(seed)?);
                }
                None => _ = map.next_value::<IgnoredAny>()?,
            },
            _ => _ = map.next_value::<IgnoredAny>()?,
        }
        Ok(())
    }
}

struct Top<'a, 'b>(&'a mut Reading<'b>);

impl<'de> DeserializeSeed<'de> for Top<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Top<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a snapshot, such as {\"topics\": {\"orders\": 12}, \"members\": {\"c1\": {\"topics\": [\"orders\"]}}}")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let reading = self.0;
        let mut seen = [false; TOP_KEYS.len()];
        while let Some(key) = map.next_key_seed(Name("a key"))? {
            let trail = &reading.trail;
            let Some(at) = TOP_KEYS.iter().position(|known| *known == key) else {
                let error = trail.fail_at(
                    &key,
                    format_args!("unknown key {} in the snapshot", quoted(&key)),
                    suggest(&key, TOP_KEYS),
                );
                return Err(trail.key(&key, error));
            };
            if core::mem::replace(&mut seen[at], true) {
                return Err(trail.key(&key, twice_error(trail, &key)));
            }
            if let Err(error) = reading.value(&key, &mut map) {
                return Err(reading.trail.key(&key, error));
            }
        }
        let missing = TOP_KEYS.iter().zip(seen).skip(1).find(|(_, seen)| !seen);
        match missing {
            Some((&key, _)) => Err(reading.trail.fail_at(
                reading.text,
                format_args!("the snapshot has no `{key}`"),
                format_args!("add \"{key}\", an object; it may be empty"),
            )),
            None => Ok(()),
        }
    }
}
