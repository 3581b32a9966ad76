//! What IC3 has done, as text and as JSON.

use std::time::Duration;

use serde_json::{Value, json};
use surefoot_engines::ic3::{Kept, Resumed, Sizes, Statistics, Times};
use surefoot_engines::{Outcome, Tally};

use super::certificate;
use super::number::{bytes, counted, grouped, percent, seconds};
use crate::answer::Issued;
use crate::state_file::Written;

/// Names and values of what was counted.
pub fn rows(
    outcome: &Outcome,
    statistics: &Statistics,
    laws: &[String],
    issued: Option<&Issued>,
    state: Option<&Written>,
) -> Vec<(&'static str, String)> {
    let mut rows: Vec<(&'static str, String)> =
        statistics.resumed.iter().map(|resumed| ("resumed", describe_resumed(resumed))).collect();
    rows.extend([
        ("depth", counted(statistics.depth, "frame")),
        ("reasons", reasons(statistics, outcome.statistics.variables)),
        ("obligations", grouped(statistics.obligations)),
        ("states visited", grouped(statistics.states)),
    ]);
    if statistics.listed > 0 {
        let without = match statistics.left_out {
            0 => String::new(),
            count => format!(", without {}", counted(count as u64, "variable")),
        };
        rows.push((
            "listed",
            format!("{}, all that are reachable{without}", counted(statistics.listed, "state")),
        ));
    }
    rows.extend(laws.iter().map(|law| ("law", law.clone())));
    let tests = &statistics.tests;
    let known = percent(tests.boxes_by_state as f64, tests.boxes.count as f64);
    rows.push((
        "boxes",
        format!(
            "{}, {known} by single states in {}",
            counted(tests.boxes.count, "test"),
            seconds(tests.boxes.time)
        ),
    ));
    rows.push(("environment", describe_tests(tests.environment, tests.environment_known, "cores")));
    let asked = Tally { count: tests.policy.count - tests.policy_known, ..tests.policy };
    rows.push(("policy", describe_tests(asked, tests.policy_known, "earlier decisions")));
    let search = seconds(statistics.time);
    rows.push(("time", format!("{}, search {search}", seconds(outcome.statistics.time))));
    let whole: Duration = procedures(&statistics.times).iter().map(|(_, time)| *time).sum();
    let parts: Vec<String> = procedures(&statistics.times)
        .into_iter()
        .filter(|(_, time)| !time.is_zero())
        .map(|(name, time)| format!("{name} {}", percent(time.as_secs_f64(), whole.as_secs_f64())))
        .collect();
    rows.push(("procedures", parts.join(", ")));
    rows.push(("memory", format!("{} for reasons, states, solvers and decisions", bytes(statistics.memory))));
    rows.extend(issued.map(|issued| ("certificate", certificate::describe(issued))));
    rows.extend(state.map(|state| ("state saved", describe_state(state))));
    rows
}

/// What became of saved frames.
fn describe_resumed(Resumed { depth, reasons, kept }: &Resumed) -> String {
    let (all, depth) = (counted(*reasons, "reason"), grouped(*depth));
    match kept {
        None => format!("{all}, depth {depth}, not tested before the run ended"),
        Some(Kept { reasons, weaker: 0 }) => format!("{} of {all}, depth {depth}", grouped(*reasons)),
        Some(Kept { reasons, weaker }) => {
            format!("{} of {all}, {} for fewer steps, depth {depth}", grouped(*reasons), grouped(*weaker))
        }
    }
}

fn describe_state(Written { file, depth, reasons, bytes: size }: &Written) -> String {
    format!(
        "{}: {}, depth {}, {}",
        file.display(),
        counted(*reasons, "reason"),
        grouped(*depth),
        bytes(*size)
    )
}

/// How many reasons there are, and on how many variables they have bounds.
fn reasons(statistics: &Statistics, variables: usize) -> String {
    let number = grouped(statistics.reasons);
    match statistics.sizes {
        Some(Sizes { least, median, greatest, .. }) => format!(
            "{number}, with bounds on {least} to {greatest} of {}, median {median}",
            counted(variables as u64, "variable")
        ),
        None => number,
    }
}

/// Tests that took work, and how many did not.
fn describe_tests(asked: Tally, known: u64, by: &str) -> String {
    let count = asked.count + known;
    let rate = percent(known as f64, count as f64);
    format!("{} in {}, {rate} by {by}", counted(count, "test"), seconds(asked.time))
}

/// The procedures by name.
fn procedures(times: &Times) -> [(&'static str, Duration); 10] {
    [
        ("resume", times.resume),
        ("listing", times.listing),
        ("samples", times.samples),
        ("growth", times.growth),
        ("start", times.start),
        ("successor", times.successor),
        ("generalize", times.generalize),
        ("propagate", times.propagate),
        ("certificate", times.certificate),
        ("check", times.check),
    ]
}

/// The counts as JSON.
pub fn counts(statistics: &Statistics, laws: &[String]) -> Value {
    let tests = &statistics.tests;
    let times = procedures(&statistics.times).map(|(name, time)| (name.into(), time.as_secs_f64().into()));
    json!({
        "resumed": statistics.resumed.map(resumed),
        "depth": statistics.depth,
        "reasons": statistics.reasons,
        "closed": statistics.closed,
        "levels": statistics.levels,
        "reason_sizes": statistics.sizes.as_ref().map(sizes),
        "obligations": statistics.obligations,
        "states": statistics.states,
        "samples": statistics.samples,
        "laws": laws,
        "listed": statistics.listed,
        "listed_without_variables": statistics.left_out,
        "search_seconds": statistics.time.as_secs_f64(),
        "procedure_seconds": Value::Object(times.into_iter().collect()),
        "box_tests": {
            "count": tests.boxes.count,
            "by_state": tests.boxes_by_state,
            "seconds": tests.boxes.time.as_secs_f64(),
        },
        "environment_tests": {
            "count": tests.environment.count + tests.environment_known,
            "by_core": tests.environment_known,
            "seconds": tests.environment.time.as_secs_f64(),
        },
        "state_tests": {"count": tests.state.count, "seconds": tests.state.time.as_secs_f64()},
        "policy_tests": {
            "count": tests.policy.count,
            "by_cache": tests.policy_known,
            "seconds": tests.policy.time.as_secs_f64(),
        },
    })
}

fn resumed(Resumed { depth, reasons, kept }: Resumed) -> Value {
    json!({
        "depth": depth,
        "reasons": reasons,
        "kept": kept.map(|kept| kept.reasons),
        "weaker": kept.map(|kept| kept.weaker),
    })
}

/// A state that was written, as JSON.
pub fn state(Written { file, depth, reasons, bytes }: &Written) -> Value {
    json!({"file": file.display().to_string(), "depth": depth, "reasons": reasons, "bytes": bytes})
}

fn sizes(sizes: &Sizes) -> Value {
    json!({
        "least": sizes.least,
        "lower_quartile": sizes.lower_quartile,
        "median": sizes.median,
        "upper_quartile": sizes.upper_quartile,
        "greatest": sizes.greatest,
        "mean": sizes.mean,
    })
}
