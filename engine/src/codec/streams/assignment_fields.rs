//! A Streams instance's part of its assignment with everything resolved, for reading in Kafka's sense and for writing.

use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::hash::Hash;

use hashbrown::{HashMap, HashSet};

use super::assignment::{AssignedTask, AssignmentInfo, HostPartition, Hosts};
use super::text::{write_modified_utf8, write_utf16};
use super::{NEWEST_VERSION, UNKNOWN_VERSION};
use crate::codec::error::{EncodeError, EncodeErrorKind};
use crate::codec::writer::{Sink, Writer, measured, written};

/// A task, with the name of its topology if it has one.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Task {
    /// The subtopology's number.
    pub subtopology: i32,
    /// The partition's number.
    pub partition: i32,
    /// The topology's name (since version 10).
    pub topology: Option<String>,
}

impl From<AssignedTask<'_>> for Task {
    fn from(task: AssignedTask<'_>) -> Self {
        let topology = task.topology.map(|name| name.to_string_lossy());
        Self { subtopology: task.subtopology, partition: task.partition, topology }
    }
}

/// A host and its partitions.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HostFields {
    /// The host's name.
    pub host: String,
    /// The port.
    pub port: i32,
    /// The partitions; no topic where the dictionary lacks the index.
    pub partitions: Vec<(Option<String>, i32)>,
}

/// What the leader tells a Streams instance, as Kafka's classes hold it.
///
/// Order: that of the wire. Kafka's own writers take that of hash maps and sets, and no reader depends on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AssignmentInfoFields {
    /// The newest version that all members can read.
    pub commonly_supported_version: i32,
    /// The active tasks; repeated ones stay.
    pub active_tasks: Vec<Task>,
    /// The standby tasks with their partitions.
    pub standby_tasks: Vec<(Task, Vec<(String, i32)>)>,
    /// Which host has which active partitions.
    pub partitions_by_host: Vec<HostFields>,
    /// Which host has which standby partitions.
    pub standby_partitions_by_host: Vec<HostFields>,
    /// Index and topic, in the order to be written. Topics that are missing here get the next free index.
    pub topic_dictionary: Vec<(i32, String)>,
    /// The leader's error code.
    pub err_code: i32,
    /// When to join again, in milliseconds since the epoch; the greatest number for never.
    pub next_rebalance_ms: i64,
}

impl Default for AssignmentInfoFields {
    fn default() -> Self {
        Self {
            commonly_supported_version: UNKNOWN_VERSION,
            active_tasks: Vec::new(),
            standby_tasks: Vec::new(),
            partitions_by_host: Vec::new(),
            standby_partitions_by_host: Vec::new(),
            topic_dictionary: Vec::new(),
            err_code: 0,
            next_rebalance_ms: i64::MAX,
        }
    }
}

impl AssignmentInfo<'_> {
    /// What Kafka's classes make of the bytes.
    ///
    /// A standby task, host or dictionary index that is repeated keeps its last value; a partition
    /// repeated in a set is one; active tasks stay as they are.
    ///
    /// Cost: O(entries); allocates the result.
    #[must_use]
    pub fn to_fields(&self) -> AssignmentInfoFields {
        let topic_dictionary =
            last_wins(self.topic_dictionary.iter().map(|entry| (entry.index, entry.topic.to_string_lossy())));
        let topics: HashMap<i32, &str> =
            topic_dictionary.iter().map(|(index, topic)| (*index, topic.as_str())).collect();
        let standby_tasks = last_wins(self.standby_tasks.iter().map(|standby| {
            let partitions = standby.partitions.iter();
            let partitions = partitions.map(|named| (named.topic.to_string_lossy(), named.partition));
            (Task::from(standby.task), distinct(partitions))
        }));
        let partitions_by_host = resolved(&self.partitions_by_host, &topics);
        let standby_partitions_by_host = resolved(&self.standby_partitions_by_host, &topics);
        drop(topics);
        AssignmentInfoFields {
            commonly_supported_version: self.commonly_supported_version,
            active_tasks: self.active_tasks.iter().map(Task::from).collect(),
            standby_tasks,
            partitions_by_host,
            standby_partitions_by_host,
            err_code: self.err_code,
            next_rebalance_ms: self.next_rebalance_ms,
            topic_dictionary,
        }
    }
}

