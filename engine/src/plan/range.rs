//! Range: the choice that Kafka's `RangeAssignor` makes, racks included.
//!
//! Each topic by itself: n partitions, k subscribers, ⌊n/k⌋ consecutive partitions each and one more for the first
//! n mod k of them. When racks matter for at least one topic of the group (KIP-881), the passes of [`racks`] come
//! first, and what they leave is dealt in ranges up to each subscriber's share.
//!
//! A topic that a member lists twice counts once, as it does since Kafka 3.5; older consumers counted it twice.

mod racks;

use super::ranks::Ranks;
use crate::group::NONE;
use crate::topology::Topology;

pub(crate) use racks::Work;

/// What a topic's subscribers may have: a share each, and one more for as many as there are extras.
#[derive(Clone, Copy)]
struct Share {
    each: u32,
    extras: u32,
}

impl Share {
    fn new(partitions: u32, subscribers: usize) -> Self {
        let subscribers = subscribers as u32;
        Self { each: partitions / subscribers, extras: partitions % subscribers }
    }

    /// How many more a subscriber that has `load` may take now. Never grows from one call to the next.
    #[inline]
    fn room(self, load: u32) -> u32 {
        (self.each + u32::from(self.extras > 0)).saturating_sub(load)
    }

    /// Gives `more` partitions, at least one, to a subscriber: the one beyond the share is an extra.
    #[inline]
    fn take(&mut self, load: &mut u32, more: u32) {
        *load += more;
        self.extras -= u32::from(*load > self.each);
    }
}

/// Gives each partition its owner, a member index; [`NONE`] where nobody subscribes.
///
/// `member_rack` has each member's rack: [`NONE`] if it gave none, a number past the topology's racks if no
/// replica is there.
///
/// Shapes: `of_topic` has T entries, `member_rack` M, `owner` P.
/// Cost: O(P + A) without racks; with racks O(R + T log T) more, R the number of replicas. No allocation once warm.
/// Order: topics and members in the order of UTF-16 units, as Java sorts strings.
/// Source: KIP-881 and the observable choices of kafka-clients; see `datasets/golden`.
pub(crate) fn choose(
    topology: &Topology,
    of_topic: &[u32],
    ranks: &Ranks,
    member_rack: &[u32],
    work: &mut Work,
    owner: &mut [u32],
) {
    if racks::choose(topology, of_topic, ranks, member_rack, work, owner) {
        return;
    }
    for (bounds, &class) in topology.bases().windows(2).zip(of_topic) {
        let partitions = &mut owner[bounds[0] as usize..bounds[1] as usize];
        let subscribers = if class == NONE { &[] } else { ranks.of_class(class) };
        deal(subscribers, &ranks.order, partitions);
    }
}

/// One topic without racks: the first subscribers have one more than the others.
fn deal(subscribers: &[u32], order: &[u32], mut partitions: &mut [u32]) {
    if subscribers.is_empty() {
        partitions.fill(NONE);
        return;
    }
    let share = Share::new(partitions.len() as u32, subscribers.len());
    for (place, &rank) in subscribers.iter().enumerate() {
        let mine = share.each + u32::from((place as u32) < share.extras);
        if mine == 0 {
            break;
        }
        let (range, rest) = partitions.split_at_mut(mine as usize);
        range.fill(order[rank as usize]);
        partitions = rest;
    }
}
