//! Plays a course on a side, and puts down what it answers.

use std::collections::BTreeMap;

use serde_json::Value;
use tenure::protocol::message::{
    AddOffsetsToTxnRequest, CommittedOffset, EndTxnRequest, HeartbeatRequest, InitProducerIdRequest,
    JoinGroupRequest, JoinProtocol, LeaveGroupRequest, LeavingMember, NO_GENERATION, NO_PRODUCER_EPOCH,
    NO_PRODUCER_ID, OffsetCommitRequest, OffsetFetchRequest, Request, Response, SyncAssignment,
    SyncGroupRequest, TopicPartition, TxnOffsetCommitRequest,
};

use super::answer;
use super::record::Record;
use super::step::{Course, Profile, Step};
use crate::requirement::PeerError;

/// The topic whose offsets are committed.
pub(crate) const TOPIC: &str = "orders";

/// The name of every client on the wire: new member ids begin with it.
pub(crate) const CLIENT_ID: &str = "course";

/// A coordinator: the real one or its model.
pub trait Side {
    /// Sends a request over the connection of this client.
    ///
    /// # Errors
    ///
    /// [`PeerError::Failed`] if the broker hung up.
    fn send(&mut self, client: &str, request: Request) -> Result<(), PeerError>;

    /// What has been answered since, client by client. If it is known whose answers are to come, these are waited for.
    ///
    /// # Errors
    ///
    /// [`PeerError::Failed`] if the broker hung up.
    fn answers(&mut self, expected: Option<&[String]>) -> Result<Vec<(String, Response)>, PeerError>;

    /// Lets time pass.
    fn pass(&mut self, span_ms: u64);

    /// The group's state: the name of its phase, and its members' ids with their assignments.
    ///
    /// # Errors
    ///
    /// [`PeerError::Failed`] if the broker hung up.
    fn describe(&mut self, group_id: &str) -> Result<(String, BTreeMap<String, Vec<u8>>), PeerError>;

    /// Deletes the group and gives the name of the error code.
    ///
    /// # Errors
    ///
    /// [`PeerError::Failed`] if the broker hung up.
    fn delete(&mut self, group_id: &str) -> Result<String, PeerError>;
}

/// What a client knows.
#[derive(Debug, Default)]
pub(super) struct Knowledge {
    pub(super) member_id: String,
    generation: Option<i32>,
    protocol: Option<String>,
    producer: Option<(i64, i16)>,
    transactional: Option<String>,
}

/// All clients of a course, and whose the ids are.
pub(super) struct Stage<'a> {
    pub(super) course: &'a Course,
    group_id: &'a str,
    clients: BTreeMap<String, Knowledge>,
    pub(super) names: BTreeMap<String, String>,
}

/// Plays a course in a group of this id. `expected` is a record of it, if there is one: then each step waits for the
/// answers that the record has.
///
/// # Errors
///
/// [`PeerError::Failed`] if the broker hung up, or a step needs an id that nobody was given.
pub fn play(
    course: &Course,
    group_id: &str,
    side: &mut impl Side,
    expected: Option<&Record>,
) -> Result<Record, PeerError> {
    let mut stage = Stage { course, group_id, clients: BTreeMap::new(), names: BTreeMap::new() };
    let mut steps = Vec::new();
    for (index, step) in course.steps.iter().enumerate() {
        let mut put_down: Vec<Value> = Vec::new();
        match step {
            Step::Pass(span_ms) => side.pass(*span_ms),
            Step::Describe {} => {
                let (phase, members) = side.describe(group_id)?;
                put_down.push(answer::state(&stage, &phase, &members));
            }
            Step::Delete {} => put_down.push(serde_json::json!({ "delete": side.delete(group_id)? })),
            _ => {
                let (client, request) = stage.request(step)?;
                side.send(&client, request)?;
            }
        }
        let awaited = expected.and_then(|record| record.steps.get(index)).map(|step| Record::clients(step));
        let answers = side.answers(awaited.as_deref())?;
        for (client, response) in &answers {
            stage.learn(client, response);
        }
        let mut answers: Vec<Value> =
            answers.iter().map(|(client, response)| answer::answer(&stage, client, response)).collect();
        answers.sort_by_key(|one| one.get("to").map(Value::to_string));
        put_down.append(&mut answers);
        steps.push(put_down);
    }
    Ok(Record { name: course.name.clone(), steps })
}

