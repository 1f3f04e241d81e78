//! The leader's whole round in one call: from the members' bytes in a JoinGroup response to the assignments' bytes
//! of a SyncGroup request.
//!
//! ```text
//! members (any order) ──► by id ──► decode ──► Group ──► Plan ──► runs ──► one buffer, one slice a member
//!                          │         │ the same topic list again? one comparison of bytes      │
//!                          │         └ the next topic's name again? one comparison, else one hash
//!                          └ the order of the last round, if it still holds                    │
//!                                   given what it claims, as it wrote it? one copy of its bytes ┘
//! ```
//!
//! What decides ([`Leader`]) is immutable, what changes ([`LeaderScratch`]) is the caller's and is used again: once it
//! has seen a group of a size, a round of that size allocates nothing. Topic names become indices once for each
//! different topic list, *because* most members of a group send the same list in the same order; comparing 8 kB of
//! names with the last member's costs less than looking up ten of them.
//!
//! The alternative, decoding every member into maps of names as the Java assignors do, costs an allocation a member
//! and topic, and a hash a partition.

mod courses;
mod entry;
mod error;
mod heads;
mod intake;
mod layout;
mod member;
mod output;
mod returned;
mod round;
mod scratch;
mod sequence;
mod turn;

pub use entry::{JoinEntry, MemberMetadata};
pub use error::LeaderError;
pub use round::LeaderRound;
pub use scratch::LeaderScratch;

use alloc::string::ToString;
use alloc::vec::Vec;

use super::message::SyncAssignment;
use super::selection::TENURE_COOPERATIVE_STICKY;
use crate::plan::{Assignor, Config, Strategy};
use crate::revoke::{Mode, Round};
use crate::topology::Topology;
use output::Form;

/// What a leader does with a JoinGroup response that lists a member id twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum DuplicateMembers {
    /// Refuses the round: [`LeaderError::DuplicateMember`]. No broker should send that, so somebody should hear of it.
    #[default]
    Refuse,
    /// The first entry counts, the others are not even read; every partition is still assigned.
    FirstCounts,
}

/// The version that a leader writes in front of an assignment. Its bytes are the same in all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum AssignmentVersion {
    /// The version of the member's own subscription, or 3 if that is newer: nobody is sent a version that it did
    /// not itself send, so nothing depends on how it treats newer ones.
    #[default]
    AsSubscribed,
    /// 3 for everybody: what a Java leader since 3.4 writes, whatever the members sent.
    Newest,
}

