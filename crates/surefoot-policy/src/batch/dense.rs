//! Dense layers with their weights in the order in which the kernels read them.

use crate::layer::{Activation, Layer};

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
    pub(super) activation: Activation,
}

impl<T> DenseLayer<T> {
    /// Arranges a layer; `weight(neuron, input)` and `bias(neuron)` give its numbers.
    pub(super) fn new(
        layer: &Layer,
        activation: Activation,
        weight: impl Fn(usize, usize) -> T,
        bias: impl Fn(usize) -> T,
    ) -> Self {
        let neurons = layer.neurons();
        let mut weights = Vec::with_capacity(neurons * layer.inputs());
        for first in (0..neurons).step_by(BLOCK) {
            let block = first..(first + BLOCK).min(neurons);
            for input in 0..layer.inputs() {
                weights.extend(block.clone().map(|neuron| weight(neuron, input)));
            }
        }
        let biases = (0..neurons).map(bias).collect();
        DenseLayer { inputs: layer.inputs(), weights, biases, activation }
    }

    pub(super) fn neurons(&self) -> usize {
        self.biases.len()
    }
}
