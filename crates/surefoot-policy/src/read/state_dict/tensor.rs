//! Tensors of a state dict: views of numbers that a file holds.

use crate::parameter::Parameter;

/// How a number is stored. Others are known by name only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::read) enum NumberType {
    Single,
    Double,
    /// A type that no network here computes in.
    Other(String),
}

impl NumberType {
    /// Bytes of a number.
    fn bytes(&self) -> Option<usize> {
        match self {
            NumberType::Single => Some(4),
            NumberType::Double => Some(8),
            NumberType::Other(_) => None,
        }
    }
}

/// A named view of stored numbers.
#[derive(Debug, Clone)]
pub(in crate::read) struct Tensor {
    pub name: String,
    pub shape: Vec<usize>,
    pub number: NumberType,
    /// Which of the file's storages holds the numbers.
    pub storage: usize,
    /// The first number, counted in numbers.
    pub offset: usize,
    /// How far it is from one index to the next, for each axis.
    pub strides: Vec<usize>,
}

/// All tensors of a file, with little-endian bytes.
#[derive(Debug, Default)]
pub(in crate::read) struct Tensors {
    pub storages: Vec<Vec<u8>>,
    pub list: Vec<Tensor>,
}

/// The strides of a tensor whose last axis is dense; `None` if its size has no number.
pub(in crate::read) fn dense(shape: &[usize]) -> Option<Vec<usize>> {
    let mut strides = vec![1; shape.len()];
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] = shape[axis].checked_mul(strides[axis])?;
    }
    Some(strides)
}

impl Tensors {
    /// How many numbers may be made of the file.
    pub(super) fn budget(&self) -> usize {
        let bytes = self.storages.iter().fold(0_usize, |sum, storage| sum.saturating_add(storage.len()));
        bytes.saturating_add(1 << 20)
    }

    /// The numbers of a matrix or a vector, row by row. The error says what the tensor is or does.
    pub(super) fn values(&self, tensor: &Tensor, budget: &mut usize) -> Result<Vec<Parameter>, String> {
        let Some(bytes) = tensor.number.bytes() else {
            let NumberType::Other(name) = &tensor.number else { unreachable!("only others have no size") };
            return Err(format!("holds numbers of the type {name}, but only float32 and float64 are read"));
        };
        let (rows, columns, strides) = match (&tensor.shape[..], &tensor.strides[..]) {
            (&[columns], &[stride]) => (1, columns, (0, stride)),
            (&[rows, columns], &[row, column]) => (rows, columns, (row, column)),
            _ => return Err(format!("has the shape {:?}", tensor.shape)),
        };
        let count = rows.checked_mul(columns).filter(|count| count <= budget);
        let count = count.ok_or("has more numbers than the file holds")?;
        *budget -= count;
        let storage = &self.storages[tensor.storage];
        let mut values = Vec::with_capacity(count);
        for row in 0..rows {
            for column in 0..columns {
                let number = at(storage, bytes, place(tensor.offset, (row, column), strides));
                let value = number.ok_or("lies outside of the numbers in the file")?;
                if !value.double.is_finite() {
                    return Err(format!("holds {} at row {row}, column {column}", value.double));
                }
                values.push(value);
            }
        }
        Ok(values)
    }
}

/// The index of a number in its storage, if it is one at all.
fn place(offset: usize, (row, column): (usize, usize), strides: (usize, usize)) -> Option<usize> {
    let along = |index: usize, stride: usize| index.checked_mul(stride);
    offset.checked_add(along(row, strides.0)?)?.checked_add(along(column, strides.1)?)
}

fn at(storage: &[u8], bytes: usize, place: Option<usize>) -> Option<Parameter> {
    let from = place?.checked_mul(bytes)?;
    let number = storage.get(from..from.checked_add(bytes)?)?;
    Some(match *number {
        [a, b, c, d] => Parameter::from(f32::from_le_bytes([a, b, c, d])),
        _ => Parameter::from(f64::from_le_bytes(number.try_into().ok()?)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tensors(numbers: &[f32]) -> Tensors {
        let bytes = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        Tensors { storages: vec![bytes], list: Vec::new() }
    }

    fn view(shape: &[usize], offset: usize, strides: &[usize]) -> Tensor {
        Tensor {
            name: "w".into(),
            shape: shape.to_vec(),
            number: NumberType::Single,
            storage: 0,
            offset,
            strides: strides.to_vec(),
        }
    }

    fn doubles(tensors: &Tensors, tensor: &Tensor) -> Result<Vec<f64>, String> {
        let values = tensors.values(tensor, &mut tensors.budget())?;
        Ok(values.iter().map(|value| value.double).collect())
    }

    #[test]
    fn views_follow_their_strides() {
        let all = tensors(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        assert_eq!(doubles(&all, &view(&[2, 3], 1, &[3, 1])), Ok(vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]));
        assert_eq!(doubles(&all, &view(&[3, 2], 1, &[1, 3])), Ok(vec![1.0, 4.0, 2.0, 5.0, 3.0, 6.0]));
        assert_eq!(doubles(&all, &view(&[2], 0, &[6])), Ok(vec![0.0, 6.0]));
        assert_eq!(doubles(&all, &view(&[3], 2, &[0])), Ok(vec![2.0; 3]));
    }

    #[test]
    fn views_beyond_the_storage_are_refused() {
        let all = tensors(&[0.0; 6]);
        for tensor in [
            view(&[2, 3], 1, &[3, 1]),
            view(&[2], 0, &[6]),
            view(&[2], usize::MAX, &[1]),
            view(&[2], 0, &[usize::MAX]),
            view(&[usize::MAX, usize::MAX], 0, &[0, 0]),
            view(&[1 << 40], 0, &[0]),
            view(&[1, 1, 1], 0, &[1, 1, 1]),
        ] {
            assert!(doubles(&all, &tensor).is_err(), "{tensor:?}");
        }
    }

    #[test]
    fn infinite_numbers_are_refused() {
        let error = doubles(&tensors(&[0.0, f32::NAN]), &view(&[2], 0, &[1]));
        assert_eq!(error, Err("holds NaN at row 0, column 1".into()));
    }

    #[test]
    fn the_last_axis_is_dense() {
        assert_eq!(dense(&[2, 3, 4]), Some(vec![12, 4, 1]));
        assert_eq!(dense(&[]), Some(vec![]));
        assert_eq!(dense(&[2, usize::MAX, 2]), None);
    }
}
