//! Why a partition moved or stayed, and why a member has its load: facts first, then plain sentences.
//!
//! All reasons come from the certificate of the plan: a member's block says how many partitions it may have in
//! any plan of best balance, and the lowest block among a topic's subscribers says who may have the topic.
//!
//! ```text
//! block at level 9   a 9, b 8     may own topics that nobody further down subscribes to
//! block at level 4   c 4, d 4     own all of every topic that c or d subscribes to
//! ```

mod member;
mod partition;

pub use member::{BlockFacts, MemberFacts, TopicFacts};
pub use partition::{Alternative, Course, PartitionFacts, Reason};

use tenure::Group;
use tenure::id::{MemberIndex, PartitionIndex, TopicIndex};
use tenure::plan::{Outcome, Plan, Verdict};
use tenure::revoke::{Mode, Round};
use tenure::verify::{Certificate, NO_BLOCK};

use crate::judgement::{Claims, Standing};

/// A plan with all that explains it.
#[derive(Debug)]
pub struct Explainer<'a> {
    group: &'a Group,
    round: Round<'a>,
    outcome: &'a Outcome,
    certificate: &'a Certificate,
    claims: Claims,
    owner: Vec<Option<MemberIndex>>,
    /// For each topic the least level of its subscribers.
    topic_level: Vec<Option<u32>>,
    /// For each member the partitions that it rightly owns.
    home: Vec<u32>,
}

impl<'a> Explainer<'a> {
    /// Looks at a plan of `group` with its certificate; an empty certificate (range, round robin) gives no
    /// blocks. Cost: O(P + claims + subscriptions).
    pub fn new(
        group: &'a Group,
        plan: &'a Plan,
        outcome: &'a Outcome,
        certificate: &'a Certificate,
        mode: Mode,
    ) -> Self {
        let claims = Claims::of(group);
        let mut owner = vec![None; group.topology().partitions()];
        let mut home = vec![0; group.members()];
        let mut topic_level = vec![None; group.topology().topics()];
        let mut explainer = Self {
            group,
            round: Round::new(group, plan, mode),
            outcome,
            certificate,
            claims,
            owner: Vec::new(),
            topic_level: Vec::new(),
            home: Vec::new(),
        };
        for member in group.member_indices() {
            for p in plan.target(member) {
                owner[p.at()] = Some(member);
            }
            for p in group.claims(member) {
                if explainer.claims.standing(group, p) == Standing::Owned(member) {
                    home[member.at()] += 1;
                }
            }
            if let Some(level) = explainer.level(member) {
                for topic in group.subscription(member) {
                    let least: &mut Option<u32> = &mut topic_level[topic.at()];
                    *least = Some(least.map_or(level, |before| before.min(level)));
                }
            }
        }
        explainer.owner = owner;
        explainer.home = home;
        explainer.topic_level = topic_level;
        explainer
    }

    /// The partitions that leave a valid owner, ascending.
    pub fn moved(&self) -> impl Iterator<Item = PartitionIndex> {
        let all = (0u32..).map(PartitionIndex::new).take(self.owner.len());
        all.filter(|&p| match self.claims.standing(self.group, p) {
            Standing::Owned(before) => self.owner[p.at()] != Some(before),
            _ => false,
        })
    }

    /// Whether the planner proved that fewer moves are impossible.
    fn moves_proven(&self) -> bool {
        self.outcome.proof.moves == Verdict::Optimal
    }

    /// The level of a member's block.
    fn level(&self, member: MemberIndex) -> Option<u32> {
        let block = *self.certificate.block.get(member.at())?;
        if block == NO_BLOCK { None } else { self.certificate.level.get(block as usize).copied() }
    }

    fn load(&self, member: MemberIndex) -> u32 {
        self.round.plan().load(member)
    }

    fn subscribers(&self, topic: TopicIndex) -> impl Iterator<Item = MemberIndex> {
        let group = self.group;
        group.member_indices().filter(move |&member| group.subscribes(member, topic))
    }

    fn name(&self, partition: PartitionIndex) -> String {
        let topology = self.group.topology();
        format!("{}-{}", topology.name(topology.topic_of(partition)), topology.number(partition))
    }
}

/// "1 partition", "2 partitions".
fn partitions(number: u64) -> String {
    if number == 1 { "1 partition".to_string() } else { format!("{number} partitions") }
}

/// "3 or 4 partitions": what a block of this level allows.
fn allowed(level: u32) -> String {
    match level {
        0 => "no partition".to_string(),
        1 => "at most 1 partition".to_string(),
        _ => format!("{} or {level} partitions", level - 1),
    }
}

/// A few names, and how many more there are.
fn some(names: &[&str]) -> String {
    let shown: Vec<String> = names.iter().take(5).map(|name| format!("{name:?}")).collect();
    match names.len() {
        0..=5 => shown.join(", "),
        more => format!("{} and {} more", shown.join(", "), more - 5),
    }
}
