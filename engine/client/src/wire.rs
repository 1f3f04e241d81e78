//! The member's requests and answers as messages of the wire, and back.

use core::future::Future;
use core::pin::Pin;
use core::time::Duration;
use std::collections::BTreeMap;

use bytes::Bytes;
use kafka_protocol::messages as wire;
use kafka_protocol::messages::join_group_request::JoinGroupRequestProtocol;
use kafka_protocol::messages::leave_group_request::MemberIdentity;
use kafka_protocol::messages::offset_commit_request::{
    OffsetCommitRequestPartition, OffsetCommitRequestTopic,
};
use kafka_protocol::messages::sync_group_request::SyncGroupRequestAssignment;
use kafka_protocol::protocol::{Request as WireRequest, StrBytes};
use tenure::protocol::error::ErrorCode;
use tenure::protocol::message::{
    CommittedOffset, HeartbeatRequest, HeartbeatResponse, JoinGroupRequest, JoinGroupResponse, JoinMember,
    LeaveGroupRequest, LeaveGroupResponse, LeftMember, OffsetCommitRequest, OffsetCommitResponse, Request,
    Response, SyncGroupRequest, SyncGroupResponse, TopicPartition,
};

use crate::connection::Connection;
use crate::error::ClientError;

/// An answer that is on its way.
pub(crate) type Answer = Pin<Box<dyn Future<Output = Result<Response, ClientError>> + Send>>;

/// Puts a member's request into the queue of a connection, now and in order.
pub(crate) fn submit(
    connection: &Connection,
    request: Request,
    timeout: Duration,
) -> Result<Answer, ClientError> {
    match request {
        Request::JoinGroup(request) => send(connection, timeout, |version| join(version, request), joined),
        Request::SyncGroup(request) => send(connection, timeout, |version| sync(version, request), synced),
        Request::Heartbeat(request) => send(
            connection,
            timeout,
            |version| heartbeat(version, request),
            |answer| {
                HeartbeatResponse { error: ErrorCode::from_code(answer.error_code), protocol_to_use: None }
                    .into()
            },
        ),
        Request::LeaveGroup(request) => send(connection, timeout, |version| leave(version, request), left),
        Request::OffsetCommit(request) => send(
            connection,
            timeout,
            |version| commit(version, request),
            |answer| Response::OffsetCommit(committed(answer)),
        ),
        other => Err(ClientError::config("request", other.name(), "a request of a group member")),
    }
}

fn send<R>(
    connection: &Connection,
    timeout: Duration,
    write: impl FnOnce(i16) -> R,
    read: impl FnOnce(R::Response) -> Response + Send + 'static,
) -> Result<Answer, ClientError>
where
    R: WireRequest + 'static,
    R::Response: Send,
{
    let version = connection.version::<R>()?;
    let reply = connection.submit(version, &write(version), timeout)?;
    Ok(Box::pin(async move { reply.wait().await.map(read) }))
}

pub(crate) fn text(text: impl Into<String>) -> StrBytes {
    StrBytes::from_string(text.into())
}

fn optional(value: Option<String>) -> Option<StrBytes> {
    value.map(text)
}

fn group(group_id: String) -> wire::GroupId {
    wire::GroupId(text(group_id))
}

fn join(version: i16, request: JoinGroupRequest) -> wire::JoinGroupRequest {
    let protocols = request
        .protocols
        .into_iter()
        .map(|one| {
            JoinGroupRequestProtocol::default()
                .with_name(text(one.name))
                .with_metadata(Bytes::from(one.metadata))
        })
        .collect();
    wire::JoinGroupRequest::default()
        .with_group_id(group(request.group_id))
        .with_session_timeout_ms(request.session_timeout_ms)
        .with_rebalance_timeout_ms(request.rebalance_timeout_ms)
        .with_member_id(text(request.member_id))
        .with_group_instance_id(optional(request.group_instance_id))
        .with_protocol_type(text(request.protocol_type))
        .with_protocols(protocols)
        .with_reason(optional(request.reason.filter(|_| version >= 8)))
}

fn joined(answer: wire::JoinGroupResponse) -> Response {
    let members = answer
        .members
        .into_iter()
        .map(|one| JoinMember {
            member_id: one.member_id.to_string(),
            group_instance_id: one.group_instance_id.map(|id| id.to_string()),
            metadata: one.metadata.to_vec(),
        })
        .collect();
    JoinGroupResponse {
        error: ErrorCode::from_code(answer.error_code),
        generation_id: answer.generation_id,
        protocol_type: answer.protocol_type.map(|name| name.to_string()),
        protocol_name: answer.protocol_name.map(|name| name.to_string()),
        leader: answer.leader.to_string(),
        skip_assignment: answer.skip_assignment,
        member_id: answer.member_id.to_string(),
        members,
    }
    .into()
}

