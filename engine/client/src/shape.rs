//! Walks over an answer's bytes before anything is made of them.
//!
//! `kafka-protocol` reserves memory by the count in front of each list. Here every answer is first walked over with
//! the table of its format: a count above the bytes that are left, a length beyond the end or a null where none may be
//! is refused with its place, and nothing is allocated. What passes has as many elements as it says, so what the
//! decoder reserves is bounded by the length of the frame, which is bounded by
//! [`frame_max_bytes`](crate::ClientConfig::frame_max_bytes).
//!
//! The tables of the group and transaction protocols are the engine's; those of other answers are below. Source: Kafka
//! 4.4.0's message definitions.

#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use core::ops::Range;

use tenure::codec::message::Kind::{Bool, Bytes, I8, I16, I32, I32s, I64, Structs, Text, Texts, Uuid};
use tenure::codec::message::{Default, Field, Format, ListOf, Scalar, Visitor, format};
use tenure::codec::{DecodeError, message::Kind};

/// Walks over an answer: the body of `api_key` in `version`.
///
/// Cost: one pass, nothing is copied or allocated.
///
/// # Errors
///
/// The place and the kind of the first fault; an answer that has no table.
pub(crate) fn check(api_key: i16, version: i16, body: &[u8]) -> Result<(), String> {
    let Some(shape) = shape_of(api_key) else { return Err(format!("no table for API {api_key}")) };
    walk(shape, version, body).map(drop).map_err(|error| error.to_string())
}

/// Walks over an answer's header, and returns its length.
pub(crate) fn check_header(version: i16, bytes: &[u8]) -> Result<usize, String> {
    let shape = format("response-header").ok_or("no table for the header")?;
    // Version 0 is a bare number; the table begins with it too.
    walk(shape, version, bytes).map_err(|error| error.to_string())
}

fn walk(shape: &Format, version: i16, bytes: &[u8]) -> Result<usize, DecodeError> {
    shape.visit(bytes, version, &mut Nobody).map(|(_, len)| len)
}

/// Hears nothing.
struct Nobody;

