//! From claims to the home of each arc.

use super::Work;
use crate::group::{Group, NONE};
use crate::owned::claims::{Findings, Settled};
use crate::owned::row;

/// Settles the claims and counts `home` along arcs, `home_load` of members and what stays `free` of classes; `claimed` gets the partitions with a valid owner.
/// True if no claim was in doubt: the group's own lists then are the valid claims.
pub(super) fn settle(group: &Group, settled: &mut Settled, work: &mut Work) -> bool {
    let partitions = group.topology.partitions();
    row::reset(&mut settled.claimed, partitions);
    row::reset(&mut settled.still_held, partitions);
    settled.joint.clear();
    settled.findings = Findings { foreign_claims: group.foreign.len() as u32, ..Findings::default() };
    // As many bits as claims: then each has its own.
    row::set_all(&mut settled.claimed, &group.claims);
    if row::count(&settled.claimed) == group.claims.len()
        && count::<true>(group, &group.claim_start, &group.claims, work)
    {
        return true;
    }
    settled.settle(group);
    let Settled { home_start, home, .. } = settled;
    count::<false>(group, home_start, home, work);
    false
}

/// Counts along arcs; with `TEST` tells of the first claim by a member that may not own it by returning false.
fn count<const TEST: bool>(group: &Group, starts: &[u32], list: &[u32], work: &mut Work) -> bool {
    let classes = group.classes();
    let Work { home, arc_of_class, home_load, free, .. } = work;
    home_load.clear();
    free.clear();
    free.extend_from_slice(&classes.size);
    home.clear();
    home.resize(classes.arcs(), 0);
    arc_of_class.clear();
    arc_of_class.resize(classes.len(), NONE);
    let mut uneven = false;
    for (member, arcs) in classes.member_start.windows(2).enumerate() {
        let claims = &list[starts[member] as usize..starts[member + 1] as usize];
        home_load.push(claims.len() as u32);
        if claims.is_empty() {
            continue;
        }
        for arc in arcs[0]..arcs[1] {
            arc_of_class[classes.arc_class[arc as usize] as usize] = arc;
        }
        let mut doubt = false;
        let mut add = |class: u32, many: u32| {
            let arc = if class == NONE { NONE } else { arc_of_class[class as usize] };
            // An entry that another member left behind is outside this member's arcs.
            if arcs[0] <= arc && arc < arcs[1] {
                home[arc as usize] += many;
                // A doubtful claim may be one too many; then all is counted again.
                free[class as usize] = free[class as usize].wrapping_sub(many);
            } else {
                doubt = true;
            }
        };
        if classes.by_rack() {
            claims.iter().for_each(|&p| add(classes.of_partition[p as usize], 1));
        } else if uneven {
            // How many come next is hard to guess, so each is looked up.
            let (mut runs, mut last) = (0, usize::MAX);
            for &p in claims {
                let run = classes.run_lookup.find(&classes.run_end, p);
                runs += usize::from(run != last);
                last = run;
                add(classes.run_class[run], 1);
            }
            uneven = is_uneven(claims.len(), runs);
        } else {
            let (mut rest, mut runs) = (claims, 0);
            while let Some(&first) = rest.first() {
                let run = classes.run_lookup.find(&classes.run_end, first);
                let end = classes.run_end[run];
                let len = rest.iter().position(|&p| p >= end).unwrap_or(rest.len());
                add(classes.run_class[run], len as u32);
                rest = &rest[len..];
                runs += 1;
            }
            uneven = is_uneven(claims.len(), runs);
        }
        if TEST && doubt {
            return false;
        }
    }
    true
}

/// Whether claims that came in so many runs have now one of a class, now two or three. The next member's are likely to
/// be alike.
fn is_uneven(claims: usize, runs: usize) -> bool {
    claims < 3 * runs && 5 * claims > 7 * runs
}
