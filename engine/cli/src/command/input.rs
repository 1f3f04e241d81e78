//! Files and standard input, and what is in them.

use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use tenure_cli::snapshot::{self, Snapshot};

use super::settings::Settings;
use crate::failure::Failure;

/// Where a document comes from; "-" is standard input.
#[derive(Clone, Debug)]
pub(crate) struct Source(PathBuf);

impl Source {
    pub(crate) fn new(path: &Path) -> Self {
        Self(path.to_path_buf())
    }

    /// Standard input.
    pub(crate) fn standard_input() -> Self {
        Self(PathBuf::from("-"))
    }

    pub(crate) fn is_standard_input(&self) -> bool {
        self.0.as_os_str() == "-"
    }

    /// Opens it for reading as a stream.
    pub(crate) fn open(&self) -> Result<Box<dyn io::BufRead>, Failure> {
        if self.is_standard_input() {
            return Ok(Box::new(io::stdin().lock()));
        }
        let file = fs::File::open(&self.0).map_err(|error| self.unreadable(&error))?;
        Ok(Box::new(io::BufReader::with_capacity(1 << 16, file)))
    }

    /// Reads all of it.
    pub(crate) fn read(&self) -> Result<Vec<u8>, Failure> {
        let read = if self.is_standard_input() {
            let mut bytes = Vec::new();
            io::stdin().lock().read_to_end(&mut bytes).map(|_| bytes)
        } else {
            fs::read(&self.0)
        };
        read.map_err(|error| self.unreadable(&error))
    }

    /// The failure of an unreadable source.
    pub(crate) fn unreadable(&self, error: &io::Error) -> Failure {
        let remedy = match error.kind() {
            io::ErrorKind::NotFound => "check the path",
            io::ErrorKind::PermissionDenied => "check its permissions",
            io::ErrorKind::IsADirectory => "name the files in it",
            _ => "check that it is a readable file",
        };
        Failure::input(format_args!("{self}: cannot be read: {error}; {remedy}"))
    }
}

impl core::fmt::Display for Source {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        if self.is_standard_input() { f.write_str("standard input") } else { self.0.display().fmt(f) }
    }
}

/// One group of a document.
pub(crate) struct Loaded {
    /// The group's name, where the document tells it.
    pub(crate) name: Option<String>,
    pub(crate) snapshot: Snapshot,
    /// What the document left open.
    pub(crate) assumptions: Vec<String>,
}

/// Reads the groups of a source: a snapshot in JSON has one.
pub(crate) fn load(source: &Source, settings: &Settings) -> Result<Vec<Loaded>, Failure> {
    let bytes = source.read()?;
    let snapshot = snapshot::read(&bytes, &settings.reading())
        .map_err(|error| Failure::input(format_args!("{source}, {error}")))?;
    Ok(vec![Loaded { name: None, snapshot, assumptions: Vec::new() }])
}

/// Reads a source that must hold exactly one group.
#[allow(dead_code)]
pub(crate) fn load_one(source: &Source, settings: &Settings) -> Result<Loaded, Failure> {
    let mut groups = load(source, settings)?;
    match (groups.pop(), groups.len()) {
        (Some(group), 0) => Ok(group),
        (_, others) => Err(Failure::input(format_args!(
            "{source}: holds {} groups where one is wanted; cut the others out",
            others + 1
        ))),
    }
}
