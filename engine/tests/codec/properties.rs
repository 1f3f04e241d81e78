//! What must hold for any bytes and any values, format by format.
//!
//! The fuzz targets and the replay of their corpora share these functions. Each takes the fuzzer's
//! bytes twice: as bytes of the wire, and as the seed of a value.

use arbitrary::{Arbitrary, Result, Unstructured};
use tenure::codec::consumer::{AssignmentErrorCode, DraftAssignment, DraftAssignmentFields};
use tenure::codec::message::{self, Decoded, Field, Format, Kind, Prefix, Struct};
use tenure::codec::sticky::{cooperative_generation, encode_cooperative};
use tenure::codec::streams::{
    AssignmentInfo, AssignmentInfoFields, HostFields, SubscriptionInfo, SubscriptionInfoFields, Task, TaskId,
    TaskOffsetSum,
};
use tenure::codec::{
    Assignment, AssignmentFields, AssignmentWriter, Blocks, EncodeError, History, StickyFields,
    StickyUserData, Subscription, SubscriptionFields, Text, TopicPartitions,
};

/// Checks everything that must hold for the format called `name`.
///
/// # Panics
/// When something does not hold.
pub fn check(name: &str, data: &[u8]) {
    let table = message::format(name).unwrap_or_else(|| panic!("no format {name}"));
    table_reads(table, data);
    let mut seed = Unstructured::new(data);
    // A seed that runs out makes no value; the bytes have been tried all the same.
    let _ = match name {
        "consumer-subscription" => {
            subscription_bytes(data);
            subscription_value(&mut seed)
        }
        "consumer-assignment" => {
            assignment_bytes(data);
            assignment_value(&mut seed)
        }
        "consumer-assignment-draft" => {
            draft_bytes(data);
            draft_value(&mut seed)
        }
        "sticky-userdata" => {
            sticky_bytes(data);
            sticky_value(&mut seed)
        }
        "cooperative-sticky-userdata" => {
            cooperative(data);
            Ok(())
        }
        "streams-subscription-info" => {
            streams_subscription_bytes(data);
            streams_subscription_value(&mut seed)
        }
        "streams-assignment-info" => {
            streams_assignment_bytes(data);
            streams_assignment_value(&mut seed)
        }
        _ => table_value(table, &mut seed),
    };
}

/// Names and numbers by topic, owned.
type Blocked = Vec<(String, Vec<i32>)>;

fn fields(blocks: &Blocked) -> Vec<TopicPartitions<'_>> {
    blocks.iter().map(|(topic, partitions)| TopicPartitions { topic, partitions }).collect()
}

fn owned(blocks: Blocks<'_>) -> Blocked {
    let owned: Blocked =
        blocks.iter().map(|block| (block.topic.to_string(), block.partitions.iter().collect())).collect();
    assert_eq!(owned.len(), blocks.len());
    assert_eq!(owned.iter().map(|(_, partitions)| partitions.len()).sum::<usize>(), blocks.partition_count());
    owned
}

/// Blocks in the order of a subscription, by another way than the writer's.
fn sorted(blocks: &Blocked) -> Blocked {
    let mut by_topic: Vec<(Vec<u16>, String, Vec<i32>)> = Vec::new();
    for (topic, partitions) in blocks {
        match by_topic.iter_mut().find(|(_, known, _)| known == topic) {
            Some((_, _, known)) => known.extend(partitions),
            None => by_topic.push((topic.encode_utf16().collect(), topic.clone(), partitions.clone())),
        }
    }
    by_topic.sort();
    let mut sorted: Blocked =
        by_topic.into_iter().map(|(_, topic, partitions)| (topic, partitions)).collect();
    sorted.iter_mut().for_each(|(_, partitions)| partitions.sort());
    sorted
}

/// Blocks in the order of an assignment, by another way than the writer's.
fn merged(blocks: &Blocked) -> Blocked {
    let mut merged: Blocked = Vec::new();
    for (topic, partitions) in blocks {
        match merged.iter_mut().find(|(known, _)| known == topic) {
            Some((_, known)) => known.extend(partitions),
            None => merged.push((topic.clone(), partitions.clone())),
        }
    }
    merged
}

