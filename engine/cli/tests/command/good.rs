//! Good snapshots with their expected documents and tables, byte for byte.

use std::fs;

use serde_json::{Value, json};

use crate::support::{expand, feed, files, good, plan, tenure};

/// Compares with a committed file; TENURE_UPDATE=1 writes it.
fn matches(path: &std::path::Path, found: &str) {
    if std::env::var_os("TENURE_UPDATE").is_some() {
        fs::write(path, found).unwrap();
    }
    let expected = fs::read_to_string(path).unwrap_or_default();
    assert_eq!(found, expected, "if meant, run again with TENURE_UPDATE=1: {}", path.display());
}

#[test]
fn documents_and_tables_are_as_committed() {
    for path in files("cli/good", ".json") {
        if path.to_str().unwrap().ends_with(".result.json") {
            continue;
        }
        let file = path.to_str().unwrap();
        let document = tenure(&["plan", "--json", file]).output().unwrap();
        matches(&path.with_extension("result.json"), good(&document));
        let table = tenure(&["plan", file]).output().unwrap();
        matches(&path.with_extension("table.txt"), good(&table));
    }
}

#[test]
fn a_document_has_all_keys_in_order() {
    let snapshot = json!({"topics": {"t": 4, "z": 2}, "members": {"a": {"topics": ["t"], "owned": {"t": ["0-3"]}}, "b": {"topics": ["t"]}}});
    let output = feed(&["plan", "--json"], snapshot.to_string());
    assert_eq!(
        good(&output),
        concat!(
            r#"{"assignor":"cooperative-sticky","assignments":{"a":{"t":[0,1]},"b":{}},"#,
            r#""target":{"a":{"t":[0,1]},"b":{"t":[2,3]}},"withheld":{"t":[2,3]},"#,
            r#""revoke":{"a":{"t":[2,3]}},"rejoin":true,"unassigned":{"z":[0,1]},"#,
            r#""stats":{"partitions":6,"members":2,"load_min":2,"load_max":2,"sum_of_squares":8,"#,
            r#""moves":2,"rack_mismatches":0},"proof":{"balance":"optimal","moves":"optimal"}}"#,
            "\n"
        )
    );
}

