//! How far the scores of an arithmetic are from those of the nominal network.
//!
//! # Deviation of the arithmetic
//!
//! Let `v` be the nominal values of a slot and `d` the distances of the arithmetic's values from them; in `any-f32`, where
//! values are enclosures, `d` is the distance of the further end. A layer whose weighted sums have `n` terms computes
//!
//! > `d' ≤ L·((1 + κ)·Σ|w|·d + κ·(Σ|w|·|v| + |b|) + η) + a`
//!
//! where `L` is the Lipschitz constant of its activation, `κ` bounds the relative rounding error of `n` products, `n`
//! sums and the activation, `η` covers underflow, and `a` is an absolute error of the activation (N. Higham, *Accuracy
//! and Stability of Numerical Algorithms*, 2nd ed., §3.1). Copies keep `d`; the maximum of two values deviates by no
//! more than the sum of their deviations, and enclosures of maxima round a few times more. All this is linear in `|v|`, so unrolled to the outputs the deviation of output `k` is at most
//! `c_k + Σ T_k[i]·|v_i|` over all values of the network. We keep the largest `c_k` and `T_k[i]` over `k`.
//! In a box, `|v_i|` is bounded by the bounds of the slot. A difference of two scores deviates by twice as much.
//!
//! For enclosures this holds because an enclosure with centre `c` and radius `r` has `d = |c − v| + r`, so the radius
//! `Σ|w|·(r + g·(|c| + r))` of a sum and the error `Σ|w|·|c − v|` of its centre add up to
//! `Σ|w|·((1 + g)·d + g·|v|)`. The centre is itself rounded, in double precision, so `κ` is `g` and `γ_{n+3}` of doubles.
//!
//! The formula holds as long as nothing overflows. That is so if all sums of magnitudes are far from the largest number, even
//! if no terms ever cancel; otherwise the deviation is infinite, and only single states can be decided.
//!
//! # Rounding of the bounds themselves
//!
//! A backward pass starts with a linear function of some slots and replaces each slot by lines and weighted sums of slots
//! before it. Every product and sum of it is rounded. We take the computed coefficients as the coefficients and charge what was
//! rounded away to the constant: a coefficient `μ = Σ λ_j·w_j` that is computed from `n` terms is off by at most `γ_n·Σ|λ_j||w_j|`, which
//! times the largest magnitude of the value that it belongs to is at most `γ_n·Σ|λ_j|·N_j·m`, where `N_j` is the
//! norm of neuron `j` and `m` the largest magnitude of a value that the layer reads. Lines and constants add
//! `|λ_j|·(|slope|·|x_j| + |constant|)` and `|λ_j||b_j|`. So a pass collects, lane by lane,
//!
//! > `S = Σ |λ_j|·A_j`  with  `A_j ≥ (1 + L)·(N_j·m + |b_j|) + |low constant| + |high constant|`
//!
//! which starts with the magnitude of the constant that the pass starts with,
//! and the error of the bound is at most `G·S`, where `G` is `γ` of the number of all values, with room for the rounding of `S` and
//! of the last sums. The bias of a neuron is added to the constants of its lines once, as `constant + slope·b_j`: two more roundings of
//! numbers that `A_j` covers, which are part of that room, as is the negation of functions, which is exact. Prices of facts add terms to
//! coefficients and constants; their magnitudes are part of `S`, their roundings are counted in `G` ([`super::facts`]). Coefficients that underflow lose more than that; [`UNDERFLOW`] bounds it, since values are limited.

use super::bounds::SlotBounds;
use super::graph::{Affine, Function, Graph, Operation};
use crate::arithmetic::Arithmetic;
use crate::enclosure::Rounding;

/// `2⁻⁵³`.
pub(super) const UNIT: f64 = f64::EPSILON / 2.0;

/// What is lost where doubles underflow, in a deviation or in a backward pass, however large the values are that a
/// coefficient meets: `V²` products of at most `2⁻¹⁰⁷⁴` times [`LARGEST_DOUBLE`] for a network of `V < 2³⁰` values. The
/// enclosures of real numbers are never narrower than a part of it.
pub(super) const UNDERFLOW: f64 = f64::from_bits((1023 - 700) << 52);

/// No sum of magnitudes may exceed this, `2³⁰⁰` and `2¹⁰⁰`.
const LARGEST_DOUBLE: f64 = f64::from_bits((1023 + 300) << 52);
const LARGEST_SINGLE: f64 = f64::from_bits((1023 + 100) << 52);

/// Sums with more terms than this are not covered by the proof.
const MOST_TERMS: usize = 1 << 19;

/// Integers up to this are singles.
const EXACT_INPUT: f64 = (1 << 24) as f64;

