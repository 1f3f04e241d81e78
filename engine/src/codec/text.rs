//! Text as it came: bytes first, characters when somebody asks.

use alloc::borrow::Cow;
use alloc::string::String;
use core::fmt;

/// Text from the wire, which should be UTF-8 and need not be.
///
/// Kafka never refuses bad text: a Java peer sees U+FFFD in place of what it cannot read. So two texts
/// of different bytes may be one name to Java; here equality is that of bytes.
///
/// Order: byte order, as Rust's; for Java's see [`utf16_cmp`](crate::id::utf16_cmp).
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Text<'a>(&'a [u8]);

impl<'a> Text<'a> {
    /// Wraps bytes without looking at them.
    #[inline]
    #[must_use]
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// The bytes as they came.
    #[inline]
    #[must_use]
    pub const fn as_bytes(self) -> &'a [u8] {
        self.0
    }

    /// Whether there are no bytes.
    #[inline]
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0.is_empty()
    }

    /// The characters, if the bytes are UTF-8.
    ///
    /// Cost: one pass over the bytes.
    #[must_use]
    pub fn as_str(self) -> Option<&'a str> {
        core::str::from_utf8(self.0).ok()
    }

    /// The characters a Java peer sees: bad parts become U+FFFD.
    ///
    /// Java replaces a surrogate encoded in UTF-8 (`ed`, `a0` to `bf`, and a third byte if it is a
    /// continuation) by one U+FFFD, where Rust's own lossy reader makes two or three.
    ///
    /// Cost: one pass, and an allocation only if something is bad.
    ///
    /// # Examples
    /// ```
    /// use tenure::codec::Text;
    /// assert_eq!(Text::new(b"orders").to_str_lossy(), "orders");
    /// assert_eq!(Text::new(b"x\xed\xa0\x80y").to_str_lossy(), "x\u{fffd}y");
    /// ```
    #[must_use]
    pub fn to_str_lossy(self) -> Cow<'a, str> {
        let mut rest = match core::str::from_utf8(self.0) {
            Ok(text) => return Cow::Borrowed(text),
            Err(_) => self.0,
        };
        let mut text = String::with_capacity(rest.len());
        // Every turn takes at least one byte off the rest.
        while !rest.is_empty() {
            let mut chunks = rest.utf8_chunks();
            let Some(chunk) = chunks.next() else { break };
            text.push_str(chunk.valid());
            let read = chunk.valid().len().saturating_add(chunk.invalid().len());
            rest = rest.get(read..).unwrap_or_default();
            if chunk.invalid().is_empty() {
                continue;
            }
            text.push(char::REPLACEMENT_CHARACTER);
            if chunk.invalid() == [0xed] {
                rest = match rest {
                    [0xa0..=0xbf, 0x80..=0xbf, rest @ ..] | [0xa0..=0xbf, rest @ ..] => rest,
                    _ => rest,
                };
            }
        }
        Cow::Owned(text)
    }
}

impl<'a> From<&'a str> for Text<'a> {
    fn from(text: &'a str) -> Self {
        Self(text.as_bytes())
    }
}

impl PartialEq<str> for Text<'_> {
    fn eq(&self, other: &str) -> bool {
        self.0 == other.as_bytes()
    }
}

impl PartialEq<&str> for Text<'_> {
    fn eq(&self, other: &&str) -> bool {
        self.0 == other.as_bytes()
    }
}

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.to_str_lossy())
    }
}

impl fmt::Debug for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&*self.to_str_lossy(), f)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may stop")]
mod tests {
    use super::*;

    /// What `new String(bytes, UTF_8)` of Java 17 makes of bad bytes, worked out by hand from its rules.
    #[test]
    fn bad_text_reads_as_in_java() {
        let cases: [(&[u8], &str); 16] = [
            (b"a\x80b", "a\u{fffd}b"),
            (b"\xc0\xaf", "\u{fffd}\u{fffd}"),
            (b"x\xed\xa0\x80y", "x\u{fffd}y"),
            (b"\xed\xa0\xbd\xed\xb8\x80", "\u{fffd}\u{fffd}"),
            (b"\xe2\x82", "\u{fffd}"),
            (b"\xe2\x82A", "\u{fffd}A"),
            (b"\xff\xfe", "\u{fffd}\u{fffd}"),
            (b"\xf4\x90\x80\x80", "\u{fffd}\u{fffd}\u{fffd}\u{fffd}"),
            (b"\xed\xa0", "\u{fffd}"),
            (b"\xed\xa0A", "\u{fffd}A"),
            (b"\xedA", "\u{fffd}A"),
            (b"\xed", "\u{fffd}"),
            (b"\xf0\x90\x80", "\u{fffd}"),
            (b"\xf0\x90\x80A", "\u{fffd}A"),
            (b"\xe0\x80\x80", "\u{fffd}\u{fffd}\u{fffd}"),
            (b"\xed\x9f\xbf", "\u{d7ff}"),
        ];
        for (bytes, text) in cases {
            assert_eq!(Text::new(bytes).to_str_lossy(), text, "{bytes:02x?}");
        }
    }

    #[test]
    fn good_text_is_borrowed() {
        assert!(matches!(Text::new("注文".as_bytes()).to_str_lossy(), Cow::Borrowed("注文")));
    }
}
