//! A cursor over bytes that checks before it reads and knows where it is.

use super::error::{DecodeError, DecodeErrorKind};
use super::text::Text;

/// Reads numbers, text and lists from a slice, each read checked and named.
///
/// Cost: no read copies or allocates; each is one comparison and one split.
/// Units: offsets count bytes from the start of the slice.
#[derive(Debug, Clone)]
pub struct Reader<'a> {
    rest: &'a [u8],
    len: usize,
}

impl<'a> Reader<'a> {
    /// Starts at the first byte.
    #[must_use]
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes, len: bytes.len() }
    }

    /// Offset of the next byte.
    #[inline]
    #[must_use]
    pub const fn at(&self) -> usize {
        self.len.saturating_sub(self.rest.len())
    }

    /// Bytes that have not been read.
    #[inline]
    #[must_use]
    pub const fn left(&self) -> usize {
        self.rest.len()
    }

    /// Everything that has not been read.
    #[inline]
    #[must_use]
    pub const fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// An error at the next byte.
    #[must_use]
    pub const fn error(&self, field: &'static str, kind: DecodeErrorKind) -> DecodeError {
        DecodeError { at: self.at(), field, kind }
    }

    #[cold]
    fn underflow(&self, needed: usize, field: &'static str) -> DecodeError {
        self.error(field, DecodeErrorKind::Underflow { needed, left: self.left() })
    }

    /// Reads `len` bytes.
    ///
    /// # Errors
    /// [`DecodeErrorKind::Underflow`] when fewer are left.
    #[inline]
    pub fn take(&mut self, len: usize, field: &'static str) -> Result<&'a [u8], DecodeError> {
        match self.rest.split_at_checked(len) {
            Some((taken, rest)) => {
                self.rest = rest;
                Ok(taken)
            }
            None => Err(self.underflow(len, field)),
        }
    }

    /// Reads exactly `N` bytes.
    ///
    /// # Errors
    /// [`DecodeErrorKind::Underflow`] when fewer are left.
    #[inline]
    pub fn array<const N: usize>(&mut self, field: &'static str) -> Result<[u8; N], DecodeError> {
        match self.rest.split_first_chunk::<N>() {
            Some((taken, rest)) => {
                self.rest = rest;
                Ok(*taken)
            }
            None => Err(self.underflow(N, field)),
        }
    }

    /// Reads a signed byte.
    ///
    /// # Errors
    /// [`DecodeErrorKind::Underflow`] at the end of the bytes.
    #[inline]
    pub fn i8(&mut self, field: &'static str) -> Result<i8, DecodeError> {
        self.array(field).map(i8::from_be_bytes)
    }

    /// Reads two bytes, signed.
    ///
    /// # Errors
    /// [`DecodeErrorKind::Underflow`] at the end of the bytes.
    #[inline]
    pub fn i16(&mut self, field: &'static str) -> Result<i16, DecodeError> {
        self.array(field).map(i16::from_be_bytes)
    }

    /// Reads two bytes, unsigned.
    ///
    /// # Errors
    /// [`DecodeErrorKind::Underflow`] at the end of the bytes.
    #[inline]
    pub fn u16(&mut self, field: &'static str) -> Result<u16, DecodeError> {
        self.array(field).map(u16::from_be_bytes)
    }

    /// Reads four bytes, signed.
    ///
    /// # Errors
    /// [`DecodeErrorKind::Underflow`] at the end of the bytes.
    #[inline]
    pub fn i32(&mut self, field: &'static str) -> Result<i32, DecodeError> {
        self.array(field).map(i32::from_be_bytes)
    }

    /// Reads eight bytes, signed.
    ///
    /// # Errors
    /// [`DecodeErrorKind::Underflow`] at the end of the bytes.
    #[inline]
    pub fn i64(&mut self, field: &'static str) -> Result<i64, DecodeError> {
        self.array(field).map(i64::from_be_bytes)
    }

    /// Reads an unsigned LEB128 number of at most five bytes; bits above the 32nd are dropped.
    ///
    /// # Errors
    /// [`DecodeErrorKind::VarintTooLong`] when a sixth byte would follow, or an underflow.
    pub fn uvar(&mut self, field: &'static str) -> Result<u32, DecodeError> {
        let start = self.clone();
        let mut value = 0_u32;
        for shift in [0, 7, 14, 21, 28] {
            let [byte] = match self.array::<1>(field) {
                Ok(byte) => byte,
                Err(error) => {
                    *self = start;
                    return Err(DecodeError { at: self.at(), ..error });
                }
            };
            value |= u32::from(byte & 0x7f).wrapping_shl(shift);
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        *self = start;
        Err(self.error(field, DecodeErrorKind::VarintTooLong))
    }

    /// Reads a 16-bit length and that many bytes of text; a negative length is `None`.
    ///
    /// # Errors
    /// [`DecodeErrorKind::Underflow`], placed at the length, when the text is cut off.
    #[inline]
    pub fn nullable_text(&mut self, field: &'static str) -> Result<Option<Text<'a>>, DecodeError> {
        let start = self.at();
        let len = self.i16(field)?;
        match usize::try_from(len) {
            Ok(len) => match self.take(len, field) {
                Ok(bytes) => Ok(Some(Text::new(bytes))),
                Err(error) => Err(DecodeError { at: start, ..error }),
            },
            Err(_) => Ok(None),
        }
    }

    /// As [`nullable_text`](Self::nullable_text), for a field that is never null.
    ///
    /// # Errors
    /// [`DecodeErrorKind::Null`] or [`DecodeErrorKind::Underflow`], placed at the length.
    #[inline]
    pub fn text(&mut self, field: &'static str) -> Result<Text<'a>, DecodeError> {
        let at = self.at();
        match self.nullable_text(field)? {
            Some(text) => Ok(text),
            None => Err(DecodeError { at, field, kind: DecodeErrorKind::Null }),
        }
    }

    /// Reads a 32-bit length and that many bytes; a negative length is `None`.
    ///
    /// # Errors
    /// [`DecodeErrorKind::Underflow`], placed at the length, when the data is cut off.
    #[inline]
    pub fn nullable_bytes(&mut self, field: &'static str) -> Result<Option<&'a [u8]>, DecodeError> {
        let start = self.at();
        let len = self.i32(field)?;
        match usize::try_from(len) {
            Ok(len) => match self.take(len, field) {
                Ok(bytes) => Ok(Some(bytes)),
                Err(error) => Err(DecodeError { at: start, ..error }),
            },
            Err(_) => Ok(None),
        }
    }

    /// As [`nullable_bytes`](Self::nullable_bytes), for a field that is never null.
    ///
    /// # Errors
    /// [`DecodeErrorKind::Null`] or [`DecodeErrorKind::Underflow`], placed at the length.
    #[inline]
    pub fn bytes(&mut self, field: &'static str) -> Result<&'a [u8], DecodeError> {
        let at = self.at();
        match self.nullable_bytes(field)? {
            Some(bytes) => Ok(bytes),
            None => Err(DecodeError { at, field, kind: DecodeErrorKind::Null }),
        }
    }

    /// Reads the 32-bit number of elements of a list; a negative one is `None`.
    ///
    /// No element takes less than a byte, so a number above the bytes left is refused before anybody
    /// makes room for it.
    ///
    /// # Errors
    /// [`DecodeErrorKind::CountAboveRest`], or an underflow.
    #[inline]
    pub fn nullable_count(&mut self, field: &'static str) -> Result<Option<usize>, DecodeError> {
        let at = self.at();
        let count = self.i32(field)?;
        match usize::try_from(count) {
            Ok(count) if count <= self.left() => Ok(Some(count)),
            Ok(count) => Err(DecodeError {
                at,
                field,
                kind: DecodeErrorKind::CountAboveRest { count, left: self.left() },
            }),
            Err(_) => Ok(None),
        }
    }

    /// As [`nullable_count`](Self::nullable_count), for a list that is never null.
    ///
    /// # Errors
    /// [`DecodeErrorKind::Null`], [`DecodeErrorKind::CountAboveRest`], or an underflow.
    #[inline]
    pub fn count(&mut self, field: &'static str) -> Result<usize, DecodeError> {
        let at = self.at();
        match self.nullable_count(field)? {
            Some(count) => Ok(count),
            None => Err(DecodeError { at, field, kind: DecodeErrorKind::Null }),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may stop")]
mod tests {
    use super::*;

    #[test]
    fn an_underflow_names_the_field_the_place_and_both_numbers() {
        let mut reader = Reader::new(&[0, 3, 0]);
        assert_eq!(reader.i16("version"), Ok(3));
        let error = reader.i32("topics").unwrap_err();
        assert_eq!((error.at, error.field), (2, "topics"));
        assert_eq!(error.kind, DecodeErrorKind::Underflow { needed: 4, left: 1 });
        assert_eq!(error.to_string(), "topics at byte 2: 4 bytes needed, 1 left");
    }

    #[test]
    fn a_failed_read_moves_nothing() {
        let mut reader = Reader::new(&[0x80, 0x80]);
        assert!(reader.i64("a").is_err());
        assert!(reader.uvar("b").is_err());
        assert_eq!((reader.at(), reader.left()), (0, 2));
    }

    #[test]
    fn varints_end_with_the_fifth_byte() {
        assert_eq!(Reader::new(&[0xff, 0xff, 0xff, 0xff, 0x0f]).uvar("n"), Ok(u32::MAX));
        assert_eq!(Reader::new(&[0xac, 0x02]).uvar("n"), Ok(300));
        let error = Reader::new(&[0x80, 0x80, 0x80, 0x80, 0x80, 0x00]).uvar("n").unwrap_err();
        assert_eq!(error.kind, DecodeErrorKind::VarintTooLong);
    }

    #[test]
    fn any_negative_length_is_null() {
        for len in [-1_i16, -2, i16::MIN] {
            assert_eq!(Reader::new(&len.to_be_bytes()).nullable_text("rack"), Ok(None));
        }
        for len in [-1_i32, -7, i32::MIN] {
            assert_eq!(Reader::new(&len.to_be_bytes()).nullable_bytes("data"), Ok(None));
            let error = Reader::new(&len.to_be_bytes()).count("list").unwrap_err();
            assert_eq!(error.kind, DecodeErrorKind::Null);
        }
    }

    #[test]
    fn a_count_above_the_bytes_left_is_refused_at_once() {
        let error = Reader::new(&[0, 0, 0, 3, 1, 2]).count("list").unwrap_err();
        assert_eq!((error.at, error.kind), (0, DecodeErrorKind::CountAboveRest { count: 3, left: 2 }));
    }
}
