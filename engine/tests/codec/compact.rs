//! Compact user data: sets of every kind in every encoding, sizes, damage, golden bytes, and Roaring as the judge.

use roaring::RoaringBitmap;
use tenure::codec::compact::{
    Claim, CompactFields, CompactScratch, CompactUserData, Encoding, Owned, TopicList,
};
use tenure::codec::{DecodeErrorKind, EncodeErrorKind, StickyFields, TopicPartitions};

use crate::compact_properties::{Set, frame, list, names, round_trip, set};
use crate::support::{OwnedBlocks, bytes_of, hex, id, vectors, written_out};

/// A generator of numbers that needs no crate: SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }
}

/// Claims by topic number, owned.
type ByTopic = Vec<(usize, Vec<i32>)>;

fn topic_names(count: usize) -> Vec<String> {
    (0..count).map(|topic| format!("t{topic:05}")).collect()
}

fn fields<'a>(names: &[&'a str], owned: &'a ByTopic) -> Vec<TopicPartitions<'a>> {
    owned.iter().map(|(topic, partitions)| TopicPartitions { topic: names[*topic], partitions }).collect()
}

fn by_topic(claims: impl IntoIterator<Item = u64>, per_topic: u64) -> ByTopic {
    let mut owned: ByTopic = Vec::new();
    for claim in claims {
        let (topic, partition) = ((claim / per_topic) as usize, (claim % per_topic) as i32);
        match owned.last_mut() {
            Some((last, partitions)) if *last == topic => partitions.push(partition),
            _ => owned.push((topic, vec![partition])),
        }
    }
    owned
}

/// `count` numbers below `bound`, ascending, none twice.
fn scattered(random: &mut Random, count: usize, bound: u64) -> Vec<u64> {
    let mut chosen = std::collections::BTreeSet::new();
    while chosen.len() < count {
        chosen.insert(random.below(bound));
    }
    chosen.into_iter().collect()
}

#[test]
fn sets_of_every_kind_come_back_from_every_encoding() {
    let names = topic_names(70);
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut random = Random(1);
    let mut seen = std::collections::BTreeSet::new();
    let mut try_set = |owned: &ByTopic| {
        round_trip(&names, &fields(&names, owned), Some(17), None);
        let topics = TopicList::new(&names).unwrap();
        let owned = fields(&names, owned);
        let bytes =
            CompactFields { owned: Owned::Blocks(&owned), ..CompactFields::new(&topics) }.encode().unwrap();
        let read = CompactUserData::decode_alone(&bytes).unwrap();
        seen.insert((read.encoding(), read.stride().is_some()));
    };
    try_set(&Vec::new());
    // Every gap around the places where varints, words, bytes and containers end, twice and thrice.
    for gap in [
        0, 1, 6, 7, 8, 62, 63, 64, 126, 127, 128, 255, 4_095, 16_383, 16_384, 65_534, 65_535, 65_536,
        2_097_151,
    ] {
        for times in [1, 2, 3, 9, 70] {
            try_set(&vec![(3, (0..times).map(|nth| gap + nth * (gap + 1)).collect())]);
        }
    }
    // The ends of what can be said.
    try_set(&vec![(0, vec![i32::MAX - 1])]);
    try_set(&vec![(0, vec![0, i32::MAX])]);
    try_set(&vec![(0, vec![i32::MAX - 2, i32::MAX - 1]), (1, vec![0])]);
    // Containers: an array, the most an array holds, a bitmap, runs, all of them, and enough runs for offsets.
    for (from, step, count) in [(0, 3, 4_095), (5, 3, 4_096), (0, 3, 4_097), (9, 2, 32_768), (0, 1, 65_536)] {
        try_set(&vec![(1, (0..count).map(|nth| from + nth * step).collect())]);
    }
    let all_containers =
        (0..4_000).map(|nth| nth * 16).chain((65_536..131_072).step_by(2)).chain(140_000..200_000);
    try_set(&vec![(2, all_containers.clone().collect()), (69, vec![9])]);
    try_set(&vec![(2, all_containers.chain(300_000..300_500).chain(400_000..400_900).collect())]);
    // Anything.
    for round in 0..120 {
        let per_topic = 1 + random.below(3_000);
        let bound = per_topic * 70;
        let count = random.below(bound.min([3, 100, 3_000][round % 3]) + 1) as usize;
        let spread = if round % 4 == 0 { bound } else { bound.min(count as u64 * 4 + 1) };
        try_set(&by_topic(scattered(&mut random, count.min(spread as usize), spread), per_topic));
    }
    // Topics of very different sizes, well filled: ranges of their own.
    let uneven: ByTopic = (0..70)
        .map(|topic| {
            let size = [3, 50, 3_000, 12][topic % 4];
            (topic, (0..size).filter(|_| random.below(3) == 0).collect())
        })
        .collect();
    try_set(&uneven);
    assert_eq!(
        seen.iter().map(|(encoding, _)| *encoding).collect::<std::collections::BTreeSet<_>>().len(),
        5
    );
    assert!(seen.iter().any(|(_, stride)| !stride), "no ranges of their own: {seen:?}");
}

