//! Enclosures of scores in any order of single-precision operations.

use std::sync::Arc;

use super::LANES;
use super::dense::DenseLayer;
use super::forest::Forest;
use super::instruction_set::InstructionSet;
use super::kernel;
use crate::any_f32::{self, Enclosure, constant_radius, growth, magnitude};
use crate::layer::{Activation, Layer};
use crate::parameter::Parameter;
use crate::policy::Scorer;
use crate::score::Score;

/// Computes the enclosures of all scores of a batch.
#[derive(Debug, Clone)]
pub(super) struct EnclosedScorer {
    model: Arc<EnclosedModel>,
    /// Working memory, a row of lanes per neuron.
    centres: [Vec<f64>; 2],
    radii: [Vec<f64>; 2],
    outputs: usize,
    /// For each chunk a row of lanes per output.
    lower: Vec<f64>,
    upper: Vec<f64>,
}

#[derive(Debug)]
enum EnclosedModel {
    Network(Vec<EnclosedLayer>),
    /// Sums of values, then sums of magnitudes.
    Forest {
        forest: Forest<f64>,
        terms: usize,
    },
}

/// A layer that maps centres to centres and spreads to radii.
#[derive(Debug)]
struct EnclosedLayer {
    centres: DenseLayer<f64>,
    radii: DenseLayer<f64>,
    growth: f64,
    activation: Activation,
}

impl EnclosedScorer {
    pub(super) fn new(scorer: &Scorer) -> Self {
        let (model, rows) = match scorer {
            Scorer::Network(network) => {
                let layers = network.chain().expect("TODO").into_iter().map(EnclosedLayer::new).collect();
                (EnclosedModel::Network(layers), network.sizes().into_iter().max().unwrap_or(0))
            }
            Scorer::Ensemble(ensemble) => {
                let values: [fn(Parameter) -> f64; 2] =
                    [|value| f64::from(value.single), |value| f64::from(value.single).abs()];
                let forest = Forest::new::<f32>(ensemble, &values);
                let rows = forest.outputs();
                (EnclosedModel::Forest { forest, terms: any_f32::leaf_terms(ensemble) }, rows)
            }
        };
        let memory = || [vec![0.0; rows * LANES], vec![0.0; rows * LANES]];
        EnclosedScorer {
            model: Arc::new(model),
            centres: memory(),
            radii: memory(),
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
        let [centres, next_centres] = &mut self.centres;
        let [radii, next_radii] = &mut self.radii;
        match &*self.model {
            EnclosedModel::Network(layers) => {
                for ((centre, radius), &value) in centres.iter_mut().zip(&mut *radii).zip(columns) {
                    Enclosure { centre: *centre, radius: *radius } = Enclosure::of_int(value);
                }
                for layer in layers {
                    let used = layer.centres.inputs * LANES;
                    kernel::spread(set, &centres[..used], &mut radii[..used], layer.growth);
                    kernel::dense(set, &layer.centres, centres, next_centres);
                    kernel::dense(set, &layer.radii, radii, next_radii);
                    std::mem::swap(centres, next_centres);
                    std::mem::swap(radii, next_radii);
                    let used = layer.centres.neurons() * LANES;
                    kernel::enclose(
                        set,
                        &mut centres[..used],
                        &mut radii[..used],
                        layer.growth,
                        layer.activation,
                    );
                }
            }
            EnclosedModel::Forest { forest, terms } => {
                forest.run(used, columns, next_centres);
                let (values, magnitudes) = next_centres.split_at(self.outputs * LANES);
                let sums = values.iter().zip(magnitudes);
                for ((centre, radius), (&value, &magnitude)) in centres.iter_mut().zip(&mut *radii).zip(sums)
                {
                    Enclosure { centre: *centre, radius: *radius } =
                        any_f32::of_leaves(value, magnitude, *terms);
                }
            }
        }
        let place = chunk * self.outputs * LANES;
        for lane in 0..self.outputs * LANES {
            let score = Enclosure { centre: centres[lane], radius: radii[lane] }.score();
            self.lower[place + lane] = score.lower;
            self.upper[place + lane] = score.upper;
        }
    }

    #[inline]
    pub(super) fn score(&self, state: usize, output: usize) -> Score {
        let place = (state / LANES * self.outputs + output) * LANES + state % LANES;
        Score { lower: self.lower[place], upper: self.upper[place] }
    }
}

impl EnclosedLayer {
    fn new(layer: &Layer) -> Self {
        let single = |parameter: Parameter| f64::from(parameter.single);
        EnclosedLayer {
            centres: DenseLayer::new(
                layer,
                Activation::Identity,
                |neuron, input| single(layer.weights(neuron).expect("TODO")[input]),
                |neuron| single(layer.bias(neuron)),
            ),
            radii: DenseLayer::new(
                layer,
                Activation::Identity,
                |neuron, input| magnitude(layer.weights(neuron).expect("TODO")[input]),
                |neuron| constant_radius(layer.weights(neuron).expect("TODO"), layer.bias(neuron)),
            ),
            growth: growth(layer.inputs()),
            activation: layer.activation(),
        }
    }
}
