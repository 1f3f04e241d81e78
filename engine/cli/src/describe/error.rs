//! Why a text is not read.

use core::fmt;

/// What is wrong with a text.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum DescribeErrorKind {
    /// The bytes are no UTF-8.
    NotUtf8,
    /// There is no table of a consumer group.
    NoTable,
    /// A line inside a table does not fit the table's header.
    Row,
    /// A partition number that no topic can have, or that nothing else in the text bears out.
    Partition,
    /// A partition that two members own.
    TwoOwners,
    /// The text shows members, but not which partitions they own.
    TooLittle,
}

/// A text that is not read: where, why, and what to do.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DescribeError {
    /// The line, counted from 1; `None` if it is the text as a whole.
    pub line: Option<usize>,
    /// What is wrong.
    pub kind: DescribeErrorKind,
    /// The reason, with what was found and what to do.
    pub reason: String,
}

impl DescribeError {
    pub(super) fn at(line: usize, kind: DescribeErrorKind, reason: String) -> Self {
        Self { line: Some(line), kind, reason }
    }

    pub(super) fn whole(kind: DescribeErrorKind, reason: String) -> Self {
        Self { line: None, kind, reason }
    }
}

impl fmt::Display for DescribeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(line) = self.line {
            write!(f, "line {line}: ")?;
        }
        f.write_str(&self.reason)
    }
}

impl core::error::Error for DescribeError {}

pub(super) fn not_utf8(bytes: &[u8], at: usize) -> DescribeError {
    let line = bytes[..at].iter().filter(|&&byte| byte == b'\n').count() + 1;
    let reason = format!("byte {at} is no UTF-8; save the print as UTF-8 text");
    DescribeError::at(line, DescribeErrorKind::NotUtf8, reason)
}

/// A piece of the text for a message: control characters escaped, cut when long.
pub(super) fn quote(text: &str) -> String {
    let mut short: String = text.chars().take(60).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    format!("{short:?}")
}
