//! A leader's warm round: decoding, planning and writing, without one allocation.

use tenure::Topology;
use tenure::codec::compact::{CompactFields, CompactScratch, CompactUserData, Encoding, Owned, TopicList};
use tenure::codec::{StickyFields, Subscription, SubscriptionFields, TopicPartitions};
use tenure::protocol::leader::{DuplicateMembers, Leader, LeaderScratch};
use tenure::protocol::message::JoinMember;
use tenure::protocol::selection::TENURE_COOPERATIVE_STICKY;
use tenure::revoke::Mode;

use crate::counter::allocations;

const TOPICS: usize = 12;

/// Members with two kinds of topic lists, claims that overlap, fall out of range or name a topic that is gone, and
/// user data of which every fifth can't be read. `salt` changes the claims, not their number.
fn members(salt: usize) -> Vec<JoinMember> {
    let names: Vec<String> = (0..TOPICS).map(|topic| format!("topic-{topic:02}")).collect();
    let all: Vec<&str> = names.iter().map(String::as_str).collect();
    (0..40)
        .map(|number| {
            let numbers: Vec<Vec<i32>> =
                (0..TOPICS).map(|topic| vec![((number * 3 + topic + salt) % 45) as i32]).collect();
            let mut owned: Vec<_> = all
                .iter()
                .zip(&numbers)
                .map(|(topic, partitions)| TopicPartitions { topic, partitions })
                .collect();
            owned.push(TopicPartitions { topic: "gone", partitions: &[3] });
            let user_data = StickyFields { previous: &owned, generation: Some(7) }.encode().unwrap();
            let cut = if number % 5 == 0 { 30 } else { user_data.len() };
            let topics = if number % 3 == 0 { &all[..TOPICS / 2] } else { &all[..] };
            let fields = SubscriptionFields {
                topics,
                user_data: Some(&user_data[..cut]),
                owned: &owned,
                generation: Some(7),
                rack: (number % 2 == 0).then_some("rack-a"),
            };
            JoinMember {
                member_id: format!("member-{:02}", number * 7 % 40),
                group_instance_id: (number % 4 == 0).then(|| format!("instance-{number:02}")),
                metadata: fields.encode((number % 4) as i16).unwrap(),
            }
        })
        .collect()
}

fn topology() -> Topology {
    let mut builder = Topology::builder();
    for topic in 0..TOPICS {
        builder.add_topic(&format!("topic-{topic:02}"), 40);
    }
    builder.build().unwrap()
}

/// The members of Tenure's own assignor, in the compact form: by turns whole, damaged, with a topic that is gone, and
/// in each of the encodings.
fn compact_members(salt: usize) -> Vec<JoinMember> {
    let names: Vec<String> = (0..TOPICS).map(|topic| format!("topic-{topic:02}")).collect();
    let all: Vec<&str> = names.iter().map(String::as_str).collect();
    (0..40)
        .map(|number| {
            let topics = TopicList::new(if number % 3 == 0 { &all[..TOPICS / 2] } else { &all[..] }).unwrap();
            let numbers: Vec<Vec<i32>> = (0..topics.names().len())
                .map(|topic| vec![((number * 3 + topic + salt) % 40) as i32])
                .collect();
            let mut owned: Vec<_> = all
                .iter()
                .zip(&numbers)
                .map(|(topic, partitions)| TopicPartitions { topic, partitions })
                .collect();
            if number % 4 == 0 {
                owned.push(TopicPartitions { topic: "gone", partitions: &[3] });
            }
            let encoding = [None].into_iter().chain(Encoding::ALL.map(Some)).nth(number % 6).unwrap();
            let owned = Owned::Blocks(&owned);
            let mut data =
                CompactFields { owned, generation: Some(7), encoding, ..CompactFields::new(&topics) }
                    .encode()
                    .unwrap();
            data[8] ^= u8::from(number % 5 == 0);
            let user_data = Some(&data[..]);
            let fields = SubscriptionFields { topics: topics.names(), user_data, ..Default::default() };
            JoinMember {
                member_id: format!("member-{:02}", number * 7 % 40),
                group_instance_id: None,
                metadata: fields.encode(3).unwrap(),
            }
        })
        .collect()
}

