//! The policy frame transition problem (paper 000, §3.3): can the policy lead from a box into a frame?
//!
//! As in the paper, the question is taken apart: the *environment test* asks for a step of a command from the box into the frame (by solving),
//! the *policy test* whether the policy chooses the command's label anywhere in the box (by certification). If one of them says no,
//! there is no such step. Different from the paper:
//!
//! - Both tests look only at the part of the box where the command can be enabled.
//! - Steps back into the box do no harm: see `docs/ic3.md`.
//! - Where both tests say yes but about different states, the box is split between these states and asked again, within a
//!   budget: the tests become exact where that matters.
//! - States that led out of other boxes, and random states of this one, are tried first: most boxes that are asked about are too wide.
//! - What an environment test needed of the box, its core, is remembered: another box that has the same bounds needs no test.

use std::collections::VecDeque;
use std::time::Instant;

use rustc_hash::FxHashMap;
use surefoot_policy::Scorer;
use surefoot_solve::{Answer, AnySolver, Backend, Bound, FrameId, Poll, Step, Transitions};

use super::frames::{FOREVER, Frames};
use super::reason::Reason;
use super::states::StateQueries;
use super::statistics::Tests;
use super::{Options, Stop, frames};
use crate::random::Random;
use crate::step::Stepper;
use crate::symbolic::{Choice, POLICY_BOXES, PolicyTests, Problem, halve};

/// States that led out of boxes and are remembered.
const WITNESSES: usize = 64;

/// A statement about a step: from states within the bounds it does not lead into frames up to a level.
#[derive(Debug, Clone)]
struct Core {
    bounds: Vec<Bound>,
    level: usize,
}

impl Core {
    fn memory(&self) -> u64 {
        (size_of::<Core>() + self.bounds.len() * size_of::<Bound>()) as u64
    }
}

/// The target of steps: the frame of a level, perhaps without the states of a box.
#[derive(Debug, Clone, Copy)]
pub struct Target<'r> {
    pub level: usize,
    pub except: Option<&'r Reason>,
}

/// Whether steps of the policy lead from a box into a target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Leads {
    /// None does.
    No,
    /// One does, from this state.
    From(Vec<i32>),
    /// One may: the budget for exact tests is spent.
    Perhaps,
}

/// A part of a box, and what is known of it.
struct Part {
    states: Reason,
    /// A state from which the command leads into the target.
    from: Option<Vec<i32>>,
    /// A state in which the policy chooses the command.
    chosen: Option<Vec<i32>>,
}

/// Solvers and certifiers for steps.
pub struct StepQueries<'p> {
    problem: &'p Problem,
    transitions: Transitions<'p, AnySolver>,
    /// Questions about the policy.
    pub policy: PolicyTests<'p>,
    cores: FxHashMap<Step, Vec<Core>>,
    /// Bytes of these.
    core_bytes: u64,
    /// Cores that hold only if the box in question becomes a reason.
    tentative: Vec<(Step, Core)>,
    /// Solver frames of levels; the last is that of the reasons that hold for any number of steps.
    of_level: Vec<FrameId>,
    solver: Backend,
    /// How often a box may be split, how many cores are remembered, and how many states are tried.
    splits: usize,
    most_cores: usize,
    trials: usize,
    /// How many boxes a test of the policy may bound.
    bounds: u64,
    /// Which command led out of the last box: the first to be asked about the next one.
    suspects: Vec<usize>,
    /// States that led out of boxes, the newest last.
    witnesses: VecDeque<Vec<i32>>,
    stepper: Stepper<'p>,
    random: Random,
    poll: Poll,
    tests: Tests,
}

