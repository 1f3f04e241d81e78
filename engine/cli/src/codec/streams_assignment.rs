//! What the leader of a Streams group tells an instance.

use serde_json::{Map, Value, json};
use tenure::codec::streams::{AssignmentInfo, AssignmentInfoFields, HostFields, NEWEST_VERSION, Task};

use super::parse::At;
use super::{CodecFailure, Seen};

pub(super) fn decode(bytes: &[u8]) -> Result<Seen, CodecFailure> {
    let info = AssignmentInfo::decode(bytes)?;
    let fields = info.to_fields();
    let standby = fields.standby_tasks.iter();
    let mut value = json!({
        "version": info.version,
        "commonlySupportedVersion": fields.commonly_supported_version,
        "activeTasks": fields.active_tasks.iter().map(task_json).collect::<Vec<_>>(),
        "standbyTasks": standby.map(|(task, partitions)| json!([task_json(task), partitions])).collect::<Vec<_>>(),
        "partitionsByHost": hosts_json(&fields.partitions_by_host),
        "standbyPartitionsByHost": hosts_json(&fields.standby_partitions_by_host),
        "errCode": fields.err_code,
        "nextRebalanceMs": fields.next_rebalance_ms,
    });
    if let (true, Some(object)) = (info.version >= 5, value.as_object_mut()) {
        object.insert("topicDictionary".into(), json!(fields.topic_dictionary));
    }
    Ok(Seen { value, beside: Map::new() })
}

fn task_json(task: &Task) -> Value {
    json!([task.subtopology, task.partition, task.topology])
}

fn hosts_json(hosts: &[HostFields]) -> Value {
    hosts.iter().map(|host| json!([host.host, host.port, host.partitions])).collect()
}

const KEYS: [&str; 9] = [
    "version",
    "commonlySupportedVersion",
    "activeTasks",
    "standbyTasks",
    "partitionsByHost",
    "standbyPartitionsByHost",
    "topicDictionary",
    "errCode",
    "nextRebalanceMs",
];

pub(super) fn encode(version: Option<i32>, value: &Value) -> Result<Vec<u8>, CodecFailure> {
    let at = At::top(value);
    at.object(&KEYS)?;
    let version = match (version, at.get("version").nullable(At::i32)?) {
        (Some(version), _) | (None, Some(version)) => version,
        (None, None) => {
            let versions = (1, i16::try_from(NEWEST_VERSION).unwrap_or(i16::MAX));
            return Err(CodecFailure::VersionNeeded { format: "streams-assignment-info", versions });
        }
    };
    let list = |key: &str| at.get(key).nullable(At::items).map(|items| items.into_iter().flatten());
    let fields = AssignmentInfoFields {
        commonly_supported_version: at
            .get("commonlySupportedVersion")
            .nullable(At::i32)?
            .unwrap_or(NEWEST_VERSION),
        active_tasks: list("activeTasks")?.map(|item| task(&item)).collect::<Result<_, _>>()?,
        standby_tasks: list("standbyTasks")?.map(|item| standby(&item)).collect::<Result<_, _>>()?,
        partitions_by_host: list("partitionsByHost")?.map(|item| host(&item)).collect::<Result<_, _>>()?,
        standby_partitions_by_host: list("standbyPartitionsByHost")?
            .map(|item| host(&item))
            .collect::<Result<_, _>>()?,
        topic_dictionary: list("topicDictionary")?
            .map(|item| {
                let [index, topic] = item.tuple("an [index, topic] pair")?;
                Ok((index.i32()?, topic.text()?.to_owned()))
            })
            .collect::<Result<_, CodecFailure>>()?,
        err_code: at.get("errCode").nullable(At::i32)?.unwrap_or(0),
        next_rebalance_ms: at.get("nextRebalanceMs").nullable(At::i64)?.unwrap_or(i64::MAX),
    };
    Ok(fields.encode(version)?)
}

fn task(at: &At<'_>) -> Result<Task, CodecFailure> {
    let [subtopology, partition, topology] = at.tuple("[subtopology, partition, topology name or null]")?;
    Ok(Task {
        subtopology: subtopology.i32()?,
        partition: partition.i32()?,
        topology: topology.nullable(At::text)?.map(str::to_owned),
    })
}

fn standby(at: &At<'_>) -> Result<(Task, Vec<(String, i32)>), CodecFailure> {
    let [owner, partitions] = at.tuple("[task, partitions]")?;
    let pair = |item: At<'_>| {
        let [topic, partition] = item.tuple("a [topic, partition] pair")?;
        Ok((topic.text()?.to_owned(), partition.i32()?))
    };
    Ok((task(&owner)?, partitions.items()?.map(pair).collect::<Result<_, CodecFailure>>()?))
}

fn host(at: &At<'_>) -> Result<HostFields, CodecFailure> {
    let [host, port, partitions] = at.tuple("[host, port, partitions]")?;
    let pair = |item: At<'_>| {
        let [topic, partition] = item.tuple("a [topic, partition] pair")?;
        Ok((topic.nullable(At::text)?.map(str::to_owned), partition.i32()?))
    };
    Ok(HostFields {
        host: host.text()?.to_owned(),
        port: port.i32()?,
        partitions: partitions.items()?.map(pair).collect::<Result<_, CodecFailure>>()?,
    })
}
