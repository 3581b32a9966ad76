//! Literals, integer variables and answers: the data that all back ends share.

use std::fmt;
use std::ops::Not;

/// A Boolean literal of one solver: a variable or its negation, or one of the constants [`Lit::TRUE`] and [`Lit::FALSE`].
///
/// Literals of different solvers have nothing to do with each other.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Lit(u32);

impl Lit {
    /// The literal that is always true.
    pub const TRUE: Lit = Lit(0);
    /// The literal that is always false.
    pub const FALSE: Lit = Lit(1);

    /// The positive literal of variable `index`, from 1 on: 0 stands for the constants.
    pub(crate) fn positive(index: u32) -> Lit {
        debug_assert!(index > 0, "variable 0 is the constant");
        Lit(index << 1)
    }

    /// [`Lit::TRUE`] or [`Lit::FALSE`].
    pub fn constant(value: bool) -> Lit {
        if value { Lit::TRUE } else { Lit::FALSE }
    }

    /// The variable; 0 for the constants.
    pub(crate) fn index(self) -> u32 {
        self.0 >> 1
    }

    pub(crate) fn is_negative(self) -> bool {
        self.0 & 1 == 1
    }

    /// Whether this is one of the two constants.
    pub fn is_constant(self) -> bool {
        self.index() == 0
    }
}

impl Not for Lit {
    type Output = Lit;

    fn not(self) -> Lit {
        Lit(self.0 ^ 1)
    }
}

impl fmt::Debug for Lit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Lit::TRUE => f.write_str("true"),
            Lit::FALSE => f.write_str("false"),
            lit => write!(f, "{}{}", if lit.is_negative() { "¬" } else { "" }, lit.index()),
        }
    }
}

/// An integer variable of one solver.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct IntVar(pub(crate) u32);

impl IntVar {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// The answer to a question of satisfiability.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// There is a model, and the solver holds one.
    Satisfiable,
    /// There is none.
    Unsatisfiable,
    /// The solver was interrupted. It remains usable.
    Unknown,
}
