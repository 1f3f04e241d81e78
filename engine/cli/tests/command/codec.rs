//! `tenure codec --lines`, `tenure decode` and `tenure encode` over every golden vector and codec case.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread;

use serde_json::{Value, json};

fn datasets() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../datasets")
}

fn tenure() -> Command {
    Command::new(env!("CARGO_BIN_EXE_tenure"))
}

/// Runs the command with `input` on standard input.
fn run(arguments: &[&str], input: &[u8]) -> Output {
    let mut command = tenure();
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    let writer = thread::spawn(move || {
        // A command that refuses its arguments does not read.
        let _ = stdin.write_all(&input);
    });
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    output
}

fn status(output: &Output) -> i32 {
    output.status.code().unwrap()
}

fn text(bytes: &[u8]) -> &str {
    core::str::from_utf8(bytes).unwrap()
}

/// The answers to some lines, in one go.
fn answers(lines: &[Value]) -> Vec<Value> {
    let input: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let output = run(&["codec", "--lines"], input.as_bytes());
    assert_eq!((status(&output), text(&output.stderr)), (0, ""));
    let answers: Vec<Value> =
        text(&output.stdout).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(answers.len(), lines.len());
    answers
}

fn vectors() -> Vec<Value> {
    let mut files: Vec<PathBuf> =
        fs::read_dir(datasets().join("wire")).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "jsonl"));
    files.sort();
    assert_eq!(files.len(), 29);
    let lines = files
        .iter()
        .flat_map(|path| fs::read_to_string(path).unwrap().lines().map(str::to_owned).collect::<Vec<_>>());
    lines.map(|line| serde_json::from_str(&line).unwrap()).collect()
}

/// A vector without its answer.
fn question(vector: &Value, keys: &[&str]) -> Value {
    let context =
        ["id", "format", "version", "null_userdata", "subscription_generation", "unknown_tags", "topic_list"];
    let entries = vector.as_object().unwrap().iter();
    entries
        .filter(|(key, _)| context.contains(&key.as_str()) || keys.contains(&key.as_str()))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect::<serde_json::Map<_, _>>()
        .into()
}

/// Long lists written out.
fn written_out(value: &Value) -> Value {
    tenure_cli::codec::written_out(value).unwrap()
}

/// Streams' sets and maps in one order.
fn comparable(format: &str, mut value: Value, without_dictionary: bool) -> Value {
    if format != "streams-assignment-info" {
        return value;
    }
    if without_dictionary {
        value.as_object_mut().unwrap().remove("topicDictionary");
    }
    for key in ["standbyTasks", "partitionsByHost", "standbyPartitionsByHost"] {
        let items = value[key].as_array_mut().unwrap();
        for item in items.iter_mut() {
            let partitions = item.as_array_mut().unwrap().last_mut().unwrap();
            partitions.as_array_mut().unwrap().sort_by_key(Value::to_string);
        }
        items.sort_by_key(Value::to_string);
    }
    value
}

/// A list that 4.4.0 refuses, or forgets, only for its length is read, since its bytes are there.
fn read_although_long(vector: &Value) -> Option<Value> {
    let for_its_length = vector["cause"].as_str().unwrap_or_default().contains("maximum allowed size")
        || vector["id"] == "s-large-010" && vector["decodes_to"]["generation"] == -1;
    for_its_length.then(|| vector["other_versions"]["4.3.0"]["decodes_to"].clone())
}

#[test]
fn every_vector_is_read() {
    let vectors: Vec<Value> =
        vectors().into_iter().filter(|vector| vector.get("encode_error").is_none()).collect();
    assert_eq!(vectors.len(), 2721 - 9);
    let questions: Vec<Value> =
        vectors.iter().map(|vector| question(vector, &["bytes", "bytes_gen"])).collect();
    let mut refused = 0;
    for (vector, answer) in vectors.iter().zip(answers(&questions)) {
        let id = &vector["id"];
        assert_eq!(answer["id"], *id);
        let expected = read_although_long(vector)
            .or_else(|| vector.get("value").or_else(|| vector.get("decodes_to")).cloned());
        let Some(expected) = expected else {
            assert!(answer["error"]["kind"].is_string(), "{id}: {answer}");
            assert!(answer["error"]["at"].is_u64(), "{id}: {answer}");
            assert_eq!(answer.get("value"), None, "{id}");
            refused += 1;
            continue;
        };
        let format = vector["format"].as_str().unwrap();
        let read_only = vector.get("decodes_to").is_some();
        let seen = comparable(format, answer["value"].clone(), read_only);
        assert_eq!(seen, comparable(format, written_out(&expected), false), "{id}: {answer}");
        for key in ["unknown_tags", "derived", "body_unread"] {
            assert_eq!(answer.get(key), vector.get(key), "{id}: {key}");
        }
    }
    assert_eq!(refused, 1680);
}

