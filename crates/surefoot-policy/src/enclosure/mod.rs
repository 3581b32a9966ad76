//! Enclosures of scores in the arithmetics `any-f32` and `real`, with the proof that they hold.
//!
//! **`any-f32`.** Libraries evaluate a network in `f32` in an order of their own: blocked, vectorised, with the bias
//! first or last, with fused multiply-adds, with subnormal numbers flushed to zero or not. This module encloses the
//! results of all of them. What they share: parameters are the nearest singles to the text, inputs are integers
//! converted to the nearest single, each operation rounds to nearest, each weighted sum is built from the products
//! `wᵢ·xᵢ` that the layer stores and the bias by additions, a quotient is a division or a product with the rounded
//! reciprocal, and tanh, sigmoid and ELU are as accurate as [assumed below](#activations).
//!
//! **`real`.** Values are real numbers, computed without rounding from the parameters as doubles. Enclosures of them
//! come from the same formulas with other constants. Exact values are in `real.rs`.
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
//! `n` counts the weights of the neuron that are stored: each row of a sparse layer has its own. A library may store such a
//! layer densely. Products of finite values with the weight 0 change nothing; where a value may be infinite or NaN, the whole
//! sparse layer is unknown.
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
//! parameter exceeds the range of single precision, the value is unknown: `c = 0`, `r = ∞`. An evaluation may then
//! have any number, an infinity or NaN. No weight is 0 in `r'`, so that spreads to all later sums; every other node
//! and every activation keeps it too.
//!
//! # The same for real numbers
//!
//! Here `ŝ = s`, and only our own computation rounds: `u = 2⁻⁵³`. The formulas are those above without `2⁻¹⁰⁰`, with
//! `g = γ_{2(n+8)}` and `η = 2⁻¹⁰⁰⁰`. `c'` is off by at most `γ_{n+1}·M + n·2⁻¹⁰⁷⁴`, so the radius must be at least
//! `A + γ_{n+1}·M + n·2⁻¹⁰⁷⁴` with `A = Σ|wᵢ|rᵢ ≤ M`. Each term of `r'` passes through at most `n + 6` roundings, so the
//! computed `r'` is at least `(1 − (n + 6)·u)·(A + g·M)`. Since `g ≥ 2(n + 8)·u` and `n·u ≤ 2⁻³³`,
//! `(1 − (n + 6)·u)·g ≥ (2n + 15)·u ≥ (n + 6)·u + γ_{n+1}`, which is what is needed, with room for the rounding of `g`
//! itself. Products underflow by at most `2⁻¹⁰⁷⁴`, within a radius by `|wᵢ|·2⁻¹⁰⁷⁴`: the term with `η` is far
//! larger. If `r' ≤ g·2¹⁰⁰⁰`, then `M < 2¹⁰⁰¹` and no partial sum of `c'` overflows; otherwise the enclosure is
//! unknown, and a weight of 0 then gives NaN, which is unknown as well. ∎
//!
//! # Other nodes
//!
//! **Arrangements** copy enclosures. **Maxima** have the larger of the lower and the larger of the upper ends, and `8η`
//! more: operands may be flushed when they are compared. NaN stands for different values in different libraries, so a
//! maximum with an unknown operand is unknown.
//!
//! **Quotients** by `d` are sums of one term with weight `1/d`: `c' = c/d`, `r' = (r + g·(|c| + r))/|d| + 8η·(1 +
//! 1/|d|)`, `g` as for `n = 1`. A division, and also a product with the rounded reciprocal, is off by at most `2.1·u·|x̂/d|`,
//! and by `2η` if the result, or `2.1η/|d|` if the operand is flushed. In `any-f32` the divisor lies between `2⁻¹²⁶` and
//! `2¹²⁶`, so that neither it nor its reciprocal is subnormal; otherwise the quotient is unknown. In `real`, `c/d` is off by
//! `2⁻⁵³·|c/d| + 2⁻¹⁰⁷⁴`, and `r'` passes through 6 roundings, less than `g = γ₁₈` pays for.
//!
//! Activations are in [`activation`].
//!
//! # Ensembles
//!
//! Splits compare the input with the threshold without rounding, so a state has one leaf per tree. The one exception is
//! a positive subnormal threshold in `any-f32`, which 0 is below or not as the threshold is flushed to zero: an ensemble
//! with such a threshold has unknown scores. A score is the sum of `n` leaf values and the base score: the above with
//! all `xᵢ = 1` exactly, without products and therefore without `2⁻¹⁰⁰`.

