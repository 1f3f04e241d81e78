//! The corpora of the fuzz targets of the command, and what fuzzing once found, as plain tests.

use std::fs;
use std::path::PathBuf;

use crate::properties;
use crate::support::files;

fn inputs(target: &str) -> Vec<PathBuf> {
    let fuzz = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fuzz");
    let folders = ["corpus", "regressions"].map(|kind| fuzz.join(kind).join(target));
    let entries = folders.iter().filter_map(|folder| folder.read_dir().ok()).flatten();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(!files.is_empty(), "no seeds for {target}");
    files
}

#[test]
fn snapshots() {
    let sets = [inputs("snapshot_json"), files("cli/bad", ".json"), files("cli/good", ".json")];
    for path in sets.iter().flatten() {
        // Shown only when the check below fails.
        println!("{}", path.display());
        properties::snapshot_json(&fs::read(path).unwrap());
    }
}

#[test]
fn prints() {
    for path in inputs("describe_text").iter().chain(&files("describe", ".txt")) {
        println!("{}", path.display());
        properties::describe_text(&fs::read(path).unwrap());
    }
}

/// Every good snapshot, cut and with each byte changed: a poor man's fuzzing for every test run.
#[test]
fn damaged_snapshots() {
    for path in files("cli/good", ".json").iter().filter(|path| !path.to_string_lossy().contains(".result."))
    {
        let bytes = fs::read(path).unwrap();
        for at in 0..bytes.len() {
            properties::snapshot_json(&bytes[..at]);
            for byte in [b'"', b'{', b'-', b'9', b' ', 0xff, 0] {
                let mut damaged = bytes.clone();
                damaged[at] = byte;
                properties::snapshot_json(&damaged);
            }
        }
    }
}
