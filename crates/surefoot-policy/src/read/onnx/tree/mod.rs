//! Tree ensembles of `ai.onnx.ml`: classifiers, regressors and the operator that replaced both.
//!
//! The score of a class is the sum of its leaf weights, tree by tree, plus its base value at the end, which is the
//! order of ONNX Runtime for up to 80 trees. So the base values become a tree without splits, the last one. Averages
//! are left as sums, and transformations that keep the order of scores are left out.
//!
//! Inputs are integers: what happens to missing values does not matter.

mod convert;
mod forest;

use std::rc::Rc;

use surefoot_model::InputError;

use super::call::{Call, Results};
use super::value::{Choice, Ranking, Scores, Value};
use crate::ensemble::{Ensemble, Tree, TreeNode};
use crate::network::Source;
use crate::parameter::Parameter;
use forest::Forest;

/// `TreeEnsembleClassifier`: the label and the scores.
pub(super) fn classifier(call: &mut Call<'_>) -> Results {
    let classes = call.own_classes()?;
    let labels = classes.as_ref().map_or(0, |classes| classes.len());
    let transform = call.attribute_string("post_transform")?.unwrap_or_else(|| "NONE".into());
    check_transform(call, &transform)?;
    let forest = Forest::with_ids(call, "class", labels)?;
    let base = numbers(call, "base_values")?.unwrap_or_default();
    let ensemble = if labels == 2 {
        two_classes(call, &forest, &base, &transform)?
    } else {
        let base = per_output(call, &base, labels)?;
        if base.is_none() {
            check_weighed(call, &forest, labels)?;
        }
        sums(call, &forest, labels, base.as_deref())?
    };
    // The runtime's label for two classes with weights for the second, among others, is that one if its score is above 0.
    let is_highest = labels != 2 || forest.outputs().len() < 2;
    let scores = Scores::Trees(Rc::new(ensemble));
    let choice = Choice { scores: scores.clone(), classes, is_highest };
    Ok(vec![Value::Choice(choice), ranking(scores)])
}

/// ONNX Runtime's label is never a class without a weight in the leaves that are reached, though its score is 0. That is the
/// highest score only if some leaf always weighs each class, or if some class always has a score above 0.
fn check_weighed(call: &Call<'_>, forest: &Forest, classes: usize) -> Result<(), InputError> {
    let positive = forest.weights().all(|weight| weight.single >= f32::MIN_POSITIVE);
    let weighed = forest.always_weighed();
    if weighed.outputs.len() == classes || (positive && weighed.is_some_always) {
        return Ok(());
    }
    let missing = (0..classes).find(|class| !weighed.outputs.contains(class)).unwrap_or(0);
    Err(call
        .error(format!(
            "the label is not clear: class {missing} has no weight in some leaves, so ONNX Runtime never gives it there \
             as the label, though its score may be the highest"
        ))
        .with_hint("give each class a weight in each leaf, or add base values"))
}

/// `TreeEnsembleRegressor`.
pub(super) fn regressor(call: &mut Call<'_>) -> Results {
    let transform = call.attribute_string("post_transform")?.unwrap_or_else(|| "NONE".into());
    check_transform(call, &transform)?;
    let aggregate = call.attribute_string("aggregate_function")?.unwrap_or_else(|| "SUM".into());
    let targets = targets(call)?;
    let forest = Forest::with_ids(call, "target", targets)?;
    let base = numbers(call, "base_values")?.unwrap_or_default();
    let base = per_output(call, &base, targets)?;
    match aggregate.as_str() {
        "SUM" => {}
        // The division by the number of trees keeps the order, unless something else was added to it.
        "AVERAGE" if base.as_deref().is_none_or(|base| base.iter().all(|&number| number == base[0])) => {}
        "AVERAGE" => {
            return Err(call.error("averages with different base values are not supported"));
        }
        other => return Err(call.error(format!("the aggregate function {other} is not supported"))),
    }
    let ensemble = sums(call, &forest, targets, base.as_deref())?;
    Ok(vec![ranking(Scores::Trees(Rc::new(ensemble)))])
}

/// `TreeEnsemble`, version 5.
pub(super) fn ensemble(call: &mut Call<'_>) -> Results {
    // NONE, SOFTMAX, LOGISTIC, SOFTMAX_ZERO, PROBIT.
    let transform = call.attribute_int("post_transform")?.unwrap_or(0);
    if !(0..=2).contains(&transform) {
        return Err(call.error(format!("the transformation {transform} does not keep the order of scores")));
    }
    // AVERAGE, SUM, MIN, MAX.
    let aggregate = call.attribute_int("aggregate_function")?.unwrap_or(1);
    if !(0..=1).contains(&aggregate) {
        return Err(call.error(format!("the aggregate function {aggregate} is not supported")));
    }
    let targets = targets(call)?;
    let forest = Forest::with_leaves(call, targets)?;
    let ensemble = sums(call, &forest, targets, None)?;
    Ok(vec![ranking(Scores::Trees(Rc::new(ensemble)))])
}

