//! One step of a run.

use surefoot_model::{PointValue, Undefined};

use super::{Ending, Environment, Inapplicable, Run, Scratch, Step};
use crate::explicit::condition::Condition;
use crate::explicit::update::Update;
use crate::replay::check_state;
use crate::step::{Stepper, describe_state, wrong_distribution};
use crate::task::{ModelError, ModelErrorKind, TaskError};

/// Start states that are drawn until one does not end the run at once.
const DRAWS: usize = 1000;

/// The outcomes of a command.
pub(super) enum Distribution {
    /// There is one.
    Certain,
    /// Sums of the probabilities up to each outcome.
    Sums(Vec<f64>),
    /// They depend on the state, or are none.
    Varies,
}

impl Distribution {
    pub(super) fn new(updates: &[Update]) -> Self {
        let constant =
            |update: &Update| (!update.varies).then(|| update.probability_at(&[], &mut Vec::new())).flatten();
        let probabilities: Option<Vec<f64>> = updates.iter().map(constant).collect();
        match probabilities {
            Some(probabilities) if wrong_distribution(&probabilities).is_none() => {
                if probabilities.len() == 1 {
                    Distribution::Certain
                } else {
                    Distribution::Sums(sums(&probabilities))
                }
            }
            _ => Distribution::Varies,
        }
    }
}

fn sums(probabilities: &[f64]) -> Vec<f64> {
    let mut sum = 0.0;
    let sums = probabilities.iter().map(|probability| {
        sum += probability;
        sum
    });
    sums.collect()
}

/// The outcome at a point of [0, 1). Rounding may leave a crumb beyond the last outcome that is possible.
fn outcome_at(sums: &[f64], point: f64) -> usize {
    let total = sums.last().copied().expect("commands have outcomes");
    let first = |is_it: &dyn Fn(f64) -> bool| sums.iter().position(|&sum| is_it(sum));
    first(&|sum| point * total < sum)
        .or_else(|| first(&|sum| sum == total))
        .expect("the last sum is the total")
}

/// Something is wrong with the model; the slow definition says what.
#[derive(Debug)]
struct Wrong;

impl From<Undefined> for Wrong {
    fn from(_: Undefined) -> Self {
        Wrong
    }
}

impl Environment {
    /// Starts a run in a random start state that does not end it at once.
    pub fn start(&self, run: &mut Run, scratch: &mut Scratch) -> Result<(), TaskError> {
        for _ in 0..DRAWS {
            let drawn = {
                let starts = self.starts.lock().expect("drawing does not panic");
                starts.draw(&self.task, &mut run.random)
            };
            let Some(state) = drawn else {
                return Err(TaskError::Start("no state satisfies the start condition".into()));
            };
            self.begin(run, &state, scratch)?;
            if run.ending == Ending::None {
                return Ok(());
            }
        }
        let name = run.ending.name();
        Err(TaskError::Start(format!("every one that was drawn ends the run at once ({name})")))
    }

    /// Starts a run in this state; whether it is a start state does not matter.
    pub fn start_in(&self, run: &mut Run, state: &[i32], scratch: &mut Scratch) -> Result<(), TaskError> {
        check_state(&self.task, state).map_err(TaskError::Start)?;
        self.begin(run, state, scratch)
    }

    fn begin(&self, run: &mut Run, state: &[i32], scratch: &mut Scratch) -> Result<(), TaskError> {
        self.layout.pack(state, &mut run.packed);
        run.steps = 0;
        run.ending = self.arrive(run, scratch).map_err(|Wrong| self.diagnose(state))?;
        run.potential = self
            .rewarder
            .potential(state, &mut scratch.slots)
            .map_err(|reason| self.no_reward(state, reason))?;
        Ok(())
    }

    /// The learner chooses an action. A run that has ended stays as it is.
    pub fn step(&self, run: &mut Run, action: u32, scratch: &mut Scratch) -> Result<Step, TaskError> {
        if run.ending != Ending::None {
            return Ok(Step { reward: 0.0, ending: run.ending, command: None });
        }
        self.try_step(run, action, scratch).map_err(|Wrong| self.diagnose(&self.state(run)))
    }

