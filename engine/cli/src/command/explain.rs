//! `tenure explain`: why a partition moved or stayed, why a member has its load.

use core::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;

use clap::Args;
use serde_json::json;
use tenure::id::{MemberIndex, PartitionIndex};
use tenure_cli::explain::Explainer;

use super::input::{Reader, Source};
use super::live::Live;
use super::settings::{Planner, Settings};
use crate::console::{Console, HEAD};
use crate::failure::{Failure, Status};
use crate::table::{Table, printable};

/// Says why: why this partition moved or stayed, why this member has this load
///
/// Without --partition and --member it shows the blocks of members that share partitions, and each move.
#[derive(Args, Debug)]
pub(crate) struct Arguments {
    /// The group: a snapshot in JSON or a print of `kafka-consumer-groups.sh`; "-" is standard input
    #[arg(value_name = "SNAPSHOT", required_unless_present = "bootstrap_server")]
    snapshot: Option<PathBuf>,

    /// Explains this partition, such as orders-4
    #[arg(long, value_name = "TOPIC-N", conflicts_with = "member")]
    partition: Option<String>,

    /// Explains this member
    #[arg(long, value_name = "MEMBER")]
    member: Option<String>,

    /// Prints one JSON document
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    live: Live,

    #[command(flatten)]
    settings: Settings,
}

/// Moves told one by one before "and so on".
const TOLD: usize = 20;

/// Runs the subcommand.
pub(crate) fn run(arguments: &Arguments, console: &Console) -> Result<Status, Failure> {
    let Arguments { snapshot, partition, member, json, live, settings } = arguments;
    settings.start_threads()?;
    let loaded = match live.load(snapshot.is_some(), settings, console)? {
        Some(loaded) => loaded,
        None => Reader::new(settings)?.load_one(&Source::given(snapshot.as_deref()))?,
    };
    let group = &loaded.snapshot.group;
    let partition = partition.as_deref().map(|name| find_partition(group, name)).transpose()?;
    let member = member.as_deref().map(|name| find_member(group, name)).transpose()?;
    let mut planner = Planner::new(settings);
    let (plan, outcome, certificate) = planner.certify(group, loaded.snapshot.strategy)?;
    let explainer = Explainer::new(group, plan, &outcome, &certificate, settings.mode());
    let (document, text) = match (partition, member) {
        (Some(partition), _) => {
            let facts = explainer.partition(partition);
            (json!(facts), lines(&facts.sentences))
        }
        (None, Some(member)) => {
            let facts = explainer.member(member);
            (json!(facts), lines(&facts.sentences))
        }
        (None, None) => overview(&explainer, *json),
    };
    if *json {
        let mut out = console.data();
        serde_json::to_writer(&mut out, &document).map_err(std::io::Error::from)?;
        out.write_all(b"\n")?;
        out.flush()?;
    } else {
        console.text(&text)?;
        for assumption in &loaded.assumptions {
            console.note(assumption);
        }
    }
    Ok(Status::Good)
}

fn lines(sentences: &[String]) -> String {
    sentences.iter().map(|sentence| format!("{}\n", printable(sentence))).collect()
}

/// Blocks, then moves. `all` moves are explained for a document, the first ones for people: each takes a look at
/// every member.
fn overview(explainer: &Explainer<'_>, all: bool) -> (serde_json::Value, String) {
    let blocks = explainer.blocks();
    let count = explainer.moved().count();
    let told = if all { count } else { TOLD };
    let moves: Vec<_> = explainer.moved().take(told).map(|p| explainer.partition(p)).collect();
    let mut text = String::new();
    let mut table = Table::new(1, &["topics", "partitions", "members", "level", "members at level"]);
    for block in &blocks {
        let topics = block.topics.iter().take(4).map(|topic| printable(topic)).collect::<Vec<_>>().join(" ");
        let more = block.topics.len().saturating_sub(4);
        let topics = if more > 0 { format!("{topics} and {more} more") } else { topics };
        let numbers = [block.partitions, block.members as u64, u64::from(block.level), block.at_level as u64];
        table.row([topics].into_iter().chain(numbers.map(|number| number.to_string())));
    }
    if blocks.is_empty() {
        text.push_str(
            "No blocks: this assignor deals partitions out in turn, or there is nothing to assign.\n",
        );
    } else {
        table.write(&mut text);
        text.push_str("\nMembers of a block own its level or one less in every plan of best balance.\n");
    }
    // Writing to a string does not fail.
    let _ = writeln!(text, "\n{HEAD}{}{HEAD:#}", crate::table::count(count as u64, "move"));
    for facts in &moves {
        let (from, to) = (facts.before.as_deref().unwrap_or("-"), facts.after.as_deref().unwrap_or("-"));
        let reason = facts.reason.map(|reason| json!(reason).as_str().unwrap_or_default().replace('_', " "));
        let _ = writeln!(
            text,
            "{}  {} -> {}  {}",
            printable(&facts.partition),
            printable(from),
            printable(to),
            reason.unwrap_or_default()
        );
    }
    if count > moves.len() {
        let _ = writeln!(text, "and {} more; --json has all", count - moves.len());
    }
    (json!({"blocks": blocks, "moves": moves}), text)
}

fn find_partition(group: &tenure::Group, name: &str) -> Result<PartitionIndex, Failure> {
    let bad =
        || Failure::input(format_args!("--partition {name:?}: write topic and number, such as orders-4"));
    let (topic, number) = name.rsplit_once('-').ok_or_else(bad)?;
    let number: i32 = number.parse().map_err(|_| bad())?;
    let topology = group.topology();
    let Some(index) = topology.find(topic) else {
        return Err(Failure::input(format_args!(
            "--partition {name:?}: the group has no topic {topic:?}; check the name"
        )));
    };
    topology.partition(index, number).ok_or_else(|| {
        Failure::input(format_args!(
            "--partition {name:?}: {topic:?} has {} partitions, from 0; give one of them",
            topology.partition_count(index)
        ))
    })
}

fn find_member(group: &tenure::Group, name: &str) -> Result<MemberIndex, Failure> {
    let by_instance = || group.member_indices().find(|&member| group.instance(member) == Some(name));
    group.find(name).or_else(by_instance).ok_or_else(|| {
        Failure::input(format_args!(
            "--member {name:?}: no member has this id; use a member id or an instance id"
        ))
    })
}
