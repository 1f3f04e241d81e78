//! Tenure's messages as requests of the wire, and answers of the wire as tenure's messages.

use core::time::Duration;

use bytes::Bytes;
use kafka_protocol::messages as wire;
use kafka_protocol::protocol::StrBytes;
use tenure::protocol::error::ErrorCode;
use tenure::protocol::message::{
    AddOffsetsToTxnResponse, CommittedOffset, EndTxnResponse, FetchedOffset, HeartbeatResponse,
    InitProducerIdResponse, JoinGroupResponse, JoinMember, LeaveGroupResponse, LeftMember, NO_OFFSET,
    OffsetCommitResponse, OffsetFetchResponse, Request, Response, SyncGroupResponse, TopicPartition,
};
use wire::{
    join_group_request, leave_group_request, offset_commit_request, offset_fetch_request, sync_group_request,
    txn_offset_commit_request,
};

use crate::connection::{Connection, Correlation};
use crate::requirement::PeerError;

const SYNC: i16 = 5;
const HEARTBEAT: i16 = 4;
const LEAVE: i16 = 5;
const FETCH: i16 = 7;
const INIT: i16 = 4;
const ADD_OFFSETS: i16 = 3;
/// The last versions of the protocol in which a transaction keeps its epoch.
const TXN_COMMIT: i16 = 4;
const END_TXN: i16 = 4;

/// A request that is sent and not answered yet.
#[derive(Debug, Clone, Copy)]
pub(super) enum Pending {
    Join(i16, Correlation),
    Sync(Correlation),
    Heartbeat(Correlation),
    Leave(Correlation),
    Commit(i16, Correlation),
    Fetch(Correlation),
    Init(Correlation),
    AddOffsets(Correlation),
    TxnCommit(Correlation),
    EndTxn(Correlation),
}