    fn try_step(&self, run: &mut Run, action: u32, scratch: &mut Scratch) -> Result<Step, Wrong> {
        run.steps += 1;
        let gains = &self.rewarder.gains;
        let mut reward = gains.step;
        if self.rewarder.needs_state() {
            self.unpack(run, scratch);
            reward = self.rewarder.step(&scratch.state, &mut scratch.slots)?;
        }
        scratch.candidates.clear();
        let is_possible = |&command: &u32| {
            let chosen_by = self.commands[command as usize].action;
            chosen_by.is_none_or(|by| by == action)
        };
        scratch.candidates.extend(run.enabled.iter().copied().filter(is_possible));
        if scratch.candidates.is_empty() {
            let ends = self.options.inapplicable == Inapplicable::Stall;
            run.ending = if ends { Ending::Stall } else { self.limit(run) };
            return Ok(Step { reward: reward + gains.stall, ending: run.ending, command: None });
        }
        let Some(command) = self.fire(run, scratch)? else {
            run.ending = Ending::Deadlock;
            return Ok(Step { reward: reward + gains.deadlock, ending: run.ending, command: None });
        };
        run.packed.copy_from_slice(&scratch.after);
        run.ending = self.arrive(run, scratch)?;
        match run.ending {
            Ending::Goal => reward += gains.goal,
            Ending::Deadlock => reward += gains.deadlock,
            _ => {}
        }
        // A goal state that is unsafe ends a run as a goal if unsafe states do not; it counts as safe if goals are strict.
        let is_settled = self.options.ends_at_unsafe || (run.ending == Ending::Goal && self.is_strict());
        if run.ending == Ending::Unsafe || (!is_settled && self.is_unsafe(run, scratch)?) {
            reward += gains.unsafe_state;
        }
        if self.rewarder.needs_state() {
            self.unpack(run, scratch);
            let potential = self.rewarder.potential(&scratch.state, &mut scratch.slots)?;
            reward += potential - run.potential;
            run.potential = potential;
        }
        if run.ending == Ending::None {
            run.ending = self.limit(run);
        }
        Ok(Step { reward, ending: run.ending, command: Some(command) })
    }

    fn limit(&self, run: &Run) -> Ending {
        if run.steps >= self.options.max_steps { Ending::StepLimit } else { Ending::None }
    }

    /// Takes one of the candidates and writes the state after it; `None` if all their outcomes are blocked.
    fn fire(&self, run: &mut Run, scratch: &mut Scratch) -> Result<Option<u32>, Wrong> {
        scratch.after.resize(self.layout.words(), 0);
        loop {
            let count = scratch.candidates.len() as u64;
            if count == 0 {
                return Ok(None);
            }
            let position = if count == 1 { 0 } else { run.random.below(count) as usize };
            let command = scratch.candidates[position];
            if self.fire_command(run, command, scratch)? {
                return Ok(Some(command));
            }
            // Nothing of it is possible: it does not count among the commands, and the others are equally likely as before.
            scratch.candidates.swap_remove(position);
        }
    }

    /// Draws an outcome; `false` if all are blocked.
    fn fire_command(&self, run: &mut Run, command: u32, scratch: &mut Scratch) -> Result<bool, Wrong> {
        let super::Compiled { updates, distribution, .. } = &self.commands[command as usize];
        let outcome = match distribution {
            Distribution::Certain => 0,
            Distribution::Sums(sums) => outcome_at(sums, run.random.unit()),
            Distribution::Varies => {
                let probabilities = self.probabilities(run, updates, scratch)?;
                outcome_at(&sums(&probabilities), run.random.unit())
            }
        };
        if self.apply(run, &updates[outcome], scratch) {
            return Ok(true);
        }
        if !self.blocks() {
            return Err(Wrong);
        }
        // Outcomes that are possible share the probability of those that are not.
        let mut probabilities = self.probabilities(run, updates, scratch)?;
        for (probability, update) in probabilities.iter_mut().zip(updates) {
            if *probability > 0.0 && !self.apply(run, update, scratch) {
                *probability = 0.0;
            }
        }
        if probabilities.iter().all(|&probability| probability == 0.0) {
            return Ok(false);
        }
        let outcome = outcome_at(&sums(&probabilities), run.random.unit());
        Ok(self.apply(run, &updates[outcome], scratch))
    }

    fn probabilities(&self, run: &Run, updates: &[Update], scratch: &mut Scratch) -> Result<Vec<f64>, Wrong> {
        self.unpack(run, scratch);
        let Scratch { state, slots, .. } = scratch;
        let probabilities = updates.iter().map(|update| update.probability_at(state, slots).ok_or(Wrong));
        let probabilities: Vec<f64> = probabilities.collect::<Result<_, _>>()?;
        if wrong_distribution(&probabilities).is_some() { Err(Wrong) } else { Ok(probabilities) }
    }

