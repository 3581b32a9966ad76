//! That one output of a neural network beats another one everywhere in a part.
//!
//! **Nominal values.** The *nominal* network has the parameters of the arithmetic (singles or doubles), exact integer
//! inputs, and computes in real numbers. [`Bounds::forward`] encloses its values by intervals, node by node. Sums whose
//! `ReLU` is undecided are then enclosed once more by a backward pass. A backward pass ([`Bounds::least`], CROWN)
//! bounds a linear function of values from below: it replaces each activation by a line below or above it, as the sign
//! of its coefficient asks for, until a linear function of the variables is left.
//!
//! **Facts.** Only states where the facts of the region hold count. Where `Σ a·x ≤ b` and `p ≥ 0`, a linear function
//! is at least itself plus `p·(Σ a·x − b)`, which is linear too. So each fact is added at a price before the least value
//! over the part is taken. Any price is right. If there are no such states, bounds may cross, and
//! whatever follows is true of nothing.
//!
//! **Deviation.** Let `v` be a nominal value and `d` a bound on the distance from `v` to whatever the arithmetic makes
//! of it: the computed number in `f64` and `f32`, the further end of the enclosure that *defines* the choice in
//! `any-f32` and `real` (`docs/semantics.md`). A sum of `n` products and a bias satisfies
//!
//! > `d' ≤ (1 + κ)·Σ w'·d + κ·(Σ w'·(|v| + d) + |b|) + 16η·(n + 8 + Σ|w|)`,  `κ = 4·(n + 16)·u`,
//!
//! with `u = 2⁻⁵³` or `2⁻²⁴`, `η = 2⁻⁹⁰⁰` or `2⁻¹²⁶`, and `w' = |w|`, in single precision `|w| + 2⁻⁹⁹`. For computed
//! numbers this is Higham's `γ_{n+1}` with room. For an enclosure of centre `c` and radius `r`, take `d = |c − v| + r`;
//! the next radius is `Σ(|w| + 2⁻¹⁰⁰)(r + g(|c| + r)) + g|b| + 8η'(n + 1 + Σ|w|)` with `g = γ_{n+2}` (`any-f32`) or
//! `γ_{2(n+8)}` (`real`, `η' = 2⁻¹⁰⁰⁰`), the next centre is off by `γ_{n+1}` of doubles, and `|c| + r ≤ |v| + d`; both
//! `g` and that `γ` together are below `κ` for `n ≤ 2¹⁹`, with room for the rounding of radii. Activations have slopes
//! of at most 1 (ELU: `max(1, scale)`), so they pass `d` on and add errors of their own, listed at
//! [`Bounds::activate`]. All this holds while nothing overflows, which is so while all sums of magnitudes and
//! deviations stay below `2³⁰⁰` (singles: `2¹⁰⁰`); otherwise there is no bound, and single states are evaluated.
//!
//! **Our own rounding.** Sums of doubles are computed as they stand. Next to each we compute the sum of magnitudes `M`
//! of its terms and widen the result by `2·(n + 8)·2⁻⁵³·M`, which is more than `n + 2` roundings can do, and by `TINY`
//! for underflow. A coefficient of a backward pass is taken as computed; what it may be off by, times the largest
//! magnitude of its value, is subtracted from the bound. If anything becomes infinite or NaN, so does the bound, and no
//! comparison with it succeeds.

mod backward;
mod forward;

use surefoot_model::VarId;
use surefoot_policy::{Activation, Arithmetic, Network, Parameter, Policy, Source};

use crate::certificate::Fact;
use crate::part::{Cut, Part};
use crate::precision::Precision;

const UNIT: f64 = f64::EPSILON / 2.0;
/// More than underflow can do, whatever finite numbers below `2³⁰⁰` it is multiplied with.
const TINY: f64 = f64::from_bits((1023 - 600) << 52);
/// A relative error above those of `libm`, and one above a few roundings.
const LIBRARY: f64 = 1.0 / (1_u64 << 40) as f64;
const SLACK: f64 = 1.0 / (1_u64 << 48) as f64;
/// Covers the rounding of sums of positive numbers.
const UP: f64 = 1.0 + 1.0 / (1_u64 << 20) as f64;
const MOST_TERMS: usize = 1 << 19;
/// Rivals that are tried before a part is split.
const RIVALS: usize = 3;
/// Facts over several variables that the policy reads which bounds use. More of them would take time, and hardly make bounds better.
const FACTS: usize = 16;

