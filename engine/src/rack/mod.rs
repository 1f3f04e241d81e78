//! What a partition costs at a member: rack mismatches (KIP-881) and moves, and which of them counts first.
//!
//! A partition is *mismatched* at a member if the racks of its replicas are known, the member's rack is
//! known, and none of the replicas is there. Both counts are summed up in one integer: the first in the
//! order weighs more than all that the second can add up to, so the least sum is the least pair.

use crate::group::Group;

/// What comes first after balance, when racks are known.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[non_exhaustive]
pub enum Objective {
    /// Fewest rack mismatches, then fewest moves: Kafka's order (KIP-881).
    #[default]
    RackThenMoves,
    /// Fewest moves, then fewest rack mismatches.
    MovesThenRack,
}

/// What one rack mismatch and one move cost, in the same integer unit.
///
/// # Examples
///
/// ```
/// use tenure::rack::{Objective, Weights};
/// use tenure::{Group, Topology};
///
/// let topology = Topology::builder().topic_with_racks("t", &[vec!["r0"], vec!["r1"]]).build()?;
/// let mut builder = Group::builder(&topology);
/// builder.member("a").topic("t").rack("r1");
/// let group = builder.build()?;
/// let weights = Weights::of(&group, Objective::RackThenMoves);
/// assert_eq!((weights.mismatch, weights.moved), (3, 1), "two partitions at most can move");
/// # Ok::<(), tenure::topology::BuildError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Weights {
    /// The cost of one rack mismatch.
    pub mismatch: i64,
    /// The cost of one move.
    pub moved: i64,
}

impl Weights {
    /// The weights of a group: 1 for the second criterion, one more than all partitions that can be assigned
    /// for the first. Where no rack counts, a move costs 1.
    pub fn of(group: &Group, objective: Objective) -> Self {
        let classes = group.classes();
        let first = i64::from(classes.assignable) + 1;
        match objective {
            _ if !classes.by_rack() => Self { mismatch: 0, moved: 1 },
            Objective::RackThenMoves => Self { mismatch: first, moved: 1 },
            Objective::MovesThenRack => Self { mismatch: 1, moved: first },
        }
    }
}
