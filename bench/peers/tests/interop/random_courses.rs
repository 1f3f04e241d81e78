//! Courses that nobody thought of: random requests, to a real broker and to the models.
//!
//! Two members at most, because with more of them the released broker takes a new leader from a hash of random ids.

use std::env;

use serde_json::{Value, json};
use tenure_peers::course::step::Step;
use tenure_peers::course::{Course, CourseFile, ModelSide, Record, compare, play};

use crate::courses::{broker_of, by_broker, by_model, read};

const COURSES: u64 = 120;
const STEPS: usize = 36;

/// A small generator of numbers, the same on every machine (splitmix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    fn one_in(&mut self, chances: u64) -> bool {
        self.below(chances) == 0
    }

    fn pick<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        let index = usize::try_from(self.below(list.len() as u64)).unwrap();
        &list[index]
    }
}

/// A step that makes sense, or nearly.
fn step(random: &mut Random, clients: &[&str], members: &[&str]) -> Step {
    let by = *random.pick(clients);
    let mut fields = json!({ "by": by });
    // A second connection of a member: it has nothing of its own to say.
    let second = !members.contains(&by);
    let identity = |random: &mut Random, fields: &mut Value| {
        if second || random.one_in(6) {
            let others: Vec<&str> = members.iter().copied().chain(["", "nobody"]).collect();
            fields["id"] = json!(if second { members[0] } else { *random.pick(&others) });
        }
        if second || random.one_in(6) {
            fields["generation"] =
                json!(i64::try_from(random.below(5)).unwrap() - i64::from(random.one_in(3)));
        }
    };
    let name = match random.below(20) {
        0..=6 => {
            if random.one_in(4) {
                fields["metadata"] = json!("more");
            }
            if random.one_in(5) {
                let lists =
                    [vec!["range", "roundrobin"], vec!["roundrobin", "range"], vec!["roundrobin"], vec![]];
                fields["protocols"] = json!(random.pick(&lists));
            }
            if second || random.one_in(8) {
                fields["id"] = json!(random.pick(&[members[0], members[members.len() - 1], "", "nobody"]));
            }
            "join"
        }
        7..=11 => {
            identity(random, &mut fields);
            let assign: serde_json::Map<String, Value> =
                members.iter().map(|one| ((*one).to_owned(), json!(format!("for {one}")))).collect();
            fields["assign"] = if random.one_in(3) { json!({}) } else { Value::Object(assign) };
            "sync"
        }
        12 | 13 => {
            identity(random, &mut fields);
            "heartbeat"
        }
        14 => {
            if random.one_in(2) {
                fields["members"] = json!([{ "id": random.pick(members) }, { "id": "nobody" }]);
            } else if random.one_in(4) {
                fields["members"] = json!([{ "instance": "i1" }]);
            }
            "leave"
        }
        15 | 16 => {
            identity(random, &mut fields);
            fields["offset"] = json!(random.below(100));
            fields["version"] = json!(8 + random.below(2));
            "commit"
        }
        17 => {
            fields["stable"] = json!(random.one_in(2));
            "fetch"
        }
        18 => {
            fields = json!({});
            "describe"
        }
        _ if random.one_in(3) => {
            fields = json!({});
            "delete"
        }
        _ => {
            identity(random, &mut fields);
            "heartbeat"
        }
    };
    serde_json::from_value(json!({ name: fields })).unwrap()
}

/// A course of this seed: two dynamic members, or a dynamic and a static one that may come twice.
fn course(file: &CourseFile, seed: u64) -> Course {
    let mut random = Random(seed);
    let (clients, members, profiles): (&[&str], &[&str], Value) = if random.one_in(2) {
        (&["a", "a", "b", "b", "a-again", "x"], &["a", "b"], json!({}))
    } else {
        let again = json!({ "s": { "instance": "i1" }, "s-again": { "instance": "i1" } });
        (&["a", "a", "s", "s-again", "a-again"], &["a", "s", "s-again"], again)
    };
    let mut course: Course = serde_json::from_value(json!({
        "name": format!("seed {seed}"), "clients": profiles, "steps": []
    }))
    .unwrap();
    while course.steps.len() < STEPS {
        course.steps.push(step(&mut random, clients, members));
        // A client whose last request waits can send no other.
        if play(&course, "course", &mut ModelSide::new(file).unwrap(), None).is_err() {
            course.steps.pop();
            if random.one_in(40) {
                break;
            }
        }
    }
    course
}

/// What happened in each course that differs, up to the difference.
fn stories(file: &CourseFile, found: &[Record], expected: &[Record]) -> String {
    let mut out = String::new();
    for (course, (found, expected)) in file.courses.iter().zip(found.iter().zip(expected)) {
        let steps = course.steps.iter().zip(found.steps.iter().zip(&expected.steps));
        if found == expected {
            continue;
        }
        out += &format!("{}\n", course.name);
        for (step, (one, other)) in steps {
            out += &format!("  {step:?}\n    {}\n", json!(one));
            if one != other {
                break;
            }
        }
    }
    out
}

#[test]
#[ignore = "needs a Kafka broker: .ci/run interop"]
fn a_broker_and_the_models_answer_random_courses_alike() {
    let first = env::var("TENURE_SEED").map_or(1, |seed| seed.parse().unwrap());
    println!("seeds {first} to {}, of {STEPS} steps at most", first + COURSES - 1);
    let base = CourseFile { courses: Vec::new(), ..read("prompt") };
    let courses = (first..first + COURSES).map(|seed| course(&base, seed)).collect();
    let file = CourseFile { courses, ..base };
    let Some(broker) = broker_of(&file) else { return };
    let expected = by_model(&file);
    let steps: usize = expected.iter().map(|one| one.steps.len()).sum();
    let answers: usize = expected.iter().flat_map(|one| &one.steps).map(Vec::len).sum();
    assert!(steps > 2_000 && answers > 1_500, "{steps} steps, {answers} answers");
    let found = by_broker(&file, &broker, &expected);
    let differences = compare(&file, ("broker", &found), ("model", &expected));
    assert!(differences.is_empty(), "{differences}\n{}", stories(&file, &found, &expected));
    println!("{} courses, {steps} steps, {answers} answers alike", file.courses.len());
}
