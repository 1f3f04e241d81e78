//! What can be wrong with a request to read or write.

use core::fmt;

use serde_json::{Map, Value, json};
use tenure::codec::{DecodeError, EncodeError};

/// Why bytes could not be read or a value not be written.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum CodecFailure {
    /// The bytes are not what the format says.
    Decode(DecodeError),
    /// The value cannot be written.
    Encode(EncodeError),
    /// The JSON is not of the format's form.
    Form {
        /// Where, as `topics[2].name`.
        path: String,
        /// What was expected there.
        expected: String,
    },
    /// No format of this name.
    UnknownFormat(String),
    /// The version is needed and was not given.
    VersionNeeded {
        /// The format's name.
        format: &'static str,
        /// The versions it has.
        versions: (i16, i16),
    },
}

impl CodecFailure {
    pub(super) fn form(path: impl Into<String>, expected: impl Into<String>) -> Self {
        Self::Form { path: path.into(), expected: expected.into() }
    }

    /// The failure for programs: `at`, `kind`, `field`, `message`.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let mut error = Map::new();
        match self {
            Self::Decode(inner) => {
                error.insert("at".into(), json!(inner.at));
                error.insert("kind".into(), json!(inner.kind.name()));
                error.insert("field".into(), json!(inner.field));
            }
            Self::Encode(inner) => {
                error.insert("kind".into(), json!(inner.kind.name()));
                error.insert("field".into(), json!(inner.field));
            }
            Self::Form { path, .. } => {
                error.insert("kind".into(), json!("form"));
                error.insert("field".into(), json!(path));
            }
            Self::UnknownFormat(_) => {
                error.insert("kind".into(), json!("unknown-format"));
            }
            Self::VersionNeeded { .. } => {
                error.insert("kind".into(), json!("version-needed"));
            }
        }
        error.insert("message".into(), json!(self.to_string()));
        error.into()
    }
}

impl fmt::Display for CodecFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Decode(error) => error.fmt(f),
            Self::Encode(error) => error.fmt(f),
            Self::Form { path, expected } if path.is_empty() => write!(f, "the value must be {expected}"),
            Self::Form { path, expected } => write!(f, "{path} must be {expected}"),
            Self::UnknownFormat(name) => {
                write!(f, "no format is called {name:?}; `tenure decode --list` shows those that are")
            }
            Self::VersionNeeded { format, versions: (oldest, newest) } => {
                write!(
                    f,
                    "the bytes of {format} do not say their version: give one from {oldest} to {newest}"
                )
            }
        }
    }
}

impl core::error::Error for CodecFailure {}

impl From<DecodeError> for CodecFailure {
    fn from(error: DecodeError) -> Self {
        Self::Decode(error)
    }
}

impl From<EncodeError> for CodecFailure {
    fn from(error: EncodeError) -> Self {
        Self::Encode(error)
    }
}
