//! What must hold of compact user data, whatever the bytes and whatever is owned. Shared with the fuzz target.

use core::ops::Range;
use std::collections::BTreeSet;

use arbitrary::{Result, Unstructured};
use tenure::codec::compact::{
    Claim, ClaimRange, CompactFields, CompactScratch, CompactUserData, Encoding, MAGIC, Owned, TopicList,
    VERSION,
};
use tenure::codec::{DecodeErrorKind, Names, Reader, SubscriptionFields, TopicPartitions};

/// The topics that bytes are read beside.
const LIST: [&str; 7] = ["a", "b", "orders", "orders-2", "z", "\u{1f600}", "\u{ff5e}"];

/// Claims by name, as sets have them.
pub type Set = BTreeSet<(String, u32)>;

/// Checks everything that must hold.
///
/// # Panics
/// When something does not hold.
pub fn check(data: &[u8]) {
    hostile(data);
    framed(data);
    // A seed that runs out makes no value; the bytes have been tried all the same.
    let _ = value(&mut Unstructured::new(data));
}

/// Bytes as they are.
fn hostile(data: &[u8]) {
    let list = list(&LIST);
    let topics = names(&list);
    let alone = CompactUserData::decode_alone(data);
    match CompactUserData::decode(data, topics) {
        Ok(read) => walk(&read, topics),
        Err(error) => assert!(error.at <= data.len() && !error.to_string().is_empty(), "{error}"),
    }
    match alone {
        Ok(read) => _ = read.ranges().count(),
        Err(error) => assert!(error.at <= data.len(), "{error}"),
    }
}

/// Bytes with a frame and a checksum that are right around them.
fn framed(data: &[u8]) {
    let Some((&kind, body)) = data.split_first() else { return };
    let list = list(&LIST);
    let topics = names(&list);
    let bytes = frame(kind, body, topics);
    match CompactUserData::decode(&bytes, topics) {
        Ok(read) => {
            assert_eq!(read.encoded_len(), bytes.len());
            walk(&read, topics);
        }
        Err(error) => {
            assert!(error.at <= bytes.len(), "{error}");
            let damaged =
                matches!(error.kind, DecodeErrorKind::Checksum { .. } | DecodeErrorKind::ForeignFormat);
            assert!(!damaged, "{error}");
        }
    }
}

/// Puts a frame around fields.
pub fn frame(kind: u8, fields: &[u8], topics: Names<'_>) -> Vec<u8> {
    let mut bytes = [&MAGIC[..], &[VERSION, kind]].concat();
    let mut len = fields.len() + 4;
    while len >= 0x80 {
        bytes.push(len as u8 | 0x80);
        len >>= 7;
    }
    bytes.push(len as u8);
    bytes.extend(fields);
    let sum = crc32(&[topics.as_bytes(), &bytes].concat());
    bytes.extend(sum.to_be_bytes());
    bytes
}

/// CRC-32 bit by bit, as its definition says.
fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0_u32, |sum, byte| {
        (0..8).fold(sum ^ u32::from(*byte), |sum, _| sum >> 1 ^ 0xedb8_8320 & (sum & 1).wrapping_neg())
    })
}

/// The bytes of a topic list behind its count, with the count.
pub fn list(topics: &[&str]) -> Vec<u8> {
    let bytes = SubscriptionFields { topics, ..Default::default() }.encode(0).expect("short names");
    bytes[2..bytes.len() - 4].to_vec()
}

/// The list as a subscription has it.
pub fn names(list: &[u8]) -> Names<'_> {
    Names::decode(&mut Reader::new(list), "topics", "topic").expect("it was written so")
}

