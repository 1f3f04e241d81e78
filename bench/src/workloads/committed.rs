//! The small groups kept in `datasets/workloads`, for people to read and try.

use super::{Event, Shape, Workload};

/// A file of `datasets/workloads`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Committed {
    /// Its name there.
    pub file: &'static str,
    /// The name of its shape.
    pub shape: &'static str,
    /// What happened to the group.
    pub event: Event,
}

/// All of them.
pub const COMMITTED: &[Committed] = &[
    file("fresh.json", "shop", Event::Fresh),
    file("steady.json", "shop", Event::Steady),
    file("one-leaves.json", "shop", Event::OneLeaves),
    file("rolling-restart.json", "shop", Event::Restart),
    file("scale-out.json", "shop", Event::ScaleOut),
    file("topics-grow.json", "shop", Event::TopicsGrow),
    file("deleted-topic.json", "shop", Event::TopicDeleted),
    file("stale-member.json", "shop", Event::StaleMember),
    file("racks.json", "shop+racks3", Event::OneJoins),
    file("different-subscriptions.json", "shop-mixed", Event::OneJoins),
];

const fn file(file: &'static str, shape: &'static str, event: Event) -> Committed {
    Committed { file, shape, event }
}

impl Committed {
    /// The group, made anew.
    ///
    /// # Panics
    ///
    /// If its shape is none of this module's.
    pub fn workload(&self) -> Workload {
        let shape = Shape::find(self.shape).expect("committed groups have a known shape");
        self.event.apply(&shape, &shape.fresh(SEED).settled(), SEED)
    }
}

/// The seed that `generate` uses too unless told otherwise.
const SEED: u64 = 429;
