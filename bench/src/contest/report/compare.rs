//! Two reports: what got slower or faster by more than noise.

use core::fmt::Write as _;

use super::view::{View, median};
use crate::contest::Call;
use crate::contest::own::NAME;

/// Below this no difference counts.
const LEAST: f64 = 0.10;

/// Tells how each of Tenure's calls changed from an old report to a new one, and whether any got slower.
///
/// The least times are compared. What counts as noise is the spread of the samples in either report, at least a tenth.
/// The machine itself may have become slower: the peers' calls did not change, so their median change is taken out.
pub fn compare(old: &View, new: &View) -> (String, bool) {
    let changes = |own: bool| {
        new.timings().filter(move |(_, contestant, ..)| (*contestant == NAME) == own).filter_map(
            |(group, contestant, call, after)| {
                let before = old.timing(group, contestant, call)?;
                let spread = |timing: &super::Timing| timing.median() / timing.min() - 1.0;
                let noise = spread(before).max(spread(after)).max(LEAST);
                Some((group, call, before.min(), after.min(), noise))
            },
        )
    };
    let peers: Vec<f64> = changes(false).map(|(_, _, before, after, _)| after / before).collect();
    let machine = if peers.is_empty() { 1.0 } else { median(&peers) };
    let mut text = String::new();
    let _ = writeln!(text, "{} calls of peers: median ×{machine:.2}, taken out below", peers.len());
    let mut rows: Vec<(f64, f64, &str, Call, f64, f64)> = changes(true)
        .map(|(group, call, before, after, noise)| {
            (after / before / machine, noise, group, call, before, after)
        })
        .collect();
    rows.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.2.cmp(b.2)).then(a.3.cmp(&b.3)));
    let mut counts = [0; 3];
    for (change, noise, group, call, before, after) in &rows {
        let (word, at) = match *change {
            change if change > 1.0 + noise => ("slower", 0),
            change if change < 1.0 / (1.0 + noise) => ("faster", 1),
            _ => ("same", 2),
        };
        counts[at] += 1;
        if at != 2 {
            let _ = writeln!(
                text,
                "{word}  ×{change:<6.2} {group:<28} {call:<10} {:>10.4} ms → {:>10.4} ms  (noise {:.0} %)",
                before / 1e6,
                after / 1e6,
                noise * 100.0,
            );
        }
    }
    let [slower, faster, same] = counts;
    let _ = writeln!(text, "{slower} slower, {faster} faster, {same} within noise");
    let gone = old.timings().filter(|(group, contestant, call, _)| {
        *contestant == NAME && new.timing(group, NAME, *call).is_none()
    });
    for (group, _, call, _) in gone {
        let _ = writeln!(text, "only in the old report: {group} {call}");
    }
    (text, slower > 0)
}

#[cfg(test)]
mod tests {
    use super::super::bars::tests::sample;
    use super::super::view::View;
    use super::compare;
    use crate::contest::{Call, record::Record};

    fn report(ours: [u64; 2], theirs: u64) -> View {
        let line =
            |group: &str, contestant: &str, ns: u64| -> Record { sample(group, contestant, Call::Plan, ns) };
        View::new(vec![
            line("a/steady", "tenure", ours[0]),
            line("b/steady", "tenure", ours[1]),
            line("a/steady", "franz-go", theirs),
        ])
    }

    #[test]
    fn more_than_noise_is_told() {
        let old = report([1000, 1000], 5000);
        let (text, slower) = compare(&old, &report([1050, 1200], 5000));
        assert!(slower && text.contains("slower  ×1.20   b/steady"), "{text}");
        assert!(text.contains("1 slower, 0 faster, 1 within noise"), "{text}");
        let (text, slower) = compare(&old, &report([500, 1000], 5000));
        assert!(!slower && text.contains("faster  ×0.50   a/steady"), "{text}");
    }

    #[test]
    fn a_slower_machine_is_taken_out() {
        let old = report([1000, 1000], 5000);
        let (text, slower) = compare(&old, &report([1300, 1300], 6500));
        assert!(!slower && text.contains("2 within noise"), "{text}");
        let (text, slower) = compare(&old, &report([1300, 1300], 5000));
        assert!(slower, "{text}");
    }

    #[test]
    fn a_wide_spread_hides_small_changes() {
        let spread = View::new(vec![
            sample("a/steady", "tenure", Call::Plan, 1000),
            sample("a/steady", "tenure", Call::Plan, 1500),
            sample("a/steady", "tenure", Call::Plan, 1500),
        ]);
        let (text, slower) = compare(&spread, &report([1300, 1300], 5000));
        assert!(!slower, "{text}");
    }
}
