//! Group snapshots in JSON: read as a stream into the engine's builders.
//!
//! ```text
//! {
//!   "assignor": "cooperative-sticky",
//!   "topics":  { "orders": 12, "clicks": {"partitions": 2, "racks": [["a", "b"], ["b", "c"]]} },
//!   "members": { "consumer-1": { "topics": ["orders"], "owned": {"orders": [0, 1, "4-7"]},
//!                                "generation": 41, "rack": "a", "instance": null, "protocol": "cooperative" } }
//! }
//! ```
//!
//! No tree of the document is built: names go to the builders as they are met, so a snapshot of a million
//! partitions takes little more memory than the group itself. Members are read when the topics and the
//! assignor are known; a file that has them the other way round is read twice.
//!
//! Nothing in a file decides memory alone: partition counts are held against a limit before anything is
//! allocated, ranges of owned partitions against the number of partitions that there are.

mod error;
mod member;
mod plan;
mod range;
mod scalar;
mod top;
mod topics;
mod trail;

pub use error::SnapshotError;
pub use plan::{PlanFile, read_plan};

use tenure::Group;
use tenure::plan::Strategy;
use tenure::topology::PARTITION_LIMIT;

/// How a snapshot is read.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Takes the place of the snapshot's `assignor`.
    pub strategy: Option<Strategy>,
    /// Partitions that all topics may have together.
    pub partition_limit: u32,
}

impl Default for Options {
    fn default() -> Self {
        Self { strategy: None, partition_limit: PARTITION_LIMIT }
    }
}

/// A group, and the assignor that shall plan it.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// The assignor: that of the options, or of the file, or cooperative-sticky.
    pub strategy: Strategy,
    /// The group.
    pub group: Group,
}

/// Reads one snapshot from the bytes of a JSON document.
///
/// Cost: O(bytes); members before topics cost a second pass.
///
/// # Errors
///
/// What is wrong, where (line, column, field) and what to write instead. Lines count from 1.
///
/// # Examples
///
/// ```
/// use tenure_cli::snapshot::{Options, read};
/// let text = r#"{"topics": {"t": 3}, "members": {"a": {"topics": ["t"], "owned": {"t": ["0-2"]}}}}"#;
/// let snapshot = read(text.as_bytes(), &Options::default())?;
/// assert_eq!(snapshot.group.members(), 1);
///
/// let error = read(br#"{"topics": {"t": -3}, "members": {}}"#, &Options::default()).unwrap_err();
/// assert_eq!((error.line, error.field.as_str()), (1, r#"topics."t""#));
/// # Ok::<(), tenure_cli::snapshot::SnapshotError>(())
/// ```
pub fn read(bytes: &[u8], options: &Options) -> Result<Snapshot, SnapshotError> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let text = core::str::from_utf8(bytes).map_err(|error| error::not_utf8(bytes, error.valid_up_to()))?;
    top::read(text, options)
}
