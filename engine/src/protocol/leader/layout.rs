//! What each member is given, cut into runs of one topic: the sizes of all assignments are known from it.

use alloc::vec::Vec;

use super::heads::Heads;
use super::returned::Returned;
use crate::id::PartitionIndex;
use crate::revoke::{Mode, Round};
use crate::topology::Topology;

/// Partitions of one topic that follow each other in a member's list.
#[derive(Debug, Clone, Copy)]
pub(super) struct Run {
    pub(super) topic: u32,
    pub(super) len: u32,
}

/// The runs of all members.
#[derive(Debug, Clone, Default)]
pub(super) struct Layout {
    runs: Vec<Run>,
    run_start: Vec<u32>,
    /// What members get when that is not the plan's target as it stands.
    given: Vec<PartitionIndex>,
    given_start: Vec<u32>,
    /// Bytes of the blocks of each member.
    pub(super) block_bytes: Vec<usize>,
    pub(super) returned: Returned,
    /// Whether a member's blocks are those that it sent.
    pub(super) again: Vec<bool>,
    as_planned: bool,
    /// The longest topic name written, in bytes.
    pub(super) name_len_max: usize,
}

impl Layout {
    /// Cuts a round. Members that are given what they claim, as their bytes have it in `as_claimed`, are not cut: those
    /// bytes are written again.
    pub(super) fn lay<'m>(
        &mut self,
        round: &Round<'_>,
        mode: Mode,
        heads: &Heads,
        as_claimed: impl Fn(usize) -> Option<&'m [u8]>,
    ) {
        let plan = round.plan();
        self.as_planned = plan.transfer_count() == 0 && (mode == Mode::Shipped || plan.orphans.is_empty());
        self.given.clear();
        self.given_start.clear();
        if !self.as_planned {
            self.given_start.push(0);
            for member in round.group().member_indices() {
                if mode == Mode::Draft {
                    self.given.extend(round.assignment(member));
                } else {
                    let ready = plan.target(member).iter().filter(|&&p| !plan.in_transfer(p));
                    self.given.extend(ready);
                }
                self.given_start.push(self.given.len() as u32);
            }
        }
        self.runs.clear();
        self.run_start.clear();
        self.run_start.push(0);
        self.block_bytes.clear();
        self.again.clear();
        self.name_len_max = 0;
        self.returned.collect(round, mode);
        let topology = round.group().topology();
        for member in round.group().member_indices() {
            let partitions = if self.as_planned {
                plan.target(member)
            } else {
                let given = &self.given_start;
                &self.given[given[member.at()] as usize..given[member.at() + 1] as usize]
            };
            let claimed = as_claimed(member.at()).filter(|_| {
                equal(round.group().claim_numbers(member), partitions) && self.returned.is_empty(member.at())
            });
            self.again.push(claimed.is_some());
            self.block_bytes.push(match claimed {
                Some(blocks) => blocks.len() - COUNT_BYTES,
                None => cut(topology, heads, partitions, &mut self.runs, &mut self.name_len_max),
            });
            self.run_start.push(self.runs.len() as u32);
        }
        for name in self.returned.names(round.group()) {
            self.name_len_max = self.name_len_max.max(name.len());
        }
    }

    /// The runs of a member.
    #[inline]
    pub(super) fn runs(&self, member: usize) -> &[Run] {
        &self.runs[self.run_start[member] as usize..self.run_start[member + 1] as usize]
    }

    /// The partitions of a member, all runs together.
    #[inline]
    pub(super) fn partitions<'a>(&'a self, round: &Round<'a>, member: usize) -> &'a [PartitionIndex] {
        if self.as_planned {
            round.plan().target(crate::id::MemberIndex::new(member as u32))
        } else {
            &self.given[self.given_start[member] as usize..self.given_start[member + 1] as usize]
        }
    }

    pub(super) fn memory_usage(&self) -> usize {
        self.runs.capacity() * size_of::<Run>()
            + (self.run_start.capacity() + self.given.capacity() + self.given_start.capacity()) * 4
            + self.block_bytes.capacity() * size_of::<usize>()
            + self.again.capacity()
            + self.returned.memory_usage()
    }
}

/// Whether two lists are the same; no early end, so that many are compared at a time.
fn equal(claims: &[u32], partitions: &[PartitionIndex]) -> bool {
    claims.len() == partitions.len()
        && claims.iter().zip(partitions).fold(0, |differ, (claim, p)| differ | (claim ^ p.get())) == 0
}

/// Appends the runs of an ascending list; the bytes of their blocks.
fn cut(
    topology: &Topology,
    heads: &Heads,
    partitions: &[PartitionIndex],
    runs: &mut Vec<Run>,
    longest: &mut usize,
) -> usize {
    let bases = topology.bases();
    let mut bytes = 0;
    let mut rest = partitions;
    let mut topic = 0;
    while let Some(&first) = rest.first() {
        // The next topic, mostly.
        if bases[topic + 1] <= first.get() {
            topic += 1;
            if bases[topic + 1] <= first.get() {
                topic = topology.topic_of(first).at();
            }
        }
        let end = bases[topic + 1];
        let len = rest.iter().position(|p| p.get() >= end).unwrap_or(rest.len());
        let name = heads.name_len(topic as u32);
        *longest = (*longest).max(name);
        bytes += BLOCK_BYTES + name + 4 * len;
        runs.push(Run { topic: topic as u32, len: len as u32 });
        rest = &rest[len..];
    }
    bytes
}

/// Bytes of the number of blocks in front of them.
pub(super) const COUNT_BYTES: usize = 4;

/// Bytes of a block beside its name and numbers: the two counts.
pub(super) const BLOCK_BYTES: usize = 6;
