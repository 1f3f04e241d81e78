//! `tenure verify`: is a plan valid, and how far is it from the best one?

use core::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use serde_json::json;
use tenure::plan::Strategy;
use tenure::verify::{self, Proposal};
use tenure_cli::describe;
use tenure_cli::judgement::{Claims, Figures, figures, too_soon};
use tenure_cli::snapshot::{PlanFile, read_plan};

use super::input::{Reader, Source};
use super::settings::{Planner, Settings};
use crate::console::{BAD, Console, GOOD, WARN};
use crate::failure::{Failure, Status};
use crate::table::printable;

/// Checks a plan, whoever made it: is it valid, is it the best?
///
/// Tells how far it is from the best balance, and how many moves too many it makes.
///
/// Exit status: 0 the plan is what is required, 1 it is not, 2 bad input.
#[derive(Args, Debug)]
pub(crate) struct Arguments {
    /// The group: a snapshot in JSON or a print of `kafka-consumer-groups.sh`; "-" is standard input
    #[arg(value_name = "SNAPSHOT")]
    snapshot: PathBuf,

    /// The plan: what `tenure plan --json` prints, {"member": {"topic": [0, "4-7"]}}, or a print of
    /// `kafka-consumer-groups.sh`; "-" is standard input
    #[arg(value_name = "PLAN")]
    plan: PathBuf,

    /// What the exit status asks for
    #[arg(long, value_enum, default_value_t = Required::Best)]
    require: Required,

    /// Prints one JSON document
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    settings: Settings,
}

/// `--require`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Required {
    /// Best balance, then fewest moves and rack mismatches
    Best,
    /// Every partition once, to a member that subscribes; nothing handed over too soon
    Valid,
}

/// Faults told before "and so on".
const TOLD: usize = 20;

/// Runs the subcommand.
pub(crate) fn run(arguments: &Arguments, console: &Console) -> Result<Status, Failure> {
    let Arguments { snapshot, plan, require, json, settings } = arguments;
    settings.start_threads()?;
    let (snapshot, plan) = (Source::new(snapshot), Source::new(plan));
    if snapshot.is_standard_input() && plan.is_standard_input() {
        return Err(Failure::input("snapshot and plan cannot both be standard input; name a file for one"));
    }
    let reader = Reader::new(settings)?;
    let loaded = reader.load_one(&snapshot)?;
    let group = &loaded.snapshot.group;
    let file = read_file(&reader, &plan, group)?;

    let claims = Claims::of(group);
    let mut faults: Vec<String> = file.target.faults(group).iter().map(ToString::to_string).collect();
    if let Some(assignments) = &file.assignments {
        faults.extend(round_faults(group, &claims, &file.target, assignments));
    }
    let mut judged = Judged { faults, figures: figures(group, &claims, &file.target), best: None };
    if judged.faults.is_empty() {
        judged.best = Some(Best::of(&loaded.snapshot.group, &claims, &file.target, settings)?);
    }
    if *json {
        let mut out = console.data();
        serde_json::to_writer(&mut out, &judged.document()).map_err(std::io::Error::from)?;
        out.write_all(b"\n")?;
        out.flush()?;
    } else {
        console.text(&judged.words(group))?;
        for assumption in &loaded.assumptions {
            console.note(assumption);
        }
    }
    let met = match require {
        Required::Best => judged.best.as_ref().is_some_and(|best| best.reached),
        Required::Valid => judged.faults.is_empty(),
    };
    Ok(if met { Status::Good } else { Status::No })
}

fn read_file(reader: &Reader<'_>, source: &Source, group: &tenure::Group) -> Result<PlanFile, Failure> {
    let bytes = source.read()?;
    if !describe::may_be_print(&bytes) {
        return read_plan(&bytes, group).map_err(|error| Failure::input(format_args!("{source}, {error}")));
    }
    // What members own by a print is a plan too: that of whoever made it.
    let printed = reader.parse(&bytes, source)?;
    let [printed] = &printed[..] else {
        return Err(Failure::input(format_args!(
            "{source}: holds {} groups where one is wanted; cut the others out",
            printed.len()
        )));
    };
    let printed = &printed.snapshot.group;
    let mut target = Proposal::new(group);
    for member in printed.member_indices() {
        for p in printed.claims(member) {
            let topology = printed.topology();
            let (topic, number) = (topology.name(topology.topic_of(p)), topology.number(p));
            target.give_named(group, printed.id(member), topic, i64::from(number));
        }
    }
    Ok(PlanFile { target, assignments: None })
}

/// What is wrong with a round, given its target.
fn round_faults(
    group: &tenure::Group,
    claims: &Claims,
    target: &Proposal,
    assignments: &Proposal,
) -> Vec<String> {
    let topology = group.topology();
    let name = |p| format!("{}-{}", topology.name(topology.topic_of(p)), topology.number(p));
    let soon = too_soon(group, claims, assignments).into_iter().map(|fault| {
        format!(
            "{} is given to {:?} in this round while {:?} still holds it",
            name(fault.partition),
            group.id(fault.to),
            group.id(fault.holder)
        )
    });
    let mut faults: Vec<String> = soon.collect();
    for fault in assignments.faults(group) {
        match fault {
            // Withheld, or held by the claimant that the draft gives it back to.
            verify::Fault::Lost { .. } | verify::Fault::Unsubscribed { .. } => {}
            // What does not exist goes back to its claimant in the draft.
            verify::Fault::Nonexistent { .. } => {}
            fault => faults.push(format!("in this round {fault}")),
        }
    }
    let numbers = 0..u32::try_from(topology.partitions()).unwrap_or(u32::MAX);
    for p in numbers.map(tenure::id::PartitionIndex::new) {
        if let (Some(now), Some(then)) = (assignments.owner(p), target.owner(p))
            && now != then
        {
            faults.push(format!(
                "{} goes to {:?} in this round but to {:?} in the end",
                name(p),
                group.id(now),
                group.id(then)
            ));
        }
    }
    faults
}

