//! Back to the original system: paths of the reduced one become traces over all variables, stepped by the point evaluator.

use surefoot_model::enumerate::first_solution;
use surefoot_model::pass::Reduction;

use super::search::Search;
use super::store::StateId;
use crate::outcome::{Trace, TraceStep};
use crate::reduction::bounds_of;
use crate::replay::replay;
use crate::step::Stepper;
use crate::task::{Task, TaskError};

/// The trace to an unsafe state, replayed.
pub fn trace(
    task: &Task,
    reduction: &Reduction,
    search: &Search<'_>,
    id: StateId,
) -> Result<Trace, TaskError> {
    let trace = lift(task, reduction, search, id)?;
    replay(task, &trace)
        .map_err(|error| TaskError::Internal(format!("a counterexample failed its replay: {error}")))?;
    Ok(trace)
}

/// What the point evaluator finds wrong with the model at a state.
pub fn model_error(task: &Task, reduction: &Reduction, search: &Search<'_>, id: StateId) -> TaskError {
    let trace = match lift(task, reduction, search, id) {
        Ok(trace) => trace,
        Err(error) => return error,
    };
    let mut stepper = Stepper::new(task);
    let found = stepper.status(trace.last()).and_then(|_| stepper.successors(trace.last()));
    match found {
        Err(error) => TaskError::Model(error),
        Ok(_) => TaskError::Internal("the compiled model fails at a state where the model does not".into()),
    }
}

fn lift(task: &Task, reduction: &Reduction, search: &Search<'_>, id: StateId) -> Result<Trace, TaskError> {
    let (start, steps) = search.path_to(id);
    let start = lift_start(task, reduction, &search.unpacked(start))
        .ok_or_else(|| TaskError::Internal("a start state of the reduced system has no original".into()))?;
    let mut stepper = Stepper::new(task);
    let mut trace = Trace { start, steps: Vec::new() };
    for (command, outcome, _) in steps {
        let outcome = reduction.restore.outcomes[command as usize][outcome as usize];
        let command = reduction.restore.commands[command as usize];
        let transitions = stepper.successors(trace.last()).map_err(TaskError::Model)?;
        let taken = transitions.into_iter().find(|t| t.command == command && t.outcome == outcome);
        let taken = taken.ok_or_else(|| {
            TaskError::Internal(format!(
                "step {} of a path does not exist in the model",
                trace.steps.len() + 1
            ))
        })?;
        trace.steps.push(TraceStep { command, outcome, state: taken.state });
    }
    Ok(trace)
}

/// An original start state that the reduced one is a part of.
fn lift_start(task: &Task, reduction: &Reduction, reduced: &[i32]) -> Option<Vec<i32>> {
    let start = &task.property.start;
    if let Some(listed) = start.listed.iter().find(|state| reduction.restore.project(state) == reduced) {
        return Some(listed.clone());
    }
    let (lower, upper) = bounds_of(reduction, reduced);
    first_solution(&task.system.exprs, start.condition?, &lower, &upper)
}