/// Looks at everything; sets too large to be looked at are looked at in part.
fn walk(read: &CompactUserData<'_>, topics: Names<'_>) {
    const MOST: usize = 3_000;
    let (count, literals) = (read.partition_count(), read.literals().len());
    assert_eq!(read.claims().len(), count);
    let some: Vec<_> = read.claims().take(MOST).collect();
    assert_eq!(some.len(), count.min(MOST));
    assert!(some.is_sorted_by(|a, b| a < b), "ascending, none twice");
    assert!(
        some.iter().all(|claim| (claim.topic as usize) < literals + topics.len()),
        "topics that are there"
    );
    for claim in some.iter().step_by(some.len() / 16 + 1) {
        assert!(read.contains(claim.topic, claim.partition));
        assert!(read.topic_name(claim.topic).is_some());
        let next = read.contains(claim.topic, claim.partition + 1);
        let listed = some.binary_search(&Claim { partition: claim.partition + 1, ..*claim });
        assert!(listed.is_ok() == next || some.len() < count);
    }
    // Ranges are the same claims, as long as they can be; they end with the bytes, however many claims there are.
    let ranges: Vec<_> = read.ranges().take(MOST).collect();
    let apart = |a: &ClaimRange, b: &ClaimRange| {
        a.topic < b.topic || a.topic == b.topic && u64::from(a.to) + 1 < u64::from(b.from)
    };
    assert!(ranges.is_sorted_by(apart), "{ranges:?}");
    let claims = ranges
        .iter()
        .flat_map(|range| (range.from..=range.to).map(|partition| Claim { topic: range.topic, partition }));
    assert!(claims.take(MOST).eq(some.iter().copied()));
    let named = read.named_ranges().take(MOST).map(|(name, range)| (Some(name), range));
    assert!(named.eq(ranges.iter().map(|range| (read.topic_name(range.topic), *range))));
    let row: Vec<Range<u32>> = (0..topics.len() as u32).map(|nth| nth * 100..nth * 100 + 90).collect();
    let mut bits = vec![0; topics.len() * 100 / 64 + 1];
    let lost = read.set_bits(&row, &mut bits);
    let ones: u32 = bits.iter().map(|word| word.count_ones()).sum();
    assert_eq!(u64::from(ones) + lost, count as u64);
    if count > MOST {
        return;
    }
    let mut folded = Vec::new();
    read.claims().for_each(|claim| folded.push(claim));
    assert_eq!(folded, some, "both ways of walking");
    // Names that repeat, or are not text, have no place in a value.
    let text = |number| read.topic_name(number).and_then(|name| name.as_str().map(str::to_owned));
    let named: Option<Set> = some.iter().map(|claim| Some((text(claim.topic)?, claim.partition))).collect();
    let Some(named) = named.filter(|named| named.len() == count) else { return };
    if named.iter().all(|(_, partition)| i32::try_from(*partition).is_ok()) {
        let topics: Vec<&str> = topics.iter().filter_map(|topic| topic.as_str()).collect();
        let list = list(&topics);
        let topics = TopicList::new(&topics).expect("short names");
        let blocks: Vec<(&str, [i32; 1])> =
            named.iter().map(|(topic, partition)| (topic.as_str(), [*partition as i32])).collect();
        let owned: Vec<_> =
            blocks.iter().map(|(topic, partitions)| TopicPartitions { topic, partitions }).collect();
        let fields = CompactFields {
            owned: Owned::Blocks(&owned),
            generation: read.generation(),
            ..CompactFields::new(&topics)
        };
        if let Ok(bytes) = fields.encode() {
            let again = CompactUserData::decode(&bytes, names(&list)).expect("it was written so");
            assert_eq!(set(&again), named, "reading what was read and written again");
            assert_eq!(again.generation(), read.generation());
        }
    }
}

/// The claims by name.
pub fn set(read: &CompactUserData<'_>) -> Set {
    let name = |number| read.topic_name(number).expect("a topic that is there").to_string();
    read.claims().map(|claim| (name(claim.topic), claim.partition)).collect()
}

