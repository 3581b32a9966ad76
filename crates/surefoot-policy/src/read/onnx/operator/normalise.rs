//! Normalisation by constants: pointwise affine maps.

use super::super::call::{Call, Results};
use super::super::shape;
use super::super::value::Value;
use crate::layer::Activation;
use crate::parameter::Parameter;

use surefoot_model::InputError;

/// `BatchNormalization` with constant statistics, as one map `weight · x + bias` per channel. Both are computed from
/// the statistics in each precision, in the order that runtimes use.
pub(super) fn batch(call: &mut Call<'_>) -> Results {
    if call.flag("training_mode", false)? {
        return Err(call.error("the model is in training mode").with_hint("export it for inference"));
    }
    let value = call.computed(0)?;
    let channels = value.shape.get(1).copied().ok_or_else(|| call.error("operand 0 needs two axes"))?;
    let [scale, shift, mean, variance] = [1, 2, 3, 4].map(|index| -> Result<Vec<Parameter>, InputError> {
        let tensor = call.weights(index)?;
        let numbers = call.numbers(index, &tensor)?.to_vec();
        if numbers.len() == channels {
            return Ok(numbers);
        }
        let found = numbers.len();
        Err(call.error(format!("operand {index} needs {channels} numbers, one per channel, it has {found}")))
    });
    let (scale, shift, mean, variance) = (scale?, shift?, mean?, variance?);
    let epsilon = call.attribute_float("epsilon")?.unwrap_or(Parameter::from(f64::from(1e-5_f32)));
    let mut weights = Vec::new();
    let mut biases = Vec::new();
    for channel in 0..channels {
        let (scale, shift, mean, variance) =
            (scale[channel], shift[channel], mean[channel], variance[channel]);
        let double = 1.0 / (variance.double + epsilon.double).sqrt();
        let single = 1.0 / (variance.single + epsilon.single).sqrt();
        let (double, single) = (double * scale.double, single * scale.single);
        weights.push(Parameter { double, single });
        biases.push(Parameter {
            double: shift.double - mean.double * double,
            single: shift.single - mean.single * single,
        });
    }
    if weights.iter().chain(&biases).any(|number| !number.double.is_finite() || !number.single.is_finite()) {
        return Err(call.error("the statistics give no finite map"));
    }
    call.pay(Some(value.elements.len()))?;
    let inner = shape::size(&value.shape[2..]);
    let channel = |index: usize| index / inner % channels;
    let count = value.elements.len();
    let weights: Vec<Parameter> = (0..count).map(|index| weights[channel(index)]).collect();
    let biases = (0..count).map(|index| biases[channel(index)]).collect();
    let elements = call.builder.pointwise(&value.elements, &weights, biases, Activation::Identity);
    Ok(vec![Call::result(value.shape, elements)])
}

/// `Scaler` of `ai.onnx.ml`: `(x - offset) · scale`, with one number or one per feature.
pub(super) fn scaler(call: &mut Call<'_>) -> Results {
    let mut value = call.value(0)?;
    if let Value::Computed(computed) = &mut value {
        // The operator takes integers as well as floating point.
        computed.integer = false;
    }
    let features = value.shape().and_then(<[usize]>::last).copied().unwrap_or(1);
    for (name, neutral) in [("offset", 0.0), ("scale", 1.0)] {
        let numbers = call.attribute_floats(name)?.unwrap_or_else(|| vec![Parameter::from(neutral)]);
        if numbers.len() != 1 && numbers.len() != features {
            let message =
                format!("`{name}` has {} numbers, but there are {features} features", numbers.len());
            return Err(call.error(message));
        }
        if numbers.iter().any(|number| !number.double.is_finite()) {
            return Err(call.error(format!("`{name}` holds infinity or NaN")));
        }
        value = match name {
            "offset" => {
                let negative =
                    |number: &Parameter| Parameter { double: -number.double, single: -number.single };
                let numbers: Vec<_> = numbers.iter().map(negative).collect();
                super::arithmetic::shifted(call, value, &[numbers.len()], &numbers)?
            }
            _ => super::arithmetic::multiplied(call, value, &[numbers.len()], &numbers)?,
        };
    }
    Ok(vec![value])
}