#[test]
fn every_value_is_written() {
    let mut questions = Vec::new();
    let mut expected = Vec::new();
    for vector in vectors() {
        let bytes = vector.get("bytes").cloned();
        if vector.get("value").is_some() {
            questions.push(question(&vector, &["value"]));
            expected.push((vector["id"].clone(), bytes.clone()));
        }
        if vector.get("input").is_some() {
            questions.push(question(&vector, &["input"]));
            expected.push((vector["id"].clone(), bytes.filter(|_| vector.get("encode_error").is_none())));
        }
    }
    let mut refused = 0;
    for ((id, bytes), answer) in expected.iter().zip(answers(&questions)) {
        match bytes {
            Some(bytes) => assert_eq!(answer["bytes"], *bytes, "{id}: {answer}"),
            None => {
                assert!(answer["error"]["kind"].is_string(), "{id}: {answer}");
                refused += 1;
            }
        }
    }
    assert_eq!((questions.len(), refused), (662, 9));
}

#[test]
fn what_was_read_with_unknown_tags_is_written_back() {
    let vectors: Vec<Value> = vectors().into_iter().filter(|vector| vector["reencodes"] == true).collect();
    let questions: Vec<Value> = vectors.iter().map(|vector| question(vector, &["bytes"])).collect();
    let read = answers(&questions);
    let questions: Vec<Value> = vectors
        .iter()
        .zip(read)
        .map(|(vector, mut answer)| {
            answer["format"] = vector["format"].clone();
            answer["version"] = vector["version"].clone();
            answer
        })
        .collect();
    for (vector, answer) in vectors.iter().zip(answers(&questions)) {
        assert_eq!(answer["bytes"], vector["bytes"], "{}", vector["id"]);
    }
    assert_eq!(vectors.len(), 95);
}

#[test]
fn every_case_through_the_command() {
    let mut judged = 0;
    for entry in fs::read_dir(datasets().join("cases/codec")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        let case: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        let (form, expect) = (case["codec"]["as"].as_str().unwrap(), &case["expect"]);
        let output = run(&["decode", form], case["codec"]["hex"].as_str().unwrap().as_bytes());
        if expect["error"] == true || expect.get("no_panic").is_some() {
            assert_eq!(status(&output), 2, "{}", path.display());
            assert!(text(&output.stderr).contains(" at byte "), "{}", text(&output.stderr));
        } else {
            assert_eq!(status(&output), 0, "{}: {}", path.display(), text(&output.stderr));
            let seen: Value = serde_json::from_slice(&output.stdout).unwrap();
            let list = ["assignedPartitions", "previousAssignment", "ownedPartitions"];
            let list = list.iter().find_map(|key| seen.get(*key)).unwrap();
            let pairs: Vec<Value> = list
                .as_array()
                .unwrap()
                .iter()
                .flat_map(|block| {
                    let topic = block["topic"].clone();
                    block["partitions"]
                        .as_array()
                        .unwrap()
                        .iter()
                        .map(move |partition| json!([topic, partition]))
                })
                .collect();
            let expected = expect.get("owned").or(expect.get("assigned")).unwrap();
            assert_eq!(Value::from(pairs), *expected, "{}", path.display());
            assert_eq!(seen.get("unreadable").is_some(), expect["warn"] == true, "{}", path.display());
        }
        judged += 1;
    }
    assert_eq!(judged, 9);
}

