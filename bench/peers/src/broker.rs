//! A broker that lives no longer than its test.

use core::sync::atomic::{AtomicU32, Ordering};
use core::time::Duration;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::{env, fs, process, thread};

use kafka_protocol::messages::{FindCoordinatorRequest, GroupId};

use crate::connection::Connection;
use crate::requirement::{PeerError, require};

/// How long a fresh broker may take to coordinate its first group.
const READY_TRIES: u32 = 300;

/// How a broker is to be.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// The version of Kafka; the script's newest if `None`.
    pub version: Option<String>,
    /// Further lines for its properties, `key=value` each; of two lines for one key the later counts.
    pub properties: Vec<String>,
}

impl Settings {
    /// Adds a line to the properties.
    #[must_use]
    pub fn property(mut self, key: &str, value: impl ToString) -> Self {
        self.properties.push(format!("{key}={}", value.to_string()));
        self
    }
}

/// A Kafka broker of one node on a free loopback port, with its data in a temporary folder.
///
/// It is stopped when this is dropped. A script between the two stops it as well when this process ends in any other
/// way, be it by a signal: it reads a pipe whose other end is here.
#[derive(Debug)]
pub struct Broker {
    script: Child,
    pipe: Option<ChildStdin>,
    bootstrap: String,
}

impl Broker {
    /// Starts a broker and waits until it coordinates groups.
    ///
    /// # Errors
    ///
    /// [`PeerError::Missing`] without Java, Maven or bash; [`PeerError::Failed`] with the broker's log if it does
    /// not come up.
    pub fn start(settings: &Settings) -> Result<Self, PeerError> {
        require("bash", &["--version"], "install it")?;
        require("java", &["-version"], "install a JDK, 17 or later")?;
        require("mvn", &["--version"], "install Maven: it fetches Kafka's jars")?;
        let folder = own_folder();
        fs::create_dir_all(&folder).map_err(|error| failed(&folder, &error))?;
        let properties = folder.join("extra.properties");
        let lines = settings.properties.iter().map(|line| format!("{line}\n"));
        fs::write(&properties, lines.collect::<String>()).map_err(|error| failed(&properties, &error))?;

        let script_path = Path::new(env!("CARGO_MANIFEST_DIR")).join("java/broker.sh");
        let mut command = Command::new("bash");
        command.arg(&script_path).arg("hold").arg(&folder).args(&settings.version);
        command.env("TENURE_BROKER_PROPERTIES", &properties).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut script = command.spawn().map_err(|error| failed(&script_path, &error))?;
        let pipe = script.stdin.take();
        let mut line = String::new();
        if let Some(output) = script.stdout.take() {
            BufReader::new(output).read_line(&mut line).map_err(|error| failed(&script_path, &error))?;
        }
        let mut broker = Self { script, pipe, bootstrap: line.trim().to_owned() };
        if broker.bootstrap.is_empty() {
            broker.stop();
            return Err(PeerError::failed("the broker did not start; what it said is above"));
        }
        broker.await_coordinator()?;
        Ok(broker)
    }

    /// Where clients find it: `host:port`.
    pub fn bootstrap(&self) -> &str {
        &self.bootstrap
    }

    /// A new connection.
    ///
    /// # Errors
    ///
    /// [`PeerError::Failed`] if nobody listens any more.
    pub fn connect(&self) -> Result<Connection, PeerError> {
        Connection::open(&self.bootstrap, "tenure-peers")
    }

    /// The first group makes the broker create its log of offsets, which takes a moment.
    fn await_coordinator(&self) -> Result<(), PeerError> {
        let mut connection = self.connect()?;
        let key = GroupId::from(kafka_protocol::protocol::StrBytes::from_static_str("warm-up")).0;
        let request = FindCoordinatorRequest::default().with_coordinator_keys(vec![key]);
        for _ in 0..READY_TRIES {
            let answer = connection.ask(4, &request)?;
            if answer.coordinators.iter().all(|one| one.error_code == 0) && !answer.coordinators.is_empty() {
                return Ok(());
            }
            thread::sleep(Duration::from_millis(100));
        }
        Err(PeerError::failed("the broker coordinates no group after half a minute"))
    }

    fn stop(&mut self) {
        drop(self.pipe.take());
        // The script waits for the broker and kills it if it must, so this ends.
        let _ = self.script.wait();
    }
}

impl Drop for Broker {
    fn drop(&mut self) {
        self.stop();
    }
}

/// A folder that no other broker of this machine has.
fn own_folder() -> PathBuf {
    static TURN: AtomicU32 = AtomicU32::new(0);
    let turn = TURN.fetch_add(1, Ordering::Relaxed);
    env::temp_dir().join(format!("tenure-broker-{}-{turn}", process::id()))
}

fn failed(path: &Path, error: &std::io::Error) -> PeerError {
    PeerError::failed(format!("{}: {error}", path.display()))
}
