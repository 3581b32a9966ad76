//! The result of `verify` as text. The last line is the verdict.

use std::fmt::Write as _;

use surefoot_engines::{Goal, PerStart, Statistics, Task, Verdict};

use super::number::{bytes, counted, grouped, rate, seconds};
use super::{ic3, pa, reading, trace};
use crate::answer::{Answer, Details};
use crate::load::Problem;
use crate::state_file::Written;

/// Unsafe start states that are listed.
const LISTED_STARTS: usize = 20;

/// The whole report. The state may have been written to a file.
pub fn text(problem: &Problem, answer: &Answer, state: Option<&Written>) -> String {
    let task = &problem.task;
    let outcome = &answer.outcome;
    let mut text = subject(problem);
    text.push('\n');
    text += &counts(task, answer, state);
    if let Some(per_start) = &outcome.per_start {
        text += &starts(task, per_start);
    }
    if let Verdict::Unsafe(found) = &outcome.verdict {
        text.push('\n');
        text += &trace::text(task, found, "unsafe state");
        let condition = task.system.exprs.display(task.property.unsafe_states, &task.system.variables);
        let _ = writeln!(text, "  satisfies the unsafe condition {condition}");
    }
    let notes = notes(answer);
    if !notes.is_empty() {
        text.push('\n');
        for note in notes {
            let _ = writeln!(text, "note: {note}");
        }
    }
    let _ = writeln!(text, "\n{}", verdict(answer));
    text
}

/// What was checked.
pub fn subject(problem: &Problem) -> String {
    let task = &problem.task;
    let system = &task.system;
    let mut text = String::new();
    let _ = writeln!(
        text,
        "model     {}: {}, {}, {}",
        problem.model.display(),
        counted(system.variables.len() as u64, "variable"),
        counted(system.labels.len() as u64, "label"),
        counted(system.commands.len() as u64, "command")
    );
    let _ = writeln!(text, "property  {}", task.property.name);
    let policy = match (&task.policy, &problem.policy) {
        (Some(policy), Some(file)) => format!("{}: {}", file.display(), policy.describe()),
        _ => "none: every enabled action may be taken".into(),
    };
    let _ = writeln!(text, "policy    {policy}");
    let _ = writeln!(text, "reading   {}", reading::describe(task.semantics, task.policy.is_some()));
    text
}

/// What was covered.
fn counts(task: &Task, answer: &Answer, state: Option<&Written>) -> String {
    let outcome = &answer.outcome;
    let rows = match &answer.details {
        Details::Explicit => explicit_rows(task, &outcome.statistics),
        Details::Ic3 { statistics, laws, certificate, .. } => {
            ic3::rows(outcome, statistics, laws, certificate.as_ref(), state)
        }
        Details::Pa { engine, statistics, predicates, laws, certificate } => {
            pa::rows(*engine, outcome, statistics, (predicates, laws), certificate.as_ref())
        }
    };
    let mut text = String::new();
    for (name, value) in rows {
        let _ = writeln!(text, "{name:<16}  {value}");
    }
    if matches!(answer.details, Details::Explicit) && !outcome.statistics.complete {
        let why = outcome.stopped.map_or(String::new(), |reason| format!("{reason}: "));
        let _ =
            writeln!(text, "({why}not everything reachable was expanded, the counts are what was covered)");
    }
    text
}

/// Names and values of what the explicit engine counts.
fn explicit_rows(task: &Task, s: &Statistics) -> Vec<(&'static str, String)> {
    let mut rows = Vec::new();
    if let Some(left_out) = s.projected {
        rows.push(("projection", format!("without {}", counted(left_out as u64, "variable"))));
    }
    rows.extend([("start states", grouped(s.start_states)), ("states", grouped(s.states))]);
    if !s.complete {
        rows.push(("states expanded", grouped(s.expanded)));
    }
    rows.push(("transitions", grouped(s.transitions)));
    rows.push(("unsafe states", grouped(s.unsafe_states)));
    if task.policy.is_some() {
        rows.push(("stalls", grouped(s.stalls)));
    }
    rows.push(("terminal states", grouped(s.terminal_states)));
    if task.semantics.goal != Goal::Ignore {
        rows.push(("goal states", grouped(s.goal_states)));
    }
    rows.push(("depth", grouped(s.depth)));
    let time = format!(
        "{}, {} states/s, start states {}",
        seconds(s.time),
        rate(s.states, s.time),
        seconds(s.start_time)
    );
    rows.push(("time", time));
    let per_state = if s.states > 0 { s.memory as f64 / s.states as f64 } else { 0.0 };
    let packed = format!("{} variables in {} bits", s.variables, s.state_bits);
    rows.push(("memory", format!("{}, {per_state:.1} bytes/state, {packed}", bytes(s.memory))));
    rows
}

