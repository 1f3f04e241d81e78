//! What a run is made of: groups of every kind, derived from a seed.

use core::fmt;

use super::fault::{Disturbance, DisturbanceKind, Faults};
use super::mutation::Mutation;
use super::random::Random;
use super::transactions::{Naming, TransactionOptions, TransactionStep};
use crate::fence::Rules;
use crate::revoke::Mode;

/// One client process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessOptions {
    /// Its assignors in preference order.
    pub assignors: &'static [&'static str],
    /// The version of its subscriptions: 0 claims nothing, 1 has no generation.
    pub subscription_version: i16,
    /// Whether it is a static member.
    pub fixed: bool,
    /// Its topics, bit by topic number.
    pub topics: u32,
}

impl ProcessOptions {
    /// Whether its client knows of claims: it writes them and, as leader, reads them.
    pub(super) fn claims(&self) -> bool {
        self.subscription_version > 0 || self.assignors.iter().any(|name| name.contains("cooperative"))
    }
}

/// Everything a run depends on. The same options give the same run, event by event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// The seed of all chances in the run.
    pub seed: u64,
    /// What kind of group it is, for the reader.
    pub regime: Regime,
    /// Which text of KIP-429 the members follow.
    pub mode: Mode,
    /// The partitions of each topic at the start; none means that it does not exist yet.
    pub topics: Vec<Option<i32>>,
    /// The processes.
    pub processes: Vec<ProcessOptions>,
    /// What goes wrong by chance.
    pub faults: Faults,
    /// What happens at planned times, in order.
    pub disturbances: Vec<Disturbance>,
    /// So long things go wrong; then the group must settle.
    pub duration_ms: u64,
    /// Whether brokers and members go by the outlook of KIP-429: rebalance protocols in heartbeats, and the leader with
    /// the highest version of the assignor.
    pub outlook: bool,
    /// The transactional workload, if this run has it instead of plain commits.
    pub transactions: Option<TransactionOptions>,
    /// A fault planted on purpose. A run with it must be caught.
    pub mutation: Option<Mutation>,
}

/// What kind of group a run has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Regime {
    /// All follow Tenure's cooperative assignor.
    Cooperative,
    /// All follow `cooperative-sticky`.
    KafkaCooperative,
    /// All follow one eager assignor.
    Eager,
    /// All list a cooperative and an eager assignor, in orders of their own, so that the vote may change.
    BothLists,
    /// Two rolling restarts lead from `range` to `cooperative-sticky`.
    Upgrade,
    /// The way back.
    Downgrade,
    /// Two rolling restarts lead from `cooperative-sticky` to Tenure's own assignor, where claims travel in compact
    /// user data alone.
    UpgradeToOwn,
    /// The way back.
    DowngradeFromOwn,
    /// Each process has a list of its own, whether it fits the others' or not: whoever does not is refused, and nothing
    /// has two owners.
    Misconfigured,
}

/// The assignor lists that runs use.
pub(super) mod lists {
    pub(in super::super) const TENURE: &[&str] = &["tenure-cooperative-sticky"];
    pub(in super::super) const COOPERATIVE: &[&str] = &["cooperative-sticky"];
    pub(in super::super) const RANGE: &[&str] = &["range"];
    pub(in super::super) const ROUND_ROBIN: &[&str] = &["roundrobin"];
    pub(in super::super) const STICKY: &[&str] = &["sticky"];
    pub(in super::super) const RANGE_COOPERATIVE: &[&str] = &["range", "cooperative-sticky"];
    pub(in super::super) const COOPERATIVE_RANGE: &[&str] = &["cooperative-sticky", "range"];
    pub(in super::super) const COOPERATIVE_TENURE: &[&str] =
        &["cooperative-sticky", "tenure-cooperative-sticky"];
    pub(in super::super) const TENURE_COOPERATIVE: &[&str] =
        &["tenure-cooperative-sticky", "cooperative-sticky"];
    pub(in super::super) const RANGE_TENURE: &[&str] = &["range", "tenure-cooperative-sticky"];
    pub(in super::super) const TENURE_RANGE: &[&str] = &["tenure-cooperative-sticky", "range"];
    pub(in super::super) const ALL: [&[&str]; 10] = [
        TENURE,
        COOPERATIVE,
        RANGE,
        ROUND_ROBIN,
        STICKY,
        RANGE_COOPERATIVE,
        COOPERATIVE_RANGE,
        COOPERATIVE_TENURE,
        RANGE_TENURE,
        TENURE_RANGE,
    ];
}

/// Sets the choice of Tenure's own assignor apart from all others.
const OWN: u64 = 0x6f77_6e20_6173_7367;

