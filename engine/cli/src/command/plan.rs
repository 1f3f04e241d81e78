//! `tenure plan`: who gets what, from a snapshot.

use std::io::Write as _;
use std::path::PathBuf;

use clap::Args;
use tenure::revoke::Round;
use tenure_cli::result::{self, Answer};

use super::input::{Loaded, Reader, Source};
use super::live::Live;
use super::settings::{Planner, Settings};
use super::{lines, report};
use crate::console::{Console, HEAD};
use crate::failure::{Failure, Status};
use crate::progress::Progress;
use crate::table::printable;

/// Plans groups: a table for people, or JSON.
#[derive(Args, Debug)]
pub(crate) struct Arguments {
    /// Snapshots in JSON, or what `kafka-consumer-groups.sh --describe` printed; standard input if none or "-"
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,

    /// Prints one JSON document a group, each on a line, in order
    #[arg(long)]
    json: bool,

    /// Reads one JSON snapshot a line and answers each with one JSON result a line, at once; a bad line is
    /// answered with {"error": …} and the stream goes on
    #[arg(long)]
    lines: bool,

    #[command(flatten)]
    live: Live,

    #[command(flatten)]
    settings: Settings,
}

/// Runs the subcommand.
pub(crate) fn run(arguments: &Arguments, console: &Console) -> Result<Status, Failure> {
    let Arguments { files, json, lines, live, settings } = arguments;
    settings.start_threads()?;
    if let Some(group) = live.load(!files.is_empty() || *lines, settings, console)? {
        let mut planner = Planner::new(settings);
        if *json {
            print_json(&group, &mut planner, settings, console)?;
        } else {
            print_table(&group, None, true, &mut planner, settings, console)?;
        }
        return Ok(Status::Good);
    }
    let sources = match &files[..] {
        [] => vec![Source::standard_input()],
        files => files.iter().map(|path| Source::new(path)).collect(),
    };
    if *lines {
        return lines::run(&sources, settings, console);
    }
    let reader = Reader::new(settings)?;
    let mut planner = Planner::new(settings);
    let mut status = Status::Good;
    let mut first = true;
    let mut progress = Progress::beside_output(sources.len() as u64, "files");
    for (done, source) in sources.iter().enumerate() {
        progress.at(done as u64);
        match reader.load(source) {
            Ok(groups) => {
                let headed = sources.len() > 1 || groups.len() > 1;
                for group in &groups {
                    if *json {
                        print_json(group, &mut planner, settings, console)?;
                    } else {
                        let heading = headed.then(|| heading(source, group, sources.len() > 1));
                        print_table(group, heading, first, &mut planner, settings, console)?;
                    }
                    first = false;
                }
            }
            Err(failure) => {
                console.error(&failure);
                status = Status::Bad;
                if *json && sources.len() > 1 {
                    let mut out = console.data();
                    serde_json::to_writer(
                        &mut out,
                        &serde_json::json!({"error": {"message": failure.to_string()}}),
                    )
                    .map_err(std::io::Error::from)?;
                    out.write_all(b"\n")?;
                    out.flush()?;
                }
            }
        }
    }
    Ok(status)
}

fn print_json(
    group: &Loaded,
    planner: &mut Planner<'_>,
    settings: &Settings,
    console: &Console,
) -> Result<(), Failure> {
    let Loaded { name, snapshot, assumptions } = group;
    let (plan, outcome) = planner.plan(snapshot)?;
    let round = Round::new(&snapshot.group, plan, settings.mode());
    let answer =
        Answer { strategy: snapshot.strategy, round, outcome: &outcome, group: name.as_deref(), assumptions };
    let mut out = console.data();
    result::write(&mut out, &answer)?;
    out.write_all(b"\n")?;
    out.flush()?;
    Ok(())
}

fn print_table(
    group: &Loaded,
    heading: Option<String>,
    first: bool,
    planner: &mut Planner<'_>,
    settings: &Settings,
    console: &Console,
) -> Result<(), Failure> {
    let Loaded { name, snapshot, assumptions } = group;
    let (plan, outcome) = planner.plan(snapshot)?;
    let round = Round::new(&snapshot.group, plan, settings.mode());
    let mut text = String::new();
    if !first {
        text.push('\n');
    }
    if let Some(heading) = heading {
        text.push_str(&format!("{HEAD}{heading}{HEAD:#}\n"));
    }
    report::write(&mut text, snapshot.strategy, &round, &outcome);
    console.text(&text)?;
    for assumption in assumptions {
        match name {
            Some(name) => console.note(&format_args!("group {}: {assumption}", printable(name))),
            None => console.note(assumption),
        }
    }
    Ok(())
}

fn heading(source: &Source, group: &Loaded, several_files: bool) -> String {
    match &group.name {
        Some(name) if several_files => format!("group {} ({source})", printable(name)),
        Some(name) => format!("group {}", printable(name)),
        None => source.to_string(),
    }
}
