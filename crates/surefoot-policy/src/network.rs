//! Neural networks: directed acyclic graphs of layers.
//!
//! A [`Layer`] is an affine map, dense or sparse, followed by an element-wise [`Activation`]. Most networks are chains
//! of layers. Skip connections, attention-free modules and pooled features need three more kinds of [`Node`]:
//! rearranging values, element-wise maxima and division by constants. Sums of nodes are layers over rearranged
//! values, with weights 1, which round exactly as a sum does.

use crate::layer::Layer;
use crate::parameter::Parameter;
use crate::shape::ShapeError;

/// Where a node reads its values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Source {
    /// The inputs of the network.
    Input,
    /// The values of a node before the reading one, by its index.
    Node(u32),
}

/// One value of a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Element {
    /// Whose value.
    pub source: Source,
    /// Its index there.
    pub index: u32,
}

/// A step of a network: it computes a vector of values from the vectors of steps before it.
#[derive(Debug, Clone, PartialEq)]
pub enum Node {
    /// An affine map and an activation.
    Layer {
        /// What the layer reads.
        from: Source,
        /// What it does.
        layer: Layer,
    },
    /// Values of other nodes, copied: concatenation, slicing, gathering, transposition.
    Arrange {
        /// Which value to copy, one per value of this node.
        elements: Vec<Element>,
    },
    /// The larger of two values, element by element.
    Maximum {
        /// First operand; its value stands unless it is below the other.
        left: Source,
        /// Second operand.
        right: Source,
    },
    /// Division by constants, element by element.
    Quotient {
        /// What is divided.
        from: Source,
        /// By what, one per value; none is 0.
        divisors: Vec<Parameter>,
    },
}

impl Node {
    /// What the node reads, with repetitions.
    pub fn sources(&self) -> Vec<Source> {
        match self {
            Node::Layer { from, .. } | Node::Quotient { from, .. } => vec![*from],
            Node::Maximum { left, right } => vec![*left, *right],
            Node::Arrange { elements } => elements.iter().map(|element| element.source).collect(),
        }
    }
}

/// A network. The values of its last node are its outputs.
#[derive(Debug, Clone, PartialEq)]
pub struct Network {
    inputs: usize,
    nodes: Vec<Node>,
    /// Number of values of each node.
    sizes: Vec<usize>,
}

impl Network {
    /// A chain of layers, each reading the values of the one before.
    pub fn new(layers: Vec<Layer>) -> Result<Network, ShapeError> {
        let inputs = layers.first().ok_or(ShapeError::NoLayers)?.inputs();
        let before = |index: usize| if index == 0 { Source::Input } else { Source::Node(index as u32 - 1) };
        let node = |(index, layer)| Node::Layer { from: before(index), layer };
        Network::from_nodes(inputs, layers.into_iter().enumerate().map(node).collect())
    }

    /// A graph whose nodes fit together, each reading nodes before it only.
    pub fn from_nodes(inputs: usize, nodes: Vec<Node>) -> Result<Network, ShapeError> {
        if nodes.is_empty() {
            return Err(ShapeError::NoLayers);
        }
        let mut sizes = Vec::with_capacity(nodes.len());
        for (index, node) in nodes.iter().enumerate() {
            let size = size_of(index, node, inputs, &sizes)?;
            if size == 0 {
                return Err(ShapeError::EmptyNode { node: index });
            }
            sizes.push(size);
        }
        Ok(Network { inputs, nodes, sizes })
    }

    /// The nodes, each after those that it reads.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The layers among the nodes.
    pub fn layers(&self) -> impl Iterator<Item = &Layer> {
        self.nodes.iter().filter_map(|node| match node {
            Node::Layer { layer, .. } => Some(layer),
            Node::Arrange { .. } | Node::Maximum { .. } | Node::Quotient { .. } => None,
        })
    }

    /// The layers, if the network is a chain: each node is a layer that reads the one before.
    pub fn chain(&self) -> Option<Vec<&Layer>> {
        self.nodes
            .iter()
            .enumerate()
            .map(|(index, node)| match node {
                Node::Layer { from, layer } => {
                    let before =
                        index.checked_sub(1).map_or(Source::Input, |index| Source::Node(index as u32));
                    (*from == before).then_some(layer)
                }
                _ => None,
            })
            .collect()
    }

    /// Number of inputs.
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// Number of outputs.
    pub fn outputs(&self) -> usize {
        self.sizes[self.sizes.len() - 1]
    }

