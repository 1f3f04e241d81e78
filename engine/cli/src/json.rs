//! What is wrong with a text that should be JSON, and where, in our words.

use core::fmt;

use serde_json::error::Category;

/// Why a text is no JSON of the form that is wanted.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct JsonFault {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// Bytes of the text before that place.
    pub at: usize,
    /// What is wrong and what to do.
    pub message: String,
}

impl JsonFault {
    /// Reads what the JSON reader says of this text.
    ///
    /// # Examples
    ///
    /// ```
    /// use tenure_cli::json::JsonFault;
    /// let text = "{\"a\": 1,\n";
    /// let error = serde_json::from_str::<serde_json::Value>(text).unwrap_err();
    /// let fault = JsonFault::of(text, &error);
    /// assert_eq!((fault.line, fault.column), (1, 8));
    /// assert!(fault.message.starts_with("the JSON ends too early"));
    /// ```
    #[must_use]
    pub fn of(text: &str, error: &serde_json::Error) -> Self {
        let early = error.classify() == Category::Eof;
        // What ends too early ends where its last character stands, not in the empty line behind it.
        let (line, column) = if early { end_of(text.trim_end()) } else { position(text, error) };
        let before = text.split_inclusive('\n').take(line - 1).map(str::len).sum::<usize>();
        let content = text[before..].lines().next().unwrap_or_default();
        let at = before + content.char_indices().nth(column - 1).map_or(content.len(), |(at, _)| at);
        let said = words(error);
        let message = match error.classify() {
            Category::Eof => "the JSON ends too early; close every string, bracket and brace".to_owned(),
            Category::Syntax if said == "trailing characters" => {
                "something follows the end of the JSON; give one value".to_owned()
            }
            Category::Data => said,
            Category::Syntax | Category::Io => {
                format!("this is not JSON: {said}; correct the text just before this place")
            }
        };
        Self { line, column, at, message }
    }
}

impl fmt::Display for JsonFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}: {}", self.line, self.column, self.message)
    }
}

impl core::error::Error for JsonFault {}

/// What the JSON reader says, without its own idea of the place.
pub(crate) fn words(error: &serde_json::Error) -> String {
    let whole = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    whole.strip_suffix(&place).unwrap_or(&whole).to_owned()
}

/// Line and column of the last character of a text.
pub(crate) fn end_of(text: &str) -> (usize, usize) {
    let last = text.rsplit('\n').next().unwrap_or_default();
    (text.matches('\n').count() + 1, last.chars().count().max(1))
}

/// Line and column, in characters, where the reader counts bytes.
pub(crate) fn position(text: &str, error: &serde_json::Error) -> (usize, usize) {
    let line = error.line().max(1);
    let content = text.split('\n').nth(line - 1).unwrap_or_default();
    let bytes = error.column().min(content.len());
    let column = content.char_indices().take_while(|(at, _)| *at < bytes).count().max(1);
    (line, column)
}
