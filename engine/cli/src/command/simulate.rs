//! `tenure simulate`: runs that try to break the protocol, and scenarios to look at.

use core::fmt::Write as _;
use std::time::{SystemTime, UNIX_EPOCH};

use clap::Args;
use rayon::prelude::*;
use serde_json::{Value, json};
use tenure::protocol::selection::RebalanceProtocol;
use tenure::simulation::{
    Mutation, Options, Outcome, Scenario, Timeline, minimise, run as run_one, run_with_timeline,
};

use crate::console::{BAD, Console, GOOD, HEAD};
use crate::failure::{Failure, Status};
use crate::progress::Progress;
use crate::table::Table;

/// Simulates consumer groups with faults and checks the rebalance protocol at every step.
///
/// Without a scenario: derives a group, its faults and their times from a seed, prints them, makes the run, and checks
/// that no partition ever has two readers, that only owners commit, that no record is skipped, and that the group
/// settles once nothing goes wrong any more. The same seed is the same run, always. A run that breaks a rule is made
/// as small as it can be; then the exit status is 1.
///
/// With a scenario: shows who owns what and who pauses for how long, eager beside cooperative.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    tenure simulate --seed 7                      one run, again and again the same\n  \
    tenure simulate --seed 1 --rebalances 100000  runs of seeds 1, 2, 3, ...\n  \
    tenure simulate --seed 1 --transactions 100000  the same with transactions (KIP-447)\n  \
    tenure simulate --seed 7 --transactions 1     one run with transactions, again and again the same\n  \
    tenure simulate --scenario rolling-restart    a timeline to read\n  \
    tenure simulate --scenario zombie-commit --mutation no-transaction-fence  what KIP-447 is for")]
pub(crate) struct Arguments {
    /// The (first) seed; taken from the clock if not given, and printed.
    #[arg(long, value_name = "N")]
    seed: Option<u64>,

    /// Go on with the next seeds until so many rebalances were simulated.
    #[arg(long, value_name = "N", conflicts_with = "scenario")]
    rebalances: Option<u64>,

    /// Simulate consume-transform-produce loops with transactions, each input record to come out exactly once; go on
    /// with the next seeds until so many transactions have ended.
    #[arg(long, value_name = "N", conflicts_with_all = ["rebalances", "scenario"])]
    transactions: Option<u64>,

    /// Leave one rule of the protocol out on purpose: the run should fail.
    #[arg(long, value_name = "NAME", value_parser = mutation)]
    mutation: Option<Mutation>,

    /// Show a known course of events instead.
    #[arg(long, value_name = "NAME", value_parser = scenario)]
    scenario: Option<Scenario>,

    /// Write down what happens in the run, line by line.
    #[arg(long, conflicts_with_all = ["rebalances", "scenario", "json"])]
    timeline: bool,

    /// Write one JSON object.
    #[arg(long)]
    json: bool,
}

fn scenario(name: &str) -> Result<Scenario, String> {
    Scenario::by_name(name).ok_or_else(|| {
        let names: Vec<&str> = Scenario::ALL.iter().map(|one| one.name()).collect();
        format!("no such scenario; there are {}", names.join(", "))
    })
}

fn mutation(name: &str) -> Result<Mutation, String> {
    Mutation::by_name(name).ok_or_else(|| {
        let names: Vec<&str> = Mutation::ALL.iter().map(|one| one.name()).collect();
        format!("no such mutation; there are {}", names.join(", "))
    })
}

pub(crate) fn run(arguments: &Arguments, console: &Console) -> Result<Status, Failure> {
    if let Some(scenario) = arguments.scenario {
        return show(scenario, arguments, console);
    }
    let first = arguments.seed.unwrap_or_else(seed_of_the_clock);
    match (arguments.rebalances, arguments.transactions) {
        // One transactional run, to be repeated by its seed, has a single transaction to wait for.
        (None, None | Some(1)) => one(first, arguments, console),
        (wanted, transactions) => {
            let wanted = Wanted { rebalances: wanted.unwrap_or(0), transactions: transactions.unwrap_or(0) };
            many(first, &wanted, arguments, console)
        }
    }
}

fn seed_of_the_clock() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    now.as_micros() as u64
}

/// The options of one seed as the arguments have it.
fn options(seed: u64, arguments: &Arguments) -> Options {
    let derived = match arguments.transactions {
        Some(_) => Options::derive_transactional(seed),
        None => Options::derive(seed),
    };
    Options { mutation: arguments.mutation, ..derived }
}

/// How much is to be simulated.
struct Wanted {
    rebalances: u64,
    transactions: u64,
}

impl Wanted {
    fn is_met(&self, sum: &Total) -> bool {
        sum.rebalances >= self.rebalances && sum.committed + sum.aborted >= self.transactions
    }
}

impl Wanted {
    fn progress(&self) -> Progress {
        match self.transactions {
            0 => Progress::new(self.rebalances, "rebalances"),
            transactions => Progress::new(transactions, "transactions"),
        }
    }

