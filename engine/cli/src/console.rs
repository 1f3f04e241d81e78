//! Where output goes: tables and notes for people, bytes for programs.

use core::fmt::Display;
use std::io::{self, BufWriter, StdoutLock, Write};

use anstream::AutoStream;
use anstyle::{AnsiColor, Style};
use clap::ValueEnum;

/// When to colour.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless `NO_COLOR` is set.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// Column heads and file names.
pub(crate) const HEAD: Style = Style::new().bold();
/// What is as it should be.
pub(crate) const GOOD: Style = AnsiColor::Green.on_default();
/// What a person should look at.
pub(crate) const WARN: Style = AnsiColor::Yellow.on_default();
/// What is wrong.
pub(crate) const BAD: Style = AnsiColor::Red.on_default().bold();

/// Standard output and standard error, with one decision about colour.
pub(crate) struct Console {
    color: anstream::ColorChoice,
}

impl Console {
    pub(crate) fn new(color: Color) -> Self {
        let color = match color {
            Color::Auto => anstream::ColorChoice::Auto,
            Color::Always => anstream::ColorChoice::Always,
            Color::Never => anstream::ColorChoice::Never,
        };
        Self { color }
    }

    /// Writes text with styles in it; they are dropped where nobody wants colour.
    pub(crate) fn text(&self, text: &str) -> io::Result<()> {
        let mut out = AutoStream::new(io::stdout().lock(), self.color);
        out.write_all(text.as_bytes())?;
        out.flush()
    }

    /// Standard output for data: buffered, no styles. Flush it at the end.
    pub(crate) fn data(&self) -> BufWriter<StdoutLock<'static>> {
        BufWriter::with_capacity(1 << 16, io::stdout().lock())
    }

    /// Tells an error on standard error.
    pub(crate) fn error(&self, message: &dyn Display) {
        self.tell("error", BAD, message);
    }

    /// Tells something that the reader should know on standard error.
    pub(crate) fn note(&self, message: &dyn Display) {
        self.tell("note", WARN, message);
    }

    fn tell(&self, word: &str, style: Style, message: &dyn Display) {
        let mut out = AutoStream::new(io::stderr().lock(), self.color);
        // Nobody is left to tell that standard error is closed.
        let _ = writeln!(out, "{style}{word}{style:#}: {message}");
    }
}
