//! What was promised, and by how much it holds.

use core::fmt::Write as _;

use super::view::{View, split};
use crate::contest::Call;
use crate::contest::cold::MANY;
use crate::contest::own::NAME;
use crate::contest::peers::{BROKER_UNIFORM, FRANZ, JAVA_COOPERATIVE};

/// A promise and what was measured.
#[derive(Clone, PartialEq, Debug)]
pub struct Bar {
    /// What is promised.
    pub promise: String,
    /// Whether it holds; nothing if it was not measured.
    pub holds: Option<bool>,
    /// What was measured.
    pub measured: String,
}

const UNIFORM_STEADY: &str = "uniform-100k/steady";
const LARGE_STEADY: &str = "uniform-1m/steady";

/// All promises.
pub fn bars(view: &View) -> Vec<Bar> {
    let every = |_: &str| true;
    let mixed = |group: &str| view.groups.iter().any(|record| record.group == group && !record.uniform);
    let one = |group: &str| group == UNIFORM_STEADY;
    vec![
        ratio(view, BROKER_UNIFORM, Call::Plan, 10.0, "plan, every dataset", every),
        ratio(view, JAVA_COOPERATIVE, Call::Round, 200.0, "whole round, uniform-100k steady", one),
        ratio(view, FRANZ, Call::Round, 30.0, "whole round, uniform-100k steady", one),
        ratio(
            view,
            JAVA_COOPERATIVE,
            Call::Plan,
            100.0,
            "plan, different subscriptions, wherever it ends",
            mixed,
        ),
        ratio(view, FRANZ, Call::Plan, 40.0, "plan, different subscriptions, wherever it ends", mixed),
        proven(view),
        large(view),
        many(view),
        allocations(view),
    ]
}

/// How many times faster Tenure was than a peer in a group, by the least times; by the medians.
pub(super) fn factor(view: &View, group: &str, peer: &str, call: Call) -> Option<(f64, f64)> {
    let theirs = view.timing(group, peer, call)?;
    let cooperative = matches!(peer, JAVA_COOPERATIVE | FRANZ);
    let own = if call == Call::Plan && cooperative { Call::PlanRead } else { call };
    let ours = view.timing(group, NAME, own)?;
    Some((theirs.min() / ours.min(), theirs.median() / ours.median()))
}

fn ratio(
    view: &View,
    peer: &str,
    call: Call,
    least: f64,
    where_: &str,
    wanted: impl Fn(&str) -> bool,
) -> Bar {
    let factors: Vec<(&str, f64, f64)> = view
        .groups
        .iter()
        .filter(|group| wanted(&group.group))
        .filter_map(|group| {
            let (by_min, by_median) = factor(view, &group.group, peer, call)?;
            Some((group.group.as_str(), by_min, by_median))
        })
        .collect();
    let below: Vec<String> = factors
        .iter()
        .filter(|factor| factor.1 < least)
        .map(|(group, by_min, _)| format!("{group} {by_min:.1}×"))
        .collect();
    let worst = factors.iter().min_by(|a, b| a.1.total_cmp(&b.1));
    let best = factors.iter().max_by(|a, b| a.1.total_cmp(&b.1));
    let mut measured = match (worst, best) {
        (Some(worst), Some(best)) if factors.len() > 1 => format!(
            "{} of {}; from {:.1}× ({}; medians {:.1}×) to {:.0}× ({})",
            factors.len() - below.len(),
            factors.len(),
            worst.1,
            worst.0,
            worst.2,
            best.1,
            best.0
        ),
        (Some(only), _) => format!("{:.1}× (medians {:.1}×)", only.1, only.2),
        _ => "not measured".to_string(),
    };
    if !below.is_empty() && factors.len() > 1 {
        let _ = write!(measured, "; below: {}", below.join(", "));
    }
    let promise = format!("at least {least}× faster than {peer}: {where_}");
    Bar { promise, holds: worst.map(|worst| worst.1 >= least), measured }
}

fn proven(view: &View) -> Bar {
    let own = |group: &str| view.quality(group, NAME);
    let optimal = |group: &&crate::contest::record::GroupRecord| {
        group.proven
            && own(&group.group).is_some_and(|own| {
                own.fault.is_none() && (own.sum_of_squares, own.moves) == (group.sum_of_squares, group.moves)
            })
    };
    let count = view.groups.iter().filter(optimal).count();
    Bar {
        promise: "proven optimal in balance, then moves".to_string(),
        holds: (!view.groups.is_empty()).then_some(count == view.groups.len()),
        measured: format!("{count} of {} groups, certificates checked", view.groups.len()),
    }
}

fn large(view: &View) -> Bar {
    let partitions =
        view.groups.iter().find(|group| group.group == LARGE_STEADY).map(|group| group.partitions);
    let each = partitions.and_then(|partitions| {
        let timing = view.timing(LARGE_STEADY, NAME, Call::Plan)?;
        Some((timing.min() / partitions as f64, timing.median() / partitions as f64))
    });
    Bar {
        promise: "uniform-1m steady: plan in at most 2 ns a partition".to_string(),
        holds: each.map(|(least, _)| least <= 2.0),
        measured: each.map_or_else(
            || "not measured".to_string(),
            |(least, median)| format!("{least:.2} ns (median {median:.2})"),
        ),
    }
}

