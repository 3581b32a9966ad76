//! The meaning of a policy at one state: the definition that every faster evaluation must reproduce.
//!
//! **Inputs.** Each input is an integer. It is exact in `f64`; in `f32` an integer beyond 2²⁴ is rounded to nearest.
//!
//! **Layers.** A neuron with weights `w₀ … wₙ₋₁`, bias `b` and inputs `x₀ … xₙ₋₁` computes
//! `((w₀·x₀ + w₁·x₁) + … + wₙ₋₁·xₙ₋₁) + b`, from left to right, each product and each sum rounded to nearest on its own
//! (no fused multiply-add). A sparse layer sums the weights that it stores, in ascending order of the inputs; a neuron
//! without weights is its bias.
//!
//! **Activations** of a sum `x`; a comparison with NaN is false, so NaN goes to the last case:
//!
//! | activation | value |
//! |---|---|
//! | identity | `x` |
//! | `ReLU` | 0 if `x < 0`, else `x` |
//! | leaky `ReLU` | `slope · x`, rounded, if `x < 0`, else `x` |
//! | clip | `low` if `x < low`, else `high` if `x > high`, else `x` |
//! | tanh | `tanh x` |
//! | sigmoid | `1 / (1 + e⁻ˣ)` |
//! | ELU | `scale · (eˣ − 1)` if `x < 0`, else `x` |
//!
//! Tanh, `eˣ` and `eˣ − 1` are what `tanh`, `exp` and `expm1` of the crate `libm` return, in double precision. It is
//! portable code, so they are the same on every machine. The operations around them round each on its own, in double
//! precision too. In single precision the argument is converted to double precision, and the result is rounded to single
//! precision once. Each of them is NaN at NaN.
//!
//! **Other nodes.** An arrangement copies values. A maximum is its right operand if the left one is less, else the
//! left one; so it is NaN if the left operand is, and the left operand if the right one is NaN. A quotient is rounded to
//! nearest.
//!
//! The sign of a zero changes no decision: zeros compare equal, no divisor is 0, and no operation here tells them
//! apart otherwise.
//!
//! **Ensembles.** A split sends `x < t` left and `x ≥ t` right. The score of output `k` is
//! `((base + leaf of tree 0) + leaf of tree 1) + …`, each sum rounded to nearest.
//!
//! **Overflow.** Operations follow IEEE 754 into infinities and NaN. As a score, NaN counts as minus infinity.
//!
//! **Choice.** The highest score among the outputs that compete, the lowest index on ties. If none competes, none is
//! chosen.

use crate::arithmetic::Arithmetic;
use crate::enclosure::{self, Rounding};
use crate::ensemble::{Ensemble, Tree, TreeNode};
use crate::layer::{Activation, Layer};
use crate::network::{Network, Node, Source};
use crate::parameter::Number;
use crate::policy::{Policy, PolicyInput, Scorer};
use crate::real;
use crate::score::{Score, winners};

impl Policy {
    /// The scorer's inputs in a state (one value per variable of the system).
    pub fn input_values(&self, state: &[i32]) -> Vec<i32> {
        let value = |input: &PolicyInput| match *input {
            PolicyInput::Variable(variable) => state[variable.index()],
            PolicyInput::Constant(value) => value,
        };
        self.inputs.iter().map(value).collect()
    }

    /// The score of each output in a state. In `real`, where scores may be no doubles, it is an enclosure.
    pub fn scores(&self, arithmetic: Arithmetic, state: &[i32]) -> Vec<Score> {
        let inputs = self.input_values(state);
        match arithmetic {
            Arithmetic::F64 => exact_scores::<f64>(&self.scorer, &inputs),
            Arithmetic::F32 => exact_scores::<f32>(&self.scorer, &inputs),
            Arithmetic::Real => enclosure::scores(&self.scorer, &inputs, &Rounding::REAL),
            Arithmetic::AnyF32 => enclosure::scores(&self.scorer, &inputs, &Rounding::ANY_F32),
        }
    }

