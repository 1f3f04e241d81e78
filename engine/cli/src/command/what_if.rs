//! `tenure what-if`: changes to a group, one after another, and what each costs. Nothing is written anywhere.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;
use serde_json::json;
use tenure::Group;
use tenure::group::Protocol;
use tenure::plan::Strategy;
use tenure_cli::result::{runs_of, write_owned};
use tenure_cli::scenario::{Change, Settled, Settler, apply, bring_back, with_protocol};

use super::input::{Loaded, Reader, Source};
use super::live::Live;
use super::settings::Settings;
use super::steps::{Step, Steps};
use crate::console::Console;
use crate::failure::{Failure, Status};
use crate::table::{Table, count, printable};

/// Plays changes to a group: moves, rounds and pauses of each step
#[derive(Args, Debug)]
pub(crate) struct Arguments {
    /// The group: a snapshot in JSON or a print of `kafka-consumer-groups.sh`; "-" is standard input
    #[arg(value_name = "SNAPSHOT", required_unless_present = "bootstrap_server")]
    snapshot: Option<PathBuf>,

    /// Prints one JSON document, with what every member owns after each step
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    steps: Steps,

    #[command(flatten)]
    live: Live,

    #[command(flatten)]
    settings: Settings,
}

/// One line of the table.
struct Played {
    step: String,
    members: usize,
    partitions: usize,
    load_min: u32,
    load_max: u32,
    moves: u64,
    rounds: u32,
    paused_eager: u64,
    /// `None` where the assignor has no cooperative protocol.
    paused_cooperative: Option<u64>,
    mismatches: u32,
}

/// Runs the subcommand.
pub(crate) fn run(arguments: &Arguments, console: &Console) -> Result<Status, Failure> {
    let Arguments { snapshot, json, steps, live, settings } = arguments;
    settings.start_threads()?;
    let loaded = match live.load(snapshot.is_some(), settings, console)? {
        Some(loaded) => loaded,
        None => Reader::new(settings)?.load_one(&Source::given(snapshot.as_deref()))?,
    };
    check(&loaded, steps, settings)?;
    if *json {
        let mut out = console.data();
        begin_json(&mut out, &loaded)?;
        let mut first = true;
        let played = Play::new(&loaded, settings, |row, group| {
            out.write_all(if core::mem::take(&mut first) { b"" } else { b"," })?;
            step_json(&mut out, row, group)
        })?
        .run(steps)?;
        end_json(&mut out, &loaded, &played)?;
        out.write_all(b"\n")?;
        out.flush()?;
    } else {
        let played = Play::new(&loaded, settings, |_, _| Ok(()))?.run(steps)?;
        console.text(&table(&played))?;
        for assumption in &loaded.assumptions {
            console.note(assumption);
        }
    }
    Ok(Status::Good)
}

/// Refuses a step that names what is not there, before anything is printed.
fn check(loaded: &Loaded, steps: &Steps, settings: &Settings) -> Result<(), Failure> {
    let mut group = loaded.snapshot.group.clone();
    for step in &steps.0 {
        if let Step::Change(change) = step {
            group = change_group(&group, change, settings)?;
        }
    }
    Ok(())
}

fn change_group(group: &Group, change: &Change, settings: &Settings) -> Result<Group, Failure> {
    apply(group, change, settings.partition_limit())
        .map_err(|error| Failure::input(format_args!("step \"{}\": {error}", words(change))))
}

/// The group as it changes, and what was played so far. `told` hears of each step with the quiet group.
struct Play<'a, F> {
    told: F,
    settings: &'a Settings,
    settler: Settler,
    cooperative: bool,
    group: Group,
    played: Vec<Played>,
}

