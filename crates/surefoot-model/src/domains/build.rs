//! A small JANI writer: the functions and the model builder in whose terms the domains are written.
//!
//! Everything is a JSON value in the operators' prefix form; the domain files read like the tables of guards and
//! effects in the papers. The output is a function of the calls alone, so equal parameters give equal bytes.
//! Every model has one automaton with one location; its type is `mdp` as soon as one edge has two outcomes.

use serde_json::{Value, json};

use super::parameter::PROBABILITY_SLACK;
use super::{Generated, GeneratedFile, InputVariable};

const AUTOMATON: &str = "automaton_0";
const LOCATION: &str = "loc_0";

fn binary(operator: &str, left: impl Into<Value>, right: impl Into<Value>) -> Value {
    json!({"op": operator, "left": left.into(), "right": right.into()})
}

/// `left = right`
pub(super) fn eq(left: impl Into<Value>, right: impl Into<Value>) -> Value {
    binary("=", left, right)
}

/// `left ≠ right`
pub(super) fn ne(left: impl Into<Value>, right: impl Into<Value>) -> Value {
    binary("≠", left, right)
}

/// `left ≤ right`
pub(super) fn le(left: impl Into<Value>, right: impl Into<Value>) -> Value {
    binary("≤", left, right)
}

/// `expression ≥ bound`, written with the bound first as the reference benchmarks do.
pub(super) fn at_least(expression: impl Into<Value>, bound: impl Into<Value>) -> Value {
    le(bound, expression)
}

/// `expression ≤ bound`
pub(super) fn at_most(expression: impl Into<Value>, bound: impl Into<Value>) -> Value {
    le(expression, bound)
}

/// `left + right`; a decrement is written `x + -1`.
pub(super) fn add(left: impl Into<Value>, right: impl Into<Value>) -> Value {
    binary("+", left, right)
}

/// `left - right`
pub(super) fn subtract(left: impl Into<Value>, right: impl Into<Value>) -> Value {
    binary("-", left, right)
}

/// `premise ⇒ conclusion`
pub(super) fn implies(premise: impl Into<Value>, conclusion: impl Into<Value>) -> Value {
    binary("⇒", premise, conclusion)
}

/// `¬ condition`
pub(super) fn not(condition: impl Into<Value>) -> Value {
    json!({"op": "¬", "exp": condition.into()})
}

/// Right-nested conjunction: the form of guards. No conjunct: true.
pub(super) fn and(conjuncts: Vec<Value>) -> Value {
    let nested = conjuncts.into_iter().rev().reduce(|tail, head| binary("∧", head, tail));
    nested.unwrap_or(Value::Bool(true))
}

/// Conjunction as a balanced tree: the form of long conditions. No conjunct: true.
pub(super) fn all(conjuncts: &[Value]) -> Value {
    balanced("∧", conjuncts).unwrap_or(Value::Bool(true))
}

/// Disjunction as a balanced tree. No disjunct: false.
pub(super) fn any(disjuncts: &[Value]) -> Value {
    balanced("∨", disjuncts).unwrap_or(Value::Bool(false))
}

/// Sum as a balanced tree. No summand: zero.
pub(super) fn sum(summands: &[Value]) -> Value {
    balanced("+", summands).unwrap_or(Value::from(0))
}

fn balanced(operator: &str, operands: &[Value]) -> Option<Value> {
    match operands {
        [] => None,
        [operand] => Some(operand.clone()),
        _ => {
            let (left, right) = operands.split_at(operands.len().div_ceil(2));
            Some(binary(operator, balanced(operator, left)?, balanced(operator, right)?))
        }
    }
}

/// The assignment `variable := value`.
pub(super) fn assign(variable: impl Into<Value>, value: impl Into<Value>) -> Value {
    json!({"ref": variable.into(), "value": value.into()})
}

/// The assignment `variable := variable + amount`.
pub(super) fn shift(variable: &str, amount: impl Into<Value>) -> Value {
    assign(variable, add(variable, amount))
}

/// A probability that the model names as a constant, so that it can be overridden.
#[derive(Debug, Clone, Copy)]
pub(super) struct Chance {
    pub(super) constant: &'static str,
    pub(super) value: f64,
}

/// One outcome of an edge. No probability: certain.
#[derive(Debug, Clone)]
pub(super) struct Outcome {
    probability: Option<Value>,
    assignments: Vec<Value>,
}

