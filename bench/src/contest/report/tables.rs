//! The tables of a report.

use core::fmt::Write as _;

use tenure_cli::number::grouped;

use super::bars::factor;
use super::view::{View, median, split};
use crate::contest::Call;
use crate::contest::own::NAME;
use crate::contest::record::Silence;

/// Times of one event and call: a row a group, a column a contestant; nothing if nobody was measured.
pub(super) fn times(view: &View, event: &str, call: Call) -> Option<String> {
    let groups: Vec<&str> = view.groups_of(event).map(|group| group.group.as_str()).collect();
    let measured = |contestant: &str| {
        groups.iter().any(|group| {
            view.timing(group, contestant, call).is_some() || view.silence(group, contestant, call).is_some()
        })
    };
    let peers: Vec<&str> = view
        .contestants
        .iter()
        .map(String::as_str)
        .filter(|contestant| *contestant != NAME && measured(contestant))
        .collect();
    if peers.is_empty() && !groups.iter().any(|group| view.timing(group, NAME, call).is_some()) {
        return None;
    }
    let mut own = vec![call];
    if call == Call::Plan {
        own.push(Call::PlanRead);
    }
    let mut table = "| group | partitions × members |".to_string();
    for &call in &own {
        table.push_str(if call == Call::PlanRead { " and read |" } else { " tenure |" });
    }
    for peer in &peers {
        let _ = write!(table, " {peer} |");
    }
    let _ = writeln!(table, "\n|---|---|{}", "---|".repeat(own.len() + peers.len()));
    for group in view.groups_of(event) {
        let name = group.group.as_str();
        let _ = write!(
            table,
            "| {} | {} × {} |",
            split(name).0,
            grouped(group.partitions),
            grouped(group.members)
        );
        for &call in &own {
            let _ = write!(table, " {} |", cell(view, name, NAME, call));
        }
        for peer in &peers {
            let _ = write!(table, " {}", cell(view, name, peer, call));
            if let Some((by_min, _)) = factor(view, name, peer, call) {
                let _ = write!(table, " **{}×**", digits(by_min));
            }
            table.push_str(" |");
        }
        table.push('\n');
    }
    Some(table)
}

/// Least and median, or why there is none.
fn cell(view: &View, group: &str, contestant: &str, call: Call) -> String {
    match (view.timing(group, contestant, call), view.silence(group, contestant, call)) {
        (Some(timing), _) => format!("{} / {}", ms(timing.min()), ms(timing.median())),
        (None, Some(silence)) => short(silence),
        (None, None) => "–".to_string(),
    }
}

/// The text of a silence as it fits into a table.
fn short(silence: &Silence) -> String {
    if silence.timed_out {
        silence.why.clone()
    } else if silence.why.starts_with("not asked") {
        "not asked".to_string()
    } else if silence.why.starts_with("not measured") {
        "not measured".to_string()
    } else {
        "failed".to_string()
    }
}

/// What a warm call asks of the allocator.
pub(super) fn memory(view: &View) -> String {
    let mut table = "| group | call | contestant | bytes | allocations | process CPU ms, median |\n|---|---|---|---|---|---|\n"
        .to_string();
    for group in &view.groups {
        for call in [Call::Plan, Call::Round] {
            for contestant in &view.contestants {
                let Some(timing) = view.timing(&group.group, contestant, call) else { continue };
                let allocations = timing
                    .allocations
                    .map_or_else(|| "not counted".to_string(), |count| grouped(count as u64));
                let _ = writeln!(
                    table,
                    "| {} | {call} | {contestant} | {} | {allocations} | {} |",
                    group.group,
                    bytes(timing.bytes),
                    ms(timing.process_median()),
                );
            }
        }
    }
    table
}

