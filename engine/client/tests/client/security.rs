//! Who is who: SASL that is refused or forged, TLS that is trusted or not.

use std::sync::Arc;

use bytes::Bytes;
use kafka_protocol::messages::alter_user_scram_credentials_request::ScramCredentialUpsertion;
use kafka_protocol::messages::{
    AlterUserScramCredentialsRequest, ApiKey, SaslAuthenticateRequest, SaslAuthenticateResponse,
    SaslHandshakeResponse,
};
use kafka_protocol::protocol::{Decodable, StrBytes};
use tenure_client::{
    ClientConfig, ClientError, Cluster, GroupConfig, GroupMember, Mechanism, Properties, Sasl, Security,
    Silent, Tls,
};
use tenure_peers::{Broker, Settings, or_skip};
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

/// A port that is free now.
fn free_port() -> u16 {
    std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port()
}

/// Gives a user a password for SCRAM, as an administrator does.
fn scram_user(broker: &Broker, mechanism: i8, name: &'static str, password: &str) {
    let (algorithm, len) = match mechanism {
        1 => (ring::pbkdf2::PBKDF2_HMAC_SHA256, 32),
        _ => (ring::pbkdf2::PBKDF2_HMAC_SHA512, 64),
    };
    let mut salted = vec![0; len];
    let iterations = core::num::NonZeroU32::new(4_096).unwrap();
    ring::pbkdf2::derive(algorithm, iterations, b"salt", password.as_bytes(), &mut salted);
    let upsertion = ScramCredentialUpsertion::default()
        .with_name(StrBytes::from_static_str(name))
        .with_mechanism(mechanism)
        .with_iterations(4_096)
        .with_salt(Bytes::from_static(b"salt"))
        .with_salted_password(Bytes::from(salted));
    let request = AlterUserScramCredentialsRequest::default().with_upsertions(vec![upsertion]);
    let answer = broker.connect().unwrap().ask(0, &request).unwrap();
    assert!(answer.results.iter().all(|one| one.error_code == 0), "{answer:?}");
}

#[tokio::test]
#[ignore = "needs a Kafka broker: .ci/run interop"]
async fn a_real_broker_behind_tls_and_sasl() {
    let folder = std::env::temp_dir().join(format!("tenure-secure-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let store = folder.join("server.pem");
    let both = [&include_bytes!("../tls/server.key")[..], include_bytes!("../tls/server.pem")].concat();
    std::fs::write(&store, both).unwrap();
    let authority = folder.join("ca.pem");
    std::fs::write(&authority, include_bytes!("../tls/ca.pem")).unwrap();
    let (secure, scram) = (free_port(), free_port());
    let module = "org.apache.kafka.common.security";
    let advertised =
        format!("PLAINTEXT://127.0.0.1:%port%,SECURE://localhost:{secure},SCRAM://localhost:{scram}");
    let settings = Settings::default()
        .property("listeners", format!("{advertised},CONTROLLER://127.0.0.1:%controller%"))
        .property("advertised.listeners", advertised)
        .property(
            "listener.security.protocol.map",
            "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,SECURE:SASL_SSL,SCRAM:SASL_PLAINTEXT",
        )
        .property("inter.broker.listener.name", "PLAINTEXT")
        .property("listener.name.secure.sasl.enabled.mechanisms", "PLAIN")
        .property(
            "listener.name.secure.plain.sasl.jaas.config",
            format!("{module}.plain.PlainLoginModule required user_alice=\"won der\";"),
        )
        .property("listener.name.secure.ssl.keystore.type", "PEM")
        .property("listener.name.secure.ssl.keystore.location", store.display())
        .property("listener.name.scram.sasl.enabled.mechanisms", "SCRAM-SHA-256,SCRAM-SHA-512")
        .property(
            "listener.name.scram.scram-sha-256.sasl.jaas.config",
            format!("{module}.scram.ScramLoginModule required;"),
        )
        .property(
            "listener.name.scram.scram-sha-512.sasl.jaas.config",
            format!("{module}.scram.ScramLoginModule required;"),
        );
    let broker = tokio::task::spawn_blocking(move || Broker::start(&settings)).await.unwrap();
    let Some(broker) = or_skip(broker) else { return };
    scram_user(&broker, 1, "bob", "builder");
    scram_user(&broker, 2, "bob", "builder");
    broker.create_topic("orders", 3).unwrap();

    let properties = |password: &str| {
        Properties::parse(&format!(
            "security.protocol=SASL_SSL\nsasl.mechanism=PLAIN\nssl.truststore.type=PEM\n\
             ssl.truststore.location={}\n\
             sasl.jaas.config={module}.plain.PlainLoginModule required username=\"alice\" password=\"{password}\";\n",
            authority.display()
        ))
    };
    let mut config = ClientConfig::new([format!("localhost:{secure}")]);
    properties("won der").apply(&mut config).unwrap();
    let cluster = Cluster::connect(config.clone()).await.unwrap();
    cluster.await_topic("orders", 3).await.unwrap();
    let member = GroupMember::join(&cluster, GroupConfig::new("g").topics(["orders"]), Silent).unwrap();
    member.settled().await.unwrap();
    assert_eq!(member.owned().len(), 3);
    assert_eq!(cluster.describe_group("g").await.unwrap().members.len(), 1);
    member.close().await.unwrap();
    properties("wrong").apply(&mut config).unwrap();
    let error = Cluster::connect(config).await.unwrap_err();
    assert!(matches!(error, ClientError::Authentication { .. }), "{error}");

    for mechanism in [Mechanism::ScramSha256, Mechanism::ScramSha512] {
        for (password, trusted) in [("builder", true), ("baker", false)] {
            let sasl = Security::SaslPlaintext(Sasl::new(mechanism, "bob", password));
            let config = ClientConfig::new([format!("localhost:{scram}")]).with_security(sasl);
            match Cluster::connect(config).await {
                Ok(cluster) => {
                    assert!(trusted && cluster.topics(&["orders"]).await.unwrap()[0].partitions.len() == 3)
                }
                Err(error) => {
                    assert!(!trusted && matches!(error, ClientError::Authentication { .. }), "{error}")
                }
            }
        }
    }
    std::fs::remove_dir_all(&folder).unwrap();
}
