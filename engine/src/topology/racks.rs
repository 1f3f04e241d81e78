//! Racks of replicas: each different set of racks once, a set number per partition.

use alloc::vec::Vec;

use super::names::{NameIndex, Names};
use crate::id::RackIndex;

/// Rack names in order, and the rack set of each partition. Set 0 is the empty one: unknown.
#[derive(Debug, Default)]
pub(crate) struct Racks {
    names: Names,
    index: NameIndex,
    set_of: Vec<u32>,
    starts: Vec<u32>,
    racks: Vec<RackIndex>,
    replicas: usize,
}

impl Racks {
    /// `sets` are sorted, distinct lists; the first is empty. `set_of` is empty if no rack is known at all.
    pub(crate) fn new(names: Names, set_of: Vec<u32>, sets: &[Vec<RackIndex>]) -> Self {
        let mut index = NameIndex::default();
        for at in 0..names.len() {
            index.insert(&names, at as u32);
        }
        let mut starts = Vec::with_capacity(sets.len() + 1);
        let mut racks = Vec::new();
        starts.push(0);
        for set in sets {
            racks.extend_from_slice(set);
            starts.push(racks.len() as u32);
        }
        let replicas = set_of.iter().map(|&set| sets[set as usize].len()).sum();
        Self { names, index, set_of, starts, racks, replicas }
    }

    pub(crate) fn known(&self) -> bool {
        !self.set_of.is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        self.names.len()
    }

    pub(crate) fn sets(&self) -> usize {
        self.starts.len().saturating_sub(1).max(1)
    }

    pub(crate) fn find(&self, name: &str) -> Option<RackIndex> {
        self.index.find(&self.names, name).map(RackIndex::new)
    }

    pub(crate) fn name(&self, rack: RackIndex) -> &str {
        self.names.get(rack.at())
    }

    #[inline]
    pub(crate) fn replicas(&self) -> usize {
        self.replicas
    }

    #[inline]
    pub(crate) fn set_of(&self, partition: usize) -> u32 {
        if self.set_of.is_empty() { 0 } else { self.set_of[partition] }
    }

    #[inline]
    pub(crate) fn set(&self, set: u32) -> &[RackIndex] {
        let set = set as usize;
        if self.starts.len() < 2 {
            return &[];
        }
        &self.racks[self.starts[set] as usize..self.starts[set + 1] as usize]
    }

    pub(crate) fn memory_usage(&self) -> usize {
        self.names.memory_usage()
            + (self.set_of.capacity() + self.starts.capacity() + self.racks.capacity()) * 4
    }
}
