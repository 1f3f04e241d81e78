//! What each member has to say and gets, as lengths.

use alloc::vec::Vec;

use super::compact::{Compact, Compacting};
use super::figures::Figures;
use super::form::{Form, Format};
use super::growth::Growth;
use super::lengths::{MemberLengths, Names};
use super::limits::{Limits, Subject};
use super::newer::NewerProtocol;
use super::remedies::Remedies;
use crate::group::Group;
use crate::id::{MemberIndex, PartitionIndex, TopicIndex};
use crate::protocol::payload::FOLLOW_UP;
use crate::revoke::Round;
use crate::topology::Topology;

/// Which round is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Moment {
    /// The round as the group stands: its claims, and what members get now.
    Now,
    /// A later round, when everybody has what is planned, claims it, and gets it again: of the generation behind the
    /// latest one that members know.
    Settled,
}

impl Moment {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Now, Self::Settled];
}

/// What the messages carry and a [`Group`] does not know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Surroundings<'a> {
    /// The group's id.
    pub group_id: &'a str,
    /// The members' client id; `None` takes it from each member id, which is the client id, a dash and a UUID.
    pub client_id: Option<&'a str>,
    /// The members' host as the broker writes it: a slash and the address.
    pub client_host: &'a str,
}

impl Default for Surroundings<'_> {
    /// A group called "group", and the longest IPv4 address.
    fn default() -> Self {
        Self { group_id: "group", client_id: None, client_host: "/255.255.255.255" }
    }
}

/// Partitions by topic, as the wire lists them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Blocks {
    /// Topics.
    pub(super) count: u64,
    /// Their names, together.
    pub(super) names: u64,
    /// Partitions.
    pub(super) partitions: u64,
}

impl Blocks {
    /// The whole list: count, and per topic its name, a count, and the numbers.
    pub(super) const fn bytes(self) -> u64 {
        4 + self.heads() + 4 * self.partitions
    }

    /// Names and counts of the topics.
    pub(super) const fn heads(self) -> u64 {
        6 * self.count + self.names
    }

    fn head(&mut self, topic: &str) {
        self.count += 1;
        self.names += topic.len() as u64;
    }

    /// Ascending partitions of a topology.
    fn of(topology: &Topology, partitions: impl Iterator<Item = PartitionIndex>) -> Self {
        let mut blocks = Self::default();
        let mut end = 0;
        for partition in partitions {
            if partition.get() >= end {
                let topic = topology.topic_of(partition);
                end = topology.bases()[topic.at() + 1];
                blocks.head(topology.name(topic));
            }
            blocks.partitions += 1;
        }
        blocks
    }

    /// What a member claims, of partitions that exist or not: one block a topic.
    fn claimed(group: &Group, member: MemberIndex) -> Self {
        let topology = group.topology();
        let mut blocks = Self::of(topology, group.claims(member));
        let mut last = None;
        for claim in group.foreign_claims(member) {
            blocks.partitions += (i64::from(claim.to) - i64::from(claim.from) + 1).unsigned_abs();
            if last == Some(claim.topic) {
                continue;
            }
            last = Some(claim.topic);
            let listed = topology.find(claim.topic).is_some_and(|topic| claims_of(group, member, topic));
            if !listed {
                blocks.head(claim.topic);
            }
        }
        blocks
    }
}

/// Whether a member claims an existing partition of a topic.
fn claims_of(group: &Group, member: MemberIndex, topic: TopicIndex) -> bool {
    let (base, end) = (group.topology().bases()[topic.at()], group.topology().bases()[topic.at() + 1]);
    let claims = group.claim_numbers(member);
    claims.get(claims.partition_point(|&claim| claim < base)).is_some_and(|&claim| claim < end)
}

/// One member, counted once.
#[derive(Debug, Clone, Copy)]
pub(super) struct Counted {
    id: u64,
    instance: Option<u64>,
    client_id: u64,
    client_host: u64,
    /// The topics that it subscribes to.
    pub(super) topics: u64,
    /// Their names, together.
    pub(super) topic_names: u64,
    rack: Option<u64>,
    /// Whether it was a member before, so that it has something to say.
    returning: bool,
    claimed: Blocks,
    given: Blocks,
    pub(super) target: Blocks,
    /// Whether Tenure's own leader tells it to join again.
    told: bool,
    compact: Compact,
}

impl Counted {
    fn owned(&self, moment: Moment) -> Blocks {
        match moment {
            Moment::Now => self.claimed,
            Moment::Settled => self.target,
        }
    }

