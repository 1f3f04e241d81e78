//! Every print of `datasets/describe` is read as the `.json` beside it says.
//!
//! With `TENURE_WRITE_EXPECTED=1` the files are written anew: then look at the difference before you keep it.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};
use tenure::plan::{Assignor, Config, Strategy};
use tenure_cli::describe::{
    DescribeErrorKind, DescribedGroup, DescribedMember, Options, Subscriptions, may_be_print, read,
};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../datasets/describe")
}

fn samples() -> Vec<(String, String)> {
    let mut samples: Vec<(String, String)> = fs::read_dir(folder())
        .expect("datasets/describe")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "txt"))
        .map(|path| {
            let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
            (name, fs::read_to_string(&path).expect("text"))
        })
        .collect();
    samples.sort();
    samples
}

fn sample(name: &str) -> String {
    fs::read_to_string(folder().join(format!("{name}.txt"))).expect("a sample")
}

fn member_json(member: &DescribedMember) -> Value {
    json!({
        "instance": member.instance,
        "client": member.client,
        "host": member.host,
        "owned": member.owned,
        "subscribed": member.subscribed,
        "assumed": member.assumed,
    })
}

fn group_json(group: &DescribedGroup) -> Value {
    let members: Map<String, Value> =
        group.members.iter().map(|(id, member)| (id.clone(), member_json(member))).collect();
    json!({
        "name": group.name,
        "assignor": group.assignor,
        "topics": group.topics,
        "members": members,
        "assumptions": group.assumptions,
    })
}

fn answer(text: &str) -> Value {
    match read(text.as_bytes(), &Options::default()) {
        Ok(groups) => json!({"groups": groups.iter().map(group_json).collect::<Vec<_>>()}),
        Err(error) => json!({"error": {"line": error.line, "kind": format!("{:?}", error.kind),
            "reason": error.reason}}),
    }
}

#[test]
fn samples_are_read_as_expected() {
    let samples = samples();
    assert!(samples.len() >= 30, "{} samples", samples.len());
    let mut wrong = Vec::new();
    for (name, text) in samples {
        let path = folder().join(format!("{name}.json"));
        let given = answer(&text);
        if std::env::var_os("TENURE_WRITE_EXPECTED").is_some() {
            fs::write(&path, format!("{given:#}\n")).expect("the expected answer is written");
        }
        let expected: Value = fs::read_to_string(&path)
            .map_err(|error| error.to_string())
            .and_then(|text| serde_json::from_str(&text).map_err(|error| error.to_string()))
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        if given != expected {
            wrong.push(format!("{name}: {given:#}"));
        }
    }
    assert!(wrong.is_empty(), "{} samples differ; the first: {}", wrong.len(), wrong[0]);
}

#[test]
fn every_group_of_the_samples_is_planned() {
    for (name, text) in samples() {
        let Ok(groups) = read(text.as_bytes(), &Options::default()) else { continue };
        for described in groups {
            for strategy in Strategy::ALL {
                let group = described.group(strategy, 1 << 20).unwrap_or_else(|e| panic!("{name}: {e}"));
                let owned: usize = group.member_indices().map(|m| group.claims(m).count()).sum();
                let shown: usize =
                    described.members.values().flat_map(|m| m.owned.values()).map(Vec::len).sum();
                assert_eq!(owned, shown, "{name}");
                let (plan, _) = Assignor::new(Config::new().strategy(strategy)).assign(&group).unwrap();
                assert_eq!(plan.members(), described.members.len(), "{name}");
            }
        }
    }
}

/// Line ends, a byte order mark and a shifted paste change nothing.
#[test]
fn the_form_of_the_text_does_not_matter() {
    for (name, text) in samples() {
        let expected = answer(&text);
        assert_eq!(answer(&text.replace('\n', "\r\n")), expected, "{name}");
        assert_eq!(answer(&format!("\u{feff}{text}")), expected, "{name}");
        let shifted: String = text.lines().map(|line| format!("    {line}\n")).collect();
        if !name.starts_with("0.9") && expected.get("groups").is_some() {
            assert_eq!(answer(&shifted), expected, "{name}");
        }
    }
}

/// Cut at any character, no print makes the reader panic; a whole number of lines is read or refused.
#[test]
fn cut_prints_do_not_panic() {
    for name in ["0.9-describe-wide", "0.10.2-wide", "3.9-members-and-offsets", "4.0-members-verbose"] {
        let text = sample(name);
        for (at, _) in text.char_indices() {
            let _ = answer(&text[..at]);
            let _ = answer(&text[at..]);
        }
    }
}

#[test]
fn no_number_takes_memory() {
    let text = sample("4.4-describe");
    for number in ["2000000000", "4294967295", "99999999999999999999999"] {
        let text = text.replacen("orders          1 ", &format!("orders          {number} "), 1);
        let error = read(text.as_bytes(), &Options::default()).unwrap_err();
        let line = text.lines().position(|line| line.contains(number)).unwrap() + 1;
        assert_eq!((error.kind, error.line), (DescribeErrorKind::Partition, Some(line)), "{error}");
    }
}

