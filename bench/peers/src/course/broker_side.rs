//! A real broker: a connection for each client, and answers fetched as they come.

use core::time::Duration;
use std::collections::BTreeMap;
use std::thread;
use std::time::Instant;

use kafka_protocol::messages::{
    DeleteGroupsRequest, DescribeGroupsRequest, FindCoordinatorRequest, GroupId, InitProducerIdRequest,
    ProducerId, TransactionalId,
};
use tenure::protocol::error::ErrorCode;
use tenure::protocol::message::{Request, Response};

use super::player::{CLIENT_ID, Side};
use super::wire::{self, Pending, code, text};
use crate::connection::Connection;
use crate::requirement::PeerError;

/// How long an answer that is sure to come may take.
const PATIENCE: Duration = Duration::from_secs(15);

/// How long nothing must come until a step counts as over.
const QUIET: Duration = Duration::from_millis(250);

/// How long one look for an answer takes.
const LOOK: Duration = Duration::from_millis(2);

const DESCRIBE_GROUPS: i16 = 5;
const DELETE_GROUPS: i16 = 2;
const INIT_PRODUCER_ID: i16 = 4;

/// How many partitions the log of transactions has.
const COORDINATORS: u32 = 4;

/// A real broker, for one group.
pub struct BrokerSide {
    address: String,
    own: Connection,
    clients: BTreeMap<String, (Connection, Option<Pending>)>,
    quiet: Duration,
}

impl BrokerSide {
    /// Waits until a fresh broker coordinates transactions of every kind of id: it makes their log only now.
    ///
    /// # Errors
    ///
    /// [`PeerError::Failed`] if nobody listens, or a coordinator is not to be had.
    pub fn warm_up(address: &str) -> Result<(), PeerError> {
        let mut side = Self::new(address, "warm-up")?;
        side.await_coordinator(1, "warm-up")?;
        // More ids than the log has partitions, so that each of these has its coordinator.
        for turn in 0..4 * COORDINATORS {
            let id = TransactionalId(text(format!("warm-up-{turn}")));
            let request = InitProducerIdRequest::default()
                .with_transactional_id(Some(id))
                .with_transaction_timeout_ms(60_000)
                .with_producer_id(ProducerId(-1))
                .with_producer_epoch(-1);
            let begin = Instant::now();
            while side.own.ask(INIT_PRODUCER_ID, &request)?.error_code != 0 {
                if begin.elapsed() > PATIENCE {
                    return Err(PeerError::failed("no coordinator of transactions"));
                }
                thread::sleep(Duration::from_millis(50));
            }
        }
        Ok(())
    }

    /// Connects, and waits until the broker coordinates this group.
    ///
    /// # Errors
    ///
    /// [`PeerError::Failed`] if nobody listens, or no coordinator is to be had.
    pub fn new(address: &str, group_id: &str) -> Result<Self, PeerError> {
        let own = Connection::open(address, CLIENT_ID)?;
        let mut side = Self { address: address.to_owned(), own, clients: BTreeMap::new(), quiet: QUIET };
        side.await_coordinator(0, group_id)?;
        let begin = Instant::now();
        while side.describe(group_id)?.0.is_empty() {
            if begin.elapsed() > PATIENCE {
                return Err(PeerError::failed("the group's coordinator does not load"));
            }
            thread::sleep(Duration::from_millis(50));
        }
        Ok(side)
    }

    /// Waits longer after each step, by this factor: for a machine that is busy with other things.
    #[must_use]
    pub fn patient(mut self, factor: u32) -> Self {
        self.quiet = QUIET.saturating_mul(factor);
        self
    }

    fn await_coordinator(&mut self, key_type: i8, key: &str) -> Result<(), PeerError> {
        let keys = vec![text(key.to_owned())];
        let request = FindCoordinatorRequest::default().with_key_type(key_type).with_coordinator_keys(keys);
        let begin = Instant::now();
        loop {
            let answer = self.own.ask(4, &request)?;
            if answer.coordinators.iter().all(|one| one.error_code == 0) {
                return Ok(());
            }
            if begin.elapsed() > PATIENCE {
                return Err(PeerError::failed(format!("no coordinator of type {key_type} for {key:?}")));
            }
            thread::sleep(Duration::from_millis(50));
        }
    }
}

impl Side for BrokerSide {
    fn send(&mut self, client: &str, request: Request) -> Result<(), PeerError> {
        if !self.clients.contains_key(client) {
            let connection = Connection::open(&self.address, CLIENT_ID)?;
            self.clients.insert(client.to_owned(), (connection, None));
        }
        match self.clients.get_mut(client) {
            Some((connection, pending @ None)) => {
                *pending = Some(wire::send(connection, request)?);
                Ok(())
            }
            _ => Err(PeerError::failed(format!("client {client:?} waits for an answer already"))),
        }
    }

    fn answers(&mut self, expected: Option<&[String]>) -> Result<Vec<(String, Response)>, PeerError> {
        let mut awaited: Vec<String> = expected.unwrap_or_default().to_vec();
        let mut answers = Vec::new();
        let begin = Instant::now();
        let mut last = begin;
        while last.elapsed() < self.quiet || (!awaited.is_empty() && begin.elapsed() < PATIENCE) {
            let mut idle = true;
            for (client, (connection, slot)) in &mut self.clients {
                let Some(pending) = *slot else { continue };
                idle = false;
                if let Some(response) = wire::fetch(connection, pending, LOOK)? {
                    *slot = None;
                    last = Instant::now();
                    awaited.retain(|one| one != client);
                    answers.push((client.clone(), response));
                }
            }
            if idle {
                break;
            }
        }
        Ok(answers)
    }

    fn pass(&mut self, span_ms: u64) {
        thread::sleep(Duration::from_millis(span_ms));
    }

    fn describe(&mut self, group_id: &str) -> Result<(String, BTreeMap<String, Vec<u8>>), PeerError> {
        let groups = vec![GroupId(text(group_id.to_owned()))];
        let request = DescribeGroupsRequest::default().with_groups(groups);
        let answer = self.own.ask(DESCRIBE_GROUPS, &request)?;
        let group = answer.groups.into_iter().next();
        let group = group.ok_or_else(|| PeerError::failed("a description of no group"))?;
        let members = group.members.into_iter();
        let members = members.map(|one| (one.member_id.to_string(), one.member_assignment.to_vec()));
        Ok((group.group_state.to_string(), members.collect()))
    }

    fn delete(&mut self, group_id: &str) -> Result<String, PeerError> {
        let groups = vec![GroupId(text(group_id.to_owned()))];
        let request = DeleteGroupsRequest::default().with_groups_names(groups);
        let answer = self.own.ask(DELETE_GROUPS, &request)?;
        let error = answer.results.first().map_or(ErrorCode::None, |one| code(one.error_code));
        Ok(error.name().into())
    }
}
