//! A member's partitions in order.

use super::Work;
use crate::id::PartitionIndex;
use crate::plan::target::Plan;

impl Work {
    /// Merges what a member keeps with what it was dealt: a few ascending runs, one for each of its classes.
    /// With racks there are many, but those of one topic are neighbours.
    pub(super) fn put_in_order(&mut self, plan: &mut Plan, member: usize, by_rack: bool) {
        let (from, end) = (plan.start[member] as usize, plan.start[member + 1] as usize);
        let slice = &mut plan.partitions[from..end];
        let kept = self.kept_end[member] as usize - from;
        if slice.len() - kept <= 4 && kept > 0 {
            insert_tail(slice, kept);
            return;
        }
        let mut sorted = kept.max(1);
        if slice.len() - kept <= 24 {
            slice[kept..].sort_unstable();
        } else if by_rack {
            sort_nearby(&mut slice[kept..]);
        }
        for _ in 0..4 {
            let run = slice[sorted - 1..].windows(2).position(|pair| pair[0] > pair[1]);
            let Some(descent) = run else { return };
            sorted += descent;
            let run = slice[sorted..].windows(2).position(|pair| pair[0] > pair[1]);
            let end = run.map_or(slice.len(), |descent| sorted + descent + 1);
            self.taken.clear();
            self.taken.extend_from_slice(&slice[sorted..end]);
            merge_back(&mut slice[..end], sorted, &self.taken);
            sorted = end;
            if sorted == slice.len() {
                return;
            }
        }
        slice.sort_unstable();
    }
}

/// Puts each entry from `kept` on in its place among those before it.
fn insert_tail(slice: &mut [PartitionIndex], kept: usize) {
    for at in kept..slice.len() {
        let entry = slice[at];
        let to = if at <= 32 {
            slice[..at].iter().filter(|&&before| before <= entry).count()
        } else {
            slice[..at].partition_point(|&before| before <= entry)
        };
        slice.copy_within(to..at, to + 1);
        slice[to] = entry;
    }
}

/// Sorts what is nearly in order, by insertion; if too much is far from its place, as any slice.
fn sort_nearby(slice: &mut [PartitionIndex]) {
    let mut budget = 8 * slice.len();
    for at in 1..slice.len() {
        let entry = slice[at];
        let mut to = at;
        while to > 0 && slice[to - 1] > entry {
            slice[to] = slice[to - 1];
            to -= 1;
        }
        slice[to] = entry;
        let Some(left) = budget.checked_sub(at - to) else {
            slice.sort_unstable();
            return;
        };
        budget = left;
    }
}

/// Merges `tail` into `slice`, whose first `kept` entries are in order; fills from the back.
fn merge_back(slice: &mut [PartitionIndex], kept: usize, tail: &[PartitionIndex]) {
    let (mut left, mut right, mut to) = (kept, tail.len(), slice.len());
    while right > 0 {
        to -= 1;
        if left > 0 && slice[left - 1] > tail[right - 1] {
            left -= 1;
            slice[to] = slice[left];
        } else {
            right -= 1;
            slice[to] = tail[right];
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::insert_tail;
    use crate::id::PartitionIndex;
    use crate::plan::spread::dice;

    #[test]
    fn a_short_tail_goes_where_sorting_puts_it() {
        let mut state = 3;
        for len in [2, 5, 20, 33, 70] {
            for tail in 1..=4.min(len - 1) {
                let mut slice: Vec<PartitionIndex> =
                    (0..len).map(|_| PartitionIndex::new(dice(&mut state))).collect();
                slice[..len - tail].sort_unstable();
                let mut sorted = slice.clone();
                sorted.sort_unstable();
                insert_tail(&mut slice, len - tail);
                assert_eq!(slice, sorted);
            }
        }
    }
}
