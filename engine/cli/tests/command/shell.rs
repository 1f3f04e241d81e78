//! Completions and manual pages.

use std::fs;
use std::process::Command;

use crate::support::{good, stderr, tenure};

/// The subcommands that the help lists.
fn subcommands() -> Vec<String> {
    let output = tenure(&["--help"]).output().unwrap();
    let (_, list) = good(&output).split_once("Commands:\n").unwrap();
    let lines = list.lines().take_while(|line| !line.trim().starts_with("help "));
    let names =
        lines.filter(|line| !line.starts_with("   ")).map(|line| line.split_whitespace().next().unwrap());
    names.map(ToString::to_string).collect()
}

#[test]
fn every_shell_completes_every_subcommand() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let output = tenure(&["completions", shell]).output().unwrap();
        let script = good(&output);
        for name in subcommands() {
            assert!(script.contains(&name), "{shell}: {name}");
        }
        assert!(script.contains("message-max-bytes"), "{shell} completes options");
    }
    assert_eq!(tenure(&["completions", "cmd"]).output().unwrap().status.code(), Some(2));
}

/// Where there is a bash, it takes the script and completes with it.
#[test]
fn bash_completes() {
    let folder = std::env::temp_dir().join(format!("tenure-completions-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let script = folder.join("tenure.bash");
    fs::write(&script, good(&tenure(&["completions", "bash"]).output().unwrap())).unwrap();
    let words = format!(
        "source {} && COMP_WORDS=(tenure bud) COMP_CWORD=1 && _tenure tenure bud tenure && echo ${{COMPREPLY[@]}}",
        script.display()
    );
    let completed = Command::new("bash").args(["-c", &words]).output();
    fs::remove_dir_all(&folder).unwrap();
    let Ok(output) = completed else {
        eprintln!("SKIPPED: no bash");
        assert_ne!(std::env::var("CI").as_deref(), Ok("true"), "CI needs bash");
        return;
    };
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "budget", "{}", stderr(&output));
}

#[test]
fn manual_pages_say_what_the_help_says() {
    let root = tenure(&["man"]).output().unwrap();
    assert!(good(&root).contains(".TH TENURE 1"), "{}", good(&root));
    for name in subcommands() {
        assert!(good(&root).contains(&name.replace('-', "\\-")), "{name}");
        let output = tenure(&["man", &name]).output().unwrap();
        let page = good(&output);
        assert!(page.contains(".SH NAME") && page.contains(".SH OPTIONS"), "{name}");
        assert!(page.contains(&format!("TENURE-{}", name.to_uppercase())), "{name}: {page}");
    }
    let unknown = tenure(&["man", "plann"]).output().unwrap();
    assert_eq!(unknown.status.code(), Some(2));
    assert!(stderr(&unknown).contains("what-if"), "{}", stderr(&unknown));
}

#[test]
fn all_pages_are_written_at_once() {
    let folder = std::env::temp_dir().join(format!("tenure-man-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let output = tenure(&["man", "--directory", folder.to_str().unwrap()]).output().unwrap();
    assert_eq!(good(&output), "");
    for name in subcommands() {
        let page = fs::read(folder.join(format!("tenure-{name}.1"))).unwrap();
        assert_eq!(page, tenure(&["man", &name]).output().unwrap().stdout, "{name}");
    }
    assert!(folder.join("tenure.1").exists());
    fs::remove_dir_all(&folder).unwrap();
    let gone = tenure(&["man", "--directory", folder.to_str().unwrap()]).output().unwrap();
    assert_eq!(gone.status.code(), Some(2));
    assert!(stderr(&gone).contains("name a folder that exists"));
}

/// Nobody waits before a pipe: nothing but the answer is printed.
#[test]
fn progress_is_for_terminals() {
    let output = tenure(&["simulate", "--seed", "3", "--rebalances", "300", "--json"]).output().unwrap();
    assert_eq!(good(&output).lines().count(), 1);
    assert_eq!(stderr(&output), "");
}

/// Before a terminal of its own the command tells how far it is, and takes it away again.
#[test]
fn progress_is_seen_on_a_terminal() {
    let arguments = "simulate --seed 3 --rebalances 1500 --json";
    let command = format!("{} {arguments} 2>&1 >/dev/null", env!("CARGO_BIN_EXE_tenure"));
    let Ok(output) =
        Command::new("script").args(["-qec", &command, "/dev/null"]).env("TERM", "xterm").output()
    else {
        return;
    };
    let seen = String::from_utf8_lossy(&output.stdout);
    // Faster than anybody waits: nothing is shown.
    if seen.is_empty() {
        return;
    }
    assert!(seen.contains("rebalances"), "{seen:?}");
}
