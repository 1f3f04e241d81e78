//! User data of the sticky assignors, and the history settled from it.

use serde_json::{Value, json};
use tenure::codec::sticky::{
    COOPERATIVE_STICKY, STICKY, cooperative_generation, encode_cooperative, grouped_as_java,
};
use tenure::codec::{
    History, StickyFields, StickyUserData, Subscription, SubscriptionFields, TopicPartitions,
};

use crate::support::{OwnedBlocks, blocks_json, bytes_of, expected, hex, id, unhex, vectors};

fn user_data(vector: &Value) -> Option<Vec<u8>> {
    bytes_of(vector).filter(|_| vector["null_userdata"] != true)
}

fn generation(value: &Value) -> Option<i32> {
    value["generation"].as_i64().map(|generation| i32::try_from(generation).unwrap())
}

/// The history of a member that sends this user data under `assignor`.
fn settle<T>(
    user_data: Option<&[u8]>,
    generation: Option<i32>,
    assignor: &str,
    then: impl FnOnce(History<'_>) -> T,
) -> T {
    let fields = SubscriptionFields { topics: &["orders"], user_data, generation, ..Default::default() };
    let bytes = fields.encode(3).unwrap();
    then(History::of(&Subscription::decode(&bytes).unwrap(), assignor))
}

fn judge_sticky(vector: &Value) -> usize {
    let bytes = user_data(vector);
    let read = StickyUserData::decode(bytes.as_deref());
    let value = expected(vector).unwrap();
    let seen =
        json!({"previousAssignment": blocks_json(read.previous), "generation": read.kafka_generation()});
    assert_eq!(seen, value, "{}", id(vector));
    settle(bytes.as_deref(), Some(99), STICKY, |history| {
        assert_eq!(history.owned, read.previous, "{}", id(vector));
        assert_eq!(history.generation, read.generation.filter(|&generation| generation >= 0));
        assert_eq!(history.unreadable, read.unreadable);
        assert!(history.unreadable.is_none() || history.owned.is_empty() && history.generation.is_none());
    });
    let mut judged = 1;
    if let Some(value) = vector.get("value") {
        let previous = OwnedBlocks::from_json(&value["previousAssignment"]);
        let fields = StickyFields { previous: &previous.fields(), generation: generation(value) };
        let bytes = fields.encode().unwrap();
        assert_eq!(hex(&bytes), vector["bytes"].as_str().unwrap(), "{}", id(vector));
        assert_eq!(fields.encoded_len().unwrap(), bytes.len());
        judged += 1;
    }
    if let Some(input) = vector.get("input") {
        let pairs = OwnedBlocks::from_json(&input["partitions"]);
        let grouped = grouped_as_java(&pairs.fields());
        let previous: Vec<_> =
            grouped.iter().map(|(topic, partitions)| TopicPartitions { topic, partitions }).collect();
        let fields = StickyFields { previous: &previous, generation: generation(&vector["value"]) };
        let written = hex(&fields.encode().unwrap());
        assert_eq!(written, vector["bytes"].as_str().unwrap(), "{} from input", id(vector));
        judged += 1;
    }
    judged
}

#[test]
fn sticky_user_data() {
    let judged: usize = vectors("a3-sticky.jsonl", 96).iter().map(judge_sticky).sum();
    assert_eq!(judged, 142);
}

#[test]
fn large_sticky_user_data() {
    let vectors = vectors("large.jsonl", 13);
    let judged: usize =
        vectors.iter().filter(|vector| vector["format"] == "sticky-userdata").map(judge_sticky).sum();
    assert_eq!(judged, 3);
}

#[test]
fn cooperative_user_data() {
    let mut judged = 0;
    for vector in vectors("a3-cooperative-sticky.jsonl", 45) {
        let bytes = user_data(&vector);
        let own = vector["subscription_generation"].as_i64().map(|own| i32::try_from(own).unwrap());
        let expected = generation(&expected(&vector).unwrap());
        let seen = own.filter(|&own| own >= 0).or_else(|| cooperative_generation(bytes.as_deref()));
        assert_eq!(seen, expected, "{}", id(&vector));
        settle(bytes.as_deref(), own, COOPERATIVE_STICKY, |history| {
            assert_eq!(history.generation, expected.filter(|&generation| generation >= 0), "{}", id(&vector));
            let cut = bytes.as_ref().is_some_and(|bytes| (1..4).contains(&bytes.len()));
            assert_eq!(history.unreadable.is_some(), cut && own.is_none_or(|own| own < 0), "{}", id(&vector));
        });
        if let Some(value) = vector.get("value") {
            assert_eq!(
                encode_cooperative(generation(value).unwrap()),
                *unhex(vector["bytes"].as_str().unwrap())
            );
            judged += 1;
        }
        judged += 1;
    }
    assert_eq!(judged, 57);
}

#[test]
fn other_assignors_look_at_the_subscription_alone() {
    for assignor in ["range", "roundrobin", "my-own"] {
        settle(Some(&[0, 0, 0, 9]), Some(4), assignor, |history| assert_eq!(history.generation, Some(4)));
        settle(Some(&[0, 0, 0, 9]), None, assignor, |history| assert_eq!(history.generation, None));
    }
}
