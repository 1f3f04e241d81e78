//! Golden plans of our own: the sticky planner gives the groups of `datasets/golden` the plans that it gave before.
//!
//! In a rolling deployment two versions take turns as leader, so a plan that changes from one version to the next
//! moves partitions for nothing. A change that is meant is written by
//!
//! ```text
//! TENURE_UPDATE=1 cargo test -p tenure --test suite golden_sticky
//! ```
//!
//! and belongs in CHANGELOG.md under Plans.

use core::fmt::Write as _;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};
use tenure::Protocol;
use tenure::plan::{Assignor, Config, Plan, Scratch, Strategy};

use crate::support::snapshot::Snapshot;

fn datasets() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../datasets")
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The groups that the Java classes were asked about, and the small ones for people, by name.
fn snapshots() -> Vec<(String, Snapshot)> {
    let mut all = Vec::new();
    for file in ["range.jsonl", "roundrobin.jsonl"] {
        for line in read(&datasets().join("golden").join(file)).lines() {
            let mut line: Value = serde_json::from_str(line).expect("a line of JSON");
            let name = line["name"].as_str().expect("a name").to_owned();
            // The same members, as they behave under our assignor.
            line["snapshot"]["assignor"] = Strategy::CooperativeSticky.name().into();
            all.push((
                name.clone(),
                Snapshot::read(&line["snapshot"]).unwrap_or_else(|e| panic!("{name}: {e}")),
            ));
        }
    }
    let folder = std::fs::read_dir(datasets().join("workloads")).expect("datasets/workloads");
    let mut files: Vec<PathBuf> = folder.map(|entry| entry.expect("an entry").path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    files.sort();
    for path in files {
        let name = format!("workloads/{}", path.file_name().expect("a name").display());
        let value: Value = serde_json::from_str(&read(&path)).expect("JSON");
        all.push((name.clone(), Snapshot::read(&value).unwrap_or_else(|e| panic!("{name}: {e}"))));
    }
    all
}

/// The plan as a line: every member, its topics, its partitions.
fn plan_line(name: &str, snapshot: &Snapshot, seed: u64, scratch: &mut Scratch, plan: &mut Plan) -> String {
    let group = snapshot.group(seed);
    assert!(group.member_indices().all(|m| group.protocol(m) == Protocol::Cooperative), "{name}");
    scratch.reset(group.shape());
    plan.reset(group.shape());
    Assignor::new(Config::new()).assign_into(&group, scratch, plan).expect("the shapes fit");
    let topology = group.topology();
    let mut members = Map::new();
    for member in group.member_indices() {
        let mut topics = Map::new();
        for &partition in plan.target(member) {
            let topic = topology.name(topology.topic_of(partition));
            let list = topics.entry(topic).or_insert_with(|| Value::Array(Vec::new()));
            list.as_array_mut().expect("a list").push(topology.number(partition).into());
        }
        members.insert(group.id(member).to_owned(), topics.into());
    }
    let line: BTreeMap<&str, Value> = [("name", name.into()), ("target", members.into())].into();
    serde_json::to_string(&line).expect("JSON")
}

#[test]
fn plans_are_what_they_were() {
    let path = datasets().join("golden/sticky.jsonl");
    let snapshots = snapshots();
    assert!(snapshots.len() >= 790, "all groups are there: {}", snapshots.len());
    let (mut scratch, mut plan) = (Scratch::default(), Plan::default());
    let mut text = String::new();
    for (name, snapshot) in &snapshots {
        let line = plan_line(name, snapshot, 0, &mut scratch, &mut plan);
        let shuffled = plan_line(name, snapshot, 1, &mut scratch, &mut plan);
        assert_eq!(line, shuffled, "{name}: the order of names in the input counts");
        writeln!(text, "{line}").expect("memory");
    }
    if std::env::var_os("TENURE_UPDATE").is_some() {
        std::fs::write(&path, text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        return;
    }
    let golden = read(&path);
    assert_eq!(golden.lines().count(), snapshots.len(), "a plan for each group");
    let mut changed = golden.lines().zip(text.lines()).filter(|(before, now)| before != now);
    if let Some((before, now)) = changed.next() {
        let more = changed.count();
        panic!(
            "a plan changed, and {more} more: if that is meant, run again with TENURE_UPDATE=1 and say so in \
             CHANGELOG.md under Plans\n  before {before}\n  now    {now}"
        );
    }
}
