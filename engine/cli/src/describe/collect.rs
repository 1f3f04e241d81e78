//! From lines to groups.

use std::collections::BTreeMap;

use super::assignment::{self, Assignment, is_number};
use super::error::{DescribeErrorKind as Kind, quote};
use super::header::{self, Column, Header, Seen};
use super::{DescribeError, DescribedGroup, Options, header::Kind as Table, row};

/// A member as its rows show it.
#[derive(Default)]
pub(super) struct Member {
    pub(super) instance: Option<String>,
    pub(super) client: Option<String>,
    pub(super) host: Option<String>,
    pub(super) subscription: Option<Vec<String>>,
    /// `#PARTITIONS`, and the line.
    pub(super) count: Option<(u64, usize)>,
    /// The line of an `ASSIGNMENT` without topics.
    pub(super) nameless: Option<usize>,
}

/// A partition as its row shows it.
pub(super) struct Partition {
    pub(super) line: usize,
    pub(super) owner: Option<String>,
}

/// A group as far as it is read.
#[derive(Default)]
pub(super) struct Draft {
    pub(super) name: Option<String>,
    pub(super) assignor: Option<String>,
    pub(super) members: BTreeMap<String, Member>,
    pub(super) topics: BTreeMap<String, BTreeMap<u32, Partition>>,
    pub(super) rebalancing: bool,
    pub(super) by_owner: bool,
    /// Tables seen, so that a nameless second one of a kind begins another group.
    tables: [bool; 3],
}

/// Reads a text; see [`super::read`].
pub(super) fn read(text: &str, options: &Options) -> Result<Vec<DescribedGroup>, DescribeError> {
    let mut reader = Reader::default();
    for (at, line) in text.lines().enumerate() {
        reader.line(at + 1, line)?;
    }
    if !reader.any_table {
        return Err(reader.refusal(text));
    }
    let groups: Vec<Draft> = reader.groups.into_iter().filter(|group| group.shown()).collect();
    if groups.is_empty() {
        let reason = "no consumer group table with a row; the group has neither members nor offsets, or only its \
                      state is shown: add what --describe or --describe --members --verbose prints";
        return Err(DescribeError::whole(Kind::TooLittle, reason.to_string()));
    }
    groups.into_iter().map(|group| group.finish(options)).collect()
}

impl Draft {
    /// Whether the text shows more of it than a name.
    fn shown(&self) -> bool {
        !self.members.is_empty() || !self.topics.is_empty()
    }
}

#[derive(Default)]
struct Reader {
    groups: Vec<Draft>,
    /// Position of each named group.
    named: BTreeMap<String, usize>,
    header: Option<Header>,
    /// Whether a blank line or other text came since the header: then a line that does not fit is no row.
    loose: bool,
    /// The group of a table without a `GROUP` column.
    current: Option<usize>,
    /// The name that a prompt or a message gave last.
    told: Option<String>,
    /// What the last row began with.
    first_word: String,
    any_table: bool,
    almost: Option<(usize, &'static str)>,
    tool_error: Option<(usize, String)>,
}

impl Reader {
    fn line(&mut self, number: usize, line: &str) -> Result<(), DescribeError> {
        match header::recognize(line) {
            Seen::Header(header) => {
                self.begin(header);
                return Ok(());
            }
            Seen::Almost(why) => {
                self.almost.get_or_insert((number, why));
                self.header = None;
                return Ok(());
            }
            Seen::Other => {}
        }
        if line.trim().is_empty() || self.message(number, line) {
            self.loose = true;
            return Ok(());
        }
        let Some(header) = self.header.take() else { return Ok(()) };
        let first_word = line.split_whitespace().next().unwrap_or_default();
        if let Some((column, text)) = row::misfit(&header, line) {
            let name = match column {
                Column::Partition => "PARTITION",
                Column::Count => "the number of partitions",
                _ => "an offset, a lag or an epoch",
            };
            let reason = format!("{} stands where {name} belongs; give the print as it was", quote(&text));
            return Err(DescribeError::at(number, Kind::Row, reason));
        }
        let done = match row::split(&header, line) {
            Some(fields) => {
                self.first_word = first_word.to_string();
                self.row(number, &header, &fields)
            }
            None if self.loose || is_noise(line) || !self.resembles_row(&header, line, first_word) => {
                self.loose = true;
                Ok(())
            }
            None => Err(DescribeError::at(
                number,
                Kind::Row,
                format!(
                    "{} does not fit the columns of its table; give the print as it was, with its blanks",
                    quote(line)
                ),
            )),
        };
        self.header = Some(header);
        done
    }

