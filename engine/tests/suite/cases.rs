//! Every case of `datasets/cases/assignment`, through every door of the library.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use serde_json::Value;
use tenure::Group;
use tenure::plan::{Assignor, Config, Outcome, Plan, Scratch};

use crate::expectation::{self, Expectation};
use crate::support::course::{self, Course};
use crate::support::judge::Fault;
use crate::support::snapshot::{Snapshot, fields, text};

/// One case file.
#[derive(Debug)]
pub(crate) struct Case {
    pub(crate) id: String,
    pub(crate) snapshot: Snapshot,
    expectations: Vec<Expectation>,
}

impl Case {
    fn read(json: &str) -> Result<Self, String> {
        let value: Value = serde_json::from_str(json).map_err(|error| error.to_string())?;
        let known = ["id", "source", "kind", "what_went_wrong", "snapshot", "expect"];
        let object = fields(&value, &known, "case")?;
        let field = |key: &str| object.get(key).ok_or_else(|| format!("the case has no {key:?}"));
        for key in ["source", "kind", "what_went_wrong"] {
            text(field(key)?)?;
        }
        Ok(Self {
            id: text(field("id")?)?.to_owned(),
            snapshot: Snapshot::read(field("snapshot")?)?,
            expectations: expectation::read(field("expect")?)?,
        })
    }
}

/// All cases, in the order of their files.
pub(crate) fn load() -> Vec<Case> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../datasets/cases/assignment");
    let mut files: Vec<PathBuf> = fs::read_dir(&folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .collect();
    files.sort();
    let read = |path: &PathBuf| {
        let json = fs::read_to_string(path).unwrap();
        let case = Case::read(&json).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        assert!(name.starts_with(&format!("{}-", case.id)), "{name} has id {}", case.id);
        case
    };
    let cases: Vec<Case> = files.iter().map(read).collect();
    let ids: BTreeSet<&String> = cases.iter().map(|case| &case.id).collect();
    assert_eq!(ids.len(), cases.len(), "two cases share an id");
    cases
}

fn assignor(snapshot: &Snapshot) -> Assignor {
    Assignor::new(Config::new().strategy(snapshot.strategy))
}

fn direct(case: &Case, seed: u64) -> Result<Course, Fault> {
    let assignor = assignor(&case.snapshot);
    course::run(&case.snapshot, seed, &mut |group| assignor.assign(group).unwrap())
}

/// Plans with memory that other groups have used before, and that is larger than needed.
struct Used {
    scratch: Scratch,
    plan: Plan,
}

impl Used {
    fn after(groups: &[(Assignor, Group)]) -> Self {
        let mut used = Self { scratch: Scratch::default(), plan: Plan::default() };
        for (assignor, group) in groups {
            used.assign(assignor, group);
        }
        used
    }

    fn assign(&mut self, assignor: &Assignor, group: &Group) -> Outcome {
        self.scratch.reset(group.shape());
        self.plan.reset(group.shape());
        assignor.assign_into(group, &mut self.scratch, &mut self.plan).unwrap()
    }
}

fn compare(door: &str, one: &Course, other: &Course) -> Result<(), Fault> {
    if one.answers == other.answers && one.outcomes == other.outcomes {
        Ok(())
    } else {
        Err(Fault::Differs(format!("{door}: {:?} against {:?}", one.answers, other.answers)))
    }
}

/// The case through every door; what the first one says is judged.
fn doors(case: &Case, used: &mut Used) -> Result<Course, Fault> {
    let course = direct(case, 0)?;
    for seed in 1..=6 {
        compare(&format!("shuffled, seed {seed}"), &course, &direct(case, seed)?)?;
    }
    let assignor = assignor(&case.snapshot);
    let again = course::run(&case.snapshot, 0, &mut |group| {
        let outcome = used.assign(&assignor, group);
        (used.plan.clone(), outcome)
    })?;
    compare("used scratch and plan", &course, &again)?;
    let larger = course::run(&case.snapshot, 0, &mut |group| {
        let large = large_shape();
        let (mut scratch, mut plan) = (Scratch::with_shape(large), Plan::with_shape(large));
        scratch.reset(group.shape());
        plan.reset(group.shape());
        let outcome = assignor.assign_into(group, &mut scratch, &mut plan).unwrap();
        (plan, outcome)
    })?;
    compare("larger scratch and plan", &course, &larger)?;
    Ok(course)
}

fn large_shape() -> tenure::Shape {
    let topology = tenure::Topology::builder().topic("t", 5_000).topic("u", 70).build().unwrap();
    let mut builder = Group::builder(&topology);
    for member in 0..100 {
        builder.member(&format!("m{member}")).topic("t").owned_range("t", 0, 60);
    }
    builder.member("x").topic("u");
    builder.build().unwrap().shape()
}

#[test]
fn all_cases() {
    let cases = load();
    assert!(cases.len() >= 43, "cases are missing: {}", cases.len());
    let groups: Vec<(Assignor, Group)> =
        cases.iter().rev().map(|case| (assignor(&case.snapshot), case.snapshot.group(0))).collect();
    let mut used = Used::after(&groups);
    let mut failed = Vec::new();
    for case in &cases {
        let course = match doors(case, &mut used) {
            Ok(course) => course,
            Err(fault) => {
                failed.push(format!("{}: {fault}", case.id));
                continue;
            }
        };
        let missed: Vec<String> = case
            .expectations
            .iter()
            .filter_map(|expectation| expectation.judge(&case.snapshot, &course).err())
            .map(|fault| format!("{}: {fault}", case.id))
            .collect();
        failed.extend(missed);
    }
    assert!(failed.is_empty(), "{} of {} cases failed:\n{}", failed.len(), cases.len(), failed.join("\n"));
}

#[test]
fn a_case_that_says_nothing_or_something_unknown_is_refused() {
    let case = |expect: &str, more: &str| {
        format!(
            r#"{{"id": "1", "source": "s", "kind": "k", "what_went_wrong": "w", {more}
            "snapshot": {{"topics": {{"t": 1}}, "members": {{"a": {{"topics": ["t"]}}}}}}, "expect": {expect}}}"#
        )
    };
    Case::read(&case(r#"{"max_spread": 0}"#, "")).unwrap();
    for (expect, more, says) in [
        ("{}", "", "expects nothing"),
        (r#"{"note": "only words", "deterministic": true}"#, "", "expects nothing"),
        (r#"{"max_spred": 0}"#, "", "unknown expectation \"max_spred\""),
        (r#"{"first_round": {"must_hold": {}}}"#, "", "unknown key \"must_hold\""),
        (r#"{"each_partition_once": false}"#, "", "only true"),
        (r#"{"max_spread": 0}"#, r#""expects": {},"#, "unknown key \"expects\""),
    ] {
        let error = Case::read(&case(expect, more)).unwrap_err();
        assert!(error.contains(says), "{expect}: {error}");
    }
}
