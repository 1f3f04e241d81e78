//! The members in the order in which range and round robin serve them, and who subscribes to each class of topics.
//!
//! Static members come first, by instance id, then the dynamic ones by member id (KAFKA-8355). A *rank* is a
//! member's position in that order. Topics with the same subscribers share one list of ranks, so a group in
//! which all subscribe alike has one list, however many topics it reads:
//!
//! ```text
//! member index     0     1     2     3          (by id)
//! instance         –     i9    –     i2
//! rank → member    3     1     0     2
//! class 0          0 1 2 3                      everyone reads orders and clicks
//! class 1          0 3                          members 3 and 2 read audit too
//! ```

use alloc::vec::Vec;

use crate::group::{Group, NONE, Shape};
use crate::id::{MemberIndex, utf16_cmp};
use crate::owned::claims::reserve;

/// The order of service and the ranks of each class's subscribers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ranks {
    /// Rank to member index.
    pub(crate) order: Vec<u32>,
    /// Where each class's list begins in `subscribers`; one more than there are classes.
    pub(crate) class_start: Vec<u32>,
    /// Ranks, ascending in each class.
    pub(crate) subscribers: Vec<u32>,
    list_start: Vec<u32>,
    list: Vec<u32>,
    mark: Vec<u32>,
}

impl Ranks {
    /// The subscribers of a class, by rank.
    #[inline]
    pub(crate) fn of_class(&self, class: u32) -> &[u32] {
        let class = class as usize;
        &self.subscribers[self.class_start[class] as usize..self.class_start[class + 1] as usize]
    }

    pub(crate) fn reserve(&mut self, shape: &Shape) {
        reserve(&mut self.order, shape.members);
        reserve(&mut self.class_start, shape.topics + 1);
        reserve(&mut self.subscribers, shape.arcs);
        // No two subscriptions are alike and each has a member, so all together they have no more than A classes.
        reserve(&mut self.list_start, shape.members + 1);
        reserve(&mut self.list, shape.arcs);
        reserve(&mut self.mark, shape.topics);
    }

    /// Reads a group. What was here before does not matter.
    ///
    /// Cost: O(M + S + A), and O(I log I) comparisons of instance ids if I members are static.
    pub(crate) fn rebuild(&mut self, group: &Group) {
        self.order_members(group);
        let of_topic = group.classes.of_topic.as_slice();
        let classes =
            of_topic.iter().filter(|&&class| class != NONE).max().map_or(0, |&last| last as usize + 1);
        self.list_classes(group, of_topic, classes);

        self.class_start.clear();
        self.class_start.resize(classes + 1, 0);
        for &number in &group.subscription {
            for &class in list(&self.list_start, &self.list, number) {
                self.class_start[class as usize + 1] += 1;
            }
        }
        for class in 0..classes {
            self.class_start[class + 1] += self.class_start[class];
        }
        self.subscribers.clear();
        self.subscribers.resize(self.class_start[classes] as usize, 0);
        self.mark.clear();
        self.mark.extend_from_slice(&self.class_start[..classes]);
        for (rank, &member) in self.order.iter().enumerate() {
            for &class in list(&self.list_start, &self.list, group.subscription[member as usize]) {
                let at = &mut self.mark[class as usize];
                self.subscribers[*at as usize] = rank as u32;
                *at += 1;
            }
        }
    }

    fn order_members(&mut self, group: &Group) {
        let is_static = |member: u32| group.instance[member as usize] != NONE;
        let members = group.members() as u32;
        self.order.clear();
        self.order.extend((0..members).filter(|&member| is_static(member)));
        let instance = |member: u32| group.instance(MemberIndex::new(member)).unwrap_or_default();
        self.order.sort_unstable_by(|&a, &b| utf16_cmp(instance(a), instance(b)).then(a.cmp(&b)));
        self.order.extend((0..members).filter(|&member| !is_static(member)));
    }

    /// The classes of each different subscription, each once; those without a partition are left out.
    fn list_classes(&mut self, group: &Group, of_topic: &[u32], classes: usize) {
        let bases = group.topology.bases();
        self.list.clear();
        self.list_start.clear();
        self.list_start.push(0);
        self.mark.clear();
        self.mark.resize(classes, NONE);
        for (number, bounds) in group.subscription_start.windows(2).enumerate() {
            for &topic in &group.subscription_topics[bounds[0] as usize..bounds[1] as usize] {
                let class = of_topic[topic as usize];
                if bases[topic as usize] == bases[topic as usize + 1] {
                    continue;
                }
                if self.mark[class as usize] != number as u32 {
                    self.mark[class as usize] = number as u32;
                    self.list.push(class);
                }
            }
            self.list_start.push(self.list.len() as u32);
        }
    }

    /// Heap bytes reserved.
    pub(crate) fn memory_usage(&self) -> usize {
        let words = self.order.capacity()
            + self.class_start.capacity()
            + self.subscribers.capacity()
            + self.list_start.capacity()
            + self.list.capacity()
            + self.mark.capacity();
        words * 4
    }
}

#[inline]
fn list<'a>(start: &[u32], all: &'a [u32], number: u32) -> &'a [u32] {
    let number = number as usize;
    &all[start[number] as usize..start[number + 1] as usize]
}
