//! `surefoot info`: what a model, its properties and a policy consist of.

use std::path::PathBuf;

use surefoot_model::jani::Loaded;
use surefoot_model::pass::Reduction;
use surefoot_policy::Policy;

use crate::arguments::InfoArguments;
use crate::arguments::task::{PolicyChoice, TaskOptions};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::report::info;
use crate::{load, output, property};

/// What is known about the files.
pub struct Info {
    /// The model with its properties.
    pub loaded: Loaded,
    /// The model file.
    pub file: PathBuf,
    /// Index of the property that `verify` would take.
    pub chosen: Option<usize>,
    /// The policy and its file.
    pub policy: Option<(PathBuf, Policy)>,
    /// What is left after all passes.
    pub reduction: Option<Reduction>,
}

/// Shows everything.
pub fn run(arguments: InfoArguments) -> Result<Exit, Failure> {
    let InfoArguments { task, json } = arguments;
    let options = task.check()?;
    let info = collect(&options)?;
    output::warnings(&info.loaded.warnings);
    if json {
        output::print_json(&info::document(&info))?;
    } else {
        output::print(&info::text(&info))?;
    }
    Ok(Exit::Done)
}

/// Reads everything.
pub fn collect(options: &TaskOptions) -> Result<Info, Failure> {
    let mut loaded = load::model(options)?;
    let chosen = match property::choose(&loaded, options) {
        Ok(index) => Some(index).filter(|&index| loaded.properties[index].question.is_ok()),
        // What was asked for must be there; that `verify` needs to be told more is no mistake here.
        Err(error) if options.property.is_some() => return Err(error.into()),
        Err(_) => None,
    };
    let property = chosen.and_then(|index| loaded.properties[index].question.as_ref().ok()).cloned();
    let policy =
        policy(options, property.as_ref().and_then(|property| property.policy_file.clone()), &mut loaded)?;
    let reduction = property.map(|property| {
        let inputs = policy.as_ref().map_or(Vec::new(), |(_, policy)| policy.variables());
        Reduction::identity(loaded.system.clone(), property).simplify(&inputs)
    });
    Ok(Info { loaded, file: options.model.clone(), chosen, policy, reduction })
}

/// The policy that was asked for, or that the property names; a missing one of the latter kind is only a warning.
fn policy(
    options: &TaskOptions,
    named: Option<PathBuf>,
    loaded: &mut Loaded,
) -> Result<Option<(PathBuf, Policy)>, Failure> {
    let (file, required) = match (&options.policy, named) {
        (PolicyChoice::File(file), _) => (file.clone(), true),
        (PolicyChoice::Property, Some(file)) => (file, false),
        _ => return Ok(None),
    };
    let Loaded { system, sources, warnings, constants, .. } = loaded;
    match load::policy(&file, options, (system, constants), sources, warnings) {
        Ok(policy) => Ok(Some((file, policy))),
        Err(error) if required => Err(error.into()),
        Err(error) => {
            warnings.push(error);
            Ok(None)
        }
    }
}