#[test]
fn the_order_of_keys_in_the_file_does_not_matter() {
    let orders = [
        r#"{"assignor": "sticky", "topics": {"t": 4}, "members": {M}}"#,
        r#"{"topics": {"t": 4}, "assignor": "sticky", "members": {M}}"#,
        r#"{"topics": {"t": 4}, "members": {M}, "assignor": "sticky"}"#,
        r#"{"members": {M}, "topics": {"t": 4}, "assignor": "sticky"}"#,
        r#"{"members": {M}, "assignor": "sticky", "topics": {"t": 4}}"#,
        r#"{"assignor": "sticky", "members": {M}, "topics": {"t": 4}}"#,
    ];
    let members = r#""b": {"owned": {"t": ["0-3"]}, "topics": ["t"]}, "a": {"topics": ["t"]}"#;
    let answers = orders.map(|text| good(&feed(&["plan", "--json"], text.replace('M', members))).to_string());
    for answer in &answers {
        assert_eq!(*answer, answers[0]);
    }
    // Sticky members are eager: nothing is withheld.
    assert!(answers[0].contains(r#""withheld":{},"#), "{}", answers[0]);
}

#[test]
fn the_assignor_option_overrides_the_file_and_what_follows_from_it() {
    let snapshot = json!({"assignor": "sticky", "topics": {"t": 2}, "members": {
        "a": {"topics": ["t"], "owned": {"t": [0, 1]}}, "b": {"topics": ["t"]}}});
    assert_eq!(plan(&snapshot, &[])["withheld"], json!({}));
    let answer = plan(&snapshot, &["--assignor", "cooperative-sticky"]);
    assert_eq!(answer["assignor"], "cooperative-sticky");
    assert_eq!(answer["withheld"], json!({"t": [1]}));
    for name in ["range", "roundrobin"] {
        assert_eq!(plan(&snapshot, &["--assignor", name])["assignor"], name);
    }
}

#[test]
fn modes_differ_in_what_does_not_exist() {
    let snapshot = json!({"topics": {"t": 2}, "members": {
        "a": {"topics": ["t"], "owned": {"t": ["-3--2", 0, 5], "gone": [7, "0-3"]}}}});
    let shipped = plan(&snapshot, &[]);
    assert_eq!(shipped["assignments"], json!({"a": {"t": [0, 1]}}));
    assert_eq!(shipped["revoke"], json!({"a": {"gone": ["0-3", 7], "t": [-3, -2, 5]}}));
    assert_eq!(shipped["rejoin"], true);
    let draft = plan(&snapshot, &["--mode", "draft"]);
    assert_eq!(draft["assignments"], json!({"a": {"gone": ["0-3", 7], "t": [-3, -2, 0, 1, 5]}}));
    assert_eq!(draft["revoke"], json!({}));
    assert_eq!(draft["rejoin"], false);
}

#[test]
fn nulls_and_negative_generations_mean_unknown() {
    let member = |generation: Value| {
        json!({"assignor": null, "topics": {"t": {"partitions": 2, "racks": null}}, "members": {
            "a": {"topics": ["t"], "owned": {"t": [0, 1]}, "generation": generation, "rack": null,
                  "instance": null, "protocol": null},
            "b": {"topics": ["t"], "owned": {"t": [0, 1]}, "generation": 0, "rack": ""},
            "c": {"topics": ["t"], "owned": null}}})
    };
    let null = plan(&member(Value::Null), &[]);
    assert_eq!(null["target"]["b"], json!({"t": [0]}), "generation 0 is above none");
    assert_eq!(plan(&member(json!(-1)), &[]), null);
    assert_eq!(plan(&member(json!(-2147483648)), &[]), null);
}

#[test]
fn a_range_of_what_is_not_there_costs_nothing() {
    let snapshot = json!({"topics": {"t": 1}, "members": {
        "a": {"topics": ["t"], "owned": {"gone": ["0-2147483647"], "t": ["-2147483648-2147483647"]}}}});
    let answer = plan(&snapshot, &[]);
    assert_eq!(answer["assignments"], json!({"a": {"t": [0]}}));
    assert_eq!(answer["revoke"]["a"]["gone"], json!(["0-2147483647"]));
    assert_eq!(answer["revoke"]["a"]["t"], json!(["-2147483648--1", "1-2147483647"]));
}

#[test]
fn names_of_all_kinds_come_back_as_they_are() {
    let odd = "a\"b\\c\u{1}\u{7f}é\u{10000}\u{ff5e}\n";
    let snapshot =
        json!({"topics": {odd: 1, "": 1}, "members": {odd: {"topics": [odd, ""]}, "": {"topics": []}}});
    let answer = plan(&snapshot, &[]);
    assert_eq!(answer["assignments"], json!({odd: {odd: [0], "": [0]}, "": {}}));
}

#[test]
fn names_are_sorted_as_java_sorts_them() {
    // U+10000 is two surrogates in UTF-16, which sort before U+FF5E.
    let snapshot = json!({"topics": {"t\u{ff5e}": 1, "t\u{10000}": 1}, "members": {
        "\u{ff5e}": {"topics": []}, "\u{10000}": {"topics": ["t\u{ff5e}", "t\u{10000}"]}}});
    let output = feed(&["plan", "--json"], snapshot.to_string());
    let expected = "\"assignments\":{\"\u{10000}\":{\"t\u{10000}\":[0],\"t\u{ff5e}\":[0]},\"\u{ff5e}\":{}}";
    assert!(good(&output).contains(expected), "{}", good(&output));
}

#[test]
fn a_document_reads_as_a_snapshot_again() {
    let members: serde_json::Map<String, Value> =
        (0..7).map(|m| (format!("m{m}"), json!({"topics": ["a", "b"]}))).collect();
    let mut snapshot = json!({"topics": {"a": 50, "b": 13}, "members": members});
    let first = plan(&snapshot, &[]);
    for (member, owned) in first["assignments"].as_object().unwrap() {
        snapshot["members"][member]["owned"] = owned.clone();
    }
    let second = plan(&snapshot, &[]);
    assert_eq!(first["assignments"], second["assignments"]);
    assert_eq!(second["stats"]["moves"], 0);
    let all: usize = second["assignments"].as_object().unwrap().values().map(|o| expand(o).len()).sum();
    assert_eq!(all, 63);
}

#[test]
fn threads_do_not_change_the_answer() {
    let snapshot = json!({"topics": {"a": 50, "b": 13, "c": 7}, "members": {
        "x": {"topics": ["a", "b"]}, "y": {"topics": ["b", "c"]}, "z": {"topics": ["c"]}}});
    assert_eq!(plan(&snapshot, &["--threads", "1"]), plan(&snapshot, &["--threads", "4"]));
}
