//! The SAT solver proper: `CaDiCaL` behind our literals.

use crate::literal::{Answer, Lit};
use crate::solver::Poll;

/// A SAT solver; variables come into being when they are mentioned.
pub struct Cadical {
    solver: cadical::Solver<Stop>,
}

struct Stop(Poll);

impl cadical::Callbacks for Stop {
    fn terminate(&mut self) -> bool {
        (self.0)()
    }
}

fn number(literal: Lit) -> i32 {
    let index = literal.index() as i32;
    if literal.is_negative() { -index } else { index }
}

impl Cadical {
    pub fn new() -> Self {
        Cadical { solver: cadical::Solver::new() }
    }

    pub fn set_interrupt(&mut self, poll: Option<Poll>) {
        self.solver.set_callbacks(poll.map(Stop));
    }

    pub fn add_clause(&mut self, clause: &[Lit]) {
        self.solver.add_clause(clause.iter().map(|&literal| number(literal)));
    }

    pub fn solve(&mut self, assumptions: &[Lit]) -> Answer {
        // Easy questions are answered before the solver asks for itself.
        if self.solver.get_callbacks().is_some_and(|stop| (stop.0)()) {
            return Answer::Unknown;
        }
        match self.solver.solve_with(assumptions.iter().map(|&literal| number(literal))) {
            Some(true) => Answer::Satisfiable,
            Some(false) => Answer::Unsatisfiable,
            None => Answer::Unknown,
        }
    }

    /// The value of a literal, after `Satisfiable`. A variable that the solver does not care about is false.
    pub fn value(&self, literal: Lit) -> bool {
        // The binding reads negative literals differently from its documentation, so ask for the variable.
        let positive = self.solver.value(literal.index() as i32).unwrap_or(false);
        positive != literal.is_negative()
    }

    /// Whether an assumption is part of the core, after `Unsatisfiable`.
    pub fn failed(&self, literal: Lit) -> bool {
        self.solver.failed(number(literal))
    }
}
