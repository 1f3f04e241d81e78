//! Runs, deltas and bits: the plain encodings.

use super::source::{Numbers, Source};
use super::view::Checked;
use crate::codec::error::{DecodeError, DecodeErrorKind, EncodeError};
use crate::codec::reader::Reader;
use crate::codec::writer::{Sink, Writer};

/// Bytes of a varint.
#[inline]
pub(super) const fn varint_len(value: u32) -> u64 {
    // Seven bits a byte, and one byte at the least.
    1_u64
        .wrapping_add((value >= 1 << 7) as u64)
        .wrapping_add((value >= 1 << 14) as u64)
        .wrapping_add((value >= 1 << 21) as u64)
        .wrapping_add((value >= 1 << 28) as u64)
}

pub(super) fn write_runs<S: Source, K: Sink>(
    numbers: &Numbers<'_, S>,
    writer: &mut Writer<K>,
) -> Result<(), EncodeError> {
    let mut result = Ok(());
    numbers.each_run(|delta, more| {
        if result.is_ok() {
            result = writer.uvar(delta).and_then(|()| writer.uvar(more));
        }
    });
    result
}

pub(super) fn write_deltas<S: Source, K: Sink>(
    numbers: &Numbers<'_, S>,
    writer: &mut Writer<K>,
) -> Result<(), EncodeError> {
    let mut result = Ok(());
    numbers.each_delta(|delta| {
        if result.is_ok() {
            result = writer.uvar(delta);
        }
    });
    result
}

/// Sets the bits in `out`, which is all zeros and long enough.
pub(super) fn write_bits<S: Source>(numbers: &Numbers<'_, S>, out: &mut [u8]) {
    numbers.each(|number| {
        if let Some(byte) = out.get_mut((number >> 3) as usize) {
            *byte |= 1_u8.wrapping_shl(number & 7);
        }
    });
}

fn inconsistent(at: usize, what: &'static str) -> DecodeError {
    DecodeError { at, field: "payload", kind: DecodeErrorKind::Inconsistent { what } }
}

const ABOVE: &str = "numbers above 2^32";

/// Checks runs.
pub(super) fn check_runs(payload: &[u8], start: usize) -> Result<Checked, DecodeError> {
    let mut reader = Reader::new(payload);
    let (mut count, mut next) = (0_u64, 0_u64);
    while reader.left() > 0 {
        let at = start.saturating_add(reader.at());
        let moved = |error: DecodeError| DecodeError { at: start.saturating_add(error.at), ..error };
        let delta = reader.uvar("delta").map_err(moved)?;
        let more = reader.uvar("length").map_err(moved)?;
        if delta == 0 && count > 0 {
            return Err(inconsistent(at, "two runs without a gap"));
        }
        let len = u64::from(more).saturating_add(1);
        count = count.saturating_add(len);
        next = next.saturating_add(u64::from(delta)).saturating_add(len);
        if next > super::space::LIMIT {
            return Err(inconsistent(at, ABOVE));
        }
    }
    Ok(Checked { count, end: next })
}

/// Checks deltas.
pub(super) fn check_deltas(payload: &[u8], start: usize) -> Result<Checked, DecodeError> {
    let mut reader = Reader::new(payload);
    let (mut count, mut next) = (0_u64, 0_u64);
    while reader.left() > 0 {
        let at = start.saturating_add(reader.at());
        let moved = |error: DecodeError| DecodeError { at: start.saturating_add(error.at), ..error };
        let delta = reader.uvar("delta").map_err(moved)?;
        count = count.saturating_add(1);
        next = next.saturating_add(u64::from(delta)).saturating_add(1);
        if next > super::space::LIMIT {
            return Err(inconsistent(at, ABOVE));
        }
    }
    Ok(Checked { count, end: next })
}

