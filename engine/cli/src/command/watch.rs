//! `tenure watch`: a group as it goes: who owns what, each rebalance, how long it took, what moved.

use core::fmt::Write as _;
use core::time::Duration;
use std::collections::BTreeMap;
use std::io::Write as _;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use clap::{Args, value_parser};
use serde_json::{Value, json};
use tenure_cli::live::{Event, Observer, Rebalance, Sight};
use tenure_client::{Cluster, PartitionSet};

use super::live::{Live, block_on, require};
use crate::console::{Console, HEAD, WARN};
use crate::failure::{Failure, Status};
use crate::table::{Table, count, printable};

/// Watches a running group: who owns what, each rebalance, what moved
///
/// It tells each rebalance as it happens, with the time it took. It only looks: the group's coordinator is asked again and again. Times are as exact as the looks are close; a
/// rebalance that begins and ends between two of them shows only in what it changed.
#[derive(Args, Debug)]
pub(crate) struct Arguments {
    #[command(flatten)]
    live: Live,

    /// The time between two looks
    #[arg(long, value_name = "MS", default_value_t = 250, value_parser = value_parser!(u64).range(10..=3_600_000))]
    interval: u64,

    /// Ends after so long; else it goes on until it is stopped
    #[arg(long, value_name = "SECONDS")]
    duration: Option<u64>,

    /// Ends after so many rebalances
    #[arg(long, value_name = "N", value_parser = value_parser!(u64).range(1..))]
    rebalances: Option<u64>,

    /// Prints one JSON document an event, each on a line, at once
    #[arg(long)]
    json: bool,
}

/// Runs the subcommand.
pub(crate) fn run(arguments: &Arguments, console: &Console) -> Result<Status, Failure> {
    let Arguments { live, interval, duration, rebalances, .. } = arguments;
    if !live.connection.is_wanted() {
        return Err(Failure::input(
            "watch needs a running cluster; give --bootstrap-server HOST:PORT and --group ID",
        ));
    }
    let config = live.connection.config(console)?;
    let interval = Duration::from_millis(*interval);
    let end = duration.map(|seconds| Instant::now() + Duration::from_secs(seconds));
    let mut printed: Result<(), std::io::Error> = Ok(());
    block_on(async {
        let cluster = Cluster::connect(config).await?;
        let group = require(&cluster, live.group()).await?;
        let mut observer = Observer::default();
        let mut seen = 0;
        let begun = Instant::now();
        loop {
            let described = match cluster.describe_group(&group).await {
                Ok(described) => described,
                // It was there: a broker that restarts is no reason to stop looking.
                Err(error) if observer.settled().is_some() && error.is_retriable() => {
                    console.note(&error);
                    tokio::time::sleep(interval).await;
                    continue;
                }
                Err(error) => return Err(error),
            };
            let now_ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
            let before = observer.settled().map(names).unwrap_or_default();
            let sight = Sight::new(&described);
            let now = names(&sight);
            for event in observer.look(sight, now_ms) {
                seen += u64::from(matches!(event, Event::Done(_)));
                let names = before.iter().chain(&now).map(|(id, name)| (id.clone(), name.clone())).collect();
                printed = tell(&group, &event, &observer, &names, arguments, console);
                if printed.is_err() {
                    return Ok(());
                }
            }
            let over = end.is_some_and(|end| Instant::now() + interval > end);
            if over || rebalances.is_some_and(|wanted| seen >= wanted) {
                return Ok(());
            }
            tokio::time::sleep(interval).await;
        }
    })?;
    printed?;
    Ok(Status::Good)
}

/// What members are called: their static name or their client's, with an end of the id where several share it.
fn names(sight: &Sight) -> BTreeMap<String, String> {
    let mut times: BTreeMap<&str, usize> = BTreeMap::new();
    for member in sight.members.values() {
        *times.entry(&member.name).or_default() += 1;
    }
    let name = |(id, member): (&String, &tenure_cli::live::Holder)| {
        let shared = times.get(member.name.as_str()).is_some_and(|&times| times > 1);
        let unique =
            id.strip_prefix(&member.name).map(|rest| rest.trim_start_matches('-')).filter(|_| shared);
        let short: String = unique.unwrap_or_default().chars().take(8).collect();
        let name = if short.is_empty() { member.name.clone() } else { format!("{}-{short}", member.name) };
        (id.clone(), printable(&name))
    };
    sight.members.iter().map(name).collect()
}

fn tell(
    group: &str,
    event: &Event,
    observer: &Observer,
    names: &BTreeMap<String, String>,
    arguments: &Arguments,
    console: &Console,
) -> std::io::Result<()> {
    let at = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    if arguments.json {
        let mut out = console.data();
        serde_json::to_writer(&mut out, &document(group, event, observer, at))?;
        out.write_all(b"\n")?;
        return out.flush();
    }
    let mut text = String::new();
    let clock = clock(at);
    // Writing to a string does not fail.
    let _ = match event {
        Event::First => {
            let _ = writeln!(text, "{clock}  {HEAD}group {}{HEAD:#}", printable(group));
            owners(&mut text, observer, names);
            Ok(())
        }
        Event::Begun { joined, left } => {
            writeln!(text, "{clock}  {WARN}rebalance begins{WARN:#}{}", people(joined, left, names))
        }
        Event::Done(rebalance) => {
            done(&mut text, &clock, rebalance, arguments.interval, names);
            owners(&mut text, observer, names);
            Ok(())
        }
    };
    console.text(&text)
}