fn ranking(scores: Scores) -> Value {
    Value::Ranking(Ranking { shape: vec![1, scores.len()], scores })
}

fn targets(call: &Call<'_>) -> Result<usize, InputError> {
    let targets = call.attribute_int("n_targets")?.unwrap_or(1);
    usize::try_from(targets).map_err(|_| call.error(format!("n_targets is {targets}")))
}

/// Only transformations that keep the order of scores are left out.
fn check_transform(call: &Call<'_>, transform: &str) -> Result<(), InputError> {
    match transform {
        "NONE" | "SOFTMAX" | "LOGISTIC" => Ok(()),
        other => Err(call.error(format!("the transformation {other} does not keep the order of scores"))),
    }
}

/// Finite numbers of an attribute, or of its twin in double precision.
fn numbers(call: &Call<'_>, name: &str) -> Result<Option<Vec<Parameter>>, InputError> {
    let double = format!("{name}_as_tensor");
    let found = match call.attribute_tensor(&double)? {
        Some(tensor) => match tensor.numbers {
            super::tensor::Numbers::Float(numbers) => Some(numbers),
            super::tensor::Numbers::Int(_) => {
                return Err(call.error(format!("the attribute `{double}` holds integers")));
            }
        },
        None => call.attribute_floats(name)?,
    };
    let found = found.filter(|numbers| !numbers.is_empty());
    if found.iter().flatten().any(|number| !number.double.is_finite()) {
        return Err(call.error(format!("the attribute `{name}` holds infinity or NaN")));
    }
    Ok(found)
}

/// Base values: none, or one per output.
fn per_output(
    call: &Call<'_>,
    base: &[Parameter],
    outputs: usize,
) -> Result<Option<Vec<Parameter>>, InputError> {
    match base.len() {
        0 => Ok(None),
        found if found == outputs => Ok(Some(base.to_vec())),
        found => Err(call.error(format!("there are {found} base values for {outputs} outputs"))),
    }
}

/// Which input each feature is.
fn features(call: &Call<'_>) -> Result<Vec<u32>, InputError> {
    let Value::Computed(values) = call.value(0)? else {
        return Err(call.error("trees must read the inputs of the model"));
    };
    let feature = |element: &crate::network::Element| match element.source {
        Source::Input => Ok(element.index),
        Source::Node(_) => Err(call
            .error("trees must read the inputs of the model, not values computed from them")
            .with_hint("train the trees on plain values: scaling changes nothing for them")),
    };
    values.elements.iter().map(feature).collect()
}

/// The ensemble of these trees.
fn sums(
    call: &mut Call<'_>,
    forest: &Forest,
    outputs: usize,
    last: Option<&[Parameter]>,
) -> Result<Ensemble, InputError> {
    call.pay(outputs.checked_mul(2))?;
    let features = features(call)?;
    let mut trees = convert::trees(call, forest, outputs, &features)?;
    if let Some(last) = last {
        trees.push(constant_tree(call, last)?);
    }
    let base = vec![Parameter::from(0.0); outputs];
    Ensemble::new(call.builder.inputs().len(), base, trees).map_err(|error| call.error(error.to_string()))
}

/// A tree that adds the same everywhere.
fn constant_tree(call: &Call<'_>, values: &[Parameter]) -> Result<Tree, InputError> {
    Tree::new(values.len(), vec![TreeNode::Leaf(0)], values.to_vec())
        .map_err(|error| call.error(error.to_string()))
}

/// Two classes. If the leaves weigh one class only, ONNX Runtime derives the other score: it is `1 - p` if no weight
/// is negative, and `-p` otherwise. The second class wins where `p` is above one half or above 0, so that number is
/// the score of the first. Where the operator is not consistent in itself, it is refused.
fn two_classes(
    call: &mut Call<'_>,
    forest: &Forest,
    base: &[Parameter],
    transform: &str,
) -> Result<Ensemble, InputError> {
    let ids = forest.outputs();
    let positive = forest.weights().all(|weight| weight.double >= 0.0);
    let unclear = |call: &Call<'_>, reason: &str| {
        Err(call
            .error(format!("the scores of the two classes are not clear: {reason}"))
            .with_hint("export the model with one weight per class in each leaf and without base values"))
    };
    match (ids.as_slice(), base) {
        ([0], [] | [_]) => {
            if positive && transform == "LOGISTIC" {
                return unclear(call, "runtimes compare with one half before the logistic transformation");
            }
            let half = Parameter::from(if positive { 0.5 } else { 0.0 });
            let second = forest.moved_to(1);
            let last = [half, base.first().copied().unwrap_or(Parameter::from(0.0))];
            sums(call, &second, 2, Some(&last))
        }
        ([1], []) if positive => unclear(call, "all weights are positive and belong to the second class"),
        ([0, 1], []) if !forest.always_weighed().outputs.contains(&1) => unclear(
            call,
            "where a leaf has no weight for the second class, runtimes derive its score from the first",
        ),
        ([] | [1] | [0, 1], []) => sums(call, forest, 2, None),
        _ => unclear(call, "runtimes do not agree on base values here"),
    }
}
