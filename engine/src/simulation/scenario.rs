//! Courses that operators know, for the timeline: the same one can be run eager and cooperative.

use super::fault::{Disturbance, DisturbanceKind, Faults};
use super::transactions::{Naming, TransactionOptions, TransactionStep};
use super::workload::{Options, ProcessOptions, Regime, lists};
use crate::fence::Rules;
use crate::protocol::selection::RebalanceProtocol;
use crate::revoke::Mode;

/// A named course of events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Scenario {
    /// Every process is restarted in turn.
    RollingRestart,
    /// The same with static members (KIP-345).
    RollingRestartStatic,
    /// The group grows from two processes to four.
    ScaleOut,
    /// One process after the other leaves.
    ScaleIn,
    /// A process dies without a word.
    Crash,
    /// A process stands still longer than its session, then goes on: a zombie.
    LongPause,
    /// A topic grows.
    TopicGrows,
    /// The coordinator moves to another broker.
    Failover,
    /// Two rolling restarts lead from `range` to `cooperative-sticky` (KIP-429).
    Upgrade,
    /// The way back.
    Downgrade,
    /// Two rolling restarts lead from `cooperative-sticky` to Tenure's own assignor.
    UpgradeToOwn,
    /// The way back.
    DowngradeFromOwn,
    /// The five steps of KIP-447's edge case: a process stands still before it commits a transaction's offsets, its
    /// partitions go to another, and it wakes up and commits.
    ZombieCommit,
}

impl Scenario {
    /// All scenarios.
    pub const ALL: [Self; 13] = [
        Self::RollingRestart,
        Self::RollingRestartStatic,
        Self::ScaleOut,
        Self::ScaleIn,
        Self::Crash,
        Self::LongPause,
        Self::TopicGrows,
        Self::Failover,
        Self::Upgrade,
        Self::Downgrade,
        Self::UpgradeToOwn,
        Self::DowngradeFromOwn,
        Self::ZombieCommit,
    ];

    /// The scenario's name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::RollingRestart => "rolling-restart",
            Self::RollingRestartStatic => "rolling-restart-static",
            Self::ScaleOut => "scale-out",
            Self::ScaleIn => "scale-in",
            Self::Crash => "crash",
            Self::LongPause => "long-pause",
            Self::TopicGrows => "topic-grows",
            Self::Failover => "failover",
            Self::Upgrade => "upgrade",
            Self::Downgrade => "downgrade",
            Self::UpgradeToOwn => "upgrade-to-own",
            Self::DowngradeFromOwn => "downgrade-from-own",
            Self::ZombieCommit => "zombie-commit",
        }
    }

    /// The scenario with this name.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.name() == name)
    }

    /// Whether it makes sense to run it once eager and once cooperative.
    pub const fn compares(self) -> bool {
        self.rollout().is_none() && !matches!(self, Self::ZombieCommit)
    }

    /// The lists that are rolled out one after the other, if that is what it is about.
    const fn rollout(self) -> Option<[&'static [&'static str]; 2]> {
        Some(match self {
            Self::Upgrade => [lists::RANGE_COOPERATIVE, lists::COOPERATIVE],
            Self::Downgrade => [lists::COOPERATIVE_RANGE, lists::RANGE],
            Self::UpgradeToOwn => [lists::COOPERATIVE_TENURE, lists::TENURE],
            Self::DowngradeFromOwn => [lists::TENURE_COOPERATIVE, lists::COOPERATIVE],
            _ => return None,
        })
    }

    /// The run of this scenario under a rebalance protocol. An upgrade and a downgrade follow their own lists.
    pub fn options(self, protocol: RebalanceProtocol, seed: u64) -> Options {
        let (regime, assignors) = match (self, protocol) {
            (Self::Upgrade, _) => (Regime::Upgrade, lists::RANGE),
            (Self::Downgrade, _) => (Regime::Downgrade, lists::COOPERATIVE),
            (Self::UpgradeToOwn, _) => (Regime::UpgradeToOwn, lists::COOPERATIVE),
            (Self::DowngradeFromOwn, _) => (Regime::DowngradeFromOwn, lists::TENURE),
            (_, RebalanceProtocol::Eager) => (Regime::Eager, lists::RANGE),
            (_, RebalanceProtocol::Cooperative) => (Regime::Cooperative, lists::TENURE),
        };
        let process = ProcessOptions {
            assignors,
            subscription_version: 3,
            fixed: self == Self::RollingRestartStatic,
            topics: 0b11,
        };
        let mut options = Options {
            seed,
            regime,
            mode: Mode::Shipped,
            topics: vec![Some(6), Some(6)],
            processes: vec![process; 4],
            faults: Faults::NONE,
            disturbances: Vec::new(),
            duration_ms: 40_000,
            outlook: false,
            transactions: None,
            mutation: None,
        };
        let step_ms = 6_000;
        let mut plan = |at_ms, kind| options.disturbances.push(Disturbance { at_ms, kind });
        match self {
            Self::RollingRestart | Self::RollingRestartStatic => {
                for process in 0..4_usize {
                    plan(
                        10_000 + step_ms * process as u64,
                        DisturbanceKind::Restart { process, for_ms: 2_000 },
                    );
                }
            }
            Self::ScaleOut => {
                // Two of them were stopped before the start, in effect: they come late.
                plan(1, DisturbanceKind::Crash { process: 2, for_ms: 10_000 });
                plan(1, DisturbanceKind::Crash { process: 3, for_ms: 18_000 });
            }
            Self::ScaleIn => {
                plan(10_000, DisturbanceKind::Restart { process: 3, for_ms: 60_000 });
                plan(18_000, DisturbanceKind::Restart { process: 2, for_ms: 60_000 });
            }
            Self::Crash => plan(10_000, DisturbanceKind::Crash { process: 1, for_ms: 20_000 }),
            Self::LongPause => plan(10_000, DisturbanceKind::Pause { process: 1, for_ms: 12_000 }),
            Self::TopicGrows => plan(10_000, DisturbanceKind::GrowTopic { topic: 0, by: 3 }),
            Self::Failover => plan(10_000, DisturbanceKind::Failover { load_ms: 1_500 }),
            Self::ZombieCommit => {
                options.topics = vec![Some(2)];
                options.processes.truncate(2);
                options.duration_ms = 30_000;
                options.transactions = Some(TransactionOptions {
                    rules: Rules::Draft,
                    naming: Naming::Member,
                    timeout_ms: 10_000,
                    pace_ms: 2_000,
                });
                let step = TransactionStep::CommitOffsets;
                let kind = DisturbanceKind::PauseAt { process: 0, step, for_ms: 9_000 };
                options.disturbances.push(Disturbance { at_ms: 10_000, kind });
            }
            Self::Upgrade | Self::Downgrade | Self::UpgradeToOwn | Self::DowngradeFromOwn => {
                options.duration_ms = 70_000;
                for (round, assignors) in self.rollout().into_iter().flatten().enumerate() {
                    for process in 0..4_usize {
                        let at_ms = 10_000 + step_ms * (round * 4 + process) as u64;
                        let kind = DisturbanceKind::Relist { process, assignors };
                        options.disturbances.push(Disturbance { at_ms, kind });
                    }
                }
            }
        }
        options
    }
}