impl Stage<'_> {
    pub(super) fn profile(&self, client: &str) -> Profile {
        self.course.clients.get(client).cloned().unwrap_or_default()
    }

    fn knowledge(&mut self, client: &str) -> &mut Knowledge {
        self.clients.entry(client.to_owned()).or_default()
    }

    /// The id that a step's text stands for.
    fn id(&self, text: &str) -> String {
        self.clients.get(text).map_or_else(|| text.to_owned(), |client| client.member_id.clone())
    }

    fn own_or(&mut self, client: &str, given: Option<&str>) -> String {
        match given {
            Some(text) => self.id(text),
            None => self.knowledge(client).member_id.clone(),
        }
    }

    fn generation_or(&mut self, client: &str, given: Option<i32>) -> i32 {
        given.or(self.knowledge(client).generation).unwrap_or(NO_GENERATION)
    }

    fn request(&mut self, step: &Step) -> Result<(String, Request), PeerError> {
        let group_id = self.group_id.to_owned();
        let (client, request): (&String, Request) = match step {
            Step::Join(join) => {
                let profile = self.profile(&join.by);
                let own = profile.metadata.unwrap_or_else(|| join.by.clone());
                let metadata = join.metadata.clone().unwrap_or(own).into_bytes();
                let protocols = join.protocols.clone().unwrap_or(profile.protocols);
                let protocols = protocols.into_iter();
                let protocols =
                    protocols.map(|name| JoinProtocol { name, metadata: metadata.clone(), version: None });
                let request = JoinGroupRequest {
                    api_version: profile.version,
                    client_id: CLIENT_ID.into(),
                    group_id,
                    session_timeout_ms: profile.session_ms,
                    rebalance_timeout_ms: profile.rebalance_ms,
                    member_id: self.own_or(&join.by, join.id.as_deref()),
                    group_instance_id: profile.instance,
                    protocol_type: profile.protocol_type,
                    protocols: protocols.collect(),
                    reason: None,
                };
                (&join.by, request.into())
            }
            Step::Sync(sync) => {
                let profile = self.profile(&sync.by);
                let assignments = sync.assign.iter().map(|(client, text)| SyncAssignment {
                    member_id: self.id(client),
                    assignment: text.clone().into_bytes(),
                });
                let assignments = assignments.collect();
                let own = self.knowledge(&sync.by).protocol.clone();
                let request = SyncGroupRequest {
                    group_id,
                    generation_id: self.generation_or(&sync.by, sync.generation),
                    member_id: self.own_or(&sync.by, sync.id.as_deref()),
                    group_instance_id: profile.instance,
                    protocol_type: Some(sync.protocol_type.clone().unwrap_or(profile.protocol_type)),
                    protocol_name: sync
                        .protocol
                        .clone()
                        .or(own)
                        .or_else(|| profile.protocols.into_iter().next()),
                    assignments,
                };
                (&sync.by, request.into())
            }
            Step::Heartbeat(identity) => {
                let request = HeartbeatRequest {
                    group_id,
                    generation_id: self.generation_or(&identity.by, identity.generation),
                    member_id: self.own_or(&identity.by, identity.id.as_deref()),
                    group_instance_id: identity.instance.clone().or(self.profile(&identity.by).instance),
                    supported_protocols: None,
                };
                (&identity.by, request.into())
            }
            Step::Leave(leave) => {
                let own = |stage: &mut Self| LeavingMember {
                    member_id: stage.knowledge(&leave.by).member_id.clone(),
                    group_instance_id: stage.profile(&leave.by).instance,
                    reason: None,
                };
                let members = match &leave.members {
                    None => vec![own(self)],
                    Some(members) => members
                        .iter()
                        .map(|one| LeavingMember {
                            member_id: self.id(&one.id),
                            group_instance_id: one.instance.clone(),
                            reason: None,
                        })
                        .collect(),
                };
                (&leave.by, LeaveGroupRequest { group_id, members }.into())
            }
            Step::Commit(commit) => {
                let committed = CommittedOffset {
                    metadata: "m".repeat(commit.metadata_len),
                    ..CommittedOffset::new(commit.offset)
                };
                let request = OffsetCommitRequest {
                    api_version: commit.version,
                    group_id,
                    generation_id: self.generation_or(&commit.by, commit.generation),
                    member_id: self.own_or(&commit.by, commit.id.as_deref()),
                    group_instance_id: commit.instance.clone().or(self.profile(&commit.by).instance),
                    offsets: vec![(TopicPartition::new(TOPIC, 0), committed)],
                };
                (&commit.by, request.into())
            }
            Step::TxnCommit(commit) => {
                let (producer_id, producer_epoch) = self.producer(&commit.by);
                let request = TxnOffsetCommitRequest {
                    transactional_id: self.transactional_id(&commit.by),
                    group_id,
                    producer_id,
                    producer_epoch,
                    generation_id: self.generation_or(&commit.by, commit.generation),
                    member_id: self.own_or(&commit.by, commit.id.as_deref()),
                    group_instance_id: commit.instance.clone().or(self.profile(&commit.by).instance),
                    offsets: vec![(TopicPartition::new(TOPIC, 0), CommittedOffset::new(commit.offset))],
                };
                (&commit.by, request.into())
            }
            Step::Fetch(fetch) => {
                let partitions = Some(vec![TopicPartition::new(TOPIC, 0)]);
                (&fetch.by, OffsetFetchRequest { group_id, partitions, require_stable: fetch.stable }.into())
            }
            Step::InitProducer(producer) => {
                let name = producer.transactional.clone().unwrap_or_else(|| producer.by.clone());
                let transactional_id = format!("{group_id}-{name}");
                self.knowledge(&producer.by).transactional = Some(transactional_id.clone());
                let transactional_id = Some(transactional_id);
                (&producer.by, InitProducerIdRequest { transactional_id, ..Default::default() }.into())
            }
            Step::AddOffsets(producer) => {
                let (producer_id, producer_epoch) = self.producer(&producer.by);
                let transactional_id = self.transactional_id(&producer.by);
                let request =
                    AddOffsetsToTxnRequest { transactional_id, producer_id, producer_epoch, group_id };
                (&producer.by, request.into())
            }
            Step::EndTxn(end) => {
                let (producer_id, producer_epoch) = self.producer(&end.by);
                let transactional_id = self.transactional_id(&end.by);
                let request =
                    EndTxnRequest { transactional_id, producer_id, producer_epoch, committed: end.commit };
                (&end.by, request.into())
            }
            Step::Describe {} | Step::Delete {} | Step::Pass(_) => {
                return Err(PeerError::failed("a step that sends nothing"));
            }
        };
        // Whoever sends is known from now on, so that its name stands for its id, even while that is empty.
        let client = client.clone();
        self.knowledge(&client);
        Ok((client, request))
    }

    fn producer(&mut self, client: &str) -> (i64, i16) {
        self.knowledge(client).producer.unwrap_or((NO_PRODUCER_ID, NO_PRODUCER_EPOCH))
    }

    fn transactional_id(&mut self, client: &str) -> String {
        let default = format!("{}-{client}", self.group_id);
        self.knowledge(client).transactional.clone().unwrap_or(default)
    }

    fn learn(&mut self, client: &str, response: &Response) {
        match response {
            Response::JoinGroup(joined) => {
                let error = joined.error;
                let required = error == tenure::protocol::error::ErrorCode::MemberIdRequired;
                if error.is_none() || required {
                    let id = joined.member_id.clone();
                    self.names.entry(id.clone()).or_insert_with(|| client.to_owned());
                    self.knowledge(client).member_id = id;
                }
                if error.is_none() {
                    let knowledge = self.knowledge(client);
                    knowledge.generation = Some(joined.generation_id);
                    knowledge.protocol.clone_from(&joined.protocol_name);
                }
            }
            Response::InitProducerId(given) if given.error.is_none() => {
                self.knowledge(client).producer = Some((given.producer_id, given.producer_epoch));
            }
            _ => {}
        }
    }
}
