//! Runs that take given steps.
//!
//! The states of such a run are functions of its first one, so a condition at any of them is a condition on the first. Used to find out whether a path between
//! abstract states is one between states (paper 001, appendix F).

use surefoot_model::{ExprId, TransitionSystem};

use super::Bound;
use super::transitions::Step;
use crate::UnsupportedVariable;
use crate::encode::{Encoder, Importer, Truths};
use crate::literal::{Answer, Lit};
use crate::solver::{Arithmetic, Interrupt as _, Poll, Solve as _, SolveIncremental as _};

/// A solver over the first states of runs that take given steps.
pub struct Path<'m, S> {
    system: &'m TransitionSystem,
    encoder: Encoder<S>,
    /// The states of the run so far, as functions of the first.
    states: Vec<Importer>,
}

impl<'m, S: Arithmetic> Path<'m, S> {
    /// Runs without steps.
    ///
    /// # Errors
    /// A variable is real.
    pub fn new(system: &'m TransitionSystem, solver: S) -> Result<Self, UnsupportedVariable> {
        let encoder = Encoder::new(solver, &system.variables)?;
        Ok(Path { system, encoder, states: vec![Importer::default()] })
    }

    /// See [`crate::Interrupt`].
    pub fn set_interrupt(&mut self, poll: Option<Poll>) {
        self.encoder.set_interrupt(poll);
    }

    /// Adds a step at the end. The literal says that it is possible there: the guard is true, the probability is above 0, requirements hold, and new values are
    /// defined and in their domains.
    pub fn push(&mut self, step: Step) -> Lit {
        let command = &self.system.commands[step.command];
        let outcome = &command.outcomes[step.outcome];
        let pool = &self.system.exprs;
        let state = self.states.last_mut().expect("there is a first state");
        let guard = self.encoder.condition_after(pool, command.guard, state);
        let possible = self.encoder.possible_after(pool, outcome, state);
        let positive = self.encoder.positive_after(pool, outcome, state);
        let next = self.encoder.then(pool, outcome, state);
        self.states.push(next);
        self.encoder.and(&[guard.is_true, possible, positive])
    }

    /// The literals of a condition at a state of the run, from 0 on.
    pub fn condition(&mut self, at: usize, condition: ExprId) -> Truths {
        self.encoder.condition_after(&self.system.exprs, condition, &mut self.states[at])
    }

    /// The literal that says that a condition is undefined at a state of the run.
    pub fn undefined(&mut self, at: usize, condition: ExprId) -> Lit {
        let truths = self.condition(at, condition);
        self.encoder.undefined(truths)
    }

    /// The literal that says that the probability of an outcome is above 0 at a state of the run, but that a requirement fails, or a new value is undefined or
    /// outside its domain.
    pub fn impossible(&mut self, at: usize, step: Step) -> Lit {
        let outcome = &self.system.commands[step.command].outcomes[step.outcome];
        let (pool, state) = (&self.system.exprs, &mut self.states[at]);
        let possible = self.encoder.possible_after(pool, outcome, state);
        let positive = self.encoder.positive_after(pool, outcome, state);
        self.encoder.and(&[positive, !possible])
    }

    /// The literal of a bound at a state of the run.
    pub fn bound(&mut self, at: usize, bound: Bound) -> Lit {
        let (variable, value, is_negated) = match bound {
            Bound::AtLeast(variable, value) => (variable, value, false),
            Bound::AtMost(variable, value) => (variable, value.saturating_add(1), true),
        };
        let literal = match self.states[at].replacement(variable) {
            Some(expression) => self.encoder.value_at_least(expression, value),
            None => self.encoder.at_least(self.encoder.integer(variable), value),
        };
        if is_negated { !literal } else { literal }
    }

    /// A fresh literal.
    pub fn new_literal(&mut self) -> Lit {
        self.encoder.new_literal()
    }

    /// The literal of a conjunction.
    pub fn and(&mut self, literals: &[Lit]) -> Lit {
        self.encoder.and(literals)
    }

    /// The literal of a disjunction.
    pub fn or(&mut self, literals: &[Lit]) -> Lit {
        self.encoder.or(literals)
    }

    /// From now on, one of these literals must be true.
    pub fn add_clause(&mut self, clause: &[Lit]) {
        self.encoder.add_clause(clause);
    }

    /// Whether there is a first state at which all these literals are true.
    pub fn query(&mut self, literals: &[Lit]) -> Answer {
        self.encoder.solve_assuming(literals)
    }

