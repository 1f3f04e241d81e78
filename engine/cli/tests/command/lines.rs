//! `tenure plan --lines`: one answer a line, at once.

use std::io::{BufRead as _, BufReader, Write as _};

use serde_json::Value;

use crate::support::{feed, good, start};

const SMALL: &str = r#"{"topics": {"t": 2}, "members": {"a": {"topics": ["t"]}, "b": {"topics": ["t"]}}}"#;

#[test]
fn every_line_gets_one_answer_in_order() {
    let input = format!("{SMALL}\nnonsense\n\n{{\"topics\": {{}}, \"members\": {{}}, \"x\": 1}}\r\n{SMALL}");
    let output = feed(&["plan", "--lines"], input);
    let answers: Vec<Value> = good(&output).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(answers.len(), 5);
    assert_eq!(answers[0]["assignments"], answers[4]["assignments"]);
    assert_eq!(answers[0]["stats"]["load_max"], 1);
    for (at, line, field) in [(1, 2, ""), (2, 3, ""), (3, 4, "x")] {
        let error = &answers[at]["error"];
        assert_eq!(error["line"], line, "{error}");
        assert_eq!(error["field"], field, "{error}");
        assert!(error["column"].as_u64().unwrap() > 0);
        for key in ["message", "remedy"] {
            assert!(!error[key].as_str().unwrap().is_empty(), "{error}");
        }
    }
}

#[test]
fn a_line_of_bad_utf8_is_one_bad_line() {
    let input = [SMALL.as_bytes(), b"\n\"\xff\"\n", SMALL.as_bytes(), b"\n"].concat();
    let output = feed(&["plan", "--lines"], input);
    let lines: Vec<&str> = good(&output).lines().collect();
    assert_eq!(lines.len(), 3);
    assert!(lines[1].contains("not UTF-8"), "{}", lines[1]);
}

#[test]
fn the_answer_comes_before_the_next_question() {
    let mut child = start(&["plan", "--lines"]);
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    for round in 0..20 {
        // The plan of one group must not hang on the memory of another.
        let partitions = if round % 2 == 0 { 1_000 } else { 2 };
        writeln!(stdin, r#"{{"topics": {{"t": {partitions}}}, "members": {{"a": {{"topics": ["t"]}}}}}}"#)
            .unwrap();
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        let answer: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(answer["stats"]["load_max"], partitions);
    }
    drop(stdin);
    assert!(child.wait().unwrap().success());
}

#[test]
fn no_input_gives_no_answer() {
    assert_eq!(good(&feed(&["plan", "--lines"], "")), "");
}
