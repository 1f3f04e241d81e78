//! The one writer of all tables.

use alloc::vec;
use alloc::vec::Vec;

use super::read::is_default;
use super::schema::{Field, Format, Kind, Prefix};
use super::value::{Struct, Value};
use crate::codec::error::{EncodeError, EncodeErrorKind};
use crate::codec::streams::{write_modified_utf8, write_utf16};
use crate::codec::writer::{Sink, Writer, measured, too_long, written};

/// The longest text.
const TEXT_MAX: usize = 0x7fff;

impl Format {
    fn write<S: Sink>(
        &self,
        version: i16,
        value: &Struct<'_>,
        writer: &mut Writer<S>,
    ) -> Result<(), EncodeError> {
        if !(self.oldest..=self.newest).contains(&version) {
            let kind = EncodeErrorKind::UnsupportedVersion {
                version: i32::from(version),
                oldest: i32::from(self.oldest),
                newest: i32::from(self.newest),
            };
            return Err(EncodeError { field: "version", kind });
        }
        match self.prefix {
            Prefix::None => {}
            Prefix::Version | Prefix::OpenVersion | Prefix::RecordType => writer.i16(version)?,
            Prefix::WideVersion | Prefix::ProbedVersion => writer.i32(i32::from(version))?,
        }
        write_struct(writer, self.fields, version, self.is_flexible(version), value)
    }

    /// The exact number of bytes that the other two write.
    ///
    /// # Errors
    /// A version that is not known, a value that is missing, of another type or too long, or one that
    /// the version has no place for.
    pub fn encoded_len(&self, version: i16, value: &Struct<'_>) -> Result<usize, EncodeError> {
        measured(|writer| self.write(version, value, writer))
    }

    /// Writes `value` to the front of `buffer` and returns its length. Nothing is allocated.
    ///
    /// # Errors
    /// As [`encoded_len`](Self::encoded_len), or a buffer that is too small, which is left as it was.
    pub fn encode_into(
        &self,
        version: i16,
        value: &Struct<'_>,
        buffer: &mut [u8],
    ) -> Result<usize, EncodeError> {
        let needed = self.encoded_len(version, value)?;
        written(buffer, needed, |writer| self.write(version, value, writer))
    }

    /// Writes `value`.
    ///
    /// # Errors
    /// As [`encoded_len`](Self::encoded_len).
    ///
    /// # Examples
    /// ```
    /// use tenure::codec::message::{format, Struct, Value};
    /// let mut value = Struct::default();
    /// value.set("correlationId", Value::Int(7));
    /// assert_eq!(format("response-header").unwrap().encode(1, &value)?, [0, 0, 0, 7, 0]);
    /// # Ok::<(), tenure::codec::EncodeError>(())
    /// ```
    pub fn encode(&self, version: i16, value: &Struct<'_>) -> Result<Vec<u8>, EncodeError> {
        let needed = self.encoded_len(version, value)?;
        let mut bytes = vec![0; needed];
        written(&mut bytes, needed, |writer| self.write(version, value, writer))?;
        Ok(bytes)
    }
}

fn write_struct<S: Sink>(
    writer: &mut Writer<S>,
    fields: &'static [Field],
    version: i16,
    flexible: bool,
    value: &Struct<'_>,
) -> Result<(), EncodeError> {
    for (name, value) in &value.fields {
        // Nothing is dropped in silence; null says that there is nothing to drop.
        if *value != Value::Null && !fields.iter().any(|field| field.name == *name && field.is_in(version)) {
            let kind = EncodeErrorKind::NotInVersion { version: i32::from(version) };
            // The prefix of some formats is a field of the value as well.
            if *name != "version" {
                return Err(EncodeError { field: name, kind });
            }
        }
    }
    for field in fields.iter().filter(|field| field.tag.is_none() && field.is_in(version)) {
        write_field(writer, field, version, flexible, value.get(field.name).unwrap_or(&Value::Null))?;
    }
    if flexible {
        return write_tags(writer, fields, version, value);
    }
    match value.unknown_tags.first() {
        None => Ok(()),
        Some(_) => {
            let kind = EncodeErrorKind::NotInVersion { version: i32::from(version) };
            Err(EncodeError { field: "tags", kind })
        }
    }
}

