//! What else is measured of Tenure alone: calls and starts when nothing is warm, and very many small groups.

use core::hint::black_box;
use core::time::Duration;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use tenure::Group;
use tenure::plan::{Batch, Plan, Scratch};
use tenure::protocol::leader::{Leader, LeaderScratch};

use super::driver::Driver;
use super::own::{NAME, assignor};
use super::peers::Peer;
use super::record::{Cold, Record, Silence};
use super::{Call, Contestant as _, SEED};
use crate::alloc::{self, Used};
use crate::check;
use crate::measure::thread_time;
use crate::workloads::{Event, Shape, Size, Workload};

/// Groups of one shape that are each seen once.
const UNSEEN: u64 = 6;

const PROTOCOL: &str = "cooperative-sticky";

/// How often each is run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Runs {
    /// Calls in this process.
    pub calls: usize,
    /// Starts of the command.
    pub starts: usize,
}

/// Measures Tenure's calls for a shape's settled group.
///
/// # Errors
///
/// If the group cannot be planned.
pub fn calls(shape: &Shape, runs: Runs) -> Result<Vec<Record>, String> {
    let subject = format!("{}/{}", shape.full_name(), Event::Steady);
    let workloads: Vec<Workload> = (0..=UNSEEN).map(|number| shape.fresh(SEED + number).settled()).collect();
    let mut records = plans(&subject, &workloads, runs)?;
    records.extend(rounds(&subject, &workloads, runs)?);
    Ok(records)
}

fn plans(subject: &str, workloads: &[Workload], runs: Runs) -> Result<Vec<Record>, String> {
    let groups: Vec<Group> = workloads.iter().map(Workload::group).collect();
    let assignor = assignor();
    let (mut scratch, mut plan) = (Scratch::default(), Plan::default());
    let mut keep = |group: &Group| {
        scratch.reset(group.shape());
        plan.reset(group.shape());
        assignor.assign_into(group, &mut scratch, &mut plan).map(drop).map_err(|error| error.to_string())
    };
    // The first group's turn makes the scratch; the others are each new to it.
    keep(&groups[0])?;
    let unseen = repeat(groups.iter().skip(1), &mut keep)?;
    let warm = repeat(core::iter::repeat_n(&groups[0], runs.calls + 1), &mut keep)?.without_first();
    let new = repeat(core::iter::repeat_n(&groups[0], runs.calls), |group| {
        assignor.assign(black_box(group)).map(|made| _ = black_box(made)).map_err(|error| error.to_string())
    })?;
    Ok(vec![
        warm.record(subject, "plan: all kept, same group"),
        unseen.record(subject, "plan: scratch kept, a group never seen"),
        new.record(subject, "plan: nothing kept, one-off call"),
    ])
}

fn rounds(subject: &str, workloads: &[Workload], runs: Runs) -> Result<Vec<Record>, String> {
    let groups: Vec<_> =
        workloads.iter().map(|workload| (workload.joined(PROTOCOL), workload.topology())).collect();
    let lead = |(members, topology): &(Vec<_>, _), scratch: &mut LeaderScratch| {
        let members: &[tenure::protocol::message::JoinMember] = members;
        let first = members.first().map_or("", |member| member.member_id.as_str());
        let round = Leader::new().round_into(PROTOCOL, members, first, topology, scratch);
        round.map(|round| _ = black_box(round.bytes())).map_err(|error| error.to_string())
    };
    let mut scratch = LeaderScratch::new();
    lead(&groups[0], &mut scratch)?;
    let unseen = repeat(groups.iter().skip(1), |group| lead(group, &mut scratch))?;
    let warm = repeat(core::iter::repeat_n(&groups[0], runs.calls + 1), |group| lead(group, &mut scratch))?
        .without_first();
    let new = repeat(core::iter::repeat_n(&groups[0], runs.calls), |group| {
        let mut scratch = LeaderScratch::new();
        let led = lead(group, &mut scratch);
        // Giving the memory back is part of a one-off call.
        drop(scratch);
        led
    })?;
    Ok(vec![
        warm.record(subject, "round: all kept, same group"),
        unseen.record(subject, "round: scratch kept, a group never seen"),
        new.record(subject, "round: nothing kept, one-off call"),
    ])
}

/// Times of single runs, and the most that one asked of the allocator.
struct Times {
    ns: Vec<u64>,
    used: Vec<Used>,
}

impl Times {
    fn without_first(mut self) -> Self {
        self.ns.remove(0);
        self.used.remove(0);
        self
    }

    fn record(self, subject: &str, state: &str) -> Record {
        let most =
            self.used.into_iter().max_by_key(|used| (used.allocations, used.bytes)).unwrap_or_default();
        Record::Cold(Cold {
            subject: subject.to_string(),
            contestant: NAME.to_string(),
            state: state.to_string(),
            cpu: true,
            ns: self.ns,
            allocations: Some(most.allocations),
            bytes: Some(most.bytes),
        })
    }
}

fn repeat<T>(
    subjects: impl Iterator<Item = T>,
    mut work: impl FnMut(T) -> Result<(), String>,
) -> Result<Times, String> {
    let mut times = Times { ns: Vec::new(), used: Vec::new() };
    for subject in subjects {
        let before = thread_time();
        let (done, used) = alloc::count(|| work(subject));
        let spent = thread_time() - before;
        done?;
        times.ns.push(spent.as_nanos() as u64);
        times.used.push(used);
    }
    Ok(times)
}