/// Writes a set in every encoding, and reads it again.
pub fn round_trip(
    topics: &[&str],
    owned: &[TopicPartitions<'_>],
    generation: Option<i32>,
    rack: Option<&str>,
) {
    let expected: Set = owned
        .iter()
        .flat_map(|block| block.partitions.iter().map(|&p| (block.topic.to_owned(), p as u32)))
        .collect();
    let bytes = list(topics);
    let wire = names(&bytes);
    let topics = TopicList::new(topics).expect("short names");
    assert_eq!(topics.seal(), CompactUserData::seal(wire), "one checksum of a list");
    let mut scratch = CompactScratch::default();
    let fields =
        CompactFields { owned: Owned::Blocks(owned), generation, rack, ..CompactFields::new(&topics) };
    let Ok(shortest) = fields.encode() else {
        assert!(fields.encoded_len(&mut scratch).is_err());
        return;
    };
    for encoding in [None].into_iter().chain(Encoding::ALL.map(Some)) {
        let fields = CompactFields { encoding, ..fields };
        let len = fields.encoded_len(&mut scratch).expect("it can be written");
        // Bits of far numbers are long.
        if len > 1 << 22 {
            continue;
        }
        let bytes = fields.encode().expect("it can be written");
        assert_eq!(len, bytes.len(), "{encoding:?}");
        let mut exact = vec![0xa5; len];
        assert_eq!(fields.encode_into(&mut scratch, &mut exact), Ok(len));
        assert_eq!(exact, bytes, "{encoding:?}");
        if let Some(short) = len.checked_sub(1) {
            let mut short = vec![0xa5; short];
            assert!(fields.encode_into(&mut scratch, &mut short).is_err());
            assert!(short.iter().all(|byte| *byte == 0xa5), "left as it was");
        }
        let read = CompactUserData::decode(&bytes, wire).expect("it was written so");
        let chosen = CompactUserData::decode(&shortest, wire).expect("it was written so");
        if encoding.is_none() {
            assert_eq!(bytes, shortest);
        } else if read.stride() == chosen.stride() {
            assert!(shortest.len() <= len, "{encoding:?} is shorter than {:?}", chosen.encoding());
        }
        assert!(encoding.is_none_or(|encoding| encoding == read.encoding()));
        assert_eq!(set(&read), expected, "{encoding:?}");
        assert_eq!(read.partition_count(), expected.len());
        assert_eq!(read.generation(), generation.filter(|generation| *generation >= 0));
        assert_eq!(read.rack().map(|rack| rack.to_string()).as_deref(), rack.filter(|rack| !rack.is_empty()));
        walk(&read, wire);
        for (topic, partition) in expected.iter().take(20) {
            assert!(read.contains_named(topic, *partition as i32));
            let next = expected.contains(&(topic.clone(), partition + 1));
            assert_eq!(read.contains_named(topic, (partition + 1) as i32), next);
        }
    }
}

fn value(seed: &mut Unstructured<'_>) -> Result<()> {
    let topics: Vec<&str> = LIST.iter().copied().filter(|_| seed.ratio(3, 4).unwrap_or(true)).collect();
    let mut blocks: Vec<(&str, Vec<i32>)> = Vec::new();
    for _ in 0..seed.int_in_range(0..=9)? {
        let topic = *seed.choose(&LIST)?;
        let (mut next, mut partitions) = (0_i64, Vec::new());
        let near = *seed.choose(&[1_i64, 2, 200, 70_000, 1 << 30])?;
        for _ in 0..seed.int_in_range(0..=40)? {
            next += seed.int_in_range(0..=near)?;
            partitions.extend(i32::try_from(next).ok().filter(|partition| *partition < i32::MAX));
        }
        blocks.push((topic, partitions));
    }
    let owned: Vec<_> =
        blocks.iter().map(|(topic, partitions)| TopicPartitions { topic, partitions }).collect();
    let generation = *seed.choose(&[None, Some(-1), Some(0), Some(7), Some(70_000), Some(i32::MAX)])?;
    let rack = *seed.choose(&[None, Some(""), Some("rack-a")])?;
    round_trip(&topics, &owned, generation, rack);
    Ok(())
}
