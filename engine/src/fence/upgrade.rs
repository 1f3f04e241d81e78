//! From one producer per input partition to one per consumer, with old and new members at work together.
//!
//! A producer per partition is fenced by its transactional id: the next owner initialises the same id. A producer
//! per consumer is fenced by the consumer's generation. When a partition moves from one kind to the other neither
//! id helps, so the change is safe only if *every* member already sends its generation and fetches stable offsets.
//! Hence two rolling restarts: the first teaches all members that, the second turns the switch.

use core::fmt;

use super::cycle::ProducerName;
use super::metadata::GroupMetadata;
use crate::protocol::message::TopicPartition;

/// How many producers a member runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum ProducerPlan {
    /// One for each input partition, with a transactional id made of the partition.
    PerPartition,
    /// One for the consumer, aware of its group.
    #[default]
    PerConsumer,
}

impl ProducerPlan {
    /// By the draft's switch, `consumer.group.aware.transaction`, whose default is true.
    pub fn from_switch(consumer_group_aware_transaction: bool) -> Self {
        if consumer_group_aware_transaction { Self::PerConsumer } else { Self::PerPartition }
    }

    /// The names of the producers that a member with these partitions runs.
    ///
    /// # Examples
    ///
    /// ```
    /// use tenure::fence::{GroupMetadata, upgrade::ProducerPlan};
    /// use tenure::protocol::message::TopicPartition;
    ///
    /// let me = GroupMetadata { generation: 1, member_id: "m".into(), ..GroupMetadata::outsider("app") };
    /// let owned = [TopicPartition::new("t", 0), TopicPartition::new("t", 1)];
    /// let old = ProducerPlan::from_switch(false).names(&me, &owned);
    /// assert_eq!(old.iter().map(|name| name.transactional_id()).collect::<Vec<_>>(), ["app-t-0", "app-t-1"]);
    /// let new = ProducerPlan::from_switch(true).names(&me, &owned);
    /// assert_eq!((new.len(), new[0].transactional_id(), new[0].group_id()), (1, "m", Some("app")));
    /// ```
    pub fn names(self, metadata: &GroupMetadata, partitions: &[TopicPartition]) -> Vec<ProducerName> {
        let group_id = &metadata.group_id;
        match self {
            Self::PerPartition => {
                let id = |partition: &TopicPartition| format!("{group_id}-{partition}");
                partitions.iter().map(id).map(ProducerName::TransactionalId).collect()
            }
            Self::PerConsumer => {
                let instance = metadata.group_instance_id.as_deref();
                vec![ProducerName::of_member(group_id, instance, &metadata.member_id)]
            }
        }
    }
}

/// What a member of the group does, as far as fencing goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Practice {
    /// Whose it is, for messages.
    pub member: String,
    /// Its producers.
    pub plan: ProducerPlan,
    /// Whether its transactional commits carry generation and member.
    pub sends_generation: bool,
    /// Whether it fetches stable offsets only.
    pub stable_fetches: bool,
}

/// Why old and new members can't be at work together.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum UpgradeError {
    /// A zombie of this member could commit for a partition that a producer per consumer has taken over.
    Unfenced {
        /// The member.
        member: String,
    },
    /// This member could read an offset that a pending transaction is about to change.
    Unstable {
        /// The member.
        member: String,
    },
}

impl fmt::Display for UpgradeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unfenced { member } => {
                write!(f, "member {member:?} sends no generation with its transactional commits")?;
            }
            Self::Unstable { member } => write!(f, "member {member:?} does not wait for stable offsets")?,
        }
        f.write_str(
            ", while others run one producer per consumer: finish the first rolling restart with \
             consumer.group.aware.transaction=false in every member, then turn it on in a second one",
        )
    }
}

impl core::error::Error for UpgradeError {}

/// Whether these members may be at work together: no partition can move between any two of them unfenced.
///
/// # Errors
///
/// The first member, in the order given, that would open a hole.
///
/// # Examples
///
/// ```
/// use tenure::fence::upgrade::{Practice, ProducerPlan, UpgradeError, check_upgrade};
///
/// let member = |name: &str, plan, knows_447: bool| Practice {
///     member: name.into(), plan, sends_generation: knows_447, stable_fetches: knows_447,
/// };
/// use ProducerPlan::{PerConsumer, PerPartition};
///
/// // All as of old: fenced by transactional id. First restart: old ways, new words. Second: the switch.
/// assert!(check_upgrade(&[member("a", PerPartition, false), member("b", PerPartition, true)]).is_ok());
/// assert!(check_upgrade(&[member("a", PerPartition, true), member("b", PerConsumer, true)]).is_ok());
/// // One restart too few.
/// let hole = check_upgrade(&[member("a", PerPartition, false), member("b", PerConsumer, true)]);
/// assert_eq!(hole, Err(UpgradeError::Unfenced { member: "a".into() }));
/// ```
pub fn check_upgrade(members: &[Practice]) -> Result<(), UpgradeError> {
    if members.iter().all(|one| one.plan == ProducerPlan::PerPartition) {
        return Ok(());
    }
    for one in members {
        if !one.sends_generation {
            return Err(UpgradeError::Unfenced { member: one.member.clone() });
        }
        if !one.stable_fetches {
            return Err(UpgradeError::Unstable { member: one.member.clone() });
        }
    }
    Ok(())
}
