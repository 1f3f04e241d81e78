//! Raw results, one JSON object a line: all that a report is made of.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{Call, Spent};

/// The file of raw results in a report's folder.
pub const FILE: &str = "raw.jsonl";

/// A line of raw results.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Record {
    /// Where, when and with what a part of the report was measured.
    Setting(Setting),
    /// A group, and what is proven about it.
    Group(GroupRecord),
    /// The time of some calls.
    Sample(Sample),
    /// The first call for a group, before anything of it is warm.
    First(Sample),
    /// What came of a group under one contestant.
    Quality(Quality),
    /// Why there is no result.
    Silence(Silence),
    /// A call or a start that had nothing ready.
    Cold(Cold),
}

/// Where, when and with what.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Setting {
    /// Day of the run.
    pub date: String,
    /// Its command.
    pub command: String,
    /// The machine.
    pub machine: String,
    /// Versions of contestants and tools.
    pub versions: Vec<String>,
    /// How long a call may take.
    pub limit_s: f64,
}

/// A group, and what is proven about it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct GroupRecord {
    /// Shape and event.
    pub group: String,
    /// Whether all subscribe alike.
    pub uniform: bool,
    /// Partitions.
    pub partitions: u64,
    /// Members.
    pub members: u64,
    /// Topics.
    pub topics: u64,
    /// Whether a certificate for the two figures below was checked by code that shares nothing with the planner.
    pub proven: bool,
    /// Least possible sum of the squares of the loads.
    pub sum_of_squares: u64,
    /// Fewest moves at that balance.
    pub moves: u64,
}

/// The time of some calls.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Sample {
    /// Shape and event.
    pub group: String,
    /// Who was called.
    pub contestant: String,
    /// For what.
    pub call: Call,
    /// What the calls took together.
    #[serde(flatten)]
    pub spent: Spent,
}

/// What came of a group under one contestant.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Quality {
    /// Shape and event.
    pub group: String,
    /// Who.
    pub contestant: String,
    /// What is wrong, if anything; the figures mean nothing then.
    pub fault: Option<String>,
    /// Least load of a member with an existing topic.
    pub load_min: u64,
    /// Greatest load.
    pub load_max: u64,
    /// Sum of the squares of the loads.
    pub sum_of_squares: u64,
    /// Moves until everybody has everything.
    pub moves: u64,
    /// Partitions that nobody was given in the first round.
    pub withheld: u64,
    /// Rounds until nothing was withheld.
    pub rounds: u32,
    /// Bytes of all subscriptions.
    pub bytes_in: u64,
    /// Bytes of all assignments of the first round.
    pub bytes_out: u64,
}

/// Why there is no result.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Silence {
    /// Shape and event; empty if it is about all.
    pub group: String,
    /// Who.
    pub contestant: String,
    /// For what; nothing if the group could not be given.
    pub call: Option<Call>,
    /// Why.
    pub why: String,
    /// Whether it was asked and did not end.
    pub timed_out: bool,
}

/// A call or a start that had nothing ready.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Cold {
    /// Shape and event, or what was started.
    pub subject: String,
    /// Who.
    pub contestant: String,
    /// What was there already.
    pub state: String,
    /// Whether the times are CPU times of a thread; else they are on the wall.
    pub cpu: bool,
    /// Times of single runs.
    pub ns: Vec<u64>,
    /// Allocations of one run, if counted.
    pub allocations: Option<u64>,
    /// Bytes that they asked for, if counted.
    pub bytes: Option<u64>,
}

impl Record {
    /// The group it is about, if any.
    pub fn group(&self) -> Option<&str> {
        match self {
            Self::Group(record) => Some(&record.group),
            Self::Sample(record) | Self::First(record) => Some(&record.group),
            Self::Quality(record) => Some(&record.group),
            Self::Silence(record) => Some(&record.group),
            Self::Setting(_) | Self::Cold(_) => None,
        }
    }
}

