//! Subscriptions and assignments, shipped and drafted.

use serde_json::{Value, json};
use tenure::codec::consumer::{AssignmentErrorCode, DraftAssignment, DraftAssignmentFields};
use tenure::codec::{
    Assignment, AssignmentFields, AssignmentWriter, DecodeError, EncodeError, Names, Subscription,
    SubscriptionFields,
};

use crate::support::{OwnedBlocks, blocks_json, bytes_of, expected, hex, id, unhex, vectors, version};

fn subscription_json(bytes: &[u8]) -> Result<Value, DecodeError> {
    let subscription = Subscription::decode(bytes)?;
    let topics: Vec<_> = subscription.topics.iter().map(|topic| topic.to_str_lossy()).collect();
    Ok(json!({
        "topics": topics,
        "userData": subscription.user_data.map(hex),
        "ownedPartitions": blocks_json(subscription.owned),
        "generationId": subscription.generation.unwrap_or(-1),
        "rackId": subscription.rack.map(|rack| rack.to_str_lossy()),
    }))
}

fn encode_subscription(value: &Value, version: i16) -> Result<Vec<u8>, EncodeError> {
    let topics: Vec<&str> =
        value["topics"].as_array().unwrap().iter().map(|topic| topic.as_str().unwrap()).collect();
    let owned = OwnedBlocks::from_json(&value["ownedPartitions"]);
    let user_data = value["userData"].as_str().map(unhex);
    let fields = SubscriptionFields {
        topics: &topics,
        user_data: user_data.as_deref(),
        owned: &owned.fields(),
        generation: value["generationId"].as_i64().map(|generation| i32::try_from(generation).unwrap()),
        rack: value["rackId"].as_str(),
    };
    let bytes = fields.encode(version)?;
    assert_eq!(fields.encoded_len(version)?, bytes.len());
    let mut buffer = vec![0xaa; bytes.len() + 3];
    assert_eq!(fields.encode_into(version, &mut buffer)?, bytes.len());
    assert_eq!(&buffer[..bytes.len()], bytes);
    assert_eq!(&buffer[bytes.len()..], [0xaa; 3]);
    let mut short = vec![0xaa; bytes.len() - 1];
    assert!(fields.encode_into(version, &mut short).is_err());
    assert!(short.iter().all(|&byte| byte == 0xaa), "a buffer too small is left as it was");
    Ok(bytes)
}

fn assignment_json(bytes: &[u8]) -> Result<Value, DecodeError> {
    let assignment = Assignment::decode_nonempty(bytes)?;
    Ok(json!({
        "assignedPartitions": blocks_json(assignment.assigned),
        "userData": assignment.user_data.map(hex),
    }))
}

fn encode_assignment(value: &Value, version: i16) -> Result<Vec<u8>, EncodeError> {
    let list = value.get("assignedPartitions").unwrap_or(&value["partitions"]);
    let assigned = OwnedBlocks::from_json(list);
    let user_data = value["userData"].as_str().map(unhex);
    let fields = AssignmentFields { assigned: &assigned.fields(), user_data: user_data.as_deref() };
    let bytes = fields.encode(version)?;
    assert_eq!(fields.encoded_len(version)?, bytes.len());
    if list[0].is_object() {
        let mut streamed = b"front".to_vec();
        let mut writer = AssignmentWriter::begin(&mut streamed, version)?;
        for block in assigned.fields() {
            writer.topic(block.topic)?;
            writer.partitions(block.partitions.iter().copied());
        }
        assert_eq!(writer.finish(user_data.as_deref())?, bytes.len());
        assert_eq!(streamed, [&b"front"[..], &bytes].concat(), "written piece by piece");
    }
    Ok(bytes)
}

fn draft_json(bytes: &[u8]) -> Result<Value, DecodeError> {
    let assignment = DraftAssignment::decode(bytes)?;
    Ok(json!({
        "assignedPartitions": blocks_json(assignment.assigned),
        "userData": assignment.user_data.map(hex),
        "error": assignment.error.name(),
    }))
}