/// Checks bits.
pub(super) fn check_bits(payload: &[u8], start: usize) -> Result<Checked, DecodeError> {
    let Some(last) = payload.last() else { return Ok(Checked { count: 0, end: 0 }) };
    if *last == 0 {
        return Err(inconsistent(start, "bits that end with none set"));
    }
    let bits = (payload.len() as u64).saturating_mul(8);
    let end = bits.saturating_sub(u64::from(last.leading_zeros()));
    if end > super::space::LIMIT {
        return Err(inconsistent(start, ABOVE));
    }
    let (words, rest) = payload.as_chunks::<8>();
    let ones = |word: &[u8; 8]| u64::from(u64::from_le_bytes(*word).count_ones());
    let count: u64 = words.iter().map(ones).sum();
    let rest: u64 = rest.iter().map(|byte| u64::from(byte.count_ones())).sum();
    Ok(Checked { count: count.saturating_add(rest), end })
}

/// The numbers of runs that were checked.
#[derive(Debug, Clone)]
pub(super) struct Runs<'a> {
    reader: Reader<'a>,
    next: u32,
    left: u64,
}

impl<'a> Runs<'a> {
    pub(super) const fn new(payload: &'a [u8]) -> Self {
        Self { reader: Reader::new(payload), next: 0, left: 0 }
    }

    /// The next whole run: its first number, and its length.
    pub(super) fn next_run(&mut self) -> Option<(u32, u64)> {
        let delta = self.reader.uvar("delta").ok()?;
        let more = self.reader.uvar("length").ok()?;
        let first = self.next.wrapping_add(delta);
        self.next = first.wrapping_add(more).wrapping_add(1);
        Some((first, u64::from(more).saturating_add(1)))
    }
}

impl Iterator for Runs<'_> {
    type Item = u32;

    #[inline]
    fn next(&mut self) -> Option<u32> {
        if self.left == 0 {
            let (_, len) = self.next_run()?;
            self.left = len;
        }
        let number = self.next.wrapping_sub(self.left as u32);
        self.left = self.left.wrapping_sub(1);
        Some(number)
    }
}

/// The numbers of deltas that were checked.
#[derive(Debug, Clone)]
pub(super) struct Deltas<'a> {
    reader: Reader<'a>,
    next: u32,
}

impl<'a> Deltas<'a> {
    pub(super) const fn new(payload: &'a [u8]) -> Self {
        Self { reader: Reader::new(payload), next: 0 }
    }
}

impl Iterator for Deltas<'_> {
    type Item = u32;

    #[inline]
    fn next(&mut self) -> Option<u32> {
        let number = self.next.wrapping_add(self.reader.uvar("delta").ok()?);
        self.next = number.wrapping_add(1);
        Some(number)
    }
}

/// The numbers of bits.
#[derive(Debug, Clone)]
pub(super) struct Bits<'a> {
    rest: &'a [u8],
    word: u64,
    /// Number of the lowest bit behind `word`.
    next: u32,
}

impl<'a> Bits<'a> {
    pub(super) const fn new(payload: &'a [u8]) -> Self {
        Self { rest: payload, word: 0, next: 0 }
    }
}

impl Iterator for Bits<'_> {
    type Item = u32;

    #[inline]
    fn next(&mut self) -> Option<u32> {
        while self.word == 0 {
            if self.rest.is_empty() {
                return None;
            }
            let (word, rest) = next_word(self.rest);
            (self.word, self.rest) = (word, rest);
            self.next = self.next.wrapping_add(64);
        }
        let bit = self.word.trailing_zeros();
        self.word &= self.word.wrapping_sub(1);
        Some(self.next.wrapping_sub(64).wrapping_add(bit))
    }
}

/// The next 64 bits, zeros behind the last byte, and what follows.
#[inline]
pub(super) fn next_word(bytes: &[u8]) -> (u64, &[u8]) {
    match bytes.split_first_chunk::<8>() {
        Some((word, rest)) => (u64::from_le_bytes(*word), rest),
        None => {
            let mut word = [0; 8];
            for (to, byte) in word.iter_mut().zip(bytes) {
                *to = *byte;
            }
            (u64::from_le_bytes(word), &[])
        }
    }
}
