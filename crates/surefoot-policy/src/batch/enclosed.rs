//! Enclosures of the scores of a batch.

use std::sync::Arc;

use super::LANES;
use super::enclosed_graph::{EnclosedGraph, Memory};
use super::forest::Forest;
use super::instruction_set::InstructionSet;
use crate::enclosure::{self, Rounding};
use crate::ensemble::Ensemble;
use crate::parameter::Parameter;
use crate::policy::Scorer;
use crate::score::Score;

/// Computes the enclosures of all scores of a batch.
#[derive(Debug, Clone)]
pub(super) struct EnclosedScorer {
    rounding: Rounding,
    model: Arc<EnclosedModel>,
    memory: Memory,
    /// Sums of a forest, a row of lanes per output.
    sums: Vec<f64>,
    outputs: usize,
    /// For each chunk a row of lanes per output.
    lower: Vec<f64>,
    upper: Vec<f64>,
}

#[derive(Debug)]
enum EnclosedModel {
    Network(EnclosedGraph),
    /// Sums of values, then sums of magnitudes.
    Forest {
        forest: Forest<f64>,
        terms: usize,
    },
}

impl EnclosedScorer {
    pub(super) fn new(scorer: &Scorer, rounding: Rounding) -> Self {
        let (model, memory, rows) = match scorer {
            Scorer::Network(network) => {
                let graph = EnclosedGraph::new(network, rounding);
                let memory = graph.memory();
                (EnclosedModel::Network(graph), memory, 0)
            }
            Scorer::Ensemble(ensemble) => {
                let forest = forest(ensemble, rounding);
                let rows = forest.outputs();
                let terms = enclosure::leaf_terms(ensemble, &rounding);
                (EnclosedModel::Forest { forest, terms }, Memory::default(), rows)
            }
        };
        EnclosedScorer {
            rounding,
            model: Arc::new(model),
            memory,
            sums: vec![0.0; rows * LANES],
            outputs: scorer.outputs(),
            lower: Vec::new(),
            upper: Vec::new(),
        }
    }

    /// Makes room for a batch.
    pub(super) fn reserve(&mut self, chunks: usize) {
        let size = chunks * self.outputs * LANES;
        if self.lower.len() < size {
            self.lower.resize(size, 0.0);
            self.upper.resize(size, 0.0);
        }
    }

    pub(super) fn run(&mut self, set: InstructionSet, chunk: usize, used: usize, columns: &[i32]) {
        let lanes = self.outputs * LANES;
        let place = chunk * lanes;
        match &*self.model {
            EnclosedModel::Network(graph) => {
                let enclosures = graph.run(set, columns, &mut self.memory);
                for lane in 0..lanes {
                    let score = enclosures.get(lane).score();
                    (self.lower[place + lane], self.upper[place + lane]) = (score.lower, score.upper);
                }
            }
            EnclosedModel::Forest { forest, terms } => {
                forest.run(used, columns, &mut self.sums);
                for lane in 0..lanes {
                    let (value, magnitude) = (self.sums[lane], self.sums[lanes + lane]);
                    let score = enclosure::of_leaves(value, magnitude, *terms, &self.rounding).score();
                    (self.lower[place + lane], self.upper[place + lane]) = (score.lower, score.upper);
                }
            }
        }
    }

    #[inline]
    pub(super) fn score(&self, state: usize, output: usize) -> Score {
        let place = (state / LANES * self.outputs + output) * LANES + state % LANES;
        Score { lower: self.lower[place], upper: self.upper[place] }
    }
}

/// Sums of values, then sums of magnitudes.
fn forest(ensemble: &Ensemble, rounding: Rounding) -> Forest<f64> {
    if rounding.is_single() {
        let values: [fn(Parameter) -> f64; 2] =
            [|value| value.single.into(), |value| f64::from(value.single).abs()];
        Forest::new::<f32>(ensemble, &values)
    } else {
        let values: [fn(Parameter) -> f64; 2] = [|value| value.double, |value| value.double.abs()];
        Forest::new::<f64>(ensemble, &values)
    }
}