#[test]
fn the_history_of_a_member_follows_its_assignor() {
    let bytes = b"0002000000010002743100000004000000050000000100027431000000010000000100000008";
    let output = run(&["decode", "subscription:cooperative-sticky"], bytes);
    let seen: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(seen["history"]["generation"], 8);
    let output = run(&["decode", "subscription:sticky"], bytes);
    let seen: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(seen["history"]["owned"], json!([]));
    assert_eq!(seen["history"]["unreadable"]["kind"], "count-above-rest");
}

#[test]
fn decode_and_encode_are_each_others_inverse() {
    let mut judged = 0;
    let reads = |vector: &&Value| vector.get("value").is_some() && vector.get("topic_list").is_none();
    for vector in vectors().iter().filter(reads).step_by(37) {
        let (format, version) = (vector["format"].as_str().unwrap(), vector["version"].to_string());
        let decoded =
            run(&["decode", format, "--version", &version], vector["bytes"].as_str().unwrap().as_bytes());
        assert_eq!(status(&decoded), 0, "{}", vector["id"]);
        let encoded = run(&["encode", format, "--version", &version], &decoded.stdout);
        assert_eq!(
            text(&encoded.stdout).trim(),
            vector["bytes"].as_str().unwrap(),
            "{}",
            text(&encoded.stderr)
        );
        judged += 1;
    }
    assert!(judged > 10);
}

#[test]
fn explain_shows_every_field_with_its_offsets() {
    let output = run(
        &["decode", "consumer-subscription", "--explain"],
        b"00010000000100066f7264657273ffffffff00000000ff",
    );
    assert_eq!(status(&output), 0);
    let rows: Vec<Vec<&str>> =
        text(&output.stdout).lines().map(|line| line.split_whitespace().collect()).collect();
    let expected = [
        &["0..2", "version", "1"][..],
        &["2..6", "topics", "1", "element"],
        &["6..14", "topics[0]", "\"orders\""],
        &["14..18", "userData", "null"],
        &["18..22", "ownedPartitions", "0", "elements"],
        &["22..23", "1", "byte", "not", "read"],
    ];
    assert_eq!(rows, expected);
    let output = run(&["decode", "consumer-subscription", "--explain"], b"000000000003000274");
    assert_eq!(status(&output), 2);
    assert!(text(&output.stdout).contains("topics"), "{}", text(&output.stdout));
    assert!(text(&output.stdout).contains("cannot be read"), "{}", text(&output.stdout));
}

#[test]
fn explain_agrees_with_decode_on_every_vector() {
    use tenure_cli::codec::{Context, FormatName, decode, explain, generated_bytes, unhex};
    let mut explained = 0;
    for vector in vectors() {
        let Some(bytes) = vector["bytes"]
            .as_str()
            .and_then(unhex)
            .or_else(|| vector.get("bytes_gen").and_then(|parts| generated_bytes(parts).ok()))
        else {
            continue;
        };
        let format = FormatName::find(vector["format"].as_str().unwrap()).unwrap();
        let version = vector["version"].as_i64().and_then(|version| i32::try_from(version).ok());
        let topics: Option<Vec<String>> = vector["topic_list"]
            .as_array()
            .map(|names| names.iter().map(|name| name.as_str().unwrap().to_owned()).collect());
        let context = Context { version, topics: topics.as_deref(), ..Context::default() };
        let seen = explain(format, &bytes, &context).unwrap();
        let (text, fault) = (seen.text(), &seen.fault);
        assert_eq!(*fault, decode(format, &bytes, &context).err(), "{}", vector["id"]);
        assert_eq!(seen.to_json()["fields"].as_array().unwrap().len(), text.lines().count());
        assert!(fault.is_none() || text.contains("cannot be read"), "{}: {text}", vector["id"]);
        explained += 1;
    }
    assert_eq!(explained, 2721 - 9);
}

