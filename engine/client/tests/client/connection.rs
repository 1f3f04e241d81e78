//! Brokers that are not there, hang up, say nothing, or say what no broker should.

use kafka_protocol::messages::{ApiKey, ApiVersionsResponse};
use kafka_protocol::protocol::Encodable;
use tenure_client::{ClientConfig, ClientError, Cluster};

use crate::fake::{Answer, Ask, FakeBroker, usual};

async fn refusal(script: impl FnMut(&Ask) -> Answer + Send + 'static) -> ClientError {
    let broker = FakeBroker::start(script).await;
    let mut config = broker.config();
    config.request_timeout_ms = 300;
    config.connect_timeout_ms = 600;
    Cluster::connect(config).await.unwrap_err()
}

#[tokio::test]
async fn nobody_listens() {
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    drop(listener);
    let error = Cluster::connect(ClientConfig::new([address.clone()])).await.unwrap_err();
    let text = error.to_string();
    assert!(matches!(error, ClientError::NoBroker { .. }) && error.is_retriable(), "{text}");
    assert!(text.contains(&address) && text.contains("refused"), "{text}");
}

#[tokio::test]
async fn the_second_bootstrap_server_will_do() {
    let broker = FakeBroker::start(usual).await;
    let mut config = broker.config();
    config.bootstrap_servers.insert(0, "127.0.0.1:1".into());
    let cluster = Cluster::connect(config).await.unwrap();
    let topics = cluster.topics(&["orders"]).await.unwrap();
    assert_eq!((topics[0].name.as_str(), topics[0].partitions.len()), ("orders", 3));
    assert_eq!(topics[0].partitions[0].racks, ["a"]);
}

#[tokio::test]
async fn settings_that_cannot_be() {
    for servers in [vec![], vec!["nonsense"]] {
        let error = Cluster::connect(ClientConfig::new(servers)).await.unwrap_err();
        assert!(error.to_string().contains("bootstrap.servers"), "{error}");
    }
}

#[tokio::test]
async fn what_is_no_kafka_is_told_so() {
    // The beginning of an HTTP answer, of a TLS alert, and lengths that are none.
    for bytes in [&b"HTTP/1.1 400 Bad Request\r\n"[..], &[0x15, 3, 3, 0, 2, 2, 0x50], &[0x80; 8], &[0; 8]] {
        let error = refusal(|_| Answer::Raw(bytes.to_vec())).await;
        let text = error.to_string();
        assert!(text.contains("announces") && text.contains("security.protocol"), "{text}");
    }
}

#[tokio::test]
async fn a_broker_that_says_nothing() {
    let text = refusal(|_| Answer::Silence).await.to_string();
    assert!(text.contains("ApiVersions") && text.contains("300 ms"), "{text}");
}

#[tokio::test]
async fn a_broker_that_hangs_up() {
    let text = refusal(|_| Answer::Hangup).await.to_string();
    assert!(text.contains("the broker closed it"), "{text}");
}

#[tokio::test]
async fn an_answer_to_something_else() {
    let text = refusal(|_| Answer::Raw(vec![0, 0, 0, 4, 0, 0, 0, 99])).await.to_string();
    assert!(text.contains("correlation id"), "{text}");
}

#[tokio::test]
async fn counts_that_the_answer_does_not_hold() {
    let metadata = |ask: &Ask| match ask.key {
        ApiKey::ApiVersions => usual(ask),
        // No throttling, an empty tag section, then two thousand million brokers.
        _ => Answer::Body(vec![0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0x07]),
    };
    let error = refusal(metadata).await;
    let text = error.to_string();
    assert!(matches!(error, ClientError::Malformed { .. }), "{text}");
    assert!(text.contains("Metadata") && text.contains("brokers"), "{text}");
}

#[tokio::test]
async fn answers_in_pieces() {
    let broker = FakeBroker::start(|ask| match usual(ask) {
        Answer::Body(body) => Answer::Drip(body),
        other => other,
    })
    .await;
    let topics = broker.connect().await.all_topics().await.unwrap();
    assert_eq!(topics.len(), 3);
}

#[tokio::test]
async fn an_old_broker_answers_in_version_0() {
    let mut asked = Vec::new();
    let broker = FakeBroker::start(move |ask| {
        if ask.key != ApiKey::ApiVersions {
            return usual(ask);
        }
        asked.push(ask.version);
        if ask.version > 0 {
            assert_eq!(asked, [3], "once in the newest version");
            let mut body = bytes::BytesMut::new();
            ApiVersionsResponse::default().with_error_code(35).encode(&mut body, 0).unwrap();
            return Answer::Body(body.to_vec());
        }
        asked.clear();
        usual(ask)
    })
    .await;
    broker.connect().await;
}

#[tokio::test]
async fn no_version_in_common() {
    let error = refusal(|ask| {
        let old = kafka_protocol::messages::api_versions_response::ApiVersion::default()
            .with_api_key(3)
            .with_min_version(0)
            .with_max_version(1);
        Answer::message(ask, &ApiVersionsResponse::default().with_api_keys(vec![old]))
    })
    .await;
    let text = error.to_string();
    assert!(text.contains("Metadata in versions 0–1") && !error.is_retriable(), "{text}");
}

#[tokio::test]
async fn a_connection_that_broke_is_made_again() {
    let mut metadata = 0;
    let broker = FakeBroker::start(move |ask| {
        if ask.key == ApiKey::Metadata {
            metadata += 1;
            if metadata == 2 {
                return Answer::Hangup;
            }
        }
        usual(ask)
    })
    .await;
    let cluster = broker.connect().await;
    assert_eq!(cluster.topics(&["orders"]).await.unwrap().len(), 1);
    assert_eq!(broker.count(ApiKey::ApiVersions), 2);
}
