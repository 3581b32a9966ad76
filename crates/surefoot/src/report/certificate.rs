//! The certificate of a SAFE, as text and as JSON.

use std::path::Path;

use serde_json::{Value, json};

use super::check;
use super::number::{bytes, counted, seconds};
use crate::answer::Issued;

/// In one line.
pub fn describe(issued: &Issued) -> String {
    let check = match &issued.check {
        Some(check) => format!("checked in {}", seconds(check.time)),
        None => "not checked".into(),
    };
    format!("{}, {}, {check}", counted(issued.regions, "region"), bytes(issued.contents.len() as u64))
}

/// As JSON; `file` is where it is written.
pub fn document(issued: &Issued, file: Option<&Path>) -> Value {
    json!({
        "file": file.map(|file| file.display().to_string()),
        "regions": issued.regions,
        "bytes": issued.contents.len(),
        "checked": issued.check.is_some(),
        "check": issued.check.map(|checked| check::counts(&checked.report)),
        "check_seconds": issued.check.map(|checked| checked.time.as_secs_f64()),
    })
}