/// All that is said of a plan.
struct Judged {
    faults: Vec<String>,
    figures: Figures,
    best: Option<Best>,
}

/// The best plans of the group.
struct Best {
    figures: Figures,
    /// Whether that is proven: the planner's own plan stands up to its certificate.
    proven: bool,
    /// Whether the plan under judgement is one of them.
    reached: bool,
}

impl Best {
    fn of(
        group: &tenure::Group,
        claims: &Claims,
        plan: &Proposal,
        settings: &Settings,
    ) -> Result<Self, Failure> {
        let mut planner = Planner::new(settings);
        let (best, _, certificate) = planner.certify(group, Strategy::CooperativeSticky)?;
        let best = Proposal::from_lists(group, |member| best.target(member).iter().copied());
        let proven = verify::check(group, &best, &certificate).is_ok();
        let best = figures(group, claims, &best);
        let own = figures(group, claims, plan);
        Ok(Self { reached: own == best, proven, figures: best })
    }
}

impl Judged {
    fn document(&self) -> serde_json::Value {
        let own = &self.figures;
        let figures = |figures: &Figures| {
            json!({
                "load_max": figures.loads.first().copied().unwrap_or(0),
                "load_min": figures.loads.last().copied().unwrap_or(0),
                "sum_of_squares": figures.sum_of_squares,
                "moves": figures.moves,
                "rack_mismatches": figures.rack_mismatches,
            })
        };
        json!({
            "valid": self.faults.is_empty(),
            "faults": self.faults,
            "plan": figures(own),
            "best": self.best.as_ref().map(|best| figures(&best.figures)),
            "balanced": self.best.as_ref().map(|best| own.loads == best.figures.loads),
            "moves_too_many": self.best.as_ref().map(|best| i64::from(own.moves) - i64::from(best.figures.moves)),
            "rack_mismatches_too_many": self.best.as_ref()
                .map(|best| i64::from(own.rack_mismatches) - i64::from(best.figures.rack_mismatches)),
            "optimal": self.best.as_ref().is_some_and(|best| best.reached),
            "proven": self.best.as_ref().is_some_and(|best| best.proven),
        })
    }

    fn words(&self, group: &tenure::Group) -> String {
        let mut out = String::new();
        // Writing to a string does not fail.
        let _ = self.write(&mut out, group);
        out
    }

    fn write(&self, out: &mut String, group: &tenure::Group) -> core::fmt::Result {
        let own = &self.figures;
        let Some(best) = &self.best else {
            writeln!(
                out,
                "valid    {BAD}no{BAD:#}: {}",
                crate::table::count(self.faults.len() as u64, "fault")
            )?;
            for fault in self.faults.iter().take(TOLD) {
                writeln!(out, "         {}", printable(fault))?;
            }
            if self.faults.len() > TOLD {
                writeln!(out, "         and {} more", self.faults.len() - TOLD)?;
            }
            return Ok(());
        };
        let (target, proof) = (&best.figures, if best.proven { "proven" } else { "unproven" });
        writeln!(
            out,
            "valid    {GOOD}yes{GOOD:#}: every partition with a subscriber has one owner, a subscriber"
        )?;
        if own.loads == target.loads {
            writeln!(out, "balance  {GOOD}best possible{GOOD:#} ({proof}): {}", spread(&own.loads))?;
        } else {
            let excess: u64 = own
                .loads
                .iter()
                .zip(&target.loads)
                .map(|(own, best)| u64::from(own.saturating_sub(*best)))
                .sum();
            writeln!(
                out,
                "balance  {WARN}not the best{WARN:#}: {} where {} is possible ({proof}); {excess} partitions too many with those that have most",
                spread(&own.loads),
                spread(&target.loads)
            )?;
        }
        compare(out, "moves", own.moves, target.moves, own.loads == target.loads)?;
        if group.topology().has_racks() {
            compare(out, "racks", own.rack_mismatches, target.rack_mismatches, own.loads == target.loads)?;
        }
        Ok(())
    }
}

fn spread(loads: &[u32]) -> String {
    match (loads.last(), loads.first()) {
        (Some(least), Some(most)) if least != most => format!("{least} to {most} a member"),
        (_, Some(most)) => format!("{most} a member"),
        _ => "no members".to_string(),
    }
}

fn compare(out: &mut String, what: &str, own: u32, best: u32, balanced: bool) -> core::fmt::Result {
    let noun = if what == "moves" { "moves" } else { "rack mismatches" };
    match own.checked_sub(best) {
        Some(0) => writeln!(out, "{what:8} {GOOD}{own} {noun}, as few as the best plans need{GOOD:#}"),
        Some(more) => {
            writeln!(out, "{what:8} {WARN}{own} {noun}, {more} more than the best plans need{WARN:#}")
        }
        None => {
            let why = if balanced { "bought with the other criterion" } else { "bought with balance" };
            writeln!(out, "{what:8} {own} {noun}, {} fewer than the best plans: {why}", best - own)
        }
    }
}
