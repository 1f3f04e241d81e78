//! Tenure itself, in this process: a planner with its scratch and a leader with its own, both kept warm.

use core::hint::black_box;
use std::time::Instant;

use rustix::time::{ClockId, clock_gettime};
use tenure::Topology;
use tenure::plan::{Assignor, Config, Strategy};
use tenure::protocol::leader::{Leader, LeaderScratch};
use tenure::protocol::message::JoinMember;

use super::exchange::Answer;
use super::{Call, Contestant, Failure, Spent};
use crate::alloc;
use crate::measure::{Bench, thread_time};
use crate::workloads::Workload;

/// Its name in reports.
pub const NAME: &str = "tenure";

const PROTOCOL: &str = "cooperative-sticky";

/// Tenure as a contestant.
#[derive(Default, Debug)]
pub struct Own {
    loaded: Option<Loaded>,
}

#[derive(Debug)]
struct Loaded {
    bench: Bench,
    members: Vec<JoinMember>,
    topology: Topology,
    scratch: LeaderScratch,
}

impl Own {
    /// What the assignor says of the loaded group.
    pub fn bench(&self) -> Option<&Bench> {
        self.loaded.as_ref().map(|loaded| &loaded.bench)
    }
}

/// An assignor as Java's cooperative one.
pub const fn assignor() -> Assignor {
    Assignor::new(Config::new().strategy(Strategy::CooperativeSticky))
}

impl Loaded {
    fn round(&mut self) -> Result<&[u8], Failure> {
        let Self { members, topology, scratch, .. } = self;
        let first = members.first().map_or("", |member| member.member_id.as_str());
        match Leader::new().round_into(PROTOCOL, members, first, topology, scratch) {
            Ok(round) => Ok(round.bytes()),
            Err(error) => Err(Failure::Refused(error.to_string())),
        }
    }
}

impl Contestant for Own {
    fn name(&self) -> &str {
        NAME
    }

    fn protocol(&self) -> &'static str {
        PROTOCOL
    }

    fn calls(&self) -> &'static [Call] {
        &[Call::Plan, Call::PlanRead, Call::Round]
    }

    fn load(&mut self, workload: &Workload) -> Result<(), Failure> {
        self.loaded = None;
        let bench = Bench::new(workload.group(), assignor()).map_err(Failure::Refused)?;
        let members = workload.joined(PROTOCOL);
        let topology = workload.topology();
        self.loaded = Some(Loaded { bench, members, topology, scratch: LeaderScratch::new() });
        Ok(())
    }

    fn call(&mut self, call: Call, times: u32) -> Result<Spent, Failure> {
        let loaded =
            self.loaded.as_mut().ok_or_else(|| Failure::Refused("no group is loaded".to_string()))?;
        let (wall, process, cpu) = (Instant::now(), process_ns(), thread_time());
        let (done, used) = alloc::count(|| -> Result<(), Failure> {
            for _ in 0..times {
                match call {
                    Call::Plan => _ = black_box(loaded.bench.plan_again()),
                    Call::PlanRead => _ = black_box(loaded.bench.round()),
                    Call::Round => _ = black_box(loaded.round()?),
                }
            }
            Ok(())
        });
        let cpu = thread_time() - cpu;
        let (process, wall) = (process_ns() - process, wall.elapsed());
        done?;
        Ok(Spent {
            calls: times,
            cpu_ns: cpu.as_nanos() as u64,
            process_ns: process,
            wall_ns: wall.as_nanos() as u64,
            bytes: used.bytes,
            allocations: Some(used.allocations),
        })
    }

    fn answer(&mut self) -> Result<Answer, Failure> {
        let loaded =
            self.loaded.as_mut().ok_or_else(|| Failure::Refused("no group is loaded".to_string()))?;
        let Loaded { members, topology, scratch, .. } = loaded;
        let first = members.first().map_or("", |member| member.member_id.as_str());
        let round = Leader::new()
            .round_into(PROTOCOL, members, first, topology, scratch)
            .map_err(|error| Failure::Refused(error.to_string()))?;
        Ok(Answer::Bytes(round.assignments().map(|(_, bytes)| bytes.to_vec()).collect()))
    }

    fn version(&self) -> Option<String> {
        Some(format!("tenure {}", env!("CARGO_PKG_VERSION")))
    }
}

fn process_ns() -> u64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec.unsigned_abs() * 1_000_000_000 + time.tv_nsec.unsigned_abs()
}
