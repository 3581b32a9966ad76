//! Dense layers with their weights in the order in which the kernels read them.

use crate::layer::Layer;
use crate::parameter::Parameter;

/// Neurons that a kernel computes together.
pub(super) const BLOCK: usize = 4;

/// A layer, arranged for the kernels.
///
/// Neurons come in blocks of [`BLOCK`], the last one possibly smaller. Within a block of `m` neurons the weights are
/// sorted by input: `m` weights of input 0, then `m` weights of input 1, and so on.
#[derive(Debug)]
pub(super) struct DenseLayer<T> {
    pub(super) inputs: usize,
    pub(super) weights: Vec<T>,
    pub(super) biases: Vec<T>,
    /// Whether sums below 0 become 0.
    pub(super) relu: bool,
}

impl<T> DenseLayer<T> {
    /// Arranges a layer that is not sparse; `weight` makes a number of a weight, and `bias(neuron)` is what is added.
    pub(super) fn new(
        layer: &Layer,
        relu: bool,
        weight: impl Fn(Parameter) -> T,
        bias: impl Fn(usize) -> T,
    ) -> Self {
        let neurons = layer.neurons();
        let rows = |neuron| layer.weights(neuron).expect("the layer is dense");
        let mut weights = Vec::with_capacity(neurons * layer.inputs());
        for first in (0..neurons).step_by(BLOCK) {
            let block = first..(first + BLOCK).min(neurons);
            for input in 0..layer.inputs() {
                weights.extend(block.clone().map(|neuron| weight(rows(neuron)[input])));
            }
        }
        let biases = (0..neurons).map(bias).collect();
        DenseLayer { inputs: layer.inputs(), weights, biases, relu }
    }

    pub(super) fn neurons(&self) -> usize {
        self.biases.len()
    }
}
