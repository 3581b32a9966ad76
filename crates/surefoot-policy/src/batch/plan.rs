//! Where the values of a network's nodes are kept while a chunk is computed.
//!
//! A node's values are kept until the last node that reads them, and their memory is used again. A chain needs two
//! slots, which stay in the cache.

use crate::network::{Network, Source};

/// A slot for the inputs and for each node. Nodes whose values are needed at the same time have different slots.
#[derive(Debug)]
pub(super) struct Plan {
    input: usize,
    nodes: Vec<usize>,
    /// Number of values that each slot holds at most.
    sizes: Vec<usize>,
}

impl Plan {
    pub(super) fn new(network: &Network) -> Self {
        let count = network.nodes().len();
        // The last reader of the inputs, then of each node; a node that is never read is its own.
        let mut last_reader: Vec<usize> = std::iter::once(0).chain(0..count).collect();
        let place = |source| match source {
            Source::Input => 0,
            Source::Node(node) => node as usize + 1,
        };
        for (index, node) in network.nodes().iter().enumerate() {
            for source in node.sources() {
                last_reader[place(source)] = index;
            }
        }
        let mut expiring: Vec<Vec<usize>> = vec![Vec::new(); count];
        for (value, &reader) in last_reader.iter().enumerate() {
            expiring[reader].push(value);
        }
        let (mut slots, mut sizes, mut free) = (vec![0], vec![network.inputs()], Vec::new());
        for (index, expiring) in expiring.iter().enumerate() {
            let slot = free.pop().unwrap_or_else(|| {
                sizes.push(0);
                sizes.len() - 1
            });
            slots.push(slot);
            sizes[slot] = sizes[slot].max(network.size(Source::Node(index as u32)));
            free.extend(expiring.iter().map(|&value| slots[value]));
        }
        Plan { input: 0, nodes: slots.split_off(1), sizes }
    }

    /// The slot of a source.
    pub(super) fn slot(&self, source: Source) -> usize {
        match source {
            Source::Input => self.input,
            Source::Node(node) => self.nodes[node as usize],
        }
    }

    /// Number of values that each slot holds at most.
    pub(super) fn sizes(&self) -> &[usize] {
        &self.sizes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layer::{Activation, Layer};
    use crate::network::Node;
    use crate::parameter::Parameter;

    fn layer(from: Source, inputs: usize, neurons: usize) -> Node {
        let zero = Parameter::from(0.0);
        let layer = Layer::new(inputs, vec![zero; inputs * neurons], vec![zero; neurons], Activation::Relu);
        Node::Layer { from, layer: layer.expect("well formed") }
    }

    #[test]
    fn a_chain_needs_two_slots() {
        let node = Source::Node;
        let nodes = vec![
            layer(Source::Input, 3, 9),
            layer(node(0), 9, 5),
            layer(node(1), 5, 4),
            layer(node(2), 4, 2),
        ];
        let plan = Plan::new(&Network::from_nodes(3, nodes).expect("fits"));
        assert_eq!(plan.nodes, [1, 0, 1, 0]);
        assert_eq!(plan.sizes, [5, 9]);
    }

    #[test]
    fn values_are_kept_until_they_are_read_for_the_last_time() {
        let node = Source::Node;
        let nodes = vec![
            layer(Source::Input, 3, 4),
            layer(node(0), 4, 4),
            layer(node(0), 4, 4),
            Node::Maximum { left: node(1), right: node(0) },
            Node::Maximum { left: node(3), right: node(3) },
            layer(Source::Input, 3, 2),
        ];
        let plan = Plan::new(&Network::from_nodes(3, nodes).expect("fits"));
        // The third layer is never read: its slot is free at once.
        assert_eq!(plan.nodes, [1, 2, 3, 3, 2, 2]);
    }
}