    /// The outputs that can be chosen in a state if those competing are `applicable`, ascending. In `f64` and `f32`
    /// that is one output, or none if none is applicable. In `real` it is too, but where tanh, sigmoid or ELU leave
    /// several enclosures that overlap.
    pub fn possible(
        &self,
        arithmetic: Arithmetic,
        state: &[i32],
        applicable: impl Fn(usize) -> bool,
    ) -> Vec<usize> {
        let scores = self.scores(arithmetic, state);
        let mut found = Vec::new();
        winners(scores.len(), |output| scores[output], applicable, |output| found.push(output));
        if arithmetic == Arithmetic::Real && found.len() > 1 {
            real::decide(&self.scorer, &self.input_values(state), &mut found);
        }
        found
    }
}

fn exact_scores<T: Number>(scorer: &Scorer, inputs: &[i32]) -> Vec<Score> {
    let values = match scorer {
        Scorer::Network(network) => network_values::<T>(network, inputs),
        Scorer::Ensemble(ensemble) => ensemble_values::<T>(ensemble, inputs),
    };
    values.into_iter().map(|value| Score::exactly(value.into())).collect()
}

/// The values of a network's outputs.
pub fn network_values<T: Number>(network: &Network, inputs: &[i32]) -> Vec<T> {
    let first: Vec<T> = inputs.iter().map(|&value| T::of_int(value)).collect();
    let mut all: Vec<Vec<T>> = Vec::with_capacity(network.nodes().len());
    for node in network.nodes() {
        let of = |source| match source {
            Source::Input => &first,
            Source::Node(node) => &all[node as usize],
        };
        let values = match node {
            Node::Layer { from, layer } => layer_values(layer, of(*from)),
            Node::Arrange { elements } => {
                elements.iter().map(|element| of(element.source)[element.index as usize]).collect()
            }
            Node::Maximum { left, right } => {
                let pairs = of(*left).iter().zip(of(*right));
                pairs.map(|(&left, &right)| if left < right { right } else { left }).collect()
            }
            Node::Quotient { from, divisors } => {
                of(*from).iter().zip(divisors).map(|(&value, &divisor)| value / T::of(divisor)).collect()
            }
        };
        all.push(values);
    }
    all.pop().expect("networks have nodes")
}

fn layer_values<T: Number>(layer: &Layer, inputs: &[T]) -> Vec<T> {
    let neuron = |neuron| activate(layer.activation(), weighted_sum(layer, neuron, inputs));
    (0..layer.neurons()).map(neuron).collect()
}

fn weighted_sum<T: Number>(layer: &Layer, neuron: usize, inputs: &[T]) -> T {
    let bias = T::of(layer.bias(neuron));
    let products = layer.row(neuron).map(|(input, weight)| T::of(weight) * inputs[input]);
    products.reduce(|sum, product| sum + product).map_or(bias, |sum| sum + bias)
}

/// What an activation makes of a weighted sum.
pub fn activate<T: Number>(activation: Activation, sum: T) -> T {
    match activation {
        Activation::Identity => sum,
        Activation::Relu => {
            if sum < T::ZERO {
                T::ZERO
            } else {
                sum
            }
        }
        Activation::LeakyRelu { slope } => {
            if sum < T::ZERO {
                T::of(slope) * sum
            } else {
                sum
            }
        }
        Activation::Tanh => sum.tanh(),
        Activation::Sigmoid => sum.sigmoid(),
        Activation::Elu { scale } => {
            if sum < T::ZERO {
                sum.elu(T::of(scale))
            } else {
                sum
            }
        }
        Activation::Clip { low, high } => {
            let (low, high) = (T::of(low), T::of(high));
            if sum < low {
                low
            } else if sum > high {
                high
            } else {
                sum
            }
        }
    }
}

