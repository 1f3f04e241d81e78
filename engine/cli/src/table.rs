//! Tables for people: columns aligned by what a terminal shows, not by bytes.

use core::fmt::Write as _;

use unicode_width::UnicodeWidthStr as _;

use crate::console::HEAD;

/// Rows of text under a head; the first column is left-aligned, the others to the right.
pub(crate) struct Table {
    head: Vec<String>,
    rows: Vec<Vec<String>>,
    left: usize,
}

impl Table {
    /// An empty table; its first `left` columns are text, the others numbers.
    pub(crate) fn new(left: usize, head: &[&str]) -> Self {
        Self { head: head.iter().map(ToString::to_string).collect(), rows: Vec::new(), left }
    }

    /// Adds a row with a cell for each column.
    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// Appends the table to a text, with styles.
    pub(crate) fn write(&self, out: &mut String) {
        let widths: Vec<usize> = (0..self.head.len())
            .map(|at| {
                let cells = self.rows.iter().filter_map(|row| row.get(at));
                cells.chain([&self.head[at]]).map(|cell| cell.width()).max().unwrap_or(0)
            })
            .collect();
        self.line(out, &self.head, &widths, true);
        for row in &self.rows {
            self.line(out, row, &widths, false);
        }
    }

    fn line(&self, out: &mut String, cells: &[String], widths: &[usize], head: bool) {
        let mut line = String::new();
        for (at, (cell, width)) in cells.iter().zip(widths).enumerate() {
            if at > 0 {
                line.push_str("  ");
            }
            let pad = " ".repeat(width.saturating_sub(cell.width()));
            // Writing to a string does not fail.
            let _ = if at < self.left { write!(line, "{cell}{pad}") } else { write!(line, "{pad}{cell}") };
        }
        let line = line.trim_end();
        let _ = if head { writeln!(out, "{HEAD}{line}{HEAD:#}") } else { writeln!(out, "{line}") };
    }
}

/// A name as a terminal may show it: control characters escaped.
pub(crate) fn printable(name: &str) -> String {
    name.chars().fold(String::with_capacity(name.len()), |mut text, c| {
        if c.is_control() {
            text.extend(c.escape_default())
        } else {
            text.push(c)
        }
        text
    })
}

/// "1 partition", "2 partitions".
pub(crate) fn count(number: u64, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_align_by_what_is_shown() {
        let mut table = Table::new(1, &["member", "n"]);
        table.row(["é".to_string(), "1".to_string()]);
        table.row(["消費".to_string(), "100".to_string()]);
        let mut text = String::new();
        table.write(&mut text);
        let plain = anstream::adapter::strip_str(&text).to_string();
        assert_eq!(plain, "member    n\né         1\n消費    100\n");
    }

    #[test]
    fn a_name_cannot_drive_the_terminal() {
        assert_eq!(printable("a\u{1b}[2J\n"), "a\\u{1b}[2J\\n");
    }
}
