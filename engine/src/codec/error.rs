//! What can be wrong with bytes that came in, and with values that should go out.

use core::fmt;

/// Bytes that do not hold what they should, and where.
///
/// A peer's bytes are at fault, never the caller. What to do is the protocol's rule: a broken
/// subscription or assignment is refused, broken user data means a member without history.
///
/// Units: `at` is the offset in bytes from the start of what was decoded, at the first byte of the
/// field named by `field`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct DecodeError {
    /// Offset in bytes of the field that could not be read.
    pub at: usize,
    /// The field's name, as in Kafka's message definitions.
    pub field: &'static str,
    /// What is wrong there.
    pub kind: DecodeErrorKind,
}

/// What is wrong at the place a [`DecodeError`] names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum DecodeErrorKind {
    /// The bytes end before the field does.
    Underflow {
        /// Bytes the field still needs.
        needed: usize,
        /// Bytes that are left.
        left: usize,
    },
    /// A negative length, which means null, for a field that is never null.
    Null,
    /// More elements announced than bytes are left.
    CountAboveRest {
        /// The number of elements announced.
        count: usize,
        /// Bytes that are left, or the most elements that fit into them.
        left: usize,
    },
    /// A negative number of elements.
    NegativeCount {
        /// The number announced.
        count: i32,
    },
    /// A version, or a record type, that nobody can read.
    UnsupportedVersion {
        /// The version on the wire.
        version: i32,
        /// The oldest version known.
        oldest: i32,
        /// The newest version known.
        newest: i32,
    },
    /// A latest supported version below the version in use.
    LatestBelowVersion {
        /// The version in use.
        version: i32,
        /// The latest version claimed.
        latest: i32,
    },
    /// An error code that the draft does not name.
    UnknownErrorCode {
        /// The code on the wire.
        code: i16,
    },
    /// A variable-length number of more than five bytes.
    VarintTooLong,
    /// A number of tagged fields that is negative or above the limit of 10,000.
    TagCount {
        /// The number announced, as signed.
        count: i32,
    },
    /// Text that is not modified UTF-8.
    ModifiedUtf8,
    /// Text longer than Kafka takes.
    TextTooLong {
        /// The length announced.
        len: usize,
        /// The longest that is read.
        longest: usize,
    },
    /// The bytes begin as those of another format: nothing is known of them.
    ForeignFormat,
    /// The bytes are damaged, or stand beside another topic list than the one they were written for.
    Checksum {
        /// The checksum on the wire.
        stated: u32,
        /// The checksum of what was read.
        computed: u32,
    },
    /// An encoding that nobody can read.
    UnknownEncoding {
        /// Its number on the wire.
        id: u8,
    },
    /// The bytes arrived as they were written, and contradict themselves: the writer is at fault.
    Inconsistent {
        /// What is wrong.
        what: &'static str,
    },
}

impl DecodeErrorKind {
    /// A short, stable name of the kind, for programs.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Underflow { .. } => "underflow",
            Self::Null => "null",
            Self::CountAboveRest { .. } => "count-above-rest",
            Self::NegativeCount { .. } => "negative-count",
            Self::UnsupportedVersion { .. } => "unsupported-version",
            Self::LatestBelowVersion { .. } => "latest-below-version",
            Self::UnknownErrorCode { .. } => "unknown-error-code",
            Self::VarintTooLong => "varint-too-long",
            Self::TagCount { .. } => "tag-count",
            Self::ModifiedUtf8 => "modified-utf8",
            Self::TextTooLong { .. } => "text-too-long",
            Self::ForeignFormat => "foreign-format",
            Self::Checksum { .. } => "checksum",
            Self::UnknownEncoding { .. } => "unknown-encoding",
            Self::Inconsistent { .. } => "inconsistent",
        }
    }
}

