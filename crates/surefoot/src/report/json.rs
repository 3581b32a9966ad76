//! Results as JSON; `docs/json.md` describes them.

use std::path::Path;

use serde_json::{Map, Value, json};
use surefoot_engines::{PerStart, Semantics, Statistics, Task, Trace, Verdict};
use surefoot_model::{InputError, LabelId, Sources, Variable, VariableType};

use super::{certificate, ic3, pa, reading, trace};
use crate::answer::{Answer, Details};
use crate::load::Problem;
use crate::state_file::Written;

/// Files that `verify` writes.
#[derive(Debug, Clone, Copy)]
pub struct Files<'f> {
    /// Where a certificate is written.
    pub certificate: Option<&'f Path>,
    /// The state that was written.
    pub state: Option<&'f Written>,
}

/// The result of `verify`.
pub fn result(problem: &Problem, answer: &Answer, written: Files<'_>) -> Value {
    let task = &problem.task;
    let outcome = &answer.outcome;
    let s = &outcome.statistics;
    let (verdict, trace) = match &outcome.verdict {
        Verdict::Safe => ("SAFE", None),
        Verdict::Unsafe(found) => ("UNSAFE", Some(run(task, found))),
        Verdict::Unknown(_) => ("UNKNOWN", None),
    };
    let is_explicit = matches!(answer.details, Details::Explicit);
    let complete = if is_explicit { s.complete } else { outcome.verdict == Verdict::Safe };
    let (mut explicit, mut ic3, mut pa) = (None, None, None);
    match &answer.details {
        Details::Explicit => explicit = Some(counts(s)),
        Details::Ic3 { statistics, laws, .. } => ic3 = Some(ic3::counts(statistics, laws)),
        Details::Pa { statistics, predicates, laws, .. } => {
            pa = Some(pa::counts(statistics, predicates, laws));
        }
    }
    let vacuity = outcome
        .vacuity
        .iter()
        .map(|&vacuity| json!({"kind": reading::vacuity(vacuity), "message": vacuity.to_string()}));
    let mut document = header("surefoot-result/1");
    document.extend(members(json!({
        "verdict": verdict,
        "reason": outcome.stopped.map(reading::stop_reason),
        "engine": answer.engine().name(),
        "complete": complete,
    })));
    document.extend(subject(problem));
    document.extend(members(json!({
        "counts": explicit,
        "ic3": ic3,
        "pa": pa,
        "time_seconds": s.time.as_secs_f64(),
        "start_time_seconds": is_explicit.then_some(s.start_time.as_secs_f64()),
        "memory_bytes": s.memory,
        "bytes_per_state": (is_explicit && s.states > 0).then(|| s.memory as f64 / s.states as f64),
        "vacuity": vacuity.collect::<Vec<_>>(),
        "trace": trace,
        "certificate": answer.certificate().map(|issued| certificate::document(issued, written.certificate)),
        "state": written.state.map(ic3::state),
        "per_start": outcome.per_start.as_ref().map(|per_start| starts(task, per_start)),
        "warnings": warnings(&problem.warnings),
        "files": files(&problem.sources),
    })));
    Value::Object(document)
}

/// The members that begin every document.
pub fn header(schema: &str) -> Map<String, Value> {
    members(json!({
        "schema": schema,
        "surefoot": env!("CARGO_PKG_VERSION"),
    }))
}

/// What was checked.
pub fn subject(problem: &Problem) -> Map<String, Value> {
    let task = &problem.task;
    let policy = task.policy.as_ref().zip(problem.policy.as_ref()).map(|(policy, file)| {
        json!({"file": file.display().to_string(), "description": policy.scorer.shape().to_string()})
    });
    let constants = problem.constants.iter().map(|(name, value)| (name.clone(), value.clone().into()));
    members(json!({
        "model": {"name": task.system.name, "file": problem.model.display().to_string()},
        "property": task.property.name,
        "policy": policy,
        "constants": Value::Object(constants.collect()),
        "arithmetic": task.semantics.arithmetic.name(),
        "semantics": semantics(task.semantics),
    }))
}

/// The members of an object.
pub fn members(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}

/// The reading.
pub fn semantics(semantics: Semantics) -> Value {
    json!({
        "filter": semantics.filter,
        "goal": reading::goal(semantics.goal),
        "out_of_domain": reading::out_of_domain(semantics.out_of_domain),
        "arithmetic": semantics.arithmetic.name(),
    })
}

fn counts(s: &Statistics) -> Value {
    json!({
        "start_states": s.start_states,
        "states": s.states,
        "expanded": s.expanded,
        "transitions": s.transitions,
        "unsafe_states": s.unsafe_states,
        "stalls": s.stalls,
        "terminal_states": s.terminal_states,
        "goal_states": s.goal_states,
        "depth": s.depth,
        "variables": s.variables,
        "state_bits": s.state_bits,
        "projected_variables": s.projected,
    })
}

/// A run.
pub fn run(task: &Task, run: &Trace) -> Value {
    let mut before = run.start.as_slice();
    let steps: Vec<Value> = run
        .steps
        .iter()
        .map(|step| {
            let command = &task.system.commands[step.command];
            let changed: Vec<usize> = (0..before.len()).filter(|&v| before[v] != step.state[v]).collect();
            let json = json!({
                "label": label(task, command.label),
                "command": step.command,
                "origin": command.origin,
                "outcome": step.outcome,
                "probability": trace::probability(task, before, step),
                "changes": values(task, &step.state, changed),
                "state": state(task, &step.state),
            });
            before = &step.state;
            json
        })
        .collect();
    json!({"start": state(task, &run.start), "steps": steps})
}

fn label(task: &Task, label: Option<LabelId>) -> Option<&str> {
    label.map(|label| task.system.labels[label.index()].name.as_str())
}

/// A state as an object from names to values.
pub fn state(task: &Task, state: &[i32]) -> Value {
    values(task, state, 0..state.len())
}

pub fn values(task: &Task, state: &[i32], variables: impl IntoIterator<Item = usize>) -> Value {
    let variables = variables.into_iter().map(|v| (&task.system.variables[v], state[v]));
    Value::Object(
        variables.map(|(variable, value)| (variable.name.clone(), scalar(variable, value))).collect(),
    )
}

/// A value: Booleans as such, locations by name, else a number.
pub fn scalar(variable: &Variable, value: i32) -> Value {
    match variable.ty {
        VariableType::Bool => Value::Bool(value != 0),
        _ if variable.value_names.is_empty() => value.into(),
        _ => variable.display(value).into(),
    }
}

fn starts(task: &Task, per_start: &PerStart) -> Value {
    let unsafe_starts: Vec<Value> = per_start.unsafe_starts.iter().map(|start| state(task, start)).collect();
    json!({"safe": per_start.safe_count, "unsafe": unsafe_starts.len(), "unsafe_starts": unsafe_starts})
}

/// What looks wrong in the files.
pub fn warnings(warnings: &[InputError]) -> Value {
    warnings.iter().map(input_error).collect()
}

/// A mistake in a file.
pub fn input_error(error: &InputError) -> Value {
    json!({
        "file": error.path.display().to_string(),
        "line": error.position.map(|position| position.line),
        "column": error.position.map(|position| position.column),
        "json_path": (!error.json_path.is_empty()).then_some(&error.json_path),
        "message": error.message,
        "hint": error.hint,
    })
}

/// The files that were read, with their hashes.
pub fn files(sources: &Sources) -> Value {
    let file = |file: &surefoot_model::SourceFile| json!({"path": file.path.display().to_string(), "sha256": file.sha256});
    sources.files.iter().map(file).collect()
}