/// The deviation of the scores of an arithmetic, as a function of the magnitudes of nominal values.
#[derive(Debug)]
pub(super) struct Deviation {
    constant: f64,
    /// Per slot, a factor per value.
    factors: Vec<Vec<f64>>,
    /// Nothing overflows for inputs up to this magnitude.
    largest_input: f64,
    /// The same for inputs that are rounded when they are converted.
    conversion: Vec<f64>,
}

/// Rounding errors of one layer.
struct Local {
    /// Relative to the sum of magnitudes.
    relative: f64,
    /// Added to each weight.
    weight: f64,
    /// Of a sum: underflow.
    sum: f64,
    /// Of the activation.
    absolute: f64,
}

impl Local {
    fn new(arithmetic: Arithmetic, layer: &Affine) -> Local {
        let (exact, enclosing) = match arithmetic {
            Arithmetic::F64 => (UNIT, None),
            Arithmetic::F32 => (f64::from(f32::EPSILON) / 2.0, None),
            Arithmetic::Real => (UNIT, Some(Rounding::REAL)),
            Arithmetic::AnyF32 => (f64::from(f32::EPSILON) / 2.0, Some(Rounding::ANY_F32)),
        };
        let terms = layer.terms as f64;
        // Longer sums are not covered.
        let gamma = |unit: f64| (terms + 3.0) * unit / (1.0 - (terms + 3.0) * unit);
        // The centre of an enclosure is rounded on top of what its radius covers.
        let sum = enclosing.map_or(gamma(exact), |rounding| rounding.growth(layer.terms) + gamma(UNIT));
        // Enclosures round a few times more in double precision, and so does the reciprocal of a divisor.
        let relative = sum + 64.0 * UNIT;
        // The portable functions are within 2⁻⁴⁵ of the exact ones; what is made of them here, within 2⁻⁴².
        let function = match layer.function {
            Function::Identity | Function::Relu | Function::Clip(..) => 0.0,
            Function::LeakyRelu(_) => 8.0 * exact,
            Function::Tanh | Function::Sigmoid | Function::Elu(_) => 2.0 * exact + 1.0 / (1_u64 << 42) as f64,
        };
        let assumed = enclosing.map_or(0.0, |rounding| rounding.function_error);
        let absolute = match layer.function {
            Function::Tanh => assumed,
            Function::Elu(scale) => assumed * scale.max(1.0),
            // Not small where its argument is.
            Function::Sigmoid => assumed + function,
            Function::Identity | Function::Relu | Function::LeakyRelu(_) | Function::Clip(..) => 0.0,
        };
        let smallest = smallest(arithmetic);
        Local {
            relative: relative + function,
            weight: if arithmetic == Arithmetic::AnyF32 { 1.0 / (1_u128 << 99) as f64 } else { 0.0 },
            sum: 16.0 * smallest * (terms + 8.0),
            absolute: (absolute + 64.0 * smallest) * (1.0 + function),
        }
    }
}

/// What bounds the underflow of an operation.
fn smallest(arithmetic: Arithmetic) -> f64 {
    match arithmetic {
        Arithmetic::F64 | Arithmetic::Real => UNDERFLOW,
        Arithmetic::F32 | Arithmetic::AnyF32 => f32::MIN_POSITIVE.into(),
    }
}

/// What one output contributes to a [`Deviation`].
struct Unrolled {
    constant: f64,
    factors: Vec<Vec<f64>>,
    /// How much a deviation of each value changes the output.
    influence: Vec<Vec<f64>>,
}

impl Deviation {
    pub(super) fn new(graph: &Graph, arithmetic: Arithmetic) -> Deviation {
        let single = matches!(arithmetic, Arithmetic::F32 | Arithmetic::AnyF32);
        let zeros = || graph.slots.iter().map(|slot| vec![0.0; slot.size]).collect::<Vec<_>>();
        let mut deviation = Deviation {
            constant: 0.0,
            factors: zeros(),
            conversion: vec![0.0; graph.slots[0].size],
            largest_input: largest_input(graph, if single { LARGEST_SINGLE } else { LARGEST_DOUBLE }),
        };
        let last = graph.slots.len() - 1;
        for output in 0..graph.slots[last].size {
            let mut unrolled = Unrolled { constant: 0.0, factors: zeros(), influence: zeros() };
            unrolled.influence[last][output] = 1.0;
            for index in (1..=last).rev() {
                unrolled.step(graph, arithmetic, index);
            }
            deviation.constant = deviation.constant.max(unrolled.constant);
            let pairs = deviation.factors.iter_mut().zip(&unrolled.factors);
            for (largest, &factor) in pairs.flat_map(|(all, new)| all.iter_mut().zip(new)) {
                *largest = largest.max(factor);
            }
            let rounding = if single { f64::from(f32::EPSILON) } else { 0.0 };
            for (largest, influence) in deviation.conversion.iter_mut().zip(&unrolled.influence[0]) {
                *largest = largest.max(influence * rounding);
            }
        }
        deviation
    }

