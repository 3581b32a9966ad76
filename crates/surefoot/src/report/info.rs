//! What a model consists of, as text and as JSON.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};
use surefoot_model::enumerate::narrow;
use surefoot_model::jani::ConstantValue;
use surefoot_model::pack::Layout;
use surefoot_model::pass::Fate;
use surefoot_model::{
    ExprId, LabelId, Origin, Property, Scope, Symbol, TransitionSystem, Variable, VariableType,
};
use surefoot_policy::{Policy, PolicyInput};

use super::number::{counted, grouped};
use super::{json, trace};
use crate::command::info::Info;

/// Longest condition that is printed in full.
const CONDITION_WIDTH: usize = 300;

/// The whole page.
pub fn text(info: &Info) -> String {
    let loaded = &info.loaded;
    let system = &loaded.system;
    let mut text = String::new();
    let _ = writeln!(text, "model       {} ({}), {}", system.name, loaded.model_type, info.file.display());
    let _ = writeln!(text, "state       {}", size(system));
    let initial = initial(system);
    let width = system.variables.iter().map(|v| v.name.chars().count()).max().unwrap_or(0).min(40);
    for (i, variable) in system.variables.iter().enumerate() {
        let initial = initial.as_ref().map_or(String::new(), |values| format!(", initially {}", values[i]));
        let _ = writeln!(text, "  {:<width$}  {}{initial}", variable.name, domain(variable));
    }
    if !loaded.constants.is_empty() {
        text.push_str("constants\n");
        text += &trace::wrapped(loaded.constants.iter().map(constant));
    }
    text.push_str("automata\n");
    for automaton in &loaded.automata {
        let [locations, edges, variables] = [
            (automaton.locations, "location"),
            (automaton.edges, "edge"),
            (automaton.variables, "local variable"),
        ]
        .map(|(count, noun)| counted(count as u64, noun));
        let _ = writeln!(text, "  {}: {locations}, {edges}, {variables}", automaton.name);
    }
    let _ = writeln!(
        text,
        "commands    {}, {}",
        counted(system.commands.len() as u64, "command"),
        counted(system.commands.iter().map(|c| c.outcomes.len() as u64).sum(), "outcome")
    );
    for LabelSummary { name, commands, outcomes } in labels(system) {
        let name = name.unwrap_or("(silent)");
        let _ =
            writeln!(text, "  {name}: {}, {}", counted(commands, "command"), counted(outcomes, "outcome"));
    }
    text += &properties(info);
    if let Some((file, policy)) = &info.policy {
        let _ = writeln!(text, "policy      {}: {}", file.display(), policy.describe());
        let _ = write!(text, "  inputs\n{}", trace::indented(&trace::wrapped(inputs(system, policy))));
        let _ = write!(text, "  outputs\n{}", trace::indented(&trace::wrapped(outputs(system, policy))));
    }
    text += &passes(info);
    text
}

fn properties(info: &Info) -> String {
    let system = &info.loaded.system;
    let mut text = String::from("properties\n");
    for (i, property) in info.loaded.properties.iter().enumerate() {
        let chosen = if info.chosen == Some(i) { ", chosen" } else { "" };
        let _ = writeln!(text, "  {i}: `{}` ({}{chosen})", property.name, property.operator);
        match &property.question {
            Err(error) => {
                let _ = writeln!(text, "     not supported: {}", error.message);
            }
            Ok(property) => {
                for (what, condition) in conditions(property) {
                    let _ = writeln!(text, "     {what}: {}", shortened(system, condition));
                }
                if !property.start.listed.is_empty() {
                    let _ = writeln!(
                        text,
                        "     listed start states: {}",
                        grouped(property.start.listed.len() as u64)
                    );
                }
                if !property.predicates.is_empty() {
                    let _ = writeln!(text, "     predicates: {}", property.predicates.len());
                }
                if let Some(file) = &property.policy_file {
                    let _ = writeln!(text, "     policy: {}", file.display());
                }
            }
        }
    }
    if info.loaded.properties.is_empty() {
        text.push_str("  none\n");
    }
    text
}

/// The conditions that a property consists of.
fn conditions(property: &Property) -> Vec<(&'static str, ExprId)> {
    let optional = [("start", property.start.condition), ("hold", property.hold), ("goal", property.goal)];
    let optional = optional.into_iter().filter_map(|(what, condition)| Some((what, condition?)));
    [("unsafe", property.unsafe_states)].into_iter().chain(optional).collect()
}

fn shortened(system: &TransitionSystem, condition: ExprId) -> String {
    let text = system.exprs.display(condition, &system.variables);
    match text.char_indices().nth(CONDITION_WIDTH) {
        Some((end, _)) => format!("{}…", text[..end].trim_end_matches('…')),
        None => text,
    }
}

