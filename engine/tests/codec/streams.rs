//! User data of Kafka Streams.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use tenure::codec::Text;
use tenure::codec::message;
use tenure::codec::streams::{
    AssignmentInfo, AssignmentInfoFields, HostFields, SubscriptionInfo, SubscriptionInfoFields, Task, TaskId,
    TaskOffsetSum,
};

use crate::messages::to_json;
use crate::support::{bytes_of, hex, id, unhex, vectors};

fn number(value: &Value) -> i32 {
    value.as_i64().unwrap().try_into().unwrap()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn version(vector: &Value) -> i32 {
    number(&vector["version"])
}

/// The tasks of a value, in the form of any version; `input` has them as one list.
fn offset_sums(value: &Value) -> Vec<TaskOffsetSum<'_>> {
    let mut sums = Vec::new();
    let mut add = |subtopology: &Value, partition: &Value, topology: Option<&'_ Value>, sum: &Value| {
        sums.push((number(subtopology), number(partition), topology.cloned(), sum.as_i64().unwrap()));
    };
    for entry in list(&value["taskOffsetSums"]) {
        match entry.get("partitionToOffsetSum") {
            Some(group) => {
                for sum in list(group) {
                    add(&entry["topicGroupId"], &sum["partition"], None, &sum["offsetSum"]);
                }
            }
            None => add(
                &entry["topicGroupId"],
                &entry["partition"],
                entry.get("namedTopology"),
                &entry["offsetSum"],
            ),
        }
    }
    for task in list(&value["tasks"]) {
        add(&task[0], &task[1], Some(&task[2]), &task[3]);
    }
    sums.into_iter()
        .map(|(subtopology, partition, topology, offset_sum)| {
            let topology = topology.and_then(|name| name.as_str().map(str::to_owned));
            let topology = topology.map(|name| Text::from(&*name.leak()));
            TaskOffsetSum { task: TaskId { subtopology, partition, topology }, offset_sum }
        })
        .collect()
}

fn tasks(value: &Value) -> Vec<TaskId<'_>> {
    let task = |task: &Value| TaskId {
        subtopology: number(&task["topicGroupId"]),
        partition: number(&task["partition"]),
        topology: None,
    };
    list(value).iter().map(task).collect()
}

fn encode_subscription(value: &Value, version: i32) -> Result<Vec<u8>, tenure::codec::EncodeError> {
    let tag = |tag: &Value| (unhex(tag["key"].as_str().unwrap()), unhex(tag["value"].as_str().unwrap()));
    let tags: Vec<_> = list(&value["clientTags"]).iter().map(tag).collect();
    let tags: Vec<(&[u8], &[u8])> = tags.iter().map(|(key, value)| (&key[..], &value[..])).collect();
    let end_point = unhex(value["userEndPoint"].as_str().unwrap_or_default());
    let id = unhex(&value["processId"].as_str().unwrap().replace('-', ""));
    let fields = SubscriptionInfoFields {
        latest_supported_version: value.get("latestSupportedVersion").map_or(-1, number),
        process_id: id.try_into().unwrap(),
        prev_tasks: &tasks(&value["prevTasks"]),
        standby_tasks: &tasks(&value["standbyTasks"]),
        user_end_point: &end_point,
        offset_sums: &offset_sums(value),
        unique_field: value.get("uniqueField").map_or(0, number).try_into().unwrap(),
        error_code: value.get("errorCode").map_or(0, number),
        client_tags: &tags,
    };
    let bytes = fields.encode(version)?;
    assert_eq!(fields.encoded_len(version)?, bytes.len());
    Ok(bytes)
}

fn derived(info: &SubscriptionInfo<'_>) -> Value {
    let body = info.body.unwrap();
    let active: BTreeSet<String> = body.active_tasks().map(|task| task.to_string()).collect();
    let standby: BTreeSet<String> = body.standby_tasks().map(|task| task.to_string()).collect();
    json!({
        "prevTasks": active,
        "standbyTasks": standby,
        "userEndPoint": body.end_point().map(|text| text.to_str_lossy()),
    })
}

