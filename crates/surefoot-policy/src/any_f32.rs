//! Enclosures of everything that a single-precision evaluation could compute.
//!
//! Libraries evaluate a network in `f32` in an order of their own: blocked, vectorised, with the bias first or last,
//! with fused multiply-adds, with subnormal numbers flushed to zero or not. This module encloses the results of all
//! of them. What they share: parameters are the nearest singles to the text, inputs are integers converted to the
//! nearest single, each operation rounds to nearest, and each weighted sum is built from the products `wᵢ·xᵢ` and the
//! bias by additions.
//!
//! # Weighted sums
//!
//! Let `u = 2⁻²⁴`, `η = 2⁻¹²⁶` (the smallest normal single) and `γ_k = k·u / (1 − k·u)`. A sum of `n` products and a
//! bias takes `n` additions, so each product passes through at most `n + 1` roundings and the bias through at most
//! `n`, whatever the order and wherever operations are fused (N. Higham, *Accuracy and Stability of Numerical
//! Algorithms*, 2nd ed., §3.1 and §4.2). If nothing overflows, the computed sum `ŝ` of inputs `x̂` satisfies
//!
//! > `|ŝ − s| ≤ γ_{n+1}·(Σ|wᵢ||x̂ᵢ| + |b|) + U`  with  `s = Σ wᵢ·x̂ᵢ + b`.
//!
//! `U` covers subnormal numbers. An operation loses at most `η` when its result is subnormal or flushed, an addition at
//! most `2η` more when operands are flushed, a product at most `η·max(|w|, |x̂|)` more; adding the zero with which an
//! accumulator starts is exact but for a flush that is counted already. With `n` products, `n` additions and
//! a flush when the result is finally compared, all enlarged by later roundings by less than 1/10,
//! `U ≤ 6η·(n + 1) + 2η·Σ|wᵢ| + 2η·Σ|x̂ᵢ|`.
//!
//! # Enclosures
//!
//! Each value is enclosed by a centre `c` and a radius `r`, both doubles: `|x̂ − c| ≤ r`. For the next layer we
//! compute, in double precision and in the order of [`crate::point`],
//!
//! > `c' = Σ wᵢ·cᵢ + b`  and  `r' = Σ (|wᵢ| + 2⁻¹⁰⁰)·(rᵢ + g·(|cᵢ| + rᵢ)) + (g·|b| + 8η·(n + 1 + Σ|wᵢ|))`  with  `g = γ_{n+2}`.
//!
//! **Claim.** `|ŝ − c'| ≤ r'` for the computed `c'` and `r'`, if `n + 2 ≤ 2²⁰`. Let `M = Σ|wᵢ|(|cᵢ| + rᵢ) + |b|`,
//! which is at least `Σ|wᵢ||x̂ᵢ| + |b|`. Exactly, `|ŝ − Σ wᵢ·cᵢ − b| ≤ Σ|wᵢ|rᵢ + γ_{n+1}·M + U`. In double precision
//! `c'` is off by at most `2⁻³²·M`, and `r'` is computed as a sum of non-negative terms, so it loses at most the
//! fraction `2⁻³²` of itself, where `g ≤ 1/15`. Against that, `γ_{n+2} ≥ γ_{n+1} + u` gives `2⁻²⁴·M` to spare, far
//! more than `2⁻³²·M` and the loss from `Σ|wᵢ|rᵢ ≤ M` and `g·M` together. The last term of `r'` exceeds the first two
//! terms of `U` by `2η`, and `2⁻¹⁰⁰·g·(|cᵢ| + rᵢ) ≥ 2⁻¹⁰⁰·3u·|x̂ᵢ| > 8η·|x̂ᵢ|` covers the third, both with room for
//! the fraction `2⁻³²` and for the underflow of double precision (2⁻¹⁰⁷⁴ per operation). ∎
//!
//! **Overflow.** Every product and every partial sum is at most `(1 + γ_{n+1})·M + U`, and `r' ≥ g·M·(1 − 2⁻³²)`. So
//! if `r' ≤ g·2¹²⁶`, all of them are below 2¹²⁷ and nothing overflows. Otherwise, or if `r'` is NaN because a
//! parameter exceeds the range of single precision, the value is unknown: `c = 0`, `r = ∞`. No weight is 0 in `r'`,
//! so that spreads to all later layers.
//!
//! **`ReLU`** keeps an enclosure that lies above 0, turns one that lies below 0 into 0, and otherwise halves
//! `[0, c + r]`, with `c + r` enlarged by the factor `1 + 2⁻⁵⁰` against its own rounding.
//!
//! # Ensembles
//!
//! Splits compare the input with the threshold without rounding, so a state has one leaf per tree. The one exception is
//! a positive subnormal threshold, which 0 is below or not as the threshold is flushed to zero: an ensemble with such a
//! threshold has unknown scores. A score is the sum of `n` leaf values and the base score: the above with all `xᵢ = 1`
//! exactly, without products and therefore without `2⁻¹⁰⁰`.

