//! The bytes of a result.

use std::io::{self, Write};

use tenure::id::MemberIndex;
use tenure::plan::Stats;

use super::Answer;
use super::runs::{Run, assigned_runs, revoked_runs, runs_of, unassigned};

/// Writes one result as one line without its end: `{"assignor":…,"proof":{…}}`.
///
/// Order: keys as the format lists them; members and topics in the engine's order of names.
///
/// # Errors
///
/// Those of the writer.
pub fn write(out: &mut impl Write, answer: &Answer<'_>) -> io::Result<()> {
    let Answer { strategy, round, outcome, .. } = answer;
    let (group, plan) = (round.group(), round.plan());
    let topology = group.topology();
    out.write_all(b"{")?;
    if let Some(name) = answer.group {
        out.write_all(b"\"group\":")?;
        text(out, name)?;
        out.write_all(b",")?;
    }
    out.write_all(b"\"assignor\":")?;
    text(out, strategy.name())?;
    out.write_all(b",\"assignments\":")?;
    members(out, answer, Which::All, |out, member| write_owned(out, assigned_runs(round, member)))?;
    out.write_all(b",\"target\":")?;
    members(out, answer, Which::All, |out, member| {
        write_owned(out, runs_of(topology, plan.target(member).iter().copied()))
    })?;
    out.write_all(b",\"withheld\":")?;
    write_owned(out, runs_of(topology, round.withheld()))?;
    out.write_all(b",\"revoke\":")?;
    members(out, answer, Which::Revoking, |out, member| write_owned(out, revoked_runs(round, member)))?;
    write!(out, ",\"rejoin\":{},\"unassigned\":", round.rejoin())?;
    write_owned(out, runs_of(topology, unassigned(round).into_iter()))?;
    out.write_all(b",\"stats\":")?;
    stats(out, &outcome.stats)?;
    let proof = &outcome.proof;
    write!(out, ",\"proof\":{{\"balance\":\"{}\",\"moves\":\"{}\"}}", proof.balance, proof.moves)?;
    if !answer.assumptions.is_empty() {
        out.write_all(b",\"assumptions\":")?;
        serde_json::to_writer(&mut *out, answer.assumptions).map_err(io::Error::from)?;
    }
    out.write_all(b"}")
}

/// Writes runs, sorted by topic, as an object of lists: `{"orders":[0,1,"4-7"]}`.
///
/// # Errors
///
/// Those of the writer.
pub fn write_owned<'a>(out: &mut impl Write, runs: impl Iterator<Item = Run<'a>>) -> io::Result<()> {
    let mut topic: Option<&str> = None;
    let mut digits = itoa::Buffer::new();
    out.write_all(b"{")?;
    for run in runs {
        if topic == Some(run.topic) {
            out.write_all(b",")?;
        } else {
            if topic.is_some() {
                out.write_all(b"],")?;
            }
            topic = Some(run.topic);
            text(out, run.topic)?;
            out.write_all(b":[")?;
        }
        let (before, between, after): (&[u8], &[u8], &[u8]) = match run.count() {
            1 => (b"", b"", b""),
            2 => (b"", b",", b""),
            _ => (b"\"", b"-", b"\""),
        };
        out.write_all(before)?;
        out.write_all(digits.format(run.from).as_bytes())?;
        if run.from != run.to {
            out.write_all(between)?;
            out.write_all(digits.format(run.to).as_bytes())?;
        }
        out.write_all(after)?;
    }
    out.write_all(if topic.is_some() { b"]}" } else { b"}" })
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Which {
    All,
    Revoking,
}

/// An object with one value a member.
fn members<W: Write>(
    out: &mut W,
    answer: &Answer<'_>,
    which: Which,
    mut value: impl FnMut(&mut W, MemberIndex) -> io::Result<()>,
) -> io::Result<()> {
    let group = answer.round.group();
    let mut first = true;
    out.write_all(b"{")?;
    for member in group.member_indices() {
        if which == Which::Revoking && revoked_runs(&answer.round, member).next().is_none() {
            continue;
        }
        if !first {
            out.write_all(b",")?;
        }
        first = false;
        text(out, group.id(member))?;
        out.write_all(b":")?;
        value(out, member)?;
    }
    out.write_all(b"}")
}

fn stats(out: &mut impl Write, stats: &Stats) -> io::Result<()> {
    write!(
        out,
        "{{\"partitions\":{},\"members\":{},\"load_min\":{},\"load_max\":{},\"sum_of_squares\":{},\"moves\":{},\"rack_mismatches\":{}}}",
        stats.partitions,
        stats.members,
        stats.load_min,
        stats.load_max,
        stats.sum_of_squares,
        stats.moves,
        stats.rack_mismatches
    )
}

/// A string with JSON's escapes.
fn text(out: &mut impl Write, text: &str) -> io::Result<()> {
    serde_json::to_writer(out, text).map_err(io::Error::from)
}
