//! `tenure budget`: the bytes of a group's rounds against the limits that they meet.

use core::fmt::Write as _;
use core::time::Duration;
use std::io::Write as _;
use std::path::PathBuf;

use clap::{Args, value_parser};
use tenure::protocol::budget::{Figures, Form, Limits, Moment, Surroundings};
use tenure::revoke::Mode;
use tenure_cli::budget::{self, FormFigures, Held, Measured, Options, Report};
use tenure_cli::number::grouped;

use super::input::{Loaded, Reader, Source};
use super::live::Connection;
use super::settings::{Planner, Settings};
use crate::console::{BAD, Console, GOOD, HEAD, WARN};
use crate::failure::{Failure, Status};
use crate::progress::Progress;
use crate::table::{Table, count, printable};

/// Counts the bytes of a group's rounds against the broker's limits
///
/// It says how far the group may grow, and what would help if it does not fit.
///
/// Two rounds are counted: the one that the group is in, and the one when it has settled, in which every member has
/// what is planned and says so. The exit status is 1 if one of them does not fit.
#[derive(Args, Debug)]
pub(crate) struct Arguments {
    /// Snapshots in JSON, or what `kafka-consumer-groups.sh --describe` printed; standard input if none or "-"
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,

    /// Prints one JSON document a group, each on a line, in order
    #[arg(long)]
    json: bool,

    /// Shows the bytes of every member as well
    #[arg(long)]
    members: bool,

    /// Shows every version of each format, not the newest alone; --json always has all
    #[arg(long)]
    versions: bool,

    /// Counts bytes only: the leader's round is not measured
    #[arg(long)]
    no_measure: bool,

    #[command(flatten)]
    cluster: Connection,

    #[command(flatten)]
    limits: LimitArguments,

    #[command(flatten)]
    settings: Settings,
}

/// The limits, by Kafka's names and with its defaults.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Limits and names")]
struct LimitArguments {
    /// The broker's `message.max.bytes`
    #[arg(long, value_name = "BYTES", default_value_t = Limits::default().message_max_bytes)]
    message_max_bytes: u64,

    /// `max.message.bytes` of the topic `__consumer_offsets`, if it is set there
    #[arg(long, value_name = "BYTES")]
    offsets_max_message_bytes: Option<u64>,

    /// The broker's `socket.request.max.bytes`
    #[arg(long, value_name = "BYTES", default_value_t = Limits::default().socket_request_max_bytes)]
    socket_request_max_bytes: u64,

    /// `receive.message.max.bytes` of a leader built on librdkafka; the Java client has no such limit
    #[arg(long, value_name = "BYTES", default_value_t = Limits::default().receive_message_max_bytes.unwrap_or(u64::MAX))]
    receive_message_max_bytes: u64,

    /// The broker's `group.max.size`
    #[arg(long, value_name = "MEMBERS", default_value_t = Limits::default().group_max_size, value_parser = value_parser!(u64).range(1..))]
    group_max_size: u64,

    /// The group's id, where the input does not tell it [default: group]
    #[arg(long, value_name = "ID")]
    group: Option<String>,

    /// The members' client id, in place of the one that is in each member id
    #[arg(long, value_name = "ID")]
    client_id: Option<String>,

    /// The members' host as the broker writes it
    #[arg(long, value_name = "/ADDRESS", default_value = Surroundings::default().client_host)]
    client_host: String,
}

impl LimitArguments {
    fn limits(&self) -> Limits {
        let mut limits = Limits::default();
        limits.message_max_bytes = self.message_max_bytes;
        limits.offsets_topic_max_message_bytes = self.offsets_max_message_bytes;
        limits.socket_request_max_bytes = self.socket_request_max_bytes;
        limits.receive_message_max_bytes = Some(self.receive_message_max_bytes);
        limits.group_max_size = self.group_max_size;
        limits
    }
}

/// Runs the subcommand.
pub(crate) fn run(arguments: &Arguments, console: &Console) -> Result<Status, Failure> {
    let Arguments { files, settings, .. } = arguments;
    if settings.mode() == Mode::Draft {
        return Err(Failure::input(
            "the budget counts the bytes of released software, and no release has the draft's; leave out --mode draft",
        ));
    }
    settings.start_threads()?;
    let mut planner = Planner::new(settings);
    let name = arguments.limits.group.as_deref();
    if let Some(group) = arguments.cluster.load(name, !files.is_empty(), settings, console)? {
        let heading = group.name.as_deref().map(|name| format!("group {}", printable(name)));
        let fits = answer(&group, heading, true, &mut planner, arguments, console)?;
        return Ok(if fits { Status::Good } else { Status::No });
    }
    let reader = Reader::new(settings)?;
    let sources = match &files[..] {
        [] => vec![Source::standard_input()],
        files => files.iter().map(|path| Source::new(path)).collect(),
    };
    let (mut first, mut status) = (true, Status::Good);
    let mut progress = Progress::beside_output(sources.len() as u64, "files");
    for (done, source) in sources.iter().enumerate() {
        progress.at(done as u64);
        let groups = match reader.load(source) {
            Ok(groups) => groups,
            Err(failure) if sources.len() > 1 => {
                console.error(&failure);
                status = Status::Bad;
                if arguments.json {
                    let message = failure.to_string();
                    line(console, &serde_json::json!({"error": {"message": message}}))?;
                }
                continue;
            }
            Err(failure) => return Err(failure),
        };
        for group in &groups {
            let heading = match &group.name {
                Some(name) => Some(format!("group {}", printable(name))),
                None => (sources.len() > 1).then(|| source.to_string()),
            };
            let fits = answer(group, heading, core::mem::take(&mut first), &mut planner, arguments, console)?;
            if !fits && status == Status::Good {
                status = Status::No;
            }
        }
    }
    Ok(status)
}