    /// The first state that was found.
    pub fn first_state(&self) -> Vec<i32> {
        self.encoder.state()
    }

    /// Whether a literal is true for the run that was found.
    pub fn holds(&self, literal: Lit) -> bool {
        self.encoder.holds(literal)
    }

    /// Bytes, roughly.
    pub fn memory(&self) -> u64 {
        self.encoder.memory()
    }

    /// Some of the literals that cannot be true together.
    pub fn core(&self) -> Vec<Lit> {
        self.encoder.core()
    }
}

#[cfg(test)]
mod tests {
    use surefoot_model::{Assignment, Command, Outcome, VarId, Variable, VariableType};

    use super::*;
    use crate::SatSolver;

    /// `x < 7 → x := 2x + y`, `y := y + 1`.
    fn system() -> TransitionSystem {
        let mut system = TransitionSystem::default();
        system.variables.push(Variable::new("x", VariableType::Int { lower: 0, upper: 20 }));
        system.variables.push(Variable::new("y", VariableType::Int { lower: -3, upper: 3 }));
        let (x, y) = (VarId(0), VarId(1));
        let pool = &mut system.exprs;
        let (of_x, of_y) = (pool.variable(x, &system.variables[0]), pool.variable(y, &system.variables[1]));
        let (one, two, seven) = (pool.int(1), pool.int(2), pool.int(7));
        let guard = pool.lt(of_x, seven).expect("numbers");
        let double = pool.mul(two, of_x).expect("numbers");
        let to_x = pool.add(double, of_y).expect("numbers");
        let to_y = pool.add(of_y, one).expect("numbers");
        let assignments =
            vec![Assignment { variable: x, value: to_x }, Assignment { variable: y, value: to_y }];
        let outcomes = vec![Outcome { probability: one, assignments, requirements: Vec::new() }];
        system.commands.push(Command { label: None, guard, outcomes, origin: String::new() });
        system
    }

    /// The state after a step, if there is one.
    fn step([x, y]: [i32; 2]) -> Option<[i32; 2]> {
        let after = [2 * x + y, y + 1];
        (x < 7 && (0..=20).contains(&after[0]) && after[1] <= 3).then_some(after)
    }

    #[test]
    fn runs_are_those_of_the_steps() {
        let system = system();
        let once = Step { command: 0, outcome: 0 };
        for length in 0..4 {
            let mut path = Path::new(&system, SatSolver::new()).expect("no real variables");
            let possible: Vec<Lit> = (0..length).map(|_| path.push(once)).collect();
            for x in 0..=20 {
                for y in -3..=3 {
                    let mut states = vec![[x, y]];
                    while let Some(next) =
                        states.last().copied().and_then(step).filter(|_| states.len() <= length)
                    {
                        states.push(next);
                    }
                    let mut question: Vec<Lit> =
                        Bound::of_state(&[x, y]).into_iter().map(|bound| path.bound(0, bound)).collect();
                    question.extend(&possible);
                    let is_run = states.len() > length;
                    assert_eq!(path.query(&question) == Answer::Satisfiable, is_run, "{states:?}");
                    if is_run {
                        let last = Bound::of_state(&states[length]);
                        question.extend(last.into_iter().map(|bound| path.bound(length, bound)));
                        assert_eq!(path.query(&question), Answer::Satisfiable, "{states:?}");
                        assert_eq!(path.first_state(), [x, y]);
                        question.push(
                            path.bound(length, Bound::AtLeast(VarId(0), i64::from(states[length][0]) + 1)),
                        );
                        assert_eq!(path.query(&question), Answer::Unsatisfiable, "{states:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn what_is_impossible_is_known_anywhere_on_the_path() {
        let system = system();
        let once = Step { command: 0, outcome: 0 };
        let mut path = Path::new(&system, SatSolver::new()).expect("no real variables");
        let possible = path.push(once);
        let impossible = path.impossible(1, once);
        // From x = 1, y = -2 the step would lead to 0, -1, and from there to -1.
        let start: Vec<Lit> =
            Bound::of_state(&[1, -2]).into_iter().map(|bound| path.bound(0, bound)).collect();
        let question = [&start[..], &[possible, impossible]].concat();
        assert_eq!(path.query(&question), Answer::Satisfiable);
        let question = [&start[..], &[possible, !impossible]].concat();
        assert_eq!(path.query(&question), Answer::Unsatisfiable);
        assert!(path.core().contains(&!impossible));
    }
}
