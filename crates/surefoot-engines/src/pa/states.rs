//! Questions about states of abstract states: which hold start states, unsafe ones, errors of the model.

use std::time::Instant;

use surefoot_model::Predicate;
use surefoot_solve::{Answer, AnySolver, Backend, Lit, Poll, Solve as _, States, Truths};

use super::cell::Cell;
use crate::symbolic::{Bad, Problem, StateBox, Stop, Tally};

/// A solver for conditions at states of abstract states.
pub struct CellStates<'p> {
    problem: &'p Problem,
    states: States<'p, AnySolver>,
    /// The literals of predicates.
    predicates: Vec<Lit>,
    start: Option<Truths>,
    bad: Bad,
    /// That the laws hold.
    laws: Vec<Lit>,
    /// Questions so far.
    pub asked: Tally,
}

/// Abstract states that were listed, as a literal that excludes them.
#[derive(Clone, Copy)]
pub struct Listed(Lit);

impl<'p> CellStates<'p> {
    pub fn new(problem: &'p Problem, solver: Backend, poll: Poll) -> CellStates<'p> {
        let states = States::with_solver(&problem.task.system, solver.maker()());
        let mut states = states.expect("variables are discrete");
        states.set_interrupt(Some(poll));
        let start = problem.task.property.start.condition.map(|condition| states.condition(condition));
        let bad = Bad::new(problem, &mut states);
        let laws = problem.law_conditions.iter().map(|&law| states.condition(law).is_true).collect();
        let predicates = Vec::new();
        CellStates { problem, states, predicates, start, bad, laws, asked: Tally::default() }
    }

    /// Adds a predicate.
    pub fn add_predicate(&mut self, predicate: &Predicate) {
        let literal = self.states.predicate(predicate);
        self.predicates.push(literal);
    }

    /// Bytes, roughly.
    pub fn memory(&self) -> u64 {
        self.states.memory()
    }

    /// No abstract states.
    pub fn list_nothing(&mut self) -> Listed {
        Listed(self.states.encoder().new_literal())
    }

    /// Lists an abstract state.
    pub fn list(&mut self, listed: Listed, cell: &Cell) {
        let mut clause: Vec<Lit> = self.values(cell).into_iter().map(|literal| !literal).collect();
        clause.push(!listed.0);
        self.states.encoder().add_clause(&clause);
    }

    /// Gives up a list, whose clauses have no effect any more.
    pub fn forget(&mut self, listed: Listed) {
        self.states.encoder().add_clause(&[!listed.0]);
    }

    /// A state that satisfies the start condition and is in no abstract state that was listed.
    pub fn start(&mut self, listed: Listed) -> Result<Option<Vec<i32>>, Stop> {
        let Some(start) = self.start else { return Ok(None) };
        self.ask(&[start.is_true, listed.0])
    }

    /// A state at which the start condition is undefined.
    pub fn undefined_start(&mut self) -> Result<Option<Vec<i32>>, Stop> {
        let Some(start) = self.start else { return Ok(None) };
        let undefined = self.states.encoder().undefined(start);
        self.ask(&[undefined])
    }

    /// A state that satisfies the start condition and is unsafe.
    pub fn unsafe_start(&mut self) -> Result<Option<Vec<i32>>, Stop> {
        let Some(start) = self.start else { return Ok(None) };
        self.ask(&[start.is_true, self.bad.unsafe_state])
    }

    /// An unsafe state of an abstract state.
    pub fn unsafe_state(&mut self, cell: &Cell) -> Result<Option<Vec<i32>>, Stop> {
        self.ask_in(cell, &[self.bad.unsafe_state])
    }

    /// A state of an abstract state at which something is undefined that never may be.
    pub fn undefined(&mut self, cell: &Cell) -> Result<Option<Vec<i32>>, Stop> {
        self.ask_in(cell, &[self.bad.undefined])
    }

    /// A state of an abstract state and a box in which taking a command is an error.
    pub fn error(&mut self, command: usize, cell: &Cell, part: &StateBox) -> Result<Option<Vec<i32>>, Stop> {
        let Some(error) = self.bad.errors[command] else { return Ok(None) };
        let mut question = vec![error];
        for bound in part.bounds(&self.problem.domain) {
            question.push(self.states.bound(bound));
        }
        self.ask_in(cell, &question)
    }

    fn values(&self, cell: &Cell) -> Vec<Lit> {
        let value = |(index, &literal): (usize, &Lit)| if cell.value(index) { literal } else { !literal };
        self.predicates.iter().enumerate().map(value).collect()
    }

    fn ask_in(&mut self, cell: &Cell, literals: &[Lit]) -> Result<Option<Vec<i32>>, Stop> {
        let mut question = self.values(cell);
        question.extend(&self.laws);
        question.extend(literals);
        self.ask(&question)
    }

    fn ask(&mut self, question: &[Lit]) -> Result<Option<Vec<i32>>, Stop> {
        let asked = Instant::now();
        let answer = self.states.query(question);
        self.asked.add(asked);
        match answer {
            Answer::Satisfiable => Ok(Some(self.states.state())),
            Answer::Unsatisfiable => Ok(None),
            Answer::Unknown => Err(Stop::Limit),
        }
    }
}