impl<'p> StepQueries<'p> {
    /// Prepares for a task. The decision cache takes at most `cache` bytes.
    pub fn new(problem: &'p Problem, options: &Options, cache: usize, poll: Poll) -> StepQueries<'p> {
        let (transitions, of_level) = solvers(problem, options.solver, &poll);
        StepQueries {
            problem,
            transitions,
            policy: PolicyTests::new(problem, cache, poll.clone()),
            cores: FxHashMap::default(),
            core_bytes: 0,
            tentative: Vec::new(),
            of_level,
            solver: options.solver,
            splits: options.splits,
            most_cores: options.cores,
            trials: options.trials,
            bounds: bounds(problem, options),
            suspects: (0..problem.commands.len()).collect(),
            witnesses: VecDeque::new(),
            stepper: Stepper::new(&problem.task),
            random: Random::new(1, 0),
            poll,
            tests: Tests::default(),
        }
    }

    /// Questions so far; those about states alone are counted elsewhere.
    pub fn tests(&self) -> Tests {
        Tests { policy: self.policy.asked, policy_known: self.policy.known(), ..self.tests }
    }

    /// Bytes, roughly.
    pub fn memory(&self) -> u64 {
        self.transitions.memory() + self.core_bytes + self.policy.memory()
    }

    /// Adds a reason at a level.
    pub fn add(&mut self, reason: &Reason, level: usize) {
        while level != FOREVER && self.of_level.len() - 1 <= level {
            self.of_level.insert(self.of_level.len() - 1, self.transitions.add_frame());
        }
        let clause = frames::clause(reason, &self.problem.domain);
        self.transitions.add_clause(self.of_level[level.min(self.of_level.len() - 1)], &clause);
    }

    /// Forgets all reasons, and what was found out relative to them. Decisions of the policy do not depend on reasons.
    pub fn forget(&mut self) {
        (self.transitions, self.of_level) = solvers(self.problem, self.solver, &self.poll);
        self.cores.clear();
        self.core_bytes = 0;
        self.tentative.clear();
    }

    /// Whether the policy may lead from a box into the target, or take an erroneous step there.
    pub fn leads(
        &mut self,
        states: &mut StateQueries<'_>,
        frames: &Frames,
        source: &Reason,
        target: Target<'_>,
    ) -> Result<Leads, Stop> {
        self.tentative.clear();
        let began = Instant::now();
        let witness = self.try_states(frames, source, target);
        self.tests.boxes.add(began);
        if let Some(witness) = witness {
            self.tests.boxes_by_state += 1;
            return Ok(Leads::From(witness));
        }
        for position in 0..self.suspects.len() {
            let command = self.suspects[position];
            let leads = self.command(states, source, command, target)?;
            if leads != Leads::No {
                self.suspects[..=position].rotate_right(1);
                if let Leads::From(witness) = &leads {
                    if self.witnesses.len() == WITNESSES {
                        self.witnesses.pop_front();
                    }
                    self.witnesses.push_back(witness.clone());
                }
                return Ok(leads);
            }
        }
        Ok(Leads::No)
    }

    /// A state of a box that leads into the target, if one of a few does.
    fn try_states(&mut self, frames: &Frames, source: &Reason, target: Target<'_>) -> Option<Vec<i32>> {
        let inside = self.witnesses.iter().rev().filter(|state| source.contains(state));
        let mut candidates: Vec<Vec<i32>> = inside.take(self.trials).cloned().collect();
        candidates.extend((0..self.trials).map(|_| source.draw(&mut self.random)));
        let mut lawful = candidates.into_iter().filter(|state| self.problem.is_lawful(state));
        lawful.find(|state| self.state_leads(frames, state, target))
    }

    /// Whether a step of the policy leads from a state into the target, or the model is wrong there.
    pub fn state_leads(&mut self, frames: &Frames, state: &[i32], target: Target<'_>) -> bool {
        let Ok(status) = self.stepper.status(state) else { return true };
        if status.ends_run {
            return false;
        }
        let Ok(steps) = self.stepper.successors(state) else { return true };
        steps.into_iter().any(|step| {
            !target.except.is_some_and(|except| except.contains(&step.state))
                && if target.level == 0 {
                    self.stepper.status(&step.state).is_ok_and(|status| status.is_unsafe)
                } else {
                    !frames.blocks(&step.state, target.level)
                }
        })
    }

    /// The box of the last question, or one around it, has become a reason: what was found out relative to it remains true.
    pub fn keep(&mut self) {
        for (step, core) in std::mem::take(&mut self.tentative) {
            self.remember(step, core);
        }
    }

    fn remember(&mut self, step: Step, core: Core) {
        if self.most_cores == 0 {
            return;
        }
        let cores = self.cores.entry(step).or_default();
        if cores.len() == self.most_cores {
            self.core_bytes -= cores.remove(0).memory();
        }
        self.core_bytes += core.memory();
        cores.push(core);
    }

    fn command(
        &mut self,
        states: &mut StateQueries<'_>,
        source: &Reason,
        command: usize,
        target: Target<'_>,
    ) -> Result<Leads, Stop> {
        let info = &self.problem.commands[command];
        let enabled = info.hull.as_ref().and_then(|hull| hull.intersection(source));
        let Some(source) = enabled.and_then(|enabled| self.problem.lawful(enabled)) else {
            return Ok(Leads::No);
        };
        let mut parts = vec![Part { states: source, from: None, chosen: None }];
        let mut splits = self.splits;
        while let Some(part) = parts.pop() {
            if (self.poll)() {
                return Err(Stop::Limit);
            }
            let from = match part.from {
                Some(from) => Some(from),
                None => self.environment(states, &part.states, command, target)?,
            };
            let Some(from) = from else { continue };
            let Some(output) = info.output else { return Ok(Leads::From(from)) };
            let chosen = match part.chosen {
                Some(chosen) => chosen,
                None => match self.policy.test_covered(&part.states, output, self.bounds)? {
                    Choice::Never => continue,
                    Choice::At(chosen) => chosen,
                    Choice::Perhaps => return Ok(Leads::Perhaps),
                },
            };
            if self.policy.chooses(&from, output) {
                return Ok(Leads::From(from));
            }
            let divided = self.policy.divide(&part.states, &from, &chosen).filter(|_| splits > 0);
            let Some((_, low, high)) = divided else { return Ok(Leads::Perhaps) };
            splits -= 1;
            for states in [low, high] {
                let inside = |state: &Vec<i32>| states.contains(state).then(|| state.clone());
                parts.push(Part { from: inside(&from), chosen: inside(&chosen), states });
            }
        }
        Ok(Leads::No)
    }

    /// Where to split a box between a state from which a command leads into the target and one where the policy chooses that command: a
    /// variable and the two parts. `None` if no command may lead there.
    pub fn split(
        &mut self,
        states: &mut StateQueries<'_>,
        source: &Reason,
        target: Target<'_>,
    ) -> Result<Option<(usize, Reason, Reason)>, Stop> {
        self.tentative.clear();
        for command in 0..self.problem.commands.len() {
            let info = &self.problem.commands[command];
            let Some(output) = info.output else { continue };
            let Some(part) = info.hull.as_ref().and_then(|hull| hull.intersection(source)) else { continue };
            let Some(from) = self.environment(states, &part, command, target)? else { continue };
            // Outputs are listed for the whole box, also where the command is not enabled.
            let split = match self.policy.test(source, output, POLICY_BOXES)? {
                Choice::Never => continue,
                Choice::At(chosen) => self.policy.divide(source, &from, &chosen),
                Choice::Perhaps => halve(source),
            };
            if split.is_some() {
                return Ok(split);
            }
        }
        Ok(None)
    }

    /// A state of a box from which a command leads into another box.
    pub fn step_into(
        &mut self,
        source: &Reason,
        command: usize,
        into: &Reason,
    ) -> Result<Option<Vec<i32>>, Stop> {
        let frame = self.transitions.add_frame();
        for bound in into.bounds(&self.problem.domain) {
            self.transitions.add_clause(frame, &[bound]);
        }
        let bounds = source.bounds(&self.problem.domain);
        for outcome in 0..self.problem.task.system.commands[command].outcomes.len() {
            match self.transitions.query(Step { command, outcome }, &bounds, &[frame]) {
                Answer::Unknown => return Err(Stop::Limit),
                Answer::Unsatisfiable => {}
                Answer::Satisfiable => return Ok(Some(self.transitions.state())),
            }
        }
        Ok(None)
    }

    /// A state of a box from which a command leads into the target or is an error.
    fn environment(
        &mut self,
        states: &mut StateQueries<'_>,
        source: &Reason,
        command: usize,
        target: Target<'_>,
    ) -> Result<Option<Vec<i32>>, Stop> {
        if states.can_err(command)
            && let Some(state) = states.error(command, source)?
        {
            return Ok(Some(state));
        }
        let bounds = source.bounds(&self.problem.domain);
        for outcome in 0..self.problem.task.system.commands[command].outcomes.len() {
            let step = Step { command, outcome };
            if self.is_known(step, source, target.level) {
                self.tests.environment_known += 1;
                continue;
            }
            if let Some(state) = self.step(step, &bounds, target)? {
                return Ok(Some(state));
            }
        }
        Ok(None)
    }

    fn step(&mut self, step: Step, bounds: &[Bound], target: Target<'_>) -> Result<Option<Vec<i32>>, Stop> {
        let asked = if target.level == 0 {
            &self.of_level[..1]
        } else {
            &self.of_level[target.level.min(self.of_level.len() - 1)..]
        };
        let stay = target.except.map(|except| except.bounds(&self.problem.domain));
        let began = Instant::now();
        let answer = match stay {
            Some(stay) => self.transitions.query_leaving(step, bounds, asked, &stay),
            None => self.transitions.query(step, bounds, asked),
        };
        self.tests.environment.add(began);
        match answer {
            Answer::Unknown => Err(Stop::Limit),
            Answer::Unsatisfiable => {
                let found = self.transitions.core();
                let core = Core { bounds: found.bounds.clone(), level: target.level };
                if found.is_relative && self.most_cores > 0 {
                    self.tentative.push((step, core));
                } else {
                    self.remember(step, core);
                }
                Ok(None)
            }
            Answer::Satisfiable => Ok(Some(self.transitions.state())),
        }
    }

    /// Whether a remembered core answers an environment test.
    fn is_known(&self, step: Step, source: &Reason, level: usize) -> bool {
        let tentative = self.tentative.iter().filter(|(other, _)| *other == step).map(|(_, core)| core);
        let known = self.cores.get(&step).into_iter().flatten();
        known.chain(tentative).any(|core| {
            core.level >= level
                && core.bounds.iter().all(|&bound| match bound {
                    Bound::AtLeast(variable, value) => i64::from(source.lower[variable.index()]) >= value,
                    Bound::AtMost(variable, value) => i64::from(source.upper[variable.index()]) <= value,
                })
        })
    }
}

/// How many boxes a test of the policy may bound: trees are always looked at until the answer is known.
fn bounds(problem: &Problem, options: &Options) -> u64 {
    match problem.task.policy.as_ref().map(|policy| &policy.scorer) {
        Some(Scorer::Network(_)) => options.bounds,
        Some(Scorer::Ensemble(_)) | None => POLICY_BOXES,
    }
}

/// Solvers for steps that know of no reasons: the frames are that of the unsafe states and that of the reasons that hold for any number of steps.
fn solvers<'p>(
    problem: &'p Problem,
    solver: Backend,
    poll: &Poll,
) -> (Transitions<'p, AnySolver>, Vec<FrameId>) {
    let transitions = Transitions::with_solvers(&problem.task.system, solver.maker());
    let mut transitions = transitions.expect("variables are discrete");
    transitions.set_interrupt(Some(poll.clone()));
    for &(condition, value) in &problem.sources {
        transitions.restrict_sources(condition, value);
    }
    for &law in &problem.law_conditions {
        transitions.restrict_sources(law, true);
    }
    let first = transitions.add_frame();
    transitions.add_condition(first, problem.unsafe_states);
    let forever = transitions.add_frame();
    (transitions, vec![first, forever])
}