impl fmt::Display for DecodeErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Underflow { needed, left } => {
                write!(f, "{needed} bytes needed, {left} left")
            }
            Self::Null => f.write_str("null, which this field may not be"),
            Self::CountAboveRest { count, left } => {
                write!(f, "{count} elements announced, at most {left} fit into the rest")
            }
            Self::NegativeCount { count } => write!(f, "{count} elements announced"),
            Self::UnsupportedVersion { version, oldest, newest } => {
                write!(f, "version {version}, known are {oldest} to {newest}")
            }
            Self::LatestBelowVersion { version, latest } => {
                write!(f, "latest supported version {latest} is below the version in use, {version}")
            }
            Self::UnknownErrorCode { code } => {
                write!(f, "error code {code}, known are 0 (none) and 1 (need rejoin)")
            }
            Self::VarintTooLong => f.write_str("a variable-length number of more than five bytes"),
            Self::TagCount { count } => {
                write!(f, "{count} tagged fields announced, 0 to 10000 are possible")
            }
            Self::ModifiedUtf8 => f.write_str("text that is not Java's modified UTF-8"),
            Self::TextTooLong { len, longest } => {
                write!(f, "text of {len} bytes, at most {longest} are read")
            }
            Self::ForeignFormat => f.write_str("another format"),
            Self::Checksum { stated, computed } => write!(
                f,
                "damaged, or written for another topic list: the checksum is {computed:08x}, {stated:08x} is stated"
            ),
            Self::UnknownEncoding { id } => write!(f, "encoding {id}, known are 0 to 4"),
            Self::Inconsistent { what } => write!(f, "wrongly written: {what}"),
        }
    }
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at byte {}: {}", self.field, self.at, self.kind)
    }
}

impl core::error::Error for DecodeError {}

/// A value that cannot be written, or a buffer that cannot hold it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct EncodeError {
    /// The field's name, as in Kafka's message definitions.
    pub field: &'static str,
    /// Why it cannot be written.
    pub kind: EncodeErrorKind,
}

/// Why an [`EncodeError`] was returned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum EncodeErrorKind {
    /// The buffer is shorter than the bytes to write.
    BufferTooSmall {
        /// The bytes needed.
        needed: usize,
        /// The bytes given.
        given: usize,
    },
    /// Text, data or a list longer than its length field can say.
    TooLong {
        /// The length given.
        len: usize,
        /// The longest that can be written.
        longest: usize,
    },
    /// A version that the format does not have.
    UnsupportedVersion {
        /// The version asked for.
        version: i32,
        /// The oldest version that can be written.
        oldest: i32,
        /// The newest version that can be written.
        newest: i32,
    },
    /// A value that the version asked for has no place for and that may not be dropped.
    NotInVersion {
        /// The version asked for.
        version: i32,
    },
    /// Null for a field that is never null, or no value for a field that must have one.
    Missing,
    /// A value of another type than the field's.
    WrongType,
    /// Tagged fields that do not ascend, or that repeat a known number.
    TagOrder {
        /// The number of the tag out of order.
        tag: u32,
    },
    /// A number that the field cannot carry.
    OutOfRange,
}

impl EncodeErrorKind {
    /// A short, stable name of the kind, for programs.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::BufferTooSmall { .. } => "buffer-too-small",
            Self::TooLong { .. } => "too-long",
            Self::UnsupportedVersion { .. } => "unsupported-version",
            Self::NotInVersion { .. } => "not-in-version",
            Self::Missing => "missing",
            Self::WrongType => "wrong-type",
            Self::TagOrder { .. } => "tag-order",
            Self::OutOfRange => "out-of-range",
        }
    }
}

impl fmt::Display for EncodeErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::BufferTooSmall { needed, given } => {
                write!(f, "{needed} bytes needed, the buffer has {given}")
            }
            Self::TooLong { len, longest } => {
                write!(f, "a length of {len}, at most {longest} can be written")
            }
            Self::UnsupportedVersion { version, oldest, newest } => {
                write!(f, "version {version}, {oldest} to {newest} can be written")
            }
            Self::NotInVersion { version } => write!(f, "version {version} has no place for it"),
            Self::Missing => f.write_str("a value is needed"),
            Self::WrongType => f.write_str("the value has another type than the field"),
            Self::TagOrder { tag } => write!(f, "tag {tag} repeats or does not ascend"),
            Self::OutOfRange => f.write_str("the field cannot carry this number"),
        }
    }
}

impl fmt::Display for EncodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field, self.kind)
    }
}

impl core::error::Error for EncodeError {}
