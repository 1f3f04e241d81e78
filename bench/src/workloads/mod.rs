//! Named groups: a shape says who subscribes to what, an event says what just happened to the group.
//!
//! Everything follows from a seed, so a name stands for one group: in a bench, in a test, in a file.
//! The events start from a *settled* group: the assignor plans the fresh one, and its members then own
//! what they were given, at the generation of that round.

mod build;
mod committed;
mod event;
mod random;
mod shape;
mod snapshot;
#[cfg(test)]
mod tests;
mod wire;

pub use committed::{COMMITTED, Committed};
pub use event::{EVENTS, Event};
pub use random::Random;
pub use shape::{READABLE, Racks, SHAPES, Shape, Size, Subscriptions};

use std::sync::Arc;

/// A topic of a workload.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Topic {
    /// Its name.
    pub name: String,
    /// Number of partitions.
    pub partitions: u32,
    /// For each partition the racks that hold a replica; empty if unknown.
    pub racks: Vec<Vec<u8>>,
}

/// A member of a workload.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Member {
    /// Its id, as a Java client and coordinator make it.
    pub id: String,
    /// The topics that it subscribes to, as positions in [`Workload::topics`]; shared by members with the same list.
    pub topics: Arc<[u32]>,
    /// What it claims: (topic, partition), ascending. The topic may be one that was deleted.
    pub owned: Vec<(u32, u32)>,
    /// The generation of the claims.
    pub generation: Option<i32>,
    /// Its rack.
    pub rack: Option<u8>,
}

/// A whole group, before it becomes a [`Group`](tenure::Group) or a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Workload {
    /// All topics, by name.
    pub topics: Vec<Topic>,
    /// All members, in the order in which they joined.
    pub members: Vec<Member>,
    /// Topics that were deleted: members may subscribe to them and claim their partitions, they do not exist.
    pub deleted: Vec<u32>,
}

impl Workload {
    /// The topics that exist, by name.
    pub fn existing(&self) -> impl Iterator<Item = &Topic> {
        self.existing_numbers().map(|number| &self.topics[number as usize])
    }

    /// Their positions in [`topics`](Self::topics).
    pub fn existing_numbers(&self) -> impl Iterator<Item = u32> {
        (0..self.topics.len() as u32).filter(|number| !self.deleted.contains(number))
    }
}

/// The name of a rack.
pub fn rack_name(rack: u8) -> String {
    format!("rack-{}", char::from(b'a' + rack % 26))
}
