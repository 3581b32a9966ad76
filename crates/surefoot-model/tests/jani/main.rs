//! The JANI reader on small models: each feature is checked by evaluating the resulting commands at states.

mod assignments;
mod composition;
mod expressions;
mod files;
mod initial;
mod mistakes;
mod order;
mod properties;
mod random;
mod robustness;
mod variables;

use surefoot_model::jani::{Loaded, ReadOptions, read_text};
use surefoot_model::{ExprId, InputError, Position, Property, Value, VarId, VariableType};

/// A model with one automaton `A` (locations `l0`, `l1`) and actions `a`, `b`, each in a vector of its own.
///
/// `variables` and `edges` are lists without brackets; `more` are members of the model, each followed by a comma.
fn model_text(more: &str, variables: &str, edges: &str) -> String {
    format!(
        r#"{{
  "jani-version": 1, "name": "test", "type": "mdp", {more}
  "actions": [{{"name": "a"}}, {{"name": "b"}}],
  "variables": [{variables}],
  "automata": [{{"name": "A", "locations": [{{"name": "l0"}}, {{"name": "l1"}}], "initial-locations": ["l0"],
    "edges": [{edges}]}}],
  "system": {{"elements": [{{"automaton": "A"}}],
    "syncs": [{{"synchronise": ["a"], "result": "a"}}, {{"synchronise": ["b"], "result": "b"}}]}}
}}"#
    )
}

/// A bounded integer variable with initial value.
fn int(name: &str, lower: i32, upper: i32, initial: i32) -> String {
    format!(
        r#"{{"name": "{name}", "type": {{"kind": "bounded", "base": "int", "lower-bound": {lower}, "upper-bound": {upper}}}, "initial-value": {initial}}}"#
    )
}

/// An array of bounded integers with initial elements.
fn int_array(name: &str, upper: i32, elements: &str) -> String {
    format!(
        r#"{{"name": "{name}", "type": {{"kind": "array", "base": {{"kind": "bounded", "base": "int", "lower-bound": 0, "upper-bound": {upper}}}}}, "initial-value": {{"op": "av", "elements": [{elements}]}}}}"#
    )
}

/// An edge from `l0` to `l0` with action `a`, one destination and these assignments.
fn edge(guard: &str, assignments: &str) -> String {
    format!(
        r#"{{"location": "l0", "action": "a", "guard": {{"exp": {guard}}}, "destinations": [{{"location": "l0", "assignments": [{assignments}]}}]}}"#
    )
}

/// `{"op": op, "left": left, "right": right}`.
#[expect(clippy::needless_pass_by_value, reason = "calls read better without references to literals")]
fn binary(op: &str, left: impl ToString, right: impl ToString) -> String {
    format!(r#"{{"op": "{op}", "left": {}, "right": {}}}"#, left.to_string(), right.to_string())
}

fn load(text: &str) -> Loaded {
    load_with(text, &[])
}

fn load_with(text: &str, constants: &[(&str, &str)]) -> Loaded {
    match try_load(text, constants) {
        Ok(loaded) => loaded,
        Err(error) => panic!("{error}"),
    }
}

fn try_load(text: &str, constants: &[(&str, &str)]) -> Result<Loaded, InputError> {
    let constants = constants.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
    read_text(&[("test.jani", text)], "test.jani", None, &ReadOptions { constants, ..ReadOptions::default() })
}

/// Removes the mark `⟦` from a text and tells where it was.
fn marked(text: &str) -> (String, Position) {
    let (before, after) = text.split_once('⟦').expect("the text has a mark");
    let line = before.lines().last().filter(|_| !before.ends_with('\n')).unwrap_or_default();
    let position =
        Position { line: 1 + before.matches('\n').count() as u64, column: 1 + line.chars().count() as u64 };
    (format!("{before}{after}"), position)
}

/// Asserts that the text is refused with this message at the place of its mark; returns the error.
#[track_caller]
fn refused(text: &str, message: &str) -> InputError {
    let (text, position) = marked(text);
    let error = try_load(&text, &[]).expect_err("the model is wrong");
    assert_eq!((error.message.as_str(), error.position), (message, Some(position)), "{error}");
    assert_eq!(error.path.to_str(), Some("test.jani"));
    error
}

/// A state from text such as `x=1 A.location=1`; all other variables are 0.
fn state(loaded: &Loaded, text: &str) -> Vec<i32> {
    let mut state = vec![0; loaded.system.variables.len()];
    for pair in text.split_whitespace() {
        let (name, value) = pair.split_once('=').expect("pairs");
        let variable = loaded.system.variable(name).unwrap_or_else(|| panic!("no variable {name}"));
        state[variable.index()] = value.parse().expect("integers");
    }
    state
}

fn value_at(loaded: &Loaded, state: &[i32], id: ExprId) -> Option<Value> {
    let point = |v: VarId| match loaded.system.variables[v.index()].ty {
        VariableType::Bool => Value::Bool(state[v.index()] != 0),
        VariableType::Int { .. } => Value::Int(i64::from(state[v.index()])),
        VariableType::Real { .. } => Value::Real(f64::from(state[v.index()])),
    };
    loaded.system.exprs.evaluate(id, point).ok()
}

fn holds(loaded: &Loaded, at: &str, id: ExprId) -> bool {
    value_at(loaded, &state(loaded, at), id) == Some(Value::Bool(true))
}

/// The steps from a state, as `label probability: changed variables`, or `label probability! message`.
fn steps(loaded: &Loaded, at: &str) -> Vec<String> {
    let before = state(loaded, at);
    let mut steps = Vec::new();
    for command in &loaded.system.commands {
        if value_at(loaded, &before, command.guard) != Some(Value::Bool(true)) {
            continue;
        }
        let label = command.label.map_or("τ", |label| loaded.system.labels[label.index()].name.as_str());
        for outcome in &command.outcomes {
            let probability = value_at(loaded, &before, outcome.probability).expect("a probability");
            let failed = outcome.requirements.iter().find(|requirement| {
                value_at(loaded, &before, requirement.condition) != Some(Value::Bool(true))
            });
            if let Some(requirement) = failed {
                steps.push(format!("{label} {probability}! {}", requirement.message));
                continue;
            }
            let mut changes = Vec::new();
            for assignment in &outcome.assignments {
                let variable = &loaded.system.variables[assignment.variable.index()];
                assert_eq!(loaded.system.exprs.ty(assignment.value), variable.ty.ty());
                let value = match value_at(loaded, &before, assignment.value) {
                    Some(Value::Bool(value)) => i32::from(value).to_string(),
                    Some(value) => value.to_string(),
                    None => "undefined".into(),
                };
                if value != before[assignment.variable.index()].to_string() {
                    changes.push(format!(" {}={value}", variable.name));
                }
            }
            steps.push(format!("{label} {probability}:{}", changes.concat()));
        }
    }
    steps
}

/// The property of this name, which must be supported.
#[track_caller]
fn property<'l>(loaded: &'l Loaded, name: &str) -> &'l Property {
    let property =
        loaded.properties.iter().find(|property| property.name == name).expect("the property exists");
    match &property.question {
        Ok(property) => property,
        Err(error) => panic!("{error}"),
    }
}

/// Why the property of this name cannot be used.
#[track_caller]
fn refusal<'l>(loaded: &'l Loaded, name: &str) -> &'l InputError {
    let property =
        loaded.properties.iter().find(|property| property.name == name).expect("the property exists");
    property.question.as_ref().expect_err("the property cannot be used")
}