/// Checks the three ways to write against one another, and returns the bytes.
fn wrote(
    bytes: core::result::Result<Vec<u8>, EncodeError>,
    len: core::result::Result<usize, EncodeError>,
    into: impl Fn(&mut [u8]) -> core::result::Result<usize, EncodeError>,
) -> Option<Vec<u8>> {
    let Ok(bytes) = bytes else {
        assert!(len.is_err() && into(&mut []).is_err());
        return None;
    };
    assert_eq!(len, Ok(bytes.len()));
    let mut exact = vec![0; bytes.len()];
    assert_eq!(into(&mut exact), Ok(bytes.len()));
    assert_eq!(exact, bytes);
    if let Some((_, short)) = exact.split_last_mut() {
        assert!(into(short).is_err());
    }
    Some(bytes)
}

fn subscription_bytes(data: &[u8]) {
    let Ok(read) = Subscription::decode(data) else { return };
    assert_eq!(Subscription::decode_like(data, read.topics), Ok((read, true)));
    for assignor in ["sticky", "cooperative-sticky", "range"] {
        owned(History::of(&read, assignor).owned);
    }
    let topics: Vec<String> = read.topics.iter().map(|topic| topic.to_string()).collect();
    let rack = read.rack.map(|rack| rack.to_string());
    let value = (topics, read.user_data.map(<[u8]>::to_vec), owned(read.owned), read.generation, rack);
    subscription_round_trip(read.version_read(), &value);
}

/// Topics, user data, owned, generation, rack.
type SubscriptionValue = (Vec<String>, Option<Vec<u8>>, Blocked, Option<i32>, Option<String>);

fn subscription_value(seed: &mut Unstructured<'_>) -> Result<()> {
    let version = seed.int_in_range(0..=3)?;
    subscription_round_trip(version, &SubscriptionValue::arbitrary(seed)?);
    Ok(())
}

fn subscription_round_trip(version: i16, value: &SubscriptionValue) {
    let (topics, user_data, blocks, generation, rack) = value;
    let names: Vec<&str> = topics.iter().map(String::as_str).collect();
    let blocks_in = fields(blocks);
    let written = SubscriptionFields {
        topics: &names,
        user_data: user_data.as_deref(),
        owned: &blocks_in,
        generation: *generation,
        rack: rack.as_deref(),
    };
    let bytes = wrote(written.encode(version), written.encoded_len(version), |buffer| {
        written.encode_into(version, buffer)
    });
    let Some(bytes) = bytes else { return };
    let read = Subscription::decode(&bytes).unwrap();
    let mut expected = topics.clone();
    expected.sort_by_cached_key(|topic| topic.encode_utf16().collect::<Vec<_>>());
    assert!(read.topics.iter().eq(expected.iter().map(String::as_str)));
    assert_eq!((read.version, read.user_data), (version, user_data.as_deref()));
    assert_eq!(owned(read.owned), if version >= 1 { sorted(blocks) } else { Vec::new() });
    assert_eq!(read.generation, generation.filter(|&generation| generation >= 0 && version >= 2));
    let rack = rack.as_deref().filter(|rack| !rack.is_empty() && version >= 3);
    assert_eq!(read.rack, rack.map(Text::from));
}

fn assignment_bytes(data: &[u8]) {
    let Ok(read) = Assignment::decode(data) else { return };
    let version = read.version.unwrap_or_default().min(3);
    assignment_round_trip(version, &owned(read.assigned), read.user_data);
}

fn assignment_value(seed: &mut Unstructured<'_>) -> Result<()> {
    let version = seed.int_in_range(0..=3)?;
    let (blocks, user_data) = <(Blocked, Option<Vec<u8>>)>::arbitrary(seed)?;
    assignment_round_trip(version, &blocks, user_data.as_deref());
    Ok(())
}

