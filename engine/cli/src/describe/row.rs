//! Rows: a line split into the fields of its table's columns.
//!
//! The tool prints each field left-aligned in a column of some width and then one blank. A field wider than its
//! column pushes the rest of the line to the right. So a field ends where its column does, or, if it overflows,
//! at some later blank (before 1.1 also directly at the host's slash: the column before `HOST` had no blank of its
//! own); the field's kind (a number, a topic, a host) tells which ends are possible, and the split
//! that fits all columns is taken. Where none does, as in text whose runs of blanks were folded, words are counted.

use super::assignment::{is_number, is_topic, parse};
use super::header::{Column, Header};

/// The fields of a line, in the order of the header's columns; `None` if it does not fit.
pub(super) fn split(header: &Header, line: &str) -> Option<Vec<String>> {
    let line = line.trim_end();
    if header.commas {
        return by_commas(header, line);
    }
    by_position(header, line).or_else(|| by_words(header, line))
}

/// Whether a text may stand in a column.
fn fits(column: Column, text: &str) -> bool {
    let absent = text == "-";
    match column {
        Column::Group => !text.is_empty(),
        Column::Topic => absent || is_topic(text),
        // A number that no partition has is refused as such, where the row is taken in; see `misfit`.
        Column::Partition | Column::Count => absent || is_number(unsigned(text)),
        Column::Number => absent || text == "unknown" || is_number(unsigned(text)),
        Column::Consumer => !text.is_empty(),
        Column::Host => !text.is_empty() && !text.contains(' '),
        Column::Strategy => !text.contains(' '),
        Column::Assignment => parse(text).is_some(),
        Column::Instance | Column::Client | Column::Owner | Column::Subscription => true,
        Column::Target | Column::Text => true,
    }
}

fn unsigned(text: &str) -> &str {
    text.strip_prefix('-').unwrap_or(text)
}

/// The field of a line that stands exactly in its columns and has no number where one belongs.
///
/// Such a line must not be split in another way: what stands left of the damage would become part of the group's
/// name, and the row would be read as another group's.
pub(super) fn misfit(header: &Header, line: &str) -> Option<(Column, String)> {
    let units: Vec<u16> = line.trim_end().encode_utf16().collect();
    let columns = &header.columns;
    let last = columns.last()?.1;
    if header.commas || units.len() <= last {
        return None;
    }
    let mut wrong = None;
    for (at, &(column, start)) in columns.iter().enumerate() {
        let end = columns.get(at + 1).map_or(units.len(), |&(_, next)| next);
        if units[start] == BLANK || (start > 0 && units[start - 1] != BLANK) {
            return None;
        }
        let text = String::from_utf16_lossy(&units[start..end]).trim().to_string();
        if fits(column, &text) && !text.contains("  ") {
            continue;
        }
        let number = matches!(column, Column::Partition | Column::Count | Column::Number);
        if !number || wrong.is_some() || text.contains(' ') {
            return None;
        }
        wrong = Some((column, text));
    }
    wrong
}

fn by_position(header: &Header, line: &str) -> Option<Vec<String>> {
    let units: Vec<u16> = line.encode_utf16().collect();
    let mut splitter = Splitter {
        columns: &header.columns,
        units: &units,
        dead: vec![false; (units.len() + 2) * header.columns.len()],
        budget: 64 * units.len() + 4096,
        fields: Vec::with_capacity(header.columns.len()),
    };
    let first = header.columns.first()?.1;
    // What stands left of the first column belongs to no column.
    if units.iter().take(first).any(|&unit| unit != BLANK) || units.len() <= first {
        return None;
    }
    splitter.fit(0, first).then_some(splitter.fields)
}

const BLANK: u16 = b' ' as u16;
const SLASH: u16 = b'/' as u16;

struct Splitter<'a> {
    columns: &'a [(Column, usize)],
    units: &'a [u16],
    /// (column, position) from which no split fits: each is tried once.
    dead: Vec<bool>,
    /// Units that may still be looked at: a line made to be ambiguous is given up, not searched for ever.
    budget: usize,
    fields: Vec<String>,
}

