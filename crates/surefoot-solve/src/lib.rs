//! Questions about an environment alone, without a policy: satisfiability over bounded integers, incremental, with
//! assumptions and cores.
//!
//! | layer | what it knows | type |
//! |---|---|---|
//! | back end | bounded integers, literals `v ≥ c` and `v = c`, clauses | [`SatSolver`], `Z3Solver` (feature `z3`), [`AnySolver`] |
//! | encoder | conditions of models: every expression, exactly | [`Encoder`] |
//! | states, transitions | conditions at a state; steps from a box into a frame; steps between abstract states | [`States`], [`Transitions`], [`PredicateSteps`] |
//!
//! ```
//! use surefoot_model::{Assignment, Command, Outcome, TransitionSystem, Variable, VariableType};
//! use surefoot_solve::{Answer, Bound, SatSolver, Step, Transitions};
//!
//! // x < 1000 → x := x + 7
//! let mut system = TransitionSystem::default();
//! system.variables.push(Variable::new("x", VariableType::Int { lower: 0, upper: 1_000_000 }));
//! let variable = system.variable("x").expect("declared");
//! let pool = &mut system.exprs;
//! let x = pool.variable(variable, &system.variables[0]);
//! let (limit, seven, probability) = (pool.int(1000), pool.int(7), pool.int(1));
//! let guard = pool.lt(x, limit).expect("numbers");
//! let value = pool.add(x, seven).expect("numbers");
//! let assignments = vec![Assignment { variable, value }];
//! let outcomes = vec![Outcome { probability, assignments, requirements: vec![] }];
//! system.commands.push(Command { label: None, guard, outcomes, origin: String::new() });
//!
//! // Which step leads out of x ≤ 1000?
//! let step = Step { command: 0, outcome: 0 };
//! let mut transitions = Transitions::<SatSolver>::new(&system).expect("no real variables");
//! let outside = transitions.add_frame();
//! transitions.add_clause(outside, &[Bound::AtLeast(variable, 1001)]);
//! assert_eq!(transitions.query(step, &[], &[outside]), Answer::Satisfiable);
//! assert!(transitions.state()[0] >= 994 && transitions.successor()[0] > 1000);
//! assert_eq!(transitions.query(step, &[Bound::AtMost(variable, 993)], &[outside]), Answer::Unsatisfiable);
//! ```
//!
//! `docs/solve.md` explains how it works and why it is right.

mod backend;
mod domain;
mod encode;
mod enumerate;
mod literal;
mod sat;
mod solver;
mod transition;
#[cfg(feature = "z3")]
mod z3;

pub use backend::{AnySolver, Backend};
pub use encode::{Encoder, Limits, Statistics, Truths};
pub use enumerate::{Enumerated, enumerate};
pub use literal::{Answer, IntVar, Lit};
pub use sat::SatSolver;
pub use solver::{Arithmetic, Interrupt, Poll, Solve, SolveIncremental};
pub use transition::{Bound, Core, Excluded, FrameId, Path, PredicateSteps, States, Step, Transitions};
#[cfg(feature = "z3")]
pub use z3::Z3Solver;

/// A variable whose values are not integers.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("variable `{name}` is real; the solver takes bounded integers and Booleans only")]
pub struct UnsupportedVariable {
    /// Its name.
    pub name: String,
}
