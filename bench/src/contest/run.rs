//! One group after the other, and for each group all contestants in turn.

use core::time::Duration;
use std::time::Instant;

use tenure::plan::{Plan, Scratch};
use tenure::verify::{self, Certificate, Proposal};

use super::own::{Own, assignor};
use super::record::{GroupRecord, Quality, Record, Sample, Silence};
use super::verdict::judge;
use super::{Call, Contestant, Failure, SEED, Spent};
use crate::workloads::{Event, Shape, Workload};

/// How much time a run may take.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Budget {
    /// For the samples of one contestant's call, on the wall; and half as much to warm up.
    pub samples: Duration,
    /// Most samples of one call.
    pub most: usize,
    /// After this no new group is begun.
    pub total: Duration,
}

/// Least number of samples; calls that take longer than [`SLOW`] are warm in their first one, and get one sample.
const LEAST: usize = 2;

/// See [`LEAST`].
const SLOW: Duration = Duration::from_secs(3);

/// A sample takes about this long, or one call: long beside reading the clocks, and beside fetching back into the caches
/// what the others' turns drove out of them.
const SAMPLE: Duration = Duration::from_millis(10);

/// Somebody gave no answer: larger groups of the kind are not asked.
#[derive(Clone, PartialEq, Eq, Debug)]
struct GaveUp {
    contestant: String,
    uniform: bool,
    event: Event,
    partitions: u64,
    group: String,
}

/// A run over groups.
pub struct Contest {
    own: Own,
    others: Vec<Box<dyn Contestant>>,
    budget: Budget,
    begin: Instant,
    gave_up: Vec<GaveUp>,
}

/// One contestant's call while a group is measured.
struct Lane {
    at: usize,
    call: Call,
    slow: bool,
    times: u32,
    spent: Duration,
    samples: Vec<Spent>,
    stopped: bool,
}

impl Contest {
    /// A run with these beside Tenure.
    pub fn new(others: Vec<Box<dyn Contestant>>, budget: Budget) -> Self {
        Self { own: Own::default(), others, budget, begin: Instant::now(), gave_up: Vec::new() }
    }

    /// What the contestants said of themselves, as far as they were started.
    pub fn versions(&self) -> Vec<String> {
        let others = self.others.iter().filter_map(|other| Some((other.name(), other.version()?)));
        let mut versions: Vec<String> = others.map(|(name, version)| format!("{name}: {version}")).collect();
        versions.insert(0, self.own.version().unwrap_or_default());
        versions
    }

    /// Measures one group: everybody is loaded, judged and warmed up, then sampled in turn.
    ///
    /// # Errors
    ///
    /// If Tenure's own plan is not valid or not proven; a peer's failure is a record.
    pub fn group(&mut self, shape: &Shape, event: Event, settled: &Workload) -> Result<Vec<Record>, String> {
        let name = format!("{}/{event}", shape.full_name());
        if self.begin.elapsed() > self.budget.total {
            let why = "not measured: the time of this run was used up".to_string();
            return Ok(vec![silence(&name, super::own::NAME, None, why, false)]);
        }
        let workload = event.apply(shape, settled, SEED);
        let group = prove(&name, shape, &workload)?;
        let mut records = vec![Record::Group(group.clone())];
        let mut lanes: Vec<Lane> = Vec::new();
        for at in 0..=self.others.len() {
            let skip = self.reason_to_skip(at, &group, event);
            if let Some(why) = skip {
                records.push(silence(&name, self.contestant(at).name(), None, why, false));
                continue;
            }
            match self.begin(at, &name, &workload, &mut records) {
                Ok(begun) => lanes.extend(begun),
                Err((_, failure)) if at == 0 => return Err(format!("{name}: {failure}")),
                Err((call, failure)) => {
                    let contestant = self.contestant(at).name().to_string();
                    let timed_out = matches!(failure, Failure::Silent(_));
                    if timed_out {
                        self.gave_up.push(GaveUp {
                            contestant: contestant.clone(),
                            uniform: group.uniform,
                            event,
                            partitions: group.partitions,
                            group: name.clone(),
                        });
                    }
                    records.push(silence(&name, &contestant, call, failure.to_string(), timed_out));
                }
            }
        }
        self.warm_up(&mut lanes);
        self.sample(&mut lanes);
        for lane in lanes {
            let contestant = self.contestant(lane.at).name().to_string();
            if lane.samples.is_empty() {
                let why = "it failed after its first call".to_string();
                records.push(silence(&name, &contestant, Some(lane.call), why, false));
            }
            for spent in lane.samples {
                let (group, contestant) = (name.clone(), contestant.clone());
                records.push(Record::Sample(Sample { group, contestant, call: lane.call, spent }));
            }
        }
        Ok(records)
    }

    fn contestant(&mut self, at: usize) -> &mut dyn Contestant {
        if at == 0 { &mut self.own } else { self.others[at - 1].as_mut() }
    }

    fn reason_to_skip(&mut self, at: usize, group: &GroupRecord, event: Event) -> Option<String> {
        let name = self.contestant(at).name().to_string();
        // Nothing is easier than a steady group.
        let same = |gave_up: &&GaveUp| {
            (gave_up.contestant.as_str(), gave_up.uniform) == (&name, group.uniform)
                && (gave_up.event == event || gave_up.event == Event::Steady)
                && gave_up.partitions <= group.partitions
        };
        let earlier = self.gave_up.iter().find(same)?;
        Some(format!("not asked: no answer for {}", earlier.group))
    }

