//! The assignment as KIP-429's text has it, with an error code that no release carries.

use alloc::vec::Vec;

use super::assignment::Assignment;
use super::blocks::Blocks;
use super::writable;
use super::write::{Fields, TopicPartitions, write_blocks};
use crate::codec::error::{DecodeError, DecodeErrorKind, EncodeError};
use crate::codec::reader::Reader;
use crate::codec::writer::{Sink, Writer};

/// The newest version of the draft.
const NEWEST_VERSION: i16 = 1;

/// What the draft's leader tells every member besides its partitions.
///
/// The text gives no numbers; these are from Kafka's own development history.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum AssignmentErrorCode {
    /// The round is complete.
    #[default]
    None,
    /// Join again at once: partitions are on their way from one member to another.
    NeedRejoin,
}

impl AssignmentErrorCode {
    /// The code on the wire.
    #[must_use]
    pub const fn code(self) -> i16 {
        match self {
            Self::None => 0,
            Self::NeedRejoin => 1,
        }
    }

    /// The error with this code.
    #[must_use]
    pub const fn from_code(code: i16) -> Option<Self> {
        match code {
            0 => Some(Self::None),
            1 => Some(Self::NeedRejoin),
            _ => None,
        }
    }

    /// The name in the text.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "NONE",
            Self::NeedRejoin => "NEED_REJOIN",
        }
    }
}

/// A member's assignment in the draft's form.
///
/// Source: KIP-429, the assignment's version 1 with its error code. Version 0 has none and means
/// [`AssignmentErrorCode::None`]; a newer version is read as 1. A shipped member reads the same bytes and
/// never sees the code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct DraftAssignment<'a> {
    /// The version as sent.
    pub version: i16,
    /// The partitions, as they stand.
    pub assigned: Blocks<'a>,
    /// What the leader's assignor has to say; null and empty differ.
    pub user_data: Option<&'a [u8]>,
    /// Whether to join again.
    pub error: AssignmentErrorCode,
}

impl<'a> DraftAssignment<'a> {
    /// Reads an assignment of any version of the draft.
    ///
    /// # Errors
    /// As [`Assignment::decode`], except that no bytes at all are an error too, or an unknown code.
    pub fn decode(bytes: &'a [u8]) -> Result<Self, DecodeError> {
        let mut reader = Reader::new(bytes);
        let assignment = Assignment::from_reader(&mut reader)?;
        let version = assignment.version.unwrap_or_default();
        let error = if version >= 1 {
            let at = reader.at();
            let code = reader.i16("errorCode")?;
            match AssignmentErrorCode::from_code(code) {
                Some(error) => error,
                None => {
                    let kind = DecodeErrorKind::UnknownErrorCode { code };
                    return Err(DecodeError { at, field: "errorCode", kind });
                }
            }
        } else {
            AssignmentErrorCode::None
        };
        Ok(Self { version, assigned: assignment.assigned, user_data: assignment.user_data, error })
    }
}

/// An assignment to be written in the draft's form.
///
/// Order: as given; nothing real says otherwise. Version 0 has no code, so it is dropped there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DraftAssignmentFields<'a> {
    /// The partitions assigned.
    pub assigned: &'a [TopicPartitions<'a>],
    /// What the assignor has to say.
    pub user_data: Option<&'a [u8]>,
    /// Whether to join again.
    pub error: AssignmentErrorCode,
}

impl Fields for DraftAssignmentFields<'_> {
    fn write<S: Sink>(&self, version: i16, writer: &mut Writer<S>) -> Result<(), EncodeError> {
        writable(version, NEWEST_VERSION)?;
        writer.i16(version)?;
        write_blocks(writer, self.assigned, "assignedPartitions")?;
        writer.nullable_bytes(self.user_data, "userData")?;
        if version >= 1 {
            writer.i16(self.error.code())?;
        }
        Ok(())
    }
}

impl DraftAssignmentFields<'_> {
    /// The exact number of bytes that the other two write.
    ///
    /// # Errors
    /// What cannot be written: an unknown version, a name above 32,767 bytes.
    pub fn encoded_len(&self, version: i16) -> Result<usize, EncodeError> {
        self.measure(version)
    }

    /// Writes the assignment to the front of `buffer` and returns its length.
    ///
    /// # Errors
    /// As [`encoded_len`](Self::encoded_len), or a buffer that is too small, which is left as it was.
    pub fn encode_into(&self, version: i16, buffer: &mut [u8]) -> Result<usize, EncodeError> {
        self.write_to(version, buffer)
    }

    /// Writes the assignment.
    ///
    /// # Errors
    /// As [`encoded_len`](Self::encoded_len).
    pub fn encode(&self, version: i16) -> Result<Vec<u8>, EncodeError> {
        self.write_out(version)
    }
}
