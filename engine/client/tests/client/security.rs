//! Who is who: SASL that is refused or forged, TLS that is trusted or not.

use std::sync::Arc;

use bytes::Bytes;
use kafka_protocol::messages::{
    ApiKey, SaslAuthenticateRequest, SaslAuthenticateResponse, SaslHandshakeResponse,
};
use kafka_protocol::protocol::{Decodable, StrBytes};
use tenure_client::{ClientError, Cluster, Mechanism, Sasl, Security, Tls};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

use crate::fake::{Answer, Ask, FakeBroker, usual};

fn token(ask: &Ask) -> Bytes {
    SaslAuthenticateRequest::decode(&mut ask.body.clone(), ask.version).unwrap().auth_bytes
}

fn offers(ask: &Ask, mechanisms: &[&'static str], error: i16) -> Answer {
    let mechanisms = mechanisms.iter().map(|name| StrBytes::from_static_str(name)).collect();
    Answer::message(ask, &SaslHandshakeResponse::default().with_error_code(error).with_mechanisms(mechanisms))
}

fn says(ask: &Ask, error: i16, message: &'static str, token: impl Into<Bytes>) -> Answer {
    let message = (!message.is_empty()).then(|| StrBytes::from_static_str(message));
    Answer::message(
        ask,
        &SaslAuthenticateResponse::default()
            .with_error_code(error)
            .with_error_message(message)
            .with_auth_bytes(token.into()),
    )
}

async fn connect(broker: &FakeBroker, mechanism: Mechanism) -> Result<Cluster, ClientError> {
    let sasl = Sasl::new(mechanism, "user", "pencil");
    assert!(!format!("{sasl:?}").contains("pencil"), "a password in a log");
    Cluster::connect(broker.config().with_security(Security::SaslPlaintext(sasl))).await
}

#[tokio::test]
async fn plain_gives_name_and_password() {
    let broker = FakeBroker::start(|ask| match ask.key {
        ApiKey::SaslHandshake => offers(ask, &["PLAIN"], 0),
        ApiKey::SaslAuthenticate if token(ask) == b"\0user\0pencil"[..] => says(ask, 0, "", ""),
        ApiKey::SaslAuthenticate => says(ask, 58, "Authentication failed: Invalid username or password", ""),
        _ => usual(ask),
    })
    .await;
    connect(&broker, Mechanism::Plain).await.unwrap();
    assert_eq!(broker.asked()[..3], [ApiKey::ApiVersions, ApiKey::SaslHandshake, ApiKey::SaslAuthenticate]);
    let wrong = Sasl::new(Mechanism::Plain, "user", "crayon");
    let error =
        Cluster::connect(broker.config().with_security(Security::SaslPlaintext(wrong))).await.unwrap_err();
    let text = error.to_string();
    assert!(matches!(error, ClientError::Authentication { .. }) && !error.is_retriable(), "{text}");
    assert!(
        text.contains("PLAIN") && text.contains("Invalid username") && !text.contains("crayon"),
        "{text}"
    );
}

#[tokio::test]
async fn a_mechanism_that_the_broker_lacks() {
    let broker = FakeBroker::start(|ask| match ask.key {
        ApiKey::SaslHandshake => offers(ask, &["GSSAPI", "SCRAM-SHA-512"], 33),
        _ => usual(ask),
    })
    .await;
    let text = connect(&broker, Mechanism::ScramSha256).await.unwrap_err().to_string();
    assert!(text.contains("SCRAM-SHA-256") && text.contains("GSSAPI, SCRAM-SHA-512"), "{text}");
}

#[tokio::test]
async fn a_false_broker_can_not_prove_that_it_knows_the_password() {
    let broker = FakeBroker::start(|ask| match ask.key {
        ApiKey::SaslHandshake => offers(ask, &["SCRAM-SHA-512"], 0),
        ApiKey::SaslAuthenticate => {
            let token = String::from_utf8(token(ask).to_vec()).unwrap();
            match token.strip_prefix("n,,n=user,r=") {
                Some(nonce) => says(ask, 0, "", format!("r={nonce}more,s=c2FsdA==,i=4096")),
                // Any proof is right, says this broker.
                None => says(ask, 0, "", "v=AAAA"),
            }
        }
        _ => usual(ask),
    })
    .await;
    let text = connect(&broker, Mechanism::ScramSha512).await.unwrap_err().to_string();
    assert!(text.contains("does not know the password"), "{text}");
}

/// A broker behind TLS, with a certificate of the test's own authority for `localhost`.
async fn secure_broker() -> FakeBroker {
    let chain: Result<Vec<_>, _> =
        CertificateDer::pem_slice_iter(include_bytes!("../tls/server.pem")).collect();
    let key = PrivateKeyDer::from_pem_slice(include_bytes!("../tls/server.key")).unwrap();
    let provider = Arc::new(tokio_rustls::rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(chain.unwrap(), key)
        .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    FakeBroker::start_with(usual, move |socket| {
        let acceptor = acceptor.clone();
        async move { acceptor.accept(socket).await.ok() }
    })
    .await
}

#[tokio::test]
async fn tls_with_an_authority_that_is_trusted() {
    let broker = secure_broker().await;
    let tls = Tls::with_pem(include_bytes!("../tls/ca.pem"), None).unwrap();
    let cluster = Cluster::connect(broker.config().with_security(Security::Ssl(tls))).await.unwrap();
    assert_eq!(cluster.all_topics().await.unwrap().len(), 3);
}

#[tokio::test]
async fn tls_with_one_that_is_not() {
    let broker = secure_broker().await;
    // Somebody else's certificate as the authority.
    let tls = Tls::with_pem(include_bytes!("../tls/other.pem"), None).unwrap();
    let error = Cluster::connect(broker.config().with_security(Security::Ssl(tls))).await.unwrap_err();
    let text = error.to_string();
    assert!(matches!(error, ClientError::Tls { .. }), "{text}");
    assert!(text.contains("localhost") && text.contains("CA file"), "{text}");
}

#[tokio::test]
async fn plain_text_to_a_tls_listener() {
    let broker = secure_broker().await;
    let mut config = broker.config();
    config.request_timeout_ms = 2_000;
    let text = Cluster::connect(config).await.unwrap_err().to_string();
    assert!(text.contains("security.protocol"), "{text}");
}

#[test]
fn certificates_that_are_none() {
    for bad in [&b""[..], b"not PEM", b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"] {
        let error = Tls::with_pem(bad, None).unwrap_err();
        assert!(matches!(error, ClientError::Config { .. }), "{error}");
    }
    let error = Tls::with_ca_file("no/such/file.pem").unwrap_err().to_string();
    assert!(error.contains("no/such/file.pem") && error.contains("ssl.truststore.location"), "{error}");
}