/// Leads groups: immutable, shareable, nothing remembered between calls.
///
/// | protocol name | claims and generation from | members |
/// |---|---|---|
/// | `cooperative-sticky` | the subscription; the generation from its user data if it has none itself | cooperative |
/// | `tenure-cooperative-sticky` | [compact](crate::codec::compact) user data; who must give something up is told so in its assignment's | cooperative |
/// | `sticky` | the user data alone | eager |
/// | `range`, `roundrobin` | not looked at for the choice | eager |
///
/// Under an eager assignor nobody should own anything when it joins. Who still claims something is about to give it
/// up: the group has just fallen back from a cooperative assignor. It goes to nobody else in this round, and its
/// claimant is asked, in its user data, to join again.
///
/// A claim whose subscription can't say its generation (version 1 without the assignor's user data) counts as of the
/// round's newest. A generation of −1, which says that there is none, is older than all others. So a claim that may
/// be valid is never overruled by an old one of a static member that is away; if it was stale after all, what it shares
/// with another claim is given up by both, a round later.
///
/// A member whose user data can't be read has no history and is counted
/// ([`LeaderRound::unreadable`]); a subscription that can't be read refuses the round and names the member.
///
/// In mode [`Mode::Draft`] assignments are those of KIP-429's text: version 0 or 1, from 1 on with the error code.
///
/// # Examples
///
/// A member that leads, from [`Action::Assign`](super::member::Action::Assign) to its SyncGroup:
///
/// ```
/// use tenure::Topology;
/// use tenure::protocol::leader::{Leader, LeaderScratch};
/// use tenure::protocol::member::{Action, Member, MemberConfig};
/// use tenure::protocol::message::{Request, JoinGroupResponse, FindCoordinatorResponse, JoinMember};
/// use tenure::protocol::selection::{Assignor, ProtocolPolicy, Selection};
/// use tenure::protocol::error::ErrorCode;
///
/// let leader = Leader::new();
/// let mut scratch = LeaderScratch::new();
/// let selection = Selection::new(&[Assignor::cooperative_sticky()], ProtocolPolicy::Selected)?;
/// let mut member = Member::new(MemberConfig::new("g", selection), 0)?;
/// member.subscribe(["orders"], 0)?;
/// let mut synced = None;
/// while let Some(action) = member.poll_action() {
///     match action {
///         // The host's part: here a broker that makes us the leader of a group of one, "me".
///         Action::Send { id, request: Request::FindCoordinator(_), .. } => {
///             let found = FindCoordinatorResponse { error: ErrorCode::None, node_id: 1 };
///             member.handle_response(id, found.into(), 0)?;
///         }
///         Action::Send { id, request: Request::JoinGroup(join), .. } => {
///             let me = JoinMember {
///                 member_id: "me".into(),
///                 group_instance_id: None,
///                 metadata: join.protocols[0].metadata.clone(),
///             };
///             let joined = JoinGroupResponse {
///                 generation_id: 1,
///                 protocol_name: Some("cooperative-sticky".into()),
///                 leader: "me".into(),
///                 members: vec![me],
///                 ..JoinGroupResponse::refused(ErrorCode::None, "me")
///             };
///             member.handle_response(id, joined.into(), 0)?;
///         }
///         Action::RefreshMetadata(_) => {
///             member.handle_metadata(tenure::protocol::member::Metadata::new([("orders", 3)]), 0);
///         }
///         // The leader's part.
///         Action::Assign(asked) => {
///             let mut topology = Topology::builder();
///             for (topic, count) in asked.metadata.topics() {
///                 topology.add_topic(topic, u32::try_from(count).unwrap_or(0));
///             }
///             let round = leader.round_into(&asked.assignor, &asked.members, "me", &topology.build()?, &mut scratch);
///             let outcome = round.map(|round| round.to_sync()).map_err(|error| error.to_string());
///             member.assignment_computed(asked.id, outcome, 0)?;
///         }
///         Action::Send { request: Request::SyncGroup(sync), .. } => synced = Some(sync.assignments),
///         _ => {}
///     }
/// }
/// let synced = synced.expect("the leader sends everybody's assignment");
/// let mine = tenure::codec::Assignment::decode(&synced[0].assignment)?;
/// assert_eq!(mine.assigned.partition_count(), 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Leader {
    mode: Mode,
    config: Config,
    duplicates: DuplicateMembers,
    version: AssignmentVersion,
}

impl Leader {
    /// A leader as Kafka's own: shipped mode, racks before moves, and each member's own version.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets which text of KIP-429 is followed where the document and the released software differ.
    #[must_use]
    pub const fn mode(mut self, mode: Mode) -> Self {
        self.mode = mode;
        self
    }

    /// Sets how the assignor plans: what comes first after balance, and how topics are spread. The strategy is not
    /// taken from here: the protocol's name says it.
    ///
    /// # Examples
    ///
    /// ```
    /// use tenure::plan::{Config, Objective};
    /// use tenure::protocol::leader::Leader;
    /// let leader = Leader::new().config(Config::new().objective(Objective::MovesThenRack));
    /// assert_eq!(leader.get_config().get_objective(), Objective::MovesThenRack);
    /// ```
    #[must_use]
    pub const fn config(mut self, config: Config) -> Self {
        self.config = config;
        self
    }

    /// How the assignor plans.
    pub const fn get_config(&self) -> &Config {
        &self.config
    }

    /// Sets what happens to a member id that is listed twice.
    #[must_use]
    pub const fn duplicates(mut self, duplicates: DuplicateMembers) -> Self {
        self.duplicates = duplicates;
        self
    }

    /// Sets which version is written in front of the assignments.
    #[must_use]
    pub const fn assignment_version(mut self, version: AssignmentVersion) -> Self {
        self.version = version;
        self
    }

