//! The one reader of all tables.

use super::events::{ListOf, Scalar, Visitor};
use super::schema::{Default as TagDefault, Field, Format, Kind, Prefix};
use super::value::{Decoded, TreeBuilder, Value};
use crate::codec::consumer::Partitions;
use crate::codec::error::{DecodeError, DecodeErrorKind};
use crate::codec::reader::Reader;
use crate::codec::streams::{ModifiedUtf8, Utf16Name};
use crate::codec::text::Text;

/// Kafka stops at this number of tagged fields in one struct.
const TAGS_MAX: i32 = 10_000;
/// Text above this length is refused even where its length field could say more.
const TEXT_MAX: usize = 0x7fff;

impl Format {
    /// Reads `bytes` into a tree of values.
    ///
    /// `version` counts only where the bytes do not say it themselves (see
    /// [`tells_version`](Format::tells_version)). Bytes behind the last field are ignored.
    ///
    /// Cost: one pass; allocates the tree, which is bounded by the number of bytes, not by any number in them.
    ///
    /// # Errors
    /// A version that is not known, or bytes that do not hold what they should.
    ///
    /// # Examples
    /// ```
    /// use tenure::codec::message::{format, Value};
    /// let heartbeat = format("heartbeat-response").unwrap();
    /// let decoded = heartbeat.decode(b"\x00\x00\x00\x00\x00\x1b", 1)?;
    /// assert_eq!(decoded.value.get("errorCode"), Some(&Value::Int(27)));
    /// # Ok::<(), tenure::codec::DecodeError>(())
    /// ```
    pub fn decode<'a>(&self, bytes: &'a [u8], version: i16) -> Result<Decoded<'a>, DecodeError> {
        let mut tree = TreeBuilder::default();
        let (version, len) = self.visit(bytes, version, &mut tree)?;
        let mut value = tree.finish();
        // A tagged field at its default is the same as none.
        value.fields.retain(|(name, value)| {
            !self.fields.iter().any(|field| field.name == *name && is_default(field, value))
        });
        // Tagged fields may come in any order, and are the same message in each: the table's is kept.
        value.fields.sort_by_key(|(name, _)| {
            self.fields.iter().position(|field| field.tag.is_some() && field.name == *name)
        });
        Ok(Decoded { version, value, len })
    }

    /// Tells `visitor` every field as it is met, and returns the version on the wire and the number of bytes read.
    ///
    /// Cost: one pass, nothing is copied or allocated.
    ///
    /// # Errors
    /// As [`decode`](Self::decode); what was met before the fault has been told.
    pub fn visit<'a>(
        &self,
        bytes: &'a [u8],
        version: i16,
        visitor: &mut impl Visitor<'a>,
    ) -> Result<(i32, usize), DecodeError> {
        let mut reader = Reader::new(bytes);
        let (told, version) = self.read_prefix(&mut reader, version, visitor)?;
        if self.prefix == Prefix::ProbedVersion && told > i32::from(self.newest) {
            // A version from the future: only what says how far it goes is there for us.
            let field = Field::new("latestSupportedVersion", Kind::I32);
            read_field(&mut reader, &field, version, false, visitor)?;
            return Ok((told, reader.at()));
        }
        read_struct(&mut reader, self.fields, version, self.is_flexible(version), visitor)?;
        Ok((told, reader.at()))
    }

    /// The version as told and as read.
    fn read_prefix<'a>(
        &self,
        reader: &mut Reader<'a>,
        version: i16,
        visitor: &mut impl Visitor<'a>,
    ) -> Result<(i32, i16), DecodeError> {
        let field = if self.prefix == Prefix::RecordType { "recordType" } else { "version" };
        let told = match self.prefix {
            Prefix::None => i32::from(version),
            Prefix::Version | Prefix::OpenVersion | Prefix::RecordType => i32::from(reader.i16(field)?),
            Prefix::WideVersion | Prefix::ProbedVersion => {
                let told = reader.i32(field)?;
                visitor.scalar(field, 0..reader.at(), Scalar::Int(i64::from(told)));
                told
            }
        };
        let open = matches!(self.prefix, Prefix::OpenVersion | Prefix::ProbedVersion);
        let known = i32::from(self.oldest)..=i32::from(self.newest);
        if known.contains(&told) || open && told > i32::from(self.newest) {
            return Ok((told, i16::try_from(told).unwrap_or(self.newest).min(self.newest)));
        }
        let kind = DecodeErrorKind::UnsupportedVersion {
            version: told,
            oldest: i32::from(self.oldest),
            newest: i32::from(self.newest),
        };
        Err(DecodeError { at: 0, field, kind })
    }
}

fn read_struct<'a>(
    reader: &mut Reader<'a>,
    fields: &'static [Field],
    version: i16,
    flexible: bool,
    visitor: &mut impl Visitor<'a>,
) -> Result<(), DecodeError> {
    for field in fields.iter().filter(|field| field.tag.is_none() && field.is_in(version)) {
        read_field(reader, field, version, flexible, visitor)?;
    }
    if flexible { read_tags(reader, fields, version, visitor) } else { Ok(()) }
}

fn read_tags<'a>(
    reader: &mut Reader<'a>,
    fields: &'static [Field],
    version: i16,
    visitor: &mut impl Visitor<'a>,
) -> Result<(), DecodeError> {
    let at = reader.at();
    let count = reader.uvar("tags")?.cast_signed();
    if !(0..=TAGS_MAX).contains(&count) {
        return Err(DecodeError { at, field: "tags", kind: DecodeErrorKind::TagCount { count } });
    }
    for _ in 0..count {
        let at = reader.at();
        let number = reader.uvar("tag")?;
        let len = usize::try_from(reader.uvar("tag")?).unwrap_or(usize::MAX);
        let known =
            |field: &&Field| field.is_in(version) && field.tag.is_some_and(|(known, _)| known == number);
        if let Some(field) = fields.iter().find(known) {
            // Kafka does not compare the length with what it reads.
            read_field(reader, field, version, true, visitor)?;
        } else {
            let data = reader.take(len, "tag")?;
            visitor.unknown_tag(number, at..reader.at(), data);
        }
    }
    Ok(())
}

