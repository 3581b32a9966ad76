//! What a solver can do, as a ladder of small traits.
//!
//! | trait | adds |
//! |---|---|
//! | [`Solve`] | bounded integer variables, literals, clauses, models |
//! | [`SolveIncremental`] | assumptions and cores |
//! | [`Interrupt`] | stopping a solver from outside |
//! | [`Arithmetic`] | atoms over several variables that the back end understands by itself |
//!
//! Every back end passes the conformance suite in `tests/conformance.rs`. [`crate::enumerate()`] lists models with what
//! [`SolveIncremental`] offers. [`crate::Encoder`] implements the first three again, on top of any back end, and adds
//! conditions of models.
//!
//! **Models.** After [`Answer::Satisfiable`] the solver holds a model until something is added to it or asked of it: a
//! variable, a literal (asking for `v ≥ c` may make one), a clause, another question. Reading it later is a programming error. If anything
//! changed, it panics.

use std::sync::Arc;

use surefoot_model::{ExprId, ExprPool, VarId};

use crate::literal::{Answer, IntVar, Lit};

/// Asked by a running solver whether it shall stop.
pub type Poll = Arc<dyn Fn() -> bool + Send + Sync>;

/// Satisfiability of clauses over literals of bounded integer variables.
pub trait Solve {
    /// A new variable with the values `lower..=upper`, at least one. Its size costs nothing.
    fn new_variable(&mut self, lower: i32, upper: i32) -> IntVar;

    /// Smallest and largest value of a variable.
    fn bounds(&self, variable: IntVar) -> (i32, i32);

    /// A fresh Boolean literal that nothing constrains.
    fn new_literal(&mut self) -> Lit;

    /// The literal `variable ≥ bound`. The same question has the same answer, and it is constant outside of the bounds.
    fn at_least(&mut self, variable: IntVar, bound: i64) -> Lit;

    /// The literal `variable = value`. The same question has the same answer, and it is constant outside of the bounds.
    fn equals(&mut self, variable: IntVar, value: i64) -> Lit;

    /// From now on, one of these literals must be true. The empty clause makes everything unsatisfiable for good.
    fn add_clause(&mut self, clause: &[Lit]);

    /// Whether all clauses can be satisfied at once.
    fn solve(&mut self) -> Answer;

    /// The value of a variable in the model: consistent with the values of all literals.
    fn value(&self, variable: IntVar) -> i32;

    /// The values around [`Solve::value`] that agree with the model about every literal of the variable that was asked for.
    fn interval(&self, variable: IntVar) -> (i32, i32);

    /// Whether a literal is true in the model.
    fn holds(&self, literal: Lit) -> bool;

    /// Bytes that variables and clauses take, those that the solver has learnt included, roughly. Cheap to ask.
    fn memory(&self) -> u64;
}

/// Questions under assumptions.
pub trait SolveIncremental: Solve {
    /// Whether all clauses can be satisfied at once with these literals being true. Assumptions are gone afterwards.
    fn solve_assuming(&mut self, assumptions: &[Lit]) -> Answer;

    /// After [`Answer::Unsatisfiable`]: some of the assumptions that alone make the clauses unsatisfiable, in the order in which they were
    /// assumed. Not always the fewest. The same rule as for models says how long it can be read.
    fn core(&self) -> Vec<Lit>;
}

/// Stopping a solver.
pub trait Interrupt {
    /// From now on `poll` is asked before each search and regularly during it. If it says yes, the answer is
    /// [`Answer::Unknown`]. `None` takes the last one away.
    fn set_interrupt(&mut self, poll: Option<Poll>);
}

/// Atoms over several variables. A back end that returns `None` gets clauses instead, from [`crate::Encoder`].
pub trait Arithmetic: SolveIncremental + Interrupt {
    /// A literal that is true exactly where `Σ aᵢ·xᵢ ≥ bound`. Terms have different variables and coefficients other than 0.
    fn linear_at_least(&mut self, terms: &[(IntVar, i64)], bound: i64) -> Option<Lit>;

    /// A literal that is true exactly where a condition is. The condition and all its parts are defined wherever variables
    /// are in their bounds. `variable` is the solver's variable for one of the condition.
    fn condition(
        &mut self,
        pool: &ExprPool,
        condition: ExprId,
        variable: &dyn Fn(VarId) -> IntVar,
    ) -> Option<Lit>;
}