    fn begin(&mut self, header: Header) {
        self.any_table = true;
        self.first_word.clear();
        self.loose = false;
        if !header.has(Column::Group) {
            let kind = header.kind as usize;
            let at = match (self.told.take(), self.current) {
                (Some(name), _) => self.group(&name),
                (None, Some(at)) if !self.groups[at].tables[kind] => at,
                (None, _) => {
                    self.groups.push(Draft::default());
                    self.groups.len() - 1
                }
            };
            self.groups[at].tables[kind] = true;
            self.current = Some(at);
        }
        self.header = Some(header);
    }

    /// Whether a line that does not fit is a row all the same, damaged, rather than something between rows.
    fn resembles_row(&self, header: &Header, line: &str, first_word: &str) -> bool {
        let fields = if header.commas { line.split(", ").count() } else { line.split_whitespace().count() };
        let prompt = line.split_whitespace().take(3).any(|word| word.ends_with(['$', '#', '%', '>']));
        !prompt && (first_word == self.first_word || fields + 2 >= header.columns.len())
    }

    fn group(&mut self, name: &str) -> usize {
        if let Some(&at) = self.named.get(name) {
            return at;
        }
        self.groups.push(Draft { name: Some(name.to_string()), ..Draft::default() });
        self.named.insert(name.to_string(), self.groups.len() - 1);
        self.groups.len() - 1
    }

    /// Takes in what the tool says beside its tables, and prompts.
    fn message(&mut self, number: usize, line: &str) -> bool {
        let line = line.trim_start();
        if let Some((name, rest)) = named_group(line) {
            let rebalancing = rest.contains("is rebalancing");
            if rest.contains("does not exist") {
                self.tool_error.get_or_insert((number, line.trim().to_string()));
            }
            if rebalancing {
                let at = self.group(&name);
                self.groups[at].rebalancing = true;
            }
            self.told = Some(name);
            return true;
        }
        if line.contains("kafka-consumer-groups") || line.contains("ConsumerGroupCommand ") {
            self.told = option_value(line, "--group");
            self.current = None;
            self.header = None;
            return true;
        }
        if line.contains("Executing consumer group command failed") || line.starts_with("Error") {
            self.tool_error.get_or_insert((number, line.trim().to_string()));
            return true;
        }
        line.starts_with("Note: ") || line.starts_with("Warning: ")
    }

