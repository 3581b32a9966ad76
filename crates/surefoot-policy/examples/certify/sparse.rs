//! Random sparse networks. They are made from their shape, and have no file.

use surefoot_model::{LabelId, VarId};
use surefoot_policy::{Activation, Layer, Network, Parameter, Policy, PolicyInput, Scorer};

use crate::random::Random;

/// Inputs, and the greatest value of each; the least is 0.
const INPUTS: usize = 60;
const GREATEST: i32 = 7;
const LABELS: usize = 12;
/// Values of the layer before that a neuron reads.
const TERMS: usize = 8;

/// A network, and the domains of its inputs.
pub fn network(layers: usize, neurons: usize) -> (Policy, Vec<(i32, i32)>) {
    let mut random = Random(7);
    let mut sizes = vec![INPUTS];
    sizes.extend(std::iter::repeat_n(neurons, layers));
    sizes.push(LABELS);
    let layers = sizes.windows(2).enumerate().map(|(index, pair)| {
        let is_last = index + 2 == sizes.len();
        let activation = if is_last { Activation::Identity } else { Activation::Relu };
        let biases = (0..pair[1]).map(|_| Parameter::from(random.symmetric())).collect();
        let terms = if is_last { neurons / TERMS } else { TERMS };
        let rows = (0..pair[1]).map(|_| row(pair[0], terms, &mut random)).collect();
        Layer::sparse(pair[0], rows, biases, activation).expect("well formed")
    });
    let network = Network::new(layers.collect()).expect("layers fit");
    let inputs = (0..INPUTS).map(|input| PolicyInput::Variable(VarId(input as u32))).collect();
    let labels = (0..LABELS).map(|label| LabelId(label as u32)).collect();
    let policy = Policy::new(inputs, labels, false, Scorer::Network(network)).expect("sizes agree");
    (policy, vec![(0, GREATEST); INPUTS])
}

/// The weights of a neuron.
fn row(inputs: usize, terms: usize, random: &mut Random) -> Vec<(u32, Parameter)> {
    let mut chosen: Vec<u32> = (0..terms).map(|_| random.below(inputs) as u32).collect();
    chosen.sort_unstable();
    chosen.dedup();
    chosen.into_iter().map(|input| (input, Parameter::from(random.symmetric()))).collect()
}
