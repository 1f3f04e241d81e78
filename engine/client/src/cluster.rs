//! A cluster: its brokers, connections to them, and what is asked of any of them.

use core::sync::atomic::{AtomicUsize, Ordering};
use core::time::Duration;
use std::collections::BTreeMap;
use std::sync::Arc;

use kafka_protocol::messages::{ApiVersionsRequest, FindCoordinatorRequest};
use kafka_protocol::protocol::{Request, StrBytes};
use tenure::protocol::error::ErrorCode;
use tenure::protocol::message::CoordinatorKind;
use tokio::net::TcpStream;
use tokio::sync::Mutex;
use tokio::time::{Instant, sleep, timeout};

use crate::config::{ClientConfig, host_and_port};
use crate::connection::{Connection, Stream};
use crate::error::ClientError;
use crate::versions::Versions;

/// A Kafka cluster, as one program sees it. Clones share its connections.
///
/// Everything is looked up again when it fails: brokers by any broker that answers, coordinators by name.
///
/// # Examples
///
/// ```no_run
/// # async fn run() -> Result<(), tenure_client::ClientError> {
/// use tenure_client::{ClientConfig, Cluster};
///
/// let cluster = Cluster::connect(ClientConfig::new(["127.0.0.1:9092"])).await?;
/// for topic in cluster.all_topics().await? {
///     println!("{} has {} partitions", topic.name, topic.partitions.len());
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Cluster {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    config: ClientConfig,
    /// The brokers that the metadata named last.
    brokers: std::sync::Mutex<Brokers>,
    /// The connection for what any broker can answer.
    any: Mutex<Option<Connection>>,
    /// One connection to each broker, for short questions that only it can answer.
    nodes: Mutex<BTreeMap<i32, Connection>>,
    /// Where the search for a broker goes on.
    turn: AtomicUsize,
}

#[derive(Debug, Default)]
pub(crate) struct Brokers {
    pub(crate) nodes: BTreeMap<i32, Broker>,
    pub(crate) controller: Option<i32>,
}

/// A broker's place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Broker {
    pub(crate) host: String,
    pub(crate) port: u16,
    pub(crate) rack: Option<String>,
}

impl Cluster {
    /// Connects to the first bootstrap server that answers, and learns the brokers from it.
    ///
    /// # Errors
    ///
    /// [`ClientError::Config`] for settings that can't be; [`ClientError::NoBroker`] with what went wrong at each
    /// address; [`ClientError::Authentication`] and [`ClientError::Tls`] at once, since other brokers would say the
    /// same.
    pub async fn connect(config: ClientConfig) -> Result<Self, ClientError> {
        config.check()?;
        let cluster = Self {
            inner: Arc::new(Inner {
                config,
                brokers: std::sync::Mutex::default(),
                any: Mutex::default(),
                nodes: Mutex::default(),
                turn: AtomicUsize::new(0),
            }),
        };
        cluster.topics_named(&[]).await?;
        Ok(cluster)
    }

    /// The settings.
    pub fn config(&self) -> &ClientConfig {
        &self.inner.config
    }

    pub(crate) fn set_brokers(&self, brokers: Brokers) {
        if let Ok(mut known) = self.inner.brokers.lock() {
            *known = brokers;
        }
    }

    /// The numbers of the brokers that the metadata named last.
    pub(crate) fn broker_ids(&self) -> Vec<i32> {
        self.inner.brokers.lock().map(|brokers| brokers.nodes.keys().copied().collect()).unwrap_or_default()
    }

    fn broker(&self, node_id: i32) -> Option<Broker> {
        self.inner.brokers.lock().ok()?.nodes.get(&node_id).cloned()
    }

    /// Asks any broker, another one if the first can't be reached.
    pub(crate) async fn ask_any<R: Request>(&self, request: &R) -> Result<R::Response, ClientError> {
        let connection = self.any().await?;
        match connection.call(request, self.inner.config.request_timeout()).await {
            // It may have broken long ago, unseen.
            Err(ClientError::Disconnected { .. }) => {
                self.any().await?.call(request, self.inner.config.request_timeout()).await
            }
            answer => answer,
        }
    }

    /// Asks a certain broker over the connection kept for it.
    pub(crate) async fn ask_node<R: Request>(
        &self,
        node_id: i32,
        request: &R,
    ) -> Result<R::Response, ClientError> {
        self.node(node_id).await?.call(request, self.inner.config.request_timeout()).await
    }

