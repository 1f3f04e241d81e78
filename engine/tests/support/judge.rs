//! The rules of DESIGN.md §2 and §4, checked on names.

use std::collections::{BTreeMap, BTreeSet};

use tenure::Protocol;

use super::answer::{Answer, Owned, Partition};
use super::snapshot::Snapshot;

/// What is wrong with an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A member of the group that the answer does not mention.
    MemberMissing(String),
    /// A member of the answer that is not in the group.
    Stranger(String),
    /// Given twice, to one member or to two.
    Twice(Partition),
    /// Given though it does not exist.
    Nonexistent(Partition),
    /// Given to a member that does not subscribe.
    Unsubscribed(Partition, String),
    /// Given to nobody though somebody subscribes.
    Lost(Partition),
    /// Given to one member while another cooperative one still holds it.
    TooSoon { partition: Partition, to: String, holder: String },
    /// Kept back though nobody else holds it, or handed over though the plan counts it as kept back.
    Withheld(Partition),
    /// A list of partitions that is not sorted by topic (in UTF-16 units) and number.
    Unsorted(String),
    /// Kept, added and revoked do not follow from claims and assignment.
    Difference(String),
    /// The round says that members must join again, or not, and is wrong.
    Rejoin(bool),
    /// Loads, sorted descending, that are not the best ones.
    Uneven { loads: Vec<u32>, best: Vec<u32> },
    /// More rack mismatches or moves than needed.
    Costly { seen: (u32, u32), best: (u32, u32) },
    /// The rounds go on for ever.
    NeverSettles,
    /// Two doors gave different answers.
    Differs(String),
    /// An expectation of a case that is not met.
    Expected(String),
}

impl core::fmt::Display for Fault {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{self:?}")
    }
}

/// Who holds each existing partition: all that claim it at its highest generation.
pub fn holders(snapshot: &Snapshot) -> BTreeMap<Partition, BTreeSet<String>> {
    let mut all: BTreeMap<Partition, (i32, BTreeSet<String>)> = BTreeMap::new();
    for (id, member) in &snapshot.members {
        for (topic, from, to) in &member.owned {
            let count = snapshot.topics.get(topic).map_or(0, |topic| i64::from(topic.partitions));
            for p in i64::from(*from).max(0)..=i64::from(*to).min(count - 1) {
                let generation = member.generation.max(-1);
                let entry = all.entry((topic.clone(), p as i32)).or_insert((generation, BTreeSet::new()));
                if entry.0 < generation {
                    *entry = (generation, BTreeSet::new());
                }
                if entry.0 == generation {
                    entry.1.insert(id.clone());
                }
            }
        }
    }
    all.into_iter().map(|(p, (_, holders))| (p, holders)).collect()
}

/// The only holder of each partition that has one, if it subscribes.
pub fn valid_owners(snapshot: &Snapshot) -> BTreeMap<Partition, String> {
    let mut owners = BTreeMap::new();
    for (partition, holders) in holders(snapshot) {
        let mut holders = holders.into_iter();
        if let (Some(holder), None) = (holders.next(), holders.next())
            && snapshot.members[&holder].subscribes(&partition.0)
        {
            owners.insert(partition, holder);
        }
    }
    owners
}

/// The owner of each partition in an answer.
///
/// # Errors
///
/// A partition twice.
pub fn owners(owned: &Owned) -> Result<BTreeMap<&Partition, &String>, Fault> {
    let mut owners = BTreeMap::new();
    for (id, list) in owned {
        for partition in list {
            if owners.insert(partition, id).is_some() {
                return Err(Fault::Twice(partition.clone()));
            }
        }
    }
    Ok(owners)
}

/// Once at most, existing, to a subscriber, and nobody missing from the answer.
pub fn valid(snapshot: &Snapshot, owned: &Owned) -> Result<(), Fault> {
    if let Some(id) = snapshot.members.keys().find(|id| !owned.contains_key(*id)) {
        return Err(Fault::MemberMissing(id.clone()));
    }
    for (partition, id) in owners(owned)? {
        let Some(member) = snapshot.members.get(id) else { return Err(Fault::Stranger(id.clone())) };
        if !snapshot.exists(&partition.0, partition.1) {
            return Err(Fault::Nonexistent(partition.clone()));
        }
        if !member.subscribes(&partition.0) {
            return Err(Fault::Unsubscribed(partition.clone(), id.clone()));
        }
    }
    match owned.keys().find(|id| !snapshot.members.contains_key(*id)) {
        Some(id) => Err(Fault::Stranger(id.clone())),
        None => Ok(()),
    }
}

