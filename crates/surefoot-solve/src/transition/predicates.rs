//! Steps between abstract states: where predicates have given values before and after (paper 001, abstract transition problem without the policy).
//!
//! As in [`super::Transitions`], each outcome of each command has a solver of its own, in which the state after the step is a function of the
//! state before. So a predicate on the state after the step is a condition on the state before; if the step does not
//! touch it, it has the same literal before and after.

use rustc_hash::FxHashMap;
use surefoot_model::{ExprId, Predicate, TransitionSystem};

use super::Bound;
use super::outcome::OutcomeSolver;
use super::transitions::Step;
use crate::UnsupportedVariable;
use crate::encode::Limits;
use crate::literal::{Answer, Lit};
use crate::solver::{Arithmetic, Interrupt as _, Poll, Solve as _, SolveIncremental as _};

/// Abstract states that steps of one outcome must not lead to.
#[derive(Debug, Clone, Copy)]
pub struct Excluded {
    step: Step,
    literal: Lit,
}

/// A solver of an outcome, and the literals of predicates.
struct Solver<S> {
    outcome: OutcomeSolver<S>,
    before: Vec<Lit>,
    after: Vec<Lit>,
    /// Predicates whose values the step can change.
    changing: Vec<usize>,
    bytes: u64,
}

/// Solvers for the steps of a system, as [`super::Transitions`] has them, with predicates.
pub struct PredicateSteps<'m, S> {
    system: &'m TransitionSystem,
    make: fn() -> S,
    predicates: Vec<Predicate>,
    sources: Vec<(ExprId, bool)>,
    solvers: FxHashMap<Step, Solver<S>>,
    bytes: u64,
    poll: Option<Poll>,
    limits: Limits,
    /// The outcome of the last question.
    asked: Option<Step>,
}

impl<'m, S: Arithmetic> PredicateSteps<'m, S> {
    /// Solvers without predicates. They are made when they are needed.
    ///
    /// # Errors
    /// A variable is real.
    pub fn with_solvers(system: &'m TransitionSystem, make: fn() -> S) -> Result<Self, UnsupportedVariable> {
        if let Some(real) = system.variables.iter().find(|variable| variable.ty.bounds().is_none()) {
            return Err(UnsupportedVariable { name: real.name.clone() });
        }
        Ok(PredicateSteps {
            system,
            make,
            predicates: Vec::new(),
            sources: Vec::new(),
            solvers: FxHashMap::default(),
            bytes: 0,
            poll: None,
            limits: Limits::default(),
            asked: None,
        })
    }

    /// From now on, steps start only in states at which the condition is defined and has this value. Called before any question.
    pub fn restrict_sources(&mut self, condition: ExprId, value: bool) {
        assert!(self.solvers.is_empty(), "no question was asked yet");
        self.sources.push((condition, value));
    }

    /// See [`crate::Interrupt`]; called before any question.
    pub fn set_interrupt(&mut self, poll: Option<Poll>) {
        assert!(self.solvers.is_empty(), "no question was asked yet");
        self.poll = poll;
    }

    /// Sets the limits of all solvers; called before any question.
    pub fn set_limits(&mut self, limits: Limits) {
        assert!(self.solvers.is_empty(), "no question was asked yet");
        self.limits = limits;
    }

    /// Adds a predicate. Abstract states have the values of all predicates, in the order in which they were added.
    pub fn add_predicate(&mut self, predicate: Predicate) {
        self.predicates.push(predicate);
    }

    /// Predicates whose values an outcome can change.
    pub fn changing(&mut self, step: Step) -> &[usize] {
        &self.solver(step).changing
    }

    /// An empty set of targets to exclude.
    pub fn exclude_nothing(&mut self, step: Step) -> Excluded {
        let literal = self.solver(step).outcome.encoder.new_literal();
        Excluded { step, literal }
    }

    /// Excludes an abstract state, for steps from states that agree with it on all predicates that the outcome cannot change.
    pub fn exclude(&mut self, excluded: &Excluded, target: impl Fn(usize) -> bool) {
        let solver = self.solver(excluded.step);
        let differs = |&index: &usize| if target(index) { !solver.after[index] } else { solver.after[index] };
        let mut clause: Vec<Lit> = solver.changing.iter().map(differs).collect();
        clause.push(!excluded.literal);
        solver.outcome.encoder.add_clause(&clause);
    }

