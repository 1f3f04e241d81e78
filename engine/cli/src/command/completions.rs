//! `tenure completions`: what a shell needs to complete the command line.

use std::io::Write as _;

use clap::{Args, value_parser};
use clap_complete::Shell;

use crate::console::Console;
use crate::failure::{Failure, Status};

/// Prints the completions of a shell
///
/// For bash: tenure completions bash > ~/.local/share/bash-completion/completions/tenure
#[derive(Args)]
pub(crate) struct Arguments {
    /// The shell
    #[arg(value_name = "SHELL", value_parser = value_parser!(Shell))]
    shell: Shell,
}

/// Runs the subcommand.
pub(crate) fn run(arguments: &Arguments, console: &Console) -> Result<Status, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut super::command(), "tenure", &mut script);
    let mut out = console.data();
    out.write_all(&script)?;
    out.flush()?;
    Ok(Status::Good)
}
