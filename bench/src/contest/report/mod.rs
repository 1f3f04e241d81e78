//! From raw results to a page that people read.

mod bars;
mod compare;
mod plots;
mod tables;
mod view;

pub use bars::{Bar, bars};
pub use compare::compare;
pub use view::{Timing, View};

use core::fmt::Write as _;
use std::fs;
use std::io;
use std::path::Path;

use super::record;
use super::{Call, peers};

/// Writes `README.md` and the plots of a report's folder from its raw results.
///
/// # Errors
///
/// Those of the files, and a line of the raw results that is none.
pub fn write(folder: &Path) -> io::Result<()> {
    let view = View::new(record::read(folder)?);
    let plots = plots::write(folder, &view)?;
    fs::write(folder.join("README.md"), page(&view, &plots))
}

fn page(view: &View, plots: &[(String, String)]) -> String {
    let mut page = String::new();
    let dates: Vec<&str> = view.settings.iter().map(|setting| setting.date.as_str()).collect();
    let date = dates.first().copied().unwrap_or("no date");
    let _ = writeln!(page, "# {date}: Tenure beside other assignors\n");
    page.push_str(&setting(view));
    page.push_str("\n## The bars\n\n");
    page.push_str(&bars::table(view));
    for event in view.events() {
        for (call, title) in [(Call::Plan, "plan only"), (Call::Round, "whole leader round")] {
            if let Some(table) = tables::times(view, &event, call) {
                let _ = writeln!(page, "\n## {event}, {title}: CPU ms a call\n\n{table}");
                for (file, shown) in plots {
                    if *shown == format!("{event}/{call}") {
                        let _ = writeln!(page, "![{event}, {title}]({file})");
                    }
                }
            }
        }
    }
    let _ = writeln!(page, "\n## Memory of one call\n\n{}", tables::memory(view));
    let _ = writeln!(page, "\n## Balance, moves and bytes\n\n{}", tables::quality(view));
    if let Some(cold) = tables::cold(view) {
        let _ = writeln!(page, "\n## Cold starts, and many groups\n\n{cold}");
    }
    let silences = tables::silences(view);
    if !silences.is_empty() {
        let _ = writeln!(page, "\n## Not answered, not asked\n\n{silences}");
    }
    let trimmed: Vec<&str> = page.lines().map(str::trim_end).collect();
    trimmed.join("\n") + "\n"
}

fn setting(view: &View) -> String {
    let mut text = String::new();
    let unique = |mut all: Vec<String>| {
        all.dedup();
        all
    };
    let settings = &view.settings;
    text.push_str("```sh\n");
    for command in unique(settings.iter().map(|setting| setting.command.clone()).collect()) {
        let _ = writeln!(text, "{command}");
    }
    text.push_str("```\n\n");
    for machine in unique(settings.iter().map(|setting| setting.machine.clone()).collect()) {
        let _ = writeln!(text, "{machine}.");
    }
    let mut versions: Vec<&str> = Vec::new();
    for version in settings.iter().flat_map(|setting| &setting.versions) {
        if !versions.contains(&version.as_str()) {
            versions.push(version);
        }
    }
    let _ = writeln!(text, "{}.", versions.join("; "));
    let limit = settings.iter().map(|setting| setting.limit_s).fold(0.0, f64::max);
    let _ = writeln!(
        text,
        "JVMs run with `{}`; Go with its defaults, its collector called after every sample.\n\n\
         All contestants get the same groups in one run. They live as long as the run, are called until they are warm, \
         and then give one sample each in turn (10 ms of calls, or one call), so that what else the machine does meets all alike. Times are **CPU \
         times of the calling thread**, least and median of the samples in ms: what a peer's collector and compiler do \
         on other threads is not counted against it. *Plan* starts from each contestant's own memory and ends in it. \
         Tenure's column *and read* adds listing what must wait for a revocation, which a cooperative peer's plan does \
         as well; the ratios to cooperative peers are taken to that one, the others to the plan alone. A *round* is all \
         that a leader does: members' bytes in, assignments' bytes out. Every peer's answer goes through the check that \
         Tenure's goes through; a call that did not end within {limit} s was stopped, and its peer is not asked about \
         larger groups of that kind (uniform or not), and after a steady one not about other events of them.\n\n\
         All numbers come from `{}`; `peers render` makes this page of it.",
        peers::options(),
        record::FILE,
    );
    text
}
