//! Members of other clients, in processes of their own.

use core::fmt;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use serde_json::Value;

use crate::ledger::{Entry, Happening, Ledger, Place};
use crate::requirement::{PeerError, require};

/// A client of Kafka.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Client {
    /// kafka-clients of this version.
    Java(&'static str),
    /// franz-go.
    Franz,
    /// librdkafka, through confluent-kafka.
    Librdkafka,
    /// kafka-python.
    KafkaPython,
}

impl fmt::Display for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Java(version) => write!(f, "java-{version}"),
            Self::Franz => f.write_str("franz-go"),
            Self::Librdkafka => f.write_str("librdkafka"),
            Self::KafkaPython => f.write_str("kafka-python"),
        }
    }
}

/// How a member is to be.
#[derive(Debug, Clone)]
pub struct MemberSettings {
    /// Its name in the ledger, different from every other one of its process.
    pub name: String,
    /// `host:port`.
    pub bootstrap: String,
    /// The group.
    pub group: String,
    /// The topics.
    pub topics: Vec<String>,
    /// The assignors by name, the preferred one first.
    pub strategies: Vec<String>,
    /// `session.timeout.ms`.
    pub session_ms: u32,
    /// `group.instance.id`.
    pub instance: Option<String>,
}

/// A process with members of one client. Its end of a pipe is held here, so that it ends when this process does.
#[derive(Debug)]
pub struct Host {
    child: Child,
    pipe: Option<ChildStdin>,
    ledgers: Arc<Mutex<BTreeMap<String, Ledger>>>,
}

impl Host {
    /// Fetches and builds a client if need be, and starts a process of it.
    ///
    /// # Errors
    ///
    /// [`PeerError::Missing`] without the client's tools, [`PeerError::Failed`] if it can't be built or started.
    pub fn start(client: Client) -> Result<Self, PeerError> {
        require("bash", &["--version"], "install it")?;
        let arguments = match client {
            Client::Java(version) => {
                require("javac", &["--version"], "install a JDK, 17 or later")?;
                require("mvn", &["--version"], "install Maven: it fetches Kafka's jars")?;
                vec!["java", version]
            }
            Client::Franz => {
                require("go", &["version"], "install Go, 1.24 or later")?;
                vec!["franz"]
            }
            Client::Librdkafka | Client::KafkaPython => {
                require("python3", &["-c", "import venv, ensurepip"], "install Python 3 with venv")?;
                vec![if client == Client::Librdkafka { "librdkafka" } else { "kafka-python" }]
            }
        };
        let mut command = build(&arguments)?;
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().map_err(|error| PeerError::failed(format!("{client}: {error}")))?;
        let ledgers = Arc::new(Mutex::new(BTreeMap::new()));
        if let Some(output) = child.stdout.take() {
            let ledgers = Arc::clone(&ledgers);
            thread::spawn(move || {
                for line in BufReader::new(output).lines().map_while(Result::ok) {
                    take_down(&line, &ledgers);
                }
            });
        }
        Ok(Self { pipe: child.stdin.take(), child, ledgers })
    }

    /// Starts a member that writes to this ledger.
    ///
    /// # Errors
    ///
    /// [`PeerError::Failed`] if the process is gone.
    pub fn join(&mut self, member: &MemberSettings, ledger: &Ledger) -> Result<(), PeerError> {
        let mut ledgers = self.ledgers.lock().unwrap_or_else(PoisonError::into_inner);
        ledgers.insert(member.name.clone(), ledger.clone());
        drop(ledgers);
        let mut line = format!(
            "start name={} bootstrap={} group={} topics={} strategies={} session_ms={}",
            member.name,
            member.bootstrap,
            member.group,
            member.topics.join(","),
            member.strategies.join(","),
            member.session_ms
        );
        if let Some(instance) = &member.instance {
            line.push_str(" instance=");
            line.push_str(instance);
        }
        self.say(&line)
    }

    /// Has a member leave the group and end; the ledger says when it has.
    ///
    /// # Errors
    ///
    /// [`PeerError::Failed`] if the process is gone.
    pub fn close(&mut self, name: &str) -> Result<(), PeerError> {
        self.say(&format!("close {name}"))
    }

