//! Is a plan valid, and are its figures true? Counted again from the plan itself, partition by partition.

use tenure::Group;
use tenure::id::{MemberIndex, PartitionIndex};
use tenure::plan::{Outcome, Plan, Stats};
use tenure::revoke::{Mode, Round};

/// Checks a plan of a group in which no partition is claimed twice at one generation.
///
/// # Errors
///
/// What is wrong: a partition lost, doubled or with a stranger; a figure of the outcome that the plan does
/// not bear out; a partition handed over while another member still holds it.
pub fn check(group: &Group, plan: &Plan, outcome: &Outcome) -> Result<(), String> {
    let owner = owners(group, plan)?;
    let holder = holders(group);
    let stats = &outcome.stats;
    compare("partitions", u64::from(stats.partitions), owner.len() as u64)?;
    compare("members", u64::from(stats.members), group.members() as u64)?;

    let loads: Vec<u64> = group.member_indices().map(|member| plan.target(member).len() as u64).collect();
    let active =
        || group.member_indices().filter(|&m| group.subscription(m).len() > 0).map(|m| loads[m.at()]);
    compare("load_min", u64::from(stats.load_min), active().min().unwrap_or(0))?;
    compare("load_max", u64::from(stats.load_max), active().max().unwrap_or(0))?;
    compare("sum_of_squares", stats.sum_of_squares, loads.iter().map(|load| load * load).sum())?;
    if group.classes().uniform() && stats.load_max - stats.load_min > 1 {
        return Err(format!("loads {}..{} though all subscribe alike", stats.load_min, stats.load_max));
    }

    let mut figures = Stats::default();
    let mut in_transfer = 0;
    for (number, &member) in owner.iter().enumerate() {
        let partition = PartitionIndex::new(number as u32);
        let Some(member) = member else { continue };
        figures.rack_mismatches += u32::from(group.rack_mismatch(member, partition));
        if let Some(held_by) = holder[number]
            && held_by != member
        {
            in_transfer += 1;
            let topic = group.topology().topic_of(partition);
            figures.moves += u32::from(group.subscribes(held_by, topic));
        }
    }
    compare("moves", u64::from(stats.moves), u64::from(figures.moves))?;
    compare("rack_mismatches", u64::from(stats.rack_mismatches), u64::from(figures.rack_mismatches))?;

    let round = Round::new(group, plan, Mode::Shipped);
    compare("withheld", round.withheld().count() as u64, in_transfer)?;
    for member in group.member_indices() {
        for partition in round.assignment(member) {
            if holder[partition.at()].is_some_and(|holder| holder != member) {
                return Err(format!("partition {partition} goes to {member} while another member holds it"));
            }
        }
    }
    Ok(())
}

fn compare(what: &str, said: u64, counted: u64) -> Result<(), String> {
    if said == counted { Ok(()) } else { Err(format!("{what} is said to be {said}, the plan has {counted}")) }
}

/// The owner of each partition: exactly one if anybody subscribes, none otherwise.
fn owners(group: &Group, plan: &Plan) -> Result<Vec<Option<MemberIndex>>, String> {
    let topology = group.topology();
    let mut owner: Vec<Option<MemberIndex>> = vec![None; topology.partitions()];
    for member in group.member_indices() {
        for &partition in plan.target(member) {
            if !group.subscribes(member, topology.topic_of(partition)) {
                return Err(format!("partition {partition} goes to {member}, who does not subscribe"));
            }
            if let Some(other) = owner[partition.at()].replace(member) {
                return Err(format!("partition {partition} goes to {other} and to {member}"));
            }
        }
    }
    let mut wanted = vec![false; topology.topics()];
    for member in group.member_indices() {
        for topic in group.subscription(member) {
            wanted[topic.at()] = true;
        }
    }
    for (wanted, base) in wanted.iter().zip(topology.bases().windows(2)) {
        for partition in base[0]..base[1] {
            if owner[partition as usize].is_some() != *wanted {
                return Err(format!(
                    "partition {partition}: wanted {wanted}, {:?}",
                    owner[partition as usize]
                ));
            }
        }
    }
    Ok(owner)
}

/// The claimant of each partition at the highest generation.
fn holders(group: &Group) -> Vec<Option<MemberIndex>> {
    let mut holder: Vec<Option<MemberIndex>> = vec![None; group.topology().partitions()];
    for member in group.member_indices() {
        for partition in group.claims(member) {
            let current = &mut holder[partition.at()];
            if current.is_none_or(|current| group.generation(current) < group.generation(member)) {
                *current = Some(member);
            }
        }
    }
    holder
}
