//! A message as a tree of values.

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

use super::events::{ListOf, Scalar, Visitor};
use crate::codec::text::Text;

/// A value of a field.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Value<'a> {
    /// No value.
    Null,
    /// A truth value.
    Bool(bool),
    /// A number of one to eight bytes.
    Int(i64),
    /// Sixteen bytes that identify something.
    Uuid([u8; 16]),
    /// Text as it came.
    Text(Text<'a>),
    /// Text that had another form on the wire than UTF-8.
    String(String),
    /// Data.
    Bytes(Cow<'a, [u8]>),
    /// A list of numbers of four bytes each.
    I32s(Vec<i32>),
    /// A list of texts.
    Texts(Vec<Text<'a>>),
    /// A list of structs.
    Structs(Vec<Struct<'a>>),
}

/// Fields with their values, in the order of the wire, and the tagged fields that nobody knows.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Struct<'a> {
    /// The fields. Tagged ones are here only if they differ from their default.
    pub fields: Vec<(&'static str, Value<'a>)>,
    /// Number and data of the tagged fields that the format does not know; they are written back.
    pub unknown_tags: Vec<(u32, Cow<'a, [u8]>)>,
}

impl<'a> Struct<'a> {
    /// The value of the field called `name`.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Value<'a>> {
        self.fields.iter().find(|(known, _)| *known == name).map(|(_, value)| value)
    }

    /// Sets the value of a field, in place of an earlier one.
    pub fn set(&mut self, name: &'static str, value: Value<'a>) {
        match self.fields.iter_mut().find(|(known, _)| *known == name) {
            Some((_, place)) => *place = value,
            None => self.fields.push((name, value)),
        }
    }
}

/// A message that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Decoded<'a> {
    /// The version (or record type) on the wire, or the one given where the bytes do not say it.
    pub version: i32,
    /// The fields.
    pub value: Struct<'a>,
    /// The bytes that were read; any that follow were ignored.
    pub len: usize,
}

/// Builds a tree from events.
#[derive(Default)]
pub(super) struct TreeBuilder<'a> {
    current: Struct<'a>,
    /// The open lists: name, what is in them, and the struct that they belong to.
    open: Vec<(&'static str, Value<'a>, Struct<'a>)>,
}

impl<'a> TreeBuilder<'a> {
    pub(super) fn finish(self) -> Struct<'a> {
        self.current
    }
}

impl<'a> Visitor<'a> for TreeBuilder<'a> {
    fn scalar(&mut self, field: &'static str, _at: Range<usize>, scalar: Scalar<'a>) {
        let value = match scalar {
            Scalar::Null => Value::Null,
            Scalar::Bool(value) => Value::Bool(value),
            Scalar::Int(value) => Value::Int(value),
            Scalar::Uuid(value) => Value::Uuid(value),
            Scalar::Text(text) => {
                if let Some((_, Value::Texts(texts), _)) = self.open.last_mut() {
                    texts.push(text);
                    return;
                }
                Value::Text(text)
            }
            Scalar::ModifiedUtf8(text) => Value::String(text.to_string_lossy()),
            Scalar::Utf16(text) => Value::String(text.to_string_lossy()),
            Scalar::Bytes(bytes) => Value::Bytes(Cow::Borrowed(bytes)),
            Scalar::I32s(numbers) => Value::I32s(numbers.iter().collect()),
        };
        self.current.set(field, value);
    }

    fn begin_list(&mut self, field: &'static str, _at: Range<usize>, _count: usize, of: ListOf) {
        // No room is made beforehand: the count is a peer's word.
        let list = match of {
            ListOf::Texts => Value::Texts(Vec::new()),
            ListOf::Structs => Value::Structs(Vec::new()),
        };
        self.open.push((field, list, core::mem::take(&mut self.current)));
    }

    fn begin_struct(&mut self) {
        self.current = Struct::default();
    }

    fn end_struct(&mut self) {
        let done = core::mem::take(&mut self.current);
        if let Some((_, Value::Structs(structs), _)) = self.open.last_mut() {
            structs.push(done);
        }
    }

    fn end_list(&mut self) {
        if let Some((name, list, outer)) = self.open.pop() {
            self.current = outer;
            self.current.set(name, list);
        }
    }

    fn unknown_tag(&mut self, number: u32, _at: Range<usize>, data: &'a [u8]) {
        self.current.unknown_tags.push((number, Cow::Borrowed(data)));
    }
}
