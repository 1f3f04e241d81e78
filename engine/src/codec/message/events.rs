//! What a reader meets, told as it is met.

use core::ops::Range;

use crate::codec::consumer::Partitions;
use crate::codec::streams::{ModifiedUtf8, Utf16Name};
use crate::codec::text::Text;

/// The value of a field that is not a list of structs, borrowed from the bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Scalar<'a> {
    /// No value.
    Null,
    /// A truth value.
    Bool(bool),
    /// A number of one to eight bytes.
    Int(i64),
    /// Sixteen bytes that identify something.
    Uuid([u8; 16]),
    /// Text.
    Text(Text<'a>),
    /// Text in Java's modified UTF-8.
    ModifiedUtf8(ModifiedUtf8<'a>),
    /// Text in UTF-16.
    Utf16(Utf16Name<'a>),
    /// Data.
    Bytes(&'a [u8]),
    /// Numbers of four bytes each.
    I32s(Partitions<'a>),
}

/// What a list consists of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ListOf {
    /// Texts, each told as a scalar.
    Texts,
    /// Structs.
    Structs,
}

/// Hears what a reader meets, in the order of the wire.
///
/// Units: `at` is where the field's bytes are, from its length on, as offsets from the start.
pub trait Visitor<'a> {
    /// A field with its value, or an element of a list of texts.
    fn scalar(&mut self, field: &'static str, at: Range<usize>, value: Scalar<'a>);

    /// A list of `count` structs or texts begins; `at` is the place of the count.
    fn begin_list(&mut self, field: &'static str, at: Range<usize>, count: usize, of: ListOf);

    /// The next struct of the innermost list begins.
    fn begin_struct(&mut self);

    /// The innermost struct is complete.
    fn end_struct(&mut self);

    /// The innermost list is complete.
    fn end_list(&mut self);

    /// A tagged field that the format does not know.
    fn unknown_tag(&mut self, number: u32, at: Range<usize>, data: &'a [u8]);
}
