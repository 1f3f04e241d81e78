//! Files and standard input, and what is in them.

use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use tenure_cli::codec::unhex_text;
use tenure_cli::describe::{self, DescribedGroup, Subscriptions};
use tenure_cli::snapshot::{self, Snapshot};

use super::settings::Settings;
use crate::failure::Failure;
use crate::table::printable;

/// Where a document comes from; "-" is standard input.
#[derive(Clone, Debug)]
pub(crate) struct Source(PathBuf);

impl Source {
    pub(crate) fn new(path: &Path) -> Self {
        Self(path.to_path_buf())
    }

    /// A file, or standard input if none was given.
    pub(crate) fn given(path: Option<&Path>) -> Self {
        path.map_or_else(Self::standard_input, Self::new)
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

    /// What was given in place of a file: its content.
    fn looks_like(&self) -> Option<&'static str> {
        if self.0.exists() {
            return None;
        }
        let text = self.0.to_str()?.trim();
        match text.as_bytes().first()? {
            b'{' => Some("the JSON itself"),
            _ if text.len() >= 4 && unhex_text(text).is_some() => {
                Some("the bytes in hexadecimal digits themselves")
            }
            _ => None,
        }
    }

    /// The beginning of the name, as much as a message needs.
    fn shortened(&self) -> String {
        let name = self.0.to_string_lossy();
        match name.char_indices().nth(40) {
            Some((at, _)) => printable(&name[..at]) + "…",
            None => printable(&name),
        }
    }

    /// The failure of an unreadable source.
    pub(crate) fn unreadable(&self, error: &io::Error) -> Failure {
        if let Some(content) = self.looks_like() {
            return Failure::input(format_args!(
                "{}: there is no such file, but it looks like {content}; give the path of a file that holds it, or \
                 pipe it in: echo '…' | tenure …",
                self.shortened()
            ));
        }
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

/// Reads groups out of sources, whatever their form.
pub(crate) struct Reader<'a> {
    settings: &'a Settings,
    describe: describe::Options,
}

impl<'a> Reader<'a> {
    /// Reads the subscriptions that the settings name, if any.
    pub(crate) fn new(settings: &'a Settings) -> Result<Self, Failure> {
        let subscriptions = match settings.subscriptions() {
            Some(path) => {
                let source = Source::new(path);
                Subscriptions::read(&source.read()?)
                    .map_err(|error| Failure::input(format_args!("{source}: {error}")))?
            }
            None => Subscriptions::default(),
        };
        let partition_limit = settings.partition_limit();
        Ok(Self { settings, describe: describe::Options { subscriptions, partition_limit } })
    }

    /// Reads the groups of a source: a snapshot in JSON has one, a print any number.
    pub(crate) fn load(&self, source: &Source) -> Result<Vec<Loaded>, Failure> {
        self.parse(&source.read()?, source)
    }

    /// As [`load`](Self::load), of bytes that were read before.
    pub(crate) fn parse(&self, bytes: &[u8], source: &Source) -> Result<Vec<Loaded>, Failure> {
        if bytes.iter().all(u8::is_ascii_whitespace) {
            return Err(Failure::input(format_args!(
                "{source}, line 1: is empty; give a snapshot in JSON, or what `kafka-consumer-groups.sh --describe` printed"
            )));
        }
        // What is no text at all is told as such, whatever it was meant to be.
        if core::str::from_utf8(bytes).is_ok() && describe::may_be_print(bytes) {
            return self.load_print(bytes, source);
        }
        let snapshot = snapshot::read(bytes, &self.settings.reading())
            .map_err(|error| Failure::input(format_args!("{source}, {error}")))?;
        Ok(vec![Loaded { name: None, snapshot, assumptions: Vec::new() }])
    }

    fn load_print(&self, bytes: &[u8], source: &Source) -> Result<Vec<Loaded>, Failure> {
        let groups = describe::read(bytes, &self.describe).map_err(|error| match error.kind {
            describe::DescribeErrorKind::NoTable => Failure::input(format_args!(
                "{source}, line 1: is neither a snapshot in JSON, which begins with {{, nor a print: {error}"
            )),
            _ if error.line.is_some() => Failure::input(format_args!("{source}, {error}")),
            _ => Failure::input(format_args!("{source}: {error}")),
        })?;
        groups.into_iter().map(|group| self.understand(group, source)).collect()
    }

    fn understand(&self, described: DescribedGroup, source: &Source) -> Result<Loaded, Failure> {
        let mut assumptions = Vec::new();
        let shown = described.strategy();
        let strategy = self.settings.strategy().or(shown).unwrap_or_default();
        if self.settings.strategy().is_none() && shown.is_none() {
            assumptions.push(match &described.assignor {
                Some(name) => format!(
                    "the group's assignor is {name:?}, which tenure does not have: planned as {strategy}"
                ),
                None => format!("the print shows no assignor: planned as {strategy}"),
            });
        }
        let group = described
            .group(strategy, self.describe.partition_limit)
            .map_err(|error| Failure::input(format_args!("{source}: {error}")))?;
        let DescribedGroup { name, assumptions: own, .. } = described;
        assumptions.extend(own);
        Ok(Loaded { name, snapshot: Snapshot { strategy, group }, assumptions })
    }

    /// Reads a source that must hold exactly one group.
    pub(crate) fn load_one(&self, source: &Source) -> Result<Loaded, Failure> {
        let mut groups = self.load(source)?;
        match (groups.pop(), groups.len()) {
            (Some(group), 0) => Ok(group),
            (_, others) => Err(Failure::input(format_args!(
                "{source}: holds {} groups where one is wanted; cut the others out",
                others + 1
            ))),
        }
    }
}