#[test]
fn bytes_come_in_as_text_or_as_they_are() {
    let hex = b" 00 00\n00000000 ffff FFFF\n";
    let raw = b"\x00\x00\x00\x00\x00\x00\xff\xff\xff\xff";
    for (arguments, input) in [
        (&["decode", "consumer-assignment"][..], &hex[..]),
        (&["decode", "consumer-assignment", "-", "--from", "hex"], hex),
        (&["decode", "consumer-assignment"], raw),
        (&["decode", "consumer-assignment", "--from", "binary"], raw),
    ] {
        let output = run(arguments, input);
        assert_eq!(status(&output), 0, "{arguments:?}: {}", text(&output.stderr));
        let seen: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(seen, json!({"assignedPartitions": [], "userData": null}));
    }
    let output = run(
        &["encode", "consumer-assignment", "--version", "0", "--binary"],
        b"{\"assignedPartitions\": []}",
    );
    assert_eq!(output.stdout, raw);
}

#[test]
fn bad_calls_end_in_status_2_and_say_what_to_do() {
    for (arguments, input, says) in [
        (&["decode", "no-such-format"][..], &b"00"[..], "--list"),
        (&["decode", "heartbeat-request"], b"00", "give one from 0 to 4"),
        (&["decode", "heartbeat-request", "--version", "9"], b"00", "known are 0 to 4"),
        (&["decode", "consumer-subscription", "--from", "hex"], b"0", "--from binary"),
        (&["decode", "consumer-subscription", "/no/such/file"], b"", "/no/such/file"),
        (
            &["encode", "consumer-subscription", "--version", "4"],
            b"{\"topics\": []}",
            "0 to 3 can be written",
        ),
        (
            &["encode", "consumer-subscription", "--version", "0"],
            b"{\"topic\": []}",
            "topic must be left out",
        ),
        (
            &["encode", "consumer-subscription", "--version", "0"],
            b"{\"topics\": [1]}",
            "topics[0] must be text",
        ),
        (&["encode", "consumer-subscription", "--version", "0"], b"{", "line 1"),
        (&["codec"], b"", "--lines"),
    ] {
        let output = run(arguments, input);
        assert_eq!(status(&output), 2, "{arguments:?}");
        assert!(text(&output.stderr).contains(says), "{arguments:?}: {}", text(&output.stderr));
        assert_eq!(text(&output.stdout), "", "{arguments:?}");
    }
}

/// A short line takes no more memory than a long one could.
#[test]
fn abbreviations_stand_for_a_bounded_amount() {
    use tenure_cli::codec::{generated_bytes, written_out};
    let range = |to: u64| json!({"range": [0, to, 1]});
    assert_eq!(written_out(&range(2_000_000)).unwrap().as_array().unwrap().len(), 2_000_000);
    let long = [
        range(2_200_000),
        json!([range(2_000_000), {"a": range(2_000_000)}]),
        json!([{"repeat": [7, 2_000_000]}, {"repeat": ["", 2_000_000]}]),
        json!({"repeat": ["00", 1_u64 << 40]}),
        json!([{"repeat": ["00", 9_000_000]}, {"repeat": ["00", 9_000_000]}]),
    ];
    for value in long {
        let error = written_out(&value).unwrap_err().to_string();
        assert!(error.contains("at most, all together"), "{value}: {error}");
    }
    assert_eq!(generated_bytes(&json!([{"repeat": ["00", 1 << 24]}])).unwrap().len(), 1 << 24);
    let long = [
        json!([{"repeat": ["00", (1 << 24) + 1]}]),
        json!([{"repeat": ["00", 1 << 24]}, {"i32": [0, 2, 1]}]),
        json!([{"i32": [0, 2_000_000_000, 1]}]),
    ];
    for parts in long {
        let error = generated_bytes(&parts).unwrap_err().to_string();
        assert!(error.contains("at most, all together"), "{parts}: {error}");
    }
}

#[test]
fn a_bad_line_is_answered_and_the_stream_goes_on() {
    let lines = "{\n\n[]\n{\"id\": 7}\n{\"id\": 8, \"format\": \"response-header\", \"version\": 0, \"bytes\": \"00000001\"}";
    let output = run(&["codec", "--lines"], lines.as_bytes());
    assert_eq!(status(&output), 0);
    let answers: Vec<Value> =
        text(&output.stdout).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let kinds: Vec<_> = answers.iter().map(|answer| answer["error"]["kind"].as_str()).collect();
    assert_eq!(kinds, [Some("json"), Some("json"), Some("form"), Some("form"), None]);
    assert_eq!(answers[4], json!({"id": 8, "value": {"correlationId": 1}}));
}