fn resolved(hosts: &Hosts<'_>, topics: &HashMap<i32, &str>) -> Vec<HostFields> {
    let hosts = last_wins(hosts.iter().map(|host| {
        let partitions = host.partitions.iter().map(|partition| match partition {
            HostPartition::Named(named) => (Some(named.topic.to_string_lossy()), named.partition),
            HostPartition::Indexed { topic_index, partition } => {
                (topics.get(&topic_index).map(|&topic| String::from(topic)), partition)
            }
        });
        ((host.host.to_string_lossy(), host.port), distinct(partitions))
    }));
    hosts.into_iter().map(|((host, port), partitions)| HostFields { host, port, partitions }).collect()
}

/// Puts each value at the first place of its key.
fn last_wins<K: Eq + Hash + Clone, V>(entries: impl Iterator<Item = (K, V)>) -> Vec<(K, V)> {
    let mut places: HashMap<K, usize> = HashMap::new();
    let mut kept: Vec<(K, V)> = Vec::new();
    for (key, value) in entries {
        let place = *places.entry(key.clone()).or_insert(kept.len());
        match kept.get_mut(place) {
            Some(entry) => entry.1 = value,
            None => kept.push((key, value)),
        }
    }
    kept
}

/// Leaves out what was there before.
fn distinct<T: Eq + Hash + Clone>(items: impl Iterator<Item = T>) -> Vec<T> {
    let mut seen = HashSet::new();
    items.filter(|item| seen.insert(item.clone())).collect()
}

impl AssignmentInfoFields {
    /// The dictionary to be written: the given one, and behind it the topics that it lacks.
    fn dictionary(&self) -> Vec<(i32, &str)> {
        let mut dictionary: Vec<(i32, &str)> =
            self.topic_dictionary.iter().map(|(index, topic)| (*index, topic.as_str())).collect();
        let mut known: HashSet<&str> = dictionary.iter().map(|&(_, topic)| topic).collect();
        let mut next = dictionary.iter().map(|&(index, _)| index.saturating_add(1)).max().unwrap_or(0).max(0);
        let hosts = self.partitions_by_host.iter().chain(&self.standby_partitions_by_host);
        for topic in hosts.flat_map(|host| host.partitions.iter().filter_map(|(topic, _)| topic.as_deref())) {
            if known.insert(topic) {
                dictionary.push((next, topic));
                next = next.saturating_add(1);
            }
        }
        dictionary
    }

