//! Every case of `datasets/cases/assignment` through the command, round after round: what it prints is what
//! the library answers, which the library's own tests judge.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;

use serde_json::{Value, json};
use tenure::plan::{Assignor, Config};

use crate::rules::answer::{Answer, Owned, Partition};
use crate::rules::course;
use crate::rules::snapshot::Snapshot;
use crate::support::{expand, files, ranges, start, tenure};

/// What the command says, in the judge's terms.
fn read(answer: &Value) -> (Owned, Owned, BTreeSet<Partition>, bool) {
    let owned = |value: &Value| -> Owned {
        let members = value.as_object().unwrap();
        members.iter().map(|(id, owned)| (id.clone(), partitions(owned))).collect()
    };
    let withheld = partitions(&answer["withheld"]).into_iter().collect();
    let rejoin = answer["rejoin"].as_bool().unwrap();
    (owned(&answer["assignments"]), owned(&answer["target"]), withheld, rejoin)
}

fn partitions(owned: &Value) -> Vec<Partition> {
    expand(owned).into_iter().map(|(topic, number)| (topic, i32::try_from(number).unwrap())).collect()
}

fn assert_same(name: &str, snapshot: &Snapshot, expected: &Answer, found: &Value) {
    let (given, target, withheld, rejoin) = read(found);
    assert_eq!(sorted(&given), sorted(&expected.given), "{name}: assignments");
    assert_eq!(sorted(&target), sorted(&expected.target), "{name}: target");
    assert_eq!(withheld, expected.withheld, "{name}: withheld");
    assert_eq!(rejoin, expected.rejoin, "{name}: rejoin");
    for (id, member) in &snapshot.members {
        let listed = found["revoke"].get(id).map(ranges).unwrap_or_default();
        let mut expected = Vec::new();
        for (topic, from, to) in &member.owned {
            // What is claimed and not given: the gaps between what is given.
            let mut next = i64::from(*from);
            let kept =
                given[id].iter().filter(|(name, number)| name == topic && from <= number && number <= to);
            for number in kept.map(|(_, number)| i64::from(*number)).chain([i64::from(*to) + 1]) {
                if next < number {
                    expected.push((topic.clone(), next, number - 1));
                }
                next = number + 1;
            }
        }
        assert_eq!(joined(listed), joined(expected), "{name}: revoke of {id}");
    }
}

/// The map that JSON is read into has the order of bytes, the engine that of UTF-16.
fn sorted(owned: &Owned) -> Owned {
    let mut owned = owned.clone();
    owned.values_mut().for_each(|list| list.sort());
    owned
}

/// Ranges sorted, and one where they overlap or touch.
fn joined(mut ranges: Vec<(String, i64, i64)>) -> Vec<(String, i64, i64)> {
    ranges.sort();
    let mut joined: Vec<(String, i64, i64)> = Vec::new();
    for (topic, from, to) in ranges {
        match joined.last_mut() {
            Some(last) if last.0 == topic && from <= last.2 + 1 => last.2 = last.2.max(to),
            _ => joined.push((topic, from, to)),
        }
    }
    joined
}

/// The next round's snapshot: every member owns what it was given, at a higher generation.
fn advance(snapshot: &mut Value, answer: &Value) {
    let members = snapshot["members"].as_object_mut().unwrap();
    let top = members.values().filter_map(|member| member["generation"].as_i64()).max().unwrap_or(-1);
    for (id, member) in members {
        member["owned"] = answer["assignments"][id].clone();
        member["generation"] = json!(top + 1);
    }
}

fn case(path: &Path) -> Value {
    let case: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    case["snapshot"].clone()
}

#[test]
fn each_case_is_answered_as_by_the_library() {
    let mut child = start(&["plan", "--lines"]);
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    for path in files("cases/assignment", ".json") {
        let name = path.file_stem().unwrap().to_str().unwrap();
        let mut now = case(&path);
        let snapshot = Snapshot::read(&now).unwrap();
        let assignor = Assignor::new(Config::new().strategy(snapshot.strategy));
        let course = course::run(&snapshot, 0, &mut |group| assignor.assign(group).unwrap()).unwrap();
        for (asked, expected) in course.snapshots.iter().zip(&course.answers) {
            writeln!(stdin, "{now}").unwrap();
            let mut line = String::new();
            stdout.read_line(&mut line).unwrap();
            let answer: Value = serde_json::from_str(&line).unwrap();
            assert_same(name, asked, expected, &answer);
            advance(&mut now, &answer);
        }
    }
    drop(stdin);
    assert!(child.wait().unwrap().success());
}

/// Members and keys the other way round.
fn reversed(value: &Value) -> String {
    match value {
        Value::Object(map) => {
            let entries: Vec<String> =
                map.iter().rev().map(|(key, value)| format!("{}:{}", json!(key), reversed(value))).collect();
            format!("{{{}}}", entries.join(","))
        }
        other => other.to_string(),
    }
}

#[test]
fn the_order_of_everything_in_a_case_does_not_matter() {
    let mut lines = String::new();
    let paths = files("cases/assignment", ".json");
    for path in &paths {
        let snapshot = case(path);
        lines.push_str(&format!("{snapshot}\n{}\n", reversed(&snapshot)));
    }
    let output = crate::support::feed(&["plan", "--lines"], lines);
    let answers: Vec<&str> = crate::support::good(&output).lines().collect();
    assert_eq!(answers.len(), 2 * paths.len());
    for (pair, path) in answers.chunks(2).zip(&paths) {
        assert_eq!(pair[0], pair[1], "{}", path.display());
    }
}

#[test]
fn a_case_file_is_no_snapshot_and_says_so() {
    let path = &files("cases/assignment", ".json")[0];
    let output = tenure(&["plan", path.to_str().unwrap()]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(crate::support::stderr(&output).contains("unknown key \"id\""));
}

#[test]
fn figures_follow_from_the_plan() {
    for path in files("cases/assignment", ".json") {
        let snapshot = case(&path);
        let answer = crate::support::plan(&snapshot, &[]);
        let loads: BTreeMap<&String, usize> = answer["target"]
            .as_object()
            .unwrap()
            .iter()
            .map(|(id, owned)| (id, expand(owned).len()))
            .collect();
        let stats = &answer["stats"];
        assert_eq!(stats["members"], loads.len(), "{}", path.display());
        assert_eq!(stats["load_max"], loads.values().copied().max().unwrap_or(0), "{}", path.display());
        let squares: usize = loads.values().map(|load| load * load).sum();
        assert_eq!(stats["sum_of_squares"], squares, "{}", path.display());
        let all = loads.values().sum::<usize>() + expand(&answer["unassigned"]).len();
        assert_eq!(stats["partitions"], all, "{}", path.display());
    }
}
