//! Was and is.

use core::fmt::Write as _;
use std::collections::BTreeMap;

use super::Count;
use crate::alloc::Used;

/// Allowed beside counts of the same compiler and processor, in percent.
pub const SAME_COMPILER: u64 = 3;

/// Allowed beside counts of others.
pub const OTHER_COMPILER: u64 = 25;

/// How to make what is the new was.
pub const RENEW: &str = "cargo run --profile guard -p tenure-bench --bin guard -- --renew";

/// Counts that were committed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Baseline {
    /// The compiler and the processor that they were made with.
    pub compiler: String,
    /// A count a case.
    pub counts: Vec<Count>,
}

const HEAD: &str = "case,instructions,allocations,cold_allocations,cold_bytes";

impl Baseline {
    /// Reads the committed file.
    ///
    /// # Errors
    ///
    /// The line that is not one.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut lines = text.lines();
        let compiler =
            lines.next().and_then(|line| line.strip_prefix("# ")).ok_or("line 1: no compiler")?.to_string();
        if lines.next() != Some(HEAD) {
            return Err(format!("line 2: not {HEAD}"));
        }
        let count = |(number, line): (usize, &str)| {
            parse_count(line).ok_or_else(|| format!("line {}: no count: {line}", number + 3))
        };
        Ok(Self { compiler, counts: lines.enumerate().map(count).collect::<Result<_, _>>()? })
    }

    /// The text of the committed file.
    pub fn to_text(&self) -> String {
        let mut text = format!("# {}\n{HEAD}\n", self.compiler);
        for count in &self.counts {
            let _ = writeln!(text, "{count}");
        }
        text
    }
}

/// Reads a count as it is written.
pub fn parse_count(line: &str) -> Option<Count> {
    let fields: Vec<&str> = line.split(',').collect();
    let [case, instructions, warm, allocations, bytes] = fields[..] else { return None };
    Some(Count {
        case: case.to_string(),
        instructions: if instructions == "-" { None } else { Some(instructions.parse().ok()?) },
        warm: warm.parse().ok()?,
        cold: Used { allocations: allocations.parse().ok()?, bytes: bytes.parse().ok()? },
    })
}

/// What a comparison says.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Verdict {
    /// More work than is allowed, one line each.
    pub worse: Vec<String>,
    /// Less work by more than the tolerance: worth a new baseline.
    pub better: Vec<String>,
}

/// Holds what is against what was.
pub fn compare(was: &Baseline, compiler: &str, is: &[Count]) -> Verdict {
    let tolerance = if was.compiler == compiler { SAME_COMPILER } else { OTHER_COMPILER };
    let mut verdict = Verdict::default();
    let mut old: BTreeMap<&str, &Count> =
        was.counts.iter().map(|count| (count.case.as_str(), count)).collect();
    for new in is {
        let case = &new.case;
        let Some(old) = old.remove(case.as_str()) else {
            verdict.worse.push(format!("{case}: not in the baseline"));
            continue;
        };
        let mut hold = |what: &str, was: u64, is: u64, tolerance: u64| {
            let change = || {
                if was == 0 {
                    return format!("{case}: {is} {what}, was 0");
                }
                let percent = (is as f64 / was as f64 - 1.0) * 100.0;
                format!("{case}: {is} {what}, was {was} ({percent:+.1} %, {tolerance} % allowed)")
            };
            if is * 100 > was * (100 + tolerance) {
                verdict.worse.push(change());
            } else if is * (100 + tolerance) < was * 100 {
                verdict.better.push(change());
            }
        };
        if let (Some(was), Some(is)) = (old.instructions, new.instructions) {
            hold("instructions of a warm call", was, is, tolerance);
        }
        hold("allocations of a warm call", old.warm, new.warm, 0);
        hold("allocations of a first call", old.cold.allocations, new.cold.allocations, 0);
        hold("bytes allocated by a first call", old.cold.bytes, new.cold.bytes, SAME_COMPILER);
    }
    verdict.worse.extend(old.keys().map(|case| format!("{case}: in the baseline, not counted any more")));
    verdict
}

#[cfg(test)]
mod tests {
    use super::{Baseline, compare, parse_count};
    use crate::guard::Count;

    fn baseline() -> Baseline {
        let text = "# rustc 1\ncase,instructions,allocations,cold_allocations,cold_bytes\na/steady/plan,1000,0,5,800\n";
        let baseline = Baseline::parse(text).unwrap();
        assert_eq!(baseline.to_text(), text);
        baseline
    }

    fn is(line: &str) -> [Count; 1] {
        [parse_count(line).unwrap()]
    }

    #[test]
    fn the_tolerance_is_kept_on_both_sides() {
        let hold = |line: &str, compiler: &str| {
            let verdict = compare(&baseline(), compiler, &is(line));
            (verdict.worse.len(), verdict.better.len())
        };
        assert_eq!(hold("a/steady/plan,1030,0,5,800", "rustc 1"), (0, 0));
        assert_eq!(hold("a/steady/plan,1031,0,5,800", "rustc 1"), (1, 0));
        assert_eq!(hold("a/steady/plan,1031,0,5,800", "rustc 2"), (0, 0));
        assert_eq!(hold("a/steady/plan,1251,0,5,800", "rustc 2"), (1, 0));
        assert_eq!(hold("a/steady/plan,900,0,5,800", "rustc 1"), (0, 1));
        assert_eq!(hold("a/steady/plan,-,0,5,800", "rustc 1"), (0, 0));
    }

    #[test]
    fn one_allocation_is_too_many_and_the_message_says_where() {
        let verdict = compare(&baseline(), "rustc 1", &is("a/steady/plan,1000,1,6,900"));
        assert_eq!(
            verdict.worse,
            [
                "a/steady/plan: 1 allocations of a warm call, was 0",
                "a/steady/plan: 6 allocations of a first call, was 5 (+20.0 %, 0 % allowed)",
                "a/steady/plan: 900 bytes allocated by a first call, was 800 (+12.5 %, 3 % allowed)",
            ]
        );
    }

    #[test]
    fn a_case_that_comes_or_goes_is_named() {
        let verdict = compare(&baseline(), "rustc 1", &is("b/steady/plan,1000,0,5,800"));
        assert_eq!(
            verdict.worse,
            ["b/steady/plan: not in the baseline", "a/steady/plan: in the baseline, not counted any more"]
        );
    }

    #[test]
    fn a_damaged_file_is_refused_by_line() {
        assert!(Baseline::parse("").is_err());
        let text = "# rustc 1\ncase,instructions,allocations,cold_allocations,cold_bytes\na,1,0,0,0\na,b\n";
        assert_eq!(Baseline::parse(text), Err("line 4: no count: a,b".to_string()));
    }
}