#[test]
fn order_and_repetition_never_count() {
    let names = ["b", "c", "a", "a", "\u{ff5e}", "\u{1f600}"];
    let topics = TopicList::new(&names).unwrap();
    let write = |owned: &[TopicPartitions<'_>]| {
        CompactFields { owned: Owned::Blocks(owned), ..CompactFields::new(&topics) }.encode().unwrap()
    };
    let block = |topic, partitions| TopicPartitions { topic, partitions };
    let tidy = write(&[
        block("a", &[1, 2]),
        block("b", &[7]),
        block("gone", &[0, 4]),
        block("lost", &[3]),
        block("\u{1f600}", &[5]),
    ]);
    let untidy = write(&[
        block("lost", &[3, 3]),
        block("\u{1f600}", &[5]),
        block("gone", &[4]),
        block("b", &[7, 7]),
        block("a", &[2, 1]),
        block("c", &[]),
        block("gone", &[0, 4]),
        block("a", &[1]),
    ]);
    assert_eq!(tidy, untidy);
    let bytes = list(&names);
    let read = CompactUserData::decode(&tidy, crate::compact_properties::names(&bytes)).unwrap();
    assert!(read.literals().iter().eq(["gone", "lost"]));
    assert_eq!(set(&read).len(), 7);
    round_trip(&names, &[block("gone", &[1]), block("a", &[0])], None, Some("r"));
}

/// Claims in order are numbered at once, others by sorting, bits as they come: by whichever way, the same bytes.
#[test]
fn every_way_of_giving_the_same_claims_writes_the_same_bytes() {
    let mut random = Random(61);
    let names = topic_names(90);
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let topics = TopicList::new(&names).unwrap();
    let mut scratch = CompactScratch::default();
    let mut buffer = vec![0xa5; 1 << 20];
    for (per_topic, count) in
        [(1, 40), (4, 9), (7, 300), (64, 65), (1_000, 100), (3_000, 2_000), (1 << 16, 130)]
    {
        for _ in 0..if count > 1_000 { 2 } else { 8 } {
            let claims = scattered(&mut random, count, per_topic * 90);
            let owned = by_topic(claims.iter().copied(), per_topic);
            let mut untidy = owned.clone();
            let at = random.below(untidy.len() as u64) as usize;
            untidy[at].1.reverse();
            let again = untidy[at].1[0];
            untidy.push((untidy[at].0, vec![again]));
            let by = random.below(owned.len() as u64 + 1) as usize;
            untidy.rotate_left(by);
            let mut words = vec![0_u64; (per_topic as usize * 90).div_ceil(64)];
            claims.iter().for_each(|claim| words[(claim / 64) as usize] |= 1 << (claim % 64));
            let ranges: Vec<_> =
                (0..90_u32).map(|at| at * per_topic as u32..(at + 1) * per_topic as u32).collect();
            let claim = |number: &u64| Claim {
                topic: (number / per_topic) as u32,
                partition: (number % per_topic) as u32,
            };
            let tidy_claims: Vec<Claim> = claims.iter().map(claim).collect();
            let mut untidy_claims = tidy_claims.clone();
            untidy_claims.rotate_left(by.min(tidy_claims.len()));
            untidy_claims.push(untidy_claims[at]);
            let (tidy, untidy) = (fields(&names, &owned), fields(&names, &untidy));
            for encoding in Encoding::ALL.map(Some).into_iter().chain([None]) {
                let ways = [
                    Owned::Blocks(&tidy),
                    Owned::Blocks(&untidy),
                    Owned::Claims(&tidy_claims),
                    Owned::Claims(&untidy_claims),
                    Owned::Row { words: &words, ranges: &ranges },
                ];
                let [first, others @ ..] = ways.map(|owned| {
                    let fields =
                        CompactFields { owned, encoding, generation: Some(3), ..CompactFields::new(&topics) };
                    let len = fields.encode_into(&mut scratch, &mut buffer).unwrap();
                    buffer[..len].to_vec()
                });
                others.iter().for_each(|other| assert_eq!(&first, other, "{per_topic} {count} {encoding:?}"));
                let list = list(&names);
                let read = CompactUserData::decode(&first, crate::compact_properties::names(&list)).unwrap();
                let claimed = read
                    .claims()
                    .map(|claim| u64::from(claim.topic) * per_topic + u64::from(claim.partition));
                assert!(claimed.eq(claims.iter().copied()), "{per_topic} {count} {encoding:?}");
            }
        }
    }
}

