//! The leader's round: the same bytes as decoding, planning and encoding one after the other; typed errors; order,
//! scratch and threads that never count.

use tenure::codec::consumer::{AssignmentErrorCode, DraftAssignmentFields};
use tenure::codec::{
    Assignment, AssignmentFields, History, StickyFields, Subscription, SubscriptionFields, TopicPartitions,
};
use tenure::group::Protocol;
use tenure::id::utf16_cmp;
use tenure::plan::{Assignor, Config, Objective, Strategy};
use tenure::protocol::leader::{
    AssignmentVersion, DuplicateMembers, JoinEntry, Leader, LeaderError, LeaderScratch, MemberMetadata,
};
use tenure::protocol::message::JoinMember;
use tenure::protocol::payload::{FOLLOW_UP, MemberAssignment};
use tenure::protocol::selection::TENURE_COOPERATIVE_STICKY;
use tenure::revoke::{Mode, Round};
use tenure::{Group, Topology};

use crate::leader_properties;

const PROTOCOLS: [&str; 5] =
    ["cooperative-sticky", "sticky", "range", "roundrobin", TENURE_COOPERATIVE_STICKY];

const NAMES: [&str; 9] = [
    "a",
    "ab",
    "b",
    "orders",
    "t",
    "zz",
    "\u{1f600}face",
    "\u{ff5e}full",
    "a-topic-with-a-rather-long-name.v2",
];

/// Numbers that depend on a seed alone.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % end
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }
}

fn member(id: &str, metadata: Vec<u8>) -> JoinMember {
    JoinMember { member_id: id.into(), group_instance_id: None, metadata }
}

fn subscription(version: i16, topics: &[&str], owned: &[(&str, &[i32])], generation: i32) -> Vec<u8> {
    let owned: Vec<_> =
        owned.iter().map(|&(topic, partitions)| TopicPartitions { topic, partitions }).collect();
    let user_data = StickyFields { previous: &owned, generation: Some(generation) }.encode().unwrap();
    SubscriptionFields {
        topics,
        user_data: Some(&user_data),
        owned: &owned,
        generation: Some(generation),
        rack: None,
    }
    .encode(version)
    .unwrap()
}

/// A topology with some of the names, some of them without partitions, sometimes with racks.
fn topology(random: &mut Random) -> Topology {
    let mut builder = Topology::builder();
    let racks = random.one_in(4);
    for name in NAMES {
        let count = random.below(9);
        if random.one_in(5) {
            continue;
        }
        if racks {
            let sets = (0..count).map(|p| vec![format!("r{}", p % 3)]).collect();
            builder.add_topic_with_racks(name, sets);
        } else {
            builder.add_topic(name, count as u32);
        }
    }
    builder.build().unwrap()
}

fn members(random: &mut Random) -> Vec<JoinMember> {
    let lists: Vec<Vec<&str>> = (0..1 + random.below(3))
        .map(|_| (0..random.below(7)).map(|_| NAMES[random.below(NAMES.len())]).collect())
        .collect();
    let count = 1 + random.below(8);
    let mut members: Vec<JoinMember> = (0..count)
        .map(|number| {
            let owned: Vec<(&str, Vec<i32>)> = (0..random.below(5))
                .map(|_| {
                    let numbers = (0..random.below(6)).map(|_| random.below(12) as i32 - 2).collect();
                    (NAMES[random.below(NAMES.len())], numbers)
                })
                .collect();
            let owned: Vec<_> =
                owned.iter().map(|(topic, partitions)| TopicPartitions { topic, partitions }).collect();
            let generation = random.below(4) as i32 - 1;
            let sticky = StickyFields {
                previous: &owned,
                generation: if random.one_in(3) { None } else { Some(generation) },
            };
            let user_data = match random.below(5) {
                0 => None,
                1 => Some(generation.to_be_bytes().to_vec()),
                2 => Some(vec![0, 0, 0, 9, 0, 1]),
                _ => Some(sticky.encode().unwrap()),
            };
            let rack = format!("r{}", random.below(5));
            let fields = SubscriptionFields {
                topics: &lists[random.below(lists.len())],
                user_data: user_data.as_deref(),
                owned: &owned,
                generation: Some(generation),
                rack: random.one_in(3).then_some(rack.as_str()),
            };
            let version = random.below(5) as i16;
            let mut metadata = fields.encode(version.min(3)).unwrap();
            metadata[..2].copy_from_slice(&version.to_be_bytes());
            let mut member = member(&format!("m{number}"), metadata);
            member.group_instance_id = random.one_in(4).then(|| format!("i{}", 9 - number));
            member
        })
        .collect();
    shuffle(&mut members, random);
    members
}

