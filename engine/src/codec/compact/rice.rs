//! Golomb–Rice codes in two streams: the low bits of all deltas, then what is above them in unary.
//!
//! ```text
//! deltas 5, 0, 9 with k = 2:   01 00 01   |   0 1   1   0 0 1
//!                              low bits       5>>2 0>>2  9>>2
//! ```
//!
//! Two streams, *because* the reader then has no branch a number: it walks the ones of a word and reads its low bits at
//! a place that it knows. Mixed codes are as long, and were twice as slow to read.

use super::source::{Numbers, Source};
use super::varints::next_word;
use super::view::Checked;
use crate::codec::error::{DecodeError, DecodeErrorKind};
use crate::codec::reader::Reader;

/// The greatest k.
pub(super) const K_MAX: u32 = 31;

/// Bytes of the low bits of so many numbers.
pub(super) const fn low_len(count: u64, k: u32) -> u64 {
    count.saturating_mul(k as u64).div_ceil(8)
}

/// Writes low bits and unary part to the front of `out`; what was in it does not matter, and what is in the seven bytes
/// behind them neither, if there are any: they may be written over.
pub(super) fn write<S: Source>(numbers: &Numbers<'_, S>, count: u64, k: u32, out: &mut [u8]) {
    let low_len = usize::try_from(low_len(count, k)).unwrap_or(usize::MAX).min(out.len());
    let (mut low, mut unary) = (Hand::default(), Hand::default());
    numbers.each_piece(|deltas| {
        // Words of low bits go over the beginning of the unary part if it is still to be written.
        let low_end = if deltas.len() as u64 == count { out.len() } else { low_len };
        low = low.push_low(out.get_mut(..low_end).unwrap_or_default(), deltas, k);
        unary = unary.push_unary(out.get_mut(low_len..).unwrap_or_default(), deltas, k);
    });
}

/// Where a stream of bits is, which are written one behind the other from the lowest of the first byte on.
///
/// Whole words go to the memory at any byte, each over the last one's upper end, *because* there is then no branch on
/// how many bits are in hand. By value, *because* it stays in registers so: what goes to `out` can't touch it.
#[derive(Debug, Clone, Copy, Default)]
struct Hand {
    /// So many bits were appended.
    at: usize,
    /// The last ones, which do not fill a byte.
    bits: u64,
}

/// The most bits that are appended together.
const MOST: u32 = 56;

impl Hand {
    /// Appends the lowest `len` of `bits`, of which the others are zeros.
    #[inline(always)]
    fn push(self, out: &mut [u8], bits: u64, len: u32) -> Self {
        let held = self.at as u32 & 7;
        let bits = self.bits | bits.wrapping_shl(held);
        put_word(out, self.at >> 3, bits);
        let at = self.at.wrapping_add(len as usize);
        Self { at, bits: bits.wrapping_shr(held.wrapping_add(len) & 0x38) }
    }

    /// Appends the lowest `k` bits of each.
    fn push_low(mut self, out: &mut [u8], deltas: &[u32], k: u32) -> Self {
        let mask = !u32::MAX.wrapping_shl(k);
        let (fours, rest) = deltas.as_chunks::<4>();
        let two = k.wrapping_mul(2);
        let pair = |a: u32, b: u32| u64::from(a & mask) | u64::from(b & mask).wrapping_shl(k);
        if two.wrapping_mul(2) <= MOST {
            for &[a, b, c, d] in fours {
                self = self.push(out, pair(a, b) | pair(c, d).wrapping_shl(two), two.wrapping_mul(2));
            }
        } else {
            for &[a, b, c, d] in fours {
                for each in [a, b, c, d] {
                    self = self.push(out, u64::from(each & mask), k);
                }
            }
        }
        for &each in rest {
            self = self.push(out, u64::from(each & mask), k);
        }
        self
    }

    /// Appends what is above the lowest `k` bits of each: so many zeros and a one.
    fn push_unary(mut self, out: &mut [u8], deltas: &[u32], k: u32) -> Self {
        let (eights, rest) = deltas.as_chunks::<8>();
        for eight in eights {
            let (bits, len) = codes(eight, k);
            self = if len <= MOST { self.push(out, bits, len) } else { self.push_each(out, eight, k) };
        }
        let (bits, len) = codes(rest, k);
        if len <= MOST { self.push(out, bits, len) } else { self.push_each(out, rest, k) }
    }

    /// Appends codes, one of which may be long.
    #[inline(never)]
    fn push_each(mut self, out: &mut [u8], deltas: &[u32], k: u32) -> Self {
        for delta in deltas {
            let mut zeros = delta.wrapping_shr(k);
            if zeros >= MOST {
                put_word(out, self.at >> 3, self.bits);
                let at = self.at.wrapping_add(zeros as usize);
                if let Some(between) = out.get_mut((self.at >> 3).saturating_add(1)..at >> 3) {
                    between.fill(0);
                }
                zeros = at as u32 & 7;
                self = Self { at: at & !7, bits: 0 };
            }
            self = self.push(out, 1_u64.wrapping_shl(zeros), zeros.wrapping_add(1));
        }
        self
    }
}

/// The unary codes of some numbers and how long they are together; below 2^32 bits, as all numbers are. Bits are those
/// of a word only if that is long enough.
#[inline]
fn codes(deltas: &[u32], k: u32) -> (u64, u32) {
    deltas.iter().fold((0, 0), |(bits, len), delta| {
        let at = len.wrapping_add(delta.wrapping_shr(k));
        (bits | 1_u64.wrapping_shl(at), at.wrapping_add(1))
    })
}