    /// Kills the process: its members end without leaving.
    pub fn crash(mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        for (name, ledger) in self.ledgers.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            ledger.note(name, Happening::Ended, Vec::new());
        }
    }

    fn say(&mut self, line: &str) -> Result<(), PeerError> {
        let gone = || PeerError::failed(format!("the process that should {line:?} is gone"));
        let pipe = self.pipe.as_mut().ok_or_else(gone)?;
        writeln!(pipe, "{line}").and_then(|()| pipe.flush()).map_err(|_| gone())
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        drop(self.pipe.take());
        let _ = self.child.wait();
    }
}

/// A Java producer of transactions, which commits offsets for whoever it is told to.
#[derive(Debug)]
pub struct ZombieProducer {
    child: Child,
    pipe: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl ZombieProducer {
    /// Fetches and builds it if need be, and starts it.
    ///
    /// # Errors
    ///
    /// [`PeerError::Missing`] without Java and Maven, [`PeerError::Failed`] if it can't be built or started.
    pub fn start() -> Result<Self, PeerError> {
        require("javac", &["--version"], "install a JDK, 17 or later")?;
        require("mvn", &["--version"], "install Maven: it fetches Kafka's jars")?;
        let mut command = build(&["java-producer"])?;
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().map_err(|error| PeerError::failed(format!("java: {error}")))?;
        let output = child.stdout.take().ok_or_else(|| PeerError::failed("java without an output"))?;
        Ok(Self { pipe: child.stdin.take(), child, answers: BufReader::new(output) })
    }

    /// Commits an offset as the line of settings says (see `ZombieProducer.java`), and gives what came of it in the
    /// client's words.
    ///
    /// # Errors
    ///
    /// [`PeerError::Failed`] if the process is gone.
    pub fn commit(&mut self, settings: &str) -> Result<String, PeerError> {
        let gone = || PeerError::failed("the Java producer is gone");
        let pipe = self.pipe.as_mut().ok_or_else(gone)?;
        writeln!(pipe, "{settings}").and_then(|()| pipe.flush()).map_err(|_| gone())?;
        let mut line = String::new();
        match self.answers.read_line(&mut line) {
            Ok(length) if length > 0 => Ok(line.trim().to_owned()),
            _ => Err(gone()),
        }
    }
}

impl Drop for ZombieProducer {
    fn drop(&mut self) {
        drop(self.pipe.take());
        let _ = self.child.wait();
    }
}

/// The command of a peer, built first if need be.
fn build(arguments: &[&str]) -> Result<Command, PeerError> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("members.sh");
    let built = Command::new("bash").arg(&script).args(arguments).stderr(Stdio::piped()).output();
    let built = built.map_err(|error| PeerError::failed(format!("{}: {error}", script.display())))?;
    if !built.status.success() {
        let words = String::from_utf8_lossy(&built.stderr);
        return Err(PeerError::failed(format!("{} can't be built: {words}", arguments.join(" "))));
    }
    let words = String::from_utf8_lossy(&built.stdout);
    let mut words = words.lines();
    let program = words.next().ok_or_else(|| PeerError::failed("a peer without a command"))?;
    let mut command = Command::new(program);
    command.args(words);
    Ok(command)
}

/// Puts a printed line into the ledger of its member. What is no such line comes from a library's log.
fn take_down(line: &str, ledgers: &Mutex<BTreeMap<String, Ledger>>) {
    let Ok(value) = serde_json::from_str::<Value>(line) else { return };
    let text = |key: &str| value.get(key).and_then(Value::as_str);
    let (Some(member), Some(event), Some(at_ns)) =
        (text("member"), text("event"), value.get("at").and_then(Value::as_u64))
    else {
        return;
    };
    let number = |key: &str| value.get(key).and_then(Value::as_i64).unwrap_or(-1);
    let happening = match event {
        "assigned" => Happening::Assigned,
        "revoked" => Happening::Revoked,
        "lost" => Happening::Lost,
        "records" => Happening::Records { from: number("from"), to: number("to") },
        "closed" => Happening::Ended,
        other => Happening::Said(format!("{other}: {}", text("text").unwrap_or_default())),
    };
    let places = value.get("partitions").and_then(Value::as_array).into_iter().flatten();
    let places = places.filter_map(Value::as_str).filter_map(place).collect();
    let ledger = ledgers.lock().unwrap_or_else(PoisonError::into_inner).get(member).cloned();
    if let Some(ledger) = ledger {
        ledger.put(Entry { at_ns, member: member.to_owned(), happening, places });
    }
}

fn place(text: &str) -> Option<Place> {
    let (topic, partition) = text.rsplit_once('-')?;
    Some((topic.to_owned(), partition.parse().ok()?))
}
