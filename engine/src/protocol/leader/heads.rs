//! Topic names as they stand on the wire, so that a name is known by one comparison and written by one copy.
//!
//! ```text
//! 00 08 e v e n t s - 7 | 00 00 00 01 | 00 00 02 9b
//! └── head, 16 bytes at a time ──┘ count     numbers
//! ```
//!
//! In a large group most blocks hold one partition, so the name is what a block costs. Comparing names through
//! slices of any length is a call of `memcmp` each; a masked word of 16 bytes is a few instructions.

use alloc::vec::Vec;

use super::sequence::{Sequence, Walked};
use crate::codec::Text;
use crate::id::TopicIndex;
use crate::topology::Topology;

/// Bytes that are compared and written at once.
pub(super) const HALF: usize = 16;

/// Bytes of a head that needs no look at its name: a length and a name of up to 30 bytes.
pub(super) const WIDTH: usize = 2 * HALF;

/// A topic's length and name on the wire, and its range of partitions: one cache line.
#[derive(Debug, Clone, Copy)]
pub(super) struct Head {
    /// The first bytes, and which of them count.
    pub(super) low: u128,
    pub(super) mask: u128,
    /// The last bytes of one that is longer, which may overlap the first.
    pub(super) high: u128,
    /// Bytes of length and name together.
    pub(super) len: u32,
    pub(super) base: u32,
    pub(super) count: u32,
}

/// The heads of all topics of one topology.
#[derive(Debug, Clone, Default)]
pub(super) struct Heads {
    topology: Topology,
    list: Vec<Head>,
}

/// A list of blocks that was read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Listed<'a> {
    /// What is behind it.
    pub(super) rest: &'a [u8],
    /// Whether it is as a leader writes one: topics ascend, none without a partition, and so do numbers within each.
    pub(super) canonical: bool,
    /// Whether each block has one partition.
    pub(super) ones: bool,
    /// Whether its topics were those of `sequence`, as far as it goes.
    pub(super) foreseen: bool,
}

impl Heads {
    /// Makes the heads of a topology, unless they are made.
    pub(super) fn prepare(&mut self, topology: &Topology) {
        if self.topology.same(topology) {
            return;
        }
        self.topology = topology.clone();
        self.list.clear();
        for (topic, bounds) in (0..).map(TopicIndex::new).zip(topology.bases().windows(2)) {
            let name = topology.name(topic).as_bytes();
            let len = name.len() + 2;
            let (mut text, mut mask) = ([0; WIDTH], [0; HALF]);
            let mut high = 0;
            if len <= WIDTH {
                text[..2].copy_from_slice(&(name.len() as u16).to_be_bytes());
                text[2..len].copy_from_slice(name);
                mask[..len.min(HALF)].fill(0xff);
                high = text[..len].last_chunk().map_or(0, word);
            }
            self.list.push(Head {
                low: text.first_chunk().map_or(0, word),
                mask: word(&mask),
                high,
                // Names beyond 4 GiB don't exist: the topology holds all of them in less.
                len: len as u32,
                base: bounds[0],
                count: bounds[1] - bounds[0],
            });
        }
    }