    fn row(&mut self, line: usize, header: &Header, fields: &[String]) -> Result<(), DescribeError> {
        let field = |wanted: Column| {
            let at = header.columns.iter().position(|&(column, _)| column == wanted)?;
            let text = fields[at].as_str();
            (!text.is_empty() && text != "-").then_some(text)
        };
        let group = match (field(Column::Group), self.current) {
            (Some(name), _) => self.group(name),
            (None, Some(at)) if !header.has(Column::Group) => at,
            _ => {
                return Err(DescribeError::at(line, Kind::Row, "the GROUP field is empty".to_string()));
            }
        };
        let draft = &mut self.groups[group];
        match header.kind {
            Table::State => {
                if let Some(strategy) = field(Column::Strategy) {
                    draft.assignor = Some(strategy.to_string());
                }
                Ok(())
            }
            Table::Offsets => {
                let owner = draft.owner(&field);
                match (field(Column::Topic), field(Column::Partition)) {
                    (Some(topic), Some(partition)) => draft.partition(line, topic, partition, owner),
                    (None, None) => Ok(()),
                    _ => {
                        let reason = "TOPIC and PARTITION must both be given, or both be \"-\"".to_string();
                        Err(DescribeError::at(line, Kind::Row, reason))
                    }
                }
            }
            Table::Members => {
                let Some(id) = draft.owner(&field) else {
                    return Err(DescribeError::at(
                        line,
                        Kind::Row,
                        "the CONSUMER-ID field is empty".to_string(),
                    ));
                };
                let member = draft.members.entry(id.clone()).or_default();
                if let Some(count) = field(Column::Count) {
                    if !is_number(count) {
                        let reason = format!("{count} is no number of partitions");
                        return Err(DescribeError::at(line, Kind::Row, reason));
                    }
                    member.count = Some((count.parse().unwrap_or(u64::MAX), line));
                }
                if let Some(topics) = field(Column::Subscription) {
                    let topics = topics.split([',', ' ', ';']).filter(|topic| !topic.is_empty());
                    member.subscription = Some(topics.map(ToString::to_string).collect());
                }
                match field(Column::Assignment).and_then(assignment::parse) {
                    None => Ok(()),
                    Some(Assignment::Nameless) => {
                        member.nameless = Some(line);
                        Ok(())
                    }
                    Some(Assignment::Named(topics)) => {
                        for (topic, partitions) in topics {
                            for partition in partitions {
                                draft.partition(line, &topic, &partition, Some(id.clone()))?;
                            }
                        }
                        Ok(())
                    }
                }
            }
        }
    }

    /// Why a text without a table is none.
    fn refusal(self, text: &str) -> DescribeError {
        const NEEDED: &str = "no consumer group table: no line has the columns TOPIC and PARTITION with CONSUMER-ID \
                              or OWNER, nor CONSUMER-ID with #PARTITIONS";
        if let Some((line, why)) = self.almost {
            return DescribeError::at(line, Kind::NoTable, format!("no consumer group table: {why}"));
        }
        if let Some((line, said)) = self.tool_error {
            let reason = format!("no consumer group table: the tool said {}", quote(&said));
            return DescribeError::at(line, Kind::NoTable, reason);
        }
        let reason = if text.trim().is_empty() {
            "no consumer group table: the text is empty".to_string()
        } else if text.trim_start().starts_with(['{', '[']) && !text.trim_start().starts_with("[20") {
            format!(
                "{NEEDED}; it looks like JSON: a group snapshot is an object with \"topics\" and \"members\""
            )
        } else {
            format!(
                "{NEEDED}; give what kafka-consumer-groups.sh --describe prints, its header line included"
            )
        };
        DescribeError::whole(Kind::NoTable, reason)
    }
}

impl Draft {
    /// The id of a row's member, and what the row says of it.
    fn owner<'a>(&mut self, field: &impl Fn(Column) -> Option<&'a str>) -> Option<String> {
        if let Some(id) = field(Column::Consumer) {
            let owned = |column| field(column).map(ToString::to_string);
            let (host, client) = part_host_from_client(id, owned(Column::Host), owned(Column::Client));
            let member = self.members.entry(id.to_string()).or_default();
            member.instance = owned(Column::Instance).or(member.instance.take());
            member.host = host.or(member.host.take());
            member.client = client.or(member.client.take());
            return Some(id.to_string());
        }
        let owner = field(Column::Owner).filter(|&owner| owner != "none")?;
        self.by_owner = true;
        let member = self.members.entry(owner.to_string()).or_default();
        // A Java consumer is shown as client id, underscore, host; an old one by its thread.
        if let Some(at) = owner.rfind("_/") {
            member.client = Some(owner[..at].to_string());
            member.host = Some(owner[at + 1..].to_string());
        }
        Some(owner.to_string())
    }

