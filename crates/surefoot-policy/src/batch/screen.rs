//! Deciding most states of a double-precision network in single precision.
//!
//! Single precision with fused multiply-adds takes a quarter of the time of double precision without. Its scores
//! differ from the double-precision ones by at most a bound that is cheap to compute in each state. Where all scores
//! of a state are further apart than twice that bound, they rank the outputs as the exact scores do; only the other
//! states are computed in double precision.
//!
//! # The bound
//!
//! `u = 2⁻²⁴`, `γ_k = k·u / (1 − k·u)`. Weights `W`, biases `b` and values `h` are those of double precision, `Ŵ`,
//! `b̂`, `ĥ` those of single precision. For a layer with `n` inputs, `n ≤ 2¹³`, in which nothing overflows, and input
//! errors `|ĥᵢ − hᵢ| ≤ eᵢ`:
//!
//! - rounding in single precision, in any order and with any fusing, is at most `γ_{n+1}·(Σ|Ŵᵢ||ĥᵢ| + |b̂|) + 2⁻¹⁴⁹·(n + 1)`, see [`crate::enclosure`]
//!   (nothing is flushed to zero here: Rust programs run with subnormal numbers, and so must a host that loads this code);
//! - parameters are nearest to the same text, so `|W − Ŵ| ≤ 1.01·u·|Ŵ| + 2⁻¹⁴⁹`, and the same for `b`;
//! - propagated errors are at most `Σ|Wᵢ|eᵢ`;
//! - rounding in double precision is below `2⁻³⁸·(Σ|Wᵢ|(|ĥᵢ| + eᵢ) + |b| + 2⁻¹⁰⁰⁰)`.
//!
//! With `V = |Ŵ| + 2⁻¹²⁰`, which covers all absolute errors of weights, the error of the sum is at most
//!
//! > `(1 + 4u)·Σ Vᵢ·eᵢ + κ·(Σ Vᵢ·|ĥᵢ| + |b̂|) + 2⁻¹⁴⁰·(n + 1)`  with  `κ = γ_{n+5}`.
//!
//! `κ` also covers the conversion of the inputs, `e ≤ 1.01·u·|x̂|`. Activations are 1-Lipschitz and keep the bound.
//! Unrolled over the layers, the error of output `k` is at most `c_k + Σ_l κ_l·Σᵢ Q_l[k, i]·|ĥ_l[i]|`, where `Q_l` is
//! the product of the matrices `(1 + 4u)·V` from layer `l` to the last, and `c_k` collects biases and constants. We
//! take the maximum over `k` of `c_k` and of each `Q_l[k, i]`, so a state costs one product per value of the network,
//! which it has anyway.
//!
//! The factors below are twice these numbers, for the two scores of a pair, times `1 + 2⁻⁸`. That pays for all
//! rounding on the way: their computation in double precision (below 2⁻³⁰), their conversion (`u`), the sum of at
//! most 2¹³ non-negative terms (2⁻¹⁰), and the subtraction of two scores (`u`). What could underflow is raised to the
//! smallest normal number.
//!
//! Only chains of dense layers with `ReLU` or no activation are screened: others are not 1-Lipschitz in both precisions at
//! once, since their parameters are rounded.
//!
//! Nothing overflows: that is checked once, for all inputs up to 2³¹. Networks in which something could are not
//! screened.

use super::LANES;
use super::dense::DenseLayer;
use super::instruction_set::InstructionSet;
use super::kernel;
use crate::layer::{Activation, Layer};
use crate::network::Network;
use crate::parameter::Parameter;

/// Networks with more inputs and hidden neurons than this are not screened.
const MOST_VALUES: usize = 1 << 13;

/// Networks with more outputs than this are not screened: there are too many pairs to compare.
const MOST_OUTPUTS: usize = 24;

/// A network in single precision with its distance from double precision.
#[derive(Debug)]
pub(super) struct Screen {
    layers: Vec<ScreenLayer>,
    /// The part of the bound that all states share.
    constant: f32,
}

#[derive(Debug)]
struct ScreenLayer {
    dense: DenseLayer<f32>,
    /// What each input of the layer contributes to the bound, per unit of its magnitude.
    factors: Vec<f32>,
}

/// The `V` of a weight.
fn magnitude(weight: Parameter) -> f64 {
    const ABSOLUTE_ERROR: f64 = 1.0 / (1_u128 << 120) as f64;
    f64::from(weight.single).abs() + ABSOLUTE_ERROR
}