    fn write<S: Sink>(&self, version: i32, writer: &mut Writer<S>) -> Result<(), EncodeError> {
        if !(1..=NEWEST_VERSION).contains(&version) {
            let kind = EncodeErrorKind::UnsupportedVersion { version, oldest: 1, newest: NEWEST_VERSION };
            return Err(EncodeError { field: "version", kind });
        }
        writer.i32(version)?;
        if version >= 3 {
            writer.i32(self.commonly_supported_version)?;
        }
        writer.count(self.active_tasks.len(), "activeTasks")?;
        for task in &self.active_tasks {
            write_task(writer, task, version)?;
        }
        writer.count(self.standby_tasks.len(), "standbyTasks")?;
        for (task, partitions) in &self.standby_tasks {
            write_task(writer, task, version)?;
            writer.count(partitions.len(), "partitions")?;
            for (topic, partition) in partitions {
                write_modified_utf8(writer, topic, "topic")?;
                writer.i32(*partition)?;
            }
        }
        if version >= 5 {
            let dictionary = self.dictionary();
            writer.count(dictionary.len(), "topicDictionary")?;
            for (index, topic) in &dictionary {
                writer.i32(*index)?;
                write_modified_utf8(writer, topic, "topic")?;
            }
            let indices: HashMap<&str, i32> =
                dictionary.iter().rev().map(|&(index, topic)| (topic, index)).collect();
            let write_topic = |writer: &mut Writer<S>, topic: &str| {
                writer.i32(indices.get(topic).copied().unwrap_or_default())
            };
            write_hosts(writer, &self.partitions_by_host, "partitionsByHost", write_topic)?;
            if version >= 6 {
                let hosts = &self.standby_partitions_by_host;
                write_hosts(writer, hosts, "standbyPartitionsByHost", write_topic)?;
            }
        } else if version >= 2 {
            let write_topic =
                |writer: &mut Writer<S>, topic: &str| write_modified_utf8(writer, topic, "topic");
            write_hosts(writer, &self.partitions_by_host, "partitionsByHost", write_topic)?;
        }
        if version >= 4 {
            writer.i32(self.err_code)?;
        }
        if version >= 7 { writer.i64(self.next_rebalance_ms) } else { Ok(()) }
    }

    /// The exact number of bytes that the other two write.
    ///
    /// Version 5 names each topic once, in a dictionary, where version 4 repeats the name with every partition of
    /// every host (KAFKA-7149); the two lengths say what that saves.
    ///
    /// # Errors
    /// A version outside 1 to 11, a topology's name below version 10, a host's partition without
    /// a topic, or text above 65,535 bytes.
    pub fn encoded_len(&self, version: i32) -> Result<usize, EncodeError> {
        measured(|writer| self.write(version, writer))
    }

    /// Writes the assignment to the front of `buffer` and returns its length.
    ///
    /// # Errors
    /// As [`encoded_len`](Self::encoded_len), or a buffer that is too small, which is left as it was.
    pub fn encode_into(&self, version: i32, buffer: &mut [u8]) -> Result<usize, EncodeError> {
        let needed = self.encoded_len(version)?;
        written(buffer, needed, |writer| self.write(version, writer))
    }

    /// Writes the assignment.
    ///
    /// # Errors
    /// As [`encoded_len`](Self::encoded_len).
    pub fn encode(&self, version: i32) -> Result<Vec<u8>, EncodeError> {
        let needed = self.encoded_len(version)?;
        let mut bytes = vec![0; needed];
        written(&mut bytes, needed, |writer| self.write(version, writer))?;
        Ok(bytes)
    }
}

fn write_task<S: Sink>(writer: &mut Writer<S>, task: &Task, version: i32) -> Result<(), EncodeError> {
    writer.i32(task.subtopology)?;
    writer.i32(task.partition)?;
    match &task.topology {
        Some(_) if version < 10 => {
            Err(EncodeError { field: "topologyName", kind: EncodeErrorKind::NotInVersion { version } })
        }
        Some(name) => write_utf16(writer, name, "topologyName"),
        None if version >= 10 => writer.i32(0),
        None => Ok(()),
    }
}

fn write_hosts<S: Sink>(
    writer: &mut Writer<S>,
    hosts: &[HostFields],
    list: &'static str,
    mut write_topic: impl FnMut(&mut Writer<S>, &str) -> Result<(), EncodeError>,
) -> Result<(), EncodeError> {
    writer.count(hosts.len(), list)?;
    for host in hosts {
        write_modified_utf8(writer, &host.host, "host")?;
        writer.i32(host.port)?;
        writer.count(host.partitions.len(), "partitions")?;
        for (topic, partition) in &host.partitions {
            let Some(topic) = topic else {
                return Err(EncodeError { field: "topic", kind: EncodeErrorKind::Missing });
            };
            write_topic(writer, topic)?;
            writer.i32(*partition)?;
        }
    }
    Ok(())
}
