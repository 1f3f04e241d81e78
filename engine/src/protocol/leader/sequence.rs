//! The topics that the last list of blocks was of, each of which is guessed to come again.
//!
//! Members of a large group mostly claim of the same topics in the same order, one partition of each. Once a list has
//! been as its sequence said, the heads of the sequence are laid one behind the other, and the next list is held
//! against them: a name, a count of one and a number that exists are then a dozen instructions, *because* nothing is
//! left to be decided where the guess holds. Where it fails the list is read on block by block.

use alloc::vec::Vec;

use super::heads::{HALF, Head, WIDTH, word};

/// The topics of the last list.
#[derive(Debug, Clone, Default)]
pub(super) struct Sequence {
    topics: Vec<u32>,
    /// The heads of its topics, as many as are short enough; empty since the sequence was changed.
    steps: Vec<Head>,
    /// Up to where the topics of the steps ascend.
    ascend_to: usize,
    /// Bytes of the longest name among the steps with its length.
    longest: usize,
}

/// How far a list was walked.
#[derive(Debug, Clone, Copy)]
pub(super) struct Walked<'a> {
    /// Blocks that were as the sequence says, with one partition each.
    pub(super) blocks: usize,
    /// What is behind them.
    pub(super) rest: &'a [u8],
    /// Whether their topics ascend.
    pub(super) ascend: bool,
}

/// Bytes of a count and one number.
const ONE: usize = 8;

impl Sequence {
    pub(super) fn clear(&mut self) {
        self.topics.clear();
        self.steps.clear();
    }

    /// The topics.
    pub(super) fn topics(&self) -> &[u32] {
        &self.topics
    }

    /// Notes that the block at this place was of another topic.
    pub(super) fn set(&mut self, at: usize, topic: u32) {
        match self.topics.get_mut(at) {
            Some(place) => *place = topic,
            None => self.topics.push(topic),
        }
        self.steps.clear();
    }

    /// Lays out the steps, unless that is done: the list was as the sequence says, so the next one may be, too.
    pub(super) fn lay(&mut self, heads: &[Head]) {
        if !self.steps.is_empty() {
            return;
        }
        let heads = self.topics.iter().map_while(|&topic| heads.get(topic as usize));
        self.steps.extend(heads.take_while(|head| head.len as usize <= WIDTH));
        self.longest = self.steps.iter().map(|head| head.len as usize).max().unwrap_or(0);
        let falls = self.topics.windows(2).position(|pair| pair[0] >= pair[1]);
        self.ascend_to = falls.map_or(self.topics.len(), |at| at + 1);
    }

    /// Reads blocks from the front of a list of `count` for as long as they are the next steps, each with one partition
    /// that exists, and appends those.
    pub(super) fn walk<'a>(&self, bytes: &'a [u8], count: usize, claims: &mut Vec<u32>) -> Walked<'a> {
        let steps = self.steps.get(..count).unwrap_or(&self.steps);
        let from = claims.len();
        claims.resize(from + steps.len(), 0);
        let places = claims.get_mut(from..).unwrap_or_default();
        let (blocks, rest) = if self.longest <= HALF {
            walk::<{ HALF + ONE }>(steps, bytes, places)
        } else {
            walk::<{ WIDTH + ONE }>(steps, bytes, places)
        };
        claims.truncate(from + blocks);
        Walked { blocks, rest, ascend: blocks <= self.ascend_to }
    }

    pub(super) fn memory_usage(&self) -> usize {
        self.topics.capacity() * 4 + self.steps.capacity() * size_of::<Head>()
    }
}

/// Walks with a window of so many bytes, which holds the longest name, a count and a number.
#[inline]
fn walk<'a, const WINDOW: usize>(steps: &[Head], bytes: &'a [u8], places: &mut [u32]) -> (usize, &'a [u8]) {
    let mut rest = bytes;
    for (at, (head, place)) in steps.iter().zip(places).enumerate() {
        let len = head.len as usize;
        let Some(window) = rest.first_chunk::<WINDOW>() else { return (at, rest) };
        let low = window.first_chunk::<HALF>().map_or(0, word);
        let named = if WINDOW == HALF + ONE || len <= HALF {
            low & head.mask == head.low
        } else {
            let high = window.get(..len).and_then(|name| name.last_chunk::<HALF>());
            low == head.low && high.is_some_and(|high| word(high) == head.high)
        };
        let (Some(one), Some(behind)) =
            (window.get(len..).and_then(|behind| behind.first_chunk::<ONE>()), rest.get(len + ONE..))
        else {
            return (at, rest);
        };
        // The count and the number in one word, in one comparison.
        let one = u64::from_be_bytes(*one);
        if !named || one.wrapping_sub(1 << 32) >= u64::from(head.count) {
            return (at, rest);
        }
        *place = head.base + one as u32;
        rest = behind;
    }
    (steps.len(), rest)
}

