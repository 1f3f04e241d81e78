//! The verifier on every case: it passes the planner's plans, measures them, and refuses what was spoilt.

use tenure::Group;
use tenure::id::{MemberIndex, PartitionIndex};
use tenure::plan::{Assignor, Config, Objective, Plan, Scratch, Strategy};
use tenure::verify::{self, Certificate, Fault, Figures, NO_BLOCK, Proposal, Refusal};

use crate::cases;

const OBJECTIVES: [Objective; 2] = [Objective::RackThenMoves, Objective::MovesThenRack];

fn propose(group: &Group, plan: &Plan) -> Proposal {
    Proposal::from_lists(group, |member| plan.target(member).iter().copied())
}

fn sticky(group: &Group, objective: Objective) -> Plan {
    let config = Config::new().strategy(Strategy::Sticky).objective(objective);
    Assignor::new(config).assign(group).unwrap().0
}

/// Every case's group with each objective.
fn each(mut judge: impl FnMut(&str, &Group, Objective)) {
    for case in cases::load() {
        let group = case.snapshot.group(0);
        for objective in OBJECTIVES {
            judge(&case.id, &group, objective);
        }
    }
}

#[test]
fn plans_of_all_cases_pass_and_measure_as_optimal() {
    each(|id, group, objective| {
        let (plan, outcome) = Assignor::new(Config::new().objective(objective)).assign(group).unwrap();
        let proposal = propose(group, &plan);
        let distance = verify::measure(group, &proposal, objective).unwrap();
        assert!(distance.optimal(), "{id} {objective:?}: {distance:?}");
        // The planner's certificate and the verifier's own.
        let shape = group.shape();
        let (mut scratch, mut again) = (Scratch::with_shape(shape), Plan::with_shape(shape));
        let mut certificate = Certificate::with_shape(shape);
        let assignor = Assignor::new(Config::new().objective(objective));
        assignor.certify_into(group, &mut scratch, &mut again, &mut certificate).unwrap();
        verify::check(group, &proposal, &certificate).unwrap_or_else(|refusal| panic!("{id}: {refusal}"));
        let figures = verify::check(group, &proposal, &distance.best.certificate);
        let figures = figures.unwrap_or_else(|refusal| panic!("{id} {objective:?}: {refusal}"));
        assert_eq!(figures.moves, outcome.stats.moves, "{id}");
        assert_eq!(figures.rack_mismatches, outcome.stats.rack_mismatches, "{id}");
        assert_eq!(figures.sum_of_squares, outcome.stats.sum_of_squares, "{id}");
    });
}

/// The figures that decide whether one plan is as good as another.
fn worth(group: &Group, proposal: &Proposal, objective: Objective) -> Option<(Vec<u32>, u32, u32)> {
    let distance = verify::measure(group, proposal, objective).ok()?;
    Some((distance.loads, distance.moves, distance.rack_mismatches))
}

/// Every plan that differs from the best one in a single partition or in two exchanged ones passes if and only
/// if it is as good.
#[test]
fn a_changed_plan_passes_if_and_only_if_it_is_as_good() {
    let (mut passed, mut refused) = (0, 0);
    each(|id, group, objective| {
        let topology = group.topology();
        if topology.partitions() > 40 {
            return;
        }
        let plan = sticky(group, objective);
        let best = propose(group, &plan);
        let certificate = verify::optimum(group, objective).certificate;
        let worth_of_best = worth(group, &best, objective);
        let partitions = || (0..topology.partitions() as u32).map(PartitionIndex::new);
        let mut judge = |owner: &dyn Fn(PartitionIndex) -> Option<MemberIndex>| {
            let mut changed = Proposal::new(group);
            for p in partitions() {
                if let Some(member) = owner(p) {
                    changed.give(group, member, p);
                }
            }
            let as_good = worth(group, &changed, objective) == worth_of_best;
            let verdict = verify::check(group, &changed, &certificate);
            assert_eq!(verdict.is_ok(), as_good, "{id} {objective:?}: {verdict:?}");
            *if as_good { &mut passed } else { &mut refused } += 1;
        };
        for p in partitions() {
            for member in group.member_indices().map(Some).chain([None]) {
                judge(&|q| if q == p { member } else { best.owner(q) });
            }
            for other in partitions().filter(|&other| other > p) {
                judge(&|q| {
                    best.owner(if q == p {
                        other
                    } else if q == other {
                        p
                    } else {
                        q
                    })
                });
            }
        }
    });
    assert!(passed > 500 && refused > 500, "both must happen often: {passed} passed, {refused} refused");
}