fn assignment_round_trip(version: i16, blocks: &Blocked, user_data: Option<&[u8]>) {
    let assigned = fields(blocks);
    let written = AssignmentFields { assigned: &assigned, user_data };
    let bytes = wrote(written.encode(version), written.encoded_len(version), |buffer| {
        written.encode_into(version, buffer)
    });
    let Some(bytes) = bytes else { return };
    let read = Assignment::decode(&bytes).unwrap();
    let expected = merged(blocks);
    assert_eq!((read.version, read.user_data), (Some(version), user_data));
    assert_eq!(owned(read.assigned), expected);
    let mut streamed = Vec::new();
    let mut writer = AssignmentWriter::begin(&mut streamed, version).unwrap();
    for (topic, partitions) in &expected {
        writer.topic(topic).unwrap();
        writer.partitions(partitions.iter().copied());
    }
    assert_eq!(writer.finish(user_data), Ok(bytes.len()));
    assert_eq!(streamed, bytes);
}

fn draft_bytes(data: &[u8]) {
    let Ok(read) = DraftAssignment::decode(data) else { return };
    draft_round_trip(read.version.min(1), &owned(read.assigned), read.user_data, read.error);
}

fn draft_value(seed: &mut Unstructured<'_>) -> Result<()> {
    let version = seed.int_in_range(0..=1)?;
    let (blocks, user_data, rejoin) = <(Blocked, Option<Vec<u8>>, bool)>::arbitrary(seed)?;
    let error = if rejoin { AssignmentErrorCode::NeedRejoin } else { AssignmentErrorCode::None };
    draft_round_trip(version, &blocks, user_data.as_deref(), error);
    Ok(())
}

fn draft_round_trip(version: i16, blocks: &Blocked, user_data: Option<&[u8]>, error: AssignmentErrorCode) {
    let assigned = fields(blocks);
    let written = DraftAssignmentFields { assigned: &assigned, user_data, error };
    let bytes = wrote(written.encode(version), written.encoded_len(version), |buffer| {
        written.encode_into(version, buffer)
    });
    let Some(bytes) = bytes else { return };
    let read = DraftAssignment::decode(&bytes).unwrap();
    assert_eq!((read.version, read.user_data, &owned(read.assigned)), (version, user_data, blocks));
    assert_eq!(read.error, if version >= 1 { error } else { AssignmentErrorCode::None });
    // A shipped member reads the same, and never sees the code.
    assert_eq!(Assignment::decode(&bytes).unwrap().assigned, read.assigned);
}

fn sticky_bytes(data: &[u8]) {
    let read = StickyUserData::decode(Some(data));
    assert!(read.unreadable.is_none() || read.previous.is_empty() && read.generation.is_none());
    sticky_round_trip(&owned(read.previous), read.generation);
}

fn sticky_value(seed: &mut Unstructured<'_>) -> Result<()> {
    let (blocks, generation) = <(Blocked, Option<i32>)>::arbitrary(seed)?;
    sticky_round_trip(&blocks, generation);
    Ok(())
}

fn sticky_round_trip(blocks: &Blocked, generation: Option<i32>) {
    let previous = fields(blocks);
    let written = StickyFields { previous: &previous, generation };
    let bytes = wrote(written.encode(), written.encoded_len(), |buffer| written.encode_into(buffer));
    let Some(bytes) = bytes else { return };
    let read = StickyUserData::decode(Some(&bytes));
    assert_eq!((&owned(read.previous), read.generation, read.unreadable), (blocks, generation, None));
    let grouped = tenure::codec::sticky::grouped_as_java(&previous);
    let partitions = |blocks: &Blocked| blocks.iter().map(|(_, partitions)| partitions.len()).sum::<usize>();
    let all: Blocked =
        grouped.into_iter().map(|(topic, partitions)| (topic.to_owned(), partitions)).collect();
    assert_eq!(partitions(&all), partitions(blocks));
    let lost: Vec<_> =
        merged(blocks).into_iter().filter(|block| !block.1.is_empty() && !all.contains(block)).collect();
    assert!(lost.is_empty(), "{lost:?}");
}