impl Screen {
    /// Prepares a network; `None` if the bound does not hold for it or would not pay.
    pub(super) fn new(network: &Network) -> Option<Screen> {
        let chain = network.chain()?;
        let is_covered = |layer: &Layer| {
            !layer.is_sparse() && matches!(layer.activation(), Activation::Identity | Activation::Relu)
        };
        let values: usize = chain.iter().map(|layer| layer.inputs()).sum();
        if !chain.iter().all(|layer| is_covered(layer))
            || values > MOST_VALUES
            || network.outputs() > MOST_OUTPUTS
            || could_overflow(&chain)
        {
            return None;
        }
        let unit = 1.0 / (1 << 24) as f64;
        let scale = 2.0 * (1.0 + 1.0 / 256.0);
        // How much an error of each value of the current layer changes each output: one row per output.
        let outputs = network.outputs();
        let mut influence: Vec<Vec<f64>> = (0..outputs)
            .map(|row| (0..outputs).map(|column| f64::from(u8::from(row == column))).collect())
            .collect();
        let mut constants = vec![0.0; outputs];
        let mut layers = Vec::new();
        for layer in chain.into_iter().rev() {
            let roundings = (layer.inputs() + 5) as f64 * unit;
            let growth = roundings / (1.0 - roundings);
            let underflow = (layer.inputs() + 1) as f64 / (1_u128 << 100) as f64 / (1_u64 << 40) as f64;
            for (row, constant) in influence.iter_mut().zip(&mut constants) {
                let mut next = vec![0.0; layer.inputs()];
                for (neuron, &weight_of_neuron) in row.iter().enumerate() {
                    let bias = f64::from(layer.bias(neuron).single).abs();
                    *constant += weight_of_neuron * (growth * bias + underflow);
                    for (input, weight) in layer.row(neuron) {
                        next[input] += weight_of_neuron * magnitude(weight) * (1.0 + 4.0 * unit);
                    }
                }
                *row = next;
            }
            let factor = |input: usize| {
                let largest = influence.iter().map(|row| row[input]).fold(0.0, f64::max);
                (scale * growth * largest) as f32 + f32::MIN_POSITIVE
            };
            let relu = layer.activation() == Activation::Relu;
            let dense =
                DenseLayer::new(layer, relu, |weight| weight.single, |neuron| layer.bias(neuron).single);
            layers.push(ScreenLayer { dense, factors: (0..layer.inputs()).map(factor).collect() });
        }
        layers.reverse();
        let constant = (scale * constants.into_iter().fold(0.0, f64::max)) as f32;
        // The products of factors and values may underflow, by less than the second term in total.
        Some(Screen { layers, constant: constant + 2.0_f32.powi(-100) })
    }

    /// Computes the scores of a chunk in single precision. Gives a bit for each lane whose ranking they do not settle.
    pub(super) fn run(
        &self,
        set: InstructionSet,
        columns: &[i32],
        [current, next]: &mut [Vec<f32>; 2],
        scores: &mut [f32],
    ) -> u64 {
        let mut bounds = [self.constant; LANES];
        kernel::convert(set, columns, current);
        let (last, hidden) = self.layers.split_last().expect("networks have layers");
        for layer in hidden {
            kernel::add_magnitudes(set, &layer.factors, current, &mut bounds);
            kernel::dense_fused(set, &layer.dense, current, next);
            std::mem::swap(current, next);
        }
        kernel::add_magnitudes(set, &last.factors, current, &mut bounds);
        kernel::dense_fused(set, &last.dense, current, scores);
        let mut gaps = [f32::INFINITY; LANES];
        kernel::smallest_gaps(set, scores, &mut gaps);
        let settled = |(lane, (gap, bound)): (usize, (&f32, &f32))| u64::from(gap > bound) << lane;
        !gaps.iter().zip(&bounds).enumerate().map(settled).fold(0, |all, lane| all | lane)
    }
}

