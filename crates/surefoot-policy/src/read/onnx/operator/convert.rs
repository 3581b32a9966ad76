//! Operators that change nothing but types: `Cast`, and `Dropout` outside of training.

use super::super::call::{Call, Results};
use super::super::message::data_type;
use super::super::tensor::{Numbers, Tensor};
use super::super::value::{Choice, Computed, Value};
use crate::network::Source;
use crate::parameter::Parameter;

use surefoot_model::InputError;

/// `Cast`. Computed values may become floating point; only inputs, which are integers already, may become integers.
/// Constants and the choice may become what holds them exactly.
pub(super) fn cast(call: &mut Call<'_>) -> Results {
    let target = call.attribute_int("to")?.and_then(|to| i32::try_from(to).ok()).unwrap_or(0);
    let float = matches!(target, data_type::FLOAT | data_type::DOUBLE);
    let integer = matches!(target, data_type::INT32 | data_type::INT64);
    let result = match call.value(0)? {
        Value::Choice(choice) if holds(target, &choice) => Value::Choice(choice),
        ranking @ Value::Ranking(_) if float => ranking,
        Value::Computed(computed) if float => Value::Computed(Computed { integer: false, ..computed }),
        Value::Computed(computed)
            if integer && computed.elements.iter().all(|element| element.source == Source::Input) =>
        {
            Value::Computed(Computed { integer: true, ..computed })
        }
        Value::Constant(tensor) if float => Call::known(floats(&tensor)),
        Value::Constant(tensor) if integer => Call::known(integers(call, &tensor, target)?),
        _ => {
            let name = data_type::name(target);
            return Err(call
                .error(format!("a cast to {name} is not supported here"))
                .with_hint("values that are computed may be cast to float or double, what is chosen to integers that hold it"));
        }
    };
    Ok(vec![result])
}

/// Whether a type has all numbers (or names) that a choice may be.
fn holds(target: i32, choice: &Choice) -> bool {
    match choice.range() {
        Some((low, high)) => range(target).is_some_and(|(least, most)| least <= low && high <= most),
        None => target == data_type::STRING,
    }
}

/// A range in which a type has all whole numbers, as far as `i64` has them, too.
fn range(data_type: i32) -> Option<(i64, i64)> {
    Some(match data_type {
        data_type::INT8 => (i8::MIN.into(), i8::MAX.into()),
        data_type::INT16 => (i16::MIN.into(), i16::MAX.into()),
        data_type::INT32 => (i32::MIN.into(), i32::MAX.into()),
        data_type::INT64 => (i64::MIN, i64::MAX),
        data_type::UINT8 => (0, u8::MAX.into()),
        data_type::UINT16 => (0, u16::MAX.into()),
        data_type::UINT32 => (0, u32::MAX.into()),
        data_type::UINT64 => (0, i64::MAX),
        data_type::FLOAT => (-(1 << f32::MANTISSA_DIGITS), 1 << f32::MANTISSA_DIGITS),
        data_type::DOUBLE => (-(1 << f64::MANTISSA_DIGITS), 1 << f64::MANTISSA_DIGITS),
        _ => return None,
    })
}

fn floats(tensor: &Tensor) -> Tensor {
    let number = |&number: &i64| Parameter { double: number as f64, single: number as f32 };
    let numbers = match &tensor.numbers {
        Numbers::Float(numbers) => numbers.clone(),
        Numbers::Int(numbers) => numbers.iter().map(number).collect(),
    };
    Tensor { shape: tensor.shape.clone(), numbers: Numbers::Float(numbers) }
}

/// The numbers without their fractions. Where one is outside of the range of the type, runtimes differ.
fn integers(call: &Call<'_>, tensor: &Tensor, target: i32) -> Result<Tensor, InputError> {
    // Doubles have no number between the last one below 2⁶³ and 2⁶³ itself.
    const END: f64 = -(i64::MIN as f64);
    let whole = |number: &Parameter| (-END..END).contains(&number.double).then_some(number.double as i64);
    let (least, most) = range(target).unwrap_or((0, 0));
    let checked = |number: Option<i64>| {
        number.filter(|number| (least..=most).contains(number)).ok_or_else(|| {
            let name = data_type::name(target);
            call.error(format!("a number of operand 0 is outside of the range of {name}"))
                .with_hint("runtimes do not agree on the result; keep the number in its range")
        })
    };
    let numbers: Result<Vec<i64>, InputError> = match &tensor.numbers {
        Numbers::Int(numbers) => numbers.iter().map(|&number| checked(Some(number))).collect(),
        Numbers::Float(numbers) => numbers.iter().map(|number| checked(whole(number))).collect(),
    };
    Ok(Tensor { shape: tensor.shape.clone(), numbers: Numbers::Int(numbers?) })
}

/// `Dropout`, which keeps everything outside of training. Its mask is not read.
pub(super) fn dropout(call: &mut Call<'_>) -> Results {
    let training = match call.optional_ints(2)?.as_deref() {
        None | Some([0]) => false,
        Some(_) => call.version >= 12,
    };
    if training {
        return Err(call.error("the model is in training mode").with_hint("export it for inference"));
    }
    Ok(vec![call.value(0)?])
}
