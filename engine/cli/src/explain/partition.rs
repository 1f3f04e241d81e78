//! One partition: where it was, where it goes, why, and who else could have it.

use serde::Serialize;
use tenure::id::{MemberIndex, PartitionIndex};

use super::{Explainer, allowed, partitions, some};
use crate::judgement::Standing;

/// What happens to a partition.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Course {
    /// Its valid owner keeps it.
    Stays,
    /// It leaves its valid owner.
    Moves,
    /// It had no valid owner.
    Free,
    /// Nobody subscribes to its topic.
    Unassigned,
}

/// Why a partition leaves its valid owner.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// The topic has subscribers that have less than the owner could get down to: they get all of it.
    NeededFurtherDown,
    /// The owner had more than its block allows.
    TooMany,
    /// The owner had the most its block allows, and not all of its block can.
    TurnOfOthers,
    /// The owner's rack holds no replica, the new owner's does.
    Rack,
    /// It is part of a chain of moves that is needed elsewhere.
    Chain,
    /// The assignor deals without regard to owners.
    Dealt,
}

/// Another subscriber.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Alternative {
    /// Its id.
    pub member: String,
    /// What it has by the plan.
    pub load: u32,
    /// The level of its block.
    pub level: Option<u32>,
    /// Whether the plan would be as balanced if it had the partition.
    pub as_balanced: bool,
}

/// All that is known of a partition.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct PartitionFacts {
    /// Its name.
    pub partition: String,
    /// Its valid owner.
    pub before: Option<String>,
    /// Who shall have it.
    pub after: Option<String>,
    /// What happens.
    pub course: Course,
    /// Why it moves.
    pub reason: Option<Reason>,
    /// Whether nobody gets it in this round.
    pub withheld: bool,
    /// How many members claim it.
    pub claimants: u32,
    /// Who else could have it.
    pub alternatives: Vec<Alternative>,
    /// All of it in words.
    pub sentences: Vec<String>,
}

