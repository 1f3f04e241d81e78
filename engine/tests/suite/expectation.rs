//! The expectations of the cases, as `datasets/cases/assignment/README.md` defines them.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::support::answer::{Owned, Partition};
use crate::support::course::Course;
use crate::support::judge::{self, Fault};
use crate::support::snapshot::{Snapshot, fields, number, read_ranges, text};

type Sets = BTreeMap<String, BTreeSet<Partition>>;

/// One expectation.
#[derive(Debug)]
pub(crate) enum Expectation {
    EachPartitionOnce,
    MaxSpread(i64),
    Sizes(BTreeMap<String, i64>),
    SizesSorted(Vec<i64>),
    TopicSpread(BTreeMap<String, i64>),
    MustKeep(Sets),
    MustOwn(Sets),
    MustNotOwn(Sets),
    MaxMoves(i64),
    NoMovesBetween(BTreeSet<String>),
    RoundsMax(i64),
    Exact(Sets),
    Copartitioned(Vec<BTreeSet<String>>),
    MismatchMax(i64),
    MembersAllPresent,
    OutputSorted,
    Path(String),
    FirstMustOwn(Sets),
    FirstMustNotOwn(Sets),
    FirstMustWithhold(BTreeSet<Partition>),
    FirstMaxRevoked(i64),
    FirstAllAssigned,
    FirstAtMostOnce,
}

/// Reads the expectations of a case; an unknown one is an error, and so is having none.
pub(crate) fn read(value: &Value) -> Result<Vec<Expectation>, String> {
    use Expectation as E;
    let mut all = Vec::new();
    for (key, value) in value.as_object().ok_or("expect is no object")? {
        let one = match key.as_str() {
            // Each answer is compared through all doors, asked for or not; times are the benches' matter.
            "deterministic" => truth(value).map(|()| None)?,
            "time_limit_ms" => number(value).map(|_| None)?,
            "note" => text(value).map(|_| None)?,
            "prefer" => sets(value).map(|_| None)?,
            "each_partition_once" => truth(value).map(|()| Some(E::EachPartitionOnce))?,
            "max_spread" => Some(E::MaxSpread(number(value)?)),
            "sizes" => Some(E::Sizes(numbers(value)?)),
            "sizes_sorted" => {
                Some(E::SizesSorted(list(value)?.iter().map(number).collect::<Result<_, _>>()?))
            }
            "per_topic_max_spread" | "per_topic_max_spread_subscribers" => {
                Some(E::TopicSpread(numbers(value)?))
            }
            "must_keep" => Some(E::MustKeep(sets(value)?)),
            "must_own" => Some(E::MustOwn(sets(value)?)),
            "must_not_own" => Some(E::MustNotOwn(sets(value)?)),
            "max_moves" => Some(E::MaxMoves(number(value)?)),
            "no_moves_between" => Some(E::NoMovesBetween(names(value)?)),
            "rounds_max" => Some(E::RoundsMax(number(value)?)),
            "exact" => Some(E::Exact(sets(value)?)),
            "copartitioned" => {
                Some(E::Copartitioned(list(value)?.iter().map(names).collect::<Result<_, _>>()?))
            }
            "rack_mismatch_max" | "best_rack_mismatch" => Some(E::MismatchMax(number(value)?)),
            "members_all_present" => truth(value).map(|()| Some(E::MembersAllPresent))?,
            "output_sorted" => truth(value).map(|()| Some(E::OutputSorted))?,
            "path" => Some(E::Path(text(value)?.to_owned())),
            "first_round" => {
                first_round(value, &mut all)?;
                None
            }
            _ => return Err(format!("unknown expectation {key:?}")),
        };
        all.push(one);
    }
    let all: Vec<Expectation> = all.into_iter().flatten().collect();
    if all.is_empty() { Err("the case expects nothing".to_owned()) } else { Ok(all) }
}

