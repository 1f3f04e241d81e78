//! What `kafka-consumer-groups.sh --describe` prints, read back into groups.
//!
//! ```text
//! $ kafka-consumer-groups.sh --bootstrap-server … --describe --group checkout        a prompt: may name the group
//! Warning: Consumer group 'checkout' is rebalancing.                                 a message: names it too
//!
//! GROUP     TOPIC    PARTITION  CURRENT-OFFSET  …  CONSUMER-ID   HOST       CLIENT-ID    a header: where columns are
//! checkout  orders   0          41              …  till-1-6d96…  /10.0.0.7  till 1       a row
//! ```
//!
//! Any version from 0.9 to 4.x, `--describe` and `--members --verbose` alone or together, several groups in one
//! text, with prompts, warnings and log lines around. Columns are found by the positions of the header, because
//! client ids hold blanks and `GROUP-INSTANCE-ID` may be empty: splitting at blanks would shift every later field.
//!
//! The prints leave things open: no subscriptions, no generations, no partitions that are neither owned nor
//! committed. What had to be assumed is told in [`DescribedGroup::assumptions`], in plain sentences.
//!
//! Layouts by version, each with a real print in `datasets/describe`:
//!
//! | version | offsets table | members table |
//! |---|---|---|
//! | 0.9 | `GROUP, TOPIC, PARTITION, CURRENT OFFSET, LOG END OFFSET, LAG, OWNER` | – |
//! | 0.10.0, 0.10.1 | fixed columns, `OWNER` | – |
//! | 0.10.2–1.0 | no `GROUP`; `CONSUMER-ID`, `HOST`, `CLIENT-ID` | – |
//! | 1.1–2.3 | widths follow the content | `ASSIGNMENT`: `orders(0,1), clicks(2)` |
//! | 2.4–3.9 | `GROUP` first, several groups | `GROUP-INSTANCE-ID`; 3.9 prints `(0,1), (2)` without topics |
//! | 4.x | `LEADER-EPOCH` when verbose | `CURRENT-ASSIGNMENT`: `orders:0,1;clicks:2` |

mod assignment;
mod collect;
mod error;
mod group;
mod header;
mod row;
mod subscriptions;

use std::collections::BTreeMap;

use tenure::topology::PARTITION_LIMIT;

pub use error::{DescribeError, DescribeErrorKind};
pub use subscriptions::{Subscriptions, SubscriptionsError};

/// How a print is read.
#[derive(Clone, Debug)]
pub struct Options {
    /// What members subscribe to, where the print does not say.
    pub subscriptions: Subscriptions,
    /// Partitions that all topics of a group may have together.
    pub partition_limit: u32,
}

impl Default for Options {
    fn default() -> Self {
        Self { subscriptions: Subscriptions::default(), partition_limit: PARTITION_LIMIT }
    }
}

/// One consumer group, as far as a print shows it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct DescribedGroup {
    /// Its name; `None` if neither table, prompt nor message names it.
    pub name: Option<String>,
    /// The assignor, if a `--state` table shows it.
    pub assignor: Option<String>,
    /// Topics with the number of partitions: one more than the highest seen.
    pub topics: BTreeMap<String, u32>,
    /// Members by id.
    pub members: BTreeMap<String, DescribedMember>,
    /// What the print leaves open and was assumed: a sentence each.
    pub assumptions: Vec<String>,
}

/// One member, as far as a print shows it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct DescribedMember {
    /// `group.instance.id`.
    pub instance: Option<String>,
    /// `client.id`.
    pub client: Option<String>,
    /// Where it runs.
    pub host: Option<String>,
    /// Partitions by topic, ascending.
    pub owned: BTreeMap<String, Vec<u32>>,
    /// Topics, ascending.
    pub subscribed: Vec<String>,
    /// Whether `subscribed` is an assumption: the print does not say.
    pub assumed: bool,
}

/// Whether a text may be such a print rather than JSON: its first character that is not blank opens no object.
pub fn may_be_print(bytes: &[u8]) -> bool {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    !matches!(bytes.iter().find(|byte| !byte.is_ascii_whitespace()), Some(b'{'))
}

/// Reads all groups of a text, in the order in which they appear.
///
/// Cost: O(bytes) for tables whose columns stand where the header says; a row with a field wider than its
/// column costs the row's length once for each column. No number in the text decides how much memory is taken.
///
/// # Errors
///
/// The line and the reason: no such table, a damaged row, a partition that two members own, a partition number
/// that nothing else in the text bears out, a print that shows how many partitions but not which.
///
/// # Examples
///
/// ```
/// use tenure_cli::describe::{Options, read};
/// let text = "\
/// GROUP  TOPIC   PARTITION  CURRENT-OFFSET  LOG-END-OFFSET  LAG  CONSUMER-ID  HOST   CLIENT-ID
/// g      orders  0          7               9               2    c 1-6d96     /h     c 1
/// g      orders  1          -               0               -    -            -      -
/// ";
/// let groups = read(text.as_bytes(), &Options::default())?;
/// assert_eq!(groups[0].topics["orders"], 2);
/// assert_eq!(groups[0].members["c 1-6d96"].owned["orders"], [0]);
///
/// let error = read(b"hello", &Options::default()).unwrap_err();
/// assert!(error.to_string().contains("no consumer group table"));
/// # Ok::<(), tenure_cli::describe::DescribeError>(())
/// ```
pub fn read(bytes: &[u8], options: &Options) -> Result<Vec<DescribedGroup>, DescribeError> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let text = core::str::from_utf8(bytes).map_err(|error| error::not_utf8(bytes, error.valid_up_to()))?;
    collect::read(text, options)
}