impl Explainer<'_> {
    /// Explains a partition. Cost: O(M log T).
    pub fn partition(&self, p: PartitionIndex) -> PartitionFacts {
        let group = self.group;
        let topic = group.topology().topic_of(p);
        let standing = self.claims.standing(group, p);
        let after = self.owner[p.at()];
        let before = match standing {
            Standing::Owned(owner) => Some(owner),
            _ => None,
        };
        let course = match (before, after) {
            (_, None) => Course::Unassigned,
            (None, _) => Course::Free,
            (Some(before), Some(after)) if before == after => Course::Stays,
            _ => Course::Moves,
        };
        let reason = match (course, before, after) {
            (Course::Moves, Some(before), Some(after)) => Some(self.reason(p, before, after)),
            _ => None,
        };
        let alternatives = self.subscribers(topic).filter(|&member| Some(member) != after);
        let mut facts = PartitionFacts {
            partition: self.name(p),
            before: before.map(|member| group.id(member).to_string()),
            after: after.map(|member| group.id(member).to_string()),
            course,
            reason,
            withheld: self.round.plan().in_transfer(p),
            claimants: self.claims.claimants(p),
            alternatives: alternatives.map(|member| self.alternative(p, member)).collect(),
            sentences: Vec::new(),
        };
        facts.sentences = self.tell(p, standing, &facts, after);
        facts
    }

    fn reason(&self, p: PartitionIndex, before: MemberIndex, after: MemberIndex) -> Reason {
        let topic = self.group.topology().topic_of(p);
        let Some(level) = self.level(before) else { return Reason::Dealt };
        let home = self.home[before.at()];
        if self.topic_level[topic.at()].is_some_and(|least| least < level) {
            Reason::NeededFurtherDown
        } else if home > level {
            Reason::TooMany
        } else if self.group.rack_mismatch(before, p) && !self.group.rack_mismatch(after, p) {
            Reason::Rack
        } else if home == level && self.load(before) < level {
            Reason::TurnOfOthers
        } else {
            Reason::Chain
        }
    }

    fn alternative(&self, p: PartitionIndex, member: MemberIndex) -> Alternative {
        let topic = self.group.topology().topic_of(p);
        let level = self.level(member);
        let open = level.is_some() && level == self.topic_level[topic.at()];
        // One more here and one less there leaves the sorted loads as they are only one step apart.
        let step = self.owner[p.at()].is_some_and(|owner| self.load(owner) == self.load(member) + 1);
        let member_id = self.group.id(member).to_string();
        Alternative { member: member_id, load: self.load(member), level, as_balanced: open && step }
    }

    fn tell(
        &self,
        p: PartitionIndex,
        standing: Standing,
        facts: &PartitionFacts,
        after: Option<MemberIndex>,
    ) -> Vec<String> {
        let group = self.group;
        let topology = group.topology();
        let topic = topology.name(topology.topic_of(p));
        let name = &facts.partition;
        let mut told = vec![match standing {
            Standing::Unclaimed => format!("Nobody claims {name}."),
            Standing::Owned(owner) => match facts.claimants {
                1 => format!("{:?} owns {name}.", group.id(owner)),
                more => format!(
                    "{:?} owns {name}: {more} members claim it, but only this one in the highest generation{}.",
                    group.id(owner),
                    group.generation(owner).map(|g| format!(" ({g})")).unwrap_or_default()
                ),
            },
            Standing::Deserted(holder) => {
                format!(
                    "{:?} holds {name}, but does not subscribe to {topic:?} any more: it must let go.",
                    group.id(holder)
                )
            }
            Standing::Disputed => format!(
                "Several members claim {name} in the same generation: none of them rightly owns it, and all must let go."
            ),
        }];
        let Some(after) = after else {
            told.push(format!("Nobody subscribes to {topic:?}: {name} is read by nobody."));
            return told;
        };
        let to = group.id(after);
        let has = format!("has {} by this plan", partitions(self.load(after).into()));
        let share = match self.level(after) {
            Some(level) => format!("{to:?} {has}; its block allows {} a member", allowed(level)),
            None => format!("{to:?} {has}"),
        };
        match facts.course {
            Course::Stays => told.push(format!("It stays. {share}.")),
            Course::Free => told.push(format!("It goes to {to:?}. {share}.")),
            _ => {
                told.push(format!("It moves to {to:?}. {share}."));
                if let (Standing::Owned(before), Some(reason)) = (standing, facts.reason) {
                    self.tell_move(p, before, reason, &mut told);
                }
            }
        }
        if facts.withheld {
            told.push(format!(
                "In this round nobody gets it: who holds it must let go first, and {to:?} gets it in the next round."
            ));
        }
        let as_good: Vec<&str> =
            facts.alternatives.iter().filter(|other| other.as_balanced).map(|other| &*other.member).collect();
        if facts.alternatives.is_empty() {
            told.push(format!("Nobody else subscribes to {topic:?}, so nobody else could have it."));
        } else if as_good.is_empty() {
            told.push(format!(
                "{} could have it, but only if another partition came back for it: the balance would suffer else.",
                others(facts.alternatives.len())
            ));
        } else {
            let price = if facts.course == Course::Stays { ", at the price of one more move" } else { "" };
            told.push(format!("As balanced would be: {}{price}.", some(&as_good)));
        }
        told
    }

    fn tell_move(&self, p: PartitionIndex, before: MemberIndex, reason: Reason, told: &mut Vec<String>) {
        let group = self.group;
        let from = group.id(before);
        let topic = group.topology().topic_of(p);
        let topic_name = group.topology().name(topic);
        let (home, load) = (self.home[before.at()], self.load(before));
        let owned = partitions(home.into());
        let level = self.level(before).unwrap_or_default();
        match reason {
            Reason::NeededFurtherDown => {
                let least = self.topic_level[topic.at()].unwrap_or_default();
                let low: Vec<&str> = self
                    .subscribers(topic)
                    .filter(|&member| self.level(member) == Some(least))
                    .map(|member| group.id(member))
                    .collect();
                told.push(format!(
                    "{} also subscribe to {topic_name:?} and have at most {least}, while {from:?} has {load} without it: in a best balance they get all of {topic_name:?}.",
                    some(&low)
                ));
                told.push(format!(
                    "{from:?} would keep it only if these left, or had enough of other topics to read."
                ));
            }
            Reason::TooMany => {
                told.push(format!(
                    "{from:?} owned {owned}, but in a best balance no member of its block has more than {level}: at least {} had to leave.",
                    partitions(u64::from(home.saturating_sub(level)))
                ));
                told.push(format!(
                    "For {from:?} to keep this one, another one of its own would have to move instead; which ones leave is decided so that topics are spread evenly."
                ));
            }
            Reason::TurnOfOthers => told.push(format!(
                "{from:?} owned {owned}, the most that its block allows, but not all members of the block can have {level}; it keeps {load}."
            )),
            Reason::Rack => told.push(format!(
                "No replica of it is in the rack of {from:?}; the new owner has one near."
            )),
            Reason::Chain => told.push(format!(
                "{from:?} owned {owned} and has {load} now: it gives this one up so that others reach their share, in a chain of moves.{}",
                if self.moves_proven() {
                    format!(" The plan needs {} in all, and no plan of this balance does with fewer (proven).", moves(self.outcome.stats.moves))
                } else {
                    String::new()
                }
            )),
            Reason::Dealt => told.push("This assignor deals partitions out in turn, whoever owned them before.".to_string()),
        }
    }
}

fn moves(number: u32) -> String {
    if number == 1 { "1 move".to_string() } else { format!("{number} moves") }
}

fn others(number: usize) -> String {
    if number == 1 { "1 other subscriber".to_string() } else { format!("{number} other subscribers") }
}
