//! Requests and responses of the group and transaction protocols, and their headers.

use super::schema::Kind::{Bool, Bytes, I8, I16, I32, I64, PlainText, Structs, Text, Texts, Uuid};
use super::schema::{Field, Format};

const fn field(name: &'static str, kind: super::schema::Kind) -> Field {
    Field::new(name, kind)
}

const THROTTLE: Field = field("throttleTimeMs", I32);
const ERROR_CODE: Field = field("errorCode", I16);
const GROUP_ID: Field = field("groupId", Text);
const MEMBER_ID: Field = field("memberId", Text);
const INSTANCE_ID: Field = field("groupInstanceId", Text).nullable();
const GENERATION: Field = field("generationId", I32);
const GENERATION_OR_EPOCH: Field = field("generationIdOrMemberEpoch", I32);

pub(super) static REQUEST_HEADER: Format = Format::new(
    "request-header",
    1,
    2,
    &[
        field("requestApiKey", I16),
        field("requestApiVersion", I16),
        field("correlationId", I32),
        field("clientId", PlainText).nullable(),
    ],
)
.flexible_from(2);

pub(super) static RESPONSE_HEADER: Format =
    Format::new("response-header", 0, 1, &[field("correlationId", I32)]).flexible_from(1);

pub(super) static JOIN_GROUP_REQUEST: Format = Format::new(
    "join-group-request",
    0,
    9,
    &[
        GROUP_ID,
        field("sessionTimeoutMs", I32),
        field("rebalanceTimeoutMs", I32).since(1),
        MEMBER_ID,
        INSTANCE_ID.since(5),
        field("protocolType", Text),
        field("protocols", Structs(&[field("name", Text), field("metadata", Bytes)])),
        field("reason", Text).nullable().since(8),
    ],
)
.api(11)
.flexible_from(6);

pub(super) static JOIN_GROUP_RESPONSE: Format = Format::new(
    "join-group-response",
    0,
    9,
    &[
        THROTTLE.since(2),
        ERROR_CODE,
        GENERATION,
        field("protocolType", Text).nullable().since(7),
        field("protocolName", Text).nullable_since(7),
        field("leader", Text),
        field("skipAssignment", Bool).since(9),
        MEMBER_ID,
        field("members", Structs(&[MEMBER_ID, INSTANCE_ID.since(5), field("metadata", Bytes)])),
    ],
)
.api(11)
.flexible_from(6);

pub(super) static SYNC_GROUP_REQUEST: Format = Format::new(
    "sync-group-request",
    0,
    5,
    &[
        GROUP_ID,
        GENERATION,
        MEMBER_ID,
        INSTANCE_ID.since(3),
        field("protocolType", Text).nullable().since(5),
        field("protocolName", Text).nullable().since(5),
        field("assignments", Structs(&[MEMBER_ID, field("assignment", Bytes)])),
    ],
)
.api(14)
.flexible_from(4);

pub(super) static SYNC_GROUP_RESPONSE: Format = Format::new(
    "sync-group-response",
    0,
    5,
    &[
        THROTTLE.since(1),
        ERROR_CODE,
        field("protocolType", Text).nullable().since(5),
        field("protocolName", Text).nullable().since(5),
        field("assignment", Bytes),
    ],
)
.api(14)
.flexible_from(4);

pub(super) static HEARTBEAT_REQUEST: Format =
    Format::new("heartbeat-request", 0, 4, &[GROUP_ID, GENERATION, MEMBER_ID, INSTANCE_ID.since(3)])
        .api(12)
        .flexible_from(4);

pub(super) static HEARTBEAT_RESPONSE: Format =
    Format::new("heartbeat-response", 0, 4, &[THROTTLE.since(1), ERROR_CODE]).api(12).flexible_from(4);

pub(super) static LEAVE_GROUP_REQUEST: Format = Format::new(
    "leave-group-request",
    0,
    5,
    &[
        GROUP_ID,
        MEMBER_ID.until(2),
        field("members", Structs(&[MEMBER_ID, INSTANCE_ID, field("reason", Text).nullable().since(5)]))
            .since(3),
    ],
)
.api(13)
.flexible_from(4);

pub(super) static LEAVE_GROUP_RESPONSE: Format = Format::new(
    "leave-group-response",
    0,
    5,
    &[
        THROTTLE.since(1),
        ERROR_CODE,
        field("members", Structs(&[MEMBER_ID, INSTANCE_ID, ERROR_CODE])).since(3),
    ],
)
.api(13)
.flexible_from(4);