    /// First calls and the verdict.
    fn begin(
        &mut self,
        at: usize,
        name: &str,
        workload: &Workload,
        records: &mut Vec<Record>,
    ) -> Result<Vec<Lane>, (Option<Call>, Failure)> {
        let contestant = self.contestant(at);
        let who = contestant.name().to_string();
        let calls = contestant.calls();
        contestant.load(workload).map_err(|failure| (None, failure))?;
        // The last call is the one whose answer is judged.
        let mut slow = Vec::new();
        for &call in calls {
            let spent = contestant.call(call, 1).map_err(|failure| (Some(call), failure))?;
            slow.push(u128::from(spent.wall_ns) > SLOW.as_nanos());
            let (group, contestant) = (name.to_string(), who.clone());
            records.push(Record::First(Sample { group, contestant, call, spent }));
        }
        let quality = match judge(contestant, workload) {
            Ok(verdict) => Quality {
                group: name.to_string(),
                contestant: who,
                fault: None,
                load_min: verdict.figures.load_min,
                load_max: verdict.figures.load_max,
                sum_of_squares: verdict.figures.sum_of_squares,
                moves: verdict.figures.moves,
                withheld: verdict.withheld,
                rounds: verdict.rounds,
                bytes_in: verdict.bytes_in,
                bytes_out: verdict.bytes_out,
            },
            Err(failure) if at == 0 => return Err((None, failure)),
            Err(failure) => Quality {
                group: name.to_string(),
                contestant: who,
                fault: Some(failure.to_string()),
                load_min: 0,
                load_max: 0,
                sum_of_squares: 0,
                moves: 0,
                withheld: 0,
                rounds: 0,
                bytes_in: 0,
                bytes_out: 0,
            },
        };
        // Handing over took it to later rounds: back to the first.
        if quality.rounds != 1 {
            contestant.load(workload).map_err(|failure| (None, failure))?;
        }
        records.push(Record::Quality(quality));
        let lane = |(&call, slow): (&Call, bool)| Lane {
            at,
            call,
            slow,
            times: 1,
            spent: Duration::ZERO,
            samples: Vec::new(),
            stopped: false,
        };
        Ok(calls.iter().zip(slow).map(lane).collect())
    }

    /// Calls each until it has run for half its budget, and learns how often to call for one sample.
    fn warm_up(&mut self, lanes: &mut [Lane]) {
        let budget = self.budget.samples / 2;
        for lane in lanes.iter_mut().filter(|lane| !lane.slow) {
            let begin = Instant::now();
            while !lane.stopped {
                let (call, times) = (lane.call, lane.times);
                match self.contestant(lane.at).call(call, times) {
                    Ok(spent) => {
                        let each = (spent.wall_ns / u64::from(spent.calls)).max(1);
                        lane.times = (SAMPLE.as_nanos() as u64 / each).clamp(1, 10_000) as u32;
                    }
                    Err(_) => lane.stopped = true,
                }
                if begin.elapsed() >= budget {
                    break;
                }
            }
        }
    }

    /// One sample of everybody, again and again, until each has used its budget. Who begins changes.
    fn sample(&mut self, lanes: &mut [Lane]) {
        let Budget { samples, most, .. } = self.budget;
        let wants = |lane: &Lane| {
            let least = if lane.slow { 1 } else { LEAST };
            !lane.stopped
                && (lane.samples.len() < least || (lane.spent < samples && lane.samples.len() < most))
        };
        let mut turn = 0;
        while lanes.iter().any(wants) {
            turn += 1;
            let count = lanes.len();
            for place in 0..count {
                let lane = &mut lanes[(place + turn) % count];
                if !wants(lane) {
                    continue;
                }
                let begin = Instant::now();
                match self.contestant(lane.at).call(lane.call, lane.times) {
                    Ok(spent) => lane.samples.push(spent),
                    Err(_) => lane.stopped = true,
                }
                lane.spent += begin.elapsed();
            }
        }
    }
}

/// Plans the group, has the certificate checked, and notes what is proven.
fn prove(name: &str, shape: &Shape, workload: &Workload) -> Result<GroupRecord, String> {
    let group = workload.group();
    let (mut scratch, mut plan) = (Scratch::with_shape(group.shape()), Plan::with_shape(group.shape()));
    let mut certificate = Certificate::with_shape(group.shape());
    let outcome = assignor()
        .certify_into(&group, &mut scratch, &mut plan, &mut certificate)
        .map_err(|error| format!("{name}: {error}"))?;
    let proposal = Proposal::from_lists(&group, |member| plan.target(member).iter().copied());
    let checked = verify::check(&group, &proposal, &certificate);
    if let Err(refusal) = &checked {
        return Err(format!("{name}: the certificate does not hold: {refusal:?}"));
    }
    Ok(GroupRecord {
        group: name.to_string(),
        uniform: shape.is_uniform(),
        partitions: u64::from(outcome.stats.partitions),
        members: u64::from(outcome.stats.members),
        topics: group.topology().topics() as u64,
        proven: true,
        sum_of_squares: outcome.stats.sum_of_squares,
        moves: u64::from(outcome.stats.moves),
    })
}

fn silence(group: &str, contestant: &str, call: Option<Call>, why: String, timed_out: bool) -> Record {
    Record::Silence(Silence {
        group: group.to_string(),
        contestant: contestant.to_string(),
        call,
        why,
        timed_out,
    })
}
