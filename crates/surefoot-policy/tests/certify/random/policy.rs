//! Random policies: several kinds of scorers over variables that they share, ignore or find replaced by constants.

use surefoot_model::{LabelId, VarId};
use surefoot_policy::{Activation, Layer, Network, Parameter, Policy, PolicyInput, Scorer};

use super::ALL_NODES;
use super::choices::Choices;
use super::graph::graph;
use super::number::Flavour;
use super::tree::{boosted, forest};

/// A policy over some of the variables of a system.
pub fn policy(variables: usize, choices: &mut Choices<'_>) -> Policy {
    let outputs = [2, 3, 4, 5, 1, 9, 70][choices.weighted(&[6, 6, 4, 3, 1, 1, 1])];
    let inputs: Vec<PolicyInput> = (0..=choices.below(4)).map(|_| input(variables, choices)).collect();
    let flavour = Flavour::random(choices);
    let size = (inputs.len(), outputs);
    let scorer = match choices.weighted(&[4, 2, 3, 3, if ALL_NODES { 6 } else { 0 }]) {
        0 => Scorer::Network(network(size, flavour, choices)),
        1 => Scorer::Network(near_ties(size, choices)),
        2 => Scorer::Ensemble(forest(size, flavour, choices)),
        3 => Scorer::Ensemble(boosted(size, flavour, choices)),
        _ => Scorer::Network(graph(size, flavour, choices)),
    };
    let labels = (0..outputs).map(|output| LabelId(output as u32)).collect();
    Policy::new(inputs, labels, choices.one_in(2), scorer).expect("the sizes agree")
}

/// A policy that reads all variables, with a chain of few neurons, most of them `ReLU`s.
pub fn small_network(variables: usize, choices: &mut Choices<'_>) -> Policy {
    let outputs = 2 + choices.below(2);
    let flavour = Flavour::random(choices);
    let mut sizes = vec![variables];
    sizes.extend((0..=choices.below(2)).map(|_| 1 + choices.below(4)));
    sizes.push(outputs);
    let last = sizes.len() - 2;
    let layers = sizes.windows(2).enumerate().map(|(position, pair)| {
        let weights = flavour.parameters(pair[0] * pair[1], choices);
        let biases = flavour.parameters(pair[1], choices);
        let activation = match choices.weighted(&[6, 2, 1]) {
            _ if position == last => Activation::Identity,
            0 => Activation::Relu,
            1 => Activation::LeakyRelu { slope: Parameter::parse("0.01").expect("a number") },
            _ => Activation::Tanh,
        };
        Layer::new(pair[0], weights, biases, activation).expect("the sizes agree")
    });
    let network = Network::new(layers.collect()).expect("the sizes agree");
    let inputs = (0..variables).map(|input| PolicyInput::Variable(VarId(input as u32))).collect();
    let labels = (0..outputs).map(|output| LabelId(output as u32)).collect();
    Policy::new(inputs, labels, false, Scorer::Network(network)).expect("the sizes agree")
}

/// Any variable, also one that is read already, or a constant.
fn input(variables: usize, choices: &mut Choices<'_>) -> PolicyInput {
    if choices.one_in(8) {
        PolicyInput::Constant(choices.pick(&[0, 1, -3, 16_777_217, i32::MAX, i32::MIN]))
    } else {
        PolicyInput::Variable(VarId(choices.below(variables) as u32))
    }
}

/// A chain of dense layers.
fn network((inputs, outputs): (usize, usize), flavour: Flavour, choices: &mut Choices<'_>) -> Network {
    let mut sizes = vec![inputs];
    sizes.extend((0..choices.below(4)).map(|_| 1 + choices.below(6)));
    sizes.push(outputs);
    let last = sizes.len() - 2;
    let layers = sizes.windows(2).enumerate().map(|(position, pair)| {
        let mut weights = flavour.parameters(pair[0] * pair[1], choices);
        let mut biases = flavour.parameters(pair[1], choices);
        if position == last {
            repeat(&mut weights, &mut biases, choices);
        }
        let activation = if position == last { Activation::Identity } else { Activation::Relu };
        Layer::new(pair[0], weights, biases, activation).expect("the sizes agree")
    });
    Network::new(layers.collect()).expect("the sizes agree")
}

/// Sometimes gives an output the weights of another, or of all others: they tie everywhere.
fn repeat(weights: &mut [Parameter], biases: &mut [Parameter], choices: &mut Choices<'_>) {
    if !choices.one_in(4) {
        return;
    }
    let (size, outputs) = (weights.len() / biases.len(), biases.len());
    let from = choices.below(outputs);
    let only = choices.one_in(2).then(|| choices.below(outputs));
    for to in (0..outputs).filter(|&to| only.is_none_or(|only| only == to)) {
        weights.copy_within(from * size..(from + 1) * size, to * size);
        biases[to] = biases[from];
    }
}

/// Scores that are equal in exact arithmetic, computed from different decimals: rounding decides.
fn near_ties((inputs, outputs): (usize, usize), choices: &mut Choices<'_>) -> Network {
    const SHARES: [[&str; 3]; 4] =
        [["0.1", "0.2", "0.3"], ["0.1", "0.7", "0.8"], ["1.1", "2.2", "3.3"], ["0.7", "0.6", "1.3"]];
    let number = |text: &str| Parameter::parse(text).expect("a number");
    // Each hidden neuron exists twice.
    let row = Flavour::Trained.parameters(inputs, choices);
    let bias = Flavour::Trained.parameter(choices);
    let hidden = Layer::new(inputs, [row.clone(), row].concat(), vec![bias; 2], Activation::Relu);
    let [p, q, sum] = choices.pick(&SHARES);
    let mut weights = Vec::new();
    for _ in 0..outputs {
        weights.extend(choices.pick(&[[p, q], [sum, "0"], [q, p], ["0", sum]]).map(number));
    }
    let biases = vec![Flavour::Decimal.parameter(choices); outputs];
    let last = Layer::new(2, weights, biases, Activation::Identity);
    Network::new(vec![hidden.expect("the sizes agree"), last.expect("the sizes agree")]).expect("they fit")
}
