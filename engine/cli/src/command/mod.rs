//! The subcommands: one module each, with its arguments and a `run`.
//!
//! To add one: write `command/<name>.rs` with `Arguments` (clap derive) and
//! `run(&Arguments, &Console) -> Result<Status, Failure>`, then one line in [`Command`] and one in its match.

mod budget;
mod codec;
mod completions;
mod decode;
mod encode;
mod explain;
mod input;
mod lines;
mod live;
mod man;
mod plan;
mod report;
mod settings;
mod simulate;
mod steps;
mod verify;
mod watch;
mod what_if;
mod wire_input;

use std::process::ExitCode;

use clap::{CommandFactory as _, Parser, Subcommand};

use crate::console::{Color, Console};
use crate::failure::{Failure, Status};

/// Balanced, sticky partition assignments for Kafka consumer groups, planned, proven and explained.
///
/// Exit status: 0 done, 1 a check said no, 2 bad input or usage.
#[derive(Parser)]
#[command(name = "tenure", version, arg_required_else_help = true, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,

    /// When to colour: auto means on a terminal, unless NO_COLOR is set.
    #[arg(long, global = true, value_enum, default_value_t = Color::Auto, value_name = "WHEN")]
    color: Color,
}

#[derive(Subcommand)]
enum Command {
    Budget(budget::Arguments),
    Codec(codec::Arguments),
    Completions(completions::Arguments),
    Decode(decode::Arguments),
    Encode(encode::Arguments),
    Explain(explain::Arguments),
    Man(man::Arguments),
    Plan(plan::Arguments),
    Simulate(simulate::Arguments),
    Verify(verify::Arguments),
    Watch(watch::Arguments),
    WhatIf(what_if::Arguments),
}

/// The whole command line, for those who write about it.
fn command() -> clap::Command {
    Cli::command()
}

/// Reads the command line, runs the subcommand, and tells the exit status.
pub(crate) fn main() -> ExitCode {
    let cli = Cli::parse();
    let console = Console::new(cli.color);
    let done: Result<Status, Failure> = match &cli.command {
        Command::Budget(arguments) => budget::run(arguments, &console),
        Command::Codec(arguments) => codec::run(arguments, &console),
        Command::Completions(arguments) => completions::run(arguments, &console),
        Command::Decode(arguments) => decode::run(arguments, &console),
        Command::Encode(arguments) => encode::run(arguments, &console),
        Command::Explain(arguments) => explain::run(arguments, &console),
        Command::Man(arguments) => man::run(arguments, &console),
        Command::Plan(arguments) => plan::run(arguments, &console),
        Command::Simulate(arguments) => simulate::run(arguments, &console),
        Command::Verify(arguments) => verify::run(arguments, &console),
        Command::Watch(arguments) => watch::run(arguments, &console),
        Command::WhatIf(arguments) => what_if::run(arguments, &console),
    };
    match done {
        Ok(status) => status.into(),
        // Whoever read our output has gone: nobody is left to tell.
        Err(failure) if failure.is_broken_pipe() => Status::Good.into(),
        Err(failure) => {
            console.error(&failure);
            Status::Bad.into()
        }
    }
}
