//! A subscription's topic list, made ready for writing.

use alloc::vec;
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
    /// An open table of places, by the names' hashes; half of the slots are empty, which is [`NOWHERE`].
    slots: Vec<u32>,
    /// For the names that share the lowest bits of their hashes, from which bit on these say the slot: chosen so that
    /// each name has a slot for itself, as far as there is such a choice.
    shifts: Vec<u8>,
}

impl<'a> TopicList<'a> {
    /// Sorts the names, if they are not sorted, and makes their checksum and a table to find them.
    ///
    /// Cost: O(bytes of names), and five allocations at most.
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
        (list.slots, list.shifts) = table(list.names());
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

    /// The place of a topic in the list, the first one if its name is repeated: what a [`Claim`](super::Claim) of data
    /// without names of its own has as topic.
    ///
    /// Cost: O(bytes of the name).
    ///
    /// # Examples
    ///
    /// ```
    /// use tenure::codec::compact::TopicList;
    ///
    /// let list = TopicList::new(&["orders", "clicks"])?;
    /// assert_eq!(list.names(), ["clicks", "orders"]);
    /// assert_eq!((list.find("orders"), list.find("emails")), (Some(1), None));
    /// # Ok::<(), tenure::codec::EncodeError>(())
    /// ```
    #[must_use]
    pub fn find(&self, name: &str) -> Option<u32> {
        Some(self.finder().find(name)).filter(|&place| place != NOWHERE)
    }

    /// What finds names in the list.
    pub(super) fn finder(&self) -> Finder<'_, 'a> {
        Finder { names: self.names(), slots: &self.slots, shifts: &self.shifts }
    }
}

/// The parts of a list by which names are found, at hand for a loop.
#[derive(Debug, Clone, Copy)]
pub(super) struct Finder<'l, 'a> {
    names: &'l [&'a str],
    slots: &'l [u32],
    shifts: &'l [u8],
}

impl Finder<'_, '_> {
    /// Where `name` is, or [`NOWHERE`].
    ///
    /// Cost: one hash and one comparison, without a branch that can't be foreseen. Walking along the list, which is
    /// sorted as the names asked for mostly are, was twice as slow: how many names to skip is anybody's guess. So was a
    /// table in which a fifth of the names were not at the first look: whether one is can't be foreseen either.
    #[inline]
    pub(super) fn find(&self, name: &str) -> u32 {
        // Names of 8 to 16 bytes are two words that overlap, and equal if those are: no loop and no call.
        let bytes = name.as_bytes();
        let (Some(first), Some(last), true) =
            (bytes.first_chunk::<8>(), bytes.last_chunk::<8>(), bytes.len() <= 16)
        else {
            return self.find_long(name);
        };
        self.probe(hash_two(bytes.len(), *first, *last), |known| {
            let known = known.as_bytes();
            // The end first: there they differ.
            known.len() == bytes.len()
                && known.last_chunk::<8>() == Some(last)
                && known.first_chunk::<8>() == Some(first)
        })
    }

    #[inline(never)]
    fn find_long(&self, name: &str) -> u32 {
        self.probe(hash(name.as_bytes()), |known| same(known, name))
    }

    #[inline]
    fn probe(&self, hash: u64, is: impl Fn(&str) -> bool) -> u32 {
        let Some(mut slot) = self.first_slot(hash) else { return NOWHERE };
        loop {
            let Some(&place) = self.slots.get(slot) else { return NOWHERE };
            // In an empty slot is no place in the list.
            let Some(known) = self.names.get(place as usize) else { return NOWHERE };
            if is(known) {
                return place;
            }
            slot = slot.wrapping_add(1) & self.slots.len().wrapping_sub(1);
        }
    }

    #[inline]
    fn first_slot(&self, hash: u64) -> Option<usize> {
        let shift = self.shifts.get(hash as usize & self.shifts.len().wrapping_sub(1))?;
        Some(hash.wrapping_shr(u32::from(*shift)) as usize & self.slots.len().wrapping_sub(1))
    }
}

/// The place of a name that is not in the list.
pub(super) const NOWHERE: u32 = u32::MAX;

/// Gives each of the sorted names a slot: first those that share the bits of their hashes with many, while there is room.
fn table(names: &[&str]) -> (Vec<u32>, Vec<u8>) {
    let mut slots = vec![NOWHERE; names.len().saturating_mul(2).next_power_of_two()];
    let mut shifts = vec![0; names.len().div_ceil(2).next_power_of_two()];
    let bucket_mask = shifts.len().wrapping_sub(1);
    let shift_max = u64::BITS.saturating_sub(slots.len().trailing_zeros()).min(63) as u8;
    // Each name's hash, and one more than the place of the next name in its bucket; the first of each bucket, how many.
    let mut chain: Vec<(u64, u32)> = Vec::with_capacity(names.len());
    let mut buckets = vec![(0_u32, 0_u8); shifts.len()];
    for (name, place) in names.iter().zip(1_u32..) {
        let hash = hash(name.as_bytes());
        let mut next = 0;
        // Of a repeated name the first place counts.
        let before = (place as usize).checked_sub(2).and_then(|before| names.get(before));
        if before != Some(name)
            && let Some((first, many)) = buckets.get_mut(hash as usize & bucket_mask)
        {
            next = core::mem::replace(first, place);
            *many = many.saturating_add(1).min(MANY);
        }
        chain.push((hash, next));
    }
    for size in (1..=MANY).rev() {
        for ((first, many), shift) in buckets.iter().zip(&mut shifts) {
            if *many == size {
                let fits = (0..=shift_max).find(|&shift| settle(&chain, *first, shift, &mut slots));
                *shift = fits.unwrap_or_else(|| {
                    crowd(&chain, *first, &mut slots);
                    0
                });
            }
        }
    }
    (slots, shifts)
}

