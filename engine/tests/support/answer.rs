//! What a round gives to whom, by names.

use std::collections::{BTreeMap, BTreeSet};

use tenure::Group;
use tenure::id::{MemberIndex, PartitionIndex};
use tenure::revoke::Round;

/// A partition by name.
pub type Partition = (String, i32);

/// Partitions of each member. Lists, because an answer under judgement may name a partition twice.
pub type Owned = BTreeMap<String, Vec<Partition>>;

/// One answer of the planner.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// What members get now.
    pub given: Owned,
    /// What they shall have.
    pub target: Owned,
    pub kept: Owned,
    pub added: Owned,
    pub revoked: Owned,
    pub withheld: BTreeSet<Partition>,
    pub rejoin: bool,
}

impl Answer {
    /// Reads a round member by member, as many as the plan has.
    pub fn read(round: &Round<'_>) -> Self {
        let group = round.group();
        let name = |p| name(group, p);
        let mut answer = Self { rejoin: round.rejoin(), ..Self::default() };
        answer.withheld = round.withheld().map(name).collect();
        for member in (0..round.plan().members() as u32).map(MemberIndex::new) {
            let put = |owned: &mut Owned, list: &mut dyn Iterator<Item = PartitionIndex>| {
                owned.insert(group.id(member).to_owned(), list.map(name).collect());
            };
            put(&mut answer.given, &mut round.assignment(member));
            put(&mut answer.target, &mut round.plan().target(member).iter().copied());
            put(&mut answer.kept, &mut round.kept(member));
            put(&mut answer.added, &mut round.added(member));
            put(&mut answer.revoked, &mut round.revoked(member));
        }
        answer
    }
}

fn name(group: &Group, partition: PartitionIndex) -> Partition {
    let topology = group.topology();
    let number = i32::try_from(topology.number(partition)).unwrap();
    (topology.name(topology.topic_of(partition)).to_owned(), number)
}