/// Wherever a negative partition is, and however it looks among others as an unsigned number.
#[test]
fn a_negative_partition_is_refused_anywhere() {
    let names = topic_names(4);
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let topics = TopicList::new(&names).unwrap();
    for negative in [-1, -2, -3, -900, i32::MIN, i32::MIN + 1_000] {
        for len in [1, 2, 3, 4, 9] {
            for at in 0..len {
                let mut partitions: Vec<i32> = (0..len).map(|nth| nth as i32 * 400 + 5).collect();
                partitions[at] = negative;
                for topic in 0..4 {
                    let mut owned: ByTopic = (0..4).map(|topic| (topic, vec![1, 999])).collect();
                    owned[topic].1 = partitions.clone();
                    let owned = fields(&names, &owned);
                    let written =
                        CompactFields { owned: Owned::Blocks(&owned), ..CompactFields::new(&topics) }
                            .encode();
                    let error = written.expect_err("there is no such partition");
                    assert_eq!((error.field, error.kind), ("partition", EncodeErrorKind::OutOfRange));
                }
            }
        }
    }
}

#[test]
fn what_cannot_be_said_is_refused_and_says_why() {
    let topics = TopicList::new(&["a", "b", "c"]).unwrap();
    let fault = |owned: Owned<'_>| {
        let error = CompactFields { owned, ..CompactFields::new(&topics) }.encode().unwrap_err();
        (error.field, error.kind)
    };
    let block = |topic, partitions| TopicPartitions { topic, partitions };
    let out_of_range = ("partition", EncodeErrorKind::OutOfRange);
    assert_eq!(fault(Owned::Blocks(&[block("a", &[3, -1])])), out_of_range);
    assert_eq!(fault(Owned::Blocks(&[block("gone", &[-1])])), out_of_range);
    let most = [i32::MAX];
    let all = ["a", "b", "c"].map(|topic| block(topic, &most));
    assert_eq!(fault(Owned::Blocks(&all)), out_of_range);
    let words = [0_u64; 2];
    let beyond = [0..128, 100..129];
    let ranges = ("ranges", EncodeErrorKind::OutOfRange);
    assert_eq!(fault(Owned::Row { words: &words, ranges: &beyond }), ranges);
    let claim = |topic, partition| Claim { topic, partition };
    assert_eq!(fault(Owned::Claims(&[claim(0, 1), claim(3, 0)])), ("topic", EncodeErrorKind::OutOfRange));
    assert_eq!(fault(Owned::Claims(&[claim(0, 1 << 31)])), out_of_range);
    assert_eq!(fault(Owned::Claims(&[0, 1, 2].map(|topic| claim(topic, i32::MAX as u32)))), out_of_range);
    let too_many = [0..1, 1..2, 2..3, 3..4];
    assert_eq!(fault(Owned::Row { words: &words, ranges: &too_many }), ranges);
    let long = "n".repeat(0x8000);
    assert_eq!(fault(Owned::Blocks(&[block(&long, &[1])])).0, "topic");
    assert!(TopicList::new(&[&long]).is_err());
}