fn shuffle<T>(list: &mut [T], random: &mut Random) {
    for at in (1..list.len()).rev() {
        list.swap(at, random.below(at + 1));
    }
}

/// The same round by decoding all, planning and encoding all, with names, sets and vectors.
fn the_slow_way(
    protocol: &str,
    members: &[JoinMember],
    topology: &Topology,
    mode: Mode,
    objective: Objective,
) -> Vec<(String, Vec<u8>)> {
    let own = protocol == TENURE_COOPERATIVE_STICKY;
    let strategy = if own { Strategy::CooperativeSticky } else { protocol.parse().unwrap() };
    let mut builder = Group::builder(topology);
    let cooperative = strategy == Strategy::CooperativeSticky;
    // What is claimed under an eager assignor is still held; a generation that can't be said is the newest.
    let histories: Vec<(bool, History<'_>)> = members
        .iter()
        .map(|member| {
            let subscription = Subscription::decode(&member.metadata).unwrap();
            let holds = !cooperative && !subscription.owned.is_empty();
            (holds, History::of(&subscription, if holds { "range" } else { protocol }))
        })
        .collect();
    let newest = histories.iter().filter_map(|(_, history)| history.generation).max().unwrap_or(-1);
    let falls_back = histories.iter().any(|(holds, _)| *holds);
    for (member, (holds, history)) in members.iter().zip(&histories) {
        let subscription = Subscription::decode(&member.metadata).unwrap();
        let mut add = builder.member(&member.member_id);
        let binds = *holds || cooperative;
        add.protocol(if binds { Protocol::Cooperative } else { Protocol::Eager });
        let unsaid = binds && !history.owned.is_empty() && subscription.version < 2;
        for topic in subscription.topics {
            add.topic(&topic.to_str_lossy());
        }
        for block in history.owned {
            add.owned(&block.topic.to_str_lossy(), block.partitions);
        }
        add.generation(history.generation.unwrap_or(if unsaid { newest } else { -1 }));
        if let Some(instance) = &member.group_instance_id {
            add.instance(instance);
        }
        if let Some(rack) = subscription.rack {
            add.rack(&rack.to_str_lossy());
        }
    }
    let group = builder.build().unwrap();
    let config = Config::new().strategy(strategy).objective(objective);
    let (plan, _) = Assignor::new(config).assign(&group).unwrap();
    let round = Round::new(&group, &plan, mode);
    let encode = |member: &JoinMember| {
        let index = group.find(&member.member_id).unwrap();
        let mut all: Vec<(&str, i32)> = round
            .assignment(index)
            .map(|p| (topology.name(topology.topic_of(p)), topology.number(p) as i32))
            .collect();
        for claim in round.returned(index) {
            all.extend((claim.from..=claim.to).map(|number| (claim.topic, number)));
        }
        all.sort_by(|a, b| utf16_cmp(a.0, b.0).then(a.1.cmp(&b.1)));
        let blocks: Vec<(&str, Vec<i32>)> = all
            .chunk_by(|a, b| a.0 == b.0)
            .map(|block| (block[0].0, block.iter().map(|one| one.1).collect()))
            .collect();
        let assigned: Vec<_> =
            blocks.iter().map(|(topic, partitions)| TopicPartitions { topic, partitions }).collect();
        let assigned = &assigned[..];
        let version = Subscription::decode(&member.metadata).unwrap().version.min(3);
        let bytes = if mode == Mode::Draft {
            let error =
                if round.rejoin() { AssignmentErrorCode::NeedRejoin } else { AssignmentErrorCode::None };
            DraftAssignmentFields { assigned, user_data: None, error }.encode(version.min(1))
        } else {
            let gives_up = round.revoked(index).count() + round.revoked_foreign(index).count() > 0;
            let user_data = if (own || falls_back) && gives_up { Some(FOLLOW_UP) } else { None };
            AssignmentFields { assigned, user_data }.encode(version)
        };
        (member.member_id.clone(), bytes.unwrap())
    };
    members.iter().map(encode).collect()
}

fn led(
    leader: &Leader,
    protocol: &str,
    members: &[JoinMember],
    topology: &Topology,
    scratch: &mut LeaderScratch,
) -> Vec<(String, Vec<u8>)> {
    let leader_id = members[0].member_id.clone();
    let round = leader.round_into(protocol, members, &leader_id, topology, scratch).unwrap();
    let flat: Vec<u8> = round.assignments().flat_map(|(_, bytes)| bytes.to_vec()).collect();
    assert_eq!(flat, round.bytes(), "the slices follow each other without a gap");
    round.assignments().map(|(id, bytes)| (id.to_owned(), bytes.to_vec())).collect()
}

#[test]
fn the_bytes_are_those_of_decoding_planning_and_encoding() {
    let mut scratch = LeaderScratch::new();
    let (mut rejoins, mut unreadable) = (0, 0);
    for seed in 0..400 {
        let mut random = Random(seed);
        let topology = topology(&mut random);
        let members = members(&mut random);
        for protocol in PROTOCOLS {
            for mode in [Mode::Shipped, Mode::Draft] {
                let objective =
                    if seed % 2 == 0 { Objective::RackThenMoves } else { Objective::MovesThenRack };
                let leader = Leader::new().mode(mode).config(Config::new().objective(objective));
                let expected = the_slow_way(protocol, &members, &topology, mode, objective);
                let given = led(&leader, protocol, &members, &topology, &mut scratch);
                assert_eq!(given, expected, "seed {seed}, {protocol}, {mode:?}");
                let mut fresh = LeaderScratch::new();
                assert_eq!(led(&leader, protocol, &members, &topology, &mut fresh), expected, "seed {seed}");
                let round = leader.round_into(protocol, &members, "m0", &topology, &mut fresh).unwrap();
                rejoins += u32::from(round.rejoin());
                unreadable += round.unreadable().len();
            }
        }
    }
    assert!(rejoins > 100 && unreadable > 100, "{rejoins} rounds to be followed, {unreadable} unreadable");
}

/// What a member says it owns may be written in ways that no leader writes: only where it is written as the leader's
/// own may the bytes be used again.
#[test]
fn claims_in_any_form_give_the_bytes_of_a_leader() {
    let topology = Topology::builder().topic("a", 3).topic("b", 2).topic("zz", 0).build().unwrap();
    let forms: [&[(&str, &[i32])]; 9] = [
        &[("a", &[0, 1, 2]), ("b", &[0, 1])],
        &[("b", &[0, 1]), ("a", &[0, 1, 2])],
        &[("a", &[0, 2, 1]), ("b", &[0, 1])],
        &[("a", &[0, 1, 1, 2]), ("b", &[0, 1])],
        &[("a", &[0, 1]), ("a", &[2]), ("b", &[0, 1])],
        &[("a", &[0, 1, 2]), ("b", &[0]), ("b", &[1])],
        &[("a", &[0, 1, 2]), ("b", &[0, 1]), ("b", &[])],
        &[("a", &[0, 1, 2]), ("b", &[0, 1]), ("zz", &[])],
        &[("a", &[]), ("b", &[0, 1]), ("a", &[0, 1, 2])],
    ];
    let mut scratch = LeaderScratch::new();
    let mut seen = Vec::new();
    for form in forms {
        let blocks: Vec<_> =
            form.iter().map(|&(topic, partitions)| TopicPartitions { topic, partitions }).collect();
        let blocks = StickyFields { previous: &blocks, generation: None }.encode().unwrap();
        // A subscription of version 1 ends with its blocks, here first none of them.
        let mut metadata = subscription(1, &["a", "b", "zz"], &[], 4);
        metadata.truncate(metadata.len() - 4);
        metadata.extend_from_slice(&blocks);
        let sticky =
            SubscriptionFields { topics: &["a", "b"], user_data: Some(&blocks), ..Default::default() };
        for (protocol, metadata) in [("cooperative-sticky", metadata), ("sticky", sticky.encode(0).unwrap())]
        {
            let members = [member("only", metadata)];
            let objective = Objective::RackThenMoves;
            for mode in [Mode::Shipped, Mode::Draft] {
                let expected = the_slow_way(protocol, &members, &topology, mode, objective);
                let leader = Leader::new().mode(mode);
                assert_eq!(
                    led(&leader, protocol, &members, &topology, &mut scratch),
                    expected,
                    "{form:?}, {protocol}, {mode:?}"
                );
                seen.push(Assignment::decode(&expected[0].1).unwrap().assigned.as_bytes().to_vec());
            }
        }
    }
    assert!(seen.iter().all(|bytes| *bytes == seen[0]), "whatever the form, the same five partitions");
}

/// Claims on what does not exist, of many members and generations: in the draft each number goes back to its only
/// holder, and the leader finds them all at once as each member's are found alone.
#[test]
fn foreign_claims_go_back_to_their_only_holders() {
    let topology = Topology::builder().topic("t", 4).build().unwrap();
    let mut scratch = LeaderScratch::new();
    let leader = Leader::new().mode(Mode::Draft);
    let mut given_back = 0;
    for seed in 0..300 {
        let mut random = Random(seed);
        let members: Vec<JoinMember> = (0..2 + random.below(5))
            .map(|number| {
                let owned: Vec<(&str, Vec<i32>)> = (0..random.below(6))
                    .map(|_| {
                        let (from, to) = (random.below(25) as i32 - 5, random.below(6) as i32);
                        let topic = ["gone", "gone-too", "t", "\u{1f600}", "\u{ff5e}"][random.below(5)];
                        (topic, (from..=from + to).collect())
                    })
                    .collect();
                let owned: Vec<(&str, &[i32])> =
                    owned.iter().map(|(topic, partitions)| (*topic, partitions.as_slice())).collect();
                member(
                    &format!("m{number}"),
                    subscription(3, &["t", "gone"], &owned, random.below(4) as i32 - 1),
                )
            })
            .collect();
        for protocol in ["cooperative-sticky", "sticky"] {
            let expected = the_slow_way(protocol, &members, &topology, Mode::Draft, Objective::RackThenMoves);
            assert_eq!(
                led(&leader, protocol, &members, &topology, &mut scratch),
                expected,
                "seed {seed}, {protocol}"
            );
            given_back += expected.iter().map(|one| one.1.len()).sum::<usize>();
        }
    }
    assert!(given_back > 60_000, "{given_back} bytes");
    // Every other number each, at both ends of what a number can be; found in a moment, or this never ends.
    let numbers = |from: i32| -> Vec<i32> {
        (0..30_000).map(|at| i32::MIN + from + 3 * at).chain([i32::MAX]).collect()
    };
    let of = |from, generation| subscription(3, &["t"], &[("gone", &numbers(from))], generation);
    let members =
        [member("a", of(0, 5)), member("b", of(1, 5)), member("c", of(1, 4)), member("d", of(2, -1))];
    let synced = leader.round("cooperative-sticky", &members, "a", &topology).unwrap();
    let counts: Vec<usize> = synced
        .iter()
        .map(|one| Assignment::decode(&one.assignment).unwrap().assigned.partition_count())
        .collect();
    assert_eq!(counts, [30_001, 30_001, 1, 30_001], "each has one of t; the last number is claimed by all");
}

#[test]
fn the_order_of_the_members_only_orders_the_answer() {
    for seed in 0..100 {
        let mut random = Random(seed);
        let topology = topology(&mut random);
        let mut members = members(&mut random);
        let mut scratch = LeaderScratch::new();
        for protocol in PROTOCOLS {
            let mut expected = led(&Leader::new(), protocol, &members, &topology, &mut scratch);
            shuffle(&mut members, &mut random);
            let mut given = led(&Leader::new(), protocol, &members, &topology, &mut scratch);
            let ids: Vec<&str> = given.iter().map(|one| one.0.as_str()).collect();
            let listed: Vec<&str> = members.iter().map(|one| one.member_id.as_str()).collect();
            assert_eq!(ids, listed, "answers come in the order of the members given");
            expected.sort();
            given.sort();
            assert_eq!(given, expected, "seed {seed}, {protocol}");
        }
    }
}

#[test]
fn nobody_gets_a_version_that_it_did_not_send_unless_the_leader_writes_as_java() {
    let topology = Topology::builder().topic("t", 8).build().unwrap();
    let members: Vec<JoinMember> =
        (0..4).map(|v| member(&format!("m{v}"), subscription(v, &["t"], &[], -1))).collect();
    let versions = |leader: Leader| -> Vec<i16> {
        let synced = leader.round("range", &members, "m0", &topology).unwrap();
        synced.iter().map(|one| i16::from_be_bytes([one.assignment[0], one.assignment[1]])).collect()
    };
    assert_eq!(versions(Leader::new()), [0, 1, 2, 3]);
    assert_eq!(versions(Leader::new().assignment_version(AssignmentVersion::Newest)), [3; 4]);
    assert_eq!(versions(Leader::new().mode(Mode::Draft)), [0, 1, 1, 1]);
}

/// Case 238: the first entry counts and nothing is lost, if the caller wants that; else the response is refused.
#[test]
fn a_member_listed_twice_is_refused_or_its_first_entry_counts() {
    let topology = Topology::builder().topic("t1", 2).build().unwrap();
    let good = subscription(1, &["t1"], &[], -1);
    let other = subscription(1, &["elsewhere"], &[], -1);
    let members = [member("a", good), member("b", other.clone()), member("a", other)];
    let refused = Leader::new().round("cooperative-sticky", &members, "a", &topology).unwrap_err();
    assert_eq!(refused, LeaderError::DuplicateMember { member: "a".into(), first: 0, again: 2 });
    assert!(refused.to_string().contains("listed twice, at 0 and 2; join again"), "{refused}");

    let leader = Leader::new().duplicates(DuplicateMembers::FirstCounts);
    let mut scratch = LeaderScratch::new();
    for _ in 0..2 {
        let round = leader.round_into("cooperative-sticky", &members, "a", &topology, &mut scratch).unwrap();
        let ids: Vec<&str> = round.assignments().map(|(id, _)| id).collect();
        assert_eq!(ids, ["a", "b"]);
        let count =
            |at| Assignment::decode(round.assignment(at).unwrap()).unwrap().assigned.partition_count();
        assert_eq!((count(0), count(1)), (2, 0), "both partitions are assigned");
        assert_eq!(round.assignment(2), round.assignment(0));
        assert_eq!(round.assignment(3), None);
    }
    // The entry that does not count is not even read.
    let members = [members[0].clone(), member("a", vec![])];
    assert!(leader.round("cooperative-sticky", &members, "a", &topology).is_ok());
    // Case 238 as it was filed.
    let members = [members[0].clone(), members[0].clone()];
    let synced = leader.round("cooperative-sticky", &members, "a", &topology).unwrap();
    let all = Assignment::decode(&synced[0].assignment).unwrap();
    assert_eq!((synced.len(), all.assigned.partition_count()), (1, 2));
}

#[test]
fn what_makes_no_round_is_refused_with_a_remedy() {
    let topology = Topology::builder().topic("t", 2).build().unwrap();
    let good = subscription(1, &["t"], &[], -1);
    let lead = |protocol: &str, members: &[JoinMember], leader: &str| {
        let error = Leader::new().round(protocol, members, leader, &topology).unwrap_err();
        (error.name(), error.to_string())
    };
    let (name, text) = lead("sticky", &[], "a");
    assert_eq!(name, "no-members");
    assert!(text.contains("lead only after"), "{text}");

    let (name, text) = lead("sticky", &[member("a", good.clone())], "b");
    assert_eq!(name, "leader-not-among-members");
    assert!(text.contains("\"b\" is not among the 1 members; pass the leader of the same"), "{text}");

    let (name, text) = lead("Range", &[member("a", good.clone())], "a");
    assert_eq!(name, "unknown-protocol");
    assert!(text.contains("\"Range\"; offer only cooperative-sticky"), "{text}");

    let (name, text) = lead("range", &[member("a", good.clone()), member("b", vec![])], "a");
    assert_eq!(name, "empty-subscription");
    assert!(text.contains("\"b\" at 1"), "{text}");

    for cut in 1..good.len() {
        let (name, text) =
            lead("range", &[member("b", good[..cut].to_vec()), member("a", good.clone())], "a");
        assert_eq!(name, "subscription", "cut at {cut}");
        assert!(text.contains("\"b\" at 0 can't be read: ") && text.contains("upgrade or remove"), "{text}");
    }
    // A subscription that merely resembles the one before it is not taken for it.
    let mut damaged = good.clone();
    damaged[9] = 0x7f;
    let members = [member("a", good.clone()), member("b", damaged)];
    assert_eq!(lead("range", &members, "a").0, "subscription");

    // The scratch of a refused round serves the next.
    let mut scratch = LeaderScratch::new();
    let bad = [member("a", good.clone()), member("b", vec![0])];
    assert!(Leader::new().round_into("range", &bad, "a", &topology, &mut scratch).is_err());
    let ok = [member("a", good)];
    assert!(Leader::new().round_into("range", &ok, "a", &topology, &mut scratch).is_ok());
}

#[test]
fn a_claim_flood_is_an_error_that_names_the_member() {
    let topology = Topology::builder().topic("t", 2).build().unwrap();
    let numbers = vec![1; 1 << 22];
    let flood = subscription(1, &["t"], &[("t", &numbers), ("t", &[0])], -1);
    let error = Leader::new()
        .round("cooperative-sticky", &[MemberMetadata::new("a", &flood)], "a", &topology)
        .unwrap_err();
    assert_eq!(error.name(), "group");
    assert!(error.to_string().contains("\"a\"") || error.to_string().contains(" a "), "{error}");
}

#[test]
fn members_with_damaged_user_data_have_no_history_and_are_counted() {
    let topology = Topology::builder().topic("t", 4).build().unwrap();
    let owned: [(&str, &[i32]); 1] = [("t", &[0, 1, 2, 3])];
    let whole = subscription(0, &["t"], &owned, 5);
    let user_data = Subscription::decode(&whole).unwrap().user_data.unwrap().to_vec();
    let with = |user_data: &[u8]| {
        let fields = SubscriptionFields { topics: &["t"], user_data: Some(user_data), ..Default::default() };
        vec![member("a", fields.encode(0).unwrap()), member("b", subscription(0, &["t"], &[], -1))]
    };
    let mut scratch = LeaderScratch::new();
    let mut round = |user_data: &[u8]| {
        let members = with(user_data);
        let round = Leader::new().round_into("sticky", &members, "b", &topology, &mut scratch).unwrap();
        let unreadable: Vec<String> = round.unreadable().map(|(id, _)| id.to_owned()).collect();
        let a = round.group().find("a").unwrap();
        (unreadable, round.group().claims(a).len(), round.group().generation(a).map(|g| g.get()))
    };
    assert_eq!(round(&user_data), (vec![], 4, Some(5)));
    assert_eq!(round(&user_data[..user_data.len() - 1]), (vec![], 4, None), "the generation alone is lost");
    for cut in 1..user_data.len() - 4 {
        assert_eq!(round(&user_data[..cut]), (vec!["a".to_owned()], 0, None), "cut at {cut}");
    }
    assert_eq!(round(&[]), (vec![], 0, None), "no bytes say nothing, readably");
}

#[test]
fn names_that_are_not_utf8_read_as_in_java() {
    let topology = Topology::builder().topic("x\u{fffd}y", 2).build().unwrap();
    let mut metadata = vec![0, 1, 0, 0, 0, 1, 0, 5];
    metadata.extend_from_slice(b"x\xed\xa0\x80y");
    metadata.extend_from_slice(&[0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0]);
    let synced =
        Leader::new().round("range", &[MemberMetadata::new("a", &metadata)], "a", &topology).unwrap();
    assert_eq!(Assignment::decode(&synced[0].assignment).unwrap().assigned.partition_count(), 2);
}

#[test]
fn a_client_may_bring_its_own_type_of_member() {
    struct Mine(String, Vec<u8>);
    impl JoinEntry for Mine {
        fn id(&self) -> &str {
            &self.0
        }
        fn instance_id(&self) -> Option<&str> {
            None
        }
        fn metadata(&self) -> &[u8] {
            &self.1
        }
    }
    let topology = Topology::builder().topic("t", 2).build().unwrap();
    let members = [Mine("a".into(), subscription(2, &["t"], &[], -1))];
    assert_eq!(Leader::new().round("range", &members, "a", &topology).unwrap().len(), 1);
}

/// Large enough to be cut among threads: the bytes are the same in a pool and outside.
#[test]
fn threads_write_the_same_bytes() {
    let mut builder = Topology::builder();
    let names: Vec<String> = (0..50).map(|topic| format!("topic-{topic:03}")).collect();
    for name in &names {
        builder.add_topic(name, 700);
    }
    let topology = builder.build().unwrap();
    let topics: Vec<&str> = names.iter().map(String::as_str).collect();
    let members: Vec<JoinMember> = (0..300)
        .map(|number| member(&format!("member-{}", number * 7 % 300), subscription(3, &topics, &[], -1)))
        .collect();
    let mut scratch = LeaderScratch::new();
    let outside = led(&Leader::new(), "cooperative-sticky", &members, &topology, &mut scratch);
    assert!(outside.iter().map(|one| one.1.len()).sum::<usize>() > 1 << 18);
    // The next round: all claim what they got but a few, who left something out, lost their user data or want less.
    let claiming: Vec<JoinMember> = outside
        .iter()
        .enumerate()
        .map(|(number, (id, bytes))| {
            let assignment = Assignment::decode(bytes).unwrap();
            let owned: Vec<(String, Vec<i32>)> = assignment
                .assigned
                .iter()
                .map(|block| (block.topic.to_str_lossy().into_owned(), block.partitions.iter().collect()))
                .collect();
            let mut owned: Vec<(&str, &[i32])> =
                owned.iter().map(|(topic, partitions)| (topic.as_str(), partitions.as_slice())).collect();
            match number % 40 {
                7 => owned.truncate(30),
                13 => owned.push(("gone", &[3])),
                _ => {}
            }
            let topics = if number % 50 == 49 { &topics[..49] } else { &topics[..] };
            let version = if number % 40 == 21 { 1 } else { 3 };
            member(id, subscription(version, topics, &owned, 7))
        })
        .collect();
    for protocol in PROTOCOLS {
        let outside = led(&Leader::new(), protocol, &claiming, &topology, &mut scratch);
        if protocol.contains("sticky") {
            let slowly =
                the_slow_way(protocol, &claiming, &topology, Mode::Shipped, Objective::RackThenMoves);
            assert_eq!(outside, slowly, "{protocol}");
        }
        #[cfg(feature = "rayon")]
        for threads in [2, 3, 7] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            for members in [&members, &claiming, &claiming] {
                let alone = led(&Leader::new(), protocol, members, &topology, &mut scratch);
                let inside = pool.install(|| led(&Leader::new(), protocol, members, &topology, &mut scratch));
                assert!(inside == alone, "{protocol}, {threads} threads");
            }
        }
    }
    // What can't be read is told of the same member, whoever reads it.
    #[cfg(feature = "rayon")]
    {
        let mut damaged = claiming;
        for at in [40, 170, 290] {
            damaged[at].metadata.truncate(50);
        }
        let lead = || Leader::new().round("cooperative-sticky", &damaged, "member-0", &topology).unwrap_err();
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        assert_eq!(pool.install(lead), lead());
    }
}

