//! Real members of Kafka consumer groups for Rust programs.
//!
//! Clients such as rskafka read and write partitions but know no groups. This crate is the other half: which
//! partitions are mine, from when until when. It speaks the group protocol with cooperative rebalancing (KIP-429), so
//! that a rebalance takes away only what really moves, and leads the group with Tenure's planner when it is the
//! leader's turn. How records are read is left to the program.
//!
//! - [`Cluster`] knows the brokers: topics, coordinators, committed offsets, TLS and SASL.
//! - [`GroupMember`] is a member: it joins, keeps its session, rejoins and leaves; [`RebalanceListener`] hears what
//!   comes and goes; [`GroupHandle`] commits.
//! - [`Cluster::describe_group`] shows any classic group without being in it.
//! - [`TransactionalProducer`] commits offsets inside a transaction, fenced by the member's generation (KIP-447).
//!
//! All decisions are made by [`tenure::protocol::member::Member`], a state machine without I/O, which is simulated and
//! checked apart; this crate moves its bytes and keeps its time.

#![forbid(unsafe_code)]

mod cluster;
mod config;
mod connection;
mod error;
mod groups;
mod member;
mod offsets;
mod properties;
mod security;
mod shape;
mod topics;
mod transaction;
mod versions;
mod wire;

pub use cluster::Cluster;
pub use config::ClientConfig;
#[doc(hidden)]
pub use connection::read_any_answer;
pub use error::ClientError;
pub use groups::{DescribedMember, GroupDescription, GroupState, ListedGroup};
pub use member::{
    Change, CommitError, GroupConfig, GroupHandle, GroupMember, MemberStatus, RebalanceListener, Silent,
    Subscription,
};
pub use properties::Properties;
#[doc(hidden)]
pub use security::read_any_challenge;
pub use security::{Mechanism, Sasl, Security, Tls};
pub use topics::{Partition, Topic};
pub use transaction::TransactionalProducer;

pub use tenure::protocol::member::{GroupMetadata, MemberState, Report};
pub use tenure::protocol::message::{CommittedOffset, TopicPartition};
pub use tenure::protocol::partition_set::PartitionSet;
