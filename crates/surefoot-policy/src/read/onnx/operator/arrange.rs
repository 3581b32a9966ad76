//! Operators that only move values: they choose, order and reshape.

use surefoot_model::InputError;

use super::super::call::{Call, Results};
use super::super::shape;
use super::super::tensor::Numbers;
use super::super::value::{Computed, Ranking, Value};
use super::tail;
use crate::network::Element;

/// A value whose parts are moved. Probabilities and tree scores may only be reshaped.
fn picked(
    call: &mut Call<'_>,
    value: &Value,
    shape: Vec<usize>,
    picks: &[usize],
) -> Result<Value, InputError> {
    call.pay_tensor(&shape)?;
    match value {
        Value::Constant(tensor) => Ok(Call::known(tensor.picked(shape, picks))),
        Value::Computed(_) if picks.is_empty() => Err(call.error("the result is empty")),
        Value::Computed(computed) => {
            let elements = picks.iter().map(|&pick| computed.elements[pick]).collect();
            Ok(Value::Computed(Computed { shape, elements, integer: computed.integer }))
        }
        Value::Ranking(ranking)
            if picks.len() == ranking.scores.len() && picks.iter().copied().eq(0..picks.len()) =>
        {
            Ok(Value::Ranking(Ranking { shape, scores: ranking.scores.clone() }))
        }
        other => Err(call.refuse(0, other)),
    }
}

/// The value with other extents.
fn reshaped(call: &mut Call<'_>, value: &Value, shape: Vec<usize>) -> Result<Value, InputError> {
    let picks: Vec<usize> = (0..shape::count(&shape).unwrap_or(0)).collect();
    picked(call, value, shape, &picks)
}

/// The first operand if its extents do not matter any more: it has been chosen from.
fn without_extents(call: &Call<'_>) -> Result<Option<Vec<Value>>, InputError> {
    let value = call.value(0)?;
    Ok(matches!(value, Value::Choice(_)).then(|| vec![value]))
}

/// The first operand and its extents.
fn operand(call: &Call<'_>) -> Result<(Value, Vec<usize>), InputError> {
    let value = call.value(0)?;
    let extents = value.shape().ok_or_else(|| call.refuse(0, &value))?.to_vec();
    Ok((value, extents))
}

/// `Reshape`. 0 copies an extent and -1 stands for what is left.
pub(super) fn reshape(call: &mut Call<'_>) -> Results {
    if let Some(results) = without_extents(call)? {
        return Ok(results);
    }
    let (value, old) = operand(call)?;
    let wanted = call.ints(1)?;
    let copies = !call.flag("allowzero", false)?;
    let count = shape::size(&old);
    let wrong = |call: &Call<'_>| {
        let old = shape::describe(&old);
        call.error(format!("a tensor of shape {old} cannot become {wanted:?}"))
    };
    let mut new = Vec::new();
    let mut open = None;
    for (axis, &extent) in wanted.iter().enumerate() {
        new.push(match extent {
            -1 if open.is_none() => {
                open = Some(axis);
                1
            }
            0 if copies => *old.get(axis).ok_or_else(|| wrong(call))?,
            extent => usize::try_from(extent).map_err(|_| wrong(call))?,
        });
    }
    if let Some(axis) = open {
        let known = shape::count(&new).filter(|&known| known > 0).ok_or_else(|| wrong(call))?;
        new[axis] = count / known;
    }
    if shape::count(&new) != Some(count) {
        return Err(wrong(call));
    }
    Ok(vec![reshaped(call, &value, new)?])
}

/// `Flatten` to a matrix.
pub(super) fn flatten(call: &mut Call<'_>) -> Results {
    if let Some(results) = without_extents(call)? {
        return Ok(results);
    }
    let (value, old) = operand(call)?;
    let axis = call.attribute_int("axis")?.unwrap_or(1);
    let axis = if axis == old.len() as i64 { old.len() } else { call.axis(axis, old.len())? };
    let new = vec![shape::size(&old[..axis]), shape::size(&old[axis..])];
    Ok(vec![reshaped(call, &value, new)?])
}

/// `Transpose`; without attribute, the axes are reversed.
pub(super) fn transpose(call: &mut Call<'_>) -> Results {
    let value = call.value(0)?;
    let rank = value.shape().ok_or_else(|| call.refuse(0, &value))?.len();
    let axes = match call.attribute_ints("perm")? {
        Some(axes) => call.axes(&axes, rank)?,
        None => (0..rank).rev().collect(),
    };
    if axes.len() != rank {
        return Err(call.error(format!("{} axes are given, but there are {rank}", axes.len())));
    }
    Ok(vec![transposed(call, &value, &axes)?])
}

