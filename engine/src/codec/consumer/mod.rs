//! What consumers say when they join, and what the leader gives them: versions 0 to 3 of the
//! consumer protocol.
//!
//! | field | since | absent reads as |
//! |---|---|---|
//! | version, topics, user data | 0 | |
//! | owned partitions | 1 | empty |
//! | generation | 2 | none |
//! | rack | 3 | none |
//!
//! An assignment has the same fields in every version: version, partitions, user data.
//!
//! Source: KIP-429 (owned partitions), KIP-792 (generation), KIP-881 (rack).

mod assignment;
mod blocks;
mod draft;
mod subscription;
mod write;

pub use assignment::{Assignment, AssignmentFields, AssignmentWriter};
pub use blocks::{Block, BlockIter, Blocks, NameIter, Names, PartitionIter, Partitions};
pub use draft::{AssignmentErrorCode, DraftAssignment, DraftAssignmentFields};
pub use subscription::{Subscription, SubscriptionFields};
pub use write::TopicPartitions;
pub(super) use write::write_blocks;

use super::error::{DecodeError, DecodeErrorKind, EncodeError, EncodeErrorKind};
use super::reader::Reader;

/// The newest version of subscription and assignment that is known.
pub const NEWEST_VERSION: i16 = 3;

/// Reads the version in front of a subscription or assignment; newer ones than known are legal.
fn version(reader: &mut Reader<'_>) -> Result<i16, DecodeError> {
    let at = reader.at();
    let version = reader.i16("version")?;
    if version < 0 {
        let kind = DecodeErrorKind::UnsupportedVersion {
            version: i32::from(version),
            oldest: 0,
            newest: i32::from(NEWEST_VERSION),
        };
        return Err(DecodeError { at, field: "version", kind });
    }
    Ok(version)
}

/// Refuses to write a version that is not known.
fn writable(version: i16, newest: i16) -> Result<(), EncodeError> {
    if (0..=newest).contains(&version) {
        return Ok(());
    }
    let kind = EncodeErrorKind::UnsupportedVersion {
        version: i32::from(version),
        oldest: 0,
        newest: i32::from(newest),
    };
    Err(EncodeError { field: "version", kind })
}
