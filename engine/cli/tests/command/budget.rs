//! `tenure budget`: the answer's form, the limits and the exit status. The figures themselves are held against real
//! bytes in `bench/tests/budget.rs`.

use serde_json::{Value, json};

use crate::support::{datasets, feed, good, stderr, stdout, tenure};

fn steady() -> String {
    datasets().join("workloads/steady.json").to_str().unwrap().to_string()
}

fn budget(arguments: &[&str]) -> Value {
    let file = steady();
    let output = tenure(&[&["budget", "--json", &file], arguments].concat()).output().unwrap();
    assert!(matches!(output.status.code(), Some(0 | 1)), "{}", stderr(&output));
    serde_json::from_str(stdout(&output)).unwrap()
}

#[test]
fn the_document_has_what_the_format_promises() {
    let document = budget(&[]);
    for key in [
        "join_response_bytes",
        "sync_request_bytes",
        "group_record_bytes",
        "limit_bytes",
        "plan_ns",
        "round_ns",
    ] {
        assert!(document[key].as_u64().unwrap() > 0, "{key}");
    }
    for key in ["subscription_bytes", "assignment_bytes"] {
        let (max, total) = (document[key]["max"].as_u64().unwrap(), document[key]["total"].as_u64().unwrap());
        assert!(0 < max && max < total, "{key}");
    }
    assert_eq!(document["allocations"], 0, "a warm round asks for no memory");
    assert_eq!((&document["fits"], &document["settled"]["fits"]), (&json!(true), &json!(true)));
    assert_eq!(document["limit_bytes"], 1_048_588);
    assert_eq!(document["formats"].as_array().unwrap().len(), 24);
    assert!(document.get("member_bytes").is_none());
    let unmeasured = budget(&["--no-measure", "--members"]);
    assert_eq!((&unmeasured["plan_ns"], &unmeasured["allocations"]), (&Value::Null, &Value::Null));
    let members = unmeasured["member_bytes"].as_array().unwrap();
    assert_eq!(members.len(), unmeasured["members"]);
    assert_eq!(members[0]["subscriptions"].as_array().unwrap().len(), 24);
}

#[test]
fn each_limit_is_held_and_breaks_where_it_says() {
    let settled = budget(&["--no-measure"])["settled"]["limits"].clone();
    let options = [
        ("group-record", "--message-max-bytes"),
        ("group-record", "--offsets-max-message-bytes"),
        ("sync-request", "--socket-request-max-bytes"),
        ("join-response", "--receive-message-max-bytes"),
        ("members", "--group-max-size"),
    ];
    for (subject, option) in options {
        let find = |limits: &Value| -> Value {
            limits.as_array().unwrap().iter().find(|limit| limit["subject"] == subject).unwrap().clone()
        };
        let size = find(&settled)["size"].as_u64().unwrap();
        for (limit, fits) in [(size, true), (size - 1, false)] {
            let document = budget(&["--no-measure", option, &limit.to_string()]);
            let held = find(&document["settled"]["limits"]);
            let headroom = limit as i64 - size as i64;
            assert_eq!((&held["fits"], &held["headroom"]), (&json!(fits), &json!(headroom)), "{option}");
            assert_eq!(document["settled"]["fits"], fits, "{option}");
            let members = document["members"].as_u64().unwrap();
            let breaks = held["breaks_at_members"].as_u64().unwrap();
            assert_eq!(breaks > members, fits, "{option}: breaks at {breaks}");
        }
    }
}

#[test]
fn the_topics_limit_wins_over_the_brokers() {
    let document =
        budget(&["--no-measure", "--message-max-bytes", "1", "--offsets-max-message-bytes", "2000000"]);
    assert_eq!((&document["limit_bytes"], &document["fits"]), (&json!(2_000_000), &json!(true)));
}

#[test]
fn a_group_that_does_not_fit_is_a_no_with_remedies() {
    let file = steady();
    let output = tenure(&["budget", &file, "--message-max-bytes", "1000"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let text = stdout(&output);
    for said in [
        "does not fit",
        "fewer topics",
        "groups, topics and members split",
        "compact user data",
        "KIP-848",
        "max.message.bytes",
    ] {
        assert!(text.contains(said), "{said}: {text}");
    }
    assert!(!text.contains('\u{1b}'));
    let fine = tenure(&["budget", &file]).output().unwrap();
    let rows =
        |output: &std::process::Output| good(output).lines().filter(|line| line.ends_with("  yes")).count();
    let all = tenure(&["budget", "--versions", &file]).output().unwrap();
    assert_eq!((rows(&fine), rows(&all)), (6, 24));
    assert!(good(&fine).contains("verdict    fits"), "{}", stdout(&fine));
}

#[test]
fn names_that_the_group_does_not_know_count() {
    let bytes = |arguments: &[&str]| {
        let arguments = [&["--no-measure"], arguments].concat();
        budget(&arguments)["group_record_bytes"].as_u64().unwrap()
    };
    let members = budget(&["--no-measure"])["members"].as_u64().unwrap();
    assert_eq!(bytes(&["--client-id", "abcd"]) - bytes(&["--client-id", "abc"]), members);
    assert_eq!(bytes(&["--client-host", "/10.0.0.12"]) - bytes(&["--client-host", "/10.0.0.1"]), members);
    let group = |name| budget(&["--no-measure", "--group", name])["group_batch_bytes"].as_u64().unwrap();
    assert_eq!(group("abcd") - group("abc"), 1);
}

#[test]
fn odd_groups_have_a_budget_too() {
    let empty = feed(&["budget", "--json"], r#"{"topics": {}, "members": {}}"#);
    let document: Value = serde_json::from_str(good(&empty)).unwrap();
    assert_eq!((&document["members"], &document["plan_ns"]), (&json!(0), &Value::Null));
    // A claim of two billion partitions that do not exist is a few bytes here, and no memory.
    let absurd =
        r#"{"topics": {"t": 1}, "members": {"a": {"topics": ["t"], "owned": {"gone": ["0-2147483646"]}}}}"#;
    let output = feed(&["budget", "--json"], absurd);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let document: Value = serde_json::from_str(stdout(&output)).unwrap();
    assert!(document["subscription_bytes"]["max"].as_u64().unwrap() > 8_000_000_000);
    assert_eq!(document["plan_ns"], Value::Null);
    let draft = feed(&["budget", "--mode", "draft"], r#"{"topics": {}, "members": {}}"#);
    assert_eq!(draft.status.code(), Some(2));
    assert!(stderr(&draft).contains("leave out --mode draft"));
}

#[test]
fn several_groups_are_answered_one_a_line() {
    let file = steady();
    let output =
        tenure(&["budget", "--json", "--no-measure", &file, "no-such-file", &file]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let lines: Vec<Value> = stdout(&output).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 3);
    assert_eq!(lines[0], lines[2]);
    assert!(lines[1]["error"]["message"].as_str().unwrap().contains("no-such-file"));
}