/// The value with its axes in another order.
pub(super) fn transposed(call: &mut Call<'_>, value: &Value, axes: &[usize]) -> Result<Value, InputError> {
    let old = value.shape().ok_or_else(|| call.refuse(0, value))?;
    let strides = shape::strides(old);
    let new: Vec<usize> = axes.iter().map(|&axis| old[axis]).collect();
    let steps: Vec<usize> = axes.iter().map(|&axis| strides[axis]).collect();
    call.pay(shape::count(&new))?;
    let picks = shape::walk(&new, &steps);
    picked(call, value, new, &picks)
}

/// `Squeeze`: axes with one value disappear.
pub(super) fn squeeze(call: &mut Call<'_>) -> Results {
    if let Some(results) = without_extents(call)? {
        return Ok(results);
    }
    let (value, old) = operand(call)?;
    let axes = match call.given_axes(13)? {
        Some(axes) => call.axes(&axes, old.len())?,
        None => (0..old.len()).filter(|&axis| old[axis] == 1).collect(),
    };
    if let Some(axis) = axes.iter().find(|&&axis| old[axis] != 1) {
        return Err(call.error(format!("axis {axis} has {} values, not 1", old[*axis])));
    }
    let new = old.iter().enumerate().filter(|(axis, _)| !axes.contains(axis)).map(|(_, &extent)| extent);
    let new = new.collect();
    Ok(vec![reshaped(call, &value, new)?])
}

/// `Unsqueeze`: new axes with one value, counted in the result.
pub(super) fn unsqueeze(call: &mut Call<'_>) -> Results {
    if let Some(results) = without_extents(call)? {
        return Ok(results);
    }
    let (value, old) = operand(call)?;
    let axes = call.given_axes(13)?.ok_or_else(|| call.error("the axes are missing"))?;
    call.check_rank(old.len() + axes.len())?;
    let axes = call.axes(&axes, old.len() + axes.len())?;
    let mut extents = old.iter().copied();
    let new = (0..old.len() + axes.len())
        .map(|axis| if axes.contains(&axis) { 1 } else { extents.next().unwrap_or(1) })
        .collect();
    Ok(vec![reshaped(call, &value, new)?])
}

/// `Expand` to a constant shape.
pub(super) fn expand(call: &mut Call<'_>) -> Results {
    let (value, old) = operand(call)?;
    let extent = |&extent: &i64| usize::try_from(extent).map_err(|_| call.error("an extent is negative"));
    let wanted = call.ints(1)?.iter().map(extent).collect::<Result<Vec<_>, _>>()?;
    let new = super::arithmetic::common(call, &old, &wanted)?;
    let picks = shape::stretched(&old, &new);
    Ok(vec![picked(call, &value, new, &picks)?])
}

/// `Gather` with constant indices, or of a table at the chosen index.
pub(super) fn gather(call: &mut Call<'_>) -> Results {
    if let Some(Value::Choice(choice)) = call.optional(1) {
        return tail::looked_up(call, choice);
    }
    let (value, old) = operand(call)?;
    let axis = call.axis(call.attribute_int("axis")?.unwrap_or(0), old.len())?;
    let indices = call.constant(1)?;
    let Numbers::Int(numbers) = &indices.numbers else {
        return Err(call.error("operand 1 must hold integers"));
    };
    let index = |&index: &i64| {
        let wrong =
            || call.error(format!("index {index} is outside of axis {axis} with {} values", old[axis]));
        shape::axis(index, old[axis]).ok_or_else(wrong)
    };
    let list = numbers.iter().map(index).collect::<Result<Vec<_>, _>>()?;
    let new = [&old[..axis], &indices.shape, &old[axis + 1..]].concat();
    call.pay(shape::count(&new))?;
    let picks = shape::selected(&old, axis, &list);
    Ok(vec![picked(call, &value, new, &picks)?])
}