/// A tagged field to be written: a known one or the data of an unknown one.
enum Tagged<'v, 'a> {
    Known(&'static Field, &'v Value<'a>),
    Unknown(&'v [u8]),
}

/// The tagged field with the least number from `from` on.
fn next_tag<'v, 'a>(
    fields: &'static [Field],
    version: i16,
    value: &'v Struct<'a>,
    from: u64,
) -> Option<(u32, Tagged<'v, 'a>)> {
    let known = fields.iter().filter(|field| field.is_in(version)).filter_map(|field| {
        let (number, _) = field.tag?;
        let value = value.get(field.name)?;
        (!is_default(field, value)).then_some((number, Tagged::Known(field, value)))
    });
    let unknown = value.unknown_tags.iter().map(|(number, data)| (*number, Tagged::Unknown(data)));
    known.chain(unknown).filter(|(number, _)| u64::from(*number) >= from).min_by_key(|(number, _)| *number)
}

fn write_tags<S: Sink>(
    writer: &mut Writer<S>,
    fields: &'static [Field],
    version: i16,
    value: &Struct<'_>,
) -> Result<(), EncodeError> {
    let is_known = |number: u32| {
        fields.iter().any(|field| field.is_in(version) && field.tag.is_some_and(|(known, _)| known == number))
    };
    let mut above = None;
    for (tag, _) in &value.unknown_tags {
        if above.is_some_and(|above| *tag <= above) || is_known(*tag) {
            return Err(EncodeError { field: "tags", kind: EncodeErrorKind::TagOrder { tag: *tag } });
        }
        above = Some(*tag);
    }
    let all = || {
        let mut from = 0_u64;
        core::iter::from_fn(move || {
            let (number, tagged) = next_tag(fields, version, value, from)?;
            from = u64::from(number).saturating_add(1);
            Some((number, tagged))
        })
    };
    writer.uvar(u32::try_from(all().count()).unwrap_or(u32::MAX))?;
    for (number, tagged) in all() {
        writer.uvar(number)?;
        match tagged {
            Tagged::Known(field, value) => {
                let len = measured(|writer| write_field(writer, field, version, true, value))?;
                write_size(writer, len)?;
                write_field(writer, field, version, true, value)?;
            }
            Tagged::Unknown(data) => {
                write_size(writer, data.len())?;
                writer.raw(data)?;
            }
        }
    }
    Ok(())
}

fn write_size<S: Sink>(writer: &mut Writer<S>, len: usize) -> Result<(), EncodeError> {
    match i32::try_from(len) {
        Ok(len) => writer.uvar(len.cast_unsigned()),
        Err(_) => Err(too_long("tag", len, 0x7fff_ffff)),
    }
}

/// Writes the length of text, data or a list in its plain or compact form.
fn write_len<S: Sink>(
    writer: &mut Writer<S>,
    len: Option<usize>,
    field: &Field,
    flexible: bool,
) -> Result<(), EncodeError> {
    let is_text = matches!(field.kind, Kind::Text | Kind::PlainText);
    let longest = if is_text { TEXT_MAX } else { 0x7fff_fffe };
    if let Some(len) = len.filter(|len| *len > longest) {
        return Err(too_long(field.name, len, longest));
    }
    let len = len.map_or(-1, |len| i32::try_from(len).unwrap_or(i32::MAX));
    match field.kind {
        Kind::PlainText => writer.i16(i16::try_from(len).unwrap_or(i16::MAX)),
        _ if flexible => writer.uvar(len.wrapping_add(1).cast_unsigned()),
        Kind::Text => writer.i16(i16::try_from(len).unwrap_or(i16::MAX)),
        _ => writer.i32(len),
    }
}

fn write_field<S: Sink>(
    writer: &mut Writer<S>,
    field: &Field,
    version: i16,
    flexible: bool,
    value: &Value<'_>,
) -> Result<(), EncodeError> {
    let wrong = |kind| EncodeError { field: field.name, kind };
    let out_of_range = |_| wrong(EncodeErrorKind::OutOfRange);
    if *value == Value::Null {
        if !field.is_nullable(version) {
            return Err(wrong(EncodeErrorKind::Missing));
        }
        return match field.kind {
            Kind::Utf16 => writer.i32(0),
            _ => write_len(writer, None, field, flexible),
        };
    }
    match (field.kind, value) {
        (Kind::Bool, Value::Bool(value)) => writer.i8(i8::from(*value)),
        (Kind::I8, Value::Int(value)) => writer.i8(i8::try_from(*value).map_err(out_of_range)?),
        (Kind::I16, Value::Int(value)) => writer.i16(i16::try_from(*value).map_err(out_of_range)?),
        (Kind::I32, Value::Int(value)) => writer.i32(i32::try_from(*value).map_err(out_of_range)?),
        (Kind::I64, Value::Int(value)) => writer.i64(*value),
        (Kind::Uuid, Value::Uuid(value)) => writer.raw(value),
        (Kind::Text | Kind::PlainText, Value::Text(text)) => {
            write_text(writer, text.as_bytes(), field, flexible)
        }
        (Kind::Text | Kind::PlainText, Value::String(text)) => {
            write_text(writer, text.as_bytes(), field, flexible)
        }
        (Kind::Bytes, Value::Bytes(bytes)) => {
            write_len(writer, Some(bytes.len()), field, flexible)?;
            writer.raw(bytes)
        }
        (Kind::I32s, Value::I32s(numbers)) => {
            write_len(writer, Some(numbers.len()), field, flexible)?;
            writer.i32s(numbers)
        }
        (Kind::ModifiedUtf8, Value::String(text)) => write_modified_utf8(writer, text, field.name),
        (Kind::Utf16, Value::String(text)) => write_utf16(writer, text, field.name),
        (Kind::Texts, Value::Texts(texts)) => {
            write_len(writer, Some(texts.len()), field, flexible)?;
            let item = Field::new(field.name, Kind::Text);
            texts.iter().try_for_each(|text| write_text(writer, text.as_bytes(), &item, flexible))
        }
        (Kind::Structs(fields), Value::Structs(structs)) => {
            write_len(writer, Some(structs.len()), field, flexible)?;
            structs.iter().try_for_each(|item| write_struct(writer, fields, version, flexible, item))
        }
        _ => Err(wrong(EncodeErrorKind::WrongType)),
    }
}

fn write_text<S: Sink>(
    writer: &mut Writer<S>,
    text: &[u8],
    field: &Field,
    flexible: bool,
) -> Result<(), EncodeError> {
    write_len(writer, Some(text.len()), field, flexible)?;
    writer.raw(text)
}