impl<'a> Visitor<'a> for Nobody {
    fn scalar(&mut self, _: &'static str, _: Range<usize>, _: Scalar<'a>) {}
    fn begin_list(&mut self, _: &'static str, _: Range<usize>, _: usize, _: ListOf) {}
    fn begin_struct(&mut self) {}
    fn end_struct(&mut self) {}
    fn end_list(&mut self) {}
    fn unknown_tag(&mut self, _: u32, _: Range<usize>, _: &'a [u8]) {}
}

fn shape_of(api_key: i16) -> Option<&'static Format> {
    let name = match api_key {
        8 => "offset-commit-response",
        10 => "find-coordinator-response",
        11 => "join-group-response",
        12 => "heartbeat-response",
        13 => "leave-group-response",
        14 => "sync-group-response",
        22 => "init-producer-id-response",
        28 => "txn-offset-commit-response",
        _ => return OWN.iter().copied().find(|one| one.api_key == Some(api_key)),
    };
    format(name)
}

static OWN: [&Format; 12] = [
    &METADATA,
    &OFFSET_FETCH,
    &DESCRIBE_GROUPS,
    &LIST_GROUPS,
    &SASL_HANDSHAKE,
    &API_VERSIONS,
    &CREATE_TOPICS,
    &DELETE_TOPICS,
    &ADD_OFFSETS_TO_TXN,
    &END_TXN,
    &SASL_AUTHENTICATE,
    &CREATE_PARTITIONS,
];

const fn field(name: &'static str, kind: Kind) -> Field {
    Field::new(name, kind)
}

const THROTTLE: Field = field("throttleTimeMs", I32);
const ERROR: Field = field("errorCode", I16);
const MESSAGE: Field = field("errorMessage", Text).nullable();
const NAME: Field = field("name", Text);
const PARTITION: Field = field("partitionIndex", I32);
const OFFSET: &[Field] = &[
    PARTITION,
    field("committedOffset", I64),
    field("committedLeaderEpoch", I32).since(5),
    field("metadata", Text).nullable(),
    ERROR,
];

static METADATA: Format = Format::new(
    "metadata-response",
    0,
    12,
    &[
        THROTTLE.since(3),
        field(
            "brokers",
            Structs(&[
                field("nodeId", I32),
                field("host", Text),
                field("port", I32),
                field("rack", Text).nullable().since(1),
            ]),
        ),
        field("clusterId", Text).nullable().since(2),
        field("controllerId", I32).since(1),
        field(
            "topics",
            Structs(&[
                ERROR,
                NAME.nullable_since(12),
                field("topicId", Uuid).since(10),
                field("isInternal", Bool).since(1),
                field(
                    "partitions",
                    Structs(&[
                        ERROR,
                        PARTITION,
                        field("leaderId", I32),
                        field("leaderEpoch", I32).since(7),
                        field("replicaNodes", I32s),
                        field("isrNodes", I32s),
                        field("offlineReplicas", I32s).since(5),
                    ]),
                ),
                field("topicAuthorizedOperations", I32).since(8),
            ]),
        ),
        field("clusterAuthorizedOperations", I32).since(8).until(10),
    ],
)
.api(3)
.flexible_from(9);

static OFFSET_FETCH: Format = Format::new(
    "offset-fetch-response",
    0,
    9,
    &[
        THROTTLE.since(3),
        field("topics", Structs(&[NAME, field("partitions", Structs(OFFSET))])).until(7),
        ERROR.since(2).until(7),
        field(
            "groups",
            Structs(&[
                field("groupId", Text),
                field("topics", Structs(&[NAME, field("partitions", Structs(OFFSET))])),
                ERROR,
            ]),
        )
        .since(8),
    ],
)
.api(9)
.flexible_from(6);

static DESCRIBE_GROUPS: Format = Format::new(
    "describe-groups-response",
    0,
    6,
    &[
        THROTTLE.since(1),
        field(
            "groups",
            Structs(&[
                ERROR,
                MESSAGE.since(6),
                field("groupId", Text),
                field("groupState", Text),
                field("protocolType", Text),
                field("protocolData", Text),
                field(
                    "members",
                    Structs(&[
                        field("memberId", Text),
                        field("groupInstanceId", Text).nullable().since(4),
                        field("clientId", Text),
                        field("clientHost", Text),
                        field("memberMetadata", Bytes),
                        field("memberAssignment", Bytes),
                    ]),
                ),
                field("authorizedOperations", I32).since(3),
            ]),
        ),
    ],
)
.api(15)
.flexible_from(5);

static LIST_GROUPS: Format = Format::new(
    "list-groups-response",
    0,
    5,
    &[
        THROTTLE.since(1),
        ERROR,
        field(
            "groups",
            Structs(&[
                field("groupId", Text),
                field("protocolType", Text),
                field("groupState", Text).since(4),
                field("groupType", Text).since(5),
            ]),
        ),
    ],
)
.api(16)
.flexible_from(3);

static SASL_HANDSHAKE: Format =
    Format::new("sasl-handshake-response", 0, 1, &[ERROR, field("mechanisms", Texts)]).api(17);

static API_VERSIONS: Format = Format::new(
    "api-versions-response",
    0,
    4,
    &[
        ERROR,
        field(
            "apiKeys",
            Structs(&[field("apiKey", I16), field("minVersion", I16), field("maxVersion", I16)]),
        ),
        THROTTLE.since(1),
        field("supportedFeatures", Structs(&[NAME, field("minVersion", I16), field("maxVersion", I16)]))
            .since(3)
            .tag(0, Default::Int(0)),
        field("finalizedFeaturesEpoch", I64).since(3).tag(1, Default::Int(-1)),
        field(
            "finalizedFeatures",
            Structs(&[NAME, field("maxVersionLevel", I16), field("minVersionLevel", I16)]),
        )
        .since(3)
        .tag(2, Default::Int(0)),
        field("zkMigrationReady", Bool).since(3).tag(3, Default::Int(0)),
    ],
)
.api(18)
.flexible_from(3);

static CREATE_TOPICS: Format = Format::new(
    "create-topics-response",
    2,
    7,
    &[
        THROTTLE,
        field(
            "topics",
            Structs(&[
                NAME,
                field("topicId", Uuid).since(7),
                ERROR,
                MESSAGE,
                field("numPartitions", I32).since(5),
                field("replicationFactor", I16).since(5),
                field(
                    "configs",
                    Structs(&[
                        NAME,
                        field("value", Text).nullable(),
                        field("readOnly", Bool),
                        field("configSource", I8),
                        field("isSensitive", Bool),
                    ]),
                )
                .nullable()
                .since(5),
                field("topicConfigErrorCode", I16).since(5).tag(0, Default::Int(0)),
            ]),
        ),
    ],
)
.api(19)
.flexible_from(5);

static DELETE_TOPICS: Format = Format::new(
    "delete-topics-response",
    1,
    5,
    &[THROTTLE, field("responses", Structs(&[NAME, ERROR, MESSAGE.since(5)]))],
)
.api(20)
.flexible_from(4);

static ADD_OFFSETS_TO_TXN: Format =
    Format::new("add-offsets-to-txn-response", 0, 3, &[THROTTLE, ERROR]).api(25).flexible_from(3);

static END_TXN: Format = Format::new("end-txn-response", 0, 4, &[THROTTLE, ERROR]).api(26).flexible_from(3);

static SASL_AUTHENTICATE: Format = Format::new(
    "sasl-authenticate-response",
    0,
    2,
    &[ERROR, MESSAGE, field("authBytes", Bytes), field("sessionLifetimeMs", I64).since(1)],
)
.api(36)
.flexible_from(2);

static CREATE_PARTITIONS: Format = Format::new(
    "create-partitions-response",
    0,
    3,
    &[THROTTLE, field("results", Structs(&[NAME, ERROR, MESSAGE]))],
)
.api(37)
.flexible_from(2);
