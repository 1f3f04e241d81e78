//! From the members' bytes to a group: their order, their topic lists, their claims.

use alloc::string::ToString;
use alloc::vec::Vec;
use core::cmp::Ordering;
use core::hash::BuildHasher;
use core::ops::Range;

use hashbrown::{DefaultHashBuilder, HashTable};

use super::courses::Courses;
use super::heads::Heads;
use super::member::Taken;
use super::{DuplicateMembers, JoinEntry, LeaderError};
use crate::codec::consumer::NEWEST_VERSION;
use crate::codec::sticky::STICKY;
use crate::codec::{DecodeError, History, Names, Reader, Subscription, Text};
use crate::group::{GroupBuilder, MemberBuilder, Protocol};
use crate::id::{TopicIndex, utf16_cmp};
use crate::topology::Topology;

/// What was read of the members beside the group itself.
#[derive(Debug, Clone, Default)]
pub(super) struct Intake {
    /// Positions in the response by id; once repeats are left out, the order of the group's members.
    pub(super) order: Vec<u32>,
    /// The order of the last round with its repeats: mostly it still holds.
    last_order: Vec<u32>,
    /// The member of each position; that of the first entry for a repeated id.
    pub(super) member_of: Vec<u32>,
    /// The version of each member's subscription.
    pub(super) version: Vec<i16>,
    /// Whether a member claims something under an eager assignor: it has not given that up yet.
    pub(super) falls_back: bool,
    /// Members whose claims can't say their generation, ascending.
    unsaid: Vec<u32>,
    /// Members whose user data could not be read, ascending.
    pub(super) unreadable: Vec<(u32, DecodeError)>,
    /// Where each member's bytes have its claims as a leader would write them; empty if they don't.
    blocks: Vec<Range<usize>>,
    courses: Courses,
    lists: Lists,
}

impl Intake {
    /// Sorts the members by id and finds repeated ones.
    pub(super) fn order_members<M: JoinEntry>(
        &mut self,
        members: &[M],
        leader_id: &str,
        duplicates: DuplicateMembers,
    ) -> Result<(), LeaderError> {
        if members.is_empty() {
            return Err(LeaderError::NoMembers);
        }
        let Ok(count) = u32::try_from(members.len()) else {
            return Err(LeaderError::Group(crate::topology::BuildError::TooMuchText));
        };
        let id = |position: &u32| members[*position as usize].id();
        let compare = |a: &u32, b: &u32| utf16_cmp(id(a), id(b)).then(a.cmp(b));
        // A coordinator lists a stable group in the same order again and again.
        let order = &mut self.last_order;
        if order.len() != members.len() {
            order.clear();
            order.extend(0..count);
        }
        if !order.is_sorted_by(|a, b| compare(a, b) == Ordering::Less) {
            order.sort_unstable_by(compare);
        }
        self.order.clear();
        self.member_of.clear();
        self.member_of.resize(members.len(), 0);
        for &position in order.iter() {
            match self.order.last() {
                Some(first) if id(first) == id(&position) => {
                    if duplicates == DuplicateMembers::Refuse {
                        return Err(LeaderError::DuplicateMember {
                            member: id(first).to_string(),
                            first: *first as usize,
                            again: position as usize,
                        });
                    }
                }
                _ => self.order.push(position),
            }
            self.member_of[position as usize] = self.order.len() as u32 - 1;
        }
        match self.order.binary_search_by(|position| utf16_cmp(id(position), leader_id)) {
            Ok(_) => Ok(()),
            Err(_) => Err(LeaderError::LeaderNotAmongMembers {
                leader: leader_id.to_string(),
                members: members.len(),
            }),
        }
    }

    /// Reads all members into the builder, in the order of their ids.
    pub(super) fn read<M: JoinEntry>(
        &mut self,
        members: &[M],
        protocol_name: &str,
        protocol: Protocol,
        heads: &Heads,
        builder: &mut GroupBuilder,
    ) -> Result<(), LeaderError> {
        let Self { order, version, falls_back, unsaid, unreadable, blocks, courses, lists, .. } = self;
        *falls_back = false;
        unsaid.clear();
        lists.clear();
        version.clear();
        unreadable.clear();
        blocks.clear();
        let topology = builder.topology().clone();
        let mut feed = Feed {
            members,
            protocol_name,
            protocol,
            resolver: Resolver { topology: &topology, next: 0 },
            listed: 0,
            newest: -1,
            version,
            falls_back,
            unsaid,
            unreadable,
            blocks,
            lists,
            builder,
        };
        courses.each(members, order, protocol_name, heads, |position, taken| match taken {
            Some((taken, claims)) => {
                feed.add(position, &taken, claims);
                Ok(())
            }
            None => feed.add_with_care(position),
        })?;
        feed.settle_unsaid();
        Ok(())
    }

