//! The two encodings of text that only Kafka Streams uses.

use alloc::string::String;
use core::fmt;

use crate::codec::error::{DecodeError, DecodeErrorKind, EncodeError};
use crate::codec::reader::Reader;
use crate::codec::writer::{Sink, Writer, too_long};

/// Text in Java's modified UTF-8, checked: NUL may be two bytes, and a character above U+FFFF is two
/// surrogates of three bytes each.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct ModifiedUtf8<'a>(&'a [u8]);

impl<'a> ModifiedUtf8<'a> {
    /// Reads an unsigned 16-bit length and that many bytes.
    ///
    /// As in Java, a bare NUL and forms longer than needed are let through; plain four-byte UTF-8 is not.
    ///
    /// # Errors
    /// [`DecodeErrorKind::ModifiedUtf8`], or an underflow.
    pub fn decode(reader: &mut Reader<'a>, field: &'static str) -> Result<Self, DecodeError> {
        let at = reader.at();
        let len = usize::from(reader.u16(field)?);
        let bytes = reader.take(len, field).map_err(|error| DecodeError { at, ..error })?;
        let text = Self(bytes);
        let units = Units(bytes);
        let mut rest = units;
        while rest.next().is_some() {}
        if rest.0.is_empty() {
            Ok(text)
        } else {
            Err(DecodeError { at, field, kind: DecodeErrorKind::ModifiedUtf8 })
        }
    }

    /// The bytes as they came.
    #[must_use]
    pub const fn as_bytes(self) -> &'a [u8] {
        self.0
    }

    /// The UTF-16 units.
    pub fn units(self) -> impl Iterator<Item = u16> + Clone + 'a {
        Units(self.0)
    }

    /// The characters; a surrogate without its partner becomes U+FFFD.
    #[must_use]
    pub fn to_string_lossy(self) -> String {
        lossy(self.units())
    }
}

impl fmt::Debug for ModifiedUtf8<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.to_string_lossy(), f)
    }
}

/// The units of modified UTF-8; ends early, with bytes left, at bad ones.
#[derive(Debug, Clone, Copy)]
struct Units<'a>(&'a [u8]);

impl Iterator for Units<'_> {
    type Item = u16;

    fn next(&mut self) -> Option<u16> {
        let low = |byte: u8| u16::from(byte & 0x3f);
        let (unit, rest) = match self.0 {
            [a @ 0..=0x7f, rest @ ..] => (u16::from(*a), rest),
            [a @ 0xc0..=0xdf, b @ 0x80..=0xbf, rest @ ..] => {
                (u16::from(a & 0x1f).wrapping_shl(6) | low(*b), rest)
            }
            [a @ 0xe0..=0xef, b @ 0x80..=0xbf, c @ 0x80..=0xbf, rest @ ..] => {
                (u16::from(a & 0x0f).wrapping_shl(12) | low(*b).wrapping_shl(6) | low(*c), rest)
            }
            _ => return None,
        };
        self.0 = rest;
        Some(unit)
    }
}

/// The name of a topology: UTF-16, two bytes a unit.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Utf16Name<'a>(&'a [[u8; 2]]);

impl<'a> Utf16Name<'a> {
    /// Reads a 32-bit count of units and the units; zero and negative counts are no name.
    ///
    /// # Errors
    /// An underflow.
    pub fn decode(reader: &mut Reader<'a>, field: &'static str) -> Result<Option<Self>, DecodeError> {
        let at = reader.at();
        match usize::try_from(reader.i32(field)?) {
            Ok(0) | Err(_) => Ok(None),
            Ok(units) => {
                let bytes = reader
                    .take(units.saturating_mul(2), field)
                    .map_err(|error| DecodeError { at, ..error })?;
                Ok(Some(Self(bytes.as_chunks::<2>().0)))
            }
        }
    }

    /// The units.
    pub fn units(self) -> impl Iterator<Item = u16> + Clone + 'a {
        self.0.iter().map(|unit| u16::from_be_bytes(*unit))
    }

    /// The characters; a surrogate without its partner becomes U+FFFD.
    #[must_use]
    pub fn to_string_lossy(self) -> String {
        lossy(self.units())
    }
}

impl fmt::Debug for Utf16Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.to_string_lossy(), f)
    }
}

fn lossy(units: impl Iterator<Item = u16>) -> String {
    char::decode_utf16(units).map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
}

/// Writes modified UTF-8 behind its unsigned 16-bit length.
pub(in crate::codec) fn write_modified_utf8<S: Sink>(
    writer: &mut Writer<S>,
    text: &str,
    field: &'static str,
) -> Result<(), EncodeError> {
    let width = |unit: u16| match unit {
        1..=0x7f => 1_usize,
        0 | 0x80..=0x7ff => 2,
        _ => 3,
    };
    let len = text.encode_utf16().fold(0_usize, |len, unit| len.saturating_add(width(unit)));
    let Ok(short) = u16::try_from(len) else { return Err(too_long(field, len, 0xffff)) };
    writer.u16(short)?;
    let part = |unit: u16, shift: u32, mark: u8| {
        let [_, low] = (unit.wrapping_shr(shift) & 0x3f).to_be_bytes();
        mark | low
    };
    for unit in text.encode_utf16() {
        match width(unit) {
            1 => writer.raw(&[part(unit, 6, 0).wrapping_shl(6) | part(unit, 0, 0)])?,
            2 => writer.raw(&[part(unit, 6, 0xc0), part(unit, 0, 0x80)])?,
            _ => writer.raw(&[part(unit, 12, 0xe0), part(unit, 6, 0x80), part(unit, 0, 0x80)])?,
        }
    }
    Ok(())
}

/// Writes UTF-16 behind its 32-bit count of units.
pub(in crate::codec) fn write_utf16<S: Sink>(
    writer: &mut Writer<S>,
    text: &str,
    field: &'static str,
) -> Result<(), EncodeError> {
    writer.count(text.encode_utf16().count(), field)?;
    text.encode_utf16().try_for_each(|unit| writer.u16(unit))
}