    /// The connection kept for a broker.
    pub(crate) async fn node(&self, node_id: i32) -> Result<Connection, ClientError> {
        let kept = self.inner.nodes.lock().await.get(&node_id).filter(|one| one.is_open()).cloned();
        if let Some(connection) = kept {
            return Ok(connection);
        }
        let connection = self.open(node_id).await?;
        self.inner.nodes.lock().await.insert(node_id, connection.clone());
        Ok(connection)
    }

    /// Asks the controller, or any broker if none is named: brokers hand such requests on.
    pub(crate) async fn ask_controller<R: Request>(&self, request: &R) -> Result<R::Response, ClientError> {
        let controller = self.inner.brokers.lock().ok().and_then(|brokers| brokers.controller);
        match controller {
            Some(node_id) => self.ask_node(node_id, request).await,
            None => self.ask_any(request).await,
        }
    }

    /// A new connection to a broker, for one user alone.
    pub(crate) async fn open(&self, node_id: i32) -> Result<Connection, ClientError> {
        let broker = match self.broker(node_id) {
            Some(broker) => broker,
            None => {
                self.topics_named(&[]).await?;
                self.broker(node_id).ok_or(ClientError::UnknownBroker { node_id })?
            }
        };
        self.dial(&broker.host, broker.port).await
    }

    /// The broker that coordinates a group or a transaction; tries again while there is none.
    ///
    /// # Errors
    ///
    /// [`ClientError::Refused`] if the broker refuses for good or until the request timeout has passed.
    pub async fn coordinator(&self, kind: CoordinatorKind, key: &str) -> Result<i32, ClientError> {
        let mut attempts = Attempts::new(self);
        loop {
            let found = self.find_coordinator(kind, key).await.and_then(|(code, node_id)| match code {
                0 => Ok(node_id),
                _ => Err(ClientError::refused("FindCoordinator", code, key)),
            });
            match found {
                Ok(node_id) => return Ok(node_id),
                Err(error) => attempts.wait_or_fail(error).await?,
            }
        }
    }

    /// One question for a coordinator: the error's number and the broker's.
    pub(crate) async fn find_coordinator(
        &self,
        kind: CoordinatorKind,
        key: &str,
    ) -> Result<(i16, i32), ClientError> {
        let connection = self.any().await?;
        let request = FindCoordinatorRequest::default().with_key_type(kind.id());
        let key = StrBytes::from_string(key.to_owned());
        let request = if connection.version::<FindCoordinatorRequest>()? >= 4 {
            request.with_coordinator_keys(vec![key])
        } else {
            request.with_key(key)
        };
        let answer = connection.call(&request, self.inner.config.request_timeout()).await?;
        let (code, node_id, host, port) = match answer.coordinators.first() {
            Some(one) => (one.error_code, one.node_id.0, &one.host, one.port),
            None => (answer.error_code, answer.node_id.0, &answer.host, answer.port),
        };
        if code == 0
            && let Ok(port) = u16::try_from(port)
            && let Ok(mut brokers) = self.inner.brokers.lock()
        {
            // It may be a broker that the metadata does not have yet, or one that has moved.
            let known =
                brokers.nodes.get(&node_id).filter(|known| known.host == host.as_str() && known.port == port);
            if known.is_none() {
                brokers.nodes.insert(node_id, Broker { host: host.to_string(), port, rack: None });
            }
        }
        Ok((code, node_id))
    }

    /// The connection for what any broker can answer.
    pub(crate) async fn any(&self) -> Result<Connection, ClientError> {
        let mut any = self.inner.any.lock().await;
        if let Some(connection) = any.as_ref().filter(|one| one.is_open()) {
            return Ok(connection.clone());
        }
        let mut addresses: Vec<(String, u16)> = Vec::new();
        if let Ok(brokers) = self.inner.brokers.lock() {
            addresses.extend(brokers.nodes.values().map(|one| (one.host.clone(), one.port)));
        }
        for server in &self.inner.config.bootstrap_servers {
            let address = host_and_port(server)?;
            if !addresses.contains(&address) {
                addresses.push(address);
            }
        }
        let first = self.inner.turn.fetch_add(1, Ordering::Relaxed).checked_rem(addresses.len()).unwrap_or(0);
        addresses.rotate_left(first);
        let mut tried = Vec::new();
        for (host, port) in addresses {
            match self.dial(&host, port).await {
                Ok(connection) => {
                    *any = Some(connection.clone());
                    return Ok(connection);
                }
                Err(error @ (ClientError::Authentication { .. } | ClientError::Tls { .. })) => {
                    return Err(error);
                }
                Err(error) => tried.push((format!("{host}:{port}"), detail_of(&error))),
            }
        }
        Err(ClientError::NoBroker { tried })
    }

