//! Names in one buffer, found by hash, listed only in their own order.

use core::hash::BuildHasher;

use alloc::string::String;
use alloc::vec::Vec;
use hashbrown::{DefaultHashBuilder, HashTable};

/// A list of names in one flat buffer; clearing and cloning into it keep the memory.
#[derive(Debug, Default)]
pub(crate) struct Names {
    text: String,
    ends: Vec<u32>,
}

impl Clone for Names {
    fn clone(&self) -> Self {
        Self { text: self.text.clone(), ends: self.ends.clone() }
    }

    fn clone_from(&mut self, source: &Self) {
        self.text.clone_from(&source.text);
        self.ends.clone_from(&source.ends);
    }
}

impl Names {
    pub(crate) fn clear(&mut self) {
        self.text.clear();
        self.ends.clear();
    }

    /// Appends a name. False, and nothing done, if the buffer would pass 4 GiB.
    pub(crate) fn push(&mut self, name: &str) -> bool {
        let Ok(end) = u32::try_from(self.text.len() + name.len()) else { return false };
        self.text.push_str(name);
        self.ends.push(end);
        true
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    #[inline]
    pub(crate) fn get(&self, at: usize) -> &str {
        let start = if at == 0 { 0 } else { self.ends[at - 1] as usize };
        &self.text[start..self.ends[at] as usize]
    }

    pub(crate) fn memory_usage(&self) -> usize {
        self.text.capacity() + self.ends.capacity() * 4
    }
}

/// From a name to its place in a [`Names`] list. It can be asked, never walked: the order of a hash map
/// must not reach a plan.
#[derive(Clone, Debug, Default)]
pub(crate) struct NameIndex {
    table: HashTable<u32>,
    hasher: DefaultHashBuilder,
}

impl NameIndex {
    #[inline]
    pub(crate) fn find(&self, names: &Names, name: &str) -> Option<u32> {
        let hash = self.hasher.hash_one(name);
        self.table.find(hash, |&at| names.get(at as usize) == name).copied()
    }

    /// Enters the name at `at`; it must not be there yet.
    pub(crate) fn insert(&mut self, names: &Names, at: u32) {
        let hash = self.hasher.hash_one(names.get(at as usize));
        let hasher = &self.hasher;
        self.table.insert_unique(hash, at, |&at| hasher.hash_one(names.get(at as usize)));
    }
}
