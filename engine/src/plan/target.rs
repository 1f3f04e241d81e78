//! The plan: for each member the partitions that it should own, in one flat list.
//!
//! ```text
//! start        0        3     5          9        M + 1 numbers
//! partitions   0 4 9    1 2   3 5 6 7             P numbers at most, ascending within a member
//! transfers    bit p set: p still has a cooperative holder other than its member here
//! ```

use alloc::vec::Vec;

use super::assignor::ShapeError;
use crate::group::Shape;
use crate::id::{MemberIndex, PartitionIndex};
use crate::owned::claims::reserve;
use crate::owned::row;

/// The whole group's target, in memory that is used again.
///
/// Shapes: M + 1 starts, at most P partitions, a row of P bits. Read it through a
/// [`Round`](crate::revoke::Round) to see what members get now.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    pub(crate) shape: Shape,
    pub(crate) start: Vec<u32>,
    pub(crate) partitions: Vec<PartitionIndex>,
    pub(crate) transfers: Vec<u64>,
    pub(crate) transfer_count: u32,
    /// Every claim is kept: nobody has anything to give up.
    pub(crate) all_kept: bool,
    /// (member, partition): the member is the only holder of a partition that nobody subscribes to.
    pub(crate) orphans: Vec<(u32, u32)>,
}

impl Plan {
    /// A plan with memory for groups of this shape.
    pub fn with_shape(shape: Shape) -> Self {
        let mut plan = Self::default();
        plan.reset(shape);
        plan
    }

    /// Makes room for a shape; memory only grows.
    pub fn reset(&mut self, shape: Shape) {
        self.shape = self.shape.union(&shape);
        reserve(&mut self.start, self.shape.members + 1);
        reserve(&mut self.partitions, self.shape.partitions);
        reserve(&mut self.transfers, row::row_words(self.shape.partitions));
        reserve(&mut self.orphans, self.shape.claims);
        self.transfer_count = 0;
    }

    pub(super) fn check(&self, needed: &Shape) -> Result<(), ShapeError> {
        if self.shape.fits(needed) { Ok(()) } else { Err(ShapeError { needed: *needed, given: self.shape }) }
    }

    /// Looks at where the lists end, so that this is near when they are touched.
    pub(super) fn touch_ends(&self) -> usize {
        self.start.len() ^ self.partitions.len() ^ self.transfers.len() ^ self.transfer_count as usize
    }

    /// Looks at the lists, so that they are near when they are written.
    pub(super) fn touch_lists(&self) -> u64 {
        // As many lines as of the group's claims.
        let line = |list: &[PartitionIndex]| u64::from(list[0].get());
        self.partitions.chunks(16).take(16).map(line).fold(0, |all, one| all ^ one)
            ^ u64::from(self.start.first().copied().unwrap_or(0))
            ^ self.transfers.first().copied().unwrap_or(0)
    }

    /// Number of members planned for.
    pub fn members(&self) -> usize {
        self.start.len().saturating_sub(1)
    }

    /// What a member should own once nothing is withheld: ascending.
    ///
    /// # Panics
    ///
    /// If the index is not of the planned group.
    #[inline]
    pub fn target(&self, member: MemberIndex) -> &[PartitionIndex] {
        &self.partitions[self.start[member.at()] as usize..self.start[member.at() + 1] as usize]
    }

    /// How many partitions a member should own.
    #[inline]
    pub fn load(&self, member: MemberIndex) -> u32 {
        self.start[member.at() + 1] - self.start[member.at()]
    }

    /// Partitions planned, all members together.
    pub fn assigned(&self) -> usize {
        self.partitions.len()
    }

    /// Whether a partition is in transfer: a cooperative member other than its new owner still holds it.
    #[inline]
    pub fn in_transfer(&self, partition: PartitionIndex) -> bool {
        self.transfer_count != 0 && row::get(&self.transfers, partition.get())
    }

    /// How many partitions are in transfer.
    #[inline]
    pub fn transfer_count(&self) -> usize {
        self.transfer_count as usize
    }

    /// Heap bytes reserved.
    pub fn memory_usage(&self) -> usize {
        (self.start.capacity() + self.partitions.capacity()) * 4
            + self.transfers.capacity() * 8
            + self.orphans.capacity() * 8
    }
}
