//! Checking a proposal against a certificate: conditions (1), (2), (3) and the potentials of [the room](super).

use alloc::vec::Vec;
use core::fmt;

use super::certificate::{Certificate, NO_BLOCK};
use super::proposal::{Fault, Proposal};
use super::tally::Tally;
use crate::group::Group;
use crate::id::{ClassIndex, MemberIndex};
use crate::rack::Weights;

/// Figures of a plan that was found to be optimal.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct Figures {
    /// Sum of the squares of all loads.
    pub sum_of_squares: u64,
    /// Partitions that leave a valid owner.
    pub moves: u32,
    /// Partitions at odds with their owner's rack.
    pub rack_mismatches: u32,
}

/// Why a plan was not found to be optimal by a certificate: the plan may be worse, or the certificate wrong.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Refusal {
    /// The plan is not even valid.
    Invalid(Fault),
    /// A list of the certificate has not the group's length, or names a block that is not there.
    Shape {
        /// Which list.
        list: &'static str,
    },
    /// A load is neither the level of the member's block nor one less.
    Load {
        /// The member.
        member: MemberIndex,
        /// What it is given.
        load: u32,
        /// The level of its block; 0 without one.
        level: u32,
    },
    /// A member owns partitions of a class that has a subscriber at a lower level.
    Uphill {
        /// The class.
        class: ClassIndex,
        /// The member that owns.
        member: MemberIndex,
    },
    /// The members that may own a class are of two blocks of one level.
    TwoBlocks {
        /// The class.
        class: ClassIndex,
    },
    /// A member gives up a partition that it owned and gets another one that is worth the same.
    Swapped {
        /// The class of both.
        class: ClassIndex,
        /// The member.
        member: MemberIndex,
    },
    /// The potentials do not bear out that this step saves nothing.
    Cost {
        /// The member.
        member: MemberIndex,
        /// The class; `None` for the step between the member and its block's terminal.
        class: Option<ClassIndex>,
        /// How much it seems to save, in the weights of the objective.
        saves: i128,
    },
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Invalid(fault) => write!(f, "the plan is invalid: {fault}"),
            Self::Shape { list } => write!(f, "the certificate's list of {list} does not fit the group"),
            Self::Load { member, load, level } => {
                write!(f, "member #{member} has {load} partitions where its block allows {level} or one less")
            }
            Self::Uphill { class, member } => {
                write!(f, "member #{member} owns of class #{class}, which has a subscriber at a lower level")
            }
            Self::TwoBlocks { class } => {
                write!(
                    f,
                    "class #{class} is open to two blocks of one level; give one of them the next level"
                )
            }
            Self::Swapped { class, member } => {
                write!(f, "member #{member} exchanges partitions of class #{class} for nothing")
            }
            Self::Cost { member, class: Some(class), saves } => {
                write!(f, "between member #{member} and class #{class} a step seems to save {saves}")
            }
            Self::Cost { member, class: None, saves } => {
                write!(
                    f,
                    "member #{member} and the rest of its block seem to save {saves} by one more or less"
                )
            }
        }
    }
}

impl core::error::Error for Refusal {}

/// Whether a plan is optimal, by a certificate for its group.
///
/// Passing proves that no plan has better balance, and none of that balance has a lower cost in the order of
/// the certificate's objective. If the certificate is right, being refused proves the opposite.
///
/// Cost: O(P log C + claims log T + M + A); reads the certificate once.
/// Source: [the proof](crate::verify).
///
/// # Errors
///
/// The first thing found amiss with the plan or with the certificate.
///
/// # Panics
///
/// If the proposal was made for another group.
pub fn check(group: &Group, proposal: &Proposal, certificate: &Certificate) -> Result<Figures, Refusal> {
    if let Some(fault) = proposal.faults(group).into_iter().next() {
        return Err(Refusal::Invalid(fault));
    }
    check_shape(group, certificate)?;
    let tally = Tally::of(group, proposal);
    check_loads(group, certificate, &tally)?;
    let open_level = open_levels(group, certificate)?;
    check_arcs(group, certificate, &tally, &open_level)?;
    check_terminals(group, certificate, &tally)?;
    Ok(Figures {
        sum_of_squares: tally.load.iter().map(|&load| u64::from(load) * u64::from(load)).sum(),
        moves: tally.moves,
        rack_mismatches: tally.mismatches,
    })
}