fn first_round(value: &Value, all: &mut Vec<Option<Expectation>>) -> Result<(), String> {
    use Expectation as E;
    let known = ["must_own", "must_not_own", "must_withhold", "max_revoked", "all_assigned", "at_most_once"];
    for (key, value) in fields(value, &known, "first_round")? {
        all.push(Some(match key.as_str() {
            "must_own" => E::FirstMustOwn(sets(value)?),
            "must_not_own" => E::FirstMustNotOwn(sets(value)?),
            "must_withhold" => E::FirstMustWithhold(partitions(value)?),
            "max_revoked" => E::FirstMaxRevoked(number(value)?),
            "all_assigned" => truth(value).map(|()| E::FirstAllAssigned)?,
            "at_most_once" => truth(value).map(|()| E::FirstAtMostOnce)?,
            _ => unreachable!("fields refuses it"),
        }));
    }
    Ok(())
}

impl Expectation {
    /// Whether a course meets it.
    pub(crate) fn judge(&self, snapshot: &Snapshot, course: &Course) -> Result<(), Fault> {
        let settled = &course.settled().given;
        let first = &course.first().given;
        let loads = || snapshot.active().map(|(id, _)| load(settled, id));
        match self {
            Self::EachPartitionOnce => {
                judge::valid(snapshot, settled)?;
                judge::complete(snapshot, settled)
            }
            Self::MaxSpread(most) => at_most("spread", spread(loads()), *most),
            Self::Sizes(sizes) => sizes
                .iter()
                .try_for_each(|(id, size)| same(&format!("load of {id}"), &load(settled, id), size)),
            Self::SizesSorted(sizes) => {
                let mut seen: Vec<i64> = loads().collect();
                seen.sort_unstable();
                same("sorted loads", &seen, sizes)
            }
            Self::TopicSpread(topics) => topics.iter().try_for_each(|(topic, most)| {
                let subscribers = snapshot.members.iter().filter(|(_, m)| m.subscribes(topic));
                let counts = subscribers.map(|(id, _)| settled[id].iter().filter(|p| p.0 == *topic).count());
                at_most(&format!("spread of {topic}"), spread(counts.map(|count| count as i64)), *most)
            }),
            Self::MustKeep(sets) => {
                owns("first", first, sets)?;
                owns("settled", settled, sets)
            }
            Self::MustOwn(sets) => owns("settled", settled, sets),
            Self::MustNotOwn(sets) => course.answers.iter().try_for_each(|answer| shuns(&answer.given, sets)),
            Self::MaxMoves(most) => at_most("moves", judge::moves(snapshot, settled).len() as i64, *most),
            Self::NoMovesBetween(ids) => {
                let between = |from: &str, to: &str| ids.contains(from) && ids.contains(to);
                let moves = judge::moves(snapshot, settled);
                match moves.iter().find(|(_, from, to)| between(from, to)) {
                    Some(moved) => Err(Fault::Expected(format!("no move like {moved:?}"))),
                    None => Ok(()),
                }
            }
            Self::RoundsMax(most) => at_most("rounds", course.rounds() as i64, *most),
            Self::Exact(sets) => {
                let seen: Sets =
                    settled.iter().map(|(id, list)| (id.clone(), list.iter().cloned().collect())).collect();
                same("plan", &seen, sets)
            }
            Self::Copartitioned(groups) => {
                let owners = judge::owners(settled)?;
                groups.iter().try_for_each(|topics| {
                    let together = owners.iter().filter(|((topic, _), _)| topics.contains(topic));
                    let mut of_number = BTreeMap::new();
                    for ((topic, p), id) in together {
                        let first = *of_number.entry(*p).or_insert(*id);
                        same(&format!("owner of {topic}-{p}"), id, &first)?;
                    }
                    Ok(())
                })
            }
            Self::MismatchMax(most) => {
                at_most("rack mismatches", judge::mismatches(snapshot, settled) as i64, *most)
            }
            Self::MembersAllPresent => course.answers.iter().try_for_each(|answer| {
                let ids: Vec<&String> = answer.given.keys().collect();
                same("members", &ids, &snapshot.members.keys().collect())
            }),
            // Checked in every round of every case; the name is for the reader of the file.
            Self::OutputSorted => Ok(()),
            Self::Path(path) => same("path", &course.outcomes[0].path.name(), &path.as_str()),
            Self::FirstMustOwn(sets) => owns("first", first, sets),
            Self::FirstMustNotOwn(sets) => shuns(first, sets),
            Self::FirstMustWithhold(partitions) => {
                let withheld = &course.first().withheld;
                let given = judge::owners(first)?;
                match partitions.iter().find(|p| !withheld.contains(*p) || given.contains_key(p)) {
                    Some(partition) => Err(Fault::Expected(format!("{partition:?} is withheld"))),
                    None => Ok(()),
                }
            }
            Self::FirstMaxRevoked(most) => {
                let losers: BTreeSet<String> =
                    judge::moves(snapshot, first).into_iter().map(|(_, from, _)| from).collect();
                at_most("members that lose something", losers.len() as i64, *most)
            }
            Self::FirstAllAssigned => judge::complete(snapshot, first),
            Self::FirstAtMostOnce => judge::owners(first).map(|_| ()),
        }
    }
}

