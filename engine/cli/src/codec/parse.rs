//! Hexadecimal text, JSON of a given form, and the abbreviations for long lists.

use serde_json::{Map, Value};
use tenure::codec::TopicPartitions;

use super::CodecFailure;

/// The most bytes that the abbreviations of a line may stand for: 16 MiB.
const BYTES_MAX: usize = 1 << 24;

/// The most list elements that those of a value may stand for, all together; each takes 32 bytes as JSON.
pub(super) const ELEMENTS_MAX: usize = 1 << 21;

/// Bytes as hexadecimal text.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        text.push(char::from(DIGITS[usize::from(byte >> 4)]));
        text.push(char::from(DIGITS[usize::from(byte & 15)]));
    }
    text
}

/// The bytes of hexadecimal text, without spaces.
#[must_use]
pub fn unhex(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    if !rest.is_empty() {
        return None;
    }
    pairs.iter().map(|&[high, low]| Some(digit(high)? << 4 | digit(low)?)).collect()
}

/// The bytes of hexadecimal text with spaces and line ends between the digits.
#[must_use]
pub fn unhex_text(text: &str) -> Option<Vec<u8>> {
    unhex(&text.split_ascii_whitespace().collect::<String>())
}

/// The bytes that a list of parts stands for: `{"hex"}`, `{"i32": [from, to, step]}`, `{"repeat": [hex, times]}`.
///
/// # Errors
/// A part of another form, or more bytes than anybody needs.
pub fn generated_bytes(parts: &Value) -> Result<Vec<u8>, CodecFailure> {
    let form = || {
        CodecFailure::form(
            "bytes_gen",
            "a list of {\"hex\"}, {\"i32\"} and {\"repeat\"} parts of 16 MiB at most, all together",
        )
    };
    let mut bytes = Vec::new();
    for part in parts.as_array().ok_or_else(form)? {
        if let Some(text) = part.get("hex").and_then(Value::as_str) {
            bytes.extend(unhex(text).ok_or_else(form)?);
        } else if let Some(range) = part.get("i32") {
            for number in numbers_of(range, BYTES_MAX.saturating_sub(bytes.len()) / 4).ok_or_else(form)? {
                bytes.extend(i32::try_from(number).map_err(|_| form())?.to_be_bytes());
            }
        } else {
            let (item, times) = repeat_of(part).ok_or_else(form)?;
            let piece = item.as_str().and_then(unhex).ok_or_else(form)?;
            let len =
                piece.len().checked_mul(times).filter(|len| *len <= BYTES_MAX.saturating_sub(bytes.len()));
            len.ok_or_else(form)?;
            bytes.extend(piece.repeat(times));
        }
        if bytes.len() > BYTES_MAX {
            return Err(form());
        }
    }
    Ok(bytes)
}

fn numbers_of(range: &Value, most: usize) -> Option<impl Iterator<Item = i64> + use<>> {
    let [from, to, step] = range.as_array()?.as_slice() else { return None };
    let (from, to, step) = (from.as_i64()?, to.as_i64()?, usize::try_from(step.as_i64()?).ok()?);
    let span = usize::try_from(to.checked_sub(from)?.max(0)).ok()?;
    (step > 0 && span / step <= most).then(|| (from..to).step_by(step))
}

fn repeat_of(part: &Value) -> Option<(&Value, usize)> {
    let [item, times] = part.get("repeat")?.as_array()?.as_slice() else { return None };
    Some((item, usize::try_from(times.as_u64()?).ok()?))
}

/// A value with its abbreviations written out: `{"range": [from, to, step]}` and `{"repeat": [x, times]}`.
///
/// # Errors
/// A list longer than anybody needs.
pub fn written_out(value: &Value) -> Result<Value, CodecFailure> {
    write_out(value, &mut Room { elements: ELEMENTS_MAX, text: 2 * BYTES_MAX })
}

/// What the abbreviations of a value may still stand for. One sum for all of them: a short line can hold
/// many, and many small lists take as much memory as a great one.
struct Room {
    elements: usize,
    text: usize,
}

fn write_out(value: &Value, room: &mut Room) -> Result<Value, CodecFailure> {
    let long = || CodecFailure::form("", "lists of 2,097,152 elements and 16 MiB at most, all together");
    Ok(match value {
        Value::Object(map) if map.len() == 1 && map.contains_key("range") => {
            let numbers = numbers_of(&map["range"], room.elements).ok_or_else(long)?;
            let list: Vec<Value> = numbers.map(Value::from).collect();
            room.elements = room.elements.saturating_sub(list.len());
            list.into()
        }
        Value::Object(map) if map.len() == 1 && map.contains_key("repeat") => {
            let (item, times) = repeat_of(value).ok_or_else(long)?;
            match item {
                Value::String(text) if !text.is_empty() => {
                    let len = text.len().checked_mul(times).ok_or_else(long)?;
                    room.text = room.text.checked_sub(len).ok_or_else(long)?;
                    Value::String(text.repeat(times))
                }
                Value::Array(_) | Value::Object(_) => return Err(long()),
                item => {
                    room.elements = room.elements.checked_sub(times).ok_or_else(long)?;
                    vec![item.clone(); times].into()
                }
            }
        }
        Value::Object(map) => {
            let entries = map.iter().map(|(key, value)| Ok((key.clone(), write_out(value, room)?)));
            Value::Object(entries.collect::<Result<Map<_, _>, CodecFailure>>()?)
        }
        Value::Array(items) => {
            let items = items.iter().map(|item| write_out(item, room));
            Value::Array(items.collect::<Result<_, CodecFailure>>()?)
        }
        other => other.clone(),
    })
}

