//! What a member gives up: of the topics of which it holds most beyond a fair share.

use alloc::vec::Vec;

use super::{Walk, Work, resize};
use crate::group::{Group, NONE, Protocol};
use crate::id::PartitionIndex;
use crate::owned::claims::Settled;
use crate::owned::row;

#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    topic: u32,
    from: u32,
    len: u32,
    /// How far the member is above its fair share of the topic, which is rounded.
    ahead: i64,
}

impl Run {
    /// How far the member is above its fair share, plus `widest`, the greatest fair share of all.
    #[inline]
    fn surplus(&self, widest: u32) -> u32 {
        (self.ahead + i64::from(widest)) as u32
    }
}

/// What a member holds, seen as a whole.
struct Held {
    /// The greatest fair share of a topic.
    widest: u32,
    /// How far it is ahead at most, and in how many topics.
    most: i64,
    tops: u32,
    /// The first run whose turn has not come yet.
    begin: usize,
}

impl Work {
    /// Chooses `excess` of the member's valid claims to give up, among those of one class ([`NONE`]: all).
    /// They lose their bit in `claimed`; if the member is cooperative, it still holds them.
    pub(in crate::plan) fn give_up(
        &mut self,
        group: &Group,
        member: usize,
        claims: &[u32],
        class: u32,
        excess: u32,
        settled: &mut Settled,
    ) {
        let classes = group.classes();
        self.picked.clear();
        let claims = if class == NONE {
            claims
        } else if classes.by_rack() {
            self.picked.extend(claims.iter().filter(|&&p| classes.of_partition[p as usize] == class));
            &self.picked[..]
        } else {
            claims
        };
        let wanted = (class != NONE && !classes.by_rack()).then_some(class);
        let own = if class == NONE { 0 } else { class as usize };
        let subscribers = classes.class_start[own + 1] - classes.class_start[own];
        let Held { widest, most, tops, begin } = if claims.len() * 4 > classes.of_topic.len() {
            list_runs::<true>(group, claims, wanted, subscribers, self.turn, &mut self.runs)
        } else {
            list_runs::<false>(group, claims, wanted, subscribers, self.turn, &mut self.runs)
        };
        let cooperative = group.protocol[member] == Protocol::Cooperative;
        let mut give = |run: &mut Run, many: u32| {
            for _ in 0..many {
                run.len -= 1;
                run.ahead -= 1;
                let p = claims[(run.from + run.len) as usize];
                row::unset(&mut settled.claimed, p);
                if cooperative {
                    row::set(&mut settled.still_held, p);
                }
            }
        };
        let mut left = excess;
        // Mostly little is given up, and more topics than that are the fullest.
        let level = if tops > excess {
            most
        } else {
            let level = level_above(&self.runs, widest, excess);
            for run in &mut self.runs {
                let over = run.surplus(widest).saturating_sub(level).min(run.len).min(left);
                left -= over;
                give(run, over);
            }
            if left == 0 {
                return;
            }
            i64::from(level) - i64::from(widest)
        };
        // The rest come one each from the fullest topics, in turn.
        let (before, behind) = self.runs.split_at_mut(begin);
        for run in behind.iter_mut().chain(before) {
            if run.ahead == level && run.len > 0 {
                give(run, 1);
                self.turn = run.topic + 1;
                left -= 1;
                if left == 0 {
                    return;
                }
            }
        }
    }

    /// Those of a member's valid claims that it keeps.
    pub(in crate::plan) fn kept_of(&mut self, claims: &[u32], claimed: &[u64]) -> &[PartitionIndex] {
        resize(&mut self.taken, claims.len());
        // Who gives up what is hard to guess for a processor, so each is written and mostly stays.
        let mut kept = 0;
        for &p in claims {
            self.taken[kept] = PartitionIndex::new(p);
            kept += usize::from(row::get(claimed, p));
        }
        &self.taken[..kept]
    }
}