#[cfg(test)]
mod tests {
    use alloc::format;
    use alloc::vec::Vec;

    use super::super::heads::Heads;
    use super::Sequence;
    use crate::topology::Topology;

    struct Dice(u64);

    impl Dice {
        fn below(&mut self, most: u64) -> u64 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 33) % most
        }
    }

    /// A list of blocks of some topics, mostly one partition each, as a member sends it with what is behind it.
    fn list(names: &[&str], topics: &[usize], dice: &mut Dice, odd: u64) -> Vec<u8> {
        let mut bytes = (topics.len() as u32).to_be_bytes().to_vec();
        for &topic in topics {
            let name = names[topic];
            bytes.extend((name.len() as u16).to_be_bytes());
            bytes.extend(name.as_bytes());
            let many = if dice.below(odd) == 0 { dice.below(4) } else { 1 };
            bytes.extend((many as u32).to_be_bytes());
            for _ in 0..many {
                bytes.extend((dice.below(9) as u32).to_be_bytes());
            }
        }
        bytes.extend(&b"generation, rack and more"[..dice.below(25) as usize]);
        bytes
    }

    #[test]
    fn a_list_is_read_the_same_whatever_was_read_before_it() {
        let short = ["a", "bb", "events-7", "events-8", "fourteen-bytes"];
        let names: [&[&str]; 3] = [
            &short,
            &["a", "events-7", "orders-of-the-last-month", "thirty-bytes-and-not-one-more."],
            &["a", "a-name-that-is-longer-than-heads-are-wide", "orders", "payments-in-euro"],
        ];
        let mut walked = 0;
        for names in names {
            let topology = names
                .iter()
                .fold(Topology::builder(), |builder, name| builder.topic(name, 9))
                .build()
                .unwrap();
            let mut heads = Heads::default();
            heads.prepare(&topology);
            for seed in 0..600 {
                let mut dice = Dice(seed);
                let mut topics: Vec<usize> = (0..names.len()).collect();
                if dice.below(3) == 0 {
                    topics.rotate_left(1);
                }
                let odd = 1 + dice.below(30);
                let mut kept = Sequence::default();
                let mut claims = Vec::new();
                for round in 0..8 {
                    if dice.below(6) == 0 {
                        let at = dice.below(topics.len() as u64) as usize;
                        topics[at] = dice.below(names.len() as u64) as usize;
                    }
                    let count = if dice.below(5) == 0 {
                        1 + dice.below(topics.len() as u64) as usize
                    } else {
                        topics.len()
                    };
                    let mut bytes = list(names, &topics[..count], &mut dice, odd);
                    if dice.below(8) == 0 {
                        let at = dice.below(bytes.len() as u64) as usize;
                        bytes[at] ^= 1 << dice.below(8);
                    }
                    if dice.below(8) == 0 {
                        bytes.truncate(dice.below(bytes.len() as u64) as usize);
                    }
                    claims.clear();
                    let steps = kept.steps.len();
                    let again = heads.read(&bytes, &mut claims, &mut kept);
                    walked += usize::from(steps > 0 && again.is_some());
                    let mut alone = Vec::new();
                    let mut fresh = Sequence::default();
                    let first = heads.read(&bytes, &mut alone, &mut fresh);
                    if first.is_some() {
                        assert!(kept.topics().starts_with(fresh.topics()), "seed {seed} round {round}");
                    }
                    let seen = |listed: Option<super::super::heads::Listed<'_>>, claims: &[u32]| {
                        listed.map(|listed| {
                            format!("{claims:?} {} {} {}", listed.rest.len(), listed.canonical, listed.ones)
                        })
                    };
                    assert_eq!(
                        seen(again, &claims),
                        seen(first, &alone),
                        "seed {seed} round {round} {topics:?}"
                    );
                }
            }
        }
        assert!(walked > 3000, "{walked}");
    }
}
