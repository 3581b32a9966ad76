//! Layers of neural networks: affine maps, dense or sparse, and what follows them.

use crate::parameter::Parameter;
use crate::shape::ShapeError;

/// What a neuron does with its weighted sum.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Activation {
    /// The sum itself.
    Identity,
    /// Negative sums become 0.
    Relu,
    /// Negative sums are multiplied by a slope.
    LeakyRelu {
        /// The slope, between 0 and 1.
        slope: Parameter,
    },
    /// The hyperbolic tangent.
    Tanh,
    /// The logistic function.
    Sigmoid,
    /// Negative sums `x` become `scale · (eˣ − 1)`.
    Elu {
        /// The scale, at least 0.
        scale: Parameter,
    },
    /// Sums are cut off at both ends.
    Clip {
        /// The least value; may be minus infinity, where nothing is cut off below.
        low: Parameter,
        /// The greatest value, not below `low`; may be infinity, where nothing is cut off above.
        high: Parameter,
    },
}

impl Activation {
    /// Its name in descriptions.
    pub fn name(self) -> &'static str {
        match self {
            Activation::Identity => "linear",
            Activation::Relu => "relu",
            Activation::LeakyRelu { .. } => "leaky relu",
            Activation::Tanh => "tanh",
            Activation::Sigmoid => "sigmoid",
            Activation::Elu { .. } => "elu",
            Activation::Clip { .. } => "clip",
        }
    }

    /// Whether it is made of linear pieces, so that exact values stay rational.
    pub fn is_piecewise_linear(self) -> bool {
        match self {
            Activation::Identity
            | Activation::Relu
            | Activation::LeakyRelu { .. }
            | Activation::Clip { .. } => true,
            Activation::Tanh | Activation::Sigmoid | Activation::Elu { .. } => false,
        }
    }
}

/// The weights of a layer.
#[derive(Debug, Clone, PartialEq)]
enum Weights {
    /// All weights of neuron 0, then those of neuron 1, and so on.
    Dense(Vec<Parameter>),
    /// The weights that are there; neuron `n` owns the entries from `starts[n]` to `starts[n + 1]`.
    Sparse { starts: Vec<usize>, entries: Vec<(u32, Parameter)> },
}

/// A layer: each neuron weighs some or all of the values that the layer reads.
#[derive(Debug, Clone, PartialEq)]
pub struct Layer {
    inputs: usize,
    weights: Weights,
    biases: Vec<Parameter>,
    activation: Activation,
}

