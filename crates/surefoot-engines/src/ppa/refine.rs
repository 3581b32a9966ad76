//! New predicates, so that a spurious path is none any more (paper 001, Algorithm 2; paper 004).
//!
//! The predicates that matter at a state of the path are added with their weakest preconditions at all states before. So abstract states along the path know whether
//! they hold, and the path ends where they do not.

use surefoot_model::{Inequality, Linear, Outcome, Predicate, VarId};
use surefoot_solve::{Bound, Step};

use super::Run;
use super::concretize::Spurious;
use super::options::Refinement;
use super::search::{AbstractPath, End};
use crate::pa::Source;
use crate::symbolic::{StateBox, Stop};

/// Predicates at one state of a path that are followed further back: `min`, `max` and `ite` can make many of one.
const PRECONDITIONS: usize = 32;

impl Run<'_> {
    /// Adds predicates because an abstract path is spurious; how many.
    pub(super) fn refine(&mut self, path: &AbstractPath, spurious: &Spurious) -> Result<usize, Stop> {
        let before = self.abstraction.predicates.len();
        if let Some(last) = spurious.barriers.last() {
            match self.options.refinement {
                Refinement::Barriers => {}
                Refinement::Values => {
                    for &(variable, value) in &spurious.entailed {
                        for bound in [i64::from(value), i64::from(value) + 1] {
                            self.add_bound_with_preconditions(variable, bound, &path.steps[..last.at]);
                        }
                    }
                    if self.abstraction.predicates.len() == before {
                        let is_open =
                            |v: &VarId| !spurious.entailed.iter().any(|(entailed, _)| entailed == v);
                        self.bisect(is_open);
                    }
                }
                Refinement::Witness { variables, split } => {
                    // At the end of the path there is no step, and so no witness.
                    if let Some(witness) = path.witnesses.get(last.at) {
                        for (variable, bound) in self.split_witness(witness, &last.state, variables, split)? {
                            self.add_bound_with_preconditions(variable, bound, &[]);
                        }
                    }
                }
            }
        }
        // Where nothing of that is new, barriers help.
        if self.abstraction.predicates.len() == before {
            self.refine_by_core(path, spurious);
        }
        Ok(self.abstraction.predicates.len() - before)
    }

    /// Adds what decides all steps of a path, and its end; how many predicates. Where a step leaves a domain, what the core says is not all that matters.
    pub(super) fn refine_by_all_steps(&mut self, path: &AbstractPath) -> usize {
        let before = self.abstraction.predicates.len();
        self.add_steps(path, 0..=path.steps.len());
        self.abstraction.predicates.len() - before
    }

    /// Adds what decides whether commands are possible.
    pub(super) fn add_commands(&mut self) {
        for (command, info) in self.problem.task.system.commands.iter().enumerate() {
            for outcome in 0..info.outcomes.len() {
                for predicate in self.atoms_of_step(Step { command, outcome }) {
                    self.abstraction.add(predicate, Source::Environment);
                }
            }
        }
    }

    /// Adds what decides the steps and the barriers of a core.
    fn refine_by_core(&mut self, path: &AbstractPath, spurious: &Spurious) {
        self.add_steps(path, spurious.steps.iter().copied());
        for barrier in &spurious.barriers {
            for bound in barrier.states.bounds(&self.problem.domain) {
                let (variable, value) = match bound {
                    Bound::AtLeast(variable, value) => (variable, value),
                    // Up to negation.
                    Bound::AtMost(variable, value) => (variable, value + 1),
                };
                self.add_bound_with_preconditions(variable, value, &path.steps[..barrier.at]);
            }
        }
    }

    /// Adds what decides steps of a path; the number of all steps stands for its end.
    fn add_steps(&mut self, path: &AbstractPath, steps: impl IntoIterator<Item = usize>) {
        for at in steps {
            let predicates = match path.steps.get(at) {
                Some(&step) => self.atoms_of_step(step),
                None => self.atoms_of_end(path.end),
            };
            for predicate in predicates {
                self.add_with_preconditions(predicate, &path.steps[..at], Source::Environment);
            }
        }
    }

    /// Adds `variable ≥ bound` at the end of steps because of the policy, and what decides it before them.
    fn add_bound_with_preconditions(&mut self, variable: VarId, bound: i64, steps: &[Step]) {
        let StateBox { lower, upper } = &self.problem.domain;
        if let Some(inequality) = Inequality::bound(variable, bound, lower, upper) {
            self.add_with_preconditions(Predicate::Linear(inequality), steps, Source::Policy);
        }
    }

    /// Adds a predicate at the end of steps, and what decides it before them.
    fn add_with_preconditions(&mut self, predicate: Predicate, steps: &[Step], source: Source) {
        let problem = self.problem;
        let StateBox { lower, upper } = &problem.domain;
        let mut current = vec![predicate];
        for &step in steps.iter().rev() {
            let mut before: Vec<Predicate> = Vec::new();
            for predicate in current {
                if let Predicate::Linear(inequality) = &predicate {
                    let outcome = &problem.task.system.commands[step.command].outcomes[step.outcome];
                    let found = inequality.preconditions(&problem.task.system.exprs, outcome, lower, upper);
                    before.extend(
                        found.into_iter().filter(|found| !before.contains(found)).collect::<Vec<_>>(),
                    );
                }
                self.abstraction.add(predicate, source);
            }
            before.truncate(PRECONDITIONS);
            current = before;
        }
        for predicate in current {
            self.abstraction.add(predicate, source);
        }
    }

    fn outcome(&self, step: Step) -> &Outcome {
        &self.problem.task.system.commands[step.command].outcomes[step.outcome]
    }

    /// `linear ≥ 0`, up to negation.
    fn normal(&self, linear: &Linear) -> Option<Inequality> {
        let StateBox { lower, upper } = &self.problem.domain;
        Inequality::not_negative(linear, lower, upper).map(|(inequality, _)| inequality)
    }

    /// What decides whether a step is possible: its guard, that runs go on, and that it stays in the domains.
    fn atoms_of_step(&self, step: Step) -> Vec<Predicate> {
        let system = &self.problem.task.system;
        let StateBox { lower, upper } = &self.problem.domain;
        let outcome = self.outcome(step);
        let mut conditions = vec![system.commands[step.command].guard];
        conditions.extend(self.problem.sources.iter().map(|(condition, _)| *condition));
        conditions.extend(outcome.requirements.iter().map(|requirement| requirement.condition));
        let atoms = conditions.iter().flat_map(|&id| Predicate::atoms(&system.exprs, id, lower, upper));
        let mut atoms: Vec<Predicate> = atoms.collect();
        for assignment in &outcome.assignments {
            let variable = assignment.variable;
            for (bound, is_upper) in [(lower[variable.index()], false), (upper[variable.index()], true)] {
                let within = self.within(outcome, variable, bound, is_upper);
                atoms.extend(within.map(Predicate::Linear));
            }
        }
        atoms
    }

    /// That the new value of a variable is not beyond an end of its domain.
    fn within(&self, outcome: &Outcome, variable: VarId, bound: i32, is_upper: bool) -> Option<Inequality> {
        let sign = if is_upper { -1 } else { 1 };
        let terms = vec![(variable, sign)];
        let linear = Linear { terms, constant: -sign * i64::from(bound) };
        self.normal(&linear.before(&self.problem.task.system.exprs, outcome)?)
    }

    /// What decides whether a state is bad.
    fn atoms_of_end(&self, end: End) -> Vec<Predicate> {
        let system = &self.problem.task.system;
        let StateBox { lower, upper } = &self.problem.domain;
        let atoms = |id| Predicate::atoms(&system.exprs, id, lower, upper);
        if end == End::Unsafe {
            return atoms(self.problem.unsafe_states);
        }
        let mut predicates: Vec<Predicate> =
            self.problem.conditions.iter().flat_map(|&condition| atoms(condition)).collect();
        for (command, info) in system.commands.iter().enumerate() {
            predicates.extend(self.problem.distributions[command].into_iter().flat_map(atoms));
            for outcome in 0..info.outcomes.len() {
                predicates.extend(self.atoms_of_step(Step { command, outcome }));
            }
        }
        predicates
    }

    /// Adds predicates that bisect the domains of some variables once more; none if all values are told apart.
    pub(super) fn bisect(&mut self, is_wanted: impl Fn(&VarId) -> bool) -> usize {
        let before = self.abstraction.predicates.len();
        let all = (0..self.problem.domain.lower.len()).map(|index| VarId(index as u32));
        for variable in all.filter(is_wanted) {
            let ends =
                (self.problem.domain.lower[variable.index()], self.problem.domain.upper[variable.index()]);
            let mut intervals = std::collections::VecDeque::from([ends]);
            while let Some((lower, upper)) = intervals.pop_front() {
                if lower == upper {
                    continue;
                }
                let middle = crate::symbolic::middle(lower, upper);
                if self.abstraction.predicates.has_bound(variable, middle.into()) {
                    intervals.extend([(lower, middle - 1), (middle, upper)]);
                } else {
                    self.abstraction.add_bound(variable, middle.into());
                    break;
                }
            }
        }
        self.abstraction.predicates.len() - before
    }
}
