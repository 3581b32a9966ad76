//! Maxima and minima: of tensors, with constants, and along axes.
//!
//! Minima are negated maxima of negated values, which is exact.

use super::super::call::{Call, Results};
use super::super::shape;
use super::super::tensor::Numbers;
use super::super::value::{Computed, Value};
use super::activation::clipped;
use super::arithmetic::{common, negated, spread};
use super::reduce::Reduction;
use crate::network::Element;
use crate::parameter::Parameter;

use surefoot_model::InputError;

/// Which of two values is kept.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Which {
    Largest,
    Smallest,
}

/// `Max` and `Min` of any number of tensors.
pub(super) fn apply(call: &mut Call<'_>, which: Which) -> Results {
    let mut operands = Vec::new();
    let mut bounds = Vec::new();
    for index in 0..call.inputs.len() {
        match call.value(index)? {
            Value::Constant(_) => match uniform(call, index)? {
                Some(bound) => bounds.push(bound),
                None => operands.push(promoted(call, index)?),
            },
            _ => operands.push(call.computed(index)?),
        }
    }
    let Some((first, others)) = operands.split_first() else {
        return Err(call.error("an operand must be computed"));
    };
    let mut result = first.clone();
    for other in others {
        let shape = common(call, &result.shape, &other.shape)?;
        let elements = pairwise(call, which, &spread(&result, &shape), &spread(other, &shape))?;
        result = Computed { shape, elements: elements.into(), integer: false };
    }
    for (shape, bound) in bounds {
        let shape = common(call, &result.shape, &shape)?;
        let activation = match which {
            Which::Largest => clipped(call, bound, infinity(1.0))?,
            Which::Smallest => clipped(call, infinity(-1.0), bound)?,
        };
        let elements = call.builder.activate(&spread(&result, &shape), activation);
        result = Computed { shape, elements: elements.into(), integer: false };
    }
    Ok(vec![Value::Computed(result)])
}

/// `ReduceMax` and `ReduceMin`.
pub(super) fn reduce(call: &mut Call<'_>, which: Which) -> Results {
    let value = call.computed(0)?;
    let axes = call.given_axes(18)?;
    let reduction = Reduction::new(call, &value, axes)?;
    let mut groups: Vec<Vec<Element>> = reduction.groups(&value);
    // Halves all groups at once: they have the same length.
    while groups[0].len() > 1 {
        let pairs = groups[0].len() / 2;
        let side = |offset: usize| -> Vec<Element> {
            let pick =
                |group: &Vec<Element>| (0..pairs).map(|pair| group[2 * pair + offset]).collect::<Vec<_>>();
            groups.iter().flat_map(pick).collect()
        };
        let (left, right) = (side(0), side(1));
        let larger = pairwise(call, which, &left, &right)?;
        groups = groups
            .iter()
            .zip(larger.chunks_exact(pairs))
            .map(|(group, pairs)| {
                let odd = group.iter().skip(2 * pairs.len()).copied();
                pairs.iter().copied().chain(odd).collect()
            })
            .collect();
    }
    let elements = groups.into_iter().flatten().collect();
    Ok(vec![Call::result(reduction.shape, elements)])
}

fn pairwise(
    call: &mut Call<'_>,
    which: Which,
    left: &[Element],
    right: &[Element],
) -> Result<Vec<Element>, InputError> {
    call.pay(left.len().checked_mul(6))?;
    Ok(match which {
        Which::Largest => call.builder.maximum(left, right),
        Which::Smallest => {
            let (left, right) = (negated(call, left), negated(call, right));
            let larger = call.builder.maximum(&left, &right);
            negated(call, &larger)
        }
    })
}

/// The shape and number of a constant operand whose numbers are all the same.
fn uniform(call: &Call<'_>, index: usize) -> Result<Option<(Vec<usize>, Parameter)>, InputError> {
    let tensor = call.constant(index)?;
    let Numbers::Float(numbers) = &tensor.numbers else {
        return Err(call.error(format!("operand {index} holds integers")));
    };
    let first = *numbers.first().ok_or_else(|| call.error(format!("operand {index} is empty")))?;
    if first.double.is_nan() {
        return Err(call.error(format!("operand {index} holds NaN")));
    }
    Ok(numbers.iter().all(|&number| number == first).then(|| (tensor.shape.clone(), first)))
}

/// A constant operand as values of the network.
fn promoted(call: &mut Call<'_>, index: usize) -> Result<Computed, InputError> {
    let tensor = call.weights(index)?;
    let numbers = call.numbers(index, &tensor)?;
    call.pay(Some(shape::size(&tensor.shape)))?;
    let elements = call.builder.constants(numbers);
    Ok(Computed { shape: tensor.shape.clone(), elements: elements.into(), integer: false })
}

fn infinity(sign: f64) -> Parameter {
    Parameter::from(sign * f64::INFINITY)
}
