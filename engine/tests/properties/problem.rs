//! What a planner has to solve, reduced to numbers; and its best solutions by trying them all.

use std::collections::BTreeMap;

use tenure::plan::Objective;

use crate::support::answer::{Owned, Partition};
use crate::support::judge;
use crate::support::snapshot::Snapshot;

/// One partition that somebody subscribes to.
#[derive(Clone, Debug)]
pub(crate) struct Item {
    /// Members that subscribe.
    pub(crate) subscribers: Vec<usize>,
    /// The valid owner.
    pub(crate) owner: Option<usize>,
    /// Whether each member's rack is at odds with it.
    pub(crate) mismatch: Vec<bool>,
}

#[derive(Clone, Debug)]
pub(crate) struct Problem {
    pub(crate) members: usize,
    pub(crate) items: Vec<Item>,
}

/// How good a plan is: loads in descending order, then rack mismatches and moves in the objective's order.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Worth {
    pub(crate) loads: Vec<u32>,
    pub(crate) costs: (u32, u32),
}

pub(crate) fn costs(objective: Objective, mismatches: u32, moves: u32) -> (u32, u32) {
    match objective {
        Objective::RackThenMoves => (mismatches, moves),
        Objective::MovesThenRack => (moves, mismatches),
        other => panic!("no rule for {other:?}"),
    }
}

impl Problem {
    /// The problem of a snapshot, and the names of its items.
    pub(crate) fn of(snapshot: &Snapshot) -> (Self, Vec<Partition>) {
        let ids: Vec<&String> = snapshot.members.keys().collect();
        let owners = judge::valid_owners(snapshot);
        let names: Vec<Partition> = snapshot.assignable().collect();
        let item = |partition: &Partition| Item {
            subscribers: (0..ids.len())
                .filter(|&m| snapshot.members[ids[m]].subscribes(&partition.0))
                .collect(),
            owner: owners.get(partition).map(|id| ids.iter().position(|other| *other == id).unwrap()),
            mismatch: ids.iter().map(|id| snapshot.mismatch(id, &partition.0, partition.1)).collect(),
        };
        (Self { members: ids.len(), items: names.iter().map(item).collect() }, names)
    }

    /// The worth of giving item i to member `chosen[i]`.
    pub(crate) fn worth(&self, chosen: &[usize], objective: Objective) -> Worth {
        let mut loads = vec![0; self.members];
        let (mut mismatches, mut moves) = (0, 0);
        for (item, &m) in self.items.iter().zip(chosen) {
            loads[m] += 1;
            mismatches += u32::from(item.mismatch[m]);
            moves += u32::from(item.owner.is_some_and(|owner| owner != m));
        }
        loads.sort_unstable_by(|a, b| b.cmp(a));
        Worth { loads, costs: costs(objective, mismatches, moves) }
    }

    /// The worth of a plan by names.
    pub(crate) fn worth_of(
        &self,
        names: &[Partition],
        snapshot: &Snapshot,
        owned: &Owned,
        objective: Objective,
    ) -> Worth {
        let number: BTreeMap<&String, usize> =
            snapshot.members.keys().enumerate().map(|(at, id)| (id, at)).collect();
        let owners = judge::owners(owned).unwrap();
        let chosen: Vec<usize> = names.iter().map(|partition| number[owners[partition]]).collect();
        self.worth(&chosen, objective)
    }

    /// The best worth of all plans there are.
    pub(crate) fn best(&self, objective: Objective) -> Worth {
        let mut at = vec![0; self.items.len()];
        let mut chosen: Vec<usize> = self.items.iter().map(|item| item.subscribers[0]).collect();
        let mut best = self.worth(&chosen, objective);
        loop {
            let Some(turn) = (0..at.len()).find(|&i| at[i] + 1 < self.items[i].subscribers.len()) else {
                return best;
            };
            for i in 0..turn {
                at[i] = 0;
                chosen[i] = self.items[i].subscribers[0];
            }
            at[turn] += 1;
            chosen[turn] = self.items[turn].subscribers[at[turn]];
            let worth = self.worth(&chosen, objective);
            if worth < best {
                best = worth;
            }
        }
    }

    /// How many plans there are.
    pub(crate) fn plans(&self) -> u64 {
        self.items.iter().map(|item| item.subscribers.len() as u64).product()
    }
}

#[test]
fn brute_force_finds_what_is_plain_to_see() {
    let item = |owner| Item { subscribers: vec![0, 1], owner, mismatch: vec![false, true] };
    let problem = Problem { members: 2, items: vec![item(Some(0)), item(Some(0)), item(Some(1))] };
    let best = problem.best(Objective::RackThenMoves);
    assert_eq!(best, Worth { loads: vec![2, 1], costs: (1, 0) });
    let problem = Problem { members: 2, items: vec![item(Some(1)), item(Some(1)), item(Some(1))] };
    assert_eq!(problem.best(Objective::RackThenMoves).costs, (1, 2));
    assert_eq!(problem.best(Objective::MovesThenRack).costs, (1, 2));
}
