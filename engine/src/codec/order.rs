//! The orders in which Java writes names.

use alloc::vec::Vec;
use core::cmp::{Ordering, Reverse};

/// Compares names as Java does, by UTF-16 unit.
///
/// It differs from the order of Rust, which is that of code points, only where a character from
/// U+E000 to U+FFFF meets one above U+FFFF: Java writes the latter as two surrogates, which are smaller.
///
/// # Examples
/// ```
/// use core::cmp::Ordering;
/// use tenure::codec::utf16_cmp;
/// assert_eq!(utf16_cmp("😀face", "～full"), Ordering::Less);
/// assert_eq!("😀face".cmp("～full"), Ordering::Greater);
/// ```
#[must_use]
pub fn utf16_cmp(a: &str, b: &str) -> Ordering {
    // Equal prefixes are skipped as bytes; what follows is compared from the start of its character.
    let differs = a.bytes().zip(b.bytes()).position(|(x, y)| x != y);
    let Some(mut start) = differs else { return a.len().cmp(&b.len()) };
    while !a.is_char_boundary(start) {
        start = start.saturating_sub(1);
    }
    let (a, b) = (a.get(start..).unwrap_or_default(), b.get(start..).unwrap_or_default());
    a.encode_utf16().cmp(b.encode_utf16())
}

/// The places of `names` in the order in which Java walks a `HashMap` that was filled with them by
/// `computeIfAbsent`, as Kafka's `StickyAssignor` groups its partitions by topic.
///
/// `names` are distinct and in the order of insertion; `asked_again` tells whether any was looked up after
/// the last one was put in, since a lookup grows a table that is due.
///
/// Cost: one hash a name and a sort; allocates the result.
/// Order: by bucket, then the newest first, which holds until eight names share a bucket of a table of
/// 64 or more.
#[must_use]
pub fn java_hash_order(names: &[&str], asked_again: bool) -> Vec<usize> {
    // A table starts with 16 buckets. A call that finds more than three quarters of it taken doubles it first.
    let held_at_last_call = names.len().saturating_sub(usize::from(!asked_again));
    let mut buckets = 16_usize;
    while held_at_last_call > buckets.saturating_mul(3).wrapping_shr(2) {
        buckets = buckets.saturating_mul(2);
    }
    let mask = u32::try_from(buckets.saturating_sub(1)).unwrap_or(u32::MAX);
    let mut keyed: Vec<(u32, Reverse<usize>)> =
        names.iter().enumerate().map(|(index, name)| (java_hash(name) & mask, Reverse(index))).collect();
    keyed.sort_unstable();
    keyed.into_iter().map(|(_, Reverse(index))| index).collect()
}

/// `String.hashCode`, spread as `HashMap` does.
fn java_hash(name: &str) -> u32 {
    let hash =
        name.encode_utf16().fold(0_u32, |hash, unit| hash.wrapping_mul(31).wrapping_add(u32::from(unit)));
    hash ^ hash.wrapping_shr(16)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may stop")]
mod tests {
    use super::*;

    #[test]
    fn utf16_order_is_that_of_the_units_for_all_pairs() {
        let names = [
            "",
            "a",
            "ab",
            "é",
            "e\u{301}",
            "\u{d7ff}",
            "\u{e000}",
            "～",
            "\u{10000}",
            "😀",
            "😁",
            "\u{10ffff}",
        ];
        for a in names {
            for b in names {
                let units = (a.encode_utf16().collect::<Vec<_>>()).cmp(&b.encode_utf16().collect::<Vec<_>>());
                assert_eq!(utf16_cmp(a, b), units, "{a:?} {b:?}");
                let (long_a, long_b) = (["📦", a].concat(), ["📦", b].concat());
                assert_eq!(utf16_cmp(&long_a, &long_b), units, "{a:?} {b:?} behind a common prefix");
            }
        }
    }

    #[test]
    fn hash_order_is_that_of_a_java_map() {
        let names = ["orders", "payments", "t00000", "t00001", "clicks.v2", "a_b-c", "inventory"];
        let ordered: Vec<&str> =
            java_hash_order(&names, false).iter().filter_map(|&index| names.get(index).copied()).collect();
        assert_eq!(ordered, ["t00001", "t00000", "clicks.v2", "payments", "a_b-c", "orders", "inventory"]);
    }

    #[test]
    fn names_in_one_bucket_come_newest_first() {
        let names = ["τιμές", "e\u{301}clair"];
        assert_eq!(java_hash(names[0]) & 15, java_hash(names[1]) & 15);
        assert_eq!(java_hash_order(&names, true), [1, 0]);
    }
}
