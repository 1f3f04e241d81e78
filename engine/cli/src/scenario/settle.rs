//! Rounds until a group is quiet, and what stops meanwhile.

use tenure::Group;
use tenure::id::{Generation, PartitionIndex};
use tenure::plan::{Assignor, Outcome, Plan, Scratch, ShapeError};
use tenure::revoke::{Mode, Round};
use tenure::topology::BuildError;

use super::copy::{Claims, Copier};

/// A quiet group, and what it took.
#[derive(Clone, Debug)]
pub struct Settled {
    /// The group, each member owning its part.
    pub group: Group,
    /// What the assignor said in the first round.
    pub outcome: Outcome,
    /// Partitions that left a valid owner, all rounds together.
    pub moves: u64,
    /// Rounds until nobody had to join again.
    pub rounds: u32,
    /// Existing partitions that a member had to give up, each once.
    pub given_up: u64,
    /// Existing partitions that members claimed before the first round, each once.
    pub owned: u64,
}

/// More rounds than any group needs: two for what moves, a few more for what does not exist.
const ROUNDS_MAX: u32 = 64;

/// Plays rounds in the same memory.
#[derive(Debug)]
pub struct Settler {
    assignor: Assignor,
    mode: Mode,
    scratch: Scratch,
    plan: Plan,
}

impl Settler {
    /// A settler that plans with this assignor.
    pub fn new(assignor: Assignor, mode: Mode) -> Self {
        Self { assignor, mode, scratch: Scratch::default(), plan: Plan::default() }
    }

    /// Plans and hands out until nobody has to join again.
    ///
    /// # Errors
    ///
    /// None for groups that were built before.
    pub fn settle(&mut self, group: Group) -> Result<Settled, SettleError> {
        let mut given_up = vec![false; group.topology().partitions()];
        let owned = claimed(&group);
        let (mut group, mut moves, mut rounds) = (group, 0, 0);
        let mut first = None;
        loop {
            self.scratch.reset(group.shape());
            self.plan.reset(group.shape());
            let outcome = self.assignor.assign_into(&group, &mut self.scratch, &mut self.plan)?;
            let round = Round::new(&group, &self.plan, self.mode);
            for p in group.member_indices().flat_map(|member| round.revoked(member)) {
                given_up[p.at()] = true;
            }
            moves += u64::from(outcome.stats.moves);
            rounds += 1;
            let outcome = *first.get_or_insert(outcome);
            let rejoin = round.rejoin();
            let next = advance(&round)?;
            group = next;
            if !rejoin || rounds == ROUNDS_MAX {
                let given_up = count(&given_up);
                return Ok(Settled { group, outcome, moves, rounds, given_up, owned });
            }
        }
    }
}

/// Why rounds could not be played: a fault of the engine.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum SettleError {
    /// The scratch did not fit.
    Shape(Box<ShapeError>),
    /// The next round's group could not be built.
    Build(BuildError),
}

impl core::fmt::Display for SettleError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Shape(error) => error.fmt(f),
            Self::Build(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for SettleError {}

impl From<ShapeError> for SettleError {
    fn from(error: ShapeError) -> Self {
        Self::Shape(Box::new(error))
    }
}

impl From<BuildError> for SettleError {
    fn from(error: BuildError) -> Self {
        Self::Build(error)
    }
}

/// The next round's group: everyone claims what it was given, one generation on.
fn advance(round: &Round<'_>) -> Result<Group, BuildError> {
    let group = round.group();
    let generations = group.member_indices().map(|member| Generation::to_wire(group.generation(member)));
    let generation = generations.max().unwrap_or(-1).saturating_add(1);
    let mut copier = Copier::new(group.topology());
    for member in group.member_indices() {
        copier.member(group, member, &[], Claims::Given(round, generation));
    }
    copier.build()
}

/// Existing partitions that somebody claims.
fn claimed(group: &Group) -> u64 {
    let mut seen = vec![false; group.topology().partitions()];
    let all: &mut dyn Iterator<Item = PartitionIndex> =
        &mut group.member_indices().flat_map(|member| group.claims(member));
    for p in all {
        seen[p.at()] = true;
    }
    count(&seen)
}

fn count(marks: &[bool]) -> u64 {
    marks.iter().filter(|mark| **mark).count() as u64
}
