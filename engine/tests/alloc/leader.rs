//! A leader's warm round: decoding, planning and writing, without one allocation.

use tenure::Topology;
use tenure::codec::{StickyFields, SubscriptionFields, TopicPartitions};
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
