//! Writing into memory of the caller, and counting without writing.

use alloc::vec::Vec;

use super::error::{EncodeError, EncodeErrorKind};

/// Where bytes go: a slice, a vector, or nowhere but a counter.
pub trait Sink {
    /// Appends `bytes`.
    ///
    /// # Errors
    /// [`EncodeErrorKind::BufferTooSmall`] when they do not fit.
    fn put(&mut self, bytes: &[u8]) -> Result<(), EncodeError>;

    /// Appends each number as four bytes.
    ///
    /// # Errors
    /// [`EncodeErrorKind::BufferTooSmall`] when they do not fit.
    fn put_i32s(&mut self, numbers: &[i32]) -> Result<(), EncodeError> {
        numbers.iter().try_for_each(|number| self.put(&number.to_be_bytes()))
    }
}

/// Counts the bytes that would be written.
#[derive(Debug, Clone, Copy, Default)]
pub struct ByteCount(usize);

impl ByteCount {
    /// The bytes counted so far.
    #[must_use]
    pub const fn total(self) -> usize {
        self.0
    }
}

impl Sink for ByteCount {
    #[inline]
    fn put(&mut self, bytes: &[u8]) -> Result<(), EncodeError> {
        self.0 = self.0.saturating_add(bytes.len());
        Ok(())
    }

    #[inline]
    fn put_i32s(&mut self, numbers: &[i32]) -> Result<(), EncodeError> {
        self.0 = self.0.saturating_add(size_of_val(numbers));
        Ok(())
    }
}

/// Writes into a slice of the caller.
#[derive(Debug)]
pub struct SliceSink<'w> {
    rest: &'w mut [u8],
    len: usize,
}

impl<'w> SliceSink<'w> {
    /// Starts at the first byte of `buffer`.
    #[must_use]
    pub const fn new(buffer: &'w mut [u8]) -> Self {
        let len = buffer.len();
        Self { rest: buffer, len }
    }

    /// Bytes written so far.
    #[must_use]
    pub const fn written(&self) -> usize {
        self.len.saturating_sub(self.rest.len())
    }

    #[inline]
    fn split(&mut self, len: usize) -> Result<&'w mut [u8], EncodeError> {
        let rest = core::mem::take(&mut self.rest);
        match rest.split_at_mut_checked(len) {
            Some((front, back)) => {
                self.rest = back;
                Ok(front)
            }
            None => Err(EncodeError {
                field: "buffer",
                kind: EncodeErrorKind::BufferTooSmall {
                    needed: self.len.saturating_add(len),
                    given: self.len,
                },
            }),
        }
    }
}

impl Sink for SliceSink<'_> {
    #[inline]
    fn put(&mut self, bytes: &[u8]) -> Result<(), EncodeError> {
        self.split(bytes.len())?.copy_from_slice(bytes);
        Ok(())
    }

    #[inline]
    fn put_i32s(&mut self, numbers: &[i32]) -> Result<(), EncodeError> {
        let front = self.split(size_of_val(numbers))?;
        for (to, number) in front.as_chunks_mut::<4>().0.iter_mut().zip(numbers) {
            *to = number.to_be_bytes();
        }
        Ok(())
    }
}

impl Sink for Vec<u8> {
    #[inline]
    fn put(&mut self, bytes: &[u8]) -> Result<(), EncodeError> {
        self.extend_from_slice(bytes);
        Ok(())
    }
}

impl<S: Sink + ?Sized> Sink for &mut S {
    #[inline]
    fn put(&mut self, bytes: &[u8]) -> Result<(), EncodeError> {
        (**self).put(bytes)
    }

    #[inline]
    fn put_i32s(&mut self, numbers: &[i32]) -> Result<(), EncodeError> {
        (**self).put_i32s(numbers)
    }
}

/// Writes numbers, text and lists into a [`Sink`], each length checked.
#[derive(Debug)]
pub struct Writer<S> {
    sink: S,
}

impl<S: Sink> Writer<S> {
    /// Writes into `sink`.
    #[must_use]
    pub const fn new(sink: S) -> Self {
        Self { sink }
    }

    /// Gives the sink back.
    #[must_use]
    pub fn into_sink(self) -> S {
        self.sink
    }

    /// Writes bytes as they are.
    ///
    /// # Errors
    /// [`EncodeErrorKind::BufferTooSmall`].
    #[inline]
    pub fn raw(&mut self, bytes: &[u8]) -> Result<(), EncodeError> {
        self.sink.put(bytes)
    }

    /// Writes numbers of four bytes each, without their count.
    ///
    /// # Errors
    /// [`EncodeErrorKind::BufferTooSmall`].
    #[inline]
    pub fn i32s(&mut self, numbers: &[i32]) -> Result<(), EncodeError> {
        self.sink.put_i32s(numbers)
    }

    /// Writes a signed byte.
    ///
    /// # Errors
    /// [`EncodeErrorKind::BufferTooSmall`].
    #[inline]
    pub fn i8(&mut self, value: i8) -> Result<(), EncodeError> {
        self.sink.put(&value.to_be_bytes())
    }

    /// Writes two bytes, signed.
    ///
    /// # Errors
    /// [`EncodeErrorKind::BufferTooSmall`].
    #[inline]
    pub fn i16(&mut self, value: i16) -> Result<(), EncodeError> {
        self.sink.put(&value.to_be_bytes())
    }

    /// Writes two bytes, unsigned.
    ///
    /// # Errors
    /// [`EncodeErrorKind::BufferTooSmall`].
    #[inline]
    pub fn u16(&mut self, value: u16) -> Result<(), EncodeError> {
        self.sink.put(&value.to_be_bytes())
    }

