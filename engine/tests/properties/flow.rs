//! The best worth of larger groups: a minimum-cost flow by successive shortest paths, found by Bellman–Ford.
//!
//! One node a partition, one a member; a member's n-th partition costs 2n − 1 squares, so that least cost is
//! least sum of squares, and that is the least load vector. Below the squares come the two other criteria.

use tenure::plan::Objective;

use crate::problem::{Problem, Worth};

/// Costs of three ranks in one number. Each rank is above all that the lower ones can add up to.
fn rank(problem: &Problem) -> (i64, i64) {
    let step = problem.items.len() as i64 + 1;
    (step * step, step)
}

/// The least worth. Each partition is sent in turn along the cheapest path of exchanges.
pub(crate) fn best(problem: &Problem, objective: Objective) -> Worth {
    let (square, first) = rank(problem);
    let price = |item: usize, m: usize| {
        let item = &problem.items[item];
        let mismatch = i64::from(item.mismatch[m]);
        let moved = i64::from(item.owner.is_some_and(|owner| owner != m));
        match objective {
            Objective::RackThenMoves => mismatch * first + moved,
            Objective::MovesThenRack => moved * first + mismatch,
            other => panic!("no rule for {other:?}"),
        }
    };
    let mut chosen: Vec<Option<usize>> = vec![None; problem.items.len()];
    let mut loads = vec![0i64; problem.members];
    for source in 0..problem.items.len() {
        // Cost of member m having one more, by the cheapest chain: (cost, the item that comes, from whom).
        let mut cost: Vec<Option<(i64, usize, Option<usize>)>> = vec![None; problem.members];
        for &m in &problem.items[source].subscribers {
            cost[m] = Some((price(source, m), source, None));
        }
        loop {
            let mut changed = false;
            for (item, owner) in chosen.iter().enumerate() {
                // The owner may pass this item on to another subscriber.
                let Some(owner) = *owner else { continue };
                let Some((so_far, _, _)) = cost[owner] else { continue };
                for &m in &problem.items[item].subscribers {
                    let through = so_far - price(item, owner) + price(item, m);
                    if m != owner && cost[m].is_none_or(|(known, _, _)| through < known) {
                        cost[m] = Some((through, item, Some(owner)));
                        changed = true;
                    }
                }
            }
            if !changed {
                break;
            }
        }
        let total = |m: usize| cost[m].map(|(cost, _, _)| (cost + square * (2 * loads[m] + 1), m));
        let (_, end) = (0..problem.members).filter_map(total).min().expect("an item has subscribers");
        loads[end] += 1;
        let mut m = end;
        while let Some((_, item, from)) = cost[m] {
            chosen[item] = Some(m);
            match from {
                Some(from) => m = from,
                None => break,
            }
        }
    }
    let chosen: Vec<usize> = chosen.into_iter().map(|owner| owner.expect("all were sent")).collect();
    problem.worth(&chosen, objective)
}

/// Two judges that share no idea agree.
#[test]
fn the_flow_agrees_with_brute_force() {
    use crate::problem::Item;
    use crate::support::random::Random;
    let mut random = Random::new(0xf10e);
    for _ in 0..3_000 {
        let members = 1 + random.below(4);
        let items = (0..1 + random.below(6)).map(|_| {
            let mut subscribers: Vec<usize> = (0..members).filter(|_| random.one_in(2)).collect();
            if subscribers.is_empty() {
                subscribers.push(random.below(members));
            }
            let owner = random.one_in(2).then(|| subscribers[random.below(subscribers.len())]);
            Item { subscribers, owner, mismatch: (0..members).map(|_| random.one_in(2)).collect() }
        });
        let problem = Problem { members, items: items.collect() };
        for objective in [Objective::RackThenMoves, Objective::MovesThenRack] {
            assert_eq!(best(&problem, objective), problem.best(objective), "{problem:?}");
        }
    }
}
