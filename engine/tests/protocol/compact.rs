//! Tenure's own assignor: claims in compact user data alone, the leader's round with them, and the way there and back.

use std::collections::{BTreeMap, BTreeSet};

use tenure::Topology;
use tenure::codec::compact::{CompactFields, CompactUserData, Encoding, MAGIC, Owned, TopicList, VERSION};
use tenure::codec::sticky::{COOPERATIVE_STICKY, encode_cooperative};
use tenure::codec::{Assignment, DecodeErrorKind, Subscription, SubscriptionFields, TopicPartitions};
use tenure::id::Generation;
use tenure::protocol::leader::{Leader, LeaderRound, LeaderScratch};
use tenure::protocol::message::{JoinMember, TopicPartition};
use tenure::protocol::partition_set::PartitionSet;
use tenure::protocol::selection::{Assignor, TENURE_COOPERATIVE_STICKY, common_names, roll_out_path};
use tenure::revoke::Mode;

use crate::host::{Host, config, set};

/// Numbers that depend on a seed alone.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % end
    }
}

const NAMES: [&str; 8] = ["a", "ab", "b", "orders", "t", "zz", "\u{1f600}face", "\u{ff5e}full"];

/// What a member says, however it says it.
struct Said {
    id: String,
    topics: Vec<&'static str>,
    owned: Vec<(&'static str, Vec<i32>)>,
    generation: i32,
    rack: Option<&'static str>,
    version: i16,
}

impl Said {
    fn any(random: &mut Random, number: usize) -> Self {
        let owned = (0..random.below(6))
            .map(|_| {
                let numbers = match random.below(3) {
                    // A stretch, some of it beyond the topic.
                    0 => (0..random.below(12) as i32).collect(),
                    _ => (0..random.below(6)).map(|_| random.below(14) as i32).collect(),
                };
                (NAMES[random.below(NAMES.len())], numbers)
            })
            .collect();
        Self {
            id: format!("m{number}"),
            topics: (0..random.below(8)).map(|_| NAMES[random.below(NAMES.len())]).collect(),
            owned,
            generation: random.below(4) as i32 - 1,
            rack: [None, Some("r1")][random.below(2)],
            version: 2 + random.below(2) as i16,
        }
    }

    fn blocks(&self) -> Vec<TopicPartitions<'_>> {
        self.owned.iter().map(|(topic, partitions)| TopicPartitions { topic, partitions }).collect()
    }

    /// As a member of `cooperative-sticky` says it.
    fn plain(&self) -> JoinMember {
        let user_data = encode_cooperative(self.generation);
        let fields = SubscriptionFields {
            topics: &self.topics,
            user_data: Some(&user_data),
            owned: &self.blocks(),
            generation: Some(self.generation),
            rack: self.rack,
        };
        self.join(fields.encode(self.version).unwrap())
    }

    /// As a member of Tenure's own assignor says it.
    fn compact(&self, encoding: Option<Encoding>) -> JoinMember {
        let user_data = self.user_data(encoding);
        let fields = SubscriptionFields {
            topics: &self.topics,
            user_data: Some(&user_data),
            generation: Some(self.generation),
            rack: self.rack,
            ..Default::default()
        };
        self.join(fields.encode(self.version).unwrap())
    }

    fn user_data(&self, encoding: Option<Encoding>) -> Vec<u8> {
        let topics = TopicList::new(&self.topics).unwrap();
        CompactFields {
            owned: Owned::Blocks(&self.blocks()),
            generation: Some(self.generation),
            rack: None,
            encoding,
            topics: &topics,
        }
        .encode()
        .unwrap()
    }

    fn join(&self, metadata: Vec<u8>) -> JoinMember {
        JoinMember { member_id: self.id.clone(), group_instance_id: None, metadata }
    }
}

fn topology(random: &mut Random) -> Topology {
    let mut builder = Topology::builder();
    for name in NAMES {
        let count = random.below(11) as u32;
        if random.below(5) > 0 {
            builder.add_topic(name, count);
        }
    }
    builder.build().unwrap()
}

