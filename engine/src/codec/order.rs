//! The order in which Java walks a hash map of names. For its order of sorted names see
//! [`utf16_cmp`](crate::id::utf16_cmp).

use alloc::vec::Vec;
use core::cmp::Reverse;

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
