//! The model: tenure's group coordinator beside its transaction coordinator, with writes that succeed at once.

use std::collections::BTreeMap;

use tenure::fence::transaction::{
    MarkerTarget, TransactionAction, TransactionConfig, TransactionCoordinator,
};
use tenure::protocol::coordinator::{Action, Config, Coordinator};
use tenure::protocol::error::ErrorCode;
use tenure::protocol::message::{Caller, Request, Response, TxnMarkerRequest};

use super::player::Side;
use super::step::CourseFile;
use crate::requirement::PeerError;

/// The caller of markers, which no client is.
const MARKERS: Caller = Caller(u64::MAX);

/// Both coordinators of one broker, as models.
pub struct ModelSide {
    groups: Coordinator,
    transactions: TransactionCoordinator,
    now_ms: u64,
    next_caller: u64,
    callers: BTreeMap<Caller, String>,
    answers: Vec<(String, Response)>,
    marker_answer: Option<ErrorCode>,
}

impl ModelSide {
    /// A model set as the file's broker is.
    ///
    /// # Errors
    ///
    /// [`PeerError::Failed`] for a setting that the model does not know.
    pub fn new(file: &CourseFile) -> Result<Self, PeerError> {
        let mut config = Config { initial_rebalance_delay_ms: 0, ..Config::default() };
        let transactions = TransactionConfig { transaction_version: 1, ..TransactionConfig::default() };
        for (key, &value) in &file.broker {
            let unfit = |_| PeerError::failed(format!("{key}={value} is out of range"));
            match key.as_str() {
                "group.max.size" => config.group_size_max = usize::try_from(value).map_err(unfit)?,
                "group.min.session.timeout.ms" => {
                    config.session_timeout_min_ms = i32::try_from(value).map_err(unfit)?;
                }
                "group.max.session.timeout.ms" => {
                    config.session_timeout_max_ms = i32::try_from(value).map_err(unfit)?;
                }
                "group.initial.rebalance.delay.ms" => {
                    config.initial_rebalance_delay_ms = u64::try_from(value).map_err(unfit)?;
                }
                "offset.metadata.max.bytes" => {
                    config.offset_metadata_max_bytes = usize::try_from(value).map_err(unfit)?;
                }
                _ => return Err(PeerError::failed(format!("the model has no setting {key}"))),
            }
        }
        Ok(Self {
            groups: Coordinator::new_empty(config),
            transactions: TransactionCoordinator::new_empty(transactions),
            now_ms: 0,
            next_caller: 0,
            callers: BTreeMap::new(),
            answers: Vec::new(),
            marker_answer: None,
        })
    }

    fn settle(&mut self) {
        loop {
            while let Some(action) = self.groups.poll_action() {
                match action {
                    Action::Append { id, .. } => self.groups.handle_append(id, ErrorCode::None, self.now_ms),
                    Action::Answer { to: MARKERS, response } => self.marker_answer = Some(response.error()),
                    Action::Answer { to, response } => self.answered(to, response),
                    _ => {}
                }
            }
            match self.transactions.poll_action() {
                None => break,
                Some(TransactionAction::Answer { to, response }) => self.answered(to, response),
                Some(TransactionAction::SendMarker { target, marker }) => self.mark(&target, &marker),
                Some(_) => {}
            }
        }
        if self.groups.poll_timeout().is_some_and(|at_ms| at_ms <= self.now_ms) {
            self.groups.handle_timeout(self.now_ms);
            self.settle();
        }
    }

    fn mark(&mut self, target: &MarkerTarget, marker: &TxnMarkerRequest) {
        let mut error = ErrorCode::None;
        if let MarkerTarget::Group(_) = target {
            self.groups.handle_request(marker.clone().into(), MARKERS, self.now_ms);
            self.settle();
            error = self.marker_answer.take().unwrap_or_default();
        }
        self.transactions.handle_marker_answer(target, marker, error, self.now_ms);
    }

    fn answered(&mut self, to: Caller, response: Response) {
        if let Some(client) = self.callers.remove(&to) {
            self.answers.push((client, response));
        }
    }
}

impl Side for ModelSide {
    fn send(&mut self, client: &str, request: Request) -> Result<(), PeerError> {
        if self.callers.values().any(|waiting| waiting == client) {
            return Err(PeerError::failed(format!("client {client:?} waits for an answer already")));
        }
        let caller = Caller(self.next_caller);
        self.next_caller += 1;
        self.callers.insert(caller, client.to_owned());
        let of_a_transaction = matches!(
            request,
            Request::InitProducerId(_)
                | Request::AddPartitionsToTxn(_)
                | Request::AddOffsetsToTxn(_)
                | Request::EndTxn(_)
        );
        if of_a_transaction {
            self.transactions.handle_request(request, caller, self.now_ms);
        } else {
            self.groups.handle_request(request, caller, self.now_ms);
        }
        self.settle();
        Ok(())
    }

    fn answers(&mut self, _: Option<&[String]>) -> Result<Vec<(String, Response)>, PeerError> {
        Ok(core::mem::take(&mut self.answers))
    }

    fn pass(&mut self, span_ms: u64) {
        let until_ms = self.now_ms + span_ms;
        while let Some(at_ms) = self.groups.poll_timeout().filter(|&at_ms| at_ms <= until_ms) {
            self.now_ms = at_ms.max(self.now_ms);
            self.groups.handle_timeout(self.now_ms);
            self.settle();
        }
        self.now_ms = until_ms;
    }

    fn describe(&mut self, group_id: &str) -> Result<(String, BTreeMap<String, Vec<u8>>), PeerError> {
        let Some(group) = self.groups.group(group_id) else { return Ok(("Dead".into(), BTreeMap::new())) };
        let members = group.members.into_iter().map(|one| (one.member_id, one.assignment));
        Ok((group.phase.name().into(), members.collect()))
    }

    fn delete(&mut self, group_id: &str) -> Result<String, PeerError> {
        let error = self.groups.handle_delete_group(group_id, self.now_ms).err().unwrap_or_default();
        self.settle();
        Ok(error.name().into())
    }
}
