//! Headers: which columns a table has and where they stand.

/// What a column holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Column {
    Group,
    Topic,
    Partition,
    /// Offsets, lags, epochs.
    Number,
    /// How many partitions or members.
    Count,
    Consumer,
    Instance,
    Host,
    Client,
    /// Client id and host, or the thread of an old consumer.
    Owner,
    Assignment,
    /// What a member will own once others let go (4.x).
    Target,
    Subscription,
    Strategy,
    /// Anything else.
    Text,
}

/// Which table it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// A row for each partition.
    Offsets,
    /// A row for each member.
    Members,
    /// A row for each group.
    State,
}

/// One table's header.
#[derive(Clone, Debug)]
pub(super) struct Header {
    pub(super) kind: Kind,
    /// Columns with the position at which they begin, in UTF-16 units as the tool's format counts.
    pub(super) columns: Vec<(Column, usize)>,
    /// Fields parted by a comma and a blank (0.9).
    pub(super) commas: bool,
}

impl Header {
    pub(super) fn has(&self, column: Column) -> bool {
        self.columns.iter().any(|&(each, _)| each == column)
    }
}

/// What a line is, as far as headers go.
#[derive(Debug)]
pub(super) enum Seen {
    Header(Header),
    /// Almost a header: why it is none.
    Almost(&'static str),
    Other,
}

fn column(name: &str) -> Option<Column> {
    Some(match name {
        "GROUP" => Column::Group,
        "TOPIC" => Column::Topic,
        "PARTITION" => Column::Partition,
        "CONSUMER-ID" => Column::Consumer,
        "GROUP-INSTANCE-ID" => Column::Instance,
        "HOST" => Column::Host,
        "CLIENT-ID" => Column::Client,
        "OWNER" => Column::Owner,
        "#PARTITIONS" | "#MEMBERS" => Column::Count,
        "ASSIGNMENT" | "CURRENT-ASSIGNMENT" => Column::Assignment,
        "TARGET-ASSIGNMENT" => Column::Target,
        "SUBSCRIPTION" | "SUBSCRIPTIONS" | "SUBSCRIBED-TOPICS" | "TOPICS" => Column::Subscription,
        "ASSIGNMENT-STRATEGY" => Column::Strategy,
        "COORDINATOR" | "COORDINATOR (ID)" | "STATE" | "UPGRADED" => Column::Text,
        "LAG" | "CURRENT OFFSET" | "LOG END OFFSET" => Column::Number,
        _ if name.ends_with("-OFFSET") || name.ends_with("-EPOCH") => Column::Number,
        _ => return None,
    })
}

/// Recognizes a header.
///
/// Columns of a later version that are not known are passed over, if their names look like column names.
pub(super) fn recognize(line: &str) -> Seen {
    let Some((columns, commas)) = split(line) else { return Seen::Other };
    let has = |wanted: Column| columns.iter().any(|&(column, _)| column == wanted);
    let kind = if has(Column::Topic) && has(Column::Partition) {
        if !has(Column::Consumer) && !has(Column::Owner) {
            return Seen::Almost(
                "the table has neither CONSUMER-ID nor OWNER, so it does not say who owns a partition; \
                 give what --describe prints for a consumer group",
            );
        }
        Kind::Offsets
    } else if has(Column::Consumer) && (has(Column::Count) || has(Column::Assignment)) {
        Kind::Members
    } else if has(Column::Strategy) && has(Column::Count) {
        Kind::State
    } else if has(Column::Consumer) || has(Column::Partition) && has(Column::Number) {
        return Seen::Almost(
            "the header lacks columns: TOPIC and PARTITION with CONSUMER-ID or OWNER are needed, or CONSUMER-ID \
             with #PARTITIONS; give the whole print",
        );
    } else {
        return Seen::Other;
    };
    Seen::Header(Header { kind, columns, commas })
}

/// More columns than any version prints.
const COLUMN_LIMIT: usize = 32;

/// Names and positions, if all of the line looks like column names and at least two are known.
fn split(line: &str) -> Option<(Vec<(Column, usize)>, bool)> {
    let mut columns = Vec::new();
    let mut known = 0;
    let mut add = |name: &str, at: usize| {
        let column = column(name);
        known += usize::from(column.is_some());
        columns.push((column.unwrap_or(Column::Text), at));
    };
    let commas = line.contains(", ");
    if commas {
        for name in line.trim().split(", ") {
            column(name)?;
            add(name, 0);
        }
    } else {
        // ASCII only, so bytes are UTF-16 units.
        if !line.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b" \t-#()_".contains(&b)) {
            return None;
        }
        let mut rest = line.trim_end();
        let mut at = 0;
        while let Some(skip) = rest.find(|c: char| !c.is_ascii_whitespace()) {
            at += skip;
            rest = &rest[skip..];
            let mut end = rest.find(|c: char| c.is_ascii_whitespace()).unwrap_or(rest.len());
            if rest[end..].starts_with(" (ID)") {
                end += " (ID)".len();
            }
            add(&rest[..end], at);
            at += end;
            rest = &rest[end..];
        }
    }
    (known >= 2 && columns.len() <= COLUMN_LIMIT).then_some((columns, commas))
}
