//! The SAT solver proper: `batsat` behind our literals.

use std::cell::Cell;

use batsat::{Callbacks, ClauseKind, SolverInterface, SolverOpts, lbool};

use crate::literal::{Answer, Lit};
use crate::solver::Poll;

/// A SAT solver; variables come into being when they are mentioned.
pub struct Engine {
    solver: batsat::Solver<Stop>,
    buffer: Vec<batsat::Lit>,
    /// Clauses that were added.
    added: Size,
}

/// Clauses and the literals in them.
#[derive(Debug, Clone, Copy, Default)]
struct Size {
    clauses: usize,
    literals: usize,
}

impl Size {
    fn add(&mut self, literals: usize) {
        self.clauses += 1;
        self.literals += literals;
    }

    fn bytes(self, (clause, literal): (usize, usize)) -> usize {
        self.clauses * clause + self.literals * literal
    }

    /// Some of what is taken away may never have been stored.
    fn remove(&mut self, literals: usize) {
        self.clauses = self.clauses.saturating_sub(1);
        self.literals = self.literals.saturating_sub(literals);
    }
}

/// Bytes of a variable with its watch lists, and of a clause and a literal in it: measured with large random problems. Clauses that
/// are learnt and thrown away leave gaps behind.
const VARIABLE_BYTES: usize = 100;
const ADDED_BYTES: (usize, usize) = (30, 4);
const LEARNT_BYTES: (usize, usize) = (100, 10);

/// `batsat` asks at every decision, which is more often than a clock should be read.
const DECISIONS_PER_POLL: u32 = 256;

#[derive(Default)]
struct Stop {
    poll: Option<Poll>,
    decisions: Cell<u32>,
    stopped: Cell<bool>,
    /// Clauses that the solver has learnt and not thrown away.
    learnt: Size,
}

impl Callbacks for Stop {
    fn on_new_clause(&mut self, clause: &[batsat::Lit], _: ClauseKind) {
        self.learnt.add(clause.len());
    }

    fn on_delete_clause(&mut self, clause: &[batsat::Lit]) {
        self.learnt.remove(clause.len());
    }

    fn stop(&self) -> bool {
        let Some(poll) = &self.poll else { return false };
        let decisions = self.decisions.get();
        self.decisions.set((decisions + 1) % DECISIONS_PER_POLL);
        if decisions == 0 && poll() {
            self.stopped.set(true);
        }
        self.stopped.get()
    }
}

impl Engine {
    pub fn new() -> Self {
        let solver = batsat::Solver::new(SolverOpts::default(), Stop::default());
        Engine { solver, buffer: Vec::new(), added: Size::default() }
    }

    pub fn set_interrupt(&mut self, poll: Option<Poll>) {
        self.solver.cb_mut().poll = poll;
    }

    fn load(&mut self, literals: &[Lit]) -> Vec<batsat::Lit> {
        let mut buffer = std::mem::take(&mut self.buffer);
        buffer.clear();
        for &literal in literals {
            let variable = self.solver.var_of_int(literal.index() - 1);
            buffer.push(batsat::Lit::new(variable, !literal.is_negative()));
        }
        buffer
    }

    pub fn add_clause(&mut self, clause: &[Lit]) {
        self.added.add(clause.len());
        let mut buffer = self.load(clause);
        // The solver remembers by itself that it has become unsatisfiable.
        self.solver.add_clause_reuse(&mut buffer);
        self.buffer = buffer;
    }

    pub fn solve(&mut self, assumptions: &[Lit]) -> Answer {
        let stop = self.solver.cb_mut();
        stop.decisions.set(0);
        stop.stopped.set(false);
        // Questions without decisions are answered before the solver asks for itself.
        if stop.poll.is_some() && stop.stop() {
            return Answer::Unknown;
        }
        let buffer = self.load(assumptions);
        let answer = self.solver.solve_limited(&buffer);
        self.buffer = buffer;
        if answer == lbool::TRUE {
            Answer::Satisfiable
        } else if answer == lbool::FALSE {
            // A core is announced like a clause, but not stored.
            let core = self.solver.unsat_core().len();
            if core > 0 {
                self.solver.cb_mut().learnt.remove(core);
            }
            Answer::Unsatisfiable
        } else {
            Answer::Unknown
        }
    }

    /// Bytes, roughly.
    pub fn memory(&self) -> u64 {
        let variables = self.solver.num_vars() as usize * VARIABLE_BYTES;
        let clauses = self.added.bytes(ADDED_BYTES) + self.solver.cb().learnt.bytes(LEARNT_BYTES);
        (variables + clauses) as u64
    }

    /// The value of a literal, after `Satisfiable`. A variable that the solver never heard of is false.
    pub fn value(&self, literal: Lit) -> bool {
        let value = self.solver.get_model().get(literal.index() as usize - 1);
        value.is_some_and(|&value| value == lbool::TRUE) != literal.is_negative()
    }

    /// Whether an assumption is part of the core, after `Unsatisfiable`.
    pub fn failed(&self, literal: Lit) -> bool {
        let variable = batsat::Var::unsafe_from_idx(literal.index() - 1);
        // What the solver calls its core is the clause that it learnt: the negations of assumptions.
        self.solver.unsat_core_contains_lit(batsat::Lit::new(variable, literal.is_negative()))
    }
}