impl Splitter<'_> {
    fn text(&self, from: usize, to: usize) -> String {
        let (from, to) = (from.min(self.units.len()), to.min(self.units.len()));
        String::from_utf16_lossy(&self.units[from..to]).trim().to_string()
    }

    /// Fits the columns from `at` on, the first of them beginning at `from`.
    fn fit(&mut self, at: usize, from: usize) -> bool {
        let Some(&(column, start)) = self.columns.get(at) else { return true };
        let from = from.min(self.units.len() + 1);
        let key = at * (self.units.len() + 2) + from;
        if self.dead[key] {
            return false;
        }
        let Some(&(_, next)) = self.columns.get(at + 1) else {
            let text = self.text(from, self.units.len());
            let fits = fits(column, &text);
            if fits {
                self.fields.push(text);
            }
            self.dead[key] = !fits;
            return fits;
        };
        let width = (next - start).saturating_sub(1);
        let nominal = from + width;
        if self.units.get(nominal).is_none_or(|&unit| unit == BLANK)
            && self.take(at, from, nominal, nominal + 1)
        {
            return true;
        }
        // Wider than the column: no blank at either end, then one blank.
        // Two blanks part columns: a group that ran on over them would swallow its neighbours.
        let is_group = column == Column::Group;
        let gap = |pair: &[u16]| pair == [BLANK, BLANK];
        let parted =
            is_group && self.units.get(from..=nominal).is_some_and(|units| units.windows(2).any(gap));
        if !parted && self.units.get(from).is_some_and(|&unit| unit != BLANK) {
            let before_host = self.columns[at + 1].0 == Column::Host;
            for end in nominal + 1..self.units.len() {
                let after_text = self.units[end - 1] != BLANK;
                if is_group && !after_text && self.units[end] == BLANK {
                    break;
                }
                let found = match self.units[end] {
                    BLANK => after_text && self.take(at, from, end, end + 1),
                    SLASH => after_text && before_host && self.take(at, from, end, end),
                    _ => false,
                };
                if found {
                    return true;
                }
            }
        }
        // Wider than the column and the last of the line: the fields behind it are empty.
        let end = self.units.len();
        if nominal < end && self.take(at, from, end, end + 1) {
            return true;
        }
        self.dead[key] = true;
        false
    }

    fn take(&mut self, at: usize, from: usize, to: usize, next: usize) -> bool {
        let Some(budget) = self.budget.checked_sub(to.min(self.units.len()).saturating_sub(from) + 1) else {
            return false;
        };
        self.budget = budget;
        let text = self.text(from, to);
        if !fits(self.columns[at].0, &text) {
            return false;
        }
        let mark = self.fields.len();
        self.fields.push(text);
        let fits = self.fit(at + 1, next);
        if !fits {
            self.fields.truncate(mark);
        }
        fits
    }
}

/// One word a column; the last column takes what is left.
fn by_words(header: &Header, line: &str) -> Option<Vec<String>> {
    let count = header.columns.len();
    let mut fields: Vec<String> = Vec::with_capacity(count);
    let mut rest = line.trim_start();
    for at in 0..count {
        let end =
            if at + 1 == count { rest.len() } else { rest.find(char::is_whitespace).unwrap_or(rest.len()) };
        let field = &rest[..end];
        if field.is_empty() || !fits(header.columns[at].0, field) {
            return None;
        }
        fields.push(field.to_string());
        rest = rest[end..].trim_start();
    }
    Some(fields)
}

/// The 0.9 form. Group and owner may hold the separator, the fields between them can't.
fn by_commas(header: &Header, line: &str) -> Option<Vec<String>> {
    let parts: Vec<&str> = line.split(", ").collect();
    let spare = parts.len().checked_sub(header.columns.len())?;
    (0..=spare).find_map(|first| {
        let mut fields = Vec::with_capacity(header.columns.len());
        fields.push(parts[..=first].join(", "));
        let last = header.columns.len() - 1;
        fields.extend(parts[first + 1..first + last].iter().map(|part| part.trim().to_string()));
        fields.push(parts[first + last..].join(", "));
        let fit = header.columns.iter().zip(&fields).all(|(&(column, _), field)| fits(column, field));
        fit.then_some(fields)
    })
}
