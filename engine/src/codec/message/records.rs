//! Records of `__consumer_offsets` and `__transaction_state`.
//!
//! A key begins with the type of the record, a value with the version of its layout. A value that is
//! missing altogether deletes, and is no matter of layout. Types 3 and up belong to the newer group
//! protocols.

use super::schema::Kind::{Bytes, I8, I16, I32, I32s, I64, Structs, Text, Uuid};
use super::schema::{Default, Field, Format, Prefix};

const fn field(name: &'static str, kind: super::schema::Kind) -> Field {
    Field::new(name, kind)
}

/// Type 0 is the old offset key, with the same layout.
pub(super) static OFFSET_COMMIT_KEY: Format = Format::new(
    "offset-commit-key",
    0,
    1,
    &[field("group", Text), field("topic", Text), field("partition", I32)],
)
.prefix(Prefix::RecordType);

pub(super) static OFFSET_COMMIT_VALUE: Format = Format::new(
    "offset-commit-value",
    0,
    4,
    &[
        field("offset", I64),
        field("leaderEpoch", I32).since(3),
        field("metadata", Text),
        field("commitTimestamp", I64),
        field("expireTimestamp", I64).since(1).until(1),
        field("topicId", Uuid).since(4).tag(0, Default::ZeroUuid),
    ],
)
.prefix(Prefix::Version)
.flexible_from(4);

pub(super) static GROUP_METADATA_KEY: Format =
    Format::new("group-metadata-key", 2, 2, &[field("group", Text)]).prefix(Prefix::RecordType);

pub(super) static GROUP_METADATA_VALUE: Format = Format::new(
    "group-metadata-value",
    0,
    4,
    &[
        field("protocolType", Text),
        field("generation", I32),
        field("protocol", Text).nullable(),
        field("leader", Text).nullable(),
        field("currentStateTimestamp", I64).since(2),
        field(
            "members",
            Structs(&[
                field("memberId", Text),
                field("groupInstanceId", Text).nullable().since(3),
                field("clientId", Text),
                field("clientHost", Text),
                field("rebalanceTimeout", I32).since(1),
                field("sessionTimeout", I32),
                field("subscription", Bytes),
                field("assignment", Bytes),
            ]),
        ),
    ],
)
.prefix(Prefix::Version)
.flexible_from(4);

pub(super) static TXN_LOG_KEY: Format =
    Format::new("txn-log-key", 0, 0, &[field("transactionalId", Text)]).prefix(Prefix::RecordType);

pub(super) static TXN_LOG_VALUE: Format = Format::new(
    "txn-log-value",
    0,
    1,
    &[
        field("producerId", I64),
        field("producerEpoch", I16),
        field("transactionTimeoutMs", I32),
        field("transactionStatus", I8),
        field("transactionPartitions", Structs(&[field("topic", Text), field("partitionIds", I32s)]))
            .nullable(),
        field("transactionLastUpdateTimestampMs", I64),
        field("transactionStartTimestampMs", I64),
        field("previousProducerId", I64).since(1).tag(0, Default::Int(-1)),
        field("nextProducerId", I64).since(1).tag(1, Default::Int(-1)),
        field("clientTransactionVersion", I16).since(1).tag(2, Default::Int(0)),
    ],
)
.prefix(Prefix::Version)
.flexible_from(1);
