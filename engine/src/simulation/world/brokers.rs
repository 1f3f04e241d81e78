//! The brokers' side: requests arrive, answers leave, records go to the log.

use super::World;
use crate::protocol::coordinator::{Action, Caller, Record};
use crate::protocol::error::ErrorCode;
use crate::protocol::message::{
    CoordinatorKind, FindCoordinatorResponse, OffsetCommitRequest, Request, Response,
};
use crate::simulation::mutation::Mutation;
use crate::simulation::network::{Message, Sender};

impl World<'_> {
    /// A request reaches its broker.
    pub(super) fn asked(&mut self, from: Sender, node: Option<i32>, request: Request) {
        if let Request::FindCoordinator(asked) = &request {
            let node = match (&self.ledger, asked.kind) {
                (Some(ledger), CoordinatorKind::Transaction | CoordinatorKind::TransactionByGroup) => {
                    ledger.leading
                }
                _ => self.leading,
            };
            let found = FindCoordinatorResponse { error: ErrorCode::None, node_id: node as i32 };
            self.reply(from, found.into());
            return;
        }
        let broker = usize::from(node == Some(1));
        if matches!(
            request,
            Request::InitProducerId(_)
                | Request::AddPartitionsToTxn(_)
                | Request::AddOffsetsToTxn(_)
                | Request::EndTxn(_)
        ) {
            self.asked_transactional(from, broker, request);
            return;
        }
        let caller = self.next_caller;
        self.next_caller += 1;
        let commit = match &request {
            Request::OffsetCommit(commit) => Some((commit.clone(), false)),
            Request::TxnOffsetCommit(commit) => Some((
                OffsetCommitRequest {
                    group_id: commit.group_id.clone(),
                    generation_id: commit.generation_id,
                    member_id: commit.member_id.clone(),
                    group_instance_id: commit.group_instance_id.clone(),
                    offsets: commit.offsets.clone(),
                    ..OffsetCommitRequest::default()
                },
                true,
            )),
            _ => None,
        };
        self.callers.insert(caller, (from, commit));
        let mut request = request;
        if self.options.mutation == Some(Mutation::AdmitsAnyCommit)
            && let Request::OffsetCommit(commit) = &mut request
            && let Some(group) = self.brokers[broker].group(super::GROUP)
            && let Some(member) = group.members.into_iter().next()
        {
            commit.generation_id = group.generation;
            commit.member_id = member.member_id;
            commit.group_instance_id = member.group_instance_id;
        }
        self.brokers[broker].handle_request(request, Caller(caller), self.now_ms);
        self.drain_broker(broker);
    }

    pub(super) fn reply(&mut self, to: Sender, response: Response) {
        let message = Message::ToProcess { to, response };
        self.network.send(message, &self.faults, &mut self.random, self.now_ms);
    }

    pub(super) fn drain_broker(&mut self, broker: usize) {
        while let Some(action) = self.brokers[broker].poll_action() {
            match action {
                Action::Answer { to, response } => {
                    if let Some((from, target, marker)) = self.markers.remove(&to.0) {
                        self.answer_marker(from, target, marker, response.error());
                        continue;
                    }
                    let Some((sender, commit)) = self.callers.remove(&to.0) else { continue };
                    let judged = self.options.mutation != Some(Mutation::NoTransactionFence);
                    if let (
                        Some((commit, transactional)),
                        Response::OffsetCommit(answer) | Response::TxnOffsetCommit(answer),
                    ) = (&commit, &response)
                        && (judged || !transactional)
                    {
                        for (partition, error) in &answer.partitions {
                            let offset = commit.offsets.iter().find(|(one, _)| one == partition);
                            if let (ErrorCode::None, Some((_, offset))) = (error, offset) {
                                self.checker.accepted(
                                    commit,
                                    partition,
                                    offset.offset,
                                    *transactional,
                                    self.now_ms,
                                );
                            }
                        }
                    }
                    if let Response::SyncGroup(answer) = &response
                        && answer.error == ErrorCode::RebalanceInProgress
                    {
                        self.overtaken.insert(self.checker.truth.generation);
                    }
                    self.reply(sender, response);
                }
                Action::Append { id, records } => {
                    for record in records {
                        self.append(record);
                    }
                    self.brokers[broker].handle_append(id, ErrorCode::None, self.now_ms);
                }
            }
        }
    }

    pub(super) fn append(&mut self, record: Record) {
        match &record {
            Record::Group { value, .. } => {
                let value = value.clone().unwrap_or_default();
                if value.generation != self.checker.truth.generation && !value.members.is_empty() {
                    self.rebalances += 1;
                    if let Some(timeline) = &mut self.timeline {
                        timeline.generation(self.now_ms, &value);
                    }
                }
                self.mix(value.generation as u64);
                self.checker.recorded(&value, self.now_ms);
                self.group_record = Some(record);
            }
            Record::Offset { .. } | Record::Marker { .. } if self.ledger.is_some() => {
                if let Some(ledger) = &mut self.ledger {
                    ledger.offsets.push(record);
                }
            }
            Record::Offset { partition, .. } => {
                self.offset_records.insert(partition.clone(), record);
            }
            Record::Marker { .. } => {}
        }
    }
}
