//! How far long work is: a line on standard error, for people who wait before a terminal.

use core::time::Duration;
use std::io::{IsTerminal as _, stderr, stdout};
use std::time::Instant;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Work that is over sooner shows nothing.
const PATIENCE: Duration = Duration::from_millis(500);

/// A line that tells how much is done. It is gone before anything else is printed.
///
/// Nothing is shown unless standard error is a terminal, so that no log ever holds it.
pub(crate) struct Progress {
    bar: ProgressBar,
    since: Instant,
    shown: bool,
    wanted: bool,
}

impl Progress {
    /// Work of so many units, called by `noun` in the plural; nothing is printed meanwhile.
    pub(crate) fn new(total: u64, noun: &'static str) -> Self {
        let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::hidden());
        let style = ProgressStyle::with_template("{bar:40} {human_pos} of {human_len} {msg}, {eta} left");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar.set_message(noun);
        Self { bar, since: Instant::now(), shown: false, wanted: stderr().is_terminal() }
    }

    /// As [`new`](Self::new), while standard output is printed to: then only if that goes elsewhere.
    pub(crate) fn beside_output(total: u64, noun: &'static str) -> Self {
        let mut progress = Self::new(total, noun);
        progress.wanted &= !stdout().is_terminal();
        progress
    }

    /// So much is done.
    pub(crate) fn at(&mut self, done: u64) {
        if !self.wanted {
            return;
        }
        if !self.shown && self.since.elapsed() >= PATIENCE {
            self.shown = true;
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        self.bar.set_position(done);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.shown {
            self.bar.finish_and_clear();
        }
    }
}
