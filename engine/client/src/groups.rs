//! Groups as their coordinators describe them: who is in them, what each reads and holds. Nothing is changed.

use std::collections::BTreeMap;

use kafka_protocol::messages::describe_groups_response::{DescribedGroup, DescribedGroupMember};
use kafka_protocol::messages::{DescribeGroupsRequest, GroupId, ListGroupsRequest};
use tenure::protocol::error::ErrorCode;
use tenure::protocol::message::CoordinatorKind;
use tenure::protocol::partition_set::PartitionSet;
use tenure::protocol::payload::{MemberAssignment, MemberSubscription};
use tenure::revoke::Mode;

use crate::cluster::{Attempts, Cluster};
use crate::error::ClientError;
use crate::wire::text;

/// A group in the list of a cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedGroup {
    /// The group.
    pub group_id: String,
    /// `consumer`, `connect`, …
    pub protocol_type: String,
    /// Its state, where the broker tells it (Kafka 2.6 and later).
    pub state: Option<String>,
    /// `classic`, `consumer` (KIP-848), `share`, …, where the broker tells it (Kafka 3.8 and later).
    pub kind: Option<String>,
}

/// A classic group, as its coordinator describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupDescription {
    /// The group.
    pub group_id: String,
    /// What it is doing.
    pub state: GroupState,
    /// `consumer` for groups of consumers; only their members can be read.
    pub protocol_type: String,
    /// The assignor of the present generation; empty while there is none.
    pub assignor: String,
    /// The members, by id.
    pub members: BTreeMap<String, DescribedMember>,
}

/// What a classic group is doing.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum GroupState {
    /// Everybody has an assignment.
    Stable,
    /// Waits for members to join.
    PreparingRebalance,
    /// Waits for the leader's assignment.
    CompletingRebalance,
    /// Has no members, but committed offsets.
    Empty,
    /// A state that this client does not know, in the broker's words.
    Other(String),
}

impl GroupState {
    fn from_name(name: &str) -> Self {
        match name {
            "Stable" => Self::Stable,
            "PreparingRebalance" => Self::PreparingRebalance,
            "CompletingRebalance" | "AwaitingSync" => Self::CompletingRebalance,
            "Empty" => Self::Empty,
            other => Self::Other(other.to_owned()),
        }
    }

    /// Kafka's name.
    pub fn name(&self) -> &str {
        match self {
            Self::Stable => "Stable",
            Self::PreparingRebalance => "PreparingRebalance",
            Self::CompletingRebalance => "CompletingRebalance",
            Self::Empty => "Empty",
            Self::Other(name) => name,
        }
    }

    /// Whether the group is between two generations.
    pub const fn is_rebalancing(&self) -> bool {
        matches!(self, Self::PreparingRebalance | Self::CompletingRebalance)
    }
}

/// A member of a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DescribedMember {
    /// Its static name, if it has one.
    pub instance_id: Option<String>,
    /// Its client's name.
    pub client_id: String,
    /// Where it connects from.
    pub host: String,
    /// What it said when it joined; `None` while the group rebalances, or if it is no consumer. Its `owned` is what
    /// it held then.
    pub subscription: Option<MemberSubscription>,
    /// What it holds now, as far as the coordinator knows.
    pub assigned: PartitionSet,
}

impl Cluster {
    /// The groups of the cluster, by id: those that each broker coordinates and this client may see.
    ///
    /// # Errors
    ///
    /// If a broker does not answer or refuses.
    pub async fn list_groups(&self) -> Result<Vec<ListedGroup>, ClientError> {
        self.topics_named(&[]).await?;
        let mut groups = BTreeMap::new();
        for node_id in self.broker_ids() {
            let answer = self.ask_node(node_id, &ListGroupsRequest::default()).await?;
            if answer.error_code != 0 {
                return Err(ClientError::refused(
                    "ListGroups",
                    answer.error_code,
                    format!("broker {node_id}"),
                ));
            }
            for one in answer.groups {
                let told = |text: &str| (!text.is_empty()).then(|| text.to_owned());
                let group = ListedGroup {
                    group_id: one.group_id.to_string(),
                    protocol_type: one.protocol_type.to_string(),
                    state: told(&one.group_state),
                    kind: told(&one.group_type).map(|kind| kind.to_lowercase()),
                };
                groups.insert(group.group_id.clone(), group);
            }
        }
        Ok(groups.into_values().collect())
    }