#[test]
fn a_spoilt_certificate_is_refused() {
    let mut refused = 0;
    each(|id, group, objective| {
        if group.members() == 0 {
            return;
        }
        let proposal = propose(group, &sticky(group, objective));
        let right = verify::optimum(group, objective).certificate;
        let refuse = |what: &str, spoilt: &Certificate| {
            let verdict = verify::check(group, &proposal, spoilt);
            assert!(matches!(verdict, Err(Refusal::Shape { .. })), "{id} {what}: {verdict:?}");
        };
        for (what, spoil) in [
            (
                "a member less",
                &(|c: &mut Certificate| c.block.truncate(c.block.len() - 1)) as &dyn Fn(&mut Certificate),
            ),
            ("a potential less", &|c| c.member.truncate(c.member.len() - 1)),
            ("a class more", &|c| c.class.push(0)),
            ("a terminal more", &|c| c.terminal.push(0)),
            ("a block that is not there", &|c| c.block[0] = 77_777),
        ] {
            let mut spoilt = right.clone();
            spoil(&mut spoilt);
            refuse(what, &spoilt);
        }
        // No load fits a level two higher, and none but 0 fits no block.
        for block in 0..right.blocks() {
            let mut spoilt = right.clone();
            spoilt.level[block] += 2;
            assert!(verify::check(group, &proposal, &spoilt).is_err(), "{id}: level of block {block}");
        }
        for member in group.member_indices() {
            let load = group.topology().partitions() as u32;
            let owned = (0..load).filter(|&p| proposal.owner(PartitionIndex::new(p)) == Some(member)).count();
            let mut spoilt = right.clone();
            spoilt.block[member.at()] = NO_BLOCK;
            if owned > 0 {
                assert!(matches!(verify::check(group, &proposal, &spoilt), Err(Refusal::Load { .. })));
                refused += 1;
                // A great potential on one member cannot fit both what it has and what it may take.
                let mut spoilt = right.clone();
                spoilt.member[member.at()] = i64::MAX / 4;
                let verdict = verify::check(group, &proposal, &spoilt);
                assert!(matches!(verdict, Err(Refusal::Cost { .. })), "{id}: {verdict:?}");
                spoilt.member[member.at()] = i64::MIN / 4;
                let verdict = verify::check(group, &proposal, &spoilt);
                assert!(matches!(verdict, Err(Refusal::Cost { .. })), "{id}: {verdict:?}");
            }
        }
    });
    assert!(refused > 100, "{refused}");
}

/// A group for the faults: `a` owns all of `t`, `b` all of `u`; both subscribe to both, `c` only to `u`.
fn small() -> Group {
    let topology = tenure::Topology::builder().topic("t", 4).topic("u", 2).topic("v", 1).build().unwrap();
    let mut builder = Group::builder(&topology);
    builder.member("a").topic("t").topic("u").owned("t", 0..4).generation(1);
    builder.member("b").topic("t").topic("u").owned("u", 0..2).generation(1);
    builder.member("c").topic("u");
    builder.build().unwrap()
}

fn proposal_of(group: &Group, lists: &[(&str, &[(&str, i64)])]) -> Proposal {
    let mut proposal = Proposal::new(group);
    for (member, partitions) in lists {
        for &(topic, number) in *partitions {
            proposal.give_named(group, member, topic, number);
        }
    }
    proposal
}

