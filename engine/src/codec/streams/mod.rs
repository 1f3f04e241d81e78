//! The user data of Kafka Streams: what an instance tells the leader, and what the leader tells it.
//!
//! Both begin with a version of four bytes. Three encodings of text meet here: plain UTF-8 in the
//! subscription, modified UTF-8 and UTF-16 in the assignment.
//!
//! | version | release | subscription | assignment |
//! |---|---|---|---|
//! | 1–2 | | task lists; end point since 2 | tasks; partitions by host since 2 |
//! | 3 | 2.0 | latest supported version | commonly supported version |
//! | 4 | 2.1 | | error code |
//! | 5, 6 | 2.4, 2.5 | | topics by index (KAFKA-7149); standby partitions by host |
//! | 7 | 2.6 | offset sums instead of task lists | next rebalance |
//! | 8, 9 | 2.7, 2.8 | unique byte; error code | |
//! | 10, 11 | 3.0, 3.2 | named topologies; client tags | named topologies |
//!
//! Source: KIP-429 (version 4), KAFKA-7149 (the smaller assignment), KIP-441 (offset sums), KIP-708 (tags).

mod assignment;
mod assignment_fields;
mod subscription;
mod subscription_fields;
mod text;

pub use assignment::{
    AssignedTask, AssignmentInfo, DictionaryEntry, Entry, Host, HostPartition, HostPartitions, Hosts,
    NamedPartition, Source, StandbyTask, Table, TableIter, Tasks,
};
pub use assignment_fields::{AssignmentInfoFields, HostFields, Task};
pub use subscription::{
    ClientTags, OffsetSumIter, OffsetSums, SubscriptionBody, SubscriptionInfo, TaskId, TaskList,
    TaskOffsetSum, check_versions,
};
pub use subscription_fields::SubscriptionInfoFields;
pub use text::{ModifiedUtf8, Utf16Name};
pub(super) use text::{write_modified_utf8, write_utf16};

/// The newest version of either format that is known.
pub const NEWEST_VERSION: i32 = 11;

/// The latest supported version of a member too old to say one.
pub const UNKNOWN_VERSION: i32 = -1;
