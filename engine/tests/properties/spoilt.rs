//! The judges themselves: each planted fault must be caught, and by its name.

use tenure::plan::{Assignor, Objective};
use tenure::revoke::{Mode, Round};

use crate::problem::{Problem, Worth};
use crate::support::answer::{Answer, Partition};
use crate::support::judge::{self, Fault};
use crate::support::snapshot::Snapshot;

/// Two topics; `a` has all of `t`, `b` stays out of `u`, `c` is new, and `d` claims what `a` had long ago.
fn snapshot() -> Snapshot {
    let json = r#"{"topics": {"t": 6, "u": 2}, "members": {
        "a": {"topics": ["t", "u"], "owned": {"t": ["0-5"]}, "generation": 4},
        "b": {"topics": ["t"], "generation": 4},
        "c": {"topics": ["t", "u"]},
        "d": {"topics": ["u"], "owned": {"t": [0]}, "generation": 3}}}"#;
    Snapshot::read(&serde_json::from_str(json).unwrap()).unwrap()
}

fn answer(snapshot: &Snapshot) -> Answer {
    let group = snapshot.group(0);
    let (plan, _) = Assignor::default().assign(&group).unwrap();
    Answer::read(&Round::new(&group, &plan, Mode::Shipped))
}

fn fault(spoil: impl FnOnce(&mut Answer)) -> Fault {
    let snapshot = snapshot();
    let mut spoilt = answer(&snapshot);
    judge::always(&snapshot, &spoilt).unwrap();
    spoil(&mut spoilt);
    judge::always(&snapshot, &spoilt).unwrap_err()
}

fn t(number: i32) -> Partition {
    ("t".to_owned(), number)
}

#[test]
fn lost() {
    let lost = fault(|answer| drop(answer.target.get_mut("a").unwrap().remove(0)));
    assert!(matches!(lost, Fault::Lost(_)), "{lost}");
    let lost = fault(|answer| drop(answer.given.get_mut("a").unwrap().remove(0)));
    assert!(matches!(lost, Fault::Withheld(_)), "ready, but not handed out: {lost}");
}

#[test]
fn doubled() {
    let twice = |answer: &mut Answer| {
        let first = answer.given["a"][0].clone();
        answer.given.get_mut("c").unwrap().push(first);
    };
    assert!(matches!(fault(twice), Fault::Twice(_)));
    let twice_at_one = |answer: &mut Answer| {
        let first = answer.given["a"][0].clone();
        answer.given.get_mut("a").unwrap().insert(0, first);
    };
    assert!(matches!(fault(twice_at_one), Fault::Twice(_)));
}

#[test]
fn stranger() {
    let with = fault(|answer| drop(answer.given.insert("x".to_owned(), vec![t(5)])));
    assert!(matches!(with, Fault::Stranger(_) | Fault::Twice(_)), "{with}");
    let empty = fault(|answer| drop(answer.given.insert("x".to_owned(), Vec::new())));
    assert_eq!(empty, Fault::Stranger("x".to_owned()));
    let missing = fault(|answer| drop(answer.given.remove("d")));
    assert_eq!(missing, Fault::MemberMissing("d".to_owned()));
}

#[test]
fn unsubscribed_owner() {
    let unsubscribed = fault(|answer| {
        let moved = answer.given.get_mut("a").unwrap().pop().unwrap();
        assert_eq!(moved.0, "t");
        answer.given.get_mut("d").unwrap().push(moved);
    });
    assert!(matches!(unsubscribed, Fault::Unsubscribed(_, id) if id == "d"));
}

#[test]
fn nonexistent_partition() {
    for partition in [t(6), t(-1), ("v".to_owned(), 0)] {
        let fault = fault(|answer| answer.given.get_mut("a").unwrap().push(partition.clone()));
        assert_eq!(fault, Fault::Nonexistent(partition));
    }
}

#[test]
fn handed_over_too_soon() {
    let soon = fault(|answer| {
        let partition = answer.withheld.pop_first().unwrap();
        let to = answer.target.iter().find(|(_, list)| list.contains(&partition)).unwrap().0.clone();
        answer.given.get_mut(&to).unwrap().push(partition);
    });
    assert!(matches!(soon, Fault::TooSoon { ref holder, .. } if holder == "a"), "{soon}");
}

#[test]
fn withheld_for_nothing() {
    let fault = fault(|answer| {
        let free = answer.given["d"][0].clone();
        answer.given.get_mut("d").unwrap().remove(0);
        answer.withheld.insert(free);
    });
    assert!(matches!(fault, Fault::Withheld(_)), "{fault}");
}

#[test]
fn unsorted_and_wrong_differences() {
    let unsorted = fault(|answer| answer.given.get_mut("a").unwrap().reverse());
    assert_eq!(unsorted, Fault::Unsorted("a".to_owned()));
    let unkept = fault(|answer| drop(answer.kept.get_mut("a").unwrap().pop()));
    assert_eq!(unkept, Fault::Difference("a".to_owned()));
    assert_eq!(fault(|answer| answer.rejoin = false), Fault::Rejoin(false));
}

#[test]
fn uneven() {
    let snapshot = snapshot();
    let (problem, names) = Problem::of(&snapshot);
    let mut target = answer(&snapshot).target;
    let objective = Objective::default();
    let best = problem.best(objective);
    assert_eq!(best, Worth { loads: vec![2, 2, 2, 2], costs: (0, 4) });
    assert_eq!(problem.worth_of(&names, &snapshot, &target, objective), best);
    let back = target.get_mut("b").unwrap().pop().unwrap();
    target.get_mut("a").unwrap().push(back);
    let worth = problem.worth_of(&names, &snapshot, &target, objective);
    assert_eq!(worth, Worth { loads: vec![3, 2, 2, 1], costs: (0, 3) });
    assert!(worth > best, "fewer moves do not make up for balance");
}

#[test]
fn one_move_too_many() {
    let json = r#"{"topics": {"t": 5}, "members": {
        "a": {"topics": ["t"], "owned": {"t": [0, 1]}, "generation": 4},
        "b": {"topics": ["t"], "owned": {"t": [2, 3]}, "generation": 4}}}"#;
    let snapshot = Snapshot::read(&serde_json::from_str(json).unwrap()).unwrap();
    let (problem, names) = Problem::of(&snapshot);
    let objective = Objective::default();
    let best = problem.best(objective);
    assert_eq!(best, Worth { loads: vec![3, 2], costs: (0, 0) });
    let mut target = answer(&snapshot).target;
    assert_eq!(problem.worth_of(&names, &snapshot, &target, objective), best);
    // The fifth partition pushes an owned one out: as even, valid, complete, and one move too many.
    let (with, without) = if target["a"].len() == 3 { ("a", "b") } else { ("b", "a") };
    let pushed = target.get_mut(with).unwrap().remove(0);
    assert_ne!(pushed, t(4));
    target.get_mut(without).unwrap().push(pushed);
    assert_eq!(judge::moves(&snapshot, &target).len(), 1);
    judge::valid(&snapshot, &target).unwrap();
    judge::complete(&snapshot, &target).unwrap();
    let worth = problem.worth_of(&names, &snapshot, &target, objective);
    assert_eq!(worth, Worth { loads: vec![3, 2], costs: (0, 1) });
    assert!(worth > best);
}