    /// Reads a list of blocks of existing partitions and appends their indices to `claims`. `None` if there is
    /// anything else in it: then it is to be read with care, from the start.
    ///
    /// `sequence` has the topics of the list that was read before, of which each is guessed to come again: Java writes
    /// sticky user data in the order of a hash map, which is strange but the same for all members.
    pub(super) fn read<'a>(
        &self,
        bytes: &'a [u8],
        claims: &mut Vec<u32>,
        sequence: &mut Sequence,
    ) -> Option<Listed<'a>> {
        let (count, rest) = number(bytes)?;
        let count = usize::try_from(count as i32).ok().filter(|&count| count <= rest.len())?;
        let Walked { blocks, mut rest, ascend } = sequence.walk(rest, count, claims);
        // Where the sequence fails, a block is mostly as far from the one before as that was from its own.
        let (mut gap, mut last) = match *sequence.topics().get(..blocks)? {
            [.., before, last] => ((last as usize).wrapping_sub(before as usize), last as usize),
            [last] => ((last as usize).wrapping_sub(usize::MAX), last as usize),
            [] => (1, usize::MAX),
        };
        // The first topic that may still come in a canonical list.
        let (mut floor, mut canonical) = (last.wrapping_add(1), ascend);
        let (mut ones, mut foreseen) = (true, true);
        for at in blocks..count {
            let guess = sequence.topics().get(at).map_or(usize::MAX, |&topic| topic as usize);
            let (topic, head) = match self.list.get(guess) {
                Some(head) if self.begins(rest, guess, head) => (guess, head),
                _ => {
                    foreseen = false;
                    let topic = self.find(rest, last.wrapping_add(gap))?;
                    sequence.set(at, topic as u32);
                    (topic, self.list.get(topic)?)
                }
            };
            canonical &= topic >= floor;
            floor = topic + 1;
            let behind = rest.get(head.len as usize..)?;
            // Mostly one partition: its count and its number in one word, in one comparison.
            match behind.split_first_chunk::<8>() {
                Some((one, behind))
                    if (u64::from_be_bytes(*one).wrapping_sub(1 << 32)) < head.count.into() =>
                {
                    claims.push(head.base + u64::from_be_bytes(*one) as u32);
                    rest = behind;
                }
                _ => {
                    ones = false;
                    let (many, behind) = number(behind)?;
                    let many = usize::try_from(many as i32).ok()?;
                    let (numbers, behind) = behind.split_at_checked(many.checked_mul(4)?)?;
                    canonical &= head.claim(numbers, claims)?;
                    rest = behind;
                }
            }
            gap = topic.wrapping_sub(last);
            last = topic;
        }
        if foreseen {
            sequence.lay(&self.list);
        }
        Some(Listed { rest, canonical, ones, foreseen })
    }

    /// Whether bytes begin with a topic's head.
    #[inline(always)]
    fn begins(&self, bytes: &[u8], topic: usize, head: &Head) -> bool {
        let len = head.len as usize;
        if len <= HALF {
            if let Some(low) = bytes.first_chunk() {
                return word(low) & head.mask == head.low;
            }
        } else if len <= WIDTH
            && let Some(bytes) = bytes.get(..len)
            && let (Some(low), Some(high)) = (bytes.first_chunk(), bytes.last_chunk())
        {
            return word(low) == head.low && word(high) == head.high;
        }
        self.begins_slowly(bytes, topic)
    }

    #[inline(never)]
    fn begins_slowly(&self, bytes: &[u8], topic: usize) -> bool {
        let name = self.topology.name(TopicIndex::new(topic as u32)).as_bytes();
        bytes.get(..2).is_some_and(|len| len == (name.len() as u16).to_be_bytes())
            && bytes.get(2..).is_some_and(|rest| rest.starts_with(name))
            && i16::try_from(name.len()).is_ok()
    }

    /// The topic whose head bytes begin with: the one given, or one that is looked up.
    fn find(&self, bytes: &[u8], next: usize) -> Option<usize> {
        if let Some(head) = self.list.get(next)
            && self.begins(bytes, next, head)
        {
            return Some(next);
        }
        let (len, rest) = bytes.split_first_chunk::<2>()?;
        let len = usize::try_from(i16::from_be_bytes(*len)).ok()?;
        let name = core::str::from_utf8(rest.get(..len)?).ok()?;
        self.topology.find(name).map(TopicIndex::at)
    }

    /// The topic with this name, which is probably the one given.
    pub(super) fn topic(&self, name: Text<'_>, next: usize) -> Option<usize> {
        let known = |topic: usize| self.topology.name(TopicIndex::new(topic as u32)).as_bytes();
        if next < self.list.len() && known(next) == name.as_bytes() {
            return Some(next);
        }
        self.topology.find(&name.to_str_lossy()).map(TopicIndex::at)
    }

    /// The index of a partition, if it exists.
    #[inline]
    pub(super) fn partition(&self, topic: u32, number: u32) -> Option<u32> {
        let head = self.list.get(topic as usize)?;
        (number < head.count).then(|| head.base + number)
    }

    /// Bytes of a topic's name.
    #[inline]
    pub(super) fn name_len(&self, topic: u32) -> usize {
        self.list[topic as usize].len as usize - 2
    }

    /// Writes a topic's length and name and the number of its partitions, and gives back what is behind them. What is
    /// behind may be overwritten.
    #[inline]
    pub(super) fn write<'w>(&self, topic: u32, count: u32, out: &'w mut [u8]) -> &'w mut [u8] {
        let head = &self.list[topic as usize];
        let len = head.len as usize;
        if len <= HALF
            && let Some(low) = out.first_chunk_mut()
        {
            *low = head.low.to_le_bytes();
        } else if (HALF..=WIDTH).contains(&len)
            && let Some(out) = out.get_mut(..len)
        {
            out[..HALF].copy_from_slice(&head.low.to_le_bytes());
            out[len - HALF..].copy_from_slice(&head.high.to_le_bytes());
        } else {
            let name = self.topology.name(TopicIndex::new(topic)).as_bytes();
            out[..2].copy_from_slice(&(name.len() as u16).to_be_bytes());
            out[2..len].copy_from_slice(name);
        }
        let (_, out) = out.split_at_mut(len);
        let (to, out) = out.split_at_mut(4);
        to.copy_from_slice(&count.to_be_bytes());
        out
    }

    pub(super) fn memory_usage(&self) -> usize {
        self.list.capacity() * size_of::<Head>()
    }
}

impl Head {
    /// Appends the partitions of a block; whether there are any and they ascend. `None` if one does not exist.
    fn claim(&self, numbers: &[u8], claims: &mut Vec<u32>) -> Option<bool> {
        // Each loop looks at one thing, so that each takes many numbers at a time.
        let from = claims.len();
        let numbers = numbers.as_chunks::<4>().0;
        claims.extend(numbers.iter().map(|number| u32::from_be_bytes(*number)));
        let claims = claims.get_mut(from..)?;
        if claims.iter().fold(0, |most, &number| most.max(number)) >= self.count && !claims.is_empty() {
            return None;
        }
        claims.iter_mut().for_each(|number| *number += self.base);
        let ascend = claims.iter().zip(claims.iter().skip(1)).fold(true, |all, (a, b)| all & (a < b));
        Some(ascend && !claims.is_empty())
    }
}

#[inline(always)]
pub(super) fn word(bytes: &[u8; HALF]) -> u128 {
    u128::from_le_bytes(*bytes)
}

#[inline]
fn number(bytes: &[u8]) -> Option<(u32, &[u8])> {
    let (number, rest) = bytes.split_first_chunk::<4>()?;
    Some((u32::from_be_bytes(*number), rest))
}
