//! Measures Tenure beside the assignors of other clients, writes a report, compares two.
//!
//! ```text
//! cargo build --release && cargo run --release -p tenure-bench --bin peers -- run
//! peers run [FILTER…] [--out DIR] [--peers NAME,…] [--limit S] [--ms N] [--most N] [--minutes N]
//!           [--events NAME,…] [--all] [--smoke] [--no-cold | --only-cold] [--require]
//! peers render DIR         the page of a report from its raw results
//! peers compare OLD NEW    what got slower or faster; status 1 if anything got slower
//! ```
//!
//! A filter is a part of `shape/event`; any of them is enough. A report can be measured in pieces: what is measured
//! again replaces what was there. Peers that cannot be built or do not answer are named, and do not end the run;
//! with `--require` a peer that is missing does.

use core::time::Duration;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use tenure_bench::alloc::Counting;
use tenure_bench::contest::driver::Driver;
use tenure_bench::contest::record::{Record, Setting, Silence};
use tenure_bench::contest::report::{self, View, bars};
use tenure_bench::contest::run::{Budget, Contest};
use tenure_bench::contest::{Contestant, SEED, cold, machine, peers, record};
use tenure_bench::workloads::{Event, Shape};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Groups of a plain run: first those that the bars name.
const GROUPS: [&str; 11] = [
    "uniform-100k",
    "uniform-1m",
    "random-100k",
    "one-less",
    "uniform-10k",
    "random-10k",
    "all-but-one",
    "windows",
    "random-1m",
    "two-thirds",
    "skewed",
];

/// What `--all` adds.
const MORE: [&str; 6] = ["uniform-1k", "uniform-400k", "small-topics", "one-more", "two-lists", "buckets"];

#[derive(Debug)]
struct Options {
    filters: Vec<String>,
    out: Option<PathBuf>,
    peers: Option<Vec<String>>,
    events: Vec<Event>,
    limit: Duration,
    budget: Budget,
    all: bool,
    smoke: bool,
    cold: bool,
    contest: bool,
    require: bool,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match words[..] {
        ["run", ref rest @ ..] => options(rest).and_then(|options| run(&options, rest)),
        ["render", folder] => {
            report::write(Path::new(folder)).map(|()| true).map_err(|error| error.to_string())
        }
        ["compare", old, new] => compare(Path::new(old), Path::new(new)),
        _ => Err("use: peers run …, peers render DIR, or peers compare OLD NEW".to_string()),
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("peers: {error}");
            ExitCode::from(2)
        }
    }
}

fn compare(old: &Path, new: &Path) -> Result<bool, String> {
    let view = |folder| record::read(folder).map(View::new).map_err(|error| error.to_string());
    let (text, slower) = report::compare(&view(old)?, &view(new)?);
    print!("{text}");
    Ok(!slower)
}

fn options(words: &[&str]) -> Result<Options, String> {
    let mut options = Options {
        filters: Vec::new(),
        out: None,
        peers: None,
        events: vec![Event::Steady, Event::OneJoins],
        limit: Duration::from_secs(20),
        budget: Budget { samples: Duration::from_millis(400), most: 25, total: Duration::from_secs(6 * 60) },
        all: false,
        smoke: std::env::var_os("TENURE_BENCH_SMOKE").is_some(),
        cold: true,
        contest: true,
        require: false,
    };
    let mut words = words.iter();
    while let Some(&word) = words.next() {
        let mut value = || words.next().copied().ok_or_else(|| format!("{word} needs a value"));
        match word {
            "--out" => options.out = Some(PathBuf::from(value()?)),
            "--peers" => options.peers = Some(value()?.split(',').map(str::to_string).collect()),
            "--events" => options.events = value()?.split(',').map(str::parse).collect::<Result<_, _>>()?,
            "--limit" => options.limit = Duration::from_secs(number(word, value()?)?),
            "--ms" => options.budget.samples = Duration::from_millis(number(word, value()?)?),
            "--most" => options.budget.most = number(word, value()?)? as usize,
            "--minutes" => options.budget.total = Duration::from_secs(60 * number(word, value()?)?),
            "--all" => options.all = true,
            "--smoke" => options.smoke = true,
            "--no-cold" => options.cold = false,
            "--only-cold" => options.contest = false,
            "--require" => options.require = true,
            unknown if unknown.starts_with("--") => return Err(format!("unknown option {unknown}")),
            filter => options.filters.push(filter.to_string()),
        }
    }
    if options.smoke {
        options.budget.samples = Duration::from_millis(5);
        options.budget.most = 3;
    }
    Ok(options)
}

fn number(option: &str, value: &str) -> Result<u64, String> {
    value.parse().map_err(|error| format!("{option} {value}: {error}"))
}

fn run(options: &Options, words: &[&str]) -> Result<bool, String> {
    let text = |error: std::io::Error| error.to_string();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../reports/bench");
    let place = format!("{}-{}", machine::today(), machine::slug());
    let out = options.out.clone().unwrap_or_else(|| root.join(place).join("peers"));
    let folder = std::env::temp_dir().join(format!("tenure-peers-{}", std::process::id()));
    std::fs::create_dir_all(&folder).map_err(text)?;
    let done = measure(options, words, &out, &folder);
    std::fs::remove_dir_all(&folder).map_err(text)?;
    done?;
    report::write(&out).map_err(text)?;
    println!("\n{}", out.join("README.md").display());
    for bar in bars(&View::new(record::read(&out).map_err(text)?)) {
        let holds = bar.holds.map_or("  ? ", |holds| if holds { " yes" } else { " NO " });
        println!("{holds}  {}: {}", bar.promise, bar.measured);
    }
    Ok(true)
}