    /// Leads one round: reads all members, plans, and writes all assignments.
    ///
    /// Shapes: M members, S bytes of subscriptions, B topic blocks and N partitions claimed and assigned.
    /// Cost: one comparison of each member's topic list with another's, and O(B + N) beside the plan's own cost;
    /// no allocation once `scratch` has served rounds of this size. Only topic names that are not UTF-8 and errors
    /// allocate.
    /// Order: assignments are in the order of `members`; what they hold depends on the members' content alone.
    /// Threads: with the feature `rayon`, and only when called inside a pool of it, large rounds are read and written
    /// by several threads; the bytes are the same.
    /// Source: KIP-429, KIP-54, KIP-341, KIP-792, KIP-881.
    ///
    /// # Errors
    ///
    /// [`LeaderError`]: no members, a leader that is not among them, an unknown protocol name, a member id twice, a
    /// subscription that can't be read, or a group that is too large. Nothing is assigned then.
    ///
    /// # Examples
    ///
    /// ```
    /// use tenure::Topology;
    /// use tenure::codec::{Assignment, SubscriptionFields};
    /// use tenure::protocol::leader::{Leader, LeaderScratch, MemberMetadata};
    ///
    /// let topology = Topology::builder().topic("orders", 4).build()?;
    /// let bytes = SubscriptionFields { topics: &["orders"], ..Default::default() }.encode(3)?;
    /// let members = ["b", "a"].map(|id| MemberMetadata::new(id, &bytes));
    /// let mut scratch = LeaderScratch::new();
    /// let round = Leader::new().round_into("cooperative-sticky", &members, "a", &topology, &mut scratch)?;
    /// let ids: Vec<&str> = round.assignments().map(|(id, _)| id).collect();
    /// assert_eq!(ids, ["b", "a"]);
    /// for (_, assignment) in round.assignments() {
    ///     assert_eq!(Assignment::decode(assignment)?.assigned.partition_count(), 2);
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn round_into<'s, M: JoinEntry>(
        &self,
        protocol_name: &str,
        members: &[M],
        leader_id: &str,
        topology: &Topology,
        scratch: &'s mut LeaderScratch,
    ) -> Result<LeaderRound<'s>, LeaderError> {
        let own = protocol_name == TENURE_COOPERATIVE_STICKY;
        let strategy = match protocol_name.parse::<Strategy>() {
            Ok(strategy) => strategy,
            Err(_) if own => Strategy::CooperativeSticky,
            Err(_) => return Err(LeaderError::UnknownProtocol { name: protocol_name.to_string() }),
        };
        let LeaderScratch { heads, intake, builder, group, plan_scratch, plan, layout, output } = scratch;
        intake.order_members(members, leader_id, self.duplicates)?;
        builder.reset(topology);
        heads.prepare(topology);
        builder.say_ids_ascend();
        intake.read(members, protocol_name, strategy.protocol(), heads, builder)?;
        builder.build_into(group)?;

        let shape = group.shape();
        plan_scratch.reset(shape);
        plan.reset(shape);
        let outcome = Assignor::new(self.config.strategy(strategy)).assign_into(group, plan_scratch, plan)?;

        let round = Round::new(group, plan, self.mode);
        let rejoin = round.rejoin();
        let tell = (own || intake.falls_back) && rejoin;
        let form = Form { mode: self.mode, version: self.version, tell, rejoin };
        layout.lay(&round, self.mode, heads, |member| intake.blocks(members, member));
        output.write(members, &round, &form, heads, intake, layout)?;
        Ok(LeaderRound::new(scratch, outcome, self.mode, rejoin))
    }

    /// As [`round_into`](Self::round_into), for the impatient: the assignments that go into a SyncGroup request, in
    /// the order of `members`. Allocates.
    ///
    /// # Errors
    ///
    /// As [`round_into`](Self::round_into).
    pub fn round<M: JoinEntry>(
        &self,
        protocol_name: &str,
        members: &[M],
        leader_id: &str,
        topology: &Topology,
    ) -> Result<Vec<SyncAssignment>, LeaderError> {
        let mut scratch = LeaderScratch::new();
        self.round_into(protocol_name, members, leader_id, topology, &mut scratch)
            .map(|round| round.to_sync())
    }
}
