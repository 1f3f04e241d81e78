//! `tenure verify`: plans of our own, of others, and planted faults.

use core::sync::atomic::{AtomicU32, Ordering};
use std::fs;
use std::path::PathBuf;
use std::process::Output;

use serde_json::{Value, json};

use crate::support::{feed, files, plan, stderr, stdout};

static NUMBER: AtomicU32 = AtomicU32::new(0);

/// A file that is gone after the test.
struct File(PathBuf);

impl File {
    fn new(text: &str) -> Self {
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("tenure-verify-{}-{number}", std::process::id()));
        fs::write(&path, text).unwrap();
        Self(path)
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

fn verify(snapshot: &Value, plan: &Value, options: &[&str]) -> Output {
    let file = File::new(&snapshot.to_string());
    let arguments = [&["verify", file.0.to_str().unwrap(), "-"], options].concat();
    feed(&arguments, plan.to_string())
}

fn document(snapshot: &Value, plan: &Value) -> (i32, Value) {
    let output = verify(snapshot, plan, &["--json"]);
    let document = serde_json::from_str(stdout(&output)).unwrap_or_else(|_| panic!("{}", stderr(&output)));
    (output.status.code().unwrap(), document)
}

fn group() -> Value {
    json!({"topics": {"a": 4, "b": 2}, "members": {
        "x": {"topics": ["a", "b"], "owned": {"a": [0, 1], "b": [0]}, "generation": 3},
        "y": {"topics": ["a"], "owned": {"a": [2, 3]}, "generation": 3},
        "z": {"topics": ["b"], "generation": 3}}})
}

#[test]
fn our_own_plans_are_the_best_in_every_case() {
    for path in files("cases/assignment", ".json") {
        let case: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        let mut snapshot = case["snapshot"].clone();
        if ["range", "roundrobin"].contains(&snapshot["assignor"].as_str().unwrap_or("")) {
            snapshot["assignor"] = json!("sticky");
        }
        let (status, document) = document(&snapshot, &plan(&snapshot, &[]));
        assert_eq!(document["faults"], json!([]), "{}", path.display());
        assert_eq!(document["proven"], true, "{}", path.display());
        assert_eq!((status, &document["optimal"]), (0, &json!(true)), "{}: {document}", path.display());
    }
}

#[test]
fn planted_faults_are_found() {
    let good = json!({"x": {"a": [0, 1]}, "y": {"a": [2, 3]}, "z": {"b": [0, 1]}});
    assert_eq!(document(&group(), &good).0, 0);
    for (planted, told) in [
        (json!({"x": {"a": [0]}, "y": {"a": [2, 3]}, "z": {"b": [0, 1]}}), "a-1 is given to nobody"),
        (
            json!({"x": {"a": [0, 1]}, "y": {"a": [1, 2, 3]}, "z": {"b": [0, 1]}}),
            r#"a-1 is given to "x" and to "y""#,
        ),
        (
            json!({"x": {"a": [0, 1, 1]}, "y": {"a": [2, 3]}, "z": {"b": [0, 1]}}),
            r#"a-1 is given twice to "x""#,
        ),
        (
            json!({"x": {"a": [0]}, "y": {"a": [2, 3]}, "z": {"a": [1], "b": [0, 1]}}),
            r#"does not subscribe to "a""#,
        ),
        (
            json!({"x": {"a": [0, 1, 7]}, "y": {"a": [2, 3]}, "z": {"b": [0, 1]}}),
            "a-7, given to \"x\", does not exist",
        ),
        (
            json!({"x": {"a": ["0-1"]}, "y": {"a": ["2-2147483647"]}, "z": {"b": [0, 1]}}),
            "a-4, given to \"y\"",
        ),
        (
            json!({"x": {"a": [0, 1]}, "y": {"a": [2, 3]}, "w": {"b": [0, 1]}}),
            r#"member "w" is not in the group"#,
        ),
        (
            json!({"x": {"a": [0, 1]}, "y": {"a": [2, 3]}, "z": {"b": [0, 1], "c": [0]}}),
            "c-0, given to \"z\"",
        ),
    ] {
        let (status, document) = document(&group(), &planted);
        assert_eq!(status, 1, "{planted}");
        assert_eq!((&document["valid"], &document["optimal"]), (&json!(false), &json!(false)), "{planted}");
        assert!(document["faults"].to_string().contains(&told.replace('"', "\\\"")), "{told}: {document}");
        let words = verify(&group(), &planted, &[]);
        assert!(
            stdout(&words).starts_with("valid    no: ") && stdout(&words).contains(told),
            "{}",
            stdout(&words)
        );
    }
}

#[test]
fn distances_are_told() {
    // One too many at x: loads 3 2 1 where 2 2 2 is possible.
    let uneven = json!({"x": {"a": [0, 1], "b": [0]}, "y": {"a": [2, 3]}, "z": {"b": [1]}});
    let (status, found) = document(&group(), &uneven);
    assert_eq!((status, &found["valid"], &found["balanced"]), (1, &json!(true), &json!(false)));
    assert_eq!(
        (&found["plan"]["sum_of_squares"], &found["best"]["sum_of_squares"]),
        (&json!(14), &json!(12))
    );
    assert_eq!((&found["moves_too_many"], &found["proven"]), (&json!(-1), &json!(true)));
    // Even, but x and y exchange a partition: two moves too many.
    let moved = json!({"x": {"a": [0, 2]}, "y": {"a": [1, 3]}, "z": {"b": [0, 1]}});
    let (status, found) = document(&group(), &moved);
    assert_eq!((status, &found["balanced"], &found["moves_too_many"]), (1, &json!(true), &json!(2)));
    let words = verify(&group(), &moved, &["--require", "valid"]);
    assert_eq!(words.status.code(), Some(0));
    assert!(stdout(&words).contains("3 moves, 2 more than the best plans need"), "{}", stdout(&words));
    // Another plan that is as good passes: which of its partitions x keeps is all one.
    let mut group = group();
    group["members"]["x"]["owned"] = json!({});
    for other in [[0, 1], [1, 0]] {
        let plan = json!({"x": {"a": other}, "y": {"a": [2, 3]}, "z": {"b": [0, 1]}});
        assert_eq!(document(&group, &plan).0, 0);
    }
}

#[test]
fn a_round_that_hands_over_too_soon_is_invalid() {
    let snapshot = json!({"topics": {"t": 2}, "members": {
        "a": {"topics": ["t"], "owned": {"t": [0, 1]}, "generation": 1}, "b": {"topics": ["t"]}}});
    let mut round = plan(&snapshot, &[]);
    assert_eq!(document(&snapshot, &round).0, 0);
    round["assignments"]["b"] = json!({"t": [1]});
    let (status, found) = document(&snapshot, &round);
    assert_eq!(status, 1);
    assert!(found["faults"][0].as_str().unwrap().contains("while \"a\" still holds it"), "{found}");
    // An eager holder has given everything up before.
    let mut eager = snapshot;
    eager["members"]["a"]["protocol"] = json!("eager");
    assert_eq!(document(&eager, &round).0, 0);
}

#[test]
fn racks_count_as_the_objective_says() {
    let snapshot = json!({
        "topics": {"t": {"partitions": 2, "racks": [["r0"], ["r1"]]}},
        "members": {
            "a": {"topics": ["t"], "rack": "r1", "owned": {"t": [0]}, "generation": 1},
            "b": {"topics": ["t"], "rack": "r0", "owned": {"t": [1]}, "generation": 1}}});
    let stays = json!({"a": {"t": [0]}, "b": {"t": [1]}});
    let swaps = json!({"a": {"t": [1]}, "b": {"t": [0]}});
    let status =
        |plan: &Value, objective: &str| verify(&snapshot, plan, &["--objective", objective]).status.code();
    assert_eq!((status(&stays, "rack-first"), status(&swaps, "rack-first")), (Some(1), Some(0)));
    assert_eq!((status(&stays, "moves-first"), status(&swaps, "moves-first")), (Some(0), Some(1)));
}

#[test]
fn a_print_is_a_plan_too() {
    let snapshot =
        json!({"topics": {"t": 2}, "members": {"c 1-x": {"topics": ["t"]}, "d": {"topics": ["t"]}}});
    let print = "\
GROUP  TOPIC  PARTITION  CURRENT-OFFSET  LOG-END-OFFSET  LAG  CONSUMER-ID  HOST  CLIENT-ID
g      t      0          1               1               0    c 1-x        /h    c 1
g      t      1          1               1               0    d            /h    d
";
    let file = File::new(&snapshot.to_string());
    let output = feed(&["verify", file.0.to_str().unwrap(), "-"], print);
    assert_eq!(output.status.code(), Some(0), "{}{}", stdout(&output), stderr(&output));
}

#[test]
fn bad_plans_are_bad_input() {
    for (text, told) in [
        ("[]", "neither"),
        ("{\"x\": [0]}", "line 1, column 7, at \"x\": a list is wrong here"),
        ("{\"target\": {\"x\": {\"a\": 3}}}", "at target.\"x\".\"a\": the number 3 is wrong here"),
        ("{\"target\": {}, \"target\": {}}", "the key \"target\" is given twice"),
        ("{\"x\": {\"a\": [\"3-1\"]}}", "runs backwards"),
        ("{", "ends too early"),
    ] {
        let file = File::new(&group().to_string());
        let output = feed(&["verify", file.0.to_str().unwrap(), "-"], text);
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert!(stderr(&output).contains(told), "{text}: {}", stderr(&output));
    }
    let output = feed(&["verify", "-", "-"], "");
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn a_member_may_be_called_target() {
    let snapshot =
        json!({"topics": {"t": 2}, "members": {"target": {"topics": ["t"]}, "x": {"topics": ["t"]}}});
    assert_eq!(document(&snapshot, &json!({"target": {"t": [0]}, "x": {"t": [1]}})).0, 0);
}