impl Layer {
    /// A dense layer with one neuron per bias. `weights` holds the weights of neuron 0, then those of neuron 1, and
    /// so on.
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
        check(activation)?;
        Ok(Layer { inputs, weights: Weights::Dense(weights), biases, activation })
    }

    /// A sparse layer. Each row lists the inputs that a neuron reads, ascending, with their weights; a neuron may
    /// read none.
    pub fn sparse(
        inputs: usize,
        rows: Vec<Vec<(u32, Parameter)>>,
        biases: Vec<Parameter>,
        activation: Activation,
    ) -> Result<Layer, ShapeError> {
        if inputs == 0 || biases.is_empty() {
            return Err(ShapeError::EmptyLayer);
        }
        if rows.len() != biases.len() {
            return Err(ShapeError::Weights { inputs, neurons: biases.len(), weights: rows.len() });
        }
        for (neuron, row) in rows.iter().enumerate() {
            let ascends = row.windows(2).all(|pair| pair[0].0 < pair[1].0);
            if !ascends || row.last().is_some_and(|&(input, _)| input as usize >= inputs) {
                return Err(ShapeError::Row { neuron, inputs });
            }
        }
        check(activation)?;
        let mut starts = vec![0];
        starts.extend(rows.iter().scan(0, |end, row| {
            *end += row.len();
            Some(*end)
        }));
        let entries = rows.into_iter().flatten().collect();
        Ok(Layer { inputs, weights: Weights::Sparse { starts, entries }, biases, activation })
    }

    /// Number of values that the layer reads.
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// Number of neurons.
    pub fn neurons(&self) -> usize {
        self.biases.len()
    }

    /// Whether only some weights are stored. Sums run over the stored ones.
    pub fn is_sparse(&self) -> bool {
        matches!(self.weights, Weights::Sparse { .. })
    }

    /// Number of stored weights.
    pub fn stored(&self) -> usize {
        match &self.weights {
            Weights::Dense(weights) => weights.len(),
            Weights::Sparse { entries, .. } => entries.len(),
        }
    }

    /// Number of stored weights of a neuron: the products in its sum.
    pub fn terms(&self, neuron: usize) -> usize {
        match &self.weights {
            Weights::Dense(_) => self.inputs,
            Weights::Sparse { starts, .. } => starts[neuron + 1] - starts[neuron],
        }
    }

    /// The inputs that a neuron reads, ascending, with their weights.
    pub fn row(&self, neuron: usize) -> impl Iterator<Item = (usize, Parameter)> + Clone {
        let (dense, sparse) = match &self.weights {
            Weights::Dense(weights) => (&weights[neuron * self.inputs..][..self.inputs], &[][..]),
            Weights::Sparse { starts, entries } => (&[][..], &entries[starts[neuron]..starts[neuron + 1]]),
        };
        let sparse = sparse.iter().map(|&(input, weight)| (input as usize, weight));
        dense.iter().copied().enumerate().chain(sparse)
    }

    /// The weights of a neuron of a dense layer, one per input; `None` if the layer is sparse.
    pub fn weights(&self, neuron: usize) -> Option<&[Parameter]> {
        match &self.weights {
            Weights::Dense(weights) => Some(&weights[neuron * self.inputs..][..self.inputs]),
            Weights::Sparse { .. } => None,
        }
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

/// Refuses activations whose parameters make them something else, in either precision.
fn check(activation: Activation) -> Result<(), ShapeError> {
    let both = |parameter: Parameter| [parameter.double, parameter.single.into()];
    let sound = match activation {
        Activation::Identity | Activation::Relu | Activation::Tanh | Activation::Sigmoid => true,
        Activation::LeakyRelu { slope } => both(slope).iter().all(|slope| (0.0..=1.0).contains(slope)),
        Activation::Elu { scale } => both(scale).iter().all(|&scale| scale >= 0.0),
        Activation::Clip { low, high } => {
            let ordered = both(low).into_iter().zip(both(high)).all(|(low, high)| low <= high);
            ordered && low.double < f64::INFINITY && high.double > f64::NEG_INFINITY
        }
    };
    if sound { Ok(()) } else { Err(ShapeError::Activation) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_must_fill_the_layer() {
        let zero = Parameter::from(0.0);
        let made = Layer::new(2, vec![zero; 3], vec![zero; 2], Activation::Identity);
        assert_eq!(made, Err(ShapeError::Weights { inputs: 2, neurons: 2, weights: 3 }));
        assert_eq!(Layer::new(0, vec![], vec![zero], Activation::Identity), Err(ShapeError::EmptyLayer));
    }

    #[test]
    fn rows_list_inputs_in_order() {
        let one = Parameter::from(1.0);
        let sparse = |rows| Layer::sparse(3, rows, vec![one; 2], Activation::Relu);
        let layer = sparse(vec![vec![(0, one), (2, one)], vec![]]).expect("well formed");
        assert_eq!(layer.row(0).map(|(input, _)| input).collect::<Vec<_>>(), [0, 2]);
        assert_eq!((layer.row(1).count(), layer.stored()), (0, 2));
        let wrong = Err(ShapeError::Row { neuron: 1, inputs: 3 });
        assert_eq!(sparse(vec![vec![], vec![(1, one), (1, one)]]), wrong);
        assert_eq!(sparse(vec![vec![], vec![(3, one)]]), wrong);
    }

    #[test]
    fn activations_must_be_monotone() {
        let number = Parameter::from;
        let make = |activation| Layer::new(1, vec![number(1.0)], vec![number(0.0)], activation);
        assert!(make(Activation::Clip { low: number(-1.0), high: number(1.0) }).is_ok());
        let (low, high) = (number(f64::NEG_INFINITY), number(f64::INFINITY));
        assert!(make(Activation::Clip { low, high }).is_ok());
        for activation in [
            Activation::Clip { low: number(1.0), high: number(-1.0) },
            Activation::Clip { low: number(f64::INFINITY), high: number(f64::INFINITY) },
            Activation::Clip { low: number(0.0), high: Parameter { double: 1.0, single: -1.0 } },
            Activation::Clip { low: number(f64::NAN), high: number(1.0) },
            Activation::LeakyRelu { slope: number(1.1) },
            Activation::LeakyRelu { slope: number(-0.1) },
            Activation::Elu { scale: number(-1.0) },
        ] {
            assert_eq!(make(activation), Err(ShapeError::Activation));
        }
    }
}
