//! `tenure explain`: each reason in a group that is made for it, and all partitions of all cases.

use std::fs;

use serde_json::{Value, json};

use crate::support::{expand, feed, files, good, plan, stderr};

fn explain(snapshot: &Value, options: &[&str]) -> Value {
    let arguments = [&["explain", "-", "--json"], options].concat();
    serde_json::from_str(good(&feed(&arguments, snapshot.to_string()))).unwrap()
}

fn partition(snapshot: &Value, name: &str) -> Value {
    explain(snapshot, &["--partition", name])
}

/// Course, reason, owner before, owner after.
fn course(facts: &Value) -> (String, Value, Value, Value) {
    let field = |key: &str| facts[key].clone();
    (facts["course"].as_str().unwrap().to_string(), field("reason"), field("before"), field("after"))
}

fn group() -> Value {
    json!({"topics": {"orders": 8, "clicks": 2, "audit": 3}, "members": {
        "a": {"topics": ["orders", "clicks"], "owned": {"orders": ["0-6"], "clicks": [0, 1]}, "generation": 5},
        "b": {"topics": ["orders"], "owned": {"orders": [7]}, "generation": 5},
        "c": {"topics": ["clicks"], "generation": 5},
        "d": {"topics": ["orders"], "owned": {"orders": [7]}, "generation": 3},
        "e": {"topics": []}}})
}

#[test]
fn who_has_too_many_gives_up() {
    let facts = partition(&group(), "clicks-0");
    assert_eq!(course(&facts), ("moves".into(), json!("too_many"), json!("a"), json!("c")));
    assert_eq!(facts["withheld"], true);
    let words = facts["sentences"].to_string();
    assert!(
        words.contains("owned 9 partitions") && words.contains("at least 6 partitions had to leave"),
        "{words}"
    );
}

#[test]
fn a_stale_claim_does_not_count() {
    let facts = partition(&group(), "orders-7");
    assert_eq!(course(&facts), ("stays".into(), Value::Null, json!("b"), json!("b")));
    assert_eq!(facts["claimants"], 2);
    assert!(facts["sentences"].to_string().contains("only this one in the highest generation (5)"));
}

#[test]
fn what_nobody_reads_says_so() {
    let facts = partition(&group(), "audit-2");
    assert_eq!(course(&facts), ("unassigned".into(), Value::Null, Value::Null, Value::Null));
    assert!(facts["sentences"].to_string().contains("Nobody subscribes"));
}

#[test]
fn a_topic_goes_to_those_who_have_less() {
    let snapshot = json!({"topics": {"big": 9, "small": 2}, "members": {
        "a": {"topics": ["big", "small"], "owned": {"big": ["0-8"], "small": [0, 1]}},
        "b": {"topics": ["small"]}}});
    let facts = partition(&snapshot, "small-1");
    assert_eq!(course(&facts), ("moves".into(), json!("needed_further_down"), json!("a"), json!("b")));
    assert!(facts["sentences"].to_string().contains("they get all of"), "{facts}");
    let member = explain(&snapshot, &["--member", "a"]);
    assert_eq!((&member["load"], &member["block"]["level"]), (&json!(9), &json!(9)));
    assert!(member["sentences"].to_string().contains("members with less to read do too"), "{member}");
    let blocks = &explain(&snapshot, &[])["blocks"];
    assert_eq!((&blocks[0]["level"], &blocks[1]["level"]), (&json!(9), &json!(2)));
    assert_eq!(blocks[1]["topics"], json!(["small"]));
}

