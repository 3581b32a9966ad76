//! Replay: a trace counts only after each of its steps was found to be possible by the point evaluator.

use surefoot_model::Program;

use crate::outcome::Trace;
use crate::step::{Stepper, describe_state};
use crate::task::{ModelError, Task};

/// Why a trace is not a counterexample.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ReplayError {
    /// A state has the wrong number of values or a value outside its domain.
    #[error("state {index} of the trace is not a state of the model: {reason}")]
    NotAState {
        /// Position in the trace, 0 for the start state.
        index: usize,
        /// What is wrong.
        reason: String,
    },
    /// The first state is no start state.
    #[error("the trace does not begin in a start state: {0}")]
    NotAStart(String),
    /// A run ends before the trace does.
    #[error(
        "the run ends in state {index}, before the trace does: it is a goal, or violates the condition that must hold"
    )]
    Ended {
        /// Position in the trace.
        index: usize,
    },
    /// A step is not possible.
    #[error(
        "step {index} of the trace is not possible: command {command}, outcome {outcome} does not lead from its state to the next"
    )]
    NotAStep {
        /// Position in the trace, from 1.
        index: usize,
        /// The command.
        command: usize,
        /// The outcome.
        outcome: usize,
    },
    /// The last state is not unsafe.
    #[error("the last state of the trace is not unsafe: {0}")]
    NotUnsafe(String),
    /// The model is wrong at one of the states.
    #[error("{0}")]
    Model(ModelError),
}

impl From<ModelError> for ReplayError {
    fn from(error: ModelError) -> Self {
        ReplayError::Model(error)
    }
}

/// Whether `trace` is a run of the task from a start state to an unsafe state.
pub fn replay(task: &Task, trace: &Trace) -> Result<(), ReplayError> {
    let states: Vec<&[i32]> = trace_states(trace).collect();
    for (index, state) in states.iter().enumerate() {
        check_state(task, state).map_err(|reason| ReplayError::NotAState { index, reason })?;
    }
    if !is_start(task, states[0]) {
        return Err(ReplayError::NotAStart(describe_state(task, states[0])));
    }
    let mut stepper = Stepper::new(task);
    for (i, step) in trace.steps.iter().enumerate() {
        if stepper.status(states[i])?.ends_run {
            return Err(ReplayError::Ended { index: i });
        }
        let possible = stepper.successors(states[i])?;
        let taken = possible
            .iter()
            .any(|t| t.command == step.command && t.outcome == step.outcome && t.state == step.state);
        if !taken {
            return Err(ReplayError::NotAStep { index: i + 1, command: step.command, outcome: step.outcome });
        }
    }
    if stepper.status(trace.last())?.is_unsafe {
        Ok(())
    } else {
        Err(ReplayError::NotUnsafe(describe_state(task, trace.last())))
    }
}

fn trace_states(trace: &Trace) -> impl Iterator<Item = &[i32]> {
    std::iter::once(trace.start.as_slice()).chain(trace.steps.iter().map(|step| step.state.as_slice()))
}

/// What keeps a vector from being a state of the task's system.
pub fn check_state(task: &Task, state: &[i32]) -> Result<(), String> {
    let variables = &task.system.variables;
    if state.len() != variables.len() {
        return Err(format!("it has {} values for {} variables", state.len(), variables.len()));
    }
    for (variable, &value) in variables.iter().zip(state) {
        let (lower, upper) =
            variable.ty.bounds().ok_or_else(|| format!("`{}` is real-valued", variable.name))?;
        if !(lower..=upper).contains(&value) {
            return Err(format!("{value} is outside the domain {lower}..{upper} of `{}`", variable.name));
        }
    }
    Ok(())
}

/// Whether a state satisfies the start condition or is listed.
pub fn is_start(task: &Task, state: &[i32]) -> bool {
    let start = &task.property.start;
    let satisfies = start.condition.is_some_and(|condition| {
        Program::new(&task.system.exprs, &[condition]).holds(state, &mut Vec::new()) == Ok(true)
    });
    satisfies || start.listed.iter().any(|listed| listed == state)
}
