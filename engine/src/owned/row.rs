//! Bit rows over [`PartitionIndex`](crate::id::PartitionIndex): one bit a partition in a flat slice of words.
//!
//! P/8 bytes, so a row over a million partitions stays in the second-level cache; that is why claims are
//! settled by test-and-set and not through an owner table of 4 P bytes.

use alloc::vec::Vec;

/// Words that a row over `bits` takes.
#[inline]
pub(crate) const fn row_words(bits: usize) -> usize {
    bits.div_ceil(64)
}

/// Empties a row and gives it room for `bits`; allocates only if it never was that long.
#[inline]
pub(crate) fn reset(row: &mut Vec<u64>, bits: usize) {
    row.clear();
    row.resize(row_words(bits), 0);
}

#[inline]
pub(crate) fn get(row: &[u64], bit: u32) -> bool {
    row[(bit >> 6) as usize] >> (bit & 63) & 1 != 0
}

#[inline]
pub(crate) fn set(row: &mut [u64], bit: u32) {
    row[(bit >> 6) as usize] |= 1 << (bit & 63);
}

#[inline]
pub(crate) fn unset(row: &mut [u64], bit: u32) {
    row[(bit >> 6) as usize] &= !(1 << (bit & 63));
}

/// Sets a bit and tells whether it was set before.
#[inline]
pub(crate) fn test_and_set(row: &mut [u64], bit: u32) -> bool {
    let word = &mut row[(bit >> 6) as usize];
    let mask = 1 << (bit & 63);
    let was = *word & mask != 0;
    *word |= mask;
    was
}

/// Sets all of these bits.
#[inline]
pub(crate) fn set_all(row: &mut [u64], bits: &[u32]) {
    if let [low, high] = row {
        // In two words each bit would wait for the one before to come back from memory.
        let (mut first, mut second) = (0, 0);
        for &bit in bits {
            let (one, upper) = (1u64 << (bit & 63), 0u64.wrapping_sub(u64::from(bit >> 6 & 1)));
            first |= one & !upper;
            second |= one & upper;
        }
        *low |= first;
        *high |= second;
        return;
    }
    bits.iter().for_each(|&bit| set(row, bit));
}

/// Sets the bits `from..to`.
pub(crate) fn set_range(row: &mut [u64], from: u32, to: u32) {
    if from >= to {
        return;
    }
    let (first, last) = ((from >> 6) as usize, ((to - 1) >> 6) as usize);
    let (low, high) = (u64::MAX << (from & 63), u64::MAX >> (63 - ((to - 1) & 63)));
    if first == last {
        row[first] |= low & high;
    } else {
        row[first] |= low;
        row[first + 1..last].fill(u64::MAX);
        row[last] |= high;
    }
}

/// The bits of `from..to` that are *not* set, ascending.
pub(crate) fn unset_in(row: &[u64], from: u32, to: u32) -> impl Iterator<Item = u32> + '_ {
    let first = (from >> 6) as usize;
    let last = (to.div_ceil(64) as usize).max(first);
    row[first..last].iter().enumerate().flat_map(move |(at, &word)| {
        let base = ((first + at) as u32) << 6;
        let mut free = !word;
        if base < from {
            free &= u64::MAX << (from - base);
        }
        if to - base < 64 {
            free &= (1u64 << (to - base)) - 1;
        }
        core::iter::from_fn(move || {
            if free == 0 {
                return None;
            }
            let bit = free.trailing_zeros();
            free &= free - 1;
            Some(base + bit)
        })
    })
}

/// Calls back for each bit of `from..to` that is *not* set, ascending.
#[inline]
pub(crate) fn each_unset_in(row: &[u64], from: u32, to: u32, mut call: impl FnMut(u32)) {
    if from >= to {
        return;
    }
    let (first, last) = ((from >> 6) as usize, ((to - 1) >> 6) as usize);
    for (at, &word) in row[first..=last].iter().enumerate() {
        let at = first + at;
        let mut free = !word;
        if at == first {
            free &= u64::MAX << (from & 63);
        }
        if at == last {
            free &= u64::MAX >> (63 - ((to - 1) & 63));
        }
        let base = (at as u32) << 6;
        if free == u64::MAX {
            (base..base + 64).for_each(&mut call);
            continue;
        }
        while free != 0 {
            call(base + free.trailing_zeros());
            free &= free - 1;
        }
    }
}

/// How many bits of `from..to` are *not* set.
pub(crate) fn unset_in_count(row: &[u64], from: u32, to: u32) -> u32 {
    if from >= to {
        return 0;
    }
    let (first, last) = ((from >> 6) as usize, ((to - 1) >> 6) as usize);
    let (low, high) = (u64::MAX << (from & 63), u64::MAX >> (63 - ((to - 1) & 63)));
    if first == last {
        return (!row[first] & low & high).count_ones();
    }
    let middle: u32 = row[first + 1..last].iter().map(|word| word.count_zeros()).sum();
    (!row[first] & low).count_ones() + middle + (!row[last] & high).count_ones()
}

/// The bits that are set, ascending.
pub(crate) fn set_bits(row: &[u64]) -> impl Iterator<Item = u32> + Clone + '_ {
    row.iter().enumerate().flat_map(|(at, &word)| {
        let mut left = word;
        core::iter::from_fn(move || {
            let bit = (left != 0).then(|| ((at as u32) << 6) + left.trailing_zeros())?;
            left &= left - 1;
            Some(bit)
        })
    })
}

/// How many bits are set.
pub(crate) fn count(row: &[u64]) -> usize {
    row.iter().map(|word| word.count_ones() as usize).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_bits_are_set_as_one_by_one() {
        let mut at = 1;
        for bits in [1, 64, 65, 100, 128, 129, 1000] {
            let (mut row, mut expected) = (Vec::new(), Vec::new());
            reset(&mut row, bits as usize);
            reset(&mut expected, bits as usize);
            for many in [0, 1, 5, 40] {
                let list: Vec<u32> = (0..many)
                    .map(|_| {
                        at = (at * 16807u64) % 0x7fff_ffff;
                        (at % bits) as u32
                    })
                    .collect();
                list.iter().for_each(|&bit| set(&mut expected, bit));
                set_all(&mut row, &list);
                assert_eq!(row, expected, "{bits} {list:?}");
            }
        }
    }

    #[test]
    fn ranges_and_their_gaps_agree_with_single_bits() {
        for (from, to) in [(0, 0), (0, 1), (3, 64), (0, 64), (63, 65), (10, 200), (64, 128), (127, 129)] {
            let mut row = Vec::new();
            reset(&mut row, 256);
            set_range(&mut row, from, to);
            assert_eq!(count(&row), (to - from) as usize);
            for bit in 0..256 {
                assert_eq!(get(&row, bit), (from..to).contains(&bit), "{from} {to} {bit}");
            }
            for (low, high) in [(0, 256), (5, 5), (from, to), (60, 70), (1, 255)] {
                let expected: Vec<u32> = (low..high).filter(|b| !(from..to).contains(b)).collect();
                assert_eq!(unset_in(&row, low, high).collect::<Vec<_>>(), expected);
                let mut called = Vec::new();
                each_unset_in(&row, low, high, |bit| called.push(bit));
                assert_eq!(called, expected);
                assert_eq!(unset_in_count(&row, low, high) as usize, expected.len());
            }
        }
    }
}
