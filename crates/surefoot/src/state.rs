//! States that users write: values by names, on the command line or in files.

use std::path::Path;

use surefoot_engines::Task;
use surefoot_engines::replay::check_state;
use surefoot_model::json::{Document, Json};
use surefoot_model::{InputError, Sources, Variable, VariableType};

use crate::failure::Failure;
use crate::report;

/// A state from the argument of an option: `x=1,y=2`, or the name of a JSON file. Variables that have one value only may be left out.
pub fn from_argument(
    task: &Task,
    option: &str,
    text: &str,
    sources: &mut Sources,
) -> Result<Vec<i32>, Failure> {
    let path = Path::new(text);
    if path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json")) || path.is_file() {
        return from_file(task, path, sources).map_err(Failure::from);
    }
    let mut values = vec![None; task.system.variables.len()];
    for part in text.split(',') {
        let Some((name, value)) = part.split_once('=') else {
            return Err(Failure::Usage(format!(
                "`{option}` is `{text}`, but must be values of all variables such as `x=1,y=2`, or a JSON file"
            )));
        };
        let (variable, value) = assignment(task, option, name.trim(), value.trim())?;
        if values[variable].replace(value).is_some() {
            return Err(Failure::Usage(format!("`{option}`: `{}` has two values", name.trim())));
        }
    }
    complete(task, values).map_err(|missing| {
        Failure::Usage(format!(
            "`{option}`: the value of {} is missing",
            missing.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
        ))
    })
}

/// A variable and its value, from `name=value`.
pub fn assignment(task: &Task, option: &str, name: &str, value: &str) -> Result<(usize, i32), Failure> {
    let Some(variable) = task.system.variable(name) else {
        return Err(Failure::Usage(format!("`{option}`: the model has no variable `{name}`")));
    };
    let declared = &task.system.variables[variable.index()];
    let value = parse(declared, value).ok_or_else(|| {
        Failure::Usage(format!(
            "`{option}`: `{value}` is no value of `{name}`, which is {}",
            report::info::domain(declared)
        ))
    })?;
    Ok((variable.index(), value))
}

fn parse(variable: &Variable, text: &str) -> Option<i32> {
    if variable.ty == VariableType::Bool {
        return text.parse::<bool>().ok().map(i32::from);
    }
    if let Some(position) = variable.value_names.iter().position(|name| name == text) {
        return Some(position as i32);
    }
    let (lower, upper) = variable.ty.bounds()?;
    text.parse().ok().filter(|value| (lower..=upper).contains(value))
}

/// A state from a JSON file: an object from names to values.
fn from_file(task: &Task, path: &Path, sources: &mut Sources) -> Result<Vec<i32>, InputError> {
    let text = sources.read(path)?;
    let document = Document::parse(path, &text)?;
    let state = from_json(task, document.root())?;
    check_state(task, &state).map_err(|reason| document.root().error(reason))?;
    Ok(state)
}

/// A state as results show it. Its values need not be in their domains.
pub fn from_json(task: &Task, json: Json<'_>) -> Result<Vec<i32>, InputError> {
    let variables = &task.system.variables;
    let mut values = vec![None; variables.len()];
    for (name, value) in json.object()?.members() {
        let Some(variable) = task.system.variable(name) else {
            return Err(value.error(format!("the model has no variable {name:?}")));
        };
        values[variable.index()] = Some(scalar(&variables[variable.index()], value)?);
    }
    complete(task, values)
        .map_err(|missing| json.error(format!("the value of the variable {:?} is missing", missing[0])))
}

/// The counterpart of [`report::json::scalar`].
fn scalar(variable: &Variable, json: Json<'_>) -> Result<i32, InputError> {
    if variable.ty == VariableType::Bool {
        return json.bool().map(i32::from);
    }
    if let (Some(text), false) = (json.as_str(), variable.value_names.is_empty()) {
        let position = variable.value_names.iter().position(|name| name == text);
        return position
            .map(|position| position as i32)
            .ok_or_else(|| json.error(format!("{:?} has no location {text:?}", variable.name)));
    }
    let number = json.i64()?;
    i32::try_from(number).map_err(|_| json.error(format!("{number} is no value of {:?}", variable.name)))
}

/// The values of all variables, or the names of those that have none. What has one value only goes without saying.
fn complete(task: &Task, values: Vec<Option<i32>>) -> Result<Vec<i32>, Vec<&str>> {
    let only = |variable: &Variable| variable.ty.bounds().filter(|(lower, upper)| lower == upper);
    let variables = || task.system.variables.iter();
    let values = values.into_iter().zip(variables());
    let values: Vec<Option<i32>> =
        values.map(|(value, variable)| value.or_else(|| Some(only(variable)?.0))).collect();
    let missing = values.iter().zip(variables()).filter(|(value, _)| value.is_none());
    let missing: Vec<&str> = missing.map(|(_, variable)| variable.name.as_str()).collect();
    if missing.is_empty() { Ok(values.into_iter().flatten().collect()) } else { Err(missing) }
}
