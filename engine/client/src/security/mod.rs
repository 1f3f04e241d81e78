//! How a connection is secured: TLS around it, SASL at its beginning.

pub(crate) mod sasl;
mod scram;
mod tls;

pub use sasl::{Mechanism, Sasl};
pub use tls::Tls;

/// `security.protocol`, with what belongs to it.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub enum Security {
    /// Neither.
    #[default]
    Plaintext,
    /// TLS.
    Ssl(Tls),
    /// SASL over a connection that anybody on the way can read.
    SaslPlaintext(Sasl),
    /// SASL inside TLS.
    SaslSsl(Sasl, Tls),
}

impl Security {
    /// The name in `security.protocol`.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Plaintext => "PLAINTEXT",
            Self::Ssl(_) => "SSL",
            Self::SaslPlaintext(_) => "SASL_PLAINTEXT",
            Self::SaslSsl(..) => "SASL_SSL",
        }
    }

    pub(crate) const fn tls(&self) -> Option<&Tls> {
        match self {
            Self::Ssl(tls) | Self::SaslSsl(_, tls) => Some(tls),
            _ => None,
        }
    }

    pub(crate) const fn sasl(&self) -> Option<&Sasl> {
        match self {
            Self::SaslPlaintext(sasl) | Self::SaslSsl(sasl, _) => Some(sasl),
            _ => None,
        }
    }
}

/// Reads any bytes as a broker's part of a SCRAM exchange: for fuzzing.
#[doc(hidden)]
pub fn read_any_challenge(first: &[u8], last: &[u8]) {
    scram::read_any(first, last);
}