/// Start states by verdict.
fn starts(task: &Task, per_start: &PerStart) -> String {
    let unsafe_count = per_start.unsafe_starts.len();
    let mut text = format!(
        "\nby start state    {} unsafe, {} safe\n",
        grouped(unsafe_count as u64),
        grouped(per_start.safe_count)
    );
    for (i, start) in per_start.unsafe_starts.iter().take(LISTED_STARTS).enumerate() {
        let _ = write!(text, "unsafe start state {}\n{}", i + 1, trace::state(task, start));
    }
    if unsafe_count > LISTED_STARTS {
        let _ = writeln!(text, "… and {} more (see --json)", grouped((unsafe_count - LISTED_STARTS) as u64));
    }
    text
}

/// What makes the answer say less than it seems to.
fn notes(answer: &Answer) -> Vec<String> {
    let outcome = &answer.outcome;
    let verdict = match outcome.verdict {
        Verdict::Safe => "SAFE, but ",
        _ => "",
    };
    let mut notes: Vec<String> =
        outcome.vacuity.iter().map(|vacuity| format!("{verdict}{vacuity}")).collect();
    let Statistics { stalls, states, .. } = outcome.statistics;
    if stalls > 0 && outcome.verdict == Verdict::Safe {
        let verb = if stalls == 1 { "stalls" } else { "stall" };
        notes.push(format!(
            "SAFE, but {} of {} {verb}: the policy chooses a label that is not applicable there, and does nothing",
            grouped(stalls),
            counted(states, "state"),
        ));
    }
    if answer.certificate().is_some_and(|issued| issued.check.is_none()) {
        notes.push("SAFE, but the certificate was not checked".into());
    }
    notes
}

/// The verdict line.
pub fn verdict(answer: &Answer) -> String {
    let outcome = &answer.outcome;
    let s = &outcome.statistics;
    let time = seconds(s.time);
    match &outcome.verdict {
        Verdict::Safe => {
            let evidence = match answer.certificate() {
                Some(issued) => counted(issued.regions, "region"),
                None => counted(s.states, "state"),
            };
            let vacuous = if outcome.vacuity.is_empty() { "" } else { ", vacuous" };
            let stalls =
                if s.stalls > 0 { format!(", {}", counted(s.stalls, "stall")) } else { String::new() };
            let unchecked = answer.certificate().is_some_and(|issued| issued.check.is_none());
            let unchecked = if unchecked { ", not checked" } else { "" };
            format!("SAFE  {evidence}, {time}{vacuous}{stalls}{unchecked}")
        }
        Verdict::Unsafe(trace) if trace.steps.is_empty() => "UNSAFE  a start state is unsafe".into(),
        Verdict::Unsafe(trace) => {
            format!("UNSAFE  unsafe state reached in {}", counted(trace.steps.len() as u64, "step"))
        }
        Verdict::Unknown(reason) => {
            let covered = match &answer.details {
                Details::Explicit => counted(s.states, "state"),
                Details::Ic3 { statistics, .. } => {
                    format!("depth {}, {}", grouped(statistics.depth), counted(statistics.reasons, "reason"))
                }
                Details::Pa { statistics, .. } => {
                    let predicates = counted(statistics.predicates, "predicate");
                    format!("{predicates}, {}", counted(statistics.states, "abstract state"))
                }
            };
            format!("UNKNOWN  {reason} after {time}, {covered}")
        }
    }
}