/// Warm rounds of members in the compact form allocate nothing either; nor do its writer and its reader alone.
pub(crate) fn warm_compact_rounds() {
    let topology = topology();
    let rounds = [compact_members(0), compact_members(1), compact_members(2)];
    let leader = Leader::new();
    let mut scratch = LeaderScratch::new();
    let mut lead = |members: &[JoinMember]| {
        let round = leader
            .round_into(TENURE_COOPERATIVE_STICKY, members, "member-00", &topology, &mut scratch)
            .unwrap();
        (round.bytes().len(), round.unreadable().len())
    };
    for members in rounds.iter().chain(&rounds) {
        assert_eq!(lead(members).1, 8);
    }
    for members in rounds.iter().cycle().take(6) {
        assert_eq!(allocations(|| lead(members)), 0, "allocations in a warm round of compact members");
    }

    let names: Vec<String> = (0..TOPICS).map(|topic| format!("topic-{topic:02}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let topics = TopicList::new(&names).unwrap();
    let partitions: Vec<i32> = (0..3_000).filter(|number| number * 7 % 5 != 0).collect();
    let owned = [TopicPartitions { topic: "topic-03", partitions: &partitions }];
    let words = vec![0x1234_5678_9abc_def0; 500];
    let ranges: Vec<_> = (0..TOPICS as u32).map(|topic| topic * 2_000..topic * 2_000 + 1_900).collect();
    let bytes = SubscriptionFields { topics: &names, ..Default::default() }.encode(3).unwrap();
    let wire = Subscription::decode(&bytes).unwrap().topics;
    let mut scratch = CompactScratch::default();
    let (mut buffer, mut row) = (vec![0; 100_000], vec![0; 500]);
    for encoding in [None].into_iter().chain(Encoding::ALL.map(Some)) {
        for owned in [Owned::Blocks(&owned), Owned::Row { words: &words, ranges: &ranges }] {
            let fields = CompactFields { owned, encoding, ..CompactFields::new(&topics) };
            fields.encode_into(&mut scratch, &mut buffer).unwrap();
            let count = allocations(|| {
                let len = fields.encode_into(&mut scratch, &mut buffer).unwrap();
                let read = CompactUserData::decode(&buffer[..len], wire).unwrap();
                let sum = read.claims().fold(0, |sum, claim| sum + u64::from(claim.partition));
                let has = read.contains(3, 77) || read.contains_named("topic-04", 3);
                (sum, has, read.ranges().count(), read.set_bits(&ranges, &mut row))
            });
            assert_eq!(count, 0, "{encoding:?}");
        }
    }
}

/// Warm rounds of all assignors allocate nothing; a cold one does, so the count can fail.
pub(crate) fn warm_rounds() {
    let topology = topology();
    let rounds = [members(0), members(1), members(2)];
    let mut with_repeat = members(0);
    with_repeat.push(with_repeat[3].clone());
    for protocol in ["cooperative-sticky", "sticky", "range", "roundrobin", TENURE_COOPERATIVE_STICKY] {
        for mode in [Mode::Shipped, Mode::Draft] {
            let leader = Leader::new().mode(mode).duplicates(DuplicateMembers::FirstCounts);
            let mut scratch = LeaderScratch::new();
            let mut lead = |members: &[JoinMember]| {
                let round = leader.round_into(protocol, members, "member-00", &topology, &mut scratch);
                round.unwrap().bytes().len()
            };
            for members in rounds.iter().chain([&with_repeat]).chain(&rounds) {
                assert!(lead(members) > 0);
            }
            for members in rounds.iter().chain([&with_repeat]).cycle().take(8) {
                let count = allocations(|| lead(members));
                assert_eq!(count, 0, "{protocol}, {mode:?}: allocations in a warm round");
            }
        }
    }
    let cold = allocations(|| Leader::new().round("range", &rounds[0], "member-00", &topology).unwrap());
    assert!(cold > 40, "{cold}");
}

/// A group large enough for several threads to read and to write it.
pub(crate) fn in_a_pool() {
    let mut builder = Topology::builder();
    let names: Vec<String> = (0..60).map(|topic| format!("topic-{topic:02}")).collect();
    names.iter().for_each(|name| _ = builder.add_topic(name, 400));
    let topology = builder.build().unwrap();
    let topics: Vec<&str> = names.iter().map(String::as_str).collect();
    let members: Vec<JoinMember> = (0..400)
        .map(|number| {
            let partitions = [number];
            let owned: Vec<_> =
                topics.iter().map(|&topic| TopicPartitions { topic, partitions: &partitions }).collect();
            let fields = SubscriptionFields {
                topics: &topics,
                owned: if number % 7 == 0 { &owned[1..] } else { &owned },
                generation: Some(3),
                ..Default::default()
            };
            JoinMember {
                member_id: format!("member-{number:03}"),
                group_instance_id: None,
                metadata: fields.encode(3).unwrap(),
            }
        })
        .collect();
    assert!(members.iter().map(|member| member.metadata.len()).sum::<usize>() > 1 << 18);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
    let mut scratch = LeaderScratch::new();
    let mut lead = || {
        let round =
            Leader::new().round_into("cooperative-sticky", &members, "member-000", &topology, &mut scratch);
        round.unwrap().bytes().len()
    };
    // The pool itself may ask for memory when a thread wakes or steals for the first time.
    let least = (0..50).map(|_| pool.install(|| allocations(&mut lead))).min();
    assert_eq!(least, Some(0), "a warm round in a pool");
}