    fn partition(
        &mut self,
        line: usize,
        topic: &str,
        number: &str,
        owner: Option<String>,
    ) -> Result<(), DescribeError> {
        let Some(number) = number.parse::<u32>().ok().filter(|&number| number < i32::MAX as u32) else {
            let reason = format!("{number} is no partition number: Kafka's go from 0 to {}", i32::MAX - 1);
            return Err(DescribeError::at(line, Kind::Partition, reason));
        };
        if !self.topics.contains_key(topic) {
            self.topics.insert(topic.to_string(), BTreeMap::new());
        }
        let Some(partitions) = self.topics.get_mut(topic) else { return Ok(()) };
        let known = partitions.entry(number).or_insert(Partition { line, owner: None });
        match (&known.owner, &owner) {
            (Some(a), Some(b)) if a != b => {
                let reason = format!(
                    "partition {number} of {topic:?} is owned by {}, but by {} in line {}; the text seems to hold \
                     prints of different moments: keep one",
                    quote(b),
                    quote(a),
                    known.line
                );
                Err(DescribeError::at(line, Kind::TwoOwners, reason))
            }
            (None, Some(_)) => {
                *known = Partition { line, owner };
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

/// Before 1.1 a host as wide as its column (IPv6) runs into the client id; the member id begins with that id.
fn part_host_from_client(
    id: &str,
    host: Option<String>,
    client: Option<String>,
) -> (Option<String>, Option<String>) {
    const UUID: usize = "-00000000-0000-0000-0000-000000000000".len();
    let named = id.len().checked_sub(UUID).and_then(|at| id.get(..at)).filter(|named| !named.is_empty());
    let (Some(named), Some(text)) = (named, &host) else { return (host, client) };
    if client.as_deref() == Some(named) {
        return (host, client);
    }
    let joined = match &client {
        Some(rest) => format!("{text} {rest}"),
        None => text.clone(),
    };
    match joined.strip_suffix(named).filter(|host| host.len() > 1 && host.starts_with('/')) {
        Some(parted) => (Some(parted.trim_end().to_string()), Some(named.to_string())),
        None => (host, client),
    }
}

/// Lines that tools and shells put between rows.
fn is_noise(line: &str) -> bool {
    let line = line.trim_start();
    let starts =
        ["[", "log4j", "SLF4J", "WARN", "INFO", "DEBUG", "ERROR", "at ", "Caused by", "$ ", "# ", "> ", "% "];
    starts.iter().any(|start| line.starts_with(start))
        || line.contains("Exception")
        || line.starts_with(|c: char| c.is_ascii_digit())
            && (line.contains(" WARN ") || line.contains(" INFO "))
}

/// The group that a message names in quotes, and what follows it.
fn named_group(line: &str) -> Option<(String, &str)> {
    let rest = &line[line.find("onsumer group ")? + "onsumer group ".len()..];
    let open = rest.chars().next().filter(|c| "'`\"".contains(*c))?;
    let rest = &rest[1..];
    // The name may hold quotes itself, so the message is looked for from its end.
    ["has no active", "is rebalancing", "does not exist", "is in"].iter().find_map(|said| {
        let said = rest.rfind(said)?;
        let name = rest[..said].trim_end().strip_suffix(open)?;
        Some((name.to_string(), &rest[said..]))
    })
}

/// The value of an option of a command line, unquoted.
fn option_value(line: &str, option: &str) -> Option<String> {
    let at = line.match_indices(option).map(|(at, _)| &line[at + option.len()..]);
    let rest = at.into_iter().find_map(|rest| rest.strip_prefix([' ', '=']))?.trim_start();
    let quoted = rest.chars().next().filter(|c| "'\"".contains(*c));
    let value = match quoted {
        Some(quote) => rest[1..].split(quote).next()?,
        None => rest.split_whitespace().next()?,
    };
    (!value.is_empty()).then(|| value.to_string())
}
