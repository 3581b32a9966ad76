//! Operators whose results are known without any input.

use surefoot_model::InputError;

use super::super::call::{Call, Results};
use super::super::shape;
use super::super::tensor::{Numbers, Tensor};
use crate::parameter::Parameter;

/// `Constant`, with the value in one of several attributes.
pub(super) fn constant(call: &mut Call<'_>) -> Results {
    let tensor = if let Some(tensor) = call.attribute_tensor("value")? {
        tensor
    } else if let Some(number) = call.attribute_float("value_float")? {
        Tensor::scalar(Numbers::Float(vec![number]))
    } else if let Some(number) = call.attribute_int("value_int")? {
        Tensor::scalar(Numbers::Int(vec![number]))
    } else if let Some(numbers) = call.attribute_floats("value_floats")? {
        Tensor::floats(numbers)
    } else if let Some(numbers) = call.attribute_ints("value_ints")? {
        Tensor::ints(numbers)
    } else {
        return Err(call.error(
            "expected one of the attributes value, value_float, value_int, value_floats, value_ints",
        ));
    };
    Ok(vec![Call::known(tensor)])
}

/// `ConstantOfShape`: one number everywhere, 0 unless given.
pub(super) fn filled(call: &mut Call<'_>) -> Results {
    let extent = |&extent: &i64| usize::try_from(extent).map_err(|_| call.error("an extent is negative"));
    let extents = call.ints(0)?.iter().map(extent).collect::<Result<Vec<_>, InputError>>()?;
    let zero = Tensor::floats(vec![Parameter::from(0.0)]);
    let fill = call.attribute_tensor("value")?.unwrap_or(zero);
    if fill.numbers.len() != 1 {
        return Err(call.error("the attribute `value` must hold one number"));
    }
    call.pay_tensor(&extents)?;
    let picks = vec![0; shape::size(&extents)];
    Ok(vec![Call::known(fill.picked(extents, &picks))])
}

/// `Shape`: all extents are known, the batch counting as 1.
pub(super) fn shape(call: &mut Call<'_>) -> Results {
    let value = call.value(0)?;
    let extents = value.shape().ok_or_else(|| call.refuse(0, &value))?;
    let rank = extents.len() as i64;
    let place = |name: &str, default: i64| -> Result<usize, InputError> {
        let index = call.attribute_int(name)?.unwrap_or(default);
        let index = if index < 0 { index.saturating_add(rank) } else { index };
        Ok(index.clamp(0, rank) as usize)
    };
    let (start, end) = (place("start", 0)?, place("end", rank)?);
    let extents = extents.get(start..end).unwrap_or(&[]);
    Ok(vec![Call::known(Tensor::ints(extents.iter().map(|&extent| extent as i64).collect()))])
}
