//! Where a member stands, for everybody to see.

use tenure::protocol::error::ProtocolError;
use tenure::protocol::member::{GroupMetadata, Member, MemberConfig, MemberState};
use tenure::protocol::message::NO_GENERATION;
use tenure::protocol::partition_set::PartitionSet;

use crate::error::ClientError;

/// Where a member stands.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct MemberStatus {
    /// The state.
    pub state: MemberState,
    /// What is the member's; also what a callback is just taking away.
    pub owned: PartitionSet,
    /// What may be read now: `owned` less what comes or goes at the moment.
    pub fetchable: PartitionSet,
    /// The membership of the last completed rebalance, without a generation if it has been reset since.
    pub metadata: GroupMetadata,
    /// The assignor of the last completed rebalance.
    pub assignor: Option<String>,
    /// Whether the member leads its generation.
    pub leads: bool,
    /// How many rebalances were completed.
    pub rebalances: u64,
    /// Why the member stopped for good, if it did.
    pub fatal: Option<ProtocolError>,
    /// What keeps the member from its brokers at the moment, if anything does; it goes on trying.
    pub trouble: Option<ClientError>,
}

impl MemberStatus {
    pub(super) fn new(config: &MemberConfig) -> Self {
        Self {
            state: MemberState::Idle,
            owned: PartitionSet::new(),
            fetchable: PartitionSet::new(),
            metadata: GroupMetadata {
                group_id: config.group_id.clone(),
                generation_id: NO_GENERATION,
                member_id: String::new(),
                group_instance_id: config.group_instance_id.clone(),
            },
            assignor: None,
            leads: false,
            rebalances: 0,
            fatal: None,
            trouble: None,
        }
    }

    /// Whether the member will never be part of a group again.
    pub fn has_ended(&self) -> bool {
        matches!(self.state, MemberState::Closed | MemberState::Fatal)
    }

    /// Takes over what has changed; false if nothing has.
    pub(super) fn update(&mut self, member: &Member, assignor: Option<&str>, rebalances: u64) -> bool {
        let mut changed = false;
        let mut set = |differs: bool| changed |= differs;
        set(replace(&mut self.state, member.state()));
        set(replace(&mut self.leads, member.is_leader()));
        set(replace(&mut self.rebalances, rebalances));
        set(replace(&mut self.metadata, member.group_metadata()));
        set(replace(&mut self.fetchable, member.fetchable()));
        if self.owned != *member.owned() {
            self.owned = member.owned().clone();
            set(true);
        }
        if self.assignor.as_deref() != assignor {
            self.assignor = assignor.map(str::to_owned);
            set(true);
        }
        if self.fatal.as_ref() != member.fatal_error() {
            self.fatal = member.fatal_error().cloned();
            set(true);
        }
        changed
    }
}

fn replace<T: PartialEq>(place: &mut T, value: T) -> bool {
    let differs = *place != value;
    *place = value;
    differs
}