    /// As much of what [`progress`](Self::progress) counts.
    fn done(&self, sum: &Total) -> u64 {
        if self.transactions > 0 { sum.committed + sum.aborted } else { sum.rebalances }
    }
}

/// One run, its options first: should it never end, they are known.
fn one(seed: u64, arguments: &Arguments, console: &Console) -> Result<Status, Failure> {
    let options = options(seed, arguments);
    if !arguments.json {
        console.text(&options.to_string())?;
    }
    let outcome = if arguments.timeline {
        let (outcome, timeline) = run_with_timeline(&options);
        let mut text = String::new();
        entries(&timeline, &mut text);
        console.text(&text)?;
        outcome
    } else {
        run_one(&options)
    };
    let mut sum = Total::default();
    sum.add(&outcome);
    finish(seed, 1, &sum, Some((options, outcome)), arguments.json, console)
}

/// Runs of one seed after the other, several at a time; the first seed that breaks a rule is told.
fn many(first: u64, wanted: &Wanted, arguments: &Arguments, console: &Console) -> Result<Status, Failure> {
    let as_json = arguments.json;
    if !as_json {
        let Wanted { rebalances, transactions } = wanted;
        let (count, what) =
            if *transactions > 0 { (transactions, "transactions") } else { (rebalances, "rebalances") };
        console.text(&format!("seeds from {first} on, until {count} {what} are done\n"))?;
    }
    let mut sum = Total::default();
    let mut runs = 0_u64;
    let mut progress = wanted.progress();
    while !wanted.is_met(&sum) {
        progress.at(wanted.done(&sum));
        let from = first.wrapping_add(runs);
        let batch: Vec<(Options, Outcome)> = (0..BATCH)
            .into_par_iter()
            .map(|at| {
                let options = options(from.wrapping_add(at), arguments);
                let outcome = run_one(&options);
                (options, outcome)
            })
            .collect();
        for (options, outcome) in batch {
            runs += 1;
            sum.add(&outcome);
            if outcome.violation.is_some() {
                drop(progress);
                return finish(first, runs, &sum, Some((options, outcome)), as_json, console);
            }
            if wanted.is_met(&sum) {
                break;
            }
        }
    }
    drop(progress);
    finish(first, runs, &sum, None, as_json, console)
}

/// So many runs are handed out together.
const BATCH: u64 = 64;

#[derive(Default)]
struct Total {
    rebalances: u64,
    committed: u64,
    aborted: u64,
    events: u64,
    simulated_ms: u64,
}

impl Total {
    fn add(&mut self, outcome: &Outcome) {
        self.rebalances += outcome.rebalances;
        self.committed += outcome.committed;
        self.aborted += outcome.aborted;
        self.events += outcome.events;
        self.simulated_ms += outcome.simulated_ms;
    }
}

/// Tells how it ended. `last` is the run that broke a rule, or the only one.
fn finish(
    first: u64,
    runs: u64,
    sum: &Total,
    last: Option<(Options, Outcome)>,
    as_json: bool,
    console: &Console,
) -> Result<Status, Failure> {
    let broken = last.and_then(|(options, outcome)| Some((options, outcome.violation?)));
    let small = broken.as_ref().map(|(options, violation)| minimise(options, violation.rule, TRIES));
    if as_json {
        let violation = match (&broken, &small) {
            (Some((options, violation)), Some((smallest, outcome))) => json!({
                "seed": options.seed,
                "rule": format!("{:?}", violation.rule),
                "at_ms": violation.at_ms,
                "detail": violation.detail,
                "options": options.to_string(),
                "smallest": smallest.to_string(),
                "smallest_detail": outcome.violation.as_ref().map(|one| one.detail.clone()),
            }),
            _ => Value::Null,
        };
        let answer = json!({
            "seed": first, "runs": runs, "rebalances": sum.rebalances,
            "transactions": { "committed": sum.committed, "aborted": sum.aborted }, "events": sum.events,
            "simulated_ms": sum.simulated_ms, "violation": violation,
        });
        console.text(&format!("{answer}\n"))?;
    } else {
        let mut text = String::new();
        let Total { rebalances, committed, aborted, events, simulated_ms } = sum;
        let seconds = simulated_ms / 1_000;
        let _ = write!(text, "{runs} runs, {rebalances} rebalances, ");
        if committed + aborted > 0 {
            let _ = write!(text, "{} transactions ({aborted} aborted), ", committed + aborted);
        }
        let _ = writeln!(text, "{events} events, {seconds} s simulated");
        match (&broken, &small) {
            (Some((options, violation)), Some((smallest, outcome))) => {
                let _ = writeln!(text, "{BAD}seed {}: {violation}{BAD:#}", options.seed);
                let _ = writeln!(text, "again: {}", again(options));
                if runs > 1 {
                    let _ = write!(text, "{options}");
                }
                let _ =
                    write!(text, "\n{HEAD}the smallest run found that breaks the rule{HEAD:#}\n{smallest}");
                if let Some(violation) = &outcome.violation {
                    let _ = writeln!(text, "{violation}");
                }
            }
            _ => {
                let _ = writeln!(text, "{GOOD}no rule was broken{GOOD:#}");
            }
        }
        console.text(&text)?;
    }
    Ok(if broken.is_some() { Status::No } else { Status::Good })
}

