//! Random policies for any model.

use std::path::Path;

use serde_json::Value;
use surefoot_model::domains::policy::{
    EnsembleShape, Interface, PolicyFiles, random_ensemble, random_network,
};
use surefoot_model::domains::{GeneratedFile, InputVariable};
use surefoot_model::jani::{self, ReadOptions};
use surefoot_model::{InputError, LabelId, MemoryFile, Symbol, TransitionSystem, VarId, Variable};

use super::{refused, write};
use crate::arguments::generate::{PolicyArguments, PolicyKind};
use crate::failure::Failure;
use crate::report::info::place;

/// The interface and the scorer.
pub fn files(arguments: &PolicyArguments, memory: Vec<MemoryFile>) -> Result<Vec<GeneratedFile>, Failure> {
    let model = &arguments.model;
    let system = jani::read(
        model,
        arguments.property.as_deref(),
        &ReadOptions { constants: arguments.constants.clone(), memory, ..ReadOptions::default() },
    )?
    .system;
    let inputs = inputs(&system, arguments)?;
    let variables: Vec<&Variable> = inputs.iter().map(|v| &system.variables[v.index()]).collect();
    let outputs = outputs(&system);
    if outputs.len() < 2 {
        let message =
            format!("a policy needs two labels to choose from, the model has commands for {}", outputs.len());
        return Err(InputError::in_file(model, message).into());
    }
    let name = match &arguments.name {
        Some(name) if name.is_empty() || name.contains(['/', '\\']) => {
            return Err(Failure::Usage(format!(
                "`--name` is `{name}`, but must be a file name without folder"
            )));
        }
        Some(name) => name.clone(),
        None => default_name(model, arguments.kind),
    };
    let interface = Interface {
        name,
        inputs: variables.iter().map(|variable| input(model, variable)).collect::<Result<_, _>>()?,
        outputs,
        filter: arguments.filter,
    };
    let PolicyFiles { policy, mut interface } = scorer(&interface, arguments)?;
    interface.contents = with_origins(interface.contents, &variables)?;
    Ok(vec![interface, policy])
}

/// The files of a policy with this interface.
fn scorer(interface: &Interface, arguments: &PolicyArguments) -> Result<PolicyFiles, Failure> {
    let &PolicyArguments { kind, ref hidden, trees, depth, seed, .. } = arguments;
    let of_others = match kind {
        PolicyKind::Network => [("--trees", trees.is_some()), ("--depth", depth.is_some())],
        PolicyKind::Forest | PolicyKind::Boosted => [("--hidden", hidden.is_some()), ("", false)],
    };
    if let Some((option, _)) = of_others.into_iter().find(|(_, is_given)| *is_given) {
        let owner = if kind == PolicyKind::Network { "an ensemble" } else { "a network" };
        return Err(Failure::Usage(format!("`{option}` is a parameter of {owner}")));
    }
    let shape = |boosted| EnsembleShape { trees: trees.unwrap_or(10), depth: depth.unwrap_or(4), boosted };
    match kind {
        PolicyKind::Network => random_network(interface, hidden.as_deref().unwrap_or(&[16, 16]), seed),
        PolicyKind::Forest => random_ensemble(interface, shape(false), seed),
        PolicyKind::Boosted => random_ensemble(interface, shape(true), seed),
    }
    .map_err(|error| refused(&error))
}

/// What to do with a policy.
pub fn next(arguments: &PolicyArguments, interface: &Path) -> String {
    let model = &arguments.model;
    let [model_argument, policy_argument] = [write::quoted(model), write::quoted(interface)];
    let beside = model.with_extension("property.jani");
    let property = arguments.property.as_ref().or_else(|| beside.exists().then_some(&beside));
    let property = property.map_or(String::new(), |file| format!(" --property {}", write::quoted(file)));
    format!("next: surefoot verify {model_argument}{property} --policy {policy_argument}\n")
}

fn default_name(model: &Path, kind: PolicyKind) -> String {
    let stem = model.file_stem().map_or("policy".into(), |stem| stem.to_string_lossy());
    let kind = match kind {
        PolicyKind::Network => "network",
        PolicyKind::Forest => "forest",
        PolicyKind::Boosted => "boosted",
    };
    format!("{stem}.{kind}")
}

/// The variables that the policy reads.
fn inputs(system: &TransitionSystem, arguments: &PolicyArguments) -> Result<Vec<VarId>, Failure> {
    if arguments.inputs.is_empty() {
        return Ok((0..system.variables.len()).map(|v| VarId(v as u32)).collect());
    }
    let find = |name: &String| {
        system
            .variable(name)
            .ok_or_else(|| Failure::Usage(format!("`--inputs`: the model has no variable `{name}`")))
    };
    arguments.inputs.iter().map(find).collect()
}

fn input(model: &Path, variable: &Variable) -> Result<InputVariable, InputError> {
    let Some((lower, upper)) = variable.ty.bounds() else {
        let message =
            format!("the variable `{}` is real-valued, policies read integers and Booleans", variable.name);
        return Err(
            InputError::in_file(model, message).with_hint("name the other variables: `--inputs a,b,…`")
        );
    };
    Ok(InputVariable { name: variable.name.clone(), lower: lower.into(), upper: upper.into() })
}

/// The labels that have commands.
fn outputs(system: &TransitionSystem) -> Vec<String> {
    let has_command =
        |label: u32| system.commands.iter().any(|command| command.label == Some(LabelId(label)));
    let labels = (0..).zip(&system.labels).filter(|(index, _)| has_command(*index));
    labels.map(|(_, label)| label.name.clone()).collect()
}

/// The interface, in which inputs that are no global scalars are named by their place in the model.
fn with_origins(contents: String, variables: &[&Variable]) -> Result<String, Failure> {
    if variables.iter().all(|v| v.origin.scope.is_none() && matches!(v.origin.symbol, Symbol::Scalar(_))) {
        return Ok(contents);
    }
    let mut interface: Value = serde_json::from_str(&contents)
        .map_err(|error| Failure::Internal(format!("generated interface: {error}")))?;
    interface["input"] = variables.iter().map(|variable| place(&variable.origin)).collect();
    Ok(format!("{interface:#}\n"))
}
