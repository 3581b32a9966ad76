//! Which output of a model holds the scores.
//!
//! It is the one with as many values as the interface has outputs. Several outputs may come from the same scores:
//! these, their probabilities, and the choice. If more than one set of scores fits, the model is refused, and so it is if an
//! output that cannot be read may be a choice: it may be another one than that of the highest score.

use std::collections::HashMap;
use std::path::Path;

use surefoot_model::InputError;

use super::builder::Builder;
use super::graph::Known;
use super::message::{Graph, ValueInfo, data_type};
use super::shape;
use super::value::{Scores, Value};
use crate::policy::Scorer;

/// The scores among the outputs.
pub(super) fn choose(
    path: &Path,
    graph: &Graph,
    names: &HashMap<&str, Known>,
    outputs: usize,
    warnings: &mut Vec<InputError>,
) -> Result<Scores, InputError> {
    let mut found: Option<(&str, Scores)> = None;
    let mut others = Vec::new();
    let mut failed: Vec<(&str, &InputError)> = Vec::new();
    for output in &graph.outputs {
        let name = output.name.as_str();
        let missing = || InputError::in_file(path, format!("no node computes the output `{name}`"));
        let value = match names.get(name).ok_or_else(missing)? {
            Ok(value) => value,
            Err(error) => {
                failed.push((name, error));
                others.push(format!("`{name}` cannot be read"));
                continue;
            }
        };
        let Some(scores) = scores(value).filter(|scores| scores.len() == outputs) else {
            others.push(format!("`{name}` {}", describe(value)));
            continue;
        };
        match &found {
            None => found = Some((name, scores)),
            Some((_, first)) if first.same(&scores) => {}
            Some((first, _)) => {
                let message = format!("the outputs `{first}` and `{name}` both have {outputs} values");
                let hint = "remove the output that does not hold the scores of the actions";
                return Err(InputError::in_file(path, message).with_hint(hint));
            }
        }
    }
    let Some((name, scores)) = found else {
        // If one mistake is the reason for all, it says more than a list.
        return Err(match failed.split_first() {
            Some(((_, first), more))
                if failed.len() == graph.outputs.len() && more.iter().all(|(_, error)| error == first) =>
            {
                (*first).clone()
            }
            _ => refusal(path, outputs, &others, &failed),
        });
    };
    for (other, error) in failed {
        if graph.outputs.iter().any(|output| output.name == other && may_be_choice(output)) {
            let message =
                format!("the output `{other}` may be the choice, and cannot be read: {}", error.message);
            let hint = format!(
                "if the choice is that of the highest score in `{name}`, remove the output `{other}`"
            );
            return Err(InputError::in_file(path, message).with_hint(hint));
        }
        let message = format!("the scores are taken from `{name}`; the output `{other}` is ignored");
        let warning = InputError::in_file(path, message);
        warnings.push(warning.with_hint(format!("it could not be read: {}", error.message)));
    }
    Ok(scores)
}

/// Whether an output holds something else than numbers with fractions.
fn may_be_choice(output: &ValueInfo) -> bool {
    let kind = output.kind.as_ref().and_then(|kind| kind.tensor.as_ref());
    kind.is_some_and(|tensor| {
        !matches!(
            tensor.data_type,
            data_type::UNDEFINED
                | data_type::FLOAT
                | data_type::FLOAT16
                | data_type::DOUBLE
                | data_type::BFLOAT16
        )
    })
}

fn refusal(path: &Path, outputs: usize, others: &[String], failed: &[(&str, &InputError)]) -> InputError {
    let list = if others.is_empty() { "there are no outputs".into() } else { others.join(", ") };
    let message = format!("the interface lists {outputs} outputs, but no output has as many values: {list}");
    let error = InputError::in_file(path, message);
    match failed.first() {
        Some((name, reason)) => error.with_hint(format!("`{name}` cannot be read: {}", reason.message)),
        None => error,
    }
}

fn scores(value: &Value) -> Option<Scores> {
    match value {
        Value::Computed(computed) => Some(Scores::Network(computed.elements.clone())),
        Value::Ranking(ranking) => Some(ranking.scores.clone()),
        Value::Choice(choice) if choice.is_highest => Some(choice.scores.clone()),
        Value::Choice(_) | Value::Constant(_) | Value::Normaliser(_) => None,
    }
}

fn describe(value: &Value) -> String {
    match (value, scores(value)) {
        (Value::Choice(_), Some(scores)) => format!("chooses among {}", scores.len()),
        (Value::Choice(_), None) => "need not be the class with the highest score".into(),
        (_, Some(scores)) => format!("has {} values", scores.len()),
        (Value::Constant(tensor), None) => {
            format!("is constant, of shape {}", shape::describe(&tensor.shape))
        }
        _ => "has 1 value".into(),
    }
}

/// The scorer that computes these scores.
pub(super) fn finish(path: &Path, scores: Scores, builder: Builder) -> Result<Scorer, InputError> {
    match scores {
        Scores::Network(elements) => builder
            .finish(&elements)
            .map(Scorer::Network)
            .map_err(|error| InputError::in_file(path, error.to_string())),
        Scores::Trees(ensemble) => Ok(Scorer::Ensemble(ensemble.as_ref().clone())),
    }
}
