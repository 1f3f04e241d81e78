//! Partitions as runs: topic, first, last.

use core::cmp::Ordering;
use core::iter::Peekable;

use tenure::group::ForeignClaim;
use tenure::id::{MemberIndex, PartitionIndex, TopicIndex, utf16_cmp};
use tenure::revoke::Round;
use tenure::topology::Topology;

/// Consecutive partitions of one topic, inclusive, in Kafka's numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Run<'a> {
    /// The topic.
    pub topic: &'a str,
    /// First partition.
    pub from: i32,
    /// Last partition.
    pub to: i32,
}

impl Run<'_> {
    /// How many partitions the run has, at least one.
    pub fn count(&self) -> u64 {
        (i64::from(self.to) - i64::from(self.from) + 1).unsigned_abs()
    }
}

/// The runs of ascending partitions. Cost: O(1) a partition.
pub fn runs_of<'a>(
    topology: &'a Topology,
    partitions: impl Iterator<Item = PartitionIndex>,
) -> impl Iterator<Item = Run<'a>> {
    let mut partitions = partitions.peekable();
    let mut topic = 0;
    core::iter::from_fn(move || {
        let first = partitions.next()?;
        let bases = topology.bases();
        if first.get() >= bases[topic + 1] {
            topic = topology.topic_of(first).at();
        }
        let (base, end) = (bases[topic], bases[topic + 1]);
        let mut last = first.get();
        while partitions.next_if(|p| p.get() == last + 1 && p.get() < end).is_some() {
            last += 1;
        }
        let number = |p: u32| i32::try_from(p - base).unwrap_or(i32::MAX);
        let name = topology.name(TopicIndex::new(u32::try_from(topic).unwrap_or(u32::MAX)));
        Some(Run { topic: name, from: number(first.get()), to: number(last) })
    })
}

/// What a member gets in this round, with what the draft gives back of what does not exist.
pub fn assigned_runs<'a>(round: &Round<'a>, member: MemberIndex) -> impl Iterator<Item = Run<'a>> {
    let existing = runs_of(round.group().topology(), round.assignment(member));
    merge(existing, round.returned(member).map(run_of))
}

/// What a member claims and does not get again, with what does not exist.
pub fn revoked_runs<'a>(round: &Round<'a>, member: MemberIndex) -> impl Iterator<Item = Run<'a>> {
    let existing = runs_of(round.group().topology(), round.revoked(member));
    merge(existing, round.revoked_foreign(member).map(run_of))
}

/// Partitions that nobody will have, ascending. Cost: O(P / 64) and O(P) if there are any.
pub fn unassigned(round: &Round<'_>) -> Vec<PartitionIndex> {
    let (group, plan) = (round.group(), round.plan());
    let partitions = group.topology().partitions();
    if plan.assigned() == partitions {
        return Vec::new();
    }
    let mut given = vec![false; partitions];
    for member in group.member_indices() {
        for p in plan.target(member).iter().copied().chain(round.assignment(member)) {
            given[p.at()] = true;
        }
    }
    let numbers = 0..u32::try_from(partitions).unwrap_or(u32::MAX);
    numbers.map(PartitionIndex::new).filter(|p| !given[p.at()]).collect()
}

fn run_of(claim: ForeignClaim<'_>) -> Run<'_> {
    Run { topic: claim.topic, from: claim.from, to: claim.to }
}

/// Merges two lists of runs, each by topic and number, and joins what touches.
fn merge<'a>(
    a: impl Iterator<Item = Run<'a>>,
    b: impl Iterator<Item = Run<'a>>,
) -> impl Iterator<Item = Run<'a>> {
    let (mut a, mut b) = (a.peekable(), b.peekable());
    core::iter::from_fn(move || {
        let mut run = first(&mut a, &mut b)?;
        loop {
            let follows =
                |next: &Run<'_>| next.topic == run.topic && Some(next.from) == run.to.checked_add(1);
            let Some(next) = a.next_if(follows).or_else(|| b.next_if(follows)) else { return Some(run) };
            run.to = next.to;
        }
    })
}

fn first<'a>(
    a: &mut Peekable<impl Iterator<Item = Run<'a>>>,
    b: &mut Peekable<impl Iterator<Item = Run<'a>>>,
) -> Option<Run<'a>> {
    match (a.peek(), b.peek()) {
        (Some(x), Some(y)) if order(x, y).is_gt() => b.next(),
        (Some(_), _) => a.next(),
        (None, _) => b.next(),
    }
}

fn order(a: &Run<'_>, b: &Run<'_>) -> Ordering {
    utf16_cmp(a.topic, b.topic).then(a.from.cmp(&b.from))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(topic: &str, from: i32, to: i32) -> Run<'_> {
        Run { topic, from, to }
    }

    #[test]
    fn runs_end_at_their_topic() {
        let topology = Topology::builder().topic("a", 2).topic("b", 0).topic("c", 3).build().unwrap();
        let all = (0..5).map(PartitionIndex::new);
        let runs: Vec<_> = runs_of(&topology, all).collect();
        assert_eq!(runs, [run("a", 0, 1), run("c", 0, 2)]);
        let some = [0, 3, 4].map(PartitionIndex::new);
        let runs: Vec<_> = runs_of(&topology, some.into_iter()).collect();
        assert_eq!(runs, [run("a", 0, 0), run("c", 1, 2)]);
    }

    #[test]
    fn merged_runs_are_sorted_and_joined() {
        let a = [run("a", 0, 1), run("c", 2, 4)];
        let b = [run("a", -3, -1), run("a", 2, 2), run("a", 9, 9), run("b", 0, 0), run("d", 5, 6)];
        let merged: Vec<_> = merge(a.into_iter(), b.into_iter()).collect();
        let expected = [run("a", -3, 2), run("a", 9, 9), run("b", 0, 0), run("c", 2, 4), run("d", 5, 6)];
        assert_eq!(merged, expected);
    }
}
