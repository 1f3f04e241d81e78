//! Roaring bitmaps in their portable serialization, written and read without building one.
//!
//! Numbers that share their upper 16 bits are one container: a sorted array of lower halves, a bitmap of 8 KiB, or
//! a list of runs, whichever is shortest. All of it is little-endian.
//!
//! ```text
//! 12346, containers           or  12347 | (containers - 1) << 16, a bit for each container that is a list of runs
//! key, numbers - 1            of each container
//! offset                      of each container, unless there are runs and fewer than four containers
//! the containers
//! ```
//!
//! Source: the specification of Roaring's format; the `roaring` crate judges both directions in the tests.

use super::source::{Numbers, Source};
use super::varints::next_word;
use super::view::Checked;
use crate::codec::error::{DecodeError, DecodeErrorKind};
use crate::codec::reader::Reader;

const COOKIE: u32 = 12_346;
const COOKIE_RUNS: u16 = 12_347;
/// With runs, fewer containers than this have no offsets.
const OFFSETS_MIN: usize = 4;
/// More numbers than this make a bitmap of an array.
const ARRAY_MAX: u32 = 4_096;
const BITMAP_LEN: usize = 8_192;

/// A container to be written.
#[derive(Debug, Clone, Copy, Default)]
struct Container {
    key: u16,
    count: u32,
    runs: u32,
}

impl Container {
    fn plain_len(self) -> usize {
        if self.count > ARRAY_MAX { BITMAP_LEN } else { (self.count as usize).saturating_mul(2) }
    }

    fn runs_len(self) -> usize {
        (self.runs as usize).saturating_mul(4).saturating_add(2)
    }

    fn as_runs(self) -> bool {
        self.runs_len() < self.plain_len()
    }

    fn len(self) -> usize {
        self.plain_len().min(self.runs_len())
    }
}

fn each_container<S: Source>(numbers: &Numbers<'_, S>, mut visit: impl FnMut(Container)) {
    let mut open: Option<Container> = None;
    let mut next = u64::MAX;
    numbers.each(|number| {
        let key = (number >> 16) as u16;
        let follows = next == u64::from(number);
        next = u64::from(number).wrapping_add(1);
        match &mut open {
            Some(container) if container.key == key => {
                container.count = container.count.wrapping_add(1);
                container.runs = container.runs.wrapping_add(u32::from(!follows));
            }
            _ => {
                if let Some(done) = open.replace(Container { key, count: 1, runs: 1 }) {
                    visit(done);
                }
            }
        }
    });
    if let Some(done) = open {
        visit(done);
    }
}

/// What must be known before the first byte is written.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Outline {
    containers: usize,
    any_runs: bool,
    data_len: usize,
}

impl Outline {
    /// Measures the numbers.
    pub(super) fn of<S: Source>(numbers: &Numbers<'_, S>) -> Self {
        let mut outline = Self::default();
        each_container(numbers, |container| {
            outline.containers = outline.containers.saturating_add(1);
            outline.any_runs |= container.as_runs();
            outline.data_len = outline.data_len.saturating_add(container.len());
        });
        outline
    }

    fn has_offsets(self) -> bool {
        !self.any_runs || self.containers >= OFFSETS_MIN
    }

    fn head_len(self) -> usize {
        let cookie = if self.any_runs { self.containers.div_ceil(8).saturating_add(4) } else { 8 };
        let each = if self.has_offsets() { 8 } else { 4 };
        self.containers.saturating_mul(each).saturating_add(cookie)
    }

    /// The exact number of bytes.
    pub(super) fn len(self) -> usize {
        self.head_len().saturating_add(self.data_len)
    }
}

/// Writes the numbers into `out`, which is all zeros and of the exact length.
pub(super) fn write<S: Source>(numbers: &Numbers<'_, S>, outline: Outline, out: &mut [u8]) {
    let (head, data) = out.split_at_mut(outline.head_len().min(out.len()));
    let flags_len = if outline.any_runs { outline.containers.div_ceil(8) } else { 4 };
    let (cookie, head) = head.split_at_mut(4.min(head.len()));
    let (flags, head) = head.split_at_mut(flags_len.min(head.len()));
    let (keys, offsets) = head.split_at_mut(outline.containers.saturating_mul(4).min(head.len()));
    if outline.any_runs {
        let last = outline.containers.saturating_sub(1) as u32;
        put(cookie, 0, &(u32::from(COOKIE_RUNS) | last.wrapping_shl(16)).to_le_bytes());
    } else {
        put(cookie, 0, &COOKIE.to_le_bytes());
        put(flags, 0, &(outline.containers as u32).to_le_bytes());
    }
    let (mut nth, mut offset) = (0_usize, outline.head_len());
    each_container(numbers, |container| {
        let at = nth.saturating_mul(4);
        put(keys, at, &container.key.to_le_bytes());
        put(keys, at.saturating_add(2), &(container.count.wrapping_sub(1) as u16).to_le_bytes());
        put(offsets, at, &(offset as u32).to_le_bytes());
        if let Some(byte) = flags.get_mut(nth >> 3).filter(|_| container.as_runs()) {
            *byte |= 1_u8.wrapping_shl((nth & 7) as u32);
        }
        offset = offset.saturating_add(container.len());
        nth = nth.saturating_add(1);
    });
    let mut filler = Filler { keys, flags, any_runs: outline.any_runs, data, ..Filler::default() };
    numbers.each(|number| filler.add(number));
}

