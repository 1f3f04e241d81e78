//! What a Streams instance tells the leader about itself and its tasks.

use core::fmt;
use core::iter::FusedIterator;

use super::{NEWEST_VERSION, UNKNOWN_VERSION};
use crate::codec::error::{DecodeError, DecodeErrorKind};
use crate::codec::reader::Reader;
use crate::codec::text::Text;

/// The offset sum that marks an active task; anything else is a standby.
pub(super) const ACTIVE_OFFSET: i64 = -2;

/// A Streams instance's part of its subscription, borrowed from the bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct SubscriptionInfo<'a> {
    /// The version as sent.
    pub version: i32,
    /// The latest version the instance can read; -1 in versions 1 and 2, which do not say it.
    pub latest_supported_version: i32,
    /// The rest; `None` if the version is newer than any known, when nothing else is looked at and the leader
    /// answers with the version it knows itself (version probing).
    pub body: Option<SubscriptionBody<'a>>,
}

/// What a subscription of a known version says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct SubscriptionBody<'a> {
    /// The instance's id.
    pub process_id: [u8; 16],
    /// The active tasks it had (up to version 6).
    pub prev_tasks: TaskList<'a>,
    /// The standby tasks it had (up to version 6).
    pub standby_tasks: TaskList<'a>,
    /// Where it can be queried, as bytes (since version 2).
    pub user_end_point: &'a [u8],
    /// Tasks with the sums of their offsets (since version 7).
    pub offset_sums: OffsetSums<'a>,
    /// A byte that differs from one rebalance to the next (since version 8).
    pub unique_field: i8,
    /// The instance's error code (since version 9).
    pub error_code: i32,
    /// Tags for placing standbys (since version 11).
    pub client_tags: ClientTags<'a>,
}

/// A task: a partition of a subtopology, in a named topology since version 10.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TaskId<'a> {
    /// The subtopology's number.
    pub subtopology: i32,
    /// The partition's number.
    pub partition: i32,
    /// The topology's name.
    pub topology: Option<Text<'a>>,
}

impl fmt::Display for TaskId<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(name) = self.topology.filter(|name| !name.is_empty()) {
            write!(f, "{name}__")?;
        }
        write!(f, "{}_{}", self.subtopology, self.partition)
    }
}

/// Checks the pair of versions that a subscription carries.
///
/// # Errors
/// An unknown latest version outside versions 1 and 2, or one below the version in use.
pub const fn check_versions(version: i32, latest: i32) -> Result<(), DecodeErrorKind> {
    if version < 1 {
        return Err(DecodeErrorKind::UnsupportedVersion { version, oldest: 1, newest: NEWEST_VERSION });
    }
    let may_be_unknown = latest == UNKNOWN_VERSION && version <= 2;
    if latest < version && !may_be_unknown {
        return Err(DecodeErrorKind::LatestBelowVersion { version, latest });
    }
    Ok(())
}

impl<'a> SubscriptionInfo<'a> {
    /// Reads a subscription of any version from 1 on.
    ///
    /// Cost: O(tasks); nothing is copied or allocated.
    ///
    /// # Errors
    /// A version below 1, a latest supported version below it, or bytes that run out.
    ///
    /// # Examples
    /// ```
    /// use tenure::codec::streams::SubscriptionInfo;
    /// let probe = SubscriptionInfo::decode(b"\x00\x00\x00\x0c\x00\x00\x00\x0c")?;
    /// assert_eq!((probe.version, probe.body), (12, None));
    /// # Ok::<(), tenure::codec::DecodeError>(())
    /// ```
    pub fn decode(bytes: &'a [u8]) -> Result<Self, DecodeError> {
        let mut reader = Reader::new(bytes);
        let version = reader.i32("version")?;
        let at = reader.at();
        let latest = if version >= 3 { reader.i32("latestSupportedVersion")? } else { UNKNOWN_VERSION };
        check_versions(version, latest).map_err(|kind| match kind {
            DecodeErrorKind::UnsupportedVersion { .. } => DecodeError { at: 0, field: "version", kind },
            _ => DecodeError { at, field: "latestSupportedVersion", kind },
        })?;
        let body = if version <= NEWEST_VERSION {
            Some(SubscriptionBody::decode(&mut reader, version)?)
        } else {
            None
        };
        Ok(Self { version, latest_supported_version: latest, body })
    }
}

impl<'a> SubscriptionBody<'a> {
    fn decode(reader: &mut Reader<'a>, version: i32) -> Result<Self, DecodeError> {
        let process_id = reader.array("processId")?;
        let (mut prev_tasks, mut standby_tasks) = (TaskList::default(), TaskList::default());
        if version <= 6 {
            prev_tasks = TaskList::decode(reader, "prevTasks")?;
            standby_tasks = TaskList::decode(reader, "standbyTasks")?;
        }
        let user_end_point = if version >= 2 { reader.bytes("userEndPoint")? } else { &[] };
        let offset_sums = match version {
            ..7 => OffsetSums::default(),
            7..10 => OffsetSums::decode(reader, true)?,
            10.. => OffsetSums::decode(reader, false)?,
        };
        Ok(Self {
            process_id,
            prev_tasks,
            standby_tasks,
            user_end_point,
            offset_sums,
            unique_field: if version >= 8 { reader.i8("uniqueField")? } else { 0 },
            error_code: if version >= 9 { reader.i32("errorCode")? } else { 0 },
            client_tags: if version >= 11 { ClientTags::decode(reader)? } else { ClientTags::default() },
        })
    }

