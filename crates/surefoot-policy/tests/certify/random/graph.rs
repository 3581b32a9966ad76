//! Random networks with nodes, layers and activations of every kind.

use surefoot_policy::{Activation, Element, Layer, Network, Node, Parameter, Source};

use super::choices::Choices;
use super::number::Flavour;

/// A graph whose nodes read any nodes before them.
pub fn graph((inputs, outputs): (usize, usize), flavour: Flavour, choices: &mut Choices<'_>) -> Network {
    let mut sizes = vec![inputs];
    let mut nodes = Vec::new();
    for _ in 0..choices.below(6) {
        let node = node(&sizes, flavour, choices);
        sizes.push(size(&node, &sizes));
        nodes.push(node);
    }
    let from = source(&sizes, choices);
    let read = sizes[place(from)];
    nodes.push(Node::Layer { from, layer: layer(read, outputs, flavour, choices) });
    Network::from_nodes(inputs, nodes).expect("the sizes agree")
}

/// Any source, the last one most often.
fn source(sizes: &[usize], choices: &mut Choices<'_>) -> Source {
    let back = if choices.one_in(3) { choices.below(sizes.len()) } else { 0 };
    match sizes.len() - 1 - back {
        0 => Source::Input,
        node => Source::Node(node as u32 - 1),
    }
}

/// Position of a source's size.
fn place(source: Source) -> usize {
    match source {
        Source::Input => 0,
        Source::Node(node) => node as usize + 1,
    }
}

fn size(node: &Node, sizes: &[usize]) -> usize {
    match node {
        Node::Layer { layer, .. } => layer.neurons(),
        Node::Arrange { elements } => elements.len(),
        Node::Maximum { left, .. } => sizes[place(*left)],
        Node::Quotient { divisors, .. } => divisors.len(),
    }
}

fn node(sizes: &[usize], flavour: Flavour, choices: &mut Choices<'_>) -> Node {
    let from = source(sizes, choices);
    let read = sizes[place(from)];
    match choices.weighted(&[8, 3, 2, 1]) {
        0 => {
            let neurons = 1 + choices.below(4);
            Node::Layer { from, layer: layer(read, neurons, flavour, choices) }
        }
        1 => {
            let element = |choices: &mut Choices<'_>| {
                let source = source(sizes, choices);
                Element { source, index: choices.below(sizes[place(source)]) as u32 }
            };
            Node::Arrange { elements: (0..=choices.below(5)).map(|_| element(choices)).collect() }
        }
        2 => {
            let fitting: Vec<usize> = (0..sizes.len()).filter(|&other| sizes[other] == read).collect();
            let right = match choices.pick(&fitting) {
                0 => Source::Input,
                node => Source::Node(node as u32 - 1),
            };
            Node::Maximum { left: from, right }
        }
        _ => {
            let divisor = |choices: &mut Choices<'_>| choices.pick(&[2.0, -1.0, 0.3, 255.0, -1e-30, 1e30]);
            let divisors = (0..read).map(|_| Parameter::from(divisor(choices))).collect();
            Node::Quotient { from, divisors }
        }
    }
}

fn layer(inputs: usize, neurons: usize, flavour: Flavour, choices: &mut Choices<'_>) -> Layer {
    let activation = activation(choices);
    let biases = flavour.parameters(neurons, choices);
    if !choices.one_in(3) {
        let weights = flavour.parameters(inputs * neurons, choices);
        return Layer::new(inputs, weights, biases, activation).expect("the sizes agree");
    }
    let mut row = || {
        let stored: Vec<u32> = (0..inputs as u32).filter(|_| choices.one_in(2)).collect();
        stored.into_iter().map(|input| (input, flavour.parameter(choices))).collect()
    };
    let rows = (0..neurons).map(|_| row()).collect();
    Layer::sparse(inputs, rows, biases, activation).expect("rows ascend")
}

fn activation(choices: &mut Choices<'_>) -> Activation {
    let number = Parameter::from;
    match choices.weighted(&[3, 4, 1, 1, 1, 1, 1]) {
        0 => Activation::Identity,
        1 => Activation::Relu,
        2 => Activation::LeakyRelu { slope: number(choices.pick(&[0.01, 0.0, 1.0, 0.3])) },
        3 => Activation::Tanh,
        4 => Activation::Sigmoid,
        5 => Activation::Elu { scale: number(choices.pick(&[1.0, 0.0, 0.7, 2.5])) },
        _ => {
            let infinity = f64::INFINITY;
            let [low, high] =
                choices.pick(&[[0.0, 6.0], [-1.0, 1.0], [-infinity, 2.0], [0.5, infinity], [1.0, 1.0]]);
            Activation::Clip { low: number(low), high: number(high) }
        }
    }
}
