//! Sizes of policies: what they are, and how they can contradict each other.

use std::fmt;

use crate::layer::{Activation, Layer};
use crate::network::Network;

/// Parts of a policy that do not fit together.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ShapeError {
    /// A layer has no inputs or no neurons.
    #[error("a layer has no inputs or no neurons")]
    EmptyLayer,
    /// A layer has too few or too many weights.
    #[error("a layer of {neurons} neurons with {inputs} inputs cannot have {weights} weights")]
    Weights {
        /// Inputs of the layer.
        inputs: usize,
        /// Neurons of the layer.
        neurons: usize,
        /// Weights that it was given.
        weights: usize,
    },
    /// A row of a sparse layer repeats an input, is not sorted or reads what is not there.
    #[error("the weights of neuron {neuron} do not list inputs below {inputs} in ascending order")]
    Row {
        /// Index of the neuron.
        neuron: usize,
        /// Inputs of the layer.
        inputs: usize,
    },
    /// The parameters of an activation make it decreasing.
    #[error("the activation is not monotone")]
    Activation,
    /// A node has no values.
    #[error("node {node} has no values")]
    EmptyNode {
        /// Index of the node.
        node: usize,
    },
    /// A node reads one that is not before it.
    #[error("node {node} reads node {reads}, which is not before it")]
    Order {
        /// Index of the reading node.
        node: usize,
        /// What it reads.
        reads: usize,
    },
    /// The operands of a node differ in size.
    #[error("node {node} needs {expected} values of its second operand, which has {found}")]
    Node {
        /// Index of the node.
        node: usize,
        /// Size of the first operand.
        expected: usize,
        /// Size of the second.
        found: usize,
    },
    /// A node copies a value that is not there.
    #[error("node {node} copies value {found} of a node with {available}")]
    Element {
        /// Index of the node.
        node: usize,
        /// Index of the value.
        found: usize,
        /// Number of values.
        available: usize,
    },
    /// A node divides by zero.
    #[error("node {node} divides by zero")]
    ZeroDivisor {
        /// Index of the node.
        node: usize,
    },
    /// A network has no layers.
    #[error("a network needs at least one layer")]
    NoLayers,
    /// Neighbouring layers differ in size.
    #[error("layer {layer} reads {inputs} values, but the layer before it has {before} neurons")]
    Layers {
        /// Index of the reading layer.
        layer: usize,
        /// What it reads.
        inputs: usize,
        /// What there is.
        before: usize,
    },
    /// A tree has a missing or shared child, or values that do not match its leaves.
    #[error("the nodes and values of a tree do not form a tree")]
    Tree,
    /// A tree has another number of outputs than the ensemble.
    #[error("tree {tree} has {outputs} outputs, the ensemble has {base}")]
    TreeOutputs {
        /// Index of the tree.
        tree: usize,
        /// Its outputs.
        outputs: usize,
        /// Outputs of the ensemble.
        base: usize,
    },
    /// A tree tests an input that does not exist.
    #[error("tree {tree} tests input {feature}, but there are only {inputs} inputs")]
    TreeFeature {
        /// Index of the tree.
        tree: usize,
        /// The input that it tests.
        feature: usize,
        /// Number of inputs.
        inputs: usize,
    },
    /// There is nothing to choose from.
    #[error("a policy needs at least one output")]
    NoOutputs,
    /// Two outputs stand for the same label, whose commands belong to one of them only.
    #[error("output {output} has the label of an output before it")]
    RepeatedLabel {
        /// Index of the later output.
        output: usize,
    },
    /// The policy's inputs are not those of its scorer.
    #[error("the policy has {policy} inputs, its scorer has {scorer}")]
    Inputs {
        /// Inputs of the policy.
        policy: usize,
        /// Inputs of its scorer.
        scorer: usize,
    },
    /// The policy's outputs are not those of its scorer.
    #[error("the policy has {policy} outputs, its scorer has {scorer}")]
    Outputs {
        /// Outputs of the policy.
        policy: usize,
        /// Outputs of its scorer.
        scorer: usize,
    },
}

/// How large a scorer is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shape {
    /// A network that is a chain of layers.
    Network {
        /// Sizes of all layers, from the inputs to the outputs.
        sizes: Vec<usize>,
        /// What is special about it: activations other than `ReLU`, sparse layers.
        remarks: Vec<String>,
    },
    /// A network of another form.
    Graph {
        /// Number of inputs.
        inputs: usize,
        /// Number of outputs.
        outputs: usize,
        /// Number of nodes.
        nodes: usize,
        /// Number of neurons of all layers together.
        neurons: usize,
        /// Number of stored weights of all layers together.
        weights: usize,
        /// What is special about it.
        remarks: Vec<String>,
    },
    /// A tree ensemble.
    Ensemble {
        /// Number of inputs.
        inputs: usize,
        /// Number of outputs.
        outputs: usize,
        /// Number of trees.
        trees: usize,
        /// Number of leaves of all trees together.
        leaves: usize,
        /// Depth of the deepest tree.
        depth: usize,
    },
}

