//! The peers: which class or package, how it is started, and how its driver is built.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::Call;

/// A foreign assignor.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Peer {
    /// Its name in reports.
    pub name: String,
    /// Program and arguments.
    pub command: Vec<String>,
    /// How its members join.
    pub protocol: &'static str,
    /// What it can do.
    pub calls: &'static [Call],
    /// Whether it answers with lists, as it works inside the broker and never sees bytes.
    pub lists: bool,
}

/// Java's cooperative-sticky assignor.
pub const JAVA_COOPERATIVE: &str = "java cooperative-sticky";
/// Java's eager sticky assignor.
pub const JAVA_STICKY: &str = "java sticky";
/// The broker's assignor of KIP-848.
pub const BROKER_UNIFORM: &str = "broker uniform";
/// franz-go's cooperative sticky balancer.
pub const FRANZ: &str = "franz-go";
/// sarama's sticky strategy.
pub const SARAMA: &str = "sarama";

const BOTH: &[Call] = &[Call::Plan, Call::Round];

/// A language whose drivers are built at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Language {
    Java,
    Go,
}

const ALL: [(&str, Language, &str, &str, &[Call]); 5] = [
    (JAVA_COOPERATIVE, Language::Java, "cooperative-sticky", "cooperative-sticky", BOTH),
    (JAVA_STICKY, Language::Java, "sticky", "sticky", BOTH),
    (BROKER_UNIFORM, Language::Java, "uniform", "cooperative-sticky", &[Call::Plan]),
    (FRANZ, Language::Go, "franz-go", "cooperative-sticky", BOTH),
    (SARAMA, Language::Go, "sarama", "sticky", BOTH),
];

/// Memory of each JVM. The parallel collector stops the world, so none runs on while another contestant is measured.
const JAVA_OPTIONS: [&str; 3] = ["-Xms1g", "-Xmx4g", "-XX:+UseParallelGC"];

/// Builds the drivers and lists the peers whose driver can be had, and for each other one why not.
pub fn peers(wanted: impl Fn(&str) -> bool) -> (Vec<Peer>, Vec<(String, String)>) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("peers");
    let (mut peers, mut missing) = (Vec::new(), Vec::new());
    for language in [Language::Java, Language::Go] {
        let asked: Vec<_> = ALL.iter().filter(|peer| peer.1 == language && wanted(peer.0)).collect();
        if asked.is_empty() {
            continue;
        }
        match build(language, &folder) {
            Ok(command) => {
                for &&(name, _, argument, protocol, calls) in &asked {
                    let mut command = command.clone();
                    command.push(argument.to_string());
                    let lists = !calls.contains(&Call::Round);
                    peers.push(Peer { name: name.to_string(), command, protocol, calls, lists });
                }
            }
            Err(why) => missing.extend(asked.iter().map(|peer| (peer.0.to_string(), why.clone()))),
        }
    }
    (peers, missing)
}

/// Builds the driver of a language: the command that starts it, without the peer's name.
fn build(language: Language, folder: &Path) -> Result<Vec<String>, String> {
    let path = |path: PathBuf| path.to_string_lossy().into_owned();
    match language {
        Language::Java => {
            let folder = folder.join("java");
            run(Command::new("mvn").args(["-q", "-B", "package"]).current_dir(&folder))?;
            let jar = path(folder.join("target/java-peer.jar"));
            let mut command = vec!["java".to_string()];
            command.extend(JAVA_OPTIONS.map(str::to_string));
            command.extend(["-cp".to_string(), jar, "tenure.peer.BenchDriver".to_string()]);
            Ok(command)
        }
        Language::Go => {
            let folder = folder.join("go");
            run(Command::new("go").args(["build", "-o", "target/peers", "."]).current_dir(&folder))?;
            Ok(vec![path(folder.join("target/peers"))])
        }
    }
}

fn run(command: &mut Command) -> Result<(), String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|error| format!("{program} does not start: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = [output.stdout, output.stderr].concat();
    Err(format!("{program} failed: {}", String::from_utf8_lossy(&said).trim()))
}

/// How a peer's process was started, for the report; without paths.
pub fn options() -> String {
    format!("java {}", JAVA_OPTIONS.join(" "))
}
