//! Requests, responses, records and drafts: everything that is a table.

use serde_json::{Map, Value, json};
use tenure::codec::message::{self, Field, Format, Kind, Struct};
use tenure::codec::{EncodeError, Text};

use crate::support::{bytes_of, expected, hex, id, unhex, vectors, version};

/// A struct as in the vectors.
pub(crate) fn to_json(value: &Struct<'_>) -> Value {
    let fields = value.fields.iter().map(|(name, value)| ((*name).to_owned(), field_json(value)));
    fields.collect::<Map<String, Value>>().into()
}

fn field_json(value: &message::Value<'_>) -> Value {
    use message::Value as V;
    match value {
        V::Bool(value) => json!(value),
        V::Int(value) => json!(value),
        V::Uuid(value) => json!(hex(value)),
        V::Text(text) => json!(text.to_str_lossy()),
        V::String(text) => json!(text),
        V::Bytes(bytes) => json!(hex(bytes)),
        V::I32s(numbers) => json!(numbers),
        V::Texts(texts) => texts.iter().map(|text| json!(text.to_str_lossy())).collect(),
        V::Structs(structs) => structs.iter().map(to_json).collect(),
        _ => Value::Null,
    }
}

fn tags_json(value: &Struct<'_>) -> Value {
    value.unknown_tags.iter().map(|(number, data)| json!([number, hex(data)])).collect()
}

/// A struct from JSON, by the table.
pub(crate) fn from_json<'v>(fields: &'static [Field], value: &'v Value, version: i16) -> Struct<'v> {
    let mut made = Struct::default();
    for field in fields.iter().filter(|field| field.is_in(version)) {
        if let Some(value) = value.get(field.name) {
            made.set(field.name, field_from_json(field, value, version));
        }
    }
    made
}

fn field_from_json<'v>(field: &Field, value: &'v Value, version: i16) -> message::Value<'v> {
    use message::Value as V;
    let text = || value.as_str().unwrap();
    let list = || value.as_array().unwrap();
    match field.kind {
        _ if value.is_null() => V::Null,
        Kind::Bool => V::Bool(value.as_bool().unwrap()),
        Kind::Uuid => V::Uuid(unhex(text()).try_into().unwrap()),
        Kind::Text | Kind::PlainText => V::Text(Text::from(text())),
        Kind::ModifiedUtf8 | Kind::Utf16 => V::String(text().to_owned()),
        Kind::Bytes => V::Bytes(unhex(text()).into()),
        Kind::I32s => V::I32s(list().iter().map(|item| item.as_i64().unwrap().try_into().unwrap()).collect()),
        Kind::Texts => V::Texts(list().iter().map(|item| Text::from(item.as_str().unwrap())).collect()),
        Kind::Structs(fields) => {
            V::Structs(list().iter().map(|item| from_json(fields, item, version)).collect())
        }
        _ => V::Int(value.as_i64().unwrap()),
    }
}

fn encode(format: &Format, version: i16, value: &Struct<'_>) -> Result<Vec<u8>, EncodeError> {
    let bytes = format.encode(version, value)?;
    assert_eq!(format.encoded_len(version, value)?, bytes.len());
    let mut buffer = vec![0xaa; bytes.len() + 1];
    assert_eq!(format.encode_into(version, value, &mut buffer)?, bytes.len());
    assert_eq!((&buffer[..bytes.len()], buffer[bytes.len()]), (&bytes[..], 0xaa));
    Ok(bytes)
}