// Batches compute enclosures in loops that are compiled for several instruction sets: everything must be inlined there.
#![allow(clippy::inline_always)]

pub mod activation;
mod rounding;

use crate::ensemble::{Ensemble, Tree, TreeNode};
use crate::layer::Layer;
use crate::network::{Network, Node, Source};
use crate::parameter::Parameter;
use crate::point::leaf_of;
use crate::policy::Scorer;
use crate::score::Score;
pub(crate) use rounding::Rounding;

/// What bounds a value in all evaluations that an arithmetic stands for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Enclosure {
    pub(crate) centre: f64,
    pub(crate) radius: f64,
}

impl Enclosure {
    /// A value of which nothing is known; it may be infinite or NaN.
    pub(crate) const UNKNOWN: Enclosure = Enclosure { centre: 0.0, radius: f64::INFINITY };

    /// A value that is known exactly.
    #[inline(always)]
    pub(crate) fn exactly(centre: f64) -> Self {
        Enclosure { centre, radius: 0.0 }
    }

    /// All numbers from `lower` to `upper`; unknown unless both are finite.
    ///
    /// The differences lose at most the fraction 2⁻⁵³, and nothing when they are subnormal; rounding a product by more
    /// than 1 never gives less than the other factor.
    pub(crate) fn between(lower: f64, upper: f64) -> Self {
        let centre = lower * 0.5 + upper * 0.5;
        let radius = (upper - centre).abs().max((centre - lower).abs()) * (1.0 + 4.0 * f64::EPSILON);
        if lower.is_finite() && upper.is_finite() && radius.is_finite() {
            Enclosure { centre, radius }
        } else {
            Enclosure::UNKNOWN
        }
    }

    pub(crate) fn is_unknown(self) -> bool {
        self.radius == f64::INFINITY
    }

    /// What the value contributes to the radius of a sum, per unit of its weight.
    #[inline(always)]
    pub(crate) fn spread(self, growth: f64) -> f64 {
        self.radius + growth * (self.centre.abs() + self.radius)
    }

    /// The enclosure of a sum, or unknown if its radius exceeds [`Rounding::limit`].
    #[inline(always)]
    pub(crate) fn of_sum(centre: f64, radius: f64, limit: f64) -> Self {
        // False for NaN too.
        if radius <= limit { Enclosure { centre, radius } } else { Enclosure::UNKNOWN }
    }

    /// The same with a larger radius.
    pub(crate) fn widened(self, by: f64) -> Self {
        Enclosure { radius: self.radius + by, ..self }
    }

    pub(crate) fn maximum(self, other: Self, rounding: &Rounding) -> Self {
        if self.is_unknown() || other.is_unknown() {
            return Enclosure::UNKNOWN;
        }
        let (left, right) = (self.score(), other.score());
        Enclosure::between(left.lower.max(right.lower), left.upper.max(right.upper))
            .widened(8.0 * rounding.smallest)
    }

