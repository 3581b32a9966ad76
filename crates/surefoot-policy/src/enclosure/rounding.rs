//! What is known about the evaluations whose results are enclosed: the numbers in the proofs of [`super`].

use crate::parameter::{Number, Parameter};

/// Sums of this many terms are too long for the proofs.
const TOO_MANY_TERMS: usize = (1 << 20) - 1;

/// How the enclosed evaluations compute, and with which constants their distance from our own computation is bounded.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Rounding {
    /// Whether parameters and inputs are singles.
    single: bool,
    /// `u`: the relative error of one operation, theirs or ours, whichever is larger.
    unit: f64,
    /// `growth` of `n` terms counts `(n + extra_terms) · repetitions` roundings.
    extra_terms: usize,
    repetitions: f64,
    /// `η`: a bound on what a single operation loses to underflow.
    pub(crate) smallest: f64,
    /// Added to each weight's magnitude to cover inputs that are flushed to zero.
    flushed_input: f64,
    /// Sums whose terms exceed it in total could overflow.
    overflow: f64,
    /// What a library's tanh, sigmoid or ELU with scale 1 may be off by.
    pub(crate) function_error: f64,
}

impl Rounding {
    /// Every evaluation in single precision.
    pub(crate) const ANY_F32: Rounding = Rounding {
        single: true,
        unit: 1.0 / (1_u64 << 24) as f64,
        extra_terms: 2,
        repetitions: 1.0,
        smallest: f64::from_bits((1023 - 126) << 52),
        flushed_input: f64::from_bits((1023 - 100) << 52),
        overflow: f64::from_bits((1023 + 126) << 52),
        function_error: 1.0 / (1_u64 << 20) as f64,
    };

    /// Exact arithmetic over the parameters as doubles. Only our own computation rounds.
    pub(crate) const REAL: Rounding = Rounding {
        single: false,
        unit: 1.0 / (1_u64 << 53) as f64,
        extra_terms: 8,
        repetitions: 2.0,
        // More than needed: computing with subnormal numbers is slow.
        smallest: f64::from_bits((1023 - 1000) << 52),
        flushed_input: 0.0,
        overflow: f64::from_bits((1023 + 1000) << 52),
        // Where e⁻ˣ overflows, the logistic function is below this and not 0.
        function_error: f64::from_bits((1023 - 1000) << 52),
    };

    /// Whether parameters and inputs are singles.
    pub(crate) fn is_single(&self) -> bool {
        self.single
    }

    /// A parameter.
    pub(crate) fn number(&self, parameter: Parameter) -> f64 {
        if self.single { parameter.single.into() } else { parameter.double }
    }

    /// An input of the policy.
    pub(crate) fn input(&self, value: i32) -> f64 {
        if self.single { f32::of_int(value).into() } else { f64::of_int(value) }
    }

    /// The `g` of a sum of this many products; NaN if there are too many for the proof, which makes the sum unknown.
    pub(crate) fn growth(&self, terms: usize) -> f64 {
        if terms >= TOO_MANY_TERMS {
            return f64::NAN;
        }
        let product = self.repetitions * (terms + self.extra_terms) as f64 * self.unit;
        product / (1.0 - product)
    }

    /// The largest radius, computed with this growth, of a sum that cannot overflow.
    pub(crate) fn limit(&self, growth: f64) -> f64 {
        growth * self.overflow
    }

    /// The weight of an input's uncertainty.
    pub(crate) fn magnitude(&self, weight: Parameter) -> f64 {
        self.number(weight).abs() + self.flushed_input
    }

    /// The part of a neuron's radius that does not depend on its inputs.
    pub(crate) fn constant_radius(&self, weights: &[Parameter], bias: Parameter) -> f64 {
        let terms = weights.len();
        let sum: f64 = weights.iter().map(|&weight| self.number(weight).abs()).sum();
        let underflow = 8.0 * self.smallest * ((terms + 1) as f64 + sum);
        self.growth(terms) * self.number(bias).abs() + underflow
    }

    /// What one more rounded product adds to the radius of a value of this magnitude.
    pub(crate) fn one_product(&self, magnitude: f64) -> f64 {
        8.0 * self.unit * magnitude + 8.0 * self.smallest
    }

    /// Whether evaluations may take a number for zero, or already have.
    pub(crate) fn is_flushable(&self, number: f64) -> bool {
        self.single && number.abs() < self.smallest
    }

    /// Whether quotients by this number are covered: neither it nor its reciprocal is flushed or overflows.
    pub(crate) fn covers_divisor(&self, divisor: f64) -> bool {
        let size = divisor.abs();
        if self.single { (self.smallest..=self.overflow).contains(&size) } else { size > 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_follows_the_number_of_terms() {
        let (growth, unit) = (|terms| Rounding::ANY_F32.growth(terms), 2.0_f64.powi(-24));
        assert!(growth(1) >= 3.0 * unit && growth(1) < 3.000_001 * unit);
        assert!(growth(1000) > growth(999) + unit * 0.99);
        assert!(growth((1 << 20) - 2) < 1.0 / 14.0);
        assert!(growth((1 << 20) - 1).is_nan());
        let (growth, unit) = (Rounding::REAL.growth(10), 2.0_f64.powi(-53));
        assert!(growth >= 36.0 * unit && growth < 36.001 * unit);
        assert!(Rounding::REAL.growth((1 << 20) - 1).is_nan());
    }

    #[test]
    fn constants_are_powers_of_two() {
        let (single, real) = (Rounding::ANY_F32, Rounding::REAL);
        assert_eq!((single.smallest, single.overflow), (2.0_f64.powi(-126), 2.0_f64.powi(126)));
        assert_eq!((single.smallest, single.flushed_input), (f32::MIN_POSITIVE.into(), 2.0_f64.powi(-100)));
        assert_eq!((real.smallest, real.overflow), (2.0_f64.powi(-1000), 2.0_f64.powi(1000)));
        assert_eq!(real.function_error, 2.0_f64.powi(-1000));
    }
}