/// What came of each group.
pub(super) fn quality(view: &View) -> String {
    let mut table = "Loads and moves are those when nothing waits any more. *Worse* is beside the proven optimum: how much the \
                     sum of the squares of the loads is above the least, and how many moves are above the fewest.\n\n\
                     | group | contestant | loads | squares worse | moves | moves worse | withheld at first | rounds | MB in | MB out |\n\
                     |---|---|---|---|---|---|---|---|---|---|\n"
        .to_string();
    for group in &view.groups {
        for contestant in &view.contestants {
            let Some(quality) = view.quality(&group.group, contestant) else { continue };
            if let Some(fault) = &quality.fault {
                let _ = writeln!(table, "| {} | {contestant} | **{fault}** | | | | | | | |", group.group);
                continue;
            }
            // Fewer moves than the optimum's only go with a worse balance.
            let moves = i128::from(quality.moves) - i128::from(group.moves);
            let squares = i128::from(quality.sum_of_squares) - i128::from(group.sum_of_squares);
            let bytes_in = format!("{:.2}", quality.bytes_in as f64 / 1e6);
            let out = if quality.bytes_out == 0 {
                "–".into()
            } else {
                format!("{:.2}", quality.bytes_out as f64 / 1e6)
            };
            let _ = writeln!(
                table,
                "| {} | {contestant} | {}–{} | {squares} | {} | {moves} | {} | {} | {} | {out} |",
                group.group,
                quality.load_min,
                quality.load_max,
                quality.moves,
                quality.withheld,
                quality.rounds,
                if quality.bytes_out == 0 { "–".into() } else { bytes_in },
            );
        }
    }
    table
}

/// Cold starts; nothing if there are none.
pub(super) fn cold(view: &View) -> Option<String> {
    if view.cold.is_empty() {
        return None;
    }
    let mut table = "| what | who | state | ms, least | median | clock | allocations | bytes |\n|---|---|---|---|---|---|---|---|\n"
        .to_string();
    for cold in &view.cold {
        let ns: Vec<f64> = cold.ns.iter().map(|&ns| ns as f64).collect();
        let least = ns.iter().copied().fold(f64::INFINITY, f64::min);
        let _ = writeln!(
            table,
            "| {} | {} | {} | {} | {} | {} | {} | {} |",
            cold.subject,
            cold.contestant,
            cold.state,
            ms(least),
            ms(median(&ns)),
            if cold.cpu { "thread CPU" } else { "wall" },
            cold.allocations.map_or_else(|| "–".to_string(), grouped),
            cold.bytes.map_or_else(|| "–".to_string(), |count| bytes(count as f64)),
        );
    }
    Some(table)
}

/// Everything there is not, and why.
pub(super) fn silences(view: &View) -> String {
    let mut list = String::new();
    for silence in &view.silences {
        let call = silence.call.map_or_else(String::new, |call| format!(", {call}"));
        let group = if silence.group.is_empty() { String::new() } else { format!(" {}", silence.group) };
        let _ = writeln!(list, "- {}{group}{call}: {}", silence.contestant, silence.why);
    }
    list
}

/// Milliseconds with three digits.
fn ms(ns: f64) -> String {
    digits(ns / 1e6)
}

/// Three digits of a number, and all of a large one.
fn digits(number: f64) -> String {
    match number {
        number if number >= 1000.0 => grouped(number.round() as u64),
        number if number >= 100.0 => format!("{number:.0}"),
        number if number >= 10.0 => format!("{number:.1}"),
        number if number >= 1.0 => format!("{number:.2}"),
        number if number >= 0.1 => format!("{number:.3}"),
        number => format!("{number:.4}"),
    }
}

fn bytes(count: f64) -> String {
    match count {
        count if count >= 1e6 => format!("{} MB", digits(count / 1e6)),
        count if count >= 1e3 => format!("{} kB", digits(count / 1e3)),
        count => format!("{count:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use super::{bytes, digits};

    #[test]
    fn numbers_are_short_and_whole() {
        let cases = [
            (0.01234, "0.0123"),
            (0.5, "0.500"),
            (9.876, "9.88"),
            (98.76, "98.8"),
            (987.6, "988"),
            (98_765.4, "98,765"),
        ];
        for (number, text) in cases {
            assert_eq!(digits(number), text);
        }
        assert_eq!((bytes(0.0).as_str(), bytes(98_100_000.0).as_str()), ("0", "98.1 MB"));
    }
}
