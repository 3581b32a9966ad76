//! Operators that change nothing but types: `Cast`, and `Dropout` outside of training.

use super::super::call::{Call, Results};
use super::super::message::data_type;
use super::super::tensor::{Numbers, Tensor};
use super::super::value::{Computed, Value};
use crate::network::Source;
use crate::parameter::Parameter;

/// `Cast`. Computed values may become floating point; only inputs, which are integers already, may become integers.
pub(super) fn cast(call: &mut Call<'_>) -> Results {
    let target = call.attribute_int("to")?.and_then(|to| i32::try_from(to).ok()).unwrap_or(0);
    let float = matches!(target, data_type::FLOAT | data_type::DOUBLE);
    let integer = matches!(target, data_type::INT32 | data_type::INT64);
    let result = match call.value(0)? {
        choice @ Value::Choice(_) => choice,
        ranking @ Value::Ranking(_) if float => ranking,
        Value::Computed(computed) if float => Value::Computed(Computed { integer: false, ..computed }),
        Value::Computed(computed)
            if integer && computed.elements.iter().all(|element| element.source == Source::Input) =>
        {
            Value::Computed(Computed { integer: true, ..computed })
        }
        Value::Constant(tensor) if float => Call::known(floats(&tensor)),
        Value::Constant(tensor) if integer => {
            let shape = tensor.shape.clone();
            match &tensor.numbers {
                Numbers::Int(_) => Value::Constant(tensor),
                Numbers::Float(numbers) => {
                    // Conversion saturates; what is cut off was no shape or index anyway.
                    let numbers = numbers.iter().map(|number| number.double as i64).collect();
                    Call::known(Tensor { shape, numbers: Numbers::Int(numbers) })
                }
            }
        }
        _ => {
            let name = data_type::name(target);
            return Err(call
                .error(format!("a cast to {name} is not supported here"))
                .with_hint("values that are computed may be cast to float or double"));
        }
    };
    Ok(vec![result])
}

fn floats(tensor: &Tensor) -> Tensor {
    let number = |&number: &i64| Parameter { double: number as f64, single: number as f32 };
    let numbers = match &tensor.numbers {
        Numbers::Float(numbers) => numbers.clone(),
        Numbers::Int(numbers) => numbers.iter().map(number).collect(),
    };
    Tensor { shape: tensor.shape.clone(), numbers: Numbers::Float(numbers) }
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