/// What the fuzz target checks, on members made here and on every single-byte damage of some of them.
#[test]
fn what_holds_of_any_bytes_holds_of_damaged_members() {
    let mut checked = 0;
    for seed in 0..15 {
        let mut random = Random(seed);
        let mut data = vec![random.below(256) as u8];
        for _ in 0..1 + random.below(4) {
            let owned: Vec<i32> = (0..random.below(5)).map(|_| random.below(6) as i32 - 1).collect();
            let topics = [&["t1", "t2"][..], &["orders", "t1"], &["t2", "gone", "t2"]][random.below(3)];
            let topic = ["t1", "t2", "orders", "gone"][random.below(4)];
            let generation = random.below(3) as i32 - 1;
            let bytes = subscription(random.below(4) as i16, topics, &[(topic, &owned)], generation);
            data.push(random.below(256) as u8);
            data.extend_from_slice(&(bytes.len() as u16).to_be_bytes());
            data.extend_from_slice(&bytes);
        }
        leader_properties::check(&data);
        for at in 0..data.len() {
            for change in [1, 0xff] {
                let mut damaged = data.clone();
                damaged[at] ^= change;
                leader_properties::check(&damaged);
                checked += 1;
            }
        }
    }
    assert!(checked > 2_000, "{checked}");
}

