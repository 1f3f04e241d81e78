//! The matching passes of range (KIP-881).
//!
//! Racks matter for a topic when some subscriber's rack holds a replica of it and not all its partitions are
//! replicated in the same racks. If they matter for any topic of the group:
//!
//! 1. Topics with the same subscribers and the same number of partitions are *co-partitioned*: partition i of all of
//!    them goes to the first subscriber that has room and whose rack holds a replica of every one of them.
//! 2. A topic that is alone in that sense takes part only if racks matter for itself: each subscriber in turn takes
//!    the first partitions that have a replica in its rack, as many as it has room for.
//! 3. In every topic, what is left goes to the subscribers in turn, as many as each has room for.
//!
//! A subscriber without a rack matches everything, one in a rack without replicas nothing.
//!
//! Room only shrinks, so "the first subscriber of rack r with room" and "the first free partition in rack r" are
//! cursors that never go back ([`ByRack`]), and a matching pass costs O(replicas + subscribers), where trying every
//! subscriber against every partition would cost their product.

use alloc::vec::Vec;

use super::Share;
use crate::group::{NONE, Shape};
use crate::id::{PartitionIndex, RackIndex};
use crate::owned::claims::reserve;
use crate::plan::ranks::Ranks;
use crate::topology::Topology;

/// Working memory of [`choose`].
#[derive(Clone, Debug, Default)]
pub(crate) struct Work {
    /// Topics with subscribers and partitions, by class, then by number of partitions.
    topics: Vec<u32>,
    /// How many partitions each subscriber has, by its place in the class's list.
    load: Vec<u32>,
    queues: ByRack,
    class_racks: ClassRacks,
}

impl Work {
    pub(in crate::plan) fn reserve(&mut self, shape: &Shape) {
        reserve(&mut self.topics, shape.topics);
        reserve(&mut self.load, shape.members);
        self.queues.reserve(shape);
        reserve(&mut self.class_racks.seen, shape.racks as usize);
    }

    /// Heap bytes reserved.
    pub(crate) fn memory_usage(&self) -> usize {
        let own = self.topics.capacity() + self.load.capacity() + self.class_racks.seen.capacity();
        own * 4 + self.queues.memory_usage()
    }
}

/// The subscribers of one class of topics, and where they are.
#[derive(Clone, Copy)]
struct Subscribers<'a> {
    ranks: &'a [u32],
    order: &'a [u32],
    member_rack: &'a [u32],
}

impl<'a> Subscribers<'a> {
    fn of_class(class: u32, ranks: &'a Ranks, member_rack: &'a [u32]) -> Self {
        Self { ranks: ranks.of_class(class), order: &ranks.order, member_rack }
    }

    fn len(self) -> usize {
        self.ranks.len()
    }

    #[inline]
    fn member(self, place: usize) -> u32 {
        self.order[self.ranks[place] as usize]
    }

    #[inline]
    fn rack(self, place: usize) -> u32 {
        self.member_rack[self.member(place) as usize]
    }
}

/// Plans with racks, if they matter for any topic; else leaves `owner` alone and returns false.
pub(super) fn choose(
    topology: &Topology,
    of_topic: &[u32],
    ranks: &Ranks,
    member_rack: &[u32],
    work: &mut Work,
    owner: &mut [u32],
) -> bool {
    let racks = topology.racks() as u32;
    if !topology.has_racks() || !member_rack.iter().any(|&rack| rack < racks) {
        return false;
    }
    let bases = topology.bases();
    let size = |topic: u32| bases[topic as usize + 1] - bases[topic as usize];
    let class = |topic: u32| of_topic[topic as usize];

    let Work { topics, load, queues, class_racks } = work;
    topics.clear();
    topics.extend((0..topology.topics() as u32).filter(|&topic| class(topic) != NONE && size(topic) > 0));
    topics.sort_unstable_by_key(|&topic| (class(topic), size(topic), topic));

    class_racks.reset(racks);
    let mut matters = |topic: u32| {
        let subscribers = Subscribers::of_class(class(topic), ranks, member_rack);
        class_racks.matter(topology, topic, class(topic), subscribers)
    };
    if !topics.iter().any(|&topic| matters(topic)) {
        return false;
    }

    owner.fill(NONE);
    for alike in topics.chunk_by(|&a, &b| class(a) == class(b) && size(a) == size(b)) {
        let subscribers = Subscribers::of_class(class(alike[0]), ranks, member_rack);
        let mut share = Share::new(size(alike[0]), subscribers.len());
        load.clear();
        load.resize(subscribers.len(), 0);
        if alike.len() > 1 {
            match_together(topology, alike, subscribers, queues, load, &mut share, owner);
        } else if matters(alike[0]) {
            match_alone(topology, alike[0], subscribers, queues, load, &mut share, owner);
        }
        for &topic in alike {
            let partitions = bases[topic as usize] as usize..bases[topic as usize + 1] as usize;
            deal_rest(subscribers, load, share, &mut owner[partitions]);
        }
    }
    true
}