#[test]
fn bit_rows_go_in_and_come_out_without_a_list() {
    let names = topic_names(40);
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let topics = TopicList::new(&names).unwrap();
    let wire = list(&names);
    let mut random = Random(5);
    let mut scratch = CompactScratch::default();
    for round in 0..200 {
        let mut ranges = Vec::new();
        let mut end = 0;
        for _ in 0..random.below(41) {
            let len = random.below([3, 70, 700][round % 3]) as u32;
            ranges.push(end..end + len);
            end += len;
        }
        let mut row = vec![0_u64; (end as usize).div_ceil(64)];
        let chance = 1 + random.below(8);
        (0..end)
            .filter(|_| random.below(8) < chance)
            .for_each(|bit| row[bit as usize / 64] |= 1 << (bit % 64));
        let from_row = CompactFields {
            owned: Owned::Row { words: &row, ranges: &ranges },
            generation: Some(3),
            ..CompactFields::new(&topics)
        };
        let mut buffer = vec![0; from_row.encoded_len(&mut scratch).unwrap()];
        from_row.encode_into(&mut scratch, &mut buffer).unwrap();
        // The same by name, by a way that shares nothing with it.
        let by_name: ByTopic = ranges
            .iter()
            .enumerate()
            .map(|(topic, range)| {
                let owned = range.clone().filter(|bit| row[*bit as usize / 64] >> (bit % 64) & 1 != 0);
                (topic, owned.map(|bit| (bit - range.start) as i32).collect())
            })
            .collect();
        let owned = fields(&names, &by_name);
        let named = CompactFields { owned: Owned::Blocks(&owned), ..from_row };
        assert_eq!(named.encode().unwrap(), buffer);
        let read = CompactUserData::decode(&buffer, crate::compact_properties::names(&wire)).unwrap();
        let mut back = vec![0_u64; row.len()];
        assert_eq!(read.set_bits(&ranges, &mut back), 0);
        assert_eq!(back, row);
        // A reader whose topics are shorter loses what is beyond them, and tells how much.
        let shorter: Vec<_> =
            ranges.iter().map(|range| range.start..range.start.max(range.end / 2)).collect();
        let mut some = vec![0_u64; row.len()];
        let lost = read.set_bits(&shorter, &mut some);
        let kept: u32 = some.iter().map(|word| word.count_ones()).sum();
        assert_eq!(u64::from(kept) + lost, read.partition_count() as u64);
        assert!(some.iter().zip(&row).all(|(some, all)| some & !all == 0));
    }
}

/// The group of the issue: 100,000 partitions in 100 topics, 1,000 members, 100 partitions each, scattered.
fn scattered_group() -> Vec<ByTopic> {
    let mut random = Random(9);
    let mut partitions: Vec<u64> = (0..100_000).collect();
    for at in (1..partitions.len()).rev() {
        partitions.swap(at, random.below(at as u64 + 1) as usize);
    }
    partitions
        .chunks(100)
        .map(|chunk| {
            let mut chunk = chunk.to_vec();
            chunk.sort_unstable();
            by_topic(chunk, 1_000)
        })
        .collect()
}

/// Binary logarithm of "all choose some".
fn entropy_bits(all: u64, some: u64) -> f64 {
    (0..some).map(|nth| ((all - nth) as f64 / (nth + 1) as f64).log2()).sum()
}

#[test]
fn a_scattered_group_takes_little_more_than_there_is_to_say() {
    let names = topic_names(100);
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let topics = TopicList::new(&names).unwrap();
    let bound = entropy_bits(100_000, 100) / 8.0;
    assert!((142.0..144.0).contains(&bound), "{bound}");
    let (mut total, mut most, mut sticky) = (0, 0, 0);
    for member in scattered_group() {
        let owned = fields(&names, &member);
        let compact = CompactFields {
            owned: Owned::Blocks(&owned),
            generation: Some(1_041),
            ..CompactFields::new(&topics)
        };
        let len = compact.encode().unwrap().len();
        total += len;
        most = most.max(len);
        sticky += StickyFields { previous: &owned, generation: Some(1_041) }.encode().unwrap().len();
    }
    println!("{total} bytes, at most {most} a member; the bound is {bound:.1} a member; sticky {sticky}");
    assert!(most as f64 <= 1.2 * bound + 16.0, "{most} bytes, the bound is {bound}");
    // Closer than asked for: the codes within two percent, and 16 bytes around them.
    assert!(total as f64 / 1_000.0 <= 1.02 * bound + 16.0, "{total}");
    assert!(sticky > 7 * total, "{sticky} sticky, {total} compact");
}

