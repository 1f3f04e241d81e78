//! Is an assignment valid, and are its figures true? Counted again partition by partition, whoever made it: the same
//! questions for our plans and for a peer's.

use tenure::Group;
use tenure::id::{MemberIndex, PartitionIndex};
use tenure::plan::{Outcome, Plan};
use tenure::revoke::{Mode, Round};

/// What an assignment comes to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Figures {
    /// Least load of a member with at least one existing topic.
    pub load_min: u64,
    /// Greatest load of such a member.
    pub load_max: u64,
    /// Sum of the squares of all loads.
    pub sum_of_squares: u64,
    /// Partitions that leave a holder who still subscribes.
    pub moves: u64,
    /// Partitions that leave a holder, whether or not it still subscribes.
    pub in_transfer: u64,
    /// Partitions whose owner's rack holds no replica, both being known.
    pub rack_mismatches: u64,
}

/// Checks a plan of a group in which no partition is claimed twice at one generation.
///
/// # Errors
///
/// What is wrong: a partition lost, doubled or with a stranger; a figure of the outcome that the plan does
/// not bear out; a partition handed over while another member still holds it.
pub fn check(group: &Group, plan: &Plan, outcome: &Outcome) -> Result<(), String> {
    let figures = figures(group, |member| plan.target(member))?;
    let stats = &outcome.stats;
    compare("partitions", u64::from(stats.partitions), group.topology().partitions() as u64)?;
    compare("members", u64::from(stats.members), group.members() as u64)?;
    compare("load_min", u64::from(stats.load_min), figures.load_min)?;
    compare("load_max", u64::from(stats.load_max), figures.load_max)?;
    compare("sum_of_squares", stats.sum_of_squares, figures.sum_of_squares)?;
    if group.classes().uniform() && stats.load_max - stats.load_min > 1 {
        return Err(format!("loads {}..{} though all subscribe alike", stats.load_min, stats.load_max));
    }
    compare("moves", u64::from(stats.moves), figures.moves)?;
    compare("rack_mismatches", u64::from(stats.rack_mismatches), figures.rack_mismatches)?;

    let round = Round::new(group, plan, Mode::Shipped);
    compare("withheld", round.withheld().count() as u64, figures.in_transfer)?;
    let given: Vec<Vec<PartitionIndex>> =
        group.member_indices().map(|member| round.assignment(member).collect()).collect();
    compare("withheld", handed_over(group, |member| &given[member.at()])?, figures.in_transfer)
}

/// Checks what the members will have in the end, and counts its figures.
///
/// # Errors
///
/// A partition lost, doubled or with a stranger.
pub fn figures<'a>(
    group: &Group,
    list: impl Fn(MemberIndex) -> &'a [PartitionIndex],
) -> Result<Figures, String> {
    let owner = owners(group, &list)?;
    for (partition, wanted) in wanted(group).into_iter().enumerate() {
        if owner[partition].is_some() != wanted {
            return Err(format!("partition {partition}: wanted {wanted}, {:?}", owner[partition]));
        }
    }
    let loads: Vec<u64> = group.member_indices().map(|member| list(member).len() as u64).collect();
    let active =
        || group.member_indices().filter(|&m| group.subscription(m).len() > 0).map(|m| loads[m.at()]);
    let mut figures = Figures {
        load_min: active().min().unwrap_or(0),
        load_max: active().max().unwrap_or(0),
        sum_of_squares: loads.iter().map(|load| load * load).sum(),
        ..Figures::default()
    };
    let holder = holders(group);
    for (number, &member) in owner.iter().enumerate() {
        let partition = PartitionIndex::new(number as u32);
        let Some(member) = member else { continue };
        figures.rack_mismatches += u64::from(group.rack_mismatch(member, partition));
        if let Some(held_by) = holder[number]
            && held_by != member
        {
            figures.in_transfer += 1;
            let topic = group.topology().topic_of(partition);
            figures.moves += u64::from(group.subscribes(held_by, topic));
        }
    }
    Ok(figures)
}

/// Checks what cooperative members get in one round, and counts the partitions that are given to nobody for now.
///
/// # Errors
///
/// A partition doubled or with a stranger; one handed over while another member holds it; one given to nobody though
/// nobody holds it.
pub fn handed_over<'a>(
    group: &Group,
    list: impl Fn(MemberIndex) -> &'a [PartitionIndex],
) -> Result<u64, String> {
    let owner = owners(group, &list)?;
    let holder = holders(group);
    let mut withheld = 0;
    for (partition, wanted) in wanted(group).into_iter().enumerate() {
        match (owner[partition], holder[partition]) {
            (Some(member), Some(holder)) if member != holder => {
                return Err(format!("partition {partition} goes to {member} while {holder} holds it"));
            }
            (None, None) if wanted => return Err(format!("partition {partition} is lost: nobody holds it")),
            (None, Some(_)) if wanted => withheld += 1,
            _ => {}
        }
    }
    Ok(withheld)
}

