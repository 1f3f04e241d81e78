//! Round robin: the choice that Kafka's `RoundRobinAssignor` makes.
//!
//! All partitions, by topic name and number, are dealt to the members in turn; a member that does not subscribe
//! to the topic is passed over, and the next partition goes on behind the last one served. History and racks
//! play no part.
//!
//! The cursor is not walked past every member that must be passed over: the subscribers of a topic are a sorted
//! list of ranks, so one search finds where the topic's turn begins, and from there the list is simply walked
//! round. With 10,000 members of which two read a topic that is the difference between 2 steps and 10,000.

use super::ranks::Ranks;
use crate::group::NONE;

/// Gives each partition its owner, a member index; [`NONE`] where nobody subscribes.
///
/// Shapes: `bases` has T + 1 entries, `of_topic` T, `owner` P.
/// Cost: O(P + T log M), no allocation.
/// Order: topics and members in the order of UTF-16 units, as Java sorts strings.
/// Source: the observable choices of kafka-clients; see `datasets/golden`.
pub(crate) fn choose(bases: &[u32], of_topic: &[u32], ranks: &Ranks, owner: &mut [u32]) {
    let mut cursor = 0;
    for (bounds, &class) in bases.windows(2).zip(of_topic) {
        let partitions = &mut owner[bounds[0] as usize..bounds[1] as usize];
        let subscribers = if class == NONE { &[] } else { ranks.of_class(class) };
        if subscribers.is_empty() || partitions.is_empty() {
            partitions.fill(NONE);
            continue;
        }
        let first = subscribers.partition_point(|&rank| rank < cursor);
        let mut at = if first == subscribers.len() { 0 } else { first };
        let mut last = at;
        for partition in partitions {
            *partition = ranks.order[subscribers[at] as usize];
            last = at;
            at += 1;
            if at == subscribers.len() {
                at = 0;
            }
        }
        // Past the last member the search above starts over at the first.
        cursor = subscribers[last] + 1;
    }
}