/// Sets the outlook of KIP-429 apart.
const OUTLOOK: u64 = 0x6f75_746c_6f6f_6b21;

/// Sets lists that don't fit each other apart.
const MISFITS: u64 = 0x6d69_7366_6974_7321;

impl Options {
    /// The options of the run with this seed.
    pub fn derive(seed: u64) -> Self {
        let mut random = Random::new(seed);
        // Drawn apart, so that a seed means the run that it meant before there was this choice.
        let own = Random::new(seed ^ OWN).chance(500);
        let mut misfits = Random::new(seed ^ MISFITS);
        let regime = match random.below(12) {
            _ if misfits.chance(80) => Regime::Misconfigured,
            0..=3 => Regime::Cooperative,
            4..=5 => Regime::KafkaCooperative,
            6..=7 => Regime::Eager,
            8..=9 => Regime::BothLists,
            10 if own => Regime::UpgradeToOwn,
            10 => Regime::Upgrade,
            _ if own => Regime::DowngradeFromOwn,
            _ => Regime::Downgrade,
        };
        let mode =
            if regime == Regime::Cooperative && random.chance(300) { Mode::Draft } else { Mode::Shipped };
        let topics: Vec<Option<i32>> = (0..random.between(1, 4))
            .map(|_| if random.chance(150) { None } else { Some(random.between(1, 8) as i32) })
            .collect();
        let eager = [lists::RANGE, lists::ROUND_ROBIN, lists::STICKY][random.index(3)];
        let mixed_topics = random.chance(400);
        let all_topics = (1_u32 << topics.len()) - 1;
        let processes = (0..random.between(2, 7))
            .map(|_| {
                let assignors = match regime {
                    Regime::Cooperative | Regime::DowngradeFromOwn => lists::TENURE,
                    Regime::KafkaCooperative | Regime::Downgrade | Regime::UpgradeToOwn => lists::COOPERATIVE,
                    Regime::Eager => eager,
                    Regime::Upgrade => lists::RANGE,
                    Regime::BothLists => match (random.chance(700), own) {
                        (true, true) => lists::TENURE_RANGE,
                        (true, false) => lists::COOPERATIVE_RANGE,
                        (false, true) => lists::RANGE_TENURE,
                        (false, false) => lists::RANGE_COOPERATIVE,
                    },
                    Regime::Misconfigured => lists::ALL[misfits.index(lists::ALL.len())],
                };
                let subscription_version = match regime {
                    Regime::Eager | Regime::Upgrade if random.chance(300) => 0,
                    _ if random.chance(200) => 1,
                    _ => 3,
                };
                let chosen = (random.next() as u32) & all_topics;
                ProcessOptions {
                    assignors,
                    subscription_version,
                    fixed: random.chance(250),
                    topics: if mixed_topics && chosen != 0 { chosen } else { all_topics },
                }
            })
            .collect::<Vec<_>>();
        let rough = random.chance(800);
        let faults = if rough {
            Faults {
                loss_per_mille: random.below(60) as u32,
                duplicate_per_mille: random.below(40) as u32,
                slow_per_mille: random.below(60) as u32,
                slow_max_ms: random.between(500, 12_000),
                latency_max_ms: random.between(1, 60),
                reorder: random.chance(400),
                callback_failure_per_mille: random.below(200) as u32,
                callback_slow_per_mille: random.below(60) as u32,
                callback_slow_max_ms: random.between(200, 12_000),
            }
        } else {
            Faults::NONE
        };
        let duration_ms = random.between(30_000, 120_000);
        let mut options = Self {
            seed,
            regime,
            mode,
            topics,
            processes,
            faults,
            disturbances: Vec::new(),
            duration_ms,
            outlook: Random::new(seed ^ OUTLOOK).chance(150),
            transactions: None,
            mutation: None,
        };
        options.plan_disturbances(&mut random);
        options
    }

    /// The options of the run with this seed and the transactional workload: the same group, and more to go wrong.
    pub fn derive_transactional(seed: u64) -> Self {
        let mut options = Self::derive(seed);
        let mut random = Random::new(seed ^ 0x7472_616e_7361_6374);
        options.transactions = Some(TransactionOptions {
            rules: if random.chance(300) { Rules::Draft } else { Rules::Shipped },
            naming: [Naming::Process, Naming::Member, Naming::Group][random.index(3)],
            timeout_ms: random.between(5_000, 15_000),
            pace_ms: random.between(100, 1_200),
        });
        let mean_gap_ms = random.between(1_500, 6_000);
        let mut at_ms = 3_000;
        while at_ms < options.duration_ms {
            let process = random.index(options.processes.len());
            let kind = match random.below(10) {
                0 => DisturbanceKind::TransactionFailover { load_ms: random.between(0, 3_000) },
                _ => DisturbanceKind::PauseAt {
                    process,
                    step: TransactionStep::ALL[random.index(TransactionStep::ALL.len())],
                    for_ms: random.between(50, 20_000),
                },
            };
            options.disturbances.push(Disturbance { at_ms, kind });
            at_ms += random.between(1, 2 * mean_gap_ms);
        }
        options.disturbances.sort_by_key(|one| one.at_ms);
        options
    }

