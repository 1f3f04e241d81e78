//! The outcome of a leader's round, read from its scratch.

use alloc::string::ToString;
use alloc::vec::Vec;

use super::LeaderScratch;
use crate::codec::DecodeError;
use crate::group::Group;
use crate::id::MemberIndex;
use crate::owned::Findings;
use crate::plan::{Outcome, Plan, Stats};
use crate::protocol::message::SyncAssignment;
use crate::revoke::{Mode, Round};

/// A round that was led: everybody's assignment, and what is to be said about it.
#[derive(Debug, Clone, Copy)]
pub struct LeaderRound<'s> {
    scratch: &'s LeaderScratch,
    outcome: Outcome,
    mode: Mode,
    rejoin: bool,
}

impl<'s> LeaderRound<'s> {
    pub(super) const fn new(scratch: &'s LeaderScratch, outcome: Outcome, mode: Mode, rejoin: bool) -> Self {
        Self { scratch, outcome, mode, rejoin }
    }

    /// The assignments, each member once, in the order in which the members were given: id and bytes.
    pub fn assignments(&self) -> impl ExactSizeIterator<Item = (&'s str, &'s [u8])> + Clone + use<'s> {
        let scratch = self.scratch;
        scratch.output.firsts().iter().map(move |&position| {
            let member = MemberIndex::new(scratch.intake.member_of[position as usize]);
            (scratch.group.id(member), scratch.output.get(position as usize).unwrap_or_default())
        })
    }

    /// The assignment of the member that was given at this position; for an id that was listed before, the
    /// assignment of its first entry. `None` beyond the last.
    pub fn assignment(&self, position: usize) -> Option<&'s [u8]> {
        self.scratch.output.get(position)
    }

    /// All assignments one after the other, in the order of [`assignments`](Self::assignments).
    pub fn bytes(&self) -> &'s [u8] {
        self.scratch.output.bytes()
    }

    /// The assignments as a SyncGroup request has them. Allocates.
    pub fn to_sync(&self) -> Vec<SyncAssignment> {
        self.assignments()
            .map(|(id, bytes)| SyncAssignment { member_id: id.to_string(), assignment: bytes.to_vec() })
            .collect()
    }

    /// What the assignor says of its plan.
    pub const fn outcome(&self) -> &Outcome {
        &self.outcome
    }

    /// The plan's figures.
    pub const fn stats(&self) -> &Stats {
        &self.outcome.stats
    }

    /// What was odd about the claims.
    pub const fn findings(&self) -> &Findings {
        &self.outcome.findings
    }

    /// The members whose user data could not be read, by id, and why: they were treated as having no history
    /// (`sticky`, `tenure-cooperative-sticky`) or no generation (`cooperative-sticky`).
    pub fn unreadable(&self) -> impl ExactSizeIterator<Item = (&'s str, DecodeError)> + Clone + use<'s> {
        let scratch = self.scratch;
        let id = |member: u32| scratch.group.id(MemberIndex::new(member));
        scratch.intake.unreadable.iter().map(move |&(member, error)| (id(member), error))
    }

    /// Whether members must join again after this round.
    pub const fn rejoin(&self) -> bool {
        self.rejoin
    }

    /// The group that was read.
    pub const fn group(&self) -> &'s Group {
        &self.scratch.group
    }

    /// The plan that was made.
    pub const fn plan(&self) -> &'s Plan {
        &self.scratch.plan
    }

    /// The plan as a cooperative round: what each member keeps, gains and gives up.
    pub const fn round(&self) -> Round<'s> {
        Round::new(&self.scratch.group, &self.scratch.plan, self.mode)
    }
}