/// Prints the budget of one group; whether it fits.
fn answer(
    loaded: &Loaded,
    heading: Option<String>,
    first: bool,
    planner: &mut Planner<'_>,
    arguments: &Arguments,
    console: &Console,
) -> Result<bool, Failure> {
    let Loaded { name, snapshot, assumptions } = loaded;
    let LimitArguments { group, client_id, client_host, .. } = &arguments.limits;
    let around = Surroundings::default();
    let group_id = name.as_deref().or(group.as_deref()).unwrap_or(around.group_id);
    let around = Surroundings { group_id, client_id: client_id.as_deref(), client_host };
    let options = Options { limits: arguments.limits.limits(), around };
    let (plan, _) = planner.plan(snapshot)?;
    let mut report = Report::new(snapshot, plan, &options);
    report.group = name.as_deref();
    report.assumptions = assumptions;
    if !arguments.no_measure {
        let (assignor, leader) =
            (arguments.settings.assignor(snapshot.strategy), arguments.settings.leader());
        let FormFigures { form, now, .. } = report.own;
        report.measured = Measured::of(&snapshot.group, form, now.subscription.total, &assignor, &leader);
    }
    if arguments.json {
        line(console, &budget::write(&report, arguments.members))?;
        return Ok(report.fits());
    }
    let mut text = if first { String::new() } else { "\n".to_owned() };
    if let Some(heading) = heading {
        text.push_str(&format!("{HEAD}{heading}{HEAD:#}\n"));
    }
    // Writing to a string does not fail.
    let _ = write(&mut text, &report, arguments);
    console.text(&text)?;
    for assumption in assumptions {
        console.note(assumption);
    }
    Ok(report.fits())
}

fn line(console: &Console, document: &serde_json::Value) -> Result<(), Failure> {
    let mut out = console.data();
    serde_json::to_writer(&mut out, document).map_err(std::io::Error::from)?;
    out.write_all(b"\n")?;
    Ok(out.flush()?)
}

fn write(out: &mut String, report: &Report<'_>, arguments: &Arguments) -> core::fmt::Result {
    let group = report.budget.group();
    writeln!(
        out,
        "{} v{}: {}, {}, {}\n",
        report.own.form.format,
        report.own.form.version,
        count(group.members() as u64, "member"),
        count(group.topology().topics() as u64, "topic"),
        count(group.topology().partitions() as u64, "partition"),
    )?;
    sizes(&report.own).write(out);
    writeln!(out)?;
    limits(report).write(out);
    writeln!(out)?;
    formats(report, arguments.versions).write(out);
    if arguments.members {
        writeln!(out)?;
        members(report).write(out);
    }
    writeln!(out)?;
    verdict(out, report)?;
    if let Some(Measured { plan, round, allocations }) = report.measured {
        let allocations = allocations.map(|number| format!(", {}", count(number, "allocation")));
        writeln!(
            out,
            "leader     plan {}, whole round {}{}: warm, on this machine",
            time(plan),
            time(round),
            allocations.unwrap_or_default()
        )?;
    }
    Ok(())
}

/// What members send and get.
fn sizes(own: &FormFigures) -> Table {
    let mut table = Table::new(1, &["bytes", "now", "settled"]);
    let mut row = |name: &str, size: fn(&Figures) -> u64| {
        table.row([name.to_owned(), grouped(size(&own.now)), grouped(size(&own.settled))]);
    };
    row("largest subscription", |figures| figures.subscription.max);
    row("all subscriptions", |figures| figures.subscription.total);
    row("largest assignment", |figures| figures.assignment.max);
    row("all assignments", |figures| figures.assignment.total);
    row("JoinGroup response", |figures| figures.join_response);
    row("SyncGroup request", |figures| figures.sync_request);
    row("group record", |figures| figures.group_record);
    table
}