    /// The claims of a member as they stand in its bytes, if that is as a leader would write them: number of blocks,
    /// and blocks.
    pub(super) fn blocks<'m, M: JoinEntry>(&self, members: &'m [M], member: usize) -> Option<&'m [u8]> {
        let range = self.blocks.get(member).filter(|range| !range.is_empty())?;
        members[self.order[member] as usize].metadata().get(range.clone())
    }

    pub(super) fn memory_usage(&self) -> usize {
        (self.order.capacity() + self.last_order.capacity() + self.member_of.capacity()) * 4
            + self.version.capacity() * 2
            + self.unsaid.capacity() * 4
            + self.blocks.capacity() * size_of::<Range<usize>>()
            + self.unreadable.capacity() * size_of::<(u32, DecodeError)>()
            + self.courses.memory_usage()
            + self.lists.distinct.capacity() * size_of::<Distinct>()
    }
}

/// Where members go once they are read.
struct Feed<'f, M> {
    members: &'f [M],
    protocol_name: &'f str,
    protocol: Protocol,
    resolver: Resolver<'f>,
    /// The number of the member that had the list of the last one taken.
    listed: usize,
    /// The newest generation of any claim.
    newest: i32,
    version: &'f mut Vec<i16>,
    falls_back: &'f mut bool,
    unsaid: &'f mut Vec<u32>,
    unreadable: &'f mut Vec<(u32, DecodeError)>,
    blocks: &'f mut Vec<Range<usize>>,
    lists: &'f mut Lists,
    builder: &'f mut GroupBuilder,
}

impl<M: JoinEntry> Feed<'_, M> {
    /// Adds a member that was taken.
    fn add(&mut self, position: u32, taken: &Taken, claims: &[u32]) {
        let member = &self.members[position as usize];
        let holds = self.protocol == Protocol::Eager && self.protocol_name != STICKY && !claims.is_empty();
        let protocol = self.note(holds, !claims.is_empty(), taken.generation, taken.version);
        let mut add = self.builder.member(member.id());
        add.protocol(protocol);
        if taken.same {
            add.topics_as(self.listed);
        } else {
            let number = self.version.len();
            self.listed = number;
            let mut list = Reader::new(member.metadata().get(LIST_AT..).unwrap_or_default());
            if let Ok(topics) = Names::decode(&mut list, "topics", "topic") {
                self.lists.subscribe(self.members, number, position, topics, &mut self.resolver, &mut add);
            }
        }
        if let Some(instance) = member.instance_id() {
            add.instance(instance);
        }
        let rack = member.metadata().get(taken.rack()).unwrap_or_default();
        if !rack.is_empty() {
            add.rack(&Text::new(rack).to_str_lossy());
        }
        add.generation(taken.generation).owned_indices(claims, taken.ascend);
        self.version.push(taken.version.min(NEWEST_VERSION));
        self.blocks.push(taken.blocks());
    }

    /// Notes what the next member's claims mean for the round, and how the member takes part. What a member under an
    /// eager assignor still claims it will give up, but has not yet: the group falls back from a cooperative assignor.
    fn note(&mut self, holds: bool, claims: bool, generation: i32, version: i16) -> Protocol {
        *self.falls_back |= holds;
        self.newest = self.newest.max(generation);
        let protocol = if holds { Protocol::Cooperative } else { self.protocol };
        if claims && protocol == Protocol::Cooperative && generation < 0 && version < GENERATION_SINCE {
            self.unsaid.push(self.version.len() as u32);
        }
        protocol
    }

    /// Claims that can't say their generation may be as new as any: what they share with others nobody gets before all
    /// of them let go.
    fn settle_unsaid(&mut self) {
        for &number in self.unsaid.iter() {
            self.builder.set_generation(number as usize, self.newest);
        }
    }

    /// Reads and adds a member that has claims on what does not exist, or something that can't be read.
    #[cold]
    fn add_with_care(&mut self, position: u32) -> Result<(), LeaderError> {
        let member = &self.members[position as usize];
        let subscription =
            Subscription::decode(member.metadata()).map_err(|error| refused(member, position, error))?;
        let holds = self.protocol == Protocol::Eager && !subscription.owned.is_empty();
        let history = if holds {
            let Subscription { owned, generation, .. } = subscription;
            History { owned, generation, unreadable: None, compact: None }
        } else {
            History::of(&subscription, self.protocol_name)
        };
        let number = self.version.len();
        let generation = history.generation.unwrap_or(-1);
        let claims = !history.owned.is_empty() || history.compact.is_some();
        // Compact user data can say its generation, whatever the version around it.
        let version = if history.compact.is_some() { NEWEST_VERSION } else { subscription.version };
        let protocol = self.note(holds, claims, generation, version);
        let mut add = self.builder.member(member.id());
        add.protocol(protocol);
        self.lists.subscribe(
            self.members,
            number,
            position,
            subscription.topics,
            &mut self.resolver,
            &mut add,
        );
        if let Some(instance) = member.instance_id() {
            add.instance(instance);
        }
        if let Some(rack) = subscription.rack.or_else(|| history.compact?.rack()) {
            add.rack(&rack.to_str_lossy());
        }
        add.generation(generation);
        self.version.push(subscription.version_read());
        self.blocks.push(0..0);
        if let Some(error) = history.unreadable {
            self.unreadable.push((number as u32, error));
        }
        self.resolver.next = 0;
        for block in history.owned {
            match self.resolver.find(block.topic) {
                Some(topic) => add.owned_index(topic, block.partitions),
                None => add.owned(&block.topic.to_str_lossy(), block.partitions),
            };
        }
        let Some(compact) = history.compact else { return Ok(()) };
        self.resolver.next = 0;
        let mut last = None;
        for (name, range) in compact.named_ranges() {
            let topic = match last {
                Some((number, topic)) if number == range.topic => topic,
                _ => self.resolver.find(name),
            };
            last = Some((range.topic, topic));
            // Kafka's numbers end with 2^31: what is beyond them is nothing that could be given up.
            let Ok(from) = i32::try_from(range.from) else { continue };
            let to = i32::try_from(range.to).unwrap_or(i32::MAX);
            match topic {
                Some(topic) => add.owned_index_range(topic, from, to),
                None => add.owned_range(&name.to_str_lossy(), from, to),
            };
        }
        Ok(())
    }
}