impl Shape {
    /// The size of a network.
    pub(crate) fn of_network(network: &Network) -> Shape {
        let mut remarks = activations(network);
        let weights = network.layers().map(Layer::stored).sum();
        let Some(chain) = network.chain() else {
            return Shape::Graph {
                inputs: network.inputs(),
                outputs: network.outputs(),
                nodes: network.nodes().len(),
                neurons: network.layers().map(Layer::neurons).sum(),
                weights,
                remarks,
            };
        };
        if chain.iter().any(|layer| layer.is_sparse()) {
            remarks.push(format!("sparse, {weights} weights"));
        }
        Shape::Network { sizes: network.sizes(), remarks }
    }
}

/// The names of the activations, each once. `ReLU` goes without saying if it is the only one.
fn activations(network: &Network) -> Vec<String> {
    let mut names: Vec<&str> = Vec::new();
    for layer in network.layers().filter(|layer| layer.activation() != Activation::Identity) {
        let name = layer.activation().name();
        if !names.contains(&name) {
            names.push(name);
        }
    }
    if names == [Activation::Relu.name()] {
        names.clear();
    }
    names.into_iter().map(String::from).collect()
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Shape::Network { sizes, remarks } => {
                let sizes: Vec<_> = sizes.iter().map(ToString::to_string).collect();
                write!(f, "neural network {}", sizes.join("-"))?;
                write_remarks(f, remarks)
            }
            Shape::Graph { inputs, outputs, nodes, neurons, weights, remarks } => {
                let counts = format!("{nodes} nodes, {neurons} neurons, {weights} weights");
                write!(f, "neural network {inputs}-{outputs} with {counts}")?;
                write_remarks(f, remarks)
            }
            Shape::Ensemble { inputs, outputs, trees, leaves, depth } => write!(
                f,
                "tree ensemble {inputs}-{outputs} with {trees} trees, {leaves} leaves, depth {depth}"
            ),
        }
    }
}

fn write_remarks(f: &mut fmt::Formatter<'_>, remarks: &[String]) -> fmt::Result {
    if remarks.is_empty() { Ok(()) } else { write!(f, " ({})", remarks.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::{Node, Source};
    use crate::parameter::Parameter;

    fn layer(inputs: usize, neurons: usize, activation: Activation) -> Layer {
        let zero = Parameter::from(0.0);
        Layer::new(inputs, vec![zero; inputs * neurons], vec![zero; neurons], activation)
            .expect("well formed")
    }

    fn sparse(inputs: usize, activation: Activation) -> Layer {
        let zero = Parameter::from(0.0);
        Layer::sparse(inputs, vec![vec![(1, zero)], vec![]], vec![zero; 2], activation).expect("well formed")
    }

    fn text(layers: Vec<Layer>) -> String {
        Shape::of_network(&Network::new(layers).expect("fits")).to_string()
    }

    #[test]
    fn chains_are_described_by_their_sizes() {
        let last = || layer(4, 2, Activation::Identity);
        assert_eq!(text(vec![layer(3, 4, Activation::Relu), last()]), "neural network 3-4-2");
        assert_eq!(text(vec![layer(3, 4, Activation::Tanh), last()]), "neural network 3-4-2 (tanh)");
        let mixed = vec![layer(3, 4, Activation::Relu), layer(4, 4, Activation::Tanh), last()];
        assert_eq!(text(mixed), "neural network 3-4-4-2 (relu, tanh)");
        let few = vec![layer(3, 4, Activation::Relu), sparse(4, Activation::Identity)];
        assert_eq!(text(few), "neural network 3-4-2 (sparse, 13 weights)");
    }

    #[test]
    fn graphs_are_described_by_counts() {
        let nodes = vec![
            Node::Layer { from: Source::Input, layer: layer(3, 2, Activation::Sigmoid) },
            Node::Layer { from: Source::Input, layer: sparse(3, Activation::Identity) },
            Node::Maximum { left: Source::Node(0), right: Source::Node(1) },
        ];
        let network = Network::from_nodes(3, nodes).expect("fits");
        assert_eq!(
            Shape::of_network(&network).to_string(),
            "neural network 3-2 with 3 nodes, 4 neurons, 7 weights (sigmoid)"
        );
    }
}