/// Adds records to a report's folder. What it says so far about the same groups is replaced, so that a report can be
/// measured in pieces; so are cold starts if there are new ones. A group that was not measured this time stays as it was.
///
/// # Errors
///
/// Those of the file, and a line that is no record.
pub fn add(folder: &Path, records: &[Record]) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let mut kept = if folder.join(FILE).exists() { read(folder)? } else { Vec::new() };
    let cold = records.iter().any(|record| matches!(record, Record::Cold(_)));
    let measured = |records: &[Record], group: Option<&str>| {
        records.iter().any(|record| matches!(record, Record::Group(_)) && record.group() == group)
    };
    kept.retain(|old| match old {
        Record::Cold(_) => !cold,
        old => !measured(records, old.group()),
    });
    let new = |record: &&Record| {
        !kept.contains(record) && (measured(records, record.group()) || !measured(&kept, record.group()))
    };
    let mut out = Vec::new();
    for record in kept.iter().chain(records.iter().filter(new)) {
        serde_json::to_writer(&mut out, record)?;
        out.write_all(b"\n")?;
    }
    fs::write(folder.join(FILE), out)
}

/// Reads the records of a report's folder.
///
/// # Errors
///
/// Those of the file, and a line that is no record.
pub fn read(folder: &Path) -> io::Result<Vec<Record>> {
    let path = folder.join(FILE);
    let text = fs::read_to_string(&path)
        .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))?;
    let parse = |(number, line): (usize, &str)| {
        serde_json::from_str(line).map_err(|error| {
            io::Error::new(io::ErrorKind::InvalidData, format!("{}:{}: {error}", path.display(), number + 1))
        })
    };
    text.lines().enumerate().map(parse).collect()
}

#[cfg(test)]
mod tests {
    use super::{Cold, Record, Sample, Silence, add, read};
    use crate::contest::{Call, Spent};

    fn silence(group: &str, why: &str) -> Record {
        Record::Silence(Silence {
            group: group.into(),
            contestant: "p".into(),
            call: None,
            why: why.into(),
            timed_out: false,
        })
    }

    fn group(name: &str) -> Record {
        let line = format!(
            "{{\"kind\":\"group\",\"group\":\"{name}\",\"uniform\":true,\"partitions\":1,\"members\":1,\"topics\":1,\
             \"proven\":true,\"sum_of_squares\":1,\"moves\":0}}"
        );
        serde_json::from_str(&line).unwrap()
    }

    #[test]
    fn what_is_measured_again_is_replaced() {
        let folder = std::env::temp_dir().join(format!("tenure-records-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        let spent = Spent { calls: 1, cpu_ns: 5, allocations: None, ..Spent::default() };
        let sample =
            Record::Sample(Sample { group: "a".into(), contestant: "p".into(), call: Call::Plan, spent });
        let cold = Record::Cold(Cold {
            subject: "a".into(),
            contestant: "p".into(),
            state: "nothing".into(),
            cpu: true,
            ns: vec![1],
            allocations: None,
            bytes: Some(1),
        });
        let first = [group("a"), sample.clone(), group("b"), silence("b", "old"), cold.clone()];
        add(&folder, &first).unwrap();
        assert_eq!(read(&folder).unwrap(), first);
        add(&folder, &[group("b"), silence("b", "new")]).unwrap();
        let now = [group("a"), sample, cold, group("b"), silence("b", "new")];
        assert_eq!(read(&folder).unwrap(), now);
        add(&folder, &[silence("b", "no time"), silence("b", "new")]).unwrap();
        assert_eq!(read(&folder).unwrap().len(), now.len(), "what is measured stays");
        add(&folder, &[silence("c", "no time")]).unwrap();
        add(&folder, &[silence("c", "no time")]).unwrap();
        assert_eq!(read(&folder).unwrap().len(), now.len() + 1, "what was not is told once");
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