impl<'a, F: FnMut(&Played, &Group) -> io::Result<()>> Play<'a, F> {
    fn new(loaded: &Loaded, settings: &'a Settings, told: F) -> Result<Self, Failure> {
        let strategy = loaded.snapshot.strategy;
        // The plan is the same for eager members; only the cooperative protocol has rounds to count.
        let cooperative = matches!(strategy, Strategy::CooperativeSticky | Strategy::Sticky);
        let protocol = if cooperative { Protocol::Cooperative } else { Protocol::Eager };
        let group = with_protocol(&loaded.snapshot.group, protocol).map_err(Failure::input)?;
        let settler = Settler::new(settings.assignor(strategy), settings.mode());
        Ok(Self { told, settings, settler, cooperative, group, played: Vec::new() })
    }

    fn run(mut self, steps: &Steps) -> Result<Vec<Played>, Failure> {
        self.settle("as it is".to_string(), 0, self.group.clone())?;
        for step in &steps.0 {
            match step {
                Step::Change(change) => self.change(words(change), change)?,
                Step::RollingRestart => self.rolling_restart()?,
            }
        }
        Ok(self.played)
    }

    fn change(&mut self, step: String, change: &Change) -> Result<(), Failure> {
        let changed = change_group(&self.group, change, self.settings)?;
        let owned =
            |group: &Group| -> u64 { group.member_indices().map(|m| group.claims(m).len() as u64).sum() };
        let left = owned(&self.group).saturating_sub(owned(&changed));
        self.settle(step, left, changed)
    }

    fn rolling_restart(&mut self) -> Result<(), Failure> {
        let start = self.group.clone();
        for member in start.member_indices() {
            let (id, name) = (start.id(member), printable(start.id(member)));
            if start.instance(member).is_some() {
                // A static member that is back before its session ends causes no rebalance (KIP-345), but
                // nobody reads its part meanwhile, whatever the protocol.
                let before = self.group.clone();
                let here = before.find(id).map_or(0, |member| before.claims(member).len() as u64);
                self.quiet(format!("{name} restarts (static)"), here)?;
                continue;
            }
            let before = self.group.clone();
            let Some(here) = before.find(id) else { continue };
            self.change(format!("{name} restarts: leaves"), &Change::Remove(vec![id.to_string()]))?;
            let back = bring_back(&self.group, &before, here).map_err(Failure::input)?;
            self.settle(format!("{name} restarts: is back"), 0, back)?;
        }
        Ok(())
    }

    /// Settles a changed group; `left` partitions were owned by members that have gone.
    fn settle(&mut self, step: String, left: u64, changed: Group) -> Result<(), Failure> {
        let Settled { group, outcome, moves, rounds, given_up, owned, .. } =
            self.settler.settle(changed).map_err(Failure::input)?;
        let stats = outcome.stats;
        let row = Played {
            step,
            members: group.members(),
            partitions: group.topology().partitions(),
            load_min: stats.load_min,
            load_max: stats.load_max,
            moves,
            rounds,
            paused_eager: owned + left,
            paused_cooperative: self.cooperative.then_some(given_up + left),
            mismatches: stats.rack_mismatches,
        };
        (self.told)(&row, &group)?;
        self.played.push(row);
        self.group = group;
        Ok(())
    }

    /// A step without a rebalance.
    fn quiet(&mut self, step: String, paused: u64) -> Result<(), Failure> {
        if let Some(last) = self.played.last() {
            let quiet = Played {
                step,
                moves: 0,
                rounds: 0,
                paused_eager: paused,
                paused_cooperative: self.cooperative.then_some(paused),
                ..*last
            };
            (self.told)(&quiet, &self.group)?;
            self.played.push(quiet);
        }
        Ok(())
    }
}

fn words(change: &Change) -> String {
    let list = |names: &[String]| -> String {
        let shown: Vec<String> = names.iter().take(3).map(|name| printable(name)).collect();
        match names.len() {
            0..=3 => shown.join(", "),
            more => format!("{} and {} more", shown.join(", "), more - 3),
        }
    };
    match change {
        Change::AddMembers(1) => "1 member joins".to_string(),
        Change::AddMembers(many) => format!("{many} members join"),
        Change::Remove(names) if names.len() == 1 => format!("{} leaves", list(names)),
        Change::Remove(names) => format!("{} leave", list(names)),
        Change::AddPartitions(topic, more) => {
            format!("{} gets {} more", printable(topic), count(u64::from(*more), "partition"))
        }
        Change::Subscribe(pairs) => {
            let names: Vec<String> =
                pairs.iter().map(|(member, topic)| format!("{member} to {topic}")).collect();
            format!("subscribe: {}", list(&names))
        }
    }
}

