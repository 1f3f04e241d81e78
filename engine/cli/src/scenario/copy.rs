//! Copies members from one group into the next.

use tenure::Group;
use tenure::group::{GroupBuilder, MemberBuilder, MemberRack, Protocol};
use tenure::id::{Generation, MemberIndex, PartitionIndex, TopicIndex};
use tenure::revoke::Round;
use tenure::topology::{BuildError, Topology};

/// What a copied member claims.
#[derive(Clone, Copy)]
pub(super) enum Claims<'a> {
    /// What it claims already.
    Own,
    /// Nothing: it has just come.
    Nothing,
    /// What a round gives it, in this generation.
    Given(&'a Round<'a>, i32),
}

/// Builds a group out of members of others. Its topology may have more topics and partitions than theirs.
pub(super) struct Copier<'a> {
    builder: GroupBuilder,
    topology: &'a Topology,
    /// Takes the place of the members' own.
    pub(super) protocol: Option<Protocol>,
    /// The member before, if its topics were copied as they are.
    last: Option<MemberIndex>,
}

impl<'a> Copier<'a> {
    pub(super) fn new(topology: &'a Topology) -> Self {
        Self { builder: Group::builder(topology), topology, protocol: None, last: None }
    }

    pub(super) fn build(self) -> Result<Group, BuildError> {
        self.builder.build()
    }

    /// Copies all members as they are.
    pub(super) fn all(&mut self, group: &Group) {
        for member in group.member_indices() {
            self.member(group, member, &[], Claims::Own);
        }
        self.last = None;
    }

    /// Copies a member; it subscribes to `extra` as well. Members of one group come one after another.
    pub(super) fn member(
        &mut self,
        group: &Group,
        member: MemberIndex,
        extra: &[TopicIndex],
        claims: Claims<'_>,
    ) {
        let (old, new) = (group.topology(), self.topology);
        let mut copied = self.builder.member(group.id(member));
        copied.protocol(self.protocol.unwrap_or_else(|| group.protocol(member)));
        // Mostly the same list as the member before, which is then stored and looked up once.
        let as_before = self.last.is_some_and(|last| extra.is_empty() && alike(group, last, member));
        self.last = extra.is_empty().then_some(member);
        if as_before {
            copied.topics_as_before();
        } else {
            for topic in group.subscription(member).chain(group.repeated_topics(member)) {
                if old.same(new) {
                    copied.topic_index(topic)
                } else {
                    copied.topic(old.name(topic))
                };
            }
            for topic in group.unknown_subscriptions(member) {
                copied.topic(topic);
            }
        }
        for topic in extra {
            // Range counts a topic that is listed twice twice; this is one wish.
            let there = old.find(new.name(*topic)).is_some_and(|old| group.subscribes(member, old));
            if !there {
                copied.topic_index(*topic);
            }
        }
        if let Some(instance) = group.instance(member) {
            copied.instance(instance);
        }
        match group.rack(member) {
            MemberRack::Unknown => {}
            MemberRack::Known(rack) => _ = copied.rack(old.rack_name(rack)),
            MemberRack::Elsewhere => _ = copied.rack(&absent_rack(new)),
        }
        match claims {
            Claims::Nothing => {}
            Claims::Own => {
                copied.generation(Generation::to_wire(group.generation(member)));
                own(&mut copied, old, new, group.claims(member));
                for claim in group.foreign_claims(member) {
                    copied.owned_range(claim.topic, claim.from, claim.to);
                }
            }
            Claims::Given(round, generation) => {
                copied.generation(generation);
                own(&mut copied, old, new, round.assignment(member));
                for claim in round.returned(member) {
                    copied.owned_range(claim.topic, claim.from, claim.to);
                }
            }
        }
    }

    /// Adds a member that subscribes as `like` does, or to all topics if there is nobody to be like.
    pub(super) fn newcomer(&mut self, group: &Group, like: Option<MemberIndex>, id: &str) {
        let topology = self.topology;
        let mut member = self.builder.member(id);
        let protocol = self.protocol.or_else(|| like.map(|like| group.protocol(like)));
        member.protocol(protocol.unwrap_or_default());
        match like {
            Some(like) => {
                for topic in group.subscription(like) {
                    member.topic(group.topology().name(topic));
                }
            }
            None => {
                let topics = 0..u32::try_from(topology.topics()).unwrap_or(u32::MAX);
                for topic in topics.map(TopicIndex::new) {
                    member.topic_index(topic);
                }
            }
        }
    }
}

/// Whether two members of a group have the same list of topics.
fn alike(group: &Group, a: MemberIndex, b: MemberIndex) -> bool {
    group.subscription(a).eq(group.subscription(b))
        && group.repeated_topics(a).eq(group.repeated_topics(b))
        && group.unknown_subscriptions(a).eq(group.unknown_subscriptions(b))
}

/// Claims partitions of one topology in another.
fn own(
    member: &mut MemberBuilder<'_>,
    old: &Topology,
    new: &Topology,
    partitions: impl Iterator<Item = PartitionIndex>,
) {
    for p in partitions {
        let topic = old.topic_of(p);
        let number = i32::try_from(p.get() - old.bases()[topic.at()]).unwrap_or(i32::MAX);
        if old.same(new) {
            member.owned_index_range(topic, number, number);
        } else {
            member.owned_range(old.name(topic), number, number);
        }
    }
}

/// A name that no rack of the topology has.
fn absent_rack(topology: &Topology) -> String {
    let mut name = "elsewhere".to_string();
    while topology.find_rack(&name).is_some() {
        name.push('!');
    }
    name
}