    fn plan_disturbances(&mut self, random: &mut Random) {
        let count = self.processes.len();
        let all_topics = (1_u64 << self.topics.len()) - 1;
        let mean_gap_ms = random.between(600, 4_000);
        let mut at_ms = 2_000;
        while at_ms < self.duration_ms {
            let process = random.index(count);
            let topic = random.index(self.topics.len());
            let for_ms = random.between(50, 15_000);
            let kind = match random.below(100) {
                0..=14 => DisturbanceKind::Crash { process, for_ms },
                15..=29 => DisturbanceKind::Pause { process, for_ms },
                30..=39 => DisturbanceKind::Restart { process, for_ms: for_ms / 4 },
                40..=44 => DisturbanceKind::Unsubscribe { process, for_ms },
                45..=52 => {
                    DisturbanceKind::Subscribe { process, topics: random.between(1, all_topics) as u32 }
                }
                53..=67 => DisturbanceKind::Rejoin { process },
                68..=74 => DisturbanceKind::StaleMetadata { process, for_ms },
                75..=79 => DisturbanceKind::Failover { load_ms: random.between(0, 3_000) },
                80..=84 => DisturbanceKind::CreateTopic { topic, partitions: random.between(1, 8) as i32 },
                85..=88 => DisturbanceKind::DeleteTopic { topic },
                89..=95 => DisturbanceKind::GrowTopic { topic, by: random.between(1, 3) as i32 },
                _ => DisturbanceKind::ShrinkTopic { topic, by: 1 },
            };
            self.disturbances.push(Disturbance { at_ms, kind });
            at_ms += random.between(1, 2 * mean_gap_ms);
        }
        let rollout: [&'static [&'static str]; 2] = match self.regime {
            Regime::Upgrade => [lists::RANGE_COOPERATIVE, lists::COOPERATIVE],
            Regime::Downgrade => [lists::COOPERATIVE_RANGE, lists::RANGE],
            Regime::UpgradeToOwn => [lists::COOPERATIVE_TENURE, lists::TENURE],
            Regime::DowngradeFromOwn => [lists::TENURE_COOPERATIVE, lists::COOPERATIVE],
            _ => return,
        };
        let step_ms = self.duration_ms / (2 * count as u64 + 2);
        for (round, assignors) in rollout.into_iter().enumerate() {
            for process in 0..count {
                let at_ms = step_ms * (1 + round * count + process) as u64;
                self.disturbances
                    .push(Disturbance { at_ms, kind: DisturbanceKind::Relist { process, assignors } });
            }
        }
        self.disturbances.sort_by_key(|one| one.at_ms);
    }

    /// The name of a topic by its number.
    pub fn topic_name(topic: usize) -> String {
        format!("t{topic}")
    }
}

impl fmt::Display for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "seed {}", self.seed)?;
        writeln!(f, "regime {:?}, mode {:?}, {} ms of faults", self.regime, self.mode, self.duration_ms,)?;
        if self.outlook {
            writeln!(f, "with protocols in heartbeats and the newest assignor's leader")?;
        }
        if let Some(transactions) = &self.transactions {
            writeln!(f, "{transactions}")?;
        }
        if let Some(mutation) = self.mutation {
            writeln!(f, "planted on purpose: {mutation}")?;
        }
        for (topic, count) in self.topics.iter().enumerate() {
            let name = Self::topic_name(topic);
            match count {
                Some(count) => writeln!(f, "topic {name}: {count} partitions")?,
                None => writeln!(f, "topic {name}: not yet")?,
            }
        }
        for (number, one) in self.processes.iter().enumerate() {
            writeln!(
                f,
                "process {number}: {} subscription v{} topics {:#b}{}",
                one.assignors.join(","),
                one.subscription_version,
                one.topics,
                if one.fixed { " static" } else { "" }
            )?;
        }
        writeln!(f, "{:?}", self.faults)?;
        for one in &self.disturbances {
            writeln!(f, "{one}")?;
        }
        Ok(())
    }
}
