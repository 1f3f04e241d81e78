//! A group that is read: what was open is assumed and told, and the engine's group is built.

use std::collections::BTreeSet;

use tenure::plan::Strategy;
use tenure::topology::BuildError;
use tenure::{Group, Topology};

use super::collect::Draft;
use super::error::{DescribeErrorKind as Kind, quote};
use super::{DescribeError, DescribedGroup, DescribedMember, Options};

/// A partition number is believed up to this, and up to [`BELIEVED_TIMES`] as many as are seen of its topic.
const BELIEVED: u64 = 65_536;
const BELIEVED_TIMES: u64 = 16;

impl Draft {
    pub(super) fn finish(self, options: &Options) -> Result<DescribedGroup, DescribeError> {
        let mut group = DescribedGroup {
            name: self.name.clone(),
            assignor: self.assignor.clone(),
            ..DescribedGroup::default()
        };
        self.check_numbers(options)?;
        self.check_ownership()?;
        for (id, member) in &self.members {
            let owned = DescribedMember {
                instance: member.instance.clone(),
                client: member.client.clone(),
                host: member.host.clone(),
                ..DescribedMember::default()
            };
            group.members.insert(id.clone(), owned);
        }
        for (topic, partitions) in &self.topics {
            let highest = partitions.last_key_value().map_or(0, |(&number, _)| number);
            group.topics.insert(topic.clone(), highest + 1);
            for (&number, partition) in partitions {
                if let Some(member) = partition.owner.as_ref().and_then(|id| group.members.get_mut(id)) {
                    member.owned.entry(topic.clone()).or_default().push(number);
                }
            }
        }
        self.assume(&mut group, options);
        Ok(group)
    }

    /// No topic is made large by one number alone.
    fn check_numbers(&self, options: &Options) -> Result<(), DescribeError> {
        let mut total = 0u64;
        for (topic, partitions) in &self.topics {
            let Some((&number, highest)) = partitions.last_key_value() else { continue };
            let seen = partitions.len() as u64;
            total += u64::from(number) + 1;
            if u64::from(number) >= BELIEVED + BELIEVED_TIMES * seen {
                let reason = format!(
                    "partition {number} of {topic:?} is not believed: the text shows {seen} partitions of this \
                     topic; correct the number"
                );
                return Err(DescribeError::at(highest.line, Kind::Partition, reason));
            }
            if total > u64::from(options.partition_limit) {
                let limit = options.partition_limit;
                let reason = format!(
                    "with partition {number} of {topic:?} the topics have {total} partitions, above the limit of \
                     {limit}; raise the limit if that is right"
                );
                return Err(DescribeError::at(highest.line, Kind::Partition, reason));
            }
        }
        Ok(())
    }

    /// Refuses prints that tell how many partitions a member has, but not which.
    fn check_ownership(&self) -> Result<(), DescribeError> {
        if self.topics.values().any(|partitions| !partitions.is_empty()) {
            return Ok(());
        }
        for (id, member) in &self.members {
            if let Some(line) = member.nameless {
                let reason = format!(
                    "the assignment of {} has partitions but no topics, a fault of some versions of the tool; \
                     add what --describe prints without --members",
                    quote(id)
                );
                return Err(DescribeError::at(line, Kind::TooLittle, reason));
            }
            if let Some((count, line)) = member.count.filter(|&(count, _)| count > 0) {
                let reason = format!(
                    "{} owns {count} partitions, but the text does not say which; add --verbose, or what --describe \
                     prints without --members",
                    quote(id)
                );
                return Err(DescribeError::at(line, Kind::TooLittle, reason));
            }
        }
        Ok(())
    }

    fn assume(&self, group: &mut DescribedGroup, options: &Options) {
        let read = self.subscribe(group, options);
        let mut tell = |sentence: String| group.assumptions.push(sentence);
        if let Some(unread) = read.unread {
            tell(unread);
        }
        if !group.members.is_empty() {
            tell(
                "the print shows no generations: what the members own is taken to be of one generation"
                    .into(),
            );
        }
        if self.by_owner {
            tell(
                "the OWNER column shows no member ids: members with the same owner text are taken as one"
                    .into(),
            );
        }
        if self.rebalancing {
            tell("the group was rebalancing: who owns what was not settled when this was printed".into());
        }
        for (topic, partitions) in &self.topics {
            let (seen, all) = (partitions.len(), group.topics[topic] as usize);
            if seen < all {
                tell(format!(
                    "topic {topic:?} is taken to have {all} partitions: the highest number is {}, and {} below it \
                     are not shown and taken as owned by nobody",
                    all - 1,
                    all - seen
                ));
            }
        }
        for (id, member) in &self.members {
            let owned: usize = group.members[id].owned.values().map(Vec::len).sum();
            if let Some((count, _)) = member.count.filter(|&(count, _)| count != owned as u64) {
                tell(format!(
                    "member {id:?} is shown with {count} partitions, of which the print names {owned}"
                ));
            }
        }
        if !self.topics.is_empty() {
            tell("topics are taken to have no partitions above the highest number shown".into());
        }
    }

