//! What was answered in a course, to keep and to compare.

use core::fmt::Write;

use serde_json::{Value, json};

use super::step::CourseFile;
use crate::requirement::PeerError;

/// The answers of one course, step by step.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// The course's name.
    pub name: String,
    /// The answers of each step, sorted by the name of the client that got them.
    pub steps: Vec<Vec<Value>>,
}

impl Record {
    /// The clients that were answered in a step.
    pub(super) fn clients(step: &[Value]) -> Vec<String> {
        step.iter().filter_map(|one| one.get("to").and_then(Value::as_str)).map(str::to_owned).collect()
    }

    /// As text: a line for each step.
    pub fn write(records: &[Self]) -> String {
        let mut out = String::new();
        for record in records {
            for (step, answers) in record.steps.iter().enumerate() {
                let line = json!({ "course": record.name, "step": step + 1, "answers": answers });
                let _ = writeln!(out, "{line}");
            }
        }
        out
    }

    /// Reads what [`write`](Self::write) wrote.
    ///
    /// # Errors
    ///
    /// [`PeerError::Failed`] with the line.
    pub fn parse(text: &str) -> Result<Vec<Self>, PeerError> {
        let mut records: Vec<Self> = Vec::new();
        for (number, line) in text.lines().enumerate() {
            let nonsense = |what: &str| PeerError::failed(format!("line {}: {what}", number + 1));
            let value: Value = serde_json::from_str(line).map_err(|error| nonsense(&error.to_string()))?;
            let name = value.get("course").and_then(Value::as_str).ok_or_else(|| nonsense("no course"))?;
            let answers =
                value.get("answers").and_then(Value::as_array).ok_or_else(|| nonsense("no answers"))?;
            match records.last_mut().filter(|last| last.name == name) {
                Some(last) => last.steps.push(answers.clone()),
                None => records.push(Self { name: name.to_owned(), steps: vec![answers.clone()] }),
            }
        }
        Ok(records)
    }
}

/// Where two records of a file's courses differ, in words; empty if nowhere.
pub fn compare(file: &CourseFile, left: (&str, &[Record]), right: (&str, &[Record])) -> String {
    let mut out = String::new();
    for course in &file.courses {
        let find = |records: &[Record]| records.iter().find(|one| one.name == course.name).cloned();
        let (Some(ours), Some(theirs)) = (find(left.1), find(right.1)) else {
            let _ = writeln!(out, "{:?}: not in both", course.name);
            continue;
        };
        for (index, step) in course.steps.iter().enumerate() {
            let (one, other) = (ours.steps.get(index), theirs.steps.get(index));
            if one != other {
                let show = |answers: Option<&Vec<Value>>| match answers {
                    None => "no such step".to_owned(),
                    Some(answers) => json!(answers).to_string(),
                };
                let _ = writeln!(
                    out,
                    "{:?}, step {}: {step:?}\n  {}: {}\n  {}: {}",
                    course.name,
                    index + 1,
                    left.0,
                    show(one),
                    right.0,
                    show(other)
                );
            }
        }
    }
    out
}