/// A JSON value and where it is, for saying what is wrong with it.
#[derive(Clone)]
pub(super) struct At<'v> {
    pub(super) value: &'v Value,
    pub(super) path: String,
}

impl<'v> At<'v> {
    pub(super) const fn top(value: &'v Value) -> Self {
        Self { value, path: String::new() }
    }

    pub(super) fn wrong(&self, expected: impl Into<String>) -> CodecFailure {
        CodecFailure::form(self.path.clone(), expected)
    }

    /// The object, all of whose keys are among `known`.
    pub(super) fn object(&self, known: &[&str]) -> Result<&'v Map<String, Value>, CodecFailure> {
        let Some(object) = self.value.as_object() else { return Err(self.wrong("an object")) };
        match object.keys().find(|key| !known.contains(&key.as_str())) {
            Some(key) => Err(CodecFailure::form(
                self.join(key),
                format!("left out: the fields here are {}", known.join(", ")),
            )),
            None => Ok(object),
        }
    }

    fn join(&self, key: &str) -> String {
        if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) }
    }

    /// The member `key`; null if it is missing.
    pub(super) fn get(&self, key: &str) -> Self {
        static NULL: Value = Value::Null;
        Self { value: self.value.get(key).unwrap_or(&NULL), path: self.join(key) }
    }

    pub(super) fn items(&self) -> Result<impl ExactSizeIterator<Item = Self> + use<'v>, CodecFailure> {
        let Some(items) = self.value.as_array() else { return Err(self.wrong("a list")) };
        let path = self.path.clone();
        Ok(items
            .iter()
            .enumerate()
            .map(move |(index, value)| Self { value, path: format!("{path}[{index}]") }))
    }

    /// The elements of a list of exactly `N`.
    pub(super) fn tuple<const N: usize>(&self, expected: &str) -> Result<[Self; N], CodecFailure> {
        let items: Vec<Self> = self.items()?.collect();
        items.try_into().map_err(|_| self.wrong(expected))
    }

    pub(super) fn is_null(&self) -> bool {
        self.value.is_null()
    }

    pub(super) fn i64(&self) -> Result<i64, CodecFailure> {
        self.value.as_i64().ok_or_else(|| self.wrong("a whole number"))
    }

    pub(super) fn i32(&self) -> Result<i32, CodecFailure> {
        let number = self.value.as_i64().and_then(|number| i32::try_from(number).ok());
        number.ok_or_else(|| self.wrong("a whole number of 32 bits"))
    }

    pub(super) fn text(&self) -> Result<&'v str, CodecFailure> {
        self.value.as_str().ok_or_else(|| self.wrong("text"))
    }

    pub(super) fn bytes(&self) -> Result<Vec<u8>, CodecFailure> {
        self.value.as_str().and_then(unhex).ok_or_else(|| self.wrong("hexadecimal text"))
    }

    pub(super) fn uuid(&self) -> Result<[u8; 16], CodecFailure> {
        let text = self.value.as_str().map(|text| text.replace('-', ""));
        let bytes = text.as_deref().and_then(unhex).and_then(|bytes| bytes.try_into().ok());
        bytes.ok_or_else(|| self.wrong("a uuid of 32 hexadecimal digits"))
    }

    /// `None` for null, else what `read` makes of it.
    pub(super) fn nullable<T>(
        &self,
        read: impl FnOnce(&Self) -> Result<T, CodecFailure>,
    ) -> Result<Option<T>, CodecFailure> {
        if self.is_null() { Ok(None) } else { read(self).map(Some) }
    }
}

/// Partitions by topic from JSON.
pub(super) struct BlockList<'v> {
    blocks: Vec<(&'v str, Vec<i32>)>,
    /// Whether they came as flat [topic, partition] pairs.
    pub(super) flat: bool,
}

impl<'v> BlockList<'v> {
    /// A list of `{"topic", "partitions"}` blocks, or of flat [topic, partition] pairs; null is an empty one.
    pub(super) fn read(list: &At<'v>) -> Result<Self, CodecFailure> {
        let mut read = Self { blocks: Vec::new(), flat: false };
        if list.is_null() {
            return Ok(read);
        }
        for item in list.items()? {
            if item.value.is_array() {
                let [topic, partition] = item.tuple("a [topic, partition] pair")?;
                read.flat = true;
                read.blocks.push((topic.text()?, vec![partition.i32()?]));
            } else {
                item.object(&["topic", "partitions"])?;
                let partitions = item.get("partitions").items()?.map(|item| item.i32());
                read.blocks.push((item.get("topic").text()?, partitions.collect::<Result<_, _>>()?));
            }
        }
        Ok(read)
    }

    pub(super) fn fields(&self) -> Vec<TopicPartitions<'_>> {
        self.blocks.iter().map(|(topic, partitions)| TopicPartitions { topic, partitions }).collect()
    }
}
