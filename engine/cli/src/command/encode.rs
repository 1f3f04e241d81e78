//! `tenure encode`: JSON as bytes of the wire.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use serde_json::{Map, Value, json};
use tenure_cli::codec;
use tenure_cli::json::JsonFault;

use super::input::Source;
use super::wire_input;
use crate::console::Console;
use crate::failure::{Failure, Status};

/// Reads JSON as `tenure decode` prints it, and writes the bytes as Kafka would.
#[derive(Args)]
pub(crate) struct Arguments {
    /// The format's name; `tenure decode --list` shows them.
    #[arg(value_name = "FORMAT")]
    format: String,

    /// The file with the JSON; "-" is standard input.
    #[arg(value_name = "FILE", default_value = "-")]
    file: PathBuf,

    /// The version to write; for keys of records, their type.
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    version: Option<i32>,

    /// Writes the bytes themselves instead of hexadecimal text.
    #[arg(long)]
    binary: bool,

    /// Writes one JSON document on one line: the format, the number of bytes, and the bytes as hexadecimal text.
    #[arg(long, conflicts_with = "binary")]
    json: bool,
}

/// What `tenure decode` prints beside the fields of a value.
const BESIDE: [&str; 7] =
    ["unknown_tags", "nested_unknown_tags", "derived", "body_unread", "history", "unreadable", "topic_list"];

pub(crate) fn run(arguments: &Arguments, console: &Console) -> Result<Status, Failure> {
    let name = &arguments.format;
    let format = wire_input::format(name)?;
    let source = Source::new(&arguments.file);
    let text = wire_input::text(&source)?;
    let mut value: Value = serde_json::from_str(&text)
        .map_err(|error| Failure::input(format_args!("{source}, {}", JsonFault::of(&text, &error))))?;
    let mut version = arguments.version;
    let mut beside = Map::new();
    if let Some(object) = value.as_object_mut() {
        for key in BESIDE {
            beside.extend(object.remove(key).map(|extra| (key.to_owned(), extra)));
        }
        // A whole vector stands for its value.
        if let Some(inner) = object.remove("value").filter(Value::is_object) {
            version = version.or_else(|| i32::try_from(object.get("version")?.as_i64()?).ok());
            value = inner;
        }
    }
    let bytes = codec::written_out(&value)
        .and_then(|value| codec::encode(format, version, &value, &beside))
        .map_err(|failure| Failure::input(format_args!("{name}: {failure}")))?;
    let mut out = console.data();
    if arguments.binary {
        out.write_all(&bytes)?;
    } else if arguments.json {
        writeln!(out, "{}", json!({"format": name, "length": bytes.len(), "bytes": codec::hex(&bytes)}))?;
    } else {
        writeln!(out, "{}", codec::hex(&bytes))?;
    }
    out.flush()?;
    Ok(Status::Good)
}
