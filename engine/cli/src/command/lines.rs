//! `tenure plan --lines`: a stream of snapshots, so that other programs can drive the engine without linking it.
//!
//! Every line gets exactly one answer, a blank one too, so that whoever writes lines can count answers.

use std::io::{self, BufRead, Write};

use serde_json::json;
use tenure::revoke::Round;
use tenure_cli::result::{self, Answer};
use tenure_cli::snapshot::{self, SnapshotError};

use super::input::Source;
use super::settings::{Planner, Settings};
use crate::console::Console;
use crate::failure::{Failure, Status};

/// Answers all lines of all sources.
pub(crate) fn run(sources: &[Source], settings: &Settings, console: &Console) -> Result<Status, Failure> {
    let mut out = console.data();
    let mut planner = Planner::new(settings);
    for source in sources {
        let mut input = source.open()?;
        let mut line = Vec::new();
        for number in 1.. {
            line.clear();
            if input.read_until(b'\n', &mut line).map_err(|error| source.unreadable(&error))? == 0 {
                break;
            }
            answer(&line, number, &mut planner, settings, &mut out)?;
            out.write_all(b"\n")?;
            out.flush()?;
        }
    }
    Ok(Status::Good)
}

/// Writes the answer to one line, without its end.
fn answer(
    line: &[u8],
    number: usize,
    planner: &mut Planner<'_>,
    settings: &Settings,
    out: &mut impl Write,
) -> Result<(), Failure> {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let snapshot = match snapshot::read(line, &settings.reading()) {
        Ok(snapshot) => snapshot,
        Err(error) => return Ok(refuse(&error.in_line(number), out)?),
    };
    let (plan, outcome) = planner.plan(&snapshot)?;
    let round = Round::new(&snapshot.group, plan, settings.mode());
    let answer =
        Answer { strategy: snapshot.strategy, round, outcome: &outcome, group: None, assumptions: &[] };
    Ok(result::write(out, &answer)?)
}

fn refuse(error: &SnapshotError, out: &mut impl Write) -> io::Result<()> {
    let SnapshotError { line, column, field, message, remedy, .. } = error;
    let error = json!({"error": {
        "message": message, "line": line, "column": column, "field": field, "remedy": remedy
    }});
    serde_json::to_writer(out, &error).map_err(io::Error::from)
}
