//! Makes news of a group out of looks at it: rebalances, how long they took, what moved.
//!
//! ```text
//! Stable ─┬─────────────── PreparingRebalance, CompletingRebalance ───────────────┬─ Stable
//!         └ began: the first look that sees it     the first look that doesn't: done ┘ and compared with the last Stable
//! ```
//!
//! A coordinator tells who holds what only between rebalances. One that begins and ends between two looks shows only
//! in what changed: then it took less than the time between them.

use std::collections::BTreeMap;

use tenure_client::{GroupDescription, GroupState, PartitionSet, TopicPartition};

/// One look at a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sight {
    /// What the group was doing.
    pub state: GroupState,
    /// The assignor; empty while there is none.
    pub assignor: String,
    /// The members by id.
    pub members: BTreeMap<String, Holder>,
}

/// A member at one look.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder {
    /// Its static name, or its client's.
    pub name: String,
    /// Where it connects from.
    pub host: String,
    /// What it held; empty while the group rebalances.
    pub owned: PartitionSet,
}

impl Sight {
    /// What a coordinator said.
    pub fn new(description: &GroupDescription) -> Self {
        let members = description.members.iter().map(|(id, member)| {
            let name = member.instance_id.clone().unwrap_or_else(|| member.client_id.clone());
            (id.clone(), Holder { name, host: member.host.clone(), owned: member.assigned.clone() })
        });
        Self {
            state: description.state.clone(),
            assignor: description.assignor.clone(),
            members: members.collect(),
        }
    }

    fn owners(&self) -> BTreeMap<&TopicPartition, &str> {
        self.members
            .iter()
            .flat_map(|(id, one)| one.owned.iter().map(move |part| (part, id.as_str())))
            .collect()
    }
}

/// A partition that changed hands; `None` is nobody.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Move {
    /// The partition.
    pub partition: TopicPartition,
    /// Who held it.
    pub from: Option<String>,
    /// Who holds it.
    pub to: Option<String>,
}

/// A rebalance that is over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rebalance {
    /// How long it took from the first look that saw it to the first that did not; `None` if no look saw it.
    pub took_ms: Option<u64>,
    /// Members that are new, by id.
    pub joined: Vec<String>,
    /// Members that are gone, by id.
    pub left: Vec<String>,
    /// What changed hands, by partition.
    pub moves: Vec<Move>,
    /// Partitions that stayed where they were.
    pub kept: usize,
}

/// News of a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// The first look that shows who holds what.
    First,
    /// A rebalance has begun.
    Begun {
        /// Members that are new since the last complete look, by id.
        joined: Vec<String>,
        /// Members that are gone since, by id.
        left: Vec<String>,
    },
    /// A rebalance is over.
    Done(Rebalance),
}

/// Watches one group.
///
/// # Examples
///
/// ```
/// use tenure_cli::live::{Event, Holder, Observer, Sight};
/// use tenure_client::{GroupState, PartitionSet};
///
/// let look = |state, owned: &[(&str, &[i32])]| Sight {
///     state,
///     assignor: "cooperative-sticky".into(),
///     members: owned
///         .iter()
///         .map(|(id, owned)| {
///             let owned = PartitionSet::from_blocks([("orders", owned.iter().copied())]);
///             (id.to_string(), Holder { name: id.to_string(), host: "h".into(), owned })
///         })
///         .collect(),
/// };
/// let mut observer = Observer::default();
/// assert_eq!(observer.look(look(GroupState::Stable, &[("a", &[0, 1])]), 0), [Event::First]);
/// let begun = observer.look(look(GroupState::PreparingRebalance, &[("a", &[]), ("b", &[])]), 100);
/// assert_eq!(begun, [Event::Begun { joined: vec!["b".into()], left: vec![] }]);
/// let done = observer.look(look(GroupState::Stable, &[("a", &[0]), ("b", &[])]), 350);
/// let [Event::Done(rebalance)] = &done[..] else { panic!() };
/// assert_eq!((rebalance.took_ms, rebalance.kept, rebalance.moves.len()), (Some(250), 1, 1));
/// assert_eq!((rebalance.moves[0].from.as_deref(), rebalance.moves[0].to.as_deref()), (Some("a"), None));
/// ```
#[derive(Debug, Default)]
pub struct Observer {
    /// The last look that shows who holds what.
    settled: Option<Sight>,
    /// When the rebalance under way was first seen.
    begun_ms: Option<u64>,
}

impl Observer {
    /// Takes a look and tells the news since the last.
    pub fn look(&mut self, sight: Sight, now_ms: u64) -> Vec<Event> {
        if sight.state.is_rebalancing() {
            if self.begun_ms.is_some() {
                return Vec::new();
            }
            self.begun_ms = Some(now_ms);
            let (joined, left) =
                self.settled.as_ref().map_or_else(Default::default, |before| changes(before, &sight));
            return vec![Event::Begun { joined, left }];
        }
        let begun_ms = self.begun_ms.take();
        let Some(before) = self.settled.replace(sight) else { return vec![Event::First] };
        let Some(after) = &self.settled else { return Vec::new() };
        let (joined, left) = changes(&before, after);
        let (moves, kept) = moves(&before, after);
        if begun_ms.is_none() && joined.is_empty() && left.is_empty() && moves.is_empty() {
            return Vec::new();
        }
        let took_ms = begun_ms.map(|begun_ms| now_ms.saturating_sub(begun_ms));
        vec![Event::Done(Rebalance { took_ms, joined, left, moves, kept })]
    }

    /// The last look that shows who holds what.
    pub fn settled(&self) -> Option<&Sight> {
        self.settled.as_ref()
    }
}

/// Who is new, and who is gone.
fn changes(before: &Sight, after: &Sight) -> (Vec<String>, Vec<String>) {
    let only = |one: &Sight, other: &Sight| {
        one.members.keys().filter(|id| !other.members.contains_key(*id)).cloned().collect()
    };
    (only(after, before), only(before, after))
}

fn moves(before: &Sight, after: &Sight) -> (Vec<Move>, usize) {
    let (before, after) = (before.owners(), after.owners());
    let mut all: Vec<&TopicPartition> = before.keys().chain(after.keys()).copied().collect();
    all.sort_unstable();
    all.dedup();
    let mut moves = Vec::new();
    let mut kept = 0;
    for partition in all {
        let (from, to) = (before.get(partition), after.get(partition));
        if from == to {
            kept += 1;
        } else {
            let owned = |holder: Option<&&str>| holder.map(|&holder| holder.to_owned());
            moves.push(Move { partition: partition.clone(), from: owned(from), to: owned(to) });
        }
    }
    (moves, kept)
}