fn cooperative(data: &[u8]) {
    let generation = cooperative_generation(Some(data)).unwrap();
    assert_eq!(cooperative_generation(Some(&encode_cooperative(generation))), Some(generation));
    assert!(data.len() >= 4 || generation == -1);
}

fn streams_subscription_bytes(data: &[u8]) {
    let Ok(info) = SubscriptionInfo::decode(data) else { return };
    let Some(body) = info.body else { return };
    let fields = SubscriptionInfoFields {
        latest_supported_version: info.latest_supported_version,
        process_id: body.process_id,
        prev_tasks: &body.prev_tasks.iter().collect::<Vec<_>>(),
        standby_tasks: &body.standby_tasks.iter().collect::<Vec<_>>(),
        user_end_point: body.user_end_point,
        offset_sums: &body.offset_sums.iter().collect::<Vec<_>>(),
        unique_field: body.unique_field,
        error_code: body.error_code,
        client_tags: &body.client_tags.iter().collect::<Vec<_>>(),
    };
    streams_subscription_round_trip(info.version, &fields);
}

fn streams_subscription_value(seed: &mut Unstructured<'_>) -> Result<()> {
    type Tasks = Vec<(i32, i32)>;
    let version = seed.int_in_range(1..=11)?;
    let (latest, process_id, end_point, unique_field, error_code) =
        <(i32, [u8; 16], Vec<u8>, i8, i32)>::arbitrary(seed)?;
    let (active, standby) = <(Tasks, Tasks)>::arbitrary(seed)?;
    let sums = <Vec<(i32, i32, Option<String>, i64)>>::arbitrary(seed)?;
    let tags = <Vec<(Vec<u8>, Vec<u8>)>>::arbitrary(seed)?;
    let task = |&(subtopology, partition): &(i32, i32)| TaskId { subtopology, partition, topology: None };
    let fields = SubscriptionInfoFields {
        latest_supported_version: latest,
        process_id,
        prev_tasks: &active.iter().map(task).collect::<Vec<_>>(),
        standby_tasks: &standby.iter().map(task).collect::<Vec<_>>(),
        user_end_point: &end_point,
        offset_sums: &sums.iter().map(|sum| offset_sum(sum, version)).collect::<Vec<_>>(),
        unique_field,
        error_code,
        client_tags: &tags.iter().map(|(key, value)| (&key[..], &value[..])).collect::<Vec<_>>(),
    };
    streams_subscription_round_trip(version, &fields);
    Ok(())
}

fn offset_sum(sum: &(i32, i32, Option<String>, i64), version: i32) -> TaskOffsetSum<'_> {
    let (subtopology, partition, topology, offset_sum) = sum;
    let topology = topology.as_deref().map(Text::from).filter(|_| version >= 10);
    let task = TaskId { subtopology: *subtopology, partition: *partition, topology };
    TaskOffsetSum { task, offset_sum: *offset_sum }
}

fn streams_subscription_round_trip(version: i32, fields: &SubscriptionInfoFields<'_>) {
    let bytes = wrote(fields.encode(version), fields.encoded_len(version), |buffer| {
        fields.encode_into(version, buffer)
    });
    let Some(bytes) = bytes else { return };
    let info = SubscriptionInfo::decode(&bytes).unwrap();
    let body = info.body.unwrap();
    assert_eq!((info.version, body.process_id), (version, fields.process_id));
    if version <= 6 {
        assert!(body.prev_tasks.iter().eq(fields.prev_tasks.iter().copied()));
        assert!(body.standby_tasks.iter().eq(fields.standby_tasks.iter().copied()));
    } else {
        assert!(body.offset_sums.iter().eq(fields.offset_sums.iter().copied()));
    }
    if version >= 11 {
        assert!(body.client_tags.iter().eq(fields.client_tags.iter().copied()));
        assert_eq!((body.unique_field, body.error_code), (fields.unique_field, fields.error_code));
    }
    let tasks = body.active_tasks().count() + body.standby_tasks().count();
    assert_eq!(tasks, body.prev_tasks.len() + body.standby_tasks.len() + body.offset_sums.iter().count());
    assert_eq!(
        message::format("streams-subscription-info").unwrap().decode(&bytes, 0).unwrap().len,
        bytes.len()
    );
}

