//! The consume-transform-produce workload (KIP-447): every process reads, writes results and commits the offsets of what
//! it read in one transaction. Each input record must come out exactly once.

mod output;
mod producer;

pub(super) use output::{Batch, Output};
pub(super) use producer::{Producing, Work};

use core::fmt;

use crate::fence::Rules;
use crate::fence::cycle::ProducerName;

/// How the processes of a transactional run are set up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TransactionOptions {
    /// Which rules the group's coordinator fences by.
    pub rules: Rules,
    /// What the producers are known by.
    pub naming: Naming,
    /// After so long the coordinator aborts a transaction that nobody ended.
    pub timeout_ms: u64,
    /// The application waits up to so long between two transactions.
    pub pace_ms: u64,
}

/// What a process's producer is known by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Naming {
    /// A transactional id of the process: its next life fences the last one.
    Process,
    /// *Draft*: the group, and in it the member id or `group.instance.id`.
    Member,
    /// *Draft*: the group alone; every start makes another producer.
    Group,
}

impl Naming {
    /// The name of the producer beside a member.
    pub(super) fn name(self, process: usize, member_id: &str, instance_id: Option<&str>) -> ProducerName {
        match self {
            Self::Process => ProducerName::TransactionalId(format!("p{process}")),
            Self::Member => ProducerName::of_member(super::world::GROUP, instance_id, member_id),
            Self::Group => {
                ProducerName::Group { group_id: super::world::GROUP.into(), transactional_id: None }
            }
        }
    }
}

impl fmt::Display for TransactionOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rules, naming, timeout_ms, pace_ms } = self;
        write!(
            f,
            "transactions fenced by the rules {rules:?}, producers named by {naming:?}, given up after {timeout_ms} ms, \
             one every {pace_ms} ms at most"
        )
    }
}

/// A step of a transaction at which a process may stand still.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum TransactionStep {
    /// Before it asks for a producer id and epoch.
    Initialise,
    /// Before it tells the coordinator which partition it writes to.
    AddPartition,
    /// Before it writes the results.
    Write,
    /// Before it tells the coordinator that offsets follow.
    AddOffsets,
    /// Before it commits the offsets: the edge case of KIP-447.
    CommitOffsets,
    /// Before it ends the transaction.
    End,
}

impl TransactionStep {
    /// All steps, in order.
    pub const ALL: [Self; 6] =
        [Self::Initialise, Self::AddPartition, Self::Write, Self::AddOffsets, Self::CommitOffsets, Self::End];

    /// The step that begins with a request of this name.
    pub(super) fn of_request(name: &str) -> Option<Self> {
        match name {
            "InitProducerId" => Some(Self::Initialise),
            "AddPartitionsToTxn" => Some(Self::AddPartition),
            "AddOffsetsToTxn" => Some(Self::AddOffsets),
            "TxnOffsetCommit" => Some(Self::CommitOffsets),
            "EndTxn" => Some(Self::End),
            _ => None,
        }
    }
}
