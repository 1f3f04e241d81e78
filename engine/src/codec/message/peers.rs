//! What members tell one another through the coordinator, as tables: for reading field by field, and
//! as a second opinion on the faster readers of these formats.

use super::schema::Kind::{Bytes, I8, I16, I32, I32s, I64, ModifiedUtf8, Structs, Text, Texts, Utf16, Uuid};
use super::schema::{Field, Format, Kind, Prefix};

const fn field(name: &'static str, kind: Kind) -> Field {
    Field::new(name, kind)
}

const BLOCKS: Kind = Structs(&[field("topic", Text), field("partitions", I32s)]);

pub(super) static CONSUMER_SUBSCRIPTION: Format = Format::new(
    "consumer-subscription",
    0,
    3,
    &[
        field("topics", Texts),
        field("userData", Bytes).nullable(),
        field("ownedPartitions", BLOCKS).since(1),
        field("generationId", I32).since(2),
        field("rackId", Text).nullable().since(3),
    ],
)
.prefix(Prefix::OpenVersion);

pub(super) static CONSUMER_ASSIGNMENT: Format = Format::new(
    "consumer-assignment",
    0,
    3,
    &[field("assignedPartitions", BLOCKS), field("userData", Bytes).nullable()],
)
.prefix(Prefix::OpenVersion);

pub(super) static CONSUMER_ASSIGNMENT_DRAFT: Format = Format::new(
    "consumer-assignment-draft",
    0,
    1,
    &[
        field("assignedPartitions", BLOCKS),
        field("userData", Bytes).nullable(),
        field("errorCode", I16).since(1),
    ],
)
.prefix(Prefix::OpenVersion);

/// Version 0 and 1 are names for what bytes are there.
pub(super) static STICKY_USER_DATA: Format = Format::new(
    "sticky-userdata",
    0,
    1,
    &[field("previousAssignment", BLOCKS), field("generation", I32).since(1)],
);

pub(super) static COOPERATIVE_STICKY_USER_DATA: Format =
    Format::new("cooperative-sticky-userdata", 0, 0, &[field("generation", I32)]);

const TASKS: Kind = Structs(&[field("topicGroupId", I32), field("partition", I32)]);

pub(super) static STREAMS_SUBSCRIPTION_INFO: Format = Format::new(
    "streams-subscription-info",
    1,
    11,
    &[
        field("latestSupportedVersion", I32).since(3),
        field("processId", Uuid),
        field("prevTasks", TASKS).until(6),
        field("standbyTasks", TASKS).until(6),
        field("userEndPoint", Bytes).since(2),
        field(
            "taskOffsetSums",
            Structs(&[
                field("topicGroupId", I32),
                field("partitionToOffsetSum", Structs(&[field("partition", I32), field("offsetSum", I64)])),
            ]),
        )
        .since(7)
        .until(9),
        field(
            "taskOffsetSums",
            Structs(&[
                field("topicGroupId", I32),
                field("partition", I32),
                field("offsetSum", I64),
                field("namedTopology", Text).nullable(),
            ]),
        )
        .since(10),
        field("uniqueField", I8).since(8),
        field("errorCode", I32).since(9),
        field("clientTags", Structs(&[field("key", Bytes), field("value", Bytes)])).since(11),
    ],
)
.prefix(Prefix::ProbedVersion);

const TASK: [Field; 3] =
    [field("subtopology", I32), field("partition", I32), field("topologyName", Utf16).nullable().since(10)];
const PARTITIONS: Kind = Structs(&[field("topic", ModifiedUtf8), field("partition", I32)]);
const HOSTS: Kind =
    Structs(&[field("host", ModifiedUtf8), field("port", I32), field("partitions", PARTITIONS)]);
const INDEXED_HOSTS: Kind = Structs(&[
    field("host", ModifiedUtf8),
    field("port", I32),
    field("partitions", Structs(&[field("topicIndex", I32), field("partition", I32)])),
]);

pub(super) static STREAMS_ASSIGNMENT_INFO: Format = Format::new(
    "streams-assignment-info",
    1,
    11,
    &[
        field("commonlySupportedVersion", I32).since(3),
        field("activeTasks", Structs(&TASK)),
        field("standbyTasks", Structs(&[TASK[0], TASK[1], TASK[2], field("partitions", PARTITIONS)])),
        field("partitionsByHost", HOSTS).since(2).until(4),
        field("topicDictionary", Structs(&[field("index", I32), field("topic", ModifiedUtf8)])).since(5),
        field("partitionsByHost", INDEXED_HOSTS).since(5),
        field("standbyPartitionsByHost", INDEXED_HOSTS).since(6),
        field("errCode", I32).since(4),
        field("nextRebalanceMs", I64).since(7),
    ],
)
.prefix(Prefix::WideVersion);
