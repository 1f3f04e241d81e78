//! What a test needs of the machine, and what happens where it is missing.

use core::fmt;
use std::io::{self, Write};
use std::process::{Command, Stdio};

/// Why a peer could not be had.
#[derive(Debug)]
#[non_exhaustive]
pub enum PeerError {
    /// A tool is not on this machine.
    Missing {
        /// The tool and the way to get it.
        tool: String,
    },
    /// The peer is there and did not do what it should.
    Failed {
        /// What was tried and what came of it.
        what: String,
    },
}

impl PeerError {
    /// A failure of a peer that is there.
    pub fn failed(what: impl Into<String>) -> Self {
        Self::Failed { what: what.into() }
    }
}

impl fmt::Display for PeerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing { tool } => write!(f, "this machine lacks {tool}"),
            Self::Failed { what } => f.write_str(what),
        }
    }
}

impl core::error::Error for PeerError {}

/// Checks that a program answers to these arguments with status 0.
///
/// # Errors
///
/// [`PeerError::Missing`] with `remedy` if it does not.
///
/// # Examples
///
/// ```
/// use tenure_peers::require;
///
/// let error = require("no-such-program", &["--version"], "install it").unwrap_err();
/// assert_eq!(error.to_string(), "this machine lacks no-such-program: install it");
/// ```
pub fn require(program: &str, arguments: &[&str], remedy: &str) -> Result<(), PeerError> {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        _ => Err(PeerError::Missing { tool: format!("{program}: {remedy}") }),
    }
}

/// The peer, or `None` if the machine lacks a tool for it: then the test ends here, saying so.
///
/// # Panics
///
/// If the peer failed, or lacks a tool where `CI=true`: there, nothing may be skipped.
pub fn or_skip<T>(peer: Result<T, PeerError>) -> Option<T> {
    match peer {
        Ok(peer) => Some(peer),
        Err(error @ PeerError::Missing { .. })
            if std::env::var_os("CI").is_none_or(|value| value != "true") =>
        {
            // Past the test runner, which keeps what a passing test prints to itself.
            let _ = writeln!(io::stderr(), "\n!!!! SKIPPED: {error}\n");
            None
        }
        Err(error) => panic!("{error}"),
    }
}
