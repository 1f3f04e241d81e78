//! Many groups at once: each plan is the one that the group gets alone, whoever its neighbours and the threads are.

use std::path::PathBuf;

use serde_json::Value;
use tenure::Group;
use tenure::plan::{Assignor, Batch, Config, Objective, Outcome, Planned, Strategy};
use tenure::revoke::{Mode, Round};

use crate::support::snapshot::Snapshot;

/// The groups of all cases, each with its members in a few orders; small and large ones side by side.
fn groups() -> Vec<Group> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../datasets/cases/assignment");
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    files.sort();
    let mut groups = Vec::new();
    for seed in 0..3 {
        for path in &files {
            let value: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
            groups.push(Snapshot::read(&value["snapshot"]).unwrap().group(seed));
        }
    }
    assert!(groups.len() > 120, "cases are missing: {}", groups.len());
    groups
}

/// Everything that can be read of a plan.
type Whole = (Outcome, Vec<Vec<u32>>, Vec<u32>);

fn whole(group: &Group, planned: &Planned) -> Whole {
    let plan = planned.plan();
    let target = |member| plan.target(member).iter().map(|p| p.get()).collect();
    let withheld = Round::new(group, plan, Mode::Shipped).withheld().map(|p| p.get()).collect();
    (*planned.outcome(), group.member_indices().map(target).collect(), withheld)
}

fn alone(assignor: &Assignor, group: &Group) -> Whole {
    let (plan, outcome) = assignor.assign(group).unwrap();
    let target = |member| plan.target(member).iter().map(|p| p.get()).collect();
    let withheld = Round::new(group, &plan, Mode::Shipped).withheld().map(|p| p.get()).collect();
    (outcome, group.member_indices().map(target).collect(), withheld)
}

fn agree(assignor: &Assignor, groups: &[&Group], expected: &[Whole], batch: &mut Batch, what: &str) {
    let planned = assignor.plan_many(groups, batch);
    assert_eq!(planned.len(), groups.len(), "{what}");
    for (at, (group, planned)) in groups.iter().zip(planned).enumerate() {
        assert!(
            whole(group, planned) == expected[at],
            "{what}, {assignor:?}: group {at} is planned otherwise"
        );
    }
}

#[test]
fn each_group_is_planned_as_if_it_were_alone() {
    let groups = groups();
    let mut batch = Batch::new();
    for strategy in Strategy::ALL {
        for objective in [Objective::RackThenMoves, Objective::MovesThenRack] {
            let assignor = Assignor::new(Config::new().strategy(strategy).objective(objective));
            let mut order: Vec<&Group> = groups.iter().collect();
            let mut expected: Vec<Whole> = groups.iter().map(|group| alone(&assignor, group)).collect();
            agree(&assignor, &order, &expected, &mut batch, "in order");
            // Another order: every plan's memory meets another group.
            order.reverse();
            expected.reverse();
            agree(&assignor, &order, &expected, &mut batch, "reversed");
            agree(&assignor, &order[..3], &expected[..3], &mut batch, "three");
            agree(&assignor, &[], &[], &mut batch, "none");
            #[cfg(feature = "rayon")]
            for threads in [1, 2, 3, 7] {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                let what = format!("{threads} threads");
                pool.install(|| agree(&assignor, &order, &expected, &mut batch, &what));
                pool.install(|| agree(&assignor, &order, &expected, &mut Batch::new(), &what));
                // More threads than groups, and one group that outweighs all others, at either end.
                for few in [&order[..2], &order[order.len() - 5..]] {
                    let from = if few.len() == 2 { 0 } else { order.len() - 5 };
                    let expected = &expected[from..from + few.len()];
                    pool.install(|| agree(&assignor, few, expected, &mut batch, &what));
                }
            }
        }
    }
}
