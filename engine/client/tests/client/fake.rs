//! A broker that says what its script says.

use std::sync::{Arc, Mutex};

use bytes::{Buf, BufMut, Bytes, BytesMut};
use kafka_protocol::messages::api_versions_response::ApiVersion;
use kafka_protocol::messages::join_group_response::JoinGroupResponseMember;
use kafka_protocol::messages::metadata_response::{
    MetadataResponseBroker, MetadataResponsePartition, MetadataResponseTopic,
};
use kafka_protocol::messages::offset_commit_response::{
    OffsetCommitResponsePartition, OffsetCommitResponseTopic,
};
use kafka_protocol::messages::{
    ApiKey, ApiVersionsResponse, BrokerId, FindCoordinatorResponse, HeartbeatResponse, JoinGroupRequest,
    JoinGroupResponse, LeaveGroupResponse, MetadataRequest, MetadataResponse, OffsetCommitRequest,
    OffsetCommitResponse, RequestHeader, ResponseHeader, SyncGroupRequest, SyncGroupResponse,
};
use kafka_protocol::protocol::{Decodable, Encodable, StrBytes};
use tenure_client::{ClientConfig, Cluster};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::task::JoinSet;

/// A request as it came in.
#[derive(Debug, Clone)]
pub(crate) struct Ask {
    pub(crate) key: ApiKey,
    pub(crate) version: i16,
    pub(crate) body: Bytes,
    pub(crate) port: u16,
}

/// What the broker does about it.
#[derive(Debug)]
pub(crate) enum Answer {
    /// Answers with this body, behind the right header.
    Body(Vec<u8>),
    /// The same, one byte at a time.
    Drip(Vec<u8>),
    /// Sends these bytes, whatever they are.
    Raw(Vec<u8>),
    /// Says nothing and goes on listening.
    Silence,
    /// Closes the connection.
    Hangup,
}

impl Answer {
    /// A message in the version that was asked for.
    pub(crate) fn message(ask: &Ask, message: &impl Encodable) -> Self {
        Self::message_in(ask.version, message)
    }

    pub(crate) fn message_in(version: i16, message: &impl Encodable) -> Self {
        let mut body = BytesMut::new();
        message.encode(&mut body, version).unwrap();
        Self::Body(body.to_vec())
    }
}

type Script = Box<dyn FnMut(&Ask) -> Answer + Send>;

/// A scripted broker; it ends when it is dropped.
pub(crate) struct FakeBroker {
    pub(crate) port: u16,
    asked: Arc<Mutex<Vec<ApiKey>>>,
    _tasks: JoinSet<()>,
}

impl FakeBroker {
    /// Starts a broker that asks its script first; the script may fall back on [`usual`].
    pub(crate) async fn start(script: impl FnMut(&Ask) -> Answer + Send + 'static) -> Self {
        Self::start_with(script, |socket| async move { Some(socket) }).await
    }

    /// The same with something between the socket and the broker.
    pub(crate) async fn start_with<S, F>(
        script: impl FnMut(&Ask) -> Answer + Send + 'static,
        wrap: impl Fn(tokio::net::TcpStream) -> F + Send + 'static,
    ) -> Self
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
        F: Future<Output = Option<S>> + Send + 'static,
    {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let script: Arc<Mutex<Script>> = Arc::new(Mutex::new(Box::new(script)));
        let mut tasks = JoinSet::new();
        let log = asked.clone();
        tasks.spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((socket, _)) = listener.accept().await {
                let wrapped = wrap(socket);
                let (script, log) = (script.clone(), log.clone());
                connections.spawn(async move {
                    if let Some(socket) = wrapped.await {
                        serve(socket, port, &script, &log).await;
                    }
                });
            }
        });
        Self { port, asked, _tasks: tasks }
    }

    pub(crate) fn address(&self) -> String {
        format!("localhost:{}", self.port)
    }

    pub(crate) fn config(&self) -> ClientConfig {
        let mut config = ClientConfig::new([self.address()]);
        config.request_timeout_ms = 5_000;
        config.retry_backoff_ms = 10;
        config.retry_backoff_max_ms = 50;
        config
    }

    pub(crate) async fn connect(&self) -> Cluster {
        Cluster::connect(self.config()).await.unwrap()
    }

    /// What was asked so far, in order.
    pub(crate) fn asked(&self) -> Vec<ApiKey> {
        self.asked.lock().unwrap().clone()
    }

    pub(crate) fn count(&self, key: ApiKey) -> usize {
        self.asked().iter().filter(|&&one| one == key).count()
    }
}

async fn serve(
    mut socket: impl AsyncRead + AsyncWrite + Unpin,
    port: u16,
    script: &Mutex<Script>,
    log: &Mutex<Vec<ApiKey>>,
) {
    loop {
        let Ok(length) = socket.read_u32().await else { return };
        let mut frame = vec![0; length as usize];
        if socket.read_exact(&mut frame).await.is_err() {
            return;
        }
        let mut frame = Bytes::from(frame);
        let key = ApiKey::try_from(i16::from_be_bytes([frame[0], frame[1]])).unwrap();
        let version = i16::from_be_bytes([frame[2], frame[3]]);
        let header = RequestHeader::decode(&mut frame, key.request_header_version(version)).unwrap();
        log.lock().unwrap().push(key);
        let ask = Ask { key, version, body: frame.copy_to_bytes(frame.remaining()), port };
        let answer = (script.lock().unwrap())(&ask);
        let frame = |body: &[u8]| {
            let mut frame = BytesMut::new();
            frame.put_i32(0);
            let told = ResponseHeader::default().with_correlation_id(header.correlation_id);
            told.encode(&mut frame, key.response_header_version(version)).unwrap();
            frame.put_slice(body);
            let length = (frame.len() - 4) as u32;
            frame[..4].copy_from_slice(&length.to_be_bytes());
            frame
        };
        let sent = match answer {
            Answer::Body(body) => socket.write_all(&frame(&body)).await,
            Answer::Raw(bytes) => socket.write_all(&bytes).await,
            Answer::Drip(body) => {
                let mut sent = Ok(());
                for byte in frame(&body) {
                    sent = sent.and(socket.write_u8(byte).await).and(socket.flush().await);
                    tokio::task::yield_now().await;
                }
                sent
            }
            Answer::Silence => Ok(()),
            Answer::Hangup => return,
        };
        if sent.and(socket.flush().await).is_err() {
            return;
        }
    }
}