fn passes(info: &Info) -> String {
    let Some(removed) = removed(info) else {
        return "passes      need a property: pick one with `--property`\n".into();
    };
    let mut text = String::from("passes\n");
    let constants = removed
        .constants
        .iter()
        .map(|(variable, value)| format!("{} = {}", variable.name, variable.display(*value)));
    let list = |items: Vec<String>| if items.is_empty() { "none".to_string() } else { items.join(", ") };
    let _ = writeln!(text, "  variables that never change: {}", list(constants.collect()));
    let _ = writeln!(text, "  commands that are never enabled: {}", removed.dead_commands);
    let sliced = removed.sliced.iter().map(|variable| variable.name.clone()).collect();
    let _ = writeln!(text, "  variables that influence nothing (`--slice`): {}", list(sliced));
    text
}

/// What the passes remove.
struct Removed<'i> {
    constants: Vec<(&'i Variable, i32)>,
    dead_commands: usize,
    sliced: Vec<&'i Variable>,
}

fn removed(info: &Info) -> Option<Removed<'_>> {
    let reduction = info.reduction.as_ref()?;
    let system = &info.loaded.system;
    let mut removed = Removed {
        constants: Vec::new(),
        dead_commands: system.commands.len() - reduction.system.commands.len(),
        sliced: Vec::new(),
    };
    for (variable, fate) in system.variables.iter().zip(&reduction.restore.variables) {
        match fate {
            Fate::Kept(_) => {}
            Fate::Constant(value) => removed.constants.push((variable, *value)),
            Fate::Sliced { .. } => removed.sliced.push(variable),
        }
    }
    Some(removed)
}

/// Base-2 logarithm of the number of states of the domains; `None` with real variables.
fn log2_states(system: &TransitionSystem) -> Option<f64> {
    let width =
        |v: &Variable| v.ty.bounds().map(|(lower, upper)| (f64::from(upper) - f64::from(lower) + 1.0).log2());
    system.variables.iter().map(width).sum()
}

fn size(system: &TransitionSystem) -> String {
    let variables = counted(system.variables.len() as u64, "variable");
    match (Layout::new(&system.variables), log2_states(system)) {
        (Ok(layout), Some(log2)) => {
            format!("{variables} in {} bits, 2^{log2:.1} states in the domains", layout.bits())
        }
        _ => format!("{variables}, some of them real-valued"),
    }
}

/// The initial value of each variable, or the range of several; `None` with real variables.
fn initial(system: &TransitionSystem) -> Option<Vec<String>> {
    let bounds: Option<Vec<(i32, i32)>> = system.variables.iter().map(|v| v.ty.bounds()).collect();
    let (lower, upper): (Vec<i32>, Vec<i32>) = bounds?.into_iter().unzip();
    let (lower, upper) = narrow(&system.exprs, system.initial?, &lower, &upper)?;
    let text = |((variable, lower), upper): ((&Variable, i32), i32)| {
        if lower == upper {
            variable.display(lower)
        } else {
            format!("{}..{}", variable.display(lower), variable.display(upper))
        }
    };
    Some(system.variables.iter().zip(lower).zip(upper).map(text).collect())
}

/// The domain of a variable.
pub fn domain(variable: &Variable) -> String {
    match variable.ty {
        VariableType::Bool => "true or false".into(),
        _ if !variable.value_names.is_empty() => format!("one of {}", variable.value_names.join(", ")),
        VariableType::Int { lower, upper } => format!("{lower}..{upper}"),
        VariableType::Real { lower, upper } => format!("real {lower}..{upper}"),
    }
}

fn constant(constant: &ConstantValue) -> String {
    let mut values: Vec<String> = constant.values.iter().take(8).map(ToString::to_string).collect();
    if constant.values.len() > values.len() {
        values.push(format!("… ({} values)", constant.values.len()));
    }
    let values =
        if constant.dimensions.is_empty() { values.concat() } else { format!("[{}]", values.join(", ")) };
    let remark = if constant.from_command_line { " (given)" } else { "" };
    format!("{} = {values}{remark}", constant.name)
}

/// The commands of a label.
struct LabelSummary<'s> {
    /// `None` for silent steps.
    name: Option<&'s str>,
    commands: u64,
    outcomes: u64,
}

/// All labels; silent steps last, if there are any.
fn labels(system: &TransitionSystem) -> Vec<LabelSummary<'_>> {
    let summary = |name, label: Option<LabelId>| {
        let commands = system.commands.iter().filter(|command| command.label == label);
        LabelSummary {
            name,
            commands: commands.clone().count() as u64,
            outcomes: commands.map(|command| command.outcomes.len() as u64).sum(),
        }
    };
    let labels = (0..).zip(&system.labels);
    let mut all: Vec<_> =
        labels.map(|(i, label)| summary(Some(label.name.as_str()), Some(LabelId(i)))).collect();
    all.push(summary(None, None));
    all.retain(|label| label.name.is_some() || label.commands > 0);
    all
}

fn inputs(system: &TransitionSystem, policy: &Policy) -> Vec<String> {
    let name = |input: &PolicyInput| match input {
        PolicyInput::Variable(v) => system.variables[v.index()].name.clone(),
        PolicyInput::Constant(value) => value.to_string(),
    };
    policy.inputs.iter().map(name).collect()
}