fn streams_assignment_bytes(data: &[u8]) {
    let Ok(info) = AssignmentInfo::decode(data) else { return };
    streams_assignment_round_trip(info.version, &info.to_fields());
}

fn streams_assignment_value(seed: &mut Unstructured<'_>) -> Result<()> {
    type Partitions = std::collections::BTreeSet<(String, i32)>;
    type Hosts = std::collections::BTreeMap<(String, i32), Partitions>;
    let version = seed.int_in_range(1..=11)?;
    let (common, err_code, next_rebalance_ms) = <(i32, i32, i64)>::arbitrary(seed)?;
    let name = |name: Option<String>| name.filter(|name| version >= 10 && !name.is_empty());
    let task = |(subtopology, partition, topology)| Task { subtopology, partition, topology: name(topology) };
    let active = <Vec<(i32, i32, Option<String>)>>::arbitrary(seed)?;
    let standby = <std::collections::BTreeMap<(i32, i32), Partitions>>::arbitrary(seed)?;
    let host = |((host, port), partitions): ((String, i32), Partitions)| HostFields {
        host,
        port,
        partitions: partitions.into_iter().map(|(topic, partition)| (Some(topic), partition)).collect(),
    };
    let fields = AssignmentInfoFields {
        commonly_supported_version: common,
        active_tasks: active.into_iter().map(task).collect(),
        standby_tasks: standby
            .into_iter()
            .map(|((subtopology, partition), set)| {
                (task((subtopology, partition, None)), set.into_iter().collect())
            })
            .collect(),
        partitions_by_host: Hosts::arbitrary(seed)?.into_iter().map(host).collect(),
        standby_partitions_by_host: Hosts::arbitrary(seed)?.into_iter().map(host).collect(),
        topic_dictionary: Vec::new(),
        err_code,
        next_rebalance_ms,
    };
    streams_assignment_round_trip(version, &fields);
    Ok(())
}

fn streams_assignment_round_trip(version: i32, fields: &AssignmentInfoFields) {
    let bytes = wrote(fields.encode(version), fields.encoded_len(version), |buffer| {
        fields.encode_into(version, buffer)
    });
    let Some(bytes) = bytes else { return };
    // Streams bounds a count by the whole length; what it writes itself is always within.
    let read = AssignmentInfo::decode(&bytes).unwrap().to_fields();
    assert_eq!(read.active_tasks, fields.active_tasks);
    assert_eq!(read.standby_tasks, fields.standby_tasks);
    if version >= 2 {
        assert_eq!(read.partitions_by_host, fields.partitions_by_host);
    }
    if version >= 6 {
        assert_eq!(read.standby_partitions_by_host, fields.standby_partitions_by_host);
    }
    if version >= 7 {
        assert_eq!((read.err_code, read.next_rebalance_ms), (fields.err_code, fields.next_rebalance_ms));
    }
    assert_eq!(read.encode(version).as_ref(), Ok(&bytes), "written again");
}

/// The version to read by: the bytes say it, or their first byte chooses.
fn chosen<'d>(table: &Format, data: &'d [u8]) -> (i16, &'d [u8]) {
    if table.tells_version() {
        return (0, data);
    }
    let Some((first, rest)) = data.split_first() else { return (table.newest, data) };
    let versions = i16::from(*first) % (table.newest - table.oldest + 1);
    (table.oldest + versions, rest)
}

fn table_reads(table: &'static Format, data: &[u8]) {
    let (version, bytes) = chosen(table, data);
    let Ok(Decoded { version: told, value, len, .. }) = table.decode(bytes, version) else { return };
    assert!(len <= bytes.len());
    if table.prefix == Prefix::ProbedVersion && told > i32::from(table.newest) {
        return;
    }
    let version = i16::try_from(told).unwrap().min(table.newest);
    match table.encode(version, &value) {
        Ok(again) => {
            let read = table.decode(&again, version).unwrap();
            assert_eq!((&read.value, read.len), (&value, again.len()), "{}", table.name);
            assert_eq!(table.encode(version, &read.value), Ok(again), "{}", table.name);
        }
        // Tags in a wrong order can be read and not be written; Kafka does the same. Text of the two
        // Java encodings may grow when U+FFFD takes the place of something bad.
        Err(error) => {
            assert!(["tag-order", "too-long"].contains(&error.kind.name()), "{}: {error}", table.name)
        }
    }
}

