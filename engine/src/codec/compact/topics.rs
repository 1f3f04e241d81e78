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
    repeats: bool,
}

impl<'a> TopicList<'a> {
    /// Sorts the names, if they are not sorted, and makes their checksum.
    ///
    /// Cost: O(bytes of names), and an allocation only to sort.
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
        list.repeats = list.names().windows(2).any(|pair| matches!(pair, [a, b] if a == b));
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

    /// Where `name` is; `near` is where it is guessed to be, or a little before.
    #[inline]
    pub(super) fn find(&self, name: &str, near: usize) -> Option<usize> {
        let names = self.names();
        if !self.repeats {
            let ahead = names.get(near..).unwrap_or_default();
            if let Some(skipped) = ahead.iter().take(LOOK_AHEAD).position(|known| same(known, name)) {
                return Some(near.saturating_add(skipped));
            }
        }
        let at = names.partition_point(|known| utf16_cmp(known, name) == Ordering::Less);
        names.get(at).is_some_and(|known| *known == name).then_some(at)
    }
}

/// So many names are compared before the list is searched.
const LOOK_AHEAD: usize = 6;

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
