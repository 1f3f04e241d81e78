//! Raw results by group, contestant and call.

use std::collections::BTreeMap;

use crate::contest::Call;
use crate::contest::record::{Cold, GroupRecord, Quality, Record, Sample, Setting, Silence};

/// The samples of one call, a call each.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Timing {
    /// CPU time of the calling thread in ns.
    pub cpu: Vec<f64>,
    /// CPU time of the process in ns.
    pub process: Vec<f64>,
    /// Bytes asked of the allocator.
    pub bytes: f64,
    /// Requests to it, if counted.
    pub allocations: Option<f64>,
}

impl Timing {
    /// The least CPU time, in ns.
    pub fn min(&self) -> f64 {
        self.cpu.iter().copied().fold(f64::INFINITY, f64::min)
    }

    /// The median CPU time, in ns.
    pub fn median(&self) -> f64 {
        median(&self.cpu)
    }

    /// The median CPU time of the process, in ns.
    pub fn process_median(&self) -> f64 {
        median(&self.process)
    }

    fn add(&mut self, sample: &Sample) {
        let calls = f64::from(sample.spent.calls.max(1));
        self.cpu.push(sample.spent.cpu_ns as f64 / calls);
        self.process.push(sample.spent.process_ns as f64 / calls);
        self.bytes = self.bytes.max(sample.spent.bytes as f64 / calls);
        let allocations = sample.spent.allocations.map(|count| count as f64 / calls);
        self.allocations = match (self.allocations, allocations) {
            (Some(a), Some(b)) => Some(a.max(b)),
            (a, b) => a.or(b),
        };
    }
}

/// The middle of some numbers; infinity if there are none.
pub(super) fn median(numbers: &[f64]) -> f64 {
    let mut sorted = numbers.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(f64::INFINITY)
}

/// A report's raw results.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct View {
    /// Runs that it is made of.
    pub settings: Vec<Setting>,
    /// Groups, in the order in which they were measured.
    pub groups: Vec<GroupRecord>,
    /// Contestants, in order of appearance.
    pub contestants: Vec<String>,
    /// Quality of answers.
    pub quality: Vec<Quality>,
    /// What there is not.
    pub silences: Vec<Silence>,
    /// Cold starts.
    pub cold: Vec<Cold>,
    times: BTreeMap<(String, String, Call), Timing>,
}

impl View {
    /// Sorts records by what they are about.
    pub fn new(records: Vec<Record>) -> Self {
        let mut view = Self::default();
        for record in records {
            match record {
                Record::Setting(setting) => view.settings.push(setting),
                Record::Group(group) => view.groups.push(group),
                Record::Sample(sample) => {
                    view.see(&sample.contestant);
                    let key = (sample.group.clone(), sample.contestant.clone(), sample.call);
                    view.times.entry(key).or_default().add(&sample);
                }
                Record::First(_) => {}
                Record::Quality(quality) => {
                    view.see(&quality.contestant);
                    view.quality.push(quality);
                }
                Record::Silence(silence) => {
                    view.see(&silence.contestant);
                    view.silences.push(silence);
                }
                Record::Cold(cold) => view.cold.push(cold),
            }
        }
        view
    }

    fn see(&mut self, contestant: &str) {
        if !self.contestants.iter().any(|seen| seen == contestant) {
            self.contestants.push(contestant.to_string());
        }
    }

    /// The samples of a call.
    pub fn timing(&self, group: &str, contestant: &str, call: Call) -> Option<&Timing> {
        self.times.get(&(group.to_string(), contestant.to_string(), call))
    }

    /// All calls that were measured.
    pub fn timings(&self) -> impl Iterator<Item = (&str, &str, Call, &Timing)> {
        self.times
            .iter()
            .map(|((group, contestant, call), timing)| (group.as_str(), contestant.as_str(), *call, timing))
    }

    /// How a contestant's answer was.
    pub fn quality(&self, group: &str, contestant: &str) -> Option<&Quality> {
        self.quality
            .iter()
            .find(|quality| (quality.group.as_str(), quality.contestant.as_str()) == (group, contestant))
    }

    /// Why a contestant has no result for a group.
    pub fn silence(&self, group: &str, contestant: &str, call: Call) -> Option<&Silence> {
        self.silences.iter().find(|silence| {
            (silence.group.as_str(), silence.contestant.as_str()) == (group, contestant)
                && silence.call.is_none_or(|silent| silent == call || silence.timed_out)
        })
    }

    /// The events, in the order in which they were measured.
    pub fn events(&self) -> Vec<String> {
        let mut events: Vec<String> = Vec::new();
        for group in &self.groups {
            let (_, event) = split(&group.group);
            if !events.iter().any(|seen| seen == event) {
                events.push(event.to_string());
            }
        }
        events
    }

    /// The groups of an event.
    pub fn groups_of<'a>(&'a self, event: &'a str) -> impl Iterator<Item = &'a GroupRecord> {
        self.groups.iter().filter(move |group| split(&group.group).1 == event)
    }
}

/// Shape and event of a group's name.
pub(super) fn split(group: &str) -> (&str, &str) {
    group.rsplit_once('/').unwrap_or((group, ""))
}
