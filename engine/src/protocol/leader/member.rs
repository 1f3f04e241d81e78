//! One member's bytes, read as nearly all are: whole, and with claims on nothing but what exists.
//!
//! What is read holds no borrow of the bytes, only places in them, so that it can wait in memory that is used again
//! while other threads read other members.

use alloc::vec::Vec;
use core::ops::Range;

use super::heads::{Heads, Listed};
use super::sequence::Sequence;
use super::turn::Turn;
use crate::codec::sticky::{STICKY, TENURE_COOPERATIVE_STICKY};
use crate::codec::{Blocks, CompactUserData, History, Names, Reader, Subscription};

/// What was read of a member, beside its claims.
#[derive(Debug, Clone, Copy)]
pub(super) struct Taken {
    pub(super) version: i16,
    /// Whether its topic list is that of the member taken before it.
    pub(super) same: bool,
    /// Whether its claims ascend: where the bytes have them as a leader writes them.
    pub(super) ascend: bool,
    /// The settled generation of its claims, −1 for none.
    pub(super) generation: i32,
    /// Where the name of its rack is; empty without one.
    rack: (u32, u32),
    /// Where the list of its owned partitions is, if it is as a leader writes it; else empty.
    blocks: (u32, u32),
}

impl Taken {
    pub(super) fn rack(&self) -> Range<usize> {
        self.rack.0 as usize..self.rack.1 as usize
    }

    pub(super) fn blocks(&self) -> Range<usize> {
        self.blocks.0 as usize..self.blocks.1 as usize
    }
}

/// What one thread knows from the members before.
#[derive(Debug, Clone, Default)]
pub(super) struct Course {
    /// The claims of the members read, one after the other.
    pub(super) claims: Vec<u32>,
    /// The topics that the last member's claims were in, in its order.
    sequence: Sequence,
    turn: Turn,
    places: Places,
}

/// What places in a topic list stand for, where members claim by them.
#[derive(Debug, Clone, Default)]
struct Places {
    /// Whether this is about the list of the last member that was taken.
    current: bool,
    /// The topic at each place; [`NOWHERE`] for one that does not exist.
    topics: Vec<u32>,
    /// Whether topics ascend.
    ascend: bool,
    /// The list's checksum.
    seal: u32,
}

/// No topic.
const NOWHERE: u32 = u32::MAX;

impl Places {
    fn resolve(&mut self, list: Names<'_>, heads: &Heads) {
        self.current = false;
        self.topics.clear();
        self.seal = CompactUserData::seal(list);
        let mut next = 0;
        for name in list {
            let topic = heads.topic(name, next);
            next = topic.map_or(next, |topic| topic + 1);
            self.topics.push(topic.map_or(NOWHERE, |topic| topic as u32));
        }
        self.ascend = self.topics.is_sorted_by(|a, b| a < b);
    }

    /// Reads compact user data and appends its claims. `None` if there is anything strange in it.
    fn read(
        &self,
        data: &[u8],
        list: Names<'_>,
        heads: &Heads,
        claims: &mut Vec<u32>,
    ) -> Option<Option<i32>> {
        let read = CompactUserData::decode_sealed(data, list, self.seal).ok()?;
        if !read.literals().is_empty() || read.rack().is_some() {
            return None;
        }
        // What does not exist ends the walk, so that no claim takes more room than a partition that exists.
        if !read.encoding().says_runs() {
            let mut whole = true;
            claims.reserve(read.partition_count());
            read.claims().for_each(|claim| {
                let topic = self.topics.get(claim.topic as usize).copied().unwrap_or(NOWHERE);
                match heads.partition(topic, claim.partition) {
                    Some(partition) => claims.push(partition),
                    None => whole = false,
                }
            });
            return whole.then(|| read.generation());
        }
        for range in read.ranges() {
            let topic = self.topics.get(range.topic as usize).copied().unwrap_or(NOWHERE);
            let (from, to) = (heads.partition(topic, range.from)?, heads.partition(topic, range.to)?);
            claims.extend(from..=to);
        }
        Some(read.generation())
    }
}

impl Course {
    pub(super) fn clear(&mut self) {
        self.claims.clear();
        self.sequence.clear();
        self.turn.forget();
        self.places.current = false;
    }

