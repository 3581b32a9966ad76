//! Numbers of a policy file, in both precisions.

// Conversions are part of loops that are compiled for several instruction sets: they must be inlined there.
#![allow(clippy::inline_always)]

use std::fmt;
use std::ops::{Add, Mul};

/// A weight, bias, threshold or leaf value. Both members are the nearest values to the decimal text in the file;
/// rounding the text to double and then to single precision could differ in the last bit. Where a format stores
/// singles and the text is but a short spelling of them, both members are that single.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Parameter {
    /// In double precision, finite.
    pub double: f64,
    /// In single precision; infinite where the number exceeds its range.
    pub single: f32,
}

impl Parameter {
    /// Reads a decimal number; `None` if the text is no number or not finite in double precision.
    pub fn parse(text: &str) -> Option<Parameter> {
        let double: f64 = text.parse().ok()?;
        let single: f32 = text.parse().ok()?;
        double.is_finite().then_some(Parameter { double, single })
    }
}

impl From<f64> for Parameter {
    /// The number as if its exact value had been written in a file.
    fn from(double: f64) -> Self {
        Parameter { double, single: double as f32 }
    }
}

impl From<f32> for Parameter {
    /// A number that is a single by definition; it is exact in double precision too.
    fn from(single: f32) -> Self {
        Parameter { double: f64::from(single), single }
    }
}

/// The two floating-point types in which scores are computed.
pub trait Number:
    Copy + PartialOrd + Add<Output = Self> + Mul<Output = Self> + Into<f64> + fmt::Debug + 'static
{
    /// Positive zero.
    const ZERO: Self;
    /// Minus infinity.
    const NEG_INFINITY: Self;

    /// An integer, rounded to nearest (exact in double precision).
    fn of_int(value: i32) -> Self;

    /// A parameter of the policy.
    fn of(parameter: Parameter) -> Self;
}

impl Number for f64 {
    const ZERO: Self = 0.0;
    const NEG_INFINITY: Self = f64::NEG_INFINITY;

    #[inline(always)]
    fn of_int(value: i32) -> Self {
        f64::from(value)
    }

    #[inline(always)]
    fn of(parameter: Parameter) -> Self {
        parameter.double
    }
}

impl Number for f32 {
    const ZERO: Self = 0.0;
    const NEG_INFINITY: Self = f32::NEG_INFINITY;

    #[inline(always)]
    fn of_int(value: i32) -> Self {
        value as f32
    }

    #[inline(always)]
    fn of(parameter: Parameter) -> Self {
        parameter.single
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn single_precision_is_rounded_once() {
        // Just above the midpoint of 1 and the next single; double precision rounds it onto the midpoint.
        let text = "1.00000005960464477540";
        let parameter = Parameter::parse(text).expect("a number");
        assert_eq!(parameter.single, 1.0 + f32::EPSILON);
        assert_eq!(parameter.double as f32, 1.0);
    }

    #[test]
    fn only_finite_numbers_are_parameters() {
        assert_eq!(Parameter::parse("NaN"), None);
        assert_eq!(Parameter::parse("inf"), None);
        assert_eq!(Parameter::parse("1e999"), None);
        assert_eq!(Parameter::parse("1e39").map(|p| p.single), Some(f32::INFINITY));
        assert_eq!(Parameter::parse("0x1"), None);
        assert_eq!(Parameter::parse(""), None);
    }
}
