//! `tenure what-if`: steps, their order, and what each costs.

use serde_json::{Value, json};

use crate::support::{expand, feed, good, stderr, stdout, tenure};

fn steady() -> Value {
    json!({"topics": {"orders": 12}, "members": {
        "a": {"topics": ["orders"], "owned": {"orders": ["0-3"]}, "generation": 4},
        "b": {"topics": ["orders"], "owned": {"orders": ["4-7"]}, "generation": 4},
        "c": {"topics": ["orders"], "owned": {"orders": ["8-11"]}, "generation": 4}}})
}

fn play(snapshot: &Value, steps: &[&str]) -> Value {
    let arguments = [&["what-if", "-", "--json"], steps].concat();
    serde_json::from_str(good(&feed(&arguments, snapshot.to_string()))).unwrap()
}

/// moves, rounds, paused eager, paused cooperative
fn figures(step: &Value) -> (u64, u64, u64, Option<u64>) {
    let paused = &step["paused"];
    let number = |value: &Value| value.as_u64().unwrap();
    (
        number(&step["moves"]),
        number(&step["rounds"]),
        number(&paused["eager"]),
        paused["cooperative"].as_u64(),
    )
}

#[test]
fn a_quiet_group_stays_as_it_is() {
    let played = play(&steady(), &[]);
    assert_eq!(played["steps"].as_array().unwrap().len(), 1);
    assert_eq!(figures(&played["steps"][0]), (0, 1, 12, Some(0)));
    assert_eq!(played["steps"][0]["assignments"]["b"], json!({"orders": ["4-7"]}));
}

#[test]
fn each_step_starts_where_the_one_before_ended() {
    let steps = [
        "--add-members",
        "1",
        "--remove",
        "a",
        "b",
        "--add-partitions",
        "orders=4",
        "clicks=2",
        "--subscribe",
        "c=clicks",
    ];
    let played = play(&steady(), &steps);
    let found: Vec<_> = played["steps"].as_array().unwrap().iter().map(figures).collect();
    assert_eq!(
        found,
        [
            (0, 1, 12, Some(0)),
            // One joins: three partitions change hands, in two rounds.
            (3, 2, 12, Some(3)),
            // Two of four leave: nothing moves between the others.
            (0, 1, 12, Some(6)),
            // Four partitions more go where there is room; nobody subscribes to clicks yet.
            (0, 1, 12, Some(0)),
            (0, 1, 16, Some(0)),
            // c reads clicks too: 9 each, so one partition of orders goes from c to the newcomer.
            (1, 2, 16, Some(1)),
        ]
    );
    let last = &played["steps"][5];
    assert_eq!((last["members"].clone(), last["partitions"].clone()), (json!(2), json!(18)));
    assert_eq!(last["assignments"].as_object().unwrap().keys().collect::<Vec<_>>(), ["c", "new-1"]);
    let owned: usize = last["assignments"].as_object().unwrap().values().map(|o| expand(o).len()).sum();
    assert_eq!(owned, 18);
    assert_eq!(played["total"]["moves"], 4);
    assert_eq!(played["total"]["rounds"], 8);
    assert_eq!(played["total"]["paused"], json!({"eager": 80, "cooperative": 10}));
}

#[test]
fn a_rolling_restart_takes_every_member_once() {
    let played = play(&steady(), &["--rolling-restart"]);
    let steps = played["steps"].as_array().unwrap();
    assert_eq!(steps.len(), 7);
    for (at, name) in [(1, "a"), (3, "b"), (5, "c")] {
        assert_eq!(steps[at]["step"], format!("{name} restarts: leaves"));
        assert_eq!(steps[at]["members"], 2);
        // Four partitions lose their reader, then two members of six each give two back.
        assert_eq!(figures(&steps[at]), (0, 1, 12, Some(4)));
        assert_eq!(figures(&steps[at + 1]), (4, 2, 12, Some(4)));
    }
}

#[test]
fn static_members_restart_without_a_rebalance() {
    let mut snapshot = steady();
    snapshot["members"]["b"]["instance"] = json!("b-static");
    let played = play(&snapshot, &["--rolling-restart", "--remove", "b-static"]);
    let steps = played["steps"].as_array().unwrap();
    assert_eq!(steps[3]["step"], "b restarts (static)");
    assert_eq!((steps[3]["rounds"].clone(), steps[3]["moves"].clone()), (json!(0), json!(0)));
    assert_eq!(steps.last().unwrap()["members"], 2, "an instance id names a member");
}

