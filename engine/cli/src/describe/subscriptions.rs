//! A file that says what members subscribe to, because prints don't.
//!
//! A JSON object from a member to its topics. A member is named by its id, its `group.instance.id` or its
//! `client.id`, looked up in this order; `"*"` stands for all that are not named:
//!
//! ```json
//! { "till 1": ["orders", "clicks"], "auditor": ["audit_log"], "*": ["orders"] }
//! ```

use core::fmt;
use std::collections::BTreeMap;

use crate::json::{JsonFault, end_of};

/// Topics by member, as `tenure plan --subscriptions` reads them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Subscriptions {
    by_name: BTreeMap<String, Vec<String>>,
}

impl Subscriptions {
    /// Reads the JSON form.
    ///
    /// # Errors
    ///
    /// What is no object from names to lists of topic names, with line and column.
    ///
    /// # Examples
    ///
    /// ```
    /// use tenure_cli::describe::Subscriptions;
    /// let known = Subscriptions::read(br#"{"till 1": ["orders"], "*": []}"#)?;
    /// assert_eq!(known.of("till 1-6d96", None, Some("till 1")), Some(&["orders".to_string()][..]));
    /// assert_eq!(known.of("x", None, None), Some(&[][..]));
    /// # Ok::<(), tenure_cli::describe::SubscriptionsError>(())
    /// ```
    pub fn read(bytes: &[u8]) -> Result<Self, SubscriptionsError> {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let text = core::str::from_utf8(bytes).map_err(|error| {
            let place = end_of(core::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default());
            let text = format!("line {}, column {}: this is not UTF-8", place.0, place.1 + 1);
            SubscriptionsError { text }
        })?;
        let by_name: BTreeMap<String, Vec<String>> = serde_json::from_str(text)
            .map_err(|error| SubscriptionsError { text: JsonFault::of(text, &error).to_string() })?;
        Ok(Self { by_name })
    }

    /// The topics of a member; `None` if neither it nor `"*"` is named.
    pub fn of(&self, id: &str, instance: Option<&str>, client: Option<&str>) -> Option<&[String]> {
        let names = [Some(id), instance, client, Some("*")];
        names.into_iter().flatten().find_map(|name| self.by_name.get(name)).map(Vec::as_slice)
    }

    /// Whether nothing is said.
    pub fn is_empty(&self) -> bool {
        self.by_name.is_empty()
    }
}

/// A subscriptions file that is not read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SubscriptionsError {
    text: String,
}

impl fmt::Display for SubscriptionsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; write an object like {{\"client-1\": [\"orders\"], \"*\": [\"clicks\"]}}", self.text)
    }
}

impl core::error::Error for SubscriptionsError {}