    /// A classic group, from its coordinator.
    ///
    /// # Errors
    ///
    /// [`ClientError::NoSuchGroup`]; [`ClientError::NotClassic`] for a group that the brokers plan themselves;
    /// [`ClientError::Refused`] if this client may not see it, or the coordinator refuses until the request timeout
    /// has passed.
    pub async fn describe_group(&self, group_id: &str) -> Result<GroupDescription, ClientError> {
        let mut attempts = Attempts::new(self);
        let described = loop {
            match self.ask_for_group(group_id).await {
                Ok(described) => break described,
                Err(error) => attempts.wait_or_fail(error).await?,
            }
        };
        let missing =
            described.error_code == ErrorCode::GroupIdNotFound.code() || *described.group_state == *"Dead";
        if missing {
            return Err(self.missing(group_id).await);
        }
        if described.error_code != 0 {
            let said = described.error_message.as_ref().map_or(group_id, |message| message.as_str());
            return Err(ClientError::refused("DescribeGroups", described.error_code, said));
        }
        read(described)
    }

    async fn ask_for_group(&self, group_id: &str) -> Result<DescribedGroup, ClientError> {
        let node_id = self.coordinator(CoordinatorKind::Group, group_id).await?;
        let request = DescribeGroupsRequest::default().with_groups(vec![GroupId(text(group_id))]);
        let answer = self.ask_node(node_id, &request).await?;
        let described = answer.groups.into_iter().next().ok_or_else(|| ClientError::Malformed {
            address: format!("broker {node_id}").into(),
            request: "DescribeGroups",
            detail: "it describes no group".into(),
        })?;
        let code = ErrorCode::from_code(described.error_code);
        if code.is_retriable() {
            return Err(ClientError::refused("DescribeGroups", described.error_code, group_id));
        }
        Ok(described)
    }

    /// Why a group can't be described: it is not there, or of another kind.
    async fn missing(&self, group_id: &str) -> ClientError {
        let known = match self.list_groups().await {
            Ok(known) => known,
            Err(error) => return error,
        };
        match known.iter().find(|one| one.group_id == group_id).map(|one| one.kind.clone()) {
            Some(Some(kind)) if kind != "classic" => {
                ClientError::NotClassic { group_id: group_id.into(), kind }
            }
            _ => ClientError::NoSuchGroup {
                group_id: group_id.into(),
                known: known.into_iter().map(|one| one.group_id).collect(),
            },
        }
    }
}

fn read(described: DescribedGroup) -> Result<GroupDescription, ClientError> {
    let consumers = *described.protocol_type == *"consumer";
    let mut members = BTreeMap::new();
    for one in described.members {
        let member_id = one.member_id.to_string();
        members.insert(member_id.clone(), read_member(&member_id, one, consumers)?);
    }
    Ok(GroupDescription {
        group_id: described.group_id.to_string(),
        state: GroupState::from_name(&described.group_state),
        protocol_type: described.protocol_type.to_string(),
        assignor: described.protocol_data.to_string(),
        members,
    })
}

fn read_member(
    member_id: &str,
    member: DescribedGroupMember,
    consumer: bool,
) -> Result<DescribedMember, ClientError> {
    let subscription = match &*member.member_metadata {
        bytes if consumer && !bytes.is_empty() => Some(MemberSubscription::decode(member_id, bytes)?),
        _ => None,
    };
    let assigned = match &*member.member_assignment {
        bytes if consumer && !bytes.is_empty() => MemberAssignment::decode(Mode::Shipped, bytes)?.partitions,
        _ => PartitionSet::new(),
    };
    Ok(DescribedMember {
        instance_id: member.group_instance_id.map(|id| id.to_string()),
        client_id: member.client_id.to_string(),
        // Java writes an address as "name/address", with an empty name.
        host: member.client_host.trim_start_matches('/').to_owned(),
        subscription,
        assigned,
    })
}
