//! The broker's settings that a group coordinator obeys.

use crate::fence::Rules;

/// The settings of a [`Coordinator`](super::Coordinator), with the released broker's defaults.
///
/// Units: milliseconds and bytes, as the names end.
///
/// # Examples
///
/// ```
/// use tenure::protocol::coordinator::Config;
///
/// let config = Config { initial_rebalance_delay_ms: 0, group_size_max: 50, ..Config::default() };
/// assert_eq!(config.session_timeout_min_ms, 6_000);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// `group.min.session.timeout.ms`.
    pub session_timeout_min_ms: i32,
    /// `group.max.session.timeout.ms`.
    pub session_timeout_max_ms: i32,
    /// `group.initial.rebalance.delay.ms`: how long an empty group waits for further members.
    pub initial_rebalance_delay_ms: u64,
    /// `group.max.size`.
    pub group_size_max: usize,
    /// How long a member that joins for the first time may wait for the join to complete.
    pub new_member_join_timeout_ms: u64,
    /// `offset.metadata.max.bytes`.
    pub offset_metadata_max_bytes: usize,
    /// `offsets.retention.minutes`, in milliseconds.
    pub offsets_retention_ms: u64,
    /// How transactional commits are fenced.
    pub fence: Rules,
    /// *Draft* (KIP-429's outlook): the member with the highest version of the selected assignor leads,
    /// instead of the first to join.
    pub leader_by_version: bool,
    /// *Draft* (KIP-429's outlook): heartbeats carry the rebalance protocols, and their answers the one to use.
    pub heartbeat_protocols: bool,
    /// Goes into the ids of new members, so that two coordinators never give the same.
    pub member_id_seed: u64,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            session_timeout_min_ms: 6_000,
            session_timeout_max_ms: 1_800_000,
            initial_rebalance_delay_ms: 3_000,
            group_size_max: i32::MAX as usize,
            new_member_join_timeout_ms: 300_000,
            offset_metadata_max_bytes: 4_096,
            offsets_retention_ms: 7 * 24 * 60 * 60 * 1_000,
            fence: Rules::Shipped,
            leader_by_version: false,
            heartbeat_protocols: false,
            member_id_seed: 0,
        }
    }
}
