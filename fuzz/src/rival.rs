//! Our readers and writers of the consumer protocol beside those of the `kafka-protocol` crate.
//!
//! The crate knows the same versions and was generated from Kafka's own message definitions. It is stricter in three
//! places, which are left out of the comparison: text must be UTF-8, a newer version than it knows is not its
//! caller's business, and a negative length other than -1 is an error. It makes room for as many elements as a
//! count announces (0.18.0), so it is not asked about counts that the bytes cannot hold.

use arbitrary::{Arbitrary, Result, Unstructured};
use bytes::{Bytes, BytesMut};
use kafka_protocol::messages::consumer_protocol_assignment as their_assignment;
use kafka_protocol::messages::consumer_protocol_subscription as their_subscription;
use kafka_protocol::messages::{ConsumerProtocolAssignment, ConsumerProtocolSubscription, TopicName};
use kafka_protocol::protocol::{Decodable, Encodable, StrBytes};
use tenure::codec::{
    Assignment, AssignmentFields, Blocks, DecodeError, DecodeErrorKind, Subscription, SubscriptionFields,
    TopicPartitions,
};

type Blocked = Vec<(String, Vec<i32>)>;

/// Checks both directions with bytes made by the fuzzer, and with values made from them.
///
/// # Panics
/// When the two houses differ.
pub fn check(data: &[u8]) {
    bytes_of_subscription(data);
    bytes_of_assignment(data);
    let _ = values(&mut Unstructured::new(data));
}

fn ours(blocks: Blocks<'_>) -> Option<Blocked> {
    blocks
        .iter()
        .map(|block| Some((block.topic.as_str()?.to_owned(), block.partitions.iter().collect())))
        .collect()
}

fn is_count(error: &DecodeError) -> bool {
    matches!(error.kind, DecodeErrorKind::CountAboveRest { .. })
}

fn bytes_of_subscription(data: &[u8]) {
    let Some((version, body)) = data.split_first_chunk::<2>() else { return };
    let version = i16::from_be_bytes(*version);
    if !(0..=3).contains(&version) {
        return;
    }
    let read = Subscription::decode(data);
    if read.is_err_and(|error| is_count(&error)) {
        return;
    }
    let Ok(theirs) = ConsumerProtocolSubscription::decode(&mut Bytes::copy_from_slice(body), version) else {
        return;
    };
    let read = read.unwrap_or_else(|error| panic!("they read it, we say {error}"));
    assert!(read.topics.iter().eq(theirs.topics.iter().map(|topic| topic.as_str())));
    assert_eq!(read.user_data, theirs.user_data.as_deref());
    let blocks: Blocked = theirs
        .owned_partitions
        .iter()
        .map(|block| (block.topic.as_str().to_owned(), block.partitions.clone()))
        .collect();
    assert_eq!(ours(read.owned), Some(blocks));
    assert_eq!(read.generation, Some(theirs.generation_id).filter(|&generation| generation >= 0));
    let rack = theirs.rack_id.as_ref().map(|rack| rack.as_str()).filter(|rack| !rack.is_empty());
    assert_eq!(read.rack.and_then(|rack| rack.as_str()), rack);
}

fn bytes_of_assignment(data: &[u8]) {
    let Some((version, body)) = data.split_first_chunk::<2>() else { return };
    let version = i16::from_be_bytes(*version);
    if !(0..=3).contains(&version) {
        return;
    }
    let read = Assignment::decode(data);
    if read.is_err_and(|error| is_count(&error)) {
        return;
    }
    let Ok(theirs) = ConsumerProtocolAssignment::decode(&mut Bytes::copy_from_slice(body), version) else {
        return;
    };
    let read = read.unwrap_or_else(|error| panic!("they read it, we say {error}"));
    let blocks: Blocked = theirs
        .assigned_partitions
        .iter()
        .map(|block| (block.topic.as_str().to_owned(), block.partitions.clone()))
        .collect();
    assert_eq!((ours(read.assigned), read.user_data), (Some(blocks), theirs.user_data.as_deref()));
}

fn values(seed: &mut Unstructured<'_>) -> Result<()> {
    let version = seed.int_in_range(0..=3)?;
    let (mut topics, user_data) = <(Vec<String>, Option<Vec<u8>>)>::arbitrary(seed)?;
    let by_topic = <std::collections::BTreeMap<String, std::collections::BTreeSet<i32>>>::arbitrary(seed)?;
    let (generation, rack) = <(i32, Option<String>)>::arbitrary(seed)?;
    // In the order that we write, so that theirs, which writes what it is given, must write the same.
    topics.sort_by_cached_key(|topic| topic.encode_utf16().collect::<Vec<_>>());
    let mut blocks: Blocked =
        by_topic.into_iter().map(|(topic, set)| (topic, set.into_iter().collect())).collect();
    blocks.sort_by_cached_key(|(topic, _)| topic.encode_utf16().collect::<Vec<_>>());
    let text = |text: &str| StrBytes::from_string(text.to_owned());
    let names: Vec<&str> = topics.iter().map(String::as_str).collect();
    let lists: Vec<_> =
        blocks.iter().map(|(topic, partitions)| TopicPartitions { topic, partitions }).collect();
    let generation = generation.max(-1);

    let mut theirs = ConsumerProtocolSubscription::default();
    theirs.topics = topics.iter().map(|topic| text(topic)).collect();
    theirs.user_data = user_data.clone().map(Bytes::from);
    if version >= 1 {
        theirs.owned_partitions = blocks
            .iter()
            .map(|(topic, partitions)| {
                let block = their_subscription::TopicPartition::default();
                block.with_topic(TopicName(text(topic))).with_partitions(partitions.clone())
            })
            .collect();
    }
    if version >= 2 {
        theirs.generation_id = generation;
    }
    if version >= 3 {
        theirs.rack_id = rack.as_deref().map(text);
    }
    let mut written = BytesMut::new();
    theirs.encode(&mut written, version).unwrap();
    let fields = SubscriptionFields {
        topics: &names,
        user_data: user_data.as_deref(),
        owned: &lists,
        generation: Some(generation),
        rack: rack.as_deref(),
    };
    assert_eq!(fields.encode(version).unwrap(), [&version.to_be_bytes()[..], &written].concat());

    let mut theirs = ConsumerProtocolAssignment::default();
    theirs.user_data = user_data.clone().map(Bytes::from);
    theirs.assigned_partitions = blocks
        .iter()
        .map(|(topic, partitions)| {
            let block = their_assignment::TopicPartition::default();
            block.with_topic(TopicName(text(topic))).with_partitions(partitions.clone())
        })
        .collect();
    let mut written = BytesMut::new();
    theirs.encode(&mut written, version).unwrap();
    let fields = AssignmentFields { assigned: &lists, user_data: user_data.as_deref() };
    assert_eq!(fields.encode(version).unwrap(), [&version.to_be_bytes()[..], &written].concat());
    Ok(())
}

#[cfg(test)]
mod tests {
    /// Seeds and what was found once, on stable: `cargo test --manifest-path fuzz/Cargo.toml --lib`.
    #[test]
    fn every_corpus_and_every_regression_holds() {
        let mut replayed = 0;
        for folder in ["corpus/kafka_protocol", "regressions/kafka_protocol"] {
            for entry in
                std::fs::read_dir(std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)).unwrap()
            {
                super::check(&std::fs::read(entry.unwrap().path()).unwrap());
                replayed += 1;
            }
        }
        assert!(replayed > 20, "{replayed}");
    }
}
