//! The fuzz target of the planner on stable: random bytes, its corpus, and what fuzzing once found.

use std::fs;
use std::path::PathBuf;

use crate::fuzzed::planner_vs_verifier;
use crate::support::random::Random;

fn bytes(seed: u64) -> Vec<u8> {
    let mut random = Random::new(seed);
    let length = 16 + random.below(240);
    (0..length).map(|_| random.next() as u8).collect()
}

#[test]
fn random_bytes() {
    let many = std::env::var("TENURE_GROUPS").ok().and_then(|text| text.parse().ok()).unwrap_or(2_000);
    for seed in 0..many {
        // Shown only when the check below fails.
        if seed % 100 == 0 {
            println!("seeds {seed}..{}", seed + 100);
        }
        planner_vs_verifier(&bytes(seed));
    }
    planner_vs_verifier(&[]);
}

#[test]
fn the_corpus_and_every_regression() {
    let mut replayed = 0;
    for kind in ["corpus", "regressions"] {
        let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../fuzz").join(kind).join("planner");
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for path in entries.map(|entry| entry.unwrap().path()) {
            println!("{}", path.display());
            planner_vs_verifier(&fs::read(&path).unwrap());
            replayed += 1;
        }
    }
    assert!(replayed >= 8, "{replayed}");
}
