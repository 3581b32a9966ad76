//! Numbers of a policy file, in both precisions.

// Conversions are part of loops that are compiled for several instruction sets: they must be inlined there.
#![allow(clippy::inline_always)]

use std::fmt;
use std::ops::{Add, Div, Mul, Sub};

/// A weight, bias, threshold or leaf value. Both members are the nearest values to the decimal text in the file;
/// rounding the text to double and then to single precision could differ in the last bit. Where a format stores
/// singles and the text is but a short spelling of them, both members are that single.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Parameter {
    /// In double precision; finite, but for the ends of a clip that does not cut off.
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
    Copy
    + PartialOrd
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Into<f64>
    + fmt::Debug
    + 'static
{
    /// Positive zero.
    const ZERO: Self;
    /// Minus infinity.
    const NEG_INFINITY: Self;

    /// An integer, rounded to nearest (exact in double precision).
    fn of_int(value: i32) -> Self;

    /// A parameter of the policy.
    fn of(parameter: Parameter) -> Self;

    /// The hyperbolic tangent, as computed by the portable `libm`; in single precision, rounded from double.
    #[must_use]
    fn tanh(self) -> Self;

    /// `1 / (1 + e⁻ˣ)`, in double precision with each operation rounded; in single precision, rounded from that.
    #[must_use]
    fn sigmoid(self) -> Self;

    /// `scale · (eˣ − 1)`, in double precision with each operation rounded; in single precision, rounded from that.
    #[must_use]
    fn elu(self, scale: Self) -> Self;
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

    fn tanh(self) -> Self {
        libm::tanh(self)
    }

    fn sigmoid(self) -> Self {
        1.0 / (1.0 + libm::exp(-self))
    }

    fn elu(self, scale: Self) -> Self {
        scale * libm::expm1(self)
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

    fn tanh(self) -> Self {
        Number::tanh(f64::from(self)) as f32
    }

    fn sigmoid(self) -> Self {
        Number::sigmoid(f64::from(self)) as f32
    }

    fn elu(self, scale: Self) -> Self {
        Number::elu(f64::from(self), f64::from(scale)) as f32
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