fn measure(options: &Options, words: &[&str], out: &Path, folder: &Path) -> Result<(), String> {
    let wanted =
        |name: &str| options.peers.as_ref().is_none_or(|peers| peers.iter().any(|peer| peer == name));
    let (found, missing) = peers::peers(wanted);
    let mut records: Vec<Record> = Vec::new();
    for (name, why) in missing {
        if options.require {
            return Err(format!("{name}: {why}"));
        }
        println!("{name}: missing: {why}");
        let why = format!("missing: {}", why.lines().next().unwrap_or_default());
        let (group, contestant) = (String::new(), name);
        records.push(Record::Silence(Silence { group, contestant, call: None, why, timed_out: false }));
    }
    let mut drivers = Vec::new();
    for peer in &found {
        let mut driver = Driver::new(peer.clone(), options.limit, folder);
        driver.start().map_err(|failure| format!("{}: {failure}", peer.name))?;
        drivers.push(Box::new(driver) as Box<dyn Contestant>);
    }
    let mut contest = Contest::new(drivers, options.budget);
    let mut versions = contest.versions();
    versions.push(machine::rustc());
    // Where the report went is nobody's business.
    let place = words.iter().position(|&word| word == "--out");
    let told =
        words.iter().enumerate().filter(|&(at, _)| place.is_none_or(|place| at != place && at != place + 1));
    let told: Vec<&str> = told.map(|(_, &word)| word).collect();
    records.push(Record::Setting(Setting {
        date: machine::today(),
        command: format!("cargo run --release -p tenure-bench --bin peers -- run {}", told.join(" "))
            .trim()
            .to_string(),
        machine: machine::machine(),
        versions,
        limit_s: options.limit.as_secs_f64(),
    }));
    record::add(out, &records).map_err(|error| error.to_string())?;
    if options.contest {
        for shape in shapes(options) {
            groups(options, &shape, &mut contest, out)?;
        }
    }
    drop(contest);
    if options.cold {
        let records = cold_starts(options, &found, folder)?;
        record::add(out, &records).map_err(|error| error.to_string())?;
    }
    Ok(())
}

fn shapes(options: &Options) -> Vec<Shape> {
    let more = if options.all { &MORE[..] } else { &[] };
    let shapes = GROUPS.iter().chain(more).filter_map(|name| Shape::find(name));
    shapes.map(|shape| if options.smoke { shape.small() } else { shape }).collect()
}

fn groups(options: &Options, shape: &Shape, contest: &mut Contest, out: &Path) -> Result<(), String> {
    let wanted = |event: &&Event| {
        let name = format!("{}/{event}", shape.full_name());
        options.filters.is_empty() || options.filters.iter().any(|filter| name.contains(filter.as_str()))
    };
    let events: Vec<Event> = options.events.iter().filter(wanted).copied().collect();
    if events.is_empty() {
        return Ok(());
    }
    let settled = shape.fresh(SEED).settled();
    for event in events {
        let records = contest.group(shape, event, &settled)?;
        // What is measured stays, whatever becomes of the rest.
        record::add(out, &records).map_err(|error| error.to_string())?;
        summarise(&records);
    }
    Ok(())
}

/// A line a call, as it comes.
fn summarise(records: &[Record]) {
    let view = View::new(records.to_vec());
    for (group, contestant, call, timing) in view.timings() {
        println!(
            "{group:<26} {contestant:<24} {call:<10} {:>11.4} ms  (median {:>11.4}, {} samples)",
            timing.min() / 1e6,
            timing.median() / 1e6,
            timing.cpu.len()
        );
    }
    for silence in &view.silences {
        println!("{:<26} {:<24} {}", silence.group, silence.contestant, silence.why);
    }
    for quality in &view.quality {
        if let Some(fault) = &quality.fault {
            println!("{:<26} {:<24} FAULT: {fault}", quality.group, quality.contestant);
        }
    }
}

fn cold_starts(options: &Options, found: &[peers::Peer], folder: &Path) -> Result<Vec<Record>, String> {
    let runs =
        if options.smoke { cold::Runs { calls: 2, starts: 2 } } else { cold::Runs { calls: 20, starts: 40 } };
    let shape = |name| {
        let shape = Shape::find(name).expect("a shape of the table");
        if options.smoke { shape.small() } else { shape }
    };
    let mut records = Vec::new();
    for name in ["uniform-100k", "random-100k"] {
        records.extend(cold::calls(&shape(name), runs)?);
    }
    records.extend(cold::many(runs)?);
    let large = peers::SARAMA;
    let asked: Vec<_> = found.iter().filter(|peer| options.smoke || peer.name != large).cloned().collect();
    records.extend(cold::peers(&asked, &shape("uniform-100k"), options.limit, folder));
    records.extend(cold::command(folder, runs).map_err(|error| error.to_string())?);
    Ok(records)
}
