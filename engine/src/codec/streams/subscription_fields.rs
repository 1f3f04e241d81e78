//! A Streams instance's part of its subscription, to be written.

use alloc::vec;
use alloc::vec::Vec;

use super::subscription::{TaskId, TaskOffsetSum, check_versions};
use super::{NEWEST_VERSION, UNKNOWN_VERSION};
use crate::codec::error::{EncodeError, EncodeErrorKind};
use crate::codec::writer::{Sink, Writer, measured, written};

/// What a Streams instance says, to be written in any version.
///
/// Order: as given. Fields that the version lacks are dropped, except the name of a topology, which none
/// below 10 can carry. Up to version 6 the tasks are those of the two lists, from 7 on those of `offset_sums`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SubscriptionInfoFields<'a> {
    /// The latest version the instance can read.
    pub latest_supported_version: i32,
    /// The instance's id.
    pub process_id: [u8; 16],
    /// The active tasks it had.
    pub prev_tasks: &'a [TaskId<'a>],
    /// The standby tasks it had.
    pub standby_tasks: &'a [TaskId<'a>],
    /// Where it can be queried; empty for nowhere.
    pub user_end_point: &'a [u8],
    /// Tasks with the sums of their offsets, those of a subtopology side by side.
    pub offset_sums: &'a [TaskOffsetSum<'a>],
    /// A byte that differs from one rebalance to the next.
    pub unique_field: i8,
    /// The instance's error code.
    pub error_code: i32,
    /// Tags for placing standbys.
    pub client_tags: &'a [(&'a [u8], &'a [u8])],
}

impl Default for SubscriptionInfoFields<'_> {
    fn default() -> Self {
        Self {
            latest_supported_version: NEWEST_VERSION,
            process_id: [0; 16],
            prev_tasks: &[],
            standby_tasks: &[],
            user_end_point: &[],
            offset_sums: &[],
            unique_field: 0,
            error_code: 0,
            client_tags: &[],
        }
    }
}

impl SubscriptionInfoFields<'_> {
    fn check(&self, version: i32) -> Result<(), EncodeError> {
        if !(1..=NEWEST_VERSION).contains(&version) {
            let kind = EncodeErrorKind::UnsupportedVersion { version, oldest: 1, newest: NEWEST_VERSION };
            return Err(EncodeError { field: "version", kind });
        }
        let latest = if version <= 2 { UNKNOWN_VERSION } else { self.latest_supported_version };
        if check_versions(version, latest).is_err() {
            return Err(EncodeError { field: "latestSupportedVersion", kind: EncodeErrorKind::OutOfRange });
        }
        let tasks = self.prev_tasks.iter().chain(self.standby_tasks);
        let mut tasks = tasks.chain(self.offset_sums.iter().map(|sum| &sum.task));
        if version < 10 && tasks.any(|task| task.topology.is_some()) {
            return Err(EncodeError {
                field: "namedTopology",
                kind: EncodeErrorKind::NotInVersion { version },
            });
        }
        Ok(())
    }

    fn write<S: Sink>(&self, version: i32, writer: &mut Writer<S>) -> Result<(), EncodeError> {
        self.check(version)?;
        writer.i32(version)?;
        if version >= 3 {
            writer.i32(self.latest_supported_version)?;
        }
        writer.raw(&self.process_id)?;
        if version <= 6 {
            write_tasks(writer, self.prev_tasks, "prevTasks")?;
            write_tasks(writer, self.standby_tasks, "standbyTasks")?;
        }
        if version >= 2 {
            writer.bytes(self.user_end_point, "userEndPoint")?;
        }
        if (7..10).contains(&version) {
            let groups = || self.offset_sums.chunk_by(|a, b| a.task.subtopology == b.task.subtopology);
            writer.count(groups().count(), "taskOffsetSums")?;
            for group in groups() {
                writer.i32(group.first().map_or(0, |sum| sum.task.subtopology))?;
                writer.count(group.len(), "partitionToOffsetSum")?;
                for sum in group {
                    writer.i32(sum.task.partition)?;
                    writer.i64(sum.offset_sum)?;
                }
            }
        }
        if version >= 10 {
            writer.count(self.offset_sums.len(), "taskOffsetSums")?;
            for sum in self.offset_sums {
                writer.i32(sum.task.subtopology)?;
                writer.i32(sum.task.partition)?;
                writer.i64(sum.offset_sum)?;
                writer.nullable_text(sum.task.topology.map(|name| name.as_bytes()), "namedTopology")?;
            }
        }
        if version >= 8 {
            writer.i8(self.unique_field)?;
        }
        if version >= 9 {
            writer.i32(self.error_code)?;
        }
        if version >= 11 {
            writer.count(self.client_tags.len(), "clientTags")?;
            for (key, value) in self.client_tags {
                writer.bytes(key, "key")?;
                writer.bytes(value, "value")?;
            }
        }
        Ok(())
    }

    /// The exact number of bytes that the other two write.
    ///
    /// # Errors
    /// A version outside 1 to 11, a latest supported version below it, or a topology's name below version 10.
    pub fn encoded_len(&self, version: i32) -> Result<usize, EncodeError> {
        measured(|writer| self.write(version, writer))
    }

    /// Writes the subscription to the front of `buffer` and returns its length. Nothing is allocated.
    ///
    /// # Errors
    /// As [`encoded_len`](Self::encoded_len), or a buffer that is too small, which is left as it was.
    pub fn encode_into(&self, version: i32, buffer: &mut [u8]) -> Result<usize, EncodeError> {
        let needed = self.encoded_len(version)?;
        written(buffer, needed, |writer| self.write(version, writer))
    }

    /// Writes the subscription.
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

fn write_tasks<S: Sink>(
    writer: &mut Writer<S>,
    tasks: &[TaskId<'_>],
    list: &'static str,
) -> Result<(), EncodeError> {
    writer.count(tasks.len(), list)?;
    tasks.iter().try_for_each(|task| {
        writer.i32(task.subtopology)?;
        writer.i32(task.partition)
    })
}
