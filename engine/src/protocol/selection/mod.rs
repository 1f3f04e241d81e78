//! Which assignor, and with it which rebalance protocol, a member follows.
//!
//! A member lists its assignors in preference order; the coordinator lets the members vote among those that all of
//! them list. Each assignor supports one or both rebalance protocols. Two questions follow, and KIP-429 answers both:
//!
//! - *May this list be used at all?* Only if some protocol is supported by every assignor in it: else the member
//!   refuses to start. Of several the one with the highest id counts as the list's common protocol.
//! - *How does the member behave?* As the assignor that the coordinator selected says, decided anew at each
//!   generation ([`ProtocolPolicy::Selected`]); or, as the released Java consumer does it, by the list's common
//!   protocol for the whole life of the member ([`ProtocolPolicy::Common`]).

mod election;
mod rollout;

use core::fmt;

pub use rollout::{NoCommonProtocol, check_roll_out, common_names, roll_out_path, vote};

use super::error::ProtocolError;

/// How a member prepares for a rebalance and takes its outcome.
///
/// Source: KIP-429, whose ids these are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum RebalanceProtocol {
    /// Give everything back before joining; take what is assigned as all new.
    Eager = 0,
    /// Join with what is owned; give back only what the assignment takes away, then join again.
    Cooperative = 1,
}

impl RebalanceProtocol {
    /// All protocols, by id.
    pub const ALL: [Self; 2] = [Self::Eager, Self::Cooperative];

    /// The number in the KIP's messages.
    pub const fn id(self) -> u8 {
        self as u8
    }

    /// The protocol with this number.
    ///
    /// # Errors
    ///
    /// [`ProtocolError::Config`] for a number that no protocol has.
    pub fn for_id(id: u8) -> Result<Self, ProtocolError> {
        Self::ALL.into_iter().find(|protocol| protocol.id() == id).ok_or_else(|| ProtocolError::Config {
            setting: "rebalance protocol id",
            given: id.to_string(),
            needed: "0 (eager) or 1 (cooperative)".into(),
        })
    }

    /// The protocol's name in lower case.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Eager => "eager",
            Self::Cooperative => "cooperative",
        }
    }
}

impl fmt::Display for RebalanceProtocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The bytes an assignor wants in its member's subscription.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum UserData {
    /// None: the claims of the subscription say all.
    #[default]
    None,
    /// These, until the host sets others.
    Fixed(Vec<u8>),
    /// What `StickyAssignor` writes: the partitions of the last assignment and its generation.
    Sticky,
    /// What `CooperativeStickyAssignor` writes: the generation alone.
    CooperativeSticky,
    /// All that is owned, and its generation, in the [compact](crate::codec::compact) form; the subscription's own list
    /// of owned partitions then stays empty.
    Compact,
}

/// An assignor as the protocol sees it: its name and what it supports. The choice itself is the host's to compute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assignor {
    name: String,
    protocols: Vec<RebalanceProtocol>,
    version: i16,
    user_data: UserData,
}

impl Assignor {
    /// An assignor of the host's own, with the protocols it supports.
    pub fn new(name: impl Into<String>, protocols: &[RebalanceProtocol]) -> Self {
        let mut protocols = protocols.to_vec();
        protocols.sort_unstable();
        protocols.dedup();
        Self { name: name.into(), protocols, version: 0, user_data: UserData::None }
    }

    /// Kafka's `range`: eager.
    pub fn range() -> Self {
        Self::new("range", &[RebalanceProtocol::Eager])
    }

    /// Kafka's `roundrobin`: eager.
    pub fn round_robin() -> Self {
        Self::new("roundrobin", &[RebalanceProtocol::Eager])
    }

    /// Kafka's `sticky`: eager, so that nobody changes the protocol by accident.
    pub fn sticky() -> Self {
        Self::new("sticky", &[RebalanceProtocol::Eager]).with_user_data(UserData::Sticky).with_version(1)
    }

    /// Kafka's `cooperative-sticky`: both protocols, so that it can stand beside an eager one during an upgrade.
    pub fn cooperative_sticky() -> Self {
        Self::new("cooperative-sticky", &RebalanceProtocol::ALL).with_user_data(UserData::CooperativeSticky)
    }

    /// Tenure's own: both protocols. What its members own travels in compact user data alone, and its assignments
    /// carry the need for a follow-up round.
    pub fn tenure_cooperative_sticky() -> Self {
        Self::new(TENURE_COOPERATIVE_STICKY, &RebalanceProtocol::ALL).with_user_data(UserData::Compact)
    }

    /// The assignor with this name, if it is one of those this library knows.
    pub fn by_name(name: &str) -> Option<Self> {
        match name {
            "range" => Some(Self::range()),
            "roundrobin" => Some(Self::round_robin()),
            "sticky" => Some(Self::sticky()),
            "cooperative-sticky" => Some(Self::cooperative_sticky()),
            TENURE_COOPERATIVE_STICKY => Some(Self::tenure_cooperative_sticky()),
            _ => None,
        }
    }

    /// Sets the assignor's version: which user data and algorithm it has. A newer one can read all older ones.
    #[must_use]
    pub fn with_version(mut self, version: i16) -> Self {
        self.version = version;
        self
    }

    /// Sets what goes into the subscription's user data.
    #[must_use]
    pub fn with_user_data(mut self, user_data: UserData) -> Self {
        self.user_data = user_data;
        self
    }

    /// The name that members agree on.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The protocols it supports, lowest id first.
    pub fn supported_protocols(&self) -> &[RebalanceProtocol] {
        &self.protocols
    }

