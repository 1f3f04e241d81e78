//! A group's members as they join, in bytes.

use tenure::codec::compact::{CompactFields, Owned, TopicList};
use tenure::codec::sticky::{encode_cooperative, grouped_as_java};
use tenure::codec::{EncodeError, StickyFields, SubscriptionFields, TopicPartitions};
use tenure::group::Group;
use tenure::id::{MemberIndex, PartitionIndex};
use tenure::protocol::budget::{Form, Format};
use tenure::protocol::message::JoinMember;

/// What the members of a group send in this form, in the order of their ids.
///
/// A member that has nothing and belongs to no generation is new, and says so as the released clients do.
///
/// # Errors
///
/// What no bytes can say: a name above 32,767 bytes.
pub fn join(group: &Group, form: Form) -> Result<Vec<JoinMember>, EncodeError> {
    group
        .member_indices()
        .map(|member| {
            Ok(JoinMember {
                member_id: group.id(member).to_string(),
                group_instance_id: group.instance(member).map(ToString::to_string),
                metadata: subscription(group, member, form)?,
            })
        })
        .collect()
}

fn subscription(group: &Group, member: MemberIndex, form: Form) -> Result<Vec<u8>, EncodeError> {
    let topology = group.topology();
    let known = group.subscription(member).chain(group.repeated_topics(member));
    let mut topics: Vec<&str> = known.map(|topic| topology.name(topic)).collect();
    topics.extend(group.unknown_subscriptions(member));
    let claimed = claimed(group, member);
    let owned: Vec<TopicPartitions<'_>> =
        claimed.iter().map(|(topic, partitions)| TopicPartitions { topic, partitions }).collect();
    let generation = group.generation(member).map(|generation| generation.get());
    let returning = generation.is_some() || !owned.is_empty();
    let sticky = |generation| {
        let grouped = grouped_as_java(&owned);
        let previous: Vec<TopicPartitions<'_>> =
            grouped.iter().map(|(topic, partitions)| TopicPartitions { topic, partitions }).collect();
        StickyFields { previous: &previous, generation }.encode()
    };
    let user_data = match form.format {
        Format::CooperativeSticky => Some(encode_cooperative(generation.unwrap_or(-1)).to_vec()),
        Format::StickyV0 if returning => Some(sticky(None)?),
        Format::StickyV1 if returning => Some(sticky(Some(generation.unwrap_or(-1)))?),
        Format::TenureCooperativeSticky => {
            let topics = TopicList::new(&topics)?;
            let mut fields = CompactFields::new(&topics);
            fields.owned = Owned::Blocks(&owned);
            fields.generation = generation;
            fields.rack = group.rack_name(member).filter(|_| form.version < 3);
            Some(fields.encode()?)
        }
        _ => None,
    };
    let fields = SubscriptionFields {
        topics: &topics,
        user_data: user_data.as_deref(),
        owned: if form.format == Format::CooperativeSticky { &owned } else { &[] },
        generation,
        rack: group.rack_name(member),
    };
    fields.encode(form.version)
}

/// What a member claims, by topic.
fn claimed(group: &Group, member: MemberIndex) -> Vec<(&str, Vec<i32>)> {
    let topology = group.topology();
    let mut blocks: Vec<(&str, Vec<i32>)> = Vec::new();
    let mut add = |topic, numbers: &mut dyn Iterator<Item = i32>| match blocks.last_mut() {
        Some((last, partitions)) if *last == topic => partitions.extend(numbers),
        _ => blocks.push((topic, numbers.collect())),
    };
    for partition in group.claims(member) {
        let number = |partition: PartitionIndex| topology.number(partition).cast_signed();
        add(topology.name(topology.topic_of(partition)), &mut core::iter::once(number(partition)));
    }
    for claim in group.foreign_claims(member) {
        add(claim.topic, &mut (claim.from..=claim.to));
    }
    blocks
}