/// Buckets of more names are as ones of so many.
const MANY: u8 = 8;

/// The places and the hashes of a bucket's names.
fn bucket(chain: &[(u64, u32)], first: u32) -> impl Iterator<Item = (u32, u64)> {
    let mut next = first;
    core::iter::from_fn(move || {
        let place = next;
        let (hash, then) = *chain.get((place as usize).checked_sub(1)?)?;
        next = then;
        Some((place.wrapping_sub(1), hash))
    })
}

/// Gives each name of a bucket the slot that its hash says from bit `shift` on; none of them if one is taken.
fn settle(chain: &[(u64, u32)], first: u32, shift: u8, slots: &mut [u32]) -> bool {
    let mask = slots.len().wrapping_sub(1);
    let slot = |hash: u64| hash.wrapping_shr(u32::from(shift)) as usize & mask;
    for (done, (place, hash)) in bucket(chain, first).enumerate() {
        match slots.get_mut(slot(hash)) {
            Some(free @ &mut NOWHERE) => *free = place,
            _ => {
                for (_, hash) in bucket(chain, first).take(done) {
                    if let Some(taken) = slots.get_mut(slot(hash)) {
                        *taken = NOWHERE;
                    }
                }
                return false;
            }
        }
    }
    true
}

/// Gives each name of a bucket the first empty slot from that of its hash on.
#[cold]
fn crowd(chain: &[(u64, u32)], first: u32, slots: &mut [u32]) {
    let mask = slots.len().wrapping_sub(1);
    for (place, hash) in bucket(chain, first) {
        let from = hash as usize & mask;
        let mut after = (0..slots.len()).map(|step| from.wrapping_add(step) & mask);
        if let Some(empty) = after.find(|&slot| slots.get(slot) == Some(&NOWHERE))
            && let Some(slot) = slots.get_mut(empty)
        {
            *slot = place;
        }
    }
}

/// A hash of all bytes, sixteen at a time; the last sixteen overlap those before.
fn hash(name: &[u8]) -> u64 {
    match (name.first_chunk::<8>(), name.last_chunk::<8>(), name.last_chunk::<16>()) {
        (.., Some(end)) if name.len() > 16 => {
            let pieces = name.as_chunks::<16>().0.iter().chain([end]);
            pieces.fold(name.len() as u64 ^ FACTORS[0], |hash, piece| {
                let [a, b] = halves(*piece);
                mix(a ^ hash, b ^ FACTORS[1])
            })
        }
        (Some(first), Some(last), _) => hash_two(name.len(), *first, *last),
        _ => {
            let word = name.iter().fold(0_u64, |word, &byte| (word << 8) | u64::from(byte));
            hash_two(name.len(), word.to_le_bytes(), [0; 8])
        }
    }
}

/// A hash of 8 to 16 bytes.
#[inline]
fn hash_two(len: usize, first: [u8; 8], last: [u8; 8]) -> u64 {
    mix(u64::from_le_bytes(first) ^ len as u64 ^ FACTORS[0], u64::from_le_bytes(last) ^ FACTORS[1])
}

const FACTORS: [u64; 2] = [0x9e37_79b9_7f4a_7c15, 0xd1b5_4a32_d192_ed03];

/// Names differ in their last characters, which are the highest bits of a word: the upper half of the product has them.
#[inline]
fn mix(a: u64, b: u64) -> u64 {
    let product = u128::from(a).wrapping_mul(u128::from(b));
    product as u64 ^ (product >> 64) as u64
}

#[inline]
fn halves(piece: [u8; 16]) -> [u64; 2] {
    let both = u128::from_le_bytes(piece);
    [both as u64, (both >> 64) as u64]
}

/// Equality that needs no call for names of 17 to 32 bytes: two pieces that overlap cover them.
#[inline]
fn same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    if a.len() != b.len() {
        return false;
    }
    match a.len() {
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
            let first = list.names().iter().position(|known| known == name).unwrap();
            assert_eq!(list.finder().find(name) as usize, first, "{name}");
        }
        for strange in ["", "m", "team-0-orders-of-500-events", "team-1-orders-of-0-events"] {
            assert_eq!(list.finder().find(strange) != NOWHERE, all.contains(&strange), "{strange}");
        }
        // And nearly all of them at the first look.
        for text in ["t", "topic-", "orders-of-team-", "a-rather-long-name-of-a-topic-"] {
            for count in [1, 2, 3, 10, 100, 1_000] {
                let names: Vec<String> =
                    (0..count).map(|number| alloc::format!("{text}{number:05}")).collect();
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                let list = TopicList::new(&names).unwrap();
                let first = |name: &&str| {
                    list.slots[list.finder().first_slot(hash(name.as_bytes())).unwrap()] as usize
                };
                let hit = names.iter().zip(0..).filter(|(name, place)| first(name) == *place).count();
                assert!(hit * 100 >= count * 98, "{text}: {hit} of {count}");
            }
        }
        assert_eq!(TopicList::new(&[]).unwrap().finder().find("a"), NOWHERE);
        assert_eq!(TopicList::default().finder().find("a"), NOWHERE);
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
