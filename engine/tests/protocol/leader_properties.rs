//! What holds of a leader's round, whatever the members' bytes. Shared with the fuzz target `leader`.

use std::collections::{BTreeMap, BTreeSet};

use tenure::Topology;
use tenure::codec::{Assignment, Subscription};
use tenure::plan::{Config, Objective};
use tenure::protocol::leader::{DuplicateMembers, Leader, LeaderRound, LeaderScratch, MemberMetadata};
use tenure::revoke::Mode;

const IDS: [&str; 6] = ["a", "b", "consumer-1", "\u{1f600}", "\u{ff5e}", ""];

const PROTOCOLS: [&str; 6] =
    ["cooperative-sticky", "sticky", "range", "roundrobin", "tenure-cooperative-sticky", "unknown"];

/// Reads members from any bytes: a byte of options, then for each member a byte for its id, a length and as many bytes
/// of metadata.
///
/// # Panics
///
/// If something does not hold that must.
pub fn check(data: &[u8]) {
    let Some((&options, mut rest)) = data.split_first() else { return };
    let mut members: Vec<MemberMetadata<'_>> = Vec::new();
    while let [id, high, low, behind @ ..] = rest {
        let len = usize::from(u16::from_be_bytes([*high, *low])).min(behind.len());
        let (metadata, behind) = behind.split_at(len);
        let instance_id = (id & 0x80 != 0).then_some(IDS[usize::from(id >> 3) % IDS.len()]);
        members.push(MemberMetadata { id: IDS[usize::from(*id) % IDS.len()], instance_id, metadata });
        rest = behind;
    }
    let protocol = PROTOCOLS[usize::from(options) % PROTOCOLS.len()];
    let mode = if options & 0x40 == 0 { Mode::Shipped } else { Mode::Draft };
    let leader = Leader::new()
        .mode(mode)
        .config(Config::new().objective(if options & 0x20 == 0 {
            Objective::RackThenMoves
        } else {
            Objective::MovesThenRack
        }))
        .duplicates(if options & 0x80 == 0 {
            DuplicateMembers::Refuse
        } else {
            DuplicateMembers::FirstCounts
        });
    let topology = topology();
    let leader_id = members.first().map_or("a", |member| member.id);
    let mut scratch = LeaderScratch::new();
    match leader.round_into(protocol, &members, leader_id, &topology, &mut scratch) {
        Err(error) => assert!(!error.to_string().is_empty()),
        Ok(round) => {
            holds(&round, &members, &topology, mode);
            let first: Vec<u8> = round.bytes().to_vec();
            let by_id = answers(&round);
            let again = leader.round_into(protocol, &members, leader_id, &topology, &mut scratch);
            assert_eq!(again.expect("it was led before").bytes(), first, "a used scratch changes the bytes");
            let distinct = by_id.len() == members.len();
            members.reverse();
            let turned = leader.round_into(protocol, &members, leader_id, &topology, &mut scratch);
            if distinct {
                let turned = answers(&turned.expect("it was led in another order"));
                assert_eq!(turned, by_id, "the order of the members changes the plan");
            }
        }
    }
}

fn topology() -> Topology {
    let builder = Topology::builder().topic("t1", 3).topic("t2", 2).topic("orders", 5).topic("empty", 0);
    builder.topic("\u{fffd}", 1).build().expect("names differ")
}

fn answers(round: &LeaderRound<'_>) -> BTreeMap<String, Vec<u8>> {
    round.assignments().map(|(id, bytes)| (id.to_owned(), bytes.to_vec())).collect()
}

/// Each member once; each partition once, to a member that subscribes; all of them unless they are in transfer.
fn holds(round: &LeaderRound<'_>, members: &[MemberMetadata<'_>], topology: &Topology, mode: Mode) {
    let mut seen = BTreeSet::new();
    let listed: Vec<&MemberMetadata<'_>> = members.iter().filter(|member| seen.insert(member.id)).collect();
    assert!(round.assignments().map(|(id, _)| id).eq(listed.iter().map(|member| member.id)));
    let mut wanted = BTreeSet::new();
    let mut given = BTreeSet::new();
    for (member, (_, bytes)) in listed.iter().zip(round.assignments()) {
        let subscription = Subscription::decode(member.metadata).expect("the leader read it");
        let topics: BTreeSet<String> =
            subscription.topics.iter().map(|topic| topic.to_str_lossy().into_owned()).collect();
        for topic in topics.iter().filter_map(|topic| topology.find(topic)) {
            wanted.extend((0..topology.partition_count(topic)).map(|number| (topic, number)));
        }
        let assignment = Assignment::decode_nonempty(bytes).expect("the leader wrote it");
        assert!(assignment.version <= Some(subscription.version), "a newer version than the member sent");
        for block in assignment.assigned {
            let name = block.topic.to_str_lossy();
            for number in block.partitions {
                let exists =
                    topology.find(&name).filter(|&topic| topology.partition(topic, number).is_some());
                match exists {
                    Some(topic) if topics.contains(&*name) => {
                        assert!(given.insert((topic, number as u32)), "{name}-{number} twice");
                    }
                    _ => assert_eq!(mode, Mode::Draft, "{name}-{number} is given to one that can't have it"),
                }
            }
        }
    }
    assert!(given.is_subset(&wanted));
    assert_eq!(wanted.len() - given.len(), round.plan().transfer_count(), "lost without being in transfer");
}