fn many(view: &View) -> Bar {
    let measured: Vec<(&str, f64)> = view
        .cold
        .iter()
        .filter_map(|cold| Some((cold.subject.strip_prefix(MANY)?, *cold.ns.iter().min()? as f64 / 1e6)))
        .collect();
    let worst = measured.iter().map(|one| one.1).reduce(f64::max);
    let told: Vec<String> =
        measured.iter().map(|(event, ms)| format!("{} {ms:.1} ms", event.trim_start_matches(", "))).collect();
    Bar {
        promise: format!("{MANY}: planned in under 20 ms by one core"),
        holds: worst.map(|worst| worst < 20.0),
        measured: if told.is_empty() { "not measured".to_string() } else { told.join(", ") },
    }
}

fn allocations(view: &View) -> Bar {
    let own = || view.timings().filter(|(_, contestant, ..)| *contestant == NAME);
    let bad: Vec<String> = own()
        .filter(|(.., timing)| timing.allocations != Some(0.0))
        .map(|(group, _, call, timing)| format!("{group} {call}: {:?}", timing.allocations))
        .collect();
    let steady = own().filter(|(group, ..)| split(group).1 == "steady").count();
    Bar {
        promise: "no allocation in a warm call".to_string(),
        holds: (own().count() > 0).then_some(bad.is_empty()),
        measured: if bad.is_empty() {
            format!("0 in all {} of Tenure's lines, {steady} of them steady", own().count())
        } else {
            bad.join(", ")
        },
    }
}

/// The promises as a table.
pub(super) fn table(view: &View) -> String {
    let mut table = "| bar | holds | measured |\n|---|---|---|\n".to_string();
    for bar in bars(view) {
        let holds = match bar.holds {
            Some(true) => "yes",
            Some(false) => "**no**",
            None => "?",
        };
        let _ = writeln!(table, "| {} | {holds} | {} |", bar.promise, bar.measured);
    }
    table
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::view::View;
    use super::bars;
    use crate::contest::record::{GroupRecord, Quality, Record, Sample};
    use crate::contest::{Call, Spent};

    pub(in super::super) fn sample(group: &str, contestant: &str, call: Call, cpu_ns: u64) -> Record {
        let spent = Spent { calls: 1, cpu_ns, allocations: Some(0), ..Spent::default() };
        Record::Sample(Sample { group: group.into(), contestant: contestant.into(), call, spent })
    }

    fn group(name: &str, uniform: bool) -> [Record; 2] {
        let record = GroupRecord {
            group: name.into(),
            uniform,
            partitions: 1_000_000,
            members: 9,
            topics: 3,
            proven: true,
            sum_of_squares: 50,
            moves: 4,
        };
        let quality = Quality {
            group: name.into(),
            contestant: "tenure".into(),
            fault: None,
            load_min: 1,
            load_max: 2,
            sum_of_squares: 50,
            moves: 4,
            withheld: 4,
            rounds: 2,
            bytes_in: 9,
            bytes_out: 9,
        };
        [Record::Group(record), Record::Quality(quality)]
    }

    fn verdicts(records: Vec<Record>) -> Vec<Option<bool>> {
        bars(&View::new(records)).into_iter().map(|bar| bar.holds).collect()
    }

    #[test]
    fn bars_hold_at_their_edge_and_fail_below_it() {
        let build = |broker: u64, java: u64, plan: u64| {
            let mut records = Vec::new();
            for name in ["uniform-100k/steady", "uniform-1m/steady"] {
                records.extend(group(name, true));
                records.push(sample(name, "tenure", Call::Plan, plan));
                records.push(sample(name, "tenure", Call::Round, 5));
                records.push(sample(name, "broker uniform", Call::Plan, broker));
            }
            records.push(sample("uniform-100k/steady", "java cooperative-sticky", Call::Round, java));
            verdicts(records)
        };
        let (yes, no, unknown) = (Some(true), Some(false), None);
        assert_eq!(
            build(20_000_000, 1_000, 2_000_000),
            [yes, yes, unknown, unknown, unknown, yes, yes, unknown, yes]
        );
        assert_eq!(
            build(20_000_009, 999, 2_000_001),
            [no, no, unknown, unknown, unknown, yes, no, unknown, yes]
        );
    }

    #[test]
    fn a_cooperative_peer_is_compared_with_the_plan_that_was_read() {
        let mut records: Vec<Record> = group("random-100k/steady", false).into();
        records.push(sample("random-100k/steady", "tenure", Call::Plan, 1));
        records.push(sample("random-100k/steady", "tenure", Call::PlanRead, 2));
        records.push(sample("random-100k/steady", "java cooperative-sticky", Call::Plan, 199));
        records.push(sample("random-100k/steady", "franz-go", Call::Plan, 80));
        let holds = verdicts(records);
        assert_eq!((holds[3], holds[4]), (Some(false), Some(true)));
    }

    #[test]
    fn one_move_too_many_and_one_allocation_are_seen() {
        let mut records: Vec<Record> = group("random-100k/steady", false).into();
        let Record::Quality(quality) = &mut records[1] else { unreachable!("the second is the quality") };
        quality.moves += 1;
        let Record::Sample(mut allocating) = sample("random-100k/steady", "tenure", Call::Plan, 1) else {
            unreachable!("a sample is a sample")
        };
        allocating.spent.allocations = Some(1);
        records.push(Record::Sample(allocating));
        let holds = verdicts(records);
        assert_eq!((holds[5], holds[8]), (Some(false), Some(false)));
    }
}
