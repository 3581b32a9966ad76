//! The arithmetics in which a policy can be evaluated.

use std::fmt;
use std::str::FromStr;

/// In which arithmetic the policy computes its scores.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Arithmetic {
    /// Double precision, parameters as written, sums in index order.
    #[default]
    F64,
    /// Single precision, parameters rounded once from their decimal text, sums in index order.
    F32,
    /// Real numbers, parameters as doubles, no rounding.
    Real,
    /// Every single-precision evaluation: any order of summation, any use of fused multiply-add.
    AnyF32,
}

impl Arithmetic {
    /// All arithmetics, in the order in which they are documented.
    pub const ALL: [Arithmetic; 4] = [Arithmetic::F64, Arithmetic::F32, Arithmetic::Real, Arithmetic::AnyF32];

    /// The name on the command line and in results.
    pub fn name(self) -> &'static str {
        match self {
            Arithmetic::F64 => "f64",
            Arithmetic::F32 => "f32",
            Arithmetic::Real => "real",
            Arithmetic::AnyF32 => "any-f32",
        }
    }

    /// Whether a policy has one choice in each state, whatever it is. Otherwise there may be several that are possible.
    pub fn has_single_choice(self) -> bool {
        match self {
            Arithmetic::F64 | Arithmetic::F32 => true,
            Arithmetic::Real | Arithmetic::AnyF32 => false,
        }
    }
}

impl fmt::Display for Arithmetic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A text that names no arithmetic.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown arithmetic `{0}`, expected `f64`, `f32`, `real` or `any-f32`")]
pub struct UnknownArithmetic(String);

impl FromStr for Arithmetic {
    type Err = UnknownArithmetic;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|arithmetic| arithmetic.name() == text)
            .ok_or_else(|| UnknownArithmetic(text.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for arithmetic in Arithmetic::ALL {
            assert_eq!(arithmetic.to_string().parse(), Ok(arithmetic));
        }
        let error = "F64".parse::<Arithmetic>().unwrap_err();
        assert_eq!(error.to_string(), "unknown arithmetic `F64`, expected `f64`, `f32`, `real` or `any-f32`");
    }
}