/// The settled round against its limits.
fn limits(report: &Report<'_>) -> Table {
    let head =
        ["settled, against", "limit of", "size", "limit", "used", "breaks at members", "or partitions"];
    let mut table = Table::new(2, &head);
    for Held { check, members_beyond, partitions_beyond } in &report.settled {
        let number = |number: Option<u64>| number.map_or_else(|| "-".to_owned(), grouped);
        let used = check.limit.map_or_else(|| "-".to_owned(), |limit| percent(check.size, limit));
        table.row([
            check.subject.to_string(),
            check.setting.to_owned(),
            grouped(check.size),
            number(check.limit),
            used,
            number(*members_beyond),
            number(*partitions_beyond),
        ]);
    }
    table
}

/// The settled round in every format, in the newest version or in all.
fn formats(report: &Report<'_>, versions: bool) -> Table {
    let head = [
        "settled, as",
        "version",
        "subscription",
        "all",
        "JoinGroup response",
        "SyncGroup request",
        "group record",
        "fits",
    ];
    let mut table = Table::new(1, &head);
    let newest = |figures: &&FormFigures| versions || figures.form == Form::newest(figures.form.format);
    for FormFigures { form, settled, .. } in report.forms.iter().filter(newest) {
        let fits = report.limits.check(settled).iter().all(tenure::protocol::budget::Check::fits);
        table.row([
            form.format.to_string(),
            format!("v{}", form.version),
            grouped(settled.subscription.max),
            grouped(settled.subscription.total),
            grouped(settled.join_response),
            grouped(settled.sync_request),
            grouped(settled.group_record),
            if fits { "yes" } else { "no" }.to_owned(),
        ]);
    }
    table
}

/// Every member in the group's own form.
fn members(report: &Report<'_>) -> Table {
    let head = ["member", "subscription now", "settled", "assignment now", "settled"];
    let mut table = Table::new(1, &head);
    let (budget, form) = (&report.budget, report.own.form);
    for member in budget.group().member_indices() {
        table.row([
            printable(budget.group().id(member)),
            grouped(budget.subscription_len(form, Moment::Now, member)),
            grouped(budget.subscription_len(form, Moment::Settled, member)),
            grouped(budget.assignment_len(form.format, Moment::Now, member)),
            grouped(budget.assignment_len(form.format, Moment::Settled, member)),
        ]);
    }
    table
}

/// Whether it fits, and what would help.
fn verdict(out: &mut String, report: &Report<'_>) -> core::fmt::Result {
    if report.fits() {
        return writeln!(out, "verdict    {GOOD}fits{GOOD:#}, now and when everybody has what is planned");
    }
    let when = match (report.fits_now(), report.fits_settled()) {
        (false, false) => "neither now nor when everybody has what is planned",
        (false, true) => "not now, only when everybody has what is planned",
        _ => "now, but not when everybody has what is planned",
    };
    writeln!(out, "verdict    {BAD}does not fit{BAD:#}: {when}")?;
    let remedies = &report.remedies;
    let limit = report.limits.record();
    if report.own.settled.group_batch <= limit {
        return Ok(());
    }
    let mut help = |what: &str| writeln!(out, "{WARN}help{WARN:#}       {what}");
    let names = grouped(remedies.topic_name_bytes);
    match remedies.topics_at_most {
        Some(most) => help(&format!(
            "fewer topics in each subscription: at most {most} instead of {}, whose names take {names} bytes",
            remedies.topics_named
        ))?,
        None => help(&format!(
            "fewer topics in each subscription are not enough: the names of {} take {names} bytes",
            remedies.topics_named
        ))?,
    }
    match remedies.split {
        Some((groups, bytes)) => help(&format!(
            "{groups} groups, topics and members split among them: {} bytes each",
            grouped(bytes)
        ))?,
        None => help("splitting the topics among groups is not enough")?,
    }
    let beyond = remedies.compact_members_beyond.map_or_else(String::new, |beyond| {
        let fits =
            if remedies.compact <= limit { "enough for less than" } else { "not enough: only for less than" };
        format!(", {fits} {} members", grouped(beyond))
    });
    help(&format!(
        "compact user data (tenure-cooperative-sticky): {} bytes{beyond}",
        grouped(remedies.compact)
    ))?;
    let newer = &remedies.newer;
    help(&format!(
        "the newer group protocol (KIP-848): about {} bytes for the largest record, {} for a batch that moves everybody{}",
        grouped(newer.largest_record),
        grouped(newer.target_batch),
        if newer.target_batch <= limit { "" } else { ", which is too much as well" }
    ))?;
    help(&format!("max.message.bytes of __consumer_offsets at {} bytes", grouped(remedies.limit)))
}

/// "12.3 %", "350 %".
fn percent(size: u64, limit: u64) -> String {
    let percent = size as f64 * 100.0 / limit.max(1) as f64;
    if percent < 100.0 { format!("{percent:.1} %") } else { format!("{percent:.0} %") }
}

/// "950 ns", "12.3 µs", "4.56 ms".
fn time(time: Duration) -> String {
    let nanos = time.as_nanos() as f64;
    match nanos {
        0.0..1e3 => format!("{nanos:.0} ns"),
        1e3..1e6 => format!("{:.1} µs", nanos / 1e3),
        _ => format!("{:.2} ms", nanos / 1e6),
    }
}