// Batches compute enclosures in loops that are compiled for several instruction sets: everything must be inlined there.
#![allow(clippy::inline_always)]

use crate::ensemble::{Ensemble, Tree, TreeNode};
use crate::layer::{Activation, Layer};
use crate::network::Network;
use crate::parameter::{Number, Parameter};
use crate::point::leaf_of;
use crate::policy::Scorer;
use crate::score::Score;

/// The smallest normal single.
const SMALLEST_NORMAL: f64 = 1.0 / (1_u128 << 126) as f64;

/// Added to each weight's magnitude to cover inputs that are flushed to zero.
const FLUSHED_INPUT: f64 = 1.0 / (1_u128 << 100) as f64;

/// Sums of this many terms are too long for the proof.
const TOO_MANY_TERMS: usize = (1 << 20) - 1;

/// Everything that all single-precision evaluations agree to bound a value by.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Enclosure {
    pub(crate) centre: f64,
    pub(crate) radius: f64,
}

/// `γ_{terms + 2}`; NaN if there are too many terms for the proof, which makes the result unknown.
pub(crate) fn growth(terms: usize) -> f64 {
    if terms >= TOO_MANY_TERMS {
        return f64::NAN;
    }
    let product = (terms + 2) as f64 / (1 << 24) as f64;
    product / (1.0 - product)
}

/// The weight of an input's uncertainty.
pub(crate) fn magnitude(weight: Parameter) -> f64 {
    f64::from(weight.single).abs() + FLUSHED_INPUT
}

/// The part of a neuron's radius that does not depend on its inputs.
pub(crate) fn constant_radius(weights: &[Parameter], bias: Parameter) -> f64 {
    let sum: f64 = weights.iter().map(|weight| f64::from(weight.single).abs()).sum();
    let flushed = 8.0 * SMALLEST_NORMAL * ((weights.len() + 1) as f64 + sum);
    growth(weights.len()) * f64::from(bias.single).abs() + flushed
}

impl Enclosure {
    /// An input of the policy.
    #[inline(always)]
    pub(crate) fn of_int(value: i32) -> Self {
        Enclosure { centre: f64::from(f32::of_int(value)), radius: 0.0 }
    }

    /// What the value contributes to the radius of a sum, per unit of its weight.
    #[inline(always)]
    pub(crate) fn spread(self, growth: f64) -> f64 {
        self.radius + growth * (self.centre.abs() + self.radius)
    }

    /// The enclosure of a sum, or unknown if it could overflow.
    #[inline(always)]
    pub(crate) fn of_sum(centre: f64, radius: f64, growth: f64) -> Self {
        const LIMIT: f64 = (1_u128 << 126) as f64;
        // False for NaN too.
        if radius <= growth * LIMIT {
            Enclosure { centre, radius }
        } else {
            Enclosure { centre: 0.0, radius: f64::INFINITY }
        }
    }

    #[inline(always)]
    pub(crate) fn relu(self) -> Self {
        let top = (self.centre + self.radius) * (1.0 + 4.0 * f64::EPSILON);
        let middle = Enclosure { centre: top * 0.5, radius: top * 0.5 };
        let below = if self.centre <= -self.radius { Enclosure { centre: 0.0, radius: 0.0 } } else { middle };
        // What is unknown stays unknown: NaN would come of halving infinity.
        if self.centre >= self.radius || self.radius == f64::INFINITY { self } else { below }
    }

    #[inline(always)]
    pub(crate) fn activate(self, activation: Activation) -> Self {
        match activation {
            Activation::Relu => self.relu(),
            Activation::Identity => self,
            _ => todo!(),
        }
    }

    /// The ends of the enclosure, moved outwards by more than the rounding error of their computation.
    #[inline(always)]
    pub(crate) fn score(self) -> Score {
        let (lower, upper) = (self.centre - self.radius, self.centre + self.radius);
        let slack = 4.0 * f64::EPSILON;
        Score { lower: lower - lower.abs() * slack, upper: upper + upper.abs() * slack }
    }
}

/// Enclosures of all scores.
pub(crate) fn scores(scorer: &Scorer, inputs: &[i32]) -> Vec<Score> {
    let enclosures = match scorer {
        Scorer::Network(network) => network_enclosures(network, inputs),
        Scorer::Ensemble(ensemble) => ensemble_enclosures(ensemble, inputs),
    };
    enclosures.into_iter().map(Enclosure::score).collect()
}

