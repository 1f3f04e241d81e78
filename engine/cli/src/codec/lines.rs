//! A stream of vectors: bytes to be read, values to be written, one a line.

use serde_json::{Map, Value, json};

use super::{CodecFailure, Context, FormatName, decode, encode, generated_bytes, hex, unhex, written_out};
use crate::json::JsonFault;

/// Answers one line: `{"id", "value"}`, `{"id", "bytes"}` or `{"id", "error"}`.
///
/// A line with `bytes` (or `bytes_gen`) and `format` is read; one with `value` (or `input`, what Java was
/// given before it reordered and dropped things) is written. Other keys of a vector are context or left alone.
#[must_use]
pub fn answer_line(line: &str) -> Value {
    let line = line.trim_end_matches(['\r', '\n']);
    let (id, answer) = match serde_json::from_str::<Value>(line) {
        Ok(Value::Object(vector)) => (vector.get("id").cloned().unwrap_or(Value::Null), answer(&vector)),
        Ok(_) => (Value::Null, Err(json!({"kind": "form", "message": "a line must be a JSON object"}))),
        Err(error) => {
            let JsonFault { at, column, message, .. } = JsonFault::of(line, &error);
            let message = format!("column {column}: {message}");
            (Value::Null, Err(json!({"kind": "json", "at": at, "message": message})))
        }
    };
    let mut object = match answer {
        Ok(answer) => answer,
        Err(error) => Map::from_iter([("error".to_owned(), error)]),
    };
    object.insert("id".into(), id);
    Value::Object(object)
}

fn answer(vector: &Map<String, Value>) -> Result<Map<String, Value>, Value> {
    let failed = |failure: CodecFailure| failure.to_json();
    let name = vector.get("format").and_then(Value::as_str).ok_or_else(|| {
        let expected = "given: the name of a format, as `tenure decode --list` shows them";
        failed(CodecFailure::form("format", expected))
    })?;
    let format =
        FormatName::find(name).ok_or_else(|| failed(CodecFailure::UnknownFormat(name.to_owned())))?;
    let number = |key: &str| match vector.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => match value.as_i64().and_then(|number| i32::try_from(number).ok()) {
            Some(number) => Ok(Some(number)),
            None => Err(failed(CodecFailure::form(key, "a whole number of 32 bits"))),
        },
    };
    let topics = match vector.get("topic_list") {
        None | Some(Value::Null) => None,
        Some(list) => {
            let names = list.as_array().and_then(|names| {
                names.iter().map(|name| name.as_str().map(str::to_owned)).collect::<Option<Vec<_>>>()
            });
            Some(names.ok_or_else(|| failed(CodecFailure::form("topic_list", "a list of topic names")))?)
        }
    };
    let context = Context {
        topics: topics.as_deref(),
        version: number("version")?,
        null_user_data: vector.get("null_userdata") == Some(&Value::Bool(true)),
        subscription_generation: number("subscription_generation")?,
    };
    let bytes = match (vector.get("bytes"), vector.get("bytes_gen")) {
        (Some(text), _) => {
            let bytes = text.as_str().and_then(unhex);
            Some(bytes.ok_or_else(|| failed(CodecFailure::form("bytes", "hexadecimal text")))?)
        }
        (None, Some(parts)) => Some(generated_bytes(parts).map_err(failed)?),
        (None, None) => None,
    };
    if let Some(bytes) = bytes {
        let seen = decode(format, &bytes, &context).map_err(failed)?;
        let mut answer = seen.beside;
        answer.insert("value".into(), seen.value);
        return Ok(answer);
    }
    let Some(value) = vector.get("value").or_else(|| vector.get("input")) else {
        return Err(failed(CodecFailure::form(
            "bytes or value",
            "given: one to be read, the other to be written",
        )));
    };
    let value = written_out(value).map_err(failed)?;
    let bytes = encode(format, context.version, &value, vector).map_err(failed)?;
    Ok(Map::from_iter([("bytes".to_owned(), json!(hex(&bytes)))]))
}
