//! How to reach a cluster.

use core::time::Duration;

use crate::error::ClientError;
use crate::security::Security;

/// The settings of a [`Cluster`](crate::Cluster), with Kafka's names and defaults.
///
/// Units: every `*_ms` is milliseconds, every `*_bytes` bytes.
#[derive(Debug, Clone)]
pub struct ClientConfig {
    /// `bootstrap.servers`: `host:port` of one or more brokers; `[::1]:9092` for an IPv6 address.
    pub bootstrap_servers: Vec<String>,
    /// `client.id`: the client's name for the broker's log.
    pub client_id: String,
    /// `security.protocol` and what belongs to it.
    pub security: Security,
    /// `request.timeout.ms`: so long an answer is waited for.
    pub request_timeout_ms: u64,
    /// `socket.connection.setup.timeout.ms`: so long making a connection may take, TLS and SASL included.
    pub connect_timeout_ms: u64,
    /// `metadata.max.age.ms`: so often topics are looked at even if nothing happens.
    pub metadata_max_age_ms: u64,
    /// `retry.backoff.ms`: the first wait before something is tried again; doubles each time.
    pub retry_backoff_ms: u64,
    /// `retry.backoff.max.ms`: the longest such wait.
    pub retry_backoff_max_ms: u64,
    /// The longest answer that is read. Longer ones, and what is no Kafka at all, end the connection unread.
    pub frame_max_bytes: usize,
}

impl ClientConfig {
    /// Kafka's defaults for these brokers, without TLS or SASL.
    pub fn new<S: Into<String>>(bootstrap_servers: impl IntoIterator<Item = S>) -> Self {
        Self {
            bootstrap_servers: bootstrap_servers.into_iter().map(Into::into).collect(),
            client_id: "tenure".into(),
            security: Security::Plaintext,
            request_timeout_ms: 30_000,
            connect_timeout_ms: 10_000,
            metadata_max_age_ms: 300_000,
            retry_backoff_ms: 100,
            retry_backoff_max_ms: 1_000,
            frame_max_bytes: 100 * 1024 * 1024,
        }
    }

    /// Sets the client's name.
    #[must_use]
    pub fn with_client_id(mut self, client_id: impl Into<String>) -> Self {
        self.client_id = client_id.into();
        self
    }

    /// Sets how connections are secured.
    #[must_use]
    pub fn with_security(mut self, security: Security) -> Self {
        self.security = security;
        self
    }

    pub(crate) fn check(&self) -> Result<(), ClientError> {
        if self.bootstrap_servers.is_empty() {
            return Err(ClientError::config(
                "bootstrap.servers",
                "empty",
                "host:port of one broker at least",
            ));
        }
        for server in &self.bootstrap_servers {
            host_and_port(server)?;
        }
        for (setting, given) in [
            ("request.timeout.ms", self.request_timeout_ms),
            ("socket.connection.setup.timeout.ms", self.connect_timeout_ms),
            ("metadata.max.age.ms", self.metadata_max_age_ms),
            ("retry.backoff.ms", self.retry_backoff_ms),
        ] {
            if given == 0 {
                return Err(ClientError::config(setting, "0", "more than 0"));
            }
        }
        Ok(())
    }

    pub(crate) fn request_timeout(&self) -> Duration {
        Duration::from_millis(self.request_timeout_ms)
    }

    /// The wait before try number `attempt`, counted from 0.
    pub(crate) fn backoff(&self, attempt: u32) -> Duration {
        let factor = 1_u64.checked_shl(attempt.min(20)).unwrap_or(u64::MAX);
        Duration::from_millis(self.retry_backoff_ms.saturating_mul(factor).min(self.retry_backoff_max_ms))
    }
}

/// The two halves of `host:port`, the brackets of an IPv6 address taken off.
pub(crate) fn host_and_port(address: &str) -> Result<(String, u16), ClientError> {
    let refuse = || {
        ClientError::config("bootstrap.servers", format!("{address:?}"), "host:port, such as broker-1:9092")
    };
    let (host, port) = address.trim().rsplit_once(':').ok_or_else(refuse)?;
    let host = match host.strip_prefix('[') {
        Some(rest) => rest.strip_suffix(']').ok_or_else(refuse)?,
        None if host.contains(':') => return Err(refuse()),
        None => host,
    };
    // A listener's name in front, as Kafka's own settings have it.
    let host = host.rsplit_once("//").map_or(host, |(_, host)| host);
    match port.parse() {
        Ok(port) if port > 0 && !host.is_empty() => Ok((host.to_owned(), port)),
        _ => Err(refuse()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        assert_eq!(host_and_port("b1:9092").unwrap(), ("b1".into(), 9092));
        assert_eq!(host_and_port(" [::1]:9092 ").unwrap(), ("::1".into(), 9092));
        for bad in ["b1", "b1:", ":9092", "b1:0", "b1:70000", "::1:9092", "[::1:9092", "b1:x"] {
            let error = host_and_port(bad).unwrap_err().to_string();
            assert!(error.contains("bootstrap.servers") && error.contains("host:port"), "{error}");
        }
    }

    #[test]
    fn backoff_doubles_up_to_its_end() {
        let config = ClientConfig::new(["b:1"]);
        let waits: Vec<u128> = (0..6).map(|attempt| config.backoff(attempt).as_millis()).collect();
        assert_eq!(waits, [100, 200, 400, 800, 1000, 1000]);
        assert_eq!(config.backoff(u32::MAX).as_millis(), 1000);
    }
}