/// Overwrites the bytes from `at` on, if they are there.
fn put(out: &mut [u8], at: usize, bytes: &[u8]) {
    if let Some(to) = out.get_mut(at..).and_then(|rest| rest.get_mut(..bytes.len())) {
        to.copy_from_slice(bytes);
    }
}

/// Writes the containers, of which keys and kinds stand in the head already.
#[derive(Default)]
struct Filler<'w> {
    keys: &'w [u8],
    flags: &'w [u8],
    any_runs: bool,
    data: &'w mut [u8],
    /// Number of the next container.
    nth: usize,
    key: Option<u16>,
    kind: Kind,
    /// Where the current container begins, and where the next number or run goes.
    begin: usize,
    at: usize,
    runs: u16,
    run_first: u16,
    last: u16,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Kind {
    #[default]
    Array,
    Bitmap,
    Runs,
}

impl Filler<'_> {
    fn add(&mut self, number: u32) {
        let (key, low) = ((number >> 16) as u16, number as u16);
        if self.key != Some(key) {
            self.open(key);
        }
        match self.kind {
            Kind::Array => {
                put(self.data, self.at, &low.to_le_bytes());
                self.at = self.at.saturating_add(2);
            }
            Kind::Bitmap => {
                if let Some(byte) = self.data.get_mut(self.begin.saturating_add(usize::from(low >> 3))) {
                    *byte |= 1_u8.wrapping_shl(u32::from(low & 7));
                }
            }
            Kind::Runs => {
                if self.runs > 0 && self.last.checked_add(1) == Some(low) {
                    let more = low.wrapping_sub(self.run_first);
                    put(self.data, self.at.saturating_sub(2), &more.to_le_bytes());
                } else {
                    self.runs = self.runs.wrapping_add(1);
                    self.run_first = low;
                    put(self.data, self.begin, &self.runs.to_le_bytes());
                    put(self.data, self.at, &low.to_le_bytes());
                    self.at = self.at.saturating_add(4);
                }
                self.last = low;
            }
        }
    }

    fn open(&mut self, key: u16) {
        if self.kind == Kind::Bitmap {
            self.at = self.begin.saturating_add(BITMAP_LEN);
        }
        let count = self.keys.get(self.nth.saturating_mul(4).saturating_add(2)..);
        let count = count.and_then(|rest| rest.first_chunk()).map_or(0, |two| u16::from_le_bytes(*two));
        let flag = self
            .flags
            .get(self.nth >> 3)
            .is_some_and(|byte| byte.wrapping_shr((self.nth & 7) as u32) & 1 != 0);
        self.kind = match (self.any_runs && flag, u32::from(count) >= ARRAY_MAX) {
            (true, _) => Kind::Runs,
            (false, true) => Kind::Bitmap,
            (false, false) => Kind::Array,
        };
        self.key = Some(key);
        self.nth = self.nth.saturating_add(1);
        self.begin = self.at;
        if self.kind == Kind::Runs {
            self.at = self.at.saturating_add(2);
        }
        self.runs = 0;
    }
}

/// A bitmap as read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Bitmap<'a> {
    /// Key and count of each container.
    keys: &'a [[u8; 4]],
    /// A bit a container, or nothing.
    flags: &'a [u8],
    data: &'a [u8],
}