fn compare(what: &str, said: u64, counted: u64) -> Result<(), String> {
    if said == counted { Ok(()) } else { Err(format!("{what} is said to be {said}, the plan has {counted}")) }
}

/// The owner of each partition: one of its subscribers, or nobody.
fn owners<'a>(
    group: &Group,
    list: &impl Fn(MemberIndex) -> &'a [PartitionIndex],
) -> Result<Vec<Option<MemberIndex>>, String> {
    let topology = group.topology();
    let mut owner: Vec<Option<MemberIndex>> = vec![None; topology.partitions()];
    for member in group.member_indices() {
        for &partition in list(member) {
            if !group.subscribes(member, topology.topic_of(partition)) {
                return Err(format!("partition {partition} goes to {member}, who does not subscribe"));
            }
            if let Some(other) = owner[partition.at()].replace(member) {
                return Err(format!("partition {partition} goes to {other} and to {member}"));
            }
        }
    }
    Ok(owner)
}

/// For each partition whether anybody subscribes.
fn wanted(group: &Group) -> Vec<bool> {
    let topology = group.topology();
    let mut topics = vec![false; topology.topics()];
    for member in group.member_indices() {
        for topic in group.subscription(member) {
            topics[topic.at()] = true;
        }
    }
    let sizes = topology.bases().windows(2).map(|base| (base[1] - base[0]) as usize);
    topics.into_iter().zip(sizes).flat_map(|(wanted, size)| core::iter::repeat_n(wanted, size)).collect()
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

#[cfg(test)]
mod tests {
    use tenure::{Group, Topology};

    use super::{Figures, figures, handed_over};
    use tenure::id::{MemberIndex, PartitionIndex};

    /// a wants both topics and holds x0 x1 y0; b wants x alone and holds x2; c wants both, and nothing is its own.
    fn group() -> Group {
        let topology = Topology::builder().topic("x", 3).topic("y", 2).build().unwrap();
        let mut builder = Group::builder(&topology);
        builder.member("a").topic("x").topic("y").owned("x", [0, 1]).owned("y", [0]).generation(1);
        builder.member("b").topic("x").owned("x", [2]).generation(1);
        builder.member("c").topic("x").topic("y");
        builder.build().unwrap()
    }

    fn with<T>(lists: [&[u32]; 3], judge: impl Fn(&Group, &[Vec<PartitionIndex>]) -> T) -> T {
        let lists = lists.map(|list| list.iter().map(|&p| PartitionIndex::new(p)).collect::<Vec<_>>());
        judge(&group(), &lists)
    }

    fn final_of(lists: [&[u32]; 3]) -> Result<Figures, String> {
        with(lists, |group, lists| figures(group, |member: MemberIndex| &lists[member.at()]))
    }

    fn round_of(lists: [&[u32]; 3]) -> Result<u64, String> {
        with(lists, |group, lists| handed_over(group, |member: MemberIndex| &lists[member.at()]))
    }

    #[test]
    fn figures_are_counted() {
        let expected = Figures {
            load_min: 1,
            load_max: 2,
            sum_of_squares: 9,
            moves: 1,
            in_transfer: 1,
            ..Figures::default()
        };
        assert_eq!(final_of([&[0, 1], &[2], &[3, 4]]), Ok(expected));
    }

    #[test]
    fn every_planted_fault_is_named() {
        let faults: [(&str, [&[u32]; 3]); 3] = [
            ("partition 4: wanted true, None", [&[0, 1], &[2], &[3]]),
            ("partition 2 goes to 1 and to 2", [&[0, 1], &[2], &[2, 3, 4]]),
            ("partition 3 goes to 1, who does not subscribe", [&[0, 1], &[2, 3], &[4]]),
        ];
        for (fault, lists) in faults {
            assert_eq!(final_of(lists), Err(fault.to_string()));
        }
    }

    #[test]
    fn what_is_held_waits_and_what_is_free_does_not() {
        assert_eq!(round_of([&[0, 1], &[2], &[4]]), Ok(1), "y0 waits");
        assert_eq!(
            round_of([&[0, 1], &[2], &[3, 4]]),
            Err("partition 3 goes to 2 while 0 holds it".to_string())
        );
        assert_eq!(
            round_of([&[0, 1, 3], &[2], &[]]),
            Err("partition 4 is lost: nobody holds it".to_string())
        );
    }
}
