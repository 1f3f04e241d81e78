//! From a partition index to the range that holds it, in a few steps whatever the number of ranges.

use alloc::vec::Vec;

/// For ascending range ends: a table that says in which range each block of positions begins.
///
/// At most four entries a range, so it stays in a near cache where a search by halves would miss its way
/// through all of them for every claim.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lookup {
    shift: u32,
    hint: Vec<u32>,
}

impl Lookup {
    /// Prepares for these ends; each range is `ends[i − 1]..ends[i]`, the first begins at 0.
    pub(crate) fn rebuild(&mut self, ends: &[u32]) {
        let total = ends.last().copied().unwrap_or(0);
        self.shift = 0;
        while (total >> self.shift) as usize > ends.len() * 4 {
            self.shift += 1;
        }
        self.hint.clear();
        let mut range = 0;
        for block in 0..=(total >> self.shift) + 1 {
            let position = u64::from(block) << self.shift;
            while range + 1 < ends.len() && u64::from(ends[range]) <= position {
                range += 1;
            }
            self.hint.push(range as u32);
        }
    }

    /// The range that holds `position`, which must be below the last end.
    #[inline]
    pub(crate) fn find(&self, ends: &[u32], position: u32) -> usize {
        let block = (position >> self.shift) as usize;
        let (mut range, last) = (self.hint[block] as usize, self.hint[block + 1] as usize);
        if last - range > 8 {
            return range + ends[range..=last].partition_point(|&end| end <= position);
        }
        while ends[range] <= position {
            range += 1;
        }
        range
    }

    pub(crate) fn memory_usage(&self) -> usize {
        self.hint.capacity() * 4
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_position_is_found() {
        let sizes: [&[u32]; 5] = [
            &[1],
            &[5, 0, 7],
            &[0, 0, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 900],
            &[1000, 1, 1, 1],
            &[0, 2, 0],
        ];
        for sizes in sizes {
            let mut end = 0;
            let ends: Vec<u32> = sizes
                .iter()
                .map(|size| {
                    end += size;
                    end
                })
                .collect();
            let mut lookup = Lookup::default();
            lookup.rebuild(&ends);
            for position in 0..end {
                assert_eq!(
                    lookup.find(&ends, position),
                    ends.partition_point(|&e| e <= position),
                    "{ends:?} {position}"
                );
            }
        }
        Lookup::default().rebuild(&[]);
    }
}
