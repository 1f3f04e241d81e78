//! Round after round until a group is settled.

use tenure::Group;
use tenure::plan::{Outcome, Plan, Strategy};
use tenure::revoke::{Mode, Round};

use super::answer::Answer;
use super::judge::{self, Fault};
use super::snapshot::Snapshot;

/// The rounds of one group: what each was asked and what it answered.
#[derive(Clone, Debug)]
pub struct Course {
    pub snapshots: Vec<Snapshot>,
    pub answers: Vec<Answer>,
    pub outcomes: Vec<Outcome>,
}

impl Course {
    pub fn first(&self) -> &Answer {
        &self.answers[0]
    }

    pub fn settled(&self) -> &Answer {
        self.answers.last().unwrap()
    }

    /// Answers until the group was settled, the confirming repeat not counted.
    pub fn rounds(&self) -> usize {
        self.answers.len()
    }
}

/// More rounds than any group may need; who needs more never settles.
const ROUNDS: usize = 12;

/// Plans until nothing changes, judging each answer by the rules that always hold.
pub fn run(
    snapshot: &Snapshot,
    seed: u64,
    plan: &mut dyn FnMut(&Group) -> (Plan, Outcome),
) -> Result<Course, Fault> {
    let mut course = Course { snapshots: Vec::new(), answers: Vec::new(), outcomes: Vec::new() };
    let mut now = snapshot.clone();
    loop {
        let round = course.rounds() as u64;
        let group = now.group(if seed == 0 { 0 } else { seed.wrapping_mul(31).wrapping_add(round) });
        let (target, outcome) = plan(&group);
        let answer = Answer::read(&Round::new(&group, &target, Mode::Shipped));
        judge::always(&now, &answer)?;
        if course.answers.last().is_some_and(|last| last.given == answer.given) {
            judge::at_rest(&answer)?;
            return Ok(course);
        }
        let next = now.after(&answer.given);
        course.snapshots.push(core::mem::replace(&mut now, next));
        course.answers.push(answer);
        course.outcomes.push(outcome);
        if snapshot.strategy != Strategy::CooperativeSticky {
            return Ok(course);
        }
        if course.rounds() == ROUNDS {
            return Err(Fault::NeverSettles);
        }
    }
}