/// Writes the word at a byte, or as much of it as there is room for.
#[inline]
fn put_word(out: &mut [u8], at: usize, word: u64) {
    let Some(rest) = out.get_mut(at..) else { return };
    match rest.first_chunk_mut::<8>() {
        Some(eight) => *eight = word.to_le_bytes(),
        None => rest.iter_mut().zip(word.to_le_bytes()).for_each(|(to, byte)| *to = byte),
    }
}

/// The parts of a payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Parts<'a> {
    k: u32,
    low: &'a [u8],
    high: &'a [u8],
}

impl<'a> Parts<'a> {
    /// Takes a payload apart and checks it.
    pub(super) fn check(payload: &'a [u8], start: usize) -> Result<(Self, Checked), DecodeError> {
        let moved = |error: DecodeError| DecodeError { at: start.saturating_add(error.at), ..error };
        let error = |reader: &Reader<'_>, what| {
            moved(reader.error("payload", DecodeErrorKind::Inconsistent { what }))
        };
        let mut reader = Reader::new(payload);
        let count = reader.uvar("count").map_err(moved)?;
        let [k] = reader.array("k").map_err(moved)?;
        if u32::from(k) > K_MAX {
            return Err(error(&reader, "k above 31"));
        }
        let k = u32::from(k);
        let low_len = usize::try_from(low_len(u64::from(count), k)).unwrap_or(usize::MAX);
        let low = reader.take(low_len, "low bits").map_err(moved)?;
        let high = reader.rest();
        let (words, rest) = high.as_chunks::<8>();
        let ones: u64 = words.iter().map(|word| u64::from(u64::from_le_bytes(*word).count_ones())).sum();
        let ones = ones.saturating_add(rest.iter().map(|byte| u64::from(byte.count_ones())).sum());
        let bits = (high.len() as u64).saturating_mul(8);
        let end = bits.saturating_sub(high.last().map_or(0, |last| u64::from(last.leading_zeros())));
        if ones != u64::from(count) || high.last() == Some(&0) {
            return Err(error(&reader, "another number of codes than announced"));
        }
        let parts = Self { k, low, high };
        let zeros = end.saturating_sub(ones);
        let mut sum = zeros.saturating_mul(1_u64.wrapping_shl(k));
        let mut low = Low::new(parts.low, k);
        for _ in 0..count {
            sum = sum.saturating_add(low.next());
        }
        let end = sum.saturating_add(u64::from(count));
        if end > super::space::LIMIT {
            return Err(error(&reader, "numbers above 2^32"));
        }
        Ok((parts, Checked { count: u64::from(count), end }))
    }

    /// The numbers.
    pub(super) fn iter(&self) -> Rice<'a> {
        Rice {
            low: Low::new(self.low, self.k),
            high: self.high,
            word: 0,
            word_at: 0_u64.wrapping_sub(64),
            behind: 0,
            next: 0,
        }
    }
}

/// The low bits, one number after the other.
#[derive(Debug, Clone)]
struct Low<'a> {
    rest: &'a [u8],
    held: u64,
    held_bits: u32,
    k: u32,
    mask: u64,
}

impl<'a> Low<'a> {
    fn new(bytes: &'a [u8], k: u32) -> Self {
        Self { rest: bytes, held: 0, held_bits: 0, k, mask: !u64::MAX.wrapping_shl(k) }
    }

    #[inline]
    fn next(&mut self) -> u64 {
        if self.held_bits < self.k {
            match self.rest.split_first_chunk::<4>() {
                Some((four, rest)) => {
                    self.held |= u64::from(u32::from_le_bytes(*four)).wrapping_shl(self.held_bits);
                    self.held_bits = self.held_bits.wrapping_add(32);
                    self.rest = rest;
                }
                None => {
                    // At most three bytes, the last.
                    for &byte in self.rest {
                        self.held |= u64::from(byte).wrapping_shl(self.held_bits);
                        self.held_bits = self.held_bits.wrapping_add(8);
                    }
                    self.rest = &[];
                }
            }
        }
        let low = self.held & self.mask;
        self.held = self.held.wrapping_shr(self.k);
        self.held_bits = self.held_bits.saturating_sub(self.k);
        low
    }
}

/// The numbers of Rice codes that were checked.
#[derive(Debug, Clone)]
pub(super) struct Rice<'a> {
    low: Low<'a>,
    high: &'a [u8],
    /// The ones of the current word that were not read.
    word: u64,
    /// Where in the unary part the current word begins.
    word_at: u64,
    /// Where in the unary part the last one that was read ends.
    behind: u64,
    next: u32,
}

impl Iterator for Rice<'_> {
    type Item = u32;

    #[inline]
    fn next(&mut self) -> Option<u32> {
        while self.word == 0 {
            if self.high.is_empty() {
                return None;
            }
            (self.word, self.high) = next_word(self.high);
            self.word_at = self.word_at.wrapping_add(64);
        }
        let at = self.word_at.wrapping_add(u64::from(self.word.trailing_zeros()));
        self.word &= self.word.wrapping_sub(1);
        let above = at.wrapping_sub(self.behind);
        self.behind = at.wrapping_add(1);
        let delta = above.wrapping_shl(self.low.k) | self.low.next();
        let number = self.next.wrapping_add(delta as u32);
        self.next = number.wrapping_add(1);
        Some(number)
    }
}
