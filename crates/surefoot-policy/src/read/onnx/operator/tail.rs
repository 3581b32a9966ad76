//! The end of a model: what turns scores into probabilities or a choice.
//!
//! Softmax and its relatives keep the order of their operands, so they are left out: the choice is the highest of the
//! scores before them. In floating point they can make different scores equal; then a runtime may choose another one
//! of these than surefoot does. `ArgMax` takes the first of equal scores, as surefoot does.

use surefoot_model::InputError;

use super::super::call::{Call, Results};
use super::super::tensor::Numbers;
use super::super::value::{Choice, Ranking, Scores, Value};
use super::arithmetic::Sign;
use super::reduce;

/// The scores in a value that orders its parts.
fn scores(call: &Call<'_>, value: &Value) -> Result<Scores, InputError> {
    match value {
        Value::Computed(computed) if !computed.integer => Ok(Scores::Network(computed.elements.clone())),
        Value::Ranking(ranking) => Ok(ranking.scores.clone()),
        other => Err(call.refuse(0, other)),
    }
}

/// The axis on which the operator works, if all other axes have one value.
fn only_axis(call: &Call<'_>, value: &Value, default: i64) -> Result<(), InputError> {
    let shape = value.shape().ok_or_else(|| call.refuse(0, value))?;
    let axis = call.axis(call.attribute_int("axis")?.unwrap_or(default), shape.len())?;
    reduce::whole(value, axis).ok_or_else(|| {
        call.error(format!("it must work on all values at once, but not all of them are on axis {axis}"))
    })
}

/// `Softmax` and `LogSoftmax`: along one axis since version 13, over all axes from one on before it.
pub(super) fn softmax(call: &mut Call<'_>) -> Results {
    let value = call.value(0)?;
    let scores = scores(call, &value)?;
    let shape = value.shape().ok_or_else(|| call.refuse(0, &value))?.to_vec();
    if call.version >= 13 {
        only_axis(call, &value, -1)?;
    } else {
        let axis = call.axis(call.attribute_int("axis")?.unwrap_or(1), shape.len())?;
        if shape[..axis].iter().any(|&extent| extent != 1) {
            return Err(
                call.error(format!("it must work on all values at once, but axis {axis} is not the first"))
            );
        }
    }
    Ok(vec![Value::Ranking(Ranking { shape, scores })])
}

/// `ArgMax` of all scores.
pub(super) fn argmax(call: &mut Call<'_>) -> Results {
    let value = call.value(0)?;
    let scores = scores(call, &value)?;
    only_axis(call, &value, 0)?;
    if call.flag("select_last_index", false)? {
        return Err(call.error("the last of equal scores is chosen; surefoot chooses the first"));
    }
    Ok(vec![Value::Choice(Choice::index(scores))])
}

/// `ReduceLogSumExp` of all scores, for a difference that follows.
pub(super) fn normaliser(call: &mut Call<'_>) -> Results {
    let value = call.computed(0)?;
    let rank = value.shape.len();
    let axes = reduce::axes(call, call.given_axes(18)?, rank)?;
    if (0..rank).any(|axis| value.shape[axis] != 1 && !axes.contains(&axis)) {
        return Err(call.error("it must work on all values at once"));
    }
    Ok(vec![Value::Normaliser(value)])
}

/// A difference of scores and their normaliser, which is a softmax on a logarithmic scale.
pub(super) fn difference(
    call: &Call<'_>,
    left: &Value,
    right: &Value,
    sign: Sign,
) -> Result<Value, InputError> {
    match (left, right) {
        (Value::Computed(scores), Value::Normaliser(of))
            if sign == Sign::Minus && scores.elements == of.elements =>
        {
            let ranking = Scores::Network(scores.elements.clone());
            Ok(Value::Ranking(Ranking { shape: scores.shape.clone(), scores: ranking }))
        }
        (Value::Computed(_) | Value::Constant(_), other) => Err(call.refuse(1, other)),
        (other, _) => Err(call.refuse(0, other)),
    }
}

/// Probabilities or tree scores times (or divided by) one positive number.
pub(super) fn scaled(call: &Call<'_>, value: Value, constant: usize) -> Results {
    let tensor = call.constant(constant)?;
    // More axes would move those of the value.
    let keeps_axes = value.shape().is_some_and(|shape| tensor.shape.len() <= shape.len());
    match &tensor.numbers {
        Numbers::Float(numbers)
            if keeps_axes
                && numbers.len() == 1
                && numbers[0].double > 0.0
                && numbers[0].double.is_finite() =>
        {
            Ok(vec![value])
        }
        _ => Err(call.error("scores of trees or of a softmax may only be scaled by one positive number")),
    }
}

/// `ZipMap`, which names the scores.
pub(super) fn zip_map(call: &mut Call<'_>) -> Results {
    call.own_classes()?;
    let value = call.value(0)?;
    scores(call, &value)?;
    Ok(vec![value])
}

/// `Normalizer`: division by a norm, which is positive.
pub(super) fn normalizer(call: &mut Call<'_>) -> Results {
    let value = call.value(0)?;
    let norm = call.attribute_string("norm")?.unwrap_or_else(|| "MAX".into());
    if norm != "L1" && norm != "L2" {
        return Err(call.error(format!("the norm {norm} is not supported, only L1 and L2")));
    }
    let scores = scores(call, &value)?;
    let shape = value.shape().ok_or_else(|| call.refuse(0, &value))?.to_vec();
    if shape.iter().filter(|&&extent| extent != 1).count() > 1 {
        return Err(call.error("it must work on all values at once"));
    }
    Ok(vec![Value::Ranking(Ranking { shape, scores })])
}

/// `ArrayFeatureExtractor` where it looks up the class of the highest score. The table is what the classes of the model are
/// called, so the choice is the same. What was looked up already is no index any more.
pub(super) fn label(call: &mut Call<'_>) -> Results {
    let choice = match call.value(1)? {
        Value::Choice(choice) if choice.classes.is_none() => choice,
        Value::Choice(_) => return Err(call.error("operand 1 was looked up in a table of classes already")),
        _ => return Err(call.error("this operator is supported for the names of chosen labels only")),
    };
    let classes = call.table(0)?;
    if classes.len() != choice.scores.len() {
        let (classes, scores) = (classes.len(), choice.scores.len());
        return Err(call.error(format!("there are {classes} classes for {scores} scores")));
    }
    Ok(vec![Value::Choice(Choice { classes: Some(classes), ..choice })])
}

/// `Gather` of a table at the index of the highest score. It gives that index if the table holds 0, 1, 2, …; any other one
/// gives something else, which is not read.
pub(super) fn looked_up(call: &Call<'_>, choice: Choice) -> Results {
    let is_identity = match call.value(0)? {
        Value::Constant(table) => {
            let indices = (0..choice.scores.len() as i64).collect();
            table.shape.len() == 1 && table.numbers == Numbers::Int(indices)
        }
        _ => false,
    };
    if is_identity && choice.classes.is_none() {
        return Ok(vec![Value::Choice(choice)]);
    }
    Err(call
        .error("a look-up of what is chosen is supported only in a table of the indices 0, 1, 2, …")
        .with_hint("export the scores, or the index of the highest one"))
}
