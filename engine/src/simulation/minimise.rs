//! Makes a failing run smaller while it still breaks the same rule.

use super::checker::Rule;
use super::fault::Faults;
use super::workload::Options;
use super::{Outcome, run};

/// The smallest options found that still break the rule, and their outcome. At most `tries` runs are made.
///
/// Groups of disturbances go first, then kinds of faults, then time. The seed of the chances stays, so a smaller run
/// is as repeatable as the one it came from.
pub fn minimise(options: &Options, rule: Rule, tries: usize) -> (Options, Outcome) {
    let mut best = options.clone();
    let mut outcome = run(&best);
    let mut left = tries;
    let mut attempt = |candidate: Options, best: &mut Options, outcome: &mut Outcome| -> bool {
        if left == 0 || candidate == *best {
            return false;
        }
        left -= 1;
        let tried = run(&candidate);
        let fails = tried.violation.as_ref().is_some_and(|one| one.rule == rule);
        if fails {
            *best = candidate;
            *outcome = tried;
        }
        fails
    };

    // What comes after the violation does not matter, unless the rule is about what comes after.
    if let Some(at_ms) = outcome.violation.as_ref().map(|one| one.at_ms)
        && at_ms < best.duration_ms
    {
        let mut candidate = best.clone();
        candidate.disturbances.retain(|one| one.at_ms <= at_ms);
        candidate.duration_ms = at_ms + 1;
        attempt(candidate, &mut best, &mut outcome);
    }
    loop {
        let before = best.clone();
        let mut chunk = best.disturbances.len().div_ceil(2);
        while chunk > 0 {
            let mut from = 0;
            while from < best.disturbances.len() {
                let mut candidate = best.clone();
                let to = (from + chunk).min(candidate.disturbances.len());
                candidate.disturbances.drain(from..to);
                if !attempt(candidate, &mut best, &mut outcome) {
                    from += chunk;
                }
            }
            chunk /= 2;
        }
        let calmer: [fn(&mut Faults); 7] = [
            |faults| *faults = Faults::NONE,
            |faults| faults.loss_per_mille = 0,
            |faults| faults.duplicate_per_mille = 0,
            |faults| faults.slow_per_mille = 0,
            |faults| faults.reorder = false,
            |faults| faults.callback_failure_per_mille = 0,
            |faults| faults.callback_slow_per_mille = 0,
        ];
        for calm in calmer {
            let mut candidate = best.clone();
            calm(&mut candidate.faults);
            attempt(candidate, &mut best, &mut outcome);
        }
        for topic in (0..best.topics.len()).rev() {
            let mut candidate = best.clone();
            if candidate.topics[topic].is_some() && candidate.topics.iter().flatten().count() > 1 {
                candidate.topics[topic] = None;
                attempt(candidate, &mut best, &mut outcome);
            }
        }
        if best == before {
            return (best, outcome);
        }
    }
}
