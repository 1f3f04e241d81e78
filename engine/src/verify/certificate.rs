//! The certificate: blocks with their levels, and potentials.

use alloc::vec::Vec;

use crate::group::Shape;
use crate::rack::Objective;

/// In [`Certificate::block`]: a member that no class may go to, because it subscribes to no existing topic.
pub const NO_BLOCK: u32 = u32::MAX;

/// Shows that a plan is of best balance, and of least cost among those; see [the room](crate::verify) for what
/// each number must satisfy and why that proves it.
///
/// Whoever makes a plan fills it; the memory is the caller's and is used again.
///
/// Shapes: M members, C classes, B blocks (at most M), all in the group's own indices.
/// Memory: 12 bytes a member, 8 a class, 12 a block.
/// Units: potentials in those of [`Weights`](crate::rack::Weights) for [`objective`](Self::objective).
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Certificate {
    /// The order of criteria that the potentials are about.
    pub objective: Objective,
    /// The block of each member, or [`NO_BLOCK`]; M.
    pub block: Vec<u32>,
    /// The level of each block: its members own that many or one less; B. Any order, equal levels allowed.
    pub level: Vec<u32>,
    /// π of each member; M. That of a member without a block is not read.
    pub member: Vec<i64>,
    /// π of each class; C.
    pub class: Vec<i64>,
    /// π of each block's terminal; B.
    pub terminal: Vec<i64>,
}

impl Certificate {
    /// An empty certificate with memory for groups of this shape.
    pub fn with_shape(shape: Shape) -> Self {
        let mut certificate = Self::default();
        certificate.reset(shape);
        certificate
    }

    /// Empties it and makes room for a shape; memory only grows.
    pub fn reset(&mut self, shape: Shape) {
        self.clear();
        self.block.reserve(shape.members);
        self.level.reserve(shape.members);
        self.member.reserve(shape.members);
        self.class.reserve(shape.classes);
        self.terminal.reserve(shape.members);
    }

    /// Empties it; keeps the memory.
    pub fn clear(&mut self) {
        self.block.clear();
        self.level.clear();
        self.member.clear();
        self.class.clear();
        self.terminal.clear();
    }

    /// Number of blocks, B.
    pub fn blocks(&self) -> usize {
        self.level.len()
    }

    /// Heap bytes reserved.
    pub fn memory_usage(&self) -> usize {
        let words = self.block.capacity() + self.level.capacity();
        let potentials = self.member.capacity() + self.class.capacity() + self.terminal.capacity();
        words * 4 + potentials * 8
    }
}
