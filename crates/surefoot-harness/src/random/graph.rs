//! Random networks of all kinds of nodes: sparse layers, all activations, skip connections, maxima, quotients.

use surefoot_policy::{Activation, Element, Layer, Network, Node, Parameter, Source};

use super::choices::Choices;
use super::policy::{number, parameter, parameters};

/// A small graph that ends in a layer.
pub fn graph(inputs: usize, outputs: usize, choices: &mut Choices<'_>) -> Network {
    let mut graph = Graph { nodes: Vec::new(), sizes: vec![inputs] };
    for _ in 0..choices.below(5) {
        let node = match choices.weighted(&[4, 2, 2, 2, 1]) {
            0 => {
                let neurons = 1 + choices.below(3);
                graph.layer(neurons, choices)
            }
            1 => graph.arrangement(choices),
            2 => graph.maximum(choices),
            3 => {
                graph.add(graph.skip(choices));
                let neurons = 1 + choices.below(2);
                let from = graph.last();
                Node::Layer { from, layer: sum(graph.size(from), neurons) }
            }
            _ => graph.quotient(choices),
        };
        graph.add(node);
    }
    let last = graph.layer(outputs, choices);
    graph.add(last);
    Network::from_nodes(inputs, graph.nodes).expect("nodes read those before them")
}

struct Graph {
    nodes: Vec<Node>,
    /// Sizes of the inputs and of all nodes.
    sizes: Vec<usize>,
}

fn source(place: usize) -> Source {
    if place == 0 { Source::Input } else { Source::Node(place as u32 - 1) }
}

impl Graph {
    fn add(&mut self, node: Node) {
        let size = match &node {
            Node::Layer { layer, .. } => layer.neurons(),
            Node::Arrange { elements } => elements.len(),
            Node::Maximum { left, .. } => self.size(*left),
            Node::Quotient { divisors, .. } => divisors.len(),
        };
        self.nodes.push(node);
        self.sizes.push(size);
    }

    fn size(&self, source: Source) -> usize {
        match source {
            Source::Input => self.sizes[0],
            Source::Node(node) => self.sizes[node as usize + 1],
        }
    }

    fn last(&self) -> Source {
        source(self.nodes.len())
    }

    /// The last node, or any.
    fn any(&self, choices: &mut Choices<'_>) -> Source {
        if choices.one_in(3) { source(choices.below(self.sizes.len())) } else { self.last() }
    }

    fn layer(&self, neurons: usize, choices: &mut Choices<'_>) -> Node {
        let from = self.any(choices);
        let inputs = self.size(from);
        let activation = activation(choices);
        let biases = parameters(neurons, choices);
        let layer = if choices.one_in(2) {
            let rows = (0..neurons).map(|_| {
                let read: Vec<u32> = (0..inputs as u32).filter(|_| choices.one_in(2)).collect();
                read.into_iter().map(|input| (input, parameter(choices))).collect()
            });
            Layer::sparse(inputs, rows.collect(), biases, activation)
        } else {
            Layer::new(inputs, parameters(inputs * neurons, choices), biases, activation)
        };
        Node::Layer { from, layer: layer.expect("the sizes agree") }
    }

    fn arrangement(&self, choices: &mut Choices<'_>) -> Node {
        let element = |choices: &mut Choices<'_>| {
            let source = self.any(choices);
            Element { source, index: choices.below(self.size(source)) as u32 }
        };
        Node::Arrange { elements: (0..=choices.below(4)).map(|_| element(choices)).collect() }
    }

    /// All values of two nodes, one after the other: what a skip connection adds up.
    fn skip(&self, choices: &mut Choices<'_>) -> Node {
        let pair = [self.last(), source(choices.below(self.sizes.len()))];
        let all = |source| {
            (0..self.size(source) as u32).map(move |index| Element { source, index }).collect::<Vec<_>>()
        };
        Node::Arrange { elements: pair.into_iter().flat_map(all).collect() }
    }

    fn maximum(&self, choices: &mut Choices<'_>) -> Node {
        let left = self.any(choices);
        let fitting: Vec<Source> =
            (0..self.sizes.len()).map(source).filter(|&other| self.size(other) == self.size(left)).collect();
        Node::Maximum { left, right: choices.pick(&fitting) }
    }

    fn quotient(&self, choices: &mut Choices<'_>) -> Node {
        let from = self.any(choices);
        let divisor = |choices: &mut Choices<'_>| {
            number(choices.pick(&["2", "3", "-1", "0.1", "-0.7", "1e-38", "1e38"]))
        };
        Node::Quotient { from, divisors: (0..self.size(from)).map(|_| divisor(choices)).collect() }
    }
}

/// A layer whose neurons add up all values, as a sum of nodes does.
fn sum(inputs: usize, neurons: usize) -> Layer {
    let one = Parameter::from(1.0);
    let rows = vec![(0..inputs as u32).map(|input| (input, one)).collect(); neurons];
    Layer::sparse(inputs, rows, vec![Parameter::from(0.0); neurons], Activation::Identity)
        .expect("the sizes agree")
}

fn activation(choices: &mut Choices<'_>) -> Activation {
    match choices.below(8) {
        0 => Activation::Identity,
        1 => Activation::Relu,
        2 => Activation::LeakyRelu { slope: number(choices.pick(&["0.5", "0.01", "0", "1", "1e-40"])) },
        3 => Activation::Tanh,
        4 => Activation::Sigmoid,
        5 => Activation::Elu { scale: number(choices.pick(&["1", "0.3", "0", "2"])) },
        _ => {
            let (low, high) = choices.pick(&[("0", "6"), ("-1", "1"), ("-0.1", "0.7"), ("2", "2")]);
            let unbounded = |text, end| if text == "2" { Parameter::from(end) } else { number(text) };
            if choices.one_in(3) {
                Activation::Clip { low: unbounded(low, f64::NEG_INFINITY), high: number(high) }
            } else {
                Activation::Clip { low: number(low), high: number(high) }
            }
        }
    }
}