/// What a broker with one topic of three partitions says to its only member.
pub(crate) fn usual(ask: &Ask) -> Answer {
    match ask.key {
        ApiKey::ApiVersions => {
            let range =
                |key: i16| ApiVersion::default().with_api_key(key).with_min_version(0).with_max_version(99);
            Answer::message(ask, &ApiVersionsResponse::default().with_api_keys((0..70).map(range).collect()))
        }
        ApiKey::Metadata => {
            let asked = MetadataRequest::decode(&mut ask.body.clone(), ask.version).unwrap();
            let names = match asked.topics {
                Some(topics) => topics.into_iter().filter_map(|topic| topic.name).collect(),
                None => ["orders", "clicks", "__consumer_offsets"].map(name_of).to_vec(),
            };
            let partition = |number| {
                MetadataResponsePartition::default()
                    .with_partition_index(number)
                    .with_replica_nodes(vec![BrokerId(7)])
            };
            let topic = |name| {
                MetadataResponseTopic::default()
                    .with_name(Some(name))
                    .with_partitions((0..3).map(partition).collect())
            };
            let broker = MetadataResponseBroker::default()
                .with_node_id(BrokerId(7))
                .with_host(StrBytes::from_static_str("localhost"))
                .with_port(i32::from(ask.port))
                .with_rack(Some(StrBytes::from_static_str("a")));
            Answer::message(
                ask,
                &MetadataResponse::default()
                    .with_brokers(vec![broker])
                    .with_controller_id(BrokerId(7))
                    .with_topics(names.into_iter().map(topic).collect()),
            )
        }
        ApiKey::FindCoordinator => coordinator(ask, 0),
        ApiKey::JoinGroup => {
            let asked = JoinGroupRequest::decode(&mut ask.body.clone(), ask.version).unwrap();
            if asked.member_id.is_empty() {
                let answer = JoinGroupResponse::default()
                    .with_error_code(79)
                    .with_protocol_name(None)
                    .with_member_id(StrBytes::from_static_str("m1"));
                return Answer::message(ask, &answer);
            }
            let me = JoinGroupResponseMember::default()
                .with_member_id(asked.member_id.clone())
                .with_metadata(asked.protocols[0].metadata.clone());
            let answer = JoinGroupResponse::default()
                .with_generation_id(1)
                .with_protocol_type(Some(asked.protocol_type))
                .with_protocol_name(Some(asked.protocols[0].name.clone()))
                .with_leader(asked.member_id.clone())
                .with_member_id(asked.member_id)
                .with_members(vec![me]);
            Answer::message(ask, &answer)
        }
        ApiKey::SyncGroup => {
            let asked = SyncGroupRequest::decode(&mut ask.body.clone(), ask.version).unwrap();
            let answer = SyncGroupResponse::default()
                .with_protocol_type(asked.protocol_type)
                .with_protocol_name(asked.protocol_name)
                .with_assignment(asked.assignments[0].assignment.clone());
            Answer::message(ask, &answer)
        }
        ApiKey::Heartbeat => Answer::message(ask, &HeartbeatResponse::default()),
        ApiKey::LeaveGroup => Answer::message(ask, &LeaveGroupResponse::default()),
        ApiKey::OffsetCommit => commit(ask, 0),
        other => panic!("nobody asks for {other:?}"),
    }
}

pub(crate) fn name_of(name: &str) -> kafka_protocol::messages::TopicName {
    kafka_protocol::messages::TopicName(StrBytes::from_string(name.to_owned()))
}

/// Names this broker as the coordinator, or refuses.
pub(crate) fn coordinator(ask: &Ask, error: i16) -> Answer {
    let one = kafka_protocol::messages::find_coordinator_response::Coordinator::default()
        .with_error_code(error)
        .with_node_id(BrokerId(7))
        .with_host(StrBytes::from_static_str("localhost"))
        .with_port(i32::from(ask.port));
    Answer::message(ask, &FindCoordinatorResponse::default().with_coordinators(vec![one]))
}

/// Answers a commit with one outcome for all its partitions.
pub(crate) fn commit(ask: &Ask, error: i16) -> Answer {
    let asked = OffsetCommitRequest::decode(&mut ask.body.clone(), ask.version).unwrap();
    let topics = asked
        .topics
        .into_iter()
        .map(|topic| {
            let partitions = topic.partitions.into_iter().map(|one| {
                OffsetCommitResponsePartition::default()
                    .with_partition_index(one.partition_index)
                    .with_error_code(error)
            });
            OffsetCommitResponseTopic::default().with_name(topic.name).with_partitions(partitions.collect())
        })
        .collect();
    Answer::message(ask, &OffsetCommitResponse::default().with_topics(topics))
}