/// What everybody is given, by id: names and numbers.
fn given(round: &LeaderRound<'_>) -> BTreeMap<String, PartitionSet> {
    let read = |bytes| {
        let assignment = Assignment::decode_nonempty(bytes).unwrap();
        let blocks = assignment.assigned.iter();
        PartitionSet::from_blocks(
            blocks.map(|block| (block.topic.to_str_lossy().into_owned(), block.partitions)),
        )
    };
    round.assignments().map(|(id, bytes)| (id.to_owned(), read(bytes))).collect()
}

/// The leader's topics are drawn apart from the claims: some of them lack partitions that are claimed, some are gone, and
/// members claim topics that they don't subscribe to. The same claims in either form give the same round.
#[test]
fn the_same_claims_give_the_same_round_in_either_form() {
    let (mut plain_scratch, mut scratch) = (LeaderScratch::new(), LeaderScratch::new());
    let (mut withheld, mut foreign, mut kept) = (0, 0, 0);
    for seed in 0..600 {
        let mut random = Random(seed);
        let topology = topology(&mut random);
        let said: Vec<Said> = (0..1 + random.below(7)).map(|number| Said::any(&mut random, number)).collect();
        let encoding = [&[None], &Encoding::ALL.map(Some)[..]].concat()[seed as usize % 6];
        let plain: Vec<JoinMember> = said.iter().map(Said::plain).collect();
        let compact: Vec<JoinMember> = said.iter().map(|one| one.compact(encoding)).collect();
        for mode in [Mode::Shipped, Mode::Draft] {
            let leader = Leader::new().mode(mode);
            let expected =
                leader.round_into(COOPERATIVE_STICKY, &plain, "m0", &topology, &mut plain_scratch).unwrap();
            let round = leader
                .round_into(TENURE_COOPERATIVE_STICKY, &compact, "m0", &topology, &mut scratch)
                .unwrap();
            assert_eq!(given(&round), given(&expected), "seed {seed}, {mode:?}, {encoding:?}");
            assert_eq!(round.findings(), expected.findings(), "seed {seed}");
            assert_eq!(round.rejoin(), expected.rejoin(), "seed {seed}");
            assert_eq!(round.stats(), expected.stats(), "seed {seed}");
            assert_eq!(round.unreadable().len(), 0, "seed {seed}");
            withheld += round.plan().transfer_count();
            foreign += usize::from(
                round.group().member_indices().any(|m| round.group().foreign_claims(m).next().is_some()),
            );
            kept += round.group().member_indices().map(|m| round.round().kept(m).count()).sum::<usize>();
        }
    }
    assert!(withheld > 200 && foreign > 200 && kept > 200, "{withheld} {foreign} {kept}");
}

#[test]
fn a_member_that_sends_no_user_data_is_understood() {
    let topology = Topology::builder().topic("t", 4).build().unwrap();
    let owned = [TopicPartitions { topic: "t", partitions: &[1, 2] }];
    let fields =
        SubscriptionFields { topics: &["t"], owned: &owned, generation: Some(5), ..Default::default() };
    let members = ["a", "b"].map(|id| {
        let fields = if id == "a" { fields } else { SubscriptionFields { owned: &[], ..fields } };
        JoinMember { member_id: id.into(), group_instance_id: None, metadata: fields.encode(3).unwrap() }
    });
    let mut scratch = LeaderScratch::new();
    let round =
        Leader::new().round_into(TENURE_COOPERATIVE_STICKY, &members, "a", &topology, &mut scratch).unwrap();
    assert_eq!(given(&round)["a"], set("t", [1, 2]));
    // And both: the claims of either place count, with the generation of the data.
    let said = Said {
        id: "a".into(),
        topics: vec!["t"],
        owned: vec![("t", vec![0])],
        generation: 5,
        rack: None,
        version: 3,
    };
    let user_data = said.user_data(None);
    let fields = SubscriptionFields { user_data: Some(&user_data), generation: None, ..fields };
    let members = [said.join(fields.encode(3).unwrap()), members[1].clone()];
    let round =
        Leader::new().round_into(TENURE_COOPERATIVE_STICKY, &members, "a", &topology, &mut scratch).unwrap();
    let claims: usize = round.group().claims(round.group().find("a").unwrap()).len();
    assert_eq!(
        (claims, round.group().generation(round.group().find("a").unwrap())),
        (3, Generation::from_wire(5))
    );
}

