//! The options that every subcommand that plans has in common, and the planner that follows from them.

use std::path::{Path, PathBuf};

use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use clap::{Args, ValueEnum, value_parser};
use tenure::Group;
use tenure::plan::{self, Assignor, Config, Outcome, Plan, Scratch, Strategy};
use tenure::protocol::leader::Leader;
use tenure::revoke;
use tenure::topology::PARTITION_LIMIT;
use tenure::verify::Certificate;
use tenure_cli::snapshot::{self, Snapshot};

use crate::failure::Failure;

/// How to plan.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Planning")]
pub(crate) struct Settings {
    /// Plans with this assignor, whatever the snapshot says
    #[arg(long, value_name = "NAME", value_parser = strategy_parser())]
    assignor: Option<Strategy>,

    /// The cooperative protocol as Kafka ships it, or as the draft of KIP-429 has it
    #[arg(long, value_enum, default_value_t = Mode::Shipped, hide_possible_values = true, value_name = "shipped|draft")]
    mode: Mode,

    /// What comes first after balance when racks are known
    #[arg(long, value_enum, default_value_t = Objective::RackFirst, hide_possible_values = true, value_name = "rack-first|moves-first")]
    objective: Objective,

    /// How hard to work on spreading each topic over its subscribers
    #[arg(long, value_enum, default_value_t = Spread::Greedy, hide_possible_values = true, value_name = "greedy|exact")]
    spread: Spread,

    /// Threads to plan with; the answer is the same for any number
    #[arg(long, value_name = "N", value_parser = value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,

    /// Partitions that the topics of one snapshot may have together
    #[arg(long, value_name = "N", default_value_t = PARTITION_LIMIT, value_parser = value_parser!(u32).range(0..=i64::from(i32::MAX)))]
    max_partitions: u32,

    /// What members subscribe to, for prints that don't say: JSON like {"client-1": ["orders"], "*": ["clicks"]}
    #[arg(long, value_name = "FILE")]
    subscriptions: Option<PathBuf>,
}

/// `--mode`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Mode {
    /// Kafka 2.4 and later.
    Shipped,
    /// The text of KIP-429.
    Draft,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Objective {
    RackFirst,
    MovesFirst,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Spread {
    Greedy,
    Exact,
}

fn strategy_parser() -> impl clap::builder::TypedValueParser<Value = Strategy> {
    PossibleValuesParser::new(Strategy::ALL.map(Strategy::name)).try_map(|name| name.parse::<Strategy>())
}

impl Settings {
    /// How snapshots are read.
    pub(crate) fn reading(&self) -> snapshot::Options {
        snapshot::Options { strategy: self.assignor, partition_limit: self.max_partitions }
    }

    /// Partitions that the topics of a group may have together.
    pub(crate) fn partition_limit(&self) -> u32 {
        self.max_partitions
    }

    /// The assignor that takes the place of the snapshot's.
    pub(crate) fn strategy(&self) -> Option<Strategy> {
        self.assignor
    }

    /// The file that says what members subscribe to.
    pub(crate) fn subscriptions(&self) -> Option<&Path> {
        self.subscriptions.as_deref()
    }

    /// The cooperative protocol's mode.
    pub(crate) fn mode(&self) -> revoke::Mode {
        match self.mode {
            Mode::Shipped => revoke::Mode::Shipped,
            Mode::Draft => revoke::Mode::Draft,
        }
    }

    /// Sets the number of threads for the whole process; call it once, before planning.
    pub(crate) fn start_threads(&self) -> Result<(), Failure> {
        let Some(threads) = self.threads else { return Ok(()) };
        rayon::ThreadPoolBuilder::new().num_threads(threads.into()).build_global().map_err(|error| {
            Failure::input(format_args!("cannot start {threads} threads: {error}; give a smaller --threads"))
        })
    }

    /// The leader that plans as these settings say.
    pub(crate) fn leader(&self) -> Leader {
        Leader::new().mode(self.mode()).config(self.config())
    }

    /// All but the strategy.
    fn config(&self) -> Config {
        let objective = match self.objective {
            Objective::RackFirst => plan::Objective::RackThenMoves,
            Objective::MovesFirst => plan::Objective::MovesThenRack,
        };
        let spread = match self.spread {
            Spread::Greedy => plan::Spread::Greedy,
            Spread::Exact => plan::Spread::Exact,
        };
        Config::new().objective(objective).spread(spread)
    }

    /// The assignor for groups of this strategy.
    pub(crate) fn assignor(&self, strategy: Strategy) -> Assignor {
        Assignor::new(self.config().strategy(strategy))
    }
}

/// Plans one group after another in the same memory.
pub(crate) struct Planner<'a> {
    settings: &'a Settings,
    scratch: Scratch,
    plan: Plan,
}

impl<'a> Planner<'a> {
    pub(crate) fn new(settings: &'a Settings) -> Self {
        Self { settings, scratch: Scratch::default(), plan: Plan::default() }
    }

    /// Plans a group and proves the plan.
    pub(crate) fn certify(
        &mut self,
        group: &Group,
        strategy: Strategy,
    ) -> Result<(&Plan, Outcome, Certificate), Failure> {
        let shape = group.shape();
        self.scratch.reset(shape);
        self.plan.reset(shape);
        let mut certificate = Certificate::with_shape(shape);
        let assignor = self.settings.assignor(strategy);
        let outcome = assignor
            .certify_into(group, &mut self.scratch, &mut self.plan, &mut certificate)
            .map_err(fault)?;
        Ok((&self.plan, outcome, certificate))
    }

    /// Plans a group; the plan stays readable until the next call.
    pub(crate) fn plan(&mut self, snapshot: &Snapshot) -> Result<(&Plan, Outcome), Failure> {
        let shape = snapshot.group.shape();
        self.scratch.reset(shape);
        self.plan.reset(shape);
        let assignor = self.settings.assignor(snapshot.strategy);
        let outcome =
            assignor.assign_into(&snapshot.group, &mut self.scratch, &mut self.plan).map_err(fault)?;
        Ok((&self.plan, outcome))
    }
}

/// What can only be a fault of ours.
fn fault(error: impl core::fmt::Display) -> Failure {
    Failure::input(format_args!("this is a fault of tenure, please report it: {error}"))
}