    /// Where the instance can be queried; no bytes are none.
    #[must_use]
    pub fn end_point(&self) -> Option<Text<'a>> {
        Some(Text::new(self.user_end_point)).filter(|text| !text.is_empty())
    }

    /// The active tasks, from the task list or the offset sums, as they stand; repeated ones stay.
    pub fn active_tasks(&self) -> impl Iterator<Item = TaskId<'a>> + Clone {
        let sums = self.offset_sums.iter().filter(|sum| sum.offset_sum == ACTIVE_OFFSET);
        self.prev_tasks.iter().chain(sums.map(|sum| sum.task))
    }

    /// The standby tasks, from the task list or the offset sums, as they stand; repeated ones stay.
    pub fn standby_tasks(&self) -> impl Iterator<Item = TaskId<'a>> + Clone {
        let sums = self.offset_sums.iter().filter(|sum| sum.offset_sum != ACTIVE_OFFSET);
        self.standby_tasks.iter().chain(sums.map(|sum| sum.task))
    }
}

/// A list of tasks without names.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TaskList<'a>(&'a [[u8; 8]]);

impl<'a> TaskList<'a> {
    fn decode(reader: &mut Reader<'a>, list: &'static str) -> Result<Self, DecodeError> {
        let count = reader.count(list)?;
        Ok(Self(reader.take(count.saturating_mul(8), list)?.as_chunks::<8>().0))
    }

    /// Number of tasks.
    #[must_use]
    pub const fn len(self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0.is_empty()
    }

    /// The tasks in the order of the wire.
    pub fn iter(self) -> impl ExactSizeIterator<Item = TaskId<'a>> + Clone {
        self.0.iter().map(|&[a, b, c, d, e, f, g, h]| TaskId {
            subtopology: i32::from_be_bytes([a, b, c, d]),
            partition: i32::from_be_bytes([e, f, g, h]),
            topology: None,
        })
    }
}

/// A task and the sum of its offsets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TaskOffsetSum<'a> {
    /// The task.
    pub task: TaskId<'a>,
    /// The sum of the offsets of its stores; -2 for an active task.
    pub offset_sum: i64,
}

/// Tasks with their offset sums: by subtopology in versions 7 to 9, one by one since 10.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OffsetSums<'a> {
    grouped: bool,
    count: usize,
    bytes: &'a [u8],
}

impl<'a> OffsetSums<'a> {
    fn decode(reader: &mut Reader<'a>, grouped: bool) -> Result<Self, DecodeError> {
        let count = reader.count("taskOffsetSums")?;
        let (bytes, before) = (reader.rest(), reader.left());
        for _ in 0..count {
            reader.i32("topicGroupId")?;
            if grouped {
                let sums = reader.count("partitionToOffsetSum")?;
                reader.take(sums.saturating_mul(12), "offsetSum")?;
            } else {
                reader.i32("partition")?;
                reader.i64("offsetSum")?;
                reader.nullable_text("namedTopology")?;
            }
        }
        let read = before.saturating_sub(reader.left());
        Ok(Self { grouped, count, bytes: bytes.get(..read).unwrap_or_default() })
    }

    /// The tasks in the order of the wire.
    #[must_use]
    pub const fn iter(self) -> OffsetSumIter<'a> {
        OffsetSumIter { sums: self, subtopology: 0, in_group: 0 }
    }
}

/// The tasks of an [`OffsetSums`], in the order of the wire.
#[derive(Debug, Clone)]
pub struct OffsetSumIter<'a> {
    sums: OffsetSums<'a>,
    subtopology: i32,
    in_group: usize,
}

impl<'a> Iterator for OffsetSumIter<'a> {
    type Item = TaskOffsetSum<'a>;

    fn next(&mut self) -> Option<TaskOffsetSum<'a>> {
        let mut reader = Reader::new(self.sums.bytes);
        while self.in_group == 0 {
            self.sums.count = self.sums.count.checked_sub(1)?;
            self.subtopology = reader.i32("").ok()?;
            self.in_group = if self.sums.grouped { reader.count("").ok()? } else { 1 };
        }
        self.in_group = self.in_group.saturating_sub(1);
        let partition = reader.i32("").ok()?;
        let offset_sum = reader.i64("").ok()?;
        let topology = if self.sums.grouped { None } else { reader.nullable_text("").ok()? };
        self.sums.bytes = reader.rest();
        let task = TaskId { subtopology: self.subtopology, partition, topology };
        Some(TaskOffsetSum { task, offset_sum })
    }
}

impl FusedIterator for OffsetSumIter<'_> {}

/// Keys and values that say where an instance runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ClientTags<'a> {
    count: usize,
    bytes: &'a [u8],
}

impl<'a> ClientTags<'a> {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let count = reader.count("clientTags")?;
        let (bytes, before) = (reader.rest(), reader.left());
        for _ in 0..count {
            reader.bytes("key")?;
            reader.bytes("value")?;
        }
        let read = before.saturating_sub(reader.left());
        Ok(Self { count, bytes: bytes.get(..read).unwrap_or_default() })
    }

    /// Keys and values in the order of the wire.
    pub fn iter(self) -> impl Iterator<Item = (&'a [u8], &'a [u8])> + Clone {
        let mut reader = Reader::new(self.bytes);
        (0..self.count).map_while(move |_| Some((reader.bytes("key").ok()?, reader.bytes("value").ok()?)))
    }
}
