//! A peer in a process of its own: one command a line, one answer a line, and a limit to our patience.

use core::time::Duration;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Instant;

use super::exchange::{self, Answer};
use super::peers::Peer;
use super::{Call, Contestant, Failure, Spent};
use crate::workloads::Workload;

/// For what is not measured: to start, to read a group of a million partitions, to write an answer.
const PATIENCE: Duration = Duration::from_secs(120);

/// How often a process that works is looked at.
const GLANCE: Duration = Duration::from_millis(200);

/// How many times its limit a process may take on the wall while others use the processor.
const BUSY: u32 = 5;

/// A peer's process, started when it is needed and again after it was stopped.
#[derive(Debug)]
pub struct Driver {
    peer: Peer,
    limit: Duration,
    folder: PathBuf,
    running: Option<Running>,
    version: Option<String>,
    members: usize,
}

#[derive(Debug)]
struct Running {
    child: Child,
    commands: ChildStdin,
    answers: Receiver<String>,
}

impl Driver {
    /// A driver that gives a call at most `limit`, and keeps its files in `folder`.
    pub fn new(peer: Peer, limit: Duration, folder: &Path) -> Self {
        Self { peer, limit, folder: folder.to_path_buf(), running: None, version: None, members: 0 }
    }

    /// The peer that it drives.
    pub const fn peer(&self) -> &Peer {
        &self.peer
    }

    /// Starts the process, if it does not run, and waits until it says what it is.
    ///
    /// # Errors
    ///
    /// [`Failure`]
    pub fn start(&mut self) -> Result<(), Failure> {
        if self.running.is_some() {
            return Ok(());
        }
        let (program, arguments) = self.peer.command.split_first().expect("a peer has a program");
        let mut child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| Failure::Refused(format!("{program} does not start: {error}")))?;
        let commands = child.stdin.take().expect("its input is piped");
        let output = child.stdout.take().expect("its output is piped");
        let (lines, answers) = channel();
        thread::spawn(move || {
            for line in BufReader::new(output).lines() {
                let Ok(line) = line else { break };
                if lines.send(line).is_err() {
                    break;
                }
            }
        });
        self.running = Some(Running { child, commands, answers });
        let version = self.wait(PATIENCE)?;
        self.version = Some(version);
        Ok(())
    }

    /// Ends the process.
    pub fn stop(&mut self) {
        if let Some(mut running) = self.running.take() {
            let _ = running.child.kill();
            let _ = running.child.wait();
        }
    }

    fn ask(&mut self, command: &str, limit: Duration) -> Result<String, Failure> {
        let ended = |error| Failure::Refused(format!("the process takes no commands: {error}"));
        let running =
            self.running.as_mut().ok_or_else(|| Failure::Refused("no group is loaded".to_string()))?;
        writeln!(running.commands, "{command}").and_then(|()| running.commands.flush()).map_err(ended)?;
        let line = self.wait(limit)?;
        match line.split_once(' ').unwrap_or((&line, "")) {
            ("ok", answer) => Ok(answer.to_string()),
            ("error", why) => Err(Failure::Refused(why.to_string())),
            _ => Err(Failure::Refused(format!("an answer that is none: {line:?}"))),
        }
    }

    /// The next line; a process that is late or gone is ended. Late is who had the time on the wall and on the
    /// processor as well, so that a busy machine silences nobody; or several times as much on the wall alone.
    fn wait(&mut self, limit: Duration) -> Result<String, Failure> {
        let running = self.running.as_ref().expect("only a running process is asked");
        let id = running.child.id();
        let (begin, used) = (Instant::now(), processor_time(id));
        loop {
            match running.answers.recv_timeout(limit.min(GLANCE)) {
                Ok(line) => return Ok(line),
                Err(RecvTimeoutError::Disconnected) => {
                    self.stop();
                    return Err(Failure::Refused("the process ended".to_string()));
                }
                Err(RecvTimeoutError::Timeout) => {
                    let worked = processor_time(id).zip(used).map_or(limit, |(now, before)| now - before);
                    let waited = begin.elapsed();
                    if waited >= limit && worked >= limit || waited >= limit * BUSY {
                        self.stop();
                        return Err(Failure::Silent(limit));
                    }
                }
            }
        }
    }

    fn file(&self, kind: &str) -> PathBuf {
        self.folder.join(format!("{}.{kind}", self.peer.name.replace(' ', "-")))
    }
}

impl Contestant for Driver {
    fn name(&self) -> &str {
        &self.peer.name
    }