/// Partition i of all the topics goes to one subscriber, if one has room and is near every one of them.
fn match_together(
    topology: &Topology,
    topics: &[u32],
    subscribers: Subscribers<'_>,
    queues: &mut ByRack,
    load: &mut [u32],
    share: &mut Share,
    owner: &mut [u32],
) {
    let bases = topology.bases();
    let racks = topology.racks() as u32;
    // Subscribers without a rack stand in a queue of their own, behind the last rack.
    let queue_of = |place: usize| match subscribers.rack(place) {
        NONE => Some(racks),
        rack => (rack < racks).then_some(rack),
    };
    let places = (0..subscribers.len()).filter_map(|place| Some((queue_of(place)?, place as u32)));
    queues.rebuild(racks + 1, places);

    let Some((&first, others)) = topics.split_first() else { return };
    let partitions = bases[first as usize + 1] - bases[first as usize];
    for number in 0..partitions {
        let racks_of = |topic: u32| topology.racks_of(PartitionIndex::new(bases[topic as usize] + number));
        let mut chosen = queues.first(racks, |place| share.room(load[place as usize]) > 0);
        for &rack in racks_of(first) {
            if others.iter().all(|&topic| racks_of(topic).binary_search(&rack).is_ok()) {
                let place = queues.first(rack.get(), |place| share.room(load[place as usize]) > 0);
                chosen = match (chosen, place) {
                    (Some(a), Some(b)) => Some(a.min(b)),
                    (a, b) => a.or(b),
                };
            }
        }
        if let Some(place) = chosen {
            for &topic in topics {
                owner[(bases[topic as usize] + number) as usize] = subscribers.member(place as usize);
            }
            share.take(&mut load[place as usize], 1);
        }
    }
}

/// Each subscriber in turn takes the first free partitions with a replica in its rack.
fn match_alone(
    topology: &Topology,
    topic: u32,
    subscribers: Subscribers<'_>,
    queues: &mut ByRack,
    load: &mut [u32],
    share: &mut Share,
    owner: &mut [u32],
) {
    let racks = topology.racks() as u32;
    let base = topology.bases()[topic as usize];
    let end = topology.bases()[topic as usize + 1];
    let racks_of = |partition: u32| topology.racks_of(PartitionIndex::new(partition));
    queues.rebuild(
        racks,
        (base..end).flat_map(|p| racks_of(p).iter().map(move |rack: &RackIndex| (rack.get(), p))),
    );

    let mut next = base;
    for (place, load) in load.iter_mut().enumerate() {
        let (room, rack) = (share.room(*load), subscribers.rack(place));
        let mut taken = 0;
        while taken < room {
            let free = if rack == NONE {
                while next < end && owner[next as usize] != NONE {
                    next += 1;
                }
                (next < end).then_some(next)
            } else if rack < racks {
                queues.first(rack, |partition| owner[partition as usize] == NONE)
            } else {
                None
            };
            let Some(partition) = free else { break };
            owner[partition as usize] = subscribers.member(place);
            taken += 1;
        }
        if taken > 0 {
            share.take(load, taken);
        }
    }
}

/// Deals one topic's free partitions, in order, up to each subscriber's share.
fn deal_rest(subscribers: Subscribers<'_>, load: &[u32], mut share: Share, partitions: &mut [u32]) {
    let mut next = 0;
    for (place, &load) in load.iter().enumerate() {
        let room = share.room(load);
        let mut taken = 0;
        while taken < room {
            while next < partitions.len() && partitions[next] != NONE {
                next += 1;
            }
            let Some(free) = partitions.get_mut(next) else { return };
            *free = subscribers.member(place);
            taken += 1;
        }
        if taken > 0 {
            share.take(&mut { load }, taken);
        }
    }
}

