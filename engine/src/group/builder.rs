//! From names to indices, once: sorting members, interning subscriptions, splitting claims.

use alloc::string::ToString;
use alloc::vec::Vec;
use core::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};

use super::foreign::{self, Ranks};
use super::{ELSEWHERE, Foreign, Group, NONE, Protocol};
use crate::id::{TopicIndex, utf16_cmp};
use crate::topology::names::Names;
use crate::topology::{BuildError, Topology};

/// Claims that a group may have, beyond four for each partition: 2^22.
///
/// Only ranges can pass it: they are short in a file and long in memory.
pub const CLAIM_LIMIT: u32 = 1 << 22;

/// Collects the members of a group; keeps its memory from one group to the next.
///
/// Cost of building: O(text + claims + subscriptions + M log M). A builder and a group that have been
/// used for a group of the same size are used again without an allocation.
#[derive(Clone, Debug, Default)]
pub struct GroupBuilder {
    topology: Topology,
    ids: Names,
    texts: Names,
    members: Vec<Raw>,
    topics: Vec<u32>,
    unknown: Vec<u32>,
    claims: Vec<u32>,
    foreign: Vec<Foreign>,
    /// Whether the claims of each member are known to ascend.
    claims_ascend: bool,
    /// Whether the ids are known to ascend.
    ids_ascend: bool,
    too_many_claims: Option<u32>,
    too_much_text: bool,
    order: Vec<u32>,
    lists: HashTable<u32>,
    hasher: DefaultHashBuilder,
    sorted: Vec<u32>,
    repeats: Vec<u32>,
    ranks: Ranks,
}

#[derive(Clone, Copy, Debug, Default)]
struct Raw {
    instance: u32,
    rack: u32,
    rack_text: u32,
    generation: i32,
    protocol: Protocol,
    topics: (u32, u32),
    unknown: (u32, u32),
    claims: (u32, u32),
    foreign: (u32, u32),
}

impl GroupBuilder {
    pub(super) fn new(topology: &Topology) -> Self {
        Self { topology: topology.clone(), claims_ascend: true, ..Self::default() }
    }

    /// Forgets all members and takes another topology; keeps the memory.
    pub fn reset(&mut self, topology: &Topology) {
        if !self.topology.same(topology) {
            self.topology = topology.clone();
        }
        self.ids.clear();
        self.texts.clear();
        self.members.clear();
        self.topics.clear();
        self.unknown.clear();
        self.claims.clear();
        self.foreign.clear();
        self.claims_ascend = true;
        self.ids_ascend = false;
        self.too_many_claims = None;
        self.too_much_text = false;
    }