    fn protocol(&self) -> &'static str {
        self.peer.protocol
    }

    fn calls(&self) -> &'static [Call] {
        self.peer.calls
    }

    fn load(&mut self, workload: &Workload) -> Result<(), Failure> {
        self.start()?;
        self.members = workload.members.len();
        let path = self.file("group");
        exchange::write_group(&path, workload, &workload.joined(self.peer.protocol))
            .map_err(|error| Failure::Refused(format!("{}: {error}", path.display())))?;
        let loaded = self.ask(&format!("load {}", path.display()), PATIENCE);
        let _ = std::fs::remove_file(&path);
        loaded.map(drop)
    }

    fn call(&mut self, call: Call, times: u32) -> Result<Spent, Failure> {
        let answer = self.ask(&format!("{call} {times}"), self.limit)?;
        spent(&answer, times)
            .ok_or_else(|| Failure::Refused(format!("five figures were expected, not {answer:?}")))
    }

    fn answer(&mut self) -> Result<Answer, Failure> {
        let path = self.file("answer");
        self.ask(&format!("write {}", path.display()), PATIENCE)?;
        let bytes =
            std::fs::read(&path).map_err(|error| Failure::Refused(format!("{}: {error}", path.display())))?;
        let _ = std::fs::remove_file(&path);
        exchange::read_answer(&bytes, self.members).map_err(Failure::Refused)
    }

    fn version(&self) -> Option<String> {
        self.version.clone()
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Processor time of a process with all its threads, where the system tells: in hundredths of a second, as Linux has it.
fn processor_time(id: u32) -> Option<Duration> {
    let line = std::fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    // The program's name may hold anything; what follows its closing bracket does not.
    let mut fields = line.rsplit_once(')')?.1.split_whitespace().skip(11);
    let mut ticks = || fields.next()?.parse::<u64>().ok();
    Some(Duration::from_millis((ticks()? + ticks()?) * 10))
}

fn spent(answer: &str, calls: u32) -> Option<Spent> {
    let figures: Vec<&str> = answer.split(' ').collect();
    let [cpu, process, wall, bytes, allocations] = figures[..] else { return None };
    Some(Spent {
        calls,
        cpu_ns: cpu.parse().ok()?,
        process_ns: process.parse().ok()?,
        wall_ns: wall.parse().ok()?,
        bytes: bytes.parse().ok()?,
        allocations: if allocations == "-" { None } else { Some(allocations.parse().ok()?) },
    })
}

#[cfg(test)]
mod tests {
    use core::time::Duration;

    use super::{Driver, Spent, spent};
    use crate::contest::peers::Peer;
    use crate::contest::{Call, Failure};

    /// A peer that is a few lines of shell.
    fn shell(script: &str, limit: Duration) -> Driver {
        let command = ["sh", "-c", script].map(str::to_string).to_vec();
        let peer =
            Peer { name: "shell".into(), command, protocol: "sticky", calls: &[Call::Plan], lists: false };
        Driver::new(peer, limit, &std::env::temp_dir())
    }

    #[test]
    fn five_figures_are_read() {
        let expected =
            Spent { calls: 3, cpu_ns: 1, process_ns: 2, wall_ns: 3, bytes: 4, allocations: Some(5) };
        assert_eq!(spent("1 2 3 4 5", 3), Some(expected));
        assert_eq!(spent("1 2 3 4 -", 3), Some(Spent { allocations: None, ..expected }));
        assert_eq!(spent("1 2 3 4", 3), None);
        assert_eq!(spent("1 2 3 4 x", 3), None);
    }

    #[test]
    fn a_silent_peer_is_stopped_and_starts_again() {
        use crate::contest::Contestant as _;
        let limit = Duration::from_millis(200);
        let mut driver =
            shell("echo shell 1; read line; echo ok 1 1 1 1 1; read line; while :; do :; done", limit);
        driver.start().unwrap();
        assert_eq!(driver.version().as_deref(), Some("shell 1"));
        assert_eq!(driver.call(Call::Plan, 1).map(|spent| spent.cpu_ns), Ok(1));
        assert_eq!(driver.call(Call::Plan, 1), Err(Failure::Silent(limit)));
        assert!(driver.running.is_none());
        driver.start().unwrap();
        assert!(driver.call(Call::Plan, 1).is_ok());
    }

    #[test]
    fn who_had_no_processor_gets_more_time() {
        use crate::contest::Contestant as _;
        let limit = Duration::from_secs(1);
        let mut driver = shell("echo shell 1; read line; sleep 1.2; echo ok 1 1 1 1 1; read line", limit);
        driver.start().unwrap();
        assert!(driver.call(Call::Plan, 1).is_ok(), "it slept, it did not work");
    }

    #[test]
    fn a_peer_that_refuses_or_dies_does_not_take_the_bench_with_it() {
        use crate::contest::Contestant as _;
        let limit = Duration::from_secs(20);
        let mut driver = shell("echo shell 1; read line; echo error too large; read line; exit 1", limit);
        driver.start().unwrap();
        assert_eq!(driver.call(Call::Plan, 1), Err(Failure::Refused("too large".to_string())));
        assert_eq!(driver.call(Call::Plan, 1), Err(Failure::Refused("the process ended".to_string())));
    }
}
