//! A random network with many inputs over wide domains. It is made from its shape, and has no file.
//!
//! Weights are scaled so that all layers see values of the same size, as training on normalised inputs leaves them.

use surefoot_model::{LabelId, VarId};
use surefoot_policy::{Activation, Layer, Network, Parameter, Policy, PolicyInput, Scorer};

use crate::random::Random;

/// Inputs, and the greatest value of each; the least is 0.
const INPUTS: usize = 100;
const GREATEST: i32 = 255;
const LABELS: usize = 8;

/// A network with two hidden layers, and the domains of its inputs.
pub fn network(neurons: usize) -> (Policy, Vec<(i32, i32)>) {
    let mut random = Random(11);
    let sizes = [INPUTS, neurons, neurons, LABELS];
    let layers = sizes.windows(2).enumerate().map(|(index, pair)| {
        let (inputs, size) = (pair[0], pair[1]);
        let half = if index == 0 { f64::from(GREATEST) / 2.0 } else { 0.0 };
        let scale = (6.0 / inputs as f64).sqrt() / if index == 0 { half } else { 1.0 };
        let weights: Vec<f64> = (0..inputs * size).map(|_| random.symmetric() * scale).collect();
        // The middle of the domains counts as 0.
        let bias = |row: &[f64]| random.symmetric() / 4.0 - row.iter().sum::<f64>() * half;
        let biases: Vec<f64> = weights.chunks_exact(inputs).map(bias).collect();
        let activation = if size == LABELS { Activation::Identity } else { Activation::Relu };
        let [weights, biases] =
            [weights, biases].map(|numbers| numbers.into_iter().map(Parameter::from).collect());
        Layer::new(inputs, weights, biases, activation).expect("well formed")
    });
    let network = Network::new(layers.collect()).expect("layers fit");
    let inputs = (0..INPUTS).map(|input| PolicyInput::Variable(VarId(input as u32))).collect();
    let labels = (0..LABELS).map(|label| LabelId(label as u32)).collect();
    let policy = Policy::new(inputs, labels, false, Scorer::Network(network)).expect("sizes agree");
    (policy, vec![(0, GREATEST); INPUTS])
}