/// Judges one vector in every direction it has and returns the number of directions.
fn judge(vector: &Value) -> usize {
    let format = message::format(vector["format"].as_str().unwrap()).unwrap();
    let bytes = bytes_of(vector).unwrap();
    let version = version(vector);
    let read = format.decode(&bytes, version);
    let Some(value) = expected(vector) else {
        assert!(read.is_err(), "{}: {read:?}", id(vector));
        return 1;
    };
    let read = read.unwrap_or_else(|error| panic!("{}: {error}", id(vector)));
    assert_eq!(read.version, i32::from(version), "{}", id(vector));
    assert_eq!(to_json(&read.value), value, "{}", id(vector));
    let mut judged = 1;
    if let Some(tags) = vector.get("unknown_tags") {
        assert_eq!(tags_json(&read.value), *tags, "{}", id(vector));
        judged += 1;
    }
    if vector["reencodes"] == true {
        assert_eq!(hex(&encode(format, version, &read.value).unwrap()), hex(&bytes), "{}", id(vector));
        judged += 1;
    }
    for source in ["value", "input"] {
        if let Some(value) = vector.get(source) {
            let made = from_json(format.fields, value, version);
            assert_eq!(hex(&encode(format, version, &made).unwrap()), hex(&bytes), "{} {source}", id(vector));
            judged += 1;
        }
    }
    judged
}

/// File, vectors in it, directions they have together.
const FILES: [(&str, usize, usize); 20] = [
    ("b-drafts.jsonl", 100, 150),
    ("b-find-coordinator-request.jsonl", 54, 81),
    ("b-find-coordinator-response.jsonl", 78, 103),
    ("b-heartbeat-request.jsonl", 41, 55),
    ("b-heartbeat-response.jsonl", 27, 46),
    ("b-init-producer-id-request.jsonl", 47, 69),
    ("b-init-producer-id-response.jsonl", 41, 63),
    ("b-join-group-request.jsonl", 116, 147),
    ("b-join-group-response.jsonl", 131, 163),
    ("b-leave-group-request.jsonl", 89, 110),
    ("b-leave-group-response.jsonl", 78, 101),
    ("b-offset-commit-request.jsonl", 136, 172),
    ("b-offset-commit-response.jsonl", 74, 104),
    ("b-records.jsonl", 291, 351),
    ("b-request-header.jsonl", 27, 37),
    ("b-response-header.jsonl", 16, 26),
    ("b-sync-group-request.jsonl", 107, 127),
    ("b-sync-group-response.jsonl", 51, 71),
    ("b-txn-offset-commit-request.jsonl", 146, 174),
    ("b-txn-offset-commit-response.jsonl", 66, 88),
];

#[test]
fn every_message() {
    for (file, count, directions) in FILES {
        let judged: usize = vectors(file, count).iter().map(judge).sum();
        assert_eq!(judged, directions, "{file}: directions judged");
    }
}

#[test]
fn unknown_tags_are_kept_everywhere_and_must_ascend() {
    let format = message::format("leave-group-request").unwrap();
    // Group g, one member m with tag 5 of its own, tag 7 behind the members.
    let bytes = unhex("026702026d000105016101070162");
    let read = format.decode(&bytes, 4).unwrap();
    assert_eq!(tags_json(&read.value), json!([[7, "62"]]));
    let Some(message::Value::Structs(members)) = read.value.get("members") else { panic!("no members") };
    assert_eq!(tags_json(&members[0]), json!([[5, "61"]]));
    assert_eq!(format.encode(4, &read.value).unwrap(), bytes);
    let mut twice = read.value.clone();
    twice.unknown_tags.push((7, vec![].into()));
    assert_eq!(format.encode(4, &twice).unwrap_err().kind.name(), "tag-order");
    assert_eq!(format.encode(3, &read.value).unwrap_err().kind.name(), "not-in-version");
}

