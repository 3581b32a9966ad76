//! The network while it is built: one node per operator, then made smaller without changing any rounding.
//!
//! A pass over the finished graph drops what the output does not depend on, and merges a pointwise layer (weight 1,
//! one input per neuron) into the layer before it if nothing else reads that one:
//!
//! - a bias, if the layer before has none: `(sum + 0) + b` is `sum + b`;
//! - an activation, if there is no bias in between: `1 · x + 0` is `x`.
//!
//! Zeros may change their sign by this, which no decision depends on.

use crate::layer::{Activation, Layer};
use crate::network::{Element, Network, Node, Source};
use crate::parameter::Parameter;
use crate::shape::ShapeError;

const ZERO: Parameter = Parameter { double: 0.0, single: 0.0 };
const ONE: Parameter = Parameter { double: 1.0, single: 1.0 };

/// Fewer weights than this are not worth a sparse layer.
const SMALL: usize = 256;

/// The weights of a layer: all of them, or for each neuron those that are there.
#[derive(Debug, Clone)]
pub(super) enum Weights {
    /// Those of neuron 0, then those of neuron 1, and so on.
    Dense(Vec<Parameter>),
    /// Inputs in ascending order, with their weights.
    Sparse(Vec<Vec<(u32, Parameter)>>),
}

#[derive(Debug)]
struct DraftLayer {
    from: Source,
    weights: Weights,
    biases: Vec<Parameter>,
    activation: Activation,
}

#[derive(Debug)]
enum Draft {
    Layer(DraftLayer),
    Other(Node),
}

/// Nodes so far.
#[derive(Debug)]
pub(super) struct Builder {
    inputs: usize,
    drafts: Vec<Draft>,
    sizes: Vec<usize>,
}

impl Builder {
    pub(super) fn new(inputs: usize) -> Builder {
        Builder { inputs, drafts: Vec::new(), sizes: Vec::new() }
    }

    /// The inputs of the network, one by one.
    pub(super) fn inputs(&self) -> Vec<Element> {
        all(Source::Input, self.inputs)
    }

    /// A node whose values are these elements, or the node that they are already.
    pub(super) fn source(&mut self, elements: &[Element]) -> Source {
        if let Some(source) = only_source(elements)
            && self.size(source) == elements.len()
            && elements.iter().enumerate().all(|(index, element)| element.index as usize == index)
        {
            return source;
        }
        self.push(Draft::Other(Node::Arrange { elements: elements.to_vec() }), elements.len())
    }

    /// An affine map of these elements.
    pub(super) fn layer(
        &mut self,
        elements: &[Element],
        weights: Weights,
        biases: Vec<Parameter>,
    ) -> Vec<Element> {
        let from = self.source(elements);
        let weights = thinned(weights, elements.len());
        self.push_layer(DraftLayer { from, weights, biases, activation: Activation::Identity })
    }

    /// `activation(weight · element + bias)` for each element.
    pub(super) fn pointwise(
        &mut self,
        elements: &[Element],
        weights: &[Parameter],
        biases: Vec<Parameter>,
        activation: Activation,
    ) -> Vec<Element> {
        // A sparse layer can choose what it reads by itself if all is in one place.
        let single = only_source(elements);
        let from = single.unwrap_or_else(|| self.source(elements));
        let index = |position: usize| match single {
            Some(_) => elements[position].index,
            None => position as u32,
        };
        let rows = weights.iter().enumerate().map(|(position, &weight)| vec![(index(position), weight)]);
        let weights = Weights::Sparse(rows.collect());
        self.push_layer(DraftLayer { from, weights, biases, activation })
    }

    /// An activation of each element.
    pub(super) fn activate(&mut self, elements: &[Element], activation: Activation) -> Vec<Element> {
        let count = elements.len();
        self.pointwise(elements, &vec![ONE; count], vec![ZERO; count], activation)
    }

    /// Constants as values of the network.
    pub(super) fn constants(&mut self, numbers: &[Parameter]) -> Vec<Element> {
        let weights = Weights::Sparse(vec![Vec::new(); numbers.len()]);
        let biases = numbers.to_vec();
        let activation = Activation::Identity;
        self.push_layer(DraftLayer { from: Source::Input, weights, biases, activation })
    }

    /// The larger of two elements, pair by pair.
    pub(super) fn maximum(&mut self, left: &[Element], right: &[Element]) -> Vec<Element> {
        let (left_source, right_source) = (self.source(left), self.source(right));
        let node = Node::Maximum { left: left_source, right: right_source };
        let source = self.push(Draft::Other(node), left.len());
        all(source, left.len())
    }

