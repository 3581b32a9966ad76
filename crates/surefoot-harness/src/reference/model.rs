//! Status and successors of single states.

use surefoot_engines::{Goal, OutOfDomain, Task};
use surefoot_model::{Command, ExprId, LabelId, Outcome, Value};

use super::choose::choose;
use super::evaluate::{evaluate, holds};

/// The model is wrong at a state, for this reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wrong(pub String);

/// What a state is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Status {
    /// It counts as unsafe.
    pub is_unsafe: bool,
    /// It is a goal, and goals end runs.
    pub is_goal: bool,
    /// Runs end here.
    pub ends_run: bool,
}

/// A possible step.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Step {
    /// Index of the command.
    pub command: usize,
    /// Index of the outcome.
    pub outcome: usize,
    /// The state after it.
    pub state: Vec<i32>,
}

/// All possible steps of a state.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Steps {
    /// The steps, by command and outcome.
    pub steps: Vec<Step>,
    /// Whether the policy may choose a label that is not applicable.
    pub stalls: bool,
}

/// The meaning of a task at single states.
#[derive(Debug)]
pub struct Model<'t> {
    task: &'t Task,
}

/// An outcome that cannot happen: an error, or no transition.
struct Impossible(String);

impl<'t> Model<'t> {
    /// The meaning of this task.
    pub fn new(task: &'t Task) -> Self {
        Model { task }
    }

    fn condition(&self, what: &str, id: ExprId, state: &[i32]) -> Result<bool, Wrong> {
        holds(&self.task.system.exprs, id, state)
            .ok_or_else(|| Wrong(format!("{what} undefined at {state:?}")))
    }

    /// Whether a state satisfies the start condition or is listed; wrong if the condition has no value there.
    pub fn is_start(&self, state: &[i32]) -> Result<bool, Wrong> {
        let start = &self.task.property.start;
        let satisfies = match start.condition {
            Some(condition) => self.condition("start condition", condition, state)?,
            None => false,
        };
        Ok(satisfies || start.listed.iter().any(|listed| listed == state))
    }

    /// What a state is. Every condition of the property must have a value.
    pub fn status(&self, state: &[i32]) -> Result<Status, Wrong> {
        let property = &self.task.property;
        let reading = self.task.semantics.goal;
        let bad = self.condition("unsafe condition", property.unsafe_states, state)?;
        let is_goal = match property.goal {
            Some(goal) if reading != Goal::Ignore => self.condition("goal", goal, state)?,
            _ => false,
        };
        let may_go_on = match property.hold {
            Some(hold) => self.condition("hold", hold, state)?,
            None => true,
        };
        let is_unsafe = if reading == Goal::Strict { bad && !is_goal } else { bad };
        Ok(Status { is_unsafe, is_goal, ends_run: is_goal || !may_go_on })
    }

    /// The possible steps of a state that does not end runs.
    pub fn steps(&self, state: &[i32]) -> Result<Steps, Wrong> {
        let commands = &self.task.system.commands;
        let mut enabled = Vec::new();
        for (number, command) in commands.iter().enumerate() {
            // Every guard must have a value, also those of labels that the policy does not choose.
            if self.is_enabled(number, command, state)? {
                enabled.push(number);
            }
        }
        let mut result = Steps::default();
        let chosen = self.chosen_labels(&enabled, state, &mut result.stalls);
        for number in enabled {
            if self.is_controlled(&commands[number]) && !chosen.contains(&commands[number].label) {
                continue;
            }
            self.fire(number, state, &mut result.steps)?;
        }
        Ok(result)
    }

    fn blocks(&self) -> bool {
        self.task.semantics.out_of_domain == OutOfDomain::Block
    }

    fn is_enabled(&self, number: usize, command: &Command, state: &[i32]) -> Result<bool, Wrong> {
        match holds(&self.task.system.exprs, command.guard, state) {
            Some(holds) => Ok(holds),
            None if self.blocks() => Ok(false),
            None => Err(Wrong(format!("guard of command {number} undefined at {state:?}"))),
        }
    }

