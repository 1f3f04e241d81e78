//! User data of the sticky assignors.

use serde_json::{Map, Value, json};
use tenure::codec::sticky::{
    cooperative_generation, encode_cooperative as encode_generation, grouped_as_java,
};
use tenure::codec::{StickyFields, StickyUserData, TopicPartitions};

use super::consumer::blocks_json;
use super::parse::{At, BlockList};
use super::{CodecFailure, Context, Seen};

pub(super) fn decode(bytes: &[u8], context: &Context<'_>) -> Seen {
    let read = StickyUserData::decode((!context.null_user_data).then_some(bytes));
    let value = json!({
        "previousAssignment": blocks_json(read.previous),
        "generation": read.kafka_generation(),
    });
    let mut beside = Map::new();
    if let Some(error) = read.unreadable {
        beside.insert("unreadable".into(), CodecFailure::from(error).to_json());
    }
    Seen { value, beside }
}

pub(super) fn encode(version: Option<i32>, value: &Value) -> Result<Vec<u8>, CodecFailure> {
    let at = At::top(value);
    at.object(&["previousAssignment", "partitions", "generation"])?;
    let list = at.get("previousAssignment");
    let list = BlockList::read(&if list.is_null() { at.get("partitions") } else { list })?;
    let generation = at.get("generation").nullable(At::i32)?.filter(|_| version != Some(0));
    let given = list.fields();
    // Flat pairs are what Java is given; blocks are what it has written.
    let grouped = if list.flat { grouped_as_java(&given) } else { Vec::new() };
    let grouped: Vec<_> =
        grouped.iter().map(|(topic, partitions)| TopicPartitions { topic, partitions }).collect();
    let previous = if list.flat { &grouped } else { &given };
    Ok(StickyFields { previous, generation }.encode()?)
}

pub(super) fn decode_cooperative(bytes: &[u8], context: &Context<'_>) -> Seen {
    let own = context.subscription_generation.filter(|&generation| generation >= 0);
    let generation = own.or_else(|| cooperative_generation((!context.null_user_data).then_some(bytes)));
    Seen { value: json!({"generation": generation}), beside: Map::new() }
}

pub(super) fn encode_cooperative(value: &Value) -> Result<Vec<u8>, CodecFailure> {
    let at = At::top(value);
    at.object(&["generation"])?;
    Ok(encode_generation(at.get("generation").i32()?).to_vec())
}