pub(super) static OFFSET_COMMIT_REQUEST: Format = Format::new(
    "offset-commit-request",
    0,
    10,
    &[
        GROUP_ID,
        GENERATION_OR_EPOCH.since(1),
        MEMBER_ID.since(1),
        INSTANCE_ID.since(7),
        field("retentionTimeMs", I64).since(2).until(4),
        field(
            "topics",
            Structs(&[
                field("name", Text).until(9),
                field("topicId", Uuid).since(10),
                field(
                    "partitions",
                    Structs(&[
                        field("partitionIndex", I32),
                        field("committedOffset", I64),
                        field("committedLeaderEpoch", I32).since(6),
                        field("commitTimestamp", I64).since(1).until(1),
                        field("committedMetadata", Text).nullable(),
                    ]),
                ),
            ]),
        ),
    ],
)
.api(8)
.flexible_from(8);

pub(super) static OFFSET_COMMIT_RESPONSE: Format = Format::new(
    "offset-commit-response",
    0,
    10,
    &[
        THROTTLE.since(3),
        field(
            "topics",
            Structs(&[
                field("name", Text).until(9),
                field("topicId", Uuid).since(10),
                field("partitions", Structs(&[field("partitionIndex", I32), ERROR_CODE])),
            ]),
        ),
    ],
)
.api(8)
.flexible_from(8);

pub(super) static TXN_OFFSET_COMMIT_REQUEST: Format = Format::new(
    "txn-offset-commit-request",
    0,
    6,
    &[
        field("transactionalId", Text),
        GROUP_ID,
        field("producerId", I64),
        field("producerEpoch", I16),
        GENERATION_OR_EPOCH.since(3),
        MEMBER_ID.since(3),
        INSTANCE_ID.since(3),
        field(
            "topics",
            Structs(&[
                field("name", Text).until(5),
                field("topicId", Uuid).since(6),
                field(
                    "partitions",
                    Structs(&[
                        field("partitionIndex", I32),
                        field("committedOffset", I64),
                        field("committedLeaderEpoch", I32).since(2),
                        field("committedMetadata", Text).nullable(),
                    ]),
                ),
            ]),
        ),
    ],
)
.api(28)
.flexible_from(3);

pub(super) static TXN_OFFSET_COMMIT_RESPONSE: Format = Format::new(
    "txn-offset-commit-response",
    0,
    6,
    &[
        THROTTLE,
        field(
            "topics",
            Structs(&[
                field("name", Text).until(5),
                field("topicId", Uuid).since(6),
                field("partitions", Structs(&[field("partitionIndex", I32), ERROR_CODE])),
            ]),
        ),
    ],
)
.api(28)
.flexible_from(3);

pub(super) static INIT_PRODUCER_ID_REQUEST: Format = Format::new(
    "init-producer-id-request",
    0,
    6,
    &[
        field("transactionalId", Text).nullable(),
        field("transactionTimeoutMs", I32),
        field("producerId", I64).since(3),
        field("producerEpoch", I16).since(3),
        field("enable2Pc", Bool).since(6),
        field("keepPreparedTxn", Bool).since(6),
    ],
)
.api(22)
.flexible_from(2);

pub(super) static INIT_PRODUCER_ID_RESPONSE: Format = Format::new(
    "init-producer-id-response",
    0,
    6,
    &[
        THROTTLE,
        ERROR_CODE,
        field("producerId", I64),
        field("producerEpoch", I16),
        field("ongoingTxnProducerId", I64).since(6),
        field("ongoingTxnProducerEpoch", I16).since(6),
    ],
)
.api(22)
.flexible_from(2);

pub(super) static FIND_COORDINATOR_REQUEST: Format = Format::new(
    "find-coordinator-request",
    0,
    6,
    &[field("key", Text).until(3), field("keyType", I8).since(1), field("coordinatorKeys", Texts).since(4)],
)
.api(10)
.flexible_from(3);

pub(super) static FIND_COORDINATOR_RESPONSE: Format = Format::new(
    "find-coordinator-response",
    0,
    6,
    &[
        THROTTLE.since(1),
        ERROR_CODE.until(3),
        field("errorMessage", Text).nullable().since(1).until(3),
        field("nodeId", I32).until(3),
        field("host", Text).until(3),
        field("port", I32).until(3),
        field(
            "coordinators",
            Structs(&[
                field("key", Text),
                field("nodeId", I32),
                field("host", Text),
                field("port", I32),
                ERROR_CODE,
                field("errorMessage", Text).nullable(),
            ]),
        )
        .since(4),
    ],
)
.api(10)
.flexible_from(3);
