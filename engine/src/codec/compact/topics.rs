//! A subscription's topic list, made ready for writing.

use alloc::vec::Vec;
use core::cmp::Ordering;

use crate::codec::error::EncodeError;
use crate::codec::writer::too_long;
use crate::id::utf16_cmp;

/// The topics of a subscription in the order in which they go on the wire, and their checksum.
///
/// A member makes it once a subscription and uses it for every join.
///
/// Order: whatever the order given, that of [`SubscriptionFields`](crate::codec::SubscriptionFields): by UTF-16 unit,
/// repeated names kept.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TopicList<'a> {
    given: &'a [&'a str],
    /// The names if they were not given so; else empty. A `Cow` would tie all lifetimes to each other.
    sorted: Vec<&'a str>,
    seal: u32,
    /// An open table of places plus one, by the names' hashes; 0 is an empty slot, and half of them are empty.
    slots: Vec<u32>,
}

impl<'a> TopicList<'a> {
    /// Sorts the names, if they are not sorted, and makes their checksum and a table to find them.
    ///
    /// Cost: O(bytes of names), and two allocations at most.
    ///
    /// # Errors
    /// A name above 32,767 bytes.
    pub fn new(names: &'a [&'a str]) -> Result<Self, EncodeError> {
        let mut list = Self { given: names, ..Self::default() };
        if !names.is_sorted_by(|a, b| utf16_cmp(a, b) != Ordering::Greater) {
            list.sorted = names.to_vec();
            list.sorted.sort_by(|a, b| utf16_cmp(a, b));
        }
        let mut hasher = crc32fast::Hasher::new();
        for name in list.names() {
            let Ok(len) = i16::try_from(name.len()) else {
                return Err(too_long("topic", name.len(), 0x7fff));
            };
            hasher.update(&len.to_be_bytes());
            hasher.update(name.as_bytes());
        }
        list.seal = hasher.finalize();
        list.slots.resize(list.names().len().saturating_mul(2).next_power_of_two(), 0);
        for place in 0..list.names().len() {
            let Some(name) = list.names().get(place).copied() else { break };
            // Of a repeated name the first place counts.
            if let Err(slot) = list.look_up(name)
                && let Some(slot) = list.slots.get_mut(slot)
            {
                *slot = u32::try_from(place).unwrap_or(u32::MAX).saturating_add(1);
            }
        }
        Ok(list)
    }

    /// The names in the order of the wire.
    #[must_use]
    pub fn names(&self) -> &[&'a str] {
        if self.sorted.is_empty() { self.given } else { &self.sorted }
    }

    /// The checksum of the list's bytes on the wire.
    #[must_use]
    pub const fn seal(&self) -> u32 {
        self.seal
    }

    /// Where `name` is.
    ///
    /// Cost: one hash and mostly one comparison, without a branch that can't be foreseen. Walking along the list, which is
    /// sorted as the names asked for mostly are, was twice as slow: how many names to skip is anybody's guess.
    #[inline]
    pub(super) fn find(&self, name: &str) -> Option<usize> {
        self.look_up(name).ok()
    }

    /// The place of a name, or the empty slot where it belongs.
    #[inline]
    fn look_up(&self, name: &str) -> Result<usize, usize> {
        let mask = self.slots.len().wrapping_sub(1);
        let mut slot = hash(name.as_bytes()) as usize & mask;
        loop {
            let place = match self.slots.get(slot) {
                Some(&place) if place > 0 => (place as usize).wrapping_sub(1),
                _ => return Err(slot),
            };
            if self.names().get(place).is_some_and(|known| same(known, name)) {
                return Ok(place);
            }
            slot = slot.wrapping_add(1) & mask;
        }
    }
}

/// A hash of all bytes, eight at a time; the last eight overlap those before.
#[inline]
fn hash(name: &[u8]) -> u64 {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    // Names differ in their last characters, which are the highest bits of a word: the upper half of the product has them.
    let mix = |hash: u64, word: u64| {
        let product = u128::from(hash ^ word).wrapping_mul(u128::from(FACTOR));
        product as u64 ^ (product >> 64) as u64
    };
    let mut hash = name.len() as u64;
    match name.last_chunk::<8>() {
        Some(last) => {
            for word in name.as_chunks::<8>().0 {
                hash = mix(hash, u64::from_le_bytes(*word));
            }
            hash = mix(hash, u64::from_le_bytes(*last));
        }
        None => {
            for &byte in name {
                hash = (hash << 8) | u64::from(byte);
            }
            hash = mix(hash, 0);
        }
    }
    hash
}

/// Equality that needs no call for names of 8 to 32 bytes: two pieces that overlap cover them.
#[inline]
fn same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    if a.len() != b.len() {
        return false;
    }
    match a.len() {
        // The end first: that is where names of one group differ.
        8..=16 => a.last_chunk::<8>() == b.last_chunk::<8>() && a.first_chunk::<8>() == b.first_chunk::<8>(),
        17..=32 => {
            a.last_chunk::<16>() == b.last_chunk::<16>() && a.first_chunk::<16>() == b.first_chunk::<16>()
        }
        _ => a.last() == b.last() && a == b,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may stop")]
mod tests {
    use super::*;
    use alloc::string::String;

    #[test]
    fn every_name_is_found_at_its_first_place_and_no_other() {
        let names: Vec<String> =
            (0..500).map(|number| alloc::format!("team-{}-orders-of-{number}-events", number % 7)).collect();
        let short: Vec<String> = (0..40).map(|len| "n".repeat(len)).collect();
        let all: Vec<&str> = names.iter().chain(&short).chain(&short).map(String::as_str).collect();
        let list = TopicList::new(&all).unwrap();
        for name in &all {
            assert_eq!(list.find(name), list.names().iter().position(|known| known == name), "{name}");
        }
        for strange in ["", "m", "team-0-orders-of-500-events", "team-1-orders-of-0-events"] {
            assert_eq!(list.find(strange).is_some(), all.contains(&strange), "{strange}");
        }
        // And most of them at the first look.
        let count = |text: &str| {
            let names: Vec<String> = (0..100).map(|number| alloc::format!("{text}{number:05}")).collect();
            let slots: alloc::collections::BTreeSet<u64> =
                names.iter().map(|name| hash(name.as_bytes()) & 255).collect();
            slots.len()
        };
        for text in ["t", "topic-", "a-rather-long-name-of-a-topic-"] {
            assert!(count(text) > 65, "{text}: {} slots", count(text));
        }
        assert_eq!(TopicList::new(&[]).unwrap().find("a"), None);
        assert_eq!(TopicList::default().find("a"), None);
    }

    #[test]
    fn names_are_the_same_if_all_their_bytes_are() {
        let text: String = ('!'..='~').cycle().take(80).collect();
        for len in 0..=70 {
            let name = &text[..len];
            assert!(same(name, &String::from(name)));
            assert!(!same(name, &text[..len + 1]) && !same(&text[..len + 1], name));
            for at in 0..len {
                let mut other = String::from(name);
                other.replace_range(at..=at, " ");
                assert!(!same(name, &other), "{len} bytes, the one at {at} differs");
            }
        }
    }
}