fn encode_draft(value: &Value, version: i16) -> Result<Vec<u8>, EncodeError> {
    let assigned = OwnedBlocks::from_json(&value["assignedPartitions"]);
    let user_data = value["userData"].as_str().map(unhex);
    let error = match value["error"].as_str() {
        Some("NEED_REJOIN") => AssignmentErrorCode::NeedRejoin,
        _ => AssignmentErrorCode::None,
    };
    let fields =
        DraftAssignmentFields { assigned: &assigned.fields(), user_data: user_data.as_deref(), error };
    let bytes = fields.encode(version)?;
    assert_eq!(fields.encoded_len(version)?, bytes.len());
    Ok(bytes)
}

type Decode = fn(&[u8]) -> Result<Value, DecodeError>;
type Encode = fn(&Value, i16) -> Result<Vec<u8>, EncodeError>;

/// Judges one vector in every direction it has and returns the number of directions.
fn judge(vector: &Value, decode: Decode, encode: Encode) -> usize {
    let mut judged = 0;
    if let Some(bytes) = bytes_of(vector) {
        let read = decode(&bytes);
        match expected(vector) {
            Some(value) => assert_eq!(read, Ok(value), "{}", id(vector)),
            None => assert!(read.is_err(), "{}: {read:?}", id(vector)),
        }
        judged += 1;
    }
    if vector.get("encode_error").is_some() {
        assert!(encode(&vector["input"], version(vector)).is_err(), "{}", id(vector));
        return judged + 1;
    }
    for source in ["value", "input"] {
        if let Some(value) = vector.get(source) {
            let bytes = encode(value, version(vector)).unwrap();
            assert_eq!(hex(&bytes), vector["bytes"].as_str().unwrap(), "{} from {source}", id(vector));
            judged += 1;
        }
    }
    judged
}

fn judge_file(file: &str, count: usize, directions: usize, decode: Decode, encode: Encode) {
    let judged: usize = vectors(file, count).iter().map(|vector| judge(vector, decode, encode)).sum();
    assert_eq!(judged, directions, "{file}: directions judged");
}

#[test]
fn subscriptions() {
    judge_file("a1-subscription.jsonl", 254, 343, subscription_json, encode_subscription);
}

#[test]
fn assignments() {
    judge_file("a2-assignment.jsonl", 139, 183, assignment_json, encode_assignment);
}

#[test]
fn drafted_assignments() {
    judge_file("a2-assignment-draft.jsonl", 37, 50, draft_json, encode_draft);
}

#[test]
fn large_lists_are_read_when_their_bytes_are_there() {
    let mut judged = 0;
    for vector in vectors("large.jsonl", 13) {
        judged += match vector["format"].as_str().unwrap() {
            "consumer-subscription" => judge(&vector, subscription_json, encode_subscription),
            "consumer-assignment" => judge(&vector, assignment_json, encode_assignment),
            _ => 0,
        };
    }
    assert_eq!(judged, 10);
}

#[test]
fn topics_are_compared_with_the_previous_member_and_read_the_same() {
    let mut previous = Vec::new();
    let mut same_lists = 0;
    for vector in vectors("a1-subscription.jsonl", 254) {
        let Some(bytes) = bytes_of(&vector) else { continue };
        let hint =
            Subscription::decode(&previous).map_or(Names::default(), |subscription| subscription.topics);
        let alike = Subscription::decode_like(&bytes, hint);
        let plain = Subscription::decode(&bytes);
        assert_eq!(alike.map(|(subscription, _)| subscription), plain, "{}", id(&vector));
        if let Ok((subscription, same)) = alike {
            assert_eq!(same, subscription.topics == hint, "{}", id(&vector));
            same_lists += usize::from(same);
            previous = bytes;
        }
    }
    assert!(same_lists > 50, "{same_lists}");
}

#[test]
fn a_version_outside_the_known_ones_is_not_written() {
    for version in [-1, 4, i16::MAX] {
        assert!(SubscriptionFields::default().encode(version).is_err());
        assert!(AssignmentFields::default().encode(version).is_err());
        assert!(AssignmentWriter::begin(&mut Vec::new(), version).is_err());
    }
    assert!(DraftAssignmentFields::default().encode(2).is_err());
}
