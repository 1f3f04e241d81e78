//! Topic names as they stand on the wire, so that a name is known by one comparison and written by one copy.
//!
//! ```text
//! 00 08 e v e n t s - 7 | 00 00 00 01 | 00 00 02 9b
//! └── head, 32 bytes at a time ──┘ count     numbers
//! ```
//!
//! In a large group most blocks hold one partition, so the name is what a block costs. Comparing names through
//! slices of any length is a call of `memcmp` each; two masked words of 16 bytes are a few instructions.

use alloc::vec::Vec;

use crate::id::TopicIndex;
use crate::topology::Topology;

/// Bytes of a head that are compared and written at once: a length and a name of up to 30 bytes.
const WIDTH: usize = 32;

/// A topic's length and name on the wire, and its range of partitions.
#[derive(Debug, Clone, Copy)]
pub(super) struct Head {
    words: [u128; 2],
    masks: [u128; 2],
    /// Bytes of length and name together.
    len: usize,
    base: u32,
    count: u32,
}

/// The heads of all topics of one topology.
#[derive(Debug, Clone, Default)]
pub(super) struct Heads {
    topology: Topology,
    list: Vec<Head>,
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
            let (mut text, mut mask) = ([0; WIDTH], [0; WIDTH]);
            let len = name.len() + 2;
            if len <= WIDTH {
                text[..2].copy_from_slice(&(name.len() as u16).to_be_bytes());
                text[2..len].copy_from_slice(name);
                mask[..len].fill(0xff);
            }
            self.list.push(Head {
                words: words(&text),
                masks: words(&mask),
                len,
                base: bounds[0],
                count: bounds[1] - bounds[0],
            });
        }
    }

    /// Reads a list of blocks of existing partitions, appends their indices to `claims`, and gives what is behind the
    /// list. `None` if there is anything else in it: then it is to be read with care, from the start.
    ///
    /// `sequence` has the topics of the list that was read before, of which each is guessed to come again: Java writes
    /// sticky user data in the order of a hash map, which is strange but the same for all members.
    pub(super) fn read<'a>(
        &self,
        bytes: &'a [u8],
        claims: &mut Vec<u32>,
        sequence: &mut Vec<u32>,
    ) -> Option<&'a [u8]> {
        let (count, mut rest) = number(bytes)?;
        let count = usize::try_from(count as i32).ok().filter(|&count| count <= rest.len())?;
        // Where the sequence fails, a block is mostly as far from the one before as that was from its own.
        let (mut gap, mut last) = (1, usize::MAX);
        for at in 0..count {
            let guess = sequence.get(at).map_or(usize::MAX, |&topic| topic as usize);
            let topic = match self.list.get(guess) {
                Some(head) if self.begins(rest, guess, head) => guess,
                _ => {
                    let topic = self.find(rest, last.wrapping_add(gap))?;
                    match sequence.get_mut(at) {
                        Some(place) => *place = topic as u32,
                        None => sequence.push(topic as u32),
                    }
                    topic
                }
            };
            let head = self.list.get(topic)?;
            let (many, behind) = number(rest.get(head.len..)?)?;
            if many == 1 {
                let (partition, behind) = number(behind)?;
                if partition >= head.count {
                    return None;
                }
                claims.push(head.base + partition);
                rest = behind;
            } else {
                let many = usize::try_from(many as i32).ok()?;
                let (partitions, behind) = behind.split_at_checked(many.checked_mul(4)?)?;
                for partition in partitions.as_chunks::<4>().0 {
                    let partition = u32::from_be_bytes(*partition);
                    if partition >= head.count {
                        return None;
                    }
                    claims.push(head.base + partition);
                }
                rest = behind;
            }
            gap = topic.wrapping_sub(last);
            last = topic;
        }
        Some(rest)
    }

    /// Whether bytes begin with a topic's head.
    #[inline]
    fn begins(&self, bytes: &[u8], topic: usize, head: &Head) -> bool {
        if head.len <= WIDTH
            && let Some(chunk) = bytes.first_chunk::<WIDTH>()
        {
            let [low, high] = words(chunk);
            return low & head.masks[0] == head.words[0]
                && (head.len <= WIDTH / 2 || high & head.masks[1] == head.words[1]);
        }
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

    /// Bytes of a topic's name.
    #[inline]
    pub(super) fn name_len(&self, topic: u32) -> usize {
        self.list[topic as usize].len - 2
    }

    /// Writes a topic's length and name and the number of its partitions, and gives back what is behind them. What is
    /// behind may be overwritten.
    #[inline]
    pub(super) fn write<'w>(&self, topic: u32, count: u32, out: &'w mut [u8]) -> &'w mut [u8] {
        let head = &self.list[topic as usize];
        if head.len <= WIDTH
            && let Some(chunk) = out.first_chunk_mut::<WIDTH>()
        {
            chunk[..16].copy_from_slice(&head.words[0].to_le_bytes());
            chunk[16..].copy_from_slice(&head.words[1].to_le_bytes());
        } else {
            let name = self.topology.name(TopicIndex::new(topic)).as_bytes();
            out[..2].copy_from_slice(&(name.len() as u16).to_be_bytes());
            out[2..head.len].copy_from_slice(name);
        }
        let (_, out) = out.split_at_mut(head.len);
        let (to, out) = out.split_at_mut(4);
        to.copy_from_slice(&count.to_be_bytes());
        out
    }

    pub(super) fn memory_usage(&self) -> usize {
        self.list.capacity() * size_of::<Head>()
    }
}

#[inline]
fn words(bytes: &[u8; WIDTH]) -> [u128; 2] {
    let (chunks, _) = bytes.as_chunks::<16>();
    [u128::from_le_bytes(chunks[0]), u128::from_le_bytes(chunks[1])]
}

#[inline]
fn number(bytes: &[u8]) -> Option<(u32, &[u8])> {
    let (number, rest) = bytes.split_first_chunk::<4>()?;
    Some((u32::from_be_bytes(*number), rest))
}
