//! Scores in double or single precision.

use std::sync::Arc;

use super::LANES;
use super::dense::DenseLayer;
use super::forest::Forest;
use super::instruction_set::InstructionSet;
use super::kernel::{self, VectorNumber};
use crate::policy::Scorer;

/// Computes the scores of chunks.
#[derive(Debug, Clone)]
pub(super) struct ExactScorer<T> {
    model: Arc<Model<T>>,
    /// Values of two neighbouring layers, a row of lanes per neuron.
    values: [Vec<T>; 2],
}

#[derive(Debug)]
enum Model<T> {
    Network(Vec<DenseLayer<T>>),
    Forest(Forest<T>),
}

impl<T: VectorNumber> ExactScorer<T> {
    pub(super) fn new(scorer: &Scorer) -> Self {
        let (model, rows) = match scorer {
            Scorer::Network(network) => {
                let dense = network.chain().expect("TODO").into_iter().map(|layer| {
                    let weight = |neuron, input: usize| T::of(layer.weights(neuron).expect("TODO")[input]);
                    DenseLayer::new(layer, layer.activation(), weight, |neuron| T::of(layer.bias(neuron)))
                });
                (Model::Network(dense.collect()), network.sizes().into_iter().max().unwrap_or(0))
            }
            Scorer::Ensemble(ensemble) => (Model::Forest(Forest::new::<T>(ensemble, &[T::of])), 0),
        };
        ExactScorer {
            model: Arc::new(model),
            values: [vec![T::ZERO; rows * LANES], vec![T::ZERO; rows * LANES]],
        }
    }

    /// Computes the scores of the first `used` states of a chunk.
    pub(super) fn run(&mut self, set: InstructionSet, used: usize, columns: &[i32], scores: &mut [T]) {
        match &*self.model {
            Model::Forest(forest) => forest.run(used, columns, scores),
            Model::Network(layers) => {
                let [current, next] = &mut self.values;
                kernel::convert(set, columns, current);
                let (last, hidden) = layers.split_last().expect("networks have layers");
                for layer in hidden {
                    kernel::dense(set, layer, current, next);
                    std::mem::swap(current, next);
                }
                kernel::dense(set, last, current, scores);
            }
        }
        kernel::replace_nan(set, scores);
    }
}