#[test]
fn a_partition_with_two_owners_is_refused() {
    let text = sample("4.4-describe");
    let row = text.lines().find(|line| line.contains("till 1")).unwrap();
    let other = row.replace("till 1-", "till 9-");
    let error = read(format!("{text}{other}\n").as_bytes(), &Options::default()).unwrap_err();
    assert_eq!(error.kind, DescribeErrorKind::TwoOwners);
    assert_eq!(error.line, Some(text.lines().count() + 1));
    // The same print twice is no contradiction.
    assert_eq!(answer(&format!("{text}{text}")), answer(&text));
}

#[test]
fn a_damaged_row_is_refused_with_its_line() {
    let text = sample("4.4-describe").replacen("orders          3 ", "orders          x ", 1);
    let error = read(text.as_bytes(), &Options::default()).unwrap_err();
    let line = text.lines().position(|line| line.contains(" x ")).unwrap() + 1;
    assert_eq!((error.kind, error.line), (DescribeErrorKind::Row, Some(line)), "{error}");
}

#[test]
fn a_subscriptions_file_takes_the_place_of_the_assumption() {
    let subscriptions = Subscriptions::read(
        br#"{"till-3": ["audit_log"], "till-4": ["audit_log"], "*": ["orders", "clicks.v2"]}"#,
    );
    let options = Options { subscriptions: subscriptions.unwrap(), ..Options::default() };
    let groups = read(sample("4.4-describe").as_bytes(), &options).unwrap();
    for (id, member) in &groups[0].members {
        let expected: &[&str] =
            if id.starts_with("till-3") { &["audit_log"] } else { &["clicks.v2", "orders"] };
        assert_eq!(member.subscribed, expected, "{id}");
        assert!(!member.assumed);
    }
    assert!(!groups[0].assumptions.iter().any(|sentence| sentence.contains("no subscriptions")));
    for bad in [&b"[]"[..], br#"{"a": "orders"}"#, b"{", br#"{"a": [1]}"#] {
        assert!(Subscriptions::read(bad).unwrap_err().to_string().contains("line 1"));
    }
}

#[test]
fn a_members_table_with_subscriptions_is_believed() {
    let text = "\
GROUP  CONSUMER-ID  HOST  CLIENT-ID  #PARTITIONS  ASSIGNMENT    SUBSCRIBED-TOPICS
g      a-1          /h    a          1            orders(0)     orders,clicks
g      b-1          /h    b          1            clicks(0)     clicks
";
    let groups = read(text.as_bytes(), &Options::default()).unwrap();
    assert_eq!(groups[0].members["a-1"].subscribed, ["clicks", "orders"]);
    assert_eq!(groups[0].members["b-1"].subscribed, ["clicks"]);
    assert!(!groups[0].members["b-1"].assumed);
}

#[test]
fn what_is_no_print_is_refused_with_a_reason() {
    for (text, reason) in [
        ("", "empty"),
        ("  \n\n", "empty"),
        (r#"{"topics": {}}"#, "looks like JSON"),
        ("hello\nworld\n", "its header line included"),
        ("GROUP TOPIC PARTITION START-OFFSET LAG\ng t 0 1 2\n", "neither CONSUMER-ID nor OWNER"),
        ("CONSUMER-ID HOST CLIENT-ID\nc /h c\n", "lacks columns"),
    ] {
        let error = read(text.as_bytes(), &Options::default()).unwrap_err();
        assert_eq!(error.kind, DescribeErrorKind::NoTable, "{text:?}");
        assert!(error.reason.contains(reason), "{text:?}: {error}");
    }
    let error = read(b"GROUP\n\xff\n", &Options::default()).unwrap_err();
    assert_eq!((error.kind, error.line), (DescribeErrorKind::NotUtf8, Some(2)));
    assert!(may_be_print(sample("4.4-describe").as_bytes()) && !may_be_print(b"\n {}"));
}

/// Long lines that fit in many ways, or none, and headers of many columns end quickly.
#[test]
fn hostile_text_ends() {
    let header = "GROUP  TOPIC  PARTITION  LAG  CONSUMER-ID  HOST  CLIENT-ID  CURRENT-ASSIGNMENT\n";
    let mut text = header.to_string();
    text.push_str(&"a b ".repeat(200_000));
    assert!(read(text.as_bytes(), &Options::default()).is_err());
    let text = format!("GROUP TOPIC PARTITION CONSUMER-ID {}\n", "LAG ".repeat(100_000));
    assert!(read(text.as_bytes(), &Options::default()).is_err());
}

/// Before 1.1 a wide host runs into the client id without a blank.
#[test]
fn a_wide_host_is_parted_from_the_client() {
    let print = sample("0.10.2-describe");
    let host = "/2001:db8:85a3:8d3:1319:8a2e:370:7348";
    for client in ["till 1", "till-2"] {
        let text =
            print.replace(&format!("/127.0.0.1                     {client}"), &format!("{host}{client}"));
        assert_ne!(text, print);
        let groups = read(text.as_bytes(), &Options::default()).unwrap();
        let (_, member) = groups[0].members.iter().find(|(id, _)| id.starts_with(client)).unwrap();
        assert_eq!((member.host.as_deref(), member.client.as_deref()), (Some(host), Some(client)));
    }
}

/// A row that the end of the paste cut off is not passed over in silence.
#[test]
fn a_cut_row_is_refused() {
    let text = sample("4.4-describe");
    let cut = text.trim_end().len() - 125;
    let error = read(&text.as_bytes()[..cut], &Options::default()).unwrap_err();
    assert_eq!(error.kind, DescribeErrorKind::Row, "{error}");
    assert_eq!(error.line, Some(text[..cut].lines().count()));
}

/// Prints with characters changed, doubled and lost are read or refused, never a panic.
#[test]
fn damaged_prints_do_not_panic() {
    let mut seed = 429u64;
    let mut next = |below: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % below
    };
    for (_, text) in samples() {
        let original: Vec<char> = text.chars().collect();
        for _ in 0..12 {
            let mut chars = original.clone();
            for _ in 0..=next(6) {
                let at = next(chars.len());
                let other = next(chars.len());
                match next(4) {
                    0 => {
                        chars[at] =
                            [' ', '\n', '-', '(', ')', ',', ':', ';', '9', '/', 'é', '😀', '\t'][next(13)]
                    }
                    1 => chars.insert(at, chars[at]),
                    2 => drop(chars.drain(at..(at + next(40)).min(chars.len()))),
                    _ => chars.swap(at, other),
                }
                if chars.is_empty() {
                    break;
                }
            }
            let text: String = chars.into_iter().collect();
            let Ok(groups) = read(text.as_bytes(), &Options::default()) else { continue };
            for group in groups {
                group.group(Strategy::Range, 1 << 24).expect("what is read can be planned");
            }
        }
    }
}

