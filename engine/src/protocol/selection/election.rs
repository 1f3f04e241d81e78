//! Who wins a vote, equal votes included.

use std::collections::BTreeMap;

/// The buckets of a Java `HashMap` as it begins.
const BUCKETS: u32 = 16;

/// The name with most votes.
///
/// Order: the released broker counts in a Java `HashMap` and takes the first of those with most votes as that map
/// goes: by bucket, which hangs on the names alone. So sticky comes before range, range before roundrobin, and
/// cooperative-sticky last. Names that share a bucket follow each other as they were counted there, by name here.
pub(super) fn elected<'a>(votes: &BTreeMap<&'a str, usize>) -> Option<&'a str> {
    let buckets = buckets(votes.len());
    let place = |name: &str| bucket(name, buckets);
    let first = |left: &str, right: &str| place(right).cmp(&place(left)).then(right.cmp(left));
    let best = votes.iter().max_by(|left, right| left.1.cmp(right.1).then_with(|| first(left.0, right.0)));
    best.map(|(name, _)| *name)
}

/// A map of this many names: it doubles once it is three quarters full.
fn buckets(names: usize) -> u32 {
    let mut buckets = BUCKETS;
    while names > usize::try_from(buckets / 4).unwrap_or(usize::MAX).saturating_mul(3) {
        buckets = buckets.saturating_mul(2);
    }
    buckets
}

/// `HashMap`'s bucket of a string: `String.hashCode`, its upper half folded into the lower.
fn bucket(name: &str, buckets: u32) -> u32 {
    let add = |hash: u32, unit: u16| hash.wrapping_mul(31).wrapping_add(u32::from(unit));
    let hash = name.encode_utf16().fold(0, add);
    (hash ^ (hash >> 16)) & buckets.saturating_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_votes_go_as_a_java_map_does() {
        let tie = |names: &[&'static str]| elected(&names.iter().map(|name| (*name, 1)).collect());
        assert_eq!(tie(&["range", "sticky", "roundrobin", "cooperative-sticky"]), Some("sticky"));
        assert_eq!(tie(&["range", "roundrobin", "cooperative-sticky"]), Some("range"));
        assert_eq!(tie(&["roundrobin", "cooperative-sticky"]), Some("roundrobin"));
        assert_eq!(tie(&[]), None);
        let votes = BTreeMap::from([("sticky", 1), ("cooperative-sticky", 2)]);
        assert_eq!(elected(&votes), Some("cooperative-sticky"));
    }

    #[test]
    fn many_names_take_more_buckets() {
        assert_eq!((buckets(12), buckets(13), buckets(24), buckets(25)), (16, 32, 32, 64));
        // "Aa" and "BB" are the textbook's strings of equal hash.
        assert_eq!(bucket("Aa", 1 << 16), bucket("BB", 1 << 16));
        assert_eq!(bucket("range", 16), 9);
    }
}
