//! All models, projected to some variables.

use std::ops::ControlFlow;

use crate::literal::{Answer, IntVar, Lit};
use crate::solver::SolveIncremental;

/// How an enumeration ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Enumerated {
    /// Every combination of values was visited.
    All,
    /// The visitor stopped it.
    Stopped,
    /// The solver was interrupted.
    Interrupted,
}

/// Visits each combination of values of `variables` that a model under `assumptions` has, once.
///
/// Combinations that were visited are excluded by clauses under a fresh literal, which is set to false at the end. So the solver
/// means the same as before; the clauses stay behind without effect.
pub fn enumerate<S: SolveIncremental + ?Sized>(
    solver: &mut S,
    assumptions: &[Lit],
    variables: &[IntVar],
    mut visit: impl FnMut(&[i32]) -> ControlFlow<()>,
) -> Enumerated {
    let fresh = solver.new_literal();
    let mut assumptions = assumptions.to_vec();
    assumptions.push(fresh);
    let end = loop {
        match solver.solve_assuming(&assumptions) {
            Answer::Unknown => break Enumerated::Interrupted,
            Answer::Unsatisfiable => break Enumerated::All,
            Answer::Satisfiable => {}
        }
        let values: Vec<i32> = variables.iter().map(|&v| solver.value(v)).collect();
        if visit(&values).is_break() {
            break Enumerated::Stopped;
        }
        let mut clause = vec![!fresh];
        for (&variable, &value) in variables.iter().zip(&values) {
            clause.push(!solver.at_least(variable, value.into()));
            clause.push(solver.at_least(variable, i64::from(value) + 1));
        }
        solver.add_clause(&clause);
    };
    solver.add_clause(&[!fresh]);
    end
}