    /// Reads a member, with `previous` the topic list of the last one that was taken; appends its claims. `None`, and
    /// nothing appended, for what is to be read with care.
    pub(super) fn take<'a>(
        &mut self,
        bytes: &'a [u8],
        previous: &mut Option<Names<'a>>,
        protocol_name: &str,
        heads: &Heads,
    ) -> Option<Taken> {
        let from = self.claims.len();
        let taken = self.try_take(bytes, previous, protocol_name, heads);
        if taken.is_none() {
            self.claims.truncate(from);
        }
        taken
    }

    fn try_take<'a>(
        &mut self,
        bytes: &'a [u8],
        previous: &mut Option<Names<'a>>,
        protocol_name: &str,
        heads: &Heads,
    ) -> Option<Taken> {
        let from = self.claims.len();
        u32::try_from(bytes.len()).ok()?;
        let place = |rest: &[u8]| (bytes.len() - rest.len()) as u32;
        let mut reader = Reader::new(bytes);
        let version = reader.i16("version").ok().filter(|&version| version >= 0)?;
        let (topics, same) =
            Names::decode_like(&mut reader, previous.unwrap_or_default(), "topics", "topic").ok()?;
        let same = same && previous.is_some();
        let user_data = reader.nullable_bytes("userData").ok()?;
        let data_at = place(reader.rest()) - user_data.map_or(0, <[u8]>::len) as u32;
        let sticky = protocol_name == STICKY;
        let mut ascend = false;
        let mut blocks = (0, 0);
        if version >= 1 {
            if sticky {
                // What it has not given up yet is another matter.
                Some(Blocks::decode(&mut reader, "ownedPartitions").ok()?).filter(|held| held.is_empty())?;
            } else {
                let begin = place(reader.rest());
                let Listed { rest, canonical, .. } =
                    heads.read(reader.rest(), &mut self.claims, &mut self.sequence)?;
                ascend = canonical;
                if canonical {
                    blocks = (begin, place(rest));
                }
                reader = Reader::new(rest);
            }
        }
        let generation = if version >= 2 { reader.i32("generationId").ok()? } else { -1 };
        let rack = if version >= 3 { reader.nullable_text("rackId").ok()? } else { None };
        let rack = rack.map_or((0, 0), |rack| {
            let end = place(reader.rest());
            (end - rack.as_bytes().len() as u32, end)
        });
        let generation = match user_data.filter(|bytes| !bytes.is_empty()) {
            Some(data) if sticky => {
                let Some(listed) = heads.read(data, &mut self.claims, &mut self.sequence) else {
                    self.turn.forget();
                    return None;
                };
                if listed.canonical {
                    ascend = true;
                    blocks = (data_at, data_at + (data.len() - listed.rest.len()) as u32);
                } else if listed.ones {
                    ascend =
                        self.turn.sort(&mut self.claims[from..], self.sequence.topics(), listed.foreseen);
                }
                // The way is only known if all that changes the sequence tells it.
                if !ascend || listed.canonical {
                    self.turn.forget();
                }
                Reader::new(listed.rest).i32("generation").ok().filter(|&generation| generation >= 0)
            }
            Some(data) if protocol_name == TENURE_COOPERATIVE_STICKY => {
                // Claims in two places are to be read with care.
                if self.claims.len() > from {
                    return None;
                }
                if !(same && self.places.current) {
                    self.places.resolve(topics, heads);
                }
                let told = self.places.read(data, topics, heads, &mut self.claims)?;
                // It could have said a generation, and says none.
                if told.is_none() && version < 2 {
                    return None;
                }
                self.places.current = true;
                (ascend, blocks) = (self.places.ascend, (0, 0));
                told.or((generation >= 0).then_some(generation))
            }
            _ => {
                let subscription = Subscription {
                    version,
                    topics,
                    user_data,
                    owned: Blocks::default(),
                    generation: (generation >= 0).then_some(generation),
                    rack: None,
                };
                let history = History::of(&subscription, protocol_name);
                if history.unreadable.is_some() {
                    return None;
                }
                history.generation
            }
        };
        if !same {
            *previous = Some(topics);
        }
        Some(Taken {
            version,
            same,
            ascend: ascend || self.claims.len() == from,
            generation: generation.unwrap_or(-1),
            rack,
            blocks,
        })
    }

    pub(super) fn memory_usage(&self) -> usize {
        (self.claims.capacity() + self.places.topics.capacity()) * 4
            + self.sequence.memory_usage()
            + self.turn.memory_usage()
    }
}