/// Lists what a member holds topic by topic, of one class or of all. With `FEW`, the topics are about as many as the
/// claims, so that the next one is a step or two away.
#[inline]
fn list_runs<const FEW: bool>(
    group: &Group,
    claims: &[u32],
    class: Option<u32>,
    subscribers: u32,
    turn: u32,
    runs: &mut Vec<Run>,
) -> Held {
    let bases = group.topology.bases();
    let of_topic = &group.classes().of_topic[..];
    runs.clear();
    let mut held = Held { widest: 0, most: i64::MIN, tops: 0, begin: 0 };
    // Neighbouring topics are mostly of one size, and a division costs as much as all else here.
    let (mut count, mut fair) = (0, subscribers / 2 / subscribers);
    let (mut at, mut walk) = (0, Walk { topic: 0 });
    while let Some(&first) = claims.get(at) {
        let topic = walk.to::<FEW>(group, first);
        let (begin, end) = (bases[topic], bases[topic + 1]);
        let from = at;
        at += 1;
        at += run_length(&claims[at..], end);
        if class.is_some_and(|class| of_topic[topic] != class) {
            continue;
        }
        if end - begin != count {
            count = end - begin;
            fair = (count + subscribers / 2) / subscribers;
        }
        let ahead = (at - from) as i64 - i64::from(fair);
        runs.push(Run { topic: topic as u32, from: from as u32, len: (at - from) as u32, ahead });
        held.widest = held.widest.max(fair);
        held.begin += usize::from((topic as u32) < turn);
        held.tops = if ahead > held.most { 1 } else { held.tops + u32::from(ahead == held.most) };
        held.most = held.most.max(ahead);
    }
    held
}

/// The least level such that at most `excess` lie above it.
fn level_above(runs: &[Run], widest: u32, excess: u32) -> u32 {
    let over = |run: &Run, level: u32| u64::from(run.surplus(widest).saturating_sub(level).min(run.len));
    let above = |level: u32| runs.iter().map(|run| over(run, level)).sum::<u64>();
    let (mut low, mut high) = (0, runs.iter().map(|run| run.surplus(widest)).max().unwrap_or(0));
    while low < high {
        let middle = u32::midpoint(low, high);
        if above(middle) <= u64::from(excess) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    low
}

/// How many of the ascending `claims` lie below `end`.
#[inline]
fn run_length(claims: &[u32], end: u32) -> usize {
    claims.iter().position(|&p| p >= end).unwrap_or(claims.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::spread::dice;
    use crate::topology::Topology;

    #[test]
    fn topics_that_are_fullest_alone_give_what_the_level_says() {
        let mut state = 7;
        let (mut short, mut long) = (0, 0);
        for _ in 0..500 {
            let mut builder = Topology::builder();
            let topics = 1 + dice(&mut state) % 12;
            for topic in 0..topics {
                builder.add_topic(&alloc::format!("t{topic:02}"), 1 + dice(&mut state) % 6);
            }
            let topology = builder.build().unwrap();
            let mut builder = Group::builder(&topology);
            for member in 0..1 + dice(&mut state) % 4 {
                let id = alloc::format!("m{member}");
                let mut member = builder.member(&id);
                (0..topics).for_each(|topic| _ = member.topic(&alloc::format!("t{topic:02}")));
            }
            let group = builder.build().unwrap();
            let often = 1 + dice(&mut state) % 3;
            let claims: Vec<u32> = (0..topology.partitions() as u32)
                .filter(|_| dice(&mut state).is_multiple_of(often))
                .collect();
            let turn = dice(&mut state) % (topics + 1);
            let subscribers = group.members() as u32;
            let (mut runs, mut again) = (Vec::new(), Vec::new());
            let held = list_runs::<true>(&group, &claims, None, subscribers, turn, &mut runs);
            let other = list_runs::<false>(&group, &claims, None, subscribers, turn, &mut again);
            let parts =
                |runs: &[Run]| runs.iter().map(|r| (r.topic, r.from, r.len, r.ahead)).collect::<Vec<_>>();
            assert_eq!(parts(&runs), parts(&again));
            assert_eq!((held.most, held.tops, held.begin), (other.most, other.tops, other.begin));
            assert_eq!(held.begin, runs.partition_point(|run| run.topic < turn));
            for excess in 1..=claims.len() as u32 {
                if held.tops > excess {
                    let level = level_above(&runs, held.widest, excess);
                    assert_eq!(
                        i64::from(level),
                        held.most + i64::from(held.widest),
                        "{:?} {excess}",
                        parts(&runs)
                    );
                    short += 1;
                } else {
                    long += 1;
                }
            }
        }
        assert!(short > 300 && long > 300, "{short} {long}");
    }
}
