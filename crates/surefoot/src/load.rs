//! From files to a task.

use std::path::{Path, PathBuf};

use surefoot_certificate::{Input, Role};
use surefoot_engines::{Goal, OutOfDomain, Semantics, Task};
use surefoot_model::jani::{self, ConstantValue, Loaded};
use surefoot_model::{InputError, LabelId, Property, Rewards, SourceFile, Sources, TransitionSystem};
use surefoot_policy::{Arithmetic, Policy};

use crate::arguments::task::{PolicyChoice, Reading, TaskOptions};
use crate::failure::Failure;
use crate::property;

/// A task with what is to be said about its files.
#[derive(Debug)]
pub struct Problem {
    /// What is to be verified.
    pub task: Task,
    /// The model file.
    pub model: PathBuf,
    /// The policy's interface file, or its scorer if the interface was listed.
    pub policy: Option<PathBuf>,
    /// Constants that were given on the command line.
    pub constants: Vec<(String, String)>,
    /// All files that were read.
    pub sources: Sources,
    /// The same files as certificates name them.
    pub inputs: Vec<Input>,
    /// What looks wrong in them.
    pub warnings: Vec<InputError>,
    /// What the property says about rewards of learning.
    pub rewards: Result<Rewards, InputError>,
}

/// Reads everything that a task consists of.
pub fn problem(options: &TaskOptions) -> Result<Problem, Failure> {
    let loaded = model(options)?;
    let index = property::choose(&loaded, options)?;
    let mut property = loaded.properties[index].question.clone()?;
    let rewards = loaded.properties[index].rewards.clone();
    let Loaded { system, mut sources, mut warnings, predicates, question_files, constants, .. } = loaded;
    property.predicates = predicates.unwrap_or(property.predicates);
    let of_model = sources.files.len();
    let policy_file = policy_file(options, &property)?;
    let mut policy = match &policy_file {
        Some(file) => Some(policy(file, options, (&system, &constants), &mut sources, &mut warnings)?),
        None => None,
    };
    let semantics = semantics(options.reading, policy.as_ref());
    if let Some(policy) = &mut policy {
        policy.filter = semantics.filter;
    }
    Ok(Problem {
        task: Task { system, property, policy, semantics },
        model: options.model.clone(),
        policy: policy_file,
        constants: options.constants.clone(),
        inputs: inputs(&sources, question_files, of_model),
        sources,
        warnings,
        rewards,
    })
}

/// The files by what they are for, in the order in which they are read: the model, its properties (`of_question` files up to here), perhaps
/// predicates, which no answer is about (`of_model` files up to here), the interface, the scorer.
fn inputs(sources: &Sources, of_question: usize, of_model: usize) -> Vec<Input> {
    let role = |index: usize| match index {
        0 => Role::Model,
        _ if index < of_question => Role::Property,
        _ if index == of_model => Role::Interface,
        _ => Role::Policy,
    };
    let input = |(index, file): (usize, &SourceFile)| {
        Input::from_hex(role(index), &file.sha256).expect("hashes are SHA-256")
    };
    let files = sources.files.iter().enumerate();
    files.filter(|(index, _)| !(of_question..of_model).contains(index)).map(input).collect()
}

/// Reads the model and its properties.
pub fn model(options: &TaskOptions) -> Result<Loaded, InputError> {
    let constants = jani::ReadOptions {
        constants: options.constants.clone(),
        predicate_file: options.predicate_file.clone(),
        memory: options.memory.clone(),
    };
    jani::read(&options.model, options.property_file.as_deref(), &constants)
}

/// The interface file to read, or `None` if the environment is verified alone.
fn policy_file(options: &TaskOptions, property: &Property) -> Result<Option<PathBuf>, InputError> {
    match (&options.policy, &property.policy_file) {
        (PolicyChoice::Without, _) => Ok(None),
        (PolicyChoice::File(file), _) | (PolicyChoice::Property, Some(file)) => Ok(Some(file.clone())),
        (PolicyChoice::Property, None) => {
            let file = options.property_file.as_ref().unwrap_or(&options.model);
            let message = format!("the property `{}` names no policy", property.name);
            Err(InputError::in_file(file, message)
                .with_hint("pass `--policy FILE`, or `--no-policy` to verify the environment alone"))
        }
    }
}

/// Reads a policy. What it does not control is worth a warning.
pub fn policy(
    file: &Path,
    options: &TaskOptions,
    (system, constants): (&TransitionSystem, &[ConstantValue]),
    sources: &mut Sources,
    warnings: &mut Vec<InputError>,
) -> Result<Policy, InputError> {
    let read_options =
        surefoot_policy::ReadOptions { scorer_file: options.scorer.clone(), constants: constants.to_vec() };
    let policy = match &options.lists {
        Some(lists) => surefoot_policy::read_listed(file, lists, system, &read_options, sources, warnings),
        None => surefoot_policy::read_with(file, system, &read_options, sources, warnings),
    };
    let policy = policy.map_err(|error| {
        if options.policy == PolicyChoice::Property && error.hint.is_none() && !file.exists() {
            error.with_hint(
                "the property names this file; pass another with `--policy FILE`, or `--no-policy`",
            )
        } else {
            error
        }
    })?;
    for (index, label) in system.labels.iter().enumerate() {
        let id = LabelId(index as u32);
        let commands = system.commands.iter().filter(|command| command.label == Some(id)).count();
        let name = &label.name;
        let message = match (policy.outputs.contains(&id), commands) {
            (false, 1..) => {
                format!(
                    "the policy has no output for the label `{name}`: whenever it is possible, it may happen"
                )
            }
            (true, 0) => format!("the label `{name}` of the policy has no command: it is never applicable"),
            _ => continue,
        };
        warnings.push(InputError::in_file(file, message));
    }
    Ok(policy)
}

/// The reading: what was asked for, else what the policy says, else the defaults.
fn semantics(reading: Reading, policy: Option<&Policy>) -> Semantics {
    Semantics {
        filter: reading.filter.or(policy.map(|policy| policy.filter)).unwrap_or(false),
        goal: reading.goal.unwrap_or(Goal::Ignore),
        out_of_domain: reading.out_of_domain.unwrap_or(OutOfDomain::Error),
        arithmetic: reading.arithmetic.unwrap_or(Arithmetic::F64),
    }
}
