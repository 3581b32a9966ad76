//! Activations: pointwise layers that join the layer before them where they can.

use surefoot_model::InputError;

use super::super::call::{Call, Results};
use super::super::tensor::Numbers;
use crate::layer::Activation;
use crate::parameter::Parameter;

pub(super) fn apply(call: &mut Call<'_>, operator: &str) -> Results {
    let value = call.computed(0)?;
    let activation = match operator {
        "Relu" => Activation::Relu,
        "Tanh" => Activation::Tanh,
        "Sigmoid" => Activation::Sigmoid,
        "LeakyRelu" => Activation::LeakyRelu { slope: slope(call)? },
        "Elu" => Activation::Elu { scale: scale(call)? },
        _ => clip(call)?,
    };
    call.pay(Some(value.elements.len()))?;
    let elements = call.builder.activate(&value.elements, activation);
    Ok(vec![Call::result(value.shape, elements)])
}

fn slope(call: &Call<'_>) -> Result<Parameter, InputError> {
    let slope = call.attribute_float("alpha")?.unwrap_or(Parameter::from(f64::from(0.01_f32)));
    if (0.0..=1.0).contains(&slope.double) {
        Ok(slope)
    } else {
        Err(call.error(format!("the slope must be between 0 and 1, it is {}", slope.single)))
    }
}

fn scale(call: &Call<'_>) -> Result<Parameter, InputError> {
    let scale = call.attribute_float("alpha")?.unwrap_or(Parameter::from(1.0));
    if scale.double >= 0.0 && scale.double.is_finite() {
        Ok(scale)
    } else {
        Err(call.error(format!("alpha must be at least 0 and finite, it is {}", scale.single)))
    }
}

/// `Clip`. Bounds that are left out are the ends of the number range, as ONNX says.
fn clip(call: &Call<'_>) -> Result<Activation, InputError> {
    let (low, high) = if call.version >= 11 {
        (bound(call, 1)?, bound(call, 2)?)
    } else {
        (call.attribute_float("min")?, call.attribute_float("max")?)
    };
    let low = low.unwrap_or(Parameter { double: f64::MIN, single: f32::MIN });
    let high = high.unwrap_or(Parameter { double: f64::MAX, single: f32::MAX });
    if low.double > high.double {
        return Err(call.error(format!("min is {}, which is above max, {}", low.double, high.double)));
    }
    clipped(call, low, high)
}

/// Values between two bounds; without an upper bound, and 0 as the lower one, that is a `ReLU`.
pub(super) fn clipped(call: &Call<'_>, low: Parameter, high: Parameter) -> Result<Activation, InputError> {
    if low.double == f64::INFINITY || high.double == f64::NEG_INFINITY {
        return Err(call.error("the bounds leave no finite value"));
    }
    if low.double == 0.0 && high.double == f64::INFINITY {
        Ok(Activation::Relu)
    } else {
        Ok(Activation::Clip { low, high })
    }
}

/// A bound that is an operand with one value.
fn bound(call: &Call<'_>, index: usize) -> Result<Option<Parameter>, InputError> {
    if call.optional(index).is_none() {
        return Ok(None);
    }
    match &call.constant(index)?.numbers {
        Numbers::Float(numbers) if numbers.len() == 1 && !numbers[0].double.is_nan() => Ok(Some(numbers[0])),
        _ => Err(call.error(format!("operand {index} must be one number"))),
    }
}
