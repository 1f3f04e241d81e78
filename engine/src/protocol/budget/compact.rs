//! How long members' compact user data is.

use alloc::vec::Vec;

use super::members::Moment;
use crate::codec::TopicPartitions;
use crate::codec::compact::{CompactFields, CompactScratch, Owned, TopicList};
use crate::group::Group;
use crate::id::{Generation, MemberIndex, PartitionIndex};
use crate::revoke::Round;

/// Lengths of one member's data: for each moment without its rack and with it, which versions before 3 need.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Compact {
    now: [u64; 2],
    settled: [u64; 2],
}

impl Compact {
    pub(super) fn len(&self, version: i16, moment: Moment) -> u64 {
        let lens = match moment {
            Moment::Now => self.now,
            Moment::Settled => self.settled,
        };
        lens[usize::from(version < 3)]
    }
}

/// Counts one member after the other in the same memory.
pub(super) struct Compacting<'a> {
    round: Round<'a>,
    scratch: CompactScratch,
    numbers: Vec<i32>,
    blocks: Vec<(&'a str, usize)>,
    /// The generation of the settled round.
    next: i32,
}

/// A claim on what does not exist is written out only so far: it may say two billion partitions in a few bytes.
const FOREIGN_MAX: i32 = 1 << 20;

impl<'a> Compacting<'a> {
    pub(super) fn new(round: &Round<'a>) -> Self {
        let group = round.group();
        let known = group.member_indices().filter_map(|member| group.generation(member));
        let next = known.max().map_or(1, |generation| generation.get().saturating_add(1));
        Self {
            round: *round,
            scratch: CompactScratch::default(),
            numbers: Vec::new(),
            blocks: Vec::new(),
            next,
        }
    }

    /// Counts a member.
    pub(super) fn count(&mut self, member: MemberIndex) -> Compact {
        let group = self.round.group();
        let topology = group.topology();
        let listed = group.subscription(member).chain(group.repeated_topics(member));
        let mut names: Vec<&str> = listed.map(|topic| topology.name(topic)).collect();
        names.extend(group.unknown_subscriptions(member));
        // What no bytes can say, no member can join with.
        let Ok(topics) = TopicList::new(&names) else { return Compact::default() };
        let rack = group.rack_name(member);

        self.begin();
        self.add_partitions(group, group.claims(member));
        for claim in group.foreign_claims(member) {
            let from = claim.from.max(0);
            self.add(claim.topic, from..=claim.to.min(from.saturating_add(FOREIGN_MAX)));
        }
        let now = self.lens(&topics, group.generation(member).map(Generation::get), rack);
        self.begin();
        self.add_partitions(group, self.round.plan().target(member).iter().copied());
        let settled = self.lens(&topics, Some(self.next), rack);
        Compact { now, settled }
    }

    fn begin(&mut self) {
        self.numbers.clear();
        self.blocks.clear();
    }

    fn add_partitions(&mut self, group: &'a Group, partitions: impl Iterator<Item = PartitionIndex>) {
        let topology = group.topology();
        for partition in partitions {
            let name = topology.name(topology.topic_of(partition));
            let number = topology.number(partition).cast_signed();
            self.add(name, number..=number);
        }
    }

    fn add(&mut self, topic: &'a str, numbers: impl Iterator<Item = i32>) {
        self.numbers.extend(numbers);
        let end = self.numbers.len();
        if self.blocks.last().map_or(0, |&(_, end)| end) == end {
            return;
        }
        match self.blocks.last_mut() {
            Some((last, last_end)) if *last == topic => *last_end = end,
            _ => self.blocks.push((topic, end)),
        }
    }

    fn lens(&mut self, topics: &TopicList<'_>, generation: Option<i32>, rack: Option<&str>) -> [u64; 2] {
        let mut from = 0;
        let blocks: Vec<TopicPartitions<'_>> = self
            .blocks
            .iter()
            .map(|&(topic, end)| {
                let partitions = &self.numbers[from..end];
                from = end;
                TopicPartitions { topic, partitions }
            })
            .collect();
        let mut fields = CompactFields::new(topics);
        fields.owned = Owned::Blocks(&blocks);
        fields.generation = generation;
        let mut len =
            |fields: &CompactFields<'_>| fields.encoded_len(&mut self.scratch).map_or(0, |len| len as u64);
        let without = len(&fields);
        fields.rack = rack;
        [without, if rack.is_some() { len(&fields) } else { without }]
    }
}
