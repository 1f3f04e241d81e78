//! Names and partitions by topic, written in Java's order.

use alloc::borrow::Cow;
use alloc::vec;
use alloc::vec::Vec;
use core::cmp::Ordering;

use hashbrown::HashMap;

use crate::codec::error::EncodeError;
use crate::codec::writer::{Sink, Writer, measured, written};
use crate::id::utf16_cmp;

/// A topic and some of its partitions, to be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TopicPartitions<'a> {
    /// The topic's name.
    pub topic: &'a str,
    /// Its partitions.
    pub partitions: &'a [i32],
}

/// What is written in several versions: once to find its length, then where there is room for it.
pub(super) trait Fields {
    fn write<S: Sink>(&self, version: i16, writer: &mut Writer<S>) -> Result<(), EncodeError>;

    fn measure(&self, version: i16) -> Result<usize, EncodeError> {
        measured(|writer| self.write(version, writer))
    }

    fn write_to(&self, version: i16, buffer: &mut [u8]) -> Result<usize, EncodeError> {
        let needed = self.measure(version)?;
        written(buffer, needed, |writer| self.write(version, writer))
    }

    fn write_out(&self, version: i16) -> Result<Vec<u8>, EncodeError> {
        let needed = self.measure(version)?;
        let mut bytes = vec![0; needed];
        written(&mut bytes, needed, |writer| self.write(version, writer))?;
        Ok(bytes)
    }
}

/// Writes names as they stand.
pub(super) fn write_names<S: Sink>(
    writer: &mut Writer<S>,
    names: &[&str],
    list: &'static str,
    item: &'static str,
) -> Result<(), EncodeError> {
    writer.count(names.len(), list)?;
    names.iter().try_for_each(|name| writer.text(name.as_bytes(), item))
}

/// Writes blocks as they stand.
pub(in crate::codec) fn write_blocks<S: Sink>(
    writer: &mut Writer<S>,
    blocks: &[TopicPartitions<'_>],
    list: &'static str,
) -> Result<(), EncodeError> {
    writer.count(blocks.len(), list)?;
    for block in blocks {
        writer.text(block.topic.as_bytes(), "topic")?;
        writer.count(block.partitions.len(), "partitions")?;
        writer.i32s(block.partitions)?;
    }
    Ok(())
}

/// The names in Java's order; borrowed if they are in it already.
pub(super) fn sorted_names<'s, 'a>(names: &'s [&'a str]) -> Cow<'s, [&'a str]> {
    if names.is_sorted_by(|a, b| utf16_cmp(a, b) != Ordering::Greater) {
        return Cow::Borrowed(names);
    }
    let mut names = names.to_vec();
    names.sort_by(|a, b| utf16_cmp(a, b));
    Cow::Owned(names)
}

/// Writes blocks in the order of a subscription: by topic, one block a topic, numbers ascending.
///
/// Blocks that are in that order already are written without an allocation.
pub(super) fn write_sorted_blocks<S: Sink>(
    writer: &mut Writer<S>,
    blocks: &[TopicPartitions<'_>],
    list: &'static str,
) -> Result<(), EncodeError> {
    let in_order = blocks.is_sorted_by(|a, b| utf16_cmp(a.topic, b.topic) == Ordering::Less)
        && blocks.iter().all(|block| block.partitions.is_sorted());
    if in_order {
        return write_blocks(writer, blocks, list);
    }
    let mut sorted: Vec<&TopicPartitions<'_>> = blocks.iter().collect();
    sorted.sort_by(|a, b| utf16_cmp(a.topic, b.topic));
    let topics = || sorted.chunk_by(|a, b| a.topic == b.topic);
    writer.count(topics().count(), list)?;
    let mut numbers: Vec<i32> = Vec::new();
    for blocks in topics() {
        numbers.clear();
        numbers.extend(blocks.iter().flat_map(|block| block.partitions));
        numbers.sort_unstable();
        write_block(writer, blocks, &numbers)?;
    }
    Ok(())
}

/// Writes blocks in the order of an assignment: topics in order of first appearance, one block a
/// topic, numbers as they stand.
///
/// Blocks whose topics ascend are written without an allocation.
pub(super) fn write_merged_blocks<S: Sink>(
    writer: &mut Writer<S>,
    blocks: &[TopicPartitions<'_>],
    list: &'static str,
) -> Result<(), EncodeError> {
    if blocks.is_sorted_by(|a, b| a.topic < b.topic) {
        return write_blocks(writer, blocks, list);
    }
    let mut place_of: HashMap<&str, usize> = HashMap::with_capacity(blocks.len());
    let mut placed: Vec<(usize, &TopicPartitions<'_>)> = Vec::with_capacity(blocks.len());
    for block in blocks {
        let next = place_of.len();
        placed.push((*place_of.entry(block.topic).or_insert(next), block));
    }
    if place_of.len() == blocks.len() {
        return write_blocks(writer, blocks, list);
    }
    placed.sort_by_key(|&(place, _)| place);
    let merged: Vec<&TopicPartitions<'_>> = placed.into_iter().map(|(_, block)| block).collect();
    writer.count(place_of.len(), list)?;
    let mut numbers: Vec<i32> = Vec::new();
    for blocks in merged.chunk_by(|a, b| a.topic == b.topic) {
        numbers.clear();
        numbers.extend(blocks.iter().flat_map(|block| block.partitions));
        write_block(writer, blocks, &numbers)?;
    }
    Ok(())
}

fn write_block<S: Sink>(
    writer: &mut Writer<S>,
    blocks: &[&TopicPartitions<'_>],
    numbers: &[i32],
) -> Result<(), EncodeError> {
    let topic = blocks.first().map_or("", |block| block.topic);
    writer.text(topic.as_bytes(), "topic")?;
    writer.count(numbers.len(), "partitions")?;
    writer.i32s(numbers)
}
