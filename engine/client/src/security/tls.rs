//! TLS by rustls, with the system's roots or a file's.

use std::path::Path;
use std::sync::Arc;

use tokio::net::TcpStream;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};
use tokio_rustls::{TlsConnector, client::TlsStream};

use crate::error::ClientError;

/// Whom a client trusts, and who it is itself.
#[derive(Clone)]
pub struct Tls {
    config: Arc<ClientConfig>,
}

impl core::fmt::Debug for Tls {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Tls")
    }
}

impl Tls {
    /// Trusts whom the operating system trusts.
    ///
    /// # Errors
    ///
    /// [`ClientError::Config`] if the system has no certificates at all.
    pub fn with_system_roots() -> Result<Self, ClientError> {
        let found = rustls_native_certs::load_native_certs();
        let mut roots = RootCertStore::empty();
        let (added, _) = roots.add_parsable_certificates(found.certs);
        if added == 0 {
            let why = found.errors.first().map_or_else(|| "none found".to_owned(), ToString::to_string);
            return Err(ClientError::config(
                "the system's CA certificates",
                why,
                "to be installed, or a CA file in ssl.truststore.location (ssl.truststore.type=PEM)",
            ));
        }
        Self::build(roots, None)
    }

    /// Trusts the authorities of a PEM text, and shows a certificate with its key if the broker asks for one.
    ///
    /// # Errors
    ///
    /// [`ClientError::Config`] if a text has no certificate or no key, or they don't belong together.
    pub fn with_pem(authorities: &[u8], identity: Option<(&[u8], &[u8])>) -> Result<Self, ClientError> {
        let mut roots = RootCertStore::empty();
        for certificate in certificates("ssl.truststore.certificates", authorities)? {
            roots.add(certificate).map_err(|error| {
                ClientError::config("ssl.truststore.certificates", error.to_string(), "CA certificates")
            })?;
        }
        Self::build(roots, identity)
    }

    /// As [`with_pem`](Self::with_pem), from files.
    ///
    /// # Errors
    ///
    /// As [`with_pem`](Self::with_pem), and if a file can't be read.
    pub fn with_ca_file(path: impl AsRef<Path>) -> Result<Self, ClientError> {
        let path = path.as_ref();
        let bytes = std::fs::read(path).map_err(|error| {
            ClientError::config(
                "ssl.truststore.location",
                format!("{}: {error}", path.display()),
                "a PEM file that can be read",
            )
        })?;
        Self::with_pem(&bytes, None)
    }

    fn build(roots: RootCertStore, identity: Option<(&[u8], &[u8])>) -> Result<Self, ClientError> {
        let provider = Arc::new(tokio_rustls::rustls::crypto::ring::default_provider());
        let builder = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| {
                ClientError::config("ssl.enabled.protocols", error.to_string(), "TLS 1.2 or 1.3")
            })?
            .with_root_certificates(roots);
        let config = match identity {
            None => builder.with_no_client_auth(),
            Some((chain, key)) => {
                let chain = certificates("ssl.keystore.certificate.chain", chain)?;
                let key = PrivateKeyDer::from_pem_slice(key).map_err(|error| {
                    ClientError::config(
                        "ssl.keystore.key",
                        error.to_string(),
                        "a PEM private key without a password",
                    )
                })?;
                builder.with_client_auth_cert(chain, key).map_err(|error| {
                    ClientError::config("ssl.keystore", error.to_string(), "a certificate and its own key")
                })?
            }
        };
        Ok(Self { config: Arc::new(config) })
    }

    pub(crate) async fn connect(
        &self,
        host: &str,
        address: &Arc<str>,
        stream: TcpStream,
    ) -> Result<TlsStream<TcpStream>, ClientError> {
        let refuse = |detail: String| ClientError::Tls { address: address.clone(), detail };
        let name = ServerName::try_from(host.to_owned()).map_err(|error| refuse(error.to_string()))?;
        TlsConnector::from(self.config.clone())
            .connect(name, stream)
            .await
            .map_err(|error| refuse(error.to_string()))
    }
}

fn certificates(setting: &str, pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, ClientError> {
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    match found {
        Ok(found) if !found.is_empty() => Ok(found),
        Ok(_) => {
            Err(ClientError::config(setting, "without any certificate", "-----BEGIN CERTIFICATE----- blocks"))
        }
        Err(error) => Err(ClientError::config(setting, error.to_string(), "PEM")),
    }
}
