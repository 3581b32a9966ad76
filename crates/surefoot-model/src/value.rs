//! Values of expressions, their types, and the reasons for which an expression can have no value.

use std::fmt;

/// The type of an expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Type {
    /// Truth values.
    Bool,
    /// Integers (64-bit, overflow is [`Undefined::Overflow`]).
    Int,
    /// Real numbers, represented and computed in IEEE double precision, round to nearest.
    Real,
}

impl Type {
    /// Whether the type is `Int` or `Real`.
    pub fn is_numeric(self) -> bool {
        self != Type::Bool
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Type::Bool => "bool",
            Type::Int => "int",
            Type::Real => "real",
        })
    }
}

/// A value of an expression.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value {
    /// A truth value.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A real number, never NaN.
    Real(f64),
}

impl Value {
    /// The type of this value.
    pub fn ty(self) -> Type {
        match self {
            Value::Bool(_) => Type::Bool,
            Value::Int(_) => Type::Int,
            Value::Real(_) => Type::Real,
        }
    }

    /// The truth value, if this is one.
    pub fn as_bool(self) -> Option<bool> {
        match self {
            Value::Bool(b) => Some(b),
            _ => None,
        }
    }

    /// The number as an integer, truth values as 0 and 1; `None` for reals.
    pub fn as_int(self) -> Option<i64> {
        match self {
            Value::Bool(b) => Some(i64::from(b)),
            Value::Int(i) => Some(i),
            Value::Real(_) => None,
        }
    }

    /// The number as a double (an integer beyond 2^53 is rounded); `None` for truth values.
    pub fn as_real(self) -> Option<f64> {
        match self {
            Value::Bool(_) => None,
            Value::Int(i) => Some(i as f64),
            Value::Real(r) => Some(r),
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Bool(b) => write!(f, "{b}"),
            Value::Int(i) => write!(f, "{i}"),
            Value::Real(r) => write!(f, "{r}"),
        }
    }
}

/// Why an expression has no value at a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
pub enum Undefined {
    /// An integer result does not fit into 64 bits.
    #[error("an integer operation overflows 64 bits")]
    Overflow,
    /// Division or modulo by zero.
    #[error("a division by zero")]
    DivisionByZero,
    /// An array was indexed outside its range.
    #[error("an array index out of range")]
    IndexOutOfRange,
    /// A real operation has no real result (logarithm of a negative number, 0/0, …).
    #[error("a real operation without a finite real result")]
    NotANumber,
}
