//! One member and its block: why it has this load, who shares, and what would change it.

use serde::Serialize;
use tenure::id::MemberIndex;
use tenure::verify::NO_BLOCK;

use super::{Explainer, allowed, partitions, some};
use crate::result::{assigned_runs, revoked_runs};

/// Members that are settled together.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct BlockFacts {
    /// Its members own this many or one less in every plan of best balance.
    pub level: u32,
    /// How many members it has.
    pub members: usize,
    /// How many of them have `level` partitions.
    pub at_level: usize,
    /// How many partitions they share.
    pub partitions: u64,
    /// The topics that go to it.
    pub topics: Vec<String>,
}

/// A topic that a member subscribes to.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct TopicFacts {
    /// Its name.
    pub topic: String,
    /// How many partitions it has.
    pub partitions: u32,
    /// How many of them the member shall have.
    pub here: u32,
    /// How many members subscribe to it.
    pub subscribers: usize,
    /// Whether a member of this block may have any of it in a best balance; else they go further down.
    pub open: bool,
}

/// All that is known of a member.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct MemberFacts {
    /// Its id.
    pub member: String,
    /// What it shall have.
    pub load: u32,
    /// What it has in this round.
    pub now: u64,
    /// What it rightly owned.
    pub owned: u32,
    /// What it claims and does not get again in this round.
    pub to_revoke: u64,
    /// Its block; `None` if it subscribes to no existing topic, or the assignor proves nothing.
    pub block: Option<BlockFacts>,
    /// Its topics.
    pub topics: Vec<TopicFacts>,
    /// All of it in words.
    pub sentences: Vec<String>,
}

impl Explainer<'_> {
    /// Explains a member. Cost: O(subscriptions + its plan).
    pub fn member(&self, member: MemberIndex) -> MemberFacts {
        let group = self.group;
        let topology = group.topology();
        let mut here = vec![0u32; topology.topics()];
        for p in self.round.plan().target(member) {
            here[topology.topic_of(*p).at()] += 1;
        }
        let level = self.level(member);
        let topics = group.subscription(member).map(|topic| TopicFacts {
            topic: topology.name(topic).to_string(),
            partitions: topology.partition_count(topic),
            here: here[topic.at()],
            subscribers: self.subscribers(topic).count(),
            open: level.is_none() || level == self.topic_level[topic.at()],
        });
        let block = self.certificate.block.get(member.at()).filter(|block| **block != NO_BLOCK);
        let mut facts = MemberFacts {
            member: group.id(member).to_string(),
            load: self.load(member),
            now: assigned_runs(&self.round, member).map(|run| run.count()).sum(),
            owned: self.home[member.at()],
            to_revoke: revoked_runs(&self.round, member).map(|run| run.count()).sum(),
            block: block.map(|block| self.block(*block)),
            topics: topics.collect(),
            sentences: Vec::new(),
        };
        facts.sentences = self.tell_member(&facts);
        facts
    }

    /// All blocks, from the highest level down.
    pub fn blocks(&self) -> Vec<BlockFacts> {
        let count = u32::try_from(self.certificate.level.len()).unwrap_or(u32::MAX);
        let mut blocks: Vec<BlockFacts> = (0..count).map(|block| self.block(block)).collect();
        blocks.sort_by_key(|block| core::cmp::Reverse(block.level));
        blocks
    }

    fn block(&self, block: u32) -> BlockFacts {
        let group = self.group;
        let level = self.certificate.level[block as usize];
        let members: Vec<MemberIndex> =
            group.member_indices().filter(|member| self.certificate.block[member.at()] == block).collect();
        let mut open = vec![false; group.topology().topics()];
        for topic in members.iter().flat_map(|member| group.subscription(*member)) {
            open[topic.at()] |= self.topic_level[topic.at()] == Some(level);
        }
        let names = (0u32..).map(tenure::id::TopicIndex::new).zip(open).filter(|(_, open)| *open);
        BlockFacts {
            level,
            members: members.len(),
            at_level: members.iter().filter(|member| self.load(**member) == level).count(),
            partitions: members.iter().map(|member| u64::from(self.load(*member))).sum(),
            topics: names.map(|(topic, _)| group.topology().name(topic).to_string()).collect(),
        }
    }

    fn tell_member(&self, facts: &MemberFacts) -> Vec<String> {
        let name = &facts.member;
        let mut told = vec![format!(
            "{name:?} shall have {}; it rightly owned {}.",
            partitions(facts.load.into()),
            facts.owned
        )];
        if facts.now != u64::from(facts.load) {
            told.push(format!(
                "In this round it has {}; the rest is withheld until others let go.",
                partitions(facts.now)
            ));
        }
        if facts.topics.is_empty() {
            told.push("It subscribes to no topic that exists, so there is nothing for it.".to_string());
            return told;
        }
        let Some(block) = &facts.block else {
            told.push(
                "This assignor deals partitions out in turn and does not weigh members against each other."
                    .to_string(),
            );
            return told;
        };
        let with: Vec<&str> = block.topics.iter().map(String::as_str).collect();
        if block.members == 1 {
            told.push(format!("It is alone with {}: they go to nobody else in a best balance.", some(&with)));
        } else {
            told.push(format!(
                "It shares {} of {} with {} other members of its block: {} each, and {} of the {} have {}.",
                partitions(block.partitions),
                some(&with),
                block.members - 1,
                allowed(block.level),
                block.at_level,
                block.members,
                block.level
            ));
            let without = block.partitions.div_ceil(block.members as u64 - 1);
            let joined = block.partitions.div_ceil(block.members as u64 + 1);
            told.push(format!(
                "If one of these left and the rest took over, somebody would have {without} or more; with one more that reads the same, {joined} or more."
            ));
        }
        let (open, closed): (Vec<&TopicFacts>, Vec<&TopicFacts>) =
            facts.topics.iter().partition(|topic| topic.open);
        if !closed.is_empty() {
            let names: Vec<&str> = closed.iter().map(|topic| &*topic.topic).collect();
            told.push(format!(
                "It also subscribes to {}, but members with less to read do too: they get all of it.",
                some(&names)
            ));
        }
        let alone: Vec<&str> =
            open.iter().filter(|topic| topic.subscribers == 1).map(|topic| &*topic.topic).collect();
        if !alone.is_empty() {
            told.push(format!("Nobody else subscribes to {}.", some(&alone)));
        }
        if facts.to_revoke > 0 {
            told.push(format!("It has to let go of {}.", partitions(facts.to_revoke)));
        }
        told
    }
}
