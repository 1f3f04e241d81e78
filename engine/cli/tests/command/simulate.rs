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

#[test]
fn transactions_are_counted_over_many_seeds_and_one_is_repeated() {
    let output = tenure(&["simulate", "--seed", "1", "--transactions", "300", "--json"]).output().unwrap();
    let answer: Value = serde_json::from_str(good(&output)).unwrap();
    let count = |key: &str| answer["transactions"][key].as_u64().unwrap();
    assert!(count("committed") + count("aborted") >= 300, "{answer}");
    assert!(count("aborted") > 0, "{answer}");
    assert_eq!(answer["violation"], Value::Null);
    let run = || tenure(&["simulate", "--seed", "7", "--transactions", "1"]).output().unwrap();
    let first = run();
    assert!(good(&first).contains("transactions fenced by the rules"), "{}", good(&first));
    assert_eq!(good(&first), good(&run()));
}

#[test]
fn a_planted_fault_is_found_made_small_and_its_seed_told() {
    let arguments = ["simulate", "--seed", "1", "--rebalances", "2000", "--mutation", "withholds-nothing"];
    let output = tenure(&arguments).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    for part in ["planted on purpose: withholds-nothing", "broken at", "the smallest run found"] {
        assert!(text.contains(part), "{part} in {text}");
    }
    // The command that it names gives the same.
    let again = text.lines().find_map(|line| line.strip_prefix("again: tenure ")).expect("the command");
    let again = tenure(&again.split(' ').collect::<Vec<_>>()).output().unwrap();
    assert_eq!(again.status.code(), Some(1));
    let rule = |text: &str| text.lines().find(|line| line.contains("broken at")).map(str::to_owned);
    assert_eq!(rule(&String::from_utf8_lossy(&again.stdout)), rule(&text));

    let output = tenure(&["simulate", "--mutation", "gremlin"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(text.contains("no-transaction-fence"), "{text}");
}

#[test]
fn the_zombies_commit_is_refused_and_without_the_fence_doubled() {
    let output = tenure(&["simulate", "--scenario", "zombie-commit"]).output().unwrap();
    let text = good(&output);
    for part in
        ["stands still for 9000 ms before CommitOffsets", "may not commit its offsets: ILLEGAL_GENERATION"]
    {
        assert!(text.contains(part), "{part} in {text}");
    }
    let arguments = ["simulate", "--scenario", "zombie-commit", "--mutation", "no-transaction-fence"];
    let output = tenure(&arguments).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stdout).contains("come out a second time"));
}