    /// Each element divided by a number.
    pub(super) fn quotient(&mut self, elements: &[Element], divisors: Vec<Parameter>) -> Vec<Element> {
        let from = self.source(elements);
        let source = self.push(Draft::Other(Node::Quotient { from, divisors }), elements.len());
        all(source, elements.len())
    }

    fn size(&self, source: Source) -> usize {
        match source {
            Source::Input => self.inputs,
            Source::Node(node) => self.sizes[node as usize],
        }
    }

    fn push_layer(&mut self, layer: DraftLayer) -> Vec<Element> {
        let count = layer.biases.len();
        let source = self.push(Draft::Layer(layer), count);
        all(source, count)
    }

    fn push(&mut self, draft: Draft, size: usize) -> Source {
        let node = self.drafts.len() as u32;
        self.drafts.push(draft);
        self.sizes.push(size);
        Source::Node(node)
    }
}

/// The sum that a value is: how many terms it has, and the magnitude of the constants among them, as singles.
pub(super) struct SumBefore {
    pub(super) terms: usize,
    pub(super) bias: f64,
}

/// What values are made of.
impl Builder {
    /// The sum that gives this value: that of a layer without activation, which may be a product of matrices and a bias that was
    /// added to it.
    pub(super) fn sum_before(&self, element: Element) -> SumBefore {
        let mut sum = SumBefore { terms: 0, bias: 0.0 };
        let mut next = Some(element);
        for _ in 0..2 {
            let Some((layer, index)) = next.and_then(|element| self.linear_layer(element)) else { break };
            sum.terms += layer.weights.terms(index, self.size(layer.from));
            sum.bias += f64::from(layer.biases[index].single.abs());
            next = layer.copied(index);
        }
        sum
    }

    /// The layer without activation whose value this is, and the index there.
    fn linear_layer(&self, element: Element) -> Option<(&DraftLayer, usize)> {
        match &self.drafts[node_of(element.source)? as usize] {
            Draft::Layer(layer) if layer.activation == Activation::Identity => {
                Some((layer, element.index as usize))
            }
            _ => None,
        }
    }
}

impl Weights {
    /// How many weights a neuron has.
    fn terms(&self, neuron: usize, inputs: usize) -> usize {
        match self {
            Weights::Dense(_) => inputs,
            Weights::Sparse(rows) => rows[neuron].len(),
        }
    }
}

impl DraftLayer {
    /// The value to which a neuron adds nothing but its bias.
    fn copied(&self, neuron: usize) -> Option<Element> {
        let Weights::Sparse(rows) = &self.weights else { return None };
        match rows[neuron][..] {
            [(index, weight)] if weight == ONE => Some(Element { source: self.from, index }),
            _ => None,
        }
    }
}

/// The finished network.
impl Builder {
    /// The network whose outputs are these elements.
    pub(super) fn finish(mut self, outputs: &[Element]) -> Result<Network, ShapeError> {
        let last = match self.source(outputs) {
            Source::Node(node) => node as usize,
            Source::Input => {
                let node = Node::Arrange { elements: outputs.to_vec() };
                self.push(Draft::Other(node), outputs.len());
                self.drafts.len() - 1
            }
        };
        let readers = self.readers(last);
        let mut kept: Vec<Draft> = Vec::new();
        let mut places = vec![0_u32; self.drafts.len()];
        for (index, mut draft) in self.drafts.into_iter().enumerate() {
            if readers[index] == 0 {
                continue;
            }
            let single = match draft.source() {
                Some(Source::Node(before)) => readers[before as usize] == 1,
                _ => false,
            };
            draft.redirect(&places);
            if single
                && let Some(before) = kept_before(&mut kept, &draft)
                && merge(before, &mut draft)
            {
                places[index] = draft.source().and_then(node_of).expect("it reads the layer before");
                continue;
            }
            places[index] = kept.len() as u32;
            kept.push(draft);
        }
        let inputs = self.inputs;
        let mut sizes = Vec::with_capacity(kept.len());
        let mut nodes = Vec::with_capacity(kept.len());
        for draft in kept {
            let (node, size) = draft.finish(inputs, &sizes)?;
            nodes.push(node);
            sizes.push(size);
        }
        Network::from_nodes(inputs, nodes)
    }