#[test]
fn eager_assignors_have_no_cooperative_figures() {
    let mut snapshot = steady();
    snapshot["assignor"] = json!("range");
    let played = play(&snapshot, &["--add-members", "1"]);
    assert_eq!(figures(&played["steps"][1]).3, None);
    assert_eq!(played["steps"][1]["rounds"], 1);
    // Sticky is eager, but plans as cooperative-sticky does: both can be told.
    snapshot["assignor"] = json!("sticky");
    assert_eq!(figures(&play(&snapshot, &["--add-members", "1"])["steps"][1]), (3, 2, 12, Some(3)));
}

#[test]
fn racks_and_claims_on_what_is_gone_are_carried_along() {
    let snapshot = json!({
        "topics": {"t": {"partitions": 4, "racks": [["x"], ["y"], ["x"], ["y"]]}},
        "members": {
            "a": {"topics": ["t", "gone"], "rack": "x", "owned": {"gone": ["0-3"]}},
            "b": {"topics": ["t"], "rack": "y"},
            "c": {"topics": ["t"], "rack": "z"}}});
    let played = play(&snapshot, &["--remove", "c", "--add-partitions", "t=2"]);
    assert_eq!(played["steps"][0]["rounds"], 2, "a gives up what is gone, then joins again");
    assert_eq!(played["steps"][1]["rack_mismatches"], 0);
    assert_eq!(played["steps"][1]["assignments"]["a"], json!({"t": [0, 2]}));
    assert_eq!(played["steps"][2]["partitions"], 6);
}

#[test]
fn tables_are_for_people() {
    let output = feed(&["what-if", "-", "--add-members", "1"], steady().to_string());
    let table = good(&output);
    let head = table.lines().next().unwrap();
    assert!(head.starts_with("step") && head.ends_with("paused, cooperative"), "{table}");
    assert_eq!(table.lines().take_while(|line| !line.is_empty()).count(), 4, "{table}");
    assert!(table.contains("\nin all"), "{table}");
}

#[test]
fn what_is_not_there_is_refused_before_anything_is_printed() {
    for (steps, told) in [
        (&["--add-members", "1", "--remove", "x"][..], "no member \"x\" at this step"),
        (&["--remove", "a", "--subscribe", "a=orders"], "no member \"a\" at this step"),
        (&["--subscribe", "a=clicks"], "no topic \"clicks\" at this step"),
        (&["--add-partitions", "orders=20000000"], "above the limit of 16777216"),
        (&["--add-partitions", "orders=4000000000"], "above the limit of 16777216"),
        (&["--add-partitions", "orders"], "TOPIC=N"),
        (&["--add-members", "0"], "0"),
    ] {
        let arguments = [&["what-if", "-", "--json"], steps].concat();
        let output = feed(&arguments, steady().to_string());
        assert_eq!(output.status.code(), Some(2), "{steps:?}");
        assert_eq!(stdout(&output), "", "{steps:?}");
        assert!(stderr(&output).contains(told), "{steps:?}: {}", stderr(&output));
    }
}

#[test]
fn a_newcomer_may_be_named_as_nobody_is() {
    let mut snapshot = steady();
    snapshot["members"]["new-1"] = json!({"topics": ["orders"]});
    let played = play(&snapshot, &["--add-members", "2"]);
    let names: Vec<&String> = played["steps"][1]["assignments"].as_object().unwrap().keys().collect();
    assert_eq!(names, ["a", "b", "c", "new-1", "new-2", "new-3"]);
}

#[test]
fn nothing_is_written_anywhere() {
    let folder = std::env::temp_dir().join(format!("tenure-what-if-{}", std::process::id()));
    std::fs::create_dir(&folder).unwrap();
    let text = steady().to_string();
    std::fs::write(folder.join("s.json"), &text).unwrap();
    let run = tenure(&["what-if", "s.json", "--rolling-restart"]).current_dir(&folder).output().unwrap();
    let files = std::fs::read_dir(&folder).unwrap().count();
    let same = std::fs::read_to_string(folder.join("s.json")).unwrap() == text;
    std::fs::remove_dir_all(&folder).unwrap();
    good(&run);
    assert!(files == 1 && same);
}
