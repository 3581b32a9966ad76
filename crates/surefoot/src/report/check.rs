//! The result of `check` as text and as JSON.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use serde_json::{Map, Value, json};
use surefoot_certificate::{Obligation, Rejection, Report};
use surefoot_engines::{Goal, OutOfDomain, Semantics, StopReason, Task};
use surefoot_policy::Arithmetic;

use super::number::{bytes, counted, grouped, seconds};
use super::{json, outcome, reading};
use crate::load::Problem;

/// What was checked and what came out.
pub struct Checked<'c> {
    /// The certificate's file.
    pub file: &'c Path,
    /// Its length.
    pub bytes: u64,
    /// The number of its regions.
    pub regions: u64,
    /// Whether it proves that the task is safe.
    pub answer: Answer,
    /// How long it took to find out.
    pub time: Duration,
}

/// What a certificate is worth.
pub enum Answer {
    /// It is a proof.
    Accepted(Report),
    /// It is none, or one of something else.
    Rejected(Rejection),
    /// There was not enough time.
    Unknown(StopReason),
}

/// What is meant where nothing is said.
const DEFAULT: Semantics = Semantics {
    filter: false,
    goal: Goal::Ignore,
    out_of_domain: OutOfDomain::Error,
    arithmetic: Arithmetic::F64,
};

/// The names of obligations in JSON and in text.
const OBLIGATIONS: [(Obligation, &str); 4] = [
    (Obligation::Start, "start"),
    (Obligation::Safe, "safe"),
    (Obligation::Choice, "choice"),
    (Obligation::Successor, "successor"),
];

/// The report. The last line is the verdict.
pub fn text(problem: &Problem, checked: &Checked<'_>) -> String {
    let mut text = outcome::subject(problem);
    let size = format!("{}, {}", counted(checked.regions, "region"), bytes(checked.bytes));
    let _ = writeln!(text, "proof     {}: {size}\n", checked.file.display());
    if let Answer::Accepted(report) = &checked.answer {
        let named = OBLIGATIONS.iter().zip(report.parts);
        let by_obligation: Vec<String> =
            named.map(|((_, name), parts)| format!("{name} {}", grouped(parts))).collect();
        let _ = writeln!(text, "leaves            {}", grouped(report.leaves));
        let _ = writeln!(text, "parts             {}", by_obligation.join(", "));
        let _ = writeln!(text, "states evaluated  {}\n", grouped(report.points));
    }
    let _ = writeln!(text, "{}", verdict(problem, checked));
    text
}

/// The verdict line. It names a reading that is not the default: it may be the choice of the certificate.
fn verdict(problem: &Problem, checked: &Checked<'_>) -> String {
    let time = seconds(checked.time);
    match &checked.answer {
        Answer::Accepted(report) => {
            let regions = counted(report.regions, "region");
            let parts = counted(report.parts.iter().sum(), "part");
            let Task { semantics, policy, .. } = &problem.task;
            let reading = if *semantics == DEFAULT {
                String::new()
            } else {
                format!(" with {}", reading::describe(*semantics, policy.is_some()))
            };
            format!("ACCEPTED  SAFE is proved{reading}: {regions}, {parts}, {time}")
        }
        Answer::Rejected(rejection) => format!("REJECTED  {rejection}"),
        Answer::Unknown(reason) => {
            format!("UNKNOWN  {reason} after {time}: neither accepted nor rejected")
        }
    }
}

/// The same as JSON.
pub fn document(problem: &Problem, checked: &Checked<'_>) -> Value {
    let (accepted, report, reason) = match &checked.answer {
        Answer::Accepted(report) => (Some(true), Some(counts(report)), None),
        Answer::Rejected(rejection) => (Some(false), None, Some(rejection.to_string())),
        Answer::Unknown(reason) => (None, None, Some(reading::stop_reason(*reason).to_string())),
    };
    let failed = match &checked.answer {
        Answer::Rejected(Rejection::Failed { obligation, region, state, .. }) => Some(json!({
            "obligation": OBLIGATIONS[*obligation as usize].1,
            "region": region,
            "state": json::state(&problem.task, state),
        })),
        _ => None,
    };
    let mut document = json::header("surefoot-check/1");
    document.extend(json::members(json!({
        "accepted": accepted,
        "reason": reason,
        "failed": failed,
    })));
    document.extend(json::subject(problem));
    document.extend(json::members(json!({
        "certificate": {
            "file": checked.file.display().to_string(),
            "bytes": checked.bytes,
            "regions": checked.regions,
        },
        "check": report,
        "time_seconds": checked.time.as_secs_f64(),
        "warnings": json::warnings(&problem.warnings),
        "files": json::files(&problem.sources),
    })));
    Value::Object(document)
}

/// What a check took.
pub fn counts(report: &Report) -> Value {
    let parts: Map<String, Value> = OBLIGATIONS
        .iter()
        .zip(report.parts)
        .map(|((_, name), parts)| ((*name).into(), parts.into()))
        .collect();
    json!({"leaves": report.leaves, "parts": parts, "points": report.points})
}