/// `Slice`: attributes before version 10, constant operands since.
pub(super) fn slice(call: &mut Call<'_>) -> Results {
    let mut value = call.value(0)?;
    let rank = value.shape().ok_or_else(|| call.refuse(0, &value))?.len();
    let (starts, ends, axes, steps) = if call.version >= 10 {
        (call.ints(1)?, call.ints(2)?, call.optional_ints(3)?, call.optional_ints(4)?)
    } else {
        let required = |name: &str| {
            let missing = || call.error(format!("the attribute `{name}` is missing"));
            call.attribute_ints(name)?.ok_or_else(missing)
        };
        (required("starts")?, required("ends")?, call.attribute_ints("axes")?, None)
    };
    let axes = axes.unwrap_or_else(|| (0..starts.len() as i64).collect());
    let steps = steps.unwrap_or_else(|| vec![1; starts.len()]);
    if [ends.len(), axes.len(), steps.len()] != [starts.len(); 3] {
        return Err(call.error("starts, ends, axes and steps differ in number"));
    }
    for (position, axis) in call.axes(&axes, rank)?.into_iter().enumerate() {
        let old = value.shape().ok_or_else(|| call.refuse(0, &value))?.to_vec();
        let list = range(starts[position], ends[position], steps[position], old[axis])
            .ok_or_else(|| call.error("a step is 0"))?;
        let mut new = old.clone();
        new[axis] = list.len();
        call.pay(shape::count(&new))?;
        let picks = shape::selected(&old, axis, &list);
        value = picked(call, &value, new, &picks)?;
    }
    Ok(vec![value])
}

/// The indices of a slice of an axis; `None` if the step is 0.
fn range(start: i64, end: i64, step: i64, extent: usize) -> Option<Vec<usize>> {
    let extent = extent as i64;
    let counted = |index: i64| if index < 0 { index.saturating_add(extent) } else { index };
    let (start, end) = (counted(start), counted(end));
    let (mut index, end) = match step {
        0 => return None,
        _ if extent == 0 => (0, 0),
        1.. => (start.clamp(0, extent), end.clamp(0, extent)),
        _ => (start.clamp(0, extent - 1), end.clamp(-1, extent - 1)),
    };
    let mut list = Vec::new();
    while if step > 0 { index < end } else { index > end } {
        list.push(index as usize);
        index = index.saturating_add(step);
    }
    Some(list)
}

/// `Split` along an axis: sizes are given, or all parts are equal (since version 18 the last may be smaller).
pub(super) fn split(call: &mut Call<'_>) -> Results {
    let (value, old) = operand(call)?;
    let axis = call.axis(call.attribute_int("axis")?.unwrap_or(0), old.len())?;
    let sizes = if call.version >= 13 { call.optional_ints(1)? } else { call.attribute_ints("split")? };
    let parts = call.node.outputs.len();
    let sizes = match sizes {
        Some(sizes) => {
            let size = |&size: &i64| usize::try_from(size).map_err(|_| call.error("a size is negative"));
            sizes.iter().map(size).collect::<Result<Vec<_>, _>>()?
        }
        None => equal_parts(old[axis], parts),
    };
    let total = sizes.iter().try_fold(0_usize, |sum, &size| sum.checked_add(size));
    if sizes.len() != parts || total != Some(old[axis]) {
        let message = format!("axis {axis} has {} values, which are not split into {sizes:?}", old[axis]);
        return Err(call.error(message));
    }
    let mut results = Vec::new();
    let mut start = 0;
    for size in sizes {
        let list: Vec<usize> = (start..start + size).collect();
        start += size;
        let mut new = old.clone();
        new[axis] = size;
        let picks = shape::selected(&old, axis, &list);
        results.push(picked(call, &value, new, &picks)?);
    }
    Ok(results)
}

fn equal_parts(extent: usize, parts: usize) -> Vec<usize> {
    let part = extent.div_ceil(parts.max(1));
    (0..parts).map(|index| part.min(extent.saturating_sub(part.saturating_mul(index)))).collect()
}

/// `Concat`. Constants beside computed values become values of the network.
pub(super) fn concat(call: &mut Call<'_>) -> Results {
    let values = (0..call.inputs.len()).map(|index| call.value(index)).collect::<Result<Vec<_>, _>>()?;
    let shapes = values
        .iter()
        .enumerate()
        .map(|(index, value)| Ok(value.shape().ok_or_else(|| call.refuse(index, value))?.to_vec()))
        .collect::<Result<Vec<_>, InputError>>()?;
    let first = shapes.first().ok_or_else(|| call.error("there are no operands"))?.clone();
    let axis = call.attribute_int("axis")?.ok_or_else(|| call.error("the attribute `axis` is missing"))?;
    let axis = call.axis(axis, first.len())?;
    let mut new = first.clone();
    new[axis] = 0;
    for shape in &shapes {
        let fits = shape.len() == first.len()
            && (0..first.len()).all(|other| other == axis || shape[other] == first[other]);
        let extent = shape.get(axis).filter(|_| fits).and_then(|&extent| new[axis].checked_add(extent));
        new[axis] = extent.ok_or_else(|| {
            let (first, shape) = (shape::describe(&first), shape::describe(shape));
            call.error(format!("operands of shapes {first} and {shape} cannot be joined"))
        })?;
    }
    call.pay_tensor(&new)?;
    let flat = joined(call, &values)?;
    let picks = interleaved(&shapes, axis);
    Ok(vec![picked(call, &flat, new, &picks)?])
}