/// Who owns what.
fn owners(text: &mut String, observer: &Observer, names: &BTreeMap<String, String>) {
    let Some(sight) = observer.settled() else { return };
    let partitions: usize = sight.members.values().map(|member| member.owned.len()).sum();
    let assignor = if sight.assignor.is_empty() { "no assignor" } else { &sight.assignor };
    let _ = writeln!(
        text,
        "{}, {}, {}, {}",
        printable(sight.state.name()),
        printable(assignor),
        count(sight.members.len() as u64, "member"),
        count(partitions as u64, "partition")
    );
    if sight.members.is_empty() {
        return;
    }
    let mut table = Table::new(3, &["member", "host", "owns", "partitions"]);
    for (id, member) in &sight.members {
        let name = names.get(id).cloned().unwrap_or_default();
        table.row([name, printable(&member.host), ranges(&member.owned), member.owned.len().to_string()]);
    }
    table.write(text);
}

fn done(
    text: &mut String,
    clock: &str,
    rebalance: &Rebalance,
    interval_ms: u64,
    names: &BTreeMap<String, String>,
) {
    let Rebalance { took_ms, joined, left, moves, kept } = rebalance;
    let took = match took_ms {
        Some(took_ms) => format!("in {took_ms} ms"),
        None => format!("in less than {interval_ms} ms"),
    };
    let people = if took_ms.is_none() { people(joined, left, names) } else { String::new() };
    let _ = writeln!(
        text,
        "{clock}  {HEAD}rebalance done{HEAD:#} {took}{people}: {} changed hands, {kept} stayed",
        count(moves.len() as u64, "partition")
    );
    let mut ways: BTreeMap<(String, String), PartitionSet> = BTreeMap::new();
    let name = |id: &Option<String>| match id {
        Some(id) => names.get(id).cloned().unwrap_or_else(|| printable(id)),
        None => "nobody".to_owned(),
    };
    for one in moves {
        ways.entry((name(&one.from), name(&one.to))).or_default().insert(one.partition.clone());
    }
    for ((from, to), partitions) in ways {
        let _ = writeln!(text, "  {from} -> {to}: {}", ranges(&partitions));
    }
}

fn people(joined: &[String], left: &[String], names: &BTreeMap<String, String>) -> String {
    let list = |ids: &[String]| -> Vec<String> {
        ids.iter().map(|id| names.get(id).cloned().unwrap_or_else(|| printable(id))).collect()
    };
    let mut text = String::new();
    for (ids, verb) in [(joined, "joined"), (left, "left")] {
        if !ids.is_empty() {
            let _ = write!(text, "; {verb}: {}", list(ids).join(", "));
        }
    }
    text
}

/// "orders 0-3 5, clicks 1".
fn ranges(partitions: &PartitionSet) -> String {
    let mut text = String::new();
    for (topic, block) in partitions.blocks() {
        if !text.is_empty() {
            text.push_str(", ");
        }
        text.push_str(&printable(topic));
        let mut numbers = block.iter().map(|one| one.partition).peekable();
        while let Some(from) = numbers.next() {
            let mut to = from;
            while let Some(next) = numbers.next_if(|&next| next == to.saturating_add(1)) {
                to = next;
            }
            let _ = if from == to { write!(text, " {from}") } else { write!(text, " {from}-{to}") };
        }
    }
    text
}

/// The time of day in UTC.
fn clock(since_epoch: Duration) -> String {
    let seconds = since_epoch.as_secs() % 86_400;
    let (hours, minutes) = (seconds / 3_600, seconds / 60 % 60);
    format!("{hours:02}:{minutes:02}:{:02}.{:03}Z", seconds % 60, since_epoch.subsec_millis())
}

fn document(group: &str, event: &Event, observer: &Observer, at: Duration) -> Value {
    let at_ms = u64::try_from(at.as_millis()).unwrap_or(u64::MAX);
    let mut document = match event {
        Event::First => json!({"event": "group"}),
        Event::Begun { joined, left } => json!({"event": "rebalance_begun", "joined": joined, "left": left}),
        Event::Done(Rebalance { took_ms, joined, left, moves, kept }) => {
            let moves: Vec<Value> = moves
                .iter()
                .map(|one| json!({"topic": one.partition.topic, "partition": one.partition.partition, "from": one.from, "to": one.to}))
                .collect();
            json!({"event": "rebalance", "took_ms": took_ms, "joined": joined, "left": left, "moves": moves, "kept": kept})
        }
    };
    document["at_ms"] = json!(at_ms);
    document["group"] = json!(group);
    if let Some(sight) = observer.settled()
        && !matches!(event, Event::Begun { .. })
    {
        let members = sight.members.iter().map(|(id, member)| {
            let owned: serde_json::Map<String, Value> = member
                .owned
                .blocks()
                .map(|(topic, block)| {
                    (topic.to_owned(), json!(block.iter().map(|one| one.partition).collect::<Vec<_>>()))
                })
                .collect();
            (id.clone(), json!({"name": member.name, "host": member.host, "owned": owned}))
        });
        document["members"] = Value::Object(members.collect());
        document["state"] = json!(sight.state.name());
        document["assignor"] = json!(sight.assignor);
    }
    document
}