fn table_value(table: &'static Format, seed: &mut Unstructured<'_>) -> Result<()> {
    let version = seed.int_in_range(table.oldest..=table.newest)?;
    let mut value = arbitrary_struct(table.fields, version, table.is_flexible(version), seed)?;
    let bytes = wrote(table.encode(version, &value), table.encoded_len(version, &value), |buffer| {
        table.encode_into(version, &value, buffer)
    });
    let Some(bytes) = bytes else { return Ok(()) };
    let read = table.decode(&bytes, version).unwrap();
    value.fields.retain(|(name, value)| {
        // A tagged field at its default is not on the wire.
        read.value.get(name).is_some()
            || table.fields.iter().all(|field| field.name != *name || field.tag.is_none())
            || *value == message::Value::Bool(true)
    });
    // Tagged fields come in the order of their numbers, which is that of the table.
    assert_eq!(read.value, value, "{}", table.name);
    assert_eq!((read.len, read.version), (bytes.len(), i32::from(version)));
    Ok(())
}

fn arbitrary_struct<'v>(
    fields: &'static [Field],
    version: i16,
    flexible: bool,
    seed: &mut Unstructured<'v>,
) -> Result<Struct<'v>> {
    let mut made = Struct::default();
    for field in fields.iter().filter(|field| field.is_in(version)) {
        if field.tag.is_some() && bool::arbitrary(seed)? {
            continue;
        }
        made.set(field.name, arbitrary_field(field, version, flexible, seed)?);
    }
    if flexible && u8::arbitrary(seed)? < 32 {
        let tags = <std::collections::BTreeMap<u32, Vec<u8>>>::arbitrary(seed)?;
        made.unknown_tags = tags
            .into_iter()
            .filter(|(number, _)| *number > 8)
            .map(|(number, data)| (number, data.into()))
            .collect();
    }
    Ok(made)
}

fn arbitrary_field<'v>(
    field: &Field,
    version: i16,
    flexible: bool,
    seed: &mut Unstructured<'v>,
) -> Result<message::Value<'v>> {
    use message::Value;
    if field.is_nullable(version) && bool::arbitrary(seed)? {
        return Ok(Value::Null);
    }
    let text = |seed: &mut Unstructured<'v>| <&[u8]>::arbitrary(seed).map(Text::new);
    let len = |seed: &mut Unstructured<'v>| seed.int_in_range(0..=4_usize);
    Ok(match field.kind {
        Kind::Bool => Value::Bool(bool::arbitrary(seed)?),
        Kind::I8 => Value::Int(i8::arbitrary(seed)?.into()),
        Kind::I16 => Value::Int(i16::arbitrary(seed)?.into()),
        Kind::I32 => Value::Int(i32::arbitrary(seed)?.into()),
        Kind::I64 => Value::Int(i64::arbitrary(seed)?),
        Kind::Uuid => Value::Uuid(<[u8; 16]>::arbitrary(seed)?),
        Kind::Text | Kind::PlainText => Value::Text(text(seed)?),
        Kind::Bytes => Value::Bytes(<&[u8]>::arbitrary(seed)?.into()),
        Kind::I32s => Value::I32s(Vec::arbitrary(seed)?),
        Kind::Texts => {
            let len = len(seed)?;
            Value::Texts((0..len).map(|_| text(seed)).collect::<Result<_>>()?)
        }
        Kind::Structs(fields) => {
            let len = len(seed)?;
            let item = |_| arbitrary_struct(fields, version, flexible, seed);
            Value::Structs((0..len).map(item).collect::<Result<_>>()?)
        }
        _ => Value::String(String::arbitrary(seed)?),
    })
}