/// The subject of [`many`], before the event.
pub const MANY: &str = "10,000 groups of 100 partitions × 10 members";

/// What happens to all of them at once.
const MANY_EVENTS: [Event; 5] =
    [Event::Fresh, Event::Steady, Event::OneLeaves, Event::OneJoins, Event::TenthLeaves];

/// Plans ten thousand small groups, no two alike, in one call on one thread.
///
/// # Errors
///
/// If one of the plans is not valid.
pub fn many(runs: Runs) -> Result<Vec<Record>, String> {
    let count = if runs.calls < 3 { 50 } else { 10_000 };
    let size = Size { topics: 10, partitions: 10, members: 10 };
    let shape = Shape { full: size, ..Shape::find("uniform-1k").expect("a shape of the table") };
    let mut records = Vec::new();
    for event in MANY_EVENTS {
        let groups: Vec<Group> =
            (0..count).map(|seed| event.apply(&shape, &shape.fresh(seed).settled(), seed).group()).collect();
        let mut batch = Batch::new();
        for (group, planned) in groups.iter().zip(assignor().plan_many(&groups, &mut batch)) {
            check::check(group, planned.plan(), planned.outcome())?;
        }
        let times = repeat(0..runs.calls, |_| {
            black_box(assignor().plan_many(black_box(&groups), &mut batch));
            Ok(())
        })?;
        records.push(times.record(&format!("{MANY}, {event}"), "plan: all kept, one call, one thread"));
    }
    Ok(records)
}

/// Starts each peer anew and asks it for one call, its first.
pub fn peers(peers: &[Peer], shape: &Shape, limit: Duration, folder: &Path) -> Vec<Record> {
    let workload = shape.fresh(SEED).settled();
    let subject = format!("{}/{}", shape.full_name(), Event::Steady);
    let mut records = Vec::new();
    for peer in peers {
        let mut driver = Driver::new(peer.clone(), limit, folder);
        let call = if peer.calls.contains(&Call::Round) { Call::Round } else { Call::Plan };
        let begin = Instant::now();
        let started = driver.start().map(|()| begin.elapsed());
        let asked = started.and_then(|started| {
            driver.load(&workload)?;
            Ok((started, driver.call(call, 1)?))
        });
        let cold = |subject: &str, state: String, cpu, ns, bytes, allocations| {
            let contestant = peer.name.clone();
            Record::Cold(Cold {
                subject: subject.to_string(),
                contestant,
                state,
                cpu,
                ns: vec![ns],
                allocations,
                bytes,
            })
        };
        match asked {
            Ok((started, spent)) => {
                let state = "until it takes commands".to_string();
                records.push(cold("a new process", state, false, started.as_nanos() as u64, None, None));
                let state = format!("{call}: the first call of a new process");
                records.push(cold(&subject, state, true, spent.cpu_ns, Some(spent.bytes), spent.allocations));
            }
            Err(failure) => records.push(Record::Silence(Silence {
                group: String::new(),
                contestant: peer.name.clone(),
                call: Some(call),
                why: format!("first call of a new process: {failure}"),
                timed_out: false,
            })),
        }
    }
    records
}

/// Measures how long the command takes from its start to its end, if it lies beside this program.
///
/// # Errors
///
/// Those of the snapshot files, or the command's own failure.
pub fn command(folder: &Path, runs: Runs) -> io::Result<Vec<Record>> {
    let program = std::env::current_exe()?.with_file_name("tenure");
    if !program.exists() {
        return Ok(vec![Record::Silence(Silence {
            group: String::new(),
            contestant: NAME.to_string(),
            call: None,
            why: "start of the command not measured: build it first with the same profile".to_string(),
            timed_out: false,
        })]);
    }
    let mut records = vec![start(&program, &["--version"], "tenure --version", runs)?];
    for name in ["shop", "uniform-10k", "uniform-100k"] {
        let shape = Shape::find(name).expect("a shape of the table");
        let shape = if runs.starts < 3 { shape.small() } else { shape };
        let path = folder.join(format!("{name}.json"));
        let workload = shape.fresh(SEED).settled();
        workload.write_snapshot(&mut io::BufWriter::new(std::fs::File::create(&path)?))?;
        let bytes = std::fs::metadata(&path)?.len();
        let subject = format!("tenure plan, {name}/steady ({} kB)", bytes.div_ceil(1000));
        records.push(start(&program, &["plan", &path.to_string_lossy()], &subject, runs)?);
        std::fs::remove_file(&path)?;
    }
    Ok(records)
}

fn start(program: &Path, arguments: &[&str], subject: &str, runs: Runs) -> io::Result<Record> {
    let mut ns = Vec::new();
    for _ in 0..=runs.starts {
        let begin = Instant::now();
        let status = Command::new(program).args(arguments).stdout(Stdio::null()).status()?;
        ns.push(begin.elapsed().as_nanos() as u64);
        if !status.success() {
            return Err(io::Error::other(format!("{subject}: {status}")));
        }
    }
    // The first one reads the program from the disk.
    ns.remove(0);
    Ok(Record::Cold(Cold {
        subject: subject.to_string(),
        contestant: NAME.to_string(),
        state: "from start to end".to_string(),
        cpu: false,
        ns,
        allocations: None,
        bytes: None,
    }))
}
