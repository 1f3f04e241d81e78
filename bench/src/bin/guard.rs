//! Does a call do more work than it did? Counts instructions and allocations and holds them against `bench/baseline.csv`.
//!
//! ```text
//! cargo run --profile guard -p tenure-bench --bin guard                compare; status 1 if anything does more
//! cargo run --profile guard -p tenure-bench --bin guard -- --renew     what is becomes what was
//! ```
//!
//! Instructions are counted by valgrind's callgrind. Without it allocations alone are compared, and the status is 77
//! if they are as before.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use tenure_bench::alloc::Counting;
use tenure_bench::contest::machine;
use tenure_bench::guard::baseline::{self, Baseline, RENEW};
use tenure_bench::guard::{self, Count};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The function that is counted; dumps want its whole name.
const MEASURED: &str = "tenure_bench::guard::measured_call";

/// Some tool is missing.
const SKIPPED: u8 = 77;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match words[..] {
        ["--count"] => {
            guard::count(|count| println!("{count}"));
            return ExitCode::SUCCESS;
        }
        [] => check(),
        ["--renew"] => renew(),
        _ => Err("use: guard, or guard --renew".to_string()),
    };
    match done {
        Ok(code) => code,
        Err(error) => {
            eprintln!("guard: {error}");
            ExitCode::from(2)
        }
    }
}

fn file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("baseline.csv")
}

fn check() -> Result<ExitCode, String> {
    let text = fs::read_to_string(file()).map_err(|error| format!("{}: {error}", file().display()))?;
    let was = Baseline::parse(&text).map_err(|error| format!("{}: {error}", file().display()))?;
    let compiler = machine::compiler_and_processor();
    let (counts, counted) = count()?;
    let verdict = baseline::compare(&was, &compiler, &counts);
    if was.compiler != compiler {
        println!(
            "the baseline is of {}, this is {compiler}: {} % allowed",
            was.compiler,
            baseline::OTHER_COMPILER
        );
    }
    for line in &verdict.better {
        println!("less   {line}");
    }
    for line in &verdict.worse {
        println!("MORE   {line}");
    }
    println!("{} cases: {} do more, {} do less", counts.len(), verdict.worse.len(), verdict.better.len());
    if !verdict.worse.is_empty() {
        println!("If that is meant, say why in the commit and renew the baseline: {RENEW}");
        return Ok(ExitCode::FAILURE);
    }
    if !verdict.better.is_empty() {
        println!("To keep what was won, renew the baseline: {RENEW}");
    }
    if !counted {
        println!("instructions were not counted: no valgrind");
        return Ok(ExitCode::from(SKIPPED));
    }
    Ok(ExitCode::SUCCESS)
}

fn renew() -> Result<ExitCode, String> {
    let (counts, counted) = count()?;
    if !counted {
        return Err("a baseline needs valgrind".to_string());
    }
    let text = Baseline { compiler: machine::compiler_and_processor(), counts }.to_text();
    fs::write(file(), text).map_err(|error| format!("{}: {error}", file().display()))?;
    println!("{}", file().display());
    Ok(ExitCode::SUCCESS)
}

/// Counts in another process, under valgrind if there is one; tells whether there was.
fn count() -> Result<(Vec<Count>, bool), String> {
    let folder = std::env::temp_dir().join(format!("tenure-guard-{}", std::process::id()));
    fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    let counted = count_in(&folder);
    fs::remove_dir_all(&folder).map_err(|error| error.to_string())?;
    counted
}

fn count_in(folder: &Path) -> Result<(Vec<Count>, bool), String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let valgrind = Command::new("valgrind").arg("--version").stdout(Stdio::null()).status().is_ok();
    let mut command = if valgrind {
        let mut command = Command::new("valgrind");
        command
            .arg("--tool=callgrind")
            .args([format!("--toggle-collect={MEASURED}"), format!("--dump-after={MEASURED}")])
            .arg(format!("--callgrind-out-file={}", folder.join("dump").display()))
            .arg(&program);
        command
    } else {
        Command::new(&program)
    };
    let output = command.arg("--count").output().map_err(|error| error.to_string())?;
    if !output.status.success() {
        return Err(format!("counting failed: {}", String::from_utf8_lossy(&output.stderr)));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let mut counts = Vec::new();
    for line in text.lines() {
        counts.push(baseline::parse_count(line).ok_or_else(|| format!("no count: {line}"))?);
    }
    if valgrind {
        for (number, count) in counts.iter_mut().enumerate() {
            count.instructions = Some(instructions(&folder.join(format!("dump.{}", number + 1)))?);
        }
    }
    Ok((counts, valgrind))
}

/// The sum of a dump of callgrind.
fn instructions(dump: &Path) -> Result<u64, String> {
    let text = fs::read_to_string(dump).map_err(|error| format!("{}: {error}", dump.display()))?;
    let line = text
        .lines()
        .rev()
        .find_map(|line| line.strip_prefix("totals:").or_else(|| line.strip_prefix("summary:")));
    line.and_then(|total| total.trim().parse().ok())
        .filter(|&total| total > 0)
        .ok_or_else(|| format!("{}: no total", dump.display()))
}
