//! The `tenure` command.
//!
//! Exit status: 0 the answer is good, 1 the answer is "no" (a check failed), 2 the input or the call is bad.

mod command;
mod console;
mod failure;
mod progress;
mod table;

use std::process::ExitCode;

use tenure_cli::alloc::Counting;

/// `tenure budget` tells what a leader's round asks of it.
#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn main() -> ExitCode {
    command::main()
}