fn network_enclosures(network: &Network, inputs: &[i32]) -> Vec<Enclosure> {
    let first = inputs.iter().map(|&value| Enclosure::of_int(value)).collect();
    network
        .chain()
        .expect("TODO")
        .into_iter()
        .fold(first, |values: Vec<_>, layer| layer_enclosures(layer, &values))
}

fn layer_enclosures(layer: &Layer, inputs: &[Enclosure]) -> Vec<Enclosure> {
    let growth = growth(layer.inputs());
    let neuron = |neuron| {
        let (weights, bias) = (layer.weights(neuron).expect("TODO"), layer.bias(neuron));
        let centres = weights.iter().zip(inputs).map(|(w, x)| f64::from(w.single) * x.centre);
        let radii = weights.iter().zip(inputs).map(|(&w, x)| magnitude(w) * x.spread(growth));
        let add = |sum: f64, term: f64| sum + term;
        let centre = centres.reduce(add).expect("layers have inputs") + f64::from(bias.single);
        let radius = radii.reduce(add).expect("layers have inputs") + constant_radius(weights, bias);
        Enclosure::of_sum(centre, radius, growth).activate(layer.activation())
    };
    (0..layer.neurons()).map(neuron).collect()
}

fn ensemble_enclosures(ensemble: &Ensemble, inputs: &[i32]) -> Vec<Enclosure> {
    let mut centres: Vec<f64> = ensemble.base().iter().map(|base| f64::from(base.single)).collect();
    let mut magnitudes: Vec<f64> = centres.iter().map(|centre| centre.abs()).collect();
    for tree in ensemble.trees() {
        let values = tree.values(leaf_of::<f32>(tree, inputs));
        for (output, value) in values.iter().enumerate() {
            centres[output] += f64::from(value.single);
            magnitudes[output] += f64::from(value.single).abs();
        }
    }
    let sums = centres.into_iter().zip(magnitudes);
    let terms = leaf_terms(ensemble);
    sums.map(|(centre, magnitude)| of_leaves(centre, magnitude, terms)).collect()
}

/// The number of leaf values in a score; too many for the proof, which makes the result unknown, if a leaf depends on
/// what is flushed to zero.
pub(crate) fn leaf_terms(ensemble: &Ensemble) -> usize {
    let is_flushable = |node: &TreeNode| match node {
        TreeNode::Split { threshold, .. } => threshold.single > 0.0 && threshold.single.is_subnormal(),
        TreeNode::Leaf(_) => false,
    };
    let in_doubt = ensemble.trees().iter().flat_map(Tree::nodes).any(is_flushable);
    if in_doubt { TOO_MANY_TERMS } else { ensemble.trees().len() }
}

/// The enclosure of a sum of leaf values and a base score, from their sum and the sum of their magnitudes.
#[inline(always)]
pub(crate) fn of_leaves(centre: f64, magnitude: f64, terms: usize) -> Enclosure {
    let growth = growth(terms);
    let radius = growth * magnitude + 8.0 * SMALLEST_NORMAL * (terms + 1) as f64;
    Enclosure::of_sum(centre, radius, growth)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_follows_the_number_of_terms() {
        let unit = 2.0_f64.powi(-24);
        assert!(growth(1) >= 3.0 * unit && growth(1) < 3.000_001 * unit);
        assert!(growth(1000) > growth(999) + unit * 0.99);
        assert!(growth((1 << 20) - 2) < 1.0 / 14.0);
        assert!(growth((1 << 20) - 1).is_nan());
    }

    #[test]
    fn relu_keeps_cuts_or_clears() {
        let enclosure = |centre, radius| Enclosure { centre, radius };
        assert_eq!(enclosure(2.0, 1.0).relu(), enclosure(2.0, 1.0));
        assert_eq!(enclosure(-2.0, 1.0).relu(), enclosure(0.0, 0.0));
        let cut = enclosure(1.0, 3.0).relu();
        assert!(cut.centre - cut.radius <= 0.0 && cut.centre + cut.radius >= 4.0 && cut.radius < 2.000_001);
        let unknown = enclosure(0.0, f64::INFINITY).relu();
        assert_eq!(unknown.score(), Score::ANYTHING);
    }

    #[test]
    fn possible_overflow_is_unknown() {
        let growth = growth(2);
        for radius in [f64::NAN, f64::INFINITY, growth * 1e38] {
            assert_eq!(Enclosure::of_sum(1.0, radius, growth).score(), Score::ANYTHING);
        }
        assert_eq!(Enclosure::of_sum(1.0, growth * 1e30, growth).centre, 1.0);
    }
}