#[test]
fn damaged_data_is_no_history_and_is_counted_by_name() {
    let topology = Topology::builder().topic("t", 6).build().unwrap();
    let said = |id: &str, owned: Vec<i32>| Said {
        id: id.into(),
        topics: vec!["t"],
        owned: vec![("t", owned)],
        generation: 5,
        rack: None,
        version: 3,
    };
    let whole = said("a", vec![0, 1, 2]);
    let other = said("b", vec![3, 4, 5]);
    let data = other.user_data(None);
    let mut flipped = data.clone();
    flipped[6] ^= 1;
    let elsewhere = Said { topics: vec!["t", "u"], ..said("b", vec![3, 4, 5]) }.user_data(None);
    let mut newer = data.clone();
    newer[2] = 9;
    for (user_data, kind) in [
        (flipped, "checksum"),
        (data[..data.len() - 1].to_vec(), "underflow"),
        (vec![0, 0, 0, 5], "foreign-format"),
        (b"TFU\x01".to_vec(), "foreign-format"),
        (elsewhere, "checksum"),
        (newer, "unsupported-version"),
    ] {
        let fields = SubscriptionFields {
            topics: &["t"],
            user_data: Some(&user_data),
            generation: Some(5),
            ..Default::default()
        };
        let members = [whole.compact(None), other.join(fields.encode(3).unwrap())];
        let mut scratch = LeaderScratch::new();
        let round = Leader::new()
            .round_into(TENURE_COOPERATIVE_STICKY, &members, "a", &topology, &mut scratch)
            .unwrap();
        let unreadable: Vec<_> = round.unreadable().map(|(id, error)| (id, error.kind.name())).collect();
        assert_eq!(unreadable, [("b", kind)]);
        // The others keep what they have; nobody owned the rest.
        assert_eq!(given(&round)["a"], set("t", [0, 1, 2]));
        assert_eq!(given(&round)["b"], set("t", [3, 4, 5]));
        assert_eq!(round.group().claims(round.group().find("b").unwrap()).len(), 0);
        assert!(!round.rejoin());
    }
}

/// Twenty bytes can claim four billion partitions. They cost no more than the partitions that exist.
#[test]
fn a_flood_of_claims_costs_what_exists() {
    let topology = Topology::builder().topic("t", 6).build().unwrap();
    let list = TopicList::new(&["t"]).unwrap();
    // A stride of 2^31, and one run over all of it.
    let fields = [0x80, 0x80, 0x80, 0x80, 0x08, 0, 0xff, 0xff, 0xff, 0xff, 0x07];
    let mut flood = [&MAGIC[..], &[VERSION, Encoding::Runs.id(), fields.len() as u8 + 4], &fields].concat();
    let mut hasher = crc32fast::Hasher::new_with_initial(list.seal());
    hasher.update(&flood);
    flood.extend(hasher.finalize().to_be_bytes());
    let fields = SubscriptionFields { topics: &["t"], user_data: Some(&flood), ..Default::default() };
    let bytes = fields.encode(3).unwrap();
    let subscription = Subscription::decode(&bytes).unwrap();
    let read = CompactUserData::decode(&flood, subscription.topics).unwrap();
    assert_eq!(read.partition_count(), 1 << 31);
    let members = [JoinMember { member_id: "a".into(), group_instance_id: None, metadata: bytes.clone() }];
    let mut scratch = LeaderScratch::new();
    let round =
        Leader::new().round_into(TENURE_COOPERATIVE_STICKY, &members, "a", &topology, &mut scratch).unwrap();
    assert_eq!(given(&round)["a"], set("t", [0, 1, 2, 3, 4, 5]));
    assert_eq!(round.group().claims(round.group().find("a").unwrap()).len(), 6);
}

fn own() -> Assignor {
    Assignor::tenure_cooperative_sticky()
}