#[test]
fn subscription_info() {
    let table = message::format("streams-subscription-info").unwrap();
    let mut judged = 0;
    for vector in vectors("a4-streams-subscription.jsonl", 185) {
        if vector.get("encode_error").is_some() {
            assert!(encode_subscription(&vector["input"], version(&vector)).is_err(), "{}", id(&vector));
            judged += 1;
            continue;
        }
        let bytes = bytes_of(&vector).unwrap();
        let read = SubscriptionInfo::decode(&bytes);
        judged += 1;
        let Some(value) = vector.get("value").or_else(|| vector.get("decodes_to")) else {
            assert!(read.is_err(), "{}", id(&vector));
            continue;
        };
        let read = read.unwrap_or_else(|error| panic!("{}: {error}", id(&vector)));
        assert_eq!(to_json(&table.decode(&bytes, 0).unwrap().value), *value, "{}", id(&vector));
        assert_eq!(read.version, version(&vector));
        assert_eq!(read.latest_supported_version, value.get("latestSupportedVersion").map_or(-1, number));
        assert_eq!(read.body.is_none(), vector["body_unread"] == true, "{}", id(&vector));
        if let Some(expected) = vector.get("derived") {
            assert_eq!(derived(&read), *expected, "{}", id(&vector));
            let body = read.body.unwrap();
            let fields = SubscriptionInfoFields {
                latest_supported_version: read.latest_supported_version,
                process_id: body.process_id,
                prev_tasks: &body.prev_tasks.iter().collect::<Vec<_>>(),
                standby_tasks: &body.standby_tasks.iter().collect::<Vec<_>>(),
                user_end_point: body.user_end_point,
                offset_sums: &body.offset_sums.iter().collect::<Vec<_>>(),
                unique_field: body.unique_field,
                error_code: body.error_code,
                client_tags: &body.client_tags.iter().collect::<Vec<_>>(),
            };
            let written = fields.encode(read.version).unwrap();
            let again = to_json(&table.decode(&written, 0).unwrap().value);
            assert_eq!(again, *value, "{}: read and written again", id(&vector));
            judged += 1;
        }
        if vector.get("value").is_some() {
            let written = encode_subscription(value, version(&vector)).unwrap();
            assert_eq!(hex(&written), hex(&bytes), "{}", id(&vector));
            judged += 1;
        }
    }
    assert_eq!(judged, 185 + 63 + 39);
}

fn task_json(task: &Task) -> Value {
    json!([task.subtopology, task.partition, task.topology])
}

fn hosts_json(hosts: &[HostFields]) -> Value {
    hosts.iter().map(|host| json!([host.host, host.port, host.partitions])).collect()
}

fn assignment_json(info: &AssignmentInfo<'_>) -> Value {
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
    if info.version >= 5 {
        value["topicDictionary"] = json!(fields.topic_dictionary);
    }
    value
}

fn assignment_fields(value: &Value) -> AssignmentInfoFields {
    let task = |task: &Value| Task {
        subtopology: number(&task[0]),
        partition: number(&task[1]),
        topology: task[2].as_str().map(str::to_owned),
    };
    let named = |pair: &Value| (pair[0].as_str().unwrap().to_owned(), number(&pair[1]));
    let host = |host: &Value| HostFields {
        host: host[0].as_str().unwrap().to_owned(),
        port: number(&host[1]),
        partitions: list(&host[2])
            .iter()
            .map(|pair| (pair[0].as_str().map(str::to_owned), number(&pair[1])))
            .collect(),
    };
    AssignmentInfoFields {
        commonly_supported_version: number(&value["commonlySupportedVersion"]),
        active_tasks: list(&value["activeTasks"]).iter().map(task).collect(),
        standby_tasks: list(&value["standbyTasks"])
            .iter()
            .map(|entry| (task(&entry[0]), list(&entry[1]).iter().map(named).collect()))
            .collect(),
        partitions_by_host: list(&value["partitionsByHost"]).iter().map(host).collect(),
        standby_partitions_by_host: list(&value["standbyPartitionsByHost"]).iter().map(host).collect(),
        topic_dictionary: list(&value["topicDictionary"])
            .iter()
            .map(|entry| (number(&entry[0]), entry[1].as_str().unwrap().to_owned()))
            .collect(),
        err_code: number(&value["errCode"]),
        next_rebalance_ms: value["nextRebalanceMs"].as_i64().unwrap_or(i64::MAX),
    }
}

