//! Feed-forward neural networks with dense layers.

use crate::parameter::Parameter;
use crate::shape::ShapeError;

/// What a neuron does with its weighted sum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Activation {
    /// Negative sums become 0.
    Relu,
    /// The sum itself.
    Identity,
}

/// A dense layer: each neuron weighs all values of the layer before it.
#[derive(Debug, Clone, PartialEq)]
pub struct Layer {
    inputs: usize,
    weights: Vec<Parameter>,
    biases: Vec<Parameter>,
    activation: Activation,
}

impl Layer {
    /// A layer with one neuron per bias. `weights` holds the weights of neuron 0, then those of neuron 1, and so on.
    pub fn new(
        inputs: usize,
        weights: Vec<Parameter>,
        biases: Vec<Parameter>,
        activation: Activation,
    ) -> Result<Layer, ShapeError> {
        if inputs == 0 || biases.is_empty() {
            return Err(ShapeError::EmptyLayer);
        }
        if inputs.checked_mul(biases.len()) != Some(weights.len()) {
            return Err(ShapeError::Weights { inputs, neurons: biases.len(), weights: weights.len() });
        }
        Ok(Layer { inputs, weights, biases, activation })
    }

    /// Number of values that the layer reads.
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// Number of neurons.
    pub fn neurons(&self) -> usize {
        self.biases.len()
    }

    /// The weights of one neuron, one per input.
    pub fn weights(&self, neuron: usize) -> &[Parameter] {
        &self.weights[neuron * self.inputs..][..self.inputs]
    }

    /// The bias of one neuron.
    pub fn bias(&self, neuron: usize) -> Parameter {
        self.biases[neuron]
    }

    /// What the neurons do with their sums.
    pub fn activation(&self) -> Activation {
        self.activation
    }
}

/// A network of at least one layer, each reading the values of the one before.
#[derive(Debug, Clone, PartialEq)]
pub struct Network {
    layers: Vec<Layer>,
}

impl Network {
    /// A network whose layers fit together.
    pub fn new(layers: Vec<Layer>) -> Result<Network, ShapeError> {
        if layers.is_empty() {
            return Err(ShapeError::NoLayers);
        }
        for (before, pair) in layers.windows(2).enumerate() {
            if pair[0].neurons() != pair[1].inputs() {
                return Err(ShapeError::Layers {
                    layer: before + 1,
                    inputs: pair[1].inputs(),
                    before: pair[0].neurons(),
                });
            }
        }
        Ok(Network { layers })
    }

    /// The layers, first the one that reads the inputs.
    pub fn layers(&self) -> &[Layer] {
        &self.layers
    }

    /// Number of inputs.
    pub fn inputs(&self) -> usize {
        self.layers[0].inputs()
    }

    /// Number of outputs.
    pub fn outputs(&self) -> usize {
        self.layers[self.layers.len() - 1].neurons()
    }

    /// Sizes of all layers, from the inputs to the outputs.
    pub fn sizes(&self) -> Vec<usize> {
        std::iter::once(self.inputs()).chain(self.layers.iter().map(Layer::neurons)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
    }

    #[test]
    fn weights_must_fill_the_layer() {
        let zero = Parameter::from(0.0);
        let made = Layer::new(2, vec![zero; 3], vec![zero; 2], Activation::Identity);
        assert_eq!(made, Err(ShapeError::Weights { inputs: 2, neurons: 2, weights: 3 }));
        assert_eq!(Layer::new(0, vec![], vec![zero], Activation::Identity), Err(ShapeError::EmptyLayer));
    }
}
