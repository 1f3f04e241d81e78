//! Bad input: a clear error with line, field and remedy, exit status 2, nothing on standard output.

use std::fs;

use serde_json::Value;

use crate::support::{datasets, feed, files, stderr, stdout, tenure};

fn cases() -> Vec<Value> {
    let text = fs::read_to_string(datasets().join("cli/bad/cases.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

#[test]
fn each_bad_snapshot_is_refused_with_its_place_and_a_remedy() {
    let mut wrong = Vec::new();
    for case in cases() {
        let file = case["file"].as_str().unwrap();
        let path = datasets().join("cli/bad").join(file);
        let output = tenure(&["plan", path.to_str().unwrap()]).output().unwrap();
        let error = stderr(&output);
        let place = match case["field"].as_str().unwrap() {
            "" => String::new(),
            field => format!(", at {field}: "),
        };
        let parts = [
            format!("{file}, line {}, column ", case["line"]),
            place,
            case["message"].as_str().unwrap().to_string(),
            case["remedy"].as_str().unwrap().to_string(),
        ];
        let told = parts.iter().all(|part| error.contains(part.as_str()));
        if output.status.code() != Some(2) || !told || !stdout(&output).is_empty() {
            wrong.push(format!("{case}\n  status {:?}: {error}", output.status.code()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn each_bad_file_has_its_expectation_and_is_refused_by_json_too() {
    let cases = cases();
    for path in files("cli/bad", ".json") {
        let name = path.file_name().unwrap().to_str().unwrap();
        if name == "cases.json" {
            continue;
        }
        assert_eq!(cases.iter().filter(|case| case["file"] == name).count(), 1, "{name}");
        let output = feed(&["plan", "--json", "-"], fs::read(&path).unwrap());
        assert_eq!(output.status.code(), Some(2), "{name}");
        assert!(stderr(&output).starts_with("error: standard input, line "), "{name}: {}", stderr(&output));
        assert_eq!(stdout(&output), "", "{name}");
    }
}

#[test]
fn deep_nesting_does_not_overflow_the_stack() {
    let deep = "[".repeat(1_000_000);
    for text in [format!("{{\"members\": {deep}"), format!("{{\"topics\": {{\"a\": {deep}"), deep] {
        let output = feed(&["plan"], text);
        assert_eq!(output.status.code(), Some(2));
    }
}

#[test]
fn a_long_name_does_not_flood_the_terminal() {
    let name = "x".repeat(1 << 20);
    let output = feed(&["plan"], format!("{{\"topics\": {{\"{name}\": -1}}, \"members\": {{}}}}"));
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).len() < 1_000, "{}", stderr(&output).len());
}

#[test]
fn a_missing_file_is_named() {
    let output = tenure(&["plan", "no-such-file.json"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("no-such-file.json: cannot be read"), "{}", stderr(&output));
}

#[test]
fn of_several_files_the_good_ones_are_answered() {
    let good = datasets().join("cli/good/scale-out.json");
    let bad = datasets().join("cli/bad/cut-off.json");
    let (good, bad) = (good.to_str().unwrap(), bad.to_str().unwrap());
    let output = tenure(&["plan", "--json", good, bad, good]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let lines: Vec<Value> = stdout(&output).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 3);
    assert_eq!(lines[0], lines[2]);
    assert!(lines[1]["error"]["message"].as_str().unwrap().contains("cut-off.json, line 3"));
    assert!(stderr(&output).contains("cut-off.json, line 3"));
}

#[test]
fn bad_options_are_usage_errors() {
    for arguments in [
        &["plan", "--assignor", "best"][..],
        &["plan", "--mode", "fast"],
        &["plan", "--threads", "0"],
        &["plan", "--threads", "1000000000"],
        &["plan", "--max-partitions", "-1"],
        &["plan", "--objective", "none"],
        &["plna"],
    ] {
        let output = tenure(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(stdout(&output).is_empty());
    }
}

#[test]
fn the_partition_limit_can_be_raised_and_lowered() {
    let snapshot = r#"{"topics": {"t": 20000000}, "members": {}}"#;
    assert_eq!(feed(&["plan", "--json"], snapshot).status.code(), Some(2));
    let output = feed(&["plan", "--json", "--max-partitions", "20000000"], snapshot);
    assert_eq!(output.status.code(), Some(0));
    assert!(stdout(&output).contains(r#""unassigned":{"t":["0-19999999"]}"#));
    let snapshot = r#"{"topics": {"t": 3}, "members": {}}"#;
    assert_eq!(feed(&["plan", "--max-partitions", "2"], snapshot).status.code(), Some(2));
}
