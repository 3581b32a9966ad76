//! Sums, differences, products and quotients, element by element, stretched as ONNX does.
//!
//! Between computed values and constants they are pointwise layers: `1 · x + c`, `-1 · x + c` and `c · x + 0` round as
//! `x + c`, `c - x` and `c · x` do. Sums of computed values are layers with weights 1 over both operands in a row.
//! Constants are folded in both precisions separately.

use surefoot_model::InputError;

use super::super::builder::Weights;
use super::super::call::{Call, Results};
use super::super::shape;
use super::super::tensor::{Numbers, Tensor};
use super::super::value::{Computed, Value};
use super::tail;
use crate::layer::Activation;
use crate::network::Element;
use crate::parameter::Parameter;

/// How the second operand enters a sum.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Sign {
    Plus,
    Minus,
}

impl Sign {
    fn factor(self) -> Parameter {
        Parameter::from(if self == Sign::Plus { 1.0 } else { -1.0 })
    }
}

/// `Add` and `Sub`.
pub(super) fn sum(call: &mut Call<'_>, sign: Sign) -> Results {
    let (left, right) = (call.value(0)?, call.value(1)?);
    let result = match (left, right) {
        (Value::Constant(left), Value::Constant(right)) => {
            let fold = match sign {
                Sign::Plus => Fold { float: |a, b| a + b, single: |a, b| a + b, int: i64::checked_add },
                Sign::Minus => Fold { float: |a, b| a - b, single: |a, b| a - b, int: i64::checked_sub },
            };
            folded(call, &left, &right, &fold)?
        }
        (Value::Computed(left), Value::Constant(right)) => {
            call.computed(0)?;
            let numbers = call.weights(1)?;
            let minus = |number: &Parameter| negative(*number);
            let numbers = call.numbers(1, &numbers)?;
            let numbers: Vec<_> = match sign {
                Sign::Plus => numbers.to_vec(),
                Sign::Minus => numbers.iter().map(minus).collect(),
            };
            shifted(call, Value::Computed(left), &right.shape, &numbers)?
        }
        (Value::Constant(left), Value::Computed(right)) => {
            call.computed(1)?;
            let numbers = call.weights(0)?;
            let stretched = Stretched::new(call, &right, &left.shape)?;
            let biases = stretched.constants(call.numbers(0, &numbers)?);
            let weights = vec![sign.factor(); biases.len()];
            stretched.pointwise(call, &weights, biases)
        }
        (Value::Computed(_), Value::Computed(_)) => {
            let operands = [call.computed(0)?, call.computed(1)?];
            add(call, &operands, &[Sign::Plus, sign])?
        }
        (left, right) => tail::difference(call, &left, &right, sign)?,
    };
    Ok(vec![result])
}

/// `Sum` of any number of computed values, from left to right.
pub(super) fn long_sum(call: &mut Call<'_>) -> Results {
    match call.inputs.len() {
        1 => Ok(vec![Value::Computed(call.computed(0)?)]),
        2 => sum(call, Sign::Plus),
        count => {
            let operands = (0..count).map(|index| call.computed(index)).collect::<Result<Vec<_>, _>>()?;
            Ok(vec![add(call, &operands, &vec![Sign::Plus; count])?])
        }
    }
}

/// `Mul`, where at least one operand is constant.
pub(super) fn product(call: &mut Call<'_>) -> Results {
    let (left, right) = (call.value(0)?, call.value(1)?);
    let (value, constant) = match (left, right) {
        (Value::Constant(left), Value::Constant(right)) => {
            let fold = Fold { float: |a, b| a * b, single: |a, b| a * b, int: i64::checked_mul };
            return Ok(vec![folded(call, &left, &right, &fold)?]);
        }
        (Value::Computed(_), Value::Computed(_)) => {
            return Err(call.error("the product of two computed tensors is not supported"));
        }
        (value @ Value::Ranking(_), Value::Constant(_)) => return tail::scaled(call, value, 1),
        (Value::Constant(_), value @ Value::Ranking(_)) => return tail::scaled(call, value, 0),
        (Value::Constant(_), _) => (call.computed(1)?, 0),
        _ => (call.computed(0)?, 1),
    };
    let tensor = call.weights(constant)?;
    let numbers = call.numbers(constant, &tensor)?;
    Ok(vec![multiplied(call, Value::Computed(value), &tensor.shape, numbers)?])
}

