//! `tenure codec`: a stream of vectors to be read and written.
//!
//! Every line gets exactly one answer, a blank one too, so that whoever writes lines can count answers.

use std::io::{self, BufRead, Write};

use clap::Args;
use tenure_cli::codec::answer_line;

use crate::console::Console;
use crate::failure::{Failure, Status};

/// Answers lines of JSON: bytes with their value, values with their bytes.
#[derive(Args)]
pub(crate) struct Arguments {
    /// One JSON object a line in, one a line out, flushed after each.
    #[arg(long, required = true)]
    lines: bool,

    /// Accepted as everywhere; the answers are JSON in any case.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(_arguments: &Arguments, console: &Console) -> Result<Status, Failure> {
    let mut input = io::stdin().lock();
    let mut out = console.data();
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = input.read_until(b'\n', &mut line);
        if read.map_err(|error| Failure::input(format_args!("standard input: {error}")))? == 0 {
            return Ok(Status::Good);
        }
        let text = String::from_utf8_lossy(&line);
        serde_json::to_writer(&mut out, &answer_line(&text)).map_err(io::Error::from)?;
        out.write_all(b"\n")?;
        out.flush()?;
    }
}
