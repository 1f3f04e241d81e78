//! What is wrong with a snapshot, where, and what to write instead.

use core::fmt;

use super::trail::{Fault, Trail};
use crate::json::{end_of, position, words};

/// Why a snapshot was refused.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct SnapshotError {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// The path of the field, such as `members."consumer-1".owned."orders"[2]`; empty for the whole document.
    pub field: String,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub remedy: String,
}

impl SnapshotError {
    /// The error of a document that begins in a later line of its file.
    #[must_use]
    pub fn in_line(mut self, line: usize) -> Self {
        self.line += line - 1;
        self
    }
}

impl fmt::Display for SnapshotError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { line, column, field, message, remedy } = self;
        write!(f, "line {line}, column {column}")?;
        if !field.is_empty() {
            write!(f, ", at {field}")?;
        }
        write!(f, ": {message}; {remedy}")
    }
}

impl core::error::Error for SnapshotError {}

/// The error of bytes that are no UTF-8 from `at` on.
pub(super) fn not_utf8(bytes: &[u8], at: usize) -> SnapshotError {
    let good = core::str::from_utf8(&bytes[..at]).unwrap_or_default();
    let (line, _) = end_of(good);
    let last = good.rsplit('\n').next().unwrap_or_default();
    let wide = bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff");
    SnapshotError {
        line,
        column: last.chars().count() + 1,
        field: String::new(),
        message: if wide {
            "this is UTF-16, not UTF-8".to_string()
        } else {
            format!("byte {:#04x} at offset {at} is not UTF-8", bytes.get(at).copied().unwrap_or_default())
        },
        remedy: "save the file as UTF-8".to_string(),
    }
}

/// The error that the reader of JSON met, with what the trail knows of it.
pub(super) fn at(text: &str, error: &serde_json::Error, trail: &Trail) -> SnapshotError {
    let field = trail.take_field();
    let Some(Fault { message, remedy, address }) = trail.take_fault() else {
        let (line, column) = position(text, error);
        let (message, remedy) = describe(error);
        return SnapshotError { line, column, field, message, remedy };
    };
    let offset = address.and_then(|address| address.checked_sub(text.as_ptr().addr()));
    let (line, column) = match offset.and_then(|offset| text.get(..offset)) {
        Some(before) => end_of(before),
        None => position(text, error),
    };
    SnapshotError { line, column, field, message, remedy }
}

/// Words for what the JSON reader itself refuses.
fn describe(error: &serde_json::Error) -> (String, String) {
    use serde_json::error::Category;
    let text = words(error);
    match error.classify() {
        Category::Eof => (
            "the JSON ends too early".to_string(),
            "close every string, bracket and brace; the file may be cut off".to_string(),
        ),
        Category::Data => {
            match text.strip_prefix("invalid type: ").and_then(|t| t.rsplit_once(", expected ")) {
                Some((found, expected)) => {
                    (format!("{} is wrong here", found_words(found)), format!("write {expected}"))
                }
                None => (text, "correct the value".to_string()),
            }
        }
        Category::Syntax if text == "trailing characters" => (
            "something follows the end of the snapshot".to_string(),
            "give one snapshot in a file; for one snapshot a line use --lines".to_string(),
        ),
        Category::Syntax | Category::Io => {
            (format!("this is not JSON: {text}"), "correct the text just before this place".to_string())
        }
    }
}

/// The reader's name of a value in plain words: "integer `3`" is "the number 3".
fn found_words(found: &str) -> String {
    let found = found.replace('`', "");
    match &*found {
        "map" => "an object".to_string(),
        "sequence" => "a list".to_string(),
        "null" => "null".to_string(),
        _ => match found.split_once(' ') {
            Some(("floating", rest)) => format!("the number {}", rest.trim_start_matches("point ")),
            Some(("integer", rest)) => format!("the number {rest}"),
            Some((_, _)) => format!("the {}", super::trail::shorten(&found, 80)),
            None => found,
        },
    }
}
