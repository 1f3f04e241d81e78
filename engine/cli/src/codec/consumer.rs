//! Subscriptions and assignments, shipped and drafted.

use serde_json::{Map, Value, json};
use tenure::codec::consumer::{
    AssignmentErrorCode, AssignmentFields, Blocks, DraftAssignment, DraftAssignmentFields, NEWEST_VERSION,
};
use tenure::codec::{Assignment, History, Subscription, SubscriptionFields};

use super::compact::owned_json;
use super::parse::{At, BlockList};
use super::{CodecFailure, Seen, hex};

/// Blocks as in the vectors.
pub(super) fn blocks_json(blocks: Blocks<'_>) -> Value {
    let block = |block: tenure::codec::Block<'_>| {
        let partitions: Vec<i32> = block.partitions.iter().collect();
        json!({"topic": block.topic.to_str_lossy(), "partitions": partitions})
    };
    blocks.iter().map(block).collect()
}

/// The version to write, from the line or the command.
pub(super) fn version_of(
    version: Option<i32>,
    format: &'static str,
    versions: (i16, i16),
) -> Result<i16, CodecFailure> {
    let version = version.ok_or(CodecFailure::VersionNeeded { format, versions })?;
    // A version of more bits is as unknown as any other; the writer says so.
    Ok(i16::try_from(version).unwrap_or(if version < 0 { i16::MIN } else { i16::MAX }))
}

pub(super) fn decode_subscription(bytes: &[u8], assignor: Option<&str>) -> Result<Seen, CodecFailure> {
    let subscription = Subscription::decode(bytes)?;
    let topics: Vec<_> = subscription.topics.iter().map(|topic| topic.to_str_lossy()).collect();
    let value = json!({
        "topics": topics,
        "userData": subscription.user_data.map(hex),
        "ownedPartitions": blocks_json(subscription.owned),
        "generationId": subscription.generation.unwrap_or(-1),
        "rackId": subscription.rack.map(|rack| rack.to_str_lossy()),
    });
    let mut beside = Map::new();
    if let Some(assignor) = assignor {
        let history = History::of(&subscription, assignor);
        let mut owned = blocks_json(history.owned);
        if let (Some(compact), Some(list)) = (history.compact, owned.as_array_mut()) {
            list.extend(owned_json(&compact)?);
        }
        let unreadable = history.unreadable.map(|error| CodecFailure::from(error).to_json());
        beside.insert(
            "history".into(),
            json!({
                "owned": owned,
                "generation": history.generation,
                "unreadable": unreadable,
            }),
        );
    }
    Ok(Seen { value, beside })
}

pub(super) fn encode_subscription(version: Option<i32>, value: &Value) -> Result<Vec<u8>, CodecFailure> {
    let version = version_of(version, "consumer-subscription", (0, NEWEST_VERSION))?;
    let at = At::top(value);
    at.object(&["topics", "userData", "ownedPartitions", "generationId", "rackId"])?;
    let topics = at.get("topics").items()?.map(|item| item.text()).collect::<Result<Vec<_>, _>>()?;
    let owned = BlockList::read(&at.get("ownedPartitions"))?;
    let user_data = at.get("userData").nullable(At::bytes)?;
    let fields = SubscriptionFields {
        topics: &topics,
        user_data: user_data.as_deref(),
        owned: &owned.fields(),
        generation: at.get("generationId").nullable(At::i32)?,
        rack: at.get("rackId").nullable(At::text)?,
    };
    Ok(fields.encode(version)?)
}

pub(super) fn decode_assignment(bytes: &[u8], may_be_empty: bool) -> Result<Seen, CodecFailure> {
    let assignment =
        if may_be_empty { Assignment::decode(bytes)? } else { Assignment::decode_nonempty(bytes)? };
    let value = json!({
        "assignedPartitions": blocks_json(assignment.assigned),
        "userData": assignment.user_data.map(hex),
    });
    Ok(Seen { value, beside: Map::new() })
}

/// The partitions of an assignment, under either name that the vectors have for them.
fn assigned<'v>(at: &At<'v>) -> Result<BlockList<'v>, CodecFailure> {
    let list = at.get("assignedPartitions");
    BlockList::read(&if list.is_null() { at.get("partitions") } else { list })
}

pub(super) fn encode_assignment(version: Option<i32>, value: &Value) -> Result<Vec<u8>, CodecFailure> {
    let version = version_of(version, "consumer-assignment", (0, NEWEST_VERSION))?;
    let at = At::top(value);
    at.object(&["assignedPartitions", "partitions", "userData"])?;
    let assigned = assigned(&at)?;
    let user_data = at.get("userData").nullable(At::bytes)?;
    let fields = AssignmentFields { assigned: &assigned.fields(), user_data: user_data.as_deref() };
    Ok(fields.encode(version)?)
}

pub(super) fn decode_draft(bytes: &[u8]) -> Result<Seen, CodecFailure> {
    let assignment = DraftAssignment::decode(bytes)?;
    let value = json!({
        "assignedPartitions": blocks_json(assignment.assigned),
        "userData": assignment.user_data.map(hex),
        "error": assignment.error.name(),
    });
    Ok(Seen { value, beside: Map::new() })
}

pub(super) fn encode_draft(version: Option<i32>, value: &Value) -> Result<Vec<u8>, CodecFailure> {
    let version = version_of(version, "consumer-assignment-draft", (0, 1))?;
    let at = At::top(value);
    at.object(&["assignedPartitions", "partitions", "userData", "error"])?;
    let assigned = assigned(&at)?;
    let user_data = at.get("userData").nullable(At::bytes)?;
    let error = match at.get("error").nullable(At::text)? {
        None | Some("NONE") => AssignmentErrorCode::None,
        Some("NEED_REJOIN") => AssignmentErrorCode::NeedRejoin,
        Some(_) => return Err(at.get("error").wrong("NONE or NEED_REJOIN")),
    };
    let fields =
        DraftAssignmentFields { assigned: &assigned.fields(), user_data: user_data.as_deref(), error };
    Ok(fields.encode(version)?)
}