/// `Div` by constants.
pub(super) fn quotient(call: &mut Call<'_>) -> Results {
    let (left, right) = (call.value(0)?, call.value(1)?);
    if let (Value::Constant(left), Value::Constant(right)) = (&left, &right) {
        let fold = Fold { float: |a, b| a / b, single: |a, b| a / b, int: i64::checked_div };
        return Ok(vec![folded(call, left, right, &fold)?]);
    }
    if matches!((&left, &right), (Value::Ranking(_), Value::Constant(_))) {
        return tail::scaled(call, left, 1);
    }
    let value = call.computed(0)?;
    let tensor = call.weights(1)?;
    let numbers = call.numbers(1, &tensor)?;
    if numbers.iter().any(|number| number.double == 0.0 || number.single == 0.0) {
        return Err(call.error("division by zero"));
    }
    let stretched = Stretched::new(call, &value, &tensor.shape)?;
    let divisors = stretched.constants(numbers);
    let elements = call.builder.quotient(&stretched.elements, divisors);
    Ok(vec![Call::result(stretched.shape, elements)])
}

/// `Neg`.
pub(super) fn negation(call: &mut Call<'_>) -> Results {
    if let Value::Constant(tensor) = call.value(0)? {
        let minus = Tensor::scalar(match tensor.numbers {
            Numbers::Float(_) => Numbers::Float(vec![Parameter::from(-1.0)]),
            Numbers::Int(_) => Numbers::Int(vec![-1]),
        });
        let fold = Fold { float: |a, b| a * b, single: |a, b| a * b, int: i64::checked_mul };
        return Ok(vec![folded(call, &tensor, &minus, &fold)?]);
    }
    let value = call.computed(0)?;
    call.pay(Some(value.elements.len()))?;
    let elements = negated(call, &value.elements);
    Ok(vec![Call::result(value.shape, elements)])
}

/// The elements with their signs changed, which is exact.
pub(super) fn negated(call: &mut Call<'_>, elements: &[Element]) -> Vec<Element> {
    let count = elements.len();
    let weights = vec![Parameter::from(-1.0); count];
    call.builder.pointwise(elements, &weights, vec![Parameter::from(0.0); count], Activation::Identity)
}

/// A computed value plus constants of some shape.
pub(super) fn shifted(
    call: &mut Call<'_>,
    value: Value,
    shape: &[usize],
    numbers: &[Parameter],
) -> Result<Value, InputError> {
    let Value::Computed(value) = value else { return Err(call.refuse(0, &value)) };
    let stretched = Stretched::new(call, &value, shape)?;
    let biases = stretched.constants(numbers);
    let weights = vec![Parameter::from(1.0); biases.len()];
    Ok(stretched.pointwise(call, &weights, biases))
}

/// A computed value times constants of some shape.
pub(super) fn multiplied(
    call: &mut Call<'_>,
    value: Value,
    shape: &[usize],
    numbers: &[Parameter],
) -> Result<Value, InputError> {
    let Value::Computed(value) = value else { return Err(call.refuse(0, &value)) };
    let stretched = Stretched::new(call, &value, shape)?;
    let weights = stretched.constants(numbers);
    let biases = vec![Parameter::from(0.0); weights.len()];
    Ok(stretched.pointwise(call, &weights, biases))
}

/// Computed values and constants, both stretched to a common shape.
struct Stretched {
    shape: Vec<usize>,
    elements: Vec<Element>,
    /// Which constant belongs to each element.
    picks: Vec<usize>,
}

