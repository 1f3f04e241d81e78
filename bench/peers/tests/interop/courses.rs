//! The coordinators' models answer what a real broker answered, course by course.
//!
//! What it answered is in `datasets/courses/*.golden.jsonl`, so that the models are tested without one. With
//! `TENURE_RECORD=1` the test beside a real broker writes these files anew.

use std::path::{Path, PathBuf};
use std::{env, fs, thread};

use tenure_peers::course::{BrokerSide, Course, CourseFile, ModelSide, Record, compare, play};
use tenure_peers::{Broker, PeerError, Settings, or_skip};

const FILES: [&str; 2] = ["prompt", "delayed"];

/// How often a course is played before its answers count as other than expected: sessions and waits run by the clock,
/// and a machine that stands still for seconds makes another course of it.
const TRIES: usize = 3;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../datasets/courses")
}

pub(crate) fn read(name: &str) -> CourseFile {
    let path = folder().join(format!("{name}.json"));
    let text = fs::read_to_string(&path).unwrap();
    CourseFile::parse(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn golden(name: &str) -> Vec<Record> {
    let text = fs::read_to_string(folder().join(format!("{name}.golden.jsonl"))).unwrap();
    Record::parse(&text).unwrap()
}

pub(crate) fn by_model(file: &CourseFile) -> Vec<Record> {
    let play_one = |course: &Course| {
        let group_id = course.group.as_deref().unwrap_or("course");
        play(course, group_id, &mut ModelSide::new(file).unwrap(), None)
            .unwrap_or_else(|error| panic!("{:?}: {error}", course.name))
    };
    file.courses.iter().map(play_one).collect()
}

/// A broker set as the file says.
pub(crate) fn broker_of(file: &CourseFile) -> Option<Broker> {
    let settings = file.broker.iter();
    let settings = settings.fold(Settings::default(), |settings, (key, value)| settings.property(key, value));
    let broker = or_skip(Broker::start(&settings))?;
    broker.create_topic("orders", 1).unwrap();
    BrokerSide::warm_up(broker.bootstrap()).unwrap();
    Some(broker)
}

/// All courses at once: each has a group and connections of its own, and most of their time is spent waiting. Those
/// whose answers are not the expected ones are played again, alone.
pub(crate) fn by_broker(file: &CourseFile, broker: &Broker, expected: &[Record]) -> Vec<Record> {
    let awaited = |course: &Course| expected.iter().find(|one| one.name == course.name);
    let play_one = |turn: usize, index: usize, course: &Course| {
        let group_id = course.group.clone().unwrap_or_else(|| format!("course-{turn}-{index}"));
        let patience = u32::try_from(1 + 4 * turn).unwrap();
        let side = BrokerSide::new(broker.bootstrap(), &group_id).map(|side| side.patient(patience));
        side.and_then(|mut side| play(course, &group_id, &mut side, awaited(course)))
    };
    let play_one = &play_one;
    let mut records: Vec<Result<Record, PeerError>> = thread::scope(|scope| {
        let courses = file.courses.iter().enumerate();
        let running: Vec<_> =
            courses.map(|(index, course)| scope.spawn(move || play_one(0, index, course))).collect();
        running.into_iter().map(|one| one.join().unwrap()).collect()
    });
    for (index, (course, record)) in file.courses.iter().zip(&mut records).enumerate() {
        for turn in 1..TRIES {
            if record.as_ref().is_ok_and(|record| awaited(course) == Some(record)) {
                break;
            }
            *record = play_one(turn, index, course);
        }
    }
    let named = file.courses.iter().zip(records);
    named
        .map(|(course, record)| record.unwrap_or_else(|error| panic!("{:?}: {error}", course.name)))
        .collect()
}

#[test]
fn the_models_answer_what_the_broker_answered() {
    for name in FILES {
        let file = read(name);
        let found = compare(&file, ("model", &by_model(&file)), ("broker", &golden(name)));
        assert!(found.is_empty(), "{name}:\n{found}");
    }
}

#[test]
fn a_changed_answer_is_seen() {
    let file = read("prompt");
    let records = golden("prompt");
    let mut changed = records.clone();
    let answer = &mut changed[0].steps[0][0];
    assert_eq!(answer["error"], "MEMBER_ID_REQUIRED");
    answer["error"] = "NONE".into();
    let found = compare(&file, ("left", &records), ("right", &changed));
    assert!(found.starts_with(&format!("{:?}, step 1: Join", file.courses[0].name)), "{found}");
    changed[0].steps[0].clear();
    assert!(!compare(&file, ("left", &records), ("right", &changed)).is_empty());
    changed.remove(0);
    assert!(compare(&file, ("left", &records), ("right", &changed)).contains("not in both"));
}

#[test]
#[ignore = "needs a Kafka broker: .ci/run interop"]
fn a_broker_answers_as_it_did() {
    for name in FILES {
        let file = read(name);
        let Some(broker) = broker_of(&file) else { return };
        // The models' answers say what to wait for; what comes is put down all the same.
        let found = by_broker(&file, &broker, &by_model(&file));
        let steps: usize = found.iter().map(|one| one.steps.len()).sum();
        if env::var_os("TENURE_RECORD").is_some() {
            fs::write(folder().join(format!("{name}.golden.jsonl")), Record::write(&found)).unwrap();
        }
        let differences = compare(&file, ("now", &found), ("recorded", &golden(name)));
        assert!(differences.is_empty(), "{name}:\n{differences}");
        println!("{name}: {} courses, {steps} steps answered as recorded", found.len());
    }
}
