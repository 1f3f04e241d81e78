//! The report as Markdown and as raw figures.

use core::fmt::Write as _;

use super::{LIMIT, Pattern, Row, TOPICS, Way, reaches_limit};

/// The raw figures: a line for each pattern, number of topics and of partitions owned.
pub fn csv<'a>(rows: impl Iterator<Item = &'a Row>) -> String {
    let ways: Vec<&str> = Way::ALL.iter().map(|way| way.name()).collect();
    let mut text = format!("pattern,topics,owned,entropy,{}\n", ways.join(","));
    for row in rows {
        let bytes: Vec<String> = row.bytes.iter().map(ToString::to_string).collect();
        // Writing to a string does not fail.
        let _ = writeln!(
            text,
            "{},{},{},{:.0},{}",
            row.pattern.name(),
            row.topics,
            row.owned,
            row.entropy,
            bytes.join(",")
        );
    }
    text
}

/// The report around the raw figures.
pub fn markdown(rows: &[Row]) -> String {
    let mut text = String::from(
        "# What ownership takes\n\n\
         Bytes in which one member of ten says which partitions it has, with generation and lengths, without the topics that \
         it subscribes to. Each figure was written by its codec, Tenure's read back and compared.\n\n\
         Made by `cargo run --release -p tenure-bench --example size`; every figure is in `raw.csv`, and a test holds a part \
         of it against the codecs.\n\n\
         ![bytes by partitions owned, and by topics](size.svg)\n\n\
         - *kafka-cooperative*: `ownedPartitions` and user data of `cooperative-sticky`; *kafka-sticky*: user data of `sticky`.\n\
         - *roaring-by-topic*: topic names, each with a Roaring bitmap; *roaring*: one bitmap over all partitions; *varints*: \
         what lies between partitions, as varints. All with a generation of four bytes, and without checksum, rack or a way \
         to know topics again; *tenure* has those.\n\
         - *entropy*: log2 of the number of ways to own so many of all. No code does with less on average over all of them; \
         regular patterns can.\n",
    );
    let (topics, owned) = (100, 10_000);
    for pattern in Pattern::ALL {
        let title = format!("{}, {topics} topics, by partitions owned", pattern.name());
        let picked = rows.iter().filter(|row| row.pattern == pattern && row.topics == topics);
        table(&mut text, &title, "owned", picked.map(|row| (row.owned.to_string(), row)));
        let title = format!("{}, {owned} partitions owned, by topics", pattern.name());
        let near = |row: &&Row| row.pattern == pattern && row.owned.abs_diff(owned) < owned / 5;
        table(&mut text, &title, "topics", rows.iter().filter(near).map(|row| (row.topics.to_string(), row)));
    }
    crossings(&mut text);
    text
}

fn table<'a>(text: &mut String, title: &str, first: &str, rows: impl Iterator<Item = (String, &'a Row)>) {
    let ways: Vec<&str> = Way::ALL.iter().map(|way| way.name()).collect();
    // Writing to a string does not fail.
    let _ = writeln!(text, "\n## {title}\n\n| {first} | entropy | {} |", ways.join(" | "));
    let _ = writeln!(text, "|{}", "--:|".repeat(2 + ways.len()));
    for (name, row) in rows {
        let bytes: Vec<String> = row.bytes.iter().map(ToString::to_string).collect();
        let _ = writeln!(text, "| {name} | {:.0} | {} |", row.entropy, bytes.join(" | "));
    }
}

fn crossings(text: &mut String) {
    let ways: Vec<&str> = Way::ALL.iter().map(|way| way.name()).collect();
    let _ = write!(
        text,
        "\n## Where it reaches 1 MB\n\n\
         Partitions of a group of ten whose members' ownership takes {LIMIT} bytes all together, which is what a broker \
         puts into one record by default, to within a hundredth. The record holds the topics subscribed to and the \
         assignments as well: `tenure budget` counts all of it.\n\n\
         | pattern | topics | {} |\n|---|--:|{}\n",
        ways.join(" | "),
        "--:|".repeat(ways.len())
    );
    for pattern in Pattern::ALL {
        for topics in TOPICS {
            let partitions: Vec<String> = Way::ALL
                .iter()
                .map(|&way| match reaches_limit(pattern, topics, way) {
                    Some(partitions) => partitions.to_string(),
                    None => "> 8,000,000".to_owned(),
                })
                .collect();
            let _ = writeln!(text, "| {} | {topics} | {} |", pattern.name(), partitions.join(" | "));
        }
    }
}
