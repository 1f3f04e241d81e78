//! How a subcommand ends.

use core::fmt;
use std::io;
use std::process::ExitCode;

/// The answer of a subcommand that ran.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Status {
    /// Exit status 0.
    Good,
    /// Exit status 1: a check said no.
    No,
    /// Exit status 2: some input was bad, and that was told.
    Bad,
}

impl From<Status> for ExitCode {
    fn from(status: Status) -> Self {
        Self::from(match status {
            Status::Good => 0,
            Status::No => 1,
            Status::Bad => 2,
        })
    }
}

/// Why a subcommand could not go on; exit status 2.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The input or the arguments are bad: says where, what and the remedy.
    Input(String),
    /// Output could not be written.
    Output(io::Error),
}

impl Failure {
    /// A failure of the input or the arguments.
    pub(crate) fn input(message: impl fmt::Display) -> Self {
        Self::Input(message.to_string())
    }

    /// Whether the reader of our output has gone.
    pub(crate) fn is_broken_pipe(&self) -> bool {
        matches!(self, Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Input(message) => f.write_str(message),
            Self::Output(error) => write!(f, "cannot write the output: {error}"),
        }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}