    fn is_controlled(&self, command: &Command) -> bool {
        match (&self.task.policy, command.label) {
            (Some(policy), Some(label)) => policy.outputs.contains(&label),
            _ => false,
        }
    }

    /// The labels that the policy may choose (more than one under `any-f32` and `real` only).
    fn chosen_labels(&self, enabled: &[usize], state: &[i32], stalls: &mut bool) -> Vec<Option<LabelId>> {
        let Some(policy) = &self.task.policy else { return Vec::new() };
        let commands = &self.task.system.commands;
        let is_applicable =
            |output: usize| enabled.iter().any(|&c| commands[c].label == Some(policy.outputs[output]));
        let semantics = self.task.semantics;
        let chosen =
            choose(policy, semantics.arithmetic, state, |output| !semantics.filter || is_applicable(output));
        *stalls = chosen.iter().any(|&output| !is_applicable(output));
        chosen.into_iter().map(|output| Some(policy.outputs[output])).collect()
    }

    fn fire(&self, number: usize, state: &[i32], steps: &mut Vec<Step>) -> Result<(), Wrong> {
        let outcomes = &self.task.system.commands[number].outcomes;
        let mut probabilities = Vec::new();
        for outcome in outcomes {
            let value = evaluate(&self.task.system.exprs, outcome.probability, state);
            probabilities.push(match value {
                Some(Value::Real(p)) => p,
                Some(Value::Int(p)) => p as f64,
                _ => return Err(Wrong(format!("probability in command {number} undefined at {state:?}"))),
            });
        }
        let in_range = probabilities.iter().all(|&p| (0.0..=1.0 + 1e-8).contains(&p));
        let sum: f64 = probabilities.iter().sum();
        if !in_range || (sum - 1.0).abs() > 1e-8 {
            return Err(Wrong(format!("command {number} has no distribution at {state:?}")));
        }
        for (index, outcome) in outcomes.iter().enumerate() {
            if probabilities[index] == 0.0 {
                continue;
            }
            match self.update(outcome, state) {
                Ok(after) => steps.push(Step { command: number, outcome: index, state: after }),
                Err(_) if self.blocks() => {}
                Err(Impossible(why)) => {
                    return Err(Wrong(format!("outcome {index} of command {number} at {state:?}: {why}")));
                }
            }
        }
        Ok(())
    }

    fn update(&self, outcome: &Outcome, state: &[i32]) -> Result<Vec<i32>, Impossible> {
        let system = &self.task.system;
        for requirement in &outcome.requirements {
            if holds(&system.exprs, requirement.condition, state) != Some(true) {
                return Err(Impossible("a requirement fails".into()));
            }
        }
        let mut after = state.to_vec();
        for assignment in &outcome.assignments {
            let index = assignment.variable.index();
            let value = match evaluate(&system.exprs, assignment.value, state) {
                Some(Value::Bool(b)) => i64::from(b),
                Some(Value::Int(i)) => i,
                Some(Value::Real(_)) => panic!("discrete variables get discrete values"),
                None => return Err(Impossible(format!("the new value of variable {index} is undefined"))),
            };
            let (lower, upper) = system.variables[index].ty.bounds().expect("discrete variables");
            if value < lower.into() || value > upper.into() {
                return Err(Impossible(format!("variable {index} would become {value}")));
            }
            after[index] = value as i32;
        }
        Ok(after)
    }
}

/// Every state of the product of the domains; `None` if there are more than `limit`.
pub fn all_states(task: &Task, limit: usize) -> Option<Vec<Vec<i32>>> {
    let mut states = vec![Vec::new()];
    for variable in &task.system.variables {
        let (lower, upper) = variable.ty.bounds().expect("discrete variables");
        let size = (i64::from(upper) - i64::from(lower) + 1) as usize;
        if states.len().saturating_mul(size) > limit {
            return None;
        }
        let extended = |state: &Vec<i32>| {
            let state = state.clone();
            (lower..=upper).map(move |value| [state.as_slice(), &[value]].concat())
        };
        states = states.iter().flat_map(extended).collect();
    }
    Some(states)
}