/// Whether some value of the network could leave single precision for some input.
fn could_overflow(chain: &[&Layer]) -> bool {
    const LIMIT: f64 = (1_u128 << 120) as f64;
    let mut largest = (1_u64 << 31) as f64;
    for layer in chain {
        let neuron = |neuron| {
            let weights: f64 = layer.row(neuron).map(|(_, weight)| magnitude(weight)).sum();
            (weights * largest + f64::from(layer.bias(neuron).single).abs()) * (1.0 + 1.0 / 256.0)
        };
        largest = (0..layer.neurons()).map(neuron).fold(0.0, f64::max);
        // Infinite parameters make it infinite.
        if largest > LIMIT {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::point::network_values;

    fn network(weight: f64, layers: usize) -> Network {
        let layer = |index| {
            let activation = if index + 1 == layers { Activation::Identity } else { Activation::Relu };
            let weights = [weight, -weight, weight, weight].map(Parameter::from).to_vec();
            Layer::new(2, weights, vec![Parameter::from(0.5); 2], activation).expect("well formed")
        };
        Network::new((0..layers).map(layer).collect()).expect("layers fit")
    }

    #[test]
    fn what_could_overflow_is_not_screened() {
        assert!(Screen::new(&network(1.0, 3)).is_some());
        assert!(Screen::new(&network(1e12, 2)).is_some());
        assert!(Screen::new(&network(1e12, 3)).is_none());
        assert!(Screen::new(&network(1e39, 1)).is_none());
    }

    #[test]
    fn close_scores_are_not_settled() {
        // The outputs of one layer are w·(x - y) + 0.5 and w·(x + y) + 0.5: they tie where y is 0.
        let screen = Screen::new(&network(0.3, 1)).expect("nothing overflows");
        let mut columns = vec![3; 2 * LANES];
        columns[LANES..].fill(1);
        columns[LANES + 5] = 0;
        let mut values = [vec![0.0; 2 * LANES], vec![0.0; 2 * LANES]];
        let mut scores = vec![0.0; 2 * LANES];
        for set in InstructionSet::ALL.into_iter().filter(|set| set.is_available()) {
            assert_eq!(screen.run(set, &columns, &mut values, &mut scores), 1 << 5);
        }
    }

    #[test]
    fn factors_grow_with_the_layers_behind() {
        let screen = Screen::new(&network(1.0, 3)).expect("nothing overflows");
        // Each layer of this network at most doubles an error; its bound has 7 roundings and a factor of 2.
        let growth = 2.0 * 7.0 / (1 << 24) as f32;
        for (layer, expected) in screen.layers.iter().zip([4.0, 2.0, 1.0]) {
            for factor in &layer.factors {
                assert!(*factor >= growth * expected && *factor < growth * expected * 1.01);
            }
        }
    }

    /// The bound is on what it claims to be: the distance of each score from that of the definition in double precision.
    #[test]
    fn scores_stay_within_half_the_bound() {
        let mut seed = 0_u64;
        let mut random = move |bound: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % bound
        };
        let mut closest = 0.0_f64;
        for round in 0..300_u64 {
            let sizes: Vec<usize> = (0..2 + random(3)).map(|_| 1 + random(40) as usize).collect();
            let outputs = sizes.len() - 1;
            // From weights of the size of trained ones to some that underflow in single precision.
            let range = [2, 8, 60, 300][(round % 4) as usize];
            let mut parameter = || {
                let mantissa = 1.0 + random(1 << 30) as f64 / (1 << 30) as f64;
                let sign = if random(2) == 0 { 1.0 } else { -1.0 };
                Parameter::from(sign * mantissa * 2.0_f64.powi(2 - random(range) as i32))
            };
            let layer = |index: usize| {
                let weights = (0..sizes[index] * sizes[index + 1]).map(|_| parameter()).collect();
                let biases = (0..sizes[index + 1]).map(|_| parameter()).collect();
                let activation = if index + 1 == outputs { Activation::Identity } else { Activation::Relu };
                Layer::new(sizes[index], weights, biases, activation).expect("well formed")
            };
            let network = Network::new((0..outputs).map(layer).collect()).expect("layers fit");
            let Some(screen) = Screen::new(&network) else { continue };
            let columns: Vec<i32> = (0..sizes[0] * LANES)
                .map(|_| match random(4) {
                    0 => random(1 << 32) as u32 as i32,
                    1 => 0,
                    _ => random(40) as i32 - 20,
                })
                .collect();
            let rows = *sizes.iter().max().expect("there are layers");
            for set in InstructionSet::ALL.into_iter().filter(|set| set.is_available()) {
                let mut bounds = [screen.constant; LANES];
                let mut values = [vec![0.0; rows * LANES], vec![0.0; rows * LANES]];
                let [current, next] = &mut values;
                kernel::convert(set, &columns, current);
                for layer in &screen.layers {
                    kernel::add_magnitudes(set, &layer.factors, current, &mut bounds);
                    kernel::dense_fused(set, &layer.dense, current, next);
                    std::mem::swap(current, next);
                }
                for lane in 0..LANES {
                    let inputs: Vec<i32> = columns.chunks_exact(LANES).map(|row| row[lane]).collect();
                    for (output, score) in network_values::<f64>(&network, &inputs).into_iter().enumerate() {
                        let distance = (f64::from(current[output * LANES + lane]) - score).abs();
                        let bound = f64::from(bounds[lane]) / 2.0;
                        assert!(distance <= bound, "{distance} > {bound}");
                        closest = closest.max(distance / bound);
                    }
                }
            }
        }
        assert!(closest > 0.05, "the bound is {} times too large", 1.0 / closest);
    }
}
