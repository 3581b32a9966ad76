//! Scores in double or single precision.

use std::sync::Arc;

use super::forest::Forest;
use super::graph::Graph;
use super::instruction_set::InstructionSet;
use super::kernel::{self, VectorNumber};
use crate::policy::Scorer;

/// Computes the scores of chunks.
#[derive(Debug, Clone)]
pub(super) struct ExactScorer<T> {
    model: Arc<Model<T>>,
    /// Working memory of the network.
    values: Vec<Vec<T>>,
}

#[derive(Debug)]
enum Model<T> {
    Network(Graph<T>),
    Forest(Forest<T>),
}

impl<T: VectorNumber> ExactScorer<T> {
    pub(super) fn new(scorer: &Scorer) -> Self {
        let (model, values) = match scorer {
            Scorer::Network(network) => {
                let graph = Graph::new(network);
                let values = graph.memory();
                (Model::Network(graph), values)
            }
            Scorer::Ensemble(ensemble) => (Model::Forest(Forest::new::<T>(ensemble, &[T::of])), Vec::new()),
        };
        ExactScorer { model: Arc::new(model), values }
    }

    /// Computes the scores of the first `used` states of a chunk.
    pub(super) fn run(&mut self, set: InstructionSet, used: usize, columns: &[i32], scores: &mut [T]) {
        match &*self.model {
            Model::Forest(forest) => forest.run(used, columns, scores),
            Model::Network(graph) => graph.run(set, columns, &mut self.values, scores),
        }
        kernel::replace_nan(set, scores);
    }
}
