//! The forms in which members can say what they want and have.

use core::fmt;

use crate::plan::Strategy;
use crate::protocol::selection::TENURE_COOPERATIVE_STICKY;

/// What a subscription carries beside its topics, and under which protocol name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Format {
    /// `range`: topics alone.
    Range,
    /// `roundrobin`: topics alone.
    RoundRobin,
    /// `cooperative-sticky`: owned partitions in the subscription, the generation in the user data.
    CooperativeSticky,
    /// `sticky` of clients before 2.3: owned partitions in the user data.
    StickyV0,
    /// `sticky`: owned partitions and their generation in the user data.
    StickyV1,
    /// `tenure-cooperative-sticky`: owned partitions and their generation in compact user data.
    TenureCooperativeSticky,
}

impl Format {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Range,
        Self::RoundRobin,
        Self::StickyV0,
        Self::StickyV1,
        Self::CooperativeSticky,
        Self::TenureCooperativeSticky,
    ];

    /// The format in which members of a group with this assignor join.
    pub const fn of(strategy: Strategy) -> Self {
        match strategy {
            Strategy::Range => Self::Range,
            Strategy::RoundRobin => Self::RoundRobin,
            Strategy::Sticky => Self::StickyV1,
            _ => Self::CooperativeSticky,
        }
    }

    /// The protocol name in JoinGroup requests.
    pub const fn protocol_name(self) -> &'static str {
        match self {
            Self::Range => "range",
            Self::RoundRobin => "roundrobin",
            Self::CooperativeSticky => "cooperative-sticky",
            Self::StickyV0 | Self::StickyV1 => "sticky",
            Self::TenureCooperativeSticky => TENURE_COOPERATIVE_STICKY,
        }
    }

    /// The version of the user data, where formats of one name differ in it.
    pub const fn user_data_version(self) -> Option<u8> {
        match self {
            Self::StickyV0 => Some(0),
            Self::StickyV1 => Some(1),
            _ => None,
        }
    }

    /// Whether a member gives nothing up before it joins.
    pub const fn cooperative(self) -> bool {
        matches!(self, Self::CooperativeSticky | Self::TenureCooperativeSticky)
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.protocol_name())?;
        match self.user_data_version() {
            Some(version) => write!(f, ", user data v{version}"),
            None => Ok(()),
        }
    }
}

/// A format in a version of the consumer protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Form {
    /// What is carried.
    pub format: Format,
    /// The version of the subscription, 0 to 3.
    pub version: i16,
}

impl Form {
    /// Every format in every version that it is used in.
    pub fn all() -> impl Iterator<Item = Self> + Clone {
        Format::ALL.into_iter().flat_map(|format| (0..=3).map(move |version| Self { format, version }))
    }

    /// A format in the newest version, which current clients write.
    pub const fn newest(format: Format) -> Self {
        Self { format, version: 3 }
    }

    /// Whether the subscription lists what is owned in Kafka's way, in a place of its own or in the user data.
    pub(super) const fn lists_owned(self) -> bool {
        self.tells_owned() && !matches!(self.format, Format::TenureCooperativeSticky)
    }

    /// Whether the leader learns from these bytes what members own.
    pub const fn tells_owned(self) -> bool {
        match self.format {
            Format::Range | Format::RoundRobin => false,
            Format::CooperativeSticky => self.version >= 1,
            Format::StickyV0 | Format::StickyV1 | Format::TenureCooperativeSticky => true,
        }
    }
}
