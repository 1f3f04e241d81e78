//! Claims in the order of a hash map, brought into that of indices.
//!
//! Java writes sticky user data topic by topic in the order of a hash map: the same for all members that own of the
//! same topics, as members of a large group do. So the way from one order to the other is found once and gone by
//! everybody, *because* sorting a hundred claims of each member costs ten times as much.

use alloc::vec::Vec;

/// The way from the order of claims as read to the ascending one, for claims that are each alone in their topic.
#[derive(Debug, Clone, Default)]
pub(super) struct Turn {
    /// Which claim comes first, second, and so on.
    order: Vec<u32>,
    sorted: Vec<u32>,
}

impl Turn {
    pub(super) fn forget(&mut self) {
        self.order.clear();
    }

    /// Sorts the claims, one for each of these topics; `known` if topics were the same in the call before. False, and
    /// nothing done, if a topic comes twice.
    pub(super) fn sort(&mut self, claims: &mut [u32], topics: &[u32], known: bool) -> bool {
        let Self { order, sorted } = self;
        let topic = |at: u32| topics.get(at as usize).copied().unwrap_or(u32::MAX);
        if !known || order.len() != claims.len() {
            order.clear();
            order.extend(0..claims.len() as u32);
            order.sort_unstable_by_key(|&at| topic(at));
            if topics.len() < claims.len() || !order.is_sorted_by(|&a, &b| topic(a) < topic(b)) {
                order.clear();
                return false;
            }
        }
        sorted.clear();
        sorted.extend(order.iter().map(|&at| claims[at as usize]));
        claims.copy_from_slice(sorted);
        true
    }

    pub(super) fn memory_usage(&self) -> usize {
        (self.order.capacity() + self.sorted.capacity()) * 4
    }
}

#[cfg(test)]
mod tests {
    use super::Turn;

    #[test]
    fn the_way_is_found_once_and_only_where_each_topic_comes_once() {
        let mut turn = Turn::default();
        // Topics 7, 2 and 5 of ten partitions each.
        let mut claims = [73, 20, 59];
        assert!(turn.sort(&mut claims, &[7, 2, 5], false));
        assert_eq!(claims, [20, 59, 73]);
        let mut claims = [70, 29, 50];
        assert!(turn.sort(&mut claims, &[7, 2, 5], true));
        assert_eq!(claims, [29, 50, 70]);
        let mut claims = [70, 29];
        assert!(turn.sort(&mut claims, &[7, 2, 5], true), "fewer than before, and what is known is longer");
        assert_eq!(claims, [29, 70]);
        let mut claims = [73, 20, 71];
        assert!(!turn.sort(&mut claims, &[7, 2, 7], false));
        assert_eq!(claims, [73, 20, 71]);
        assert!(!turn.sort(&mut claims, &[7, 2, 7], true), "nor is it known afterwards");
    }
}