#[test]
fn ownership_travels_in_the_user_data_alone() {
    let owned = set("t1", [0, 3, 4]);
    let mut host = Host::stable(config(&[own()]), &owned);
    host.member.request_rejoin("a test", host.now_ms).unwrap();
    host.pump();
    let (_, join) = host.take_join();
    let subscription = Subscription::decode(&join.protocols[0].metadata).unwrap();
    assert!(subscription.owned.is_empty(), "the list of owned partitions stays empty");
    let read = CompactUserData::decode(subscription.user_data.unwrap(), subscription.topics).unwrap();
    assert_eq!((read.generation(), read.rack(), read.literals().len()), (Some(1), None, 0));
    let named = read.named_ranges().flat_map(|(name, range)| {
        (range.from..=range.to).map(move |number| TopicPartition::new(name.to_string(), number as i32))
    });
    assert_eq!(named.collect::<PartitionSet>(), owned);
}

#[test]
fn under_standard_names_the_bytes_stay_kafkas() {
    let owned = set("t1", [0, 3, 4]);
    let rejoined = |assignors: &[Assignor]| {
        let mut host = Host::stable(config(assignors), &owned);
        host.member.request_rejoin("a test", host.now_ms).unwrap();
        host.pump();
        host.take_join().1.protocols
    };
    let kafkas = SubscriptionFields {
        topics: &["t1"],
        user_data: Some(&encode_cooperative(1)),
        owned: &[TopicPartitions { topic: "t1", partitions: &[0, 3, 4] }],
        generation: Some(1),
        rack: None,
    }
    .encode(3)
    .unwrap();
    let alone = rejoined(&[Assignor::cooperative_sticky()]);
    assert_eq!(alone[0].metadata, kafkas);
    for list in [[Assignor::cooperative_sticky(), own()], [own(), Assignor::cooperative_sticky()]] {
        let both = rejoined(&list);
        let at = both.iter().position(|one| one.name == COOPERATIVE_STICKY).unwrap();
        assert_eq!(both[at], alone[0], "nothing but the other assignor's own entry is added");
        assert_eq!(both[1 - at].name, TENURE_COOPERATIVE_STICKY);
        assert_ne!(both[1 - at].metadata, kafkas);
    }
    for assignor in [Assignor::range(), Assignor::round_robin(), Assignor::sticky()] {
        let alone = rejoined(core::slice::from_ref(&assignor));
        let subscription = Subscription::decode(&alone[0].metadata).unwrap();
        assert!(!subscription.user_data.is_some_and(CompactUserData::is_format), "{}", assignor.name());
    }
}

/// A process of a group that is upgraded, at the level of what it sends and takes.
#[derive(Clone, Default)]
struct Process {
    list: Vec<String>,
    owned: PartitionSet,
    generation: Option<i32>,
}

impl Process {
    fn join(&self, id: &str, name: &str) -> JoinMember {
        let owned: Vec<(&str, Vec<i32>)> = self
            .owned
            .blocks()
            .map(|(topic, block)| (topic, block.iter().map(|one| one.partition).collect()))
            .collect();
        let owned: Vec<_> =
            owned.iter().map(|(topic, partitions)| TopicPartitions { topic, partitions }).collect();
        let topics = TopicList::new(&["t1", "t2"]).unwrap();
        let compact = CompactFields {
            owned: Owned::Blocks(&owned),
            generation: self.generation,
            ..CompactFields::new(&topics)
        };
        let own = name == TENURE_COOPERATIVE_STICKY;
        let user_data = if own {
            compact.encode().unwrap()
        } else {
            encode_cooperative(self.generation.unwrap_or(-1)).to_vec()
        };
        let fields = SubscriptionFields {
            topics: topics.names(),
            user_data: Some(&user_data),
            owned: if own { &[] } else { &owned },
            generation: self.generation,
            rack: None,
        };
        JoinMember { member_id: id.into(), group_instance_id: None, metadata: fields.encode(3).unwrap() }
    }
}

