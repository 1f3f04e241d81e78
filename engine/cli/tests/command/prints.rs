//! What `kafka-consumer-groups.sh` prints, planned. How prints are read is tested beside the reader.

use serde_json::Value;

use crate::support::{feed, good, stderr, stdout, tenure};

const PRINT: &str = "\
$ kafka-consumer-groups.sh --bootstrap-server localhost:9092 --describe --all-groups

GROUP     TOPIC   PARTITION  CURRENT-OFFSET  LOG-END-OFFSET  LAG  CONSUMER-ID  HOST       CLIENT-ID
checkout  orders  0          41              41              0    till-1-6d96  /10.0.0.7  till 1
checkout  orders  1          41              41              0    till-1-6d96  /10.0.0.7  till 1
checkout  orders  3          41              41              0    till-2-6d96  /10.0.0.7  till 2

GROUP     TOPIC   PARTITION  CURRENT-OFFSET  LOG-END-OFFSET  LAG  CONSUMER-ID  HOST       CLIENT-ID
audit     clicks  0          41              41              0    audit-1      /10.0.0.9  audit
";

#[test]
fn each_group_of_a_print_is_planned_and_assumptions_are_told() {
    let output = feed(&["plan"], PRINT);
    let table = good(&output);
    assert!(table.contains("group checkout\n") && table.contains("group audit\n"), "{table}");
    let notes = stderr(&output);
    assert!(notes.contains("note: group checkout: the print shows no subscriptions"), "{notes}");
    assert!(
        notes.contains("note: group checkout: topic \"orders\" is taken to have 4 partitions"),
        "{notes}"
    );
}

#[test]
fn documents_name_group_and_assumptions() {
    let output = feed(&["plan", "--json"], PRINT);
    let documents: Vec<Value> =
        good(&output).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(documents.len(), 2);
    assert_eq!(documents[0]["group"], "checkout");
    assert_eq!(documents[1]["group"], "audit");
    assert!(documents[0]["assumptions"].as_array().unwrap().len() >= 3);
    assert_eq!(documents[0]["target"]["till-2-6d96"]["orders"], serde_json::json!([2, 3]));
    assert_eq!(stderr(&output), "", "assumptions are in the document");
}

#[test]
fn a_subscriptions_file_and_an_assignor_replace_assumptions() {
    let path = std::env::temp_dir().join(format!("tenure-subscriptions-{}.json", std::process::id()));
    std::fs::write(&path, r#"{"till 1": ["orders"], "*": []}"#).unwrap();
    let file = path.to_str().unwrap();
    let output = feed(&["plan", "--json", "--assignor", "sticky", "--subscriptions", file], PRINT);
    std::fs::remove_file(&path).unwrap();
    let first: Value = serde_json::from_str(good(&output).lines().next().unwrap()).unwrap();
    assert_eq!(first["assignor"], "sticky");
    assert_eq!(first["target"]["till-1-6d96"]["orders"], serde_json::json!(["0-3"]));
    let told = first["assumptions"].to_string();
    assert!(!told.contains("no subscriptions") && !told.contains("no assignor"), "{told}");
}

#[test]
fn what_is_neither_is_refused_with_both_reasons() {
    for text in ["", "\n \n", "hello\n", "[1, 2]\n", "GROUP TOPIC\n", "\"orders\"\n"] {
        let output = feed(&["plan"], text);
        assert_eq!(output.status.code(), Some(2), "{text:?}");
        assert_eq!(stdout(&output), "");
        let error = stderr(&output);
        assert!(error.starts_with("error: standard input, line 1: is "), "{text:?}: {error}");
        assert!(error.contains("JSON"), "{text:?}: {error}");
    }
}

#[test]
fn a_bad_subscriptions_file_is_named() {
    let output = tenure(&["plan", "--subscriptions", "no-such-file.json"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("no-such-file.json: cannot be read"), "{}", stderr(&output));
}
