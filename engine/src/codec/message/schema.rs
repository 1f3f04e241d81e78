//! The table of a format: its versions and its fields in order.

/// A layout of bytes: the versions it has and its fields.
#[derive(Debug)]
#[non_exhaustive]
pub struct Format {
    /// The name used in files and on the command line.
    pub name: &'static str,
    /// Kafka's number of the request, for requests and responses.
    pub api_key: Option<i16>,
    /// The oldest version.
    pub oldest: i16,
    /// The newest version known.
    pub newest: i16,
    /// The first version with compact lengths and tagged fields; above `newest` if there is none.
    pub flexible_from: i16,
    /// What stands in front of the fields.
    pub prefix: Prefix,
    /// The fields in the order of the wire; tagged ones last.
    pub fields: &'static [Field],
}

impl Format {
    /// A format without a prefix and without flexible versions: the beginning of a table of your own.
    ///
    /// # Examples
    ///
    /// ```
    /// use tenure::codec::message::{Field, Format, Kind};
    ///
    /// static ANSWER: Format = Format::new(
    ///     "end-txn-response",
    ///     0,
    ///     3,
    ///     &[Field::new("throttleTimeMs", Kind::I32), Field::new("errorCode", Kind::I16)],
    /// )
    /// .flexible_from(3);
    /// assert!(ANSWER.decode(&[0, 0, 0, 0, 0, 22], 2).is_ok());
    /// assert!(ANSWER.decode(&[0, 0, 0, 0, 0], 2).is_err());
    /// ```
    #[must_use]
    pub const fn new(name: &'static str, oldest: i16, newest: i16, fields: &'static [Field]) -> Self {
        Self { name, api_key: None, oldest, newest, flexible_from: i16::MAX, prefix: Prefix::None, fields }
    }

    /// The same with compact lengths and tagged fields from `version` on.
    #[must_use]
    pub const fn flexible_from(mut self, version: i16) -> Self {
        self.flexible_from = version;
        self
    }

    /// The same with Kafka's number of the request.
    #[must_use]
    pub const fn api(mut self, key: i16) -> Self {
        self.api_key = Some(key);
        self
    }

    pub(super) const fn prefix(mut self, prefix: Prefix) -> Self {
        self.prefix = prefix;
        self
    }

    /// Whether `version` has compact lengths and tagged fields.
    #[must_use]
    pub const fn is_flexible(&self, version: i16) -> bool {
        version >= self.flexible_from
    }

    /// Whether the bytes themselves say which version they are.
    #[must_use]
    pub const fn tells_version(&self) -> bool {
        !matches!(self.prefix, Prefix::None)
    }
}

/// What stands in front of a format's fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Prefix {
    /// Nothing: the version is known from elsewhere.
    None,
    /// Two bytes, the version; one that is not known is refused.
    Version,
    /// Two bytes, the version; a newer one is read as the newest known.
    OpenVersion,
    /// Two bytes, the type of the record, which counts as the version.
    RecordType,
    /// Four bytes, the version, which is a field of the value too; one that is not known is refused.
    WideVersion,
    /// As `WideVersion`, but of a newer one than known only the fields that say so are read.
    ProbedVersion,
}

/// The type of a field.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Kind {
    /// One byte; anything but zero is true.
    Bool,
    /// One byte, signed.
    I8,
    /// Two bytes, signed.
    I16,
    /// Four bytes, signed.
    I32,
    /// Eight bytes, signed.
    I64,
    /// Sixteen bytes.
    Uuid,
    /// Text of at most 32,767 bytes.
    Text,
    /// Text with a plain length even in flexible versions.
    PlainText,
    /// Data.
    Bytes,
    /// A list of four-byte numbers.
    I32s,
    /// A list of texts.
    Texts,
    /// A list of structs.
    Structs(&'static [Field]),
    /// Text in Java's modified UTF-8 behind an unsigned 16-bit length.
    ModifiedUtf8,
    /// Text in UTF-16 behind a 32-bit count of units; zero or a negative one is null.
    Utf16,
}

/// The value of a tagged field that is not there, which is not written either.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Default {
    /// A number.
    Int(i64),
    /// The uuid of sixteen zeros.
    ZeroUuid,
}

/// A field of a format.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Field {
    /// The name, as in Kafka's message definitions.
    pub name: &'static str,
    /// The type.
    pub kind: Kind,
    /// The first version that has it.
    pub since: i16,
    /// The last version that has it.
    pub until: i16,
    /// The first version in which it may be null.
    pub nullable_since: i16,
    /// Number and default of a tagged field.
    pub tag: Option<(u32, Default)>,
}

impl Field {
    /// A field of all versions, never null.
    #[must_use]
    pub const fn new(name: &'static str, kind: Kind) -> Self {
        Self { name, kind, since: 0, until: i16::MAX, nullable_since: i16::MAX, tag: None }
    }

    /// The same from `version` on.
    #[must_use]
    pub const fn since(mut self, version: i16) -> Self {
        self.since = version;
        self
    }

    /// The same until `version`.
    #[must_use]
    pub const fn until(mut self, version: i16) -> Self {
        self.until = version;
        self
    }

    /// The same, and it may be null.
    #[must_use]
    pub const fn nullable(self) -> Self {
        self.nullable_since(0)
    }

    /// The same, and it may be null from `version` on.
    #[must_use]
    pub const fn nullable_since(mut self, version: i16) -> Self {
        self.nullable_since = version;
        self
    }

    /// The same as a tagged field.
    #[must_use]
    pub const fn tag(mut self, number: u32, default: Default) -> Self {
        self.tag = Some((number, default));
        self
    }

    /// Whether `version` has the field.
    #[must_use]
    pub const fn is_in(&self, version: i16) -> bool {
        self.since <= version && version <= self.until
    }

    /// Whether the field may be null in `version`.
    #[must_use]
    pub const fn is_nullable(&self, version: i16) -> bool {
        self.nullable_since <= version
    }
}