fn check_shape(group: &Group, certificate: &Certificate) -> Result<(), Refusal> {
    let blocks = certificate.level.len();
    let fits = [
        ("blocks of members", certificate.block.len() == group.members()),
        ("potentials of members", certificate.member.len() == group.members()),
        ("potentials of classes", certificate.class.len() == group.classes().len()),
        ("potentials of terminals", certificate.terminal.len() == blocks),
        ("levels", certificate.block.iter().all(|&block| block == NO_BLOCK || (block as usize) < blocks)),
    ];
    match fits.iter().find(|(_, fits)| !fits) {
        Some(&(list, _)) => Err(Refusal::Shape { list }),
        None => Ok(()),
    }
}

/// Condition (1).
fn check_loads(group: &Group, certificate: &Certificate, tally: &Tally) -> Result<(), Refusal> {
    for member in group.member_indices() {
        let (load, block) = (tally.load[member.at()], certificate.block[member.at()]);
        let level = if block == NO_BLOCK { 0 } else { certificate.level[block as usize] };
        if load != level && load.checked_add(1) != Some(level) {
            return Err(Refusal::Load { member, load, level });
        }
    }
    Ok(())
}

/// The least level among each class's subscribers, and condition (3). Classes without a partition, through
/// which nothing can flow, have none.
fn open_levels(group: &Group, certificate: &Certificate) -> Result<Vec<u32>, Refusal> {
    let classes = group.classes();
    let mut levels = Vec::with_capacity(classes.len());
    for (class, bounds) in classes.class_start.windows(2).enumerate() {
        let mut least: Option<(u32, u32)> = None;
        let mut two = false;
        for &member in &classes.class_member[bounds[0] as usize..bounds[1] as usize] {
            let block = certificate.block[member as usize];
            // A subscriber outside all blocks: as if it stood at level 0, which only a load of 0 fits.
            let level = if block == NO_BLOCK { 0 } else { certificate.level[block as usize] };
            match least {
                Some((low, _)) if low < level => {}
                Some((low, other)) if low == level => two |= block != other,
                _ => (least, two) = (Some((level, block)), false),
            }
        }
        if two && classes.size[class] > 0 {
            return Err(Refusal::TwoBlocks { class: ClassIndex::new(class as u32) });
        }
        levels.push(least.map_or(0, |(level, _)| level));
    }
    Ok(levels)
}

/// Condition (2), and the potentials along arcs.
fn check_arcs(
    group: &Group,
    certificate: &Certificate,
    tally: &Tally,
    open_level: &[u32],
) -> Result<(), Refusal> {
    let classes = group.classes();
    let weights = Weights::of(group, certificate.objective);
    for member in group.member_indices() {
        let block = certificate.block[member.at()];
        let level = if block == NO_BLOCK { 0 } else { certificate.level[block as usize] };
        let from = classes.member_start[member.at()] as usize;
        let to = classes.member_start[member.at() + 1] as usize;
        for arc in from..to {
            let class = ClassIndex::new(classes.arc_class[arc]);
            let (flow, home) = (tally.flow[arc], tally.home[arc]);
            if classes.size[class.at()] == 0 {
                continue;
            }
            if tally.kept[arc] != flow.min(home) {
                return Err(Refusal::Swapped { class, member });
            }
            if open_level[class.at()] != level {
                if flow > 0 {
                    return Err(Refusal::Uphill { class, member });
                }
                continue;
            }
            let potential = i128::from(certificate.member[member.at()]);
            let rise = i128::from(certificate.class[class.at()]) - potential;
            let at_odds = classes.mismatch.get(arc) == Some(&true);
            let mismatch = if at_odds { i128::from(weights.mismatch) } else { 0 };
            let back = if flow < home { i128::from(weights.moved) } else { 0 };
            let take = rise + mismatch - back;
            let away = if flow <= home { i128::from(weights.moved) } else { 0 };
            let give = if flow > 0 { -rise - mismatch + away } else { 0 };
            if take < 0 || give < 0 {
                return Err(Refusal::Cost { member, class: Some(class), saves: -take.min(give) });
            }
        }
    }
    Ok(())
}

/// The potentials between members and terminals.
fn check_terminals(group: &Group, certificate: &Certificate, tally: &Tally) -> Result<(), Refusal> {
    for member in group.member_indices() {
        let block = certificate.block[member.at()] as usize;
        let Some(&level) = certificate.level.get(block) else { continue };
        if level == 0 {
            continue;
        }
        let rise = i128::from(certificate.terminal[block]) - i128::from(certificate.member[member.at()]);
        // At the level it may end with one less, below it with one more.
        let saves = if tally.load[member.at()] == level { -rise } else { rise };
        if saves > 0 {
            return Err(Refusal::Cost { member, class: None, saves });
        }
    }
    Ok(())
}
