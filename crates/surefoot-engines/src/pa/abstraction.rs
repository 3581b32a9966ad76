//! The abstract transition problem (paper 001, §2 and appendix C and E): which abstract states does the policy lead to from an abstract state?
//!
//! Answered exactly, cheapest first:
//!
//! 1. States of the abstract state that are known already are executed: all their steps are transitions.
//! 2. Bounds show for most commands that the policy chooses their labels nowhere in the part of the box in which they can be enabled.
//! 3. A solver looks for a step of the environment to a target that is not known yet. Where it finds one, the state is executed.
//! 4. If the policy chooses another label there, the box is split between that state and one where it may choose this label, and both questions are asked
//!    again about the parts, until one of them has no answer or a state answers both. Boxes have finitely many states, so this ends.

use std::collections::BTreeMap;
use std::time::Instant;

use rustc_hash::{FxHashMap, FxHashSet};
use surefoot_model::{ExprId, Inequality, Predicate, VarId};
use surefoot_solve::{Answer, AnySolver, Backend, Limits, Poll, PredicateSteps, Step};

use super::Enhancements;
use super::ancestor::{Ancestor, Ancestors};
use super::cell::Cell;
use super::predicates::{Predicates, Region};
use super::states::CellStates;
use super::statistics::{Source, Tests};
use crate::control::Control;
use crate::outcome::StopReason;
use crate::step::Stepper;
use crate::symbolic::{Choice, Images, POLICY_BOXES, PolicyTests, Problem, StateBox, Stop, halve};
use crate::task::TaskError;

/// States of an abstract state that are remembered until it is expanded.
const SEEDS: usize = 4;

/// States that are remembered to have been executed.
const EXECUTED: usize = 10_000;

/// A step of the policy between states of two abstract states.
#[derive(Debug, Clone)]
pub struct Witness {
    /// The state before.
    pub from: Vec<i32>,
    /// Which step.
    pub step: Step,
    /// The state after.
    pub to: Vec<i32>,
}

/// What an abstract state leads to.
#[derive(Debug, Default)]
pub struct Expansion {
    /// The abstract states after one step of the policy.
    pub successors: BTreeMap<Cell, Witness>,
    /// A state in which a step of the policy shows a mistake of the model.
    pub error: Option<Vec<i32>>,
    /// Commands that the policy takes in none of its states, in ascending order.
    pub never: Vec<u32>,
}

/// What the policy may do from a state.
#[derive(Clone, Copy)]
enum Aim<'c> {
    /// Lead to an abstract state.
    Target(Step, &'c Cell),
    /// Take a command where that is an error.
    Error(usize),
}

/// Predicates, and all that answers questions about their abstract states.
pub struct Abstraction<'p> {
    problem: &'p Problem,
    /// The predicates.
    pub predicates: Predicates<'p>,
    /// Questions about states.
    pub states: CellStates<'p>,
    /// Questions about steps of the environment.
    pub steps: PredicateSteps<'p, AnySolver>,
    /// Questions about the policy.
    pub policy: PolicyTests<'p>,
    /// Where commands can be enabled.
    pub images: Images<'p>,
    enhancements: Enhancements,
    stepper: Stepper<'p>,
    /// States of abstract states, by abstract state.
    seeds: FxHashMap<Cell, Vec<Vec<i32>>>,
    /// What is known of abstract states with fewer predicates.
    pub ancestors: Ancestors,
    /// States that were executed since the last expansion began.
    executed: FxHashSet<Vec<i32>>,
    /// Commands whose guards are not false everywhere in the abstract state that is expanded.
    commands: Vec<usize>,
    /// What inequalities after a step are before it, with their negation.
    before: FxHashMap<(Step, usize), Option<(Inequality, bool)>>,
    poll: Poll,
    memory_limit: Option<u64>,
    /// The limit that one expansion has reached.
    pub stopped: Option<StopReason>,
    tests: Tests,
}