#[test]
fn a_value_that_the_version_has_no_place_for_is_refused() {
    let format = message::format("heartbeat-request").unwrap();
    let value = json!({"groupId": "g", "generationId": 1, "memberId": "m", "groupInstanceId": "i"});
    let mut made = from_json(format.fields, &value, 3);
    assert!(format.encode(3, &made).is_ok());
    assert_eq!(format.encode(2, &made).unwrap_err().field, "groupInstanceId");
    made.set("groupInstanceId", message::Value::Null);
    assert!(format.encode(2, &made).is_ok());
    assert_eq!(format.encode(5, &made).unwrap_err().kind.name(), "unsupported-version");
    made.set("generationId", message::Value::Int(1 << 40));
    assert_eq!(format.encode(2, &made).unwrap_err().kind.name(), "out-of-range");
    made.set("generationId", message::Value::Bool(true));
    assert_eq!(format.encode(2, &made).unwrap_err().kind.name(), "wrong-type");
}

#[test]
fn tagged_fields_in_any_order_are_the_same_message() {
    let format = message::format("txn-log-value").unwrap();
    let front = "00010000000000000fa20001000027100000ffffffffffffffffffffffffffffffff";
    let ascending = unhex(&format!("{front}0200080000000000000fa101080000000000000fa3"));
    let descending = unhex(&format!("{front}0201080000000000000fa300080000000000000fa1"));
    let read = format.decode(&descending, 0).unwrap();
    assert_eq!(read.value, format.decode(&ascending, 0).unwrap().value);
    assert_eq!(format.encode(1, &read.value).unwrap(), ascending);
}

#[test]
fn text_above_32767_bytes_is_refused_where_its_length_could_say_more() {
    let format = message::format("heartbeat-request").unwrap();
    let bytes = |len: usize| {
        let len_field = [(len + 1) as u8 | 0x80, ((len + 1) >> 7) as u8 | 0x80, ((len + 1) >> 14) as u8];
        [&len_field[..], &vec![b'g'; len], &[0, 0, 0, 1, 1, 0, 0]].concat()
    };
    assert!(format.decode(&bytes(0x7fff), 4).is_ok());
    let error = format.decode(&bytes(0x8000), 4).unwrap_err();
    assert_eq!((error.kind.name(), error.field), ("text-too-long", "groupId"));
    let longest = bytes(0x7fff);
    let mut value = format.decode(&longest, 4).unwrap().value;
    let long = "g".repeat(0x8000);
    value.set("groupId", message::Value::Text(Text::from(&*long)));
    assert_eq!(format.encode(4, &value).unwrap_err().kind.name(), "too-long");
}

/// The outlook of KIP-429: rebalance protocols in heartbeats. The bytes are put together by hand, field by field.
#[test]
fn drafted_heartbeats_carry_rebalance_protocols() {
    let protocols = json!([{"protocol": 0}, {"protocol": 1}]);
    let request = |instance: serde_json::Value, protocols: serde_json::Value| {
        json!({"groupId": "g", "generationId": 7, "memberId": "m", "groupInstanceId": instance,
               "supportedProtocols": protocols})
    };
    let response = |error: i16, protocol: i8| json!({"throttleTimeMs": 0, "errorCode": error, "protocolToUse": protocol});
    let vectors = [
        ("heartbeat-request-draft", request(json!(null), protocols), "0001670000000700016dffff000000020001"),
        ("heartbeat-request-draft", request(json!("i"), json!([])), "0001670000000700016d00016900000000"),
        ("heartbeat-response-draft", response(27, 1), "00000000001b01"),
        ("heartbeat-response-draft", response(0, -1), "000000000000ff"),
    ];
    for (name, value, bytes) in vectors {
        let format = message::format(name).unwrap();
        let bytes = unhex(bytes);
        let read = format.decode(&bytes, 3).unwrap();
        assert_eq!(to_json(&read.value), value);
        assert_eq!(encode(format, 3, &from_json(format.fields, &value, 3)).unwrap(), bytes);
        for cut in 0..bytes.len() {
            assert!(format.decode(&bytes[..cut], 3).is_err(), "{name} cut at {cut}");
        }
        assert!(
            format.decode(&bytes, 4).is_err() && format.decode(&bytes, 2).is_err(),
            "{name} has version 3 only"
        );
    }
}
