//! One round of one group, read from its plan without copying it.

use core::iter::Peekable;

use super::foreign;
use crate::group::{ForeignClaim, Group, Protocol};
use crate::id::{MemberIndex, PartitionIndex};
use crate::owned::row;
use crate::plan::Plan;

/// Where KIP-429's text and the released software differ.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Mode {
    /// Kafka 2.4 and later: no error code; who revoked something joins again; claims on what the leader does
    /// not know are dropped.
    #[default]
    Shipped,
    /// The KIP's text: `NEED_REJOIN` for all when something is withheld; claims on what is not in the plan
    /// go back to their only holder.
    Draft,
}

/// What members get in this round. A view: making it costs nothing, each method says its own cost.
///
/// # Examples
///
/// ```
/// use tenure::plan::Assignor;
/// use tenure::revoke::{Mode, Round};
/// use tenure::{Group, Topology};
///
/// let topology = Topology::builder().topic("t", 2).build()?;
/// let mut builder = Group::builder(&topology);
/// builder.member("a").topic("t").owned("t", [0, 1]).generation(3);
/// builder.member("b").topic("t");
/// let group = builder.build()?;
/// let (plan, _) = Assignor::default().assign(&group)?;
/// let round = Round::new(&group, &plan, Mode::Shipped);
///
/// let [a, b] = [group.find("a").unwrap(), group.find("b").unwrap()];
/// assert_eq!(plan.load(b), 1, "b shall have one,");
/// assert_eq!(round.assignment(b).count(), 0, "but gets nothing while a still reads it");
/// assert_eq!(round.revoked(a).count(), 1);
/// assert!(round.rejoin());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Round<'a> {
    group: &'a Group,
    plan: &'a Plan,
    mode: Mode,
}

impl<'a> Round<'a> {
    /// The round that follows from a plan. The plan must be of this group.
    pub const fn new(group: &'a Group, plan: &'a Plan, mode: Mode) -> Self {
        Self { group, plan, mode }
    }

    /// The group.
    pub const fn group(&self) -> &'a Group {
        self.group
    }

    /// The plan.
    pub const fn plan(&self) -> &'a Plan {
        self.plan
    }

    /// What a member gets now, of the partitions that exist: its target without what is withheld, and in the
    /// draft what only it holds of topics that nobody subscribes to. Ascending. Cost: O(its target).
    #[inline]
    pub fn assignment(&self, member: MemberIndex) -> impl Iterator<Item = PartitionIndex> + Clone + use<'a> {
        let plan = self.plan;
        let ready = plan.target(member).iter().copied().filter(move |&p| !plan.in_transfer(p));
        merge(ready, self.orphans(member))
    }

    fn orphans(&self, member: MemberIndex) -> impl Iterator<Item = PartitionIndex> + Clone + use<'a> {
        let all = if self.mode == Mode::Draft { &self.plan.orphans[..] } else { &[] };
        let from = all.partition_point(|entry| entry.0 < member.get());
        all[from..]
            .iter()
            .take_while(move |entry| entry.0 == member.get())
            .map(|entry| PartitionIndex::new(entry.1))
    }

    /// Claims on partitions that do not exist and that go back to a member: in the draft, those of which it is
    /// the only holder; as shipped, none. Cost: O(foreign claims of the group) for each.
    pub fn returned(&self, member: MemberIndex) -> impl Iterator<Item = ForeignClaim<'a>> + use<'a> {
        let given = self.mode == Mode::Draft && self.group.protocol(member) == Protocol::Cooperative;
        given.then(|| foreign::held_alone(self.group, member)).into_iter().flatten()
    }

    /// What a member claims and gets again. Ascending. Cost: O(its claims and target).
    pub fn kept(&self, member: MemberIndex) -> impl Iterator<Item = PartitionIndex> + use<'a> {
        let mut assigned = self.assignment(member).peekable();
        self.group.claims(member).filter(move |&p| meets(&mut assigned, p))
    }

    /// What a member gets and did not claim. Ascending. Cost: O(its claims and target).
    pub fn added(&self, member: MemberIndex) -> impl Iterator<Item = PartitionIndex> + use<'a> {
        let mut claims = self.group.claims(member).peekable();
        self.assignment(member).filter(move |&p| !meets(&mut claims, p))
    }

    /// What a member claims, of the partitions that exist, and does not get again. Ascending.
    /// Cost: O(its claims and target).
    pub fn revoked(&self, member: MemberIndex) -> impl Iterator<Item = PartitionIndex> + use<'a> {
        let mut assigned = self.assignment(member).peekable();
        self.group.claims(member).filter(move |&p| !meets(&mut assigned, p))
    }

    /// Claims on partitions that do not exist and that a member must give up. Cost: as [`returned`](Self::returned).
    pub fn revoked_foreign(&self, member: MemberIndex) -> impl Iterator<Item = ForeignClaim<'a>> + use<'a> {
        let dropped = self.mode == Mode::Shipped || self.group.protocol(member) == Protocol::Eager;
        let all = dropped.then(|| self.group.foreign_claims(member)).into_iter().flatten();
        let contested =
            (!dropped).then(|| foreign::held_by_others_too(self.group, member)).into_iter().flatten();
        all.chain(contested)
    }

    /// Whether a member must give anything up, of what exists or not. Cost: one comparison of its claims and
    /// its target if they are the same, else O(both).
    pub fn revokes(&self, member: MemberIndex) -> bool {
        let target = self.plan.target(member);
        let same = self.plan.transfer_count() == 0 && self.group.claims(member).eq(target.iter().copied());
        (!same && self.revoked(member).next().is_some()) || self.revoked_foreign(member).next().is_some()
    }

    /// Partitions that nobody gets in this round because another member still holds them. Ascending.
    /// Cost: O(P / 64 + how many).
    pub fn withheld(&self) -> impl Iterator<Item = PartitionIndex> + Clone + use<'a> {
        let words = if self.plan.transfer_count() == 0 { &[] } else { &self.plan.transfers[..] };
        row::set_bits(words).map(PartitionIndex::new)
    }

    /// Whether members must join again after this round: in the draft because something is withheld, as
    /// shipped because a cooperative member revokes something. Cost: O(1) when something is withheld or
    /// every claim is kept, else O(P + claims) at worst.
    pub fn rejoin(&self) -> bool {
        if self.plan.transfer_count() > 0 {
            return true;
        }
        self.mode == Mode::Shipped
            && !self.plan.all_kept
            && self
                .group
                .member_indices()
                .any(|member| self.group.protocol(member) == Protocol::Cooperative && self.revokes(member))
    }
}

/// Whether an ascending iterator has this value; called with ascending values.
fn meets(list: &mut Peekable<impl Iterator<Item = PartitionIndex>>, p: PartitionIndex) -> bool {
    while list.next_if(|&q| q < p).is_some() {}
    list.next_if_eq(&p).is_some()
}

/// Merges two ascending iterators without a value in common.
fn merge(
    a: impl Iterator<Item = PartitionIndex> + Clone,
    b: impl Iterator<Item = PartitionIndex> + Clone,
) -> impl Iterator<Item = PartitionIndex> + Clone {
    let (mut a, mut b) = (a, b.peekable());
    let mut waiting = None;
    core::iter::from_fn(move || {
        if b.peek().is_none() {
            return waiting.take().or_else(|| a.next());
        }
        waiting = waiting.take().or_else(|| a.next());
        match (waiting, b.peek()) {
            (Some(x), Some(&y)) if y < x => b.next(),
            (Some(_), _) => waiting.take(),
            (None, _) => b.next(),
        }
    })
}
