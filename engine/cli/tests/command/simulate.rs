//! `tenure simulate`: the seed first, the same run again, and scenarios to read.

use serde_json::Value;

use crate::support::{good, tenure};

#[test]
fn a_seed_is_told_first_and_gives_the_same_run_again() {
    let run = || tenure(&["simulate", "--seed", "7"]).output().unwrap();
    let first = run();
    let text = good(&first);
    assert!(text.starts_with("seed 7\nregime "), "{text}");
    assert!(text.contains("no rule was broken"), "{text}");
    assert_eq!(text, good(&run()));
}

#[test]
fn rebalances_are_counted_over_many_seeds() {
    let output = tenure(&["simulate", "--seed", "1", "--rebalances", "50", "--json"]).output().unwrap();
    let answer: Value = serde_json::from_str(good(&output)).unwrap();
    assert_eq!(answer["seed"], 1);
    assert!(answer["rebalances"].as_u64().unwrap() >= 50, "{answer}");
    assert!(answer["runs"].as_u64().unwrap() > 1, "{answer}");
    assert_eq!(answer["violation"], Value::Null);
}

#[test]
fn a_scenario_shows_eager_beside_cooperative() {
    let output = tenure(&["simulate", "--scenario", "rolling-restart"]).output().unwrap();
    let text = good(&output);
    for part in
        ["rolling-restart eager", "rolling-restart cooperative", "generation 2 by range", "revoked t0:"]
    {
        assert!(text.contains(part), "{part} in {text}");
    }
    let output = tenure(&["simulate", "--scenario", "scale-out", "--json"]).output().unwrap();
    let answer: Value = serde_json::from_str(good(&output)).unwrap();
    let revoked = |at: usize| answer["runs"][at]["revocations"].as_u64().unwrap();
    assert!(revoked(1) < revoked(0), "{} cooperative, {} eager", revoked(1), revoked(0));
}

#[test]
fn an_unknown_scenario_names_the_known_ones() {
    let output = tenure(&["simulate", "--scenario", "earthquake"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(text.contains("rolling-restart") && text.contains("upgrade"), "{text}");
}
