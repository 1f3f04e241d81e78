//! What would make a group fit, in numbers.

use super::form::{Form, Format};
use super::growth::Growth;
use super::limits::{Limits, Subject};
use super::members::{Budget, Moment};
use super::newer::NewerProtocol;

/// What would help the settled group's record, which is what big groups die of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub struct Remedies {
    /// What members name in their subscriptions: topics, on average and rounded up.
    pub topics_named: u64,
    /// What those names take in the record.
    pub topic_name_bytes: u64,
    /// Topics that each may name for the record to fit; `None` if fewer topics alone don't help, or nothing must.
    pub topics_at_most: Option<u64>,
    /// Groups among which to split the topics and the members, and the batch that each then has; `None` if one fits,
    /// or no number up to that of the topics does.
    pub split: Option<(u64, u64)>,
    /// The batch if all members join with compact user data, as `tenure-cooperative-sticky`.
    pub compact: u64,
    /// The members with which that would be too large.
    pub compact_members_beyond: Option<u64>,
    /// The records of the newer group protocol (KIP-848).
    pub newer: NewerProtocol,
    /// A limit for the record that leaves a quarter of it free: a power of two.
    pub limit: u64,
}

impl Remedies {
    pub(super) fn of(budget: &Budget<'_>, form: Form, limits: &Limits) -> Self {
        let figures = budget.figures(form, Moment::Settled);
        let limit = limits.record();
        let named: u64 = budget.members.iter().map(|member| member.topics).sum();
        let names: u64 = budget.members.iter().map(|member| 2 * member.topics + member.topic_names).sum();
        let members = budget.members.len() as u64;
        let compact = Form::newest(Format::TenureCooperativeSticky);
        let growth = Growth::of(budget, compact, Subject::GroupRecord);
        let mut remedies = Self {
            compact: budget.figures(compact, Moment::Settled).group_batch,
            compact_members_beyond: growth.and_then(|growth| growth.members_beyond(limit)),
            topics_named: named.div_ceil(members.max(1)),
            topic_name_bytes: names,
            newer: budget.newer_protocol(),
            limit: (figures.group_batch + figures.group_batch / 3).next_power_of_two(),
            ..Self::default()
        };
        if figures.group_batch <= limit {
            return remedies;
        }
        let excess = figures.group_batch - limit;
        if let Some(room) = names.checked_sub(excess)
            && names > 0
        {
            let kept = u128::from(remedies.topics_named) * u128::from(room) / u128::from(names);
            remedies.topics_at_most = u64::try_from(kept).ok().filter(|&kept| kept > 0);
        }
        if let Some(growth) = Growth::of(budget, form, Subject::GroupRecord) {
            let topics = budget.topics.iter().filter(|topic| topic.1 > 0).count() as u64;
            remedies.split = (2..=topics.min(members))
                .map(|groups| (groups, growth.size_of_split(groups, names)))
                .find(|&(_, size)| size <= limit);
        }
        remedies
    }
}
