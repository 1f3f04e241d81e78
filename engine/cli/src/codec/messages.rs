//! Requests, responses, records and drafts: everything that is a table.

use serde_json::{Map, Value, json};
use tenure::codec::Text;
use tenure::codec::message::{self, Field, Format, Kind, Struct};

use super::consumer::version_of;
use super::parse::At;
use super::{CodecFailure, Context, Seen, hex, unhex};

pub(super) fn decode(
    format: &'static Format,
    bytes: &[u8],
    context: &Context<'_>,
) -> Result<Seen, CodecFailure> {
    let version = if format.tells_version() {
        0
    } else if let (None, true) = (context.version, format.oldest == format.newest) {
        format.oldest
    } else {
        version_of(context.version, format.name, (format.oldest, format.newest))?
    };
    let read = format.decode(bytes, version)?;
    let mut beside = Map::new();
    if !read.value.unknown_tags.is_empty() {
        let tags = read.value.unknown_tags.iter().map(|(number, data)| json!([number, hex(data)]));
        beside.insert("unknown_tags".into(), tags.collect());
    }
    let mut nested = Vec::new();
    nested_tags(&read.value, "", &mut nested);
    if !nested.is_empty() {
        beside.insert("nested_unknown_tags".into(), nested.into());
    }
    Ok(Seen { value: struct_json(&read.value), beside })
}

/// A struct as in the vectors, without its unknown tags.
pub(super) fn struct_json(value: &Struct<'_>) -> Value {
    let fields = value.fields.iter().map(|(name, value)| ((*name).to_owned(), field_json(value)));
    Value::Object(fields.collect())
}

fn field_json(value: &message::Value<'_>) -> Value {
    use message::Value as Wire;
    match value {
        Wire::Bool(value) => json!(value),
        Wire::Int(value) => json!(value),
        Wire::Uuid(value) => json!(hex(value)),
        Wire::Text(text) => json!(text.to_str_lossy()),
        Wire::String(text) => json!(text),
        Wire::Bytes(bytes) => json!(hex(bytes)),
        Wire::I32s(numbers) => json!(numbers),
        Wire::Texts(texts) => texts.iter().map(|text| json!(text.to_str_lossy())).collect(),
        Wire::Structs(structs) => structs.iter().map(struct_json).collect(),
        _ => Value::Null,
    }
}

/// The unknown tags of the structs inside: path, number, data.
fn nested_tags(value: &Struct<'_>, path: &str, found: &mut Vec<Value>) {
    for (name, value) in &value.fields {
        let message::Value::Structs(structs) = value else { continue };
        for (index, item) in structs.iter().enumerate() {
            let path = format!("{path}{name}/{index}");
            found.extend(item.unknown_tags.iter().map(|(number, data)| json!([path, number, hex(data)])));
            nested_tags(item, &format!("{path}/"), found);
        }
    }
}

pub(super) fn encode(
    format: &'static Format,
    version: Option<i32>,
    value: &Value,
    beside: &Map<String, Value>,
) -> Result<Vec<u8>, CodecFailure> {
    let version = if let (None, true) = (version, format.oldest == format.newest) {
        format.oldest
    } else {
        version_of(version, format.name, (format.oldest, format.newest))?
    };
    let mut made = read_struct(format.fields, &At::top(value))?;
    let tags = |key: &str| beside.get(key).cloned().unwrap_or_else(|| json!([]));
    let own = tags("unknown_tags");
    for item in (At { value: &own, path: "unknown_tags".into() }).items()? {
        let [number, data] = item.tuple("a [number, hex] pair")?;
        made.unknown_tags.push(tag(&number, &data)?);
    }
    let nested = tags("nested_unknown_tags");
    for item in (At { value: &nested, path: "nested_unknown_tags".into() }).items()? {
        let [path, number, data] = item.tuple("a [path, number, hex] triple")?;
        let place = struct_at(&mut made, path.text()?)
            .ok_or_else(|| path.wrong("the path of a struct, as members/0"))?;
        place.unknown_tags.push(tag(&number, &data)?);
    }
    Ok(format.encode(version, &made)?)
}

fn tag<'v>(number: &At<'_>, data: &At<'_>) -> Result<(u32, std::borrow::Cow<'v, [u8]>), CodecFailure> {
    let tag = u32::try_from(number.i64()?).map_err(|_| number.wrong("a tag's number"))?;
    Ok((tag, data.bytes()?.into()))
}

fn struct_at<'s, 'v>(within: &'s mut Struct<'v>, path: &str) -> Option<&'s mut Struct<'v>> {
    let mut steps = path.splitn(3, '/');
    let (name, index) = (steps.next()?, steps.next()?.parse::<usize>().ok()?);
    let (_, value) = within.fields.iter_mut().find(|(known, _)| *known == name)?;
    let message::Value::Structs(structs) = value else { return None };
    let item = structs.get_mut(index)?;
    match steps.next() {
        Some(rest) => struct_at(item, rest),
        None => Some(item),
    }
}

/// A struct from JSON: each key must be a field of the table, in whatever version.
fn read_struct<'v>(fields: &'static [Field], at: &At<'v>) -> Result<Struct<'v>, CodecFailure> {
    let known: Vec<&str> = fields.iter().map(|field| field.name).chain(["unknown_tags"]).collect();
    let object = at.object(&known)?;
    let mut made = Struct::default();
    for field in fields.iter().filter(|field| object.contains_key(field.name)) {
        made.set(field.name, read_field(field, &at.get(field.name))?);
    }
    for item in at.get("unknown_tags").nullable(At::items)?.into_iter().flatten() {
        let [number, data] = item.tuple("a [number, hex] pair")?;
        made.unknown_tags.push(tag(&number, &data)?);
    }
    Ok(made)
}

fn read_field<'v>(field: &Field, at: &At<'v>) -> Result<message::Value<'v>, CodecFailure> {
    use message::Value as Wire;
    if at.is_null() {
        return Ok(Wire::Null);
    }
    Ok(match field.kind {
        Kind::Bool => Wire::Bool(at.value.as_bool().ok_or_else(|| at.wrong("true or false"))?),
        Kind::Uuid => Wire::Uuid(at.uuid()?),
        Kind::Text | Kind::PlainText => Wire::Text(Text::from(at.text()?)),
        Kind::ModifiedUtf8 | Kind::Utf16 => Wire::String(at.text()?.to_owned()),
        Kind::Bytes => {
            Wire::Bytes(at.value.as_str().and_then(unhex).ok_or_else(|| at.wrong("hexadecimal text"))?.into())
        }
        Kind::I32s => Wire::I32s(at.items()?.map(|item| item.i32()).collect::<Result<_, _>>()?),
        Kind::Texts => {
            Wire::Texts(at.items()?.map(|item| item.text().map(Text::from)).collect::<Result<_, _>>()?)
        }
        Kind::Structs(fields) => {
            Wire::Structs(at.items()?.map(|item| read_struct(fields, &item)).collect::<Result<_, _>>()?)
        }
        _ => Wire::Int(at.i64()?),
    })
}