    fn subscription(&self, form: Form, moment: Moment) -> u64 {
        let owned = self.owned(moment);
        let returning = self.returning || moment == Moment::Settled;
        let (user_data, listed) = match form.format {
            Format::Range | Format::RoundRobin => (0, Blocks::default()),
            Format::CooperativeSticky => (4, owned),
            Format::StickyV0 | Format::StickyV1 if !returning => (0, Blocks::default()),
            Format::StickyV0 => (owned.bytes(), Blocks::default()),
            Format::StickyV1 => (owned.bytes() + 4, Blocks::default()),
            Format::TenureCooperativeSticky => (self.compact.len(form.version, moment), Blocks::default()),
        };
        let topics = 4 + 2 * self.topics + self.topic_names;
        let mut len = 2 + topics + 4 + user_data;
        if form.version >= 1 {
            len += listed.bytes();
        }
        if form.version >= 2 {
            len += 4;
        }
        if form.version >= 3 {
            len += 2 + self.rack.unwrap_or(0);
        }
        len
    }

    fn assignment(&self, format: Format, moment: Moment) -> u64 {
        let (given, told) = match moment {
            Moment::Now => (self.given, self.told && format == Format::TenureCooperativeSticky),
            Moment::Settled => (self.target, false),
        };
        2 + given.bytes() + 4 + if told { FOLLOW_UP.len() as u64 } else { 0 }
    }

    fn lengths(&self, form: Form, moment: Moment) -> MemberLengths {
        MemberLengths {
            id: self.id,
            instance: self.instance,
            client_id: self.client_id,
            client_host: self.client_host,
            subscription: self.subscription(form, moment),
            assignment: self.assignment(form.format, moment),
        }
    }
}

/// A group's rounds as bytes, in every form.
///
/// Cost: made in O(names subscribed to + claims + P); each answer takes O(M).
///
/// # Examples
/// ```
/// use tenure::plan::Assignor;
/// use tenure::protocol::budget::{Budget, Form, Format, Limits, Moment, Surroundings};
/// use tenure::revoke::{Mode, Round};
/// use tenure::{Group, Topology};
///
/// let topology = Topology::builder().topic("orders", 6).build()?;
/// let mut builder = Group::builder(&topology);
/// builder.member("a").topic("orders");
/// builder.member("b").topic("orders");
/// let group = builder.build()?;
/// let (plan, _) = Assignor::default().assign(&group)?;
/// let round = Round::new(&group, &plan, Mode::Shipped);
/// let budget = Budget::new(&round, &Surroundings::default());
///
/// let form = Form::newest(Format::CooperativeSticky);
/// let (now, settled) = (budget.figures(form, Moment::Now), budget.figures(form, Moment::Settled));
/// assert_eq!(settled.subscription.total - now.subscription.total, 2 * (6 + 6 + 4 * 3));
/// assert!(Limits::default().check(&settled).iter().all(|check| check.fits()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Budget<'a> {
    group: &'a Group,
    group_id: u64,
    pub(super) members: Vec<Counted>,
    /// For each topic its partitions, its subscribers, and the length of its name.
    pub(super) topics: Vec<(u64, u64, u64)>,
}

impl<'a> Budget<'a> {
    /// Counts a round.
    ///
    /// The round should be one of [`Mode::Shipped`](crate::revoke::Mode::Shipped): bytes are those of the released
    /// software.
    pub fn new(round: &Round<'a>, around: &Surroundings<'_>) -> Self {
        let group = round.group();
        let topology = group.topology();
        let mut subscribers = alloc::vec![0u64; topology.topics()];
        let mut names_of = alloc::vec![None; group.distinct_subscriptions()];
        let mut members = Vec::with_capacity(group.members());
        let mut compacting = Compacting::new(round);
        let rejoin = round.rejoin();
        for member in group.member_indices() {
            let list = group.subscription[member.at()] as usize;
            let (topics, topic_names) = *names_of[list].get_or_insert_with(|| {
                let all = group.subscription(member).chain(group.repeated_topics(member));
                all.fold((0, 0), |sum, topic| (sum.0 + 1, sum.1 + topology.name(topic).len() as u64))
            });
            let unknown = group.unknown_subscriptions(member);
            let (topics, topic_names) =
                unknown.fold((topics, topic_names), |sum, name| (sum.0 + 1, sum.1 + name.len() as u64));
            for topic in group.subscription(member) {
                subscribers[topic.at()] += 1;
            }
            let id = group.id(member);
            let claimed = Blocks::claimed(group, member);
            members.push(Counted {
                id: id.len() as u64,
                instance: group.instance(member).map(|name| name.len() as u64),
                client_id: around.client_id.unwrap_or_else(|| client_id(id)).len() as u64,
                client_host: around.client_host.len() as u64,
                topics,
                topic_names,
                rack: group.rack_name(member).map(|name| name.len() as u64),
                returning: group.generation(member).is_some() || claimed.partitions > 0,
                claimed,
                given: Blocks::of(topology, round.assignment(member)),
                target: Blocks::of(topology, round.plan().target(member).iter().copied()),
                told: rejoin && round.revokes(member),
                compact: compacting.count(member),
            });
        }
        let topics = (0..topology.topics() as u32).map(TopicIndex::new).zip(subscribers);
        let topics = topics.map(|(topic, subscribers)| {
            (u64::from(topology.partition_count(topic)), subscribers, topology.name(topic).len() as u64)
        });
        Self { group, group_id: around.group_id.len() as u64, members, topics: topics.collect() }
    }

