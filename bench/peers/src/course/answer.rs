//! Answers as a record has them: ids by their owners' names, texts for bytes, what says nothing left out.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use tenure::protocol::error::ErrorCode;
use tenure::protocol::message::{
    JoinGroupResponse, NO_GENERATION, OffsetCommitResponse, Response, SyncGroupResponse,
};

use super::player::Stage;

/// What stands for the leader where the released broker leaves it to a hash of random ids.
const ANY_MEMBER: &str = "any member";

pub(super) fn answer(stage: &Stage<'_>, client: &str, response: &Response) -> Value {
    let (name, mut fields) = match response {
        Response::JoinGroup(joined) => ("JoinGroup", join(stage, client, joined)),
        Response::SyncGroup(synced) => ("SyncGroup", sync(synced)),
        Response::Heartbeat(beat) => ("Heartbeat", error(beat.error)),
        Response::LeaveGroup(left) => {
            let mut fields = error(left.error);
            let members = left.members.iter().map(|one| {
                let mut member = error(one.error);
                member.insert("member".into(), named(stage, &one.member_id).into());
                if let Some(instance) = &one.group_instance_id {
                    member.insert("instance".into(), instance.clone().into());
                }
                Value::Object(member)
            });
            fields.insert("members".into(), members.collect());
            ("LeaveGroup", fields)
        }
        Response::OffsetCommit(committed) => ("OffsetCommit", commit(committed)),
        Response::TxnOffsetCommit(committed) => ("TxnOffsetCommit", commit(committed)),
        Response::OffsetFetch(fetched) => {
            let mut fields = error(fetched.error);
            for one in &fetched.partitions {
                let offset = one.committed.as_ref().map(|committed| committed.offset);
                let value = if one.error.is_error() { one.error.name().into() } else { json!(offset) };
                fields.insert(one.partition.to_string(), value);
            }
            ("OffsetFetch", fields)
        }
        Response::InitProducerId(given) => {
            let mut fields = error(given.error);
            fields.insert("epoch".into(), given.producer_epoch.into());
            ("InitProducerId", fields)
        }
        Response::AddPartitionsToTxn(added) => ("AddPartitionsToTxn", error(added.error)),
        Response::AddOffsetsToTxn(added) => ("AddOffsetsToTxn", error(added.error)),
        Response::EndTxn(ended) => ("EndTxn", error(ended.error)),
        other => ("?", Map::from_iter([("debug".into(), format!("{other:?}").into())])),
    };
    fields.insert("to".into(), client.into());
    fields.insert("answer".into(), name.into());
    Value::Object(fields)
}

pub(super) fn state(stage: &Stage<'_>, phase: &str, members: &BTreeMap<String, Vec<u8>>) -> Value {
    let members = members.iter().map(|(id, assignment)| (named(stage, id), text(assignment).into()));
    json!({ "phase": phase, "members": Value::Object(members.collect()) })
}

fn join(stage: &Stage<'_>, client: &str, joined: &JoinGroupResponse) -> Map<String, Value> {
    let mut fields = error(joined.error);
    fields.insert("member".into(), named(stage, &joined.member_id).into());
    if joined.generation_id != NO_GENERATION {
        fields.insert("generation".into(), joined.generation_id.into());
    }
    // Only versions from 7 on have room for the type.
    let version = stage.profile(client).version;
    if let Some(protocol_type) = joined.protocol_type.as_ref().filter(|_| version >= 7) {
        fields.insert("type".into(), protocol_type.clone().into());
    }
    if let Some(protocol) = &joined.protocol_name {
        fields.insert("protocol".into(), protocol.clone().into());
    }
    if joined.skip_assignment {
        fields.insert("skip_assignment".into(), true.into());
    }
    if joined.leader.is_empty() {
        return fields;
    }
    if stage.course.leader_is_open && stage.names.contains_key(&joined.leader) {
        fields.insert("leader".into(), ANY_MEMBER.into());
        return fields;
    }
    fields.insert("leader".into(), named(stage, &joined.leader).into());
    let members = joined.members.iter().map(|one| {
        let instance = one.group_instance_id.as_ref().map(|name| format!(" as {name}")).unwrap_or_default();
        (named(stage, &one.member_id), format!("{}{instance}", text(&one.metadata)).into())
    });
    let members: Map<String, Value> = members.collect();
    if !members.is_empty() {
        fields.insert("members".into(), Value::Object(members));
    }
    fields
}

fn sync(synced: &SyncGroupResponse) -> Map<String, Value> {
    let mut fields = error(synced.error);
    if synced.error.is_none() {
        fields.insert("assignment".into(), text(&synced.assignment).into());
    }
    if let Some(protocol_type) = &synced.protocol_type {
        fields.insert("type".into(), protocol_type.clone().into());
    }
    if let Some(protocol) = &synced.protocol_name {
        fields.insert("protocol".into(), protocol.clone().into());
    }
    fields
}

fn commit(committed: &OffsetCommitResponse) -> Map<String, Value> {
    committed.partitions.iter().map(|(partition, code)| (partition.to_string(), code.name().into())).collect()
}

fn error(code: ErrorCode) -> Map<String, Value> {
    let name = match code {
        ErrorCode::Other(number) => number.to_string(),
        named => named.name().to_owned(),
    };
    Map::from_iter([("error".into(), name.into())])
}

/// An id by the name of the client that was given it first. Of one that no client has heard of yet, the part that is
/// the same in every run.
fn named(stage: &Stage<'_>, id: &str) -> String {
    match (stage.names.get(id), id.split_once('-')) {
        (Some(name), _) => name.clone(),
        (None, Some((prefix, _))) => format!("{prefix}-…"),
        (None, None) => id.to_owned(),
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
