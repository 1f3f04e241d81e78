//! The file of courses, and what a step of one says.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::requirement::PeerError;

/// A file of courses, which one broker goes through.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CourseFile {
    /// The broker's settings by their Kafka names; the model is set alike.
    pub broker: BTreeMap<String, i64>,
    /// The courses, each with a group of its own.
    pub courses: Vec<Course>,
}

impl CourseFile {
    /// Reads a file's text.
    ///
    /// # Errors
    ///
    /// [`PeerError::Failed`] with line and column, or with the name of a course that is there twice or has no step.
    pub fn parse(text: &str) -> Result<Self, PeerError> {
        let file: Self = serde_json::from_str(text).map_err(|error| PeerError::failed(error.to_string()))?;
        for (index, course) in file.courses.iter().enumerate() {
            let earlier = file.courses.iter().take(index);
            if course.steps.is_empty() || earlier.into_iter().any(|one| one.name == course.name) {
                return Err(PeerError::failed(format!("course {:?} is empty or there twice", course.name)));
            }
        }
        Ok(file)
    }
}

/// One group's course of events.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Course {
    /// What it shows.
    pub name: String,
    /// Where the rule comes from.
    #[serde(default)]
    pub source: Option<String>,
    /// The group's id, if the course is about that.
    #[serde(default)]
    pub group: Option<String>,
    /// Whether the released broker leaves it to a hash of random ids which member leads: then any member may.
    #[serde(default)]
    pub leader_is_open: bool,
    /// Clients that differ from the default profile.
    #[serde(default)]
    pub clients: BTreeMap<String, Profile>,
    /// What happens, in order.
    pub steps: Vec<Step>,
}

/// What a client says of itself whenever it joins.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Profile {
    /// `group.instance.id`.
    pub instance: Option<String>,
    /// The assignors, the preferred one first.
    pub protocols: Vec<String>,
    /// The text in place of a subscription; the client's name if absent.
    pub metadata: Option<String>,
    /// The protocol type.
    #[serde(rename = "type")]
    pub protocol_type: String,
    /// `session.timeout.ms`.
    pub session_ms: i32,
    /// `max.poll.interval.ms`, as far as the coordinator sees it.
    pub rebalance_ms: i32,
    /// The version of its JoinGroup requests.
    pub version: i16,
}

impl Default for Profile {
    fn default() -> Self {
        Self {
            instance: None,
            protocols: vec!["range".into()],
            metadata: None,
            protocol_type: "consumer".into(),
            session_ms: 60_000,
            rebalance_ms: 60_000,
            version: 9,
        }
    }
}

/// One event. In an `id` the name of a client stands for the id that it was given; any other text for itself.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum Step {
    /// JoinGroup.
    Join(Join),
    /// SyncGroup.
    Sync(Sync),
    /// Heartbeat.
    Heartbeat(Identity),
    /// LeaveGroup.
    Leave(Leave),
    /// OffsetCommit.
    Commit(Commit),
    /// OffsetFetch.
    Fetch(Fetch),
    /// InitProducerId.
    InitProducer(Producer),
    /// AddOffsetsToTxn.
    AddOffsets(Producer),
    /// TxnOffsetCommit.
    TxnCommit(Commit),
    /// EndTxn.
    EndTxn(EndTxn),
    /// DescribeGroups: the group's state is put down.
    Describe {},
    /// DeleteGroups.
    Delete {},
    /// Time passes: milliseconds.
    Pass(u64),
}

/// Who sends a request, and who it says it is.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Identity {
    /// The client that sends it, over its own connection.
    pub by: String,
    /// The member id; the client's own if absent.
    #[serde(default)]
    pub id: Option<String>,
    /// The generation; the client's own if absent.
    #[serde(default)]
    pub generation: Option<i32>,
    /// The static name; the profile's if absent.
    #[serde(default)]
    pub instance: Option<String>,
}

/// A join.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Join {
    /// The client that sends it.
    pub by: String,
    /// The member id; the client's own if absent.
    #[serde(default)]
    pub id: Option<String>,
    /// Assignors, if other than the profile's.
    #[serde(default)]
    pub protocols: Option<Vec<String>>,
    /// The text in place of a subscription, if other than the profile's.
    #[serde(default)]
    pub metadata: Option<String>,
}

/// A sync.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sync {
    /// The client that sends it.
    pub by: String,
    /// The member id; the client's own if absent.
    #[serde(default)]
    pub id: Option<String>,
    /// The generation; the client's own if absent.
    #[serde(default)]
    pub generation: Option<i32>,
    /// The assignor that the client believes in; that of its last join if absent.
    #[serde(default)]
    pub protocol: Option<String>,
    /// The protocol type that the client believes in; the profile's if absent.
    #[serde(default, rename = "type")]
    pub protocol_type: Option<String>,
    /// A text in place of an assignment for each client, from the leader.
    #[serde(default)]
    pub assign: BTreeMap<String, String>,
}

/// A leave.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Leave {
    /// The client that sends it.
    pub by: String,
    /// Who leaves; the client itself if absent.
    #[serde(default)]
    pub members: Option<Vec<Leaving>>,
}

/// One that leaves.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Leaving {
    /// The member id.
    #[serde(default)]
    pub id: String,
    /// The static name.
    #[serde(default)]
    pub instance: Option<String>,
}

/// A commit, inside or outside of a transaction.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Commit {
    /// The client that sends it.
    pub by: String,
    /// The member id; the client's own if absent.
    #[serde(default)]
    pub id: Option<String>,
    /// The generation; the client's own if absent.
    #[serde(default)]
    pub generation: Option<i32>,
    /// The static name; the profile's if absent.
    #[serde(default)]
    pub instance: Option<String>,
    /// The offset for partition 0 of the topic.
    #[serde(default)]
    pub offset: i64,
    /// How long a text to commit beside it.
    #[serde(default)]
    pub metadata_len: usize,
    /// The version of an OffsetCommit request; 9 if absent.
    #[serde(default = "newest_commit")]
    pub version: i16,
}

fn newest_commit() -> i16 {
    9
}

/// A fetch of the offset of partition 0.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fetch {
    /// The client that sends it.
    pub by: String,
    /// Whether it waits for stable offsets.
    #[serde(default)]
    pub stable: bool,
}

/// A producer's request. Its transactional id is made of the group and this name, so that two clients can share it.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Producer {
    /// The client that sends it.
    pub by: String,
    /// The transactional id's name; the client's if absent.
    #[serde(default)]
    pub transactional: Option<String>,
}

/// The end of a transaction.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EndTxn {
    /// The client that sends it.
    pub by: String,
    /// Commit, or abort.
    pub commit: bool,
}