/// The length of text, data or a list in its plain or compact form; `None` is null.
fn read_len(
    reader: &mut Reader<'_>,
    kind: Kind,
    flexible: bool,
    name: &'static str,
) -> Result<Option<usize>, DecodeError> {
    let len = match kind {
        Kind::PlainText => i32::from(reader.i16(name)?),
        // The compact form is one more than the length, and Java's numbers are signed.
        _ if flexible => reader.uvar(name)?.cast_signed().wrapping_sub(1),
        Kind::Text => i32::from(reader.i16(name)?),
        _ => reader.i32(name)?,
    };
    Ok(usize::try_from(len).ok())
}

fn read_text<'a>(
    reader: &mut Reader<'a>,
    kind: Kind,
    flexible: bool,
    name: &'static str,
) -> Result<Option<Text<'a>>, DecodeError> {
    let at = reader.at();
    let Some(len) = read_len(reader, kind, flexible, name)? else { return Ok(None) };
    let bytes = reader.take(len, name).map_err(|error| DecodeError { at, ..error })?;
    if len > TEXT_MAX {
        let kind = DecodeErrorKind::TextTooLong { len, longest: TEXT_MAX };
        return Err(DecodeError { at, field: name, kind });
    }
    Ok(Some(Text::new(bytes)))
}

/// The number of elements of a list, each of which takes a byte at least.
fn read_count(
    reader: &mut Reader<'_>,
    kind: Kind,
    flexible: bool,
    name: &'static str,
) -> Result<Option<usize>, DecodeError> {
    let at = reader.at();
    match read_len(reader, kind, flexible, name)? {
        Some(count) if count > reader.left() => {
            let kind = DecodeErrorKind::CountAboveRest { count, left: reader.left() };
            Err(DecodeError { at, field: name, kind })
        }
        count => Ok(count),
    }
}

fn read_field<'a>(
    reader: &mut Reader<'a>,
    field: &Field,
    version: i16,
    flexible: bool,
    visitor: &mut impl Visitor<'a>,
) -> Result<(), DecodeError> {
    let name = field.name;
    let at = reader.at();
    let value = match field.kind {
        Kind::Bool => Scalar::Bool(reader.i8(name)? != 0),
        Kind::I8 => Scalar::Int(i64::from(reader.i8(name)?)),
        Kind::I16 => Scalar::Int(i64::from(reader.i16(name)?)),
        Kind::I32 => Scalar::Int(i64::from(reader.i32(name)?)),
        Kind::I64 => Scalar::Int(reader.i64(name)?),
        Kind::Uuid => Scalar::Uuid(reader.array(name)?),
        Kind::Text | Kind::PlainText => {
            read_text(reader, field.kind, flexible, name)?.map_or(Scalar::Null, Scalar::Text)
        }
        Kind::Bytes => match read_len(reader, field.kind, flexible, name)? {
            Some(len) => Scalar::Bytes(reader.take(len, name).map_err(|error| DecodeError { at, ..error })?),
            None => Scalar::Null,
        },
        Kind::I32s => match read_count(reader, field.kind, flexible, name)? {
            Some(count) => Scalar::I32s(Partitions::from_bytes(reader.take(count.saturating_mul(4), name)?)),
            None => Scalar::Null,
        },
        Kind::ModifiedUtf8 => Scalar::ModifiedUtf8(ModifiedUtf8::decode(reader, name)?),
        Kind::Utf16 => Utf16Name::decode(reader, name)?.map_or(Scalar::Null, Scalar::Utf16),
        Kind::Texts => match read_count(reader, field.kind, flexible, name)? {
            Some(count) => {
                visitor.begin_list(name, at..reader.at(), count, ListOf::Texts);
                for _ in 0..count {
                    let at = reader.at();
                    let text = read_text(reader, Kind::Text, flexible, name)?;
                    let Some(text) = text else {
                        return Err(DecodeError { at, field: name, kind: DecodeErrorKind::Null });
                    };
                    visitor.scalar(name, at..reader.at(), Scalar::Text(text));
                }
                visitor.end_list();
                return Ok(());
            }
            None => Scalar::Null,
        },
        Kind::Structs(fields) => match read_count(reader, field.kind, flexible, name)? {
            Some(count) => {
                visitor.begin_list(name, at..reader.at(), count, ListOf::Structs);
                for _ in 0..count {
                    visitor.begin_struct();
                    read_struct(reader, fields, version, flexible, visitor)?;
                    visitor.end_struct();
                }
                visitor.end_list();
                return Ok(());
            }
            None => Scalar::Null,
        },
    };
    if value == Scalar::Null && !field.is_nullable(version) {
        return Err(DecodeError { at, field: name, kind: DecodeErrorKind::Null });
    }
    visitor.scalar(name, at..reader.at(), value);
    Ok(())
}

/// Whether `value` is what a tagged field has when it is not there.
pub(super) fn is_default(field: &Field, value: &Value<'_>) -> bool {
    match (field.tag, value) {
        (Some(_), Value::Null) => true,
        (Some((_, TagDefault::Int(default))), Value::Int(value)) => *value == default,
        (Some((_, TagDefault::ZeroUuid)), Value::Uuid(value)) => *value == [0; 16],
        _ => false,
    }
}