    /// Number of values of a source.
    pub fn size(&self, source: Source) -> usize {
        match source {
            Source::Input => self.inputs,
            Source::Node(node) => self.sizes[node as usize],
        }
    }

    /// Numbers of neurons of the layers, but for the last one. What other nodes rearrange or divide does not count.
    pub fn hidden_sizes(&self) -> Vec<usize> {
        let mut sizes: Vec<usize> = self.layers().map(Layer::neurons).collect();
        sizes.pop();
        sizes
    }

    /// Numbers of values, from the inputs over all nodes to the outputs.
    pub fn sizes(&self) -> Vec<usize> {
        std::iter::once(self.inputs).chain(self.sizes.iter().copied()).collect()
    }
}

/// The number of values of a node, if it fits to those before it, whose sizes are known.
fn size_of(index: usize, node: &Node, inputs: usize, sizes: &[usize]) -> Result<usize, ShapeError> {
    let size = |source| match source {
        Source::Input => Ok(inputs),
        Source::Node(node) => {
            sizes.get(node as usize).copied().ok_or(ShapeError::Order { node: index, reads: node as usize })
        }
    };
    let same = |expected, found| {
        if expected == found { Ok(found) } else { Err(ShapeError::Node { node: index, expected, found }) }
    };
    match node {
        Node::Layer { from, layer } => {
            let before = size(*from)?;
            if before != layer.inputs() {
                return Err(ShapeError::Layers { layer: index, inputs: layer.inputs(), before });
            }
            Ok(layer.neurons())
        }
        Node::Maximum { left, right } => same(size(*left)?, size(*right)?),
        Node::Quotient { from, divisors } => {
            if divisors.iter().any(|divisor| divisor.double == 0.0 || divisor.single == 0.0) {
                return Err(ShapeError::ZeroDivisor { node: index });
            }
            same(size(*from)?, divisors.len())
        }
        Node::Arrange { elements } => {
            for element in elements {
                let available = size(element.source)?;
                if element.index as usize >= available {
                    let found = element.index as usize;
                    return Err(ShapeError::Element { node: index, found, available });
                }
            }
            Ok(elements.len())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layer::Activation;

    fn layer(inputs: usize, neurons: usize) -> Layer {
        let zero = Parameter::from(0.0);
        Layer::new(inputs, vec![zero; inputs * neurons], vec![zero; neurons], Activation::Relu)
            .expect("well formed")
    }

    #[test]
    fn layers_must_fit_together() {
        assert_eq!(
            Network::new(vec![layer(2, 3), layer(4, 1)]),
            Err(ShapeError::Layers { layer: 1, inputs: 4, before: 3 })
        );
        let network = Network::new(vec![layer(2, 3), layer(3, 5)]).expect("fits");
        assert_eq!(network.sizes(), [2, 3, 5]);
        assert_eq!(network.chain().map(|layers| layers.len()), Some(2));
    }

    #[test]
    fn nodes_must_fit_together() {
        let from_input = || Node::Layer { from: Source::Input, layer: layer(2, 3) };
        let maximum = |left, right| Node::Maximum { left, right };
        assert_eq!(
            Network::from_nodes(2, vec![from_input(), maximum(Source::Input, Source::Node(0))]),
            Err(ShapeError::Node { node: 1, expected: 2, found: 3 })
        );
        assert_eq!(
            Network::from_nodes(2, vec![maximum(Source::Input, Source::Node(0))]),
            Err(ShapeError::Order { node: 0, reads: 0 })
        );
        let element = |index| Element { source: Source::Node(0), index };
        let arrange = |index| Node::Arrange { elements: vec![element(0), element(index)] };
        assert_eq!(
            Network::from_nodes(2, vec![from_input(), arrange(3)]),
            Err(ShapeError::Element { node: 1, found: 3, available: 3 })
        );
        let divided = |divisor| {
            let divisors = vec![Parameter::from(1.0), Parameter::from(divisor)];
            Network::from_nodes(2, vec![Node::Quotient { from: Source::Input, divisors }])
        };
        assert!(divided(2.0).is_ok());
        assert_eq!(divided(0.0), Err(ShapeError::ZeroDivisor { node: 0 }));
        let graph = Network::from_nodes(2, vec![from_input(), arrange(2)]).expect("fits");
        assert_eq!((graph.outputs(), graph.chain()), (2, None));
    }
}