/// Sends a request in the version named above.
pub(super) fn send(connection: &mut Connection, request: Request) -> Result<Pending, PeerError> {
    Ok(match request {
        Request::JoinGroup(join) => {
            let protocols = join.protocols.into_iter().map(|one| {
                join_group_request::JoinGroupRequestProtocol::default()
                    .with_name(text(one.name))
                    .with_metadata(Bytes::from(one.metadata))
            });
            let request = wire::JoinGroupRequest::default()
                .with_group_id(wire::GroupId(text(join.group_id)))
                .with_session_timeout_ms(join.session_timeout_ms)
                .with_rebalance_timeout_ms(join.rebalance_timeout_ms)
                .with_member_id(text(join.member_id))
                .with_group_instance_id(join.group_instance_id.map(text))
                .with_protocol_type(text(join.protocol_type))
                .with_protocols(protocols.collect());
            Pending::Join(join.api_version, connection.send(join.api_version, &request)?)
        }
        Request::SyncGroup(sync) => {
            let assignments = sync.assignments.into_iter().map(|one| {
                sync_group_request::SyncGroupRequestAssignment::default()
                    .with_member_id(text(one.member_id))
                    .with_assignment(Bytes::from(one.assignment))
            });
            let request = wire::SyncGroupRequest::default()
                .with_group_id(wire::GroupId(text(sync.group_id)))
                .with_generation_id(sync.generation_id)
                .with_member_id(text(sync.member_id))
                .with_group_instance_id(sync.group_instance_id.map(text))
                .with_protocol_type(sync.protocol_type.map(text))
                .with_protocol_name(sync.protocol_name.map(text))
                .with_assignments(assignments.collect());
            Pending::Sync(connection.send(SYNC, &request)?)
        }
        Request::Heartbeat(beat) => {
            let request = wire::HeartbeatRequest::default()
                .with_group_id(wire::GroupId(text(beat.group_id)))
                .with_generation_id(beat.generation_id)
                .with_member_id(text(beat.member_id))
                .with_group_instance_id(beat.group_instance_id.map(text));
            Pending::Heartbeat(connection.send(HEARTBEAT, &request)?)
        }
        Request::LeaveGroup(leave) => {
            let members = leave.members.into_iter().map(|one| {
                leave_group_request::MemberIdentity::default()
                    .with_member_id(text(one.member_id))
                    .with_group_instance_id(one.group_instance_id.map(text))
                    .with_reason(one.reason.map(text))
            });
            let request = wire::LeaveGroupRequest::default()
                .with_group_id(wire::GroupId(text(leave.group_id)))
                .with_members(members.collect());
            Pending::Leave(connection.send(LEAVE, &request)?)
        }
        Request::OffsetCommit(commit) => {
            let topics = commit.offsets.into_iter().map(|(partition, committed)| {
                let one = offset_commit_request::OffsetCommitRequestPartition::default()
                    .with_partition_index(partition.partition)
                    .with_committed_offset(committed.offset)
                    .with_committed_leader_epoch(committed.leader_epoch)
                    .with_committed_metadata(Some(text(committed.metadata)));
                offset_commit_request::OffsetCommitRequestTopic::default()
                    .with_name(wire::TopicName(text(partition.topic)))
                    .with_partitions(vec![one])
            });
            let request = wire::OffsetCommitRequest::default()
                .with_group_id(wire::GroupId(text(commit.group_id)))
                .with_generation_id_or_member_epoch(commit.generation_id)
                .with_member_id(text(commit.member_id))
                .with_group_instance_id(commit.group_instance_id.map(text))
                .with_topics(topics.collect());
            Pending::Commit(commit.api_version, connection.send(commit.api_version, &request)?)
        }
        Request::OffsetFetch(fetch) => {
            let topics = fetch.partitions.map(|partitions| {
                let topics = partitions.into_iter().map(|one| {
                    offset_fetch_request::OffsetFetchRequestTopic::default()
                        .with_name(wire::TopicName(text(one.topic)))
                        .with_partition_indexes(vec![one.partition])
                });
                topics.collect()
            });
            let request = wire::OffsetFetchRequest::default()
                .with_group_id(wire::GroupId(text(fetch.group_id)))
                .with_topics(topics)
                .with_require_stable(fetch.require_stable);
            Pending::Fetch(connection.send(FETCH, &request)?)
        }
        Request::InitProducerId(init) => {
            let request = wire::InitProducerIdRequest::default()
                .with_transactional_id(init.transactional_id.map(|id| wire::TransactionalId(text(id))))
                .with_transaction_timeout_ms(init.transaction_timeout_ms)
                .with_producer_id(wire::ProducerId(init.producer_id))
                .with_producer_epoch(init.producer_epoch);
            Pending::Init(connection.send(INIT, &request)?)
        }
        Request::AddOffsetsToTxn(add) => {
            let request = wire::AddOffsetsToTxnRequest::default()
                .with_transactional_id(wire::TransactionalId(text(add.transactional_id)))
                .with_producer_id(wire::ProducerId(add.producer_id))
                .with_producer_epoch(add.producer_epoch)
                .with_group_id(wire::GroupId(text(add.group_id)));
            Pending::AddOffsets(connection.send(ADD_OFFSETS, &request)?)
        }
        Request::TxnOffsetCommit(commit) => {
            let topics = commit.offsets.into_iter().map(|(partition, committed)| {
                let one = txn_offset_commit_request::TxnOffsetCommitRequestPartition::default()
                    .with_partition_index(partition.partition)
                    .with_committed_offset(committed.offset)
                    .with_committed_leader_epoch(committed.leader_epoch)
                    .with_committed_metadata(Some(text(committed.metadata)));
                txn_offset_commit_request::TxnOffsetCommitRequestTopic::default()
                    .with_name(wire::TopicName(text(partition.topic)))
                    .with_partitions(vec![one])
            });
            let request = wire::TxnOffsetCommitRequest::default()
                .with_transactional_id(wire::TransactionalId(text(commit.transactional_id)))
                .with_group_id(wire::GroupId(text(commit.group_id)))
                .with_producer_id(wire::ProducerId(commit.producer_id))
                .with_producer_epoch(commit.producer_epoch)
                .with_generation_id(commit.generation_id)
                .with_member_id(text(commit.member_id))
                .with_group_instance_id(commit.group_instance_id.map(text))
                .with_topics(topics.collect());
            Pending::TxnCommit(connection.send(TXN_COMMIT, &request)?)
        }
        Request::EndTxn(end) => {
            let request = wire::EndTxnRequest::default()
                .with_transactional_id(wire::TransactionalId(text(end.transactional_id)))
                .with_producer_id(wire::ProducerId(end.producer_id))
                .with_producer_epoch(end.producer_epoch)
                .with_committed(end.committed);
            Pending::EndTxn(connection.send(END_TXN, &request)?)
        }
        other => return Err(PeerError::failed(format!("no course sends {}", other.name()))),
    })
}

