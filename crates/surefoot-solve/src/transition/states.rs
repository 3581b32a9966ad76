//! Conditions at a state.

use surefoot_model::{ExprId, Predicate, TransitionSystem};

use super::{Bound, FrameId};
use crate::UnsupportedVariable;
use crate::encode::{Encoder, Truths};
use crate::literal::{Answer, Lit};
use crate::solver::{Arithmetic, Interrupt, Poll, Solve, SolveIncremental};

/// A solver over the states of a system.
///
/// In the reading `--out-of-domain error`, a command has an error at a state if its guard is undefined there, or if the guard is true and
/// for some outcome [`States::positive`] is true and [`States::possible`] is not. Under `block` it has none. (That probabilities sum to 1
/// is not looked at here.)
#[derive(Debug)]
pub struct States<'m, S> {
    system: &'m TransitionSystem,
    encoder: Encoder<S>,
    frames: Vec<Lit>,
}

impl<'m, S: Arithmetic + Default> States<'m, S> {
    /// A solver for the states of `system`.
    ///
    /// # Errors
    /// A variable is real.
    pub fn new(system: &'m TransitionSystem) -> Result<Self, UnsupportedVariable> {
        States::with_solver(system, S::default())
    }
}

impl<'m, S: Arithmetic> States<'m, S> {
    /// The same over a solver without variables and clauses.
    ///
    /// # Errors
    /// A variable is real.
    pub fn with_solver(system: &'m TransitionSystem, solver: S) -> Result<Self, UnsupportedVariable> {
        let encoder = Encoder::new(solver, &system.variables)?;
        Ok(States { system, encoder, frames: Vec::new() })
    }

    /// The literals of a condition of the system's pool.
    pub fn condition(&mut self, condition: ExprId) -> Truths {
        self.encoder.condition(&self.system.exprs, condition)
    }

    /// The literal of a predicate, whose conditions are of the system's pool.
    pub fn predicate(&mut self, predicate: &Predicate) -> Lit {
        self.encoder.predicate(&self.system.exprs, predicate)
    }

    /// The literals of the guard of a command.
    pub fn guard(&mut self, command: usize) -> Truths {
        self.condition(self.system.commands[command].guard)
    }

    /// The literal that says that an outcome, if its command is taken, stays in all domains: its requirements hold, and all new values
    /// are defined and in the domains of their variables.
    pub fn possible(&mut self, command: usize, outcome: usize) -> Lit {
        let outcome = &self.system.commands[command].outcomes[outcome];
        let possible = self.encoder.possible(&self.system.exprs, outcome);
        self.encoder.truths(possible).is_true
    }

    /// The literals of "the probability of an outcome is above 0".
    pub fn positive(&mut self, command: usize, outcome: usize) -> Truths {
        let outcome = &self.system.commands[command].outcomes[outcome];
        let positive = self.encoder.positive(&self.system.exprs, outcome);
        self.encoder.truths(positive)
    }

    /// The literal of a bound.
    pub fn bound(&mut self, bound: Bound) -> Lit {
        match bound {
            Bound::AtLeast(v, value) => self.encoder.at_least(self.encoder.integer(v), value),
            Bound::AtMost(v, value) => {
                !self.encoder.at_least(self.encoder.integer(v), value.saturating_add(1))
            }
        }
    }

    /// A new frame without conditions. Frames are numbered from 0.
    pub fn add_frame(&mut self) -> FrameId {
        let literal = self.encoder.new_literal();
        self.frames.push(literal);
        FrameId(self.frames.len() as u32 - 1)
    }

    /// The literal that turns a frame on.
    pub fn frame(&self, frame: FrameId) -> Lit {
        self.frames[frame.index()]
    }

    /// Adds a clause to a frame.
    pub fn add_clause(&mut self, frame: FrameId, clause: &[Bound]) {
        let mut literals: Vec<Lit> = clause.iter().map(|&bound| self.bound(bound)).collect();
        literals.push(!self.frames[frame.index()]);
        self.encoder.add_clause(&literals);
    }

    /// Whether there is a state at which all these literals are true.
    pub fn query(&mut self, literals: &[Lit]) -> Answer {
        self.encoder.solve_assuming(literals)
    }

    /// The state that was found.
    pub fn state(&self) -> Vec<i32> {
        self.encoder.state()
    }

    /// Some of the literals that cannot be true together.
    pub fn core(&self) -> Vec<Lit> {
        self.encoder.core()
    }

    /// The solver itself, for gates, enumeration and more.
    pub fn encoder(&mut self) -> &mut Encoder<S> {
        &mut self.encoder
    }

    /// Bytes, roughly.
    pub fn memory(&self) -> u64 {
        self.encoder.memory()
    }

    /// See [`Interrupt`].
    pub fn set_interrupt(&mut self, poll: Option<Poll>) {
        self.encoder.set_interrupt(poll);
    }
}