#[test]
fn each_answer_is_there_before_the_next_question() {
    let mut child =
        tenure().args(["codec", "--lines"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    for id in 0..3 {
        writeln!(stdin, "{}", json!({"id": id, "format": "group-metadata-key", "bytes": "0002000167"}))
            .unwrap();
        let mut answer = String::new();
        stdout.read_line(&mut answer).unwrap();
        let answer: Value = serde_json::from_str(&answer).unwrap();
        assert_eq!(answer, json!({"id": id, "value": {"group": "g"}}));
    }
    drop(stdin);
    assert!(child.wait().unwrap().success());
}

/// The answer to one line as it stands.
fn answer_to(line: &str) -> Value {
    let output = run(&["codec", "--lines"], line.as_bytes());
    assert_eq!(status(&output), 0);
    serde_json::from_str(text(&output.stdout).lines().next().unwrap()).unwrap()
}

#[test]
fn a_line_without_a_format_is_told_what_it_lacks() {
    for line in [r#"{"id": "x", "bytes": "00"}"#, r#"{"id": "x", "format": 3, "bytes": "00"}"#] {
        let error = answer_to(line)["error"].clone();
        assert_eq!((&error["kind"], &error["field"]), (&json!("form"), &json!("format")), "{error}");
        let message = error["message"].as_str().unwrap();
        assert!(message.starts_with("format must be given: the name of a format"), "{message}");
        assert!(message.contains("tenure decode --list"), "{message}");
    }
    let message = answer_to(r#"{"format": "consumr", "bytes": "00"}"#)["error"]["message"].clone();
    assert!(message.as_str().unwrap().starts_with("no format is called \"consumr\""), "{message}");
}

#[test]
fn a_line_that_is_no_json_is_told_where() {
    for (line, at, place) in [
        ("{\"id\": 1,\n", 8, "column 9: the JSON ends too early"),
        ("\n", 0, "column 1: the JSON ends too early"),
        ("{\"é\": x}\n", 7, "column 7: this is not JSON: expected value"),
        ("{} {}\r\n", 3, "column 4: something follows the end of the JSON"),
    ] {
        let error = answer_to(line)["error"].clone();
        let message = error["message"].as_str().unwrap();
        assert!(message.starts_with(place), "{line:?}: {message}");
        assert!(!message.contains("line 2") && !message.contains("column 0"), "{message}");
        assert_eq!((&error["kind"], &error["at"]), (&json!("json"), &json!(at)), "{line:?}");
    }
}

#[test]
fn json_of_a_file_is_told_where_it_breaks() {
    let output = run(&["encode", "consumer-subscription"], b"{\n  \"topics\": [\n\n");
    assert_eq!(status(&output), 2);
    let told = text(&output.stderr);
    assert!(told.contains("standard input, line 2, column 13: the JSON ends too early"), "{told}");
}

#[test]
fn what_is_no_file_but_its_content_is_told_so() {
    let long = "00".repeat(3_000);
    for (arguments, hint) in [
        (["decode", "consumer-assignment", "0003 0000 0000 ffff ffff"], "hexadecimal digits"),
        (["decode", "consumer-assignment", long.as_str()], "hexadecimal digits"),
        (["encode", "consumer-assignment", "{\"version\": 3}"], "the JSON itself"),
        (["plan", "--json", "{\"topics\": {}}"], "the JSON itself"),
    ] {
        let output = run(&arguments, b"");
        assert_eq!(status(&output), 2);
        let told = text(&output.stderr);
        assert!(told.contains(hint) && told.contains("pipe it in") && told.len() < 250, "{told}");
    }
    let output = run(&["decode", "consumer-assignment", "no-such-file"], b"");
    assert!(text(&output.stderr).contains("check the path"), "{}", text(&output.stderr));
}

#[test]
fn every_wire_command_answers_in_json() {
    let one_line = |arguments: &[&str], input: &[u8]| -> Value {
        let output = run(arguments, input);
        assert_eq!(status(&output), 0, "{arguments:?}: {}", text(&output.stderr));
        assert_eq!(text(&output.stdout).lines().count(), 1, "{arguments:?}");
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let assignment = b"0000 00000000 ffffffff";
    let value = json!({"assignedPartitions": [], "userData": null});
    assert_eq!(one_line(&["decode", "--json", "consumer-assignment"], assignment), value);
    let list = one_line(&["decode", "--json", "--list"], b"");
    assert!(
        list.as_array().unwrap().contains(&json!({"format": "heartbeat-request", "oldest": 0, "newest": 4}))
    );
    let seen = one_line(&["decode", "--json", "--explain", "consumer-assignment"], assignment);
    assert_eq!(seen["fields"][0], json!({"at": 0, "end": 2, "field": "version", "value": "0"}));
    assert_eq!(seen["error"], Value::Null);
    let written = one_line(
        &["encode", "--json", "--version", "0", "consumer-assignment"],
        value.to_string().as_bytes(),
    );
    assert_eq!(
        written,
        json!({"format": "consumer-assignment", "length": 10, "bytes": "000000000000ffffffff"})
    );
    assert_eq!(
        one_line(&["codec", "--json", "--lines"], b"{\"format\": \"x\"}")["error"]["kind"],
        "unknown-format"
    );
}

#[test]
fn compact_user_data_is_read_beside_its_topics_and_without_them() {
    let hex = b"544301080dac0208030202010500ae5f393e";
    let output = run(&["decode", "tenure-userdata", "--topics", "clicks,orders"], hex);
    assert_eq!(status(&output), 0, "{}", text(&output.stderr));
    let seen: Value = serde_json::from_slice(&output.stdout).unwrap();
    let owned =
        json!([{"topic": "clicks", "partitions": [3, 4, 5]}, {"topic": "orders", "partitions": [0, 1, 7]}]);
    assert_eq!(
        (&seen["owned"], &seen["generation"], &seen["encoding"]),
        (&owned, &json!(300), &json!("runs"))
    );
    let encoded = run(&["encode", "tenure-userdata"], &output.stdout);
    assert_eq!(text(&encoded.stdout).trim().as_bytes(), hex, "{}", text(&encoded.stderr));
    // The shortest encoding, if none is asked for.
    let mut shortest = seen;
    shortest.as_object_mut().unwrap().remove("encoding");
    let encoded = run(&["encode", "tenure-userdata"], shortest.to_string().as_bytes());
    assert!(text(&encoded.stdout).trim().len() < hex.len(), "{}", text(&encoded.stderr));

    let output = run(&["decode", "tenure-userdata"], hex);
    let seen: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(seen["owned"][1], json!({"place": 1, "partitions": [0, 1, 7]}));
    let output = run(&["decode", "tenure-userdata", "--topics", "clicks"], hex);
    assert_eq!(status(&output), 2);
    assert!(text(&output.stderr).contains("another topic list"), "{}", text(&output.stderr));
    let output = run(&["encode", "tenure-userdata"], b"{\"owned\": []}");
    assert_eq!(status(&output), 2);
    assert!(text(&output.stderr).contains("topic_list"), "{}", text(&output.stderr));

    let output = run(&["decode", "tenure-userdata", "--explain", "--topics", "clicks,orders"], hex);
    let rows: Vec<Vec<&str>> =
        text(&output.stdout).lines().map(|line| line.split_whitespace().collect()).collect();
    let expected = [
        &["0..2", "magic", "TC"][..],
        &["2..3", "version", "1"],
        &["3..4", "kind", "runs,", "generation"],
        &["4..5", "length", "13"],
        &["5..7", "generation", "300"],
        &["7..8", "stride", "8"],
        &["8..14", "payload", "6", "partitions", "as", "runs"],
        &["14..18", "checksum", "ae5f393e"],
    ];
    assert_eq!(rows, expected);

    // In its subscription it is the member's history.
    let around = b"0003000000020006636c69636b7300066f726465727300000012544301080dac0208030202010500ae5f393e00000000ffffffffffff";
    let output = run(&["decode", "subscription:tenure-cooperative-sticky"], around);
    let seen: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(seen["history"], json!({"owned": owned, "generation": 300, "unreadable": null}));
}
