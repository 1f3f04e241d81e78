//! What a Streams instance tells the leader.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};
use tenure::codec::Text;
use tenure::codec::message;
use tenure::codec::streams::{
    NEWEST_VERSION, SubscriptionBody, SubscriptionInfo, SubscriptionInfoFields, TaskId, TaskOffsetSum,
};

use super::messages::struct_json;
use super::parse::At;
use super::{CodecFailure, Seen};

pub(super) fn decode(bytes: &[u8]) -> Result<Seen, CodecFailure> {
    let info = SubscriptionInfo::decode(bytes)?;
    let table = message::format("streams-subscription-info")
        .ok_or_else(|| CodecFailure::UnknownFormat("streams-subscription-info".into()))?;
    let value = struct_json(&table.decode(bytes, 0)?.value);
    let mut beside = Map::new();
    match &info.body {
        Some(body) => beside.insert("derived".into(), derived(body)),
        None => beside.insert("body_unread".into(), json!(true)),
    };
    Ok(Seen { value, beside })
}

fn derived(body: &SubscriptionBody<'_>) -> Value {
    let names = |tasks: &mut dyn Iterator<Item = TaskId<'_>>| {
        tasks.map(|task| task.to_string()).collect::<BTreeSet<_>>()
    };
    json!({
        "prevTasks": names(&mut body.active_tasks()),
        "standbyTasks": names(&mut body.standby_tasks()),
        "userEndPoint": body.end_point().map(|text| text.to_str_lossy()),
    })
}

/// The keys of the written form, and of the form that Java is given (`tasks`).
const KEYS: [&str; 11] = [
    "version",
    "latestSupportedVersion",
    "processId",
    "prevTasks",
    "standbyTasks",
    "userEndPoint",
    "taskOffsetSums",
    "tasks",
    "uniqueField",
    "errorCode",
    "clientTags",
];

pub(super) fn encode(version: Option<i32>, value: &Value) -> Result<Vec<u8>, CodecFailure> {
    let at = At::top(value);
    at.object(&KEYS)?;
    let version = match (version, at.get("version").nullable(At::i32)?) {
        (Some(version), _) | (None, Some(version)) => version,
        (None, None) => {
            let versions = (1, i16::try_from(NEWEST_VERSION).unwrap_or(i16::MAX));
            return Err(CodecFailure::VersionNeeded { format: "streams-subscription-info", versions });
        }
    };
    let sums = offset_sums(&at)?;
    let (mut prev_tasks, mut standby_tasks) = (tasks(&at.get("prevTasks"))?, tasks(&at.get("standbyTasks"))?);
    if !at.get("tasks").is_null() {
        // One list for all versions: an active task has the offset sum -2.
        prev_tasks = sums.iter().filter(|sum| sum.offset_sum == -2).map(|sum| sum.task).collect();
        standby_tasks = sums.iter().filter(|sum| sum.offset_sum != -2).map(|sum| sum.task).collect();
    }
    let mut tags = Vec::new();
    for item in at.get("clientTags").nullable(At::items)?.into_iter().flatten() {
        item.object(&["key", "value"])?;
        tags.push((item.get("key").bytes()?, item.get("value").bytes()?));
    }
    let tags: Vec<(&[u8], &[u8])> = tags.iter().map(|(key, value)| (&key[..], &value[..])).collect();
    let end_point = end_point(&at.get("userEndPoint"))?;
    let fields = SubscriptionInfoFields {
        latest_supported_version: at
            .get("latestSupportedVersion")
            .nullable(At::i32)?
            .unwrap_or(NEWEST_VERSION),
        process_id: at.get("processId").uuid()?,
        prev_tasks: &prev_tasks,
        standby_tasks: &standby_tasks,
        user_end_point: &end_point,
        offset_sums: &sums,
        unique_field: match at.get("uniqueField").nullable(At::i32)? {
            Some(number) => {
                i8::try_from(number).map_err(|_| at.get("uniqueField").wrong("a whole number of 8 bits"))?
            }
            None => 0,
        },
        error_code: at.get("errorCode").nullable(At::i32)?.unwrap_or(0),
        client_tags: &tags,
    };
    Ok(fields.encode(version)?)
}

/// Bytes in the written form; in the form that Java is given, text such as `host:port`.
fn end_point(at: &At<'_>) -> Result<Vec<u8>, CodecFailure> {
    match at.nullable(At::text)? {
        Some(text) if text.contains(':') => Ok(text.as_bytes().to_vec()),
        Some(_) => at.bytes(),
        None => Ok(Vec::new()),
    }
}

fn tasks<'v>(at: &At<'v>) -> Result<Vec<TaskId<'v>>, CodecFailure> {
    let mut tasks = Vec::new();
    for item in at.nullable(At::items)?.into_iter().flatten() {
        item.object(&["topicGroupId", "partition"])?;
        tasks.push(TaskId {
            subtopology: item.get("topicGroupId").i32()?,
            partition: item.get("partition").i32()?,
            topology: None,
        });
    }
    Ok(tasks)
}

fn offset_sums<'v>(at: &At<'v>) -> Result<Vec<TaskOffsetSum<'v>>, CodecFailure> {
    let mut sums = Vec::new();
    let mut push = |subtopology: At<'_>, partition: At<'_>, topology: Option<&'v str>, sum: At<'_>| {
        let task = TaskId {
            subtopology: subtopology.i32()?,
            partition: partition.i32()?,
            topology: topology.map(Text::from),
        };
        sums.push(TaskOffsetSum { task, offset_sum: sum.i64()? });
        Ok::<(), CodecFailure>(())
    };
    for item in at.get("taskOffsetSums").nullable(At::items)?.into_iter().flatten() {
        item.object(&["topicGroupId", "partition", "offsetSum", "namedTopology", "partitionToOffsetSum"])?;
        let group = item.get("partitionToOffsetSum");
        if group.is_null() {
            let topology = item.get("namedTopology").nullable(At::text)?;
            push(item.get("topicGroupId"), item.get("partition"), topology, item.get("offsetSum"))?;
            continue;
        }
        for sum in group.items()? {
            sum.object(&["partition", "offsetSum"])?;
            push(item.get("topicGroupId"), sum.get("partition"), None, sum.get("offsetSum"))?;
        }
    }
    for item in at.get("tasks").nullable(At::items)?.into_iter().flatten() {
        let [subtopology, partition, topology, sum] =
            item.tuple("[subtopology, partition, topology, offset sum]")?;
        let topology = topology.nullable(At::text)?;
        push(subtopology, partition, topology, sum)?;
    }
    Ok(sums)
}