#[test]
fn each_kind_of_fault_has_its_name() {
    let group = small();
    let best = verify::optimum(&group, Objective::default());
    assert_eq!((&best.loads[..], best.moves), (&[2, 2, 2][..], 4));
    let good: [(&str, &[(&str, i64)]); 3] =
        [("a", &[("t", 0), ("t", 1)]), ("b", &[("t", 2), ("t", 3)]), ("c", &[("u", 0), ("u", 1)])];
    let figures: Figures = verify::check(&group, &proposal_of(&group, &good), &best.certificate).unwrap();
    assert_eq!((figures.moves, figures.sum_of_squares, figures.rack_mismatches), (4, 12, 0));

    let invalid = |lists: &[(&str, &[(&str, i64)])]| {
        let proposal = proposal_of(&group, lists);
        let verdict = verify::check(&group, &proposal, &best.certificate);
        assert!(matches!(verdict, Err(Refusal::Invalid(_))), "{verdict:?}");
        proposal.faults(&group).remove(0)
    };
    let [a, b, c] = good;
    assert!(matches!(invalid(&[a, ("b", &[("t", 2)]), c]), Fault::Lost { number: 3, .. }));
    assert!(matches!(
        invalid(&[a, ("b", &[("t", 2), ("t", 3), ("t", 0)]), c]),
        Fault::Twice { number: 0, .. }
    ));
    assert!(matches!(invalid(&[a, b, c, ("d", &[("t", 0)])]), Fault::Stranger { .. }));
    assert!(matches!(invalid(&[a, b, ("c", &[("u", 0), ("u", 1), ("v", 0)])]), Fault::Unsubscribed { .. }));
    assert!(matches!(invalid(&[a, b, c, ("a", &[("t", 4)])]), Fault::Nonexistent { number: 4, .. }));
    assert!(matches!(invalid(&[a, b, c, ("a", &[("t", -1)])]), Fault::Nonexistent { number: -1, .. }));
    assert!(matches!(invalid(&[a, b, c, ("a", &[("w", 0)])]), Fault::Nonexistent { number: 0, .. }));

    let refusal = |lists: &[(&str, &[(&str, i64)])]| {
        verify::check(&group, &proposal_of(&group, lists), &best.certificate).unwrap_err()
    };
    let uneven = refusal(&[("a", &[("t", 0), ("t", 1), ("t", 2)]), ("b", &[("t", 3)]), c]);
    assert!(matches!(uneven, Refusal::Load { load: 3, level: 2, .. }), "{uneven}");
    // Fewer moves, worse balance: measured as such.
    let lazy = proposal_of(
        &group,
        &[("a", &[("t", 0), ("t", 1), ("t", 2), ("t", 3)]), ("b", &[("u", 0)]), ("c", &[("u", 1)])],
    );
    let distance = verify::measure(&group, &lazy, Objective::default()).unwrap();
    assert!(!distance.balanced() && !distance.optimal());
    assert_eq!(
        (distance.moves_too_many(), distance.sum_of_squares, distance.best_sum_of_squares),
        (-3, 18, 12)
    );
}

#[test]
fn partitions_exchanged_within_a_class_are_refused() {
    let topology = tenure::Topology::builder().topic("t", 4).build().unwrap();
    let mut builder = Group::builder(&topology);
    builder.member("a").topic("t").owned("t", [0, 1]).generation(1);
    builder.member("b").topic("t").owned("t", [2, 3]).generation(1);
    let group = builder.build().unwrap();
    let best = verify::optimum(&group, Objective::default());
    let kept = proposal_of(&group, &[("a", &[("t", 0), ("t", 1)]), ("b", &[("t", 2), ("t", 3)])]);
    verify::check(&group, &kept, &best.certificate).unwrap();
    let swapped = proposal_of(&group, &[("a", &[("t", 0), ("t", 2)]), ("b", &[("t", 1), ("t", 3)])]);
    let refusal = verify::check(&group, &swapped, &best.certificate).unwrap_err();
    assert!(matches!(refusal, Refusal::Swapped { .. }), "{refusal}");
    assert_eq!(verify::measure(&group, &swapped, Objective::default()).unwrap().moves_too_many(), 2);
}