    /// How many nodes read each node, of those that the last one depends on; the last one counts as read.
    fn readers(&self, last: usize) -> Vec<usize> {
        let mut readers = vec![0; self.drafts.len()];
        readers[last] = 1;
        for index in (0..=last).rev() {
            if readers[index] == 0 {
                continue;
            }
            let mut sources = self.drafts[index].sources();
            // Element by element: equal neighbours count once.
            sources.dedup();
            for source in sources {
                if let Source::Node(node) = source {
                    readers[node as usize] += 1;
                }
            }
        }
        readers
    }
}

impl Draft {
    fn sources(&self) -> Vec<Source> {
        match self {
            Draft::Layer(layer) => vec![layer.from],
            Draft::Other(node) => node.sources(),
        }
    }

    /// What the draft reads if it is a layer.
    fn source(&self) -> Option<Source> {
        match self {
            Draft::Layer(layer) => Some(layer.from),
            Draft::Other(_) => None,
        }
    }

    /// Follows the nodes to their new places.
    fn redirect(&mut self, places: &[u32]) {
        let moved = |source: &mut Source| {
            if let Source::Node(node) = source {
                *node = places[*node as usize];
            }
        };
        match self {
            Draft::Layer(layer) => moved(&mut layer.from),
            Draft::Other(Node::Arrange { elements }) => {
                for element in elements {
                    moved(&mut element.source);
                }
            }
            Draft::Other(Node::Maximum { left, right }) => {
                moved(left);
                moved(right);
            }
            Draft::Other(Node::Quotient { from, .. } | Node::Layer { from, .. }) => moved(from),
        }
    }

    /// The node, and how many values it has.
    fn finish(self, inputs: usize, sizes: &[usize]) -> Result<(Node, usize), ShapeError> {
        let layer = match self {
            Draft::Layer(layer) => layer,
            Draft::Other(node) => {
                let size = match &node {
                    Node::Arrange { elements } => elements.len(),
                    Node::Quotient { divisors, .. } => divisors.len(),
                    Node::Layer { layer, .. } => layer.neurons(),
                    Node::Maximum { left, .. } => node_of(*left).map_or(inputs, |node| sizes[node as usize]),
                };
                return Ok((node, size));
            }
        };
        let DraftLayer { from, weights, biases, activation } = layer;
        let read = node_of(from).map_or(inputs, |node| sizes[node as usize]);
        let size = biases.len();
        let layer = match weights {
            Weights::Dense(weights) => Layer::new(read, weights, biases, activation)?,
            Weights::Sparse(rows) => Layer::sparse(read, rows, biases, activation)?,
        };
        Ok((Node::Layer { from, layer }, size))
    }
}

/// The layer that a draft reads, if it reads one alone.
fn kept_before<'k>(kept: &'k mut [Draft], draft: &Draft) -> Option<&'k mut DraftLayer> {
    match kept.get_mut(node_of(draft.source()?)? as usize)? {
        Draft::Layer(layer) => Some(layer),
        Draft::Other(_) => None,
    }
}

/// Merges a pointwise layer into the one before it, whose only reader it is; whether that was possible.
fn merge(before: &mut DraftLayer, draft: &mut Draft) -> bool {
    let Draft::Layer(layer) = draft else { return false };
    if before.activation != Activation::Identity || !copies(layer, before.biases.len()) {
        return false;
    }
    if layer.biases.iter().any(|&bias| bias != ZERO) {
        if before.biases.iter().any(|&bias| bias != ZERO) {
            return false;
        }
        before.biases = std::mem::take(&mut layer.biases);
    }
    before.activation = layer.activation;
    true
}

/// Whether neuron `i` of the layer reads only value `i` of `inputs` values, with weight 1.
fn copies(layer: &DraftLayer, inputs: usize) -> bool {
    let Weights::Sparse(rows) = &layer.weights else { return false };
    let copies = |(index, row): (usize, &Vec<(u32, Parameter)>)| row[..] == [(index as u32, ONE)];
    rows.len() == inputs && rows.iter().enumerate().all(copies)
}

/// Leaves out weights 0 if most are: they add zeros, which change no finite sum.
fn thinned(weights: Weights, inputs: usize) -> Weights {
    let Weights::Dense(dense) = &weights else { return weights };
    let there = dense.iter().filter(|weight| weight.double != 0.0).count();
    if dense.len() < SMALL || there * 4 >= dense.len() {
        return weights;
    }
    let row = |row: &[Parameter]| {
        let weights = row.iter().enumerate().filter(|(_, weight)| weight.double != 0.0);
        weights.map(|(input, &weight)| (input as u32, weight)).collect()
    };
    Weights::Sparse(dense.chunks_exact(inputs).map(row).collect())
}

