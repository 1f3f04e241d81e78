//! The vector files: where they are, how they are read, and the small JSON parts the formats share.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};
use tenure::codec::{Blocks, TopicPartitions};

/// The folder of data sets, or a file below it.
pub(crate) fn dataset(path: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../datasets").join(path)
}

/// The vectors of one file, which must be as many as said: a vector more is a vector nobody judged.
pub(crate) fn vectors(file: &str, expected: usize) -> Vec<Value> {
    let path = dataset("wire").join(file);
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let vectors: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(vectors.len(), expected, "{file}");
    vectors
}

/// The id of a vector, for messages.
pub(crate) fn id(vector: &Value) -> &str {
    vector["id"].as_str().unwrap()
}

pub(crate) fn version(vector: &Value) -> i16 {
    i16::try_from(vector["version"].as_i64().unwrap()).unwrap()
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

pub(crate) fn unhex(text: &str) -> Vec<u8> {
    assert!(text.len().is_multiple_of(2), "{text}");
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
}

/// The bytes of a vector, written out or generated.
pub(crate) fn bytes_of(vector: &Value) -> Option<Vec<u8>> {
    if let Some(text) = vector["bytes"].as_str() {
        return Some(unhex(text));
    }
    let mut bytes = Vec::new();
    for part in vector["bytes_gen"].as_array()? {
        if let Some(text) = part["hex"].as_str() {
            bytes.extend(unhex(text));
        } else if let Some(range) = part.get("i32") {
            for number in range_of(range) {
                bytes.extend(i32::try_from(number).unwrap().to_be_bytes());
            }
        } else {
            let piece = unhex(part["repeat"][0].as_str().unwrap());
            bytes.extend(piece.repeat(usize::try_from(part["repeat"][1].as_u64().unwrap()).unwrap()));
        }
    }
    assert_eq!(bytes.len() as u64, vector["size"].as_u64().unwrap(), "{}", id(vector));
    Some(bytes)
}

fn range_of(range: &Value) -> impl Iterator<Item = i64> {
    let [from, to, step] = [0, 1, 2].map(|index| range[index].as_i64().unwrap());
    (from..to).step_by(usize::try_from(step).unwrap())
}

/// A value with its abbreviations for long lists written out.
pub(crate) fn written_out(value: &Value) -> Value {
    match value {
        Value::Object(map) if map.len() == 1 && map.contains_key("range") => {
            range_of(&map["range"]).map(Value::from).collect()
        }
        Value::Object(map) if map.len() == 1 && map.contains_key("repeat") => {
            let times = usize::try_from(map["repeat"][1].as_u64().unwrap()).unwrap();
            match &map["repeat"][0] {
                Value::String(text) if !text.is_empty() => Value::String(text.repeat(times)),
                item => vec![item.clone(); times].into(),
            }
        }
        Value::Object(map) => map.iter().map(|(key, value)| (key.clone(), written_out(value))).collect(),
        Value::Array(items) => items.iter().map(written_out).collect(),
        other => other.clone(),
    }
}

/// What reading must give: the value, or nothing for an error.
///
/// A list refused only for having more than 1,000,000 elements is read here, as 4.3.0 does.
pub(crate) fn expected(vector: &Value) -> Option<Value> {
    let beyond_the_limit = |vector: &Value| {
        let text = vector["cause"].as_str().unwrap_or_default();
        text.contains("exceeds the maximum allowed size of 1000000")
            || vector["id"] == "s-large-010" && vector["decodes_to"]["generation"] == -1
    };
    let known = ["value", "decodes_to", "error", "encode_error"];
    assert!(known.iter().any(|key| vector.get(key).is_some()), "{}", id(vector));
    if beyond_the_limit(vector) {
        return Some(written_out(&vector["other_versions"]["4.3.0"]["decodes_to"]));
    }
    vector.get("value").or_else(|| vector.get("decodes_to")).map(written_out)
}

pub(crate) fn blocks_json(blocks: Blocks<'_>) -> Value {
    blocks
        .iter()
        .map(|block| {
            let partitions: Vec<i32> = block.partitions.iter().collect();
            json!({"topic": block.topic.to_str_lossy(), "partitions": partitions})
        })
        .collect()
}

/// Blocks to be written, from JSON: a list of blocks, or of flat [topic, partition] pairs.
#[derive(Default)]
pub(crate) struct OwnedBlocks(Vec<(String, Vec<i32>)>);

impl OwnedBlocks {
    pub(crate) fn from_json(value: &Value) -> Self {
        let number = |value: &Value| i32::try_from(value.as_i64().unwrap()).unwrap();
        let of = |item: &Value| match item.as_array() {
            Some(pair) => (pair[0].as_str().unwrap().to_owned(), vec![number(&pair[1])]),
            None => (
                item["topic"].as_str().unwrap().to_owned(),
                item["partitions"].as_array().unwrap().iter().map(number).collect(),
            ),
        };
        Self(value.as_array().map(|items| items.iter().map(of).collect()).unwrap_or_default())
    }

    pub(crate) fn fields(&self) -> Vec<TopicPartitions<'_>> {
        self.0.iter().map(|(topic, partitions)| TopicPartitions { topic, partitions }).collect()
    }
}