/// A damaged number never makes a row another group's: it is an error in its line, or in a field that nobody reads.
#[test]
fn a_damaged_number_is_no_other_group() {
    let names = |groups: &[DescribedGroup]| -> Vec<Option<String>> {
        groups.iter().map(|group| group.name.clone()).collect()
    };
    let (mut refused, mut read_on) = (0, 0);
    for name in
        ["0.10.2-describe", "1.0-idle-member", "2.4-all-groups", "3.9-members-and-offsets", "4.4-describe"]
    {
        let text = sample(name);
        let groups = names(&read(text.as_bytes(), &Options::default()).unwrap());
        let lines: Vec<&str> = text.lines().collect();
        for (at, line) in lines.iter().enumerate() {
            let mut from = 0;
            for word in line.split(' ') {
                let (start, end) = (from, from + word.len());
                from = end + 1;
                let is_field = line[..start].ends_with("  ") && line[end..].starts_with("  ");
                if !is_field || word.is_empty() || !word.bytes().all(|byte| byte.is_ascii_digit()) {
                    continue;
                }
                for damage in ["-2", "x7", "1.5", "+1"] {
                    // Typed over what is there, or put in between.
                    let over = end.max(start + damage.len()).min(line.len());
                    for end in [over, end] {
                        let row = format!("{}{damage}{}", &line[..start], &line[end..]);
                        let damaged = [&lines[..at], &[row.as_str()], &lines[at + 1..]].concat().join("\n");
                        match read(damaged.as_bytes(), &Options::default()) {
                            Ok(given) => {
                                read_on += 1;
                                assert_eq!(names(&given), groups, "{name}: {row}");
                            }
                            Err(error) => {
                                refused += 1;
                                let twice = error.kind == DescribeErrorKind::TooLittle;
                                assert!(twice || error.line == Some(at + 1), "{name}: {row}: {error}");
                            }
                        }
                    }
                }
            }
        }
    }
    assert!(refused > 500 && read_on > 50, "{refused} refused, {read_on} read");
}

#[test]
fn a_negative_partition_is_refused_with_its_number() {
    let text = sample("4.4-describe").replacen("orders          3 ", "orders          -2 ", 1);
    let error = read(text.as_bytes(), &Options::default()).unwrap_err();
    let line = text.lines().position(|line| line.contains(" -2 ")).unwrap() + 1;
    assert_eq!((error.kind, error.line), (DescribeErrorKind::Partition, Some(line)), "{error}");
    assert!(error.reason.starts_with("-2 is no partition number"), "{error}");
    let members = "\
GROUP  CONSUMER-ID  HOST  CLIENT-ID  #PARTITIONS  ASSIGNMENT
g      a-1          /h    a          -1           orders(0)
";
    let error = read(members.as_bytes(), &Options::default()).unwrap_err();
    assert_eq!((error.kind, error.line), (DescribeErrorKind::Row, Some(2)), "{error}");
    let nameless = members.replace("-1           orders(0)", "1            orders(-1)");
    assert_eq!(read(nameless.as_bytes(), &Options::default()).unwrap_err().line, Some(2));
}
