//! The consumer's place in its group, as a transactional commit carries it.

use crate::protocol::message::{NO_GENERATION, TxnOffsetCommitRequest};

/// Group, generation, member and instance of a consumer at one moment.
///
/// Take it at the moment of sending: a snapshot from before the last rebalance is the usual fault (the commit is
/// refused, work is redone), and one kept in a field is stale sooner or later. So the read-process-write loop of
/// this room, [`Cycle`](super::cycle::Cycle), asks for it each time it is polled and keeps none.
///
/// # Examples
///
/// ```
/// use tenure::fence::GroupMetadata;
/// use tenure::protocol::message::TxnOffsetCommitRequest;
///
/// let now = GroupMetadata { generation: 4, member_id: "m".into(), ..GroupMetadata::outsider("g") };
/// let mut request = TxnOffsetCommitRequest::default();
/// now.stamp(&mut request);
/// assert_eq!((request.group_id.as_str(), request.generation_id), ("g", 4));
/// assert!(!now.is_outsider());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct GroupMetadata {
    /// The group.
    pub group_id: String,
    /// The generation, or [`NO_GENERATION`].
    pub generation: i32,
    /// The member id, or empty.
    pub member_id: String,
    /// The static name, if the member has one.
    pub group_instance_id: Option<String>,
}

impl GroupMetadata {
    /// Of a consumer that is no member: it assigns its partitions by hand, or was never joined. Its commits are
    /// not fenced.
    pub fn outsider(group_id: impl Into<String>) -> Self {
        Self {
            group_id: group_id.into(),
            generation: NO_GENERATION,
            member_id: String::new(),
            group_instance_id: None,
        }
    }

    /// Whether nothing in it can be checked.
    pub fn is_outsider(&self) -> bool {
        self.generation < 0 && self.member_id.is_empty() && self.group_instance_id.is_none()
    }

    /// Writes it into a request that is about to be sent.
    pub fn stamp(&self, request: &mut TxnOffsetCommitRequest) {
        request.group_id.clone_from(&self.group_id);
        request.generation_id = self.generation;
        request.member_id.clone_from(&self.member_id);
        request.group_instance_id.clone_from(&self.group_instance_id);
    }
}
