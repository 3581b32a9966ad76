//! The default back end: a SAT solver under an order encoding of bounded integers.
//!
//! A variable is the set of its literals `v ≥ c`. They are made when somebody asks for them, so a domain of millions of values
//! costs nothing until its values are mentioned. A new literal is tied to its neighbours by `v ≥ c ⇒ v ≥ c'` for
//! the next smaller c', and the same above. By induction all literals of a variable are consistent: in a model they are true up to some bound
//! and false from there on, and each value between is one that the variable may have. `v = c` is defined by
//! `v ≥ c ∧ ¬(v ≥ c + 1)`.

mod engine;

use std::fmt;

use surefoot_model::{ExprId, ExprPool, VarId};

use crate::domain::Domain;
use crate::literal::{Answer, IntVar, Lit};
use crate::solver::{Arithmetic, Interrupt, Poll, Solve, SolveIncremental};
use engine::Engine;

/// Incremental satisfiability over bounded integers by SAT.
pub struct SatSolver {
    sat: Engine,
    /// SAT variables that are in use, the constant included.
    literals: u32,
    domains: Vec<Domain>,
    assumptions: Vec<Lit>,
    /// The last answer, as long as nothing changed.
    answer: Option<Answer>,
    clause: Vec<Lit>,
}

impl SatSolver {
    /// A solver without variables and clauses.
    pub fn new() -> Self {
        SatSolver {
            sat: Engine::new(),
            literals: 1,
            domains: Vec::new(),
            assumptions: Vec::new(),
            answer: None,
            clause: Vec::new(),
        }
    }

    /// Number of SAT variables.
    pub fn size(&self) -> u32 {
        self.literals - 1
    }

    fn is_true(&self, literal: Lit) -> bool {
        if literal.is_constant() { literal == Lit::TRUE } else { self.sat.value(literal) }
    }
}

impl Default for SatSolver {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for SatSolver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SatSolver")
            .field("integers", &self.domains.len())
            .field("literals", &self.size())
            .finish_non_exhaustive()
    }
}

impl Solve for SatSolver {
    fn new_variable(&mut self, lower: i32, upper: i32) -> IntVar {
        assert!(lower <= upper, "a variable has a value");
        self.answer = None;
        self.domains.push(Domain::new(lower, upper));
        IntVar(self.domains.len() as u32 - 1)
    }

    fn bounds(&self, variable: IntVar) -> (i32, i32) {
        self.domains[variable.index()].bounds()
    }

    fn new_literal(&mut self) -> Lit {
        self.answer = None;
        self.literals += 1;
        Lit::positive(self.literals - 1)
    }

    fn at_least(&mut self, variable: IntVar, bound: i64) -> Lit {
        let place = match self.domains[variable.index()].find(bound) {
            Ok(literal) => return literal,
            Err(place) => place,
        };
        let literal = self.new_literal();
        let (below, above) = self.domains[variable.index()].insert(
            place,
            i32::try_from(bound).expect("within i32 bounds"),
            literal,
        );
        if let Some(below) = below {
            self.add_clause(&[!literal, below]);
        }
        if let Some(above) = above {
            self.add_clause(&[!above, literal]);
        }
        literal
    }

    fn equals(&mut self, variable: IntVar, value: i64) -> Lit {
        let least = self.at_least(variable, value);
        let more = self.at_least(variable, value.saturating_add(1));
        match (least, more) {
            (_, Lit::FALSE) => return least,
            (Lit::TRUE, _) => return !more,
            (Lit::FALSE, _) | (_, Lit::TRUE) => return Lit::FALSE,
            _ => {}
        }
        let value = i32::try_from(value).expect("within i32 bounds");
        if let Some(&equal) = self.domains[variable.index()].equals.get(&value) {
            return equal;
        }
        let equal = self.new_literal();
        self.add_clause(&[!equal, least]);
        self.add_clause(&[!equal, !more]);
        self.add_clause(&[equal, !least, more]);
        self.domains[variable.index()].equals.insert(value, equal);
        equal
    }

    fn add_clause(&mut self, clause: &[Lit]) {
        if clause.contains(&Lit::TRUE) {
            return;
        }
        self.answer = None;
        self.clause.clear();
        self.clause.extend(clause.iter().copied().filter(|&literal| literal != Lit::FALSE));
        self.sat.add_clause(&self.clause);
    }

    fn solve(&mut self) -> Answer {
        self.solve_assuming(&[])
    }

    fn value(&self, variable: IntVar) -> i32 {
        assert_eq!(self.answer, Some(Answer::Satisfiable), "a model is there");
        self.domains[variable.index()].value(|literal| self.sat.value(literal))
    }

    fn interval(&self, variable: IntVar) -> (i32, i32) {
        self.domains[variable.index()].around(self.value(variable))
    }

    fn holds(&self, literal: Lit) -> bool {
        assert_eq!(self.answer, Some(Answer::Satisfiable), "a model is there");
        self.is_true(literal)
    }

    fn memory(&self) -> u64 {
        self.sat.memory()
    }
}

impl SolveIncremental for SatSolver {
    fn solve_assuming(&mut self, assumptions: &[Lit]) -> Answer {
        self.assumptions.clear();
        self.assumptions.extend(assumptions.iter().copied().filter(|&literal| literal != Lit::TRUE));
        let answer = if self.assumptions.contains(&Lit::FALSE) {
            self.assumptions = vec![Lit::FALSE];
            Answer::Unsatisfiable
        } else {
            self.sat.solve(&self.assumptions)
        };
        self.answer = Some(answer);
        answer
    }

    fn core(&self) -> Vec<Lit> {
        assert_eq!(self.answer, Some(Answer::Unsatisfiable), "a core is there");
        if self.assumptions == [Lit::FALSE] {
            return vec![Lit::FALSE];
        }
        let mut core: Vec<Lit> = Vec::new();
        for &literal in &self.assumptions {
            // An assumption that was made twice counts once.
            if self.sat.failed(literal) && !core.contains(&literal) {
                core.push(literal);
            }
        }
        core
    }
}

impl Interrupt for SatSolver {
    fn set_interrupt(&mut self, poll: Option<Poll>) {
        self.sat.set_interrupt(poll);
    }
}

impl Arithmetic for SatSolver {
    fn linear_at_least(&mut self, _: &[(IntVar, i64)], _: i64) -> Option<Lit> {
        None
    }

    fn condition(&mut self, _: &ExprPool, _: ExprId, _: &dyn Fn(VarId) -> IntVar) -> Option<Lit> {
        None
    }
}
