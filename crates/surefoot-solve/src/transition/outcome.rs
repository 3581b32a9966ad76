//! One outcome of one command, as a solver of its own.

use rustc_hash::FxHashMap;
use surefoot_model::{ExprId, ExprPool, Predicate, Program, TransitionSystem, VarId};

use super::transitions::{Entry, Step};
use super::{Bound, FrameId};
use crate::UnsupportedVariable;
use crate::encode::{Encoder, Importer, Limits};
use crate::literal::{Answer, Lit};
use crate::solver::{Arithmetic, Solve, SolveIncremental};

/// The states in which the step is possible, and conditions on where it leads.
#[derive(Debug)]
pub struct OutcomeSolver<S> {
    pub encoder: Encoder<S>,
    after: Importer,
    /// Literals of bounds on variables that the step assigns.
    after_bounds: FxHashMap<(VarId, i64), Lit>,
    frames: Vec<Lit>,
    /// How many entries of the log are known here.
    entries: usize,
    assumptions: Vec<Lit>,
    /// See [`OutcomeSolver::measure`].
    bytes: u64,
    /// The new values and where they go.
    update: Program,
    assigned: Vec<VarId>,
}

impl<S: Arithmetic> OutcomeSolver<S> {
    pub fn new(
        solver: S,
        system: &TransitionSystem,
        step: Step,
        limits: Limits,
    ) -> Result<Self, UnsupportedVariable> {
        let command = &system.commands[step.command];
        let outcome = &command.outcomes[step.outcome];
        let pool = &system.exprs;
        let mut encoder = Encoder::new(solver, &system.variables)?;
        encoder.set_limits(limits);
        encoder.require_condition(pool, command.guard);
        let possible = encoder.possible(pool, outcome);
        encoder.require(possible);
        let positive = encoder.positive(pool, outcome);
        encoder.require(positive);
        let after = encoder.after(pool, outcome);
        let values: Vec<ExprId> = outcome.assignments.iter().map(|assignment| assignment.value).collect();
        Ok(OutcomeSolver {
            encoder,
            after,
            after_bounds: FxHashMap::default(),
            frames: Vec::new(),
            entries: 0,
            assumptions: Vec::new(),
            bytes: 0,
            update: Program::new(pool, &values),
            assigned: outcome.assignments.iter().map(|assignment| assignment.variable).collect(),
        })
    }

    /// Takes over what was added since the last time.
    pub fn catch_up(&mut self, system: &TransitionSystem, frames: usize, log: &[Entry]) {
        while self.frames.len() < frames {
            self.frames.push(self.encoder.new_literal());
        }
        let mut clause = Vec::new();
        for entry in &log[self.entries..] {
            clause.clear();
            match entry {
                Entry::Source(condition, value) => {
                    let truths = self.encoder.condition(&system.exprs, *condition);
                    clause.push(if *value { truths.is_true } else { truths.is_false });
                }
                Entry::Condition(frame, condition) => {
                    let truths = self.encoder.condition_after(&system.exprs, *condition, &mut self.after);
                    clause.extend([!self.frames[frame.index()], truths.is_true]);
                }
                Entry::Clause(frame, bounds) => {
                    clause.push(!self.frames[frame.index()]);
                    for &bound in bounds {
                        let literal = self.bound_after(bound);
                        clause.push(literal);
                        if literal == Lit::TRUE {
                            break;
                        }
                    }
                }
            }
            self.encoder.add_clause(&clause);
        }
        self.entries = log.len();
    }

    pub fn solve(&mut self, frames: &[FrameId], exit: Option<Lit>, current: &[Bound]) -> Answer {
        let mut assumptions = std::mem::take(&mut self.assumptions);
        assumptions.clear();
        assumptions.extend(frames.iter().map(|frame| self.frames[frame.index()]));
        assumptions.extend(exit);
        assumptions.extend(current.iter().map(|&bound| self.bound_before(bound)));
        let answer = self.encoder.solve_assuming(&assumptions);
        self.assumptions = assumptions;
        answer
    }

    /// Bytes when this was last asked and now, roughly.
    pub fn measure(&mut self) -> (u64, u64) {
        let after_bounds = self.after_bounds.len() * 2 * size_of::<((VarId, i64), Lit)>();
        let now = self.encoder.memory() + after_bounds as u64;
        (std::mem::replace(&mut self.bytes, now), now)
    }

    /// The literals of the last question: frames, the exit, bounds.
    pub fn assumptions(&self) -> &[Lit] {
        &self.assumptions
    }

    pub fn bound_before(&mut self, bound: Bound) -> Lit {
        match bound {
            Bound::AtLeast(v, value) => self.encoder.at_least(self.encoder.integer(v), value),
            Bound::AtMost(v, value) => {
                !self.encoder.at_least(self.encoder.integer(v), value.saturating_add(1))
            }
        }
    }

    /// The literals of a predicate on the state before the step and on that after it.
    pub fn predicate(&mut self, pool: &ExprPool, predicate: &Predicate) -> (Lit, Lit) {
        let before = self.encoder.predicate(pool, predicate);
        (before, self.encoder.predicate_after(pool, predicate, &mut self.after))
    }

    /// Whether the step gives a variable a new value.
    pub fn assigns(&self, variable: VarId) -> bool {
        self.after.replacement(variable).is_some()
    }

    /// The literal of a bound on the state after the step.
    pub fn bound_after(&mut self, bound: Bound) -> Lit {
        match bound {
            Bound::AtLeast(v, value) => self.at_least_after(v, value),
            Bound::AtMost(v, value) => !self.at_least_after(v, value.saturating_add(1)),
        }
    }

    /// `v ≥ bound` after the step. A variable that is not assigned keeps its value, so it has the literals from before.
    fn at_least_after(&mut self, v: VarId, bound: i64) -> Lit {
        let Some(value) = self.after.replacement(v) else {
            return self.encoder.at_least(self.encoder.integer(v), bound);
        };
        if let Some(&known) = self.after_bounds.get(&(v, bound)) {
            return known;
        }
        let literal = self.encoder.value_at_least(value, bound);
        self.after_bounds.insert((v, bound), literal);
        literal
    }

    /// The state to which the step leads from `state`, in which it is possible.
    pub fn successor(&self, state: &[i32]) -> Vec<i32> {
        let mut slots = Vec::new();
        self.update.run_state(state, &mut slots);
        let mut after = state.to_vec();
        for (i, v) in self.assigned.iter().enumerate() {
            let value = self.update.output(i, &slots).ok().and_then(surefoot_model::Value::as_int);
            after[v.index()] = value.expect("the step is possible, so new values are defined") as i32;
        }
        after
    }
}
