//! Running the command.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::thread;

use serde_json::Value;

/// The folder of data that tests share.
pub(crate) fn datasets() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../datasets")
}

/// The files of a folder with this ending, sorted.
pub(crate) fn files(folder: &str, ending: &str) -> Vec<PathBuf> {
    let folder = datasets().join(folder);
    let entries = folder.read_dir().unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.to_str().is_some_and(|name| name.ends_with(ending)));
    files.sort();
    assert!(!files.is_empty(), "{} has no {ending} files", folder.display());
    files
}

/// The command, without anything from the caller's surroundings that changes its output.
pub(crate) fn tenure(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tenure"));
    command.args(arguments).env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE").env("COLUMNS", "100");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Starts the command with its standard input open.
pub(crate) fn start(arguments: &[&str]) -> Child {
    tenure(arguments).stdin(Stdio::piped()).spawn().unwrap()
}

/// Runs the command over this standard input.
pub(crate) fn feed(arguments: &[&str], input: impl Into<Vec<u8>>) -> Output {
    let mut child = start(arguments);
    let mut stdin = child.stdin.take().unwrap();
    let input = input.into();
    // A command that refuses early closes its input; that is its right.
    let writer = thread::spawn(move || drop(stdin.write_all(&input)));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    output
}

/// Standard output as text.
pub(crate) fn stdout(output: &Output) -> &str {
    core::str::from_utf8(&output.stdout).unwrap()
}

/// Standard error as text.
pub(crate) fn stderr(output: &Output) -> &str {
    core::str::from_utf8(&output.stderr).unwrap()
}

/// Standard output of a run that went well.
pub(crate) fn good(output: &Output) -> &str {
    assert_eq!(output.status.code(), Some(0), "{}", stderr(output));
    stdout(output)
}

/// The JSON document that `tenure plan --json` answers with.
pub(crate) fn plan(snapshot: &Value, arguments: &[&str]) -> Value {
    let arguments = [&["plan", "--json"], arguments].concat();
    let output = feed(&arguments, snapshot.to_string());
    serde_json::from_str(good(&output)).unwrap()
}

/// The ranges of a topic → list of partitions object, as written.
pub(crate) fn ranges(owned: &Value) -> Vec<(String, i64, i64)> {
    let mut all = Vec::new();
    for (topic, list) in owned.as_object().unwrap() {
        for entry in list.as_array().unwrap() {
            let (from, to) = match entry {
                Value::Number(number) => (number.as_i64().unwrap(), number.as_i64().unwrap()),
                Value::String(text) => {
                    let at = text[1..].find('-').unwrap() + 1;
                    (text[..at].parse().unwrap(), text[at + 1..].parse().unwrap())
                }
                other => panic!("{other}"),
            };
            all.push((topic.clone(), from, to));
        }
    }
    all
}

/// Every partition of a topic → list of partitions object, ranges written out.
pub(crate) fn expand(owned: &Value) -> Vec<(String, i64)> {
    let partitions = |(topic, from, to): (String, i64, i64)| (from..=to).map(move |p| (topic.clone(), p));
    ranges(owned).into_iter().flat_map(partitions).collect()
}