/// The only outcome of a deterministic edge.
pub(super) fn surely(assignments: Vec<Value>) -> Vec<Outcome> {
    vec![Outcome { probability: None, assignments }]
}

/// Each of `exceptions` happens with its chance, `usual` with the remaining probability.
///
/// Outcomes of probability 0 are left out: for the safety engines a listed outcome is a possible one.
pub(super) fn choice(usual: Vec<Value>, exceptions: Vec<(Chance, Vec<Value>)>) -> Vec<Outcome> {
    let mut remainder = Value::from(1);
    let mut remaining = 1.0;
    let mut outcomes = Vec::new();
    for (chance, assignments) in exceptions.into_iter().filter(|(chance, _)| chance.value > 0.0) {
        remainder = subtract(remainder, chance.constant);
        remaining -= chance.value;
        outcomes.push(Outcome { probability: Some(chance.constant.into()), assignments });
    }
    if outcomes.is_empty() {
        return surely(usual);
    }
    if remaining > PROBABILITY_SLACK {
        outcomes.insert(0, Outcome { probability: Some(remainder), assignments: usual });
    }
    if let [only] = outcomes.as_mut_slice() {
        only.probability = None;
    }
    outcomes
}

/// The joint outcomes of two independent choices that write different variables.
pub(super) fn product(left: &[Outcome], right: &[Outcome]) -> Vec<Outcome> {
    let mut joint = Vec::with_capacity(left.len() * right.len());
    for first in left {
        for second in right {
            let probability = match (&first.probability, &second.probability) {
                (Some(one), Some(other)) => Some(binary("*", one.clone(), other.clone())),
                (one, other) => one.as_ref().or(other.as_ref()).cloned(),
            };
            let assignments = first.assignments.iter().chain(&second.assignments).cloned().collect();
            joint.push(Outcome { probability, assignments });
        }
    }
    joint
}

/// The conditions of a safety property over a generated model.
pub(super) struct Property {
    pub(super) start: Value,
    pub(super) reach: Value,
    pub(super) goal: Value,
}

/// A model under construction; parts appear in the file in the order of the calls.
pub(super) struct Model {
    name: String,
    constants: Vec<Value>,
    variables: Vec<Value>,
    inputs: Vec<InputVariable>,
    labels: Vec<String>,
    edges: Vec<Value>,
    probabilistic: bool,
}

