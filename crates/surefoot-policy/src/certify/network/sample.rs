//! Nominal scores at single points, to tell cheaply whether a point is worth an exact evaluation.
//!
//! Nothing that is proved depends on these numbers.

use super::bounds::SlotBounds;
use super::graph::{Function, Graph, Matrix, Operation};
use super::kernel;
use crate::batch::InstructionSet;

/// The working memory of evaluations, and the result of the last one.
#[derive(Debug, Clone)]
pub(super) struct Sample {
    /// Per slot, its values, padded.
    values: Vec<Vec<f64>>,
}

impl Sample {
    pub(super) fn new(graph: &Graph) -> Self {
        Sample { values: vec![Vec::new(); graph.slots.len()] }
    }

    /// Evaluates a point of a box, given by its inputs. Where the box fixes inputs or values, they are not computed again.
    pub(super) fn evaluate(
        &mut self,
        graph: &Graph,
        set: InstructionSet,
        slots: &[SlotBounds],
        input: impl Fn(usize) -> f64,
    ) {
        let values = &mut self.values;
        values[0].resize(graph.slots[0].size, 0.0);
        for &index in &slots[0].alive {
            values[0][index as usize] = input(index as usize);
        }
        for (index, slot) in graph.slots.iter().enumerate() {
            let (before, rest) = values.split_at_mut(index);
            let own = &mut rest[0];
            match &slot.operation {
                Operation::Input => {}
                Operation::Layer(layer) => {
                    own.clone_from(&slots[index].lines.biases);
                    match &layer.matrix {
                        Matrix::Dense { columns, .. } => {
                            let from = &before[layer.from];
                            kernel::add_products(set, columns, &slots[layer.from].alive, from, own);
                        }
                        Matrix::Sparse { starts, entries } => {
                            for (neuron, range) in starts.windows(2).enumerate() {
                                let terms = entries[range[0]..range[1]].iter();
                                own[neuron] += terms
                                    .map(|&(input, weight)| weight * before[layer.from][input as usize])
                                    .sum::<f64>();
                            }
                        }
                    }
                    apply(layer.function, own);
                }
                Operation::Arrange(elements) => {
                    own.clear();
                    own.extend(
                        elements.iter().map(|&(slot, element)| before[slot as usize][element as usize]),
                    );
                }
                Operation::Maximum(left, right) => {
                    own.clear();
                    own.extend(
                        before[*left].iter().zip(&before[*right]).map(|(left, right)| left.max(*right)),
                    );
                }
            }
        }
    }

    /// The score of an output at the last point.
    pub(super) fn score(&self, output: usize) -> f64 {
        self.values[self.values.len() - 1][output]
    }
}

fn apply(function: Function, values: &mut [f64]) {
    let value = |x: f64| match function {
        Function::Relu => x.max(0.0),
        Function::LeakyRelu(slope) if x < 0.0 => slope * x,
        Function::Elu(scale) if x < 0.0 => scale * libm::expm1(x),
        Function::Identity | Function::LeakyRelu(_) | Function::Elu(_) => x,
        Function::Tanh => libm::tanh(x),
        Function::Sigmoid => 1.0 / (1.0 + libm::exp(-x)),
        Function::Clip(low, high) => x.max(low).min(high),
    };
    for own in values {
        *own = value(*own);
    }
}
