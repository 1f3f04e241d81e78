//! Where in the document an error is: collected from the inside out while the error travels up, so that
//! reading without errors pays nothing for it.

use core::cell::RefCell;
use core::fmt::{Display, Write as _};

use serde::de;

/// One step into the document.
enum Step {
    /// A key that the format gives.
    Key(String),
    /// A name that the user gives: a member, a topic.
    Name(String),
    /// A place in a list.
    Index(usize),
}

/// The way to the value that was refused, and what is wrong with it.
#[derive(Default)]
pub(super) struct Trail {
    steps: RefCell<Vec<Step>>,
    fault: RefCell<Option<Fault>>,
}

/// What was refused, in the reader's own words.
pub(super) struct Fault {
    pub(super) message: String,
    pub(super) remedy: String,
    /// Where the key stands in memory that is to blame; the JSON reader is past it by the time it is refused.
    /// Inside the document unless the key has escapes and so is a copy.
    pub(super) address: Option<usize>,
}

impl Trail {
    /// Refuses the document: what is wrong, and what to do.
    pub(super) fn fail<E: de::Error>(&self, message: impl Display, remedy: impl Display) -> E {
        self.raise(None, message, remedy)
    }

    /// Refuses the document because of a key, or of what follows it as a whole.
    pub(super) fn fail_at<E: de::Error>(&self, key: &str, message: impl Display, remedy: impl Display) -> E {
        self.raise(Some(key.as_ptr().addr()), message, remedy)
    }

    fn raise<E: de::Error>(&self, address: Option<usize>, message: impl Display, remedy: impl Display) -> E {
        let message = message.to_string();
        let error = E::custom(&message);
        *self.fault.borrow_mut() = Some(Fault { message, remedy: remedy.to_string(), address });
        error
    }

    /// The error happened below a key of the format.
    pub(super) fn key<E>(&self, key: &str, error: E) -> E {
        self.steps.borrow_mut().push(Step::Key(key.to_string()));
        error
    }

    /// The error happened below a user's name.
    pub(super) fn name<E>(&self, name: &str, error: E) -> E {
        self.steps.borrow_mut().push(Step::Name(name.to_string()));
        error
    }

    /// The error happened in an entry of a list.
    pub(super) fn index<E>(&self, index: usize, error: E) -> E {
        self.steps.borrow_mut().push(Step::Index(index));
        error
    }

    /// What [`fail`](Self::fail) was told.
    pub(super) fn take_fault(&self) -> Option<Fault> {
        self.fault.borrow_mut().take()
    }

    /// The path as text.
    pub(super) fn take_field(&self) -> String {
        let mut field = String::new();
        for step in self.steps.borrow_mut().drain(..).rev() {
            let dot = if field.is_empty() { "" } else { "." };
            // Writing to a string does not fail.
            let _ = match step {
                Step::Key(key) => write!(field, "{dot}{}", shorten(&key, 60)),
                Step::Name(name) => write!(field, "{dot}{}", quoted(&name)),
                Step::Index(index) => write!(field, "[{index}]"),
            };
        }
        field
    }
}

/// A name in quotes, escaped as in JSON, cut if it is very long.
pub(super) fn quoted(name: &str) -> String {
    serde_json::to_string(&shorten(name, 120)).unwrap_or_default()
}

/// The text, or its beginning and an ellipsis.
pub(super) fn shorten(text: &str, limit: usize) -> String {
    match text.char_indices().nth(limit) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_string(),
    }
}

/// "did you mean `x`? the keys are …" for a key that is none of `known`.
pub(super) fn suggest(key: &str, known: &[&str]) -> String {
    let list = known.iter().map(|k| format!("`{k}`")).collect::<Vec<_>>().join(", ");
    match known.iter().map(|k| (distance(key, k), k)).min() {
        Some((distance, near)) if distance <= 2.max(near.len() / 3) => {
            format!("did you mean `{near}`? known keys are {list}")
        }
        _ => format!("known keys are {list}"),
    }
}

/// Edit distance; the longer words are cut, which is enough to see a typing error.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().take(32).collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().take(32).enumerate() {
        let mut corner = i;
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let change = corner + usize::from(!x.eq_ignore_ascii_case(y));
            corner = row[j + 1];
            row[j + 1] = change.min(corner + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typing_error_finds_its_key() {
        assert!(suggest("membres", &["members", "topics"]).starts_with("did you mean `members`?"));
        assert!(suggest("Topics", &["members", "topics"]).starts_with("did you mean `topics`?"));
        assert!(suggest("zzzz", &["members", "topics"]).starts_with("known keys are"));
    }

    #[test]
    fn a_path_reads_from_the_outside_in() {
        let trail = Trail::default();
        trail.index(2, ());
        trail.name("or\"ders", ());
        trail.key("owned", ());
        trail.name("c1", ());
        trail.key("members", ());
        assert_eq!(trail.take_field(), r#"members."c1".owned."or\"ders"[2]"#);
    }
}