/// Inputs that fuzzing found or began with, if there are any beside the target.
#[test]
fn replay_of_the_fuzz_target() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz");
    let mut replayed = 0;
    for folder in ["corpus/leader", "regressions/leader"] {
        let Ok(files) = std::fs::read_dir(root.join(folder)) else { continue };
        for file in files {
            leader_properties::check(&std::fs::read(file.unwrap().path()).unwrap());
            replayed += 1;
        }
    }
    assert!(replayed > 0, "the corpus of the fuzz target is missing");
}

/// A group falls back from a cooperative assignor: its members give up what they own once they hear of it, which is
/// after the leader has computed.
#[test]
fn an_eager_round_withholds_what_is_still_claimed() {
    let topology = Topology::builder().topic("t", 4).build().unwrap();
    for protocol in ["range", "roundrobin", "sticky"] {
        let owner = SubscriptionFields {
            topics: &["t"],
            owned: &[TopicPartitions { topic: "t", partitions: &[0, 1, 2, 3] }],
            generation: Some(4),
            ..Default::default()
        };
        let newcomer = SubscriptionFields { topics: &["t"], ..Default::default() };
        let members = [member("a", owner.encode(3).unwrap()), member("b", newcomer.encode(0).unwrap())];
        let round = Leader::new().round(protocol, &members, "a", &topology).unwrap();
        let given = |at: usize| MemberAssignment::decode(Mode::Shipped, &round[at].assignment).unwrap();
        assert_eq!((given(0).partitions.len(), given(1).partitions.len()), (2, 0), "{protocol}");
        assert!(given(0).need_rejoin, "{protocol}: the claimant is asked to come again");
        // Without claims it is dealt at once, and nobody is asked for anything.
        let members = ["a", "b"].map(|id| member(id, newcomer.encode(3).unwrap()));
        let round = Leader::new().round(protocol, &members, "a", &topology).unwrap();
        for one in &round {
            let given = MemberAssignment::decode(Mode::Shipped, &one.assignment).unwrap();
            assert_eq!((given.partitions.len(), given.need_rejoin), (2, false), "{protocol}");
        }
    }
}

