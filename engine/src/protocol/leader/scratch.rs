//! The memory of a leader's rounds.

use super::heads::Heads;
use super::intake::Intake;
use super::layout::Layout;
use super::output::Output;
use crate::group::{Group, GroupBuilder};
use crate::plan::{Plan, Scratch};

/// All memory that a leader's round needs: the group, the plan, and the bytes that go out.
///
/// Its contents never matter: any round gives the same bytes with any scratch. It grows to the largest round it has
/// served, and from the second round of a size on allocates nothing more.
#[derive(Debug, Clone, Default)]
pub struct LeaderScratch {
    pub(super) heads: Heads,
    pub(super) intake: Intake,
    pub(super) builder: GroupBuilder,
    pub(super) group: Group,
    pub(super) plan_scratch: Scratch,
    pub(super) plan: Plan,
    pub(super) layout: Layout,
    pub(super) output: Output,
}

impl LeaderScratch {
    /// An empty one; the first rounds make room.
    pub fn new() -> Self {
        Self::default()
    }

    /// Heap bytes reserved, the builder's own lists not counted.
    pub fn memory_usage(&self) -> usize {
        self.heads.memory_usage()
            + self.intake.memory_usage()
            + self.group.memory_usage()
            + self.plan_scratch.memory_usage()
            + self.plan.memory_usage()
            + self.layout.memory_usage()
            + self.output.memory_usage()
    }
}