impl<'p> Abstraction<'p> {
    /// The abstraction that tells only locations apart.
    pub fn new(
        problem: &'p Problem,
        enhancements: Enhancements,
        solver: Backend,
        control: &Control<'_>,
    ) -> Abstraction<'p> {
        let poll = control.poll();
        let steps = PredicateSteps::with_solvers(&problem.task.system, solver.maker());
        let mut steps = steps.expect("variables are discrete");
        steps.set_interrupt(Some(poll.clone()));
        steps.set_limits(Limits { share_sums: enhancements.shared_terms, ..Limits::default() });
        let mut policy = PolicyTests::new(problem, control.cache(), poll.clone());
        policy.over_boxes = enhancements.per_operator;
        for &(condition, value) in &problem.sources {
            steps.restrict_sources(condition, value);
        }
        for &law in &problem.law_conditions {
            steps.restrict_sources(law, true);
        }
        let mut abstraction = Abstraction {
            problem,
            predicates: Predicates::of_locations(problem),
            states: CellStates::new(problem, solver, poll.clone()),
            steps,
            policy,
            enhancements,
            images: Images::new(problem),
            stepper: Stepper::new(&problem.task),
            seeds: FxHashMap::default(),
            ancestors: Ancestors::default(),
            executed: FxHashSet::default(),
            commands: Vec::new(),
            before: FxHashMap::default(),
            poll,
            memory_limit: control.memory_limit,
            stopped: None,
            tests: Tests::default(),
        };
        for index in 0..abstraction.predicates.len() {
            abstraction.tell(index);
        }
        abstraction
    }

    /// Adds a predicate; false if it is there already. Abstract states of before are none any more.
    pub fn add(&mut self, predicate: Predicate, source: Source) -> bool {
        let is_new = self.predicates.add(predicate, source);
        if is_new {
            self.tell(self.predicates.len() - 1);
            self.seeds.clear();
        }
        is_new
    }

    /// Adds `variable ≥ bound` to halve a domain, unless it is there already or the same in all states.
    pub fn add_bound(&mut self, variable: VarId, bound: i64) {
        let StateBox { lower, upper } = &self.problem.domain;
        if let Some(inequality) = Inequality::bound(variable, bound, lower, upper) {
            self.add(Predicate::Linear(inequality), Source::Domain);
        }
    }

    /// Tells the solvers of a predicate.
    fn tell(&mut self, index: usize) {
        let predicate = self.predicates.get(index);
        self.states.add_predicate(&predicate);
        self.steps.add_predicate(predicate);
    }

    /// Questions so far.
    pub fn tests(&self) -> Tests {
        Tests {
            state: self.states.asked,
            policy: self.policy.asked,
            policy_known: self.policy.known(),
            ..self.tests
        }
    }

    /// Bytes, roughly.
    pub fn memory(&self) -> u64 {
        let state = self.problem.domain.lower.len() * size_of::<i32>();
        let seeds = self.seeds.len() * (SEEDS * state + 2 * size_of::<(Cell, Vec<Vec<i32>>)>());
        self.states.memory()
            + self.steps.memory()
            + self.policy.memory()
            + self.ancestors.memory()
            + seeds as u64
    }

    /// The abstract states that the policy leads to from the states of an abstract state in which runs go on.
    pub fn expand(&mut self, cell: &Cell) -> Result<Expansion, Stop> {
        let region = self.predicates.region(cell);
        let mut expansion = Expansion::default();
        if self.images.end(&region.states) {
            return Ok(expansion);
        }
        self.executed.clear();
        self.commands = self.images.not_excluded(&region.states);
        let ancestor = self.ancestors.of(cell);
        for state in self.seeds.remove(cell).unwrap_or_default() {
            self.execute(cell, &state, &mut expansion);
        }
        for command in 0..self.problem.commands.len() {
            if (self.poll)() {
                return Err(Stop::Limit);
            }
            let Some(part) = self.clipped(command, &region.states) else { continue };
            if ancestor.as_ref().is_some_and(|ancestor| ancestor.never_takes(command)) {
                self.tests.inherited += 1;
                expansion.never.push(command as u32);
                continue;
            }
            if let Some(output) = self.problem.commands[command].output {
                match self.policy.test_with(&part, &region.facts, output, POLICY_BOXES)? {
                    Choice::Never => {
                        self.tests.never += 1;
                        expansion.never.push(command as u32);
                        continue;
                    }
                    Choice::At(state) => self.execute(cell, &state, &mut expansion),
                    Choice::Perhaps => {}
                }
            }
            let region = Region { states: part, facts: region.facts.clone() };
            for outcome in 0..self.problem.task.system.commands[command].outcomes.len() {
                let step = Step { command, outcome };
                self.expand_step(cell, &region, step, ancestor.as_deref(), &mut expansion)?;
            }
            if expansion.error.is_none()
                && ancestor.as_ref().is_none_or(|ancestor| ancestor.may_have_error())
                && let Some(state) = self.states.error(command, cell, &region.states)?
            {
                self.execute(cell, &state, &mut expansion);
                if expansion.error.is_none() {
                    self.pursue(cell, region, Aim::Error(command), state, &mut expansion)?;
                }
            }
        }
        Ok(expansion)
    }

    /// The part of a box in which a command may be enabled.
    fn clipped(&mut self, command: usize, states: &StateBox) -> Option<StateBox> {
        let part = self.images.enabled(command, states);
        let Enhancements { entailed_operators, entailed_bounds, .. } = self.enhancements;
        match part {
            Some(part) if entailed_bounds => Some(part),
            None if entailed_operators => None,
            _ => Some(states.clone()),
        }
    }

    /// Finds all targets of an outcome from the states of an abstract state, which are in a region.
    fn expand_step(
        &mut self,
        cell: &Cell,
        region: &Region,
        step: Step,
        ancestor: Option<&Ancestor>,
        expansion: &mut Expansion,
    ) -> Result<(), Stop> {
        let changing = self.steps.changing(step).to_vec();
        let mut is_changing = vec![false; self.predicates.len()];
        for &index in &changing {
            is_changing[index] = true;
        }
        let agrees = |target: &Cell| {
            (0..is_changing.len()).all(|i| is_changing[i] || cell.value(i) == target.value(i))
        };
        let excluded = self.steps.exclude_nothing(step);
        let mut known: FxHashSet<Cell> = FxHashSet::default();
        loop {
            self.look_at_memory(expansion)?;
            for target in expansion.successors.keys().filter(|target| agrees(target)) {
                if known.insert(target.clone()) {
                    self.steps.exclude(&excluded, |index| target.value(index));
                }
            }
            let asked = Instant::now();
            let answer = self.steps.leave(|index| cell.value(index), &[], &excluded);
            self.tests.environment.add(asked);
            match answer {
                Answer::Unknown => return Err(Stop::Limit),
                Answer::Unsatisfiable => break,
                Answer::Satisfiable => {}
            }
            let (from, to) = (self.steps.state(), self.steps.successor());
            let target = self.predicates.cell(&to);
            self.execute(cell, &from, expansion);
            if !expansion.successors.contains_key(&target) {
                if ancestor.is_some_and(|ancestor| !ancestor.may_lead_to(&target)) {
                    self.tests.inherited += 1;
                } else {
                    let part = self.before(region, step, &changing, &target);
                    self.pursue(cell, part, Aim::Target(step, &target), from, expansion)?;
                }
                if !expansion.successors.contains_key(&target) {
                    self.steps.exclude(&excluded, |index| target.value(index));
                }
            }
        }
        self.steps.forget(excluded);
        Ok(())
    }

    /// An abstract state can have very many successors.
    fn look_at_memory(&mut self, expansion: &Expansion) -> Result<(), Stop> {
        let state = size_of_val(&self.problem.domain.lower[..]);
        let successor =
            2 * (size_of::<Cell>() + self.predicates.len() / 8) + size_of::<Witness>() + 2 * state;
        let bytes = self.memory() + (expansion.successors.len() * successor) as u64;
        if self.memory_limit.is_some_and(|limit| bytes > limit) {
            self.stopped = Some(StopReason::Memory);
            return Err(Stop::Limit);
        }
        Ok(())
    }

    /// The part of a region from which an outcome can lead to an abstract state, as far as bounds tell.
    fn before(&mut self, region: &Region, step: Step, changing: &[usize], target: &Cell) -> Region {
        let system = &self.problem.task.system;
        let domain = &self.problem.domain;
        let mut part = region.clone();
        if !self.enhancements.entailed_bounds {
            return part;
        }
        for &index in changing {
            let Predicate::Linear(inequality) = self.predicates.get(index) else { continue };
            let before = self.before.entry((step, index)).or_insert_with(|| {
                let outcome = &system.commands[step.command].outcomes[step.outcome];
                let linear = inequality.before(&system.exprs, outcome)?;
                Inequality::not_negative(&linear, &domain.lower, &domain.upper)
            });
            if let Some((inequality, is_negated)) = before {
                let value = target.value(index) != *is_negated;
                let has_states = inequality.narrow(value, &mut part.states.lower, &mut part.states.upper);
                debug_assert!(has_states, "a step leads there");
            }
        }
        part
    }

    /// Whether the policy follows an aim from some state of an abstract state, which is in a region. The environment allows it from the state `from`, where the
    /// policy does not do it. What is found becomes part of the expansion.
    fn pursue(
        &mut self,
        cell: &Cell,
        region: Region,
        aim: Aim<'_>,
        from: Vec<i32>,
        expansion: &mut Expansion,
    ) -> Result<(), Stop> {
        let command = match aim {
            Aim::Target(step, _) => step.command,
            Aim::Error(command) => command,
        };
        // Where the policy has no say, executing the state has done it.
        let Some(output) = self.problem.commands[command].output else { return Ok(()) };
        self.tests.pursued += 1;
        let Region { states, facts } = region;
        let mut parts = vec![(states, Some(from))];
        while let Some((part, from)) = parts.pop() {
            if (self.poll)() {
                return Err(Stop::Limit);
            }
            let chosen = match self.policy.test_with(&part, &facts, output, POLICY_BOXES)? {
                Choice::Never => continue,
                Choice::At(state) => {
                    self.execute(cell, &state, expansion);
                    Some(state)
                }
                Choice::Perhaps => None,
            };
            if follows(expansion, aim) {
                return Ok(());
            }
            let from = match from {
                Some(from) => Some(from),
                None => self.allowed(cell, &part, aim)?,
            };
            let Some(from) = from else { continue };
            self.execute(cell, &from, expansion);
            if follows(expansion, aim) {
                return Ok(());
            }
            let split = match chosen {
                Some(chosen) => self.policy.divide(&part, &from, &chosen),
                None => halve(&part),
            };
            self.tests.splits += 1;
            // A single state has been executed.
            let Some((_, low, high)) = split else { continue };
            for part in [low, high] {
                let inside = part.contains(&from).then(|| from.clone());
                parts.push((part, inside));
            }
        }
        Ok(())
    }

    /// A state of an abstract state and a box from which the environment allows an aim.
    fn allowed(&mut self, cell: &Cell, part: &StateBox, aim: Aim<'_>) -> Result<Option<Vec<i32>>, Stop> {
        match aim {
            Aim::Error(command) => self.states.error(command, cell, part),
            Aim::Target(step, target) => {
                let bounds = part.bounds(&self.problem.domain);
                let asked = Instant::now();
                let (source, target) = (|index| cell.value(index), |index| target.value(index));
                let answer = self.steps.lead(step, source, &bounds, target);
                self.tests.environment.add(asked);
                match answer {
                    Answer::Unknown => Err(Stop::Limit),
                    Answer::Unsatisfiable => Ok(None),
                    Answer::Satisfiable => Ok(Some(self.steps.state())),
                }
            }
        }
    }

    /// Takes all steps of the policy from a state, if it is one of the abstract state.
    fn execute(&mut self, cell: &Cell, state: &[i32], expansion: &mut Expansion) {
        if self.executed.contains(state) || self.predicates.cell(state) != *cell {
            return;
        }
        if self.executed.len() < EXECUTED {
            self.executed.insert(state.to_vec());
        }
        self.tests.executed += 1;
        let Abstraction { stepper, commands, .. } = self;
        let successors = stepper.status(state).and_then(|status| {
            if status.ends_run { Ok(Vec::new()) } else { stepper.successors_among(state, commands) }
        });
        let Ok(successors) = successors else {
            expansion.error.get_or_insert_with(|| state.to_vec());
            return;
        };
        for transition in successors {
            let target = self.predicates.cell(&transition.state);
            self.plant(&target, &transition.state);
            expansion.successors.entry(target).or_insert_with(|| Witness {
                from: state.to_vec(),
                step: Step { command: transition.command, outcome: transition.outcome },
                to: transition.state,
            });
        }
    }

    /// The task.
    pub fn problem(&self) -> &'p Problem {
        self.problem
    }

    /// Adds the predicates that conditions are made of.
    pub fn add_atoms(&mut self, conditions: &[ExprId], source: Source) {
        let StateBox { lower, upper } = &self.problem.domain;
        for &condition in conditions {
            for predicate in Predicate::atoms(&self.problem.task.system.exprs, condition, lower, upper) {
                self.add(predicate, source);
            }
        }
    }

    /// Adds conditions as predicates, each as it is.
    pub fn add_conditions(&mut self, conditions: &[ExprId]) {
        let StateBox { lower, upper } = &self.problem.domain;
        for &condition in conditions {
            let predicate = Predicate::of_condition(&self.problem.task.system.exprs, condition, lower, upper);
            if let Some(predicate) = predicate {
                self.add(predicate, Source::Given);
            }
        }
    }

    /// Whether a state is unsafe.
    pub fn is_unsafe(&mut self, state: &[i32]) -> Result<bool, Stop> {
        let status = self.stepper.status(state);
        status.map(|status| status.is_unsafe).map_err(|error| Stop::Error(TaskError::Model(error)))
    }

    /// Remembers a state of an abstract state.
    pub fn plant(&mut self, cell: &Cell, state: &[i32]) {
        let seeds = self.seeds.entry(cell.clone()).or_default();
        if seeds.len() < SEEDS && !seeds.iter().any(|seed| seed == state) {
            seeds.push(state.to_vec());
        }
    }
}

/// Whether an aim was followed.
fn follows(expansion: &Expansion, aim: Aim<'_>) -> bool {
    match aim {
        Aim::Target(_, target) => expansion.successors.contains_key(target),
        Aim::Error(_) => expansion.error.is_some(),
    }
}
