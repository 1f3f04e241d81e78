//! What the leader of a Streams group tells an instance.

use core::iter::FusedIterator;
use core::marker::PhantomData;

use super::text::{ModifiedUtf8, Utf16Name};
use super::{NEWEST_VERSION, UNKNOWN_VERSION};
use crate::codec::error::{DecodeError, DecodeErrorKind};
use crate::codec::reader::Reader;

/// A Streams instance's part of its assignment, borrowed from the bytes and as it stands there.
///
/// Kafka puts what it reads into maps and sets; [`to_fields`](Self::to_fields) does the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct AssignmentInfo<'a> {
    /// The version.
    pub version: i32,
    /// The newest version that all members can read; -1 in versions 1 and 2, which do not say it.
    pub commonly_supported_version: i32,
    /// The active tasks, in the order of the partitions assigned; repeated ones count.
    pub active_tasks: Tasks<'a>,
    /// The standby tasks with their partitions.
    pub standby_tasks: Table<'a, StandbyTask<'a>>,
    /// Which host has which active partitions (since version 2).
    pub partitions_by_host: Hosts<'a>,
    /// Which host has which standby partitions (since version 6).
    pub standby_partitions_by_host: Hosts<'a>,
    /// The topics that hosts' partitions name by index (since version 5).
    pub topic_dictionary: Table<'a, DictionaryEntry<'a>>,
    /// The leader's error code (since version 4).
    pub err_code: i32,
    /// When to join again, in milliseconds since the epoch (since version 7); the greatest number for never.
    pub next_rebalance_ms: i64,
}

impl<'a> AssignmentInfo<'a> {
    /// Reads an assignment of version 1 to 11.
    ///
    /// Cost: O(entries); nothing is copied or allocated.
    ///
    /// # Errors
    /// Any other version, a count that is negative or that so few bytes cannot hold, bad text, or bytes that run out.
    ///
    /// # Examples
    /// ```
    /// use tenure::codec::streams::AssignmentInfo;
    /// let bytes = b"\x00\x00\x00\x01\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x02\x00\x00\x00\x00";
    /// let info = AssignmentInfo::decode(bytes)?;
    /// assert_eq!(info.active_tasks.iter().next().unwrap().partition, 2);
    /// # Ok::<(), tenure::codec::DecodeError>(())
    /// ```
    pub fn decode(bytes: &'a [u8]) -> Result<Self, DecodeError> {
        let mut reader = Reader::new(bytes);
        let version = reader.i32("version")?;
        if !(1..=NEWEST_VERSION).contains(&version) {
            let kind = DecodeErrorKind::UnsupportedVersion { version, oldest: 1, newest: NEWEST_VERSION };
            return Err(DecodeError { at: 0, field: "version", kind });
        }
        let common = if version >= 3 { reader.i32("commonlySupportedVersion")? } else { UNKNOWN_VERSION };
        // Streams itself bounds counts by the whole length.
        let mut source = Source { whole: bytes.len(), version, reader };
        let active_tasks = source.table("activeTasks")?;
        let standby_tasks = source.table("standbyTasks")?;
        let mut topic_dictionary = Table::default();
        let (mut partitions_by_host, mut standby_partitions_by_host) = (Hosts::default(), Hosts::default());
        if version >= 5 {
            topic_dictionary = source.table("topicDictionary")?;
        }
        if version >= 2 {
            partitions_by_host = source.table("partitionsByHost")?;
        }
        if version >= 6 {
            standby_partitions_by_host = source.table("standbyPartitionsByHost")?;
        }
        let mut reader = source.reader;
        Ok(Self {
            version,
            commonly_supported_version: common,
            active_tasks,
            standby_tasks,
            partitions_by_host,
            standby_partitions_by_host,
            topic_dictionary,
            err_code: if version >= 4 { reader.i32("errCode")? } else { 0 },
            next_rebalance_ms: if version >= 7 { reader.i64("nextRebalanceMs")? } else { i64::MAX },
        })
    }
}

/// Bytes with what an entry needs to know to be read.
#[derive(Debug, Clone)]
pub struct Source<'a> {
    whole: usize,
    version: i32,
    reader: Reader<'a>,
}

impl<'a> Source<'a> {
    /// Reads a count, bounded as Streams does: not negative, and at most the whole length over the
    /// least size of an entry.
    fn count(&mut self, field: &'static str, least_size: usize) -> Result<usize, DecodeError> {
        let at = self.reader.at();
        let count = self.reader.i32(field)?;
        let most = self.whole.checked_div(least_size).unwrap_or_default();
        let kind = match usize::try_from(count) {
            Ok(count) if count <= most => return Ok(count),
            Ok(count) => DecodeErrorKind::CountAboveRest { count, left: most },
            Err(_) => DecodeErrorKind::NegativeCount { count },
        };
        Err(DecodeError { at, field, kind })
    }

    fn table<E: Entry<'a>>(&mut self, field: &'static str) -> Result<Table<'a, E>, DecodeError> {
        let count = self.count(field, E::LEAST_SIZE)?;
        let start = self.clone();
        for _ in 0..count {
            E::read(self)?;
        }
        let read = start.reader.left().saturating_sub(self.reader.left());
        let bytes = start.reader.rest().get(..read).unwrap_or_default();
        Ok(Table { count, version: self.version, bytes, entry: PhantomData })
    }
}

/// What a table consists of.
pub trait Entry<'a>: Sized {
    /// The least number of bytes of an entry.
    const LEAST_SIZE: usize;

    /// Reads one.
    ///
    /// # Errors
    /// Where the bytes do not hold one.
    fn read(source: &mut Source<'a>) -> Result<Self, DecodeError>;
}