fn outputs(system: &TransitionSystem, policy: &Policy) -> Vec<String> {
    policy.outputs.iter().map(|label| system.labels[label.index()].name.clone()).collect()
}

/// The same as JSON.
pub fn document(info: &Info) -> Value {
    let loaded = &info.loaded;
    let system = &loaded.system;
    let initial = initial(system);
    let variables: Vec<Value> = system
        .variables
        .iter()
        .enumerate()
        .map(|(i, v)| {
            json!({
                "name": v.name,
                "domain": domain_document(v),
                "initial": initial.as_ref().map(|values| &values[i]),
                "input": place(&v.origin),
            })
        })
        .collect();
    let labels: Vec<Value> = labels(system)
        .into_iter()
        .map(|label| json!({"name": label.name, "commands": label.commands, "outcomes": label.outcomes}))
        .collect();
    let automata: Vec<Value> = loaded
        .automata
        .iter()
        .map(|a| json!({"name": a.name, "automaton": a.automaton, "locations": a.locations, "edges": a.edges, "variables": a.variables}))
        .collect();
    let constants: Vec<Value> = loaded.constants.iter().map(constant_document).collect();
    let properties: Vec<Value> = (0..loaded.properties.len()).map(|i| property_document(info, i)).collect();
    let policy = info.policy.as_ref().map(|(file, policy)| {
        json!({
            "file": file.display().to_string(),
            "description": policy.scorer.shape().to_string(),
            "filter": policy.filter,
            "inputs": inputs(system, policy),
            "outputs": outputs(system, policy),
        })
    });
    let passes = removed(info).map(|removed| {
        let constants = removed.constants.iter().map(|(v, value)| (v.name.clone(), json::scalar(v, *value)));
        json!({
            "constant_variables": constants.collect::<Map<_, _>>(),
            "dead_commands": removed.dead_commands,
            "sliceable_variables": removed.sliced.iter().map(|v| &v.name).collect::<Vec<_>>(),
        })
    });
    let mut document = json::header("surefoot-info/1");
    document.extend(json::members(json!({
        "model": {"name": system.name, "file": info.file.display().to_string(), "type": loaded.model_type.to_string()},
        "state_bits": Layout::new(&system.variables).ok().map(|layout| layout.bits()),
        "log2_states": log2_states(system),
        "variables": variables,
        "constants": constants,
        "automata": automata,
        "commands": system.commands.len(),
        "labels": labels,
        "properties": properties,
        "chosen_property": info.chosen,
        "policy": policy,
        "passes": passes,
        "warnings": json::warnings(&loaded.warnings),
        "files": json::files(&loaded.sources),
    })));
    Value::Object(document)
}

fn domain_document(variable: &Variable) -> Value {
    match variable.ty {
        VariableType::Bool => json!({"type": "bool"}),
        _ if !variable.value_names.is_empty() => json!({"type": "location", "values": variable.value_names}),
        VariableType::Int { lower, upper } => json!({"type": "int", "lower": lower, "upper": upper}),
        VariableType::Real { lower, upper } => json!({"type": "real", "lower": lower, "upper": upper}),
    }
}

fn constant_document(constant: &ConstantValue) -> Value {
    let values: Vec<Value> = constant
        .values
        .iter()
        .map(|value| match *value {
            surefoot_model::Value::Bool(b) => b.into(),
            surefoot_model::Value::Int(i) => i.into(),
            surefoot_model::Value::Real(r) => r.into(),
        })
        .collect();
    json!({
        "name": constant.name,
        "values": values,
        "dimensions": constant.dimensions,
        "given": constant.from_command_line,
    })
}

fn property_document(info: &Info, index: usize) -> Value {
    let system = &info.loaded.system;
    let property = &info.loaded.properties[index];
    let mut document = json::members(json!({
        "index": index,
        "name": property.name,
        "kind": property.operator,
        "supported": property.question.is_ok(),
    }));
    match &property.question {
        Err(error) => {
            document.insert("reason".into(), json::input_error(error));
        }
        Ok(property) => {
            for (what, condition) in conditions(property) {
                document.insert(what.into(), system.exprs.display(condition, &system.variables).into());
            }
            document.insert("listed_start_states".into(), property.start.listed.len().into());
            document.insert("predicates".into(), property.predicates.len().into());
            let file = property.policy_file.as_ref().map(|file| file.display().to_string());
            document.insert("policy_file".into(), file.into());
        }
    }
    Value::Object(document)
}

/// How an interface refers to a variable.
pub fn place(origin: &Origin) -> Value {
    let scope = origin
        .scope
        .as_ref()
        .map(|Scope { automaton, instance }| json!({"name": automaton, "index": instance}));
    match &origin.symbol {
        Symbol::Location => scope.unwrap_or_default(),
        Symbol::Scalar(name) => json!({"name": name, "automaton": scope}),
        Symbol::Element(name, index) => json!({"name": name, "automaton": scope, "index": index}),
    }
}
