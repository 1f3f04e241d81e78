//! The `ASSIGNMENT` column of `--members --verbose`.

/// What a cell says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Assignment {
    /// Topics with the digits of their partition numbers, not yet checked.
    Named(Vec<(String, Vec<String>)>),
    /// Partition lists without topics, as some versions of the tool print them (3.9.1 does).
    Nameless,
}

/// Whether a name is legal for a topic.
pub(super) fn is_topic(name: &str) -> bool {
    (1..=249).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte))
}

/// Whether a text is a plain number.
pub(super) fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Reads `orders(0,1), clicks(2)`, `(0,1), (2)`, `orders:0,1;clicks:2`, or nothing (`-`).
pub(super) fn parse(cell: &str) -> Option<Assignment> {
    let cell = cell.trim();
    if cell.is_empty() || cell == "-" {
        return Some(Assignment::Named(Vec::new()));
    }
    if cell.contains('(') { parenthesized(cell) } else { colons(cell) }
}

fn numbers(list: &str) -> Option<Vec<String>> {
    list.split(',')
        .map(str::trim)
        .filter(|number| !number.is_empty())
        .map(|number| is_number(number).then(|| number.to_string()))
        .collect()
}

fn parenthesized(cell: &str) -> Option<Assignment> {
    let mut topics = Vec::new();
    let mut nameless = false;
    let mut rest = cell;
    while !rest.is_empty() {
        let open = rest.find('(')?;
        let close = open + rest[open..].find(')')?;
        let name = rest[..open].trim();
        let list = numbers(&rest[open + 1..close])?;
        if name.is_empty() {
            nameless = true;
        } else if is_topic(name) {
            topics.push((name.to_string(), list));
        } else {
            return None;
        }
        rest = rest[close + 1..].trim_start_matches([',', ' ']);
    }
    match (nameless, topics.is_empty()) {
        (false, _) => Some(Assignment::Named(topics)),
        (true, true) => Some(Assignment::Nameless),
        (true, false) => None,
    }
}

fn colons(cell: &str) -> Option<Assignment> {
    let mut topics = Vec::new();
    for part in cell.split(';').map(str::trim).filter(|part| !part.is_empty()) {
        let (name, list) = part.split_once(':')?;
        if !is_topic(name.trim()) {
            return None;
        }
        topics.push((name.trim().to_string(), numbers(list)?));
    }
    Some(Assignment::Named(topics))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(topics: &[(&str, &[&str])]) -> Option<Assignment> {
        let own = |list: &[&str]| list.iter().map(|n| (*n).to_string()).collect();
        Some(Assignment::Named(topics.iter().map(|(t, list)| ((*t).to_string(), own(list))).collect()))
    }

    #[test]
    fn all_forms() {
        assert_eq!(parse("-"), named(&[]));
        assert_eq!(parse(""), named(&[]));
        assert_eq!(parse("t1(0,1,2), t2(3)"), named(&[("t1", &["0", "1", "2"]), ("t2", &["3"])]));
        assert_eq!(parse("a.b_c-d(7)"), named(&[("a.b_c-d", &["7"])]));
        assert_eq!(parse("t1:0,1;t2:3"), named(&[("t1", &["0", "1"]), ("t2", &["3"])]));
        assert_eq!(parse("(0,1), (4)"), Some(Assignment::Nameless));
        for bad in ["t1(0", "t1)0(", "t 1(0)", "t1(x)", "t1", "t1:-3", "t1(0), (1)", "t1:1:2"] {
            assert_eq!(parse(bad), None, "{bad}");
        }
    }
}