    /// The highest protocol it supports: how its members behave.
    pub fn protocol(&self) -> Option<RebalanceProtocol> {
        self.protocols.last().copied()
    }

    /// The version of its user data and algorithm.
    pub fn version(&self) -> i16 {
        self.version
    }

    /// What goes into the subscription's user data.
    pub fn user_data(&self) -> &UserData {
        &self.user_data
    }
}

pub use crate::codec::sticky::TENURE_COOPERATIVE_STICKY;

/// What decides how a member behaves in a generation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum ProtocolPolicy {
    /// The assignor that the coordinator selected, anew at each generation. A group that falls back to an eager
    /// assignor while its members still own partitions relies on its leader to withhold them, as
    /// [`Leader`](super::leader::Leader) does. A Java leader doesn't look at claims under an eager assignor: where one
    /// may lead, let the lists have one protocol in common with it, or take [`Common`](Self::Common).
    #[default]
    Selected,
    /// The highest protocol common to the whole list, once for all: the released Java consumer.
    Common,
}

/// A member's assignors in preference order, checked.
///
/// # Examples
///
/// ```
/// use tenure::protocol::selection::{Assignor, ProtocolPolicy, RebalanceProtocol, Selection};
///
/// // The list of the first rolling restart: safe beside members that only know range.
/// let upgrade = [Assignor::range(), Assignor::cooperative_sticky()];
/// let selection = Selection::new(&upgrade, ProtocolPolicy::Selected)?;
/// assert_eq!(selection.common(), RebalanceProtocol::Eager);
/// assert_eq!(selection.protocol_of("cooperative-sticky"), Some(RebalanceProtocol::Cooperative));
///
/// // Nothing in common: refused before anything is sent.
/// let future = Assignor::new("new", &[RebalanceProtocol::Cooperative]);
/// let error = Selection::new(&[Assignor::range(), future], ProtocolPolicy::Selected).unwrap_err();
/// assert!(error.to_string().contains("supported by all"));
/// # Ok::<(), tenure::protocol::error::ProtocolError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selection {
    assignors: Vec<Assignor>,
    common: RebalanceProtocol,
    policy: ProtocolPolicy,
}

impl Selection {
    /// Checks a list of assignors.
    ///
    /// # Errors
    ///
    /// [`ProtocolError::Config`] if the list is empty, names one assignor twice, or no protocol is supported by all.
    pub fn new(assignors: &[Assignor], policy: ProtocolPolicy) -> Result<Self, ProtocolError> {
        let names = || assignors.iter().map(Assignor::name).collect::<Vec<_>>().join(", ");
        if assignors.is_empty() {
            return Err(ProtocolError::Config {
                setting: ASSIGNORS,
                given: "empty".into(),
                needed: "at least one assignor".into(),
            });
        }
        for (at, assignor) in assignors.iter().enumerate() {
            if assignor.name.is_empty() || assignors.iter().take(at).any(|one| one.name == assignor.name) {
                return Err(ProtocolError::Config {
                    setting: ASSIGNORS,
                    given: names(),
                    needed: "every assignor to have a name of its own".into(),
                });
            }
        }
        let common = highest_common(assignors).ok_or_else(|| ProtocolError::Config {
            setting: ASSIGNORS,
            given: assignors
                .iter()
                .map(|one| {
                    let supports = one.protocols.iter().map(|p| p.name()).collect::<Vec<_>>().join(" or ");
                    format!("{} ({})", one.name, if supports.is_empty() { "none" } else { &supports })
                })
                .collect::<Vec<_>>()
                .join(", "),
            needed: "one rebalance protocol that is supported by all of them; remove one, or take its cooperative variant"
                .into(),
        })?;
        Ok(Self { assignors: assignors.to_vec(), common, policy })
    }

    /// Sets an assignor's user data from now on; false if the list doesn't have it.
    pub fn set_user_data(&mut self, name: &str, user_data: UserData) -> bool {
        match self.assignors.iter_mut().find(|one| one.name == name) {
            Some(assignor) => {
                assignor.user_data = user_data;
                true
            }
            None => false,
        }
    }

    /// The assignors, the preferred one first.
    pub fn assignors(&self) -> &[Assignor] {
        &self.assignors
    }

    /// The highest protocol that all assignors support.
    pub fn common(&self) -> RebalanceProtocol {
        self.common
    }

    /// What decides how the member behaves.
    pub fn policy(&self) -> ProtocolPolicy {
        self.policy
    }

    /// How the member behaves in a generation for which this assignor was selected; `None` if the list lacks it.
    pub fn protocol_of(&self, name: &str) -> Option<RebalanceProtocol> {
        let assignor = self.assignors.iter().find(|one| one.name == name)?;
        match self.policy {
            ProtocolPolicy::Selected => assignor.protocol(),
            ProtocolPolicy::Common => Some(self.common),
        }
    }

    /// All protocols that some assignor of the list supports, lowest id first.
    pub fn supported(&self) -> Vec<RebalanceProtocol> {
        RebalanceProtocol::ALL
            .into_iter()
            .filter(|protocol| self.assignors.iter().any(|one| one.protocols.contains(protocol)))
            .collect()
    }
}

/// The highest protocol that all of these assignors support.
pub fn highest_common(assignors: &[Assignor]) -> Option<RebalanceProtocol> {
    if assignors.is_empty() {
        return None;
    }
    RebalanceProtocol::ALL
        .into_iter()
        .rev()
        .find(|protocol| assignors.iter().all(|one| one.protocols.contains(protocol)))
}

const ASSIGNORS: &str = "partition.assignment.strategy";