/// Which racks the subscribers of one class are in, kept until another class is asked for.
#[derive(Clone, Debug, Default)]
struct ClassRacks {
    /// For each rack the last class with a subscriber there, plus one.
    seen: Vec<u32>,
    class: u32,
}

impl ClassRacks {
    fn reset(&mut self, racks: u32) {
        self.class = NONE;
        self.seen.clear();
        self.seen.resize(racks as usize, 0);
    }

    /// Whether racks matter for a topic.
    fn matter(&mut self, topology: &Topology, topic: u32, class: u32, subscribers: Subscribers<'_>) -> bool {
        if self.class != class {
            self.class = class;
            for place in 0..subscribers.len() {
                if let Some(seen) = self.seen.get_mut(subscribers.rack(place) as usize) {
                    *seen = class + 1;
                }
            }
        }
        let bases = topology.bases();
        let mut sets = (bases[topic as usize]..bases[topic as usize + 1])
            .map(|partition| topology.rack_set_of(PartitionIndex::new(partition)));
        let Some(first) = sets.clone().next() else { return false };
        sets.clone().any(|set| set != first)
            && sets.any(|set| topology.rack_set(set).iter().any(|rack| self.seen[rack.at()] == class + 1))
    }
}

/// Queues of numbers, one a rack, each with a cursor. Only the racks that occur are touched.
#[derive(Clone, Debug, Default)]
struct ByRack {
    /// For each rack its queue, or [`NONE`].
    queue_of: Vec<u32>,
    /// The racks that have a queue.
    racks: Vec<u32>,
    /// Where each queue begins, and the end of the last.
    start: Vec<u32>,
    cursor: Vec<u32>,
    items: Vec<u32>,
}

impl ByRack {
    fn reserve(&mut self, shape: &Shape) {
        // One queue more than there are racks, for the members without.
        let queues = shape.racks as usize + 1;
        reserve(&mut self.queue_of, queues);
        reserve(&mut self.racks, queues);
        reserve(&mut self.start, queues + 1);
        reserve(&mut self.cursor, queues);
        reserve(&mut self.items, shape.members.max(shape.replicas as usize));
    }

    /// Fills the queues from (rack, number) pairs, keeping the order of the pairs.
    fn rebuild(&mut self, racks: u32, pairs: impl Iterator<Item = (u32, u32)> + Clone) {
        for rack in self.racks.drain(..) {
            if let Some(queue) = self.queue_of.get_mut(rack as usize) {
                *queue = NONE;
            }
        }
        self.queue_of.resize(racks as usize, NONE);
        self.start.clear();
        self.start.push(0);
        for (rack, _) in pairs.clone() {
            if self.queue_of[rack as usize] == NONE {
                self.queue_of[rack as usize] = self.racks.len() as u32;
                self.racks.push(rack);
                self.start.push(0);
            }
            self.start[self.queue_of[rack as usize] as usize + 1] += 1;
        }
        for queue in 0..self.racks.len() {
            self.start[queue + 1] += self.start[queue];
        }
        self.cursor.clear();
        self.cursor.extend_from_slice(&self.start[..self.racks.len()]);
        self.items.clear();
        self.items.resize(self.start[self.racks.len()] as usize, 0);
        for (rack, item) in pairs {
            let at = &mut self.cursor[self.queue_of[rack as usize] as usize];
            self.items[*at as usize] = item;
            *at += 1;
        }
        self.cursor.copy_from_slice(&self.start[..self.racks.len()]);
    }

    /// The first number of a rack's queue that will still do; those before it are passed over for good.
    #[inline]
    fn first(&mut self, rack: u32, will_do: impl Fn(u32) -> bool) -> Option<u32> {
        let queue = self.queue_of[rack as usize];
        if queue == NONE {
            return None;
        }
        let end = self.start[queue as usize + 1];
        let cursor = &mut self.cursor[queue as usize];
        while *cursor < end {
            let item = self.items[*cursor as usize];
            if will_do(item) {
                return Some(item);
            }
            *cursor += 1;
        }
        None
    }

    fn memory_usage(&self) -> usize {
        let words = self.queue_of.capacity()
            + self.racks.capacity()
            + self.start.capacity()
            + self.cursor.capacity()
            + self.items.capacity();
        words * 4
    }
}
