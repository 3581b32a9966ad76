//! A network, arranged for bounding.
//!
//! The *nominal* network is what bounds are computed of: its parameters are those of the arithmetic in question, as doubles,
//! and its values are real numbers, without rounding. How far the values of the arithmetic stray from the nominal ones
//! is the matter of [`super::rounding`].
//!
//! Its values live in *slots*: slot 0 holds the inputs, then there is a slot per node.

use super::kernel::padded;
use crate::arithmetic::Arithmetic;
use crate::enclosure::Rounding;
use crate::layer::{Activation, Layer};
use crate::network::{Network, Node, Source};
use crate::parameter::Parameter;

/// The nominal network.
#[derive(Debug)]
pub(super) struct Graph {
    pub(super) slots: Vec<Slot>,
    /// Whether inputs are read by dense layers only, into whose biases fixed inputs are folded.
    pub(super) folds_inputs: bool,
    /// Whether a backward pass from a slot's weighted sums meets an activation, so that it can improve on intervals.
    pub(super) refinable: Vec<bool>,
    /// Roughly the multiplications of backward passes from all weighted sums that they can improve.
    pub(super) refine_cost: f64,
    /// Sum of the sizes of all slots.
    pub(super) values: usize,
}

/// Values that are computed together.
#[derive(Debug)]
pub(super) struct Slot {
    pub(super) size: usize,
    pub(super) operation: Operation,
}

/// How a slot is computed; operands are slots before it.
#[derive(Debug)]
pub(super) enum Operation {
    Input,
    Layer(Affine),
    Arrange(Vec<(u32, u32)>),
    Maximum(usize, usize),
}

/// Weighted sums and what follows them.
#[derive(Debug)]
pub(super) struct Affine {
    pub(super) from: usize,
    pub(super) matrix: Matrix,
    /// Padded with zeros.
    pub(super) biases: Vec<f64>,
    /// Sum of the magnitudes of each neuron's weights, rounded up; padded with zeros.
    pub(super) norms: Vec<f64>,
    pub(super) function: Function,
    /// Largest number of weights of a neuron.
    pub(super) terms: usize,
    /// The largest of `norms` and the largest magnitude of `biases`.
    pub(super) largest_norm: f64,
    pub(super) largest_bias: f64,
    /// Whether the rounding of the arithmetic is understood.
    pub(super) is_covered: bool,
}

/// An activation with its parameters as doubles.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Function {
    Identity,
    Relu,
    LeakyRelu(f64),
    Tanh,
    Sigmoid,
    Elu(f64),
    Clip(f64, f64),
}

impl Function {
    /// No two values are further apart than this many times their arguments.
    pub(super) fn lipschitz(self) -> f64 {
        match self {
            Function::Elu(scale) => scale.max(1.0),
            _ => 1.0,
        }
    }
}

/// The weights of a layer.
#[derive(Debug)]
pub(super) enum Matrix {
    Dense {
        inputs: usize,
        /// Per neuron, a padded row of weights.
        rows: Vec<f64>,
        /// Per input, a padded row of weights.
        columns: Vec<f64>,
    },
    /// Neuron `n` owns the entries from `starts[n]` to `starts[n + 1]`.
    Sparse { starts: Vec<usize>, entries: Vec<(u32, f64)> },
}

impl Graph {
    pub(super) fn new(network: &Network, arithmetic: Arithmetic) -> Self {
        let number = |parameter: Parameter| match arithmetic {
            Arithmetic::F64 | Arithmetic::Real => parameter.double,
            Arithmetic::F32 | Arithmetic::AnyF32 => f64::from(parameter.single),
        };
        let slot = |source| match source {
            Source::Input => 0,
            Source::Node(node) => node as usize + 1,
        };
        let mut slots = vec![Slot { size: network.inputs(), operation: Operation::Input }];
        for (index, node) in network.nodes().iter().enumerate() {
            let operation = match node {
                Node::Layer { from, layer } => Operation::Layer(Affine::new(slot(*from), layer, number)),
                Node::Arrange { elements } => {
                    let place =
                        |element: &crate::network::Element| (slot(element.source) as u32, element.index);
                    Operation::Arrange(elements.iter().map(place).collect())
                }
                Node::Maximum { left, right } => Operation::Maximum(slot(*left), slot(*right)),
                Node::Quotient { from, divisors } => {
                    let is_covered = |divisor: &Parameter| match arithmetic {
                        Arithmetic::AnyF32 => Rounding::ANY_F32.covers_divisor(divisor.single.into()),
                        Arithmetic::F64 | Arithmetic::F32 | Arithmetic::Real => true,
                    };
                    let reciprocals = divisors.iter().map(|&divisor| 1.0 / number(divisor));
                    let layer = Affine::quotient(slot(*from), reciprocals.collect());
                    Operation::Layer(Affine { is_covered: divisors.iter().all(is_covered), ..layer })
                }
            };
            slots.push(Slot { size: network.size(Source::Node(index as u32)), operation });
        }
        let folds_inputs = slots.iter().all(|slot| match &slot.operation {
            Operation::Input => true,
            Operation::Layer(layer) => layer.from != 0 || matches!(layer.matrix, Matrix::Dense { .. }),
            Operation::Arrange(elements) => elements.iter().all(|element| element.0 != 0),
            Operation::Maximum(left, right) => *left != 0 && *right != 0,
        });
        let values = slots.iter().map(|slot| slot.size).sum();
        // Intervals of a layer that reads the inputs directly are exact.
        let reads_inputs =
            |slot: &Slot| matches!(&slot.operation, Operation::Layer(layer) if layer.from == 0);
        let refinable: Vec<bool> = slots.iter().map(|slot| !reads_inputs(slot)).collect();
        let (mut refine_cost, mut weights) = (0.0, 0.0);
        for (slot, &refinable) in slots.iter().zip(&refinable) {
            if let Operation::Layer(layer) = &slot.operation {
                if refinable && layer.function != Function::Identity {
                    refine_cost += slot.size as f64 * weights;
                }
                weights += layer.matrix.stored() as f64;
            }
        }
        Graph { slots, folds_inputs, refinable, refine_cost, values }
    }
}

