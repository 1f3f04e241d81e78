//! SASL: who the client is, proved at the beginning of a connection.

use core::fmt;
use core::time::Duration;

use bytes::Bytes;
use kafka_protocol::messages::{SaslAuthenticateRequest, SaslHandshakeRequest};
use kafka_protocol::protocol::StrBytes;

use super::scram::{Hash, Scram};
use crate::connection::Connection;
use crate::error::ClientError;

/// `sasl.mechanism`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Mechanism {
    /// Name and password as they are: only inside TLS.
    Plain,
    /// RFC 5802 with SHA-256: the password never crosses the wire, and the broker proves that it knows it too.
    ScramSha256,
    /// RFC 5802 with SHA-512.
    ScramSha512,
}

impl Mechanism {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Plain, Self::ScramSha256, Self::ScramSha512];

    /// Kafka's name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Plain => "PLAIN",
            Self::ScramSha256 => "SCRAM-SHA-256",
            Self::ScramSha512 => "SCRAM-SHA-512",
        }
    }

    /// The mechanism of this name.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.name().eq_ignore_ascii_case(name))
    }
}

/// A user with a password and the mechanism to prove it by.
#[derive(Clone)]
pub struct Sasl {
    mechanism: Mechanism,
    username: String,
    password: String,
}

impl fmt::Debug for Sasl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Sasl({} as {:?})", self.mechanism.name(), self.username)
    }
}

impl Sasl {
    /// A user by password.
    pub fn new(mechanism: Mechanism, username: impl Into<String>, password: impl Into<String>) -> Self {
        Self { mechanism, username: username.into(), password: password.into() }
    }

    /// The mechanism.
    pub const fn mechanism(&self) -> Mechanism {
        self.mechanism
    }

    pub(crate) async fn authenticate(
        &self,
        connection: &Connection,
        timeout: Duration,
    ) -> Result<(), ClientError> {
        let refuse = |detail: String| ClientError::Authentication {
            address: connection.address().clone(),
            mechanism: self.mechanism.name(),
            detail,
        };
        let handshake =
            SaslHandshakeRequest::default().with_mechanism(StrBytes::from_static_str(self.mechanism.name()));
        let answer = connection.call(&handshake, timeout).await?;
        if answer.error_code != 0 {
            let offered: Vec<&str> = answer.mechanisms.iter().map(StrBytes::as_str).collect();
            return Err(refuse(format!("the broker has no such mechanism, but {}", offered.join(", "))));
        }
        match self.mechanism {
            Mechanism::Plain => {
                let token = format!("\0{}\0{}", self.username, self.password);
                exchange(connection, token.into_bytes(), timeout).await?.map_err(refuse)?;
            }
            Mechanism::ScramSha256 | Mechanism::ScramSha512 => {
                let hash = if self.mechanism == Mechanism::ScramSha256 { Hash::Sha256 } else { Hash::Sha512 };
                let scram = Scram::new(hash, &self.username, &self.password).map_err(refuse)?;
                let server = exchange(connection, scram.first(), timeout).await?.map_err(refuse)?;
                let (proof, expected) = scram.prove(&server).map_err(refuse)?;
                let server = exchange(connection, proof, timeout).await?.map_err(refuse)?;
                expected.check(&server).map_err(refuse)?;
            }
        }
        Ok(())
    }
}

/// One token there and one back; the inner error is the broker's refusal.
async fn exchange(
    connection: &Connection,
    token: Vec<u8>,
    timeout: Duration,
) -> Result<Result<Bytes, String>, ClientError> {
    let request = SaslAuthenticateRequest::default().with_auth_bytes(Bytes::from(token));
    let answer = connection.call(&request, timeout).await?;
    if answer.error_code == 0 {
        return Ok(Ok(answer.auth_bytes));
    }
    let said = answer.error_message.map(|message| message.to_string()).unwrap_or_default();
    Ok(Err(if said.is_empty() { format!("refused with code {}", answer.error_code) } else { said }))
}
