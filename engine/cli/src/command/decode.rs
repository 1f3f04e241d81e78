//! `tenure decode`: bytes of the wire as JSON.

use std::io::Write;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use serde_json::{Value, json};
use tenure_cli::codec::{self, Context, FormatName, Seen};

use super::input::Source;
use super::wire_input;
use crate::console::Console;
use crate::failure::{Failure, Status};

/// Reads bytes of a wire format and prints them as JSON.
#[derive(Args)]
pub(crate) struct Arguments {
    /// The format's name; `subscription:ASSIGNOR` settles the member's history as well.
    #[arg(value_name = "FORMAT", required_unless_present = "list")]
    format: Option<String>,

    /// The file with the bytes; "-" is standard input.
    #[arg(value_name = "FILE", default_value = "-")]
    file: PathBuf,

    /// The version, for requests and responses, whose bytes do not say it.
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    version: Option<i32>,

    /// The topics of the subscription around compact user data (`tenure-userdata`), in the order of the wire. Without
    /// them its checksum is not compared, and topics are told by their place.
    #[arg(long, value_name = "TOPICS", value_delimiter = ',', num_args = 1)]
    topics: Option<Vec<String>>,

    /// What the file holds. Auto takes text of hexadecimal digits and spaces as such, all else as bytes.
    #[arg(long, value_enum, default_value_t = Form::Auto, value_name = "FORM")]
    from: Form,

    /// Shows each field with its offsets instead of JSON.
    #[arg(long)]
    explain: bool,

    /// Prints the names of the formats and their versions.
    #[arg(long)]
    list: bool,

    /// Prints one JSON document on one line: the value, or with --explain its fields, or with --list the formats.
    #[arg(long)]
    json: bool,
}

/// The form of bytes in a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Form {
    /// Whichever it is.
    Auto,
    /// Hexadecimal digits, spaces and line ends.
    Hex,
    /// The bytes themselves.
    Binary,
}

pub(crate) fn run(arguments: &Arguments, console: &Console) -> Result<Status, Failure> {
    let mut out = console.data();
    let Some(name) = arguments.format.as_deref().filter(|_| !arguments.list) else {
        let formats =
            || codec::format_names().filter_map(|name| Some((name, FormatName::find(name)?.versions())));
        if arguments.json {
            let formats = formats()
                .map(|(name, (oldest, newest))| json!({"format": name, "oldest": oldest, "newest": newest}));
            writeln!(out, "{}", formats.collect::<Value>())?;
        } else {
            for (name, (oldest, newest)) in formats() {
                writeln!(out, "{name:<34} {oldest} to {newest}")?;
            }
        }
        out.flush()?;
        return Ok(Status::Good);
    };
    let format = wire_input::format(name)?;
    let bytes = wire_input::bytes(&Source::new(&arguments.file), arguments.from)?;
    let context =
        Context { version: arguments.version, topics: arguments.topics.as_deref(), ..Context::default() };
    if arguments.explain {
        let explained = codec::explain(format, &bytes, &context)
            .map_err(|failure| Failure::input(format_args!("{name}: {failure}")))?;
        if arguments.json {
            writeln!(out, "{}", explained.to_json())?;
        } else {
            out.write_all(explained.text().as_bytes())?;
        }
        out.flush()?;
        return match explained.fault {
            Some(fault) => Err(Failure::input(format_args!("{name}: {fault}"))),
            None => Ok(Status::Good),
        };
    }
    let Seen { mut value, beside } = codec::decode(format, &bytes, &context).map_err(|failure| {
        Failure::input(format_args!("{name}: {failure}; --explain shows what could be read before"))
    })?;
    for (key, extra) in beside {
        if let Some(object) = value.as_object_mut() {
            object.insert(key, extra);
        }
    }
    let written = if arguments.json {
        serde_json::to_writer(&mut out, &value)
    } else {
        serde_json::to_writer_pretty(&mut out, &value)
    };
    written.map_err(std::io::Error::from)?;
    writeln!(out)?;
    out.flush()?;
    Ok(Status::Good)
}
