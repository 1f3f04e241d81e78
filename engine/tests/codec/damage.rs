//! Every vector cut at every byte, and with every byte changed: a value or an error, never a panic.
//!
//! With optimization each byte takes all 255 other values, 60 million readings; without, those that differ
//! in one bit, the least and the greatest, which is what finds faults in lengths and signs.

use core::ops::Range;
use std::fs;
use std::thread;

use serde_json::Value;
use tenure::codec::consumer::DraftAssignment;
use tenure::codec::message::{self, Format, ListOf, Scalar, Visitor};
use tenure::codec::streams::{AssignmentInfo, SubscriptionInfo};
use tenure::codec::{Assignment, Blocks, History, StickyUserData, Subscription};

use crate::support::{bytes_of, dataset, version};

/// The longest vector that is damaged: the two that are longer only repeat what shorter ones have, at the square of the
/// time. With `TENURE_EXHAUSTIVE=1` they too.
fn len_max() -> usize {
    if std::env::var_os("TENURE_EXHAUSTIVE").is_some() { usize::MAX } else { 2_000 }
}

/// Looks at everything it is told, and keeps nothing.
#[derive(Default)]
struct Looker(usize);

impl<'a> Visitor<'a> for Looker {
    fn scalar(&mut self, _field: &'static str, at: Range<usize>, value: Scalar<'a>) {
        assert!(at.start <= at.end);
        self.0 += at.len();
        match value {
            Scalar::I32s(numbers) => assert!(numbers.len() * 4 <= at.len()),
            Scalar::Bytes(bytes) => assert!(bytes.len() <= at.len()),
            _ => {}
        }
    }
    fn begin_list(&mut self, _field: &'static str, at: Range<usize>, _count: usize, _of: ListOf) {
        self.0 += at.len();
    }
    fn begin_struct(&mut self) {}
    fn end_struct(&mut self) {}
    fn end_list(&mut self) {}
    fn unknown_tag(&mut self, _number: u32, at: Range<usize>, data: &'a [u8]) {
        assert!(data.len() <= at.len());
    }
}

fn walk(blocks: Blocks<'_>) {
    let partitions: usize = blocks.iter().map(|block| block.partitions.iter().count()).sum();
    assert_eq!((blocks.iter().count(), partitions), (blocks.len(), blocks.partition_count()));
}

/// Reads `bytes` and walks over all that was read. True for a value, false for an error.
fn read(format: &str, table: &Format, version: i16, bytes: &[u8]) -> bool {
    let table_says = table.visit(bytes, version, &mut Looker::default());
    if let Ok((_, len)) = table_says {
        assert!(len <= bytes.len());
    }
    let own = match format {
        "consumer-subscription" => Subscription::decode(bytes).map(|read| {
            assert_eq!(read.topics.iter().count(), read.topics.len());
            walk(read.owned);
            for assignor in ["sticky", "cooperative-sticky", "range"] {
                walk(History::of(&read, assignor).owned);
            }
        }),
        "consumer-assignment" => Assignment::decode_nonempty(bytes).map(|read| walk(read.assigned)),
        "consumer-assignment-draft" => {
            return DraftAssignment::decode(bytes).map(|read| walk(read.assigned)).is_ok();
        }
        "sticky-userdata" => {
            walk(StickyUserData::decode(Some(bytes)).previous);
            return true;
        }
        "streams-subscription-info" => {
            return SubscriptionInfo::decode(bytes)
                .map(|read| {
                    read.body.map(|body| (body.active_tasks().count(), body.client_tags.iter().count()))
                })
                .is_ok();
        }
        "streams-assignment-info" => {
            return AssignmentInfo::decode(bytes)
                .map(|read| {
                    assert_eq!(read.partitions_by_host.iter().count(), read.partitions_by_host.len());
                })
                .is_ok();
        }
        _ => return table_says.is_ok(),
    };
    assert_eq!(own.is_ok(), table_says.is_ok(), "{format}: {own:?} {table_says:?}");
    own.is_ok()
}

/// The values to change a byte to.
fn others(was: u8) -> impl Iterator<Item = u8> {
    let all = (0..=u8::MAX).filter(|_| !cfg!(debug_assertions));
    let few = (0..8).map(move |bit| was ^ 1 << bit).filter(|_| cfg!(debug_assertions));
    all.chain(few).chain([0, u8::MAX]).filter(move |byte| *byte != was)
}

/// Tries every cut and every change; returns tries and values among them.
fn damage(vector: &Value) -> (usize, usize) {
    let Some(mut bytes) = bytes_of(vector).filter(|bytes| bytes.len() <= len_max()) else { return (0, 0) };
    let format = vector["format"].as_str().unwrap();
    let table = message::format(format).unwrap();
    let version = if table.tells_version() || format.ends_with("userdata") { 0 } else { version(vector) };
    let (mut tries, mut values) = (0, 0);
    let mut count = |value: bool| {
        tries += 1;
        values += usize::from(value);
    };
    for len in 0..=bytes.len() {
        count(read(format, table, version, &bytes[..len]));
    }
    for at in 0..bytes.len() {
        let was = bytes[at];
        for byte in others(was) {
            bytes[at] = byte;
            count(read(format, table, version, &bytes));
        }
        bytes[at] = was;
    }
    (tries, values)
}

#[test]
fn every_cut_and_every_changed_byte_gives_a_value_or_an_error() {
    let files = fs::read_dir(dataset("wire")).unwrap().map(|entry| entry.unwrap().path());
    let mut vectors: Vec<Value> = files
        .filter(|path| path.extension().is_some_and(|extension| extension == "jsonl"))
        .flat_map(|path| {
            let text = fs::read_to_string(path).unwrap();
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect::<Vec<Value>>()
        })
        .filter(|vector: &Value| vector.get("bytes").is_some())
        // No table describes these; `compact` damages them.
        .filter(|vector| vector["format"] != "tenure-userdata")
        .collect();
    assert_eq!(vectors.len(), 2680);
    vectors.sort_by_key(|vector| vector["bytes"].as_str().unwrap().len());
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let (tries, values) = thread::scope(|scope| {
        let workers: Vec<_> = (0..threads)
            .map(|first| {
                let mine = vectors.iter().skip(first).step_by(threads);
                scope.spawn(move || {
                    mine.map(damage).fold((0, 0), |sum, next| (sum.0 + next.0, sum.1 + next.1))
                })
            })
            .collect();
        workers
            .into_iter()
            .map(|worker| worker.join().unwrap())
            .fold((0, 0), |sum, next| (sum.0 + next.0, sum.1 + next.1))
    });
    let tried = vectors.iter().filter_map(bytes_of).map(|bytes| bytes.len()).filter(|len| *len <= len_max());
    let (count, sum) = tried.fold((0, 0), |(count, sum), len| (count + 1, sum + len));
    let all = len_max() == usize::MAX;
    let expected = if all { (2_680, 302_646) } else { (2_678, 237_070) };
    assert_eq!((count, sum), expected, "vectors and their bytes");
    // Each length from none to all, and at the least nine other values a byte.
    assert!(tries >= count + sum + 9 * sum, "{tries} tries");
    // Damage is seen, and much of it makes another value.
    assert!(values > tries / 10 && values < tries / 10 * 9, "{values} values in {tries} tries");
}