/// Bytes of the building blocks over the exact numbers of partitions, each without anything around it.
fn blocks_of(numbers: &[u64]) -> [(&'static str, usize); 6] {
    let varint = |value: u64| (64 - (value | 1).leading_zeros() as usize).div_ceil(7);
    let mut bitmap = RoaringBitmap::from_sorted_iter(numbers.iter().map(|n| *n as u32)).unwrap();
    let plain = bitmap.serialized_size();
    bitmap.optimize();
    let deltas: Vec<u64> =
        numbers.iter().scan(0, |next, n| Some(n - core::mem::replace(next, n + 1))).collect();
    let runs = numbers.chunk_by(|a, b| a + 1 == *b);
    let run_bytes = runs.scan(0, |next, run| {
        let delta = run[0] - core::mem::replace(next, run[run.len() - 1] + 1);
        Some(varint(delta) + varint(run.len() as u64 - 1))
    });
    let rice = |k: u32| {
        let bits: u64 = deltas.iter().map(|delta| (delta >> k) + 1 + u64::from(k)).sum();
        // A code can't be read without its parameter and the number of codes.
        bits.div_ceil(8) as usize + 1 + varint(numbers.len() as u64)
    };
    let last = numbers.last().map_or(0, |last| *last as usize + 1);
    let elias_fano = |low: u32| (numbers.len() * (low as usize + 1) + (last >> low)).div_ceil(8) + 2;
    [
        ("runs", run_bytes.sum()),
        ("deltas", deltas.iter().map(|delta| varint(*delta)).sum()),
        ("roaring", plain),
        ("roaring with runs", bitmap.serialized_size()),
        ("rice", (0..32).map(rice).min().unwrap_or(0)),
        ("elias-fano", (0..32).map(elias_fano).min().unwrap_or(0)),
    ]
}

#[test]
fn never_longer_than_the_shortest_building_block_and_sixteen_bytes() {
    let mut random = Random(77);
    let mut tried = 0;
    for topics in [1_u64, 10, 100, 1_000] {
        let names = topic_names(topics as usize);
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let list = TopicList::new(&names).unwrap();
        for per_topic in [1_u64, 12, 100, 1_000] {
            let all = topics * per_topic;
            for owned in [1_u64, 10, 100, 1_000, 10_000, 100_000] {
                if owned > all {
                    continue;
                }
                let step = all / owned;
                let patterns: [Vec<u64>; 4] = [
                    (0..owned).map(|n| n + (all - owned) / 2).collect(),
                    (0..owned).map(|n| n * step).collect(),
                    if owned * 2 > all {
                        (0..all).filter(|n| n % 7 != 0).take(owned as usize).collect()
                    } else {
                        scattered(&mut random, owned as usize, all)
                    },
                    // A piece of every topic, as the range assignor gives it.
                    {
                        let piece = owned.div_ceil(topics).min(per_topic);
                        (0..topics).flat_map(|t| (0..piece).map(move |p| t * per_topic + p)).collect()
                    },
                ];
                for (pattern, numbers) in patterns.into_iter().enumerate() {
                    let member = by_topic(numbers.iter().copied(), per_topic);
                    let owned = fields(&names, &member);
                    let fields = CompactFields {
                        owned: Owned::Blocks(&owned),
                        generation: Some(100),
                        ..CompactFields::new(&list)
                    };
                    let len = fields.encode().unwrap().len();
                    let blocks = blocks_of(&numbers);
                    let (name, shortest) = blocks.into_iter().min_by_key(|(_, len)| *len).unwrap();
                    assert!(
                        len <= shortest + 16,
                        "{topics} topics of {per_topic}, {} owned, pattern {pattern}: {len} bytes, {name} {shortest}",
                        numbers.len()
                    );
                    tried += 1;
                }
            }
        }
    }
    assert!(tried > 200, "{tried}");
}

#[test]
fn roaring_judges_both_directions() {
    let names = ["only"];
    let topics = TopicList::new(&names).unwrap();
    let wire = list(&names);
    let wire = crate::compact_properties::names(&wire);
    let mut random = Random(31);
    let mut with_runs = 0;
    for round in 0..300 {
        let mut numbers = std::collections::BTreeSet::new();
        for _ in 0..1 + random.below(5) {
            let base = random.below(1 << [10, 18, 22][round % 3]) as u32;
            match random.below(4) {
                0 => numbers.extend(base..base + random.below(9_000) as u32),
                1 => numbers.extend((0..random.below(6_000) as u32).map(|n| base + n * 3)),
                2 => numbers.extend((0..random.below(20_000) as u32).map(|n| base + n * 2)),
                _ => numbers.extend((0..random.below(300)).map(|_| base + random.below(70_000) as u32)),
            }
        }
        let partitions: Vec<i32> = numbers.iter().map(|n| *n as i32).collect();
        let owned = [TopicPartitions { topic: "only", partitions: &partitions }];
        let bytes = CompactFields {
            owned: Owned::Blocks(&owned),
            encoding: Some(Encoding::Roaring),
            ..CompactFields::new(&topics)
        }
        .encode()
        .unwrap();
        let read = CompactUserData::decode(&bytes, wire).unwrap();
        let end = bytes.len() - 4;
        let payload = &bytes[end - read.payload_len()..end];
        // Ours, read by Roaring.
        let judge = RoaringBitmap::deserialize_from(payload).unwrap();
        assert!(judge.iter().eq(numbers.iter().copied()), "round {round}");
        // Roaring's, plain and with runs, read by us.
        let stride = numbers.last().map_or(0, |last| last + 1);
        for optimized in [false, true] {
            let mut bitmap: RoaringBitmap = numbers.iter().copied().collect();
            if optimized {
                with_runs += usize::from(bitmap.optimize());
            }
            let mut fields = Vec::new();
            let mut left = stride;
            while left >= 0x80 {
                fields.push(left as u8 | 0x80);
                left >>= 7;
            }
            fields.push(left as u8);
            bitmap.serialize_into(&mut fields).unwrap();
            assert!(bytes.len() <= fields.len() + 11 || !optimized, "ours is not longer");
            let bytes = frame(Encoding::Roaring.id(), &fields, wire);
            let read = CompactUserData::decode(&bytes, wire).unwrap();
            assert!(read.claims().map(|claim| claim.partition).eq(bitmap.iter()), "round {round}");
            for _ in 0..50 {
                let number = random.below(u64::from(stride) + 70_000) as u32;
                assert_eq!(read.contains(0, number), bitmap.contains(number));
            }
        }
    }
    assert!(with_runs > 50, "{with_runs}");
}

#[test]
fn cuts_damage_and_strangers_are_told_apart() {
    let names = topic_names(12);
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let topics = TopicList::new(&names).unwrap();
    let wire = list(&names);
    let wire = crate::compact_properties::names(&wire);
    let mut random = Random(3);
    let member = by_topic(scattered(&mut random, 40, 600), 50);
    let owned = fields(&names, &member);
    for encoding in Encoding::ALL {
        let fields = CompactFields {
            owned: Owned::Blocks(&owned),
            generation: Some(300),
            encoding: Some(encoding),
            ..CompactFields::new(&topics)
        };
        let mut bytes = fields.encode().unwrap();
        for len in 0..bytes.len() {
            let error = CompactUserData::decode(&bytes[..len], wire).unwrap_err();
            assert!(
                matches!(error.kind, DecodeErrorKind::Underflow { .. }),
                "{encoding:?} cut at {len}: {error}"
            );
        }
        for at in 0..bytes.len() {
            let was = bytes[at];
            for byte in (0..=u8::MAX).filter(|byte| *byte != was) {
                bytes[at] = byte;
                let error = CompactUserData::decode(&bytes, wire).unwrap_err();
                let named = match (at, error.kind) {
                    (0 | 1, DecodeErrorKind::ForeignFormat) => true,
                    (2, DecodeErrorKind::UnsupportedVersion { .. }) => true,
                    // A length that grew leads past the end; one of more than five bytes, or of less than the checksum,
                    // is none.
                    (4 | 5, DecodeErrorKind::Underflow { .. } | DecodeErrorKind::Inconsistent { .. }) => true,
                    (4 | 5, DecodeErrorKind::VarintTooLong) => true,
                    (3.., DecodeErrorKind::Checksum { .. }) => true,
                    _ => false,
                };
                assert!(named, "{encoding:?}, byte {at} from {was} to {byte}: {error}");
                // Without its list there is no checksum, and still nothing but a value or an error.
                if let Ok(read) = CompactUserData::decode_alone(&bytes) {
                    read.claims().take(10_000).for_each(|claim| assert!(claim.topic < u32::MAX));
                }
            }
            bytes[at] = was;
        }
        bytes.extend([1, 2, 3]);
        assert!(CompactUserData::decode(&bytes, wire).is_ok(), "bytes behind the end are not looked at");
        // The right bytes beside another list.
        let other = list(&names[1..]);
        let error = CompactUserData::decode(&bytes, crate::compact_properties::names(&other)).unwrap_err();
        assert!(matches!(error.kind, DecodeErrorKind::Checksum { .. }), "{error}");
    }
    for foreign in [&[0, 0, 0, 5][..], b"TFU\x01", b"\x00\x00\x00\x01\x00\x02t1", b"T\x00", b"x"] {
        let error = CompactUserData::decode(foreign, wire).unwrap_err();
        assert_eq!((error.at, error.kind), (0, DecodeErrorKind::ForeignFormat), "{foreign:?}");
        assert!(!CompactUserData::is_format(foreign));
    }
}

#[test]
fn a_writers_faults_are_found_behind_a_checksum_that_is_right() {
    let bytes = list(&["a", "b"]);
    let topics = names(&bytes);
    let fault = |kind: u8, fields: &[u8]| {
        let bytes = frame(kind, fields, topics);
        let error = CompactUserData::decode(&bytes, topics).map(|read| set(&read)).unwrap_err();
        assert!(error.at <= bytes.len());
        error.kind.name()
    };
    // Stride 10: twenty numbers, so the twenty-first is nobody's.
    assert!(CompactUserData::decode(&frame(1, &[10, 19], topics), topics).is_ok());
    assert_eq!(fault(1, &[10, 20]), "inconsistent");
    assert_eq!(fault(0, &[10, 3, 1, 0, 1]), "inconsistent");
    assert_eq!(fault(0, &[10, 3]), "underflow");
    assert_eq!(fault(0, &[10, 0, 20]), "inconsistent");
    assert_eq!(fault(1, &[10, 0x80, 0x80, 0x80, 0x80, 0x80, 0]), "varint-too-long");
    assert_eq!(fault(1, &[10, 0xff, 0xff, 0xff, 0xff, 0x0f]), "inconsistent");
    for id in 5..8 {
        assert_eq!(fault(id, &[10]), "unknown-encoding");
    }
    // Bits that end in a byte of none; bits beyond the topics.
    assert_eq!(fault(4, &[10, 1, 0]), "inconsistent");
    assert_eq!(fault(4, &[10, 0, 0, 0x10]), "inconsistent");
    // Rice: k, more codes and fewer codes than announced, sums that go beyond everything.
    assert_eq!(fault(3, &[10, 1, 32, 0]), "inconsistent");
    assert_eq!(fault(3, &[10, 2, 0, 1]), "inconsistent");
    assert_eq!(fault(3, &[10, 1, 0, 3]), "inconsistent");
    assert_eq!(fault(3, &[10, 9, 31, 1]), "underflow");
    assert_eq!(fault(3, &[10, 1, 31, 0, 0, 0, 0, 0x80]), "inconsistent");
    assert_eq!(fault(3, &[10, 0xff, 0xff, 0xff, 0xff, 0x0f, 0, 1]), "inconsistent");
    // Counts: more than topics, repeated too often, sums beyond everything, a partition beyond them.
    let counts = 1 << 6;
    assert!(CompactUserData::decode(&frame(counts | 1, &[2, 6, 8, 6], topics), topics).is_ok());
    assert_eq!(fault(counts | 1, &[2, 6, 8, 7]), "inconsistent");
    assert_eq!(fault(counts | 1, &[3, 6, 8, 8, 0]), "inconsistent");
    assert_eq!(fault(counts | 1, &[2, 7, 1, 0]), "inconsistent");
    let named = counts | 1 << 5 | 1;
    assert_eq!(fault(named, &[1, 1, b'x', 3, 0xff, 0xff, 0xff, 0xff, 0x0f, 1, 0]), "inconsistent");
    // Names and lengths that lead past the end; a generation above all.
    assert_eq!(fault(1 << 5, &[200, 1, b'x']), "count-above-rest");
    assert_eq!(fault(1 << 5, &[1, 9, b'x']), "underflow");
    assert_eq!(fault(1 << 4, &[9, b'x']), "underflow");
    assert_eq!(fault(1 << 3, &[0xff, 0xff, 0xff, 0xff, 0x0f, 0]), "inconsistent");
    // Roaring: no cookie, keys, arrays, bitmaps and runs that are not what they should be.
    let roaring = |bytes: &[u8]| {
        let fields = [&[0xff, 0xff, 0x0f][..], bytes].concat();
        fault(2, &fields)
    };
    assert_eq!(roaring(&[1, 2, 3, 4]), "inconsistent");
    assert_eq!(roaring(&[0x3a, 0x30, 0, 0, 0xff, 0xff, 0xff, 0xff]), "underflow");
    let plain = |keys: &[u8], rest: &[u8]| {
        let count = (keys.len() / 4) as u8;
        roaring(&[&[0x3a, 0x30, 0, 0, count, 0, 0, 0], keys, &vec![0; keys.len()], rest].concat())
    };
    assert_eq!(plain(&[1, 0, 0, 0, 1, 0, 0, 0], &[5, 0, 6, 0]), "inconsistent");
    assert_eq!(plain(&[1, 0, 1, 0], &[5, 0, 5, 0]), "inconsistent");
    assert_eq!(plain(&[1, 0, 1, 0], &[5, 0, 6]), "inconsistent");
    assert_eq!(plain(&[1, 0, 1, 0], &[5, 0, 6, 0, 7]), "inconsistent");
    assert_eq!(plain(&[0, 0, 0, 0x20], &[0xff; 8_192]), "inconsistent");
    let runs = |count: u8, rest: &[u8]| roaring(&[&[0x3b, 0x30, 0, 0, 1, 0, 0, count, 0], rest].concat());
    assert_eq!(runs(3, &[2, 0, 5, 0, 1, 0, 7, 0, 1, 0]), "inconsistent");
    assert_eq!(runs(3, &[2, 0, 5, 0, 1, 0, 8, 0, 2, 0]), "inconsistent");
    assert_eq!(runs(3, &[1, 0, 0xfe, 0xff, 3, 0]), "inconsistent");
}

#[test]
fn later_writers_may_add_fields() {
    let bytes = list(&["a", "b"]);
    let topics = names(&bytes);
    // Deltas, a generation, and three bytes that this version does not know.
    let bytes = frame(1 | 1 << 3 | 1 << 7, &[41, 3, 9, 9, 9, 10, 4], topics);
    let read = CompactUserData::decode(&bytes, topics).unwrap();
    assert_eq!((read.generation(), read.extension(), read.partition_count()), (Some(41), &[9, 9, 9][..], 1));
    assert!(read.contains_named("a", 4) && !read.contains_named("b", 4));
}

#[test]
fn golden_bytes_are_read_and_written() {
    let mut encodings = std::collections::BTreeSet::new();
    for vector in vectors("a5-compact.jsonl", 19) {
        let (id, value) = (id(&vector), written_out(&vector["value"]));
        let topics: Vec<&str> =
            vector["topic_list"].as_array().unwrap().iter().map(|topic| topic.as_str().unwrap()).collect();
        let owned = OwnedBlocks::from_json(&value["owned"]);
        let owned = owned.fields();
        let bytes = bytes_of(&vector).unwrap();
        let wire = list(&topics);
        let read = CompactUserData::decode(&bytes, names(&wire)).unwrap();
        let expected: Set = owned
            .iter()
            .flat_map(|block| block.partitions.iter().map(|&number| (block.topic.to_owned(), number as u32)))
            .collect();
        assert_eq!(set(&read), expected, "{id}");
        assert_eq!(serde_json::json!(read.generation()), value["generation"], "{id}");
        assert_eq!(serde_json::json!(read.rack().map(|rack| rack.to_string())), value["rack"], "{id}");
        assert_eq!(value["encoding"], read.encoding().name(), "{id}");
        assert_eq!(serde_json::json!(read.stride()), value["stride"], "{id}");
        encodings.insert(read.encoding());
        let topics = TopicList::new(&topics).unwrap();
        let fields = CompactFields {
            topics: &topics,
            owned: Owned::Blocks(&owned),
            generation: read.generation(),
            rack: value["rack"].as_str(),
            encoding: Some(read.encoding()),
        };
        assert_eq!(hex(&fields.encode().unwrap()), vector["bytes"].as_str().unwrap(), "{id}");
    }
    assert_eq!(encodings.len(), Encoding::ALL.len());
}

/// What fuzzing does for hours, for seconds: seeds with bytes changed, cut, repeated and put together.
#[test]
fn mutated_seeds_are_read_or_refused() {
    let folder = crate::support::dataset("../fuzz/corpus/tenure_userdata");
    let mut seeds: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    seeds.sort();
    let seeds: Vec<Vec<u8>> = seeds.into_iter().map(|path| std::fs::read(path).unwrap()).collect();
    let mut random = Random(404);
    for _ in 0..if cfg!(debug_assertions) { 4_000 } else { 400_000 } {
        let mut data = seeds[random.below(seeds.len() as u64) as usize].clone();
        for _ in 0..1 + random.below(4) {
            let at = random.below(data.len() as u64 + 1) as usize;
            match random.below(5) {
                0 => data.truncate(at),
                1 => data.insert(at, random.next() as u8),
                2 => data.extend_from_within(at..),
                3 => data.extend(&seeds[random.below(seeds.len() as u64) as usize]),
                _ => {
                    let byte = [0, 1, 0x7f, 0x80, 0xff, random.next() as u8][random.below(6) as usize];
                    if let Some(changed) = data.get_mut(at) {
                        *changed = byte;
                    }
                }
            }
        }
        data.truncate(5_000);
        crate::compact_properties::check(&data);
    }
}
