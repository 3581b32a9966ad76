//! The values of networks in double and single precision.

use surefoot_policy::{Activation, Layer, Network, Node, Parameter, Source};

/// Numbers of one precision, kept as doubles. The product and the quotient of two singles, and their sum, are rounded to
/// double precision first without harm, so rounding each result to single precision is single-precision arithmetic.
#[derive(Clone, Copy)]
pub struct Precision {
    /// Whether it is single precision.
    pub single: bool,
}

impl Precision {
    /// The nearest number.
    pub fn round(self, value: f64) -> f64 {
        if self.single { f64::from(value as f32) } else { value }
    }

    /// A number of the policy.
    pub fn parameter(self, parameter: Parameter) -> f64 {
        if self.single { parameter.single.into() } else { parameter.double }
    }

    /// A rounded sum.
    pub fn add(self, a: f64, b: f64) -> f64 {
        self.round(a + b)
    }

    fn multiply(self, a: f64, b: f64) -> f64 {
        self.round(a * b)
    }

    fn activate(self, activation: Activation, x: f64) -> f64 {
        let negative = x < 0.0;
        match activation {
            Activation::Relu if negative => 0.0,
            Activation::LeakyRelu { slope } if negative => self.multiply(self.parameter(slope), x),
            Activation::Elu { scale } if negative => self.round(self.parameter(scale) * libm::expm1(x)),
            Activation::Identity
            | Activation::Relu
            | Activation::LeakyRelu { .. }
            | Activation::Elu { .. } => x,
            Activation::Tanh => self.round(libm::tanh(x)),
            Activation::Sigmoid => self.round(1.0 / (1.0 + libm::exp(-x))),
            Activation::Clip { low, high } => {
                let (low, high) = (self.parameter(low), self.parameter(high));
                if x < low {
                    low
                } else if x > high {
                    high
                } else {
                    x
                }
            }
        }
    }
}

/// The values of the last node.
pub fn network_scores(network: &Network, inputs: &[f64], precision: Precision) -> Vec<f64> {
    let mut nodes: Vec<Vec<f64>> = Vec::new();
    for node in network.nodes() {
        let value = |source: Source, index: usize| match source {
            Source::Input => inputs[index],
            Source::Node(node) => nodes[node as usize][index],
        };
        let mut values = Vec::new();
        match node {
            Node::Layer { from, layer } => {
                for neuron in 0..layer.neurons() {
                    let sum = weighted_sum(layer, neuron, |index| value(*from, index), precision);
                    values.push(precision.activate(layer.activation(), sum));
                }
            }
            Node::Arrange { elements } => {
                for element in elements {
                    values.push(value(element.source, element.index as usize));
                }
            }
            Node::Maximum { left, right } => {
                for index in 0..network.size(*left) {
                    let (a, b) = (value(*left, index), value(*right, index));
                    values.push(if a < b { b } else { a });
                }
            }
            Node::Quotient { from, divisors } => {
                for (index, &divisor) in divisors.iter().enumerate() {
                    values.push(precision.round(value(*from, index) / precision.parameter(divisor)));
                }
            }
        }
        nodes.push(values);
    }
    nodes.pop().expect("networks have nodes")
}

fn weighted_sum(layer: &Layer, neuron: usize, value: impl Fn(usize) -> f64, precision: Precision) -> f64 {
    let mut sum = None;
    for (input, weight) in layer.row(neuron) {
        let product = precision.multiply(precision.parameter(weight), value(input));
        sum = Some(match sum {
            None => product,
            Some(sum) => precision.add(sum, product),
        });
    }
    let bias = precision.parameter(layer.bias(neuron));
    sum.map_or(bias, |sum| precision.add(sum, bias))
}