fn load(owned: &Owned, id: &str) -> i64 {
    owned.get(id).map_or(-1, |list| list.len() as i64)
}

fn spread(counts: impl Iterator<Item = i64>) -> i64 {
    let counts: Vec<i64> = counts.collect();
    counts.iter().max().unwrap_or(&0) - counts.iter().min().unwrap_or(&0)
}

fn at_most(what: &str, seen: i64, most: i64) -> Result<(), Fault> {
    if seen <= most { Ok(()) } else { Err(Fault::Expected(format!("{what} at most {most}, is {seen}"))) }
}

fn same<T: PartialEq + core::fmt::Debug>(what: &str, seen: &T, right: &T) -> Result<(), Fault> {
    if seen == right { Ok(()) } else { Err(Fault::Expected(format!("{what} {right:?}, is {seen:?}"))) }
}

fn owns(when: &str, owned: &Owned, sets: &Sets) -> Result<(), Fault> {
    for (id, partitions) in sets {
        for partition in partitions {
            if !owned.get(id).is_some_and(|list| list.contains(partition)) {
                return Err(Fault::Expected(format!("{when}: {partition:?} at {id}")));
            }
        }
    }
    Ok(())
}

fn shuns(owned: &Owned, sets: &Sets) -> Result<(), Fault> {
    for (id, partitions) in sets {
        if let Some(partition) = owned[id].iter().find(|p| partitions.contains(*p)) {
            return Err(Fault::Expected(format!("{partition:?} not at {id}")));
        }
    }
    Ok(())
}

fn truth(value: &Value) -> Result<(), String> {
    if *value == Value::Bool(true) { Ok(()) } else { Err(format!("only true means something here: {value}")) }
}

fn list(value: &Value) -> Result<&Vec<Value>, String> {
    value.as_array().ok_or_else(|| format!("no list: {value}"))
}

fn names(value: &Value) -> Result<BTreeSet<String>, String> {
    list(value)?.iter().map(|item| Ok(text(item)?.to_owned())).collect()
}

fn numbers(value: &Value) -> Result<BTreeMap<String, i64>, String> {
    let object = value.as_object().ok_or_else(|| format!("no object: {value}"))?;
    object.iter().map(|(key, value)| Ok((key.clone(), number(value)?))).collect()
}

fn partitions(value: &Value) -> Result<BTreeSet<Partition>, String> {
    let mut all = BTreeSet::new();
    for (topic, value) in value.as_object().ok_or_else(|| format!("no object: {value}"))? {
        for (from, to) in read_ranges(value)? {
            all.extend((from..=to).map(|p| (topic.clone(), p)));
        }
    }
    Ok(all)
}

fn sets(value: &Value) -> Result<Sets, String> {
    let object = value.as_object().ok_or_else(|| format!("no object: {value}"))?;
    object.iter().map(|(id, value)| Ok((id.clone(), partitions(value)?))).collect()
}
