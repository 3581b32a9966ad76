//! The scores of policies in real arithmetic: fractions, each operation exact.

use num_rational::BigRational;
use surefoot_policy::{Activation, Ensemble, Layer, Network, Node, Parameter, Scorer, Source, TreeNode};

/// The scores, unless there is a function in them that has no fractions as values.
pub fn exact_scores(scorer: &Scorer, inputs: &[i32]) -> Option<Vec<BigRational>> {
    let inputs: Vec<BigRational> =
        inputs.iter().map(|&value| BigRational::from_integer(value.into())).collect();
    match scorer {
        Scorer::Network(network) => network_scores(network, &inputs),
        Scorer::Ensemble(ensemble) => Some(ensemble_scores(ensemble, &inputs)),
    }
}

fn fraction(parameter: Parameter) -> BigRational {
    BigRational::from_float(parameter.double).expect("parameters are finite")
}

fn zero() -> BigRational {
    BigRational::from_integer(0.into())
}

fn network_scores(network: &Network, inputs: &[BigRational]) -> Option<Vec<BigRational>> {
    let mut nodes: Vec<Vec<BigRational>> = Vec::new();
    for node in network.nodes() {
        let of = |source: Source| match source {
            Source::Input => inputs,
            Source::Node(node) => &nodes[node as usize],
        };
        let values: Vec<BigRational> = match node {
            Node::Layer { from, layer } => {
                let neurons = (0..layer.neurons()).map(|neuron| weighted_sum(layer, neuron, of(*from)));
                neurons.map(|sum| activate(layer.activation(), sum)).collect::<Option<_>>()?
            }
            Node::Arrange { elements } => {
                elements.iter().map(|element| of(element.source)[element.index as usize].clone()).collect()
            }
            Node::Maximum { left, right } => {
                of(*left).iter().zip(of(*right)).map(|(a, b)| a.max(b).clone()).collect()
            }
            Node::Quotient { from, divisors } => {
                of(*from).iter().zip(divisors).map(|(value, &divisor)| value / fraction(divisor)).collect()
            }
        };
        nodes.push(values);
    }
    nodes.pop()
}

fn weighted_sum(layer: &Layer, neuron: usize, inputs: &[BigRational]) -> BigRational {
    let products = layer.row(neuron).map(|(input, weight)| fraction(weight) * &inputs[input]);
    products.fold(fraction(layer.bias(neuron)), |sum, product| sum + product)
}

fn activate(activation: Activation, sum: BigRational) -> Option<BigRational> {
    match activation {
        Activation::Identity => Some(sum),
        Activation::Relu => Some(sum.max(zero())),
        Activation::LeakyRelu { slope } => Some(if sum < zero() { sum * fraction(slope) } else { sum }),
        Activation::Clip { low, high } => {
            let above = if low.double.is_finite() { sum.max(fraction(low)) } else { sum };
            Some(if high.double.is_finite() { above.min(fraction(high)) } else { above })
        }
        Activation::Tanh | Activation::Sigmoid | Activation::Elu { .. } => None,
    }
}

fn ensemble_scores(ensemble: &Ensemble, inputs: &[BigRational]) -> Vec<BigRational> {
    let mut scores: Vec<BigRational> = ensemble.base().iter().map(|&base| fraction(base)).collect();
    for tree in ensemble.trees() {
        let mut node = 0;
        while let TreeNode::Split { feature, threshold, left, right } = tree.nodes()[node as usize] {
            node = if inputs[feature as usize] < fraction(threshold) { left } else { right };
        }
        let TreeNode::Leaf(leaf) = tree.nodes()[node as usize] else {
            unreachable!("the walk ends in a leaf")
        };
        for (score, &value) in scores.iter_mut().zip(tree.values(leaf)) {
            *score += fraction(value);
        }
    }
    scores
}