/// A list of entries: their number and the bytes that hold them, checked once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Table<'a, E> {
    count: usize,
    version: i32,
    bytes: &'a [u8],
    entry: PhantomData<E>,
}

impl<E> Default for Table<'_, E> {
    fn default() -> Self {
        Self { count: 0, version: 0, bytes: &[], entry: PhantomData }
    }
}

impl<'a, E: Entry<'a>> Table<'a, E> {
    /// Number of entries.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.count
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The entries in the order of the wire.
    #[must_use]
    pub fn iter(&self) -> TableIter<'a, E> {
        // The counts inside were checked against the whole, which is no shorter than this part of it.
        let source = Source { whole: usize::MAX, version: self.version, reader: Reader::new(self.bytes) };
        TableIter { left: self.count, source, entry: PhantomData }
    }
}

/// The entries of a [`Table`], in the order of the wire.
#[derive(Debug, Clone)]
pub struct TableIter<'a, E> {
    left: usize,
    source: Source<'a>,
    entry: PhantomData<E>,
}

impl<'a, E: Entry<'a>> Iterator for TableIter<'a, E> {
    type Item = E;

    fn next(&mut self) -> Option<E> {
        self.left = self.left.checked_sub(1)?;
        E::read(&mut self.source).ok()
    }
}

impl<'a, E: Entry<'a>> FusedIterator for TableIter<'a, E> {}

/// The active tasks.
pub type Tasks<'a> = Table<'a, AssignedTask<'a>>;

/// Hosts with their partitions.
pub type Hosts<'a> = Table<'a, Host<'a>>;

/// The partitions of a host.
pub type HostPartitions<'a> = Table<'a, HostPartition<'a>>;

/// A task in an assignment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct AssignedTask<'a> {
    /// The subtopology's number.
    pub subtopology: i32,
    /// The partition's number.
    pub partition: i32,
    /// The topology's name (since version 10).
    pub topology: Option<Utf16Name<'a>>,
}

impl<'a> Entry<'a> for AssignedTask<'a> {
    const LEAST_SIZE: usize = 8;

    fn read(source: &mut Source<'a>) -> Result<Self, DecodeError> {
        let reader = &mut source.reader;
        Ok(Self {
            subtopology: reader.i32("subtopology")?,
            partition: reader.i32("partition")?,
            topology: if source.version >= 10 { Utf16Name::decode(reader, "topologyName")? } else { None },
        })
    }
}

/// A standby task and the partitions whose changelogs it follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct StandbyTask<'a> {
    /// The task.
    pub task: AssignedTask<'a>,
    /// The partitions; always by name.
    pub partitions: Table<'a, NamedPartition<'a>>,
}

impl<'a> Entry<'a> for StandbyTask<'a> {
    const LEAST_SIZE: usize = 12;

    fn read(source: &mut Source<'a>) -> Result<Self, DecodeError> {
        Ok(Self { task: AssignedTask::read(source)?, partitions: source.table("partitions")? })
    }
}

/// A partition with the name of its topic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct NamedPartition<'a> {
    /// The topic's name.
    pub topic: ModifiedUtf8<'a>,
    /// The partition's number.
    pub partition: i32,
}

impl<'a> Entry<'a> for NamedPartition<'a> {
    const LEAST_SIZE: usize = 6;

    fn read(source: &mut Source<'a>) -> Result<Self, DecodeError> {
        let reader = &mut source.reader;
        Ok(Self { topic: ModifiedUtf8::decode(reader, "topic")?, partition: reader.i32("partition")? })
    }
}

/// A partition of a host: its topic by name up to version 4, by index in the dictionary since 5.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum HostPartition<'a> {
    /// By name.
    Named(NamedPartition<'a>),
    /// By index.
    Indexed {
        /// The topic's index in the dictionary.
        topic_index: i32,
        /// The partition's number.
        partition: i32,
    },
}

impl<'a> Entry<'a> for HostPartition<'a> {
    const LEAST_SIZE: usize = 6;

    fn read(source: &mut Source<'a>) -> Result<Self, DecodeError> {
        if source.version < 5 {
            return NamedPartition::read(source).map(Self::Named);
        }
        let reader = &mut source.reader;
        Ok(Self::Indexed { topic_index: reader.i32("topicIndex")?, partition: reader.i32("partition")? })
    }
}

/// A host and its partitions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Host<'a> {
    /// The host's name.
    pub host: ModifiedUtf8<'a>,
    /// The port.
    pub port: i32,
    /// The partitions.
    pub partitions: HostPartitions<'a>,
}

impl<'a> Entry<'a> for Host<'a> {
    const LEAST_SIZE: usize = 10;

    fn read(source: &mut Source<'a>) -> Result<Self, DecodeError> {
        let host = ModifiedUtf8::decode(&mut source.reader, "host")?;
        let port = source.reader.i32("port")?;
        // By index a partition takes eight bytes, which the bound takes into account.
        if source.version >= 5 {
            let mut ahead = source.clone();
            ahead.count("partitions", 8)?;
        }
        Ok(Self { host, port, partitions: source.table("partitions")? })
    }
}

/// A topic and its index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct DictionaryEntry<'a> {
    /// The index.
    pub index: i32,
    /// The topic's name.
    pub topic: ModifiedUtf8<'a>,
}

impl<'a> Entry<'a> for DictionaryEntry<'a> {
    const LEAST_SIZE: usize = 6;

    fn read(source: &mut Source<'a>) -> Result<Self, DecodeError> {
        let reader = &mut source.reader;
        Ok(Self { index: reader.i32("index")?, topic: ModifiedUtf8::decode(reader, "topic")? })
    }
}
