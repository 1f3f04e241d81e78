//! `tenure man`: the manual pages.

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;

use clap::{Args, Command};
use clap_mangen::Man;

use crate::console::Console;
use crate::failure::{Failure, Status};

/// Prints a manual page, or writes all of them
///
/// To read one: tenure man plan | man -l -
#[derive(Args)]
pub(crate) struct Arguments {
    /// The subcommand; without one, the page of the command itself
    #[arg(value_name = "SUBCOMMAND", conflicts_with = "directory")]
    subcommand: Option<String>,

    /// Writes the pages of the command and of every subcommand into this folder, as tenure.1, tenure-plan.1, …
    #[arg(long, value_name = "FOLDER")]
    directory: Option<PathBuf>,
}

/// Runs the subcommand.
pub(crate) fn run(arguments: &Arguments, console: &Console) -> Result<Status, Failure> {
    // Whatever the terminal is like, a page is the same.
    let mut root = super::command().term_width(100);
    root.build();
    if let Some(directory) = &arguments.directory {
        let shown = directory.display();
        let unwritable = |error| {
            Failure::input(format_args!("{shown}: cannot be written: {error}; name a folder that exists"))
        };
        for command in pages(&root) {
            let name = format!("{}.1", page_name(command));
            fs::write(directory.join(name), page(command)?).map_err(unwritable)?;
        }
        return Ok(Status::Good);
    }
    let command = match &arguments.subcommand {
        None => &root,
        Some(name) => pages(&root).skip(1).find(|command| command.get_name() == name).ok_or_else(|| {
            let names: Vec<&str> = pages(&root).skip(1).map(Command::get_name).collect();
            Failure::input(format_args!("there is no subcommand {name:?}; there are {}", names.join(", ")))
        })?,
    };
    let mut out = console.data();
    out.write_all(&page(command)?)?;
    out.flush()?;
    Ok(Status::Good)
}

/// The command and its subcommands, but for the help.
fn pages(root: &Command) -> impl Iterator<Item = &Command> {
    core::iter::once(root).chain(root.get_subcommands().filter(|command| command.get_name() != "help"))
}

fn page_name(command: &Command) -> String {
    match command.get_name() {
        "tenure" => "tenure".to_owned(),
        name => format!("tenure-{name}"),
    }
}

fn page(command: &Command) -> Result<Vec<u8>, Failure> {
    let mut page = Vec::new();
    let named = command.clone().display_name(page_name(command));
    Man::new(named).title(page_name(command).to_uppercase()).render(&mut page)?;
    Ok(page)
}