/// Sets and maps in one order, so that they compare without.
fn sorted(mut value: Value) -> Value {
    for key in ["standbyTasks", "partitionsByHost", "standbyPartitionsByHost"] {
        let items = value[key].as_array_mut().unwrap();
        for item in items.iter_mut() {
            let partitions = item.as_array_mut().unwrap().last_mut().unwrap();
            partitions.as_array_mut().unwrap().sort_by_key(Value::to_string);
        }
        items.sort_by_key(Value::to_string);
    }
    value
}

#[test]
fn assignment_info() {
    let mut judged = 0;
    for vector in vectors("a4-streams-assignment.jsonl", 217) {
        judged += 1;
        if vector.get("encode_error").is_some() {
            let fields = assignment_fields(&vector["input"]);
            assert!(fields.encode(version(&vector)).is_err(), "{}", id(&vector));
            continue;
        }
        let bytes = bytes_of(&vector).unwrap();
        let read = AssignmentInfo::decode(&bytes);
        let Some(value) = vector.get("value").or_else(|| vector.get("decodes_to")) else {
            assert!(read.is_err(), "{}: {read:?}", id(&vector));
            continue;
        };
        let mut seen = assignment_json(&read.unwrap_or_else(|error| panic!("{}: {error}", id(&vector))));
        if vector.get("value").is_some() {
            // Wire order throughout, the dictionary included.
            assert_eq!(seen, *value, "{}", id(&vector));
            let fields = assignment_fields(value);
            let written = fields.encode(version(&vector)).unwrap();
            assert_eq!(hex(&written), hex(&bytes), "{}", id(&vector));
            assert_eq!(fields.encoded_len(version(&vector)).unwrap(), bytes.len());
            assert_eq!(read.unwrap().to_fields().encode(version(&vector)).unwrap(), bytes, "{}", id(&vector));
            judged += 2;
        } else {
            seen.as_object_mut().unwrap().remove("topicDictionary");
            assert_eq!(sorted(seen), sorted(value.clone()), "{}", id(&vector));
        }
    }
    assert_eq!(judged, 217 + 2 * 31);
}

/// KAFKA-7149: from version 5 on each topic is named once.
#[test]
fn the_dictionary_shortens_an_assignment_by_the_repeated_names() {
    let host = |index: i32| HostFields {
        host: format!("host-{index}"),
        port: 8080,
        partitions: (0..100).map(|partition| (Some("a-topic-with-a-long-name".into()), partition)).collect(),
    };
    let fields =
        AssignmentInfoFields { partitions_by_host: (0..10).map(host).collect(), ..Default::default() };
    let before = fields.encoded_len(4).unwrap();
    let after = fields.encoded_len(5).unwrap();
    // 1,000 names of 2 + 24 bytes become 1,000 indices of four, one entry of 4 + 26 and a count.
    assert_eq!((before, after), (30_184, 30_184 - 1_000 * 22 + 34));
    let bytes = fields.encode(5).unwrap();
    let read = AssignmentInfo::decode(&bytes).unwrap().to_fields();
    assert_eq!(read.partitions_by_host, fields.partitions_by_host);
}

/// The table and the reader of its own agree on what is an assignment, except for Streams' bound on counts.
#[test]
fn the_table_reads_assignments_too() {
    let table = message::format("streams-assignment-info").unwrap();
    let mut agreed = 0;
    for vector in vectors("a4-streams-assignment.jsonl", 217) {
        let Some(bytes) = bytes_of(&vector) else { continue };
        match AssignmentInfo::decode(&bytes) {
            Ok(_) => assert!(table.decode(&bytes, 0).is_ok(), "{}", id(&vector)),
            Err(_) => assert!(table.decode(&bytes, 0).is_err(), "{}", id(&vector)),
        }
        agreed += 1;
    }
    assert_eq!(agreed, 214);
}
