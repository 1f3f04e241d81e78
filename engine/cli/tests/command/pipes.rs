//! Closed pipes, colours, standard input.

use std::process::Stdio;

use crate::support::{datasets, feed, good, start, stderr, stdout, tenure};

fn snapshot() -> String {
    datasets().join("cli/good/scale-out.json").to_str().unwrap().to_string()
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    for arguments in [&["plan", "--json"][..], &["plan"], &["plan", "--lines"]] {
        let mut child = start(arguments);
        drop(child.stdout.take());
        let mut stdin = child.stdin.take().unwrap();
        let large =
            r#"{"topics": {"t": 300000}, "members": {"a": {"topics": ["t"]}, "b": {"topics": ["t"]}}}"#;
        let _ = std::io::Write::write_all(&mut stdin, format!("{large}\n").as_bytes());
        drop(stdin);
        let output = child.wait_with_output().unwrap();
        assert_eq!(stderr(&output), "", "{arguments:?}");
        assert_eq!(output.status.code(), Some(0), "{arguments:?}");
    }
}

#[test]
fn colour_only_where_it_is_wanted() {
    let file = snapshot();
    let plain = |output| -> String { good(&output).to_string() };
    let auto = plain(tenure(&["plan", &file]).output().unwrap());
    assert!(!auto.contains('\u{1b}'), "a pipe is no terminal");
    let always = plain(tenure(&["plan", "--color", "always", &file]).output().unwrap());
    assert!(always.contains('\u{1b}'));
    let never =
        plain(tenure(&["--color", "never", "plan", &file]).env("CLICOLOR_FORCE", "1").output().unwrap());
    assert_eq!(never, auto);
    let data = plain(tenure(&["plan", "--json", "--color", "always", &file]).output().unwrap());
    assert!(!data.contains('\u{1b}'), "data has no colour");
}

#[test]
fn standard_input_is_a_dash_or_nothing() {
    let text = std::fs::read(snapshot()).unwrap();
    let file = tenure(&["plan", "--json", &snapshot()]).output().unwrap();
    let dash = feed(&["plan", "--json", "-"], text.clone());
    let none = feed(&["plan", "--json"], text.clone());
    assert_eq!(good(&file), good(&dash));
    assert_eq!(good(&file), good(&none));
    let marked = feed(&["plan", "--json"], [b"\xef\xbb\xbf", &text[..]].concat());
    assert_eq!(good(&file), good(&marked), "a byte order mark is skipped");
}

#[test]
fn several_files_have_headings() {
    let file = snapshot();
    let output = tenure(&["plan", &file, &file]).output().unwrap();
    let heads = good(&output).lines().filter(|line| *line == file).count();
    assert_eq!(heads, 2, "{}", stdout(&output));
    let output = tenure(&["plan", &file]).output().unwrap();
    assert!(!good(&output).contains(&file));
}

#[test]
fn a_closed_standard_error_is_no_panic() {
    let status = tenure(&["plan", "no-such-file"]).stderr(Stdio::null()).status().unwrap();
    assert_eq!(status.code(), Some(2));
}