impl<'a> Bitmap<'a> {
    /// Takes a payload apart and checks it.
    pub(super) fn check(payload: &'a [u8], start: usize) -> Result<(Self, Checked), DecodeError> {
        let moved = |error: DecodeError| DecodeError { at: start.saturating_add(error.at), ..error };
        let mut reader = Reader::new(payload);
        let bitmap = Self::take(&mut reader).map_err(moved)?;
        let (mut count, mut end) = (0_u64, 0_u64);
        let mut key_min = 0_u32;
        let mut containers = bitmap.containers();
        loop {
            let left = containers.data.len();
            let Some(container) = containers.next() else { break };
            let at = payload.len().saturating_sub(left);
            let error = |what| {
                moved(DecodeError { at, field: "container", kind: DecodeErrorKind::Inconsistent { what } })
            };
            if u32::from(container.key) < key_min {
                return Err(error("keys that do not ascend"));
            }
            key_min = u32::from(container.key).saturating_add(1);
            let last = container.check().map_err(error)?;
            count = count.saturating_add(u64::from(container.count));
            end = (u64::from(container.key) << 16).saturating_add(u64::from(last)).saturating_add(1);
        }
        if containers.nth < bitmap.keys.len() || !containers.data.is_empty() {
            let at = payload.len().saturating_sub(containers.data.len());
            let what = "containers of another length";
            return Err(moved(DecodeError {
                at,
                field: "container",
                kind: DecodeErrorKind::Inconsistent { what },
            }));
        }
        Ok((bitmap, Checked { count, end }))
    }

    fn take(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let at = reader.at();
        let cookie = u32::from_le_bytes(reader.array("cookie")?);
        let (containers, flags) = if cookie == COOKIE {
            let containers = u32::from_le_bytes(reader.array("containers")?);
            (usize::try_from(containers).unwrap_or(usize::MAX), &[][..])
        } else if cookie as u16 == COOKIE_RUNS {
            let containers = ((cookie >> 16) as usize).saturating_add(1);
            (containers, reader.take(containers.div_ceil(8), "run flags")?)
        } else {
            let what = "no cookie of a Roaring bitmap";
            return Err(DecodeError { at, field: "cookie", kind: DecodeErrorKind::Inconsistent { what } });
        };
        let keys = reader.take(containers.saturating_mul(4), "keys")?.as_chunks::<4>().0;
        if flags.is_empty() || containers >= OFFSETS_MIN {
            // Containers stand one behind the other; where they begin follows.
            reader.take(containers.saturating_mul(4), "offsets")?;
        }
        Ok(Self { keys, flags, data: reader.rest() })
    }

    const fn containers(&self) -> Containers<'a> {
        Containers { keys: self.keys, flags: self.flags, data: self.data, nth: 0 }
    }

    pub(super) const fn iter(&self) -> Members<'a> {
        Members { containers: self.containers(), key: 0, body: Body::Array(&[]), run: (0, 0) }
    }

    /// Whether a number is there.
    ///
    /// Cost: one look at each container's key, and one search in one container.
    pub(super) fn contains(&self, number: u32) -> bool {
        let (key, low) = ((number >> 16) as u16, number as u16);
        self.containers()
            .find(|container| container.key >= key)
            .is_some_and(|container| container.key == key && container.body.contains(low))
    }
}

/// The containers, one behind the other, until the bytes don't hold the next one.
#[derive(Debug, Clone)]
struct Containers<'a> {
    keys: &'a [[u8; 4]],
    flags: &'a [u8],
    data: &'a [u8],
    nth: usize,
}

#[derive(Debug, Clone, Copy)]
struct ReadContainer<'a> {
    key: u16,
    count: u32,
    body: Body<'a>,
}