fn table(played: &[Played]) -> String {
    let head =
        ["step", "members", "partitions", "load", "moves", "rounds", "paused, eager", "paused, cooperative"];
    let mut table = Table::new(1, &head);
    for row in played {
        let load = if row.load_min == row.load_max {
            row.load_max.to_string()
        } else {
            format!("{}-{}", row.load_min, row.load_max)
        };
        table.row([
            row.step.clone(),
            row.members.to_string(),
            row.partitions.to_string(),
            load,
            row.moves.to_string(),
            row.rounds.to_string(),
            row.paused_eager.to_string(),
            row.paused_cooperative.map_or("-".to_string(), |paused| paused.to_string()),
        ]);
    }
    let total = Total::of(played);
    table.row([
        "in all".to_string(),
        String::new(),
        String::new(),
        String::new(),
        total.moves.to_string(),
        total.rounds.to_string(),
        total.paused_eager.to_string(),
        total.paused_cooperative.map_or("-".to_string(), |paused| paused.to_string()),
    ]);
    let mut text = String::new();
    table.write(&mut text);
    text.push_str("\npaused: partitions that nobody reads for a part of the step. Eager members give up all that they own\n");
    text.push_str("in each rebalance, cooperative ones what changes hands. rounds: rebalances of the cooperative protocol;\n");
    text.push_str("the eager one needs one a step.\n");
    text
}

struct Total {
    moves: u64,
    rounds: u64,
    paused_eager: u64,
    paused_cooperative: Option<u64>,
}

impl Total {
    fn of(played: &[Played]) -> Self {
        Self {
            moves: played.iter().map(|row| row.moves).sum(),
            rounds: played.iter().map(|row| u64::from(row.rounds)).sum(),
            paused_eager: played.iter().map(|row| row.paused_eager).sum(),
            paused_cooperative: played.iter().map(|row| row.paused_cooperative).sum(),
        }
    }
}

fn begin_json(out: &mut impl Write, loaded: &Loaded) -> io::Result<()> {
    out.write_all(b"{")?;
    if let Some(name) = &loaded.name {
        write!(out, "\"group\":{},", json!(name))?;
    }
    write!(out, "\"assignor\":{},\"steps\":[", json!(loaded.snapshot.strategy.name()))
}

/// One step, with what every member owns after it.
fn step_json(out: &mut impl Write, row: &Played, group: &Group) -> io::Result<()> {
    let figures = json!({
        "step": row.step, "members": row.members, "partitions": row.partitions,
        "load_min": row.load_min, "load_max": row.load_max, "moves": row.moves, "rounds": row.rounds,
        "paused": {"eager": row.paused_eager, "cooperative": row.paused_cooperative},
        "rack_mismatches": row.mismatches,
    });
    let figures = figures.to_string();
    out.write_all(figures.strip_suffix('}').unwrap_or(&figures).as_bytes())?;
    out.write_all(b",\"assignments\":{")?;
    for member in group.member_indices() {
        if member.get() > 0 {
            out.write_all(b",")?;
        }
        write!(out, "{}:", json!(group.id(member)))?;
        write_owned(out, runs_of(group.topology(), group.claims(member)))?;
    }
    out.write_all(b"}}")
}

fn end_json(out: &mut impl Write, loaded: &Loaded, played: &[Played]) -> io::Result<()> {
    let total = Total::of(played);
    let total = json!({
        "moves": total.moves, "rounds": total.rounds,
        "paused": {"eager": total.paused_eager, "cooperative": total.paused_cooperative},
    });
    write!(out, "],\"total\":{total}")?;
    if !loaded.assumptions.is_empty() {
        write!(out, ",\"assumptions\":{}", json!(loaded.assumptions))?;
    }
    out.write_all(b"}")
}