    /// Gives up a set of targets, whose clauses have no effect any more.
    pub fn forget(&mut self, excluded: Excluded) {
        let Excluded { step, literal } = excluded;
        self.solver(step).outcome.encoder.add_clause(&[!literal]);
    }

    /// Is there a step from a state of the abstract state `source`, within the bounds, that leads to none of the excluded abstract states?
    pub fn leave(&mut self, source: impl Fn(usize) -> bool, bounds: &[Bound], excluded: &Excluded) -> Answer {
        let solver = self.solver(excluded.step);
        let mut assumptions = vec![excluded.literal];
        assumptions.extend(with_values(&solver.before, source));
        self.ask(excluded.step, assumptions, bounds)
    }

    /// Is there a step from a state of the abstract state `source`, within the bounds, to one of `target`?
    pub fn lead(
        &mut self,
        step: Step,
        source: impl Fn(usize) -> bool,
        bounds: &[Bound],
        target: impl Fn(usize) -> bool,
    ) -> Answer {
        let solver = self.solver(step);
        let mut assumptions: Vec<Lit> = with_values(&solver.before, source).collect();
        let after = solver.changing.iter().map(|&index| literal(solver.after[index], target(index)));
        assumptions.extend(after);
        self.ask(step, assumptions, bounds)
    }

    fn ask(&mut self, step: Step, mut assumptions: Vec<Lit>, bounds: &[Bound]) -> Answer {
        self.asked = Some(step);
        let solver = self.solvers.get_mut(&step).expect("it was made ready");
        assumptions.extend(bounds.iter().map(|&bound| solver.outcome.bound_before(bound)));
        let answer = solver.outcome.encoder.solve_assuming(&assumptions);
        let now = solver.outcome.encoder.memory();
        self.bytes = self.bytes - solver.bytes + now;
        solver.bytes = now;
        answer
    }

    /// After [`Answer::Satisfiable`]: the state before the step.
    pub fn state(&self) -> Vec<i32> {
        self.last().encoder.state()
    }

    /// After [`Answer::Satisfiable`]: the state after the step.
    pub fn successor(&self) -> Vec<i32> {
        self.last().successor(&self.state())
    }

    fn last(&self) -> &OutcomeSolver<S> {
        &self.solvers[&self.asked.expect("a question was asked")].outcome
    }

    /// Bytes of all solvers, roughly.
    pub fn memory(&self) -> u64 {
        self.bytes
    }

    /// The solver of an outcome, which knows all predicates.
    fn solver(&mut self, step: Step) -> &mut Solver<S> {
        let PredicateSteps { system, make, predicates, sources, solvers, poll, limits, .. } = self;
        let solver = solvers.entry(step).or_insert_with(|| {
            let outcome = OutcomeSolver::new(make(), system, step, *limits);
            let mut outcome = outcome.expect("no variable is real");
            outcome.encoder.set_interrupt(poll.clone());
            for &(condition, value) in sources.iter() {
                let truths = outcome.encoder.condition(&system.exprs, condition);
                outcome.encoder.add_clause(&[if value { truths.is_true } else { truths.is_false }]);
            }
            Solver { outcome, before: Vec::new(), after: Vec::new(), changing: Vec::new(), bytes: 0 }
        });
        for (index, predicate) in predicates.iter().enumerate().skip(solver.before.len()) {
            let (before, after) = solver.outcome.predicate(&system.exprs, predicate);
            solver.before.push(before);
            solver.after.push(after);
            if before != after {
                solver.changing.push(index);
            }
        }
        solver
    }
}

fn literal(literal: Lit, value: bool) -> Lit {
    if value { literal } else { !literal }
}

fn with_values(literals: &[Lit], value: impl Fn(usize) -> bool) -> impl Iterator<Item = Lit> {
    literals.iter().enumerate().map(move |(index, &of)| literal(of, value(index)))
}
