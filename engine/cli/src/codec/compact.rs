//! Tenure's compact user data.
//!
//! Its topics are places in the list of the subscription around it: the context gives the list. Without it the checksum
//! can't be compared, and topics are told by their place.

use serde_json::{Map, Value, json};
use tenure::codec::compact::{CompactFields, CompactUserData, Encoding, MAGIC, Owned, TopicList};
use tenure::codec::{DecodeError, Names, Reader, SubscriptionFields};

use super::explain::{Explained, Fields};
use super::parse::{At, BlockList, ELEMENTS_MAX};
use super::{CodecFailure, Context, Seen, hex};

/// The name of the format.
pub(super) const NAME: &str = "tenure-userdata";

/// The key of the topic list beside a value.
const TOPIC_LIST: &str = "topic_list";

/// Reads data beside the list of the context, if that has one, and calls back with it.
fn with_list<T>(
    bytes: &[u8],
    context: &Context<'_>,
    then: impl FnOnce(Result<CompactUserData<'_>, DecodeError>) -> T,
) -> T {
    let Some(topics) = context.topics else { return then(CompactUserData::decode_alone(bytes)) };
    let topics: Vec<&str> = topics.iter().map(String::as_str).collect();
    // The list as it stands in a subscription: behind the version, in front of the user data.
    let around = SubscriptionFields { topics: &topics, ..Default::default() }.encode(0).unwrap_or_default();
    let mut reader = Reader::new(around.get(2..).unwrap_or_default());
    match Names::decode(&mut reader, "topics", "topic") {
        Ok(names) => then(CompactUserData::decode(bytes, names)),
        Err(error) => then(Err(error)),
    }
}

/// The claims as blocks; topics without a name by their place.
pub(super) fn owned_json(read: &CompactUserData<'_>) -> Result<Vec<Value>, CodecFailure> {
    if read.partition_count() > ELEMENTS_MAX {
        let expected =
            format!("{ELEMENTS_MAX} partitions at most, to be shown; these are {}", read.partition_count());
        return Err(CodecFailure::form("owned", expected));
    }
    let mut blocks: Vec<(u32, Vec<u32>)> = Vec::new();
    for range in read.ranges() {
        match blocks.last_mut() {
            Some((topic, partitions)) if *topic == range.topic => partitions.extend(range.from..=range.to),
            _ => blocks.push((range.topic, (range.from..=range.to).collect())),
        }
    }
    let block = |(number, partitions)| match (read.topic_name(number), read.topic_place(number)) {
        (Some(name), _) => json!({"topic": name.to_str_lossy(), "partitions": partitions}),
        (None, place) => json!({"place": place, "partitions": partitions}),
    };
    Ok(blocks.into_iter().map(block).collect())
}

pub(super) fn decode(bytes: &[u8], context: &Context<'_>) -> Result<Seen, CodecFailure> {
    with_list(bytes, context, |read| {
        let read = read?;
        let mut value = json!({
            "generation": read.generation(),
            "rack": read.rack().map(|rack| rack.to_str_lossy()),
            "encoding": read.encoding().name(),
            "stride": read.stride(),
            "owned": owned_json(&read)?,
        });
        if let (false, Some(object)) = (read.extension().is_empty(), value.as_object_mut()) {
            object.insert("extension".into(), json!(hex(read.extension())));
        }
        let mut beside = Map::new();
        if let Some(topics) = context.topics {
            beside.insert(TOPIC_LIST.into(), json!(topics));
        }
        Ok(Seen { value, beside })
    })
}

pub(super) fn encode(value: &Value, beside: &Map<String, Value>) -> Result<Vec<u8>, CodecFailure> {
    let at = At::top(value);
    at.object(&["generation", "rack", "encoding", "stride", "owned"])?;
    let list = beside.get(TOPIC_LIST).map(|list| At { value: list, path: TOPIC_LIST.into() });
    let list = list.ok_or_else(|| {
        CodecFailure::form(
            TOPIC_LIST,
            "given beside the value: the topics of the subscription that the data goes into",
        )
    })?;
    let topics = list.items()?.map(|item| item.text()).collect::<Result<Vec<_>, _>>()?;
    let owned = BlockList::read(&at.get("owned"))?;
    let encoding = at.get("encoding").nullable(At::text)?;
    let encoding = encoding.map(|name| {
        let known = Encoding::ALL.into_iter().find(|known| known.name() == name);
        known.ok_or_else(|| {
            at.get("encoding").wrong("runs, deltas, roaring, rice, bits, or left out for the shortest")
        })
    });
    let fields = CompactFields {
        topics: &TopicList::new(&topics)?,
        owned: Owned::Blocks(&owned.fields()),
        generation: at.get("generation").nullable(At::i32)?,
        rack: at.get("rack").nullable(At::text)?,
        encoding: encoding.transpose()?,
    };
    Ok(fields.encode()?)
}

/// Rows of fields with their offsets, and what is wrong where the reading ends.
pub(super) fn explain(bytes: &[u8], context: &Context<'_>) -> Explained {
    let mut fields = Fields::default();
    let fault = with_list(bytes, context, |read| {
        // Fields are shown as far as they can be found, be the checksum right or not.
        let shown = rows(bytes, &mut fields);
        match read.err().or(shown.err()) {
            Some(error) => {
                fields.fault(error.at, error.field, &error.kind.to_string(), bytes.len());
                Some(CodecFailure::from(error))
            }
            None => None,
        }
    });
    Explained { pieces: fields.pieces, fault }
}

/// The fields that are the same for all encodings, then the payload as a whole.
fn rows(bytes: &[u8], fields: &mut Fields) -> Result<(), DecodeError> {
    let mut reader = Reader::new(bytes);
    reader.array::<2>("magic")?;
    if !CompactUserData::is_format(bytes) {
        return Ok(());
    }
    fields.row(0..MAGIC.len(), "magic", "TC");
    let [version] = reader.array("version")?;
    fields.row(2..3, "version", &version.to_string());
    let [kind] = reader.array("kind")?;
    let encoding = Encoding::from_id(kind & 7).map_or("unknown", Encoding::name);
    let flags = ["generation", "rack", "names", "counts", "extension"];
    let set = flags.iter().enumerate().filter(|(bit, _)| kind >> (bit + 3) & 1 != 0);
    let kinds: Vec<&str> = core::iter::once(encoding).chain(set.map(|(_, name)| *name)).collect();
    fields.row(3..4, "kind", &kinds.join(", "));
    let from = reader.at();
    let len = reader.uvar("length")?;
    fields.row(from..reader.at(), "length", &len.to_string());
    let Ok(read) = CompactUserData::decode_alone(bytes) else { return Ok(()) };
    let end = read.encoded_len();
    let payload = end.saturating_sub(4 + read.payload_len())..end.saturating_sub(4);
    if let Some(generation) = read.generation() {
        let from = reader.at();
        reader.uvar("generation")?;
        fields.row(from..reader.at(), "generation", &generation.to_string());
    }
    if let Some(rack) = read.rack() {
        let from = reader.at();
        let len = reader.uvar("rack")?;
        reader.take(len as usize, "rack")?;
        fields.row(from..reader.at(), "rack", &format!("{:?}", rack.to_str_lossy()));
    }
    if kind & 0x80 != 0 {
        let from = reader.at();
        let len = reader.uvar("extension")?;
        reader.take(len as usize, "extension")?;
        fields.row(from..reader.at(), "extension", &hex(read.extension()));
    }
    if !read.literals().is_empty() {
        let from = reader.at();
        reader.uvar("names")?;
        fields.row(from..reader.at(), "names", &read.literals().len().to_string());
        for (nth, name) in read.literals().iter().enumerate() {
            let from = reader.at();
            let len = reader.uvar("name")?;
            reader.take(len as usize, "name")?;
            fields.row(from..reader.at(), &format!("names[{nth}]"), &format!("{:?}", name.to_str_lossy()));
        }
    }
    let space = reader.at()..payload.start;
    match read.stride() {
        Some(stride) => fields.row(space, "stride", &stride.to_string()),
        None => fields.row(space, "counts", "each topic has its own"),
    }
    let count = read.partition_count();
    fields.row(payload.clone(), "payload", &format!("{count} partitions as {encoding}"));
    let checksum = bytes.get(payload.end..end).map(hex).unwrap_or_default();
    fields.row(payload.end..end, "checksum", &checksum);
    if end < bytes.len() {
        fields.row(end..bytes.len(), "", &format!("{} bytes not read", bytes.len() - end));
    }
    Ok(())
}