#[derive(Debug, Clone, Copy)]
enum Body<'a> {
    Array(&'a [[u8; 2]]),
    /// What is left of the bitmap, the word in use, and the number of its lowest bit.
    Bitmap(&'a [u8], u64, u32),
    Runs(&'a [[u8; 4]]),
}

impl<'a> Iterator for Containers<'a> {
    type Item = ReadContainer<'a>;

    fn next(&mut self) -> Option<ReadContainer<'a>> {
        let [k0, k1, c0, c1] = *self.keys.get(self.nth)?;
        let count = u32::from(u16::from_le_bytes([c0, c1])).saturating_add(1);
        let flag =
            self.flags.get(self.nth >> 3).map_or(0, |byte| byte.wrapping_shr((self.nth & 7) as u32) & 1);
        let (body, rest) = if flag != 0 {
            let (runs, rest) = self.data.split_first_chunk::<2>()?;
            let (runs, rest) =
                rest.split_at_checked(usize::from(u16::from_le_bytes(*runs)).saturating_mul(4))?;
            (Body::Runs(runs.as_chunks::<4>().0), rest)
        } else if count > ARRAY_MAX {
            let (bitmap, rest) = self.data.split_at_checked(BITMAP_LEN)?;
            (Body::Bitmap(bitmap, 0, 0_u32.wrapping_sub(64)), rest)
        } else {
            let (array, rest) = self.data.split_at_checked((count as usize).saturating_mul(2))?;
            (Body::Array(array.as_chunks::<2>().0), rest)
        };
        self.data = rest;
        self.nth = self.nth.saturating_add(1);
        Some(ReadContainer { key: u16::from_le_bytes([k0, k1]), count, body })
    }
}

fn run(bytes: [u8; 4]) -> (u16, u16) {
    let [a, b, c, d] = bytes;
    (u16::from_le_bytes([a, b]), u16::from_le_bytes([c, d]))
}

impl ReadContainer<'_> {
    /// The last number, or what is wrong.
    fn check(&self) -> Result<u16, &'static str> {
        match self.body {
            Body::Array(array) => {
                let ascend = array.windows(2).all(|pair| match pair {
                    [a, b] => u16::from_le_bytes(*a) < u16::from_le_bytes(*b),
                    _ => true,
                });
                let last = array.last().map_or(0, |last| u16::from_le_bytes(*last));
                if ascend { Ok(last) } else { Err("an array that does not ascend") }
            }
            Body::Bitmap(bitmap, ..) => {
                let (words, _) = bitmap.as_chunks::<8>();
                let words = || words.iter().map(|word| u64::from_le_bytes(*word));
                let count = words().map(u64::count_ones).fold(0_u32, u32::wrapping_add);
                let last = (0_u32..).step_by(64).zip(words()).filter(|(_, word)| *word != 0).last();
                let last =
                    last.map_or(0, |(at, word)| at.wrapping_add(63).wrapping_sub(word.leading_zeros()));
                if count == self.count { Ok(last as u16) } else { Err("a bitmap of another number of bits") }
            }
            Body::Runs(runs) => {
                let (mut count, mut next) = (0_u32, 0_u32);
                for (nth, &bytes) in runs.iter().enumerate() {
                    let (first, more) = run(bytes);
                    let (first, more) = (u32::from(first), u32::from(more));
                    // Runs that touch are one run.
                    if nth > 0 && first <= next {
                        return Err("runs that do not ascend");
                    }
                    next = first.saturating_add(more).saturating_add(1);
                    count = count.saturating_add(more).saturating_add(1);
                    if next > 0x1_0000 {
                        return Err("a run beyond its container");
                    }
                }
                if count == self.count {
                    Ok(next.wrapping_sub(1) as u16)
                } else {
                    Err("runs of another length")
                }
            }
        }
    }
}

impl Body<'_> {
    fn contains(&self, low: u16) -> bool {
        match *self {
            Body::Array(array) => array.binary_search_by_key(&low, |two| u16::from_le_bytes(*two)).is_ok(),
            Body::Bitmap(bitmap, ..) => bitmap
                .get(usize::from(low >> 3))
                .is_some_and(|byte| byte.wrapping_shr(u32::from(low & 7)) & 1 != 0),
            Body::Runs(runs) => {
                let behind = runs.partition_point(|&bytes| run(bytes).0 <= low);
                let holds = |&bytes: &[u8; 4]| {
                    let (first, more) = run(bytes);
                    low.wrapping_sub(first) <= more
                };
                behind.checked_sub(1).and_then(|at| runs.get(at)).is_some_and(holds)
            }
        }
    }
}

/// The numbers of a bitmap that was checked.
#[derive(Debug, Clone)]
pub(super) struct Members<'a> {
    containers: Containers<'a>,
    key: u32,
    body: Body<'a>,
    /// The next number of the run in use, and how many are left of it.
    run: (u32, u32),
}

impl Iterator for Members<'_> {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        loop {
            if let Some(low) = self.next_low() {
                return Some(self.key | low);
            }
            let container = self.containers.next()?;
            self.key = u32::from(container.key) << 16;
            self.body = container.body;
        }
    }
}

impl Members<'_> {
    /// The next numbers that follow each other as they stand there: the first, and how many.
    pub(super) fn next_run(&mut self) -> Option<(u32, u64)> {
        let number = self.next()?;
        let (_, more) = core::mem::take(&mut self.run);
        Some((number, u64::from(more).saturating_add(1)))
    }

    #[inline]
    fn next_low(&mut self) -> Option<u32> {
        match &mut self.body {
            Body::Array(array) => {
                let (first, rest) = array.split_first()?;
                *array = rest;
                Some(u32::from(u16::from_le_bytes(*first)))
            }
            Body::Bitmap(rest, word, at) => {
                while *word == 0 {
                    if rest.is_empty() {
                        return None;
                    }
                    (*word, *rest) = next_word(rest);
                    *at = at.wrapping_add(64);
                }
                let low = at.wrapping_add(word.trailing_zeros());
                *word &= word.wrapping_sub(1);
                Some(low)
            }
            Body::Runs(runs) => {
                let (next, left) = &mut self.run;
                if *left == 0 {
                    let (first, rest) = runs.split_first()?;
                    *runs = rest;
                    let (first, more) = run(*first);
                    (*next, *left) = (u32::from(first), u32::from(more).wrapping_add(1));
                }
                let low = *next;
                *next = next.wrapping_add(1);
                *left = left.wrapping_sub(1);
                Some(low)
            }
        }
    }
}