/// The command that makes a run again.
fn again(options: &Options) -> String {
    let mut command = format!("tenure simulate --seed {}", options.seed);
    if options.transactions.is_some() {
        command.push_str(" --transactions 1");
    }
    if let Some(mutation) = options.mutation {
        let _ = write!(command, " --mutation {mutation}");
    }
    command
}

/// So many runs are spent on making a failing one small.
const TRIES: usize = 300;

fn show(scenario: Scenario, arguments: &Arguments, console: &Console) -> Result<Status, Failure> {
    let (seed, as_json) = (arguments.seed.unwrap_or(1), arguments.json);
    let protocols: &[RebalanceProtocol] = if scenario.compares() {
        &[RebalanceProtocol::Eager, RebalanceProtocol::Cooperative]
    } else {
        &[RebalanceProtocol::Cooperative]
    };
    let made: Vec<(RebalanceProtocol, Options, Outcome, Timeline)> = protocols
        .iter()
        .map(|&protocol| {
            let options = Options { mutation: arguments.mutation, ..scenario.options(protocol, seed) };
            let (outcome, timeline) = run_with_timeline(&options);
            (protocol, options, outcome, timeline)
        })
        .collect();
    let broken = made.iter().any(|(_, _, outcome, _)| outcome.violation.is_some());
    if as_json {
        let runs: Vec<Value> = made.iter().map(|one| timeline_json(scenario, one)).collect();
        let answer = json!({ "scenario": scenario.name(), "seed": seed, "runs": runs });
        console.text(&format!("{answer}\n"))?;
    } else {
        let mut text = String::new();
        for (protocol, options, outcome, timeline) in &made {
            let title = if scenario.compares() { protocol.name() } else { scenario.name() };
            let _ = writeln!(text, "{HEAD}{} {title}{HEAD:#}", scenario.name());
            let _ = write!(text, "{options}");
            entries(timeline, &mut text);
            if let Some(violation) = &outcome.violation {
                let _ = writeln!(text, "{BAD}{violation}{BAD:#}");
            }
            text.push('\n');
        }
        summary(scenario, &made, &mut text);
        console.text(&text)?;
    }
    Ok(if broken { Status::No } else { Status::Good })
}

fn entries(timeline: &Timeline, text: &mut String) {
    for entry in timeline.entries() {
        let who = entry.process.map_or_else(|| "group".to_owned(), |number| format!("p{number}"));
        let seconds = entry.at_ms as f64 / 1_000.0;
        let _ = writeln!(text, "{seconds:>9.3} s  {who:<6} {}", entry.text);
    }
}

/// The runs beside each other.
fn summary(scenario: Scenario, made: &[(RebalanceProtocol, Options, Outcome, Timeline)], text: &mut String) {
    let head = ["", "rebalances", "revoked", "unread, all", "unread, longest", "stopped processes"];
    let mut table = Table::new(1, &head);
    for (protocol, _, _, timeline) in made {
        let name = if scenario.compares() { protocol.name() } else { scenario.name() };
        let stopped: u64 = timeline.stopped_ms().values().sum();
        table.row([
            name.to_owned(),
            timeline.generations().to_string(),
            timeline.revocations().to_string(),
            format!("{} ms", timeline.total_pause_ms()),
            format!("{} ms", timeline.longest_pause_ms()),
            format!("{stopped} ms"),
        ]);
    }
    table.write(text);
    text.push_str(
        "\nunread: time in which a partition had no reader, all partitions together and the longest one;\n\
         stopped: time in which a process read nothing though it had read before, restarts included.\n",
    );
}

fn timeline_json(
    scenario: Scenario,
    (protocol, options, outcome, timeline): &(RebalanceProtocol, Options, Outcome, Timeline),
) -> Value {
    let entries: Vec<Value> = timeline
        .entries()
        .iter()
        .map(|entry| json!({ "at_ms": entry.at_ms, "process": entry.process, "text": entry.text }))
        .collect();
    let pauses: serde_json::Map<String, Value> =
        timeline.pauses_ms().iter().map(|(partition, ms)| (partition.to_string(), json!(ms))).collect();
    let stopped: serde_json::Map<String, Value> =
        timeline.stopped_ms().iter().map(|(process, ms)| (format!("p{process}"), json!(ms))).collect();
    json!({
        "protocol": if scenario.compares() { protocol.name() } else { "both" },
        "options": options.to_string(),
        "rebalances": outcome.rebalances,
        "revocations": timeline.revocations(),
        "total_pause_ms": timeline.total_pause_ms(),
        "longest_pause_ms": timeline.longest_pause_ms(),
        "pauses_ms": pauses,
        "stopped_ms": stopped,
        "violation": outcome.violation.as_ref().map(ToString::to_string),
        "timeline": entries,
    })
}