    /// Writes four bytes, signed.
    ///
    /// # Errors
    /// [`EncodeErrorKind::BufferTooSmall`].
    #[inline]
    pub fn i32(&mut self, value: i32) -> Result<(), EncodeError> {
        self.sink.put(&value.to_be_bytes())
    }

    /// Writes eight bytes, signed.
    ///
    /// # Errors
    /// [`EncodeErrorKind::BufferTooSmall`].
    #[inline]
    pub fn i64(&mut self, value: i64) -> Result<(), EncodeError> {
        self.sink.put(&value.to_be_bytes())
    }

    /// Writes an unsigned LEB128 number.
    ///
    /// # Errors
    /// [`EncodeErrorKind::BufferTooSmall`].
    pub fn uvar(&mut self, mut value: u32) -> Result<(), EncodeError> {
        loop {
            let [low, ..] = value.to_le_bytes();
            value = value.wrapping_shr(7);
            if value == 0 {
                return self.sink.put(&[low & 0x7f]);
            }
            self.sink.put(&[low | 0x80])?;
        }
    }

    /// Writes text behind its 16-bit length.
    ///
    /// # Errors
    /// [`EncodeErrorKind::TooLong`] above 32,767 bytes.
    #[inline]
    pub fn text(&mut self, text: &[u8], field: &'static str) -> Result<(), EncodeError> {
        let Ok(len) = i16::try_from(text.len()) else {
            return Err(too_long(field, text.len(), 0x7fff));
        };
        self.i16(len)?;
        self.sink.put(text)
    }

    /// Writes text behind its 16-bit length, or the length -1 for `None`.
    ///
    /// # Errors
    /// [`EncodeErrorKind::TooLong`] above 32,767 bytes.
    #[inline]
    pub fn nullable_text(&mut self, text: Option<&[u8]>, field: &'static str) -> Result<(), EncodeError> {
        match text {
            Some(text) => self.text(text, field),
            None => self.i16(-1),
        }
    }

    /// Writes data behind its 32-bit length.
    ///
    /// # Errors
    /// [`EncodeErrorKind::TooLong`] from 2 GiB on.
    #[inline]
    pub fn bytes(&mut self, bytes: &[u8], field: &'static str) -> Result<(), EncodeError> {
        self.count(bytes.len(), field)?;
        self.sink.put(bytes)
    }

    /// Writes data behind its 32-bit length, or the length -1 for `None`.
    ///
    /// # Errors
    /// [`EncodeErrorKind::TooLong`] from 2 GiB on.
    #[inline]
    pub fn nullable_bytes(&mut self, bytes: Option<&[u8]>, field: &'static str) -> Result<(), EncodeError> {
        match bytes {
            Some(bytes) => self.bytes(bytes, field),
            None => self.i32(-1),
        }
    }

    /// Writes the number of elements of a list.
    ///
    /// # Errors
    /// [`EncodeErrorKind::TooLong`] above 2^31 - 1.
    #[inline]
    pub fn count(&mut self, count: usize, field: &'static str) -> Result<(), EncodeError> {
        match i32::try_from(count) {
            Ok(count) => self.i32(count),
            Err(_) => Err(too_long(field, count, 0x7fff_ffff)),
        }
    }
}

#[cold]
pub(super) const fn too_long(field: &'static str, len: usize, longest: usize) -> EncodeError {
    EncodeError { field, kind: EncodeErrorKind::TooLong { len, longest } }
}

/// Runs `write` over a counter: the exact length of what it writes.
pub(super) fn measured(
    write: impl FnOnce(&mut Writer<ByteCount>) -> Result<(), EncodeError>,
) -> Result<usize, EncodeError> {
    let mut writer = Writer::new(ByteCount::default());
    write(&mut writer)?;
    Ok(writer.into_sink().total())
}

/// Runs `write` over `buffer`; `needed` is its exact length, checked before the first byte is written.
pub(super) fn written(
    buffer: &mut [u8],
    needed: usize,
    write: impl FnOnce(&mut Writer<SliceSink<'_>>) -> Result<(), EncodeError>,
) -> Result<usize, EncodeError> {
    let given = buffer.len();
    let Some(front) = buffer.get_mut(..needed) else {
        return Err(EncodeError { field: "buffer", kind: EncodeErrorKind::BufferTooSmall { needed, given } });
    };
    let mut writer = Writer::new(SliceSink::new(front));
    write(&mut writer)?;
    Ok(writer.into_sink().written())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may stop")]
mod tests {
    use super::*;

    #[test]
    fn a_slice_that_is_too_small_is_refused_and_says_what_is_needed() {
        let error = written(&mut [0; 3], 4, |writer| writer.i32(1)).unwrap_err();
        assert_eq!(error.kind, EncodeErrorKind::BufferTooSmall { needed: 4, given: 3 });
    }

    #[test]
    fn varints_are_as_short_as_can_be() {
        for (value, bytes) in [
            (0, &[0][..]),
            (127, &[0x7f]),
            (128, &[0x80, 0x01]),
            (300, &[0xac, 0x02]),
            (u32::MAX, &[0xff, 0xff, 0xff, 0xff, 0x0f]),
        ] {
            let mut writer = Writer::new(Vec::new());
            writer.uvar(value).unwrap();
            assert_eq!(writer.into_sink(), bytes);
        }
    }

    #[test]
    fn text_longer_than_its_length_field_is_refused() {
        let long = [b'n'; 0x8000];
        let error = measured(|writer| writer.text(&long, "topic")).unwrap_err();
        assert_eq!(error.kind, EncodeErrorKind::TooLong { len: 0x8000, longest: 0x7fff });
        assert_eq!(measured(|writer| writer.text(&long[1..], "topic")), Ok(0x8001));
    }
}