    /// Adds a member and gives the handle for its details. Members may come in any order.
    pub fn member(&mut self, id: &str) -> MemberBuilder<'_> {
        self.too_much_text |= !self.ids.push(id);
        let at = |len: usize| (len as u32, len as u32);
        self.members.push(Raw {
            instance: NONE,
            rack: NONE,
            rack_text: NONE,
            generation: -1,
            protocol: Protocol::default(),
            topics: at(self.topics.len()),
            unknown: at(self.unknown.len()),
            claims: at(self.claims.len()),
            foreign: at(self.foreign.len()),
        });
        MemberBuilder { builder: self }
    }

    /// Sets the generation of a member that was added before, by its number in the order of adding.
    pub(crate) fn set_generation(&mut self, number: usize, generation: i32) {
        if let Some(raw) = self.members.get_mut(number) {
            raw.generation = generation.max(-1);
        }
    }

    /// Says that the members' ids ascend, each once: the leader has sorted them before it reads any.
    pub(crate) fn say_ids_ascend(&mut self) {
        self.ids_ascend = true;
    }

    /// The topology.
    pub fn topology(&self) -> &Topology {
        &self.topology
    }

    /// Number of members added so far.
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Whether no member was added yet.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// Builds the group.
    ///
    /// # Errors
    ///
    /// A member id twice, more claims than [`CLAIM_LIMIT`] allows, or text beyond 4 GiB.
    pub fn build(mut self) -> Result<Group, BuildError> {
        let mut group = Group::default();
        self.build_into(&mut group)?;
        Ok(group)
    }

    /// Builds into a group whose memory is used again. After an error the group is empty.
    ///
    /// # Errors
    ///
    /// As [`build`](Self::build).
    pub fn build_into(&mut self, group: &mut Group) -> Result<(), BuildError> {
        let built = self.try_build(group);
        if built.is_err() {
            *group = Group::default();
        }
        built
    }

    fn try_build(&mut self, group: &mut Group) -> Result<(), BuildError> {
        if self.too_much_text || self.members.len() >= ELSEWHERE as usize {
            return Err(BuildError::TooMuchText);
        }
        if let Some(member) = self.too_many_claims {
            let limit = self.claim_limit();
            return Err(BuildError::TooManyClaims {
                member: self.ids.get(member as usize).to_string(),
                limit,
            });
        }
        let in_order = self.sort_members()?;
        if !group.topology.same(&self.topology) {
            group.topology = self.topology.clone();
        }
        if in_order {
            group.ids.clone_from(&self.ids);
        } else {
            group.ids.clear();
            self.order.iter().for_each(|&at| _ = group.ids.push(self.ids.get(at as usize)));
        }
        group.instance.clear();
        group.rack.clear();
        group.rack_text.clear();
        group.generation.clear();
        group.protocol.clear();
        for &at in &self.order {
            let raw = &self.members[at as usize];
            group.instance.push(raw.instance);
            group.rack.push(raw.rack);
            group.rack_text.push(raw.rack_text);
            group.generation.push(raw.generation);
            group.protocol.push(raw.protocol);
        }
        // Texts are referred to by number, which does not change.
        core::mem::swap(&mut group.texts, &mut self.texts);
        self.intern_subscriptions(group);
        self.copy_claims(group, in_order);
        let built = group.classes.rebuild(
            &self.topology,
            &group.subscription,
            &group.subscription_start,
            &group.subscription_topics,
            &group.rack,
        );
        if built { Ok(()) } else { Err(BuildError::TooMuchText) }
    }

    /// Puts the members in the order of their ids; whether they came in it.
    fn sort_members(&mut self) -> Result<bool, BuildError> {
        self.order.clear();
        self.order.extend(0..self.members.len() as u32);
        let ids = &self.ids;
        let compare = |a: &u32, b: &u32| utf16_cmp(ids.get(*a as usize), ids.get(*b as usize));
        debug_assert!(!self.ids_ascend || self.order.is_sorted_by(|a, b| compare(a, b).is_lt()));
        if self.ids_ascend || self.order.is_sorted_by(|a, b| compare(a, b).is_lt()) {
            return Ok(true);
        }
        self.order.sort_unstable_by(compare);
        for pair in self.order.windows(2) {
            if ids.get(pair[0] as usize) == ids.get(pair[1] as usize) {
                return Err(BuildError::MemberTwice { member: ids.get(pair[0] as usize).to_string() });
            }
        }
        Ok(false)
    }

    /// Stores each different list of topics once, in the order of the first member that has it.
    fn intern_subscriptions(&mut self, group: &mut Group) {
        group.subscription.clear();
        group.subscription_start.clear();
        group.subscription_start.push(0);
        group.subscription_topics.clear();
        group.repeat_start.clear();
        group.repeat_start.push(0);
        group.repeat_topics.clear();
        group.unknown_start.clear();
        group.unknown_start.push(0);
        group.unknown_topics.clear();
        self.lists.clear();
        let mut last: Option<(u32, u32, u32)> = None;
        for &at in &self.order {
            let raw = self.members[at as usize];
            let unknown = &self.unknown[raw.unknown.0 as usize..raw.unknown.1 as usize];
            group.unknown_topics.extend_from_slice(unknown);
            group.unknown_start.push(group.unknown_topics.len() as u32);
            let list = &self.topics[raw.topics.0 as usize..raw.topics.1 as usize];
            // Mostly the same list as the member before: compare that first, it is one pass.
            if let Some((from, to, number)) = last
                && (raw.topics == (from, to) || list == &self.topics[from as usize..to as usize])
            {
                group.subscription.push(number);
                continue;
            }
            self.sorted.clear();
            self.repeats.clear();
            self.sorted.extend_from_slice(list);
            if !self.sorted.is_sorted_by(|a, b| a < b) {
                self.sorted.sort_unstable();
                self.repeats.extend(self.sorted.windows(2).filter(|p| p[0] == p[1]).map(|p| p[0]));
                self.sorted.dedup();
            }
            let hash = self.hasher.hash_one((&self.sorted, &self.repeats));
            let number = intern(&mut self.lists, &self.hasher, hash, &self.sorted, &self.repeats, group);
            group.subscription.push(number);
            last = Some((raw.topics.0, raw.topics.1, number));
        }
    }

    fn copy_claims(&mut self, group: &mut Group, in_order: bool) {
        group.claims.clear();
        group.claim_start.clear();
        group.claim_start.push(0);
        group.foreign.clear();
        group.foreign_start.clear();
        group.foreign_start.push(0);
        if in_order && self.claims_ascend && self.foreign.is_empty() {
            // As from a settled group: nothing to sort, nothing to merge.
            group.claims.extend_from_slice(&self.claims);
            group.claim_start.extend(self.members.iter().map(|raw| raw.claims.1));
            group.foreign_start.resize(self.members.len() + 1, 0);
            return;
        }
        for &at in &self.order {
            let raw = self.members[at as usize];
            let claims = &mut self.claims[raw.claims.0 as usize..raw.claims.1 as usize];
            if claims.is_sorted_by(|a, b| a < b) {
                group.claims.extend_from_slice(claims);
            } else {
                claims.sort_unstable();
                let from = group.claims.len();
                for &claim in claims.iter() {
                    if group.claims.len() == from || group.claims.last() != Some(&claim) {
                        group.claims.push(claim);
                    }
                }
            }
            group.claim_start.push(group.claims.len() as u32);
            let foreign = &mut self.foreign[raw.foreign.0 as usize..raw.foreign.1 as usize];
            foreign::append(foreign, &group.texts, &mut self.ranks, &mut group.foreign);
            group.foreign_start.push(group.foreign.len() as u32);
        }
    }

    fn claim_limit(&self) -> u32 {
        u32::try_from(self.topology.partitions()).unwrap_or(u32::MAX).saturating_mul(4).max(CLAIM_LIMIT)
    }
}

