//! Few reachable states are listed before anything else is tried: nothing is faster.

use std::cell::Cell;
use std::ops::ControlFlow;

use surefoot_model::enumerate::{Enumerated, solutions};

use super::state_box::StateBox;
use super::stop::Stop;
use crate::control::Control;
use crate::explicit::list::{Error, Listed, list};
use crate::task::Task;

/// Search nodes that may be spent on start states, for each state that may be listed.
const NODES_PER_STATE: usize = 4;

/// Start states between looks at the limits.
const PATIENCE: usize = 1024;

/// Lists the reachable states of a task, if they are not more than so many, roughly.
pub fn list_reachable(task: &Task, most: usize, control: &Control<'_>) -> Result<Listed, Stop> {
    let Some(listed) = start_states(task, most, control) else { return Ok(Listed::TooMany) };
    let mut task = task.clone();
    task.property.start.condition = None;
    task.property.start.listed = listed;
    list(&task, most, control).map_err(|error| match error {
        Error::Stopped => Stop::Limit,
        Error::Task(error) => Stop::Error(error),
    })
}

/// All start states, if they are few and found soon. The start condition has a value everywhere.
fn start_states(task: &Task, most: usize, control: &Control<'_>) -> Option<Vec<Vec<i32>>> {
    let mut states = task.property.start.listed.clone();
    let Some(condition) = task.property.start.condition else { return Some(states) };
    let domain = StateBox::of_domains(task);
    let nodes = Cell::new(most.saturating_mul(NODES_PER_STATE));
    let poll = || {
        nodes.set(nodes.get().saturating_sub(1));
        if nodes.get() == 0 || control.interrupted().is_some() {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    };
    let end = solutions(&task.system.exprs, condition, &domain.lower, &domain.upper, poll, |state| {
        states.push(state.to_vec());
        let is_due = states.len().is_multiple_of(PATIENCE);
        if states.len() > most || is_due && control.exhausted(bytes(states.len(), state)).is_some() {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    });
    matches!(end, Enumerated::All).then_some(states)
}

/// Bytes of so many states like this one.
fn bytes(count: usize, state: &[i32]) -> u64 {
    (count * (size_of_val(state) + size_of::<Vec<i32>>())) as u64
}
