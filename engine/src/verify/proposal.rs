//! A plan under judgement: who is to own what, whoever decided so.

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use crate::group::{Group, NONE};
use crate::id::{MemberIndex, PartitionIndex};

/// Who is to own each partition, and what was wrong while it was written down.
///
/// It takes anything, also what no planner of ours would say: unknown names, partitions twice, partitions that
/// do not exist. Memory: 4 bytes a partition, and the faults.
///
/// # Examples
///
/// ```
/// use tenure::verify::{Fault, Proposal};
/// use tenure::{Group, Topology};
///
/// let topology = Topology::builder().topic("t", 2).build()?;
/// let mut builder = Group::builder(&topology);
/// builder.member("a").topic("t");
/// let group = builder.build()?;
///
/// let mut proposal = Proposal::new(&group);
/// proposal.give_named(&group, "a", "t", 0);
/// proposal.give_named(&group, "a", "t", 7);
/// let faults = proposal.faults(&group);
/// assert_eq!(faults.len(), 2, "t-7 does not exist, t-1 has no owner");
/// assert!(matches!(&faults[0], Fault::Nonexistent { number: 7, .. }));
/// # Ok::<(), tenure::topology::BuildError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Proposal {
    pub(super) owner: Vec<u32>,
    faults: Vec<Fault>,
}

/// What makes a plan invalid.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Fault {
    /// Something is given to a member that is not in the group.
    Stranger {
        /// The member id.
        member: String,
    },
    /// A partition is given that does not exist.
    Nonexistent {
        /// Who got it.
        member: String,
        /// Its topic; `#` if it was given by an index, which then is the number.
        topic: String,
        /// Its number.
        number: i64,
    },
    /// A partition is given to a member that does not subscribe to its topic.
    Unsubscribed {
        /// Who got it.
        member: String,
        /// Its topic.
        topic: String,
        /// Its number.
        number: u32,
    },
    /// A partition is given twice.
    Twice {
        /// Its topic.
        topic: String,
        /// Its number.
        number: u32,
        /// Who got it first.
        first: String,
        /// Who got it again.
        second: String,
    },
    /// A partition that has subscribers is given to nobody.
    Lost {
        /// Its topic.
        topic: String,
        /// Its number.
        number: u32,
    },
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stranger { member } => write!(f, "member {member:?} is not in the group"),
            Self::Nonexistent { member, topic, number } => {
                write!(f, "{topic}-{number}, given to {member:?}, does not exist")
            }
            Self::Unsubscribed { member, topic, number } => {
                write!(f, "{topic}-{number} is given to {member:?}, which does not subscribe to {topic:?}")
            }
            Self::Twice { topic, number, first, second } if first == second => {
                write!(f, "{topic}-{number} is given twice to {first:?}")
            }
            Self::Twice { topic, number, first, second } => {
                write!(f, "{topic}-{number} is given to {first:?} and to {second:?}")
            }
            Self::Lost { topic, number } => {
                write!(f, "{topic}-{number} is given to nobody though members subscribe to {topic:?}")
            }
        }
    }
}

impl core::error::Error for Fault {}

impl Proposal {
    /// A proposal that gives nothing to anybody yet.
    pub fn new(group: &Group) -> Self {
        Self { owner: alloc::vec![NONE; group.topology().partitions()], faults: Vec::new() }
    }

    /// Reads the list of every member, as of [`Plan::target`](crate::plan::Plan::target).
    pub fn from_lists<I>(group: &Group, mut list: impl FnMut(MemberIndex) -> I) -> Self
    where
        I: IntoIterator<Item = PartitionIndex>,
    {
        let mut proposal = Self::new(group);
        for member in group.member_indices() {
            for partition in list(member) {
                proposal.give(group, member, partition);
            }
        }
        proposal
    }

    /// Gives a partition to a member. What is wrong with that is noted.
    ///
    /// # Panics
    ///
    /// If the member is not of this group. A partition that is not of its topology is a fault.
    pub fn give(&mut self, group: &Group, member: MemberIndex, partition: PartitionIndex) {
        let topology = group.topology();
        let id = || group.id(member).to_string();
        let Some(owner) = self.owner.get_mut(partition.at()) else {
            let number = i64::from(partition.get());
            self.faults.push(Fault::Nonexistent { member: id(), topic: String::from("#"), number });
            return;
        };
        let topic = topology.topic_of(partition);
        let (name, number) = (|| topology.name(topic).to_string(), topology.number(partition));
        if *owner != NONE {
            let first = group.id(MemberIndex::new(*owner)).to_string();
            self.faults.push(Fault::Twice { topic: name(), number, first, second: id() });
        } else {
            *owner = member.get();
        }
        if !group.subscribes(member, topic) {
            self.faults.push(Fault::Unsubscribed { member: id(), topic: name(), number });
        }
    }

    /// Gives a partition by name. Unknown names are noted.
    pub fn give_named(&mut self, group: &Group, member: &str, topic: &str, number: i64) {
        let Some(index) = group.find(member) else {
            self.faults.push(Fault::Stranger { member: member.to_string() });
            return;
        };
        let topology = group.topology();
        let partition = topology
            .find(topic)
            .zip(i32::try_from(number).ok())
            .and_then(|(topic, number)| topology.partition(topic, number));
        match partition {
            Some(partition) => self.give(group, index, partition),
            None => {
                let (member, topic) = (member.to_string(), topic.to_string());
                self.faults.push(Fault::Nonexistent { member, topic, number });
            }
        }
    }

    /// Who is to own a partition.
    pub fn owner(&self, partition: PartitionIndex) -> Option<MemberIndex> {
        let owner = *self.owner.get(partition.at())?;
        (owner != NONE).then(|| MemberIndex::new(owner))
    }

    /// Everything that makes the plan invalid; empty if it is valid. Cost: O(P + S log T).
    pub fn faults(&self, group: &Group) -> Vec<Fault> {
        let topology = group.topology();
        let mut faults = self.faults.clone();
        let mut subscribed = alloc::vec![false; topology.topics()];
        for member in group.member_indices() {
            for topic in group.subscription(member) {
                subscribed[topic.at()] = true;
            }
        }
        for (topic, bounds) in topology.bases().windows(2).enumerate() {
            for p in bounds[0]..bounds[1] {
                if subscribed[topic] && self.owner.get(p as usize).is_none_or(|&owner| owner == NONE) {
                    let name = topology.name(crate::id::TopicIndex::new(topic as u32)).to_string();
                    faults.push(Fault::Lost { topic: name, number: p - bounds[0] });
                }
            }
        }
        faults
    }
}