/// Every partition with a subscriber has an owner.
pub fn complete(snapshot: &Snapshot, owned: &Owned) -> Result<(), Fault> {
    let owners = owners(owned)?;
    match snapshot.assignable().find(|partition| !owners.contains_key(partition)) {
        Some(partition) => Err(Fault::Lost(partition)),
        None => Ok(()),
    }
}

/// What must hold in every round of every group.
pub fn always(snapshot: &Snapshot, answer: &Answer) -> Result<(), Fault> {
    valid(snapshot, &answer.target)?;
    complete(snapshot, &answer.target)?;
    valid(snapshot, &answer.given)?;
    let held = holders(snapshot);
    let blocked = |partition: &Partition, to: &str| {
        let holders = held.get(partition).into_iter().flatten();
        holders
            .into_iter()
            .find(|id| id.as_str() != to && snapshot.members[*id].protocol == Protocol::Cooperative)
    };
    for (partition, to) in owners(&answer.given)? {
        if let Some(holder) = blocked(partition, to) {
            let (partition, to, holder) = (partition.clone(), to.clone(), holder.clone());
            return Err(Fault::TooSoon { partition, to, holder });
        }
    }
    // What is ready goes at once: exactly the targets that another one blocks are kept back.
    let (now, target) = (owners(&answer.given)?, owners(&answer.target)?);
    for (partition, to) in &target {
        let waits = blocked(partition, to).is_some();
        let right = if waits { None } else { Some(to) };
        if waits != answer.withheld.contains(*partition) || now.get(partition) != right {
            return Err(Fault::Withheld((*partition).clone()));
        }
    }
    if let Some(partition) = answer.withheld.iter().find(|partition| !target.contains_key(*partition)) {
        return Err(Fault::Withheld(partition.clone()));
    }
    for owned in [&answer.given, &answer.target] {
        sorted(owned)?;
    }
    differences(snapshot, answer)
}

fn sorted(owned: &Owned) -> Result<(), Fault> {
    let key = |(topic, p): &Partition| (topic.encode_utf16().collect::<Vec<u16>>(), *p);
    for (id, list) in owned {
        if !list
            .windows(2)
            .all(|pair| pair[0].0 == pair[1].0 && pair[0].1 < pair[1].1 || key(&pair[0]) < key(&pair[1]))
        {
            return Err(Fault::Unsorted(id.clone()));
        }
    }
    Ok(())
}

/// Kept, added and revoked, and whether anyone must join again, follow from claims and assignment.
fn differences(snapshot: &Snapshot, answer: &Answer) -> Result<(), Fault> {
    let mut rejoin = !answer.withheld.is_empty();
    for (id, member) in &snapshot.members {
        let mut claims = BTreeSet::new();
        let mut foreign = false;
        for (topic, from, to) in &member.owned {
            let count = snapshot.topics.get(topic).map_or(0, |topic| i64::from(topic.partitions));
            foreign |= from <= to && (*from < 0 || i64::from(*to) >= count);
            let existing = i64::from(*from).max(0)..=i64::from(*to).min(count - 1);
            claims.extend(existing.map(|p| (topic.clone(), p as i32)));
        }
        let set = |owned: &Owned| owned[id].iter().cloned().collect::<BTreeSet<_>>();
        let given = set(&answer.given);
        let (kept, added, revoked) = (&given & &claims, &given - &claims, &claims - &given);
        if set(&answer.kept) != kept || set(&answer.added) != added || set(&answer.revoked) != revoked {
            return Err(Fault::Difference(id.clone()));
        }
        rejoin |= member.protocol == Protocol::Cooperative && (foreign || !revoked.is_empty());
    }
    if rejoin == answer.rejoin { Ok(()) } else { Err(Fault::Rejoin(answer.rejoin)) }
}

/// What must hold of an answer that changes nothing.
pub fn at_rest(answer: &Answer) -> Result<(), Fault> {
    if let Some(partition) = answer.withheld.first() {
        return Err(Fault::Withheld(partition.clone()));
    }
    if answer.rejoin { Err(Fault::Rejoin(true)) } else { Ok(()) }
}

/// Partitions whose valid owner is still a subscriber and lost it.
pub fn moves(snapshot: &Snapshot, owned: &Owned) -> Vec<(Partition, String, String)> {
    let owners = owners(owned).unwrap();
    let moved = valid_owners(snapshot).into_iter().filter_map(|(partition, from)| {
        let to = owners.get(&partition).map_or("", |to| to.as_str()).to_owned();
        (to != from).then_some((partition, from, to))
    });
    moved.collect()
}

/// Partitions at odds with their owner's rack.
pub fn mismatches(snapshot: &Snapshot, owned: &Owned) -> usize {
    let pairs = owned.iter().flat_map(|(id, list)| list.iter().map(move |p| (id, p)));
    pairs.filter(|(id, (topic, p))| snapshot.mismatch(id, topic, *p)).count()
}