impl Model {
    /// A model without variables, labels and edges.
    pub(super) fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            constants: Vec::new(),
            variables: Vec::new(),
            inputs: Vec::new(),
            labels: Vec::new(),
            edges: Vec::new(),
            probabilistic: false,
        }
    }

    /// Declares an integer constant.
    pub(super) fn integer(&mut self, name: &str, value: usize) {
        self.constants.push(json!({"name": name, "type": "int", "value": value}));
    }

    /// Declares the constant of a chance.
    pub(super) fn chance(&mut self, chance: Chance) {
        self.constants.push(json!({"name": chance.constant, "type": "real", "value": chance.value}));
    }

    /// Declares the constant of a chance that the edges mention only if it is positive.
    pub(super) fn chance_if_positive(&mut self, chance: Chance) {
        if chance.value > 0.0 {
            self.chance(chance);
        }
    }

    /// Declares a variable over `lower..=upper`.
    pub(super) fn variable(&mut self, name: impl Into<String>, lower: i64, upper: i64, initial: i64) {
        self.variable_up_to(name, lower, (upper, upper.into()), initial);
    }

    /// Declares a variable whose upper bound is written as an expression over the constants.
    pub(super) fn variable_up_to(
        &mut self,
        name: impl Into<String>,
        lower: i64,
        (upper, written): (i64, Value),
        initial: i64,
    ) {
        let name = name.into();
        self.variables.push(json!({
            "name": name,
            "type": {"kind": "bounded", "base": "int", "lower-bound": lower, "upper-bound": written},
            "initial-value": initial,
        }));
        self.inputs.push(InputVariable { name, lower, upper });
    }

    /// Declares an action label.
    pub(super) fn label(&mut self, label: impl Into<String>) {
        self.labels.push(label.into());
    }

    /// Adds an edge.
    pub(super) fn edge(&mut self, label: &str, guard: Vec<Value>, outcomes: Vec<Outcome>) {
        self.probabilistic |= outcomes.len() > 1;
        let destination = |outcome: Outcome| {
            let mut destination = json!({"location": LOCATION});
            if let Some(probability) = outcome.probability {
                destination["probability"] = json!({"exp": probability});
            }
            destination["assignments"] = outcome.assignments.into();
            destination
        };
        self.edges.push(json!({
            "location": LOCATION,
            "action": label,
            "guard": {"exp": and(guard)},
            "destinations": outcomes.into_iter().map(destination).collect::<Vec<_>>(),
        }));
    }

    /// Writes the model file and the property file.
    pub(super) fn finish(self, property: Property) -> Generated {
        let sync = |label: &String| json!({"synchronise": [label], "result": label});
        let model = json!({
            "jani-version": 1,
            "name": self.name,
            "type": if self.probabilistic { "mdp" } else { "lts" },
            "actions": self.labels.iter().map(|label| json!({"name": label})).collect::<Vec<_>>(),
            "constants": self.constants,
            "variables": self.variables,
            "automata": [{
                "name": AUTOMATON,
                "locations": [{"name": LOCATION}],
                "initial-locations": [LOCATION],
                "edges": self.edges,
            }],
            "system": {
                "elements": [{"automaton": AUTOMATON}],
                "syncs": self.labels.iter().map(sync).collect::<Vec<_>>(),
            },
            "properties": [],
        });
        let condition = |exp: Value| json!({"op": "state-condition", "exp": exp});
        let properties = json!({"properties": [{
            "name": "safety",
            "expression": {
                "op": "PA",
                "start": {
                    "op": "state-condition",
                    "locations": [{"automaton": AUTOMATON, "index": 0, "location": LOCATION}],
                    "exp": {"op": "let", "variables": [], "expression": property.start},
                },
                "reach": condition(property.reach),
                "objective": {"op": "objective", "goal": condition(property.goal)},
            },
        }]});
        Generated {
            files: vec![
                GeneratedFile { name: format!("{}.jani", self.name), contents: render(&model) },
                GeneratedFile { name: format!("{}.property.jani", self.name), contents: render(&properties) },
            ],
            variables: self.inputs,
            labels: self.labels,
        }
    }
}

/// JSON text in which everything that fits stands on one line.
pub(super) fn render(value: &Value) -> String {
    let mut text = String::new();
    write_value(value, 0, 0, &mut text);
    text.push('\n');
    text
}

/// Writes `value` at `indent`, of whose first line `taken` characters are used by the key and the comma.
fn write_value(value: &Value, indent: usize, taken: usize, text: &mut String) {
    const WIDTH: usize = 110;
    if room_after(value, WIDTH.saturating_sub(indent + taken)).is_some() {
        text.push_str(&value.to_string());
        return;
    }
    match value {
        Value::Array(elements) => {
            let elements = elements.iter().map(|element| (String::new(), element));
            write_block(['[', ']'], elements, indent, text);
        }
        Value::Object(members) => {
            let members = members.iter().map(|(key, member)| (written_key(key), member));
            write_block(['{', '}'], members, indent, text);
        }
        _ => text.push_str(&value.to_string()),
    }
}

fn written_key(key: &str) -> String {
    format!("{}:", Value::from(key))
}

/// What is left of `room` characters after `value` on one line, if it fits.
fn room_after(value: &Value, room: usize) -> Option<usize> {
    let used = |room: usize, text: &str| room.checked_sub(text.chars().count());
    match value {
        // Each entry is followed by a comma or the closing bracket.
        Value::Array(elements) if !elements.is_empty() => elements
            .iter()
            .try_fold(room.checked_sub(1)?, |room, element| room_after(element, room)?.checked_sub(1)),
        Value::Object(members) if !members.is_empty() => {
            members.iter().try_fold(room.checked_sub(1)?, |room, (key, member)| {
                room_after(member, used(room, &written_key(key))?)?.checked_sub(1)
            })
        }
        _ => used(room, &value.to_string()),
    }
}

fn write_block<'v>(
    [open, close]: [char; 2],
    entries: impl Iterator<Item = (String, &'v Value)>,
    indent: usize,
    text: &mut String,
) {
    let mut separator = open;
    for (key, value) in entries {
        text.extend([separator, '\n']);
        text.push_str(&" ".repeat(indent + 1));
        text.push_str(&key);
        write_value(value, indent + 1, key.len() + 1, text);
        separator = ',';
    }
    text.push('\n');
    text.push_str(&" ".repeat(indent));
    text.push(close);
}
