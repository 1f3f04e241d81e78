//! Groups of a running cluster, in place of a file. Nothing is changed there: groups and topics are only described.

use core::future::Future;
use core::time::Duration;
use std::path::PathBuf;
use std::time::Instant;

use clap::{Args, value_parser};
use tenure_cli::live::{self, LiveGroup};
use tenure_client::{ClientConfig, ClientError, Cluster, GroupDescription, GroupState, Properties, Topic};

use super::input::{Loaded, Source};
use super::settings::Settings;
use crate::console::Console;
use crate::failure::Failure;

/// How to reach a cluster.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Live cluster")]
pub(crate) struct Connection {
    /// Looks at a running cluster in place of a file; brokers with commas between them
    #[arg(long, value_name = "HOST:PORT", value_delimiter = ',')]
    bootstrap_server: Vec<String>,

    /// A properties file as Kafka's own tools take it: security.protocol, sasl.jaas.config, ssl.truststore.location …
    #[arg(long, value_name = "FILE", requires = "bootstrap_server")]
    command_config: Option<PathBuf>,

    /// How long to wait for the cluster's answers
    #[arg(long, value_name = "MS", default_value_t = 10_000, value_parser = value_parser!(u64).range(1..=3_600_000))]
    timeout: u64,
}

/// Which group of which cluster.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Live cluster")]
pub(crate) struct Live {
    #[command(flatten)]
    pub(crate) connection: Connection,

    /// The group to look at
    #[arg(long, value_name = "ID", requires = "bootstrap_server")]
    group: Option<String>,
}

impl Live {
    /// The group, read from its cluster; `None` if no cluster is named. `files` says whether files were named too.
    pub(crate) fn load(
        &self,
        files: bool,
        settings: &Settings,
        console: &Console,
    ) -> Result<Option<Loaded>, Failure> {
        self.connection.load(self.group.as_deref(), files, settings, console)
    }

    /// The group's name.
    pub(crate) fn group(&self) -> Option<&str> {
        self.group.as_deref()
    }
}

impl Connection {
    /// As [`Live::load`], for a group that is named elsewhere.
    pub(crate) fn load(
        &self,
        group: Option<&str>,
        files: bool,
        settings: &Settings,
        console: &Console,
    ) -> Result<Option<Loaded>, Failure> {
        if self.bootstrap_server.is_empty() {
            return Ok(None);
        }
        if files {
            return Err(Failure::input("a file and --bootstrap-server are two groups; give one of them"));
        }
        if settings.subscriptions().is_some() {
            return Err(Failure::input(
                "a live group tells its subscriptions itself; leave out --subscriptions",
            ));
        }
        let config = self.config(console)?;
        let limit = Duration::from_millis(self.timeout);
        let (description, topics) = block_on(async {
            let cluster = Cluster::connect(config).await?;
            let group = require(&cluster, group).await?;
            let description = settled(&cluster, &group, limit).await?;
            let topics = cluster.topics(&LiveGroup::wanted_topics(&description)).await?;
            Ok((description, topics))
        })?;
        check(&description, &topics)?;
        let live =
            live::understand(&description, &topics, settings.strategy(), settings.partition_limit())
                .map_err(|error| Failure::input(format_args!("group {:?}: {error}", description.group_id)))?;
        Ok(Some(Loaded {
            name: Some(description.group_id),
            snapshot: live.snapshot,
            assumptions: live.assumptions,
        }))
    }

    /// The client's settings.
    pub(crate) fn config(&self, console: &Console) -> Result<ClientConfig, Failure> {
        let mut config = ClientConfig::new(self.bootstrap_server.iter().map(|server| server.trim()));
        config.client_id = "tenure-cli".into();
        if let Some(path) = &self.command_config {
            let source = Source::new(path);
            let bytes = source.read()?;
            let text = String::from_utf8(bytes).map_err(|error| {
                let at = error.utf8_error().valid_up_to();
                Failure::input(format_args!("{source}: byte {at} is no UTF-8; write \\uXXXX for it"))
            })?;
            let unknown = Properties::parse(&text)
                .apply(&mut config)
                .map_err(|error| Failure::input(format_args!("{source}: {error}")))?;
            if !unknown.is_empty() {
                console.note(&format_args!("{source}: means nothing here: {}", unknown.join(", ")));
            }
        }
        // What the command line says counts.
        config.request_timeout_ms = config.request_timeout_ms.min(self.timeout);
        config.connect_timeout_ms = config.connect_timeout_ms.min(self.timeout);
        Ok(config)
    }

    /// Whether a cluster is named.
    pub(crate) fn is_wanted(&self) -> bool {
        !self.bootstrap_server.is_empty()
    }
}

/// Runs what talks to a cluster.
pub(crate) fn block_on<T>(work: impl Future<Output = Result<T, ClientError>>) -> Result<T, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::input(format_args!("cannot start: {error}")))?;
    runtime.block_on(work).map_err(Failure::input)
}

/// The group's name, or the names to choose from.
pub(crate) async fn require(cluster: &Cluster, group: Option<&str>) -> Result<String, ClientError> {
    if let Some(group) = group {
        return Ok(group.to_owned());
    }
    let names: Vec<String> = cluster
        .list_groups()
        .await?
        .into_iter()
        .filter(|one| matches!(one.protocol_type.as_str(), "consumer" | ""))
        .map(|one| one.group_id)
        .collect();
    let needed = match names.len() {
        0 => "a name; the cluster shows no group".to_owned(),
        1..=20 => format!("one of {}", names.join(", ")),
        many => format!("one of the cluster's {many} groups, such as {}", names[..20].join(", ")),
    };
    Err(ClientError::Config { setting: "--group".into(), given: "missing".into(), needed })
}

/// The group once it is between no two generations: only then its coordinator tells who holds what.
async fn settled(cluster: &Cluster, group: &str, limit: Duration) -> Result<GroupDescription, ClientError> {
    let begun = Instant::now();
    loop {
        let description = cluster.describe_group(group).await?;
        if !description.state.is_rebalancing() || begun.elapsed() >= limit {
            return Ok(description);
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

/// Refuses what can't be planned from.
fn check(description: &GroupDescription, topics: &[Topic]) -> Result<(), Failure> {
    let group = &description.group_id;
    if !matches!(description.protocol_type.as_str(), "consumer" | "") {
        return Err(Failure::input(format_args!(
            "group {group:?} is of {:?}, not of consumers; name a consumer group",
            description.protocol_type
        )));
    }
    if description.state.is_rebalancing() {
        return Err(Failure::input(format_args!(
            "group {group:?} is rebalancing ({}) and did not settle in time; try again, wait longer with --timeout, \
             or look on with `tenure watch`",
            description.state.name()
        )));
    }
    if description.members.is_empty() || description.state == GroupState::Empty {
        return Err(Failure::input(format_args!("group {group:?} has no members at present; start one")));
    }
    for topic in topics {
        if topic.error.code() == TOPIC_AUTHORIZATION_FAILED {
            return Err(Failure::input(format_args!(
                "not authorised to describe topic {:?}: its partitions can't be counted; grant DESCRIBE on it",
                topic.name
            )));
        }
    }
    Ok(())
}

const TOPIC_AUTHORIZATION_FAILED: i16 = 29;
