//! The committed groups: the command reads each, and its plan is valid, proven, and what the README says.

use std::fs;
use std::path::{Path, PathBuf};

use tenure::plan::{Assignor, Config, Outcome, Verdict};
use tenure_bench::check::check;
use tenure_bench::measure::Bench;
use tenure_bench::workloads::{COMMITTED, EVENTS, Event, SHAPES, Shape};
use tenure_cli::snapshot::{Options, read};

const SEED: u64 = 429;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../datasets/workloads")
}

fn plan(file: &str) -> (usize, Outcome) {
    let bytes = fs::read(folder().join(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
    let snapshot = read(&bytes, &Options::default()).unwrap_or_else(|error| panic!("{file}: {error}"));
    let assignor = Assignor::new(Config::new().strategy(snapshot.strategy));
    let (plan, outcome) = assignor.assign(&snapshot.group).unwrap();
    if let Err(error) = check(&snapshot.group, &plan, &outcome) {
        panic!("{file}: {error}");
    }
    (plan.transfer_count(), outcome)
}

#[test]
fn every_file_is_listed_explained_and_proven() {
    let readme = fs::read_to_string(folder().join("README.md")).unwrap();
    let mut files: Vec<String> = fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".json"))
        .collect();
    files.sort();
    let mut listed: Vec<&str> = COMMITTED.iter().map(|kept| kept.file).collect();
    listed.sort_unstable();
    assert_eq!(files, listed, "datasets/workloads and the generator's list differ");
    for file in files {
        assert!(readme.contains(&format!("| `{file}` |")), "{file} has no line in the README");
        let (_, outcome) = plan(&file);
        assert_eq!(outcome.proof.balance, Verdict::Optimal, "{file}");
        assert_eq!(outcome.proof.moves, Verdict::Optimal, "{file}");
    }
}

#[test]
fn the_files_show_what_the_readme_says() {
    let stats = |file| {
        let (withheld, outcome) = plan(file);
        (outcome.stats.load_min, outcome.stats.load_max, outcome.stats.moves, withheld)
    };
    assert_eq!(stats("fresh.json"), (9, 9, 0, 0));
    assert_eq!(stats("steady.json"), (9, 9, 0, 0));
    assert_eq!(stats("one-leaves.json"), (12, 12, 0, 0));
    assert_eq!(stats("rolling-restart.json"), (9, 9, 0, 0));
    assert_eq!(stats("scale-out.json"), (6, 6, 12, 12));
    assert_eq!(stats("topics-grow.json"), (10, 11, 0, 0));
    assert_eq!(stats("deleted-topic.json"), (6, 6, 0, 0));
    assert_eq!(stats("stale-member.json"), (9, 9, 9, 9));
    let (_, stale) = plan("stale-member.json");
    assert_eq!(stale.findings.stale_claims, 9);
    let (_, deleted) = plan("deleted-topic.json");
    assert!(deleted.findings.foreign_claims > 0);
    let (_, racks) = plan("racks.json");
    assert_eq!(racks.stats.rack_mismatches, 0);
    assert_eq!(stats("different-subscriptions.json"), (4, 4, 5, 5));
}

#[test]
fn the_command_reads_every_shape_and_plans_it_as_the_library_does() {
    for shape in SHAPES {
        for racks in ["", "+racks3"] {
            let shape = Shape::find(&format!("{}{racks}", shape.name)).unwrap().small();
            let settled = shape.fresh(3).settled();
            for event in EVENTS {
                let workload = event.apply(&shape, &settled, 3);
                let mut bytes = Vec::new();
                workload.write_snapshot(&mut bytes).unwrap();
                let snapshot = read(&bytes, &Options::default())
                    .unwrap_or_else(|error| panic!("{}/{event}: {error}", shape.full_name()));
                let group = workload.group();
                assert_eq!(snapshot.group.shape(), group.shape());
                let (from_file, _) = Assignor::default().assign(&snapshot.group).unwrap();
                let (direct, _) = Assignor::default().assign(&group).unwrap();
                for member in group.member_indices() {
                    assert_eq!(snapshot.group.id(member), group.id(member));
                    assert_eq!(from_file.target(member), direct.target(member));
                }
            }
        }
    }
}

/// As `datasets/golden/sticky.jsonl`, for every named shape at its small size: a hash of the plan each.
#[test]
fn plans_of_the_named_shapes_are_what_they_were() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../datasets/golden/shapes.txt");
    let mut text = String::new();
    for shape in SHAPES {
        for racks in ["", "+racks3", "+racks5"] {
            let shape = Shape::find(&format!("{}{racks}", shape.name)).unwrap().small();
            let settled = shape.fresh(SEED).settled();
            for event in Event::ALL {
                let group = event.apply(&shape, &settled, SEED).group();
                let name = format!("{}/{event}", shape.full_name());
                let bench = Bench::new(group, Assignor::default()).unwrap_or_else(|e| panic!("{name}: {e}"));
                text.push_str(&format!("{:016x} {name}\n", bench.plan_hash()));
            }
        }
    }
    if std::env::var_os("TENURE_UPDATE").is_some() {
        fs::write(&path, text).unwrap();
        return;
    }
    let golden = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let changed: Vec<&str> =
        text.lines().filter(|line| !golden.lines().any(|golden| golden == *line)).collect();
    assert!(
        changed.is_empty() && golden.lines().count() == text.lines().count(),
        "plans changed; if that is meant, run again with TENURE_UPDATE=1 and say so in CHANGELOG.md under \
         Plans: {changed:#?}"
    );
}
