//! The numbers that an arithmetic computes with, for bounds of its errors.

use surefoot_policy::{Arithmetic, Parameter};

/// Singles or doubles.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Precision {
    pub single: bool,
    /// Half the distance from 1 to the next number, or more.
    pub unit: f64,
    /// Covers what underflow does to one operation.
    pub smallest: f64,
    /// Nothing overflows while all magnitudes stay below.
    pub limit: f64,
}

impl Precision {
    pub fn of(arithmetic: Arithmetic) -> Precision {
        let power = |exponent: i32| 2.0_f64.powi(exponent);
        let single = matches!(arithmetic, Arithmetic::F32 | Arithmetic::AnyF32);
        let (unit, smallest, limit) = if single { (-24, -126, 100) } else { (-53, -900, 300) };
        Precision { single, unit: power(unit), smallest: power(smallest), limit: power(limit) }
    }

    /// The number that the arithmetic uses.
    pub fn number(self, parameter: Parameter) -> f64 {
        if self.single { parameter.single.into() } else { parameter.double }
    }
}