/// Nominal bounds of one value, and its deviation.
#[derive(Debug, Clone, Copy)]
struct Bound {
    lower: f64,
    upper: f64,
    deviation: f64,
}

impl Bound {
    fn magnitude(self) -> f64 {
        self.lower.abs().max(self.upper.abs())
    }

    fn with(self, deviation: f64) -> Bound {
        Bound { deviation: deviation * UP, ..self }
    }
}

/// The values of a node, and for a layer its sums before the activation.
#[derive(Debug, Default)]
struct Slot {
    values: Vec<Bound>,
    sums: Vec<Bound>,
}

/// Bounds a network.
#[derive(Debug)]
pub(crate) struct Bounds<'p> {
    policy: &'p Policy,
    network: &'p Network,
    arithmetic: Arithmetic,
    precision: Precision,
    /// The variables that the policy reads, ascending.
    reads: Vec<usize>,
}

impl<'p> Bounds<'p> {
    pub fn new(policy: &'p Policy, network: &'p Network, arithmetic: Arithmetic) -> Self {
        let mut reads: Vec<usize> = policy.variables().into_iter().map(VarId::index).collect();
        reads.sort_unstable();
        Bounds { policy, network, arithmetic, precision: Precision::of(arithmetic), reads }
    }

    /// Removes from `open` the outputs that are beaten by one that competes everywhere, in all states of a part where
    /// facts hold. `scores` are those of some state: better rivals are tried first. Suggests where to split the part
    /// for the others.
    pub fn beaten(
        &self,
        part: &Part,
        facts: &[Fact],
        open: &mut Vec<usize>,
        competes: &[bool],
        scores: &[f64],
    ) -> Option<Cut> {
        let is_read =
            |term: &&(u32, i32)| term.1 != 0 && self.reads.binary_search(&(term.0 as usize)).is_ok();
        let several = facts.iter().filter(|fact| fact.terms.iter().filter(is_read).nth(1).is_some());
        let facts: Vec<&Fact> = several.take(FACTS).collect();
        let states = (part, &facts[..]);
        let slots = self.forward(states)?;
        let last = &slots[slots.len() - 1].values;
        let mut rivals: Vec<usize> = (0..competes.len()).filter(|&rival| competes[rival]).collect();
        rivals.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
        let mut cut = None;
        open.retain(|&output| {
            let others = rivals.iter().filter(|&&rival| rival != output).take(RIVALS);
            for (rank, &rival) in others.enumerate() {
                let terms = [(rival, 1.0), (output, -1.0)];
                let (difference, slopes) = self.least(&slots, states, slots.len() - 1, terms, 0.0);
                let two = [last[rival], last[output]];
                let error = two.map(|bound| bound.deviation + SLACK * (bound.magnitude() + bound.deviation));
                if difference > (error[0] + error[1]) * UP {
                    return false;
                }
                if rank == 0 && cut.is_none() {
                    let gain = |&variable: &usize| slopes[variable].abs() * f64::from(part.width(variable));
                    let best = self.reads.iter().copied().filter(|variable| gain(variable) > 0.0);
                    cut = part.halves(best.max_by(|a, b| gain(a).total_cmp(&gain(b))));
                }
            }
            true
        });
        cut
    }

    fn number(&self, parameter: Parameter) -> f64 {
        self.precision.number(parameter)
    }

    /// The activation with the parameters of the arithmetic, as doubles.
    fn nominal(&self, activation: Activation) -> Activation {
        let number = |parameter| Parameter::from(self.number(parameter));
        match activation {
            Activation::LeakyRelu { slope } => Activation::LeakyRelu { slope: number(slope) },
            Activation::Elu { scale } => Activation::Elu { scale: number(scale) },
            Activation::Clip { low, high } => Activation::Clip { low: number(low), high: number(high) },
            Activation::Identity | Activation::Relu | Activation::Tanh | Activation::Sigmoid => activation,
        }
    }

    /// The slot that a source is.
    fn slot(source: Source) -> usize {
        match source {
            Source::Input => 0,
            Source::Node(node) => node as usize + 1,
        }
    }
}

#[cfg(test)]
mod tests;