/// The values of an ensemble's outputs.
pub fn ensemble_values<T: Number>(ensemble: &Ensemble, inputs: &[i32]) -> Vec<T> {
    let mut sums: Vec<T> = ensemble.base().iter().map(|&base| T::of(base)).collect();
    for tree in ensemble.trees() {
        for (sum, &value) in sums.iter_mut().zip(tree.values(leaf_of::<T>(tree, inputs))) {
            *sum = *sum + T::of(value);
        }
    }
    sums
}

/// The leaf of `tree` in which `inputs` end.
pub fn leaf_of<T: Number>(tree: &Tree, inputs: &[i32]) -> u32 {
    let mut index = 0;
    loop {
        match tree.nodes()[index as usize] {
            TreeNode::Leaf(leaf) => return leaf,
            TreeNode::Split { feature, threshold, left, right } => {
                let below = T::of_int(inputs[feature as usize]) < T::of(threshold);
                index = if below { left } else { right };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use surefoot_model::{LabelId, VarId};

    use crate::network::Element;
    use crate::parameter::Parameter;

    use super::*;

    fn numbers(values: &[f64]) -> Vec<Parameter> {
        values.iter().map(|&value| Parameter::from(value)).collect()
    }

    fn linear(inputs: usize, weights: &[f64], biases: &[f64], activation: Activation) -> Layer {
        Layer::new(inputs, numbers(weights), numbers(biases), activation).expect("well formed")
    }

    fn policy(scorer: Scorer) -> Policy {
        let inputs = (0..scorer.inputs()).map(|i| PolicyInput::Variable(VarId(i as u32))).collect();
        let outputs = (0..scorer.outputs()).map(|i| LabelId(i as u32)).collect();
        Policy::new(inputs, outputs, false, scorer).expect("fits")
    }

    fn network(layers: Vec<Layer>) -> Policy {
        policy(Scorer::Network(Network::new(layers).expect("fits")))
    }

    #[test]
    fn a_small_network_by_hand() {
        let hidden = linear(2, &[1.0, -1.0, -1.0, 1.0], &[0.5, 0.0], Activation::Relu);
        let output = linear(2, &[2.0, 0.0, 0.0, 3.0, 1.0, 1.0], &[0.0, 0.0, 1.0], Activation::Identity);
        let policy = network(vec![hidden, output]);
        // x = 3, y = 1: hidden = (2.5, 0), outputs = (5, 0, 3.5).
        assert_eq!(
            policy.scores(Arithmetic::F64, &[3, 1]),
            [Score::exactly(5.0), Score::exactly(0.0), Score::exactly(3.5)]
        );
        assert_eq!(policy.possible(Arithmetic::F64, &[3, 1], |_| true), [0]);
        assert_eq!(policy.possible(Arithmetic::F64, &[3, 1], |output| output != 0), [2]);
        assert_eq!(policy.possible(Arithmetic::F32, &[0, 4], |_| true), [1]);
        assert_eq!(policy.possible(Arithmetic::F32, &[0, 4], |_| false), [0; 0]);
    }

    #[test]
    fn sums_run_in_index_order() {
        // In order, 1 vanishes in 2^53 before the large terms cancel.
        let layer = linear(3, &[1.0, 1.0, 1.0], &[0.0], Activation::Identity);
        let wide =
            linear(3, &[9_007_199_254_740_992.0, 1.0, -9_007_199_254_740_992.0], &[0.0], layer.activation());
        assert_eq!(network(vec![wide]).scores(Arithmetic::F64, &[1, 1, 1]), [Score::exactly(0.0)]);
        assert_eq!(network(vec![layer]).scores(Arithmetic::F64, &[1, 1, 1]), [Score::exactly(3.0)]);
    }

    #[test]
    fn products_are_rounded_before_they_are_added() {
        let tenth = 1.0 + f64::EPSILON;
        let layer = linear(2, &[tenth, -1.0], &[0.0], Activation::Identity);
        let square = linear(1, &[tenth], &[-(1.0 + 2.0 * f64::EPSILON)], Activation::Identity);
        // tenth² = 1 + 2ε + ε² rounds to 1 + 2ε; a fused multiply-add would keep ε².
        let first = linear(1, &[tenth], &[0.0], Activation::Relu);
        assert_eq!(network(vec![first, square]).scores(Arithmetic::F64, &[1]), [Score::exactly(0.0)]);
        assert_eq!(network(vec![layer]).scores(Arithmetic::F64, &[1, 1]), [Score::exactly(f64::EPSILON)]);
    }

    #[test]
    fn large_inputs_are_rounded_in_single_precision() {
        let layer = linear(1, &[1.0], &[0.0], Activation::Identity);
        let policy = network(vec![layer]);
        assert_eq!(policy.scores(Arithmetic::F64, &[16_777_217]), [Score::exactly(16_777_217.0)]);
        assert_eq!(policy.scores(Arithmetic::F32, &[16_777_217]), [Score::exactly(16_777_216.0)]);
    }

    #[test]
    fn nan_scores_lose_and_tie_with_minus_infinity() {
        let hidden = linear(1, &[1e308, 1e308], &[0.0, 0.0], Activation::Relu);
        // Outputs: inf - inf = NaN, then -inf, then 1.
        let output =
            linear(2, &[10.0, -10.0, -10.0, -10.0, 0.0, 0.0], &[0.0, 0.0, 1.0], Activation::Identity);
        let policy = network(vec![hidden, output]);
        assert_eq!(policy.possible(Arithmetic::F64, &[1], |_| true), [2]);
        assert_eq!(policy.possible(Arithmetic::F64, &[1], |output| output < 2), [0]);
        assert_eq!(policy.possible(Arithmetic::F64, &[1], |output| output == 1), [1]);
        // The weights exceed single precision: every output is possible.
        assert_eq!(policy.possible(Arithmetic::AnyF32, &[1], |_| true), [0, 1, 2]);
    }

    #[test]
    fn activations_by_hand() {
        let number = Parameter::from;
        let at = |activation, value: f64| (activate(activation, value), activate(activation, value as f32));
        let leaky = Activation::LeakyRelu { slope: number(0.25) };
        assert_eq!((at(leaky, -2.0), at(leaky, 3.0)), ((-0.5, -0.5), (3.0, 3.0)));
        let clip = Activation::Clip { low: number(-1.0), high: number(6.0) };
        assert_eq!((at(clip, -2.0), at(clip, 7.0), at(clip, 0.5)), ((-1.0, -1.0), (6.0, 6.0), (0.5, 0.5)));
        let elu = Activation::Elu { scale: number(2.0) };
        assert_eq!(at(elu, 3.0), (3.0, 3.0));
        assert_eq!(at(elu, -1.0), (2.0 * libm::expm1(-1.0), (2.0 * libm::expm1(-1.0)) as f32));
        assert_eq!((at(elu, -1e9), at(Activation::Tanh, 1e9)), ((-2.0, -2.0), (1.0, 1.0)));
        assert_eq!((at(Activation::Sigmoid, 0.0), at(Activation::Sigmoid, -1e9)), ((0.5, 0.5), (0.0, 0.0)));
        assert_eq!(at(Activation::Tanh, 0.5), (libm::tanh(0.5), libm::tanh(0.5) as f32));
    }

    #[test]
    fn activations_keep_nan() {
        let number = Parameter::from;
        for activation in [
            Activation::Identity,
            Activation::Relu,
            Activation::LeakyRelu { slope: number(0.5) },
            Activation::Tanh,
            Activation::Sigmoid,
            Activation::Elu { scale: number(1.0) },
            Activation::Clip { low: number(0.0), high: number(1.0) },
        ] {
            assert!(activate(activation, f64::NAN).is_nan() && activate(activation, f32::NAN).is_nan());
        }
    }

    #[test]
    fn a_small_graph_by_hand() {
        let source = Source::Node;
        let rows = vec![vec![(1, Parameter::from(2.0))], vec![]];
        let sparse =
            Layer::sparse(2, rows, numbers(&[1.0, -3.0]), Activation::Identity).expect("well formed");
        let element = |source, index| Element { source, index };
        let nodes = vec![
            Node::Layer { from: Source::Input, layer: sparse },
            Node::Maximum { left: source(0), right: Source::Input },
            Node::Quotient { from: source(1), divisors: numbers(&[4.0, -2.0]) },
            Node::Arrange {
                elements: vec![element(source(2), 1), element(source(0), 0), element(source(2), 0)],
            },
        ];
        let policy = policy(Scorer::Network(Network::from_nodes(2, nodes).expect("fits")));
        // x = 10, y = 3: the layer is (7, -3), the maximum (10, 3), the quotient (2.5, -1.5).
        for arithmetic in [Arithmetic::F64, Arithmetic::F32] {
            assert_eq!(policy.scores(arithmetic, &[10, 3]), [-1.5, 7.0, 2.5].map(Score::exactly));
        }
    }

    #[test]
    fn maxima_of_nan_depend_on_the_side() {
        let layer = linear(1, &[1e308], &[0.0], Activation::Identity);
        let square = linear(1, &[1e308], &[0.0], Activation::Identity);
        let difference = Layer::new(2, numbers(&[1.0, -1.0]), numbers(&[0.0]), Activation::Identity);
        let element = Element { source: Source::Node(1), index: 0 };
        let source = Source::Node;
        let nodes = vec![
            Node::Layer { from: Source::Input, layer },
            Node::Layer { from: source(0), layer: square },
            Node::Arrange { elements: vec![element, element] },
            Node::Layer { from: source(2), layer: difference.expect("well formed") },
            Node::Maximum { left: source(3), right: Source::Input },
            Node::Maximum { left: Source::Input, right: source(3) },
        ];
        let network = Network::from_nodes(1, nodes.clone()).expect("fits");
        assert_eq!(network_values::<f64>(&network, &[1]), [1.0]);
        let network = Network::from_nodes(1, nodes[..5].to_vec()).expect("fits");
        assert!(network_values::<f64>(&network, &[1])[0].is_nan());
    }

    #[test]
    fn splits_send_equality_right() {
        let split = TreeNode::Split { feature: 0, threshold: Parameter::from(2.0), left: 1, right: 2 };
        let nodes = vec![split, TreeNode::Leaf(0), TreeNode::Leaf(1)];
        let tree = Tree::new(2, nodes, numbers(&[1.0, 0.0, 0.0, 1.0])).expect("well formed");
        let ensemble = Ensemble::new(1, numbers(&[0.25, 0.0]), vec![tree.clone(), tree]).expect("fits");
        let policy = policy(Scorer::Ensemble(ensemble));
        assert_eq!(policy.scores(Arithmetic::F64, &[1]), [Score::exactly(2.25), Score::exactly(0.0)]);
        assert_eq!(policy.scores(Arithmetic::F32, &[2]), [Score::exactly(0.25), Score::exactly(2.0)]);
    }

    #[test]
    fn constants_replace_variables() {
        let policy = network(vec![linear(2, &[1.0, 10.0], &[0.0], Activation::Identity)]);
        let mapped = policy.map_inputs(|variable| match variable {
            VarId(0) => PolicyInput::Constant(7),
            VarId(other) => PolicyInput::Variable(VarId(other - 1)),
        });
        assert_eq!(mapped.scores(Arithmetic::F64, &[3]), [Score::exactly(37.0)]);
        assert_eq!(mapped.variables(), [VarId(0)]);
    }
}
