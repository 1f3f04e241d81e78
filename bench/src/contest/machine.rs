//! What a report says of its place and time: nothing that names a host or a person.

use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

/// Model of the processor, cores and memory, as far as the system tells.
pub fn machine() -> String {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let mut parts = vec![processor(), if cores == 1 { "one core".into() } else { format!("{cores} cores") }];
    parts.extend(memory());
    parts.push(format!("{} {}", std::env::consts::OS, std::env::consts::ARCH));
    parts.join(", ")
}

/// A short name of the machine for folders, as `epyc-2-cores`.
pub fn slug() -> String {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let model = processor();
    let word = model
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| word.chars().all(|c| c.is_ascii_alphabetic()))
        .rfind(|word| word.len() > 3 && !["Processor", "Core", "Intel"].contains(word))
        .unwrap_or("machine");
    format!("{}-{cores}-cores", word.to_lowercase())
}

fn processor() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    model.map_or_else(|| "unknown processor".to_string(), |(_, model)| model.trim().to_string())
}

fn memory() -> Option<String> {
    let info = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = info.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kib: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(format!("{} GiB", kib.div_ceil(1 << 20)))
}

/// What instruction counts depend on beside the code: the compiler, and the processor, after which the C library
/// chooses its copying loops.
pub fn compiler_and_processor() -> String {
    format!("{}, {}", rustc(), processor())
}

/// The compiler's version.
pub fn rustc() -> String {
    first_line("rustc", &["--version"]).unwrap_or_else(|| "rustc unknown".to_string())
}

/// The first line that a command prints, if it does.
pub fn first_line(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok()?;
    String::from_utf8(output.stdout).ok()?.lines().next().map(str::to_string)
}

/// Today, in UTC, as `2026-11-30`.
pub fn today() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let (year, month, day) = civil(seconds / 86_400);
    format!("{year}-{month:02}-{day:02}")
}

/// The date of a day since 1970-01-01, by counting.
fn civil(mut days: u64) -> (u64, u64, u64) {
    let leap = |year: u64| year.is_multiple_of(4) && !year.is_multiple_of(100) || year.is_multiple_of(400);
    let mut year = 1970;
    while days >= 365 + u64::from(leap(year)) {
        days -= 365 + u64::from(leap(year));
        year += 1;
    }
    let lengths = [31, 28 + u64::from(leap(year)), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let mut month = 0;
    while days >= lengths[month] {
        days -= lengths[month];
        month += 1;
    }
    (year, month as u64 + 1, days + 1)
}

#[cfg(test)]
mod tests {
    use super::civil;

    #[test]
    fn days_become_dates() {
        let dates =
            [(0, (1970, 1, 1)), (11_016, (2000, 2, 29)), (20_787, (2026, 11, 30)), (19_723, (2024, 1, 1))];
        for (days, date) in dates {
            assert_eq!(civil(days), date, "{days}");
        }
    }
}
