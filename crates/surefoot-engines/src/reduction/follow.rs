//! Runs of the original system along a path of a projection. There may be none: then the path says nothing.

use std::ops::ControlFlow;

use rustc_hash::FxHashSet;
use surefoot_model::enumerate::solutions;
use surefoot_model::pass::Reduction;

use super::bounds_of;
use crate::control::Control;
use crate::outcome::{Trace, TraceStep};
use crate::replay::replay;
use crate::step::Stepper;
use crate::task::{Task, TaskError};

/// Most states that are followed side by side.
const WIDTH: usize = 256;

/// A state of the original system on the way, and how it was reached: its predecessor among those of the step before.
struct Visit {
    predecessor: usize,
    step: TraceStep,
}

/// A run along a path of the projection, replayed; `None` if none was found.
pub fn follow(
    task: &Task,
    projection: &Reduction,
    start: &[i32],
    states: impl IntoIterator<Item = Vec<i32>>,
    control: &Control<'_>,
) -> Result<Option<Trace>, TaskError> {
    let starts = starts(task, projection, start, control);
    let mut stepper = Stepper::new(task);
    let mut layers: Vec<Vec<Visit>> = Vec::new();
    let mut visits = 0;
    let bytes = |visits: usize| (visits * (size_of::<Visit>() + 4 * task.system.variables.len())) as u64;
    for wanted in states {
        let mut seen: FxHashSet<Vec<i32>> = FxHashSet::default();
        let mut layer = Vec::new();
        let before: Vec<&[i32]> = match layers.last() {
            Some(layer) => layer.iter().map(|visit| visit.step.state.as_slice()).collect(),
            None => starts.iter().map(Vec::as_slice).collect(),
        };
        for (predecessor, state) in before.into_iter().enumerate() {
            if control.exhausted(bytes(visits + layer.len())).is_some() {
                return Ok(None);
            }
            for taken in stepper.successors(state).map_err(TaskError::Model)? {
                let is_next = layer.len() < WIDTH && projection.restore.project(&taken.state) == wanted;
                if is_next && seen.insert(taken.state.clone()) {
                    let step =
                        TraceStep { command: taken.command, outcome: taken.outcome, state: taken.state };
                    layer.push(Visit { predecessor, step });
                }
            }
        }
        if layer.is_empty() {
            return Ok(None);
        }
        visits += layer.len();
        layers.push(layer);
    }
    let trace = first(starts, layers);
    if let Some(trace) = &trace {
        replay(task, trace)
            .map_err(|error| TaskError::Internal(format!("a counterexample failed its replay: {error}")))?;
    }
    Ok(trace)
}

/// The run to the first state of the last layer.
fn first(mut starts: Vec<Vec<i32>>, mut layers: Vec<Vec<Visit>>) -> Option<Trace> {
    let mut steps = Vec::new();
    let mut index = 0;
    while let Some(mut layer) = layers.pop() {
        let visit = layer.swap_remove(index);
        index = visit.predecessor;
        steps.push(visit.step);
    }
    steps.reverse();
    (!starts.is_empty()).then(|| Trace { start: starts.swap_remove(index), steps })
}

/// Start states of the original system that a state of the projection is a part of, not all if they are many.
fn starts(task: &Task, projection: &Reduction, projected: &[i32], control: &Control<'_>) -> Vec<Vec<i32>> {
    let start = &task.property.start;
    let listed = start.listed.iter().filter(|state| projection.restore.project(state) == projected);
    let mut found: Vec<Vec<i32>> = listed.take(WIDTH).cloned().collect();
    if let Some(condition) = start.condition {
        let (lower, upper) = bounds_of(projection, projected);
        let visit = |state: &[i32]| {
            found.push(state.to_vec());
            if found.len() < WIDTH { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        };
        let poll = || match control.interrupted() {
            Some(_) => ControlFlow::Break(()),
            None => ControlFlow::Continue(()),
        };
        solutions(&task.system.exprs, condition, &lower, &upper, poll, visit);
    }
    found
}