fn sync(version: i16, request: SyncGroupRequest) -> wire::SyncGroupRequest {
    let assignments = request
        .assignments
        .into_iter()
        .map(|one| {
            SyncGroupRequestAssignment::default()
                .with_member_id(text(one.member_id))
                .with_assignment(Bytes::from(one.assignment))
        })
        .collect();
    wire::SyncGroupRequest::default()
        .with_group_id(group(request.group_id))
        .with_generation_id(request.generation_id)
        .with_member_id(text(request.member_id))
        .with_group_instance_id(optional(request.group_instance_id))
        .with_protocol_type(optional(request.protocol_type.filter(|_| version >= 5)))
        .with_protocol_name(optional(request.protocol_name.filter(|_| version >= 5)))
        .with_assignments(assignments)
}

fn synced(answer: wire::SyncGroupResponse) -> Response {
    SyncGroupResponse {
        error: ErrorCode::from_code(answer.error_code),
        protocol_type: answer.protocol_type.map(|name| name.to_string()),
        protocol_name: answer.protocol_name.map(|name| name.to_string()),
        assignment: answer.assignment.to_vec(),
    }
    .into()
}

fn heartbeat(_: i16, request: HeartbeatRequest) -> wire::HeartbeatRequest {
    wire::HeartbeatRequest::default()
        .with_group_id(group(request.group_id))
        .with_generation_id(request.generation_id)
        .with_member_id(text(request.member_id))
        .with_group_instance_id(optional(request.group_instance_id))
}

fn leave(version: i16, mut request: LeaveGroupRequest) -> wire::LeaveGroupRequest {
    let wanted = wire::LeaveGroupRequest::default().with_group_id(group(request.group_id));
    if version < 3 {
        let member_id = request.members.pop().map(|one| one.member_id).unwrap_or_default();
        return wanted.with_member_id(text(member_id));
    }
    let members = request
        .members
        .into_iter()
        .map(|one| {
            MemberIdentity::default()
                .with_member_id(text(one.member_id))
                .with_group_instance_id(optional(one.group_instance_id))
                .with_reason(optional(one.reason.filter(|_| version >= 5)))
        })
        .collect();
    wanted.with_members(members)
}

fn left(answer: wire::LeaveGroupResponse) -> Response {
    let members = answer
        .members
        .into_iter()
        .map(|one| LeftMember {
            member_id: one.member_id.to_string(),
            group_instance_id: one.group_instance_id.map(|id| id.to_string()),
            error: ErrorCode::from_code(one.error_code),
        })
        .collect();
    LeaveGroupResponse { error: ErrorCode::from_code(answer.error_code), members }.into()
}

/// Offsets by topic.
pub(crate) fn by_topic(
    offsets: Vec<(TopicPartition, CommittedOffset)>,
) -> BTreeMap<String, Vec<(i32, CommittedOffset)>> {
    let mut topics: BTreeMap<String, Vec<(i32, CommittedOffset)>> = BTreeMap::new();
    for (TopicPartition { topic, partition }, offset) in offsets {
        topics.entry(topic).or_default().push((partition, offset));
    }
    topics
}

fn commit(version: i16, request: OffsetCommitRequest) -> wire::OffsetCommitRequest {
    let partition = |(number, offset): (i32, CommittedOffset)| {
        OffsetCommitRequestPartition::default()
            .with_partition_index(number)
            .with_committed_offset(offset.offset)
            .with_committed_leader_epoch(if version >= 6 { offset.leader_epoch } else { -1 })
            .with_committed_metadata(Some(text(offset.metadata)))
    };
    let topics = by_topic(request.offsets)
        .into_iter()
        .map(|(name, partitions)| {
            OffsetCommitRequestTopic::default()
                .with_name(wire::TopicName(text(name)))
                .with_partitions(partitions.into_iter().map(partition).collect())
        })
        .collect();
    wire::OffsetCommitRequest::default()
        .with_group_id(group(request.group_id))
        .with_generation_id_or_member_epoch(request.generation_id)
        .with_member_id(text(request.member_id))
        .with_group_instance_id(optional(request.group_instance_id))
        .with_topics(topics)
}

fn committed(answer: wire::OffsetCommitResponse) -> OffsetCommitResponse {
    let mut partitions = Vec::new();
    for topic in answer.topics {
        for one in topic.partitions {
            let partition = TopicPartition::new(topic.name.to_string(), one.partition_index);
            partitions.push((partition, ErrorCode::from_code(one.error_code)));
        }
    }
    OffsetCommitResponse { partitions }
}