    /// The group.
    pub const fn group(&self) -> &'a Group {
        self.group
    }

    /// Bytes of a member's subscription.
    ///
    /// # Panics
    ///
    /// If the index is not of this group.
    pub fn subscription_len(&self, form: Form, moment: Moment, member: MemberIndex) -> u64 {
        self.members[member.at()].subscription(form, moment)
    }

    /// Bytes of a member's assignment, the same in every version.
    ///
    /// # Panics
    ///
    /// If the index is not of this group.
    pub fn assignment_len(&self, format: Format, moment: Moment, member: MemberIndex) -> u64 {
        self.members[member.at()].assignment(format, moment)
    }

    /// Lengths of the names, the first member being the leader.
    pub fn names(&self, format: Format) -> Names {
        let leader = self.members.first();
        Names {
            group: self.group_id,
            protocol: format.protocol_name().len() as u64,
            leader: leader.map_or(0, |member| member.id),
            leader_instance: leader.and_then(|member| member.instance),
        }
    }

    /// All lengths of a round's members.
    pub fn lengths(
        &self,
        form: Form,
        moment: Moment,
    ) -> impl ExactSizeIterator<Item = MemberLengths> + Clone + '_ {
        self.members.iter().map(move |member| member.lengths(form, moment))
    }

    /// What a round takes.
    pub fn figures(&self, form: Form, moment: Moment) -> Figures {
        Figures::of(&self.names(form.format), self.lengths(form, moment))
    }

    /// How a subject grows with the group, from its settled round; `None` for what does not grow, or grows with the
    /// number of members alone.
    pub fn growth(&self, form: Form, subject: Subject) -> Option<Growth<'_>> {
        Growth::of(self, form, subject)
    }

    /// What would make a settled round fit.
    pub fn remedies(&self, form: Form, limits: &Limits) -> Remedies {
        Remedies::of(self, form, limits)
    }

    /// What the newer group protocol (KIP-848) writes in place of the group's one record.
    pub fn newer_protocol(&self) -> NewerProtocol {
        NewerProtocol::of(self)
    }

    /// Bytes of all members' compact user data when the group has settled.
    pub(super) fn compact_total(&self, version: i16) -> u64 {
        self.members.iter().map(|member| member.compact.len(version, Moment::Settled)).sum()
    }

    pub(super) fn group_id_len(&self) -> u64 {
        self.group_id
    }

    pub(super) fn member_id_lens(&self) -> impl Iterator<Item = (u64, &Counted)> {
        self.members.iter().map(|member| (member.id, member))
    }
}

impl Counted {
    /// Instance, rack, client id and host: what a member's own record carries of it.
    pub(super) fn identity(&self) -> [Option<u64>; 4] {
        [self.instance, self.rack, Some(self.client_id), Some(self.client_host)]
    }
}

/// The client id in a member id of the broker's making: all before a dash and a UUID.
fn client_id(member_id: &str) -> &str {
    const UUID: usize = 36;
    let Some(at) = member_id.len().checked_sub(UUID + 1) else { return member_id };
    let (Some(client_id), Some(tail)) = (member_id.get(..at), member_id.get(at..)) else { return member_id };
    let dashes = [0, 9, 14, 19, 24];
    let is_uuid = tail
        .bytes()
        .enumerate()
        .all(|(at, byte)| if dashes.contains(&at) { byte == b'-' } else { byte.is_ascii_hexdigit() });
    if is_uuid { client_id } else { member_id }
}