    /// Gives each member its topics.
    fn subscribe(&self, group: &mut DescribedGroup, options: &Options) -> Reading {
        let owned: BTreeSet<&String> = self
            .topics
            .iter()
            .filter(|(_, partitions)| partitions.values().any(|partition| partition.owner.is_some()))
            .map(|(topic, _)| topic)
            .collect();
        // Where nobody owns anything (no members yet, or all is being handed out) the offsets tell what is read.
        let all: Vec<String> = self
            .topics
            .keys()
            .filter(|topic| owned.is_empty() || self.rebalancing || owned.contains(topic))
            .cloned()
            .collect();
        let mut assumed = 0;
        for (id, member) in &mut group.members {
            let shown = self.members[id].subscription.clone();
            let told = options.subscriptions.of(id, member.instance.as_deref(), member.client.as_deref());
            let mut topics = match (told, shown) {
                (Some(told), _) => told.to_vec(),
                (None, Some(shown)) => shown,
                (None, None) => {
                    assumed += 1;
                    member.assumed = true;
                    all.clone()
                }
            };
            topics.sort_unstable();
            topics.dedup();
            member.subscribed = topics;
        }
        if assumed > 0 {
            let who = if assumed == group.members.len() { "each member" } else { "each other member" };
            group.assumptions.push(format!(
                "the print shows no subscriptions: {who} is taken to subscribe to all topics that the group reads ({})",
                list(&all)
            ));
        }
        let unread: Vec<String> = self.topics.keys().filter(|topic| !all.contains(topic)).cloned().collect();
        let wanted = |topic: &String| group.members.values().any(|m| m.subscribed.contains(topic));
        let unread: Vec<String> = unread.into_iter().filter(|topic| !wanted(topic)).collect();
        let unread = (!unread.is_empty())
            .then(|| format!("no member owns a partition of {}: taken as no longer read", list(&unread)));
        Reading { unread }
    }
}

struct Reading {
    unread: Option<String>,
}

/// A few names, and how many more there are.
fn list(names: &[String]) -> String {
    let mut text = names.iter().take(8).map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", ");
    if names.len() > 8 {
        text.push_str(&format!(" and {} more", names.len() - 8));
    }
    text
}

impl DescribedGroup {
    /// The strategy that the print names, if the engine has it.
    pub fn strategy(&self) -> Option<Strategy> {
        self.assignor.as_deref()?.parse().ok()
    }

    /// Builds the engine's group; members behave as the strategy's do.
    ///
    /// # Errors
    ///
    /// As [`TopologyBuilder::build`](tenure::topology::TopologyBuilder::build) and
    /// [`GroupBuilder::build`](tenure::group::GroupBuilder::build).
    pub fn group(&self, strategy: Strategy, partition_limit: u32) -> Result<Group, BuildError> {
        let mut topology = Topology::builder().partition_limit(partition_limit);
        for (topic, &partitions) in &self.topics {
            topology.add_topic(topic, partitions);
        }
        let topology = topology.build()?;
        let mut builder = Group::builder(&topology);
        let mut before: Option<&Vec<String>> = None;
        for (id, member) in &self.members {
            let mut handle = builder.member(id);
            handle.protocol(strategy.protocol());
            if before == Some(&member.subscribed) {
                handle.topics_as_before();
            } else {
                for topic in &member.subscribed {
                    handle.topic(topic);
                }
            }
            before = Some(&member.subscribed);
            if let Some(instance) = &member.instance {
                handle.instance(instance);
            }
            for (topic, partitions) in &member.owned {
                for run in partitions.chunk_by(|a, b| a + 1 == *b) {
                    handle.owned_range(topic, run[0] as i32, run[run.len() - 1] as i32);
                }
            }
        }
        builder.build()
    }
}
