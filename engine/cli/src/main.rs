//! The `tenure` command.
//!
//! Exit status: 0 the answer is good, 1 the answer is "no" (a check failed), 2 the input or the call is bad.

mod command;
mod console;
mod failure;
mod table;

use std::process::ExitCode;

fn main() -> ExitCode {
    command::main()
}
