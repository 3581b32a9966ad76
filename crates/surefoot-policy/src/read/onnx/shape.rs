//! Extents of tensors, and which value of an operand goes where.
//!
//! Tensors are stored row by row: the last index runs fastest. An operator that only moves values is a shape and a
//! list of *picks*: the flat index in the operand of each value of the result.

/// The largest number of axes.
pub(super) const RANK: usize = 32;

/// The number of values of a tensor; `None` if it does not fit.
pub(super) fn count(shape: &[usize]) -> Option<usize> {
    if shape.contains(&0) {
        return Some(0);
    }
    shape.iter().try_fold(1_usize, |product, &extent| product.checked_mul(extent))
}

/// The number of values of a tensor that exists already.
pub(super) fn size(shape: &[usize]) -> usize {
    shape.iter().product()
}

/// An axis, which may count from the end.
pub(super) fn axis(axis: i64, rank: usize) -> Option<usize> {
    let rank_number = i64::try_from(rank).ok()?;
    let counted = if axis < 0 { axis.checked_add(rank_number)? } else { axis };
    usize::try_from(counted).ok().filter(|&axis| axis < rank)
}

/// How far apart neighbours along each axis are.
pub(super) fn strides(shape: &[usize]) -> Vec<usize> {
    let mut strides = vec![1; shape.len()];
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] = strides[axis] * shape[axis];
    }
    strides
}

/// The shape to which both operands can be stretched.
pub(super) fn broadcast(left: &[usize], right: &[usize]) -> Option<Vec<usize>> {
    let rank = left.len().max(right.len());
    let extent =
        |shape: &[usize], axis: usize| (axis + shape.len()).checked_sub(rank).map_or(1, |own| shape[own]);
    (0..rank)
        .map(|axis| match (extent(left, axis), extent(right, axis)) {
            (a, b) if a == b => Some(a),
            (1, b) => Some(b),
            (a, 1) => Some(a),
            _ => None,
        })
        .collect()
}

/// The picks that stretch a tensor to a shape that [`broadcast`] gave.
pub(super) fn stretched(from: &[usize], to: &[usize]) -> Vec<usize> {
    let missing = to.len() - from.len();
    let own = strides(from);
    let steps: Vec<usize> = (0..to.len())
        .map(|axis| match axis.checked_sub(missing) {
            Some(axis) if from[axis] != 1 => own[axis],
            _ => 0,
        })
        .collect();
    walk(to, &steps)
}

/// The picks of a tensor with this shape whose neighbours along each axis are `steps` apart in the operand.
pub(super) fn walk(shape: &[usize], steps: &[usize]) -> Vec<usize> {
    let mut picks = Vec::with_capacity(size(shape));
    let mut index = vec![0; shape.len()];
    let mut flat = 0;
    for _ in 0..size(shape) {
        picks.push(flat);
        for axis in (0..shape.len()).rev() {
            index[axis] += 1;
            flat += steps[axis];
            if index[axis] < shape[axis] {
                break;
            }
            flat -= steps[axis] * shape[axis];
            index[axis] = 0;
        }
    }
    picks
}

/// The picks that keep some indices along one axis, in the order of the list.
pub(super) fn selected(shape: &[usize], axis: usize, indices: &[usize]) -> Vec<usize> {
    let inner = size(&shape[axis + 1..]);
    let outer = size(&shape[..axis]);
    let mut picks = Vec::with_capacity(outer * indices.len() * inner);
    for block in 0..outer {
        for &index in indices {
            let start = (block * shape[axis] + index) * inner;
            picks.extend(start..start + inner);
        }
    }
    picks
}

/// For each value of the tensor, the flat index of the value that a reduction over `axes` puts it into, and the
/// shape of the result with extents of 1 along the axes.
pub(super) fn reduced(shape: &[usize], axes: &[usize]) -> (Vec<usize>, Vec<usize>) {
    let kept: Vec<usize> = shape
        .iter()
        .enumerate()
        .map(|(axis, &extent)| if axes.contains(&axis) { 1 } else { extent })
        .collect();
    (stretched(&kept, shape), kept)
}

/// The extents as people write them.
pub(super) fn describe(shape: &[usize]) -> String {
    let extents: Vec<_> = shape.iter().map(ToString::to_string).collect();
    format!("[{}]", extents.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn broadcasting_aligns_the_last_axes() {
        assert_eq!(broadcast(&[2, 1], &[3]), Some(vec![2, 3]));
        assert_eq!(broadcast(&[], &[1, 2]), Some(vec![1, 2]));
        assert_eq!(broadcast(&[2], &[3]), None);
        assert_eq!(stretched(&[2, 1], &[2, 3]), [0, 0, 0, 1, 1, 1]);
        assert_eq!(stretched(&[3], &[2, 3]), [0, 1, 2, 0, 1, 2]);
        assert_eq!(stretched(&[], &[2]), [0, 0]);
    }

    #[test]
    fn picks_follow_axes() {
        // The transpose of a 2×3 matrix.
        assert_eq!(walk(&[3, 2], &[1, 3]), [0, 3, 1, 4, 2, 5]);
        assert_eq!(selected(&[2, 3], 1, &[2, 0]), [2, 0, 5, 3]);
        assert_eq!(selected(&[2, 3], 0, &[1]), [3, 4, 5]);
        assert_eq!(reduced(&[2, 3], &[0]), (vec![0, 1, 2, 0, 1, 2], vec![1, 3]));
        assert_eq!(reduced(&[2, 3], &[1]), (vec![0, 0, 0, 1, 1, 1], vec![2, 1]));
    }

    #[test]
    fn axes_count_from_both_ends() {
        assert_eq!((axis(-1, 3), axis(2, 3), axis(3, 3), axis(-4, 3)), (Some(2), Some(2), None, None));
        assert_eq!(axis(i64::MIN, 3), None);
        assert_eq!(count(&[usize::MAX, 2]), None);
        assert_eq!(count(&[usize::MAX, 2, 0]), Some(0));
    }
}
