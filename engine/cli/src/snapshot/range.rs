//! Owned partitions: numbers, or inclusive ranges as text.

use core::fmt;

use serde::de::{self, DeserializeSeed, Deserializer, Visitor};

use super::trail::{Trail, quoted};

/// One entry of a list of owned partitions: a number is a range of one.
#[derive(Clone, Copy)]
pub(super) struct Entry<'a>(pub(super) &'a Trail);

impl<'de> DeserializeSeed<'de> for Entry<'_> {
    type Value = (i32, i32);

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl Entry<'_> {
    fn number<E: de::Error>(self, number: &dyn fmt::Display) -> E {
        let (min, max) = (i32::MIN, i32::MAX);
        self.0.fail(
            format_args!("{number} cannot be a partition"),
            format_args!("write a whole number from {min} to {max}, such as 4, or a range such as \"4-7\""),
        )
    }
}

impl<'de> Visitor<'de> for Entry<'_> {
    type Value = (i32, i32);

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a partition such as 4, or a range such as \"4-7\"")
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Self::Value, E> {
        i32::try_from(number).map(|n| (n, n)).map_err(|_| self.number(&number))
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<Self::Value, E> {
        i32::try_from(number).map(|n| (n, n)).map_err(|_| self.number(&number))
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<Self::Value, E> {
        Err(self.number(&number))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
        match parse(text) {
            Some((from, to)) if from <= to => Ok((from, to)),
            Some((from, to)) => Err(self.0.fail(
                format_args!("the range {} runs backwards", quoted(text)),
                format_args!("write \"{to}-{from}\""),
            )),
            None => Err(self.0.fail(
                format_args!("{} is no range of partitions", quoted(text)),
                "write first and last partition, such as \"4-7\"; a single one as a number without quotes",
            )),
        }
    }
}

/// Reads "from-to", both inclusive; either may be negative ("-3--1").
fn parse(text: &str) -> Option<(i32, i32)> {
    // The dash that separates cannot be the first character: that one is a sign.
    let at = text.char_indices().skip(1).find(|(_, c)| *c == '-')?.0;
    Some((number(&text[..at])?, number(&text[at + 1..])?))
}

/// A number in plain form: no plus sign, no spaces.
fn number(text: &str) -> Option<i32> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let plain = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    if plain { text.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn ranges() {
        assert_eq!(parse("4-7"), Some((4, 7)));
        assert_eq!(parse("0-0"), Some((0, 0)));
        assert_eq!(parse("-3--1"), Some((-3, -1)));
        assert_eq!(parse("-3-5"), Some((-3, 5)));
        assert_eq!(parse("7-4"), Some((7, 4)));
        assert_eq!(parse("0-2147483647"), Some((0, i32::MAX)));
        for bad in [
            "",
            "-",
            "4",
            "-4",
            "4-",
            "-4-",
            "4-7-9",
            "+4-7",
            "4 - 7",
            "a-b",
            "4–7",
            "0-2147483648",
            "--4-7",
            "é-1",
        ] {
            assert_eq!(parse(bad), None, "{bad:?}");
        }
    }
}
