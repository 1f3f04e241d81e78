//! The help is part of the interface: a change must be meant.

use std::fs;

use crate::support::{datasets, good, tenure};

/// The subcommands whose help is compared.
const COMMANDS: &[&str] = &["budget", "completions", "explain", "man", "plan", "verify", "what-if"];

#[test]
fn help_texts_are_as_committed() {
    for name in COMMANDS {
        let output = tenure(&[name, "--help"]).output().unwrap();
        let path = datasets().join(format!("cli/help/{name}.txt"));
        if std::env::var_os("TENURE_UPDATE").is_some() {
            fs::write(&path, &output.stdout).unwrap();
        }
        let expected = fs::read_to_string(&path).unwrap_or_default();
        assert_eq!(good(&output), expected, "if meant, run again with TENURE_UPDATE=1: {}", path.display());
    }
}

#[test]
fn every_subcommand_says_what_it_does() {
    let output = tenure(&["--help"]).output().unwrap();
    let (_, list) = good(&output).split_once("Commands:\n").unwrap();
    for line in list.lines().take_while(|line| !line.trim().starts_with("help ")) {
        let (name, about) = line.trim().split_once("  ").unwrap_or((line, ""));
        assert!(about.trim().len() > 10, "{name} has no description");
        assert!(good(&tenure(&[name, "--help"]).output().unwrap()).contains("Usage: tenure"), "{name}");
    }
}