    /// Twice the largest deviation of a score where values are within these bounds.
    pub(super) fn of_difference(&self, slots: &[SlotBounds]) -> f64 {
        if slots[0].largest > self.largest_input {
            return f64::INFINITY;
        }
        let mut sum = self.constant;
        for (factors, slot) in self.factors.iter().zip(slots) {
            sum += factors.iter().zip(slot.magnitudes()).map(|(factor, value)| factor * value).sum::<f64>();
        }
        let inputs = self.conversion.iter().zip(slots[0].magnitudes());
        sum += inputs
            .filter(|(_, value)| *value > EXACT_INPUT)
            .map(|(factor, value)| factor * value)
            .sum::<f64>();
        // The computation of this bound itself loses less than a part in 2²⁰.
        2.0 * sum * (1.0 + 1.0 / (1 << 20) as f64)
    }
}

/// A magnitude of inputs up to which no sum of magnitudes exceeds a limit; negative if there is none.
fn largest_input(graph: &Graph, limit: f64) -> f64 {
    let powers = (0..=31).rev().map(|exponent| f64::from(1_u32 << exponent));
    powers.into_iter().find(|&magnitude| covers(graph, limit, magnitude)).unwrap_or(-1.0)
}

/// Whether no sum of magnitudes exceeds a limit for inputs up to a magnitude, even if no two terms of any sum ever cancel.
fn covers(graph: &Graph, limit: f64, largest_input: f64) -> bool {
    // The largest magnitude of each slot, in the arithmetic; at least 1, so that norms are limited as well.
    let mut largest: Vec<f64> = vec![largest_input.max(1.0)];
    for slot in &graph.slots[1..] {
        let magnitude = match &slot.operation {
            Operation::Input => 0.0,
            Operation::Layer(layer) => {
                let sum = layer.largest_norm * largest[layer.from] + layer.largest_bias;
                // More than one and all that is rounded, in singles.
                let growth = 1.0 + (layer.terms as f64 + 32.0) / (1 << 23) as f64;
                // Absolute errors are far less than the Lipschitz constant.
                let value = layer.function.lipschitz() * (sum + 1.0) * growth;
                let value = match layer.function {
                    // It can lift values.
                    Function::Clip(low, high) => value.max(low).max(-high),
                    _ => value,
                };
                // False for NaN.
                if !(layer.is_covered && layer.terms <= MOST_TERMS && sum <= limit && value <= limit) {
                    return false;
                }
                value
            }
            Operation::Arrange(elements) => {
                elements.iter().map(|&(slot, _)| largest[slot as usize]).fold(1.0, f64::max)
            }
            Operation::Maximum(left, right) => largest[*left].max(largest[*right]),
        };
        largest.push(magnitude);
    }
    true
}

impl Unrolled {
    /// Passes the influence of a slot on to the slots that it reads.
    fn step(&mut self, graph: &Graph, arithmetic: Arithmetic, index: usize) {
        let own = std::mem::take(&mut self.influence[index]);
        match &graph.slots[index].operation {
            Operation::Input => {}
            Operation::Layer(layer) => {
                let local = Local::new(arithmetic, layer);
                let lipschitz = layer.function.lipschitz();
                for (neuron, influence) in own.iter().enumerate() {
                    let bias = local.relative * layer.biases[neuron].abs();
                    let underflow = local.sum * (1.0 + layer.norms[neuron]);
                    self.constant += influence * (lipschitz * (bias + underflow) + local.absolute);
                }
                let (factors, source) = (&mut self.factors[layer.from], &mut self.influence[layer.from]);
                layer.matrix.for_each(own.len(), |neuron, input, weight| {
                    let weight = own[neuron] * lipschitz * (weight.abs() + local.weight);
                    factors[input] += weight * local.relative;
                    source[input] += weight * (1.0 + local.relative);
                });
            }
            Operation::Arrange(elements) => {
                for (influence, &(slot, element)) in own.iter().zip(elements) {
                    self.influence[slot as usize][element as usize] += influence;
                }
            }
            Operation::Maximum(left, right) => {
                for operand in [*left, *right] {
                    let sums = self.influence[operand].iter_mut().zip(&mut self.factors[operand]);
                    for ((sum, factor), influence) in sums.zip(&own) {
                        // Maxima are exact, but those of enclosures are a little wider than their operands.
                        *sum += influence * (1.0 + 64.0 * UNIT);
                        *factor += influence * 64.0 * UNIT;
                    }
                }
                self.constant += own.iter().sum::<f64>() * 64.0 * smallest(arithmetic);
            }
        }
    }
}