#[test]
fn racks_disputes_and_desertion_are_told() {
    let rack = json!({
        "topics": {"t": {"partitions": 2, "racks": [["r0"], ["r1"]]}},
        "members": {
            "a": {"topics": ["t"], "rack": "r1", "owned": {"t": [0]}},
            "b": {"topics": ["t"], "rack": "r0", "owned": {"t": [1]}}}});
    assert_eq!(partition(&rack, "t-0")["reason"], "rack");
    let claims = json!({"topics": {"t": 2, "u": 1}, "members": {
        "a": {"topics": ["t", "u"], "owned": {"t": [0]}}, "b": {"topics": ["t"], "owned": {"t": [0], "u": [0]}}}});
    let disputed = partition(&claims, "t-0");
    assert_eq!((course(&disputed).0, &disputed["withheld"]), ("free".into(), &json!(true)));
    assert!(disputed["sentences"].to_string().contains("in the same generation"));
    let deserted = partition(&claims, "u-0");
    assert_eq!(course(&deserted).3, json!("a"));
    assert!(deserted["sentences"].to_string().contains("does not subscribe to"));
}

#[test]
fn assignors_that_deal_have_no_blocks() {
    let mut snapshot = group();
    snapshot["assignor"] = json!("roundrobin");
    let all = explain(&snapshot, &[]);
    assert_eq!(all["blocks"], json!([]));
    assert!(all["moves"].as_array().unwrap().iter().all(|facts| facts["reason"] == "dealt"));
    assert!(explain(&snapshot, &["--member", "a"])["block"].is_null());
}

#[test]
fn members_know_their_block_and_topics() {
    let facts = explain(&group(), &["--member", "c"]);
    assert_eq!((&facts["load"], &facts["now"], &facts["owned"]), (&json!(2), &json!(0), &json!(0)));
    let block = &facts["block"];
    assert_eq!(
        (&block["level"], &block["members"], &block["partitions"]),
        (&json!(3), &json!(4), &json!(10))
    );
    assert_eq!(
        facts["topics"],
        json!([{"topic": "clicks", "partitions": 2, "here": 2, "subscribers": 2, "open": true}])
    );
    let idle = explain(&group(), &["--member", "e"]);
    assert_eq!((&idle["load"], &idle["block"]), (&json!(0), &Value::Null));
}

#[test]
fn every_case_is_explained_as_it_is_planned() {
    for path in files("cases/assignment", ".json") {
        let case: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        let snapshot = &case["snapshot"];
        let planned = plan(snapshot, &[]);
        let all = explain(snapshot, &[]);
        let moves = all["moves"].as_array().unwrap();
        assert_eq!(json!(moves.len()), planned["stats"]["moves"], "{}", path.display());
        for facts in moves {
            assert!(facts["reason"].is_string() && facts["before"] != facts["after"], "{facts}");
            let (topic, number) = facts["partition"].as_str().unwrap().rsplit_once('-').unwrap();
            let owner = &planned["target"][facts["after"].as_str().unwrap()];
            assert!(expand(owner).contains(&(topic.to_string(), number.parse().unwrap())), "{facts}");
        }
        for block in all["blocks"].as_array().unwrap() {
            let number = |key: &str| block[key].as_u64().unwrap();
            let (level, members, at) = (number("level"), number("members"), number("at_level"));
            assert_eq!(
                number("partitions"),
                members * level.saturating_sub(1) + at.min(level * members),
                "{block}"
            );
        }
    }
}

#[test]
fn words_are_for_people() {
    let output = feed(&["explain", "-"], group().to_string());
    let text = good(&output);
    assert!(text.contains("clicks-0  a -> c  too many"), "{text}");
    let output = feed(&["explain", "-", "--partition", "orders-6"], group().to_string());
    assert!(good(&output).starts_with("\"a\" owns orders-6.\nIt moves to "), "{}", good(&output));
}

#[test]
fn what_is_not_there_is_refused() {
    for (options, told) in [
        (&["--partition", "orders-9"][..], "\"orders\" has 8 partitions"),
        (&["--partition", "none-0"], "no topic \"none\""),
        (&["--partition", "orders"], "such as orders-4"),
        (&["--member", "x"], "no member has this id"),
        (&["--member", "a", "--partition", "orders-0"], "cannot be used with"),
    ] {
        let output = feed(&[&["explain", "-"], options].concat(), group().to_string());
        assert_eq!(output.status.code(), Some(2), "{options:?}");
        assert!(stderr(&output).contains(told), "{options:?}: {}", stderr(&output));
    }
}
