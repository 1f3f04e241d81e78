//! From the members' bytes to a group: their order, their topic lists, their claims.

use alloc::string::ToString;
use alloc::vec::Vec;
use core::cmp::Ordering;
use core::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};

use super::heads::Heads;
use super::{DuplicateMembers, JoinEntry, LeaderError};
use crate::codec::sticky::STICKY;
use crate::codec::{Blocks, DecodeError, History, Names, Reader, Subscription, Text};
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
    /// Members whose user data could not be read, ascending.
    pub(super) unreadable: Vec<(u32, DecodeError)>,
    /// The claims of the member that is being read.
    claims: Vec<u32>,
    /// The topics that the last member's claims were in, in its order.
    sequence: Vec<u32>,
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
        let topology = builder.topology().clone();
        let mut resolver = Resolver { topology: &topology, next: 0 };
        let mut previous = Names::default();
        self.lists.clear();
        self.sequence.clear();
        self.version.clear();
        self.unreadable.clear();
        for (number, &position) in self.order.iter().enumerate() {
            let member = &members[position as usize];
            self.claims.clear();
            let swift = swift(
                member.metadata(),
                previous,
                protocol_name,
                heads,
                &mut self.claims,
                &mut self.sequence,
            );
            let (subscription, same, history) = match swift {
                Some(read) => read,
                None => {
                    self.claims.clear();
                    let (subscription, same) = Subscription::decode_like(member.metadata(), previous)
                        .map_err(|e| refused(member, position, e))?;
                    (subscription, same, History::of(&subscription, protocol_name))
                }
            };
            let mut add = builder.member(member.id());
            add.protocol(protocol);
            if same && number > 0 {
                add.topics_as_before();
            } else {
                previous = subscription.topics;
                self.lists.subscribe(members, number, position, previous, &mut resolver, &mut add);
            }
            if let Some(instance) = member.instance_id() {
                add.instance(instance);
            }
            if let Some(rack) = subscription.rack {
                add.rack(&rack.to_str_lossy());
            }
            add.generation(history.generation.unwrap_or(-1));
            self.version.push(subscription.version_read());
            if let Some(error) = history.unreadable {
                self.unreadable.push((number as u32, error));
            }
            add.owned_indices(&self.claims);
            resolver.next = 0;
            for block in history.owned {
                match resolver.find(block.topic) {
                    Some(topic) => add.owned_index(topic, block.partitions),
                    None => add.owned(&block.topic.to_str_lossy(), block.partitions),
                };
            }
        }
        Ok(())
    }

    pub(super) fn memory_usage(&self) -> usize {
        (self.order.capacity() + self.last_order.capacity() + self.member_of.capacity()) * 4
            + self.version.capacity() * 2
            + (self.claims.capacity() + self.sequence.capacity()) * 4
            + self.unreadable.capacity() * size_of::<(u32, DecodeError)>()
            + self.lists.distinct.capacity() * size_of::<Distinct>()
    }
}

/// Reads a member as nearly all are: whole, and with claims on nothing but what exists, which go to `claims` and are
/// left out of the history given. `None` for any other.
fn swift<'a>(
    bytes: &'a [u8],
    previous: Names<'_>,
    protocol_name: &str,
    heads: &Heads,
    claims: &mut Vec<u32>,
    sequence: &mut Vec<u32>,
) -> Option<(Subscription<'a>, bool, History<'a>)> {
    let mut reader = Reader::new(bytes);
    let version = reader.i16("version").ok().filter(|&version| version >= 0)?;
    let (topics, same) = Names::decode_like(&mut reader, previous, "topics", "topic").ok()?;
    let user_data = reader.nullable_bytes("userData").ok()?;
    let sticky = protocol_name == STICKY;
    if version >= 1 {
        reader = if sticky {
            Blocks::decode(&mut reader, "ownedPartitions").ok()?;
            reader
        } else {
            Reader::new(heads.read(reader.rest(), claims, sequence)?)
        };
    }
    let generation = if version >= 2 { reader.i32("generationId").ok()? } else { -1 };
    let rack = if version >= 3 { reader.nullable_text("rackId").ok()? } else { None };
    let subscription = Subscription {
        version,
        topics,
        user_data,
        owned: Blocks::default(),
        generation: (generation >= 0).then_some(generation),
        rack: rack.filter(|rack| !rack.is_empty()),
    };
    let history = match user_data.filter(|bytes| !bytes.is_empty()) {
        Some(data) if sticky => {
            let generation = Reader::new(heads.read(data, claims, sequence)?).i32("generation").ok();
            let generation = generation.filter(|&generation| generation >= 0);
            History { owned: Blocks::default(), generation, unreadable: None }
        }
        _ => History::of(&subscription, protocol_name),
    };
    Some((subscription, same, history))
}

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
