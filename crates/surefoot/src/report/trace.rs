//! Runs as text: the start state in full, then what each step changes, then the last state in full.

use std::fmt::Write as _;

use surefoot_engines::step::describe_command;
use surefoot_engines::{Task, Trace, TraceStep};
use surefoot_model::{Value, VariableType};

/// Width of the lines in which states are printed.
const WIDTH: usize = 100;

/// A run, step by step; `last` says what its last state is.
pub fn text(task: &Task, trace: &Trace, last: &str) -> String {
    let mut text = format!("start state\n{}", state(task, &trace.start));
    let digits = trace.steps.len().to_string().len();
    let mut before = trace.start.as_slice();
    for (i, step) in trace.steps.iter().enumerate() {
        let number = i + 1;
        let command = describe_command(task, &task.system.commands[step.command]);
        let outcome = outcome(task, before, step);
        let changes = changes(task, before, &step.state);
        let _ = writeln!(
            text,
            "step {number:digits$}  {command}{outcome}\n{:indent$}{changes}",
            "",
            indent = digits + 7
        );
        before = &step.state;
    }
    let _ = write!(text, "{last}\n{}", state(task, trace.last()));
    text
}

/// Which outcome it was, if there are several: `, outcome 2 of 3 (probability 0.1)`.
fn outcome(task: &Task, before: &[i32], step: &TraceStep) -> String {
    let count = task.system.commands[step.command].outcomes.len();
    if count < 2 {
        return String::new();
    }
    let chance = probability(task, before, step).map_or(String::new(), |p| format!(" (probability {p})"));
    format!(", outcome {} of {count}{chance}", step.outcome + 1)
}

/// The probability of a step's outcome in the state before it.
pub fn probability(task: &Task, before: &[i32], step: &TraceStep) -> Option<f64> {
    let system = &task.system;
    let value =
        system.exprs.evaluate(system.commands[step.command].outcomes[step.outcome].probability, |v| {
            let value = before[v.index()];
            match system.variables[v.index()].ty {
                VariableType::Bool => Value::Bool(value != 0),
                _ => Value::Int(i64::from(value)),
            }
        });
    value.ok()?.as_real()
}

/// `x: 1 → 2, y: 0 → 3`.
pub fn changes(task: &Task, before: &[i32], after: &[i32]) -> String {
    let changed: Vec<String> = task
        .system
        .variables
        .iter()
        .zip(before.iter().zip(after))
        .filter(|(_, (before, after))| before != after)
        .map(|(v, (&before, &after))| format!("{}: {} → {}", v.name, v.display(before), v.display(after)))
        .collect();
    if changed.is_empty() { "nothing changes".into() } else { changed.join(", ") }
}

/// All values, in indented lines; locations of automata that have only one go without saying.
pub fn state(task: &Task, state: &[i32]) -> String {
    let pairs = task.system.variables.iter().zip(state).filter(|(v, _)| v.value_names.len() != 1);
    wrapped(pairs.map(|(v, &value)| format!("{} = {}", v.name, v.display(value))))
}

/// Items separated by commas, in indented lines.
pub fn wrapped(items: impl IntoIterator<Item = String>) -> String {
    let mut text = String::new();
    let mut line = String::from("  ");
    let mut items = items.into_iter().peekable();
    while let Some(mut item) = items.next() {
        if items.peek().is_some() {
            item.push(',');
        }
        let blank = line.trim().is_empty();
        if !blank && line.chars().count() + 1 + item.chars().count() > WIDTH {
            let _ = writeln!(text, "{line}");
            line = format!("  {item}");
        } else {
            if !blank {
                line.push(' ');
            }
            line.push_str(&item);
        }
    }
    let _ = writeln!(text, "{line}");
    text
}

/// The lines of a text, indented once more.
pub fn indented(text: &str) -> String {
    let mut result = String::new();
    for line in text.lines() {
        let _ = writeln!(result, "  {line}");
    }
    result
}