impl Affine {
    fn new(from: usize, layer: &Layer, number: impl Fn(Parameter) -> f64 + Copy) -> Self {
        let rows = (0..layer.neurons())
            .map(|neuron| layer.row(neuron).map(|(input, weight)| (input, number(weight))));
        let matrix = if layer.is_sparse() {
            Matrix::sparse(rows)
        } else {
            Matrix::dense(layer.inputs(), layer.neurons(), rows)
        };
        let biases = (0..layer.neurons()).map(|neuron| number(layer.bias(neuron))).collect();
        let terms = (0..layer.neurons()).map(|neuron| layer.row(neuron).count()).max().unwrap_or(0);
        let function = match layer.activation() {
            Activation::Identity => Function::Identity,
            Activation::Relu => Function::Relu,
            Activation::LeakyRelu { slope } => Function::LeakyRelu(number(slope)),
            Activation::Tanh => Function::Tanh,
            Activation::Sigmoid => Function::Sigmoid,
            Activation::Elu { scale } => Function::Elu(number(scale)),
            Activation::Clip { low, high } => Function::Clip(number(low), number(high)),
        };
        Affine::finish(from, matrix, biases, function, terms)
    }

    fn quotient(from: usize, reciprocals: Vec<f64>) -> Self {
        let biases = vec![0.0; reciprocals.len()];
        let rows = reciprocals.into_iter().enumerate().map(std::iter::once);
        Affine::finish(from, Matrix::sparse(rows), biases, Function::Identity, 1)
    }

    fn finish(from: usize, matrix: Matrix, mut biases: Vec<f64>, function: Function, terms: usize) -> Self {
        let neurons = biases.len();
        biases.resize(padded(neurons), 0.0);
        let mut norms = vec![0.0; padded(neurons)];
        matrix.for_each(neurons, |neuron, _, weight| norms[neuron] += weight.abs());
        // Sums of up to 2²⁰ non-negative terms lose less than a part in 2³².
        for norm in &mut norms {
            *norm *= 1.0 + 1.0 / (1_u64 << 32) as f64;
        }
        // `max` would ignore NaN.
        let largest = |values: &[f64]| {
            values
                .iter()
                .fold(0.0, |largest, value| if value.abs() <= largest { largest } else { value.abs() })
        };
        let (largest_norm, largest_bias) = (largest(&norms), largest(&biases));
        Affine { from, matrix, biases, norms, function, terms, largest_norm, largest_bias, is_covered: true }
    }
}

impl Matrix {
    fn dense(
        inputs: usize,
        neurons: usize,
        entries: impl Iterator<Item = impl Iterator<Item = (usize, f64)>>,
    ) -> Matrix {
        let (row_stride, column_stride) = (padded(inputs), padded(neurons));
        let mut rows = vec![0.0; neurons * row_stride];
        let mut columns = vec![0.0; inputs * column_stride];
        for (neuron, row) in entries.enumerate() {
            for (input, weight) in row {
                rows[neuron * row_stride + input] = weight;
                columns[input * column_stride + neuron] = weight;
            }
        }
        Matrix::Dense { inputs, rows, columns }
    }

    fn sparse(rows: impl Iterator<Item = impl Iterator<Item = (usize, f64)>>) -> Matrix {
        let (mut starts, mut entries) = (vec![0], Vec::new());
        for row in rows {
            entries.extend(row.map(|(input, weight)| (input as u32, weight)));
            starts.push(entries.len());
        }
        Matrix::Sparse { starts, entries }
    }

    /// Number of stored weights, with padding.
    fn stored(&self) -> usize {
        match self {
            Matrix::Dense { rows, .. } => rows.len(),
            Matrix::Sparse { entries, .. } => entries.len(),
        }
    }

    /// Calls `visit` with the neuron, input and value of each weight.
    pub(super) fn for_each(&self, neurons: usize, mut visit: impl FnMut(usize, usize, f64)) {
        match self {
            Matrix::Dense { inputs, rows, .. } => {
                for (neuron, row) in rows.chunks_exact(padded(*inputs)).enumerate() {
                    for (input, &weight) in row[..*inputs].iter().enumerate() {
                        visit(neuron, input, weight);
                    }
                }
            }
            Matrix::Sparse { starts, entries } => {
                for neuron in 0..neurons {
                    for &(input, weight) in &entries[starts[neuron]..starts[neuron + 1]] {
                        visit(neuron, input as usize, weight);
                    }
                }
            }
        }
    }
}
