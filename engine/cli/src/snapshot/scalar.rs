//! The small values of a snapshot: names, counts, generations, optional texts.

use core::fmt;
use std::borrow::Cow;

use serde::de::{self, DeserializeSeed, Deserializer, Unexpected, Visitor};

use super::trail::Trail;

/// A name or a key, borrowed from the document where it has no escapes.
#[derive(Clone, Copy)]
pub(super) struct Name(pub(super) &'static str);

impl<'de> DeserializeSeed<'de> for Name {
    type Value = Cow<'de, str>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for Name {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(text))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Cow::Owned(text.to_string()))
    }
}

/// A text, or null for none.
#[derive(Clone, Copy)]
pub(super) struct OptionalName(pub(super) &'static str);

impl<'de> DeserializeSeed<'de> for OptionalName {
    type Value = Option<Cow<'de, str>>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for OptionalName {
    type Value = Option<Cow<'de, str>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Some(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Some(Cow::Owned(text.to_string())))
    }
}

/// A whole number with bounds.
#[derive(Clone, Copy)]
pub(super) struct Integer<'a> {
    pub(super) trail: &'a Trail,
    /// What is counted, for messages: "a partition count".
    pub(super) what: &'static str,
    /// What to write, for messages.
    pub(super) example: &'static str,
    pub(super) min: i64,
    pub(super) max: i64,
    /// Whether null is `None`.
    pub(super) nullable: bool,
}

impl Integer<'_> {
    fn check<E: de::Error>(&self, number: i64) -> Result<Option<i64>, E> {
        if (self.min..=self.max).contains(&number) { Ok(Some(number)) } else { Err(self.refuse(&number)) }
    }

    fn refuse<E: de::Error>(&self, number: &dyn fmt::Display) -> E {
        let Self { trail, what, example, min, max, .. } = self;
        trail.fail(
            format_args!("{number} cannot be {what}"),
            format_args!("write a whole number from {min} to {max}, such as {example}"),
        )
    }
}

impl<'de> DeserializeSeed<'de> for Integer<'_> {
    type Value = Option<i64>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Integer<'_> {
    type Value = Option<i64>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, such as {}", self.what, self.example)
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Self::Value, E> {
        self.check(number)
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<Self::Value, E> {
        match i64::try_from(number) {
            Ok(number) => self.check(number),
            Err(_) => Err(self.refuse(&number)),
        }
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<Self::Value, E> {
        Err(self.refuse(&number))
    }

    fn visit_unit<E: de::Error>(self) -> Result<Self::Value, E> {
        if self.nullable { Ok(None) } else { Err(E::invalid_type(Unexpected::Unit, &self)) }
    }
}
