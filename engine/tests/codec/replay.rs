//! The corpora of the fuzz targets, and what fuzzing once found, as plain tests.

use std::fs;
use std::path::PathBuf;

use tenure::codec::message::FORMATS;

use crate::{compact_properties, properties};

/// The files of one target, by name.
fn inputs(kind: &str, target: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../fuzz").join(kind).join(target);
    let Ok(entries) = fs::read_dir(&folder) else { return Vec::new() };
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files.into_iter().map(|path| (path.clone(), fs::read(path).unwrap())).collect()
}

#[test]
fn every_corpus_and_every_regression_holds() {
    let mut replayed = 0;
    for format in FORMATS {
        let target = format.name.replace('-', "_");
        let corpus = inputs("corpus", &target);
        assert!(!corpus.is_empty(), "no seeds for {target}");
        for (path, data) in corpus.into_iter().chain(inputs("regressions", &target)) {
            // Shown only when the check below fails.
            println!("{}", path.display());
            properties::check(format.name, &data);
            replayed += 1;
        }
    }
    assert!(replayed > 300, "{replayed}");
}

#[test]
fn every_format_has_its_target() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../fuzz/fuzz_targets");
    for format in FORMATS {
        let path = folder.join(format.name.replace('-', "_")).with_extension("rs");
        let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        assert!(text.contains(&format!("check(\"{}\", data)", format.name)), "{}", path.display());
    }
}

#[test]
fn the_corpus_of_compact_user_data_holds() {
    let corpus = inputs("corpus", COMPACT);
    assert!(corpus.len() >= 12, "{} seeds", corpus.len());
    for (path, data) in corpus.into_iter().chain(inputs("regressions", COMPACT)) {
        // Shown only when the check below fails.
        println!("{}", path.display());
        compact_properties::check(&data);
    }
}

/// Compact user data has a target of its own, since a table can't describe its bits.
const COMPACT: &str = "tenure_userdata";