impl Stretched {
    fn new(call: &mut Call<'_>, value: &Computed, constant: &[usize]) -> Result<Stretched, InputError> {
        let shape = common(call, &value.shape, constant)?;
        let elements = spread(value, &shape);
        let picks = shape::stretched(constant, &shape);
        Ok(Stretched { shape, elements, picks })
    }

    fn constants(&self, numbers: &[Parameter]) -> Vec<Parameter> {
        self.picks.iter().map(|&pick| numbers[pick]).collect()
    }

    fn pointwise(self, call: &mut Call<'_>, weights: &[Parameter], biases: Vec<Parameter>) -> Value {
        let elements = call.builder.pointwise(&self.elements, weights, biases, Activation::Identity);
        Call::result(self.shape, elements)
    }
}

/// The shape to which two operands are stretched, paid for.
pub(super) fn common(call: &mut Call<'_>, left: &[usize], right: &[usize]) -> Result<Vec<usize>, InputError> {
    let shape = shape::broadcast(left, right).ok_or_else(|| {
        let (left, right) = (shape::describe(left), shape::describe(right));
        call.error(format!("operands of shapes {left} and {right} do not fit together"))
    })?;
    call.pay_tensor(&shape)?;
    Ok(shape)
}

/// The elements of a value that is stretched to a shape.
pub(super) fn spread(value: &Computed, shape: &[usize]) -> Vec<Element> {
    shape::stretched(&value.shape, shape).into_iter().map(|pick| value.elements[pick]).collect()
}

/// The sum of computed values: a layer over all of them in a row.
fn add(call: &mut Call<'_>, operands: &[Computed], signs: &[Sign]) -> Result<Value, InputError> {
    let mut shape = Vec::new();
    for operand in operands {
        shape = common(call, &shape, &operand.shape)?;
    }
    let count = shape::size(&shape);
    call.pay(count.checked_mul(operands.len()))?;
    let elements: Vec<Element> = operands.iter().flat_map(|operand| spread(operand, &shape)).collect();
    let row = |index: usize| {
        let terms = signs.iter().enumerate();
        terms.map(|(operand, sign)| ((operand * count + index) as u32, sign.factor())).collect()
    };
    let weights = Weights::Sparse((0..count).map(row).collect());
    let elements = call.builder.layer(&elements, weights, vec![Parameter::from(0.0); count]);
    Ok(Call::result(shape, elements))
}

fn negative(number: Parameter) -> Parameter {
    Parameter { double: -number.double, single: -number.single }
}

/// An operation on constants, in each type.
struct Fold {
    float: fn(f64, f64) -> f64,
    single: fn(f32, f32) -> f32,
    int: fn(i64, i64) -> Option<i64>,
}

fn folded(call: &mut Call<'_>, left: &Tensor, right: &Tensor, fold: &Fold) -> Result<Value, InputError> {
    let shape = common(call, &left.shape, &right.shape)?;
    let pairs =
        || shape::stretched(&left.shape, &shape).into_iter().zip(shape::stretched(&right.shape, &shape));
    let numbers = match (&left.numbers, &right.numbers) {
        (Numbers::Float(left), Numbers::Float(right)) => {
            let number = |(a, b): (usize, usize)| Parameter {
                double: (fold.float)(left[a].double, right[b].double),
                single: (fold.single)(left[a].single, right[b].single),
            };
            Numbers::Float(pairs().map(number).collect())
        }
        (Numbers::Int(left), Numbers::Int(right)) => {
            let number = |(a, b): (usize, usize)| {
                (fold.int)(left[a], right[b]).ok_or_else(|| call.error("the integers overflow"))
            };
            Numbers::Int(pairs().map(number).collect::<Result<_, _>>()?)
        }
        _ => return Err(call.error("the operands have different types")),
    };
    Ok(Call::known(Tensor { shape, numbers }))
}