/// All values in a row.
fn joined(call: &mut Call<'_>, values: &[Value]) -> Result<Value, InputError> {
    let constants: Option<Vec<i64>> = values
        .iter()
        .map(|value| match value {
            Value::Constant(tensor) => match &tensor.numbers {
                Numbers::Int(numbers) => Some(numbers.clone()),
                Numbers::Float(_) => None,
            },
            _ => None,
        })
        .collect::<Option<Vec<_>>>()
        .map(|lists| lists.concat());
    if let Some(numbers) = constants {
        return Ok(Call::known(super::super::tensor::Tensor::ints(numbers)));
    }
    if values.iter().all(|value| matches!(value, Value::Constant(_))) {
        let mut numbers = Vec::new();
        for (index, value) in values.iter().enumerate() {
            if let Value::Constant(tensor) = value {
                numbers.extend_from_slice(call.numbers(index, tensor)?);
            }
        }
        return Ok(Call::known(super::super::tensor::Tensor::floats(numbers)));
    }
    let mut elements: Vec<Element> = Vec::new();
    let integer = values.iter().any(|value| matches!(value, Value::Computed(it) if it.integer));
    for (index, value) in values.iter().enumerate() {
        match value {
            Value::Computed(computed) if computed.integer == integer => {
                elements.extend_from_slice(&computed.elements);
            }
            Value::Constant(tensor) if !integer => {
                let numbers = call.numbers(index, tensor)?;
                if !numbers.is_empty() {
                    elements.extend(call.builder.constants(numbers));
                }
            }
            other => return Err(call.refuse(index, other)),
        }
    }
    let shape = vec![elements.len()];
    Ok(Value::Computed(Computed { shape, elements: elements.into(), integer }))
}

/// The picks that join tensors along an axis, if all their values stand in a row.
fn interleaved(shapes: &[Vec<usize>], axis: usize) -> Vec<usize> {
    let outer = shapes.first().map_or(0, |shape| shape::size(&shape[..axis]));
    let mut offsets = Vec::new();
    let mut end = 0;
    for shape in shapes {
        offsets.push(end);
        end += shape::size(shape);
    }
    let mut picks = Vec::with_capacity(end);
    for block in 0..outer {
        for (shape, offset) in shapes.iter().zip(&offsets) {
            let length = shape::size(&shape[axis..]);
            picks.extend(offset + block * length..offset + (block + 1) * length);
        }
    }
    picks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_clamp_their_ends() {
        assert_eq!(range(1, i64::MAX, 1, 4), Some(vec![1, 2, 3]));
        assert_eq!(range(-1, i64::MIN, -2, 4), Some(vec![3, 1]));
        assert_eq!(range(i64::MAX, 0, -1, 3), Some(vec![2, 1]));
        assert_eq!(range(-9, -9, -1, 3), Some(vec![0]));
        assert_eq!(range(0, 1, -1, 0), Some(vec![]));
        assert_eq!(range(-100, 100, i64::MAX, 3), Some(vec![0]));
        assert_eq!(range(2, 1, 1, 3), Some(vec![]));
        assert_eq!(range(0, 1, 0, 3), None);
    }

    #[test]
    fn parts_are_equal_but_for_the_last() {
        assert_eq!(equal_parts(6, 3), [2, 2, 2]);
        assert_eq!(equal_parts(7, 3), [3, 3, 1]);
        assert_eq!(equal_parts(1, 3), [1, 0, 0]);
    }

    #[test]
    fn tensors_are_joined_block_by_block() {
        assert_eq!(interleaved(&[vec![2, 1], vec![2, 2]], 1), [0, 2, 3, 1, 4, 5]);
        assert_eq!(interleaved(&[vec![1, 2], vec![2, 2]], 0), [0, 1, 2, 3, 4, 5]);
    }
}