/// The first version of subscriptions that says in which generation the claims were assigned.
const GENERATION_SINCE: i16 = 2;

#[cold]
fn refused<M: JoinEntry>(member: &M, position: u32, error: DecodeError) -> LeaderError {
    let (member, position, empty) =
        (member.id().to_string(), position as usize, member.metadata().is_empty());
    if empty {
        LeaderError::EmptySubscription { member, position }
    } else {
        LeaderError::Subscription { member, position, error }
    }
}

/// The different topic lists of the round, found by their bytes.
#[derive(Debug, Clone, Default)]
struct Lists {
    distinct: Vec<Distinct>,
    table: HashTable<u32>,
    hasher: DefaultHashBuilder,
}

/// A topic list that was resolved: who sent it, and how long it is.
#[derive(Debug, Clone, Copy)]
struct Distinct {
    position: u32,
    /// The member's number in the builder.
    number: u32,
    len: usize,
}

/// Where a subscription's topic list begins: behind the version.
const LIST_AT: usize = 2;

impl Lists {
    fn clear(&mut self) {
        self.distinct.clear();
        self.table.clear();
    }

    /// Subscribes a member to a list that differs from the member's before it: as another member with the same
    /// bytes, or name by name.
    fn subscribe<M: JoinEntry>(
        &mut self,
        members: &[M],
        number: usize,
        position: u32,
        topics: Names<'_>,
        resolver: &mut Resolver<'_>,
        add: &mut MemberBuilder<'_>,
    ) {
        // The count belongs to the list, since names are cut by length.
        let len = topics.as_bytes().len() + size_of::<i32>();
        let bytes = |position: u32, len: usize| {
            members[position as usize].metadata().get(LIST_AT..LIST_AT + len).unwrap_or_default()
        };
        let list = bytes(position, len);
        let hash = self.hasher.hash_one(list);
        let distinct = &self.distinct;
        let same = |&at: &u32| {
            let other = &distinct[at as usize];
            other.len == len && bytes(other.position, len) == list
        };
        if let Some(&at) = self.table.find(hash, same) {
            add.topics_as(distinct[at as usize].number as usize);
            return;
        }
        let at = distinct.len() as u32;
        self.distinct.push(Distinct { position, number: number as u32, len });
        let Self { distinct, table, hasher } = self;
        table.insert_unique(hash, at, |&at| {
            let other = &distinct[at as usize];
            hasher.hash_one(bytes(other.position, other.len))
        });
        resolver.next = 0;
        for topic in topics {
            match resolver.find(topic) {
                Some(topic) => add.topic_index(topic),
                None => add.topic(&topic.to_str_lossy()),
            };
        }
    }
}

/// From names to topics, guessing that each is the one after the last: lists are mostly sorted.
struct Resolver<'t> {
    topology: &'t Topology,
    next: u32,
}

impl Resolver<'_> {
    #[inline]
    fn find(&mut self, name: Text<'_>) -> Option<TopicIndex> {
        let next = TopicIndex::new(self.next);
        let topic =
            if next.at() < self.topology.topics() && self.topology.name(next).as_bytes() == name.as_bytes() {
                next
            } else {
                self.look_up(name)?
            };
        self.next = topic.get() + 1;
        Some(topic)
    }

    fn look_up(&self, name: Text<'_>) -> Option<TopicIndex> {
        match name.as_str() {
            Some(name) => self.topology.find(name),
            None => self.topology.find(&name.to_str_lossy()),
        }
    }
}
