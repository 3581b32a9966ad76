//! Questions about an environment alone, without a policy: satisfiability over bounded integers, incremental, with
//! assumptions and cores.
//!
//! | layer | what it knows | type |
//! |---|---|---|
//! | back end | bounded integers, literals `v ≥ c` and `v = c`, clauses | [`SatSolver`], `Z3Solver` (feature `z3`) |
//! | encoder | conditions of models: every expression, exactly | [`Encoder`] |
//! | states, transitions | conditions at a state; steps from a box into a frame | [`States`], [`Transitions`] |
//!
//! `docs/solve.md` explains how it works and why it is right.

mod domain;
mod encode;
mod enumerate;
mod literal;
mod sat;
mod solver;
mod transition;
#[cfg(feature = "z3")]
mod z3;

pub use encode::{Encoder, Limits, Statistics, Truths};
pub use enumerate::{Enumerated, enumerate};
pub use literal::{Answer, IntVar, Lit};
pub use sat::SatSolver;
pub use solver::{Arithmetic, Interrupt, Poll, Solve, SolveIncremental};
pub use transition::{Bound, Core, FrameId, States, Step, Transitions};
#[cfg(feature = "z3")]
pub use z3::Z3Solver;

/// A variable whose values are not integers.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("variable `{name}` is real; the solver takes bounded integers and Booleans only")]
pub struct UnsupportedVariable {
    /// Its name.
    pub name: String,
}
