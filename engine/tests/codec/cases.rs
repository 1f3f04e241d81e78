//! Bytes that real peers sent, and what must come of them.

use std::fs;

use serde_json::{Value, json};
use tenure::codec::{Assignment, Blocks, DecodeError, History, StickyFields, StickyUserData, Subscription};

use crate::support::{OwnedBlocks, blocks_json, dataset, hex, unhex};

fn pairs(blocks: Blocks<'_>, keep: impl Fn(i32) -> bool) -> Value {
    let mut pairs = Vec::new();
    for block in blocks {
        for partition in block.partitions.iter().filter(|&partition| keep(partition)) {
            pairs.push(json!([block.topic.to_str_lossy(), partition]));
        }
    }
    pairs.into()
}

/// What is seen of the bytes, under the names that expectations use.
fn seen(form: &str, bytes: &[u8]) -> Result<Value, DecodeError> {
    match form {
        "sticky-userdata" => {
            let read = StickyUserData::decode(Some(bytes));
            let previous = OwnedBlocks::from_json(&blocks_json(read.previous));
            let fields = StickyFields { previous: &previous.fields(), generation: read.generation };
            Ok(json!({
                "owned": pairs(read.previous, |_| true),
                "generation": read.generation,
                "warn": read.unreadable.is_some(),
                "reencode_identical": hex(&fields.encode().unwrap()) == hex(bytes),
            }))
        }
        "assignment" => {
            let assignment = Assignment::decode(bytes)?;
            Ok(json!({"assigned": pairs(assignment.assigned, |_| true), "error": false}))
        }
        _ => {
            let (format, assignor) = form.split_once(':').unwrap_or((form, "range"));
            assert_eq!(format, "subscription", "a form that nobody judges");
            let subscription = Subscription::decode(bytes)?;
            let history = History::of(&subscription, assignor);
            let topics: Vec<_> = subscription.topics.iter().map(|topic| topic.to_str_lossy()).collect();
            Ok(json!({
                "version_read": subscription.version_read(),
                "topics": topics,
                "owned": pairs(history.owned, |_| true),
                "owned_after_sanitising": pairs(history.owned, |partition| partition >= 0),
                "generation": history.generation,
                "rack": subscription.rack.map(|rack| rack.to_str_lossy()),
                "error": false,
            }))
        }
    }
}

#[test]
fn every_codec_case() {
    let mut judged = 0;
    let mut files: Vec<_> =
        fs::read_dir(dataset("cases/codec")).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    files.sort();
    for path in &files {
        let case: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
        let form = case["codec"]["as"].as_str().unwrap();
        let seen = seen(form, &unhex(case["codec"]["hex"].as_str().unwrap()));
        let expect = case["expect"].as_object().unwrap();
        // "An error or an empty list are both right": ours is the error.
        let error_is_right = expect.get("error") == Some(&json!(true)) || expect.contains_key("no_panic");
        if error_is_right {
            assert!(seen.is_err(), "{}: {seen:?}", path.display());
            judged += 1;
            continue;
        }
        let seen = seen.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        for (key, value) in expect.iter().filter(|(key, _)| *key != "note") {
            assert_eq!(seen.get(key), Some(value), "{}: {key}", path.display());
            judged += 1;
        }
    }
    assert_eq!((files.len(), judged), (9, 24));
}