fn all(source: Source, count: usize) -> Vec<Element> {
    (0..count as u32).map(|index| Element { source, index }).collect()
}

fn only_source(elements: &[Element]) -> Option<Source> {
    let first = elements.first()?.source;
    elements.iter().all(|element| element.source == first).then_some(first)
}

fn node_of(source: Source) -> Option<u32> {
    match source {
        Source::Input => None,
        Source::Node(node) => Some(node),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::point::network_values;

    fn numbers(values: &[f64]) -> Vec<Parameter> {
        values.iter().map(|&value| Parameter::from(value)).collect()
    }

    #[test]
    fn a_bias_and_an_activation_join_the_layer_before() {
        let mut builder = Builder::new(2);
        let inputs = builder.inputs();
        let product =
            builder.layer(&inputs, Weights::Dense(numbers(&[1.0, 2.0, 3.0, 4.0])), numbers(&[0.0; 2]));
        let sum = builder.pointwise(&product, &[ONE; 2], numbers(&[5.0, -60.0]), Activation::Identity);
        let relu = builder.activate(&sum, Activation::Relu);
        let network = builder.finish(&relu).expect("well formed");
        let chain = network.chain().expect("a chain");
        assert_eq!((chain.len(), chain[0].activation(), chain[0].is_sparse()), (1, Activation::Relu, false));
        assert_eq!(network_values::<f64>(&network, &[1, 2]), [10.0, 0.0]);
    }

    #[test]
    fn a_layer_with_two_readers_stays_as_it_is() {
        let mut builder = Builder::new(1);
        let inputs = builder.inputs();
        let product = builder.layer(&inputs, Weights::Dense(numbers(&[-2.0])), numbers(&[0.0]));
        let relu = builder.activate(&product, Activation::Relu);
        let both = [product, relu].concat();
        let network = builder.finish(&both).expect("well formed");
        assert_eq!(network_values::<f64>(&network, &[3]), [-6.0, 0.0]);
    }

    #[test]
    fn scaled_and_shifted_layers_keep_their_roundings() {
        let mut builder = Builder::new(1);
        let inputs = builder.inputs();
        let product = builder.layer(&inputs, Weights::Dense(numbers(&[0.1])), numbers(&[0.3]));
        let shifted = builder.pointwise(&product, &[ONE], numbers(&[0.7]), Activation::Identity);
        let scaled = builder.pointwise(&shifted, &[Parameter::from(1.1)], numbers(&[0.0]), Activation::Tanh);
        let network = builder.finish(&scaled).expect("well formed");
        assert_eq!(network.nodes().len(), 3);
        let expected = libm::tanh(((0.1 * 3.0 + 0.3) + 0.7) * 1.1);
        assert_eq!(network_values::<f64>(&network, &[3]), [expected]);
    }

    #[test]
    fn what_the_output_does_not_need_is_dropped() {
        let mut builder = Builder::new(2);
        let inputs = builder.inputs();
        builder.activate(&inputs, Activation::Sigmoid);
        let swapped = [inputs[1], inputs[0]];
        let network = builder.finish(&swapped).expect("well formed");
        assert_eq!(network.nodes().len(), 1);
        assert_eq!(network_values::<f64>(&network, &[1, 2]), [2.0, 1.0]);
        let builder = Builder::new(2);
        let outputs = builder.inputs();
        let network = builder.finish(&outputs).expect("well formed");
        assert_eq!(network_values::<f64>(&network, &[1, 2]), [1.0, 2.0]);
    }

    #[test]
    fn mostly_zero_matrices_become_sparse() {
        let mut weights = vec![ZERO; 400];
        weights[21] = ONE;
        let mut builder = Builder::new(20);
        let inputs = builder.inputs();
        let product = builder.layer(&inputs, Weights::Dense(weights), vec![ZERO; 20]);
        let network = builder.finish(&product).expect("well formed");
        let layer = network.chain().expect("a chain")[0];
        assert_eq!((layer.is_sparse(), layer.stored()), (true, 1));
        assert_eq!(layer.row(1).collect::<Vec<_>>(), [(1, ONE)]);
    }
}
