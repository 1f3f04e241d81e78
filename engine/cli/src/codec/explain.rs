//! Bytes field by field, with their offsets.

use core::fmt::Write;
use core::ops::Range;

use serde_json::{Value, json};
use tenure::codec::message::{Format, ListOf, Prefix, Scalar, Visitor};

use super::consumer::version_of;
use super::{CodecFailure, Context, FormatName, compact, decode, hex};

/// The longest value shown in full.
const SHOWN_MAX: usize = 32;

/// A piece of the bytes and what it says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// Where it is: offsets from the start, the end excluded.
    pub at: Range<usize>,
    /// The field, as `members[0].memberId`; empty for what is not read.
    pub path: String,
    /// Its value as a person reads it.
    pub value: String,
}

/// Bytes field by field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explained {
    /// Everything that was read, in the order of the wire; last, what could not be.
    pub pieces: Vec<Piece>,
    /// What is wrong where the reading ended.
    pub fault: Option<CodecFailure>,
}

impl Explained {
    /// A line for each piece.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = String::new();
        for Piece { at, path, value } in &self.pieces {
            let range = format!("{}..{}", at.start, at.end);
            // Writing to a String cannot fail.
            let _ = writeln!(text, "{range:>16}  {path:<36}  {value}");
        }
        text
    }

    /// The same for programs.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let piece = |piece: &Piece| json!({"at": piece.at.start, "end": piece.at.end, "field": piece.path, "value": piece.value});
        let pieces: Value = self.pieces.iter().map(piece).collect();
        json!({"fields": pieces, "error": self.fault.as_ref().map(CodecFailure::to_json)})
    }
}

/// Reads bytes field by field: offsets, path and value, and what is wrong where the reading ends.
///
/// # Errors
/// A version that is needed and not given.
pub fn explain(format: FormatName, bytes: &[u8], context: &Context<'_>) -> Result<Explained, CodecFailure> {
    if let FormatName::Compact = format {
        return Ok(compact::explain(bytes, context));
    }
    let table = format.table().ok_or_else(|| CodecFailure::UnknownFormat(String::new()))?;
    let version = match (format, context.version) {
        // A generation behind the blocks makes it version 1.
        (FormatName::Sticky, _) => i16::from(table.visit(bytes, 1, &mut Fields::default()).is_ok()),
        _ if table.tells_version() => 0,
        (_, None) if table.oldest == table.newest => table.oldest,
        (_, version) => version_of(version, table.name, (table.oldest, table.newest))?,
    };
    let mut fields = Fields::default();
    fields.prefix(table, bytes);
    let read = table.visit(bytes, version, &mut fields);
    let fault = decode(format, bytes, context).err();
    match (&read, &fault) {
        (Ok((_, len)), None) if *len < bytes.len() => {
            fields.row(*len..bytes.len(), "", &format!("{} not read", counted(bytes.len() - len, "byte")));
        }
        (Err(error), _) => fields.fault(error.at, error.field, &error.kind.to_string(), bytes.len()),
        (Ok(_), Some(CodecFailure::Decode(error))) => {
            fields.fault(error.at, error.field, &error.kind.to_string(), bytes.len());
        }
        _ => {}
    }
    Ok(Explained { pieces: fields.pieces, fault })
}

fn counted(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

/// What was read, and where in the message they are.
#[derive(Default)]
pub(super) struct Fields {
    pub(super) pieces: Vec<Piece>,
    /// The open lists: name, number of the next element, what they consist of.
    open: Vec<(&'static str, usize, ListOf)>,
}

impl Fields {
    fn prefix(&mut self, table: &Format, bytes: &[u8]) {
        let name = match table.prefix {
            Prefix::Version | Prefix::OpenVersion => "version",
            Prefix::RecordType => "recordType",
            _ => return,
        };
        if let Some(prefix) = bytes.first_chunk::<2>() {
            self.row(0..2, name, &i16::from_be_bytes(*prefix).to_string());
        }
    }

    pub(super) fn row(&mut self, at: Range<usize>, path: &str, value: &str) {
        self.pieces.push(Piece { at, path: path.to_owned(), value: value.to_owned() });
    }

    pub(super) fn fault(&mut self, at: usize, field: &str, what: &str, len: usize) {
        let path = if self.open.is_empty() { field.to_owned() } else { self.path(Some(field)) };
        self.row(at..len, &path, &format!("cannot be read: {what}"));
    }

    fn path(&self, field: Option<&str>) -> String {
        let mut path = String::new();
        for (name, next, _) in &self.open {
            let _ = write!(path, "{name}[{}].", next.saturating_sub(1));
        }
        match field {
            Some(field) => path + field,
            None => path.trim_end_matches('.').to_owned(),
        }
    }
}

fn shown(scalar: Scalar<'_>) -> String {
    let short = |text: &str| match text.char_indices().nth(SHOWN_MAX) {
        Some((end, _)) => format!("{:?}… ({})", &text[..end], counted(text.len(), "byte")),
        None => format!("{text:?}"),
    };
    match scalar {
        Scalar::Null => "null".to_owned(),
        Scalar::Bool(value) => value.to_string(),
        Scalar::Int(value) => value.to_string(),
        Scalar::Uuid(value) => hex(&value),
        Scalar::Text(text) => short(&text.to_str_lossy()),
        Scalar::ModifiedUtf8(text) => short(&text.to_string_lossy()),
        Scalar::Utf16(text) => short(&text.to_string_lossy()),
        Scalar::Bytes(bytes) => match bytes.get(..SHOWN_MAX) {
            Some(front) if bytes.len() > SHOWN_MAX => {
                format!("{}… ({})", hex(front), counted(bytes.len(), "byte"))
            }
            _ => format!("{} ({})", hex(bytes), counted(bytes.len(), "byte")),
        },
        Scalar::I32s(numbers) => {
            let list: Vec<String> =
                numbers.iter().take(SHOWN_MAX / 2).map(|number| number.to_string()).collect();
            let more = if numbers.len() > list.len() { "…" } else { "" };
            format!("[{}{more}] ({})", list.join(", "), counted(numbers.len(), "number"))
        }
        _ => String::new(),
    }
}

impl<'a> Visitor<'a> for Fields {
    fn scalar(&mut self, field: &'static str, at: Range<usize>, value: Scalar<'a>) {
        let path = match self.open.last_mut() {
            Some((_, next, ListOf::Texts)) => {
                *next += 1;
                self.path(None)
            }
            _ => self.path(Some(field)),
        };
        self.row(at, &path, &shown(value));
    }

    fn begin_list(&mut self, field: &'static str, at: Range<usize>, count: usize, of: ListOf) {
        let path = self.path(Some(field));
        self.row(at, &path, &counted(count, "element"));
        self.open.push((field, 0, of));
    }

    fn begin_struct(&mut self) {
        if let Some((_, next, _)) = self.open.last_mut() {
            *next += 1;
        }
    }

    fn end_struct(&mut self) {}

    fn end_list(&mut self) {
        self.open.pop();
    }

    fn unknown_tag(&mut self, number: u32, at: Range<usize>, data: &'a [u8]) {
        let path = self.path(Some(&format!("tag {number}")));
        self.row(at, &path, &shown(Scalar::Bytes(data)));
    }
}