    pub(crate) fn quotient(self, divisor: Parameter, rounding: &Rounding) -> Self {
        let divisor = rounding.number(divisor);
        if !rounding.covers_divisor(divisor) {
            return Enclosure::UNKNOWN;
        }
        let (growth, size) = (rounding.growth(1), divisor.abs());
        let radius = self.spread(growth) / size + 8.0 * rounding.smallest * (1.0 + 1.0 / size);
        Enclosure::of_sum(self.centre / divisor, radius, rounding.limit(growth))
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
pub(crate) fn scores(scorer: &Scorer, inputs: &[i32], rounding: &Rounding) -> Vec<Score> {
    let enclosures = match scorer {
        Scorer::Network(network) => network_enclosures(network, inputs, rounding),
        Scorer::Ensemble(ensemble) => ensemble_enclosures(ensemble, inputs, rounding),
    };
    enclosures.into_iter().map(Enclosure::score).collect()
}

fn network_enclosures(network: &Network, inputs: &[i32], rounding: &Rounding) -> Vec<Enclosure> {
    let first: Vec<_> = inputs.iter().map(|&value| Enclosure::exactly(rounding.input(value))).collect();
    let mut all: Vec<Vec<Enclosure>> = Vec::with_capacity(network.nodes().len());
    for node in network.nodes() {
        let of = |source| match source {
            Source::Input => &first,
            Source::Node(node) => &all[node as usize],
        };
        let values = match node {
            Node::Layer { from, layer } => layer_enclosures(layer, of(*from), rounding),
            Node::Arrange { elements } => {
                elements.iter().map(|element| of(element.source)[element.index as usize]).collect()
            }
            Node::Maximum { left, right } => {
                let pairs = of(*left).iter().zip(of(*right));
                pairs.map(|(left, right)| left.maximum(*right, rounding)).collect()
            }
            Node::Quotient { from, divisors } => {
                let pairs = of(*from).iter().zip(divisors);
                pairs.map(|(value, &divisor)| value.quotient(divisor, rounding)).collect()
            }
        };
        all.push(values);
    }
    all.pop().expect("networks have nodes")
}

fn layer_enclosures(layer: &Layer, inputs: &[Enclosure], rounding: &Rounding) -> Vec<Enclosure> {
    if layer.is_sparse() && inputs.iter().any(|input| input.is_unknown()) {
        return vec![Enclosure::UNKNOWN; layer.neurons()];
    }
    let neuron = |neuron| {
        let growth = rounding.growth(layer.terms(neuron));
        let row = || layer.row(neuron).map(|(input, weight)| (weight, inputs[input]));
        let centres = row().map(|(weight, input)| rounding.number(weight) * input.centre);
        let radii = row().map(|(weight, input)| rounding.magnitude(weight) * input.spread(growth));
        let (bias, constant) = constants(layer, neuron, rounding);
        let sum = |terms: &mut dyn Iterator<Item = f64>, last: f64| {
            terms.reduce(|sum, term| sum + term).map_or(last, |sum| sum + last)
        };
        let (centre, radius) = (sum(&mut { centres }, bias), sum(&mut { radii }, constant));
        Enclosure::of_sum(centre, radius, rounding.limit(growth)).activate(layer.activation(), rounding)
    };
    (0..layer.neurons()).map(neuron).collect()
}

/// What is added to a neuron's centre and to its radius.
pub(crate) fn constants(layer: &Layer, neuron: usize, rounding: &Rounding) -> (f64, f64) {
    let bias = layer.bias(neuron);
    let weights: Vec<Parameter> = layer.row(neuron).map(|(_, weight)| weight).collect();
    (rounding.number(bias), rounding.constant_radius(&weights, bias))
}

fn ensemble_enclosures(ensemble: &Ensemble, inputs: &[i32], rounding: &Rounding) -> Vec<Enclosure> {
    let mut centres: Vec<f64> = ensemble.base().iter().map(|&base| rounding.number(base)).collect();
    let mut magnitudes: Vec<f64> = centres.iter().map(|centre| centre.abs()).collect();
    for tree in ensemble.trees() {
        let values = tree.values(rounding.leaf_of(tree, inputs));
        for (output, &value) in values.iter().enumerate() {
            centres[output] += rounding.number(value);
            magnitudes[output] += rounding.number(value).abs();
        }
    }
    let sums = centres.into_iter().zip(magnitudes);
    let terms = leaf_terms(ensemble, rounding);
    sums.map(|(centre, magnitude)| of_leaves(centre, magnitude, terms, rounding)).collect()
}

impl Rounding {
    fn leaf_of(&self, tree: &Tree, inputs: &[i32]) -> u32 {
        if self.is_single() { leaf_of::<f32>(tree, inputs) } else { leaf_of::<f64>(tree, inputs) }
    }
}

/// The number of leaf values in a score; too many for the proof, which makes the result unknown, if a leaf depends on
/// what is flushed to zero.
pub(crate) fn leaf_terms(ensemble: &Ensemble, rounding: &Rounding) -> usize {
    let is_flushable = |node: &TreeNode| match node {
        TreeNode::Split { threshold, .. } => {
            let threshold = rounding.number(*threshold);
            threshold > 0.0 && rounding.is_flushable(threshold)
        }
        TreeNode::Leaf(_) => false,
    };
    let in_doubt = ensemble.trees().iter().flat_map(Tree::nodes).any(is_flushable);
    if in_doubt { usize::MAX } else { ensemble.trees().len() }
}

/// The enclosure of a sum of leaf values and a base score, from their sum and the sum of their magnitudes.
pub(crate) fn of_leaves(centre: f64, magnitude: f64, terms: usize, rounding: &Rounding) -> Enclosure {
    let growth = rounding.growth(terms);
    let radius = growth * magnitude + 8.0 * rounding.smallest * (terms as f64 + 1.0);
    Enclosure::of_sum(centre, radius, rounding.limit(growth))
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOTH: [Rounding; 2] = [Rounding::ANY_F32, Rounding::REAL];

    fn enclosure(centre: f64, radius: f64) -> Enclosure {
        Enclosure { centre, radius }
    }

    #[test]
    fn possible_overflow_is_unknown() {
        let growth = Rounding::ANY_F32.growth(2);
        let limit = Rounding::ANY_F32.limit(growth);
        for radius in [f64::NAN, f64::INFINITY, growth * 1e38] {
            assert_eq!(Enclosure::of_sum(1.0, radius, limit).score(), Score::ANYTHING);
        }
        assert_eq!(Enclosure::of_sum(1.0, growth * 1e30, limit).centre, 1.0);
    }

    #[test]
    fn both_ends_are_between() {
        for (lower, upper) in
            [(0.1, 0.7), (-1e-320, 3e-323), (1.0, 1.0), (-1e300, 1e-300), (0.3, 0.300_000_1)]
        {
            let Score { lower: low, upper: high } = Enclosure::between(lower, upper).score();
            assert!(low <= lower && upper <= high, "{lower} and {upper} in {low}..{high}");
        }
        assert!(Enclosure::between(1.0, f64::INFINITY).is_unknown());
        assert!(Enclosure::between(f64::NAN, 1.0).is_unknown());
    }

    #[test]
    fn maxima_and_quotients_hold_what_they_must() {
        for rounding in &BOTH {
            let maximum = enclosure(1.0, 3.0).maximum(enclosure(0.0, 1.0), rounding).score();
            assert!(maximum.lower <= -1.0 && maximum.upper >= 4.0 && maximum.upper < 4.001);
            let flushed = enclosure(1e-40, 0.0).maximum(enclosure(-1.0, 0.0), rounding).score();
            assert_eq!(flushed.lower <= 0.0, *rounding == Rounding::ANY_F32);
            let quotient = enclosure(1.0, 0.5).quotient(Parameter::from(-0.5), rounding).score();
            assert!(quotient.lower <= -3.0 && quotient.upper >= -1.0 && quotient.upper < -0.999);
        }
    }

    #[test]
    fn what_is_unknown_stays_unknown() {
        let unknown = Enclosure::UNKNOWN;
        for rounding in &BOTH {
            assert!(unknown.maximum(enclosure(1e30, 0.0), rounding).is_unknown());
            assert!(enclosure(1e30, 0.0).maximum(unknown, rounding).is_unknown());
            assert!(unknown.quotient(Parameter::from(1e20), rounding).is_unknown());
        }
    }

    #[test]
    fn divisors_that_could_be_flushed_are_not_covered() {
        let one = enclosure(1.0, 0.0);
        let quotient = |divisor: f64, rounding| one.quotient(Parameter::from(divisor), rounding);
        for divisor in [1e-40, 1e38, 1e39, 1e-38] {
            assert!(quotient(divisor, &Rounding::ANY_F32).is_unknown());
            assert!(!quotient(divisor, &Rounding::REAL).is_unknown());
        }
        assert!(!quotient(1e-37, &Rounding::ANY_F32).is_unknown());
    }
}