fn intern(
    lists: &mut HashTable<u32>,
    hasher: &DefaultHashBuilder,
    hash: u64,
    sorted: &[u32],
    repeats: &[u32],
    group: &mut Group,
) -> u32 {
    fn list(group: &Group, number: u32) -> (&[u32], &[u32]) {
        let at = number as usize;
        let topics = group.subscription_start[at] as usize..group.subscription_start[at + 1] as usize;
        let repeats = group.repeat_start[at] as usize..group.repeat_start[at + 1] as usize;
        (&group.subscription_topics[topics], &group.repeat_topics[repeats])
    }
    if let Some(&number) = lists.find(hash, |&number| list(group, number) == (sorted, repeats)) {
        return number;
    }
    let number = group.subscription_start.len() as u32 - 1;
    group.subscription_topics.extend_from_slice(sorted);
    group.subscription_start.push(group.subscription_topics.len() as u32);
    group.repeat_topics.extend_from_slice(repeats);
    group.repeat_start.push(group.repeat_topics.len() as u32);
    let group = &*group;
    lists.insert_unique(hash, number, |&number| hasher.hash_one(list(group, number)));
    number
}

/// The details of one member; see [`GroupBuilder::member`].
#[derive(Debug)]
pub struct MemberBuilder<'a> {
    builder: &'a mut GroupBuilder,
}

