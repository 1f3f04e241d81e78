//! Records without meaning: written and read by raw requests, for their offsets alone.

use core::time::Duration;
use std::thread;
use std::time::{SystemTime, UNIX_EPOCH};

use bytes::{Bytes, BytesMut};
use kafka_protocol::indexmap::IndexMap;
use kafka_protocol::messages::fetch_request::{FetchPartition, FetchTopic};
use kafka_protocol::messages::produce_request::{PartitionProduceData, TopicProduceData};
use kafka_protocol::messages::{BrokerId, FetchRequest, ProduceRequest, TopicName};
use kafka_protocol::protocol::StrBytes;
use kafka_protocol::records::{
    Compression, NO_PARTITION_LEADER_EPOCH, NO_PRODUCER_EPOCH, NO_PRODUCER_ID, NO_SEQUENCE, Record,
    RecordBatchEncoder, RecordEncodeOptions, TimestampType,
};

use crate::connection::Connection;
use crate::requirement::PeerError;

const PRODUCE: i16 = 9;
const FETCH: i16 = 12;

/// Unknown topic, leader not available, not the leader: a broker that is still taking a new partition over.
const NOT_YET: [i16; 3] = [3, 5, 6];

/// How often a partition is tried that is not there yet.
const TRIES: u32 = 200;

/// Where a batch has its length, its last offset's distance from its first, and where its head ends.
const LENGTH_AT: usize = 8;
const BODY_AT: usize = 12;
const LAST_DELTA_AT: usize = 23;

impl Connection {
    /// Appends this many records to a partition and gives the offset after the last.
    ///
    /// # Errors
    ///
    /// [`PeerError::Failed`] with the broker's error code.
    pub fn produce(&mut self, topic: &str, partition: i32, count: u32) -> Result<i64, PeerError> {
        let records: Vec<Record> = (0..count).map(record).collect();
        let options = RecordEncodeOptions { version: 2, compression: Compression::None };
        let mut batch = BytesMut::new();
        RecordBatchEncoder::encode(&mut batch, &records, &options)
            .map_err(|error| PeerError::failed(error.to_string()))?;
        let one = PartitionProduceData::default().with_index(partition).with_records(Some(batch.freeze()));
        let topic_data = TopicProduceData::default().with_name(name(topic)).with_partition_data(vec![one]);
        let request =
            ProduceRequest::default().with_acks(-1).with_timeout_ms(10_000).with_topic_data(vec![topic_data]);
        for attempt in 0.. {
            let answer = self.ask(PRODUCE, &request)?;
            let mut answers = answer.responses.iter().flat_map(|topic| &topic.partition_responses);
            match answers.next() {
                Some(one) if one.error_code == 0 => return Ok(one.base_offset + i64::from(count)),
                Some(one) if NOT_YET.contains(&one.error_code) && attempt < TRIES => {
                    thread::sleep(Duration::from_millis(50));
                }
                other => {
                    return Err(PeerError::failed(format!(
                        "{topic}-{partition} takes no records: {other:?}"
                    )));
                }
            }
        }
        Err(PeerError::failed("no attempt was made"))
    }

    /// Reads from an offset on, and gives the offset after the last record that came; that offset itself if none did.
    ///
    /// # Errors
    ///
    /// [`PeerError::Failed`] with the broker's error code.
    pub fn read(&mut self, topic: &str, partition: i32, offset: i64) -> Result<i64, PeerError> {
        let one = FetchPartition::default()
            .with_partition(partition)
            .with_fetch_offset(offset)
            .with_partition_max_bytes(1 << 16);
        let topics = vec![FetchTopic::default().with_topic(name(topic)).with_partitions(vec![one])];
        let request = FetchRequest::default()
            .with_replica_id(BrokerId(-1))
            .with_max_wait_ms(10)
            .with_min_bytes(1)
            .with_max_bytes(1 << 16)
            .with_session_epoch(-1)
            .with_topics(topics);
        let answer = self.ask(FETCH, &request)?;
        let mut answers = answer.responses.iter().flat_map(|topic| &topic.partitions);
        match answers.next() {
            Some(one) if one.error_code == 0 => {
                Ok(one.records.as_ref().and_then(after_last).map_or(offset, |next| next.max(offset)))
            }
            Some(one) if NOT_YET.contains(&one.error_code) => Ok(offset),
            other => Err(PeerError::failed(format!("{topic}-{partition} is not read: {other:?}"))),
        }
    }
}

/// The offset after the last whole batch.
fn after_last(batches: &Bytes) -> Option<i64> {
    let mut rest: &[u8] = batches;
    let mut next = None;
    while let Some(length) =
        rest.get(LENGTH_AT..).and_then(|at| at.first_chunk()).map(|at| i32::from_be_bytes(*at))
    {
        let length = usize::try_from(length).ok()?;
        let Some(batch) = rest.get(..BODY_AT + length) else { break };
        let base = i64::from_be_bytes(*batch.first_chunk()?);
        let delta = i32::from_be_bytes(*batch.get(LAST_DELTA_AT..)?.first_chunk()?);
        next = Some(base + i64::from(delta) + 1);
        rest = rest.get(BODY_AT + length..)?;
    }
    next
}

/// One record of a batch. The encoder begins a new batch where sequence numbers don't follow each other, and a broker
/// takes one batch at a time.
fn record(turn: u32) -> Record {
    let sequence = NO_SEQUENCE.wrapping_add_unsigned(turn);
    // Of today: a broker deletes segments whose records are older than it keeps any.
    let age = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let timestamp = i64::try_from(age.as_millis()).unwrap_or(i64::MAX);
    Record {
        transactional: false,
        control: false,
        delete_horizon: false,
        partition_leader_epoch: NO_PARTITION_LEADER_EPOCH,
        producer_id: NO_PRODUCER_ID,
        producer_epoch: NO_PRODUCER_EPOCH,
        timestamp_type: TimestampType::Creation,
        offset: i64::from(turn),
        sequence,
        timestamp,
        key: None,
        value: Some(Bytes::from_static(b"x")),
        headers: IndexMap::default(),
    }
}

fn name(topic: &str) -> TopicName {
    TopicName(StrBytes::from_string(topic.to_owned()))
}
