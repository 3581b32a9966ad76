//! Products with constant matrices: `MatMul` and `Gemm`.
//!
//! A product with one row (or one column) of computed values is a dense layer. Other products apply the same weights
//! to several rows, which is a sparse layer.

use super::super::builder::Weights;
use super::super::call::{Call, Results};
use super::super::shape;
use super::super::tensor::Tensor;
use super::super::value::{Computed, Value};
use super::arithmetic;
use super::arrange;
use crate::parameter::Parameter;

use surefoot_model::InputError;

pub(super) fn matmul(call: &mut Call<'_>) -> Results {
    let (left, right) = (call.value(0)?, call.value(1)?);
    Ok(vec![product(call, left, right)?])
}

/// `alpha · A · B + beta · C`. A factor other than 1 is a rounding of its own.
pub(super) fn gemm(call: &mut Call<'_>) -> Results {
    let one = Parameter::from(1.0);
    let alpha = call.attribute_float("alpha")?.unwrap_or(one);
    let beta = call.attribute_float("beta")?.unwrap_or(one);
    if !alpha.double.is_finite() || !beta.double.is_finite() {
        return Err(call.error("the factors alpha and beta must be finite"));
    }
    let left = matrix(call, 0, "transA")?;
    let right = matrix(call, 1, "transB")?;
    let mut result = product(call, left, right)?;
    if alpha != one {
        result = arithmetic::multiplied(call, result, &[], &[alpha])?;
    }
    if call.optional(2).is_some() && beta.double != 0.0 {
        let scale = |&number: &Parameter| Parameter {
            double: beta.double * number.double,
            single: beta.single * number.single,
        };
        let bias = call.weights(2)?;
        let numbers: Vec<_> = call.numbers(2, &bias)?.iter().map(scale).collect();
        if numbers.iter().any(|number| !number.double.is_finite()) {
            return Err(call.error("beta times operand 2 is not finite"));
        }
        result = arithmetic::shifted(call, result, &bias.shape, &numbers)?;
    }
    Ok(vec![result])
}

/// A matrix operand, transposed if the attribute says so.
fn matrix(call: &mut Call<'_>, index: usize, attribute: &str) -> Result<Value, InputError> {
    let value = call.value(index)?;
    let rank = value.shape().map(<[usize]>::len);
    if rank != Some(2) {
        return Err(call.error(format!("operand {index} must be a matrix")));
    }
    if call.flag(attribute, false)? { arrange::transposed(call, &value, &[1, 0]) } else { Ok(value) }
}

fn product(call: &mut Call<'_>, left: Value, right: Value) -> Result<Value, InputError> {
    match (left, right) {
        (Value::Computed(values), Value::Constant(weights)) if !values.integer => {
            multiply(call, &values, &weights, 1, Side::Left)
        }
        (Value::Constant(weights), Value::Computed(values)) if !values.integer => {
            multiply(call, &values, &weights, 0, Side::Right)
        }
        (Value::Computed(left), Value::Computed(_)) if !left.integer => {
            Err(call.error("the product of two computed matrices is not supported"))
        }
        (Value::Constant(_), other) => Err(call.refuse(1, &other)),
        (other, _) => Err(call.refuse(0, &other)),
    }
}

/// Where the computed values stand in a product.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Left,
    Right,
}

/// The extents of a product: leading axes, rows, inner extent, columns.
struct Extents {
    batch: Vec<usize>,
    rows: usize,
    inner: usize,
    columns: usize,
}

fn multiply(
    call: &mut Call<'_>,
    values: &Computed,
    weights: &Tensor,
    weights_index: usize,
    side: Side,
) -> Result<Value, InputError> {
    let (left, right) = match side {
        Side::Left => (&values.shape, &weights.shape),
        Side::Right => (&weights.shape, &values.shape),
    };
    let (left, right) = (promoted(left, Side::Left), promoted(right, Side::Right));
    let extents = extents(&left, &right).ok_or_else(|| {
        let (left, right) = (shape::describe(&left), shape::describe(&right));
        call.error(format!("matrices of shapes {left} and {right} cannot be multiplied"))
    })?;
    let numbers = call.numbers(weights_index, weights)?;
    let Extents { batch, rows, inner, columns } = &extents;
    let outputs: Vec<usize> = batch.iter().copied().chain([*rows, *columns]).collect();
    let terms = shape::count(&outputs).and_then(|outputs| outputs.checked_mul(*inner));
    call.pay(terms)?;
    call.pay_tensor(&outputs)?;
    let matrices = (matrices(&left, batch), matrices(&right, batch));
    // The flat index in both operands of each term of a value of the result.
    let term = |block: usize, row: usize, column: usize, index: usize| {
        let left = matrices.0[block] * rows * inner + row * inner + index;
        let right = matrices.1[block] * inner * columns + index * columns + column;
        if side == Side::Left { (left, right) } else { (right, left) }
    };
    let places = (0..shape::size(batch))
        .flat_map(|block| (0..*rows).map(move |row| (block, row)))
        .flat_map(|(block, row)| (0..*columns).map(move |column| (block, row, column)));
    let terms = |(block, row, column)| (0..*inner).map(move |index| term(block, row, column, index));
    let biases = vec![Parameter::from(0.0); shape::size(&outputs)];
    let layer = if *inner == values.elements.len() {
        Weights::Dense(places.flat_map(|place| terms(place).map(|(_, weight)| numbers[weight])).collect())
    } else {
        let row = |place| terms(place).map(|(input, weight)| (input as u32, numbers[weight])).collect();
        Weights::Sparse(places.map(row).collect())
    };
    let elements = call.builder.layer(&values.elements, layer, biases);
    let result = match side {
        Side::Left => dropped(outputs, values.shape.len() == 1, weights.shape.len() == 1),
        Side::Right => dropped(outputs, weights.shape.len() == 1, values.shape.len() == 1),
    };
    Ok(Call::result(result, elements))
}

/// A vector counts as a matrix with one row on the left, with one column on the right.
fn promoted(shape: &[usize], side: Side) -> Vec<usize> {
    match (shape, side) {
        ([extent], Side::Left) => vec![1, *extent],
        ([extent], Side::Right) => vec![*extent, 1],
        _ => shape.to_vec(),
    }
}

/// The shape without the axes that were added to vectors.
fn dropped(mut shape: Vec<usize>, rows: bool, columns: bool) -> Vec<usize> {
    let rank = shape.len();
    if columns {
        shape.remove(rank - 1);
    }
    if rows {
        shape.remove(rank - 2);
    }
    shape
}

fn extents(left: &[usize], right: &[usize]) -> Option<Extents> {
    let [left_batch @ .., rows, inner] = left else { return None };
    let [right_batch @ .., same, columns] = right else { return None };
    let batch = shape::broadcast(left_batch, right_batch)?;
    (inner == same).then_some(Extents { batch, rows: *rows, inner: *inner, columns: *columns })
}

/// Which matrix of an operand each matrix of the result is made of.
fn matrices(operand: &[usize], batch: &[usize]) -> Vec<usize> {
    shape::stretched(&operand[..operand.len() - 2], batch)
}
