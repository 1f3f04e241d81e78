//! How a round grows with the group, and where that ends.

use super::figures::Figures;
use super::form::{Form, Format};
use super::limits::Subject;
use super::members::{Budget, Moment};

/// The size of one message as a function of the group's size.
///
/// The model: members come and go in the mix in which they are, so what each needs whatever it has (ids, hosts, names
/// subscribed to) grows with their number. Numbers of partitions take four bytes wherever they are listed, whoever has
/// them. In between are the heads of lists: a topic is headed once for each member that has some of it, so at most as
/// often as it has partitions, and at most as often as it has subscribers. How near to that the planned round comes is
/// taken from it; so at the group's present size the model gives the counted bytes.
#[derive(Debug, Clone, Copy)]
pub struct Growth<'a> {
    budget: &'a Budget<'a>,
    members: u64,
    partitions: u64,
    /// What is there without any member.
    fixed: u64,
    /// What members need whatever they have, all together.
    standing: u64,
    /// What compact user data is in it, all together.
    compact: u64,
    /// How often partitions and heads are listed.
    copies: u64,
    /// Heads as planned and at most, in one copy.
    heads: (u64, u64),
}

/// Groups beyond are not asked for.
const MEMBERS_MAX: u64 = i32::MAX as u64;
const PARTITIONS_MAX: u64 = 1 << 40;

impl<'a> Growth<'a> {
    pub(super) fn of(budget: &'a Budget<'a>, form: Form, subject: Subject) -> Option<Self> {
        let lists_owned = form.lists_owned();
        let copies = match subject {
            Subject::GroupRecord => 1 + u64::from(lists_owned),
            Subject::SyncRequest => 1,
            Subject::JoinResponse => u64::from(lists_owned),
            Subject::JoinRequest | Subject::Members => return None,
        };
        let has_compact = form.format == Format::TenureCooperativeSticky && subject != Subject::SyncRequest;
        let compact = if has_compact { budget.compact_total(form.version) } else { 0 };
        let members = budget.members.len() as u64;
        if members == 0 {
            return None;
        }
        let figures = budget.figures(form, Moment::Settled);
        let mut fixed = Figures::of(&budget.names(form.format), core::iter::empty());
        fixed.request_header = figures.request_header;
        let heads = budget.members.iter().map(|member| member.target.heads()).sum();
        let partitions = budget.members.iter().map(|member| member.target.partitions).sum();
        let mut growth = Self {
            budget,
            members,
            partitions,
            fixed: fixed.size(subject),
            standing: 0,
            compact,
            copies,
            heads: (heads, 0),
        };
        growth.heads.1 = growth.heads_at_most(members, partitions, 1);
        let moving = copies * (heads + 4 * partitions) + compact;
        growth.standing = figures.size(subject).saturating_sub(growth.fixed + moving);
        Some(growth)
    }

    /// Heads of lists if every topic is spread over as many members as can be, in one of `groups` equal groups.
    fn heads_at_most(&self, members: u64, partitions: u64, groups: u64) -> u64 {
        let scaled = |count: u64, to: u64, from: u64| match from {
            0 => 0,
            _ => (u128::from(count) * u128::from(to)).div_ceil(u128::from(from)) as u64,
        };
        let topics = self.budget.topics.iter().filter(|topic| topic.1 > 0);
        let heads = topics.map(|&(count, subscribers, name)| {
            let places =
                scaled(count, partitions, self.partitions).min(scaled(subscribers, members, self.members));
            u128::from(places) * u128::from(6 + name)
        });
        u64::try_from(heads.sum::<u128>() / u128::from(groups)).unwrap_or(u64::MAX)
    }

    /// The size with this many members and partitions.
    pub fn size(&self, members: u64, partitions: u64) -> u64 {
        self.size_of_part(members, partitions, 1, self.standing)
    }

    /// The size of one of `groups` groups that share members, topics and partitions evenly; `standing` is what all
    /// present members need in one group.
    fn size_of_part(&self, members: u64, partitions: u64, groups: u64, standing: u64) -> u64 {
        let share = |bytes: u64, to: u64, from: u64| match from {
            0 => 0,
            _ => (u128::from(bytes) * u128::from(to)).div_ceil(u128::from(from)),
        };
        let heads = self.heads_at_most(members, partitions, groups);
        let heads = share(heads, self.heads.0, self.heads.1);
        let lists = u128::from(self.copies) * (heads + 4 * u128::from(partitions.div_ceil(groups)));
        let compact = u128::from(self.compact_at(members.max(1), partitions)) / u128::from(groups);
        let all = u128::from(self.fixed) + share(standing, members, self.members) + lists + compact;
        u64::try_from(all).unwrap_or(u64::MAX)
    }

    /// Compact user data with this many members and partitions: each number of a member costs what tells it from its
    /// neighbours, about log2(e × members) bits, and each member some bytes around them.
    fn compact_at(&self, members: u64, partitions: u64) -> u64 {
        const AROUND: u64 = 14;
        let bits = |members: u64| (members as f64 * core::f64::consts::E).log2();
        let around = AROUND * self.members;
        let Some(numbers) = self.compact.checked_sub(around).filter(|_| self.partitions > 0) else {
            return (u128::from(self.compact) * u128::from(members)).div_ceil(u128::from(self.members))
                as u64;
        };
        let grown = partitions as f64 / self.partitions as f64 * bits(members) / bits(self.members);
        AROUND * members + (numbers as f64 * grown).ceil() as u64
    }

    /// The size of each group if the topics are split among `groups` groups, and the members with them.
    ///
    /// `names` is what the present members' topic names take in a subscription, all together.
    pub(super) fn size_of_split(&self, groups: u64, names: u64) -> u64 {
        let named = self.standing.saturating_sub(names) + names.div_ceil(groups);
        self.size_of_part(self.members.div_ceil(groups), self.partitions, groups, named)
    }

    /// The smallest number of members with which the size passes a limit, topics and partitions as they are; `None`
    /// if no group of two billion does.
    ///
    /// Cost: O(T log).
    pub fn members_beyond(&self, limit: u64) -> Option<u64> {
        first(MEMBERS_MAX, |members| self.size(members, self.partitions) > limit)
    }

    /// The smallest number of partitions with which the size passes a limit, members as they are and every topic
    /// growing alike; `None` if it does not depend on them.
    pub fn partitions_beyond(&self, limit: u64) -> Option<u64> {
        if self.partitions == 0 || self.copies + self.compact == 0 {
            return None;
        }
        first(PARTITIONS_MAX, |partitions| self.size(self.members, partitions) > limit)
    }
}

/// The smallest number up to `last` for which a growing condition holds.
fn first(last: u64, holds: impl Fn(u64) -> bool) -> Option<u64> {
    if !holds(last) {
        return None;
    }
    let (mut low, mut high) = (0, last);
    while low < high {
        let middle = low.midpoint(high);
        if holds(middle) { high = middle } else { low = middle + 1 }
    }
    Some(low)
}