/// Process after process is restarted with the next list, there and back; between restarts the coordinator may select any
/// assignor that all of them list. At no time do two processes own one partition, and at the end all is owned.
#[test]
fn two_rolling_restarts_lead_there_and_back_and_every_choice_is_safe() {
    let topology = Topology::builder().topic("t1", 7).topic("t2", 5).build().unwrap();
    let leader = Leader::new();
    let (mut selected, mut handed_over) = (BTreeSet::new(), 0);
    for seed in 0..60 {
        let mut random = Random(seed);
        let mut processes: BTreeMap<String, Process> = (0..2 + random.below(4))
            .map(|number| {
                let list = vec![COOPERATIVE_STICKY.to_owned()];
                (format!("p{number}"), Process { list, ..Process::default() })
            })
            .collect();
        let (kafkas, own) = (Assignor::cooperative_sticky(), own());
        let there = roll_out_path(&kafkas, &own);
        let back = roll_out_path(&own, &kafkas);
        let mut generation = 0;
        let mut scratch = LeaderScratch::new();
        for list in there.into_iter().chain(back) {
            for restarted in processes.keys().cloned().collect::<Vec<_>>() {
                // The others may have a round or two while it is away: then what they took is handed back.
                processes.remove(&restarted);
                let rounds = random.below(3) + 2;
                let back_at = random.below(rounds);
                for nth in 0..rounds {
                    if nth == back_at {
                        let new = Process { list: list.clone(), ..Process::default() };
                        processes.insert(restarted.clone(), new);
                    }
                    let lists: Vec<Vec<String>> = processes.values().map(|one| one.list.clone()).collect();
                    let names = common_names(&lists);
                    assert!(!names.is_empty(), "{lists:?}");
                    let name = names[random.below(names.len())].clone();
                    let members: Vec<JoinMember> =
                        processes.iter().map(|(id, one)| one.join(id, &name)).collect();
                    let leader_id = &members[0].member_id;
                    let round =
                        leader.round_into(&name, &members, leader_id, &topology, &mut scratch).unwrap();
                    assert_eq!(round.unreadable().len(), 0);
                    selected.insert((name.clone(), names.len()));
                    generation += 1;
                    let given = given(&round);
                    // Nobody gets what another owns, be it about to give it up.
                    for (id, gets) in &given {
                        for (other, process) in processes.iter().filter(|(other, _)| *other != id) {
                            let safe = gets.is_disjoint(&process.owned);
                            assert!(safe, "seed {seed}: {id} gets what {other} owns");
                        }
                    }
                    handed_over += round.plan().transfer_count();
                    for (id, gets) in given {
                        let process = processes.get_mut(&id).unwrap();
                        process.owned = gets;
                        process.generation = Some(generation);
                    }
                }
            }
        }
        // At rest, all of it is owned.
        for _ in 0..2 {
            let members: Vec<JoinMember> =
                processes.iter().map(|(id, one)| one.join(id, COOPERATIVE_STICKY)).collect();
            let round = leader
                .round_into(COOPERATIVE_STICKY, &members, &members[0].member_id, &topology, &mut scratch)
                .unwrap();
            for (id, gets) in given(&round) {
                processes.get_mut(&id).unwrap().owned = gets;
            }
        }
        assert_eq!(processes.values().map(|one| one.owned.len()).sum::<usize>(), 12, "seed {seed}");
    }
    // Both were selected where both could be, and each where only it could be.
    assert_eq!(selected.len(), 4, "{selected:?}");
    assert!(handed_over > 100, "{handed_over}");
}

#[test]
fn kinds_of_damage_have_names_of_their_own() {
    let kinds = [
        DecodeErrorKind::ForeignFormat,
        DecodeErrorKind::Checksum { stated: 1, computed: 2 },
        DecodeErrorKind::Underflow { needed: 2, left: 1 },
        DecodeErrorKind::Inconsistent { what: "x" },
        DecodeErrorKind::UnknownEncoding { id: 7 },
    ];
    let names: BTreeSet<&str> = kinds.iter().map(DecodeErrorKind::name).collect();
    let texts: BTreeSet<String> = kinds.iter().map(DecodeErrorKind::to_string).collect();
    assert_eq!((names.len(), texts.len()), (kinds.len(), kinds.len()));
}
