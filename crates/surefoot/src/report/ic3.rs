//! What IC3 has done, as text and as JSON.

use std::path::Path;

use serde_json::{Value, json};
use surefoot_engines::Outcome;
use surefoot_engines::ic3::Statistics;

use super::check;
use super::number::{bytes, counted, grouped, seconds};
use crate::answer::Issued;

/// Names and values of what was counted.
pub fn rows(
    outcome: &Outcome,
    statistics: &Statistics,
    certificate: Option<&Issued>,
) -> Vec<(&'static str, String)> {
    let mut rows = vec![
        ("depth", counted(statistics.depth, "frame")),
        ("reasons", grouped(statistics.reasons)),
        ("obligations", grouped(statistics.obligations)),
        ("states visited", grouped(statistics.states)),
    ];
    let search = seconds(statistics.time);
    rows.push(("time", format!("{}, search {search}", seconds(outcome.statistics.time))));
    rows.push(("memory", format!("{} for reasons and obligations", bytes(statistics.memory))));
    rows.extend(certificate.map(|issued| ("certificate", describe(issued))));
    rows
}

fn describe(issued: &Issued) -> String {
    let check = match &issued.check {
        Some(check) => format!("checked in {}", seconds(check.time)),
        None => "not checked".into(),
    };
    format!("{}, {}, {check}", counted(issued.regions, "region"), bytes(issued.contents.len() as u64))
}

/// The counts as JSON.
pub fn counts(statistics: &Statistics) -> Value {
    json!({
        "depth": statistics.depth,
        "reasons": statistics.reasons,
        "obligations": statistics.obligations,
        "states": statistics.states,
        "search_seconds": statistics.time.as_secs_f64(),
    })
}

/// The certificate as JSON; `file` is where it is written.
pub fn certificate(issued: &Issued, file: Option<&Path>) -> Value {
    json!({
        "file": file.map(|file| file.display().to_string()),
        "regions": issued.regions,
        "bytes": issued.contents.len(),
        "checked": issued.check.is_some(),
        "check": issued.check.map(|checked| check::counts(&checked.report)),
        "check_seconds": issued.check.map(|checked| checked.time.as_secs_f64()),
    })
}
