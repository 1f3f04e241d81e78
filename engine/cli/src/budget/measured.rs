//! What a round costs its leader, on this machine.

use core::hint::black_box;
use core::time::Duration;
use std::time::Instant;

use tenure::Group;
use tenure::plan::{Assignor, Plan, Scratch};
use tenure::protocol::budget::Form;
use tenure::protocol::leader::{Leader, LeaderScratch};

use super::join;
use crate::alloc;

/// Times and allocations of a warm round.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Measured {
    /// The plan alone: the best of several calls.
    pub plan: Duration,
    /// The leader's whole round, from the members' bytes to the assignments' bytes: the best of several calls.
    pub round: Duration,
    /// What one such round asks of the allocator; `None` unless [`Counting`](alloc::Counting) is the global one.
    pub allocations: Option<u64>,
}

/// Subscriptions beyond are not made in memory to be measured: no broker takes such a group.
const BYTES_MAX: u64 = 1 << 28;

/// How long to measure: until this is over and there were some calls.
const PATIENCE: Duration = Duration::from_millis(150);
const CALLS_LEAST: usize = 3;
const CALLS_MOST: usize = 1_000;

impl Measured {
    /// Leads this group again and again.
    ///
    /// `subscription_bytes` is the size of all its members' subscriptions. `None` if the group has no members, or more
    /// bytes than a round can have.
    pub fn of(
        group: &Group,
        form: Form,
        subscription_bytes: u64,
        assignor: &Assignor,
        leader: &Leader,
    ) -> Option<Self> {
        if subscription_bytes > BYTES_MAX || group.members() == 0 {
            return None;
        }
        let members = join(group, form).ok()?;
        let leader_id = members.first()?.member_id.as_str();
        let (mut scratch, mut plan) = (Scratch::with_shape(group.shape()), Plan::with_shape(group.shape()));
        let plan = best(|| assignor.assign_into(black_box(group), &mut scratch, &mut plan).is_ok())?;
        let mut scratch = LeaderScratch::new();
        let mut lead = || {
            let round = leader.round_into(
                form.format.protocol_name(),
                black_box(&members),
                leader_id,
                group.topology(),
                &mut scratch,
            );
            round.map(|round| round.bytes().len()).is_ok()
        };
        let round = best(&mut lead)?;
        let (_, used) = alloc::count(&mut lead);
        let (_, probe) = alloc::count(|| black_box(Box::new(0u8)));
        Some(Self { plan, round, allocations: (probe.allocations > 0).then_some(used.allocations) })
    }
}

/// The shortest time of several calls after the first; `None` once one fails.
fn best(mut call: impl FnMut() -> bool) -> Option<Duration> {
    let begin = Instant::now();
    let mut best = Duration::MAX;
    if !call() {
        return None;
    }
    for calls in 0..CALLS_MOST {
        if calls >= CALLS_LEAST && begin.elapsed() > PATIENCE {
            break;
        }
        let start = Instant::now();
        let went_well = call();
        let spent = start.elapsed();
        if !went_well {
            return None;
        }
        best = best.min(spent);
    }
    Some(best)
}
