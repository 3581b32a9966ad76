//! Normalisation by constants: pointwise affine maps.
//!
//! # Batch normalisation in every single-precision evaluation
//!
//! `y = w·x + b` with `w = scale/√(variance + ε)` and `b = shift − mean·w`. Runtimes fold this into the product
//! before it: ONNX Runtime computes `Σ (wᵢ·w)·xᵢ + b` where the model says `MatMul` and `BatchNormalization`. Other
//! evaluations of `w` differ by a few roundings from ours, and so do those of `b`, but they are *not* a few roundings
//! of `b` where `shift` and `mean·w` cancel. The enclosures of `any-f32` grow with the magnitudes that a layer adds
//! up. So there are two layers,
//!
//! > `q = w·x`, `h₁ = h₂ = h₃ = h₄ = H`  and  `y = h₁ − h₂ + h₃ − h₄ + q + b`:
//!
//! the constants cancel without rounding and change no value, and the enclosure grows by a multiple of `H`. They come
//! first, since surefoot adds from left to right.
//!
//! **Claim.** The enclosure of `y` holds what any evaluation computes, folded or not. Let `u = 2⁻²⁴`. Computed `w` have
//! at most 3½ roundings (a sum, of which the root leaves half, root, quotient, product), so they differ by `7u` at
//! most. Let `x = Σ wᵢ·xᵢ + c` have `n` terms, `M = Σ|wᵢ·xᵢ|`, and `D = |mean·w| + |shift| + |c·w|`.
//!
//! - Folded, each `wᵢ·w` and its product with `xᵢ` round once, and pass `n` additions: `γ_{n+2}·|w|·M`, which the layer
//!   of `x` pays for, since its enclosures grow by that. Another `w` adds `7u·|w·x|`. `γ₃` of `q` and `γ₇` of `y` pay
//!   for that and for products of errors.
//! - Not folded, it may also be `(x − mean)·(1/√(variance + ε))·scale + shift`: 6½ roundings of `x·w` against 3½ of
//!   ours. `γ₃` and `γ₇` pay for these, too.
//! - The constants have at most 4 roundings besides those of `w`, ours have 2, and they pass `n` additions, in which
//!   they are at most `D`: `γ_{n+13}·D`. The four `H` pay `4·(γ₂ + γ₇)·H ≥ 36u·H`, so `H ≥ (n/16 + ½)·D` is enough.
//! - Where `wᵢ·w` is subnormal, an evaluation loses `2⁻¹²⁶·|xᵢ|`; `H ≥ 2⁻⁴⁰` pays for inputs up to `2⁶⁰` in total. ∎

use super::super::builder::{SumBefore, Weights};
use super::super::call::{Call, Results};
use super::super::shape;
use super::super::value::Value;
use crate::network::Element;
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
    let maps = maps(call, channels)?;
    // Six values and six weights for each.
    call.pay(value.elements.len().checked_mul(12))?;
    let inner = shape::size(&value.shape[2..]);
    let maps: Vec<Map> = (0..value.elements.len()).map(|index| maps[index / inner % channels]).collect();
    let elements = normalised(call, &value.elements, &maps)?;
    Ok(vec![Call::result(value.shape, elements)])
}

/// `weight · x + bias`.
#[derive(Clone, Copy)]
struct Map {
    weight: Parameter,
    bias: Parameter,
    /// The magnitude of what the bias is the difference of, as singles.
    terms: f64,
}

/// The map of each channel.
fn maps(call: &Call<'_>, channels: usize) -> Result<Vec<Map>, InputError> {
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
    let map = |channel: usize| {
        let (scale, shift, mean, variance) =
            (scale[channel], shift[channel], mean[channel], variance[channel]);
        let double = 1.0 / (variance.double + epsilon.double).sqrt();
        let single = 1.0 / (variance.single + epsilon.single).sqrt();
        let weight = Parameter { double: double * scale.double, single: single * scale.single };
        let bias = Parameter {
            double: shift.double - mean.double * weight.double,
            single: shift.single - mean.single * weight.single,
        };
        let [mean, factor, shift] = [mean.single, weight.single, shift.single].map(|it| f64::from(it).abs());
        Map { weight, bias, terms: mean * factor + shift }
    };
    let maps: Vec<Map> = (0..channels).map(map).collect();
    let is_finite = |number: Parameter| number.double.is_finite() && number.single.is_finite();
    if maps.iter().all(|map| is_finite(map.weight) && is_finite(map.bias)) {
        return Ok(maps);
    }
    Err(call.error("the statistics give no finite map"))
}

/// The maps of these elements, in two layers: see the top of this file.
fn normalised(call: &mut Call<'_>, elements: &[Element], maps: &[Map]) -> Result<Vec<Element>, InputError> {
    let (one, minus) = (Parameter::from(1.0), Parameter::from(-1.0));
    let count = elements.len();
    let constant = |(&element, map): (&Element, &Map)| slack(&call.builder.sum_before(element), map);
    let constants: Vec<Parameter> = elements.iter().zip(maps).map(constant).collect();
    if constants.iter().any(|number| !number.single.is_finite()) {
        return Err(call.error("the statistics are too large"));
    }
    // Four rows without weights, and the products.
    let products = maps.iter().enumerate().map(|(index, map)| vec![(index as u32, map.weight)]);
    let rows = std::iter::repeat_n(Vec::new(), 4 * count).chain(products).collect();
    let zeros = vec![Parameter::from(0.0); count];
    let biases = [&constants[..], &constants, &constants, &constants, &zeros].concat();
    let parts = call.builder.layer(elements, Weights::Sparse(rows), biases);
    let row = |index: usize| {
        let terms = [one, minus, one, minus, one].into_iter().enumerate();
        terms.map(|(part, weight)| ((part * count + index) as u32, weight)).collect()
    };
    let biases = maps.iter().map(|map| map.bias).collect();
    Ok(call.builder.layer(&parts, Weights::Sparse((0..count).map(row).collect()), biases))
}

/// The `H` of a value: see the top of this file.
fn slack(before: &SumBefore, map: &Map) -> Parameter {
    let magnitude = map.terms + before.bias * f64::from(map.weight.single.abs());
    let slack = (before.terms as f64 / 16.0 + 0.5) * magnitude;
    Parameter::from(slack.max(2.0_f64.powi(-40)) as f32)
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