/// The answer to a request, if it comes within `patience`.
pub(super) fn fetch(
    connection: &mut Connection,
    pending: Pending,
    patience: Duration,
) -> Result<Option<Response>, PeerError> {
    Ok(match pending {
        Pending::Join(version, sent) => {
            connection.fetch::<wire::JoinGroupRequest>(version, sent, patience)?.map(|joined| {
                let members = joined.members.into_iter().map(|one| JoinMember {
                    member_id: one.member_id.to_string(),
                    group_instance_id: one.group_instance_id.map(|name| name.to_string()),
                    metadata: one.metadata.to_vec(),
                });
                let joined = JoinGroupResponse {
                    error: code(joined.error_code),
                    generation_id: joined.generation_id,
                    protocol_type: joined.protocol_type.map(|name| name.to_string()),
                    protocol_name: joined.protocol_name.map(|name| name.to_string()),
                    leader: joined.leader.to_string(),
                    skip_assignment: joined.skip_assignment,
                    member_id: joined.member_id.to_string(),
                    members: members.collect(),
                };
                joined.into()
            })
        }
        Pending::Sync(sent) => {
            connection.fetch::<wire::SyncGroupRequest>(SYNC, sent, patience)?.map(|synced| {
                let synced = SyncGroupResponse {
                    error: code(synced.error_code),
                    protocol_type: synced.protocol_type.map(|name| name.to_string()),
                    protocol_name: synced.protocol_name.map(|name| name.to_string()),
                    assignment: synced.assignment.to_vec(),
                };
                synced.into()
            })
        }
        Pending::Heartbeat(sent) => {
            let answer = connection.fetch::<wire::HeartbeatRequest>(HEARTBEAT, sent, patience)?;
            answer
                .map(|beat| HeartbeatResponse { error: code(beat.error_code), protocol_to_use: None }.into())
        }
        Pending::Leave(sent) => {
            connection.fetch::<wire::LeaveGroupRequest>(LEAVE, sent, patience)?.map(|left| {
                let members = left.members.into_iter().map(|one| LeftMember {
                    member_id: one.member_id.to_string(),
                    group_instance_id: one.group_instance_id.map(|name| name.to_string()),
                    error: code(one.error_code),
                });
                LeaveGroupResponse { error: code(left.error_code), members: members.collect() }.into()
            })
        }
        Pending::Commit(version, sent) => {
            connection.fetch::<wire::OffsetCommitRequest>(version, sent, patience)?.map(|committed| {
                let partitions = committed.topics.iter().flat_map(|topic| {
                    topic.partitions.iter().map(|one| {
                        (TopicPartition::new(&*topic.name.0, one.partition_index), code(one.error_code))
                    })
                });
                Response::OffsetCommit(OffsetCommitResponse { partitions: partitions.collect() })
            })
        }
        Pending::TxnCommit(sent) => {
            connection.fetch::<wire::TxnOffsetCommitRequest>(TXN_COMMIT, sent, patience)?.map(|committed| {
                let partitions = committed.topics.iter().flat_map(|topic| {
                    topic.partitions.iter().map(|one| {
                        (TopicPartition::new(&*topic.name.0, one.partition_index), code(one.error_code))
                    })
                });
                Response::TxnOffsetCommit(OffsetCommitResponse { partitions: partitions.collect() })
            })
        }
        Pending::Fetch(sent) => {
            connection.fetch::<wire::OffsetFetchRequest>(FETCH, sent, patience)?.map(|fetched| {
                let partitions = fetched.topics.iter().flat_map(|topic| {
                    topic.partitions.iter().map(|one| FetchedOffset {
                        partition: TopicPartition::new(&*topic.name.0, one.partition_index),
                        committed: (one.committed_offset != NO_OFFSET)
                            .then(|| CommittedOffset::new(one.committed_offset)),
                        error: code(one.error_code),
                    })
                });
                let partitions = partitions.collect();
                OffsetFetchResponse { error: code(fetched.error_code), partitions }.into()
            })
        }
        Pending::Init(sent) => {
            connection.fetch::<wire::InitProducerIdRequest>(INIT, sent, patience)?.map(|given| {
                let given = InitProducerIdResponse {
                    error: code(given.error_code),
                    producer_id: given.producer_id.0,
                    producer_epoch: given.producer_epoch,
                };
                given.into()
            })
        }
        Pending::AddOffsets(sent) => {
            let answer = connection.fetch::<wire::AddOffsetsToTxnRequest>(ADD_OFFSETS, sent, patience)?;
            answer.map(|added| AddOffsetsToTxnResponse { error: code(added.error_code) }.into())
        }
        Pending::EndTxn(sent) => {
            connection.fetch::<wire::EndTxnRequest>(END_TXN, sent, patience)?.map(|ended| {
                let ended = EndTxnResponse {
                    error: code(ended.error_code),
                    producer_id: ended.producer_id.0,
                    producer_epoch: ended.producer_epoch,
                };
                ended.into()
            })
        }
    })
}

/// A wire code as tenure names it.
pub(super) fn code(number: i16) -> ErrorCode {
    ErrorCode::from_code(number)
}

/// A string of the wire.
pub(super) fn text(text: String) -> StrBytes {
    StrBytes::from_string(text)
}
