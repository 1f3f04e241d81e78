//! A plan for people: who has what before and after, and what it costs to get there.

use core::fmt::Write as _;

use tenure::group::Protocol;
use tenure::id::{MemberIndex, PartitionIndex};
use tenure::plan::{Outcome, Strategy, Verdict};
use tenure::revoke::Round;
use tenure_cli::result::{Run, assigned_runs, revoked_runs, runs_of, unassigned};

use crate::console::{GOOD, WARN};
use crate::table::{Table, count, printable};

/// Runs named in a line before it says "and so on".
const NAMED: usize = 6;

/// Appends the table of members and the lines below it.
pub(crate) fn write(out: &mut String, strategy: Strategy, round: &Round<'_>, outcome: &Outcome) {
    let withheld = round.plan().transfer_count() > 0;
    let mut head = vec!["member", "before", "after", "kept", "gained", "to revoke"];
    if withheld {
        head.push("in the end");
    }
    let mut table = Table::new(1, &head);
    let group = round.group();
    for member in group.member_indices() {
        let row = Row::of(round, member);
        let numbers = [row.before, row.after, row.kept, row.gained, row.revoked];
        let end = withheld.then(|| u64::from(round.plan().load(member)));
        let name = printable(group.id(member));
        table.row([name].into_iter().chain(numbers.into_iter().chain(end).map(|n| n.to_string())));
    }
    table.write(out);
    // Writing to a string does not fail.
    let _ = summary(out, strategy, round, outcome);
}

struct Row {
    before: u64,
    after: u64,
    kept: u64,
    gained: u64,
    revoked: u64,
}

impl Row {
    fn of(round: &Round<'_>, member: MemberIndex) -> Self {
        let group = round.group();
        let foreign: u64 = group
            .foreign_claims(member)
            .map(|claim| Run { topic: claim.topic, from: claim.from, to: claim.to }.count())
            .sum();
        let before = group.claims(member).len() as u64 + foreign;
        let after = assigned_runs(round, member).map(|run| run.count()).sum();
        let revoked = revoked_runs(round, member).map(|run| run.count()).sum();
        let gained = round.added(member).count() as u64;
        Self { before, after, kept: before - revoked, gained, revoked }
    }
}

fn summary(out: &mut String, strategy: Strategy, round: &Round<'_>, outcome: &Outcome) -> core::fmt::Result {
    let group = round.group();
    let (stats, proof) = (&outcome.stats, &outcome.proof);
    writeln!(out)?;
    writeln!(
        out,
        "assignor    {strategy}: {} for {}",
        count(stats.partitions.into(), "partition"),
        count(stats.members.into(), "member")
    )?;
    let loads = if stats.members == 0 {
        "no members".to_string()
    } else if stats.load_min == stats.load_max {
        format!("every member {}", count(stats.load_min.into(), "partition"))
    } else {
        format!("{} to {} a member", stats.load_min, count(stats.load_max.into(), "partition"))
    };
    writeln!(out, "balance     {loads}, {}", verdict(proof.balance, "best possible"))?;
    writeln!(out, "moves       {}, {}", stats.moves, verdict(proof.moves, "fewest possible"))?;
    if group.topology().has_racks() {
        writeln!(
            out,
            "racks       {} away from any replica",
            count(stats.rack_mismatches.into(), "partition")
        )?;
    }
    rejoin(out, round)?;
    let orphans = unassigned(round);
    if !orphans.is_empty() {
        let names = named(runs_of(group.topology(), orphans.iter().copied()));
        writeln!(out, "unassigned  {WARN}{names}{WARN:#}: nobody subscribes")?;
    }
    Ok(())
}

fn verdict(verdict: Verdict, words: &str) -> String {
    match verdict {
        Verdict::Optimal => format!("{GOOD}{words} (proven){GOOD:#}"),
        _ => "unproven".to_string(),
    }
}

/// Whether and why the group joins again.
fn rejoin(out: &mut String, round: &Round<'_>) -> core::fmt::Result {
    let group = round.group();
    if !round.rejoin() {
        return writeln!(out, "rejoin      no, this is the last round");
    }
    let withheld: Vec<PartitionIndex> = round.withheld().collect();
    if !withheld.is_empty() {
        let names = named(runs_of(group.topology(), withheld.iter().copied()));
        let partitions = count(withheld.len() as u64, "partition");
        return writeln!(out, "rejoin      {WARN}yes{WARN:#}: {partitions} withheld until let go ({names})");
    }
    let revoking = group
        .member_indices()
        .filter(|&m| group.protocol(m) == Protocol::Cooperative)
        .filter(|&m| revoked_runs(round, m).next().is_some());
    let who = count(revoking.count() as u64, "member");
    writeln!(out, "rejoin      {WARN}yes{WARN:#}: {who} with something to revoke, which nobody waits for")
}

/// "clicks 2; orders 0, 4-7 and 5 more".
fn named<'a>(runs: impl Iterator<Item = Run<'a>>) -> String {
    let mut text = String::new();
    let mut topic = "";
    let mut runs = runs.peekable();
    for at in 0.. {
        let Some(run) = runs.next() else { break };
        if at == NAMED {
            let rest: u64 = runs.map(|run| run.count()).sum::<u64>() + run.count();
            // Writing to a string does not fail.
            let _ = write!(text, " and {rest} more");
            break;
        }
        if at > 0 {
            text.push_str(if topic == run.topic { ", " } else { "; " });
        }
        if topic != run.topic {
            topic = run.topic;
            text.push_str(&printable(topic));
            text.push(' ');
        }
        let _ = match run.count() {
            1 => write!(text, "{}", run.from),
            _ => write!(text, "{}-{}", run.from, run.to),
        };
    }
    text
}
