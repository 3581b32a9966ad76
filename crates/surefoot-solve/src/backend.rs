//! A back end that is chosen when the program runs.
//!
//! [`AnySolver`] is one of the back ends behind one type, so that an engine is compiled once. Without the feature `z3` there is one to choose from, and
//! the choice costs nothing.

use surefoot_model::{ExprId, ExprPool, VarId};

use crate::literal::{Answer, IntVar, Lit};
use crate::sat::SatSolver;
use crate::solver::{Arithmetic, Interrupt, Poll, Solve, SolveIncremental};
#[cfg(feature = "z3")]
use crate::z3::Z3Solver;

/// The back ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Backend {
    /// [`SatSolver`].
    #[default]
    Sat,
    /// [`Z3Solver`].
    #[cfg(feature = "z3")]
    Z3,
}

impl Backend {
    /// What makes solvers of this back end.
    pub fn maker(self) -> fn() -> AnySolver {
        match self {
            Backend::Sat => || AnySolver::Sat(SatSolver::new()),
            #[cfg(feature = "z3")]
            Backend::Z3 => || AnySolver::Z3(Z3Solver::new()),
        }
    }
}

/// A solver of one of the back ends.
#[derive(Debug)]
#[cfg_attr(feature = "z3", expect(clippy::large_enum_variant, reason = "the large one is the one in use"))]
pub enum AnySolver {
    /// SAT.
    Sat(SatSolver),
    /// Z3.
    #[cfg(feature = "z3")]
    Z3(Z3Solver),
}

/// Asks the solver, whichever it is.
macro_rules! ask {
    ($any:expr, $solver:ident => $question:expr) => {
        match $any {
            AnySolver::Sat($solver) => $question,
            #[cfg(feature = "z3")]
            AnySolver::Z3($solver) => $question,
        }
    };
}

impl Solve for AnySolver {
    fn new_variable(&mut self, lower: i32, upper: i32) -> IntVar {
        ask!(self, solver => solver.new_variable(lower, upper))
    }

    fn bounds(&self, variable: IntVar) -> (i32, i32) {
        ask!(self, solver => solver.bounds(variable))
    }

    fn new_literal(&mut self) -> Lit {
        ask!(self, solver => solver.new_literal())
    }

    fn at_least(&mut self, variable: IntVar, bound: i64) -> Lit {
        ask!(self, solver => solver.at_least(variable, bound))
    }

    fn equals(&mut self, variable: IntVar, value: i64) -> Lit {
        ask!(self, solver => solver.equals(variable, value))
    }

    fn add_clause(&mut self, clause: &[Lit]) {
        ask!(self, solver => solver.add_clause(clause));
    }

    fn solve(&mut self) -> Answer {
        ask!(self, solver => solver.solve())
    }

    fn value(&self, variable: IntVar) -> i32 {
        ask!(self, solver => solver.value(variable))
    }

    fn interval(&self, variable: IntVar) -> (i32, i32) {
        ask!(self, solver => solver.interval(variable))
    }

    fn holds(&self, literal: Lit) -> bool {
        ask!(self, solver => solver.holds(literal))
    }

    fn memory(&self) -> u64 {
        ask!(self, solver => solver.memory())
    }
}

impl SolveIncremental for AnySolver {
    fn solve_assuming(&mut self, assumptions: &[Lit]) -> Answer {
        ask!(self, solver => solver.solve_assuming(assumptions))
    }

    fn core(&self) -> Vec<Lit> {
        ask!(self, solver => solver.core())
    }
}

impl Interrupt for AnySolver {
    fn set_interrupt(&mut self, poll: Option<Poll>) {
        ask!(self, solver => solver.set_interrupt(poll));
    }
}

impl Arithmetic for AnySolver {
    fn linear_at_least(&mut self, terms: &[(IntVar, i64)], bound: i64) -> Option<Lit> {
        ask!(self, solver => solver.linear_at_least(terms, bound))
    }

    fn condition(
        &mut self,
        pool: &ExprPool,
        condition: ExprId,
        variable: &dyn Fn(VarId) -> IntVar,
    ) -> Option<Lit> {
        ask!(self, solver => solver.condition(pool, condition, variable))
    }
}