    /// Connects, secures and greets.
    async fn dial(&self, host: &str, port: u16) -> Result<Connection, ClientError> {
        let config = &self.inner.config;
        let address: Arc<str> = format!("{host}:{port}").into();
        let limit = Duration::from_millis(config.connect_timeout_ms);
        match timeout(limit, self.dial_in_time(host, port, &address)).await {
            Ok(outcome) => outcome,
            Err(_) => Err(ClientError::TimedOut {
                address,
                request: "the connection's setup",
                after_ms: config.connect_timeout_ms,
            }),
        }
    }

    async fn dial_in_time(
        &self,
        host: &str,
        port: u16,
        address: &Arc<str>,
    ) -> Result<Connection, ClientError> {
        let config = &self.inner.config;
        let broken = |error: std::io::Error| ClientError::Disconnected {
            address: address.clone(),
            detail: error.to_string(),
        };
        let socket = TcpStream::connect((host, port)).await.map_err(broken)?;
        socket.set_nodelay(true).map_err(broken)?;
        let stream: Box<dyn Stream> = match config.security.tls() {
            Some(tls) => Box::new(tls.connect(host, address, socket).await?),
            None => Box::new(socket),
        };
        let connection =
            Connection::start(stream, address.clone(), &config.client_id, config.frame_max_bytes);
        let connection = greet(connection, config.request_timeout()).await?;
        if let Some(sasl) = config.security.sasl() {
            sasl.authenticate(&connection, config.request_timeout()).await?;
        }
        Ok(connection)
    }
}

/// Asks which versions the broker reads.
async fn greet(connection: Connection, timeout: Duration) -> Result<Connection, ClientError> {
    let request = ApiVersionsRequest::default()
        .with_client_software_name(StrBytes::from_static_str("tenure"))
        .with_client_software_version(StrBytes::from_static_str(env!("CARGO_PKG_VERSION")));
    let mut answer = connection.submit(3, &request, timeout)?.wait().await?;
    if answer.error_code == ErrorCode::UnsupportedVersion.code() {
        answer = connection.submit(0, &ApiVersionsRequest::default(), timeout)?.wait().await?;
    }
    if answer.error_code != 0 {
        return Err(ClientError::refused("ApiVersions", answer.error_code, ""));
    }
    let ranges = answer.api_keys.iter().map(|one| (one.api_key, one.min_version, one.max_version));
    Ok(connection.with_versions(Versions::new(ranges)))
}

/// What went wrong, without the address that stands beside it anyway.
fn detail_of(error: &ClientError) -> String {
    match error {
        ClientError::Disconnected { detail, .. } => detail.clone(),
        ClientError::TimedOut { request, after_ms, .. } => {
            format!("no answer to {request} within {after_ms} ms")
        }
        ClientError::FrameTooLarge { length, .. } => {
            format!("not a Kafka listener of this kind (it announces {length} bytes)")
        }
        other => other.to_string(),
    }
}

/// Tries again with growing waits until the request timeout has passed.
#[derive(Debug)]
pub(crate) struct Attempts<'a> {
    config: &'a ClientConfig,
    until: Instant,
    count: u32,
}

impl<'a> Attempts<'a> {
    pub(crate) fn new(cluster: &'a Cluster) -> Self {
        let config = cluster.config();
        Self { config, until: Instant::now() + config.request_timeout(), count: 0 }
    }

    /// Waits before the next try; fails with the error if it can't be mended by one, or the time is up.
    pub(crate) async fn wait_or_fail(&mut self, error: ClientError) -> Result<(), ClientError> {
        let wait = self.config.backoff(self.count);
        self.count = self.count.saturating_add(1);
        if !error.is_retriable() || Instant::now() + wait >= self.until {
            return Err(error);
        }
        sleep(wait).await;
        Ok(())
    }
}
