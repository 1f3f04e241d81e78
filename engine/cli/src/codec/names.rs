//! The names of the formats.

use tenure::codec::message::{self, Format};
use tenure::codec::sticky::TENURE_COOPERATIVE_STICKY;

use super::compact;

/// A format, found by its name.
#[derive(Debug, Clone, Copy)]
pub enum FormatName {
    /// `consumer-subscription`, with the assignor under which the member's history is to be settled.
    Subscription(Option<&'static str>),
    /// `consumer-assignment`; as `assignment`, what a coordinator hands to a member, it may have no bytes.
    Assignment {
        /// Whether no bytes at all are an empty assignment.
        may_be_empty: bool,
    },
    /// `consumer-assignment-draft`.
    AssignmentDraft,
    /// `sticky-userdata`.
    Sticky,
    /// `cooperative-sticky-userdata`.
    CooperativeSticky,
    /// `tenure-userdata`.
    Compact,
    /// `streams-subscription-info`.
    StreamsSubscription,
    /// `streams-assignment-info`.
    StreamsAssignment,
    /// A request, response, record or draft.
    Table(&'static Format),
}

/// The assignors whose members have a history.
const ASSIGNORS: [&str; 5] =
    ["cooperative-sticky", TENURE_COOPERATIVE_STICKY, "sticky", "range", "roundrobin"];

impl FormatName {
    /// The format called `name`.
    ///
    /// `subscription` and `assignment` stand for the consumer's; `subscription:ASSIGNOR` settles the member's
    /// history as well.
    #[must_use]
    pub fn find(name: &str) -> Option<Self> {
        if let Some(assignor) =
            name.strip_prefix("subscription:").or(name.strip_prefix("consumer-subscription:"))
        {
            return ASSIGNORS
                .into_iter()
                .find(|known| *known == assignor)
                .map(|known| Self::Subscription(Some(known)));
        }
        Some(match name {
            "consumer-subscription" | "subscription" => Self::Subscription(None),
            "consumer-assignment" => Self::Assignment { may_be_empty: false },
            "assignment" => Self::Assignment { may_be_empty: true },
            "consumer-assignment-draft" => Self::AssignmentDraft,
            "sticky-userdata" => Self::Sticky,
            "cooperative-sticky-userdata" => Self::CooperativeSticky,
            compact::NAME => Self::Compact,
            "streams-subscription-info" => Self::StreamsSubscription,
            "streams-assignment-info" => Self::StreamsAssignment,
            _ => Self::Table(message::format(name)?),
        })
    }

    /// The oldest and the newest version.
    #[must_use]
    pub fn versions(self) -> (i16, i16) {
        self.table().map_or((1, 1), |table| (table.oldest, table.newest))
    }

    /// The table of the format; compact user data has none, since its bits are not fields.
    #[must_use]
    pub fn table(self) -> Option<&'static Format> {
        message::format(match self {
            Self::Subscription(_) => "consumer-subscription",
            Self::Assignment { .. } => "consumer-assignment",
            Self::AssignmentDraft => "consumer-assignment-draft",
            Self::Sticky => "sticky-userdata",
            Self::CooperativeSticky => "cooperative-sticky-userdata",
            Self::Compact => compact::NAME,
            Self::StreamsSubscription => "streams-subscription-info",
            Self::StreamsAssignment => "streams-assignment-info",
            Self::Table(table) => table.name,
        })
    }
}

/// The names of all formats.
pub fn format_names() -> impl Iterator<Item = &'static str> {
    message::FORMATS.iter().map(|format| format.name).chain([compact::NAME])
}
