//! Typed indices, the generation of a claim, and the one order of names.
//!
//! Inside the engine everything is a dense index, checked once where names enter. Indices are given
//! in the order of [`utf16_cmp`], so comparing two indices of one kind compares the two names.

use core::cmp::Ordering;
use core::fmt;

macro_rules! index {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
        #[repr(transparent)]
        pub struct $name(u32);

        impl $name {
            /// The index with this number.
            #[inline]
            pub const fn new(number: u32) -> Self {
                Self(number)
            }

            /// The plain number.
            #[inline]
            pub const fn get(self) -> u32 {
                self.0
            }

            /// The number as a position in a slice.
            #[inline]
            pub const fn at(self) -> usize {
                self.0 as usize
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

index! {
    /// A member of one [`Group`](crate::group::Group), in the order of member ids.
    MemberIndex
}
index! {
    /// A topic of one [`Topology`](crate::topology::Topology), in the order of topic names.
    TopicIndex
}
index! {
    /// A partition of one [`Topology`](crate::topology::Topology): the topic's base plus Kafka's number.
    PartitionIndex
}
index! {
    /// A class: topics (or, when racks count, partitions) that the same members may own.
    ClassIndex
}
index! {
    /// A rack named by a [`Topology`](crate::topology::Topology), in the order of rack names.
    RackIndex
}

/// The round in which a member got what it claims; never negative.
///
/// A claim without a generation is `None` in an `Option<Generation>`, and orders below all others.
/// On the wire that is any negative number, usually −1.
///
/// Source: KIP-341 (sticky user data), KIP-792 (subscription field).
///
/// # Examples
///
/// ```
/// use tenure::id::Generation;
/// assert_eq!(Generation::from_wire(-1), None);
/// assert!(Generation::from_wire(0) > None);
/// assert_eq!(Generation::from_wire(41).map(Generation::get), Some(41));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Generation(i32);

impl Generation {
    /// Reads the wire's number: negative is `None`.
    #[inline]
    pub const fn from_wire(number: i32) -> Option<Self> {
        if number < 0 { None } else { Some(Self(number)) }
    }

    /// Writes the wire's number: `None` is −1.
    #[inline]
    pub const fn to_wire(generation: Option<Self>) -> i32 {
        match generation {
            Some(generation) => generation.0,
            None => -1,
        }
    }

    /// The plain number, at least 0.
    #[inline]
    pub const fn get(self) -> i32 {
        self.0
    }
}

impl fmt::Display for Generation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Compares two names as Java compares strings: by UTF-16 unit.
///
/// This differs from the order of `str` only where U+E000..U+FFFF meets a character above U+FFFF, whose
/// first UTF-16 unit is a surrogate and so sorts lower. Kafka's own classes sort names this way on the
/// wire, and range and round robin depend on it.
///
/// Cost: O(length of the common prefix), no allocation.
///
/// # Examples
///
/// ```
/// use core::cmp::Ordering;
/// use tenure::id::utf16_cmp;
/// assert_eq!(utf16_cmp("a", "b"), Ordering::Less);
/// assert_eq!(utf16_cmp("\u{10000}", "\u{ff5e}"), Ordering::Less);
/// assert_eq!("\u{10000}".cmp("\u{ff5e}"), Ordering::Greater);
/// ```
#[inline]
pub fn utf16_cmp(a: &str, b: &str) -> Ordering {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let at = common_prefix(a, b);
    let (Some(&x), Some(&y)) = (a.get(at), b.get(at)) else { return a.len().cmp(&b.len()) };
    // Two different lead bytes, one of a four-byte character, the other of U+E000..U+FFFF.
    match (x >= 0xf0, y >= 0xf0) {
        (true, false) if y >= 0xee => Ordering::Less,
        (false, true) if x >= 0xee => Ordering::Greater,
        _ => x.cmp(&y),
    }
}

/// Length of the common prefix: eight bytes at a time, since ids and names of one group often begin alike.
#[inline]
fn common_prefix(a: &[u8], b: &[u8]) -> usize {
    let len = a.len().min(b.len());
    let (a, b) = (&a[..len], &b[..len]);
    let ((words_a, rest_a), (words_b, rest_b)) = (a.as_chunks::<8>(), b.as_chunks::<8>());
    for (at, (x, y)) in words_a.iter().zip(words_b).enumerate() {
        let differ = u64::from_le_bytes(*x) ^ u64::from_le_bytes(*y);
        if differ != 0 {
            return at * 8 + differ.trailing_zeros() as usize / 8;
        }
    }
    let rest = rest_a.iter().zip(rest_b).position(|(x, y)| x != y).unwrap_or(rest_a.len());
    words_a.len() * 8 + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_is_that_of_utf16_units() {
        let names = [
            "",
            "a",
            "ab",
            "b",
            "é",
            "\u{d7ff}",
            "\u{e000}",
            "\u{ff5e}",
            "\u{ffff}",
            "\u{10000}",
            "\u{10ffff}",
            "x\u{e000}",
            "x\u{10000}",
            "\u{e000}z",
            "consumer-0000001",
            "consumer-0000001-a",
            "consumer-0000001-\u{ff5e}",
            "consumer-0000001-\u{10000}",
            "consumer-0000010",
            "consumer-000001",
            "consumer",
        ];
        for a in names {
            for b in names {
                let expected = a.encode_utf16().cmp(b.encode_utf16());
                assert_eq!(utf16_cmp(a, b), expected, "{a:?} {b:?}");
            }
        }
    }
}
