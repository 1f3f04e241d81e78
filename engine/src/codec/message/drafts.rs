//! Layouts that the texts of KIP-429 and KIP-447 describe and no release carries: plain lengths, no
//! tags. Nothing real confirms these bytes.
//!
//! The version of a draft is that of the message it would have followed. Only the drafted records
//! have a number on the wire; the text gives none, and we take 1 for the keys, since 0 is the shipped
//! transaction key, and 0 for the value.

use super::schema::Kind::{Bytes, I8, I16, I32, I32s, I64, Structs, Text};
use super::schema::{Field, Format, Prefix};

const fn field(name: &'static str, kind: super::schema::Kind) -> Field {
    Field::new(name, kind)
}

const ASSIGNED: Field =
    field("assignedPartitions", Structs(&[field("topic", Text), field("partitions", I32s)]));

/// KIP-429: each protocol carries its version.
pub(super) static JOIN_GROUP_REQUEST: Format = Format::new(
    "join-group-request-draft",
    5,
    5,
    &[
        field("groupId", Text),
        field("sessionTimeoutMs", I32),
        field("rebalanceTimeoutMs", I32),
        field("memberId", Text),
        field("protocolType", Text),
        field(
            "protocols",
            Structs(&[field("name", Text), field("metadata", Bytes), field("protocolVersion", I32)]),
        ),
    ],
);

/// KIP-429's outlook: a heartbeat says which rebalance protocols its member supports.
pub(super) static HEARTBEAT_REQUEST: Format = Format::new(
    "heartbeat-request-draft",
    3,
    3,
    &[
        field("groupId", Text),
        field("generationId", I32),
        field("memberId", Text),
        field("groupInstanceId", Text).nullable(),
        field("supportedProtocols", Structs(&[field("protocol", I8)])),
    ],
);

/// KIP-429's outlook: the answer says which one the next generation follows; −1 where it says nothing.
pub(super) static HEARTBEAT_RESPONSE: Format = Format::new(
    "heartbeat-response-draft",
    3,
    3,
    &[field("throttleTimeMs", I32), field("errorCode", I16), field("protocolToUse", I8)],
);

/// KIP-447: the producer says which group its transactions read for.
pub(super) static INIT_PRODUCER_ID_REQUEST: Format = Format::new(
    "init-producer-id-request-draft",
    2,
    2,
    &[
        field("transactionalId", Text).nullable(),
        field("transactionTimeoutMs", I64),
        field("transactionalGroupId", Text).nullable(),
    ],
);

/// KIP-447: the throttle time has eight bytes there.
pub(super) static INIT_PRODUCER_ID_RESPONSE: Format = Format::new(
    "init-producer-id-response-draft",
    2,
    2,
    &[
        field("throttleTimeMs", I64),
        field("errorCode", I16),
        field("producerId", I64),
        field("producerEpoch", I16),
    ],
);

/// KIP-447: the layout that the text strikes out.
pub(super) static INIT_PRODUCER_ID_REQUEST_OLD: Format = Format::new(
    "init-producer-id-request-draft-old",
    2,
    2,
    &[
        field("transactionalId", Text).nullable(),
        field("transactionTimeoutMs", I64),
        field("consumerGroupId", Text).nullable(),
        ASSIGNED,
    ],
);

/// KIP-447: type 2 asks for the transaction coordinator of a group.
pub(super) static FIND_COORDINATOR_REQUEST: Format =
    Format::new("find-coordinator-request-draft", 1, 2, &[field("key", Text), field("keyType", I8)]);

/// KIP-447: the plain layout of version 2 with the generation last.
pub(super) static TXN_OFFSET_COMMIT_REQUEST: Format = Format::new(
    "txn-offset-commit-request-draft",
    3,
    3,
    &[
        field("transactionalId", Text),
        field("groupId", Text),
        field("producerId", I64),
        field("producerEpoch", I16),
        field(
            "topics",
            Structs(&[
                field("name", Text),
                field(
                    "partitions",
                    Structs(&[
                        field("partitionIndex", I32),
                        field("committedOffset", I64),
                        field("committedLeaderEpoch", I32),
                        field("committedMetadata", Text).nullable(),
                    ]),
                ),
            ]),
        ),
        field("generationId", I32),
    ],
);

/// KIP-447: the first key of a record that ties a transaction to a group.
pub(super) static TXN_GROUP_KEY_OLD: Format =
    Format::new("txn-group-key-draft-old", 1, 1, &[field("groupId", Text), field("transactionalId", Text)])
        .prefix(Prefix::RecordType);

/// KIP-447: the value to the first key.
pub(super) static TXN_GROUP_VALUE_OLD: Format =
    Format::new("txn-group-value-draft-old", 0, 0, &[field("generationId", I32), ASSIGNED])
        .prefix(Prefix::Version);

/// KIP-447: the second key, in the other order.
pub(super) static TXN_GROUP_KEY: Format = Format::new(
    "txn-group-key-draft",
    1,
    1,
    &[field("transactionalId", Text), field("transactionalGroupId", Text)],
)
.prefix(Prefix::RecordType);