impl MemberBuilder<'_> {
    fn raw(&mut self) -> &mut Raw {
        let at = self.builder.members.len() - 1;
        &mut self.builder.members[at]
    }

    fn text(&mut self, text: &str) -> u32 {
        let texts = &mut self.builder.texts;
        self.builder.too_much_text |= !texts.push(text);
        (texts.len() as u32).saturating_sub(1)
    }

    /// Subscribes to a topic by name; it need not exist.
    pub fn topic(&mut self, name: &str) -> &mut Self {
        match self.builder.topology.find(name) {
            Some(topic) => self.topic_index(topic),
            None => {
                let text = self.text(name);
                self.builder.unknown.push(text);
                self.raw().unknown.1 += 1;
                self
            }
        }
    }

    /// Subscribes to a topic by index.
    pub fn topic_index(&mut self, topic: TopicIndex) -> &mut Self {
        if topic.at() < self.builder.topology.topics() {
            self.builder.topics.push(topic.get());
            self.raw().topics.1 += 1;
        }
        self
    }

    /// Subscribes to exactly what the member before subscribes to, unknown topics included. Costs nothing;
    /// for the first member it does nothing.
    pub fn topics_as_before(&mut self) -> &mut Self {
        if let [.., before, last] = &mut self.builder.members[..] {
            last.topics = before.topics;
            last.unknown = before.unknown;
        }
        self
    }

    /// Subscribes to exactly what an earlier member subscribes to, unknown topics included: the one added as
    /// the `number`-th, from 0. Costs nothing; for a member that is not there yet it does nothing.
    pub fn topics_as(&mut self, number: usize) -> &mut Self {
        if let [before @ .., last] = &mut self.builder.members[..]
            && let Some(before) = before.get(number)
        {
            last.topics = before.topics;
            last.unknown = before.unknown;
        }
        self
    }

    /// Claims partitions of a topic, by Kafka's numbers. What does not exist is remembered as foreign.
    pub fn owned(&mut self, topic: &str, partitions: impl IntoIterator<Item = i32>) -> &mut Self {
        match self.builder.topology.find(topic) {
            Some(index) => {
                for partition in partitions {
                    self.owned_index_range(index, partition, partition);
                }
            }
            None => self.foreign(topic, partitions.into_iter().map(|number| (number, number))),
        }
        self
    }

    /// As [`owned`](Self::owned), the topic by index and the numbers all at once, as they come from the wire.
    ///
    /// Cost: one comparison and one store a number.
    pub fn owned_index<I>(&mut self, topic: TopicIndex, partitions: I) -> &mut Self
    where
        I: IntoIterator<Item = i32>,
        I::IntoIter: ExactSizeIterator + Clone,
    {
        let partitions = partitions.into_iter();
        let bases = self.builder.topology.bases();
        let (base, end) = (bases[topic.at()], bases[topic.at() + 1]);
        let exists = |number: i32| (number as u32) < end - base;
        self.builder.claims_ascend = false;
        let claims = &mut self.builder.claims;
        let from = claims.len();
        claims.extend(partitions.clone().filter(|&number| exists(number)).map(|number| base + number as u32));
        let many = claims.len() - from;
        if claims.len() as u64 > u64::from(self.builder.claim_limit()) {
            self.builder.claims.truncate(from);
            self.builder.too_many_claims.get_or_insert(self.builder.members.len() as u32 - 1);
            return self;
        }
        self.raw().claims.1 += many as u32;
        if many < partitions.len() {
            let topology = self.builder.topology.clone();
            let missing = partitions.filter(|&number| !exists(number));
            self.foreign(topology.name(topic), missing.map(|number| (number, number)));
        }
        self
    }

    /// Claims an inclusive range of partitions of a topic; an empty range (from above to) is none.
    pub fn owned_range(&mut self, topic: &str, from: i32, to: i32) -> &mut Self {
        match self.builder.topology.find(topic) {
            Some(index) => _ = self.owned_index_range(index, from, to),
            None => self.foreign(topic, [(from, to)]),
        }
        self
    }

    /// As [`owned_range`](Self::owned_range), the topic by index.
    pub fn owned_index_range(&mut self, topic: TopicIndex, from: i32, to: i32) -> &mut Self {
        let count = self.builder.topology.partition_count(topic) as i32;
        let base = self.builder.topology.bases()[topic.at()];
        let (low, high) = (from.max(0), to.min(count - 1));
        if low <= high {
            self.builder.claims_ascend = false;
            let many = (high - low) as u64 + 1;
            if self.builder.claims.len() as u64 + many > u64::from(self.builder.claim_limit()) {
                self.builder.too_many_claims.get_or_insert(self.builder.members.len() as u32 - 1);
                return self;
            }
            self.builder.claims.extend(base + low as u32..=base + high as u32);
            self.raw().claims.1 += many as u32;
        }
        if from < 0 || to >= count {
            let topology = self.builder.topology.clone();
            let name = topology.name(topic);
            self.foreign(name, [(from, to.min(-1)), (from.max(count), to)]);
        }
        self
    }

    /// Claims partitions of the topology by index, and says whether they ascend.
    pub(crate) fn owned_indices(&mut self, partitions: &[u32], ascend: bool) -> &mut Self {
        let raw = *self.raw();
        self.builder.claims_ascend &= ascend && raw.claims.0 == raw.claims.1;
        let many = self.builder.claims.len() as u64 + partitions.len() as u64;
        if many > u64::from(self.builder.claim_limit()) {
            self.builder.too_many_claims.get_or_insert(self.builder.members.len() as u32 - 1);
            return self;
        }
        self.builder.claims.extend_from_slice(partitions);
        self.raw().claims.1 += partitions.len() as u32;
        self
    }

    /// Claims ranges of a topic that do not exist; what ends before it begins is none.
    fn foreign(&mut self, topic: &str, ranges: impl IntoIterator<Item = (i32, i32)>) {
        let mut ranges = ranges.into_iter().filter(|(from, to)| from <= to).peekable();
        if ranges.peek().is_none() {
            return;
        }
        // One topic's claims usually follow each other: its name is stored once.
        let raw = *self.raw();
        let last = self.builder.foreign[raw.foreign.0 as usize..].last();
        let topic = match last {
            Some(last) if self.builder.texts.get(last.topic as usize) == topic => last.topic,
            _ => self.text(topic),
        };
        self.builder.foreign.extend(ranges.map(|(from, to)| Foreign { topic, from, to }));
        self.raw().foreign.1 = self.builder.foreign.len() as u32;
    }

    /// The generation of the claims, as on the wire: negative means none.
    pub fn generation(&mut self, generation: i32) -> &mut Self {
        self.raw().generation = generation.max(-1);
        self
    }

    /// The `group.instance.id` of a static member.
    pub fn instance(&mut self, instance: &str) -> &mut Self {
        let text = self.text(instance);
        self.raw().instance = text;
        self
    }

    /// The rack (`client.rack`); the empty name means none.
    pub fn rack(&mut self, rack: &str) -> &mut Self {
        let number = match self.builder.topology.find_rack(rack) {
            _ if rack.is_empty() => NONE,
            Some(rack) => rack.get(),
            None => ELSEWHERE,
        };
        // A rack of the topology has its name there.
        let text = if number == ELSEWHERE { self.text(rack) } else { NONE };
        let raw = self.raw();
        raw.rack = number;
        raw.rack_text = text;
        self
    }

    /// Eager or cooperative; cooperative unless said.
    pub fn protocol(&mut self, protocol: Protocol) -> &mut Self {
        self.raw().protocol = protocol;
        self
    }
}