    /// Writes the state after an outcome; `false` if it is not possible.
    fn apply(&self, run: &Run, update: &Update, scratch: &mut Scratch) -> bool {
        if update.needs_state {
            self.unpack(run, scratch);
        }
        let Scratch { state, slots, after, .. } = scratch;
        update.apply(&run.packed, state, slots, after).is_ok()
    }

    /// Finds out what is possible in the state of a run, and whether it ends there.
    fn arrive(&self, run: &mut Run, scratch: &mut Scratch) -> Result<Ending, Wrong> {
        let is_goal = self.goal.as_ref().map_or(Ok(false), |goal| self.holds(goal, run, scratch))?;
        if self.options.ends_at_unsafe && !(is_goal && self.is_strict()) && self.is_unsafe(run, scratch)? {
            run.enabled.clear();
            return Ok(Ending::Unsafe);
        }
        if is_goal {
            run.enabled.clear();
            return Ok(Ending::Goal);
        }
        if let Some(hold) = &self.hold
            && !self.holds(hold, run, scratch)?
        {
            run.enabled.clear();
            return Ok(Ending::Left);
        }
        self.enable(run, scratch)?;
        Ok(if run.enabled.is_empty() { Ending::Deadlock } else { Ending::None })
    }

    fn is_unsafe(&self, run: &Run, scratch: &mut Scratch) -> Result<bool, Wrong> {
        self.holds(&self.unsafe_states, run, scratch)
    }

    fn holds(&self, condition: &Condition, run: &Run, scratch: &mut Scratch) -> Result<bool, Wrong> {
        // A conjunction with a false part is false, even if another part has no value.
        if !condition.tests_hold(&run.packed) || !condition.pairs_hold(&run.packed) {
            return Ok(false);
        }
        if condition.general.is_none() {
            return Ok(true);
        }
        self.unpack(run, scratch);
        Ok(condition.general_holds(&scratch.state, &mut scratch.slots)?)
    }

    /// Lists the commands whose guards hold.
    fn enable(&self, run: &mut Run, scratch: &mut Scratch) -> Result<(), Wrong> {
        let Run { packed, enabled, .. } = run;
        enabled.clear();
        self.generator.visit(packed, &mut |command| enabled.push(command));
        let mut is_unpacked = false;
        let mut kept = 0;
        for i in 0..enabled.len() {
            let command = enabled[i];
            let guard = &self.guards[command as usize];
            if guard.has_more_than_tests() {
                if !guard.pairs_hold(packed) {
                    continue;
                }
                if guard.general.is_some() && !is_unpacked {
                    scratch.state.resize(self.layout.fields().len(), 0);
                    self.layout.unpack(packed, &mut scratch.state);
                    is_unpacked = true;
                }
                match guard.general_holds(&scratch.state, &mut scratch.slots) {
                    Ok(true) => {}
                    Ok(false) => continue,
                    Err(_) if self.blocks() => continue,
                    Err(_) => return Err(Wrong),
                }
            }
            enabled[kept] = command;
            kept += 1;
        }
        enabled.truncate(kept);
        // The order of the tree is an accident; that of the model makes runs comparable.
        enabled.sort_unstable();
        Ok(())
    }

    fn unpack(&self, run: &Run, scratch: &mut Scratch) {
        scratch.state.resize(self.layout.fields().len(), 0);
        self.layout.unpack(&run.packed, &mut scratch.state);
    }

    /// What is wrong at a state.
    fn diagnose(&self, state: &[i32]) -> TaskError {
        let mut stepper = Stepper::new(&self.task);
        let found = stepper.status(state).map(|_| ()).and_then(|()| stepper.anything_wrong(state));
        let mut slots: Vec<PointValue> = Vec::new();
        let rewards = [self.rewarder.step(state, &mut slots), self.rewarder.potential(state, &mut slots)];
        let reward = rewards.into_iter().find_map(Result::err);
        match (found, reward) {
            (Err(error), _) => TaskError::Model(error),
            (Ok(()), Some(reason)) => self.no_reward(state, reason),
            (Ok(()), None) => {
                let state = describe_state(&self.task, state);
                TaskError::Internal(format!("a step fails that its definition allows, at {state}"))
            }
        }
    }

    fn no_reward(&self, state: &[i32], reason: Undefined) -> TaskError {
        let kind = ModelErrorKind::Undefined { what: "reward".into(), reason };
        TaskError::Model(ModelError { state: describe_state(&self.task, state), command: None, kind })
    }
}
