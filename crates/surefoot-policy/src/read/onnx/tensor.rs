//! Constant tensors: weights, biases, and the integers that shapes and axes are made of.
//!
//! The extents of a tensor are believed only if there are that many numbers. The only empty tensors are those with one
//! axis, so products of extents never overflow. A number of type `float` is the same in
//! both precisions of a [`Parameter`]; one of type `double` is rounded for single precision.

use super::message::{self, data_type};
use super::shape;
use crate::parameter::Parameter;

/// The numbers of a constant tensor.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Numbers {
    /// Floating point; infinities and NaN are possible.
    Float(Vec<Parameter>),
    /// Integers and Booleans.
    Int(Vec<i64>),
}

/// A constant tensor.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Tensor {
    pub(super) shape: Vec<usize>,
    pub(super) numbers: Numbers,
}

impl Tensor {
    /// Integers in a row.
    pub(super) fn ints(numbers: Vec<i64>) -> Tensor {
        Tensor { shape: vec![numbers.len()], numbers: Numbers::Int(numbers) }
    }

    /// Numbers in a row.
    pub(super) fn floats(numbers: Vec<Parameter>) -> Tensor {
        Tensor { shape: vec![numbers.len()], numbers: Numbers::Float(numbers) }
    }

    /// A tensor without axes: one number.
    pub(super) fn scalar(numbers: Numbers) -> Tensor {
        Tensor { shape: Vec::new(), numbers }
    }

    /// The tensor in a message, or what is wrong with it.
    pub(super) fn read(message: &message::Tensor) -> Result<Tensor, String> {
        if message.location != 0 {
            return Err("its values are in another file; surefoot reads models in one file only".into());
        }
        if message.segment.is_some() {
            return Err("it is stored in segments, which are not supported".into());
        }
        if message.dimensions.len() > shape::RANK {
            return Err(format!("it has {} axes", message.dimensions.len()));
        }
        let shape = message
            .dimensions
            .iter()
            .map(|&extent| usize::try_from(extent).map_err(|_| format!("it has the extent {extent}")))
            .collect::<Result<Vec<_>, _>>()?;
        let numbers = read_numbers(message)?;
        let found = numbers.len();
        if shape::count(&shape) != Some(found) {
            return Err(format!("its shape is {}, but it holds {found} numbers", shape::describe(&shape)));
        }
        if found == 0 && shape.len() != 1 {
            return Err(format!("it is empty: its shape is {}", shape::describe(&shape)));
        }
        Ok(Tensor { shape, numbers })
    }

    /// The tensor with other extents and some of its numbers.
    pub(super) fn picked(&self, shape: Vec<usize>, picks: &[usize]) -> Tensor {
        let numbers = match &self.numbers {
            Numbers::Float(numbers) => Numbers::Float(picks.iter().map(|&pick| numbers[pick]).collect()),
            Numbers::Int(numbers) => Numbers::Int(picks.iter().map(|&pick| numbers[pick]).collect()),
        };
        Tensor { shape, numbers }
    }
}

impl Numbers {
    /// How many there are.
    pub(super) fn len(&self) -> usize {
        match self {
            Numbers::Float(numbers) => numbers.len(),
            Numbers::Int(numbers) => numbers.len(),
        }
    }
}

/// The numbers of a tensor, in their order.
pub(super) fn read_numbers(message: &message::Tensor) -> Result<Numbers, String> {
    let float = |number: &f32| Parameter::from(f64::from(*number));
    let raw = &message.raw;
    let numbers = match message.data_type {
        data_type::FLOAT if raw.is_empty() => Numbers::Float(message.floats.iter().map(float).collect()),
        data_type::FLOAT => Numbers::Float(chunks(raw, |four| float(&f32::from_le_bytes(four)))?),
        data_type::DOUBLE if raw.is_empty() => {
            Numbers::Float(message.doubles.iter().map(|&number| Parameter::from(number)).collect())
        }
        data_type::DOUBLE => Numbers::Float(chunks(raw, |eight| Parameter::from(f64::from_le_bytes(eight)))?),
        data_type::INT64 if raw.is_empty() => Numbers::Int(message.longs.clone()),
        data_type::INT64 => Numbers::Int(chunks(raw, i64::from_le_bytes)?),
        data_type::INT32 | data_type::BOOL if raw.is_empty() => {
            Numbers::Int(message.ints.iter().map(|&number| i64::from(number)).collect())
        }
        data_type::INT32 => Numbers::Int(chunks(raw, |four| i64::from(i32::from_le_bytes(four)))?),
        data_type::BOOL => Numbers::Int(raw.iter().map(|&byte| i64::from(byte)).collect()),
        other => {
            let name = data_type::name(other);
            return Err(format!(
                "its numbers are of type {name}; supported are float, double, int32, int64 and bool"
            ));
        }
    };
    Ok(numbers)
}

/// Numbers of `N` bytes each, the least significant byte first.
fn chunks<const N: usize, T>(raw: &[u8], number: impl Fn([u8; N]) -> T) -> Result<Vec<T>, String> {
    let (chunks, rest) = raw.as_chunks::<N>();
    if rest.is_empty() {
        Ok(chunks.iter().map(|&chunk| number(chunk)).collect())
    } else {
        Err(format!("it holds {} bytes, which is no multiple of {N}", raw.len()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(data_type: i32, dimensions: &[i64]) -> message::Tensor {
        message::Tensor { data_type, dimensions: dimensions.to_vec(), ..message::Tensor::default() }
    }

    #[test]
    fn numbers_are_stored_in_two_ways() {
        let listed = message::Tensor { floats: vec![1.5, 0.1], ..message(data_type::FLOAT, &[2]) };
        let raw = [1.5_f32, 0.1].iter().flat_map(|number| number.to_le_bytes()).collect();
        let packed = message::Tensor { raw, ..message(data_type::FLOAT, &[2]) };
        assert_eq!(Tensor::read(&listed), Tensor::read(&packed));
        let Numbers::Float(numbers) = Tensor::read(&packed).expect("good").numbers else { panic!("floats") };
        assert_eq!(numbers[1], Parameter { double: f64::from(0.1_f32), single: 0.1 });
        let raw = [-3_i64, 7].iter().flat_map(|number| number.to_le_bytes()).collect();
        let longs = message::Tensor { raw, ..message(data_type::INT64, &[2, 1]) };
        let read = Tensor::read(&longs).expect("good");
        assert_eq!((read.shape, read.numbers), (vec![2, 1], Numbers::Int(vec![-3, 7])));
        let double = message::Tensor { doubles: vec![0.1], ..message(data_type::DOUBLE, &[]) };
        let numbers = Numbers::Float(vec![Parameter { double: 0.1, single: 0.1 }]);
        assert_eq!(Tensor::read(&double), Ok(Tensor::scalar(numbers)));
    }

    #[test]
    fn extents_must_be_those_of_the_data() {
        let refused = |message: message::Tensor| Tensor::read(&message).unwrap_err();
        let huge = message::Tensor { floats: vec![1.0], ..message(data_type::FLOAT, &[i64::MAX, i64::MAX]) };
        assert!(refused(huge).contains("holds 1 numbers"));
        assert!(refused(message(data_type::FLOAT, &[-1])).contains("extent -1"));
        let odd = message::Tensor { raw: vec![0; 7], ..message(data_type::FLOAT, &[1]) };
        assert!(refused(odd).contains("7 bytes"));
        assert!(refused(message(10, &[])).contains("float16"));
        let external = message::Tensor { location: 1, ..message(data_type::FLOAT, &[1]) };
        assert!(refused(external).contains("another file"));
    }
}