/// A claim that can't say its generation may be the newest: an old claim of a member that is away must not win over it.
#[test]
fn a_claim_without_room_for_a_generation_binds_the_round() {
    let topology = Topology::builder().topic("t", 1).build().unwrap();
    let claims = |generation| SubscriptionFields {
        topics: &["t"],
        owned: &[TopicPartitions { topic: "t", partitions: &[0] }],
        generation,
        ..Default::default()
    };
    let given = |owner: Vec<u8>| {
        let mut absent = member("absent", claims(Some(3)).encode(3).unwrap());
        absent.group_instance_id = Some("i".into());
        let members = [absent, member("owner", owner)];
        let round = Leader::new().round("cooperative-sticky", &members, "owner", &topology).unwrap();
        [0, 1].map(|at| {
            MemberAssignment::decode(Mode::Shipped, &round[at].assignment).unwrap().partitions.len()
        })
    };
    // Version 1 has no room for the generation: both may own it, so nobody gets it before both let go.
    assert_eq!(given(claims(None).encode(1).unwrap()), [0, 0]);
    // Told in the user data, as Java does: it is the owner.
    let told = SubscriptionFields { user_data: Some(&[0, 0, 0, 7]), ..claims(None) };
    assert_eq!(given(told.encode(1).unwrap()), [0, 1]);
    // Version 3 says that it has none: the older claim is better.
    assert_eq!(given(claims(None).encode(3).unwrap()), [1, 0]);
}
